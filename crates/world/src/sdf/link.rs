//! `link`: mass, shapes, looks and lights of one rigid body.

use std::sync::Arc;

use headland_base::{Diagnostic, Mat3, Place, Vec3};
use roxmltree::Node;

use super::auto::Derive;
use super::frames::{Named, Pose};
use super::inline;
use super::reader::{Reader, UNNAMED};
use super::siblings::Siblings;
use crate::files;
use crate::xml::{self, HEADLAND_NAMESPACE};
use crate::{
    Collision, Geometry, InertiaOrigin, Inertial, Light, LightKind, Link, Material, TextureFile,
    Twist, Visual,
};

/// The largest picture of a texture \[bytes\].
const MOST_TEXTURE_BYTES: u64 = 64 << 20;

/// A link whose own place, and that of some of its parts, is still to be worked out.
pub(super) struct LinkDraft {
    pub link: Link,
    pub pose: Pose,
    /// Parts whose pose names a frame of the model.
    pub parts: Vec<(Part, Pose)>,
    /// The inertia, where it comes from the shapes.
    pub derive: Option<Derive>,
    /// Where it was written.
    pub place: Place,
}

/// How a link's inertia will be known.
enum Mass {
    Known(Inertial),
    FromShapes(Derive),
}

/// Which part of a link.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Collision(usize),
    Visual(usize),
    Light(usize),
}

