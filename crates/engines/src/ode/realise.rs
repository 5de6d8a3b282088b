//! What is asked and what ODE makes of it: every translation in one place.
//!
//! | asked | realised | with `--raw` |
//! |---|---|---|
//! | gravity, per link or none | `dWorldSetGravity`, `dBodySetGravityMode` | the same |
//! | `velocity_decay` d \[1/s\] | `v ← v·e^(−d·dt)` after each step, at any speed | none |
//! | free rotation | finite: by the angle `ω·dt`, not by its tangent; gyroscopic torque on | infinitesimal, gyroscopic torque on |
//! | solver | the world's `<ode>`, else `quick` with 50 passes and 1.3, SDF's defaults | `dWorldStep` |
//! | erp, cfm | the world's, else 0.2 and 1e-10, which is ODE's | 0.2, 1e-10 |
//! | contact layer | the world's, else 0.1 mm | none |
//! | fastest correction | the world's, else 100 m/s, SDF's default | any |
//! | limits of joints | stops with erp 0.02, without bounce | stops with erp 0.2 |
//! | contact points of a pair | the world's `max_contacts`, else 20, SDF's default | 20 |
//! | mu, mu2 | lesser of the two surfaces, as coefficients (`dContactApprox1`), as a pyramid along ODE's own directions | lesser of those that are said, as a force in N, which is ODE's default; ∞ where none is said |
//! | `fdir1` | of the surface that has one, or of the one with less mu, laid into the contact plane | left out |
//! | slip1, slip2 | the sum of the two surfaces' \[m/s/N\] | left out |
//! | torsional friction μ, radius a | `3π/16·a·μ` times the normal force about the normal, lesser μ, larger a | left out |
//! | restitution | lesser of the two | lesser of those that are said |
//! | `bounce_threshold` | lesser of those that are said, else 0 m/s | the same |
//! | kp, kd | in series, `1/kp = 1/kp₁ + 1/kp₂`, and `kd = kd₁ + kd₂`; `erp = dt·kp/(dt·kp + kd)`, `cfm = 1/(dt·kp + kd)` | left out |
//! | `soft_erp`, `soft_cfm` | the lesser erp, the sum of the cfms, where there is no kp | left out |
//! | `min_depth`, `max_vel` of a surface | depth less the larger `min_depth`, and no more than `max_vel·dt/erp` | left out |
//!
//! Bodies never sleep in either.

use headland_base::maths::{PI, exp, sqrt};
use headland_base::{Diagnostic, Vec3};
use headland_sim::{Model, SurfacePair};
use headland_world::{OdeSolver, Surface};

use super::ffi::{self, mode};

/// How ODE steps and corrects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    pub solver: OdeSolver,
    pub n_iterations: u32,
    pub over_relaxation: f64,
    pub erp: f64,
    pub cfm: f64,
    /// Error reduction at the limits of joints.
    pub stop_erp: f64,
    pub max_correction_speed: f64,
    pub surface_layer: f64,
    pub max_contacts: usize,
    pub finite_rotation: bool,
    pub raw: bool,
}

/// What may overlap where the world does not say \[m\]. With SDF's default of 1 mm a stack of ten
/// boxes sinks by 8 mm and a ball on a heightmap rolls a tenth short, because it also leans on
/// the triangles around it; with this, by 1.0 mm and 0.8 %.
const SURFACE_LAYER: f64 = 1e-4;

/// Error reduction at the limits of joints. What an axis overshoots in the step it arrives in
/// is given back as speed: with ODE's 0.2 a wheel comes back from its limit with up to a fifth
/// of the speed it came with, with this with a fiftieth.
const STOP_ERP: f64 = 0.02;

/// Contact points of a pair, whatever the world asks: there is room for these.
pub(super) const MOST_CONTACTS: usize = 64;

impl Settings {
    pub(super) fn of(model: &Model, raw: bool) -> Settings {
        let physics = &model.world.physics;
        if raw {
            return Settings {
                solver: OdeSolver::World,
                n_iterations: 20,
                over_relaxation: 1.3,
                erp: 0.2,
                cfm: 1e-10,
                stop_erp: 0.2,
                max_correction_speed: f64::INFINITY,
                surface_layer: 0.0,
                max_contacts: 20,
                finite_rotation: false,
                raw,
            };
        }
        let ode = &physics.ode;
        Settings {
            solver: ode.solver.unwrap_or(OdeSolver::Quick),
            n_iterations: ode.n_iterations.unwrap_or(50),
            over_relaxation: ode.over_relaxation.unwrap_or(1.3),
            erp: ode.erp.unwrap_or(0.2),
            // SDF's default is 0, with which the four corners of a box share its weight in
            // more than one way and `dWorldStep` finds none of them.
            cfm: ode.cfm.unwrap_or(1e-10),
            stop_erp: STOP_ERP,
            max_correction_speed: ode.max_correction_speed.unwrap_or(100.0),
            surface_layer: ode.surface_layer.unwrap_or(SURFACE_LAYER),
            max_contacts: physics.max_contacts.map_or(20, |n| n as usize).min(MOST_CONTACTS),
            finite_rotation: true,
            raw,
        }
    }
}

