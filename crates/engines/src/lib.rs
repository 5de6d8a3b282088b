//! Physics engines: one folder each, behind the one trait of `sim`.
//!
//! Deliberately absent: anything two engines share. That is `sim`.

use headland_base::{Diagnostic, names};
use headland_sim::EngineEntry;

pub mod adapters;
pub mod bullet;
pub mod mujoco;
pub mod native;
pub mod ode;
pub mod pipe;
pub mod rapier;

/// Every engine there is, in the order help pages list them. Adding one is one folder and
/// one line here.
pub const ENGINES: &[EngineEntry] = &[
    rapier::ENTRY,
    native::ENTRY,
    mujoco::ENTRY,
    ode::ENTRY,
    bullet::ENTRY,
    adapters::DART,
    adapters::DRAKE,
    adapters::PYBULLET,
];

/// What a process ends with after an error that a library does not return from. It is none of
/// headland's own exit codes, so whoever started the process knows who ended it.
pub const EXIT_FATAL: i32 = 86;

/// The engine of that name, or the program at that path.
pub fn find(name: &str) -> Result<&'static EngineEntry, Diagnostic> {
    if pipe::is_path(name) {
        return Ok(pipe::own(name));
    }
    ENGINES.iter().find(|entry| entry.name == name).ok_or_else(|| {
        Diagnostic::error("unknown-engine", format!("no engine `{name}`"))
            .help_maybe(names::suggestion(name, ENGINES.iter().map(|entry| entry.name)))
            .note("`headland engines` lists what is there")
    })
}
