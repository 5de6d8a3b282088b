//! The header of a table: how its cells are told apart, and what each column is called.
//!
//! The first line goes in; a delimiter, keys and factors to SI come out. Deliberately absent:
//! which columns belong together; that is `group`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use headland_base::maths::{PI, TAU};
use headland_base::{Diagnostic, Findings};

use crate::unit::Unit;

/// Names a column of times has.
pub const TIME_NAMES: [&str; 5] = ["time", "t", "timestamp", "__time", "stamp"];

/// Most columns of a table.
pub(super) const COLUMNS_MAX: usize = 100_000;

/// How cells are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    Sign(char),
    Blanks,
}

impl Delimiter {
    /// The sign most used in the header outside quotes; blanks where there is none.
    pub fn of_header(header: &str) -> Delimiter {
        let count = |sign: char| {
            let outside = header.split('"').step_by(2);
            outside.map(|part| part.matches(sign).count()).sum::<usize>()
        };
        let best = [',', '\t', ';'].into_iter().rev().max_by_key(|sign| count(*sign));
        best.filter(|sign| count(*sign) > 0).map_or(Delimiter::Blanks, Delimiter::Sign)
    }

    /// Up to `most` cells of a row, without quotes and the blanks around them. Where there is no
    /// quote, as in nearly every row, they are parts of the row itself.
    pub fn split(self, row: &str, most: usize) -> Vec<Cow<'_, str>> {
        if row.contains('"') {
            return self.split_quoted(row, most).into_iter().map(Cow::Owned).collect();
        }
        let mut cells = Vec::with_capacity(most.min(64));
        match self {
            Delimiter::Sign(delimiter) => {
                let parts = row.split(delimiter).take(most);
                cells.extend(parts.map(|cell| Cow::Borrowed(cell.trim())));
            }
            Delimiter::Blanks => cells.extend(row.split_whitespace().take(most).map(Cow::Borrowed)),
        }
        if cells.is_empty() {
            cells.push(Cow::Borrowed(""));
        }
        cells
    }

    fn split_quoted(self, row: &str, most: usize) -> Vec<String> {
        let mut cells = vec![String::new()];
        let (mut is_quoted, mut is_gap) = (false, true);
        for sign in row.chars() {
            let is_end = match self {
                Delimiter::Sign(delimiter) => sign == delimiter,
                Delimiter::Blanks => sign.is_whitespace(),
            };
            if sign == '"' {
                is_quoted = !is_quoted;
                is_gap = false;
            } else if is_end && !is_quoted {
                // A run of blanks is one gap, and one at the start is none.
                if self != Delimiter::Blanks || !is_gap {
                    if cells.len() == most {
                        break;
                    }
                    cells.push(String::new());
                }
                is_gap = true;
            } else {
                cells.last_mut().expect("starts with one").push(sign);
                is_gap = false;
            }
        }
        if self == Delimiter::Blanks && is_gap && cells.len() > 1 {
            cells.pop();
        }
        cells.iter().map(|cell| cell.trim().to_string()).collect()
    }
}

/// A column's key, and what its numbers are multiplied by to be SI.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ColumnHead {
    pub key: String,
    pub unit: Option<String>,
    pub factor: f64,
}

impl ColumnHead {
    /// What its numbers are in once they are SI.
    pub fn si_unit(&self) -> Unit {
        match self.unit.as_deref() {
            Some(word) => known_unit(word).map_or(Unit::Unknown, |(_, si)| Unit::si(si)),
            None => Unit::Unsaid,
        }
    }

    /// What to say of a column of times whose unit is none of time.
    pub fn no_time(&self, name: &str) -> Option<Diagnostic> {
        no_time(name, self.si_unit(), self.unit.as_deref())
    }

    /// The unit as it was written, where it is one that nobody knows.
    pub fn unknown_unit(&self) -> Option<&str> {
        self.unit.as_deref().filter(|unit| known_unit(unit).is_none())
    }

    /// Whether this is the column of times.
    pub fn is_time(&self) -> bool {
        TIME_NAMES.contains(&self.key.to_lowercase().as_str())
    }
}

/// What to say of times in a unit that is none of time, and how it was written.
pub(super) fn no_time(table: &str, unit: Unit, word: Option<&str>) -> Option<Diagnostic> {
    let word = word.filter(|_| !matches!(unit, Unit::Unsaid | Unit::Si("s")))?;
    let help = "times are in s, ms, us, ns, min or h: `time [ms]`";
    let message = format!("`{table}`: times in `{word:.40}`");
    Some(Diagnostic::error("which-time-unit", message).help(help))
}

