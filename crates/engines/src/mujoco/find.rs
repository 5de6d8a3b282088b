//! Where libmujoco is. No Python is started: a package is a folder beside its interpreter.
//!
//! `HEADLAND_MUJOCO` (a file or a folder) first and alone, then the package `mujoco` of the
//! interpreter in `HEADLAND_PYTHON`, of `VIRTUAL_ENV`, of `.venv`, of `python3`, then the
//! system's folders of libraries.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use headland_sim::Unusable;

/// The file, or why there is none.
pub(super) fn find() -> Result<PathBuf, Unusable> {
    if let Some(named) = std::env::var_os("HEADLAND_MUJOCO").filter(|name| !name.is_empty()) {
        return Ok(named_by_user(Path::new(&named))?);
    }
    let folders = python_folders().into_iter().chain(system_folders());
    folders.filter_map(|folder| newest_in(&folder)).next().ok_or_else(|| {
        let why = "neither the Python package `mujoco` nor a libmujoco of the system was found";
        Unusable::absent(why)
    })
}

fn named_by_user(named: &Path) -> Result<PathBuf, String> {
    if named.is_file() {
        return Ok(named.to_path_buf());
    }
    let inside = ["", "lib", "mujoco", "bin"].map(|folder| named.join(folder));
    inside.iter().find_map(|folder| newest_in(folder)).ok_or_else(|| {
        format!("HEADLAND_MUJOCO is `{}`, and there is no libmujoco", named.display())
    })
}

/// Folders that hold the Python package, of each interpreter a user may mean.
fn python_folders() -> Vec<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let prefix_of = |python: OsString| Path::new(&python).parent()?.parent().map(Path::to_path_buf);
    let on_path = var("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|dir| dir.join("python3")).find(|file| file.is_file())
    });
    let prefixes = [
        var("HEADLAND_PYTHON").and_then(prefix_of),
        var("VIRTUAL_ENV").map(PathBuf::from),
        Some(PathBuf::from(".venv")),
        on_path.map(PathBuf::into_os_string).and_then(prefix_of),
        var("HOME").map(|home| Path::new(&home).join(".local")),
        Some(PathBuf::from("/usr/local")),
    ];
    let mut out = Vec::new();
    for prefix in prefixes.into_iter().flatten() {
        // Windows has no version in the path.
        out.push(prefix.join("Lib").join("site-packages").join("mujoco"));
        for lib in ["lib", "lib64"] {
            for python in folders_in(&prefix.join(lib), "python3") {
                out.push(python.join("site-packages").join("mujoco"));
                out.push(python.join("dist-packages").join("mujoco"));
            }
        }
    }
    out
}

fn system_folders() -> Vec<PathBuf> {
    let listed = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"].into_iter().filter_map(std::env::var_os);
    let mut out: Vec<PathBuf> =
        listed.flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>()).collect();
    out.extend(["/usr/local/lib", "/usr/lib64", "/usr/lib"].map(PathBuf::from));
    out.extend(folders_in(Path::new("/usr/lib"), "").into_iter().filter(|folder| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().contains("-linux-"))
    }));
    out.push(PathBuf::from("/opt/homebrew/lib"));
    out
}

/// Folders whose name starts like that, in the order of their names.
fn folders_in(folder: &Path, start: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut out: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    out.sort();
    out
}

/// The libmujoco of a folder, the newest where there are several.
fn newest_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let named = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_string_lossy().into_owned();
        let numbers = version_in(&name)?;
        path.is_file().then_some((numbers, path))
    });
    named.max().map(|(_, path)| path)
}

/// The numbers in the name of a libmujoco; none where it is not one.
fn version_in(name: &str) -> Option<Vec<u32>> {
    if name.eq_ignore_ascii_case("mujoco.dll") {
        return Some(Vec::new());
    }
    let rest = name.strip_prefix("libmujoco.")?;
    let parts: Vec<&str> = rest.split('.').collect();
    let is_library = parts.iter().any(|part| ["so", "dylib"].contains(part));
    is_library.then(|| parts.iter().filter_map(|part| part.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_a_folder_is_taken_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = ["libmujoco.so.3.3.7", "libmujoco.so.3.17.0", "libmujoco_plugin.so", "x.txt"];
        for name in names {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        assert_eq!(newest_in(folder.path()), Some(folder.path().join("libmujoco.so.3.17.0")));
        assert_eq!(newest_in(&folder.path().join("none")), None);
    }

    #[test]
    fn a_name_given_by_hand_is_a_file_or_a_folder_around_it() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(named_by_user(folder.path()).unwrap_err().contains("HEADLAND_MUJOCO"));
        std::fs::create_dir(folder.path().join("lib")).expect("made");
        let file = folder.path().join("lib").join("libmujoco.3.2.0.dylib");
        std::fs::write(&file, "").expect("written");
        assert_eq!(named_by_user(folder.path()), Ok(file.clone()));
        assert_eq!(named_by_user(&file), Ok(file));
    }
}
