//! Numbers and verdicts as text: for people, for terminals, for programs.
//!
//! ```text
//! numbers ──────────────► tables, charts, quantities
//! verdicts (a Matrix) ──► a text table · JSON · JUnit XML · one HTML page
//! comparisons ──────────► a text table · JSON · CSV · Markdown · SVG · one HTML page
//! ```
//!
//! Everything here is a pure function from values to a `String`. Deliberately absent:
//! printing, files, terminals and the question whether to use colours; whoever has them
//! decides.

mod card;
mod chart;
mod compared;
mod compared_page;
mod explained;
mod json;
mod junit;
mod markup;
mod matrix;
mod overlay;
mod page;
mod plot;
mod scatter;
mod table;
mod tuned;
mod tuned_page;
mod units;
mod verdicts;
mod vocabulary;

pub use card::{Card, LeftOut, MeasureRow, Probed, Ran, Went, card, card_json, card_page};
pub use chart::{Chart, chart};
pub use compared::{
    Comparison, USUAL_STATISTICS, comparison, comparison_csv, comparison_json, comparison_markdown,
    held_words, remarks,
};
pub use compared_page::{comparison_page, comparison_svg};
pub use explained::{action_errors, explained, noticed, reached};
pub use json::verdicts_json;
pub use junit::junit;
pub use matrix::{cell_text, matrix, summary};
pub use overlay::partings;
pub use page::page;
pub use scatter::{Ellipse, Scatter, scatter};
pub use table::{Align, table};
pub use tuned::{
    Began, TuneReport, TunedCurve, TunedError, TunedRow, tuned, tuned_json, tuned_markdown,
};
pub use tuned_page::tuned_page;
pub use units::{bytes, count, quantity, secs};
pub use verdicts::{Cell, Covered, Judged, Matrix, Row, Spot, Sureness, Survived};
pub use vocabulary::{vocabulary, vocabulary_json};
