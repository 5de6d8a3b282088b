//! The scene: what there is to see, compiled once; and where it is, moved every frame.
//!
//! ```text
//! World ─ Scene::of ─► items (surfaces, colours, names) ─┐
//!                                                        ├─ cast(ray) ─► hit
//! poses of the links, every frame ─ Scene::place ────────┘
//! ```
//!
//! Renderers draw it, lidars and beams send rays through it, logical cameras ask it what is
//! where. Poses are those of the World's links in the order of [`World::links`]; see
//! [`crate::poses`] for where they come from.
//!
//! Deliberately absent: cameras, light, noise.

pub mod bvh;
mod look;
pub mod mesh;
mod named;
mod reflection;
mod shared;
pub mod solid;
pub mod texture;

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::{Transform, Vec3};
use headland_world::geometry::corners_in;
use headland_world::{Geometry, Light, World};

use crate::overlay::Mark;

use look::{Textures, background};

pub use bvh::{Bounds, Bvh, Ray};
pub use look::{Look, bad_looks};
pub use mesh::Mesh;
pub use reflection::Reflection;
pub use shared::SharedScene;
pub use solid::{Planes, Solid, Surface};
pub use texture::Texture;

/// Which shapes of a World are in a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// What is seen: visuals, as a camera wants them.
    Visuals,
    /// What touches: collisions, as a bumper or a person who debugs wants them.
    Collisions,
    /// Visuals, and the collisions of links that have none, so that nothing is missed.
    Everything,
    /// All visuals and all collisions, for rays that meet whatever is nearer.
    Both,
}

/// One shape of a link.
#[derive(Clone, Debug)]
pub struct Item {
    /// The whole name: `robot::wrist::cover`.
    pub name: String,
    /// The link that carries it.
    pub link_idx: usize,
    /// The outermost model that it belongs to, as an index into [`Scene::models`].
    pub model_idx: usize,
    /// Where it is in its link.
    pub link_from_item: Transform,
    /// What it is made of.
    pub solid: Arc<Solid>,
    /// What it looks like.
    pub look: Look,
    /// What a laser gets back of it.
    pub reflection: Reflection,
    /// A picture on it, by which its colour is multiplied.
    pub texture: Option<Arc<Texture>>,
}

/// What a ray meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// How far along the ray, in lengths of its direction.
    pub distance: f64,
    /// Unit normal of the surface on the side of the ray, in the world.
    pub normal: Vec3,
    /// Which item of the scene.
    pub item_idx: usize,
}

/// A light that travels with a link, or stands in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedLight {
    /// The light.
    pub light: Light,
    /// The link that carries it; `None` for the world.
    pub link_idx: Option<usize>,
}

/// What there is to see, and where it is now.
#[derive(Clone, Debug)]
pub struct Scene {
    items: Vec<Item>,
    links: Vec<String>,
    models: Vec<String>,
    static_links: Vec<bool>,
    lights: Vec<PlacedLight>,
    background: Option<[f32; 3]>,
    world_from_link: Vec<Transform>,
    world_from_item: Vec<Transform>,
    item_from_world: Vec<Transform>,
    /// One per item; empty for what is nowhere.
    boxes: Vec<Bounds>,
    /// Items that have an end, for the tree; and those that have none.
    bounded: Vec<u32>,
    endless: Vec<u32>,
    bounded_boxes: Vec<Bounds>,
    tree: Bvh,
    /// Items are where the links say.
    is_placed: bool,
    /// How often something was moved.
    n_moves: u64,
}

