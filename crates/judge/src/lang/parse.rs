//! The outer forms: text goes in, a tree comes out, whatever the text.
//!
//! Machines and states are read with a stack of our own instead of recursion, so that
//! depth costs memory and no call stack. A form that cannot be read becomes
//! [`Item::Broken`] up to its closing parenthesis, with a report; the forms around it stay.
//!
//! Start reading at [`parse`]; one row of [`FORMS`] is one keyword.

use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Source};

use super::ast::*;
use super::lex::{Failed, Read, Reader, continues_name, starts_name};

/// Machines and states inside each other.
pub const MOST_FORMS_NESTED: usize = 400;

/// What may hold forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Program,
    Machine,
    State,
}

/// A keyword, where its form may stand, and what a person is told when it stands elsewhere.
struct Form {
    keyword: &'static str,
    holders: &'static [Holder],
    belongs: &'static str,
    pattern: &'static str,
}

impl Form {
    fn holds_forms(&self) -> bool {
        matches!(self.keyword, "machine" | "state")
    }
}

const IN_PROGRAM: &[Holder] = &[Holder::Program];
const IN_MACHINE: &[Holder] = &[Holder::Machine];
const IN_STATE: &[Holder] = &[Holder::State];
const TOP_OR_MACHINE: &str = "it belongs at the top of the program or directly in a machine";
const AT_TOP: &str = "it belongs at the top of the program, outside every machine";
const MACHINE_ONLY: &str = "it belongs directly in a machine, beside its states; \
                            is a parenthesis closed too early or too late?";
const STATE_ONLY: &str = "it belongs in a state: `(state name (onentry [ ... ]))`";

const fn form(
    keyword: &'static str,
    holders: &'static [Holder],
    belongs: &'static str,
    pattern: &'static str,
) -> Form {
    Form { keyword, holders, belongs, pattern }
}

/// Every form there is, in the order help pages list them.
const FORMS: &[Form] = &[
    form("var", &[Holder::Program, Holder::Machine], TOP_OR_MACHINE, "(var name := [value])"),
    form("machine", &[Holder::Program, Holder::Machine, Holder::State], "", "(machine name ...)"),
    form("state", IN_MACHINE, MACHINE_ONLY, "(state name ...)"),
    form("event", IN_MACHINE, MACHINE_ONLY, "(event name [condition])"),
    form("on", IN_MACHINE, MACHINE_ONLY, "(on event source -> target)"),
    form("ontime", IN_MACHINE, MACHINE_ONLY, "(ontime milliseconds source -> target)"),
    form("eps", IN_MACHINE, MACHINE_ONLY, "(eps source -> target)"),
    form(
        "exit",
        &[Holder::Machine, Holder::State],
        "it belongs in a nested machine",
        "(exit event source -> target)",
    ),
    form("onentry", IN_STATE, STATE_ONLY, "(onentry [action])"),
    form("onexit", IN_STATE, STATE_ONLY, "(onexit [action])"),
    form("running", IN_STATE, STATE_ONLY, "(running [action])"),
    form(
        "spawn",
        IN_PROGRAM,
        "it belongs at the top of the program, or in a state as `(onentry (spawn machine state))`; \
         is a parenthesis missing before it?",
        "(spawn machine state)",
    ),
    form(
        "formula",
        &[Holder::Program, Holder::Machine],
        TOP_OR_MACHINE,
        "(formula name := always [condition])",
    ),
    form("require", IN_PROGRAM, AT_TOP, "(require formula)"),
    form("import", IN_PROGRAM, AT_TOP, "(import 'file')"),
    form("export", IN_PROGRAM, AT_TOP, "(export machine)"),
];

/// A machine or a state that is still open.
struct Open {
    holder: Holder,
    name: Name,
    start: usize,
    items: Vec<Item>,
}

/// Reads a program. Never fails: what is wrong is in the findings and, as
/// [`Item::Broken`], in the tree.
pub fn parse(source: &Arc<Source>, findings: &mut Findings) -> Program {
    let items = Reader::new(source, findings).program();
    Program { source: Arc::clone(source), items }
}

