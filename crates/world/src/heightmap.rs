//! Placeholder until the image loader lands.
use crate::HeightGrid;
use headland_base::{Diagnostic, Vec3};
use std::path::Path;
pub fn load(path: &Path, _: Vec3) -> Result<HeightGrid, Diagnostic> {
    Err(Diagnostic::error("unsupported-format", format!("cannot load {}", path.display())))
}
