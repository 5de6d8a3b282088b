//! Colours: a patch, a place on it and the light go in, a colour comes out.
//!
//! One sun with a shadow, soft at its rim; points and spots with shadows that are sharp; the sky
//! from above and the ground from below; highlights where a material has them. Colours are mixed as they are written in files, without a detour
//! over physical intensities, which is what Gazebo and MuJoCo do.

use headland_base::Vec3;
use headland_base::maths::sqrt;
use headland_world::LightKind;

use super::linear::Rays;
use super::project::{Form, Patch};
use super::shadow::ShadowMap;
use crate::scene::texture::spot;
use crate::scene::{Look, Mesh, Ray, Scene, Surface, Texture};

/// The light of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Daylight {
    /// Where the sun's light goes; a unit vector.
    pub direction: Vec3,
    /// The sun's colour.
    pub sun: [f32; 3],
    /// Whether it throws shadows.
    pub shadows: bool,
    /// Light from above, and from below.
    pub ambient: [[f32; 3]; 2],
    /// The sky straight up, at the horizon, and what is below it.
    pub sky: [[f32; 3]; 3],
}

impl Daylight {
    /// From the first directional light of the scene; a sun of our own where it has no light.
    pub fn of(scene: &Scene) -> Daylight {
        let mut out = Daylight {
            direction: Vec3::new(0.45, 0.3, -0.84),
            sun: [0.58; 3],
            shadows: true,
            ambient: [[0.46, 0.47, 0.49], [0.33, 0.32, 0.31]],
            sky: [[0.42, 0.60, 0.84], [0.83, 0.89, 0.95], [0.70, 0.72, 0.73]],
        };
        let directional = |l: &&crate::scene::PlacedLight| l.light.kind == LightKind::Directional;
        if let Some(placed) = scene.lights().iter().find(directional) {
            let light = &placed.light;
            let carried = placed.link_idx.map(|i| scene.world_from_link()[i].rotation);
            let turned = light.scope_from_light.rotation * light.direction;
            out.direction = carried.map_or(turned, |rotation| rotation * turned);
            let strength = 0.64 * light.intensity as f32;
            out.sun = [0, 1, 2].map(|i| light.diffuse[i] as f32 * strength);
            out.shadows = light.cast_shadows;
        } else if !scene.lights().is_empty() {
            // The world has light, and no sun.
            (out.sun, out.shadows) = ([0.0; 3], false);
            out.ambient = out.ambient.map(|c| c.map(|x| 0.5 * x));
        }
        if let Some(background) = scene.background() {
            out.sky = [background; 3];
        }
        let length = sqrt(out.direction.dot(out.direction));
        let has_direction = length > 0.0 && length.is_finite();
        out.direction = if has_direction { out.direction / length } else { -Vec3::Z };
        out
    }
}

/// How to find the normal of a patch.
#[derive(Clone, Copy)]
enum Bend {
    /// The same everywhere, on the side of the eye.
    Flat([f32; 3]),
    /// Of a quadric: a symmetric matrix times the way from its middle.
    Round { matrix: [[f32; 3]; 3], middle: [f32; 3] },
    /// Of a triangle with normals at its corners.
    Smooth,
}

/// Everything that colours are made from in one frame.
pub(crate) struct Shader<'a> {
    scene: &'a Scene,
    patches: &'a [Patch],
    bends: Vec<Bend>,
    light: Daylight,
    /// Towards the sun.
    to_sun: [f32; 3],
    lamps: Vec<Lamp>,
    pub shadows: &'a ShadowMap,
    eye: Vec3,
    /// Direction at pixel (0, 0), and along u and v, in the world.
    rays: [[f32; 3]; 3],
}

