//! Where recordings part in the eyes of one test.

mod common;

use std::sync::Arc;

use headland_base::{Findings, Source};
use headland_judge::code::Code;
use headland_judge::lang::parse;
use headland_judge::{
    Course, JudgeOptions, Scene, Timeline, companies, compile, parting, timeline,
};

const TEST: &str = "
(machine bounces
  (state falling) (state rising) (state red)
  (on [ball velocity z > 0] falling -> rising)
  (on [ball velocity z < 0] rising -> falling)
  (on [ball pose z < 0] *-> red))
(spawn bounces falling)";

struct Ran {
    code: Code,
    timeline: Timeline,
    scene: Arc<Scene>,
}

impl Ran {
    fn of(table: &str) -> Ran {
        Ran::by(TEST, table)
    }

    fn by(test: &str, table: &str) -> Ran {
        let scene = Arc::new(Scene::new(common::recording(table)));
        let mut findings = Findings::new();
        let program = parse(&Source::new("test", test), &mut findings);
        let import = |_: &str| unreachable!("nothing is imported");
        let code = compile(&program, scene.vocabulary(), &import, &mut findings);
        let (_, timeline) = timeline(&code, &scene, &JudgeOptions::default());
        Ran { code, timeline, scene }
    }

    fn course(&self) -> Course<'_> {
        Course { code: &self.code, timeline: &self.timeline, times: self.scene.times() }
    }
}

/// Bounces at 200 ms and turns at 400 ms.
const ONE: &str = "ms z vz\n0 3 -1\n100 2 -1\n200 1 2\n300 2 1\n400 2 -1\n500 1 -1";
/// The same a sample earlier.
const EARLIER: &str = "ms z vz\n0 3 -1\n100 1 2\n200 2 1\n300 2 -1\n400 1 -1\n500 1 -1";
/// Bounces like the first, and falls through the ground where that one turns.
const THROUGH: &str = "ms z vz\n0 3 -1\n100 2 -1\n200 1 2\n300 -1 1\n400 2 -1\n500 1 -1";
/// Never bounces.
const DULL: &str = "ms z vz\n0 3 -1\n100 2 -1\n200 1 0\n300 1 0\n400 1 0\n500 1 0";

#[test]
fn the_same_transitions_at_other_moments_are_no_parting() {
    let (one, earlier) = (Ran::of(ONE), Ran::of(EARLIER));
    assert_eq!(parting(one.course(), earlier.course()), None);
}

#[test]
fn another_transition_is_one_at_the_earlier_of_the_two_moments() {
    let (one, through) = (Ran::of(ONE), Ran::of(THROUGH));
    let found = parting(one.course(), through.course()).expect("they part");
    assert_eq!(found.n_shared, 1);
    assert_eq!(found.time.secs(), 0.3);
    let arc = |step: Option<(headland_base::SimTime, String)>| step.expect("a step").1;
    assert_eq!(arc(found.first), "bounces rising -> falling");
    assert_eq!(arc(found.second), "bounces *-> red");
}

/// Two ways from one state to another, by a number too high or too low.
const TWO_WAYS: &str = "
(machine stays
  (state fine) (state red)
  (on [ball pose z > 2.5] fine -> red)
  (on [ball pose z < 0.5] fine -> red))
(spawn stays fine)";

/// What is said of the two sides differs: by the ways, where the states do not.
#[test]
fn the_sides_of_a_parting_are_told_apart() {
    let high = Ran::by(TWO_WAYS, "ms z vz\n0 1 0\n100 3 0");
    let low = Ran::by(TWO_WAYS, "ms z vz\n0 1 0\n100 0 0");
    let found = parting(high.course(), low.course()).expect("they part");
    let told = |step: Option<(headland_base::SimTime, String)>| step.expect("a step").1;
    assert_eq!(told(found.first), "(on [ball pose z > 2.5] fine -> red)");
    assert_eq!(told(found.second), "(on [ball pose z < 0.5] fine -> red)");
    // A label tells them apart, and what is written alike is one way.
    let named = TWO_WAYS.replace("2.5] fine -> red", "2.5] fine -> red high");
    let (high, low) = (Ran::by(&named, "ms z vz\n0 3 0"), Ran::by(&named, "ms z vz\n0 0 0"));
    let found = parting(high.course(), low.course()).expect("they part");
    assert_eq!(told(found.first), "stays fine -> red (high)");
    assert_eq!(told(found.second), "stays fine -> red");
}

#[test]
fn none_where_the_other_has_one_is_a_parting_too() {
    let (one, dull) = (Ran::of(ONE), Ran::of(DULL));
    let found = parting(one.course(), dull.course()).expect("they part");
    assert_eq!((found.n_shared, found.time.secs(), found.second), (0, 0.2, None));
}

/// Of a timeline that was cut, what would have come next is not known.
#[test]
fn behind_a_cut_nothing_parts() {
    let (one, mut cut) = (Ran::of(ONE), Ran::of(ONE));
    cut.timeline.fired.truncate(1);
    let found = parting(one.course(), cut.course()).expect("without a cut they part");
    assert_eq!((found.n_shared, found.second), (1, None));
    cut.timeline.is_cut = true;
    assert_eq!(parting(one.course(), cut.course()), None);
    assert_eq!(parting(cut.course(), one.course()), None);
    let mut through = Ran::of(THROUGH);
    through.timeline.is_cut = true;
    assert!(parting(one.course(), through.course()).is_some(), "what is kept is compared");
}

#[test]
fn those_that_never_part_keep_company() {
    let all = [ONE, DULL, EARLIER, THROUGH].map(Ran::of);
    let courses = all.each_ref().map(Ran::course);
    assert_eq!(companies(&courses), [vec![0, 2], vec![1], vec![3]]);
}

/// A recording that ends before the other one does something says nothing about it.
#[test]
fn what_ended_earlier_does_not_part() {
    let short = "ms z vz\n0 3 -1\n100 2 -1\n200 1 2\n300 2 1";
    let (one, cut_short) = (Ran::of(ONE), Ran::of(short));
    assert_eq!(parting(one.course(), cut_short.course()), None);
    assert_eq!(parting(cut_short.course(), one.course()), None);
    // One that lasts as long and does nothing more does.
    let still = Ran::of("ms z vz\n0 3 -1\n100 2 -1\n200 1 2\n300 2 1\n400 2 1\n500 2 1");
    let found = parting(one.course(), still.course()).expect("they part");
    assert_eq!(found.time.secs(), 0.4);
}
