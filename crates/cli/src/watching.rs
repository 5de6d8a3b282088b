//! Files that may change while somebody works on them.
//!
//! A file has changed when its time or size has, and then its content too: an editor that
//! saves the same text, or a touch, is no change.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How often files are looked at.
pub const PERIOD: Duration = Duration::from_millis(20);

/// How long a file must stay as it is before it counts as written: editors empty a file
/// before they fill it.
pub const SETTLING: Duration = Duration::from_millis(10);

/// What is known of a file.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    /// Times and sizes of the file, or of those in the folder.
    stamps: Vec<(PathBuf, Option<SystemTime>, u64)>,
    /// Of the content; `None` where it cannot be read.
    hash: Option<u64>,
}

/// Files and what they were when last looked at.
#[derive(Debug, Default)]
pub struct Watched {
    known: BTreeMap<PathBuf, Known>,
}

impl Watched {
    /// Looks at a file for the first time, or again. Whether it has changed since.
    pub fn has_changed(&mut self, path: &Path) -> bool {
        let stamps = stamps(path);
        let before = self.known.get(path);
        if before.is_some_and(|known| known.stamps == stamps) {
            return false;
        }
        let hash = hash(&stamps);
        let has_changed = before.is_some_and(|known| known.hash != hash);
        self.known.insert(path.to_path_buf(), Known { stamps, hash });
        has_changed
    }
}

fn stamps(path: &Path) -> Vec<(PathBuf, Option<SystemTime>, u64)> {
    let mut paths = vec![path.to_path_buf()];
    if path.is_dir() {
        let inside = std::fs::read_dir(path).into_iter().flatten().flatten();
        paths = inside.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        paths.sort();
    }
    let stamp = |path: PathBuf| {
        let about = path.metadata().ok();
        let (time, len) = about.map_or((None, 0), |about| (about.modified().ok(), about.len()));
        (path, time, len)
    };
    paths.into_iter().map(stamp).collect()
}

fn hash(stamps: &[(PathBuf, Option<SystemTime>, u64)]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let mut buffer = vec![0; 1 << 16];
    for (path, _, _) in stamps {
        // A pipe or a device has no end; whoever opens it for good says so.
        if !path.is_file() {
            return None;
        }
        let mut file = std::fs::File::open(path).ok()?;
        loop {
            let n = file.read(&mut buffer).ok()?;
            if n == 0 {
                break;
            }
            hasher.write(&buffer[..n]);
        }
    }
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_saved_again_is_no_change() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lrp");
        let mut watched = Watched::default();
        std::fs::write(&path, "one").unwrap();
        assert!(!watched.has_changed(&path), "the first look");
        std::fs::write(&path, "one, longer").unwrap();
        assert!(watched.has_changed(&path));
        assert!(!watched.has_changed(&path));
        let later = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(!watched.has_changed(&path), "only touched");
        std::fs::remove_file(&path).unwrap();
        assert!(watched.has_changed(&path), "gone");
        std::fs::write(&path, "one, longer").unwrap();
        assert!(watched.has_changed(&path), "back");
    }
}
