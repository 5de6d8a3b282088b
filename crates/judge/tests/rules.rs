//! The rules of the language, one text case each; the file's name says the rule.
//!
//! `-- test --` a program, `-- log --` a table (see `common`), `-- answer --` what fired, the
//! verdict and the errors. `UPDATE=1 cargo test` rewrites the answers; read the diff before
//! you keep it. Every case is judged asking at every snapshot, looking ahead, and live, one
//! snapshot after the other as they come; all must say the same.

mod common;

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use headland_base::{Diagnostic, Findings, SimTime, Source};
use headland_judge::code::Code;
use headland_judge::lang::parse;
use headland_judge::vocabulary::Quantity;
use headland_judge::{JudgeOptions, Judgement, Live, LiveSource, Scene, compile, judge, timeline};
use headland_record::track::Remark;

#[test]
fn rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 10, "cases in {}", folder.display());
    let mut failed = Vec::new();
    for path in paths {
        let case = fs::read_to_string(&path).unwrap();
        let (input, wanted) = case.split_once("-- answer --\n").expect("an answer section");
        let (_, rest) = input.split_once("-- test --\n").expect("a test section");
        let (test, log) = rest.split_once("-- log --\n").expect("a log section");
        let got = answer(test, log);
        if env::var_os("UPDATE").is_some() {
            fs::write(&path, format!("{input}-- answer --\n{got}")).unwrap();
        } else if got != wanted {
            failed.push(format!("{}\nwanted:\n{wanted}\ngot:\n{got}", path.display()));
        }
    }
    assert!(failed.is_empty(), "{} cases differ:\n{}", failed.len(), failed.join("\n"));
}

fn answer(test: &str, log: &str) -> String {
    let scene = Scene::new(common::recording(log));
    let mut findings = Findings::new();
    // A second file in the same case follows a line `;; module`.
    let (main, module) = test.split_once(";; module\n").unwrap_or((test, ""));
    let program = parse(&Source::new("test.lrp", main), &mut findings);
    let import = |path: &str| match path {
        "module.lrp" => Ok(Source::new("module.lrp", module)),
        _ => Err(Diagnostic::error("no-such-file", format!("no file `{path}`"))),
    };
    let code = compile(&program, scene.vocabulary(), &import, &mut findings);
    let mut out: String = findings.into_vec().iter().map(|d| d.render(false)).collect();
    let plain = JudgeOptions { plain: true, ..JudgeOptions::default() };
    let (judgement, line) = timeline(&code, &scene, &plain);
    assert_eq!(judge(&code, &scene, &plain), judgement, "watching changes nothing");
    assert_eq!(judge(&code, &scene, &JudgeOptions::default()), judgement, "looking ahead");
    if let Some(live) = judge_live(&code, &scene) {
        assert_eq!(without_robustness(live), without_robustness(judgement.clone()), "live");
    }
    for fired in &line.fired {
        let machine = &code.machines[fired.machine as usize];
        let arc = &machine.transitions[fired.transition as usize].arc;
        let millis = scene.times()[fired.tick].nanos() / 1_000_000;
        _ = writeln!(out, "{millis} ms {}: {arc}", machine.name);
    }
    for root in &judgement.roots {
        let (verdict, millis) = (root.verdict.word(), root.time.nanos() / 1_000_000);
        _ = writeln!(out, "{} is {verdict} at {millis} ms: {}", root.path, root.reason);
    }
    let worst = judgement.roots.iter().all(|root| root.verdict != judgement.verdict);
    if worst {
        _ = writeln!(out, "{}: {}", judgement.verdict.word(), judgement.reason);
    }
    for error in &judgement.errors {
        let (count, words) = (error.count, &error.words);
        let millis = error.first.nanos() / 1_000_000;
        _ = writeln!(out, "error {count}×, first at {millis} ms in {}: {words}", error.path);
        if let Some(help) = &error.help {
            _ = writeln!(out, "  {help}");
        }
    }
    out
}

/// A recording played back as if it were a run.
struct Playback<'a> {
    scene: &'a Scene,
    tick: usize,
}

impl LiveSource for Playback<'_> {
    fn quantity(&self, quantity: Quantity) -> Option<f64> {
        let column = self.scene.column(quantity);
        (self.tick >= column.first_known).then(|| column.values[self.tick])
    }

    fn said(&self, report: u32) -> Option<(SimTime, &Remark)> {
        self.scene.said(report, self.scene.times()[self.tick])
    }
}

/// `None` where a formula looks ahead, which cannot be judged live.
fn judge_live(code: &Code, scene: &Scene) -> Option<Judgement> {
    let times = scene.times();
    let mut live = Live::new(code, Playback { scene, tick: 0 }, times.last().copied()).ok()?;
    for (tick, time) in times.iter().enumerate() {
        live.source().tick = tick;
        live.tick(*time);
    }
    Some(live.finish())
}

/// How far a formula is from the opposite is not known live.
fn without_robustness(mut judgement: Judgement) -> Judgement {
    judgement.roots.iter_mut().for_each(|root| root.robustness = None);
    judgement
}
