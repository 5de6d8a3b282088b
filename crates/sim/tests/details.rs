//! Robots at every detail that is not the full one, by identities.

mod yard;

use headland_base::maths::{PI, TAU, Vec3, angle_between, atan2, cos, quat_from_rpy, sin, tan};
use headland_base::{Diagnostic, Mat3, Transform};
use headland_sim::Order;
use headland_sim::State;
use headland_sim::motion::{
    Articulated, OneBody, Pack, Stance, TOUCH, Vehicle, needs, needs_ground,
};
use headland_sim::tree::{Forest, Lanes};
use headland_world::{
    Axis, Collision, Detail, Geometry, JointKind, Link, Mimic, Model as WorldModel, Surface, World,
};
use yard::{FOOT, Yard, cart, humanoid, joint, link, post_walker, turns, two_feet, world_of};

const HERE: (Vec3, f64) = (Vec3::ZERO, 0.0);

fn walker_at(places: &[(Vec3, f64)]) -> Yard<Stance<f64>> {
    Yard::new(&world_of(&post_walker(&two_feet()), places), 0..1, 0.01, Stance::new)
}

fn cart_of(wheels: &[Vec3], dt: f64) -> Yard<Vehicle<f64>> {
    Yard::new(&world_of(&cart(wheels, RADIUS), &[HERE]), 0..1, dt, Vehicle::new)
}

const RADIUS: f64 = 0.1;

fn yaw_of(pose: &Transform) -> f64 {
    let x = pose.vector(Vec3::X);
    atan2(x.y, x.x)
}

/// One step: the free foot is lifted, carried forwards while the trunk goes half as far, and
/// put down.
fn stride(yard: &mut Yard<Stance<f64>>, free: usize, length: f64) {
    let standing = 1 - free;
    let name = |word: &str, i: usize| format!("walker0::{word}{i}");
    yard.go(&[(&name("lift", free), 0.03)], 7);
    let (there, back) = (name("reach", free), name("reach", standing));
    yard.go(&[(&there, length * 0.5), (&back, -length * 0.5)], 13);
    yard.go(&[(&name("lift", free), 0.0)], 7);
}

#[test]
fn a_walker_goes_by_the_vectors_from_its_stance_to_its_swing_foot() {
    let mut yard = walker_at(&[HERE]);
    let lengths = [0.04, 0.08, 0.06, -0.02, 0.1, 0.05];
    for (i, length) in lengths.into_iter().enumerate() {
        stride(&mut yard, i % 2, length);
        for foot in ["walker0::tilt_link0", "walker0::tilt_link1"] {
            let height = yard.pose(foot).translation.z - FOOT.z * 0.5;
            assert!(height.abs() < 1e-12, "both are down: {height}");
        }
    }
    // Each step's foot lands half a length before the trunk while the other is as far behind.
    let wanted: f64 = lengths.iter().sum::<f64>() - lengths[lengths.len() - 1] * 0.5;
    let trunk = yard.pose("walker0::trunk");
    assert!((trunk.translation.x - wanted).abs() < 1e-12, "{} {wanted}", trunk.translation.x);
}

/// Put into the world head over heels, a walker stands on its soles all the same, given or found
/// by its shapes.
#[test]
fn a_walker_that_starts_tilted_stands_upright() {
    let upright = Transform::from_translation(Vec3::Z * -0.5 * FOOT.z);
    for link_from_sole in [None, Some(upright)] {
        for (roll, pitch) in [(0.5, 0.3), (3.0, 0.0), (0.0, -1.2)] {
            let mut world = (*world_of(&post_walker(&two_feet()), &[HERE])).clone();
            let feet = &mut world.models[0].feet;
            feet.iter_mut().for_each(|foot| foot.link_from_sole = link_from_sole);
            let (tilt, at) = (quat_from_rpy(roll, pitch, 0.2), Vec3::new(1.0, 2.0, 0.7));
            world.models[0].parent_from_model = Transform::new(tilt, at);
            let mut yard: Yard<Stance<f64>> = Yard::new(&world.into(), 0..1, 0.01, Stance::new);
            yard.step();
            let trunk = yard.pose("walker0::trunk");
            assert!((trunk.vector(Vec3::Z).z - 1.0).abs() < 1e-12, "{roll} {pitch}: {trunk:?}");
            assert!((trunk.translation.z - 0.5).abs() < 1e-12, "{roll} {pitch}: {trunk:?}");
        }
    }
}

/// Steps of the same length by either foot: nothing drifts, wherever it heads.
#[test]
fn a_symmetric_gait_walks_straight() {
    for heading in [0.0, 0.7, -2.9] {
        let at = Vec3::new(3.0, -2.0, 0.0);
        let mut yard = walker_at(&[(at, heading)]);
        for i in 0..200 {
            stride(&mut yard, i % 2, 0.08);
        }
        let trunk = yard.pose("walker0::trunk");
        let gone = quat_from_rpy(0.0, 0.0, -heading) * (trunk.translation - at);
        assert!((gone.x - (200.0 * 0.08 - 0.04)).abs() < 1e-9, "{gone}");
        assert!(gone.y.abs() < 1e-9 && (gone.z - 0.5).abs() < 1e-9, "{gone}");
        assert!(angle_between(trunk.rotation, quat_from_rpy(0.0, 0.0, heading)) < 1e-9);
    }
}

