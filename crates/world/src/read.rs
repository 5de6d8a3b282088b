//! What a reader of any format is told.

use crate::resource::Resources;

/// How to read a world.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Unknown names are warnings instead of errors.
    pub lenient: bool,
    /// Where to look for what a world names.
    pub resources: Resources,
    /// Links without an inertia get one from their shapes at this density \[kg/m³\].
    pub derive_inertia: Option<f64>,
}
