use std::ops::ControlFlow;

use headland_base::Seed;
use headland_base::maths::{dot, exp, pow, sqrt};
use headland_sense::noise::Dice;

use super::crew::with_crew;
use super::dense::{Columns, back_substitute, slices, triangle};
use super::sureness::{Moment, worth};
use super::*;

/// A problem that is a formula.
pub struct Formula<F>(pub F);

impl<F: Fn(&[f64]) -> Option<Vec<f64>> + Sync> Problem for Formula<F> {
    type Worker = ();
    fn worker(&self) -> Option<()> {
        Some(())
    }
    fn residuals(&self, (): &mut (), x: &[f64]) -> Option<Vec<f64>> {
        (self.0)(x)
    }
}

/// The point that least squares of a linear problem has, for whoever tests with one.
fn linear_solution(slopes: &Columns, right: &[f64]) -> Vec<f64> {
    let (r, right) = triangle(&slices(slopes), right);
    back_substitute(&r, &right)
}

fn rosenbrock(x: &[f64]) -> Option<Vec<f64>> {
    Some(vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]])
}

fn beale(x: &[f64]) -> Option<Vec<f64>> {
    let term = |y: f64, k: i32| y - x[0] * (1.0 - pow(x[1], f64::from(k)));
    Some(vec![term(1.5, 1), term(2.25, 2), term(2.625, 3)])
}

/// Two exponentials: parameters that are hard to tell apart.
pub fn two_decays(x: &[f64]) -> Option<Vec<f64>> {
    let at = |i: usize| {
        let t = i as f64 * 0.1;
        let data = 2.0 * exp(-0.9 * t) + exp(-1.3 * t) + 0.01 * (7.0 * i as f64 % 1.9 - 0.95);
        x[0] * exp(-x[1] * t) + x[2] * exp(-x[3] * t) - data
    };
    Some((0..40).map(at).collect())
}

fn on(
    search: &mut marquardt::Search,
    f: fn(&[f64]) -> Option<Vec<f64>>,
    bounds: &Bounds,
    n_threads: usize,
) {
    let options = marquardt::Options::exact(search.best().0);
    with_crew(&Formula(f), n_threads, |crew| {
        search.run(crew, bounds, &options, &mut |_| ControlFlow::Continue(()));
    });
}

#[test]
fn known_valleys_are_descended() {
    let bounds = Bounds::none(2);
    let mut search = marquardt::Search::new(&[-1.2, 1.0], &bounds);
    on(&mut search, rosenbrock, &bounds, 1);
    assert!(search.best().0.iter().all(|x| (x - 1.0).abs() < 1e-9), "{search:?}");
    assert!(search.ended.unwrap().is_converged() && search.n_evaluations < 200);
    let mut search = marquardt::Search::new(&[1.0, 1.0], &bounds);
    on(&mut search, beale, &bounds, 1);
    assert!(
        (search.best().0[0] - 3.0).abs() < 1e-9 && (search.best().0[1] - 0.5).abs() < 1e-9,
        "{search:?}"
    );
}

/// With the least point outside, the best of the edge is found: there the slope within the bounds
/// is zero.
#[test]
fn bounds_hold_and_the_edge_is_searched() {
    let bounds = Bounds { lower: vec![-2.0, -3.0], upper: vec![0.5, 3.0] };
    let mut search = marquardt::Search::new(&[-1.2, 1.0], &bounds);
    on(&mut search, rosenbrock, &bounds, 1);
    assert_eq!(search.best().0[0], 0.5);
    assert!((search.best().0[1] - 0.25).abs() < 1e-9, "{search:?}");
    // Corners, from everywhere.
    for start in [[0.0, 0.0], [-2.0, 3.0], [0.5, -3.0]] {
        let mut search = marquardt::Search::new(&start, &bounds);
        on(&mut search, |x| Some(vec![x[0] - 9.0, x[1] - 7.0, 0.1 * x[0] * x[1]]), &bounds, 1);
        assert_eq!(search.best().0, [0.5, 3.0]);
    }
}

