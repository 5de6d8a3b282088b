//! Ends a run whose engine does not come back: from being made ready, or from a step.
//!
//! The engine sits in the only thread that could say so, so another one counts the time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use headland_base::Diagnostic;

use crate::apart::{Words, kept};
use crate::context::{Context, Outcome};

/// Looks after one run until it is dropped.
pub struct Watchdog {
    n_ticks: Arc<AtomicU64>,
}

impl Watchdog {
    /// Bites when no tick has come for as long as `patience`. `recording` is the one that was
    /// opened, if one was.
    pub fn start(
        context: &Context,
        engine: &'static str,
        patience: Duration,
        recording: Option<&Path>,
    ) -> Watchdog {
        let n_ticks = Arc::new(AtomicU64::new(0));
        let (seen, context) = (Arc::clone(&n_ticks), context.clone());
        let recording = recording.map(Path::to_path_buf);
        std::thread::spawn(move || {
            let nap = patience.min(Duration::from_millis(100));
            let (mut last, mut silent) = (0, Duration::ZERO);
            loop {
                std::thread::sleep(nap);
                // Naps are counted and no clock is read: a run that is stopped with Ctrl-Z and
                // goes on later has not hung.
                silent += nap;
                let n_ticks = seen.load(Ordering::Relaxed);
                if n_ticks == u64::MAX {
                    return;
                }
                if n_ticks != last {
                    (last, silent) = (n_ticks, Duration::ZERO);
                } else if silent > patience {
                    bite(&context, engine, last, patience, recording);
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

fn bite(
    context: &Context,
    engine: &str,
    n_steps: u64,
    patience: Duration,
    recording: Option<PathBuf>,
) -> ! {
    let secs = patience.as_secs();
    let message = match recording {
        Some(_) => format!("engine `{engine}` made no step for {secs} s, after {n_steps} of them"),
        None => format!("engine `{engine}` was not ready after {secs} s"),
    };
    context.show(&[Diagnostic::error("engine-hangs", message.clone())
        .note(kept(recording.as_deref()))
        .help("give it longer with --patience SECS, or a smaller --step")]);
    Words { fault: Some(("engine-hangs".to_string(), message)), n_steps, ..Words::default() }
        .leave();
    // The engine may hold any lock, so nothing is tidied up on the way out.
    signal_hook::low_level::exit(Outcome::Broken.code().into())
}
