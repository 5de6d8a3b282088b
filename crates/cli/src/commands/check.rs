//! `headland check`: everything that is wrong with a world, a robot, a recording or a test.
//!
//! What a file is, is told by what is in it. A world may be written as plain SDF on the way.

use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Severity};
use headland_record::{Format, Item};
use headland_report::count;
use headland_sense::declare::{Declaration, declare_with, with_noise_inside};
use headland_sim::{EngineEntry, EngineOptions, Model};
use headland_world::{World, sdf};

use crate::args::CheckArgs;
use crate::context::{Context, Ended, Outcome, open_recording, resources, write_file};
use crate::prepare::{default_engine, wishes};
use crate::sensors::in_words;
use crate::test_file::TestFile;

pub fn run(context: &Context, args: &CheckArgs) -> Ended {
    let engine = args.engine.as_deref().map(headland_engines::find).transpose();
    let engine = engine.map_err(|diagnostic| vec![diagnostic])?;
    if args.write_sdf.is_some() && args.files.len() > 1 {
        return Err(vec![Diagnostic::error("one-world", "--write-sdf takes one world at a time")]);
    }
    let mut outcome = Outcome::Passed;
    for file in &args.files {
        let checked = if TestFile::is_one(file) {
            test(context, file)
        } else if Format::detect(file).is_ok_and(|format| format == Format::Mcap) {
            recording(context, file)
        } else {
            world(context, file, args, engine)
        };
        match checked {
            Ok(ended) => outcome = outcome.max(ended),
            Err(diagnostics) => {
                context.show(&diagnostics);
                let n_errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
                if context.json() {
                    let json = serde_json::json!({"file": file, "ok": false, "errors": n_errors});
                    context.print(&format!("{json}\n"));
                } else if !diagnostics.iter().any(is_about_output) {
                    let errors = count(n_errors as u64, "error");
                    context.say(&format!("{}: {errors}", file.display()));
                }
                outcome = outcome.max(Outcome::of_faults(&diagnostics));
            }
        }
    }
    Ok(outcome)
}

/// A test without a recording: what is wrong with it whatever it looks at.
fn test(context: &Context, file: &Path) -> Ended {
    let test = TestFile::read(file)?;
    let findings = test.lint();
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    let n_warnings = findings.iter().filter(|d| d.severity == Severity::Warning).count() as u64;
    context.show(&findings);
    let summary = test.summary();
    if context.json() {
        let mut json = serde_json::json!({"file": file, "ok": true, "warnings": n_warnings});
        json.as_object_mut().expect("an object").extend(
            summary.into_iter().map(|(key, n)| (format!("{key}s"), serde_json::Value::from(n))),
        );
        context.print(&format!("{json}\n"));
        return Ok(Outcome::Passed);
    }
    let mut parts: Vec<String> = summary.into_iter().map(|(key, n)| count(n, key)).collect();
    if n_warnings > 0 {
        parts.push(count(n_warnings, "warning"));
    }
    context.print(&format!("{}: ok, test: {}\n", file.display(), parts.join(", ")));
    Ok(Outcome::Passed)
}

/// Whether a diagnostic is not about the file that is checked but about the one written.
fn is_about_output(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code, "not-created" | "cannot-write")
}

fn world(context: &Context, file: &Path, args: &CheckArgs, engine: Option<&EngineEntry>) -> Ended {
    let read = context.read_world(file, &args.world_args)?;
    let world = Arc::new(read.world);
    let model = Model::compile_read(&world, &read.places)?;
    let resources = resources();
    let (sensors, of_sensors) = declare_with(&model, &read.places, &resources);
    let mut findings = asked_of_engine(&model, engine);
    findings.extend(of_sensors);
    for sensor in &sensors {
        findings.extend(sensor.findings.iter().cloned().map(|mut finding| {
            // A run that does not ask for this camera needs nobody who draws for it.
            if sensor.waits && finding.code == "no-renderer" {
                finding.severity = Severity::Warning;
            }
            finding
        }));
    }
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    context.show(&findings);
    if let Some(path) = &args.write_sdf {
        let whole = with_noise_inside(&world, &read.places, &resources);
        write_sdf(context, path, &moved(&whole, file, path))?;
    }
    let summary = summary(&world, &model);
    if context.json() {
        let mut json = serde_json::json!({"file": file, "ok": true});
        json.as_object_mut().expect("an object").extend(
            summary.into_iter().map(|(key, n)| (format!("{key}s"), serde_json::Value::from(n))),
        );
        json["world"] = world.name.clone().into();
        json["sensors"] = sensors.iter().map(as_json).collect();
        context.print(&format!("{json}\n"));
    } else if args.write_sdf.as_deref() != Some(Path::new("-")) {
        let mut parts: Vec<String> = summary.into_iter().map(|(key, n)| count(n, key)).collect();
        if !sensors.is_empty() {
            parts.push(count(sensors.len() as u64, "sensor"));
        }
        let (file, name) = (file.display(), &world.name);
        context.print(&format!("{file}: ok, world `{name}`: {}\n", parts.join(", ")));
        for sensor in &sensors {
            context.print(&format!("  {}: {}\n", sensor.topic, in_words(sensor)));
        }
    }
    Ok(Outcome::Passed)
}