#[test]
fn turning_in_place_turns_by_what_the_standing_hips_turn() {
    let mut yard = walker_at(&[HERE]);
    let yaws = [0.2, 0.3, 0.1, 0.25, -0.05, 0.4];
    let name = |word: &str, i: usize| format!("walker0::{word}{i}");
    for (i, yaw) in yaws.into_iter().enumerate() {
        let (free, standing) = (i % 2, 1 - i % 2);
        yard.go(&[(&name("lift", free), 0.03)], 5);
        // The free foot turns ahead by as much as the standing hip turns the trunk.
        let now = |joint: &str, yard: &Yard<Stance<f64>>| {
            yard.state.dofs[yard.model.dof(joint).expect("a joint")].position
        };
        let (ahead, back) = (name("yaw", free), name("yaw", standing));
        let targets = [(ahead.as_str(), 0.1), (back.as_str(), now(&back, &yard) - yaw)];
        yard.go(&targets, 11);
        yard.go(&[(&name("lift", free), 0.0)], 5);
    }
    let wanted: f64 = yaws.iter().sum();
    let yaw = yaw_of(&yard.pose("walker0::trunk"));
    assert!((yaw - wanted).abs() < 1e-12, "{yaw} {wanted}");
}

/// Joints of a humanoid swinging like mad: whatever they do, the sole that stands, stands; and
/// the trunk is tilted by the joints of that leg alone.
#[test]
fn the_stance_sole_never_moves_and_the_base_tilts_as_its_leg_does() {
    let world = world_of(&humanoid(), &[(Vec3::new(1.0, 2.0, 0.0), 0.4)]);
    let mut yard: Yard<Stance<f64>> = Yard::new(&world, 0..1, 0.005, Stance::new);
    let soles = ["humanoid0::leg_left5", "humanoid0::leg_right5"];
    let body_from_sole = Transform::from_translation(Vec3::Z * -0.05);
    let (mut stood, mut n_swaps) = (yard.pack.stance(0), 0);
    for i in 0..4000 {
        let t = f64::from(i) * yard.dt;
        for (k, dof) in yard.model.dofs.iter().enumerate() {
            let (k, is_right) = (k as f64, dof.name.contains("right"));
            let phase = if is_right { PI } else { 0.0 };
            let speed = 0.9 * cos(3.0 * t + phase + 0.1 * k) * sin(0.37 * k + 0.5);
            let order = headland_sim::Command { mode: headland_sim::Mode::Velocity, target: speed };
            yard.inputs.orders[yard.model.dof(&dof.name).expect("its own")] = Order::Follow(order);
        }
        yard.step();
        let stands = yard.pack.stance(0);
        n_swaps += usize::from(stands.0 != stood.0);
        if stands.0 == stood.0 {
            assert_eq!(stands, stood, "the place of a sole that stands");
        }
        stood = stands;
        let sole = yard.pose(soles[stood.0]) * body_from_sole;
        assert!(sole.translation.distance(stood.1.translation) < 1e-12);
        assert!((sole.rotation.dot(stood.1.rotation).abs() - 1.0).abs() < 1e-12);
        assert!(sole.translation.z.abs() < 1e-12 && (sole.vector(Vec3::Z).z - 1.0).abs() < 1e-12);
        // The trunk from the leg's own joints: yaw, roll, three pitches, roll.
        let leg = if stood.0 == 0 { "leg_left" } else { "leg_right" };
        let turned = (0..6).fold(headland_base::Quat::IDENTITY, |turned, i| {
            let name = format!("humanoid0::{leg}{i}_joint");
            let angle = yard.state.dofs[yard.model.dof(&name).expect("a joint")].position;
            let axis = [Vec3::Z, Vec3::X, Vec3::Y, Vec3::Y, Vec3::Y, Vec3::X][i];
            turned * headland_base::maths::quat_from_axis_angle(axis, angle)
        });
        let wanted = stood.1.rotation * turned.conjugate();
        let trunk = yard.pose("humanoid0::trunk").rotation;
        assert!((trunk.dot(wanted).abs() - 1.0).abs() < 1e-12);
    }
    assert!(n_swaps > 10, "it walked: {n_swaps}");
}

/// Velocities are what sensors see: those of the base integrate to where it goes.
#[test]
fn base_velocities_are_the_way_it_goes() {
    let mut yard = walker_at(&[HERE]);
    let mut gone = yard.pose("walker0::trunk").translation;
    yard.drive("walker0::lift0", -0.1);
    yard.drive("walker0::reach0", -0.2);
    for _ in 0..50 {
        yard.step();
        let twist = yard.state.rigids[0].twist;
        gone += twist.linear * yard.dt;
        assert!((twist.linear - Vec3::new(0.2, 0.0, 0.1)).length() < 1e-9, "{twist:?}");
    }
    assert!(gone.distance(yard.pose("walker0::trunk").translation) < 1e-12);
}

