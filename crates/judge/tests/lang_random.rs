//! The reader, the printer and the lints under random trees, broken programs and noise:
//! never a panic or a hang, and what is printed reads as the same tree. Seeded and bounded,
//! so that every run tries the same.

use std::path::Path;
use std::sync::Arc;
use std::{env, fs};

use headland_base::{Findings, Source};
use headland_judge::lang::ast::*;
use headland_judge::lang::{OPERATORS, lint, parse, parse_formulas, print, same};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A runner that tries the same every time; `PROPTEST_CASES` asks for more.
fn runner(usual: u32) -> TestRunner {
    let cases = env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn name(text: String) -> Name {
    Name { text, span: 0..0 }
}

fn outer_name() -> BoxedStrategy<Name> {
    prop_oneof![
        "[a-z_][a-z0-9_]{0,5}(-[a-z0-9]{1,3})?",
        Just("exit".to_string()),
        Just("green".to_string())
    ]
    .prop_map(name)
    .boxed()
}

fn block_word() -> BoxedStrategy<String> {
    "[a-zA-Z_][a-z0-9_]{0,4}"
        .prop_filter("a literal", |word| !["true", "false", "nil"].contains(&word.as_str()))
        .boxed()
}

fn expr_of(kind: ExprKind) -> Expr {
    Expr { kind, span: 0..0 }
}

fn literal() -> BoxedStrategy<ExprKind> {
    prop_oneof![
        any::<f64>().prop_filter("a number", |n| n.is_finite()).prop_map(ExprKind::Number),
        (-1000i32..1000).prop_map(|n| ExprKind::Number(f64::from(n))),
        ".{0,6}".prop_map(ExprKind::Str),
        prop_oneof!["[a-z]{1,4}", "[a-z]{1,3}:[a-z]{1,3}:", "[-+*/<>=~|]{1,3}", ".{0,4}"]
            .prop_map(ExprKind::Symbol),
        any::<char>().prop_map(ExprKind::Char),
        any::<bool>().prop_map(ExprKind::Bool),
        Just(ExprKind::Nil),
    ]
    .boxed()
}

fn literal_array() -> BoxedStrategy<ExprKind> {
    literal()
        .prop_recursive(3, 12, 4, |inner| {
            prop::collection::vec(inner.prop_map(expr_of), 0..4).prop_map(ExprKind::LiteralArray)
        })
        .prop_map(|kind| match kind {
            kind @ ExprKind::LiteralArray(_) => kind,
            kind => ExprKind::LiteralArray(vec![expr_of(kind)]),
        })
        .boxed()
}

fn message(inner: BoxedStrategy<Expr>) -> BoxedStrategy<Message> {
    let binary = "[-+*/\\\\~<>=@%|&?,!]{1,3}";
    let keyword = prop::collection::vec((block_word(), inner.clone()), 1..3);
    prop_oneof![
        block_word().prop_map(|selector| Message {
            selector,
            selector_span: 0..0,
            args: Vec::new()
        }),
        (binary, inner).prop_map(|(selector, arg)| Message {
            selector,
            selector_span: 0..0,
            args: vec![arg]
        }),
        keyword.prop_map(|parts| {
            let selector = parts.iter().map(|(part, _)| format!("{part}:")).collect();
            let args = parts.into_iter().map(|(_, arg)| arg).collect();
            Message { selector, selector_span: 0..0, args }
        }),
    ]
    .boxed()
}

fn block_of(inner: BoxedStrategy<Expr>) -> BoxedStrategy<Block> {
    let names = || prop::collection::vec(block_word().prop_map(name), 0..3);
    let comments = prop::collection::vec((0..4_usize, "[a-z ;'\\[\\]]{0,6}"), 0..3);
    (names(), names(), prop::collection::vec(inner, 0..4), comments)
        .prop_map(|(params, temps, body, mut comments)| {
            comments.iter_mut().for_each(|(before, _)| *before = (*before).min(body.len()));
            comments.sort_by_key(|(before, _)| *before);
            Block { params, temps, body, comments, span: 0..0 }
        })
        .boxed()
}

fn expr() -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        3 => block_word().prop_map(ExprKind::Name),
        2 => literal(),
        1 => literal_array(),
    ];
    leaf.prop_map(expr_of)
        .prop_recursive(6, 40, 4, |inner| {
            let boxed = inner.clone().prop_map(Box::new);
            let messages = prop::collection::vec(message(inner.clone().boxed()), 2..4);
            let send = (boxed.clone(), message(inner.clone().boxed()));
            prop_oneof![
                6 => send.prop_map(|(to, message)| ExprKind::Send(to, message)),
                1 => (boxed.clone(), messages).prop_map(|(to, m)| ExprKind::Cascade(to, m)),
                1 => (block_word().prop_map(name), boxed.clone())
                    .prop_map(|(name, value)| ExprKind::Assign(name, value)),
                1 => boxed.prop_map(ExprKind::Return),
                1 => prop::collection::vec(inner.clone(), 0..3).prop_map(ExprKind::BraceArray),
                2 => block_of(inner.boxed()).prop_map(ExprKind::Block),
            ]
            .prop_map(expr_of)
        })
        .boxed()
}

