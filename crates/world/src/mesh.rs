//! Triangles from files: STL, OBJ, COLLADA and glTF go in, one welded [`TriMesh`] comes out.
//!
//! ```text
//! bytes ─ format ─► parts (named triangles) ─ submesh ─► weld ─ scale ─► TriMesh
//! ```
//!
//! Lengths follow Gazebo: COLLADA's `unit` is applied, its `up_axis` is not, and glTF is
//! taken as it stands. Colours, normals and the pictures that a file names are left behind; where
//! its corners are on a texture is kept, of OBJ and glTF.
//!
//! Deliberately absent: repair. A mesh with holes is read as it is; [`crate::inertia`]
//! says so when that matters.

mod collada;
mod gltf;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use headland_base::{Diagnostic, Mat3, Vec3, names};

use crate::files::{self, Unread};
use crate::geometry::{TriMesh, TriMeshError};

/// The largest file that is opened, buffers of a glTF included \[bytes\].
pub const MOST_BYTES: u64 = 512 << 20;

/// The most triangles a mesh may have, after every instance in it is unfolded.
pub const MOST_TRIANGLES: usize = 20_000_000;

/// The file endings that are read, in the order help lists them.
pub const FORMATS: &[&str] = &["stl", "obj", "dae", "gltf", "glb"];

/// Reads a mesh, keeps `submesh` (its name, and whether to move it to its own centre),
/// and stretches it by `scale`. A scale that mirrors turns the triangles around, so that
/// outside stays outside.
pub fn load(
    path: &Path,
    submesh: Option<(&str, bool)>,
    scale: Vec3,
) -> Result<TriMesh, Diagnostic> {
    load_noting(path, submesh, scale).map(|(mesh, _)| mesh)
}

/// The same, with a warning where the file holds more than was read of it.
pub(crate) fn load_noting(
    path: &Path,
    submesh: Option<(&str, bool)>,
    scale: Vec3,
) -> Result<(TriMesh, Option<Diagnostic>), Diagnostic> {
    let bytes = read_bounded(path)?;
    let (bytes, warning) = match ending_of(path).as_str() {
        "stl" => counted_stl(path, &bytes)?,
        _ => (&bytes[..], None),
    };
    let parts = parts_of(path, bytes)?;
    let (mut corners, places) = chosen(path, parts, submesh)?;
    if let Some((_, true)) = submesh {
        centre(&mut corners);
    }
    Ok((weld(path, &corners, &places, scale)?, warning))
}

/// A named set of triangles: three corners each, in order.
#[derive(Default)]
struct Part {
    /// Every name a submesh may ask for it by: its node's, its geometry's.
    names: Vec<String>,
    corners: Vec<Vec3>,
    /// Where each corner is on a texture, from the left and from the top; or empty.
    places: Vec<[f32; 2]>,
}

/// A linear map and a translation; unlike a rigid transform it may stretch.
#[derive(Clone, Copy)]
struct Affine {
    linear: Mat3,
    offset: Vec3,
}

impl Affine {
    const IDENTITY: Affine = Affine { linear: Mat3::IDENTITY, offset: Vec3::ZERO };

    fn point(&self, p: Vec3) -> Vec3 {
        self.linear * p + self.offset
    }

    fn then_inner(&self, inner: &Affine) -> Affine {
        Affine { linear: self.linear * inner.linear, offset: self.point(inner.offset) }
    }

    /// Corners of triangles in the outer frame; a mirror turns them around.
    fn corners(&self, corners: &[Vec3]) -> Vec<Vec3> {
        let mut out: Vec<Vec3> = corners.iter().map(|p| self.point(*p)).collect();
        if self.linear.determinant() < 0.0 {
            turn_around(&mut out);
        }
        out
    }
}

fn turn_around<T>(corners: &mut [T]) {
    for triangle in corners.chunks_exact_mut(3) {
        triangle.swap(1, 2);
    }
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    files::bytes_of(path, MOST_BYTES).map_err(|why| match why {
        Unread::Irregular(diagnostic) => diagnostic,
        Unread::Failed(error) => bad(path, error.to_string()),
        Unread::TooLarge(_) => {
            too_large(path, format!("it is larger than {} MiB", MOST_BYTES >> 20))
        }
    })
}

