//! What joints were told: a table of commands goes in, the command in force at any moment comes
//! out.
//!
//! A command holds from its stamp until the next to the same axis, or is on a straight line to
//! it. One from before the start is in force at the start. All of them may reach the motors
//! later than they were given.

use headland_base::{Diagnostic, SimDuration, SimTime, names};
use headland_record::recording::scoped_joint;
use headland_record::{Recording, Unit};
use headland_sim::{Command, Commands, Dof, Mode, Model};

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

/// The code of what is said of commands that never come into force.
const COMMANDS_UNUSED: &str = "commands-unused";

/// Commands by time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Sorted by time, then by axis.
    commands: Vec<(SimTime, usize, Command)>,
    /// The last of every axis and mode that takes gains to follow.
    followed: Vec<(usize, Command)>,
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
        let mut followed: Vec<(usize, Command)> = Vec::new();
        for (_, dof_idx, command) in commands.iter().filter(|(.., c)| c.mode != Mode::Effort) {
            let is_it = |(known, last): &&mut (usize, Command)| {
                *known == *dof_idx && last.mode == command.mode
            };
            match followed.iter_mut().find(is_it) {
                Some((_, last)) => *last = *command,
                None => followed.push((*dof_idx, *command)),
            }
        }
        Told { commands, followed }
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
                let said = table.column(&key).map_or(Unit::Unsaid, |column| column.unit);
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

    /// Joints that have columns of commands and not one command in them, all in one warning.
    pub fn empty_columns(table: &Recording, file: &str) -> Option<Diagnostic> {
        let mut empty = Vec::new();
        for (topic, track) in table.tracks() {
            for columns in track.joints().unwrap_or_default() {
                let all = Mode::ALL.iter().filter_map(|(property, _)| columns.property(property));
                if all.flatten().all(|value| value.is_nan()) {
                    empty.push(format!("`{}`", scoped_joint(topic, &columns.name)));
                }
            }
        }
        (!empty.is_empty()).then(|| {
            let message =
                format!("`{file}` has columns without a command for {}", empty.join(", "));
            Diagnostic::warning(COMMANDS_UNUSED, message).help("leave columns out that are empty")
        })
    }

    /// Joints that are told something only after the last moment that was measured.
    pub fn too_late(
        &self,
        model: &Model,
        last: SimTime,
        delay: SimDuration,
        file: &str,
    ) -> Option<Diagnostic> {
        let is_in_time = |dof: usize| {
            let own = self.commands.iter().find(|(_, other, _)| *other == dof);
            own.is_none_or(|(time, ..)| *time + delay <= last)
        };
        let late = model.dofs.iter().enumerate().filter(|(dof, _)| !is_in_time(*dof));
        let late: Vec<String> = late.map(|(_, dof)| format!("`{}`", dof.name)).collect();
        (!late.is_empty()).then(|| {
            let message = format!(
                "`{file}` tells {} nothing before {last}, where what was measured ends",
                late.join(", ")
            );
            Diagnostic::warning(COMMANDS_UNUSED, message)
                .help("give both tables the same clock, or leave these columns out")
        })
    }

    /// All of them, sorted by time.
    pub fn commands(&self) -> &[(SimTime, usize, Command)] {
        &self.commands
    }

    /// The last of every axis and mode that takes gains to follow.
    pub(crate) fn followed(&self) -> &[(usize, Command)] {
        &self.followed
    }

    /// Whether nothing was told.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// The next to the same axis after each, in their order.
    fn followers(&self) -> Vec<Option<usize>> {
        let mut next: Vec<Option<usize>> = vec![None; self.n_axes()];
        let mut followers = vec![None; self.commands.len()];
        for (i, (_, dof_idx, _)) in self.commands.iter().enumerate().rev() {
            followers[i] = next[*dof_idx].replace(i);
        }
        followers
    }

    /// Axes up to the last that is told something.
    fn n_axes(&self) -> usize {
        self.commands.iter().map(|(_, dof_idx, _)| dof_idx + 1).max().unwrap_or(0)
    }
}

/// How far commands have come into force, on a clock on which `zero` is zero. What they are stays
/// with whoever has them.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    zero: SimTime,
    /// So many are in force, or were.
    n_given: usize,
    between: Between,
    /// By axis the last that came into force; kept where commands are on lines alone, as is what
    /// follows.
    in_force: Vec<Option<usize>>,
    /// Which is the next to the same axis, of every one.
    followers: Vec<Option<usize>>,
}

impl Script {
    /// Before the first command.
    pub fn new(told: &Told, zero: SimTime, between: Between) -> Script {
        let (in_force, followers) = match between {
            Between::Held => (Vec::new(), Vec::new()),
            Between::Linear => (vec![None; told.n_axes()], told.followers()),
        };
        Script { zero, n_given: 0, between, in_force, followers }
    }

    /// Goes back to before the first command.
    pub fn rewind(&mut self) {
        self.n_given = 0;
        self.in_force.fill(None);
    }

    /// Goes to a moment, forwards or back, and gives what is in force there; when that changes.
    pub fn go_to(
        &mut self,
        told: &Told,
        now: SimDuration,
        commands: &mut Commands,
    ) -> Option<SimDuration> {
        let moment = self.zero + now;
        if self.n_given > 0 && told.commands[self.n_given - 1].0 > moment {
            self.rewind();
        }
        let mut coming = None;
        for (time, dof_idx, command) in &told.commands[self.n_given..] {
            if *time > moment {
                coming = Some(*time - self.zero);
                break;
            }
            commands.set(*dof_idx, *command);
            if self.between == Between::Linear {
                self.in_force[*dof_idx] = Some(self.n_given);
            }
            self.n_given += 1;
        }
        if self.between == Between::Linear {
            self.go_along_lines(told, moment, commands);
        }
        coming
    }

    fn go_along_lines(&self, told: &Told, now: SimTime, commands: &mut Commands) {
        for i in self.in_force.iter().flatten() {
            let (begun, dof_idx, last) = &told.commands[*i];
            let next = self.followers[*i].map(|i| &told.commands[i]);
            let Some((end, _, next)) = next.filter(|(.., next)| next.mode == last.mode) else {
                continue;
            };
            let nanos = |time: SimTime| (time - *begun).nanos() as f64;
            let share = nanos(now) / nanos(*end);
            let target = last.target + (next.target - last.target) * share;
            commands.set(*dof_idx, Command { target, ..*last });
        }
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
