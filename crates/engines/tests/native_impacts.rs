//! Impacts in the native engine: mirror images come out as mirror images, and nothing is made.

mod common;

use std::sync::Arc;

use common::{Play, energy, sdf_world};
use headland_base::maths::sqrt;
use headland_base::{SimDuration, Vec3};
use headland_engines::native;
use headland_sim::{Engine, EngineOptions, Inputs, Model, State};
use headland_world::{ContactLaw, Integrator};

/// Half a cube \[m\].
const HALF: f64 = 0.05;

/// How fast things come \[m/s\].
const SPEED: f64 = 2.0;

/// A gap that is closed within the first step \[m\].
const GAP: f64 = 5e-4;

/// Cubes by where their middles are and how they move.
type Cubes = Vec<(Vec3, Vec3)>;

/// A surface with friction and restitution.
#[derive(Clone, Copy, Debug)]
struct Surface {
    mu: f64,
    e: f64,
}

impl Surface {
    fn text(self) -> String {
        let Surface { mu, e } = self;
        format!(
            r#"<surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction>
            <bounce><restitution_coefficient>{e}</restitution_coefficient></bounce></surface>"#
        )
    }
}

/// A block of cubes that touch, as many along x, y and z, its bottom at this height \[m\].
fn block(counts: [i32; 3], bottom: f64, velocity: Vec3) -> Cubes {
    let [nx, ny, nz] = counts;
    let along = |i: i32, n: i32| HALF * f64::from(2 * i + 1 - n);
    let cubes = (0..nx * ny * nz).map(|i| {
        let (x, y) = (along(i % nx, nx), along(i / nx % ny, ny));
        let z = bottom + HALF * f64::from(1 + 2 * (i / (nx * ny)));
        (Vec3::new(x, y, z), velocity)
    });
    cubes.collect()
}

/// A world of these cubes on a ground.
fn world_of_cubes(cubes: &Cubes, surface: Surface, gravity: f64) -> Model {
    let surface = surface.text();
    let mut text = format!(
        r#"<model name="ground"><static>true</static><link name="link"><collision name="plane">
        <geometry><plane><normal>0 0 1</normal><size>100 100</size></plane></geometry>{surface}
        </collision></link></model>"#
    );
    for (i, (at, v)) in cubes.iter().enumerate() {
        let inertia = 4.0 * HALF * HALF / 6.0;
        text += &format!(
            r#"<model name="cube{i}"><pose>{} {} {} 0 0 0</pose><link name="link">
            <headland:twist>{} {} {} 0 0 0</headland:twist><inertial><mass>1</mass><inertia>
            <ixx>{inertia}</ixx><iyy>{inertia}</iyy><izz>{inertia}</izz></inertia></inertial>
            <collision name="box"><geometry><box><size>0.1 0.1 0.1</size></box></geometry>{surface}
            </collision></link></model>"#,
            at.x, at.y, at.z, v.x, v.y, v.z
        );
    }
    let mut world = sdf_world(&text);
    world.gravity = Vec3::Z * -gravity;
    Model::compile(&Arc::new(world)).expect("compiles")
}

/// What is left after some steps of a millisecond: velocities of the cubes, and the share of the
/// kinetic energy.
fn play(cubes: &Cubes, surface: Surface, gravity: f64, n_steps: usize) -> (Vec<Vec3>, f64) {
    let model = world_of_cubes(cubes, surface, gravity);
    let mut state = State::initial(&model);
    let start = energy(&model, &state);
    let mut engine = native::Native::default();
    let options = EngineOptions::new(SimDuration::from_nanos(1_000_000));
    engine.start(&model, &state, &options).expect("starts");
    for _ in 0..n_steps {
        engine.step(&model, &Inputs::default(), options.step, &mut state).expect("steps");
    }
    let rigid =
        |i: usize| model.bodies[model.object(&format!("cube{i}")).expect("a cube")].rigid_idx;
    let velocities = (0..cubes.len()).map(|i| state.rigids[rigid(i)].twist.linear).collect();
    (velocities, energy(&model, &state) / start)
}

