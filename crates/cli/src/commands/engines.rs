//! `headland engines`: which physics engines there are, made from the one list of `engines`.

use headland_engines::ENGINES;
use headland_sim::{EngineEntry, Found, Housing, Unusable};
use serde_json::{Value, json};

use crate::args::EnginesArgs;
use crate::card;
use crate::chosen::{PATIENCE, look_for};
use crate::context::{Context, Ended, Outcome};

pub fn run(context: &Context, args: &EnginesArgs) -> Ended {
    if args.report_card {
        return card::run(context, args);
    }
    let found = look_for(&ENGINES.iter().collect::<Vec<_>>(), PATIENCE);
    let listed = ENGINES.iter().zip(&found);
    let text = if context.json() {
        let engines: Vec<Value> = listed.map(|(entry, found)| entry_json(entry, found)).collect();
        format!("{}\n", Value::from(engines))
    } else {
        listed.map(|(entry, found)| describe(entry, found)).collect()
    };
    context.print(&text);
    context.say(
        "engines of your own: `--engine ./my_engine.py`, see the book, \"Engines of your own\"",
    );
    Ok(Outcome::Passed)
}

fn entry_json(entry: &EngineEntry, found: &Result<Found, Unusable>) -> Value {
    let (version, place, missing) = match found {
        Ok(found) => (Some(&found.version), Some(&found.place), None),
        Err(unusable) => (None, None, Some(&unusable.why)),
    };
    json!({
        "name": entry.name, "version": version, "place": place, "missing": missing,
        "housing": housing(entry.housing), "summary": entry.summary, "limits": entry.limits,
        "install": entry.install,
    })
}

fn housing(housing: Housing) -> &'static str {
    match housing {
        Housing::Embedded => "embedded",
        Housing::Library => "library",
        Housing::Program => "program",
    }
}

fn describe(entry: &EngineEntry, found: &Result<Found, Unusable>) -> String {
    let mut out = match found {
        Ok(found) => format!("{} {}: {}\n", entry.name, found.version, entry.summary),
        Err(unusable) => {
            let word = if unusable.is_there { "does not work" } else { "is not there" };
            format!("{} ({word}): {}\n", entry.name, entry.summary)
        }
    };
    out += &match found {
        Ok(found) => format!("  found: {}\n", found.place),
        Err(unusable) => format!("  why not: {}\n", unusable.why.replace('\n', "\n    ")),
    };
    out += &format!("  to get it: {}\n", entry.install);
    for limit in entry.limits {
        out += &format!("  - {limit}\n");
    }
    out
}
