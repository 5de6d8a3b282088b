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
    painted(header, rows, |_, _| "")
}

/// The same; `paint` gives the terminal colour of a cell by its row and column.
pub(crate) fn painted<'p>(
    header: &[(&str, Align)],
    rows: &[Vec<String>],
    paint: impl Fn(usize, usize) -> &'p str,
) -> String {
    let widths = widths(header, rows);
    let line = |cells: &[String], ansi: &dyn Fn(usize) -> &'p str| {
        let mut out = String::new();
        // Blanks are kept back until something follows them.
        let mut blanks = 0;
        for (i, ((_, align), width)) in header.iter().zip(&widths).enumerate() {
            let cell = &plain(cells.get(i).map_or("", String::as_str));
            let rest = width - cell.chars().count();
            let (before, after) = if *align == Align::Left { (0, rest) } else { (rest, 0) };
            if !cell.is_empty() {
                out += &" ".repeat(blanks + before);
                out += &coloured(ansi(i), cell);
                blanks = 0;
            } else {
                blanks += before;
            }
            blanks += after + 2;
        }
        out + "\n"
    };
    let names: Vec<String> = header.iter().map(|(name, _)| (*name).to_string()).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let mut out = line(&names, &|_| "") + &line(&rule, &|_| "");
    for (r, row) in rows.iter().enumerate() {
        out += &line(row, &|c| paint(r, c));
    }
    out
}

/// What stands in a file may hold codes that terminals obey, colours among them: none gets there.
fn plain(cell: &str) -> String {
    cell.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Characters each column needs.
pub(crate) fn widths(header: &[(&str, Align)], rows: &[Vec<String>]) -> Vec<usize> {
    let width = |(i, (name, _)): (usize, &(&str, Align))| {
        let cells = rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count());
        cells.chain([name.chars().count()]).max().unwrap_or(0)
    };
    header.iter().enumerate().map(width).collect()
}

/// Text in a terminal colour; as it is where there is none.
pub(crate) fn coloured(ansi: &str, text: &str) -> String {
    if ansi.is_empty() { text.to_string() } else { format!("{ansi}{text}\x1b[0m") }
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

    #[test]
    fn colours_take_no_room() {
        let header = [("a", Align::Left), ("b", Align::Left)];
        let rows = vec![vec!["x".into(), "y".into()], vec!["long".into(), "z".into()]];
        let plain = table(&header, &rows);
        let colourful = painted(&header, &rows, |_, c| if c == 1 { "\x1b[32m" } else { "" });
        assert_eq!(colourful.replace("\x1b[32m", "").replace("\x1b[0m", ""), plain);
        assert!(colourful.contains("x     \x1b[32my\x1b[0m\n"), "{colourful:?}");
    }
}
