//! Closed forms by an independent road: a recording made from the exact motion has no error, and
//! one that is off by a known amount has that error.

use std::collections::BTreeMap;

use headland_base::maths::{
    FRAC_PI_2, PI, Quat, Vec3, cos, quat_from_axis_angle, quat_from_rotation_vector, sin, sqrt,
};
use headland_base::{SimTime, Transform};
use headland_judge::closed_form::{
    about, cradle, cylinders, double_pendulum, energy, four_bar, free_box, pendulum,
};
use headland_judge::{ClosedForm, Measured};
use headland_record::track::{JointColumns, Motion};
use headland_record::{Data, FACTS, Recording, Track};

const G: f64 = 9.81;
const DOWN: Vec3 = Vec3::new(0.0, 0.0, -G);

/// A recording to be filled, sampled every `step` seconds.
struct Made {
    recording: Recording,
    times: Vec<f64>,
}

impl Made {
    fn new(world: &str, gravity: Vec3, secs: f64, step: f64) -> Made {
        let mut recording = Recording::new();
        let facts = BTreeMap::from([
            ("world".to_string(), world.to_string()),
            ("gravity".to_string(), format!("{:?}", gravity.to_array())),
        ]);
        recording.facts.metadata.insert(FACTS.to_string(), facts);
        let n = (secs / step).round() as u32;
        Made { recording, times: (0..=n).map(|i| f64::from(i) * step).collect() }
    }

    fn insert(&mut self, topic: String, data: Data) {
        let nanos = |secs: &f64| SimTime::from_nanos((secs * 1e9).round() as i64);
        let times = self.times.iter().map(nanos).collect();
        self.recording.insert(topic, Track::new("", "", times, data).expect("one per time"));
    }

    /// An object that moves as a function of time says.
    fn object(&mut self, name: &str, at: impl FnMut(f64) -> (Transform, Motion)) {
        let (poses, motions) = self.times.clone().into_iter().map(at).unzip();
        self.insert(format!("/{name}/pose"), Data::Poses(poses));
        self.insert(format!("/{name}/twist"), Data::Motions(motions));
    }

    /// A point that does not turn.
    fn point(&mut self, name: &str, at: impl Fn(f64) -> (Vec3, Vec3)) {
        self.object(name, |t| {
            let (position, linear) = at(t);
            (Transform::from_translation(position), Motion { linear, angular: Vec3::ZERO })
        });
    }

    fn joints(&mut self, robot: &str, joints: Vec<(&str, Vec<f64>, Vec<f64>)>) {
        let columns = joints.into_iter().map(|(name, position, effort)| JointColumns {
            name: name.to_string(),
            position,
            effort,
            ..JointColumns::default()
        });
        self.insert(format!("/{robot}/joint_states"), Data::Joints(columns.collect()));
    }

    fn measure(&self, form: &str) -> Measured {
        let world = self.recording.facts.get("world").expect("given").to_string();
        let form: &ClosedForm = about(&world).find(|f| f.name == form).expect("a form");
        form.measure(&self.recording).unwrap_or_else(|why| panic!("{}: {why}", form.name))
    }

    fn error(&self, form: &str) -> f64 {
        self.measure(form).error
    }
}

#[track_caller]
fn near(found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{found} and not {wanted}");
}

/// A body at the end of an arm that turns about y, by `angle` from hanging.
fn swung(hinge: Vec3, angle: f64, rate: f64) -> (Transform, Motion) {
    let turn = quat_from_axis_angle(Vec3::Y, angle);
    let motion = Motion { linear: Vec3::ZERO, angular: Vec3::Y * rate };
    (Transform::new(turn, hinge), motion)
}

/// Height and speed of a ball that bounces for ever, from the times of its bounces.
fn bouncing(t: f64, restitution: f64) -> (f64, f64) {
    let (mut start, mut speed) = (sqrt(6.0 / G), restitution * sqrt(6.0 * G));
    if t < start {
        return (3.0 - 0.5 * G * t * t, -G * t);
    }
    while t >= start + 2.0 * speed / G && speed > 1e-6 {
        start += 2.0 * speed / G;
        speed *= restitution;
    }
    let since = t - start;
    ((speed * since - 0.5 * G * since * since).max(0.0), speed - G * since)
}

