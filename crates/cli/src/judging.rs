//! Tests over recordings: the matrix, what is wrong with the tests, and how it ends.
//!
//! ```text
//! recordings ─ load (in parallel) ─► scenes ┐
//! tests ────── read ────────────────────────┴─ judge (in parallel) ─► Matrix, diagnostics
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::{Diagnostic, SimTime};
use headland_judge::{
    Coverage, JudgeOptions, Scene, Verdict, cut_short, explain, judge, margin, survivors, timeline,
};
use headland_record::{ImportOptions, import};
use headland_report::{
    Cell, Covered, Judged, Matrix, Row, Spot, Sureness, Survived, action_errors,
};

use crate::args::{ACTION_ERRORS, TestArgs};
use crate::context::Outcome;
use crate::parallel;
use crate::test_file::TestFile;

/// What to find out about each verdict.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    margins: bool,
    explanations: bool,
    timelines: bool,
    coverage: bool,
    mutation: bool,
    denies_action_errors: bool,
}

impl Default for Asked {
    /// Verdicts and margins.
    fn default() -> Asked {
        Asked {
            margins: true,
            explanations: false,
            timelines: false,
            coverage: false,
            mutation: false,
            denies_action_errors: false,
        }
    }
}

impl Asked {
    /// Verdicts, margins, and what the tests did on the way.
    pub fn with_timelines() -> Asked {
        Asked { timelines: true, ..Asked::default() }
    }

    /// From the command line.
    pub fn new(args: &TestArgs) -> Asked {
        Asked {
            margins: !args.no_margin,
            explanations: args.explain || args.html.is_some(),
            timelines: args.coverage || args.html.is_some() || args.compares_engines(),
            coverage: args.coverage || args.html.is_some(),
            mutation: args.mutate,
            denies_action_errors: args.deny.iter().any(|what| what == ACTION_ERRORS),
        }
    }
}

/// A recording to be judged.
pub struct Loaded {
    /// As the matrix names it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What was read, or why nothing was.
    pub scene: Result<Arc<Scene>, String>,
    /// What was found on the way, to be shown once.
    pub findings: Vec<Diagnostic>,
    /// What that means for how we end.
    pub outcome: Outcome,
}

impl Loaded {
    /// Reads a recording, and only the stretch that was asked for.
    pub fn read(name: &str, path: &Path, stretch: (Option<SimTime>, Option<SimTime>)) -> Loaded {
        let (scene, findings, outcome) = match import(path, &ImportOptions::default()) {
            Ok(imported) => {
                let outcome = match imported.findings.has_errors() {
                    true => Outcome::Partial,
                    false => Outcome::Passed,
                };
                let scene = Arc::new(Scene::new(imported.recording));
                (Ok(within(scene, stretch)), imported.findings.into_vec(), outcome)
            }
            Err(faults) => {
                let why = faults.first().map_or("it cannot be read", |fault| &fault.message);
                let outcome = Outcome::of_faults(&faults);
                (Err(why.to_string()), faults, outcome)
            }
        };
        Loaded { name: name.to_string(), path: path.to_path_buf(), scene, findings, outcome }
    }

    /// A recording that is in memory already.
    pub fn of_scene(name: &str, path: &Path, scene: Arc<Scene>) -> Loaded {
        Loaded {
            name: name.to_string(),
            path: path.to_path_buf(),
            scene: Ok(scene),
            findings: Vec::new(),
            outcome: Outcome::Passed,
        }
    }

    /// A recording that was not made, for a reason that has been shown.
    pub fn missing(name: &str, path: &Path, why: &str) -> Loaded {
        Loaded {
            name: name.to_string(),
            path: path.to_path_buf(),
            scene: Err(why.to_string()),
            findings: Vec::new(),
            outcome: Outcome::Passed,
        }
    }
}

/// The snapshots from one moment to another, both included.
fn within(scene: Arc<Scene>, (start, end): (Option<SimTime>, Option<SimTime>)) -> Arc<Scene> {
    if start.is_none() && end.is_none() {
        return scene;
    }
    let times = scene.times();
    let from = start.map_or(0, |start| times.partition_point(|time| *time < start));
    let to = end.map_or(times.len(), |end| times.partition_point(|time| *time <= end));
    Arc::new(scene.stretch(from..to.max(from)))
}

/// What came of it.
pub struct Round {
    /// The verdicts.
    pub matrix: Matrix,
    /// What is wrong with the tests, and blocks that were abandoned.
    pub findings: Vec<Diagnostic>,
    /// How it ends, apart from what was wrong with the recordings.
    pub outcome: Outcome,
}

/// A test that cannot be read.
#[derive(Debug)]
pub struct Unread {
    /// The path as given.
    pub name: String,
    /// Why; never empty.
    pub faults: Vec<Diagnostic>,
}

/// A test, or why there is none.
pub type MaybeTest = Result<TestFile, Unread>;

