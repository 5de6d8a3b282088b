//! `include`: one text out of many files, and the way back from it to the file and line
//! something was written at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source};
use roxmltree::Node;

use crate::xml;

/// Files that include each other are followed so deep.
const MOST_DEPTH: usize = 20;
/// How long the whole may become \[bytes\].
const MOST_BYTES: usize = 64 << 20;

/// A text with its includes in place.
pub struct Expanded {
    /// The whole, under the name of the outermost file.
    pub source: Arc<Source>,
    /// Where each stretch of the whole came from, in order.
    stretches: Vec<Stretch>,
}

struct Stretch {
    /// Where it starts in the whole.
    start: usize,
    len: usize,
    from: Arc<Source>,
    from_start: usize,
}

impl Expanded {
    /// Puts every include in place; `None` where one cannot be, which is in the findings.
    pub fn new(source: &Arc<Source>, base_dir: &Path, findings: &mut Findings) -> Option<Expanded> {
        let mut expander = Expander {
            base_dir,
            findings,
            whole: String::new(),
            stretches: Vec::new(),
            chain: Vec::new(),
        };
        expander.file(source, None)?;
        let Expander { whole, stretches, .. } = expander;
        Some(Expanded { source: Source::new(source.path.clone(), whole), stretches })
    }

    /// The same place in the file it was written in.
    pub fn original(&self, place: Place) -> Place {
        if !Arc::ptr_eq(&place.source, &self.source) {
            return place;
        }
        let after = self.stretches.partition_point(|s| s.start <= place.span.start);
        let Some(stretch) = after.checked_sub(1).map(|i| &self.stretches[i]) else { return place };
        let offset = (place.span.start - stretch.start).min(stretch.len);
        let start = stretch.from_start + offset;
        let len = place.span.len().min(stretch.len - offset);
        Place::new(&stretch.from, start..start + len)
    }
}

struct Expander<'f> {
    base_dir: &'f Path,
    findings: &'f mut Findings,
    whole: String,
    stretches: Vec<Stretch>,
    chain: Vec<PathBuf>,
}

impl Expander<'_> {
    /// Appends a file: all of the outermost one, only what is inside the root of others.
    fn file(&mut self, source: &Arc<Source>, included_at: Option<Place>) -> Option<()> {
        let document = xml::parse(source).map_err(|d| self.findings.push(d)).ok()?;
        let root = document.root_element();
        let range = match (&included_at, root.first_child(), root.last_child()) {
            (None, _, _) => 0..source.text.len(),
            (Some(_), Some(first), Some(last)) => first.range().start..last.range().end,
            (Some(_), _, _) => 0..0,
        };
        let includes: Vec<Node<'_, '_>> =
            root.descendants().filter(|node| xml::is_named(*node, "include")).collect();
        let mut at = range.start;
        let mut good = true;
        for include in includes {
            self.append(source, at..include.range().start, &included_at)?;
            at = include.range().end;
            good &= self.include(source, include).is_some();
        }
        self.append(source, at..range.end.max(at), &included_at)?;
        good.then_some(())
    }

    fn append(
        &mut self,
        from: &Arc<Source>,
        range: std::ops::Range<usize>,
        included_at: &Option<Place>,
    ) -> Option<()> {
        if self.whole.len() + range.len() > MOST_BYTES {
            let message = format!("with its includes this is longer than {} MiB", MOST_BYTES >> 20);
            self.findings
                .push(Diagnostic::error("too-large", message).at_maybe(included_at.clone()));
            return None;
        }
        self.stretches.push(Stretch {
            start: self.whole.len(),
            len: range.len(),
            from: from.clone(),
            from_start: range.start,
        });
        self.whole.push_str(&from.text[range]);
        Some(())
    }

    fn include(&mut self, source: &Arc<Source>, node: Node<'_, '_>) -> Option<()> {
        let place = Place::new(source, node.range().start..node.range().start + "<include".len());
        let Some(file) = node.attribute("file") else {
            let message = "`include` has no attribute `file`";
            self.findings.push(Diagnostic::error("missing-attribute", message).at(place));
            return None;
        };
        let beside = Path::new(&source.path).parent().map(|dir| dir.join(file));
        let candidates = [Some(self.base_dir.join(file)), beside];
        let Some(path) = candidates.into_iter().flatten().find(|path| path.is_file()) else {
            let message = format!("cannot find `{file}`");
            self.findings.push(Diagnostic::error("missing-file", message).at(place));
            return None;
        };
        let whole_path = path.canonicalize().unwrap_or_else(|_| path.clone());
        if self.chain.contains(&whole_path) || self.chain.len() >= MOST_DEPTH {
            let message = format!("`{file}` includes itself");
            self.findings.push(Diagnostic::error("cyclic-include", message).at(place));
            return None;
        }
        let too_long = std::fs::metadata(&path).is_ok_and(|m| m.len() as usize > MOST_BYTES);
        let text = if too_long { None } else { std::fs::read_to_string(&path).ok() };
        let Some(text) = text else {
            let message = format!("cannot read `{file}`");
            self.findings.push(Diagnostic::error("missing-file", message).at(place));
            return None;
        };
        self.chain.push(whole_path);
        let inner = Source::new(path.display().to_string(), text);
        let done = self.file(&inner, Some(place));
        self.chain.pop();
        done
    }
}
