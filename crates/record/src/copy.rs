//! A recording copied message by message: how a cut-off one becomes whole again.
//!
//! Nothing is decoded, so messages of types we do not know come through as they are.

use std::collections::BTreeMap;
use std::io::Read;

use headland_base::{Diagnostic, Findings};

use crate::reader::{Item, Reader};
use crate::writer::{ChannelId, Writer};

/// Copies everything that can be read: payloads, both times and numbers of messages, and
/// what channels say about themselves, such as their quality of service; files with their
/// times. Channels that are not `cdr`
/// with `ros2msg` are left out, because one of them makes common readers refuse the whole
/// file; that is a finding. An error is the writer's.
pub fn copy<R: Read>(mut reader: Reader<R>, writer: &mut Writer) -> Result<Findings, Diagnostic> {
    let mut findings = Findings::new();
    let mut channels: BTreeMap<u16, ChannelId> = BTreeMap::new();
    while let Some(item) = reader.next() {
        match item {
            Item::Header { .. } => {}
            Item::Channel(channel) => {
                let Some(schema) = channel.ros2_schema() else {
                    let message = format!("topic `{}` is not `cdr` with `ros2msg`", channel.topic);
                    let warning = Diagnostic::warning("unknown-encoding", message);
                    findings.push(warning.note("it was left out"));
                    continue;
                };
                let definition = String::from_utf8_lossy(&schema.data);
                let (topic, metadata) = (&channel.topic, &channel.metadata);
                match writer.foreign_channel(topic, &schema.name, &definition, metadata) {
                    Ok(id) => _ = channels.insert(channel.id, id),
                    Err(fault) if fault.code == "topic-has-two-types" => findings.push(fault),
                    Err(fault) => return Err(fault),
                }
            }
            Item::Message(message) => {
                if let Some(id) = channels.get(&message.channel.id) {
                    writer.copied(*id, &message)?;
                }
            }
            Item::Attachment(file) => writer.copied_file(file)?,
            Item::Metadata { name, entries } => writer.metadata(&name, entries)?,
        }
    }
    findings.extend(reader.into_findings().into_vec());
    Ok(findings)
}

/// Refuses a recording, in one file or several, of which nothing can be read: before
/// anything is made to copy it to.
pub(crate) fn refuse_unreadable<R: Read>(
    parts: impl IntoIterator<Item = Reader<R>>,
) -> Result<(), Vec<Diagnostic>> {
    let mut findings = Findings::new();
    for mut part in parts {
        while let Some(item) = part.next() {
            if !matches!(item, Item::Header { .. }) {
                return Ok(());
            }
        }
        findings.extend(part.into_findings().into_vec());
    }
    if findings.has_errors() { Err(findings.into_vec()) } else { Ok(()) }
}
