//! A compiled test over a recording: the verdict.
//!
//! ```text
//! first snapshot in sight ─► globals, spawns ─► one tick per snapshot ─► settle on the last
//! ```
//!
//! Start reading at [`judge`].

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use headland_base::SimTime;
use headland_record::track::Remark;

use crate::blame;
use crate::code::Code;
use crate::formula;
use crate::run::machine::{Machines, Red, Root};
use crate::run::quick::WaysOut;
use crate::run::skim::{Patience, next_stir};
use crate::run::{Asked, Conditions, MOST_EXHAUSTED, NONE, Nobody, Now, Run, Watch};
use crate::scene::{Column, Scene};
use crate::trust::{Doubt, doubt};
use crate::verdict::{Judgement, RootVerdict, Verdict, worst};
use crate::vocabulary::Quantity;

/// How to judge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgeOptions {
    /// Every comparison so much easier; for margins.
    pub slack: f64,
    /// Up to a snapshot another slack; for what decides a margin.
    pub slack_before: Option<(usize, f64)>,
    /// Only these snapshots, as if the recording had no others.
    pub range: Option<Range<usize>>,
    /// Ask at every snapshot instead of looking ahead. The answer is the same.
    pub plain: bool,
}

impl JudgeOptions {
    fn slack_at(&self, tick: usize) -> f64 {
        match self.slack_before {
            Some((change, slack)) if tick < change => slack,
            _ => self.slack,
        }
    }
}

impl Now for &Scene {
    fn quantity(&self, quantity: Quantity, tick: usize) -> Option<f64> {
        let column = self.column(quantity);
        (tick >= column.first_known).then(|| column.values[tick])
    }

    fn said(&self, report: u32, now: SimTime) -> Option<(SimTime, &Remark)> {
        Scene::said(self, report, now)
    }
}

/// Judges a recording. The code must have been compiled for the scene's vocabulary.
pub fn judge(code: &Code, scene: &Scene, options: &JudgeOptions) -> Judgement {
    judge_watched(code, scene, options, &mut Nobody)
}

pub(crate) fn judge_watched<W: Watch>(
    code: &Code,
    scene: &Scene,
    options: &JudgeOptions,
    watch: &mut W,
) -> Judgement {
    debug_assert_eq!(&code.vocabulary, scene.vocabulary(), "compiled for another recording");
    let range = options.range.clone().unwrap_or(0..scene.times().len());
    let times = &scene.times()[..range.end];
    let n_snapshots = range.len();
    if let Some(nothing) = nothing_to_judge(code, n_snapshots) {
        return nothing;
    }
    let (formulas, atoms) = formula::columns(code, scene, &range, |tick| options.slack_at(tick));
    let columns = code.channels.iter().map(|quantity| match quantity {
        Quantity::Formula(id) => Arc::clone(&formulas[*id as usize].holds),
        other => scene.column(*other),
    });
    let columns: Vec<Arc<Column>> = columns.collect();
    if watch.sweep().is_some() {
        formula::turn(code, &formulas, options.slack, watch);
    }
    let conditions = Conditions::over(&times[range.start..], options.slack);
    let mut run = new_run(code, scene, watch, columns, conditions);
    drive(&mut run, times, range.start, options);
    let mut judgement = conclude(&run, n_snapshots);
    if judgement.roots.iter().any(|root| root.verdict == Verdict::Green) && is_in_doubt(&run) {
        // Where snapshots were passed over the condition may have been answered unseen.
        let mut every = new_run(code, scene, Everything, run.columns.clone(), run.conditions);
        drive(&mut every, times, range.start, &JudgeOptions { plain: true, ..options.clone() });
        run.asked = every.asked;
    }
    for id in &code.required {
        let (formula, evaluated) = (&code.formulas[*id as usize], &formulas[*id as usize]);
        let mut root = evaluated.verdict(formula, &range, times);
        if let (Verdict::Inconclusive, Some(node)) = (root.verdict, formula.root) {
            let judged = blame::Judged {
                code,
                scene,
                range: &range,
                formulas: &formulas,
                atoms: &atoms,
                slack: options.slack,
            };
            if let Some(what) = judged.unknown(node, root.tick) {
                root.reason = what;
            }
        }
        judgement.roots.push(root);
    }
    settle_verdict(&mut judgement, &run);
    judgement
}

