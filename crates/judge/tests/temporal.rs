//! Temporal formulas by two roads: the definition, read aloud sample by sample, against the
//! columns and the live monitor, over random formulas, times, windows and values.
#![allow(clippy::unwrap_used)]

use headland_base::SimTime;
use headland_judge::lang::ast::Window;
use headland_judge::temporal::{
    Formula, Monitor, Node, NodeId, Robustness, TimeWentBack, Truth, robustness, truth,
};
use proptest::collection::vec;
use proptest::prelude::*;

const ATOMS: usize = 3;

/// How true things are combined, written without an order: by asking what is among them.
trait Logic: Copy + PartialEq + std::fmt::Debug {
    const FALSE: Self;
    const TRUE: Self;
    fn not(self) -> Self;
    fn all(values: &[Self]) -> Self;
    fn any(values: &[Self]) -> Self {
        Self::all(&values.iter().map(|v| v.not()).collect::<Vec<_>>()).not()
    }
}

impl Logic for f64 {
    const FALSE: f64 = f64::NEG_INFINITY;
    const TRUE: f64 = f64::INFINITY;
    fn not(self) -> f64 {
        -self
    }
    fn all(values: &[f64]) -> f64 {
        let known = values.iter().copied().filter(|v| !v.is_nan());
        let least = known.clone().fold(f64::INFINITY, f64::min);
        let some_false = known.clone().any(|v| v.is_sign_negative());
        let not_known = values.iter().any(|v| v.is_nan());
        match least {
            _ if not_known && !some_false => f64::NAN,
            0.0 if some_false => -0.0, // the false one of two zeros
            least => least,
        }
    }
}

impl Logic for Option<bool> {
    const FALSE: Option<bool> = Some(false);
    const TRUE: Option<bool> = Some(true);
    fn not(self) -> Option<bool> {
        self.map(|b| !b)
    }
    fn all(values: &[Option<bool>]) -> Option<bool> {
        match (values.contains(&Some(false)), values.contains(&None)) {
            (true, _) => Some(false),
            (false, true) => None,
            (false, false) => Some(true),
        }
    }
}

/// The samples of the window of sample `i`, looking ahead or behind.
fn samples(times: &[SimTime], window: Window, i: usize, ahead: bool) -> Vec<usize> {
    let nanos = |k: usize| i128::from(times[k].nanos());
    (0..times.len())
        .filter(|j| if ahead { *j >= i } else { *j <= i })
        .filter(|j| (nanos(*j) - nanos(i)).abs() >= i128::from(window.from_nanos))
        .filter(|j| window.to_nanos.is_none_or(|to| (nanos(*j) - nanos(i)).abs() <= to.into()))
        .collect()
}

/// The definition. O(n²) and worse, on purpose.
fn naive<T: Logic>(formula: &Formula, root: NodeId, times: &[SimTime], atoms: &[Vec<T>]) -> Vec<T> {
    let mut columns: Vec<Vec<T>> = Vec::new();
    for (_, node) in formula.nodes() {
        let at = |id: NodeId, i: usize| columns[id.index()][i];
        let over = |f: NodeId, window, i, ahead| -> Vec<T> {
            samples(times, window, i, ahead).into_iter().map(|j| at(f, j)).collect()
        };
        let chain = |f: NodeId, g: NodeId, window, i: usize, ahead: bool| {
            let ways: Vec<T> = samples(times, window, i, ahead)
                .into_iter()
                .map(|j| {
                    let held = if ahead { i..j } else { j + 1..i + 1 };
                    let mut needed: Vec<T> = held.map(|k| at(f, k)).collect();
                    needed.push(at(g, j));
                    T::all(&needed)
                })
                .collect();
            if ways.is_empty() { T::FALSE } else { T::any(&ways) }
        };
        let all = |values: Vec<T>| if values.is_empty() { T::TRUE } else { T::all(&values) };
        let any = |values: Vec<T>| if values.is_empty() { T::FALSE } else { T::any(&values) };
        let column = (0..times.len())
            .map(|i| match node {
                Node::Atom(atom) => atoms[atom][i],
                Node::Not(f) => at(f, i).not(),
                Node::And(f, g) => T::all(&[at(f, i), at(g, i)]),
                Node::Or(f, g) => T::any(&[at(f, i), at(g, i)]),
                Node::Implies(f, g) => T::any(&[at(f, i).not(), at(g, i)]),
                Node::Iff(f, g) => T::any(&[
                    T::all(&[at(f, i), at(g, i)]),
                    T::all(&[at(f, i).not(), at(g, i).not()]),
                ]),
                Node::Always(w, f) => all(over(f, w, i, true)),
                Node::Eventually(w, f) => any(over(f, w, i, true)),
                Node::Historically(w, f) => all(over(f, w, i, false)),
                Node::Once(w, f) => any(over(f, w, i, false)),
                Node::Until(w, f, g) => chain(f, g, w, i, true),
                Node::Since(w, f, g) => chain(f, g, w, i, false),
            })
            .collect();
        columns.push(column);
    }
    columns.swap_remove(root.index())
}

