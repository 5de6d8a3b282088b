//! Legs by identity: angles make a sole, the sole makes the angles again.

use std::path::Path;
use std::sync::Arc;

use headland_base::maths::angle_between;
use headland_base::{Source, Transform, Vec3};
use headland_play::leg::LegJoints;
use headland_play::skeleton::{JOINTS, Joints, N_JOINTS, Side, Skeleton};
use headland_sim::{Model, State};
use headland_world::JointKind;
use proptest::prelude::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn player(change: impl Fn(String) -> String) -> Result<Skeleton, Vec<headland_base::Diagnostic>> {
    let file = format!("{ROOT}/robots/player/model.sdf");
    let text = change(std::fs::read_to_string(file).expect("the robot"));
    let source = Source::new("player.sdf", text);
    let read = headland_world::read_text(source, Path::new(ROOT), &Default::default());
    let model = Model::compile(&Arc::new(read.expect("reads").world)).expect("compiles");
    Skeleton::find(&model, "player")
}

fn as_it_is(text: String) -> String {
    text
}

fn leg_joints() -> impl Strategy<Value = LegJoints> {
    [-0.9..0.9, -0.8..0.8, -2.0..0.9, 0.02..2.4, -1.3..1.3, -0.8..0.8]
}

proptest! {
    /// Forwards and back is the identity for every reachable pose. With the hip beside or below
    /// the ankle a second solution exists, so the hip stays above, as in all that walks.
    #[test]
    fn angles_undo_the_sole(q in leg_joints()) {
        let skeleton = player(as_it_is).expect("a player");
        for side in Side::BOTH {
            let leg = &skeleton.legs[side.index()];
            let sole = leg.root_from_sole(&q);
            let hip_from_foot = sole.inverse().point(leg.hip) - sole.inverse().vector(Vec3::ZERO);
            prop_assume!(hip_from_foot.z > 0.05);
            let back = leg.angles(sole);
            for (angle, wanted) in back.iter().zip(&q) {
                prop_assert!((angle - wanted).abs() < 1e-6, "{back:?} vs {q:?}");
            }
        }
    }

    /// Whatever is asked, the angles are finite; what is in reach is reached.
    #[test]
    fn every_sole_has_angles(
        at in [-0.3..0.3, -0.3..0.3, -0.4..0.1], rpy in [-0.5..0.5, -0.5..0.5, -0.8..0.8]
    ) {
        let skeleton = player(as_it_is).expect("a player");
        let leg = &skeleton.legs[0];
        let wanted = Transform::from_xyz_rpy(Vec3::from_array(at), Vec3::from_array(rpy));
        let q = leg.angles(wanted);
        prop_assert!(q.iter().all(|angle| angle.is_finite()));
        let distance = (leg.hip - wanted.point(-leg.sole)).length();
        if distance < leg.reach() && distance > (leg.thigh.length() - leg.shank.length()).abs() {
            let got = leg.root_from_sole(&q);
            prop_assert!(got.translation.distance(wanted.translation) < 1e-9);
            prop_assert!(angle_between(got.rotation, wanted.rotation) < 1e-7);
        }
    }

    /// Two roads to where the soles are: the leg's formula and the whole body's tree.
    #[test]
    fn the_leg_is_part_of_the_tree(q in leg_joints()) {
        let skeleton = player(as_it_is).expect("a player");
        for side in Side::BOTH {
            let mut joints: Joints = [0.0; N_JOINTS];
            joints[side.leg()..side.leg() + 6].copy_from_slice(&q);
            let leg = &skeleton.legs[side.index()];
            let foot = skeleton.poses(&joints)[side.leg() + 5];
            let sole = leg.root_from_sole(&q);
            // The foot's frame is at the ankle.
            prop_assert!(foot.point(leg.sole).distance(sole.translation) < 1e-12);
        }
    }
}

