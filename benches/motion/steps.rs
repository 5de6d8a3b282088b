//! Whole steps of a millisecond, contacts with the ground and all, against `mj_step`.
//!
//! The humanoid is let go upright with its feet on the ground: it stands, falls, and lies. Both
//! engines get the same file, MuJoCo with its default solver, which is its quickest here, and
//! start from the same state; two stretches of the fall are timed, each with the contacts it
//! had on average. Then the same of a team of twenty, in one world on both sides, each of whom leans
//! a little more than the last. Targets: `articulated` 3 times as fast, `com` 10, `kinematic` 30.
//!
//! Who does as it is told is measured holding its pose, as the others do, and walking.
//!
//! Then more teams: the cost of a step from one robot to a thousand, and how many robots that is in
//! real time, with cameras and without, beside what Friedmann, Petersen and von Stryk had of
//! humanoids with as many hinges (*Tailored Real-Time Simulation for Teams of Humanoid Robots*,
//! 2008, section 4).

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland_base::{Quat, Severity, SimDuration, Transform, Vec3};
use headland_bench::{check_value, is_full, thread_cpu_secs};
use headland_sim::{Engine, EngineEntry, EngineOptions, Inputs, Model, Motion, State};
use headland_world::{ContactLaw, Detail, Foot, World};

use super::humanoid::model_of;
use super::mujoco::MuJoCo;
use super::orders::{Orders, Told};
use super::pictures::{Eye, Pictures};

const ENTRY: EngineEntry = headland_engines::native::ENTRY;

/// Stretches of steps: standing and falling, and lying.
fn windows() -> [(usize, usize); 2] {
    if is_full() { [(0, 500), (2000, 2500)] } else { [(0, 10), (20, 30)] }
}

/// What is compared: a detail and a law, and what the robots are told.
struct Kind {
    name: &'static str,
    detail: Detail,
    law: ContactLaw,
    told: Told,
}

const fn kind(name: &'static str, detail: Detail, law: ContactLaw, told: Told) -> Kind {
    Kind { name, detail, law, told }
}

// Robots that do as they are told are told something: following costs time too, and in a run they
// always are.
const KINEMATIC: Kind = kind("kinematic", Detail::Kinematic, ContactLaw::Hard, Told::Hold);
const WALKING: Kind = kind("kinematic, walking", Detail::Kinematic, ContactLaw::Hard, Told::Walk);
const HARD: Kind = kind("articulated, hard", Detail::Articulated, ContactLaw::Hard, Told::Nothing);
const SOFT: Kind =
    kind("articulated, soft", Detail::Articulated, ContactLaw::SoftCoulomb, Told::Nothing);
const COM_HARD: Kind = kind("com, hard", Detail::Com, ContactLaw::Hard, Told::Hold);
const COM: Kind = kind("com, soft", Detail::Com, ContactLaw::SoftCoulomb, Told::Hold);
const COM_MOVING: Kind =
    kind("com, soft, moving", Detail::Com, ContactLaw::SoftCoulomb, Told::Walk);
const COM_FIXED: Kind =
    kind("com-fixed, soft", Detail::ComFixed, ContactLaw::SoftCoulomb, Told::Hold);

/// In the order of the tables.
const KINDS: [&Kind; 8] =
    [&KINEMATIC, &WALKING, &HARD, &SOFT, &COM_HARD, &COM, &COM_MOVING, &COM_FIXED];

/// Prints the tables.
pub fn run(text: &str) {
    let text = standing(text);
    let world = model_of(&text).world;
    let alone = against_mujoco(&text, &world, 1);
    let in_team = against_mujoco(&text, &world, N_TEAM);
    // Of theirs the better one: what a robot takes of MuJoCo grows with their number.
    teams(&world, alone.zip(in_team).map(|(alone, team)| alone[0].min(team[0])));
}

/// Where lanes are full and everything is still near the core.
const N_TEAM: usize = 20;

/// How much more each robot of a row leans forward than the one before, about the ground it stands
/// on: no two of a row fall alike, so that none is quicker for doing what its neighbours do.
const LEAN_DEGREES: f64 = 0.2;

