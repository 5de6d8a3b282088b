//! What cannot go well in the native engine: it is contained, the run says who left and when,
//! and the others go on to the bit as if nothing had been.

mod common;

use common::{By, GRAVITY, GROUND, Play, Ran, by, place_of, sdf_world, twist_of};
use headland_base::{SimDuration, Vec3};
use headland_engines::native;
use headland_sim::{EngineOptions, Inputs, Mode, Model, RigidState, State};
use headland_world::{ContactLaw, Detail, Integrator, SurfaceLaw, World};

/// An arm of two hinges without limits on a base that is free, hung high, leaning by `lean`.
fn arm(name: &str, x: f64, lean: f64) -> String {
    let link = |name: &str, z: f64| {
        format!(
            r#"<link name="{name}"><pose>0 0 {z} 0 0 0</pose><inertial><mass>1</mass><inertia>
            <ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial></link>"#
        )
    };
    let hinge = |name: &str, parent: &str, child: &str| {
        format!(
            r#"<joint name="{name}" type="continuous"><parent>{parent}</parent>
            <child>{child}</child><pose>0 0 0.25 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint>"#
        )
    };
    format!(
        r#"<model name="{name}"><pose>{x} 0 5 0 {lean} 0</pose>{}{}{}{}{}</model>"#,
        link("base", 0.0),
        link("upper", -0.5),
        link("lower", -1.0),
        hinge("shoulder", "base", "upper"),
        hinge("elbow", "upper", "lower"),
    )
}

/// Whatever joints are told to be at is a number, and of who was lost the same for ever.
fn dofs_stay(ran: &Ran, states: &[Vec<headland_sim::DofState>], what: &str) {
    let lost = ran.model.dof("mid::elbow").expect("an elbow");
    assert!(states.iter().flatten().all(|dof| dof.position.is_finite()), "{what}");
    let held = states.last().expect("states")[lost].position;
    assert!(states[102..].iter().all(|dofs| dofs[lost].position == held), "{what}");
}

/// Three arms that swing, of which one is told `poison` at its elbow after 0.1 s; and every state.
fn swing(
    poison: Option<f64>,
    integrator: Integrator,
) -> (Ran, Vec<Vec<RigidState>>, Vec<Vec<headland_sim::DofState>>) {
    let arms = [arm("left", 0.0, 0.1), arm("mid", 3.0, 0.2), arm("right", 6.0, 0.3)].concat();
    let world = by(sdf_world(&arms), integrator, ContactLaw::Hard);
    let push = By(move |now: f64, model: &Model, _: &State| {
        let effort =
            |name: &str, effort: f64| (model.dof(name).expect("an elbow"), Mode::Effort, effort);
        let of_mid = if now < 0.1 - 1e-9 { 0.5 } else { poison.unwrap_or(0.5) };
        vec![effort("left::elbow", 0.5), effort("mid::elbow", of_mid), effort("right::elbow", -0.7)]
    });
    let (mut states, mut dofs) = (Vec::new(), Vec::new());
    let ran = Play::native(0.5).with(push).watch(&world, |_, state| {
        states.push(state.rigids.clone());
        dofs.push(state.dofs.clone());
    });
    (ran, states, dofs)
}

