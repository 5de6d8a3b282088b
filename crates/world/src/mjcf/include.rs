//! `include`: one text out of many files, and the way back from it to the file and line
//! something was written at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source};
use roxmltree::Node;

use crate::files::{self, Unread};
use crate::resource::not_found;
use crate::xml;

/// Files that include each other are followed so deep.
const MOST_DEPTH: usize = 20;
/// So many includes are followed; a few small files can ask for any number.
const MOST_INCLUDES: usize = 10_000;
/// How long the whole may become, and all that is read for it \[bytes\].
const MOST_BYTES: usize = 64 << 20;

/// A text with its includes in place.
pub struct Expanded {
    /// The whole, under the name of the outermost file.
    pub source: Arc<Source>,
    /// Every include is in place. Where one could not be, it is missing from the text.
    pub is_whole: bool,
    /// Where each stretch of the whole came from, in order.
    stretches: Arc<[Stretch]>,
}

struct Stretch {
    /// Where it starts in the whole.
    start: usize,
    len: usize,
    from: Arc<Source>,
    from_start: usize,
}

impl Expanded {
    /// Puts every include in place; what cannot be is in the findings. `None` where no text
    /// comes of it.
    pub fn new(source: &Arc<Source>, base_dir: &Path, findings: &mut Findings) -> Option<Expanded> {
        let mut expander = Expander {
            base_dir,
            findings,
            whole: String::new(),
            stretches: Vec::new(),
            chain: Vec::new(),
            is_cut: false,
            n_includes: 0,
            n_bytes_read: 0,
        };
        let is_whole = expander.file(source, None).is_some();
        let Expander { whole, stretches, is_cut, .. } = expander;
        let expanded = Expanded {
            source: Source::new(source.path.clone(), whole),
            is_whole,
            stretches: stretches.into(),
        };
        (!is_cut && !expanded.stretches.is_empty()).then_some(expanded)
    }

    /// The same with another text of the same length.
    pub fn with_text(&self, source: &Arc<Source>) -> Expanded {
        assert_eq!(source.text.len(), self.source.text.len(), "places stay what they are");
        Expanded {
            source: Arc::clone(source),
            is_whole: self.is_whole,
            stretches: Arc::clone(&self.stretches),
        }
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
    /// The text became too long and ends somewhere.
    is_cut: bool,
    n_includes: usize,
    n_bytes_read: usize,
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
        // What a file's root is called means nothing once its inside is taken out.
        let includes: Vec<Node<'_, '_>> =
            root.descendants().skip(1).filter(|node| xml::is_named(*node, "include")).collect();
        let mut at = range.start;
        let mut good = true;
        for include in includes {
            if include.range().start < at {
                self.nested(source, include);
                good = false;
                continue;
            }
            self.append(source, at..include.range().start, &included_at)?;
            at = include.range().end;
            good &= self.include(source, include).is_some();
        }
        self.append(source, at..range.end.max(at), &included_at)?;
        good.then_some(())
    }

    /// An include inside another, which gives way to a file: it would be lost.
    fn nested(&mut self, source: &Arc<Source>, node: Node<'_, '_>) {
        let message = "no element `include` in `include`";
        self.findings.push(
            Diagnostic::error("unknown-element", message)
                .at(include_place(source, node))
                .help("put it beside the other one"),
        );
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
            self.is_cut = true;
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
        let place = include_place(source, node);
        let Some(file) = node.attribute("file") else {
            let message = "`include` has no attribute `file`";
            self.findings.push(Diagnostic::error("missing-attribute", message).at(place));
            return None;
        };
        let beside = Path::new(&source.path).parent().map(|dir| dir.join(file));
        let mut candidates = vec![self.base_dir.join(file)];
        candidates.extend(beside.filter(|beside| *beside != candidates[0]));
        let Some(path) = candidates.iter().find(|path| path.exists()).cloned() else {
            let help = "a file to include is named from the folder of the outermost model, or \
                        of the file that includes it";
            self.findings.push(not_found(file, &candidates, help).at(place));
            return None;
        };
        let whole_path = path.canonicalize().unwrap_or_else(|_| path.clone());
        if let Some(diagnostic) = self.beyond_bounds(file, &whole_path) {
            self.findings.push(diagnostic.at(place));
            return None;
        }
        self.n_includes += 1;
        let room = MOST_BYTES.saturating_sub(self.n_bytes_read) as u64;
        let text = files::bytes_of(&path, room).map(String::from_utf8);
        let unread =
            |why| Diagnostic::error("missing-file", format!("cannot read `{file}`")).note(why);
        let diagnostic = match text {
            Ok(Ok(text)) => return self.included(text, path, whole_path, place),
            Ok(Err(_)) => unread("it is not UTF-8 text".to_string()),
            Err(Unread::Irregular(diagnostic)) => diagnostic,
            Err(Unread::Failed(error)) => unread(error.to_string()),
            Err(Unread::TooLarge(_)) => {
                let message = format!("its includes are longer than {} MiB", MOST_BYTES >> 20);
                Diagnostic::error("too-large", message)
            }
        };
        self.findings.push(diagnostic.at(place));
        None
    }

    /// The inside of a file that was found.
    fn included(
        &mut self,
        text: String,
        path: PathBuf,
        whole_path: PathBuf,
        place: Place,
    ) -> Option<()> {
        self.n_bytes_read += text.len();
        self.chain.push(whole_path);
        let inner = Source::new(path.display().to_string(), text);
        let done = self.file(&inner, Some(place));
        self.chain.pop();
        done
    }

    /// Why a file is not followed.
    fn beyond_bounds(&self, file: &str, whole_path: &PathBuf) -> Option<Diagnostic> {
        if self.chain.contains(whole_path) {
            let message = format!("`{file}` includes itself");
            return Some(Diagnostic::error("include-cycle", message));
        }
        if self.chain.len() >= MOST_DEPTH {
            let message = format!("includes are chained more than {MOST_DEPTH} deep");
            return Some(Diagnostic::error("include-too-deep", message));
        }
        (self.n_includes >= MOST_INCLUDES).then(|| {
            let message = format!("more than {MOST_INCLUDES} includes");
            Diagnostic::error("too-many-includes", message)
        })
    }
}

fn include_place(source: &Arc<Source>, node: Node<'_, '_>) -> Place {
    let start = node.range().start;
    Place::new(source, start..start + "<include".len())
}
