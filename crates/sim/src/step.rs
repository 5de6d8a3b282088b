//! One step of an engine, with what holds after any step of any engine.
//!
//! Deliberately absent: what acts on the world, and who looks at it; the run loop and replays
//! have their own.

use headland_base::SimDuration;
use headland_world::Twist;

use crate::engine::{Engine, Fault, Inputs};
use crate::model::Model;
use crate::state::{RigidState, State};

/// Moves `state` on by `dt`; `before` is where its rigids were.
///
/// What went non-finite is put back and contained, efforts are those that acted, and joints are
/// measured where the engine does not know them. After a fault the rigids are as before.
pub fn step(
    model: &Model,
    engine: &mut dyn Engine,
    inputs: &Inputs,
    dt: SimDuration,
    state: &mut State,
    before: &mut Vec<RigidState>,
) -> Result<(), Fault> {
    before.clone_from(&state.rigids);
    if let Err(fault) = engine.step(model, inputs, dt, state) {
        state.rigids.clone_from(before);
        return Err(fault);
    }
    if inputs.skips_contacts {
        state.contacts.clear();
    }
    state.time += dt;
    for (was, now) in before.iter().zip(&mut state.rigids) {
        if was.is_contained {
            *now = *was; // an engine that finds numbers for it again does not bring it back
        } else if !is_finite(now) {
            *now = RigidState { twist: Twist::default(), is_contained: true, ..*was };
        }
    }
    for (dof, effort) in state.dofs.iter_mut().zip(&inputs.efforts) {
        dof.effort = *effort;
    }
    if !engine.knows_joints() {
        state.measure_joints(model);
    }
    Ok(())
}

/// Whether every number of a rigid is one. All in one sum: what is finite, times nothing, is nothing.
/// To ask one after the other took half as long again.
fn is_finite(rigid: &RigidState) -> bool {
    let (pose, twist) = (rigid.world_from_rigid, rigid.twist);
    let vectors = pose.translation * 0.0 + twist.linear * 0.0 + twist.angular * 0.0;
    let turn = pose.rotation * 0.0;
    (vectors.x + vectors.y + vectors.z) + (turn.x + turn.y + turn.z + turn.w) == 0.0
}
