//! What joints were told: a table of commands goes in, the command in force at any moment comes
//! out.
//!
//! A command holds from its stamp until the next to the same axis, or is on a straight line to
//! it. One from before the start is in force at the start. All of them may reach the motors
//! later than they were given.

use headland_base::{Diagnostic, SimDuration, SimTime, names};
use headland_record::Recording;
use headland_record::recording::scoped_joint;
use headland_sim::{Command, Dof, Mode, Model};

use crate::replay::wrong_unit;
use crate::source::{JointQuantity, Source};

/// What a command of a mode is in.
fn unit(model: &Model, dof_idx: usize, mode: Mode) -> &'static str {
    let quantity = match mode {
        Mode::Position => JointQuantity::Position,
        Mode::Velocity => JointQuantity::Velocity,
        Mode::Effort => JointQuantity::Effort,
    };
    Source::Joint(dof_idx, quantity).unit(model)
}

/// Commands by time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Sorted by time, then by axis.
    commands: Vec<(SimTime, usize, Command)>,
}

/// How a command lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Between {
    /// Until the next to the same axis.
    #[default]
    Held,
    /// On a straight line to the next to the same axis.
    Linear,
}

impl Told {
    /// Commands in any order; of those to one axis at one time the last counts.
    pub fn new(mut commands: Vec<(SimTime, usize, Command)>) -> Told {
        commands.sort_by_key(|(time, dof_idx, _)| (*time, *dof_idx));
        Told { commands }
    }

    /// Takes columns `JOINT/position`, `JOINT/velocity` or `JOINT/effort` of a table called
    /// `name`.
    pub fn read(table: &Recording, name: &str, model: &Model) -> Result<Told, Vec<Diagnostic>> {
        let (mut commands, mut wrong) = (Vec::new(), Vec::new());
        let joints = table.tracks().iter().flat_map(|(topic, track)| {
            let columns = track.joints().unwrap_or_default().iter();
            columns.map(move |columns| (scoped_joint(topic, &columns.name), track, columns))
        });
        for (joint, track, columns) in joints {
            let Some(dof_idx) = model.find_dof(&joint) else {
                wrong.push(unknown_joint(model, &joint, name));
                continue;
            };
            let there = Mode::ALL.iter().filter_map(|(property, mode)| {
                Some((*property, *mode, columns.property(property)?))
            });
            let there: Vec<_> = there.collect();
            if there.len() > 1 {
                let modes: Vec<&str> = there.iter().map(|(property, ..)| *property).collect();
                let message =
                    format!("`{name}` commands `{joint}` by {} at once", modes.join(" and "));
                wrong.push(
                    Diagnostic::error("two-commands", message)
                        .help("keep one of these columns for each joint"),
                );
            }
            for (property, mode, values) in there {
                let key = format!("{joint}/{property}");
                let said = table.column(&key).map_or("", |column| column.unit);
                wrong.extend(wrong_unit(&key, said, unit(model, dof_idx, mode)));
                let samples = track.times().iter().zip(values).filter(|(_, value)| !value.is_nan());
                for (time, target) in samples {
                    if target.is_finite() {
                        commands.push((*time, dof_idx, Command { mode, target: *target }));
                    } else {
                        let message = format!("`{name}`: {joint}/{property} is {target} at {time}");
                        wrong.push(Diagnostic::error("not-finite", message));
                    }
                }
            }
        }
        if commands.is_empty() && wrong.is_empty() {
            wrong.push(
                Diagnostic::error("no-commands", format!("`{name}` commands no joint"))
                    .help("name columns JOINT/position, JOINT/velocity or JOINT/effort"),
            );
        }
        if wrong.is_empty() { Ok(Told::new(commands)) } else { Err(wrong) }
    }

