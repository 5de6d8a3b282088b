//! Whether a step is too coarse for the world: a model and a step go in, a warning comes out.
//!
//! A contact can be no stiffer than the step allows, so what lies still sinks in by a share of
//! `g·dt²`, the way a body falls in its first step: a fortieth of it in the embedded engine. A
//! body that falls further than its own size in one step is not seen to land.

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, SimDuration, Vec3};
use headland_world::geometry::corners_in;

use crate::model::{Model, Motion, Rigid};

/// Steps in which a body falls its own size, where a step is suggested: what lies still then
/// sinks in by less than a thousandth of its size.
const N_STEPS: f64 = 10.0;

/// Warns of a step in which something falls further than its size, and suggests one that is
/// fine for all of them.
pub fn coarse_step(model: &Model, step: SimDuration) -> Option<Diagnostic> {
    let gravity = model.world.gravity.length();
    let fall = gravity * step.secs() * step.secs();
    let falls = |rigid: &&Rigid| rigid.motion == Motion::Dynamic && rigid.gravity;
    let sizes =
        model.rigids.iter().filter(falls).filter_map(|rigid| Some((size(model, rigid)?, rigid)));
    let mut small: Vec<(f64, &Rigid)> = sizes.filter(|(size, _)| fall > *size).collect();
    small.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (smallest, rigid) = *small.first()?;
    let name = &model.bodies[rigid.body_idxs[0]].name;
    let others = match small.len() - 1 {
        0 => String::new(),
        n => format!(", and {n} more than theirs"),
    };
    let wanted = one_digit_down(sqrt(smallest / gravity) / N_STEPS);
    let message = format!(
        "in one step of {} s link `{name}` falls {fall:.2e} m, more than its own {smallest:.2e} m{others}",
        step.secs()
    );
    Some(
        Diagnostic::warning("coarse-step", message)
            .note("it will sink into what it lies on, or through it")
            .help(format!("a step of {wanted} s or less: --step {wanted}")),
    )
}

/// The smallest side of the box around a rigid's shapes; none where nothing can touch it.
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
    around.map(|(low, high)| (high - low).x.min((high - low).y).min((high - low).z))
}

/// The largest number of one digit that is not more: 0.0319 becomes 0.03.
fn one_digit_down(value: f64) -> f64 {
    let mut unit = 1.0;
    while unit > value && unit > 1e-9 {
        unit /= 10.0;
    }
    let n_units = (value / unit).floor();
    // Dividing by the inverse gives 0.03, where multiplying gives 0.030000000000000002.
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
