//! MJCF files that MuJoCo loads itself: with `raw` they move as by MuJoCo's own package, to
//! 1e-9, with everything that headland's translation leaves out.
//!
//! Without a MuJoCo these tests say that they were skipped; with `HEADLAND_REQUIRE_FOREIGN=1`
//! that is a failure. The comparison needs `HEADLAND_PYTHON`, an interpreter with `mujoco`.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::Arc;

use headland_base::{Mat3, Severity, SimDuration, Vec3};
use headland_engines::mujoco::ENTRY;
use headland_sim::{
    Command, Engine, EngineOptions, Fault, Inputs, Mode, Model, Motion, Order, State, Wrench,
};
use headland_world::{ReadOptions, read};

const STEP_SECS: f64 = 0.0015;

/// The version that is here.
fn version() -> Option<String> {
    match (ENTRY.find)(&ENTRY) {
        Ok(found) => Some(found.version),
        Err(why) => {
            let required = std::env::var_os("HEADLAND_REQUIRE_FOREIGN").is_some_and(|v| v == "1");
            assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but there is no mujoco: {why}");
            eprintln!("skipped: {why}");
            None
        }
    }
}

/// Before 2.3.7 there is no function that hands over forces.
fn takes_orders(version: &str) -> bool {
    !version.starts_with("2.2") && !version.starts_with("2.3.0")
}

fn options(raw: bool) -> EngineOptions {
    EngineOptions { raw, ..EngineOptions::new(SimDuration::from_secs(STEP_SECS).unwrap()) }
}

/// A file on the engine, to be stepped by hand.
struct Bench {
    model: Model,
    state: State,
    engine: Box<dyn Engine>,
    inputs: Inputs,
    said: Vec<String>,
    options: EngineOptions,
}

impl Bench {
    fn of(file: &Path, raw: bool) -> Bench {
        let read = read(file, &ReadOptions::default()).expect("a file headland reads");
        let model = Model::compile_read(&Arc::new(read.world), &read.places).expect("compiles");
        let (mut engine, options) = ((ENTRY.make)(&ENTRY), options(raw));
        let said = engine.check(&model, &options);
        for finding in &said {
            assert!(finding.severity != Severity::Error, "{}", finding.message);
        }
        let said = said.iter().map(|finding| finding.message.clone()).collect();
        let state = State::initial(&model);
        engine.start(&model, &state, &options).expect("starts");
        let inputs = Inputs {
            efforts: vec![0.0; model.dofs.len()],
            orders: vec![Order::Nothing; model.dofs.len()],
            ..Inputs::default()
        };
        Bench { model, state, engine, inputs, said, options }
    }

    fn step(&mut self) -> Result<(), Fault> {
        self.engine.step(&self.model, &self.inputs, self.options.step, &mut self.state)?;
        self.state.measure_joints(&self.model);
        Ok(())
    }

    fn steps(&mut self, n_steps: usize) {
        (0..n_steps).for_each(|_| self.step().expect("steps"));
    }

    fn order(&mut self, joint: &str, mode: Mode, target: f64) {
        let dof = self.model.find_dof(joint).expect("an axis");
        self.inputs.orders[dof] = Order::Follow(Command { mode, target });
        if mode == Mode::Effort {
            self.inputs.efforts[dof] = target;
        }
    }

    fn link(&self, name: &str) -> usize {
        let is_it = |body: &headland_sim::Body| body.name.rsplit("::").next() == Some(name);
        self.model.bodies.iter().position(is_it).expect("a link")
    }
}

