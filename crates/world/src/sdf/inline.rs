//! Shapes whose points stand in the file itself.
//!
//! SDF names a file for every mesh and heightmap. MJCF may write one out, or stretch one
//! that it names, and then there is no file to name: the uri is `inline://…`, and the points
//! follow in our own elements, so that a world that is written can be read again.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use headland_base::{Diagnostic, Vec3};
use roxmltree::Node;

use super::reader::Reader;
use crate::xml;
use crate::{Geometry, HeightGrid, Link, Model, TextureFile, TriMesh, World};

/// How the uri of a shape starts that has no file behind it.
pub(crate) const SCHEME: &str = "inline://";

/// The uri of such a shape.
pub(crate) fn uri(name: &str) -> String {
    format!("{SCHEME}{}", name.trim())
}

/// How the name of a texture starts whose picture it is itself, as in the pages of the web.
const PICTURE: &str = "data:image/";

/// The same world with every mesh and heightmap in it, and every texture where these are wanted, so
/// that it can be read where their files are not. Only the last part of a file's name is kept: the
/// folders are those of this machine. Textures that are not wanted keep their names.
pub fn with_shapes_inside(world: &World, has_textures: bool) -> World {
    let last_part = |name: &str| name.rsplit('/').next().unwrap_or_default().to_string();
    let mut world = world.clone();
    if has_textures {
        world.models.iter_mut().for_each(textures_inside);
    }
    let textures: BTreeSet<String> = worn(&world).map(|(name, _)| name.to_string()).collect();
    world.with_uris(&|name| match is_inside(name) || textures.contains(name) {
        true => name.to_string(),
        false => uri(&last_part(name)),
    })
}

/// Textures that are by the names of files, once for every surface that wears one.
fn worn(world: &World) -> impl Iterator<Item = (&str, &TextureFile)> {
    let visuals = world.links().into_iter().flat_map(|placed| &placed.link.visuals);
    visuals.filter_map(|visual| {
        let name = visual.material.texture.as_ref().filter(|name| !is_inside(name))?;
        Some((name.as_str(), visual.material.texture_file.as_deref()?))
    })
}

/// Whether a name needs no file.
pub fn is_inside(name: &str) -> bool {
    is_inline(name) || name.starts_with(PICTURE)
}

fn textures_inside(model: &mut Model) {
    let visuals = model.links.iter_mut().flat_map(|link| &mut link.visuals);
    for material in visuals.map(|visual| &mut visual.material) {
        if let Some(file) = &material.texture_file {
            let kind = if file.bytes.starts_with(b"\x89PNG") { "png" } else { "jpeg" };
            material.texture =
                Some(format!("{PICTURE}{kind};base64,{}", BASE64.encode(&file.bytes)));
        }
    }
    model.models.iter_mut().for_each(textures_inside);
}

/// The picture that the name of a texture is; nothing where it names one.
pub(super) fn picture_inside(name: &str) -> Option<Result<Vec<u8>, String>> {
    let (_, data) = name.strip_prefix(PICTURE)?.split_once(";base64,")?;
    let data: String = data.chars().filter(|c| !c.is_whitespace()).collect();
    Some(BASE64.decode(data).map_err(|why| why.to_string()))
}

/// How many numbers the meshes and heightmaps are that a world has by the names of files.
pub fn n_numbers_of_shapes(world: &World) -> usize {
    let of_link = |link: &Link| {
        let touching = link.collisions.iter().map(|collision| &collision.geometry);
        let seen = link.visuals.iter().map(|visual| &visual.geometry);
        touching.chain(seen).map(n_numbers_of).sum::<usize>()
    };
    world.links().iter().map(|placed| of_link(placed.link)).sum()
}

/// As long as how many numbers its textures are, written down: nine bytes of a picture are as long
/// as one.
pub fn n_numbers_of_textures(world: &World) -> usize {
    worn(world).map(|(_, file)| file.bytes.len() / 9).sum()
}

