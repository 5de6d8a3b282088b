//! The soft laws through the native engine, by what follows from them: `docs/src/contact.md` has
//! the list. `crates/sim/tests/contact_soft.rs` asks the formulas alone.

mod common;

use common::{GRAVITY, Play, by, place_of, sdf_world, twist_of, whole};
use headland_base::maths::{PI, cos, exp, sin, sqrt, tan};
use headland_base::{SimDuration, Vec3};
use headland_engines::native::Native;
use headland_sim::{Mode, Model, State};
use headland_world::{ContactLaw, Detail, Integrator, SurfaceLaw, World};

const STIFFNESS: f64 = 3e4;

/// A plane tilted about y, and one thing on it, touching by these numbers.
fn scene(thing: &str, tilt: f64, law: ContactLaw, numbers: SurfaceLaw, step: f64) -> World {
    let ground = format!(
        r#"<model name="ground"><static>true</static><pose>0 0 0 0 {tilt} 0</pose>
        <link name="link"><collision name="plane"><geometry><plane><normal>0 0 1</normal>
        <size>100 100</size></plane></geometry></collision></link></model>"#
    );
    let mut world = by(sdf_world(&format!("{ground}{thing}")), Integrator::SemiImplicit, law);
    world.physics.step = SimDuration::from_secs(step).expect("a step");
    world.physics.native.surface_laws =
        vec![SurfaceLaw { first: None, second: None, stiffness: Some(STIFFNESS), ..numbers }];
    world
}

/// Numbers of the law. What is to rest has a separation factor of 1: with a smaller one it may
/// rest at any depth between `m·g/k` and `m·g/(s_b·k)`, the force at rest being either.
fn numbers(separation: f64, sliding: f64, spinning: f64, mu: f64) -> SurfaceLaw {
    SurfaceLaw {
        first: None,
        second: None,
        stiffness: None,
        separation: Some(separation),
        sliding: Some(sliding),
        spinning: Some(spinning),
        mu: Some(mu),
    }
}

/// A ball of 0.1 m and a mass, its lowest point this high above the ground, with a first twist.
fn ball(mass: f64, above: f64, twist: &str) -> String {
    let (z, moment) = (0.1 + above, 0.4 * mass * 0.01);
    format!(
        r#"<model name="ball"><pose>0 0 {z} 0 0 0</pose><link name="link">
        <headland:twist>{twist}</headland:twist><inertial><mass>{mass}</mass>
        <inertia><ixx>{moment}</ixx><iyy>{moment}</iyy><izz>{moment}</izz></inertia></inertial>
        <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
        </link></model>"#
    )
}

/// A flat slab of 2 kg lying on the tilted plane as deep as its weight presses it in.
fn slab(tilt: f64, speed: f64) -> String {
    let (mass, half) = (2.0, 0.02);
    let depth = mass * GRAVITY * cos(tilt) / (4.0 * STIFFNESS);
    let z = half - depth;
    let (x, z) = (z * sin(tilt), z * cos(tilt));
    let twist = format!("{} 0 {} 0 0 0", speed * cos(tilt), -speed * sin(tilt));
    let (across, about) = (mass * (0.36 + 0.0016) / 12.0, mass * 0.72 / 12.0);
    format!(
        r#"<model name="slab"><pose>{x} 0 {z} 0 {tilt} 0</pose><link name="link">
        <headland:twist>{twist}</headland:twist><inertial><mass>{mass}</mass><inertia>
        <ixx>{across}</ixx><iyy>{across}</iyy><izz>{about}</izz></inertia></inertial>
        <collision name="c"><geometry><box><size>0.6 0.6 0.04</size></box></geometry></collision>
        </link></model>"#
    )
}

/// Restitution, time in contact \[s\] and largest depth \[m\] of a ball that hits at `speed`
/// without gravity.
fn hit(separation: f64, mass: f64, speed: f64, above: f64, step: f64) -> (f64, f64, f64) {
    hit_by(Integrator::SemiImplicit, separation, mass, speed, above, step)
}

fn hit_by(
    integrator: Integrator,
    separation: f64,
    mass: f64,
    speed: f64,
    above: f64,
    step: f64,
) -> (f64, f64, f64) {
    let twist = format!("0 0 {} 0 0 0", -speed);
    let law = numbers(separation, 20.0, 0.05, 1.0);
    let mut world = scene(&ball(mass, above, &twist), 0.0, ContactLaw::Soft, law, step);
    world.gravity = headland_base::Vec3::ZERO;
    world.physics.native.integrator = Some(integrator);
    let (mut n_inside, mut deepest, mut left_at) = (0, 0.0_f64, 0.0);
    Play::native(0.08).watch(&world, |model, state| {
        let depth = 0.1 - place_of(model, state, "ball").z;
        n_inside += usize::from(depth > 0.0);
        deepest = deepest.max(depth);
        left_at = twist_of(model, state, "ball").linear.z;
    });
    (left_at / speed, n_inside as f64 * step, deepest)
}

