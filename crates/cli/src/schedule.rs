//! A controller that plays a table of joint commands: each value holds until the next one
//! of its column.

use std::collections::BTreeSet;
use std::path::Path;

use headland_base::{Diagnostic, SimDuration, SimTime, names};
use headland_record::Recording;
use headland_record::csv::{self, TableOptions};
use headland_record::recording::scoped_joint;
use headland_sim::{Command, Commands, Controller, Dof, Mode, Model, Setup, State};

use crate::context::read_bytes;

/// Commands by time, sorted.
pub struct Schedule {
    period: SimDuration,
    commands: Vec<(SimTime, usize, Command)>,
    next: usize,
}

impl Schedule {
    /// Reads a table with columns `JOINT/position`, `JOINT/velocity` or `JOINT/effort`; with
    /// what was found on the way, and the table as it stands in the file.
    pub fn read(
        path: &Path,
        model: &Model,
        step: SimDuration,
    ) -> Result<(Schedule, Vec<Diagnostic>, Vec<u8>), Vec<Diagnostic>> {
        let name = path.display().to_string();
        let text = read_bytes(path)?;
        let (table, _, mut findings) = csv::read(&text[..], &name, &TableOptions::default());
        if findings.has_errors() {
            return Err(findings.into_vec());
        }
        findings.extend(ignored_columns(&table, &name));
        let mut commands = Vec::new();
        let mut wrong = Vec::new();
        let joints = table.tracks().iter().flat_map(|(topic, track)| {
            let columns = track.joints().unwrap_or_default().iter();
            columns.map(move |columns| (scoped_joint(topic, &columns.name), track, columns))
        });
        for (joint, track, columns) in joints {
            let Some(dof_idx) = model.find_dof(&joint) else {
                wrong.push(unknown_joint(model, &joint, &name));
                continue;
            };
            let there = Mode::ALL.iter().filter_map(|(property, mode)| {
                Some((*property, *mode, columns.property(property)?))
            });
            let there: Vec<_> = there.collect();
            if there.len() > 1 {
                let modes: Vec<&str> = there.iter().map(|(property, ..)| *property).collect();
                wrong.push(
                    Diagnostic::error(
                        "two-commands",
                        format!("`{name}` commands `{joint}` by {} at once", modes.join(" and ")),
                    )
                    .help("keep one of these columns for each joint"),
                );
            }
            for (property, mode, values) in there {
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
        if !wrong.is_empty() {
            return Err(wrong);
        }
        commands.sort_by_key(|(time, dof_idx, _)| (*time, *dof_idx));
        Ok((Schedule { period: step, commands, next: 0 }, findings.into_vec(), text))
    }

    /// Every axis it commands up to a moment, once.
    pub fn dof_idxs(&self, until: Option<SimTime>) -> BTreeSet<usize> {
        let in_time = |time: &SimTime| until.is_none_or(|until| *time <= until);
        let given = self.commands.iter().filter(|(time, ..)| in_time(time));
        given.map(|(_, dof_idx, _)| *dof_idx).collect()
    }

    /// Refuses before the run when a joint has no gains to follow its commands.
    pub fn check_gains(&self, model: &Model, setup: &Setup) -> Result<(), Vec<Diagnostic>> {
        let mut all = Commands::new(model, setup.gains, None);
        for (_, dof_idx, command) in self.commands.iter().filter(|(_, _, c)| c.mode != Mode::Effort)
        {
            all.set(*dof_idx, *command);
        }
        let missing = all.missing_gains(model);
        if missing.is_empty() { Ok(()) } else { Err(missing) }
    }
}

impl Controller for Schedule {
    fn name(&self) -> &str {
        "schedule"
    }

    fn period(&self) -> SimDuration {
        self.period
    }

    fn update(&mut self, _: &Model, state: &State, commands: &mut Commands) {
        while let Some((time, dof_idx, command)) = self.commands.get(self.next)
            && *time <= state.time
        {
            commands.set(*dof_idx, *command);
            self.next += 1;
        }
    }
}

/// Columns that are no command, all in one warning.
fn ignored_columns(table: &Recording, file: &str) -> Option<Diagnostic> {
    let is_command = |key: &String| {
        let parts = key.rsplit_once('/');
        parts.is_some_and(|(_, property)| Mode::ALL.iter().any(|(word, _)| *word == property))
    };
    let ignored: Vec<String> = table.keys().into_iter().filter(|key| !is_command(key)).collect();
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