/// One that comes down within a long step lands where it met the ground, not where the step
/// ended.
#[test]
fn the_moment_of_touching_is_found_within_a_step() {
    let mut yard = walker_at(&[HERE]);
    assert_eq!(yard.pack.stance(0).0, 0, "the first of two that are as low");
    yard.go(&[("walker0::lift1", 0.05)], 10);
    yard.dt = 0.1;
    yard.drive("walker0::lift1", -0.9);
    yard.drive("walker0::reach1", 0.5);
    yard.step();
    let (foot, sole) = yard.pack.stance(0);
    assert_eq!(foot, 1);
    let wanted = 0.5 * (0.05 / 0.9);
    assert!((sole.translation.x - wanted).abs() <= TOUCH * 0.5 / 0.9, "{}", sole.translation.x);
    // From there on it carried the trunk: on its height, and back by what it reached further.
    let trunk = yard.pose("walker0::trunk").translation;
    let lift = yard.state.dofs[yard.model.dof("walker0::lift1").expect("it")].position;
    assert!((trunk.z - (0.5 - lift)).abs() < 1e-12, "{trunk}");
    assert!((trunk.x - (sole.translation.x - 0.05)).abs() < 1e-12, "{trunk}");
}

#[test]
fn in_double_support_who_stands_goes_on_standing() {
    let mut yard = walker_at(&[HERE]);
    for i in 0..500 {
        let t = f64::from(i) * 0.01;
        // The other foot trembles by less than the hysteresis, both legs squat.
        let squat = 0.05 * sin(t);
        let tremble = 0.0008 * sin(50.0 * t);
        yard.go(&[("walker0::lift0", squat), ("walker0::lift1", squat + tremble)], 1);
        assert_eq!(yard.pack.stance(0).0, 0, "at {t}");
    }
    // Further down than that, it stands.
    yard.go(&[("walker0::lift0", 0.0), ("walker0::lift1", -0.0015)], 5);
    assert_eq!(yard.pack.stance(0).0, 1);
}

#[test]
fn of_many_feet_the_one_that_touches_stands_next() {
    let feet = [(0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)];
    let feet = feet.map(|(x, y)| Vec3::new(x, y, 0.0));
    let world = world_of(&post_walker(&feet), &[HERE]);
    let mut yard: Yard<Stance<f64>> = Yard::new(&world, 0..1, 0.01, Stance::new);
    let (mut x, mut order) = (0.0, Vec::new());
    for next in [3, 1, 2, 0, 2] {
        let others = (0..4).filter(|i| *i != yard.pack.stance(0).0);
        let lifts: Vec<String> = others.clone().map(|i| format!("walker0::lift{i}")).collect();
        let up: Vec<(&str, f64)> = lifts.iter().map(|name| (name.as_str(), 0.02)).collect();
        yard.go(&up, 4);
        let before = yard.pack.stance(0).1.translation.x;
        yard.go(&[(&format!("walker0::lift{next}"), -0.002)], 4);
        order.push(yard.pack.stance(0).0);
        x += yard.pack.stance(0).1.translation.x - before;
        yard.go(&[(&format!("walker0::lift{next}"), 0.0)], 4);
    }
    assert_eq!(order, [3, 1, 2, 0, 2]);
    assert!((x - (feet[2].x - feet[0].x)).abs() < 1e-12, "steps between feet that do not reach");
}

#[test]
fn soles_and_ground_come_from_shapes_where_nobody_gives_them() {
    let mut robot = post_walker(&two_feet());
    let ground = level_plane(0.3);
    let make = |robot: &WorldModel| {
        let mut world = World::clone(&world_of(robot, &[(Vec3::new(0.5, 0.1, 0.4), 1.0)]));
        world.models.push(ground.clone());
        let world = std::sync::Arc::new(world);
        Yard::<Stance<f64>>::new(&world, 0..1, 0.01, Stance::new)
    };
    let mut given = make(&robot);
    robot.feet.iter_mut().for_each(|foot| (foot.link_from_sole, foot.size) = (None, None));
    let mut derived = make(&robot);
    for yard in [&mut given, &mut derived] {
        // It was above the ground and was put on it.
        assert!((yard.pose("walker0::trunk").translation.z - 0.8).abs() < 1e-12);
        // A tilted foot touches with its edge: as wide as the sole.
        yard.go(&[("walker0::lift1", 0.02), ("walker0::tilt1", 0.2)], 3);
        yard.go(&[("walker0::lift1", 0.0)], 40);
        assert_eq!(yard.pack.stance(0).0, 1);
    }
    let (a, b) = (given.pose("walker0::trunk"), derived.pose("walker0::trunk"));
    assert!(a.translation.distance(b.translation) < 1e-12, "{a:?} {b:?}");
}

