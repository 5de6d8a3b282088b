//! The book is true: its console blocks are run, its files exist, its lists are complete.
//!
//! ```text
//! docs/src/*.md, README.md ─ stage ─► a folder of its own per page ─ trycmd ─► same output
//! ```
//!
//! Before a page is run, its working folder gets what ships, as `worlds/` and `robots/`,
//! every block of the page whose fence names a file (` ```xml cart.sdf `), and what is in
//! `docs/src/PAGE.in/` where a page would rather not show a file. Its commands run one after
//! the other in that folder, so a page may use what it wrote before.
//! `TRYCMD=overwrite cargo test -p headland --test book` rewrites the answers in the pages;
//! read the diff before you keep it.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::ROOT;

/// Small programs of the system that pages may use beside `headland`.
const TOOLS: &[&str] = &["head", "truncate"];

/// Words with a hyphen between quotes in the sources that are no codes of diagnostics.
const NOT_CODES: &[&str] = &[
    "action-errors",
    "com-fixed",
    "dist-packages",
    "physics-engine",
    "semi-implicit",
    "site-packages",
    "soft-coulomb",
];

fn root() -> PathBuf {
    Path::new(ROOT).canonicalize().expect("the workspace")
}

fn book() -> PathBuf {
    root().join("docs/src")
}

/// Every page of the book but the table of contents, and the README once there is one.
fn pages() -> Vec<PathBuf> {
    let in_book = fs::read_dir(book()).expect("docs/src").map(|entry| entry.expect("entry").path());
    let mut pages: Vec<PathBuf> =
        in_book.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.retain(|path| !path.ends_with("SUMMARY.md"));
    pages.extend(Some(root().join("README.md")).filter(|path| path.exists()));
    pages.sort();
    assert!(pages.len() >= 9, "{pages:?}");
    pages
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fenced blocks of a page: what stands behind the fence, and what is inside.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some((info.trim().to_string(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is left open");
    blocks
}

/// The file a block is named after, as in ` ```xml cart.sdf `.
fn file_of(info: &str) -> Option<&str> {
    info.split_once(' ').map(|(_, file)| file.trim())
}

/// Puts a page and its working folder where trycmd looks for them.
fn stage(page: &Path, stage: &Path) {
    let name = page.file_stem().expect("a name").to_string_lossy().to_string();
    let text = read(page);
    fs::write(stage.join(format!("{name}.md")), for_trycmd(&text)).expect("written");
    fs::create_dir(stage.join(format!("{name}.out"))).expect("says that the folder is a sandbox");
    let folder = stage.join(format!("{name}.in"));
    for shipped in ["worlds", "robots"] {
        copy_folder(&root().join(shipped), &folder.join(shipped));
    }
    let extra = book().join(format!("{name}.in"));
    if extra.exists() {
        copy_folder(&extra, &folder);
    }
    for (info, content) in blocks(&text) {
        let Some(file) = file_of(&info).filter(|file| !file.starts_with("crates/")) else {
            continue;
        };
        assert!(!file.starts_with('/') && !file.contains(".."), "{file} stays in its folder");
        assert!(text.contains(&format!("`{file}`")), "{name}.md shows {file} without its name");
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, content).expect("written");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for path in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("entry").path()) {
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

/// A page as trycmd wants it: a blank line ends each answer, and a block without a language,
/// which it would take for commands, is plain text.
fn for_trycmd(text: &str) -> String {
    let mut out = String::new();
    let (mut fence, mut before) = (None, "");
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        let is_answer = ["```", "$ ", "> ", "? "].iter().all(|sign| !before.starts_with(sign));
        let is_end = fence == Some("```console") && (is_fence || line.starts_with("$ "));
        if is_end && is_answer && !before.is_empty() {
            out.push('\n');
        }
        out += if is_fence && fence.is_none() && line == "```" { "```text" } else { line };
        out.push('\n');
        if is_fence {
            fence = if fence.is_none() { Some(line) } else { None };
        }
        before = line;
    }
    out
}

/// The same page as people want it: without the blank lines.
fn for_people(text: &str) -> String {
    let mut out = String::new();
    let mut is_console = false;
    for line in text.lines() {
        let is_end = line.starts_with("```") || line.starts_with("$ ");
        if is_console && is_end && out.ends_with("\n\n") {
            out.pop();
        }
        is_console = line == "```console" || is_console && !line.starts_with("```");
        out += line;
        out.push('\n');
    }
    out
}

/// Brings pages back whose answers trycmd was asked to rewrite, also when it then fails.
struct BringBack<'a>(&'a Path);

impl Drop for BringBack<'_> {
    fn drop(&mut self) {
        if std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite") {
            for page in pages() {
                let staged = self.0.join(page.file_name().expect("a name"));
                fs::write(&page, for_people(&read(&staged))).expect("written back");
            }
        }
    }
}

