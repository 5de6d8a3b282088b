//! Threads that evaluate points of a problem, each with a worker of its own.

use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};

use super::{Evaluate, Problem};

/// Does `work` with `n_threads` evaluating. What comes out does not depend on how many.
pub fn with_crew<P: Problem, T>(
    problem: &P,
    n_threads: usize,
    work: impl FnOnce(&mut dyn Evaluate) -> T,
) -> T {
    if n_threads <= 1 {
        return work(&mut Alone { problem, worker: problem.worker() });
    }
    let (tasks, waiting) = mpsc::channel::<(usize, Vec<f64>)>();
    let waiting = Mutex::new(waiting);
    let (answers, done) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            let (waiting, answers) = (&waiting, answers.clone());
            scope.spawn(move || {
                let mut worker = problem.worker();
                loop {
                    // The lock is let go before the point is evaluated.
                    let task = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((i, point)) = task else { break };
                    if answers.send((i, problem.residuals(&mut worker, &point))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(answers); // so that `done` ends should every thread have ended
        let out = work(&mut Crew { tasks: &tasks, done: &done });
        drop(tasks);
        out
    })
}

struct Alone<'p, P: Problem> {
    problem: &'p P,
    worker: P::Worker,
}

impl<P: Problem> Evaluate for Alone<'_, P> {
    fn all(&mut self, points: Vec<Vec<f64>>) -> Vec<Option<Vec<f64>>> {
        points.iter().map(|x| self.problem.residuals(&mut self.worker, x)).collect()
    }
}

struct Crew<'c> {
    tasks: &'c mpsc::Sender<(usize, Vec<f64>)>,
    done: &'c mpsc::Receiver<(usize, Option<Vec<f64>>)>,
}

impl Evaluate for Crew<'_> {
    fn all(&mut self, points: Vec<Vec<f64>>) -> Vec<Option<Vec<f64>>> {
        let mut found: Vec<Option<Vec<f64>>> = points.iter().map(|_| None).collect();
        let n_points = points.len();
        for task in points.into_iter().enumerate() {
            self.tasks.send(task).expect("the threads wait for tasks");
        }
        for _ in 0..n_points {
            let (i, residuals) = self.done.recv().expect("a thread answers, or its panic is ours");
            found[i] = residuals;
        }
        found
    }
}