impl Reader<'_, '_> {
    /// A `link`; `whole` is its whole name.
    pub fn link(&mut self, node: Node<'_, '_>, name: String, whole: &str) -> LinkDraft {
        let place = self.xml.place(node);
        self.shared.places.insert(format_args!("link {whole}"), place.clone());
        let mut parts = Vec::new();
        let is_unnamed = name.starts_with(UNNAMED);
        let mut link = Link {
            name,
            gravity: self.flag(node, "gravity", true),
            kinematic: self.flag(node, "kinematic", false),
            initial_twist: self.twist(node),
            velocity_decay: self.velocity_decay(node),
            ..Link::default()
        };
        let (mut collisions_seen, mut visuals_seen) = (Siblings::default(), Siblings::default());
        let mut lights_seen = Siblings::default();
        let (mut densities, mut is_shape_lost) = (Vec::new(), false);
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                _ if xml::is_named(child, "headland:foreign") => {
                    link.opaque.extend(self.foreign(child));
                }
                _ if child.tag_name().namespace() == Some(HEADLAND_NAMESPACE) => {}
                "collision" => {
                    let Some(name) = self.unique_name(child, &mut collisions_seen) else {
                        continue;
                    };
                    let density = self.number_in(child, "density");
                    let (collision, pose, is_whole) = self.collision(child, name, whole);
                    is_shape_lost |= !is_whole;
                    densities.push(density);
                    defer(&mut parts, Part::Collision(link.collisions.len()), pose);
                    link.collisions.push(collision);
                }
                "visual" => {
                    let Some(name) = self.unique_name(child, &mut visuals_seen) else { continue };
                    let Some((visual, pose)) = self.visual(child, name) else { continue };
                    defer(&mut parts, Part::Visual(link.visuals.len()), pose);
                    link.visuals.push(visual);
                }
                "light" => {
                    let Some(name) = self.unique_name(child, &mut lights_seen) else { continue };
                    let Some((light, pose)) = self.light(child, name) else { continue };
                    defer(&mut parts, Part::Light(link.lights.len()), pose);
                    link.lights.push(light);
                }
                "sensor" => {
                    self.sensor_place(child, "link", whole, link.opaque.len());
                    link.opaque.push(self.keep(child));
                }
                "plugin" => {
                    self.plugin_place(child, "link", whole, link.opaque.len());
                    link.opaque.push(self.keep(child));
                }
                "projector" | "audio_sink" | "audio_source" | "battery" | "particle_emitter" => {
                    link.opaque.push(self.keep(child));
                }
                _ => {}
            }
        }
        let derive = match self.inertial(node, whole, densities) {
            // Who has no name cannot be named as one without inertia.
            Mass::Known(inertial) => {
                let is_derived = self.shared.options.derive_inertia.is_some();
                let is_missed = inertial.origin == InertiaOrigin::Default
                    && (is_unnamed || is_shape_lost && is_derived);
                link.inertial = if is_missed { Inertial::stand_in() } else { inertial };
                None
            }
            Mass::FromShapes(_) if is_shape_lost => {
                // What is left of the shapes would prove nothing, also not that there are none.
                link.inertial = Inertial::stand_in();
                None
            }
            Mass::FromShapes(derive) => Some(derive),
        };
        if self.flag(node, "self_collide", false)
            && let Some(child) = xml::child(node, "self_collide")
        {
            self.not_interpreted(child); // the model's own is
        }
        LinkDraft { link, pose: self.pose(node), parts, derive, place }
    }

    fn twist(&mut self, node: Node<'_, '_>) -> Twist {
        let numbers = self.one(node, "headland:twist").and_then(|child| self.xml.array(child));
        let [vx, vy, vz, wx, wy, wz] = numbers.unwrap_or_default();
        Twist { linear: Vec3::new(vx, vy, vz), angular: Vec3::new(wx, wy, wz) }
    }

    fn velocity_decay(&mut self, node: Node<'_, '_>) -> (f64, f64) {
        let Some(decay) = self.one(node, "velocity_decay") else { return (0.0, 0.0) };
        let linear = self.number_in(decay, "linear").unwrap_or(0.0);
        (linear, self.number_in(decay, "angular").unwrap_or(0.0))
    }

    /// `inertial`, as given, or computed from the shapes where it says `auto`.
    fn inertial(&mut self, link: Node<'_, '_>, whole: &str, densities: Vec<Option<f64>>) -> Mass {
        let Some(node) = self.one(link, "inertial") else { return self.asked_inertial(densities) };
        let place = self.xml.place(node);
        self.shared.places.insert(format_args!("link {whole}#inertial"), place);
        let auto = match self.attribute(node, "auto") {
            Some(named) => self.xml.boolean_in(&named.name, named.place).unwrap_or(false),
            None => false,
        };
        let mass = self.one(node, "mass").and_then(|child| {
            self.shared
                .places
                .insert(format_args!("link {whole}#mass"), self.xml.text_place(child));
            self.xml.number(child)
        });
        if let Some(added) = xml::child(node, "fluid_added_mass") {
            self.not_interpreted(added);
        }
        if auto {
            // At each shape's own density, the link's, or water's.
            let density_of_link = self.number_in(node, "density").unwrap_or(1000.0);
            let place = Some(self.xml.place(node));
            return Mass::FromShapes(Derive { densities, density_of_link, mass, place });
        }
        let inertia = self.one(node, "inertia").map(|child| {
            self.shared.places.insert(format_args!("link {whole}#inertia"), self.xml.place(child));
            self.inertia(child)
        });
        if let (Some(mass), None) = (mass, inertia) {
            let place = self.xml.place(node);
            self.xml.findings.push(
                Diagnostic::warning(
                    "default-inertia",
                    format!("a mass of {mass} kg but no `inertia`; SDF then takes 1 kg·m²"),
                )
                .at(place)
                .help("give an `inertia`, or `auto=\"true\"` to compute it from the shapes"),
            );
        }
        let pose = self.pose(node);
        if let Some(named) = pose.relative_to {
            self.xml.findings.push(
                Diagnostic::error("bad-frame", "an inertial pose is always in its link's frame")
                    .at(named.place)
                    .help("remove the attribute and write the pose in the link's frame"),
            );
        }
        Mass::Known(Inertial {
            mass: mass.unwrap_or(1.0),
            link_from_inertial: pose.transform,
            inertia: inertia.unwrap_or(Mat3::IDENTITY),
            origin: self.origin(node),
        })
    }

    /// Where the caller asks for inertias from shapes and a shape says its own density. The
    /// others are derived once the whole world is known.
    fn asked_inertial(&self, densities: Vec<Option<f64>>) -> Mass {
        match self.shared.options.derive_inertia {
            Some(density_of_link) if densities.iter().any(Option::is_some) => {
                Mass::FromShapes(Derive { densities, density_of_link, mass: None, place: None })
            }
            _ => Mass::Known(Inertial::default()),
        }
    }

    /// How the inertia was known before the world was written by us.
    fn origin(&mut self, node: Node<'_, '_>) -> InertiaOrigin {
        if node.attribute((HEADLAND_NAMESPACE, "default")) == Some("true") {
            return InertiaOrigin::Default;
        }
        let Some(text) = node.attribute((HEADLAND_NAMESPACE, "derived")) else {
            return InertiaOrigin::Given;
        };
        let place = self.xml.attribute_place(node, "derived");
        match self.xml.numbers(text, &place, false).as_deref() {
            Some([density]) => InertiaOrigin::Derived { density: *density },
            _ => InertiaOrigin::Given,
        }
    }

    fn inertia(&mut self, node: Node<'_, '_>) -> Mat3 {
        let mut is_guess = false;
        let mut get = |name, default| {
            let number = self.number_in(node, name);
            is_guess |= number.is_none() && xml::child(node, name).is_some();
            number.unwrap_or(default)
        };
        let (xx, yy, zz) = (get("ixx", 1.0), get("iyy", 1.0), get("izz", 1.0));
        let (xy, xz, yz) = (get("ixy", 0.0), get("ixz", 0.0), get("iyz", 0.0));
        if is_guess {
            return Mat3::IDENTITY; // the numbers that are left prove nothing
        }
        Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
    }

    /// A `collision`, and whether it has its shape. One whose shape is wrong, which is
    /// reported, has none, so that its surface gets its look.
    fn collision(
        &mut self,
        node: Node<'_, '_>,
        name: String,
        link: &str,
    ) -> (Collision, Pose, bool) {
        let place = self.xml.place(node);
        self.shared.places.insert(format_args!("collision {link}::{name}"), place);
        let (pose, mut surface) = (self.pose(node), self.surface(node));
        surface.laser_retro = self.number_in(node, "laser_retro");
        let geometry = self.geometry(node);
        let is_whole = geometry.is_some();
        let geometry = geometry.unwrap_or(Geometry::Empty);
        let link_from_shape = pose.transform;
        (Collision { name, link_from_shape, geometry, surface }, pose, is_whole)
    }

    fn visual(&mut self, node: Node<'_, '_>, name: String) -> Option<(Visual, Pose)> {
        let pose = self.pose(node);
        if let Some(plugin) = xml::child(node, "plugin") {
            self.not_interpreted(plugin);
        }
        let mut material = self.material(node);
        material.laser_retro = self.number_in(node, "laser_retro");
        let visual = Visual {
            name,
            link_from_shape: pose.transform,
            material,
            transparency: self.number_in(node, "transparency").unwrap_or(0.0),
            cast_shadows: self.flag(node, "cast_shadows", true),
            geometry: self.geometry(node)?,
        };
        Some((visual, pose))
    }

    fn material(&mut self, visual: Node<'_, '_>) -> Material {
        let Some(node) = self.one(visual, "material") else { return Material::default() };
        let mut material = Material {
            ambient: self.colour_in(node, "ambient"),
            diffuse: self.colour_in(node, "diffuse"),
            specular: self.colour_in(node, "specular"),
            emissive: self.colour_in(node, "emissive"),
            ..Material::default()
        };
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                _ if xml::is_named(child, "headland:foreign") => {
                    material.opaque.extend(self.foreign(child));
                }
                "pbr" => self.pbr(child, &mut material),
                "script" | "shader" | "lighting" | "shininess" | "render_order"
                | "double_sided" => material.opaque.push(self.keep(child)),
                _ => {}
            }
        }
        material
    }

    /// The texture is taken out; what else a physically based material says is kept.
    fn pbr(&mut self, node: Node<'_, '_>, material: &mut Material) {
        let metal = xml::child(node, "metal");
        let map = metal.and_then(|metal| xml::child(metal, "albedo_map"));
        material.texture = map
            .map(|map| xml::text_of(map).trim().to_string())
            .filter(|texture| !texture.is_empty());
        if let Some(uri) = map.filter(|_| material.texture.is_some()).and_then(|m| self.text(m)) {
            self.texture(&uri, material);
        }
        let elements = node.descendants().filter(Node::is_element).count();
        if material.texture.is_none() || elements > 3 {
            material.opaque.push(self.keep(node));
        }
    }

    /// The file of a texture. Without it the surface has its plain colours, which is said.
    fn texture(&mut self, uri: &Named, material: &mut Material) {
        if let Some(inside) = inline::picture_inside(&uri.name) {
            match inside {
                Ok(bytes) => {
                    let path = format!("{:.40}…", uri.name);
                    material.texture_file = Some(Arc::new(TextureFile { path, bytes }));
                }
                Err(why) => {
                    let message = "this texture is no picture; the surface has its plain colour";
                    let warning = Diagnostic::warning("missing-texture", message).note(why);
                    self.xml.findings.push(warning.at(uri.place.clone()));
                }
            }
            return;
        }
        let found = self.shared.options.resources.resolve(&uri.name, &self.dir);
        let read = found.and_then(|path| {
            let unread = |why: files::Unread| match why {
                files::Unread::Irregular(diagnostic) => diagnostic,
                files::Unread::Failed(error) => {
                    Diagnostic::error("missing-file", format!("{}: {error}", path.display()))
                }
                files::Unread::TooLarge(n_bytes) => Diagnostic::error(
                    "missing-file",
                    format!("{}: {n_bytes} bytes are too many", path.display()),
                ),
            };
            let bytes = files::bytes_of(&path, MOST_TEXTURE_BYTES).map_err(unread)?;
            Ok((path, bytes))
        });
        match read {
            Ok((path, bytes)) => {
                material.texture = Some(self.uri_from_root(uri.name.clone(), &path));
                let path = path.display().to_string();
                material.texture_file = Some(Arc::new(TextureFile { path, bytes }));
            }
            Err(why) => {
                let message =
                    format!("no texture `{}`; the surface has its plain colour", uri.name);
                let warning = Diagnostic::warning("missing-texture", message).note(why.message);
                self.xml.findings.push(warning.help_maybe(why.help).at(uri.place.clone()));
            }
        }
    }

    /// A `light` of the world or of a link.
    pub fn light(&mut self, node: Node<'_, '_>, name: String) -> Option<(Light, Pose)> {
        let kind = self.light_kind(node); // where there is none, the rest is still looked at
        let pose = self.pose(node);
        let direction = self.one(node, "direction").and_then(|child| self.xml.vec3(child));
        let attenuation = match self.one(node, "attenuation") {
            Some(fade) => [
                self.number_in(fade, "range").unwrap_or(10.0),
                self.number_in(fade, "constant").unwrap_or(1.0),
                self.number_in(fade, "linear").unwrap_or(1.0),
                self.number_in(fade, "quadratic").unwrap_or(0.0),
            ],
            None => [10.0, 1.0, 1.0, 0.0],
        };
        let spot = self.one(node, "spot").map(|spot| {
            ["inner_angle", "outer_angle", "falloff"]
                .map(|name| self.number_in(spot, name).unwrap_or(0.0))
        });
        let light = Light {
            name,
            kind: kind.unwrap_or(LightKind::Point),
            scope_from_light: pose.transform,
            diffuse: self.colour_in(node, "diffuse").unwrap_or([1.0; 4]),
            specular: self.colour_in(node, "specular").unwrap_or([0.1, 0.1, 0.1, 1.0]),
            direction: direction.unwrap_or(Vec3::NEG_Z),
            intensity: self.number_in(node, "intensity").unwrap_or(1.0),
            attenuation,
            cast_shadows: self.flag(node, "cast_shadows", false),
            spot,
        };
        kind.map(|_| (light, pose))
    }

    fn light_kind(&mut self, node: Node<'_, '_>) -> Option<LightKind> {
        let kind = self.required_attribute(node, "type")?;
        match kind.name.as_str() {
            "point" => Some(LightKind::Point),
            "spot" => Some(LightKind::Spot),
            "directional" => Some(LightKind::Directional),
            other => {
                let message = format!("no kind of light `{other}`");
                self.xml.findings.push(
                    Diagnostic::error("unknown-word", message)
                        .at(kind.place)
                        .help("known here: `point`, `spot`, `directional`"),
                );
                None
            }
        }
    }
}

/// Remembers a part whose pose names a frame; the others are in the link's frame already.
fn defer(parts: &mut Vec<(Part, Pose)>, part: Part, pose: Pose) {
    if pose.relative_to.is_some() {
        parts.push((part, pose));
    }
}