/// With its feet on the ground, at a millisecond, and MuJoCo's solver left to MuJoCo.
fn standing(text: &str) -> String {
    let changes = [
        ("<body name='torso' pos='0 0 1.4'>", "<body name='torso' pos='0 0 1.285'>"),
        ("<option timestep='0.002' iterations=\"50\" solver=\"PGS\">", "<option timestep='0.001'>"),
        ("<flag energy=\"enable\"/>", ""),
    ];
    changes.into_iter().fold(text.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "the humanoid it was");
        text.replace(from, to)
    })
}

/// As many of them, side by side as in [`team`], each leaning a little more than the last.
fn replicated(text: &str, n: usize) -> String {
    let body = "<body name='torso'";
    let begun = format!("<replicate count='{n}' offset='0 2 0' euler='0 {LEAN_DEGREES} 0'>{body}");
    text.replace(body, &begun).replace("</worldbody>", "</replicate></worldbody>")
}

/// Microseconds of `mj_step` per robot in each window, where there is MuJoCo; of `n` robots in one
/// world.
fn against_mujoco(text: &str, world: &Arc<World>, n: usize) -> Option<[f64; 2]> {
    // Processors that are shared change their pace from second to second: the more, the surer.
    let rounds = if is_full() { 9 } else { 1 };
    let mut levels: Vec<Level> =
        KINDS.iter().filter_map(|kind| Level::new(world, kind, n)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("humanoid.xml");
    let text = if n == 1 { text.to_string() } else { replicated(text, n) };
    std::fs::write(&file, text).expect("a file");
    let entry = headland_engines::mujoco::ENTRY;
    let mut theirs = match (entry.find)(&entry) {
        Ok(found) => Some((found.version, MuJoCo::new(&found.place, &file))),
        Err(why) => {
            println!("no MuJoCo: {why}");
            None
        }
    };
    let mut least = [f64::INFINITY; 2];
    for _ in 0..rounds {
        if let Some((_, mujoco)) = &mut theirs {
            mujoco.reset();
            least_of(&mut least, timed(|| mujoco.step()));
        }
        for level in &mut levels {
            level.run();
        }
    }
    match n {
        1 => println!("\nmotion, steps of 1 ms: the humanoid, let go upright on the ground"),
        n => println!("\nmotion, steps of 1 ms: {n} of them in one world, each figure per robot"),
    }
    println!("µs per step          standing  contacts  faster     lying  contacts  faster  check");
    let micros = |window: usize, secs: f64| {
        secs * 1e6 / ((windows()[window].1 - windows()[window].0) * n) as f64
    };
    let per_robot = |contacts: [f64; 2]| contacts.map(|contacts| contacts / n as f64);
    let theirs = theirs.map(|(version, _)| {
        let name = format!("mj_step {version}");
        let micros = [micros(0, least[0]), micros(1, least[1])];
        row(&name, micros, per_robot(contacts_of_mujoco(&file)), micros, "");
        micros
    });
    let mut seen: Option<String> = None;
    for level in &mut levels {
        let micros = [micros(0, level.least[0]), micros(1, level.least[1])];
        let (contacts, check) = level.look();
        let name = level.kind.name;
        row(name, micros, per_robot(contacts), theirs.unwrap_or([f64::NAN; 2]), &check);
        if level.kind.told == Told::Walk && level.kind.detail == Detail::Kinematic {
            println!("{:<20} each went {:.2} m at least by then", "", level.least_way());
        }
        if let Some(n) = level.first_held() {
            println!("{:<20} it left the finite by step {n} and is held: no figure", "");
        }
        if seen.replace(check.clone()).is_some_and(|before| before == check) {
            println!("{:<20} it moved as the row above, so this is no figure of its own", "");
        }
    }
    theirs
}

fn row(name: &str, micros: [f64; 2], contacts: [f64; 2], theirs: [f64; 2], check: &str) {
    println!(
        "{name:<20} {:>8.2}  {:>8.1}  {:>6.1}  {:>8.2}  {:>8.1}  {:>6.1}  {check}",
        micros[0],
        contacts[0],
        theirs[0] / micros[0],
        micros[1],
        contacts[1],
        theirs[1] / micros[1]
    );
}

fn least_of(least: &mut [f64; 2], now: [f64; 2]) {
    least.iter_mut().zip(now).for_each(|(least, now)| *least = least.min(now));
}

/// Seconds of each window.
fn timed(mut step: impl FnMut()) -> [f64; 2] {
    let mut n_done = 0;
    windows().map(|(first, last)| {
        (n_done..first).for_each(|_| step());
        let since = thread_cpu_secs();
        (first..last).for_each(|_| step());
        n_done = last;
        thread_cpu_secs() - since
    })
}

/// Asked of MuJoCo's own Python module, whose numbers are those of the same library: where a
/// count stands in memory differs from version to version.
fn contacts_of_mujoco(file: &Path) -> [f64; 2] {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/mujoco_contacts.py");
    let python = std::env::var_os("HEADLAND_PYTHON").expect("the humanoid came through it");
    let stretches = windows().map(|(first, last)| format!("{first}-{last}"));
    let output = Command::new(python).arg("-B").arg(script).arg(file).args(stretches).output();
    let output = output.expect("an interpreter");
    let text = String::from_utf8_lossy(&output.stdout).to_string();
    let mut numbers = text.lines().map(|line| line.parse().expect("a number"));
    [(); 2].map(|()| numbers.next().unwrap_or(f64::NAN))
}

/// Robots of one detail, on a world of their own.
struct Level {
    kind: &'static Kind,
    model: Model,
    engine: Box<dyn Engine>,
    state: State,
    inputs: Inputs,
    orders: Orders,
    least: [f64; 2],
}

impl Level {
    /// `n` robots; `None`, and said so, where they cannot be moved like that.
    fn new(world: &Arc<World>, kind: &'static Kind, n: usize) -> Option<Level> {
        let model = Model::compile(&Arc::new(team(world, kind.detail, kind.law, n)));
        let model = model.expect("compiles");
        let state = State::initial(&model);
        let mut level = Level {
            kind,
            engine: (ENTRY.make)(&ENTRY),
            inputs: Inputs { skips_contacts: true, ..Inputs::default() },
            orders: Orders::of(&model, &state, kind.told),
            state,
            model,
            least: [f64::INFINITY; 2],
        };
        let found = level.engine.check(&level.model, &EngineOptions::new(MILLI));
        if let Some(why) = found.iter().find(|one| one.severity == Severity::Error) {
            println!("{}: skipped: {}", kind.name, why.render(false));
            return None;
        }
        level.reset();
        Some(level)
    }

    fn reset(&mut self) {
        self.state = State::initial(&self.model);
        let options = EngineOptions::new(MILLI);
        self.engine.start(&self.model, &self.state, &options).expect("starts");
        self.orders.restart();
    }

    fn step(&mut self) {
        let Level { engine, model, inputs, state, orders, .. } = self;
        orders.give(inputs);
        engine.step(model, inputs, MILLI, state).expect("steps");
    }

    /// Times the windows.
    fn run(&mut self) {
        self.reset();
        let now = timed(|| self.step());
        least_of(&mut self.least, now);
    }

    /// Contacts of each window on average, and a check value of where everything ends.
    fn look(&mut self) -> ([f64; 2], String) {
        self.reset();
        self.inputs.skips_contacts = false;
        let mut n_done = 0;
        let contacts = windows().map(|(first, last)| {
            (n_done..first).for_each(|_| self.step());
            n_done = last;
            let mut sum = 0;
            for _ in first..last {
                self.step();
                sum += self.state.contacts.len();
            }
            sum as f64 / (last - first) as f64
        });
        self.inputs.skips_contacts = true;
        (contacts, self.check())
    }

    /// The step after which a robot went non-finite and was held, if one did.
    fn first_held(&mut self) -> Option<usize> {
        self.reset();
        (1..=windows()[1].1).find(|_| {
            self.step();
            self.state.rigids.iter().any(|rigid| rigid.is_contained)
        })
    }

    /// How far the robot went that went least, over the ground, in all that was looked at \[m\].
    fn least_way(&self) -> f64 {
        let begun = State::initial(&self.model);
        let moves = |i: &usize| self.model.rigids[*i].motion == Motion::Dynamic;
        let ways = (0..begun.rigids.len()).filter(moves).map(|i| {
            let place = |state: &State| state.rigids[i].world_from_rigid.translation;
            (place(&self.state) - place(&begun)).truncate().length()
        });
        ways.fold(f64::INFINITY, f64::min)
    }

    fn check(&self) -> String {
        let places = self.state.rigids.iter().map(|rigid| rigid.world_from_rigid.translation);
        let bytes: Vec<u8> = places
            .flat_map(|at| at.to_array())
            .flat_map(|number| number.to_bits().to_le_bytes())
            .collect();
        check_value(&bytes)
    }
}

const MILLI: SimDuration = SimDuration::from_nanos(1_000_000);

/// Robots in rows, two metres apart, leaning as in [`replicated`].
fn team(world: &World, detail: Detail, law: ContactLaw, n: usize) -> World {
    let place = |i: usize| {
        let (row, column) = ((i / 32) as f64, (i % 32) as f64);
        let leaning = Quat::from_rotation_y((column * LEAN_DEGREES).to_radians());
        Transform::new(leaning, Vec3::new(2.0 * row, 2.0 * column, 0.0))
    };
    let mut team = placed(world, n, place);
    team.physics.native.law = Some(law);
    for robot in team.models.iter_mut().filter(|model| is_robot(model)) {
        robot.detail = Some(detail);
        robot.feet = ["right_foot", "left_foot"]
            .map(|link| Foot { link: link.to_string(), link_from_sole: None, size: None })
            .to_vec();
    }
    team
}

fn is_robot(model: &headland_world::Model) -> bool {
    !model.joints.is_empty()
}

/// As many robots like the one of a world, each somewhere else.
pub fn placed(world: &World, n: usize, place: impl Fn(usize) -> Transform) -> World {
    let mut team = world.clone();
    let robot = team.models.iter().position(is_robot).expect("a robot");
    let robot = team.models.remove(robot);
    team.models.extend((0..n).map(|i| headland_world::Model {
        name: format!("{}_{i}", robot.name),
        parent_from_model: place(i) * robot.parent_from_model,
        ..robot.clone()
    }));
    team
}

/// The curve from one robot to a thousand, and the document's table.
fn teams(world: &Arc<World>, theirs: Option<f64>) {
    let counts: &[usize] =
        if is_full() { &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] } else { &[1, 20] };
    println!("\nmotion, teams: µs per robot and step of 1 ms, standing and beginning to fall");
    let names: String = KINDS.iter().map(|kind| format!("  {:>18}", kind.name)).collect();
    println!("robots{names}");
    let mut per_robot = [f64::NAN; KINDS.len()];
    let mut checks = [const { String::new() }; KINDS.len()];
    for n in counts {
        let mut line = format!("{n:>6}");
        for (i, kind) in KINDS.iter().enumerate() {
            let cost = Level::new(world, kind, *n).map(|mut level| {
                let cost = cost(&mut level, *n);
                checks[i] = level.check();
                cost
            });
            per_robot[i] = cost.unwrap_or(f64::NAN);
            line += &format!("  {:>18.2}", per_robot[i]);
        }
        println!("{line}");
    }
    let checks: String = checks.iter().map(|check| format!("  {check:>18}")).collect();
    println!(" check{checks}");
    let of = |kind: &Kind| {
        let i = KINDS.iter().position(|one| one.name == kind.name).expect("in the list");
        per_robot[i] * 1e-6
    };
    in_real_time(world, of, theirs.unwrap_or(f64::NAN) * 1e-6);
}

