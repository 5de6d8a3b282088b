//! Loops in the native engine: they stay closed, and neither gain nor lose.

mod common;

use common::{By, Play, by, energy, place_of, sdf_world, shipped, twist_of, whole};
use headland_base::maths::{angle_between, cos, hypot, quat_from_axis_angle, sin, sqrt};
use headland_base::{Quat, SimDuration, Transform, Vec3};
use headland_engines::{bullet, mujoco, native, ode, rapier};
use headland_sim::tree::Forest;
use headland_sim::{Engine, EngineEntry, EngineOptions, Mode, Model, State};
use headland_world::{ContactLaw, Integrator, Twist, World};

/// What the four-bar linkage loses in 10 s of 1 ms as a share of its largest kinetic energy,
/// seen over whole turns, and how far its pin is off at most \[m\].
fn linkage(engine: &EngineEntry, integrator: Integrator) -> (f64, f64) {
    let world = by(shipped("four_bar"), integrator, ContactLaw::Hard);
    let (mut energies, mut gap) = (Vec::new(), 0.0_f64);
    let play = Play { engine, ..Play::native(10.0) };
    play.watch(&world, |model, state| {
        energies.push((state.time.secs(), energy(model, state), {
            let crank = model.dof("four_bar::crank_pivot").expect("a crank");
            state.dofs[crank].position
        }));
        // At either end of the rocker: one of its pins is held by impulses.
        let at = |name: &str| place_of(model, state, name);
        let (rocker, coupler) = (at("four_bar::rocker"), at("four_bar::coupler"));
        gap = gap.max(rocker.distance(Vec3::new(0.8, 0.0, 2.0)));
        gap = gap.max((coupler.distance(rocker) - 0.9).abs());
    });
    // A step of first order sways within a turn; what counts is left after whole ones.
    let mean = |turn: f64| {
        let of_turn: Vec<f64> = energies
            .iter()
            .filter(|(_, _, angle)| (angle / std::f64::consts::TAU).floor() == turn)
            .map(|(_, energy, _)| *energy)
            .collect();
        of_turn.iter().sum::<f64>() / of_turn.len() as f64
    };
    let last = (energies[energies.len() - 1].2 / std::f64::consts::TAU).floor() - 1.0;
    assert!(last >= 3.0, "{}: the crank turns: {last}", engine.name);
    // From the highest place to the lowest: 54.03 J less the least potential energy.
    let largest_kinetic = 9.81 * (0.3 * 0.3 + 1.3 * 0.3 + 0.9 * 0.2) + 1.01;
    ((mean(last) - mean(0.0)) / largest_kinetic, gap)
}

/// It keeps its energy to 0.3 % over 10 s and its pin to 10 µm, whatever integrator is asked for,
/// and no other engine that is there keeps more.
#[test]
fn a_four_bar_linkage_keeps_its_energy() {
    for integrator in [Integrator::SemiImplicit, Integrator::Rk4] {
        let (drift, gap) = linkage(&native::ENTRY, integrator);
        eprintln!("native {}: {:.3} %, {gap:e} m", integrator.word(), 100.0 * drift);
        assert!(drift.abs() < 3e-3, "{drift}");
        assert!(gap < 1e-5, "{gap} m");
    }
    let (own, _) = linkage(&native::ENTRY, Integrator::SemiImplicit);
    for engine in [rapier::ENTRY, mujoco::ENTRY, ode::ENTRY, bullet::ENTRY] {
        if let Err(why) = (engine.find)(&engine) {
            let must = std::env::var("HEADLAND_REQUIRE_FOREIGN").as_deref() == Ok("1");
            assert!(!must, "{}: {why}", engine.name);
            continue;
        }
        let (drift, gap) = linkage(&engine, Integrator::SemiImplicit);
        eprintln!("{}: {:.3} %, {gap:e} m", engine.name, 100.0 * drift);
        assert!(own.abs() < drift.abs(), "{}: {drift}, native {own}", engine.name);
    }
}

