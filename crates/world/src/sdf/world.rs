//! The root of a file and the `world` in it: gravity, physics, regions.

use headland_base::{Diagnostic, SimDuration, names};
use roxmltree::Node;

use super::model::{Contents, is_kept_in_world};
use super::native::forget_lost_links;
use super::reader::Reader;
use crate::xml::{self, HEADLAND_NAMESPACE};
use crate::{Geometry, OdeSettings, OdeSolver, Physics, Region, World};

/// The versions read: SDF 1.4 to 1.12.
pub(super) const OLDEST: u32 = 4;
pub(super) const NEWEST: u32 = 12;

impl Reader<'_, '_> {
    /// Which SDF the file is written in. Reports when that is not said, or not known.
    pub fn version_of(&mut self, root: Node<'_, '_>) -> u32 {
        let Some(named) = self.attribute(root, "version") else {
            let place = self.xml.place(root);
            let make = if self.xml.lenient { Diagnostic::warning } else { Diagnostic::error };
            self.xml.findings.push(
                make("missing-version", "the file does not say which version of SDF it is")
                    .at(place)
                    .help(format!("add it: <sdf version=\"1.{NEWEST}\">")),
            );
            return NEWEST;
        };
        let minor = named.name.strip_prefix("1.").and_then(|minor| minor.parse::<u32>().ok());
        match minor {
            Some(minor) if (OLDEST..=NEWEST).contains(&minor) => minor,
            Some(minor) if minor < OLDEST => {
                let message = format!("SDF 1.{minor} is too old");
                self.xml.findings.push(
                    Diagnostic::error("old-version", message)
                        .at(named.place)
                        .note(format!("versions 1.{OLDEST} to 1.{NEWEST} are read"))
                        .help("convert it with `gz sdf -p`"),
                );
                OLDEST
            }
            _ => {
                let make = if self.xml.lenient { Diagnostic::warning } else { Diagnostic::error };
                let shown: String = named.name.chars().take(20).collect();
                let message = format!("SDF `{shown}` is not a version known here");
                self.xml.findings.push(
                    make("new-version", message)
                        .at(named.place)
                        .note(format!("versions 1.{OLDEST} to 1.{NEWEST} are read"))
                        .help(format!("if it uses nothing newer, write version=\"1.{NEWEST}\"")),
                );
                NEWEST
            }
        }
    }

    /// Everything below `<sdf>`.
    pub fn root(&mut self, root: Node<'_, '_>) -> World {
        let worlds: Vec<_> = xml::children(root, "world").collect();
        if let [_, second, ..] = worlds[..] {
            let all: Vec<_> =
                worlds.iter().take(10).filter_map(|world| world.attribute("name")).collect();
            let place = self.xml.place(second);
            self.xml.findings.push(
                Diagnostic::error("several-worlds", format!("{} worlds in one file", worlds.len()))
                    .at(place)
                    .note(format!("they are: {}", all.join(", ")))
                    .help("keep one world per file"),
            );
        }
        match worlds.first() {
            Some(world) => {
                let outside = root.children().find(|child| {
                    ["model", "light", "actor"].iter().any(|name| xml::is_named(*child, name))
                });
                if let Some(outside) = outside {
                    let place = self.xml.place(outside);
                    let message = "this stands beside the world and is not part of it";
                    self.xml.findings.push(Diagnostic::warning("outside-world", message).at(place));
                }
                self.world(*world)
            }
            None => self.bare(root),
        }
    }

