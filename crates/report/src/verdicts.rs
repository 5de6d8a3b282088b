//! What there is to report: tests over recordings.

use std::sync::Arc;

use headland_base::Place;
pub use headland_judge::Sureness;
use headland_judge::code::Code;
use headland_judge::{Explanation, Judgement, Scene, Timeline, Verdict};

/// Tests over recordings, in the order they were given.
#[derive(Debug, Default)]
pub struct Matrix {
    /// Names of the columns.
    pub recordings: Vec<String>,
    /// One per test.
    pub rows: Vec<Row>,
}

impl Matrix {
    /// Every cell with the names of its test and its recording, row by row.
    pub fn cells(&self) -> impl Iterator<Item = (&Row, &str, &Cell)> {
        self.rows.iter().flat_map(|row| {
            let named = self.recordings.iter().zip(&row.cells);
            named.map(move |(recording, cell)| (row, recording.as_str(), cell))
        })
    }
}

/// One test over every recording.
#[derive(Debug)]
pub struct Row {
    /// The test's name: its path as given.
    pub test: String,
    /// One per recording.
    pub cells: Vec<Cell>,
    /// What no recording reached, where that was asked.
    pub coverage: Option<Covered>,
    /// Changes no recording noticed, where that was asked.
    pub survivors: Option<Survived>,
}

/// One test over one recording.
#[derive(Debug)]
pub enum Cell {
    /// It was judged.
    Judged(Box<Judged>),
    /// It was not, and why.
    Missing(String),
}

impl Cell {
    /// The verdict, where there is one.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Cell::Judged(judged) => Some(judged.judgement.verdict),
            Cell::Missing(_) => None,
        }
    }

    /// Green, red, …, or `missing`.
    pub fn word(&self) -> &'static str {
        self.verdict().map_or("missing", Verdict::word)
    }
}

/// A verdict with everything around it.
#[derive(Debug)]
pub struct Judged {
    /// The test, compiled for this recording.
    pub code: Arc<Code>,
    /// The recording.
    pub scene: Arc<Scene>,
    /// The verdict.
    pub judgement: Judgement,
    /// How sure it is.
    pub sureness: Sureness,
    /// Why what is red is red, where that was asked.
    pub explanations: Vec<Explanation>,
    /// What the test did, where that was asked.
    pub timeline: Option<Timeline>,
}

/// How much of a test the recordings reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Covered {
    /// States and transitions that were reached.
    pub n_reached: usize,
    /// States and transitions there are.
    pub n_parts: usize,
    /// Those that were not.
    pub missed: Vec<Spot>,
}

/// Small changes of a test and whether they were noticed.
#[derive(Clone, Debug, PartialEq)]
pub struct Survived {
    /// Changes that were tried.
    pub n_tried: usize,
    /// Changes that left every verdict as it was.
    pub unnoticed: Vec<Spot>,
}

/// Something at a place of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// In words.
    pub what: String,
    /// Where.
    pub place: Place,
}
