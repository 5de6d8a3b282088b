//! `headland compare`: how far one recording is from another, key by key.
//!
//! Reads both sides, asks `judge::compare`, and writes what `report` makes of it.

use std::path::Path;

use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_judge::compare::{Following, KeyMap, Sampling, Side, Unmatched, no_pair};
use headland_record::Recording;

use crate::args::CompareArgs;
use crate::comparing::{
    Sides, format_of, key_map, options, read_side, report_forms, shown, stamp, tell, thresholds,
};
use crate::context::{Context, Ended, Outcome};
use crate::figures::{Figures, Loss, Standing};
use crate::following::{Next, Rows};
use crate::signals::interrupted;

/// What a trajectory is called where neither side has a name for it.
pub const PATH: &str = "trajectory";

pub fn run(context: &Context, args: &CompareArgs) -> Ended {
    if let Some(idle_most) = args.live {
        return follow(context, args, idle_most);
    }
    let by = &args.by;
    let thresholds = thresholds(by)?;
    let sources = [Some(&args.a), Some(&args.b), by.map.as_ref(), by.phases.as_ref()];
    let sources: Vec<&Path> = sources.into_iter().flatten().map(|path| path.as_path()).collect();
    let forms = report_forms(by, &sources)?;
    let map = key_map(by.map.as_deref())?;
    let options = options(context, by, sampling(&args.sampling))?;
    let ([a, b], read) = read_sides(context, args, &map)?;
    let (mut side_a, mut side_b) = (Side::new(&a, &map), Side::new(&b, &map));
    if args.relative {
        (side_a, side_b) = (side_a.from_its_start(), side_b.from_its_start());
    }
    side_b = side_b.shifted(by.t_offset.unwrap_or_default());
    let (name_a, name_b) = (args.a.display().to_string(), args.b.display().to_string());
    let sides =
        Sides { a: side_a, b: side_b, names: (&name_a, &name_b), made: &[], is_quiet: false };
    Ok(read.max(tell(context, by, &options, (&forms, &thresholds), sides)?))
}

/// Compares rows of B as they come.
fn follow(context: &Context, args: &CompareArgs, idle_most: Option<SimDuration>) -> Ended {
    let by = &args.by;
    let map = key_map(by.map.as_deref())?;
    let options = options(context, by, sampling(&args.sampling))?;
    let a = read_side(by, &map, &args.a, by.object.clone(), &by.key)?;
    let (a, read) = shown(context, by, a)?;
    let mut side = Side::new(&a, &map);
    if args.relative {
        side = side.from_its_start();
    }
    let mut rows = Rows::open(&args.b, stamp(by), idle_most, interrupted())?;
    let mut columns = rows.header()?;
    columns.iter_mut().for_each(|column| column.key = map.renamed(&column.key));
    let mut following = Following::new(&side, &columns, &options)?;
    let mut figures = Figures::new(context);
    let (mut first, mut span) = (None, None::<(SimTime, SimTime)>);
    loop {
        match rows.next() {
            Next::Row(time, numbers) => {
                let start = SimTime::ZERO - *first.get_or_insert(time);
                let shift = if args.relative { start } else { SimDuration::ZERO };
                let time = time + shift + by.t_offset.unwrap_or_default();
                span = Some(span.map_or((time, time), |(a, b)| (a.min(time), b.max(time))));
                following.row(time, &numbers);
            }
            Next::Nothing => {}
            Next::End => break,
        }
        figures.show(|| standing(&following, &rows));
    }
    following.finish();
    let findings = rows.findings();
    let has_errors = findings.has_errors();
    context.show(&findings.into_vec());
    figures.finish(&standing(&following, &rows));
    let lacking = following.lacking_digits();
    context.show(&lacking);
    let is_any = following.figures().any(|(_, running)| running.n > 0);
    if !is_any {
        context.show(&[no_pair("no sample that came has one of A", side.span(), span)]);
    }
    let is_partial = has_errors || !is_any || !lacking.is_empty() || rows.has_lost();
    Ok(if is_partial { read.max(Outcome::Partial) } else { read })
}

fn standing<'f>(following: &'f Following, rows: &Rows) -> Standing<'f> {
    let (Unmatched { n_a, n_b }, dropped) = (following.unmatched(), following.dropped());
    let loss = |name, n: u64, why| Loss { name, n, what: "sample", why };
    let mut losses = rows.losses();
    losses.extend([
        loss("unmatched_a", n_a, "of A in no pair"),
        loss("unmatched_b", n_b, "of B in no pair"),
        loss(
            "duplicate",
            dropped.n_duplicate as u64,
            "of B left out: at the time of the one before",
        ),
        loss("backward", dropped.n_backward as u64, "of B left out: earlier than the one before"),
        loss("not_finite", dropped.n_not_finite as u64, "of B left out: not finite"),
    ]);
    let keys = following.figures().collect();
    Standing { time: following.latest(), n_rows: following.n_rows(), keys, losses }
}

/// What `--sampling` says.
pub fn sampling(word: &str) -> Sampling {
    match word {
        "exact" => Sampling::Exact,
        "interp" => Sampling::Interpolate,
        _ => Sampling::Nearest,
    }
}

/// Reads A and B, each on a thread of its own, unless one has to lend the other a name.
fn read_sides(
    context: &Context,
    args: &CompareArgs,
    map: &KeyMap,
) -> Result<([Recording; 2], Outcome), Vec<Diagnostic>> {
    let by = &args.by;
    let is_path =
        [format_of(by, &args.a)?.is_trajectory(), format_of(by, &args.b)?.is_trajectory()];
    let read = |path: &Path, object: Option<String>| read_side(by, map, path, object, &by.key);
    let named = |other: &Recording| match &by.object {
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
            let name = is_both.then(|| by.object.clone().unwrap_or(PATH.to_string()));
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
    let ((a, of_a), (b, of_b)) = (shown(context, by, a)?, shown(context, by, b)?);
    Ok(([a, b], of_a.max(of_b)))
}
