//! What carries, pushes and holds, and with what forces: loads on more points than are needed, who is
//! too weak for what it meets, and what sticks to something that turns.

mod common;

use common::{By, GRAVITY, GROUND, Play, place_of, sdf_world, twist_of};
use headland_base::maths::{cos, sin};
use headland_base::{SimDuration, Vec3};
use headland_sim::{Mode, Model, State};
use headland_world::{ContactLaw, Integrator, World};

fn link(name: &str, pose: &str, density: f64, geometry: &str, mu: f64) -> String {
    format!(
        r#"<link name="{name}"><pose>{pose}</pose><inertial auto="true"><density>{density}</density>
        </inertial><collision name="form"><geometry>{geometry}</geometry><surface><friction><ode>
        <mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface></collision></link>"#
    )
}

/// A base on two driven wheels between two casters, all of them exactly on the ground.
fn rover(detail: &str) -> String {
    let wheel = |name: &str, y: f64| {
        let pose = format!("0 {y} 0.1 -1.5707963267948966 0 0");
        let form = "<cylinder><radius>0.1</radius><length>0.04</length></cylinder>";
        let link = link(name, &pose, 500.0, form, 1.0);
        format!(
            r#"{link}<joint name="{name}_joint" type="continuous"><parent>base</parent>
            <child>{name}</child><axis><xyz>0 0 1</xyz></axis></joint>
            <headland:actuator name="{name}_motor" joint="{name}_joint" type="velocity" kv="5"/>
            <headland:wheel joint="{name}_joint" radius="0.1"/>"#
        )
    };
    let caster = |name: &str, x: f64| {
        let form = "<sphere><radius>0.04</radius></sphere>";
        let link = link(name, &format!("{x} 0 0.04 0 0 0"), 500.0, form, 0.0);
        let joint = format!(
            r#"<joint name="{name}_joint" type="fixed"><parent>base</parent><child>{name}</child>
            </joint>"#
        );
        link + &joint
    };
    format!(
        r#"<model name="rover">{}{}{}{}{}<headland:detail>{detail}</headland:detail></model>"#,
        link("base", "0 0 0.13 0 0 0", 300.0, "<box><size>0.4 0.3 0.1</size></box>", 1.0),
        wheel("left", 0.2),
        wheel("right", -0.2),
        caster("back", -0.15),
        caster("front", 0.15),
    )
}

/// All axes of a model at one speed.
fn at_speed(speed: f64) -> impl headland_sim::Controller {
    By(move |_, model: &Model, _: &State| {
        (0..model.dofs.len()).map(|dof| (dof, Mode::Velocity, speed)).collect()
    })
}

fn with_step(mut world: World, secs: f64) -> World {
    world.physics.step = SimDuration::from_secs(secs).expect("a step");
    world
}

/// Casters could carry nearly all of a rover and leave its wheels spinning: they do not.
#[test]
fn a_rover_with_two_casters_drives_as_its_wheels_turn() {
    let world = sdf_world(&format!("{GROUND}{}", rover("articulated")));
    for (told, integrator) in [
        (5.0, Integrator::SemiImplicit),
        (8.0, Integrator::SemiImplicit),
        (10.0, Integrator::SemiImplicit),
        (8.0, Integrator::Rk4),
    ] {
        let world = common::by(world.clone(), integrator, ContactLaw::Hard);
        let mut furthest = 0.0_f64;
        Play::native(1.0).with(at_speed(told)).watch(&world, |model, state| {
            if state.time.secs() > 0.7 {
                let speed = twist_of(model, state, "rover").linear.x;
                furthest = furthest.max((speed - 0.1 * told).abs());
            }
        });
        eprintln!("{told} rad/s, {integrator:?}: off by {furthest} m/s");
        assert!(furthest < 1e-4 * told, "{told} rad/s, {integrator:?}: off by {furthest} m/s");
    }
}