/// Four rods, pinned to a ring and thrown with a spin, without gravity; a push at one pin makes
/// it fold. Nothing outside acts on it: momentum, angular momentum and energy sway within a
/// turn by up to 0.6 %, as steps of first order do, and sway no further in the second half of
/// 10 s than in the first.
#[test]
fn a_ring_of_rods_thrown_with_a_spin_keeps_what_it_has() {
    let rod = |name: &str, pose: &str| {
        format!(
            r#"<link name="{name}"><pose>{pose}</pose><inertial><mass>0.5</mass><inertia>
            <ixx>0.001</ixx><iyy>0.015</iyy><izz>0.0145</izz></inertia></inertial></link>"#
        )
    };
    let pin = |name: &str, parent: &str, child: &str, at: &str| {
        format!(
            r#"<joint name="{name}" type="continuous"><parent>{parent}</parent>
            <child>{child}</child><pose>{at}</pose><axis><xyz>0 1 0</xyz></axis></joint>"#
        )
    };
    // A square of 0.6 m: rods along x at the bottom and the top, along z at the sides.
    let mut world = sdf_world(&format!(
        r#"<model name="ring">{}{}{}{}{}{}{}{}</model>"#,
        rod("bottom", "0 0 0 0 0 0"),
        rod("right", "0.3 0 0.3 0 -1.5707963267948966 0"),
        rod("top", "0 0 0.6 0 0 0"),
        rod("left", "-0.3 0 0.3 0 -1.5707963267948966 0"),
        pin("a", "bottom", "right", "-0.3 0 0 0 0 0"),
        pin("b", "right", "top", "0.3 0 0 0 0 0"),
        pin("c", "bottom", "left", "-0.3 0 0 0 0 0"),
        pin("d", "top", "left", "0.3 0 0 0 0 0"),
    ));
    world.gravity = Vec3::ZERO;
    let (linear, angular) = (Vec3::new(0.5, 0.2, -0.1), Vec3::new(1.5, 0.8, -1.0));
    for link in &mut world.models[0].links {
        let arm = link.model_from_link.translation;
        link.initial_twist = Twist { linear: linear + angular.cross(arm), angular };
    }
    let fold = By(|now: f64, model: &Model, _: &State| {
        let effort = if now < 0.2 - 1e-9 { 0.2 } else { 0.0 };
        vec![(model.dof("ring::a").expect("a pin"), Mode::Effort, effort)]
    });
    let (mut folded, mut gap) = (0.0_f64, 0.0_f64);
    let (mut first, mut worst) = (None, [[0.0_f64; 3]; 2]);
    Play::native(10.2).with(fold).watch(&world, |model, state| {
        let corner =
            |name: &str, x: f64| common::pose_of(model, state, name).point(Vec3::new(x, 0.0, 0.0));
        // The last pin, by both rods it holds.
        gap = gap.max(corner("ring::top", -0.3).distance(corner("ring::left", 0.3)));
        folded = folded.max(state.dofs[model.dof("ring::a").expect("a pin")].position.abs());
        let t = state.time.secs() - 0.2;
        if t < 1e-9 {
            return;
        }
        let now = whole(model, state);
        let (line, spin, start) = *first.get_or_insert((now.line, now.spin, energy(model, state)));
        let off = [
            (now.line - line).length() / line.length(),
            (now.spin - spin).length() / spin.length(),
            (energy(model, state) / start - 1.0).abs(),
        ];
        let worst = &mut worst[usize::from(t > 5.0)];
        *worst = std::array::from_fn(|k| worst[k].max(off[k]));
    });
    eprintln!("off by {worst:?}, folded by {folded} rad, open by {gap:e} m");
    assert!(folded > 0.5, "it folds: {folded} rad");
    for (early, late) in worst[0].into_iter().zip(worst[1]) {
        assert!(early < 6e-3 && late < 1.2 * early, "{worst:?}");
    }
    assert!(gap < 1e-5, "{gap} m");
}

/// The kinds of joints at which the loops of a world are cut and held by impulses.
fn cut_at(world: &World) -> Vec<&'static str> {
    let model = Model::compile(&std::sync::Arc::new(world.clone())).expect("compiles");
    let forest = Forest::of(&model);
    let cut = forest.trees.iter().flat_map(|tree| &tree.loops);
    cut.map(|joint| model.joints[*joint].kind.word()).collect()
}