#[test]
fn a_shove_moves_a_walker_over_the_ground_and_nothing_else() {
    let mut yard = walker_at(&[HERE]);
    let mut other = walker_at(&[HERE]);
    for yard in [&mut yard, &mut other] {
        yard.go(&[("walker0::lift1", 0.03)], 3);
    }
    let shift = Vec3::new(0.02, -0.01, 0.5);
    yard.pack.shove(0, shift);
    for yard in [&mut yard, &mut other] {
        yard.drive("walker0::reach0", 0.1);
        yard.step();
        yard.step();
    }
    let (a, b) = (yard.pose("walker0::trunk"), other.pose("walker0::trunk"));
    let wanted = b.translation + Vec3::new(shift.x, shift.y, 0.0);
    assert!(a.translation.distance(wanted) < 1e-15, "{a:?} {b:?}");
    assert_eq!(a.rotation, b.rotation);
    let soles = (yard.pack.stance(0).1.translation, other.pack.stance(0).1.translation);
    assert!(soles.0.distance(soles.1 + Vec3::new(shift.x, shift.y, 0.0)) < 1e-15);
}

/// What nobody can follow holds that robot, and only that one.
#[test]
fn a_walker_told_to_go_to_infinity_is_held() {
    let world = world_of(&post_walker(&two_feet()), &[HERE, (Vec3::X, 0.0)]);
    let mut yard: Yard<Stance<Lanes<4>>> = Yard::new(&world, 0..2, 0.01, Stance::new);
    yard.drive("walker0::reach0", f64::INFINITY);
    yard.drive("walker1::reach0", -0.1);
    (0..10).for_each(|_| yard.step());
    assert!(yard.pack.robots()[0].is_lost && !yard.pack.robots()[1].is_lost);
    assert!((yard.pose("walker0::trunk").translation.x).abs() < 1e-12);
    assert!((yard.pose("walker1::trunk").translation.x - 1.01).abs() < 1e-12);
    // What is no number moves nothing.
    yard.drive("walker1::reach0", f64::NAN);
    yard.step();
    assert!(!yard.pack.robots()[1].is_lost);
    assert!((yard.pose("walker1::trunk").translation.x - 1.01).abs() < 1e-12);
}

const TRACK: f64 = 0.5;

fn differential() -> [Vec3; 2] {
    [Vec3::new(0.0, TRACK * 0.5, 0.0), Vec3::new(0.0, -TRACK * 0.5, 0.0)]
}

#[test]
fn a_differential_drive_goes_straight_and_round() {
    let mut yard = cart_of(&differential(), 0.01);
    for side in ["cart0::roll0", "cart0::roll1"] {
        yard.drive(side, 7.0);
    }
    let start = yard.pose("cart0::body").translation;
    (0..1000).for_each(|_| yard.step());
    let gone = yard.pose("cart0::body").translation - start;
    assert!((gone - Vec3::X * (7.0 * RADIUS * 10.0)).length() < 1e-9, "{gone}");

    // Left slower than right: a circle to the left, closed after a whole turn.
    let (left, right) = (0.31, 0.53);
    let yaw_rate = (right - left) / TRACK;
    let n_steps = 700;
    let mut yard = cart_of(&differential(), TAU / yaw_rate / f64::from(n_steps));
    yard.drive("cart0::roll0", left / RADIUS);
    yard.drive("cart0::roll1", right / RADIUS);
    // The body is before the axle; the circle is that of the axle's middle.
    let axle = |yard: &Yard<Vehicle<f64>>| yard.pose("cart0::body").point(Vec3::X * -0.1);
    let start = axle(&yard);
    let radius = TRACK * (right + left) / (2.0 * (right - left));
    let centre = start + Vec3::Y * radius;
    for _ in 0..n_steps {
        yard.step();
        let now = axle(&yard) - centre;
        assert!((now.length() - radius).abs() < 1e-9, "{} {radius}", now.length());
    }
    assert!(axle(&yard).distance(start) < 1e-9, "{}", axle(&yard).distance(start));
    assert!((yard.pack.heading(0) - TAU).abs() < 1e-9);
    let twist = yard.state.rigids[0].twist;
    assert!((twist.angular - Vec3::Z * yaw_rate).length() < 1e-12, "{twist:?}");
    assert!((twist.linear - Vec3::new((left + right) * 0.5, yaw_rate * 0.1, 0.0)).length() < 1e-9);
}

/// Rear wheels drive, front wheels steer and roll along: every axle points at one centre.
#[test]
fn ackermann_steering_turns_about_wheelbase_over_tangent() {
    let (base, half) = (0.6, TRACK * 0.5);
    let wheels = [(base, half), (base, -half), (0.0, half), (0.0, -half)];
    let mut yard = cart_of(&wheels.map(|(x, y)| Vec3::new(x, y, 0.0)), 0.01);
    let steer = 0.3;
    let radius = base / tan(steer);
    let inner = |y: f64| atan2(base, radius - y);
    yard.go(&[("cart0::steer0", inner(half)), ("cart0::steer1", inner(-half))], 10);
    // Parked, nobody drives: it has not moved.
    let axle = |yard: &Yard<Vehicle<f64>>| yard.pose("cart0::body").point(Vec3::X * -0.1);
    let start = axle(&yard);
    assert!(start.length() - 0.3 < 1e-12, "{start}");
    let speed = 0.8;
    yard.drive("cart0::roll2", speed * (radius - half) / radius / RADIUS);
    yard.drive("cart0::roll3", speed * (radius + half) / radius / RADIUS);
    let centre = start + Vec3::Y * radius;
    for _ in 0..2000 {
        yard.step();
        assert!(((axle(&yard) - centre).length() - radius).abs() < 1e-9);
    }
    // The front wheels go round on their own, wider circles.
    for (name, y) in [("cart0::roll0", half), ("cart0::roll1", -half)] {
        let wanted = speed / radius * Vec3::new(base, radius - y, 0.0).length() / RADIUS;
        let rolls = yard.state.dofs[yard.model.dof(name).expect("a wheel")].velocity;
        assert!((rolls - wanted).abs() < 1e-9, "{rolls} {wanted}");
    }
}

