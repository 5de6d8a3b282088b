//! An engine of your own: everything flies freely, nothing touches.
//!
//! `cargo run --release -p headland-engines --example free_flight` prints how far it is
//! from the closed form. The book's page on extending Headland walks through this file, and
//! a test runs it.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use headland_base::maths::quat_from_rotation_vector;
use headland_base::{Diagnostic, SimDuration};
use headland_sim::{
    Cast, Engine, EngineOptions, Fault, Inputs, Model, Motion, Setup, State, Unobserved, run,
};
use headland_world::ReadOptions;

/// Moves every rigid along its own parabola.
pub struct FreeFlight;

impl Engine for FreeFlight {
    /// Says before the run what it cannot do, all of it at once.
    fn check(&self, model: &Model, _: &EngineOptions) -> Vec<Diagnostic> {
        let joints = model.joints.iter().map(|joint| {
            Diagnostic::error("no-joints", format!("joint `{}`: nothing is held here", joint.name))
        });
        let touches = model.bodies.iter().any(|body| !body.shapes.is_empty());
        let note = Diagnostic::remark("realised", "shapes do not touch");
        joints.chain(touches.then_some(note)).collect()
    }

    /// Nothing to prepare: all there is to know is in the state.
    fn start(&mut self, _: &Model, _: &State, _: &EngineOptions) -> Result<(), Fault> {
        Ok(())
    }

    /// `x += v·dt + g·dt²/2`, which is exact for a body whose frame is at its centre of mass.
    fn step(
        &mut self,
        model: &Model,
        _: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        let secs = dt.secs();
        for (rigid, now) in model.rigids.iter().zip(&mut state.rigids) {
            if rigid.motion != Motion::Dynamic {
                continue;
            }
            let pull = if rigid.gravity { model.world.gravity } else { Default::default() };
            now.world_from_rigid.translation +=
                now.twist.linear * secs + pull * (0.5 * secs * secs);
            let turn = quat_from_rotation_vector(now.twist.angular * secs);
            now.world_from_rigid.rotation = turn * now.world_from_rigid.rotation;
            now.twist.linear += pull * secs;
        }
        Ok(())
    }
}

/// Lets the ball of `world` fall for half a second; returns how far it is off \[m\].
pub fn fall(world: &Path) -> Result<f64, Vec<Diagnostic>> {
    let world = headland_world::read(world, &ReadOptions::default())?.world;
    let model = Model::compile(&Arc::new(world))?;
    let setup = Setup::new(&model, SimDuration::from_nanos(500_000_000));
    let go_on = &mut |_| ControlFlow::Continue(());
    let mut cast = Cast::default();
    let end = run(&model, &setup, &mut FreeFlight, &mut cast, &mut Unobserved, go_on)?;
    let ball_idx = model.object("ball").expect("the world has this model");
    let height = end.state.object_pose(&model, ball_idx).translation.z;
    Ok(height - (3.5 - 0.5 * 9.81 * 0.5 * 0.5))
}

fn main() {
    match fall(Path::new("worlds/ball.sdf")) {
        Ok(off) => println!("the ball is {off:e} m off"),
        Err(faults) => faults.iter().for_each(|fault| eprint!("{}", fault.render(false))),
    }
}
