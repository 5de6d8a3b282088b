//! Robots in motion at the detail each was given: what the `native` engine steps.
//!
//! ```text
//! Model ─ packs_of ─► Pack: as many robots of one model as a lane is wide
//! each step:  place ─► (contacts push) ─► accelerate ─► (contacts kick) ─► finish ─► write
//! ```
//!
//! A [`Pack`] moves robots of one model and one detail side by side. Contacts are between
//! robots, so they are not its business: whoever finds them reads poses and velocities here,
//! pushes with forces before the motion is computed (soft laws) or kicks with impulses after
//! (the hard law), and asks how much a link gives way.
//!
//! Deliberately absent: who touches whom, commands, files.

mod articulated;
mod columns;
mod commanded;
mod ends;
mod follow;
mod links;
mod needs;
mod nudged;
mod one_body;
mod seen;
mod soles;
mod stages;
mod stance;
mod turning;
mod vehicle;

use headland_base::Vec3;
use headland_world::Detail;

use crate::engine::Inputs;
use crate::model::Model;
use crate::state::State;
use crate::tree::{Half, Lane, Lanes, Tree, V3, V6};

pub use articulated::Articulated;
pub use columns::Columns;
pub use commanded::Commanded;
pub use links::take_faster;
pub use needs::{needs, needs_ground};
pub use one_body::OneBody;
pub use seen::Seen;
pub use stages::{DORMAND_PRINCE, Method, RK4};
pub use stance::{Feet, Stance, TOUCH};
pub use vehicle::{Vehicle, Wheels};

/// Faster than this is not motion but divergence \[rad/s or m/s\]. No robot does it: the fastest
/// rotors, dental turbines, turn at 4e4 rad/s, and what leaves the solar system goes at 1.7e4 m/s.
const FASTEST: f64 = 5e4;

/// Which rigids and axes of the model one robot of a pack has.
#[derive(Clone, Debug)]
pub struct Robot {
    /// Its place among the model's trees.
    pub tree_idx: usize,
    /// The rigid of every node; none between two axes.
    pub rigids: Vec<Option<usize>>,
    /// The axis of every column and the way it counts; none for free and ball joints.
    pub dofs: Vec<Option<(usize, f64)>>,
    /// The rigid it stands on, where that is not the world.
    pub anchor: Option<usize>,
    /// Joints of the model that close its loops, cut out of its tree.
    pub loops: Vec<usize>,
    /// It went non-finite, or was thrown, and is held where it last was.
    pub is_lost: bool,
}

impl Robot {
    /// Of a tree.
    pub fn of(tree_idx: usize, tree: &Tree) -> Robot {
        let dof_of = |column: usize| tree.nodes[tree.column_nodes[column]].dof;
        Robot {
            tree_idx,
            rigids: tree.nodes.iter().map(|node| node.rigid_idx).collect(),
            dofs: (0..tree.n_dofs).map(dof_of).collect(),
            anchor: tree.anchor,
            loops: tree.loops.clone(),
            is_lost: false,
        }
    }
}

/// What acts on robots during a step.
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    /// What they are.
    pub model: &'a Model,
    /// Efforts, orders and forces from outside.
    pub inputs: &'a Inputs,
    /// The step \[s\].
    pub dt: f64,
}

/// Robots of one model and one detail, side by side.
pub trait Pack: Send {
    /// Which ones, in the order of their lanes.
    fn robots(&self) -> &[Robot];

    /// The links and joints they share.
    fn tree(&self) -> &Tree;

    /// Whether forces move them. What does as it is told is as heavy as the ground.
    fn gives_way(&self) -> bool {
        true
    }

    /// Whether efforts and impulses move their joints.
    fn joints_give_way(&self) -> bool {
        true
    }

    /// Finds out where every link is and how it moves. `state` has what carries them.
    fn place(&mut self, state: &State);

    /// Squares of the largest two speeds that its links were placed with \[m²/s²\].
    fn fastest(&self) -> [f64; 2];

    /// Where in the world the motions and forces of a robot are written about.
    fn origin(&self, robot: usize) -> Vec3;

    /// A force on a link, about the robot's origin, for the coming acceleration.
    fn push(&mut self, robot: usize, node: usize, force: V6<f64>);

