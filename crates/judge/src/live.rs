//! Judging a run while it goes on.
//!
//! The same machine as for a recording, one snapshot at a time as they come. Where the run
//! knows when it will end, `stopTime` is that moment and every answer is the one the
//! recording will get; where it does not, `stopTime` is endless until the last snapshot, which
//! has to be given by [`Live::tick_last`]. That a snapshot is the last is then answered as the
//! recording will; whoever reckons with the end before it is there is to be kept out.
//! Formulas that look ahead cannot be known yet and are refused.

use std::sync::Arc;

use headland_base::{Diagnostic, SimTime};
use headland_record::track::Remark;

use crate::code::{Code, Node, Op};
use crate::formula::{NOWHERE, degree_of, of_comparison, verdict_of};
use crate::judge::{conclude, new_run, nothing_to_judge, settle_verdict};
use crate::run::{Conditions, Nobody, Now, Run};
use crate::scene::Column;
use crate::temporal::{Degree, LooksAhead, Monitor, Truth};
use crate::verdict::Judgement;
use crate::vocabulary::Quantity;

/// A run as it is now.
pub trait LiveSource {
    /// A quantity of this moment; `None` where it is not known.
    fn quantity(&self, quantity: Quantity) -> Option<f64>;
    /// What was said last on a track of texts, and when.
    fn said(&self, report: u32) -> Option<(SimTime, &Remark)>;
}

/// What it is now is all there is, whatever the snapshot's number.
struct Present<S>(S);

impl<S: LiveSource> Now for Present<S> {
    fn quantity(&self, quantity: Quantity, _tick: usize) -> Option<f64> {
        self.0.quantity(quantity)
    }

    fn said(&self, report: u32, _now: SimTime) -> Option<(SimTime, &Remark)> {
        self.0.said(report)
    }
}

/// A test that watches a run.
pub struct Live<'c, S> {
    run: Run<'c, Present<S>, Nobody>,
    n_snapshots: usize,
    monitors: Vec<Watched>,
}

/// A formula that looks back, and what it is now.
struct Watched {
    monitor: Monitor<Truth>,
    now: Truth,
    /// What it was at the first snapshot, which was when.
    first: (Truth, usize, SimTime),
}

