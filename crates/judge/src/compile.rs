//! From the tree of a test and the names of a recording to code.
//!
//! ```text
//! declare   every machine gets a number, with the machine and the state it stands in
//! resolve   spawns, sources, targets and events find what they name, or are marked missing
//! blocks    `expression` turns blocks into nodes; `ball velocity z` becomes one channel
//! formulas  `formula` turns them into nodes of `temporal`, their atoms into blocks
//! ```
//!
//! What names nothing does not stop the rest: a transition to a state that is not there
//! never fires, a name nobody knows is an error when it is read. `lang::lint` says so
//! beforehand.

mod expression;
mod formula;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source, names};

use crate::code::{
    Code, EntryCode, GuardCode, MachineCode, Site, SpawnCode, StateCode, Target, TransitionCode,
    VarCode,
};
use crate::lang::ast::{
    Action, ActionBody, Block, Event, Guard, Item, Machine, Moment, Name, Program, Spawn, State,
    Transition, Var,
};
use crate::lang::parse;
use crate::vocabulary::{Quantity, Vocabulary};

/// Finds the text behind `(import 'path')`.
pub type Import<'a> = &'a dyn Fn(&str) -> Result<Arc<Source>, Diagnostic>;

/// Milliseconds to nanoseconds.
const NANOS_PER_MILLI: i64 = 1_000_000;

/// One machine as written, and where.
struct Declared<'a> {
    machine: &'a Machine,
    source: usize,
    outer: Option<u32>,
    /// The state of the outer machine it stands in.
    in_state: Option<&'a str>,
    /// Exits written in the state around it that are meant for it.
    exits: Vec<&'a Transition>,
}

/// Compiles a test for a vocabulary. Never fails: what is missing is marked.
///
/// `findings` are those of this test's own text: errors among them make every verdict an
/// error.
pub fn compile(
    program: &Program,
    vocabulary: &Vocabulary,
    import: Import<'_>,
    findings: &mut Findings,
) -> Code {
    let imported = load_imports(program, import, findings);
    let mut declared: Vec<Declared<'_>> = Vec::new();
    for item in &program.items {
        if let Item::Machine(machine) = item {
            declare(machine, 0, None, None, &mut declared);
        }
    }
    for (i, module) in imported.iter().enumerate() {
        for machine in exported(module) {
            declare(machine, i + 1, None, None, &mut declared);
        }
    }
    let sources = std::iter::once(program).chain(&imported).map(|p| Arc::clone(&p.source));
    let mut compiler = Compiler {
        code: Code {
            sources: sources.collect(),
            vocabulary: vocabulary.clone(),
            channels: Vec::new(),
            blocks: Vec::new(),
            globals: Vec::new(),
            machines: Vec::new(),
            roots: Vec::new(),
            formulas: Vec::new(),
            temporal: crate::temporal::Formula::new(),
            temporal_sites: Vec::new(),
            atoms: Vec::new(),
            required: Vec::new(),
            is_broken: false,
            wildcard_others: program.has_wildcard_others(),
        },
        globals: Vec::new(),
        formulas: Vec::new(),
        formulas_of_machines: Vec::new(),
        chain: Vec::new(),
        skip: 0,
        locals: Vec::new(),
        source: 0,
        has_imports: !imported.is_empty(),
        warnings: RefCell::default(),
    };
    compiler.program(program, &declared, findings);
    findings.extend(compiler.warnings.take());
    compiler.code.is_broken = findings.has_errors();
    compiler.code
}

fn load_imports(program: &Program, import: Import<'_>, findings: &mut Findings) -> Vec<Program> {
    let mut out = Vec::new();
    for item in &program.items {
        let Item::Import(form) = item else { continue };
        let place = headland_base::Place::new(&program.source, form.path_span.clone());
        match import(&form.path) {
            Ok(source) => {
                let module = parse(&source, findings);
                if exported(&module).next().is_none() {
                    let message = format!("`{}` exports no machine", form.path);
                    findings.push(
                        Diagnostic::warning("no-export", message).at(place).help(
                            "write (export NAME) in it, with the name of one of its machines",
                        ),
                    );
                }
                out.push(module);
            }
            Err(diagnostic) => findings.push(diagnostic.at(place)),
        }
    }
    out
}

