use headland_base::maths::{cos, sin};

use super::*;

fn drawn(mixture: &Mixture, n: usize, seed: u64) -> Points {
    let mut sampler = mixture.sampler(&Seed::new(seed));
    Points::new((0..n).flat_map(|_| sampler.draw().1).collect(), mixture.n_dims())
}

/// Three clusters as a detector of a real cell has them, in millimetres.
fn three() -> Mixture {
    Mixture::new(vec![
        Cluster { weight: 0.5, mean: vec![0.1, -0.1], covariance: vec![0.01, 0.004, 0.004, 0.008] },
        Cluster { weight: 0.3, mean: vec![-0.4, 0.3], covariance: vec![0.006, 0.0, 0.0, 0.015] },
        Cluster {
            weight: 0.2,
            mean: vec![0.5, 0.5],
            covariance: vec![0.012, -0.007, -0.007, 0.012],
        },
    ])
    .unwrap()
}

/// Known clusters come back from 1,500 points: their number, and every share, middle and
/// deviation within 4.5 of its own standard errors (some 200 numbers are looked at).
#[test]
fn known_clusters_are_recovered_over_seeds() {
    let truth = three();
    for seed in 0..12 {
        let points = drawn(&truth, 1500, seed);
        let options = FitOptions { seed: Seed::new(seed), ..FitOptions::default() };
        let fit = fit(&points, &options).unwrap();
        assert_eq!(fit.mixture.clusters().len(), 3, "seed {seed}: {:?}", fit.tried);
        let pairs = fit.mixture.clusters().iter().zip(truth.clusters()).zip(&fit.errors);
        for ((found, wanted), errors) in pairs {
            let near = |a: f64, b: f64, error: f64| {
                assert!((a - b).abs() < 4.5 * error, "seed {seed}: {a} {b} ± {error}");
                assert!(error < 0.05, "seed {seed}: ± {error}");
            };
            near(found.weight, wanted.weight, errors.weight);
            for d in 0..2 {
                near(found.mean[d], wanted.mean[d], errors.mean[d]);
                let deviation = |c: &Cluster| sqrt(c.covariance[d * 2 + d]);
                near(deviation(found), deviation(wanted), errors.stddev[d]);
            }
        }
        // The fit is at least as likely as the truth, and the truth not much less so.
        let log_truth =
            points.iter().map(|p| truth.log_density(p)).sum::<f64>() / points.len() as f64;
        let gain = fit.log_likelihood - log_truth;
        assert!((0.0..0.02).contains(&gain), "seed {seed}: {gain}");
    }
}

/// One cluster is found where there is one, and it is the mean and covariance of the points.
#[test]
fn one_cluster_is_the_closed_form() {
    let truth = Mixture::new(vec![Cluster {
        weight: 1.0,
        mean: vec![3.0, -200.0, 1e-4],
        covariance: vec![4.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1e-8],
    }])
    .unwrap();
    let points = drawn(&truth, 800, 5);
    let fit = fit(&points, &FitOptions::default()).unwrap();
    assert_eq!(fit.mixture.clusters().len(), 1, "{:?}", fit.tried);
    let cluster = &fit.mixture.clusters()[0];
    for (d, (mean, stddev)) in points.spread().into_iter().enumerate() {
        assert!((cluster.mean[d] - mean).abs() <= 1e-12 * stddev + 1e-12 * mean.abs());
        assert!((sqrt(cluster.covariance[d * 3 + d]) / stddev - 1.0).abs() < 1e-9);
        // The standard error of a mean is σ/√n; resampling 40 times knows it to about a third.
        let ratio = fit.errors[0].mean[d] / (stddev / sqrt(800.0));
        assert!((0.6..1.5).contains(&ratio), "{ratio}");
    }
}