/// How far the velocities of one outcome, mapped, are from those of another \[m/s\].
fn off(one: (&Cubes, &[Vec3]), other: (&Cubes, &[Vec3]), map: fn(Vec3) -> Vec3) -> f64 {
    let of_cube = |((at, _), velocity): (&(Vec3, Vec3), &Vec3)| {
        let is_image = |(there, _): &(Vec3, Vec3)| there.distance(map(*at)) < 1e-9;
        let image = other.0.iter().position(is_image).expect("the image of a cube is one");
        other.1[image].distance(map(*velocity))
    };
    one.0.iter().zip(one.1).map(of_cube).fold(0.0, f64::max)
}

/// Left and right, front and back, and along the diagonal.
const MIRRORS: [fn(Vec3) -> Vec3; 3] =
    [|v| Vec3::new(-v.x, v.y, v.z), |v| Vec3::new(v.x, -v.y, v.z), |v| Vec3::new(v.y, v.x, v.z)];

/// Cubes that are their own mirror images before a hit, and how many of the mirrors that holds for.
fn symmetric_hits() -> Vec<(&'static str, Cubes, usize)> {
    let down = -Vec3::Z * SPEED;
    let dropped_on = |counts: [i32; 3]| {
        let above = (Vec3::Z * (3.0 * HALF + GAP), down);
        [block(counts, 0.0, Vec3::ZERO), vec![above]].concat()
    };
    let row_hit_at_both_ends = |n: i32| {
        let end = Vec3::X * (HALF * f64::from(n + 1) + GAP);
        let hits =
            [(Vec3::Z * HALF - end, Vec3::X * SPEED), (Vec3::Z * HALF + end, -Vec3::X * SPEED)];
        [block([n, 1, 1], 0.0, Vec3::ZERO), hits.to_vec()].concat()
    };
    let layer = |i: i32| block([4 - i, 1, 1], GAP + 2.0 * HALF * f64::from(i), down);
    vec![
        ("a row of four falls", block([4, 1, 1], GAP, down), 2),
        ("2x2 fall", block([2, 2, 1], GAP, down), 3),
        ("2x2x2 fall", block([2, 2, 2], GAP, down), 3),
        ("four on each other fall", block([1, 1, 4], GAP, down), 3),
        ("a pyramid falls", (0..3).flat_map(layer).collect(), 2),
        ("one on two", dropped_on([2, 1, 1]), 2),
        ("one on 2x2", dropped_on([2, 2, 1]), 3),
        ("one on 3x3", dropped_on([3, 3, 1]), 3),
        ("three hit at both ends", row_hit_at_both_ends(3), 2),
        ("four hit at both ends", row_hit_at_both_ends(4), 2),
    ]
}

/// What is its own mirror image before a hit is after it: pairs that close equally fast are answered
/// together, and all corners of a side hand a push on.
#[test]
fn mirror_images_bounce_as_mirror_images() {
    for (e, mu) in [(1.0, 0.0), (1.0, 0.5), (0.5, 0.0), (0.5, 0.5)] {
        for (name, cubes, n_mirrors) in symmetric_hits() {
            // Later friction holds what was struck, in one of several ways.
            for n_steps in if mu > 0.0 { &[1, 2][..] } else { &[1, 2, 20] } {
                let (velocities, _) = play(&cubes, Surface { mu, e }, common::GRAVITY, *n_steps);
                let end = (&cubes, &velocities[..]);
                let off = MIRRORS[..n_mirrors].iter().map(|map| off(end, end, *map));
                let off = off.fold(0.0, f64::max);
                assert!(off < 1e-7, "{name}, e = {e}, mu = {mu}, {n_steps} steps: {off} m/s");
            }
        }
    }
}

/// Without friction and loss a hit changes who has the energy, and not how much there is; with a
/// loss there is less.
#[test]
fn hits_among_many_make_and_lose_nothing() {
    for (name, cubes, _) in symmetric_hits() {
        for n_steps in [1, 2, 20] {
            let (velocities, left) = play(&cubes, Surface { mu: 0.0, e: 1.0 }, 0.0, n_steps);
            assert!((left - 1.0).abs() < 1e-7, "{name}, {n_steps} steps: {left}");
            let hit = velocities.iter().zip(&cubes).any(|(now, before)| *now != before.1);
            assert!(hit, "{name}: it hits");
            let (_, left) = play(&cubes, Surface { mu: 0.0, e: 0.5 }, 0.0, n_steps);
            assert!(left < 0.9, "{name}, {n_steps} steps: {left}");
        }
    }
}

