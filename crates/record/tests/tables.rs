//! Tables and trajectories as people write them, and as nobody should.
#![allow(clippy::unwrap_used)]

use headland_base::maths::{PI, rpy_from_quat};
use headland_base::{Findings, SimTime};
use headland_record::csv::{self, TableOptions, TableReport};
use headland_record::{ImportOptions, LoadOptions, Recording, TimeUnit, import, tum};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn read(text: &str) -> (Recording, TableReport, Findings) {
    csv::read(text.as_bytes(), "t.csv", &TableOptions::default())
}

fn codes(findings: Findings) -> Vec<&'static str> {
    findings.into_vec().iter().map(|d| d.code).collect()
}

fn values(recording: &Recording, key: &str) -> Vec<f64> {
    recording.column(key).unwrap_or_else(|| panic!("no {key}")).values.to_vec()
}

#[test]
fn every_delimiter_and_quoted_names() {
    for text in [
        "time,a/x,b\n0,1,2\n1,3,4\n",
        "time;a/x;b\r\n0;1;2\r\n1;3;4\r\n",
        "time\ta/x\tb\n0\t1\t2\n1\t3\t4\n",
        "  time   a/x b\n 0 1   2 \n1 3 4\n\n",
        "# a comment\n\n\u{feff}\"time\", \"a/x\" ,b\n# another\n0, 1,2\n1 ,3,4\n",
        "a/x,time [s],b\n1,0,2\n3,1,4\n",
    ] {
        let (recording, report, findings) = read(text);
        assert!(findings.is_empty(), "{text:?}: {:?}", findings.into_vec());
        assert_eq!(values(&recording, "a/x"), [1.0, 3.0], "{text:?}");
        assert_eq!(values(&recording, "b"), [2.0, 4.0], "{text:?}");
        assert_eq!(report.n_rows, 2);
    }
    let (recording, ..) = read("time,\"a,b\",c\n0,1,2\n");
    assert_eq!(values(&recording, "a,b"), [1.0]);
}

#[test]
fn units_are_converted() {
    let header = "time [ms],elbow/position [deg],d [mm],acc [g],w [deg/s],n [N]";
    let (recording, _, findings) = read(&format!("{header}\n1500,180,1000,1,90,3\n"));
    assert!(findings.is_empty());
    assert_eq!(recording.column("d").unwrap().times, [SimTime::from_nanos(1_500_000_000)]);
    for (key, wanted) in
        [("elbow/position", PI), ("d", 1.0), ("acc", 9.80665), ("w", PI / 2.0), ("n", 3.0)]
    {
        assert!((values(&recording, key)[0] - wanted).abs() < 1e-12, "{key}");
    }
    // Between blanks the unit stands apart.
    let (recording, ..) = read("time [ms] d [mm]\n2 5\n");
    assert_eq!(values(&recording, "d"), [0.005]);
    assert_eq!(codes(read("time,x [furlong]\n0,1\n").2), ["unknown-unit"]);
}

#[test]
fn times_in_every_shape() {
    let first = |text: &str| read(text).0.column("x").unwrap().times[0].nanos();
    assert_eq!(first("#timestamp [ns],x\n1403636579763555584,1\n"), 1_403_636_579_763_555_584);
    assert_eq!(first("timestamp,x\n1403636579763555584,1\n"), 1_403_636_579_763_555_584);
    assert_eq!(first("__time,x\n1403636579.763555584,1\n"), 1_403_636_579_763_555_584);
    assert_eq!(first("t x\n1e-3 1\n"), 1_000_000);
    let options = TableOptions { time_unit: Some(TimeUnit::Micros), ..TableOptions::default() };
    let (recording, ..) = csv::read(&b"time,x\n7,1\n"[..], "t.csv", &options);
    assert_eq!(recording.column("x").unwrap().times[0].nanos(), 7000);
    let columns = Some(vec!["time".to_string(), "x".to_string()]);
    let options = TableOptions { columns, ..TableOptions::default() };
    let (recording, ..) = csv::read(&b"0 5\n1 6\n"[..], "t.csv", &options);
    assert_eq!(values(&recording, "x"), [5.0, 6.0]);
}