/// What says how ODE is set, before the run.
pub(super) fn check(model: &Model, raw: bool) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let settings = Settings::of(model, raw);
    if raw {
        out.push(Diagnostic::remark(
            "realised",
            "ode as it comes: dWorldStep, erp 0.2, cfm 1e-10, friction a force in N where it is \
             said and boundless where not, no velocity decay, slip, friction direction or \
             contact stiffness",
        ));
        return out;
    }
    if let Some(asked) = model.world.physics.max_contacts.filter(|n| *n as usize > MOST_CONTACTS) {
        let message =
            format!("at most {MOST_CONTACTS} contact points between two shapes, not {asked}");
        out.push(Diagnostic::remark("realised", message));
    }
    if settings.solver == OdeSolver::World && model.world.physics.ode.n_iterations.is_some() {
        let message = "ode's solver `world` makes no passes: `iters` is left out";
        out.push(Diagnostic::remark("realised", message));
    }
    out
}

/// The share of its speed a body loses per step: `1 − e^(−d·dt)`.
pub(super) fn decay_per_step(decay: f64, dt: f64) -> f64 {
    1.0 - exp(-decay * dt)
}

/// What holds between two surfaces, all but the friction direction.
///
/// `mu2` and the flags of coefficients are set always, so that ODE reads `mu` as SDF means it.
pub(super) fn surface(a: &Surface, b: &Surface, dt: f64, settings: &Settings) -> ffi::Surface {
    if settings.raw {
        return raw_surface(a, b);
    }
    let pair = SurfacePair::of(a, b);
    let mut out = ffi::Surface {
        mode: mode::MU2 | mode::COEFFICIENTS,
        mu: pair.mu,
        mu2: pair.mu2,
        ..ffi::Surface::default()
    };
    if pair.restitution > 0.0 {
        out.mode |= mode::BOUNCE;
        out.bounce = pair.restitution;
        out.bounce_speed = lesser(a.bounce_threshold, b.bounce_threshold).unwrap_or(0.0);
    }
    let (slip_a, slip_b) = (a.slip.unwrap_or_default(), b.slip.unwrap_or_default());
    let slip = (slip_a.0 + slip_b.0, slip_a.1 + slip_b.1);
    if slip.0 > 0.0 {
        out.mode |= mode::SLIP1;
        out.slip1 = slip.0;
    }
    if slip.1 > 0.0 {
        out.mode |= mode::SLIP2;
        out.slip2 = slip.1;
    }
    let spin = spin_friction(a, b);
    if spin > 0.0 {
        out.mode |= mode::ROLLING;
        // ODE counts three rows and lays out those above zero only: none may be zero.
        (out.rho, out.rho2, out.rho_normal) = (f64::MIN_POSITIVE, f64::MIN_POSITIVE, spin);
    }
    if let Some((erp, cfm)) = softness(a, b, dt) {
        out.mode |= mode::SOFT_ERP | mode::SOFT_CFM;
        (out.soft_erp, out.soft_cfm) = (erp.unwrap_or(settings.erp), cfm.unwrap_or(settings.cfm));
    }
    out
}

/// What somebody gets who fills in what the file says and leaves ODE's mode at zero.
fn raw_surface(a: &Surface, b: &Surface) -> ffi::Surface {
    let mut out =
        ffi::Surface { mu: lesser(a.mu, b.mu).unwrap_or(f64::INFINITY), ..ffi::Surface::default() };
    if let Some(mu2) = lesser(a.mu2, b.mu2) {
        out.mode |= mode::MU2;
        out.mu2 = mu2;
    }
    if let Some(bounce) = lesser(a.restitution, b.restitution) {
        out.mode |= mode::BOUNCE;
        out.bounce = bounce;
        out.bounce_speed = lesser(a.bounce_threshold, b.bounce_threshold).unwrap_or(0.0);
    }
    out
}

/// `3π/16·a·μ`: the torque of a round patch of radius `a` under a force of one, where the
/// pressure is that of Hertz. A surface that says nothing has μ = 1 and no patch.
fn spin_friction(a: &Surface, b: &Surface) -> f64 {
    if a.torsional.is_none() && b.torsional.is_none() {
        return 0.0;
    }
    let (a, b) = (a.torsional.unwrap_or((1.0, 0.0)), b.torsional.unwrap_or((1.0, 0.0)));
    3.0 * PI / 16.0 * a.0.min(b.0) * a.1.max(b.1)
}

