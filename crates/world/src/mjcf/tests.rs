use super::*;
use crate::read::{Format, foreign};
use crate::{ActuatorKind, JointKind};
use headland_base::{Mat3, Severity};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::fs;

#[test]
fn cases() {
    crate::cases::run("mjcf_cases", "model.xml", |source, base_dir, options, findings| {
        foreign(Format::Mjcf, source, base_dir, options, findings)
    });
}

/// The reader alone, without what its defects hide.
fn read(
    source: &Arc<Source>,
    base_dir: &Path,
    options: &ReadOptions,
    findings: &mut Findings,
) -> Option<(World, Places)> {
    with_includes(source, base_dir, findings, |expanded, findings| {
        read_whole(expanded, base_dir, options, findings)
    })
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

/// What stands in the file itself, or is stretched after it was read, is written out, so
/// that it can be read again.
#[test]
fn shapes_without_a_file_come_back() {
    let text = format!(
        "<mujoco><asset><mesh name='m' vertex='{CORNERS}' face='{FACES}' scale='2 1 0.5'/>\
         <hfield name='h' nrow='2' ncol='3' size='4 3 0.5 0.1' elevation='0 1 2 3 4 5'/></asset>\
         <worldbody><geom type='hfield' hfield='h'/><body name='b'><freejoint/>\
         <geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
    );
    let (world, findings) = read_text(&text);
    let world = world.unwrap_or_else(|| panic!("{findings:?}"));
    let source = Source::new("again.sdf", crate::sdf::write(&world));
    match crate::read_text(source.clone(), Path::new(""), &ReadOptions::default()) {
        Ok(again) => assert_eq!(again.world, world),
        Err(findings) => panic!("{}\n{}", findings[0].render(false), source.text),
    }
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

fn read_in(folder: &Path, text: &str) -> (Option<World>, Vec<&'static str>) {
    let mut findings = Findings::new();
    let source = Source::new(folder.join("model.xml").to_str().unwrap(), text);
    let world = read(&source, folder, &ReadOptions::default(), &mut findings);
    (world.map(|(world, _)| world), findings.into_vec().iter().map(|d| d.code).collect())
}

/// Files that each include the next one ten times and say nothing else: 10^12 visits, if
/// nobody counts.
#[test]
fn an_include_bomb_is_defused() {
    let folder = tempfile::tempdir().unwrap();
    for i in 0..12 {
        let text =
            format!("<mujoco>{}</mujoco>", format!("<include file='f{}.xml'/>", i + 1).repeat(10));
        fs::write(folder.path().join(format!("f{i}.xml")), text).unwrap();
    }
    fs::write(folder.path().join("f12.xml"), "<mujoco/>").unwrap();
    let (world, codes) = read_in(folder.path(), "<mujoco><include file='f0.xml'/></mujoco>");
    assert!(world.is_none() && codes.contains(&"too-many-includes"), "{codes:?}");
}

/// A long chain of files is too deep, which is not the same as going round.
#[test]
fn a_chain_of_files_ends_somewhere() {
    let folder = tempfile::tempdir().unwrap();
    for i in 0..30 {
        let text = format!("<mujoco><include file='f{}.xml'/></mujoco>", i + 1);
        fs::write(folder.path().join(format!("f{i}.xml")), text).unwrap();
    }
    let (_, codes) = read_in(folder.path(), "<mujoco><include file='f0.xml'/></mujoco>");
    assert_eq!(codes, ["include-too-deep"]);
}

/// Small files that are read for nothing but their size.
#[test]
fn what_stands_outside_the_root_of_an_included_file_counts_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("<!--{}--><mujoco/>", "x".repeat(8 << 20));
    fs::write(folder.path().join("large.xml"), text).unwrap();
    let nine = format!("<mujoco>{}</mujoco>", "<include file='large.xml'/>".repeat(9));
    assert_eq!(read_in(folder.path(), &nine).1, ["too-large"; 2], "the eighth and the ninth");
}

/// What belongs to another namespace is nobody's body, and no file is read for it.
#[test]
fn elements_of_other_namespaces_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let part = "<mujoco><worldbody><body/><geom size='1'/></worldbody><actuator/></mujoco>";
    fs::write(folder.path().join("part.xml"), part).unwrap();
    let text = "<mujoco xmlns:x='urn:x'><worldbody><x:include file='part.xml'/><x:body/>\
                <x:geom size='9'/><geom name='mine' size='1'/><body name='b'><joint name='j'/>\
                <geom size='1'/></body></worldbody>\
                <actuator><x:motor joint='no'/><motor name='m' joint='j'/></actuator></mujoco>";
    let (world, codes) = read_in(folder.path(), text);
    let world = world.unwrap_or_else(|| panic!("{codes:?}"));
    let names: Vec<&str> = world.models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["worldbody", "b"]);
    assert_eq!(world.models[0].links[0].collisions.len(), 1);
    assert_eq!(world.models[1].actuators.len(), 1);
}

