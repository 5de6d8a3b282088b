//! Judging a formula while the run goes on: one sample goes in, one degree comes out.
//!
//! Only what looks back can be answered now. What is kept is what the windows can still
//! see: of two samples of which the younger decides in any case, only the younger, and
//! without a far end a single value.

use std::collections::VecDeque;
use std::fmt;

use headland_base::SimTime;

use super::columns::{degree_iff, degree_implies};
use super::degree::Degree;
use super::{Formula, Node, NodeId};
use crate::lang::ast::Window;

/// A formula that waits for samples.
#[derive(Clone, Debug)]
pub struct Monitor<D> {
    formula: Formula,
    root: NodeId,
    /// What each node remembers.
    memories: Vec<Memory<D>>,
    /// What each node was at the latest sample.
    degrees: Vec<D>,
    latest: Option<SimTime>,
}

/// Why a formula cannot be judged live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooksAhead {
    /// The operator.
    pub node: NodeId,
    /// Its word, `eventually`.
    pub word: &'static str,
    /// The word of its mirror, `once`, which a live run can answer.
    pub instead: &'static str,
}

impl fmt::Display for LooksAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LooksAhead { word, instead, .. } = self;
        write!(
            f,
            "`{word}` looks ahead, and a live run knows only what has happened: \
             say it with `{instead}`, or judge the recording afterwards"
        )
    }
}

/// A sample came after a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWentBack {
    /// The latest time seen.
    pub latest: SimTime,
    /// The time of the refused sample.
    pub got: SimTime,
}

impl fmt::Display for TimeWentBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "time went back from {} to {}", self.latest, self.got)
    }
}

impl<D: Degree> Monitor<D> {
    /// Refuses what looks ahead, naming every such operator under `root`.
    pub fn new(formula: &Formula, root: NodeId) -> Result<Monitor<D>, Vec<LooksAhead>> {
        let used = formula.used_by(root);
        let ahead: Vec<LooksAhead> = formula
            .nodes()
            .filter(|(id, _)| used[id.index()])
            .filter_map(|(node, kind)| {
                let (word, instead) = kind.looks_ahead()?;
                Some(LooksAhead { node, word, instead })
            })
            .collect();
        if !ahead.is_empty() {
            return Err(ahead);
        }
        let memories = formula
            .nodes()
            .map(|(id, node)| if used[id.index()] { Memory::of(node) } else { Memory::Unused })
            .collect();
        let degrees = vec![D::FALSE; formula.len()];
        Ok(Monitor { formula: formula.clone(), root, memories, degrees, latest: None })
    }

    /// What the formula is at this sample. `atoms` has a degree for each atom, by its
    /// number. A refused sample leaves everything as it was.
    pub fn push(&mut self, time: SimTime, atoms: &[D]) -> Result<D, TimeWentBack> {
        if let Some(latest) = self.latest.filter(|latest| time < *latest) {
            return Err(TimeWentBack { latest, got: time });
        }
        self.latest = Some(time);
        for ((id, node), memory) in self.formula.nodes().zip(&mut self.memories) {
            let at = |child: NodeId| self.degrees[child.index()];
            self.degrees[id.index()] = match (memory, node) {
                (Memory::Unused, _) => continue,
                (Memory::Least(best), Node::Historically(_, child)) => {
                    best.push(time, at(child), |new, old| new <= old).unwrap_or(D::TRUE)
                }
                (Memory::Greatest(best), Node::Once(_, child)) => {
                    best.push(time, at(child), |new, old| new >= old).unwrap_or(D::FALSE)
                }
                (Memory::Since(since), Node::Since(_, left, right)) => {
                    since.push(time, at(left), at(right))
                }
                (_, Node::Atom(number)) => atoms[number],
                (_, Node::Not(child)) => at(child).not(),
                (_, Node::And(left, right)) => at(left).min(at(right)),
                (_, Node::Or(left, right)) => at(left).max(at(right)),
                (_, Node::Implies(left, right)) => degree_implies(at(left), at(right)),
                (_, Node::Iff(left, right)) => degree_iff(at(left), at(right)),
                (_, node) => unreachable!("{node:?} was refused at the door"),
            };
        }
        Ok(self.degrees[self.root.index()])
    }

    /// Whether no later sample can change what the formula is now: *historically* without a
    /// far end that has failed stays so, and *once* that has come true.
    pub fn is_settled(&self) -> bool {
        let mut settled = vec![false; self.formula.len()];
        for (id, node) in self.formula.nodes() {
            let is = |child: NodeId| settled[child.index()];
            let is_at =
                |child: NodeId, degree: D| is(child) && self.degrees[child.index()] == degree;
            let now = self.degrees[id.index()];
            settled[id.index()] = match node {
                Node::Historically(Window { to_nanos: None, .. }, _) => now == D::FALSE,
                Node::Once(Window { to_nanos: None, .. }, _) => now == D::TRUE,
                Node::Not(f) => is(f),
                Node::And(f, g) => is_at(f, D::FALSE) || is_at(g, D::FALSE) || (is(f) && is(g)),
                Node::Or(f, g) => is_at(f, D::TRUE) || is_at(g, D::TRUE) || (is(f) && is(g)),
                Node::Implies(f, g) => is_at(f, D::FALSE) || is_at(g, D::TRUE) || (is(f) && is(g)),
                Node::Iff(f, g) => is(f) && is(g),
                _ => false,
            };
        }
        settled[self.root.index()]
    }

