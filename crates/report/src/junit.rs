//! JUnit XML, the form continuous integration reads: a suite per test, a case per recording.
//!
//! Red is a failure. An error and what was not judged are errors, and so is what is not
//! decided: a case that is only skipped would pass for a success.

use headland_judge::{ActionError, Verdict};

use crate::explained::{margin_words, one};
use crate::markup::escaped;
use crate::units::count;
use crate::verdicts::{Cell, Judged, Matrix, Row, Sureness};

/// The whole document.
pub fn junit(matrix: &Matrix) -> String {
    let suites: String = matrix.rows.iter().map(|row| suite(matrix, row)).collect();
    let (n, n_failures, n_errors) = counts(matrix.rows.iter().flat_map(|row| &row.cells));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"headland\" tests=\"{n}\" failures=\"{n_failures}\" errors=\"{n_errors}\">\n\
         {suites}</testsuites>\n"
    )
}

fn counts<'a>(cells: impl Iterator<Item = &'a Cell>) -> (usize, usize, usize) {
    cells.fold((0, 0, 0), |(n, n_failures, n_errors), cell| match cell.verdict() {
        Some(Verdict::Green) => (n + 1, n_failures, n_errors),
        Some(Verdict::Red) => (n + 1, n_failures + 1, n_errors),
        Some(Verdict::Inconclusive | Verdict::Error) | None => (n + 1, n_failures, n_errors + 1),
    })
}

fn suite(matrix: &Matrix, row: &Row) -> String {
    let (n, n_failures, n_errors) = counts(row.cells.iter());
    let test = escaped(&row.test);
    let cases = matrix.recordings.iter().zip(&row.cells);
    let cases: String = cases.map(|(recording, cell)| case(&row.test, recording, cell)).collect();
    format!(
        "  <testsuite name=\"{test}\" tests=\"{n}\" failures=\"{n_failures}\" errors=\"{n_errors}\" \
         skipped=\"0\">\n{cases}  </testsuite>\n"
    )
}

/// What went wrong on the way, whatever the verdict.
fn system_out(judged: &Judged) -> String {
    let said = judged.judgement.errors.iter().map(|error| {
        let times = count(error.count, "time");
        let place = judged.code.place(error.site).label();
        let help = error.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        let ActionError { words, first, path, .. } = error;
        format!("action error at {place}, {times}, first at {first} in {path}: {words}{help}\n")
    });
    let said: String = said.collect();
    if said.is_empty() {
        return said;
    }
    format!("      <system-out>{}</system-out>\n", escaped(&said))
}

fn case(test: &str, recording: &str, cell: &Cell) -> String {
    let names = (test, recording);
    let (test, recording) = (escaped(test), escaped(recording));
    let inside = match cell {
        Cell::Judged(judged) => properties(judged) + &fault(judged, names) + &system_out(judged),
        Cell::Missing(why) => {
            format!("      <error type=\"missing\" message=\"{}\"/>\n", escaped(why))
        }
    };
    format!("    <testcase classname=\"{test}\" name=\"{recording}\">\n{inside}    </testcase>\n")
}

fn properties(judged: &Judged) -> String {
    let mut known = vec![
        ("verdict", judged.judgement.verdict.word().to_string()),
        ("time_secs", judged.judgement.time.secs().to_string()),
        ("action_errors", judged.judgement.n_errors.to_string()),
    ];
    if let Sureness::AtLeast(amount) = &judged.sureness {
        known.push(("margin_at_least", amount.to_string()));
    }
    if let Sureness::Margin(margin) = &judged.sureness {
        known.push(("margin", margin.amount.to_string()));
        known.push(("margin_is_exact", margin.is_exact.to_string()));
        known.push(("margin_unit", margin.unit.to_string()));
    }
    let properties = known.iter().map(|(name, value)| {
        format!("        <property name=\"{name}\" value=\"{}\"/>\n", escaped(value))
    });
    format!("      <properties>\n{}      </properties>\n", properties.collect::<String>())
}

fn fault(judged: &Judged, (test, recording): (&str, &str)) -> String {
    let judgement = &judged.judgement;
    let element = match judgement.verdict {
        Verdict::Green => return String::new(),
        Verdict::Red => "failure",
        Verdict::Inconclusive | Verdict::Error => "error",
    };
    let word = judgement.verdict.word();
    let message = format!("{word} at {}: {}", judgement.time, judgement.reason);
    let roots = judgement.roots.iter().map(|root| {
        let word = root.verdict.word();
        format!("{} is {word} at {}: {}\n", root.path, root.time, root.reason)
    });
    let mut text: String = roots.collect();
    for explanation in &judged.explanations {
        text += &one(judged, explanation, test, recording);
    }
    if let Some(words) = margin_words(judged) {
        text += &format!("{words}\n");
    }
    format!(
        "      <{element} type=\"{word}\" message=\"{}\">{}</{element}>\n",
        escaped(&message),
        escaped(&text)
    )
}
