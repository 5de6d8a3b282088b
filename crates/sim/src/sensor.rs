//! Sensors: what looks at the state and says something about it, at its own rate.
//!
//! A sensor has one or more outputs, each a topic with one type of message. It looks at a state
//! at moments of its own: from its phase on, every period, at the first step at or after each.
//! What it says carries the moment of the look in its header, and reaches whoever listens one
//! latency later; the run loop keeps it under way for so long.
//!
//! Deliberately absent: any one sensor. Those that a World declares are in `sense`.

use std::collections::BTreeMap;

use headland_base::{Diagnostic, Seed, SimDuration, SimTime};

use crate::control::Controller;
use crate::model::Model;
use crate::run::Cast;
use crate::state::{RigidState, State};

/// One thing a sensor says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The topic it is said on: `/robot/imu`.
    pub topic: String,
    /// The ROS message type: `sensor_msgs/msg/Imu`.
    pub message_type: &'static str,
}

/// When a sensor looks, and how long it takes until others know what it saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Between two looks; nothing is every step.
    pub period: SimDuration,
    /// Of the first look.
    pub phase: SimDuration,
    /// From the look to the arrival of its messages.
    pub latency: SimDuration,
}

impl Timing {
    /// From time zero on, every period, known at once.
    pub fn every(period: SimDuration) -> Timing {
        Timing { period, ..Timing::default() }
    }

    /// When it is due, at a step of the run.
    pub fn due(&self, step: SimDuration) -> Due {
        let period = if self.period > SimDuration::ZERO { self.period } else { step };
        Due::from(self.phase, period)
    }
}

/// What a sensor is shown.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// What does not change.
    pub model: &'a Model,
    /// What does, now.
    pub state: &'a State,
    /// The step that led here; none at time zero.
    pub last_step: Option<LastStep<'a>>,
    /// Threads it may use; what it says does not depend on it.
    pub n_threads: usize,
}

/// The step before a look: for what is a change over time, such as an acceleration.
#[derive(Clone, Copy, Debug)]
pub struct LastStep<'a> {
    /// The rigids before it.
    pub rigids: &'a [RigidState],
    /// How long it was.
    pub step: SimDuration,
}

/// One sensor.
///
/// It is given the true state and its own seed, and nothing else; noise drawn from
/// another source would make the recording depend on the order of construction.
pub trait Sensor {
    /// Its whole name, `robot::base::imu`; its seed is split off by it.
    fn name(&self) -> &str;

    /// What it says, at least one.
    fn outputs(&self) -> &[Output];

    /// When it looks.
    fn timing(&self) -> Timing;

    /// Whether it looks at the contacts of the state. An engine computes them only where
    /// somebody does.
    fn needs_contacts(&self) -> bool {
        false
    }

    /// Called once before the run.
    fn start(&mut self, model: &Model, seed: &Seed);

    /// Hands what there is to say now to `say`: which output, and the message as CDR bytes.
    fn sample(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>));

    /// What was worth a word since the last call, about itself and not about what it saw: that it
    /// had to look in another way than it was told to.
    fn take_findings(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// What is known before a run about sensors and controllers that cannot be as fast as they were
/// asked to be.
pub fn too_fast(cast: &Cast, step: SimDuration) -> Vec<Diagnostic> {
    let is_too_fast =
        |period: SimDuration| (period > SimDuration::ZERO && period < step).then_some(period);
    let real = rate_hz(step);
    let seen = |sensor: &dyn Sensor| {
        let asked = rate_hz(is_too_fast(sensor.timing().period)?);
        let topic = &sensor.outputs()[0].topic;
        let message = format!(
            "`{topic}` is to be sampled at {asked} Hz, and a run of {step} steps samples it at \
             {real} Hz"
        );
        let help = "a smaller --step, or a lower <update_rate>; 0 is every step";
        Some(Diagnostic::warning("sensor-too-fast", message).help(help))
    };
    let steered = |controller: &dyn Controller| {
        let asked = rate_hz(is_too_fast(controller.period())?);
        let name = controller.name();
        let message = format!(
            "the controller `{name}` is to act at {asked} Hz, and a run of {step} steps lets it \
             act at {real} Hz"
        );
        let note = "what it does in its own time takes longer in the world's";
        let help = format!("a step of {} s or less", 1.0 / asked);
        Some(Diagnostic::warning("controller-too-fast", message).note(note).help(help))
    };
    let sensors = cast.sensors.iter().filter_map(|sensor| seen(&**sensor));
    let controllers = cast.controllers.iter().filter_map(|it| steered(&**it));
    sensors.chain(controllers).collect()
}

/// How often something happens every `period`, to four places: a period is whole nanoseconds,
/// and 70 Hz are none.
pub fn rate_hz(period: SimDuration) -> f64 {
    (1e4 / period.secs()).round() / 1e4
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
        Due::from(SimDuration::ZERO, period)
    }

    /// Due at `phase`, then every `period`.
    pub fn from(phase: SimDuration, period: SimDuration) -> Due {
        assert!(period > SimDuration::ZERO, "a period is longer than nothing");
        Due { period, next: SimTime::ZERO + phase }
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

/// Messages under way, in the order they arrive; those that arrive together in the order they
/// were sent.
#[derive(Debug, Default)]
pub struct Mail {
    letters: BTreeMap<(SimTime, u64), Letter>,
    n_sent: u64,
}

/// A message under way.
#[derive(Debug)]
pub struct Letter {
    /// Which output of all sensors it is from.
    pub output_idx: usize,
    /// When the sensor looked.
    pub stamp: SimTime,
    /// When it arrives.
    pub arrival: SimTime,
    /// The message.
    pub cdr: Vec<u8>,
}

impl Mail {
    /// Sends a message on its way.
    pub fn send(&mut self, letter: Letter) {
        self.letters.insert((letter.arrival, self.n_sent), letter);
        self.n_sent += 1;
    }

    /// The next one that has arrived by now.
    pub fn arrived(&mut self, now: SimTime) -> Option<Letter> {
        let first = self.letters.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// How many are still under way.
    pub fn n_under_way(&self) -> usize {
        self.letters.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fired(mut due: Due) -> Vec<i64> {
        (0..20).map(|i| i * 3).filter(|t| due.is_due(SimTime::from_nanos(*t))).collect()
    }

    #[test]
    fn due_keeps_its_rate_on_a_clock_that_does_not_divide_it() {
        let [four, ten] = [4, 10].map(SimDuration::from_nanos);
        assert_eq!(fired(Due::every(ten)), [0, 12, 21, 30, 42, 51]);
        assert_eq!(fired(Due::from(four, ten)), [6, 15, 24, 36, 45, 54]);
    }

    #[test]
    fn letters_arrive_by_time_and_then_in_the_order_they_were_sent() {
        let mut mail = Mail::default();
        for (output_idx, arrival) in [(0, 5), (1, 3), (2, 5), (3, 9)] {
            let arrival = SimTime::from_nanos(arrival);
            mail.send(Letter { output_idx, stamp: SimTime::ZERO, arrival, cdr: Vec::new() });
        }
        let now = SimTime::from_nanos(5);
        let got: Vec<usize> =
            std::iter::from_fn(|| mail.arrived(now)).map(|letter| letter.output_idx).collect();
        assert_eq!((got, mail.n_under_way()), (vec![1, 0, 2], 1));
    }
}
