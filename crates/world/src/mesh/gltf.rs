//! glTF and GLB: the triangles of the scene, with every node's transform.
//!
//! The `gltf` crate reads and validates the JSON; the numbers are taken from the buffers
//! here, because its own readers trust the counts a file gives.

use std::path::{Component, Path};

use ::gltf::accessor::{DataType, Dimensions};
use ::gltf::mesh::Mode;
use ::gltf::{Accessor, Gltf, Node, Primitive, Semantic, buffer, scene};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use headland_base::{Diagnostic, Mat3, Vec3, maths};

use super::{
    Affine, Corners, MOST_BYTES, Part, bad, check_count, guarded, read_bounded, turn_around,
};

/// The deepest chain of nodes that is followed.
const MOST_DEPTH: usize = 200;
/// Nodes that are visited at most; a node may stand in the tree more than once.
const MOST_NODES: usize = 1_000_000;

/// The parts of the scene.
pub fn parts(path: &Path, bytes: &[u8]) -> Result<Vec<Part>, Diagnostic> {
    let Gltf { document, mut blob } =
        guarded(path, || Gltf::from_slice(bytes))?.map_err(|error| bad(path, error.to_string()))?;
    let mut buffers = Vec::new();
    let mut room = MOST_BYTES;
    for buffer in document.buffers() {
        let data = buffer_data(path, buffer.source(), &mut blob)?;
        room = room
            .checked_sub(data.len() as u64)
            .ok_or_else(|| bad(path, "its buffers are too large"))?;
        buffers.push(data);
    }
    let mut reader = Reader { path, buffers, parts: Vec::new(), n_triangles: 0, n_nodes: 0 };
    match document.default_scene().or_else(|| document.scenes().next()) {
        Some(scene) => {
            for node in scene.nodes() {
                reader.node(node, Affine::IDENTITY, 0)?;
            }
        }
        None => {
            for mesh in document.meshes() {
                reader.mesh(&mesh, Vec::new(), Affine::IDENTITY)?;
            }
        }
    }
    Ok(reader.parts)
}

fn buffer_data(
    path: &Path,
    source: buffer::Source<'_>,
    blob: &mut Option<Vec<u8>>,
) -> Result<Vec<u8>, Diagnostic> {
    let uri = match source {
        buffer::Source::Bin => {
            return blob.take().ok_or_else(|| bad(path, "its binary chunk is missing"));
        }
        buffer::Source::Uri(uri) => uri,
    };
    if let Some(data) = uri.strip_prefix("data:") {
        let encoded = data.split_once(";base64,").map(|(_, encoded)| encoded);
        return encoded
            .and_then(|encoded| STANDARD.decode(encoded).ok())
            .ok_or_else(|| bad(path, "a buffer inside it is not base64"));
    }
    let beside = percent_decoded(uri);
    let inside = Path::new(&beside).components().all(|c| matches!(c, Component::Normal(_)));
    if !inside || beside.contains(':') {
        return Err(bad(path, format!("it names a buffer outside its own folder: `{uri}`")));
    }
    read_bounded(&path.parent().unwrap_or(Path::new(".")).join(beside))
}

/// `%20` is a space; anything malformed stays as it is.
fn percent_decoded(uri: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), uri.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let hex = rest.get(1..3).and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                out.push(byte);
                rest = &rest[3..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

struct Reader<'p> {
    path: &'p Path,
    buffers: Vec<Vec<u8>>,
    parts: Vec<Part>,
    n_triangles: usize,
    n_nodes: usize,
}

