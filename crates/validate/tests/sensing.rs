//! Sensors in replays: every kind that says numbers can be asked, without its noise.

mod common;

use std::sync::Arc;

use common::*;
use headland_base::SimTime;
use headland_judge::compare::Sampling;
use headland_sim::State;
use headland_validate::sensing::Sensors;
use headland_validate::{Replay, ReplayOptions, known_signals};

/// What the pod's instruments read in free flight has a closed form, and noise would hide it.
#[test]
fn a_flying_pod_reads_without_noise() {
    let times = jittered(SimTime::ZERO, 60);
    let zeros = |key: &str| signal(key, &times, |_| 0.0);
    let repeated = experiment(vec![
        zeros("imu/imu/ax"),
        zeros("pod/imu/linear_acceleration/y"),
        zeros("pod::hull::imu/imu/az"),
        zeros("pod/imu/imu/gx"),
        signal("altimeter/vertical_velocity", &times, |t| 3.0 - 9.81 * t),
        signal("gps/gps/alt", &times, |t| 152.0 + 3.0 * t - 4.905 * t * t),
        signal("pod/linear_acc/z", &times, |_| -9.81),
        signal("pod/pose/z", &times, |t| 2.0 + 3.0 * t - 4.905 * t * t),
    ]);
    for sampling in [Sampling::Exact, Sampling::Interpolate] {
        let options = ReplayOptions { sampling: Some(sampling), ..ReplayOptions::new(ms(1.0)) };
        let model = exactly(shipped("sensors.sdf"));
        let mut replay =
            Replay::new(model, engine("native"), Arc::new(repeated.clone()), options).unwrap();
        let simulated = replay.run().unwrap();
        for (signal, values) in repeated.signals.iter().zip(&simulated.values) {
            let far = furthest(values, &signal.series.values);
            let most = match signal.key.as_str() {
                // It turns: how fast has no place here, only that it does and is no noise.
                "pod/imu/imu/gx" => {
                    assert!(values.iter().all(|value| value.abs() > 0.5), "{values:?}");
                    continue;
                }
                // Accelerations are means over a step, seen from its end.
                key if key.contains("imu/") => 1e-6,
                // The Earth is round, and 32 km up nothing else.
                "gps/gps/alt" => 1e-5,
                // Between two steps of a mean over a step.
                _ => 2e-6,
            };
            assert!(far < most, "{sampling:?} {}: {far}", signal.key);
        }
    }
}

/// Every sensor of the worlds that show them all can be asked; pictures say that they cannot.
#[test]
fn every_kind_of_sensor_is_known() {
    let mut kinds: Vec<&str> = Vec::new();
    for world in ["sensors.sdf", "beams.sdf", "cameras.sdf"] {
        let model = model_of(shipped(world));
        let start = State::initial(&model);
        let (declared, _) =
            headland_sense::declare::declare(&model, &headland_world::Places::default());
        let sensors = Sensors::of(&model, &start);
        let keys = sensors.keys();
        for declaration in &declared {
            kinds.push(declaration.kind);
            let signal = signal(&format!("{}/data", declaration.name), &[SimTime::ZERO], |_| 0.0);
            let (_, unread) = known_signals(&model, experiment(vec![signal]));
            if declaration.makes_pictures {
                assert_eq!(unread[0].code, "not-comparable", "{}", declaration.name);
                continue;
            }
            let says = declaration.outputs().iter().any(|output| {
                keys.iter().any(|key| key.starts_with(output.topic.trim_start_matches('/')))
            });
            // A sensor of contacts says nothing where nothing touches; its link is asked instead.
            let contact = format!("{}/contact/count", declaration.name);
            let asked = common::signal(&contact, &[SimTime::ZERO], |_| 0.0);
            let is_contact = declaration.kind == "contact";
            let (known, _) = known_signals(&model, experiment(vec![asked]));
            assert!(says || is_contact, "{world}: {} says nothing", declaration.name);
            assert_eq!(known.signals.len(), usize::from(is_contact), "{}", declaration.name);
        }
    }
    let all = headland_sense::declare::KINDS.iter().map(|kind| kind.words[0]);
    let unseen: Vec<&str> = all.filter(|kind| !kinds.contains(kind)).collect();
    assert_eq!(unseen, [] as [&str; 0], "kinds that no world shows");
}
