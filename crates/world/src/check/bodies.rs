//! Names, masses, inertias and surfaces.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::Diagnostic;

use super::{Checker, INERTIA_SLACK};
use crate::inertia::principal_moments;
use crate::{
    Collision, Geometry, InertiaOrigin, JointKind, Link, PlacedJoint, PlacedLink, World, join_scope,
};

impl Checker<'_> {
    /// Names that mean something else, or two things.
    pub(super) fn names(&mut self, world: &World) {
        if has_plain_names(world) {
            return;
        }
        let mut parts: Vec<(&str, String, String)> = Vec::new(); // kind, name, whole name
        let mut add = |kind, scope: &str, name: &str| {
            parts.push((kind, name.to_string(), join_scope(scope, name)));
        };
        for model in &world.models {
            add("model", "", &model.name);
        }
        for joint in &world.joints {
            add("joint", "", &joint.name);
        }
        world.visit_models(&mut |at| {
            at.model.links.iter().for_each(|link| add("link", at.scope, &link.name));
            at.model.joints.iter().for_each(|joint| add("joint", at.scope, &joint.name));
            at.model.models.iter().for_each(|inner| add("model", at.scope, &inner.name));
            for link in &at.model.links {
                let scope = join_scope(at.scope, &link.name);
                let shapes = link.collisions.iter();
                shapes.for_each(|shape| add("collision", &scope, &shape.name));
            }
        });
        let mut seen = BTreeSet::new();
        for (kind, name, whole) in &parts {
            let part = || format!("{kind} {whole}"); // only a fault needs it
            if name.is_empty() {
                self.error("missing-name", format!("a {kind} has an empty name"), &part());
            } else if is_reserved(name) {
                let message = format!("the name `{name}` is reserved, a {kind} cannot have it");
                self.error("reserved-name", message, &part());
            } else if is_scoped(name) {
                let diagnostic = Diagnostic::warning(
                    "scoped-name",
                    format!("the name `{name}` looks like a {kind} inside another"),
                );
                self.push(diagnostic.help("`::` separates a model from what is in it"), &part());
            }
            if !seen.insert((*kind, whole.as_str())) {
                self.error("duplicate-name", format!("two {kind}s are named `{whole}`"), &part());
            }
        }
    }

    pub(super) fn bodies(
        &mut self,
        world: &World,
        links: &[PlacedLink<'_>],
        joints: &[PlacedJoint<'_>],
    ) {
        let welded = welded_links(joints);
        for placed in links {
            self.pose(placed);
            if !placed.is_static && placed.link.inertial.origin != InertiaOrigin::Default {
                self.inertial(placed, welded.contains(&placed.name));
            }
            for collision in &placed.link.collisions {
                self.collision(placed, collision);
            }
        }
        self.default_inertias(links);
        self.untouchable(world, links, joints);
        if !world.gravity.is_finite() {
            self.error("not-finite", "gravity is not finite".to_string(), "world");
        }
    }

    fn pose(&mut self, placed: &PlacedLink<'_>) {
        let finite = placed.world_from_link.is_finite()
            && placed.link.inertial.link_from_inertial.is_finite()
            && placed.link.initial_twist.linear.is_finite()
            && placed.link.initial_twist.angular.is_finite();
        if !finite {
            let message = format!("the pose or velocity of `{}` is not finite", placed.name);
            self.error("not-finite", message, &format!("link {}", placed.name));
        }
        let (linear, angular) = placed.link.velocity_decay;
        if linear < 0.0 || angular < 0.0 {
            let message = format!("`{}` has a negative velocity decay", placed.name);
            self.error("negative-value", message, &format!("link {}", placed.name));
        }
    }

    fn inertial(&mut self, placed: &PlacedLink<'_>, is_welded: bool) {
        let (name, inertial) = (&placed.name, &placed.link.inertial);
        let mass = inertial.mass;
        if mass == 0.0 && is_welded {
            let message = format!("`{name}` has no mass; it is carried by a fixed joint");
            self.push(Diagnostic::remark("massless-link", message), &format!("link {name}#mass"));
            return;
        }
        if !(mass > 0.0 && mass.is_finite()) {
            let diagnostic = Diagnostic::error(
                "bad-mass",
                format!("the mass of `{name}` must be more than zero, it is {mass}"),
            );
            let help = "give it an inertial, or one from its shapes with --derive-inertia DENSITY; \
                        what never moves belongs into a static model, or needs a fixed joint";
            self.push(diagnostic.help(help), &format!("link {name}#mass"));
            if inertial.inertia == headland_base::Mat3::ZERO {
                return; // the same gap, not a second one
            }
        }
        let part = || format!("link {name}#inertia");
        let matrix = &inertial.inertia;
        if !matrix.is_finite() {
            return self.error(
                "bad-inertia",
                format!("the inertia of `{name}` is not finite"),
                &part(),
            );
        }
        if *matrix != matrix.transpose() {
            let message = format!("the inertia of `{name}` is not symmetric");
            return self.error("bad-inertia", message, &part());
        }
        let mut moments = principal_moments(matrix);
        moments.sort_by(f64::total_cmp);
        let [a, b, c] = moments;
        let shown = || format!("principal moments: {a:.6e}, {b:.6e}, {c:.6e} kg·m²");
        if a <= 0.0 {
            let message = format!("the inertia of `{name}` is not positive definite");
            let help = "each principal moment of a body with mass is more than zero";
            self.push(Diagnostic::error("bad-inertia", message).note(shown()).help(help), &part());
        } else if a + b < c - INERTIA_SLACK * (a + b + c) {
            let message = format!("no body has the inertia of `{name}`");
            let rule = "the two smaller principal moments must sum up to at least the largest";
            let diagnostic = Diagnostic::error("bad-inertia", message).note(shown()).note(rule);
            self.push(diagnostic.help("check the units and the order of the numbers"), &part());
        }
    }

    fn collision(&mut self, placed: &PlacedLink<'_>, collision: &Collision) {
        let part = || format!("collision {}::{}", placed.name, collision.name);
        let surface = &collision.surface;
        if let Some(restitution) = surface.restitution.filter(|r| !(0.0..=1.0).contains(r)) {
            let message = format!("a restitution of {restitution} is not between 0 and 1");
            self.error("bad-surface", message, &part());
        }
        let not_negative = [
            ("mu", surface.mu),
            ("mu2", surface.mu2),
            ("slip", surface.slip.map(|slip| slip.0.min(slip.1))),
            ("torsional friction", surface.torsional.map(|(mu, radius)| mu.min(radius))),
            ("rolling friction", surface.rolling),
            ("bounce threshold", surface.bounce_threshold),
            ("contact stiffness", surface.stiffness),
            ("contact damping", surface.damping),
            ("correction speed", surface.max_correction_speed),
            ("minimum depth", surface.min_depth),
        ];
        for (what, value) in not_negative {
            if let Some(value) = value.filter(|value| value.is_nan() || *value < 0.0) {
                self.error("bad-surface", format!("{what} cannot be {value}"), &part());
            }
        }
        let wrong = sizes(&collision.geometry).into_iter().flatten().find(|size| !is_size(*size));
        if let Some(size) = wrong {
            let message = format!("a {} with a size of {size}", collision.geometry.kind());
            self.error("bad-size", message, &part());
        }
    }

    /// One warning per model: a robot with forty links says it once.
    fn default_inertias(&mut self, links: &[PlacedLink<'_>]) {
        let mut by_robot: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for placed in links {
            let is_moved = !placed.is_static && !placed.link.kinematic;
            if is_moved && placed.link.inertial.origin == InertiaOrigin::Default {
                by_robot.entry(placed.robot).or_default().push(&placed.name);
            }
        }
        for (robot, names) in by_robot {
            let (first, more) = (names[0], names.len() - 1);
            let who = match more {
                0 => format!("`{first}` has"),
                1 => format!("`{first}` and 1 other link of `{robot}` have"),
                _ => format!("`{first}` and {more} other links of `{robot}` have"),
            };
            let diagnostic = Diagnostic::warning(
                "default-inertia",
                format!("{who} no inertia; 1 kg and 1 kg·m² are assumed"),
            );
            let help = "give an inertial, or derive it from the shapes: --derive-inertia DENSITY";
            self.push(diagnostic.help(help), &format!("link {first}"));
        }
    }

    /// Things that move freely and touch nothing.
    fn untouchable(&mut self, world: &World, links: &[PlacedLink<'_>], joints: &[PlacedJoint<'_>]) {
        if !world.joints.is_empty() {
            return;
        }
        // The links and joints of one model stand behind each other, models in file order.
        let (mut links, mut joints) = (links.iter().peekable(), joints.iter().peekable());
        for model in &world.models {
            let name = model.name.as_str();
            let (mut is_movable, mut is_touching, mut is_held) = (false, false, false);
            while let Some(placed) = links.next_if(|placed| std::ptr::eq(placed.robot, name)) {
                is_movable |= !placed.is_static && !placed.link.kinematic;
                is_touching |= !placed.link.collisions.is_empty();
            }
            while let Some(placed) = joints.next_if(|placed| std::ptr::eq(placed.robot, name)) {
                is_held |= placed.joint.parent.is_none();
            }
            if is_movable && !is_touching && !is_held {
                let message = format!("`{name}` moves freely and has no collision shape");
                let diagnostic = Diagnostic::remark("no-collisions", message);
                self.push(diagnostic.note("it falls through everything"), &format!("model {name}"));
            }
        }
    }
}

/// A name SDF keeps for itself.
pub(crate) fn is_reserved(name: &str) -> bool {
    name == "world" || (name.len() >= 4 && name.starts_with("__") && name.ends_with("__"))
}

/// A name that reads as one thing inside another.
fn is_scoped(name: &str) -> bool {
    name.contains("::") || name.starts_with(':') || name.ends_with(':')
}

/// Whether every name is a plain word that no sibling of its kind has. Then whole names
/// differ too, and [`Checker::names`] would find nothing to say of any.
fn has_plain_names(world: &World) -> bool {
    let mut is_so = is_plain_list(world.models.iter().map(|model| &*model.name))
        && is_plain_list(world.joints.iter().map(|joint| &*joint.name));
    world.visit_models(&mut |at| {
        let (links, model) = (&at.model.links, at.model);
        let shapes_of =
            |link: &Link| is_plain_list(link.collisions.iter().map(|shape| &*shape.name));
        is_so = is_so
            && is_plain_list(links.iter().map(|link| &*link.name))
            && is_plain_list(model.joints.iter().map(|joint| &*joint.name))
            && is_plain_list(model.models.iter().map(|inner| &*inner.name))
            && links.iter().all(shapes_of);
    });
    is_so
}

/// Whether all names are plain, and no two the same.
fn is_plain_list<'n>(mut names: impl ExactSizeIterator<Item = &'n str>) -> bool {
    let is_plain = |name: &str| !name.is_empty() && !is_reserved(name) && !is_scoped(name);
    if names.len() <= 1 {
        return names.all(is_plain);
    }
    let mut sorted: Vec<&str> = names.collect();
    sorted.sort_unstable();
    sorted.iter().all(|name| is_plain(name)) && sorted.windows(2).all(|pair| pair[0] != pair[1])
}

/// Links at either end of a fixed joint.
fn welded_links(joints: &[PlacedJoint<'_>]) -> BTreeSet<String> {
    let fixed = joints.iter().filter(|placed| matches!(placed.joint.kind, JointKind::Fixed));
    fixed
        .flat_map(|placed| {
            let ends = [Some(&placed.joint.child), placed.joint.parent.as_ref()];
            ends.into_iter()
                .flatten()
                .map(|name| join_scope(&placed.scope, name))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The numbers that give a shape its size.
fn sizes(geometry: &Geometry) -> [Option<f64>; 3] {
    match geometry {
        Geometry::Box { size: sizes }
        | Geometry::Heightmap { size: sizes, .. }
        | Geometry::Ellipsoid { radii: sizes } => sizes.to_array().map(Some),
        Geometry::Cylinder { radius, length }
        | Geometry::Capsule { radius, length }
        | Geometry::Cone { radius, length } => [Some(*radius), Some(*length), None],
        Geometry::Sphere { radius: size } | Geometry::Polyline { height: size, .. } => {
            [Some(*size), None, None]
        }
        Geometry::Plane { .. } | Geometry::Mesh { .. } | Geometry::Empty => [None; 3],
    }
}

fn is_size(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}
