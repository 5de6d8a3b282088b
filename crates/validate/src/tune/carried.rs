//! What noise does to residuals by way of the numbers that it moves.
//!
//! Noise pulls at the numbers of a model, and moved numbers leave something in every signal, which
//! shows in one that has little noise of its own. How much is told by noise that is drawn anew. All
//! that is asked of it are sums of products within a signal, so no draw is ever written out, sample
//! by sample: that takes as long as ten simulations of an arm. `gᵀ·G·g` is as much, with how far a draw
//! moves the numbers, `g`, and the products of slopes, `G`.

use std::cell::OnceCell;
use std::ops::Range;

use headland_base::Seed;
use headland_base::maths::dot;
use headland_sense::noise::Dice;

use super::waves::means;
use crate::fit::dense::{Columns, root};
use crate::fit::sureness::Worth;

/// So often noise is drawn anew: the most of them is what one in fifty is beyond.
const N_NOISES: usize = 48;

/// What numbers make of noise as large as what is left of each signal.
pub(super) struct Carried<'a> {
    residuals: &'a [f64],
    /// The samples of each signal.
    signals: &'a [Range<usize>],
    slopes: &'a Columns,
    worth: &'a Worth,
    /// How far each draw moves each number; found when it is asked for.
    draws: OnceCell<Vec<Vec<f64>>>,
    /// Products of slopes, signal by signal; the same.
    products: OnceCell<Vec<Columns>>,
}

impl<'a> Carried<'a> {
    pub fn new(
        residuals: &'a [f64],
        signals: &'a [Range<usize>],
        slopes: &'a Columns,
        worth: &'a Worth,
    ) -> Carried<'a> {
        let (draws, products) = (OnceCell::new(), OnceCell::new());
        Carried { residuals, signals, slopes, worth, draws, products }
    }

    /// With draws that move the numbers so far.
    #[cfg(test)]
    pub fn with_draws(self, draws: Vec<Vec<f64>>) -> Carried<'a> {
        Carried { draws: OnceCell::from(draws), ..self }
    }

    /// `JᵀJ` of each signal.
    pub fn products(&self) -> &[Columns] {
        self.products.get_or_init(|| {
            let of_signal = |signal: &Range<usize>| {
                let slices = self.slopes.iter().map(|column| &column[signal.clone()]);
                let slices: Vec<&[f64]> = slices.collect();
                let n = slices.len();
                let mut all = vec![vec![0.0; n]; n];
                for i in 0..n {
                    for j in i..n {
                        all[i][j] = dot(slices[i], slices[j]);
                        all[j][i] = all[i][j];
                    }
                }
                all
            };
            self.signals.iter().map(of_signal).collect()
        })
    }

    fn draws(&self) -> &[Vec<f64>] {
        self.draws.get_or_init(|| {
            let n = self.slopes.len();
            let mut spread = vec![vec![0.0; n]; n];
            for (signal, products) in self.signals.iter().zip(self.products()) {
                let own = &self.residuals[signal.clone()];
                let square = dot(own, own) / own.len().max(1) as f64;
                for (sums, products) in spread.iter_mut().zip(products) {
                    sums.iter_mut().zip(products).for_each(|(sum, entry)| *sum += square * entry);
                }
            }
            // Only how noise pulls at the numbers is drawn, `Jᵀ·noise`.
            let root = root(&spread);
            let mut dice = Dice::new(&Seed::new(0).child("noise"));
            let mut drawn = || {
                let mut pull = vec![0.0; n];
                for column in &root {
                    let part = dice.normal();
                    pull.iter_mut().zip(column).for_each(|(pull, entry)| *pull += part * entry);
                }
                self.worth.answer_to(&pull)
            };
            (0..N_NOISES).map(|_| drawn()).collect()
        })
    }

    /// The sum of squares of a signal, at the most.
    pub fn most_squares(&self, signal: usize) -> f64 {
        most(self.draws(), &self.products()[signal])
    }

    /// How alike neighbours are among the means of so many samples of a signal, at the most.
    pub fn most_alike(&self, signal: usize, length: usize) -> f64 {
        let signal = self.signals[signal].clone();
        let columns = self.slopes.iter().map(|column| means(&column[signal.clone()], length));
        let columns: Columns = columns.collect();
        let n = columns.first().map_or(0, Vec::len);
        if n < 2 {
            return 0.0;
        }
        let now = |column: &Vec<f64>| -> Vec<f64> {
            columns.iter().map(|other| dot(&column[1..], &other[..n - 1])).collect()
        };
        let next: Columns = columns.iter().map(now).collect();
        most(self.draws(), &next) / (n - 1) as f64
    }
}

/// `gᵀ·G·g`, at the most; at least nothing.
fn most(draws: &[Vec<f64>], products: &Columns) -> f64 {
    let along = |gone: &Vec<f64>| -> f64 {
        products.iter().zip(gone).map(|(column, part)| part * dot(column, gone)).sum()
    };
    draws.iter().map(along).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::waves::alike;
    use super::*;
    use crate::fit::Bounds;
    use crate::fit::reduced::product;
    use crate::fit::sureness::{Moment, worth};

    /// The other road: every draw written out, sample by sample.
    #[test]
    fn draws_are_as_if_they_were_written_out() {
        let mut dice = Dice::new(&Seed::new(1).child("carried"));
        let (signals, n) = ([0..70, 70..133], 133);
        let mut column = || -> Vec<f64> { (0..n).map(|_| dice.normal()).collect() };
        let (residuals, slopes): (_, Columns) = (column(), (0..3).map(|_| column()).collect());
        let moments = (0..n as i64).map(|at_nanos| Moment { series: 0, at_nanos });
        let moments: Vec<Moment> = moments.collect();
        let bounds = Bounds::none(3);
        let worth = worth(&[0.0; 3], &bounds, &residuals, &slopes, (&moments, false), 0.95);
        let carried = Carried::new(&residuals, &signals, &slopes, &worth);
        let written: Columns = carried.draws().iter().map(|gone| product(&slopes, gone)).collect();
        assert_eq!(written.len(), N_NOISES);
        let most = |of: &dyn Fn(&[f64]) -> f64| {
            signals.clone().map(|signal| {
                written.iter().map(|draw| of(&draw[signal.clone()])).fold(0.0, f64::max)
            })
        };
        let squares = most(&|own| dot(own, own));
        assert!(squares.iter().all(|square| *square > 0.0));
        for (i, square) in squares.into_iter().enumerate() {
            assert!((carried.most_squares(i) / square - 1.0).abs() < 1e-12, "{square}");
        }
        for length in [1, 2, 4, 50] {
            for (i, wanted) in most(&|own| alike(&means(own, length))).into_iter().enumerate() {
                let got = carried.most_alike(i, length);
                assert!((got - wanted).abs() < 1e-12 * squares[i], "{length}: {got} {wanted}");
            }
        }
    }
}
