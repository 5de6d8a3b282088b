//! What is asked of MuJoCo and what it makes of it. All numbers that are ours are here.
//!
//! | asked | realised |
//! |---|---|
//! | friction `mu`, `mu2` | one sliding friction, their mean, in an elliptic cone |
//! | two surfaces: the lesser of each | every pair that may touch is a `<pair>` with its own numbers; with more than 4,000, or before 3.0, the surface with the lesser friction has priority, and only pairs for which that is not the answer are listed |
//! | restitution `e` | a spring and a damper, see [`Feel::solref`]; up to 0.05: none |
//! | contact as hard as can be | impedance 0.9999, the damper stops within a step |
//! | limits, dry friction, loops, screws, mimics | the same hardness |
//! | damper, spring, armature of an axis | MuJoCo's own, dampers implicit |
//! | motor with gains | a force, and a damper `kd` that is implicit; where `kp·dt²` is stiff for the links, `kd + kp·dt` |
//! | `velocity_decay` λ | a force `−λ·m·v/(1 + λ·dt)` at the centre of mass, and so for turning |
//! | gravity off | `gravcomp`; before 3.0 a force against the weight |
//! | kinematic | a floating body that weighs 10⁴ times all others, put where it should be after every step; from 2.3.7 on |
//! | step | MuJoCo's `timestep` |
//! | integrator | `implicitfast` (before 2.3.7 `implicit`): Euler's with the same free fall, but stiff dampers and servos stay stable |
//! | solver | Newton, tolerance 1e-10, 100 iterations; elliptic cone |
//! | masses | never touched: `inertiafromgeom`, `balanceinertia`, `boundmass`, `boundinertia` off |
//!
//! With `raw` all of this stays MuJoCo's own: `Euler`, a pyramidal cone, soft contacts,
//! the greater friction of two; friction only where the world says it, no restitution. Of a
//! world that was read from an MJCF file nothing here holds: MuJoCo loads that file itself.

use headland_base::maths::{PI, cos, exp, log};
use headland_base::{Diagnostic, Vec3};
use headland_sim::{EngineOptions, Model, Motion, SurfacePair, asked_of_contacts};
use headland_world::{Format, Geometry, Surface};

use super::library::Library;

/// How much of what a constraint asks for happens in the step. MuJoCo's upper limit.
pub(super) const SOLIMP: &str = "0.9999 0.9999 0.001 0.5 2";

/// Share of an overlap that is taken back in a step where nothing bounces. What is taken
/// back becomes speed, so the ball of an impact bounces by up to that share. At 0.04 a
/// contact rests `25·g·dt²` deep, a quarter of a millimetre at 1 ms.
const RECOVERY: f64 = 0.04;

/// Share of the slip that friction takes back in a step. With all of it, as along the normal,
/// a box that slides at 2 m/s hops 4 mm high: in MuJoCo's cone of forces, pulling harder
/// against the slip takes pushing harder along the normal. With a tenth it hops 0.05 mm.
const GRIP: f64 = 0.1;

/// Pairs of geoms that are listed one by one, which is the only way to say [`GRIP`].
pub(super) const N_PAIRS_MAX: usize = 4000;

/// Up to this restitution nothing bounces.
const NO_BOUNCE: f64 = 0.05;

/// Steps a bounce lasts. With fewer, what comes back depends on where in a step the impact
/// was: with 12, 16 and 24, e² = 0.49 becomes 0.46 to 0.52, 0.47 to 0.51 and 0.48 to 0.51.
/// With more, it sinks in deeper: by `n·dt/π` times its speed.
const N_BOUNCE_STEPS: f64 = 16.0;

/// Greatest friction. MuJoCo's solver loses its way where it is infinite.
pub(super) const MU_MAX: f64 = 1e3;

/// How much heavier than everything else together what moves as told is.
pub(super) const KINEMATIC_WEIGHT: f64 = 1e4;

/// What two geoms are like to touch, in the terms of this file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Feel {
    pub(super) mu: f64,
    pub(super) restitution: f64,
}

impl Feel {
    /// Of one surface.
    pub(super) fn of(surface: &Surface) -> Feel {
        Feel::between(surface, surface)
    }

    /// Between two surfaces.
    pub(super) fn between(a: &Surface, b: &Surface) -> Feel {
        let pair = SurfacePair::of(a, b);
        let restitution = pair.restitution.clamp(0.0, 1.0);
        Feel {
            mu: pair.mean_mu().clamp(0.0, MU_MAX),
            restitution: if restitution <= NO_BOUNCE { 0.0 } else { restitution },
        }
    }

