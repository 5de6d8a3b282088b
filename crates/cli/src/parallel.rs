//! Many pieces of work on the cores there are; answers in the order of the questions.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does `work` for every number below `n`. Which thread does what changes nothing in the
/// answer.
pub fn map<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let n_threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(n);
    if n_threads <= 1 {
        return (0..n).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<T>>> = (0..n).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = done.get(i) else { break };
                    let answer = work(i);
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
                }
            });
        }
    });
    let answer = |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_iter().map(|slot| answer(slot).expect("every number was taken once")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn answers_come_in_the_order_of_the_questions() {
        let squares = super::map(1000, |i| i * i);
        assert!(squares.iter().enumerate().all(|(i, square)| *square == i * i));
        assert!(super::map(0, |i| i).is_empty());
    }
}
