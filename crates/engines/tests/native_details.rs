//! The coarser details through the native engine, by the identities each of them has.

mod common;

use std::sync::Arc;

use common::{By, GROUND, Play, pose_of, sdf_world, whole};
use headland_base::maths::{angle_between, exp, sin};
use headland_base::{Quat, SimDuration, Vec3};
use headland_engines::native::Native;
use headland_sim::{Engine, EngineOptions, Mode, Model, State};
use headland_world::{Detail, World};

/// A walker of two legs, each of which slides forwards and up; 1 m above the ground.
fn walker(name: &str, y: f64, yaw: f64) -> String {
    let leg = |side: &str, y: f64| {
        format!(
            r#"<link name="{side}_hip"><pose>0 {y} 0 0 0 0</pose><inertial><mass>0.1</mass>
            <inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz></inertia></inertial></link>
            <link name="{side}_foot"><pose>0 {y} -0.5 0 0 0</pose><inertial><mass>0.5</mass>
            <inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz></inertia></inertial>
            <collision name="c"><geometry><box><size>0.2 0.1 0.04</size></box></geometry>
            </collision></link>
            <joint name="{side}_swing" type="prismatic"><parent>body</parent>
            <child>{side}_hip</child><axis><xyz>1 0 0</xyz></axis></joint>
            <joint name="{side}_lift" type="prismatic"><parent>{side}_hip</parent>
            <child>{side}_foot</child><axis><xyz>0 0 1</xyz></axis></joint>
            <headland:foot link="{side}_foot"/>"#
        )
    };
    format!(
        r#"<model name="{name}"><pose>0 {y} 0.52 0 0 {yaw}</pose>
        <headland:detail>kinematic</headland:detail>
        <link name="body"><inertial><mass>3</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy>
        <izz>0.1</izz></inertia></inertial></link>{}{}</model>"#,
        leg("left", 0.1),
        leg("right", -0.1)
    )
}

