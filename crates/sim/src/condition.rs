//! The condition that may end a run: `ball/pose/z < 0.6`, `arm::elbow/position >= 1.2`.
//!
//! Deliberately small: what is worth judging belongs in a live test, which sees the whole
//! recording. This only spares a run the hours after the answer is known.

use headland_base::{Diagnostic, names};

use crate::model::Model;
use crate::state::State;

/// A comparison of one quantity with a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As the user wrote it.
    pub text: String,
    quantity: Quantity,
    comparison: Comparison,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    Pose { object_idx: usize, component: usize },
    Velocity { object_idx: usize, component: usize },
    Position { dof_idx: usize },
    Speed { dof_idx: usize },
    Effort { dof_idx: usize },
    Contacts,
}

const COMPONENTS: [&str; 3] = ["x", "y", "z"];

impl Condition {
    /// Reads `KEY OP NUMBER`, with keys as recordings and CSV files spell them:
    /// `OBJECT/pose/{x,y,z}`, `OBJECT/linear_vel/{x,y,z}`, `OBJECT/angular_vel/{x,y,z}`,
    /// `JOINT/{position,velocity,effort}`, `contacts/count`. A link is `robot/arm` or
    /// `robot::arm`; a joint goes by its last name where only one has it.
    pub fn parse(text: &str, model: &Model) -> Result<Condition, Diagnostic> {
        let (at, op_len, comparison) = find_comparison(text).ok_or_else(|| {
            Diagnostic::error("bad-condition", format!("`{text}` compares nothing"))
                .help("write KEY < NUMBER, for example \"ball/pose/z < 0.6\"")
        })?;
        let number = text[at + op_len..].trim();
        let limit = number.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
            Diagnostic::error("bad-condition", format!("`{number}` is not a finite number"))
        })?;
        let quantity = parse_key(text[..at].trim(), model)?;
        Ok(Condition { text: text.trim().to_string(), quantity, comparison, limit })
    }

    /// Whether it holds now.
    pub fn holds(&self, model: &Model, state: &State) -> bool {
        let value = match self.quantity {
            Quantity::Pose { object_idx, component } => {
                state.object_pose(model, object_idx).translation[component]
            }
            Quantity::Velocity { object_idx, component } => {
                let twist = state.object_twist(model, object_idx);
                if component < 3 { twist.linear[component] } else { twist.angular[component - 3] }
            }
            Quantity::Position { dof_idx } => state.dofs[dof_idx].position,
            Quantity::Speed { dof_idx } => state.dofs[dof_idx].velocity,
            Quantity::Effort { dof_idx } => state.dofs[dof_idx].effort,
            Quantity::Contacts => state.contacts.len() as f64,
        };
        match self.comparison {
            Comparison::Less => value < self.limit,
            Comparison::LessOrEqual => value <= self.limit,
            Comparison::Greater => value > self.limit,
            Comparison::GreaterOrEqual => value >= self.limit,
        }
    }
}

fn find_comparison(text: &str) -> Option<(usize, usize, Comparison)> {
    let at = text.find(['<', '>'])?;
    let or_equal = text[at + 1..].starts_with('=');
    let comparison = match (&text[at..=at], or_equal) {
        ("<", false) => Comparison::Less,
        ("<", true) => Comparison::LessOrEqual,
        (_, false) => Comparison::Greater,
        (_, true) => Comparison::GreaterOrEqual,
    };
    Some((at, 1 + usize::from(or_equal), comparison))
}

fn parse_key(key: &str, model: &Model) -> Result<Quantity, Diagnostic> {
    if key == "contacts/count" {
        return Ok(Quantity::Contacts);
    }
    let unknown = || {
        let known = known_keys(model);
        let help = match around(key, &known) {
            Some(around) => Some(format!("did you mean `{around}`?")),
            None => names::suggestion(key, known.iter().map(String::as_str)),
        };
        Diagnostic::error("unknown-key", format!("no quantity `{key}` in this world"))
            .help_maybe(help)
    };
    let (rest, last) = key.rsplit_once('/').ok_or_else(unknown)?;
    // A name may hold a slash of its own.
    let dof_idx = model.find_dof(&rest.replace('/', "::")).or_else(|| model.find_dof(rest));
    if let Some(dof_idx) = dof_idx {
        match last {
            "position" => return Ok(Quantity::Position { dof_idx }),
            "velocity" => return Ok(Quantity::Speed { dof_idx }),
            "effort" => return Ok(Quantity::Effort { dof_idx }),
            _ => {}
        }
    }
    let (object, group) = rest.rsplit_once('/').ok_or_else(unknown)?;
    let object_idx = model.object(&object.replace('/', "::")).or_else(|| model.object(object));
    let object_idx = object_idx.ok_or_else(unknown)?;
    let component = COMPONENTS.iter().position(|c| *c == last).ok_or_else(unknown)?;
    match group {
        "pose" => Ok(Quantity::Pose { object_idx, component }),
        "linear_vel" => Ok(Quantity::Velocity { object_idx, component }),
        "angular_vel" => Ok(Quantity::Velocity { object_idx, component: component + 3 }),
        _ => Err(unknown()),
    }
}

/// The same quantity of the nearest thing around: an only link goes by the name of its model.
fn around<'k>(key: &str, known: &'k [String]) -> Option<&'k str> {
    let is_around = |known: &&str| {
        let Some((name, quantity)) = known.split_once('/') else { return false };
        let object = key.strip_suffix(quantity).and_then(|rest| rest.strip_suffix('/'));
        object.is_some_and(|object| {
            let object = object.replace('/', "::");
            object.strip_prefix(name).is_some_and(|rest| rest.starts_with("::"))
        })
    };
    known.iter().map(String::as_str).filter(is_around).max_by_key(|known| known.len())
}

fn known_keys(model: &Model) -> Vec<String> {
    let objects = model.objects.iter().flat_map(|object| {
        ["pose", "linear_vel", "angular_vel"].into_iter().flat_map(move |group| {
            COMPONENTS.iter().map(move |c| format!("{}/{group}/{c}", object.name))
        })
    });
    let dofs = model.dofs.iter().flat_map(|dof| {
        ["position", "velocity", "effort"].into_iter().map(move |p| format!("{}/{p}", dof.name))
    });
    objects.chain(dofs).chain(["contacts/count".to_string()]).collect()
}