#[test]
fn ball() {
    let made = |restitution: f64| {
        let mut made = Made::new("ball", DOWN, 5.0, 0.001);
        made.point("ball", |t| {
            let (height, speed) = bouncing(t, restitution);
            (Vec3::Z * (height + 0.5), Vec3::Z * speed)
        });
        made
    };
    near(made(0.7).error("ball_impact"), 0.0, 2e-6);
    near(made(0.7).error("ball_ratio"), 0.0, 2e-5);
    near(made(0.65).error("ball_ratio"), 0.49 - 0.4225, 2e-5);
    near(made(0.0).error("ball_ratio"), 0.49, 1e-9);
    // One that is thrown up by the ground and does not come back within the recording.
    let mut lost = Made::new("ball", DOWN, 5.0, 0.001);
    lost.point("ball", |t| {
        let (z, v) = if t < 0.782 { (3.0 - 0.5 * G * t * t, -G * t) } else { (10.0 * t, 10.0) };
        (Vec3::Z * (z + 0.5), Vec3::Z * v)
    });
    near(lost.measure("ball_ratio").measured, 50.0 / 3.0, 1e-9);
    near(lost.error("ball_impact"), 0.0, 1e-3);
}

#[test]
fn cylinders_slide_and_stick() {
    let made = |factor: f64, tilt: f64, drift: f64| {
        let mut made = Made::new("cylinders", DOWN, 3.0, 0.01);
        let slope = 20.0 * PI / 180.0;
        let turn = quat_from_axis_angle(Vec3::Y, slope);
        let a = factor * G * (sin(slope) - 0.2 * cos(slope));
        made.object("slide", |t| {
            let lean = quat_from_axis_angle(Vec3::X, if t == 2.0 { tilt } else { 0.0 });
            let way = Vec3::X * (0.5 * a * t * t);
            let pose = Transform::new(turn * lean, turn * way);
            (pose, Motion { linear: turn * Vec3::X * (a * t), angular: Vec3::ZERO })
        });
        made.point("stick", |t| (Vec3::Y * (drift * sin(t)), Vec3::ZERO));
        made
    };
    let exact = made(1.0, 0.0, 0.0);
    for form in ["slide_distance", "slide_tilt", "stick_drift"] {
        near(exact.error(form), 0.0, 1e-9);
    }
    near(exact.measure("slide_distance").expected, 6.802, 5e-4);
    let off = made(1.01, 0.03, 0.02);
    near(off.error("slide_distance"), 0.01 * 6.8019, 1e-4);
    near(off.error("slide_tilt"), 0.03, 1e-9);
    near(off.error("stick_drift"), 0.02, 1e-6);
    assert_eq!(cylinders::FORMS.len(), 3);
}

#[test]
fn gripper() {
    let made = |world: &str, press: f64, lift: f64, rise: f64, gap: f64| {
        let mut made = Made::new(world, DOWN, 4.0, 0.01);
        let n = made.times.len();
        let up = |t: f64| 0.5 * rise * (t - 1.0).max(0.0) * (t - 1.0).max(0.0);
        made.point("ball", |t| (Vec3::Z * (0.1 + up(t)), Vec3::ZERO));
        for (finger, side) in [("left", -0.5), ("right", 0.5)] {
            let x = side * (gap + 0.04);
            made.point(&format!("gripper/{finger}"), |t| (Vec3::new(x, 0.0, up(t)), Vec3::ZERO));
        }
        let of = |name, effort| (name, vec![0.0; n], vec![effort; n]);
        made.joints(
            "gripper",
            vec![of("lift", lift), of("close_left", press), of("close_right", press)],
        );
        made
    };
    for press in [3.0, 4.0] {
        let light = made("gripper_light", press, 2.0001 * (G + 1.0), 1.0, 0.2);
        near(light.measure("gripper_height").expected, 4.6, 1e-9);
        for form in ["gripper_height", "gripper_gap", "gripper_gap_end"] {
            near(light.error(form), 0.0, 1e-9);
        }
    }
    // Through the ball, and carried along.
    let through = made("gripper_light", 3.0, 2.0001 * (G + 1.0), 1.0, 0.0);
    near(through.error("gripper_height"), 0.0, 1e-9);
    near(through.error("gripper_gap"), 0.2, 1e-9);
    // By hand: 0.65·10.81 = 7.03 N is more than 2·3 N and less than 2·4 N.
    let heavy = |press| made("gripper_heavy", press, 2.65 * (G + 1.0), 1.0, 0.2);
    near(heavy(4.0).measure("gripper_height").expected, 4.6, 1e-9);
    near(heavy(4.0).error("gripper_gap_end"), 0.0, 1e-9);
    near(heavy(3.0).measure("gripper_height").expected, 0.1, 1e-9);
    near(heavy(3.0).error("gripper_height"), 4.5, 1e-9);
    near(heavy(3.0).measure("gripper_gap_end").expected, 0.0, 1e-9);
}