fn block() -> BoxedStrategy<Block> {
    block_of(expr())
}

fn window() -> BoxedStrategy<Window> {
    let ends = (0i64..5_000_000_000, prop::option::of(0i64..5_000_000_000));
    prop_oneof![
        Just(Window::default()),
        ends.prop_map(|(from_nanos, length)| {
            Window { from_nanos, to_nanos: length.map(|length| from_nanos + length) }
        })
    ]
    .boxed()
}

fn temporal() -> BoxedStrategy<Temporal> {
    let named = outer_name()
        .prop_map(|name| name.text)
        .prop_filter("an operator", |word| !OPERATORS.contains(&word.as_str()));
    let leaf =
        prop_oneof![block().prop_map(TemporalKind::Atom), named.prop_map(TemporalKind::Name)];
    leaf.prop_map(|kind| Temporal { kind, span: 0..0 })
        .prop_recursive(5, 20, 2, |inner| {
            use TemporalKind::*;
            let one = inner.prop_map(Box::new);
            let pair = (one.clone(), one.clone());
            prop_oneof![
                one.clone().prop_map(Not),
                pair.clone().prop_map(|(a, b)| And(a, b)),
                pair.clone().prop_map(|(a, b)| Or(a, b)),
                pair.clone().prop_map(|(a, b)| Implies(a, b)),
                pair.clone().prop_map(|(a, b)| Iff(a, b)),
                (window(), one.clone()).prop_map(|(w, a)| Always(w, a)),
                (window(), one.clone()).prop_map(|(w, a)| Eventually(w, a)),
                (window(), one.clone()).prop_map(|(w, a)| Historically(w, a)),
                (window(), one).prop_map(|(w, a)| Once(w, a)),
                (window(), pair.clone()).prop_map(|(w, (a, b))| Until(w, a, b)),
                (window(), pair).prop_map(|(w, (a, b))| Since(w, a, b)),
            ]
            .prop_map(|kind| Temporal { kind, span: 0..0 })
        })
        .boxed()
}

fn transition() -> BoxedStrategy<Item> {
    let guard = prop_oneof![
        outer_name().prop_map(Guard::Event),
        block().prop_map(Guard::Block),
        Just(Guard::Always),
        (0i64..100_000).prop_map(|millis| Guard::AfterMillis(millis, 0..0)),
        outer_name().prop_map(Guard::AfterVar),
        block().prop_map(Guard::AfterBlock),
    ];
    let names = (prop::option::of(outer_name()), outer_name(), prop::option::of(outer_name()));
    (guard, any::<bool>(), names)
        .prop_map(|(guard, is_exit, (from, to, label))| {
            let is_exit = is_exit && matches!(guard, Guard::Event(_) | Guard::Block(_));
            let from = match guard {
                Guard::Always => from.or(Some(to.clone())),
                _ => from,
            };
            Item::Transition(Transition { guard, is_exit, from, to, label, span: 0..0 })
        })
        .boxed()
}

