//! Programs at the limits and beyond them: the first are read, the second get a
//! diagnostic, and neither costs a stack, a hang or much memory.

use headland_base::{Diagnostic, Findings, Source};
use headland_judge::lang::ast::Program;
use headland_judge::lang::{
    MOST_FORMS_NESTED, MOST_HIGH, MOST_NESTED, lint, parse, parse_formulas, print, same,
};

/// Everything that walks a tree, on the small stack of a test thread.
fn walk(text: &str) -> (Program, Vec<Diagnostic>) {
    let mut findings = Findings::new();
    let source = Source::new("limit.lrp", text);
    let program = parse(&source, &mut findings);
    let found = findings.clone().into_vec();
    lint(&program, None, &mut findings);
    lint(&program, Some(&["x".to_string()].into()), &mut findings);
    let printed = print(&program);
    let again = parse(&Source::new("again.lrp", printed), &mut Findings::new());
    assert!(!found.is_empty() || same(&program, &again));
    assert!(format!("{:?}", program.items).len() > 1);
    drop(program.clone());
    drop(parse_formulas(&source, &mut Findings::new()));
    (program, found)
}

fn codes(text: &str) -> Vec<&'static str> {
    let mut codes: Vec<_> = walk(text).1.iter().map(|d| d.code).collect();
    codes.dedup();
    codes
}

fn in_action(expression: &str) -> String {
    format!("(machine m (state green (onentry [{expression}])))(spawn m green)")
}

/// Machines in states in machines, `depth` forms deep.
fn nested(depth: usize, inmost: &str) -> String {
    let mut text = String::new();
    for i in 0..depth {
        text += if i % 2 == 0 { "(machine m " } else { "(state green " };
    }
    text + inmost + &")".repeat(depth) + "(spawn m green)"
}

#[test]
fn machines_nest() {
    assert_eq!(codes(&nested(200, "")), [] as [&str; 0]);
    assert_eq!(codes(&nested(MOST_FORMS_NESTED, "")), [] as [&str; 0]);
    assert_eq!(codes(&nested(MOST_FORMS_NESTED + 1, "")), ["too-deep"]);
    let program = walk(&nested(100_000, "")).0;
    assert_eq!(program.items.len(), 2, "the spawn after it is read");
}

#[test]
fn chains_are_long() {
    for link in [" + 1", " abs", " - 1 negated"] {
        let n = if link.len() > 4 { 1000 } else { MOST_HIGH - 1 };
        assert_eq!(codes(&in_action(&format!("1{}", link.repeat(n)))), [] as [&str; 0], "{link}");
        assert_eq!(codes(&in_action(&format!("1{}", link.repeat(50_000)))), ["too-deep"], "{link}");
    }
    let keywords = |n: usize| in_action(&format!("x {}", "at: 1 ".repeat(n)));
    assert_eq!(codes(&keywords(20_000)), [] as [&str; 0]);
    let cascade = |n: usize| in_action(&format!("x a{}", "; b: 1".repeat(n)));
    assert_eq!(codes(&cascade(20_000)), [] as [&str; 0]);
    for link in ["a := ", "^ "] {
        let text = |n: usize| in_action(&format!("{}1", link.repeat(n)));
        assert_eq!(codes(&text(1000)), [] as [&str; 0]);
        assert_eq!(codes(&text(20_000)), ["too-deep"]);
    }
    assert_eq!(codes(&in_action(&"x foo. ".repeat(20_000))), [] as [&str; 0]);
}

