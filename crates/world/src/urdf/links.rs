//! Links: their inertia and shapes, and what becomes of those without mass.

use headland_base::{Diagnostic, Mat3, Transform, Vec3};
use roxmltree::Node;

use super::Reader;
use super::tree::Tree;
use crate::geometry::Geometry;
use crate::inertia::{self, InertiaOrigin, Inertial};
use crate::joint::{Joint, JointKind};
use crate::massless::{self, number_repeats};
use crate::world::{Collision, Link, Material, Model, Surface, Visual};
use crate::xml::{self, Xml};

/// An `origin`.
pub fn pose(origin: &urdf_rs::Pose) -> Transform {
    Transform::from_xyz_rpy(Vec3::from_array(*origin.xyz), Vec3::from_array(*origin.rpy))
}

/// No mass at all, as the file gives it.
fn massless() -> Inertial {
    Inertial {
        mass: 0.0,
        link_from_inertial: Transform::IDENTITY,
        inertia: Mat3::ZERO,
        origin: InertiaOrigin::Given,
    }
}

impl Reader<'_> {
    pub(super) fn link(
        &mut self,
        i: usize,
        node: Node<'_, '_>,
        model_from_link: Transform,
    ) -> Link {
        let link = self.robot.links[i].clone();
        let collision_nodes: Vec<_> = xml::children(node, "collision").collect();
        let mut collisions = Vec::new();
        for (k, (shape, node)) in link.collision.iter().zip(collision_nodes).enumerate() {
            if let Some(geometry) = self.geometry(&shape.geometry, node, true) {
                collisions.push(Collision {
                    name: shape_name(shape.name.as_deref(), &link.name, "collision", k),
                    link_from_shape: pose(&shape.origin),
                    geometry,
                    surface: Surface::default(),
                });
            }
        }
        let visual_nodes: Vec<_> = xml::children(node, "visual").collect();
        let mut visuals = Vec::new();
        for (k, (shape, node)) in link.visual.iter().zip(visual_nodes).enumerate() {
            if let Some(geometry) = self.geometry(&shape.geometry, node, false) {
                visuals.push(Visual {
                    name: shape_name(shape.name.as_deref(), &link.name, "visual", k),
                    link_from_shape: pose(&shape.origin),
                    geometry,
                    material: self.material(shape.material.as_ref()),
                    transparency: 0.0,
                    cast_shadows: true,
                });
            }
        }
        number_repeats(collisions.iter_mut().map(|c| &mut c.name));
        number_repeats(visuals.iter_mut().map(|v| &mut v.name));
        let inertial = self.inertial(&link, node, &collisions);
        Link {
            name: link.name,
            model_from_link,
            inertial,
            collisions,
            visuals,
            gravity: true,
            ..Link::default()
        }
    }

    fn inertial(
        &mut self,
        link: &urdf_rs::Link,
        node: Node<'_, '_>,
        collisions: &[Collision],
    ) -> Inertial {
        if xml::child(node, "inertial").is_some() {
            let i = &link.inertial.inertia;
            return Inertial {
                mass: link.inertial.mass.value,
                link_from_inertial: pose(&link.inertial.origin),
                inertia: Mat3::from_cols(
                    Vec3::new(i.ixx, i.ixy, i.ixz),
                    Vec3::new(i.ixy, i.iyy, i.iyz),
                    Vec3::new(i.ixz, i.iyz, i.izz),
                ),
                origin: InertiaOrigin::Given,
            };
        }
        match self.options.derive_inertia {
            Some(density) if !collisions.is_empty() => inertia::derive(collisions, density)
                .unwrap_or_else(|diagnostic| {
                    let place = self.xml.place(node);
                    self.xml.findings.push(diagnostic.at(place));
                    massless()
                }),
            _ => massless(),
        }
    }

    /// A shape. A mesh that cannot be read is an error where it touches and a warning
    /// where it is only seen, because motion does not depend on it.
    fn geometry(
        &mut self,
        shape: &urdf_rs::Geometry,
        owner: Node<'_, '_>,
        touches: bool,
    ) -> Option<Geometry> {
        Some(match shape {
            urdf_rs::Geometry::Box { size } => Geometry::Box { size: Vec3::from_array(**size) },
            urdf_rs::Geometry::Cylinder { radius, length } => {
                Geometry::Cylinder { radius: *radius, length: *length }
            }
            urdf_rs::Geometry::Capsule { radius, length } => {
                Geometry::Capsule { radius: *radius, length: *length }
            }
            urdf_rs::Geometry::Sphere { radius } => Geometry::Sphere { radius: *radius },
            urdf_rs::Geometry::Mesh { filename, scale } => {
                let scale = scale.map_or(Vec3::ONE, |s| Vec3::from_array(*s));
                let found = self.options.resources.resolve(filename, self.base_dir);
                let loaded = found.and_then(|path| {
                    let (mesh, warning) = self.meshes.load(&path, None, scale)?;
                    Ok((self.options.resources.uri_anywhere(filename, &path), mesh, warning))
                });
                let node = xml::child(owner, "geometry").and_then(|g| xml::child(g, "mesh"));
                let place = self.xml.attribute_place(node.unwrap_or(owner), "filename");
                match loaded {
                    Ok((uri, mesh, warning)) => {
                        self.xml.findings.extend(warning.map(|warning| warning.at(place)));
                        Geometry::Mesh { uri, scale, submesh: None, mesh, convex: false }
                    }
                    Err(mut diagnostic) => {
                        if !touches {
                            diagnostic.severity = headland_base::Severity::Warning;
                        }
                        self.xml.findings.push(diagnostic.at(place));
                        return None;
                    }
                }
            }
        })
    }

    fn material(&self, named: Option<&urdf_rs::Material>) -> Material {
        let Some(named) = named else { return Material::default() };
        let shared = self.materials.get(named.name.as_str());
        let colour = named.color.as_ref().or(shared.and_then(|m| m.color.as_ref()));
        let texture = named.texture.as_ref().or(shared.and_then(|m| m.texture.as_ref()));
        let rgba = colour.map(|c| *c.rgba);
        Material {
            ambient: rgba,
            diffuse: rgba,
            texture: texture.map(|t| t.filename.clone()),
            ..Material::default()
        }
    }
}

