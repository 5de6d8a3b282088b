//! Text cases for the language: a program goes in, its findings and its canonical text are
//! compared with what the case says. `UPDATE=1 cargo test` rewrites the answers; read the
//! diff before you keep it.
//!
//! The first line of a case says the rule. Words in parentheses there set the stage:
//! `(formulas)` reads a file of formulas, `(cr)` and `(crlf)` change its line ends,
//! `(recording: ball stopTime)` is a recording with those names.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use headland_base::{Findings, Source};
use headland_judge::lang::{lint, parse, parse_formulas, print, same};

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lang");
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut failed = Vec::new();
    for path in paths {
        let case = fs::read_to_string(&path).unwrap();
        let (input, wanted) = case.split_once("-- answer --\n").expect("an answer section");
        let (head, text) = input.split_once("-- file --\n").expect("a file section");
        let got = answer(head, text);
        if env::var_os("UPDATE").is_some() {
            fs::write(&path, format!("{input}-- answer --\n{got}")).unwrap();
        } else if got != wanted {
            failed.push(format!("{}\nwanted:\n{wanted}\ngot:\n{got}", path.display()));
        }
    }
    assert!(failed.is_empty(), "{} cases differ:\n{}", failed.len(), failed.join("\n"));
}

fn answer(head: &str, text: &str) -> String {
    let text = match () {
        () if head.contains("(cr)") => text.replace('\n', "\r"),
        () if head.contains("(crlf)") => text.replace('\n', "\r\n"),
        () => text.to_string(),
    };
    let host: Option<BTreeSet<String>> = head.split_once("(recording:").map(|(_, rest)| {
        let names = rest.split_once(')').expect("a closing parenthesis").0;
        names.split_whitespace().map(str::to_string).collect()
    });
    let mut findings = Findings::new();
    let source = Source::new("test.lrp", text);
    let program = if head.contains("(formulas)") {
        parse_formulas(&source, &mut findings)
    } else {
        parse(&source, &mut findings)
    };
    let is_whole = !findings.has_errors();
    lint(&program, host.as_ref(), &mut findings);
    let printed = print(&program);
    let again = parse(&Source::new("again.lrp", printed.as_str()), &mut Findings::new());
    assert!(!is_whole || same(&program, &again), "{head}: printed and read again it differs");
    assert!(!is_whole || print(&again) == printed, "{head}: printed twice it differs");
    findings.into_vec().iter().map(|d| d.render(false)).collect::<String>() + &printed
}
