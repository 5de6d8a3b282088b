//! COLLADA: the geometry of the visual scene, with every node's transform and every
//! instance unfolded, and where its corners are on a texture.
//!
//! Written on our XML reader: of the libraries there are, one keeps a single transform
//! per geometry and forgets translations below a centimetre, the other panics on what it
//! does not know.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use headland_base::maths::{quat_from_axis_angle, sqrt};
use headland_base::{Diagnostic, Mat3, Place, Source, Vec3};
use roxmltree::Node;

use super::{Affine, Corners, Part, bad, check_count, turn_around};
use crate::xml;

/// Nodes that are visited at most; instances of instances grow without end otherwise.
const MOST_NODES: usize = 1_000_000;

/// The parts of the scene, in metres.
pub fn parts(path: &Path, text: &str) -> Result<Vec<Part>, Diagnostic> {
    let source = Source::new(path.display().to_string(), text);
    let document = xml::parse(&source)?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        return Err(bad(path, "its root element is not `COLLADA`"));
    }
    let with_id = root.descendants().filter_map(|node| Some((node.attribute("id")?, node)));
    let by_id = with_id.map(|(id, node)| ((node.tag_name().name(), id), node)).collect();
    let mut reader = Reader {
        path,
        source: source.clone(),
        by_id,
        geometries: BTreeMap::new(),
        parts: Vec::new(),
        n_triangles: 0,
        n_nodes: 0,
    };
    let metres = match child(root, "asset").and_then(|asset| child(asset, "unit")) {
        Some(unit) => reader.attribute_number(unit, "meter", 1.0)?,
        None => 1.0,
    };
    let metres_from_file =
        Affine { linear: Mat3::from_diagonal(Vec3::splat(metres)), offset: Vec3::ZERO };
    match scene_of(root, &reader) {
        Some(scene) => reader.children_of(scene, metres_from_file, 0)?,
        None => reader.all_geometries(root, metres_from_file)?,
    }
    Ok(reader.parts)
}

fn scene_of<'a, 'i>(root: Node<'a, 'i>, reader: &Reader<'a, 'i, '_>) -> Option<Node<'a, 'i>> {
    let instance = child(child(root, "scene")?, "instance_visual_scene")?;
    reader.target(instance, "url", &["visual_scene"])
}

struct Reader<'a, 'i, 'p> {
    path: &'p Path,
    source: Arc<Source>,
    /// By tag and id. An id should mean one thing in a file, yet exporters give a scene, a
    /// node and a geometry the same one.
    by_id: BTreeMap<(&'a str, &'a str), Node<'a, 'i>>,
    /// Corners of each geometry already read, by where it starts in the text.
    geometries: BTreeMap<usize, Arc<Corners>>,
    parts: Vec<Part>,
    n_triangles: usize,
    n_nodes: usize,
}