/// The machines a file exports; nothing else of it comes along.
fn exported(program: &Program) -> impl Iterator<Item = &Machine> {
    let is_exported = |machine: &Machine| {
        program
            .items
            .iter()
            .any(|item| matches!(item, Item::Export(name, _) if name.text == machine.name.text))
    };
    program.items.iter().filter_map(move |item| match item {
        Item::Machine(machine) if is_exported(machine) => Some(machine),
        _ => None,
    })
}

fn declare<'a>(
    machine: &'a Machine,
    source: usize,
    outer: Option<u32>,
    in_state: Option<&'a str>,
    declared: &mut Vec<Declared<'a>>,
) {
    let id = number(declared.len());
    declared.push(Declared { machine, source, outer, in_state, exits: Vec::new() });
    for item in &machine.items {
        match item {
            Item::Machine(inner) => declare(inner, source, Some(id), None, declared),
            Item::State(state) => declare_in_state(state, source, id, declared),
            _ => {}
        }
    }
}

fn declare_in_state<'a>(
    state: &'a State,
    source: usize,
    outer: u32,
    declared: &mut Vec<Declared<'a>>,
) {
    let mut here = Vec::new();
    for item in &state.items {
        if let Item::Machine(inner) = item {
            here.push(declared.len());
            declare(inner, source, Some(outer), Some(&state.name.text), declared);
        }
    }
    // An exit written beside the machine is meant for the one that has its source state.
    for item in &state.items {
        let Item::Transition(exit) = item else { continue };
        let has_source = |i: &&usize| match &exit.from {
            Some(from) => state_names(declared[**i].machine).any(|name| name == from.text),
            None => true,
        };
        if let Some(&i) = here.iter().find(has_source).or(here.first()) {
            declared[i].exits.push(exit);
        }
    }
}

fn state_names(machine: &Machine) -> impl Iterator<Item = &str> {
    machine.items.iter().filter_map(|item| match item {
        Item::State(state) => Some(state.name.text.as_str()),
        _ => None,
    })
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("a text is too short to hold so many")
}

