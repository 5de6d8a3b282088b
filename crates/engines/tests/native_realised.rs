//! What the native engine says before a run of what it does differently from what was asked.

mod common;

use common::{GROUND, by, sdf_world};
use headland_base::SimDuration;
use headland_engines::native;
use headland_sim::{EngineOptions, Model, coarse_step};
use headland_world::{ContactLaw, Detail, Integrator, SurfaceLaw, World};

/// A box of one kilogram and 10 cm with this surface.
fn a_box(name: &str, surface: &str) -> String {
    format!(
        r#"<model name="{name}"><pose>0 0 0.05 0 0 0</pose><link name="link"><inertial><mass>1</mass>
        <inertia><ixx>0.002</ixx><iyy>0.002</iyy><izz>0.002</izz></inertia></inertial>
        <collision name="c"><geometry><box><size>0.1 0.1 0.1</size></box></geometry>
        <surface>{surface}</surface></collision></link></model>"#
    )
}

fn world(boxes: &str, law: ContactLaw) -> World {
    by(sdf_world(&format!("{GROUND}{boxes}")), Integrator::SemiImplicit, law)
}

fn said(world: &World) -> Vec<String> {
    let model = Model::compile(&world.clone().into()).expect("compiles");
    let engine = (native::ENTRY.make)(&native::ENTRY);
    let options = EngineOptions::new(SimDuration::from_nanos(1_000_000));
    let said = engine.check(&model, &options);
    said.into_iter().filter(|one| one.code == "realised").map(|one| one.message).collect()
}

const LAWS: [ContactLaw; 3] = [ContactLaw::Hard, ContactLaw::Soft, ContactLaw::SoftCoulomb];

/// A world that asks for nothing special is told nothing.
#[test]
fn what_is_done_as_asked_is_not_told() {
    for law in LAWS {
        assert_eq!(said(&world(&a_box("plain", ""), law)), [""; 0], "{law:?}");
    }
    let asked = "<friction><ode><mu>0.5</mu><mu2>0.5</mu2></ode></friction>";
    assert_eq!(said(&world(&a_box("plain", asked), ContactLaw::Hard)), [""; 0]);
}

/// Friction by direction becomes its mean under `hard`; the soft laws take neither friction nor
/// restitution of a collision. Each is told once, however many links ask for it.
#[test]
fn what_a_law_does_differently_is_told_once() {
    let asked = "<friction><ode><mu>0.1</mu><mu2>0.5</mu2></ode></friction>\
                 <bounce><restitution_coefficient>0.4</restitution_coefficient></bounce>";
    let boxes: String = ["a", "b", "c"].map(|name| a_box(name, asked)).concat();
    let said = LAWS.map(|law| said(&world(&boxes, law)));
    let mean = "link `a::link`: friction 0.1 and 0.5 by direction becomes 0.3 in every direction; \
                likewise 2 more";
    assert_eq!(said[0], [mean]);
    let left_out = |what: &str, law: &str, element: &str| {
        format!(
            "link `a::link` and 2 more: {what} left out, law `{law}` has {element} of <surface> in \
             headland:native"
        )
    };
    let by_spring = |law: &str| left_out("restitution", law, "<separation>");
    assert_eq!(said[1], [left_out("friction", "soft", "<sliding>"), by_spring("soft")]);
    let capped = "soft-coulomb";
    assert_eq!(said[2], [left_out("friction", capped, "<mu>"), by_spring(capped)]);
}

/// Friction that nothing has is bounded under `hard`, and told.
#[test]
fn friction_beyond_measure_is_told() {
    let asked = |mu: f64| format!("<friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction>");
    let of = |mu: f64| said(&world(&a_box("a", &asked(mu)), ContactLaw::Hard));
    assert_eq!(of(10.0), [""; 0]);
    assert_eq!(of(1e5), ["link `a::link`: friction above 10 acts as 10"]);
}

/// Rows for springs say nothing to `hard`, which is told to whoever names no law.
#[test]
fn rows_of_springs_are_idle_under_hard() {
    for law in LAWS.map(Some).into_iter().chain([None]) {
        let mut world = world(&a_box("plain", ""), ContactLaw::Hard);
        let row = SurfaceLaw { mu: Some(0.3), ..SurfaceLaw::default() };
        world.physics.native.law = law;
        world.physics.native.surface_laws.push(row);
        let said = said(&world);
        assert_eq!(said.len(), usize::from(law.is_none()), "{said:?}");
        assert!(said.iter().all(|said| said.starts_with("<surface> of headland:native")));
    }
}

