//! What is in a recording, without decoding a message: topics, counts, times, files.
//!
//! A reader goes in and is read through once; what is kept grows with the topics alone.

use std::collections::BTreeMap;
use std::io::Read;

use headland_base::{Findings, SimTime};

use crate::reader::{Item, Reader, Truncation};
use crate::recording::Facts;

/// One topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicOverview {
    /// Its message type.
    pub schema: String,
    /// How its messages are encoded.
    pub encoding: String,
    /// How many there are.
    pub n_messages: u64,
    /// Log time of the first and of the last.
    pub span: Option<(SimTime, SimTime)>,
}

impl TopicOverview {
    /// Mean messages per second of log time, where there are at least two moments.
    pub fn rate_hz(&self) -> Option<f64> {
        let (first, last) = self.span?;
        let secs = (last - first).secs();
        (secs > 0.0).then(|| (self.n_messages - 1) as f64 / secs)
    }
}

/// A whole recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// How it came to be.
    pub facts: Facts,
    /// By topic.
    pub topics: BTreeMap<String, TopicOverview>,
    /// Name, media type and length of the attached files.
    pub attachments: Vec<(String, String, usize)>,
    /// All messages.
    pub n_messages: u64,
    /// Log time of the first and of the last message.
    pub span: Option<(SimTime, SimTime)>,
    /// Length of the file, as far as it was read.
    pub n_bytes: u64,
    /// Where the file was cut off, if it was.
    pub truncation: Option<Truncation>,
}

/// Reads a recording through and counts.
pub fn overview<R: Read>(mut reader: Reader<R>) -> (Overview, Findings) {
    let mut overview = Overview::default();
    while let Some(item) = reader.next() {
        match item {
            Item::Header { profile, library } => {
                overview.facts.profile = profile;
                overview.facts.library = library;
            }
            Item::Channel(channel) => {
                let topic = overview.topics.entry(channel.topic.clone()).or_default();
                topic.encoding = channel.message_encoding.clone();
                topic.schema = channel.schema.as_ref().map_or(String::new(), |s| s.name.clone());
            }
            Item::Message(message) => {
                overview.n_messages += 1;
                overview.span = Some(widened(overview.span, message.log_time));
                if let Some(topic) = overview.topics.get_mut(&message.channel.topic) {
                    topic.n_messages += 1;
                    topic.span = Some(widened(topic.span, message.log_time));
                }
            }
            Item::Attachment(file) => {
                overview.attachments.push((file.name, file.media_type, file.bytes.len()));
            }
            Item::Metadata { name, entries } => {
                overview.facts.metadata.entry(name).or_default().extend(entries);
            }
        }
    }
    overview.n_bytes = reader.offset();
    overview.truncation = reader.truncation();
    (overview, reader.into_findings())
}

fn widened(span: Option<(SimTime, SimTime)>, time: SimTime) -> (SimTime, SimTime) {
    span.map_or((time, time), |(first, last)| (first.min(time), last.max(time)))
}
