//! Finding the files a world names: `model://`, `package://`, `file://`, relative paths.
//!
//! No ROS and no Gazebo install is needed: a list of folders is searched, as
//! `HEADLAND_RESOURCE_PATH` gives it.

use std::path::{Path, PathBuf};

use headland_base::{Diagnostic, names};

/// Where to look for what a world names.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    search: Vec<PathBuf>,
}

impl Resources {
    /// Searches these folders, in order.
    pub fn new(search: Vec<PathBuf>) -> Resources {
        Resources { search }
    }

    /// The file or folder `uri` means, seen from a file in `base_dir`.
    ///
    /// `model://name/rest` and `package://name/rest` look for `name/rest` in each search
    /// folder, in `base_dir` and in the folders around it, because a model's own folder
    /// usually stands beside the others.
    pub fn resolve(&self, uri: &str, base_dir: &Path) -> Result<PathBuf, Diagnostic> {
        let uri = uri.trim();
        if uri.is_empty() {
            return Err(Diagnostic::error("missing-file", "the file name is empty"));
        }
        let (candidates, help): (Vec<PathBuf>, String) = match uri.split_once("://") {
            Some(("file", path)) => {
                let help = "`file://` is followed by a path on this machine, from its root \
                            (`file:///…`) or from the folder of the file that names it";
                (vec![base_dir.join(path)], help.to_string())
            }
            Some((scheme @ ("model" | "package"), path)) => {
                let path = path.trim_start_matches('/'); // some write `model:///name`
                let around = base_dir.ancestors().map(Path::to_path_buf);
                let folders = self.search.iter().cloned().chain(around);
                let name = path.split('/').next().unwrap_or_default();
                let help = format!(
                    "put the folder in which `{name}` lies on HEADLAND_RESOURCE_PATH (folders \
                     separated by `:`); `{scheme}://` is also looked for around the file that \
                     names it"
                );
                (folders.map(|dir| dir.join(path)).collect(), help)
            }
            Some((scheme, _)) => {
                return Err(Diagnostic::error("remote-file", format!("cannot fetch `{uri}`"))
                    .note(format!("`{scheme}://` is not a file on this machine"))
                    .help("download it, put its folder on HEADLAND_RESOURCE_PATH, and name it `model://…`"));
            }
            None if Path::new(uri).is_absolute() => {
                let help = "a path from the root is taken as it is; one from the folder of the \
                            file that names it can move with that file";
                (vec![PathBuf::from(uri)], help.to_string())
            }
            None => {
                let folders = std::iter::once(base_dir.to_path_buf()).chain(self.search.clone());
                let help = "a plain path starts in the folder of the file that names it, or in \
                            one on HEADLAND_RESOURCE_PATH";
                (folders.map(|dir| dir.join(uri)).collect(), help.to_string())
            }
        };
        let found = candidates.iter().find(|path| path.exists()).cloned();
        found.ok_or_else(|| not_found(uri, &candidates, &help))
    }

    /// The name under which a `model://` or `package://` file that was found is found again
    /// from any folder: its own where a search folder holds it, its whole path where it was
    /// found around the file that names it. Other names stay as they are.
    pub fn uri_anywhere(&self, uri: &str, found: &Path) -> String {
        if !uri.starts_with("model://") && !uri.starts_with("package://") {
            return uri.to_string();
        }
        let whole = |path: &Path| path.canonicalize().unwrap_or(path.to_path_buf());
        let path = uri.split_once("://").map_or("", |(_, path)| path.trim_start_matches('/'));
        let first = self.search.iter().map(|dir| dir.join(path)).find(|path| path.exists());
        match first {
            Some(first) if whole(&first) == whole(found) => uri.to_string(),
            _ => whole(found).display().to_string(),
        }
    }
}

/// How many of the places where something was looked for are named.
const MOST_NAMED: usize = 4;

/// That a file is in none of the places where it was looked for.
pub(crate) fn not_found(name: &str, looked_at: &[PathBuf], help: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::error("missing-file", format!("cannot find `{name}`"));
    for path in looked_at.iter().take(MOST_NAMED) {
        diagnostic = diagnostic.note(format!("looked at {}", path.display()));
    }
    if looked_at.len() > MOST_NAMED {
        let message = format!("and in {} more folders around", looked_at.len() - MOST_NAMED);
        diagnostic = diagnostic.note(message);
    }
    diagnostic.help(help)
}

/// How many names of a folder are looked through for one that is nearly right.
const MOST_LISTED: usize = 10_000;

/// What to do about a path that somebody typed and that is not there.
pub(crate) fn help_for_typed(path: &Path) -> Option<String> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Some(format!("there is no folder {}", folder.display()));
    }
    let names = std::fs::read_dir(folder).ok()?.take(MOST_LISTED).flatten();
    let mut names: Vec<String> =
        names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort(); // a folder lists in any order
    let wrong = path.file_name()?.to_str()?;
    let near = names::nearest(wrong, names.iter().map(String::as_str));
    Some(match near {
        Some(near) => format!("did you mean `{}`?", path.with_file_name(near).display()),
        None if path.is_absolute() => "it is not in that folder".to_string(),
        None => {
            let here = std::env::current_dir().unwrap_or_default();
            format!("a path starts in the folder the command is run in, here {}", here.display())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_where_it_was_looked_for_and_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let (base, shelf) = (folder.path().join("a/b"), folder.path().join("shelf"));
        let resources = Resources::new(vec![shelf.clone()]);
        let said = |uri: &str| {
            let found = resources.resolve(uri, &base).expect_err("nothing is there");
            let looked: Vec<String> = found
                .notes
                .iter()
                .filter_map(|n| n.strip_prefix("looked at "))
                .map(str::to_string)
                .collect();
            (looked, found.help.expect("what to do"))
        };
        let shown = |path: PathBuf| path.display().to_string();
        let (looked, help) = said("part.stl");
        assert_eq!(looked, [shown(base.join("part.stl")), shown(shelf.join("part.stl"))]);
        assert!(help.contains("folder of the file that names it"), "{help}");
        let (looked, help) = said("/no/such/part.stl");
        assert_eq!(looked, ["/no/such/part.stl"]);
        assert!(!help.contains("HEADLAND_RESOURCE_PATH"), "{help}");
        let (looked, help) = said("file:///no/such/part.stl");
        assert_eq!(looked, ["/no/such/part.stl"]);
        assert!(help.contains("file:///"), "{help}");
        let (looked, help) = said("file://part.stl");
        assert_eq!(looked, [shown(base.join("part.stl"))]);
        assert!(help.contains("file:///"), "{help}");
        let (looked, help) = said("model://arm/meshes/part.stl");
        let tail = "arm/meshes/part.stl";
        assert_eq!(looked[..2], [shown(shelf.join(tail)), shown(base.join(tail))]);
        assert!(help.contains("in which `arm` lies on HEADLAND_RESOURCE_PATH"), "{help}");
    }

    #[test]
    fn a_path_that_was_typed_wrong_is_helped() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("ball.sdf"), "").expect("a file");
        let help = |name: &str| help_for_typed(&folder.path().join(name)).expect("some help");
        let near = format!("did you mean `{}`?", folder.path().join("ball.sdf").display());
        assert_eq!(help("bal.sdf"), near);
        assert_eq!(help("wholly_other.sdf"), "it is not in that folder");
        assert!(help("none/ball.sdf").starts_with("there is no folder "));
        let here = help_for_typed(Path::new("no_such_world.sdf")).expect("some help");
        assert!(here.contains("the folder the command is run in, here /"), "{here}");
    }
}
