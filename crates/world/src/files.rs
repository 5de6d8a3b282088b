//! Opening what a world names: a path goes in, the bytes of a regular file come out.
//!
//! A pipe would be waited for and a device may never end, so neither is opened; and no file
//! is read past a bound. Every reader of a file that a world, a robot or a mesh names comes
//! through here.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use headland_base::Diagnostic;

/// Why there is nothing to read.
pub(crate) enum Unread {
    /// A folder, a pipe or a device, said in words.
    Irregular(Diagnostic),
    /// Not there, or not to be opened.
    Failed(io::Error),
    /// It has so many bytes, more than are read.
    TooLarge(u64),
}

/// A regular file of at most so many bytes, opened.
pub(crate) fn open(path: &Path, most_bytes: u64) -> Result<File, Unread> {
    // Before it is opened: to open a pipe is to wait for whoever writes into it.
    let metadata = fs::metadata(path).map_err(Unread::Failed)?;
    let shown = path.display();
    if metadata.is_dir() {
        return Err(Unread::Irregular(
            Diagnostic::error("not-a-file", format!("{shown} is a folder"))
                .help("name the file in it"),
        ));
    }
    if !metadata.is_file() {
        let message = format!("{shown} is not a regular file");
        return Err(Unread::Irregular(Diagnostic::error("not-a-file", message)));
    }
    if metadata.len() > most_bytes {
        return Err(Unread::TooLarge(metadata.len()));
    }
    File::open(path).map_err(Unread::Failed)
}

/// All bytes of a regular file, at most so many.
pub(crate) fn bytes_of(path: &Path, most_bytes: u64) -> Result<Vec<u8>, Unread> {
    let file = open(path, most_bytes)?;
    let mut bytes = Vec::new();
    // One byte more than allowed: then it is known to be too long, whatever its metadata says.
    file.take(most_bytes + 1).read_to_end(&mut bytes).map_err(Unread::Failed)?;
    match bytes.len() as u64 {
        n_bytes if n_bytes > most_bytes => Err(Unread::TooLarge(n_bytes)),
        _ => Ok(bytes),
    }
}