    /// Columns of a table that are no command, all in one warning.
    pub fn ignored_columns(table: &Recording, file: &str) -> Option<Diagnostic> {
        let is_command = |key: &String| {
            let parts = key.rsplit_once('/');
            parts.is_some_and(|(_, property)| Mode::ALL.iter().any(|(word, _)| *word == property))
        };
        let ignored: Vec<String> =
            table.keys().into_iter().filter(|key| !is_command(key)).collect();
        let shown: Vec<String> = ignored.iter().take(5).map(|key| format!("`{key:.80}`")).collect();
        let first = shown.first()?;
        let message = match ignored.len() {
            1 => format!("`{file}`: the column {first} commands nothing"),
            n => format!("`{file}`: {n} columns command nothing"),
        };
        let which = format!("{}{}", shown.join(", "), if ignored.len() > 5 { ", …" } else { "" });
        let help = "columns are named JOINT/position, JOINT/velocity or JOINT/effort";
        let told = Diagnostic::warning("column-ignored", message).help(help);
        Some(if ignored.len() > 1 { told.note(which) } else { told })
    }

    /// All of them, sorted by time.
    pub fn commands(&self) -> &[(SimTime, usize, Command)] {
        &self.commands
    }

    /// Whether nothing was told.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// By axis, on a clock on which `zero` is zero.
    pub(crate) fn lines(&self, zero: SimTime) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for (time, dof_idx, command) in &self.commands {
            let at = lines.iter().position(|line| line.dof_idx == *dof_idx).unwrap_or_else(|| {
                lines.push(Line { dof_idx: *dof_idx, points: Vec::new(), next: 0 });
                lines.len() - 1
            });
            lines[at].points.push((*time - zero, *command));
        }
        lines
    }
}

/// The commands to one axis.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub dof_idx: usize,
    points: Vec<(SimDuration, Command)>,
    /// The first point that is not yet in force.
    next: usize,
}

impl Line {
    /// Goes back to before the first command.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    /// Goes to a moment, forwards or back. Whether another command is in force there.
    pub fn go_to(&mut self, now: SimDuration) -> bool {
        let was = self.next;
        if self.next > 0 && self.points[self.next - 1].0 > now {
            self.next = 0;
        }
        while self.points.get(self.next).is_some_and(|(time, _)| *time <= now) {
            self.next += 1;
        }
        self.next != was
    }

    /// The command in force, after `go_to` the same moment.
    pub fn command(&self, now: SimDuration, between: Between) -> Option<Command> {
        let (time, command) = *self.points.get(self.next.checked_sub(1)?)?;
        let after = self.points.get(self.next).filter(|(_, next)| next.mode == command.mode);
        let Some((later, next)) = after.filter(|_| between == Between::Linear) else {
            return Some(command);
        };
        let nanos = |from: SimDuration, to: SimDuration| (to.nanos() - from.nanos()) as f64;
        let share = nanos(time, now) / nanos(time, *later);
        Some(Command { target: command.target + (next.target - command.target) * share, ..command })
    }

    /// When the next command comes into force.
    pub fn next_change(&self) -> Option<SimDuration> {
        self.points.get(self.next).map(|(time, _)| *time)
    }
}

fn unknown_joint(model: &Model, joint: &str, file: &str) -> Diagnostic {
    let is_alike = |dof: &&Dof| dof.name.rsplit("::").next() == Some(joint);
    let alike: Vec<&str> = model.dofs.iter().filter(is_alike).map(|dof| &*dof.name).collect();
    if alike.len() > 1 {
        let message = format!("`{file}` commands `{joint}`, and {} joints have it", alike.len());
        return Diagnostic::error("unknown-joint", message)
            .help(format!("say which: `{}`", alike.join("`, `")));
    }
    let known = model.dofs.iter().map(|dof| dof.name.as_str());
    Diagnostic::error(
        "unknown-joint",
        format!("`{file}` commands `{joint}`, which is no joint that moves"),
    )
    .help_maybe(names::suggestion(joint, known))
}