/// Restitution √s_b, whatever the mass and the speed; time in contact and depth in closed form.
#[test]
fn a_ball_comes_back_with_the_root_of_the_separation_factor() {
    for (separation, wanted) in [(0.81, 0.9), (0.25, 0.5), (0.04, 0.2)] {
        for (mass, speed) in [(1.0, 1.0), (0.3, 4.0)] {
            let (restitution, secs, depth) = hit(separation, mass, speed, 0.005 * speed, 1e-5);
            let swing = sqrt(mass / STIFFNESS);
            let wanted_secs = PI / 2.0 * swing * (1.0 + 1.0 / sqrt(separation));
            eprintln!("s_b {separation}: e {restitution:.4}, {secs:.5} s, {depth:.6} m");
            assert!((restitution / wanted - 1.0).abs() < 3e-3, "{restitution}, not {wanted}");
            assert!((secs / wanted_secs - 1.0).abs() < 1e-2, "{secs} s, not {wanted_secs}");
            assert!((depth / (speed * swing) - 1.0).abs() < 3e-3, "{depth} m");
        }
    }
}

/// The same by integrators of several stages, which follow the spring itself: friction, whose
/// impulse comes at the end of a step, takes nothing of the bounce, in steps ten times as long.
#[test]
fn a_ball_comes_back_as_far_by_every_integrator() {
    for integrator in [Integrator::Rk4, Integrator::Adaptive { tolerance: Some(1e-9) }] {
        for (separation, wanted) in [(0.81, 0.9), (0.25, 0.5), (0.04, 0.2)] {
            let (restitution, _, depth) = hit_by(integrator, separation, 1.0, 1.0, 0.005, 1e-4);
            let word = integrator.word();
            eprintln!("{word}, s_b {separation}: e {restitution:.5}, {depth:.6} m");
            assert!((restitution / wanted - 1.0).abs() < 3e-3, "{word}: {restitution}");
            assert!((depth / sqrt(1.0 / STIFFNESS) - 1.0).abs() < 1e-3, "{word}: {depth} m");
        }
    }
}

/// In short steps √s_b to five digits: by `rk4` what is left is where in a step the ball touches and
/// lets go, by `adaptive` what its tolerance leaves.
#[test]
fn integrators_of_stages_know_the_root_to_five_digits() {
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-11) };
    for (integrator, step) in [(Integrator::Rk4, 1e-5), (adaptive, 1e-4)] {
        for (separation, wanted) in [(0.81, 0.9), (0.25, 0.5), (0.04, 0.2)] {
            let (restitution, _, depth) = hit_by(integrator, separation, 1.0, 1.0, 0.005, step);
            let (word, off) = (integrator.word(), (restitution / wanted - 1.0).abs());
            eprintln!("{word}, s_b {separation}: off by {off:e}, {depth:.8} m");
            assert!(off < 1e-5, "{word}: {restitution}, not {wanted}");
        }
    }
}

/// The table of the page on contact: what coarse steps make of a restitution of 0.5.
#[test]
fn coarse_steps_bounce_as_the_page_says() {
    for (step, mean, highest) in [(1e-3, 0.506, 0.520), (2e-3, 0.525, 0.583), (5e-3, 0.641, 0.849)]
    {
        let n = 20;
        // Hits spread evenly over a step.
        let all: Vec<f64> = (0..n)
            .map(|i| {
                hit(0.25, 1.0, 1.0, (2.0 + (f64::from(i) + 0.5) / f64::from(n)) * step, step).0
            })
            .collect();
        let found = all.iter().sum::<f64>() / f64::from(n);
        let most = all.iter().copied().fold(0.0, f64::max);
        eprintln!("{step} s: mean {found:.3}, at most {most:.3}");
        assert!((found - mean).abs() < 0.01, "{step} s: {found}, not {mean}");
        assert!(most < highest + 2e-3, "{step} s: {most}");
    }
}

/// Friction has no part at rest: what stands on a slope creeps at tan(a)/s_μ, 8.8 mm/s here.
#[test]
fn what_stands_on_a_slope_creeps() {
    let slope = 10.0 * PI / 180.0;
    let law = numbers(1.0, 20.0, 0.0, 1.0);
    let world = scene(&slab(slope, 0.0), slope, ContactLaw::Soft, law, 5e-4);
    let ran = Play::native(2.0).watch(&world, |_, _| {});
    let speed = twist_of(&ran.model, &ran.end.state, "slab").linear.length();
    assert!((speed / (tan(slope) / 20.0) - 1.0).abs() < 1e-3, "{speed} m/s");
    assert!((speed - 8.8e-3).abs() < 5e-5, "the page says 8.8 mm/s");
}

