//! Tables in and out: a header of scoped keys, then one row per time.
//!
//! ```text
//! time,ball/pose/x,ball/pose/y,…,elbow/position [deg]
//! 0.000,0.0,0.0,…,12.5
//! ```
//!
//! Coming in, columns that belong together become one track: the seven of a pose, the six
//! of a velocity, the joints of a robot. The rest are scalars under their own key. Cells
//! may be empty, and each key keeps the first of equal times and drops what goes back; both
//! are counted. Rows come and go one at a time, so a table may be longer than memory; the
//! `csv` crate writes, but a reader of its sort would let one open quote swallow the file.

mod cells;
mod group;
mod header;
mod numbers;
mod write;

use std::borrow::Cow;
use std::io::BufRead;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, SimTime};

use crate::decimal::{TimeUnit, look_of_time, parse_time};
use crate::format::euroc_key;
use crate::lines::Lines;
use crate::load::{Columns, LoadOptions};
use crate::recording::Recording;
use crate::sample::Goal;
use crate::track::joint_property;
use crate::unit::Unit;
use cells::{Cells, is_row};
use group::{Group, Taken, groups};
use header::{ColumnHead, Delimiter, header_cells, heads, is_marked_header};

pub use header::TIME_NAMES;
pub use numbers::{NumberChoice, NumberColumn, NumberRow, read_numbers};
pub(crate) use write::TableGoal;
pub use write::write;

/// How a table is read.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// Unit of the time column; by default what its header says, else seconds, or
    /// nanoseconds where the first time is beyond any number of seconds (1e14). A first time
    /// that looks like milliseconds or microseconds since 1970 is refused: nobody can know.
    pub time_unit: Option<TimeUnit>,
    /// Names of the columns of a table that has no header.
    pub columns: Option<Vec<String>>,
    /// The object a EuRoC table describes: its names of columns become keys of that object.
    pub euroc_object: Option<String>,
    /// Which columns are kept; by default all. What is not kept is not even read.
    pub keep: Option<ColumnFilter>,
    /// A cell that says `nan` is told of. In a measurement it is a sample that is not there; in a
    /// table of commands somebody meant to say something.
    pub tells_nan: bool,
}

/// Says of the keys of a table which are wanted.
type Wanted = dyn Fn(&[String]) -> Vec<bool> + Send + Sync;

/// Which columns of a table are kept.
#[derive(Clone)]
pub struct ColumnFilter(Arc<Wanted>);

impl ColumnFilter {
    /// `wanted` gets the keys of a table and says of each whether it is kept. Columns of joints
    /// are always kept.
    pub fn new(wanted: impl Fn(&[String]) -> Vec<bool> + Send + Sync + 'static) -> ColumnFilter {
        ColumnFilter(Arc::new(wanted))
    }
}

impl std::fmt::Debug for ColumnFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ColumnFilter")
    }
}

/// What a table had in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableReport {
    /// Rows below the header.
    pub n_rows: usize,
    /// Rows of which at least one value came at the time of the one before and was dropped.
    pub n_duplicate: usize,
    /// Rows of which at least one value came earlier than the one before and was dropped.
    pub n_backward: usize,
    /// There are more rows, which nobody read: what was read is more than memory may hold.
    pub is_cut: bool,
}

impl TableReport {
    /// How many rows there are, in words; of a table that is cut nobody knows.
    fn rows(&self) -> String {
        let first = if self.is_cut { "the first " } else { "" };
        format!("{first}{} rows", self.n_rows)
    }

    /// What was left out, in words.
    fn warnings(&self, name: &str) -> Vec<Diagnostic> {
        let counts = [
            (self.n_duplicate, "time-repeated", "repeat the time of the row before"),
            (self.n_backward, "time-went-back", "are earlier than the row before"),
        ];
        let warning = |(count, code, what): (usize, _, &str)| {
            let message = format!("{count} of {} of `{name}` {what}", self.rows());
            Diagnostic::warning(code, message).note("their values were left out")
        };
        counts.into_iter().filter(|(count, ..)| *count > 0).map(warning).collect()
    }
}

/// Reads a table into memory. Every defect is a finding; what could be read is returned.
pub fn read(
    input: impl BufRead,
    name: &str,
    options: &TableOptions,
) -> (Recording, TableReport, Findings) {
    let mut columns = Columns::new(LoadOptions::default().n_values_max);
    let (report, mut findings) = read_samples(input, name, options, &mut columns)
        .expect("memory takes everything or says it is full");
    let recording = columns.finish(&mut findings);
    (recording, report, findings)
}

