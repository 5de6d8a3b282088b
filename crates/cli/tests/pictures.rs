//! The pictures of the book are those the program draws, and bad wishes are answered in words.
//!
//! `UPDATE=1 cargo test -p headland --test pictures` draws them anew; look at them before you
//! keep them.

mod common;

use std::path::Path;

use common::{ROOT, expect, text};
use headland_sense::image::Image;

/// What the page on pictures says, one command after the other, and the picture it makes.
const PAGE: &[(&str, Option<&str>)] = &[
    ("render worlds/soccer-3v3.sdf -o soccer.png", Some("soccer.png")),
    ("run worlds/penalty_kick.sdf --engine native --duration 10 --record-rate 50 --quiet", None),
    (
        "render penalty_kick.mcap --strip 4 --start 4 --size 360x270 --draw trajectories -o kick.png",
        Some("kick.png"),
    ),
    (
        "render worlds/soccer-3v3.sdf --camera blue_striker::chest_camera -o seen.png",
        Some("seen.png"),
    ),
    (
        "run worlds/gripper.sdf --command worlds/gripper.csv --duration 2 --record-rate 50 --quiet",
        None,
    ),
    (
        "render gripper.mcap --draw contacts,forces,com --size 640x480 --eye 0.4,-0.75,0.45 --at 0,0,0.28 -o held.png",
        Some("held.png"),
    ),
];

/// The same of the page on sensors with rays.
const RAYS: &[(&str, Option<&str>)] = &[
    ("run worlds/beams.sdf --duration 1 --record-rate 50 --quiet", None),
    (
        "render beams.mcap --draw beams --at-time 0.5 --eye -3.2,-4.6,3.2 --at -0.1,-0.3,0.35 -o beams.png",
        Some("beams.png"),
    ),
];

/// The same of the page on sensors.
const SENSORS: &[(&str, Option<&str>)] = &[
    ("run worlds/sensors.sdf --duration 2 --quiet", None),
    (
        "render sensors.mcap --at-time 0.9 --draw frames,trajectories,forces --size 720x400 -o sensors.png",
        Some("sensors.png"),
    ),
];

/// The same of the page on cameras.
const CAMERAS: &[(&str, Option<&str>)] = &[
    ("render worlds/cameras.sdf --camera eye -o eye.png", Some("eye.png")),
    ("render worlds/cameras.sdf --camera lens -o lens.png", Some("lens.png")),
    ("render worlds/cameras.sdf --camera fisheye -o fisheye.png", Some("fisheye.png")),
    ("render worlds/cameras.sdf --camera ranger -o ranger.png", Some("ranger.png")),
    ("render worlds/cameras.sdf --camera classes -o classes.png", Some("classes.png")),
    ("render worlds/cameras.sdf --camera stereo -o stereo.png", Some("stereo.png")),
];

/// The same of the page on the player.
const PLAYER: &[(&str, Option<&str>)] = &[
    (
        "run worlds/slalom.sdf --duration 45 --record-rate 50 --test worlds/tests/passes_poles.lrp --quiet",
        None,
    ),
    ("render slalom.mcap --draw trajectories --size 720x405 -o slalom.png", Some("slalom.png")),
    (
        "run worlds/soccer-3v3.sdf --duration 12 --record-rate 50 --test worlds/tests/plays_fair.lrp worlds/tests/both_kick.lrp --quiet",
        None,
    ),
    (
        "render soccer-3v3.mcap --strip 4 --start 6 --end 12 --size 480x300 --draw trajectories --eye 0.4,-3.6,2.6 --at 0.4,0.3,0.2 -o game.png",
        Some("game.png"),
    ),
];

fn image(path: &Path) -> Image {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Image::from_png(&bytes, usize::MAX).unwrap_or_else(|| panic!("{} is no PNG", path.display()))
}

/// A folder with what ships in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for shipped in ["worlds", "robots"] {
        let target = folder.path().join(shipped);
        std::os::unix::fs::symlink(format!("{ROOT}/{shipped}"), target).expect("linked");
    }
    folder
}

#[test]
fn the_books_pictures_are_drawn_by_its_commands() {
    compare("render.md", PAGE);
}

#[test]
fn the_picture_of_beams_is_drawn_by_its_commands() {
    compare("ray-sensors.md", RAYS);
}

#[test]
fn the_picture_of_sensors_is_drawn_by_its_commands() {
    compare("sensors.md", SENSORS);
}

