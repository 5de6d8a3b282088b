//! What is fitted becomes residuals: replays of every course, the scale of every key, and the
//! errors of every sample at a point of the search.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use headland_base::maths::{sqrt, wrap_angle};
use headland_base::{Diagnostic, SimTime};
use headland_sim::Model;
use headland_world::parameter::Subject;

use super::{Course, Tuning};
use crate::fit::Problem;
use crate::fit::sureness::Moment;
use crate::infer::angles_of;
use crate::source::Source;
use crate::{Experiment, Replay, Signal};

/// How the samples of a signal become residuals.
#[derive(Clone, Debug)]
pub(super) struct Used {
    pub scale: f64,
    pub is_angle: bool,
    /// The joint it is of; none of a link or a sensor.
    pub joint: Option<OfJoint>,
    /// The model had a number at the start of the search.
    pub seen: Vec<bool>,
}

/// The joint a signal is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OfJoint {
    pub name: String,
    /// What the paths of its numbers begin with.
    pub path: String,
}

impl OfJoint {
    fn of(model: &Model, dof: usize) -> OfJoint {
        let dof = &model.dofs[dof];
        let joint = &model.joints[dof.joint_idx];
        let axis = match joint.kind.axes().len() {
            1 => String::new(),
            _ => format!("axis{}/", dof.axis_idx + 1),
        };
        let path = match joint.name.rsplit_once("::") {
            Some((scope, name)) => format!("model/{scope}/joint/{name}/{axis}"),
            None => format!("joint/{}/{axis}", joint.name),
        };
        OfJoint { name: dof.name.clone(), path }
    }
}

/// Takes which course it is, what was measured of it, and its samples simulated.
pub(super) type See<'a> = dyn FnMut(usize, &Experiment, &[Vec<f64>]) + 'a;

/// What a thread keeps: a replay for each course that is simulated.
pub struct Replays(pub(super) Vec<Option<Replay>>);

impl Tuning<'_> {
    pub(super) fn replays(
        &self,
        subject: &Subject,
        experiments: &[Option<Arc<Experiment>>],
    ) -> Result<Vec<Option<Replay>>, Vec<Diagnostic>> {
        let model = Model::compile(&Arc::new(subject.world.clone()))?;
        let options = self.options_of(subject);
        let replay = |experiment: &Option<Arc<Experiment>>| {
            let Some(experiment) = experiment else { return Ok(None) };
            let engine = (self.make_engine)();
            Replay::new(model.clone(), engine, Arc::clone(experiment), options.clone()).map(Some)
        };
        experiments.iter().map(replay).collect()
    }

    /// Scales, angles, and which samples the model has a number for.
    pub(super) fn scale(&mut self, replays: &mut [Option<Replay>]) -> Result<(), Vec<Diagnostic>> {
        self.scales = scales(&self.courses, &self.fitted);
        let mut series = 0;
        for (course, replay) in self.courses.iter().zip(replays.iter_mut()) {
            let Some(replay) = replay else {
                self.signals.push(Vec::new());
                continue;
            };
            let angles = angles_of(replay);
            let joint = |source: &Source| match source {
                Source::Joint(dof, _) => Some(OfJoint::of(replay.model(), *dof)),
                _ => None,
            };
            let joints: Vec<Option<OfJoint>> = replay.sources().iter().map(joint).collect();
            let (experiment, plan) = (Arc::clone(replay.experiment()), replay.plan().clone());
            let simulated = replay.run_until(&mut self.tick()).map_err(|stopped| {
                let message = format!(
                    "the simulation of `{}` broke at the start of the search: {stopped}",
                    course.name
                );
                vec![Diagnostic::error("engine-fault", message)]
            })?;
            self.steps.add(&simulated.done);
            self.starts_untuned &= simulated.done.contained.is_empty();
            let sources = angles.into_iter().zip(joints);
            let signals = experiment.signals.iter().zip(sources).zip(&simulated.values);
            let used: Vec<Used> = signals
                .map(|((signal, (is_angle, joint)), values)| Used {
                    scale: self.scale_of(&signal.key),
                    is_angle,
                    joint,
                    seen: values.iter().map(|value| value.is_finite()).collect(),
                })
                .collect();
            let signals = experiment.signals.iter().zip(&used).zip(&simulated.values);
            for ((signal, used), values) in signals {
                self.untuned.extend(residuals_of(used, values, &signal.series.values));
            }
            // A window ends with the samples at which the state is put back.
            let mut moments: Vec<Vec<Moment>> = vec![Vec::new(); used.len()];
            for landing in &plan.landings {
                for (signal, sample) in &plan.samples[landing.samples.clone()] {
                    if used[*signal].seen[*sample] {
                        moments[*signal].push(Moment { series, at_nanos: landing.time.nanos() });
                    }
                }
                series += usize::from(landing.resets);
            }
            series += 1;
            self.moments.extend(moments.into_iter().flatten());
            self.signals.push(used);
        }
        Ok(())
    }

    /// Breaks a simulation off when somebody wants it to end.
    fn tick(&self) -> impl FnMut(SimTime) -> ControlFlow<()> + use<> {
        let (stop, beat) = (Arc::clone(&self.stop), self.beat.clone());
        move |_| {
            if let Some(beat) = &beat {
                beat();
            }
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }

    /// What the errors of a key are divided by.
    pub(crate) fn scale_of(&self, key: &str) -> f64 {
        let scale = self.scales.iter().find(|(known, _)| known == key);
        scale.map_or(1.0, |(_, scale)| scale.value())
    }

    /// Simulates every course there is a replay for at `x`, and hands over what came out, course
    /// by course.
    pub(super) fn simulate(
        &self,
        replays: &mut [Option<Replay>],
        x: &[f64],
        see: &mut See<'_>,
    ) -> bool {
        if self.is_broken_off() {
            return false;
        }
        let Ok(subject) = self.subject_at(x) else { return false };
        let options = self.options_of(&subject);
        let Ok(model) = Model::compile(&Arc::new(subject.world)) else { return false };
        let mut tick = self.tick();
        let each = replays.iter_mut().enumerate();
        for (i, replay) in each.filter_map(|(i, replay)| Some((i, replay.as_mut()?))) {
            replay.set_command_delay(options.command_delay);
            let values = self.starts.iter().zip(&x[self.wanted.len()..]);
            let start: Vec<(Source, f64)> = values
                .filter(|(start, _)| start.course == i)
                .map(|(start, value)| (start.source.clone(), *value))
                .collect();
            let is_ready = (options.step == replay.options().step
                || replay.set_step(options.step).is_ok())
                && (options.gains == replay.options().gains
                    || replay.set_gains(options.gains).is_ok())
                && replay.set_model_from(model.clone(), &start).is_ok();
            if !is_ready {
                return false;
            }
            let experiment = Arc::clone(replay.experiment());
            match replay.run_until(&mut tick) {
                Ok(simulated) if simulated.done.contained.is_empty() => {
                    see(i, &experiment, &simulated.values);
                }
                _ => return false,
            }
        }
        true
    }

    /// The residuals at a point beside what was measured of each course.
    pub(super) fn residuals_of_fitted(
        &self,
        worker: &mut Replays,
        x: &[f64],
        measured: &[Option<Arc<Experiment>>],
    ) -> Option<Vec<f64>> {
        let mut out = Vec::with_capacity(self.moments.len());
        let is_whole = self.simulate(&mut worker.0, x, &mut |course, _, values| {
            let signals = measured[course].iter().flat_map(|course| &course.signals).zip(values);
            for (used, (signal, values)) in self.signals[course].iter().zip(signals) {
                out.extend(residuals_of(used, values, &signal.series.values));
            }
        });
        (is_whole && out.iter().all(|r| r.is_finite())).then_some(out)
    }

    /// The difference of a sample, the shorter way round for an angle.
    pub(super) fn difference(is_angle: bool, simulated: f64, measured: f64) -> f64 {
        let apart = simulated - measured;
        if is_angle { wrap_angle(apart) } else { apart }
    }
}