/// To push a box along takes what friction with the ground takes, in steps of any length: friction
/// with the pusher could carry some of the box, or press it down, and does neither.
#[test]
fn a_box_is_pushed_with_what_the_ground_takes() {
    let (mu, mass) = (0.4, 4.0);
    let ground = GROUND.replace(
        "</geometry></collision>",
        &format!(
            "</geometry><surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction>\
             </surface></collision>"
        ),
    );
    assert_ne!(ground, GROUND);
    let plate = "<box><size>0.05 0.3 0.1</size></box>";
    let models = format!(
        r#"{ground}<model name="pusher">{}<joint name="slide" type="prismatic"><parent>world</parent>
        <child>plate</child><axis><xyz>1 0 0</xyz></axis></joint>
        <headland:actuator name="motor" joint="slide" type="velocity" kv="2000"/></model>
        <model name="box">{}</model>"#,
        link("plate", "0 0 0.1 0 0 0", 1000.0, plate, mu),
        link("box", "0.13 0 0.1 0 0 0", 500.0, "<box><size>0.2 0.2 0.2</size></box>", mu),
    );
    for secs in [0.0005, 0.001, 0.002, 0.005] {
        let world = with_step(sdf_world(&models), secs);
        let (wanted, mut furthest) = (mu * mass * GRAVITY, 0.0_f64);
        Play::native(1.0).with(at_speed(0.2)).watch(&world, |_, state| {
            if state.time.secs() > 0.7 {
                furthest = furthest.max((state.dofs[0].effort - wanted).abs());
            }
        });
        eprintln!("{secs} s: off by {furthest} N of {wanted} N");
        assert!(furthest < 0.01 * wanted, "{secs} s: off by {furthest} N of {wanted} N");
    }
}

/// Who rolls as it is told pushes with ten times its weight at most: it stops at what is heavier
/// than that can move, and what stands between it and a wall stays on the ground.
#[test]
fn a_vehicle_stops_at_what_is_too_heavy_for_it() {
    let rover = rover("vehicle");
    let size = "<box><size>0.4 0.4 0.4</size></box>";
    let ton = format!(
        r#"<model name="box"><pose>0.8 0 0.2 0 0 0</pose>{}</model>"#,
        link("box", "0 0 0 0 0 0", 15_625.0, size, 1.0)
    );
    let pinched = format!(
        r#"<model name="box"><pose>0.8 0 0.2 0 0 0</pose>{}</model><model name="wall"><static>true</static><link name="link">
        <pose>1.15 0 0.5 0 0 0</pose><collision name="form"><geometry><box><size>0.1 2 1</size></box>
        </geometry></collision></link></model>"#,
        link("box", "0 0 0 0 0 0", 100.0, size, 1.0)
    );
    for (what, others, wanted) in [("a ton", ton, 0.8), ("before a wall", pinched, 0.9)] {
        let world = sdf_world(&format!("{GROUND}{rover}{others}"));
        let (mut at, mut highest, mut rover) = (Vec3::ZERO, 0.0_f64, 0.0);
        Play::native(3.0).with(at_speed(5.0)).watch(&world, |model, state| {
            at = place_of(model, state, "box");
            highest = highest.max(at.z);
            rover = place_of(model, state, "rover").x;
        });
        eprintln!("{what}: box at {at}, up to {highest} m, rover at {rover} m");
        assert!((rover - (wanted - 0.4)).abs() < 3e-3, "{what}: rover at {rover} m");
        assert!((at.x - wanted).abs() < 2e-3, "{what}: at {at}");
        assert!(highest < 0.201, "{what}: up to {highest} m");
    }
}

const INTEGRATORS: [Integrator; 3] =
    [Integrator::SemiImplicit, Integrator::Rk4, Integrator::Adaptive { tolerance: None }];

/// What sticks to something that turns stays where it is on it, by every integrator.
#[test]
fn a_box_on_a_turntable_does_not_creep() {
    let disc = "<cylinder><radius>0.5</radius><length>0.02</length></cylinder>";
    let mut models = format!(
        r#"<model name="table">{}<joint name="axle" type="continuous"><parent>world</parent>
        <child>disc</child><axis><xyz>0 0 1</xyz></axis></joint></model>"#,
        link("disc", "0 0 0.5 0 0 0", 1000.0, disc, 0.4),
    );
    let radii = [0.1, 0.2, 0.3];
    for (i, radius) in radii.iter().enumerate() {
        let form = "<box><size>0.05 0.05 0.05</size></box>";
        let form = link("box", "0 0 0 0 0 0", 500.0, form, 0.4);
        models += &format!(
            r#"<model name="box_{i}"><pose>{radius} 0 0.535 0 0 {i}</pose>{form}</model>"#
        );
    }
    let world = sdf_world(&models);
    for integrator in INTEGRATORS {
        let world = common::by(world.clone(), integrator, ContactLaw::Hard);
        // Up to 3 rad/s in a second and a half.
        let turning =
            By(|now: f64, _: &Model, _: &State| vec![(0, Mode::Velocity, (2.0 * now).min(3.0))]);
        let (mut at, mut crept) = ([0.0; 3], 0.0_f64);
        Play::native(4.0).gains(0.0, 100.0).with(turning).watch(&world, |model, state| {
            for (i, at) in at.iter_mut().enumerate() {
                *at = place_of(model, state, &format!("box_{i}")).with_z(0.0).length();
                crept = crept.max((*at - radii[i]).abs());
            }
        });
        eprintln!("{integrator:?}: at {at:?}, crept {crept} m at most");
        assert!(crept < 1e-4, "{integrator:?}: {crept} m, at {at:?}");
    }
}

