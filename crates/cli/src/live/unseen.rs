//! What a test reads that only the finished recording can show.

use headland_base::Diagnostic;
use headland_judge::Vocabulary;
use headland_judge::code::{Code, Literal, Node, Op, Site};
use headland_judge::cut::end_sites;
use headland_judge::value::Host;

use super::VERDICTS;

/// Every such place, as an error: the verdict of the run would not be that of its recording.
/// The code was compiled for the vocabulary; `sensors` are topics.
pub fn reads(code: &Code, vocabulary: &Vocabulary, sensors: &[&str]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for block in &code.blocks {
        walk(&block.body, &mut |node| {
            let Some(what) = unseen(node, sensors, vocabulary) else { return };
            out.push(refusal(code, node.site, what));
        });
    }
    out
}

fn refusal(code: &Code, site: Site, what: &str) -> Diagnostic {
    let text = code.text(site);
    let message = format!("`{text}` reads {what}, which a run that goes on does not show");
    refused(code, site, message)
}

fn refused(code: &Code, site: Site, message: String) -> Diagnostic {
    Diagnostic::error("not-seen-live", message)
        .at(code.place(site))
        .help("judge the recording instead: headland test … --on RECORDING")
}

/// Every place that reckons with the end of a run, as an error: `why` it is not known before.
pub fn ends(code: &Code, why: &str) -> Vec<Diagnostic> {
    let refuse = |site: Site| {
        let text = code.text(site);
        let message = format!("`{text}` asks when the run ends, which is not known beforehand");
        refused(code, site, message)
            .note(why)
            .note("whether a snapshot is the last is seen: `recording time >= stopTime`")
    };
    end_sites(code).into_iter().map(refuse).collect()
}

fn walk(node: &Node, each: &mut impl FnMut(&Node)) {
    each(node);
    node.children().for_each(|child| walk(child, each));
}

/// What the node reads, in words.
fn unseen(node: &Node, sensors: &[&str], vocabulary: &Vocabulary) -> Option<&'static str> {
    // Joints are written with `::` where topics have `/`.
    let name = unknown_name(node, vocabulary)?.replace("::", "/");
    let name = name.trim_start_matches('/');
    let is_of = |topic: &&str| {
        let rest = name.strip_prefix(topic.trim_start_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if is_of(&VERDICTS) {
        return Some("verdicts");
    }
    sensors.iter().any(is_of).then_some("a sensor")
}

/// The whole name of something the run does not have. Such names are left as they stand in the
/// text: by themselves, behind a selector that asks the recording, or as a part of an object.
fn unknown_name(node: &Node, vocabulary: &Vocabulary) -> Option<String> {
    let (receiver, selector, args) = match &node.op {
        Op::Unknown(name) => return Some(name.clone()),
        Op::Send(receiver, selector, args) => (receiver, &**selector, args),
        _ => return None,
    };
    let literal = match args.first().map(|arg| &arg.op) {
        Some(Op::Literal(Literal::Str(name) | Literal::Symbol(name))) => Some(&**name),
        _ => None,
    };
    match (&receiver.op, selector, literal) {
        (Op::Host(Host::Object(i)), "link:" | "joint:", Some(name)) => {
            Some(format!("{}/{name}", vocabulary.objects[*i as usize]))
        }
        (Op::Host(Host::Object(i)), part, None) if args.is_empty() => {
            Some(format!("{}/{part}", vocabulary.objects[*i as usize]))
        }
        (_, "report:" | "channel:" | "object:" | "joint:", Some(name)) => Some(name.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use headland_base::{Findings, Source};
    use headland_judge::compile;
    use headland_judge::lang::parse;

    use super::*;

    fn compiled(text: &str) -> Code {
        compiled_for(text, &Vocabulary::default())
    }

    fn compiled_for(text: &str, vocabulary: &Vocabulary) -> Code {
        let mut findings = Findings::new();
        let program = parse(&Source::new("t.lrp".to_string(), text.to_string()), &mut findings);
        let none = |path: &str| Err(Diagnostic::error("missing-file", path));
        compile(&program, vocabulary, &none, &mut findings)
    }

    #[test]
    fn who_reckons_with_the_end_is_told_from_who_waits_for_it() {
        let events = [
            ("recording time >= stopTime", ""),
            ("stopTime = recording time", ""),
            ("[recording time < stopTime] value", ""),
            ("recording time > (stopTime - 0.5)", "stopTime"),
            ("(recording time ~ 0.1) = stopTime", "stopTime"),
            ("(stopTime - recording time) < 1", "stopTime"),
            ("startTime < stopTime", "stopTime"),
            ("(1 max: recording duration) > 3", "recording duration"),
            ("(recording time; duration) > 3", "duration"),
        ];
        for (event, wanted) in events {
            let text = format!("(machine m (state a) (on [{event}] a -> a))\n(spawn m a)");
            let code = compiled(&text);
            let found: Vec<&str> = end_sites(&code).iter().map(|site| code.text(*site)).collect();
            assert_eq!(found.concat(), wanted, "{event}");
        }
    }

    #[test]
    fn verdicts_and_sensors_are_refused_with_the_expression() {
        let text = "(machine m (state a) (state green)\n\
            (on [verdicts text = 'red'] a -> green)\n\
            (on [(recording report: '/verdicts') age > 1] a -> green)\n\
            (on [[(recording channel: 'arm/imu/gyro/x') > 1] value] a -> green)\n\
            (on [(recording channel: 'arm/imu2') > 1] a -> green))\n(spawn m a)";
        let refused = reads(&compiled(text), &Vocabulary::default(), &["/arm/imu"]);
        let mut messages: Vec<&str> = refused.iter().map(|d| d.message.as_str()).collect();
        messages.sort_unstable();
        assert_eq!(
            messages,
            [
                "`(recording channel: 'arm/imu/gyro/x')` reads a sensor, which a run that goes on \
                 does not show",
                "`(recording report: '/verdicts')` reads verdicts, which a run that goes on does \
                 not show",
                "`verdicts` reads verdicts, which a run that goes on does not show",
            ]
        );
    }

    /// A message with a pose makes an object in the recording, one with angles makes joints.
    #[test]
    fn objects_and_joints_that_sensors_make_are_refused_too() {
        let vocabulary = Vocabulary { objects: vec!["arm".to_string()], ..Vocabulary::default() };
        let sensors = ["/arm/odometry", "/arm/encoder"];
        let refused = [
            "(recording object: 'arm/odometry') pose x > 1",
            "arm odometry pose x > 1",
            "(arm link: 'odometry') pose x > 1",
            "(recording joint: 'arm::encoder::elbow') position > 1",
            "(arm joint: 'encoder::elbow') position > 1",
        ];
        let let_pass = [
            "(recording object: 'arm/odometer') pose x > 1",
            "arm pose x > 1",
            "(arm joint: 'elbow') position > 1",
            "(recording object: recording) pose x > 1",
        ];
        for (events, n) in [(&refused[..], 1), (&let_pass, 0)] {
            for event in events {
                let text = format!("(machine m (state a) (on [{event}] a -> a))\n(spawn m a)");
                let found = reads(&compiled_for(&text, &vocabulary), &vocabulary, &sensors);
                assert_eq!(found.len(), n, "{event}: {found:?}");
            }
        }
    }
}
