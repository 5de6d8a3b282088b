//! `headland compare`: how far one recording is from another, key by key.
//!
//! Reads both sides, asks `judge::compare`, and writes what `report` makes of it.

use std::path::{Path, PathBuf};

use headland_base::{Diagnostic, Seed};
use headland_judge::compare::{
    Bootstrap, Compared, Fit, Held, KeyMap, Options, Phase, Rule, Sampling, Selection, Side,
    Threshold, compare, parse_phases,
};
use headland_record::csv::{ColumnFilter, TableOptions};
use headland_record::{Format, ImportOptions, Imported, LoadOptions, Recording, Stamp, import};
use headland_report::{
    Comparison, USUAL_STATISTICS, comparison, comparison_csv, comparison_json, comparison_markdown,
    comparison_page, comparison_svg,
};

use crate::args::CompareArgs;
use crate::context::{
    BUILD, Context, Ended, Outcome, is_stdout, read_bytes, refuse_same, write_file,
};

/// What a trajectory is called where neither side has a name for it.
const PATH: &str = "trajectory";

/// Most numbers kept of either side: 3 GiB at the worst. With `--key` only those it wants.
const N_VALUES_MAX: usize = 400_000_000;

pub fn run(context: &Context, args: &CompareArgs) -> Ended {
    let thresholds = thresholds(args)?;
    let forms = report_forms(args)?;
    let map = key_map(args)?;
    let options = options(context, args)?;
    let ([a, b], read) = read_sides(context, args, &map)?;
    let (mut side_a, mut side_b) = (Side::new(&a, &map), Side::new(&b, &map));
    if args.relative {
        (side_a, side_b) = (side_a.from_its_start(), side_b.from_its_start());
    }
    side_b = side_b.shifted(args.t_offset.unwrap_or_default());
    let compared = compare(&side_a, &side_b, &options)?;
    context.show(&compared.refused);
    let held = held(&thresholds, &compared)?;
    let statistics = match args.stats.is_empty() {
        true => USUAL_STATISTICS.iter().map(ToString::to_string).collect(),
        false => args.stats.clone(),
    };
    let (name_a, name_b) = (args.a.display().to_string(), args.b.display().to_string());
    let all = Comparison {
        name_a: &name_a,
        name_b: &name_b,
        compared: &compared,
        held: &held,
        statistics: &statistics,
        shows_after_lag: args.estimate_lag.is_some(),
    };
    for (path, form) in &forms {
        write_report(context, path, *form, &all)?;
    }
    if let Some(folder) = &args.plot {
        plot(context, folder, &all)?;
    }
    if !forms.iter().any(|(path, _)| is_stdout(path)) {
        context.print(&match context.json() {
            true => format!("{}\n", comparison_json(&all)),
            false => comparison(&all),
        });
    }
    Ok(read.max(outcome(context, &all)))
}

/// Red outweighs what cannot be said; without a pair nothing can be.
fn outcome(context: &Context, all: &Comparison) -> Outcome {
    let mut outcome = Outcome::Passed;
    if all.compared.keys.is_empty() {
        let message = "no key is on both sides";
        context.show(&[Diagnostic::error("no-pair", message)]);
        outcome = Outcome::Partial;
    } else if !all.compared.has_pairs() {
        context.show(&[all.compared.no_pair()]);
        outcome = Outcome::Partial;
    }
    for held in all.held {
        outcome = outcome.max(match held.is_broken {
            Some(true) => Outcome::Failed,
            Some(false) => Outcome::Passed,
            None => Outcome::Partial,
        });
    }
    outcome
}