/// A quarter turn to the left.
fn turned(v: Vec3) -> Vec3 {
    Vec3::new(-v.y, v.x, v.z)
}

/// A block with a cube that comes at the middle of each of its sides, a quarter turn after another.
fn thrown_at_all_sides(counts: [i32; 3], bottom: f64) -> Vec<Cubes> {
    let away = HALF * f64::from(counts[0] + 1) + GAP;
    let middle = Vec3::Z * (bottom + HALF * f64::from(counts[2]));
    let sides = [Vec3::X, Vec3::Y, -Vec3::X, -Vec3::Y];
    let thrown = |side: Vec3| {
        let cube = (side * away + middle, -side * SPEED);
        [block(counts, bottom, Vec3::ZERO), vec![cube]].concat()
    };
    sides.map(thrown).to_vec()
}

/// A block that is struck from the left gives way as it does when struck from the right, from the
/// front and from behind: what shares only an edge is not in the way, and nobody is answered first.
#[test]
fn a_block_that_is_struck_gives_way_alike_from_all_sides() {
    let blocks = [[2, 2, 1], [3, 3, 1], [3, 3, 3]];
    let bounces = blocks.iter().flat_map(|block| [1.0, 0.5].map(|e| (*block, e, 1)));
    let stops = blocks[..2].iter().map(|block| (*block, 0.0, 2));
    for (counts, e, n_steps) in bounces.chain(stops) {
        // On the ground without friction, and with it in the air.
        for (mu, bottom, gravity) in [(0.0, 0.0, common::GRAVITY), (0.5, 1.0, 0.0)] {
            let hits: Vec<_> = thrown_at_all_sides(counts, bottom)
                .into_iter()
                .map(|cubes| (play(&cubes, Surface { mu, e }, gravity, n_steps).0, cubes))
                .collect();
            for pair in hits.windows(2) {
                let [one, other] = [0, 1].map(|k| (&pair[k].1, &pair[k].0[..]));
                let off = off(one, other, turned);
                assert!(off < 1e-7, "{counts:?}, e = {e}, mu = {mu}: {off} m/s");
            }
            let moved = hits[0].0[..hits[0].0.len() - 1].iter().any(|v| v.length() > 0.1);
            assert!(moved, "{counts:?}, e = {e}, mu = {mu}: the block gives way");
        }
    }
}

/// A heavy box falls on a light link that lies on the ground and is hinged to a heavy one. What the
/// ground gives back is as little to lean on as the blow: in the stages of a step it would throw the
/// link up. Nothing is left but the box, which lies on it.
#[test]
fn what_is_struck_from_above_is_not_thrown_by_the_ground() {
    let bar = |name: &str, x: f64, mass: f64| {
        let (ixx, iyy) =
            (mass * 2.0 * 0.08 * 0.08 / 12.0, mass * (0.22 * 0.22 + 0.08 * 0.08) / 12.0);
        format!(
            r#"<link name="{name}"><pose>{x} 0 0.04 0 0 0</pose><inertial><mass>{mass}</mass><inertia>
            <ixx>{ixx}</ixx><iyy>{iyy}</iyy><izz>{iyy}</izz></inertia></inertial><collision name="box">
            <geometry><box><size>0.22 0.08 0.08</size></box></geometry>{}</collision></link>"#,
            Surface { mu: 0.5, e: 0.0 }.text()
        )
    };
    for (integrator, e) in INTEGRATORS.into_iter().flat_map(|way| [(way, 0.0), (way, 0.5)]) {
        let hinged = format!(
            r#"<model name="hinged">{}{}<joint name="hinge" type="revolute">
            <pose>-0.115 0 0 0 0 0</pose><parent>light</parent><child>heavy</child><axis>
            <xyz>0 1 0</xyz></axis></joint></model>"#,
            bar("light", 0.0, 0.01),
            bar("heavy", 0.23, 2.0),
        );
        let falling = format!(
            r#"<model name="falling"><pose>0 -0.04 0.45 0 0 0</pose><link name="link"><inertial>
            <mass>2</mass><inertia><ixx>0.0167</ixx><iyy>0.00333</iyy><izz>0.0167</izz></inertia>
            </inertial><collision name="box"><geometry><box><size>0.1 0.3 0.1</size></box></geometry>{}
            </collision></link></model>"#,
            Surface { mu: 0.5, e }.text()
        );
        let world = sdf_world(&format!("{}{hinged}{falling}", common::GROUND));
        let world = common::by(world, integrator, ContactLaw::Hard);
        let (mut start, mut last) = (None, f64::INFINITY);
        Play::native(0.6).watch(&world, |model, state| {
            let now = energy(model, state);
            assert!(now < last + 1e-3, "{integrator:?}, e = {e}: {last} -> {now} J");
            (start, last) = (start.or(Some(now)), now);
        });
        let lost = start.expect("a first state") - last;
        assert!(lost > 2.0, "{integrator:?}, e = {e}: it fell on it and lost {lost} J");
    }
}