/// Bits meet bits: MuJoCo's default of 1 must not meet bit 2, nor lose the high ones.
#[test]
fn contact_bits_are_kept() {
    let masks = |attributes: &str| {
        let body = format!("<geom size='1' {attributes}/>");
        let surface = world_of(&body).models[0].links[0].collisions[0].surface.clone();
        (surface.category_bitmask(), surface.collide_bitmask())
    };
    assert_eq!(masks(""), (1, 1));
    assert_eq!(masks("conaffinity='0'"), (1, 0));
    assert_eq!(masks("contype='2' conaffinity='4'"), (2, 4));
    assert_eq!(masks("contype='2147483648' conaffinity='0'"), (1 << 31, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(24), ..ProptestConfig::default() })]

    /// Who may touch whom is MuJoCo's rule, whatever the masks, and still is in the SDF that is
    /// written of it.
    #[test]
    fn masks_meet_by_the_rule_of_mujoco(masks in prop::collection::vec((0_u32..8, 0_u32..8), 2..7)) {
        let bodies: String = (masks.iter().enumerate())
            .map(|(i, (contype, conaffinity))| {
                format!("<body name='b{i}'><freejoint/>\
                         <geom size='1' contype='{contype}' conaffinity='{conaffinity}'/></body>")
            })
            .collect();
        let (world, findings) =
            read_text(&format!("<mujoco><worldbody>{bodies}</worldbody></mujoco>"));
        prop_assert!(findings.is_empty(), "{findings:?}");
        let world = world.expect("a world");
        let source = Source::new("again.sdf", crate::sdf::write(&world));
        let again = crate::read_text(source, Path::new("."), &ReadOptions::default()).expect("SDF");
        for world in [&world, &again.world] {
            let surface = |i: usize| world.models[i].links[0].collisions.first().map(|c| &c.surface);
            for (i, a) in masks.iter().enumerate() {
                for (j, b) in masks.iter().enumerate() {
                    let wanted = (a.0 & b.1) | (b.0 & a.1) != 0;
                    let meet = surface(i).zip(surface(j)).is_some_and(|(a, b)| a.masks_meet(b));
                    prop_assert_eq!(meet, wanted, "{:?} and {:?}", a, b);
                }
            }
        }
    }
}

fn motors_of(actuators: &str) -> Vec<crate::Actuator> {
    let text = format!(
        "<mujoco><worldbody><body name='b'><joint name='j'/><geom size='1'/>\
         <body name='c'><joint name='ball' type='ball'/><geom size='1'/></body></body></worldbody>\
         <actuator>{actuators}</actuator></mujoco>"
    );
    let (world, findings) = read_text(&text);
    world.unwrap_or_else(|| panic!("{findings:?}")).models.remove(0).actuators
}

