//! What is probably not meant, found without running anything.
//!
//! All of it is a warning: what dangles never fires, and the rest runs. Names are looked up
//! as the judge looks them up (`scopes`); what happens inside blocks is in `lint_block`.
//!
//! A program that imports, or that was not read whole, has parts nobody here can see;
//! findings that would be guesses are then withheld.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source, names};

use super::ast::*;
use super::scopes::{Declared, MachineScope, Scopes};

/// Reports what is probably not meant in a program, from its top to its end.
///
/// `host` are the names known outside of it: the objects, channels and regions of a
/// recording. Without a recording any name may be one of those, and only what looks like a
/// slip for a declared variable is reported.
pub fn lint(program: &Program, host: Option<&BTreeSet<String>>, findings: &mut Findings) {
    let scopes = Scopes::new(program);
    let mut lint = Lint::new(&scopes, host, &program.source);
    lint.program();
    lint.found.sort_by_key(|d| d.place.as_ref().map_or(0, |place| place.span.start));
    findings.extend(lint.found);
}

/// What is done with a variable or a formula.
#[derive(Clone, Copy, Default)]
pub(super) struct Uses {
    pub n_reads: usize,
    pub n_writes: usize,
}

/// One pass over one program.
pub(super) struct Lint<'a> {
    pub scopes: &'a Scopes<'a>,
    pub host: Option<&'a BTreeSet<String>>,
    source: &'a Arc<Source>,
    found: Vec<Diagnostic>,
    pub var_uses: BTreeMap<Declared, Uses>,
    pub formula_uses: BTreeMap<Declared, Uses>,
    event_uses: BTreeSet<(usize, usize)>,
    /// Undeclared names, in which machine, and the variable each is a slip for.
    pub slips: BTreeMap<(Option<usize>, &'a str), Option<&'a str>>,
    /// Where the last chain of operators in a surprising order begins.
    pub last_order: Option<usize>,
    /// Where the last name with a hyphen begins that was read as a difference.
    pub last_hyphen: Option<usize>,
    /// Variables that are assigned a block somewhere.
    pub holds_block: BTreeSet<Declared>,
    /// `x value: e` on variables, and what to write instead.
    pub old_assignments: Vec<(Declared, Span, String)>,
}