/// An effort without bounds takes one robot of three out of the motion, in
/// that step; the two beside it, in the same lanes, move as without it to the bit.
#[test]
fn a_robot_that_leaves_the_finite_leaves_alone() {
    for integrator in
        [Integrator::SemiImplicit, Integrator::Rk4, Integrator::Adaptive { tolerance: Some(1e-6) }]
    {
        let (sound, whole_run, _) = swing(None, integrator);
        assert!(sound.end.contained.is_empty() && sound.events.is_empty());
        for poison in [f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            let what = format!("{poison} by {}", integrator.word());
            let (ran, states, dofs) = swing(Some(poison), integrator);
            dofs_stay(&ran, &dofs, &what);
            // Who, and when: every link of the one, and nobody else.
            let mut left: Vec<&str> =
                ran.end.contained.iter().map(|(who, _)| who.as_str()).collect();
            left.sort_unstable();
            assert_eq!(left, ["mid::base", "mid::lower", "mid::upper"], "{what}");
            let moment = SimDuration::from_nanos(101_000_000);
            for (at, who, kind) in &ran.events {
                assert!(who.starts_with("mid::") && kind == "non-finite", "{what}: {who} {kind}");
                assert_eq!(*at - headland_base::SimTime::ZERO, moment, "{what}");
            }
            assert_eq!(ran.events.len(), 3, "{what}");
            assert_eq!((states.len(), ran.end.n_steps), (501, 500), "{what}: it goes on");
            for (n, (with, without)) in states.iter().zip(&whole_run).enumerate() {
                for (i, (now, wanted)) in with.iter().zip(without).enumerate() {
                    let body = &ran.model.bodies[ran.model.rigids[i].body_idxs[0]].name;
                    assert!(now.world_from_rigid.is_finite() && now.twist.linear.is_finite());
                    if body.starts_with("mid::") {
                        assert_eq!(now.is_contained, n > 100, "{what}: {body} in step {n}");
                    } else if !matches!(integrator, Integrator::Adaptive { .. }) {
                        assert_eq!(now, wanted, "{what}: {body} in step {n}");
                    } else {
                        // Inner steps are everybody's: within the tolerance.
                        let (a, b) = (now.world_from_rigid, wanted.world_from_rigid);
                        let apart = a.translation.distance(b.translation);
                        assert!(apart < 1e-4, "{what}: {body} is {apart} m off in step {n}");
                    }
                }
            }
        }
    }
}

/// An effort that is no number, from whoever drives the engine by itself: a command that is none
/// moves nothing, as `headland_sim::Commands` has it.
#[test]
fn an_effort_that_is_no_number_takes_one_robot_out() {
    let arms = [arm("left", 0.0, 0.1), arm("mid", 3.0, 0.2), arm("right", 6.0, 0.3)].concat();
    for integrator in [Integrator::SemiImplicit, Integrator::Rk4] {
        let world = by(sdf_world(&arms), integrator, ContactLaw::Hard);
        let model = Model::compile(&std::sync::Arc::new(world)).expect("compiles");
        let step = SimDuration::from_nanos(1_000_000);
        let of_arm = |poison: f64| {
            let mut engine = (native::ENTRY.make)(&native::ENTRY);
            let mut state = State::initial(&model);
            engine.start(&model, &state, &EngineOptions::new(step)).expect("starts");
            let mut inputs = Inputs { efforts: vec![0.1; model.dofs.len()], ..Inputs::default() };
            for n in 0..100 {
                if n == 50 {
                    inputs.efforts[model.dof("mid::elbow").expect("an elbow")] = poison;
                }
                engine.step(&model, &inputs, step, &mut state).expect("no fault");
            }
            state
        };
        let (sound, poisoned) = (of_arm(0.1), of_arm(f64::NAN));
        for (i, (now, wanted)) in poisoned.rigids.iter().zip(&sound.rigids).enumerate() {
            let body = &model.bodies[model.rigids[i].body_idxs[0]].name;
            assert!(now.world_from_rigid.is_finite(), "{body}");
            assert_eq!(now.is_contained, body.starts_with("mid::"), "{body}");
            assert!(now == wanted || now.is_contained, "{body}");
        }
    }
}

fn block(name: &str, x: f64, z: f64, side: f64, mass: f64) -> String {
    let moment = mass * side * side / 6.0;
    format!(
        r#"<model name="{name}"><pose>{x} 0 {z} 0 0 0</pose><link name="link"><inertial>
        <mass>{mass}</mass><inertia><ixx>{moment}</ixx><iyy>{moment}</iyy><izz>{moment}</izz>
        </inertia></inertial><collision name="c"><geometry><box><size>{side} {side} {side}</size>
        </box></geometry></collision></link></model>"#
    )
}

