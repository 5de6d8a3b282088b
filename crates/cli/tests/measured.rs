//! The measurements that ship, `worlds/measured/*.csv`: made by our own engines from a known truth
//! and a seed, here, so that whoever fits a model knows the right answer.
//!
//! `UPDATE=1 cargo test -p headland --test measured` writes them again; a change of them is a
//! change of an engine.

mod common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::ROOT;
use headland_base::maths::{PI, sin, wrap_angle};
use headland_base::{Seed, SimDuration, SimTime};
use headland_judge::closed_form::double_pendulum::solve;
use headland_judge::compare::{Sampling, Series};
use headland_sense::noise::Dice;
use headland_sim::{Command, Mode, Model};
use headland_validate::{Experiment, Replay, ReplayOptions, Signal, Simulated, Told};
use headland_world::parameter::{self, Settings, Subject};
use headland_world::{Integrator, World};

/// A measurement: which model, what is true of it, what was measured how well.
struct Measured {
    name: &'static str,
    world: World,
    /// Other numbers than those of the world that ships.
    truth: &'static [(&'static str, f64)],
    engine: &'static str,
    step: SimDuration,
    /// Keys, their value before the start, and the standard deviation of their noise.
    keys: Vec<(&'static str, f64, f64)>,
    /// What is so at the start beside that.
    known: &'static [(&'static str, f64)],
    told: Told,
    delay: SimDuration,
    times: Vec<SimTime>,
}

fn shipped(name: &str) -> World {
    let path = Path::new(ROOT).join("worlds").join(name);
    headland_world::read(&path, &Default::default()).expect("a world").world
}

fn measured(name: &str) -> World {
    shipped(&format!("measured/{name}"))
}

fn ms(millis: f64) -> SimDuration {
    SimDuration::from_nanos((millis * 1e6).round() as i64)
}

/// A signal that stays as it starts: what a replay starts from is read off it.
fn still(key: &str, times: &[SimTime], value: f64) -> Signal {
    let (times, values) = (times.to_vec(), vec![value; times.len()]);
    Signal { key: key.to_string(), series: Series { times, values, ..Series::default() } }
}

/// Stamps of a logger that means to be even: to the microsecond, up to a tenth of an interval off.
fn stamps(name: &str, n: usize, interval_micros: f64) -> Vec<SimTime> {
    let mut dice = Dice::new(&Seed::new(7).child(name).child("stamps"));
    let stamp = |i: usize| {
        let off = if i == 0 { 0.0 } else { 0.2 * (dice.uniform() - 0.5) };
        SimTime::from_nanos(((i as f64 + off) * interval_micros).round() as i64 * 1000)
    };
    (0..n).map(stamp).collect()
}

fn pendulum() -> Measured {
    Measured {
        name: "pendulum",
        world: shipped("pendulum.sdf"),
        truth: &[("joint/hinge/dynamics/damping", 0.08)],
        engine: "native",
        step: ms(0.25),
        keys: vec![("hinge/position", 0.5, 0.001), ("hinge/velocity", 0.0, 0.005)],
        known: &[],
        told: Told::default(),
        delay: SimDuration::ZERO,
        times: stamps("pendulum", 800, 10_000.0),
    }
}

/// By rk4: what other steps leave behind in a ten-thousandth of a second grows to milliradians.
fn double_pendulum() -> Measured {
    let mut world = shipped("double_pendulum.sdf");
    world.physics.native.integrator = Some(Integrator::Rk4);
    Measured {
        name: "double_pendulum",
        world,
        truth: &[],
        engine: "native",
        step: ms(0.25),
        keys: vec![("shoulder/position", 1.2, 0.0002), ("elbow/position", 0.6, 0.0002)],
        known: &[],
        told: Told::default(),
        delay: SimDuration::ZERO,
        times: stamps("double_pendulum", 1000, 10_000.0),
    }
}

/// A swing of both joints at several speeds, told to the servos every 20 ms.
fn arm_commands() -> Vec<(SimTime, usize, Command)> {
    let mut out = Vec::new();
    for i in 0..300 {
        let t = f64::from(i) * 0.02;
        let wave = |amplitude: f64, hertz: f64| amplitude * sin(2.0 * PI * hertz * t);
        let shoulder = wave(0.5, 0.4) + wave(0.2, 1.1);
        let elbow = wave(0.7, 0.6) + wave(0.25, 1.7);
        for (dof_idx, target) in [(0, shoulder), (1, elbow)] {
            let target = (target * 1e4).round() / 1e4;
            let time = SimTime::from_nanos(i64::from(i) * 20_000_000);
            out.push((time, dof_idx, Command { mode: Mode::Position, target }));
        }
    }
    out
}

fn arm() -> Measured {
    Measured {
        name: "arm",
        world: measured("arm.sdf"),
        truth: &[
            ("link/forearm/inertial/mass", 1.4),
            ("joint/shoulder/dynamics/damping", 0.8),
            ("joint/elbow/dynamics/friction", 0.3),
        ],
        engine: "native",
        step: ms(0.2),
        keys: vec![
            ("shoulder/position", 0.0, 0.0005),
            ("shoulder/velocity", 0.0, 0.005),
            ("elbow/position", 0.0, 0.0005),
            ("elbow/velocity", 0.0, 0.005),
        ],
        known: &[],
        told: Told::new(arm_commands()),
        delay: SimDuration::from_nanos(20_000_000),
        times: stamps("arm", 600, 10_000.0),
    }
}