/// A file that ends within a number looks like one that ends with another number.
#[test]
fn a_table_that_was_cut_is_told() {
    let whole = "time,a,b\n0,0.51,0.52\n1,0.53,0.54";
    let said = |text: &str| {
        let (recording, report, findings) = read(text);
        let said: Vec<(&str, String)> =
            findings.into_vec().into_iter().map(|d| (d.code, d.message)).collect();
        (values(&recording, "a"), values(&recording, "b"), report.n_rows, said)
    };
    assert!(said(&format!("{whole}\n")).3.is_empty());
    let (a, b, n_rows, told) = said(&whole[..whole.len() - 1]);
    assert_eq!((a.len(), b, n_rows), (2, vec![0.52, 0.5], 2));
    let words = "`t.csv` line 3, column 11: no line end: `0.5` may be a part of a number";
    assert_eq!(told, [("cut-line", words.to_string())]);
    // Within the cell before it there is no telling what the row says.
    let (a, b, n_rows, told) = said(&whole[..whole.len() - 6]);
    assert_eq!((a, b, n_rows), (vec![0.51], vec![0.52], 1));
    let words = "`t.csv` line 3, column 6: 2 of 3 cells, and no line end";
    assert_eq!(told, [("cut-line", words.to_string())]);
}

/// A column of remarks is left out with one warning; words in one of numbers are faults, and so is a
/// joint that has nothing but words.
#[test]
fn a_column_of_words_is_left_out() {
    let (recording, _, findings) = read("time,a,note\n0,1,began\n1,2,\n2,3,slipped\n");
    assert_eq!(values(&recording, "a"), [1.0, 2.0, 3.0]);
    let findings = findings.into_vec();
    assert_eq!(findings.iter().map(|d| d.code).collect::<Vec<_>>(), ["column-of-words"]);
    assert!(findings[0].notes[0].contains("line 2: `began`"), "{:?}", findings[0].notes);
    let both = ["not-a-number", "not-a-number"];
    assert_eq!(codes(read("time,a\n0,one\n1,two\n2,3\n").2), both);
    assert_eq!(codes(read("time,j/position\n0,one\n1,two\n").2)[..2], both);
}

/// A spoilt column is so in every row: the first few are named, and how many more there are is told
/// behind them, before what else is wrong.
#[test]
fn faults_of_one_kind_are_named_a_few_times() {
    let rows: String =
        (0..300).map(|i| format!("{i},{},\n", if i < 250 { "?" } else { "1" })).collect();
    let spoilt = rows.replace("299,1,", "299,1,,7").replace("298,", "never,");
    for head in ["time,a,b\n", "time,j/position,b\n"] {
        let (_, _, findings) = read(&format!("{head}{spoilt}"));
        assert!(findings.has_errors());
        let found: Vec<(&str, String)> =
            findings.into_vec().into_iter().map(|d| (d.code, d.message)).collect();
        let codes: Vec<&str> = found.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, [&["bad-time", "long-row"][..], &["not-a-number"; 6]].concat());
        assert!(found[6].1.contains("line 6: `?` in column"), "{found:?}");
        assert_eq!(found[7].1, "and 245 more like these");
    }
}

/// Numbers that are written otherwise are no words.
#[test]
fn commas_for_points_and_units_in_cells_are_faults() {
    for text in ["time;a\n0;0,51\n1;0,52\n", "time,a\n0,0.51 m\n1,0.52 m\n"] {
        let findings = read(text).2.into_vec();
        let faults: Vec<_> = findings.iter().filter(|d| d.code == "not-a-number").collect();
        assert_eq!(faults.len(), 2, "{findings:?}");
        assert!(faults[0].help.as_ref().is_some_and(|help| help.contains("a point")), "{faults:?}");
    }
}

/// A header that ends with a delimiter names no column after it.
#[test]
fn columns_without_a_name_are_not_missed() {
    let (recording, report, findings) = read("time,a,b,\n0,1,2\n1,3,4");
    assert_eq!((values(&recording, "b"), report.n_rows), (vec![2.0, 4.0], 2));
    assert_eq!(codes(findings), ["cut-line"]);
    let (_, _, findings) = read("time,a,b\n0,1,2\n1,3,");
    assert!(findings.into_vec()[0].message.ends_with("its last cell is empty"));
}

