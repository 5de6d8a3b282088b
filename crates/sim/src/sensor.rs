//! Sensors: what looks at the state and says something about it, at its own rate.

use headland_base::{Seed, SimDuration, SimTime};

use crate::model::Model;
use crate::state::State;

/// One sensor.
///
/// It is given the true state and its own seed, and nothing else; noise drawn from
/// another source would make the recording depend on the order of construction.
pub trait Sensor {
    /// The topic it reports on: `/robot/imu`.
    fn topic(&self) -> &str;

    /// The ROS message type it reports: `sensor_msgs/msg/Imu`.
    fn message_type(&self) -> &str;

    /// How often it reports. It is asked at time zero, then at the first step at or after
    /// each multiple.
    fn period(&self) -> SimDuration;

    /// Called once before the run.
    fn start(&mut self, model: &Model, seed: &Seed);

    /// The message of this moment, CDR-encoded, or nothing.
    fn sample(&mut self, model: &Model, state: &State) -> Option<Vec<u8>>;
}

/// When something that happens every `period` is due next, on a clock that only stops at
/// steps.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    period: SimDuration,
    next: SimTime,
}

impl Due {
    /// Due at time zero, then every `period`.
    pub fn every(period: SimDuration) -> Due {
        assert!(period > SimDuration::ZERO, "a period is longer than nothing");
        Due { period, next: SimTime::ZERO }
    }

    /// Whether it will be due at a moment, if nothing happens before.
    pub fn will_be(&self, then: SimTime) -> bool {
        then >= self.next
    }

    /// Whether it is due now; if so, moves on to the next multiple after now.
    pub fn is_due(&mut self, now: SimTime) -> bool {
        if now < self.next {
            return false;
        }
        let n_passed = (now - self.next).nanos() / self.period.nanos() + 1;
        self.next += self.period * n_passed;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_keeps_its_rate_on_a_clock_that_does_not_divide_it() {
        let mut due = Due::every(SimDuration::from_nanos(10));
        let fired: Vec<i64> =
            (0..20).map(|i| i * 3).filter(|t| due.is_due(SimTime::from_nanos(*t))).collect();
        assert_eq!(fired, [0, 12, 21, 30, 42, 51]);
    }
}
