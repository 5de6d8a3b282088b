//! Readings that do not come: now and then, or several in a row.

use headland_base::Seed;

use super::dice::Dice;

/// How readings get lost.
///
/// A chain of two states, lost and not (Gilbert 1960): the mean run of losses and the share of
/// losses in the long run are given, the two odds of changing state follow from them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dropout {
    /// Which share of the readings, 0 to 1.
    pub rate: f64,
    /// How many are lost in a row on average; each for itself where nothing is said.
    pub burst: Option<f64>,
}

impl Dropout {
    /// What is wrong with it, in words.
    pub fn fault(&self) -> Option<String> {
        if !(0.0..=1.0).contains(&self.rate) {
            return Some(format!("a dropout rate of {} is no share from 0 to 1", self.rate));
        }
        let burst = self.burst?;
        if !(burst >= 1.0 && burst.is_finite()) {
            return Some(format!("{burst} lost in a row is less than one"));
        }
        // Between two runs of losses there is at least one reading.
        let most = burst / (burst + 1.0);
        (self.rate > most && self.rate < 1.0).then(|| {
            format!(
                "runs of {burst} losses can lose at most {most:.3} of all readings, not {}",
                self.rate
            )
        })
    }

    /// Odds of losing the next reading after one that was lost, and after one that was not.
    fn odds(&self) -> (f64, f64) {
        match self.burst {
            Some(burst) if self.rate < 1.0 => {
                (1.0 - 1.0 / burst, (self.rate / (burst * (1.0 - self.rate))).min(1.0))
            }
            _ => (self.rate, self.rate),
        }
    }

    /// Who says which readings are lost.
    pub fn dropper(&self, seed: &Seed) -> Dropper {
        let mut dice = Dice::new(&seed.child("dropout"));
        // Before the first reading the chain has run for ever.
        let is_lost = dice.chance(self.rate);
        let (after_lost, after_kept) = self.odds();
        Dropper { dice, is_lost, after_lost, after_kept }
    }
}

/// Says for one reading after the other whether it is lost.
#[derive(Clone, Debug)]
pub struct Dropper {
    dice: Dice,
    is_lost: bool,
    after_lost: f64,
    after_kept: f64,
}

impl Dropper {
    /// Whether the next reading is lost.
    pub fn loses(&mut self) -> bool {
        if self.after_lost == 0.0 && self.after_kept == 0.0 && !self.is_lost {
            return false;
        }
        let odds = if self.is_lost { self.after_lost } else { self.after_kept };
        self.is_lost = self.dice.chance(odds);
        self.is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::sqrt;

    fn losses(dropout: Dropout, n: usize) -> Vec<bool> {
        assert_eq!(dropout.fault(), None);
        let mut dropper = dropout.dropper(&Seed::new(3));
        (0..n).map(|_| dropper.loses()).collect()
    }

    /// Both numbers that are declared, the share and the mean run, are those of the sample, to
    /// 3.29 standard errors (99.9 %). Losses of a chain count for fewer: the variance of their
    /// mean is larger by (1 + ρ)/(1 − ρ), ρ the correlation of neighbours.
    #[test]
    fn shares_and_runs_are_as_declared() {
        let n = 200_000;
        for (rate, burst) in [(0.1, None), (0.1, Some(1.0)), (0.2, Some(8.0)), (0.7, Some(5.0))] {
            let dropout = Dropout { rate, burst };
            let lost = losses(dropout, n);
            let (after_lost, after_kept) = dropout.odds();
            let rho = after_lost - after_kept;
            let share = lost.iter().filter(|lost| **lost).count() as f64 / n as f64;
            let error = sqrt(rate * (1.0 - rate) / n as f64 * (1.0 + rho) / (1.0 - rho));
            assert!((share - rate).abs() < 3.29 * error, "{dropout:?}: {share}");
            let n_runs = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
            let mean_run = share * n as f64 / n_runs;
            let wanted = burst.unwrap_or(1.0 / (1.0 - rate));
            // Runs are geometric: their deviation is √(1 − p)/p with p = 1/mean.
            let error = wanted * sqrt((1.0 - 1.0 / wanted).max(1e-12) / n_runs);
            assert!((mean_run - wanted).abs() <= 3.29 * error + 1e-4, "{dropout:?}: {mean_run}");
        }
    }

    #[test]
    fn never_is_never_and_always_is_always() {
        assert!(!losses(Dropout::default(), 1000).contains(&true));
        assert!(!losses(Dropout { rate: 1.0, burst: None }, 1000).contains(&false));
        assert!(!losses(Dropout { rate: 1.0, burst: Some(4.0) }, 1000).contains(&false));
        assert!(!losses(Dropout { rate: 0.0, burst: Some(4.0) }, 1000).contains(&true));
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (rate, burst) in
            [(-0.1, None), (1.1, None), (f64::NAN, None), (0.1, Some(0.5)), (0.9, Some(2.0))]
        {
            assert!(Dropout { rate, burst }.fault().is_some(), "{rate} {burst:?}");
        }
    }
}
