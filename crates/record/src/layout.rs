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
    /// When the first and the last are.
    pub span: Option<(SimTime, SimTime)>,
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
    /// What keys are measured in, where the source says so.
    pub units: BTreeMap<String, String>,
    newest: Option<SimTime>,
}

impl Layout {
    /// The track that holds the poses of `object`, or of the only object that moves.
    pub fn trajectory(&self, object: Option<&str>) -> Result<usize, Diagnostic> {
        let poses: Vec<usize> =
            (0..self.tracks.len()).filter(|at| self.tracks[*at].sort == Sort::Poses).collect();
        let object_of = |at: &usize| object_name(&self.tracks[*at].topic);
        // `/a` and `/a/pose` are both poses of `a`; then their topics tell them apart.
        let name_of = |at: &usize| {
            let n_called = poses.iter().filter(|other| object_of(other) == object_of(at)).count();
            if n_called == 1 { object_of(at) } else { self.tracks[*at].topic.as_str() }
        };
        let mut objects: Vec<&str> = poses.iter().map(name_of).collect();
        objects.sort_unstable();
        let which = |what: String, names: &[&str]| {
            Diagnostic::error("which-object", format!("{what}, and a TUM file holds one"))
                .note(format!("there are: {}", names.join(", ")))
                .help("say which with `--object NAME`")
        };
        // What never moves is recorded once.
        let moving: Vec<&str> =
            poses.iter().filter(|at| self.tracks[**at].n_samples > 1).map(name_of).collect();
        let name = match (object, &objects[..], &moving[..]) {
            (Some(name), _, _) => name,
            (None, [only], _) | (None, _, [only]) => only,
            (None, [], _) => {
                return Err(Diagnostic::error("no-poses", "nothing in the recording has a pose")
                    .note("a TUM file holds the poses of one object"));
            }
            (None, _, _) => {
                return Err(which(format!("{} objects have poses", objects.len()), &objects));
            }
        };
        let found =
            poses.iter().copied().find(|at| self.tracks[*at].topic == name || name_of(at) == name);
        if found.is_none() {
            let shared: Vec<&str> =
                poses.iter().filter(|at| object_of(at) == name).map(name_of).collect();
            if !shared.is_empty() {
                return Err(which(
                    format!("{} topics have poses of `{name}`", shared.len()),
                    &shared,
                ));
            }
        }
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
            span: None,
            keys: BTreeSet::new(),
            joints: BTreeMap::new(),
        });
        Ok(())
    }

    fn unit(&mut self, key: &str, unit: &'static str) {
        self.units.insert(key.to_string(), unit.to_string());
    }

    fn unknown_unit(&mut self, key: &str, word: &str) {
        self.units.insert(key.to_string(), word.to_string());
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
        seen.span = Some((seen.span.map_or(time, |span| span.0), time));
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
