//! An MCAP stream goes in, a [`Recording`] in memory comes out.
//!
//! `sampler` says which message becomes which track. Here the samples are put into columns,
//! and counted: a small compressed file can unfold to more than any memory holds.

use std::io::Read;

use headland_base::{Diagnostic, Findings, SimTime};

use crate::reader::{Item, Reader};
use crate::recording::Recording;
use crate::sample::{Goal, Sample, Sort};
use crate::sampler::Sampler;
use crate::track::{Data, LeftOut, Track};

/// Which of its two times a message is filed under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamp {
    /// When it was measured: the header's stamp, where there is one and it is not zero.
    #[default]
    Header,
    /// When it was recorded.
    Log,
}

/// How a recording is loaded.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Which time counts.
    pub stamp: Stamp,
    /// Most numbers kept, about: a small compressed file can unfold to terabytes.
    pub n_values_max: usize,
    /// Most keys of one scalar track; a point cloud is no set of signals.
    pub n_keys_max: usize,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions { stamp: Stamp::Header, n_values_max: 500_000_000, n_keys_max: 4096 }
    }
}

/// Reads everything. What could not be read is in the findings; what could is returned.
pub fn load<R: Read>(reader: Reader<R>, options: &LoadOptions) -> (Recording, Findings) {
    let mut columns = Columns::new(options.n_values_max);
    let mut sampler = Sampler::new(options);
    sampler.read(reader, &mut columns).expect("memory takes everything or says it is full");
    let mut findings = sampler.finish(&mut columns);
    let recording = columns.finish(&mut findings);
    (recording, findings)
}

/// A recording on its way into memory.
pub(crate) struct Columns {
    recording: Recording,
    tracks: Vec<(String, Track)>,
    n_values: usize,
    n_values_max: usize,
    /// The time of the sample that was one too many.
    full_at: Option<SimTime>,
}

impl Columns {
    pub fn new(n_values_max: usize) -> Columns {
        Columns {
            recording: Recording::new(),
            tracks: Vec::new(),
            n_values: 0,
            n_values_max,
            full_at: None,
        }
    }

    pub fn finish(mut self, findings: &mut Findings) -> Recording {
        if let Some(time) = self.full_at {
            let message = format!(
                "more than {} numbers; what comes after {time} is left out",
                self.n_values_max
            );
            findings.push(
                Diagnostic::error("recording-too-large", message)
                    .help("export the topics you need to a smaller file first"),
            );
        }
        for (topic, track) in self.tracks {
            self.recording.insert(topic, track);
        }
        self.recording
    }
}

impl Goal for Columns {
    fn track(&mut self, topic: &str, schema: &str, sort: Sort) -> Result<(), Diagnostic> {
        self.tracks.push((topic.to_string(), Track::empty(schema, Data::empty(sort))));
        Ok(())
    }

    fn unit(&mut self, key: &str, unit: &'static str) {
        self.recording.say_unit(key, unit);
    }

    fn unknown_unit(&mut self, key: &str, word: &str) {
        self.recording.say_unknown_unit(key, word);
    }

    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        frame_id: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        let track = &mut self.tracks[track].1;
        track.set_frame(frame_id);
        self.n_values += track.push(time, sample);
        if self.n_values > self.n_values_max {
            self.full_at = Some(time);
        }
        Ok(())
    }

    fn left_out(&mut self, track: usize, left_out: LeftOut) {
        self.tracks[track].1.set_left_out(left_out);
    }

    fn aside(&mut self, item: Item<'_>) {
        let recording = &mut self.recording;
        match item {
            Item::Header { profile, library } => {
                recording.facts.profile = profile;
                recording.facts.library = library;
            }
            Item::Attachment(file) => recording.attachments.push(file),
            Item::Metadata { name, entries } => {
                recording.facts.metadata.entry(name).or_default().extend(entries);
            }
            Item::Channel(_) | Item::Message(_) => unreachable!("they become samples"),
        }
    }

    fn is_full(&self) -> bool {
        self.full_at.is_some()
    }
}
