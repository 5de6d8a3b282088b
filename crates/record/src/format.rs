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
    /// A rosbag2 folder with MCAP or SQLite storage, or a database of one; written as MCAP.
    Rosbag2,
    /// A table with a header of scoped keys.
    Csv,
    /// One trajectory, `time x y z qx qy qz qw`.
    Tum,
    /// One trajectory, a matrix a line; its times are in a file beside it.
    Kitti,
    /// One trajectory as the EuRoC data sets have it: a table with its own names of columns.
    Euroc,
    /// A ROS 1 bag.
    Ros1,
}

/// Every format that is read and written, with the name people type, in the order help pages
/// list them.
pub const FORMATS: &[(&str, Format)] = &[
    ("mcap", Format::Mcap),
    ("rosbag2", Format::Rosbag2),
    ("csv", Format::Csv),
    ("tum", Format::Tum),
];

/// Formats that are read and never written.
pub const READ_ONLY: &[(&str, Format)] =
    &[("kitti", Format::Kitti), ("euroc", Format::Euroc), ("ros1", Format::Ros1)];

impl Format {
    /// Whether it holds the poses of one object whose name it does not say.
    pub fn is_trajectory(self) -> bool {
        matches!(self, Format::Tum | Format::Kitti | Format::Euroc)
    }

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
        let known = FORMATS.iter().chain(READ_ONLY).find(|(_, format)| *format == self);
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
        Format::of_content(path, &head)
    }

    /// The format of a file that starts with `head`.
    fn of_content(path: &Path, head: &[u8]) -> Result<Format, Diagnostic> {
        let refused = |what: &str, help: &str| {
            let message = format!("`{}` is {what}", path.display());
            Err(Diagnostic::error("unknown-format", message).help(help))
        };
        let n_magic = head.len().min(mcap::MAGIC.len());
        if n_magic > 0 && mcap::MAGIC.starts_with(&head[..n_magic]) {
            return Ok(Format::Mcap); // the first letters of it will do: it may be cut
        }
        if head.starts_with(b"#ROSBAG") {
            return Ok(Format::Ros1);
        }
        if head.starts_with(b"SQLite format 3") {
            return Ok(Format::Rosbag2);
        }
        if extension(path) == "mcap" {
            return Ok(Format::Mcap); // empty or damaged; its reader says so best
        }
        if head.contains(&0) {
            let help = "MCAP, bags of ROS 1 and 2, tables and trajectories are read";
            return refused("no text and no recording", help);
        }
        let is_tum = extension(path) == "tum";
        Ok(match n_numbers(head) {
            _ if is_tum => Format::Tum,
            Some(8) => Format::Tum,
            Some(12) => Format::Kitti,
            _ if looks_like_euroc(head) => Format::Euroc,
            _ => Format::Csv,
        })
    }
}

fn extension(path: &Path) -> String {
    path.extension().map_or(String::new(), |end| end.to_string_lossy().to_lowercase())
}

/// How many numbers with blanks between the first line is that is no comment, if it is that.
fn n_numbers(head: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let mut cells = lines.next()?.split_whitespace();
    let n = cells.clone().count();
    cells.all(|cell| cell.parse::<f64>().is_ok()).then_some(n)
}

/// A first line that is a comment and names a place and a quaternion as EuRoC does.
fn looks_like_euroc(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let line = text.lines().next().unwrap_or_default().trim_start_matches('\u{feff}');
    let mut names = line.split(',').map(str::trim);
    line.starts_with('#')
        && names.next().is_some_and(|first| first.contains("timestamp"))
        && names.filter(|name| euroc_key(name).is_some()).count() >= 7
}

/// What a column of EuRoC is of its object: `p_RS_R_x [m]` is `pose/x`.
pub(crate) fn euroc_key(name: &str) -> Option<String> {
    let name = name.split('[').next()?.trim();
    let (what, rest) = name.split_once('_')?;
    let axis = rest.rsplit('_').next()?;
    Some(match (what, axis) {
        ("p", "x" | "y" | "z") => format!("pose/{axis}"),
        ("q", "w" | "x" | "y" | "z") => format!("pose/q{axis}"),
        ("v", "x" | "y" | "z") => format!("linear_vel/{axis}"),
        _ => return None,
    })
}

pub(crate) fn open(path: &Path) -> Result<File, Diagnostic> {
    File::open(path).map_err(|fault| cannot_open(path, &fault))
}

fn cannot_open(path: &Path, fault: &std::io::Error) -> Diagnostic {
    Diagnostic::error("cannot-open", format!("cannot open `{}`: {fault}", path.display()))
}
