//! What the system tells a running program, as far as a recording is concerned.
//!
//! Ctrl-C and a polite end become a flag that a run looks at after each step. A file that
//! grows past its limit becomes a failed write, which is told in words like a full disk.
//!
//! Deliberately absent: SIGKILL, which nobody hears; the file then opens up to its last chunk.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use signal_hook::{consts, flag};

/// Ctrl-C, a polite end, a terminal that was closed.
#[cfg(unix)]
const ENDS: &[i32] = &[consts::SIGINT, consts::SIGTERM, consts::SIGHUP];
#[cfg(not(unix))]
const ENDS: &[i32] = &[consts::SIGINT, consts::SIGTERM];

/// Lets a write past the limit of `ulimit -f` fail with an error. Without this the system
/// ends the program in the middle of it and without a word.
pub fn survive_file_limit() {
    #[cfg(unix)]
    {
        // That the limit was met is known from the write; nobody looks at the flag.
        _ = flag::register(consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// Set when somebody wants the run to end: it stops after its step and the file is closed
/// properly.
pub fn interrupted() -> Arc<AtomicBool> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let stop = STOP.get_or_init(|| {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in ENDS {
            // Where it cannot be registered the signal ends us at once, as SIGKILL would.
            _ = flag::register(*signal, Arc::clone(&stop));
        }
        stop
    });
    Arc::clone(stop)
}
