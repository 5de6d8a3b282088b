//! `headland fit-noise`: a table of measurements becomes the noise of a detector.
//!
//! The table is `record`'s, the fit is `sense`'s, the picture is `report`'s.

use std::cell::OnceCell;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use headland_base::maths::{PI, sqrt};
use headland_base::{Diagnostic, Seed, names};
use headland_record::csv::{NumberChoice, NumberColumn, read_numbers};
use headland_report::{Align, Ellipse, Scatter, count, scatter, table};
use headland_sense::fit::measured::{Gathering, Measured, Truth};
use headland_sense::fit::{Fit, FitOptions, MOST, Unfit, fit};
use headland_sense::noise::Perception;
use headland_sense::noise::perception::AXES;
use headland_sense::noise::sdf::NamedMixture;
use serde_json::{Value, json};

use crate::args::FitNoiseArgs;
use crate::context::{
    Context, Ended, Outcome, refuse_same, refuse_stdout, refuse_twice, write_file,
};

/// Names of a column that says whether an object was seen, and of one that says how surely.
const FOUND: [&str; 3] = ["found", "detected", "visible"];
const SCORES: [&str; 2] = ["score", "confidence"];

pub fn run(context: &Context, args: &FitNoiseArgs) -> Ended {
    let output = named(&args.table, &args.output, "noise.xml");
    let picture = named(&args.table, &args.picture, "noise.svg");
    for path in [&output, &picture] {
        refuse_stdout(path, "the noise is written to a file")?;
        refuse_same(&args.table, path)?;
    }
    refuse_twice([&output, &picture])?;
    let (axes, measured) = measurements(context, args)?;
    let options = FitOptions {
        n_clusters: args.clusters.map(usize::from),
        most_clusters: usize::from(args.most),
        seed: Seed::new(args.seed).child("fit noise"),
        ..FitOptions::default()
    };
    let found = fit(&measured.points, &options)
        .map_err(|unfit| vec![unfit_words(&unfit, &axes, &measured)])?;
    let axis_names = axes.iter().map(|axis| axis.name.to_string()).collect();
    let mixture = NamedMixture { axes: axis_names, mixture: found.mixture.clone() };
    let (dropout, score) = (measured.dropout(), measured.score);
    let score = score.filter(|score| (0.0..=1.0).contains(&score.mean));
    let perception = Perception { mixture: Some(mixture), dropout, score };
    write_file(&output, perception.to_text())?;
    let title = format!(
        "{}: {}",
        args.table.display(),
        count(found.mixture.clusters().len() as u64, "cluster")
    );
    write_file(&picture, scatter(&title, &panels(&axes, &measured, &found)))?;
    let written = [output.as_path(), picture.as_path()];
    context.print(&match context.json() {
        true => format!("{}\n", as_json(&axes, &measured, &found, &perception, &written)),
        false => in_words(args, &axes, &measured, &found, &perception, &written),
    });
    Ok(Outcome::Passed)
}

/// `captures.csv` → `captures.noise.xml`, here.
fn named(table: &Path, said: &Option<PathBuf>, extension: &str) -> PathBuf {
    let stem = table.file_stem().unwrap_or(table.as_os_str());
    said.clone().unwrap_or_else(|| Path::new(stem).with_extension(extension))
}

/// An axis that is fitted: its name, and the unit people read it in.
struct Axis {
    name: &'static str,
    unit: &'static str,
    /// Units of people in one of SI.
    per_si: f64,
    /// SI in one of what the reader hands on: it heeds a unit in the header, and no option.
    factor: f64,
    /// SI in one of what stands in the table.
    si_per_cell: f64,
}

impl Axis {
    fn new(name: &'static str, column: &NumberColumn, args: &FitNoiseArgs) -> Axis {
        let is_angle = is_angle(name);
        let (unit, per_si) = if is_angle { ("deg", 180.0 / PI) } else { ("mm", 1e3) };
        let said = if is_angle { &args.angle_unit } else { &args.unit };
        let factor = match (column.unit.is_some(), said.as_str()) {
            (true, _) => 1.0,
            (_, "mm") => 1e-3,
            (_, "cm") => 1e-2,
            (_, "deg") => PI / 180.0,
            _ => 1.0,
        };
        Axis { name, unit, per_si, factor, si_per_cell: column.factor * factor }
    }
}

fn is_angle(axis: &str) -> bool {
    matches!(axis, "roll" | "pitch" | "yaw")
}

/// The columns that are used, in the order rows give them.
struct Columns {
    axes: Vec<Axis>,
    has_found: bool,
    has_score: bool,
}

