//! Two sides compared and told: what `compare` and `validate` share.
//!
//! Options become those of `judge::compare`; what it found becomes text, files and an outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use headland_base::{Diagnostic, Seed, SimTime};
use headland_judge::compare::{
    Bootstrap, Compared, Fit, Held, KeyKind, KeyMap, NO_DIGITS, Options, Phase, Rule, Sampling,
    Selection, Side, Threshold, compare, parse_phases,
};
use headland_record::csv::{ColumnFilter, TableOptions};
use headland_record::{
    Format, ImportOptions, Imported, LoadOptions, Recording, Stamp, TimeUnit, import,
};
use headland_report::{
    Comparison, USUAL_STATISTICS, comparison, comparison_csv, comparison_json, comparison_markdown,
    comparison_page, comparison_svg,
};

use crate::args::ComparisonArgs;
use crate::context::{
    BUILD, Context, Ended, Outcome, is_stdout, read_bytes, refuse_same, refuse_twice,
    refuse_unwritable, refuse_unwritable_folder, write_file,
};

/// Most numbers kept of either side: 3 GiB at the worst. With `--key` only those it wants.
const N_VALUES_MAX: usize = 400_000_000;

/// Two sides and what they are called.
pub struct Sides<'s> {
    /// The reference.
    pub a: Side<'s>,
    /// What is compared with it.
    pub b: Side<'s>,
    /// What they are called.
    pub names: (&'s str, &'s str),
    /// How B came to be.
    pub made: &'s [(String, String)],
    /// B is on standard output already, and the table is not.
    pub is_quiet: bool,
}

/// Compares, writes every report, prints, and says how it ended.
pub fn tell(
    context: &Context,
    args: &ComparisonArgs,
    options: &Options,
    (forms, thresholds): (&[(PathBuf, Form)], &[Threshold]),
    sides: Sides<'_>,
) -> Ended {
    let compared = compare(&sides.a, &sides.b, options)?;
    context.show(&compared.refused);
    let has_path = compared.keys.iter().any(|key| key.kind == KeyKind::Path);
    if options.paths.is_some() && !has_path && compared.refused.is_empty() {
        let message = "`--align` is for poses, and no pose that is compared is on both sides";
        context.show(&[Diagnostic::remark("option-ignored", message)]);
    }
    let held = held(thresholds, &compared)?;
    let statistics = match args.stats.is_empty() {
        true => USUAL_STATISTICS.iter().map(ToString::to_string).collect(),
        false => args.stats.clone(),
    };
    let all = Comparison {
        name_a: sides.names.0,
        name_b: sides.names.1,
        compared: &compared,
        held: &held,
        statistics: &statistics,
        shows_after_lag: args.estimate_lag.is_some(),
        made: sides.made,
    };
    // Files first, since whoever reads the figures may go away; and figures even where a file
    // cannot be written.
    let written = write_files(context, args, forms, &all);
    if sides.is_quiet {
        // Standard output has the table; the figures are for whoever looks on.
        context.say(comparison(&all).trim_end());
    } else if !forms.iter().any(|(path, _)| is_stdout(path)) {
        context.print(&match context.json() {
            true => format!("{}\n", comparison_json(&all)),
            false => comparison(&all),
        });
    }
    written?;
    Ok(outcome(context, args, &all))
}

fn write_files(
    context: &Context,
    args: &ComparisonArgs,
    forms: &[(PathBuf, Form)],
    all: &Comparison<'_>,
) -> Result<(), Vec<Diagnostic>> {
    for (path, form) in forms {
        write_report(context, path, *form, all)?;
    }
    args.plot.as_ref().map_or(Ok(()), |folder| plot(context, folder, all))
}