/// A slide ends after v/(s_μ·g).
#[test]
fn a_slide_ends_after_v_over_s_mu_g() {
    let (speed, sliding) = (0.7, 0.5);
    let law = numbers(1.0, sliding, 0.0, 1.0);
    let world = scene(&slab(0.0, speed), 0.0, ContactLaw::Soft, law, 5e-4);
    let ran = Play::native(4.0).watch(&world, |_, _| {});
    let way = place_of(&ran.model, &ran.end.state, "slab").x;
    let wanted = speed / (sliding * GRAVITY);
    assert!((way / wanted - 1.0).abs() < 5e-3, "{way} m, not {wanted}");
}

/// Spin fades with time I/(s_ν·m·g).
#[test]
fn spin_fades_within_i_over_s_nu_m_g() {
    let (mass, spinning) = (1.5, 0.05);
    let depth = mass * GRAVITY / STIFFNESS;
    let law = numbers(1.0, 20.0, spinning, 1.0);
    let thing = ball(mass, -depth, "0 0 0 0 0 6");
    let world = scene(&thing, 0.0, ContactLaw::Soft, law, 1e-4);
    let fade = 0.4 * mass * 0.01 / (spinning * mass * GRAVITY);
    Play::native(3.0 * fade).watch(&world, |model, state| {
        let t = state.time.secs();
        let spin = twist_of(model, state, "ball").angular.z;
        let wanted = 6.0 * exp(-t / fade);
        assert!((spin - wanted).abs() < 0.03, "{spin} rad/s after {t} s, not {wanted}");
    });
}

/// With Coulomb's limit below the slope it runs away at g·(sin a − μ·cos a); with the limit
/// above it creeps as ever.
#[test]
fn coulombs_limit_lets_go_on_a_slope() {
    let slope = 10.0 * PI / 180.0;
    let speed_after = |mu: f64, start: f64| {
        let law = numbers(1.0, 20.0, 0.0, mu);
        let world = scene(&slab(slope, start), slope, ContactLaw::SoftCoulomb, law, 5e-4);
        let ran = Play::native(1.0).watch(&world, |_, _| {});
        twist_of(&ran.model, &ran.end.state, "slab").linear.length()
    };
    let wanted = GRAVITY * (sin(slope) - 0.1 * cos(slope));
    let gained = speed_after(0.1, 0.5) - 0.5;
    assert!((gained / wanted - 1.0).abs() < 2e-3, "{gained} m/s in a second, not {wanted}");
    let crept = speed_after(0.5, 0.0);
    assert!((crept / (tan(slope) / 20.0) - 1.0).abs() < 1e-3, "{crept}");
}

/// A `com` robot that rests on the soft ground is carried by its weight, whatever integrator
/// moves the others: forces of a step are given once, however often the integrator looks.
#[test]
fn a_com_robot_weighs_the_same_under_every_integrator() {
    let deep = 3.5 * GRAVITY / (4.0 * STIFFNESS);
    let z = 0.1 - deep;
    let robot = format!(
        r#"<model name="robot"><pose>0 0 {z} 0 0 0</pose>
        <link name="trunk"><inertial><mass>3</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy>
        <izz>0.02</izz></inertia></inertial><collision name="c"><geometry><box>
        <size>0.2 0.2 0.2</size></box></geometry></collision></link>
        <link name="arm"><pose>0 0 0.15 0 0 0</pose><inertial><mass>0.5</mass><inertia>
        <ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz></inertia></inertial></link>
        <joint name="waist" type="revolute"><parent>trunk</parent><child>arm</child>
        <axis><xyz>0 0 1</xyz></axis></joint></model>"#
    );
    for integrator in
        [Integrator::SemiImplicit, Integrator::Rk4, Integrator::Adaptive { tolerance: Some(1e-6) }]
    {
        for detail in [Detail::Com, Detail::Articulated] {
            let law = numbers(1.0, 20.0, 0.05, 1.0);
            let mut world = scene(&robot, 0.0, ContactLaw::Soft, law, 1e-3);
            world.physics.native.integrator = Some(integrator);
            world.set_detail("robot", detail).expect("a robot");
            Play::native(0.5).watch(&world, |model, state| {
                let depth = 0.1 - place_of(model, state, "robot::trunk").z;
                let what = format!("{} {detail:?}", integrator.word());
                assert!((depth / deep - 1.0).abs() < 0.01, "{what}: {depth} m, not {deep}");
            });
        }
    }
}