impl Scene {
    /// Compiles a World and places it where it is before time starts.
    pub fn of(world: &World, show: Show) -> Scene {
        let links = world.links();
        let mut shared: BTreeMap<(usize, Planes), Arc<Solid>> = BTreeMap::new();
        let mut solid = |geometry: &Geometry, planes: Planes| {
            // A mesh that several robots share is compiled once.
            let key = match geometry {
                Geometry::Mesh { mesh, .. } => Arc::as_ptr(mesh) as usize,
                _ => return Solid::of(geometry, planes).map(Arc::new),
            };
            if let Some(solid) = shared.get(&(key, planes)) {
                return Some(Arc::clone(solid));
            }
            let made = Arc::new(Solid::of(geometry, planes)?);
            shared.insert((key, planes), Arc::clone(&made));
            Some(made)
        };
        let mut textures = Textures::default();
        let mut models: Vec<String> = Vec::new();
        let mut items = Vec::new();
        let mut lights: Vec<PlacedLight> = Vec::new();
        for (link_idx, placed) in links.iter().enumerate() {
            let model_idx = models.iter().position(|model| model == placed.robot);
            let model_idx = model_idx.unwrap_or_else(|| {
                models.push(placed.robot.to_string());
                models.len() - 1
            });
            let link = placed.link;
            let unsaid = if placed.is_static { Look::PLAIN } else { Look::told_apart(model_idx) };
            let mut add = |name: &str, link_from_item, solid, look: Look, reflection, texture| {
                let Some(solid) = solid else { return };
                let name = format!("{}::{name}", placed.name);
                items.push(Item {
                    name,
                    link_idx,
                    model_idx,
                    link_from_item,
                    solid,
                    look,
                    reflection,
                    texture,
                });
            };
            if show != Show::Collisions {
                for visual in &link.visuals {
                    let texture = textures.of(&visual.material);
                    // The picture is the colour, where the file gives no other beside it.
                    let unsaid = match &texture {
                        Some(_) => Look { colour: [1.0; 3], ..unsaid },
                        None => unsaid,
                    };
                    let look = Look::of_material(
                        &visual.material,
                        unsaid,
                        visual.transparency,
                        visual.cast_shadows,
                    );
                    let solid = solid(&visual.geometry, Planes::Drawn);
                    let reflection = Reflection::of_visual(visual);
                    add(&visual.name, visual.link_from_shape, solid, look, reflection, texture);
                }
            }
            let is_bare = link.visuals.is_empty();
            let touches = matches!(show, Show::Collisions | Show::Both);
            if touches || (show == Show::Everything && is_bare) {
                let planes = if touches { Planes::Endless } else { Planes::Drawn };
                for collision in &link.collisions {
                    let solid = solid(&collision.geometry, planes);
                    let reflection = Reflection::of_collision(collision, link);
                    let at = collision.link_from_shape;
                    add(&collision.name, at, solid, unsaid, reflection, None);
                }
            }
            let carried = link.lights.iter().cloned();
            lights.extend(carried.map(|light| PlacedLight { light, link_idx: Some(link_idx) }));
        }
        let standing = world.lights.iter().cloned();
        lights.extend(standing.map(|light| PlacedLight { light, link_idx: None }));
        let poses: Vec<Transform> = links.iter().map(|link| link.world_from_link).collect();
        let static_links = links.iter().map(|link| link.is_static).collect();
        let links = links.into_iter().map(|link| link.name).collect();
        let mut scene = Scene::new(items, links, models, static_links, lights, &poses);
        scene.background = background(world).0;
        scene
    }

    fn new(
        items: Vec<Item>,
        links: Vec<String>,
        models: Vec<String>,
        static_links: Vec<bool>,
        lights: Vec<PlacedLight>,
        poses: &[Transform],
    ) -> Scene {
        let is_endless = |item: &Item| item.solid.bounds.is_none();
        let (endless, bounded): (Vec<u32>, Vec<u32>) =
            (0..items.len() as u32).partition(|i| is_endless(&items[*i as usize]));
        let mut scene = Scene {
            world_from_item: vec![Transform::IDENTITY; items.len()],
            item_from_world: vec![Transform::IDENTITY; items.len()],
            boxes: vec![Bounds::EMPTY; items.len()],
            bounded_boxes: vec![Bounds::EMPTY; bounded.len()],
            world_from_link: poses.to_vec(),
            tree: Bvh::default(),
            is_placed: false,
            n_moves: 0,
            items,
            links,
            models,
            static_links,
            lights,
            background: None,
            bounded,
            endless,
        };
        scene.move_items(poses);
        scene.tree = Bvh::build(&scene.bounded_boxes);
        scene
    }

    /// The same scene as it stands now with marks laid over it, for one picture: they stand in
    /// the world and belong to one more link and model, `marks`.
    pub fn with_marks(&self, marks: impl IntoIterator<Item = Mark>) -> Scene {
        let (link_idx, model_idx) = (self.links.len(), self.models.len());
        let marks = marks.into_iter().enumerate().map(|(i, mark)| Item {
            name: format!("marks::{i}"),
            link_idx,
            model_idx,
            link_from_item: mark.world_from_mark,
            solid: mark.solid,
            look: mark.look,
            reflection: Reflection::PLAIN,
            texture: None,
        });
        let items = self.items.iter().cloned().chain(marks).collect();
        let one_more = |names: &[String]| [names, &["marks".to_string()]].concat();
        let mut scene = Scene::new(
            items,
            one_more(&self.links),
            one_more(&self.models),
            [&self.static_links[..], &[true]].concat(),
            self.lights.clone(),
            &[&self.world_from_link[..], &[Transform::IDENTITY]].concat(),
        );
        scene.background = self.background;
        scene
    }

    /// Moves everything: one pose per link, in the order of [`World::links`]. A link whose pose
    /// is not finite is not there.
    pub fn place(&mut self, world_from_link: &[Transform]) {
        assert_eq!(world_from_link.len(), self.links.len(), "one pose per link");
        if self.move_items(world_from_link) {
            self.n_moves += 1;
            self.tree.refit(&self.bounded_boxes);
        }
        self.world_from_link.copy_from_slice(world_from_link);
    }

