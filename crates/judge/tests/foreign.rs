//! A monitor we did not write decides whether our robustness is right: `rtamt`, offline, in
//! discrete time.
//!
//! It is a Python package (`tests/foreign/requirements.txt`). Set `HEADLAND_PYTHON` to an
//! interpreter that has it; without it these tests say that they were skipped, and with
//! `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
//!
//! Left out by name:
//! - `iff` of rtamt is -|f - g|, never positive: two things that are both true by different
//!   margins count as different. Ours is given to rtamt as two implications; one test shows
//!   the difference.
//! - NaN: Python's `min` depends on the order, so rtamt calls `always` over (1, NaN, -2)
//!   fulfilled by 1.
//! - A trace of one sample: rtamt raises `UnboundLocalError`.
//! - The same specification evaluated twice (nickovic/rtamt#85), and `until` in dense time
//!   (nickovic/rtamt#210).
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use headland_base::{Seed, SimTime};
use headland_judge::lang::ast::Window;
use headland_judge::temporal::{Formula, Node, NodeId, robustness};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;

const SECOND: i64 = 1_000_000_000;
const ATOMS: usize = 3;

/// A formula over a trace of one sample a second.
struct Case {
    formula: Formula,
    root: NodeId,
    columns: Vec<Vec<f64>>,
}

impl Case {
    fn ours(&self) -> Vec<f64> {
        let times: Vec<SimTime> =
            (0..self.columns[0].len()).map(|i| SimTime::from_nanos(i as i64 * SECOND)).collect();
        let columns: Vec<&[f64]> = self.columns.iter().map(Vec::as_slice).collect();
        robustness(&self.formula, self.root, &times, &columns)
    }
}

/// Each node in the words of rtamt.
fn words(formula: &Formula) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (_, node) in formula.nodes() {
        let text = |id: NodeId| texts[id.index()].as_str();
        let unary = |word: &str, w: Window, f: NodeId| match w.to_nanos {
            Some(to) => format!("{word}[{}:{}]({})", w.from_nanos / SECOND, to / SECOND, text(f)),
            None if w.from_nanos == 0 => format!("{word}({})", text(f)),
            // rtamt knows no window that begins later and has no end: the same in two steps.
            None => format!("{word}[{0}:{0}]({word}({1}))", w.from_nanos / SECOND, text(f)),
        };
        let binary = |word: &str, (all, any): (&str, &str), w: Window, f: NodeId, g: NodeId| {
            let (f, g, from) = (text(f), text(g), w.from_nanos / SECOND);
            match w.to_nanos {
                Some(to) => format!("({f}) {word}[{from}:{}] ({g})", to / SECOND),
                None if from == 0 => format!("({f}) {word} ({g})"),
                None => format!(
                    "({all}[0:{}]({f})) and ({any}[{from}:{from}](({f}) {word} ({g})))",
                    from - 1
                ),
            }
        };
        let written = match node {
            Node::Atom(atom) => format!("a{atom} > 0"),
            Node::Not(f) => format!("not({})", text(f)),
            Node::And(f, g) => format!("({}) and ({})", text(f), text(g)),
            Node::Or(f, g) => format!("({}) or ({})", text(f), text(g)),
            Node::Implies(f, g) => format!("({}) implies ({})", text(f), text(g)),
            Node::Iff(f, g) => {
                let (f, g) = (text(f), text(g));
                format!("(({f}) implies ({g})) and (({g}) implies ({f}))")
            }
            Node::Always(w, f) => unary("always", w, f),
            Node::Eventually(w, f) => unary("eventually", w, f),
            Node::Historically(w, f) => unary("historically", w, f),
            Node::Once(w, f) => unary("once", w, f),
            Node::Until(w, f, g) => binary("until", ("always", "eventually"), w, f, g),
            Node::Since(w, f, g) => binary("since", ("historically", "once"), w, f, g),
        };
        texts.push(written);
    }
    texts
}

/// What rtamt makes of the cases; `None` where there is no interpreter.
fn theirs(cases: &[(String, &[Vec<f64>])]) -> Option<Vec<Vec<f64>>> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!(
            "skipped: rtamt is needed.\n\
             python3 -m venv .venv && .venv/bin/pip install -r tests/foreign/requirements.txt\n\
             HEADLAND_PYTHON=$PWD/.venv/bin/python cargo test -p headland-judge --test foreign"
        );
        return None;
    };
    let mut text = String::new();
    for (formula, columns) in cases {
        _ = writeln!(text, "{formula}");
        for column in *columns {
            let numbers: Vec<String> = column.iter().map(f64::to_string).collect();
            _ = writeln!(text, "{}", numbers.join(" "));
        }
        text.push('\n');
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cases");
    std::fs::write(&file, text).unwrap();
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/rtamt_robustness.py");
    // -B leaves no compiled files beside the script.
    let output = Command::new(python).arg("-B").arg(script).arg(file).output().unwrap();
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{faults}");
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect();
    Some(text.lines().map(numbers).collect())
}