/// What is thrown beside everything falls as it must: half a step of gravity ahead.
fn falls_by_itself(model: &Model, state: &State, from: Vec3, step: f64) {
    let t = state.time.secs();
    let wanted = from - Vec3::Z * (0.5 * GRAVITY * t * (t + step));
    let at = place_of(model, state, "witness");
    assert!(at.distance(wanted) < 1e-9, "the witness is at {at}, not {wanted}");
}

/// A ton on a gram, a mass ratio of 1e6: both stay where they were put.
#[test]
fn a_ton_stands_on_a_gram() {
    let world = sdf_world(&format!(
        "{GROUND}{}{}{}",
        block("gram", 0.0, 0.05, 0.1, 1e-3),
        block("ton", 0.0, 0.35, 0.5, 1e3),
        block("witness", 20.0, 200.0, 0.1, 1.0),
    ));
    let (mut worst, mut fastest) = (0.0_f64, 0.0_f64);
    let ran = Play::native(3.0).watch(&world, |model, state| {
        for (name, z) in [("gram", 0.05), ("ton", 0.35)] {
            worst = worst.max(place_of(model, state, name).distance(Vec3::Z * z));
            fastest = fastest.max(twist_of(model, state, name).linear.length());
        }
        falls_by_itself(model, state, Vec3::new(20.0, 0.0, 200.0), 1e-3);
    });
    eprintln!("a ton on a gram: {worst:e} m, {fastest:e} m/s");
    assert!(ran.end.contained.is_empty(), "{:?}", ran.end.contained);
    assert!(worst < 1e-4 && fastest < 0.02, "{worst} m, {fastest} m/s");
}

/// A hundred tons on a gram are more than there are digits for: that is told once, with the reason,
/// all stays finite, and who stands beside it goes on as if it were alone.
#[test]
fn contacts_that_find_no_answer_are_told() {
    let witness = block("witness", 20.0, 0.25, 0.5, 5.0);
    let heap = block("gram", 0.0, 0.05, 0.1, 1e-3) + &block("tons", 0.0, 0.15, 0.1, 1e5);
    let play = |models: &str| {
        let world = sdf_world(&format!("{GROUND}{models}"));
        Play::native(0.5).watch(&world, |_, state| {
            assert!(state.rigids.iter().all(|rigid| rigid.world_from_rigid.is_finite()));
        })
    };
    let ran = play(&(witness.clone() + &heap));
    let told = ran.end.remarks.iter().filter(|(text, _)| {
        text.contains("hold `gram::link` and `tons::link`, and what is between, and they are off")
            && text.contains("1e8 times as heavy")
    });
    assert_eq!(told.count(), 1, "{:#?}", ran.end.remarks);
    let alone = play(&witness);
    assert!(alone.end.remarks.is_empty(), "{:?}", alone.end.remarks);
    goes_on_alike("witness", &ran, &alone);
}

/// Ladders of masses up to a ton on a gram, by several factors: every box stays where it was put.
#[test]
fn ladders_of_masses_stand() {
    for factors in [[1.0, 1e3, 1e6], [1.0, 10.0, 1e5]] {
        let boxes: String = factors
            .iter()
            .enumerate()
            .map(|(i, factor)| {
                block(&format!("b{i}"), 0.0, 0.25 + 0.5 * i as f64, 0.5, 1e-3 * factor)
            })
            .collect();
        let mut worst = 0.0_f64;
        let ran =
            Play::native(2.0).watch(&sdf_world(&format!("{GROUND}{boxes}")), |model, state| {
                for i in 0..factors.len() {
                    let at = place_of(model, state, &format!("b{i}"));
                    worst = worst.max(at.distance(Vec3::Z * (0.25 + 0.5 * i as f64)));
                }
            });
        assert!(worst < 1e-6, "{factors:?}: {worst} m off");
        assert!(ran.end.remarks.is_empty(), "{:?}", ran.end.remarks);
    }
}

