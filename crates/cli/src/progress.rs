//! A progress bar for long runs, on a terminal only. The one place that looks at a clock;
//! what it shows never reaches a recording.

use std::time::{Duration, Instant};

use headland_base::{SimDuration, SimTime};
use indicatif::{ProgressBar, ProgressStyle};

/// How far a run is.
pub struct Progress {
    started: Instant,
    bar: Option<ProgressBar>,
    total: Option<SimDuration>,
    n_ticks: u64,
}

/// Looking at the clock at every step would cost more than some steps.
const TICKS_PER_LOOK: u64 = 64;

impl Progress {
    /// A bar of a run; without a total it only counts.
    pub fn new(shown: bool, total: Option<SimDuration>) -> Progress {
        let template = match total {
            Some(_) => "{bar:30} {msg}",
            None => "{spinner} {msg}",
        };
        let bar = shown.then(|| {
            let length = total.map(|total| total.nanos().unsigned_abs());
            let style = ProgressStyle::with_template(template).expect("a template of ours");
            ProgressBar::new(length.unwrap_or(0)).with_style(style)
        });
        Progress { started: now(), bar, total, n_ticks: 0 }
    }

    /// One step later.
    pub fn tick(&mut self, time: SimTime) {
        self.n_ticks += 1;
        let Some(bar) = &self.bar else { return };
        if !self.n_ticks.is_multiple_of(TICKS_PER_LOOK) {
            return;
        }
        let elapsed = self.secs();
        if elapsed < 0.5 {
            return; // a run that is over by now needs no bar
        }
        let factor = time.secs() / elapsed;
        let left = self.total.map(|total| (total.secs() - time.secs()) / factor);
        let left =
            left.map(|left| format!(", {} left", headland_report::secs(left))).unwrap_or_default();
        bar.set_position(time.nanos().unsigned_abs());
        bar.set_message(format!("{:.1} s simulated, {factor:.1} × real time{left}", time.secs()));
    }

    /// Seconds since the start.
    pub fn secs(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How many of many are done.
pub struct CountProgress {
    bar: Option<ProgressBar>,
}

impl CountProgress {
    /// A bar of `n` things; one alone needs none.
    pub fn new(shown: bool, n: usize, things: &str) -> CountProgress {
        let bar = (shown && n > 1).then(|| {
            let template = format!("{{bar:30}} {{pos}} of {{len}} {things}, {{elapsed}}");
            let style = ProgressStyle::with_template(&template).expect("a template of ours");
            let bar = ProgressBar::new(n as u64).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        CountProgress { bar }
    }

    /// One more is done.
    pub fn tick(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "shown to people, never recorded")]
fn now() -> Instant {
    Instant::now()
}