    /// How often something was moved since it was compiled.
    pub(crate) fn n_moves(&self) -> u64 {
        self.n_moves
    }

    /// Moves the items of links that are no longer where they were; whether there are any.
    fn move_items(&mut self, world_from_link: &[Transform]) -> bool {
        let mut is_any_moved = false;
        for (i, item) in self.items.iter().enumerate() {
            let link = item.link_idx;
            if self.is_placed && world_from_link[link] == self.world_from_link[link] {
                continue;
            }
            is_any_moved = true;
            let pose = world_from_link[item.link_idx] * item.link_from_item;
            self.world_from_item[i] = pose;
            self.item_from_world[i] = pose.inverse();
            self.boxes[i] = match (item.solid.bounds, pose.is_finite()) {
                (Some(bounds), true) => Bounds::of(corners_in(pose, (bounds.low, bounds.high))),
                _ => Bounds::EMPTY,
            };
        }
        for (slot, i) in self.bounded_boxes.iter_mut().zip(&self.bounded) {
            *slot = self.boxes[*i as usize];
        }
        self.is_placed = true;
        is_any_moved
    }

    /// Everything there is to see.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whole names of the links.
    pub fn links(&self) -> &[String] {
        &self.links
    }

    /// Names of the outermost models.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// Lights of the world and of its links.
    pub fn lights(&self) -> &[PlacedLight] {
        &self.lights
    }

    /// What the world says is behind everything, instead of a sky.
    pub fn background(&self) -> Option<[f32; 3]> {
        self.background
    }

    /// Whether a link never moves.
    pub fn is_static(&self, link_idx: usize) -> bool {
        self.static_links[link_idx]
    }

    /// Where the links are now.
    pub fn world_from_link(&self) -> &[Transform] {
        &self.world_from_link
    }

    /// Where an item is now.
    pub fn world_from_item(&self, item_idx: usize) -> Transform {
        self.world_from_item[item_idx]
    }

    /// The world in the frame of an item.
    pub fn item_from_world(&self, item_idx: usize) -> Transform {
        self.item_from_world[item_idx]
    }

    /// A box around an item where it is now; empty for what has no end or is nowhere.
    pub fn item_bounds(&self, item_idx: usize) -> Bounds {
        self.boxes[item_idx]
    }

    /// A box around all that has an end.
    pub fn bounds(&self) -> Bounds {
        self.tree.bounds()
    }

    /// Its tree, the items that are in it by their number there, and those without end.
    #[cfg(feature = "wgpu")]
    pub(crate) fn tree(&self) -> (&Bvh, &[u32], &[u32]) {
        (&self.tree, &self.bounded, &self.endless)
    }

    /// What a ray meets first.
    pub fn cast(&self, ray: &Ray) -> Option<Hit> {
        self.cast_where(ray, |_| true)
    }

    /// Whether a ray meets any of the items that are asked for by their index.
    pub fn is_blocked(&self, ray: &Ray, wanted: impl Fn(usize) -> bool) -> bool {
        let meets = |i: usize| {
            let inside = self.item_from_world[i];
            let (origin, direction) = (inside.point(ray.origin), inside.vector(ray.direction));
            wanted(i) && self.items[i].solid.cast(&Ray { origin, direction, ..*ray }).is_some()
        };
        let is_there = |i: &&u32| self.world_from_item[**i as usize].is_finite();
        if self.endless.iter().filter(is_there).any(|i| meets(*i as usize)) {
            return true;
        }
        let mut is_blocked = false;
        self.tree.walk(ray, |i, max| {
            is_blocked = is_blocked || meets(self.bounded[i as usize] as usize);
            // Less than the ray's beginning ends the walk.
            if is_blocked { f64::NEG_INFINITY } else { max }
        });
        is_blocked
    }

    /// What a ray meets first among the items that are asked for by their index.
    pub fn cast_where(&self, ray: &Ray, wanted: impl Fn(usize) -> bool) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        let mut meet = |i: u32, max: f64| {
            let i = i as usize;
            if !wanted(i) {
                return max;
            }
            let inside = self.item_from_world[i];
            let local = Ray {
                origin: inside.point(ray.origin),
                direction: inside.vector(ray.direction),
                min: ray.min,
                max,
            };
            match self.items[i].solid.cast(&local) {
                Some((distance, normal)) if distance < max || best.is_none() => {
                    let normal = self.world_from_item[i].vector(normal);
                    best = Some(Hit { distance, normal, item_idx: i });
                    distance
                }
                _ => max,
            }
        };
        let mut max = ray.max;
        for i in &self.endless {
            if self.world_from_item[*i as usize].is_finite() {
                max = meet(*i, max);
            }
        }
        let rest = Ray { max, ..*ray };
        self.tree.walk(&rest, |i, max| meet(self.bounded[i as usize], max));
        best
    }
}
