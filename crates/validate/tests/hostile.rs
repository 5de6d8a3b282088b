//! Tables and states that are hardly any go through the readers, and never take anything down.

mod common;

use std::sync::Arc;

use common::*;
use headland_base::{Seed, SimDuration, SimTime};
use headland_judge::compare::{KeyMap, Sampling, Side};
use headland_record::csv::{TableOptions, read};
use headland_sense::noise::Dice;
use headland_validate::{Between, Experiment, Replay, ReplayOptions, Told, given, known_signals};

const HEADS: [&str; 19] = [
    "time",
    "hinge/position",
    "hinge/velocity",
    "hinge/effort",
    "pendulum::hinge/pos",
    "hinge/",
    "/position",
    "hinge/positoin",
    "pendulum/pose/x",
    "bob/pose/qw",
    "bob/linear_vel@body/x",
    "bob/contact/force",
    "\"a/b\"/pos",
    "é/position",
    "hinge/position [deg]",
    "bob/pose/yaw",
    "pendulum/linear_acc/z",
    "contacts/count",
    "",
];
const CELLS: [&str; 9] = ["", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "0", "x"];
const TIMES: [&str; 5] = ["", "nan", "1e30", "-5", "9e18"];

/// A table of words that a table may have, and of some that it may not.
fn table(dice: &mut Dice) -> String {
    let n_columns = dice.below(6);
    let heads: Vec<&str> = (0..n_columns).map(|_| HEADS[dice.below(HEADS.len())]).collect();
    let mut out = format!("time,{}\n", heads.join(","));
    for _ in 0..dice.below(12) {
        out += &match dice.chance(0.1) {
            true => TIMES[dice.below(TIMES.len())].to_string(),
            false => format!("{}e-3", dice.below(4000)),
        };
        for _ in 0..dice.below(6) {
            out += &match dice.chance(0.2) {
                true => format!(",{}", CELLS[dice.below(CELLS.len())]),
                false => format!(",{}", 2e3 * (dice.uniform() - 0.5)),
            };
        }
        out.push('\n');
    }
    out
}

#[test]
fn any_table_is_an_experiment_a_state_or_a_command_or_says_why_not() {
    let mut dice = Dice::new(&Seed::new(3));
    let (mut n_run, mut n_refused) = (0, 0);
    for way in 0..400 {
        let (measured, told, state) = (table(&mut dice), table(&mut dice), table(&mut dice));
        let model = model_of(shipped("pendulum.sdf"));
        let recording = |text: &str| read(text.as_bytes(), "t.csv", &TableOptions::default()).0;
        let (log, map) = (recording(&measured), KeyMap::default());
        let side = Side::new(&log, &map);
        let (mut experiment, unread) = known_signals(&model, Experiment::of(&side, None, None));
        assert!(unread.iter().all(|fault| !fault.message.is_empty()));
        experiment.told = Told::read(&recording(&told), "c.csv", &model).unwrap_or_default();
        experiment.known = given::of_table(&recording(&state), "s.csv", &model).unwrap_or_default();
        let sampling = [None, Some(Sampling::Nearest), Some(Sampling::Interpolate)][way % 3];
        let options = ReplayOptions {
            sampling,
            window: (way % 2 == 0).then(|| ms(50.0)),
            between: if way % 4 < 2 { Between::Held } else { Between::Linear },
            command_delay: SimDuration::from_nanos(way as i64 * 1_234_567),
            gains: Some(headland_sim::Gains { kp: 5.0, kd: 0.5 }),
            ..ReplayOptions::new(ms(20.0))
        };
        let span = experiment.last().zip(experiment.first());
        if span.is_some_and(|(last, first)| last - first > ms(10_000.0)) {
            continue; // it would take its time, which is what was asked
        }
        let n_samples = experiment.signals.iter().map(|signal| signal.series.times.len());
        let n_samples: Vec<usize> = n_samples.collect();
        let made = Replay::new(model, engine("native"), Arc::new(experiment), options);
        let Ok(mut replay) = made else {
            n_refused += 1;
            continue;
        };
        let bits = |all: &[Vec<f64>]| -> Vec<u64> {
            all.iter().flatten().map(|value| value.to_bits()).collect()
        };
        let first = replay.run().unwrap().clone();
        assert_eq!(first.values.iter().map(Vec::len).collect::<Vec<_>>(), n_samples);
        assert_eq!(bits(&first.values), bits(&replay.run().unwrap().values), "{measured}");
        n_run += 1;
    }
    assert!(n_run > 30 && n_refused > 30, "{n_run} {n_refused}");
}

#[test]
fn any_text_is_a_state_of_sdf_or_says_why_not() {
    const PIECES: [&str; 14] = [
        "<model name='m'>",
        "</model>",
        "<pose>",
        "</pose>",
        "1 2 3 0 0 0",
        "<link name=\"l\">",
        "</link>",
        "<joint name='j'>",
        "<angle axis='7'>",
        "</angle>",
        "</joint>",
        "1e999",
        "<",
        "&",
    ];
    let mut dice = Dice::new(&Seed::new(4));
    for _ in 0..3000 {
        let inside: String =
            (0..dice.below(10)).map(|_| PIECES[dice.below(PIECES.len())]).collect();
        for text in [format!("<state>{inside}</state>"), inside] {
            if let Err(faults) = given::of_sdf(&text, "s.sdf") {
                assert!(!faults.is_empty());
            }
        }
    }
}

/// Years between two rows are refused, and a day is no reason to hang: the tick may break it off.
#[test]
fn a_long_way_can_be_broken_off() {
    let replay = |secs: f64| {
        let times = [SimTime::ZERO, SimTime::from_secs(secs).unwrap()];
        let experiment = Arc::new(experiment(vec![signal("hinge/position", &times, |_| 0.5)]));
        let model = model_of(shipped("pendulum.sdf"));
        Replay::new(model, engine("native"), experiment, ReplayOptions::new(ms(1.0)))
    };
    assert_eq!(replay(1e8).err().unwrap()[0].code, "stray-time");
    let mut replay = replay(86_400.0).unwrap();
    let mut n_ticks = 0;
    let stopped = replay.run_until(&mut |_| {
        n_ticks += 1;
        if n_ticks < 1000 {
            std::ops::ControlFlow::Continue(())
        } else {
            std::ops::ControlFlow::Break(())
        }
    });
    assert!(stopped.is_err());
}
