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
//!
//! Start reading at [`judge()`], which runs what [`compile()`] makes; `run/machine.rs` is the
//! heart of it.

mod blame;
pub mod closed_form;
pub mod code;
pub mod compare;
pub mod compile;
pub mod coverage;
pub mod cut;
pub mod explain;
mod formula;
pub mod judge;
pub mod lang;
pub mod live;
pub mod margin;
pub mod mutate;
pub mod parting;
pub mod region;
mod run;
pub mod scene;
pub mod temporal;
pub mod timeline;
mod trust;
pub mod value;
pub mod verdict;
pub mod vocabulary;
pub mod words;

pub use closed_form::{CLOSED_FORMS, ClosedForm, Measured};
pub use compile::compile;
pub use coverage::Coverage;
pub use cut::cut_short;
pub use explain::{Explanation, explain};
pub use judge::{JudgeOptions, judge};
pub use live::{Live, LiveSource};
pub use margin::{Margin, Sureness, margin};
pub use mutate::survivors;
pub use parting::{Course, Parting, companies, parting};
pub use run::ActionError;
pub use scene::{Column, Scene};
pub use timeline::{Timeline, timeline};
pub use verdict::{Judgement, RootVerdict, Verdict};
pub use vocabulary::Vocabulary;