/// One step takes a second: the swinging foot goes up, both legs swing by `length` against each
/// other, the foot comes down. The speeds of the two legs of a walker.
fn gait(now: f64, length: f64) -> [(&'static str, f64); 4] {
    let (step, within) = ((now + 1e-9).floor() as i64, (now + 1e-9).fract());
    let (standing, swinging) = if step % 2 == 0 { ("left", "right") } else { ("right", "left") };
    let lift = if within < 0.25 {
        0.4
    } else if within < 0.75 {
        0.0
    } else {
        -0.4
    };
    let swing = if (0.25..0.75).contains(&within) { length } else { 0.0 };
    let name = |side: &str, what: &str| match (side, what) {
        ("left", "swing") => "left_swing",
        ("left", _) => "left_lift",
        (_, "swing") => "right_swing",
        _ => "right_lift",
    };
    [
        (name(standing, "swing"), -swing),
        (name(swinging, "swing"), swing),
        (name(standing, "lift"), 0.0),
        (name(swinging, "lift"), lift),
    ]
}

/// A walker goes by the vectors from its stance to its swing foot, straight to a nanometre,
/// heading any way, and does not tilt; others beside it change nothing.
#[test]
fn a_kinematic_walker_goes_by_its_steps_and_straight() {
    let yaw = 0.7_f64;
    let world = sdf_world(&format!("{GROUND}{}{}", walker("a", 0.0, yaw), walker("b", 5.0, 0.0)));
    let length = 0.2;
    let walk = By(move |now: f64, model: &Model, _: &State| {
        let mut out = Vec::new();
        for robot in ["a", "b"] {
            for (joint, speed) in gait(now, length) {
                let dof = model.dof(&format!("{robot}::{joint}")).expect("a joint");
                out.push((dof, Mode::Velocity, speed));
            }
        }
        out
    });
    let (mut starts, mut off, mut tilt) = (Vec::new(), 0.0_f64, 0.0_f64);
    let ran = Play::native(8.001).with(walk).gains(100.0, 10.0).watch(&world, |model, state| {
        for (i, robot) in ["a", "b"].into_iter().enumerate() {
            let pose = pose_of(model, state, &format!("{robot}::body"));
            if starts.len() <= i {
                starts.push(pose);
            }
            let across = starts[i].rotation * Vec3::Y;
            off = off.max((pose.translation - starts[i].translation).dot(across).abs());
            tilt = tilt.max(angle_between(pose.rotation, starts[i].rotation));
        }
    });
    // In every step both legs go half of what is between the feet after it: the body goes
    // `length/2` with the leg that stands, and the next foot is `length` ahead of the last.
    let wanted = 8.0 * length / 2.0;
    for (i, robot) in ["a", "b"].into_iter().enumerate() {
        let pose = pose_of(&ran.model, &ran.end.state, &format!("{robot}::body"));
        let way = (pose.translation - starts[i].translation).dot(starts[i].rotation * Vec3::X);
        eprintln!("{robot}: {way} m of {wanted}, {off:e} m aside, tilted {tilt:e} rad");
        assert!((way - wanted).abs() < 1e-3, "{robot}: {way} m, not {wanted}");
    }
    assert!(off < 1e-9 && tilt < 1e-9, "{off} m aside, {tilt} rad");
}

/// Two paddles on a trunk, crosswise: a cat.
fn cat(detail: &str) -> World {
    let mut world = sdf_world(&format!(
        r#"<model name="cat"><pose>0 0 2 0 0 0</pose><headland:detail>{detail}</headland:detail>
        <link name="trunk"><inertial><mass>2</mass><inertia><ixx>0.0033</ixx><iyy>0.0167</iyy>
        <izz>0.0167</izz></inertia></inertial></link>
        <link name="bend"><pose>0.15 0 0 0 0 0</pose><inertial><mass>0.1</mass><inertia>
        <ixx>0.00002</ixx><iyy>0.00002</iyy><izz>0.00002</izz></inertia></inertial></link>
        <link name="tail"><pose>0.15 0 0 0 0 0</pose><inertial><mass>1.5</mass><inertia>
        <ixx>0.0203</ixx><iyy>0.0005</iyy><izz>0.0202</izz></inertia></inertial></link>
        <joint name="nod" type="continuous"><parent>trunk</parent><child>bend</child>
        <axis><xyz>0 1 0</xyz></axis></joint>
        <joint name="roll" type="continuous"><parent>bend</parent><child>tail</child>
        <axis><xyz>1 0 0</xyz></axis></joint></model>"#
    ));
    world.gravity = Vec3::new(0.0, 0.0, -1.0);
    world
}

/// Its joints go three times round a loop. Falling, a `com` cat keeps an angular momentum of
/// nothing and its centre on the parabola, and yet it has turned; `com-fixed`, whose mass stays
/// where it is in the base, has not.
#[test]
fn a_com_cat_turns_in_the_air_and_its_centre_falls_on() {
    for (detail, turns) in [(Detail::Com, true), (Detail::ComFixed, false)] {
        let world = cat(detail.word());
        let wave = By(|now: f64, model: &Model, _: &State| {
            let speed = |name: &str, phase: f64| {
                let on = if now < 3.0 - 1e-9 { 6.0 } else { 0.0 };
                let speed = on * sin(std::f64::consts::TAU * now + phase);
                (model.dof(name).expect("a joint"), Mode::Velocity, speed)
            };
            vec![speed("cat::nod", 0.0), speed("cat::roll", 1.6)]
        });
        let (mut first, mut spin, mut off, mut turned) = (None, 0.0_f64, 0.0_f64, 0.0);
        Play::native(3.5).with(wave).gains(10.0, 1.0).watch(&world, |model, state| {
            let (t, now) = (state.time.secs(), whole(model, state));
            let start = *first.get_or_insert(now.centre);
            // Semi-implicit steps are ahead by half a step of gravity.
            let parabola = start + model.world.gravity * (0.5 * t * (t + 1e-3));
            if turns {
                spin = spin.max(now.spin.length());
                off = off.max(now.centre.distance(parabola));
            }
            turned = angle_between(pose_of(model, state, "cat::trunk").rotation, Quat::IDENTITY);
        });
        eprintln!(
            "{detail:?}: angular momentum {spin:e}, centre off {off:e} m, turned {turned} rad"
        );
        if turns {
            assert!(spin < 1e-9 && off < 1e-9, "{spin}, {off}");
            assert!(turned > 0.05, "{turned}");
        } else {
            assert!(turned < 1e-12, "{turned}");
        }
    }
}

/// Walkers put into each other, foot in foot, leave each other by their middles: the way out of a
/// flat sole is upwards, and nobody goes there.
#[test]
fn walkers_that_stand_in_each_other_are_pushed_apart() {
    for apart in [0.05, 0.09, 0.0] {
        let two = format!("{GROUND}{}{}", walker("a", 0.0, 0.0), walker("b", apart, 0.0));
        let (mut at_first, mut deepest) = (0.0_f64, 0.0_f64);
        Play::native(1.0).watch(&sdf_world(&two), |model, state| {
            let is_foot = |body: usize| model.bodies[body].name.contains("foot");
            let feet = state.contacts.iter().filter(|c| is_foot(c.body_a) && is_foot(c.body_b));
            let depth = feet.map(|contact| contact.depth).fold(0.0, f64::max);
            if state.time.secs() < 0.01 {
                at_first = at_first.max(depth);
            } else if state.time.secs() > 0.9 {
                deepest = deepest.max(depth);
            }
        });
        // Feet are 0.1 m wide and 0.04 m high: the shortest way out of each other.
        let wanted = (0.1 - apart).min(0.04);
        assert!((at_first - wanted).abs() < 1e-6, "{apart} m apart: {at_first} m, not {wanted}");
        assert!(deepest < 1e-3, "{apart} m apart at first, still {deepest} m in each other");
    }
}

/// Warnings of the native engine about a world.
fn told(world: &World) -> Vec<(&'static str, String)> {
    let model = Model::compile(&Arc::new(world.clone())).expect("a world that compiles");
    let options = EngineOptions::new(world.physics.step);
    let notes = Native::default().check(&model, &options);
    notes.into_iter().map(|note| (note.code, note.message)).collect()
}

/// A detail that nothing comes of is told: of what stands, of a single body, of a part.
#[test]
fn idle_details_are_told() {
    let body = |name: &str, inside: &str| {
        format!(
            r#"<model name="{name}"><pose>0 0 5 0 0 0</pose>{inside}<link name="link"><inertial>
            <mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
            </link></model>"#
        )
    };
    let detail = |word: &str| format!("<headland:detail>{word}</headland:detail>");
    let codes = |models: &str| -> Vec<String> {
        let told = told(&sdf_world(&format!("{GROUND}{models}")));
        told.into_iter().filter(|(code, _)| *code == "idle-detail").map(|(_, said)| said).collect()
    };
    let single = codes(&body("ball", &detail("com")));
    assert!(single.len() == 1 && single[0].contains("`ball`"), "{single:?}");
    let stands = codes(&body("wall", &format!("{}<static>true</static>", detail("articulated"))));
    assert!(stands.len() == 1 && stands[0].contains("no force moves it"), "{stands:?}");
    let inner = body("inner", &detail("com"));
    let part = codes(&body("outer", &inner));
    assert!(part.len() == 1 && part[0].contains("`outer::inner`"), "{part:?}");
    // What it is anyway, and what has joints.
    let fine = format!("{}{}", body("ball", &detail("articulated")), walker("robot", 0.0, 0.0));
    assert_eq!(codes(&fine), [""; 0]);
}

/// Walkers without a ground are told of once, all of them.
#[test]
fn a_missing_ground_is_told_once() {
    let two = format!("{}{}", walker("a", 0.0, 0.0), walker("b", 3.0, 0.0));
    let told_of = |world: &World| -> Vec<String> {
        let said = told(world).into_iter().filter(|(code, _)| *code == "no-level-ground");
        said.map(|(_, said)| said).collect()
    };
    let said = told_of(&sdf_world(&two));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("`a`") && said[0].contains("`b`"), "{said:?}");
    assert_eq!(told_of(&sdf_world(&format!("{GROUND}{two}"))), [""; 0]);
    let mut falling = sdf_world(&two);
    for name in ["a", "b"] {
        falling.set_detail(name, Detail::Com).expect("a robot");
    }
    assert_eq!(told_of(&falling), [""; 0]);
}

