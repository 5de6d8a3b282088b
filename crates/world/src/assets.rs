//! What the readers share: meshes and heightmaps read once, elements kept as written,
//! attributes as numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, Place, Vec3};
use roxmltree::Node;

use crate::geometry::{HeightGrid, TriMesh};
use crate::world::Opaque;
use crate::xml::{self, Xml};
use crate::{heightmap, mesh};

/// Shapes already read, by file, part of it and size; whoever asks again shares the shape, or
/// hears of the same fault at its own place.
pub struct Loaded<T>(BTreeMap<Asked, Result<Shape<T>, Diagnostic>>);

/// A shape, and what its file makes worth warning of; who asks first is warned.
type Shape<T> = (Arc<T>, Option<Diagnostic>);

/// File, part, and size down to the last bit.
type Asked = (PathBuf, String, [u64; 3]);

impl<T> Default for Loaded<T> {
    fn default() -> Loaded<T> {
        Loaded(BTreeMap::new())
    }
}

impl Loaded<TriMesh> {
    /// The mesh of a file, or the part of that name in it, centred where that is wanted;
    /// stretched.
    pub fn load(
        &mut self,
        path: &Path,
        part: Option<(&str, bool)>,
        scale: Vec3,
    ) -> Result<Shape<TriMesh>, Diagnostic> {
        let key = (path.to_path_buf(), format!("{part:?}"), scale.to_array().map(f64::to_bits));
        let load =
            || mesh::load_noting(path, part, scale).map(|(mesh, note)| (Arc::new(mesh), note));
        let shape = self.0.entry(key).or_insert_with(load);
        let answer = shape.clone();
        if let Ok((_, warning)) = shape {
            *warning = None;
        }
        answer
    }
}

impl Loaded<HeightGrid> {
    /// The heights of a file, for a heightmap of this size.
    pub fn load(&mut self, path: &Path, size: Vec3) -> Result<Arc<HeightGrid>, Diagnostic> {
        let key = (path.to_path_buf(), String::new(), size.to_array().map(f64::to_bits));
        let load = || heightmap::load(path, size).map(|heights| (Arc::new(heights), None));
        self.0.entry(key).or_insert_with(load).clone().map(|(heights, _)| heights)
    }
}

/// The same direction with length one; `None` where there is none.
pub fn unit_vector(v: Vec3) -> Option<Vec3> {
    let square = v.dot(v);
    if !square.is_finite() || square < 1e-24 {
        return None;
    }
    Some(if (square - 1.0).abs() <= 1e-14 { v } else { v / sqrt(square) })
}

/// Elements that are kept without being understood, counted by kind.
#[derive(Default)]
pub struct Kept(BTreeMap<String, (usize, Place)>);

impl Kept {
    /// The element as written, counted for the note at the end.
    pub fn keep(&mut self, xml: &Xml<'_>, format: &'static str, node: Node<'_, '_>) -> Opaque {
        let kind = xml::local_name(node);
        self.count(&kind, || xml.place(node));
        let name = node.attribute("name").or_else(|| node.attribute("reference"));
        Opaque {
            format,
            kind,
            name: name.map(str::to_string),
            xml: xml::verbatim(&xml.source, node).to_string(),
        }
    }

    /// One more of a kind; where the first of it stands.
    pub fn count(&mut self, kind: &str, place: impl FnOnce() -> Place) {
        match self.0.get_mut(kind) {
            Some((count, _)) => *count += 1,
            None => _ = self.0.insert(kind.to_string(), (1, place())),
        }
    }

    /// One note per kind.
    pub fn note(self, xml: &mut Xml<'_>) {
        for (kind, (count, first)) in self.0 {
            let message = match count {
                1 => format!("1 `{kind}` kept, not interpreted"),
                _ => format!("{count} of `{kind}` kept, not interpreted"),
            };
            xml.findings.push(Diagnostic::remark("kept-opaque", message).at(first));
        }
    }
}

/// The numbers of an attribute, between `fewest` and `most` of them; `None` when it is
/// absent, or malformed, which is reported.
pub fn numbers(
    xml: &mut Xml<'_>,
    node: Node<'_, '_>,
    name: &str,
    (fewest, most): (usize, usize),
    infinite_ok: bool,
) -> Option<Vec<f64>> {
    let text = node.attribute(name)?;
    let place = xml.attribute_place(node, name);
    let numbers = xml.numbers(text, &place, infinite_ok)?;
    if (fewest..=most).contains(&numbers.len()) {
        return Some(numbers);
    }
    let wanted = match fewest == most {
        true => format!("{most}"),
        false if most == usize::MAX => format!("at least {fewest}"),
        false => format!("{fewest} to {most}"),
    };
    let plural = if most == 1 { "number" } else { "numbers" };
    let message = format!("`{name}` takes {wanted} {plural}, found {}", numbers.len());
    xml.findings.push(Diagnostic::error("wrong-count", message).at(place));
    None
}