/// Stretched axes change nothing but the units.
#[test]
fn units_do_not_matter() {
    let points = drawn(&three(), 600, 3);
    let scaled = points.values.iter().enumerate();
    let scaled =
        scaled.map(|(i, x)| if i % 2 == 0 { x * 1e-3 + 416.65 } else { x * 1e3 }).collect();
    let scaled = Points::new(scaled, 2);
    let options = FitOptions { n_resamples: 0, ..FitOptions::default() };
    let (a, b) = (fit(&points, &options).unwrap(), fit(&scaled, &options).unwrap());
    assert_eq!(a.tried.len(), b.tried.len());
    for (a, b) in a.mixture.clusters().iter().zip(b.mixture.clusters()) {
        assert!((a.weight - b.weight).abs() < 1e-6);
        assert!((a.mean[1] * 1e3 - b.mean[1]).abs() < 1e-3);
        assert!((a.covariance[0] * 1e-6 / b.covariance[0] - 1.0).abs() < 1e-5);
    }
    assert!(a.errors.is_empty());
}

/// Six dimensions, two clusters that overlap in each axis alone.
#[test]
fn clusters_are_told_apart_by_all_dimensions_together() {
    let cluster = |sign: f64| {
        let mut covariance = vec![0.0; 36];
        (0..6).for_each(|i| covariance[i * 7] = 1.0);
        Cluster { weight: 0.5, mean: vec![0.9 * sign; 6], covariance }
    };
    let truth = Mixture::new(vec![cluster(1.0), cluster(-1.0)]).unwrap();
    let fit = fit(&drawn(&truth, 3000, 1), &FitOptions::default()).unwrap();
    assert_eq!(fit.mixture.clusters().len(), 2, "{:?}", fit.tried);
    let apart = fit.mixture.clusters()[0].mean[0] - fit.mixture.clusters()[1].mean[0];
    assert!((apart.abs() - 1.8).abs() < 0.25, "{apart}");
}

#[test]
fn points_that_lie_on_each_other_or_on_a_line_do_not_break_it() {
    // A thousand times the same two points, as of a detector that rounds.
    let twice = Points::new(
        (0..1000).flat_map(|i| [f64::from(i % 2), 0.5 * f64::from(i % 2)]).collect(),
        2,
    );
    let fitted = fit(&twice, &FitOptions::default()).unwrap();
    assert!(fitted.log_likelihood.is_finite());
    let line: Vec<f64> =
        (0..500).flat_map(|i| [sin(f64::from(i)), 2.0 * sin(f64::from(i)) + 1.0]).collect();
    let fitted = fit(&Points::new(line, 2), &FitOptions::default()).unwrap();
    let all = fitted.mixture.clusters().iter().flat_map(|c| c.covariance.iter());
    assert!(all.into_iter().all(|x| x.is_finite()));
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let options = FitOptions::default();
    let few = Points::new(vec![1.0, 2.0], 2);
    assert_eq!(fit(&few, &options).unwrap_err(), Unfit::TooFew { needed: 4 });
    let flat: Vec<f64> = (0..50).flat_map(|i| [cos(f64::from(i)), 416.65]).collect();
    let mut far: Vec<f64> = flat.iter().map(|x| sin(*x)).collect();
    far[1] = f64::MAX;
    assert_eq!(fit(&Points::new(far, 2), &options).unwrap_err(), Unfit::TooLarge { dim: 1 });
    assert_eq!(fit(&Points::new(flat, 2), &options).unwrap_err(), Unfit::Constant { dim: 1 });
    let many = FitOptions { n_clusters: Some(40), ..options };
    let points = drawn(&three(), 60, 1);
    assert_eq!(fit(&points, &many).unwrap_err(), Unfit::Collapsed { n_clusters: 40 });
}

#[test]
fn the_same_points_and_seed_give_the_same_mixture() {
    let points = drawn(&three(), 400, 9);
    let (a, b) = (fit(&points, &FitOptions::default()), fit(&points, &FitOptions::default()));
    assert_eq!(a.unwrap().mixture, b.unwrap().mixture);
}