/// Four wheels that cannot all be right: each is wrong by as little as squares allow.
#[test]
fn skid_steering_turns_by_least_squares() {
    let (x, y) = (0.3, TRACK * 0.5);
    let wheels = [(x, y), (x, -y), (-x, y), (-x, -y)];
    let mut yard = cart_of(&wheels.map(|(x, y)| Vec3::new(x, y, 0.0)), 0.01);
    for (i, (_, y)) in wheels.into_iter().enumerate() {
        yard.drive(&format!("cart0::roll{i}"), -2.0 * y.signum());
    }
    yard.step();
    let yaw_rate = 2.0 * RADIUS * y / (x * x + y * y);
    let twist = yard.state.rigids[0].twist;
    assert!((twist.angular.z - yaw_rate).abs() < 1e-12, "{twist:?} {yaw_rate}");
}

/// Each alone, and side by side with others that do other things.
#[test]
fn lanes_are_the_bits_of_each_alone() {
    let places = [HERE, (Vec3::X, 0.5), (Vec3::Y, -1.0), (Vec3::new(1.0, 1.0, 0.2), 3.0)];
    let walkers = world_of(&humanoid(), &places);
    same_bits(&walkers, Stance::<Lanes<4>>::new, Stance::<f64>::new);
    let wheels = [(0.3, 0.2), (0.3, -0.2), (-0.3, 0.0)].map(|(x, y)| Vec3::new(x, y, 0.0));
    same_bits(
        &world_of(&cart(&wheels, RADIUS), &places),
        Vehicle::<Lanes<4>>::new,
        Vehicle::<f64>::new,
    );
    for is_fixed in [false, true] {
        same_bits(
            &walkers,
            |model, tree, robots, state| {
                OneBody::<Lanes<4>>::new(model, tree, robots, state, is_fixed)
            },
            |model, tree, robots, state| OneBody::<f64>::new(model, tree, robots, state, is_fixed),
        );
    }
}

fn same_bits<P: Pack, Q: Pack>(
    world: &std::sync::Arc<World>,
    together: impl Fn(
        &headland_sim::Model,
        &headland_sim::tree::Tree,
        Vec<headland_sim::motion::Robot>,
        &headland_sim::State,
    ) -> P,
    alone: impl Fn(
        &headland_sim::Model,
        &headland_sim::tree::Tree,
        Vec<headland_sim::motion::Robot>,
        &headland_sim::State,
    ) -> Q,
) {
    let mut all = Yard::new(world, 0..4, 0.01, together);
    let mut each: Vec<Yard<Q>> = (0..4).map(|i| Yard::new(world, i..i + 1, 0.01, &alone)).collect();
    let names: Vec<String> = all.model.dofs.iter().map(|dof| dof.name.clone()).collect();
    for n in 0..300 {
        for (k, name) in names.iter().enumerate() {
            let speed = 2.0 * sin(f64::from(n) * 0.06 + k as f64 * 1.7) * sin(k as f64);
            all.drive(name, speed);
            each.iter_mut().for_each(|yard| yard.drive(name, speed));
        }
        all.step();
        each.iter_mut().for_each(Yard::step);
    }
    for (i, yard) in each.iter().enumerate() {
        for rigid in yard.pack.robots()[0].rigids.iter().flatten() {
            assert_eq!(all.state.rigids[*rigid], yard.state.rigids[*rigid], "robot {i}");
            assert!(
                yard.state.rigids[*rigid]
                    != headland_sim::State::initial(&yard.model).rigids[*rigid]
            );
        }
        for (dof, _) in yard.pack.robots()[0].dofs.iter().flatten() {
            assert_eq!(all.state.dofs[*dof], yard.state.dofs[*dof], "robot {i}");
        }
    }
}

#[test]
fn a_mimic_goes_where_its_leader_goes() {
    let mut robot = post_walker(&two_feet());
    let mimic = |leader: &str, multiplier: f64, offset: f64| Mimic {
        leader: leader.into(),
        leader_axis: 0,
        multiplier,
        offset,
        reference: 0.0,
    };
    for joint in &mut robot.joints {
        let follows = match joint.name.as_str() {
            "reach0" => mimic("reach1", -1.0, 0.0),
            "lift1" => mimic("reach0", 0.5, 0.02),
            _ => continue,
        };
        joint.kind.axes_mut()[0].mimic = Some(follows);
    }
    let mut yard: Yard<Stance<f64>> =
        Yard::new(&world_of(&robot, &[HERE]), 0..1, 0.01, Stance::new);
    yard.go(&[("walker0::reach1", 0.06)], 10);
    let position = |name: &str| yard.state.dofs[yard.model.dof(name).expect("it")].position;
    assert!((position("walker0::reach0") + 0.06).abs() < 1e-12);
    assert!((position("walker0::lift1") - (0.02 - 0.03)).abs() < 1e-12);
}

