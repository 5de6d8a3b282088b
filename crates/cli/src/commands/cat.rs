//! `headland cat`: a recording's messages, one JSON object a line. Streams: the first line
//! comes at once, and memory does not grow with the file.

use std::collections::BTreeMap;
use std::io::{BufWriter, ErrorKind, Write as _};
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, SimTime, names};
use headland_record::reader::{Channel, RawMessage};
use headland_record::{Definition, Item, Reader};

use crate::args::CatArgs;
use crate::context::{Context, Ended, Outcome};
use crate::glob;

pub fn run(context: &Context, args: &CatArgs) -> Ended {
    let mut reader = Reader::open(&args.recording).map_err(|diagnostic| vec![diagnostic])?;
    let mut printer = Printer {
        definitions: BTreeMap::new(),
        topics: Vec::new(),
        start: moment(args.start)?,
        end: moment(args.end)?,
        patterns: &args.topic,
        out: BufWriter::new(std::io::stdout().lock()),
        findings: Findings::new(),
    };
    while let Some(item) = reader.next() {
        let done = match item {
            Item::Channel(channel) => {
                printer.meet(&channel);
                Ok(())
            }
            Item::Message(message) => printer.print(&message),
            _ => Ok(()),
        };
        if let Err(error) = done {
            return stopped(&error);
        }
    }
    if let Err(error) = printer.out.flush() {
        return stopped(&error);
    }
    printer.complain_about_patterns();
    let truncated = reader.truncation().is_some();
    let mut findings = printer.findings;
    findings.extend(reader.into_findings().into_vec());
    let has_errors = findings.has_errors();
    context.show(&findings.into_vec());
    Ok(match (has_errors, truncated) {
        (true, _) => Outcome::BadInput,
        (false, true) => Outcome::Partial,
        (false, false) => Outcome::Passed,
    })
}

struct Printer<'a, W: std::io::Write> {
    /// By channel id; `None` where we cannot decode it.
    definitions: BTreeMap<u16, Option<Definition>>,
    topics: Vec<String>,
    start: Option<SimTime>,
    end: Option<SimTime>,
    patterns: &'a [String],
    out: BufWriter<W>,
    findings: Findings,
}

impl<W: std::io::Write> Printer<'_, W> {
    fn meet(&mut self, channel: &Arc<Channel>) {
        self.topics.push(channel.topic.clone());
        if !self.wants(&channel.topic) {
            return;
        }
        let definition = match &channel.schema {
            Some(schema) if schema.encoding == "ros2msg" && channel.message_encoding == "cdr" => {
                let text = String::from_utf8_lossy(&schema.data);
                Definition::parse(&schema.name, &text)
                    .map_err(|found| self.findings.extend(found))
                    .ok()
            }
            _ => {
                let message = format!(
                    "topic `{}` is `{}`, which we cannot decode",
                    channel.topic, channel.message_encoding
                );
                self.findings.push(Diagnostic::warning("unknown-encoding", message));
                None
            }
        };
        self.definitions.insert(channel.id, definition);
    }

    fn wants(&self, topic: &str) -> bool {
        self.patterns.is_empty()
            || self.patterns.iter().any(|pattern| glob::matches(pattern, topic))
    }

    fn print(&mut self, message: &RawMessage<'_>) -> std::io::Result<()> {
        let too_early = self.start.is_some_and(|start| message.log_time < start);
        let too_late = self.end.is_some_and(|end| message.log_time > end);
        if too_early || too_late || !self.wants(&message.channel.topic) {
            return Ok(());
        }
        let Some(Some(definition)) = self.definitions.get(&message.channel.id) else {
            return Ok(());
        };
        match definition.decode(message.payload) {
            Ok(value) => writeln!(
                self.out,
                "{{\"topic\":{},\"time_ns\":{},\"type\":{},\"message\":{}}}",
                serde_json::Value::from(message.channel.topic.as_str()),
                message.log_time.nanos(),
                serde_json::Value::from(definition.name()),
                value.to_json()
            ),
            Err(diagnostic) => {
                self.findings.push(diagnostic);
                Ok(())
            }
        }
    }

    fn complain_about_patterns(&mut self) {
        for pattern in self.patterns {
            if !self.topics.iter().any(|topic| glob::matches(pattern, topic)) {
                let near = names::suggestion(pattern, self.topics.iter().map(String::as_str));
                self.findings.push(
                    Diagnostic::error("unknown-topic", format!("no topic fits `{pattern}`"))
                        .help_maybe(near)
                        .note("`headland info` lists the topics"),
                );
            }
        }
    }
}

fn moment(secs: Option<f64>) -> Result<Option<SimTime>, Vec<Diagnostic>> {
    secs.map(|secs| {
        SimTime::from_secs(secs)
            .ok_or_else(|| vec![Diagnostic::error("bad-time", format!("{secs} s is not a moment"))])
    })
    .transpose()
}

/// A reader that went away (`| head`) is no fault.
fn stopped(error: &std::io::Error) -> Ended {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(Outcome::Passed);
    }
    Err(vec![Diagnostic::error("cannot-write", format!("cannot write: {error}"))])
}
