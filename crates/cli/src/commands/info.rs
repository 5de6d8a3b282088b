//! `headland info`: what is in a recording.

use std::collections::BTreeMap;

use headland_base::SimTime;
use headland_record::{Item, Reader};
use headland_report::{Align, bytes, count, table};
use serde_json::{Value, json};

use crate::args::InfoArgs;
use crate::context::{Context, Ended, Outcome};

/// What streaming through a recording adds up to.
#[derive(Default)]
struct Summary {
    profile: String,
    library: String,
    topics: BTreeMap<String, Topic>,
    attachments: Vec<(String, usize)>,
    metadata: BTreeMap<String, BTreeMap<String, String>>,
    n_bytes: u64,
}

#[derive(Default)]
struct Topic {
    schema: String,
    n_messages: u64,
    first: Option<SimTime>,
    last: Option<SimTime>,
}

impl Topic {
    /// Messages per second between the first and the last.
    fn rate(&self) -> Option<f64> {
        let span = (self.last? - self.first?).secs();
        (self.n_messages > 1 && span > 0.0).then(|| (self.n_messages - 1) as f64 / span)
    }
}

pub fn run(context: &Context, args: &InfoArgs) -> Ended {
    let mut reader = Reader::open(&args.recording).map_err(|diagnostic| vec![diagnostic])?;
    let mut summary = Summary::default();
    while let Some(item) = reader.next() {
        add(&mut summary, item);
    }
    summary.n_bytes = reader.offset();
    let truncated = reader.truncation().is_some();
    let findings = reader.into_findings();
    let failed = findings.has_errors() && summary.topics.is_empty();
    let has_errors = findings.has_errors();
    let list = findings.into_vec();
    if failed {
        return Err(list);
    }
    context.show(&list);
    let text = if context.json() { format!("{}\n", as_json(&summary, truncated)) } else { as_text(&summary) };
    context.print(&text);
    Ok(if truncated || has_errors { Outcome::Partial } else { Outcome::Passed })
}

fn add(summary: &mut Summary, item: Item<'_>) {
    match item {
        Item::Header { profile, library } => (summary.profile, summary.library) = (profile, library),
        Item::Channel(channel) => {
            let topic = summary.topics.entry(channel.topic.clone()).or_default();
            topic.schema = channel.schema.as_ref().map_or(String::new(), |schema| schema.name.clone());
        }
        Item::Message(message) => {
            let topic = summary.topics.entry(message.channel.topic.clone()).or_default();
            topic.n_messages += 1;
            topic.first = Some(topic.first.map_or(message.log_time, |t| t.min(message.log_time)));
            topic.last = Some(topic.last.map_or(message.log_time, |t| t.max(message.log_time)));
        }
        Item::Attachment(file) => summary.attachments.push((file.name, file.bytes.len())),
        Item::Metadata { name, entries } => {
            summary.metadata.insert(name, entries);
        }
    }
}

fn as_text(summary: &Summary) -> String {
    let n_messages: u64 = summary.topics.values().map(|topic| topic.n_messages).sum();
    let first = summary.topics.values().filter_map(|topic| topic.first).min();
    let last = summary.topics.values().filter_map(|topic| topic.last).max();
    let mut out = format!(
        "{} in {}, profile {}, written by {}\n",
        count(n_messages, "message"),
        bytes(summary.n_bytes),
        if summary.profile.is_empty() { "none" } else { &summary.profile },
        if summary.library.is_empty() { "somebody" } else { &summary.library },
    );
    if let (Some(first), Some(last)) = (first, last) {
        out += &format!("from {first} to {last}: {}\n", last - first);
    }
    if let Some(facts) = summary.metadata.get(headland_record::recording::FACTS) {
        let facts: Vec<String> = facts.iter().map(|(key, value)| format!("{key} {value}")).collect();
        out += &format!("run: {}\n", facts.join(" · "));
    }
    if let Some(realised) = summary.metadata.get("headland.realised") {
        out += &realised.values().map(|text| format!("realised: {text}\n")).collect::<String>();
    }
    for (name, n_bytes) in &summary.attachments {
        out += &format!("attached: {name} ({})\n", bytes(*n_bytes as u64));
    }
    let rows: Vec<Vec<String>> = summary
        .topics
        .iter()
        .map(|(name, topic)| {
            let secs = |t: Option<SimTime>| t.map_or(String::new(), |t| format!("{:.3}", t.secs()));
            let rate = topic.rate().map_or(String::new(), |rate| format!("{rate:.1}"));
            let cells = [topic.n_messages.to_string(), rate, secs(topic.first), secs(topic.last)];
            [name.clone(), topic.schema.clone()].into_iter().chain(cells).collect()
        })
        .collect();
    let header = [
        ("topic", Align::Left),
        ("type", Align::Left),
        ("messages", Align::Right),
        ("Hz", Align::Right),
        ("first s", Align::Right),
        ("last s", Align::Right),
    ];
    out + "\n" + &table(&header, &rows)
}

fn as_json(summary: &Summary, truncated: bool) -> Value {
    let topics: Vec<Value> = summary
        .topics
        .iter()
        .map(|(name, topic)| {
            json!({
                "topic": name, "type": topic.schema, "messages": topic.n_messages,
                "hz": topic.rate(), "first_ns": topic.first.map(SimTime::nanos),
                "last_ns": topic.last.map(SimTime::nanos),
            })
        })
        .collect();
    let attachments: Vec<Value> = summary
        .attachments
        .iter()
        .map(|(name, n_bytes)| json!({"name": name, "bytes": n_bytes}))
        .collect();
    json!({
        "bytes": summary.n_bytes, "profile": summary.profile, "library": summary.library,
        "truncated": truncated, "metadata": summary.metadata, "attachments": attachments,
        "topics": topics,
    })
}
