//! What a replay gives: every measured sample, as the model has it.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::maths::{Quat, Vec3};
use headland_base::{SimDuration, SimTime, Transform};
use headland_record::{Data, Recording, Track};

use crate::experiment::Experiment;

/// The signals of an experiment, simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulated {
    /// By signal and sample of the experiment: the same lengths, the same order. NaN where the
    /// model has no such number: a sensor that saw nothing, contacts before the first step.
    pub values: Vec<Vec<f64>>,
    /// When the model had them, where that is not when they were measured: of the nearest step.
    pub times: Option<Vec<Vec<SimTime>>>,
    /// What was done.
    pub done: Done,
}

/// What a replay did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Steps of the engine.
    pub n_steps: u64,
    /// Of them, those shortened to land on a moment.
    pub n_shortened: u64,
    /// The longest of them: samples and commands may all be closer than the step that was asked
    /// for.
    pub longest_step: SimDuration,
    /// The sum of their squares \[s²\]: what the error of a method of first order grows with.
    pub step_squares: f64,
    /// How often the state was put back to what was measured.
    pub n_resets: u64,
    /// The longest way in time from a sample to what it was taken from.
    pub dt_max: SimDuration,
    /// The mean of it \[s\].
    pub dt_mean_secs: f64,
    /// Links that went non-finite and were held where they were, with the moment, on the clock of
    /// the measurement.
    pub contained: Vec<(String, SimTime)>,
    /// The first thing the engine had to say, with the moment, on the same clock.
    pub remark: Option<(String, SimTime)>,
    /// How many there were in all.
    pub n_remarks: u64,
}

impl Simulated {
    /// As a recording with the keys and times of the experiment, to be compared or written.
    pub fn recording(&self, experiment: &Experiment) -> Recording {
        let mut columns: BTreeMap<&str, (Vec<SimTime>, Vec<f64>)> = BTreeMap::new();
        for (i, (signal, values)) in experiment.signals.iter().zip(&self.values).enumerate() {
            let times = match &self.times {
                Some(times) => &times[i],
                None => &signal.series.times,
            };
            let mut column = (Vec::with_capacity(times.len()), Vec::with_capacity(times.len()));
            for (time, value) in times.iter().zip(values).filter(|(_, value)| value.is_finite()) {
                // Two samples may be nearest to one step, which is one sample of the model.
                if column.0.last() != Some(time) {
                    column.0.push(*time);
                    column.1.push(*value);
                }
            }
            columns.insert(&signal.key, column);
        }
        let mut recording = Recording::new();
        let bases: BTreeSet<&str> =
            columns.keys().filter_map(|k| k.strip_suffix("/pose/x")).collect();
        let poses: Vec<(String, Track)> = bases
            .iter()
            .filter_map(|base| Some((format!("/{base}/pose"), poses(base, &columns)?)))
            .collect();
        for (topic, track) in poses {
            let base = topic.trim_start_matches('/').to_string();
            columns.retain(|key, _| !PARTS.iter().any(|part| *key == format!("{base}/{part}")));
            recording.insert(topic, track);
        }
        for (key, (times, values)) in columns {
            let data = Data::Scalars(BTreeMap::from([("data".to_string(), values)]));
            let track = Track::new("std_msgs/msg/Float64", "", times, data);
            recording.insert(format!("/{key}"), track.expect("times increase"));
        }
        recording
    }
}

const PARTS: [&str; 7] = ["x", "y", "z", "qx", "qy", "qz", "qw"];

/// The seven numbers of a pose as one track, where all are there at the same times.
fn poses(base: &str, columns: &BTreeMap<&str, (Vec<SimTime>, Vec<f64>)>) -> Option<Track> {
    let part = |part: &str| columns.get(format!("{base}/pose/{part}").as_str());
    let all: Vec<&(Vec<SimTime>, Vec<f64>)> = PARTS.iter().filter_map(|name| part(name)).collect();
    let times = &all.first()?.0;
    if all.len() != PARTS.len() || all.iter().any(|column| column.0 != *times) {
        return None;
    }
    let pose = |i: usize| {
        let n = |part: usize| all[part].1[i];
        // Of length one as it comes from the model; to make it so again would change its bits.
        let turn = Quat::from_xyzw(n(3), n(4), n(5), n(6));
        Transform::new(turn, Vec3::new(n(0), n(1), n(2)))
    };
    let poses: Vec<Transform> = (0..times.len()).map(pose).collect();
    let data = Data::Poses(poses);
    Track::new("geometry_msgs/msg/PoseStamped", "world", times.clone(), data).ok()
}