    fn world(&mut self, node: Node<'_, '_>) -> World {
        let mut world = World::default();
        if let Some(name) = self.required_attribute(node, "name") {
            world.name = name.name;
        }
        self.physics(node, &mut world);
        if let Some(gravity) = self.one(node, "gravity").and_then(|child| self.xml.vec3(child)) {
            world.gravity = gravity;
        }
        let mut contents = Contents::default();
        for child in node.children().filter(Node::is_element) {
            if child.tag_name().namespace() == Some(HEADLAND_NAMESPACE) {
                match child.tag_name().name() {
                    "region" => self.region(child, &mut contents),
                    "contact_set" => {
                        let seen = &mut contents.contact_sets_seen;
                        world.contact_sets.extend(self.contact_set(child, "", seen));
                    }
                    "foreign" => world.opaque.extend(self.foreign(child)),
                    _ => {}
                }
            } else if xml::is_named(child, "light") {
                self.world_light(child, &mut contents);
            } else if is_kept_in_world(child) {
                let part = format!("world#{}", child.tag_name().name());
                self.shared.places.insert(part, self.xml.place(child));
                world.opaque.push(self.keep(child));
            } else {
                self.shared_child(child, "", &mut contents);
            }
        }
        self.finish(world, contents)
    }

    /// A file of models, lights and includes without a world around them.
    fn bare(&mut self, root: Node<'_, '_>) -> World {
        let mut world = World::default();
        let mut contents = Contents::default();
        for child in root.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "light" => self.world_light(child, &mut contents),
                "model" | "include" => self.shared_child(child, "", &mut contents),
                "actor" => world.opaque.push(self.keep(child)),
                _ => {}
            }
        }
        let world = self.finish(world, contents);
        let is_empty =
            world.models.is_empty() && world.lights.is_empty() && world.opaque.is_empty();
        if is_empty && xml::child(root, "include").is_none() {
            self.xml.error("empty-file", "there is no world, model or light in this file", root);
        }
        world
    }

    fn finish(&mut self, mut world: World, mut contents: Contents) -> World {
        world.opaque.append(&mut contents.opaque);
        world.contact_sets.append(&mut contents.brought.contact_sets);
        let settled = contents.settle(&mut self.xml, &self.shared.places, true, None);
        forget_lost_links(&mut world.contact_sets, &settled.scope);
        World {
            models: settled.models,
            joints: settled.joints,
            frames: settled.frames,
            lights: settled.lights,
            regions: settled.regions,
            ..world
        }
    }

    fn world_light(&mut self, node: Node<'_, '_>, contents: &mut Contents) {
        if let Some(name) = self.unique_name(node, &mut contents.lights_seen)
            && let Some(light) = self.light(node, name)
        {
            contents.lights.push(light);
        }
    }

    /// The default `physics`, or the first.
    fn physics(&mut self, world_node: Node<'_, '_>, world: &mut World) {
        let all: Vec<_> = xml::children(world_node, "physics").collect();
        let is_default = |node: &&Node<'_, '_>| {
            matches!(node.attribute("default").map(str::trim), Some("true" | "1"))
        };
        let Some(node) = all.iter().find(is_default).or(all.first()).copied() else { return };
        let engine = self.attribute(node, "type").map(|named| named.name);
        let engine = engine.filter(|word| word != "ignored");
        let mut physics = Physics { engine, ..Physics::default() };
        if let Some(child) = self.one(node, "max_step_size")
            && let Some(secs) = self.xml.number(child)
            && let Some(secs) = self.positive(child, secs)
        {
            match SimDuration::from_secs(secs).filter(|step| *step > SimDuration::ZERO) {
                Some(step) => physics.step = step,
                None => {
                    let message = format!("a step of {secs} s cannot be held in nanoseconds");
                    self.xml.error("out-of-range", message, child);
                }
            }
        }
        if let Some(factor) = self.number_in(node, "real_time_factor") {
            physics.real_time_factor = factor;
        }
        physics.max_contacts = self.count_in(node, "max_contacts");
        if let Some(ode) = self.one(node, "ode") {
            physics.ode = self.ode_settings(ode);
        }
        physics.native = self.native_settings(node);
        world.physics = physics;
        // Up to 1.5 gravity stood in here.
        if let Some(child) = self.one(node, "gravity") {
            let gravity = self.xml.vec3(child);
            if self.version >= 6 {
                let place = self.xml.place(child);
                let message = "no element `gravity` in `physics`".to_string();
                let help = Some("since SDF 1.6 it stands in `world`".to_string());
                self.xml.unknown("unknown-element", message, place, help);
            }
            world.gravity = gravity.unwrap_or(world.gravity);
        }
    }

    /// What is asked of ODE. A value that cannot be is left to the engine, with a warning:
    /// files are about worlds first.
    fn ode_settings(&mut self, node: Node<'_, '_>) -> OdeSettings {
        let mut out = OdeSettings::default();
        if let Some(solver) = self.one(node, "solver") {
            if let Some(named) = self.one(solver, "type").and_then(|child| self.text(child)) {
                let found = OdeSolver::ALL.iter().find(|(word, _)| *word == named.name);
                out.solver = found.map(|(_, it)| *it);
                if found.is_none() {
                    let message = format!("ODE has no solver `{}`; it is left out", named.name);
                    let words = OdeSolver::ALL.iter().map(|(word, _)| *word);
                    self.xml.findings.push(
                        Diagnostic::warning("unknown-word", message)
                            .at(named.place)
                            .help_maybe(names::suggestion(&named.name, words)),
                    );
                }
            }
            out.n_iterations = self.count_in(solver, "iters");
            out.over_relaxation = self.setting_in(solver, "sor");
            if out.over_relaxation == Some(0.0) {
                self.left_out(solver, "sor", 0.0, "more than zero");
                out.over_relaxation = None;
            }
        }
        if let Some(constraints) = self.one(node, "constraints") {
            out.cfm = self.setting_in(constraints, "cfm");
            out.erp = self.setting_in(constraints, "erp");
            out.max_correction_speed = self.setting_in(constraints, "contact_max_correcting_vel");
            out.surface_layer = self.setting_in(constraints, "contact_surface_layer");
        }
        out
    }

    /// A number of at least zero in a child.
    fn setting_in(&mut self, node: Node<'_, '_>, name: &str) -> Option<f64> {
        let child = self.one(node, name)?;
        let number = self.xml.number(child)?;
        if number < 0.0 {
            self.left_out(node, name, number, "zero or more");
        }
        (number >= 0.0).then_some(number)
    }

    /// A whole number of at least one in a child.
    fn count_in(&mut self, node: Node<'_, '_>, name: &str) -> Option<u32> {
        let number = self.setting_in(node, name)?;
        let is_count = (1.0..=1e9).contains(&number) && number.fract() == 0.0;
        if !is_count {
            self.left_out(node, name, number, "a whole number from 1 on");
        }
        is_count.then_some(number as u32)
    }

    /// Says that a setting cannot be what it is.
    fn left_out(&mut self, node: Node<'_, '_>, name: &str, number: f64, wanted: &str) {
        if let Some(child) = self.one(node, name) {
            let message = format!("`{name}` cannot be {number}; it is left out");
            let place = self.xml.text_place(child);
            let told = Diagnostic::warning("out-of-range", message).at(place);
            self.xml.findings.push(told.help(format!("it is {wanted}")));
        }
    }

    fn region(&mut self, node: Node<'_, '_>, contents: &mut Contents) {
        let name = self.unique_name(node, &mut contents.regions_seen);
        let pose = self.pose(node);
        let Some(geometry) = self.geometry(node) else { return };
        let has_inside = matches!(
            geometry,
            Geometry::Box { .. }
                | Geometry::Sphere { .. }
                | Geometry::Cylinder { .. }
                | Geometry::Polyline { .. }
        );
        if !has_inside {
            let message = format!("a region cannot be a `{}`", geometry.kind());
            let known = ["box", "sphere", "cylinder", "polyline"];
            let place = self.xml.place(node);
            self.xml.findings.push(
                Diagnostic::error("bad-region", message)
                    .at(place)
                    .help_maybe(names::suggestion("", known)),
            );
            return;
        }
        if let Some(name) = name {
            contents
                .regions
                .push((Region { name, world_from_region: pose.transform, geometry }, pose));
        }
    }
}