fn comment() -> BoxedStrategy<Item> {
    "[ -~]{0,12}".prop_map(|text| Item::Comment(text.trim_end().to_string(), 0..0)).boxed()
}

fn spawn() -> BoxedStrategy<Spawn> {
    (outer_name(), outer_name())
        .prop_map(|(machine, state)| Spawn { machine, state, span: 0..0 })
        .boxed()
}

fn action() -> BoxedStrategy<Item> {
    let moment = prop_oneof![Just(Moment::OnEntry), Just(Moment::OnExit), Just(Moment::Running)];
    prop_oneof![
        3 => (moment, block()).prop_map(|(moment, block)| (moment, ActionBody::Block(block))),
        1 => spawn().prop_map(|spawn| (Moment::OnEntry, ActionBody::Spawn(spawn))),
    ]
    .prop_map(|(moment, body)| Item::Action(Action { moment, body, span: 0..0 }))
    .boxed()
}

fn var() -> BoxedStrategy<Item> {
    (outer_name(), block())
        .prop_map(|(name, init)| Item::Var(Var { name, init, span: 0..0 }))
        .boxed()
}

fn formula() -> BoxedStrategy<Item> {
    let named =
        outer_name().prop_filter("an operator", |name| !OPERATORS.contains(&name.text.as_str()));
    (named, temporal())
        .prop_map(|(name, body)| Item::Formula(Formula { name, body, span: 0..0 }))
        .boxed()
}

fn event() -> BoxedStrategy<Item> {
    (outer_name(), block())
        .prop_map(|(name, block)| Item::Event(Event { name, block, span: 0..0 }))
        .boxed()
}

fn state(machine: BoxedStrategy<Item>) -> BoxedStrategy<Item> {
    let item = prop_oneof![4 => action(), 1 => comment(), 1 => machine];
    (outer_name(), prop::collection::vec(item, 0..4))
        .prop_map(|(name, items)| Item::State(State { name, items, span: 0..0 }))
        .boxed()
}

fn machine() -> BoxedStrategy<Item> {
    let empty = outer_name()
        .prop_map(|name| Item::Machine(Machine { name, items: Vec::new(), span: 0..0 }));
    empty
        .prop_recursive(3, 8, 3, |inner| {
            let item = prop_oneof![
                1 => var(), 1 => event(), 1 => formula(), 2 => transition(), 1 => comment(),
                2 => state(inner.clone().boxed()), 1 => inner,
            ];
            (outer_name(), prop::collection::vec(item, 0..6))
                .prop_map(|(name, items)| Item::Machine(Machine { name, items, span: 0..0 }))
        })
        .boxed()
}

fn program() -> BoxedStrategy<Program> {
    let item = prop_oneof![
        2 => var(), 1 => formula(), 3 => machine(), 1 => comment(),
        1 => spawn().prop_map(Item::Spawn),
        1 => outer_name().prop_map(|name| Item::Require(name, 0..0)),
        1 => outer_name().prop_map(|name| Item::Export(name, 0..0)),
        1 => ".{0,8}".prop_map(|path| Item::Import(Import { path, path_span: 0..0, span: 0..0 })),
    ];
    prop::collection::vec(item, 0..5)
        .prop_map(|items| Program { source: Source::new("random", ""), items })
        .boxed()
}