/// Whether some condition failed and was not seen to be answered.
fn is_in_doubt<N: Now, W: Watch>(run: &Run<'_, N, W>) -> bool {
    run.asked.iter().any(|asked| asked.failed.is_some() && !asked.is_answered)
}

/// Looks on at every snapshot, so that none is passed over.
struct Everything;
impl Watch for Everything {}

/// What there is to say where nothing can be run.
pub(crate) fn nothing_to_judge(code: &Code, n_snapshots: usize) -> Option<Judgement> {
    let (verdict, reason) = if code.roots.is_empty() && code.required.is_empty() {
        (Verdict::Error, "nothing is spawned and no formula is required")
    } else if n_snapshots == 0 {
        (Verdict::Inconclusive, "the recording has no snapshots")
    } else {
        return None;
    };
    Some(Judgement::none(verdict, reason, n_snapshots))
}

pub(crate) fn new_run<'c, N: Now, W: Watch>(
    code: &'c Code,
    now: N,
    watch: W,
    columns: Vec<Arc<Column>>,
    conditions: Conditions,
) -> Run<'c, N, W> {
    Run {
        code,
        now,
        watch,
        columns,
        conditions,
        tick: 0,
        row: 0,
        time: SimTime::ZERO,
        globals: Vec::new(),
        frames: Vec::new(),
        free_frames: Vec::new(),
        activations: Vec::new(),
        n_kept: 0,
        has_escaped: false,
        fuel: 0,
        n_calls: 0,
        n_nested: 0,
        n_exhausted: 0,
        errors: std::collections::BTreeMap::new(),
        n_errors: 0,
        last_error: None,
        is_mute: false,
        not_a_number: None,
        asked: vec![Asked::default(); code.blocks.len()],
        met_first_sample: Cell::new(false),
        machines: Machines::default(),
    }
}

/// From the first snapshot to the last, and until nothing fires there any more.
fn drive<'c, N: Now, W: Watch>(
    run: &mut Run<'c, N, W>,
    times: &[SimTime],
    start: usize,
    options: &JudgeOptions,
) {
    let end = times.len();
    // The slack may change once, and nobody looks ahead beyond that.
    let change = options.slack_before.map_or(0, |(change, _)| change);
    let at = |run: &mut Run<'c, N, W>, tick: usize| {
        (run.tick, run.row, run.time) = (tick, tick, times[tick]);
        run.conditions.slack = options.slack_at(tick);
    };
    at(run, start);
    run.start();
    let mut patience = Patience::default();
    let mut ways_out = WaysOut::default();
    // Looking over every way out of a state costs more than asking until one fires, so that
    // is put off until a snapshot at which none did.
    let mut has_looked = false;
    let mut tick = start;
    // Asked after every step, so that every way of going on ends at the same snapshot.
    let mut is_over = run.is_over();
    while tick < end && !is_over {
        if has_looked && !options.plain {
            run.conditions.slack = options.slack_at(tick);
            let horizon = if tick < change { change.min(end) } else { end };
            tick = next_stir(run, times, tick, horizon, &mut patience);
            if tick == end {
                break;
            }
            if tick == horizon {
                continue;
            }
        }
        at(run, tick);
        tick += 1;
        if has_looked && ways_out.are_shut(run) {
            continue;
        }
        let has_moved = run.step();
        if has_moved {
            has_looked = false;
        } else if !has_looked {
            ways_out.find(run);
            has_looked = true;
        }
        is_over = run.is_over();
    }
    if !is_over {
        at(run, end - 1);
        run.settle();
    }
}

