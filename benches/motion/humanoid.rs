//! The humanoid everybody has: a capsule man of 27 degrees of freedom, out of a package.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use headland_base::Source;
use headland_sim::Model;
use headland_world::{ReadOptions, read_text};

/// Its MJCF, with the free joint the file leaves out.
pub fn text() -> Result<String, String> {
    let file = package("pybullet_data")?.join("mjcf/humanoid.xml");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let torso = "<body name='torso' pos='0 0 1.4'>";
    if !text.contains(torso) {
        return Err(format!("{}: it is not the humanoid it was", file.display()));
    }
    Ok(text.replace(torso, &format!("{torso}<freejoint name='root'/>")))
}

/// Where a Python package is.
fn package(name: &str) -> Result<PathBuf, String> {
    let python = std::env::var_os("HEADLAND_PYTHON")
        .ok_or("HEADLAND_PYTHON is not set; `./test --install` sets an interpreter up")?;
    let find = format!("import importlib.util as u; print(u.find_spec('{name}').origin)");
    let output = Command::new(python).args(["-c", &find]).output().map_err(|e| e.to_string())?;
    let origin = String::from_utf8_lossy(&output.stdout).trim().to_string();
    match Path::new(&origin).parent() {
        Some(folder) if output.status.success() => Ok(folder.to_path_buf()),
        _ => Err(format!("the interpreter has no `{name}`; `./test --install` installs it")),
    }
}

/// A world read from a text.
pub fn model_of(text: &str) -> Model {
    let source = Source::new("humanoid.xml", text);
    let read = read_text(source, Path::new("."), &ReadOptions::default())
        .map_err(|found| found.iter().map(|one| one.render(false)).collect::<String>())
        .expect("a sound world");
    Model::compile(&Arc::new(read.world)).expect("compiles")
}
