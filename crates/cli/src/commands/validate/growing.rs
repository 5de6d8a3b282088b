//! `headland validate --live`: rows are compared as they come.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use headland_base::{Diagnostic, SimDuration};
use headland_judge::compare::{Heading, KeyMap, Selection, Series};
use headland_sim::Model;
use headland_validate::experiment::nothing_measured;
use headland_validate::{Experiment, Live, Signal, Stopped, live};

use super::{known_or_refused, moves, options_of, read_beside, read_model};
use crate::args::ValidateArgs;
use crate::comparing::{key_map, stamp};
use crate::context::{Context, Ended, Outcome};
use crate::figures::{Figures, Loss, Standing};
use crate::following::{Next, Rows};
use crate::prepare::NATIVE;
use crate::repeating::without_effect;
use crate::signals::interrupted;

/// Compares rows as they come.
pub(super) fn follow(
    context: &Context,
    args: &ValidateArgs,
    idle_most: Option<SimDuration>,
) -> Ended {
    let engine = headland_engines::find(args.how.engine.as_deref().unwrap_or(NATIVE))?;
    let map = key_map(args.by.map.as_deref())?;
    let (model, settings) = read_model(context, args)?;
    let has_commands = args.command.is_some();
    context.show(&without_effect(&args.how, engine, &model.world, has_commands));
    let options = options_of(args, &model, settings)?;
    let mut around = Experiment::default();
    read_beside(context, args, &model, &mut around)?;
    let stop = interrupted();
    let mut rows = Rows::open(&args.table, stamp(&args.by), idle_most, Arc::clone(&stop))?;
    let mut columns = rows.header()?;
    columns.iter_mut().for_each(|column| column.key = map.renamed(&column.key));
    let (keys, taken) = wanted_columns(context, args, &model, &columns)?;
    let wraps = !args.by.no_wrap;
    let mut live = Live::new(model, (engine.make)(engine), keys, around, options, wraps);
    let mut figures = Figures::new(context);
    let mut numbers = Vec::new();
    let tick = &mut |_| match stop.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let ended = loop {
        match rows.next() {
            Next::Row(time, all) => {
                numbers.clear();
                numbers.extend(taken.iter().map(|column| all[*column]));
                // A message about nothing that is compared.
                if numbers.iter().all(|number| number.is_nan()) {
                    continue;
                }
                if let Err(ended) = live.row_until(time, &numbers, tick) {
                    break Err(ended);
                }
                figures.show(|| standing(&live, &rows));
            }
            Next::Nothing => figures.show(|| standing(&live, &rows)),
            Next::End => break live.finish(tick),
        }
    };
    let broke = match ended {
        Ok(()) | Err(live::Ended::Stopped(Stopped::Interrupted(_))) => None,
        // It had not begun, and there is no figure.
        Err(live::Ended::Refused(faults)) => return Err(faults),
        Err(live::Ended::Stopped(Stopped::Fault(time, fault))) => {
            let message = format!("engine `{}` broke at {time}: {}", engine.name, fault.0);
            Some(Diagnostic::error("engine-fault", message))
        }
    };
    let findings = rows.findings();
    let has_errors = findings.has_errors();
    context.show(&findings.into_vec());
    figures.finish(&standing(&live, &rows));
    // What was compared until then is told all the same.
    if let Some(fault) = broke {
        return Err(vec![fault]);
    }
    let lacking = live.lacking_digits();
    context.show(&lacking);
    let is_any = live.figures().iter().any(|running| running.n > 0);
    if !is_any {
        context.show(&[nothing_measured()]);
    }
    let says_something = is_any && moves(context, live.n_rows() as usize);
    let has_lost = rows.has_lost() || live.n_stray() > 0;
    let is_partial = has_errors || !says_something || !lacking.is_empty() || has_lost;
    Ok(if is_partial { Outcome::Partial } else { Outcome::Passed })
}

fn standing<'l>(live: &'l Live, rows: &Rows) -> Standing<'l> {
    let dropped = live.dropped();
    let loss = |name, n: usize, why| Loss { name, n: n as u64, what: "row", why };
    let mut losses = rows.losses();
    losses.extend([
        loss("duplicate", dropped.n_duplicate, "left out: at the time of the one before"),
        loss("backward", dropped.n_backward, "left out: earlier than the one before"),
        loss("stray", live.n_stray() as usize, "left out: days of steps after the one before"),
    ]);
    let keys = live.keys().iter().map(String::as_str).zip(live.figures()).collect();
    Standing { time: live.latest(), n_rows: live.n_rows(), keys, losses }
}

/// Which columns are compared: their keys, and where they stand.
fn wanted_columns(
    context: &Context,
    args: &ValidateArgs,
    model: &Model,
    columns: &[Heading],
) -> Result<(Vec<String>, Vec<usize>), Vec<Diagnostic>> {
    let selection = Selection { patterns: args.by.key.clone() };
    let keys: Vec<String> = columns.iter().map(|column| column.key.clone()).collect();
    let wanted = selection.columns(&keys, &KeyMap::default());
    let signal = |column: &Heading| Signal {
        key: column.key.clone(),
        series: Series { unit: column.unit, ..Series::default() },
    };
    let signals = columns.iter().zip(wanted).filter(|(_, is_wanted)| *is_wanted);
    let signals = signals.map(|(column, _)| signal(column)).collect();
    let all = Experiment { signals, ..Experiment::default() };
    let known = known_or_refused(context, args, model, all)?;
    let keys: Vec<String> = known.signals.into_iter().map(|signal| signal.key).collect();
    let place = |key: &String| columns.iter().position(|column| column.key == *key);
    let taken = keys.iter().filter_map(place).collect();
    Ok((keys, taken))
}
