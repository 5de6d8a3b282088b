//! Temporal formulas over a recording: robustness columns.
//!
//! An atom's robustness is how far its comparison is from flipping: `b − a` for `a < b`,
//! the tolerance taken off. `and:` is the smaller, `or:` the larger, `not` the negative.

use std::ops::Range;
use std::sync::Arc;

use headland_base::SimTime;

use crate::code::{Code, Connective, Literal, Node, Op, Operator, TemporalCode};
use crate::scene::{Column, Scene};
use crate::temporal;
use crate::value::Compare;
use crate::verdict::{RootVerdict, Verdict};
use crate::vocabulary::Quantity;

/// A formula evaluated at every snapshot.
pub(crate) struct Evaluated {
    /// By how much it holds; NaN where that is not known.
    pub robustness: Vec<f64>,
    /// Whether it holds: 1 and 0, NaN where not known.
    pub holds: Arc<Column>,
}