/// A cell that is empty has its delimiter; a row that ends before it is counted and told once.
#[test]
fn short_rows_are_told_once() {
    let (recording, _, findings) = read("time,a,b\n0,1,\n1,2\n2,3,4\n3,5\n");
    assert_eq!(values(&recording, "a"), [1.0, 2.0, 3.0, 5.0]);
    let [told] = &findings.into_vec()[..] else { panic!("one finding") };
    let words = "2 of 4 rows of `t.csv` have fewer cells than the 3 names of the header, first in \
                 line 3, column 4: 2";
    assert_eq!((told.code, told.message.as_str()), ("short-row", words));
}

#[test]
fn empty_cells_are_no_samples() {
    let text = "time,a,b\n0,1,\n1,,5\n2,nan,6\n3,2,NaN\n";
    let (recording, _, findings) = read(text);
    assert!(findings.is_empty());
    let column = recording.column("a").unwrap();
    assert_eq!((column.times.len(), &column.values[..]), (2, &[1.0, 2.0][..]));
    assert_eq!(values(&recording, "b"), [5.0, 6.0]);
}

/// The first of equal times is kept and what goes back is dropped, for each key on its own.
#[test]
fn repeated_and_backward_times_are_counted() {
    let text = "time,a,b\n0,1,\n0,2,3\n1,4,5\n0.5,6,7\n0.7,,8\n2,9,10\n2,11,12\n";
    let (recording, report, findings) = read(text);
    assert_eq!(values(&recording, "a"), [1.0, 4.0, 9.0]);
    assert_eq!(values(&recording, "b"), [3.0, 5.0, 10.0]);
    let counted = TableReport { n_rows: 7, n_duplicate: 2, n_backward: 2, is_cut: false };
    assert_eq!(report, counted);
    assert_eq!(codes(findings), ["time-repeated", "time-went-back"]);
    // Joints share a track and still keep the first value of each key.
    let text = "time,a/position,b/position\n0,1,\n0,2,3\n";
    let (recording, report, _) = read(text);
    assert_eq!(values(&recording, "a/position"), [1.0]);
    assert_eq!(values(&recording, "b/position"), [3.0]);
    assert_eq!(report.n_duplicate, 1);
}

#[test]
fn columns_that_belong_together_are_one_track() {
    let text = "time,o/pose/x,o/pose/y,o/pose/z,o/pose/roll,o/pose/pitch,o/pose/yaw,p/pose/x,\
        arm::j/pos,arm::j/vel,q/pose/x,q/pose/y,q/pose/z,q/pose/qw,q/pose/qx,q/pose/qy,q/pose/qz\n\
        0,1,2,3,0.1,0.2,0.3,5,6,7,0,0,0,2,0,0,0\n1,1,2,3,0.1,0.2,,5,6,,0,0,0,0,0,0,0\n";
    let (recording, _, findings) = read(text);
    assert_eq!(recording.objects(), ["o", "q"]);
    let pose = recording.poses("o").unwrap().1[0];
    assert!((rpy_from_quat(pose.rotation).z - 0.3).abs() < 1e-12);
    assert_eq!(recording.poses("o").unwrap().0.len(), 1, "half a pose is none");
    assert_eq!(recording.poses("q").unwrap().1[0].rotation.w, 1.0, "made a unit quaternion");
    assert_eq!(values(&recording, "p/pose/x"), [5.0, 5.0], "an incomplete pose stays readable");
    assert_eq!(values(&recording, "arm::j/position"), [6.0, 6.0]);
    let findings = findings.into_vec();
    let found: Vec<&str> = findings.iter().map(|d| d.code).collect();
    assert_eq!(found, ["bad-pose", "row-incomplete"]);
    let said = &findings[1].message;
    assert_eq!(said, "1 of 2 rows of `t.csv` have only a part of `/o/pose`");
}

/// Stamps of a clock in milliseconds or microseconds say so, or are asked about.
#[test]
fn units_of_time_are_not_guessed() {
    for (time, unit) in [("1700000000123", "ms"), ("1700000000123456", "us"), ("1.7e15", "us")] {
        let (recording, _, findings) = read(&format!("time,x\n{time},1\n{time},2\n"));
        let findings = findings.into_vec();
        assert_eq!(findings.len(), 1, "said once");
        assert_eq!(findings[0].code, "which-time-unit");
        let said = format!("is `{time}` in {unit}, of the year 2023?");
        assert!(findings[0].message.contains(&said), "{}", findings[0].message);
        assert!(recording.column("x").is_none_or(|column| column.values.is_empty()));
        let help = findings[0].help.as_ref().unwrap();
        assert!(help.contains(&format!("`time [{unit}]`")), "{help}");
        let (recording, _, findings) = read(&format!("time [{unit}],x\n{time},1\n"));
        assert!(findings.is_empty());
        let secs = recording.column("x").unwrap().times[0].nanos() / 1_000_000_000;
        assert_eq!(secs, 1_700_000_000);
    }
}

