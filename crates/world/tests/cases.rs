//! Text cases: files go in, rendered findings come out. `tests/cases/*.txt` hold both.
//! `UPDATE=1 cargo test -p headland-world --test cases` rewrites the answers; read the
//! diff before you keep it.

use std::path::Path;
use std::{env, fs};

use headland_base::Source;
use headland_world::resource::Resources;
use headland_world::{ReadOptions, read_text, sdf};

/// The single place that knows the API. The first file of a case is read, the others lie
/// beside it; a case whose first line ends in `(lenient)` is read leniently.
#[test]
fn cases() {
    let mut failed = Vec::new();
    let mut n_cases = 0;
    for entry in fs::read_dir("tests/cases").unwrap() {
        let path = entry.unwrap().path();
        let case = fs::read_to_string(&path).unwrap();
        let (input, wanted) = case.split_once("-- findings --\n").expect("a findings section");
        let got = findings_of(input);
        n_cases += 1;
        if env::var_os("UPDATE").is_some() {
            fs::write(&path, format!("{input}-- findings --\n{got}")).unwrap();
        } else if got != wanted {
            failed.push(format!("{}\nwanted:\n{wanted}\ngot:\n{got}", path.display()));
        }
    }
    assert!(n_cases > 30, "the cases are there");
    assert!(failed.is_empty(), "{} cases differ:\n{}", failed.len(), failed.join("\n"));
}

fn findings_of(input: &str) -> String {
    let (head, files) = split(input);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in &files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let (name, text) = files[0];
    let options = ReadOptions {
        lenient: head.lines().next().is_some_and(|line| line.ends_with("(lenient)")),
        resources: Resources::new(vec![folder.path().join("models")]),
        derive_inertia: None,
    };
    // The whole path, so that a file that includes itself is recognised.
    let whole = folder.path().join(name);
    let source = Source::new(whole.to_str().expect("a plain path"), text);
    let (verdict, findings) = match read_text(source, folder.path(), &options) {
        Ok(read) => {
            assert_written_is_the_same(&read.world, folder.path(), &options);
            ("read", read.findings)
        }
        Err(findings) => ("refused", findings),
    };
    let rendered: String = findings.iter().map(|finding| finding.render(false)).collect();
    let prefix = format!("{}/", folder.path().display());
    format!("{rendered}{verdict}\n").replace(&prefix, "")
}

/// Every world that is read comes back from what we write.
fn assert_written_is_the_same(
    world: &headland_world::World,
    base_dir: &Path,
    options: &ReadOptions,
) {
    let source = Source::new("written.sdf", sdf::write(world));
    let again = read_text(source, base_dir, options).expect("what is written is readable");
    assert_eq!(again.world, *world);
}

/// The words before the first `-- name --` line, and the files.
fn split(input: &str) -> (&str, Vec<(&str, &str)>) {
    let starts: Vec<usize> = input
        .match_indices("-- ")
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || input.as_bytes()[at - 1] == b'\n')
        .collect();
    let ends = starts.iter().skip(1).copied().chain([input.len()]);
    let files = starts.iter().zip(ends).map(|(start, end)| {
        let (line, text) = input[*start..end].split_once('\n').expect("a line");
        (line.trim_matches(|c| c == '-' || c == ' '), text)
    });
    (&input[..starts[0]], files.collect())
}