/// The player, whose feet weigh 130 g, is dropped leaning on the default surface, on which `h·s_μ·F`
/// is many times that: it comes down, and lies still within the speed things creep at.
#[test]
fn a_player_falls_on_soft_ground_and_lies_there() {
    let player = "<include><uri>robots/player</uri><name>robot</name>\
        <pose>0 0 0.05 0.1 0.4 0</pose></include>";
    let world = by(
        sdf_world(&format!("{}{player}", common::GROUND)),
        Integrator::SemiImplicit,
        ContactLaw::Soft,
    );
    // What rests is pushed by more and by less than its weight in turn.
    let (mut load, mut n_loads) = (0.0, 0.0);
    let ran = Play::native(4.0).watch(&world, |_, state| {
        if state.time.secs() > 3.0 {
            load += state.contacts.iter().map(|contact| contact.force.z).sum::<f64>();
            n_loads += 1.0;
        }
    });
    assert!(ran.end.contained.is_empty(), "{:?}", ran.end.contained);
    let state = &ran.end.state;
    let fastest = state.rigids.iter().map(|rigid| rigid.twist.linear.length()).fold(0.0, f64::max);
    let (load, height) = (load / n_loads, place_of(&ran.model, state, "robot").z);
    let weight = common::whole(&ran.model, state).mass * GRAVITY;
    eprintln!("lies at {height} m, up to {fastest} m/s, {load} N of {weight} N");
    assert!(height < 0.15, "it has fallen: its hips are at {height} m");
    assert!(fastest < 0.05 && (load / weight - 1.0).abs() < 0.02, "{fastest} m/s, {load} N");
}

/// A box that slides, its place \[m\] given as SDF has it.
fn slid(name: &str, y: f64) -> String {
    format!(
        r#"<model name="{name}"><pose>0 {y} 0.05 0 0 0</pose><link name="link">
        <headland:twist>1 0 0 0 0 0</headland:twist><inertial><mass>1</mass><inertia>
        <ixx>0.002</ixx><iyy>0.002</iyy><izz>0.002</izz></inertia></inertial>
        <collision name="c"><geometry><box><size>0.1 0.1 0.1</size></box></geometry>
        </collision></link></model>"#
    )
}

/// A box slides to rest by the adaptive integrator with a tolerance that no step over a corner of
/// the forces meets: it gets there, as far as by the others, and not in tiny steps.
#[test]
fn adaptive_steps_get_over_corners() {
    // With 1 a cube is about to tip over, and where it ends hangs on how it rocks.
    const MU: f64 = 0.5;
    let ends: Vec<(f64, u64)> =
        [Integrator::SemiImplicit, Integrator::Adaptive { tolerance: Some(1e-9) }]
            .into_iter()
            .map(|integrator| {
                let text = format!("{}{}", common::GROUND, slid("box", 0.0));
                let mut world = by(sdf_world(&text), integrator, ContactLaw::SoftCoulomb);
                world.physics.native.surface_laws = vec![numbers(0.1, 50.0, 0.05, MU)];
                let mut engine = Native::default();
                let ran = Play::native(0.5).watch_by(&mut engine, &world, |_, _| {});
                (place_of(&ran.model, &ran.end.state, "box").x, engine.n_inner_steps())
            })
            .collect();
    eprintln!("{ends:?}");
    // v²/(2·μ·g); the friction of the semi-implicit one is that of the step's beginning.
    let wanted = 1.0 / (2.0 * MU * GRAVITY);
    let off = |end: f64| (end / wanted - 1.0).abs();
    assert!(off(ends[0].0) < 0.02 && off(ends[1].0) < 0.005, "{ends:?} m, not {wanted} m");
    // Some twenty a step along the corner, and not the thousand of shortest ones.
    assert!((500..20_000).contains(&ends[1].1), "{} inner steps", ends[1].1);
}

/// A box that slides, with corners all the way, and a mass that swings quickly on a spring, far
/// from it: the corners of the one are no excuse for the errors of the other.
#[test]
fn a_corner_is_its_own_robots() {
    let (stiffness, start, tolerance) = (4e6, 0.01, 1e-9);
    let cart = format!(
        r#"<model name="cart"><pose>0 50 5 0 0 0</pose><link name="link"><inertial><mass>1</mass>
        <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
        <joint name="rail" type="prismatic"><parent>world</parent><child>link</child>
        <axis><xyz>1 0 0</xyz><headland:initial_position>{start}</headland:initial_position>
        <dynamics><spring_stiffness>{stiffness}</spring_stiffness></dynamics></axis></joint></model>"#
    );
    let off = |others: &str| {
        let text = format!("{}{others}{cart}", common::GROUND);
        let adaptive = Integrator::Adaptive { tolerance: Some(tolerance) };
        let world = by(sdf_world(&text), adaptive, ContactLaw::SoftCoulomb);
        let mut worst = 0.0_f64;
        Play::native(0.3).watch(&world, |_, state| {
            let wanted = start * cos(sqrt(stiffness) * state.time.secs());
            worst = worst.max((state.dofs[0].position - wanted).abs());
        });
        worst
    };
    let (alone, beside) = (off(""), off(&slid("box", 0.0)));
    eprintln!("off by {alone:e} m alone, by {beside:e} m beside a box that slides");
    assert!(beside < 2.0 * alone + tolerance, "{beside} m, {alone} m alone");
}

