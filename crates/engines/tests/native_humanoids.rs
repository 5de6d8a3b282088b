//! Humanoids on their feet in the native engine: four that others made, and one of 30 kg.
//!
//! The foreign ones are read where the Python packages `pybullet` and `rcsssmj` have them.

mod common;

use common::{By, GROUND, Play, package, public_robots, sdf_world, world_of};
use headland_base::maths::pow;
use headland_base::{SimDuration, Vec3};
use headland_sim::{Controller, Mode, Model, State};
use headland_world::{ActuatorKind, Geometry, World};

/// Every joint is told to be at these positions, those not named at zero.
fn hold(pose: &'static [(&'static str, f64)]) -> impl Controller {
    By(move |_, model: &Model, _: &State| {
        let target = |name: &str| {
            pose.iter().find(|(joint, _)| name.ends_with(joint)).map_or(0.0, |(_, angle)| *angle)
        };
        let dofs = model.dofs.iter().enumerate();
        dofs.map(|(i, dof)| (i, Mode::Position, target(&dof.name))).collect()
    })
}

/// What a standing robot did: how far its trunk went, how much of its up is lost, how fast
/// anything moved, from `settled` on; and what it weighs on the ground at the end.
#[derive(Debug)]
struct Stood {
    went: f64,
    sank: f64,
    leant: f64,
    fastest: f64,
    load: f64,
    weight: f64,
}

fn stand(play: Play<'_>, world: &World, trunk: &str, up: Vec3, settled: f64) -> Stood {
    let mut start = None;
    let mut stood =
        Stood { went: 0.0, sank: 0.0, leant: 0.0, fastest: 0.0, load: 0.0, weight: 0.0 };
    play.watch(world, |model, state| {
        let pose = common::pose_of(model, state, trunk);
        stood.leant = stood.leant.max(1.0 - pose.vector(up).z);
        if state.time.secs() < settled - 1e-9 {
            return;
        }
        let at = pose.translation;
        let from: Vec3 = *start.get_or_insert(at);
        stood.went = stood.went.max((at - from).truncate().length());
        stood.sank = stood.sank.max((at - from).z.abs());
        let speeds = state.rigids.iter().map(|rigid| rigid.twist.linear.length());
        stood.fastest = speeds.fold(stood.fastest, f64::max);
        stood.load = state.contacts.iter().map(|contact| contact.force.z).sum();
        stood.weight = common::whole(model, state).mass * 9.81;
    });
    eprintln!("{stood:?}");
    stood
}

/// MuJoCo's humanoid as PyBullet ships it: 40.8 kg, 21 hinges with motors. It hangs from the world
/// there, so it is given the free joint and the height it has in MuJoCo's own file.
#[test]
fn a_foreign_mjcf_humanoid_stands() {
    let Some(folder) = public_robots() else { return };
    let text = std::fs::read_to_string(folder.join("mjcf/humanoid.xml")).expect("a humanoid");
    let hung = "<body name='torso' pos='0 0 1.4'>";
    assert!(text.contains(hung));
    let mut world =
        world_of(&text.replace(hung, "<body name='torso' pos='0 0 1.285'><freejoint/>"));
    world.physics.step = SimDuration::from_nanos(1_000_000);
    let pose = hold(&[("right_knee", -0.05), ("left_knee", -0.05)]);
    // Let go it sways on its ankles, once in two seconds, and loses two fifths of it in each: from
    // 2 to 5 s it goes 12 mm to and fro. MuJoCo's, with the same gains, goes 11 mm then.
    let play = Play::native(10.0).with(pose).gains(500.0, 20.0);
    let stood = stand(play, &world, "torso", Vec3::Z, 8.0);
    assert!(stood.leant < 1e-3 && stood.went < 1e-3 && stood.sank < 1e-3, "{stood:?}");
    assert!((stood.weight - 40.84 * 9.81).abs() < 1.0, "{stood:?}");
    assert!((stood.load / stood.weight - 1.0).abs() < 0.02, "{stood:?}");
}

/// The humanoid of DeepMimic as PyBullet ships it, a URDF: 45 kg, four times life size, y up.
/// URDF has no ball joints: those of hips and ankles become hinges, the others fixed, and the
/// byte 0 behind its end goes.
#[test]
fn a_foreign_urdf_humanoid_stands() {
    let Some(folder) = public_robots() else { return };
    let text = std::fs::read(folder.join("humanoid/humanoid.urdf")).expect("a humanoid");
    let text = String::from_utf8(text).expect("text");
    let mut text = text.trim_end_matches('\0').to_string();
    for joint in ["right_hip", "left_hip", "right_ankle", "left_ankle"] {
        let ball = format!("<joint name=\"{joint}\" type=\"spherical\" >");
        assert!(text.contains(&ball), "{ball}");
        let hinge = format!(
            "<joint name=\"{joint}\" type=\"revolute\"><axis xyz=\"0 0 1\"/>\
             <limit effort=\"1000\" lower=\"-1.5\" upper=\"1.5\" velocity=\"10\"/>"
        );
        text = text.replace(&ball, &hinge);
    }
    let text = text.replace("type=\"spherical\"", "type=\"fixed\"");
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("humanoid.urdf");
    std::fs::write(&file, text).expect("written");
    let world = sdf_world(&format!(
        r#"{GROUND}<include><uri>{}</uri><name>humanoid</name>
        <pose>0 0 3.53 1.5707963267948966 0 0</pose></include>"#,
        file.display()
    ));
    let play = Play::native(5.0).with(hold(&[])).gains(5000.0, 500.0);
    let stood = stand(play, &world, "humanoid", Vec3::Y, 2.0);
    assert!(stood.leant < 1e-3 && stood.went < 5e-3 && stood.sank < 1e-3, "{stood:?}");
    assert!((stood.load / stood.weight - 1.0).abs() < 0.02, "{stood:?}");
}