#[test]
fn a_region_without_residuals_is_kept_out_of() {
    let bounds = Bounds::none(2);
    let mut search = marquardt::Search::new(&[-1.2, 1.0], &bounds);
    on(&mut search, |x| (x[1] > -1.0 && x[0] < 1.5).then(|| rosenbrock(x)).flatten(), &bounds, 1);
    assert!(search.best().0.iter().all(|x| (x - 1.0).abs() < 1e-9), "{search:?}");
    let mut search = marquardt::Search::new(&[-1.2, 1.0], &bounds);
    on(&mut search, |_| None, &bounds, 1);
    assert_eq!(search.ended, Some(Ended::NoResiduals));
}

/// Threads change no bit, and neither does a stop after every round with the state on disk.
#[test]
fn the_same_bits_on_threads_and_after_every_stop() {
    let bounds = Bounds { lower: vec![0.0; 4], upper: vec![5.0; 4] };
    let start = [1.0, 0.5, 1.5, 2.0];
    // With fresh slopes for every step, and with corrected ones.
    let corrected =
        marquardt::Options { least_told: 0.0, ..marquardt::Options::new(&start, &bounds) };
    assert!(corrected.most_corrections > 0);
    for options in [marquardt::Options::exact(&start), corrected] {
        let run = |search: &mut marquardt::Search, n_threads: usize, n_rounds: usize| {
            let last = search.n_rounds + n_rounds;
            with_crew(&Formula(two_decays), n_threads, |crew| {
                search.run(crew, &bounds, &options, &mut |search| {
                    if search.n_rounds >= last {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
            });
        };
        let new = || marquardt::Search::new(&start, &bounds);
        let (mut whole, mut threads, mut parts, mut n_stops) = (new(), new(), new(), 0);
        run(&mut whole, 1, 1_000);
        run(&mut threads, 3, 1_000);
        assert_eq!(whole, threads);
        while parts.ended.is_none() {
            run(&mut parts, 2, 1);
            n_stops += 1;
            parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
        }
        assert_eq!(whole, parts);
        assert!(n_stops > 3, "it was stopped {n_stops} times");
    }
}

/// A parameter that is seen by its curve only, as a product of inertia in a plane, beside one that
/// is seen well: where the first stands its slope is what a difference leaves of the curve, and
/// would send it to a bound, where nothing is gained.
#[test]
fn an_unseen_parameter_does_not_hold_the_others() {
    for bend in [0.1, 10.0, 1e3, 1e5] {
        let decay = move |x: &[f64]| {
            let at = |i: usize| {
                let t = i as f64 * 0.01;
                let bent = exp(-x[1] * t) + bend * x[0] * x[0] * (t - 1.5);
                bent - exp(-0.08 * t) + 1e-3 * (7.0 * i as f64 % 1.9 - 0.95)
            };
            Some((0..400).map(at).collect::<Vec<f64>>())
        };
        let bounds = Bounds { lower: vec![-0.2, 0.0], upper: vec![0.2, 1.0] };
        let mut search = marquardt::Search::new(&[0.0, 0.0], &bounds);
        let options = marquardt::Options::new(&[0.0, 0.0], &bounds);
        with_crew(&Formula(decay), 1, |crew| {
            search.run(crew, &bounds, &options, &mut |_| ControlFlow::Continue(()));
        });
        let x = search.best().0;
        assert!((x[1] - 0.08).abs() < 1e-3, "{bend}: {search:?}");
        assert!(search.ended.unwrap().is_converged() && search.n_evaluations < 200, "{search:?}");
    }
}

/// In a long valley steps that are held back promise next to nothing, far from its deepest point:
/// the end is where no step at all has more to promise.
#[test]
fn a_valley_is_gone_along_to_its_end() {
    let wave = |i: usize, k: f64| headland_base::maths::sin(k * i as f64);
    let (along, across) = (|i| wave(i, 0.7), |i| wave(i, 1.9));
    // Two columns that are all but the same.
    let slopes: Columns = vec![
        (0..200).map(along).collect(),
        (0..200).map(|i| along(i) + 1e-3 * across(i)).collect(),
    ];
    let mut dice = Dice::new(&Seed::new(8).child("noise"));
    let y: Vec<f64> = (0..200).map(|_| 1e-3 * dice.normal()).collect();
    let bottom = linear_solution(&slopes, &y);
    let problem = Formula(|x: &[f64]| -> Option<Vec<f64>> {
        Some((0..200).map(|i| x[0] * slopes[0][i] + x[1] * slopes[1][i] - y[i]).collect())
    });
    // As far as five standard errors, or so, along the valley.
    let start = [bottom[0] + 0.5, bottom[1] - 0.5];
    let bounds = Bounds { lower: vec![-5.0; 2], upper: vec![5.0; 2] };
    let options = marquardt::Options::new(&start, &bounds);
    let mut search = marquardt::Search::new(&start, &bounds);
    with_crew(&problem, 1, |crew| {
        search.run(crew, &bounds, &options, &mut |_| ControlFlow::Continue(()));
    });
    let least = dot(&problem.0(&bottom).unwrap(), &problem.0(&bottom).unwrap());
    let above = |x: &[f64]| dot(&problem.0(x).unwrap(), &problem.0(x).unwrap()) / least - 1.0;
    assert!(198.0 * above(&start) > 16.0, "the start is {} above", 198.0 * above(&start));
    let (x, _) = search.best();
    assert!(198.0 * above(x) < 0.04, "{} above: {search:?}", 198.0 * above(x));
    assert_eq!(search.ended, Some(Ended::SmallGain));
}

/// Where the error jumps, slopes lead nowhere: the search gives up, and says why.
#[test]
fn a_search_among_jumps_says_so() {
    let problem = Formula(|x: &[f64]| -> Option<Vec<f64>> {
        // Slopes say that there is much to gain to the left, and every step meets a wall.
        let saw = |i: usize| {
            let tooth = 1e3 * (x[0] - 1e-5 * (x[0] / 1e-5).floor());
            1.0 + tooth + 0.3 * headland_base::maths::sin(i as f64)
        };
        Some((0..100).map(saw).collect())
    });
    let bounds = Bounds { lower: vec![-1.0], upper: vec![1.0] };
    let options = marquardt::Options::new(&[0.123_456], &bounds);
    let mut search = marquardt::Search::new(&[0.123_456], &bounds);
    with_crew(&problem, 1, |crew| {
        search.run(crew, &bounds, &options, &mut |_| ControlFlow::Continue(()));
    });
    assert_eq!(search.ended, Some(Ended::Rough), "{search:?}");
}

fn valley(x: &[f64]) -> Option<Vec<f64>> {
    // Rosenbrock's, with ripples that have slopes nowhere useful.
    let ripple = |x: f64| 0.05 * headland_base::maths::sin(40.0 * x);
    Some(vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0], ripple(x[0] - 1.0), ripple(x[1] - 1.0)])
}

fn searched(
    mut search: cma::Search,
    bounds: &Bounds,
    f: fn(&[f64]) -> Option<Vec<f64>>,
    n_threads: usize,
) -> cma::Search {
    with_crew(&Formula(f), n_threads, |crew| {
        let seed = Seed::new(4).child("search");
        search
            .run(crew, bounds, &seed, &cma::Options::default(), &mut |_| ControlFlow::Continue(()));
    });
    search
}

#[test]
fn a_search_without_slopes_finds_the_valley_and_the_edge() {
    let bounds = Bounds { lower: vec![-2.0; 2], upper: vec![2.0; 2] };
    let found = searched(cma::Search::new(&[-1.2, 1.0], &bounds), &bounds, valley, 1);
    assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-6), "{found:?}");
    assert!(found.ended.unwrap().is_converged());
    let edge = Bounds { lower: vec![-2.0, -3.0], upper: vec![0.5, 3.0] };
    let found = searched(cma::Search::new(&[-1.2, 1.0], &edge), &edge, rosenbrock, 1);
    assert!((found.x[0] - 0.5).abs() < 1e-6 && (found.x[1] - 0.25).abs() < 1e-4, "{found:?}");
    // An ellipsoid whose axes differ by six orders.
    let bounds = Bounds { lower: vec![-1.0; 6], upper: vec![2.0; 6] };
    let ellipsoid = |x: &[f64]| -> Option<Vec<f64>> {
        Some(x.iter().enumerate().map(|(i, x)| pow(10.0, 0.6 * i as f64) * (x - 0.3)).collect())
    };
    let found = searched(cma::Search::new(&[1.5; 6], &bounds), &bounds, ellipsoid, 1);
    assert!(found.x.iter().all(|x| (x - 0.3).abs() < 1e-5), "{found:?}");
}

