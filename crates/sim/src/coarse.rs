//! Whether a step is too coarse for the world: a model and a step go in, a warning comes out.
//!
//! A contact can be no stiffer than the step allows, so what lies still sinks in by a share of
//! `g·dt²`, the way a body falls in its first step: a fortieth of it in the embedded engine. A
//! body that falls further than its own size in one step is not seen to land.

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, SimDuration, Vec3};
use headland_world::geometry::corners_in;

use crate::engine::{Engine, EngineOptions};
use crate::model::{Model, Motion, Rigid};

/// How many times finer than the step in which a body falls its own size the suggested one
/// is: it then falls a hundredth of its size in it, and what lies still sinks in by less than
/// a thousandth.
const N_TIMES_FINER: f64 = 10.0;

/// Thinner than this share of its length a shape is flat: a mesh of one face, or of rounding.
const FLAT: f64 = 1e-9;

/// Warns of a step in which something that may sink falls further than its size, and suggests one
/// that is fine for all of them.
pub fn coarse_step(engine: &dyn Engine, model: &Model, step: SimDuration) -> Option<Diagnostic> {
    let gravity = model.world.gravity.length();
    let fall = gravity * step.secs() * step.secs();
    let falls = |rigid: &Rigid| rigid.motion == Motion::Dynamic && rigid.gravity;
    let falling = model.rigids.iter().enumerate().filter(|(_, rigid)| falls(rigid));
    let sizes = falling.filter_map(|(i, rigid)| Some((size(model, rigid)?, i)));
    let mut small: Vec<(f64, usize)> = sizes.filter(|(size, _)| fall > *size).collect();
    if small.is_empty() {
        return None;
    }
    let may_sink = engine.may_sink(model);
    small.retain(|(_, rigid_idx)| may_sink[*rigid_idx]);
    small.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (smallest, rigid_idx) = *small.first()?;
    let name = &model.bodies[model.rigids[rigid_idx].body_idxs[0]].name;
    let others = match small.len() - 1 {
        0 => String::new(),
        n => format!(", and {n} more than theirs"),
    };
    let wanted = one_digit_down(sqrt(smallest / gravity) / N_TIMES_FINER);
    let message = format!(
        "in one step of {} s link `{name}` falls {fall:.2e} m, more than its own \
         {smallest:.2e} m{others}",
        step.secs()
    );
    Some(
        Diagnostic::warning("coarse-step", message)
            .note("it will sink into what it lies on, or through it")
            .help(format!("a step of {wanted} s or less: --step {wanted}")),
    )
}

/// What an engine says of a model before a run, and of a step that is too coarse. Where it has
/// said itself which step suits, that one is enough.
pub fn checked(engine: &dyn Engine, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
    let mut found = engine.check(model, options);
    if !found.iter().any(|found| found.code == STEP_TOO_LONG) {
        found.extend(coarse_step(engine, model, options.step));
    }
    found
}

/// The code by which an engine says that a step is too long for it, and which one suits.
const STEP_TOO_LONG: &str = "step-too-long";

/// The smallest side of the box around a rigid's shapes; none where nothing can touch it, or
/// where it is flat and no step would be fine enough.
fn size(model: &Model, rigid: &Rigid) -> Option<f64> {
    let shapes = rigid.body_idxs.iter().flat_map(|i| {
        let body = &model.bodies[*i];
        body.shapes.iter().map(move |shape| (body.rigid_from_body, shape))
    });
    let corners = shapes.filter_map(|(rigid_from_body, shape)| {
        Some(corners_in(rigid_from_body * shape.body_from_shape, shape.geometry.bounds()?))
    });
    let around = corners.flatten().fold(None, |bounds: Option<(Vec3, Vec3)>, p| match bounds {
        None => Some((p, p)),
        Some((low, high)) => Some((low.min(p), high.max(p))),
    });
    let sides = around.map(|(low, high)| high - low)?;
    let smallest = sides.min_element();
    (smallest > FLAT * sides.max_element()).then_some(smallest)
}

/// The largest number of one digit that is not more: 0.0319 becomes 0.03.
fn one_digit_down(value: f64) -> f64 {
    let mut unit = 1.0;
    while unit > value && unit > 1e-9 {
        unit /= 10.0;
    }
    let n_units = (value / unit).floor();
    // Dividing by the inverse gives 0.009, where multiplying gives 0.009000000000000001.
    if unit < 1.0 { n_units / (1.0 / unit).round() } else { n_units * unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_have_one_digit_and_are_not_larger() {
        for (value, wanted) in [(0.0319, 0.03), (0.0099, 0.009), (0.1, 0.1), (2.7, 2.0)] {
            assert_eq!(one_digit_down(value), wanted);
        }
    }
}
