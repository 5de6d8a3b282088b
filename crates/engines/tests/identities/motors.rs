//! What moves axes: servos, springs, dampers, dry friction.

use super::*;

/// A rod that a servo holds level sags until the spring of the servo carries it:
/// `kp·q = m·g·l·cos q`. It holds from the start, without a command; and a velocity servo is
/// a damper, and sinks with `m·g·l·cos q/kv`. Tolerance 0.1 %.
#[test]
fn a_servo_sags_by_the_load_over_its_gain() {
    let arm = |kind: ActuatorKind, effort_range: Option<(f64, f64)>, damping: f64| {
        let rod = link("rod", Vec3::new(0.5, 0.0, 0.0), 2.0, None);
        let hinge = JointKind::Continuous(Axis { damping, ..Axis::along(Vec3::Y) });
        let hinge = joint("hinge", None, "rod", Vec3::new(-0.5, 0.0, 0.0), hinge);
        let servo = Actuator {
            name: "servo".into(),
            joint: "hinge".into(),
            kind,
            gear: 1.0,
            command_range: None,
            effort_range,
            ..Actuator::default()
        };
        let mut model = Model_ { name: "arm".into(), links: vec![rod], ..Model_::default() };
        (model.joints, model.actuators) = (vec![hinge], vec![servo]);
        world(vec![model])
    };
    let load = 2.0 * GRAVITY * 0.5;
    for engine in engines() {
        for kp in [50.0, 5e3] {
            let stiff = ActuatorKind::Position { kp, kv: 0.04 * kp };
            let end = watch(&arm(stiff, None, 0.0), engine, 6.0, |_, _| {});
            let (q, effort) = (end.dofs[0].position, end.dofs[0].effort);
            let wanted = load * cos(q) / kp;
            assert!((q / wanted - 1.0).abs() < 1e-3, "{}: sags {q} of {wanted}", engine.name);
            assert!((effort / -load / cos(q) - 1.0).abs() < 1e-3, "{}: {effort}", engine.name);
        }
        // Too weak to hold it: it gives what it has, and the rod ends up hanging.
        let weak = ActuatorKind::Position { kp: 5e3, kv: 0.0 };
        let end = watch(&arm(weak, Some((-1.0, 1.0)), 2.0), engine, 8.0, |_, _| {});
        let (q, effort) = (end.dofs[0].position, end.dofs[0].effort);
        assert!((cos(q) * load - 1.0).abs() < 0.02 && effort == -1.0, "{}: {q}", engine.name);

        let damper = ActuatorKind::Velocity { kv: 200.0 };
        let end = watch(&arm(damper, None, 0.0), engine, 1.0, |_, _| {});
        let wanted = load * cos(end.dofs[0].position) / 200.0;
        let speed = end.dofs[0].velocity;
        assert!((speed / wanted - 1.0).abs() < 1e-3, "{}: {speed} of {wanted}", engine.name);
    }
}

/// A link on one axis without gravity that starts 0.1 from where a spring of 1,000 N/m, or of
/// as many N·m/rad as makes it swing as fast, would have it; `servo` puts a motor's `kp` in the
/// spring's place, and a hinge sits 0.3 m from the centre of mass where `is_off_centre`.
fn sprung(slides: bool, is_off_centre: bool, servo: bool, step_millis: i64) -> World {
    let mut block = link("block", Vec3::ZERO, 1.0, None);
    block.gravity = false;
    block.inertial.inertia = Mat3::from_diagonal(Vec3::splat(0.1));
    let arm = if is_off_centre { Vec3::new(-0.3, 0.0, 0.0) } else { Vec3::ZERO };
    let stiffness = 1e3 * if slides { 1.0 } else { 0.1 + arm.dot(arm) };
    let spring_stiffness = if servo { 0.0 } else { stiffness };
    let axis = Axis { spring_stiffness, initial_position: 0.1, ..Axis::along(Vec3::Y) };
    let kind = if slides { JointKind::Prismatic(axis) } else { JointKind::Continuous(axis) };
    let servo = servo.then(|| Actuator {
        name: "servo".into(),
        joint: "axis".into(),
        kind: ActuatorKind::Position { kp: stiffness, kv: 0.0 },
        gear: 1.0,
        command_range: None,
        effort_range: None,
        ..Actuator::default()
    });
    let joints = vec![joint("axis", None, "block", arm, kind)];
    let actuators = servo.into_iter().collect();
    let mut world = world(vec![Model_ { joints, actuators, ..thing("block", block) }]);
    world.physics.step = SimDuration::from_nanos(step_millis * 1_000_000);
    world
}