#[test]
fn a_search_without_slopes_is_carried_on_to_the_same_bits() {
    let bounds = Bounds { lower: vec![-2.0; 2], upper: vec![2.0; 2] };
    let whole = searched(cma::Search::new(&[-1.2, 1.0], &bounds), &bounds, valley, 1);
    assert_eq!(whole, searched(cma::Search::new(&[-1.2, 1.0], &bounds), &bounds, valley, 3));
    let mut parts = cma::Search::new(&[-1.2, 1.0], &bounds);
    while parts.ended.is_none() {
        with_crew(&Formula(valley), 2, |crew| {
            let seed = Seed::new(4).child("search");
            parts.run(crew, &bounds, &seed, &cma::Options::default(), &mut |_| {
                ControlFlow::Break(())
            });
        });
        parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
    }
    assert_eq!(whole, parts);
}

fn moments(n: usize) -> Vec<Moment> {
    (0..n).map(|i| Moment { series: 0, at_nanos: i as i64 }).collect()
}

/// A line through points: the textbook's intervals, by its own formulas.
#[test]
fn intervals_of_a_line_are_the_textbooks() {
    let n = 40;
    let mut dice = Dice::new(&Seed::new(9).child("line"));
    let t: Vec<f64> = (0..n).map(|i| 0.25 * i as f64).collect();
    let y: Vec<f64> = t.iter().map(|t| 2.0 - 0.7 * t + 0.3 * dice.normal()).collect();
    let slopes: Columns = vec![vec![1.0; n], t.clone()];
    let x = linear_solution(&slopes, &y);
    let residuals: Vec<f64> = (0..n).map(|i| x[0] + x[1] * t[i] - y[i]).collect();
    let found = worth(&x, &Bounds::none(2), &residuals, &slopes, (&moments(n), false), 0.95);
    let mean = t.iter().sum::<f64>() / n as f64;
    let sxx: f64 = t.iter().map(|t| (t - mean) * (t - mean)).sum();
    let s2 = dot(&residuals, &residuals) / (n as f64 - 2.0);
    let t_value = student::quantile(0.975, n as f64 - 2.0);
    let wanted =
        [t_value * sqrt(s2 * (1.0 / n as f64 + mean * mean / sxx)), t_value * sqrt(s2 / sxx)];
    for (found, wanted) in found.parameters.iter().zip(wanted) {
        let textbook = found.textbook_half_width.unwrap();
        assert!((textbook / wanted - 1.0).abs() < 1e-9, "{textbook} {wanted}");
        assert!(found.half_width.unwrap() >= textbook * 0.999);
    }
    assert!(found.unseen.is_empty());
    // Intercept and slope of a line pull at each other as the textbook says.
    let pull = -mean / sqrt(sxx / n as f64 + mean * mean);
    let of = |i: usize, j: usize| found.covariance[i][j];
    let told = of(0, 1) / sqrt(of(0, 0) * of(1, 1));
    assert!(
        (told - pull).abs() < 0.05 && (of(1, 0) / of(0, 1) - 1.0).abs() < 1e-12,
        "{told} {pull}"
    );
}

