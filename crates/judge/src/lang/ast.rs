//! The tree of a test program.
//!
//! ```text
//! Program ─ Item* ┬ Var · Event · Formula · Spawn · Require · Import · Export
//!                 ├ Machine ─ Item* (var, event, formula, state, transition, machine)
//!                 │   └ State ─ Item* (action, machine, exit)
//!                 ├ Comment
//!                 └ Broken: what could not be read; everything else still runs
//! ```
//!
//! Every node knows the bytes it came from; [`same`](super::same) compares two trees without
//! those places.
//!
//! Deliberately absent: what a name refers to. The tree is what was written; `compile`
//! resolves it.

use std::ops::Range;
use std::sync::Arc;

use headland_base::Source;

/// Bytes of the source.
pub type Span = Range<usize>;

/// A name where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Program {
    /// The text it was read from.
    pub source: Arc<Source>,
    /// Its forms in textual order.
    pub items: Vec<Item>,
}

impl Program {
    /// Whether wildcards leave out their own target: a comment `; wildcard = others` at the
    /// top level.
    pub fn has_wildcard_others(&self) -> bool {
        let is_option = |text: &str| text.split_whitespace().eq(["wildcard", "=", "others"]);
        self.items.iter().any(|item| matches!(item, Item::Comment(text, _) if is_option(text)))
    }
}

/// One parenthesised form, or a comment.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `(var count := [0])`
    Var(Var),
    /// `(event goingUp [ball velocity z > 0])`
    Event(Event),
    /// `(formula low := always [ball pose z < 1])`
    Formula(Formula),
    /// `(require low)`: the formula decides the verdict too.
    Require(Name, Span),
    /// `(machine bouncer …)`
    Machine(Machine),
    /// `(state rising …)`
    State(State),
    /// `(on …)`, `(ontime …)`, `(eps …)`, `(exit …)`
    Transition(Transition),
    /// `(onentry …)`, `(onexit …)`, `(running …)`
    Action(Action),
    /// `(spawn bouncer falling)`
    Spawn(Spawn),
    /// `(import 'file')`
    Import(Import),
    /// `(export bouncer)`
    Export(Name, Span),
    /// `; words`, without the semicolon and the line end.
    Comment(String, Span),
    /// What could not be read, up to its closing parenthesis. The diagnostics say why.
    Broken(String, Span),
}

/// A variable and the block that gives its first value.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// Its name.
    pub name: Name,
    /// Runs when the program starts, or each time the machine is spawned.
    pub init: Block,
    /// The whole form.
    pub span: Span,
}

/// A named condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its name.
    pub name: Name,
    /// Occurs where this is exactly `true`.
    pub block: Block,
    /// The whole form.
    pub span: Span,
}

/// A machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name.
    pub name: Name,
    /// Variables, events, formulas, states, transitions, machines, in textual order.
    pub items: Vec<Item>,
    /// The whole form.
    pub span: Span,
}

/// A state.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its name.
    pub name: Name,
    /// Actions, nested machines, and exits of those, in textual order.
    pub items: Vec<Item>,
    /// The whole form.
    pub span: Span,
}

/// When an action runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// On entering the state.
    OnEntry,
    /// On leaving it.
    OnExit,
    /// On every tick in it that takes no transition.
    Running,
}

/// What a state does.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// When.
    pub moment: Moment,
    /// What.
    pub body: ActionBody,
    /// The whole form.
    pub span: Span,
}

/// What an action is.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionBody {
    /// Code.
    Block(Block),
    /// A machine is started; on entry only.
    Spawn(Spawn),
}

/// Starting a machine in a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawn {
    /// Which machine.
    pub machine: Name,
    /// Its first state.
    pub state: Name,
    /// The whole form.
    pub span: Span,
}

/// An import.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The file, as written.
    pub path: String,
    /// Where the path stands.
    pub path_span: Span,
    /// The whole form.
    pub span: Span,
}

/// A way from state to state.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// What makes it fire.
    pub guard: Guard,
    /// `exit`: the target is a state of the machine around this one.
    pub is_exit: bool,
    /// The source; `None` for `*->`, every state.
    pub from: Option<Name>,
    /// The target.
    pub to: Name,
    /// A name for reports.
    pub label: Option<Name>,
    /// The whole form.
    pub span: Span,
}