fn ending_of(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// What a binary STL says it holds, without what follows, of which a warning tells. The
/// library takes whatever is there for triangles: of a file that was cut short it would make
/// a mesh with a hole.
fn counted_stl<'b>(
    path: &Path,
    bytes: &'b [u8],
) -> Result<(&'b [u8], Option<Diagnostic>), Diagnostic> {
    const HEAD_LEN: usize = 84;
    const TRIANGLE_LEN: usize = 50;
    let Some((head, _)) = bytes.split_at_checked(HEAD_LEN) else { return Ok((bytes, None)) };
    // A text starts with `solid`, and so do the heads of some that are none; but a count
    // below 16 million has a zero byte in it.
    if head.trim_ascii_start().starts_with(b"solid") && !head.contains(&0) {
        return Ok((bytes, None));
    }
    let claimed = &head[HEAD_LEN - 4..];
    let claimed = u32::from_le_bytes([claimed[0], claimed[1], claimed[2], claimed[3]]) as usize;
    let held = (bytes.len() - HEAD_LEN) / TRIANGLE_LEN;
    let rest = (bytes.len() - HEAD_LEN).saturating_sub(claimed.saturating_mul(TRIANGLE_LEN));
    if held < claimed {
        let why = format!("it says that it holds {claimed} triangles, and holds {held}");
        return Err(bad(path, why).help("it was cut short, or is not an STL: write it again"));
    }
    let counted = &bytes[..bytes.len() - rest];
    if bytes[counted.len()..].trim_ascii().is_empty() {
        return Ok((counted, None)); // some end with a new line
    }
    let message =
        format!("`{}` goes on behind the {claimed} triangles it says it holds", path.display());
    let warning = Diagnostic::warning("bytes-after-mesh", message)
        .note(format!("{rest} bytes are not read, {} triangles of 50", rest / TRIANGLE_LEN))
        .help("write it again, so that its count and its triangles agree");
    Ok((counted, Some(warning)))
}

fn parts_of(path: &Path, bytes: &[u8]) -> Result<Vec<Part>, Diagnostic> {
    match ending_of(path).as_str() {
        "stl" => simple_parts(path, || mesh_loader::stl::from_slice(bytes)),
        "obj" => simple_parts(path, || {
            // Material files only colour what is drawn; none is opened.
            let no_materials = |_: &Path| Err::<Vec<u8>, _>(std::io::ErrorKind::NotFound.into());
            mesh_loader::obj::from_slice(bytes, None, no_materials)
        }),
        "dae" => collada::parts(path, &String::from_utf8_lossy(bytes)),
        "gltf" | "glb" => gltf::parts(path, bytes),
        _ => Err(Diagnostic::error(
            "unknown-mesh-format",
            format!("cannot read `{}` as a mesh", path.display()),
        )
        .note(format!("known endings: {}", FORMATS.join(", ")))
        .help("convert it to one of these, for example with Blender")),
    }
}

/// STL and OBJ have no nodes: the library's meshes are the parts.
fn simple_parts(
    path: &Path,
    parse: impl FnOnce() -> std::io::Result<mesh_loader::Scene>,
) -> Result<Vec<Part>, Diagnostic> {
    let scene = guarded(path, parse)?.map_err(|error| bad(path, error.to_string()))?;
    let n_triangles = scene.meshes.iter().map(|mesh| mesh.faces.len()).sum::<usize>();
    check_count(path, n_triangles)?;
    let part = |mesh: mesh_loader::Mesh| {
        let corner = |i: u32| {
            let p = mesh.vertices.get(i as usize).ok_or_else(|| bad(path, "a bad index"))?;
            Ok(Vec3::new(p[0].into(), p[1].into(), p[2].into()))
        };
        let corners = mesh.faces.iter().flatten().map(|i| corner(*i)).collect::<Result<_, _>>()?;
        // From the bottom in the file, from the top here.
        let place = |i: &u32| mesh.texcoords[0].get(*i as usize).map(|[u, v]| [*u, 1.0 - v]);
        let places: Option<Vec<[f32; 2]>> = mesh.faces.iter().flatten().map(place).collect();
        let places = places.unwrap_or_default();
        Ok(Part { names: vec![mesh.name.clone()], corners, places })
    };
    scene.meshes.into_iter().map(part).collect()
}

/// A library that panics on a hostile file must not take the program with it.
fn guarded<T>(path: &Path, parse: impl FnOnce() -> T) -> Result<T, Diagnostic> {
    catch_unwind(AssertUnwindSafe(parse)).map_err(|_| bad(path, "its contents make no sense"))
}

fn check_count(path: &Path, n_triangles: usize) -> Result<(), Diagnostic> {
    if n_triangles <= MOST_TRIANGLES {
        return Ok(());
    }
    Err(too_large(
        path,
        format!("it has more than {} million triangles", MOST_TRIANGLES / 1_000_000),
    ))
}

