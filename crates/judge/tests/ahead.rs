//! Looking ahead is never wrong: random programs over random recordings are judged both
//! ways, and the judgement and everything that happened must be the same.

mod common;

use std::fmt::Write as _;

use headland_base::{Diagnostic, Findings, SimTime, Source};
use headland_judge::code::Code;
use headland_judge::lang::parse;
use headland_judge::vocabulary::Quantity;
use headland_judge::{JudgeOptions, Judgement, Live, LiveSource, Scene, compile, judge, timeline};
use headland_record::track::Remark;
use proptest::prelude::*;

/// Numbers that programs and recordings share, so that comparisons are often close.
const NUMBERS: [&str; 8] = ["0", "1", "-1", "0.5", "2", "0.1", "1e300", "3"];

/// Without variables it can stand in a formula.
fn number(n_vars: u32) -> impl Strategy<Value = String> {
    let term = prop_oneof![
        4 => Just("ball pose z".to_string()),
        4 => Just("ball velocity z".to_string()),
        2 => Just("speed".to_string()),
        2 => Just("ball acceleration z".to_string()),
        1 => Just("ball time".to_string()),
        1 => Just("stopTime".to_string()),
        n_vars => Just("n".to_string()),
        n_vars => Just("top".to_string()),
        n_vars => Just("odd".to_string()),
        4 => prop::sample::select(&NUMBERS[..]).prop_map(str::to_string),
    ];
    term.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), prop::sample::select(&["+", "-", "*", "/", "max:"][..]))
                .prop_map(|(a, b, op)| format!("(({a}) {op} ({b}))")),
            (inner.clone(), prop::sample::select(&["0", "0.1", "1", "2"][..]))
                .prop_map(|(a, r)| format!("(({a}) ~ {r})")),
            inner.clone().prop_map(|a| format!("({a}) abs")),
            inner.prop_map(|a| format!("({a}) negated")),
        ]
    })
}

fn condition(n_vars: u32) -> impl Strategy<Value = String> {
    let compare = prop::sample::select(&["<", "<=", ">", ">=", "=", "!="][..]);
    let atom = prop_oneof![
        8 => (number(n_vars), compare, number(n_vars)).prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
        n_vars => Just("flag".to_string()),
        1 => Just("true".to_string()),
        1 => Just("false".to_string()),
        n_vars => Just("n := n + 1. n > 3".to_string()),
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
        (0..12u8, 0..4usize, prop::option::weighted(0.9, 0..4usize), 0..5usize, condition(2));
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

fn program(outer: &Machine, inner: &Machine, formula: &str, looks_back: bool) -> String {
    let mut out =
        String::from("(var n := [0]) (var top := [1]) (var flag := [false]) (var odd := [nil])\n");
    let operator = if looks_back { "once[0,0.05]" } else { "eventually[0,0.05]" };
    _ = writeln!(out, "(formula f := {operator} [{formula}])");
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
        formula in condition(0),
        looks_back in any::<bool>(),
        table in table(),
        slack in prop::sample::select(&[0.0, 0.3, -0.3][..]),
    ) {
        let text = program(&outer, &inner, &formula, looks_back);
        let scene = Scene::new(common::recording(&table));
        let mut findings = Findings::new();
        let program = parse(&Source::new("random.lrp", text.as_str()), &mut findings);
        let errors: String = findings.into_vec().iter().map(|d| d.render(false)).collect();
        prop_assert!(!errors.contains("error["), "{errors}\n{text}");
        let mut findings = Findings::new();
        let none = |path: &str| Err(Diagnostic::error("no-such-file", path));
        let code = compile(&program, scene.vocabulary(), &none, &mut findings);
        let plain = JudgeOptions { plain: true, slack, ..JudgeOptions::default() };
        let ahead = JudgeOptions { plain: false, ..plain.clone() };
        let (wanted, wanted_line) = timeline(&code, &scene, &plain);
        let (got, got_line) = timeline(&code, &scene, &ahead);
        // NaN robustness is not equal to itself; its words are.
        prop_assert_eq!(format!("{got:?}"), format!("{wanted:?}"), "{}", text);
        prop_assert_eq!(&got_line, &wanted_line, "{}", text);
        // Nobody looks on: conditions go the short way.
        for options in [&plain, &ahead] {
            let alone = judge(&code, &scene, options);
            prop_assert_eq!(format!("{alone:?}"), format!("{wanted:?}"), "{}", text);
        }
        if slack == 0.0 {
            live(&code, &scene, &wanted, &text)?;
        }
    }
}

/// Snapshot by snapshot, as a run would show them.
struct Replay<'a> {
    scene: &'a Scene,
    tick: usize,
}

impl LiveSource for Replay<'_> {
    fn quantity(&self, quantity: Quantity) -> Option<f64> {
        let column = self.scene.column(quantity);
        (self.tick >= column.first_known).then(|| column.values[self.tick])
    }

    fn said(&self, _: u32) -> Option<(SimTime, &Remark)> {
        None
    }
}

/// A test that watches a run says what it says of the recording.
fn live(code: &Code, scene: &Scene, wanted: &Judgement, text: &str) -> Result<(), TestCaseError> {
    let stop = scene.times().last().copied();
    let Ok(mut live) = Live::new(code, Replay { scene, tick: 0 }, stop) else {
        prop_assert!(text.contains("eventually"), "only what looks ahead is refused");
        return Ok(());
    };
    for (tick, time) in scene.times().iter().enumerate() {
        live.source().tick = tick;
        if live.tick(*time) {
            break;
        }
    }
    let got = live.finish();
    let short = |judgement: &Judgement| {
        let roots = judgement.roots.iter();
        let roots: Vec<_> = roots.map(|r| (r.verdict, r.time, r.path.clone())).collect();
        (judgement.verdict, roots, judgement.n_errors)
    };
    prop_assert_eq!(short(&got), short(wanted), "{}", text);
    Ok(())
}