/// Nothing damps, so nothing dies away or builds up: a spring, or a servo without `kv`, on a
/// hinge, on a hinge off the centre of mass and on a slide keeps its amplitude over 60 swings
/// and the period `2π·√(m/k)`, in steps of 1 and of 2 ms. Tolerances 1 %, and 0.05 %.
#[test]
fn an_undamped_spring_keeps_its_amplitude_and_its_period() {
    let period = TAU / sqrt(1e3);
    let cases = [(false, false), (false, true), (true, false)]
        .into_iter()
        .flat_map(|(slides, off)| [(slides, off, false), (slides, off, true)])
        .flat_map(|(slides, off, servo)| [(slides, off, servo, 1), (slides, off, servo, 2)]);
    for (slides, off, servo, millis) in cases {
        for engine in engines() {
            let (mut crossings, mut before, mut late) = (Vec::new(), (0.0, 0.1), 0.0_f64);
            watch(&sprung(slides, off, servo, millis), engine, 12.0, |_, state| {
                let (t, q) = (state.time.secs(), state.dofs[0].position);
                if before.1 < 0.0 && q >= 0.0 {
                    crossings.push(before.0 + (t - before.0) * before.1 / (before.1 - q));
                }
                before = (t, q);
                if t > 11.0 {
                    late = late.max(q.abs());
                }
            });
            let n = crossings.len() - 1;
            let measured = (crossings[n] - crossings[0]) / n as f64;
            let case = format!(
                "{}: slides {slides}, off centre {off}, servo {servo}, {millis} ms",
                engine.name
            );
            eprintln!("{case}: amplitude {late}, period off {:e}", measured / period - 1.0);
            assert!((late / 0.1 - 1.0).abs() < 1e-2, "{case}: amplitude {late}");
            assert!((measured / period - 1.0).abs() < 5e-4, "{case}: {measured} of {period}");
        }
    }
}

/// Two motors on one joint add up, in either order: what one carries as a spring the other
/// slows as a damper, and two springs are as stiff as both. Each keeps to its own range, and
/// an effort that is asked for is given once. Tolerance 0.1 %.
#[test]
fn motors_on_one_joint_add_up() {
    let motor = |name: &str, kind: ActuatorKind, effort_range: Option<(f64, f64)>| Actuator {
        name: name.into(),
        joint: "hinge".into(),
        kind,
        gear: 1.0,
        command_range: None,
        effort_range,
        ..Actuator::default()
    };
    let arm = |actuators: Vec<Actuator>| {
        let rod = link("rod", Vec3::new(0.5, 0.0, 0.0), 2.0, None);
        let hinge = JointKind::Continuous(Axis::along(Vec3::Y));
        let hinge = joint("hinge", None, "rod", Vec3::new(-0.5, 0.0, 0.0), hinge);
        let mut model = Model_ { name: "arm".into(), links: vec![rod], ..Model_::default() };
        (model.joints, model.actuators) = (vec![hinge], actuators);
        world(vec![model])
    };
    let load = 2.0 * GRAVITY * 0.5;
    let spring = motor("spring", ActuatorKind::Position { kp: 1e3, kv: 0.0 }, None);
    let weak = ActuatorKind::Position { kp: 1e3, kv: 0.0 };
    let weak = motor("weak", weak, Some((-2.0, 2.0)));
    let damper = motor("damper", ActuatorKind::Velocity { kv: 40.0 }, None);
    // Held up by `kp·q`, by twice that, and by `kp·q + 2`.
    for (actuators, kp, given) in [
        (vec![spring.clone(), damper.clone()], 1e3, 0.0),
        (vec![damper.clone(), spring.clone()], 1e3, 0.0),
        (vec![spring.clone(), damper.clone(), spring.clone()], 2e3, 0.0),
        (vec![damper.clone(), spring.clone(), weak], 1e3, 2.0),
    ] {
        for engine in engines() {
            let end = watch(&arm(actuators.clone()), engine, 4.0, |_, _| {});
            let (q, effort) = (end.dofs[0].position, end.dofs[0].effort);
            let wanted = (load * cos(q) - given) / kp;
            assert!((q / wanted - 1.0).abs() < 1e-3, "{}: sags {q} of {wanted}", engine.name);
            assert!((effort / -load / cos(q) - 1.0).abs() < 1e-3, "{}: {effort}", engine.name);
        }
    }
    for engine in engines() {
        let mut cast = Cast { controllers: vec![Box::new(Push(0, -load))], ..Cast::default() };
        let both = arm(vec![spring.clone(), damper.clone()]);
        let end = watch_cast(&both, engine, 0.5, &mut cast, &mut |_, _| {});
        assert_eq!(end.dofs[0].effort, -load, "{}", engine.name);
        assert!(end.dofs[0].position.abs() < 1e-3, "{}: {:?}", engine.name, end.dofs[0]);
    }
}

