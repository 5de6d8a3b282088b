//! Logs longer than memory: ten times the rows, the same peak. Reads and writes are measured
//! from outside, as the system sees the program.
#![cfg(target_os = "linux")]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use common::{expect, headland};

/// Rows of the short log; the long one has ten times as many.
const N_ROWS: usize = 15_000;
/// What a peak may differ by: buffers that have met a fuller chunk, and the allocator's mood.
/// The long table has 150,000 numbers a column; one column kept is 1.1 MiB, all are 18.
const SLACK_KIB: u64 = 4 << 10;

/// A table of a ball that flies and turns, an arm and a battery that is read now and then.
fn table(n_rows: usize) -> String {
    let keys = "time,ball/pose/x,ball/pose/y,ball/pose/z,ball/pose/qx,ball/pose/qy,ball/pose/qz,\
        ball/pose/qw,ball/linear_vel/x,ball/linear_vel/y,ball/linear_vel/z,ball/angular_vel/x,\
        ball/angular_vel/y,ball/angular_vel/z,arm::elbow/position,battery\n";
    let mut text = String::from(keys);
    for i in 0..n_rows {
        let (t, charge) = (i as f64 * 1e-3, if i % 10 == 0 { "12.5" } else { "" });
        let x = (i % 977) as f64 / 977.0;
        _ = writeln!(text, "{t:.3},{x},2,3,0,0,0,1,{x},0,-9.81,0,0,1,{x},{charge}");
    }
    text
}

fn trajectory(n_rows: usize) -> String {
    (0..n_rows).fold(String::new(), |mut text, i| {
        _ = writeln!(text, "{}.{:03} {} 2 3 0 0 0 1", i / 1000, i % 1000, (i % 977) as f64 / 977.0);
        text
    })
}

/// Runs the program and gives the most memory it ever held, in KiB.
fn peak_kib(dir: &Path, args: &[&str]) -> u64 {
    let mut child = headland(dir)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // The system keeps the high-water mark; it is gone with the program, so it is read often.
    while let Ok(text) = fs::read_to_string(&status) {
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(line) = line else { break };
        peak = line.trim().trim_end_matches(" kB").parse().expect("a number of KiB");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(child.wait().expect("ends").code(), Some(0), "{args:?}");
    assert!(peak > 0, "{args:?} was gone before it was measured");
    peak
}

#[test]
fn ten_times_the_rows_take_the_same_memory() {
    let dirs = [N_ROWS, 10 * N_ROWS].map(|n_rows| {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("a.csv"), table(n_rows)).expect("written");
        fs::write(dir.path().join("b.tum"), trajectory(n_rows)).expect("written");
        dir
    });
    for args in [
        &["import", "a.csv", "-o", "a.mcap"][..],
        &["import", "b.tum", "-o", "b.mcap"],
        &["export", "a.mcap", "--to", "rosbag2", "-o", "bag"],
        &["import", "bag", "-o", "again.mcap"],
        &["export", "a.mcap", "-o", "back.csv"],
        &["export", "bag", "-o", "bag.csv"],
        &["export", "a.mcap", "-o", "back.tum"],
    ] {
        let [short, long] = dirs.each_ref().map(|dir| peak_kib(dir.path(), args));
        println!("{:40} {N_ROWS} rows: {short} KiB, ten times as many: {long} KiB", args.join(" "));
        assert!(long < short + SLACK_KIB, "{args:?}: {short} KiB, then {long} KiB");
    }
    // And nothing was left out on the way.
    let read = |name: &str| fs::read_to_string(dirs[1].path().join(name)).expect("readable");
    assert_eq!(read("back.csv").lines().count(), 1 + 10 * N_ROWS);
    assert_eq!(read("back.csv"), read("bag.csv"));
    assert_eq!(read("back.tum").lines().count(), 1 + 10 * N_ROWS);
    expect(dirs[1].path(), &["import", "back.csv", "-o", "c.mcap"], 0);
    expect(dirs[1].path(), &["export", "c.mcap", "-o", "c.csv"], 0);
    assert!(read("c.csv") == read("back.csv"), "out, in and out again is the same table");
}

/// Of a table only the columns that are asked for are kept: one of forty is compared, and the
/// rest of the table leaves no trace.
#[test]
fn a_comparison_keeps_the_columns_it_needs() {
    const N_COLUMNS: usize = 40;
    let dir = tempfile::tempdir().expect("a folder");
    let mut text = String::from("time");
    (0..N_COLUMNS).for_each(|i| _ = write!(text, ",key_{i}"));
    for row in 0..60_000 {
        _ = write!(text, "\n{row}e-3");
        (0..N_COLUMNS).for_each(|i| _ = write!(text, ",{}", (row * (i + 7)) % 977));
    }
    fs::write(dir.path().join("a.csv"), text + "\n").expect("written");
    let all = peak_kib(dir.path(), &["compare", "a.csv", "a.csv"]);
    let one = peak_kib(dir.path(), &["compare", "a.csv", "a.csv", "--key", "key_11"]);
    println!("compare 40 columns: {all} KiB, one of them: {one} KiB");
    // Forty columns of two sides have 73 MiB of times and numbers.
    assert!(one + (60 << 10) < all, "{one} KiB of {all} KiB");
}

/// A table of 64 MiB that is followed as it grows leaves no trace: its memory is that of a table
/// a hundredth as long.
#[test]
fn following_a_long_table_takes_no_memory() {
    const N_COLUMNS: usize = 40;
    let table = |n_bytes: usize| {
        let mut text = String::from("time");
        (0..N_COLUMNS).for_each(|i| _ = write!(text, ",key_{i}"));
        let row =
            |k: usize| (0..N_COLUMNS).map(|i| format!(",{}.5", (k * (i + 7)) % 977)).collect();
        let rows: Vec<String> = (0..97).map(row).collect();
        for k in 0.. {
            if text.len() > n_bytes {
                break;
            }
            _ = write!(text, "\n{k}e-3{}", rows[k % rows.len()]);
        }
        text + "\n"
    };
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("a.csv"), "time,key_11\n0,0.5\n1,20\n2,30\n").expect("written");
    let mut peak = |n_bytes: usize| {
        fs::write(dir.path().join("b.csv"), table(n_bytes)).expect("written");
        peak_kib(dir.path(), &["compare", "a.csv", "b.csv", "--live=0.1"])
    };
    let [short, long] = [640 << 10, 64 << 20].map(&mut peak);
    println!("compare --live of 640 KiB: {short} KiB, of 64 MiB: {long} KiB");
    assert!(long < short + SLACK_KIB, "{short} KiB, then {long} KiB");
}