/// Red outweighs what cannot be said; without a pair nothing can be.
fn outcome(context: &Context, args: &ComparisonArgs, all: &Comparison) -> Outcome {
    let mut outcome = Outcome::Passed;
    if all.compared.keys.is_empty() {
        context.show(&[no_key(all.compared)]);
        outcome = Outcome::Partial;
    } else if !all.compared.has_pairs() {
        let cut = nothing_left(args, all.compared);
        context.show(&[cut.unwrap_or_else(|| all.compared.no_pair())]);
        outcome = Outcome::Partial;
    }
    if all.compared.refused.iter().any(|fault| fault.code == NO_DIGITS) {
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

/// What to say where the range that was asked for holds nothing of A.
fn nothing_left(args: &ComparisonArgs, compared: &Compared) -> Option<Diagnostic> {
    let (first, last) = compared.span_a?;
    let is_cut = args.start.is_some() || args.end.is_some();
    let is_empty = compared.keys.iter().all(|key| key.counts.n_a == 0);
    (is_cut && is_empty).then(|| {
        Diagnostic::error("no-pair", "`--start` and `--end` leave no sample of A")
            .note(format!("A has from {first} to {last}"))
    })
}

/// What to say where no key is compared: a side without a sample has none.
fn no_key(compared: &Compared) -> Diagnostic {
    let message = match (compared.span_a, compared.span_b) {
        (None, None) => "neither side has a sample",
        (None, _) => "A has no sample",
        (_, None) => "B has no sample",
        _ => return Diagnostic::error("no-pair", "no key is on both sides"),
    };
    Diagnostic::error("no-pair", message).help("a table needs a row below its header")
}

/// Refuses a range that ends before it starts.
pub fn refuse_reversed(
    start: Option<SimTime>,
    end: Option<SimTime>,
) -> Result<(), Vec<Diagnostic>> {
    match start.zip(end) {
        Some((start, end)) if start > end => {
            let message = format!("--start {start} is after --end {end}");
            Err(vec![Diagnostic::error("bad-option", message).help("change them round")])
        }
        _ => Ok(()),
    }
}

/// How sides are compared.
pub fn options(
    context: &Context,
    args: &ComparisonArgs,
    sampling: Sampling,
) -> Result<Options, Vec<Diagnostic>> {
    refuse_reversed(args.start, args.end)?;
    if sampling == Sampling::Exact && args.tolerance.is_some() {
        let message = "--sampling exact pairs equal times only, and so takes no --tolerance";
        let help = "leave one of them out, or use --sampling nearest";
        return Err(vec![Diagnostic::error("bad-option", message).help(help)]);
    }
    if sampling == Sampling::Interpolate {
        refuse_evo(args)?;
    }
    let bootstrap = args.bootstrap.map(|n_draws| Bootstrap {
        n_draws: n_draws as usize,
        confidence: args.confidence,
        seed: Seed::new(args.seed),
    });
    let is_page = |path: &PathBuf| {
        let end = path.extension().map(|end| end.to_ascii_lowercase());
        end.is_some_and(|end| end == "html" || end == "htm")
    };
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
        angles: BTreeMap::new(),
        units: BTreeMap::new(),
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

/// Where B is interpolated no sample of it is taken, once or twice.
pub fn refuse_evo(args: &ComparisonArgs) -> Result<(), Vec<Diagnostic>> {
    if args.pairing != "evo" {
        return Ok(());
    }
    let message = "--pairing evo takes the nearest sample, and here B is interpolated";
    let help = "leave --pairing out, or use --sampling nearest";
    Err(vec![Diagnostic::error("bad-option", message).help(help)])
}

/// The limits.
pub fn thresholds(args: &ComparisonArgs) -> Result<Vec<Threshold>, Vec<Diagnostic>> {
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

fn phases(context: &Context, args: &ComparisonArgs) -> Result<Vec<Phase>, Vec<Diagnostic>> {
    let Some(path) = &args.phases else { return Ok(Vec::new()) };
    let (phases, findings) = parse_phases(&text(path)?, &path.display().to_string());
    if findings.has_errors() {
        return Err(findings.into_vec());
    }
    context.show(&findings.into_vec());
    Ok(phases)
}

/// New names of keys.
pub fn key_map(path: Option<&Path>) -> Result<KeyMap, Vec<Diagnostic>> {
    let Some(path) = path else { return Ok(KeyMap::default()) };
    let (map, findings) = KeyMap::parse(&text(path)?, &path.display().to_string());
    if findings.has_errors() { Err(findings.into_vec()) } else { Ok(map) }
}

/// A file, whole, as text.
pub fn text(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let bytes = read_bytes(path).map_err(|fault| vec![fault])?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Which of its times a message has.
pub fn stamp(args: &ComparisonArgs) -> Stamp {
    if args.stamp == "log" { Stamp::Log } else { Stamp::Header }
}

/// Reads a side: of a table only what these patterns need, or all of it where there is none; a
/// trajectory under a name.
pub fn read_side(
    args: &ComparisonArgs,
    map: &KeyMap,
    path: &Path,
    object: Option<String>,
    patterns: &[String],
) -> Result<Imported, Vec<Diagnostic>> {
    let load =
        LoadOptions { stamp: stamp(args), n_values_max: N_VALUES_MAX, ..LoadOptions::default() };
    let (wanted, map) = (Selection { patterns: patterns.to_vec() }, map.clone());
    let keep = ColumnFilter::new(move |names| wanted.columns(names, &map));
    let keep = (!patterns.is_empty()).then_some(keep);
    let columns = (!args.columns.is_empty()).then(|| args.columns.clone());
    let time_unit = args.time_unit.as_deref().and_then(TimeUnit::from_name);
    let table = TableOptions { keep, columns, time_unit, ..TableOptions::default() };
    let format = Some(format_of(args, path)?);
    import(path, &ImportOptions { format, load, object, table })
}

/// What a file is. One whose columns somebody names is a table, though its numbers may look like
/// a trajectory.
pub fn format_of(args: &ComparisonArgs, path: &Path) -> Result<Format, Vec<Diagnostic>> {
    let format = Format::detect(path).map_err(|fault| vec![fault])?;
    let is_named = !args.columns.is_empty() && format.is_trajectory();
    Ok(if is_named { Format::Csv } else { format })
}

/// Shows what was found in a side. What times left out is said key by key, later, or refused
/// where somebody wants that.
pub fn shown(
    context: &Context,
    args: &ComparisonArgs,
    side: Imported,
) -> Result<(Recording, Outcome), Vec<Diagnostic>> {
    let mut findings = side.findings;
    let is_of_time = |found: &Diagnostic| matches!(found.code, "time-repeated" | "time-went-back");
    if args.strict_time {
        let faults = findings.kept().iter().filter(|found| is_of_time(found));
        let help = "without --strict-time they are left out, and counted";
        let error = |found: &Diagnostic| Diagnostic::error(found.code, &found.message).help(help);
        let faults: Vec<Diagnostic> = faults.map(error).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
    }
    findings.retain(|found| !is_of_time(found));
    let outcome = context.show_findings(findings, true)?;
    Ok((side.recording, outcome))
}

// --- files -------------------------------------------------------------------------------

/// What a report may be written as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For programs.
    Json,
    /// For spreadsheets.
    Csv,
    /// For issues.
    Markdown,
    /// For people.
    Page,
}

/// Where reports go, and as what; none replaces one of the `sources`, and each can be written.
pub fn report_forms(
    args: &ComparisonArgs,
    sources: &[&Path],
) -> Result<Vec<(PathBuf, Form)>, Vec<Diagnostic>> {
    let mut forms = Vec::new();
    for path in &args.report {
        for source in sources {
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
    refuse_twice(&args.report)?;
    refuse_unwritable(&args.report)?;
    args.plot.iter().try_for_each(|folder| refuse_unwritable_folder(folder))?;
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
    let mut taken = BTreeSet::new();
    for key in &all.compared.keys {
        if let Some(svg) = comparison_svg(key, (all.name_a, all.name_b)) {
            let name = file_name(&key.key, &mut taken);
            write_file(&folder.join(format!("{name}.svg")), svg)?;
        }
    }
    let drawings = headland_report::count(taken.len() as u64, "drawing");
    context.say(&format!("wrote {drawings} to {}", folder.display()));
    Ok(())
}

/// Bytes of a name; many systems allow 255 with the ending.
const NAME_BYTES_MAX: usize = 200;

/// A key as the name of a file: `wrist_0.linear_vel.x`. What no file may be called is written
/// byte by byte as its number, what is too long is cut, and a name that is taken, also in
/// letters of another size, gets a number behind it: two keys are never one file.
fn file_name(key: &str, taken: &mut BTreeSet<String>) -> String {
    let mut out = String::new();
    for c in key.chars() {
        let part = match c {
            '/' => ".".to_string(),
            c if c.is_alphanumeric() || matches!(c, '_' | '-') => c.to_string(),
            c => {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02x}")).collect()
            }
        };
        if out.len() + part.len() > NAME_BYTES_MAX {
            break;
        }
        out += &part;
    }
    let numbered = |n: usize| if n == 1 { out.clone() } else { format!("{out}~{n}") };
    let free = (1..).map(numbered).find(|name| taken.insert(name.to_lowercase()));
    free.expect("numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_a_file_and_no_other_place() {
        let mut taken = BTreeSet::new();
        let mut name = |key: &str| file_name(key, &mut taken);
        assert_eq!(name("wrist_0/linear_vel/x"), "wrist_0.linear_vel.x");
        assert_eq!(name("arm::elbow/../x"), "arm%3a%3aelbow.%2e%2e.x");
    }

    /// Long keys that differ at their ends, keys that differ in the size of a letter, and signs
    /// whose numbers run into the letters behind.
    #[test]
    fn two_keys_are_never_one_file() {
        let long = "robot/".repeat(60);
        let keys = [
            format!("{long}x"),
            format!("{long}y"),
            format!("{}x", "ü:".repeat(120)),
            format!("{}y", "ü:".repeat(120)),
            "Elbow/x".into(),
            "elbow/x".into(),
            ":2".into(),
            "\u{378}".into(),
            "\u{37}8".into(),
        ];
        let mut taken = BTreeSet::new();
        let names: Vec<String> = keys.iter().map(|key| file_name(key, &mut taken)).collect();
        let different: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(different.len(), keys.len(), "{names:?}");
        assert!(names.iter().all(|name| name.len() < 250), "{names:?}");
    }
}
