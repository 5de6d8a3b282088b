//! Formulas are explained by what decides them.

mod common;

use std::sync::Arc;

use headland_base::{Findings, Source};
use headland_judge::code::Code;
use headland_judge::lang::{parse, parse_formulas};
use headland_judge::{Explanation, JudgeOptions, Scene, Verdict, compile, explain, judge, margin};

fn compiled(text: &str, scene: &Scene) -> Code {
    let mut findings = Findings::new();
    let source = Source::new("test", text);
    let is_program = text.starts_with('(');
    let program = match is_program {
        true => parse(&source, &mut findings),
        false => parse_formulas(&source, &mut findings),
    };
    let import = |_: &str| unreachable!("nothing is imported");
    compile(&program, scene.vocabulary(), &import, &mut findings)
}

fn scene(table: &str) -> Arc<Scene> {
    Arc::new(Scene::new(common::recording(table)))
}

/// Lines as people read them, and the explanation itself.
fn explained(text: &str, scene: &Arc<Scene>) -> (Vec<String>, Explanation) {
    let code = compiled(text, scene);
    let judgement = judge(&code, scene, &JudgeOptions::default());
    let mut all = explain(&code, scene, &judgement);
    assert_eq!(all.len(), 1, "one root to explain: {judgement:?}");
    let explanation = all.remove(0);
    let line = |line: &headland_judge::explain::Line| {
        let at = line.time.map_or(String::new(), |t| format!(" at {} s", t.secs()));
        format!("{}{} = {}{at}", "  ".repeat(line.depth), line.text, line.value)
    };
    (explanation.lines.iter().map(line).collect(), explanation)
}

const TABLE: &str = "ms z vz\n0 3 0\n100 2 -1\n200 0.5 -2\n300 1 4\n400 2 1\n500 1.5 -1";

#[test]
fn always_is_decided_by_its_least_moment() {
    let (lines, explanation) = explained("f := always [ball pose z > 1].", &scene(TABLE));
    let wanted = [
        "always [ball pose z > 1] = false by 0.5 at 0 s",
        "  ball pose z > 1 = false by 0.5 at 0.2 s",
        "    ball pose z = 0.5",
    ];
    assert_eq!(lines, wanted);
    assert_eq!(explanation.stretch, Some(2..3));
}

#[test]
fn an_implication_that_fails_shows_both_sides_and_their_moments() {
    let text =
        "f := always ([ball velocity z < -1.5] implies eventually[0, 0.1] [ball velocity z > 5]).";
    let (lines, explanation) = explained(text, &scene(TABLE));
    let wanted = [
        "always ([ball velocity z < -1.5] implies eventually[0, 0.1] [ball velocity z > 5]) = false by 0.5 at 0 s",
        "  ([ball velocity z < -1.5] implies eventually[0, 0.1] [ball velocity z > 5]) = false by 0.5 at 0.2 s",
        "    ball velocity z < -1.5 = true by 0.5 at 0.2 s",
        "      ball velocity z = -2",
        "    eventually[0, 0.1] [ball velocity z > 5] = false by 1 at 0.2 s",
        "      ball velocity z > 5 = false by 1 at 0.3 s",
        "        ball velocity z = 4",
    ];
    assert_eq!(lines, wanted);
    assert_eq!(explanation.stretch, Some(2..3));
}

#[test]
fn until_and_since_name_what_stood_in_the_way() {
    let scene = scene(TABLE);
    let (lines, _) = explained("f := [ball pose z > 1] until [ball velocity z > 2].", &scene);
    assert_eq!(lines[1], "  ball pose z > 1 = false by 0.5 at 0.2 s");
    let (lines, _) =
        explained("f := [ball pose z > 0] until[0, 0.2] [ball velocity z > 2].", &scene);
    assert_eq!(lines[1], "  ball velocity z > 2 = false by 2 at 0 s");
    let (lines, _) = explained("f := [ball pose z < 1.75] since [ball velocity z > 2].", &scene);
    assert_eq!(
        lines[0],
        "[ball pose z < 1.75] since [ball velocity z > 2] = false by 0.25 at 0.5 s"
    );
    assert!(lines[1].starts_with("  ball pose z < 1.75 = false by 0.25"), "{lines:?}");
    assert!(lines[1].ends_with("at 0.4 s"), "{lines:?}");
}

#[test]
fn a_formula_an_event_reads_is_explained_at_the_moment_it_was_read() {
    let text = "(formula low := once[0, 0.15] [ball pose z < 1])
        (machine m (state a) (state red) (state green)
          (on [recording time > 0.25 and: [low]] a -> red)
          (on [recording time >= stopTime] a -> green))
        (spawn m a)";
    let scene = scene(TABLE);
    let (lines, _) = explained(text, &scene);
    let at = lines.iter().position(|line| line.trim_start() == "low = true").expect("it is read");
    assert_eq!(
        lines[at + 1].trim_start(),
        "once[0, 0.15] [ball pose z < 1] = true by 0.5 at 0.3 s"
    );
    assert_eq!(lines[at + 2].trim_start(), "ball pose z < 1 = true by 0.5 at 0.2 s");
    assert_eq!(lines[at + 3].trim_start(), "ball pose z = 0.5");
    // The margin is in the unit of what decides: metres, not the seconds of the event.
    let code = compiled(text, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    let sureness = margin(&code, &scene, &judgement);
    let margin = sureness.margin().expect("something flips it");
    assert!(margin.unit == "m" || margin.unit == "s", "{margin:?}");
}

#[test]
fn an_unknown_value_is_named_with_its_moment() {
    let scene = scene("ms z level\n0 3 1\n100 2 nan\n200 1 2");
    let text = "f := always [ball pose z + (level * 2) > 0].";
    let code = compiled(text, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert_eq!(judgement.reason, "the formula depends on `level`, which is not known at 0.100 s");
    let (lines, explanation) = explained(text, &scene);
    assert_eq!(lines[1], "  ball pose z + (level * 2) > 0 = not known at 0.1 s");
    assert_eq!(explanation.stretch, None);
}

#[test]
fn the_margin_of_a_formula_is_in_the_unit_of_the_atom_that_decides() {
    let scene = scene(TABLE);
    let text = "f := always ([ball velocity z < 100] and [ball pose z > 0.4]).";
    let code = compiled(text, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    let sureness = margin(&code, &scene, &judgement);
    let margin = sureness.margin().expect("something flips it");
    assert!((margin.amount - 0.1).abs() < 1e-6 && margin.unit == "m", "{margin:?}");
    assert_eq!(margin.site.map(|site| code.text(site)), Some("ball pose z > 0.4"));
    assert_eq!(margin.time, scene.times()[2]);
}

#[test]
fn temporaries_in_an_atom_are_its_own() {
    let scene = scene(TABLE);
    let (lines, _) = explained("f := always [| h | h := ball pose z. h > 1].", &scene);
    assert_eq!(lines[1], "  | h | h := ball pose z. h > 1 = false at 0.2 s");
}
