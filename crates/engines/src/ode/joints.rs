//! Joints of ours as ODE's: hinges, sliders, balls and universals as they are, a screw as a
//! piston whose slide and turn are tied by forces.
//!
//! ODE counts a joint from where it was made, so positions here are those of the start less
//! the start's. Its hinge sees an angle within half a turn; limits further out are those of an
//! angular motor that is told its angle at every step.

use headland_base::{Diagnostic, Vec3};
use headland_sim::{Action, Joint, Model, Motion, State};
use headland_world::{Axis, JointKind};

use super::ffi::{Api, Handle, param};

/// How far the stops of a hinge may be from where it starts \[rad\]; half a turn, less some room.
const HINGE_REACH: f64 = 3.0;

/// How far from a right angle the axes of a universal joint may be \[rad, about\].
const SQUARE: f64 = 1e-6;

/// What ODE has no joint for, and what it realises differently.
pub(super) fn check(model: &Model) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for joint in &model.joints {
        if let JointKind::Universal(first, second) = &joint.kind
            && first.direction.dot(second.direction).abs() > SQUARE
        {
            let message = format!(
                "joint `{}`: the axes of ODE's universal joint are at right angles, these are not",
                joint.name
            );
            out.push(Diagnostic::error("engine-cannot", message));
        }
        if let JointKind::Screw { .. } = joint.kind {
            let message = format!("joint `{}`: screw as a piston tied by forces", joint.name);
            out.push(Diagnostic::remark("realised", message));
        }
        if let JointKind::Prismatic(axis) = &joint.kind
            && axis.armature > 0.0
        {
            let message = format!(
                "joint `{}`: armature of {} kg of a sliding axis is left out",
                joint.name, axis.armature
            );
            out.push(Diagnostic::remark("realised", message));
        }
        if joint.kind.axes().iter().any(|axis| axis.mimic.is_some()) {
            let message = format!("joint `{}`: mimic as a force", joint.name);
            out.push(Diagnostic::remark("realised", message));
        }
    }
    out
}

/// What the joints need at every step.
#[derive(Default)]
pub(super) struct Joints {
    /// Motors that are told their angle, with the axis they are told of.
    counted: Vec<Counted>,
    /// One per axis of the model; none where nothing can move.
    seats: Vec<Option<Seat>>,
}

struct Counted {
    motor: Handle,
    which: i32,
    dof_idx: usize,
}

/// Where ODE has an axis.
struct Seat {
    sides: Sides,
    action: Action,
    joint_idx: usize,
    /// Made when it is first needed.
    motor: Option<Handle>,
}

/// The two bodies of a joint as ODE wants them: the first is never the world.
#[derive(Clone, Copy)]
struct Sides {
    first: Handle,
    second: Handle,
    /// Minus one where the first is our parent. Axes are turned about with it, so that ODE
    /// counts positions and speeds as we do.
    sign: f64,
}

impl Sides {
    /// None where no force moves either.
    fn of(model: &Model, joint: &Joint, bodies: &[Handle]) -> Option<Sides> {
        let moves = |i: usize| model.rigids[i].motion == Motion::Dynamic;
        if !moves(joint.child_rigid) && !joint.parent_rigid.is_some_and(moves) {
            return None;
        }
        let child = bodies[joint.child_rigid];
        let parent = joint.parent_rigid.map_or(std::ptr::null_mut(), |i| bodies[i]);
        Some(if child.is_null() {
            Sides { first: parent, second: child, sign: -1.0 }
        } else {
            Sides { first: child, second: parent, sign: 1.0 }
        })
    }

    /// ODE's number of the body an axis turns with, that of our parent or of our child: 0 is
    /// the world.
    fn number(&self, is_parents: bool) -> i32 {
        let is_first = (self.sign < 0.0) == is_parents;
        match (is_first, self.second.is_null()) {
            (true, _) => 1,
            (false, true) => 0,
            (false, false) => 2,
        }
    }
}

/// Where a joint is in the world, and along what.
struct Placed {
    point: Vec3,
    axes: [Vec3; 2],
}

impl Placed {
    fn of(joint: &Joint, state: &State) -> Placed {
        let world_from_child =
            state.rigids[joint.child_rigid].world_from_rigid * joint.child_from_joint;
        let world_from_parent = match joint.parent_rigid {
            Some(i) => state.rigids[i].world_from_rigid * joint.parent_from_joint,
            None => joint.parent_from_joint,
        };
        let along = joint.kind.axes();
        let first =
            along.first().map_or(Vec3::ZERO, |axis| world_from_parent.vector(axis.direction));
        // The second axis of a universal joint turns with the child.
        let second =
            along.get(1).map_or(Vec3::ZERO, |axis| world_from_child.vector(axis.direction));
        Placed { point: world_from_child.translation, axes: [first, second] }
    }
}

