//! The soft law by its consequences: restitution, contact time, depth, creep, slide and spin,
//! each in closed form.

use headland_base::Vec3;
use headland_base::maths::{PI, cos, exp, sin, sqrt, tan};
use headland_sim::contact::soft::{
    LawTable, PointMotion, SurfaceLaw, SurfaceLaws, soft, soft_coulomb,
};

const GRAVITY: f64 = 9.81;

fn law(separation: f64) -> SurfaceLaw {
    SurfaceLaw { stiffness: 3e4, separation, sliding: 20.0, spinning: 0.05, mu: 0.3 }
}

fn at(depth: f64, velocity: Vec3) -> PointMotion {
    PointMotion { depth, normal: Vec3::Z, velocity, angular_velocity: Vec3::ZERO }
}

/// A point mass dropped on the plane z = 0 at `speed`: restitution, contact time, depth.
fn bounce(law: &SurfaceLaw, mass: f64, speed: f64, step: f64) -> (f64, f64, f64) {
    let (mut z, mut v) = (0.0, -speed);
    let (mut n_steps, mut deepest) = (0, 0.0_f64);
    loop {
        let force = soft(law, &at(-z, Vec3::Z * v)).force.z;
        v += force / mass * step;
        z += v * step;
        n_steps += 1;
        deepest = deepest.max(-z);
        if z >= 0.0 {
            return (v / speed, f64::from(n_steps) * step, deepest);
        }
    }
}

#[test]
fn restitution_is_the_root_of_the_separation_factor() {
    for (separation, wanted) in [(0.81, 0.9), (0.25, 0.5), (0.04, 0.2)] {
        for (mass, speed) in [(1.0, 1.0), (0.3, 4.0)] {
            let law = law(separation);
            let (restitution, time, depth) = bounce(&law, mass, speed, 1e-7);
            assert!((restitution - wanted).abs() < 1e-4, "{restitution} for {separation}");
            assert!((law.restitution() - wanted).abs() < 1e-15);
            // Half a swing in, half a slower one out.
            let swing = sqrt(mass / law.stiffness);
            let wanted = PI / 2.0 * swing * (1.0 + 1.0 / sqrt(separation));
            assert!((time / wanted - 1.0).abs() < 1e-4, "{time} s, wanted {wanted}");
            assert!((depth / (speed * swing) - 1.0).abs() < 1e-4, "{depth} m deep");
        }
    }
}

/// The table of the page: what coarse steps make of a restitution of 0.5 at k/m = 3e4. Where
/// in a step it hits decides, so drops are spread over a step.
#[test]
fn coarse_steps_bounce_too_high() {
    let law = law(0.25);
    let n = 200;
    let drops = |step: f64| {
        let drop = |i: i32| {
            let (mut z, mut v) = (-(f64::from(i) + 0.5) / f64::from(n) * step, -1.0);
            loop {
                v += soft(&law, &at(-z, Vec3::Z * v)).force.z * step;
                z += v * step;
                if z >= 0.0 {
                    return v;
                }
            }
        };
        let all: Vec<f64> = (0..n).map(drop).collect();
        let mean = all.iter().sum::<f64>() / f64::from(n);
        (mean, all.iter().copied().fold(0.0, f64::max))
    };
    for (step, wanted) in
        [(1e-4, (0.5, 0.5)), (1e-3, (0.506, 0.520)), (2e-3, (0.525, 0.583)), (5e-3, (0.641, 0.849))]
    {
        let (mean, most) = drops(step);
        println!("step {step} s: restitution {mean:.3}, at most {most:.3}");
        assert!((mean - wanted.0).abs() < 1e-3 && (most - wanted.1).abs() < 1e-3);
    }
    assert!((law.step_max(1.0, GRAVITY) - 0.17 / sqrt(3e4)).abs() < 1e-12);
}

/// Viscous friction has no static part: a mass on a slope creeps at tan(a)/s_μ.
#[test]
fn what_stands_on_a_slope_creeps() {
    let (law, mass, slope) = (law(1.0), 2.0, 10.0_f64.to_radians());
    let (across, along) = (mass * GRAVITY * cos(slope), mass * GRAVITY * sin(slope));
    let (depth, mut v, step) = (across / law.stiffness, 0.0, 1e-5);
    for _ in 0..200_000 {
        let force = soft(&law, &at(depth, Vec3::X * v)).force;
        assert!((force.z - across).abs() < 1e-9);
        v += (along + force.x) / mass * step;
    }
    assert!((v / (tan(slope) / law.sliding) - 1.0).abs() < 1e-9, "{v} m/s");
    assert!((v - 8.8e-3).abs() < 2e-5, "the page says 8.8 mm/s");
    // With Coulomb's limit below the slope it runs away at g(sin − μ cos).
    let slippery = SurfaceLaw { mu: 0.1, ..law };
    let (mut v, n) = (1.0, 10_000);
    for _ in 0..n {
        v += (along + soft_coulomb(&slippery, &at(depth, Vec3::X * v)).force.x) / mass * step;
    }
    let wanted = GRAVITY * (sin(slope) - 0.1 * cos(slope));
    assert!(((v - 1.0) / (f64::from(n) * step) / wanted - 1.0).abs() < 1e-9);
}

