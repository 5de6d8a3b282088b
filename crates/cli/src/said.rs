//! What runs in processes of their own say to people, as one list: each thing once, with the
//! engines it is about.

use std::collections::BTreeSet;

use headland_base::Diagnostic;
use serde_json::{Value, json};

use crate::context::{Context, to_stderr};

/// One thing that was said.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// For programs.
    json: Value,
    /// For people.
    text: String,
    /// Where the head of the text ends, `note[realised]`, and names of engines may follow.
    head_end: usize,
}

impl Said {
    /// A diagnostic; in colour where people see it in colour.
    pub fn of(diagnostic: &Diagnostic, colour: bool) -> Said {
        let text = diagnostic.render(colour);
        let code = format!("[{}]", diagnostic.code);
        let head_end = text.find(&code).expect("a diagnostic begins with its code") + code.len();
        Said { json: diagnostic.to_json(), text, head_end }
    }

    /// As a line that [`Said::read`] understands.
    pub fn to_line(&self) -> String {
        format!("{}\n", json!({"said": self.json, "text": self.text, "head_end": self.head_end}))
    }

    fn of_json(json: &Value) -> Option<Said> {
        let text = json["text"].as_str()?.to_string();
        let head_end = usize::try_from(json["head_end"].as_u64()?).ok()?;
        // A line that only looks like ours may say anything.
        let said = Said { json: json.get("said")?.clone(), head_end, text };
        said.text.is_char_boundary(head_end).then_some(said)
    }

    /// `note[realised] on rapier, ode: …`
    fn with_names(&self, names: &[&str]) -> String {
        if names.is_empty() {
            return self.text.clone();
        }
        let (head, rest) = self.text.split_at(self.head_end);
        format!("{head} on {}{rest}", names.join(", "))
    }

    /// What a run wrote to its standard error. What is none of ours, a library wrote there.
    pub fn read(written: &str) -> Vec<Said> {
        let mut out: Vec<Said> = Vec::new();
        let mut strange: Vec<&str> = Vec::new();
        for line in written.lines() {
            let line_json: Option<Value> = serde_json::from_str(line).ok();
            let ours = line_json.as_ref().and_then(Said::of_json);
            match ours {
                Some(said) => out.push(said),
                None if line.trim().is_empty() => {}
                None => strange.push(line),
            }
        }
        out.extend(written_by_others(&strange));
        out
    }
}

/// More than this of what a library writes is left out.
const MOST_STRANGE: usize = 12;

fn written_by_others(lines: &[&str]) -> Option<Said> {
    let n_more = lines.len().saturating_sub(MOST_STRANGE);
    let (first, rest) = lines[n_more..].split_first()?;
    let remark = Diagnostic::remark("engine-wrote", format!("it wrote: {first}"));
    let remark = rest.iter().fold(remark, |remark, line| remark.note(*line));
    let remark = match n_more {
        0 => remark,
        n => remark.note(format!("and before that {}", headland_report::count(n as u64, "line"))),
    };
    Some(Said::of(&remark, false))
}

/// Shows what cells said, each thing once. `cells` are their names and what they said; what all
/// of them say is about none of them.
pub fn show(context: &Context, cells: &[(String, &[Said])]) {
    let mut things: Vec<(&Said, Vec<&str>)> = Vec::new();
    for (name, all) in cells {
        for said in *all {
            match things.iter_mut().find(|(seen, _)| seen.text == said.text) {
                Some((_, names)) => names.push(name),
                None => things.push((said, vec![name])),
            }
        }
    }
    for (said, names) in things {
        let mut seen = BTreeSet::new();
        let names: Vec<&str> = names.into_iter().filter(|name| seen.insert(*name)).collect();
        let about = if names.len() == cells.len() { Vec::new() } else { names };
        to_stderr(&match context.json() {
            true => format!("{}\n", with_engines(&said.json, &about)),
            false => said.with_names(&about),
        });
    }
}

fn with_engines(json: &Value, engines: &[&str]) -> Value {
    let mut out = json.clone();
    if let (Some(out), false) = (out.as_object_mut(), engines.is_empty()) {
        out.insert("engines".to_string(), engines.into());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_comes_back() {
        let said = Said::of(&Diagnostic::remark("realised", "friction 0.3").note("a"), true);
        let read = Said::read(&format!("{}ODE Message 3\n", said.to_line()));
        assert_eq!(read[0], said);
        assert!(read[1].text.contains("it wrote: ODE Message 3"), "{read:?}");
        let named = read[0].with_names(&["rapier", "ode"]);
        assert!(named.starts_with("\x1b[1;36mnote[realised] on rapier, ode\x1b[0m: fr"), "{named}");
    }
}
