//! Programs at the other end of a pipe that keep their word, and programs that do not: each is
//! a few lines of Python. They need a Python 3 and nothing else; where there is none they are
//! skipped with a word, unless `HEADLAND_REQUIRE_FOREIGN=1`.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use headland_base::{Severity, SimDuration, Source, Vec3};
use headland_sim::{
    Cast, Ending, Engine, EngineOptions, Fault, Inputs, Model, Setup, State, Unobserved, run,
};

const WORLDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bouncing_spheres.py");

/// A program that says hello, is content with every world, and then does as `step` says.
fn program(step: &str) -> String {
    format!(
        "import sys, json, os, time\n\
         def say(message): print(json.dumps(message), flush=True)\n\
         say({{'headland_engine': 1, 'name': 'bad', 'version': '1'}})\n\
         for line in sys.stdin:\n\
         \x20   message = json.loads(line)\n\
         \x20   if message['do'] == 'start':\n\
         \x20       rigids = [r['pose'] + r['velocity'] for r in message['rigids']]\n\
         \x20       say({{}})\n\
         \x20   elif message['do'] == 'step':\n\
         {}\n",
        step.lines().map(|line| format!("        {line}\n")).collect::<String>()
    )
}

fn has_python() -> bool {
    let python = std::env::var_os("HEADLAND_PYTHON").unwrap_or_else(|| "python3".into());
    let there = Command::new(&python).arg("--version").output().is_ok();
    let required = std::env::var_os("HEADLAND_REQUIRE_FOREIGN").is_some();
    assert!(there || !required, "HEADLAND_REQUIRE_FOREIGN=1 but there is no Python");
    if !there {
        eprintln!("skipped: no Python");
    }
    there
}

fn model(world: &str) -> Model {
    let text = std::fs::read_to_string(format!("{WORLDS}/{world}")).expect("a world");
    let source = Source::new(world, text);
    let read = headland_world::read_text(source, Path::new(WORLDS), &Default::default());
    Model::compile(&Arc::new(read.expect("a world").world)).expect("a model")
}

fn options(model: &Model) -> EngineOptions {
    EngineOptions {
        patience: Duration::from_secs(10),
        ..EngineOptions::new(model.world.physics.step)
    }
}

struct Written {
    _folder: tempfile::TempDir,
    engine: Box<dyn Engine>,
}

fn engine(text: &str) -> Written {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("engine.py");
    std::fs::write(&file, text).expect("written");
    let entry = headland_engines::find(file.to_str().expect("a path")).expect("a path is found");
    Written { engine: (entry.make)(entry), _folder: folder }
}

/// Starts it on the ball and makes a step, with this much patience.
fn one_step(text: &str, patience: Duration) -> Result<State, Fault> {
    let model = model("ball.sdf");
    let mut state = State::initial(&model);
    let mut written = engine(text);
    let options = options(&model);
    written.engine.start(&model, &state, &EngineOptions { patience, ..options })?;
    let inputs = Inputs { efforts: vec![0.0; model.dofs.len()], ..Inputs::default() };
    written.engine.step(&model, &inputs, options.step, &mut state)?;
    Ok(state)
}

