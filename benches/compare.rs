//! Two tables against one another, beside pandas, NumPy and SciPy doing the same.
//!
//! 100,000 rows of 20 keys on each side: pairs, every statistic, the lag among 401 shifts and
//! the errors without it. Target: under a second, both for the comparison alone and with reading
//! both tables. Seconds are wall seconds, the least of some rounds.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use headland_base::Seed;
use headland_base::maths::sin;
use headland_bench::{best_of, check_value, is_full};
use headland_judge::compare::{Compared, KeyMap, Options, Side, compare};
use headland_record::{ImportOptions, Recording, import};
use rand_chacha::rand_core::Rng as _;

const N_KEYS: usize = 20;

fn main() {
    let (n_rows, rounds) = if is_full() { (100_000, 5) } else { (3_000, 1) };
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b] = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
    std::fs::write(&a, table(n_rows, 0.0, 0)).expect("written");
    std::fs::write(&b, table(n_rows, 0.013, 1)).expect("written");
    println!("compare: {n_rows} rows of {N_KEYS} keys on each side");
    let sides = read(&a, &b);
    let mut answers = [None, None, None];
    let [alone, one, whole] = &mut answers;
    let secs = best_of(
        rounds,
        &mut [
            &mut || *alone = Some(compared(&sides, 2)),
            &mut || *one = Some(compared(&sides, 1)),
            &mut || *whole = Some(compared(&read(&a, &b), 2)),
        ],
    );
    let answers = answers.map(|answer| answer.expect("asked"));
    assert!(answers.iter().all(|answer| *answer == answers[0]), "the same on any threads");
    let check = check_value(format!("{:?}", answers[0]).as_bytes());
    println!("comparison, 2 threads          {:>8.3} s  check {check}", secs[0]);
    println!("comparison, 1 thread           {:>8.3} s", secs[1]);
    println!("with reading both tables       {:>8.3} s", secs[2]);
    let total: f64 =
        answers[0].keys.iter().map(|key| key.stats.as_ref().expect("pairs").rmse).sum();
    peer(&a, &b, rounds, total, &secs);
}

fn compared((a, b): &(Recording, Recording), n_threads: usize) -> Compared {
    let map = KeyMap::default();
    let options = Options { n_threads, ..Options::default() };
    compare(&Side::new(a, &map), &Side::new(b, &map), &options).expect("the same keys")
}

/// Both tables, each on its own thread, as the command reads them.
fn read(a: &Path, b: &Path) -> (Recording, Recording) {
    let one = |path: &Path| import(path, &ImportOptions::default()).expect("sound").recording;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| one(b));
        (one(a), other.join().expect("no panic"))
    })
}

/// Waves of many speeds with some noise, `late_secs` late.
fn table(n_rows: usize, late_secs: f64, seed: u64) -> String {
    let mut rng = Seed::new(seed).child("table").rng();
    let mut text = String::from("time");
    for key in 0..N_KEYS {
        _ = write!(text, ",arm_{key}/torque_raw");
    }
    for row in 0..n_rows {
        let t = row as f64 * 0.002;
        _ = write!(text, "\n{t:.3}");
        for key in 0..N_KEYS {
            let noise = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            let wave = sin((0.3 + 0.21 * key as f64) * (t - late_secs));
            _ = write!(text, ",{:.6}", wave + 0.05 * noise);
        }
    }
    text + "\n"
}

fn peer(a: &Path, b: &Path, rounds: usize, total: f64, secs: &[f64]) {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        println!("pandas, NumPy and SciPy: set HEADLAND_PYTHON to an interpreter that has them");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/compare_tables.py");
    let output = Command::new(python)
        .arg("-B")
        .arg(script)
        .args([a, b])
        .arg(rounds.to_string())
        .output()
        .expect("HEADLAND_PYTHON is an interpreter");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [read, compared, theirs] = numbers[..] else { panic!("three numbers: {text}") };
    assert!((theirs - total).abs() < 1e-9 * total, "the same RMSE: {theirs} and {total}");
    println!(
        "pandas, NumPy, SciPy           {compared:>8.3} s  {:.1} times ours",
        compared / secs[0]
    );
    println!(
        "with reading both tables       {:>8.3} s  {:.1} times ours",
        read + compared,
        (read + compared) / secs[2]
    );
}