/// With residuals that hang together the textbook's intervals miss the truth; ours hold it as
/// often as they say, up to what 400 trials can show.
#[test]
fn intervals_hold_the_truth_although_residuals_hang_together() {
    let (n, n_trials, rho) = (400, 400, 0.8);
    let t: Vec<f64> = (0..n).map(|i| i as f64 / n as f64).collect();
    let wave: Vec<f64> = t.iter().map(|t| headland_base::maths::sin(12.0 * t)).collect();
    let slopes: Columns = vec![vec![1.0; n], t, wave];
    let (mut ours, mut textbook) = (0, 0);
    for trial in 0..n_trials {
        let mut dice = Dice::new(&Seed::new(trial).child("noise"));
        let mut noise = 0.0;
        let y: Vec<f64> = (0..n)
            .map(|i| {
                noise = rho * noise + 0.1 * dice.normal();
                1.0 + 2.0 * slopes[1][i] + 0.5 * slopes[2][i] + noise
            })
            .collect();
        let x = linear_solution(&slopes, &y);
        let residuals: Vec<f64> =
            (0..n).map(|i| (0..3).map(|k| x[k] * slopes[k][i]).sum::<f64>() - y[i]).collect();
        let found = worth(&x, &Bounds::none(3), &residuals, &slopes, (&moments(n), false), 0.95);
        let error = (x[2] - 0.5).abs();
        ours += usize::from(error <= found.parameters[2].half_width.unwrap());
        textbook += usize::from(error <= found.parameters[2].textbook_half_width.unwrap());
    }
    assert!(ours >= n_trials as usize * 90 / 100, "{ours} of {n_trials}");
    assert!(textbook < n_trials as usize * 60 / 100, "{textbook}: the trial was none");
}