#[test]
fn the_pictures_of_cameras_are_drawn_by_its_commands() {
    compare("cameras.md", CAMERAS);
}

#[test]
fn the_pictures_of_players_are_drawn_by_their_commands() {
    compare("player.md", PLAYER);
}

fn compare(page: &str, commands: &[(&str, Option<&str>)]) {
    let folder = folder();
    let page = std::fs::read_to_string(format!("{ROOT}/docs/src/{page}")).expect("the page");
    let mut different = Vec::new();
    for (command, picture) in commands {
        assert!(page.contains(&format!("$ headland {command}\n")), "not in the page: {command}");
        let words: Vec<&str> = command.split(' ').collect();
        expect(folder.path(), &words, 0);
        let Some(picture) = picture else { continue };
        let drawn = folder.path().join(picture);
        let kept = Path::new(ROOT).join("docs/src/pictures").join(picture);
        assert!(page.contains(&format!("](pictures/{picture})")), "{picture} is not shown");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::copy(&drawn, &kept).expect("kept");
        } else if image(&drawn) != image(&kept) {
            different.push(*picture);
        }
    }
    assert!(different.is_empty(), "not as in docs/src/pictures: {different:?}");
}

/// One strip, on one thread and on three; then the same moments as a sequence.
#[test]
fn strips_and_sequences_are_the_same_on_any_number_of_threads() {
    let folder = folder();
    let dir = folder.path();
    expect(dir, &["run", "worlds/stack.sdf", "-d", "0.1", "-o", "s.mcap", "-q"], 0);
    let strip = |n_threads: &str, output: &str| {
        let words = ["render", "s.mcap", "--strip", "3", "--size", "160x120", "--draw"];
        let more = ["com,frames,collisions,contacts,forces", "--threads", n_threads, "-o", output];
        expect(dir, &[&words[..], &more[..]].concat(), 0);
        std::fs::read(dir.join(output)).expect("written")
    };
    assert!(strip("1", "one.png") == strip("3", "three.png"));
    assert_eq!((image(&dir.join("one.png")).width, image(&dir.join("one.png")).height), (488, 120));
    let words = ["--json", "render", "s.mcap", "--every", "0.05", "--size", "160x120"];
    let said = expect(dir, &[&words[..], &["--renderer", "flat", "-o", "q.png"]].concat(), 0);
    let json: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(json["files"], serde_json::json!(["q_0000.png", "q_0001.png", "q_0002.png"]));
    assert_eq!(json["times"], serde_json::json!([0.0, 0.05, 0.1]));
    assert!(dir.join("q_0002.png").exists() && !dir.join("q.png").exists());
}

/// A log without a world is drawn in the world it is given.
#[test]
fn a_log_of_somebody_else_is_drawn_in_a_world() {
    let folder = folder();
    let dir = folder.path();
    let keys = ["x", "y", "z", "roll", "pitch", "yaw"].map(|key| format!(",ball/pose/{key}"));
    let table = format!("time{}\n0,0,0,3,0,0,0\n1,2,0,1,0,0,0\n", keys.concat());
    std::fs::write(dir.join("log.csv"), table).expect("written");
    let refused = expect(dir, &["render", "log.csv"], 2);
    assert!(text(&refused.stderr).contains("error[no-world]"));
    expect(dir, &["render", "log.csv", "--world", "worlds/ball.sdf", "--at-time", "0.5"], 0);
    assert!(dir.join("log.png").exists());
    let refused = expect(dir, &["render", "log.csv", "--world", "worlds/slope.sdf"], 2);
    assert!(text(&refused.stderr).contains("error[no-poses]"));
}

