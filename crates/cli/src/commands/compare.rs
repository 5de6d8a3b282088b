//! `headland compare`: how far one recording is from another, key by key.
//!
//! Reads both sides, asks `judge::compare`, and writes what `report` makes of it.

use std::path::Path;

use headland_base::Diagnostic;
use headland_judge::compare::{KeyMap, Sampling, Side};
use headland_record::{Format, Recording};

use crate::args::CompareArgs;
use crate::comparing::{Sides, key_map, options, read_side, report_forms, shown, tell, thresholds};
use crate::context::{Context, Ended, Outcome};

/// What a trajectory is called where neither side has a name for it.
pub const PATH: &str = "trajectory";

pub fn run(context: &Context, args: &CompareArgs) -> Ended {
    let by = &args.by;
    let thresholds = thresholds(by)?;
    let forms = report_forms(by, &[args.a.as_path(), args.b.as_path()])?;
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
    let format = |path: &Path| Format::detect(path).map_err(|fault| vec![fault]);
    let is_path = [format(&args.a)?.is_trajectory(), format(&args.b)?.is_trajectory()];
    let by = &args.by;
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
    let ((a, of_a), (b, of_b)) = (shown(context, a)?, shown(context, b)?);
    Ok(([a, b], of_a.max(of_b)))
}