/// What is behind names in brackets: words, how many SI are in one, and the SI unit. A degree of
/// temperature and a per cent stay what they are.
const UNITS: &[(&[&str], f64, &str)] = &[
    (&["", "-", "1"], 1.0, ""),
    (&["m"], 1.0, "m"),
    (&["mm"], 1e-3, "m"),
    (&["cm"], 1e-2, "m"),
    (&["km"], 1e3, "m"),
    (&["um", "µm"], 1e-6, "m"),
    (&["in", "inch"], 0.0254, "m"),
    (&["ft"], 0.3048, "m"),
    (&["s", "sec", "secs"], 1.0, "s"),
    (&["ms"], 1e-3, "s"),
    (&["us", "µs"], 1e-6, "s"),
    (&["ns"], 1e-9, "s"),
    (&["min"], 60.0, "s"),
    (&["h"], 3600.0, "s"),
    (&["rad"], 1.0, "rad"),
    (&["mrad"], 1e-3, "rad"),
    (&["deg", "°"], PI / 180.0, "rad"),
    (&["rev", "turn"], TAU, "rad"),
    (&["m/s", "m s^-1"], 1.0, "m/s"),
    (&["mm/s"], 1e-3, "m/s"),
    (&["cm/s"], 1e-2, "m/s"),
    (&["km/h"], 1.0 / 3.6, "m/s"),
    (&["rad/s", "rad s^-1"], 1.0, "rad/s"),
    (&["mrad/s"], 1e-3, "rad/s"),
    (&["deg/s", "°/s"], PI / 180.0, "rad/s"),
    (&["rpm", "rev/min", "1/min"], TAU / 60.0, "rad/s"),
    (&["rev/s", "rps"], TAU, "rad/s"),
    (&["m/s^2", "m/s²", "m s^-2"], 1.0, "m/s^2"),
    (&["mm/s^2", "mm/s²"], 1e-3, "m/s^2"),
    (&["cm/s^2", "cm/s²"], 1e-2, "m/s^2"),
    (&["g"], 9.80665, "m/s^2"), // nobody logs a mass over time
    (&["rad/s^2", "rad/s²", "rad s^-2"], 1.0, "rad/s^2"),
    (&["deg/s^2", "deg/s²", "°/s^2", "°/s²"], PI / 180.0, "rad/s^2"),
    (&["N"], 1.0, "N"),
    (&["mN"], 1e-3, "N"),
    (&["kN"], 1e3, "N"),
    (&["Nm", "N·m", "N*m", "N m"], 1.0, "N·m"),
    (&["mNm", "mN·m", "mN*m"], 1e-3, "N·m"),
    (&["kNm", "kN·m", "kN*m"], 1e3, "N·m"),
    (&["Pa"], 1.0, "Pa"),
    (&["hPa", "mbar"], 1e2, "Pa"),
    (&["kPa"], 1e3, "Pa"),
    (&["bar"], 1e5, "Pa"),
    (&["T"], 1.0, "T"),
    (&["mT"], 1e-3, "T"),
    (&["uT", "µT"], 1e-6, "T"),
    (&["V"], 1.0, "V"),
    (&["mV"], 1e-3, "V"),
    (&["A"], 1.0, "A"),
    (&["mA"], 1e-3, "A"),
    (&["W"], 1.0, "W"),
    (&["Hz"], 1.0, "Hz"),
    (&["K"], 1.0, "K"),
    (&["degC", "°C"], 1.0, "°C"),
    (&["%"], 1.0, "%"),
];

/// How many SI are in one of a unit, and which.
fn known_unit(unit: &str) -> Option<(f64, &'static str)> {
    let found = UNITS.iter().find(|(words, ..)| words.contains(&unit))?;
    Some((found.1, found.2))
}

/// `elbow/position [deg]`: key, unit and factor.
fn column_head(cell: &str) -> Result<ColumnHead, ColumnHead> {
    let cell = cell.trim();
    let parts = cell.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let (key, unit) = match parts {
        Some((key, unit)) => (key.trim(), Some(unit.trim().to_string())),
        None => (cell, None),
    };
    let known = known_unit(unit.as_deref().unwrap_or_default());
    let factor = known.map_or(1.0, |(factor, _)| factor);
    let head = ColumnHead { key: key.trim_matches('/').to_string(), unit, factor };
    if known.is_some() { Ok(head) } else { Err(head) }
}

