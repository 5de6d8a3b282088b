//! The heartbeat of a run in a process of its own: how its parent knows that it gets on.
//!
//! ```text
//! run ─ beat() ─────► a counter ─ a thread, ten times a second ─► the file of last words
//!     └ reached(stage) ────────── at once ─────────────────────►┘      └─ Listener ─► silent for …
//! ```
//!
//! A process that was stopped, or whose engine spins, writes nothing new. Where parent and run
//! are stopped together, as by Ctrl-Z, nobody was silent meanwhile: between two looks at the
//! file no more than [`LONGEST_LOOK`] counts.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a run has done so far, in steps and stages.
static BEATS: AtomicU64 = AtomicU64::new(0);

/// Where it is in [`Stage::ALL`].
static STAGE: AtomicU8 = AtomicU8::new(0);

/// Where they are written, and at which byte.
static PLACE: OnceLock<(File, u64)> = OnceLock::new();

/// How much of the time between two looks counts as silence.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// How often beats are written, and listened for.
const PERIOD: Duration = Duration::from_millis(100);

/// Room for a counter and a stage at the end of the file.
pub const ROOM: usize = size_of::<u64>() + 1;

/// The run has got on.
pub fn beat() {
    BEATS.fetch_add(1, Ordering::Relaxed);
}

/// The run has come to a stage, and whoever listens knows at once.
pub fn reached(stage: Stage) {
    STAGE.store(stage as u8, Ordering::Relaxed);
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
        let bytes = written(BEATS.load(Ordering::Relaxed), STAGE.load(Ordering::Relaxed));
        // What could not be written now is written with the next beat.
        _ = file.write_all_at(&bytes, *offset);
    }
}

/// The counter, and behind it the stage.
fn written(beats: u64, stage: u8) -> [u8; ROOM] {
    let mut out = [stage; ROOM];
    out[..ROOM - 1].copy_from_slice(&beats.to_le_bytes());
    out
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The world is read.
    Reading,
    /// The engine is made ready, and asked what it makes of the world.
    Checking,
    /// There is a recording, and the engine is told the world.
    Starting,
    /// Time moves.
    Stepping,
}

impl Stage {
    /// In the order they come.
    const ALL: [Stage; 4] = [Stage::Reading, Stage::Checking, Stage::Starting, Stage::Stepping];
}

/// Listens to one run.
pub struct Listener {
    file: Option<File>,
    offset: u64,
    heard: [u8; ROOM],
    /// Without anything new.
    silent: Duration,
    looked: Instant,
}

impl Listener {
    /// Of the run that writes to this file.
    pub fn new(path: &Path, offset: u64) -> Listener {
        let file = File::open(path).ok();
        Listener { file, offset, heard: [0; ROOM], silent: Duration::ZERO, looked: now() }
    }

    /// Looks whether there is something new, unless it has just looked.
    pub fn listen(&mut self) {
        let since = now().saturating_duration_since(self.looked);
        if since < PERIOD {
            return;
        }
        self.silent += since.min(LONGEST_LOOK);
        self.looked = now();
        self.listen_now();
    }

    /// Looks at once: nothing comes after the end of a run.
    pub fn listen_now(&mut self) {
        let mut bytes = [0; ROOM];
        let file = self.file.as_ref();
        let is_heard = file.is_some_and(|file| file.read_exact_at(&mut bytes, self.offset).is_ok());
        if is_heard && bytes != self.heard {
            (self.heard, self.silent) = (bytes, Duration::ZERO);
        }
    }

    /// For how long nothing new was heard.
    pub fn silent(&self) -> Duration {
        self.silent
    }

    /// How far the run has come.
    pub fn stage(&self) -> Stage {
        let stage = usize::from(self.heard[ROOM - 1]);
        Stage::ALL.get(stage).copied().unwrap_or(Stage::Reading)
    }
}

#[expect(clippy::disallowed_methods, reason = "a time limit; it reaches no recording")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stage is heard as it was written, however often the run has beaten on the way.
    #[test]
    fn a_stage_is_heard_as_it_was_written() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), [0; 3 + ROOM]).expect("room");
        let mut listener = Listener::new(file.path(), 3);
        assert_eq!(listener.stage(), Stage::Reading);
        for (beats, stage) in [(1, Stage::Checking), (9, Stage::Starting), (9, Stage::Stepping)] {
            let bytes = written(beats, stage as u8);
            file.as_file().write_all_at(&bytes, 3).expect("written");
            listener.silent = Duration::from_secs(7);
            listener.listen_now();
            assert_eq!((listener.stage(), listener.silent()), (stage, Duration::ZERO));
        }
        listener.silent = Duration::from_secs(7);
        listener.listen_now();
        assert_eq!(listener.silent(), Duration::from_secs(7), "nothing new");
    }
}
