//! The same world, options, seed and build give the same bytes, on any number of threads.

mod common;

use std::fs;

#[test]
fn every_shipped_world_gives_the_same_bytes_twice_and_on_two_threads() {
    let dir = tempfile::tempdir().expect("a folder");
    for world in common::shipped_worlds() {
        let world = world.to_str().expect("a plain path");
        let run = |name: &str, threads: &str| {
            let args = ["run", world, "--duration", "1", "--threads", threads, "-o", name];
            common::expect(dir.path(), &args, 0);
            fs::read(dir.path().join(name)).expect("a recording")
        };
        let first = run("first.mcap", "1");
        assert!(first.len() > 10_000, "{world}: it recorded something");
        assert!(first == run("again.mcap", "1"), "{world}: a second run differs");
        assert!(first == run("threads.mcap", "2"), "{world}: two threads differ");
    }
}

/// Twenty boxes are enough for the native engine to step them on several threads, by each law and by
/// each integrator.
#[test]
fn a_stack_of_the_native_engine_gives_the_same_bytes_on_two_threads() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{}/worlds/stack.sdf", common::ROOT);
    for (law, integrator) in [
        ("hard", "semi-implicit"),
        ("soft", "rk4"),
        ("soft-coulomb", "semi-implicit"),
        ("soft-coulomb", "adaptive:1e-4"),
    ] {
        let run = |name: &str, threads: &str| {
            let by = ["--engine", "native", "--law", law, "--integrator", integrator];
            let rest = ["--duration", "0.2", "--threads", threads, "-o", name];
            common::expect(dir.path(), &[&["run", &world], &by[..], &rest[..]].concat(), 0);
            fs::read(dir.path().join(name)).expect("a recording")
        };
        let one = run("one.mcap", "1");
        assert!(one.len() > 10_000, "{law} by {integrator}: it recorded something");
        assert!(one == run("two.mcap", "2"), "{law} by {integrator}: two threads differ");
    }
}

#[test]
fn another_seed_is_written_down() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{}/worlds/ball.sdf", common::ROOT);
    common::expect(
        dir.path(),
        &["run", &world, "--duration", "0.1", "--seed", "7", "-o", "a.mcap"],
        0,
    );
    let info = common::expect(dir.path(), &["info", "--json", "a.mcap"], 0);
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    assert_eq!(info["metadata"]["headland"]["seed"], "7");
}
