//! Verdicts for programs: one object, tests and recordings in the order given.

use headland_base::Place;
use headland_judge::{Margin, RootVerdict};
use serde_json::{Value, json};

use crate::verdicts::{Cell, Judged, Matrix, Row, Spot, Sureness};

/// The whole matrix.
pub fn verdicts_json(matrix: &Matrix) -> Value {
    let results = matrix.cells().map(|(row, recording, cell)| {
        let mut out = json!({
            "test": row.test, "recording": recording, "verdict": cell.verdict().map(|v| v.word()),
        });
        let more = match cell {
            Cell::Judged(judged) => judged_json(judged),
            Cell::Missing(why) => json!({ "reason": why }),
        };
        if let (Some(out), Value::Object(more)) = (out.as_object_mut(), more) {
            out.extend(more);
        }
        out
    });
    let results: Vec<Value> = results.collect();
    json!({
        "tests": matrix.rows.iter().map(row_json).collect::<Vec<_>>(),
        "recordings": matrix.recordings,
        "results": results,
    })
}

fn row_json(row: &Row) -> Value {
    let mut out = json!({ "test": row.test });
    // A file of formulas has nothing to reach.
    if let Some(covered) = row.coverage.as_ref().filter(|covered| covered.n_parts > 0) {
        out["coverage"] = json!({
            "reached": covered.n_reached, "parts": covered.n_parts,
            "missed": covered.missed.iter().map(spot_json).collect::<Vec<_>>(),
        });
    }
    if let Some(survived) = &row.survivors {
        out["mutation"] = json!({
            "tried": survived.n_tried,
            "unnoticed": survived.unnoticed.iter().map(spot_json).collect::<Vec<_>>(),
        });
    }
    out
}

fn spot_json(spot: &Spot) -> Value {
    json!({ "what": spot.what, "place": place_json(&spot.place) })
}

fn place_json(place: &Place) -> Value {
    let (line, column) = place.source.line_column(place.span.start);
    json!({ "file": place.source.path, "line": line, "column": column })
}

fn judged_json(judged: &Judged) -> Value {
    let judgement = &judged.judgement;
    let place = |site| place_json(&judged.code.place(site));
    let errors = judgement.errors.iter().map(|error| {
        json!({
            "place": place(error.site), "message": error.words, "help": error.help,
            "first_secs": error.first.secs(), "path": error.path, "count": error.count,
        })
    });
    let mut out = json!({
        "reason": judgement.reason,
        "time_secs": judgement.time.secs(),
        "snapshots": judgement.n_snapshots,
        "roots": judgement.roots.iter().map(root_json).collect::<Vec<_>>(),
        "action_errors": errors.collect::<Vec<_>>(),
        "margin": match &judged.sureness {
            Sureness::Margin(margin) => margin_json(judged, margin),
            // No flip was found, and below this none can be.
            Sureness::AtLeast(amount) => json!({ "amount": null, "at_least": amount }),
            Sureness::NotAsked | Sureness::Unshakable => Value::Null,
        },
    });
    if !judged.explanations.is_empty() {
        out["explanations"] = judged.explanations.iter().map(|e| explanation(judged, e)).collect();
    }
    out
}

fn root_json(root: &RootVerdict) -> Value {
    // A robustness that is not finite has no number in JSON.
    json!({
        "name": root.name, "verdict": root.verdict.word(), "time_secs": root.time.secs(),
        "path": root.path, "reason": root.reason,
        "robustness": root.robustness.filter(|r| r.is_finite()),
    })
}

fn margin_json(judged: &Judged, margin: &Margin) -> Value {
    json!({
        "amount": margin.amount, "exact": margin.is_exact, "unit": margin.unit,
        "way": if margin.is_harder { "harder" } else { "easier" },
        "flips_to": margin.flips_to.word(), "time_secs": margin.time.secs(),
        "place": margin.site.map(|site| place_json(&judged.code.place(site))),
        "comparison": margin.site.map(|site| judged.code.text(site)),
    })
}

fn explanation(judged: &Judged, explanation: &headland_judge::Explanation) -> Value {
    let lines = explanation.lines.iter().map(|line| {
        json!({
            "depth": line.depth, "text": line.text, "value": line.value,
            "time_secs": line.time.map(|t| t.secs()),
            "place": place_json(&judged.code.place(line.site)),
        })
    });
    let stretch = explanation.stretch.as_ref().map(|stretch| {
        let times = &judged.scene.times()[stretch.clone()];
        json!({
            "snapshots": times.len(),
            "start_secs": times.first().map(|t| t.secs()),
            "end_secs": times.last().map(|t| t.secs()),
            "start_ns": times.first().map(|t| t.nanos()),
            "end_ns": times.last().map(|t| t.nanos()),
        })
    });
    json!({
        "root": explanation.root, "headline": explanation.headline,
        "time_secs": explanation.time.secs(), "lines": lines.collect::<Vec<_>>(),
        "stretch": stretch,
    })
}
