//! Tuning an arm of six joints on twenty seconds of data, beside `mujoco.sysid` on the same model,
//! data and parameters.
//!
//! The model is one MJCF text that both read. Numbers are planted, the arm is moved by position
//! servos, and what its joints did is written with noise, so both are asked for what is known:
//! five masses and six dampings, each within a factor of three. Target: five times as fast. Python's
//! own part of the peer's time is shown apart: what it spends outside its rollouts in C. Each is the
//! best of three, on two threads and on one. Ours ends where a further step would be less than a fifth
//! of a standard error, the peer by its own rule, later; so it is also said after how long the peer
//! was as near to its end.
//!
//! Both step by 2 ms and semi-implicitly, as the model says; the data was made by Runge and Kutta's
//! integrator at 1 ms. So steps move the masses further than the noise does, in both programs. Ours
//! says so, and its intervals hold the truth because they heed it.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland_base::maths::{TAU, sin};
use headland_base::{Seed, SimDuration, SimTime};
use headland_bench::{is_full, time};
use headland_judge::compare::Series;
use headland_sense::noise::Dice;
use headland_sim::{Engine, Mode, Model};
use headland_validate::fit::crew::with_crew;
use headland_validate::tune::{Course, Method, Plan, Saved, Tuned, Tuning, Wanted, search, tuned};
use headland_validate::{Experiment, Replay, ReplayOptions, Signal, Told};
use headland_world::parameter::{Settings, Subject, find};
use headland_world::{Integrator, ReadOptions, read};

const N_JOINTS: usize = 6;
const STEP_SECS: f64 = 0.002;

/// Planted: factors on what the model says.
const MASSES: [f64; N_JOINTS] = [1.0, 1.3, 0.8, 1.2, 0.7, 1.4];
const DAMPINGS: [f64; N_JOINTS] = [1.5, 0.6, 1.8, 0.7, 1.4, 0.5];

fn main() {
    let (secs, n_times) = if is_full() { (20.0, 3) } else { (1.0, 1) };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("arm.xml");
    std::fs::write(&file, arm()).expect("written");
    let world = read(&file, &ReadOptions::default()).expect("a sound model").world;
    let subject = Subject { world, settings: Settings::default() };
    let (experiment, table) = measured(&subject, secs);
    let data = folder.path().join("data.json");
    std::fs::write(&data, table).expect("written");
    println!("tune: an arm of {N_JOINTS} joints, {secs} s at 500 Hz, 11 parameters");
    let truth: Vec<f64> =
        names().iter().map(|(path, factor)| factor * now(&subject, path)).collect();
    let mut first: Option<Tuned> = None;
    for n_threads in [2, 1] {
        let each = (0..n_times).map(|_| time(|| tune(&subject, &experiment, n_threads)));
        let (ours, found) = each.min_by(|a, b| a.0.total_cmp(&b.0)).expect("once at least");
        if first.is_none() {
            show(&found, &truth);
        }
        let (threads, rms) = (words(n_threads), found.rms.1);
        println!("headland, {threads}      {ours:>8.3} s  {} simulations", found.n_evaluations);
        println!(
            "  weighted error {rms:.6}, furthest from the truth {:.2} %",
            percent(&found, &truth)
        );
        if is_full() {
            // Masses near the base hardly show and pull at one another; dampings show clearly.
            let worst = worst(&found, &truth, "damping");
            assert!(worst < 0.02, "planted dampings are found: {worst}");
            assert!(rms < 0.02, "what is left is noise: {rms}");
        }
        peer(&file, &data, n_threads, n_times, ours, &truth);
        let same = first.get_or_insert_with(|| found.clone());
        assert_eq!(same.numbers, found.numbers, "threads change no bit");
    }
}

fn words(n_threads: usize) -> String {
    if n_threads == 1 { "one thread ".to_string() } else { format!("{n_threads} threads  ") }
}

/// What was planted, what was found, and whether its interval holds the truth.
fn show(found: &Tuned, truth: &[f64]) {
    let mut n_held = 0;
    for ((path, _), truth) in names().iter().zip(truth) {
        let number = found.numbers.iter().find(|number| number.name == *path).expect("sought");
        let half = number.half_width.unwrap_or(f64::NAN);
        let is_held = (number.value - truth).abs() <= half;
        n_held += usize::from(is_held);
        println!(
            "  {path:<36} planted {truth:.4}  found {:.4} ± {half:.4}, of it steps {:.4}{}",
            number.value,
            number.step_shift.map_or(f64::NAN, f64::abs),
            if is_held { "" } else { "  outside" },
        );
    }
    println!("  {n_held} of {} planted numbers lie in their intervals of 95 %", truth.len());
    found.warnings.iter().for_each(|warning| println!("  {}", warning.message));
}