fn options(context: &Context, args: &CompareArgs) -> Result<Options, Vec<Diagnostic>> {
    let sampling = match args.sampling.as_str() {
        "exact" => Sampling::Exact,
        "interp" => Sampling::Interpolate,
        _ => Sampling::Nearest,
    };
    if sampling == Sampling::Exact && args.tolerance.is_some() {
        let message = "--sampling exact pairs equal times only, and so takes no --tolerance";
        let help = "leave one of them out, or use --sampling nearest";
        return Err(vec![Diagnostic::error("bad-option", message).help(help)]);
    }
    let bootstrap = args.bootstrap.map(|n_draws| Bootstrap {
        n_draws: n_draws as usize,
        confidence: args.confidence,
        seed: Seed::new(args.seed),
    });
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "html");
    Ok(Options {
        sampling,
        rule: if args.pairing == "evo" { Rule::Evo } else { Rule::OneToOne },
        tolerance: args.tolerance,
        start: args.start,
        end: args.end,
        phases: phases(context, args)?,
        selection: Selection { patterns: args.key.clone() },
        ignores_unknown: args.ignore_unknown,
        wraps: !args.no_wrap,
        lag_max: args.estimate_lag.flatten(),
        paths: args.align.as_deref().map(|how| match how {
            "rigid" => Fit::Rigid,
            "scaled" => Fit::Scaled,
            _ => Fit::None,
        }),
        delta: args.delta as usize,
        bootstrap,
        keeps_series: args.plot.is_some() || args.report.iter().any(is_page),
        n_threads: usize::from(args.threads),
    })
}

fn thresholds(args: &CompareArgs) -> Result<Vec<Threshold>, Vec<Diagnostic>> {
    let (good, bad): (Vec<_>, Vec<_>) =
        args.fail_if.iter().map(|text| Threshold::parse(text)).partition(Result::is_ok);
    let faults: Vec<Diagnostic> = bad.into_iter().filter_map(Result::err).collect();
    if faults.is_empty() { Ok(good.into_iter().flatten().collect()) } else { Err(faults) }
}

fn held(thresholds: &[Threshold], compared: &Compared) -> Result<Vec<Held>, Vec<Diagnostic>> {
    let mut all = Vec::new();
    for threshold in thresholds {
        all.extend(threshold.held(compared).map_err(|fault| vec![fault])?);
    }
    Ok(all)
}

fn phases(context: &Context, args: &CompareArgs) -> Result<Vec<Phase>, Vec<Diagnostic>> {
    let Some(path) = &args.phases else { return Ok(Vec::new()) };
    let (phases, findings) = parse_phases(&text(path)?, &path.display().to_string());
    if findings.has_errors() {
        return Err(findings.into_vec());
    }
    context.show(&findings.into_vec());
    Ok(phases)
}

fn key_map(args: &CompareArgs) -> Result<KeyMap, Vec<Diagnostic>> {
    let Some(path) = &args.map else { return Ok(KeyMap::default()) };
    let (map, findings) = KeyMap::parse(&text(path)?, &path.display().to_string());
    if findings.has_errors() { Err(findings.into_vec()) } else { Ok(map) }
}

fn text(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let bytes = read_bytes(path).map_err(|fault| vec![fault])?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

// --- both sides --------------------------------------------------------------------------

/// Reads A and B, each on a thread of its own, unless one has to lend the other a name.
fn read_sides(
    context: &Context,
    args: &CompareArgs,
    map: &KeyMap,
) -> Result<([Recording; 2], Outcome), Vec<Diagnostic>> {
    let format = |path: &Path| Format::detect(path).map_err(|fault| vec![fault]);
    let is_path = [format(&args.a)?.is_trajectory(), format(&args.b)?.is_trajectory()];
    let read = |path: &Path, object: Option<String>| {
        let stamp = if args.stamp == "log" { Stamp::Log } else { Stamp::Header };
        let load = LoadOptions { stamp, n_values_max: N_VALUES_MAX, ..LoadOptions::default() };
        let (wanted, map) = (Selection { patterns: args.key.clone() }, map.clone());
        let keep = ColumnFilter::new(move |names| wanted.columns(names, &map));
        let keep = (!args.key.is_empty()).then_some(keep);
        let table = TableOptions { keep, ..TableOptions::default() };
        import(path, &ImportOptions { load, object, table, ..ImportOptions::default() })
    };
    let named = |other: &Recording| match &args.object {
        Some(name) => name.clone(),
        None => match other.objects()[..] {
            [only] => only.to_string(),
            _ => PATH.to_string(),
        },
    };
    let (a, b) = match is_path {
        [true, false] => {
            let b = read(&args.b, None)?;
            (read(&args.a, Some(named(&b.recording)))?, b)
        }
        [false, true] => {
            let a = read(&args.a, None)?;
            let name = named(&a.recording);
            (a, read(&args.b, Some(name))?)
        }
        [is_both, _] => {
            let name = is_both.then(|| args.object.clone().unwrap_or(PATH.to_string()));
            std::thread::scope(|scope| {
                let other = scope.spawn(|| read(&args.b, name.clone()));
                let a = read(&args.a, name.clone());
                let b = other.join().expect("no panic");
                match (a, b) {
                    (Ok(a), Ok(b)) => Ok((a, b)),
                    (a, b) => {
                        let faults = [a.err(), b.err()].into_iter().flatten().flatten();
                        Err(faults.collect::<Vec<Diagnostic>>())
                    }
                }
            })?
        }
    };
    let mut outcome = Outcome::Passed;
    let mut shown = |side: Imported| -> Result<Recording, Vec<Diagnostic>> {
        // What times left out is said key by key.
        let mut findings = side.findings;
        findings.retain(|found| !matches!(found.code, "time-repeated" | "time-went-back"));
        outcome = outcome.max(context.show_findings(findings, true)?);
        Ok(side.recording)
    };
    let recordings = [shown(a)?, shown(b)?];
    Ok((recordings, outcome))
}

// --- files -------------------------------------------------------------------------------

/// What a report may be written as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Csv,
    Markdown,
    Page,
}