#[test]
fn what_no_float_holds_is_said() {
    let (recording, _, findings) = read("time,x\n0,1e400\n1,-1e400\n2,inf\n3,1e300\n");
    assert_eq!(codes(findings), ["not-finite", "not-finite"]);
    assert_eq!(values(&recording, "x"), [f64::INFINITY, 1e300]);
}

#[test]
fn every_defect_is_named_with_its_line() {
    let text = "time,x,x,y\n0,one,1,2\nnever,1,2,3\n2,3,4,5,6\n3,4\n";
    let (recording, _, findings) = read(text);
    let findings = findings.into_vec();
    let found: Vec<&str> = findings.iter().map(|d| d.code).collect();
    // A word is a fault once a number stands in its column.
    let wanted = ["column-repeated", "bad-time", "long-row", "not-a-number", "short-row"];
    assert_eq!(found, wanted);
    assert!(findings[3].message.contains("line 2") && findings[3].message.contains("`one`"));
    assert!(findings[1].message.contains("line 3"));
    assert_eq!(values(&recording, "x"), [3.0, 4.0]);
}

/// `pos` and `position` are one signal: neither is dropped without a word.
#[test]
fn two_columns_of_one_signal_are_named() {
    let (_, _, findings) = read("time,hinge/pos,hinge/position,hinge/vel\n0,1,2,3\n");
    let found = findings.into_vec();
    assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), ["column-repeated"]);
    assert!(found[0].message.contains("`hinge/pos` and `hinge/position`"), "{}", found[0].message);
    let (_, _, findings) = read("time,a/pos,b/pos,a/vel,r::a/position\n0,1,2,3,4\n");
    assert!(findings.is_empty(), "{:?}", findings.into_vec());
}

/// What was written in the header is written again, and not what is said about it.
#[test]
fn a_unit_that_nobody_knows_is_exported_as_it_was_written() {
    let (recording, ..) = read("time,x [furlong],y [mm]\n0,1,2\n1,2,3\n");
    let mut out = Vec::new();
    headland_record::csv::write(&mut out, &recording).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("time,x [furlong],y [m]\n"), "{out}");
    let (again, ..) = read(&out);
    assert_eq!(again, recording);
}

/// In a measurement `nan` is a sample that is not there; whoever reads commands wants to know.
#[test]
fn cells_without_a_number_are_told_with_line_and_column() {
    let table = "time,a/effort,b/effort\n0,1,\n1,nan,2\n";
    let told = |tells_nan: bool| {
        let options = TableOptions { tells_nan, ..TableOptions::default() };
        headland_record::csv::read(table.as_bytes(), "t.csv", &options).2.into_vec()
    };
    assert!(told(false).is_empty(), "{:?}", told(false));
    let found = told(true);
    assert_eq!(found.len(), 1, "an empty cell says nothing and is not told of: {found:?}");
    assert_eq!(found[0].code, "nan-cell");
    assert_eq!(found[0].message, "`t.csv` line 3: `nan` in column `a/effort` is no number");
}

/// Of a table that is more than memory may hold nobody has counted the rows.
#[test]
fn rows_of_a_table_that_is_cut_are_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.csv");
    let rows: String = (0..100).map(|i| format!("{},{i}\n", (i / 2) as f64)).collect();
    std::fs::write(&path, format!("time,a\n{rows}")).unwrap();
    let load = LoadOptions { n_values_max: 10, ..LoadOptions::default() };
    let read = import(&path, &ImportOptions { load, ..ImportOptions::default() });
    let found = read.unwrap().findings.into_vec();
    let repeated = found.iter().find(|one| one.code == "time-repeated").unwrap();
    assert!(repeated.message.contains(" of the first "), "{}", repeated.message);
    assert!(!repeated.message.contains("100"), "{}", repeated.message);
}

