//! Statistics of errors that arrive one by one: nothing is kept but a few numbers.

use headland_base::SimTime;
use headland_base::maths::sqrt;

/// The errors of one key so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Running {
    /// How many.
    pub n: u64,
    /// Their mean.
    pub bias: f64,
    /// The mean of their sizes.
    pub mae: f64,
    mean_square: f64,
    /// The largest size, and when it was.
    pub max_abs: Option<(f64, SimTime)>,
    /// The latest.
    pub last: Option<f64>,
}

impl Running {
    /// One more. Means are moved on instead of sums, so that a day of samples loses no digits.
    pub fn add(&mut self, time: SimTime, error: f64) {
        self.n += 1;
        let share = 1.0 / self.n as f64;
        self.bias += (error - self.bias) * share;
        self.mae += (error.abs() - self.mae) * share;
        self.mean_square += (error * error - self.mean_square) * share;
        if self.max_abs.is_none_or(|(most, _)| error.abs() > most) {
            self.max_abs = Some((error.abs(), time));
        }
        self.last = Some(error);
    }

    /// The root of the mean square; nothing before the first.
    pub fn rmse(&self) -> Option<f64> {
        (self.n > 0).then(|| sqrt(self.mean_square))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same numbers as from the whole list.
    #[test]
    fn one_by_one_is_all_at_once() {
        let errors: Vec<f64> = (0..1000)
            .map(|i| 0.3 + f64::from(i % 17) * if i % 2 == 0 { 0.1 } else { -0.2 })
            .collect();
        let mut running = Running::default();
        assert_eq!((running.rmse(), running.max_abs), (None, None));
        for (i, error) in errors.iter().enumerate() {
            running.add(SimTime::from_nanos(i as i64), *error);
        }
        let n = errors.len() as f64;
        let mean = |of: &dyn Fn(f64) -> f64| errors.iter().map(|e| of(*e)).sum::<f64>() / n;
        assert!((running.bias - mean(&|e| e)).abs() < 1e-12);
        assert!((running.mae - mean(&f64::abs)).abs() < 1e-12);
        assert!((running.rmse().unwrap() - sqrt(mean(&|e| e * e))).abs() < 1e-12);
        let (most, at) = running.max_abs.unwrap();
        let wanted = errors.iter().position(|e| e.abs() == most).unwrap();
        assert_eq!((at.nanos(), running.last), (wanted as i64, errors.last().copied()));
    }
}
