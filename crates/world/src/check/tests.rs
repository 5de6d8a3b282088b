//! Defects no reader of ours lets through, but a World built in code can have.

use headland_base::{Mat3, Severity, Transform, Vec3};

use super::check;
use crate::{
    Actuator, ActuatorKind, Axis, Collision, ControllerWish, Foot, Geometry, InertiaOrigin,
    Inertial, Joint, JointKind, Link, Mimic, Model, Places, Surface, SurfaceLaw, TorqueSpeed,
    Touches, Wheel, World,
};

fn link(name: &str) -> Link {
    Link {
        name: name.into(),
        inertial: Inertial { origin: InertiaOrigin::Given, ..Inertial::default() },
        collisions: vec![Collision {
            name: "ball".into(),
            link_from_shape: Transform::IDENTITY,
            geometry: Geometry::Sphere { radius: 0.1 },
            surface: Surface::default(),
        }],
        ..Link::default()
    }
}

fn joint(name: &str, parent: &str, child: &str) -> Joint {
    Joint {
        name: name.into(),
        parent: Some(parent.into()),
        child: child.into(),
        child_from_joint: Transform::IDENTITY,
        kind: JointKind::Revolute(Axis::along(Vec3::Z)),
        opaque: Vec::new(),
    }
}

/// A sound arm of two links, changed in one way: which codes does that give?
fn codes(change: impl FnOnce(&mut Model)) -> Vec<&'static str> {
    let mut model = Model {
        name: "arm".into(),
        links: vec![link("base"), link("tip")],
        joints: vec![joint("elbow", "base", "tip")],
        ..Model::default()
    };
    change(&mut model);
    let world = World { models: vec![model], ..World::default() };
    check(&world, &Places::default()).iter().map(|finding| finding.code).collect()
}

fn axis(model: &mut Model) -> &mut Axis {
    model.joints[0].kind.axes_mut().remove(0)
}

#[test]
fn a_sound_world_has_no_findings() {
    assert_eq!(codes(|_| {}), [] as [&str; 0]);
}

#[test]
fn joints_are_checked_whoever_made_them() {
    assert_eq!(codes(|m| m.joints[0].child = "tap".into()), ["unknown-link"]);
    assert_eq!(codes(|m| m.joints[0].parent = Some("bass".into())), ["unknown-link"]);
    assert_eq!(codes(|m| m.joints[0].parent = Some("tip".into())), ["self-joint"]);
    assert_eq!(codes(|m| m.joints.push(joint("back", "tip", "base"))), ["joint-cycle"]);
    assert_eq!(codes(|m| m.joints.push(joint("twin", "base", "tip"))), ["kinematic-loop"]);
    assert_eq!(codes(|m| axis(m).direction = Vec3::ZERO), ["zero-axis"]);
    assert_eq!(codes(|m| axis(m).direction = Vec3::splat(f64::NAN)), ["zero-axis"]);
    assert_eq!(codes(|m| axis(m).direction = Vec3::new(0.0, 0.0, 1.01)), ["non-unit-axis"]);
    assert_eq!(codes(|m| axis(m).direction = Vec3::new(0.0, 0.0, 1.0005)), [] as [&str; 0]);
    assert_eq!(codes(|m| axis(m).lower = f64::NAN), ["bad-limits"]);
    assert_eq!(codes(|m| (axis(m).lower, axis(m).upper) = (1.0, 0.5)), ["bad-limits"]);
    assert_eq!(codes(|m| axis(m).upper = -0.5), ["outside-limits"]);
    assert_eq!(codes(|m| axis(m).damping = f64::NAN), ["negative-value"]);
    assert_eq!(codes(|m| axis(m).effort_max = -1.0), ["negative-value"]);
}

