//! Which machines, states, events and variables there are, and who sees whom.
//!
//! The rules: a variable is seen in its machine and in everything nested there; an event by
//! the transitions of its machine; a machine by the state it stands in, by the machines
//! around, and everywhere when it stands at the top. Where a name is declared twice in one
//! scope, the first counts.
//!
//! Deliberately absent: imports. A program that imports has machines nobody here can see.

use std::collections::BTreeMap;

use super::ast::*;

/// A machine with what stands directly in it, and where it is started from.
pub(super) struct MachineScope<'a> {
    pub node: &'a Machine,
    /// The machine around it, and which of its states, where it stands in one.
    pub outer: Option<usize>,
    in_state: Option<usize>,
    pub vars: Vec<&'a Var>,
    pub events: Vec<&'a Event>,
    pub formulas: Vec<&'a Formula>,
    pub states: Vec<StateScope<'a>>,
    /// With the exits that stand in the state around it.
    pub transitions: Vec<&'a Transition>,
    pub machines: Vec<usize>,
    /// Whose states start it, and in which state; `None` is the program itself.
    pub starts: Vec<(Option<usize>, &'a Spawn)>,
    /// Something in it could not be read, or is imported: guesses about it are withheld.
    pub has_gaps: bool,
    state_by_name: BTreeMap<&'a str, usize>,
    event_by_name: BTreeMap<&'a str, usize>,
    var_by_name: BTreeMap<&'a str, usize>,
    formula_by_name: BTreeMap<&'a str, usize>,
}

/// A state with what stands in it.
pub(super) struct StateScope<'a> {
    pub node: &'a State,
    pub actions: Vec<&'a Action>,
    pub machines: Vec<usize>,
    /// `exit`s that stand here instead of in the nested machine.
    pub exits: Vec<&'a Transition>,
    /// The machines it starts on entry, where they are known.
    pub children: Vec<usize>,
}

/// A whole program.
#[derive(Default)]
pub(super) struct Scopes<'a> {
    pub machines: Vec<MachineScope<'a>>,
    pub top: Vec<usize>,
    pub vars: Vec<&'a Var>,
    pub formulas: Vec<&'a Formula>,
    pub requires: Vec<&'a Name>,
    pub spawns: Vec<&'a Spawn>,
    pub exports: Vec<&'a Name>,
    pub has_imports: bool,
    pub has_gaps: bool,
    pub has_wildcard_others: bool,
    pub n_messy_spawns: usize,
    var_by_name: BTreeMap<&'a str, usize>,
    formula_by_name: BTreeMap<&'a str, usize>,
}

/// A declaration: whose (`None` is the program), and which of its list.
pub(super) type Declared = (Option<usize>, usize);

