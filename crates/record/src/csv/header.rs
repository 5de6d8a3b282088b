//! The header of a table: how its cells are told apart, and what each column is called.
//!
//! The first line goes in; a delimiter, keys and factors to SI come out. Deliberately absent:
//! which columns belong together; that is `group`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use headland_base::maths::PI;
use headland_base::{Diagnostic, Findings};

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
    /// What its numbers are in once they are SI; nothing where nobody said, or they have no unit.
    pub fn si_unit(&self) -> Option<&'static str> {
        let unit = match self.unit.as_deref()? {
            "m" | "mm" | "cm" | "km" => "m",
            "s" | "ms" | "us" | "ns" => "s",
            "rad" | "deg" => "rad",
            "m/s" | "mm/s" | "cm/s" | "m s^-1" => "m/s",
            "rad/s" | "deg/s" | "rad s^-1" => "rad/s",
            "m/s^2" | "mm/s^2" | "g" | "m s^-2" => "m/s^2",
            "rad/s^2" | "deg/s^2" | "rad s^-2" => "rad/s^2",
            "N" | "mN" | "kN" => "N",
            "Nm" | "N·m" => "N·m",
            _ => return None,
        };
        Some(unit)
    }

    /// Whether this is the column of times.
    pub fn is_time(&self) -> bool {
        TIME_NAMES.contains(&self.key.to_lowercase().as_str())
    }
}

/// `elbow/position [deg]`: key, unit and factor.
fn column_head(cell: &str) -> Result<ColumnHead, ColumnHead> {
    let cell = cell.trim();
    let parts = cell.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let (key, unit) = match parts {
        Some((key, unit)) => (key.trim(), Some(unit.trim().to_string())),
        None => (cell, None),
    };
    let factor = match unit.as_deref().unwrap_or_default() {
        "deg" | "deg/s" | "deg/s^2" => Some(PI / 180.0),
        "mm" | "mm/s" | "mm/s^2" | "ms" | "mN" => Some(1e-3),
        "cm" | "cm/s" => Some(1e-2),
        "km" | "kN" => Some(1e3),
        "us" => Some(1e-6),
        "ns" => Some(1e-9),
        "g" => Some(9.80665), // accelerations; nobody logs a mass over time
        "" | "m" | "s" | "rad" | "m/s" | "rad/s" | "m/s^2" | "rad/s^2" | "N" | "Nm" | "N·m"
        | "m s^-1" | "rad s^-1" | "m s^-2" | "rad s^-2" | "-" | "1" => Some(1.0),
        _ => None,
    };
    let head =
        ColumnHead { key: key.trim_matches('/').to_string(), unit, factor: factor.unwrap_or(1.0) };
    if factor.is_some() { Ok(head) } else { Err(head) }
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
            let unit = head.unit.as_deref().unwrap_or_default();
            findings.push(
                Diagnostic::warning(
                    "unknown-unit",
                    format!("`{name}`: unit `{unit:.40}` of column `{:.60}`", head.key),
                )
                .note("its numbers are taken as they are"),
            );
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
