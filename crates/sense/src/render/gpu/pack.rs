//! A scene as words for the program that draws: what stays from frame to frame, and what is where now.
//!
//! Numbers become single precision here, after the eye was taken off them in double, so that a
//! world far from its origin is as sharp as one around it.

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::{Mat3, Vec3};
use headland_world::LightKind;

use crate::scene::{Bounds, Bvh, Mesh, PlacedLight, Scene, Solid, Surface, Texture};

/// Words of an item, a surface, a node, a triangle and a lamp; `words.wgsl` has the same.
const ITEM: usize = 32;
const SURFACE: usize = 18;
const LAMP: usize = 20;
const NONE: u32 = u32::MAX;

/// Kinds of surfaces, as `words.wgsl` calls them.
const FACE: u32 = 0;
const ENDLESS: u32 = 1;
const DISC: u32 = 2;
const QUADRIC: u32 = 3;

const CASTS: u32 = 1;
const MARK: u32 = 2;
const CLOSED: u32 = 4;
const SUN_CASTS: u32 = 8;
const PLACED: u32 = 16;

/// Beyond all that is seen; a GPU need not know infinity.
const VERY_FAR: f64 = 2e30;

/// Words that are filled from the front.
#[derive(Default)]
pub(super) struct Words(pub Vec<u32>);

impl Words {
    fn word(&mut self, word: u32) {
        self.0.push(word);
    }

    fn number(&mut self, x: f64) {
        self.0.push((x.clamp(-VERY_FAR, VERY_FAR) as f32).to_bits());
    }

    fn vector(&mut self, v: Vec3) {
        v.to_array().into_iter().for_each(|x| self.number(x));
    }

    fn singles(&mut self, all: &[f32]) {
        self.0.extend(all.iter().map(|x| x.to_bits()));
    }

    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Fills up to so many words from a place on.
    fn fill(&mut self, start: usize, n: usize) {
        assert!(self.0.len() <= start + n, "as many words as there is room for");
        self.0.resize(start + n, 0);
    }

    /// A tree: of each node its box, what is first in it and how many; the eye is taken off.
    fn nodes(&mut self, tree: &Bvh, eye: Vec3) {
        let bounds = tree.bounds();
        let size = if bounds.is_empty() { 0.0 } else { (bounds.high - bounds.low).max_element() };
        // Larger by more than rounding is.
        let pad = Vec3::splat(1e-6 * (size + (bounds.centre() - eye).abs().max_element().min(1e9)));
        for (Bounds { low, high }, first, n) in tree.nodes() {
            self.vector(low - pad - eye);
            self.word(first);
            self.vector(high + pad - eye);
            self.word(n);
        }
    }
}

/// Where in the lasting words a shape is.
#[derive(Clone, Copy)]
struct Shape {
    surfaces: u32,
    n_surfaces: u32,
    nodes: u32,
    triangles: u32,
    is_closed: bool,
}

/// What stays: surfaces, triangles and textures. Kept with what it was made of, so that the next
/// frame of the same scene needs none of it again.
#[derive(Default)]
pub(super) struct Lasting {
    pub words: Words,
    solids: Vec<Arc<Solid>>,
    textures: Vec<Option<Arc<Texture>>>,
    shapes: Vec<Shape>,
    pictures: Vec<u32>,
}

impl Lasting {
    /// Whether it is that of a scene.
    pub fn is_of(&self, scene: &Scene) -> bool {
        let items = scene.items();
        let is_same = |(i, item): (usize, &crate::scene::Item)| {
            let texture = match (&self.textures[i], &item.texture) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (None, None) => true,
                _ => false,
            };
            Arc::ptr_eq(&self.solids[i], &item.solid) && texture
        };
        self.solids.len() == items.len() && items.iter().enumerate().all(is_same)
    }

    pub fn of(scene: &Scene) -> Lasting {
        let mut out = Lasting::default();
        // A buffer of nothing is none.
        out.words.word(0);
        let (mut solids, mut textures) = (BTreeMap::new(), BTreeMap::new());
        for item in scene.items() {
            let key = Arc::as_ptr(&item.solid) as usize;
            let shape = match solids.get(&key) {
                Some(known) => *known,
                None => shape(&mut out.words, &item.solid),
            };
            solids.insert(key, shape);
            out.shapes.push(shape);
            let picture = item.texture.as_ref().map_or(NONE, |texture| {
                *textures
                    .entry(Arc::as_ptr(texture) as usize)
                    .or_insert_with(|| picture(&mut out.words, texture))
            });
            out.pictures.push(picture);
            out.solids.push(Arc::clone(&item.solid));
            out.textures.push(item.texture.clone());
        }
        out
    }
}

fn shape(words: &mut Words, solid: &Solid) -> Shape {
    let surfaces = words.len();
    for one in &solid.surfaces {
        let start = words.0.len();
        surface(words, one);
        words.fill(start, SURFACE);
    }
    let (nodes, triangles) = match &solid.mesh {
        Some(mesh) => mesh_words(words, mesh),
        None => (NONE, NONE),
    };
    let is_closed = solid.mesh.as_ref().is_some_and(|mesh| mesh.is_closed());
    let n_surfaces = solid.surfaces.len() as u32;
    Shape { surfaces, n_surfaces, nodes, triangles, is_closed }
}

fn surface(words: &mut Words, surface: &Surface) {
    match *surface {
        Surface::Face { corners, normal, two_sided } => {
            words.word(FACE);
            words.vector(normal);
            corners.into_iter().for_each(|corner| words.vector(corner));
            words.word(u32::from(two_sided));
        }
        Surface::Endless { normal } => {
            words.word(ENDLESS);
            words.vector(normal);
        }
        Surface::Disc { z, radius, is_up } => {
            words.word(DISC);
            words.number(z);
            words.number(radius);
            words.word(u32::from(is_up));
        }
        Surface::Quadric { q, centre, level, slab } => {
            words.word(QUADRIC);
            words.vector(q);
            words.vector(centre);
            [level, slab.0, slab.1].into_iter().for_each(|x| words.number(x));
        }
    }
}

