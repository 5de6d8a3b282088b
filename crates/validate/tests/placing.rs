//! From known numbers to a whole state: joints hold, and everything told is so.

mod common;

use common::*;
use headland_base::Transform;
use headland_base::maths::{cos, sin};
use headland_sim::State;
use headland_validate::placing::{Known, place};
use headland_validate::source::{JointQuantity, Moment, Names, Source};

fn read(source: &Source, model: &headland_sim::Model, state: &State) -> f64 {
    source.read(&Moment { model, state, before: None })
}

/// Two roads to one number: positions and velocities are told, and measured on the links.
#[test]
fn joints_are_where_they_are_told() {
    for world in ["joints.sdf", "double_pendulum.sdf", "gripper.sdf", "sensors.sdf"] {
        let model = model_of(shipped(world));
        let initial = State::initial(&model);
        let mut known = Known::new();
        let of = |i: usize| (0.3 + 0.2 * sin(i as f64), 0.5 * cos(3.0 * i as f64));
        let leads = |i: &usize| model.dofs[*i].mimic.is_none();
        for i in (0..model.dofs.len()).filter(leads) {
            let (position, velocity) = of(i);
            assert!(known.tell(&Source::Joint(i, JointQuantity::Position), position));
            assert!(known.tell(&Source::Joint(i, JointQuantity::Velocity), velocity));
        }
        let placed = place(&model, &initial, &known);
        let mut measured = placed.clone();
        measured.measure_joints(&model);
        for i in (0..model.dofs.len()).filter(leads) {
            let ((position, velocity), dof) = (of(i), &measured.dofs[i]);
            let name = &model.dofs[i].name;
            assert!((dof.position - position).abs() < 1e-9, "{world}: {name}: {dof:?} {position}");
            assert!((dof.velocity - velocity).abs() < 1e-9, "{world}: {name}: {dof:?} {velocity}");
        }
        assert!(!model.dofs.is_empty(), "{world} has joints");
    }
}

/// Only the place of the lower rod is told: its joint is read off it, and holds.
#[test]
fn a_joint_is_read_off_the_place_of_its_link() {
    let model = model_of(shipped("double_pendulum.sdf"));
    let names = Names::of(&model);
    let source = |key: &str| names.find(key).unwrap();
    let mut told = Known::new();
    for (key, value) in [("shoulder/position", 0.4), ("elbow/position", -0.9)] {
        told.tell(&source(key), value);
    }
    for (key, value) in [("shoulder/velocity", 1.5), ("elbow/velocity", 0.7)] {
        told.tell(&source(key), value);
    }
    let wanted = place(&model, &State::initial(&model), &told);
    let mut seen = Known::new();
    for element in ["upper", "lower"] {
        for part in ["x", "y", "z", "qx", "qy", "qz", "qw"] {
            let pose = source(&format!("{element}/pose/{part}"));
            seen.tell(&pose, read(&pose, &model, &wanted));
        }
        for vector in ["linear_vel", "angular_vel@body"] {
            for axis in ["x", "y", "z"] {
                let key = source(&format!("{element}/{vector}/{axis}"));
                seen.tell(&key, read(&key, &model, &wanted));
            }
        }
    }
    let found = place(&model, &State::initial(&model), &seen);
    for (found, wanted) in found.dofs.iter().zip(&wanted.dofs) {
        assert!((found.position - wanted.position).abs() < 1e-12, "{found:?} {wanted:?}");
        assert!((found.velocity - wanted.velocity).abs() < 1e-12, "{found:?} {wanted:?}");
    }
    for (found, wanted) in found.rigids.iter().zip(&wanted.rigids) {
        assert!((found.twist.linear - wanted.twist.linear).length() < 1e-12);
        let (a, b) = (found.world_from_rigid, wanted.world_from_rigid);
        assert!((a.translation - b.translation).length() < 1e-12);
    }
}

/// Some numbers of a free body are told, the others stay.
#[test]
fn what_is_not_told_stays() {
    let model = model_of(world_of(BALL));
    let names = Names::of(&model);
    let mut known = Known::new();
    for (key, value) in [("ball/pose/x", 3.0), ("ball/pose/yaw", 0.5), ("ball/linear_vel/z", -2.0)]
    {
        assert!(known.tell(&names.find(key).unwrap(), value));
    }
    assert!(!known.tell(&names.find("ball/linear_acc/z").unwrap(), 1.0), "no part of a state");
    let placed = place(&model, &State::initial(&model), &known);
    let pose = placed.rigids[0].world_from_rigid;
    assert_eq!(pose.translation.to_array(), [3.0, 0.0, 50.0]);
    assert!((pose.rpy().z - 0.5).abs() < 1e-15);
    assert_eq!(placed.rigids[0].twist.linear.to_array(), [0.0, 0.0, -2.0]);
    assert_ne!(pose, Transform::IDENTITY);
}
