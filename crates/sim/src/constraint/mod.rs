//! Constraints between robots: contacts that hold, joints at their limits, loops, dry friction.
//!
//! ```text
//! packs (halves, free velocities) ─► Blocks ─ solve ─► impulses ─► kicks
//! ```
//!
//! A *block* is up to three rows that are solved together: the normal and the two tangents of
//! a contact, three directions of a loop, one axis. A row is kept as what a unit impulse along
//! it does on its way to the base (a [`Half`](crate::tree::Half)), column by column: with
//! `M⁻¹ = Zᵀ·G·Z` the velocities that impulses `λ` add are `Y·(G·Yᵀ·λ)`, and the bracket, one
//! number per column, is all that the solver passes from row to row. No matrix of all rows
//! against all rows is ever made, so the cost of a sweep grows with the number of rows.
//!
//! Deliberately absent: which rows there are. That is the engine's.

mod blocks;
mod solve;

pub use blocks::{Block, BlockKind, Blocks, Entry};
pub use solve::{Outcome, Settings, solve};
