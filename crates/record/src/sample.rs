//! One moment of one track, on its way from any source to any goal.
//!
//! ```text
//! messages (sampler) ─┐                 ┌─► columns in memory (load)
//! rows of a table     ├─► Sample ─► Goal┼─► messages of a new recording (save)
//! lines of a TUM file │                 ├─► which keys there are (layout)
//! a Recording         ┘                 └─► rows of a table · lines of a TUM file
//! ```
//!
//! A source holds one sample of each track at most, and a goal what it is made for, so a log
//! of any length goes through in the memory of a row, unless its goal is memory itself.

use std::borrow::Cow;

use headland_base::{Diagnostic, SimTime, Transform};

use crate::messages::Contact;
use crate::reader::Item;
use crate::track::{LeftOut, Motion, Remark};

/// What sort of samples a track has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Poses,
    Motions,
    Joints,
    Numbers,
    Contacts,
    Remarks,
}

/// What a track says at one moment.
pub(crate) enum Sample<'a> {
    Pose(Transform),
    Motion(Motion),
    /// Positions, velocities and efforts, each as long as the names or shorter; what is not
    /// there is NaN.
    Joints {
        names: &'a [String],
        lists: [&'a [f64]; 3],
    },
    /// Numbers by scoped key.
    Numbers(&'a [(Cow<'a, str>, f64)]),
    Contacts(Vec<Contact>),
    Remark(Remark),
}

/// Where samples go.
///
/// A source keeps two promises: tracks are numbered from zero in the order they are
/// announced, each topic once; and the times of one track never decrease. Between tracks
/// there is no such order. An `Err` is the goal's and ends the reading.
pub(crate) trait Goal {
    /// A new track. `schema` is the ROS type of its messages.
    fn track(&mut self, topic: &str, schema: &str, sort: Sort) -> Result<(), Diagnostic>;

    /// What a key is measured in, where the source says so. Most goals have no place for it.
    fn unit(&mut self, _key: &str, _unit: &'static str) {}

    /// What a key is measured in, in a word that nobody knows.
    fn unknown_unit(&mut self, _key: &str, _word: &str) {}

    /// One sample of an announced track.
    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        frame_id: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic>;

    /// Once a track is over: samples that were left out because of their times. Most goals
    /// have no place for them.
    fn left_out(&mut self, _track: usize, _left_out: LeftOut) {}

    /// Facts and files beside the samples. Most goals have no place for them.
    fn aside(&mut self, _item: Item<'_>) {}

    /// Whether no more samples are wanted; what stands beside them still is.
    fn is_full(&self) -> bool {
        false
    }
}