/// A servo that is told nothing goes to zero, as `e^(−t/lag)`, in steps of any length.
#[test]
fn joints_follow_alike_in_longer_steps() {
    let robot = r#"<model name="robot"><headland:detail>kinematic</headland:detail>
        <pose>0 0 0.1 0 0 0</pose><headland:foot link="trunk"/>
        <link name="trunk"><inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz>
        </inertia></inertial><collision name="c"><geometry><box><size>0.2 0.2 0.2</size></box></geometry>
        </collision></link><link name="arm"><inertial><mass>1</mass><inertia><ixx>0.1</ixx>
        <iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
        <joint name="pin" type="continuous"><parent>trunk</parent><child>arm</child>
        <axis><xyz>0 0 1</xyz><headland:initial_position>0.1</headland:initial_position></axis></joint>
        <headland:actuator name="servo" joint="pin" type="position" kp="100" kv="1.25"/></model>"#;
    for step_millis in [1, 4, 8, 40] {
        let mut world = sdf_world(&format!("{GROUND}{robot}"));
        world.physics.step = SimDuration::from_nanos(step_millis * 1_000_000);
        Play::native(0.4).watch(&world, |_, state| {
            let (q, t) = (state.dofs[0].position, state.time.secs());
            let wanted = 0.1 * exp(-t / 0.0125);
            assert!((q - wanted).abs() < 1e-12, "{step_millis} ms: {q} at {t} s, not {wanted}");
        });
    }
}
