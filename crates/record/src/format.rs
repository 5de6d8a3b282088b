//! The formats there are, and which of them a file has.
//!
//! A path goes in, a [`Format`] comes out, by what is in the file: names lie. The one list is
//! [`FORMATS`]; help pages are made from it.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use headland_base::Diagnostic;

/// The formats there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One `.mcap` with ROS 2 messages: our own form, and that of most robots.
    Mcap,
    /// A rosbag2 folder with MCAP storage.
    Rosbag2,
    /// A table with a header of scoped keys.
    Csv,
    /// One trajectory, `time x y z qx qy qz qw`.
    Tum,
}

/// Every format with the name people type, in the order help pages list them.
pub const FORMATS: &[(&str, Format)] = &[
    ("mcap", Format::Mcap),
    ("rosbag2", Format::Rosbag2),
    ("csv", Format::Csv),
    ("tum", Format::Tum),
];

impl Format {
    /// The format of a name in the list.
    pub fn from_name(name: &str) -> Option<Format> {
        FORMATS.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// The format a new file's ending asks for.
    pub fn from_ending(path: &Path) -> Option<Format> {
        match extension(path).as_str() {
            "txt" => Some(Format::Tum), // what evo writes
            ending => Format::from_name(ending),
        }
    }

    /// The name people type.
    pub fn name(self) -> &'static str {
        let known = FORMATS.iter().find(|(_, format)| *format == self);
        known.map(|(name, _)| *name).expect("every format is in the list")
    }

    /// The format of a path, by what is in it; the extension decides between texts.
    pub fn detect(path: &Path) -> Result<Format, Diagnostic> {
        let about = fs::metadata(path).map_err(|fault| cannot_open(path, &fault))?;
        if about.is_dir() {
            return Ok(Format::Rosbag2);
        }
        // Opening a pipe would wait for its writer, and a log is looked at before it is read.
        if !about.is_file() {
            let message = format!("`{}` is a pipe or a device, and no file", path.display());
            return Err(Diagnostic::error("not-a-file", message)
                .help("save what comes out of it to a file, and give that file's name"));
        }
        let mut head = Vec::new();
        open(path)?.take(4096).read_to_end(&mut head).map_err(|fault| cannot_open(path, &fault))?;
        let refused = |what: &str, help: &str| {
            let message = format!("`{}` is {what}", path.display());
            Err(Diagnostic::error("unknown-format", message).help(help))
        };
        let magic = mcap::MAGIC;
        if !head.is_empty()
            && head[..head.len().min(magic.len())] == magic[..head.len().min(magic.len())]
        {
            return Ok(Format::Mcap);
        }
        if head.starts_with(b"#ROSBAG") {
            return refused("a ROS 1 bag", "convert it: `rosbags-convert --src BAG --dst FOLDER`");
        }
        if head.starts_with(b"SQLite format 3") {
            let help = "convert it: `rosbags-convert --src BAG --dst NEW --dst-storage mcap`";
            return refused("a database of a ROS 2 bag", help);
        }
        if extension(path) == "mcap" {
            return Ok(Format::Mcap); // empty or damaged; its reader says so best
        }
        if head.contains(&0) {
            return refused("no text and no recording", "MCAP, rosbag2, CSV and TUM are read");
        }
        Ok(if extension(path) == "tum" || looks_like_tum(&head) {
            Format::Tum
        } else {
            Format::Csv
        })
    }
}

fn extension(path: &Path) -> String {
    path.extension().map_or(String::new(), |end| end.to_string_lossy().to_lowercase())
}

/// Eight numbers in the first line that is no comment.
fn looks_like_tum(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| {
        let mut cells = line.split_whitespace();
        cells.clone().count() == 8 && cells.all(|cell| cell.parse::<f64>().is_ok())
    })
}

pub(crate) fn open(path: &Path) -> Result<File, Diagnostic> {
    File::open(path).map_err(|fault| cannot_open(path, &fault))
}

fn cannot_open(path: &Path, fault: &std::io::Error) -> Diagnostic {
    Diagnostic::error("cannot-open", format!("cannot open `{}`: {fault}", path.display()))
}