    /// Velocities at the end of the step if nothing kicked.
    fn accelerate(&mut self, drive: &Drive<'_>);

    /// How a link would move at the end of the step.
    fn free_motion(&self, robot: usize, node: usize) -> V6<f64>;

    /// The part of [`free_motion`](Pack::free_motion) that no impulse changes: what the link was
    /// told.
    fn led_motion(&self, _robot: usize, _node: usize) -> V6<f64> {
        V6::ZERO
    }

    /// How the motion of a link changes while every column keeps its speed: how much the way of a
    /// point of it, from the robot's origin, bends \[m/s²\], and its turning \[rad/s²\]. Of
    /// `articulated` only; to others nothing bends.
    fn bend(&self, _robot: usize, _node: usize, _at: V3<f64>) -> V6<f64> {
        V6::ZERO
    }

    /// The speed of a column at the end of the step, if nothing kicked.
    fn free_speed(&self, robot: usize, column: usize) -> f64;

    /// The position of a column's coordinate; of joints with one axis only.
    fn coordinate(&self, robot: usize, column: usize) -> f64;

    /// What the six unit forces on a link do on their way to the base.
    fn half(&self, robot: usize, node: usize, half: &mut Half);

    /// What a unit effort on a column does on its way to the base; the first of the six counts.
    fn half_of_column(&self, robot: usize, column: usize, half: &mut Half);

    /// An impulse on a link, about the robot's origin.
    fn kick(&mut self, robot: usize, node: usize, impulse: V6<f64>);

    /// An impulse along a column.
    fn kick_column(&mut self, robot: usize, column: usize, impulse: f64);

    /// Says that a kick stops a robot on its way to something, which it would run into during the
    /// step, and is not one that holds it where it is.
    fn stop(&mut self, _robot: usize) {}

    /// Says that a kick is, or hands on, a blow: its speeds jump.
    fn strike(&mut self, _robot: usize) {}

    /// Moves a robot over the ground at the end of the step, out of what it ran into: for
    /// details that no force moves. Others are pushed and kicked.
    fn shove(&mut self, _robot: usize, _shift: Vec3) {}

    /// An impulse on a link, about the robot's origin, that moves it within this step and
    /// leaves no speed behind: what pushes overlapping bodies apart.
    fn nudge(&mut self, robot: usize, node: usize, impulse: V6<f64>);

    /// The same along a column: of details whose joints give way.
    fn nudge_column(&mut self, _robot: usize, _column: usize, _impulse: f64) {}

    /// Takes the last step of a robot back and holds it there from now on, as one that went
    /// non-finite: of details that forces move. To be placed and written again.
    fn lose(&mut self, _robot: usize) {}

    /// Takes up the kicks and nudges and moves on.
    fn finish(&mut self, dt: f64);

    /// Writes poses, twists and axes.
    fn write(&self, state: &mut State);

    // Integrators of several stages. Details that move in a way of their own leave these
    // alone: they are stepped by `accelerate` and `finish` whatever the integrator.

    /// Whether it takes part in stages.
    fn has_stages(&self) -> bool {
        false
    }

    /// Begins a step. What swings or decays by more than `reach` in it, in radians or in powers
    /// of e, is left out of the stages.
    fn begin(&mut self, _drive: &Drive<'_>, _reach: f64) {}

    /// An impulse on a link, as for [`kick`](Pack::kick), that will be there through all stages
    /// as a force; what kicks afterwards stands in for it.
    fn lean(&mut self, _robot: usize, _node: usize, _impulse: V6<f64>) {}

    /// The same along a column.
    fn lean_column(&mut self, _robot: usize, _column: usize, _impulse: f64) {}

    /// Adds to the effort of a motor through all stages to come. No kick stands in for it.
    fn drive_column(&mut self, _robot: usize, _column: usize, _effort: f64) {}

    /// Keeps the present state as where the stages begin.
    fn remember(&mut self) {}

    /// Works out, where it was placed, how fast everything changes, and keeps it as a stage's.
    fn derive(&mut self, _drive: &Drive<'_>, _stage: usize) {}

    /// Goes to `y₀ + dt·Σ wᵢ·kᵢ`.
    fn set_stage(&mut self, _weights: &[f64], _dt: f64) {}

    /// What the two orders of a pair differ by, at most, seen against `1 + |y|`, of a robot.
    fn error(&self, _robot: usize, _weights: &[f64], _dt: f64) -> f64 {
        0.0
    }

    /// Holds robots whose numbers left the finite between stages.
    fn leave_lost(&mut self) {}

    /// Takes the present state, placed, for the end of a step of `dt` seconds, and goes back to
    /// the step's beginning; to be kicked and finished.
    fn settle(&mut self, _dt: f64) {}
}

/// A pack of robots of one model at a detail, where a state has them; as many lanes as they
/// fill.
pub fn pack_of(
    model: &Model,
    tree: &Tree,
    robots: Vec<Robot>,
    state: &State,
    detail: Detail,
) -> Box<dyn Pack> {
    match robots.len() {
        1 => laned::<f64>(model, tree, robots, state, detail),
        _ => laned::<Lanes<8>>(model, tree, robots, state, detail),
    }
}

fn laned<L: Lane + Send + 'static>(
    model: &Model,
    tree: &Tree,
    robots: Vec<Robot>,
    state: &State,
    detail: Detail,
) -> Box<dyn Pack> {
    match detail {
        Detail::Com => Box::new(OneBody::<L>::new(model, tree, robots, state, false)),
        Detail::ComFixed => Box::new(OneBody::<L>::new(model, tree, robots, state, true)),
        Detail::Kinematic => Box::new(Stance::<L>::new(model, tree, robots, state)),
        Detail::Vehicle => Box::new(Vehicle::<L>::new(model, tree, robots, state)),
        Detail::Articulated => Box::new(Articulated::<L>::new(model, tree, robots, state)),
    }
}