/// Reads a table row by row. An `Err` is the goal's.
pub(crate) fn read_samples(
    input: impl BufRead,
    name: &str,
    options: &TableOptions,
    goal: &mut dyn Goal,
) -> Result<(TableReport, Findings), Diagnostic> {
    let mut findings = Findings::new();
    let mut lines = Lines::new(input, name);
    let Some(mut table) = Table::open(&mut lines, name, options, &mut findings) else {
        return Ok((TableReport::default(), findings));
    };
    for group in &table.groups {
        let (sort, kind) = group.sort();
        goal.track(&group.topic, kind.name(), sort)?;
    }
    for head in table.cells.heads.iter().filter(|head| !head.is_time()) {
        match (head.unknown_unit(), head.si_unit()) {
            (Some(word), _) => goal.unknown_unit(&head.key, word),
            (None, Unit::Si(unit)) => goal.unit(&head.key, unit),
            (None, _) => {}
        }
    }
    if let Some((number, text)) = table.first_row.take() {
        table.row(number, &text, goal)?;
    }
    while let Some(line) = lines.next(&mut findings) {
        if goal.is_full() || table.is_refused {
            table.report.is_cut = goal.is_full();
            break;
        }
        if is_row(line.text) && !table.cells.is_cut_off(&line, &mut findings) {
            table.row(line.number, line.text, goal)?;
        }
    }
    table.give(goal)?;
    for (track, group) in table.groups.iter().enumerate() {
        goal.left_out(track, group.left_out);
    }
    findings.extend(table.cells.take_faults());
    findings.extend(table.report.warnings(name));
    findings.extend(table.incomplete());
    // Of a table that is refused nobody read a number.
    let is_read = !table.is_refused;
    findings.extend(table.cells.told(&table.report).into_iter().filter(|_| is_read));
    Ok((table.report, findings))
}

/// The first line that is no comment.
struct Header {
    number: usize,
    text: String,
    /// Whether it began with a `#`, as EuRoC writes it.
    is_marked: bool,
}

impl Header {
    fn next(lines: &mut Lines<impl BufRead>, findings: &mut Findings) -> Option<Header> {
        loop {
            let line = lines.next(findings)?;
            let text = line.text.trim();
            let marked = text.strip_prefix('#').filter(|rest| is_marked_header(rest));
            if text.is_empty() || (text.starts_with('#') && marked.is_none()) {
                continue;
            }
            let (number, is_marked) = (line.number, marked.is_some());
            return Some(Header {
                number,
                text: marked.unwrap_or(line.text).to_string(),
                is_marked,
            });
        }
    }
}

struct Table {
    cells: Cells,
    time_column: usize,
    time_unit: Option<TimeUnit>,
    groups: Vec<Group>,
    /// Time of the row at hand.
    now: Option<SimTime>,
    report: TableReport,
    /// Whether nobody can know what its times mean.
    is_refused: bool,
    /// The first row, where the table has no header and a row was read to see how it is cut.
    first_row: Option<(usize, String)>,
    /// Those of the row at hand, by column.
    numbers: Vec<Option<f64>>,
}

impl Table {
    fn open(
        lines: &mut Lines<impl BufRead>,
        name: &str,
        options: &TableOptions,
        findings: &mut Findings,
    ) -> Option<Table> {
        let Some(Header { number, text: header, is_marked }) = Header::next(lines, findings) else {
            findings.push(Diagnostic::error("empty-table", format!("`{name}` has no header")));
            return None;
        };
        let delimiter = Delimiter::of_header(&header);
        let (names, first_row) = match &options.columns {
            Some(columns) if is_marked => (columns.clone(), None),
            Some(columns) => (columns.clone(), Some((number, header))),
            None => (header_cells(delimiter, &header), None),
        };
        if names.len() > header::COLUMNS_MAX {
            let message = format!("`{name}` has {} columns", names.len());
            findings.push(Diagnostic::error("too-many-columns", message));
            return None;
        }
        let mut heads = heads(&names, name, findings);
        if let Some(object) = &options.euroc_object {
            for head in &mut heads {
                if let Some(key) = euroc_key(&head.key) {
                    head.key = format!("{object}/{key}");
                }
            }
        }
        let mut cells = Cells::new(name, delimiter, heads, options.tells_nan);
        keep(&mut cells.heads, options);
        let heads = &cells.heads;
        let Some(time_column) = heads.iter().position(ColumnHead::is_time) else {
            let message = format!("`{name}` line {number}: no column is called `time`");
            findings.push(
                Diagnostic::error("no-time-column", message)
                    .note(format!("its columns start with `{:.60}`", names.join("`, `")))
                    .help("the first line names the columns; call the one with the times `time`"),
            );
            return None;
        };
        let said = heads[time_column].unit.as_deref().and_then(TimeUnit::from_name);
        if let (None, Some(fault)) = (options.time_unit, heads[time_column].no_time(name)) {
            findings.push(fault);
            return None;
        }
        let groups = groups(heads, time_column, name, findings);
        let numbers = vec![None; heads.len()];
        cells.let_words(&groups);
        Some(Table {
            cells,
            time_column,
            time_unit: options.time_unit.or(said),
            groups,
            now: None,
            report: TableReport::default(),
            is_refused: false,
            first_row,
            numbers,
        })
    }

