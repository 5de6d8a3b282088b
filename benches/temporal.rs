//! Temporal formulas over a bouncing ball at 1 kHz, against the monitors people use.
//!
//! ```text
//! A = always (z > 0)
//! B = always ((v < 0) implies eventually[0,1] (v > 0))
//! ```
//!
//! Peers: `banquo` (Rust, offline), `mstlo` (Rust, online), `rtamt` (Python, offline in
//! discrete time), and loops written by hand for exactly A and B as the ceiling. All must
//! give the same robustness. Target: B at 20 times mstlo, within 10 times of the hand.
//!
//! A part of the bench `judge`, so that tests and formulas are measured in one run.
//! `HEADLAND_PYTHON` names an interpreter with rtamt. mstlo is under the GPL and therefore a
//! program apart, named by `HEADLAND_MSTLO`. `benches/run` sets both up.
//!
//! Seconds are processor seconds, the least of some rounds.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ffi::OsString;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use banquo::operators::{Always, Eventually, Implies};
use banquo::{Formula as BanquoFormula, Trace};
use headland_base::SimTime;
use headland_bench::{best_of_thread, is_full, time};
use headland_judge::lang::ast::Window;
use headland_judge::temporal::{
    Formula, Monitor, Node, NodeId, Robustness, Scratch, Truth, robustness, robustness_into, truth,
};

const MILLI: i64 = 1_000_000;
/// Samples of one second.
const SECOND: usize = 1_000;
const EVER: Window = Window { from_nanos: 0, to_nanos: None };
const ONE_SECOND: Window = Window { from_nanos: 0, to_nanos: Some(1_000 * MILLI) };

/// rtamt on both formulas: the name, the least processor seconds, the robustness.
const RTAMT: &str = r"
import array, sys, time, warnings
import rtamt
warnings.filterwarnings('ignore')
numbers = array.array('d')
with open(sys.argv[1], 'rb') as file:
    numbers.frombytes(file.read())
n = len(numbers) // 2
formulas = {'A': 'always(z > 0)', 'B': 'always((v < 0) implies eventually[0:1s](v > 0))'}
for name, text in formulas.items():
    spec = rtamt.StlDiscreteTimeSpecification()
    spec.declare_var('z', 'float')
    spec.declare_var('v', 'float')
    spec.set_sampling_period(1, 'ms', 0.1)
    spec.spec = text
    spec.parse()
    data = {'time': [i / 1000 for i in range(n)], 'z': list(numbers[:n]), 'v': list(numbers[n:])}
    start = time.process_time()
    value = spec.evaluate(data)[0][1]
    print(name, time.process_time() - start, repr(value))
";

/// Prints the tables.
pub fn run() {
    let (n, n_rtamt, rounds) =
        if is_full() { (1_000_000, 100_000, 7) } else { (3 * SECOND, 3 * SECOND, 1) };
    println!("temporal: bouncing ball at 1 kHz; A = always (z > 0)");
    println!("          B = always ((v < 0) implies eventually[0,1] (v > 0))");
    let ball = Ball::new(n);
    let dir = tempfile::tempdir().expect("a folder");
    let mut all = here(&ball, rounds);
    match std::env::var_os("HEADLAND_MSTLO") {
        Some(mstlo) => {
            let file = ball.write(dir.path());
            let output = peer(Command::new(mstlo).arg(file).arg(rounds.min(3).to_string()));
            all.extend(rows("mstlo, online", n, &output));
        }
        None => println!("no mstlo: `benches/run` sets it up"),
    }
    report(&all, n);
    match std::env::var_os("HEADLAND_PYTHON") {
        Some(python) => {
            // A shorter ball: rtamt would take half a minute. Ours again, for the value.
            let ball = Ball::new(n_rtamt);
            let mut all = here(&ball, rounds);
            all.extend(rows(
                "rtamt, offline discrete",
                n_rtamt,
                &rtamt(&python, &ball, dir.path()),
            ));
            report(&all, n_rtamt);
        }
        None => println!("no rtamt: `benches/run` sets it up"),
    }
    until_by_window(n, rounds);
}

