//! How far windows disagree.
//!
//! In windows every forecast starts from what was measured there, and what is wrong with a start,
//! or with the model at that place, is wrong with all that follows until the next: samples of one
//! window are no independent witnesses, however they are correlated in time. Windows are. So the
//! spread of an estimate is also taken from the sums of `Jᵀr` over whole windows (Liang and Zeger,
//! 1986). Few windows tell little of how far windows disagree, and one tells nothing: Student's
//! degrees of freedom are those of as many windows as say something of a number.

use headland_base::maths::dot;

use super::dense::Columns;
use super::sureness::Moment;

/// What windows say of how sure each parameter is.
pub(super) struct Spread {
    /// Per parameter the variance of its estimate.
    pub variance: Vec<f64>,
    /// Per parameter how many windows say as much as all do, if each said the same.
    pub n_windows: Vec<f64>,
}

/// `slopes` are per share of each range, `inverse` is `(JᵀJ)⁻¹` of them over what can be seen.
pub(super) fn spread(
    slopes: &Columns,
    residuals: &[f64],
    moments: &[Moment],
    inverse: &Columns,
) -> Spread {
    let windows = sums(slopes, residuals, moments);
    let of = |row: &Vec<f64>| {
        let (mut sum, mut squares, mut spread) = (0.0, 0.0, 0.0);
        for (products, pull) in &windows {
            let (share, gone) = (along(products, row), dot(row, pull));
            sum += share;
            squares += share * share;
            spread += gone * gone;
        }
        let n = if squares > 0.0 { sum * sum / squares } else { 0.0 };
        // Of one there is no spread; never less than two, whose degrees are one.
        (spread * n.max(2.0) / (n.max(2.0) - 1.0), n)
    };
    let (variance, n_windows) = inverse.iter().map(of).unzip();
    Spread { variance, n_windows }
}

/// `JᵀJ` and `Jᵀr` of every window.
fn sums(slopes: &Columns, residuals: &[f64], moments: &[Moment]) -> Vec<(Columns, Vec<f64>)> {
    let p = slopes.len();
    let n = moments.iter().map(|moment| moment.series + 1).max().unwrap_or(0);
    let mut sums = vec![(vec![vec![0.0; p]; p], vec![0.0; p]); n];
    for (row, moment) in moments.iter().enumerate() {
        let (products, pull) = &mut sums[moment.series];
        for (i, slope) in slopes.iter().map(|column| column[row]).enumerate() {
            pull[i] += slope * residuals[row];
            products[i].iter_mut().zip(slopes).for_each(|(sum, other)| *sum += slope * other[row]);
        }
    }
    sums
}

/// `vᵀ·A·v`.
fn along(matrix: &Columns, v: &[f64]) -> f64 {
    matrix.iter().zip(v).map(|(column, v_j)| v_j * dot(column, v)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(series: &[usize]) -> Vec<Moment> {
        let each = series.iter().enumerate();
        each.map(|(at, series)| Moment { series: *series, at_nanos: at as i64 }).collect()
    }

    /// Of a mean of windows of equal size the spread is known: that of their own means.
    #[test]
    fn the_spread_of_a_mean_of_windows_is_the_textbooks() {
        let residuals = [1.0, 1.0, -3.0, -3.0, 2.0, 2.0];
        let (slopes, inverse) = (vec![vec![1.0; 6]], vec![vec![1.0 / 6.0]]);
        let spread = spread(&slopes, &residuals, &moments(&[0, 0, 1, 1, 2, 2]), &inverse);
        let textbook = (1.0 + 9.0 + 4.0) / 2.0 / 3.0; // s²/n
        assert!((spread.variance[0] - textbook).abs() < 1e-12, "{:?}", spread.variance);
        assert!((spread.n_windows[0] - 3.0).abs() < 1e-12, "{:?}", spread.n_windows);
    }

    #[test]
    fn a_number_that_one_window_sees_has_one_window() {
        let slopes = vec![vec![0.0, 0.0, 1.0, 1.0], vec![1.0, 1.0, 0.0, 0.0]];
        let inverse = vec![vec![0.5, 0.0], vec![0.0, 0.5]];
        let spread = spread(&slopes, &[0.1, 0.2, 0.1, -0.1], &moments(&[0, 0, 1, 1]), &inverse);
        assert_eq!(spread.n_windows, [1.0, 1.0]);
        assert!(spread.variance.iter().all(|v| v.is_finite()), "{:?}", spread.variance);
    }
}