    /// How many samples are kept, over all windows.
    pub fn n_kept(&self) -> usize {
        self.memories.iter().map(Memory::n_kept).sum()
    }
}

/// What a node must remember of the past.
#[derive(Clone, Debug)]
enum Memory<D> {
    /// The root does not need this node.
    Unused,
    /// Now is enough.
    None,
    Least(Best<D>),
    Greatest(Best<D>),
    Since(Box<SinceMemory<D>>),
}

impl<D: Degree> Memory<D> {
    fn of(node: Node) -> Memory<D> {
        match node {
            Node::Historically(window, _) => Memory::Least(Best::new(window)),
            Node::Once(window, _) => Memory::Greatest(Best::new(window)),
            Node::Since(window, ..) => Memory::Since(Box::new(SinceMemory::new(window))),
            _ => Memory::None,
        }
    }

    fn n_kept(&self) -> usize {
        match self {
            Memory::Unused | Memory::None => 0,
            Memory::Least(best) | Memory::Greatest(best) => best.n_kept(),
            Memory::Since(since) => {
                since.held.n_kept() + since.reached.n_kept() + since.waiting.len()
            }
        }
    }
}

/// Nanoseconds between two moments, without a limit.
fn age(now: SimTime, then: SimTime) -> i128 {
    i128::from(now.nanos()) - i128::from(then.nanos())
}

/// The best value of a window behind now.
#[derive(Clone, Debug)]
struct Best<D> {
    window: Window,
    /// Too young for the window, oldest first.
    waiting: VecDeque<(SimTime, D)>,
    /// In the window, oldest first, each better than all younger ones: the first is the best.
    kept: VecDeque<(SimTime, D)>,
}

impl<D: Degree> Best<D> {
    fn new(window: Window) -> Best<D> {
        Best { window, waiting: VecDeque::new(), kept: VecDeque::new() }
    }

    /// The best of the window after one more sample; `None` where the window is empty.
    /// `beats`: the first makes the second, which is older, needless.
    fn push(&mut self, now: SimTime, value: D, beats: impl Fn(D, D) -> bool) -> Option<D> {
        self.waiting.push_back((now, value));
        while let Some((time, value)) = self.waiting.front().copied()
            && age(now, time) >= i128::from(self.window.from_nanos)
        {
            self.waiting.pop_front();
            while self.kept.back().is_some_and(|(_, older)| beats(value, *older)) {
                self.kept.pop_back();
            }
            // What never leaves the window keeps whatever is worse needless for ever.
            if self.window.to_nanos.is_some() || self.kept.is_empty() {
                self.kept.push_back((time, value));
            }
        }
        if let Some(to_nanos) = self.window.to_nanos {
            while self.kept.front().is_some_and(|(time, _)| age(now, *time) > to_nanos.into()) {
                self.kept.pop_front();
            }
        }
        self.kept.front().map(|(_, value)| *value)
    }

    fn n_kept(&self) -> usize {
        self.waiting.len() + self.kept.len()
    }
}

/// `f since[a,b] g`, in the three parts of [`super::columns::since`].
#[derive(Clone, Debug)]
struct SinceMemory<D> {
    from_nanos: i64,
    /// f over what is younger than the window.
    held: Best<D>,
    /// g over the window.
    reached: Best<D>,
    /// `f since g` without a window, at samples younger than the window.
    waiting: VecDeque<(SimTime, D)>,
    /// The same at the youngest sample that is not.
    settled: D,
    latest: D,
}

impl<D: Degree> SinceMemory<D> {
    fn new(window: Window) -> SinceMemory<D> {
        let from_nanos = window.from_nanos.max(0);
        // Nanoseconds are whole: younger than `from` is at most one less. None, if from is 0.
        let younger = Window { from_nanos: 0, to_nanos: Some(from_nanos - 1) };
        SinceMemory {
            from_nanos,
            held: Best::new(younger),
            reached: Best::new(window),
            waiting: VecDeque::new(),
            settled: D::FALSE,
            latest: D::FALSE,
        }
    }

    fn push(&mut self, now: SimTime, left: D, right: D) -> D {
        self.latest = left.min(self.latest).max(right);
        self.waiting.push_back((now, self.latest));
        while let Some((time, value)) = self.waiting.front().copied()
            && age(now, time) >= i128::from(self.from_nanos)
        {
            self.waiting.pop_front();
            self.settled = value;
        }
        let held = self.held.push(now, left, |new, old| new <= old).unwrap_or(D::TRUE);
        let reached = self.reached.push(now, right, |new, old| new >= old).unwrap_or(D::FALSE);
        held.min(reached).min(self.settled)
    }
}
