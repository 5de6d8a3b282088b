use super::*;
use crate::JointKind;
use headland_base::{Mat3, Severity};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[test]
fn cases() {
    crate::cases::run("mjcf_cases", "model.xml", read);
}

fn read_text(text: &str) -> (Option<World>, Vec<Diagnostic>) {
    let mut findings = Findings::new();
    let source = Source::new("model.xml", text);
    let world = read(&source, Path::new("."), &ReadOptions::default(), &mut findings);
    (world.map(|(world, _)| world), findings.into_vec())
}

fn world_of(body: &str) -> World {
    let (world, findings) = read_text(&format!("<mujoco><worldbody>{body}</worldbody></mujoco>"));
    world.unwrap_or_else(|| panic!("{findings:?}"))
}

/// The same capsule said in three ways has the same mass and inertia in the world.
#[test]
fn fromto_pose_and_frame_say_the_same() {
    let ways = [
        "<body name='b'><freejoint/><geom type='capsule' size='0.1' fromto='1 0 0 1 0.6 0'/></body>",
        "<body name='b'><freejoint/><geom type='capsule' size='0.1 0.3' pos='1 0.3 0' euler='90 0 0'/></body>",
        "<body name='b'><freejoint/><frame pos='1 0 0'><geom type='capsule' size='0.1' fromto='0 0 0 0 0.6 0'/></frame></body>",
    ];
    let inertia = |world: &World| {
        let link = &world.models[0].links[0];
        assert_eq!(link.collisions.len(), 1);
        let (at, inertial) =
            (link.model_from_link * link.inertial.link_from_inertial, &link.inertial);
        let turn = Mat3::from_quat(at.rotation);
        (inertial.mass, at.translation, turn * inertial.inertia * turn.transpose())
    };
    let all: Vec<_> = ways.iter().map(|way| inertia(&world_of(way))).collect();
    for (mass, centre, moments) in &all {
        assert!(
            (mass - all[0].0).abs() < 1e-12 && centre.distance(Vec3::new(1.0, 0.3, 0.0)) < 1e-12
        );
        assert!((*moments - all[0].2).to_cols_array().iter().all(|x| x.abs() < 1e-12));
    }
}

/// Links between the joints of one body take mass from it, and none is made or lost.
#[test]
fn a_chain_of_joints_weighs_what_the_body_weighs() {
    let world = world_of(
        "<body name='b'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='hinge'/>\
         <joint name='y' axis='0 2 0' range='-90 45' ref='10'/>\
         <geom type='box' size='0.5 0.5 0.5' mass='3'/></body>",
    );
    let model = &world.models[0];
    let names: Vec<&str> = model.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["b_x", "b_z", "b"]);
    let total: f64 = model.links.iter().map(|link| link.inertial.mass).sum();
    assert!((total - 3.0).abs() < 1e-12);
    let parents: Vec<_> = model.joints.iter().map(|joint| joint.parent.as_deref()).collect();
    assert_eq!(parents, [None, Some("b_x"), Some("b_z")]);
    let JointKind::Revolute(axis) = &model.joints[2].kind else { panic!("{:?}", model.joints[2]) };
    assert!((axis.lower + 100f64.to_radians()).abs() < 1e-12);
    assert!((axis.upper - 35f64.to_radians()).abs() < 1e-12);
    assert_eq!(axis.direction, Vec3::Y);
}

const CORNERS: &str = "0 0 0 0.4 0 0 0 0.6 0 0.4 0.6 0 0 0 1 0.4 0 1 0 0.6 1 0.4 0.6 1";
const FACES: &str = "0 2 3 0 3 1 4 5 7 4 7 6 0 1 5 0 5 4 2 6 7 2 7 3 0 4 6 0 6 2 1 3 7 1 7 5";

fn mesh_world(attributes: &str) -> World {
    let text = format!(
        "<mujoco><asset><mesh name='m' vertex='{CORNERS}' face='{FACES}' {attributes}/></asset>\
         <worldbody><body name='b'><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
    );
    let (world, findings) = read_text(&text);
    world.unwrap_or_else(|| panic!("{findings:?}"))
}

/// On a convex body every pyramid counts the same way round, so both roads are the box.
#[test]
fn a_mesh_of_a_box_weighs_what_the_box_weighs() {
    let boxed = world_of(
        "<body name='b'><freejoint/><geom type='box' size='0.2 0.3 0.5' pos='0.2 0.3 0.5'/></body>",
    );
    let wanted = &boxed.models[0].links[0].inertial;
    for attributes in ["", "inertia='exact'", "inertia='legacy'"] {
        let found = mesh_world(attributes);
        let found = &found.models[0].links[0].inertial;
        let shift = found.link_from_inertial.translation - wanted.link_from_inertial.translation;
        assert!((found.mass - wanted.mass).abs() < 1e-9 && shift.length() < 1e-12);
        let off = (found.inertia - wanted.inertia).to_cols_array();
        assert!(off.iter().all(|x| x.abs() < 1e-9), "{attributes}: {off:?}");
    }
}

/// A box of thin walls: 2(ab + bc + ca) of surface.
#[test]
fn a_shell_weighs_its_surface() {
    let world = mesh_world("inertia='shell'");
    let area = 2.0 * (0.4 * 0.6 + 0.6 * 1.0 + 1.0 * 0.4);
    assert!((world.models[0].links[0].inertial.mass - 1000.0 * area).abs() < 1e-9);
}

/// `refpos` and `refquat` say which point and direction of the file is the geom's frame.
#[test]
fn a_reference_moves_the_mesh_back() {
    let plain = mesh_world("");
    let moved = mesh_world("refpos='1 2 3' refquat='0.5 0.5 0.5 0.5'");
    let centre = |world: &World| world.models[0].links[0].inertial.link_from_inertial.translation;
    // x, y, z of the reference are y, z, x of the file.
    let at = centre(&plain) - Vec3::new(1.0, 2.0, 3.0);
    assert!(centre(&moved).distance(Vec3::new(at.y, at.z, at.x)) < 1e-12);
}

const WHOLE: &str = include_str!("../../tests/mjcf_cases/everything.txt");

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        rng_seed: RngSeed::Fixed(13),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever happens to the text, the answer is a world or at least one error.
    #[test]
    fn broken_text_never_breaks_us(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[ -~]{0,3}"), 1..8),
    ) {
        let text = WHOLE.split("-- file --\n").nth(1).unwrap().split("-- answer --").next().unwrap();
        let mut text: Vec<char> = text.chars().collect();
        for (at, with) in edits {
            let at = at.index(text.len());
            text.splice(at..(at + 2).min(text.len()), with.chars());
        }
        let (world, findings) = read_text(&text.into_iter().collect::<String>());
        let has_error = findings.iter().any(|d| d.severity == Severity::Error);
        prop_assert_eq!(world.is_none(), has_error);
    }
}
