//! The firmware of a player: orders and what its own sensors say go in, angles for the servos
//! come out, at a rate of its own.
//!
//! It knows the angles of its joints, how its trunk is turned against gravity, and its
//! gyroscope; nothing of where it is. Deliberately absent: the world.

use headland_base::maths::{atan2, cos, quat_from_rpy, sqrt};
use headland_base::{Quat, Transform, Vec3};

use crate::gait::{Footing, Gait, Kick, Pace, Spot, Walk, Wish};
use crate::motion::{self, Key, Pose};
use crate::skeleton::{Joints, N_JOINTS, Side, Skeleton, part};

/// What a player is told to do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Order {
    /// To stand.
    #[default]
    Stand,
    /// To walk.
    Walk(Walk),
    /// To kick with the foot of that side, once for as long as it is told so.
    Kick(Side),
}

/// What a player is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Standing still, or about to.
    Standing,
    /// Walking, or coming to a stand.
    Walking,
    /// Kicking.
    Kicking,
    /// Falling, or lying and waiting for rest.
    Falling,
    /// Getting up.
    GettingUp,
}

/// What a player feels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensed {
    /// Angles of the joints \[rad\].
    pub joints: Joints,
    /// How the root is turned, in a frame whose z points up.
    pub attitude: Quat,
    /// Its angular velocity in its own frame \[rad/s\].
    pub gyro: Vec3,
}

/// Where the head looks, seen from the trunk \[rad\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gaze {
    /// To the left.
    pub pan: f64,
    /// Down.
    pub tilt: f64,
}

/// Numbers that were tuned; each was tried on several engines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// How steps are made.
    pub pace: Pace,
    /// Share of the straight leg's length at which the hips are while walking.
    pub stretch: f64,
    /// How fast the hips are raised and lowered \[m/s\].
    pub rise_speed: f64,
    /// The trunk leans forwards by this \[rad\].
    pub lean: f64,
    /// The ankles give this share of a tilt …
    pub ankle_tilt: f64,
    /// … and this much of a turning rate \[s\].
    pub ankle_rate: f64,
}

impl Tuning {
    /// What walks.
    pub fn of(skeleton: &Skeleton) -> Tuning {
        let [left, right] = &skeleton.legs;
        let width = (left.hip.y + left.sole.y) - (right.hip.y + right.sole.y);
        Tuning {
            pace: Pace {
                step_secs: 0.4,
                double_share: 0.3,
                shift_secs: 0.5,
                lift: 0.03,
                width,
                inside: 0.015,
                limits: Walk { forward: 0.2, left: 0.06, turn: 0.8 },
                change: Walk { forward: 0.05, left: 0.03, turn: 0.3 },
                kick: Kick { secs: [0.5, 0.2, 0.6], back: 0.05, ahead: 0.12, lift: 0.045 },
            },
            stretch: 0.92,
            rise_speed: 0.06,
            lean: 0.0,
            ankle_tilt: 0.5,
            ankle_rate: 0.04,
        }
    }
}

/// A player's firmware.
#[derive(Clone, Debug)]
pub struct Firmware {
    skeleton: Skeleton,
    tuning: Tuning,
    getting_up: GettingUp,
    gait: Gait,
    /// What the gyroscope says, smoothed \[rad/s\].
    turning: Vec3,
    /// How high the root is meant to be above the ground \[m\].
    height: f64,
    /// What the servos were told last.
    targets: Joints,
    phase: Phase,
    doing: Doing,
    /// A kick was made since it was last told something else.
    has_kicked: bool,
    gaze: Gaze,
}

/// How to get up.
#[derive(Clone, Debug, PartialEq)]
pub struct GettingUp {
    /// From lying on the front.
    pub from_front: Vec<Key>,
    /// From lying on the back.
    pub from_back: Vec<Key>,
}

impl Default for GettingUp {
    fn default() -> GettingUp {
        GettingUp { from_front: motion::FROM_FRONT.to_vec(), from_back: motion::FROM_BACK.to_vec() }
    }
}

/// What the whole body is at.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Before the first tick, standing as the world has put it.
    Asleep,
    /// On its feet: the gait has the legs.
    Up,
    /// Since so long fallen, and at rest since so long.
    Fallen { secs: f64, rest_secs: f64, from: Joints },
    /// Playing a motion.
    Rising { secs: f64, from: Joints, is_on_front: bool },
    /// Into the stand of the gait, from wherever it is: into a squat after a motion.
    Settling { secs: f64, from: Joints },
}

/// The gyroscope is smoothed over this \[s\]. Where the ankles turn the body at once, as at the
/// detail `kinematic`, pushing against its raw rate would rock it for ever. At 125 Hz, with servos
/// that lag by 12.5 ms, what it sees is 0.86 of what it was a tick before; over 10 ms it would be
/// 1.05 in steps of 8 ms, and shake.
const GYRO_SECS: f64 = 0.015;

