//! A scene as others draw it, and how long they take for a frame.

use std::path::Path;
use std::process::Command;

use headland_base::Vec3;
use headland_base::maths::{PI, atan};
use headland_sense::camera::View;
use headland_world::{Geometry, World};

/// A scene for the peers, seen from a place: pictures of 640 × 480.
pub fn as_json(world: &World, view: &View, sun: Vec3) -> serde_json::Value {
    let mut items = Vec::new();
    for placed in world.links() {
        for visual in &placed.link.visuals {
            let pose = placed.world_from_link * visual.link_from_shape;
            let size = match &visual.geometry {
                Geometry::Box { size } => size.to_array().to_vec(),
                Geometry::Sphere { radius } => vec![*radius],
                Geometry::Cylinder { radius, length } | Geometry::Capsule { radius, length } => {
                    vec![*radius, *length]
                }
                Geometry::Plane { size, .. } => size.to_array().to_vec(),
                other => panic!("nobody drew {} for the peers so far", other.kind()),
            };
            let mut rgba = visual.material.diffuse.unwrap_or([0.7, 0.7, 0.7, 1.0]);
            rgba[3] *= 1.0 - visual.transparency;
            let q = pose.rotation;
            items.push(serde_json::json!({
                "kind": visual.geometry.kind(), "size": size, "rgba": rgba,
                "pos": pose.translation.to_array(), "quat": [q.w, q.x, q.y, q.z],
            }));
        }
    }
    let turned = |axis: Vec3| view.world_from_optical.vector(axis);
    let eye = view.world_from_optical.translation;
    let fovy = 2.0 * atan(0.5 * view.pinhole.height as f64 / view.pinhole.focal.y) * 180.0 / PI;
    serde_json::json!({
        "items": items, "sun": sun.to_array(),
        "camera": {
            "pos": eye.to_array(), "at": (eye + turned(Vec3::Z)).to_array(), "fovy": fovy,
            "right": turned(Vec3::X).to_array(), "up": turned(-Vec3::Y).to_array(),
        },
    })
}

/// Name and seconds of a frame of these peers, `mujoco` and `pybullet`; nothing where there is no
/// interpreter.
pub fn frames_of_peers(
    scene: &serde_json::Value,
    n_frames: usize,
    peers: &[&str],
) -> Vec<(String, f64)> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        println!("no peers: HEADLAND_PYTHON is not set; benches/run sets it up");
        return Vec::new();
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scene.json");
    std::fs::write(&file, scene.to_string()).expect("written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/render_peers.py");
    let mut command = Command::new(python);
    command.arg("-B").arg(script).arg(&file).arg(n_frames.to_string()).arg(folder.path());
    command.args(peers);
    let output = command.output().expect("HEADLAND_PYTHON is an interpreter");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        println!("a peer broke: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let line = |line: &str| {
        let (name, secs) = line.split_once(' ')?;
        Some((name.replace('_', " "), secs.parse().ok()?))
    };
    printed.lines().filter_map(line).collect()
}
