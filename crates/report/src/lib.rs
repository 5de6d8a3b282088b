//! Numbers and verdicts as text: for people, for terminals, for programs.
//!
//! ```text
//! numbers ──────────────► tables, charts, quantities
//! verdicts (a Matrix) ──► a text table · JSON · JUnit XML · one HTML page
//! ```
//!
//! Everything here is a pure function from values to a `String`. Deliberately absent:
//! printing, files, terminals and the question whether to use colours; whoever has them
//! decides.

mod card;
mod chart;
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
mod units;
mod verdicts;
mod vocabulary;

pub use card::{Card, LeftOut, MeasureRow, Probed, Ran, Went, card, card_json, card_page};
pub use chart::{Chart, chart};
pub use explained::{action_errors, explained, noticed, reached};
pub use json::verdicts_json;
pub use junit::junit;
pub use matrix::{cell_text, matrix, summary};
pub use overlay::partings;
pub use page::page;
pub use scatter::{Ellipse, Scatter, scatter};
pub use table::{Align, table};
pub use units::{bytes, count, quantity, secs};
pub use verdicts::{Cell, Covered, Judged, Matrix, Row, Spot, Sureness, Survived};
pub use vocabulary::{vocabulary, vocabulary_json};