/// Puts every joint into ODE's world.
pub(super) unsafe fn insert(
    api: &Api,
    world: Handle,
    model: &Model,
    state: &State,
    bodies: &[Handle],
    stop_erp: f64,
) -> Joints {
    let mut out = Joints::default();
    for (joint_idx, joint) in model.joints.iter().enumerate() {
        let sides = Sides::of(model, joint, bodies);
        out.seats.extend(joint.kind.axes().iter().map(|_| {
            sides.map(|sides| Seat { sides, action: Action::of(joint), joint_idx, motor: None })
        }));
        if let Some(sides) = sides {
            // SAFETY: the caller's promises.
            unsafe { insert_one(api, world, joint, state, sides, stop_erp, &mut out.counted) };
        }
    }
    out
}

unsafe fn insert_one(
    api: &Api,
    world: Handle,
    joint: &Joint,
    state: &State,
    sides: Sides,
    stop_erp: f64,
    counted: &mut Vec<Counted>,
) {
    let placed = Placed::of(joint, state);
    let (p, none) = (placed.point, std::ptr::null_mut());
    let a = placed.axes[0] * sides.sign;
    let (axes, first_dof) = (joint.kind.axes(), joint.first_dof);
    // SAFETY: joints are made in `world` between bodies of it, and live as long as it does.
    unsafe {
        let attached = |made: Handle| {
            (api.dJointAttach)(made, sides.first, sides.second);
            made
        };
        match &joint.kind {
            JointKind::Fixed => unreachable!("welded when the model was compiled"),
            JointKind::Ball => {
                let made = attached((api.dJointCreateBall)(world, none));
                (api.dJointSetBallAnchor)(made, p.x, p.y, p.z);
            }
            JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
                let made = attached((api.dJointCreateHinge)(world, none));
                (api.dJointSetHingeAnchor)(made, p.x, p.y, p.z);
                (api.dJointSetHingeAxis)(made, a.x, a.y, a.z);
                let start = state.dofs[first_dof].position;
                let (lower, upper) = (axis.lower - start, axis.upper - start);
                if lower.is_infinite() && upper.is_infinite() {
                    (api.dJointSetHingeParam)(made, param::FORCE_MAX, axis.friction);
                } else if lower >= -HINGE_REACH && upper <= HINGE_REACH {
                    let set = |what, value| (api.dJointSetHingeParam)(made, what, value);
                    hold(set, lower, upper, axis.friction, stop_erp);
                } else {
                    count(api, world, sides, &placed, &axes, first_dof, stop_erp, counted);
                }
            }
            JointKind::Prismatic(axis) => {
                let made = attached((api.dJointCreateSlider)(world, none));
                (api.dJointSetSliderAxis)(made, a.x, a.y, a.z);
                let start = state.dofs[first_dof].position;
                let set = |what, value| (api.dJointSetSliderParam)(made, what, value);
                hold(set, axis.lower - start, axis.upper - start, axis.friction, stop_erp);
            }
            JointKind::Screw { .. } => {
                let made = attached((api.dJointCreatePiston)(world, none));
                (api.dJointSetPistonAnchor)(made, p.x, p.y, p.z);
                (api.dJointSetPistonAxis)(made, a.x, a.y, a.z);
                count(api, world, sides, &placed, &axes, first_dof, stop_erp, counted);
            }
            JointKind::Universal(..) => {
                let made = attached((api.dJointCreateUniversal)(world, none));
                (api.dJointSetUniversalAnchor)(made, p.x, p.y, p.z);
                // ODE's first axis turns with its first body: our second with the child.
                let [of_parent, of_child] = placed.axes;
                let (one, two) =
                    if sides.sign > 0.0 { (of_child, of_parent) } else { (of_parent, of_child) };
                (api.dJointSetUniversalAxis1)(made, one.x, one.y, one.z);
                (api.dJointSetUniversalAxis2)(made, two.x, two.y, two.z);
                count(api, world, sides, &placed, &axes, first_dof, stop_erp, counted);
            }
        }
    }
}

