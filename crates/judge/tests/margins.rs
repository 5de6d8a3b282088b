//! Margins against brute force: on small logs every amount at which any comparison could turn
//! over can be written down, and the verdict asked between each two.

mod common;

use std::fmt::Write as _;

use headland_base::{Findings, Source};
use headland_judge::code::Code;
use headland_judge::lang::parse;
use headland_judge::{JudgeOptions, Margin, Scene, Sureness, Verdict, compile, judge, margin};
use proptest::prelude::*;

/// Columns `p` and `q`, a row every second.
fn scene(rows: &[(f64, f64)]) -> Scene {
    let rows = rows.iter().enumerate().map(|(i, (p, q))| format!("{} {p} {q}\n", i * 1000));
    Scene::new(common::recording(&format!("ms p q\n{}", rows.collect::<String>())))
}

fn compiled(text: &str, scene: &Scene) -> Code {
    let mut findings = Findings::new();
    let program = parse(&Source::new("test.lrp", text), &mut findings);
    assert!(!findings.has_errors(), "{text}");
    compile(&program, scene.vocabulary(), &|_| unreachable!("no imports"), &mut findings)
}

fn sureness(text: &str, rows: &[(f64, f64)]) -> (Verdict, Sureness) {
    let scene = scene(rows);
    let code = compiled(text, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    (judgement.verdict, margin(&code, &scene, &judgement))
}

fn only_margin(text: &str, rows: &[(f64, f64)]) -> Margin {
    sureness(text, rows).1.margin().cloned().expect("a margin")
}

/// Green for no slack, red from 0.5 to 0.7 harder, green again beyond: steps of four missed it.
#[test]
fn a_verdict_that_flips_and_flips_back_is_found() {
    let text = "(machine m (state a) (state b) (state red) (state green)
      (on [p > 1] a -> b)
      (on [q > 0] b -> red)
      (on [recording time >= stopTime] b -> green)
      (on [recording time >= stopTime] a -> red))
    (spawn m a)";
    for (p, turn) in [(1.7, 0.5), (1.6, 0.5), (1.52, 0.5), (1.501, 0.5), (1.3, f64::INFINITY)] {
        let (verdict, sureness) = sureness(text, &[(p, -9.0), (0.0, 0.5), (0.0, -9.0)]);
        assert_eq!(verdict, Verdict::Red);
        if turn.is_infinite() {
            // Green needs `q > 0` to fail while `p > 1` still holds, which never happens; but
            // 9 easier everything else does.
            assert_ne!(sureness.margin().map(|m| m.is_harder), Some(true), "{sureness:?}");
            continue;
        }
        let margin = sureness.margin().expect("it flips");
        assert_eq!((margin.amount, margin.is_exact, margin.is_harder), (turn, true, true), "{p}");
    }
}

/// Two comparisons turn over at the same amount; only the second had an effect.
#[test]
fn the_comparison_that_matters_is_named_among_those_that_tie() {
    let body = "(state red) (state green)
      (on [p > 2 and: [recording time > 1.5]] a -> red)
      (on [recording time >= stopTime] *-> green))
    (spawn m a)";
    let rows = [(0.0, 0.0), (2.25, 0.0), (2.25, 0.0), (0.0, 0.0)];
    // With something that runs at every snapshot nothing is passed over.
    for a in ["(state a)", "(var top := [0]) (state a (running [top := top max: p]))"] {
        let margin = only_margin(&format!("(machine m {a} {body}"), &rows);
        assert_eq!((margin.amount, margin.time.secs()), (0.25, 2.0), "{a}");
    }
}

/// An equality of a measurement is on the edge; one of a count or a mode is not.
#[test]
fn an_exact_equality_of_a_measurement_has_no_margin() {
    let text = "(machine m (state a) (state red) (state green)
      (on [p = 3] a -> red)
      (on [recording time >= stopTime] a -> green))
    (spawn m a)";
    let margin = only_margin(text, &[(1.5, 0.0), (3.0, 0.0), (1.0, 0.0)]);
    assert_eq!((margin.amount, margin.is_harder, margin.time.secs()), (0.0, true, 1.0));
    let modes = [(1.0, 0.0), (3.0, 0.0), (1.0, 0.0)];
    assert_eq!(sureness(text, &modes), (Verdict::Red, Sureness::Unshakable));
    // The nearest that is not equal, a half away.
    let margin = only_margin(text, &[(2.5, 0.0), (4.0, 0.0)]);
    assert_eq!((margin.amount, margin.is_harder), (0.5, false));
}

