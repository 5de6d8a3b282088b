//! Programs we did not write decide whether a comparison is right: `evo` for paths, NumPy and
//! SciPy for numbers.
//!
//! They are Python packages (`tests/foreign/requirements.txt`). Set `HEADLAND_PYTHON` to an
//! interpreter that has them; without it these tests say that they were skipped, and with
//! `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use headland_base::maths::{TAU, cos, quat_from_rpy, sin, wrap_angle};
use headland_base::{Seed, Transform, Vec3};
use headland_judge::compare::{
    Compared, Fit, KeyMap, Options, Rule, Sampling, Side, Similarity, compare,
};
use headland_record::{ImportOptions, Recording, import};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;
use serde_json::Value;

fn python(arguments: &[&str]) -> Option<Value> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: compare_check.py needs evo; see tests/foreign/requirements.txt");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/compare_check.py");
    let output = Command::new(python).arg("-B").arg(script).args(arguments).output().unwrap();
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "compare_check.py failed:\n{faults}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

struct Dice(ChaCha8Rng);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(Seed::new(seed).child("compare").rng())
    }

    /// From −1 to 1.
    fn one(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn read(path: &Path) -> Recording {
    let options = ImportOptions { object: Some("path".into()), ..ImportOptions::default() };
    import(path, &options).unwrap().recording
}

fn compared(a: &Recording, b: &Recording, options: &Options) -> Compared {
    let map = KeyMap::default();
    compare(&Side::new(a, &map), &Side::new(b, &map), options).unwrap()
}

/// Two drives over the same path: stamps jitter, places and turns are noisy, and B is somewhere
/// else, turned and, every other time, of another size.
fn write_drives(folder: &Path, i: u64) {
    let mut dice = Dice::new(i);
    let elsewhere = Similarity {
        rotation: quat_from_rpy(dice.one() * 0.8, dice.one() * 0.8, dice.one() * 3.0),
        translation: Vec3::new(dice.one(), dice.one(), dice.one()) * 5.0,
        scale: if i.is_multiple_of(2) { 1.0 } else { 1.0 + 0.5 * dice.one() },
    };
    let (speed, bend) = (0.5 + 0.3 * dice.one(), 0.4 + 0.2 * dice.one());
    let pose = |t: f64| {
        let place = Vec3::new(4.0 * cos(speed * t), 3.0 * sin(bend * t), 0.5 * sin(0.9 * t));
        Transform::new(quat_from_rpy(0.2 * sin(t), 0.1 * cos(1.3 * t), speed * t), place)
    };
    for (side, n, rate) in [('A', 400 + 7 * i, 100.0), ('B', 900 + 5 * i, 220.0)] {
        let mut text = String::from("# time x y z qx qy qz qw\n");
        for k in 0..n {
            let t = 1.7e9 + k as f64 / rate + dice.one() * 0.3 / rate;
            let seen = pose(k as f64 / rate);
            let seen = if side == 'B' { elsewhere.pose(&seen) } else { seen };
            let noise = Vec3::new(dice.one(), dice.one(), dice.one()) * 0.02;
            let shake = quat_from_rpy(dice.one() * 0.02, dice.one() * 0.02, dice.one() * 0.02);
            let (p, q) = (seen.translation + noise, seen.rotation * shake);
            let numbers = [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(|x| format!("{x:?}"));
            writeln!(text, "{t:.6} {}", numbers.join(" ")).unwrap();
        }
        fs::write(folder.join(format!("{side}_{i}.tum")), text).unwrap();
    }
}

/// Thirty drives, without alignment, with a rigid one, and with scale; RPE over steps of one to
/// three poses. Every statistic of evo agrees to 1e-6, relative or absolute.
#[test]
fn paths_as_evo_sees_them() {
    const N: u64 = 30;
    let folder = tempfile::tempdir().unwrap();
    (0..N).for_each(|i| write_drives(folder.path(), i));
    let Some(theirs) = python(&["paths", folder.path().to_str().unwrap(), &N.to_string()]) else {
        return;
    };
    let (mut n_checked, mut worst) = (0, 0.0f64);
    for i in 0..N {
        let [a, b] = ['A', 'B'].map(|side| read(&folder.path().join(format!("{side}_{i}.tum"))));
        for (how, fit) in [("none", Fit::None), ("rigid", Fit::Rigid), ("scaled", Fit::Scaled)] {
            let options = Options {
                rule: Rule::Evo,
                paths: Some(fit),
                delta: 1 + i as usize % 3,
                ..Options::default()
            };
            let ours = compared(&a, &b, &options);
            assert!(ours.refused.is_empty());
            for what in ["ape", "ape_angle", "rpe", "rpe_angle"] {
                let key =
                    ours.keys.iter().find(|key| key.key == format!("path/pose/{what}")).unwrap();
                let theirs = &theirs[i as usize][how][what];
                let stats = key.stats.as_ref().unwrap();
                for (name, ours) in [
                    ("n", stats.n as f64),
                    ("rmse", stats.rmse),
                    ("mean", stats.bias),
                    ("median", stats.median_abs),
                    ("std", stats.std),
                    ("min", stats.min.0),
                    ("max", stats.max.0),
                    ("sse", stats.sse),
                ] {
                    let theirs = theirs[name].as_f64().unwrap();
                    let off = (ours - theirs).abs() / theirs.abs().max(1.0);
                    assert!(off <= 1e-6, "{i} {how} {what} {name}: {ours} and {theirs}");
                    worst = worst.max(off);
                    n_checked += 1;
                }
            }
        }
    }
    assert_eq!(n_checked, 30 * 3 * 4 * 8);
    println!("{n_checked} figures of evo, the furthest off by {worst:.1e}");
}

/// Numbers of every sort: smooth, noisy, far from zero, constant, equal, tiny; and the angle of a
/// wheel that turns three times to either side, kept within ±π.
fn write_numbers(folder: &Path) {
    let mut dice = Dice::new(99);
    let header = "time,wave,late,noise,offset,flat,same,tiny,steps,wheel/position";
    let (mut a, mut b) = (format!("{header}\n"), format!("{header}\n"));
    for k in 0..3000 {
        let t = f64::from(k) * 0.002;
        let wave = |t: f64| sin(TAU * 0.7 * t) + 0.3 * cos(TAU * 1.9 * t);
        let noise = dice.one();
        let steps = f64::from((k / 100) % 5);
        let wheel = |t: f64| 20.0 * sin(TAU * 0.35 * t) + cos(TAU * 2.1 * t);
        let row_a = [
            wave(t),
            wave(t),
            noise,
            1e6 + wave(t),
            0.1,
            wave(t),
            1e-9 * wave(t),
            steps,
            wrap_angle(wheel(t)),
        ];
        let row_b = [
            wave(t) * 0.95 + 0.01 * dice.one(),
            wave(t - 0.03),
            noise + 0.5 * dice.one(),
            1e6 + wave(t) + 0.02 * dice.one(),
            0.1 + 0.01 * dice.one(),
            wave(t),
            1e-9 * wave(t) + 1e-10 * dice.one(),
            f64::from(((k + 37) / 100) % 5),
            wrap_angle(wheel(t - 0.01) + 0.02 * dice.one()),
        ];
        for (out, row) in [(&mut a, row_a), (&mut b, row_b)] {
            writeln!(out, "{t:.3},{}", row.map(|x| format!("{x:?}")).join(",")).unwrap();
        }
    }
    fs::write(folder.join("a.csv"), a).unwrap();
    fs::write(folder.join("b.csv"), b).unwrap();
}

/// Every plain statistic agrees to 1e-12 with its definition in NumPy and SciPy, relative to
/// its size or, where it is a difference of such, to theirs; a lag agrees to 1e-9.
#[test]
fn numbers_as_numpy_and_scipy_define_them() {
    let folder = tempfile::tempdir().unwrap();
    write_numbers(folder.path());
    let Some(theirs) = python(&["numbers", folder.path().to_str().unwrap()]) else { return };
    let [a, b] = ["a.csv", "b.csv"].map(|name| read(&folder.path().join(name)));
    let options = Options { sampling: Sampling::Exact, n_threads: 2, ..Options::default() };
    let ours = compared(&a, &b, &options);
    assert_eq!(ours.keys.len(), 9);
    let wheel = ours.keys.iter().find(|key| key.key == "wheel/position").unwrap();
    let (range, drawn) = (wheel.stats.as_ref().unwrap(), a.column("wheel/position").unwrap());
    assert!(range.rmse / range.nrmse_range.unwrap() > 38.0, "of the way, not of a turn");
    let n_jumps = drawn.values.windows(2).filter(|w| (w[1] - w[0]).abs() > 3.0).count();
    assert!(n_jumps >= 20, "{n_jumps}");
    let mut n_checked = 0;
    for key in &ours.keys {
        let theirs = theirs[&key.key].as_object().unwrap();
        for (name, wanted) in theirs {
            let got = key.statistic(name);
            let Some(wanted) = wanted.as_f64() else {
                assert_eq!(got, None, "{} {name} is undefined", key.key);
                n_checked += 1;
                continue;
            };
            let got = got.unwrap_or_else(|| panic!("{} {name} is undefined here", key.key));
            // A mean of errors of both signs is as exact as the errors are large.
            let size = match name.as_str() {
                "bias" => theirs["mae"].as_f64().unwrap(),
                "fit" => 100.0,
                "r2" | "correlation" | "lag_correlation" => 1.0,
                _ => wanted.abs(),
            };
            let most = if name.starts_with("lag") { 1e-9 } else { 1e-12 * size };
            assert!((got - wanted).abs() <= most, "{} {name}: {got:?} and {wanted:?}", key.key);
            n_checked += 1;
        }
    }
    assert!(n_checked >= 9 * 20, "{n_checked}");
    let late = ours.keys.iter().find(|key| key.key == "late").unwrap();
    assert!((late.lag.as_ref().unwrap().secs - 0.03).abs() < 1e-5);
    assert!(
        late.after_lag.as_ref().unwrap().rmse < 1e-4 * late.stats.as_ref().unwrap().rmse.max(1.0)
    );
}