/// A robot in three files: an asset two folders up, actuators in a file that is included, a
/// tendon and a weld that headland's translation has no place for, a body with two joints, a
/// massless one, a joint with a `ref`, a ball that touches only by a `pair`, Runge and Kutta's
/// integrator.
fn robot(folder: &Path) -> PathBuf {
    let home = folder.join("robots/one");
    std::fs::create_dir_all(home.join("parts")).unwrap();
    std::fs::create_dir_all(folder.join("shapes")).unwrap();
    let mesh = "v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0 0 0.2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(folder.join("shapes/wedge.obj"), mesh).unwrap();
    let motors = "<mujocoinclude>
  <actuator>
    <position name=\"servo\" joint=\"lift\" kp=\"300\" gear=\"2\"/>
    <motor joint=\"elbow\" gear=\"3\"/>
    <velocity name=\"roller\" joint=\"roll\" kv=\"0.4\"/>
  </actuator>
</mujocoinclude>
";
    std::fs::write(home.join("parts/motors.xml"), motors).unwrap();
    let text = "<mujoco model=\"one\">
  <compiler angle=\"radian\" meshdir=\"../../shapes\"/>
  <option timestep=\"0.004\" integrator=\"RK4\" cone=\"elliptic\"/>
  <default>
    <joint damping=\"0.02\"/>
    <default class=\"heavy\"><geom density=\"2000\" friction=\"0.4\"/></default>
  </default>
  <asset><mesh name=\"wedge\" file=\"wedge.obj\"/></asset>
  <worldbody>
    <geom name=\"floor\" type=\"plane\" size=\"5 5 0.1\"/>
    <body name=\"base\" pos=\"0 0 0.6\">
      <joint name=\"lift\" type=\"slide\" axis=\"0 0 1\" ref=\"0.1\"/>
      <geom type=\"box\" size=\"0.1 0.1 0.1\"/>
      <body name=\"arm\" pos=\"0.15 0 0\">
        <joint name=\"yaw\" axis=\"0 0 1\"/>
        <joint name=\"elbow\" axis=\"0 1 0\" pos=\"0.01 0 0\"/>
        <geom type=\"capsule\" fromto=\"0 0 0 0.3 0 0\" size=\"0.03\"/>
        <site name=\"tip\" pos=\"0.3 0 0\"/>
        <body><geom size=\"0.01\" contype=\"0\" conaffinity=\"0\"/></body>
        <body name=\"pad\" pos=\"0.3 0 0\"><geom type=\"sphere\" size=\"0.04\" mass=\"0\"/></body>
        <body name=\"hand\" pos=\"0.35 0 0\">
          <joint name=\"roll\" axis=\"1 0 0\"/>
          <geom type=\"mesh\" mesh=\"wedge\" mass=\"0.3\"/>
        </body>
      </body>
    </body>
    <body name=\"ball\" pos=\"1 0.1 0.3\">
      <freejoint/>
      <geom name=\"shell\" class=\"heavy\" size=\"0.1\" contype=\"0\" conaffinity=\"0\"/>
    </body>
    <body name=\"tied\" pos=\"1 0.1 0.6\">
      <freejoint/>
      <geom type=\"box\" size=\"0.05 0.05 0.05\"/>
    </body>
  </worldbody>
  <tendon><fixed name=\"belt\" stiffness=\"20\" damping=\"0.1\" springlength=\"0.3\">
    <joint joint=\"yaw\" coef=\"1\"/><joint joint=\"roll\" coef=\"-0.5\"/>
  </fixed></tendon>
  <contact><pair geom1=\"floor\" geom2=\"shell\"/></contact>
  <equality><weld body1=\"ball\" body2=\"tied\"/></equality>
  <include file=\"parts/motors.xml\"/>
</mujoco>
<!-- </mujoco> -->
";
    std::fs::write(home.join("robot.xml"), text).unwrap();
    home.join("robot.xml")
}

/// Compares with MuJoCo's own package: every link, to 1e-9. Gives what it says touched.
fn same_as_by_hand(bench: &Bench, file: &Path, n_steps: usize, controls: &[&str]) -> Vec<String> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        eprintln!("skipped: no interpreter with mujoco; ./test installs one");
        return Vec::new();
    };
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign");
    let elsewhere = tempfile::tempdir().unwrap();
    let output = Process::new(python)
        .arg("-B")
        .arg(scripts.join("mujoco_native.py"))
        .arg(file)
        .args([STEP_SECS.to_string(), n_steps.to_string()])
        .args(controls)
        .current_dir(elsewhere.path())
        .output()
        .expect("HEADLAND_PYTHON is an interpreter");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let (contacts, bodies): (Vec<&str>, Vec<&str>) =
        printed.lines().partition(|line| line.starts_with("contact\t"));
    let (mut n_compared, mut worst) = (0, 0.0f64);
    for line in bodies {
        let words: Vec<&str> = line.split('\t').collect();
        let name = if words[1].is_empty() { format!("body_{}", words[0]) } else { words[1].into() };
        let numbers: Vec<f64> = words[2..].iter().map(|word| word.parse().unwrap()).collect();
        let is_it = |body: &headland_sim::Body| body.name.rsplit("::").next() == Some(&name);
        let Some(body_idx) = bench.model.bodies.iter().position(is_it) else { continue };
        let body = &bench.model.bodies[body_idx];
        if bench.model.rigids[body.rigid_idx].body_idxs[0] != body_idx {
            continue;
        }
        let now = &bench.state.rigids[body.rigid_idx];
        let turn = Mat3::from_quat(now.world_from_rigid.rotation).transpose().to_cols_array();
        let ours = now.world_from_rigid.translation.to_array().into_iter().chain(turn);
        let ours = ours.chain(now.twist.angular.to_array()).chain(now.twist.linear.to_array());
        for (ours, theirs) in ours.zip(&numbers) {
            worst = worst.max((ours - theirs).abs());
        }
        n_compared += 1;
    }
    eprintln!("{n_compared} links, off by {worst:e} at most after {n_steps} steps");
    assert!(n_compared > 0 && worst < 1e-9, "{worst:e}");
    contacts.iter().map(|line| line.to_string()).collect()
}