fn cube() -> Measured {
    Measured {
        name: "cube",
        world: measured("cube.sdf"),
        truth: &[("surface/*/mu", 0.25), ("surface/*/mu2", 0.25)],
        engine: "rapier",
        step: ms(0.5),
        keys: vec![
            ("cube/pose/x", 0.0, 0.0002),
            ("cube/pose/y", 0.0, 0.0002),
            ("cube/pose/z", 0.4, 0.0002),
            ("cube/pose/qx", 0.0, 0.0005),
            ("cube/pose/qy", 0.0, 0.0005),
            ("cube/pose/qz", 0.0, 0.0005),
            ("cube/pose/qw", 1.0, 0.0005),
        ],
        known: &[
            ("cube/linear_vel/x", 1.0),
            ("cube/linear_vel/y", 0.2),
            ("cube/linear_vel/z", 0.5),
            ("cube/angular_vel/x", 3.0),
            ("cube/angular_vel/y", -4.0),
            ("cube/angular_vel/z", 2.0),
        ],
        told: Told::default(),
        delay: SimDuration::ZERO,
        times: stamps("cube", 222, 6_757.0),
    }
}

impl Measured {
    fn experiment(&self) -> Experiment {
        let mut signals: Vec<_> =
            self.keys.iter().map(|(key, start, _)| still(key, &self.times, *start)).collect();
        signals.sort_by(|a, b| a.key.cmp(&b.key));
        let known = self.known.iter().map(|(key, value)| (key.to_string(), *value)).collect();
        Experiment { signals, told: self.told.clone(), known }
    }

    /// What was true.
    fn run(&self) -> (Experiment, Simulated) {
        let mut subject = Subject { world: self.world.clone(), settings: Settings::default() };
        for (path, value) in self.truth {
            for parameter in parameter::find(&subject.world, path).expect("a path") {
                parameter.set(&mut subject, *value).expect("a value");
            }
        }
        let experiment = Arc::new(self.experiment());
        let options = ReplayOptions { command_delay: self.delay, ..ReplayOptions::new(self.step) };
        let model = Model::compile(&Arc::new(subject.world)).expect("compiles");
        let entry = headland_engines::find(self.engine).expect("an engine");
        let engine = (entry.make)(entry);
        let mut replay =
            Replay::new(model, engine, Arc::clone(&experiment), options).expect("can be repeated");
        assert_eq!(replay.sampling(), Sampling::Exact);
        let simulated = replay.run().expect("reaches its end").clone();
        (Experiment::clone(&experiment), simulated)
    }

    /// What was measured of it, as a table.
    fn table(&self) -> String {
        let (experiment, simulated) = self.run();
        let mut dice = Dice::new(&Seed::new(7).child(self.name).child("noise"));
        let mut out = String::from("time");
        self.keys.iter().for_each(|(key, ..)| _ = write!(out, ",{key}"));
        out.push('\n');
        for (row, time) in self.times.iter().enumerate() {
            _ = write!(out, "{:.6}", time.secs());
            for (key, _, deviation) in &self.keys {
                let at =
                    experiment.signals.iter().position(|signal| signal.key == *key).expect("a key");
                let value = simulated.values[at][row] + deviation * dice.normal();
                _ = write!(out, ",{value:.5}");
            }
            out.push('\n');
        }
        out
    }
}

fn commands_table() -> String {
    let mut out = String::from("time,shoulder/position,elbow/position\n");
    for pair in arm_commands().chunks(2) {
        let (time, shoulder, elbow) = (pair[0].0.secs(), pair[0].2.target, pair[1].2.target);
        _ = writeln!(out, "{time:.2},{shoulder},{elbow}");
    }
    out
}

/// Two roads: what is measured of the double pendulum is what Lagrange's equations say, to less than
/// a hundredth of its noise, although it is chaotic.
#[test]
fn the_double_pendulum_is_true_to_its_end() {
    let measured = double_pendulum();
    let (experiment, simulated) = measured.run();
    let values = |key: &str| {
        let at = experiment.signals.iter().position(|signal| signal.key == key).expect("a key");
        &simulated.values[at]
    };
    let (shoulder, elbow) = (values("shoulder/position"), values("elbow/position"));
    let times: Vec<f64> = measured.times.iter().map(|time| time.secs()).collect();
    let mut worst: f64 = 0.0;
    solve(&times, 9.81, |i, [upper, lower, ..]| {
        let off = [shoulder[i] - upper, elbow[i] - (lower - upper)];
        worst = off.into_iter().fold(worst, |worst, off| worst.max(wrap_angle(off).abs()));
    });
    eprintln!("off by {worst:e} rad at most");
    assert!(times[times.len() - 1] > 9.98 && worst < 1e-6, "{worst}");
}

#[test]
fn measurements_are_made_again_to_the_byte() {
    let mut files = vec![("arm_commands.csv".to_string(), commands_table())];
    for measured in [pendulum(), double_pendulum(), arm(), cube()] {
        files.push((format!("{}.csv", measured.name), measured.table()));
    }
    for (name, made) in files {
        let path = PathBuf::from(ROOT).join("worlds/measured").join(&name);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &made).expect("written");
        }
        let shipped = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(shipped == made, "`{name}` is not what the engines make now");
        assert!(shipped.len() < 100_000, "{name} is small: {} bytes", shipped.len());
    }
}
