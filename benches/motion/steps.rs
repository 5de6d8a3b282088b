//! Whole steps of a millisecond, contacts with the ground and all, against `mj_step`.
//!
//! The humanoid is let go upright with its feet on the ground: it stands, falls, and lies. Both
//! engines get the same file, MuJoCo with its default solver, which is its quickest here, and
//! start from the same state; two stretches of the fall are timed, each with the contacts it
//! had on average. Then the same of a team of twenty, in one world on both sides, each of whom leans
//! a little more than the last. Targets: `articulated` 3 times as fast, `com` 10, `kinematic` 30.
//!
//! Then more teams: the cost of a step from one robot to a thousand, and how many robots that is in
//! real time, beside what Friedmann, Petersen and von Stryk had of humanoids with as many hinges
//! (*Tailored Real-Time Simulation for Teams of Humanoid Robots*, 2008, section 4).

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland_base::{Quat, Severity, SimDuration, Transform, Vec3};
use headland_bench::{check_value, is_full, thread_cpu_secs};
use headland_sim::{
    Command as JointCommand, DofState, Engine, EngineEntry, EngineOptions, Inputs, Mode, Model,
    Order, State,
};
use headland_world::{ContactLaw, Detail, Foot, World};

use super::humanoid::model_of;
use super::mujoco::MuJoCo;

const ENTRY: EngineEntry = headland_engines::native::ENTRY;

/// Stretches of steps: standing and falling, and lying.
fn windows() -> [(usize, usize); 2] {
    if is_full() { [(0, 500), (2000, 2500)] } else { [(0, 10), (20, 30)] }
}

/// The details and laws that are compared.
const LEVELS: [(&str, Detail, ContactLaw); 6] = [
    ("kinematic", Detail::Kinematic, ContactLaw::Hard),
    ("articulated, hard", Detail::Articulated, ContactLaw::Hard),
    ("articulated, soft", Detail::Articulated, ContactLaw::SoftCoulomb),
    ("com, hard", Detail::Com, ContactLaw::Hard),
    ("com, soft", Detail::Com, ContactLaw::SoftCoulomb),
    ("com-fixed, soft", Detail::ComFixed, ContactLaw::SoftCoulomb),
];

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
        LEVELS.iter().filter_map(|level| Level::new(world, level, n)).collect();
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
        row(level.name, micros, per_robot(contacts), theirs.unwrap_or([f64::NAN; 2]), &check);
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
    name: &'static str,
    model: Model,
    engine: Box<dyn Engine>,
    state: State,
    inputs: Inputs,
    least: [f64; 2],
}

impl Level {
    /// `n` robots; `None`, and said so, where they cannot be moved like that.
    fn new(
        world: &Arc<World>,
        (name, detail, law): &(&'static str, Detail, ContactLaw),
        n: usize,
    ) -> Option<Level> {
        let model = Model::compile(&Arc::new(team(world, *detail, *law, n))).expect("compiles");
        let mut level = Level {
            name,
            engine: (ENTRY.make)(&ENTRY),
            state: State::initial(&model),
            inputs: Inputs { skips_contacts: true, ..Inputs::default() },
            model,
            least: [f64::INFINITY; 2],
        };
        let found = level.engine.check(&level.model, &EngineOptions::new(MILLI));
        if let Some(why) = found.iter().find(|one| one.severity == Severity::Error) {
            println!("{name}: skipped: {}", why.render(false));
            return None;
        }
        // Robots that do as they are told are told to hold their pose: following costs time too,
        // and in a run they are always told something.
        if *detail != Detail::Articulated {
            let hold = |dof: &DofState| {
                Order::Follow(JointCommand { mode: Mode::Position, target: dof.position })
            };
            level.inputs.orders = level.state.dofs.iter().map(hold).collect();
        }
        level.reset();
        Some(level)
    }

    fn reset(&mut self) {
        self.state = State::initial(&self.model);
        let options = EngineOptions::new(MILLI);
        self.engine.start(&self.model, &self.state, &options).expect("starts");
    }

    fn step(&mut self) {
        let Level { engine, model, inputs, state, .. } = self;
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
    let mut team = world.clone();
    team.physics.native.law = Some(law);
    let is_robot = |joints: usize| joints > 0;
    let robot = world.models.iter().position(|model| is_robot(model.joints.len()));
    let mut robot = team.models.remove(robot.expect("a robot"));
    robot.detail = Some(detail);
    robot.feet = ["right_foot", "left_foot"]
        .map(|link| Foot { link: link.to_string(), link_from_sole: None, size: None })
        .to_vec();
    for i in 0..n {
        let mut one = robot.clone();
        one.name = format!("{}_{i}", robot.name);
        let (row, column) = ((i / 32) as f64, (i % 32) as f64);
        let leaning = Quat::from_rotation_y((column * LEAN_DEGREES).to_radians());
        let place = Transform::new(leaning, Vec3::new(2.0 * row, 2.0 * column, 0.0));
        one.parent_from_model = place * one.parent_from_model;
        team.models.push(one);
    }
    team
}

/// The curve from one robot to a thousand, and the document's table.
fn teams(world: &Arc<World>, theirs: Option<f64>) {
    let counts: &[usize] =
        if is_full() { &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] } else { &[1, 20] };
    println!("\nmotion, teams: µs per robot and step of 1 ms, standing and beginning to fall");
    let names: String = LEVELS.iter().map(|(name, ..)| format!("  {name:>17}")).collect();
    println!("robots{names}");
    let theirs = theirs.unwrap_or(f64::NAN);
    let mut per_robot = [f64::NAN; LEVELS.len()];
    let mut checks = [const { String::new() }; LEVELS.len()];
    for n in counts {
        let mut line = format!("{n:>6}");
        for (i, level) in LEVELS.iter().enumerate() {
            let cost = Level::new(world, level, *n).map(|mut level| {
                let cost = cost(&mut level, *n);
                checks[i] = level.check();
                cost
            });
            per_robot[i] = cost.unwrap_or(f64::NAN);
            line += &format!("  {:>17.2}", per_robot[i]);
        }
        println!("{line}");
    }
    let checks: String = checks.iter().map(|check| format!("  {check:>17}")).collect();
    println!(" check{checks}");
    println!("\nmotion, robots in real time on one core       per second  2008  mj_step  ours");
    for (name, level, rate, then) in [
        ("kinematic motion", 0, 100.0, "10"),
        ("simplified dynamics motion (com-fixed, soft)", 5, 1000.0, "8"),
        ("simplified dynamics motion (com, soft)", 4, 1000.0, "8"),
        ("full dynamics, soft contacts", 2, 1000.0, "-"),
        ("full dynamics, hard contacts", 1, 1000.0, "-"),
    ] {
        let robots = |micros: f64| (1e6 / rate / micros).floor();
        // Nothing of MuJoCo's is cheaper at a lower rate but that it is asked less often.
        println!(
            "{name:<46} {rate:>10} {then:>5}  {:>7}  {:>4}",
            robots(theirs),
            robots(per_robot[level])
        );
    }
}

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