/// The deviations of the table, and what else it says. Errors refuse it: noise that is fitted to
/// half of a table would be believed.
fn measurements(
    context: &Context,
    args: &FitNoiseArgs,
) -> Result<(Vec<Axis>, Measured), Vec<Diagnostic>> {
    let name = args.table.display().to_string();
    let file = File::open(&args.table).map_err(|error| {
        vec![Diagnostic::error("missing-file", format!("cannot open `{name}`: {error}"))]
    })?;
    // The columns are chosen once, before the first row comes.
    let columns: OnceCell<Columns> = OnceCell::new();
    let mut gathering = Gathering::new(0);
    let mut numbers = Vec::new();
    let choose = |all: &[NumberColumn]| {
        let (choice, found) = chosen(args, all)?;
        columns.get_or_init(|| found);
        Ok(choice)
    };
    let (n_rows, findings) = read_numbers(BufReader::new(file), &name, choose, |row| {
        let Some(Columns { axes, has_found, has_score }) = columns.get() else { return };
        let n = axes.len();
        if row.numbers.len() < n {
            return;
        }
        numbers.clear();
        numbers.extend(row.numbers.iter().zip(axes).map(|(x, axis)| x * axis.factor));
        let is_found = !has_found || row.numbers[n] != 0.0;
        let score = has_score.then(|| row.numbers[n + usize::from(*has_found)]);
        if gathering.n_dims() != n {
            gathering = Gathering::with_angles(axes.iter().map(|axis| is_angle(axis.name)));
        }
        gathering.row(row.word, &numbers, is_found, score);
    });
    let has_errors = findings.has_errors();
    let findings = findings.into_vec();
    let Some(Columns { axes, .. }) = columns.into_inner().filter(|_| !has_errors) else {
        return Err(findings);
    };
    context.show(&findings);
    if n_rows == 0 {
        let message = format!("`{name}` has a header and no rows");
        return Err(vec![Diagnostic::error("too-few-rows", message)]);
    }
    let truth = truth(args, &axes)?;
    Ok((axes, gathering.finish(&truth)))
}

