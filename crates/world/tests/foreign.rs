//! Writers and readers we did not write decide whether a mesh is read right: scenes of nodes
//! with transforms, as COLLADA and glTF, are read here as the library that wrote them does.
//!
//! They are Python packages (`tests/foreign/requirements.txt`). Set `HEADLAND_PYTHON` to an
//! interpreter that has them; without it this test says that it was skipped, and with
//! `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use headland_base::Vec3;
use headland_world::mesh;

/// Files hold numbers of 32 bits.
const SLACK: f64 = 1e-5;

/// Runs the script, which writes into `folder`; `None` where there is no interpreter.
fn write_meshes(folder: &Path) -> Option<String> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: write_meshes.py needs foreign writers; ./test installs them");
        return None;
    };
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign");
    let output = Command::new(python)
        .arg("-B") // leaves no compiled files beside the scripts
        .arg(scripts.join("write_meshes.py"))
        .arg(folder)
        .output()
        .expect("HEADLAND_PYTHON is an interpreter");
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "write_meshes.py failed:\n{faults}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn scenes_are_read_as_their_writers_read_them() {
    let folder = tempfile::tempdir().unwrap();
    let Some(printed) = write_meshes(folder.path()) else { return };
    assert_eq!(printed.lines().count(), 12, "{printed}");
    for line in printed.lines() {
        let (name, figures) = line.split_once(' ').unwrap();
        let wanted: Vec<f64> = figures.split(' ').map(|word| word.parse().unwrap()).collect();
        let read = mesh::load(&folder.path().join(name), None, Vec3::ONE).unwrap();
        let (mut low, mut high, mut volume) = (Vec3::INFINITY, Vec3::NEG_INFINITY, 0.0);
        for triangle in read.triangles() {
            let [a, b, c] = triangle.map(|i| read.vertices()[i as usize]);
            (low, high) = (low.min(a).min(b).min(c), high.max(a).max(b).max(c));
            volume += a.dot(b.cross(c)) / 6.0;
        }
        assert_eq!(read.triangles().len() as f64, wanted[0], "triangles of {name}");
        let found = [low.x, low.y, low.z, high.x, high.y, high.z, volume];
        let size = wanted[1..7].iter().fold(0.0f64, |most, x| most.max(x.abs()));
        for (k, (found, wanted)) in found.iter().zip(&wanted[1..]).enumerate() {
            let scale = if k == 6 { size * size * size } else { size };
            assert!((found - wanted).abs() <= SLACK * scale, "{name}: {found} for {wanted}");
        }
    }
}