/// A servo whose damper is stiff for the step (`kd·dt/I` = 0.6) rests where its spring carries
/// the load, and stands still there. Position and effort within 0.1 %, velocity 1e-5 rad/s.
#[test]
fn a_stiff_servo_stands_still_where_its_spring_carries_the_load() {
    let size = Vec3::new(1.0, 0.2, 0.2);
    let beam = link("beam", Vec3::new(0.5, 0.0, 0.0), 1.0, Some(Geometry::Box { size }));
    let hinge = JointKind::Continuous(Axis::along(Vec3::Y));
    let servo = Actuator {
        name: "servo".into(),
        joint: "hinge".into(),
        kind: ActuatorKind::Position { kp: 1e3, kv: 200.0 },
        gear: 1.0,
        command_range: None,
        effort_range: None,
        ..Actuator::default()
    };
    let model = Model_ {
        name: "arm".into(),
        joints: vec![joint("hinge", None, "beam", Vec3::new(-0.5, 0.0, 0.0), hinge)],
        links: vec![beam],
        actuators: vec![servo],
        ..Model_::default()
    };
    for engine in engines() {
        let end = watch(&world(vec![model.clone()]), engine, 5.0, |_, _| {});
        let dof = end.dofs[0];
        let load = 0.5 * GRAVITY * cos(dof.position);
        eprintln!("{}: {dof:?} under {load}", engine.name);
        assert!((dof.position * 1e3 / load - 1.0).abs() < 1e-3, "{}: {dof:?}", engine.name);
        assert!((dof.effort / -load - 1.0).abs() < 1e-3, "{}: {dof:?}", engine.name);
        assert!(dof.velocity.abs() < 1e-5, "{}: {dof:?}", engine.name);
    }
}

/// A servo whose damper is stiff for the step, and which is too weak for its load, gives what it
/// has from the moment it is at its limit: `½·I·ω² = m·g·l·sin q − τ·q`, within 1 %. What it
/// did before is over within a step or two.
#[test]
fn a_stiff_servo_at_its_limit_pushes_on() {
    let size = Vec3::new(1.0, 0.2, 0.2);
    let beam = link("beam", Vec3::new(0.5, 0.0, 0.0), 1.0, Some(Geometry::Box { size }));
    let inertia = beam.inertial.inertia.y_axis.y + 0.25;
    let hinge = JointKind::Continuous(Axis::along(Vec3::Y));
    let servo = Actuator {
        name: "servo".into(),
        joint: "hinge".into(),
        kind: ActuatorKind::Position { kp: 1e3, kv: 200.0 },
        gear: 1.0,
        effort_range: Some((-2.0, 2.0)),
        ..Actuator::default()
    };
    let model = Model_ {
        name: "arm".into(),
        joints: vec![joint("hinge", None, "beam", Vec3::new(-0.5, 0.0, 0.0), hinge)],
        links: vec![beam],
        actuators: vec![servo],
        ..Model_::default()
    };
    for engine in engines() {
        let end = watch(&world(vec![model.clone()]), engine, 0.4, |_, _| {});
        let dof = end.dofs[0];
        let (kinetic, work) = (
            0.5 * inertia * dof.velocity * dof.velocity,
            0.5 * GRAVITY * sin(dof.position) - 2.0 * dof.position,
        );
        assert_eq!(dof.effort, -2.0, "{}", engine.name);
        assert!(dof.position > 0.3, "{}: {dof:?}", engine.name);
        assert!((kinetic / work - 1.0).abs() < 0.01, "{}: {kinetic} of {work}", engine.name);
    }
}

