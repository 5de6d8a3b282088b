//! Nothing recorded is lost: killed runs, cut files, full disks.

mod common;

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{ROOT, expect, headland, text};

fn messages(info: &[u8]) -> u64 {
    let json: serde_json::Value = serde_json::from_slice(info).expect("JSON");
    json["messages"].as_u64().expect("a number")
}

#[test]
fn a_killed_run_opens_up_to_its_last_chunk() {
    let dir = tempfile::tempdir().expect("a folder");
    for threads in ["1", "2"] {
        let file = dir.path().join("killed.mcap");
        _ = fs::remove_file(&file);
        let mut child = headland(dir.path())
            .args(["run", &format!("{ROOT}/worlds/joints.sdf"), "--duration", "100000"])
            .args(["--threads", threads, "-o", "killed.mcap"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        // Wait for a few chunks, then give it no chance to say goodbye.
        while fs::metadata(&file).map_or(0, |meta| meta.len()) < 500_000 {
            assert!(child.try_wait().expect("asked").is_none(), "it ended by itself");
            sleep(Duration::from_millis(5));
        }
        child.kill().expect("SIGKILL");
        child.wait().expect("gone");
        let info = expect(dir.path(), &["info", "--json", "killed.mcap"], 3);
        assert!(messages(&info.stdout) > 1000, "{}", text(&info.stdout));
        assert!(text(&info.stderr).contains("truncated") || text(&info.stderr).contains("cut"));
        // What is left can be made whole again, and then nothing is amiss.
        expect(dir.path(), &["import", "killed.mcap", "-o", "whole.mcap"], 3);
        let whole = expect(dir.path(), &["info", "--json", "whole.mcap"], 0);
        assert_eq!(messages(&whole.stdout), messages(&info.stdout));
    }
}

#[test]
fn a_polite_interrupt_closes_the_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("stopped.mcap");
    let mut child = headland(dir.path())
        .args([
            "run",
            &format!("{ROOT}/worlds/joints.sdf"),
            "--duration",
            "100000",
            "-o",
            "stopped.mcap",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    while fs::metadata(&file).map_or(0, |meta| meta.len()) < 200_000 {
        sleep(Duration::from_millis(5));
    }
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.expect("kill runs").success());
    assert_eq!(child.wait().expect("ends").code(), Some(3));
    let info = expect(dir.path(), &["info", "--json", "stopped.mcap"], 0);
    assert!(messages(&info.stdout) > 1000);
}

/// A limit on the size of files stands for a full disk: writes fail half way through. The
/// signal that comes with it must not end the program before it has said so.
#[test]
fn a_full_disk_ends_with_words_and_a_readable_file() {
    let dir = tempfile::tempdir().expect("a folder");
    for (threads, signal) in [(1, "trap '' XFSZ"), (1, "true"), (2, "true")] {
        let script = format!(
            "{signal}; ulimit -f 1024; exec {} run {ROOT}/worlds/joints.sdf --duration 60 --threads {threads} -o full.mcap",
            env!("CARGO_BIN_EXE_headland")
        );
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(dir.path())
            .output()
            .expect("runs");
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{words}");
        assert!(words.contains("full.mcap") && words.contains("error["), "{words}");
        let info =
            headland(dir.path()).args(["info", "--json", "full.mcap"]).output().expect("runs");
        assert!(messages(&info.stdout) > 1000, "{}", text(&info.stderr));
        // It names the time up to which the file can be read.
        let json: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
        let last_ns = json["topics"].as_array().expect("a list").iter();
        let last_ns = last_ns.filter_map(|topic| topic["last_ns"].as_i64()).max().expect("some");
        let last = headland_base::SimTime::from_nanos(last_ns);
        assert!(words.contains(&format!("it can be read up to {last}\n")), "{last}: {words}");
    }
}

/// Exports and imports meet the same limit, and say so too.
#[test]
fn a_full_disk_ends_an_export_with_words() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{ROOT}/worlds/joints.sdf");
    expect(dir.path(), &["run", &world, "--duration", "4", "-o", "a.mcap"], 0);
    for command in ["export a.mcap -o a.csv", "import a.mcap -o b.mcap"] {
        let script = format!("ulimit -f 16; exec {} {command}", env!("CARGO_BIN_EXE_headland"));
        let mut shell = Command::new("bash");
        let output = shell.args(["-c", &script]).current_dir(dir.path()).output().expect("runs");
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{words}");
        assert!(words.contains("cannot") && words.contains("error["), "{words}");
    }
}