/// A chain that hangs on the world and swings, with links of a kilogram and of a milligram in turn:
/// what is light in between holds what is heavy, and all of it keeps its energy. A hinge moves no
/// mass that is a sum of a large one and a small one here, so no digits are lost.
#[test]
fn a_chain_of_kilograms_and_milligrams_swings() {
    let links = |i: usize| {
        let mass = if i.is_multiple_of(2) { 1.0 } else { 1e-6 };
        let parent = if i == 0 { "world".to_string() } else { format!("l{}", i - 1) };
        let (z, moment) = (10.0 - 0.3 * i as f64, mass * 0.09 / 12.0);
        format!(
            r#"<link name="l{i}"><pose>0 0 {z} 0 0 0</pose><inertial><pose>0 0 -0.15 0 0 0</pose>
            <mass>{mass}</mass><inertia><ixx>{moment}</ixx><iyy>{moment}</iyy><izz>{moment}</izz>
            </inertia></inertial></link><joint name="j{i}" type="continuous"><parent>{parent}</parent>
            <child>l{i}</child><axis><xyz>0 1 0</xyz><headland:initial_position>0.3
            </headland:initial_position></axis></joint>"#
        )
    };
    let chain = (0..6).map(links).collect::<String>();
    let text = format!(r#"<model name="chain">{chain}</model>"#);
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-9) };
    for (integrator, allowed) in
        [(Integrator::SemiImplicit, 1e-2), (Integrator::Rk4, 1e-6), (adaptive, 1e-6)]
    {
        let world = by(sdf_world(&text), integrator, ContactLaw::Hard);
        let (mut first, mut worst, mut fastest) = (None, 0.0_f64, 0.0_f64);
        let ran = Play::native(5.0).watch(&world, |model, state| {
            let now = common::energy(model, state);
            let start = *first.get_or_insert(now);
            // Against what there is to fall: three kilograms by about a metre.
            worst = worst.max((now - start).abs() / (3.0 * GRAVITY));
            fastest = state.dofs.iter().map(|dof| dof.velocity.abs()).fold(fastest, f64::max);
        });
        let word = integrator.word();
        eprintln!("{word}: energy off by {worst:e}, up to {fastest} rad/s");
        assert!(ran.end.contained.is_empty(), "{word}: {:?}", ran.end.contained);
        assert!(fastest > 1.0 && worst < allowed, "{word}: {worst}, {fastest} rad/s");
    }
}