/// What a random formula is made from: an operator, two operands, a window.
type Step = (usize, usize, usize, Window);

fn build(steps: &[Step], only_behind: bool) -> (Formula, NodeId) {
    let mut formula = Formula::new();
    let mut ids: Vec<NodeId> = (0..ATOMS).map(|atom| formula.push(Node::Atom(atom))).collect();
    for &(op, f, g, w) in steps {
        // The first operand is one of the latest nodes, so that formulas grow deep.
        let (f, g) = (ids[ids.len() - 1 - f % ids.len().min(3)], ids[g % ids.len()]);
        let node = match op % if only_behind { 8 } else { 11 } {
            0 => Node::Not(f),
            1 => Node::And(f, g),
            2 => Node::Or(f, g),
            3 => Node::Implies(f, g),
            4 => Node::Iff(f, g),
            5 => Node::Historically(w, f),
            6 => Node::Once(w, f),
            7 => Node::Since(w, f, g),
            8 => Node::Always(w, f),
            9 => Node::Eventually(w, f),
            _ => Node::Until(w, f, g),
        };
        ids.push(formula.push(node));
    }
    (formula, *ids.last().unwrap())
}

fn window() -> impl Strategy<Value = Window> {
    let from = prop_oneof![4 => Just(0), 8 => 0..8i64, 1 => Just(i64::MAX)];
    let to = prop_oneof![
        2 => Just(None),
        8 => (0..9i64).prop_map(Some), // may be shorter than `from`: an empty window
        1 => Just(Some(i64::MAX)),
    ];
    (from, to).prop_map(|(from_nanos, to_nanos)| Window { from_nanos, to_nanos })
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (-6..=6i32).prop_map(|n| f64::from(n) / 2.0),
        2 => Just(f64::NAN),
        1 => Just(0.0),
        1 => Just(-0.0),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
    ]
}

