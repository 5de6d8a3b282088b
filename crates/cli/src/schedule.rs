//! A controller that plays a table of joint commands: each value holds until the next one
//! of its column.

use std::collections::BTreeSet;
use std::path::Path;

use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_record::csv::{self, TableOptions};
use headland_sim::{Command, Commands, Controller, Mode, Model, Setup, State};
use headland_validate::Told;

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
        let options = TableOptions { tells_nan: true, ..TableOptions::default() };
        let (table, _, mut findings) = csv::read(&text[..], &name, &options);
        if findings.has_errors() {
            return Err(findings.into_vec());
        }
        findings.extend(Told::ignored_columns(&table, &name));
        let commands = Told::read(&table, &name, model)?.commands().to_vec();
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