/// A disk that is full leaves the picture that was there, and half of a new one is not left.
#[test]
fn a_picture_is_replaced_whole_or_not_at_all() {
    let folder = folder();
    let dir = folder.path();
    let draw = ["render", "worlds/cameras.sdf", "--camera", "eye", "-o", "p.png"];
    std::fs::write(dir.join("p.png"), b"the old one").expect("written");
    let program = common::headland(dir).get_program().to_os_string();
    let mut little = std::process::Command::new("sh");
    // Blocks of 512 or 1024 bytes: less than the picture, which has 57 kB.
    little.current_dir(dir).args(["-c", "ulimit -f 8; exec \"$0\" \"$@\""]).arg(program);
    let run = |command: &mut std::process::Command| {
        let output = command.output().expect("runs");
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        let said = text(&output.stderr);
        assert!(
            said.contains("error[cannot-write]: cannot write `p.png`: File too large"),
            "{said}"
        );
        assert!(!said.contains(".p.png"), "{said}");
    };
    run(little.args(draw));
    assert_eq!(std::fs::read(dir.join("p.png")).expect("still there"), b"the old one");
    std::fs::remove_file(dir.join("p.png")).expect("removed");
    run(&mut little);
    let left: Vec<_> = std::fs::read_dir(dir).expect("the folder").collect();
    assert_eq!(left.len(), 2, "what ships, and nothing else: {left:?}");
    std::fs::write(dir.join("p.png"), b"the old one").expect("written");
    expect(dir, &draw, 0);
    assert_eq!(image(&dir.join("p.png")).width, 320);
}

/// Cameras go by the names that `check` lists, by the end of a name, and by that of a pair.
#[test]
fn cameras_are_found_by_every_name_they_have() {
    let folder = folder();
    let dir = folder.path();
    let draw = |name: &str| {
        expect(dir, &["render", "worlds/cameras.sdf", "--camera", name, "-o", "p.png"], 0);
        image(&dir.join("p.png"))
    };
    let pair = draw("stereo");
    for same in ["/rig/stereo", "rig::stereo", "rig::head::stereo"] {
        assert!(draw(same) == pair, "{same}");
    }
    assert_eq!((draw("left").width, draw("/rig/stereo/right").width, pair.width), (160, 160, 324));
    let refused = expect(dir, &["render", "worlds/cameras.sdf", "--camera", "ey"], 2);
    assert!(text(&refused.stderr).contains("did you mean `eye`?"), "{}", text(&refused.stderr));
    let refused = text(&expect(dir, &["render", "."], 2).stderr);
    assert!(!refused.contains("its own source"), "{refused}");
    let over = ["render", "worlds/cameras.sdf", "--camera", "ranger", "--draw", "com"];
    let told = text(&expect(dir, &over, 0).stderr);
    assert!(told.contains("warning[marks-unseen]"), "{told}");
}

#[test]
fn bad_wishes_are_answered_in_words() {
    let folder = folder();
    let dir = folder.path();
    expect(dir, &["run", "worlds/ball.sdf", "-d", "0.1", "-o", "ball.mcap", "-q"], 0);
    let cases: &[(&[&str], &str)] = &[
        (&["worlds/ball.sdf", "--at-time", "1"], "error[needs-recording]"),
        (&["worlds/ball.sdf", "--strip", "3"], "error[needs-recording]"),
        (&["worlds/ball.sdf", "--world", "worlds/ball.sdf"], "error[two-worlds]"),
        (&["worlds/ball.sdf", "--camera", "eye"], "there is no camera in this world"),
        (&["worlds/soccer-3v3.sdf", "--camera", "head_camera"], "error[ambiguous-camera]"),
        (&["worlds/penalty_kick.sdf", "--camera", "head_camra"], "did you mean `head_camera`?"),
        (&["ball.mcap", "--at-time", "5"], "error[no-such-moment]"),
        (&["ball.mcap", "--strip", "3", "--start", "0.08", "--end", "0.02"], "is after"),
        (&["ball.mcap", "--every", "1e-9"], "error[bad-duration]"),
        (&["ball.mcap", "--strip", "100", "--size", "4000x4000"], "error[too-large]"),
        (&["ball.mcap", "--size", "0x5"], "from 1x1"),
        (&["ball.mcap", "--eye", "1,2"], "three numbers"),
        (&["ball.mcap", "--draw", "ghosts"], "ghosts"),
        (&["ball.mcap", "--fov", "180"], "170"),
        (&["ball.mcap", "-o", "-"], "error[needs-a-file]"),
        (&["ball.mcap", "-o", "ball.mcap"], "error[same-file]"),
        (&["nowhere.mcap"], "nowhere.mcap"),
    ];
    for (words, wanted) in cases {
        let refused = expect(dir, &[&["render"][..], words].concat(), 2);
        let said = text(&refused.stderr);
        assert!(said.contains(wanted), "{words:?}: {said}");
    }
    let broken = expect(dir, &["render", "ball.mcap", "-o", "no/such/folder/x.png"], 2);
    assert!(text(&broken.stderr).contains("error[not-created]"));
}
