//! What a test can see of a recording, as a list for people and for programs.

use headland_judge::Vocabulary;
use headland_judge::region::{Region, RegionShape};
use headland_judge::vocabulary::{Thing, is_word};
use headland_judge::words::WORDS;
use serde_json::{Value, json};

use crate::table::{Align, table};
use crate::units::quantity;

/// The names of a recording, then the words they understand.
pub fn vocabulary(vocabulary: &Vocabulary) -> String {
    let mut out = String::from("Names a test can use of this recording:\n\n");
    let rows: Vec<Vec<String>> = names(vocabulary)
        .into_iter()
        .map(|name| vec![name.kind.to_string(), name.written, name.about])
        .collect();
    let header = [("kind", Align::Left), ("write", Align::Left), ("", Align::Left)];
    out += &table(&header, &rows);
    out += "\nWords they understand:\n\n";
    let rows: Vec<Vec<String>> = WORDS
        .iter()
        .map(|w| vec![w.receiver.to_string(), w.message.to_string(), w.answers.to_string()])
        .collect();
    let header = [("to", Align::Left), ("word", Align::Left), ("answers", Align::Left)];
    out + &table(&header, &rows)
}

/// The same as one object.
pub fn vocabulary_json(vocabulary: &Vocabulary) -> Value {
    let names = names(vocabulary).into_iter().map(|name| {
        json!({
            "kind": name.kind, "name": name.name, "write": name.written, "about": name.about,
            "unit": name.unit,
        })
    });
    let words = WORDS
        .iter()
        .map(|word| json!({"to": word.receiver, "word": word.message, "answers": word.answers}));
    json!({ "names": names.collect::<Vec<_>>(), "words": words.collect::<Vec<_>>() })
}

/// One name of a recording.
struct Name {
    kind: &'static str,
    name: String,
    /// As one writes it in a block.
    written: String,
    about: String,
    unit: &'static str,
}

fn names(vocabulary: &Vocabulary) -> Vec<Name> {
    let name = |kind: &'static str, name: &str, about: String, unit: &'static str| Name {
        kind,
        written: written(vocabulary, kind, name),
        name: name.to_string(),
        about,
        unit,
    };
    let mut out = Vec::new();
    for (object, moves) in vocabulary.objects.iter().zip(&vocabulary.moving) {
        let about = if *moves { "velocity recorded" } else { "velocity from its poses" };
        out.push(name("object", object, about.to_string(), ""));
    }
    for joint in &vocabulary.joints {
        out.push(name("joint", joint, "position [rad or m], velocity, effort".to_string(), ""));
    }
    for (key, unit) in &vocabulary.channels {
        let about = if unit.is_empty() { "a number".to_string() } else { format!("[{unit}]") };
        out.push(name("channel", key, about, unit));
    }
    for (region, form) in &vocabulary.regions {
        out.push(name("region", region, form_of(form), ""));
    }
    for report in &vocabulary.reports {
        out.push(name("report", report, "text, kind, source, age [s]".to_string(), ""));
    }
    for (fact, value) in &vocabulary.facts {
        out.push(name("fact", fact, shortened(value), ""));
    }
    for (always, about) in [
        ("recording", "the recording itself"),
        ("startTime", "of the first snapshot [s]"),
        ("stopTime", "of the last snapshot [s]"),
    ] {
        out.push(name("always", always, about.to_string(), ""));
    }
    out
}

/// A bare name is the first thing that has it, so the others are asked for by their kind.
fn written(vocabulary: &Vocabulary, kind: &str, name: &str) -> String {
    let stands_for = match vocabulary.thing(name) {
        Some(Thing::Object(_)) => "object",
        Some(Thing::Joint(_)) => "joint",
        Some(Thing::Region(_)) => "region",
        Some(Thing::Report(_)) => "report",
        Some(Thing::Channel(_)) => "channel",
        Some(Thing::Recording | Thing::StartTime | Thing::StopTime) | None => "",
    };
    let is_bare = kind == "always" || is_word(name) && stands_for == kind;
    if is_bare { name.to_string() } else { format!("(recording {kind}: '{name}')") }
}

fn form_of(region: &Region) -> String {
    let at = region.world_from_region.translation;
    let form = match &region.shape {
        RegionShape::Box(size) => format!("box {} × {} × {} m", size.x, size.y, size.z),
        RegionShape::Sphere { radius } => format!("sphere, radius {}", quantity(*radius, "m")),
        RegionShape::Cylinder { radius, length } => {
            format!("cylinder, radius {radius} m, length {length} m")
        }
        RegionShape::Polyline { height, .. } => format!("outline, {height} m high"),
    };
    format!("{form}, at {} {} {}", at.x, at.y, at.z)
}

fn shortened(value: &str) -> String {
    const MOST: usize = 60;
    let one_line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= MOST {
        return one_line;
    }
    format!("{}…", one_line.chars().take(MOST - 1).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_means_something_else_bare_is_asked_for_by_its_kind() {
        let channels = ["true", "nil", "recording", "stopTime", "ball", "height"];
        let vocabulary = Vocabulary {
            objects: vec!["ball".to_string()],
            moving: vec![true],
            channels: channels.map(|name| (name.to_string(), "m")).to_vec(),
            ..Vocabulary::default()
        };
        let written: Vec<String> = names(&vocabulary).into_iter().map(|n| n.written).collect();
        assert_eq!(
            written[..7],
            [
                "ball",
                "(recording channel: 'true')",
                "(recording channel: 'nil')",
                "(recording channel: 'recording')",
                "(recording channel: 'stopTime')",
                "(recording channel: 'ball')",
                "height",
            ]
        );
    }
}
