//! What contact costs: finding points, and the impulses that hold them.
//!
//! ```text
//! humanoid   20 shapes of one robot over a plane, standing on two feet: 8 points
//! team       22 of them, and a ball
//! heap       10 to 1,000 loose things of six kinds, one step of motion between calls
//! stand      the hard law on a body of 30 kg on two feet, 24 rows, cold and warm
//! stack      20 boxes, 240 rows, cold and warm
//! bricks     blocks of cubes, with gaps and without: whole steps of `native`, and of `rapier`
//! ```
//!
//! Seconds are processor seconds of one thread, the least of some rounds. The target is about
//! one microsecond for the humanoid over a plane.

use std::hint::black_box;
use std::sync::Arc;

use headland_base::maths::{Vec2, cbrt, quat_from_rotation_vector};
use headland_base::{Mat3, Seed, SimDuration, Transform, Vec3};
use headland_bench::{best_of_thread, is_full, thread_cpu_secs};
use headland_sim::contact::hard::{Contact, Problem, Scratch, Tuning, solve};
use headland_sim::contact::{Detector, Movers, Scene};
use headland_sim::{EngineOptions, Inputs, Model, State};
use headland_world::{Collision, Geometry, Inertial, Link, Model as Robot, Surface, World};

fn main() {
    let (n_calls, rounds) = if is_full() { (20_000, 7) } else { (20, 1) };
    println!("contact: microseconds a call, one thread");
    println!("{:<18} {:>8} {:>8} {:>10}", "scene", "pairs", "points", "µs");
    let team = |n: usize| {
        let players =
            (0..n).map(|i| player(i, Vec3::new(1.5 * (i / 5) as f64, 1.2 * (i % 5) as f64, 0.0)));
        let ball = thing(
            "ball",
            Transform::from_translation(Vec3::new(-1.0, 0.0, 0.0699)),
            Geometry::Sphere { radius: 0.07 },
        );
        compiled([ground()].into_iter().chain(players).chain([ball]).collect())
    };
    detection("humanoid", &team(1), n_calls, rounds);
    detection("team of 22", &team(22), n_calls / 10, rounds);
    for n in [10, 30, 100, 300, 1000] {
        detection(&format!("heap of {n}"), &heap(n), (n_calls / n).max(1), rounds);
    }
    println!("{:<18} {:>8} {:>8} {:>10}", "problem", "rows", "sweeps", "µs");
    solving("stand", &columns(1, 2, 30.0), n_calls / 4, rounds);
    solving("stack of 20", &columns(20, 1, 1.0), (n_calls / 400).max(1), rounds);
    println!(
        "{:<18} {:>8} {:>8} {:>10} {:>10}",
        "a step", "gap, mm", "contacts", "native, µs", "rapier"
    );
    for edge in if is_full() { &[2, 3, 4, 5][..] } else { &[2] } {
        for gap in [1e-3, 0.0] {
            bricks(*edge, gap, rounds);
        }
    }
}

/// A block of cubes of 10 cm that stands on the ground, gaps between those beside each other.
fn bricks(edge: usize, gap: f64, rounds: usize) {
    let cube = |i: usize| {
        let at = [i % edge, i / edge % edge, i / edge / edge].map(|k| k as f64);
        let at = Vec3::new(at[0] * (0.1 + gap), at[1] * (0.1 + gap), 0.05 + 0.1 * at[2]);
        let mut cube = thing(
            &format!("cube{i}"),
            Transform::from_translation(at),
            Geometry::Box { size: Vec3::splat(0.1) },
        );
        cube.links[0].inertial.inertia = Mat3::from_diagonal(Vec3::splat(1.0 / 600.0));
        cube
    };
    let model = compiled([ground()].into_iter().chain((0..edge * edge * edge).map(cube)).collect());
    let n_steps = if is_full() { 100 } else { 2 };
    let options = EngineOptions::new(SimDuration::from_nanos(1_000_000));
    let mut n_contacts = 0;
    let mut least = |name: &str| {
        let entry = headland_engines::find(name).expect("part of headland");
        let mut least = f64::INFINITY;
        for _ in 0..rounds.min(3) {
            let (mut engine, mut state) = ((entry.make)(entry), State::initial(&model));
            engine.start(&model, &state, &options).expect("starts");
            let mut step = || engine.step(&model, &Inputs::default(), options.step, &mut state);
            step().expect("steps"); // the first finds everything new
            let since = thread_cpu_secs();
            (0..n_steps).for_each(|_| step().expect("steps"));
            least = least.min(thread_cpu_secs() - since);
            n_contacts = n_contacts.max(state.contacts.len());
        }
        least * 1e6 / n_steps as f64
    };
    let [native, rapier] = ["native", "rapier"].map(&mut least);
    let name = format!("{} bricks", edge * edge * edge);
    println!("{name:<18} {:>8.0} {n_contacts:>8} {native:>10.1} {rapier:>10.1}", gap * 1e3);
}

