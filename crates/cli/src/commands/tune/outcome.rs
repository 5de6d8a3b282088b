//! What comes out of a search: the tuned model, reports of it, and the list of what can be tuned.

use std::path::{Path, PathBuf};

use headland_base::Diagnostic;
use headland_base::maths::sqrt;
use headland_report::{
    Align, Began, TuneReport, TunedCurve, TunedError, TunedRow, table, tuned as tuned_text,
    tuned_json, tuned_markdown, tuned_page,
};
use headland_sim::EngineEntry;
use headland_validate::tune::{Curve, KeyError, Saved, Tuned, TunedNumber, Tuning};
use headland_world::parameter::{self, Subject};
use headland_world::sdf;

use crate::args::TuneArgs;
use crate::comparing::text;
use crate::context::{
    BUILD, Context, is_stdout, read_options, refuse_same, refuse_twice, refuse_unwritable,
    write_file,
};
use crate::repeating::integrator_of;

/// What a file of the outcome is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Model,
    Json,
    Markdown,
    Page,
    Text,
}

pub(super) fn outputs(args: &TuneArgs) -> Result<Vec<(PathBuf, Form)>, Vec<Diagnostic>> {
    let mut all = Vec::new();
    all.extend(args.out.iter().map(|path| (path.clone(), Form::Model)));
    for path in &args.report {
        let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        let form = match ending.as_deref() {
            Some("json") => Form::Json,
            Some("md") => Form::Markdown,
            Some("html" | "htm") => Form::Page,
            Some("txt") => Form::Text,
            _ => {
                let message = format!("`{}` does not say a form", path.display());
                let help = "a report ends in .json, .md, .html or .txt";
                return Err(vec![Diagnostic::error("which-format", message).help(help)]);
            }
        };
        all.push((path.clone(), form));
    }
    refuse_twice(all.iter().map(|(path, _)| path).chain(&args.resume))?;
    let sources = [&args.model].into_iter().chain(&args.tables).chain(&args.hold);
    for source in sources.chain(&args.command).chain(&args.state).chain(&args.map) {
        for (path, _) in &all {
            refuse_same(source, path)?;
        }
        args.resume.iter().try_for_each(|path| refuse_same(source, path))?;
    }
    refuse_unwritable(all.iter().map(|(path, _)| path).chain(&args.resume))?;
    Ok(all)
}

pub(super) fn write_all(
    context: &Context,
    args: &TuneArgs,
    outputs: &[(PathBuf, Form)],
    found: &Tuned,
    report: &TuneReport,
) -> Result<(), Vec<Diagnostic>> {
    for (path, form) in outputs {
        let content = match form {
            Form::Model => tuned_model(context, args, found),
            Form::Json => format!("{:#}\n", tuned_json(report)),
            Form::Markdown => tuned_markdown(report, BUILD),
            Form::Page => tuned_page(report, BUILD),
            Form::Text => tuned_text(report),
        };
        if is_stdout(path) {
            context.print(&content);
            continue;
        }
        write_file(path, content)?;
        context.say(&format!("wrote {}", path.display()));
    }
    // What SDF has no place for.
    let beside = |number: &&TunedNumber| {
        number.name.starts_with("command/") || number.name.starts_with("gains/")
    };
    let beside: Vec<String> = found
        .numbers
        .iter()
        .filter(beside)
        .map(|number| format!("{}={}", number.name, number.value))
        .collect();
    if args.out.is_some() && !beside.is_empty() {
        let message = format!("SDF has no place for {}", beside.join(" and "));
        let set: Vec<String> = beside.iter().map(|one| format!("--set {one}")).collect();
        let help =
            format!("give it to whoever runs the model: headland validate {}", set.join(" "));
        context.show(&[Diagnostic::remark("beside-the-model", message).help(help)]);
    }
    Ok(())
}

/// The tuned model: the text it was read from with other numbers in it, where that is SDF and the
/// numbers stand in it; else written anew.
fn tuned_model(context: &Context, args: &TuneArgs, found: &Tuned) -> String {
    let (path, world) = (&args.model, &found.subject.world);
    let folder_of = |path: &Path| path.parent().unwrap_or(Path::new("")).to_path_buf();
    let folders = [folder_of(path), args.out.as_deref().map(folder_of).unwrap_or_default()];
    let options = read_options(&args.how.world_args);
    let source = text(path).ok();
    let edited = source.as_ref().and_then(|source| {
        sdf::edit(source, folders.each_ref().map(|f| f.as_path()), &options, world)
    });
    edited.unwrap_or_else(|| {
        if source.is_some_and(|source| source.contains("<!--")) {
            let message = format!(
                "the tuned model is written anew, without the comments of `{}`: numbers of it do \
                 not stand in that file, what it includes is not beside the new one, or it is no SDF",
                path.display()
            );
            context.show(&[Diagnostic::remark("comments-lost", message)]);
        }
        sdf::write(world)
    })
}

