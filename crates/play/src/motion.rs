//! Motions by key poses: getting up from the front and from the back.
//!
//! Poses are the same on both sides. Deliberately absent: looking. A motion is played to its
//! end; whether it worked is seen afterwards, and it may be tried again.

use crate::gait::ease;
use crate::skeleton::{Joints, N_JOINTS, Side};

/// A pose that is the same on both sides \[rad\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Back is positive, for arms that hang.
    pub shoulder_pitch: f64,
    /// Outwards.
    pub shoulder_roll: f64,
    /// Negative is bent.
    pub elbow: f64,
    /// Outwards.
    pub hip_roll: f64,
    /// Negative is bent.
    pub hip_pitch: f64,
    /// Positive is bent.
    pub knee: f64,
    /// Negative is bent, toes up.
    pub ankle_pitch: f64,
}

impl Pose {
    /// Lying straight, hands a little in front.
    pub const STRAIGHT: Pose = Pose {
        shoulder_pitch: -0.1,
        shoulder_roll: 0.1,
        elbow: -0.2,
        hip_roll: 0.0,
        hip_pitch: 0.0,
        knee: 0.05,
        ankle_pitch: 0.0,
    };

    /// All joints.
    pub fn joints(&self) -> Joints {
        let mut joints = [0.0; N_JOINTS];
        for side in Side::BOTH {
            let (leg, arm, out) = (side.leg(), side.arm(), side.sign());
            joints[leg + 1] = out * self.hip_roll;
            joints[leg + 2] = self.hip_pitch;
            joints[leg + 3] = self.knee;
            joints[leg + 4] = self.ankle_pitch;
            // The soles stay as wide as the legs are spread.
            joints[leg + 5] = -out * self.hip_roll;
            joints[arm] = self.shoulder_pitch;
            joints[arm + 1] = out * self.shoulder_roll;
            joints[arm + 2] = self.elbow;
        }
        joints
    }
}

/// A pose and how long it takes to get there \[s\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// From the pose before.
    pub secs: f64,
    /// To this one.
    pub pose: Pose,
}

/// A key as the tables below write it: seconds, then the pose in the order of its fields.
const fn key(numbers: [f64; 8]) -> Key {
    let [secs, shoulder_pitch, shoulder_roll, elbow, hip_roll, hip_pitch, knee, ankle_pitch] =
        numbers;
    Key {
        secs,
        pose: Pose { shoulder_pitch, shoulder_roll, elbow, hip_roll, hip_pitch, knee, ankle_pitch },
    }
}

/// From lying on the front: arms push the trunk up, legs fold under it, arms swing back.
///
/// Begun by hand and then searched for, on MuJoCo, for the best stand at the end.
pub const FROM_FRONT: &[Key] = &[
    key([0.38, -1.71, 1.2, 0.0, 0.66, -0.94, 0.0, -0.14]),
    key([1.05, -2.67, 0.4, 0.0, 0.2, -0.94, 1.94, -1.4]),
    key([0.84, -1.69, 0.2, 0.0, 0.0, -2.2, 2.45, -1.4]),
    key([0.54, 0.28, 0.02, 0.0, 0.7, -1.42, 2.5, -1.4]),
];

/// From lying on the back: elbows and then hands push the trunk up behind it until it sits, feet
/// are drawn in, arms are thrown forwards.
///
/// Begun by hand and then searched for, on MuJoCo, ODE and Bullet at once: it is over the feet
/// only in passing, and what was found on one engine alone failed on another.
pub const FROM_BACK: &[Key] = &[
    key([0.25, 0.27, 0.62, -0.78, 0.54, -0.66, 1.29, -0.49]),
    key([0.35, 1.61, 0.0, -2.22, 0.52, 0.4, 1.67, -0.52]),
    key([0.41, 1.33, 0.0, -0.49, 0.05, -0.78, 1.76, 0.35]),
    key([0.45, 0.54, 0.17, -0.03, 0.33, -1.54, 2.5, 0.45]),
    key([0.33, 1.02, 0.05, -0.18, 0.34, -2.12, 2.5, 0.73]),
    key([0.25, -1.19, 0.0, 0.0, 0.7, -2.2, 2.5, -0.83]),
];

/// Where the joints are to be so long after a motion began at `start`; `None` when it is over.
pub fn at(keys: &[Key], start: &Joints, secs: f64) -> Option<Joints> {
    let (mut from, mut begun) = (*start, 0.0);
    for key in keys {
        let to = key.pose.joints();
        if secs < begun + key.secs {
            return Some(between(&from, &to, (secs - begun) / key.secs));
        }
        (from, begun) = (to, begun + key.secs);
    }
    None
}

/// From one pose to another, beginning and ending at rest.
pub fn between(from: &Joints, to: &Joints, share: f64) -> Joints {
    let share = ease(share);
    std::array::from_fn(|i| from[i] + (to[i] - from[i]) * share)
}
