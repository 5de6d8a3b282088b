//! Controllers that ship: gait firmware, kicks, getting up, soccer behaviour.
//!
//! ```text
//! World ─ headland:controller ─► cast ─► controllers of a run
//!
//! truth of the world ─► role ─ Order ─► firmware ─ angles ─► servos
//!                     joints, attitude, gyroscope ─┘
//! ```
//!
//! The firmware is what would run on the robot: it knows its own body and nothing of the world.
//! Its body it knows from the model, not from constants, so that the robot's file stays the one
//! truth.
//!
//! Deliberately absent: engines. A controller gives commands to joints and does not know who
//! moves them, nor how closely.
//!
//! Start reading at [`cast`], then [`firmware`].

use headland_base::{Diagnostic, Findings, names};
use headland_sim::{Controller, Model};
use headland_world::Places;

pub mod firmware;
pub mod gait;
pub mod leg;
pub mod motion;
pub mod player;
pub mod role;
pub mod skeleton;
pub mod told;

use told::Told;

/// A controller as help pages list it.
pub struct ControllerEntry {
    /// What the `type` of a `headland:controller` takes.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Makes a fresh one of what it is told; what is wrong is noted there.
    pub make: fn(&mut Told<'_>) -> Option<Hired>,
}

/// A controller that takes part in a run.
pub struct Hired {
    /// The controller.
    pub controller: Box<dyn Controller>,
    /// The axes it commands, in [`Model::dofs`].
    pub dof_idxs: Vec<usize>,
}

/// Every controller that ships. Adding one is one file and one line here.
pub const CONTROLLERS: &[ControllerEntry] = &[player::ENTRY];

/// The controllers a world asks for, or everything that is wrong with what it asks.
pub fn cast(model: &Model, places: &Places) -> Result<Vec<Hired>, Vec<Diagnostic>> {
    let mut cast = Vec::new();
    let mut findings = Findings::new();
    model.world.visit_models(&mut |at| {
        for wish in &at.model.controllers {
            let mut told = Told::new(model, at.scope, wish, places);
            let made = match CONTROLLERS.iter().find(|entry| entry.name == wish.kind) {
                Some(entry) => (entry.make)(&mut told),
                None => {
                    let known = CONTROLLERS.iter().map(|entry| entry.name);
                    let message = format!("no controller `{}`", wish.kind);
                    let near = names::suggestion(&wish.kind, known);
                    let mut diagnostic = Diagnostic::error("unknown-controller", message)
                        .help_maybe(near)
                        .note("`--no-controllers` runs the world without its controllers");
                    let part = format!("controller {}::{}#type", at.scope, wish.kind);
                    if let Some(place) = places.find(&part) {
                        diagnostic = diagnostic.at(place);
                    }
                    findings.push(diagnostic);
                    continue;
                }
            };
            match told.finish() {
                Ok(()) => cast.extend(made),
                Err(wrong) => wrong.into_iter().for_each(|diagnostic| findings.push(diagnostic)),
            }
        }
    });
    if findings.has_errors() { Err(findings.into_vec()) } else { Ok(cast) }
}