/// Which columns are used, and as what.
fn chosen(
    args: &FitNoiseArgs,
    all: &[NumberColumn],
) -> Result<(NumberChoice, Columns), Diagnostic> {
    let last =
        |column: &NumberColumn| column.name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let find = |name: &str| all.iter().position(|column| column.name == name);
    let missing = |name: &str| {
        let known = all.iter().map(|column| column.name.as_str());
        let message = format!("no column is called `{name:.60}`");
        Diagnostic::error("unknown-column", message).help_maybe(names::suggestion(name, known))
    };
    let mut chosen: Vec<(&'static str, usize)> = Vec::new();
    for wish in &args.columns {
        let (axis, name) = wish.split_once('=').unwrap_or((wish, wish));
        let i = find(name).ok_or_else(|| missing(name))?;
        let axis = if wish.contains('=') { axis.to_lowercase() } else { last(&all[i]) };
        let Some(axis) = AXES.into_iter().find(|known| *known == axis) else {
            let message = format!("`{axis:.60}` is no axis of a pose");
            let help = format!("say which it is: --columns x={name}; axes are {}", AXES.join(", "));
            return Err(Diagnostic::error("unknown-axis", message).help(help));
        };
        if chosen.iter().any(|(taken, _)| *taken == axis) {
            let message = format!("two columns are to be the axis `{axis}`");
            return Err(Diagnostic::error("axis-repeated", message));
        }
        chosen.push((axis, i));
    }
    if args.columns.is_empty() {
        let by_name =
            |axis: &'static str| Some((axis, all.iter().position(|column| last(column) == axis)?));
        chosen = AXES.into_iter().filter_map(by_name).collect();
    }
    if chosen.is_empty() {
        let names: Vec<&str> = all.iter().map(|column| column.name.as_str()).take(20).collect();
        let message = "no column is called x, y, z, roll, pitch or yaw";
        let help = "say which columns to use: --columns x=NAME,y=NAME";
        return Err(Diagnostic::error("unknown-column", message)
            .note(format!("its columns are `{:.200}`", names.join("`, `")))
            .help(help));
    }
    let word = args.by.as_deref().map(|by| find(by).ok_or_else(|| missing(by))).transpose()?;
    let one_of = |names: &[&str]| all.iter().position(|c| names.contains(&last(c).as_str()));
    let (found, score) = (one_of(&FOUND), one_of(&SCORES));
    let numbers = chosen.iter().map(|(_, i)| *i).chain(found).chain(score).collect();
    let axes = chosen.iter().map(|(axis, i)| Axis::new(axis, &all[*i], args)).collect();
    let columns = Columns { axes, has_found: found.is_some(), has_score: score.is_some() };
    Ok((NumberChoice { numbers, word, may_have_words: false }, columns))
}

fn truth(args: &FitNoiseArgs, axes: &[Axis]) -> Result<Truth, Vec<Diagnostic>> {
    match args.truth.as_str() {
        "mean" => Ok(Truth::Mean),
        "zero" => Ok(Truth::Given(vec![0.0; axes.len()])),
        text => {
            let numbers: Option<Vec<f64>> =
                text.split(',').map(|word| word.trim().parse().ok()).collect();
            let numbers = numbers
                .filter(|all| all.len() == axes.len() && all.iter().all(|x: &f64| x.is_finite()));
            let scaled = |numbers: Vec<f64>| {
                numbers.iter().zip(axes).map(|(x, axis)| x * axis.si_per_cell).collect()
            };
            numbers.map(|numbers| Truth::Given(scaled(numbers))).ok_or_else(|| {
                let names: Vec<&str> = axes.iter().map(|axis| axis.name).collect();
                let message = format!("`{text:.60}` is not the truth of {}", names.join(", "));
                let help = "`mean`, `zero`, or one number per column, with commas between";
                vec![Diagnostic::error("bad-truth", message).help(help)]
            })
        }
    }
}

fn unfit_words(unfit: &Unfit, axes: &[Axis], measured: &Measured) -> Diagnostic {
    match unfit {
        Unfit::TooFew { needed } => {
            let message = format!(
                "{} is too few for {}: {needed} are the least",
                count(measured.points.len() as u64, "measurement"),
                match axes.len() {
                    1 => "1 axis".to_string(),
                    n => format!("{n} axes"),
                }
            );
            Diagnostic::error("too-few-rows", message)
        }
        Unfit::TooLarge { dim } => {
            let message = format!("`{}` has a number beyond {MOST:e}", axes[*dim].name);
            Diagnostic::error("number-too-large", message)
                .help("where nothing was measured, leave the cell empty")
        }
        Unfit::Constant { dim } => {
            let message = format!("`{}` is the same in every row", axes[*dim].name);
            Diagnostic::error("constant-column", message)
                .help("leave it out: name the others with --columns")
        }
        Unfit::Collapsed { n_clusters } => {
            let message = format!("{n_clusters} clusters are more than the measurements hold");
            Diagnostic::error("too-many-clusters", message).help("a smaller --clusters, or none")
        }
    }
}

/// Pairs of axes that are drawn; a single axis over the number of its row.
fn panels(axes: &[Axis], measured: &Measured, found: &Fit) -> Vec<Scatter> {
    let label = |d: usize| format!("{} [{}]", axes[d].name, axes[d].unit);
    let n = axes.len();
    if n == 1 {
        let points = measured.points.iter().enumerate();
        let points = points.map(|(i, p)| (i as f64, p[0] * axes[0].per_si)).collect();
        let labels = ("measurement".to_string(), label(0));
        return vec![Scatter { labels, points, ellipses: Vec::new() }];
    }
    let pairs: &[(usize, usize)] = if n == 2 { &[(0, 1)] } else { &[(0, 1), (0, 2), (1, 2)] };
    let panel = |(a, b): &(usize, usize)| {
        let (a, b) = (*a, *b);
        let (sa, sb) = (axes[a].per_si, axes[b].per_si);
        let ellipse = |c: &headland_sense::noise::Cluster| Ellipse {
            mean: (c.mean[a] * sa, c.mean[b] * sb),
            covariance: (
                c.covariance[a * n + a] * sa * sa,
                c.covariance[a * n + b] * sa * sb,
                c.covariance[b * n + b] * sb * sb,
            ),
            weight: c.weight,
        };
        Scatter {
            labels: (label(a), label(b)),
            points: measured.points.iter().map(|p| (p[a] * sa, p[b] * sb)).collect(),
            ellipses: found.mixture.clusters().iter().map(ellipse).collect(),
        }
    };
    pairs.iter().map(panel).collect()
}

fn in_words(
    args: &FitNoiseArgs,
    axes: &[Axis],
    measured: &Measured,
    found: &Fit,
    perception: &Perception,
    written: &[&Path],
) -> String {
    let names: Vec<&str> = axes.iter().map(|axis| axis.name).collect();
    let mut out = format!(
        "{}: {}, {} of {}\n",
        args.table.display(),
        count(measured.n_rows as u64, "row"),
        count((measured.n_rows - measured.n_lost) as u64, "measurement"),
        names.join(", ")
    );
    if measured.every > 1 {
        out += &format!("one measurement of {} is fitted\n", measured.every);
    }
    if args.truth == "mean" && measured.means.len() == 1 {
        let said = axes
            .iter()
            .zip(&measured.means[0].1)
            .map(|(axis, mean)| format!("{} {:.4} {}", axis.name, mean * axis.per_si, axis.unit));
        out +=
            &format!("the mean is taken for the truth: {}\n", said.collect::<Vec<_>>().join(", "));
    } else if args.truth == "mean" {
        let n = count(measured.means.len() as u64, "object");
        out += &format!("the mean of each of {n} is taken for the truth\n");
    }
    out += &format!("\n{}", clusters_table(axes, found));
    let tried: Vec<String> =
        found.tried.iter().map(|t| format!("{}: {:.1}", t.n_clusters, t.bic)).collect();
    out += &format!("\nBIC by number of clusters: {}\n", tried.join(" · "));
    if measured.n_lost > 0 {
        let (low, high) = measured.dropout_between();
        let dropout = perception.dropout;
        out += &format!(
            "lost: {:.2} % ({:.2} to {:.2} % at 95 %)",
            100.0 * dropout.rate,
            100.0 * low,
            100.0 * high
        );
        out += &match dropout.burst {
            Some(burst) => format!(", {burst:.1} in a row\n"),
            None => ", each for itself\n".to_string(),
        };
    }
    if let Some(score) = perception.score {
        out += &format!("score: {:.3} ± {:.3}\n", score.mean, score.stddev);
    }
    let written: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    out + &format!("written: {}\n", written.join(", "))
}

/// One row per cluster; ± is a standard error by resampling.
fn clusters_table(axes: &[Axis], found: &Fit) -> String {
    let n = axes.len();
    let mut header = vec!["cluster".to_string(), "share [%]".to_string()];
    for axis in axes {
        header.push(format!("{} [{}]", axis.name, axis.unit));
        header.push("deviation".to_string());
    }
    if n == 2 {
        header.push("correlation".to_string());
    }
    let with = |value: f64, error: Option<f64>, scale: f64| match error {
        Some(error) => format!("{:.4} ± {:.4}", value * scale, error * scale),
        None => format!("{:.4}", value * scale),
    };
    let rows: Vec<Vec<String>> = found
        .mixture
        .clusters()
        .iter()
        .enumerate()
        .map(|(i, cluster)| {
            let errors = found.errors.get(i);
            let share = match errors {
                Some(errors) => {
                    format!("{:.1} ± {:.1}", 100.0 * cluster.weight, 100.0 * errors.weight)
                }
                None => format!("{:.1}", 100.0 * cluster.weight),
            };
            let mut row = vec![(i + 1).to_string(), share];
            for (d, axis) in axes.iter().enumerate() {
                let deviation = sqrt(cluster.covariance[d * n + d]);
                row.push(with(cluster.mean[d], errors.map(|e| e.mean[d]), axis.per_si));
                row.push(with(deviation, errors.map(|e| e.stddev[d]), axis.per_si));
            }
            if n == 2 {
                let [xx, xy, _, yy] = cluster.covariance[..] else { return row };
                row.push(format!("{:.2}", xy / sqrt(xx * yy)));
            }
            row
        })
        .collect();
    let header: Vec<(&str, Align)> =
        header.iter().map(|name| (name.as_str(), Align::Right)).collect();
    table(&header, &rows)
}

fn as_json(
    axes: &[Axis],
    measured: &Measured,
    found: &Fit,
    perception: &Perception,
    written: &[&Path],
) -> Value {
    let clusters = found.mixture.clusters().iter().enumerate().map(|(i, cluster)| {
        let errors = found.errors.get(i);
        json!({
            "weight": cluster.weight, "mean": cluster.mean, "covariance": cluster.covariance,
            "weight_error": errors.map(|e| e.weight), "mean_error": errors.map(|e| &e.mean),
            "stddev_error": errors.map(|e| &e.stddev),
        })
    });
    let tried = found.tried.iter().map(|tried| {
        json!({
            "clusters": tried.n_clusters, "log_likelihood": tried.log_likelihood,
            "bic": tried.bic,
        })
    });
    json!({
        "axes": axes.iter().map(|axis| axis.name).collect::<Vec<_>>(),
        "rows": measured.n_rows, "lost": measured.n_lost, "fitted": measured.points.len(),
        "means": measured.means, "clusters": clusters.collect::<Vec<_>>(),
        "log_likelihood": found.log_likelihood, "tried": tried.collect::<Vec<_>>(),
        "dropout": { "rate": perception.dropout.rate, "burst": perception.dropout.burst },
        "score": perception.score.map(|s| json!({ "mean": s.mean, "stddev": s.stddev })),
        "files": written,
    })
}