/// Height above the ground and velocity \[m, m/s\]. Flights of 0.4 to 0.92 s, each launched
/// at another speed; the last sample is a launch, so that no fall is left without its rise
/// and windows cut off by the end decide nothing.
struct Ball {
    times: Vec<SimTime>,
    heights: Vec<f64>,
    velocities: Vec<f64>,
}

impl Ball {
    fn new(n: usize) -> Ball {
        const GRAVITY: f64 = 9.81;
        let (mut heights, mut velocities) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut launch, mut i_launch, mut turn) = (4.5, 0, 0.0);
        for i in 0..n {
            let secs = (i - i_launch) as f64 * 1e-3;
            let mut height = 0.05 + launch * secs - 0.5 * GRAVITY * secs * secs;
            let mut velocity = launch - GRAVITY * secs;
            if (height < 0.05 && velocity < 0.0) || i + 1 == n {
                turn = (turn + 0.618_033_988_749_895) % 1.0; // spreads evenly, never repeats
                (launch, i_launch) = (2.0 + 2.5 * turn, i);
                (height, velocity) = (0.05 - 1e-3 * turn, launch);
            }
            heights.push(height);
            velocities.push(velocity);
        }
        let times = (0..n).map(|i| SimTime::from_nanos(i as i64 * MILLI)).collect();
        Ball { times, heights, velocities }
    }

    /// For the peers in other programs: all heights, then all velocities.
    fn write(&self, dir: &Path) -> std::path::PathBuf {
        let file = dir.join("ball");
        let numbers = self.heights.iter().chain(&self.velocities);
        let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
        std::fs::write(&file, bytes).expect("written");
        file
    }
}

/// One measurement: who, which formula, seconds for so many samples, the robustness.
struct Row {
    who: &'static str,
    formula: &'static str,
    n: usize,
    secs: f64,
    value: f64,
}

/// Everything that runs in this process.
fn here(ball: &Ball, rounds: usize) -> Vec<Row> {
    let (a, a_root) = formula_a();
    let (b, b_root) = formula_b();
    let n = ball.times.len();
    let (mut rows, mut value) = (Vec::new(), 0.0);
    let mut measure = |who, formula, work: &mut dyn FnMut() -> f64| {
        let secs = cpu_secs(rounds, &mut || value = work());
        rows.push(Row { who, formula, n, secs, value });
    };
    // As an editor re-judges: the memory of the last time serves again.
    let (mut scratch, mut column) = (Scratch::default(), Vec::new());
    measure("headland", "A", &mut || {
        let atoms: [&[f64]; 1] = [&ball.heights];
        robustness_into(&a, a_root, &ball.times, &atoms, &mut scratch, &mut column);
        column[0]
    });
    measure("by hand", "A", &mut || {
        let heights = black_box(&ball.heights);
        heights.iter().copied().fold(f64::INFINITY, f64::min)
    });
    let trace = banquo_trace(&ball.heights);
    let banquo = Always::unbounded(Above);
    measure("banquo, offline", "A", &mut || first(banquo.evaluate(&trace).expect("evaluates")));

    let mut falling: Vec<f64> = Vec::new();
    measure("headland", "B", &mut || {
        falling.clear();
        falling.extend(ball.velocities.iter().map(|v| -v));
        let atoms: [&[f64]; 2] = [&falling, &ball.velocities];
        robustness_into(&b, b_root, &ball.times, &atoms, &mut scratch, &mut column);
        column[0]
    });
    measure("headland, fresh memory", "B", &mut || {
        let falling: Vec<f64> = ball.velocities.iter().map(|v| -v).collect();
        robustness(&b, b_root, &ball.times, &[&falling, &ball.velocities])[0]
    });
    measure("headland, true or false", "B", &mut || {
        let falling: Vec<Truth> = ball.velocities.iter().map(|v| Truth::from(*v < 0.0)).collect();
        let rising: Vec<Truth> = ball.velocities.iter().map(|v| Truth::from(*v > 0.0)).collect();
        let holds = truth(&b, b_root, &ball.times, &[&falling, &rising])[0];
        if holds == Truth::True { f64::INFINITY } else { f64::NEG_INFINITY }
    });
    measure("headland, live", "B", &mut || live(ball));
    measure("by hand", "B", &mut || by_hand(black_box(&ball.velocities)));
    let trace = banquo_trace(&ball.velocities);
    let soon = Eventually::bounded(0.0..=1_000.0, Above);
    let banquo = Always::unbounded(Implies::new(Below, soon));
    measure("banquo, offline", "B", &mut || first(banquo.evaluate(&trace).expect("evaluates")));
    rows
}