/// MuJoCo: joint effort = gear · clamp(gain · command, forcerange). Here the gear is that of
/// both, and what a range allows at the joint must be the same.
#[test]
fn a_force_range_bounds_what_the_gain_gives() {
    let motors = motors_of(
        "<general joint='j' gear='3' gainprm='50' forcerange='-10 20'/>\
         <general joint='j' gear='3' gainprm='-50' forcerange='-10 20'/>\
         <motor joint='j' gear='3' forcerange='-10 20'/>\
         <general joint='j' gainprm='0'/><motor joint='ball'/>",
    );
    let at_joint = |motor: &crate::Actuator| {
        let (low, high) = motor.effort_range.unwrap();
        let (a, b) = (low * motor.gear, high * motor.gear);
        (a.min(b).round(), a.max(b).round())
    };
    assert_eq!(motors.iter().map(|motor| motor.gear).collect::<Vec<_>>(), [150.0, -150.0, 3.0]);
    assert!(motors.iter().all(|motor| at_joint(motor) == (-30.0, 60.0)), "{motors:?}");
}

/// Motors without a name, all on one joint: each gets its own, and no longer than needed.
#[test]
fn ten_thousand_motors_on_one_joint_have_names() {
    let motors = motors_of(&"<motor joint='j'/>".repeat(10_000));
    let names: std::collections::BTreeSet<&str> =
        motors.iter().map(|motor| motor.name.as_str()).collect();
    assert_eq!(names.len(), 10_000);
    assert!(names.iter().all(|name| name.len() < 20));
}

/// Thousands of motors on joints that are not there, and of excludes: told in no time.
#[test]
fn a_flood_of_wrong_names_is_bounded() {
    let n = 6_000;
    let bodies: String = (0..n)
        .map(|i| format!("<body name='body_{i}'><joint name='joint_{i}'/><geom size='1'/></body>"))
        .collect();
    let motors: String = (0..n).map(|i| format!("<motor joint='jiont_{i}'/>")).collect();
    let excludes: String =
        (0..n).map(|i| format!("<exclude body1='bdoy_{i}' body2='body_{i}'/>")).collect();
    let (world, findings) = read_text(&format!(
        "<mujoco><worldbody>{bodies}</worldbody><contact>{excludes}</contact>\
         <actuator>{motors}</actuator></mujoco>"
    ));
    assert!(world.is_some(), "the rest of it is looked at");
    assert_eq!(findings.len(), Findings::MOST + 1);
    assert_eq!(findings[0].help.as_deref(), Some("did you mean `joint_0`?"));
}

/// Switches and limits that used to be passed over.
#[test]
fn flags_and_ranges_are_honoured() {
    let model = |flags: &str| {
        format!(
            "<mujoco><option><flag {flags}/></option>\
             <default><joint actuatorfrcrange='-5 5' damping='2'/>\
             <default class='twice'><position inheritrange='2'/></default></default>\
             <worldbody><body name='a' gravcomp='1'><joint name='q' range='-90 30'/>\
             <geom size='1' condim='1'/></body></worldbody>\
             <actuator><position class='twice' joint='q'/></actuator></mujoco>"
        )
    };
    let read = |flags: &str| read_text(&model(flags)).0.expect("a world");
    let axis = |world: &World| world.models[0].joints[0].kind.axes()[0].clone();
    let surface = |world: &World| world.models[0].links[0].collisions[0].surface.clone();

    let plain = read("");
    assert_eq!((axis(&plain).effort_max, axis(&plain).damping), (5.0, 2.0));
    assert_eq!((surface(&plain).mu(), surface(&plain).collide_bitmask()), (0.0, 1));
    assert!(!plain.models[0].links[0].gravity);
    // From -90 to 30 degrees, and as far again to both sides.
    let (low, high) = plain.models[0].actuators[0].command_range.expect("a range");
    assert!((low.to_degrees() + 150.0).abs() < 1e-9 && (high.to_degrees() - 90.0).abs() < 1e-9);

    let off = read("gravity='disable' constraint='disable' passive='disable'");
    assert_eq!(off.gravity, Vec3::ZERO);
    assert_eq!((axis(&off).damping, axis(&off).upper), (0.0, f64::INFINITY));
    assert_eq!(surface(&off).collide_bitmask(), 0);
    assert!(read("actuation='disable'").models[0].actuators.is_empty());
    assert_eq!(read("clampctrl='disable'").models[0].actuators[0].command_range, None);
}

