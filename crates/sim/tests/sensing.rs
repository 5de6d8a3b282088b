//! When sensors look, what they are shown and when they are heard, on an engine that counts.

use std::ops::ControlFlow;
use std::sync::Arc;

use headland_base::{Diagnostic, Seed, SimDuration, SimTime, Vec3};
use headland_sim::{
    Cast, Commands, Controller, Ending, Engine, EngineOptions, Fault, Inputs, Letter, Look, Model,
    Observer, Output, RunEnd, Sensor, Setup, State, Timing, run,
};
use headland_world::{Inertial, Link, Model as Robot, World};

fn millis(n: i64) -> SimDuration {
    SimDuration::from_nanos(n * 1_000_000)
}

/// Moves everything by one metre a step, and notes whether contacts were wanted.
#[derive(Default)]
struct Mover {
    wanted: Vec<usize>,
    n_steps: usize,
}

impl Engine for Mover {
    fn check(&self, _: &Model, _: &EngineOptions) -> Vec<Diagnostic> {
        Vec::new()
    }
    fn start(&mut self, _: &Model, _: &State, _: &EngineOptions) -> Result<(), Fault> {
        Ok(())
    }
    fn step(
        &mut self,
        _: &Model,
        inputs: &Inputs,
        _: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        self.n_steps += 1;
        self.wanted.extend((!inputs.skips_contacts).then_some(self.n_steps));
        state.rigids[0].world_from_rigid.translation += Vec3::X;
        Ok(())
    }
}

/// Says where things were before the step, and where they are.
struct Eye {
    timing: Timing,
    outputs: Vec<Output>,
    needs_contacts: bool,
    findings: Vec<Diagnostic>,
}

fn eye(topic: &str, timing: Timing, needs_contacts: bool) -> Box<dyn Sensor> {
    let output = |topic: String| Output { topic, message_type: "std_msgs/msg/Float64" };
    let outputs = vec![output(topic.to_string()), output(format!("{topic}/more"))];
    Box::new(Eye { timing, outputs, needs_contacts, findings: Vec::new() })
}

impl Sensor for Eye {
    fn name(&self) -> &str {
        &self.outputs[0].topic
    }
    fn outputs(&self) -> &[Output] {
        &self.outputs
    }
    fn timing(&self) -> Timing {
        self.timing
    }
    fn needs_contacts(&self) -> bool {
        self.needs_contacts
    }
    fn start(&mut self, _: &Model, seed: &Seed) {
        let wanted = Seed::new(0).child("sensor").child(&self.outputs[0].topic);
        assert_eq!(*seed, wanted, "from the run's seed and its own topic");
    }
    fn sample(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let x =
            |rigids: &[headland_sim::RigidState]| rigids[0].world_from_rigid.translation.x as u8;
        let before = look.last_step.map_or(255, |last| {
            assert_eq!(last.step, millis(1));
            x(last.rigids)
        });
        say(0, vec![before, x(&look.state.rigids)]);
        if look.state.time.nanos() % 2_000_000 == 0 {
            say(1, vec![9]);
        }
        if look.last_step.is_some() && self.outputs[0].topic.starts_with("/odd") {
            self.findings.push(Diagnostic::warning("odd", "it looked in another way"));
        }
    }
    fn take_findings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.findings)
    }
}

#[derive(Default)]
struct Ears {
    /// Output, stamp and arrival in microseconds, what was said.
    heard: Vec<(usize, i64, i64, Vec<u8>)>,
    events: Vec<String>,
}

impl Observer for Ears {
    fn message(&mut self, letter: &Letter) -> Result<(), Diagnostic> {
        let micros = |time: SimTime| time.nanos() / 1000;
        let (stamp, arrival) = (micros(letter.stamp), micros(letter.arrival));
        self.heard.push((letter.output_idx, stamp, arrival, letter.cdr.clone()));
        Ok(())
    }
    fn event(&mut self, _: SimTime, _: &str, kind: &str, text: &str) -> Result<(), Diagnostic> {
        self.events.push(format!("{kind}: {text}"));
        Ok(())
    }
}

fn go(sensors: Vec<Box<dyn Sensor>>) -> (Ears, Vec<usize>, usize) {
    let (ears, wanted, end) = go_to_the_end(sensors);
    (ears, wanted, end.n_under_way)
}

