//! Rows of a table, cell by cell: what is a number, what is none, and what was cut.
//!
//! Every reader of tables sees its rows through this, so that a file and a pipe are told of alike.
//! Deliberately absent: times, and which columns belong together.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;

use headland_base::{Diagnostic, Findings};

use super::TableReport;
use super::group::Group;
use super::header::{ColumnHead, Delimiter};
use crate::lines::{FEW, Line};

/// The columns of a table, and what its rows so far had in them.
pub(super) struct Cells {
    pub name: String,
    delimiter: Delimiter,
    /// One without a key is not read.
    pub heads: Vec<ColumnHead>,
    /// Columns up to the last one with a name.
    n_named: usize,
    /// What is wrong with rows, by code: a spoilt column is so in every row.
    faults: BTreeMap<&'static str, Findings>,
    /// By column, what of it was no number, until the first number; nothing after it, and where a
    /// column has to have numbers.
    words: Vec<Option<Findings>>,
    /// Rows with fewer cells than the header has, and of the first its line, where it ends, and how
    /// many it has.
    n_short: usize,
    first_short: Option<(usize, usize, usize)>,
    /// Whether there was any, beside times.
    has_number: bool,
    tells_nan: bool,
}

const NOT_A_NUMBER: &str = "not-a-number";

/// Whether a line is a row: neither blank nor a comment.
pub(super) fn is_row(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#')
}

impl Cells {
    /// Of a table with these columns, before its first row. Every word is a fault.
    pub fn new(name: &str, delimiter: Delimiter, heads: Vec<ColumnHead>, tells_nan: bool) -> Cells {
        Cells {
            name: name.to_string(),
            delimiter,
            // Delimiters at the end of a header name nothing.
            n_named: heads.iter().rposition(|head| !head.key.is_empty()).map_or(0, |i| i + 1),
            faults: BTreeMap::new(),
            words: heads.iter().map(|_| None).collect(),
            heads,
            n_short: 0,
            first_short: None,
            has_number: false,
            tells_nan,
        }
    }

    /// A column that stands alone may be one of words.
    pub fn let_words(&mut self, groups: &[Group]) {
        for i in groups.iter().filter_map(Group::number) {
            self.words[i] = Some(Findings::at_most(FEW));
        }
    }

    pub fn fault(&self, code: &'static str, number: usize, message: impl Display) -> Diagnostic {
        Diagnostic::error(code, format!("`{}` line {number}: {message}", self.name))
    }

    /// One more that is wrong with a row: the first few of its kind are kept.
    pub fn push(&mut self, fault: Diagnostic) {
        self.faults_of(fault.code).push(fault);
    }

    fn faults_of(&mut self, code: &'static str) -> &mut Findings {
        self.faults.entry(code).or_insert_with(|| Findings::at_most(FEW))
    }

    /// Whether a line ends within a row. One without a line end may be the rest of a row, and its
    /// last number the beginning of one: that is told, and a row that lacks cells is left out.
    pub fn is_cut_off(&self, line: &Line<'_>, findings: &mut Findings) -> bool {
        if line.has_end {
            return false;
        }
        let cells = self.delimiter.split(line.text, self.heads.len());
        let (n_cells, last) = (cells.len(), cells.last().map_or("", |cell| cell));
        let is_short = n_cells < self.n_named;
        let (name, number) = (&self.name, line.number);
        let column = line.text.chars().count() + 1;
        let what = match is_short {
            true => format!("{n_cells} of {} cells, and no line end", self.n_named),
            false if last.is_empty() => "no line end, and its last cell is empty".to_string(),
            false => format!("no line end: `{last:.40}` may be a part of a number"),
        };
        let message = format!("`{name}` line {number}, column {column}: {what}");
        let note = match is_short {
            true => "the table was cut; the row was left out",
            false => "the table may have been cut; the row was taken as it is",
        };
        let told = Diagnostic::warning("cut-line", message).note(note);
        findings.push(match is_short {
            true => told,
            false => told.help("end the last line where the table is whole"),
        });
        is_short
    }