fn shape_name(given: Option<&str>, link: &str, kind: &str, k: usize) -> String {
    match given.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => name.to_string(),
        None if k == 0 => format!("{link}_{kind}"),
        None => format!("{link}_{kind}_{k}"),
    }
}

/// Turns links without mass that are fixed to another into frames of it, and the root
/// link `world` into the world. What moves without mass stays, for the check to say so.
pub fn merge_massless(xml: &mut Xml<'_>, root: Node<'_, '_>, model: &mut Model, tree: &Tree) {
    let root_name = model.links[tree.root].name.clone();
    let root_is_world = root_name == "world" && model.links[tree.root].inertial.mass == 0.0;
    if root_is_world {
        if model.links[tree.root].collisions.is_empty() && model.links[tree.root].visuals.is_empty()
        {
            become_world(model, &root_name);
        } else {
            fix_to_world(model, &root_name);
        }
    }
    let merged = massless::merge(model);
    massless::separate_names(model);
    if !merged.is_empty() {
        let place = xml.place(root);
        let shown: Vec<String> = merged.iter().take(6).map(|name| format!("`{name}`")).collect();
        let more = if merged.len() > 6 {
            format!(" and {} more", merged.len() - 6)
        } else {
            String::new()
        };
        let message = match merged.len() {
            1 => "1 link without mass became a frame of the one it is fixed to".to_string(),
            n => format!("{n} links without mass became frames of those they are fixed to"),
        };
        xml.findings.push(
            Diagnostic::remark("massless-links", message)
                .note(format!("{}{more}", shown.join(", ")))
                .at(place),
        );
    }
}

fn become_world(model: &mut Model, world: &str) {
    model.links.retain(|link| link.name != world);
    for joint in &mut model.joints {
        if joint.parent.as_deref() == Some(world) {
            joint.parent = None;
        }
    }
}

/// A `world` with shapes of its own is a body that never moves. The name is the World's.
fn fix_to_world(model: &mut Model, world: &str) {
    let mut name = "world_link".to_string();
    while model.links.iter().any(|link| link.name == name) {
        name.push('_');
    }
    for joint in &mut model.joints {
        if joint.parent.as_deref() == Some(world) {
            joint.parent = Some(name.clone());
        }
    }
    if let Some(link) = model.links.iter_mut().find(|link| link.name == world) {
        link.name.clone_from(&name);
        link.inertial = Inertial::default();
    }
    model.joints.push(Joint {
        name: format!("{name}_fixed"),
        parent: None,
        child: name,
        child_from_joint: Transform::IDENTITY,
        kind: JointKind::Fixed,
        opaque: Vec::new(),
    });
}