/// Two paddles on a trunk, crosswise: a cat.
fn cat() -> WorldModel {
    let mut robot = WorldModel { name: "cat".into(), ..WorldModel::default() };
    robot.links.push(link("trunk", Vec3::Z * 2.0, Vec3::new(0.3, 0.1, 0.1), 2.0));
    let front = Vec3::new(0.15, 0.0, 2.0);
    robot.links.push(link("bend", front, Vec3::splat(0.03), 0.1));
    robot.links.push(link("tail", front, Vec3::new(0.04, 0.4, 0.05), 1.5));
    robot.joints.push(joint("nod", "trunk", "bend", turns(Vec3::Y)));
    robot.joints.push(joint("roll", "bend", "tail", turns(Vec3::X)));
    robot
}

fn cat_yard(is_fixed: bool, dt: f64) -> Yard<OneBody<f64>> {
    Yard::new(&world_of(&cat(), &[HERE]), 0..1, dt, |model, tree, robots, state| {
        OneBody::new(model, tree, robots, state, is_fixed)
    })
}

/// Momentum and angular momentum about the centre of mass, and that centre, from the rigids
/// alone.
fn whole<P>(yard: &Yard<P>) -> (Vec3, Vec3, Vec3) {
    let rigids = || yard.model.rigids.iter().zip(&yard.state.rigids);
    let mass: f64 = rigids().map(|(rigid, _)| rigid.mass).sum();
    let centre_of = |(rigid, now): (&headland_sim::Rigid, &headland_sim::RigidState)| {
        now.world_from_rigid.point(rigid.centre)
    };
    let centre = rigids().map(|both| centre_of(both) * both.0.mass).sum::<Vec3>() / mass;
    let (mut line, mut spin) = (Vec3::ZERO, Vec3::ZERO);
    for (rigid, now) in rigids() {
        let at = centre_of((rigid, now));
        let arm = at - now.world_from_rigid.translation;
        let momentum = (now.twist.linear + now.twist.angular.cross(arm)) * rigid.mass;
        let turn = Mat3::from_quat(now.world_from_rigid.rotation);
        line += momentum;
        spin += (at - centre).cross(momentum)
            + turn * rigid.inertia * turn.transpose() * now.twist.angular;
    }
    (line, spin, centre)
}

/// The joints go round a loop and end where they began. Nothing turned the cat at any moment,
/// and yet it has turned; one whose mass never moves has not.
#[test]
fn a_cat_turns_without_anything_to_push_from() {
    let round = |yard: &mut Yard<OneBody<f64>>| {
        let n = (1.0 / yard.dt) as usize / 4;
        for _ in 0..3 {
            yard.go(&[("cat0::nod", 0.8)], n);
            yard.go(&[("cat0::roll", 1.0)], n);
            yard.go(&[("cat0::nod", -0.8)], n);
            yard.go(&[("cat0::roll", -1.0)], n);
        }
        yard.go(&[("cat0::nod", 0.0)], n);
        yard.go(&[("cat0::roll", 0.0)], n);
        yard.step();
    };
    let turned = |yard: &Yard<OneBody<f64>>| {
        angle_between(yard.pose("cat0::trunk").rotation, headland_base::Quat::IDENTITY)
    };
    let mut angles = Vec::new();
    for dt in [0.004, 0.002] {
        let mut yard = cat_yard(false, dt);
        for _ in 0..3 {
            yard.step();
            assert!(whole(&yard).1.length() < 1e-14);
        }
        round(&mut yard);
        assert!(whole(&yard).1.length() < 1e-12, "{}", whole(&yard).1);
        for name in ["cat0::nod", "cat0::roll"] {
            assert!(yard.state.dofs[yard.model.dof(name).expect("it")].position.abs() < 1e-9);
        }
        angles.push(turned(&yard));
    }
    assert!(angles[1] > 0.1, "it has turned by {angles:?}");
    assert!(
        (angles[0] - angles[1]).abs() < 0.05 * angles[1],
        "by its path, not by its steps: {angles:?}"
    );
    let mut fixed = cat_yard(true, 0.002);
    round(&mut fixed);
    assert!(turned(&fixed) < 1e-12, "{}", turned(&fixed));
}

