use super::*;
use crate::read::{Format, foreign};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[test]
fn cases() {
    crate::cases::run("urdf_cases", "robot.urdf", |source, base_dir, options, findings| {
        foreign(Format::Urdf, source, base_dir, options, findings)
    });
}

fn read_text(text: &str) -> (Option<World>, Vec<Diagnostic>) {
    let mut findings = Findings::new();
    let source = Source::new("robot.urdf", text);
    let world = read(&source, Path::new("."), &ReadOptions::default(), &mut findings);
    (world.map(|(world, _)| world), findings.into_vec())
}

/// Two roads to the pose of the tip: the World's links, and turning each joint by hand.
#[test]
fn link_poses_chain_from_the_root() {
    let mut text = String::from("<robot name='chain'>");
    let inertial = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";
    for i in 0..5 {
        text += &format!("<link name='l{i}'>{inertial}</link>");
    }
    let mut tip = Transform::IDENTITY;
    for i in 0..4 {
        let (x, yaw) = (0.1 * f64::from(i + 1), 0.3 * f64::from(i) - 0.2);
        text += &format!(
            "<joint name='j{i}' type='continuous'><parent link='l{i}'/><child link='l{}'/>\
             <origin xyz='{x} 0 0.5' rpy='0.1 0 {yaw}'/></joint>",
            i + 1
        );
        tip = tip * Transform::from_xyz_rpy(Vec3::new(x, 0.0, 0.5), Vec3::new(0.1, 0.0, yaw));
    }
    let (world, findings) = read_text(&(text + "</robot>"));
    assert!(findings.is_empty(), "{findings:?}");
    let world = world.unwrap();
    let found = world.links()[4].world_from_link;
    assert!(found.translation.distance(tip.translation) < 1e-12);
    assert!(headland_base::maths::angle_between(found.rotation, tip.rotation) < 1e-7);
}

/// Merging what has no mass moves no shape and loses none.
#[test]
fn merged_shapes_stay_where_they_were() {
    let ball =
        "<collision><origin xyz='0 0 0.1'/><geometry><sphere radius='0.1'/></geometry></collision>";
    let heavy = "<inertial><mass value='2'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";
    let joint = |name: &str, parent: &str, child: &str, xyz: &str| {
        format!(
            "<joint name='{name}' type='fixed'><parent link='{parent}'/><child link='{child}'/>\
             <origin xyz='{xyz}' rpy='0 0 1.5707963267948966'/></joint>"
        )
    };
    let text = format!(
        "<robot name='r'><link name='footprint'>{ball}</link><link name='base'>{heavy}{ball}</link>\
         <link name='plate'>{ball}</link><link name='camera'>{ball}</link>{}{}{}</robot>",
        joint("a", "footprint", "base", "1 0 0"),
        joint("b", "base", "plate", "0 1 0"),
        joint("c", "plate", "camera", "0 0 1"),
    );
    let (world, _) = read_text(&text);
    let world = world.unwrap();
    let links = world.links();
    assert_eq!(links.len(), 1);
    let mut centres: Vec<Vec3> = links[0]
        .link
        .collisions
        .iter()
        .map(|c| (links[0].world_from_link * c.link_from_shape).translation)
        .collect();
    centres.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).unwrap());
    let wanted = [
        Vec3::new(0.0, 0.0, 0.1),
        Vec3::new(0.0, 0.0, 0.1),
        Vec3::new(0.0, 0.0, 1.1),
        Vec3::new(1.0, 0.0, 0.1),
    ];
    assert_eq!(centres.len(), 4);
    assert!(centres.iter().zip(wanted).all(|(a, b)| a.distance(b) < 1e-12), "{centres:?}");
    let names: Vec<&str> = world.models[0].frames.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["footprint", "plate", "camera"]);
}

/// Thousands of joints on links that are not there: suggestions must not take minutes.
#[test]
fn a_flood_of_wrong_names_is_bounded() {
    let n = 6_000;
    let links: String = (0..n).map(|i| format!("<link name='link_{i}'/>")).collect();
    let joints: String = (0..n)
        .map(|i| {
            format!(
                "<joint name='j{i}' type='fixed'><parent link='lnik_{i}'/><child link='link{i}'/></joint>"
            )
        })
        .collect();
    let (world, findings) = read_text(&format!("<robot name='r'>{links}{joints}</robot>"));
    assert!(world.is_none());
    assert_eq!(findings.len(), headland_base::Findings::MOST + 1);
    assert_eq!(findings[0].help.as_deref(), Some("did you mean `link_0`?"));
}

/// A joint's effort limit is at the joint; a motor behind a gear has no range of its own.
#[test]
fn the_effort_limit_of_a_joint_is_not_the_motors() {
    let (world, findings) = read_text(
        "<robot name='r'><link name='a'/><link name='b'/>\
         <joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>\
         <limit lower='-1' upper='1' effort='5' velocity='1'/></joint>\
         <transmission name='t'><joint name='j'>\
         <hardwareInterface>EffortJointInterface</hardwareInterface></joint>\
         <actuator name='m'><mechanicalReduction>50</mechanicalReduction></actuator>\
         </transmission></robot>",
    );
    let world = world.unwrap_or_else(|| panic!("{findings:?}"));
    let model = &world.models[0];
    assert_eq!((model.actuators[0].gear, model.actuators[0].effort_range), (50.0, None));
    assert_eq!(model.joints[0].kind.axes()[0].effort_max, 5.0);
}

const WHOLE: &str = include_str!("../../tests/urdf_cases/everything.txt");

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases::n_random(600),
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever happens to the text, the answer is a world or at least one error.
    #[test]
    fn broken_text_never_breaks_us(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[ -~]{0,3}"), 1..8),
    ) {
        let (world, findings) = read_text(&crate::cases::broken(WHOLE, edits));
        let has_error = findings.iter().any(|d| d.severity == headland_base::Severity::Error);
        prop_assert!(world.is_some() || has_error);
    }
}
