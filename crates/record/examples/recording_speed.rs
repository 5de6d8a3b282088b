//! What recording costs the simulating thread, and how fast a recording is read.
//!
//! ```text
//! cargo run --release -p headland-record --example recording_speed -- write big.mcap 20
//! cargo run --release -p headland-record --example recording_speed -- read big.mcap
//! ```
//!
//! `write` records a hundred bodies (a pose and a twist each) at 1 kHz for so many
//! simulated seconds, with every compression, in place and in the background, and leaves
//! the last file. What the simulating thread computes is counted apart from what it waits
//! (on Linux), because waiting says more about the rest of the machine.
//! `read` decodes every message of a file. `tests/foreign/read_speed.py`
//! reads the same file with the Python libraries.
#![allow(clippy::disallowed_methods)] // a stopwatch is the point here

use std::fmt::Display;
use std::time::Instant;

use headland_base::maths::{Vec3, quat_from_rpy};
use headland_base::{Diagnostic, SimTime, Transform};
use headland_record::messages::{self, PoseStamped, TwistStamped};
use headland_record::{Compression, Item, Kind, Reader, WriteOptions, Writer};

const N_BODIES: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["write", path, seconds] => write_all(path, seconds.parse().unwrap_or(10)),
        ["read", path] => read(path),
        _ => {
            eprintln!("usage: recording_speed write FILE SECONDS | read FILE");
            std::process::exit(2);
        }
    };
    if let Err(diagnostic) = done {
        eprint!("{}", diagnostic.render(false));
        std::process::exit(2);
    }
}

fn write_all(path: &str, seconds: usize) -> Result<(), Diagnostic> {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        for threaded in [false, true] {
            write(path, seconds * 1000, compression, threaded)?;
        }
    }
    Ok(())
}

/// Bodies on circles, each with its own speed: numbers that change like real ones do.
fn motion(body: usize, t: f64) -> (Transform, Vec3) {
    let rate = 0.3 + 0.01 * body as f64;
    let (s, c) = (headland_base::maths::sin(rate * t), headland_base::maths::cos(rate * t));
    let transform = Transform::new(quat_from_rpy(0.1 * s, 0.2 * c, rate * t), Vec3::new(c, s, t));
    (transform, Vec3::new(-rate * s, rate * c, 1.0))
}

fn write(
    path: &str,
    n_steps: usize,
    compression: Compression,
    threaded: bool,
) -> Result<(), Diagnostic> {
    // The motion is computed before the stopwatch starts; it repeats after a second.
    let moves: Vec<Vec<_>> = (0..1000)
        .map(|i| (0..N_BODIES).map(|body| motion(body, i as f64 * 1e-3)).collect())
        .collect();
    let options = WriteOptions::new("recording_speed").compression(compression).threaded(threaded);
    let mut writer = Writer::create(path, &options)?;
    let mut channels = Vec::new();
    for body in 0..N_BODIES {
        channels.push((
            writer.channel(&format!("/body_{body}/pose"), Kind::PoseStamped)?,
            writer.channel(&format!("/body_{body}/twist"), Kind::TwistStamped)?,
        ));
    }
    let start = Instant::now();
    let cpu_start = cpu_secs();
    for i in 0..n_steps {
        let time = SimTime::from_nanos(i as i64 * 1_000_000);
        for (body, (transform, velocity)) in moves[i % 1000].iter().enumerate() {
            writer.pose(channels[body].0, time, "world", transform)?;
            writer.twist(channels[body].1, time, "world", *velocity, Vec3::Z)?;
        }
    }
    let (handed_over, cpu) = (start.elapsed().as_secs_f64(), cpu_secs() - cpu_start);
    let written = writer.finish()?;
    let all = start.elapsed().as_secs_f64();
    let per_step = |secs: f64| format!("{:.1} us", secs / n_steps as f64 * 1e6);
    line(
        &format!("{compression:?}, background {threaded}"),
        [
            ("per step, computed by the simulating thread", per_step(cpu)),
            ("with waiting", per_step(handed_over)),
            ("per step, until on disk", per_step(all)),
            ("file", format!("{:.1} MB", written.n_bytes as f64 / 1e6)),
        ],
    );
    Ok(())
}

/// Seconds this thread has computed; zero where the system does not say.
fn cpu_secs() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|word| word.parse::<f64>().ok());
    nanos.unwrap_or_default() * 1e-9
}

fn read(path: &str) -> Result<(), Diagnostic> {
    let start = Instant::now();
    let mut reader = Reader::open(path)?;
    let (mut n, mut check) = (0u64, 0.0);
    while let Some(item) = reader.next() {
        let Item::Message(message) = item else { continue };
        let kind = message.channel.schema.as_ref().and_then(|s| Kind::from_name(&s.name));
        match kind {
            Some(Kind::PoseStamped) => {
                check += messages::decode::<PoseStamped>(message.payload)?.pose.position.x;
            }
            Some(Kind::TwistStamped) => {
                check += messages::decode::<TwistStamped>(message.payload)?.twist.linear.x;
            }
            _ => {}
        }
        n += 1;
    }
    let secs = start.elapsed().as_secs_f64();
    line(
        "reading and decoding",
        [
            ("messages", n.to_string()),
            ("seconds", format!("{secs:.3}")),
            ("messages per second", format!("{:.0}", n as f64 / secs)),
            ("check", check.to_string()),
        ],
    );
    Ok(())
}

fn line<T: Display>(what: &str, figures: [(&str, T); 4]) {
    let figures = figures.map(|(name, value)| format!("{name} {value}"));
    println!("{what}: {}", figures.join("; "));
}
