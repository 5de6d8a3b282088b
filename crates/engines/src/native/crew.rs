//! Threads for what can be done at once.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Works through lists, on several threads where that pays.
pub(super) struct Crew(Option<ThreadPool>);

/// Waking a thread takes about as long as stepping a robot, so a world of few robots is
/// quicker alone.
const N_ROBOTS_MIN: usize = 16;

impl Crew {
    /// For so many robots on at most so many threads.
    pub fn of(n_robots: usize, n_threads: usize) -> Crew {
        let is_worth_it = n_threads > 1 && n_robots >= N_ROBOTS_MIN;
        // Without threads the work is done all the same.
        let pool = || ThreadPoolBuilder::new().num_threads(n_threads).build().ok();
        Crew(is_worth_it.then(pool).flatten())
    }

    /// How many work at once.
    pub fn n_threads(&self) -> usize {
        self.0.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Does the same with each of a list. None may depend on another.
    pub fn each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        match &self.0 {
            Some(pool) if items.len() > 1 => pool.install(|| items.par_iter_mut().for_each(work)),
            _ => items.iter_mut().for_each(work),
        }
    }
}
