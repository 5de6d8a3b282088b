//! Tests as files: read, linted, compiled for a recording.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Source};
use headland_judge::code::Code;
use headland_judge::lang::ast::{Item, Program};
use headland_judge::lang::{lint, parse, parse_formulas};
use headland_judge::{Vocabulary, compile};

use crate::context::read_bytes;

/// Tests larger than this are refused.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A test that was read.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// The path as given.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it says; parts that could not be read are marked in it.
    pub program: Program,
    findings: Findings,
}

impl TestFile {
    /// Whether a path is a test's, by its ending.
    pub fn is_one(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending == "lrp" || ending == "stl")
    }

    /// Reads a test. An `Err` is a file that cannot be read at all.
    pub fn read(path: &Path) -> Result<TestFile, Vec<Diagnostic>> {
        let name = path.display().to_string();
        if !TestFile::is_one(path) {
            let message = format!("`{name}` is no test");
            let help = "tests end in .lrp (programs) or .stl (formulas)";
            return Err(vec![Diagnostic::error("not-a-test", message).help(help)]);
        }
        let source = read_source(path).map_err(|fault| vec![fault])?;
        Ok(TestFile::of_source(&source, path))
    }

    /// Reads several, or says what is wrong with every one that cannot be read.
    pub fn read_all(paths: &[PathBuf]) -> Result<Vec<TestFile>, Vec<Diagnostic>> {
        let (mut tests, mut faults) = (Vec::new(), Vec::new());
        for path in paths {
            match TestFile::read(path) {
                Ok(test) => tests.push(test),
                Err(more) => faults.extend(more),
            }
        }
        if faults.is_empty() { Ok(tests) } else { Err(faults) }
    }

    /// Reads a test that is in memory already.
    pub fn of_source(source: &Arc<Source>, path: &Path) -> TestFile {
        let mut findings = Findings::new();
        let is_formulas = path.extension().is_some_and(|ending| ending == "stl");
        let program = if is_formulas {
            parse_formulas(source, &mut findings)
        } else {
            parse(source, &mut findings)
        };
        TestFile { name: source.path.clone(), path: path.to_path_buf(), program, findings }
    }

    /// What is wrong with it whatever the recording.
    pub fn lint(&self) -> Vec<Diagnostic> {
        let mut findings = self.findings.clone();
        lint(&self.program, None, &mut findings);
        // Imports are followed; the names of a recording are not known and not asked for.
        let before = findings.clone().into_vec().len();
        let mut all = findings.clone();
        compile(&self.program, &Vocabulary::default(), &|path| self.import(path), &mut all);
        findings.extend(all.into_vec().into_iter().skip(before));
        findings.into_vec()
    }

    /// Compiled for a vocabulary, with everything that is wrong with it there.
    pub fn compile(&self, vocabulary: &Vocabulary) -> (Code, Vec<Diagnostic>) {
        let mut findings = self.findings.clone();
        let code = compile(&self.program, vocabulary, &|path| self.import(path), &mut findings);
        let names: BTreeSet<String> = vocabulary.names().map(str::to_string).collect();
        lint(&self.program, Some(&names), &mut findings);
        (code, findings.into_vec())
    }

    /// The text behind `(import 'path')`, seen from the test's own folder.
    pub fn import(&self, path: &str) -> Result<Arc<Source>, Diagnostic> {
        read_source(&self.beside(path))
    }

    /// Its own text, and those it imports.
    pub fn sources(&self) -> Vec<Arc<Source>> {
        let imported = self.program.items.iter().filter_map(|item| match item {
            Item::Import(form) => self.import(&form.path).ok(),
            _ => None,
        });
        std::iter::once(Arc::clone(&self.program.source)).chain(imported).collect()
    }

    /// The files it imports.
    pub fn imports(&self) -> Vec<PathBuf> {
        let forms = self.program.items.iter().filter_map(|item| match item {
            Item::Import(form) => Some(self.beside(&form.path)),
            _ => None,
        });
        forms.collect()
    }

    fn beside(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// What is in it, as counts.
    pub fn summary(&self) -> Vec<(&'static str, u64)> {
        let n = |is: fn(&Item) -> bool| self.program.items.iter().filter(|i| is(i)).count() as u64;
        let all = vec![
            ("machine", n(|item| matches!(item, Item::Machine(_)))),
            ("formula", n(|item| matches!(item, Item::Formula(_)))),
        ];
        all.into_iter().filter(|(_, n)| *n > 0).collect()
    }
}

fn read_source(path: &Path) -> Result<Arc<Source>, Diagnostic> {
    let name = path.display();
    if path.metadata().is_ok_and(|about| about.len() > MOST_BYTES) {
        return Err(Diagnostic::error("too-large", format!("`{name}` is too large for a test")));
    }
    let bytes = read_bytes(path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Diagnostic::error("not-utf8", format!("`{name}` is not UTF-8 text")))?;
    Ok(Source::new(name.to_string(), text))
}