/// With a million snapshots there is no time to look at every amount: the answer says so.
#[test]
fn what_cannot_be_searched_whole_is_said_to_be_at_most() {
    let rows: Vec<(f64, f64)> = (0..400_000).map(|i| (f64::from(i % 1000) * 1e-3, 0.0)).collect();
    let text = "(machine m (state a) (state b) (state red) (state green)
      (on [p > 0.5] a -> b)
      (on [p < 0.25] b -> a)
      (on [q > 3] *-> red)
      (on [recording time >= stopTime] *-> green))
    (spawn m a)";
    let (verdict, sureness) = sureness(text, &rows);
    assert_eq!(verdict, Verdict::Green);
    let margin = sureness.margin().expect("`q > 3` turns over");
    assert!(!margin.is_exact && (margin.amount - 3.0).abs() < 1e-6, "{margin:?}");
}

/// A transition: source, channel, comparison, limit, target.
type Arrow = (usize, usize, usize, f64, usize);

const STATES: [&str; 5] = ["a", "b", "c", "red", "green"];
const COMPARISONS: [&str; 6] = ["<", ">", "<=", ">=", "=", "!="];

fn test_of(arrows: &[Arrow]) -> String {
    let mut text =
        "(machine m (state a) (state b) (state c) (state red) (state green)\n".to_string();
    for (from, channel, comparison, limit, to) in arrows {
        let (from, to) = (STATES[*from], STATES[*to]);
        let condition = match channel {
            2 => "recording time >= stopTime".to_string(),
            3 => format!("(p < {limit}) not and: [q > {limit}]"),
            _ => format!("{} {} {limit}", ["p", "q"][*channel], COMPARISONS[*comparison]),
        };
        _ = writeln!(text, "  (on [{condition}] {from} -> {to})");
    }
    text + ")\n(spawn m a)"
}

proptest! {
    #[test]
    fn no_flip_is_missed(
        rows in prop::collection::vec((-50i32..50, -50i32..50), 1..12),
        arrows in prop::collection::vec((0usize..3, 0usize..4, 0usize..6, -40i32..40, 0usize..5), 1..8),
    ) {
        // Quarters, so that every difference is exact.
        let quarter = |n: i32| f64::from(n) * 0.25;
        let rows: Vec<(f64, f64)> = rows.iter().map(|(p, q)| (quarter(*p), quarter(*q))).collect();
        let arrows: Vec<Arrow> =
            arrows.iter().map(|(a, b, c, n, d)| (*a, *b, *c, quarter(*n), *d)).collect();
        let text = test_of(&arrows);
        let scene = scene(&rows);
        let code = compiled(&text, &scene);
        let verdict = |slack: f64| {
            judge(&code, &scene, &JudgeOptions { slack, ..JudgeOptions::default() }).verdict
        };
        // Every turn is a multiple of a quarter below 25, so between two of them all is one.
        let flips = |i: i32| [-1.0, 1.0].map(|sign| verdict(sign * (quarter(i) + 0.125)) != verdict(0.0));
        let wanted = (0..100).find(|i| flips(*i).contains(&true)).map(quarter);
        let judgement = judge(&code, &scene, &JudgeOptions::default());
        match (margin(&code, &scene, &judgement), wanted) {
            (Sureness::Margin(found), Some(wanted)) => {
                prop_assert!(found.is_exact, "{text}");
                prop_assert_eq!(found.amount, wanted, "{}", text);
                let way = usize::from(!found.is_harder);
                prop_assert!(flips((wanted * 4.0) as i32)[way], "{text}");
                prop_assert!(found.site.is_some(), "{text}");
            }
            (Sureness::Unshakable, None) => {}
            (found, wanted) => prop_assert!(false, "{found:?}, wanted {wanted:?}\n{text}\n{rows:?}"),
        }
    }
}