    /// MuJoCo's `solref` in its direct form, minus stiffness and minus damping per mass.
    pub(super) fn solref(self, dt: f64) -> (f64, f64) {
        let (stiffness, damping) = if self.restitution == 0.0 {
            (RECOVERY / (dt * dt), 1.0 / dt)
        } else {
            let (k, b) = bounce(self.restitution);
            (k / (dt * dt), b / dt)
        };
        (-stiffness, -damping)
    }

    /// MuJoCo's `solreffriction`, in the same form.
    pub(super) fn solref_of_friction(dt: f64) -> (f64, f64) {
        (0.0, -GRIP / dt)
    }

    /// 1 without friction, 3 with it.
    pub(super) fn condim(self) -> u32 {
        if self.mu == 0.0 { 1 } else { 3 }
    }
}

/// Stiffness and damping, in steps instead of seconds, with which a bounce lasts
/// [`N_BOUNCE_STEPS`] and returns `e` of the speed.
///
/// A step of MuJoCo's takes `(r, v)` to `v' = v − b·v − k·r`, `r' = r + v'`. Its eigenvalues
/// are `ρ·exp(±i·θ)` with `b = 1 − ρ²` and `k = 1 + ρ² − 2·ρ·cos θ`: with `θ = π/n` it comes
/// back after n steps with `ρⁿ` of its speed, if the contact could pull. It cannot, so a
/// little more comes back; `ρ` is found so that it is `e`, on average over where in a step
/// the impact is.
fn bounce(e: f64) -> (f64, f64) {
    let numbers = |asked: f64| {
        let rho = exp(log(asked) / N_BOUNCE_STEPS);
        (1.0 + rho * rho - 2.0 * rho * cos(PI / N_BOUNCE_STEPS), 1.0 - rho * rho)
    };
    // A bounce of that length returns a fifth at least, however it is damped; below that the
    // damper is given and the spring is found.
    let weak = |stiffness: f64| (stiffness, WEAK_DAMPING);
    if e < WEAK {
        weak(found(1e-4, 0.1, |k| returned(weak(k)) < e))
    } else {
        numbers(found(1e-6, 1.0, |asked| returned(numbers(asked)) < e))
    }
}

/// Below this restitution the damper of a bounce is given, in steps: it is stopped within
/// about four of them.
const WEAK: f64 = 0.25;
const WEAK_DAMPING: f64 = 0.3;

/// Where something that is true below stops being true.
fn found(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if is_below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// What comes back of a unit of speed, on average over ten phases of the impact.
fn returned((k, b): (f64, f64)) -> f64 {
    let one = |phase: f64| {
        let (mut r, mut v) = (-phase, -1.0);
        for _ in 0..10_000 {
            v += (-b * v - k * r).max(0.0);
            r += v;
            if r >= 0.0 {
                break;
            }
        }
        v
    };
    (0..10).map(|i| one(f64::from(i) * 0.1 + 0.05)).sum::<f64>() / 10.0
}

/// The `solref` of limits, loops and ties: a fifth of an error is taken back in a step.
pub(super) fn hard_solref(dt: f64) -> (f64, f64) {
    (-0.2 / (dt * dt), -1.0 / dt)
}

/// Whether every pair that may touch can be listed with its own friction.
pub(super) fn lists_pairs(library: &Library, n_pairs: usize) -> bool {
    library.is_at_least(3, 0, 0) && n_pairs <= N_PAIRS_MAX
}

/// The word for the integrator.
pub(super) fn integrator(library: &Library) -> &'static str {
    if library.is_at_least(2, 3, 7) { "implicitfast" } else { "implicit" }
}

