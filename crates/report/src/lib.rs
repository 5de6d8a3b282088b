//! Numbers as text people read.
//!
//! Everything here is a pure function from values to a `String`. Deliberately absent:
//! printing, files, terminals and colours; whoever has them decides.

mod chart;
mod table;
mod units;

pub use chart::{Chart, chart};
pub use table::{Align, table};
pub use units::{bytes, count, secs};
