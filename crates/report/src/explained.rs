//! Verdicts in more words: why red, what went wrong on the way, what was never reached.

use headland_base::{Diagnostic, SimTime};
use headland_judge::code::Code;
use headland_judge::{ActionError, Explanation, RootVerdict, Verdict};

use crate::units::{count, quantity};
use crate::verdicts::{Cell, Covered, Judged, Matrix, Spot, Sureness, Survived};

/// Coverage of a file of formulas.
const NO_PARTS: &str = "formulas only, no states and transitions to reach";

/// Why what is red is red, and why formulas are not decided.
pub fn explained(matrix: &Matrix) -> String {
    let mut out = String::new();
    for (row, recording, cell) in matrix.cells() {
        let Cell::Judged(judged) = cell else { continue };
        if judged.explanations.is_empty() {
            continue;
        }
        out += &format!("\n{} on {recording}\n", row.test);
        for explanation in &judged.explanations {
            out += &one(judged, explanation, &row.test, recording);
        }
        if let Some(words) = margin_words(judged) {
            out += &format!("  {words}\n");
        }
    }
    out
}

/// How much of each test was reached, and what was not.
pub fn reached(matrix: &Matrix) -> String {
    let known = matrix.rows.iter().filter_map(|row| Some((row, row.coverage.as_ref()?)));
    let said = known.map(|(row, Covered { n_reached, n_parts, missed })| {
        if *n_parts == 0 {
            return format!("\n{}: {NO_PARTS}\n", row.test);
        }
        let head = format!("{}: {n_reached} of {n_parts} states and transitions", row.test);
        format!("\n{head} reached\n{}", spots(missed, "never reached: "))
    });
    said.collect()
}

/// How many small changes of each test were noticed, and which were not.
pub fn noticed(matrix: &Matrix) -> String {
    let known = matrix.rows.iter().filter_map(|row| Some((row, row.survivors.as_ref()?)));
    let said = known.map(|(row, Survived { n_tried, unnoticed })| {
        let n_noticed = n_tried - unnoticed.len();
        let changes = count(*n_tried as u64, "small change");
        let head = format!("{}: {n_noticed} of {changes} noticed", row.test);
        format!("\n{head}\n{}", spots(unnoticed, "nobody notices: "))
    });
    said.collect()
}

fn spots(spots: &[Spot], before: &str) -> String {
    let lines =
        spots.iter().map(|spot| format!("  {}: {before}{}\n", spot.place.label(), spot.what));
    lines.collect()
}

/// Why one root is red.
pub(crate) fn one(
    judged: &Judged,
    explanation: &Explanation,
    test: &str,
    recording: &str,
) -> String {
    let Explanation { headline, time, lines, stretch, .. } = explanation;
    let root = judged.judgement.roots.iter().find(|root| root.name == explanation.root);
    let by = root.map_or(String::new(), robustness);
    let mut out = format!("  {headline}, at {time}{by}\n");
    let places: Vec<String> = lines.iter().map(|l| judged.code.place(l.site).label()).collect();
    let texts: Vec<String> =
        lines.iter().map(|line| format!("{}{}", "  ".repeat(line.depth), line.text)).collect();
    let width = |all: &[String]| all.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let (place_width, text_width) = (width(&places), width(&texts));
    for ((line, place), text) in lines.iter().zip(&places).zip(&texts) {
        let when = line.time.map_or(String::new(), |time| format!("  at {time}"));
        let value = &line.value;
        let line = format!("    {place:<place_width$}  {text:<text_width$}  {value}{when}");
        out += line.trim_end();
        out += "\n";
    }
    if let Some(stretch) = stretch {
        let times = &judged.scene.times()[stretch.clone()];
        let (Some(from), Some(to)) = (times.first(), times.last()) else { return out };
        let snapshots = count(times.len() as u64, "snapshot");
        out += &format!("  the same red with {snapshots} alone, {from} to {to}:\n");
        out += &format!("    {}\n", command(test, recording, *from, *to));
    }
    out
}