/// A motion too quick for the shortest inner step is no corner: it is followed as closely as can
/// be, one try and one that is too long at a time.
#[test]
fn what_is_too_quick_is_no_corner() {
    let (stiffness, step_millis) = (1.3e4 * 1.3e4, 7);
    let cart = format!(
        r#"<model name="cart"><link name="link"><inertial><mass>1</mass><inertia><ixx>0.1</ixx>
        <iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link><joint name="rail" type="prismatic">
        <parent>world</parent><child>link</child><axis><xyz>1 0 0</xyz>
        <headland:initial_position>0.5</headland:initial_position><dynamics>
        <spring_stiffness>{stiffness}</spring_stiffness></dynamics></axis></joint></model>"#
    );
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-11) };
    let mut world = by(sdf_world(&cart), adaptive, ContactLaw::Hard);
    world.physics.step = SimDuration::from_nanos(step_millis * 1_000_000);
    let mut engine = Native::default();
    let mut worst = 0.0_f64;
    Play::native(0.07).watch_by(&mut engine, &world, |_, state| {
        let wanted = 0.5 * cos(sqrt(stiffness) * state.time.secs());
        worst = worst.max((state.dofs[0].position - wanted).abs());
    });
    let per_step = engine.n_inner_steps() / 10;
    eprintln!("{per_step} tries per step, off by {worst:e} m");
    assert!((1000..2500).contains(&per_step), "{per_step} tries per step");
    assert!(worst < 1e-4, "{worst} m");
}

/// A slab that slides and turns across the joint of two boards of one ground, with a bystander on
/// the first of them or alone.
fn across_two_boards(with_bystander: bool) -> World {
    let board = |name: &str, x: f64| {
        format!(
            r#"<collision name="{name}"><pose>{x} 0 -0.5 0 0 0</pose><geometry><box>
            <size>4 8 1</size></box></geometry></collision>"#
        )
    };
    let block = |name: &str, x: f64, y: f64, twist: &str| {
        format!(
            r#"<model name="{name}"><pose>{x} {y} 0.05 0 0 0.3</pose><link name="link">
            <headland:twist>{twist}</headland:twist><inertial><mass>2</mass><inertia>
            <ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia></inertial><collision name="c">
            <geometry><box><size>0.6 0.4 0.1</size></box></geometry></collision></link></model>"#
        )
    };
    let ground = format!(
        r#"<model name="ground"><static>true</static><link name="link">{}{}</link></model>"#,
        board("one", -2.0),
        board("two", 2.0)
    );
    let bystander =
        if with_bystander { block("bystander", -2.0, 2.0, "0 0 0 0 0 0") } else { String::new() };
    let slab = block("slab", 0.0, 0.0, "0.5 0.2 0 0 0 1.5");
    let world = sdf_world(&format!("{ground}{slab}{bystander}"));
    let mut world = by(world, Integrator::SemiImplicit, ContactLaw::Soft);
    world.physics.native.surface_laws = vec![numbers(1.0, 5.0, 0.02, 1.0)];
    world
}

/// Friction is written point by point: against how the point moves at the end of the step, by what
/// it is pressed with; all points together are what the slab slows down by. Who else stands on the
/// same ground changes no bit of it.
#[test]
fn every_point_rubs_by_its_own_speed() {
    let mut last: Option<(headland_base::Vec3, headland_base::Vec3)> = None; // place, velocity
    let (mut n_points, mut most) = (0, 0.0_f64);
    let mut alone = Vec::new();
    Play::native(0.3).watch(&across_two_boards(false), |model, state| {
        let (at, twist) = (place_of(model, state, "slab"), twist_of(model, state, "slab"));
        alone.push((at, twist.linear, twist.angular));
        let before = last.replace((at, twist.linear));
        let Some((from, speed)) = before else { return };
        let mut sum = headland_base::Vec3::ZERO;
        for contact in &state.contacts {
            let pressure = contact.force.dot(contact.normal);
            let rub = contact.force - contact.normal * pressure;
            let moves = twist.linear + twist.angular.cross(contact.position - from);
            let slip = moves - contact.normal * moves.dot(contact.normal);
            let off = (rub + slip * (5.0 * pressure)).length();
            // Spin is carried on after the rows are solved, which changes speeds by some µm/s.
            assert!(
                off < 5.0 * pressure * 1e-5,
                "at {}: {off} N, {rub} N at {slip} m/s",
                state.time
            );
            (n_points, most) = (n_points + 1, most.max(rub.length()));
            sum += contact.force;
        }
        let wanted = ((twist.linear - speed) / 1e-3 + headland_base::Vec3::Z * GRAVITY) * 2.0;
        assert!((sum - wanted).length() < 1e-8, "{sum} N, not {wanted}");
    });
    assert!(n_points > 1_000 && most > 1.0, "it slid: {n_points} points, up to {most} N");
    let mut beside = Vec::new();
    Play::native(0.3).watch(&across_two_boards(true), |model, state| {
        let twist = twist_of(model, state, "slab");
        beside.push((place_of(model, state, "slab"), twist.linear, twist.angular));
    });
    assert_eq!(alone, beside, "a bystander changes nothing");
}