/// Of a pair the larger dimension counts, so what only pushes its own kind rubs on a floor.
#[test]
fn one_contact_dimension_rubs_on_a_floor_of_three() {
    let model = |floor: &str| {
        format!(
            "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' {floor}/>\
             <body name='a'><freejoint/><geom size='1' condim='1' friction='0.7'/></body>\
             </worldbody></mujoco>"
        )
    };
    for (floor, mu, n_told) in [
        ("condim='3'", 0.7, 1),
        ("condim='1'", 0.0, 0),
        ("condim='3' contype='2' conaffinity='2'", 0.0, 0),
        ("condim='3' contype='2' conaffinity='1'", 0.7, 1),
    ] {
        let (world, findings) = read_text(&model(floor));
        let world = world.expect("a world");
        let of_body = &world.models[1].links[0].collisions[0].surface;
        assert_eq!(of_body.mu(), mu, "{floor}");
        let told = findings.iter().filter(|one| one.code == "contact-friction").count();
        assert_eq!(told, n_told, "{floor}");
    }
}

const WHOLE: &str = include_str!("../../tests/mjcf_cases/everything.txt");

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases::n_random(600),
        rng_seed: RngSeed::Fixed(13),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever happens to the text, the answer is a world or at least one error.
    #[test]
    fn broken_text_never_breaks_us(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[ -~]{0,3}"), 1..8),
    ) {
        let (world, findings) = read_text(&crate::cases::broken(WHOLE, edits));
        let has_error = findings.iter().any(|d| d.severity == Severity::Error);
        prop_assert!(world.is_some() || has_error);
    }

    /// Whichever way files include each other, the answer is a world or at least one error.
    #[test]
    fn includes_in_any_order_never_break_us(
        files in prop::collection::vec(prop::collection::vec(0..PIECES.len(), 0..8), 3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let texts: Vec<String> = files
            .iter()
            .map(|pieces| pieces.iter().map(|i| PIECES[*i]).collect::<String>())
            .collect();
        let (root, rest) = texts.split_first().unwrap();
        for (name, text) in ["a.xml", "b.xml"].iter().zip(rest) {
            let around = if text.len() % 2 == 0 { "mujoco" } else { "include" };
            fs::write(folder.path().join(name), format!("<{around}>{text}</{around}>")).unwrap();
        }
        let text = format!("<mujoco xmlns:x='urn:x'><worldbody>{root}</worldbody></mujoco>");
        let (world, codes) = read_in(folder.path(), &text);
        prop_assert!(world.is_some() || !codes.is_empty());
    }
}

/// What files of includes are made of.
const PIECES: &[&str] = &[
    "<include file='a.xml'/>",
    "<include file='b.xml'/>",
    "<include file='a.xml'><include file='b.xml'/></include>",
    "<include><body/></include>",
    "<x:include file='b.xml'/>",
    "<body><geom size='1'/><include file='b.xml'/></body>",
    "<body/>",
    "<frame><body/></frame>",
    " ",
];

