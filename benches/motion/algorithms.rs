//! Each algorithm by itself: microseconds per call of one robot, and per robot in lanes.
//!
//! Both sides get the same tree and the same states and start from positions, so each time
//! contains the kinematics. Pinocchio comes in two builds: its wheel's library, and its headers
//! compiled for this very processor; the quicker is what we are measured against. Targets:
//! forward dynamics in half of its time, in lanes in a fifth of it per robot.
//!
//! Values are compared: with Pinocchio to 1e-9, in lanes with those of one robot to the bit.

use std::hint::black_box;

use headland_base::{Quat, Seed, Vec3};
use headland_bench::{check_value, is_full, thread_cpu_secs};
use headland_sim::Model;
use headland_sim::tree::{
    Bodies, Factor, Forest, Inertia, Kernel, Lane, Lanes, Motions, Tree, Turn, V3, V6, bias_forces,
    factor, inverse_dynamics, mass_matrix, move_bodies, place, place_only, solve, whole_body,
    widest,
};
use rand_chacha::rand_core::Rng;

use super::humanoid::model_of;
use super::pinocchio::{Pinocchio, to_ours};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Where every link is.
    Kinematics,
    /// The centre of mass.
    Centre,
    /// The mass matrix.
    Matrix,
    /// Efforts from accelerations.
    Inverse,
    /// Accelerations from efforts.
    Forward,
}

const ALGORITHMS: [(Algorithm, &str); 5] = [
    (Algorithm::Kinematics, "forward kinematics"),
    (Algorithm::Centre, "centre of mass"),
    (Algorithm::Matrix, "mass matrix (CRBA)"),
    (Algorithm::Inverse, "inverse dynamics (RNEA)"),
    (Algorithm::Forward, "forward dynamics (ABA)"),
];

impl Algorithm {
    /// How Pinocchio's side calls it.
    pub fn letter(self) -> char {
        match self {
            Algorithm::Kinematics => 'f',
            Algorithm::Centre => 'c',
            Algorithm::Matrix => 'm',
            Algorithm::Inverse => 'r',
            Algorithm::Forward => 'a',
        }
    }
}

/// A state of one robot, and what acts on it; in our coordinates.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Coordinates.
    pub positions: Vec<f64>,
    /// Per column, like the two below.
    pub velocities: Vec<f64>,
    /// What forward dynamics starts from.
    pub efforts: Vec<f64>,
    /// What inverse dynamics starts from.
    pub accelerations: Vec<f64>,
}

/// Robots in states of all kinds: a multiple of the widest lane, and small enough for a cache.
const N_SAMPLES: usize = 64;

/// Prints the table.
pub fn run(text: &str) {
    let (rounds, n_repeats) = if is_full() { (25, 40) } else { (1, 1) };
    let model = model_of(text);
    let forest = Forest::of(&model);
    let tree = forest.trees.iter().max_by_key(|tree| tree.n_dofs).expect("a robot");
    let samples: Vec<Sample> = (0..N_SAMPLES).map(|number| sample(tree, number)).collect();
    println!(
        "motion, algorithms: a humanoid of {} degrees of freedom, {} links, {} hinges",
        tree.n_dofs,
        tree.nodes.len(),
        tree.nodes.len() - 1
    );
    let mut peers = peers(&model, tree, &samples);
    let mut lanes: Vec<Box<dyn Team + '_>> =
        vec![Box::new(Robots::<f64>::new("alone", &model, tree, &samples))];
    // As wide as the engine packs robots.
    if widest() == 8 {
        lanes.push(Box::new(Robots::<Lanes<8>>::new("8 lanes", &model, tree, &samples)));
    }
    let builds: String = peers.iter().map(|(name, _)| format!("{name:>9}")).collect();
    let widths: String = lanes.iter().map(|team| format!("{:>10}", team.name())).collect();
    println!(
        "µs per robot              Pinocchio:{builds}   ours:{widths}   ours/best  lanes/best  check"
    );
    for (algorithm, name) in ALGORITHMS {
        let alone = lanes[0].values(algorithm);
        for team in &mut lanes {
            assert_eq!(bits(&team.values(algorithm)), bits(&alone), "{name} in {}", team.name());
        }
        for (build, peer) in &mut peers {
            let worst = difference(algorithm, tree, &samples, &alone, &peer.values(algorithm));
            assert!(worst < 1e-9, "{name}: Pinocchio ({build}) differs by {worst:e}");
        }
        let mut theirs = vec![f64::INFINITY; peers.len()];
        let mut ours = vec![f64::INFINITY; lanes.len()];
        for _ in 0..rounds {
            for (best, (_, peer)) in theirs.iter_mut().zip(&mut peers) {
                *best = best.min(peer.time(algorithm, n_repeats));
            }
            for (best, team) in ours.iter_mut().zip(&mut lanes) {
                let since = thread_cpu_secs();
                (0..n_repeats).for_each(|_| team.call_all(algorithm));
                *best = best.min(thread_cpu_secs() - since);
            }
        }
        let micros = |secs: &f64| secs / (n_repeats * N_SAMPLES) as f64 * 1e6;
        let best = theirs.iter().map(micros).fold(f64::NAN, f64::min);
        let least = ours[1..].iter().map(micros).fold(f64::NAN, f64::min);
        let theirs: String = theirs.iter().map(|t| format!("{:>9.3}", micros(t))).collect();
        let each: String = ours.iter().map(|t| format!("{:>10.3}", micros(t))).collect();
        println!(
            "{name:<24}            {theirs}        {each}   {:>9.2}  {:>10.2}  {}",
            micros(&ours[0]) / best,
            least / best,
            check_value(&bits(&alone).concat())
        );
    }
}