const INTEGRATORS: [Integrator; 3] =
    [Integrator::SemiImplicit, Integrator::Rk4, Integrator::Adaptive { tolerance: None }];

/// A ball that bounces under gravity comes back to `e²` of its height, wherever in a step it hits and
/// by every integrator; with e = 1 to all of it.
#[test]
fn a_ball_comes_back_to_its_height() {
    for (integrator, e) in INTEGRATORS.into_iter().flat_map(|way| [(way, 1.0), (way, 0.7)]) {
        for height in [1.0, 1.0007, 1.0019, 1.0033] {
            let surface = Surface { mu: 0.5, e }.text();
            let ground = common::GROUND.replace("</collision>", &format!("{surface}</collision>"));
            let ball = format!(
                r#"<model name="ball"><pose>0 0 {} 0 0 0</pose><link name="link"><inertial auto="true">
                <density>1000</density></inertial><collision name="ball"><geometry><sphere>
                <radius>0.1</radius></sphere></geometry>{surface}</collision></link></model>"#,
                0.1 + height
            );
            let world = common::by(sdf_world(&(ground + &ball)), integrator, ContactLaw::Hard);
            // The highest it is after each time that it went up.
            let (mut tops, mut was_rising) = (vec![height], false);
            Play::native(3.0).watch(&world, |model, state| {
                let is_rising = common::twist_of(model, state, "ball").linear.z > 0.0;
                let now = common::place_of(model, state, "ball").z - 0.1;
                match (was_rising, is_rising) {
                    (false, true) => tops.push(now),
                    (true, _) => *tops.last_mut().expect("one") = now.max(tops[tops.len() - 1]),
                    (false, false) => {}
                }
                was_rising = is_rising;
            });
            let what = format!("{integrator:?}, e = {e}, from {height} m: {tops:?}");
            assert!(tops.len() > 3, "{what}");
            // It hits within a step, so up to that far above the ground or below, and what it loses
            // there it does not rise by.
            let step = |height: f64| 1e-3 * sqrt(2.0 * common::GRAVITY * height);
            let allowed = |height: f64| (1.0 - e * e) * step(height) + 1e-4 * height;
            // The last may be on its way up.
            for pair in tops[..tops.len() - 1].windows(2).take(2) {
                assert!((pair[1] - e * e * pair[0]).abs() < allowed(pair[0]), "{what}");
            }
        }
    }
}

