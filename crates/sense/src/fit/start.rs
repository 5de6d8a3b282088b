//! Where a climb starts: centres far from each other, and the points nearest to each.

use super::Points;
use super::em::maximise;
use crate::noise::{Dice, Mixture};

/// Rounds of moving centres to the middle of their points.
const N_ROUNDS: usize = 12;

/// A first mixture; `None` where some centre has too few points around it.
pub fn start(points: &Points, n_clusters: usize, dice: &mut Dice) -> Option<Mixture> {
    let mut centres = spread_centres(points, n_clusters, dice);
    let mut nearest = Vec::new();
    for _ in 0..N_ROUNDS {
        nearest = points.iter().map(|point| nearest_of(point, &centres).0).collect();
        for (c, centre) in centres.iter_mut().enumerate() {
            move_to_middle(points, &nearest, c, centre);
        }
    }
    // A trace of every point, so that no start is sharper than it knows to be: a cluster of two
    // points would have no width. One in fifty leaves the middles where they are.
    let trace = 0.02;
    let share = |i: usize, c: usize| f64::from(nearest[i] == c) * (1.0 - trace);
    let n = points.len();
    let shares: Vec<f64> = (0..n)
        .flat_map(|i| (0..n_clusters).map(move |c| (i, c)))
        .map(|(i, c)| share(i, c) + trace / n_clusters as f64)
        .collect();
    maximise(points, &shares, n_clusters)
}

/// Centres among the points, each with odds by the square of its distance to those before it
/// (Arthur and Vassilvitskii 2007).
fn spread_centres(points: &Points, n_clusters: usize, dice: &mut Dice) -> Vec<Vec<f64>> {
    let mut centres = vec![points.at(dice.below(points.len())).to_vec()];
    while centres.len() < n_clusters {
        let squares: Vec<f64> = points.iter().map(|point| nearest_of(point, &centres).1).collect();
        let mut left = dice.uniform() * squares.iter().sum::<f64>();
        let is_it = |square: &f64| {
            left -= square;
            left < 0.0
        };
        let i = squares.iter().position(is_it).unwrap_or(points.len() - 1);
        centres.push(points.at(i).to_vec());
    }
    centres
}

fn nearest_of(point: &[f64], centres: &[Vec<f64>]) -> (usize, f64) {
    let square = |centre: &Vec<f64>| -> f64 {
        centre.iter().zip(point).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let squares = centres.iter().map(square).enumerate();
    squares.fold((0, f64::INFINITY), |best, now| if now.1 < best.1 { now } else { best })
}

fn move_to_middle(points: &Points, nearest: &[usize], c: usize, centre: &mut [f64]) {
    let mine = || points.iter().zip(nearest).filter(|(_, n)| **n == c).map(|(point, _)| point);
    let n = mine().count();
    if n == 0 {
        return;
    }
    centre.fill(0.0);
    mine().for_each(|point| centre.iter_mut().zip(point).for_each(|(m, x)| *m += x));
    centre.iter_mut().for_each(|m| *m /= n as f64);
}