/// Reads, prints, reads again; lints on the way. Answers the first tree, unless it has
/// errors.
fn walk(text: &str) -> Option<Program> {
    let mut findings = Findings::new();
    let source: Arc<Source> = Source::new("walk.lrp", text);
    let program = parse(&source, &mut findings);
    let has_errors = findings.has_errors();
    lint(&program, None, &mut findings);
    lint(&program, Some(&["ball".to_string()].into()), &mut findings);
    for diagnostic in findings.into_vec() {
        assert!(diagnostic.place.is_some() || diagnostic.code == "more-findings");
        assert!(!diagnostic.render(false).is_empty());
    }
    let printed = print(&program);
    let again = parse(&Source::new("again.lrp", printed.as_str()), &mut Findings::new());
    if !has_errors {
        assert!(same(&program, &again), "{text}\nprinted:\n{printed}");
        assert_eq!(print(&again), printed);
    }
    let _ = parse_formulas(&source, &mut Findings::new());
    (!has_errors).then_some(program)
}

#[test]
fn printed_trees_read_as_themselves() {
    let result = runner(600).run(&program(), |program| {
        let printed = print(&program);
        let mut findings = Findings::new();
        let again = parse(&Source::new("printed.lrp", printed.as_str()), &mut findings);
        let errors: String = findings.into_vec().iter().map(|d| d.render(false)).collect();
        prop_assert!(!errors.contains("error["), "{errors}\n{printed}");
        prop_assert!(same(&program, &again), "{printed}\n{:?}\n{:?}", program.items, again.items);
        prop_assert_eq!(print(&again), printed);
        Ok(())
    });
    result.unwrap();
}

/// The programs of the text cases.
fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lang");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("cases").map(|entry| entry.expect("a case").path()).collect();
    paths.sort();
    let file = |case: String| {
        let file = case.split("-- file --\n").nth(1).expect("a file");
        file.split("-- answer --").next().expect("an answer").to_string()
    };
    paths.iter().map(|path| file(fs::read_to_string(path).expect("a case"))).collect()
}

/// Programs with pieces cut out, doubled and replaced. Some stay whole, so both roads are
/// walked.
#[test]
fn broken_programs_are_harmless() {
    let seeds = seeds();
    let pieces = prop_oneof![
        Just("(".to_string()),
        Just(")".to_string()),
        Just("[".to_string()),
        Just("]".to_string()),
        Just("'".to_string()),
        Just("\"".to_string()),
        Just(";".to_string()),
        Just("$".to_string()),
        Just("|".to_string()),
        Just("#(".to_string()),
        Just("{".to_string()),
        Just(":=".to_string()),
        Just("*->".to_string()),
        Just("\r".to_string()),
        Just("state".to_string()),
        Just(String::new()),
        ".{0,3}",
    ];
    let edit = (any::<prop::sample::Index>(), 0usize..4, pieces);
    let strategy = (any::<prop::sample::Index>(), prop::collection::vec(edit, 1..6));
    let (mut n_whole, mut n_broken) = (0, 0);
    let result = runner(3000).run(&strategy, |(which, edits)| {
        let mut text: Vec<char> = which.get(&seeds).chars().collect();
        for (at, n_cut, with) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + n_cut).min(text.len());
            text.splice(at..end, with.chars());
        }
        walk(&text.into_iter().collect::<String>());
        Ok(())
    });
    result.unwrap();
    for seed in &seeds {
        if walk(seed).is_some() { n_whole += 1 } else { n_broken += 1 }
    }
    assert!(n_whole > 20 && n_broken > 10, "{n_whole} whole, {n_broken} broken");
}

#[test]
fn noise_is_harmless() {
    let signs = "[\\[\\](){}'\"#$:;.=|^a-c0-9 \\n\\r+*<>-]{0,80}";
    let strategy = prop_oneof![signs.boxed(), "\\PC{0,60}".boxed()];
    let result = runner(3000).run(&strategy, |text| {
        walk(&text);
        walk(&format!("(machine m (state green (onentry [{text}])))"));
        walk(&format!("(formula f := {text})"));
        Ok(())
    });
    result.unwrap();
}
