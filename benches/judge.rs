//! Live tests over a million snapshots, against a loop written by hand for each of them.
//!
//! ```text
//! bounces   count the turns from falling to rising (worlds/tests/bounces.lrp)
//! lower     no bounce is higher than the one before (worlds/tests/lower.lrp)
//! ratio     each bounce is the same share of the one before (worlds/tests/ratio.lrp)
//! ```
//!
//! Each is compiled and judged anew, as after an edit, with the columns of the recording in
//! memory: looking ahead, and asking at every snapshot. Targets: 62.5 million snapshots a
//! second looking ahead (a million within one frame of 16 ms), 20 million plainly, within
//! ten times of the hand. Then a thousand recordings of 10,000 snapshots on two threads:
//! within a second. Last the monitors people use, on comparable formulas (`temporal`).
//!
//! Seconds are processor seconds of the one thread, the least of some rounds; for the
//! thousand recordings they are wall seconds.

use std::hint::black_box;
use std::thread;

use headland_base::maths::{Quat, Vec3};
use headland_base::{Diagnostic, Findings, SimTime, Source, Transform};
use headland_bench::{best_of_thread, check_value, is_full, time};
use headland_judge::lang::{ast::Program, parse};
use headland_judge::vocabulary::{Quantity, Six};
use headland_judge::{JudgeOptions, Judgement, Scene, Verdict, compile, judge};
use headland_record::Recording;
use headland_record::track::{Data, Motion, Track};

mod temporal;

const TESTS: [(&str, &str); 3] = [
    ("bounces", include_str!("../worlds/tests/bounces.lrp")),
    ("lower", include_str!("../worlds/tests/lower.lrp")),
    ("ratio", include_str!("../worlds/tests/ratio.lrp")),
];

fn main() {
    let (n, n_recordings, n_each, rounds) =
        if is_full() { (1_000_000, 1_000, 10_000, 9) } else { (20_000, 10, 2_000, 1) };
    println!("judge: a ball that bounces for {n} snapshots at 1 kHz, one thread");
    let scene = Scene::new(ball(n, 0));
    let hands: [fn(&Scene) -> bool; 3] = [bounces_by_hand, lower_by_hand, ratio_by_hand];
    println!(
        "{:<9} {:>15} {:>15} {:>15} {:>12}  check",
        "test", "ahead M/s", "plain M/s", "by hand M/s", "hand/ahead"
    );
    for ((name, text), by_hand) in TESTS.iter().zip(hands) {
        let program = program(name, &expecting(name, text, &scene));
        let judged = rejudge(&program, &scene, false);
        assert_eq!(judged, rejudge(&program, &scene, true), "both ways say the same");
        assert_eq!(by_hand(&scene), judged.verdict == Verdict::Green, "{name}: {judged:?}");
        assert_eq!(judged.verdict, Verdict::Green, "{name}: {judged:?}");
        // The clock of processor seconds ticks in milliseconds: short work is repeated.
        const REPEATED: usize = 20;
        let times = best_of_thread(
            rounds,
            &mut [
                &mut || {
                    (0..REPEATED).for_each(|_| _ = black_box(rejudge(&program, &scene, false)));
                },
                &mut || _ = black_box(rejudge(&program, &scene, true)),
                &mut || (0..REPEATED).for_each(|_| _ = black_box(by_hand(black_box(&scene)))),
            ],
        );
        let n_judged = [REPEATED * n, n, REPEATED * n];
        let rate = |i: usize| n_judged[i] as f64 / times[i].1 * 1e-6;
        let check = check_value(format!("{judged:?}").as_bytes());
        println!(
            "{name:<9} {:>15.1} {:>15.1} {:>15.1} {:>12.1}  {check}",
            rate(0),
            rate(1),
            rate(2),
            rate(2) / rate(0)
        );
    }
    many(n_recordings, n_each);
    temporal::run();
}

/// The matrix: one test over many recordings on two threads.
fn many(n_recordings: usize, n_each: usize) {
    let scenes: Vec<Scene> =
        (0..n_recordings).map(|i| Scene::new(ball(n_each, i as u64))).collect();
    let program = program("lower", TESTS[1].1);
    let (secs, n_green) = time(|| {
        let half = scenes.len() / 2;
        let count = |scenes: &[Scene]| {
            let green = scenes
                .iter()
                .filter(|scene| rejudge(&program, scene, false).verdict == Verdict::Green);
            green.count()
        };
        thread::scope(|scope| {
            let other = scope.spawn(|| count(&scenes[..half]));
            count(&scenes[half..]) + other.join().expect("no panic")
        })
    });
    println!(
        "{n_recordings} recordings of {n_each} snapshots on 2 threads, columns made on the way: \
         {:.1} M/s, {:.3} of a second; {n_green} green",
        (n_recordings * n_each) as f64 / secs * 1e-6,
        secs
    );
    assert_eq!(n_green, n_recordings);
}

