//! What a recording that was cut short can still say.

mod common;

use headland_base::{Findings, SimTime, Source};
use headland_judge::lang::{parse, parse_formulas};
use headland_judge::{JudgeOptions, Scene, Verdict, compile, cut_short, judge};

/// A ball that falls from 3 m to 1 m and was to go on.
const FALLS: &str = "ms z vz\n0 3 -1\n100 2.5 -1\n200 2 -1\n300 1.5 -1\n400 1 -1";

/// What is said of the whole, and what is left of it when it was cut at its last snapshot.
fn verdicts(test: &str, is_formula: bool) -> (Verdict, Verdict) {
    let scene = Scene::new(common::recording(FALLS));
    let mut findings = Findings::new();
    let source = Source::new("test", test);
    let program = match is_formula {
        true => parse_formulas(&source, &mut findings),
        false => parse(&source, &mut findings),
    };
    let import = |_: &str| unreachable!("nothing is imported");
    let code = compile(&program, scene.vocabulary(), &import, &mut findings);
    assert!(!findings.has_errors(), "{findings:?}");
    let mut judgement = judge(&code, &scene, &JudgeOptions::default());
    let whole = judgement.verdict;
    cut_short(&code, &mut judgement, *scene.times().last().expect("a snapshot"));
    if judgement.verdict == Verdict::Inconclusive {
        assert!(judgement.reason.starts_with("interrupted at 0.400 s"), "{}", judgement.reason);
        assert_eq!(judgement.time, SimTime::from_nanos(400_000_000));
    }
    (whole, judgement.verdict)
}

fn of_machine(transitions: &str) -> (Verdict, Verdict) {
    let states = "(state falling) (state green) (state red)";
    verdicts(&format!("(machine m {states} {transitions}) (spawn m falling)"), false)
}

#[test]
fn green_is_never_believed() {
    let decided = of_machine("(on [ball pose z < 2.2] falling -> green)");
    assert_eq!(decided, (Verdict::Green, Verdict::Inconclusive));
    assert_eq!(verdicts("low := always [ball pose z > 0].", true).1, Verdict::Inconclusive);
}

#[test]
fn red_stands_where_nothing_could_undo_it() {
    let both = (Verdict::Red, Verdict::Red);
    assert_eq!(of_machine("(on [ball pose z < 2.2] falling -> red)"), both);
    for formula in [
        "a := always [ball pose z > 2.2].",
        "a := always[0, 0.3] [ball pose z > 2.2].",
        "a := historically [ball pose z > 2.2].",
        "a := always [ball pose z > 2.2] and always [ball pose z > 0].",
    ] {
        assert_eq!(verdicts(formula, true), both, "{formula}");
    }
}

#[test]
fn red_for_want_of_what_would_have_followed_is_not_decided() {
    let undecided = (Verdict::Red, Verdict::Inconclusive);
    // It ended elsewhere than in green; it asked whether this is the end; it reckoned with it.
    assert_eq!(of_machine("(on [ball pose z < 0.5] falling -> green)"), undecided);
    assert_eq!(of_machine("(on [recording time >= stopTime] falling -> red)"), undecided);
    assert_eq!(of_machine("(on [recording time > (stopTime - 0.15)] falling -> red)"), undecided);
    for formula in [
        "a := eventually [ball pose z < 0.5].",
        "a := always ([ball pose z < 2.2] implies eventually[0, 1] [ball pose z > 2.9]).",
        "a := once [ball pose z < 0.5].",
        "a := historically[0, 0.2] [ball pose z > 2.2].",
    ] {
        assert_eq!(verdicts(formula, true), undecided, "{formula}");
    }
}