fn halves(worth: &sureness::Worth) -> Vec<Option<f64>> {
    worth.parameters.iter().map(|parameter| parameter.half_width).collect()
}

/// Near a bound is what the interval reaches as it is told: what widened it counts.
#[test]
fn bounds_are_asked_of_intervals_as_they_are_told() {
    let t: Vec<f64> = (0..50).map(|i| f64::from(i) * 0.1).collect();
    let mut dice = Dice::new(&Seed::new(5));
    let residuals: Vec<f64> = t.iter().map(|_| 1e-6 * dice.normal()).collect();
    let bounds = Bounds { lower: vec![0.0], upper: vec![1.0] };
    let (names, x) = (["damping".to_string()], [5e-4]);
    let mut found = worth(&x, &bounds, &residuals, &vec![t], (&moments(50), false), 0.95);
    let n_told = |found: &sureness::Worth, halves: &[Option<f64>]| {
        sureness::warnings((&names, &x), &[0.5], (&bounds, &|_, _| false), found, halves).len()
    };
    assert_eq!(n_told(&found, &halves(&found)), 0, "{:?}", found.parameters);
    assert_eq!(n_told(&found, &[Some(6e-4)]), 1, "as where steps move it");
    assert_eq!(n_told(&found, &[None]), 0, "an interval that is not told is still as narrow");
    found.heed_starts(&[vec![1e-3], vec![-1e-3]], &[], 0.95);
    assert_eq!(n_told(&found, &halves(&found)), 1, "{:?}", found.parameters);
}

