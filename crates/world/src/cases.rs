//! Text cases for the readers: a file goes in, its findings and a summary of the world it
//! became are compared with what the case says. `UPDATE=1 cargo test` rewrites the
//! answers; read the diff before you keep it.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs};

use headland_base::{Findings, Source, Transform};

use crate::{Places, ReadOptions, World};

type Read = fn(&Arc<Source>, &Path, &ReadOptions, &mut Findings) -> Option<(World, Places)>;

/// How many random cases a test tries: `PROPTEST_CASES` where it is set.
pub fn n_random(usual: u32) -> u32 {
    env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Runs every case of a folder under `tests/`.
pub fn run(folder: &str, file_name: &str, read: Read) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    paths.sort();
    assert!(!paths.is_empty(), "no cases in {}", folder.display());
    let mut failed = Vec::new();
    for path in paths {
        let case = fs::read_to_string(&path).unwrap();
        let (input, wanted) = case.split_once("-- answer --\n").expect("an answer section");
        let (head, text) = input.split_once("-- file --\n").expect("a file section");
        let lenient = head.contains("(lenient)");
        let derive_inertia = head.contains("(derive)").then_some(1000.0);
        let options = ReadOptions { lenient, derive_inertia, ..ReadOptions::default() };
        let mut findings = Findings::new();
        let world = read(&Source::new(file_name, text), &folder, &options, &mut findings);
        let is_good = !findings.has_errors();
        let mut got: String = findings.into_vec().iter().map(|d| d.render(false)).collect();
        got = got.replace(&folder.display().to_string(), "CASES");
        if let Some((world, _)) = world.filter(|_| is_good) {
            got += &summary(&world);
        }
        if env::var_os("UPDATE").is_some() {
            fs::write(&path, format!("{input}-- answer --\n{got}")).unwrap();
        } else if got != wanted {
            failed.push(format!("{}\nwanted:\n{wanted}\ngot:\n{got}", path.display()));
        }
    }
    assert!(failed.is_empty(), "{} cases differ:\n{}", failed.len(), failed.join("\n"));
}

/// The world in a few lines: enough to see that it is the right one.
fn summary(world: &World) -> String {
    let mut out = format!("world gravity {} step {}\n", world.gravity, world.physics.step);
    for model in &world.models {
        let still = if model.is_static { " static" } else { "" };
        _ = writeln!(out, "model {}{still} at {}", model.name, shown(&model.parent_from_model));
        for link in &model.links {
            let (i, mass) = (&link.inertial, link.inertial.mass);
            let diagonal = [i.inertia.x_axis.x, i.inertia.y_axis.y, i.inertia.z_axis.z];
            let diagonal = diagonal.map(|x| format!("{x:.4}")).join(" ");
            _ = writeln!(out, "  link {} at {}", link.name, shown(&link.model_from_link));
            let at = shown(&i.link_from_inertial);
            _ = writeln!(out, "    mass {mass:.4} inertia {diagonal} at {at} {:?}", i.origin);
            for shape in &link.collisions {
                let (mu, at) = (shape.surface.mu(), shown(&shape.link_from_shape));
                _ = writeln!(
                    out,
                    "    touches {} {} mu {mu} at {at}",
                    shape.name,
                    shape.geometry.kind()
                );
            }
            for shape in &link.visuals {
                let at = shown(&shape.link_from_shape);
                _ = writeln!(out, "    seen {} {} at {at}", shape.name, shape.geometry.kind());
            }
        }
        for joint in &model.joints {
            let parent = joint.parent.as_deref().unwrap_or("(world)");
            let kind = joint.kind.word();
            let at = shown(&joint.child_from_joint);
            _ = writeln!(out, "  joint {} {kind} {parent} -> {} at {at}", joint.name, joint.child);
            for axis in joint.kind.axes() {
                let d = axis.direction;
                _ = write!(
                    out,
                    "    axis {:.4} {:.4} {:.4} in {:.4}..{:.4}",
                    d.x, d.y, d.z, axis.lower, axis.upper
                );
                _ = write!(out, " damping {} friction {}", axis.damping, axis.friction);
                if let Some(mimic) = &axis.mimic {
                    _ = write!(
                        out,
                        " follows {} x{} +{}",
                        mimic.leader, mimic.multiplier, mimic.offset
                    );
                }
                out.push('\n');
            }
        }
        for frame in &model.frames {
            let to = frame.attached_to.as_deref().unwrap_or("?");
            _ = writeln!(
                out,
                "  frame {} on {to} at {}",
                frame.name,
                shown(&frame.scope_from_frame)
            );
        }
        for motor in &model.actuators {
            _ = writeln!(
                out,
                "  motor {} {:?} on {} x{}",
                motor.name, motor.kind, motor.joint, motor.gear
            );
        }
        for (a, b) in &model.contact_excludes {
            _ = writeln!(out, "  {a} and {b} never touch");
        }
        for opaque in &model.opaque {
            _ = writeln!(out, "  kept {} {}", opaque.format, opaque.kind);
        }
    }
    out
}

fn shown(transform: &Transform) -> String {
    let numbers = [transform.translation, transform.rpy()].map(|v| v.to_array()).concat();
    // Adding zero turns -0 into 0.
    let round = |x: f64| (x * 1e4).round() / 1e4 + 0.0;
    numbers.iter().map(|x| round(*x).to_string()).collect::<Vec<_>>().join(" ")
}

/// The file of a text case with some characters replaced, as random tests break it.
pub(crate) fn broken(case: &str, edits: Vec<(proptest::sample::Index, String)>) -> String {
    let file = case.split("-- file --\n").nth(1).expect("a case has a file");
    let file = file.split("-- answer --").next().expect("and an answer");
    let mut text: Vec<char> = file.chars().collect();
    for (at, with) in edits {
        let at = at.index(text.len());
        text.splice(at..(at + 2).min(text.len()), with.chars());
    }
    text.into_iter().collect()
}