impl<'a> Scopes<'a> {
    pub fn new(program: &'a Program) -> Scopes<'a> {
        let has_wildcard_others = program.has_wildcard_others();
        let mut scopes = Scopes { has_wildcard_others, ..Scopes::default() };
        // Machines still to be opened: the node, the machine around, the state around.
        let mut waiting: Vec<(&'a Machine, Option<usize>, Option<usize>)> = Vec::new();
        for item in &program.items {
            match item {
                Item::Var(var) => scopes.vars.push(var),
                Item::Formula(formula) => scopes.formulas.push(formula),
                Item::Require(name, _) => scopes.requires.push(name),
                Item::Spawn(spawn) => scopes.spawns.push(spawn),
                Item::Export(name, _) => scopes.exports.push(name),
                Item::Import(_) => scopes.has_imports = true,
                Item::Machine(machine) => waiting.push((machine, None, None)),
                Item::Broken(text, _) => {
                    scopes.has_gaps = true;
                    scopes.n_messy_spawns += usize::from(text.contains("spawn"));
                }
                _ => {}
            }
        }
        scopes.var_by_name = first_of(scopes.vars.iter().map(|var| var.name.text.as_str()));
        scopes.formula_by_name =
            first_of(scopes.formulas.iter().map(|formula| formula.name.text.as_str()));
        waiting.reverse();
        while let Some((node, outer, state)) = waiting.pop() {
            let idx = scopes.machines.len();
            let machine = MachineScope::new(node, outer, state);
            // Pushed from the last to the first, so that they come out as they were written.
            let mut state_idx = machine.states.len();
            for item in node.items.iter().rev() {
                match item {
                    Item::Machine(inner) => waiting.push((inner, Some(idx), None)),
                    Item::State(state) => {
                        state_idx -= 1;
                        for item in state.items.iter().rev() {
                            if let Item::Machine(inner) = item {
                                waiting.push((inner, Some(idx), Some(state_idx)));
                            }
                        }
                    }
                    _ => {}
                }
            }
            scopes.machines.push(machine);
            match (outer, state) {
                (None, _) => scopes.top.push(idx),
                (Some(outer), None) => scopes.machines[outer].machines.push(idx),
                (Some(outer), Some(state)) => {
                    scopes.machines[outer].states[state].machines.push(idx);
                }
            }
        }
        scopes.place_exits();
        scopes.place_spawns();
        scopes
    }

    /// An exit that stands in a state belongs to the machine nested there that has its
    /// source, or to the first.
    fn place_exits(&mut self) {
        for outer in 0..self.machines.len() {
            for state in 0..self.machines[outer].states.len() {
                let state = &self.machines[outer].states[state];
                let inner = state.machines.clone();
                for exit in state.exits.clone() {
                    let has_source = |idx: &&usize| {
                        let from = exit.from.as_ref();
                        from.is_none_or(|from| self.machines[**idx].state(&from.text).is_some())
                    };
                    let owner = inner.iter().find(has_source).or(inner.first()).copied();
                    if let Some(owner) = owner {
                        let transitions = &mut self.machines[owner].transitions;
                        transitions.push(exit);
                        transitions.sort_by_key(|transition| transition.span.start);
                    }
                }
            }
        }
    }

    fn place_spawns(&mut self) {
        for spawn in self.spawns.clone() {
            if let Some(idx) = self.find_machine(&self.top, &spawn.machine.text) {
                self.machines[idx].starts.push((None, spawn));
            }
        }
        for owner in 0..self.machines.len() {
            for state in 0..self.machines[owner].states.len() {
                for action in self.machines[owner].states[state].actions.clone() {
                    let ActionBody::Spawn(spawn) = &action.body else { continue };
                    match self.spawned(owner, state, &spawn.machine.text) {
                        Some(idx) => {
                            self.machines[idx].starts.push((Some(owner), spawn));
                            self.machines[owner].states[state].children.push(idx);
                        }
                        // It may exit to any state.
                        None => self.machines[owner].has_gaps |= self.has_imports,
                    }
                }
            }
        }
    }

    pub fn find_machine(&self, among: &[usize], name: &str) -> Option<usize> {
        among.iter().copied().find(|idx| self.machines[*idx].node.name.text == name)
    }

    /// The machine that a state means by a name.
    pub fn spawned(&self, owner: usize, state: usize, name: &str) -> Option<usize> {
        self.machines_seen(owner, state).find(|idx| self.machines[*idx].node.name.text == name)
    }

    /// The machines a state sees, the nearest first: those that stand in it, in its machine,
    /// in the states and machines around, at the top.
    fn machines_seen(&self, owner: usize, state: usize) -> impl Iterator<Item = usize> {
        let around = std::iter::successors(Some((owner, Some(state))), |(idx, _)| {
            let machine = &self.machines[*idx];
            Some((machine.outer?, machine.in_state))
        });
        let beside = around.flat_map(|(idx, state)| {
            let machine = &self.machines[idx];
            let in_state = state.map_or(&[][..], |state| &machine.states[state].machines);
            in_state.iter().chain(&machine.machines)
        });
        beside.chain(&self.top).copied()
    }

    /// Whether a machine is the first of its name where it stands.
    pub fn is_first(&self, idx: usize) -> bool {
        let name = &self.machines[idx].node.name.text;
        let beside = match self.machines[idx].outer {
            None => &self.top,
            Some(outer) => {
                let outer = &self.machines[outer];
                let state = self.machines[idx].in_state;
                state.map_or(&outer.machines, |state| &outer.states[state].machines)
            }
        };
        self.find_machine(beside, name) == Some(idx)
    }

    /// A machine and those around it, the innermost first.
    pub fn around(&self, machine: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(machine), |idx| self.machines[*idx].outer)
    }

    /// The names of machines that a state could spawn.
    pub fn machine_names(&self, owner: Option<(usize, usize)>) -> Vec<&'a str> {
        let all = match owner {
            Some((owner, state)) => self.machines_seen(owner, state).collect(),
            None => self.top.clone(),
        };
        all.into_iter().map(|idx| self.machines[idx].node.name.text.as_str()).collect()
    }

    /// The variable a name means inside a machine, or at the top.
    pub fn var(&self, machine: Option<usize>, name: &str) -> Option<Declared> {
        let own = machine.and_then(|machine| {
            self.around(machine).find_map(|idx| {
                self.machines[idx].var_by_name.get(name).map(|var| (Some(idx), *var))
            })
        });
        own.or_else(|| self.var_by_name.get(name).map(|var| (None, *var)))
    }

