//! What an engine costs more behind the one trait than alone: a stack of N boxes at 1 kHz,
//! stepped by hand through the engine's own functions, nothing read back but where the top box
//! ends, against the same stack under `Engine::step` with state and contacts read back at every
//! step, and in a whole run that nobody observes before its end. Target: at most 10 % over the bare loop for 20 boxes. The
//! curve shows that the cost grows as the work does.
//!
//! Times are processor time of the one thread. The peers take turns of 50 steps each, and of
//! every turn the least of several rounds counts. All of them must end at the same height.

mod bullet;
mod mujoco;
mod ode;
mod rapier;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use headland_base::{SimDuration, Source};
use headland_bench::{check_value, is_full, stack_world, thread_cpu_secs};
use headland_sim::{
    Cast, Engine, EngineEntry, EngineOptions, Inputs, Model, Setup, State, Unobserved, run,
};
use headland_world::{ReadOptions, read_text};

/// The engines that can be called by hand.
const ENGINES: [EngineEntry; 4] = [
    headland_engines::rapier::ENTRY,
    headland_engines::mujoco::ENTRY,
    headland_engines::ode::ENTRY,
    headland_engines::bullet::ENTRY,
];

/// An engine without headland.
trait Bare {
    /// Moves its world by a millisecond.
    fn step(&mut self);
    /// Where the top box is \[m\].
    fn top_height(&mut self) -> f64;
    /// Before a turn of steps, untimed.
    fn resume(&mut self) {}
    /// After a turn of steps, untimed.
    fn pause(&mut self) {}
}

/// Steps of a turn. The first turn, in which caches fill, does not count.
const N_TURN: usize = 50;

fn main() {
    let (counts, n_turns, rounds): (&[usize], usize, usize) =
        if is_full() { (&[5, 10, 20, 40], 16, 7) } else { (&[3], 2, 1) };
    println!("engines: a stack of boxes at 1 kHz, {} steps, best of {rounds}", n_turns * N_TURN);
    println!("engine  boxes  bare µs/step  with sensors  Engine::step  whole run  check");
    for entry in &ENGINES {
        match (entry.find)(entry) {
            Ok(found) => {
                for n_boxes in counts {
                    measure(entry, &found.place, *n_boxes, n_turns, rounds);
                }
            }
            Err(why) => println!("{:<6}  skipped: {why}", entry.name),
        }
    }
}

fn measure(entry: &EngineEntry, place: &str, n_boxes: usize, n_turns: usize, rounds: usize) {
    let source = Source::new("stack.sdf", stack_world(n_boxes));
    let read = read_text(source, Path::new("."), &ReadOptions::default()).expect("a sound world");
    let model = Model::compile(&Arc::new(read.world)).expect("compiles");
    let n_steps = (n_turns + 1) * N_TURN;
    let mut setup =
        Setup::new(&model, SimDuration::from_secs(n_steps as f64 * 1e-3).expect("short"));
    setup.record_period = SimDuration::from_secs(1e3).expect("long"); // nobody looks meanwhile
    let mut best: Vec<Vec<f64>> = Vec::new();
    let mut heights = Vec::new();
    for _ in 0..rounds {
        let mut peers = peers(entry, place, &model, &setup.engine_options(), n_boxes);
        let mut times = vec![Vec::new(); peers.len() + 1];
        let mut engine = (entry.make)(entry);
        let (mut n_done, mut since) = (0, thread_cpu_secs());
        let end = run(
            &model,
            &setup,
            engine.as_mut(),
            &mut Cast::default(),
            &mut Unobserved,
            &mut |_| {
                n_done += 1;
                if n_done % N_TURN == 0 {
                    times[0].push(thread_cpu_secs() - since);
                    for (peer, times) in peers.iter_mut().zip(&mut times[1..]) {
                        times.push(turn(peer.as_mut()));
                    }
                    since = thread_cpu_secs();
                }
                ControlFlow::Continue(())
            },
        )
        .expect("runs");
        let top = end.state.rigids.last().expect("boxes").world_from_rigid.translation.z;
        heights = peers.iter_mut().map(|peer| peer.top_height()).chain([top]).collect();
        if best.is_empty() {
            best = times;
        } else {
            for (best, now) in best.iter_mut().flatten().zip(times.into_iter().flatten()) {
                *best = best.min(now);
            }
        }
    }
    let height = heights[0];
    assert!(heights.iter().all(|h| h.to_bits() == height.to_bits()), "{heights:?}");
    let per_step =
        |times: &Vec<f64>| times[1..].iter().sum::<f64>() / (n_turns * N_TURN) as f64 * 1e6;
    let micros: Vec<f64> = best.iter().map(per_step).collect();
    let (whole, stepped, bare) = (micros[0], micros[1], micros[2]);
    let over = |micros: f64| format!("{:+.1} %", 100.0 * (micros / bare - 1.0));
    let sensors = micros.get(3).map_or("-".to_string(), |m| over(*m));
    println!(
        "{:<6}  {n_boxes:>5}  {bare:>12.1}  {sensors:>12}  {:>12}  {:>9}  {}",
        entry.name,
        over(stepped),
        over(whole),
        check_value(&height.to_bits().to_le_bytes())
    );
}

/// The engine behind the trait, then the bare one, then variants of that.
fn peers(
    entry: &EngineEntry,
    place: &str,
    model: &Model,
    options: &EngineOptions,
    n_boxes: usize,
) -> Vec<Box<dyn Bare>> {
    let mut out: Vec<Box<dyn Bare>> = vec![Box::new(Stepped::new(entry, model, options))];
    match entry.name {
        "rapier" => out.push(Box::new(rapier::Rapier::new(n_boxes))),
        "mujoco" => out.extend([false, true].map(|has_sensors| {
            Box::new(mujoco::MuJoCo::new(place, model, options, has_sensors)) as Box<dyn Bare>
        })),
        "bullet" => out.push(Box::new(bullet::Bullet::new(place, n_boxes))),
        "ode" => out.push(Box::new(ode::Ode::new(place, n_boxes))),
        _ => unreachable!("each of the list is here"),
    }
    out
}

/// Seconds of a turn.
fn turn(peer: &mut dyn Bare) -> f64 {
    peer.resume();
    let since = thread_cpu_secs();
    (0..N_TURN).for_each(|_| peer.step());
    let spent = thread_cpu_secs() - since;
    peer.pause();
    spent
}

/// An engine behind the trait, and where its world is.
struct Stepped {
    engine: Box<dyn Engine>,
    model: Model,
    inputs: Inputs,
    dt: SimDuration,
    state: State,
}

impl Stepped {
    fn new(entry: &EngineEntry, model: &Model, options: &EngineOptions) -> Stepped {
        let (mut engine, state) = ((entry.make)(entry), State::initial(model));
        engine.start(model, &state, options).expect("starts");
        let inputs = Inputs::default();
        Stepped { engine, model: model.clone(), inputs, dt: options.step, state }
    }
}

impl Bare for Stepped {
    fn step(&mut self) {
        let Stepped { engine, model, inputs, dt, state } = self;
        engine.step(model, inputs, *dt, state).expect("steps");
    }

    fn top_height(&mut self) -> f64 {
        self.state.rigids.last().expect("boxes").world_from_rigid.translation.z
    }
}
