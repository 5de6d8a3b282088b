use std::path::Path;

use headland_base::Diagnostic;

use super::*;
use crate::{Places, ReadOptions, check, read, sdf};

fn shipped(name: &str) -> World {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds").join(name);
    read(&path, &ReadOptions::default()).expect("a sound world").world
}

fn again(world: &World) -> World {
    let text = sdf::write(world);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.sdf");
    std::fs::write(&path, text).unwrap();
    read(&path, &ReadOptions::default()).unwrap_or_else(|found| panic!("{found:?}")).world
}

/// A world with a joint of two axes, motors of every kind, and two models of one kind.
const TWINS: &str = "<sdf version='1.11' xmlns:headland='urn:headland:sdf'><world name='twins'>
  <model name='left'><link name='arm'><inertial><mass>2</mass>
     <inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia></inertial>
     <collision name='a'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
     <collision name='b'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
   </link>
   <joint name='elbow' type='universal'><parent>world</parent><child>arm</child>
     <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint></model>
  <model name='right'><pose>1 0 0 0 0 0</pose><link name='arm'><inertial><mass>2</mass>
     <inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia></inertial>
     <collision name='a'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
   </link>
   <joint name='slide' type='prismatic'><parent>world</parent><child>arm</child>
     <axis><xyz>1 0 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
   <headland:actuator name='servo' joint='slide' type='position' kp='10' kv='1'/></model>
</world></sdf>";

fn twins() -> World {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twins.sdf");
    std::fs::write(&path, TWINS).unwrap();
    read(&path, &ReadOptions::default()).unwrap_or_else(|found| panic!("{found:?}")).world
}

/// Another value that is fit for the number.
fn another(parameter: &Parameter, now: Option<f64>) -> f64 {
    let path = parameter.path();
    let now = now.filter(|x| x.is_finite()).unwrap_or(2.0);
    match path.rsplit('/').next().unwrap() {
        "restitution" => 0.625,
        "step" => 0.002,
        "ixy" | "ixz" | "iyz" => now + 1e-5,
        "ixx" | "iyy" | "izz" => now * 1.001,
        "lower" => -0.75,
        "upper" | "initial_position" => 0.5,
        _ => now * 1.25 + 0.125,
    }
}

/// Every number of every world: set, written, read and asked for again, and nothing else of the
/// world has changed that the number does not stand for.
#[test]
fn every_path_goes_through_sdf() {
    let mut seen = std::collections::BTreeSet::new();
    for world in
        [shipped("pendulum.sdf"), shipped("double_pendulum.sdf"), shipped("gripper.sdf"), twins()]
    {
        let all = list(&world);
        for parameter in &all {
            let mut subject = Subject { world: world.clone(), settings: Settings::default() };
            let value = another(parameter, parameter.get(&subject));
            parameter.set(&mut subject, value).unwrap_or_else(|e| panic!("{parameter:?}: {e:?}"));
            if parameter.is_of_world() {
                subject.world = again(&subject.world);
            }
            let found = parameter.get(&subject).expect("it was set");
            let exact =
                !parameter.path().contains("pseudo") && !parameter.path().ends_with("trace");
            let slack = if exact { 0.0 } else { 1e-12 * (1.0 + value.abs()) };
            assert!((found - value).abs() <= slack, "{parameter:?}: {found} for {value}");
            seen.insert(parameter.path().rsplit('/').next().unwrap().to_string());
            // The path that is shown finds it again, and so does every other spelling.
            assert_eq!(find(&world, parameter.path()).unwrap(), std::slice::from_ref(parameter));
            assert_eq!(
                find(&world, parameter.whole_path()).unwrap(),
                std::slice::from_ref(parameter)
            );
        }
    }
    // Sometimes, too: each kind was met.
    for name in [
        "mass",
        "trace",
        "t3",
        "x",
        "damping",
        "effort",
        "mu",
        "restitution",
        "step",
        "kp",
        "kv",
        "delay",
        "armature",
    ] {
        assert!(seen.contains(name), "{name} was never met");
    }
}