#[test]
fn a_slide_ends_after_v_over_s_mu_g() {
    let (law, mass, step) = (law(1.0), 1.5, 1e-6);
    let depth = mass * GRAVITY / law.stiffness;
    let (mut x, mut v) = (0.0, 0.7);
    while v > 1e-9 {
        v += soft(&law, &at(depth, Vec3::Y * v)).force.y / mass * step;
        x += v * step;
    }
    assert!((x / (0.7 / (law.sliding * GRAVITY)) - 1.0).abs() < 1e-3, "{x} m");
}

#[test]
fn spin_fades_within_i_over_s_nu_m_g() {
    let (law, mass, inertia, step) = (law(1.0), 1.5, 4e-3, 1e-6);
    let depth = mass * GRAVITY / law.stiffness;
    let fade = inertia / (law.spinning * mass * GRAVITY);
    let n = (2.0 * fade / step) as usize;
    let mut spin = 6.0;
    for _ in 0..n {
        let motion = PointMotion { angular_velocity: Vec3::Z * spin, ..at(depth, Vec3::ZERO) };
        spin += soft(&law, &motion).torque.z / inertia * step;
    }
    let wanted = 6.0 * exp(-(n as f64) * step / fade);
    assert!((spin / wanted - 1.0).abs() < 1e-3, "{spin} rad/s, wanted {wanted}");
}

#[test]
fn coulomb_holds_force_and_torque_within_the_cone() {
    let law = law(0.5);
    let spin = Vec3::new(30.0, -4.0, 7.0);
    for speed in [1e-3, 0.01, 0.1, 3.0] {
        let velocity = Vec3::new(0.6, -0.8, -0.1) * speed;
        let motion = PointMotion { angular_velocity: spin * speed, ..at(1e-3, velocity) };
        let (free, held) = (soft(&law, &motion), soft_coulomb(&law, &motion));
        assert_eq!(free.force.z, held.force.z);
        let (wanted, limit) = (free.force.truncate(), law.mu * free.force.z);
        assert!(held.force.truncate().length() <= limit * (1.0 + 1e-15));
        assert!(held.force.truncate().perp_dot(wanted).abs() < 1e-9 * limit * limit);
        if wanted.length() < limit {
            assert_eq!(free.force, held.force);
        }
        let ring = sqrt(law.spinning / law.sliding);
        assert!(held.torque.length() <= limit * ring * (1.0 + 1e-15));
    }
    assert_eq!(soft(&law, &at(0.0, -Vec3::Z)).force, Vec3::ZERO);
    assert_eq!(soft_coulomb(&law, &at(-1.0, -Vec3::Z)).force, Vec3::ZERO);
}

#[test]
fn laws_go_by_the_two_kinds_whichever_comes_first() {
    use headland_world::{Collision, Geometry, Link, Model as Robot, Surface, World};
    let rubber = SurfaceLaw { mu: 2.0, ..law(0.1) };
    let laws = SurfaceLaws::new(law(0.3)).with("turf", "rubber", rubber);
    assert_eq!(laws.law(Some("rubber"), Some("turf")), &rubber);
    assert_eq!(laws.law(Some("turf"), Some("rubber")), &rubber);
    assert_eq!(laws.law(Some("turf"), Some("turf")), &law(0.3));
    assert_eq!(laws.law(None, Some("turf")), &law(0.3));
    let link = |name: &str, kind: Option<&str>| Link {
        name: name.into(),
        collisions: vec![Collision {
            name: "c".into(),
            link_from_shape: headland_base::Transform::IDENTITY,
            geometry: Geometry::Sphere { radius: 0.1 },
            surface: Surface { surface_type: kind.map(Into::into), ..Surface::default() },
        }],
        ..Link::default()
    };
    let links = vec![link("a", Some("rubber")), link("b", None), link("c", Some("turf"))];
    let robot = Robot { name: "r".into(), links, ..Robot::default() };
    let world = std::sync::Arc::new(World { models: vec![robot], ..World::default() });
    let model = headland_sim::Model::compile(&world).expect("a model");
    let table = LawTable::of(&model, &laws);
    assert_eq!(table.law((0, 0), (2, 0)), &rubber);
    assert_eq!(table.law((2, 0), (0, 0)), &rubber);
    assert_eq!(table.law((0, 0), (1, 0)), &law(0.3));
}