#[track_caller]
fn broken(step: &str, patience: Duration, wanted: &[&str]) {
    let Fault(text) = one_step(&program(step), patience).expect_err("a fault");
    for words in wanted {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(1500);

#[test]
fn one_that_keeps_its_word() {
    if has_python() {
        let state = one_step(&program("say({'rigids': rigids})"), LONG).expect("a step");
        assert_eq!(state.rigids, State::initial(&model("ball.sdf")).rigids, "to the last bit");
    }
}

#[test]
fn garbage_wrong_counts_and_wrong_numbers() {
    if !has_python() {
        return;
    }
    broken("print('Segfault? No, just talk.', flush=True)", LONG, &["`step`", "just talk"]);
    broken("say({'rigids': rigids[1:]})", LONG, &["1 rigids instead of 2"]);
    broken("say({'rigids': [r[:12] for r in rigids]})", LONG, &["length 12"]);
    broken("say({'rigids': [[float('nan')] * 13] * 2})", LONG, &["NaN", "null"]);
    broken("say({'rigids': [[2.0] * 13] * 2})", LONG, &["quaternion", "length 4"]);
    broken("say({'rigids': rigids, 'contacts': [[0, 7, [0.0] * 10]]})", LONG, &["0 and 7"]);
    broken("say({'rigids': rigids, 'contacts': [[0, 1, [None] * 10]]})", LONG, &["not finite"]);
    broken("say({'error': 'no licence'})", LONG, &["no licence"]);
    broken("os.write(1, b'\\xff\\xfe\\n')", LONG, &["`step`"]);
}

/// What it has to say of a step comes with the step, once.
#[test]
fn remarks_come_with_their_step() {
    if !has_python() {
        return;
    }
    let model = model("ball.sdf");
    let mut state = State::initial(&model);
    let mut written = engine(&program("say({'rigids': rigids, 'remarks': ['a', 'b']})"));
    let it = &mut written.engine;
    it.start(&model, &state, &options(&model)).expect("starts");
    it.step(&model, &Inputs::default(), model.world.physics.step, &mut state).expect("steps");
    assert_eq!(it.take_remarks(), ["a", "b"]);
    assert_eq!(it.take_remarks(), [""; 0]);
    broken("say({'rigids': rigids, 'remarks': 'none'})", LONG, &["expected a sequence"]);
}

/// A number that went non-finite is `null`: the run holds that body and goes on.
#[test]
fn what_goes_non_finite_is_contained() {
    if !has_python() {
        return;
    }
    let mut written = engine(&program("say({'rigids': [rigids[0], [None] * 13]})"));
    let model = model("ball.sdf");
    let setup = Setup::new(&model, SimDuration::from_secs(0.01).unwrap());
    let go = &mut |_| ControlFlow::Continue(());
    let mut cast = Cast::default();
    let end = run(&model, &setup, written.engine.as_mut(), &mut cast, &mut Unobserved, go).unwrap();
    assert_eq!(end.ending, Ending::Duration);
    assert_eq!(end.contained.len(), 1);
}

/// One that was lost once is held to the end, whatever its engine says of it later.
#[test]
fn what_was_lost_does_not_come_back() {
    if !has_python() {
        return;
    }
    let once = "n = globals().get('n', 0) + 1\n\
                row = [None] * 13 if n == 3 else [n] * 3 + [0, 0, 0, 1] + [0] * 6\n\
                say({'rigids': [rigids[0], row]})";
    let mut written = engine(&program(once));
    let model = model("ball.sdf");
    let setup = Setup::new(&model, SimDuration::from_secs(0.01).unwrap());
    let go = &mut |_| ControlFlow::Continue(());
    let mut cast = Cast::default();
    let end = run(&model, &setup, written.engine.as_mut(), &mut cast, &mut Unobserved, go).unwrap();
    assert_eq!(end.contained.len(), 1);
    assert_eq!(end.state.rigids[1].world_from_rigid.translation, Vec3::splat(2.0));
}

#[test]
fn death_silence_and_endless_lines() {
    if !has_python() {
        return;
    }
    let last = "raise ValueError('out of luck')";
    broken(last, LONG, &["exit code 1", "out of luck"]);
    broken("os.kill(os.getpid(), 11)", LONG, &["signal 11"]);
    broken("os._exit(3)", LONG, &["exit code 3"]);
    broken("sys.stderr.write('thinking\\n'); time.sleep(99)", SHORT, &["within 1.5 s", "thinking"]);
    broken("os.close(1); time.sleep(99)", LONG, &["closed its end"]);
    broken("while True: os.write(1, b'x' * 65536)", LONG, &["64 MiB", "xxxx"]);
    broken("while True: os.write(1, b'x'); time.sleep(0.05)", SHORT, &["within 1.5 s"]);
    broken("while True: os.write(2, b'noise\\n' * 9999)", SHORT, &["within 1.5 s", "noise"]);
    broken(
        "signal = __import__('signal'); [signal.signal(s, signal.SIG_IGN) for s in (2, 15)]\n\
            time.sleep(99)",
        SHORT,
        &["within 1.5 s"],
    );
}

#[test]
fn no_hello_is_no_engine() {
    if !has_python() {
        return;
    }
    let model = model("ball.sdf");
    for (text, wanted) in [
        ("print('hi', flush=True)", "a hello"),
        ("import nothing_like_this", "nothing_like_this"),
        ("print('{\"headland_engine\": 7, \"name\": \"x\"}', flush=True)", "version 7"),
        ("import time; time.sleep(99)", "within 1.5 s"),
    ] {
        let written = engine(text);
        let options = EngineOptions { patience: SHORT, ..options(&model) };
        let told = written.engine.check(&model, &options);
        assert!(
            told.iter().any(|d| d.code == "engine-start" && d.message.contains(wanted)),
            "`{wanted}` is not in {told:?}"
        );
    }
    let entry = headland_engines::find("./no/such/engine").expect("a path");
    let told = (entry.make)(entry).check(&model, &options(&model));
    assert!(told[0].code == "engine-missing", "{told:?}");
    assert!(told[0].message.contains("there is no file"), "{told:?}");
}

/// A child that does not read cannot hold us with a scene larger than a pipe.
#[test]
fn one_that_never_reads() {
    if !has_python() {
        return;
    }
    let text = "import time\nprint('{\"headland_engine\": 1, \"name\": \"deaf\"}', flush=True)\n\
                time.sleep(99)";
    let model = model("ball.sdf");
    let mut state = State::initial(&model);
    let mut written = engine(text);
    let options = EngineOptions { patience: SHORT, ..options(&model) };
    let big = Inputs { efforts: vec![0.1; 100_000], ..Inputs::default() };
    assert!(written.engine.start(&model, &state, &options).is_err());
    assert!(written.engine.step(&model, &big, options.step, &mut state).is_err());
}

/// Nothing is left running: neither the program nor what it started.
#[test]
fn nothing_is_left_running() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let note = folder.path().join("pids");
    let fork = format!(
        "if os.fork() == 0:\n    time.sleep(99)\n\
         open({note:?}, 'w').write(f'{{os.getpid()}}')\nsay({{'rigids': rigids}})"
    );
    let alive = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.contains(" Z "))
    };
    let in_group = |group: &str| {
        std::fs::read_dir("/proc").expect("/proc").flatten().any(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let rest = stat.rsplit(')').next().unwrap_or_default();
            let fields: Vec<&str> = rest.split_whitespace().collect();
            fields.get(2) == Some(&group) && fields[0] != "Z"
        })
    };
    for end in ["", "\nos._exit(0)", "\ntime.sleep(99)"] {
        one_step(&program(&format!("{fork}{end}")), LONG).expect("a step");
        let group = std::fs::read_to_string(&note).expect("a note");
        // A killed process is gone a moment after the signal, not at it.
        let mut left = 1000;
        while (alive(&group) || in_group(&group)) && left > 0 {
            std::thread::sleep(Duration::from_millis(2));
            left -= 1;
        }
        assert!(left > 0, "process {group} is still there after: {end}");
    }
}

