//! Text that may stand in XML and HTML.

/// With `&`, `<`, `>` and quotes written out, and without what XML 1.0 cannot hold.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let text = "a<b>&\"'\u{0}\u{1b}é\n";
        let xml = format!("<t a=\"{0}\">{0}</t>", escaped(text));
        let read = roxmltree::Document::parse(&xml).expect("well-formed");
        assert_eq!(read.root_element().text(), Some("a<b>&\"'\u{fffd}\u{fffd}é\n"));
    }
}