/// Parsing is not part of it; compiling is.
fn rejudge(program: &Program, scene: &Scene, plain: bool) -> Judgement {
    let mut findings = Findings::new();
    let none = |path: &str| Err(Diagnostic::error("no-such-file", path));
    let code = compile(program, scene.vocabulary(), &none, &mut findings);
    judge(&code, scene, &JudgeOptions { plain, ..JudgeOptions::default() })
}

fn program(name: &str, text: &str) -> Program {
    let mut findings = Findings::new();
    let program = parse(&Source::new(name, text), &mut findings);
    assert!(findings.is_empty(), "{name} is sound");
    program
}

/// The counter with the number of bounces of this ball.
fn expecting(name: &str, text: &str, scene: &Scene) -> String {
    if name != "bounces" {
        return text.to_string();
    }
    text.replace("count = 6", &format!("count = {}", count_by_hand(scene)))
}

/// Height and velocity of a ball on the ground; each bounce is 0.999 as high as the one
/// before, so it goes on bouncing for the whole recording.
fn ball(n: usize, variant: u64) -> Recording {
    const GRAVITY: f64 = 9.81;
    const SHARE: f64 = 0.999;
    let times: Vec<SimTime> = (0..n).map(|i| SimTime::from_nanos(i as i64 * 1_000_000)).collect();
    let (mut poses, mut motions) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut top = 1.0 + variant as f64 * 1e-3;
    // Falls first: half a flight is over.
    let mut launched_secs = -(2.0 * top / GRAVITY).sqrt();
    for i in 0..n {
        let now = i as f64 * 1e-3;
        let mut speed = (2.0 * GRAVITY * top).sqrt();
        if now - launched_secs > 2.0 * speed / GRAVITY {
            launched_secs += 2.0 * speed / GRAVITY;
            top *= SHARE;
            speed = (2.0 * GRAVITY * top).sqrt();
        }
        let t = now - launched_secs;
        let height = 0.5 + speed * t - 0.5 * GRAVITY * t * t;
        poses.push(Transform::new(Quat::IDENTITY, Vec3::new(0.0, 0.0, height)));
        let linear = Vec3::new(0.0, 0.0, speed - GRAVITY * t);
        motions.push(Motion { linear, angular: Vec3::ZERO });
    }
    let mut out = Recording::new();
    let mut add = |topic: &str, data: Data| {
        out.insert(topic, Track::new("", "", times.clone(), data).expect("sound"));
    };
    add("/ball/pose", Data::Poses(poses));
    add("/ball/twist", Data::Motions(motions));
    out
}

fn columns(scene: &Scene) -> [std::sync::Arc<headland_judge::Column>; 2] {
    [Six::Pose, Six::Velocity].map(|six| scene.column(Quantity::Object(0, six, 2)))
}

fn count_by_hand(scene: &Scene) -> usize {
    let [_, v] = columns(scene);
    let (mut count, mut is_rising) = (0, false);
    for v in &v.values {
        if is_rising {
            is_rising = *v >= -0.05;
        } else if *v > 0.75 {
            is_rising = true;
            count += 1;
        }
    }
    count
}

fn bounces_by_hand(scene: &Scene) -> bool {
    count_by_hand(scene) > 0
}

fn lower_by_hand(scene: &Scene) -> bool {
    let [z, v] = columns(scene);
    let (mut top, mut is_rising) = (z.values[0], false);
    for (z, v) in z.values.iter().zip(&v.values) {
        if !is_rising && *v > 0.75 {
            is_rising = true;
        } else if is_rising && *v < -0.05 {
            is_rising = false;
            if *z > top {
                return false;
            }
            top = *z;
        }
    }
    true
}

fn ratio_by_hand(scene: &Scene) -> bool {
    let [z, v] = columns(scene);
    let (mut top, mut bottom, mut is_rising) = (z.values[0], f64::NAN, false);
    let mut ratio = f64::NAN;
    for (z, v) in z.values.iter().zip(&v.values) {
        if !is_rising && *v > 0.5 {
            is_rising = true;
            bottom = *z;
        } else if is_rising && *v < 0.0 {
            is_rising = false;
            let now = (z - bottom) / (top - bottom);
            if (now - ratio).abs() > 0.05 {
                return false;
            }
            ratio = now;
            top = *z;
        }
    }
    true
}
