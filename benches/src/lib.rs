//! What the benches share: how to time, which size to run, and the worlds they run on.
//!
//! Speed is a ratio against a peer in the same run on the same machine, never a time. Each
//! bench prints a check value, so that nobody speeds it up by changing the answer.

pub mod drawn;

use std::fmt::Write as _;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use sha2::{Digest, Sha256};

/// Whether `cargo bench` asks, which passes `--bench`; otherwise sizes are small.
pub fn is_full() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

/// Seconds of one call, and what it returned.
#[expect(clippy::disallowed_methods, reason = "this is what a bench is for")]
pub fn time<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed().as_secs_f64(), value)
}

/// Seconds this thread has spent on a processor: unlike wall time, it does not depend on what
/// else the machine does.
pub fn thread_cpu_secs() -> f64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 * 1e-9
}

/// Wall seconds and processor seconds of this thread, each the least of several rounds, the
/// peers taken in turn so that a slow moment of the machine hits all of them.
pub fn best_of_thread(n_rounds: usize, works: &mut [&mut dyn FnMut()]) -> Vec<(f64, f64)> {
    let mut best = vec![(f64::INFINITY, f64::INFINITY); works.len()];
    for _ in 0..n_rounds {
        for (best, work) in best.iter_mut().zip(works.iter_mut()) {
            let cpu = thread_cpu_secs();
            let wall = time(&mut **work).0;
            *best = (best.0.min(wall), best.1.min(thread_cpu_secs() - cpu));
        }
    }
    best
}

/// The best of several times, the peers taken in turn so that a slow moment of the machine
/// hits all of them.
pub fn best_of(n_rounds: usize, works: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    best_of_thread(n_rounds, works).into_iter().map(|(wall, _)| wall).collect()
}

/// The first bytes of a hash: equal answers have equal check values.
pub fn check_value(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(6).fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// An SDF world of `n` boxes on the ground, in columns of two.
pub fn boxes_world(n: usize) -> String {
    boxes_at((0..n).map(|i| {
        let (column, level) = (i / 2, i % 2);
        ((column % 10) as f64, (column / 10) as f64, 0.25 + 0.5 * level as f64)
    }))
}

/// An SDF world of `n` boxes on one another, at rest.
pub fn stack_world(n: usize) -> String {
    boxes_at((0..n).map(|i| (0.0, 0.0, 0.25 + 0.5 * i as f64)))
}

/// Boxes of half a metre and 1 kg, and the ground.
fn boxes_at(places: impl Iterator<Item = (f64, f64, f64)>) -> String {
    let mut world = String::from(
        r#"<sdf version="1.11"><world name="boxes"><gravity>0 0 -9.81</gravity>
<model name="ground"><static>true</static><link name="link"><collision name="plane">
<geometry><plane><normal>0 0 1</normal><size>100 100</size></plane></geometry>
</collision></link></model>"#,
    );
    for (i, (x, y, z)) in places.enumerate() {
        _ = write!(
            world,
            r#"
<model name="box_{i}"><pose>{x} {y} {z} 0 0 0</pose><link name="link">
<inertial><mass>1</mass><inertia><ixx>0.0417</ixx><iyy>0.0417</iyy><izz>0.0417</izz></inertia></inertial>
<collision name="box"><geometry><box><size>0.5 0.5 0.5</size></box></geometry></collision>
<visual name="box"><geometry><box><size>0.5 0.5 0.5</size></box></geometry></visual>
</link></model>"#
        );
    }
    world + "\n</world></sdf>\n"
}