/// What MJCF gives as ratios, against the masses worked out by hand.
#[test]
fn ratios_become_springs_and_dampers() {
    let read = |bodies: &str, motors: &str| {
        let (world, findings) = read_text(&format!(
            "<mujoco><compiler angle='radian'/><worldbody>{bodies}</worldbody>\
             <actuator>{motors}</actuator></mujoco>"
        ));
        (world.expect("a world"), findings)
    };
    let spring = |world: &World, joint: &str| {
        let joint = world.models[0].joints.iter().find(|known| known.name == joint);
        let axis = joint.expect("a joint").kind.axes()[0].clone();
        (axis.spring_stiffness, axis.damping, axis.spring_reference)
    };
    let near = |found: f64, wanted: f64| {
        assert!((found - wanted).abs() < 1e-9 * wanted, "{found} for {wanted}");
    };

    // Two rods end to end along x on hinges about y, the first held by the world. While all
    // others are free, a joint of two feels M11 − M12²/M22.
    let (m1, m2, i1, i2, armature) = (2.0, 3.0, 0.1, 0.2, 0.05);
    let (x1, x2) = (0.5, 1.4); // of the two centres; the second hinge is at 1
    let rods = format!(
        "<body name='a'><joint name='p' axis='0 1 0' springdamper='0.1 2' springref='0.3' \
           armature='{armature}' stiffness='9' damping='9'/>\
         <inertial pos='{x1} 0 0' mass='{m1}' diaginertia='{i1} {i1} {i1}'/>\
         <body name='b' pos='1 0 0'><joint name='q' axis='0 1 0' springdamper='0 2' stiffness='7'/>\
         <inertial pos='{} 0 0' mass='{m2}' diaginertia='{i2} {i2} {i2}'/></body></body>",
        x2 - 1.0
    );
    let servo = "<position name='s' joint='p' kp='100' dampratio='0.5'/>";
    let (world, findings) = read(&rods, servo);
    assert!(findings.iter().all(|d| d.code != "left-out"), "{findings:?}");
    let m11 = m1 * x1 * x1 + i1 + m2 * x2 * x2 + i2 + armature;
    let (m22, m12) = (m2 * 0.4 * 0.4 + i2, m2 * x2 * 0.4 + i2);
    let felt = m11 - m12 * m12 / m22;
    let (stiffness, damping, reference) = spring(&world, "p");
    near(stiffness, felt / (0.1 * 0.1 * 2.0 * 2.0));
    near(damping, 2.0 * felt / 0.1);
    near(reference, 0.3);
    assert_eq!(spring(&world, "q").0, 7.0, "a time constant of zero says nothing");
    // A servo takes the other joints for held.
    let ActuatorKind::Position { kv, .. } = world.models[0].actuators[0].kind else { panic!() };
    near(kv, 2.0 * 0.5 * (100.0 * m11).sqrt());

    // On a free body of 3 kg a slider of 1 kg feels the reduced mass, 3·1/(3+1).
    let slider = "<body name='a'><freejoint/><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>\
         <body name='b'><joint name='p' type='slide' axis='1 0 0' springdamper='0.5 1'/>\
         <inertial pos='0.2 0 0' mass='1' diaginertia='1 1 1'/></body></body>";
    let motors = "<position joint='p' kp='100' dampratio='1' gear='2'/>\
         <general joint='p' gainprm='100' biastype='affine' biasprm='0 -100 1'/>\
         <position joint='p' kp='100' dampratio='1' kv='3'/>";
    let (world, findings) = read(slider, motors);
    near(spring(&world, "p").0, 0.75 / 0.25);
    near(spring(&world, "p").1, 2.0 * 0.75 / 0.5);
    // Through a gear of 2 the kilogram is a quarter.
    for (actuator, wanted) in world.models[0].actuators.iter().zip([10.0, 20.0]) {
        let ActuatorKind::Position { kv, .. } = actuator.kind else { panic!() };
        near(kv, wanted);
    }
    let codes: Vec<&str> = findings.iter().map(|d| d.code).collect();
    assert!(codes.contains(&"bad-actuator"), "kv and dampratio: {codes:?}");

    // Nothing is made up for a joint that has no axis here, or that feels no mass.
    let ball = "<body name='a'><joint type='ball' springdamper='1 1'/><geom size='1'/></body>";
    let (_, findings) = read(ball, "");
    assert!(findings.iter().any(|d| d.code == "left-out"), "{findings:?}");
}