/// Steps of 100 ms, a hundred times too long for servos and soles: nothing leaves the finite
/// without being told, nothing that stays is thrown out of the field, and who touches nobody
/// falls as it must. `adaptive` shortens them where springs need it, and throws nothing at all.
#[test]
fn steps_of_100_ms_are_survived() {
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-2) };
    for law in [ContactLaw::Hard, ContactLaw::Soft, ContactLaw::SoftCoulomb] {
        for integrator in [Integrator::SemiImplicit, Integrator::Rk4, adaptive] {
            let players: String = (0..3)
                .map(|i| {
                    format!(
                        "<include><uri>robots/player</uri><name>robot_{i}</name>\
                         <pose>{i} 0 0 0 0 0</pose></include>"
                    )
                })
                .collect();
            let mut world = sdf_world(&format!(
                "{GROUND}{players}{}{}{}",
                block("box", -40.0, 0.25, 0.5, 1.0),
                block("cube", -20.0, 0.05, 0.1, 0.05),
                block("witness", 20.0, 2000.0, 0.1, 1.0),
            ));
            world.physics.step = SimDuration::from_nanos(100_000_000);
            let follows = law == ContactLaw::Hard || integrator == adaptive;
            let world = by(world, integrator, law);
            let what = format!("{law:?} by {}", integrator.word());
            // Its inner steps take their time.
            let secs = if integrator == adaptive { 2.0 } else { 5.0 };
            let ran = Play::native(secs).watch(&world, |model, state| {
                for (rigid, now) in model.rigids.iter().zip(&state.rigids) {
                    let name = &model.bodies[rigid.body_idxs[0]].name;
                    let at = now.world_from_rigid;
                    assert!(at.is_finite() && now.twist.linear.is_finite(), "{what}: {name}");
                    let off = at.translation.length();
                    let is_witness = name.starts_with("witness");
                    assert!(is_witness || off < 60.0, "{what}: {name} is {off} m off");
                    assert!(is_witness || !follows || off < 42.0, "{what}: {name} is {off} m off");
                }
                if integrator == Integrator::SemiImplicit {
                    falls_by_itself(model, state, Vec3::new(20.0, 0.0, 2000.0), 0.1);
                }
            });
            // Whoever left is named once, link by link, with the moment.
            let told: Vec<_> = ran.events.iter().filter(|event| event.2 == "non-finite").collect();
            assert_eq!(told.len(), ran.end.contained.len(), "{what}");
            eprintln!("{what}: {} links contained", told.len());
            // The witness is not among them, and the boxes where their springs throw them.
            let is_told = |name: &str| told.iter().any(|(_, who, _)| who.starts_with(name));
            assert!(!is_told("witness"), "{what}: {told:?}");
            for (name, x, z) in [("box", -40.0, 0.25), ("cube", -20.0, 0.05)] {
                assert_eq!(is_told(name), !follows, "{what}: {told:?}");
                let at = place_of(&ran.model, &ran.end.state, name);
                let off = at.distance(Vec3::new(x, 0.0, z));
                assert!(!follows || off < 0.01, "{what}: {name} is {off} m off");
            }
            assert!(!follows || told.is_empty(), "{what}: {:?}", ran.end.contained);
            for i in (0..3).filter(|_| follows) {
                let name = format!("robot_{i}");
                let off =
                    place_of(&ran.model, &ran.end.state, &name).distance(Vec3::X * f64::from(i));
                eprintln!("{what}: {name} is {off} m off");
                assert!(off < 1.0, "{what}: {name} is {off} m off");
            }
        }
    }
}

/// Light boxes on each other, whose springs are quick, stay where they are by `adaptive` in steps of
/// any length.
#[test]
fn light_boxes_stay_on_each_other() {
    for (law, millis) in [ContactLaw::Soft, ContactLaw::SoftCoulomb]
        .into_iter()
        .flat_map(|law| [1, 2, 5, 20, 100].map(|millis| (law, millis)))
    {
        let boxes: String = (0..3)
            .map(|i| {
                let z = 0.025 + 0.05 * f64::from(i);
                block(&format!("box_{i}"), 0.0, z, 0.05, 0.0125)
            })
            .collect();
        let mut world = sdf_world(&format!("{GROUND}{boxes}"));
        world.physics.step = SimDuration::from_nanos(millis * 1_000_000);
        let world = by(world, Integrator::Adaptive { tolerance: Some(1e-6) }, law);
        let ran = Play::native(1.0).watch(&world, |_, _| {});
        for i in 0..3 {
            let at = place_of(&ran.model, &ran.end.state, &format!("box_{i}"));
            let off = at.distance(Vec3::Z * (0.025 + 0.05 * f64::from(i)));
            let what = format!("{} in {millis} ms: box {i}", law.word());
            eprintln!("{what} is {off} m off");
            assert!(off < 2e-3, "{what} is {off} m off");
        }
    }
}