/// The file moves as MuJoCo moves it, tendon and weld included; headland's translation of it
/// has neither and goes elsewhere. Which of the two ran is said.
#[test]
fn a_file_moves_as_by_hand() {
    let Some(version) = version().filter(|v| takes_orders(v)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = robot(folder.path());
    let mut bench = Bench::of(&file, true);
    assert!(bench.said[0].contains("loads `robot.xml` itself"), "{:?}", bench.said);
    assert!(!bench.said.iter().any(|said| said.contains("no name")), "{:?}", bench.said);
    assert!(bench.said[0].contains("0.0015 s instead of the file's 0.004 s"), "{:?}", bench.said);
    bench.steps(800);
    let ball = bench.link("ball");
    assert!(bench.state.contacts.iter().any(|contact| contact.body_b == ball));
    if version == newest() {
        let contacts = same_as_by_hand(&bench, &file, 800, &[]);
        assert_eq!(contacts.len(), bench.state.contacts.len());
    }

    // Two joints of one body: both are measured, and what is between them is where they say.
    let carrier = bench.link("arm_yaw");
    let positions: Vec<f64> = bench.state.dofs.iter().map(|dof| dof.position).collect();
    let yaw = bench.model.find_dof("yaw").unwrap();
    assert!(positions[yaw].abs() > 0.01, "{positions:?}");
    let now = &bench.state.rigids[bench.model.bodies[carrier].rigid_idx];
    let base = bench.state.rigids[bench.model.bodies[bench.link("base")].rigid_idx];
    let up = base.world_from_rigid.vector(Vec3::Z);
    let turned = (now.twist.angular - base.twist.angular).dot(up);
    assert!((turned - bench.state.dofs[yaw].velocity).abs() < 1e-9, "{turned}");

    let mut translated = Bench::of(&file, false);
    assert!(translated.said.iter().any(|said| said.contains("translation of `robot.xml`")));
    translated.steps(800);
    let place = |bench: &Bench| {
        bench.state.rigids[bench.model.bodies[bench.link("tied")].rigid_idx].world_from_rigid
    };
    let gap = (place(&bench).translation - place(&translated).translation).length();
    assert!(gap > 0.05, "without the weld it falls: {gap}");
    // Nothing of ours is left in the user's folder.
    let names = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(names, 2);
}

/// The version of the package that comparisons are made with.
fn newest() -> String {
    let python = std::env::var_os("HEADLAND_PYTHON").unwrap_or_default();
    let asked =
        Process::new(python).args(["-c", "import mujoco; print(mujoco.__version__)"]).output();
    asked.map_or(String::new(), |out| String::from_utf8_lossy(&out.stdout).trim().to_string())
}

/// Commands reach the file's own actuators, with and without a name; through gears and `ref`.
#[test]
fn commands_reach_the_files_actuators() {
    let Some(version) = version().filter(|v| takes_orders(v)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = robot(folder.path());
    let mut bench = Bench::of(&file, true);
    bench.order("lift", Mode::Position, 0.05);
    bench.order("elbow", Mode::Effort, -1.5);
    bench.order("roll", Mode::Velocity, 2.0);
    bench.steps(300);
    if version == newest() {
        // A position is geared and counted from where MuJoCo's is zero, an effort is geared.
        let controls = ["servo", "0.3", "1", "-0.5", "roller", "2"];
        same_as_by_hand(&bench, &file, 300, &controls);
    }
    // What a servo cannot do is said, not done in some other way.
    bench.order("lift", Mode::Effort, 1.0);
    let Fault(words) = bench.step().expect_err("a position servo takes no effort");
    assert!(words.contains("lift") && words.contains("effort"), "{words}");
}

/// A force on a link accelerates it, also where headland's centre of mass is another.
#[test]
fn forces_reach_bodies_and_axes() {
    let Some(_) = version().filter(|v| takes_orders(v)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.xml");
    let text = "<mujoco><option gravity=\"0 0 0\" timestep=\"0.0015\"/><worldbody>
      <body name=\"a\"><freejoint/><geom type=\"box\" size=\".1 .1 .1\" mass=\"1\"/>
        <body name=\"b\" pos=\"1 0 0\"><geom type=\"box\" size=\".1 .1 .1\" mass=\"1\"/></body></body>
      <body name=\"c\" pos=\"0 3 0\"><joint name=\"slide\" type=\"slide\" axis=\"1 0 0\"/>
        <geom size=\".1\" mass=\"2\"/></body>
    </worldbody></mujoco>";
    std::fs::write(&file, text).unwrap();
    let mut bench = Bench::of(&file, true);
    let rigid_idx = bench.model.bodies[bench.link("a")].rigid_idx;
    let force = Vec3::new(0.0, 4.0, 0.0);
    bench.inputs.wrenches = vec![Wrench { rigid_idx, force, torque: Vec3::ZERO }];
    bench.inputs.efforts[bench.model.find_dof("slide").unwrap()] = 3.0;
    bench.steps(100);
    let (t, now) = (0.15, &bench.state.rigids[rigid_idx]);
    assert!(now.twist.angular.length() < 1e-9, "pushed at its centre: {:?}", now.twist);
    assert!((now.twist.linear - Vec3::Y * (4.0 / 2.0 * t)).length() < 1e-9, "{:?}", now.twist);
    let slide = bench.state.dofs[bench.model.find_dof("slide").unwrap()].velocity;
    assert!((slide - 3.0 / 2.0 * t).abs() < 1e-9, "{slide}");
}

/// Bodies without a name are found by their number; what they stand on carries their weight.
/// Every version does it.
#[test]
fn bodies_need_no_name() {
    let Some(version) = version() else { return };
    let folder = tempfile::tempdir().unwrap();
    for name in ["", "name=\"box\""] {
        let file = folder.path().join("box.xml");
        let text = format!(
            "<mujoco><option timestep=\"0.002\"/><worldbody><geom type=\"plane\" size=\"2 2 .1\"/>
               <body {name} pos=\"0 0 0.2\"><freejoint/><geom type=\"box\" size=\".1 .1 .1\"/>
                 <body><geom size=\".02\" pos=\"0 0 .2\"/></body></body>
               <body pos=\"1 0 0.2\"><freejoint/><geom size=\".1\" mass=\"0.5\"/></body>
             </worldbody></mujoco>"
        );
        std::fs::write(&file, text).unwrap();
        let mut bench = Bench::of(&file, true);
        bench.steps(1500);
        if version == newest() {
            let contacts = same_as_by_hand(&bench, &file, 1500, &[]);
            assert_eq!(contacts.len(), bench.state.contacts.len());
        }
        let up: f64 = bench.state.contacts.iter().map(|contact| contact.force.z).sum();
        let moving = bench.model.rigids.iter().filter(|rigid| rigid.motion == Motion::Dynamic);
        let mass: f64 = moving.map(|rigid| rigid.mass).sum();
        assert!((up / (mass * 9.81) - 1.0).abs() < 1e-3, "{up} N on {mass} kg: {version}");
        let ball = bench.link("body_3");
        assert!(bench.state.contacts.iter().any(|contact| contact.body_b == ball));
    }
}

/// A file that MuJoCo does not take is refused before the run, with its words and the user's
/// own path.
#[test]
fn what_mujoco_refuses_is_said() {
    let Some(_) = version() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.xml");
    // Headland's reader keeps tendons as they are; MuJoCo looks for the joint.
    let text =
        "<mujoco><worldbody><body name=\"a\"><freejoint/><geom size=\".1\"/></body></worldbody>
      <tendon><fixed><joint joint=\"nowhere\" coef=\"1\"/></fixed></tendon></mujoco>";
    std::fs::write(&file, text).unwrap();
    let read = read(&file, &ReadOptions::default()).expect("headland takes it");
    let model = Model::compile_read(&Arc::new(read.world), &read.places).unwrap();
    let said = (ENTRY.make)(&ENTRY).check(&model, &options(true));
    let refused = said.iter().find(|d| d.severity == Severity::Error).expect("refused");
    assert_eq!(refused.code, "engine-cannot");
    assert!(refused.message.contains("nowhere"), "{}", refused.message);
    assert!(!refused.message.contains("headland-mujoco"), "{}", refused.message);
    let translated = (ENTRY.make)(&ENTRY).check(&model, &options(false));
    assert!(translated.iter().all(|d| d.severity != Severity::Error), "{translated:?}");
}

/// The same twice is the same to the bit.
#[test]
fn the_same_twice_is_the_same_bytes() {
    let Some(_) = version().filter(|v| takes_orders(v)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = robot(folder.path());
    let once = || {
        let mut bench = Bench::of(&file, true);
        bench.steps(400);
        bench.state
    };
    let (first, second) = (once(), once());
    assert_eq!(first, second);
}
