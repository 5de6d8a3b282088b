//! Reading a recording back: every message decoded into columns, against PyPI `mcap` with
//! `mcap-ros2-support` decoding every message of the same file. Target: at least 20 times
//! as fast. `HEADLAND_PYTHON` names an interpreter that has both; `./test` sets one up.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland_base::{SimDuration, Source};
use headland_bench::{best_of, boxes_world, is_full};
use headland_record::{LoadOptions, Reader, WriteOptions, Writer, load};
use headland_sim::{Cast, Model, Recorder, Setup, run};
use headland_world::{ReadOptions, read_text};

/// Decodes every message and prints how many there were, the sum of every z of a pose, and
/// the seconds it took, the start of Python not counted.
const PEER: &str = r"
import sys, time
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
start, n, total = time.perf_counter(), 0, 0.0
with open(sys.argv[1], 'rb') as file:
    for schema, _, _, message in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
        n += 1
        if schema.name.endswith('PoseStamped'):
            total += message.pose.position.z
print(n, repr(total), time.perf_counter() - start)
";

fn main() {
    let (secs_all, rounds): (&[f64], usize) =
        if is_full() { (&[0.1, 0.5, 2.0], 3) } else { (&[0.02], 1) };
    let dir = tempfile::tempdir().expect("a folder");
    println!("read_back: 100 bodies at 1 kHz, every message decoded");
    println!(
        "messages  headland µs/message  Python µs/message  ratio  sum of heights, ours and theirs"
    );
    for &secs in secs_all {
        let file = dir.path().join("bench.mcap");
        record(&file, secs);
        measure(&file, rounds);
    }
}

fn record(file: &Path, secs: f64) {
    let source = Source::new("boxes.sdf", boxes_world(100));
    let read = read_text(source, Path::new("."), &ReadOptions::default()).expect("a sound world");
    let model = Model::compile(&Arc::new(read.world)).expect("compiles");
    let setup = Setup::new(&model, SimDuration::from_secs(secs).expect("short"));
    let mut writer = Writer::create(file, &WriteOptions::new("bench")).expect("a file");
    let mut recorder = Recorder::start(&mut writer, &model, &[]).expect("channels");
    let mut engine = (headland_engines::rapier::ENTRY.make)(&headland_engines::rapier::ENTRY);
    let tick = &mut |_| ControlFlow::Continue(());
    run(&model, &setup, engine.as_mut(), &mut Cast::default(), &mut recorder, tick).expect("runs");
    writer.finish().expect("written");
}

fn measure(file: &Path, rounds: usize) {
    let (mut n_messages, mut sum) = (0, 0.0);
    let ours = best_of(
        rounds,
        &mut [&mut || {
            let reader = Reader::open(file).expect("opens");
            let (recording, findings) = load(reader, &LoadOptions::default());
            assert!(findings.is_empty(), "{:?}", findings.into_vec());
            n_messages = recording.tracks().values().map(|track| track.len()).sum();
            sum = recording
                .tracks()
                .values()
                .filter_map(|t| t.poses())
                .flatten()
                .map(|p| p.translation.z)
                .sum();
        }],
    )[0];
    let per_message = |secs: f64| secs / n_messages as f64 * 1e6;
    match theirs(file, rounds) {
        Some((n_theirs, sum_theirs, secs)) => {
            assert_eq!(n_theirs, n_messages, "both read every message");
            assert!((sum - sum_theirs).abs() <= 1e-9 * sum.abs(), "{sum} vs {sum_theirs}");
            println!(
                "{n_messages:>8}  {:>19.3}  {:>17.1}  {:>5.0}  {sum:.6} {sum_theirs:.6}",
                per_message(ours),
                per_message(secs),
                secs / ours
            );
        }
        None => println!(
            "{n_messages:>8}  {:>19.3}  no peer: set HEADLAND_PYTHON to a Python with mcap and mcap-ros2-support",
            per_message(ours)
        ),
    }
}

/// Messages, sum of heights and seconds of the peer, the best of several.
fn theirs(file: &Path, rounds: usize) -> Option<(usize, f64, f64)> {
    let python = std::env::var_os("HEADLAND_PYTHON")?;
    (0..rounds)
        .map(|_| {
            let output =
                Command::new(&python).args(["-c", PEER]).arg(file).output().expect("Python runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let words = String::from_utf8(output.stdout).expect("text");
            let words: Vec<&str> = words.split_whitespace().collect();
            let parse = |i: usize| words[i].parse::<f64>().expect("a number");
            (parse(0) as usize, parse(1), parse(2))
        })
        .min_by(|a, b| a.2.total_cmp(&b.2))
}
