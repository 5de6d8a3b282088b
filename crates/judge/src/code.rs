//! A test compiled for one vocabulary: every name resolved, every quantity numbered.
//!
//! Constant while it runs. `compile` makes it, `machine` steps it, `skim` looks ahead in it.

use std::sync::Arc;

use headland_base::{Place, Source};

use crate::lang::ast::Span;
use crate::temporal::{Formula, NodeId};
use crate::value::{Compare, Host};
use crate::vocabulary::{Quantity, Six, Vocabulary};

/// Where in which of the program's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// Index into [`Code::sources`].
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Site {
    /// Of bytes of a source; texts of 4 GB are refused long before.
    pub fn new(source: usize, span: &Span) -> Site {
        let short = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Site { source: short(source), start: short(span.start), end: short(span.end) }
    }
}

/// A whole compiled test.
#[derive(Debug)]
pub struct Code {
    /// The file itself first, then what it imports.
    pub sources: Vec<Arc<Source>>,
    /// The names it was compiled for.
    pub vocabulary: Vocabulary,
    /// Quantities it reads, by channel number.
    pub channels: Vec<Quantity>,
    /// Every block, by number.
    pub blocks: Vec<BlockCode>,
    /// Global variables in textual order.
    pub globals: Vec<VarCode>,
    /// Every machine, by number.
    pub machines: Vec<MachineCode>,
    /// What runs, in textual order.
    pub roots: Vec<SpawnCode>,
    /// Temporal formulas, each after those it mentions.
    pub formulas: Vec<FormulaCode>,
    /// What they say.
    pub temporal: Formula,
    /// Where each of its nodes stands, by the node's number.
    pub temporal_sites: Vec<Site>,
    /// Blocks of the atoms, by the atom's number.
    pub atoms: Vec<u32>,
    /// Formulas that decide the verdict too.
    pub required: Vec<u32>,
    /// Parts of the text could not be read.
    pub is_broken: bool,
    /// Wildcards leave out their own target (`wildcard = others`).
    pub wildcard_others: bool,
}

impl Code {
    /// A place a diagnostic can point at.
    pub fn place(&self, site: Site) -> Place {
        Place::new(&self.sources[site.source as usize], site.start as usize..site.end as usize)
    }

    /// The words at a site.
    pub fn text(&self, site: Site) -> &str {
        let text = &self.sources[site.source as usize].text;
        text.get(site.start as usize..site.end as usize).unwrap_or_default()
    }
}

/// A block.
#[derive(Debug)]
pub struct BlockCode {
    /// Arguments it takes.
    pub n_params: usize,
    /// Arguments and temporaries, its own and those of blocks run in place within it.
    pub n_locals: usize,
    /// What it does.
    pub body: Node,
    /// Where it stands.
    pub site: Site,
}

/// A variable.
#[derive(Debug)]
pub struct VarCode {
    /// Its name.
    pub name: String,
    /// The block of its first value.
    pub init: u32,
    /// Its form.
    pub site: Site,
}

/// A machine.
#[derive(Debug)]
pub struct MachineCode {
    /// Its name.
    pub name: String,
    /// The machine whose variables it sees.
    pub outer: Option<u32>,
    /// Its variables in textual order.
    pub vars: Vec<VarCode>,
    /// Its states in textual order.
    pub states: Vec<StateCode>,
    /// Its transitions in textual order.
    pub transitions: Vec<TransitionCode>,
    /// Its form.
    pub site: Site,
}

/// A state.
#[derive(Debug)]
pub struct StateCode {
    /// Its name.
    pub name: String,
    /// What is done on entering, in textual order.
    pub on_entry: Vec<EntryCode>,
    /// Blocks run on leaving.
    pub on_exit: Vec<u32>,
    /// Blocks run on every tick without a transition.
    pub running: Vec<u32>,
    /// Transitions that may leave it, in textual order.
    pub ways_out: Vec<u32>,
    /// Its form.
    pub site: Site,
}

/// What is done on entering a state.
#[derive(Debug)]
pub enum EntryCode {
    /// A block is run.
    Block(u32),
    /// A machine is started.
    Spawn(SpawnCode),
}

/// A machine to start.
#[derive(Clone, Debug)]
pub struct SpawnCode {
    /// Which; `None` where no such machine is in sight.
    pub machine: Option<u32>,
    /// Its first state; `None` where it has no such state.
    pub state: Option<u32>,
    /// As written, for reports.
    pub name: String,
    /// Its form.
    pub site: Site,
}

/// A transition.
#[derive(Debug)]
pub struct TransitionCode {
    /// What makes it fire.
    pub guard: GuardCode,
    /// Where it leads.
    pub target: Target,
    /// A name for reports.
    pub label: Option<String>,
    /// As written: `falling -> rising`.
    pub arc: String,
    /// Its form.
    pub site: Site,
}

/// Where a transition leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A state of the same machine.
    State(u32),
    /// A state of the machine around it, by name: a machine may be started from several.
    Exit(String),
    /// No such state: never fires.
    Missing,
}

/// What makes a transition fire.
#[derive(Debug)]
pub enum GuardCode {
    /// A block is `true`.
    Block(u32),
    /// Always.
    Always,
    /// So long after entering the state.
    AfterNanos(i64),
    /// As many milliseconds as a block says, asked at every check.
    AfterBlock(u32),
    /// Nothing of that name: never fires.
    Missing,
}

