//! Margins, explanations, coverage, mutants, and what a test can see beyond a ball.

mod common;

use std::collections::BTreeMap;

use std::sync::Arc;

use headland_base::maths::{Quat, Vec3};
use headland_base::{Diagnostic, Findings, SimTime, Source, Transform};
use headland_judge::code::Code;
use headland_judge::lang::ast::Program;
use headland_judge::lang::parse;
use headland_judge::{
    Coverage, JudgeOptions, Judgement, Scene, Sureness, Verdict, Vocabulary, compile, explain,
    judge, margin, survivors, timeline,
};
use headland_record::Recording;
use headland_record::messages::Contact;
use headland_record::track::{Data, JointColumns, Remark, Track};

const LOW: &str = "(machine m (state green) (state red)
  (on low green -> red)
  (event low [ball pose z < 0.15]))
(spawn m green)";

const BOUNCE: &str = "ms z vz\n0 1 0\n100 0.6 -3\n200 0.2 -4\n300 0.4 2\n400 0.5 -1\n500 0.3 -2";

fn program(text: &str) -> Program {
    let mut findings = Findings::new();
    let program = parse(&Source::new("test.lrp", text), &mut findings);
    let words: String = findings.into_vec().iter().map(|d| d.render(false)).collect();
    assert!(words.is_empty(), "{words}");
    program
}

fn none(path: &str) -> Result<std::sync::Arc<Source>, Diagnostic> {
    Err(Diagnostic::error("no-such-file", path))
}

fn compiled(text: &str, scene: &Scene) -> Code {
    compile(&program(text), scene.vocabulary(), &none, &mut Findings::new())
}

fn judged(text: &str, scene: &Scene) -> Judgement {
    judge(&compiled(text, scene), scene, &JudgeOptions::default())
}