#[test]
fn stack() {
    let made = |sag: f64, aside: f64| {
        let mut made = Made::new("stack", DOWN, 3.0, 0.02);
        for i in 0..20 {
            let z = 0.25 + 0.5 * f64::from(i) - sag * f64::from(i + 1) / 20.0;
            let x = if i == 7 { aside } else { 0.0 };
            let at = move |t: f64| (Vec3::new(x * t / 3.0, 0.0, z), Vec3::ZERO);
            made.point(&format!("box_{i}"), at);
        }
        made
    };
    near(made(0.0, 0.0).error("stack_height"), 0.0, 1e-12);
    near(made(0.0, 0.0).error("stack_drift"), 0.0, 1e-12);
    near(made(0.1, 0.0).error("stack_height"), 0.1, 1e-12);
    near(made(0.0, 0.03).error("stack_drift"), 0.03, 1e-12);
}

/// Another road than the form's: angular momentum is held, `ω = R·I⁻¹·Rᵀ·H`, and the turn of the
/// middle of each of very many small steps is taken.
fn tumbling(omega: Vec3, n_samples: usize, step: f64) -> Vec<(Quat, Vec3)> {
    const N_SMALL: usize = 100;
    let held = free_box::MOMENTS * omega;
    let rate = |turn: Quat| turn * ((turn.conjugate() * held) / free_box::MOMENTS);
    let (mut turn, dt) = (Quat::IDENTITY, step / N_SMALL as f64);
    let mut out = vec![(turn, rate(turn))];
    for _ in 1..n_samples {
        for _ in 0..N_SMALL {
            let half = quat_from_rotation_vector(rate(turn) * (0.5 * dt)) * turn;
            turn = quat_from_rotation_vector(rate(half) * dt) * turn;
        }
        turn = turn.normalize();
        out.push((turn, rate(turn)));
    }
    out
}

#[test]
fn free_boxes() {
    let cases = [
        ("simple", Vec3::ZERO, Vec3::new(-0.9, 0.4, 0.1), Vec3::new(0.5, 0.0, 0.0)),
        ("complex", Vec3::Z * -9.8, Vec3::new(-2.0, 2.0, 8.0), Vec3::new(0.1, 5.0, 0.1)),
    ];
    for (case, gravity, v, omega) in cases {
        let turns = tumbling(omega, 1001, 0.01);
        let made = |lean: f64, faster: f64, aside: f64| {
            let mut made = Made::new(&format!("free_box_{case}"), gravity, free_box::SECS, 0.01);
            let mut rest = turns.iter();
            made.object("box", |t| {
                let (turn, rate) = rest.next().expect("as many");
                let late = if t > 5.0 { 1.0 } else { 0.0 };
                let turn = quat_from_axis_angle(Vec3::Z, lean * late) * *turn;
                let place = v * t + gravity * (0.5 * t * t) + Vec3::Y * aside * late;
                let linear = v + gravity * t;
                let angular = *rate * (1.0 + faster * late);
                (Transform::new(turn, place), Motion { linear, angular })
            });
            made
        };
        let name = |what: &str| format!("{case}_box_{what}");
        let exact = made(0.0, 0.0, 0.0);
        near(exact.error(&name("position")), 0.0, 1e-9);
        near(exact.error(&name("momentum")), 0.0, 1e-9);
        near(exact.error(&name("energy")), 0.0, 1e-9);
        near(exact.error(&name("orientation")), 0.0, 2e-5);
        near(made(0.0, 0.0, 0.3).error(&name("position")), 0.3, 1e-9);
        near(made(0.0, 0.01, 0.0).error(&name("momentum")), 0.01, 1e-9);
        near(made(0.1, 0.0, 0.0).error(&name("orientation")), 0.1, 2e-5);
        // By the published numbers of the benchmark: E₀ = 5.001 J and 368.546 J.
        let published = if case == "simple" { 5.001_041_625 } else { 368.546_412_5 };
        let spin = omega.dot(free_box::MOMENTS * omega) / 2.0;
        near(5.0 * v.dot(v) + spin, published, 1e-4);
        let wanted = spin * (1.01 * 1.01 - 1.0) / published;
        near(made(0.0, 0.01, 0.0).error(&name("energy")), wanted, 1e-8);
    }
}