/// A box of 1 kg between two jaws that springs press against it with 30 N each, as deep as that
/// presses them in.
fn gripped() -> String {
    let jaw = |name: &str, side: f64| {
        let (x, to) = (side * (0.06 - 30.0 / (4.0 * STIFFNESS)), -0.3 * side);
        format!(
            r#"<model name="{name}"><pose>{x} 0 1 0 0 0</pose><link name="link"><inertial>
            <mass>0.2</mass><inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz></inertia>
            </inertial><collision name="c"><geometry><box><size>0.02 0.04 0.04</size></box>
            </geometry></collision></link><joint name="rail" type="prismatic">
            <parent>world</parent><child>link</child><axis><xyz>1 0 0</xyz><dynamics>
            <spring_reference>{to}</spring_reference><spring_stiffness>100</spring_stiffness>
            </dynamics></axis></joint></model>"#
        )
    };
    format!(
        r#"{}{}<model name="box"><pose>0 0 1 0 0 0</pose><link name="link"><inertial><mass>1</mass>
        <inertia><ixx>0.002</ixx><iyy>0.002</iyy><izz>0.002</izz></inertia></inertial>
        <collision name="c"><geometry><box><size>0.1 0.1 0.1</size></box></geometry>
        </collision></link></model>"#,
        jaw("left", -1.0),
        jaw("right", 1.0)
    )
}

/// What is gripped creeps at m·g/(s_μ·N) by every law and integrator, also where `h·s_μ·N` is three
/// times what is held and springs let go with a tenth of what they push, so that no step is pressed
/// as the one before. By single looks at a step's beginning that takes shorter ones: at each that is
/// not pressed the box gains `g·h`, three times what it creeps at.
#[test]
fn what_is_gripped_creeps_by_every_integrator() {
    let (sliding, wanted) = (50.0, GRAVITY / (50.0 * 60.0));
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-7) };
    for law in [ContactLaw::Soft, ContactLaw::SoftCoulomb] {
        for (integrator, step, separation, most_off) in [
            (Integrator::SemiImplicit, 1e-3, 1.0, 2e-3),
            (Integrator::SemiImplicit, 5e-5, 0.1, 0.06),
            (Integrator::Rk4, 1e-3, 1.0, 2e-3),
            (Integrator::Rk4, 1e-3, 0.1, 0.06),
            (adaptive, 1e-3, 1.0, 2e-3),
            (adaptive, 1e-3, 0.1, 0.06),
        ] {
            let numbers = numbers(separation, sliding, 0.05, 1.0);
            let mut world = scene(&gripped(), 0.0, law, numbers, step);
            world.physics.native.integrator = Some(integrator);
            let (mut from, mut to) = (0.0, 0.0);
            Play::native(1.0).watch(&world, |model, state| {
                to = place_of(model, state, "box").z;
                from = if state.time.secs() <= 0.3 { to } else { from };
            });
            let off = (from - to) / 0.7 / wanted - 1.0;
            let what = format!("{} {}, {step} s, s_b {separation}", law.word(), integrator.word());
            eprintln!("{what}: off by {:.2} %", 100.0 * off);
            assert!(off.abs() < most_off, "{what}: off by {off}");
        }
    }
}

