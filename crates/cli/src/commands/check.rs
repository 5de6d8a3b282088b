//! `headland check`: everything that is wrong with a world, a robot or a recording.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Severity};
use headland_record::Reader;
use headland_report::count;
use headland_sim::{EngineEntry, Model};
use headland_world::World;

use crate::args::CheckArgs;
use crate::context::{Context, Ended, Outcome};

pub fn run(context: &Context, args: &CheckArgs) -> Ended {
    let engine = args.engine.as_deref().map(headland_engines::find).transpose();
    let engine = engine.map_err(|diagnostic| vec![diagnostic])?;
    if args.write_sdf.is_some() && args.files.len() > 1 {
        return Err(vec![Diagnostic::error("one-world", "--write-sdf takes one world at a time")]);
    }
    let mut outcome = Outcome::Passed;
    for file in &args.files {
        let checked = if is_recording(file) {
            recording(context, file)
        } else {
            world(context, file, args, engine)
        };
        match checked {
            Ok(Outcome::Passed) => {}
            Ok(worse) => outcome = worse,
            Err(diagnostics) => {
                context.show(&diagnostics);
                let n_errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
                context.say(&format!("{}: {}", file.display(), count(n_errors as u64, "error")));
                outcome = Outcome::BadInput;
            }
        }
    }
    Ok(outcome)
}

/// By content: every MCAP file starts with these bytes.
fn is_recording(path: &Path) -> bool {
    let mut start = [0; 5];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"\x89MCAP"
}

fn world(context: &Context, file: &Path, args: &CheckArgs, engine: Option<&EngineEntry>) -> Ended {
    let read = context.read_world(file, &args.world_args)?;
    let world = Arc::new(read.world);
    let model = Model::compile(&world)?;
    if let Some(entry) = engine {
        let notes = (entry.make)().check(&model);
        if notes.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return Err(notes);
        }
        context.show(&notes);
    }
    if let Some(path) = &args.write_sdf {
        write_sdf(context, path, &world)?;
    }
    let summary = summary(&world, &model);
    if context.json() {
        let mut json = serde_json::json!({"file": file, "ok": true});
        json.as_object_mut().expect("an object").extend(
            summary.into_iter().map(|(key, n)| (format!("{key}s"), serde_json::Value::from(n))),
        );
        json["world"] = world.name.clone().into();
        context.print(&format!("{json}\n"));
    } else if args.write_sdf.as_deref() != Some(Path::new("-")) {
        let parts: Vec<String> = summary.into_iter().map(|(key, n)| count(n, key)).collect();
        context.print(&format!(
            "{}: ok, world `{}`: {}\n",
            file.display(),
            world.name,
            parts.join(", ")
        ));
    }
    Ok(Outcome::Passed)
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

fn write_sdf(context: &Context, path: &Path, world: &World) -> Result<(), Vec<Diagnostic>> {
    let text = headland_world::sdf::write(world);
    if path == Path::new("-") {
        context.print(&text);
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| {
        vec![Diagnostic::error(
            "cannot-write",
            format!("cannot write `{}`: {error}", path.display()),
        )]
    })
}

fn recording(context: &Context, file: &Path) -> Ended {
    let mut reader = Reader::open(file).map_err(|diagnostic| vec![diagnostic])?;
    let mut n_messages = 0;
    while let Some(item) = reader.next() {
        n_messages += u64::from(matches!(item, headland_record::Item::Message(_)));
    }
    let truncated = reader.truncation().is_some();
    let findings = reader.into_findings();
    if findings.has_errors() {
        return Err(findings.into_vec());
    }
    context.show(&findings.into_vec());
    let word = if truncated { "cut off, readable up to the cut" } else { "ok" };
    if context.json() {
        let json = serde_json::json!({"file": file, "ok": !truncated, "messages": n_messages});
        context.print(&format!("{json}\n"));
    } else {
        context.print(&format!("{}: {word}, {}\n", file.display(), count(n_messages, "message")));
    }
    Ok(if truncated { Outcome::Partial } else { Outcome::Passed })
}