/// 21 turning joints, 0.6 m, 3 to 5 kg, soles on the ground; left is right mirrored.
#[test]
fn it_is_a_kid_size_humanoid() {
    let text = std::fs::read_to_string(format!("{ROOT}/robots/player/model.sdf")).expect("it");
    let source = Source::new("player.sdf", text);
    let read = headland_world::read_text(source, Path::new(ROOT), &Default::default());
    let world = Arc::new(read.expect("reads").world);
    let model = Model::compile(&world).expect("compiles");
    assert_eq!(model.dofs.len(), JOINTS.len());
    let turns = |kind: &JointKind| matches!(kind, JointKind::Revolute(_));
    assert!(model.joints.iter().all(|joint| turns(&joint.kind)));
    let skeleton = Skeleton::find(&model, "player").expect("a player");
    assert!((3.0..5.0).contains(&skeleton.mass), "{}", skeleton.mass);
    let state = State::initial(&model);
    let (mut low, mut high) = (f64::MAX, f64::MIN);
    for body in &model.bodies {
        let world_from_body = state.rigids[body.rigid_idx].world_from_rigid * body.rigid_from_body;
        for shape in &body.shapes {
            let bounds = shape.geometry.bounds().expect("it ends");
            let at = world_from_body * shape.body_from_shape;
            for corner in headland_world::geometry::corners_in(at, bounds) {
                (low, high) = (low.min(corner.z), high.max(corner.z));
            }
        }
    }
    assert!(low.abs() < 1e-12 && (high - 0.6).abs() < 0.01, "from {low} to {high}");
    let [left, right] = &skeleton.legs;
    let mirrored = |v: Vec3| Vec3::new(v.x, -v.y, v.z);
    assert!(left.hip.distance(mirrored(right.hip)) < 1e-12);
    assert!(left.sole.distance(mirrored(right.sole)) < 1e-12);
    assert!(skeleton.centre(&[0.0; N_JOINTS]).y.abs() < 1e-12);
    let kinds: Vec<&str> = world.models[0]
        .links
        .iter()
        .flat_map(|link| &link.opaque)
        .filter_map(|it| it.name.as_deref())
        .collect();
    assert_eq!(kinds, ["imu", "chest_camera", "head_camera"]);
}

/// Lengths come from the file: longer shanks are longer shanks.
#[test]
fn lengths_are_the_files() {
    let longer = player(|text| {
        text.replace("<pose>0 0.055 0.165 0 0 0</pose>", "<pose>0 0.055 0.185 0 0 0</pose>")
    });
    let (plain, longer) = (player(as_it_is).expect("a player"), longer.expect("another"));
    let change = longer.legs[0].shank.z - plain.legs[0].shank.z;
    assert!((change - 0.02).abs() < 1e-12, "{change}");
}

/// What is no player is told all that it lacks.
#[test]
fn what_is_no_player_is_refused() {
    let renamed = player(|text| text.replace("left_knee\"", "left_knie\"")).expect_err("no knee");
    assert_eq!(renamed.len(), 1);
    assert_eq!(renamed[0].code, "not-a-player");
    assert!(renamed[0].help.as_ref().is_some_and(|help| help.contains("left_knie")));
    // A robot of another kind lacks all of them, and is told once.
    let foreign = player(|text| {
        JOINTS.iter().fold(text, |text, joint| {
            text.replace(&format!("\"{joint}\""), &format!("\"other_{joint}\""))
        })
    })
    .expect_err("no joints");
    assert_eq!(foreign.len(), 1, "{foreign:?}");
    assert_eq!(foreign[0].code, "not-a-player");
    for joint in JOINTS {
        assert!(foreign[0].message.contains(&format!("`{joint}`")), "{}", foreign[0].message);
    }
    let crooked = player(|text| {
        text.replace("<pose>0 0.055 0.165 0 0 0</pose>", "<pose>0 0.065 0.165 0 0 0</pose>")
    });
    assert!(crooked.expect_err("a crooked leg")[0].message.contains("knee"));
}