#[test]
fn what_no_law_has_is_told() {
    let asked = "<friction><ode><slip1>0.1</slip1><slip2>0.1</slip2></ode></friction>\
                 <contact><ode><kp>1000</kp></ode></contact>";
    for law in LAWS {
        let said = said(&world(&a_box("slippery", asked), law));
        assert_eq!(said, ["link `slippery::link`: slip, contact stiffness left out"]);
    }
}

/// A step in which a box falls further than its size is too coarse for springs, and for who is
/// moved by forces; `hard` stops it where it touches.
#[test]
fn a_coarse_step_is_told_to_those_who_may_sink() {
    let player = "<include><uri>robots/player</uri><name>player</name></include>";
    let told = |what: &str, law: ContactLaw, detail: Option<Detail>| {
        let mut world = world(what, law);
        world.models.last_mut().expect("what falls").detail = detail;
        let model = Model::compile(&world.into()).expect("compiles");
        let engine = (native::ENTRY.make)(&native::ENTRY);
        coarse_step(engine.as_ref(), &model, SimDuration::from_nanos(200_000_000)).is_some()
    };
    for (what, detail) in [(a_box("crate", ""), None), (player.to_string(), Some(Detail::Com))] {
        assert!(told(&what, ContactLaw::Soft, detail), "{what}");
        assert!(told(&what, ContactLaw::SoftCoulomb, detail), "{what}");
        assert!(!told(&what, ContactLaw::Hard, detail), "{what}");
    }
    assert!(!told(player, ContactLaw::Soft, Some(Detail::Kinematic)));
}

/// A trunk and an arm on a hinge about y, with these first velocities, 0.2 m apart along x.
fn hinged(trunk: &str, arm: &str) -> String {
    let link = |name: &str, x: f64, twist: &str| {
        format!(
            r#"<link name="{name}"><pose>{x} 0 1 0 0 0</pose><headland:twist>{twist}</headland:twist>
            <inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia>
            </inertial></link>"#
        )
    };
    format!(
        r#"<model name="robot">{}{}<joint name="hinge" type="revolute"><parent>trunk</parent>
        <child>arm</child><axis><xyz>0 1 0</xyz></axis></joint></model>"#,
        link("trunk", 0.0, trunk),
        link("arm", 0.2, arm)
    )
}

/// First velocities are those that joints leave free: what a robot moves with as a whole, and how
/// its joints turn. The rest cannot be, and is told.
#[test]
fn first_velocities_that_cannot_be_are_told() {
    let hard = |robot: String| said(&world(&robot, ContactLaw::Hard));
    for (trunk, arm) in [
        ("0 0 0 0 0 0", "0 0 0 0 0 0"),
        ("1 2 3 0 0 0", "1 2 3 0 0 0"), // as a whole
        ("0 0 0 0 0 2", "0 0.4 0 0 0 2"),
        ("0 0 0 0 0 0", "0 0 0 0 3 0"), // about the hinge
    ] {
        assert_eq!(hard(hinged(trunk, arm)), [""; 0], "{trunk}, {arm}");
    }
    assert_eq!(
        hard(hinged("1 0 0 0 0 0", "0 0 0 0 0 0.5")),
        [
            "link `robot::arm`: its first velocity `0 0 0 0 0 0.5` is not one that its joints and its \
          detail leave free; it begins with `1 0 0 0 0 0`"
        ]
    );
    // A robot that moves as it is told begins at rest.
    let foot = "<headland:foot link=\"trunk\"><pose>0 0 -0.1 0 0 0</pose></headland:foot>";
    let walker =
        hinged("1 0 0 0 0 0", "1 0 0 0 0 0").replace("</model>", &format!("{foot}</model>"));
    let mut told = world(&walker, ContactLaw::Hard);
    told.set_detail("robot", Detail::Kinematic).expect("a robot");
    let words = said(&told);
    assert!(words.len() == 1 && words[0].contains("it begins with `0 0 0 0 0 0`"), "{words:?}");
    // What has no joints moves as it is told.
    let free = a_box("box", "").replace(
        "<link name=\"link\">",
        "<link name=\"link\"><headland:twist>1 2 3 4 5 6</headland:twist>",
    );
    assert!(free.contains("1 2 3 4 5 6"));
    assert_eq!(said(&world(&free, ContactLaw::Hard)), [""; 0]);
}
