//! The heartbeat of a run in a process of its own: how its parent knows that it gets on.
//!
//! ```text
//! run ─ beat() ──► a counter ─ a thread, ten times a second ─► the file of last words
//!     └ stage() ────────────── at once ─────────────────────►┘      └─ Listener ─► silent for …
//! ```
//!
//! A process that was stopped, or whose engine spins, writes nothing new. Where parent and run
//! are stopped together, as by Ctrl-Z, nobody was silent meanwhile: between two looks at the
//! file no more than [`LONGEST_LOOK`] counts.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a run has done so far, in steps and stages.
static BEATS: AtomicU64 = AtomicU64::new(0);

/// Where they are written, and at which byte.
static PLACE: OnceLock<(File, u64)> = OnceLock::new();

/// How much of the time between two looks counts as silence.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// How often beats are written, and listened for.
const PERIOD: Duration = Duration::from_millis(100);

/// Room for a counter at the end of the file.
pub const ROOM: usize = size_of::<u64>();

/// The run has got on.
pub fn beat() {
    BEATS.fetch_add(1, Ordering::Relaxed);
}

/// The run has come to its next stage, and whoever listens knows at once.
pub fn stage() {
    beat();
    write();
}

/// Writes every change of the counter to the file, for as long as the process lives.
pub fn write_to(path: &Path, offset: u64) {
    // Without it the parent hears nothing, waits its time, and ends the run with words.
    let Ok(file) = File::options().write(true).open(path) else { return };
    if PLACE.set((file, offset)).is_ok() {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(PERIOD);
                write();
            }
        });
    }
}

fn write() {
    if let Some((file, offset)) = PLACE.get() {
        // What could not be written now is written with the next beat.
        _ = file.write_all_at(&BEATS.load(Ordering::Relaxed).to_le_bytes(), *offset);
    }
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
    looked: Instant,
}

impl Listener {
    /// Of the run that writes to this file.
    pub fn new(path: &Path, offset: u64) -> Listener {
        let file = File::open(path).ok();
        Listener { file, offset, heard: 0, silent: Duration::ZERO, looked: now() }
    }

    /// Looks whether there is something new, unless it has just looked.
    pub fn listen(&mut self) {
        let since = now().saturating_duration_since(self.looked);
        if since < PERIOD {
            return;
        }
        self.silent += since.min(LONGEST_LOOK);
        self.looked = now();
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

#[expect(clippy::disallowed_methods, reason = "a time limit; it reaches no recording")]
fn now() -> Instant {
    Instant::now()
}
