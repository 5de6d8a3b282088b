//! What a world names is opened only where it is a regular file: a pipe would be waited for,
//! a device may never end.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use headland_world::{ReadOptions, read};

/// The code and the first line and column of every error and warning.
fn found(dir: &Path, name: &str, text: &str) -> Vec<(&'static str, String)> {
    std::fs::write(dir.join(name), text).expect("a file");
    let findings = match read(&dir.join(name), &ReadOptions::default()) {
        Ok(read) => read.findings,
        Err(findings) => findings,
    };
    findings.into_iter().map(|finding| (finding.code, finding.message)).collect()
}

fn folder_with_pipe() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["pipe.stl", "pipe.png", "pipe.sdf", "pipe.xml", "pipe"] {
        let made = Command::new("mkfifo").arg(folder.path().join(name)).status();
        assert!(made.expect("mkfifo is everywhere").success());
    }
    folder
}

#[test]
fn pipes_and_devices_are_refused_wherever_they_are_named() {
    let folder = folder_with_pipe();
    let sdf = |inside: &str| format!("<sdf version='1.11'><world name='w'>{inside}</world></sdf>");
    let shape = |shape: &str| {
        sdf(&format!(
            "<model name='m'><static>1</static><link name='l'><collision name='c'>\
             <geometry>{shape}</geometry></collision></link></model>"
        ))
    };
    let mjcf = |inside: &str| format!("<mujoco>{inside}</mujoco>");
    for place in ["", "/dev/zero"] {
        let or = |pipe: &'static str| if place.is_empty() { pipe } else { place };
        let cases = [
            ("mesh.sdf", shape(&format!("<mesh><uri>{}</uri></mesh>", or("pipe.stl")))),
            ("map.sdf", shape(&format!("<heightmap><uri>{}</uri></heightmap>", or("pipe.png")))),
            ("include.sdf", sdf(&format!("<include><uri>{}</uri></include>", or("pipe.sdf")))),
            (
                "mesh.urdf",
                format!(
                    "<robot name='r'><link name='l'><collision><geometry><mesh filename='{}'/>\
                     </geometry></collision></link></robot>",
                    or("pipe.stl")
                ),
            ),
            ("include.xml", mjcf(&format!("<include file='{}'/>", or("pipe.xml")))),
            (
                "mesh.xml",
                mjcf(&format!(
                    "<asset><mesh name='m' file='{}'/></asset><worldbody>\
                     <geom type='mesh' mesh='m'/></worldbody>",
                    or("pipe.stl")
                )),
            ),
            (
                "hfield.xml",
                mjcf(&format!(
                    "<asset><hfield name='h' file='{}' size='1 1 1 1'/></asset><worldbody>\
                     <geom type='hfield' hfield='h'/></worldbody>",
                    or("pipe.png")
                )),
            ),
        ];
        for (name, text) in cases {
            let found = found(folder.path(), name, &text);
            let refused: Vec<_> = found.iter().filter(|(code, _)| *code == "not-a-file").collect();
            assert_eq!(refused.len(), 1, "{name} {place}: {found:?}");
            assert!(refused[0].1.contains(or("pipe")), "{found:?}");
        }
    }
}

/// A buffer of a glTF is a file named by a file named by a world.
#[test]
fn a_buffer_of_a_mesh_is_no_pipe() {
    let folder = folder_with_pipe();
    let gltf = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"pipe","byteLength":4}]}"#;
    std::fs::write(folder.path().join("a.gltf"), gltf).expect("a file");
    let scale = headland_base::Vec3::ONE;
    let refused = headland_world::mesh::load(&folder.path().join("a.gltf"), None, scale);
    assert_eq!(refused.expect_err("a pipe").code, "not-a-file");
}