/// The example of the book bounces by `e²`, says what it leaves out, and refuses joints.
#[test]
fn the_example_of_the_book() {
    if !has_python() {
        return;
    }
    let entry = headland_engines::find(EXAMPLE).expect("a path");
    let found = (entry.find)(entry).expect("it says hello");
    assert_eq!(found.version, "bouncing-spheres 1.0");
    let ball = model("ball.sdf");
    let mut engine = (entry.make)(entry);
    let told = engine.check(&ball, &options(&ball));
    assert!(told.iter().all(|d| d.severity != Severity::Error && d.code == "realised"));
    let setup = Setup::new(&ball, SimDuration::from_secs(3.0).unwrap());
    let (mut apexes, mut before) = (Vec::new(), 0.0);
    struct Eyes<'a>(&'a mut dyn FnMut(&State));
    impl headland_sim::Observer for Eyes<'_> {
        fn sample(&mut self, _: &Model, state: &State) -> Result<(), headland_base::Diagnostic> {
            (self.0)(state);
            Ok(())
        }
    }
    let mut see = |state: &State| {
        let ball = state.rigids[1];
        if before > 0.0 && ball.twist.linear.z <= 0.0 {
            apexes.push(ball.world_from_rigid.translation.z - 0.5);
        }
        before = ball.twist.linear.z;
    };
    let go = &mut |_| ControlFlow::Continue(());
    let (mut cast, mut eyes) = (Cast::default(), Eyes(&mut see));
    run(&ball, &setup, engine.as_mut(), &mut cast, &mut eyes, go).expect("runs");
    assert!(apexes.len() >= 2, "{apexes:?}");
    for pair in apexes.windows(2) {
        assert!((pair[1] / pair[0] - 0.49).abs() < 0.02, "{apexes:?}");
    }
    let pendulum = model("pendulum.sdf");
    let told = (entry.make)(entry).check(&pendulum, &options(&pendulum));
    assert!(
        told.iter().any(|d| d.code == "engine-cannot" && d.message.contains("hinge")),
        "{told:?}"
    );
}

/// The page shows the file as it is.
#[test]
fn the_page_shows_the_example_as_it_is() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/engine-protocol.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let example = std::fs::read_to_string(EXAMPLE).expect("the example");
    assert!(page.contains(example.trim()), "the page shows another text than {EXAMPLE}");
}
