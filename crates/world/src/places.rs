//! Where each part of a world was written, so that a check of the finished world can
//! point into the file it came from.
//!
//! Kept beside the World and not in it: two worlds are equal when they say the same,
//! wherever they say it.

use std::cell::OnceCell;
use std::fmt::{Display, Write as _};
use std::ops::Range;
use std::path::PathBuf;

use headland_base::{Diagnostic, Place};

use crate::read::Format;

/// From the whole name of a part to where it was written.
///
/// Nearly all worlds are sound and nobody asks, so noting a place costs no more than writing
/// its name behind the others; they are sorted for the first question.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// All names, one behind the other.
    names: String,
    /// Which part of `names`, and where that was written; in the order they were noted.
    noted: Vec<(Range<usize>, Place)>,
    /// Positions in `noted`, by name and then by age.
    by_name: OnceCell<Vec<usize>>,
    file: Option<WorldFile>,
    /// Names that were made up for parts whose own a sibling has, and what the file says.
    stand_ins: Vec<(String, String)>,
}

/// The file a world was read from, for engines that can load such files themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldFile {
    /// Its path, as it was given.
    pub path: PathBuf,
    /// The language it is written in.
    pub format: Format,
}

impl Places {
    /// The file the whole world was read from; none of a text without one.
    pub fn file(&self) -> Option<&WorldFile> {
        self.file.as_ref()
    }

    pub(crate) fn set_file(&mut self, file: WorldFile) {
        self.file = Some(file);
    }

    /// Remembers where a part was written. Parts are named by kind and whole name, and
    /// details by what follows a `#`:
    ///
    /// ```text
    /// model robot::arm             #plugin 0: kept element 0 of it
    /// link robot::arm::wrist       #inertial  #mass  #inertia  #sensor 0, #plugin 0: kept element 0 of it
    /// collision robot::arm::wrist::shape
    /// joint robot::arm::elbow      #parent  #child  #axis  #axis2  #axis limit  #sensor 0
    /// world                        #spherical_coordinates  …: what the world keeps
    /// actuator robot::arm::motor   #joint  #kp  …: its attributes
    /// contact_exclude, contact_pair, contact_set, touches robot::arm::wrist    a link that is named
    /// contact_exclude, contact_pair robot::hand robot::thumb       all of it
    /// foot robot::left_foot        #link  #size
    /// wheel robot::left_wheel      #joint  #radius  #steers_by
    /// controller robot::player     #type  #rate  #role  …: its parameters
    /// surface_law 0                #first  #second  #stiffness  …
    /// integrator native            #tolerance
    /// ```
    pub fn insert(&mut self, part: impl Display, place: Place) {
        self.by_name.take();
        let start = self.names.len();
        write!(self.names, "{part}").expect("a String takes any text");
        self.noted.push((start..self.names.len(), place));
    }

    /// Remembers that a name was made up for a part that the file calls `written`.
    pub(crate) fn stand_in(&mut self, made_up: String, written: &str) {
        self.stand_ins.push((made_up, written.to_string()));
    }

    /// A finding in the names the file has.
    pub(crate) fn as_written(&self, mut finding: Diagnostic) -> Diagnostic {
        // A later one may have an earlier one in it, as `unnamed_10` has `unnamed_1`.
        for (made_up, written) in self.stand_ins.iter().rev() {
            if finding.message.contains(made_up) {
                finding.message = finding.message.replace(made_up, written);
            }
            for note in finding.notes.iter_mut().filter(|note| note.contains(made_up)) {
                *note = note.replace(made_up, written);
            }
        }
        finding
    }

    /// The same parts, each place changed.
    pub(crate) fn map(mut self, change: impl Fn(Place) -> Place) -> Places {
        self.noted = self.noted.into_iter().map(|(part, place)| (part, change(place))).collect();
        self
    }

    /// Takes over what is known of a model and of all that is in it, under the whole name it
    /// has here. Poured into the world, which has no name, its parts lose the model's.
    pub(crate) fn adopt(&mut self, other: &Places, model: &str, whole: &str) {
        for (i, (_, place)) in other.noted.iter().enumerate() {
            let Some((kind, name)) = other.name(i).split_once(' ') else { continue };
            let Some(rest) = name.strip_prefix(model) else { continue };
            match rest.strip_prefix("::") {
                Some(part) if whole.is_empty() => {
                    self.insert(format_args!("{kind} {part}"), place.clone());
                }
                Some(part) => self.insert(format_args!("{kind} {whole}::{part}"), place.clone()),
                None if rest.is_empty() && !whole.is_empty() => {
                    self.insert(format_args!("{kind} {whole}"), place.clone());
                }
                None => {}
            }
        }
    }

    /// Where a part was written, or else the part it is a detail of.
    pub fn find(&self, part: &str) -> Option<Place> {
        let whole = part.split_once('#').map_or(part, |(whole, _)| whole);
        // A shape whose own place nobody noted is in its link.
        let link = whole
            .strip_prefix("collision ")
            .and_then(|shape| shape.rsplit_once("::"))
            .map(|(link, _)| format!("link {link}"));
        let noted = self.noted(part).or_else(|| self.noted(whole)).or_else(|| self.noted(&link?));
        noted.cloned()
    }

    /// Whether a place is noted under exactly this name.
    pub(crate) fn is_noted(&self, part: &str) -> bool {
        self.noted(part).is_some()
    }

    /// The latest place noted under exactly this name.
    fn noted(&self, name: &str) -> Option<&Place> {
        let by_name = self.by_name.get_or_init(|| {
            let mut order: Vec<usize> = (0..self.noted.len()).collect();
            order.sort_by_key(|i| self.name(*i)); // stable: equal names stay in order of age
            order
        });
        let after = by_name.partition_point(|i| self.name(*i) <= name);
        let latest = *by_name[..after].last()?;
        (self.name(latest) == name).then_some(&self.noted[latest].1)
    }

    fn name(&self, i: usize) -> &str {
        &self.names[self.noted[i].0.clone()]
    }
}