/// Noise of starts adds to that of residuals as squares do; windows disagree by both, and what
/// they say counts where it is more, not beside it.
#[test]
fn noise_of_starts_counts_once() {
    let n = 400;
    let mut dice = Dice::new(&Seed::new(8));
    let residuals: Vec<f64> = (0..n).map(|_| dice.normal()).collect();
    let slopes: Columns = vec![vec![1.0; n]];
    let of_windows = |size: usize| -> Vec<Moment> {
        (0..n).map(|i| Moment { series: i / size, at_nanos: i as i64 }).collect()
    };
    let bounds = Bounds::none(1);
    let told = |answers: &[Vec<f64>], shown: f64| {
        let mut found = worth(&[0.0], &bounds, &residuals, &slopes, (&of_windows(10), true), 0.95);
        found.heed_starts(answers, &[shown], 0.95);
        found.parameters[0].clone()
    };
    // A mean of 400: its error is a twentieth, by residuals and by forty windows alike.
    let plain = told(&[], 0.0);
    assert!((0.04..0.07).contains(&plain.standard_error), "{plain:?}");
    let answers: Vec<Vec<f64>> =
        (0..12).map(|i| vec![0.15 * if i % 2 == 0 { 1.0 } else { -1.0 }]).collect();
    let both = told(&answers, 0.0);
    let sum = 0.15 * 0.15 + 0.05 * 0.05;
    assert!((both.standard_error * both.standard_error / sum - 1.0).abs() < 0.1, "{both:?}");
    // What residuals show of it is in them, and counts no more.
    let rest = told(&answers, 0.15 * 0.15);
    assert!((rest.standard_error / plain.standard_error - 1.0).abs() < 1e-9, "{rest:?}");
    // Starts that are wrong by as much again in every window: windows show it, and it is not added.
    let wrong: Vec<f64> = (0..n / 10).map(|_| dice.normal()).collect();
    let residuals: Vec<f64> =
        residuals.iter().enumerate().map(|(i, r)| r + wrong[i / 10]).collect();
    let moments = of_windows(10);
    let by = |answers: &[Vec<f64>]| {
        let mut found = worth(&[0.0], &bounds, &residuals, &slopes, (&moments, true), 0.95);
        found.heed_starts(answers, &[], 0.95);
        found.parameters[0].standard_error
    };
    let spread = by(&[]);
    assert!((0.12..0.25).contains(&spread), "{spread}: of forty means of size one");
    let small: Vec<Vec<f64>> = answers.iter().map(|a| vec![a[0] / 9.0]).collect();
    assert!(by(&small) < 1.1 * spread, "{} for {spread}", by(&small));
    // What noise does to all windows alike no disagreement shows.
    let one_way = vec![vec![0.5]; 12];
    assert!(by(&one_way) > 0.5, "{}", by(&one_way));
}

#[test]
fn what_is_not_seen_is_named() {
    let t: Vec<f64> = (0..50).map(|i| f64::from(i) * 0.1).collect();
    let names: Vec<String> = ["mass", "length", "colour", "damping"].map(str::to_string).to_vec();
    // Only mass + length acts, and colour not at all.
    let slopes: Columns = vec![t.clone(), t.clone(), vec![0.0; 50], vec![1.0; 50]];
    let mut dice = Dice::new(&Seed::new(5));
    let residuals: Vec<f64> = t.iter().map(|_| 0.01 * dice.normal()).collect();
    let bounds = Bounds { lower: vec![0.0; 4], upper: vec![2.0, 2.0, 2.0, 1.0] };
    let x = [1.0, 1.0, 1.0, 0.9999];
    let found = worth(&x, &bounds, &residuals, &slopes, (&moments(50), false), 0.95);
    let told =
        sureness::warnings((&names, &x), &x, (&bounds, &|_, _| false), &found, &halves(&found));
    let all = told.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
    assert_eq!(told.iter().filter(|(code, _)| *code == "not-seen").count(), 2, "{all}");
    assert!(
        all.contains("cannot see `colour`") && all.contains("`mass`") && all.contains("`length`"),
        "{all}"
    );
    assert!(all.contains("`damping` = 0.9999 is near its upper bound 1, which"), "{all}");
    let widths: Vec<bool> = found.parameters.iter().map(|p| p.half_width.is_some()).collect();
    assert_eq!(widths, [false, false, false, true]);
    // What nobody sees and the search has still put on a bound is told; what stood there is not.
    let x = [2.0, 0.0, 1.0, 0.5];
    let found = worth(&x, &bounds, &residuals, &slopes, (&moments(50), false), 0.95);
    let start = [1.0, 0.0, 1.0, 0.5];
    let told =
        sureness::warnings((&names, &x), &start, (&bounds, &|_, _| false), &found, &halves(&found));
    let at: Vec<&str> = told
        .iter()
        .filter(|(code, _)| *code == "at-bound")
        .map(|(_, text)| text.as_str())
        .collect();
    assert!(at.len() == 1 && at[0].starts_with("`mass` = 2 stands at its upper bound 2"), "{at:?}");
    // What is seen and stands where there is nothing beyond may be right: no friction at all.
    let x = [1.0, 1.0, 1.0, 0.0];
    let found = worth(&x, &bounds, &residuals, &slopes, (&moments(50), false), 0.95);
    for is_end in [false, true] {
        let ends = |i: usize, is_upper: bool| is_end && i == 3 && !is_upper;
        let told =
            sureness::warnings((&names, &x), &start, (&bounds, &ends), &found, &halves(&found));
        assert_eq!(told.iter().any(|(code, _)| *code == "at-bound"), !is_end, "{told:?}");
    }
}

