//! Ends a run whose engine does not come back from a step.
//!
//! The engine sits in the only thread that could say so, so another one looks at the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use headland_base::Diagnostic;

use crate::apart::Words;
use crate::context::{Context, Outcome};

/// Looks after one run; it goes with its process.
pub struct Watchdog {
    n_ticks: Arc<AtomicU64>,
}

impl Watchdog {
    /// Bites when no tick has come for as long as `patience`.
    pub fn start(context: &Context, engine: &'static str, patience: Duration) -> Watchdog {
        let n_ticks = Arc::new(AtomicU64::new(0));
        let (seen, context) = (Arc::clone(&n_ticks), context.clone());
        std::thread::spawn(move || {
            let (mut last, mut since) = (0, now());
            loop {
                std::thread::sleep(patience.min(Duration::from_millis(100)));
                let n_ticks = seen.load(Ordering::Relaxed);
                if n_ticks == u64::MAX {
                    return;
                }
                if n_ticks != last {
                    (last, since) = (n_ticks, now());
                } else if since.elapsed() > patience {
                    bite(&context, engine, last, patience);
                }
            }
        });
        Watchdog { n_ticks }
    }

    /// A step was made.
    pub fn tick(&self) {
        self.n_ticks.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.n_ticks.store(u64::MAX, Ordering::Relaxed);
    }
}

fn bite(context: &Context, engine: &str, n_steps: u64, patience: Duration) -> ! {
    let secs = patience.as_secs();
    let message = format!("engine `{engine}` made no step for {secs} s, after {n_steps} of them");
    context.show(&[Diagnostic::error("engine-hangs", message.clone())
        .note("the recording is kept up to its last chunk")
        .help("give it longer with --patience SECS, or a smaller --step")]);
    Words { fault: Some(message), n_steps, ..Words::default() }.leave();
    // The engine may hold any lock, so nothing is tidied up on the way out.
    signal_hook::low_level::exit(Outcome::Broken.code().into())
}

#[expect(clippy::disallowed_methods, reason = "ends a run, never recorded")]
fn now() -> Instant {
    Instant::now()
}