/// Where names are looked up, and the code so far.
struct Compiler<'a> {
    code: Code,
    globals: Vec<&'a str>,
    /// Formulas in sight by name, the innermost last.
    formulas: Vec<(&'a str, u32)>,
    /// The same for each machine compiled so far, for those within it.
    formulas_of_machines: Vec<Vec<(&'a str, u32)>>,
    /// The machine being compiled first, then those around it: names of their variables.
    chain: Vec<Vec<&'a str>>,
    /// Machines of the chain that the block does not see (events of an outer machine).
    skip: usize,
    /// Arguments and temporaries, the innermost block last.
    locals: Vec<Locals<'a>>,
    source: usize,
    has_imports: bool,
    /// What only shows with the imports and the recording at hand; `lang::lint` says the rest.
    warnings: RefCell<Vec<Diagnostic>>,
}

/// Arguments and temporaries of one block.
#[derive(Default)]
struct Locals<'a> {
    names: Vec<(&'a str, u32)>,
    n_slots: u32,
}

impl<'a> Compiler<'a> {
    fn program(
        &mut self,
        program: &'a Program,
        declared: &[Declared<'a>],
        findings: &mut Findings,
    ) {
        // Initialisers may mention any global; those of later ones are still nil.
        self.globals = vars_in(&program.items).map(|var| var.name.text.as_str()).collect();
        self.formulas_of(&program.items, findings);
        for var in vars_in(&program.items) {
            let var = self.var(var);
            self.code.globals.push(var);
        }
        let at_the_top = self.formulas.clone();
        for (id, own) in declared.iter().enumerate() {
            // The machine around stands before it in the list.
            self.formulas = match own.outer {
                Some(outer) => self.formulas_of_machines[outer as usize].clone(),
                None => at_the_top.clone(),
            };
            let machine = self.machine(number(id), declared, findings);
            self.code.machines.push(machine);
        }
        (self.source, self.formulas) = (0, at_the_top);
        for item in &program.items {
            match item {
                Item::Spawn(spawn) => {
                    let spawn = self.spawn(spawn, None, None, declared);
                    self.code.roots.push(spawn);
                }
                Item::Require(name, _) => {
                    let found = self.formulas.iter().find(|(known, _)| *known == name.text);
                    self.code.required.extend(found.map(|(_, id)| *id));
                }
                _ => {}
            }
        }
    }

    fn site(&self, span: &std::ops::Range<usize>) -> Site {
        Site::new(self.source, span)
    }

    fn formulas_of(&mut self, items: &'a [Item], findings: &mut Findings) {
        for formula in formula::in_order(items) {
            let compiled = self.formula_code(formula, findings);
            let id = number(self.code.formulas.len());
            self.code.formulas.push(compiled);
            self.formulas.push((&formula.name.text, id));
        }
    }

    fn var(&mut self, var: &'a Var) -> VarCode {
        let init = self.top_block(&var.init);
        VarCode { name: var.name.text.clone(), init, site: self.site(&var.span) }
    }

    fn machine(
        &mut self,
        id: u32,
        declared: &[Declared<'a>],
        findings: &mut Findings,
    ) -> MachineCode {
        let own = &declared[id as usize];
        let (machine, items) = (own.machine, &own.machine.items);
        self.source = own.source;
        self.chain = std::iter::successors(Some(id), |id| declared[*id as usize].outer)
            .map(|id| vars_of(declared[id as usize].machine))
            .collect();
        self.formulas_of(items, findings);
        self.formulas_of_machines.push(self.formulas.clone());
        let vars = vars_in(items).map(|var| self.var(var)).collect();
        let mut transitions = Vec::new();
        let mut events = EventBlocks::default();
        let exits = own.exits.iter().copied();
        let own_transitions = items.iter().filter_map(|item| match item {
            Item::Transition(transition) => Some(transition),
            _ => None,
        });
        let mut all: Vec<&'a Transition> = own_transitions.chain(exits).collect();
        all.sort_by_key(|transition| transition.span.start); // textual priority
        let mut states_by_name = BTreeMap::new();
        for (i, name) in state_names(machine).enumerate() {
            states_by_name.entry(name).or_insert(number(i)); // of two the first counts
        }
        for transition in &all {
            transitions.push(self.transition(
                transition,
                &states_by_name,
                (id, declared),
                &mut events,
            ));
        }
        let leaving = Leaving::new(&all, self.code.wildcard_others);
        let states = items.iter().filter_map(|item| match item {
            Item::State(state) => Some(self.state(state, id, declared, &leaving)),
            _ => None,
        });
        let states = states.collect();
        self.chain.clear();
        MachineCode {
            name: machine.name.text.clone(),
            outer: own.outer,
            vars,
            states,
            transitions,
            site: self.site(&machine.span),
        }
    }

    fn state(
        &mut self,
        state: &'a State,
        machine: u32,
        declared: &[Declared<'a>],
        leaving: &Leaving<'a>,
    ) -> StateCode {
        let (mut on_entry, mut on_exit, mut running) = (Vec::new(), Vec::new(), Vec::new());
        for item in &state.items {
            let Item::Action(Action { moment, body, .. }) = item else { continue };
            match (moment, body) {
                (Moment::OnEntry, ActionBody::Block(block)) => {
                    on_entry.push(EntryCode::Block(self.top_block(block)));
                }
                (Moment::OnEntry, ActionBody::Spawn(spawn)) => {
                    let name = Some(state.name.text.as_str());
                    on_entry.push(EntryCode::Spawn(self.spawn(
                        spawn,
                        Some(machine),
                        name,
                        declared,
                    )));
                }
                (Moment::OnExit, ActionBody::Block(block)) => on_exit.push(self.top_block(block)),
                (Moment::Running, ActionBody::Block(block)) => running.push(self.top_block(block)),
                // The parser has said that only an entry can spawn.
                (_, ActionBody::Spawn(_)) => {}
            }
        }
        StateCode {
            name: state.name.text.clone(),
            on_entry,
            on_exit,
            running,
            ways_out: leaving.ways_out(&state.name.text),
            site: self.site(&state.span),
        }
    }

    fn transition(
        &mut self,
        transition: &'a Transition,
        states_by_name: &BTreeMap<&str, u32>,
        (machine, declared): (u32, &[Declared<'a>]),
        events: &mut EventBlocks<'a>,
    ) -> TransitionCode {
        let guard = match &transition.guard {
            Guard::Event(name) => self.event(name, machine, declared, events),
            Guard::Block(block) => GuardCode::Block(self.top_block(block)),
            Guard::Always => GuardCode::Always,
            Guard::AfterMillis(millis, _) => {
                GuardCode::AfterNanos(millis.saturating_mul(NANOS_PER_MILLI))
            }
            Guard::AfterVar(name) => GuardCode::AfterBlock(self.block_of_name(name)),
            Guard::AfterBlock(block) => GuardCode::AfterBlock(self.top_block(block)),
        };
        let target = if transition.is_exit {
            Target::Exit(transition.to.text.clone())
        } else {
            let found = states_by_name.get(transition.to.text.as_str());
            found.map_or(Target::Missing, |i| Target::State(*i))
        };
        let from = transition.from.as_ref().map_or("*", |name| name.text.as_str());
        let arrow = if transition.from.is_some() { " ->" } else { "->" };
        TransitionCode {
            guard,
            target,
            label: transition.label.as_ref().map(|name| name.text.clone()),
            arc: format!("{from}{arrow} {}", transition.to.text),
            site: self.site(&transition.span),
        }
    }

    /// An event of this machine, or of one around it, which then sees what that one sees.
    fn event(
        &mut self,
        name: &'a Name,
        machine: u32,
        declared: &[Declared<'a>],
        events: &mut EventBlocks<'a>,
    ) -> GuardCode {
        if let Some(block) = events.0.get(name.text.as_str()) {
            return GuardCode::Block(*block);
        }
        let around = std::iter::successors(Some(machine), |id| declared[*id as usize].outer);
        for (skip, id) in around.enumerate() {
            let items = &declared[id as usize].machine.items;
            let found = items.iter().find_map(|item| match item {
                Item::Event(event) if event.name.text == name.text => Some(event),
                _ => None,
            });
            if let Some(Event { block, .. }) = found {
                self.skip = skip;
                let block = self.top_block(block);
                self.skip = 0;
                events.0.insert(&name.text, block);
                return GuardCode::Block(block);
            }
        }
        // A formula may stand where an event does.
        if self.formulas.iter().any(|(known, _)| *known == name.text) {
            let block = self.block_of_name(name);
            events.0.insert(&name.text, block);
            return GuardCode::Block(block);
        }
        GuardCode::Missing
    }

    /// Machines of the same state, then of the machines around it, then of the program.
    fn spawn(
        &self,
        spawn: &Spawn,
        machine: Option<u32>,
        state: Option<&str>,
        declared: &[Declared<'a>],
    ) -> SpawnCode {
        let find = |outer: Option<u32>, in_state: Option<&str>| {
            declared.iter().position(|d| {
                d.outer == outer
                    && d.in_state == in_state
                    && d.machine.name.text == spawn.machine.text
            })
        };
        let mut found = None;
        let (mut outer, mut in_state) = (machine, state);
        while found.is_none() {
            found = in_state.and_then(|_| find(outer, in_state)).or_else(|| find(outer, None));
            let Some(id) = outer else { break };
            (outer, in_state) = (declared[id as usize].outer, declared[id as usize].in_state);
        }
        let first = found.and_then(|id| {
            state_names(declared[id].machine).position(|name| name == spawn.state.text)
        });
        if self.has_imports {
            self.check_spawn(spawn, found.map(|id| &declared[id]), declared);
        }
        SpawnCode {
            machine: found.map(number),
            state: first.map(number),
            name: spawn.machine.text.clone(),
            site: self.site(&spawn.span),
        }
    }

    /// What a spawn names may be in a file that is imported, where the lint cannot see it.
    fn check_spawn(&self, spawn: &Spawn, found: Option<&Declared<'a>>, declared: &[Declared<'a>]) {
        let (name, wherein, code, known): (&Name, String, &'static str, Vec<&str>) = match found {
            None => {
                let seen = declared.iter().filter(|d| d.source == self.source || d.outer.is_none());
                let known = seen.map(|d| d.machine.name.text.as_str()).collect();
                (
                    &spawn.machine,
                    "machine here or in what is imported".into(),
                    "unknown-machine",
                    known,
                )
            }
            // In its own file the lint has said so.
            Some(found) if found.source == 0 => return,
            Some(found) => {
                let known: Vec<&str> = state_names(found.machine).collect();
                if known.contains(&spawn.state.text.as_str()) {
                    return;
                }
                let wherein = format!("state in `{}`", spawn.machine.text);
                (&spawn.state, wherein, "unknown-state", known)
            }
        };
        let (what, place) = wherein.split_once(' ').unwrap_or((&wherein, ""));
        let message = format!("there is no {what} `{}` {place}", name.text);
        self.warn(name, code, message, names::suggestion(&name.text, known));
    }

    fn warn(&self, name: &Name, code: &'static str, message: String, help: Option<String>) {
        let place = Place::new(&self.code.sources[self.source], name.span.clone());
        let diagnostic = Diagnostic::warning(code, message).at(place).help_maybe(help);
        self.warnings.borrow_mut().push(diagnostic);
    }

    /// The number of a quantity, which is read from then on.
    fn channel(&mut self, quantity: Quantity) -> u32 {
        let known = self.code.channels.iter().position(|q| *q == quantity);
        let id = known.unwrap_or_else(|| {
            self.code.channels.push(quantity);
            self.code.channels.len() - 1
        });
        number(id)
    }
}

/// Blocks of the events a machine has used so far.
#[derive(Default)]
struct EventBlocks<'a>(BTreeMap<&'a str, u32>);

/// The transitions of a machine by the state they leave.
struct Leaving<'a> {
    by_source: BTreeMap<&'a str, Vec<u32>>,
    /// Those that leave every state, with the one state each of them does not leave.
    wild: Vec<(u32, Option<&'a str>)>,
}

impl<'a> Leaving<'a> {
    fn new(transitions: &[&'a Transition], wildcard_others: bool) -> Leaving<'a> {
        let mut out = Leaving { by_source: BTreeMap::new(), wild: Vec::new() };
        for (i, transition) in (0..).zip(transitions) {
            let to = transition.to.text.as_str();
            match &transition.from {
                Some(from) => out.by_source.entry(&from.text).or_default().push(i),
                None => {
                    let is_left_out = wildcard_others && !transition.is_exit;
                    out.wild.push((i, is_left_out.then_some(to)));
                }
            }
        }
        out
    }

    /// In textual order.
    fn ways_out(&self, state: &str) -> Vec<u32> {
        let own = self.by_source.get(state).into_iter().flatten().copied();
        let wild = self.wild.iter().filter(|(_, but)| *but != Some(state)).map(|(i, _)| *i);
        let mut all: Vec<u32> = own.chain(wild).collect();
        all.sort_unstable();
        all
    }
}

fn vars_in(items: &[Item]) -> impl Iterator<Item = &Var> {
    items.iter().filter_map(|item| match item {
        Item::Var(var) => Some(var),
        _ => None,
    })
}

fn vars_of(machine: &Machine) -> Vec<&str> {
    vars_in(&machine.items).map(|var| var.name.text.as_str()).collect()
}

/// Arguments and temporaries of a block, in the order of their slots.
fn names_of(block: &Block) -> impl Iterator<Item = &Name> {
    block.params.iter().chain(&block.temps)
}