#[test]
fn trajectories() {
    let text = "# time x y z qx qy qz qw\n0.5 1 2 3 0 0 0 1\n\n1.5 1 2 3 0 0 0 2\n\
        1.0 0 0 0 0 0 0 1\n2 1 2 3 0 0 0\n3 1 2 3 0 0 0 0\n4 1 2 x 0 0 0 1\nx 1 2 3 0 0 0 1\n";
    let (recording, findings) = tum::read(text.as_bytes(), "t.tum", "ball");
    let (times, poses) = recording.poses("ball").unwrap();
    assert_eq!(times, [500_000_000, 1_500_000_000].map(SimTime::from_nanos));
    assert_eq!(poses[0], poses[1]);
    let all = codes(findings);
    assert_eq!(all, ["bad-pose", "bad-pose", "bad-pose", "bad-pose", "time-went-back"]);
    let mut out = Vec::new();
    tum::write(&mut out, &recording, None).unwrap();
    let (again, findings) = tum::read(&out[..], "t.tum", "ball");
    assert!(findings.is_empty());
    assert_eq!(again.poses("ball"), recording.poses("ball"));
}

#[test]
fn long_lines_and_many_columns_end_with_a_word() {
    let line = "x".repeat(9 << 20);
    assert_eq!(codes(read(&line).2), ["read-failed", "empty-table"]);
    assert_eq!(codes(read(&format!("time,x\n0,1\n{line}\n")).2), ["read-failed"]);
    let many: Vec<String> = (0..200_000).map(|i| format!("c{i}")).collect();
    assert_eq!(codes(read(&format!("time,{}\n", many.join(","))).2), ["too-many-columns"]);
    // As many as are allowed take no more than a moment, and neither does a flood of cells.
    let many: Vec<String> = (0..50_000).map(|i| format!("c{i}")).collect();
    let text = format!("time,{}\n0{}\n", many.join(","), ",1".repeat(1_000_000));
    let (recording, _, findings) = read(&text);
    assert_eq!(recording.tracks().len(), 50_000);
    assert_eq!(codes(findings), ["long-row"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn random_tables_never_panic(words in prop::collection::vec(prop::sample::select(vec![
        "time", "t", ",", ";", "\t", " ", "\n", "\r\n", "\"", "#", "1", "-2.5", "1e400", "nan", "inf", "x/pose/x",
        "x/pose/y", "x/pose/z", "x/pose/qx", "x/pose/qy", "x/pose/qz", "x/pose/qw", "a/position", "a::b/vel",
        "[deg]", "[", "]", "/", "é", "\u{0}", "99999999999999999999999", "#timestamp", "p_RS_R_x", "q_RS_w", "p_", "_",
    ]), 0..80), kept in any::<u8>()) {
        let text = words.concat();
        let (recording, ..) = read(&text);
        let keep = move |keys: &[String]| (0..keys.len()).map(|i| kept >> (i % 8) & 1 == 1).collect();
        let options = TableOptions {
            euroc_object: Some("o".to_string()),
            keep: Some(csv::ColumnFilter::new(keep)),
            ..TableOptions::default()
        };
        csv::read(text.as_bytes(), "t.csv", &options);
        let mut out = Vec::new();
        csv::write(&mut out, &recording).unwrap();
        tum::read(text.as_bytes(), "t", "o");
    }

    /// Any finite floats at any times go out and come back as they were.
    #[test]
    fn tables_keep_every_bit(rows in prop::collection::btree_map(-1_000_000_000_000i64..1_000_000_000_000, (any::<f64>(), any::<f64>()), 1..30)) {
        let finite = |x: f64| if x.is_finite() { x } else { 0.5 };
        let line = |(nanos, (a, b)): (&i64, &(f64, f64))| {
            let secs = SimTime::from_nanos(*nanos).to_string().replace(" s", "");
            format!("{secs},{:?},{:?}\n", finite(*a), finite(*b))
        };
        let text = format!("time,a,b\n{}", rows.iter().map(line).collect::<String>());
        let (recording, _, findings) = read(&text);
        prop_assert!(findings.is_empty());
        let mut out = Vec::new();
        csv::write(&mut out, &recording).unwrap();
        let (again, ..) = csv::read(&out[..], "again", &TableOptions::default());
        prop_assert_eq!(&recording, &again);
        let wanted: Vec<u64> = rows.values().map(|(a, _)| finite(*a).to_bits()).collect();
        let got: Vec<u64> = values(&again, "a").iter().map(|x| x.to_bits()).collect();
        prop_assert_eq!(wanted, got);
    }
}
