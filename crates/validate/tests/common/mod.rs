//! Worlds and measurements for the tests of replays.
#![allow(dead_code, reason = "each test program uses its part")]

pub mod planted;

use std::path::Path;
use std::sync::Arc;

use headland_base::{SimDuration, SimTime, Source};
use headland_judge::compare::Series;
use headland_sim::{Engine, Model};
use headland_validate::{Experiment, Signal};
use headland_world::{Integrator, World};

pub const WORLDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds");

/// A world from text.
pub fn world_of(text: &str) -> World {
    let source = Source::new("w.sdf", text);
    headland_world::read_text(source, Path::new("."), &Default::default()).expect("a world").world
}

/// A world that ships.
pub fn shipped(name: &str) -> World {
    let path = Path::new(WORLDS).join(name);
    headland_world::read(&path, &Default::default()).expect("a world").world
}

pub fn model_of(world: World) -> Model {
    Model::compile(&Arc::new(world)).expect("compiles")
}

/// The same with an integrator that is exact for parabolas.
pub fn exactly(mut world: World) -> Model {
    world.physics.native.integrator = Some(Integrator::Rk4);
    model_of(world)
}

pub fn engine(name: &str) -> Box<dyn Engine> {
    let entry = headland_engines::find(name).expect("an engine");
    (entry.make)(entry)
}

pub fn ms(millis: f64) -> SimDuration {
    SimDuration::from_nanos((millis * 1e6).round() as i64)
}

/// Times that no step divides: from `first` on, 7 to 13 ms apart, to the odd nanosecond.
pub fn jittered(first: SimTime, n: usize) -> Vec<SimTime> {
    let mut time = first;
    (0..n as i64)
        .map(|i| {
            let now = time;
            time += SimDuration::from_nanos(7_000_000 + (i * i * 7_919 + i * 104_729) % 6_000_001);
            now
        })
        .collect()
}

/// A signal that follows a formula of the seconds since the first time.
pub fn signal(key: &str, times: &[SimTime], of: impl Fn(f64) -> f64) -> Signal {
    let values = times.iter().map(|time| of((*time - times[0]).secs())).collect();
    let series = Series { times: times.to_vec(), values, ..Series::default() };
    Signal { key: key.to_string(), series }
}

pub fn experiment(signals: Vec<Signal>) -> Experiment {
    Experiment { signals, ..Experiment::default() }
}

/// The largest distance of two lists.
pub fn furthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A ball in free fall.
pub const BALL: &str = r#"<sdf version="1.11"><world name="w"><gravity>0 0 -9.81</gravity>
  <model name="ball"><pose>0 0 50 0 0 0</pose><link name="l"><inertial><mass>2</mass>
    <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link></model>
</world></sdf>"#;

/// A mass of 2 kg on a level rail.
pub const RAIL: &str = r#"<sdf version="1.11"><world name="w"><gravity>0 0 -9.81</gravity>
  <model name="cart"><link name="box"><inertial><mass>2</mass>
    <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
    <joint name="rail" type="prismatic"><parent>world</parent><child>box</child>
      <axis><xyz>1 0 0</xyz></axis></joint></model>
</world></sdf>"#;

/// θ and θ̇ of a pendulum, `θ'' = −k·sin θ`, at these seconds, by a fine integration of our own.
pub fn swing(k: f64, start: (f64, f64), seconds: &[f64]) -> Vec<(f64, f64)> {
    let slope = |(q, v): (f64, f64)| (v, -k * headland_base::maths::sin(q));
    let add = |(q, v): (f64, f64), (dq, dv): (f64, f64), h: f64| (q + h * dq, v + h * dv);
    let (mut now, mut t) = (start, 0.0);
    let mut out = Vec::new();
    for goal in seconds {
        let n = ((goal - t) / 1e-4).ceil().max(1.0) as usize;
        let h = (goal - t) / n as f64;
        for _ in 0..n {
            let k1 = slope(now);
            let k2 = slope(add(now, k1, h / 2.0));
            let k3 = slope(add(now, k2, h / 2.0));
            let k4 = slope(add(now, k3, h));
            now.0 += h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
            now.1 += h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
        }
        t = *goal;
        out.push(now);
    }
    out
}