fn peers(model: &Model, tree: &Tree, samples: &[Sample]) -> Vec<(&'static str, Pinocchio)> {
    let gravity = model.world.gravity;
    let mut peers = Vec::new();
    for (name, variable) in
        [("wheel", "HEADLAND_PINOCCHIO"), ("native", "HEADLAND_PINOCCHIO_NATIVE")]
    {
        match Pinocchio::start(variable, gravity, tree, samples) {
            Some(peer) => peers.push((name, peer)),
            None => println!("no {variable}: `benches/run` sets it up"),
        }
    }
    peers
}

fn bits(values: &[f64]) -> Vec<[u8; 8]> {
    values.iter().map(|value| value.to_bits().to_le_bytes()).collect()
}

/// Any pose within half a turn of each joint, moving fast.
fn sample(tree: &Tree, number: usize) -> Sample {
    let mut rng = Seed::new(number as u64).child("motion").rng();
    let mut most = |most: f64| most * ((rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
    let mut positions: Vec<f64> = (0..tree.n_positions).map(|_| most(1.5)).collect();
    let turn = Quat::from_xyzw(positions[3], positions[4], positions[5], positions[6]);
    let length = headland_base::maths::sqrt(turn.dot(turn));
    positions[3..7].iter_mut().for_each(|part| *part /= length);
    let mut columns = |size: f64| (0..tree.n_dofs).map(|_| most(size)).collect();
    Sample {
        positions,
        velocities: columns(3.0),
        efforts: columns(20.0),
        accelerations: columns(5.0),
    }
}

/// Robots side by side, whatever the width.
trait Team {
    fn name(&self) -> &'static str;
    /// An algorithm for every sample.
    fn call_all(&mut self, algorithm: Algorithm);
    /// Its results, sample after sample.
    fn values(&mut self, algorithm: Algorithm) -> Vec<f64>;
}

/// The samples in lanes, and the scratch for one call.
struct Robots<'a, L> {
    name: &'static str,
    tree: &'a Tree,
    gravity: Vec3,
    batches: Vec<Batch<L>>,
    armatures: Vec<L>,
    bodies: Bodies<L>,
    motions: Motions<L>,
    forces: Vec<V6<L>>,
    factor: Factor<L>,
    composites: Vec<Inertia<L>>,
    centre: V3<L>,
    matrix: Vec<L>,
    columns: Vec<L>,
}

struct Batch<L> {
    positions: Vec<L>,
    velocities: Vec<L>,
    efforts: Vec<L>,
    accelerations: Vec<L>,
}

impl<'a, L: Lane> Robots<'a, L> {
    fn new(name: &'static str, model: &Model, tree: &'a Tree, samples: &[Sample]) -> Robots<'a, L> {
        let gathered = |of: &dyn Fn(&Sample) -> &[f64], robots: &[Sample]| {
            let mut out = vec![L::ZERO; of(&robots[0]).len()];
            for (lane, robot) in robots.iter().enumerate() {
                out.iter_mut().zip(of(robot)).for_each(|(to, from)| to.set(lane, *from));
            }
            out
        };
        let batch = |robots: &[Sample]| Batch {
            positions: gathered(&|robot| &robot.positions, robots),
            velocities: gathered(&|robot| &robot.velocities, robots),
            efforts: gathered(&|robot| &robot.efforts, robots),
            accelerations: gathered(&|robot| &robot.accelerations, robots),
        };
        let n = tree.n_dofs;
        let armature_of = |column: &usize| L::of(tree.nodes[*column].armature);
        Robots {
            name,
            tree,
            gravity: model.world.gravity,
            batches: samples.chunks_exact(L::WIDTH).map(batch).collect(),
            armatures: tree.column_nodes.iter().map(armature_of).collect(),
            bodies: Bodies::new(tree),
            motions: Motions::new(tree),
            forces: vec![V6::ZERO; tree.nodes.len()],
            factor: Factor::new(tree),
            composites: Vec::new(),
            centre: V3::ZERO,
            matrix: vec![L::ZERO; n * n],
            columns: vec![L::ZERO; n],
        }
    }

    fn call(&mut self, algorithm: Algorithm, batch_idx: usize) {
        L::wide(Call { robots: self, algorithm, batch_idx });
    }

    /// The results of one lane after a call.
    fn results(&self, algorithm: Algorithm, lane: usize, out: &mut Vec<f64>) {
        let all = |values: &[L]| values.iter().map(|value| value.get(lane)).collect::<Vec<_>>();
        let point = |at: V3<L>| (at + self.bodies.origin).get(lane).to_array();
        match algorithm {
            Algorithm::Kinematics => {
                out.extend(point(self.bodies.nodes.last().expect("links").at));
            }
            Algorithm::Centre => out.extend(point(self.centre)),
            Algorithm::Matrix => out.extend(all(&self.matrix)),
            Algorithm::Inverse | Algorithm::Forward => out.extend(all(&self.columns)),
        }
    }
}

