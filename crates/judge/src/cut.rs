//! What a recording that was cut short can still say.
//!
//! Somebody broke a run off: green is never believed, because what would have followed may have
//! been red. Red is believed where nothing that could have followed would undo it: a machine
//! that touched `red` before the last snapshot, a formula that says `always` of something that
//! was seen not to hold. A test that only failed because its recording ended is not decided.

use headland_base::SimTime;

use crate::code::{Code, Node as Block, Op, Site};
use crate::temporal::{Node, NodeId};
use crate::verdict::{Judgement, RootVerdict, Verdict};
use crate::vocabulary::Quantity;

/// The kind of the event that says that a run was broken off.
pub const INTERRUPTED: &str = "interrupted";

/// Takes back what a recording that was cut short at `time`, its last snapshot, cannot say.
pub fn cut_short(code: &Code, judgement: &mut Judgement, time: SimTime) {
    let reckons_with_end = !end_sites(code).is_empty();
    let uses_formulas = code.channels.iter().any(|q| matches!(q, Quantity::Formula(_)));
    judgement.cut_short(time, |root: &RootVerdict| match root.verdict {
        Verdict::Green | Verdict::Inconclusive => false,
        Verdict::Error => true,
        Verdict::Red if root.robustness.is_some() => formula_stays_false(code, &root.name),
        Verdict::Red => {
            root.by.is_some() && root.time < time && !reckons_with_end && !uses_formulas
        }
    });
}

/// Where a test reckons with the end of the recording. A time compared with `stopTime` itself
/// only asks whether this snapshot is the last, which a run knows as soon as it is.
pub fn end_sites(code: &Code) -> Vec<Site> {
    let mut sites = Vec::new();
    code.blocks.iter().for_each(|block| find_ends(code, &block.body, &mut sites));
    sites.sort_unstable();
    sites.dedup(); // an event is compiled wherever it is used
    sites
}

fn find_ends(code: &Code, node: &Block, out: &mut Vec<Site>) {
    let is_time = |node: &Block| match node.op {
        Op::Channel(channel) => code.channels[channel as usize] == Quantity::Time,
        _ => false,
    };
    let is_stop = |node: &Block| matches!(node.op, Op::StopTime);
    // A variable may hold the recording, so the word alone has to do.
    let is_duration = |selector: &str, args: &[Block]| selector == "duration" && args.is_empty();
    match &node.op {
        Op::Compare(_, a, b) if is_time(a) && is_stop(b) || is_stop(a) && is_time(b) => return,
        Op::StopTime => out.push(node.site),
        Op::Send(_, selector, args) if is_duration(selector, args) => out.push(node.site),
        Op::Cascade(_, messages) => {
            let asked = messages.iter().filter(|(selector, args, _)| is_duration(selector, args));
            out.extend(asked.map(|(_, _, site)| *site));
        }
        _ => {}
    }
    node.children().for_each(|child| find_ends(code, child, out));
}

/// Whether a formula that does not hold would not hold of any longer recording either: where
/// every part that it needs says `always`, or `historically`, of single snapshots.
fn formula_stays_false(code: &Code, name: &str) -> bool {
    let formula = code.formulas.iter().find(|formula| formula.name == name);
    let Some(root) = formula.and_then(|formula| formula.root) else { return false };
    let nodes: Vec<Node> = code.temporal.nodes().map(|(_, node)| node).collect();
    let is_of_snapshots = |id: NodeId| {
        let is_timeless = |node: Node| {
            node.looks_ahead().is_none()
                && !matches!(node, Node::Historically(..) | Node::Once(..) | Node::Since(..))
        };
        code.temporal.nodes_of(id).all(is_timeless)
    };
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        match nodes[id.index()] {
            Node::And(f, g) => open.extend([f, g]),
            Node::Always(_, f) if is_of_snapshots(f) => {}
            Node::Historically(window, f) if window.to_nanos.is_none() && is_of_snapshots(f) => {}
            _ => return false,
        }
    }
    true
}