/// A temporal formula.
#[derive(Debug)]
pub struct FormulaCode {
    /// Its name.
    pub name: String,
    /// What it says; `None` where it could not be read or names nothing.
    pub root: Option<NodeId>,
    /// Atoms of it and of the formulas before it.
    pub n_atoms: usize,
    /// It looks back only, so its last value is the formula as a whole; else its first.
    pub looks_back: bool,
    /// Its form.
    pub site: Site,
}

impl FormulaCode {
    /// Which of so many snapshots decides it as a whole.
    pub fn judged_at(&self, n_snapshots: usize) -> usize {
        if self.looks_back { n_snapshots - 1 } else { 0 }
    }
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Number(f64),
    /// A character.
    Char(char),
    /// A text.
    Str(Arc<str>),
    /// A name.
    Symbol(Arc<str>),
}

/// An expression, with where it stands.
#[derive(Debug)]
pub struct Node {
    /// What.
    pub op: Op,
    /// Where.
    pub site: Site,
}

/// Arithmetic of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `max:`
    Max,
    /// `min:`
    Min,
}

impl Arithmetic {
    /// The arithmetic a selector asks for.
    pub fn from_selector(selector: &str) -> Option<Arithmetic> {
        Some(match selector {
            "+" => Arithmetic::Add,
            "-" => Arithmetic::Subtract,
            "*" => Arithmetic::Multiply,
            "/" => Arithmetic::Divide,
            "max:" => Arithmetic::Max,
            "min:" => Arithmetic::Min,
            _ => return None,
        })
    }

    /// As it is written.
    pub fn selector(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Max => "max:",
            Arithmetic::Min => "min:",
        }
    }

    /// Whether the result is in the unit of the operands.
    pub fn keeps_unit(self) -> bool {
        !matches!(self, Arithmetic::Multiply | Arithmetic::Divide)
    }
}

impl Node {
    /// The expressions it is made of, in the order they stand.
    pub fn children(&self) -> impl Iterator<Item = &Node> {
        let (boxed, listed): (Vec<&Node>, &[Node]) = match &self.op {
            Op::SetLocal(_, _, a)
            | Op::SetVar(_, _, a)
            | Op::SetGlobal(_, a)
            | Op::Abs(a)
            | Op::Negated(a)
            | Op::Not(a)
            | Op::Return(a) => (vec![a], &[]),
            Op::Compare(_, a, b)
            | Op::Arithmetic(_, a, b)
            | Op::Tolerance(a, b)
            | Op::And(a, b)
            | Op::Or(a, b) => (vec![a, b], &[]),
            Op::If(a, yes, no) => {
                let branches = yes.iter().chain(no).map(|branch| &**branch);
                (std::iter::once(&**a).chain(branches).collect(), &[])
            }
            Op::Sequence(nodes) | Op::Array(nodes) => (Vec::new(), nodes),
            Op::Send(receiver, _, args) => (vec![receiver], args),
            Op::Cascade(receiver, messages) => {
                let args = messages.iter().flat_map(|(_, args, _)| args);
                (std::iter::once(&**receiver).chain(args).collect(), &[])
            }
            _ => (Vec::new(), &[]),
        };
        boxed.into_iter().chain(listed)
    }
}

/// What an expression does.
#[derive(Debug)]
pub enum Op {
    /// A literal.
    Literal(Literal),
    /// An argument or a temporary: so many blocks out, and which.
    Local(u32, u32),
    /// A machine's variable: so many machines out, and which.
    Var(u32, u32),
    /// A global variable.
    Global(u32),
    /// A quantity of the snapshot, by channel number.
    Channel(u32),
    /// A yes or no of the snapshot, by channel number.
    YesNo(u32),
    /// `startTime`
    StartTime,
    /// `stopTime`
    StopTime,
    /// Something of the recording.
    Host(Host),
    /// An object's pose, velocity or acceleration, whole.
    Six(u32, Six),
    /// A name nobody knows.
    Unknown(String),
    /// Assignment to what is no variable.
    Unassignable(String),
    /// Assignment to a local.
    SetLocal(u32, u32, Box<Node>),
    /// Assignment to a machine's variable.
    SetVar(u32, u32, Box<Node>),
    /// Assignment to a global.
    SetGlobal(u32, Box<Node>),
    /// A comparison.
    Compare(Compare, Box<Node>, Box<Node>),
    /// Arithmetic.
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    /// `abs`
    Abs(Box<Node>),
    /// `negated`
    Negated(Box<Node>),
    /// `not`
    Not(Box<Node>),
    /// A tolerance.
    Tolerance(Box<Node>, Box<Node>),
    /// `and:` with its argument in place.
    And(Box<Node>, Box<Node>),
    /// `or:` with its argument in place.
    Or(Box<Node>, Box<Node>),
    /// `ifTrue:ifFalse:` and its relatives; a missing branch is nil.
    If(Box<Node>, Option<Box<Node>>, Option<Box<Node>>),
    /// One after the other, the value of the last.
    Sequence(Vec<Node>),
    /// `^`
    Return(Box<Node>),
    /// A fresh array.
    Array(Vec<Node>),
    /// A block as a value.
    Block(u32),
    /// Any other message.
    Send(Box<Node>, Box<str>, Vec<Node>),
    /// Several messages to one receiver.
    Cascade(Box<Node>, Vec<(Box<str>, Vec<Node>, Site)>),
    /// What could not be read.
    Broken,
}
