//! mstlo on the bouncing ball of the bench `temporal`.
//!
//! usage: peer-mstlo SIGNAL ROUNDS
//!
//! SIGNAL holds 64-bit floats, little end first: all heights, then all velocities, one pair
//! a millisecond. Prints, for each formula, its name, the least processor seconds of the
//! rounds, and the least verdict.

use std::time::Duration;

use mstlo::monitor::{Algorithm, DelayedQuantitative, StlMonitor};
use mstlo::{FormulaDefinition, Step, stl};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&args[1]).expect("the signal");
    let rounds: usize = args[2].parse().expect("rounds");
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|eight| f64::from_le_bytes(eight.try_into().expect("eight bytes")))
        .collect();
    let (heights, velocities) = numbers.split_at(numbers.len() / 2);
    // mstlo has no formula without an end; the least verdict is what `always` around would be.
    run("A", stl!(G[0, 1](z > 0.0)), "z", heights, rounds);
    run("B", stl!((v < 0.0) -> (F[0, 1](v > 0.0))), "v", velocities, rounds);
}

fn run(
    name: &str,
    formula: FormulaDefinition,
    signal: &'static str,
    values: &[f64],
    rounds: usize,
) {
    let steps: Vec<Step<f64>> = values
        .iter()
        .enumerate()
        .map(|(i, value)| Step::new(signal, *value, Duration::from_millis(i as u64)))
        .collect();
    let (mut best_secs, mut least) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let mut monitor = StlMonitor::builder()
            .formula(formula.clone())
            .algorithm(Algorithm::Incremental)
            .semantics(DelayedQuantitative)
            .build()
            .expect("a monitor");
        let start = cpu_secs();
        least = f64::INFINITY;
        for step in &steps {
            for verdict in &monitor.update(step) {
                least = least.min(verdict.value);
            }
        }
        best_secs = best_secs.min(cpu_secs() - start);
    }
    println!("{name} {best_secs} {least}");
}

/// Seconds this thread has spent on a processor.
fn cpu_secs() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts");
    stat.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).expect("nanoseconds") * 1e-9
}
