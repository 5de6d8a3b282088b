//! Looking ahead is never wrong: random programs over random recordings are judged both
//! ways, and the judgement and everything that happened must be the same.

mod common;

use std::fmt::Write as _;

use headland_base::{Diagnostic, Findings, Source};
use headland_judge::lang::parse;
use headland_judge::{JudgeOptions, Scene, compile, timeline};
use proptest::prelude::*;

/// Numbers that programs and recordings share, so that comparisons are often close.
const NUMBERS: [&str; 8] = ["0", "1", "-1", "0.5", "2", "0.1", "1e300", "3"];

fn number() -> impl Strategy<Value = String> {
    let term = prop_oneof![
        4 => Just("ball pose z".to_string()),
        4 => Just("ball velocity z".to_string()),
        2 => Just("speed".to_string()),
        2 => Just("ball acceleration z".to_string()),
        1 => Just("ball time".to_string()),
        1 => Just("stopTime".to_string()),
        2 => Just("n".to_string()),
        2 => Just("top".to_string()),
        1 => Just("odd".to_string()),
        4 => prop::sample::select(&NUMBERS[..]).prop_map(str::to_string),
    ];
    term.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), prop::sample::select(&["+", "-", "*", "/", "max:"][..]))
                .prop_map(|(a, b, op)| format!("(({a}) {op} ({b}))")),
            (inner.clone(), prop::sample::select(&["0", "0.1", "1", "n"][..]))
                .prop_map(|(a, r)| format!("(({a}) ~ {r})")),
            inner.clone().prop_map(|a| format!("({a}) abs")),
            inner.prop_map(|a| format!("({a}) negated")),
        ]
    })
}

fn condition() -> impl Strategy<Value = String> {
    let compare = prop::sample::select(&["<", "<=", ">", ">=", "=", "!="][..]);
    let atom = prop_oneof![
        8 => (number(), compare, number()).prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
        1 => Just("flag".to_string()),
        1 => Just("true".to_string()),
        1 => Just("false".to_string()),
        1 => Just("n := n + 1. n > 3".to_string()),
    ];
    atom.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) and: [{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) or: [{b}]")),
            inner.prop_map(|a| format!("({a}) not")),
        ]
    })
    // An assignment is a statement of its own, and only at the front.
    .prop_map(|text| {
        if text.contains(":=") && text.starts_with('(') {
            text.replace("n := n + 1. ", "")
        } else {
            text
        }
    })
}

fn action() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "n := n + 1",
            "top := ball pose z",
            "flag := ball velocity z > 0",
            "flag := flag not",
            "odd := nil",
            "odd := n / (ball velocity z)",
        ][..],
    )
}

#[derive(Debug, Clone)]
struct Machine {
    transitions: Vec<(u8, usize, Option<usize>, usize, String)>,
    actions: Vec<(usize, u8, &'static str)>,
    nested: bool,
}

fn machine() -> impl Strategy<Value = Machine> {
    let transition =
        (0..12u8, 0..4usize, prop::option::weighted(0.9, 0..4usize), 0..5usize, condition());
    let act = (0..4usize, 0..3u8, action());
    (prop::collection::vec(transition, 1..8), prop::collection::vec(act, 0..4), any::<bool>())
        .prop_map(|(transitions, actions, nested)| Machine { transitions, actions, nested })
}

const STATES: [&str; 5] = ["a", "b", "c", "green", "red"];

fn write(out: &mut String, name: &str, machine: &Machine, inner: Option<&Machine>) {
    _ = writeln!(out, "(machine {name}");
    for (i, state) in STATES.iter().enumerate() {
        _ = write!(out, "  (state {state}");
        for (_, moment, block) in machine.actions.iter().filter(|(at, ..)| *at == i) {
            let moment = ["onentry", "onexit", "running"][usize::from(*moment)];
            _ = write!(out, " ({moment} [{block}])");
        }
        if let Some(inner) = inner.filter(|_| i == 1) {
            out.push('\n');
            write(out, "inner", inner, None);
            out.push_str("(onentry (spawn inner a))");
        }
        out.push_str(")\n");
    }
    for (kind, _, from, to, condition) in &machine.transitions {
        let arc = match from {
            Some(from) => format!("{} -> {}", STATES[*from], STATES[*to]),
            None => format!("*-> {}", STATES[*to]),
        };
        _ = match kind {
            0 if from.is_some() => writeln!(out, "  (eps {arc})"),
            1 => writeln!(out, "  (ontime 30 {arc})"),
            2 => writeln!(out, "  (ontime n {arc})"),
            3 => writeln!(out, "  (exit [{condition}] {arc})"),
            _ => writeln!(out, "  (on [{condition}] {arc})"),
        };
    }
    out.push_str(")\n");
}

fn program(outer: &Machine, inner: &Machine, formula: &str) -> String {
    let mut out =
        String::from("(var n := [0]) (var top := [1]) (var flag := [false]) (var odd := [nil])\n");
    if !formula.contains([' '])
        || formula.contains("n ")
        || formula.contains("top")
        || formula.contains("flag")
        || formula.contains("odd")
    {
        out.push_str("(formula f := eventually[0,0.05] [ball velocity z > 0])\n");
    } else {
        _ = writeln!(out, "(formula f := once[0,0.05] [{formula}])");
    }
    write(&mut out, "outer", outer, Some(inner).filter(|_| outer.nested));
    out.push_str("(machine second (state a) (state green) (on f a -> green))\n");
    out.push_str("(spawn outer a)\n(spawn second a)\n");
    out
}

fn table() -> impl Strategy<Value = String> {
    let cell = prop_oneof![
        20 => prop::sample::select(&["0", "1", "-1", "0.5", "2", "0.1", "-0.05", "1e308"][..]),
        1 => Just("nan"),
        1 => Just("inf"),
    ];
    // Long stretches of one value, so that there is something to pass over.
    let row = (prop::array::uniform3(cell), prop_oneof![1usize..4, 20usize..200]);
    prop::collection::vec(row, 1..8).prop_map(|rows| {
        let mut out = String::from("ms z vz speed\n");
        let mut millis = 0;
        for ([z, vz, speed], n) in rows {
            for _ in 0..n {
                _ = writeln!(out, "{millis} {z} {vz} {speed}");
                millis += 10;
            }
        }
        out
    })
}

fn n_cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(n_cases()) })]

    #[test]
    fn looking_ahead_is_never_wrong(
        outer in machine(),
        inner in machine(),
        formula in condition(),
        table in table(),
        slack in prop::sample::select(&[0.0, 0.3, -0.3][..]),
    ) {
        let text = program(&outer, &inner, &formula);
        let scene = Scene::new(common::recording(&table));
        let mut findings = Findings::new();
        let program = parse(&Source::new("random.lrp", text.as_str()), &mut findings);
        let errors: String = findings.into_vec().iter().map(|d| d.render(false)).collect();
        prop_assert!(!errors.contains("error["), "{errors}\n{text}");
        let mut findings = Findings::new();
        let none = |path: &str| Err(Diagnostic::error("no-such-file", path));
        let code = compile(&program, scene.vocabulary(), &none, &mut findings);
        let plain = JudgeOptions { plain: true, slack, range: None };
        let ahead = JudgeOptions { plain: false, ..plain.clone() };
        let (wanted, wanted_line) = timeline(&code, &scene, &plain);
        let (got, got_line) = timeline(&code, &scene, &ahead);
        // NaN robustness is not equal to itself; its words are.
        prop_assert_eq!(format!("{got:?}"), format!("{wanted:?}"), "{}", text);
        prop_assert_eq!(got_line, wanted_line, "{}", text);
    }
}