/// Error reduction and force mixing of a contact, where a surface asks for them.
fn softness(a: &Surface, b: &Surface, dt: f64) -> Option<(Option<f64>, Option<f64>)> {
    let stiffness = match (a.stiffness, b.stiffness) {
        (Some(a), Some(b)) => Some(a * b / (a + b)),
        (one, other) => one.or(other),
    };
    if let Some(kp) = stiffness.filter(|kp| *kp > 0.0) {
        let kd = a.damping.unwrap_or(0.0) + b.damping.unwrap_or(0.0);
        return Some((Some(dt * kp / (dt * kp + kd)), Some(1.0 / (dt * kp + kd))));
    }
    let erp = lesser(a.soft_erp, b.soft_erp);
    let cfm = match (a.soft_cfm, b.soft_cfm) {
        (Some(a), Some(b)) => Some(a + b),
        (one, other) => one.or(other),
    };
    (erp.is_some() || cfm.is_some()).then_some((erp, cfm))
}

/// How deep ODE is told a contact is.
pub(super) fn told_depth(
    depth: f64,
    a: &Surface,
    b: &Surface,
    erp: f64,
    dt: f64,
    settings: &Settings,
) -> f64 {
    if settings.raw {
        return depth;
    }
    let spared = a.min_depth.unwrap_or(0.0).max(b.min_depth.unwrap_or(0.0));
    let fastest = lesser(a.max_correction_speed, b.max_correction_speed);
    let most = match fastest {
        // The layer of the whole world is ODE's to take off.
        Some(speed) if erp > 0.0 => speed * dt / erp + settings.surface_layer,
        _ => f64::INFINITY,
    };
    (depth - spared).max(0.0).min(most)
}

/// The first friction direction, of unit length in the contact plane; none where no surface
/// gives one, or the one given stands on the plane.
pub(super) fn friction_direction(asked: Option<Vec3>, normal: Vec3) -> Option<Vec3> {
    let asked = asked?;
    let along = asked - normal * asked.dot(normal);
    let length = sqrt(along.dot(along));
    (length > 1e-6).then(|| along / length)
}

/// Whose friction direction counts, the first surface's or not.
pub(super) fn direction_is_first(a: &Surface, b: &Surface) -> bool {
    match (a.friction_direction, b.friction_direction) {
        (Some(_), Some(_)) => a.mu() <= b.mu(),
        (first, _) => first.is_some(),
    }
}

fn lesser(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            solver: OdeSolver::Quick,
            n_iterations: 50,
            over_relaxation: 1.3,
            erp: 0.2,
            cfm: 1e-10,
            stop_erp: STOP_ERP,
            max_correction_speed: 100.0,
            surface_layer: 0.0,
            max_contacts: 20,
            finite_rotation: true,
            raw: false,
        }
    }

    /// A spring and a damper in one step: `erp` and `cfm` as ODE's manual gives them, so that
    /// `kp = erp/(cfm·dt)` and `kd = (1 − erp)/cfm`.
    #[test]
    fn stiffness_and_damping_come_back_out_of_erp_and_cfm() {
        let surface_of =
            |kp, kd| Surface { stiffness: Some(kp), damping: Some(kd), ..Surface::default() };
        let dt = 0.002;
        let out = surface(&surface_of(2e4, 30.0), &surface_of(2e4, 50.0), dt, &settings());
        let (kp, kd) = (out.soft_erp / (out.soft_cfm * dt), (1.0 - out.soft_erp) / out.soft_cfm);
        assert!((kp / 1e4 - 1.0).abs() < 1e-12 && (kd / 80.0 - 1.0).abs() < 1e-9, "{kp} {kd}");
    }

    #[test]
    fn raw_friction_is_what_is_said_and_boundless_where_nothing_is() {
        let raw = Settings { raw: true, ..settings() };
        let silent = Surface::default();
        assert_eq!(surface(&silent, &silent, 1e-3, &raw).mu, f64::INFINITY);
        let said = Surface { mu: Some(0.3), ..Surface::default() };
        let out = surface(&said, &silent, 1e-3, &raw);
        assert_eq!((out.mu, out.mode), (0.3, 0));
    }

    #[test]
    fn a_friction_direction_lies_in_the_plane() {
        let normal = Vec3::new(0.0, 0.6, 0.8);
        let along = friction_direction(Some(Vec3::Y), normal).unwrap();
        assert!(along.dot(normal).abs() < 1e-15 && (along.length() - 1.0).abs() < 1e-15);
        assert_eq!(friction_direction(Some(normal), normal), None);
        assert_eq!(friction_direction(None, normal), None);
    }
}
