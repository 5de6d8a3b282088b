//! Robots in motion, against what people use, on one core in one run.
//!
//! ```text
//! algorithms   kinematics and dynamics of a humanoid per call, against Pinocchio
//! steps        whole steps of the native engine at every detail, against MuJoCo; teams
//! orders       what those are told that do as they are told
//! pictures     what a camera on every robot costs
//! ```
//!
//! The humanoid is `pybullet_data/mjcf/humanoid.xml` of the Python package `pybullet`, with a
//! free joint put into its torso: 27 degrees of freedom, 13 links. `HEADLAND_PYTHON` names an
//! interpreter that has it. Pinocchio is a C++ library, so its side is a program, named by
//! `HEADLAND_PINOCCHIO`, and by `HEADLAND_PINOCCHIO_NATIVE` where it was compiled for this
//! very processor. `benches/run` sets all of it up; what is missing is said and left out.
//!
//! Times are processor time of the one thread, the least of some rounds in which the peers
//! take turns.

mod algorithms;
mod humanoid;
mod mujoco;
mod orders;
mod pictures;
mod pinocchio;
mod steps;

fn main() {
    match humanoid::text() {
        Ok(text) => {
            algorithms::run(&text);
            steps::run(&text);
        }
        Err(why) => println!("motion: skipped: {why}"),
    }
}
