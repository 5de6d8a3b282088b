//! Finding the files a world names: `model://`, `package://`, `file://`, relative paths.
//!
//! No ROS and no Gazebo install is needed: a list of folders is searched, as
//! `HEADLAND_RESOURCE_PATH` gives it.

use std::path::{Path, PathBuf};

use headland_base::Diagnostic;

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
        let candidates: Vec<PathBuf> = match uri.split_once("://") {
            Some(("file", path)) => vec![base_dir.join(path)],
            Some(("model" | "package", path)) => {
                let path = path.trim_start_matches('/'); // some write `model:///name`
                let around = base_dir.ancestors().map(Path::to_path_buf);
                self.search.iter().cloned().chain(around).map(|dir| dir.join(path)).collect()
            }
            Some((scheme, _)) => {
                return Err(Diagnostic::error("remote-file", format!("cannot fetch `{uri}`"))
                    .note(format!("`{scheme}://` is not a file on this machine"))
                    .help("download it, put its folder on HEADLAND_RESOURCE_PATH, and name it `model://…`"));
            }
            None => std::iter::once(base_dir.to_path_buf())
                .chain(self.search.iter().cloned())
                .map(|dir| dir.join(uri))
                .collect(),
        };
        candidates.iter().find(|path| path.exists()).cloned().ok_or_else(|| {
            let mut diagnostic = Diagnostic::error("missing-file", format!("cannot find `{uri}`"));
            for path in candidates.iter().take(4) {
                diagnostic = diagnostic.note(format!("looked at {}", path.display()));
            }
            diagnostic.help(
                "put the folder that holds it on HEADLAND_RESOURCE_PATH (folders separated by `:`)",
            )
        })
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