/// Judges every recording by every test.
pub fn judge_all(tests: &[MaybeTest], recordings: &[Loaded], asked: Asked) -> Round {
    let n = recordings.len();
    let mut answers = parallel::map(tests.len() * n, |k| match &tests[k / n.max(1)] {
        Ok(test) => judge_one(test, &recordings[k % n], asked),
        Err(unread) => {
            let why = unread.faults.first().map_or("it cannot be read", |fault| &fault.message);
            (Cell::Missing(why.to_string()), Vec::new())
        }
    })
    .into_iter();
    let mut round = Round {
        matrix: Matrix {
            recordings: recordings.iter().map(|loaded| loaded.name.clone()).collect(),
            rows: Vec::new(),
        },
        findings: Vec::new(),
        outcome: Outcome::Passed,
    };
    let mut is_judged = false;
    for test in tests {
        let mut cells = Vec::new();
        for (cell, findings) in answers.by_ref().take(n) {
            // What is wrong with a test is wrong for every recording; it is said once.
            for finding in findings {
                if !round.findings.contains(&finding) {
                    round.findings.push(finding);
                }
            }
            if let Some(verdict) = cell.verdict() {
                round.outcome = round.outcome.max(Outcome::of_verdict(verdict));
                is_judged = true;
            }
            cells.push(cell);
        }
        let (name, coverage, survivors) = match test {
            Ok(test) => {
                let coverage = asked.coverage.then(|| covered(&cells)).flatten();
                (&test.name, coverage, asked.mutation.then(|| survived(test, recordings)))
            }
            Err(unread) => {
                round.outcome = round.outcome.max(Outcome::of_faults(&unread.faults));
                round.findings.extend(unread.faults.iter().cloned());
                (&unread.name, None, None)
            }
        };
        round.matrix.rows.push(Row { test: name.clone(), cells, coverage, survivors });
    }
    if !is_judged {
        round.outcome = round.outcome.max(Outcome::Partial);
    }
    round
}

fn judge_one(test: &TestFile, recording: &Loaded, asked: Asked) -> (Cell, Vec<Diagnostic>) {
    let scene = match &recording.scene {
        Ok(scene) => scene,
        Err(why) => return (Cell::Missing(why.clone()), Vec::new()),
    };
    let (code, mut findings) = test.compile(scene.vocabulary());
    let options = JudgeOptions::default();
    let (mut judgement, timeline) = if asked.timelines {
        let (judgement, timeline) = timeline(&code, scene, &options);
        (judgement, Some(timeline))
    } else {
        (judge(&code, scene, &options), None)
    };
    findings.extend(action_errors(&code, &judgement.errors, &recording.name));
    if let Some((time, why)) = scene.breach() {
        judgement.doubt(time, &why);
    }
    if let Some(time) = scene.interruption() {
        cut_short(&code, &mut judgement, time);
    }
    if asked.denies_action_errors && judgement.n_errors > 0 {
        judgement.verdict = Verdict::Error;
        let n = headland_report::count(judgement.n_errors, "block");
        judgement.reason = format!("{n} had to be abandoned");
        judgement.time = judgement.errors.iter().map(|e| e.first).min().unwrap_or(judgement.time);
    }
    let sureness = match judgement.verdict {
        Verdict::Green | Verdict::Red if asked.margins => margin(&code, scene, &judgement),
        _ => Sureness::NotAsked,
    };
    let explanations =
        if asked.explanations { explain(&code, scene, &judgement) } else { Vec::new() };
    let (code, scene) = (Arc::new(code), Arc::clone(scene));
    let judged = Judged { code, scene, judgement, sureness, explanations, timeline };
    (Cell::Judged(Box::new(judged)), findings)
}

/// What no recording reached. Numbers are the same in every compilation of one test.
fn covered(cells: &[Cell]) -> Option<Covered> {
    let mut coverage = Coverage::default();
    let mut code = None;
    for cell in cells {
        let Cell::Judged(judged) = cell else { continue };
        if let Some(timeline) = &judged.timeline {
            coverage.add(timeline);
            code = Some(&judged.code);
        }
    }
    let code = code?;
    let (n_reached, n_parts) = coverage.count(code);
    let spot = |missed: headland_judge::coverage::Missed| Spot {
        place: code.place(missed.site),
        what: missed.what,
    };
    let missed = coverage.missed(code).into_iter().map(spot).collect();
    Some(Covered { n_reached, n_parts, missed })
}

fn survived(test: &TestFile, recordings: &[Loaded]) -> Survived {
    let scenes: Vec<&Scene> =
        recordings.iter().filter_map(|loaded| loaded.scene.as_deref().ok()).collect();
    let (unnoticed, n_tried) = survivors(&test.program, &scenes, &|path| test.import(path));
    let spot =
        |mutant: headland_judge::mutate::Mutant| Spot { what: mutant.what, place: mutant.place };
    Survived { n_tried, unnoticed: unnoticed.into_iter().map(spot).collect() }
}