fn single(v: Vec3) -> [f32; 3] {
    v.to_array().map(|x| x as f32)
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn unit(v: [f32; 3]) -> [f32; 3] {
    let scale = 1.0 / dot(v, v).max(1e-30).sqrt();
    v.map(|x| x * scale)
}

/// Blinn's highlight to the power of 32.
#[inline(always)]
fn gleam(direction: [f32; 3], to_light: [f32; 3], normal: [f32; 3]) -> f32 {
    let to_eye = unit(direction.map(|d| -d));
    let between = unit(std::array::from_fn(|i| to_eye[i] + to_light[i]));
    let mut gleam = dot(between, normal).max(0.0);
    for _ in 0..5 {
        gleam *= gleam;
    }
    gleam
}

/// A light that is somewhere: a point or a spot. Its shadows are found by rays, so they are exact
/// and cost as much as a beam for every pixel that it lights.
struct Lamp {
    /// Along the world's axes from the eye.
    position: [f32; 3],
    colour: [f32; 3],
    /// Range, and how it fades: constant, linear, quadratic.
    fades: [f32; 4],
    /// Of a spot: where it shines, and the cosines of its inner and outer half angle.
    cone: Option<([f32; 3], f32, f32)>,
    casts_shadows: bool,
    /// The link that carries it, which throws no shadow of it: a bulb is around its light.
    link_idx: Option<usize>,
}

impl Lamp {
    /// How much of it arrives at a place, towards which it is seen that way.
    #[inline(always)]
    fn strength(&self, to_lamp: [f32; 3], distance: f32) -> f32 {
        let [range, constant, linear, quadratic] = self.fades;
        if distance > range {
            return 0.0;
        }
        let faded = constant + (linear + quadratic * distance) * distance;
        let in_cone = self.cone.map_or(1.0, |(along, inner, outer)| {
            let s = ((-dot(along, to_lamp) - outer) / (inner - outer).max(1e-6)).clamp(0.0, 1.0);
            s * s * (3.0 - 2.0 * s)
        });
        in_cone / faded.max(1e-3)
    }

    /// Every point and spot of a scene.
    fn all(scene: &Scene, eye: Vec3) -> Vec<Lamp> {
        let lamp = |placed: &crate::scene::PlacedLight| {
            let light = &placed.light;
            if light.kind == LightKind::Directional {
                return None;
            }
            let carried = placed.link_idx.map(|i| scene.world_from_link()[i]);
            let pose = carried.map_or(light.scope_from_light, |c| c * light.scope_from_light);
            let along = pose.vector(light.direction);
            let cone =
                light.spot.filter(|_| light.kind == LightKind::Spot).map(|[inner, outer, _]| {
                    let half = |angle: f64| headland_base::maths::cos(angle * 0.5) as f32;
                    (unit(single(along)), half(inner.min(outer)), half(outer))
                });
            Some(Lamp {
                position: single(pose.translation - eye),
                colour: [0, 1, 2].map(|i| (light.diffuse[i] * light.intensity) as f32),
                fades: light.attenuation.map(|x| x as f32),
                cone,
                casts_shadows: light.cast_shadows,
                link_idx: placed.link_idx,
            })
        };
        scene.lights().iter().filter_map(lamp).collect()
    }
}

impl<'a> Shader<'a> {
    pub fn new(
        scene: &'a Scene,
        patches: &'a [Patch],
        light: Daylight,
        shadows: &'a ShadowMap,
        rays: &Rays,
    ) -> Shader<'a> {
        let eye = rays.origin[0];
        let bends = patches.iter().map(|patch| bend(scene, patch, eye)).collect();
        Shader {
            scene,
            patches,
            bends,
            light,
            to_sun: single(-light.direction),
            lamps: Lamp::all(scene, eye),
            shadows,
            eye,
            rays: rays.direction.map(single),
        }
    }

    /// Direction of a pixel in the world.
    #[inline(always)]
    fn direction(&self, (u, v): (f32, f32)) -> [f32; 3] {
        let [d, du, dv] = &self.rays;
        std::array::from_fn(|i| d[i] + du[i] * u + dv[i] * v)
    }

    /// What is seen where there is nothing.
    #[inline(always)]
    pub fn sky(&self, place: (f32, f32)) -> [f32; 3] {
        let d = self.direction(place);
        let height = d[2] / dot(d, d).sqrt();
        let [top, horizon, ground] = &self.light.sky;
        // Fast near the horizon, slow above, as haze is; below, only at the rim.
        let (other, s) = match height >= 0.0 {
            true => (top, height * (2.0 - height)),
            false => (ground, (-8.0 * height).min(1.0)),
        };
        std::array::from_fn(|i| horizon[i] + (other[i] - horizon[i]) * s)
    }

    pub fn look(&self, patch: u32) -> &Look {
        &self.scene.items()[self.patches[patch as usize].item as usize].look
    }

    #[inline(always)]
    fn texture(&self, patch: u32) -> Option<&Texture> {
        self.scene.items()[self.patches[patch as usize].item as usize].texture.as_deref()
    }

    /// The colour of a patch that has a picture on it; a pixel shows more of what is further away
    /// and of what is seen at a slant, of which the mean of both ways is taken.
    fn textured(
        &self,
        patch: u32,
        look: &Look,
        point: [f32; 3],
        normal: [f32; 3],
        (direction, pixel): ([f32; 3], f32),
    ) -> [f32; 3] {
        let Some(texture) = self.texture(patch) else { return look.colour };
        let about = &self.patches[patch as usize];
        let item_idx = about.item as usize;
        let point = Vec3::from_array(point.map(f64::from)) + self.eye;
        let p = self.scene.item_from_world(item_idx).point(point);
        let spot = spot(&self.scene.items()[item_idx].solid, about.part as usize, p);
        let slant = (-dot(normal, unit(direction))).max(0.02);
        let metres_a_pixel = pixel * dot(self.rays[1], self.rays[1]).sqrt();
        let seen = texture.colour(spot.at, spot.per_metre * metres_a_pixel / slant.sqrt());
        std::array::from_fn(|i| look.colour[i] * seen[i])
    }

    /// What the lamps add at a place: their light by its colour, and highlights.
    fn lamps_at(
        &self,
        look: &Look,
        colour: [f32; 3],
        point: [f32; 3],
        normal: [f32; 3],
        direction: [f32; 3],
    ) -> [f32; 3] {
        let mut out = [0.0; 3];
        for lamp in &self.lamps {
            let to: [f32; 3] = std::array::from_fn(|i| lamp.position[i] - point[i]);
            let distance = dot(to, to).sqrt();
            let to = to.map(|x| x / distance.max(1e-6));
            let facing = dot(normal, to);
            let strength = lamp.strength(to, distance);
            if facing <= 0.0 || strength <= 0.0 || self.is_shaded(lamp, point, normal) {
                continue;
            }
            let gleam = match look.shine > 0.0 {
                true => look.shine * gleam(direction, to, normal),
                false => 0.0,
            };
            (0..3).for_each(|i| {
                out[i] += lamp.colour[i] * strength * (colour[i] * facing + gleam);
            });
        }
        out
    }

    /// Whether something is between a place and a lamp.
    fn is_shaded(&self, lamp: &Lamp, point: [f32; 3], normal: [f32; 3]) -> bool {
        if !lamp.casts_shadows {
            return false;
        }
        // Lifted by what rounding may have moved it, so that it does not shade itself.
        let lift = 1e-4 + 1e-5 * dot(point, point).sqrt();
        let from: [f32; 3] = std::array::from_fn(|i| point[i] + normal[i] * lift);
        let to: [f32; 3] = std::array::from_fn(|i| lamp.position[i] - from[i]);
        let ray = Ray {
            origin: Vec3::from_array(from.map(f64::from)) + self.eye,
            direction: Vec3::from_array(to.map(f64::from)),
            min: 0.0,
            max: 1.0,
        };
        self.scene.is_blocked(&ray, |i| {
            let item = &self.scene.items()[i];
            let is_own = lamp.link_idx == Some(item.link_idx);
            item.look.casts_shadow && !item.look.is_mark && !is_own
        })
    }

    /// Colours in and out of the shadow, of a patch that has no others; `None` for one that
    /// changes from place to place.
    #[inline]
    pub fn plain(&self, patch: u32) -> Option<([f32; 3], [[f32; 3]; 2])> {
        let Bend::Flat(normal) = self.bends[patch as usize] else { return None };
        let look = self.look(patch);
        if look.shine > 0.0 || !self.lamps.is_empty() || self.texture(patch).is_some() {
            return None;
        }
        Some((normal, [0.0, 1.0].map(|sun| self.lit(look, normal, sun))))
    }

    /// Whether the sun reaches a surface that faces this way at all.
    #[inline(always)]
    pub fn faces_sun(&self, normal: [f32; 3]) -> bool {
        dot(normal, self.to_sun) > 0.0
    }

    /// The part of the sun that a place of a patch sees.
    #[inline(always)]
    pub fn sun_at(&self, normal: [f32; 3], place: (f32, f32), w: f32) -> f32 {
        self.shadows.light_at(self.point(place, w), normal)
    }

    /// The point at a pixel, along the world's axes from the eye.
    #[inline(always)]
    pub fn point(&self, place: (f32, f32), w: f32) -> [f32; 3] {
        let t = 1.0 / w;
        self.direction(place).map(|d| d * t)
    }

    #[inline(always)]
    fn lit(&self, look: &Look, normal: [f32; 3], sun: f32) -> [f32; 3] {
        self.lit_colour(look, look.colour, normal, sun)
    }

    #[inline(always)]
    fn lit_colour(&self, look: &Look, colour: [f32; 3], normal: [f32; 3], sun: f32) -> [f32; 3] {
        let [above, below] = &self.light.ambient;
        let up = 0.5 + 0.5 * normal[2];
        let direct = dot(normal, self.to_sun).max(0.0) * sun;
        std::array::from_fn(|i| {
            let light = below[i] + (above[i] - below[i]) * up + self.light.sun[i] * direct;
            colour[i] * light + look.glow[i]
        })
    }

    /// The colour of a patch at a place, for a pixel that shows so many of the pinhole's along its
    /// side.
    pub fn colour(&self, patch: u32, place: (f32, f32), w: f32, footprint: f32) -> [f32; 3] {
        let direction = self.direction(place);
        let t = 1.0 / w;
        let point = direction.map(|d| d * t);
        let normal = match &self.bends[patch as usize] {
            Bend::Flat(normal) => *normal,
            Bend::Round { matrix, middle } => {
                let p: [f32; 3] = std::array::from_fn(|i| point[i] - middle[i]);
                unit(matrix.map(|row| dot(row, p)))
            }
            Bend::Smooth => self.smooth(patch, point, direction),
        };
        let look = self.look(patch);
        let facing = dot(normal, self.to_sun);
        let sun = if facing > 0.0 { self.shadows.light_at(point, normal) } else { 0.0 };
        let colour = self.textured(patch, look, point, normal, (direction, t * footprint));
        let mut out = self.lit_colour(look, colour, normal, sun);
        if look.shine > 0.0 && sun > 0.0 {
            let gleam = gleam(direction, self.to_sun, normal) * sun * look.shine;
            (0..3).for_each(|i| out[i] += gleam * self.light.sun[i]);
        }
        if !self.lamps.is_empty() {
            let more = self.lamps_at(look, colour, point, normal, direction);
            (0..3).for_each(|i| out[i] += more[i]);
        }
        out
    }

    /// The normal inside of a triangle: that of its corners, each by the triangle on the other
    /// side.
    fn smooth(&self, patch: u32, point: [f32; 3], direction: [f32; 3]) -> [f32; 3] {
        let patch = &self.patches[patch as usize];
        let (item_idx, triangle) = (patch.item as usize, patch.part as usize);
        let mesh: &Mesh = self.scene.items()[item_idx].solid.mesh.as_ref().expect("a triangle's");
        let point = Vec3::from_array(point.map(f64::from)) + self.eye;
        let p = self.scene.item_from_world(item_idx).point(point);
        let [a, b, c] = mesh.triangles()[triangle].map(|i| mesh.corners()[i as usize]);
        let face = (b - a).cross(c - a);
        let share = |x: Vec3, y: Vec3| ((x - p).cross(y - p).dot(face).max(0.0)) as f32;
        let shares = [share(b, c), share(c, a), share(a, b)];
        let corners = mesh.normals(triangle);
        let sum: [f32; 3] = std::array::from_fn(|i| {
            shares[0] * corners[0][i] + shares[1] * corners[1][i] + shares[2] * corners[2][i]
        });
        let inside = Vec3::from_array(unit(sum).map(f64::from));
        let normal = single(self.scene.world_from_item(item_idx).vector(inside));
        // An open surface is seen from both sides.
        let is_behind = !mesh.is_closed() && {
            let face = single(self.scene.world_from_item(item_idx).vector(face));
            dot(face, direction) > 0.0
        };
        if is_behind { normal.map(|x| -x) } else { normal }
    }
}

