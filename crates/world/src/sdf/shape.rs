//! `geometry`: every shape, its sizes checked, its files loaded.

use std::path::{Component, Path, PathBuf};

use headland_base::maths::Vec2;
use headland_base::{Diagnostic, Vec3};
use roxmltree::Node;

use super::frames::Named;
use super::inline::is_inline;
use super::reader::Reader;
use crate::Geometry;
use crate::assets::unit_vector;
use crate::xml;

/// Every outline is asked whether it lies inside every other, so both are bounded; a city
/// map of houses with courtyards has a few hundred.
const MOST_OUTLINES: usize = 1_000;
/// In all outlines of a shape.
const MOST_POINTS: usize = 100_000;

impl Reader<'_, '_> {
    /// The `geometry` of a collision, a visual or a region. `None` when it is missing or
    /// wrong, which has been reported.
    pub fn geometry(&mut self, owner: Node<'_, '_>) -> Option<Geometry> {
        let node = self.required(owner, "geometry")?;
        let mut shapes = node.children().filter(Node::is_element);
        let Some(shape) = shapes.next() else {
            self.xml.error("missing-element", "`geometry` has no shape in it", node);
            return None;
        };
        let kind = shape.tag_name().name();
        // Only outlines may be several: the later ones are holes.
        if let Some(second) =
            shapes.find(|other| kind != "polyline" || !xml::is_named(*other, kind))
        {
            self.xml.error("repeated-element", "`geometry` has more than one shape", second);
        }
        match kind {
            "empty" => Some(Geometry::Empty),
            "box" => self.positive_vec3(shape, "size").map(|size| Geometry::Box { size }),
            "sphere" => self.positive_in(shape, "radius").map(|radius| Geometry::Sphere { radius }),
            "cylinder" | "capsule" | "cone" => self.round(shape, kind),
            "ellipsoid" => {
                self.positive_vec3(shape, "radii").map(|radii| Geometry::Ellipsoid { radii })
            }
            "plane" => self.plane(shape),
            "mesh" => self.mesh(shape),
            "heightmap" => self.heightmap(shape),
            "polyline" => self.polyline(node),
            "image" => {
                let place = self.xml.place(shape);
                self.xml.findings.push(
                    Diagnostic::error(
                        "unsupported-shape",
                        "shapes drawn out of an image are not read",
                    )
                    .at(place)
                    .help("use a `heightmap`, or a `mesh` made from the image"),
                );
                None
            }
            _ => None, // not a name SDF has: reported with the others
        }
    }

    fn round(&mut self, shape: Node<'_, '_>, kind: &str) -> Option<Geometry> {
        let (radius, length) =
            (self.positive_in(shape, "radius"), self.positive_in(shape, "length"));
        let (radius, length) = (radius?, length?);
        Some(match kind {
            "cylinder" => Geometry::Cylinder { radius, length },
            "capsule" => Geometry::Capsule { radius, length },
            _ => Geometry::Cone { radius, length },
        })
    }

    fn positive_vec3(&mut self, shape: Node<'_, '_>, name: &str) -> Option<Vec3> {
        let node = self.required(shape, name)?;
        let sizes = self.xml.vec3(node)?;
        let wrong: Vec<f64> = sizes.to_array().into_iter().filter(|size| *size <= 0.0).collect();
        if wrong.len() > 1 {
            let shown: Vec<String> = wrong.iter().map(f64::to_string).collect();
            let place = self.xml.text_place(node);
            let message = format!("`{name}` must be more than zero, found {}", shown.join(" and "));
            self.xml.findings.push(Diagnostic::error("not-positive", message).at(place));
            return None;
        }
        self.positive(node, sizes.min_element()).map(|_| sizes)
    }

    fn plane(&mut self, shape: Node<'_, '_>) -> Option<Geometry> {
        let normal = match self.one(shape, "normal") {
            Some(node) => self.normal(node),
            None => Some(Vec3::Z),
        };
        let size = match self.one(shape, "size") {
            Some(node) => self
                .xml
                .array(node)
                .and_then(|[x, y]| self.positive(node, x.min(y)).map(|_| Vec2::new(x, y))),
            None => Some(Vec2::ONE),
        };
        Some(Geometry::Plane { normal: normal?, size: size? })
    }

    fn normal(&mut self, node: Node<'_, '_>) -> Option<Vec3> {
        let normal = unit_vector(self.xml.vec3(node)?);
        if normal.is_none() {
            self.xml.error("zero-vector", "the normal of a plane has no direction", node);
        }
        normal
    }

    fn polyline(&mut self, geometry: Node<'_, '_>) -> Option<Geometry> {
        let mut outlines = Vec::new();
        let mut height = None;
        let mut is_whole = true;
        for node in xml::children(geometry, "polyline") {
            height = height.or(self.positive_in(node, "height"));
            let outline = self.outline(node);
            is_whole &= outline.is_some();
            outlines.extend(outline);
        }
        let n_points: usize = outlines.iter().map(Vec::len).sum();
        if outlines.len() > MOST_OUTLINES || n_points > MOST_POINTS {
            let message =
                format!("more than {MOST_OUTLINES} outlines, or {MOST_POINTS} points in them");
            self.xml.error("too-many-points", message, geometry);
            return None;
        }
        height.filter(|_| is_whole).map(|height| Geometry::Polyline { outlines, height })
    }

    fn outline(&mut self, node: Node<'_, '_>) -> Option<Vec<Vec2>> {
        let points = xml::children(node, "point").map(|point| self.xml.array(point));
        let points: Vec<_> = points.map(|point| point.map(Vec2::from_array)).collect();
        let mut outline = points.into_iter().collect::<Option<Vec<Vec2>>>()?;
        // Some files close the outline by saying the first point again.
        while outline.len() > 1 && outline.last() == outline.first() {
            outline.pop();
        }
        if outline.len() < 3 {
            let message = format!("an outline needs 3 points, found {}", outline.len());
            self.xml.error("too-few-points", message, node);
            return None;
        }
        Some(outline)
    }

