//! `headland info`: what is in a recording. Streams through it, so its size does not matter.

use headland_base::{SimTime, one_line};
use headland_record::recording::FACTS;
use headland_record::{Overview, overview};
use headland_report::{Align, bytes, count, table};
use serde_json::{Value, json};

use crate::args::InfoArgs;
use crate::context::{Context, Ended, open_recording};
use crate::job::SENSORS;

pub fn run(context: &Context, args: &InfoArgs) -> Ended {
    let (seen, findings) = overview(open_recording(&args.recording)?);
    let is_anything =
        !(seen.topics.is_empty() && seen.attachments.is_empty() && seen.facts.metadata.is_empty());
    let outcome = context.show_findings(findings, is_anything)?;
    context.print(&if context.json() { format!("{}\n", as_json(&seen)) } else { as_text(&seen) });
    Ok(outcome)
}

fn as_text(seen: &Overview) -> String {
    let or = |text: &str, other: &str| {
        if text.is_empty() { other.to_string() } else { text.to_string() }
    };
    let mut out = format!(
        "{} in {}, profile {}, written by {}\n",
        count(seen.n_messages, "message"),
        bytes(seen.n_bytes),
        or(&seen.facts.profile, "none"),
        or(&seen.facts.library, "somebody"),
    );
    if let Some((first, last)) = seen.span {
        out += &format!("from {first} to {last}: {}\n", last - first);
    }
    if let Some(facts) = seen.facts.metadata.get(FACTS) {
        let facts: Vec<String> =
            facts.iter().map(|(key, value)| format!("{key} {value}")).collect();
        out += &format!("run: {}\n", one_line(&facts.join(" · ")));
    }
    for text in
        seen.facts.metadata.get("headland.realised").into_iter().flat_map(|all| all.values())
    {
        out += &format!("realised: {}\n", one_line(text));
    }
    for (topic, words) in seen.facts.metadata.get(SENSORS).into_iter().flatten() {
        out += &format!("sensor: {topic}: {words}\n");
    }
    for (name, _, n_bytes) in &seen.attachments {
        out += &format!("attached: {} ({})\n", one_line(name), bytes(*n_bytes as u64));
    }
    let secs = |t: SimTime| format!("{:.3}", t.secs());
    let rows = seen.topics.iter().map(|(name, topic)| {
        vec![
            one_line(name),
            one_line(&topic.schema),
            topic.n_messages.to_string(),
            topic.rate_hz().map_or(String::new(), |rate| format!("{rate:.1}")),
            topic.span.map_or(String::new(), |(first, _)| secs(first)),
            topic.span.map_or(String::new(), |(_, last)| secs(last)),
        ]
    });
    let header = [
        ("topic", Align::Left),
        ("type", Align::Left),
        ("messages", Align::Right),
        ("Hz", Align::Right),
        ("first s", Align::Right),
        ("last s", Align::Right),
    ];
    out + "\n" + &table(&header, &rows.collect::<Vec<_>>())
}

fn as_json(seen: &Overview) -> Value {
    let topics = seen.topics.iter().map(|(name, topic)| {
        json!({
            "topic": name, "type": topic.schema, "encoding": topic.encoding,
            "messages": topic.n_messages, "hz": topic.rate_hz(),
            "first_ns": topic.span.map(|(first, _)| first.nanos()),
            "last_ns": topic.span.map(|(_, last)| last.nanos()),
        })
    });
    let attachments = seen.attachments.iter().map(|(name, media_type, n_bytes)| {
        json!({"name": name, "media_type": media_type, "bytes": n_bytes})
    });
    json!({
        "bytes": seen.n_bytes, "messages": seen.n_messages, "profile": seen.facts.profile,
        "library": seen.facts.library, "truncated": seen.truncation.is_some(),
        "metadata": seen.facts.metadata, "attachments": attachments.collect::<Vec<_>>(),
        "topics": topics.collect::<Vec<_>>(),
    })
}