fn report_forms(args: &CompareArgs) -> Result<Vec<(PathBuf, Form)>, Vec<Diagnostic>> {
    let mut forms = Vec::new();
    for path in &args.report {
        for source in [&args.a, &args.b] {
            refuse_same(source, path)?;
        }
        let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        forms.push((
            path.clone(),
            match ending.as_deref() {
                Some("json") => Form::Json,
                Some("csv") => Form::Csv,
                Some("md") => Form::Markdown,
                Some("html" | "htm") => Form::Page,
                _ => {
                    let message = format!("`{}` does not say a form", path.display());
                    let help = "a report ends in .json, .csv, .md or .html";
                    return Err(vec![Diagnostic::error("which-format", message).help(help)]);
                }
            },
        ));
    }
    Ok(forms)
}

fn write_report(
    context: &Context,
    path: &Path,
    form: Form,
    all: &Comparison,
) -> Result<(), Vec<Diagnostic>> {
    let text = match form {
        Form::Json => format!("{:#}\n", comparison_json(all)),
        Form::Csv => comparison_csv(all.compared),
        Form::Markdown => comparison_markdown(all, BUILD),
        Form::Page => comparison_page(all, BUILD),
    };
    write_file(path, text)?;
    context.say(&format!("wrote {}", path.display()));
    Ok(())
}

/// One SVG per key, named after it.
fn plot(context: &Context, folder: &Path, all: &Comparison) -> Result<(), Vec<Diagnostic>> {
    std::fs::create_dir_all(folder).map_err(|fault| {
        let message = format!("cannot create the folder `{}`: {fault}", folder.display());
        vec![Diagnostic::error("not-created", message)]
    })?;
    let mut n_drawn = 0;
    for key in &all.compared.keys {
        if let Some(svg) = comparison_svg(key, (all.name_a, all.name_b)) {
            write_file(&folder.join(format!("{}.svg", file_name(&key.key))), svg)?;
            n_drawn += 1;
        }
    }
    let drawings = headland_report::count(n_drawn, "drawing");
    context.say(&format!("wrote {drawings} to {}", folder.display()));
    Ok(())
}

/// A key as the name of a file: `wrist_0.linear_vel.x`. What no file may be called is written
/// as its number, so that two keys are never one file.
fn file_name(key: &str) -> String {
    let mut out = String::new();
    for c in key.chars().take(120) {
        match c {
            '/' => out.push('.'),
            c if c.is_alphanumeric() || matches!(c, '_' | '-') => out.push(c),
            c => out += &format!("%{:x}", c as u32),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_key_names_a_file_and_no_other_place() {
        assert_eq!(file_name("wrist_0/linear_vel/x"), "wrist_0.linear_vel.x");
        assert_eq!(file_name("arm::elbow/../x"), "arm%3a%3aelbow.%2e%2e.x");
    }
}