    fn row(&mut self, number: usize, text: &str, goal: &mut dyn Goal) -> Result<(), Diagnostic> {
        self.report.n_rows += 1;
        let cells = self.cells.row(number, text);
        let time_text = cells.get(self.time_column).map_or("", |cell| cell);
        if self.time_unit.is_none()
            && let Some((unit, year)) = look_of_time(time_text)
        {
            self.is_refused = true;
            let message = format!("is `{time_text:.40}` in {unit}, of the year {year}?");
            let help = format!("say the unit in the header: `time [{unit}]`, or `[s]` or `[ns]`");
            self.cells.push(self.cells.fault("which-time-unit", number, message).help(help));
            return Ok(());
        }
        let unit = self.time_unit.unwrap_or_else(|| guess_unit(time_text));
        let Some(time) = parse_time(time_text, unit) else {
            self.cells.push(self.cells.fault(
                "bad-time",
                number,
                format!("`{time_text:.40}` is no time"),
            ));
            return Ok(());
        };
        self.time_unit = Some(unit);
        self.read_cells(number, &cells);
        if self.now != Some(time) {
            self.give(goal)?;
            self.now = Some(time);
        }
        self.take(number, time);
        Ok(())
    }

    /// The numbers of a row, in SI; what is none is a finding.
    fn read_cells(&mut self, number: usize, cells: &[Cow<'_, str>]) {
        for i in (0..self.numbers.len()).filter(|i| *i != self.time_column) {
            let cell = cells.get(i).map_or("", |cell| cell);
            self.numbers[i] = self.cells.number(i, number, cell);
        }
    }

    /// Lets each track take what the row at hand has of it.
    fn take(&mut self, number: usize, time: SimTime) {
        let (mut is_duplicate, mut is_backward, mut is_bad) = (false, false, false);
        for group in &mut self.groups {
            match group.take(time, &self.numbers) {
                Taken::Kept => {}
                Taken::Incomplete => group.n_incomplete += 1,
                Taken::Duplicate => {
                    group.left_out.n_duplicate += 1;
                    is_duplicate = true;
                }
                Taken::Backward => {
                    group.left_out.n_backward += 1;
                    is_backward = true;
                }
                Taken::Bad => is_bad = true,
            }
        }
        if is_bad {
            self.cells.push(self.cells.fault("bad-pose", number, "a rotation without a direction"));
        }
        self.report.n_duplicate += usize::from(is_duplicate);
        self.report.n_backward += usize::from(is_backward);
    }

    /// Groups of which some rows have only a part.
    fn incomplete(&self) -> Vec<Diagnostic> {
        let lacking = self.groups.iter().filter(|group| group.n_incomplete > 0);
        let warning = |group: &Group| {
            let message = format!(
                "{} of {} of `{}` have only a part of `{}`",
                group.n_incomplete,
                self.report.rows(),
                self.cells.name,
                group.topic
            );
            let note =
                format!("they were left out of it: every cell of {} is needed", group.what());
            Diagnostic::warning("row-incomplete", message).note(note)
        };
        lacking.map(warning).collect()
    }

    /// Hands on what the rows of one moment said.
    fn give(&mut self, goal: &mut dyn Goal) -> Result<(), Diagnostic> {
        self.groups.iter_mut().enumerate().try_for_each(|(track, group)| group.give(track, goal))
    }
}

/// Takes the names of columns away that are not wanted.
fn keep(heads: &mut [ColumnHead], options: &TableOptions) {
    let Some(ColumnFilter(wanted)) = &options.keep else { return };
    let keys: Vec<String> = heads.iter().map(|head| head.key.clone()).collect();
    for (head, is_wanted) in heads.iter_mut().zip(wanted(&keys)) {
        let property = head.key.rsplit('/').next().unwrap_or_default();
        let is_joint = head.key.contains('/') && joint_property(property).is_some();
        if !(is_wanted || is_joint || head.is_time()) {
            head.key.clear();
        }
    }
}

/// The moment a bare cell of times means, as a whole table is read; none where it is no number,
/// or may mean something else than seconds and nanoseconds.
pub fn moment_of(cell: &str) -> Option<SimTime> {
    let cell = cell.trim();
    if look_of_time(cell).is_some() { None } else { parse_time(cell, guess_unit(cell)) }
}

fn guess_unit(time: &str) -> TimeUnit {
    let is_huge = time.parse::<f64>().is_ok_and(|number| number.abs() > 1e14);
    if is_huge { TimeUnit::Nanos } else { TimeUnit::Seconds }
}
