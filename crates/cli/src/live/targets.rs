//! Commands as a recording shows them: `gripper/joint_command/target/0`.
//!
//! A message lists the commands that a robot holds. A number that an earlier message had and
//! the last has not is NaN, and before the first message nothing is known.

use headland_judge::Vocabulary;
use headland_sim::recorder::{command_topic, robot_topics};
use headland_sim::{Command, Commands, Mode, Model};

use crate::job::Job;

/// Every command of the run at once, so that a recording of them has every key; `None` where
/// nobody commands anything.
pub fn all_at_once(job: &Job<'_>) -> Option<Commands> {
    let dof_idxs = &job.commands.dof_idxs;
    let mut commands = Commands::new(job.model, job.setup.gains, None);
    for dof_idx in dof_idxs {
        commands.set(*dof_idx, Command { mode: Mode::Effort, target: 0.0 });
    }
    (!dof_idxs.is_empty()).then_some(commands)
}

/// The commands that were recorded last.
pub struct Targets {
    robots: Vec<Robot>,
    /// By channel of the vocabulary: which robot, and which of its numbers.
    of_channel: Vec<Option<(usize, usize)>>,
}

struct Robot {
    dof_idxs: Vec<usize>,
    /// Of the last message, where there was one.
    targets: Option<Vec<f64>>,
}

impl Targets {
    /// Nothing commanded yet.
    pub fn new(model: &Model, vocabulary: &Vocabulary) -> Targets {
        let topics = robot_topics(model);
        let scopes: Vec<String> = topics
            .iter()
            .map(|(topic, _)| format!("{}/target/", command_topic(topic).trim_start_matches('/')))
            .collect();
        let find = |(key, _): &(String, &'static str)| {
            let of_robot = |scope: &String| key.strip_prefix(scope)?.parse().ok();
            scopes.iter().enumerate().find_map(|(i, scope)| Some((i, of_robot(scope)?)))
        };
        Targets {
            of_channel: vocabulary.channels.iter().map(find).collect(),
            robots: topics
                .into_iter()
                .map(|(_, dof_idxs)| Robot { dof_idxs, targets: None })
                .collect(),
        }
    }

    /// Commands changed: each robot that holds some is told them all again.
    pub fn look(&mut self, commands: &Commands) {
        for robot in &mut self.robots {
            let held = robot.dof_idxs.iter().filter_map(|i| commands.held(*i));
            let targets: Vec<f64> = held.map(|command| command.target).collect();
            // That nothing holds any more is recorded only after something did.
            if !targets.is_empty() || robot.targets.is_some() {
                robot.targets = Some(targets);
            }
        }
    }

    /// A channel of commands now; `None` where it is not known yet.
    pub fn value(&self, channel: u32) -> Option<f64> {
        let (robot, number) = self.of_channel[channel as usize]?;
        let targets = self.robots[robot].targets.as_ref()?;
        Some(targets.get(number).copied().unwrap_or(f64::NAN))
    }
}
