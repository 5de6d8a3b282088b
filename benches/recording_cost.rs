//! What recording costs: the same run of N boxes at 1 kHz, every step recorded into a file,
//! against the same run that nobody observes. Target: at most 25 % for 100 bodies.
//!
//! `thread` is the processor time of the thread that simulates, which is what a run waits
//! for where a second core is free to compress and write; `wall` is the clock, and differs
//! from it when the machine has other work; `inline` does everything on the one thread.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use headland_base::{SimDuration, Source};
use headland_bench::{best_of_thread, boxes_world, check_value, is_full};
use headland_record::{WriteOptions, Writer};
use headland_sim::{Cast, Model, Observer, Recorder, Setup, Unobserved, run};
use headland_world::{ReadOptions, read_text};

fn main() {
    let (counts, secs, rounds): (&[usize], f64, usize) =
        if is_full() { (&[1, 10, 100, 300], 2.0, 5) } else { (&[10], 0.5, 1) };
    println!("recording_cost: every step of 1 ms for {secs} s, all poses, twists and contacts");
    println!("bodies  unobserved µs/step  thread    wall  inline  MiB per s of run  check");
    let dir = tempfile::tempdir().expect("a folder");
    for &n in counts {
        measure(n, secs, rounds, &dir.path().join("bench.mcap"));
    }
}

fn measure(n: usize, secs: f64, rounds: usize, file: &Path) {
    let source = Source::new("boxes.sdf", boxes_world(n));
    let read = read_text(source, Path::new("."), &ReadOptions::default()).expect("a sound world");
    let model = Model::compile(&Arc::new(read.world)).expect("compiles");
    let setup = Setup::new(&model, SimDuration::from_secs(secs).expect("short"));
    let record = |threaded: bool| {
        let options = WriteOptions::new("bench").threaded(threaded);
        let mut writer = Writer::create(file, &options).expect("a file");
        let mut recorder = Recorder::start(&mut writer, &model, &[]).expect("channels");
        go(&model, &setup, &mut recorder);
        writer.finish().expect("written");
    };
    let best = best_of_thread(
        rounds,
        &mut [&mut || go(&model, &setup, &mut Unobserved), &mut || record(true), &mut || {
            record(false)
        }],
    );
    let bytes = std::fs::read(file).expect("the recording");
    let n_steps = secs * 1000.0;
    let over = |recorded: f64, unobserved: f64| 100.0 * (recorded / unobserved - 1.0);
    let [(wall, cpu), (wall_behind, cpu_behind), (_, cpu_inline)] = best[..] else {
        unreachable!("three were timed")
    };
    println!(
        "{n:>6}  {:>18.1}  {:>+4.1} %  {:>+4.1} %  {:>+4.1} %  {:>16.1}  {}",
        cpu / n_steps * 1e6,
        over(cpu_behind, cpu),
        over(wall_behind, wall),
        over(cpu_inline, cpu),
        bytes.len() as f64 / 1048576.0 / secs,
        check_value(&bytes)
    );
}

fn go(model: &Model, setup: &Setup, observer: &mut dyn Observer) {
    let mut engine = (headland_engines::rapier::ENTRY.make)(&headland_engines::rapier::ENTRY);
    let tick = &mut |_| ControlFlow::Continue(());
    run(model, setup, engine.as_mut(), &mut Cast::default(), observer, tick).expect("runs");
}