pub(super) fn report(
    args: &TuneArgs,
    saved: &Saved,
    (tuning, engine): (&Tuning<'_>, &EngineEntry),
    found: &Tuned,
    drawn: Vec<Curve>,
) -> TuneReport {
    let search = &saved.search;
    let row = |number: &TunedNumber| TunedRow {
        name: number.name.clone(),
        unit: number.unit.clone(),
        before: number.before.clone(),
        value: number.value,
        half_width: number.half_width,
        joint_half_width: number.joint_half_width,
        step_shift: number.step_shift,
        bounds: Some((number.lower, number.upper)),
    };
    let error = |error: &KeyError| TunedError {
        recording: error.course.clone(),
        key: error.key.clone(),
        unit: error.unit.clone(),
        scale: error.scale,
        fitted: error.fitted,
        held_out: error.held_out,
        n_samples: error.n_samples,
    };
    let curve = |curve: Curve| TunedCurve {
        recording: curve.course,
        key: curve.key,
        unit: curve.unit,
        times: curve.times,
        measured: curve.measured,
        before: curve.before.map(|moved| (moved.values, moved.errors)),
        after: curve.after.map(|moved| (moved.values, moved.errors)),
        n_fitted: curve.n_fitted,
    };
    let n_residuals = found.n_residuals.max(1) as f64;
    let rms = |(n, cost): &(usize, f64)| (*n, sqrt(cost / n_residuals));
    let (numbers, starts): (Vec<_>, Vec<_>) =
        found.numbers.iter().partition(|number| !number.is_start);
    let derived = found.derived.iter().map(|one| TunedRow {
        name: one.name.clone(),
        unit: one.unit.clone(),
        before: vec![one.before],
        value: one.value,
        half_width: one.half_width,
        joint_half_width: one.joint_half_width,
        step_shift: None,
        bounds: None,
    });
    let tables: Vec<&str> = tuning.fitted_courses().collect();
    let mut made = vec![
        ("fitted to".to_string(), tables.join(", ")),
        ("engine".to_string(), engine.name.to_string()),
        ("step".to_string(), tuning.step().to_string()),
        ("method".to_string(), search.method().word().to_string()),
    ];
    if let Some(integrator) = integrator_of(engine, &found.subject.world) {
        made.insert(2, ("integrator".to_string(), integrator));
    }
    if args.train < 1.0 {
        let share = format!("the first {:.0} % of each recording", 100.0 * args.train);
        made.push(("trained on".to_string(), share));
    }
    if let Some(window) = args.how.window {
        made.push(("windows".to_string(), format!("put back to what was measured every {window}")));
    }
    TuneReport {
        model: args.model.display().to_string(),
        made,
        numbers: numbers.into_iter().map(row).collect(),
        derived: derived.collect(),
        starts: starts.into_iter().map(row).collect(),
        errors: found.errors.iter().map(error).collect(),
        curves: drawn.into_iter().map(curve).collect(),
        heeds_starts: tuning.starts_as_measured(),
        began: match () {
            () if saved.looked_all_over(tuning) => Began::LookedAllOver,
            () if tuning.begins_as_given() => Began::AsGiven,
            () => Began::Elsewhere,
        },
        search: search.history().iter().map(rms).collect(),
        rms: found.rms,
        n_residuals: found.n_residuals,
        n_evaluations: found.n_evaluations,
        n_after: found.n_after,
        ended: found.ended.map_or("interrupted", |ended| ended.words()).to_string(),
        is_converged: found.ended.is_some_and(|ended| ended.is_converged()),
        is_trusted: found.is_trusted(),
        warnings: found.warnings.iter().map(|w| (w.code.to_string(), w.message.clone())).collect(),
        confidence: found.confidence,
    }
}

/// Every number that has a name, with its value.
pub(super) fn listed(context: &Context, subject: &Subject) -> String {
    let all = parameter::list(&subject.world);
    if context.json() {
        let one = |parameter: &parameter::Parameter| {
            serde_json::json!({
                "path": parameter.path(), "unit": parameter.unit(subject),
                "value": parameter.get(subject).filter(|value| value.is_finite()),
            })
        };
        return format!("{}\n", serde_json::Value::from_iter(all.iter().map(one)));
    }
    let value = |parameter: &parameter::Parameter| {
        parameter.get(subject).map_or("not said".to_string(), |value| format!("{value}"))
    };
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|parameter| {
            vec![
                parameter.path().to_string(),
                value(parameter),
                parameter.unit(subject).to_string(),
            ]
        })
        .collect();
    table(&[("path", Align::Left), ("value", Align::Right), ("unit", Align::Left)], &rows)
}