fn go_to_the_end(sensors: Vec<Box<dyn Sensor>>) -> (Ears, Vec<usize>, RunEnd) {
    let link = Link {
        name: "a".into(),
        inertial: Inertial { mass: 1.0, ..Inertial::default() },
        ..Link::default()
    };
    let robot = Robot { name: "r".into(), links: vec![link], ..Robot::default() };
    let world = World { models: vec![robot], ..World::default() };
    let model = Model::compile(&Arc::new(world)).expect("compiles");
    let mut setup = Setup::new(&model, millis(10));
    setup.record_period = millis(1000);
    let (mut engine, mut ears) = (Mover::default(), Ears::default());
    let mut cast = Cast { sensors, ..Cast::default() };
    let tick = &mut |_| ControlFlow::Continue(());
    let end = run(&model, &setup, &mut engine, &mut cast, &mut ears, tick).expect("runs");
    assert_eq!(end.ending, Ending::Duration);
    (ears, engine.wanted, end)
}

/// Every 4 ms from 1.5 ms on, in steps of 1 ms: at 2, 6 and 10 ms. What it saw is heard 2.5 ms
/// later, in order, and the last of it not at all.
#[test]
fn sensors_look_at_their_moments_and_are_heard_later() {
    let (phase, latency) = (SimDuration::from_nanos(1_500_000), SimDuration::from_nanos(2_500_000));
    let late = Timing { period: millis(4), phase, latency };
    let prompt = Timing::every(millis(5));
    let sensors = vec![eye("/late", late, false), eye("/prompt", prompt, false)];
    let (ears, _, n_under_way) = go(sensors);
    let wanted = [
        (2, 0, 0, vec![255, 0]),
        (3, 0, 0, vec![9]),
        (0, 2000, 4500, vec![1, 2]),
        (1, 2000, 4500, vec![9]),
        (2, 5000, 5000, vec![4, 5]),
        (0, 6000, 8500, vec![5, 6]),
        (1, 6000, 8500, vec![9]),
        (2, 10_000, 10_000, vec![9, 10]),
        (3, 10_000, 10_000, vec![9]),
    ];
    assert_eq!(ears.heard, wanted);
    assert_eq!(n_under_way, 2);
    assert_eq!(ears.events, ["under-way: 2 messages of sensors had not arrived and are lost"]);
}

/// What sensors find odd about themselves is an event, and told at the end of the run: once, however
/// often it happens and to however many.
#[test]
fn what_sensors_say_of_themselves_is_kept_once() {
    let timing = Timing::every(millis(3));
    let sensors = vec![eye("/odd/a", timing, false), eye("/odd/b", timing, false)];
    let (ears, _, end) = go_to_the_end(sensors);
    assert_eq!(ears.events, ["odd: it looked in another way"]);
    assert_eq!(end.findings, [Diagnostic::warning("odd", "it looked in another way")]);
    let (_, _, end) = go_to_the_end(vec![eye("/a", timing, false)]);
    assert_eq!(end.findings, []);
}

/// Contacts are computed for a sensor that looks at them, and for no other.
#[test]
fn contacts_are_wanted_by_those_who_feel_them() {
    let last = 10; // the last state is observed
    let timing = Timing::every(millis(3));
    assert_eq!(go(vec![eye("/a", timing, false)]).1, [last]);
    assert_eq!(go(vec![eye("/a", timing, true)]).1, [3, 6, 9, last]);
    assert_eq!(go(vec![eye("/a", Timing::default(), true)]).1, (1..=10).collect::<Vec<_>>());
}

/// Does nothing, at its own rate.
struct Slow(SimDuration);

impl Controller for Slow {
    fn name(&self) -> &str {
        "slow"
    }
    fn period(&self) -> SimDuration {
        self.0
    }
    fn update(&mut self, _: &Model, _: &State, _: &mut Commands) {}
}

#[test]
fn who_cannot_keep_a_rate_is_warned_of() {
    let period = |rate: i64| SimDuration::from_nanos(1_000_000_000 / rate);
    let rates = [4000, 1000, 999];
    let sensors = rates.map(|rate| eye("/a", Timing::every(period(rate)), false));
    let controllers = rates.map(|rate| Box::new(Slow(period(rate))) as Box<dyn Controller>);
    let mut cast = Cast { sensors: sensors.into(), controllers: controllers.into() };
    let told: Vec<String> =
        headland_sim::too_fast(&cast, millis(1)).into_iter().map(|told| told.message).collect();
    assert_eq!(
        told,
        [
            "`/a` is to be sampled at 4000 Hz, and a run of 0.001 s steps samples it at 1000 Hz",
            "the controller `slow` is to act at 4000 Hz, and a run of 0.001 s steps lets it act \
             at 1000 Hz",
        ]
    );
    cast = Cast { sensors: vec![eye("/a", Timing::default(), false)], ..Cast::default() };
    assert!(headland_sim::too_fast(&cast, millis(1)).is_empty());
}