#[test]
fn console_blocks_print_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    for page in pages() {
        stage(&page, folder.path());
    }
    let _bring_back = BringBack(folder.path());
    let cases = trycmd::TestCases::new();
    cases.register_bin("headland", Path::new(env!("CARGO_BIN_EXE_headland")));
    for tool in TOOLS {
        let found = ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(tool));
        let found = found.into_iter().find(|path| path.exists());
        cases.register_bin(*tool, found.unwrap_or_else(|| panic!("no program `{tool}`")));
    }
    cases.env("NO_COLOR", "1");
    cases.case(folder.path().join("*.md"));
    cases.run();
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let summary = read(&book().join("SUMMARY.md"));
    let listed: BTreeSet<String> = links(&summary).into_iter().collect();
    let there: BTreeSet<String> = pages()
        .iter()
        .filter(|page| page.starts_with(book()))
        .map(|page| page.file_name().expect("a name").to_string_lossy().to_string())
        .collect();
    assert_eq!(listed, there, "SUMMARY.md on the left, docs/src on the right");
    let mut broken = Vec::new();
    for page in pages() {
        let text = read(&page);
        let folder = page.parent().expect("a folder");
        for link in links(&text) {
            let is_outside = link.contains("://") || link.starts_with("mailto:");
            let file = link.split('#').next().unwrap_or_default();
            if !is_outside && !file.is_empty() && !folder.join(file).exists() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
        for file in named_files(&text) {
            if !root().join(&file).exists() {
                broken.push(format!("{}: `{file}`", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Where `[text](here)` leads.
fn links(text: &str) -> Vec<String> {
    let ends = outside_blocks(text);
    let parts = ends.split("](").skip(1);
    let links = parts.filter_map(|part| part.split([')', ' ']).next());
    links.map(str::to_string).collect()
}

/// Files of the project between backticks.
fn named_files(text: &str) -> Vec<String> {
    let text = outside_blocks(text);
    let spans = text.split('`').skip(1).step_by(2);
    let roots = ["crates/", "worlds/", "robots/", "docs/", "tests/foreign/"];
    let is_file =
        |span: &&str| roots.iter().any(|r| span.starts_with(r)) && !span.contains(['*', ' ']);
    spans.filter(is_file).map(str::to_string).collect()
}

fn outside_blocks(text: &str) -> String {
    let parts = text.split("\n```").step_by(2);
    parts.collect::<Vec<_>>().join("\n")
}

#[test]
fn code_shown_in_the_book_is_code_that_tests_compile() {
    let mut n_shown = 0;
    for page in pages() {
        for (info, content) in blocks(&read(&page)) {
            if !info.starts_with("rust") {
                continue;
            }
            let file = file_of(&info).unwrap_or_else(|| panic!("{}: ```{info}", page.display()));
            let source = read(&root().join(file));
            assert!(source.contains(&content), "{} is not in {file}:\n{content}", page.display());
            n_shown += 1;
        }
    }
    assert!(n_shown > 0, "the book shows code");
}

#[test]
fn every_identity_is_in_the_page_on_engines() {
    let files = fs::read_dir(root().join("crates/engines/tests/identities")).expect("a folder");
    let source: String = files.map(|file| read(&file.expect("an entry").path())).collect();
    let tests = source.split("#[test]\nfn ").skip(1);
    let tests: BTreeSet<String> =
        tests.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name.to_string()).collect();
    assert_eq!(first_cells(&read(&book().join("engines.md")), "identity"), tests);
}

#[test]
fn every_code_of_a_diagnostic_is_in_the_list() {
    let mut in_sources: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for path in
            fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("entry").path())
        {
            if path.is_dir() {
                folders.push(path);
            } else if is_source(&path) {
                in_sources.extend(codes(&read(&path)).into_iter().map(|code| (code, path.clone())));
            }
        }
    }
    let listed = first_cells(&read(&book().join("diagnostics.md")), "code");
    let missing: Vec<_> = in_sources.iter().filter(|(code, _)| !listed.contains(*code)).collect();
    let gone: Vec<_> = listed.iter().filter(|code| !in_sources.contains_key(*code)).collect();
    assert!(missing.is_empty() && gone.is_empty(), "not in the page: {missing:#?}\ngone: {gone:?}");
}

/// What stands between backticks in the first column of the tables headed `head`.
fn first_cells(page: &str, head: &str) -> BTreeSet<String> {
    let mut is_inside = false;
    let mut cells = BTreeSet::new();
    for line in page.lines() {
        let first = line.strip_prefix("| ").and_then(|rest| rest.split(" |").next());
        match first {
            None => is_inside &= line.starts_with('|'),
            Some(cell) if cell == head => is_inside = true,
            Some(cell) if is_inside => _ = cells.insert(cell.trim_matches('`').to_string()),
            Some(_) => {}
        }
    }
    assert!(!cells.is_empty(), "a table headed `{head}`");
    cells
}

fn is_source(path: &Path) -> bool {
    let is_rust = path.extension().is_some_and(|end| end == "rs");
    is_rust
        && path.components().any(|part| part.as_os_str() == "src")
        && !path.ends_with("tests.rs")
}

/// Words between quotes that are codes: those with a hyphen, and those handed to what makes
/// a diagnostic.
fn codes(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let source = source.lines().filter(is_code).collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for (start, _) in source.match_indices('"') {
        let Some((word, _)) = source[start + 1..].split_once('"') else { break };
        let is_word =
            word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        let before = source[..start].trim_end();
        let is_handed = ["error(", "warning(", "remark("].iter().any(|call| before.ends_with(call));
        let is_hyphened = word.contains('-') && !word.starts_with('-') && !word.ends_with('-');
        if !word.is_empty() && is_word && (is_hyphened || is_handed) && !NOT_CODES.contains(&word) {
            found.push(word.to_string());
        }
    }
    found
}