#[test]
fn bodies_are_checked_whoever_made_them() {
    let inertia = |diagonal: [f64; 3]| {
        codes(move |m| m.links[0].inertial.inertia = Mat3::from_diagonal(diagonal.into()))
    };
    assert_eq!(codes(|m| m.links[0].inertial.mass = f64::NAN), ["bad-mass"]);
    assert_eq!(codes(|m| m.links[0].inertial.mass = 0.0), ["bad-mass"]);
    assert_eq!(inertia([1.0, 1.0, 2.0]), [] as [&str; 0], "a plate");
    assert_eq!(inertia([1.0, 1.0, 2.0 + 1e-8]), ["bad-inertia"]);
    assert_eq!(inertia([1.0, 1.0, 2.0 + 1e-9]), [] as [&str; 0], "rounding");
    assert_eq!(inertia([0.0, 1.0, 1.0]), ["bad-inertia"]);
    assert_eq!(inertia([f64::INFINITY, 1.0, 1.0]), ["bad-inertia"]);
    assert_eq!(codes(|m| m.links[0].inertial.inertia.x_axis.y = 0.1), ["bad-inertia"]);
    assert_eq!(codes(|m| m.links[0].inertial.origin = InertiaOrigin::Default), ["default-inertia"]);
    assert_eq!(codes(|m| m.links[0].model_from_link.translation.x = f64::NAN), ["not-finite"]);
    let shape = |geometry: Geometry| codes(|m| m.links[0].collisions[0].geometry = geometry);
    assert_eq!(shape(Geometry::Sphere { radius: -1.0 }), ["bad-size"]);
    assert_eq!(shape(Geometry::Box { size: Vec3::new(1.0, f64::NAN, 1.0) }), ["bad-size"]);
    let twin = |m: &mut Model| {
        m.links.push(link("tip"));
        m.links[2].collisions.clear();
    };
    assert_eq!(codes(twin), ["duplicate-name"]);
    assert_eq!(codes(|m| m.links.push(link(""))), ["missing-name"]);
}

/// A static model may be as impossible as it likes: nothing ever asks for its mass.
#[test]
fn what_never_moves_needs_no_mass() {
    let found = codes(|m| {
        m.is_static = true;
        m.links[0].inertial.mass = 0.0;
        m.links[1].inertial.origin = InertiaOrigin::Default;
    });
    assert_eq!(found, [] as [&str; 0]);
}

#[test]
fn motors_and_exclusions_must_name_what_is_there() {
    let motor = |joint: &str| Actuator {
        name: "motor".into(),
        joint: joint.into(),
        kind: ActuatorKind::Motor,
        gear: 1.0,
        command_range: None,
        effort_range: None,
        ..Actuator::default()
    };
    assert_eq!(codes(|m| m.actuators.push(motor("elbow"))), [] as [&str; 0]);
    assert_eq!(codes(|m| m.actuators.push(motor("elbo"))), ["unknown-joint"]);
    let exclude = |m: &mut Model| m.contact_excludes.push(("base".into(), "tap".into()));
    assert_eq!(codes(exclude), ["unknown-link"]);
}

/// A pair that is switched on is of two links that may move against each other and that nothing
/// else keeps apart, whichever comes first.
#[test]
fn pairs_that_are_on_must_be_able_to_touch() {
    let pair = |m: &mut Model, a: &str, b: &str| m.contact_pairs.push((a.into(), b.into()));
    assert_eq!(codes(|m| pair(m, "tip", "base")), [] as [&str; 0]);
    assert_eq!(codes(|m| pair(m, "tip", "bass")), ["unknown-link"]);
    let bad = ["bad-contact-pair"];
    assert_eq!(codes(|m| pair(m, "tip", "tip")), bad);
    let weld = |m: &mut Model| {
        m.joints[0].kind = JointKind::Fixed;
        pair(m, "tip", "base");
    };
    assert_eq!(codes(weld), bad);
    let exclude = |m: &mut Model| {
        m.contact_excludes.push(("base".into(), "tip".into()));
        pair(m, "tip", "base");
    };
    assert_eq!(codes(exclude), bad);
    let set = |m: &mut Model| {
        m.contact_sets.push(vec!["base".into(), "tip".into()]);
        pair(m, "tip", "base");
    };
    assert_eq!(codes(set), bad);
    let untouched = |m: &mut Model| {
        m.touches = Touches::Links(vec!["base".into()]);
        pair(m, "tip", "base");
    };
    let idle = ["idle-contact-pair"];
    assert_eq!(codes(untouched), idle);
    let shapeless = |m: &mut Model| {
        m.links[1].collisions.clear();
        pair(m, "tip", "base");
    };
    assert_eq!(codes(shapeless), idle);
}