/// `adaptive` parts long steps of robots that move in a way of their own and does no more for them:
/// a spring that is too stiff even so is warned of before the run and held in it, as by the other
/// integrators, and who stands beside them stays.
#[test]
fn adaptive_watches_who_moves_in_a_way_of_its_own() {
    let player = "<include><uri>robots/player</uri><name>robot</name></include>";
    let witness = block("witness", 20.0, 0.25, 0.5, 20.0);
    for detail in [Detail::Com, Detail::ComFixed] {
        for law in [ContactLaw::Soft, ContactLaw::SoftCoulomb] {
            for (stiffness, is_too_stiff) in [(3e4, false), (1e9, true)] {
                let mut world = sdf_world(&format!("{GROUND}{player}{witness}"));
                world.physics.step = SimDuration::from_nanos(10_000_000);
                let laws = &mut world.physics.native.surface_laws;
                laws.push(SurfaceLaw { stiffness: Some(stiffness), ..SurfaceLaw::default() });
                let robot = world.models.iter_mut().find(|model| model.name == "robot");
                robot.expect("a robot").detail = Some(detail);
                let world = by(world, Integrator::Adaptive { tolerance: Some(1e-4) }, law);
                let what = format!("{} under {}, {stiffness} N/m", detail.word(), law.word());
                let model = Model::compile(&std::sync::Arc::new(world.clone())).expect("compiles");
                let engine = (native::ENTRY.make)(&native::ENTRY);
                let found = engine.check(&model, &EngineOptions::new(world.physics.step));
                let warned = found.iter().find(|one| one.code == "step-too-long");
                let of = warned.map(|one| one.message.as_str()).unwrap_or_default();
                assert_eq!(of.contains("under `robot`: hits"), is_too_stiff, "{what}: {of}");
                let mut furthest = 0.0_f64;
                let ran = Play::native(5.0).watch(&world, |model, state| {
                    let torso = place_of(model, state, "robot");
                    furthest = furthest.max(torso.length());
                });
                let at = place_of(&ran.model, &ran.end.state, "witness");
                eprintln!("{what}: up to {furthest} m off, {} held", ran.end.contained.len());
                assert!(
                    furthest < if is_too_stiff { 2.0 } else { 0.5 },
                    "{what}: {furthest} m off"
                );
                assert_eq!(ran.end.contained.is_empty(), !is_too_stiff, "{what}");
                assert!(at.distance(Vec3::new(20.0, 0.0, 0.25)) < 0.02, "{what}: {at}");
            }
        }
    }
}

/// Where the way of whoever is called so is the same to the bit in both runs.
fn goes_on_alike(name: &str, one: &Ran, other: &Ran) {
    let of = |ran: &Ran| {
        (place_of(&ran.model, &ran.end.state, name), twist_of(&ran.model, &ran.end.state, name))
    };
    assert_eq!(of(one), of(other), "{name}");
}

/// Steps too long for the spring under one block and not under another: the one is held where it
/// was, with words that name a step, and the other goes on as if it were alone.
#[test]
fn what_a_spring_would_throw_is_held_and_told() {
    for law in [ContactLaw::Soft, ContactLaw::SoftCoulomb] {
        for integrator in [Integrator::SemiImplicit, Integrator::Rk4] {
            let world = |light: &str| {
                let heavy = block("heavy", 20.0, 0.3, 0.5, 5e3);
                let mut world = sdf_world(&format!("{GROUND}{heavy}{light}"));
                world.physics.step = SimDuration::from_nanos(100_000_000);
                by(world, integrator, law)
            };
            let what = format!("{law:?} by {}", integrator.word());
            let mut highest = 0.0_f64;
            let light = block("light", 0.0, 0.3, 0.5, 1.0);
            let ran = Play::native(5.0).watch(&world(&light), |model, state| {
                highest = highest.max(place_of(model, state, "light").z);
            });
            assert!(highest < 1.0, "{what}: {highest} m high");
            let held: Vec<&str> = ran.end.contained.iter().map(|(who, _)| who.as_str()).collect();
            assert_eq!(held, ["light::link"], "{what}");
            let remarks = &ran.end.remarks;
            let words = &remarks.first().expect("words").0;
            assert!(words.contains("threw them apart") && words.contains("--step"), "{words}");
            goes_on_alike("heavy", &ran, &Play::native(5.0).watch(&world(""), |_, _| {}));
        }
    }
}

