//! Which keys a log has, found by reading it through once: what must be known before the
//! first row of a table, and whose trajectory can be written.
//!
//! Deliberately absent: the samples. What is kept grows with the keys, not with the length.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::names::suggestion;
use headland_base::{Diagnostic, SimDuration, SimTime};

use crate::recording::object_name;
use crate::sample::{Goal, Sample, Sort};

/// What is known of one track after all its samples passed.
pub(crate) struct Seen {
    pub topic: String,
    pub sort: Sort,
    pub n_samples: u64,
    /// Keys of numbers.
    pub keys: BTreeSet<String>,
    /// Joints, and which of position, velocity and effort they have.
    pub joints: BTreeMap<String, [bool; 3]>,
}

/// The tracks of a log, in the order they were announced.
#[derive(Default)]
pub(crate) struct Layout {
    pub tracks: Vec<Seen>,
    /// How much earlier a sample may be than one that came before it on another track:
    /// stamps are set where things are measured and written where they arrive.
    pub lateness: SimDuration,
    newest: Option<SimTime>,
}

impl Layout {
    /// The track that holds the poses of `object`, or of the only object that moves.
    pub fn trajectory(&self, object: Option<&str>) -> Result<usize, Diagnostic> {
        let poses = || self.tracks.iter().filter(|track| track.sort == Sort::Poses);
        let mut objects: Vec<&str> = poses().map(|track| object_name(&track.topic)).collect();
        objects.sort_unstable();
        // What never moves is recorded once.
        let moving: Vec<&str> = poses()
            .filter(|track| track.n_samples > 1)
            .map(|track| object_name(&track.topic))
            .collect();
        let name = match (object, &objects[..], &moving[..]) {
            (Some(name), _, _) => name,
            (None, [only], _) | (None, _, [only]) => only,
            (None, _, _) => {
                let message =
                    format!("{} objects have poses, and a TUM file holds one", objects.len());
                return Err(Diagnostic::error("which-object", message)
                    .note(format!("there are: {}", objects.join(", ")))
                    .help("say which with `--object NAME`"));
            }
        };
        let topics = [format!("/{name}/pose"), format!("/{name}"), name.to_string()];
        let found = topics.iter().find_map(|topic| {
            let is_it = |track: &Seen| track.sort == Sort::Poses && track.topic == *topic;
            self.tracks.iter().position(is_it)
        });
        found.ok_or_else(|| {
            Diagnostic::error("unknown-object", format!("no poses of `{name}` in the recording"))
                .help_maybe(suggestion(name, objects.iter().copied()))
        })
    }
}

impl Goal for Layout {
    fn track(&mut self, topic: &str, _: &str, sort: Sort) -> Result<(), Diagnostic> {
        self.tracks.push(Seen {
            topic: topic.to_string(),
            sort,
            n_samples: 0,
            keys: BTreeSet::new(),
            joints: BTreeMap::new(),
        });
        Ok(())
    }

    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        _: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        let newest = self.newest.map_or(time, |newest| newest.max(time));
        self.lateness = self.lateness.max(newest - time);
        self.newest = Some(newest);
        let seen = &mut self.tracks[track];
        seen.n_samples += 1;
        match sample {
            Sample::Numbers(numbers) => {
                for (key, _) in numbers {
                    if !seen.keys.contains(&**key) {
                        seen.keys.insert(key.to_string());
                    }
                }
            }
            Sample::Joints { names, lists } => {
                for (i, name) in names.iter().enumerate() {
                    let has = lists.map(|list| list.get(i).is_some_and(|x| !x.is_nan()));
                    match seen.joints.get_mut(name) {
                        Some(known) => (0..3).for_each(|p| known[p] |= has[p]),
                        None => _ = seen.joints.insert(name.clone(), has),
                    }
                }
            }
            Sample::Pose(_) | Sample::Motion(_) | Sample::Contacts(_) | Sample::Remark(_) => {}
        }
        Ok(())
    }
}
