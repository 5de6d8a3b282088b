//! `headland engines`: which physics engines there are, made from the one list of `engines`.

use headland_engines::ENGINES;
use serde_json::{Value, json};

use crate::args::EnginesArgs;
use crate::context::{Context, Ended, Outcome};

pub fn run(context: &Context, _: &EnginesArgs) -> Ended {
    let text = if context.json() {
        let engines: Vec<Value> = ENGINES
            .iter()
            .map(|entry| {
                json!({
                    "name": entry.name, "version": entry.version(), "summary": entry.summary,
                    "limits": entry.limits, "install": entry.install,
                })
            })
            .collect();
        format!("{}\n", Value::from(engines))
    } else {
        ENGINES.iter().map(describe).collect()
    };
    context.print(&text);
    Ok(Outcome::Passed)
}

fn describe(entry: &headland_sim::EngineEntry) -> String {
    let version = entry.version().unwrap_or_else(|| "not found".to_string());
    let limits: String = entry.limits.iter().map(|limit| format!("  - {limit}\n")).collect();
    format!("{} {version}: {}\n{limits}  {}\n", entry.name, entry.summary, entry.install)
}