    fn mesh(&mut self, shape: Node<'_, '_>) -> Option<Geometry> {
        let uri = self.required_text(shape, "uri");
        let scale = match self.one(shape, "scale") {
            Some(node) => self.scale(node),
            None => Some(Vec3::ONE),
        };
        let submesh = self.one(shape, "submesh").map(|node| {
            let (name, center) =
                (self.required_text(node, "name"), self.flag(node, "center", false));
            name.map(|named| (named.name, center))
        });
        let convex = self.convex(shape);
        let uri = uri?;
        let file = if is_inline(&uri.name) { None } else { Some(self.find_file(&uri)) };
        let scale = scale?;
        let submesh = match submesh {
            Some(wanted) => Some(wanted?),
            None => None,
        };
        let Some(path) = file else {
            let mesh = self.inline_mesh(shape)?;
            return Some(Geometry::Mesh { uri: uri.name, scale, submesh, mesh, convex });
        };
        let path = path?;
        let part = submesh.as_ref().map(|(name, center)| (name.as_str(), *center));
        let loaded = self.shared.meshes.load(&path, part, scale);
        let (mesh, warning) = self.loaded(loaded, &uri)?;
        self.xml.findings.extend(warning.map(|warning| warning.at(uri.place.clone())));
        let uri = self.uri_from_root(uri.name, &path);
        Some(Geometry::Mesh { uri, scale, submesh, mesh, convex })
    }

    fn scale(&mut self, node: Node<'_, '_>) -> Option<Vec3> {
        let scale = self.xml.vec3(node)?;
        if scale.x * scale.y * scale.z == 0.0 {
            self.xml.error("not-positive", "a mesh scaled by zero has no shape", node);
            return None;
        }
        Some(scale)
    }

    fn convex(&mut self, shape: Node<'_, '_>) -> bool {
        let Some(named) = self.attribute(shape, "optimization") else { return false };
        match named.name.as_str() {
            "convex_hull" => true,
            "convex_decomposition" => {
                let message = "meshes are not decomposed; this one touches with its triangles";
                self.xml
                    .findings
                    .push(Diagnostic::remark("not-decomposed", message).at(named.place));
                false
            }
            "" | "none" => false,
            other => {
                let message = format!("no mesh optimization `{other}`");
                self.xml.findings.push(
                    Diagnostic::error("unknown-word", message)
                        .at(named.place)
                        .help("known here: `convex_hull`, `convex_decomposition`"),
                );
                false
            }
        }
    }

    fn heightmap(&mut self, shape: Node<'_, '_>) -> Option<Geometry> {
        let uri = self.required_text(shape, "uri");
        let size = match self.one(shape, "size") {
            Some(_) => self.positive_vec3(shape, "size"),
            None => Some(Vec3::ONE),
        };
        let position = match self.one(shape, "pos") {
            Some(node) => self.xml.vec3(node),
            None => Some(Vec3::ZERO),
        };
        let uri = uri?;
        let file = if is_inline(&uri.name) { None } else { Some(self.find_file(&uri)) };
        let (size, position) = (size?, position?);
        let Some(path) = file else {
            let heights = self.inline_heights(shape)?;
            return Some(Geometry::Heightmap { uri: uri.name, size, position, heights });
        };
        let path = path?;
        let loaded = self.shared.heightmaps.load(&path, size);
        let heights = self.loaded(loaded, &uri)?;
        let uri = self.uri_from_root(uri.name, &path);
        Some(Geometry::Heightmap { uri, size, position, heights })
    }

    /// The file a uri means; reports when there is none.
    pub fn find_file(&mut self, uri: &Named) -> Option<PathBuf> {
        let found = self.shared.options.resources.resolve(&uri.name, &self.dir);
        self.loaded(found, uri)
    }

    /// What was loaded, or else its diagnostic, pointing at the uri that asked for it.
    fn loaded<T>(&mut self, loaded: Result<T, Diagnostic>, uri: &Named) -> Option<T> {
        loaded
            .map_err(|mut diagnostic| {
                if diagnostic.place.is_none() {
                    diagnostic = diagnostic.at(uri.place.clone());
                }
                self.xml.findings.push(diagnostic);
            })
            .ok()
    }

    /// A name for the file that means the same from the outermost file's folder, which is
    /// where a World's names are looked up. Nothing changes unless the file that says it
    /// was included from elsewhere, or found around it and on no search path.
    pub(super) fn uri_from_root(&self, uri: String, path: &Path) -> String {
        let resources = &self.shared.options.resources;
        if self.shared.chain.len() <= 1 {
            return resources.uri_anywhere(&uri, path);
        }
        let root_dir = &self.shared.root_dir;
        let same = |found: &Path| found.canonicalize().ok() == path.canonicalize().ok();
        match resources.resolve(&uri, root_dir) {
            Ok(found) if same(&found) => resources.uri_anywhere(&uri, path),
            _ => relative_path(root_dir, path).unwrap_or_else(|| path.display().to_string()),
        }
    }
}

/// `to`, as seen from the folder `from`; `None` where there is no way between them.
fn relative_path(from: &Path, to: &Path) -> Option<String> {
    let from = if from.as_os_str().is_empty() { Path::new(".") } else { from };
    let (from, to) = (from.canonicalize().ok()?, to.canonicalize().ok()?);
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to[shared..].iter().copied()).collect();
    Some(path.to_str()?.to_string())
}