#[test]
fn the_centre_of_mass_flies_on_its_parabola_whatever_the_joints_do() {
    for is_fixed in [false, true] {
        let mut robot = cat();
        let velocity = Vec3::new(1.0, -0.5, 3.0);
        robot.links.iter_mut().for_each(|link| link.initial_twist.linear = velocity);
        let dt = 0.001;
        let world = world_of(&robot, &[HERE]);
        let mut yard: Yard<OneBody<f64>> =
            Yard::new(&world, 0..1, dt, |model, tree, robots, state| {
                OneBody::new(model, tree, robots, state, is_fixed)
            });
        let (line, _, start) = whole(&yard);
        let gravity = yard.model.world.gravity;
        for n in 1..=1000 {
            if !is_fixed {
                yard.drive("cat0::nod", 5.0 * cos(f64::from(n) * 0.01));
                yard.drive("cat0::roll", 7.0 * cos(f64::from(n) * 0.017));
            }
            yard.step();
            let t = f64::from(n) * dt;
            // Of semi-implicit steps: the velocity of its end is held for each.
            let wanted = start + velocity * t + gravity * (0.5 * t * (t + dt));
            let (now, _, centre) = whole(&yard);
            assert!(centre.distance(wanted) < 1e-12, "{} at {t}", centre.distance(wanted));
            let mass: f64 = yard.model.rigids.iter().map(|rigid| rigid.mass).sum();
            assert!((now - line - gravity * (mass * t)).length() < 1e-10, "{now}");
        }
    }
}

/// A body without joints is the same body at every detail: two integrators of one motion,
/// which come together as steps get shorter.
#[test]
fn a_single_body_tumbles_alike_as_one_body_and_articulated() {
    let mut robot = WorldModel { name: "brick".into(), ..WorldModel::default() };
    let mut brick = link("brick", Vec3::Z * 5.0, Vec3::new(0.4, 0.2, 0.1), 2.0);
    brick.inertial.link_from_inertial = Transform::from_translation(Vec3::new(0.05, 0.02, -0.01));
    brick.initial_twist.angular = Vec3::new(0.3, 4.0, 0.2);
    brick.initial_twist.linear = Vec3::new(1.0, 0.0, 2.0);
    robot.links.push(brick);
    let world = world_of(&robot, &[HERE]);
    let apart = |n_steps: usize, is_fixed: bool| {
        let dt = 0.5 / n_steps as f64;
        let mut one: Yard<OneBody<f64>> =
            Yard::new(&world, 0..1, dt, |model, tree, robots, state| {
                OneBody::new(model, tree, robots, state, is_fixed)
            });
        let mut full: Yard<Articulated<f64>> = Yard::new(&world, 0..1, dt, Articulated::new);
        for _ in 0..n_steps {
            one.step();
            full.step();
        }
        let (a, b) = (one.pose("brick0::brick"), full.pose("brick0::brick"));
        let turned =
            angle_between(one.pose("brick0::brick").rotation, headland_base::Quat::IDENTITY);
        assert!(turned > 0.5, "it tumbled");
        (angle_between(a.rotation, b.rotation), whole(&one).2.distance(whole(&full).2))
    };
    for is_fixed in [false, true] {
        let (coarse, fine) = (apart(500, is_fixed), apart(2000, is_fixed));
        assert!(fine.0 < 1e-3 && fine.0 < coarse.0 * 0.3, "{coarse:?} {fine:?}");
        assert!(fine.1 < 1e-12, "both fly alike: {fine:?}");
    }
}

/// A ground at a height.
fn level_plane(height: f64) -> WorldModel {
    WorldModel {
        name: "ground".into(),
        is_static: true,
        parent_from_model: Transform::from_translation(Vec3::Z * height),
        links: vec![Link {
            name: "link".into(),
            collisions: vec![Collision {
                name: "plane".into(),
                link_from_shape: Transform::IDENTITY,
                geometry: Geometry::Plane {
                    normal: Vec3::Z,
                    size: headland_base::maths::Vec2::ONE,
                },
                surface: Surface::default(),
            }],
            ..Link::default()
        }],
        ..WorldModel::default()
    }
}

fn codes(robot: &WorldModel, detail: Detail) -> Vec<&'static str> {
    told(robot, detail).iter().map(|needed| needed.code).collect()
}

fn told(robot: &WorldModel, detail: Detail) -> Vec<Diagnostic> {
    let world = world_of(robot, &[HERE]);
    let mut world = (*world).clone();
    world.models.push(level_plane(0.0));
    let model = headland_sim::Model::compile(&world.into()).expect("a world that moves");
    let forest = Forest::of(&model);
    needs(&model, &State::initial(&model), &forest.trees[0], detail)
}

#[test]
fn whoever_has_everything_needs_nothing() {
    for detail in [Detail::Kinematic, Detail::Com, Detail::ComFixed, Detail::Articulated] {
        assert_eq!(codes(&humanoid(), detail), [""; 0], "{}", detail.word());
        assert_eq!(codes(&post_walker(&two_feet()), detail), [""; 0], "{}", detail.word());
    }
    assert_eq!(codes(&cart(&differential(), RADIUS), Detail::Vehicle), [""; 0]);
}

/// Soles see level planes: a world without one is told of, and that is nothing a robot lacks.
#[test]
fn walking_without_a_ground_is_told() {
    let bare = world_of(&post_walker(&two_feet()), &[HERE]);
    let mut level = (*bare).clone();
    level.models.push(level_plane(0.0));
    let compiled = |world| headland_sim::Model::compile(world).expect("a world that moves");
    let (bare, level) = (compiled(&bare), compiled(&level.into()));
    let (state, forest) = (State::initial(&bare), Forest::of(&bare));
    assert!(needs(&bare, &state, &forest.trees[0], Detail::Kinematic).is_empty());
    let code = |model, walkers: &[&str]| needs_ground(model, walkers).map(|told| told.code);
    assert_eq!(code(&bare, &["walker"]), Some("no-level-ground"));
    assert_eq!((code(&bare, &[]), code(&level, &["walker"])), (None, None));
}