/// How far the number that is furthest from the truth is from it \[%\].
fn percent(found: &Tuned, truth: &[f64]) -> f64 {
    100.0 * ["mass", "damping"].iter().map(|kind| worst(found, truth, kind)).fold(0.0, f64::max)
}

/// How far the numbers of a kind are from the truth, at worst.
fn worst(found: &Tuned, truth: &[f64], kind: &str) -> f64 {
    let of_kind = names().into_iter().zip(truth).filter(|((path, _), _)| path.ends_with(kind));
    let apart = of_kind.map(|((path, _), truth)| {
        let number = found.numbers.iter().find(|number| number.name == path).expect("sought");
        (number.value / truth - 1.0).abs()
    });
    apart.fold(0.0, f64::max)
}

/// Paths and planted factors.
fn names() -> Vec<(String, f64)> {
    // The base turns about an upright axis near its centre: nothing shows its mass.
    let masses = (1..N_JOINTS).map(|i| (format!("link/link{i}/inertial/mass"), MASSES[i]));
    let dampings = (0..N_JOINTS).map(|i| (format!("joint/joint{i}/dynamics/damping"), DAMPINGS[i]));
    masses.chain(dampings).collect()
}

fn now(subject: &Subject, path: &str) -> f64 {
    find(&subject.world, path).expect("it is there")[0].get(subject).expect("a number")
}

/// Six hinges about changing axes, each with a position servo.
fn arm() -> String {
    let mut text = format!(
        "<mujoco model=\"arm\"><compiler angle=\"radian\"/>\
         <option integrator=\"Euler\" timestep=\"{STEP_SECS}\"><flag contact=\"disable\"/></option><worldbody>\n"
    );
    let axes = ["0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0"];
    for (i, axis) in axes.iter().enumerate() {
        let (mass, size) = (3.0 - 0.4 * i as f64, 0.02 - 0.002 * i as f64);
        _ = writeln!(
            text,
            "<body name=\"link{i}\" pos=\"0 0 {}\">\
             <inertial pos=\"0.03 0.02 0.12\" mass=\"{mass}\" diaginertia=\"{size} {size} {}\"/>\
             <joint name=\"joint{i}\" type=\"hinge\" axis=\"{axis}\" damping=\"8\" armature=\"0.1\"/>",
            if i == 0 { 0.1 } else { 0.25 },
            0.5 * size
        );
    }
    text += &"</body>".repeat(N_JOINTS);
    text += "</worldbody><actuator>\n";
    for i in 0..N_JOINTS {
        let kp = 500 - 60 * i;
        _ = writeln!(text, "<position name=\"servo{i}\" joint=\"joint{i}\" kp=\"{kp}\"/>");
    }
    text += "</actuator><sensor>\n";
    for (kind, word) in [("jointpos", "pos"), ("jointvel", "vel")] {
        for i in 0..N_JOINTS {
            _ = writeln!(text, "<{kind} name=\"joint{i}_{word}\" joint=\"joint{i}\"/>");
        }
    }
    text + "</sensor></mujoco>\n"
}

fn target(joint: usize, t: f64) -> f64 {
    let j = joint as f64;
    0.6 * sin(TAU * (0.25 + 0.06 * j) * t + j) - 0.6 * sin(j)
        + 0.25 * sin(TAU * (1.1 - 0.1 * j) * t)
}

fn native() -> Box<dyn Engine> {
    let entry = headland_engines::find("native").expect("part of headland");
    (entry.make)(entry)
}

fn moment(secs: f64) -> SimTime {
    SimTime::from_secs(secs).expect("a time")
}