fn link(name: &str, pose: &str, centre: &str, mass: f64, moments: [f64; 3]) -> String {
    let [x, y, z] = moments;
    format!(
        r#"<link name="{name}"><pose>{pose}</pose><inertial><pose>{centre} 0 0 0</pose>
        <mass>{mass}</mass><inertia><ixx>{x}</ixx><iyy>{y}</iyy><izz>{z}</izz></inertia></inertial>
        </link>"#
    )
}

/// A joint in the origin of its child; about or along `axis`, where it has one.
fn joint(name: &str, kind: &str, parent: &str, child: &str, axis: &str) -> String {
    let axis =
        if axis.is_empty() { String::new() } else { format!("<axis><xyz>{axis}</xyz></axis>") };
    format!(
        r#"<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>
        {axis}</joint>"#
    )
}

/// How much of its energy a mechanism that nothing outside moves has lost between the first half of
/// a run and the second, by the means, and the most it swayed by, as shares.
fn lost_and_swayed(energies: &[f64]) -> (f64, f64) {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (early, late) = energies.split_at(energies.len() / 2);
    let swayed =
        energies.iter().map(|energy| (energy / energies[0] - 1.0).abs()).fold(0.0, f64::max);
    ((mean(late) - mean(early)) / mean(early), swayed)
}

/// A crank of 0.1 m that turns at `speed`, a rod of 0.3 m and a slider on a rail along x, which closes
/// the loop; on the ground, or on a base that itself turns by `spin`.
fn slider_crank(speed: f64, spin: Option<Vec3>) -> World {
    let (arm, rod) = (0.1_f64, 0.3_f64);
    let (reach, pitch) = (sqrt(rod * rod - arm * arm), headland_base::maths::asin(arm / rod));
    let base = if spin.is_some() { "base" } else { "world" };
    let frame = link("base", "0 0 0 0 0 0", "0 0 0", 5.0, [0.3, 0.2, 0.4]);
    let mut world = sdf_world(&format!(
        r#"<model name="press">{}{}{}{}{}{}{}{}</model>"#,
        if spin.is_some() { frame } else { String::new() },
        link("crank", "0 0 0 0 0 0", "0 0 0.05", 1.0, [0.001, 0.001, 0.0005]),
        link("rod", &format!("0 0 {arm} 0 {pitch} 0"), "0.15 0 0", 0.5, [0.0002, 0.004, 0.004]),
        link("slider", &format!("{reach} 0 0 0 0 0"), "0 0 0", 0.8, [0.001, 0.001, 0.001]),
        joint("pivot", "continuous", base, "crank", "0 1 0"),
        joint("pin", "continuous", "crank", "rod", "0 1 0"),
        joint("wrist", "continuous", "rod", "slider", "0 1 0"),
        joint("rail", "prismatic", base, "slider", "1 0 0"),
    ));
    world.gravity = Vec3::ZERO;
    let spin = spin.unwrap_or(Vec3::ZERO);
    for link in &mut world.models[0].links {
        // With the crank upright the rod and the slider go along x, as fast as its pin.
        let linear = match link.name.as_str() {
            "rod" | "slider" => Vec3::X * (speed * arm),
            _ => Vec3::ZERO,
        };
        let own = if link.name == "crank" { Vec3::Y * speed } else { Vec3::ZERO };
        let at = link.model_from_link.translation;
        link.initial_twist = Twist { linear: linear + spin.cross(at), angular: own + spin };
    }
    world
}

