//! Tables of numbers without times: measurements, one per row. Some columns are chosen by name,
//! and their numbers come out row by row, in SI, so that a table may be longer than memory.

use std::io::BufRead;

use headland_base::{Diagnostic, Findings};

use super::cells::{Cells, is_row};
use super::group::groups;
use super::header::{self, ColumnHead, Delimiter, header_cells, heads};
use super::{Header, TableReport};
use crate::lines::Lines;
use crate::unit::Unit;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberColumn {
    /// Its name without the unit.
    pub name: String,
    /// The unit that stands behind the name, where one does.
    pub unit: Option<String>,
    /// SI in one of that unit; 1 without one.
    pub factor: f64,
    /// What its numbers are in once they are SI.
    pub si_unit: Unit,
}

impl NumberColumn {
    /// What to say of it where it is taken for one of times, and its unit is none of time.
    pub fn no_time(&self, table: &str) -> Option<Diagnostic> {
        header::no_time(table, self.si_unit, self.unit.as_deref())
    }
}

/// One row of the columns that were chosen.
#[derive(Debug)]
pub struct NumberRow<'a> {
    /// The line of the file, from 1.
    pub line: usize,
    /// Numbers in SI; not a number where a cell is empty or is none.
    pub numbers: &'a [f64],
    /// The word in the column that was chosen for words; empty without one.
    pub word: &'a str,
}

/// Which columns are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberChoice {
    /// Columns of numbers, in the order rows give them.
    pub numbers: Vec<usize>,
    /// A column of words.
    pub word: Option<usize>,
    /// A column that is no part of a pose, a velocity or a joint may turn out to be one of words;
    /// else every word is a fault.
    pub may_have_words: bool,
}

/// Reads a table: `choose` is asked once which columns are wanted, `each` gets every row. What is
/// wrong with a cell is found and the cell is not a number. Gives the number of rows.
pub fn read_numbers(
    input: impl BufRead,
    name: &str,
    choose: impl FnOnce(&[NumberColumn]) -> Result<NumberChoice, Diagnostic>,
    mut each: impl FnMut(NumberRow<'_>),
) -> (usize, Findings) {
    let mut findings = Findings::new();
    let mut lines = Lines::new(input, name);
    let Some(Header { text, .. }) = Header::next(&mut lines, &mut findings) else {
        findings.push(Diagnostic::error("empty-table", format!("`{name}` has no header")));
        return (0, findings);
    };
    let delimiter = Delimiter::of_header(&text);
    let cells = header_cells(delimiter, &text);
    if cells.len() > header::COLUMNS_MAX {
        let message = format!("`{name}` has {} columns", cells.len());
        findings.push(Diagnostic::error("too-many-columns", message));
        return (0, findings);
    }
    let heads = heads(&cells, name, &mut findings);
    let column = |head: &ColumnHead| NumberColumn {
        name: head.key.clone(),
        unit: head.unit.clone(),
        factor: head.factor,
        si_unit: head.si_unit(),
    };
    let chosen = match choose(&heads.iter().map(column).collect::<Vec<_>>()) {
        Ok(chosen) => chosen,
        Err(fault) => {
            findings.push(fault);
            return (0, findings);
        }
    };
    let time_column = heads.iter().position(ColumnHead::is_time);
    let mut cells = Cells::new(name, delimiter, heads, false);
    if let (Some(time_column), true) = (time_column, chosen.may_have_words) {
        // Here each column is its own, so that what two of them do not make together is no finding.
        cells.let_words(&groups(&cells.heads, time_column, name, &mut Findings::new()));
    }
    let mut report = TableReport::default();
    let mut numbers = vec![f64::NAN; chosen.numbers.len()];
    while let Some(line) = lines.next(&mut findings) {
        if !is_row(line.text) || cells.is_cut_off(&line, &mut findings) {
            continue;
        }
        let number = line.number;
        let row = cells.row(number, line.text);
        for (slot, i) in numbers.iter_mut().zip(&chosen.numbers) {
            let cell = row.get(*i).map_or("", |cell| cell);
            let value = cells.number(*i, number, cell);
            if value.is_some_and(f64::is_infinite) {
                let key = &cells.heads[*i].key;
                let message = format!("`{cell:.40}` in column `{key:.60}` is no number");
                cells.push(cells.fault("not-a-number", number, message));
            }
            *slot = value.filter(|value| value.is_finite()).unwrap_or(f64::NAN);
        }
        let word = chosen.word.and_then(|i| row.get(i)).map_or("", |cell| cell);
        each(NumberRow { line: number, numbers: &numbers, word });
        report.n_rows += 1;
    }
    findings.extend(cells.take_faults());
    findings.extend(cells.told(&report));
    (report.n_rows, findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_chosen_by_name_and_numbers_are_in_si() {
        let table = "part,x [mm],y [m],note\na,1.5,2,\"far, away\"\nb,,3,x\n# no row\nc,zz,4,\n";
        let mut rows = Vec::new();
        let choose = |columns: &[NumberColumn]| {
            let unit = Some("mm".into());
            let si_unit = Unit::Si("m");
            let no_time = columns[1].no_time("t.csv");
            assert!(no_time.is_some_and(|fault| fault.code == "which-time-unit"));
            let wanted = NumberColumn { name: "x".into(), unit, factor: 1e-3, si_unit };
            assert_eq!(columns[1], wanted);
            Ok(NumberChoice { numbers: vec![2, 1], word: Some(0), ..NumberChoice::default() })
        };
        let (n, findings) = read_numbers(table.as_bytes(), "t.csv", choose, |row| {
            rows.push((row.line, row.numbers.to_vec(), row.word.to_string()));
        });
        assert_eq!(n, 3);
        assert_eq!(rows[0], (2, vec![2.0, 0.0015], "a".to_string()));
        assert!(rows[1].1[1].is_nan() && rows[2].1[1].is_nan() && rows[2].0 == 5);
        let said: Vec<String> = findings.into_vec().into_iter().map(|f| f.message).collect();
        assert_eq!(said, ["`t.csv` line 5: `zz` in column `x` is no number"]);
    }

    #[test]
    fn nothing_and_a_refusal_are_findings() {
        let none = |_: &[NumberColumn]| Ok(NumberChoice::default());
        let (n, findings) = read_numbers("".as_bytes(), "t", none, |_| {});
        assert_eq!((n, findings.into_vec()[0].code), (0, "empty-table"));
        let refuse = |_: &[NumberColumn]| Err(Diagnostic::error("no", "none of these"));
        let (n, findings) = read_numbers("a,b\n1,2\n".as_bytes(), "t", refuse, |_| panic!());
        assert_eq!((n, findings.into_vec()[0].code), (0, "no"));
    }
}