impl<'c, S: LiveSource> Live<'c, S> {
    /// A test about to watch. `stop` is when the run will end, where that is known.
    pub fn new(
        code: &'c Code,
        source: S,
        stop: Option<SimTime>,
    ) -> Result<Live<'c, S>, Diagnostic> {
        let one = || Arc::new(Column::new(vec![f64::NAN], 0));
        let columns = code.channels.iter().map(|_| one()).collect();
        let stop_secs = stop.map_or(f64::INFINITY, SimTime::secs);
        let conditions = Conditions { slack: 0.0, start_secs: 0.0, stop_secs };
        let monitors = code.formulas.iter().map(|formula| {
            let ahead = |refused: Vec<LooksAhead>| {
                let word = refused.first().map_or("it", |ahead| ahead.word);
                let message =
                    format!("formula `{}` cannot be judged while the run goes on", formula.name);
                Diagnostic::error("formula-looks-ahead", message)
                    .at(code.place(formula.site))
                    .note(format!("`{word}` looks ahead"))
                    .help("judge the recording instead: headland test … --on RECORDING")
            };
            let Some(root) = formula.root else {
                let message = format!("formula `{}` could not be read", formula.name);
                return Err(
                    Diagnostic::error("formula-broken", message).at(code.place(formula.site))
                );
            };
            let monitor = Monitor::new(&code.temporal, root).map_err(ahead)?;
            let first = (Truth::Unknown, 0, SimTime::ZERO);
            Ok(Watched { monitor, now: Truth::Unknown, first })
        });
        let monitors = monitors.collect::<Result<Vec<_>, Diagnostic>>()?;
        let run = new_run(code, Present(source), Nobody, columns, conditions);
        Ok(Live { run, n_snapshots: 0, monitors })
    }

    /// What the test looks at; to be brought up to date before [`Live::tick`].
    pub fn source(&mut self) -> &mut S {
        &mut self.run.now.0
    }

    /// One snapshot more. Whether the test is red, or can no longer change.
    pub fn tick(&mut self, time: SimTime) -> bool {
        self.run.time = time;
        self.run.tick = self.n_snapshots;
        self.load();
        if self.n_snapshots == 0 {
            self.run.conditions.start_secs = time.secs();
            self.watch_formulas(time);
            self.run.start();
        } else {
            self.watch_formulas(time);
        }
        self.n_snapshots += 1;
        if !self.run.is_over() {
            self.run.step();
        }
        self.run.is_over() && !self.run.code.roots.is_empty()
    }

    /// The last snapshot, once it is known to be that: `stopTime` is its time.
    pub fn tick_last(&mut self, time: SimTime) -> bool {
        self.run.conditions.stop_secs = time.secs();
        self.tick(time)
    }

    /// Why the test is red already, in words: a root has touched red, or a required formula
    /// can no longer hold.
    pub fn red(&self) -> Option<String> {
        if self.run.machines.roots.iter().any(|root| root.red.is_some()) {
            return Some("touched red".to_string());
        }
        let code = self.run.code;
        let broken = code.required.iter().find(|id| {
            let watched = &self.monitors[**id as usize];
            if code.formulas[**id as usize].looks_back {
                watched.now == Truth::False && watched.monitor.is_settled()
            } else {
                self.n_snapshots > 0 && watched.first.0 == Truth::False
            }
        });
        broken.map(|id| format!("{} can no longer hold", code.formulas[*id as usize].name))
    }

    /// The run has ended: settles and concludes.
    pub fn finish(mut self) -> Judgement {
        let code = self.run.code;
        if let Some(nothing) = nothing_to_judge(code, self.n_snapshots) {
            return nothing;
        }
        self.run.conditions.stop_secs = self.run.time.secs();
        if !self.run.is_over() {
            self.run.settle();
        }
        let mut judgement = conclude(&self.run, self.n_snapshots);
        for id in &code.required {
            let formula = &code.formulas[*id as usize];
            let watched = &self.monitors[*id as usize];
            let last = (watched.now, self.run.tick, self.run.time);
            let (truth, tick, time) = if formula.looks_back { last } else { watched.first };
            judgement.roots.push(verdict_of(formula, truth, tick, time));
        }
        settle_verdict(&mut judgement, &self.run);
        judgement
    }

    /// The channels of this moment.
    fn load(&mut self) {
        for (i, quantity) in self.run.code.channels.iter().enumerate() {
            if matches!(quantity, Quantity::Formula(_)) {
                continue;
            }
            let value = self.run.now.0.quantity(*quantity);
            self.set(i, value);
        }
    }

    fn set(&mut self, channel: usize, value: Option<f64>) {
        // Not known yet is what lies before the first known snapshot.
        let first_known = if value.is_some() { 0 } else { usize::MAX };
        let column = Arc::get_mut(&mut self.run.columns[channel]).expect("nobody else holds it");
        column.values[0] = value.unwrap_or(f64::NAN);
        column.first_known = first_known;
    }

    fn watch_formulas(&mut self, time: SimTime) {
        if self.monitors.is_empty() {
            return;
        }
        let code = self.run.code;
        let mut atoms: Vec<Truth> = Vec::with_capacity(code.atoms.len());
        for id in 0..self.monitors.len() {
            for block in &code.atoms[atoms.len()..code.formulas[id].n_atoms] {
                let block = &code.blocks[*block as usize];
                atoms.push(match block.n_locals {
                    0 => self.truth(&block.body),
                    _ => degree_of(self.run.evaluate_block(block)).1,
                });
            }
            let watched = &mut self.monitors[id];
            if let Ok(now) = watched.monitor.push(time, &atoms) {
                watched.now = now;
            }
            if self.n_snapshots == 0 {
                watched.first = (watched.now, 0, time);
            }
            let value = match watched.now {
                Truth::True => Some(1.0),
                Truth::False => Some(0.0),
                Truth::Unknown => None,
            };
            let own = Quantity::Formula(id as u32);
            if let Some(channel) = code.channels.iter().position(|q| *q == own) {
                self.set(channel, value);
            }
        }
    }

    fn truth(&mut self, node: &Node) -> Truth {
        match &node.op {
            Op::And(a, b) => self.truth(a).min(self.truth(b)),
            Op::Or(a, b) => self.truth(a).max(self.truth(b)),
            Op::Not(a) => self.truth(a).not(),
            Op::Compare(..) => of_comparison(&mut self.run, node).1,
            _ => degree_of(self.run.evaluate(node, NOWHERE)).1,
        }
    }
}
