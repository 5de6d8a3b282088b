//! The heartbeat of a run in a process of its own: how its parent knows that it gets on.
//!
//! ```text
//! run ─ beat() ─► a counter ─ a thread, ten times a second ─► the file of last words
//!                                                              parent ─ Listener ─► silent for …
//! ```
//!
//! A process that was stopped, or whose engine spins, writes nothing new. Time is counted in
//! looks at the file, not read off a clock: where parent and run are stopped together, as by
//! Ctrl-Z, nobody was silent meanwhile.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a run has done so far, in steps and stages.
static BEATS: AtomicU64 = AtomicU64::new(0);

/// How often beats are written, and listened for.
const PERIOD: Duration = Duration::from_millis(100);

/// Room for a counter at the end of the file.
pub const ROOM: usize = size_of::<u64>();

/// The run has got on.
pub fn beat() {
    BEATS.fetch_add(1, Ordering::Relaxed);
}

/// Writes every change of the counter to the file, for as long as the process lives.
pub fn write_to(path: &Path, offset: u64) {
    // Without it the parent hears nothing, waits its time, and ends the run with words.
    let Ok(file) = File::options().write(true).open(path) else { return };
    std::thread::spawn(move || {
        let mut written = 0;
        loop {
            let beats = BEATS.load(Ordering::Relaxed);
            if beats != written && file.write_all_at(&beats.to_le_bytes(), offset).is_ok() {
                written = beats;
            }
            std::thread::sleep(PERIOD);
        }
    });
}

/// How far a run has come. It beats before and after its engine is asked what it makes of the
/// world, when the engine has started, and at every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The world is read.
    Reading,
    /// The engine is loaded, and told the world.
    Starting,
    /// Time moves.
    Stepping,
}

/// Listens to one run.
pub struct Listener {
    file: Option<File>,
    offset: u64,
    heard: u64,
    /// Without anything new.
    silent: Duration,
    since_look: Duration,
}

impl Listener {
    /// Of the run that writes to this file.
    pub fn new(path: &Path, offset: u64) -> Listener {
        let file = File::open(path).ok();
        Listener { file, offset, heard: 0, silent: Duration::ZERO, since_look: Duration::ZERO }
    }

    /// A nap of the parent is over.
    pub fn wait(&mut self, nap: Duration) {
        self.silent += nap;
        self.since_look += nap;
        if self.since_look < PERIOD {
            return;
        }
        self.since_look = Duration::ZERO;
        let mut bytes = [0; ROOM];
        let file = self.file.as_ref();
        if file.is_some_and(|file| file.read_exact_at(&mut bytes, self.offset).is_ok()) {
            let beats = u64::from_le_bytes(bytes);
            if beats != self.heard {
                (self.heard, self.silent) = (beats, Duration::ZERO);
            }
        }
    }

    /// For how long nothing new was heard.
    pub fn silent(&self) -> Duration {
        self.silent
    }

    /// How far the run has come.
    pub fn stage(&self) -> Stage {
        match self.heard {
            0 => Stage::Reading,
            1 | 2 => Stage::Starting,
            _ => Stage::Stepping,
        }
    }
}
