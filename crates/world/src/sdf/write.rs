//! A World as SDF 1.11, exact: reading it gives an equal World.
//!
//! Rotations are written as quaternions and numbers in the shortest form that reads back
//! to the same bits. What SDF has no word for goes into our own namespace.

mod native;

use std::fmt::Write as _;

use headland_base::maths::TAU;
use headland_base::{SimDuration, Transform, Vec3};

use super::inline::{is_inline, lines};
use crate::xml::HEADLAND_NAMESPACE;
use crate::{
    Actuator, ActuatorKind, Axis, Collision, Frame, Geometry, InertiaOrigin, Inertial, Joint,
    JointKind, Light, LightKind, Link, Material, Model, OdeSettings, Opaque, Region, Surface,
    Twist, Visual, World,
};

/// The World as SDF.
pub fn write(world: &World) -> String {
    let mut out = Out { text: String::new(), depth: 0 };
    out.text.push_str("<?xml version=\"1.0\"?>\n");
    out.open("sdf", &[("version", "1.11"), ("xmlns:headland", HEADLAND_NAMESPACE)]);
    out.open("world", &[("name", &world.name)]);
    out.leaf("gravity", &vec3(world.gravity));
    let engine = world.physics.engine.as_deref().unwrap_or("ignored");
    out.open("physics", &[("name", "default"), ("type", engine)]);
    out.leaf("max_step_size", &seconds(world.physics.step));
    out.number("real_time_factor", world.physics.real_time_factor);
    if let Some(most) = world.physics.max_contacts {
        out.leaf("max_contacts", &most.to_string());
    }
    out.ode_settings(&world.physics.ode);
    out.native_settings(&world.physics.native);
    out.close("physics");
    for model in &world.models {
        out.model(model);
    }
    out.joints(&world.joints);
    out.frames(&world.frames, "world");
    for light in &world.lights {
        out.light(light);
    }
    for region in &world.regions {
        out.region(region);
    }
    out.contact_sets(&world.contact_sets);
    out.opaque(&world.opaque);
    out.close("world");
    out.close("sdf");
    out.text
}

struct Out {
    text: String,
    depth: usize,
}

impl Out {
    fn ode_settings(&mut self, ode: &OdeSettings) {
        if *ode == OdeSettings::default() {
            return;
        }
        self.open("ode", &[]);
        self.open("solver", &[]);
        if let Some(solver) = ode.solver {
            self.leaf("type", solver.word());
        }
        if let Some(n) = ode.n_iterations {
            self.leaf("iters", &n.to_string());
        }
        ode.over_relaxation.into_iter().for_each(|value| self.number("sor", value));
        self.close("solver");
        self.open("constraints", &[]);
        for (name, value) in [
            ("cfm", ode.cfm),
            ("erp", ode.erp),
            ("contact_max_correcting_vel", ode.max_correction_speed),
            ("contact_surface_layer", ode.surface_layer),
        ] {
            value.into_iter().for_each(|value| self.number(name, value));
        }
        self.close("constraints");
        self.close("ode");
    }

    fn indent(&mut self) {
        self.text.extend(std::iter::repeat_n("  ", self.depth));
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.indent();
        _ = write!(self.text, "<{name}");
        for (key, value) in attributes {
            _ = write!(self.text, " {key}=\"{}\"", escaped(value));
        }
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.start(name, attributes);
        self.text.push_str(">\n");
        self.depth += 1;
    }

    fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.indent();
        _ = writeln!(self.text, "</{name}>");
    }

    fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.start(name, attributes);
        self.text.push_str("/>\n");
    }

    fn leaf_with(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.start(name, attributes);
        _ = writeln!(self.text, ">{}</{name}>", escaped(text));
    }

    fn leaf(&mut self, name: &str, text: &str) {
        self.leaf_with(name, &[], text);
    }

    fn number(&mut self, name: &str, x: f64) {
        self.leaf(name, &number(x));
    }

    fn maybe(&mut self, name: &str, x: Option<f64>) {
        if let Some(x) = x {
            self.number(name, x);
        }
    }

    fn flag(&mut self, name: &str, value: bool, default: bool) {
        if value != default {
            self.leaf(name, if value { "true" } else { "false" });
        }
    }

    /// A pose, left out where it says nothing.
    fn pose(&mut self, transform: &Transform, relative_to: Option<&str>) {
        if *transform == Transform::IDENTITY && relative_to.is_none() {
            return;
        }
        self.whole_pose(transform, relative_to);
    }

    fn whole_pose(&mut self, transform: &Transform, relative_to: Option<&str>) {
        let (t, q) = (transform.translation, transform.rotation);
        let text = numbers(&[t.x, t.y, t.z, q.x, q.y, q.z, q.w]);
        let mut attributes = vec![("rotation_format", "quat_xyzw")];
        attributes.extend(relative_to.map(|frame| ("relative_to", frame)));
        self.leaf_with("pose", &attributes, &text);
    }

    fn model(&mut self, model: &Model) {
        let mut attributes = vec![("name", model.name.as_str())];
        attributes.extend(model.canonical_link.as_deref().map(|link| ("canonical_link", link)));
        self.open("model", &attributes);
        self.pose(&model.parent_from_model, None);
        self.flag("static", model.is_static, false);
        self.flag("self_collide", model.self_collide, false);
        if let Some(detail) = model.detail {
            self.leaf("headland:detail", detail.word());
        }
        for link in &model.links {
            self.link(link);
        }
        self.joints(&model.joints);
        self.frames(&model.frames, "__model__");
        for inner in &model.models {
            self.model(inner);
        }
        for actuator in &model.actuators {
            self.actuator(actuator);
        }
        let excludes = model.contact_excludes.iter().map(|pair| ("headland:contact_exclude", pair));
        let pairs = model.contact_pairs.iter().map(|pair| ("headland:contact_pair", pair));
        for (tag, (first, second)) in excludes.chain(pairs) {
            self.empty(tag, &[("first", first), ("second", second)]);
        }
        self.native_model(model);
        self.opaque(&model.opaque);
        self.close("model");
    }

    fn link(&mut self, link: &Link) {
        self.open("link", &[("name", &link.name)]);
        self.pose(&link.model_from_link, None);
        self.inertial(&link.inertial);
        self.flag("gravity", link.gravity, true);
        self.flag("kinematic", link.kinematic, false);
        if link.velocity_decay != (0.0, 0.0) {
            self.open("velocity_decay", &[]);
            self.number("linear", link.velocity_decay.0);
            self.number("angular", link.velocity_decay.1);
            self.close("velocity_decay");
        }
        if link.initial_twist != Twist::default() {
            let (v, w) = (link.initial_twist.linear, link.initial_twist.angular);
            self.leaf("headland:twist", &numbers(&[v.x, v.y, v.z, w.x, w.y, w.z]));
        }
        for collision in &link.collisions {
            self.collision(collision);
        }
        for visual in &link.visuals {
            self.visual(visual);
        }
        for light in &link.lights {
            self.light(light);
        }
        self.opaque(&link.opaque);
        self.close("link");
    }

    fn inertial(&mut self, inertial: &Inertial) {
        if *inertial == Inertial::default() {
            return;
        }
        let density;
        let attributes: &[(&str, &str)] = match inertial.origin {
            InertiaOrigin::Given => &[],
            InertiaOrigin::Default => &[("headland:default", "true")],
            InertiaOrigin::Derived { density: value } => {
                density = number(value);
                &[("headland:derived", &density)]
            }
        };
        self.open("inertial", attributes);
        self.number("mass", inertial.mass);
        self.pose(&inertial.link_from_inertial, None);
        let i = &inertial.inertia;
        self.open("inertia", &[]);
        self.number("ixx", i.x_axis.x);
        self.number("ixy", i.x_axis.y);
        self.number("ixz", i.x_axis.z);
        self.number("iyy", i.y_axis.y);
        self.number("iyz", i.y_axis.z);
        self.number("izz", i.z_axis.z);
        self.close("inertia");
        self.close("inertial");
    }

    fn collision(&mut self, collision: &Collision) {
        self.open("collision", &[("name", &collision.name)]);
        self.pose(&collision.link_from_shape, None);
        self.geometry(&collision.geometry);
        self.maybe("laser_retro", collision.surface.laser_retro);
        self.surface(&collision.surface);
        self.close("collision");
    }

    fn visual(&mut self, visual: &Visual) {
        self.open("visual", &[("name", &visual.name)]);
        self.pose(&visual.link_from_shape, None);
        self.geometry(&visual.geometry);
        self.material(&visual.material);
        if visual.transparency != 0.0 {
            self.number("transparency", visual.transparency);
        }
        self.flag("cast_shadows", visual.cast_shadows, true);
        self.maybe("laser_retro", visual.material.laser_retro);
        self.close("visual");
    }

    fn geometry(&mut self, geometry: &Geometry) {
        let kind = geometry.kind();
        self.open("geometry", &[]);
        match geometry {
            Geometry::Box { size } => self.shape(kind, &[("size", vec3(*size))]),
            Geometry::Sphere { radius } => self.shape(kind, &[("radius", number(*radius))]),
            Geometry::Cylinder { radius, length }
            | Geometry::Capsule { radius, length }
            | Geometry::Cone { radius, length } => {
                self.shape(kind, &[("radius", number(*radius)), ("length", number(*length))]);
            }
            Geometry::Ellipsoid { radii } => self.shape(kind, &[("radii", vec3(*radii))]),
            Geometry::Plane { normal, size } => {
                let size = numbers(&[size.x, size.y]);
                self.shape(kind, &[("normal", vec3(*normal)), ("size", size)]);
            }
            Geometry::Mesh { uri, scale, submesh, convex, mesh } => {
                let hull = [("optimization", "convex_hull")];
                self.open(kind, if *convex { &hull } else { &[] });
                self.leaf("uri", uri);
                if *scale != Vec3::ONE {
                    self.leaf("scale", &vec3(*scale));
                }
                if let Some((name, center)) = submesh {
                    self.open("submesh", &[]);
                    self.leaf("name", name);
                    self.flag("center", *center, false);
                    self.close("submesh");
                }
                if is_inline(uri) {
                    let points = mesh.vertices().iter().map(|v| v.to_array().map(number).to_vec());
                    self.leaf("headland:vertices", &lines(points));
                    let corners = mesh.triangles().iter().map(|corners| corners.to_vec());
                    self.leaf("headland:triangles", &lines(corners));
                }
                self.close(kind);
            }
            Geometry::Heightmap { uri, size, position, heights } => {
                self.open(kind, &[]);
                self.leaf("uri", uri);
                self.leaf("size", &vec3(*size));
                self.leaf("pos", &vec3(*position));
                if is_inline(uri) {
                    let (columns, rows) = (heights.n_columns(), heights.n_rows());
                    let row = |y| (0..columns).map(|x| number(heights.height(x, y))).collect();
                    let counts = [("columns", columns.to_string()), ("rows", rows.to_string())];
                    let counts = counts.each_ref().map(|(name, n)| (*name, n.as_str()));
                    self.leaf_with("headland:heights", &counts, &lines((0..rows).map(row)));
                }
                self.close(kind);
            }
            Geometry::Polyline { outlines, height } => {
                for outline in outlines {
                    self.open(kind, &[]);
                    for point in outline {
                        self.leaf("point", &numbers(&[point.x, point.y]));
                    }
                    self.number("height", *height);
                    self.close(kind);
                }
            }
            Geometry::Empty => self.empty(kind, &[]),
        }
        self.close("geometry");
    }

    fn shape(&mut self, kind: &str, values: &[(&str, String)]) {
        self.open(kind, &[]);
        for (name, value) in values {
            self.leaf(name, value);
        }
        self.close(kind);
    }

    fn surface(&mut self, surface: &Surface) {
        if *surface == Surface::default() {
            return;
        }
        self.open("surface", &[]);
        if let Some(word) = &surface.surface_type {
            self.leaf("headland:surface_type", word);
        }
        self.open("friction", &[]);
        self.open("ode", &[]);
        self.maybe("mu", surface.mu);
        self.maybe("mu2", surface.mu2);
        if let Some(direction) = surface.friction_direction {
            self.leaf("fdir1", &vec3(direction));
        }
        self.maybe("slip1", surface.slip.map(|slip| slip.0));
        self.maybe("slip2", surface.slip.map(|slip| slip.1));
        self.close("ode");
        if surface.rolling.is_some() {
            self.open("bullet", &[]);
            self.maybe("rolling_friction", surface.rolling);
            self.close("bullet");
        }
        if let Some((coefficient, patch_radius)) = surface.torsional {
            self.open("torsional", &[]);
            self.number("coefficient", coefficient);
            self.number("patch_radius", patch_radius);
            self.close("torsional");
        }
        self.close("friction");
        self.open("bounce", &[]);
        self.maybe("restitution_coefficient", surface.restitution);
        self.maybe("threshold", surface.bounce_threshold);
        self.close("bounce");
        self.open("contact", &[]);
        if let Some(mask) = surface.collide_bitmask {
            self.leaf("collide_bitmask", &mask.to_string());
        }
        if let Some(mask) = surface.category_bitmask {
            self.leaf("category_bitmask", &mask.to_string());
        }
        self.open("ode", &[]);
        self.maybe("soft_cfm", surface.soft_cfm);
        self.maybe("soft_erp", surface.soft_erp);
        self.maybe("kp", surface.stiffness);
        self.maybe("kd", surface.damping);
        self.maybe("max_vel", surface.max_correction_speed);
        self.maybe("min_depth", surface.min_depth);
        self.close("ode");
        self.close("contact");
        self.close("surface");
    }

    fn material(&mut self, material: &Material) {
        if *material == Material::default() {
            return;
        }
        self.open("material", &[]);
        let colours = [
            ("ambient", material.ambient),
            ("diffuse", material.diffuse),
            ("specular", material.specular),
            ("emissive", material.emissive),
        ];
        for (name, colour) in colours {
            if let Some(colour) = colour {
                self.leaf(name, &numbers(&colour));
            }
        }
        // A kept `pbr` names the texture itself.
        let is_kept = material.opaque.iter().any(|kept| kept.kind == "pbr");
        if let (Some(texture), false) = (&material.texture, is_kept) {
            self.open("pbr", &[]);
            self.shape("metal", &[("albedo_map", texture.clone())]);
            self.close("pbr");
        }
        self.opaque(&material.opaque);
        self.close("material");
    }

    fn joints(&mut self, joints: &[Joint]) {
        for joint in joints {
            self.joint(joint);
        }
    }

    fn joint(&mut self, joint: &Joint) {
        self.open("joint", &[("name", &joint.name), ("type", joint.kind.word())]);
        self.leaf("parent", joint.parent.as_deref().unwrap_or("world"));
        self.leaf("child", &joint.child);
        self.pose(&joint.child_from_joint, None);
        for (name, axis) in ["axis", "axis2"].into_iter().zip(joint.kind.axes()) {
            self.axis(name, axis);
        }
        if let JointKind::Screw { metres_per_radian, .. } = joint.kind {
            // The division on the way back may miss the last bit, so it is kept beside.
            let exact = number(metres_per_radian);
            let per_turn = number(metres_per_radian * TAU);
            let attributes = [("headland:metres_per_radian", exact.as_str())];
            self.leaf_with("screw_thread_pitch", &attributes, &per_turn);
        }
        self.opaque(&joint.opaque);
        self.close("joint");
    }

    fn axis(&mut self, name: &str, axis: &Axis) {
        self.open(name, &[]);
        self.leaf("xyz", &vec3(axis.direction));
        self.open("limit", &[]);
        self.number("lower", axis.lower);
        self.number("upper", axis.upper);
        self.number("effort", axis.effort_max);
        self.number("velocity", axis.velocity_max);
        self.close("limit");
        self.open("dynamics", &[]);
        self.number("damping", axis.damping);
        self.number("friction", axis.friction);
        self.number("spring_reference", axis.spring_reference);
        self.number("spring_stiffness", axis.spring_stiffness);
        if axis.armature != 0.0 {
            self.number("headland:armature", axis.armature);
        }
        self.close("dynamics");
        if let Some(mimic) = &axis.mimic {
            let leader_axis = if mimic.leader_axis == 0 { "axis" } else { "axis2" };
            self.open("mimic", &[("joint", &mimic.leader), ("axis", leader_axis)]);
            self.number("multiplier", mimic.multiplier);
            self.number("offset", mimic.offset);
            self.number("reference", mimic.reference);
            self.close("mimic");
        }
        if axis.initial_position != 0.0 {
            self.number("headland:initial_position", axis.initial_position);
        }
        self.close(name);
    }

    /// With `attached_to` a frame's pose would be in that frame, so ours says where it is.
    fn frames(&mut self, frames: &[Frame], scope: &str) {
        for frame in frames {
            let mut attributes = vec![("name", frame.name.as_str())];
            attributes.extend(frame.attached_to.as_deref().map(|to| ("attached_to", to)));
            self.open("frame", &attributes);
            self.pose(&frame.scope_from_frame, frame.attached_to.as_ref().map(|_| scope));
            self.close("frame");
        }
    }

    fn light(&mut self, light: &Light) {
        let kind = match light.kind {
            LightKind::Point => "point",
            LightKind::Spot => "spot",
            LightKind::Directional => "directional",
        };
        self.open("light", &[("name", &light.name), ("type", kind)]);
        self.pose(&light.scope_from_light, None);
        self.leaf("diffuse", &numbers(&light.diffuse));
        self.leaf("specular", &numbers(&light.specular));
        self.leaf("direction", &vec3(light.direction));
        self.number("intensity", light.intensity);
        let [range, constant, linear, quadratic] = light.attenuation.map(number);
        self.shape(
            "attenuation",
            &[
                ("range", range),
                ("constant", constant),
                ("linear", linear),
                ("quadratic", quadratic),
            ],
        );
        if let Some([inner, outer, falloff]) = light.spot.map(|spot| spot.map(number)) {
            self.shape(
                "spot",
                &[("inner_angle", inner), ("outer_angle", outer), ("falloff", falloff)],
            );
        }
        self.flag("cast_shadows", light.cast_shadows, false);
        self.close("light");
    }

    fn region(&mut self, region: &Region) {
        self.open("headland:region", &[("name", &region.name)]);
        self.pose(&region.world_from_region, None);
        self.geometry(&region.geometry);
        self.close("headland:region");
    }

    fn actuator(&mut self, actuator: &Actuator) {
        let range = |(low, high): (f64, f64)| numbers(&[low, high]);
        let mut values = vec![("gear", number(actuator.gear))];
        let kind = match actuator.kind {
            ActuatorKind::Motor => "motor",
            ActuatorKind::Position { kp, kv } => {
                values.extend([("kp", number(kp)), ("kv", number(kv))]);
                "position"
            }
            ActuatorKind::Velocity { kv } => {
                values.push(("kv", number(kv)));
                "velocity"
            }
        };
        values.extend(actuator.command_range.map(|r| ("command_range", range(r))));
        values.extend(actuator.effort_range.map(|r| ("effort_range", range(r))));
        if let Some(curve) = actuator.torque_speed {
            values.push(("stall_effort", number(curve.stall_effort)));
            values.push(("no_load_speed", number(curve.no_load_speed)));
        }
        values.extend(actuator.rate.map(|rate| ("rate", number(rate))));
        let mut attributes =
            vec![("name", actuator.name.as_str()), ("joint", &actuator.joint), ("type", kind)];
        attributes.extend(values.iter().map(|(name, value)| (*name, value.as_str())));
        self.empty("headland:actuator", &attributes);
    }

    /// SDF as it was written; other languages as escaped text.
    fn opaque(&mut self, all: &[Opaque]) {
        for kept in all {
            if kept.format == "sdf" {
                self.indent();
                self.text.push_str(&kept.xml);
                self.text.push('\n');
                continue;
            }
            let mut attributes = vec![("format", kept.format), ("kind", kept.kind.as_str())];
            attributes.extend(kept.name.as_deref().map(|name| ("name", name)));
            self.leaf_with("headland:foreign", &attributes, &kept.xml);
        }
    }
}

/// The shortest decimal that reads back to the same bits.
fn number(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

fn numbers(xs: &[f64]) -> String {
    let all: Vec<String> = xs.iter().map(|x| number(*x)).collect();
    all.join(" ")
}

fn vec3(v: Vec3) -> String {
    numbers(&v.to_array())
}

/// Whole nanoseconds as decimal seconds, exactly.
fn seconds(step: SimDuration) -> String {
    let nanos = step.nanos();
    let text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Text that is safe in an element and in an attribute, and comes back unchanged: XML
/// turns bare line ends in attributes into spaces, and `\r\n` into `\n`.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            c => out.push(c),
        }
    }
    out
}