fn detection(name: &str, model: &Model, n_calls: usize, rounds: usize) {
    let scene = Scene::of(model, &Movers::forces());
    let mut detector = Detector::new(&scene);
    let still: Vec<Transform> = model.rigids.iter().map(|rigid| rigid.world_from_rigid).collect();
    // Two steps to and fro, so that the sweep has something to sort.
    let mut moved = still.clone();
    for (i, pose) in moved.iter_mut().enumerate().skip(1) {
        pose.translation.x += 0.002 * ((i * 7) % 5) as f64 - 0.004;
    }
    let n_points = detector.detect(&scene, &still, 0.0).len();
    let n_pairs = detector.n_pairs();
    let times = best_of_thread(
        rounds,
        &mut [&mut || {
            for i in 0..n_calls {
                let poses = if i % 2 == 0 { &still } else { &moved };
                black_box(detector.detect(&scene, black_box(poses), 0.0).len());
            }
        }],
    );
    println!("{name:<18} {n_pairs:>8} {n_points:>8} {:>10.3}", times[0].1 * 1e6 / n_calls as f64);
}

fn shape(geometry: Geometry) -> Collision {
    Collision {
        name: "touch".into(),
        link_from_shape: Transform::IDENTITY,
        geometry,
        surface: Surface::default(),
    }
}

fn link(name: &str, at: Transform, geometry: Geometry) -> Link {
    Link {
        name: name.into(),
        model_from_link: at,
        inertial: Inertial { mass: 1.0, ..Inertial::default() },
        gravity: true,
        collisions: vec![shape(geometry)],
        ..Link::default()
    }
}

fn thing(name: &str, at: Transform, geometry: Geometry) -> Robot {
    Robot { name: name.into(), links: vec![link("body", at, geometry)], ..Robot::default() }
}

fn ground() -> Robot {
    let plane = Geometry::Plane { normal: Vec3::Z, size: Vec2::ONE };
    Robot { is_static: true, ..thing("ground", Transform::IDENTITY, plane) }
}

fn compiled(models: Vec<Robot>) -> Model {
    Model::compile(&Arc::new(World { models, ..World::default() })).expect("a model")
}

/// Two feet, capsules for limbs, a box for the trunk, a ball for the head: 20 shapes.
fn player(i: usize, at: Vec3) -> Robot {
    let place = |x: f64, y: f64, z: f64| Transform::from_translation(at + Vec3::new(x, y, z));
    let limb = |length: f64| Geometry::Capsule { radius: 0.04, length };
    let mut links = vec![
        link("trunk", place(0.0, 0.0, 0.75), Geometry::Box { size: Vec3::new(0.15, 0.25, 0.35) }),
        link("head", place(0.0, 0.0, 1.1), Geometry::Sphere { radius: 0.09 }),
    ];
    for (side, y) in [("left", 0.1), ("right", -0.1)] {
        let foot = Geometry::Box { size: Vec3::new(0.2, 0.1, 0.04) };
        links.push(link(&format!("{side}_foot"), place(0.02, y, 0.0199), foot));
        for (part, height) in
            [("ankle", 0.12), ("shin", 0.2), ("knee", 0.3), ("thigh", 0.42), ("hip", 0.55)]
        {
            links.push(link(&format!("{side}_{part}"), place(0.0, y, height), limb(0.08)));
        }
        for (part, height) in [("shoulder", 0.9), ("arm", 0.8), ("hand", 0.65)] {
            links.push(link(&format!("{side}_{part}"), place(0.0, y * 2.0, height), limb(0.1)));
        }
    }
    Robot { name: format!("player{i}"), links, ..Robot::default() }
}