/// One call: as many robots as the lane is wide.
struct Call<'a, 'b, L> {
    robots: &'a mut Robots<'b, L>,
    algorithm: Algorithm,
    batch_idx: usize,
}

impl<L: Lane> Kernel for Call<'_, '_, L> {
    #[inline(always)]
    fn run(self) {
        let Robots { tree, batches, bodies, motions, forces, factor: held, columns, .. } =
            self.robots;
        let batch = &batches[self.batch_idx];
        let (at, q) = ((Turn::of(Quat::IDENTITY), V3::ZERO), &batch.positions);
        let gravity = V3::of(self.robots.gravity);
        if self.algorithm == Algorithm::Kinematics {
            return place_only(tree, &at, q, bodies);
        }
        place(tree, &at, q, bodies);
        match self.algorithm {
            Algorithm::Kinematics => {}
            Algorithm::Centre => self.robots.centre = whole_body(bodies).centre,
            Algorithm::Matrix => {
                mass_matrix(tree, bodies, &mut self.robots.composites, &mut self.robots.matrix);
            }
            Algorithm::Inverse => {
                move_bodies(tree, bodies, V6::ZERO, &batch.velocities, motions);
                let a = &batch.accelerations;
                inverse_dynamics(tree, bodies, gravity, a, None, motions, forces, columns);
            }
            Algorithm::Forward => {
                move_bodies(tree, bodies, V6::ZERO, &batch.velocities, motions);
                bias_forces(tree, bodies, motions, gravity, forces);
                factor(tree, bodies, &self.robots.armatures, held);
                solve(tree, bodies, held, &batch.efforts, forces, columns);
            }
        }
    }
}

impl<L: Lane> Team for Robots<'_, L> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn call_all(&mut self, algorithm: Algorithm) {
        for batch_idx in 0..self.batches.len() {
            self.call(black_box(algorithm), batch_idx);
        }
    }

    fn values(&mut self, algorithm: Algorithm) -> Vec<f64> {
        let mut out = Vec::new();
        for batch_idx in 0..self.batches.len() {
            self.call(algorithm, batch_idx);
            (0..L::WIDTH).for_each(|lane| self.results(algorithm, lane, &mut out));
        }
        out
    }
}

/// The largest difference of the two sides, seen against the largest value of a sample.
fn difference(
    algorithm: Algorithm,
    tree: &Tree,
    samples: &[Sample],
    ours: &[f64],
    theirs: &[f64],
) -> f64 {
    let n_theirs = theirs.len() / samples.len();
    let n_ours = ours.len() / samples.len();
    let mut worst = 0.0_f64;
    for (i, sample) in samples.iter().enumerate() {
        let theirs = &theirs[i * n_theirs..(i + 1) * n_theirs];
        let ours = &ours[i * n_ours..(i + 1) * n_ours];
        let (ours, theirs) = match algorithm {
            Algorithm::Kinematics | Algorithm::Centre => (ours.to_vec(), theirs.to_vec()),
            Algorithm::Inverse | Algorithm::Forward => (ours.to_vec(), to_ours(sample, theirs)),
            Algorithm::Matrix => both_momenta(tree.n_dofs, sample, ours, theirs),
        };
        let most = ours.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (a, b) in ours.iter().zip(&theirs) {
            worst = worst.max((a - b).abs() / most);
        }
    }
    worst
}

/// Momenta of the sample's velocities by the two mass matrices; of Pinocchio's there is the
/// upper half.
fn both_momenta(n: usize, sample: &Sample, ours: &[f64], theirs: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let times = |matrix: &dyn Fn(usize, usize) -> f64, v: &[f64]| -> Vec<f64> {
        (0..n).map(|i| (0..n).map(|k| matrix(i, k) * v[k]).sum()).collect()
    };
    let of_theirs = |i: usize, k: usize| {
        let (i, k) = (i.min(k), i.max(k));
        theirs[i * n - i * i.saturating_sub(1) / 2 - i + k]
    };
    let theirs = times(&of_theirs, &super::pinocchio::to_theirs(sample, &sample.velocities));
    (times(&|i, k| ours[i * n + k], &sample.velocities), to_ours(sample, &theirs))
}
