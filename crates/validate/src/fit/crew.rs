//! Threads that evaluate points of a problem, each with a worker of its own.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};

use super::{BrokenOff, Evaluate, Problem};

/// Does `work` with `n_threads` evaluating. What comes out does not depend on how many, nor on how
/// many of them have a worker; where none has, everything is broken off.
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
                let Some(mut worker) = problem.worker() else { return };
                loop {
                    // The lock is let go before the point is evaluated.
                    let task = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((i, point)) = task else { break };
                    // A panic is an answer too: whoever waits for this point would wait for good.
                    let work = AssertUnwindSafe(|| problem.residuals(&mut worker, &point));
                    let answer = catch_unwind(work);
                    let is_broken = answer.is_err();
                    if answers.send((i, answer)).is_err() || is_broken {
                        break;
                    }
                }
            });
        }
        drop(answers); // so that `done` ends should every thread have ended
        let is_broken_off = || problem.is_broken_off();
        let mut crew =
            Crew { tasks: &tasks, done: &done, is_broken_off: &is_broken_off, n_threads };
        let out = work(&mut crew);
        drop(tasks);
        out
    })
}

/// What `work` makes of every item, in their order, by so many threads.
pub fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    n_threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let n_threads = n_threads.min(items.len());
    if n_threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let some = || -> Vec<(usize, R)> {
        let mut done = Vec::new();
        while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < items.len())
        {
            done.push((i, work(&items[i])));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..n_threads).map(|_| scope.spawn(some)).collect();
        let mut all = some();
        for thread in threads {
            all.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, made)| made).collect()
}

struct Alone<'p, P: Problem> {
    problem: &'p P,
    worker: Option<P::Worker>,
}

impl<P: Problem> Evaluate for Alone<'_, P> {
    fn all(&mut self, points: Vec<Vec<f64>>) -> Result<Vec<Option<Vec<f64>>>, BrokenOff> {
        let worker = self.worker.as_mut().ok_or(BrokenOff)?;
        let found = points.iter().map(|x| self.problem.residuals(worker, x)).collect();
        if self.problem.is_broken_off() { Err(BrokenOff) } else { Ok(found) }
    }

    fn n_threads(&self) -> usize {
        1
    }
}

/// Which point, and its residuals or the panic on the way to them.
type Answer = (usize, std::thread::Result<Option<Vec<f64>>>);

struct Crew<'c> {
    tasks: &'c mpsc::Sender<(usize, Vec<f64>)>,
    done: &'c mpsc::Receiver<Answer>,
    is_broken_off: &'c dyn Fn() -> bool,
    n_threads: usize,
}

impl Evaluate for Crew<'_> {
    fn all(&mut self, points: Vec<Vec<f64>>) -> Result<Vec<Option<Vec<f64>>>, BrokenOff> {
        let mut found: Vec<Option<Vec<f64>>> = points.iter().map(|_| None).collect();
        let n_points = points.len();
        for task in points.into_iter().enumerate() {
            self.tasks.send(task).expect("the threads wait for tasks");
        }
        for _ in 0..n_points {
            // All threads have ended: none could make a worker.
            let (i, answer) = self.done.recv().map_err(|_| BrokenOff)?;
            found[i] = answer.unwrap_or_else(|panic| resume_unwind(panic));
        }
        if (self.is_broken_off)() { Err(BrokenOff) } else { Ok(found) }
    }

    fn n_threads(&self) -> usize {
        self.n_threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Breaks at one point.
    struct Brittle;

    impl Problem for Brittle {
        type Worker = ();

        fn worker(&self) -> Option<()> {
            Some(())
        }

        fn residuals(&self, (): &mut (), x: &[f64]) -> Option<Vec<f64>> {
            assert!(x[0] != 3.0, "broken");
            Some(x.to_vec())
        }
    }

    /// Has so many workers, and no more.
    struct Scarce(std::sync::atomic::AtomicUsize);

    impl Problem for Scarce {
        type Worker = ();

        fn worker(&self) -> Option<()> {
            use std::sync::atomic::Ordering::Relaxed;
            self.0.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).ok().map(|_| ())
        }

        fn residuals(&self, (): &mut (), x: &[f64]) -> Option<Vec<f64>> {
            Some(x.to_vec())
        }
    }

    /// A thread that cannot work changes no answer; without any nothing is said.
    #[test]
    fn threads_without_a_worker_leave_the_work_to_others() {
        let points: Vec<Vec<f64>> = (0..9).map(|i| vec![f64::from(i)]).collect();
        for (n_workers, n_threads) in [(0, 1), (0, 3), (1, 1), (1, 3), (3, 3)] {
            let problem = Scarce(n_workers.into());
            let found = with_crew(&problem, n_threads, |crew| crew.all(points.clone()));
            let all = points.iter().cloned().map(Some).collect();
            let wanted = if n_workers == 0 { Err(BrokenOff) } else { Ok(all) };
            assert_eq!(found, wanted, "{n_workers} of {n_threads}");
        }
    }

    #[test]
    fn what_is_made_side_by_side_comes_in_order() {
        let items: Vec<u64> = (0..100).collect();
        for n_threads in [0, 1, 2, 7] {
            let made = side_by_side(&items, n_threads, |i| i * i);
            assert!(made.iter().zip(&items).all(|(made, i)| *made == i * i), "{made:?}");
            assert_eq!(made.len(), items.len());
        }
    }

    #[test]
    fn a_panic_on_any_thread_is_the_callers() {
        for n_threads in [1, 2, 3] {
            let go = |to: u8| {
                let points = (0..to).map(|i| vec![f64::from(i)]).collect();
                with_crew(&Brittle, n_threads, |crew| crew.all(points)).expect("not broken off")
            };
            assert_eq!(go(3).len(), 3);
            assert!(catch_unwind(AssertUnwindSafe(|| go(9))).is_err(), "{n_threads} threads");
        }
    }
}