fn heap(n: usize) -> Model {
    use rand_chacha::rand_core::Rng as _;
    let mut dice = Seed::new(1).rng();
    let mut within =
        move |span: f64| (f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5) * span;
    let spread = 0.8 * cbrt(n as f64);
    let mut models = vec![ground()];
    for i in 0..n {
        let turn = quat_from_rotation_vector(Vec3::new(within(6.0), within(6.0), within(6.0)));
        let place = Vec3::new(within(spread), within(spread), within(spread) * 0.5 + 0.2);
        let geometry = match i % 6 {
            0 => Geometry::Box { size: Vec3::new(0.4, 0.3, 0.2) },
            1 => Geometry::Sphere { radius: 0.2 },
            2 => Geometry::Capsule { radius: 0.1, length: 0.4 },
            3 => Geometry::Cylinder { radius: 0.2, length: 0.3 },
            4 => Geometry::Ellipsoid { radii: Vec3::new(0.3, 0.2, 0.1) },
            _ => Geometry::Box { size: Vec3::splat(0.25) },
        };
        models.push(thing(&format!("thing{i}"), Transform::new(turn, place), geometry));
    }
    compiled(models)
}

/// Cubes of side 1 on top of each other, each standing on `n_feet` sets of four corners: the
/// matrix, the free velocities under gravity for 1 ms, and the contacts.
fn columns(n_cubes: usize, n_feet: usize, mass: f64) -> (Vec<f64>, Vec<f64>, Vec<Contact>) {
    let inertia = mass / 6.0;
    // Per row: the cube below, the cube above (0 is the ground), direction and levers.
    let mut rows = Vec::new();
    for upper in 1..=n_cubes {
        for foot in 0..n_feet {
            let middle = if n_feet == 1 { 0.0 } else { foot as f64 * 0.6 - 0.3 };
            let half = if n_feet == 1 { 0.5 } else { 0.15 };
            for (x, y) in [(-half, -half), (half, -half), (half, half), (-half, half)] {
                for dir in [Vec3::Z, Vec3::X, Vec3::Y] {
                    let above = Vec3::new(x, y + middle, -0.5).cross(dir);
                    let below = Vec3::new(x, y + middle, 0.5).cross(dir);
                    rows.push([(upper - 1, -dir, -below), (upper, dir, above)]);
                }
            }
        }
    }
    let n = rows.len();
    let mut matrix = vec![0.0; n * n];
    for (i, row) in rows.iter().enumerate() {
        for (j, other) in rows.iter().enumerate() {
            for (a, dir_a, lever_a) in row {
                for (b, dir_b, lever_b) in other {
                    if a == b && *a > 0 {
                        matrix[i * n + j] +=
                            dir_a.dot(*dir_b) / mass + lever_a.dot(*lever_b) / inertia;
                    }
                }
            }
        }
    }
    // Everything falls for a step: between cubes nothing changes, on the ground it does. A push
    // from the side makes the friction work.
    let fall = Vec3::new(1e-4, 5e-5, -9.81e-3);
    let free =
        rows.iter().map(|row| if row[0].0 == 0 { row[1].1.dot(fall) } else { 0.0 }).collect();
    let contact = |i: usize| Contact {
        mu: 0.6,
        mu2: 0.6,
        restitution: 0.0,
        target: 0.0,
        group: i / 4,
        is_touching: true,
    };
    (matrix, free, (0..n / 3).map(contact).collect())
}

fn solving(
    name: &str,
    (matrix, free, contacts): &(Vec<f64>, Vec<f64>, Vec<Contact>),
    n_calls: usize,
    rounds: usize,
) {
    let problem = Problem { delassus: matrix, free, contacts, rows: &[] };
    let (mut scratch, mut impulses) = (Scratch::new(), vec![0.0; problem.n()]);
    let cold = solve(&problem, &mut impulses, &Tuning::default(), &mut scratch);
    assert!(cold.residual < 1e-9, "{cold:?}");
    let answer = impulses.clone();
    // Warm: the step before pushed a hundredth less.
    let guess: Vec<f64> = answer.iter().map(|impulse| impulse * 0.99).collect();
    impulses.copy_from_slice(&guess);
    let warm = solve(&problem, &mut impulses, &Tuning::default(), &mut scratch);
    assert!(warm.residual < 1e-9, "{warm:?}");
    for (how, start, outcome) in [("cold", vec![0.0; problem.n()], cold), ("warm", guess, warm)] {
        let times = best_of_thread(
            rounds,
            &mut [&mut || {
                for _ in 0..n_calls {
                    impulses.copy_from_slice(&start);
                    black_box(solve(&problem, &mut impulses, &Tuning::default(), &mut scratch));
                }
            }],
        );
        let per_call = times[0].1 * 1e6 / n_calls as f64;
        let sweeps = format!("{}+{}", outcome.n_sweeps, outcome.n_newton);
        println!(
            "{:<18} {:>8} {sweeps:>8} {per_call:>10.3}",
            format!("{name}, {how}"),
            problem.n()
        );
    }
}