/// Angle and rate of a pendulum at each time, by leaps of 10 µs.
fn pendulum_way(times: &[f64], frequency_squared: f64, start: f64) -> Vec<(f64, f64)> {
    let (mut angle, mut rate, mut now, dt) = (start, 0.0, 0.0, 1e-5);
    let pull = |angle: f64| -frequency_squared * sin(angle);
    let mut out = Vec::new();
    for &time in times {
        while now < time - 0.5 * dt {
            rate += 0.5 * dt * pull(angle);
            angle += dt * rate;
            rate += 0.5 * dt * pull(angle);
            now += dt;
        }
        out.push((angle, rate));
    }
    out
}

#[test]
fn pendulum_swings() {
    let frequency_squared = G / 1.0104;
    let made = |slower: f64, faster: f64| {
        let mut made = Made::new("pendulum", DOWN, 10.0, 0.001);
        let scaled: Vec<f64> = made.times.iter().map(|t| t / slower).collect();
        let way = pendulum_way(&scaled, frequency_squared, 0.5);
        let angles = way.iter().map(|(angle, _)| *angle).collect();
        made.joints("pendulum", vec![("hinge", angles, vec![])]);
        let mut rest = way.iter();
        made.object("pendulum", |_| {
            let (angle, rate) = rest.next().expect("as many");
            swung(Vec3::Z * 2.0, *angle, *rate * faster)
        });
        made
    };
    near(made(1.0, 1.0).error("pendulum_period"), 0.0, 1e-7);
    near(made(1.0, 1.0).error("pendulum_energy"), 0.0, 1e-8);
    near(made(1.01, 1.0).error("pendulum_period"), 0.01 * 2.04844, 1e-5);
    // All of the swing's energy is kinetic at the lowest point.
    near(made(1.0, 1.01).error("pendulum_energy"), 1.01 * 1.01 - 1.0, 1e-5);
    // The series of the textbook: 1 + θ²/16 + 11·θ⁴/3072 + 173·θ⁶/737280 + 22931·θ⁸/1321205760.
    let terms = [1.0, 1.0 / 16.0, 11.0 / 3072.0, 173.0 / 737_280.0, 22_931.0 / 1_321_205_760.0];
    let series = terms.iter().rev().fold(0.0, |sum, term| sum * 0.25 + term);
    let small = 2.0 * PI * sqrt(1.0104 / G);
    near(pendulum::period(1.0104, 1.0, G, 1.0, 0.5), small * series, 1e-8);
}

/// Two laws that the form does not use say the same: energy stays, and the angular momentum about
/// the shoulder changes by the torque of the weights. There are two accelerations, so these two
/// leave no choice.
#[test]
fn double_pendulum_obeys_energy_and_angular_momentum() {
    let made = |off: f64| {
        let mut made = Made::new("double_pendulum", DOWN, 5.0, 0.001);
        let mut states = Vec::new();
        double_pendulum::solve(&made.times, G, |_, state| states.push(*state));
        for (rod, at) in [("upper", upper as fn(&[f64; 4]) -> _), ("lower", lower)] {
            let mut rest = states.iter();
            made.object(&format!("double_pendulum/{rod}"), |_| {
                let (mut pose, motion): (Transform, Motion) = at(rest.next().expect("as many"));
                pose.translation.y += off;
                (pose, motion)
            });
        }
        (made, states)
    };
    let (exact, states) = made(0.0);
    near(exact.error("double_pendulum_energy"), 0.0, 1e-9);
    near(exact.error("double_pendulum_path"), 0.0, 1e-9);
    near(made(0.02).0.error("double_pendulum_path"), 0.02, 1e-9);

    let shoulder = Vec3::Z * double_pendulum::HEIGHT;
    let spin_and_torque = |state: &[f64; 4]| {
        let rods = [upper(state), lower(state)];
        rods.iter().fold((0.0, 0.0), |(spin, torque), (pose, motion)| {
            let arm = pose.translation - shoulder;
            let about = arm.cross(motion.linear).y + double_pendulum::INERTIA * motion.angular.y;
            (spin + about, torque + arm.cross(DOWN).y)
        })
    };
    let mut gained = 0.0;
    for pair in states.windows(2) {
        let (before, after) = (spin_and_torque(&pair[0]), spin_and_torque(&pair[1]));
        gained += 0.5 * (before.1 + after.1) * 0.001;
        near(after.0 - spin_and_torque(&states[0]).0, gained, 2e-5);
    }
}

