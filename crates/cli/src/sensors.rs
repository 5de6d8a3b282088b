//! The sensors of a world that a run takes along: all, none, or those that patterns name.

use std::collections::BTreeMap;
use std::str::FromStr;

use headland_base::{Diagnostic, Severity, SimDuration, glob, names};
use headland_sense::declare::{Declaration, declare_with};
use headland_sense::scene::bad_looks;
use headland_sim::sensor::rate_hz;
use headland_sim::{Model, Sensor};
use headland_world::Places;

use crate::context::{Context, resources};

/// Which sensors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Every one but cameras that are not `<always_on>`: pictures are large.
    #[default]
    Usual,
    /// Every one.
    All,
    /// None: nothing about them is even read.
    None,
    /// Those whose topic or name fits one of these.
    Some(Vec<String>),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        match text.trim() {
            "usual" => Ok(Choice::Usual),
            "all" => Ok(Choice::All),
            "none" => Ok(Choice::None),
            text => {
                let patterns = text.split(',').map(str::trim).map(str::to_string);
                let patterns: Vec<String> = patterns.collect();
                match patterns.iter().any(String::is_empty) {
                    true => {
                        Err("say `usual`, `all`, `none`, or topics: /robot/imu,*/gps".to_string())
                    }
                    false => Ok(Choice::Some(patterns)),
                }
            }
        }
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Choice::Usual => f.write_str("usual"),
            Choice::All => f.write_str("all"),
            Choice::None => f.write_str("none"),
            Choice::Some(patterns) => f.write_str(&patterns.join(",")),
        }
    }
}

/// The sensors of a run, and what its recording says of them: by the topic of each.
pub type Taken = (Vec<Box<dyn Sensor>>, BTreeMap<String, String>);

/// The chosen sensors of a world, or everything that is wrong with them.
pub fn take(
    context: &Context,
    model: &Model,
    places: &Places,
    choice: &Choice,
) -> Result<Taken, Vec<Diagnostic>> {
    if *choice == Choice::None {
        return Ok(Taken::default());
    }
    let (declared, mut findings) = declare_with(model, places, &resources());
    if *choice == Choice::Usual {
        findings.extend(waiting(&declared));
    }
    findings.extend(faults_of_waiting(&declared));
    let chosen = choose(declared, choice)?;
    findings.extend(chosen.iter().flat_map(|sensor| sensor.findings.iter().cloned()));
    if chosen.iter().any(|sensor| sensor.makes_pictures) {
        findings.extend(bad_looks(&model.world));
    }
    // A camera that waits and is asked for says the same twice.
    let mut told: Vec<Diagnostic> = Vec::new();
    for finding in findings {
        if !told.contains(&finding) {
            told.push(finding);
        }
    }
    if told.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(told);
    }
    context.show(&told);
    let notes = chosen.iter().map(|sensor| (sensor.topic.clone(), in_words(sensor))).collect();
    Ok((chosen.into_iter().filter_map(Declaration::into_sensor).collect(), notes))
}

/// What cannot be about cameras that may not be asked for. That one would be drawn by somebody who
/// is not there matters only where it is.
pub fn faults_of_waiting(declared: &[Declaration]) -> Vec<Diagnostic> {
    let waiting = declared.iter().filter(|sensor| sensor.waits);
    let faults = waiting.flat_map(|sensor| &sensor.findings);
    let is_told = |f: &&Diagnostic| f.severity == Severity::Error && f.code != "no-renderer";
    faults.filter(is_told).cloned().collect()
}

/// What is said of cameras that nobody asked for.
fn waiting(declared: &[Declaration]) -> Option<Diagnostic> {
    let waiting: Vec<&Declaration> = declared.iter().filter(|sensor| sensor.waits).collect();
    let (first, n) = (waiting.first()?, waiting.len());
    let cameras = if n == 1 { "camera is" } else { "cameras are" };
    let message = format!("{n} {cameras} left out: pictures are recorded where they are asked for");
    let help = format!("--sensors all, or --sensors {}; or <always_on> in the file", first.topic);
    Some(Diagnostic::remark("sensor-left-out", message).at_maybe(first.place.clone()).help(help))
}

fn choose(
    declared: Vec<Declaration>,
    choice: &Choice,
) -> Result<Vec<Declaration>, Vec<Diagnostic>> {
    let patterns = match choice {
        Choice::Some(patterns) => patterns,
        Choice::Usual => return Ok(declared.into_iter().filter(|s| !s.waits).collect()),
        Choice::All | Choice::None => return Ok(declared),
    };
    let fits = |sensor: &Declaration, pattern: &str| {
        glob::matches(pattern, &sensor.topic) || glob::matches(pattern, &sensor.name)
    };
    let topics: Vec<&str> = declared.iter().map(|sensor| sensor.topic.as_str()).collect();
    let unknown = patterns.iter().filter(|pattern| !declared.iter().any(|s| fits(s, pattern)));
    let faults: Vec<Diagnostic> = unknown
        .map(|pattern| {
            let near = names::suggestion(pattern, topics.iter().copied());
            let near = near.unwrap_or_else(|| match topics.is_empty() {
                true => "this world has no sensors".to_string(),
                false => format!("`headland check` lists its {} sensors", topics.len()),
            });
            let message = format!("no sensor fits `{pattern}`");
            Diagnostic::error("unknown-sensor", message).help(near)
        })
        .collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let is_chosen = |sensor: &Declaration| patterns.iter().any(|pattern| fits(sensor, pattern));
    Ok(declared.into_iter().filter(is_chosen).collect())
}

/// `imu robot::base::imu, 100 Hz`.
pub fn in_words(sensor: &Declaration) -> String {
    let timing = sensor.timing;
    let rate = match timing.period {
        SimDuration::ZERO => "every step".to_string(),
        period => format!("{} Hz", rate_hz(period)),
    };
    let mut words = format!("{} {}, {rate}", sensor.kind, sensor.name);
    for (what, time) in [("phase", timing.phase), ("latency", timing.latency)] {
        if time > SimDuration::ZERO {
            words += &format!(", {what} {time}");
        }
    }
    if let Some(about) = sensor.about() {
        words += &format!(", {about}");
    }
    words
}