fn below(rng: &mut ChaCha8Rng, n: u32) -> u32 {
    rng.next_u32() % n
}

/// Seconds from 0 to 5, to 0 to 6 seconds more; one in four without an end.
fn random_window(rng: &mut ChaCha8Rng) -> Window {
    let from_nanos = i64::from(below(rng, 6)) * SECOND;
    let length = i64::from(below(rng, 7)) * SECOND;
    let to_nanos = (below(rng, 4) > 0).then_some(from_nanos + length);
    Window { from_nanos: if below(rng, 2) == 0 { 0 } else { from_nanos }, to_nanos }
}

/// Three to eight operators over three atoms, 2 to 40 samples. Each operator takes the one
/// before it, so that none is idle.
fn random_case(rng: &mut ChaCha8Rng) -> Case {
    let mut formula = Formula::new();
    let mut ids: Vec<NodeId> = (0..ATOMS).map(|atom| formula.push(Node::Atom(atom))).collect();
    for _ in 0..3 + below(rng, 6) {
        let (last, other) = (*ids.last().unwrap(), ids[below(rng, ids.len() as u32) as usize]);
        let (f, g) = if below(rng, 2) == 0 { (last, other) } else { (other, last) };
        let w = random_window(rng);
        let node = match below(rng, 11) {
            0 => Node::Not(last),
            1 => Node::And(f, g),
            2 => Node::Or(f, g),
            3 => Node::Implies(f, g),
            4 => Node::Iff(f, g),
            5 => Node::Always(w, last),
            6 => Node::Eventually(w, last),
            7 => Node::Historically(w, last),
            8 => Node::Once(w, last),
            9 => Node::Until(w, f, g),
            _ => Node::Since(w, f, g),
        };
        ids.push(formula.push(node));
    }
    let n = 2 + below(rng, 39);
    let mut column = || (0..n).map(|_| f64::from(rng.next_u32()) / 2e9 - 1.0).collect();
    let columns = (0..ATOMS).map(|_| column()).collect();
    Case { root: *ids.last().unwrap(), formula, columns }
}

#[test]
fn robustness_is_that_of_rtamt_on_two_hundred_random_formulas() {
    let mut rng = Seed::new(3).child("formulas").rng();
    let cases: Vec<Case> = (0..200).map(|_| random_case(&mut rng)).collect();
    // Every operator, with and without a window's end, must have had its turn.
    for n in 0..11 {
        let of_kind = |case: &&Case| case.formula.nodes().any(|(_, node)| kind(node) == n);
        assert!(cases.iter().filter(of_kind).count() >= 20, "operator {n} is rare");
    }
    let asked: Vec<_> = cases
        .iter()
        .map(|case| (words(&case.formula).swap_remove(case.root.index()), &case.columns[..]))
        .collect();
    let Some(theirs) = theirs(&asked) else { return };
    assert_eq!(theirs.len(), cases.len());
    let mut n_finite = 0;
    for ((case, theirs), (formula, _)) in cases.iter().zip(&theirs).zip(&asked) {
        let ours = case.ours();
        assert_eq!(ours.len(), theirs.len(), "{formula}");
        for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let equal = ours == theirs || (ours - theirs).abs() <= 1e-9;
            assert!(equal, "sample {i}: {ours}, rtamt {theirs}: {formula}\n{:?}", case.columns);
            n_finite += usize::from(ours.is_finite());
        }
    }
    assert!(n_finite > 2_000, "only {n_finite} values say anything");
}

fn kind(node: Node) -> usize {
    match node {
        Node::Atom(_) => usize::MAX,
        Node::Not(_) => 0,
        Node::And(..) => 1,
        Node::Or(..) => 2,
        Node::Implies(..) => 3,
        Node::Iff(..) => 4,
        Node::Always(..) => 5,
        Node::Eventually(..) => 6,
        Node::Historically(..) => 7,
        Node::Once(..) => 8,
        Node::Until(..) => 9,
        Node::Since(..) => 10,
    }
}

/// The day rtamt changes this, the note above is out of date.
#[test]
fn iff_of_rtamt_is_never_positive_and_ours_is() {
    let mut formula = Formula::new();
    let (f, g) = (formula.push(Node::Atom(0)), formula.push(Node::Atom(1)));
    let root = formula.push(Node::Iff(f, g));
    let case = Case { formula, root, columns: vec![vec![1.0; 2], vec![3.0; 2]] };
    assert_eq!(case.ours(), [1.0; 2], "both are true, and stay so until the first moves by 1");
    let Some(theirs) = theirs(&[("(a0 > 0) iff (a1 > 0)".into(), &case.columns)]) else { return };
    assert_eq!(theirs, [[-2.0; 2]]);
}