impl Reader<'_> {
    fn node(
        &mut self,
        node: Node<'_>,
        scene_from_parent: Affine,
        depth: usize,
    ) -> Result<(), Diagnostic> {
        self.n_nodes += 1;
        if depth > MOST_DEPTH || self.n_nodes > MOST_NODES {
            return Err(bad(self.path, "its nodes contain each other without end"));
        }
        let scene_from_node = scene_from_parent.then_inner(&affine_of(&node.transform()));
        if let Some(mesh) = node.mesh() {
            self.mesh(
                &mesh,
                node.name().map(str::to_string).into_iter().collect(),
                scene_from_node,
            )?;
        }
        for inner in node.children() {
            self.node(inner, scene_from_node, depth + 1)?;
        }
        Ok(())
    }

    fn mesh(
        &mut self,
        mesh: &::gltf::Mesh<'_>,
        mut names: Vec<String>,
        scene_from_mesh: Affine,
    ) -> Result<(), Diagnostic> {
        names.extend(mesh.name().map(str::to_string));
        let (mut corners, mut places) = (Vec::new(), Vec::new());
        for primitive in mesh.primitives() {
            let (of_it, places_of_it) = self.corners_of(&primitive)?;
            places.extend(places_of_it);
            corners.extend(of_it);
            check_count(self.path, self.n_triangles + corners.len() / 3)?;
        }
        self.n_triangles += corners.len() / 3;
        // All primitives say where they are on a texture, or none does.
        places.truncate(if places.len() == corners.len() { places.len() } else { 0 });
        if scene_from_mesh.linear.determinant() < 0.0 {
            turn_around(&mut places);
        }
        self.parts.push(Part { names, corners: scene_from_mesh.corners(&corners), places });
        Ok(())
    }

    fn corners_of(&self, primitive: &Primitive<'_>) -> Result<Corners, Diagnostic> {
        let mode = primitive.mode();
        if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
            return Ok(Corners::default()); // points and lines have no surface
        }
        let Some(accessor) = primitive.get(&Semantic::Positions) else {
            return Ok(Corners::default());
        };
        let positions = self.positions(&accessor)?;
        let indices = match primitive.indices() {
            Some(accessor) => self.indices(&accessor)?,
            None => (0..positions.len() as u32).collect(),
        };
        let triangles: Vec<[u32; 3]> = match mode {
            Mode::Triangles => indices.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
            Mode::TriangleStrip => indices
                .windows(3)
                .enumerate()
                .map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] })
                .collect(),
            _ => {
                let rest = indices.get(1..).unwrap_or_default();
                rest.windows(2).map(|w| [indices[0], w[0], w[1]]).collect()
            }
        };
        let corner = |i: u32| {
            let found = positions.get(i as usize).copied();
            found.ok_or_else(|| bad(self.path, format!("index {i} is past the last vertex")))
        };
        let corners = triangles.iter().flatten().map(|i| corner(*i)).collect::<Result<_, _>>()?;
        let on_texture = match primitive.get(&Semantic::TexCoords(0)) {
            Some(accessor) => self.places(&accessor)?,
            None => Vec::new(),
        };
        let place = |i: &u32| on_texture.get(*i as usize).copied();
        let places: Option<Vec<[f32; 2]>> = triangles.iter().flatten().map(place).collect();
        Ok((corners, places.unwrap_or_default()))
    }

    /// Places on a texture; none where they are not written as floats, which few do.
    fn places(&self, accessor: &Accessor<'_>) -> Result<Vec<[f32; 2]>, Diagnostic> {
        if (accessor.data_type(), accessor.dimensions()) != (DataType::F32, Dimensions::Vec2) {
            return Ok(Vec::new());
        }
        let float = |item: &[u8], at: usize| {
            f32::from_le_bytes([item[at], item[at + 1], item[at + 2], item[at + 3]])
        };
        Ok(self.items(accessor, 8)?.map(|item| [float(item, 0), float(item, 4)]).collect())
    }

    fn positions(&self, accessor: &Accessor<'_>) -> Result<Vec<Vec3>, Diagnostic> {
        if (accessor.data_type(), accessor.dimensions()) != (DataType::F32, Dimensions::Vec3) {
            return Err(bad(self.path, "its positions are not three 32-bit floats"));
        }
        let float = |item: &[u8], at: usize| {
            f64::from(f32::from_le_bytes([item[at], item[at + 1], item[at + 2], item[at + 3]]))
        };
        let items = self.items(accessor, 12)?;
        Ok(items.map(|item| Vec3::new(float(item, 0), float(item, 4), float(item, 8))).collect())
    }

    fn indices(&self, accessor: &Accessor<'_>) -> Result<Vec<u32>, Diagnostic> {
        if accessor.dimensions() != Dimensions::Scalar {
            return Err(bad(self.path, "its indices are not single numbers"));
        }
        Ok(match accessor.data_type() {
            DataType::U8 => self.items(accessor, 1)?.map(|b| u32::from(b[0])).collect(),
            DataType::U16 => self
                .items(accessor, 2)?
                .map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])))
                .collect(),
            DataType::U32 => self
                .items(accessor, 4)?
                .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
            _ => return Err(bad(self.path, "its indices are not unsigned integers")),
        })
    }

    /// The bytes of each item, at least `item_len` long; every count and offset in the
    /// file is doubted.
    fn items(
        &self,
        accessor: &Accessor<'_>,
        item_len: usize,
    ) -> Result<impl Iterator<Item = &[u8]>, Diagnostic> {
        let wrong = || bad(self.path, "an accessor reaches past its buffer");
        if accessor.sparse().is_some() {
            return Err(bad(self.path, "sparse accessors are not understood"));
        }
        let view = accessor.view().ok_or_else(wrong)?;
        let buffer = self.buffers.get(view.buffer().index()).ok_or_else(wrong)?;
        let view_end = view.offset().checked_add(view.length()).ok_or_else(wrong)?;
        let bytes = buffer.get(view.offset()..view_end).ok_or_else(wrong)?;
        let bytes = bytes.get(accessor.offset()..).ok_or_else(wrong)?;
        let stride = view.stride().unwrap_or(item_len);
        if stride < item_len {
            return Err(wrong());
        }
        let needed = match accessor.count().checked_sub(1) {
            Some(before_last) => before_last
                .checked_mul(stride)
                .and_then(|n| n.checked_add(item_len))
                .ok_or_else(wrong)?,
            None => 0,
        };
        let bytes = bytes.get(..needed).ok_or_else(wrong)?;
        Ok(bytes.chunks(stride))
    }
}

fn affine_of(transform: &scene::Transform) -> Affine {
    match transform {
        scene::Transform::Matrix { matrix } => {
            let column = |i: usize| {
                let c = matrix[i];
                Vec3::new(c[0].into(), c[1].into(), c[2].into())
            };
            Affine { linear: Mat3::from_cols(column(0), column(1), column(2)), offset: column(3) }
        }
        scene::Transform::Decomposed { translation: t, rotation: r, scale: s } => {
            let [x, y, z, w] = r.map(f64::from);
            let turn = maths::unit_quat(maths::Quat::from_xyzw(x, y, z, w));
            let turn = turn.unwrap_or(maths::Quat::IDENTITY);
            let scale = Vec3::new(s[0].into(), s[1].into(), s[2].into());
            Affine {
                linear: Mat3::from_quat(turn) * Mat3::from_diagonal(scale),
                offset: Vec3::new(t[0].into(), t[1].into(), t[2].into()),
            }
        }
    }
}
