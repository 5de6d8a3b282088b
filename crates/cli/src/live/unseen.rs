//! What a test reads that only the finished recording can show.

use headland_base::Diagnostic;
use headland_judge::code::{Code, Literal, Node, Op, Site};

use super::VERDICTS;

/// Every such place, as an error: the verdict of the run would not be that of its recording.
pub fn reads(code: &Code, sensors: &[&str]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for block in &code.blocks {
        walk(&block.body, &mut |node| {
            let Some(what) = unseen(node, sensors) else { return };
            out.push(refusal(code, node.site, what));
        });
    }
    out
}

fn refusal(code: &Code, site: Site, what: &str) -> Diagnostic {
    let text = code.text(site);
    let message = format!("`{text}` reads {what}, which a run that goes on does not show");
    Diagnostic::error("not-seen-live", message)
        .at(code.place(site))
        .help("judge the recording instead: headland test … --on RECORDING")
}

fn walk(node: &Node, each: &mut impl FnMut(&Node)) {
    each(node);
    node.children().for_each(|child| walk(child, each));
}

/// What the node reads, in words. Names a run does not have are left as they stand in the
/// text, by themselves or behind `report:` and `channel:`.
fn unseen(node: &Node, sensors: &[&str]) -> Option<&'static str> {
    let name = match &node.op {
        Op::Unknown(name) => name.as_str(),
        Op::Send(_, selector, args) if matches!(&**selector, "report:" | "channel:") => {
            match args.first().map(|arg| &arg.op) {
                Some(Op::Literal(Literal::Str(name) | Literal::Symbol(name))) => name,
                _ => return None,
            }
        }
        _ => return None,
    };
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

#[cfg(test)]
mod tests {
    use headland_base::{Findings, Source};
    use headland_judge::lang::parse;
    use headland_judge::{Vocabulary, compile};

    use super::*;

    #[test]
    fn verdicts_and_sensors_are_refused_with_the_expression() {
        let text = "(machine m (state a) (state green)\n\
            (on [verdicts text = 'red'] a -> green)\n\
            (on [(recording report: '/verdicts') age > 1] a -> green)\n\
            (on [[(recording channel: 'arm/imu/gyro/x') > 1] value] a -> green)\n\
            (on [(recording channel: 'arm/imu2') > 1] a -> green))\n(spawn m a)";
        let mut findings = Findings::new();
        let program = parse(&Source::new("t.lrp".to_string(), text.to_string()), &mut findings);
        let none = |path: &str| Err(Diagnostic::error("missing-file", path));
        let code = compile(&program, &Vocabulary::default(), &none, &mut findings);
        let refused = reads(&code, &["/arm/imu"]);
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
}