/// Beyond this tilt a player counts as fallen \[rad\]: nothing it can do brings it back.
const FALLEN_RADIANS: f64 = 0.8;
/// Beyond this tilt it lies, or is about to \[rad\].
const LYING_RADIANS: f64 = 1.4;
/// How long a fallen player takes to lie straight \[s\].
const STRAIGHTEN_SECS: f64 = 0.6;
/// How long it must be at rest before it gets up \[s\], and at most waits for that.
const REST_SECS: f64 = 0.3;
const MOST_REST_SECS: f64 = 3.0;
/// Slower than this is rest \[rad/s\].
const REST_RATE: f64 = 0.3;
/// How long it takes to settle into the stand of the gait \[s\].
const SETTLE_SECS: f64 = 0.8;
/// How fast the head turns \[rad/s\].
const GAZE_SPEED: f64 = 3.0;
/// Share of the straight leg's length at which the hips are in a squat.
const SQUAT_STRETCH: f64 = 0.62;

impl Firmware {
    /// Standing with straight legs.
    pub fn new(skeleton: Skeleton, gravity: f64) -> Firmware {
        let tuning = Tuning::of(&skeleton);
        Firmware::tuned(skeleton, tuning, GettingUp::default(), gravity)
    }

    /// The same with other numbers.
    pub fn tuned(
        skeleton: Skeleton,
        tuning: Tuning,
        getting_up: GettingUp,
        gravity: f64,
    ) -> Firmware {
        let targets = [0.0; N_JOINTS];
        let height = height_of(&skeleton, 1.0);
        let walking = height_of(&skeleton, tuning.stretch);
        let centre_height = walking + skeleton.centre(&targets).z;
        let gait = Gait::new(tuning.pace, sqrt(gravity / centre_height));
        Firmware {
            turning: Vec3::ZERO,
            skeleton,
            tuning,
            getting_up,
            gait,
            height,
            targets,
            phase: Phase::Asleep,
            doing: Doing::Standing,
            has_kicked: false,
            gaze: Gaze::default(),
        }
    }

    /// The body it moves.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// From the middle between the feet to each while standing \[m\].
    pub fn half_width(&self) -> f64 {
        0.5 * self.tuning.pace.width
    }

    /// What it was doing in the last tick.
    pub fn doing(&self) -> Doing {
        self.doing
    }

    /// One tick of `dt` seconds: the angles for the servos.
    pub fn tick(&mut self, dt: f64, sensed: &Sensed, order: Order, gaze: Option<Gaze>) -> Joints {
        self.look(dt, gaze);
        self.turning += (sensed.gyro - self.turning) * (dt / (GYRO_SECS + dt));
        let mut joints = self.body(dt, sensed, order);
        (joints[part::HEAD], joints[part::HEAD + 1]) = (self.gaze.pan, self.gaze.tilt);
        self.skeleton.clamped(joints)
    }

    /// Turns the head at its own speed; without a point to look at, ahead.
    fn look(&mut self, dt: f64, gaze: Option<Gaze>) {
        let wanted = gaze.filter(|_| self.doing != Doing::Falling).unwrap_or_default();
        let turn = |now: &mut f64, wanted: f64, range: (f64, f64)| {
            let wanted = wanted.clamp(range.0, range.1);
            *now += (wanted - *now).clamp(-GAZE_SPEED * dt, GAZE_SPEED * dt);
        };
        turn(&mut self.gaze.pan, wanted.pan, self.skeleton.bones[part::HEAD].range);
        turn(&mut self.gaze.tilt, wanted.tilt, self.skeleton.bones[part::HEAD + 1].range);
    }

    fn body(&mut self, dt: f64, sensed: &Sensed, order: Order) -> Joints {
        let up = sensed.attitude.conjugate() * Vec3::Z;
        let is_beyond = |radians: f64| up.z < cos(radians);
        self.phase = match self.phase {
            Phase::Asleep => Phase::Settling { secs: 0.0, from: sensed.joints },
            Phase::Up if is_beyond(FALLEN_RADIANS) => {
                Phase::Fallen { secs: 0.0, rest_secs: 0.0, from: sensed.joints }
            }
            // A squat leans far forwards, on purpose.
            Phase::Settling { .. } if is_beyond(LYING_RADIANS) => {
                Phase::Fallen { secs: 0.0, rest_secs: 0.0, from: sensed.joints }
            }
            Phase::Fallen { secs, rest_secs, from } => {
                let is_at_rest = sensed.gyro.length() < REST_RATE && secs > STRAIGHTEN_SECS;
                let rest_secs = if is_at_rest { rest_secs + dt } else { 0.0 };
                if rest_secs > REST_SECS || secs > MOST_REST_SECS {
                    Phase::Rising { secs: 0.0, from: self.targets, is_on_front: up.x < 0.0 }
                } else {
                    Phase::Fallen { secs: secs + dt, rest_secs, from }
                }
            }
            Phase::Rising { secs, from, is_on_front } => {
                Phase::Rising { secs: secs + dt, from, is_on_front }
            }
            Phase::Settling { secs, from } if secs < SETTLE_SECS => {
                Phase::Settling { secs: secs + dt, from }
            }
            Phase::Up | Phase::Settling { .. } => Phase::Up,
        };
        match self.phase {
            Phase::Asleep | Phase::Up => self.on_feet(dt, sensed, order),
            Phase::Fallen { secs, from, .. } => {
                self.doing = Doing::Falling;
                let straight = Pose::STRAIGHT.joints();
                self.targets = motion::between(&from, &straight, secs / STRAIGHTEN_SECS);
                self.targets
            }
            Phase::Rising { secs, from, is_on_front } => {
                self.doing = Doing::GettingUp;
                let keys = match is_on_front {
                    true => &self.getting_up.from_front,
                    false => &self.getting_up.from_back,
                };
                match motion::at(keys, &from, secs) {
                    Some(joints) => self.targets = joints,
                    None => {
                        self.gait.reset();
                        self.height = height_of(&self.skeleton, SQUAT_STRETCH);
                        self.phase = Phase::Settling { secs: 0.0, from: self.targets };
                    }
                }
                self.targets
            }
            Phase::Settling { secs, from } => {
                self.doing = Doing::GettingUp;
                let footing = self.gait.tick(0.0, Wish::Stand);
                let mut stand = self.legs_for(&footing);
                hold_arms(&mut stand, &footing);
                self.targets = motion::between(&from, &stand, secs / SETTLE_SECS);
                self.targets
            }
        }
    }