/// The document's table: how many robots one core moves in real time. Seconds of a step per robot;
/// ours of the longest team.
fn in_real_time(world: &World, secs_of: impl Fn(&Kind) -> f64, theirs_secs: f64) {
    let pictures = Pictures::of(world);
    println!("\nmotion, robots in real time on one core         per second  2008  MuJoCo  ours");
    for (name, kind, rate, then, camera) in [
        ("kinematic motion", &KINEMATIC, 100.0, "10", None),
        ("the same, walking (orders every 10 steps)", &WALKING, 100.0, "10", None),
        ("simplified dynamics motion (com-fixed, soft)", &COM_FIXED, 1000.0, "8", None),
        ("simplified dynamics motion (com, soft)", &COM, 1000.0, "8", None),
        ("full dynamics, soft contacts", &SOFT, 1000.0, "-", None),
        ("full dynamics, hard contacts", &HARD, 1000.0, "-", None),
        ("kinematic motion, one camera each", &WALKING, 100.0, "6", Some(Eye::Plain)),
        ("dynamic motion (com, soft), one camera", &COM, 1000.0, "5", Some(Eye::Plain)),
        ("full dynamics, hard contacts, one camera", &HARD, 1000.0, "-", Some(Eye::Plain)),
        ("kinematic motion, camera with distortion", &WALKING, 100.0, "3", Some(Eye::Lens)),
        ("dynamic motion (com, soft), with distortion", &COM, 1000.0, "3", Some(Eye::Lens)),
        ("full dynamics, hard contacts, with distortion", &HARD, 1000.0, "-", Some(Eye::Lens)),
    ] {
        // Nothing of MuJoCo's is cheaper at a lower rate but that it is asked less often.
        let (ours, theirs) = (rate * secs_of(kind), rate * theirs_secs);
        let (rates, ours, theirs) = match camera {
            None => (format!("{rate}"), robots(ours), robots(theirs)),
            Some(eye) => (
                format!("{rate}, {FRAME_RATE}"),
                robots_that_see(ours, |n| pictures.ours(n, eye)),
                robots_that_see(theirs, |n| pictures.theirs(n, eye)),
            ),
        };
        println!("{name:<46} {rates:>11} {then:>5}  {theirs:>6}  {ours:>4}");
    }
}