pub(crate) fn conclude<N: Now, W: Watch>(run: &Run<'_, N, W>, n_snapshots: usize) -> Judgement {
    let roots = run.code.roots.iter().zip(&run.machines.roots);
    let roots = roots.map(|(spawn, root)| root_verdict(run, &spawn.name, root)).collect();
    Judgement {
        verdict: Verdict::Error,
        reason: String::new(),
        time: run.time,
        roots,
        errors: run.errors.values().cloned().collect(),
        n_errors: run.n_errors,
        n_snapshots,
        n_fired: run.machines.n_fired,
    }
}

fn root_verdict<N: Now, W: Watch>(run: &Run<'_, N, W>, name: &str, root: &Root) -> RootVerdict {
    let (tick, time) = run.machines.started;
    let mut out = RootVerdict {
        name: name.to_string(),
        verdict: Verdict::Error,
        time,
        tick,
        path: name.to_string(),
        reason: "it could not be spawned: no such machine or state".to_string(),
        robustness: None,
        by: None,
    };
    let Some(id) = root.instance else { return out };
    let instance = &run.machines.instances[id as usize];
    debug_assert_eq!(instance.parent, NONE);
    let machine = &run.code.machines[instance.machine as usize];
    let state = &machine.states[instance.state as usize].name;
    if let Some(Red { tick, time, path, by }) = &root.red {
        (out.tick, out.time, out.path) = (*tick, *time, path.clone());
        out.by = *by;
        out.verdict = Verdict::Red;
        out.reason = match by {
            Some((machine, transition)) => {
                let machine = &run.code.machines[*machine as usize];
                let transition = &machine.transitions[*transition as usize];
                match &transition.label {
                    Some(label) => format!("{} ({label})", transition.arc),
                    None => transition.arc.clone(),
                }
            }
            None => "it starts in red".to_string(),
        };
        return out;
    }
    out.path = format!("{}:{state}", machine.name);
    (out.tick, out.time) = (instance.entered_tick, instance.entered);
    if run.n_exhausted >= MOST_EXHAUSTED {
        out.reason = "it would not have ended: given up".to_string();
    } else if state == "green" {
        out.verdict = Verdict::Green;
        out.reason = "ended in green".to_string();
    } else {
        out.verdict = Verdict::Red;
        (out.tick, out.time) = (run.tick, run.time);
        out.reason = format!("ended in {state}");
    }
    out
}

/// The verdict of the file: green where every root is. A green that passed over numbers that
/// are none is not decided, nor is one whose ways to red could never be asked.
pub(crate) fn settle_verdict<N: Now, W: Watch>(judgement: &mut Judgement, run: &Run<'_, N, W>) {
    if let Some((time, site)) = run.not_a_number {
        let text = run.code.text(site);
        for root in &mut judgement.roots {
            if root.verdict == Verdict::Green && root.robustness.is_none() {
                root.verdict = Verdict::Inconclusive;
                root.time = time;
                root.reason = format!("`{text}` met a value that is not a number");
            }
        }
    }
    for (spawn, root) in run.code.roots.iter().zip(&mut judgement.roots) {
        if root.verdict == Verdict::Green
            && let Some(Doubt { time, reason }) = doubt(run, spawn)
        {
            (root.verdict, root.time, root.reason) = (Verdict::Inconclusive, time, reason);
        }
    }
    judge_together(judgement, run.code.is_broken);
}

/// The verdict of the file from those of its roots.
fn judge_together(judgement: &mut Judgement, is_broken: bool) {
    let verdict = worst(judgement.roots.iter().map(|root| root.verdict));
    judgement.verdict = verdict.unwrap_or(Verdict::Error);
    // The first root with that verdict to be decided speaks for the file.
    let decided = judgement.roots.iter().filter(|root| root.verdict == judgement.verdict);
    let decided = if judgement.verdict == Verdict::Green {
        decided.max_by_key(|root| root.time)
    } else {
        decided.min_by_key(|root| root.time)
    };
    if let Some(root) = decided {
        judgement.time = root.time;
        judgement.reason.clone_from(&root.reason);
    }
    if is_broken {
        let rest = judgement.verdict.word();
        judgement.verdict = Verdict::Error;
        judgement.reason = format!("parts of the test could not be read; the rest is {rest}");
    }
}
