//! The numbers that can be named, kind by kind: one list each.

use headland_base::{Mat3, SimDuration};

use super::Settings;
use super::pseudo::{self, N_COORDINATES};
use crate::{Actuator, ActuatorKind, Axis, InertiaOrigin, Link, Surface, World};

/// One number of a thing.
pub(super) struct Field<T: 'static> {
    /// The last part of its path.
    pub name: &'static str,
    /// What it is measured in; of joints, what a turning one is measured in.
    pub unit: &'static str,
    /// Which values make sense.
    pub domain: Domain,
    /// `None` where the thing has no such number.
    pub get: fn(&T) -> Option<f64>,
    pub set: fn(&mut T, f64),
}

/// Which values make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    Any,
    Positive,
    NotNegative,
    ZeroToOne,
}

impl Domain {
    pub fn holds(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Domain::Any => true,
                Domain::Positive => value > 0.0,
                Domain::NotNegative => value >= 0.0,
                Domain::ZeroToOne => (0.0..=1.0).contains(&value),
            }
    }

    pub fn words(self) -> &'static str {
        match self {
            Domain::Any => "a finite number",
            Domain::Positive => "more than zero",
            Domain::NotNegative => "zero or more",
            Domain::ZeroToOne => "between 0 and 1",
        }
    }
}

use Domain::{Any, NotNegative, Positive, ZeroToOne};

const fn field<T>(
    name: &'static str,
    unit: &'static str,
    domain: Domain,
    get: fn(&T) -> Option<f64>,
    set: fn(&mut T, f64),
) -> Field<T> {
    Field { name, unit, domain, get, set }
}

/// Of the world itself.
pub(super) const WORLD: &[Field<World>] = &[
    field(
        "physics/step",
        "s",
        Positive,
        |world| Some(world.physics.step.secs()),
        |world, x| {
            let step = SimDuration::from_secs(x).unwrap_or(world.physics.step);
            world.physics.step = step.max(SimDuration::from_nanos(1));
        },
    ),
    field("physics/gravity/x", "m/s²", Any, |w| Some(w.gravity.x), |w, x| w.gravity.x = x),
    field("physics/gravity/y", "m/s²", Any, |w| Some(w.gravity.y), |w, x| w.gravity.y = x),
    field("physics/gravity/z", "m/s²", Any, |w| Some(w.gravity.z), |w, x| w.gravity.z = x),
];

/// Of what a run is told beside the world.
pub(super) const SETTINGS: &[Field<Settings>] = &[
    field(
        "command/delay",
        "s",
        NotNegative,
        |settings| Some(settings.command_delay),
        |settings, x| settings.command_delay = x,
    ),
    field(
        "gains/kp",
        "N·m/rad",
        NotNegative,
        |settings| settings.gains.map(|(kp, _)| kp),
        |settings, x| settings.gains = Some((x, settings.gains.map_or(0.0, |(_, kd)| kd))),
    ),
    field(
        "gains/kd",
        "N·m·s/rad",
        NotNegative,
        |settings| settings.gains.map(|(_, kd)| kd),
        |settings, x| settings.gains = Some((settings.gains.map_or(0.0, |(kp, _)| kp), x)),
    ),
];

/// Of a link. What scales comes before what it scales, so that values given together hold.
pub(super) const LINK: &[Field<Link>] = &[
    coordinate::<0>(),
    coordinate::<1>(),
    coordinate::<2>(),
    coordinate::<3>(),
    coordinate::<4>(),
    coordinate::<5>(),
    coordinate::<6>(),
    coordinate::<7>(),
    coordinate::<8>(),
    coordinate::<9>(),
    field(
        "inertial/mass_scaled",
        "kg",
        Positive,
        |l| Some(l.inertial.mass),
        |l, x| {
            let factor = x / l.inertial.mass;
            if factor.is_finite() {
                l.inertial.inertia *= factor;
            }
            l.inertial.mass = x;
            given(l);
        },
    ),
    field(
        "inertial/mass",
        "kg",
        Positive,
        |l| Some(l.inertial.mass),
        |l, x| {
            l.inertial.mass = x;
            given(l);
        },
    ),
    centre::<0>(),
    centre::<1>(),
    centre::<2>(),
    field(
        "inertial/inertia/trace",
        "kg·m²",
        Positive,
        |l| Some(trace(&l.inertial.inertia)),
        |l, x| {
            let factor = x / trace(&l.inertial.inertia);
            if factor.is_finite() {
                l.inertial.inertia *= factor;
            }
            given(l);
        },
    ),
    moment::<0, 0>("inertial/inertia/ixx"),
    moment::<0, 1>("inertial/inertia/ixy"),
    moment::<0, 2>("inertial/inertia/ixz"),
    moment::<1, 1>("inertial/inertia/iyy"),
    moment::<1, 2>("inertial/inertia/iyz"),
    moment::<2, 2>("inertial/inertia/izz"),
    field(
        "velocity_decay/linear",
        "1/s",
        NotNegative,
        |l| Some(l.velocity_decay.0),
        |l, x| l.velocity_decay.0 = x,
    ),
    field(
        "velocity_decay/angular",
        "1/s",
        NotNegative,
        |l| Some(l.velocity_decay.1),
        |l, x| l.velocity_decay.1 = x,
    ),
];