#[test]
fn motors_must_mean_something() {
    let motor = |change: fn(&mut Actuator)| {
        let mut motor = Actuator {
            name: "motor".into(),
            joint: "elbow".into(),
            kind: ActuatorKind::Position { kp: 1.0, kv: 0.0 },
            gear: 2.0,
            command_range: Some((-1.0, f64::INFINITY)),
            effort_range: None,
            ..Actuator::default()
        };
        change(&mut motor);
        codes(|m| m.actuators.push(motor))
    };
    let bad = ["bad-actuator"];
    assert_eq!(motor(|_| {}), [] as [&str; 0]);
    assert_eq!(motor(|m| m.kind = ActuatorKind::Position { kp: f64::INFINITY, kv: 0.0 }), bad);
    assert_eq!(motor(|m| m.kind = ActuatorKind::Velocity { kv: -1.0 }), bad);
    assert_eq!(motor(|m| m.gear = 0.0), bad);
    assert_eq!(motor(|m| m.gear = f64::NAN), bad);
    assert_eq!(motor(|m| m.command_range = Some((1.0, -1.0))), bad);
    assert_eq!(motor(|m| m.effort_range = Some((f64::NAN, 1.0))), bad);
    let on_fixed = |m: &mut Model| {
        m.joints[0].kind = JointKind::Fixed;
        m.actuators.push(Actuator {
            name: "motor".into(),
            joint: "elbow".into(),
            kind: ActuatorKind::Motor,
            gear: 1.0,
            command_range: None,
            effort_range: None,
            ..Actuator::default()
        });
    };
    assert_eq!(codes(on_fixed), bad);
}

#[test]
fn motors_give_something_at_some_speed() {
    let motor = |stall_effort, no_load_speed, rate| {
        let torque_speed = Some(TorqueSpeed { stall_effort, no_load_speed });
        let (name, joint) = ("motor".into(), "elbow".into());
        codes(|m| {
            m.actuators.push(Actuator {
                name,
                joint,
                torque_speed,
                rate: Some(rate),
                ..Actuator::default()
            });
        })
    };
    assert_eq!(motor(8.0, 6.0, 500.0), [] as [&str; 0]);
    for (stall, speed, rate) in [
        (0.0, 6.0, 500.0),
        (f64::INFINITY, 6.0, 500.0),
        (8.0, -6.0, 500.0),
        (8.0, f64::NAN, 500.0),
        (8.0, 6.0, 0.0),
        (8.0, 6.0, f64::INFINITY),
    ] {
        assert_eq!(motor(stall, speed, rate), ["bad-actuator"], "{stall} {speed} {rate}");
    }
}

#[test]
fn what_a_robot_stands_and_rolls_on_is_checked() {
    let foot = |link: &str, size| Foot { link: link.into(), link_from_sole: None, size };
    assert_eq!(codes(|m| m.feet.push(foot("tip", Some([0.2, 0.1])))), [] as [&str; 0]);
    assert_eq!(codes(|m| m.feet.push(foot("tap", None))), ["unknown-link"]);
    assert_eq!(codes(|m| m.feet.push(foot("tip", Some([0.2, f64::NAN])))), ["bad-size"]);
    assert_eq!(codes(|m| m.feet = vec![foot("tip", None); 2]), ["duplicate-foot"]);
    let nowhere = Transform { translation: Vec3::splat(f64::NAN), ..Transform::IDENTITY };
    let lost = |m: &mut Model| {
        m.feet.push(Foot { link_from_sole: Some(nowhere), ..foot("tip", None) });
    };
    assert_eq!(codes(lost), ["not-finite"]);
    let wheel = |joint: &str, radius, steers_by: Option<&str>| {
        let steers_by = steers_by.map(str::to_string);
        let wheel = Wheel { joint: joint.into(), radius, steers_by };
        codes(|m| m.wheels.push(wheel))
    };
    assert_eq!(wheel("elbow", 0.1, None), [] as [&str; 0]);
    assert_eq!(wheel("elbow", 0.0, None), ["bad-wheel"]);
    assert_eq!(wheel("elbo", 0.1, None), ["unknown-joint"]);
    assert_eq!(wheel("elbow", 0.1, Some("elbow")), ["bad-wheel"]);
    assert_eq!(wheel("elbow", 0.1, Some("steer")), ["unknown-joint"]);
}