/// A player whose servos hold it stands where it is in steps of 1 ms: friction on feet of 130 g,
/// which is many times what stops them in a step, neither chatters nor carries it away. At `com` by
/// every integrator: it has no stages, and takes the whole step at once.
#[test]
fn a_player_stands_where_it_is_on_soft_ground() {
    let player = "<include><uri>robots/player</uri><name>robot</name></include>";
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-6) };
    for (integrator, detail, secs) in [
        (Integrator::SemiImplicit, Detail::Articulated, 6.0),
        (Integrator::SemiImplicit, Detail::Com, 6.0),
        (Integrator::Rk4, Detail::Articulated, 6.0),
        (Integrator::Rk4, Detail::Com, 6.0),
        (adaptive, Detail::Com, 6.0),
    ] {
        let text = format!("{}{player}", common::GROUND);
        let mut world = by(sdf_world(&text), integrator, ContactLaw::SoftCoulomb);
        world.set_detail("robot", detail).expect("a robot");
        let (mut from, mut to) = (headland_base::Vec3::ZERO, headland_base::Vec3::ZERO);
        let mut lowest = f64::INFINITY;
        Play::native(secs).watch(&world, |model, state| {
            to = place_of(model, state, "robot");
            from = if state.time.secs() <= 1.0 { to } else { from };
            lowest = lowest.min(common::whole(model, state).centre.z);
        });
        let (way, what) = ((to - from).length(), format!("{} {detail:?}", integrator.word()));
        eprintln!("{what}: {:.3} mm in 5 s, its middle at {lowest:.3} m and above", 1e3 * way);
        assert!(lowest > 0.25, "{what}: its middle was at {lowest} m, so it did not stand");
        assert!(way < 5e-4, "{what}: {way} m in 5 s");
    }
}

/// Forces that are told of a ball that rests are its weight on the mean, by both laws and every
/// integrator, though springs let go with a tenth of what they push.
#[test]
fn what_rests_is_told_to_weigh_what_it_weighs() {
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-7) };
    for law in [ContactLaw::Soft, ContactLaw::SoftCoulomb] {
        for integrator in [Integrator::SemiImplicit, Integrator::Rk4, adaptive] {
            let (mass, numbers) = (10.0, numbers(0.1, 50.0, 0.05, 1.0));
            let mut world = scene(&ball(mass, 0.01, "0 0 0 0 0 0"), 0.0, law, numbers, 1e-3);
            world.physics.native.integrator = Some(integrator);
            let (mut sum, mut n) = (0.0, 0.0);
            Play::native(4.0).watch(&world, |_, state| {
                if state.time.secs() > 2.0 {
                    sum += state.contacts.iter().map(|contact| contact.force.z).sum::<f64>();
                    n += 1.0;
                }
            });
            let share = sum / n / (mass * GRAVITY);
            let what = format!("{} {}", law.word(), integrator.word());
            eprintln!("{what}: {share:.4} of its weight");
            assert!((share - 1.0).abs() < 0.01, "{what}: {share} of its weight");
        }
    }
}

/// Friction against spin slows down and turns nothing back, of a ball, of a marble and of a ball
/// with friction beyond measure, or without any that slides.
#[test]
fn spin_is_not_turned_back_by_capped_friction() {
    for (mass, sliding, spinning) in
        [(1.0, 50.0, 0.05), (1e-3, 50.0, 0.05), (1.0, 50.0, 1e3), (10.0, 0.0, 0.05)]
    {
        for integrator in [Integrator::SemiImplicit, Integrator::Rk4] {
            let depth = mass * GRAVITY / STIFFNESS;
            let law = numbers(1.0, sliding, spinning, 1.0);
            let thing = ball(mass, -depth, "0 0 0 0 0 3");
            let mut world = scene(&thing, 0.0, ContactLaw::SoftCoulomb, law, 1e-3);
            // As deep whatever it weighs: light things are as slow on softer springs.
            world.physics.native.surface_laws[0].stiffness = Some(STIFFNESS * mass.min(1.0));
            world.physics.native.integrator = Some(integrator);
            let (mut least, mut most, mut last) = (f64::INFINITY, 0.0_f64, 0.0);
            Play::native(1.0).watch(&world, |model, state| {
                last = twist_of(model, state, "ball").angular.z;
                (least, most) = (least.min(last), most.max(last));
            });
            let what = format!("{mass} kg, {sliding}, {spinning}, {}", integrator.word());
            eprintln!("{what}: from {least} to {most}, at last {last} rad/s");
            assert!(least > -1e-6 && most <= 3.0 + 1e-9, "{what}: from {least} to {most} rad/s");
            assert!(last < 0.3, "{what}: {last} rad/s are left");
        }
    }
}

