//! `headland cat`: a recording's messages, one JSON object a line. Streams: the first line
//! comes at once, and memory does not grow with the file.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};

use headland_base::{Diagnostic, Findings, SimTime, glob, names};
use headland_record::reader::{Channel, RawMessage};
use headland_record::{Decoder, Item, Reader};

use crate::args::CatArgs;
use crate::context::{Context, Ended, Outcome, open_recording};

pub fn run(context: &Context, args: &CatArgs) -> Ended {
    let mut reader = open_recording(&args.recording)?;
    if let Some(name) = &args.attachment {
        return attachment(context, reader, name);
    }
    let mut printer = Printer {
        decoder: Decoder::new(),
        topics: Vec::new(),
        start: args.start,
        end: args.end,
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
            return Ok(context.output_stopped(&error));
        }
    }
    if let Err(error) = printer.out.flush() {
        return Ok(context.output_stopped(&error));
    }
    let (is_anything, unknown) = (!printer.topics.is_empty(), printer.unknown_patterns());
    let mut findings = printer.findings;
    findings.append(reader.into_findings());
    let outcome = context.show_findings(findings, is_anything)?;
    if unknown.is_empty() { Ok(outcome) } else { Err(unknown) }
}

/// Prints the first attached file of that name.
fn attachment(context: &Context, mut reader: Reader<BufReader<File>>, name: &str) -> Ended {
    let mut names = Vec::new();
    while let Some(item) = reader.next() {
        let Item::Attachment(file) = item else { continue };
        if file.name == name {
            let mut out = std::io::stdout().lock();
            let done = out.write_all(&file.bytes).and_then(|()| out.flush());
            return Ok(
                done.map_or_else(|error| context.output_stopped(&error), |()| Outcome::Passed)
            );
        }
        names.push(file.name);
    }
    let mut faults = reader.into_findings().into_vec();
    faults.push(
        Diagnostic::error("unknown-attachment", format!("no attached file is called `{name}`"))
            .help_maybe(names::suggestion(name, names.iter().map(String::as_str)))
            .note("`headland info` lists the attached files"),
    );
    Err(faults)
}

struct Printer<'a, W: std::io::Write> {
    decoder: Decoder,
    topics: Vec<String>,
    start: Option<SimTime>,
    end: Option<SimTime>,
    patterns: &'a [String],
    out: BufWriter<W>,
    findings: Findings,
}

impl<W: std::io::Write> Printer<'_, W> {
    /// Says once what cannot be decoded.
    fn meet(&mut self, channel: &Channel) {
        self.topics.push(channel.topic.clone());
        if self.wants(&channel.topic)
            && let Err(faults) = self.decoder.definition(channel)
        {
            self.findings.extend(faults.iter().cloned());
        }
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
        let Ok(definition) = self.decoder.definition(message.channel) else { return Ok(()) };
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
                let (topic, time) = (&message.channel.topic, message.log_time);
                self.findings.push(diagnostic.note(format!("on topic `{topic}` at {time}")));
                Ok(())
            }
        }
    }

    fn unknown_patterns(&self) -> Vec<Diagnostic> {
        let fits = |pattern: &str| self.topics.iter().any(|topic| glob::matches(pattern, topic));
        let unknown = self.patterns.iter().filter(|pattern| !fits(pattern)).map(|pattern| {
            let near = names::suggestion(pattern, self.topics.iter().map(String::as_str));
            Diagnostic::error("unknown-topic", format!("no topic fits `{pattern}`"))
                .help_maybe(near)
                .note("`headland info` lists the topics")
        });
        unknown.collect()
    }
}