/// A slider-crank closed by its slider: that stays on its rail, unturned, to a micrometre, and where
/// it is follows from the crank's angle, `x = r·sin θ + √(l² − r²·cos² θ)`. Its rail may be anywhere,
/// turning with what carries it.
#[test]
fn a_slider_crank_is_closed_by_its_slider() {
    for spin in [None, Some(Vec3::new(0.3, -0.5, 0.8))] {
        let world = slider_crank(5.0, spin);
        assert_eq!(cut_at(&world), ["prismatic"]);
        let (mut off, mut turned, mut apart) = (0.0_f64, 0.0_f64, 0.0_f64);
        let (mut energies, mut angle) = (Vec::new(), 0.0);
        Play::native(10.0).watch(&world, |model, state| {
            let base = match spin {
                Some(_) => common::pose_of(model, state, "press::base"),
                None => Transform::IDENTITY,
            };
            let slider = base.inverse() * common::pose_of(model, state, "press::slider");
            angle = state.dofs[model.dof("press::pivot").expect("a crank")].position;
            let (arm, rod) = (0.1, 0.3);
            let height = arm * cos(angle);
            let wanted = arm * sin(angle) + sqrt(rod * rod - height * height);
            let Vec3 { x, y, z } = slider.translation;
            off = off.max(hypot(y, z));
            apart = apart.max((x - wanted).abs());
            turned = turned.max(angle_between(slider.rotation, Quat::IDENTITY));
            energies.push(energy(model, state));
        });
        let (lost, swayed) = lost_and_swayed(&energies);
        eprintln!(
            "spin {spin:?}: {off:e} m off its rail, turned {turned:e} rad, {apart:e} m from where the \
             crank has it, {angle} rad; energy {lost:e}, sways {swayed:e}"
        );
        assert!(angle > 30.0, "it turns: {angle} rad");
        assert!(off < 1e-6 && apart < 1e-6 && turned < 1e-6, "{off} m, {apart} m, {turned} rad");
        assert!(lost.abs() < 1e-3 && swayed < 1e-2, "{lost}, {swayed}");
    }
}

/// Two rods that stand on the ground and are joined at their other ends, all by balls: a bipod, which
/// swings about the line through its feet as a pendulum does. One foot closes the loop.
#[test]
fn a_bipod_of_ball_ended_rods_swings_as_a_pendulum() {
    // Feet at x = ±0.3 m, 2 m up; the apex hangs 0.4 m below them, turned out by a radian.
    let (half, height, tilt) = (0.3_f64, 0.4_f64, 1.0_f64);
    let length = sqrt(half * half + height * height);
    let (mass, moment) = (0.6, 0.6 * length * length / 12.0);
    let apex = Vec3::new(0.0, height * sin(tilt), -height * cos(tilt));
    // Each rod is drawn along its own z, from its foot to the apex.
    let rod = |name: &str, from: f64, at: Vec3| {
        let along = (apex - Vec3::X * from) / length;
        let turn = Quat::from_rotation_arc(Vec3::Z, along);
        let pose = format!(
            r#"<pose rotation_format="quat_xyzw">{} {} {} {} {} {} {}</pose>"#,
            at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w
        );
        let to_middle = if at == apex { -0.5 * length } else { 0.5 * length };
        let text = link(name, "", &format!("0 0 {to_middle}"), mass, [moment, moment, 1e-6]);
        text.replace("<pose></pose>", &pose)
    };
    let right_foot = format!(
        r#"<joint name="right_foot" type="ball"><parent>world</parent><child>right</child>
        <pose>0 0 {} 0 0 0</pose></joint>"#,
        -length
    );
    let world = sdf_world(&format!(
        r#"<model name="bipod"><pose>0 0 2 0 0 0</pose>{}{}{}{}{right_foot}</model>"#,
        rod("left", -half, Vec3::X * -half),
        rod("right", half, apex),
        joint("left_foot", "ball", "world", "left", ""),
        joint("apex", "ball", "left", "right", ""),
    ));
    assert_eq!(cut_at(&world), ["ball"]);
    let (mut gap, mut off, mut energies, mut turned) = (0.0_f64, 0.0_f64, Vec::new(), 0.0_f64);
    let (mut lowest, mut worst) = (f64::INFINITY, 0.0_f64);
    Play::native(10.0).watch(&world, |model, state| {
        let right = common::pose_of(model, state, "bipod::right");
        let foot = right.point(Vec3::Z * -length);
        gap = gap.max(foot.distance(Vec3::new(half, 0.0, 2.0)));
        let at = right.translation - Vec3::Z * 2.0;
        // On the circle about the line through the feet.
        off = off.max(hypot(at.x, hypot(at.y, at.z) - height));
        (lowest, turned) = (lowest.min(at.z), turned.max(at.y.abs()));
        // ½·I·φ̇² = m·g·d·(cos φ − cos φ₀): of two rods about the line their ends stand on.
        let speed = twist_of(model, state, "bipod::right").linear.length() / height;
        let kinetic = 2.0 * 0.5 * (mass * height * height / 3.0) * speed * speed;
        let fallen = 2.0 * mass * common::GRAVITY * 0.5 * (-height * cos(tilt) - at.z);
        let most = mass * common::GRAVITY * height * (1.0 - cos(tilt));
        worst = worst.max((kinetic - fallen).abs() / most);
        // From its lowest place on.
        energies.push(energy(model, state) - mass * common::GRAVITY * (4.0 - height));
    });
    let (lost, swayed) = lost_and_swayed(&energies);
    eprintln!(
        "open by {gap:e} m, {off:e} m off its circle, {worst:e} of its energy from the pendulum's; \
         energy {lost:e}, sways {swayed:e}"
    );
    assert!(lowest < -0.999 * height && turned > 0.8 * height, "it swings: {lowest} m, {turned} m");
    assert!(gap < 1e-6 && off < 1e-6, "{gap} m, {off} m");
    assert!(worst < 1e-2 && lost.abs() < 1e-3, "{worst}, {lost}");
}

