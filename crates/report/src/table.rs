//! Columns that line up.

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A header, a rule and the rows. Rows may be shorter than the header.
pub fn table(header: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(i, (name, _))| {
            let cells = rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count());
            cells.chain([name.chars().count()]).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[String]| {
        let padded = header.iter().zip(&widths).enumerate().map(|(i, ((_, align), width))| {
            let cell = cells.get(i).map_or("", String::as_str);
            match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    let names: Vec<String> = header.iter().map(|(name, _)| (*name).to_string()).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let mut out = line(&names) + &line(&rule);
    for row in rows {
        out += &line(row);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["/ball/pose".into(), "12".into()], vec!["/é".into(), "1234".into()]];
        let text = table(&[("topic", Align::Left), ("n", Align::Right)], &rows);
        assert_eq!(
            text,
            "topic          n\n──────────  ────\n/ball/pose    12\n/é          1234\n"
        );
    }
}