/// EuRoC writes `#timestamp [ns],…`: a comment that is the header.
pub(super) fn is_marked_header(rest: &str) -> bool {
    let cells = header_cells(Delimiter::of_header(rest), rest);
    cells.len() > 1 && column_head(&cells[0]).unwrap_or_else(|head| head).is_time()
}

/// The cells of a header; between blanks a unit belongs to the name before it.
pub(super) fn header_cells(delimiter: Delimiter, header: &str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for cell in delimiter.split(header, COLUMNS_MAX + 1) {
        match cells.last_mut() {
            Some(last) if delimiter == Delimiter::Blanks && cell.starts_with('[') => {
                *last = format!("{last} {cell}");
            }
            _ => cells.push(cell.into_owned()),
        }
    }
    cells
}

pub(super) fn heads(cells: &[String], name: &str, findings: &mut Findings) -> Vec<ColumnHead> {
    let mut seen = BTreeMap::new();
    let mut heads = Vec::new();
    for (i, cell) in cells.iter().enumerate() {
        let head = column_head(cell).unwrap_or_else(|head| {
            // Of times it is no warning, but an error of whoever reads them.
            findings.extend((!head.is_time()).then(|| unknown_unit(&head, name)));
            head
        });
        if let (false, Some(first)) = (head.key.is_empty(), seen.insert(head.key.clone(), i + 1)) {
            let message =
                format!("`{name}`: columns {first} and {} are both `{:.60}`", i + 1, head.key);
            findings.push(Diagnostic::error("column-repeated", message).help("rename one of them"));
        }
        heads.push(head);
    }
    heads
}

/// Numbers in a unit that nobody knows stay as they are, and are compared with nothing.
fn unknown_unit(head: &ColumnHead, name: &str) -> Diagnostic {
    let unit = head.unit.as_deref().unwrap_or_default();
    let message = format!("`{name}`: unit `{unit:.40}` of column `{:.60}` is not known", head.key);
    let first = UNITS.iter().skip(1).filter_map(|(words, ..)| words.first().copied());
    let words: Vec<&str> = first.collect();
    Diagnostic::warning("unknown-unit", message)
        .note(format!(
            "its numbers stay as they are, and are compared with nothing; known are {}",
            words.join(", ")
        ))
        .help("leave the brackets out where they are SI already")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::{TimeUnit, parse_time};
    use headland_base::SimTime;

    /// Times are read as whole nanoseconds and other columns as numbers: both know the same words,
    /// and what is said to be known is.
    #[test]
    fn units_of_time_are_those_of_numbers() {
        for (words, factor, si) in UNITS {
            for word in *words {
                let unit = TimeUnit::from_name(word);
                assert_eq!(unit.is_some(), *si == "s", "{word}");
                let one = unit.and_then(|unit| parse_time("1", unit));
                let secs = one.map(|one| (one - SimTime::ZERO).secs());
                assert!(secs.is_none_or(|secs| (secs / factor - 1.0).abs() < 1e-12), "{word}");
            }
        }
        let told = column_head("time [furlong]").unwrap_err().no_time("t").unwrap();
        for name in TimeUnit::NAMES {
            assert_eq!(known_unit(name).map(|(_, si)| si), Some("s"), "{name}");
            assert!(told.help.as_deref().unwrap().contains(name), "{name}");
        }
    }

    /// A word means one thing, and SI units are units of themselves.
    #[test]
    fn units_are_told_apart() {
        let words: Vec<&str> = UNITS.iter().flat_map(|(words, ..)| words.iter().copied()).collect();
        let mut once = words.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), words.len());
        for (_, _, si) in UNITS {
            assert_eq!(known_unit(si), Some((1.0, *si)));
        }
        let rpm = column_head("wheel/velocity [rpm]").unwrap();
        assert!((60.0 * rpm.factor - TAU).abs() < 1e-12 && rpm.si_unit() == Unit::Si("rad/s"));
        assert_eq!(column_head("x [furlong]").unwrap_err().si_unit(), Unit::Unknown);
        assert_eq!(column_head("x").unwrap().si_unit(), Unit::Unsaid);
        assert_eq!(column_head("x [-]").unwrap().si_unit(), Unit::Unsaid);
    }
}