/// Two shafts that meet at an angle in one frame, joined by a Cardan ring that closes the loop: the
/// second turns as `tan φ = tan θ·cos β` says, and what it gains in a turn the first loses.
#[test]
fn a_cardan_ring_closes_its_loop() {
    let (bend, speed) = (0.6_f64, 6.0);
    let along = Vec3::new(cos(bend), 0.0, sin(bend));
    let words = |v: Vec3| format!("{} {} {}", v.x, v.y, v.z);
    let across = Vec3::new(-sin(bend), 0.0, cos(bend));
    let ring = format!(
        r#"<joint name="ring" type="universal"><parent>first</parent><child>second</child>
        <axis><xyz>0 1 0</xyz></axis><axis2><xyz>{}</xyz></axis2></joint>"#,
        words(across)
    );
    // The first link no joint carries is where the tree begins, and the ring is met last.
    let mut world = sdf_world(&format!(
        r#"<model name="cardan">{}{}{}{}{}{ring}</model>"#,
        link("first", "0 0 0 0 0 0", "-0.1 0 0", 0.5, [0.01, 0.012, 0.012]),
        link("frame", "0 0 0 0 0 0", "0 0 0", 5.0, [0.1, 0.1, 0.1]),
        link("second", "0 0 0 0 0 0", &words(along * 0.1), 0.5, [0.011, 0.011, 0.011]),
        joint("bearing", "continuous", "first", "frame", "1 0 0"),
        joint("other_bearing", "continuous", "frame", "second", &words(along)),
    ));
    world.gravity = Vec3::ZERO;
    for link in &mut world.models[0].links {
        link.initial_twist.angular = match link.name.as_str() {
            "first" => Vec3::X * speed,
            "second" => along * (speed * cos(bend)),
            _ => Vec3::ZERO,
        };
    }
    assert_eq!(cut_at(&world), ["universal"]);
    let (mut off, mut open, mut energies, mut angle) = (0.0_f64, 0.0_f64, Vec::new(), 0.0);
    Play::native(10.0).watch(&world, |model, state| {
        let dof = |name: &str| state.dofs[model.dof(name).expect("a joint")].position;
        // Of the shafts seen from their frame.
        let (theta, phi) = (-dof("cardan::bearing"), dof("cardan::other_bearing"));
        angle = theta;
        off = off.max((cos(phi) * sin(theta) * cos(bend) - sin(phi) * cos(theta)).abs());
        let at = |name: &str| place_of(model, state, name);
        open = open.max(at("cardan::first").distance(at("cardan::second")));
        energies.push(energy(model, state));
    });
    let (lost, swayed) = lost_and_swayed(&energies);
    eprintln!(
        "off by {off:e} rad, open by {open:e} m, {angle} rad; energy {lost:e}, sways {swayed:e}"
    );
    assert!(angle > 30.0, "it turns: {angle} rad");
    assert!(off < 1e-6 && open < 1e-6, "{off} rad, {open} m");
    assert!(lost.abs() < 1e-3 && swayed < 1e-2, "{lost}, {swayed}");
}

