//! Trees without their places, to compare what two texts mean.

use super::ast::*;

/// Whether two programs are the same but for where things stand in their texts.
pub fn same(a: &Program, b: &Program) -> bool {
    without_places(a) == without_places(b)
}

/// The items of a program with every span empty.
pub fn without_places(program: &Program) -> Vec<Item> {
    let mut items = program.items.clone();
    clear_items(&mut items);
    items
}

fn clear_items(items: &mut [Item]) {
    for item in items {
        clear_item(item);
    }
}

fn clear_item(item: &mut Item) {
    match item {
        Item::Var(Var { name, init, span }) => {
            name.span = 0..0;
            clear_block(init);
            *span = 0..0;
        }
        Item::Event(Event { name, block, span }) => {
            name.span = 0..0;
            clear_block(block);
            *span = 0..0;
        }
        Item::Formula(Formula { name, body, span }) => {
            name.span = 0..0;
            clear_temporal(body);
            *span = 0..0;
        }
        Item::Machine(Machine { name, items, span }) | Item::State(State { name, items, span }) => {
            name.span = 0..0;
            clear_items(items);
            *span = 0..0;
        }
        Item::Require(name, span) | Item::Export(name, span) => {
            name.span = 0..0;
            *span = 0..0;
        }
        Item::Transition(transition) => clear_transition(transition),
        Item::Action(Action { body, span, .. }) => {
            match body {
                ActionBody::Block(block) => clear_block(block),
                ActionBody::Spawn(spawn) => clear_spawn(spawn),
            }
            *span = 0..0;
        }
        Item::Spawn(spawn) => clear_spawn(spawn),
        Item::Import(import) => {
            import.path_span = 0..0;
            import.span = 0..0;
        }
        Item::Comment(_, span) | Item::Broken(_, span) => *span = 0..0,
    }
}

fn clear_spawn(spawn: &mut Spawn) {
    spawn.machine.span = 0..0;
    spawn.state.span = 0..0;
    spawn.span = 0..0;
}

fn clear_transition(transition: &mut Transition) {
    let Transition { guard, from, to, label, span, .. } = transition;
    match guard {
        Guard::Event(name) | Guard::AfterVar(name) => name.span = 0..0,
        Guard::Block(block) | Guard::AfterBlock(block) => clear_block(block),
        Guard::AfterMillis(_, span) => *span = 0..0,
        Guard::Always => {}
    }
    for name in [from.as_mut(), Some(to), label.as_mut()].into_iter().flatten() {
        name.span = 0..0;
    }
    *span = 0..0;
}

fn clear_block(block: &mut Block) {
    for name in block.params.iter_mut().chain(&mut block.temps) {
        name.span = 0..0;
    }
    block.body.iter_mut().for_each(clear_expr);
    block.span = 0..0;
}

fn clear_expr(expr: &mut Expr) {
    expr.span = 0..0;
    match &mut expr.kind {
        ExprKind::LiteralArray(items) | ExprKind::BraceArray(items) => {
            items.iter_mut().for_each(clear_expr);
        }
        ExprKind::Block(block) => clear_block(block),
        ExprKind::Assign(name, value) => {
            name.span = 0..0;
            clear_expr(value);
        }
        ExprKind::Return(value) => clear_expr(value),
        ExprKind::Send(receiver, message) => {
            clear_expr(receiver);
            clear_message(message);
        }
        ExprKind::Cascade(receiver, messages) => {
            clear_expr(receiver);
            messages.iter_mut().for_each(clear_message);
        }
        _ => {}
    }
}

fn clear_message(message: &mut Message) {
    message.selector_span = 0..0;
    message.args.iter_mut().for_each(clear_expr);
}

fn clear_temporal(temporal: &mut Temporal) {
    use TemporalKind::*;
    temporal.span = 0..0;
    match &mut temporal.kind {
        Atom(block) => clear_block(block),
        Not(inner)
        | Always(_, inner)
        | Eventually(_, inner)
        | Historically(_, inner)
        | Once(_, inner) => clear_temporal(inner),
        And(left, right)
        | Or(left, right)
        | Implies(left, right)
        | Iff(left, right)
        | Until(_, left, right)
        | Since(_, left, right) => {
            clear_temporal(left);
            clear_temporal(right);
        }
        Name(_) | Broken(_) => {}
    }
}
