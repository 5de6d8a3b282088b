//! Same bytes: a robot does not notice how many others are computed beside it.

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use common::{GROUND, by, sdf_world};
use headland_base::{Diagnostic, SimDuration};
use headland_engines::native;
use headland_sim::{Cast, Model, Observer, Setup, State, run};
use headland_world::{ContactLaw, Integrator, World};

/// Players one through the other, each leaning another way, so that each falls another way; they
/// touch the ground and not each other.
fn crowd(robots: &[usize]) -> World {
    let include = |i: &usize| {
        let (roll, pitch) = (0.03 * (*i as f64 - 4.0), 0.4 - 0.05 * *i as f64);
        format!(
            r#"<include><uri>robots/player</uri><name>robot_{i}</name>
            <pose>0 0 0.05 {roll} {pitch} 0</pose></include>"#
        )
    };
    let robots: String = robots.iter().map(include).collect();
    let mut world = sdf_world(&format!("{GROUND}{robots}"));
    let mut links = Vec::new();
    for model in world.models.iter().filter(|model| !model.is_static) {
        links.extend(model.links.iter().map(|link| format!("{}::{}", model.name, link.name)));
    }
    world.contact_sets = vec![links];
    world
}

/// The bits of every robot's state, step by step: what identifies a robot is its name.
fn bits(world: World, n_threads: usize) -> Vec<(String, Vec<u64>)> {
    struct Keep(Vec<(String, Vec<u64>)>, usize);
    impl Observer for Keep {
        fn sample(&mut self, model: &Model, state: &State) -> Result<(), Diagnostic> {
            for (rigid, now) in model.rigids.iter().zip(&state.rigids) {
                let body = &model.bodies[rigid.body_idxs[0]].name;
                let Some((robot, _)) = body.split_once("::") else { continue };
                if !robot.starts_with("robot_") {
                    continue;
                }
                if !self.0.iter().any(|(name, _)| name == robot) {
                    self.0.push((robot.to_string(), Vec::new()));
                }
                assert!(!now.is_contained, "{body} is lost");
                let of = self.0.iter_mut().find(|(name, _)| name == robot).expect("pushed");
                let (at, turn) = (now.world_from_rigid.translation, now.world_from_rigid.rotation);
                let twist = now.twist;
                of.1.extend(at.to_array().map(f64::to_bits));
                of.1.extend(turn.to_array().map(f64::to_bits));
                of.1.extend(twist.linear.to_array().map(f64::to_bits));
                of.1.extend(twist.angular.to_array().map(f64::to_bits));
            }
            self.1 = self.1.max(state.contacts.len());
            Ok(())
        }
    }
    let model = Model::compile(&Arc::new(world)).expect("compiles");
    let mut setup = Setup::new(&model, SimDuration::from_secs(0.3).expect("short"));
    setup.record_period = SimDuration::from_nanos(20_000_000);
    setup.n_threads = n_threads;
    let mut engine = (native::ENTRY.make)(&native::ENTRY);
    let mut keep = Keep(Vec::new(), 0);
    let go = &mut |_| ControlFlow::Continue(());
    run(&model, &setup, engine.as_mut(), &mut Cast::default(), &mut keep, go).expect("runs");
    assert!(keep.1 > 0, "they fall on the ground");
    keep.0
}

/// Alone, in a lane of 8, in two lanes of 8, and as the one left over: the same bits, by every
/// law, looked at once in a step and in stages, on one thread and on two.
#[test]
fn a_robot_alone_is_to_the_bit_the_robot_in_a_crowd() {
    for (integrator, law) in [
        (Integrator::SemiImplicit, ContactLaw::Hard),
        (Integrator::SemiImplicit, ContactLaw::Soft),
        (Integrator::SemiImplicit, ContactLaw::SoftCoulomb),
        (Integrator::Rk4, ContactLaw::SoftCoulomb),
        (Integrator::Rk4, ContactLaw::Hard),
    ] {
        let of = |robots: &[usize], n_threads| bits(by(crowd(robots), integrator, law), n_threads);
        let alone: Vec<_> = (0..17).flat_map(|i| of(&[i], 1)).collect();
        assert!(alone.windows(2).all(|two| two[0].1 != two[1].1), "each falls its own way");
        for (n, n_threads) in [(8, 1), (16, 1), (17, 1), (17, 2)] {
            let robots: Vec<usize> = (0..n).collect();
            let crowd = of(&robots, n_threads);
            assert_eq!(crowd.len(), n);
            for (in_crowd, alone) in crowd.iter().zip(&alone) {
                assert_eq!(in_crowd.0, alone.0);
                let differs = in_crowd.1.iter().zip(&alone.1).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{} of {n}, {law:?}, {integrator:?}", alone.0);
            }
        }
    }
}