/// What bounces as it should is never taken for thrown: a cube on springs that give everything
/// back, dropped from 3 m so that it hits anywhere within a step, in steps in which they swing
/// by 0.3 to 0.8 rad; by every integrator.
#[test]
fn what_bounces_is_not_held() {
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-6) };
    for integrator in [Integrator::SemiImplicit, Integrator::Rk4, adaptive] {
        for (step, n) in [(2_000_000, 12), (3_500_000, 12), (5_000_000, 12)] {
            for i in 0..n {
                let drop = 3.0 + 0.04 * f64::from(i) / f64::from(n);
                let cube = block("cube", 0.0, drop, 0.5, 1.0);
                let mut world = sdf_world(&format!("{GROUND}{cube}"));
                world.physics.step = SimDuration::from_nanos(step);
                let mut world = by(world, integrator, ContactLaw::SoftCoulomb);
                world.physics.native.surface_laws =
                    vec![SurfaceLaw { separation: Some(0.98), ..SurfaceLaw::default() }];
                let mut highest = 0.0_f64;
                let ran = Play::native(2.0).watch(&world, |model, state| {
                    if state.time.secs() > 1.0 {
                        highest = highest.max(place_of(model, state, "cube").z);
                    }
                });
                let what = format!("{step} ns by {}, from {drop} m", integrator.word());
                assert!(ran.end.contained.is_empty(), "{what}: {:?}", ran.end.remarks);
                assert!(highest > 1.0, "{what}: it bounced {highest} m high");
            }
        }
    }
}

/// A mass ratio of 1e6 on springs that carry a thousandth of it: what sinks through is told, all
/// stays finite, and who stands beside it goes on as if it were alone.
#[test]
fn what_sinks_through_is_told() {
    for law in [ContactLaw::Soft, ContactLaw::SoftCoulomb] {
        let world = |others: &str| {
            let witness = block("witness", 20.0, 0.25, 0.5, 5.0);
            by(sdf_world(&format!("{GROUND}{witness}{others}")), Integrator::SemiImplicit, law)
        };
        let others = block("light", 0.0, 0.1, 0.2, 1.0) + &block("heavy", 0.0, 0.3, 0.2, 1e6);
        let ran = Play::native(2.0).watch(&world(&others), |_, state| {
            assert!(state.rigids.iter().all(|rigid| rigid.world_from_rigid.is_finite()));
        });
        let remarks: Vec<&str> = ran.end.remarks.iter().map(|(text, _)| text.as_str()).collect();
        let of = |name: &str| {
            let told =
                remarks.iter().filter(|text| text.contains(name) && text.contains("overlap"));
            told.count()
        };
        assert!(of("`heavy::link`") >= 1 && of("`ground::link`") >= 1, "{law:?}: {remarks:#?}");
        assert_eq!(of("`witness::link`"), 0, "{law:?}: {remarks:#?}");
        let alone = Play::native(2.0).watch(&world(""), |_, _| {});
        assert!(alone.end.remarks.is_empty(), "{law:?}: {:?}", alone.end.remarks);
        goes_on_alike("witness", &ran, &alone);
    }
}

