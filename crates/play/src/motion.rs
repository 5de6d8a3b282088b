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
