//! Joints: how two links may move against each other.

use headland_base::{Transform, Vec3};

/// A joint. Where both links are before time starts, every joint is at position zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Unique in its scope.
    pub name: String,
    /// The link that carries it, relative to the scope; `None` is the world.
    pub parent: Option<String>,
    /// The link it carries, relative to the scope.
    pub child: String,
    /// Where the joint's frame is in its child link's.
    pub child_from_joint: Transform,
    /// How it moves.
    pub kind: JointKind,
    /// Sensors and the like: kept, not interpreted.
    pub opaque: Vec<crate::Opaque>,
}

/// How a joint moves; axes in the joint's frame.
#[derive(Clone, Debug, PartialEq)]
pub enum JointKind {
    /// Not at all.
    Fixed,
    /// Turns about an axis, within limits.
    Revolute(Axis),
    /// Turns about an axis, without limits.
    Continuous(Axis),
    /// Slides along an axis.
    Prismatic(Axis),
    /// Turns every way about a point.
    Ball,
    /// Turns about the first axis, fixed in the parent, then about the second.
    Universal(Axis, Axis),
    /// Turns about an axis and moves along it.
    Screw {
        /// The axis of both; its limits are of the turn.
        axis: Axis,
        /// Advance per turn \[m/rad\], positive for a right-handed thread.
        metres_per_radian: f64,
    },
}

impl JointKind {
    /// The word files use.
    pub fn word(&self) -> &'static str {
        match self {
            JointKind::Fixed => "fixed",
            JointKind::Revolute(_) => "revolute",
            JointKind::Continuous(_) => "continuous",
            JointKind::Prismatic(_) => "prismatic",
            JointKind::Ball => "ball",
            JointKind::Universal(..) => "universal",
            JointKind::Screw { .. } => "screw",
        }
    }

    /// The axes, to be changed.
    pub fn axes_mut(&mut self) -> Vec<&mut Axis> {
        match self {
            JointKind::Fixed | JointKind::Ball => Vec::new(),
            JointKind::Revolute(axis)
            | JointKind::Continuous(axis)
            | JointKind::Prismatic(axis)
            | JointKind::Screw { axis, .. } => vec![axis],
            JointKind::Universal(first, second) => vec![first, second],
        }
    }

    /// The axes, in order; none for fixed and ball joints.
    pub fn axes(&self) -> Vec<&Axis> {
        match self {
            JointKind::Fixed | JointKind::Ball => Vec::new(),
            JointKind::Revolute(axis)
            | JointKind::Continuous(axis)
            | JointKind::Prismatic(axis)
            | JointKind::Screw { axis, .. } => vec![axis],
            JointKind::Universal(first, second) => vec![first, second],
        }
    }
}

/// One axis of a joint. Angles in rad and N·m for turning, m and N for sliding.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Unit vector in the joint's frame.
    pub direction: Vec3,
    /// Lowest position; -∞ where there is no limit.
    pub lower: f64,
    /// Highest position; +∞ where there is no limit.
    pub upper: f64,
    /// Largest effort a motor may give; +∞ where there is no limit.
    pub effort_max: f64,
    /// Largest speed a motor may reach; +∞ where there is no limit.
    pub velocity_max: f64,
    /// Effort per speed that slows it.
    pub damping: f64,
    /// Dry friction effort.
    pub friction: f64,
    /// Effort per displacement from `spring_reference`.
    pub spring_stiffness: f64,
    /// Where the spring is at rest.
    pub spring_reference: f64,
    /// Inertia of the rotor, added along the axis \[kg·m² or kg\].
    pub armature: f64,
    /// Follows another joint.
    pub mimic: Option<Mimic>,
    /// Where the axis is when time starts (`headland:initial_position`); link poses are
    /// given at position zero.
    pub initial_position: f64,
}

impl Axis {
    /// An unlimited, frictionless axis.
    pub fn along(direction: Vec3) -> Axis {
        Axis {
            direction,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            effort_max: f64::INFINITY,
            velocity_max: f64::INFINITY,
            damping: 0.0,
            friction: 0.0,
            spring_stiffness: 0.0,
            spring_reference: 0.0,
            armature: 0.0,
            mimic: None,
            initial_position: 0.0,
        }
    }
}

/// `position = multiplier · (leader − reference) + offset`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mimic {
    /// The joint that is followed, in the same scope.
    pub leader: String,
    /// Which of the leader's axes, 0 or 1.
    pub leader_axis: usize,
    /// Slope.
    pub multiplier: f64,
    /// Added last.
    pub offset: f64,
    /// Taken from the leader first.
    pub reference: f64,
}