/// Of a surface.
pub(super) const SURFACE: &[Field<Surface>] = &[
    field("mu", "1", NotNegative, |s| Some(s.mu()), |s, x| s.mu = Some(x)),
    field("mu2", "1", NotNegative, |s| Some(s.mu2()), |s, x| s.mu2 = Some(x)),
    field("restitution", "1", ZeroToOne, |s| Some(s.restitution()), |s, x| s.restitution = Some(x)),
    field("stiffness", "N/m", Positive, |s| s.stiffness, |s, x| s.stiffness = Some(x)),
    field("damping", "N·s/m", NotNegative, |s| s.damping, |s, x| s.damping = Some(x)),
];

/// Of an axis of a joint.
pub(super) const AXIS: &[Field<Axis>] = &[
    field("dynamics/damping", "N·m·s/rad", NotNegative, |a| Some(a.damping), |a, x| a.damping = x),
    field("dynamics/friction", "N·m", NotNegative, |a| Some(a.friction), |a, x| a.friction = x),
    field(
        "dynamics/spring_stiffness",
        "N·m/rad",
        NotNegative,
        |a| Some(a.spring_stiffness),
        |a, x| a.spring_stiffness = x,
    ),
    field(
        "dynamics/spring_reference",
        "rad",
        Any,
        |a| Some(a.spring_reference),
        |a, x| a.spring_reference = x,
    ),
    field("dynamics/armature", "kg·m²", NotNegative, |a| Some(a.armature), |a, x| a.armature = x),
    field("limit/effort", "N·m", NotNegative, |a| Some(a.effort_max), |a, x| a.effort_max = x),
    field(
        "limit/velocity",
        "rad/s",
        NotNegative,
        |a| Some(a.velocity_max),
        |a, x| {
            a.velocity_max = x;
        },
    ),
    field("limit/lower", "rad", Any, |a| Some(a.lower), |a, x| a.lower = x),
    field("limit/upper", "rad", Any, |a| Some(a.upper), |a, x| a.upper = x),
    field(
        "initial_position",
        "rad",
        Any,
        |a| Some(a.initial_position),
        |a, x| a.initial_position = x,
    ),
];

/// Of a motor.
pub(super) const ACTUATOR: &[Field<Actuator>] = &[
    field(
        "kp",
        "N·m/rad",
        NotNegative,
        |actuator| match actuator.kind {
            ActuatorKind::Position { kp, .. } => Some(kp),
            _ => None,
        },
        |actuator, x| {
            if let ActuatorKind::Position { kp, .. } = &mut actuator.kind {
                *kp = x;
            }
        },
    ),
    field(
        "kv",
        "N·m·s/rad",
        NotNegative,
        |actuator| match actuator.kind {
            ActuatorKind::Position { kv, .. } | ActuatorKind::Velocity { kv } => Some(kv),
            ActuatorKind::Motor => None,
        },
        |actuator, x| {
            if let ActuatorKind::Position { kv, .. } | ActuatorKind::Velocity { kv } =
                &mut actuator.kind
            {
                *kv = x;
            }
        },
    ),
    field("gear", "1", Any, |actuator| Some(actuator.gear), |actuator, x| actuator.gear = x),
];

/// One of the ten numbers that keep a body a body.
const fn coordinate<const I: usize>() -> Field<Link> {
    const PATHS: [&str; N_COORDINATES] = [
        "inertial/pseudo/alpha",
        "inertial/pseudo/d1",
        "inertial/pseudo/d2",
        "inertial/pseudo/d3",
        "inertial/pseudo/s12",
        "inertial/pseudo/s23",
        "inertial/pseudo/s13",
        "inertial/pseudo/t1",
        "inertial/pseudo/t2",
        "inertial/pseudo/t3",
    ];
    let unit = if I < 4 { "1" } else { "m" };
    field(
        PATHS[I],
        unit,
        Any,
        |link| Some(pseudo::coordinates(&link.inertial)[I]),
        |link, x| {
            let mut numbers = pseudo::coordinates(&link.inertial);
            numbers[I] = x;
            link.inertial = pseudo::body(&numbers, &link.inertial);
        },
    )
}

/// One coordinate of the centre of mass, in the link's frame.
const fn centre<const I: usize>() -> Field<Link> {
    const PATHS: [&str; 3] = ["inertial/com/x", "inertial/com/y", "inertial/com/z"];
    field(
        PATHS[I],
        "m",
        Any,
        |link| Some(link.inertial.link_from_inertial.translation[I]),
        |link, x| {
            link.inertial.link_from_inertial.translation[I] = x;
            given(link);
        },
    )
}

/// One number of the inertia about the centre of mass, in the inertial frame.
const fn moment<const I: usize, const J: usize>(name: &'static str) -> Field<Link> {
    field(
        name,
        "kg·m²",
        Any,
        |link| Some(link.inertial.inertia.col(I)[J]),
        |link, x| {
            link.inertial.inertia.col_mut(I)[J] = x;
            link.inertial.inertia.col_mut(J)[I] = x;
            given(link);
        },
    )
}

/// Once somebody has said what it is, it is no longer derived or assumed.
fn given(link: &mut Link) {
    link.inertial.origin = InertiaOrigin::Given;
}

fn trace(matrix: &Mat3) -> f64 {
    matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z
}