/// Dry friction and a damper on one axis: `m·v̇ = −F − d·v` stops after `m/d·ln(1 + d·v₀/F)`,
/// and a damper that is stiff for the step (`d·dt/m` = 50) holds instead of throwing. Where it
/// stops: within 1 %.
#[test]
fn friction_and_a_damper_share_an_axis() {
    let slider = |damping: f64, friction: f64| {
        let mut cart = link("cart", Vec3::ZERO, 2.0, None);
        cart.initial_twist.linear = Vec3::new(1.0, 0.0, 0.0);
        let axis = Axis { damping, friction, ..Axis::along(Vec3::X) };
        let rail = joint("rail", None, "cart", Vec3::ZERO, JointKind::Prismatic(axis));
        world(vec![Model_ { joints: vec![rail], ..thing("cart", cart) }])
    };
    for engine in engines() {
        // x = m/d·(v₀ − F/d·ln(1 + d·v₀/F)) when it stops.
        let (m, d, f) = (2.0, 3.0, 1.0);
        let wanted = m / d * (1.0 - f / d * headland_base::maths::log(1.0 + d / f));
        let end = watch(&slider(d, f), engine, 2.0, |_, _| {});
        let way = end.dofs[0].position;
        assert!((way / wanted - 1.0).abs() < 0.01, "{}: {way} of {wanted}", engine.name);
        let end = watch(&slider(1e5, 1.0), engine, 1.0, |_, _| {});
        assert!(end.dofs[0].position.abs() < 1e-3, "{}: {:?}", engine.name, end.dofs[0]);
    }
}

/// Damping slows exponentially, dry friction stops in finite time, a spring swings.
#[test]
fn damping_friction_and_springs_follow_their_closed_forms() {
    let slider = |axis: Axis, speed: f64| {
        let mut cart = link("cart", Vec3::ZERO, 2.0, None);
        cart.initial_twist.linear = Vec3::new(speed, 0.0, 0.0);
        let rail = joint("rail", None, "cart", Vec3::ZERO, JointKind::Prismatic(axis));
        world(vec![Model_ { joints: vec![rail], ..thing("cart", cart) }])
    };
    for engine in engines() {
        let damped = Axis { damping: 3.0, ..Axis::along(Vec3::X) };
        let end = watch(&slider(damped, 1.0), engine, 1.0, |_, _| {});
        let wanted = headland_base::maths::exp(-1.5);
        assert!(
            (end.dofs[0].velocity / wanted - 1.0).abs() < 5e-3,
            "{}: {:?}",
            engine.name,
            end.dofs[0]
        );

        // v = v0 − (F/m)·t, so it stops after v0²·m/(2·F).
        let braked = Axis { friction: 1.0, ..Axis::along(Vec3::X) };
        let end = watch(&slider(braked, 1.0), engine, 3.0, |_, _| {});
        assert!((end.dofs[0].position - 1.0).abs() < 5e-3, "{}: {:?}", engine.name, end.dofs[0]);
        assert!(end.dofs[0].velocity.abs() < 1e-6, "{}: {:?}", engine.name, end.dofs[0]);

        // x = cos(√(k/m)·t) about the spring's rest.
        let sprung = Axis { spring_stiffness: 8.0, spring_reference: -1.0, ..Axis::along(Vec3::X) };
        let end = watch(&slider(sprung, 0.0), engine, PI, |_, _| {});
        let wanted = -1.0 + cos(2.0 * end.time.secs());
        assert!(
            (end.dofs[0].position - wanted).abs() < 2e-2,
            "{}: {:?} vs {wanted}",
            engine.name,
            end.dofs[0]
        );
    }
}

/// A spring pulls from where it is, also from more than half a turn away:
/// q = q0·cos(√(k/I)·t). Tolerance 1 % of q0.
#[test]
fn a_spring_unwinds_all_its_turns() {
    for start in [0.5, 4.0, 15.0] {
        let axis = Axis { spring_stiffness: 0.04, initial_position: start, ..Axis::along(Vec3::Z) };
        for engine in engines() {
            watch(&wheel(JointKind::Continuous(axis.clone()), 0.0), engine, 3.0, |_, state| {
                let wanted = start * cos(2.0 * state.time.secs());
                let off = (state.dofs[0].position - wanted).abs();
                assert!(off < 0.01 * start, "{}: off by {off} from {start}", engine.name);
            });
        }
    }
}