/// The closed form: the lowest point is 0.05 m above the limit, at 0.2 s.
#[test]
fn the_margin_is_the_distance_to_the_nearest_flip() {
    let scene = Scene::new(common::recording(BOUNCE));
    let code = compiled(LOW, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    assert_eq!(judgement.verdict, Verdict::Green);
    let margin = margin(&code, &scene, &judgement).margin().cloned().unwrap();
    assert!((margin.amount - 0.05).abs() < 1e-7, "{margin:?}");
    assert_eq!((margin.unit, margin.is_harder, margin.flips_to), ("m", false, Verdict::Red));
    assert_eq!(margin.time, SimTime::from_nanos(200_000_000));
    assert_eq!(code.text(margin.site.unwrap()), "ball pose z < 0.15");
}

#[test]
fn a_red_has_a_margin_too_and_equality_without_tolerance_is_not_tightened() {
    let scene = Scene::new(common::recording(BOUNCE));
    let text = LOW.replace("0.15", "0.25").replace("green -> red", "green -> red bad");
    let code = compiled(&text, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    assert_eq!(judgement.verdict, Verdict::Red);
    let red = margin(&code, &scene, &judgement).margin().cloned().unwrap();
    assert!((red.amount - 0.05).abs() < 1e-7 && red.is_harder, "{red:?}");
    // The end of the recording is no measurement, and an exact count has nothing to tighten.
    let exact = "(var n := [3])
        (machine m (state a) (state green)
          (on [ball time = stopTime and: [n = 3]] a -> green))
        (spawn m a)";
    let code = compiled(exact, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    assert_eq!(judgement.verdict, Verdict::Green);
    assert_eq!(margin(&code, &scene, &judgement), Sureness::Unshakable);
}

#[test]
fn a_formulas_margin_is_its_robustness() {
    let scene = Scene::new(common::recording(BOUNCE));
    let text = "(formula high := always [ball pose z > 0.15]) (require high)";
    let code = compiled(text, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    let robustness = judgement.roots[0].robustness.unwrap();
    assert!((robustness - 0.05).abs() < 1e-12);
    let margin = margin(&code, &scene, &judgement).margin().cloned().unwrap();
    assert!((margin.amount - robustness).abs() < 1e-7 && margin.unit == "m", "{margin:?}");
}

#[test]
fn an_explanation_leads_from_the_transition_to_the_assignments() {
    let lower = "(machine lower
  (var top := [ball pose z])
  (var higher := [false])
  (state bouncing
    (machine bouncer
      (state rising)
      (state falling (onentry [higher := ball pose z > top. top := ball pose z]))
      (on [ball velocity z > 0] falling -> rising)
      (on [ball velocity z < 0] rising -> falling)
      (exit [higher] *-> red))
    (onentry (spawn bouncer falling)))
  (state red) (state green)
  (on [ball time >= stopTime] bouncing -> green))
(spawn lower bouncing)";
    let table = "ms z vz\n0 9 0\n100 1 -1\n200 0.2 5\n300 0.5 -0.1\n400 0.2 5\n500 1.3 -0.1\n600 1 -1\n700 0 0";
    let scene = Arc::new(Scene::new(common::recording(table)));
    let code = compiled(lower, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    let [explanation] = &explain(&code, &scene, &judgement)[..] else { panic!("one red root") };
    assert_eq!(explanation.headline, "bouncer: *-> red");
    let lines: Vec<String> = explanation
        .lines
        .iter()
        .map(|line| {
            let at = line.time.map_or(String::new(), |t| format!(" at {} s", t.secs()));
            format!("{}{} = {}{at}", "  ".repeat(line.depth), line.text, line.value)
        })
        .collect();
    let wanted = [
        "higher = true",
        "  higher := ball pose z > top = true at 0.5 s",
        "    ball pose z > top = true",
        "      top = 0.5",
        "      ball pose z = 1.3",
        "      top := ball pose z = 0.5 at 0.3 s",
        "        ball pose z = 0.5",
    ];
    assert_eq!(lines[..wanted.len()], wanted, "{lines:#?}");
    // From the last bottom on: what was before it does not matter.
    assert_eq!(explanation.stretch, Some(4..8));
}

/// Only what an assigned value was computed of is named under it, and that once: not the
/// statements before it, though they stand in the same block.
#[test]
fn an_assignment_is_explained_by_what_was_read_for_it() {
    let test = "(var n := [0]) (var a := [0]) (var b := [0]) (var old := [0]) (var top := [0])
(machine m
  (state s (onexit [n := n + 1. a := 2. b := a + 1. n := n + b. old value: b.
    top := (a + b) + ball pose z]))
  (state t) (state red)
  (on [ball pose z > 0] s -> t)
  (on [n := n + 1. (top + old) > 0.5] t -> red))
(spawn m s)";
    let scene = Arc::new(Scene::new(common::recording("ms z\n0 1\n100 4")));
    let code = compiled(test, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    let [explanation] = &explain(&code, &scene, &judgement)[..] else { panic!("one red root") };
    let fed = explanation.lines.iter().filter(|line| line.time.is_some());
    let fed: Vec<(usize, &str)> = fed.map(|line| (line.depth, line.text.as_str())).collect();
    let wanted =
        [(1, "top := (a + b) + ball pose z"), (3, "a := 2"), (3, "b := a + 1"), (1, "old")];
    assert_eq!(fed, wanted, "{:#?}", explanation.lines);
    let others: Vec<&str> = explanation.lines.iter().map(|line| line.text.as_str()).collect();
    assert!(!others.contains(&"n + b") && !others.contains(&"n := n + b"), "{others:?}");
}

#[test]
fn what_ended_elsewhere_is_explained_by_its_ways_out() {
    let scene = Arc::new(Scene::new(common::recording(BOUNCE)));
    let text = "(machine m (state waiting) (state green) (on [ball pose z > 5] waiting -> green))
        (spawn m waiting)";
    let code = compiled(text, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    let [explanation] = &explain(&code, &scene, &judgement)[..] else { panic!("one red root") };
    assert_eq!(explanation.lines[0].text, "ball pose z > 5");
    assert_eq!(explanation.lines[0].value, "false");
    assert_eq!((&*explanation.lines[1].text, &*explanation.lines[1].value), ("ball pose z", "0.3"));
    assert_eq!(explanation.stretch, None);
}

#[test]
fn coverage_names_what_no_recording_reached() {
    let scene = Scene::new(common::recording(BOUNCE));
    let code = compiled(LOW, &scene);
    let mut coverage = Coverage::default();
    coverage.add(&timeline(&code, &scene, &JudgeOptions::default()).1);
    assert_eq!(coverage.count(&code), (1, 3));
    let missed: Vec<String> = coverage.missed(&code).into_iter().map(|m| m.what).collect();
    assert_eq!(missed, ["state red of m", "green -> red of m"]);
    let low = Scene::new(common::recording("ms z\n0 1\n100 0"));
    coverage.add(&timeline(&compiled(LOW, &low), &low, &JudgeOptions::default()).1);
    assert!(coverage.missed(&code).is_empty());
}

#[test]
fn mutants_that_nothing_notices_are_found() {
    let scene = Scene::new(common::recording(BOUNCE));
    let (alone, n_tried) = survivors(&program(LOW), &[&scene], &none);
    assert_eq!(n_tried, 3);
    // A green recording alone cannot tell whether the test can fail.
    assert_eq!(what(&alone), ["green -> red dropped"]);
    let low = Scene::new(common::recording("ms z\n0 1\n100 0"));
    assert!(survivors(&program(LOW), &[&scene, &low], &none).0.is_empty());
}

fn what(mutants: &[headland_judge::mutate::Mutant]) -> Vec<String> {
    mutants.iter().map(|mutant| mutant.what.clone()).collect()
}

#[test]
fn operators_and_windows_of_formulas_are_changed_too() {
    let text = "(formula f := always[0, 0.5] ([ball pose z > 1] implies not once[0.1, 0.4] [ball pose z < 0]))
        (require f)";
    let all: Vec<String> =
        headland_judge::mutate::mutants(&program(text)).map(|(mutant, _)| mutant.what).collect();
    let wanted = [
        "always turned into eventually",
        "[0, 0.5] turned into [0.25, 0.5]",
        "[0, 0.5] turned into [0, 1]",
        "implies turned into and",
        "> turned into <=",
        "1 turned into 2",
        "not dropped",
        "once turned into historically",
        "[0.1, 0.4] turned into [0.2, 0.4]",
        "[0.1, 0.4] turned into [0.1, 0.8]",
        "< turned into >=",
        "0 turned into 1",
    ];
    assert_eq!(all, wanted);
    // A recording on which the formula never has to look back notices little of it.
    let scene = Scene::new(common::recording("ms z\n0 0.5\n100 0.5\n200 0.5"));
    let (unnoticed, n_tried) = survivors(&program(text), &[&scene], &none);
    assert_eq!(n_tried, wanted.len());
    let noticed: Vec<&str> =
        wanted.into_iter().filter(|w| !what(&unnoticed).contains(&w.to_string())).collect();
    assert_eq!(noticed, ["implies turned into and"]);
}

#[test]
fn imported_machines_are_changed_too() {
    let module = "; a file of its own
        (var idle := [3])
        (machine helper (state h) (state green) (on [ball pose z > 1] h -> green))
        (machine stays (state a) (state red) (on [ball pose z < 0.2] a -> red)
          (on [ball pose z > 100] a -> red))
        (export stays)";
    let text = "(import 'stays.lrp')
        (machine m (state b (onentry (spawn stays a))) (state green)
          (on [recording time >= stopTime] b -> green))
        (spawn m b)";
    let import = |path: &str| {
        assert_eq!(path, "stays.lrp");
        Ok(Source::new("stays.lrp", module))
    };
    let green = Scene::new(common::recording("ms z\n0 1\n100 0.5\n200 1"));
    let red = Scene::new(common::recording("ms z\n0 1\n100 0.1\n200 1"));
    let (unnoticed, n_tried) = survivors(&program(text), &[&green, &red], &import);
    assert_eq!(n_tried, 2 + 6);
    let places: Vec<&str> = unnoticed.iter().map(|m| m.place.source.path.as_str()).collect();
    assert!(places.iter().all(|path| *path == "stays.lrp"), "{places:?}");
    assert_eq!(
        what(&unnoticed),
        ["0.2 turned into 0.4", "a -> red dropped", "100 turned into 200"]
    );
    assert_eq!(unnoticed[0].place.label(), "stays.lrp:4:65");
}

/// An arm with a gripper over a table, with everything a recording can hold.
fn cell() -> Recording {
    let times: Vec<SimTime> = (0..4).map(|i| SimTime::from_nanos(i * 500_000_000)).collect();
    let at = |x: f64| Transform::new(Quat::IDENTITY, Vec3::new(x, 0.0, 0.0));
    let mut out = Recording::new();
    let mut add = |topic: &str, times: &[SimTime], data: Data| {
        out.insert(topic, Track::new("", "", times.to_vec(), data).expect("a sound track"));
    };
    add("/arm/pose", &times[..1], Data::Poses(vec![at(0.0)]));
    add("/arm/wrist/pose", &times, Data::Poses([0.0, 1.0, 2.0, 3.0].map(at).to_vec()));
    add("/table/pose", &times[..1], Data::Poses(vec![at(2.0)]));
    let elbow = JointColumns {
        name: "elbow".to_string(),
        position: vec![0.0, 0.1, 0.2, 0.3],
        velocity: vec![0.2; 4],
        effort: vec![1.0, 2.0, 3.0, 4.0],
    };
    add("/arm/joint_states", &times, Data::Joints(vec![elbow]));
    let contact = |force: f64| Contact {
        body_a: "arm::wrist".to_string(),
        body_b: "table::top".to_string(),
        normal_force: force,
        ..Contact::default()
    };
    let contacts = vec![vec![], vec![], vec![contact(2.0), contact(3.0)], vec![]];
    add("/contacts", &times, Data::Contacts(contacts));
    let say =
        |text: &str| Remark { text: text.to_string(), kind: "gripper".into(), ..Remark::default() };
    add("/reports", &times[1..2], Data::Remarks(vec![say("closed")]));
    let battery = BTreeMap::from([("voltage".to_string(), vec![12.0, 11.5])]);
    add("/battery/state", &times[..2], Data::Scalars(battery));
    let region =
        r#"{"shape":"box","size":[1.0,1.0,1.0],"position":[2,0,0],"orientation_xyzw":[0,0,0,1]}"#;
    let regions = BTreeMap::from([("goal".to_string(), region.to_string())]);
    out.facts.metadata.insert("headland.regions".to_string(), regions);
    let facts = BTreeMap::from([
        ("engine".to_string(), "rapier".to_string()),
        ("seed".to_string(), "7".to_string()),
    ]);
    out.facts.metadata.insert("headland".to_string(), facts);
    out
}

#[test]
fn everything_of_a_recording_can_be_seen() {
    let scene = Scene::new(cell());
    // Each condition holds at one snapshot at least and not at all of them.
    let sometimes = [
        "arm wrist pose x > 1.5",
        "(arm link: 'wrist') pose x > 1.5",
        "(recording object: 'arm/wrist') pose x > 1.5",
        "arm wrist velocity x = 2 and: [arm wrist pose x > 0.5]",
        "(arm wrist distanceTo: table) < 0.5",
        "arm wrist inside: goal",
        "arm wrist inside: (recording region: 'goal')",
        "arm wrist touches: table",
        "table touches: arm",
        "arm wrist contacts = 2",
        "arm contactForce > 4",
        "elbow position > 0.15",
        "arm elbow effort > 2.5",
        "(arm joint: 'elbow') effort > 2.5",
        "(recording joint: 'elbow') velocity = 0.2 and: [recording time > 1]",
        "(recording channel: 'battery/state/voltage') < 12",
        "(recording channel: 'contacts/normal_force') = 5",
        "reports text = 'closed'",
        "reports kind = 'gripper' and: [reports age > 0.4]",
        "(recording report: 'reports') text isNil",
        "(recording fact: 'seed') = 7 and: [(recording fact: 'engine') = 'rapier' and: [arm time = 0]]",
        "arm wrist pose qw = 1 and: [recording duration = 1.5 and: [arm wrist pose x = 1]]",
        "arm wrist velocity norm > 1 and: [arm wrist pose x = 3]",
        "(arm wrist pose distanceTo: table pose) = 0",
    ];
    for condition in sometimes {
        let text = format!(
            "(var yes := [0]) (var no := [0])
             (machine m
               (state a (running [({condition}) ifTrue: [yes := yes + 1] ifFalse: [no := no + 1]]))
               (state green)
               (on [recording time = stopTime and: [yes > 0 and: [no > 0]]] a -> green))
             (spawn m a)"
        );
        let judgement = judged(&text, &scene);
        let words: Vec<&String> = judgement.errors.iter().map(|e| &e.words).collect();
        assert_eq!(
            judgement.verdict,
            Verdict::Green,
            "{condition}: {words:?} {}",
            judgement.reason
        );
    }
}

#[test]
fn a_recording_without_velocities_has_differences() {
    let table = "ms z\n0 0\n100 1\n200 3";
    let scene = Scene::new(common::recording(table));
    let text = "(machine m (state a) (state green)
        (on [(ball velocity ~ 1e-9) z = 20 and: [(ball acceleration ~ 1e-6) z = 100]] a -> green))
        (spawn m a)";
    let judgement = judged(text, &scene);
    assert_eq!(judgement.verdict, Verdict::Green, "{:?}", judgement.errors);
    // Nothing has a rate of change at its first sample, which is nobody's fault.
    assert_eq!(judgement.n_errors, 0);
    // What was put away at the first sample is nil ever after, which is.
    let kept = text.replace("(state a)", "(var v := [ball velocity z]) (state a)");
    assert_eq!(judged(&kept.replace("= 20 and", "> v and"), &scene).n_errors, 3);
}

/// DEEP stands for an expression of nine hundred terms.
const DEEP: &str = "(var f := [nil]) (machine m (state green (onentry [f := [:n | (DEEP) + 1]]) \
    (running [f value: 0]))) (spawn m green)";

/// A hostile test ends in bounded time and memory, in a verdict.
#[test]
fn hostile_tests_end() {
    let scene = Scene::new(common::recording(BOUNCE));
    let hostile = [
        // Blocks that call one another.
        (
            "(var f := [nil]) (machine m (state green (onentry [f := [:n | (f value: n + 1) + (f value: n + 1)]]) (running [f value: 0]))) (spawn m green)",
            Verdict::Green,
        ),
        // An array that doubles.
        (
            "(var a := [#(1 2)]) (machine m (state green (running [1 to: 100 do: [:i | a := a , a]]))) (spawn m green)",
            Verdict::Green,
        ),
        // A text that doubles.
        (
            "(var a := ['xx']) (machine m (state green (running [1 to: 100 do: [:i | a := a , a]]))) (spawn m green)",
            Verdict::Green,
        ),
        // A loop without end.
        (
            "(machine m (state green (running [[true] whileTrue: [1]]))) (spawn m green)",
            Verdict::Green,
        ),
        // A machine that spawns itself for ever.
        ("(machine m (state green (onentry (spawn m green)))) (spawn m green)", Verdict::Green),
        // Deep expressions in blocks that call one another.
        (DEEP, Verdict::Green),
        // An array in itself.
        (
            "(var a := [#(1)]) (machine m (state green (running [a at: 1 put: a]))) (spawn m green)",
            Verdict::Green,
        ),
        // Blocks kept in variables, each with temporaries.
        (
            "(var a := [#()]) (machine m (state green (running [| k | k := 1. 1 to: 2000 do: [:i | a := [k + i]]]))) (spawn m green)",
            Verdict::Green,
        ),
    ];
    for (text, wanted) in hostile {
        let deep = format!("f value: 1{}", " + 1".repeat(900));
        let text = text.replace("DEEP", &deep);
        let judgement = judged(&text, &scene);
        assert_eq!(judgement.verdict, wanted, "{text}\n{judgement:?}");
    }
}

/// As many snapshots as it takes to chain values deeper than any stack.
#[test]
fn values_may_hold_one_another_without_end() {
    let rows: String = (0..200_000).map(|i| format!("{i} 1\n")).collect();
    let scene = Scene::new(common::recording(&format!("ms z\n{rows}")));
    let chains = [
        "(var a := [#(1)]) (machine m (state green (running [a := {a}]))) (spawn m green)",
        "(var a := [1]) (machine m (state green (running [a := a -> 1. a + 1]))) (spawn m green)",
        // A list that grows at its end.
        "(var head := [{nil}]) (var tail := [head])
         (machine m (state green (running [| new | new := {nil}. tail at: 1 put: new. tail := new])))
         (spawn m green)",
    ];
    for text in chains {
        let judgement = judged(text, &scene);
        assert_eq!(judgement.verdict, Verdict::Green, "{text}\n{}", judgement.reason);
    }
}

/// An array that holds another a hundred times, ten deep, is 10²⁰ values to walk through.
#[test]
fn what_is_held_many_times_is_not_walked_many_times() {
    let rows: String = (0..10).map(|i| format!("{i} 1\n")).collect();
    let scene = Scene::new(common::recording(&format!("ms z\n{rows}")));
    let text = "(var a := [#(1)]) (var b := [#(1)]) (var text := [nil]) (var same := [nil])
        (machine m
          (state green
            (running [| next | next := #(). 1 to: 100 do: [:i | next add: a]. a := next])
            (running [| next | next := #(). 1 to: 100 do: [:i | next add: b]. b := next])
            (running [text := a asString. same := a = b])))
        (spawn m green)";
    assert_eq!(judged(text, &scene).verdict, Verdict::Green);
}

#[test]
fn a_test_that_asks_between_has_a_margin() {
    let scene = Scene::new(common::recording(BOUNCE));
    let text = "(machine m (state green) (state red)
      (on [(ball pose z between: 0.1 and: 1.5) not] green -> red))
    (spawn m green)";
    let code = compiled(text, &scene);
    let judgement = judge(&code, &scene, &JudgeOptions::default());
    assert_eq!(judgement.verdict, Verdict::Green);
    let margin = margin(&code, &scene, &judgement).margin().cloned().unwrap();
    assert!((margin.amount - 0.1).abs() < 1e-7 && margin.is_harder, "{margin:?}");
}

/// A fact that is not there is nil; that it may be a slip is said at its place.
#[test]
fn a_misspelt_fact_gets_the_nearest() {
    let mut scene = common::recording(BOUNCE);
    let facts = scene.facts.metadata.entry("mission".into()).or_default();
    facts.insert("goal".into(), "3".into());
    let scene = Scene::new(scene);
    let text = "(machine m (state a) (state green)
      (on [(recording fact: 'mission.goal') = 3] a -> green)
      (on [(recording fact: 'mission.gaol') = 3] a -> green))
    (spawn m a)";
    let mut findings = Findings::new();
    compile(&program(text), scene.vocabulary(), &|_| unreachable!(), &mut findings);
    let said: String = findings.into_vec().iter().map(|d| d.render(false)).collect();
    assert!(said.starts_with("warning[unknown-fact]: the recording has no fact `mission.gaol`"));
    assert!(said.contains("test.lrp:3:29") && said.contains("`mission.goal`?"), "{said}");
    // Without a recording nobody can say.
    let mut findings = Findings::new();
    compile(&program(text), &Vocabulary::default(), &|_| unreachable!(), &mut findings);
    assert!(findings.into_vec().is_empty());
}

/// Two arms, of which one has an elbow: the other must not be given it.
#[test]
fn a_joint_of_another_robot_is_not_taken() {
    let arms =
        |joint: &str| Vocabulary { joints: vec![joint.to_string()], ..Vocabulary::default() };
    assert_eq!(arms("arm::elbow").joint_of("arm", "elbow"), Some(0));
    assert_eq!(arms("arm::elbow").joint_of("other", "elbow"), None);
    assert_eq!(arms("elbow").joint_of("other", "elbow"), Some(0));
}

#[test]
fn a_hundred_machines_deep() {
    let mut text = String::from("(machine m100 (state a) (state green) (exit [true] a -> green))");
    for i in (0..100).rev() {
        let inner = i + 1;
        text = format!(
            "(machine m{i} (state a {text} (onentry (spawn m{inner} a))) (state green) \
             (exit [true] green -> green))"
        );
    }
    text += "(spawn m0 a)";
    let rows: String = (0..200).map(|i| format!("{i} 1\n")).collect();
    let scene = Scene::new(common::recording(&format!("ms z\n{rows}")));
    let judgement = judged(&text, &scene);
    assert_eq!(judgement.verdict, Verdict::Green, "{}", judgement.reason);
    assert_eq!(judgement.n_fired, 100);
}
