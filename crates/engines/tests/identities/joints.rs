//! Joints: swings, threads, mimics, limits.

use super::*;

/// The engines that are asked about screws and mimics.
const ASKED_OF_TIES: &[EngineEntry] =
    &[rapier::ENTRY, native::ENTRY, mujoco::ENTRY, ode::ENTRY, bullet::ENTRY];

/// A rod on a hinge: T = 2π·√(I/(m·g·l)) for small swings, times (1 + θ²/16) for the first
/// order in the amplitude. Tolerance 0.1 %.
#[test]
fn pendulum_period() {
    let (length, mass, amplitude) = (1.0, 2.0, 0.1);
    let mut bob = link("bob", Vec3::new(0.0, 0.0, -length), mass, None);
    bob.inertial.inertia = Mat3::from_diagonal(Vec3::splat(0.02));
    let mut axis = Axis::along(Vec3::Y);
    axis.initial_position = amplitude;
    let hinge =
        joint("hinge", None, "bob", Vec3::new(0.0, 0.0, length), JointKind::Continuous(axis));
    let model = Model_ { joints: vec![hinge], ..thing("pendulum", bob) };
    let about_hinge = 0.02 + mass * length * length;
    let period =
        TAU * sqrt(about_hinge / (mass * GRAVITY * length)) * (1.0 + amplitude * amplitude / 16.0);
    for engine in engines() {
        let mut crossings = Vec::new();
        let mut before = (0.0, amplitude);
        let mut worst_length: f64 = 0.0;
        watch(&world(vec![model.clone()]), engine, 20.0, |model, state| {
            let (t, q) = (state.time.secs(), state.dofs[0].position);
            if before.1 < 0.0 && q >= 0.0 {
                crossings.push(before.0 + (t - before.0) * before.1 / (before.1 - q));
            }
            before = (t, q);
            worst_length =
                worst_length.max((place_of(state, model, "pendulum").length() - length).abs());
        });
        let measured =
            (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
        assert!((measured / period - 1.0).abs() < 1e-3, "{}: {measured} vs {period}", engine.name);
        assert!(worst_length < 1e-4, "{}: the rod stretches by {worst_length}", engine.name);
        eprintln!("{}: period {measured} wanted {period}, stretch {worst_length:e}", engine.name);
    }
}

#[test]
fn a_nut_on_a_screw_falls_as_its_thread_says() {
    let pitch = 0.02;
    let mut nut = link("nut", Vec3::ZERO, 1.0, None);
    nut.inertial.inertia = Mat3::from_diagonal(Vec3::new(1e-3, 1e-3, 4e-4));
    let kind = JointKind::Screw { axis: Axis::along(Vec3::Z), metres_per_radian: pitch };
    let model = Model_ {
        joints: vec![joint("thread", None, "nut", Vec3::ZERO, kind)],
        ..thing("nut", nut)
    };
    let wanted = GRAVITY / (1.0 + 4e-4 / (pitch * pitch));
    for engine in those_there(ASKED_OF_TIES) {
        watch(&world(vec![model.clone()]), engine, 1.0, |model, state| {
            let t = state.time.secs();
            let z = place_of(state, model, "nut").z;
            assert!(
                (z - pitch * state.dofs[0].position).abs() < 1e-4,
                "{}: the thread slips",
                engine.name
            );
            let fallen = 0.5 * wanted * t * t;
            assert!(
                (z + fallen).abs() < 0.01 * fallen + 2e-4,
                "{}: {z} vs {fallen} at {t}",
                engine.name
            );
        });
    }
}

/// A follower keeps to its leader while a motor drives the leader: within 2 mrad.
#[test]
fn a_mimic_follows_its_leader() {
    let arm = |name: &str, x: f64| {
        let mut arm = link(name, Vec3::new(x, 0.0, 0.0), 1.0, None);
        arm.gravity = false;
        arm
    };
    let mut following = Axis::along(Vec3::Z);
    following.mimic = Some(Mimic {
        leader: "first".into(),
        leader_axis: 0,
        multiplier: -2.0,
        offset: 0.3,
        reference: 0.0,
    });
    following.initial_position = 0.3;
    let model = Model_ {
        links: vec![arm("a", 0.0), arm("b", 1.0)],
        joints: vec![
            joint("first", None, "a", Vec3::ZERO, JointKind::Continuous(Axis::along(Vec3::Z))),
            joint("second", None, "b", Vec3::ZERO, JointKind::Continuous(following)),
        ],
        ..thing("pair", arm("unused", 0.0))
    };
    for engine in those_there(ASKED_OF_TIES) {
        let mut cast = Cast { controllers: vec![Box::new(Push(0, 0.02))], ..Cast::default() };
        let end =
            watch_cast(&world(vec![model.clone()]), engine, 2.0, &mut cast, &mut |_, state| {
                let off = state.dofs[1].position - (-2.0 * state.dofs[0].position + 0.3);
                assert!(off.abs() < 2e-3, "{}: off by {off} at {}", engine.name, state.time);
            });
        // The motor turns both: τ = (I1 + 4·I2)·q̈.
        let wanted = 0.5 * 0.02 / (0.01 + 4.0 * 0.01) * 4.0;
        let q = end.dofs[0].position;
        assert!((q / wanted - 1.0).abs() < 0.01, "{}: {q} vs {wanted}", engine.name);
    }
}

/// A universal joint is not a ball joint: a bob that hangs from one swings both ways and
/// keeps the right angle between the axes, so it cannot spin about its own length.
#[test]
fn a_universal_joint_swings_both_ways_and_does_not_spin() {
    let mut bob = link("bob", Vec3::new(0.0, 0.0, -1.0), 1.0, None);
    bob.inertial.inertia = Mat3::from_diagonal(Vec3::new(0.01, 0.02, 0.015));
    let mut first = Axis::along(Vec3::X);
    first.initial_position = 0.8;
    let mut second = Axis::along(Vec3::Y);
    second.initial_position = 0.5;
    let hinge = joint("cross", None, "bob", Vec3::Z, JointKind::Universal(first, second));
    let model = Model_ { joints: vec![hinge], ..thing("pendulum", bob) };
    for engine in engines() {
        let (mut energy, mut swung) = (None, [0.0f64; 2]);
        watch(&world(vec![model.clone()]), engine, 5.0, |model, state| {
            let turn = state.relative_motion(&model.joints[0]).parent_from_child.rotation;
            let right_angle = Vec3::X.dot(turn * Vec3::Y);
            assert!(right_angle.abs() < 2e-3, "{}: the cross bends by {right_angle}", engine.name);
            let now =
                state.kinetic_energy(model, 0) + GRAVITY * place_of(state, model, "pendulum").z;
            let start = *energy.get_or_insert(now);
            assert!(
                (now - start).abs() < 0.02 * GRAVITY,
                "{}: energy {now} of {start}",
                engine.name
            );
            for (far, dof) in swung.iter_mut().zip(&state.dofs) {
                *far = far.max(-dof.position);
            }
        });
        assert!(swung[0] > 0.5 && swung[1] > 0.3, "{}: it only reached {swung:?}", engine.name);
    }
}

/// Limits hold: a cart pushed against one stays there, within 1 mm.
#[test]
fn a_limit_holds() {
    let mut cart = link("cart", Vec3::ZERO, 2.0, None);
    cart.initial_twist.linear = Vec3::new(1.0, 0.0, 0.0);
    let axis = Axis { lower: -0.1, upper: 0.25, ..Axis::along(Vec3::X) };
    let rail = joint("rail", None, "cart", Vec3::ZERO, JointKind::Prismatic(axis));
    let world = world(vec![Model_ { joints: vec![rail], ..thing("cart", cart) }]);
    for engine in engines() {
        let mut cast = Cast { controllers: vec![Box::new(Push(0, 5.0))], ..Cast::default() };
        let end = watch_cast(&world, engine, 2.0, &mut cast, &mut |_, state| {
            assert!(state.dofs[0].position < 0.252, "{}: {:?}", engine.name, state.dofs[0]);
        });
        assert!((end.dofs[0].position - 0.25).abs() < 1e-3, "{}: {:?}", engine.name, end.dofs[0]);
    }
}

/// Limits of a turn hold wherever they are: near, beyond half a turn, beyond several turns,
/// and open on one side. Within 5 mrad.
#[test]
fn limits_of_a_turn_hold_beyond_half_a_turn() {
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    for (lower, upper) in
        [(-1.0, 1.0), (-4.0, 4.0), (-1.0, 20.0), (free.0, 1.0), (free.0, 9.0), (0.0, 6.2)]
    {
        let axis = Axis { lower, upper, ..Axis::along(Vec3::Z) };
        for engine in those_there(ASKED_OF_TIES) {
            for kind in [
                JointKind::Revolute(axis.clone()),
                JointKind::Screw { axis: axis.clone(), metres_per_radian: 0.001 },
            ] {
                let mut cast =
                    Cast { controllers: vec![Box::new(Push(0, 0.05))], ..Cast::default() };
                let end =
                    watch_cast(&wheel(kind.clone(), 0.0), engine, 4.0, &mut cast, &mut |_, _| {});
                let off = end.dofs[0].position - upper;
                assert!(
                    off.abs() < 5e-3,
                    "{}: {} to {upper} is off by {off}",
                    engine.name,
                    kind.word()
                );
            }
        }
    }
}

/// A bob on a ball joint keeps its energy and its angular momentum about the vertical, and
/// stays at its distance. Tolerance 1 %, and 0.1 mm.
#[test]
fn a_ball_joint_keeps_energy_and_momentum_about_the_vertical() {
    let mut bob = link("bob", Vec3::new(0.6, 0.0, -0.8), 1.0, None);
    bob.initial_twist.linear = Vec3::new(0.0, 1.5, 0.0);
    let socket = joint("socket", None, "bob", Vec3::new(-0.6, 0.0, 0.8), JointKind::Ball);
    // The bob turns with its arm: ω = r × v / r².
    bob.initial_twist.angular = Vec3::new(0.6, 0.0, -0.8).cross(Vec3::new(0.0, 1.5, 0.0));
    let model = Model_ { joints: vec![socket], ..thing("pendulum", bob) };
    for engine in engines() {
        let mut first = None;
        watch(&world(vec![model.clone()]), engine, 5.0, |model, state| {
            let (place, velocity) =
                (place_of(state, model, "pendulum"), speed_of(state, model, "pendulum"));
            let spin = model.rigids[0].inertia.col(2).z * state.rigids[0].twist.angular.z;
            let now = (
                state.kinetic_energy(model, 0) + GRAVITY * place.z,
                place.cross(velocity).z + spin,
            );
            let start = *first.get_or_insert(now);
            assert!(
                (now.0 - start.0).abs() < 0.01 * GRAVITY,
                "{}: {now:?} of {start:?}",
                engine.name
            );
            assert!((now.1 / start.1 - 1.0).abs() < 0.01, "{}: {now:?} of {start:?}", engine.name);
            assert!((place.length() - 1.0).abs() < 1e-4, "{}: {}", engine.name, place.length());
        });
    }
}
