//! The front door: any log comes in, whatever its format, and a recording goes out in any.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use headland_base::names::suggestion;
use headland_base::{Diagnostic, Findings};

use crate::copy::{copy, refuse_unreadable};
use crate::csv::{self, TableOptions};
use crate::load::{LoadOptions, load};
use crate::reader::Reader;
use crate::recording::Recording;
use crate::save::save;
use crate::writer::{WriteOptions, Writer, Written};
use crate::{rosbag2, tum};

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
        if path.is_dir() {
            return Ok(Format::Rosbag2);
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

fn open(path: &Path) -> Result<File, Diagnostic> {
    File::open(path).map_err(|fault| cannot_open(path, &fault))
}

fn cannot_open(path: &Path, fault: &std::io::Error) -> Diagnostic {
    Diagnostic::error("cannot-open", format!("cannot open `{}`: {fault}", path.display()))
}

/// How a log is imported.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format; by default it is detected.
    pub format: Option<Format>,
    /// For recordings and bags.
    pub load: LoadOptions,
    /// For tables.
    pub table: TableOptions,
    /// Name of the object a TUM trajectory belongs to; by default the file's name.
    pub object: Option<String>,
}

/// A log that came in.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What was read.
    pub recording: Recording,
    /// The format it had.
    pub format: Format,
    /// What was wrong with it; errors say what is missing from the recording.
    pub findings: Findings,
}

/// Reads a log. An `Err` is one of which nothing could be read.
pub fn import(path: &Path, options: &ImportOptions) -> Result<Imported, Vec<Diagnostic>> {
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(path).map_err(|fault| vec![fault])?,
    };
    let shown = path.display().to_string();
    let input = || open(path).map(BufReader::new).map_err(|fault| vec![fault]);
    let (recording, findings) = match format {
        Format::Mcap => load(Reader::new(input()?, &shown), &options.load),
        Format::Rosbag2 => rosbag2::import(path, &options.load)?,
        Format::Csv => {
            let (recording, _, findings) = csv::read(input()?, &shown, &options.table);
            (recording, findings)
        }
        Format::Tum => {
            let stem = path.file_stem().map_or("object".into(), |stem| stem.to_string_lossy());
            tum::read(input()?, &shown, options.object.as_deref().unwrap_or(&stem))
        }
    };
    if recording.tracks().is_empty() && findings.has_errors() {
        return Err(findings.into_vec());
    }
    Ok(Imported { recording, format, findings })
}

/// A log that became a recording file.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The format it had.
    pub format: Format,
    /// What was written.
    pub written: Written,
    /// What was wrong with it; errors say what is missing from the recording.
    pub findings: Findings,
}

/// Makes a recording file of a log, whatever its format. Messages of recordings and bags
/// go through one at a time and untouched, those of types we do not know too; the numbers of
/// tables and trajectories become messages. An `Err` is a log of which nothing could be read,
/// and then nothing is written, or a file that could not be.
pub fn convert(
    source: &Path,
    target: &Path,
    options: &ImportOptions,
    write: &WriteOptions,
) -> Result<Converted, Vec<Diagnostic>> {
    let alone = |fault| vec![fault];
    let format = options.format.map_or_else(|| Format::detect(source), Ok).map_err(alone)?;
    let create = || Writer::create(target, write).map_err(alone);
    let (writer, findings) = match format {
        Format::Mcap => {
            let open = || Reader::open(source).map_err(alone);
            refuse_unreadable([open()?])?;
            let (reader, mut writer) = (open()?, create()?);
            let findings = copy(reader, &mut writer).map_err(alone)?;
            (writer, findings)
        }
        Format::Rosbag2 => {
            refuse_unreadable(rosbag2::open_parts(source)?.0)?;
            let (parts, warning) = rosbag2::open_parts(source)?;
            let mut writer = create()?;
            let mut findings = Findings::new();
            for part in parts {
                findings.extend(copy(part, &mut writer).map_err(alone)?.into_vec());
            }
            findings.extend(warning);
            (writer, findings)
        }
        Format::Csv | Format::Tum => {
            let imported = import(source, options)?;
            let mut writer = create()?;
            save(&imported.recording, &mut writer).map_err(alone)?;
            (writer, imported.findings)
        }
    };
    Ok(Converted { format, written: writer.finish().map_err(alone)?, findings })
}

/// Writes a log of any format in another. `object` says whose trajectory, for TUM; it may be
/// left out where only one object moves. Errors among the findings say what is missing; an
/// `Err` is as with [`convert`].
pub fn export(
    source: &Path,
    target: &Path,
    format: Format,
    object: Option<&str>,
    write: &WriteOptions,
) -> Result<Findings, Vec<Diagnostic>> {
    let options = ImportOptions::default();
    match format {
        Format::Mcap => convert(source, target, &options, write).map(|done| done.findings),
        // A bag holds the messages as they are; nothing is decoded.
        Format::Rosbag2 => rosbag2::export(source, target, write),
        Format::Csv | Format::Tum => {
            let imported = import(source, &options)?;
            write_text(&imported.recording, target, format, object).map_err(|fault| vec![fault])?;
            Ok(imported.findings)
        }
    }
}

fn write_text(
    recording: &Recording,
    path: &Path,
    format: Format,
    object: Option<&str>,
) -> Result<(), Diagnostic> {
    if format == Format::Csv {
        return text_file(path, |out| csv::write(out, recording));
    }
    let (times, poses) = trajectory(recording, object)?;
    text_file(path, |out| tum::write(out, times, poses))
}

type Trajectory<'a> = (&'a [headland_base::SimTime], &'a [headland_base::Transform]);

fn trajectory<'a>(
    recording: &'a Recording,
    object: Option<&str>,
) -> Result<Trajectory<'a>, Diagnostic> {
    let objects = recording.objects();
    // What never moves is recorded once.
    let moves = |name: &&str| recording.poses(name).is_some_and(|(times, _)| times.len() > 1);
    let moving: Vec<&str> = objects.iter().copied().filter(moves).collect();
    let name = match (object, &objects[..], &moving[..]) {
        (Some(name), _, _) => name,
        (None, [only], _) | (None, _, [only]) => only,
        (None, _, _) => {
            let message = format!("{} objects have poses, and a TUM file holds one", objects.len());
            return Err(Diagnostic::error("which-object", message)
                .note(format!("there are: {}", objects.join(", ")))
                .help("say which with `--object NAME`"));
        }
    };
    recording.poses(name).ok_or_else(|| {
        Diagnostic::error("unknown-object", format!("no poses of `{name}` in the recording"))
            .help_maybe(suggestion(name, objects.iter().copied()))
    })
}

fn text_file(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), Diagnostic> {
    let file = File::create(path).map_err(|fault| {
        Diagnostic::error("not-created", format!("cannot create `{}`: {fault}", path.display()))
            .help("choose a folder that exists and that you may write to")
    })?;
    let mut out = BufWriter::new(file);
    fill(&mut out).and_then(|()| out.flush()).map_err(|fault| {
        Diagnostic::error("not-written", format!("cannot write `{}`: {fault}", path.display()))
    })
}