/// What makes a transition fire.
#[derive(Clone, Debug, PartialEq)]
pub enum Guard {
    /// `on name`, `exit name`.
    Event(Name),
    /// `on [block]`, `exit [block]`.
    Block(Block),
    /// `eps`: always.
    Always,
    /// `ontime 500`: after so many milliseconds in the state.
    AfterMillis(i64, Span),
    /// `ontime name`: the variable is read at every check.
    AfterVar(Name),
    /// `ontime [block]`: the block is run at every check.
    AfterBlock(Block),
}

/// `[:a :b | | t | statements]`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Arguments.
    pub params: Vec<Name>,
    /// Temporaries.
    pub temps: Vec<Name>,
    /// Statements; the value of the last is the value of the block.
    pub body: Vec<Expr>,
    /// `"comments"`, each with the number of the statement it stands before or in.
    pub comments: Vec<(usize, String)>,
    /// With its brackets.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `3`, `-0.5`, `1e-3`, `16rFF`.
    Number(f64),
    /// `'it''s'`.
    Str(String),
    /// `#front`, `#at:put:`, `#'two words'`.
    Symbol(String),
    /// `$x`.
    Char(char),
    /// `true`, `false`.
    Bool(bool),
    /// `nil`.
    Nil,
    /// `#(1 2 #(3) foo $a 'x' true)`: literals only; a bare word is a symbol.
    LiteralArray(Vec<Expr>),
    /// `{1 + 2. count}`.
    BraceArray(Vec<Expr>),
    /// A block as a value.
    Block(Block),
    /// A variable or something of the recording.
    Name(String),
    /// `name := value`.
    Assign(Name, Box<Expr>),
    /// `^ value`: ends the outermost block.
    Return(Box<Expr>),
    /// `receiver selector`, `receiver + argument`, `receiver at: 1 put: 2`.
    Send(Box<Expr>, Message),
    /// `receiver first; second: 2`: all to the same receiver, the value of the last.
    Cascade(Box<Expr>, Vec<Message>),
    /// What could not be read.
    Broken(String),
}

/// A selector with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// `z`, `+`, `at:put:`.
    pub selector: String,
    /// Where the selector begins (its first part).
    pub selector_span: Span,
    /// One for a binary selector, one per colon of a keyword selector.
    pub args: Vec<Expr>,
}

/// A named temporal formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// Its name.
    pub name: Name,
    /// What it says.
    pub body: Temporal,
    /// The whole form.
    pub span: Span,
}

/// A temporal formula, with atoms in the block language.
#[derive(Clone, Debug, PartialEq)]
pub struct Temporal {
    /// What.
    pub kind: TemporalKind,
    /// Where.
    pub span: Span,
}

/// What a temporal formula is.
#[derive(Clone, Debug, PartialEq)]
pub enum TemporalKind {
    /// `[ball pose z > 0]`
    Atom(Block),
    /// Another formula by its name.
    Name(String),
    /// `not f`
    Not(Box<Temporal>),
    /// `f and g`
    And(Box<Temporal>, Box<Temporal>),
    /// `f or g`
    Or(Box<Temporal>, Box<Temporal>),
    /// `f implies g`
    Implies(Box<Temporal>, Box<Temporal>),
    /// `f iff g`
    Iff(Box<Temporal>, Box<Temporal>),
    /// `always[a,b] f`: at every moment of the window ahead.
    Always(Window, Box<Temporal>),
    /// `eventually[a,b] f`: at some moment of the window ahead.
    Eventually(Window, Box<Temporal>),
    /// `historically[a,b] f`: at every moment of the window behind.
    Historically(Window, Box<Temporal>),
    /// `once[a,b] f`: at some moment of the window behind.
    Once(Window, Box<Temporal>),
    /// `f until[a,b] g`: g comes in the window ahead, f holds until then.
    Until(Window, Box<Temporal>, Box<Temporal>),
    /// `f since[a,b] g`: g came in the window behind, f has held since.
    Since(Window, Box<Temporal>, Box<Temporal>),
    /// What could not be read.
    Broken(String),
}

/// A stretch of time relative to now, ends included. Without brackets it has no end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// From so many nanoseconds away.
    pub from_nanos: i64,
    /// To so many nanoseconds away; `None` is the end of the recording (or its start).
    pub to_nanos: Option<i64>,
}