impl<'a> Lint<'a> {
    fn new(
        scopes: &'a Scopes<'a>,
        host: Option<&'a BTreeSet<String>>,
        source: &'a Arc<Source>,
    ) -> Lint<'a> {
        Lint {
            scopes,
            host,
            source,
            found: Vec::new(),
            var_uses: BTreeMap::new(),
            formula_uses: BTreeMap::new(),
            event_uses: BTreeSet::new(),
            slips: BTreeMap::new(),
            last_order: None,
            last_hyphen: None,
            holds_block: BTreeSet::new(),
            old_assignments: Vec::new(),
        }
    }

    /// The words at a place.
    pub fn text(&self, span: &Span) -> &'a str {
        let text = &self.source.text;
        text.get(span.start..span.end.min(text.len())).unwrap_or_default()
    }

    /// One more finding, unless nobody will read it.
    pub fn warn(
        &mut self,
        span: &Span,
        code: &'static str,
        message: impl FnOnce() -> String,
        help: impl FnOnce() -> Option<String>,
    ) {
        self.find(Diagnostic::warning, span, code, message, help);
    }

    /// One that leaves the test without a verdict.
    pub fn fault(
        &mut self,
        span: &Span,
        code: &'static str,
        message: impl FnOnce() -> String,
        help: impl FnOnce() -> Option<String>,
    ) {
        self.find(Diagnostic::error, span, code, message, help);
    }

    fn find(
        &mut self,
        new: fn(&'static str, String) -> Diagnostic,
        span: &Span,
        code: &'static str,
        message: impl FnOnce() -> String,
        help: impl FnOnce() -> Option<String>,
    ) {
        let is_shown = self.found.len() < Findings::MOST;
        let text = if is_shown { message() } else { String::new() };
        let help = if is_shown { help() } else { None };
        let place = Place::new(self.source, span.clone());
        self.found.push(new(code, text).at(place).help_maybe(help));
    }

    fn program(&mut self) {
        let scopes = self.scopes;
        self.duplicates("variable", scopes.vars.iter().map(|var| &var.name));
        self.duplicates("formula", scopes.formulas.iter().map(|formula| &formula.name));
        let machine_name = |idx: &usize| &scopes.machines[*idx].node.name;
        self.duplicates("machine", scopes.top.iter().map(machine_name));
        for (i, var) in scopes.vars.iter().enumerate() {
            self.hidden_by(None, &var.name);
            self.initialiser(&var.init, None, i);
        }
        for formula in &scopes.formulas {
            self.temporal(&formula.body, None);
        }
        for name in &scopes.requires {
            self.formula_name(&name.text, &name.span, None);
        }
        for name in &scopes.exports {
            if scopes.find_machine(&scopes.top, &name.text).is_none() {
                self.unknown(
                    "machine",
                    "here",
                    "unknown-machine",
                    name,
                    scopes.machine_names(None),
                );
            }
        }
        for spawn in &scopes.spawns {
            let found = scopes.find_machine(&scopes.top, &spawn.machine.text);
            self.spawn(spawn, found, None);
        }
        for idx in 0..scopes.machines.len() {
            self.machine(idx);
        }
        self.circles();
        self.old_assignments();
        self.unused();
        self.without_spawn();
    }

    fn without_spawn(&mut self) {
        let scopes = self.scopes;
        let is_started = !scopes.spawns.is_empty() || scopes.n_messy_spawns > 0;
        if is_started || !scopes.requires.is_empty() || !scopes.exports.is_empty() {
            return;
        }
        // Pointed at the machine that is meant, or at the start.
        let first = scopes.top.first().map(|idx| scopes.machines[*idx].node);
        let span = first.map_or(0..0, |machine| machine.name.span.clone());
        let help = first.map(|machine| {
            let mut states = machine.items.iter().filter_map(|item| match item {
                Item::State(state) => Some(state.name.text.as_str()),
                _ => None,
            });
            format!(
                "add `(spawn {} {})` at the end",
                machine.name.text,
                states.next().unwrap_or("state")
            )
        });
        let help = help.or(Some("add a machine and `(spawn machine state)`".to_string()));
        self.warn(&span, "no-spawn", || "nothing is started, so nothing is judged".into(), || help);
    }

    fn duplicates<'n>(&mut self, kind: &str, declared: impl Iterator<Item = &'n Name>) {
        let mut seen = BTreeSet::new();
        for name in declared {
            if !seen.insert(&name.text) {
                let message = || format!("there are two {kind}s called `{}`", name.text);
                let help = || Some("only the first counts; rename or remove one".to_string());
                self.warn(&name.span, "duplicate-declaration", message, help);
            }
        }
    }

    /// Something that is named and not there, with the nearest that is.
    pub fn unknown(
        &mut self,
        kind: &str,
        wherein: &str,
        code: &'static str,
        name: &Name,
        known: Vec<&str>,
    ) {
        let message = || format!("there is no {kind} `{}` {wherein}", name.text);
        self.warn(&name.span, code, message, || names::suggestion(&name.text, known));
    }

    fn spawn(&mut self, spawn: &Spawn, found: Option<usize>, owner: Option<(usize, usize)>) {
        let scopes = self.scopes;
        let Some(idx) = found else {
            if !scopes.has_imports {
                let known = scopes.machine_names(owner);
                self.unknown("machine", "here", "unknown-machine", &spawn.machine, known);
            }
            return;
        };
        let machine = &scopes.machines[idx];
        if machine.state(&spawn.state.text).is_none() {
            let wherein = format!("in `{}`", spawn.machine.text);
            let known = machine.state_names();
            self.unknown("state", &wherein, "unknown-state", &spawn.state, known);
        }
    }

    fn machine(&mut self, idx: usize) {
        let scopes = self.scopes;
        let machine = &scopes.machines[idx];
        self.duplicates("variable", machine.vars.iter().map(|var| &var.name));
        self.duplicates("event", machine.events.iter().map(|event| &event.name));
        self.duplicates("formula", machine.formulas.iter().map(|formula| &formula.name));
        self.duplicates("state", machine.states.iter().map(|state| &state.node.name));
        let machine_name = |idx: &usize| &scopes.machines[*idx].node.name;
        self.duplicates("machine", machine.machines.iter().map(machine_name));
        for (i, var) in machine.vars.iter().enumerate() {
            self.hidden_by(Some(idx), &var.name);
            self.initialiser(&var.init, Some(idx), i);
        }
        for event in &machine.events {
            self.condition(&event.block, Some(idx), || format!("the event `{}`", event.name.text));
        }
        for formula in &machine.formulas {
            self.temporal(&formula.body, Some(idx));
        }
        for (state_idx, state) in machine.states.iter().enumerate() {
            self.duplicates("machine", state.machines.iter().map(machine_name));
            for action in &state.actions {
                match &action.body {
                    ActionBody::Block(block) => self.action(block, Some(idx)),
                    ActionBody::Spawn(spawn) => {
                        let found = scopes.spawned(idx, state_idx, &spawn.machine.text);
                        self.spawn(spawn, found, Some((idx, state_idx)));
                    }
                }
            }
            for exit in state.exits.iter().filter(|_| state.machines.is_empty()) {
                let message = || "this exit stands in a state without a nested machine".to_string();
                let help = || Some("put it into the machine it leaves".to_string());
                self.warn(&exit.span, "exit-of-nothing", message, help);
            }
        }
        for transition in &machine.transitions {
            self.transition(idx, transition);
        }
        self.after_epsilon(machine);
        if !machine.starts.is_empty() {
            self.reach(idx);
        } else if scopes.is_first(idx) {
            self.never_started(machine);
        }
    }

    fn never_started(&mut self, machine: &MachineScope) {
        let scopes = self.scopes;
        let name = &machine.node.name;
        let is_exported = scopes.exports.iter().any(|export| export.text == name.text);
        // Nothing at all is started: one word on that is enough.
        let is_top = machine.outer.is_none();
        let is_said = scopes.spawns.is_empty() && scopes.requires.is_empty() && is_top;
        let around_has_gaps =
            machine.outer.map_or(scopes.has_gaps, |outer| scopes.machines[outer].has_gaps);
        if is_exported || is_said || around_has_gaps {
            return;
        }
        let message = || format!("the machine `{}` is never started", name.text);
        let help = || {
            Some(if is_top {
                format!("add `(spawn {} state)`", name.text)
            } else {
                format!("add `(onentry (spawn {} state))` to a state", name.text)
            })
        };
        self.warn(&name.span, "unused-machine", message, help);
    }

    fn transition(&mut self, idx: usize, transition: &'a Transition) {
        let machine = &self.scopes.machines[idx];
        match &transition.guard {
            Guard::Event(name) => self.event_name(idx, name),
            Guard::Block(block) => {
                self.condition(block, Some(idx), || "this condition".to_string());
            }
            Guard::AfterVar(name) => match self.scopes.var(Some(idx), &name.text) {
                Some(declared) => self.var_uses.entry(declared).or_default().n_reads += 1,
                None => {
                    let known = self.scopes.var_names(Some(idx));
                    self.unknown("variable", "here", "unknown-variable", name, known);
                }
            },
            Guard::AfterBlock(block) => self.action(block, Some(idx)),
            Guard::Always | Guard::AfterMillis(..) => {}
        }
        if let Some(from) = &transition.from
            && machine.state(&from.text).is_none()
        {
            self.unknown("state", "here", "unknown-state", from, machine.state_names());
        }
        if transition.is_exit {
            self.exit_target(machine, transition);
        } else {
            match machine.state(&transition.to.text) {
                None => {
                    self.unknown(
                        "state",
                        "here",
                        "unknown-state",
                        &transition.to,
                        machine.state_names(),
                    );
                }
                Some(target) if transition.from.is_none() && !self.scopes.has_wildcard_others => {
                    self.re_entry(machine, transition, target);
                }
                Some(_) => {}
            }
        }
    }

    fn event_name(&mut self, idx: usize, name: &Name) {
        let scopes = self.scopes;
        let found = scopes
            .around(idx)
            .find_map(|owner| Some((owner, scopes.machines[owner].event(&name.text)?)));
        let Some((owner, event)) = found else {
            // A formula may stand where an event does.
            if let Some(declared) = scopes.formula(Some(idx), &name.text) {
                self.formula_uses.entry(declared).or_default().n_reads += 1;
                return;
            }
            let known = scopes.machines[idx].event_names();
            return self.unknown("event", "here", "unknown-event", name, known);
        };
        self.event_uses.insert((owner, event));
        if owner != idx {
            let around = &scopes.machines[owner].node.name.text;
            let message = || format!("the event `{}` belongs to `{around}`", name.text);
            let help = || {
                let own = &scopes.machines[idx].node.name.text;
                Some(format!("it is used all the same; declare it in `{own}` to be sure"))
            };
            self.warn(&name.span, "event-from-outside", message, help);
        }
    }

    /// An exit leads to a state of whoever started the machine, in each place it is started.
    fn exit_target(&mut self, machine: &MachineScope, transition: &Transition) {
        let scopes = self.scopes;
        let to = &transition.to;
        let mut owners: BTreeSet<Option<usize>> =
            machine.starts.iter().map(|(owner, _)| *owner).collect();
        if owners.is_empty() {
            owners.extend(machine.outer.map(Some));
        }
        for owner in owners {
            let Some(owner) = owner else {
                let name = &machine.node.name.text;
                let message = || format!("`{name}` has no machine around it to exit to");
                let help = || Some("the program itself starts it; use `on`".to_string());
                self.warn(&transition.span, "exit-of-nothing", message, help);
                continue;
            };
            let owner = &scopes.machines[owner];
            if owner.state(&to.text).is_none() {
                let wherein = format!("in `{}`, where this leads", owner.node.name.text);
                let known = owner.state_names();
                self.unknown("state", &wherein, "unknown-exit-target", to, known);
            }
        }
    }

    /// `*->` leaves its own target too: what happens there on entry happens on every tick.
    fn re_entry(&mut self, machine: &MachineScope, transition: &Transition, target: usize) {
        let state = &machine.states[target];
        let is_timed = |other: &&&Transition| {
            let is_timer = matches!(
                other.guard,
                Guard::AfterMillis(..) | Guard::AfterVar(_) | Guard::AfterBlock(_)
            );
            is_timer && other.from.as_ref().is_some_and(|from| from.text == transition.to.text)
        };
        let has_timers = machine.transitions.iter().any(|other| is_timed(&other));
        if state.actions.is_empty() && !has_timers {
            return;
        }
        let name = &transition.to.text;
        let message = || format!("`*->` leaves `{name}` too, and enters it again while it holds");
        let help = || {
            Some(format!(
                "the actions and timers of `{name}` begin anew each time; name the source \
                 states, or write `; wildcard = others`"
            ))
        };
        self.warn(&transition.span, "wildcard-reentry", message, help);
    }

    /// What stands after an `eps` of the same source is never asked.
    fn after_epsilon(&mut self, machine: &MachineScope) {
        let mut sources: BTreeSet<&str> = BTreeSet::new();
        for transition in &machine.transitions {
            let Some(from) = &transition.from else { continue };
            if sources.contains(from.text.as_str()) {
                let message = || format!("an `eps` leaves `{}` before this is asked", from.text);
                let help = || Some("put the `eps` last; they are tried in order".to_string());
                self.warn(&transition.span, "unreachable-transition", message, help);
            }
            if matches!(transition.guard, Guard::Always)
                && machine.state(&transition.to.text).is_some()
            {
                sources.insert(&from.text);
            }
        }
    }

    /// States no way leads to, from where the machine is started.
    fn reach(&mut self, idx: usize) {
        let scopes = self.scopes;
        let machine = &scopes.machines[idx];
        let is_root = machine.starts.iter().any(|(owner, _)| owner.is_none());
        let green = machine.state("green");
        if is_root && green.is_none() && !machine.has_gaps {
            let name = &machine.node.name;
            let message = || format!("`{}` has no state `green`, so it can never pass", name.text);
            let help = || Some("a test passes when it ends in `(state green)`".to_string());
            self.warn(&name.span, "never-green", message, help);
        }
        let mut waiting: Vec<usize> = machine
            .starts
            .iter()
            .filter_map(|(_, spawn)| machine.state(&spawn.state.text))
            .collect();
        if waiting.len() < machine.starts.len() || machine.has_gaps || has_gaps_inside(scopes, idx)
        {
            return;
        }
        let mut ways: Vec<Vec<usize>> = vec![Vec::new(); machine.states.len()];
        let mut from_all: Vec<usize> = Vec::new();
        for transition in machine.transitions.iter().filter(|transition| !transition.is_exit) {
            let Some(to) = machine.state(&transition.to.text) else { continue };
            match &transition.from {
                None => from_all.push(to),
                Some(from) => {
                    if let Some(from) = machine.state(&from.text) {
                        ways[from].push(to);
                    }
                }
            }
        }
        for (from, state) in machine.states.iter().enumerate() {
            for child in &state.children {
                let exits = scopes.machines[*child].transitions.iter().filter(|t| t.is_exit);
                ways[from].extend(exits.filter_map(|exit| machine.state(&exit.to.text)));
            }
        }
        waiting.extend(from_all);
        let mut is_reached = vec![false; machine.states.len()];
        while let Some(state) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[state], true) {
                waiting.extend(&ways[state]);
            }
        }
        for (state, _) in is_reached.iter().enumerate().filter(|(_, is_reached)| !**is_reached) {
            let name = &machine.states[state].node.name;
            if machine.state(&name.text) != Some(state) {
                continue; // The second of two; that is said already.
            }
            if is_root && green == Some(state) {
                let message = || "no way leads to `green`, so it can never pass".to_string();
                let help = || Some("add a transition to it".to_string());
                self.warn(&name.span, "never-green", message, help);
            } else {
                let message = || format!("no way leads to the state `{}`", name.text);
                let help = || Some("add a transition to it, or remove it".to_string());
                self.warn(&name.span, "unreachable-state", message, help);
            }
        }
    }

    /// A variable that hides one around it, or something of the recording.
    fn hidden_by(&mut self, machine: Option<usize>, name: &Name) {
        let scopes = self.scopes;
        let outer = machine.map(|machine| scopes.machines[machine].outer);
        let around = outer.and_then(|outer| scopes.var(outer, &name.text));
        let hides = match around {
            Some((Some(owner), _)) => {
                format!("the variable of `{}`", scopes.machines[owner].node.name.text)
            }
            Some((None, _)) => "the variable at the top".to_string(),
            None if self.host.is_some_and(|host| host.contains(&name.text)) => {
                "what the recording calls so".to_string()
            }
            None => return,
        };
        let message = || format!("`{}` hides {hides}", name.text);
        let help = || Some("rename one of them, unless two are meant".to_string());
        self.warn(&name.span, "shadowed-name", message, help);
    }

    fn unused(&mut self) {
        let scopes = self.scopes;
        for (idx, machine) in scopes.machines.iter().enumerate() {
            if has_gaps_inside(scopes, idx) || machine.has_gaps {
                continue;
            }
            for (i, event) in machine.events.iter().enumerate() {
                let is_first = machine.event(&event.name.text) == Some(i);
                if is_first && !self.event_uses.contains(&(idx, i)) {
                    let message = || format!("the event `{}` is never used", event.name.text);
                    let help = || Some("add an `on` for it, or remove it".to_string());
                    self.warn(&event.name.span, "unused-event", message, help);
                }
            }
            self.unused_vars(Some(idx), &machine.vars);
            self.unused_formulas(Some(idx), &machine.formulas);
        }
        // Imported machines use the variables at the top.
        let some_gaps = scopes.machines.iter().any(|machine| machine.has_gaps);
        if !scopes.has_gaps && !some_gaps && !scopes.has_imports {
            self.unused_vars(None, &scopes.vars);
            self.unused_formulas(None, &scopes.formulas);
        }
    }

    fn unused_vars(&mut self, owner: Option<usize>, vars: &[&Var]) {
        for (i, var) in vars.iter().enumerate() {
            let is_first = self.scopes.var(owner, &var.name.text) == Some((owner, i));
            let uses = self.var_uses.get(&(owner, i)).copied().unwrap_or_default();
            if !is_first || uses.n_reads > 0 {
                continue;
            }
            let message = || {
                let what = if uses.n_writes > 0 { "assigned but never read" } else { "never used" };
                format!("the variable `{}` is {what}", var.name.text)
            };
            let help = || Some("remove it, or look for a misspelling".to_string());
            self.warn(&var.name.span, "unused-variable", message, help);
        }
    }

    fn unused_formulas(&mut self, owner: Option<usize>, formulas: &[&Formula]) {
        for (i, formula) in formulas.iter().enumerate() {
            let is_broken = matches!(formula.body.kind, TemporalKind::Broken(_));
            if is_broken || self.formula_uses.contains_key(&(owner, i)) {
                continue;
            }
            let name = &formula.name;
            let message = || format!("the formula `{}` is never used", name.text);
            let help = || Some(format!("add `(require {})` to judge by it", name.text));
            self.warn(&name.span, "unused-formula", message, help);
        }
    }
}

/// Whether something nested in a machine could not be read: it may use what seems unused.
fn has_gaps_inside(scopes: &Scopes, idx: usize) -> bool {
    // Nested machines directly follow the one around them.
    let end = scopes.machines[idx].node.span.end;
    let inside = scopes.machines[idx + 1..].iter().take_while(|m| m.node.span.start < end);
    inside.into_iter().any(|machine| machine.has_gaps)
}