/// A ball that hits a robot without stages in its middle and off it, rubbing and not: what the one
/// loses the other gains, by every integrator.
#[test]
fn what_hits_a_robot_loses_what_that_gains() {
    let rod = |name: &str, x: f64, mass: f64| {
        format!(
            r#"<link name="{name}"><pose>{x} 0 1 0 0 0</pose><inertial><mass>{mass}</mass><inertia>
            <ixx>0.002</ixx><iyy>0.03</iyy><izz>0.03</izz></inertia></inertial><collision name="c">
            <geometry><box><size>0.6 0.1 0.1</size></box></geometry></collision></link>"#
        )
    };
    let integrators =
        [Integrator::SemiImplicit, Integrator::Rk4, Integrator::Adaptive { tolerance: Some(1e-6) }];
    for detail in ["com", "com-fixed"] {
        for (law, integrator) in [ContactLaw::Soft, ContactLaw::SoftCoulomb]
            .into_iter()
            .flat_map(|law| integrators.map(|integrator| (law, integrator)))
        {
            for (x, across) in [(0.4333, 0.0), (0.8, 0.0), (0.1, 1.0)] {
                let world = sdf_world(&format!(
                    r#"<model name="robot"><headland:detail>{detail}</headland:detail>{}{}
                    <joint name="hinge" type="continuous"><pose>-0.325 0 0 0 0 0</pose>
                    <parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint></model>
                    <model name="ball"><pose>{x} 0 1.2 0 0 0</pose><link name="link">
                    <headland:twist>{across} 0 -4 0 0 0</headland:twist><inertial><mass>0.5</mass>
                    <inertia><ixx>0.0005</ixx><iyy>0.0005</iyy><izz>0.0005</izz></inertia></inertial>
                    <collision name="c"><geometry><sphere><radius>0.05</radius></sphere></geometry>
                    </collision></link></model>"#,
                    rod("a", 0.0, 1.0),
                    rod("b", 0.65, 2.0)
                ));
                let mut world = common::by(world, integrator, law);
                world.gravity = Vec3::ZERO;
                let mut begun = None;
                let ran = Play::native(0.1).watch(&world, |model, state| {
                    begun.get_or_insert(whole(model, state));
                });
                let (begun, now) = (begun.expect("a start"), whole(&ran.model, &ran.end.state));
                let what =
                    format!("{detail} at {x} m under {} by {}", law.word(), integrator.word());
                let ball = twist_of(&ran.model, &ran.end.state, "ball").linear;
                assert!(ball.z > -3.0, "{what}: no hit");
                let (line, spin) = (now.line - begun.line, now.spin - begun.spin);
                assert!(line.length() < 1e-12, "{what}: off by {line} N·s");
                // The point goes on within the step.
                assert!(spin.length() < 1e-3, "{what}: off by {spin} N·m·s");
            }
        }
    }
}

/// By `adaptive` with soft laws a long step goes in parts, and what is told of it is of all of them:
/// the force on a ball that bounces within one, and where a servo brings an arm that stands on the
/// ground.
#[test]
fn parts_of_a_step_are_told_as_one() {
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-9) };
    let in_steps_of = |world: &World, millis: i64, law: ContactLaw| {
        let mut world = common::by(world.clone(), adaptive, law);
        world.physics.step = SimDuration::from_nanos(millis * 1_000_000);
        world
    };
    let ball = sdf_world(&format!(
        r#"{}<model name="ball"><pose>0 0 0.3 0 0 0</pose><link name="link"><inertial><mass>1</mass>
        <inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.004</izz></inertia></inertial>
        <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
        </link></model>"#,
        common::GROUND
    ));
    let arm = sdf_world(
        r#"<model name="arm"><link name="link"><pose>0.2 0 0 0 0 0</pose><inertial><mass>2</mass>
        <inertia><ixx>0.001</ixx><iyy>0.03</iyy><izz>0.03</izz></inertia></inertial></link>
        <joint name="hinge" type="continuous"><pose>-0.2 0 0 0 0 0</pose><parent>world</parent>
        <child>link</child><axis><xyz>0 1 0</xyz></axis></joint>
        <headland:actuator name="servo" joint="hinge" type="position" kp="400" kv="40"/></model>"#,
    );
    for law in [ContactLaw::Soft, ContactLaw::SoftCoulomb] {
        let world = in_steps_of(&ball, 50, law);
        let (mut impulse, mut last) = (0.0, 0.0);
        Play::native(0.5).watch(&world, |model, state| {
            impulse += 0.05 * state.contacts.iter().map(|contact| contact.force.z).sum::<f64>();
            last = twist_of(model, state, "ball").linear.z + GRAVITY * state.time.secs();
        });
        assert!(last > 2.0, "{}: it bounced, and is at {last} m/s", law.word());
        assert!((impulse - last).abs() < 1e-6, "{}: {impulse} N·s of {last}", law.word());
        let ways = [50, 5].map(|millis| {
            let told = common::By(|_: f64, _: &Model, _: &State| vec![(0, Mode::Position, -1.0)]);
            let mut way = Vec::new();
            Play::native(1.0).with(told).watch(&in_steps_of(&arm, millis, law), |_, state| {
                if state.time.nanos() % 50_000_000 == 0 {
                    way.push(state.dofs[0].position);
                }
            });
            way
        });
        assert!(ways[0].len() == 21 && ways[1].len() == 21);
        for (long, short) in ways[0].iter().zip(&ways[1]) {
            // Efforts that do not change much in a part are held for it.
            assert!((long - short).abs() < 1e-6, "{}: {ways:?}", law.word());
        }
        assert!(ways[0][20] < -0.9, "{}: {ways:?}", law.word());
    }
}
