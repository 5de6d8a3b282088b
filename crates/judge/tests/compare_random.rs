//! What people write and record at random: nothing panics, and what must always hold holds.
#![allow(clippy::unwrap_used)]

use headland_base::{Seed, SimDuration, SimTime};
use headland_judge::compare::{
    Bootstrap, Fit, KeyMap, Options, Rule, Sampling, Selection, Side, Threshold, compare,
    parse_phases,
};
use headland_record::Recording;
use headland_record::csv::{TableOptions, read};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn recording(text: &str) -> Recording {
    read(text.as_bytes(), "t.csv", &TableOptions::default()).0
}

/// A table with holes, jumps in time, and numbers of every size.
fn table() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        Just(String::new()),
        Just("nan".to_string()),
        Just("inf".to_string()),
        (-5i32..5).prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|x| format!("{x:?}")),
    ];
    let row = (0u32..400, prop::collection::vec(number, 10));
    prop::collection::vec(row, 0..40).prop_map(|rows| {
        let mut text = String::from(
            "time [ms],a,b/position,p/pose/x,p/pose/y,p/pose/z,p/pose/qx,p/pose/qy,p/pose/qz,\
             p/pose/qw,v/x\n",
        );
        for (time, cells) in rows {
            text += &format!("{time},{}\n", cells.join(","));
        }
        text
    })
}

fn options() -> impl Strategy<Value = Options> {
    let sampling =
        prop::sample::select(vec![Sampling::Exact, Sampling::Nearest, Sampling::Interpolate]);
    let rule = prop::sample::select(vec![Rule::OneToOne, Rule::Evo]);
    let tolerance = prop::option::of(0i64..100_000_000);
    let span = prop::option::of((0i64..200_000_000, 0i64..400_000_000));
    let fit =
        prop::sample::select(vec![None, Some(Fit::None), Some(Fit::Rigid), Some(Fit::Scaled)]);
    (sampling, rule, tolerance, span, fit, 1usize..4).prop_map(
        |(sampling, rule, tolerance, span, paths, delta)| Options {
            sampling,
            rule,
            tolerance: tolerance.map(SimDuration::from_nanos),
            start: span.map(|(start, _)| SimTime::from_nanos(start)),
            end: span.map(|(_, end)| SimTime::from_nanos(end)),
            phases: parse_phases("0 0.1 first\n0.05 1 second\n", "p").0,
            ignores_unknown: true,
            paths,
            delta,
            bootstrap: Some(Bootstrap { n_draws: 10, confidence: 0.9, seed: Seed::new(1) }),
            keeps_series: true,
            n_threads: 1 + delta % 2,
            ..Options::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn every_sample_is_accounted_for(a in table(), b in table(), options in options()) {
        let (a, b) = (recording(&a), recording(&b));
        let map = KeyMap::default();
        let compared = compare(&Side::new(&a, &map), &Side::new(&b, &map), &options).unwrap();
        for key in &compared.keys {
            let counts = &key.counts;
            prop_assert!(counts.n_unmatched_a <= counts.n_a && counts.n_unmatched_b <= counts.n_b);
            let Some(stats) = &key.stats else { continue };
            if options.rule == Rule::OneToOne && !key.key.contains("rpe") {
                prop_assert_eq!(stats.n, counts.n_a - counts.n_unmatched_a, "{}", &key.key);
                if options.sampling != Sampling::Interpolate {
                    prop_assert_eq!(stats.n, counts.n_b - counts.n_unmatched_b, "{}", &key.key);
                }
            }
            if let Some(most) = key.tolerance {
                prop_assert!(counts.dt_max <= most);
            }
            if stats.rmse.is_finite() && stats.mae.is_finite() {
                let slack = 1e-9 * stats.max_abs.0;
                prop_assert!(stats.bias.abs() <= stats.mae + slack, "{}: {stats:?}", &key.key);
                prop_assert!(stats.mae <= stats.rmse + slack && stats.rmse <= stats.max_abs.0 + slack);
                prop_assert!(stats.median_abs <= stats.p95_abs + slack);
                prop_assert!(stats.p95_abs <= stats.max_abs.0 + slack);
            }
        }
    }

    /// A log is no distance from itself.
    #[test]
    fn nothing_differs_from_itself(a in table()) {
        let a = recording(&a);
        let map = KeyMap::default();
        let side = || Side::new(&a, &map);
        let compared = compare(&side(), &side(), &Options::default()).unwrap();
        for key in &compared.keys {
            if let Some(stats) = &key.stats {
                prop_assert!(stats.max_abs.0 <= 1e-5, "{}: {stats:?}", &key.key);
                prop_assert_eq!(key.counts.n_unmatched_a, 0);
            }
        }
    }

    #[test]
    fn words_never_panic(words in prop::collection::vec(prop::sample::select(vec![
        "a", "*", ":", ">", "<", "=", "rmse", "0.5", "-1", "->", "/", " ", "\n", "#", ",", ";", "\t", "é", "\"", "1e99", "nan",
    ]), 0..30)) {
        let text = words.concat();
        _ = Threshold::parse(&text);
        parse_phases(&text, "p");
        let (map, _) = KeyMap::parse(&text, "m");
        map.renamed(&text);
        let selection = Selection { patterns: vec![text.clone()] };
        selection.wants(&text, false);
        selection.columns(&[text.clone(), "a/b".to_string()], &map);
    }
}