/// Slopes stay within the bounds: at an edge, in a range narrower than a difference, and where the
/// side that is left has no residuals.
#[test]
fn slopes_are_taken_within_the_bounds() {
    let bounds = Bounds { lower: vec![0.0, 1.0, 0.0], upper: vec![1.0, 1.0 + 1e-8, 1.0] };
    let line = |x: &[f64]| -> Option<Vec<f64>> {
        assert!((0.0..=1.0).contains(&x[0]) && (1.0..=1.0 + 1e-8).contains(&x[1]), "{x:?}");
        (x[2] == 0.0 || x[2] < 1e-3).then(|| vec![3.0 * x[0], 5.0 * x[1], 7.0 * x[2]])
    };
    for is_central in [false, true] {
        let options = marquardt::Options {
            difference: vec![1e-2; 3],
            is_central,
            ..marquardt::Options::exact(&[0.0; 3])
        };
        for x in [[1.0, 1.0 + 1e-8, 0.0], [0.0, 1.0, 0.0]] {
            let slopes = with_crew(&Formula(line), 1, |crew| {
                slopes::slopes(&x, &line(&x).unwrap(), crew, &bounds, &options)
            });
            let slopes = slopes.unwrap().expect("a nearer point has residuals");
            for (k, wanted) in [3.0, 5.0, 7.0].into_iter().enumerate() {
                assert!(
                    (slopes[k][k] / wanted - 1.0).abs() < 1e-6,
                    "{is_central} {x:?} {slopes:?}"
                );
            }
        }
    }
}

/// Slopes that are corrected along the way end where fresh ones end, with fewer evaluations.
#[test]
fn corrected_slopes_end_at_the_same_point_sooner() {
    const N: usize = 8;
    let truth: Vec<f64> = (0..N).map(|k| 1.0 + 0.1 * k as f64).collect();
    let bend = |x: &[f64], t: f64| -> f64 {
        let term = |(k, x): (usize, &f64)| x * exp(-x * t * 0.3) * (1.0 + (k as f64) * t).recip();
        x.iter().enumerate().map(term).sum::<f64>() + x[0] * x[N - 1] * t
    };
    let data: Vec<f64> = (0..200)
        .map(|i| bend(&truth, f64::from(i) * 0.05) + 1e-4 * (f64::from(7 * i % 19) - 9.0))
        .collect();
    let problem = Formula(|x: &[f64]| -> Option<Vec<f64>> {
        Some(data.iter().enumerate().map(|(i, y)| bend(x, i as f64 * 0.05) - y).collect())
    });
    let bounds = Bounds { lower: vec![0.1; N], upper: vec![5.0; N] };
    let start = [2.2; N];
    let ends = [0, 8].map(|most_corrections| {
        let options =
            marquardt::Options { most_corrections, ..marquardt::Options::new(&start, &bounds) };
        let mut search = marquardt::Search::new(&start, &bounds);
        with_crew(&problem, 1, |crew| {
            search.run(crew, &bounds, &options, &mut |_| ControlFlow::Continue(()));
        });
        assert!(search.ended.unwrap().is_converged(), "{search:?}");
        search
    });
    let [fresh, corrected] = &ends;
    // In standard errors, squared.
    let (a, b) = (fresh.best().1.unwrap(), corrected.best().1.unwrap());
    assert!((a / b - 1.0).abs() * ((200 - N) as f64) < 0.01, "{fresh:?} {corrected:?}");
    assert!(
        4 * corrected.n_evaluations < 3 * fresh.n_evaluations,
        "{} {}",
        corrected.n_evaluations,
        fresh.n_evaluations
    );
}