fn bend(scene: &Scene, patch: &Patch, eye: Vec3) -> Bend {
    let item_idx = patch.item as usize;
    let item = &scene.items()[item_idx];
    let world_from_item = scene.world_from_item(item_idx);
    let Some(surface) = item.solid.surfaces.get(patch.part as usize) else { return Bend::Smooth };
    let flat = |normal: Vec3, on_it: Vec3| {
        let normal = world_from_item.vector(normal);
        let to_eye = eye - world_from_item.point(on_it);
        Bend::Flat(single(if normal.dot(to_eye) < 0.0 { -normal } else { normal }))
    };
    debug_assert!(!matches!(patch.form, Form::Round { .. }) || item.solid.mesh.is_none());
    match surface {
        Surface::Face { normal, corners, .. } => flat(*normal, corners[0]),
        Surface::Endless { normal } => flat(*normal, Vec3::ZERO),
        Surface::Disc { z, is_up, .. } => {
            flat(if *is_up { Vec3::Z } else { -Vec3::Z }, Vec3::new(0.0, 0.0, *z))
        }
        Surface::Quadric { q, centre, .. } => {
            let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| world_from_item.vector(axis));
            let row = |i: usize| {
                let sum = axes[0] * (q.x * axes[0][i]) + axes[1] * (q.y * axes[1][i]);
                single(sum + axes[2] * (q.z * axes[2][i]))
            };
            let middle = single(world_from_item.point(*centre) - eye);
            Bend::Round { matrix: [row(0), row(1), row(2)], middle }
        }
    }
}
