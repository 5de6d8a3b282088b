//! What motors give, by closed form: on a flywheel that nothing else moves.

use std::sync::Arc;

use headland_base::maths::exp;
use headland_base::{SimDuration, SimTime, Vec3};
use headland_sim::{Command, Commands, Inputs, Mode, Model, State};
use headland_world::{
    Actuator, ActuatorKind, Axis, Joint, JointKind, Link, Model as Robot, TorqueSpeed, World,
};

/// A wheel on an axle with one motor.
struct Bench {
    model: Model,
    state: State,
    commands: Commands,
    inputs: Inputs,
    inertia: f64,
}

impl Bench {
    fn new(actuator: Actuator, inertia: f64) -> Bench {
        let axle = Joint {
            name: "axle".into(),
            parent: None,
            child: "wheel".into(),
            child_from_joint: Default::default(),
            kind: JointKind::Continuous(Axis::along(Vec3::Z)),
            opaque: Vec::new(),
        };
        let robot = Robot {
            name: "robot".into(),
            links: vec![Link { name: "wheel".into(), ..Link::default() }],
            joints: vec![axle],
            actuators: vec![Actuator { name: "motor".into(), joint: "axle".into(), ..actuator }],
            ..Robot::default()
        };
        let world = World { models: vec![robot], ..World::default() };
        let model = Model::compile(&Arc::new(world)).expect("a wheel");
        Bench {
            state: State::initial(&model),
            commands: Commands::new(&model, None, Some(SimDuration::from_nanos(1_000_000_000))),
            inputs: Inputs::default(),
            model,
            inertia,
        }
    }

    fn set(&mut self, mode: Mode, target: f64) {
        self.commands.set(0, Command { mode, target });
    }

    /// The effort and the slopes of this moment.
    fn act(&mut self) -> (f64, f64, f64) {
        self.commands.advance(self.state.time);
        self.commands.act(&self.model, &self.state, &mut self.inputs);
        let slope = self.inputs.slopes[0];
        (self.inputs.efforts[0], slope.kp, slope.kd)
    }

    /// One step, exact for the effort that acts throughout it.
    fn step(&mut self, nanos: i64) -> f64 {
        let (effort, ..) = self.act();
        let (secs, wheel) = (nanos as f64 * 1e-9, &mut self.state.dofs[0]);
        let acceleration = effort / self.inertia;
        wheel.position += (wheel.velocity + 0.5 * acceleration * secs) * secs;
        wheel.velocity += acceleration * secs;
        self.state.time += SimDuration::from_nanos(nanos);
        effort
    }
}

fn curve(stall_effort: f64, no_load_speed: f64) -> Option<TorqueSpeed> {
    Some(TorqueSpeed { stall_effort, no_load_speed })
}

fn position(kp: f64, kv: f64) -> Actuator {
    Actuator { kind: ActuatorKind::Position { kp, kv }, ..Actuator::default() }
}

/// ω(t) = ω0·(1 − exp(−t·stall/(ω0·I))), to first order in the step; through a gear, both ways.
#[test]
fn a_motor_reaches_its_no_load_speed_exponentially() {
    for (gear, direction) in [(1.0, 1.0), (1.0, -1.0), (-2.0, 1.0)] {
        let motor = Actuator { gear, torque_speed: curve(8.0, 6.0), ..Actuator::default() };
        let (stall, no_load) = (8.0 * f64::abs(gear), 6.0 / f64::abs(gear));
        let mut bench = Bench::new(motor, 0.02);
        bench.set(Mode::Effort, 1e3 * direction);
        let time_constant = no_load * bench.inertia / stall;
        let (step_nanos, step) = (2_000, 2e-6);
        let mut worst: f64 = 0.0;
        while bench.state.time.secs() < 8.0 * time_constant {
            bench.step(step_nanos);
            let wanted = no_load * (1.0 - exp(-bench.state.time.secs() / time_constant));
            worst = worst.max((bench.state.dofs[0].velocity * direction - wanted).abs());
        }
        // Euler's error is at most no_load·step/(2e·time_constant).
        assert!(worst < 0.19 * no_load * step / time_constant, "{worst}");
        assert!(worst > 0.15 * no_load * step / time_constant, "the bound is tight: {worst}");
        let left = no_load - bench.state.dofs[0].velocity * direction;
        assert!((left / no_load - exp(-8.0)).abs() < 1e-4, "{left}");
    }
}