#[test]
fn who_touches_and_who_steers_is_checked() {
    let links = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let touches = |touches| codes(|m| m.touches = touches);
    assert_eq!(touches(Touches::None), [] as [&str; 0]);
    assert_eq!(touches(Touches::Feet), ["no-feet"]);
    assert_eq!(touches(Touches::Links(links(&["tip"]))), [] as [&str; 0]);
    assert_eq!(touches(Touches::Links(links(&["tap"]))), ["unknown-link"]);
    assert_eq!(touches(Touches::Links(Vec::new())), ["empty-set"]);
    let set = |names: &[&str]| codes(|m| m.contact_sets.push(links(names)));
    assert_eq!(set(&["tip", "base"]), [] as [&str; 0]);
    assert_eq!(set(&["tip", "tip"]), ["empty-set"]);
    assert_eq!(set(&["tip", "bass"]), ["unknown-link"]);
    let wish = |kind: &str, rate_hz, parameter: &str| {
        let parameters = vec![(parameter.to_string(), "x".to_string())];
        codes(|m| m.controllers.push(ControllerWish { kind: kind.into(), rate_hz, parameters }))
    };
    assert_eq!(wish("player", Some(125.0), "role"), [] as [&str; 0]);
    assert_eq!(wish("", None, "role"), ["bad-controller"]);
    assert_eq!(wish("player", Some(-1.0), "role"), ["bad-controller"]);
    assert_eq!(wish("player", None, "a role"), ["bad-controller"]);
}

#[test]
fn laws_must_mean_something() {
    let laws = |surface_laws: Vec<SurfaceLaw>| {
        let mut world = World::default();
        world.physics.native.surface_laws = surface_laws;
        let found = check(&world, &Places::default());
        found
            .into_iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| d.code)
            .collect::<Vec<_>>()
    };
    let pair = |first: &str, second: &str| SurfaceLaw {
        first: Some(first.into()),
        second: Some(second.into()),
        ..SurfaceLaw::default()
    };
    let none: Vec<&str> = Vec::new();
    assert_eq!(laws(vec![SurfaceLaw::default(), pair("a", "a"), pair("a", "b")]), none);
    assert_eq!(laws(vec![pair("a", "b"), pair("b", "a")]), ["duplicate-surface"]);
    assert_eq!(laws(vec![SurfaceLaw { second: None, ..pair("a", "b") }]), ["bad-surface"]);
    let number = |change: fn(&mut SurfaceLaw)| {
        let mut law = SurfaceLaw::default();
        change(&mut law);
        laws(vec![law])
    };
    assert_eq!(number(|law| law.separation = Some(1.0)), none);
    assert_eq!(number(|law| law.separation = Some(1.01)), ["bad-surface"]);
    assert_eq!(number(|law| law.stiffness = Some(0.0)), ["bad-surface"]);
    assert_eq!(number(|law| law.mu = Some(f64::NAN)), ["bad-surface"]);
    assert_eq!(number(|law| law.spinning = Some(-0.1)), ["bad-surface"]);
}

#[test]
fn followers_must_have_a_leader() {
    /// A chain of joints, each following the one of the given name.
    fn chain(model: &mut Model, leaders: &[&str]) {
        model.joints.clear();
        for (i, leader) in leaders.iter().enumerate() {
            let (parent, child) = (format!("link_{i}"), format!("link_{}", i + 1));
            model.joints.push(joint(&format!("j{i}"), &parent, &child));
            model.joints[i].kind.axes_mut()[0].mimic = (!leader.is_empty()).then(|| Mimic {
                leader: leader.to_string(),
                leader_axis: 0,
                multiplier: 1.0,
                offset: 0.0,
                reference: 0.0,
            });
        }
        model.links = (0..=leaders.len()).map(|i| link(&format!("link_{i}"))).collect();
    }
    assert_eq!(codes(|m| chain(m, &["", "j0", "j1", "j1"])), [] as [&str; 0]);
    assert_eq!(codes(|m| chain(m, &["j1", "j0"])), ["bad-mimic"]);
    assert_eq!(codes(|m| chain(m, &["j1", "j2", "j0", "j0", "j3"])), ["bad-mimic"]);
    assert_eq!(codes(|m| chain(m, &["j1", "j0", "j3", "j2"])), ["bad-mimic", "bad-mimic"]);
    assert_eq!(codes(|m| chain(m, &["j0", "j0"])), ["bad-mimic"], "told once");
}

/// Ten thousand wrong names must not take ten thousand searches.
#[test]
fn a_flood_of_defects_is_bounded() {
    let found = codes(|m| {
        m.links = (0..5_000).map(|i| link(&format!("link_{i}"))).collect();
        m.joints = (0..5_000)
            .map(|i| joint(&format!("joint_{i}"), "link_0", &format!("lonk_{i}")))
            .collect();
    });
    assert_eq!(found.len(), headland_base::Findings::MOST + 1);
}