fn upper(&[angle, _, rate, _]: &[f64; 4]) -> (Transform, Motion) {
    let turn = quat_from_axis_angle(Vec3::Y, angle);
    let arm = turn * Vec3::new(0.0, 0.0, -0.5);
    let angular = Vec3::Y * rate;
    let pose = Transform::new(turn, Vec3::Z * double_pendulum::HEIGHT + arm);
    (pose, Motion { linear: angular.cross(arm), angular })
}

fn lower(&[angle, lower, rate, lower_rate]: &[f64; 4]) -> (Transform, Motion) {
    let elbow = quat_from_axis_angle(Vec3::Y, angle) * -Vec3::Z;
    let turn = quat_from_axis_angle(Vec3::Y, lower);
    let arm = turn * Vec3::new(0.0, 0.0, -0.5);
    let angular = Vec3::Y * lower_rate;
    let linear = (Vec3::Y * rate).cross(elbow) + angular.cross(arm);
    let pose = Transform::new(turn, Vec3::Z * double_pendulum::HEIGHT + elbow + arm);
    (pose, Motion { linear, angular })
}

#[test]
fn rolling() {
    let made = |factor: f64| {
        let mut made = Made::new("rolling", DOWN, 2.0, 0.01);
        let slope = 20.0 * PI / 180.0;
        let downhill = Vec3::new(cos(slope), 0.0, -sin(slope));
        // By the two laws of a sphere: m·a = m·g·sin α − F, 2/5·m·r²·a/r = F·r.
        let a = factor * G * sin(slope) / (1.0 + 0.4);
        made.point("rolls", |t| (downhill * (0.5 * a * t * t), downhill * (a * t)));
        made.object("slides", |t| {
            // Friction μ·g slows it down, 5/2·μ·g/r spins it up, until the two meet.
            let (speed, rim) = (3.5 - 0.2 * G * t, 2.5 * 0.2 * G * t);
            let (speed, rim) = if speed > rim { (speed, rim) } else { (2.5, 2.5) };
            let angular = Vec3::Y * (factor * rim / 0.1);
            (Transform::IDENTITY, Motion { linear: Vec3::X * (factor * speed), angular })
        });
        made
    };
    for form in ["rolling_acceleration", "rolling_speed", "rolling_slip"] {
        near(made(1.0).error(form), 0.0, 1e-9);
    }
    near(made(1.02).error("rolling_acceleration"), 0.02 * 2.396584, 1e-6);
    near(made(1.02).error("rolling_speed"), 0.05, 1e-9);
}

#[test]
fn newtons_cradle() {
    let made = |share: f64| {
        let mut made = Made::new("cradle", DOWN, 2.0, 0.001);
        let way = pendulum_way(&made.times, G / 1.004, cradle::START);
        let lowest = way.iter().position(|(angle, _)| *angle <= 0.0).expect("it passes");
        // On the way down it is the first that swings, from there on the last.
        for i in 0..5 {
            let mut at = 0..way.len();
            made.object(&format!("ball_{}", i + 1), |_| {
                let at = at.next().expect("as many");
                let (angle, rate) = way[at];
                let (angle, rate) = match (i, at < lowest) {
                    (0, true) => (angle, rate),
                    (4, false) => (angle, share * rate),
                    (2, false) => (0.0, 0.5 * (1.0 - share)),
                    _ => (0.0, 0.0),
                };
                swung(Vec3::new(0.202 * f64::from(i), 0.0, 2.0), angle, rate)
            });
        }
        made
    };
    near(made(1.0).error("cradle_speed"), 0.0, 1e-5); // the lowest point is between two samples
    near(made(1.0).error("cradle_rest"), 0.0, 1e-9);
    near(made(1.0).error("cradle_energy"), 0.0, 1e-6);
    near(made(0.9).error("cradle_speed"), 0.1 * made(0.9).measure("cradle_speed").expected, 1e-5);
    near(made(0.9).error("cradle_rest"), 0.05, 1e-9);
    assert!(made(0.9).error("cradle_energy") > 0.18, "it lost 1 − 0.9² of it");
}