/// What the planted arm does under Runge and Kutta's integrator, with noise; and the same as JSON
/// for the peer.
fn measured(subject: &Subject, secs: f64) -> (Arc<Experiment>, String) {
    let n = (secs / STEP_SECS) as usize;
    let times: Vec<SimTime> = (0..=n).map(|i| moment(i as f64 * STEP_SECS)).collect();
    let mut planted = subject.clone();
    for (path, factor) in names() {
        let value = factor * now(subject, &path);
        find(&planted.world, &path).expect("there")[0].set(&mut planted, value).expect("sound");
    }
    planted.world.physics.native.integrator = Some(Integrator::Rk4);
    let model = Model::compile(&Arc::new(planted.world)).expect("sound");
    let commands = (0..n).flat_map(|i| {
        (0..N_JOINTS).map(move |joint| {
            let (t, mode) = (i as f64 * STEP_SECS, Mode::Position);
            (moment(t), joint, headland_sim::Command { mode, target: target(joint, t) })
        })
    });
    let told = Told::new(commands.collect());
    let keys: Vec<String> = ["position", "velocity"]
        .iter()
        .flat_map(|word| (0..N_JOINTS).map(move |i| format!("joint{i}/{word}")))
        .collect();
    let known: Vec<(String, f64)> = keys.iter().map(|key| (key.clone(), 0.0)).collect();
    let signal = |(key, values): (&String, Vec<f64>)| Signal {
        key: key.clone(),
        series: Series { times: times.clone(), values, ..Series::default() },
    };
    let blank: Vec<Signal> = keys.iter().map(|key| signal((key, vec![0.0; times.len()]))).collect();
    let blank = Experiment { signals: blank, told: told.clone(), known: known.clone() };
    let step = SimDuration::from_secs(0.5 * STEP_SECS).expect("a step");
    let mut replay =
        Replay::new(model, native(), Arc::new(blank), ReplayOptions::new(step)).expect("sound");
    let mut dice = Dice::new(&Seed::new(1).child("noise"));
    let values: Vec<Vec<f64>> = replay
        .run()
        .expect("it moves")
        .values
        .iter()
        .enumerate()
        .map(|(i, values)| {
            let noise = if i < N_JOINTS { 0.002 } else { 0.02 };
            values.iter().map(|v| v + noise * dice.normal()).collect()
        })
        .collect();
    let seconds: Vec<f64> = times.iter().map(|t| t.secs()).collect();
    let controls: Vec<Vec<f64>> =
        (0..N_JOINTS).map(|j| seconds.iter().map(|t| target(j, *t)).collect()).collect();
    let json = serde_json::json!({"times": seconds, "controls": controls, "sensors": values});
    let signals = keys.iter().zip(values).map(signal).collect();
    (Arc::new(Experiment { signals, told, known }), json.to_string())
}

fn tune(subject: &Subject, experiment: &Arc<Experiment>, n_threads: usize) -> Tuned {
    let wanted = names().into_iter().map(|(path, _)| {
        let value = now(subject, &path);
        Wanted::new(subject, &path, value / 3.0, value * 3.0).expect("sound")
    });
    let course =
        Course { name: "arm".to_string(), experiment: Arc::clone(experiment), is_held_out: false };
    let step = SimDuration::from_secs(STEP_SECS).expect("a step");
    let (engine, options) = ("native".to_string(), ReplayOptions::new(step));
    let plan = Plan { engine, options, train_share: 1.0, fits_start: false };
    let tuning =
        Tuning::new(subject.clone(), wanted.collect(), vec![course], plan, &native).expect("sound");
    with_crew(&tuning, n_threads, |crew| {
        let mut saved = Saved::new(Method::Lm, &tuning, 0);
        let linear = search(&mut saved, &tuning, crew, 2_000, &mut |_| ControlFlow::Continue(()));
        tuned(&tuning, &saved.search, linear, crew, 0.95).expect("it moves")
    })
}

fn peer(model: &Path, data: &Path, n_threads: usize, n_times: usize, ours: f64, truth: &[f64]) {
    let Some(python) = std::env::var_os("HEADLAND_SYSID_PYTHON") else {
        println!("mujoco.sysid: set HEADLAND_SYSID_PYTHON to an interpreter with mujoco[sysid]");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/mujoco_sysid.py");
    let output = Command::new(python)
        .arg("-B")
        .arg(script)
        .args([model, data])
        .args([n_threads.to_string(), n_times.to_string()])
        .output()
        .expect("HEADLAND_SYSID_PYTHON is an interpreter");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Before its answer it tells how it goes on.
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let answer: serde_json::Value = serde_json::from_str(last).expect("one object of JSON");
    let number = |name: &str| answer[name].as_f64().expect("a number");
    let found: Vec<f64> =
        answer["found"].as_array().expect("a list").iter().filter_map(|x| x.as_f64()).collect();
    let worst =
        found.iter().zip(truth).map(|(x, truth)| (x / truth - 1.0).abs()).fold(0.0, f64::max);
    println!(
        "mujoco.sysid, {}  {:>8.3} s  {} rollouts: {:.1} times ours",
        words(n_threads),
        number("total"),
        answer["rollouts"],
        number("total") / ours,
    );
    println!(
        "  of it rollouts in C {:.3} s: {:.1} times ours; weighted error {:.6}, furthest from the \
         truth {:.2} %",
        number("inside"),
        number("inside") / ours,
        number("rms"),
        100.0 * worst,
    );
    println!(
        "  where ours ends, a fifth of a standard error from its end, it is after {:.3} s: {:.1} \
         times ours",
        number("near"),
        number("near") / ours,
    );
}