/// Nodes and triangles; those of a leaf stand one behind the other.
fn mesh_words(words: &mut Words, mesh: &Mesh) -> (u32, u32) {
    let nodes = words.len();
    words.nodes(mesh.tree(), Vec3::ZERO);
    let triangles = words.len();
    for i in mesh.tree().order() {
        let i = *i as usize;
        let corners = mesh.triangles()[i].into_iter();
        corners.for_each(|corner| words.vector(mesh.corners()[corner as usize]));
        words.singles(mesh.normals(i).as_flattened());
        match mesh.texture_places(i) {
            Some(places) => words.singles(places.as_flattened()),
            None => words.0.extend([NONE; 6]),
        }
    }
    (nodes, triangles)
}

fn picture(words: &mut Words, texture: &Texture) -> u32 {
    let at = words.len();
    let levels = texture.levels();
    words.word(levels.len() as u32);
    let mut first = at + 1 + 3 * levels.len() as u32;
    for level in levels {
        words.0.extend([level.width as u32, level.height as u32, first]);
        first += (level.width * level.height) as u32;
    }
    for level in levels {
        let pixel = |[r, g, b]: &[u8; 3]| u32::from_le_bytes([*r, *g, *b, 0]);
        words.0.extend(level.rgb.as_chunks::<3>().0.iter().map(pixel));
    }
    at
}

/// Where in the words of now things are.
#[derive(Default)]
pub(super) struct Parts {
    pub items: u32,
    pub nodes: u32,
    pub n_nodes: u32,
    pub order: u32,
    pub endless: u32,
    pub n_endless: u32,
    pub lamps: u32,
    pub n_lamps: u32,
}

/// What is where now, seen from an eye.
pub(super) fn now(scene: &Scene, lasting: &Lasting, eye: Vec3) -> (Words, Parts) {
    let mut words = Words::default();
    words.word(0);
    let mut parts = Parts { items: words.len(), ..Parts::default() };
    for i in 0..scene.items().len() {
        let start = words.0.len();
        item(&mut words, scene, i, lasting, eye);
        words.fill(start, ITEM);
    }
    let (tree, bounded, endless) = scene.tree();
    (parts.nodes, parts.n_nodes) = (words.len(), tree.nodes().count() as u32);
    words.nodes(tree, eye);
    parts.order = words.len();
    words.0.extend(tree.order().iter().map(|i| bounded[*i as usize]));
    (parts.endless, parts.n_endless) = (words.len(), endless.len() as u32);
    words.0.extend(endless);
    parts.lamps = words.len();
    for placed in scene.lights().iter().filter(|p| p.light.kind != LightKind::Directional) {
        let start = words.0.len();
        lamp(&mut words, scene, placed, eye);
        words.fill(start, LAMP);
        parts.n_lamps += 1;
    }
    (words, parts)
}

fn item(words: &mut Words, scene: &Scene, i: usize, lasting: &Lasting, eye: Vec3) {
    let (item, shape) = (&scene.items()[i], &lasting.shapes[i]);
    let item_from_world = scene.item_from_world(i);
    let is_placed = item_from_world.is_finite();
    let turn = match is_placed {
        true => Mat3::from_quat(item_from_world.rotation).transpose(),
        false => Mat3::IDENTITY,
    };
    // Rows: columns of the other way round.
    [turn.x_axis, turn.y_axis, turn.z_axis].into_iter().for_each(|row| words.vector(row));
    words.vector(if is_placed { item_from_world.point(eye) } else { Vec3::ZERO });
    words.0.extend([shape.n_surfaces, shape.surfaces, shape.nodes, shape.triangles]);
    let look = &item.look;
    words.singles(&look.colour);
    words.singles(&[look.shine]);
    words.singles(&look.glow);
    words.singles(&[look.opacity]);
    let casts = look.casts_shadow && !look.is_mark;
    let flags = [
        (casts, CASTS),
        (look.is_mark, MARK),
        (shape.is_closed, CLOSED),
        (casts && !item.solid.is_sheet(), SUN_CASTS),
        (is_placed, PLACED),
    ];
    words.word(flags.iter().filter(|(is, _)| *is).map(|(_, flag)| flag).sum());
    words.0.extend([lasting.pictures[i], item.link_idx as u32]);
}

fn lamp(words: &mut Words, scene: &Scene, placed: &PlacedLight, eye: Vec3) {
    let light = &placed.light;
    let carried = placed.link_idx.map(|i| scene.world_from_link()[i]);
    let pose = carried.map_or(light.scope_from_light, |c| c * light.scope_from_light);
    words.vector(pose.translation - eye);
    (0..3).for_each(|i| words.number(light.diffuse[i] * light.intensity));
    light.attenuation.into_iter().for_each(|x| words.number(x));
    let cone = light.spot.filter(|_| light.kind == LightKind::Spot);
    words.word(u32::from(cone.is_some()));
    let along = pose.vector(light.direction);
    let length = headland_base::maths::sqrt(along.dot(along)).max(1e-12);
    words.vector(along / length);
    let [inner, outer, _] = cone.unwrap_or_default();
    let half = |angle: f64| headland_base::maths::cos(angle * 0.5);
    [half(inner.min(outer)), half(outer)].into_iter().for_each(|x| words.number(x));
    words.word(u32::from(light.cast_shadows));
    words.word(placed.link_idx.map_or(NONE, |i| i as u32));
}
