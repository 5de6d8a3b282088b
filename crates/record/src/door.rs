//! The front door: any log comes in, whatever its format, and a recording goes out in any.
//!
//! ```text
//! MCAP · rosbag2 ─── copy ────────────► MCAP · rosbag2
//! any ─── samples ─┬─► import ────────► Recording in memory
//!                  ├─► convert ───────► MCAP
//!                  └─► export, twice ─► CSV · TUM
//! ```
//!
//! But for [`import`], nothing here grows with the length of a log.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use headland_base::{Diagnostic, Findings, SimTime};

use crate::aligner::{Aligner, Alignment};
use crate::copy::{copy, refuse_unreadable};
use crate::csv::{self, TableGoal, TableOptions};
use crate::format::{Format, open};
use crate::kitti;
use crate::layout::Layout;
use crate::load::{Columns, LoadOptions};
use crate::recording::Recording;
use crate::rosbag2;
use crate::sample::{Goal, Sample, Sort};
use crate::sampler::Sampler;
use crate::save::Channels;
use crate::stream::open_any;
use crate::tum::{self, TrajectoryGoal};
use crate::writer::{WriteOptions, Writer, Written};

/// How a log is imported.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format; by default it is detected.
    pub format: Option<Format>,
    /// For recordings and bags.
    pub load: LoadOptions,
    /// For tables.
    pub table: TableOptions,
    /// Name of the object a TUM, KITTI or EuRoC trajectory belongs to; by default the file's name.
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

/// Reads a log into memory. An `Err` is one of which nothing could be read.
pub fn import(path: &Path, options: &ImportOptions) -> Result<Imported, Vec<Diagnostic>> {
    let format = options.format.map_or_else(|| Format::detect(path), Ok).map_err(alone)?;
    let mut columns = Columns::new(options.load.n_values_max);
    let mut findings = samples(path, format, options, &mut columns)?;
    let recording = columns.finish(&mut findings);
    if recording.tracks().values().all(|track| track.is_empty()) && findings.has_errors() {
        return Err(findings.into_vec());
    }
    Ok(Imported { recording, format, findings })
}

/// Hands every sample of a log to `goal`. An `Err` is a log that cannot be opened, or the
/// goal's.
fn samples(
    path: &Path,
    format: Format,
    options: &ImportOptions,
    goal: &mut dyn Goal,
) -> Result<Findings, Vec<Diagnostic>> {
    let shown = path.display().to_string();
    let input = || open(path).map(BufReader::new).map_err(alone);
    match format {
        Format::Mcap | Format::Rosbag2 | Format::Ros1 => {
            let (parts, warning) = open_parts(path, format)?;
            let mut sampler = Sampler::new(&options.load);
            for part in parts {
                sampler.read(part, goal).map_err(alone)?;
            }
            let mut findings = sampler.finish(goal);
            findings.extend(warning);
            Ok(findings)
        }
        Format::Csv => {
            let read = csv::read_samples(input()?, &shown, &options.table, goal);
            read.map(|(_, findings)| findings).map_err(alone)
        }
        Format::Tum => {
            tum::read_samples(input()?, &shown, &object(path, options), goal).map_err(alone)
        }
        Format::Kitti => {
            let beside = path.with_file_name("times.txt");
            let shown_times = beside.display().to_string();
            let times = match beside.is_file() && beside != path {
                true => Some((BufReader::new(open(&beside).map_err(alone)?), &*shown_times)),
                false => None,
            };
            let object = object(path, options);
            kitti::read_samples(input()?, &shown, times, &object, goal).map_err(alone)
        }
        Format::Euroc => {
            let euroc_object = Some(object(path, options));
            let table = TableOptions { euroc_object, ..options.table.clone() };
            let read = csv::read_samples(input()?, &shown, &table, goal);
            read.map(|(_, findings)| findings).map_err(alone)
        }
    }
}

/// Whose poses a trajectory holds: what is said, else the name of the file.
fn object(path: &Path, options: &ImportOptions) -> String {
    let stem = || path.file_stem().map_or("object".into(), |stem| stem.to_string_lossy().into());
    options.object.clone().unwrap_or_else(stem)
}

/// The files of a recording or a bag, opened, in order.
fn open_parts(
    path: &Path,
    format: Format,
) -> Result<(rosbag2::Parts, Option<Diagnostic>), Vec<Diagnostic>> {
    match format {
        Format::Rosbag2 if path.is_dir() => rosbag2::open_parts(path),
        _ => Ok((vec![open_any(path).map_err(alone)?], None)),
    }
}