/// Processor seconds of one call, the least of the rounds. Linux counts them in steps of up
/// to 4 ms, so short work is repeated until it is long.
fn cpu_secs(rounds: usize, work: &mut dyn FnMut()) -> f64 {
    let wall = (0..3).map(|_| time(&mut *work).0).fold(f64::INFINITY, f64::min);
    if !is_full() {
        return wall; // only that it runs and agrees
    }
    let repeats = (0.2 / wall).ceil().clamp(1.0, 1e4) as usize;
    let rounds = if wall > 1.0 { 1 } else { rounds }; // banquo needs no more
    best_of_thread(rounds, &mut [&mut || (0..repeats).for_each(|_| work())])[0].1 / repeats as f64
}

fn formula_a() -> (Formula, NodeId) {
    let mut formula = Formula::new();
    let above = formula.push(Node::Atom(0));
    let root = formula.push(Node::Always(EVER, above));
    (formula, root)
}

fn formula_b() -> (Formula, NodeId) {
    let mut formula = Formula::new();
    let (falling, rising) = (formula.push(Node::Atom(0)), formula.push(Node::Atom(1)));
    let soon = formula.push(Node::Eventually(ONE_SECOND, rising));
    let implies = formula.push(Node::Implies(falling, soon));
    let root = formula.push(Node::Always(EVER, implies));
    (formula, root)
}

/// B said with the past: a second ago it fell, so it has risen since. Like the peer that
/// watches a stream, it judges only seconds that are over.
fn live(ball: &Ball) -> f64 {
    let mut formula = Formula::new();
    let (falling, rising) = (formula.push(Node::Atom(0)), formula.push(Node::Atom(1)));
    let just_then = Window { from_nanos: 1_000 * MILLI, to_nanos: Some(1_000 * MILLI) };
    let fell = formula.push(Node::Once(just_then, falling));
    let rose = formula.push(Node::Once(ONE_SECOND, rising));
    let implies = formula.push(Node::Implies(fell, rose));
    let root = formula.push(Node::Historically(EVER, implies));
    let mut monitor = Monitor::new(&formula, root).expect("looks back only");
    let mut latest = f64::NAN;
    for (time, v) in ball.times.iter().zip(&ball.velocities) {
        let atoms = [Robustness::new(-v), Robustness::new(*v)];
        latest = monitor.push(*time, &atoms).expect("in order").value();
    }
    latest
}

/// B and nothing else: a monotonic queue from behind, which knows that samples are regular.
fn by_hand(velocities: &[f64]) -> f64 {
    let mut window: VecDeque<usize> = VecDeque::with_capacity(SECOND + 1);
    let mut least = f64::INFINITY;
    for (i, v) in velocities.iter().enumerate().rev() {
        while window.back().is_some_and(|j| velocities[*j] <= *v) {
            window.pop_back();
        }
        window.push_back(i);
        if window[0] > i + SECOND {
            window.pop_front();
        }
        least = least.min(v.max(velocities[window[0]]));
    }
    least
}