    /// Standing, walking and kicking.
    fn on_feet(&mut self, dt: f64, sensed: &Sensed, order: Order) -> Joints {
        let walking = height_of(&self.skeleton, self.tuning.stretch);
        let most = self.tuning.rise_speed * dt;
        self.height += (walking - self.height).clamp(-most, most);
        let is_ready = (self.height - walking).abs() < 1e-6;
        self.has_kicked &= matches!(order, Order::Kick(_));
        let wish = match order {
            Order::Walk(walk) if is_ready => Wish::Walk(walk),
            Order::Kick(side) if is_ready && !self.has_kicked => Wish::Kick(side),
            _ => Wish::Stand,
        };
        let footing = self.gait.tick(dt, wish);
        self.has_kicked |= footing.is_kick;
        self.doing = match footing {
            Footing { is_kick: true, .. } => Doing::Kicking,
            Footing { is_still: true, .. } => Doing::Standing,
            _ => Doing::Walking,
        };
        let mut joints = self.legs_for(&footing);
        hold_arms(&mut joints, &footing);
        self.targets = joints;
        self.balance(&mut joints, sensed, &footing);
        joints
    }
    /// The legs that put the soles where they are to be and the centre of mass above its place.
    /// The centre is that of the targets before, which are a tick away.
    fn legs_for(&self, footing: &Footing) -> Joints {
        let turn = quat_from_rpy(0.0, self.tuning.lean, footing.yaw);
        let centre = turn * self.skeleton.centre(&self.targets);
        let at = Vec3::new(footing.centre.x - centre.x, footing.centre.y - centre.y, self.height);
        let root_from_plan = Transform::new(turn, at).inverse();
        let mut joints = self.targets;
        for side in Side::BOTH {
            let i = side.index();
            let sole = sole_at(footing.feet[i], footing.lifts[i]);
            let angles = self.skeleton.legs[i].angles(root_from_plan * sole);
            joints[side.leg()..side.leg() + 6].copy_from_slice(&angles);
        }
        joints
    }

    /// Toes and edges push against a tilt.
    fn balance(&self, joints: &mut Joints, sensed: &Sensed, footing: &Footing) {
        let (roll, pitch) = tilt(sensed.attitude);
        let pitch = pitch - self.tuning.lean;
        let give =
            |angle: f64, rate: f64| self.tuning.ankle_tilt * angle + self.tuning.ankle_rate * rate;
        for side in Side::BOTH {
            if footing.support.is_none_or(|support| support == side) {
                joints[side.leg() + 4] += give(pitch, self.turning.y);
                joints[side.leg() + 5] += give(roll, self.turning.x);
            }
        }
    }
}

/// How high the root is above the ground when its legs are bent to this share of their length.
fn height_of(skeleton: &Skeleton, stretch: f64) -> f64 {
    let leg = &skeleton.legs[0];
    stretch * leg.reach() - leg.sole.z - leg.hip.z
}

fn sole_at(spot: Spot, lift: f64) -> Transform {
    Transform::new(quat_from_rpy(0.0, 0.0, spot.yaw), Vec3::new(spot.at.x, spot.at.y, lift))
}

/// Arms a little apart, swinging against the legs.
fn hold_arms(joints: &mut Joints, footing: &Footing) {
    let middle = Spot { at: footing.centre, yaw: footing.yaw };
    for side in Side::BOTH {
        let ahead = middle.see(footing.feet[side.other().index()].at).x;
        let arm = side.arm();
        joints[arm] = 0.25 - 2.0 * ahead;
        joints[arm + 1] = 0.2 * side.sign();
        joints[arm + 2] = -0.8;
    }
}

/// How far a body leans to its right and forwards \[rad\]: turned by so much about its own x and
/// y, its z points up.
pub fn tilt(attitude: Quat) -> (f64, f64) {
    let up = attitude.conjugate() * Vec3::Z;
    (atan2(up.y, up.z), atan2(-up.x, up.z))
}
