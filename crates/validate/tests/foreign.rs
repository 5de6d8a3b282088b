//! SciPy decides whether a fit is right: the same problems, the same ends, the same intervals.
//!
//! Set `HEADLAND_PYTHON` to an interpreter that has it; without it this test says that it was
//! skipped, and with `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use headland_base::maths::{cos, exp, fmod, pow};
use headland_validate::fit::crew::with_crew;
use headland_validate::fit::sureness::{Moment, worth};
use headland_validate::fit::{Bounds, Problem, marquardt, slopes, student};
use serde_json::{Value, json};

type Residuals = fn(&[f64]) -> Vec<f64>;
/// Name, formula, start, bounds.
type Asked = (&'static str, Residuals, &'static [f64], &'static [(f64, f64)]);

struct Formula(Residuals);

impl Problem for Formula {
    type Worker = ();
    fn worker(&self) -> Option<()> {
        Some(())
    }
    fn residuals(&self, (): &mut (), x: &[f64]) -> Option<Vec<f64>> {
        Some((self.0)(x))
    }
}

fn rosenbrock(x: &[f64]) -> Vec<f64> {
    vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]
}

fn beale(x: &[f64]) -> Vec<f64> {
    let terms = [(1.5, 1.0), (2.25, 2.0), (2.625, 3.0)];
    terms.iter().map(|(y, k)| y - x[0] * (1.0 - pow(x[1], *k))).collect()
}

fn decays(x: &[f64]) -> Vec<f64> {
    let at = |i: i32| {
        let (i, t) = (f64::from(i), f64::from(i) * 0.1);
        let data = 2.0 * exp(-0.9 * t) + exp(-1.3 * t) + 0.01 * (fmod(7.0 * i, 1.9) - 0.95);
        x[0] * exp(-x[1] * t) + x[2] * exp(-x[3] * t) - data
    };
    (0..40).map(at).collect()
}

/// Parameters that differ by eight orders in size and by more in effect.
fn scaled(x: &[f64]) -> Vec<f64> {
    let at = |i: i32| {
        let (i, t) = (f64::from(i), f64::from(i) * 0.2);
        let data = 3e4 * exp(-t) + 5.0 * cos(3.0 * i);
        x[0] * 1e6 * exp(-x[1] * 1e3 * t) + x[2] * 1e-4 * t - data
    };
    (0..30).map(at).collect()
}

#[test]
fn scipy_ends_where_we_end() {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: least_squares.py needs SciPy; see tests/foreign/requirements.txt");
        return;
    };
    const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    let problems: [Asked; 8] = [
        ("rosenbrock", rosenbrock, &[-1.2, 1.0], &[FREE; 2]),
        ("rosenbrock", rosenbrock, &[-1.2, 1.0], &[(-2.0, 0.5), (-3.0, 3.0)]),
        ("rosenbrock", rosenbrock, &[-1.2, 1.6], &[(-2.0, 2.0), (1.5, 3.0)]),
        ("beale", beale, &[1.0, 1.0], &[FREE; 2]),
        ("beale", beale, &[1.0, 0.1], &[(0.0, 2.5), (-1.0, 1.0)]),
        ("decays", decays, &[1.0, 0.5, 1.5, 2.0], &[(0.0, 5.0); 4]),
        (
            "decays",
            decays,
            &[1.0, 0.5, 1.5, 1.2],
            &[(0.0, 5.0), (0.0, 0.85), (0.0, 5.0), (0.0, 5.0)],
        ),
        ("scaled", scaled, &[0.02, 0.002, 1e3], &[FREE; 3]),
    ];
    let number = |x: f64| x.is_finite().then_some(x);
    let asked: Vec<Value> = problems
        .iter()
        .map(|(name, _, start, bounds)| {
            let lower: Vec<_> = bounds.iter().map(|b| number(b.0)).collect();
            let upper: Vec<_> = bounds.iter().map(|b| number(b.1)).collect();
            json!({"name": name, "start": start, "lower": lower, "upper": upper})
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("problems.json");
    std::fs::write(&file, json!(asked).to_string()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/least_squares.py");
    let output = Command::new(python).arg("-B").arg(script).arg(&file).output().unwrap();
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "least_squares.py failed:\n{faults}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();

    for (i, (name, residuals, start, bounds)) in problems.iter().enumerate() {
        let bounds = Bounds {
            lower: bounds.iter().map(|b| b.0).collect(),
            upper: bounds.iter().map(|b| b.1).collect(),
        };
        let options = marquardt::Options {
            difference: start.iter().map(|x| 1e-5 * x.abs().max(1e-3)).collect(),
            ..marquardt::Options::exact(start)
        };
        let mut search = marquardt::Search::new(start, &bounds);
        let slopes = with_crew(&Formula(*residuals), 2, |crew| {
            search.run(crew, &bounds, &options, &mut |_| ControlFlow::Continue(()));
            let x = search.best().0;
            slopes::slopes(x, &residuals(x), crew, &bounds, &options).unwrap().unwrap()
        });
        let theirs = &answer["problems"][i];
        let (cost, their_cost) = (search.best().1.unwrap(), theirs["cost"].as_f64().unwrap());
        assert!(cost <= their_cost * (1.0 + 1e-9) + 1e-20, "{name} {i}: {cost} {their_cost}");
        for (k, x) in search.best().0.iter().enumerate() {
            let their = theirs["x"][k].as_f64().unwrap();
            // A parameter that the data hardly tells lies on the floor of a flat valley, and how
            // far along it a search comes to rest is decided by rounding: what counts is its
            // interval.
            let half = theirs["half"][k].as_f64().unwrap_or(0.0);
            let slack = 1e-6 * their.abs().max(half).max(1e-3);
            assert!((x - their).abs() <= slack, "{name} {i}: {:?} {theirs}", search.best().0);
        }
        let is_inside = (0..start.len())
            .all(|k| search.best().0[k] > bounds.lower[k] && search.best().0[k] < bounds.upper[k]);
        if let (Some(half), true) = (theirs["half"].as_array(), is_inside && cost > 1e-12) {
            let r = residuals(search.best().0);
            let moments: Vec<Moment> =
                (0..r.len()).map(|i| Moment { series: 0, at_nanos: i as i64 }).collect();
            // Ranges say how large parameters are, as they do wherever somebody tunes.
            let range = Bounds {
                lower: search.best().0.iter().map(|x| x - x.abs()).collect(),
                upper: search.best().0.iter().map(|x| x + x.abs()).collect(),
            };
            let found = worth(search.best().0, &range, &r, &slopes, (&moments, false), 0.95);
            for (ours, their) in found.parameters.iter().zip(half) {
                let (ours, their) = (ours.textbook_half_width.unwrap(), their.as_f64().unwrap());
                assert!((ours / their - 1.0).abs() < 1e-3, "{name} {i}: {ours} {their}");
            }
        }
    }
    for row in answer["quantiles"].as_array().unwrap() {
        let [p, degrees, wanted] = [0, 1, 2].map(|k| row[k].as_f64().unwrap());
        let found = student::quantile(p, degrees);
        assert!((found / wanted - 1.0).abs() < 1e-10, "{p} {degrees}: {found} {wanted}");
    }
}