/// What the engine says that was named; of one that only the world asks for, what would refuse a run.
fn asked_of_engine(model: &Model, named: Option<&EngineEntry>) -> Vec<Diagnostic> {
    let entry = named.unwrap_or_else(|| default_engine(&model.world));
    let options = EngineOptions::new(model.world.physics.step);
    let ask = || (entry.make)(entry).check(model, &options);
    match named {
        Some(_) => ask(),
        None if wishes(&model.world).is_empty() => Vec::new(),
        None => ask().into_iter().filter(|found| found.severity == Severity::Error).collect(),
    }
}

fn as_json(sensor: &Declaration) -> serde_json::Value {
    let outputs = sensor.outputs().iter();
    let outputs = outputs.map(|o| serde_json::json!({"topic": o.topic, "type": o.message_type}));
    serde_json::json!({
        "name": sensor.name, "kind": sensor.kind, "topic": sensor.topic,
        "period_ns": sensor.timing.period.nanos(), "phase_ns": sensor.timing.phase.nanos(),
        "latency_ns": sensor.timing.latency.nanos(), "outputs": outputs.collect::<Vec<_>>(),
    })
}

fn summary(world: &World, model: &Model) -> Vec<(&'static str, u64)> {
    let mut n_models = 0;
    world.visit_models(&mut |_| n_models += 1);
    let n_shapes: usize = model.bodies.iter().map(|body| body.shapes.len()).sum();
    vec![
        ("model", n_models),
        ("link", model.bodies.len() as u64),
        ("joint", world.joints().len() as u64),
        ("shape", n_shapes as u64),
    ]
}

/// The world for a file in another folder: names relative to the old one become whole paths.
fn moved(world: &World, from: &Path, to: &Path) -> World {
    let folder = |path: &Path| {
        path.parent().and_then(|parent| Path::new(".").join(parent).canonicalize().ok())
    };
    let (old, new) = (folder(from), folder(to));
    world.clone().with_uris(&|uri| match &old {
        Some(old) if old_is_needed(uri) && new.as_ref() != Some(old) => {
            old.join(uri).display().to_string()
        }
        _ => uri.to_string(),
    })
}

fn old_is_needed(uri: &str) -> bool {
    !uri.contains("://") && !sdf::is_inside(uri) && Path::new(uri).is_relative()
}

fn write_sdf(context: &Context, path: &Path, world: &World) -> Result<(), Vec<Diagnostic>> {
    let text = headland_world::sdf::write(world);
    if path == Path::new("-") {
        context.print(&text);
        return Ok(());
    }
    write_file(path, &text)
}

fn recording(context: &Context, file: &Path) -> Ended {
    let mut reader = open_recording(file)?;
    let (mut n_messages, mut is_anything) = (0, false);
    while let Some(item) = reader.next() {
        n_messages += u64::from(matches!(item, Item::Message(_)));
        is_anything |= !matches!(item, Item::Header { .. });
    }
    let is_cut = reader.truncation().is_some();
    let outcome = context.show_findings(reader.into_findings(), is_anything)?;
    let word = match outcome {
        Outcome::Passed => "ok",
        _ if is_cut => "cut off, readable up to the cut",
        _ => "damaged, readable in part",
    };
    if context.json() {
        let is_ok = outcome == Outcome::Passed;
        let json = serde_json::json!({"file": file, "ok": is_ok, "messages": n_messages});
        context.print(&format!("{json}\n"));
    } else {
        context.print(&format!("{}: {word}, {}\n", file.display(), count(n_messages, "message")));
    }
    Ok(outcome)
}