/// The command that judges a stretch alone, as a shell takes it.
fn command(test: &str, recording: &str, from: SimTime, to: SimTime) -> String {
    // A name that begins with a dash would be taken for an option.
    let named = |name: &str| match name.starts_with('-') {
        true => quoted(&format!("./{name}")),
        false => quoted(name),
    };
    // A negative time too, unless it is tied to its option.
    let (test, recording, from, to) = (named(test), named(recording), secs(from), secs(to));
    format!("headland test {test} --on {recording} --start={from} --end={to}")
}

/// `1.42`: seconds with every nanosecond and no more digits than that takes.
fn secs(time: SimTime) -> String {
    let (sign, nanos) = (if time.nanos() < 0 { "-" } else { "" }, time.nanos().unsigned_abs());
    let text = format!("{sign}{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A word of a command line, in quotes where a POSIX shell would read it otherwise.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// By how much a formula holds, or does not; empty for a machine.
pub(crate) fn robustness(root: &RootVerdict) -> String {
    let known = root.robustness.filter(|robustness| robustness.is_finite());
    known.map_or(String::new(), |known| format!(", robustness {}", quantity(known, "")))
}

/// How far a verdict is from flipping, in a sentence.
pub(crate) fn margin_words(judged: &Judged) -> Option<String> {
    let margin = match &judged.sureness {
        Sureness::Margin(margin) => margin,
        Sureness::AtLeast(amount) => {
            let (amount, word) = (quantity(*amount, ""), judged.judgement.verdict.word());
            return Some(format!("{word} with every comparison up to {amount} harder or easier"));
        }
        Sureness::NotAsked | Sureness::Unshakable => return None,
    };
    let amount = quantity(margin.amount, margin.unit);
    let way = if margin.is_harder { "harder" } else { "easier" };
    let decides = match margin.site {
        Some(site) => format!(
            "`{}` at {} decides, at {}",
            judged.code.text(site),
            judged.code.place(site).label(),
            margin.time
        ),
        None => "the formula as a whole decides".to_string(),
    };
    let word = margin.flips_to.word();
    let perhaps = if margin.is_exact { "" } else { ", perhaps with less" };
    Some(format!("{word} with every comparison more than {amount} {way}{perhaps}: {decides}"))
}

/// Blocks that were abandoned, as diagnostics: where, how often, when first, and the values.
pub fn action_errors(code: &Code, errors: &[ActionError], recording: &str) -> Vec<Diagnostic> {
    let diagnostic = |error: &ActionError| {
        let ActionError { site, words, help, first, path, count } = error;
        let times = if *count == 1 { "once".to_string() } else { format!("{count} times") };
        Diagnostic::warning("action-error", words.clone())
            .at(code.place(*site))
            .note(format!("{times} on {recording}, first at {first} in {path}"))
            .note("the block was abandoned there; the test went on")
            .help_maybe(help.clone())
    };
    errors.iter().map(diagnostic).collect()
}

/// Whether a verdict is of the kind that is explained.
pub(crate) fn is_explained(judged: &Judged) -> bool {
    let is_open = matches!(judged.judgement.verdict, Verdict::Red | Verdict::Inconclusive);
    is_open && !judged.explanations.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_stretch_is_exact_and_quoted() {
        let at = SimTime::from_nanos;
        let now = 1_700_000_000_123_456_789;
        assert_eq!(
            command("it's low.lrp", "-a.mcap", at(now), at(now + 1)),
            "headland test 'it'\\''s low.lrp' --on ./-a.mcap --start=1700000000.123456789 \
             --end=1700000000.12345679"
        );
        assert_eq!(
            command("a.lrp", "b.mcap", at(-1_500_000_000), at(0)),
            "headland test a.lrp --on b.mcap --start=-1.5 --end=0"
        );
    }
}