impl<'a, 'i> Reader<'a, 'i, '_> {
    fn bad(&self, why: impl Into<String>, node: Node<'_, '_>) -> Diagnostic {
        let start = node.range().start;
        bad(self.path, why).at(Place::new(&self.source, start..start + 1))
    }

    /// The element of one of these kinds that a `#name` reference means.
    fn target(&self, node: Node<'a, 'i>, attribute: &str, kinds: &[&str]) -> Option<Node<'a, 'i>> {
        let id = node.attribute(attribute)?.trim_start_matches('#');
        kinds.iter().find_map(|kind| self.by_id.get(&(*kind, id)).copied())
    }

    fn referred(
        &self,
        node: Node<'a, 'i>,
        attribute: &str,
        kinds: &[&str],
    ) -> Result<Node<'a, 'i>, Diagnostic> {
        self.target(node, attribute, kinds).ok_or_else(|| {
            let name = node.attribute(attribute).unwrap_or_default();
            self.bad(format!("`{attribute}` names `{name}`, which is not there"), node)
        })
    }

    fn children_of(
        &mut self,
        node: Node<'a, 'i>,
        scene_from_node: Affine,
        depth: usize,
    ) -> Result<(), Diagnostic> {
        self.n_nodes += 1;
        if depth > xml::MOST_DEPTH || self.n_nodes > MOST_NODES {
            return Err(self.bad("its nodes contain each other without end", node));
        }
        for inner in node.children().filter(Node::is_element) {
            match inner.tag_name().name() {
                "node" => {
                    let inner_transform = scene_from_node.then_inner(&self.transform_of(inner)?);
                    self.children_of(inner, inner_transform, depth + 1)?;
                }
                "instance_node" => {
                    let target = self.referred(inner, "url", &["node"])?;
                    let inner_transform = scene_from_node.then_inner(&self.transform_of(target)?);
                    self.children_of(target, inner_transform, depth + 1)?;
                }
                "instance_geometry" => {
                    let geometry = self.referred(inner, "url", &["geometry"])?;
                    self.instance(node, geometry, scene_from_node)?;
                }
                "instance_controller" => self.skinned(node, inner, scene_from_node)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// A skin at rest: its geometry, moved by the bind shape matrix.
    fn skinned(
        &mut self,
        node: Node<'a, 'i>,
        instance: Node<'a, 'i>,
        scene_from_node: Affine,
    ) -> Result<(), Diagnostic> {
        let controller = self.referred(instance, "url", &["controller"])?;
        let Some(skin) = child(controller, "skin") else { return Ok(()) };
        let bind = match child(skin, "bind_shape_matrix") {
            Some(matrix) => affine_of(&self.numbers::<16>(matrix)?),
            None => Affine::IDENTITY,
        };
        let geometry = self.referred(skin, "source", &["geometry"])?;
        self.instance(node, geometry, scene_from_node.then_inner(&bind))
    }

    /// A file without a scene still has geometry.
    fn all_geometries(
        &mut self,
        root: Node<'a, 'i>,
        metres_from_file: Affine,
    ) -> Result<(), Diagnostic> {
        for library in root.children().filter(|node| is(*node, "library_geometries")) {
            for geometry in library.children().filter(|node| is(*node, "geometry")) {
                self.instance(geometry, geometry, metres_from_file)?;
            }
        }
        Ok(())
    }

    fn instance(
        &mut self,
        node: Node<'a, 'i>,
        geometry: Node<'a, 'i>,
        scene_from_geometry: Affine,
    ) -> Result<(), Diagnostic> {
        let start = geometry.range().start;
        let corners = match self.geometries.get(&start) {
            Some(known) => known.clone(),
            None => {
                let read = Arc::new(self.corners_of(geometry)?);
                self.geometries.insert(start, read.clone());
                read
            }
        };
        let (corners, places) = &*corners;
        self.n_triangles += corners.len() / 3;
        check_count(self.path, self.n_triangles)?;
        let mut places = places.clone();
        if scene_from_geometry.linear.determinant() < 0.0 {
            turn_around(&mut places); // as their corners are
        }
        let names =
            [node, geometry].into_iter().flat_map(|n| [n.attribute("name"), n.attribute("id")]);
        self.parts.push(Part {
            names: names.flatten().map(str::to_string).collect(),
            corners: scene_from_geometry.corners(corners),
            places,
        });
        Ok(())
    }

    /// What a node's own elements say, first one outermost.
    fn transform_of(&self, node: Node<'a, 'i>) -> Result<Affine, Diagnostic> {
        let mut parent_from_node = Affine::IDENTITY;
        for step in node.children().filter(Node::is_element) {
            let inner = match step.tag_name().name() {
                "matrix" => affine_of(&self.numbers::<16>(step)?),
                "translate" => Affine {
                    linear: Mat3::IDENTITY,
                    offset: Vec3::from_array(self.numbers::<3>(step)?),
                },
                "scale" => Affine {
                    linear: Mat3::from_diagonal(Vec3::from_array(self.numbers::<3>(step)?)),
                    offset: Vec3::ZERO,
                },
                "rotate" => self.rotation(step)?,
                "lookat" | "skew" => {
                    let kind = step.tag_name().name();
                    return Err(self.bad(format!("`{kind}` is not understood"), step));
                }
                _ => continue,
            };
            parent_from_node = parent_from_node.then_inner(&inner);
        }
        Ok(parent_from_node)
    }

    fn rotation(&self, step: Node<'a, 'i>) -> Result<Affine, Diagnostic> {
        let [x, y, z, degrees] = self.numbers::<4>(step)?;
        let axis = Vec3::new(x, y, z);
        let length = sqrt(axis.dot(axis));
        if length == 0.0 {
            return Ok(Affine::IDENTITY);
        }
        let turn = quat_from_axis_angle(axis / length, degrees.to_radians());
        Ok(Affine { linear: Mat3::from_quat(turn), offset: Vec3::ZERO })
    }

    /// The corners of a geometry, and where they are on a texture: by the first of its
    /// TEXCOORD inputs. What has none beside what has is at its first place.
    fn corners_of(&self, geometry: Node<'a, 'i>) -> Result<Corners, Diagnostic> {
        let Some(mesh) = child(geometry, "mesh") else { return Ok(Corners::default()) };
        let (mut corners, mut places) = (Vec::new(), Vec::new());
        for primitive in mesh.children().filter(Node::is_element) {
            let kind = primitive.tag_name().name();
            if !matches!(kind, "triangles" | "polylist" | "polygons" | "tristrips" | "trifans") {
                continue;
            }
            let input = |semantic: &str| primitive.children().find(|n| is_input(*n, semantic));
            let Some(vertex) = input("VERTEX") else { continue };
            let positions = self.positions(vertex)?;
            let texture = input("TEXCOORD").and_then(|node| Some((node, self.texture_of(node)?)));
            let offset = self.attribute_count(vertex, "offset", 0)?;
            let offsets = match &texture {
                Some((node, _)) => [offset, self.attribute_count(*node, "offset", 0)?],
                None => [offset; 2],
            };
            let mut stride = 1;
            for other in primitive.children().filter(|n| is(*n, "input")) {
                stride = stride.max(self.attribute_count(other, "offset", 0)?.saturating_add(1));
            }
            for outline in self.outlines(primitive, kind, offsets, stride)? {
                for [index, place] in triangles_of(kind, &outline).into_iter().flatten() {
                    let corner = usize::try_from(index).ok().and_then(|i| positions.get(i));
                    corners.push(*corner.ok_or_else(|| {
                        self.bad(format!("index {index} is past the last vertex"), primitive)
                    })?);
                    if let Some((_, all)) = &texture {
                        places.resize(corners.len() - 1, [0.0; 2]);
                        let place = usize::try_from(place).ok().and_then(|i| all.get(i));
                        places.push(place.copied().unwrap_or_default());
                    }
                }
            }
            check_count(self.path, corners.len() / 3)?;
        }
        if !places.is_empty() {
            places.resize(corners.len(), [0.0; 2]);
        }
        Ok((corners, places))
    }

    /// The indices of a primitive, of vertices and of places on the texture, cut into its
    /// polygons, strips or fans; triangles stay one list.
    fn outlines(
        &self,
        primitive: Node<'a, 'i>,
        kind: &str,
        offsets: [usize; 2],
        stride: usize,
    ) -> Result<Vec<Vec<[i64; 2]>>, Diagnostic> {
        let mut lists = Vec::new();
        for p in primitive.children().filter(|n| is(*n, "p")) {
            let all = self.words::<i64>(p)?;
            let both = |chunk: &[i64]| Some([*chunk.get(offsets[0])?, *chunk.get(offsets[1])?]);
            lists.push(all.chunks(stride).filter_map(both).collect());
        }
        if kind != "polylist" {
            return Ok(lists);
        }
        let all: Vec<[i64; 2]> = lists.concat();
        let counts = match child(primitive, "vcount") {
            Some(vcount) => self.words::<usize>(vcount)?,
            None => Vec::new(),
        };
        let (mut cut, mut rest) = (Vec::new(), all.as_slice());
        for count in counts {
            let Some((polygon, after)) = rest.split_at_checked(count) else {
                return Err(self.bad("`vcount` asks for more corners than `p` has", primitive));
            };
            cut.push(polygon.to_vec());
            rest = after;
        }
        Ok(cut)
    }

    /// Places on a texture, from the left and from the top; the file counts from the bottom. A
    /// source that makes no sense colours nothing, and the shape is still one.
    fn texture_of(&self, input: Node<'a, 'i>) -> Option<Vec<[f32; 2]>> {
        let source = self.target(input, "source", &["source"])?;
        let numbers = self.words::<f32>(child(source, "float_array")?).ok()?;
        let accessor = child(source, "technique_common").and_then(|n| child(n, "accessor"));
        let count = |name: &str, default: usize| {
            accessor.map_or(Some(default), |a| self.attribute_count(a, name, default).ok())
        };
        let (offset, stride) = (count("offset", 0)?, count("stride", 2)?);
        let pairs = numbers.get(offset..)?.chunks(stride.max(2));
        let place = |pair: &[f32]| match pair {
            [s, t, ..] if s.is_finite() && t.is_finite() => Some([*s, 1.0 - t]),
            _ => None,
        };
        Some(pairs.filter_map(place).collect())
    }

    /// `input` names `vertices`, whose POSITION input names the `source` of numbers.
    fn positions(&self, input: Node<'a, 'i>) -> Result<Vec<Vec3>, Diagnostic> {
        let vertices = self.referred(input, "source", &["vertices", "source"])?;
        let source = match vertices.children().find(|n| is_input(*n, "POSITION")) {
            Some(position) => self.referred(position, "source", &["source"])?,
            None => vertices,
        };
        let numbers = match child(source, "float_array") {
            Some(array) => self.words::<f64>(array)?,
            None => return Err(self.bad("its positions are not a `float_array`", source)),
        };
        let accessor = child(source, "technique_common").and_then(|n| child(n, "accessor"));
        let (offset, stride) = match accessor {
            Some(accessor) => (
                self.attribute_count(accessor, "offset", 0)?,
                self.attribute_count(accessor, "stride", 3)?,
            ),
            None => (0, 3),
        };
        if stride < 3 {
            return Err(self.bad("its positions have fewer than three coordinates", source));
        }
        let numbers = numbers.get(offset..).unwrap_or_default();
        Ok(numbers
            .chunks(stride)
            .filter(|chunk| chunk.len() >= 3)
            .map(|chunk| Vec3::new(chunk[0], chunk[1], chunk[2]))
            .collect())
    }

    fn words<T: std::str::FromStr>(&self, node: Node<'_, '_>) -> Result<Vec<T>, Diagnostic> {
        let text = xml::text_of(node);
        text.split_whitespace()
            .map(|word| {
                word.parse().map_err(|_| {
                    let shown: String = word.chars().take(40).collect();
                    self.bad(format!("`{shown}` is not a number"), node)
                })
            })
            .collect()
    }

    fn numbers<const N: usize>(&self, node: Node<'_, '_>) -> Result<[f64; N], Diagnostic> {
        let numbers = self.words::<f64>(node)?;
        let found = numbers.len();
        numbers.try_into().map_err(|_| {
            let tag = node.tag_name().name();
            self.bad(format!("`{tag}` takes {N} numbers, found {found}"), node)
        })
    }

    fn attribute_number(
        &self,
        node: Node<'_, '_>,
        name: &str,
        default: f64,
    ) -> Result<f64, Diagnostic> {
        let Some(text) = node.attribute(name) else { return Ok(default) };
        let number = text.trim().parse().ok().filter(|x: &f64| x.is_finite());
        number.ok_or_else(|| self.bad(format!("`{name}` is not a number"), node))
    }

    fn attribute_count(
        &self,
        node: Node<'_, '_>,
        name: &str,
        default: usize,
    ) -> Result<usize, Diagnostic> {
        let Some(text) = node.attribute(name) else { return Ok(default) };
        text.trim().parse().map_err(|_| self.bad(format!("`{name}` is not a count"), node))
    }
}

/// The triangles of one outline, by the kind of primitive it came from.
fn triangles_of<T: Copy>(kind: &str, outline: &[T]) -> Vec<[T; 3]> {
    match kind {
        "triangles" => outline.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
        "tristrips" => outline
            .windows(3)
            .enumerate()
            .map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] })
            .collect(),
        _ => outline
            .get(1..)
            .unwrap_or_default()
            .windows(2)
            .map(|w| [outline[0], w[0], w[1]])
            .collect(),
    }
}

/// A row-major 4 × 4 matrix; COLLADA's last row is 0 0 0 1.
fn affine_of(m: &[f64; 16]) -> Affine {
    Affine {
        linear: Mat3::from_cols(
            Vec3::new(m[0], m[4], m[8]),
            Vec3::new(m[1], m[5], m[9]),
            Vec3::new(m[2], m[6], m[10]),
        ),
        offset: Vec3::new(m[3], m[7], m[11]),
    }
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

fn is_input(node: Node<'_, '_>, semantic: &str) -> bool {
    is(node, "input") && node.attribute("semantic") == Some(semantic)
}

/// By local name: COLLADA files carry a default namespace, and some a prefix.
fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|inner| is(*inner, name))
}
