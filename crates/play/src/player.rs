//! The controller `player`: a role that orders, firmware that obeys.
//!
//! The firmware is told what the robot's own sensors would say, without noise; the role sees
//! the truth. The head looks at the ball, and a walk bends away from other players.

use headland_base::maths::{Vec2, atan2, hypot};
use headland_base::{SimDuration, Transform, Vec3, names};
use headland_sim::{Command, Commands, Controller, Mode, Model, State};

use crate::firmware::{Firmware, Gaze, Order, Sensed};
use crate::gait::{Spot, Walk};
use crate::role::{Ball, ROLES, Role, Sight};
use crate::skeleton::{N_JOINTS, Side, Skeleton, part};
use crate::told::Told;
use crate::{ControllerEntry, Hired};

/// How help pages list it.
pub(crate) const ENTRY: ControllerEntry = ControllerEntry {
    name: "player",
    summary: "plays soccer with a humanoid of 21 joints; <role> says how, <ball> with what",
    make: |told| {
        let player = make(told)?;
        let dof_idxs = player.firmware.skeleton().bones.iter().map(|bone| bone.dof_idx).collect();
        Some(Hired { controller: Box::new(player), dof_idxs })
    },
};

/// How often it runs where the world does not say \[Hz\].
const RATE_HZ: f64 = 125.0;
/// A walk keeps this far from the middle of other players \[m\].
const ROOM: f64 = 0.4;

/// A controller of one player.
pub struct Player {
    name: String,
    period: SimDuration,
    firmware: Firmware,
    role: Box<dyn Role>,
    ball: Option<usize>,
    others: Vec<usize>,
}

impl Player {
    /// One player of a model; `ball` and `others` are objects of it.
    pub fn new(
        name: &str,
        period: SimDuration,
        firmware: Firmware,
        role: Box<dyn Role>,
        ball: Option<usize>,
        others: Vec<usize>,
    ) -> Player {
        Player { name: name.to_string(), period, firmware, role, ball, others }
    }

    /// Its firmware.
    pub fn firmware(&self) -> &Firmware {
        &self.firmware
    }
}

fn make(told: &mut Told<'_>) -> Option<Player> {
    let (model, robot) = (told.model, told.robot);
    let skeleton = match Skeleton::find(model, robot) {
        Ok(skeleton) => Some(skeleton),
        Err(wrong) => {
            told.found(wrong);
            None
        }
    };
    let ball = told.text("ball");
    let ball_idx = model.object(ball.unwrap_or("ball"));
    if let (Some(name), None) = (ball, ball_idx) {
        let known = model.objects.iter().map(|object| object.name.as_str());
        let near = names::suggestion(name, known);
        told.wrong("unknown-object", "ball", format!("no object `{name}` to play with"), near);
    }
    let role = told.text("role").unwrap_or("stand");
    let Some(entry) = ROLES.iter().find(|entry| entry.name == role) else {
        let near = names::suggestion(role, ROLES.iter().map(|entry| entry.name));
        told.wrong("unknown-role", "role", format!("no role `{role}`"), near);
        return None;
    };
    let role = (entry.make)(told);
    let period = SimDuration::from_secs(1.0 / told.rate_hz().unwrap_or(RATE_HZ))?;
    let firmware = Firmware::new(skeleton?, model.world.gravity.length());
    Some(Player::new(robot, period, firmware, role, ball_idx, other_players(model, robot)))
}

/// The objects of all players but one.
fn other_players(model: &Model, robot: &str) -> Vec<usize> {
    let mut others = Vec::new();
    model.world.visit_models(&mut |at| {
        let plays = at.model.controllers.iter().any(|wish| wish.kind == ENTRY.name);
        if plays && at.scope != robot {
            others.extend(model.object(at.scope));
        }
    });
    others
}

/// What the robot's own sensors would say, without noise.
pub fn sense(skeleton: &Skeleton, state: &State) -> Sensed {
    let root = &state.rigids[skeleton.root_rigid];
    let attitude = root.world_from_rigid.rotation;
    let mut joints = [0.0; N_JOINTS];
    for (angle, bone) in joints.iter_mut().zip(&skeleton.bones) {
        *angle = state.dofs[bone.dof_idx].position;
    }
    Sensed { joints, attitude, gyro: attitude.conjugate() * root.twist.angular }
}

/// The middle between the soles on the ground, facing where both face.
pub fn between_feet(skeleton: &Skeleton, state: &State) -> Spot {
    let world_from_root = state.rigids[skeleton.root_rigid].world_from_rigid;
    let sensed = sense(skeleton, state);
    let soles = Side::BOTH.map(|side| {
        let mut angles = [0.0; 6];
        angles.copy_from_slice(&sensed.joints[side.leg()..side.leg() + 6]);
        world_from_root * skeleton.legs[side.index()].root_from_sole(&angles)
    });
    let middle = (soles[0].translation + soles[1].translation) * 0.5;
    let ahead = soles[0].vector(Vec3::X) + soles[1].vector(Vec3::X);
    Spot { at: ground(middle), yaw: atan2(ahead.y, ahead.x) }
}

fn ground(point: Vec3) -> Vec2 {
    Vec2::new(point.x, point.y)
}

/// Where the head is to turn to look at a point of the world.
fn gaze_at(skeleton: &Skeleton, state: &State, sensed: &Sensed, point: Vec3) -> Gaze {
    let world_from_root: Transform = state.rigids[skeleton.root_rigid].world_from_rigid;
    let eye = skeleton.poses(&sensed.joints)[part::HEAD + 1].translation;
    let way = world_from_root.inverse().point(point) - eye;
    Gaze {
        pan: atan2(way.y, way.x) - sensed.joints[part::WAIST],
        tilt: atan2(-way.z, hypot(way.x, way.y)),
    }
}

/// The same walk, bent away from players that are near.
fn with_room(walk: Walk, me: Spot, others: &[Vec2]) -> Walk {
    let mut out = walk;
    for other in others {
        let way = me.see(*other);
        let distance = hypot(way.x, way.y);
        if distance < ROOM && distance > 1e-3 {
            let push = 0.4 * (ROOM - distance) / (ROOM * distance);
            out.forward -= push * way.x;
            out.left -= push * way.y;
        }
    }
    out
}

impl Controller for Player {
    fn name(&self) -> &str {
        &self.name
    }

    fn period(&self) -> SimDuration {
        self.period
    }

    fn update(&mut self, model: &Model, state: &State, commands: &mut Commands) {
        let skeleton = self.firmware.skeleton();
        let sensed = sense(skeleton, state);
        let ball = self.ball.map(|i| (state.object_pose(model, i), state.object_twist(model, i)));
        let place_of = |i: &usize| ground(state.object_pose(model, *i).translation);
        let sight = Sight {
            secs: state.time.secs(),
            me: between_feet(skeleton, state),
            doing: self.firmware.doing(),
            ball: ball.map(|(pose, twist)| Ball {
                at: ground(pose.translation),
                velocity: ground(twist.linear),
            }),
            others: self.others.iter().map(place_of).collect(),
            half_width: self.firmware.half_width(),
        };
        let gaze = ball.map(|(pose, _)| gaze_at(skeleton, state, &sensed, pose.translation));
        let order = match self.role.decide(&sight) {
            Order::Walk(walk) => Order::Walk(with_room(walk, sight.me, &sight.others)),
            order => order,
        };
        let targets = self.firmware.tick(self.period.secs(), &sensed, order, gaze);
        for (target, bone) in targets.iter().zip(&self.firmware.skeleton().bones) {
            commands.set(bone.dof_idx, Command { mode: Mode::Position, target: *target });
        }
    }
}
