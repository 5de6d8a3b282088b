//! What a world says to our own engine, value by value.

use std::fs;

use headland_base::Transform;
use headland_world::*;

/// The case of the same name, which has one of everything.
fn read_case() -> (Read, tempfile::TempDir) {
    let case = fs::read_to_string("tests/cases/native.txt").expect("the case");
    let folder = tempfile::tempdir().expect("a folder");
    let parts: Vec<&str> = case.split("-- ").collect();
    for part in &parts[1..3] {
        let (name, text) = part.split_once(" --\n").expect("a name");
        fs::write(folder.path().join(name), text).expect("a file");
    }
    (read(&folder.path().join("world.sdf"), &ReadOptions::default()).expect("a world"), folder)
}

fn wish(rate_hz: Option<f64>, parameters: &[(&str, &str)]) -> ControllerWish {
    let parameters = parameters.iter().map(|(name, text)| (name.to_string(), text.to_string()));
    ControllerWish { kind: "player".into(), rate_hz, parameters: parameters.collect() }
}

#[test]
fn a_world_says_its_law_and_integrator() {
    let (Read { world, .. }, _) = read_case();
    let native = &world.physics.native;
    assert_eq!(native.law, Some(ContactLaw::SoftCoulomb));
    assert_eq!(native.integrator, Some(Integrator::Adaptive { tolerance: Some(1e-9) }));
    let default = SurfaceLaw { stiffness: Some(30000.0), ..SurfaceLaw::default() };
    let grass = SurfaceLaw {
        first: Some("grass".into()),
        second: Some("rubber".into()),
        stiffness: None,
        separation: Some(0.1),
        sliding: Some(50.0),
        spinning: Some(0.05),
        mu: Some(0.8),
    };
    assert_eq!(native.surface_laws, [default, grass]);
    assert_eq!(world.contact_sets, [["m::foot", "other::foot"]]);
}

/// The sole is given in another link's frame, and comes out in the foot's.
#[test]
fn a_robot_says_what_it_stands_on_and_who_moves_it() {
    let (Read { world, .. }, _) = read_case();
    let robot = &world.models[0];
    let below = Transform::from_translation(headland_base::Vec3::new(0.0, 0.0, -0.1));
    let foot = Foot { link: "foot".into(), link_from_sole: Some(below), size: Some([0.2, 0.1]) };
    assert_eq!(robot.feet, [foot]);
    assert_eq!(robot.wheels, [Wheel { joint: "ankle".into(), radius: 0.1, steers_by: None }]);
    assert_eq!(robot.contact_sets, [["trunk", "foot"]]);
    let toe = ("trunk".to_string(), "toe".to_string());
    assert!(world.models.iter().all(|robot| robot.contact_pairs == [toe.clone()]), "{world:#?}");
    let servo = &robot.actuators[0];
    assert_eq!(servo.torque_speed, Some(TorqueSpeed { stall_effort: 8.0, no_load_speed: 6.0 }));
    assert_eq!(servo.rate, Some(500.0));
}

#[test]
fn an_include_casts_the_robot_it_brings() {
    let (Read { world, .. }, _) = read_case();
    let [included, merged] = &world.models[..] else { panic!("two models") };
    assert_eq!((included.name.as_str(), included.detail), ("other", Some(Detail::ComFixed)));
    assert_eq!(included.touches, Touches::All, "not the one link of the file");
    assert_eq!(included.controllers, [wish(Some(125.0), &[("role", "keeper")])]);
    // What is merged brings what the model around it does not say.
    assert_eq!((merged.name.as_str(), merged.detail), ("m", Some(Detail::Kinematic)));
    assert_eq!(merged.touches, Touches::Links(vec!["foot".into()]));
    let own = wish(None, &[("role", "striker"), ("gain", "1"), ("gain", "2")]);
    assert_eq!(merged.controllers, [own]);
    assert_eq!((merged.feet.len(), merged.wheels.len(), merged.contact_sets.len()), (1, 1, 1));
    assert_eq!(merged.feet, included.feet);
}

/// Whoever takes a wish can point at the words it was made in.
#[test]
fn the_words_of_a_controller_have_their_places() {
    let (Read { places, .. }, folder) = read_case();
    let place = |part: &str| {
        let label = places.find(part).expect(part).label();
        label.replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(place("controller other::player#role"), "world.sdf:11:53");
    assert_eq!(place("controller other::player#rate"), "world.sdf:11:36");
    assert_eq!(place("controller m::player#role"), "robot.sdf:14:42");
    assert_eq!(place("foot other::foot#size"), "robot.sdf:8:81");
}