/// A small ball that is thrown at the ground across it sticks there and rolls off: 5/7 of its way
/// across is left, and it spins as fast as that rolls, wherever in a step it hits. It goes half its
/// size in one, and with its point half way in what is left of that it spun up to a quarter too fast.
/// So it does on a wall that is one with a floor which is nearer.
#[test]
fn a_ball_that_hits_across_spins_as_it_rolls() {
    let surface = Surface { mu: 1.0, e: 0.5 }.text();
    let ground = common::GROUND.replace("</collision>", &format!("{surface}</collision>"));
    let wall = format!(
        r#"<collision name="wall"><geometry><plane><normal>-1 0 0</normal><size>100 100</size></plane>
        </geometry>{surface}</collision></link>"#
    );
    let room = ground.replace("</link>", &wall);
    let ball = |at: &str, velocity: &str| {
        format!(
            r#"<model name="ball"><pose>{at} 0 0 0</pose><link name="link">
            <headland:twist>{velocity} 0 0 0</headland:twist><inertial auto="true">
            <density>1000</density></inertial><collision name="ball"><geometry><sphere>
            <radius>0.02</radius></sphere></geometry>{surface}</collision></link></model>"#,
        )
    };
    for way in [0.5, 0.503, 0.506, 0.509] {
        let falls = ball(&format!("0 0 {way}"), "3 0 -10");
        let flies = ball(&format!("-{way} 0 0.03"), "10 3 0.45");
        for (what, models) in [
            ("the ground", format!("{ground}{falls}")),
            ("the ground, which comes second", format!("{falls}{ground}")),
            ("a wall above a floor", format!("{room}{flies}")),
        ] {
            for integrator in INTEGRATORS {
                let world = common::by(sdf_world(&models), integrator, ContactLaw::Hard);
                let ran = Play::native(0.06).watch(&world, |_, _| ());
                let now = common::twist_of(&ran.model, &ran.end.state, "ball");
                let what = format!("{what} after {way} m by {}: {now:?}", integrator.word());
                let is_wall = models.contains("wall");
                let away = if is_wall { -now.linear.x } else { now.linear.z };
                let (goes, spins) = if is_wall {
                    (now.linear.y, -now.angular.z)
                } else {
                    (now.linear.x, now.angular.y)
                };
                assert!(away > 4.0, "{what}");
                let rolls = 3.0 * 5.0 / 7.0;
                assert!((goes - rolls).abs() < 1e-9, "{what}");
                assert!((spins * 0.02 - rolls).abs() < 1e-9, "{what}");
            }
        }
    }
}

/// A chain of links on hinges falls and bounces: no hit makes energy, though its links turn by a
/// tenth of a radian in a step afterwards. What that does to the forces of motion belongs to the
/// step of the hit; without it the chain gained half of what it had at once.
#[test]
fn a_chain_that_bounces_makes_nothing() {
    let surface = Surface { mu: 0.0, e: 0.7 }.text();
    let ground = common::GROUND.replace("</collision>", &format!("{surface}</collision>"));
    let shapes = ["0.1 0.06 0.12", "0.08 0.14 0.05", "0.05 0.05 0.1", "0.12 0.07 0.06"];
    let axes = ["1 0 0", "0 1 0", "0 0 1"];
    for tilt in ["0.9 0.4 0", "2.1 -0.8 1", "-1.3 1.2 -2", "0.2 -0.3 0.5", "-2.6 0.9 1.7"] {
        let mut chain = format!(r#"<model name="chain"><pose>0 0 3 {tilt}</pose>"#);
        for (i, size) in shapes.iter().enumerate() {
            chain += &format!(
                r#"<link name="l{i}"><pose>{} 0 {} 0 0 0</pose><inertial auto="true"><mass>1</mass>
                </inertial><collision name="box"><geometry><box><size>{size}</size></box></geometry>
                {surface}</collision></link>"#,
                0.3 * i as f64,
                0.25 * (i % 2) as f64
            );
            if i > 0 {
                let up = if i % 2 == 1 { -0.125 } else { 0.125 };
                chain += &format!(
                    r#"<joint name="j{i}" type="continuous"><pose>-0.15 0 {up} 0 0 0</pose>
                    <parent>l{}</parent><child>l{i}</child><axis><xyz>{}</xyz></axis></joint>"#,
                    i - 1,
                    axes[i % 3]
                );
            }
        }
        let world = sdf_world(&format!("{ground}{chain}</model>"));
        // By the default integrator energy swings with the joints, by as much as they turn in a step.
        for (integrator, allowed) in [(Integrator::SemiImplicit, 0.12), (Integrator::Rk4, 2e-4)] {
            let world = common::by(world.clone(), integrator, ContactLaw::Hard);
            let (mut start, mut least, mut risen) = (None, f64::INFINITY, 0.0_f64);
            Play::native(1.5).watch(&world, |model, state| {
                let now = energy(model, state);
                let start = *start.get_or_insert(now);
                least = least.min(now);
                risen = risen.max((now - least) / start);
                assert!(now < start * 1.001, "{integrator:?}, {tilt}: {start} -> {now} J");
            });
            eprintln!("{integrator:?}, {tilt}: rose by {risen} of what it had");
            assert!(risen < allowed, "{integrator:?}, {tilt}: rose by {risen} of what it had");
            let (start, least) = (start.expect("a first state"), least);
            assert!(least < 0.9 * start, "{integrator:?}, {tilt}: it hits: {start}, {least} J");
        }
    }
}