impl Reader<'_> {
    fn program(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip_outer_space();
            let here = open.last_mut().map_or(&mut items, |open| &mut open.items);
            here.extend(self.comments.drain(..).map(|(text, span)| Item::Comment(text, span)));
            self.close_forgotten(&mut open, &mut items);
            let holder = open.last().map_or(Holder::Program, |open| open.holder);
            let item = match self.peek() {
                None => break,
                Some(')') => match open.pop() {
                    Some(done) => {
                        self.bump();
                        done.close(self.pos)
                    }
                    None => self.surplus(),
                },
                Some('(') => match self.form(holder, open.len()) {
                    Begun::Whole(item) => item,
                    Begun::Holder(deeper) => {
                        open.push(deeper);
                        continue;
                    }
                },
                Some(_) => self.stray(),
            };
            let here = open.last_mut().map_or(&mut items, |open| &mut open.items);
            here.extend(self.comments.drain(..).map(|(text, span)| Item::Comment(text, span)));
            here.push(item);
        }
        self.close_all(open, &mut items);
        items
    }

    /// The file ended inside machines or states: they end with it.
    fn close_all(&mut self, mut open: Vec<Open>, items: &mut Vec<Item>) {
        let Some(last) = open.last() else { return };
        let mut diagnostic = Diagnostic::error(
            "unclosed-parenthesis",
            format!("the `(` of {} is never closed", last.label()),
        );
        if open.len() > 1 {
            let around: Vec<String> = open.iter().rev().skip(1).take(3).map(Open::label).collect();
            diagnostic = diagnostic.note(format!("nor that of {}", around.join(", ")));
        }
        let span = last.start..last.name.span.end;
        self.report(span, diagnostic.help("add the missing `)`"));
        let end = self.text.len();
        while let Some(done) = open.pop() {
            let item = done.close(end);
            open.last_mut().map_or(&mut *items, |open| &mut open.items).push(item);
        }
    }

    /// A form that cannot stand here, and that begins a line no further in than a machine or
    /// state around it does, shows that the latter should have been closed. Well-formed
    /// programs never come here, however they are laid out.
    fn close_forgotten(&mut self, open: &mut Vec<Open>, items: &mut Vec<Item>) {
        let Some(form) = self.coming_form() else { return };
        let Some(last) = open.last().filter(|last| !form.holders.contains(&last.holder)) else {
            return;
        };
        let Some(column) = self.indent_of(self.pos) else { return };
        let is_around = |open: &Open| self.indent_of(open.start).is_some_and(|at| at < column);
        let n_kept = open.iter().rposition(is_around).map_or(0, |at| at + 1);
        let holder = n_kept.checked_sub(1).map_or(Holder::Program, |at| open[at].holder);
        if n_kept == open.len() || !form.holders.contains(&holder) {
            return;
        }
        let span = last.start..last.name.span.end;
        let message = format!("the `(` of {} is never closed", last.label());
        let full = self.findings.is_full();
        let line = if full { 0 } else { self.source.line_column(self.pos).0 };
        let diagnostic = Diagnostic::error("unclosed-parenthesis", message)
            .note(format!("`{}` in line {line} stands outside of it", form.keyword))
            .help("add the missing `)` before that");
        self.report(span, diagnostic);
        while open.len() > n_kept {
            let Some(done) = open.pop() else { break };
            let item = done.close(self.pos);
            open.last_mut().map_or(&mut *items, |open| &mut open.items).push(item);
        }
    }

    /// The form that begins here, by its keyword alone.
    fn coming_form(&self) -> Option<&'static Form> {
        let rest = self.rest().strip_prefix('(')?.trim_start();
        let len = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        FORMS.iter().find(|form| form.keyword == &rest[..len])
    }

    fn surplus(&mut self) -> Item {
        let span = self.pos..self.pos + 1;
        self.bump();
        let diagnostic = Diagnostic::error("surplus-parenthesis", "this `)` closes nothing")
            .help("remove it, or look for a form before it that ends too early");
        self.report(span.clone(), diagnostic);
        Item::Broken(")".to_string(), span)
    }

    /// Words or brackets outside every form, up to the next form.
    fn stray(&mut self) -> Item {
        let start = self.pos;
        let (found, span) = self.found();
        let help = if self.peek() == Some('[') {
            "a block stands in a form: `(running [ ... ])`, `(event name [ ... ])`"
        } else {
            "programs are made of forms in parentheses; a comment begins with `;`"
        };
        let diagnostic = Diagnostic::error("stray-text", format!("{found} stands outside a form"));
        self.report(span, diagnostic.help(help));
        while let Some(c) = self.peek() {
            match c {
                '(' | ')' | ';' => break,
                '[' => _ = self.skip_form(self.pos),
                _ => _ = self.bump(),
            }
        }
        self.broken(start)
    }

    /// Where to go on after a form that is never closed: at the next line that begins with a
    /// form and no further in than this one, else at the end.
    fn next_line_of_forms(&self, start: usize) -> usize {
        let Some(column) = self.indent_of(start) else { return self.text.len() };
        let mut at = start;
        while let Some(len) = self.text[at..].find(['\n', '\r']) {
            at += len + 1;
            let line = &self.text[at..];
            let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
            if blanks <= column && line[blanks..].starts_with('(') {
                return at + blanks;
            }
        }
        self.text.len()
    }

    /// The text from `start` to here as an item.
    fn broken(&self, start: usize) -> Item {
        let text = self.text[start..self.pos].trim_end();
        Item::Broken(text.to_string(), start..start + text.len())
    }

    /// A form whose parenthesis is next.
    fn form(&mut self, holder: Holder, depth: usize) -> Begun {
        let start = self.pos;
        let whole = self.text;
        // Where one form is never closed, each of many could be searched to the end of the
        // file. From then on a form sees no further than the layout says it goes.
        let is_leaf = self.coming_form().is_none_or(|form| !form.holds_forms());
        if self.layout_decides && is_leaf {
            self.text = &whole[..self.next_line_of_forms(start)];
        }
        let result = self.form_or_fail(holder, depth);
        if self.layout_decides && result.is_err() {
            self.text = &whole[..self.next_line_of_forms(start)];
        }
        let is_closed = result.is_ok() || self.skip_form(start);
        self.text = whole;
        if let Ok(begun) = result {
            return begun;
        }
        // Its comments are part of the text that is kept as it was.
        self.comments.clear();
        if !is_closed {
            self.report_unclosed(start, '(', "this form");
            self.pos = self.next_line_of_forms(start);
            self.layout_decides = true;
        }
        Begun::Whole(self.broken(start))
    }

    fn form_or_fail(&mut self, holder: Holder, depth: usize) -> Read<Begun> {
        let start = self.pos;
        self.bump();
        self.skip_outer_space();
        let Some(keyword) = self.outer_name() else {
            let (found, span) = self.found();
            let message = format!("expected a keyword after `(`, found {found}");
            return self.fail(span, "unknown-form", message, &known_here(holder));
        };
        let Some(form) = FORMS.iter().find(|form| form.keyword == keyword.text) else {
            return self.unknown_form(&keyword, holder);
        };
        if !form.holders.contains(&holder) {
            let message = format!("`{}` cannot stand {}", form.keyword, holder.inside());
            return self.fail(keyword.span, "misplaced-form", message, form.belongs);
        }
        if form.holds_forms() {
            return self.holder(form, start, depth).map(Begun::Holder);
        }
        let item = self.leaf(form, start)?;
        if form.keyword == "exit" && holder == Holder::State {
            let diagnostic =
                Diagnostic::warning("exit-in-state", "`exit` stands in a state, not in a machine")
                    .note("it is read as an exit of the machine nested in this state")
                    .help("move it into that machine; is a parenthesis closed too early?");
            self.report(keyword.span, diagnostic);
        }
        Ok(Begun::Whole(item))
    }

    fn unknown_form(&mut self, keyword: &Name, holder: Holder) -> Read<Begun> {
        let here = FORMS.iter().filter(|form| form.holders.contains(&holder));
        let near = headland_base::names::nearest(&keyword.text, here.map(|form| form.keyword))
            .or_else(|| {
                let all = FORMS.iter().map(|form| form.keyword);
                headland_base::names::nearest(&keyword.text, all)
            });
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => known_here(holder),
        };
        let word: String = keyword.text.chars().take(40).collect();
        let message = format!("there is no form `{word}`");
        self.fail(keyword.span.clone(), "unknown-form", message, &help)
    }

    /// `(machine name`, `(state name`: the rest is read by whoever holds the stack.
    fn holder(&mut self, form: &Form, start: usize, depth: usize) -> Read<Open> {
        let holder = if form.keyword == "state" { Holder::State } else { Holder::Machine };
        let name = self.wanted_name(form, "its name")?;
        if depth >= MOST_FORMS_NESTED {
            let message = format!("more than {MOST_FORMS_NESTED} forms inside each other");
            let help = "declare machines beside each other; a state can spawn any of them";
            return self.fail(start..name.span.end, "too-deep", message, help);
        }
        Ok(Open { holder, name, start, items: Vec::new() })
    }

    /// Every form that holds no forms, with its closing parenthesis.
    fn leaf(&mut self, form: &Form, start: usize) -> Read<Item> {
        let make: fn(&mut Self, &Form, usize) -> Read<Item> = match form.keyword {
            "var" => Self::var,
            "event" => Self::event,
            "formula" => Self::formula,
            "onentry" | "onexit" | "running" => Self::action,
            "spawn" => |reader, form, start| Ok(Item::Spawn(reader.spawn(form, start)?)),
            "require" => |reader, form, start| {
                let name = reader.wanted_name(form, "the name of a formula")?;
                Ok(Item::Require(name, reader.closed(form, start)?))
            },
            "export" => |reader, form, start| {
                let name = reader.wanted_name(form, "the name of a machine")?;
                Ok(Item::Export(name, reader.closed(form, start)?))
            },
            "import" => Self::import,
            _ => Self::transition,
        };
        make(self, form, start)
    }

    fn var(&mut self, form: &Form, start: usize) -> Read<Item> {
        let name = self.wanted_name(form, "the name of the variable")?;
        self.skip_outer_space();
        if !self.eat(":=") {
            return self.wanted(form, "`:=`");
        }
        let init = self.wanted_block(form)?;
        Ok(Item::Var(Var { name, init, span: self.closed(form, start)? }))
    }

    fn event(&mut self, form: &Form, start: usize) -> Read<Item> {
        let name = self.wanted_name(form, "the name of the event")?;
        let block = self.wanted_block(form)?;
        Ok(Item::Event(Event { name, block, span: self.closed(form, start)? }))
    }

    fn formula(&mut self, form: &Form, start: usize) -> Read<Item> {
        let name = self.wanted_name(form, "the name of the formula")?;
        self.skip_outer_space();
        if !self.eat(":=") {
            return self.wanted(form, "`:=`");
        }
        self.check_formula_name(&name);
        self.skip_outer_space();
        let body_start = self.pos;
        let body = self.temporal().and_then(|body| {
            self.skip_outer_space();
            if self.peek() == Some(')') { Ok(body) } else { self.after_temporal() }
        });
        let body = body.or_else(|Failed| {
            // The form is kept with its name, so that those who use it still find it.
            if !self.skip_form(start) {
                return Err(Failed);
            }
            self.pos -= 1;
            let text = self.text[body_start..self.pos].trim_end();
            let span = body_start..body_start + text.len();
            Ok(Temporal { kind: TemporalKind::Broken(text.to_string()), span })
        })?;
        Ok(Item::Formula(Formula { name, body, span: self.closed(form, start)? }))
    }

    fn action(&mut self, form: &Form, start: usize) -> Read<Item> {
        let moment = match form.keyword {
            "onentry" => Moment::OnEntry,
            "onexit" => Moment::OnExit,
            _ => Moment::Running,
        };
        self.skip_outer_space();
        let body = if self.peek() == Some('(') {
            let inner = self.pos;
            self.bump();
            self.skip_outer_space();
            let keyword = self.outer_name();
            if keyword.is_none_or(|keyword| keyword.text != "spawn") {
                self.pos = inner;
                return self.wanted(form, "a block, or `(spawn machine state)`");
            }
            if moment != Moment::OnEntry {
                let message = format!("`{}` cannot spawn", form.keyword);
                let help = "machines are spawned on entry: `(onentry (spawn machine state))`";
                return self.fail(inner..self.pos, "misplaced-form", message, help);
            }
            let spawn = FORMS.iter().find(|form| form.keyword == "spawn").expect("it is listed");
            ActionBody::Spawn(self.spawn(spawn, inner)?)
        } else {
            ActionBody::Block(self.wanted_block(form)?)
        };
        Ok(Item::Action(Action { moment, body, span: self.closed(form, start)? }))
    }

    fn spawn(&mut self, form: &Form, start: usize) -> Read<Spawn> {
        let machine = self.wanted_name(form, "the name of a machine")?;
        let state = self.wanted_name(form, "the name of its first state")?;
        Ok(Spawn { machine, state, span: self.closed(form, start)? })
    }

    fn import(&mut self, form: &Form, start: usize) -> Read<Item> {
        self.skip_outer_space();
        if self.peek() != Some('\'') {
            return self.wanted(form, "a file name in single quotes");
        }
        let path_start = self.pos;
        let path = self.quoted('\'', true);
        let path_span = path_start..self.pos;
        Ok(Item::Import(Import { path, path_span, span: self.closed(form, start)? }))
    }

    /// `on`, `ontime`, `eps`, `exit`.
    fn transition(&mut self, form: &Form, start: usize) -> Read<Item> {
        self.skip_outer_space();
        let guard = match (form.keyword, self.peek()) {
            ("eps", _) => Guard::Always,
            ("ontime", Some('[')) => Guard::AfterBlock(self.block()?),
            (_, Some('[')) => Guard::Block(self.block()?),
            ("ontime", Some(c)) if starts_name(c) => {
                Guard::AfterVar(self.wanted_name(form, "a variable")?)
            }
            ("ontime", _) => self.after_millis(form)?,
            _ => Guard::Event(self.wanted_name(form, "the name of an event, or a block")?),
        };
        self.skip_outer_space();
        let arc_start = self.pos;
        let from = if self.eat("*") {
            if form.keyword == "eps" {
                let message = "`eps` cannot leave every state: it could never rest".to_string();
                let help = "name the state it leaves: `(eps source -> target)`";
                return self.fail(arc_start..self.pos, "endless-epsilon", message, help);
            }
            None
        } else {
            Some(self.wanted_name(form, "the source state")?)
        };
        self.skip_outer_space();
        if !self.eat("->") {
            return self.wanted(form, "`->`");
        }
        let to = self.wanted_name(form, "the target state")?;
        self.skip_outer_space();
        let label = self.outer_name();
        let span = self.closed(form, start)?;
        let is_exit = form.keyword == "exit";
        Ok(Item::Transition(Transition { guard, is_exit, from, to, label, span }))
    }

    fn after_millis(&mut self, form: &Form) -> Read<Guard> {
        let start = self.pos;
        let len = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        let rest = self.rest();
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
        let whole = &rest[..rest.find(|c| !is_number(c)).unwrap_or(rest.len())];
        if let Ok(number) = whole.parse::<f64>()
            && whole.len() > len
        {
            let what = if number < 0.0 { "before the state is entered" } else { "no whole number" };
            let message = format!("`ontime` counts whole milliseconds, and {whole} is {what}");
            let help = if number < 0.0 {
                "write 0 or more".to_string()
            } else {
                let millis = number * 1000.0;
                format!(
                    "{whole} s is `(ontime {millis:.0} ...)`; {whole} ms is `(ontime [{whole}] ...)`"
                )
            };
            return self.fail(start..start + whole.len(), "malformed-form", message, &help);
        }
        if len == 0 || self.rest()[len..].starts_with('.') {
            return self.wanted(form, "a whole number of milliseconds, a variable or a block");
        }
        self.pos += len;
        match self.text[start..self.pos].parse::<i64>() {
            // In nanoseconds it must still be a number.
            Ok(millis) if millis <= i64::MAX / 1_000_000 => {
                Ok(Guard::AfterMillis(millis, start..self.pos))
            }
            _ => {
                let message = "so many milliseconds cannot be counted".to_string();
                self.fail(start..self.pos, "not-a-number", message, "the most is 292 years")
            }
        }
    }

    fn wanted_name(&mut self, form: &Form, what: &str) -> Read<Name> {
        self.skip_outer_space();
        match self.outer_name() {
            Some(name) => Ok(name),
            None => self.wanted(form, what),
        }
    }

    fn wanted_block(&mut self, form: &Form) -> Read<Block> {
        self.skip_outer_space();
        if self.peek() == Some('[') { self.block() } else { self.wanted(form, "a block `[ ... ]`") }
    }

    /// The closing parenthesis; answers the bytes of the form.
    fn closed(&mut self, form: &Form, start: usize) -> Read<Span> {
        self.skip_outer_space();
        if self.eat(")") { Ok(start..self.pos) } else { self.wanted(form, "`)`") }
    }

    /// Something else stands where `what` is needed.
    fn wanted<T>(&mut self, form: &Form, what: &str) -> Read<T> {
        if self.peek().is_none() {
            // The report on the open parenthesis says it better.
            return Err(Failed);
        }
        let (found, span) = self.found();
        let message = format!("expected {what} in `{}`, found {found}", form.keyword);
        self.fail(span, "malformed-form", message, &format!("write `{}`", form.pattern))
    }
}