/// The corners of the parts that are asked for.
fn chosen(
    path: &Path,
    parts: Vec<Part>,
    submesh: Option<(&str, bool)>,
) -> Result<Corners, Diagnostic> {
    let Some((wanted, _)) = submesh else { return Ok(joined(parts)) };
    let is_wanted = |part: &Part| part.names.iter().any(|name| name == wanted);
    if !parts.iter().any(is_wanted) {
        let known: BTreeSet<&str> =
            parts.iter().flat_map(|part| part.names.iter().map(String::as_str)).collect();
        let message = format!("`{}` has no submesh `{wanted}`", path.display());
        return Err(Diagnostic::error("no-submesh", message)
            .help_maybe(names::suggestion(wanted, known.iter().copied())));
    }
    Ok(joined(parts.into_iter().filter(is_wanted).collect()))
}

/// Corners, and where they are on a texture; or nothing of that.
type Corners = (Vec<Vec3>, Vec<[f32; 2]>);

/// All corners; those of a part that does not say where they are on a texture are at its first.
fn joined(parts: Vec<Part>) -> Corners {
    let has_places = parts.iter().any(|part| !part.places.is_empty());
    let (mut corners, mut places) = (Vec::new(), Vec::new());
    for part in parts {
        corners.extend_from_slice(&part.corners);
        if has_places {
            places.extend_from_slice(&part.places);
            places.resize(corners.len(), [0.0; 2]);
        }
    }
    (corners, places)
}

/// Moves the middle of the bounding box to the origin, as Gazebo does.
fn centre(corners: &mut [Vec3]) {
    let Some(first) = corners.first().copied() else { return };
    let (low, high) =
        corners.iter().fold((first, first), |(low, high), p| (low.min(*p), high.max(*p)));
    let middle = (low + high) * 0.5;
    corners.iter_mut().for_each(|p| *p -= middle);
}

/// Joins corners that are equal to the last bit, numbers them by first use, and drops
/// triangles that have collapsed to a line.
fn weld(
    path: &Path,
    corners: &[Vec3],
    places: &[[f32; 2]],
    scale: Vec3,
) -> Result<TriMesh, Diagnostic> {
    // Equal corners are joined, and what is not a number equals itself to the last bit.
    if let Some(corner) = corners.iter().position(|corner| !corner.is_finite()) {
        return Err(bad(path, format!("corner {corner} is not a finite point")));
    }
    let key = |i: u32| (corners[i as usize] + Vec3::ZERO).to_array().map(f64::to_bits); // -0 is 0
    let mut order: Vec<u32> = (0..corners.len() as u32).collect();
    order.sort_unstable_by_key(|i| (key(*i), *i));
    let mut first_equal = vec![0u32; corners.len()];
    let mut leader = 0u32;
    for (rank, i) in order.iter().enumerate() {
        if rank == 0 || key(*i) != key(leader) {
            leader = *i;
        }
        first_equal[*i as usize] = leader;
    }

    let mut number = vec![u32::MAX; corners.len()];
    let (mut vertices, mut triangles, mut kept_places) = (Vec::new(), Vec::new(), Vec::new());
    for (idx, triangle) in first_equal.chunks_exact(3).enumerate() {
        if triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0] {
            continue;
        }
        if let Some([a, b, c]) = places.get(3 * idx..3 * idx + 3) {
            kept_places.push([*a, *b, *c]);
        }
        triangles.push([triangle[0], triangle[1], triangle[2]].map(|i| {
            if number[i as usize] == u32::MAX {
                number[i as usize] = vertices.len() as u32;
                vertices.push((corners[i as usize] + Vec3::ZERO) * scale);
            }
            number[i as usize]
        }));
    }
    if scale.x * scale.y * scale.z < 0.0 {
        triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        turn_places(&mut kept_places);
    }
    let mesh = TriMesh::new(vertices, triangles);
    mesh.map(|mesh| mesh.with_texture_places(kept_places)).map_err(|error| match error {
        TriMeshError::Empty => Diagnostic::error(
            "empty-mesh",
            format!("there are no triangles in `{}`", path.display()),
        ),
        TriMeshError::NotFinite { vertex } => {
            bad(path, format!("vertex {vertex} is not a finite point"))
        }
        TriMeshError::NoSuchVertex { .. } => unreachable!("numbered above"),
    })
}

fn turn_places(places: &mut [[[f32; 2]; 3]]) {
    places.iter_mut().for_each(|triangle| triangle.swap(1, 2));
}

fn bad(path: &Path, why: impl Into<String>) -> Diagnostic {
    Diagnostic::error("bad-mesh", format!("cannot read the mesh `{}`", path.display())).note(why)
}

fn too_large(path: &Path, why: String) -> Diagnostic {
    Diagnostic::error("mesh-too-large", format!("the mesh `{}` is too large", path.display()))
        .note(why)
        .help("simplify it; a collision shape rarely needs more than a few thousand triangles")
}

#[cfg(test)]
mod tests;