/// How many numbers a shape from a file is.
fn n_numbers_of(geometry: &Geometry) -> usize {
    match geometry {
        Geometry::Mesh { uri, .. } | Geometry::Heightmap { uri, .. } if is_inline(uri) => 0,
        Geometry::Mesh { mesh, .. } => 3 * (mesh.vertices().len() + mesh.triangles().len()),
        Geometry::Heightmap { heights, .. } => heights.n_columns() * heights.n_rows(),
        _ => 0,
    }
}

/// Whether a uri says that the points follow.
pub(super) fn is_inline(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

impl Reader<'_, '_> {
    /// `headland:vertices` and `headland:triangles` of a `mesh`.
    pub(super) fn inline_mesh(&mut self, shape: Node<'_, '_>) -> Option<Arc<TriMesh>> {
        let vertices = self.required(shape, "headland:vertices");
        let triangles = self.required(shape, "headland:triangles");
        let (vertices, triangles) = (vertices?, triangles?);
        let points = self.numbers_of(vertices)?;
        let corners = self.whole_numbers_of(triangles)?;
        for (node, n) in [(vertices, points.len()), (triangles, corners.len())] {
            if n % 3 != 0 {
                let message = format!("`{}` takes threes, found {n}", xml::local_name(node));
                self.xml.error("wrong-count", message, node);
                return None;
            }
        }
        let points = points.chunks_exact(3).map(|p| Vec3::new(p[0], p[1], p[2])).collect();
        let corners = corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
        match TriMesh::new(points, corners) {
            Ok(mesh) => Some(Arc::new(mesh)),
            Err(error) => {
                let place = self.xml.place(triangles);
                self.xml.findings.push(
                    Diagnostic::error("bad-mesh", "cannot read this mesh")
                        .note(format!("{error:?}"))
                        .at(place),
                );
                None
            }
        }
    }

    /// `headland:heights` of a `heightmap`: row by row, the first at the smallest y.
    pub(super) fn inline_heights(&mut self, shape: Node<'_, '_>) -> Option<Arc<HeightGrid>> {
        let node = self.required(shape, "headland:heights")?;
        let mut count = |name: &str| {
            let named = self.required_attribute(node, name)?;
            let parsed = named.name.parse::<usize>();
            if parsed.is_err() {
                let message = format!("`{name}` is not a whole number from 0");
                let diagnostic = Diagnostic::error("not-a-number", message).at(named.place);
                self.xml.findings.push(diagnostic);
            }
            parsed.ok()
        };
        let (n_columns, n_rows) = (count("columns"), count("rows"));
        let heights = self.numbers_of(node)?;
        let grid = HeightGrid::new(n_columns?, n_rows?, heights);
        if grid.is_none() {
            let message = "its rows and columns do not fit its heights";
            self.xml.error("bad-heightmap", message, node);
        }
        grid.map(Arc::new)
    }

    fn numbers_of(&mut self, node: Node<'_, '_>) -> Option<Vec<f64>> {
        let place = self.xml.text_place(node);
        self.xml.numbers(&xml::text_of(node), &place, false)
    }

    fn whole_numbers_of(&mut self, node: Node<'_, '_>) -> Option<Vec<u32>> {
        let text = xml::text_of(node);
        let parsed: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
        if parsed.is_err() {
            let message = format!("`{}` takes whole numbers from 0", xml::local_name(node));
            let place = self.xml.text_place(node);
            self.xml.findings.push(Diagnostic::error("not-a-number", message).at(place));
        }
        parsed.ok()
    }
}

/// Numbers as text, a few to a line so that people and diffs can read them.
pub(super) fn lines<T: Display>(rows: impl Iterator<Item = Vec<T>>) -> String {
    let row = |row: Vec<T>| row.iter().map(T::to_string).collect::<Vec<_>>().join(" ");
    rows.map(row).collect::<Vec<_>>().join("\n")
}