/// Times from one of three places of the clock, and a value of each atom at each.
fn trace() -> impl Strategy<Value = (Vec<SimTime>, Vec<Vec<f64>>)> {
    let start = prop_oneof![Just(0), Just(i64::MIN), Just(i64::MAX - 40)];
    let gap = prop_oneof![3 => Just(1i64), 2 => Just(0), 2 => Just(2), 1 => Just(5), 1 => Just(i64::MAX / 3)];
    (start, vec((gap, [value(), value(), value()]), 0..30)).prop_map(|(start, samples)| {
        let mut nanos: i64 = start;
        let mut times = Vec::new();
        for (gap, _) in &samples {
            nanos = nanos.saturating_add(*gap);
            times.push(SimTime::from_nanos(nanos));
        }
        let column = |atom: usize| samples.iter().map(|(_, values)| values[atom]).collect();
        (times, (0..ATOMS).map(column).collect())
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec((0..100usize, 0..100usize, 0..100usize, window()), 1..10)
}

/// Equal to the bit, the sign of zero included; any NaN is *not known*.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

fn slices<T>(columns: &[Vec<T>]) -> Vec<&[T]> {
    columns.iter().map(Vec::as_slice).collect()
}

/// The atoms' own truth: their sign, and where they are zero either, by the place.
fn truths(atoms: &[Vec<f64>]) -> Vec<Vec<Option<bool>>> {
    let of = |(i, v): (usize, &f64)| match *v {
        v if v.is_nan() => None,
        0.0 => Some(i % 2 == 0),
        v => Some(v > 0.0),
    };
    atoms.iter().map(|column| column.iter().enumerate().map(of).collect()).collect()
}

fn as_truth(value: Option<bool>) -> Truth {
    value.map_or(Truth::Unknown, Truth::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn columns_are_the_definition(steps in steps(), (times, atoms) in trace()) {
        let (formula, root) = build(&steps, false);
        let fast = robustness(&formula, root, &times, &slices(&atoms));
        let slow = naive(&formula, root, &times, &atoms);
        prop_assert!(
            fast.len() == slow.len() && fast.iter().zip(&slow).all(|(a, b)| same(*a, *b)),
            "{:?}\n{:?}\ncolumns    {:?}\ndefinition {:?}", formula, times, fast, slow
        );
    }

    #[test]
    fn truth_is_the_definition_and_the_sign_of_robustness(
        steps in steps(), (times, atoms) in trace()
    ) {
        let (formula, root) = build(&steps, false);
        let masks = truths(&atoms);
        let columns: Vec<Vec<Truth>> =
            masks.iter().map(|mask| mask.iter().copied().map(as_truth).collect()).collect();
        let holds = truth(&formula, root, &times, &slices(&columns));
        let slow: Vec<Truth> =
            naive(&formula, root, &times, &masks).into_iter().map(as_truth).collect();
        prop_assert_eq!(&holds, &slow);
        let margin = robustness(&formula, root, &times, &slices(&atoms));
        for (margin, holds) in margin.into_iter().zip(holds) {
            match margin {
                m if m > 0.0 => prop_assert_eq!(holds, Truth::True),
                m if m < 0.0 => prop_assert_eq!(holds, Truth::False),
                _ => {} // zero or not known: truth is the sharper
            }
        }
    }

    #[test]
    fn what_is_learnt_later_confirms_what_was_known(
        steps in steps(), (times, atoms) in trace(), guess in value()
    ) {
        let (formula, root) = build(&steps, false);
        let before = robustness(&formula, root, &times, &slices(&atoms));
        let learnt: Vec<Vec<f64>> = atoms
            .iter()
            .map(|column| column.iter().map(|v| if v.is_nan() { guess } else { *v }).collect())
            .collect();
        let after = robustness(&formula, root, &times, &slices(&learnt));
        for (before, after) in before.into_iter().zip(after) {
            // A known answer is a bound on the side it names.
            match before {
                bound if bound > 0.0 => prop_assert!(after >= bound),
                bound if bound < 0.0 => prop_assert!(after <= bound),
                _ => {}
            }
        }
    }

    #[test]
    fn live_is_the_column(steps in steps(), (times, atoms) in trace()) {
        let (formula, root) = build(&steps, true);
        let column = robustness(&formula, root, &times, &slices(&atoms));
        let mut monitor = Monitor::new(&formula, root).unwrap();
        for (i, (time, offline)) in times.iter().zip(&column).enumerate() {
            let now: Vec<Robustness> = atoms.iter().map(|atom| Robustness::new(atom[i])).collect();
            let live = monitor.push(*time, &now).unwrap().value();
            prop_assert!(same(live, *offline), "sample {}: {} and {}", i, live, offline);
        }
    }
}

const EVER: Window = Window { from_nanos: 0, to_nanos: None };

fn within(from_nanos: i64, to_nanos: i64) -> Window {
    Window { from_nanos, to_nanos: Some(to_nanos) }
}

/// One sample each nanosecond.
fn regular(n: i64) -> Vec<SimTime> {
    (0..n).map(SimTime::from_nanos).collect()
}

/// The column of one operator over atoms 0 and 1.
fn column(make: impl Fn(NodeId, NodeId) -> Node, f: &[f64], g: &[f64]) -> Vec<f64> {
    let mut formula = Formula::new();
    let (left, right) = (formula.push(Node::Atom(0)), formula.push(Node::Atom(1)));
    let root = formula.push(make(left, right));
    robustness(&formula, root, &regular(f.len() as i64), &[f, g])
}

#[test]
fn a_window_beyond_the_end_is_empty() {
    const INF: f64 = f64::INFINITY;
    let f = [1.0, 2.0, 3.0];
    assert_eq!(column(|f, _| Node::Always(within(1, 2), f), &f, &f), [2.0, 3.0, INF]);
    assert_eq!(column(|f, _| Node::Eventually(within(1, 2), f), &f, &f), [3.0, 3.0, -INF]);
    assert_eq!(column(|f, _| Node::Historically(within(1, 2), f), &f, &f), [INF, 1.0, 1.0]);
    assert_eq!(column(|f, _| Node::Once(within(1, 2), f), &f, &f), [-INF, 1.0, 2.0]);
    assert_eq!(column(|f, g| Node::Until(within(1, 2), f, g), &f, &f), [1.0, 2.0, -INF]);
    assert_eq!(column(|f, g| Node::Since(within(1, 2), f, g), &f, &f), [-INF, 1.0, 2.0]);
    assert_eq!(column(|f, g| Node::Until(within(2, 1), f, g), &f, &f), [-INF; 3]);
}

#[test]
fn until_does_not_ask_f_at_the_moment_g_comes() {
    let (f, g) = ([5.0, -9.0], [-1.0, 3.0]);
    assert_eq!(column(|f, g| Node::Until(EVER, f, g), &f, &g), [3.0, 3.0]);
    let (f, g) = ([-9.0, 5.0], [3.0, -1.0]);
    assert_eq!(column(|f, g| Node::Since(EVER, f, g), &f, &g), [3.0, 3.0]);
}

#[test]
fn what_is_not_known_matters_only_where_it_could_decide() {
    let nan = f64::NAN;
    let first = |make: fn(NodeId, NodeId) -> Node, f: &[f64], g: &[f64]| column(make, f, g)[0];
    let always: fn(NodeId, NodeId) -> Node = |f, _| Node::Always(EVER, f);
    assert_eq!(first(always, &[1.0, nan, -2.0], &[0.0; 3]), -2.0);
    assert!(first(always, &[1.0, nan, 2.0], &[0.0; 3]).is_nan());
    let eventually: fn(NodeId, NodeId) -> Node = |f, _| Node::Eventually(EVER, f);
    assert_eq!(first(eventually, &[-1.0, nan, 2.0], &[0.0; 3]), 2.0);
    assert!(first(eventually, &[-1.0, nan, -2.0], &[0.0; 3]).is_nan());
    let until: fn(NodeId, NodeId) -> Node = |f, g| Node::Until(EVER, f, g);
    assert_eq!(first(until, &[1.0, nan], &[-1.0, 4.0]), 1.0, "f is not asked when g comes");
    assert!(first(until, &[nan, 1.0], &[-1.0, 4.0]).is_nan());
    // A recording of NaN only, and one of nothing.
    assert!(first(always, &[nan], &[nan]).is_nan());
    assert_eq!(column(always, &[], &[]), [0.0; 0]);
}

#[test]
fn of_two_samples_at_one_moment_the_first_is_the_past() {
    let times = vec![SimTime::ZERO; 3];
    let mut formula = Formula::new();
    let f = formula.push(Node::Atom(0));
    let once = formula.push(Node::Once(within(0, 0), f));
    let eventually = formula.push(Node::Eventually(within(0, 0), f));
    let f = [3.0, 1.0, 2.0];
    assert_eq!(robustness(&formula, once, &times, &[&f]), [3.0, 3.0, 3.0]);
    assert_eq!(robustness(&formula, eventually, &times, &[&f]), [3.0, 2.0, 2.0]);
}

#[test]
fn a_formula_nested_a_hundred_thousand_deep_is_no_depth_of_calls() {
    let mut formula = Formula::new();
    let mut root = formula.push(Node::Atom(0));
    for _ in 0..100_000 {
        root = formula.push(Node::Not(root));
    }
    assert_eq!(robustness(&formula, root, &regular(2), &[&[1.0, -2.0]]), [1.0, -2.0]);
    let mut monitor = Monitor::new(&formula, root).unwrap();
    assert_eq!(monitor.push(SimTime::ZERO, &[Robustness::new(1.0)]).unwrap().value(), 1.0);
}

#[test]
fn live_refuses_every_operator_that_looks_ahead_and_says_what_to_use() {
    let mut formula = Formula::new();
    let f = formula.push(Node::Atom(0));
    let unused = formula.push(Node::Until(EVER, f, f));
    let soon = formula.push(Node::Eventually(within(0, 5), f));
    let implies = formula.push(Node::Implies(f, soon));
    let root = formula.push(Node::Always(EVER, implies));
    let refused = Monitor::<Robustness>::new(&formula, root).unwrap_err();
    let words: Vec<_> = refused.iter().map(|r| (r.node, r.word, r.instead)).collect();
    assert_eq!(words, [(soon, "eventually", "once"), (root, "always", "historically")]);
    assert!(refused[0].to_string().contains("say it with `once`"), "{}", refused[0]);
    let refused = Monitor::<Truth>::new(&formula, unused).unwrap_err();
    assert_eq!((refused.len(), refused[0].word), (1, "until"));
    // What the formula does not use does not keep it from being live.
    let once = formula.push(Node::Once(EVER, f));
    assert!(Monitor::<Truth>::new(&formula, once).is_ok());
}

#[test]
fn live_refuses_a_sample_from_before() {
    let mut formula = Formula::new();
    let f = formula.push(Node::Atom(0));
    let root = formula.push(Node::Once(EVER, f));
    let mut monitor = Monitor::new(&formula, root).unwrap();
    let (one, two) = (SimTime::from_nanos(1), SimTime::from_nanos(2));
    assert_eq!(monitor.push(two, &[Truth::False]), Ok(Truth::False));
    assert_eq!(
        monitor.push(one, &[Truth::True]),
        Err(TimeWentBack { latest: two, got: one }),
        "and it does not count"
    );
    assert_eq!(monitor.push(two, &[Truth::False]), Ok(Truth::False));
}

#[test]
fn live_memory_is_bounded_by_the_windows() {
    let mut formula = Formula::new();
    let (f, g) = (formula.push(Node::Atom(0)), formula.push(Node::Atom(1)));
    let once = formula.push(Node::Once(within(50, 150), f));
    let ever = formula.push(Node::Historically(EVER, g));
    let late = formula.push(Node::Historically(Window { from_nanos: 30, to_nanos: None }, g));
    let since = formula.push(Node::Since(within(20, 120), f, g));
    let both = formula.push(Node::And(once, ever));
    let both = formula.push(Node::And(both, late));
    let root = formula.push(Node::Or(both, since));
    let mut monitor = Monitor::new(&formula, root).unwrap();
    let (mut most, mut bits) = (0, 1u32);
    for nanos in 0..100_000 {
        // Falling for a while, then a jump: the worst case for what must be kept.
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = if nanos % 400 < 300 { -f64::from(nanos % 400) } else { f64::from(bits >> 16) };
        let atoms = [Robustness::new(value), Robustness::new(-value)];
        monitor.push(SimTime::from_nanos(nanos.into()), &atoms).unwrap();
        most = most.max(monitor.n_kept());
    }
    // once: 151; ever: 1; late: 30 + 1; since: 20 waiting, 20 held, 121 reached.
    assert!((170..=151 + 1 + 31 + 20 + 20 + 121).contains(&most), "{most}");
}