/// Frames of each camera per second.
const FRAME_RATE: f64 = 20.0;

/// How many robots there is time for, of which each takes so much of it; a dash where nobody knows.
fn robots(share_of_time: f64) -> String {
    if share_of_time.is_nan() {
        "-".to_string()
    } else {
        format!("{:.0}", (1.0 / share_of_time).floor())
    }
}

/// The same with a camera each, whose frames take the longer the more robots there are to see.
fn robots_that_see(share_of_time: f64, frame_secs: impl Fn(usize) -> f64) -> String {
    let fits = |n: usize| 1.0 / (share_of_time + FRAME_RATE * frame_secs(n));
    let mut n = N_SEEN_FIRST;
    for _ in 0..4 {
        let found = fits(n);
        if found.is_nan() {
            return "-".to_string();
        }
        if found as usize == n {
            break;
        }
        // A small bench draws no hundreds.
        n = (found as usize).clamp(1, if is_full() { usize::MAX } else { N_SEEN_FIRST });
    }
    format!("{:.0}", fits(n).floor().min(n as f64))
}

/// Of how many robots the first frame is, from which the others are estimated: as the document's.
const N_SEEN_FIRST: usize = 6;

/// Microseconds per robot and step: the least of some runs through the same stretch, whatever
/// their number. A short one for many robots would be mostly their first step, in which nothing
/// is in a cache and every contact is new.
fn cost(level: &mut Level, n: usize) -> f64 {
    let (n_steps, n_runs) = if is_full() { (200, (500 / n).clamp(3, 20)) } else { (10, 1) };
    let mut least = f64::INFINITY;
    for _ in 0..n_runs {
        level.reset();
        let since = thread_cpu_secs();
        (0..n_steps).for_each(|_| level.step());
        least = least.min(thread_cpu_secs() - since);
    }
    least * 1e6 / (n * n_steps) as f64
}