/// Everything that is missing, at once.
#[test]
fn what_a_detail_lacks_is_named_at_once() {
    let mut robot = post_walker(&two_feet());
    robot.feet.iter_mut().for_each(|foot| foot.link_from_sole = None);
    robot.links.iter_mut().for_each(|link| link.collisions.clear());
    robot.feet.push(headland_world::Foot {
        link: "tilt_lnk1".into(),
        link_from_sole: None,
        size: None,
    });
    robot
        .joints
        .push(headland_world::Joint { parent: None, ..joint("nail", "", "trunk", turns(Vec3::Z)) });
    let wanted = ["fixed-base", "no-sole", "no-sole", "unknown-link"];
    assert_eq!(codes(&robot, Detail::Kinematic), wanted);
    robot.feet.clear();
    assert_eq!(codes(&robot, Detail::Kinematic), ["fixed-base", "no-feet"]);
    assert_eq!(codes(&robot, Detail::Vehicle), ["fixed-base", "no-wheels"]);

    let mut robot = cart(&differential(), RADIUS);
    robot.wheels[0].radius = 0.0;
    robot.wheels[0].steers_by = Some("steer1".into());
    robot.wheels[1].joint = "rol1".into();
    robot.joints[0].kind = JointKind::Prismatic(Axis::along(Vec3::Z));
    assert_eq!(codes(&robot, Detail::Vehicle), ["bad-wheel", "bad-wheel", "unknown-joint"]);
    robot.wheels[0].steers_by = Some("steer0".into());
    robot.joints[1].kind = JointKind::Continuous(Axis::along(Vec3::Z));
    assert_eq!(
        codes(&robot, Detail::Vehicle),
        ["bad-wheel", "bad-wheel", "bad-wheel", "unknown-joint"]
    );
}

/// A loop is held by forces, which only one detail has: the others refuse it, and say which joint
/// closes it and what helps.
#[test]
fn loops_are_refused_where_no_force_holds_them() {
    let strut = |first: &str, second: &str| joint("strut", first, second, JointKind::Ball);
    let mut walker = humanoid();
    walker.joints.push(strut("trunk", "leg_left5"));
    let mut wagon = cart(&differential(), RADIUS);
    wagon.joints.push(strut("body", "wheel0"));
    for (robot, detail) in [
        (&walker, Detail::Kinematic),
        (&walker, Detail::Com),
        (&walker, Detail::ComFixed),
        (&wagon, Detail::Vehicle),
    ] {
        let told = told(robot, detail);
        let codes: Vec<&str> = told.iter().map(|needed| needed.code).collect();
        assert_eq!(codes, ["kinematic-loop"], "{}", detail.word());
        let (message, help) = (&told[0].message, told[0].help.as_deref().unwrap_or_default());
        let robot = format!("`{}0` cannot be moved as `{}`", robot.name, detail.word());
        assert!(message.contains(&robot) && message.contains("closes a loop"), "{message}");
        assert!(message.contains("ball joint `") && message.contains("strut`"), "{message}");
        assert!(help.contains("move it as `articulated`"), "{help}");
    }
    for robot in [&walker, &wagon] {
        assert_eq!(codes(robot, Detail::Articulated), [""; 0], "{}", robot.name);
    }
}

#[test]
fn masses_are_asked_for_where_something_divides_by_them() {
    let mut robot = humanoid();
    let weightless = |robot: &mut WorldModel, name: &str| {
        let link = robot.links.iter_mut().find(|link| link.name == name).expect("a link");
        (link.inertial.mass, link.inertial.inertia) = (0.0, Mat3::ZERO);
    };
    // In the middle of a chain a link may be without mass; at its end it may not.
    weightless(&mut robot, "leg_left3");
    assert_eq!(codes(&robot, Detail::Articulated), [""; 0]);
    weightless(&mut robot, "head2");
    weightless(&mut robot, "arm_left2");
    weightless(&mut robot, "arm_left1");
    assert_eq!(codes(&robot, Detail::Articulated), ["no-mass", "no-mass", "no-mass"]);
    assert_eq!(codes(&robot, Detail::Com), [""; 0]);
    let names: Vec<String> = robot.links.iter().map(|link| link.name.clone()).collect();
    names.iter().for_each(|name| weightless(&mut robot, name));
    assert_eq!(codes(&robot, Detail::Com), ["no-mass"]);
    assert_eq!(codes(&robot, Detail::Articulated).len(), 22);

    // A point turns about itself without inertia, and two hinges in one place cancel out.
    let mut robot = cat();
    robot.links.iter_mut().for_each(|link| link.inertial.inertia = Mat3::ZERO);
    assert_eq!(codes(&robot, Detail::Articulated), ["no-inertia"; 3]);
    let mut robot = cat();
    weightless(&mut robot, "bend");
    robot.joints[0].kind = turns(Vec3::X);
    assert_eq!(codes(&robot, Detail::Articulated), ["no-inertia"]);
}