/// Stops and dry friction of an axis of ODE's own. A motor that wants to stand still with this
/// much force is dry friction.
fn hold(set: impl Fn(i32, f64), lower: f64, upper: f64, friction: f64, stop_erp: f64) {
    set(param::LOWER, lower);
    set(param::UPPER, upper);
    set(param::SPEED, 0.0);
    set(param::FORCE_MAX, friction);
    set(param::STOP_ERP, stop_erp);
}

/// The same for turns ODE's joint cannot hold: an angular motor that is told where it is.
#[allow(clippy::too_many_arguments, reason = "ODE's side, ours, and what is asked")]
unsafe fn count(
    api: &Api,
    world: Handle,
    sides: Sides,
    placed: &Placed,
    axes: &[&Axis],
    first_dof: usize,
    stop_erp: f64,
    counted: &mut Vec<Counted>,
) {
    let is_free =
        |axis: &&Axis| axis.friction == 0.0 && axis.lower.is_infinite() && axis.upper.is_infinite();
    if axes.iter().all(is_free) {
        return;
    }
    // SAFETY: as above.
    unsafe {
        let motor = (api.dJointCreateAMotor)(world, std::ptr::null_mut());
        (api.dJointAttach)(motor, sides.first, sides.second);
        (api.dJointSetAMotorNumAxes)(motor, axes.len() as i32);
        for (i, axis) in axes.iter().enumerate() {
            let (which, a) = (i as i32, placed.axes[i] * sides.sign);
            (api.dJointSetAMotorAxis)(motor, which, sides.number(i == 0), a.x, a.y, a.z);
            let set = |what, value| {
                (api.dJointSetAMotorParam)(motor, what + which * param::SECOND, value);
            };
            hold(set, axis.lower, axis.upper, axis.friction, stop_erp);
            counted.push(Counted { motor, which, dof_idx: first_dof + i });
        }
    }
}

impl Joints {
    /// Tells motors their angles.
    pub(super) unsafe fn count(&self, api: &Api, state: &State) {
        for it in &self.counted {
            let angle = state.dofs[it.dof_idx].position;
            // SAFETY: made by `count`, alive as long as the world.
            unsafe { (api.dJointSetAMotorAngle)(it.motor, it.which, angle) };
        }
    }

    /// Lets ODE push an axis with `damping · (target − velocity)`, at the velocity the step
    /// ends with: a motor of boundless force whose force mixing is `1/damping`.
    #[allow(clippy::too_many_arguments, reason = "where, what and how much")]
    pub(super) unsafe fn follow(
        &mut self,
        api: &Api,
        world: Handle,
        model: &Model,
        state: &State,
        dof_idx: usize,
        target: f64,
        damping: f64,
    ) {
        let Some(seat) = self.seats[dof_idx].as_mut() else { return };
        if seat.motor.is_none() && damping == 0.0 {
            return;
        }
        let joint = &model.joints[seat.joint_idx];
        // SAFETY: as above.
        unsafe {
            let motor = *seat.motor.get_or_insert_with(|| {
                let placed = Placed::of(joint, state);
                make_motor(
                    api,
                    world,
                    seat.sides,
                    seat.action,
                    &placed,
                    model.dofs[dof_idx].axis_idx,
                )
            });
            let set = match seat.action {
                Action::Turn => api.dJointSetAMotorParam,
                Action::Slide => api.dJointSetLMotorParam,
            };
            if damping > 0.0 {
                set(motor, param::SPEED, target);
                set(motor, param::CFM, 1.0 / damping);
                set(motor, param::FORCE_MAX, f64::INFINITY);
            } else {
                set(motor, param::FORCE_MAX, 0.0);
            }
        }
    }
}

/// A motor on one axis that holds nothing yet.
unsafe fn make_motor(
    api: &Api,
    world: Handle,
    sides: Sides,
    action: Action,
    placed: &Placed,
    axis_idx: usize,
) -> Handle {
    let (a, none) = (placed.axes[axis_idx] * sides.sign, std::ptr::null_mut());
    let number = sides.number(axis_idx == 0);
    // SAFETY: as above.
    unsafe {
        let (create, n_axes, axis) = match action {
            Action::Turn => {
                (api.dJointCreateAMotor, api.dJointSetAMotorNumAxes, api.dJointSetAMotorAxis)
            }
            Action::Slide => {
                (api.dJointCreateLMotor, api.dJointSetLMotorNumAxes, api.dJointSetLMotorAxis)
            }
        };
        let motor = create(world, none);
        (api.dJointAttach)(motor, sides.first, sides.second);
        n_axes(motor, 1);
        axis(motor, 0, number, a.x, a.y, a.z);
        motor
    }
}