/// Rods of 1 kg/m that lie in one line, from a pivot over two pins to another pivot, with as much
/// speed across as is said of the pins \[m/s\].
fn rods_in_a_line(ends: [f64; 4], speeds: [f64; 2]) -> World {
    let speeds = [0.0, speeds[0], speeds[1], 0.0];
    let rod = |i: usize| {
        let (from, to) = (ends[i], ends[i + 1]);
        let (length, middle) = ((to - from).abs(), 0.5 * (from + to));
        let (inertia, across) =
            (length * length * length / 12.0, 0.5 * (speeds[i] + speeds[i + 1]));
        // Up along z for what turns about y: v_z = −ω·x.
        let spin = -(speeds[i + 1] - speeds[i]) / (to - from);
        format!(
            r#"<link name="rod{i}"><pose>{middle} 0 0 0 0 0</pose>
            <headland:twist>0 0 {across} 0 {spin} 0</headland:twist><inertial><mass>{length}</mass>
            <inertia><ixx>0.0001</ixx><iyy>{inertia}</iyy><izz>{inertia}</izz></inertia></inertial>
            </link>"#
        )
    };
    let pin = |i: usize, parent: &str, child: &str| {
        format!(
            r#"<joint name="pin{i}" type="continuous"><parent>{parent}</parent>
            <child>{child}</child><pose relative_to="__model__">{} 0 0 0 0 0</pose>
            <axis><xyz>0 1 0</xyz></axis></joint>"#,
            ends[i]
        )
    };
    let parts = [
        rod(0),
        rod(1),
        rod(2),
        pin(0, "world", "rod0"),
        pin(1, "rod0", "rod1"),
        pin(2, "rod1", "rod2"),
        pin(3, "world", "rod2"),
    ];
    sdf_world(&format!(r#"<model name="bar">{}</model>"#, parts.concat()))
}

/// What acts on rods in a line.
struct Act {
    gravity: f64,
    /// About the first pivot, for a tenth of a second \[N·m\].
    effort: f64,
    speeds: [f64; 2],
    step_millis: i64,
}

/// The most energy there ever was beyond what was put in, as a share of what there is to move; and
/// how far the line was ever opened at a pin \[m\], and turned \[rad\].
fn gain(ends: [f64; 4], tilt: f64, act: &Act) -> (f64, f64, f64) {
    let mut world = rods_in_a_line(ends, act.speeds);
    let turn = quat_from_axis_angle(Vec3::Y, tilt);
    world.models[0].parent_from_model = Transform::new(turn, Vec3::Z * 2.0);
    for link in &mut world.models[0].links {
        link.initial_twist.linear = turn * link.initial_twist.linear;
    }
    world.gravity = Vec3::Z * -act.gravity;
    world.physics.step = SimDuration::from_nanos(1_000_000 * act.step_millis);
    let effort = act.effort;
    let push = By(move |now: f64, model: &Model, _: &State| {
        let effort = if now < 0.1 - 1e-9 { effort } else { 0.0 };
        vec![(model.dof("bar::pin0").expect("a pivot"), Mode::Effort, effort)]
    });
    let (mut start, mut work, mut turned) = (None, 0.0, 0.0);
    let (mut most, mut gap, mut furthest) = (0.0_f64, 0.0_f64, 0.0_f64);
    let ran = Play::native(3.0).with(push).watch(&world, |model, state| {
        let now = energy(model, state);
        let start = *start.get_or_insert(now);
        let angle = state.dofs[model.dof("bar::pin0").expect("a pivot")].position;
        if state.time.secs() < 0.1 + 1e-9 {
            work += effort * (angle - turned);
        }
        turned = angle;
        most = most.max(now - start - work);
        let end = |rod: usize, side: f64| {
            let half = 0.5 * (ends[rod + 1] - ends[rod]);
            let pose = common::pose_of(model, state, &format!("bar::rod{rod}"));
            pose.point(Vec3::X * (side * half))
        };
        let pivot = turn * (Vec3::X * ends[3]) + Vec3::Z * 2.0;
        gap = gap.max(end(2, 1.0).distance(pivot));
        gap = gap.max(end(0, 1.0).distance(end(1, -1.0))).max(end(1, 1.0).distance(end(2, -1.0)));
        furthest = furthest.max(angle.abs());
    });
    let end = &ran.end;
    assert!(end.contained.is_empty() && end.remarks.is_empty(), "{ends:?}: {:?}", end.remarks);
    let thrown = act.speeds[0] * act.speeds[0] * ends[1] / 6.0;
    (most / (act.gravity * ends[1] + thrown + effort), gap, furthest)
}

/// Rods that start in one line make no energy, whether they can leave it (a parallelogram, folded
/// flat), only turn with it (two as long as the third), or not move at all: there the rows of the
/// loop depend on each other, and speeds are asked for that no motion has.
#[test]
fn a_linkage_in_one_line_makes_no_energy() {
    let lines = [
        [0.0, 0.3, 0.6, 0.9],
        [0.0, 0.25, 0.65, 1.15],
        [0.0, 0.3, 0.6, 0.0],
        [0.0, 0.3, 0.9, 0.6],
        [0.0, 0.3, 0.8, 0.4],
    ];
    let act = |gravity: f64, effort: f64, speed: f64, step_millis: i64| Act {
        gravity,
        effort,
        speeds: [speed, 0.5 * speed],
        step_millis,
    };
    let falls = (common::GRAVITY, 0.0, 0.0);
    let is_pushed = (0.0, 0.5, 0.0);
    let both = (common::GRAVITY, 0.5, 0.0);
    let thrown = [(0.0, 0.0, 1.0), (common::GRAVITY, 0.0, 1.0), (0.0, 0.0, 5.0)];
    let cases = [falls, is_pushed, both, thrown[0], thrown[1], thrown[2]];
    let with_steps =
        cases.map(|case| (case, 1)).into_iter().chain(cases[..5].iter().map(|case| (*case, 4)));
    let mut n_turned = 0;
    for (((gravity, effort, speed), step_millis), tilt) in
        with_steps.flat_map(|case| [0.0, 0.7].map(|tilt| (case, tilt)))
    {
        for ends in lines {
            let act = act(gravity, effort, speed, step_millis);
            let (gain, gap, turned) = gain(ends, tilt, &act);
            let what =
                format!("{ends:?} m, {gravity} m/s², {effort} N·m, {speed} m/s, {step_millis} ms");
            // A step of first order sways by as much as it is long.
            assert!(gain < 5e-3 * step_millis as f64, "{what}: {gain}");
            assert!(gap < 2e-4, "{what}: {gap} m");
            n_turned += usize::from(turned > 0.5);
        }
    }
    assert!(n_turned > 20, "those that can leave the line do: {n_turned}");
}

/// What a loop is asked for does not depend on lighter ones beside it: two linkages swing on one
/// base, and the heavy one stays as closed as it is without the other.
#[test]
fn a_heavy_loop_is_held_beside_a_light_one() {
    // Cranks of 0.3 and 0.45 m, 0.5 m apart, stand upright and carry a coupler at 1.5 m/s.
    let linkage = |name: &str, mass: f64, y: f64| {
        let rod = |rod: &str, x: f64, z: f64, speed: f64, spin: f64| {
            format!(
                r#"<link name="{name}_{rod}"><pose>{x} {y} {z} 0 0 0</pose><headland:twist>{speed}
                0 0 0 {spin} 0</headland:twist><inertial><mass>{mass}</mass><inertia>
                <ixx>{i}</ixx><iyy>{i}</iyy><izz>{i}</izz></inertia></inertial></link>"#,
                i = 0.02 * mass
            )
        };
        let pin = |parent: &str, child: &str, x: f64, z: f64| {
            format!(
                r#"<joint name="{name}_{parent}_{child}" type="continuous"><parent>{parent}</parent>
                <child>{name}_{child}</child><pose>{x} 0 {z} 0 0 0</pose>
                <axis><xyz>0 1 0</xyz></axis></joint>"#
            )
        };
        [
            rod("left", -0.25, 0.15, 0.75, 5.0),
            rod("right", 0.25, 0.225, 0.75, 1.5 / 0.45),
            rod("coupler", 0.0, 0.375, 1.5, 0.0),
            pin("base", "left", 0.0, -0.15),
            pin("base", "right", 0.0, -0.225),
            pin(&format!("{name}_left"), "coupler", -0.25, -0.075),
            pin(&format!("{name}_right"), "coupler", 0.25, 0.075),
        ]
        .concat()
    };
    let gap_with = |light: &str| {
        let heavy = linkage("heavy", 1.0, 0.2);
        let mut world = sdf_world(&format!(
            r#"<model name="m"><link name="base"><inertial><mass>100</mass><inertia><ixx>10</ixx>
            <iyy>10</iyy><izz>10</izz></inertia></inertial></link>{heavy}{light}</model>"#
        ));
        world.gravity = Vec3::ZERO;
        let mut gap = 0.0_f64;
        let ran = Play::native(2.0).watch(&world, |model, state| {
            // The loop is cut at the last of its joints at the base.
            let at = |link: &str, x: f64, y: f64, z: f64| {
                common::pose_of(model, state, link).point(Vec3::new(x, y, z))
            };
            let pivot = at("m::base", 0.25, 0.2, 0.0);
            gap = gap.max(at("m::heavy_right", 0.0, 0.0, -0.225).distance(pivot));
        });
        let crank = ran.model.dof("m::heavy_base_left").expect("a crank");
        assert!(ran.end.state.dofs[crank].position.abs() > 1.0, "it turns");
        gap
    };
    let (alone, beside) = (gap_with(""), gap_with(&linkage("light", 1e-5, -0.2)));
    eprintln!("open by {alone:e} m alone, {beside:e} m beside a light one");
    assert!(alone < 1e-4 && beside < 1.1 * alone, "{alone} m, {beside} m");
}

/// A screw is hung in the tree and not cut: where it is named last it is refused, and what helps is
/// said; named first, it moves.
#[test]
fn a_screw_does_not_close_a_loop() {
    let rod = |name: &str, pose: &str| {
        format!(
            r#"<link name="{name}"><pose>{pose}</pose><inertial><mass>0.5</mass><inertia>
            <ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>"#
        )
    };
    let rods = rod("a", "0 0 1 0 0 0") + &rod("b", "0.3 0 1 0 0 0") + &rod("c", "0.3 0 1.3 0 0 0");
    let pin = |parent: &str, child: &str| {
        format!(
            r#"<joint name="{parent}{child}" type="continuous"><parent>{parent}</parent>
            <child>{child}</child><axis><xyz>0 1 0</xyz></axis></joint>"#
        )
    };
    let pins = pin("a", "b") + &pin("b", "c");
    let screw = r#"<joint name="screw" type="screw"><parent>a</parent><child>c</child>
        <screw_thread_pitch>0.01</screw_thread_pitch><axis><xyz>0 0 1</xyz></axis></joint>"#;
    let told = |joints: &str| -> Vec<String> {
        let world = sdf_world(&format!(r#"<model name="m">{rods}{joints}</model>"#));
        let model = Model::compile(&std::sync::Arc::new(world)).expect("compiles");
        let options = EngineOptions::new(SimDuration::from_nanos(1_000_000));
        let found = native::Native::default().check(&model, &options).into_iter();
        let loops = found.filter(|one| one.code == "kinematic-loop");
        loops.map(|one| one.help.unwrap_or_default()).collect()
    };
    let help = told(&format!("{pins}{screw}"));
    assert!(help.len() == 1 && help[0].contains("before the other joints"), "{help:?}");
    assert_eq!(told(&format!("{screw}{pins}")), [] as [String; 0]);
}
