//! A controller and a sensor of your own: lift the pendulum to the horizontal and hold it
//! there, and report its height with noise.
//!
//! `cargo run --release -p headland-engines --example lift_pendulum` writes `lifted.mcap`.
//! The book's page on extending Headland walks through this file, and a test runs it.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use headland_base::maths::{FRAC_PI_2, sin};
use headland_base::{Diagnostic, Seed, Severity, SimDuration};
use headland_record::messages::{Float64, encode};
use headland_record::{WriteOptions, Writer};
use headland_sim::{
    Cast, Command, Commands, Controller, EngineOptions, Look, Mode, Model, Output, Recorder,
    RunEnd, Sensor, Setup, State, Timing, run,
};
use headland_world::ReadOptions;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;

/// Torque of a computed-torque law: gravity is cancelled, the rest is a damped spring.
struct Lift {
    dof_idx: usize,
    target: f64,
}

impl Controller for Lift {
    fn name(&self) -> &str {
        "lift"
    }

    fn period(&self) -> SimDuration {
        SimDuration::from_nanos(5_000_000) // 200 Hz, whatever the step is
    }

    fn update(&mut self, _: &Model, state: &State, commands: &mut Commands) {
        let now = state.dofs[self.dof_idx];
        let gravity = 9.81 * sin(now.position); // m·g·l, with 1 kg at 1 m
        let torque = gravity + 40.0 * (self.target - now.position) - 12.0 * now.velocity;
        commands.set(self.dof_idx, Command { mode: Mode::Effort, target: torque });
    }
}

/// Height of an object, with noise of up to a millimetre.
struct Altimeter {
    object_idx: usize,
    outputs: [Output; 1],
    noise: ChaCha8Rng,
}

impl Sensor for Altimeter {
    fn name(&self) -> &str {
        "altimeter"
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn timing(&self) -> Timing {
        Timing::every(SimDuration::from_nanos(20_000_000)) // 50 Hz
    }

    fn start(&mut self, _: &Model, seed: &Seed) {
        self.noise = seed.rng(); // its own stream: no other sensor shifts it
    }

    fn sample(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let height = look.state.object_pose(look.model, self.object_idx).translation.z;
        let share = f64::from(self.noise.next_u32()) / f64::from(u32::MAX); // 0 to 1
        say(0, encode(&Float64 { data: height + 1e-3 * (2.0 * share - 1.0) }));
    }
}

/// Runs `world` for five seconds with both on board and records it.
pub fn lift(world: &Path, recording: &Path) -> Result<RunEnd, Vec<Diagnostic>> {
    let world = headland_world::read(world, &ReadOptions::default())?.world;
    let model = Model::compile(&Arc::new(world))?;
    let dof_idx = model.dof("pendulum::hinge").expect("the world has this joint");
    let object_idx = model.object("pendulum").expect("the world has this model");
    let setup = Setup::new(&model, SimDuration::from_nanos(5_000_000_000));
    let topic = "/pendulum/altitude".to_string();
    let outputs = [Output { topic, message_type: "std_msgs/msg/Float64" }];
    let noise = setup.seed.rng();
    let mut cast = Cast {
        controllers: vec![Box::new(Lift { dof_idx, target: FRAC_PI_2 })],
        sensors: vec![Box::new(Altimeter { object_idx, outputs, noise })],
    };

    let entry = headland_engines::find("rapier").map_err(|fault| vec![fault])?;
    let mut engine = (entry.make)(entry);
    let notes = engine.check(&model, &EngineOptions::new(model.world.physics.step));
    if notes.iter().any(|note| note.severity == Severity::Error) {
        return Err(notes);
    }
    let one = |fault| vec![fault];
    let mut writer = Writer::create(recording, &WriteOptions::new("lift_pendulum")).map_err(one)?;
    let mut recorder = Recorder::start(&mut writer, &model, &cast.sensors).map_err(one)?;
    let go_on = &mut |_| ControlFlow::Continue(());
    let end = run(&model, &setup, engine.as_mut(), &mut cast, &mut recorder, go_on)?;
    writer.finish().map_err(one)?;
    Ok(end)
}

fn main() {
    match lift(Path::new("worlds/pendulum.sdf"), Path::new("lifted.mcap")) {
        Ok(end) => println!("the hinge is at {:.4} rad", end.state.dofs[0].position),
        Err(faults) => faults.iter().for_each(|fault| eprint!("{}", fault.render(false))),
    }
}