#[test]
fn models_are_named_where_several_have_it() {
    let world = twins();
    let code = |path| find(&world, path).map(|found| found.len()).map_err(|e: Diagnostic| e.code);
    assert_eq!(code("link/arm/inertial/mass"), Err("ambiguous-parameter"));
    assert_eq!(code("model/left/link/arm/inertial/mass"), Ok(1));
    assert_eq!(code("right/link/arm/inertial/mass"), Ok(1));
    assert_eq!(code("model/joint/slide/dynamics/damping"), Ok(1));
    assert_eq!(code("joint/elbow/axis2/dynamics/damping"), Ok(1));
    assert_eq!(code("joint/elbow/dynamics/damping"), Err("unknown-path"));
    assert_eq!(code("*/arm/inertial/mass"), Ok(2));
    assert_eq!(code("surface/*/mu"), Ok(3));
    assert_eq!(code("surface/mu"), Ok(3));
    assert_eq!(code("surface/arm/a/mu"), Err("ambiguous-parameter"));
    assert_eq!(code("model/right/surface/arm/mu"), Err("unknown-path"));
    assert_eq!(code("surface/arm/mu"), Ok(1), "the only arm with one shape");
    assert_eq!(code(""), Err("unknown-path"));
    let slide = &find(&world, "joint/slide/dynamics/damping").unwrap()[0];
    assert_eq!(slide.unit(&Subject { world, ..Subject::default() }), "N·s/m");
}

#[test]
fn the_nearest_is_named() {
    let help = |path| find(&shipped("pendulum.sdf"), path).unwrap_err().help.unwrap();
    assert_eq!(help("link/bob/inertial/mas"), "did you mean `link/bob/inertial/mass`?");
    assert_eq!(help("joint/hinge/dynamic/damping"), "did you mean `joint/hinge/dynamics/damping`?");
    assert!(help("mass").contains("`link/bob/inertial/mass`"), "{}", help("mass"));
    assert!(help("colour").contains("link/, joint/"));
}

#[test]
fn what_no_body_has_is_refused_and_nothing_changes() {
    let world = shipped("pendulum.sdf");
    let mut subject = Subject { world, settings: Settings::default() };
    let before = subject.clone();
    for (path, value, code) in [
        ("link/bob/inertial/mass", 0.0, "bad-value"),
        ("link/bob/inertial/mass", f64::NAN, "bad-value"),
        ("link/bob/inertial/inertia/ixx", 1.0, "bad-inertia"),
        ("link/bob/inertial/inertia/ixy", 0.5, "bad-inertia"),
        ("joint/hinge/dynamics/damping", -1.0, "bad-value"),
        ("surface/bob/restitution", 1.5, "bad-value"),
        ("physics/step", 0.0, "bad-value"),
    ] {
        let parameter = &find(&subject.world, path).unwrap()[0];
        assert_eq!(parameter.set(&mut subject, value).unwrap_err().code, code, "{path}");
    }
    assert_eq!(subject, before);
}

/// Values that are set in the order of the list all hold.
#[test]
fn what_scales_comes_first() {
    let world = shipped("pendulum.sdf");
    let mut subject = Subject { world, settings: Settings::default() };
    let wanted = [
        ("link/bob/inertial/mass_scaled", 3.0),
        ("link/bob/inertial/com/x", 0.25),
        ("link/bob/inertial/inertia/iyy", 0.03),
    ];
    let mut found: Vec<_> = wanted
        .iter()
        .rev()
        .map(|(path, value)| (find(&subject.world, path).unwrap().remove(0), *value))
        .collect();
    found.sort_by_key(|(parameter, _)| parameter.order());
    for (parameter, value) in &found {
        parameter.set(&mut subject, *value).unwrap();
    }
    assert!(found.iter().all(|(parameter, value)| parameter.get(&subject) == Some(*value)));
    let errors = check::check(&subject.world, &Places::default());
    assert!(errors.iter().all(|d| d.severity != headland_base::Severity::Error), "{errors:?}");
}
