//! Judging: a recording goes in, a verdict comes out.
//!
//! ```text
//! test (.lrp) ─ lang ─► Program ─┐
//!                                ├─► judge ─► Verdict
//! Recording ── scene ─► columns ─┘
//! ```
//!
//! A test is a small nested state machine that watches a recording snapshot by snapshot.
//! It ends in `green` and passes, or touches `red` and fails.
//!
//! Deliberately absent: this crate does not know how a recording was made. There is no
//! engine here, no world and no wall clock. A log from a robot and a log from a simulator
//! enter by the same door, which is what makes comparing them fair.

pub mod lang;
pub mod temporal;