/// The value itself: `x > 0`, written for banquo without a look-up of names.
struct Above;
/// `x < 0`.
struct Below;

impl BanquoFormula<f64> for Above {
    type Metric = f64;
    type Error = Infallible;
    fn evaluate(&self, trace: &Trace<f64>) -> Result<Trace<f64>, Infallible> {
        Ok(trace.iter().map_states(|x| *x).collect())
    }
}

impl BanquoFormula<f64> for Below {
    type Metric = f64;
    type Error = Infallible;
    fn evaluate(&self, trace: &Trace<f64>) -> Result<Trace<f64>, Infallible> {
        Ok(trace.iter().map_states(|x| -*x).collect())
    }
}

/// Times in milliseconds, so that floats hold the ends of windows exactly.
fn banquo_trace(values: &[f64]) -> Trace<f64> {
    values.iter().enumerate().map(|(i, value)| (i as f64, *value)).collect()
}

fn first(trace: Trace<f64>) -> f64 {
    *trace.at_time(0.0).expect("a first sample")
}

fn rtamt(python: &OsString, ball: &Ball, dir: &Path) -> String {
    peer(Command::new(python).args(["-B", "-c", RTAMT]).arg(ball.write(dir)))
}

fn peer(command: &mut Command) -> String {
    let output = command.output().expect("the peer runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Lines of a name, seconds and a value.
fn rows(who: &'static str, n: usize, output: &str) -> Vec<Row> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| words[i].parse::<f64>().expect("a number");
        let formula = if words[0] == "A" { "A" } else { "B" };
        Row { who, formula, n, secs: number(1), value: number(2) }
    };
    output.lines().map(row).collect()
}

/// The table, and that all agree.
fn report(rows: &[Row], n: usize) {
    println!(
        "\n{n} samples             formula  CPU ms  M samples/s  headland is faster by  robustness"
    );
    for formula in ["A", "B"] {
        let of_formula = || rows.iter().filter(|row| row.formula == formula);
        let ours = of_formula().next().expect("headland comes first");
        for row in of_formula() {
            println!(
                "{:<26} {:>7}  {:>6.2}  {:>11.2}  {:>20.2}x  {}",
                row.who,
                row.formula,
                row.secs * 1e3,
                row.n as f64 / row.secs / 1e6,
                row.secs / ours.secs,
                row.value
            );
            let agrees = match row.value.is_infinite() {
                true => (row.value > 0.0) == (ours.value > 0.0), // only true or false
                false => (row.value - ours.value).abs() <= 1e-12,
            };
            assert!(agrees, "{} says {}, headland {}", row.who, row.value, ours.value);
        }
    }
}

/// `(v < 4) until[0,w] (z > 1)`: what a sample costs must not depend on the window.
fn until_by_window(n: usize, rounds: usize) {
    println!("\n(v < 4) until[0,w] (z > 1), {n} samples");
    println!("window, samples  ns/sample  least robustness");
    let ball = Ball::new(n);
    let slow: Vec<f64> = ball.velocities.iter().map(|v| 4.0 - v).collect();
    let high: Vec<f64> = ball.heights.iter().map(|z| z - 1.0).collect();
    for n_window in [1, 10, 100, 1_000, 10_000, 100_000] {
        let window = Window { from_nanos: 0, to_nanos: Some(n_window * MILLI) };
        let mut formula = Formula::new();
        let (f, g) = (formula.push(Node::Atom(0)), formula.push(Node::Atom(1)));
        let root = formula.push(Node::Until(window, f, g));
        let mut least = 0.0;
        let secs = cpu_secs(rounds, &mut || {
            let column = robustness(&formula, root, &ball.times, &[&slow, &high]);
            least = column.into_iter().fold(f64::INFINITY, f64::min);
        });
        println!("{n_window:>15}  {:>9.2}  {least}", secs / n as f64 * 1e9);
    }
}
