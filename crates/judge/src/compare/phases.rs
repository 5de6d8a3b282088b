//! Phases: stretches of time with a name, each with statistics of its own.
//!
//! A text goes in, one stretch per line: start, end, name, with commas, tabs, semicolons or
//! blanks between. `#` starts a comment, and a first line such as `start,end,name` is a header.
//! A name may come back: its stretches are one phase. Phases may overlap.

use headland_base::{Diagnostic, Findings, SimTime};
use headland_record::parse_seconds;

/// Most stretches of a file.
const STRETCHES_MAX: usize = 10_000;

/// Stretches of time with one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What people call it.
    pub name: String,
    /// From and to; the end is no part of it.
    pub stretches: Vec<(SimTime, SimTime)>,
}

impl Phase {
    /// Whether a moment is in it.
    pub fn holds(&self, time: SimTime) -> bool {
        self.stretches.iter().any(|(from, to)| *from <= time && time < *to)
    }
}

/// Reads phases, in the order their names first appear. Every line that is none is a finding.
pub fn parse(text: &str, name: &str) -> (Vec<Phase>, Findings) {
    let (mut phases, mut findings) = (Vec::<Phase>::new(), Findings::new());
    let (mut is_first, mut n_stretches) = (true, 0);
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if std::mem::take(&mut is_first) && is_header(line) {
            continue;
        }
        let fault = |what: &str| {
            Diagnostic::error("bad-phase", format!("`{name}` line {}: {what}", i + 1))
                .help("a phase is `START END NAME`, times in seconds: `0.5 2.0 lift`")
        };
        n_stretches += 1;
        if n_stretches > STRETCHES_MAX {
            findings.push(fault(&format!("more than {STRETCHES_MAX} phases")));
            break;
        }
        match stretch(line) {
            Err(what) => findings.push(fault(&what)),
            Ok((from, to, label)) => match phases.iter_mut().find(|phase| phase.name == label) {
                Some(phase) => phase.stretches.push((from, to)),
                None => phases.push(Phase { name: label, stretches: vec![(from, to)] }),
            },
        }
    }
    if phases.is_empty() && findings.is_empty() {
        let message = format!("`{name}` names no phase");
        findings.push(Diagnostic::error("bad-phase", message));
    }
    (phases, findings)
}

/// What columns of starts are called, and those of ends.
const STARTS: &[&str] = &["start", "starts", "begin", "begins", "from", "t0"];
const ENDS: &[&str] = &["end", "ends", "stop", "stops", "to", "until", "t1"];

/// Whether a line names columns: `t_start` and `End [s]` do. Any other words may be a slip, as in
/// `O two lift`.
fn is_header(line: &str) -> bool {
    let is_one_of = |cell: &str, words: &[&str]| {
        let cell = cell.to_lowercase();
        cell.split(|c: char| !c.is_alphanumeric()).any(|part| words.contains(&part))
    };
    let (first, second, _) = cells(line);
    is_one_of(first, STARTS) && is_one_of(second, ENDS)
}

/// The first two cells of a line, and the rest.
fn cells(line: &str) -> (&str, &str, &str) {
    let sign = [',', '\t', ';'].into_iter().find(|sign| line.contains(*sign));
    let cut = |rest| -> (&str, &str) {
        let parts = match sign {
            Some(sign) => str::split_once(rest, sign),
            None => rest.trim_start().split_once(char::is_whitespace),
        };
        let (cell, rest) = parts.unwrap_or((rest, ""));
        (cell.trim(), rest.trim())
    };
    let (first, rest) = cut(line);
    let (second, rest) = cut(rest);
    (first, second, rest)
}

fn stretch(line: &str) -> Result<(SimTime, SimTime, String), String> {
    let (from, to, label) = cells(line);
    let label = label.trim_matches('"').trim().to_string();
    let moment = |text: &str| {
        parse_seconds(text).ok_or_else(|| format!("`{text:.40}` is no moment in seconds"))
    };
    let (from, to) = (moment(from)?, moment(to)?);
    if to <= from {
        return Err(format!("it ends at {to}, not after its start at {from}"));
    }
    if label.is_empty() {
        return Err("it has no name".to_string());
    }
    Ok((from, to, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_them() {
        for text in [
            "0 1.5 lift\n1.5 3 hold it\n4 5 lift\n",
            "start,end,name\n# a comment\n0,1.5,lift\n1.5,3,\"hold it\"\n\n4,5,lift",
            "T_Start;End [s];phase\r\n0;1.5;lift\r\n1.5;3;hold it\r\n4;5;lift\r\n",
        ] {
            let (phases, findings) = parse(text, "p");
            assert!(findings.is_empty(), "{:?}", findings.into_vec());
            assert_eq!(phases.len(), 2);
            assert_eq!(phases[1].name, "hold it");
            let at = |secs| SimTime::from_secs(secs).unwrap();
            let in_lift = [0.0, 1.499, 1.5, 4.0, 5.0].map(|t| phases[0].holds(at(t)));
            assert_eq!(in_lift, [true, true, false, true, false]);
        }
    }

    #[test]
    fn every_bad_line_is_named() {
        let (phases, findings) = parse("0 1 a\n1 1 b\nx 2 c\n3 4\n5\n", "p.txt");
        assert_eq!(phases.len(), 1);
        let said: Vec<String> = findings.into_vec().into_iter().map(|d| d.message).collect();
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said[0].contains("line 2") && said[1].contains("`x`") && said[2].contains("name"));
        assert!(parse("", "p").1.has_errors());
        // A slip of the hand is no header.
        for slip in ["O 2 first", "O,2,first", "x y first", "zero two first", "l 2 first"] {
            let (phases, findings) = parse(&format!("{slip}\n2 4 second\n"), "p.txt");
            let said = findings.into_vec();
            assert!(phases.len() == 1 && said.len() == 1, "{slip}: {said:?}");
            assert!(said[0].message.contains("line 1"), "{slip}: {said:?}");
        }
    }
}