/// A form read whole, or the head of one that holds others.
enum Begun {
    Whole(Item),
    Holder(Open),
}

impl Open {
    fn label(&self) -> String {
        let word = if self.holder == Holder::State { "state" } else { "machine" };
        format!("{word} `{}`", self.name.text)
    }

    fn close(self, end: usize) -> Item {
        let Open { holder, name, start, items } = self;
        let span = start..end;
        match holder {
            Holder::State => Item::State(State { name, items, span }),
            _ => Item::Machine(Machine { name, items, span }),
        }
    }
}

impl Holder {
    fn inside(self) -> &'static str {
        match self {
            Holder::Program => "at the top of a program",
            Holder::Machine => "directly in a machine",
            Holder::State => "in a state",
        }
    }
}

/// The keywords that fit, for those who wrote none of them.
fn known_here(holder: Holder) -> String {
    let here = FORMS.iter().filter(|form| form.holders.contains(&holder));
    let words: Vec<String> = here.map(|form| format!("`{}`", form.keyword)).collect();
    format!("{} can stand: {}", holder.inside(), words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Program, Vec<Diagnostic>) {
        let mut findings = Findings::new();
        let program = parse(&Source::new("t.lrp", text), &mut findings);
        (program, findings.into_vec())
    }

    #[test]
    fn a_machine_is_read_whole() {
        let (program, found) = read(
            "(var count := [0])\r(machine m ; counts\r\n (state up (onentry [count := count + 1])\n\
             (machine inner (state x)) (onentry (spawn inner x)))(on e-up *->up lbl)(ontime 5 a->b)\
             (eps a -> exit)(event e-up [ball velocity z > 0]))(spawn m up)",
        );
        assert_eq!(found, []);
        let [Item::Var(_), Item::Machine(machine), Item::Spawn(_)] = &program.items[..] else {
            panic!("{program:?}");
        };
        assert_eq!(machine.items.len(), 6);
        assert!(matches!(&machine.items[0], Item::Comment(text, _) if text == " counts"));
        let Item::Transition(on) = &machine.items[2] else { panic!() };
        assert_eq!(on.from, None);
        assert_eq!(on.label.as_ref().map(|name| name.text.as_str()), Some("lbl"));
    }

    #[test]
    fn what_is_broken_is_kept_and_the_rest_is_read() {
        let (program, found) =
            read("(machine a (stte b (x)) (state c) (event d [1 + ]))(spawn a c)");
        let codes: Vec<_> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["unknown-form", "malformed-block"]);
        let Item::Machine(machine) = &program.items[0] else { panic!() };
        assert!(matches!(&machine.items[0], Item::Broken(text, _) if text == "(stte b (x))"));
        assert!(matches!(&machine.items[1], Item::State(_)));
        let Item::Event(event) = &machine.items[2] else { panic!() };
        assert!(matches!(&event.block.body[0].kind, ExprKind::Broken(text) if text == "1 +"));
        assert!(matches!(&program.items[1], Item::Spawn(_)));
    }
}