fn alone(fault: Diagnostic) -> Vec<Diagnostic> {
    vec![fault]
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
/// tables and trajectories become messages, row by row. An `Err` is a log of which nothing
/// could be read, and then nothing is written, or a file that could not be.
pub fn convert(
    source: &Path,
    target: &Path,
    options: &ImportOptions,
    write: &WriteOptions,
) -> Result<Converted, Vec<Diagnostic>> {
    let format = options.format.map_or_else(|| Format::detect(source), Ok).map_err(alone)?;
    let (writer, findings) = match format {
        Format::Mcap | Format::Rosbag2 | Format::Ros1 => copied(source, format, target, write)?,
        Format::Csv | Format::Tum | Format::Kitti | Format::Euroc => {
            let mut late = LateWriter::new(target, write);
            let read = samples(source, format, options, &mut late);
            late.finish(read)?
        }
    };
    Ok(Converted { format, written: writer.finish().map_err(alone)?, findings })
}

/// The messages of a recording or a bag in a new file, as they are.
fn copied(
    source: &Path,
    format: Format,
    target: &Path,
    write: &WriteOptions,
) -> Result<(Writer, Findings), Vec<Diagnostic>> {
    refuse_unreadable(open_parts(source, format)?.0)?;
    let (parts, warning) = open_parts(source, format)?;
    let mut writer = Writer::create(target, write).map_err(alone)?;
    let mut findings = Findings::new();
    for part in parts {
        let found = copy(part, &mut writer);
        findings.append(found.map_err(|fault| taken_away(target, vec![fault]))?);
    }
    findings.extend(warning);
    Ok((writer, findings))
}

/// Takes a recording away that its log made impossible, such as one with times before zero.
/// One that the disk broke off is kept: it can be read as far as it goes.
fn taken_away(target: &Path, faults: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_disk = faults.iter().any(|fault| fault.code == "recording-not-written");
    // A device is nobody's to remove.
    if !is_disk && target.metadata().is_ok_and(|about| about.is_file()) {
        _ = fs::remove_file(target);
    }
    faults
}

/// A recording file that is made when the first sample comes, so that a log without any
/// replaces nothing.
struct LateWriter<'o> {
    path: PathBuf,
    options: &'o WriteOptions,
    announced: Vec<(String, String, Sort)>,
    writer: Option<(Writer, Channels)>,
}

impl<'o> LateWriter<'o> {
    fn new(path: &Path, options: &'o WriteOptions) -> LateWriter<'o> {
        LateWriter { path: path.to_path_buf(), options, announced: Vec::new(), writer: None }
    }

    fn open(&mut self) -> Result<&mut (Writer, Channels), Diagnostic> {
        if self.writer.is_none() {
            let mut writer = Writer::create(&self.path, self.options)?;
            let mut channels = Channels::default();
            for (topic, schema, sort) in &self.announced {
                channels.announce(&mut writer, topic, schema, *sort)?;
            }
            self.writer = Some((writer, channels));
        }
        Ok(self.writer.as_mut().expect("made above"))
    }

    /// The writer, once all was read.
    fn finish(
        mut self,
        read: Result<Findings, Vec<Diagnostic>>,
    ) -> Result<(Writer, Findings), Vec<Diagnostic>> {
        let findings = match read {
            Ok(findings) if self.writer.is_none() && findings.has_errors() => {
                return Err(findings.into_vec());
            }
            Ok(findings) => findings,
            Err(faults) if self.writer.is_some() => return Err(taken_away(&self.path, faults)),
            Err(faults) => return Err(faults),
        };
        self.open().map_err(alone)?;
        let (writer, _) = self.writer.take().expect("made above");
        Ok((writer, findings))
    }
}

impl Goal for LateWriter<'_> {
    fn track(&mut self, topic: &str, schema: &str, sort: Sort) -> Result<(), Diagnostic> {
        assert!(self.writer.is_none(), "tables and trajectories announce their tracks first");
        self.announced.push((topic.to_string(), schema.to_string(), sort));
        Ok(())
    }

    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        frame_id: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        let (writer, channels) = self.open()?;
        channels.put(writer, track, time, frame_id, sample)
    }
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
    match format {
        Format::Mcap => {
            convert(source, target, &ImportOptions::default(), write).map(|done| done.findings)
        }
        // A bag holds the messages as they are; nothing is decoded.
        Format::Rosbag2 => rosbag2::export(source, target, write),
        Format::Csv | Format::Tum => export_text(source, target, format, object, None),
        Format::Kitti | Format::Euroc | Format::Ros1 => {
            let message = format!("{} is read and not written", format.name());
            Err(alone(Diagnostic::error("which-format", message)))
        }
    }
}

/// Writes a log of any format as a table in which every row says something of every track,
/// as far as it is known. Findings and errors are as with [`export`].
pub fn export_aligned(
    source: &Path,
    target: &Path,
    alignment: Alignment,
) -> Result<Findings, Vec<Diagnostic>> {
    export_text(source, target, Format::Csv, None, Some(alignment))
}

/// Reads the log twice: once for its keys, once for its numbers.
fn export_text(
    source: &Path,
    target: &Path,
    format: Format,
    object: Option<&str>,
    alignment: Option<Alignment>,
) -> Result<Findings, Vec<Diagnostic>> {
    let options = ImportOptions::default();
    let source_format = Format::detect(source).map_err(alone)?;
    let mut layout = Layout::default();
    let mut findings = samples(source, source_format, &options, &mut layout)?;
    if layout.tracks.iter().all(|track| track.n_samples == 0) && findings.has_errors() {
        return Err(findings.into_vec());
    }
    let name = target.display().to_string();
    if format == Format::Tum {
        let track = layout.trajectory(object).map_err(alone)?;
        let mut goal = TrajectoryGoal::new(text_file(target)?, &name, track).map_err(alone)?;
        samples(source, source_format, &options, &mut goal)?;
        goal.finish().map_err(alone)?;
    } else {
        let mut goal = TableGoal::new(text_file(target)?, &name, &layout).map_err(alone)?;
        if let Some(alignment) = alignment {
            let mut aligner = Aligner::new(&mut goal, &layout, alignment);
            samples(source, source_format, &options, &mut aligner)?;
            aligner.finish().map_err(alone)?;
        } else {
            samples(source, source_format, &options, &mut goal)?;
        }
        findings.extend(goal.finish().map_err(alone)?);
    }
    Ok(findings)
}

fn text_file(path: &Path) -> Result<BufWriter<File>, Vec<Diagnostic>> {
    let file = File::create(path).map_err(|fault| {
        let message = format!("cannot create `{}`: {fault}", path.display());
        vec![
            Diagnostic::error("not-created", message)
                .help("choose a folder that exists and that you may write to"),
        ]
    })?;
    Ok(BufWriter::new(file))
}