/// Every motor gives the effort of a servo that holds zero, with these gains.
fn serve(kp: f64, kd: f64) -> impl Controller {
    By(move |_, model: &Model, state: &State| {
        let dofs = state.dofs[..model.dofs.len()].iter().enumerate();
        dofs.map(|(i, dof)| (i, Mode::Effort, -kp * dof.position - kd * dof.velocity)).collect()
    })
}

/// The humanoids of the soccer simulator `rcsssmj`, Booster's T1 and K1: MJCF files read as they
/// are, included in a world with a ground. T1 is drawn on its feet; K1, which is drawn in the air, is
/// put on them. Each joint has a motor that takes efforts, and the simulator's players say with every
/// command how stiff it is.
#[test]
fn foreign_mjcf_humanoids_stand_as_they_are_written() {
    let Some(folder) = package("rcsssmj") else { return };
    let k1_pose = "<pose>0 0 0.5517 0 0 0</pose>";
    // K1's wrists are so light that more damping from without would be too stiff for the step.
    let robots = [("T1", 31.614, "", 23, 6.0), ("K1", 19.666, k1_pose, 22, 2.0)];
    for (name, mass, pose, n_joints, kd) in robots {
        let file = folder.join(format!("resources/robots/{name}/robot.xml"));
        let world = sdf_world(&format!(
            "{GROUND}<include><uri>{}</uri><name>robot</name>{pose}</include>",
            file.display()
        ));
        let stood =
            stand(Play::native(5.0).with(serve(300.0, kd)), &world, "robot::torso", Vec3::Z, 2.0);
        assert_eq!(world.models.iter().map(|model| model.joints.len()).sum::<usize>(), n_joints);
        assert!((stood.weight / 9.81 - mass).abs() < 1e-3, "{name}: {stood:?}");
        assert!((stood.load / stood.weight - 1.0).abs() < 0.02, "{name}: {stood:?}");
        assert!(stood.leant < 1e-3 && stood.went < 2e-3 && stood.sank < 1e-3, "{name}: {stood:?}");
    }
}

/// Our player, grown to 30 kg: lengths by s, masses by s³, moments by s⁵, efforts by s⁴, and time by √s.
fn grown_player(mass: f64) -> World {
    let player = "<include><uri>robots/player</uri><name>robot</name></include>";
    let mut world = sdf_world(&format!("{GROUND}{player}"));
    let robot = world.models.iter_mut().find(|model| model.name == "robot").expect("a robot");
    let before: f64 = robot.links.iter().map(|link| link.inertial.mass).sum();
    let s = pow(mass / before, 1.0 / 3.0);
    let (s2, s4, s5) = (s * s, s * s * s * s, s * s * s * s * s);
    let root = pow(s, 0.5);
    for link in &mut robot.links {
        link.model_from_link.translation *= s;
        link.inertial.mass *= s * s2;
        link.inertial.link_from_inertial.translation *= s;
        link.inertial.inertia *= s5;
        for collision in &mut link.collisions {
            collision.link_from_shape.translation *= s;
            match &mut collision.geometry {
                Geometry::Box { size } => *size *= s,
                Geometry::Sphere { radius } => *radius *= s,
                Geometry::Cylinder { radius, length } | Geometry::Capsule { radius, length } => {
                    (*radius, *length) = (*radius * s, *length * s);
                }
                other => panic!("the player has no {other:?}"),
            }
        }
    }
    for joint in &mut robot.joints {
        joint.child_from_joint.translation *= s;
    }
    for motor in &mut robot.actuators {
        if let ActuatorKind::Position { kp, kv } = &mut motor.kind {
            (*kp, *kv) = (*kp * s4, *kv * s4 * root);
        }
        if let Some(curve) = &mut motor.torque_speed {
            (curve.stall_effort, curve.no_load_speed) =
                (curve.stall_effort * s4, curve.no_load_speed / root);
        }
    }
    common::axes(&mut world, |axis| {
        (axis.effort_max, axis.velocity_max) = (axis.effort_max * s4, axis.velocity_max / root);
        (axis.damping, axis.armature) = (axis.damping * s4 * root, axis.armature * s5);
    });
    world
}

/// 30 kg on two feet for 10 s of 1 ms by the hard law: within a millimetre of where it settled,
/// and slower than a millimetre per second.
#[test]
fn thirty_kilograms_stand_still() {
    let world = grown_player(30.0);
    let stood = stand(Play::native(11.0), &world, "robot", Vec3::Z, 1.0);
    assert!((stood.weight - 30.0 * 9.81).abs() < 1e-6, "{stood:?}");
    assert!((stood.load / stood.weight - 1.0).abs() < 1e-3, "{stood:?}");
    assert!(stood.went < 1e-3 && stood.sank < 1e-3 && stood.fastest < 1e-3, "{stood:?}");
}