/// Before the run: a step in which a spring swings too far is warned of, with one that suits.
#[test]
fn a_step_too_long_for_springs_is_warned_of() {
    let codes = |step: i64, law: ContactLaw| -> Vec<&'static str> {
        let world = sdf_world(&format!("{GROUND}{}", block("box", 0.0, 0.25, 0.5, 1.0)));
        let world = by(world, Integrator::SemiImplicit, law);
        let model = Model::compile(&std::sync::Arc::new(world)).expect("compiles");
        let options = EngineOptions::new(SimDuration::from_nanos(step));
        let engine = (native::ENTRY.make)(&native::ENTRY);
        engine.check(&model, &options).iter().map(|found| found.code).collect()
    };
    assert_eq!(codes(1_000_000, ContactLaw::Soft), [""; 0]);
    assert_eq!(codes(10_000_000, ContactLaw::Soft), ["step-too-long"]);
    assert_eq!(codes(10_000_000, ContactLaw::SoftCoulomb), ["step-too-long"]);
    assert_eq!(codes(10_000_000, ContactLaw::Hard), [""; 0]);
}

/// A ball jammed between two players and a board, overlapping all of them at the start, as once
/// made everything non-finite; the players' servos press on.
fn jam(overlap: f64) -> World {
    let board = r#"<model name="board"><static>true</static><pose>0.17 0 0.1 0 0 0</pose>
        <link name="link"><collision name="c"><geometry><box><size>0.2 2 0.2</size></box></geometry>
        </collision></link></model>"#;
    let player = |name: &str, y: f64, yaw: f64| {
        format!(
            "<include><uri>robots/player</uri><name>{name}</name><pose>-0.04 {y} 0 0 0 {yaw}</pose>\
             </include>"
        )
    };
    // Their toes are 0.087 m ahead of them and 0.016 m high, where the ball is 0.0445 m wide.
    let aside = 0.087 + 0.0445 - overlap;
    let ball = r#"<model name="ball"><pose>0 0 0.07 0 0 0</pose><link name="link">
        <inertial><mass>0.2</mass><inertia><ixx>0.0004</ixx><iyy>0.0004</iyy><izz>0.0004</izz>
        </inertia></inertial><collision name="c"><geometry><sphere><radius>0.07</radius></sphere>
        </geometry></collision></link></model>"#;
    sdf_world(&format!(
        "{GROUND}{board}{ball}{}{}{}",
        player("one", aside, -1.57),
        player("two", -aside, 1.57),
        block("witness", 20.0, 200.0, 0.1, 1.0),
    ))
}

#[test]
fn a_jammed_ball_is_let_go_in_peace() {
    for overlap in [0.01, 0.05] {
        for law in [ContactLaw::Hard, ContactLaw::Soft, ContactLaw::SoftCoulomb] {
            let world = by(jam(overlap), Integrator::SemiImplicit, law);
            let (mut fastest, mut most) = (0.0_f64, 0);
            let ran = Play::native(0.4).watch(&world, |model, state| {
                assert!(state.rigids.iter().all(|rigid| rigid.world_from_rigid.is_finite()));
                fastest = fastest.max(twist_of(model, state, "ball").linear.length());
                let ball =
                    model.bodies.iter().position(|b| b.name == "ball::link").expect("a ball");
                let touching = state.contacts.iter();
                let of_ball = |c: &&headland_sim::Contact| c.body_a == ball || c.body_b == ball;
                most = most.max(touching.filter(of_ball).count());
                falls_by_itself(model, state, Vec3::new(20.0, 0.0, 200.0), 1e-3);
            });
            let at = place_of(&ran.model, &ran.end.state, "ball");
            eprintln!("{overlap} m, {law:?}: {most} contacts, up to {fastest} m/s, ends at {at}");
            assert!(most >= 2, "it is jammed: {most} contacts");
            assert!(ran.end.contained.is_empty(), "{law:?}: {:?}", ran.end.contained);
            assert!(at.z > 0.0 && at.length() < 1.0, "{law:?}: the ball is at {at}");
            // By the hard law overlap is taken out at 1 m/s at most and leaves no speed behind; a
            // spring that was pressed in gives back what is in it.
            let limit = if law == ContactLaw::Hard { 1.5 } else { 20.0 };
            assert!(fastest < limit, "{law:?}: {fastest} m/s");
        }
    }
}
