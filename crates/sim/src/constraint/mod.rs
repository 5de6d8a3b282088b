//! Constraints between robots as rows: contacts that hold, joints at their limits, loops, dry
//! friction.
//!
//! ```text
//! packs (halves) ─► Blocks ─ delassus ─► the matrix that contact::hard solves
//! ```
//!
//! A *block* is the three rows of a contact, normal and tangents, or one row of anything else.
//! A row is kept as what a unit impulse along it does on its way to the base (a
//! [`Half`](crate::tree::Half)), column by column: with `M⁻¹ = Zᵀ·G·Z` the response of one row
//! to another is the sum, over the columns both have, of their products times the column's
//! give. Rows of robots that do not touch share no column, so nothing is computed for them.
//!
//! Deliberately absent: which rows there are. That is the engine's.

mod assembly;
mod blocks;

pub use assembly::Assembly;
pub use blocks::{Block, Blocks, Pushed};
