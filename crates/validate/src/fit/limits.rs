//! Tests of limits: no search makes more evaluations than it may, and all of them are counted.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use headland_base::maths::exp;

use super::crew::with_crew;
use super::tests::{Formula, two_decays};
use super::{Bounds, Ended, marquardt};

/// Whenever a search is told to end, it makes no more evaluations than it may, and what it says of
/// its way ends at its best point: also in the middle of a round, on corrected slopes. Allowed
/// more, it goes on to the same bits.
#[test]
fn a_search_keeps_to_its_limit_and_its_way_ends_at_the_best_point() {
    let (start, bounds) =
        ([1.0, 0.5, 1.5, 2.0], Bounds { lower: vec![0.1; 4], upper: vec![5.0; 4] });
    let n_asked = AtomicUsize::new(0);
    let problem = Formula(|x: &[f64]| {
        n_asked.fetch_add(1, Ordering::Relaxed);
        two_decays(x)
    });
    let on = |search: &mut marquardt::Search, most_evaluations: usize| {
        let options =
            marquardt::Options { most_evaluations, ..marquardt::Options::new(&start, &bounds) };
        with_crew(&problem, 1, |crew| {
            search.run(crew, &bounds, &options, &mut |_| ControlFlow::Continue(()));
        });
    };
    let mut whole = marquardt::Search::new(&start, &bounds);
    on(&mut whole, 1000);
    assert!(whole.ended.unwrap().is_converged(), "{whole:?}");
    let mut n_ahead = 0;
    for most in 1..whole.n_evaluations {
        let mut search = marquardt::Search::new(&start, &bounds);
        n_asked.store(0, Ordering::Relaxed);
        on(&mut search, most);
        let n = n_asked.load(Ordering::Relaxed);
        assert!(n <= most, "{most}");
        assert_eq!(search.n_points(), n, "{most}");
        assert_eq!(search.ended, Some(Ended::TooMany), "{most}");
        let (history, best) = (search.history(), search.best().1);
        assert_eq!(history.last().map(|last| last.1), best, "{most}");
        n_ahead +=
            usize::from(history.len() > 1 && history.last().unwrap().0 > search.n_evaluations);
        on(&mut search, 1000);
        assert_eq!(search, whole, "{most}");
    }
    assert!(n_ahead > 0, "some ended in the middle of a round");
}

/// Slopes that did not tell the way are taken anew at the end, and points beyond what has residuals
/// tried from the other side: both count, and neither goes over the limit.
#[test]
fn slopes_at_the_end_and_points_without_residuals_keep_to_the_limit() {
    // A bent way with noise on it: the last step is long for the noise and not straight. Nothing is
    // beyond the start, where a slope looks first.
    let (start, bounds) = ([1.0, 0.2], Bounds { lower: vec![0.0; 2], upper: vec![3.0; 2] });
    let n_asked = AtomicUsize::new(0);
    let noise = |i: usize| 0.02 * (((i * 7919) % 13) as f64 / 6.0 - 1.0);
    let problem = Formula(|x: &[f64]| {
        n_asked.fetch_add(1, Ordering::Relaxed);
        let decay = |i: usize| x[0] * exp(-x[1] * i as f64 * 0.1);
        let truth = |i: usize| 0.9 * exp(-0.6 * i as f64 * 0.1);
        let all = (0..40).map(|i| decay(i) - truth(i) - noise(i)).collect();
        (x[0] <= 1.0).then_some(all)
    });
    let on = |search: &mut marquardt::Search, most_evaluations: usize| {
        let options = marquardt::Options {
            most_evaluations,
            least_told: 40.0, // ends early, with a step that is long for the noise
            ..marquardt::Options::new(&start, &bounds)
        };
        with_crew(&problem, 1, |crew| {
            search.run(crew, &bounds, &options, &mut |_| ControlFlow::Continue(()))
        })
    };
    let mut whole = marquardt::Search::new(&start, &bounds);
    let linear = on(&mut whole, 1000);
    let n_whole = n_asked.load(Ordering::Relaxed);
    assert!(whole.ended.unwrap().is_converged(), "{whole:?}");
    assert_eq!(linear.unwrap().sloped_at, whole.best().0, "slopes were taken at the end");
    assert_eq!(whole.n_points(), n_whole);
    for most in 1..n_whole {
        let mut search = marquardt::Search::new(&start, &bounds);
        n_asked.store(0, Ordering::Relaxed);
        on(&mut search, most);
        let n = n_asked.load(Ordering::Relaxed);
        assert!(n <= most && n == search.n_points(), "{most}: {n} {search:?}");
        assert_eq!(search.ended, Some(Ended::TooMany), "{most}");
        on(&mut search, 1000);
        assert_eq!(search, whole, "{most}");
    }
}