    /// The cells of a row; what there are too many of is a finding, too few are counted.
    pub fn row<'t>(&mut self, number: usize, text: &'t str) -> Vec<Cow<'t, str>> {
        let cells = self.delimiter.split(text, self.heads.len() + 1);
        if cells.len() < self.n_named {
            self.n_short += 1;
            self.first_short.get_or_insert((number, text.chars().count() + 1, cells.len()));
        }
        if cells.iter().skip(self.heads.len()).any(|cell| !cell.is_empty()) {
            let message = format!("more cells than the {} names of the header", self.heads.len());
            self.push(self.fault("long-row", number, message).help("each column needs a name"));
        }
        cells
    }

    /// The number in a cell of column `i`, in SI; what is none is a finding.
    pub fn number(&mut self, i: usize, number: usize, cell: &str) -> Option<f64> {
        let head = &self.heads[i];
        if head.key.is_empty() {
            return None; // nobody asks for a column without a name
        }
        match number_of(cell) {
            Ok(Some(value)) if value.is_infinite() && cell.contains(char::is_numeric) => {
                let message = format!(
                    "`{cell:.40}` in column `{:.60}` is more than a number can be",
                    head.key
                );
                self.push(self.fault("not-finite", number, message));
                None
            }
            Ok(Some(value)) => {
                let in_si = value * head.factor;
                self.has_number |= !head.is_time();
                // Words among numbers are faults, be they before the first of them.
                if let Some(words) = self.words[i].take().filter(|words| !words.is_empty()) {
                    self.faults_of(NOT_A_NUMBER).append(words);
                }
                Some(in_si)
            }
            Ok(None) => {
                if self.tells_nan && !cell.is_empty() {
                    let message = format!("`{cell:.40}` in column `{:.60}` is no number", head.key);
                    let message = format!("`{}` line {number}: {message}", self.name);
                    self.push(
                        Diagnostic::warning("nan-cell", message)
                            .note("it says nothing: what was said before it stays in force")
                            .help("leave the cell empty where that is meant"),
                    );
                }
                None
            }
            Err(()) => {
                let message = format!("`{cell:.40}` in column `{:.60}` is no number", head.key);
                let fault = self.fault(NOT_A_NUMBER, number, message);
                match &mut self.words[i] {
                    _ if is_written_otherwise(cell) => self.push(fault.help(
                        "a cell is one number, with a point and not a comma; its unit stands in \
                         the header, as in `hinge/position [deg]`",
                    )),
                    Some(words) => words.push(fault),
                    None => self.push(fault),
                }
                None
            }
        }
    }

    /// What is wrong with rows, the first few of a kind with their lines and how many more there
    /// are, by the same code: whoever lets one pass lets all of them.
    pub fn take_faults(&mut self) -> Vec<Diagnostic> {
        let of_code = |(code, findings): (&'static str, Findings)| {
            findings.into_vec().into_iter().map(move |fault| Diagnostic { code, ..fault })
        };
        std::mem::take(&mut self.faults).into_iter().flat_map(of_code).collect()
    }

    /// What is to be said of all rows together.
    pub fn told(&self, report: &TableReport) -> Vec<Diagnostic> {
        let mut told: Vec<Diagnostic> = self.short_rows(report).into_iter().collect();
        told.extend(self.columns_of_words(report));
        told.extend(self.without_numbers(report));
        told
    }

    /// Columns of words are none of ours.
    fn columns_of_words(&self, report: &TableReport) -> Vec<Diagnostic> {
        let of_words = self.heads.iter().zip(&self.words).filter_map(|(head, words)| {
            let first = words.as_ref()?.kept().first()?;
            let message = format!("column `{:.60}` of `{}` is one of words", head.key, self.name);
            Some(
                Diagnostic::warning("column-of-words", message)
                    .note(format!("{}, nor is any of {}", first.message, report.rows()))
                    .note("it was left out"),
            )
        });
        of_words.collect()
    }

    /// That rows without a single number are no recording.
    fn without_numbers(&self, report: &TableReport) -> Option<Diagnostic> {
        let n_rows = report.n_rows;
        let is_blank = n_rows > 0 && !self.has_number && self.heads.len() > 1;
        is_blank.then(|| {
            let message = format!("`{}` has {n_rows} rows and not one number in them", self.name);
            Diagnostic::warning("no-numbers", message)
                .note("a cell that is empty or `nan` is no sample")
        })
    }

    /// Rows that end before the last column. An empty cell has its delimiter; what ends earlier was
    /// cut, or is of another table.
    fn short_rows(&self, report: &TableReport) -> Option<Diagnostic> {
        let (line, column, n_cells) = self.first_short?;
        let message = format!(
            "{} of {} of `{}` have fewer cells than the {} names of the header, first in line {line}, \
             column {column}: {n_cells}",
            self.n_short,
            report.rows(),
            self.name,
            self.n_named
        );
        Some(
            Diagnostic::warning("short-row", message)
                .note("the cells that are not there were taken for empty"),
        )
    }
}

/// Whether a cell that is no number begins like one: with a comma for its point, or a unit behind.
fn is_written_otherwise(cell: &str) -> bool {
    let first = cell.split_whitespace().next().unwrap_or_default();
    first.replace(',', ".").parse::<f64>().is_ok_and(f64::is_finite)
}

/// The number in a cell, or none in an empty one.
fn number_of(cell: &str) -> Result<Option<f64>, ()> {
    // Nearly every cell.
    if let Some(b'0'..=b'9' | b'-' | b'.') = cell.as_bytes().first()
        && let Ok(number) = cell.parse::<f64>()
        && !number.is_nan()
    {
        return Ok(Some(number));
    }
    match cell {
        "" | "nan" | "NaN" | "NAN" | "-nan" => Ok(None),
        "true" | "True" => Ok(Some(1.0)),
        "false" | "False" => Ok(Some(0.0)),
        _ => cell.parse().map(Some).map_err(|_| ()),
    }
}