impl Problem for Tuning<'_> {
    type Worker = Replays;

    fn worker(&self) -> Option<Replays> {
        // What could be refused was refused when the problem was made; memory and processes may
        // still run out.
        let made = self.replays(&self.subject, &self.fitted).map(Replays);
        made.map_err(|faults| self.lacking.lock().expect("no panic").extend(faults)).ok()
    }

    fn residuals(&self, worker: &mut Replays, x: &[f64]) -> Option<Vec<f64>> {
        if self.starts_untuned && x == self.start() && !self.is_broken_off() {
            return Some(self.untuned.clone());
        }
        self.residuals_of_fitted(worker, x, &self.fitted)
    }

    fn is_broken_off(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The residuals of a signal, of the samples that are used.
fn residuals_of<'a>(
    used: &'a Used,
    simulated: &'a [f64],
    measured: &'a [f64],
) -> impl Iterator<Item = f64> + 'a {
    let samples = simulated.iter().zip(measured).zip(&used.seen).filter(|(_, is_seen)| **is_seen);
    samples.map(|((value, measured), _)| {
        Tuning::difference(used.is_angle, *value, *measured) / used.scale
    })
}

/// What is fitted of a course: its first part, or nothing of one that is held out.
pub(super) fn fitted_part(course: &Course, share: f64) -> Option<Arc<Experiment>> {
    let whole = &course.experiment;
    if course.is_held_out || share >= 1.0 {
        return (!course.is_held_out).then(|| Arc::clone(whole));
    }
    let (first, last) = (whole.first()?, whole.last()?);
    let end = (last - first).nanos() as f64 * share;
    let part = |signal: &Signal| {
        let mut part = signal.clone();
        let n = part.series.times.partition_point(|time| (*time - first).nanos() as f64 <= end);
        part.series.times.truncate(n);
        part.series.values.truncate(n);
        (n > 0).then_some(part)
    };
    let signals = whole.signals.iter().filter_map(part).collect();
    Some(Arc::new(Experiment { signals, told: whole.told.clone(), known: whole.known.clone() }))
}

/// What the errors of a key are divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// The standard deviation of what was measured.
    Deviation(f64),
    /// Nothing: it does not change, and has no deviation to count in.
    Constant,
}

impl Scale {
    fn value(self) -> f64 {
        match self {
            Scale::Deviation(deviation) => deviation,
            Scale::Constant => 1.0,
        }
    }
}

/// The scale of each key, by what is fitted.
fn scales(courses: &[Course], fitted: &[Option<Arc<Experiment>>]) -> Vec<(String, Scale)> {
    let mut keys: Vec<&str> = Vec::new();
    for course in courses {
        keys.extend(course.experiment.signals.iter().map(|signal| signal.key.as_str()));
    }
    keys.sort_unstable();
    keys.dedup();
    let scale = |key: &str| {
        let all = fitted.iter().flatten().filter_map(|experiment| experiment.series(key));
        let values: Vec<f64> = all.flat_map(|series| series.values.iter().copied()).collect();
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = sqrt(values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n);
        match spread > 1e-12 * mean.abs() && spread > 0.0 {
            true => Scale::Deviation(spread),
            false => Scale::Constant,
        }
    };
    keys.into_iter().map(|key| (key.to_string(), scale(key))).collect()
}
