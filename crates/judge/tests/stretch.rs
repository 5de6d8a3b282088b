//! A stretch of a scene is judged as the same range of the whole.

mod common;

use std::sync::Arc;

use headland_base::{Findings, Source};
use headland_judge::lang::parse;
use headland_judge::{JudgeOptions, Scene, compile, judge};

#[test]
fn a_stretch_is_the_range_and_what_was_sampled_before_still_holds() {
    let rows: String = (0..40).map(|i| format!("{} {}\n", i * 10, (i * 7) % 11)).collect();
    let mut recording = common::recording(&format!("ms z\n{rows}"));
    let once = common::recording("ms level\n0 5\n");
    recording.insert("/level", once.tracks()["/level"].clone());
    let scene = Arc::new(Scene::new(recording));
    let test = "(machine m (state a) (state b) (state red) (state green)\n  \
        (on [ball velocity z > 300 and: [level = 5]] a -> b)\n  (on [ball pose z < 2] b -> red)\n  \
        (on [recording time >= stopTime] *-> green))\n(spawn m a)";
    let mut findings = Findings::new();
    let program = parse(&Source::new("test.lrp", test), &mut findings);
    let import = |_: &str| unreachable!("nothing is imported");
    let code = compile(&program, scene.vocabulary(), &import, &mut findings);
    for (from, to) in [(0, 40), (3, 9), (10, 11), (17, 33), (39, 40), (20, 20)] {
        let options = JudgeOptions { range: Some(from..to), ..JudgeOptions::default() };
        let of_range = judge(&code, &scene, &options);
        let mut of_stretch = judge(&code, &scene.stretch(from..to), &JudgeOptions::default());
        // Snapshots are counted from the beginning of what is judged.
        for root in &mut of_stretch.roots {
            root.tick += from;
        }
        assert_eq!(of_stretch, of_range, "{from}..{to}");
    }
}