    /// The formula a name means inside a machine, or at the top.
    pub fn formula(&self, machine: Option<usize>, name: &str) -> Option<Declared> {
        let own = machine.and_then(|machine| {
            self.around(machine).find_map(|idx| {
                self.machines[idx].formula_by_name.get(name).map(|formula| (Some(idx), *formula))
            })
        });
        own.or_else(|| self.formula_by_name.get(name).map(|formula| (None, *formula)))
    }

    /// The declaration itself.
    pub fn var_at(&self, (owner, idx): Declared) -> &'a Var {
        owner.map_or(&self.vars, |owner| &self.machines[owner].vars)[idx]
    }

    /// The declaration itself.
    pub fn formula_at(&self, (owner, idx): Declared) -> &'a Formula {
        owner.map_or(&self.formulas, |owner| &self.machines[owner].formulas)[idx]
    }

    /// Every variable seen inside a machine, or at the top.
    pub fn var_names(&self, machine: Option<usize>) -> Vec<&'a str> {
        let own = machine.into_iter().flat_map(|machine| self.around(machine));
        let own = own.flat_map(|idx| &self.machines[idx].vars);
        own.chain(&self.vars).map(|var| var.name.text.as_str()).collect()
    }

    /// Every formula seen inside a machine, or at the top.
    pub fn formula_names(&self, machine: Option<usize>) -> Vec<&'a str> {
        let own = machine.into_iter().flat_map(|machine| self.around(machine));
        let own = own.flat_map(|idx| &self.machines[idx].formulas);
        own.chain(&self.formulas).map(|formula| formula.name.text.as_str()).collect()
    }
}

impl<'a> MachineScope<'a> {
    fn new(node: &'a Machine, outer: Option<usize>, in_state: Option<usize>) -> MachineScope<'a> {
        let mut scope = MachineScope {
            node,
            outer,
            in_state,
            vars: Vec::new(),
            events: Vec::new(),
            formulas: Vec::new(),
            states: Vec::new(),
            transitions: Vec::new(),
            machines: Vec::new(),
            starts: Vec::new(),
            has_gaps: false,
            state_by_name: BTreeMap::new(),
            event_by_name: BTreeMap::new(),
            var_by_name: BTreeMap::new(),
            formula_by_name: BTreeMap::new(),
        };
        for item in &node.items {
            match item {
                Item::Var(var) => scope.vars.push(var),
                Item::Event(event) => scope.events.push(event),
                Item::Formula(formula) => scope.formulas.push(formula),
                Item::Transition(transition) => scope.transitions.push(transition),
                Item::State(state) => scope.states.push(StateScope::new(state)),
                Item::Broken(..) => scope.has_gaps = true,
                _ => {}
            }
        }
        scope.has_gaps |= scope
            .states
            .iter()
            .any(|state| state.node.items.iter().any(|item| matches!(item, Item::Broken(..))));
        scope.state_by_name = first_of(scope.states.iter().map(|s| s.node.name.text.as_str()));
        scope.event_by_name = first_of(scope.events.iter().map(|e| e.name.text.as_str()));
        scope.var_by_name = first_of(scope.vars.iter().map(|v| v.name.text.as_str()));
        scope.formula_by_name = first_of(scope.formulas.iter().map(|f| f.name.text.as_str()));
        scope
    }

    pub fn state(&self, name: &str) -> Option<usize> {
        self.state_by_name.get(name).copied()
    }

    pub fn event(&self, name: &str) -> Option<usize> {
        self.event_by_name.get(name).copied()
    }

    pub fn state_names(&self) -> Vec<&'a str> {
        self.states.iter().map(|state| state.node.name.text.as_str()).collect()
    }

    pub fn event_names(&self) -> Vec<&'a str> {
        self.events.iter().map(|event| event.name.text.as_str()).collect()
    }
}

impl<'a> StateScope<'a> {
    fn new(node: &'a State) -> StateScope<'a> {
        let (mut actions, mut exits) = (Vec::new(), Vec::new());
        for item in &node.items {
            match item {
                Item::Action(action) => actions.push(action),
                Item::Transition(transition) => exits.push(transition),
                _ => {}
            }
        }
        StateScope { node, actions, machines: Vec::new(), exits, children: Vec::new() }
    }
}

fn first_of<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut map = BTreeMap::new();
    for (i, name) in names.enumerate() {
        map.entry(name).or_insert(i);
    }
    map
}