/// Everything that is realised differently from what was asked.
pub(super) fn remarks(
    model: &Model,
    options: &EngineOptions,
    library: &Library,
) -> Vec<Diagnostic> {
    let remark = |message: String| Diagnostic::remark("realised", message);
    let mut out = Vec::new();
    if options.raw {
        out.push(remark(
            "mujoco at its own defaults: Euler, soft contacts, pyramidal cone, the greater \
             friction of two, no restitution"
                .to_string(),
        ));
    }
    if let Some(file) = model.file.as_ref().filter(|file| file.format == Format::Mjcf) {
        out.push(remark(format!(
            "headland's translation of `{}` runs; with --raw MuJoCo loads the file itself",
            super::native::shown(&file.path)
        )));
    }
    let dt = options.step.secs();
    for (body_idx, body) in model.bodies.iter().enumerate() {
        let name = &body.name;
        let rigid = &model.rigids[body.rigid_idx];
        for shape in &body.shapes {
            let surface = &shape.surface;
            if !options.raw {
                if surface.mu() != surface.mu2() {
                    let (mu, mu2, mean) = (surface.mu(), surface.mu2(), Feel::of(surface).mu);
                    out.push(remark(format!(
                        "link `{name}`: friction {mu} and {mu2} by direction becomes {mean} in \
                         every direction"
                    )));
                }
                if surface.restitution() > 0.0 {
                    out.push(remark(restitution_words(name, surface, dt)));
                }
            }
            out.extend(left_out(name, surface, options.raw));
            let is_still = rigid.motion == Motion::Static;
            if super::shapes::is_in_triangles(&shape.geometry, is_still) {
                out.push(remark(format!("link `{name}`: its mesh touches as thin slabs")));
            } else if let Geometry::Mesh { convex: false, .. } = &shape.geometry {
                out.push(remark(format!("link `{name}`: its mesh touches as its convex hull")));
            }
            if let Geometry::Cone { .. } = &shape.geometry {
                out.push(remark(format!(
                    "link `{name}`: its cone touches as a hull of {} points",
                    super::shapes::N_CONE_POINTS + 1
                )));
            }
        }
        if rigid.motion == Motion::Kinematic && rigid.body_idxs[0] == body_idx {
            out.push(remark(format!(
                "link `{name}` moves as told: it floats, weighs {KINEMATIC_WEIGHT:e} times \
                 everything else, and is put right after every step"
            )));
        }
    }
    if !library.reads_sensors() && model.bodies.iter().any(|body| !body.shapes.is_empty()) {
        out.push(remark(format!(
            "contacts of MuJoCo {} are read from what it prints about itself, which takes time; \
             from 3.5 on it has sensors for them",
            library.version()
        )));
    }
    if library.needs_force_actuators() && !model.dofs.is_empty() {
        out.push(remark(format!(
            "MuJoCo {} cannot take gains as part of its solution: stiff servos need a smaller \
             step; from 2.3.7 on it can",
            library.version()
        )));
    }
    out
}

fn restitution_words(name: &str, surface: &Surface, dt: f64) -> String {
    let feel = Feel::of(surface);
    let asked = surface.restitution();
    if feel.restitution == 0.0 {
        return format!("link `{name}`: restitution {asked} becomes 0");
    }
    let (stiffness, damping) = feel.solref(dt);
    format!(
        "link `{name}`: restitution {asked} becomes a spring of {:.0} and a damper of {:.1} per \
         kg; an impact lasts {N_BOUNCE_STEPS} steps and sinks in by {:.2} mm per m/s",
        -stiffness,
        -damping,
        1e3 * N_BOUNCE_STEPS * dt / PI
    )
}

/// What a surface asks for that is left out.
fn left_out(name: &str, surface: &Surface, raw: bool) -> Option<Diagnostic> {
    let mut words = asked_of_contacts(surface);
    words.extend((raw && surface.restitution() > 0.0).then_some("restitution"));
    let message = format!("link `{name}`: {} left out", words.join(", "));
    (!words.is_empty()).then(|| Diagnostic::remark("realised", message))
}

/// The force and the torque that damp free motion, about the centre of mass.
pub(super) fn decay(
    decay: (f64, f64),
    dt: f64,
    momentum: Vec3,
    angular_momentum: Vec3,
) -> (Vec3, Vec3) {
    let share = |lambda: f64| -lambda / (1.0 + lambda * dt);
    (momentum * share(decay.0), angular_momentum * share(decay.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wherever in a step the impact is, what comes back is what was asked, by the motion itself
    /// at a thousand phases: 4 % of the speed at most to either side, on average to 0.005 %.
    #[test]
    fn a_bounce_returns_what_was_asked() {
        const N_PHASES: u32 = 1000;
        for e in [0.06, 0.2, 0.5, 0.7, 0.9, 0.99, 1.0] {
            let (stiffness, damping) = bounce(e);
            let mut sum = 0.0;
            for phase in 0..N_PHASES {
                let (mut depth, mut speed) = ((f64::from(phase) + 0.5) / f64::from(N_PHASES), 1.0);
                while depth > 0.0 {
                    let push = stiffness * depth + damping * speed;
                    speed -= push.max(0.0); // it cannot pull
                    depth += speed;
                }
                assert!((-speed - e).abs() < 0.04, "{e} at {phase}: {speed}");
                sum -= speed;
            }
            let mean = sum / f64::from(N_PHASES);
            assert!((mean - e).abs() < 5e-5, "{e}: {mean}");
        }
    }
}