/// With the motion the effort falls, against it the stall effort is there at any speed, and
/// past the no-load speed nothing pushes on. Inside the limits a servo gives way, at them not.
#[test]
fn a_motor_brakes_with_its_stall_effort() {
    let servo = Actuator { torque_speed: curve(8.0, 6.0), ..position(10.0, 1.0) };
    let mut bench = Bench::new(servo, 1.0);
    let mut at = |velocity: f64, target: f64| {
        bench.state.dofs[0].velocity = velocity;
        bench.set(Mode::Position, target);
        bench.act()
    };
    assert_eq!(at(0.0, 0.5), (5.0, 10.0, 1.0), "kp·0.5, and it gives way");
    assert_eq!(at(0.0, 5.0), (8.0, 0.0, 0.0), "stalled");
    assert_eq!(at(3.0, 5.0), (4.0, 0.0, 0.0), "half the speed, half the effort");
    assert_eq!(at(-3.0, -5.0), (-4.0, 0.0, 0.0));
    assert_eq!(at(3.0, -5.0), (-8.0, 0.0, 0.0), "braking");
    assert_eq!(at(-30.0, 5.0), (8.0, 0.0, 0.0), "braking, however fast");
    assert_eq!(at(7.0, 5.0), (0.0, 0.0, 0.0), "too fast to be pushed");
    assert_eq!(at(3.0, 0.4), (1.0, 10.0, 1.0), "4 − 3 of the 4 that are left");
}

/// A double integrator under a sampled servo with kp = I/T² and kd = 3I/(2T) is at its target,
/// and at rest, after two periods: but only if the effort is held for exactly one each.
#[test]
fn a_sampled_servo_arrives_after_two_ticks() {
    let (rate, inertia) = (125.0, 0.3);
    let (kp, kv) = (inertia * rate * rate, 1.5 * inertia * rate);
    let mut bench = Bench::new(Actuator { rate: Some(rate), ..position(kp, kv) }, inertia);
    bench.set(Mode::Position, 0.7);
    for _ in 0..16 {
        bench.step(1_000_000);
        assert_eq!(bench.act().1, 0.0, "what is held does not give way");
    }
    let wheel = bench.state.dofs[0];
    assert!((wheel.position - 0.7).abs() < 1e-12 && wheel.velocity.abs() < 1e-10, "{wheel:?}");
    // One that computes in every step is a damped oscillator and still under way.
    let mut quick = Bench::new(position(kp, kv), inertia);
    quick.set(Mode::Position, 0.7);
    (0..16).for_each(|_| _ = quick.step(1_000_000));
    assert!((quick.state.dofs[0].position - 0.7).abs() > 0.05);
}

/// Ticks are the multiples of the period; where no step falls on one, the next step after it.
#[test]
fn ticks_are_multiples_of_the_period() {
    let mut bench = Bench::new(Actuator { rate: Some(125.0), ..Actuator::default() }, 1.0);
    let mut changes = Vec::new();
    let mut before = None;
    for i in 1..=20 {
        bench.set(Mode::Effort, i as f64); // another one in every step
        let now = bench.state.time;
        let effort = bench.step(3_000_000);
        if before.replace(effort) != Some(effort) {
            changes.push((now.nanos() / 1_000_000, effort));
        }
    }
    let wanted = [(0, 1.0), (9, 4.0), (18, 7.0), (24, 9.0), (33, 12.0), (42, 15.0), (48, 17.0)];
    assert_eq!(changes, [&wanted[..], &[(57, 20.0)]].concat());
}

/// What is let go is let go at once, and a new command waits for the next tick.
#[test]
fn a_sampled_motor_lets_go_at_once() {
    let motor =
        Actuator { rate: Some(100.0), torque_speed: curve(8.0, 6.0), ..Actuator::default() };
    let mut bench = Bench::new(motor, 1.0);
    let mut at = |millis: i64, target: Option<f64>| {
        bench.state.time = SimTime::from_nanos(millis * 1_000_000);
        bench.commands.advance(bench.state.time);
        match target {
            Some(target) => bench.set(Mode::Effort, target),
            None => bench.commands.release(0),
        }
        bench.act().0
    };
    assert_eq!(at(0, Some(5.0)), 5.0);
    assert_eq!(at(1, Some(6.0)), 5.0, "held");
    assert_eq!(at(2, None), 0.0);
    assert_eq!(at(9, Some(6.0)), 0.0, "not before the tick");
    assert_eq!(at(10, Some(6.0)), 6.0);
    bench.state.dofs[0].velocity = 3.0;
    assert_eq!(bench.act().0, 4.0, "held, and yet no more than its speed leaves");
    bench.state.time = SimTime::from_nanos(1_011_000_000);
    assert_eq!(bench.act().0, 0.0, "the watchdog");
}