/// The same on a disc that is led, whose way no force bends.
#[test]
fn a_box_on_a_led_turntable_does_not_creep() {
    let disc = "<cylinder><radius>0.5</radius><length>0.02</length></cylinder>";
    let led = link("disc", "0 0 0.5 0 0 0", 1000.0, disc, 0.4).replace(
        "<inertial",
        "<headland:twist>0 0 0 0 0 3</headland:twist><kinematic>true</kinematic><inertial",
    );
    let mut models = format!(r#"<model name="table">{led}</model>"#);
    let radii = [0.1, 0.2, 0.3];
    for (i, radius) in radii.iter().enumerate() {
        let form = "<box><size>0.05 0.05 0.05</size></box>";
        // They begin on their way round.
        let (x, y) = (radius * cos(i as f64), radius * sin(i as f64));
        let twist = format!("<headland:twist>{} {} 0 0 0 3</headland:twist>", -3.0 * y, 3.0 * x);
        let form = link("box", "0 0 0 0 0 0", 500.0, form, 0.4);
        let form = form.replace("<inertial", &format!("{twist}<inertial"));
        models +=
            &format!(r#"<model name="box_{i}"><pose>{x} {y} 0.535 0 0 0</pose>{form}</model>"#);
    }
    let world = sdf_world(&models);
    for integrator in INTEGRATORS {
        let world = common::by(world.clone(), integrator, ContactLaw::Hard);
        let (mut at, mut crept) = ([0.0; 3], 0.0_f64);
        Play::native(4.0).watch(&world, |model, state| {
            for (i, at) in at.iter_mut().enumerate() {
                *at = place_of(model, state, &format!("box_{i}")).with_z(0.0).length();
                crept = crept.max((*at - radii[i]).abs());
            }
        });
        eprintln!("{integrator:?}: at {at:?}, crept {crept} m at most");
        assert!(crept < 1e-4, "{integrator:?}: {crept} m, at {at:?}");
    }
}

/// Loads are shared out in some steps and not in others: in the same ones, whoever else is there.
#[test]
fn what_slides_does_not_notice_others() {
    let sliding = |name: &str, y: f64, z: f64| {
        let form = link("box", "0 0 0 0 0 0", 500.0, "<box><size>0.2 0.1 0.1</size></box>", 0.3);
        let form =
            form.replace("<inertial", "<headland:twist>1 0 0 0 0 2</headland:twist><inertial");
        format!(r#"<model name="{name}"><pose>0 {y} {z} 0 0 0</pose>{form}</model>"#)
    };
    let bits = |others: &str| {
        let world = sdf_world(&format!("{GROUND}{}{others}", sliding("one", 0.0, 0.055)));
        let mut out = Vec::new();
        Play::native(0.2).watch(&world, |model, state| {
            let (at, twist) = (place_of(model, state, "one"), twist_of(model, state, "one"));
            out.extend([at, twist.linear, twist.angular].map(|v| v.to_array().map(f64::to_bits)));
        });
        out
    };
    let alone = bits("");
    for k in 0..8 {
        // Others touch the ground some steps earlier.
        let other = sliding("other", 3.0, 0.05 + 1e-4 * f64::from(k));
        assert!(bits(&other) == alone, "beside one that falls {k} tenths of a millimetre");
    }
}

/// A row of boxes that is shoved along, and far from it others that slide: each comes to rest as it
/// does alone, to the bit.
#[test]
fn rows_that_are_shoved_do_not_notice_others() {
    let one = |name: &str, at: Vec3, size: Vec3, speed: f64| {
        let form = format!("<box><size>{} {} {}</size></box>", size.x, size.y, size.z);
        let link = link("box", "0 0 0 0 0 0", 125.0, &form, 0.4);
        let twist = format!("<headland:twist>{speed} 0 0 0 0 0</headland:twist><inertial");
        let link = link.replace("<inertial", &twist);
        format!(
            r#"<model name="{name}"><pose>{} {} {} 0 0 0</pose>{link}</model>"#,
            at.x, at.y, at.z
        )
    };
    let row: String = (0..4)
        .map(|i| {
            let at = Vec3::new(0.2 * f64::from(i), 0.0, 0.1);
            one(&format!("row_{i}"), at, Vec3::splat(0.2), if i == 0 { 0.2 } else { 0.0 })
        })
        .collect();
    let others: String = (0..3)
        .map(|i| {
            let (at, size) = (Vec3::new(0.0, 3.0 + f64::from(i), 0.05), Vec3::new(0.2, 0.2, 0.1));
            one(&format!("other_{i}"), at, size, 2.0 + 0.3 * f64::from(i))
        })
        .collect();
    let bits = |models: &str| {
        let mut out = Vec::new();
        let world = sdf_world(&format!("{GROUND}{models}"));
        Play::native(0.5).watch(&world, |model, state| {
            for i in 0..4 {
                let at = place_of(model, state, &format!("row_{i}"));
                out.push(at.to_array().map(f64::to_bits));
            }
        });
        out
    };
    let alone = bits(&row);
    assert!(bits(&format!("{row}{others}")) == alone, "before others");
    assert!(bits(&format!("{others}{row}")) == alone, "behind others");
}

/// Friction above 10 acts as 10: a slab on a slope so steep that only more would hold it slides by
/// what that leaves.
#[test]
fn friction_without_measure_acts_as_ten() {
    let steep: f64 = 1.49; // its tangent is 12.4
    let (sin, cos) = (headland_base::maths::sin(steep), headland_base::maths::cos(steep));
    let slab = |mu: f64| {
        let form = link("link", "0 0 0 0 0 0", 1000.0, "<box><size>0.4 0.4 0.02</size></box>", mu);
        format!(
            r#"<model name="slope"><static>true</static><pose>0 0 0 0 {steep} 0</pose>{}</model>
            <model name="slab"><pose>{} 0 {} 0 {steep} 0</pose>{form}</model>"#,
            link("link", "0 0 0 0 0 0", 1000.0, "<box><size>20 20 0.1</size></box>", mu),
            0.06 * sin,
            0.06 * cos,
        )
    };
    let slid = |mu: f64| {
        let mut speed = 0.0;
        Play::native(0.3).watch(&sdf_world(&slab(mu)), |model, state| {
            speed = twist_of(model, state, "slab").linear.length();
        });
        speed / 0.3
    };
    let wanted = |mu: f64| GRAVITY * (sin - mu * cos);
    for (mu, acts_as) in [(8.0, 8.0), (10.0, 10.0), (1e5, 10.0)] {
        let (got, wanted) = (slid(mu), wanted(acts_as));
        assert!((got - wanted).abs() < 1e-3 * wanted, "mu = {mu}: {got}, not {wanted} m/s²");
    }
}

/// A cube between two pads that press it with a quarter more than it needs, by surfaces that bounce:
/// what only presses does not, however hard, and the cube stays.
#[test]
fn what_is_pressed_hard_does_not_bounce() {
    let bounces = |body: String| {
        body.replace(
            "</surface>",
            "<bounce><restitution_coefficient>0.5</restitution_coefficient></bounce></surface>",
        )
    };
    let pad = |name: &str, x: f64| {
        let form = "<box><size>0.02 0.1 0.1</size></box>";
        let pad = bounces(link(name, &format!("{x} 0 1 0 0 0"), 100.0, form, 0.5));
        format!(
            r#"<model name="{name}">{pad}<joint name="{name}_rail" type="prismatic"><parent>world
            </parent><child>{name}</child><axis><xyz>1 0 0</xyz></axis></joint></model>"#
        )
    };
    let cube =
        bounces(link("link", "0 0 1 0 0 0", 1000.0, "<box><size>0.1 0.1 0.1</size></box>", 0.5));
    let models =
        format!(r#"{}{}<model name="cube">{cube}</model>"#, pad("left", -0.06), pad("right", 0.06));
    let pressed = 1.25 * GRAVITY;
    let press = By(move |_, _: &Model, _: &State| {
        vec![(0, Mode::Effort, pressed), (1, Mode::Effort, -pressed)]
    });
    let mut fallen = 0.0_f64;
    Play::native(1.0).with(press).watch(&sdf_world(&models), |model, state| {
        fallen = fallen.max(-place_of(model, state, "cube").z);
    });
    assert!(fallen < 1e-6, "it slipped by {fallen} m");
}