#[test]
fn brackets_nest() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("x at: (", ")"), ("1 + (", ")")] {
        let text = |n: usize| in_action(&format!("{}1{}", open.repeat(n), close.repeat(n)));
        assert_eq!(codes(&text(MOST_NESTED - 1)), [] as [&str; 0], "{open}");
        assert_eq!(codes(&text(MOST_NESTED + 1)), ["too-deep"], "{open}");
        assert_eq!(codes(&text(50_000)), ["too-deep"], "{open}");
    }
    let arrays = |n: usize| in_action(&format!("#{}{}", "(".repeat(n), ")".repeat(n)));
    assert_eq!(codes(&arrays(MOST_NESTED - 1)), [] as [&str; 0]);
    assert_eq!(codes(&arrays(50_000)), ["too-deep"]);
    // Long chains inside each other stay within one height.
    let mut text = "1".to_string();
    for _ in 0..20 {
        text = format!("({text}){}", " + 1".repeat(1000));
    }
    assert_eq!(codes(&in_action(&text)), ["too-deep"]);
}

#[test]
fn formulas_nest() {
    let formula = |body: String| format!("(formula f := {body})(require f)");
    let chain = |link: &str, n: usize| formula(format!("{}[x]", link.repeat(n)));
    for link in ["not ", "always ", "[x] and ", "[x] or ", "[x] implies ", "[x] until[0, 1] "] {
        assert_eq!(codes(&chain(link, 1000)), [] as [&str; 0], "{link}");
        assert_eq!(codes(&chain(link, 20_000)), ["too-deep"], "{link}");
    }
    let nested = |n: usize| formula(format!("{}[x]{}", "(".repeat(n), ")".repeat(n)));
    assert_eq!(codes(&nested(MOST_NESTED - 1)), [] as [&str; 0]);
    assert_eq!(codes(&nested(50_000)), ["too-deep"]);
}

/// The highest tree there can be: every limit on top of the others.
#[test]
fn every_limit_at_once() {
    let mut atom = format!("1{}", " + 1".repeat(MOST_HIGH - MOST_NESTED - 10));
    for _ in 0..MOST_NESTED - 5 {
        atom = format!("[{atom}]");
    }
    let formula = format!("(formula f := {}[{atom}])", "not ".repeat(MOST_HIGH - 1));
    let depth = MOST_FORMS_NESTED - 1;
    assert_eq!(codes(&nested(depth, &formula)), [] as [&str; 0]);
}

#[test]
fn what_is_never_closed_is_named_where_it_opens() {
    for (text, code, column) in [
        ("((((((((", "unknown-form", 2),
        ("(machine a (state b", "unclosed-parenthesis", 12),
        ("(var x := [1 + (2", "unclosed-parenthesis", 16),
        ("(var x := [x foo: [bar", "unclosed-bracket", 19),
        ("(var x := [{1. 2", "unclosed-bracket", 12),
        ("(var x := ['abc", "unclosed-string", 12),
        ("(var x := [\"abc", "unclosed-comment", 12),
        ("(import 'abc", "unclosed-string", 9),
    ] {
        let (_, found) = walk(text);
        let hit = found.iter().find(|d| d.code == code).unwrap_or_else(|| panic!("{text}"));
        let place = hit.place.as_ref().expect("a place");
        assert_eq!(place.source.line_column(place.span.start), (1, column), "{text}");
        assert!(found.len() <= 3, "{text}: {found:?}");
    }
}

/// A hundred thousand characters of each: the time is that of reading it once or twice.
#[test]
fn floods_are_read_in_one_go() {
    for piece in [
        "(",
        ")",
        "[",
        "]",
        "{",
        "'",
        "\"",
        ";",
        "$",
        "#(",
        "^",
        "|",
        "a",
        "1",
        "-",
        ".",
        "\r",
        "(a ",
        "(var x\n",
        "(var x := [a\n",
        "(var x := ['\n",
        "(event e [\"\n",
        "(state s\n",
        "(machine m\n",
        "(machine m (state s ",
        "(formula f := (\n",
        "(formula f := not ",
        "'''\n",
        "(machine m [\n",
        "(on [] ; '\n",
        "x := [",
        "x := y ",
        "(spawn a b)",
        " (",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        walk(&text);
        walk(&in_action(&text));
        walk(&format!("(formula f := {text})"));
    }
}
