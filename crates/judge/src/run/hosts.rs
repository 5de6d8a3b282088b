//! Messages to things of the recording that were not known while compiling.

use headland_base::names::suggestion;

use crate::code::Site;
use crate::value::{Host, Value};
use crate::words::{self, Argument, Meaning};

use super::{Failure, FailureKind, Now, Run, Stop, Watch};

impl<N: Now, W: Watch> Run<'_, N, W> {
    pub(super) fn ask_host(
        &mut self,
        site: Site,
        host: Host,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let arg = match args {
            [] => Some(Argument::None),
            [Value::Host(other)] => Some(Argument::Host(*other)),
            [Value::Str(text) | Value::Symbol(text)] => Some(Argument::Text(text)),
            _ => None,
        };
        let code = self.code;
        let known = arg.and_then(|arg| words::meaning(&code.vocabulary, host, selector, arg));
        match known {
            Some(Meaning::Quantity(quantity)) => return Ok(Some(self.quantity(quantity))),
            Some(Meaning::Six(object, six)) => return Ok(Some(self.vector(object, six))),
            Some(Meaning::Host(other)) => return Ok(Some(Value::Host(other))),
            Some(Meaning::Text(text)) => return Ok(Some(Value::Str(text))),
            None => {}
        }
        match (host, selector, args) {
            (Host::Report(report), _, []) => Ok(self.ask_report(report, selector)),
            (Host::Recording, "duration", []) => {
                let duration = self.conditions.stop_secs - self.conditions.start_secs;
                Ok(Some(Value::number(duration)))
            }
            (Host::Recording, "fact:", [Value::Str(name) | Value::Symbol(name)]) => {
                let fact = code.vocabulary.facts.get(&**name);
                Ok(Some(fact.map_or(Value::Nil, |fact| match fact.parse::<f64>() {
                    Ok(number) if number.is_finite() => Value::number(number),
                    _ => Value::text(fact),
                })))
            }
            (
                Host::Recording,
                "object:" | "joint:" | "region:" | "report:" | "channel:",
                [Value::Str(name) | Value::Symbol(name)],
            ) => self.nothing_called(site, selector.trim_end_matches(':'), name),
            (
                Host::Recording,
                "fact:" | "object:" | "joint:" | "region:" | "report:" | "channel:",
                [other],
            ) => {
                let words = format!(
                    "`{selector}` needs a name, as in `{selector} 'name'`, not {}",
                    other.kind()
                );
                self.fail(site, words)
            }
            (Host::Object(_), "link:" | "joint:", [Value::Str(name) | Value::Symbol(name)]) => {
                self.nothing_called(site, selector.trim_end_matches(':'), name)
            }
            (Host::Object(_), "touches:" | "distanceTo:" | "inside:", [other]) => {
                let wants = if selector == "inside:" { "a region" } else { "an object" };
                let words = format!("`{selector}` needs {wants}, not {}", other.kind());
                self.fail(site, words)
            }
            _ => Ok(None),
        }
    }

    fn ask_report(&self, report: u32, selector: &str) -> Option<Value> {
        let said = self.now.said(report, self.time);
        let text = |pick: fn(&headland_record::track::Remark) -> &str| {
            said.map_or(Value::Nil, |(_, remark)| Value::text(pick(remark)))
        };
        Some(match selector {
            "text" => text(|remark| &remark.text),
            "kind" => text(|remark| &remark.kind),
            "source" => text(|remark| &remark.source),
            "age" => said.map_or(Value::Nil, |(when, _)| Value::number((self.time - when).secs())),
            "name" => Value::text(&self.code.vocabulary.reports[report as usize]),
            _ => return None,
        })
    }

    /// The nearest word a value understands, in words.
    pub(super) fn nearest_word(&self, receiver: &Value, selector: &str) -> Option<String> {
        let vocabulary = &self.code.vocabulary;
        let kind = match receiver {
            Value::Host(Host::Object(_)) => "object",
            Value::Host(Host::Joint(_)) => "joint",
            Value::Host(Host::Report(_)) => "report",
            Value::Host(Host::Recording) => "recording",
            Value::Vector(_) => "vector",
            _ => return None,
        };
        let words = words::WORDS.iter().filter(|word| word.receiver == kind);
        let mut known: Vec<&str> = words.flat_map(words::Word::selectors).collect();
        if let Value::Host(Host::Object(i)) = receiver {
            let name = &vocabulary.objects[*i as usize];
            let links = vocabulary.objects.iter().filter_map(|o| o.strip_prefix(name.as_str()));
            known.extend(links.filter_map(|link| link.strip_prefix('/')));
            let scope = format!("{}::", name.replace('/', "::"));
            known.extend(vocabulary.joints.iter().map(|j| j.strip_prefix(&scope).unwrap_or(j)));
        }
        suggestion(selector, known)
    }

    fn nothing_called<T>(&self, site: Site, kind: &str, name: &str) -> Result<T, Stop> {
        Err(Stop::Failed(Box::new(Failure {
            site,
            words: format!("the recording has no {kind} `{name:.80}`"),
            help: self.code.vocabulary.suggestion(name),
            kind: FailureKind::Wrong,
        })))
    }
}
