//! Placeholder until the mesh loader lands.
use crate::TriMesh;
use headland_base::{Diagnostic, Vec3};
use std::path::Path;
pub fn load(path: &Path, _: Option<(&str, bool)>, _: Vec3) -> Result<TriMesh, Diagnostic> {
    Err(Diagnostic::error("unsupported-format", format!("cannot load {}", path.display())))
}