#[test]
fn slider() {
    let made = |friction: f64| {
        let mut made = Made::new("slider", DOWN, 3.0, 0.01);
        made.point("slider", |t| {
            let (a, t) = (friction / 2.0, t.min(3.0 * 2.0 / friction));
            (Vec3::X * (3.0 * t - 0.5 * a * t * t), Vec3::X * (3.0 - a * t))
        });
        made
    };
    near(made(3.0).error("slider_distance"), 0.0, 1e-9);
    near(made(3.0).error("slider_creep"), 0.0, 1e-12);
    near(made(2.0).error("slider_distance"), 1.5, 1e-9); // 4.5 m, reached at 3 s
    assert!(made(2.0).error("slider_creep") > 0.1);
}

/// Angle of the rocker by halving, from the length of the coupler alone.
fn rocker_by_halving(crank: f64) -> f64 {
    let [a, b, c, d] = four_bar::LENGTHS;
    let pin = (a * cos(crank), a * sin(crank));
    let too_long = |phi: f64| {
        let (x, z) = (d + c * cos(phi) - pin.0, c * sin(phi) - pin.1);
        sqrt(x * x + z * z) - b
    };
    // The branch in which the rocker leans to the right of the crank's pin as seen from its
    // pivot: from the pin's direction clockwise by half a turn the coupler only gets longer.
    let seen = headland_base::maths::atan2(pin.1, pin.0 - d);
    let (mut low, mut high) = (seen - PI, seen);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if too_long(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

#[test]
fn four_bar_linkage() {
    let [a, b, c, d] = four_bar::LENGTHS;
    let (k1, k2, k3) = (d / a, d / c, (a * a - b * b + c * c + d * d) / (2.0 * a * c));
    for i in 0..720 {
        let theta = f64::from(i) * PI / 360.0;
        let phi = four_bar::rocker_angle(theta);
        near(k1 * cos(phi) - k2 * cos(theta) + k3, cos(theta - phi), 1e-12);
        near(headland_base::maths::wrap_angle(phi - rocker_by_halving(theta)), 0.0, 1e-7);
    }
    near(four_bar::rocker_angle(FRAC_PI_2), FRAC_PI_2, 1e-12);

    // A motion that keeps energy: at each crank angle the speed that does, from J(θ) by
    // differences.
    let poses = |theta: f64| -> [Transform; 3] {
        let phi = rocker_by_halving(theta);
        let coupler = headland_base::maths::atan2(
            c * sin(phi) - a * sin(theta),
            d + c * cos(phi) - a * cos(theta),
        );
        let turned = |angle: f64, start: f64, at: Vec3| {
            Transform::new(quat_from_axis_angle(-Vec3::Y, angle - start), at + Vec3::Z * 2.0)
        };
        [
            turned(theta, FRAC_PI_2, Vec3::ZERO),
            turned(
                coupler,
                headland_base::maths::atan2(0.6, 0.8),
                Vec3::new(d + c * cos(phi), 0.0, c * sin(phi)),
            ),
            turned(phi, FRAC_PI_2, Vec3::new(d, 0.0, 0.0)),
        ]
    };
    let moved = |theta: f64, rate: f64| -> [(Transform, Motion); 3] {
        let h = 1e-5;
        let (before, now, after) = (poses(theta - h), poses(theta), poses(theta + h));
        std::array::from_fn(|i| {
            let turn = after[i].rotation * before[i].rotation.conjugate();
            let angular = headland_base::maths::rotation_vector_from_quat(turn) / (2.0 * h);
            let linear = (after[i].translation - before[i].translation) / (2.0 * h);
            (now[i], Motion { linear: linear * rate, angular: angular * rate })
        })
    };
    let parts = four_bar::parts();
    let total = |states: &[(Transform, Motion); 3]| -> f64 {
        parts.iter().zip(states).map(|(part, (p, m))| energy(part, p, m, DOWN)).sum()
    };
    let start = total(&moved(FRAC_PI_2, 3.0));
    let made = |lean: f64, faster: f64| {
        let mut made = Made::new("four_bar", DOWN, 5.0, 0.01);
        let n = made.times.len();
        let angles: Vec<f64> = (0..n).map(|i| FRAC_PI_2 + i as f64 * 0.02).collect();
        let states: Vec<[(Transform, Motion); 3]> = angles
            .iter()
            .enumerate()
            .map(|(i, &theta)| {
                let still = total(&moved(theta, 0.0));
                let per_square = total(&moved(theta, 1.0)) - still;
                let rate = sqrt((start - still) / per_square);
                moved(theta, rate * if i == 0 { 1.0 } else { faster })
            })
            .collect();
        near(states[0][0].1.angular.length(), 3.0, 1e-6);
        near(states[0][2].1.angular.length(), 1.0, 1e-6); // of the rocker, as the world says
        for (i, part) in parts.iter().enumerate() {
            let mut rest = states.iter();
            made.object(part.object, |_| rest.next().expect("as many")[i]);
        }
        let crank = angles.iter().map(|theta| theta - FRAC_PI_2).collect();
        let rocker =
            angles.iter().map(|theta| rocker_by_halving(*theta) - FRAC_PI_2 + lean).collect();
        made.joints(
            "four_bar",
            vec![("crank_pivot", crank, vec![]), ("rocker_pivot", rocker, vec![])],
        );
        made
    };
    near(made(0.0, 1.0).error("four_bar_angle"), 0.0, 1e-7);
    near(made(0.0, 1.0).error("four_bar_energy"), 0.0, 1e-7);
    near(made(0.01, 1.0).error("four_bar_angle"), 0.01, 1e-7);
    // The largest kinetic energy is the scale, so 1 % more speed is 2.01 % of it.
    near(made(0.0, 1.01).error("four_bar_energy"), 1.01 * 1.01 - 1.0, 1e-4);
}

/// References are solved in steps of 0.5 ms; with samples at every 0.25 ms they go half as far.
#[test]
fn references_do_not_depend_on_their_step() {
    let times = |step: f64, secs: f64| -> Vec<f64> {
        (0..=(secs / step).round() as u32).map(|i| f64::from(i) * step).collect()
    };
    let tumbled = |step: f64| {
        let mut last = Quat::IDENTITY;
        let omega = Vec3::new(0.1, 5.0, 0.1);
        free_box::torque_free(&times(step, 10.0), Quat::IDENTITY, omega, |_, turn| last = turn);
        last
    };
    let apart = headland_base::maths::angle_between(tumbled(0.01), tumbled(2.5e-4));
    near(apart, 0.0, 1e-9);
    let swung = |step: f64| {
        let mut last = Vec3::ZERO;
        double_pendulum::solve(&times(step, double_pendulum::PATH_SECS), G, |_, state| {
            last = double_pendulum::lower_middle(state[0], state[1]);
        });
        last
    };
    near(swung(0.01).distance(swung(2.5e-4)), 0.0, 1e-9);
}

#[test]
fn what_cannot_be_measured_is_said_in_words() {
    let form = about("ball").find(|form| form.name == "ball_impact").expect("a form");
    let why = |made: &Made| form.measure(&made.recording).expect_err("it cannot be measured");
    let other = Made::new("pendulum", DOWN, 1.0, 0.1);
    assert_eq!(why(&other), "`ball_impact` is about ball, not pendulum");
    let empty = Made::new("ball", DOWN, 5.0, 0.1);
    assert_eq!(why(&empty), "the recording has no poses and velocities of `ball`");
    let mut short = Made::new("ball", DOWN, 1.0, 0.1);
    short.point("ball", |_| (Vec3::Z, Vec3::ZERO));
    assert_eq!(why(&short), "the recording ends at 1 s, and 4 s are needed");
    let mut lost = Made::new("ball", DOWN, 5.0, 0.1);
    lost.point("ball", |t| (Vec3::Z / (t - 2.0).max(0.0), Vec3::ZERO));
    assert_eq!(why(&lost), "`ball` went non-finite");
    let mut hanging = Made::new("ball", DOWN, 5.0, 0.1);
    hanging.point("ball", |_| (Vec3::Z * 3.5, Vec3::ZERO));
    assert_eq!(why(&hanging), "the ball never hits the ground");
}
