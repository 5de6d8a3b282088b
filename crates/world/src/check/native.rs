//! What is said to our own engine: feet, wheels, who touches, controllers, laws.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::Diagnostic;

use super::Checker;
use crate::native::feet_of;
use crate::{
    Actuator, ControllerWish, Foot, Integrator, JointKind, ModelAt, PlacedJoint, PlacedLink,
    SurfaceLaw, Touches, Wheel, World, join_scope,
};

impl Checker<'_> {
    pub(super) fn native(
        &mut self,
        world: &World,
        links: &[PlacedLink<'_>],
        joints: &[PlacedJoint<'_>],
    ) {
        self.integrator(world);
        self.surface_laws(world, links);
        world.visit_models(&mut |at| {
            let mut seen = BTreeSet::new();
            for foot in &at.model.feet {
                self.foot(at.scope, foot, seen.insert(&foot.link));
            }
            let mut seen = BTreeSet::new();
            for wheel in &at.model.wheels {
                self.wheel(at.scope, wheel, seen.insert(&wheel.joint), joints);
            }
            self.touches(at);
            self.contact_sets(at.scope, &at.model.contact_sets);
            for wish in &at.model.controllers {
                self.controller(at.scope, wish);
            }
        });
        self.contact_sets("", &world.contact_sets);
    }

    fn foot(&mut self, scope: &str, foot: &Foot, is_first: bool) {
        let part = format!("foot {}", join_scope(scope, &foot.link));
        let link = &foot.link;
        if !is_first {
            let message = format!("`{link}` is a foot twice");
            self.error("duplicate-foot", message, &format!("{part}#link"));
            return;
        }
        self.link_of(scope, link, &format!("the foot `{link}` is not a link"), &part, "#link");
        if let Some(size) = foot.size
            && !size.iter().all(|x| *x > 0.0 && x.is_finite())
        {
            let [x, y] = size;
            let message = format!("the foot `{link}` cannot be {x} m by {y} m");
            self.error("bad-size", message, &format!("{part}#size"));
        }
        if foot.link_from_sole.is_some_and(|transform| !transform.is_finite()) {
            let message = format!("the sole of `{link}` is nowhere: its pose is not finite");
            self.error("not-finite", message, &part);
        }
    }

    fn wheel(&mut self, scope: &str, wheel: &Wheel, is_first: bool, joints: &[PlacedJoint<'_>]) {
        let joint = &wheel.joint;
        let part = format!("wheel {}", join_scope(scope, joint));
        if !is_first {
            let message = format!("`{joint}` turns a wheel twice");
            self.error("bad-wheel", message, &format!("{part}#joint"));
            return;
        }
        self.turning_joint(scope, joint, "turns a wheel", &format!("{part}#joint"), joints);
        if let Some(steers_by) = &wheel.steers_by {
            let detail = format!("{part}#steers_by");
            if steers_by == joint {
                let message = format!("the wheel on `{joint}` is steered by its own joint");
                self.error("bad-wheel", message, &detail);
            } else {
                self.turning_joint(scope, steers_by, "steers a wheel", &detail, joints);
            }
        }
        if !(wheel.radius > 0.0 && wheel.radius.is_finite()) {
            let message =
                format!("the wheel on `{joint}` cannot have a radius of {}", wheel.radius);
            self.error("bad-wheel", message, &format!("{part}#radius"));
        }
    }

    /// A joint that must be there and turn.
    fn turning_joint(
        &mut self,
        scope: &str,
        name: &str,
        what: &str,
        part: &str,
        joints: &[PlacedJoint<'_>],
    ) {
        let whole = join_scope(scope, name);
        let Some(found) = self.joint_index.get(whole.as_str()).copied() else {
            // One that is written and left out has defects of its own, which are told.
            if self.place(&format!("joint {whole}")).is_none() {
                let help = self.suggest(&self.joint_index, scope, name);
                let message = format!("`{name}` {what}, and there is no such joint");
                self.push(Diagnostic::error("unknown-joint", message).help_maybe(help), part);
            }
            return;
        };
        let kind = &joints[found].joint.kind;
        if !matches!(kind, JointKind::Revolute(_) | JointKind::Continuous(_)) {
            let message = format!("`{name}` {what}, and is `{}`", kind.word());
            let diagnostic =
                Diagnostic::error("bad-wheel", message).help("make it `continuous` or `revolute`");
            self.push(diagnostic, part);
        }
    }

    fn touches(&mut self, at: ModelAt<'_, '_>) {
        let part = format!("touches {}", at.scope);
        let part = if self.places.is_noted(&part) { part } else { format!("model {}", at.scope) };
        match &at.model.touches {
            Touches::All | Touches::None => {}
            Touches::Feet if feet_of(at.model, "").is_empty() => {
                let message = format!("only the feet of `{}` touch, and it has none", at.scope);
                let diagnostic = Diagnostic::error("no-feet", message)
                    .help("say which links are its feet: <headland:foot link=\"…\"/>");
                self.push(diagnostic, &part);
            }
            Touches::Feet => {}
            Touches::Links(links) => {
                if links.is_empty() {
                    let message = format!("the links of `{}` that touch are none", at.scope);
                    let diagnostic = Diagnostic::error("empty-set", message)
                        .help("`none` says that nothing of it touches");
                    self.push(diagnostic, &part);
                }
                let links: BTreeSet<&String> = links.iter().collect();
                for link in links {
                    let word = format!("touches {}", join_scope(at.scope, link));
                    let message = format!("`{link}` is to touch, and is not a link");
                    let word = if self.places.is_noted(&word) { &word } else { &part };
                    self.link_of(at.scope, link, &message, word, "");
                }
            }
        }
    }

    fn contact_sets(&mut self, scope: &str, sets: &[Vec<String>]) {
        let links: BTreeSet<&String> = sets.iter().flatten().collect();
        for link in links {
            let message = format!("`{link}` is in a set of contacts, and is not a link");
            let part = format!("contact_set {}", join_scope(scope, link));
            let part = if self.places.is_noted(&part) { part } else { format!("model {scope}") };
            self.link_of(scope, link, &message, &part, "");
        }
        for set in sets {
            let different: BTreeSet<&String> = set.iter().collect();
            if different.len() < 2 {
                let part = set.first().map(|link| join_scope(scope, link)).unwrap_or_default();
                self.push(lonely_set(set), &format!("contact_set {part}"));
            }
        }
    }

    /// A link that must be there.
    pub(super) fn link_of(
        &mut self,
        scope: &str,
        name: &str,
        message: &str,
        part: &str,
        detail: &str,
    ) {
        if self.link_index.contains_key(join_scope(scope, name).as_str()) {
            return;
        }
        let help = self.suggest(&self.link_index, scope, name);
        let diagnostic = Diagnostic::error("unknown-link", message).help_maybe(help);
        self.push(diagnostic, &format!("{part}{detail}"));
    }

    fn controller(&mut self, scope: &str, wish: &ControllerWish) {
        let part = format!("controller {}", join_scope(scope, &wish.kind));
        if wish.kind.trim().is_empty() {
            let message = format!("a controller of `{scope}` says no `type`");
            self.error("bad-controller", message, &format!("model {scope}"));
        }
        if let Some(rate) = wish.rate_hz
            && !(rate > 0.0 && rate.is_finite())
        {
            let message = format!("the controller `{}` cannot run at {rate} Hz", wish.kind);
            self.error("bad-controller", message, &format!("{part}#rate"));
        }
        for (name, _) in wish.parameters.iter().filter(|(name, _)| !is_xml_name(name)) {
            let message = format!("a parameter of `{}` cannot be named `{name}`", wish.kind);
            self.error("bad-controller", message, &part);
        }
    }

    /// What a motor is said to be able to do, and how often.
    pub(super) fn motor_limits(&mut self, actuator: &Actuator, part: &str) {
        let name = &actuator.name;
        let curve = actuator.torque_speed;
        let positive = [
            ("stall_effort", "stall effort", curve.map(|curve| curve.stall_effort)),
            ("no_load_speed", "no-load speed", curve.map(|curve| curve.no_load_speed)),
            ("rate", "rate", actuator.rate),
        ];
        for (word, what, value) in positive {
            if let Some(value) = value
                && !(value > 0.0 && value.is_finite())
            {
                let message = format!("the {what} of `{name}` cannot be {value}");
                self.error("bad-actuator", message, &format!("{part}#{word}"));
            }
        }
    }

    fn integrator(&mut self, world: &World) {
        let tolerance = world.physics.native.integrator.and_then(|it| it.tolerance());
        if let Some(tolerance) = tolerance
            && !Integrator::is_tolerance(tolerance)
        {
            let message = format!("no step can be held to a tolerance of {tolerance}");
            let help = format!("take one above 0, {} at most", Integrator::LOOSEST);
            let found = Diagnostic::error("bad-integrator", message).help(help);
            self.push(found, "integrator native#tolerance");
        }
    }

    fn surface_laws(&mut self, world: &World, links: &[PlacedLink<'_>]) {
        let laws = &world.physics.native.surface_laws;
        if laws.is_empty() {
            return;
        }
        let surfaces = links.iter().flat_map(|link| &link.link.collisions);
        let kinds: BTreeSet<&str> =
            surfaces.filter_map(|shape| shape.surface.surface_type.as_deref()).collect();
        let mut rows = BTreeMap::new();
        for (i, law) in laws.iter().enumerate() {
            let part = format!("surface_law {i}");
            self.surface_law(law, &part, &kinds);
            let pair = (law.first.as_ref(), law.second.as_ref());
            let pair = (pair.0.min(pair.1), pair.0.max(pair.1));
            if let Some(first) = rows.insert(pair, i) {
                let message = format!("{} stands twice among the laws", named(law));
                let first = self.place(&format!("surface_law {first}"));
                let mut diagnostic = Diagnostic::error("duplicate-surface", message);
                if let Some(first) = first {
                    let label = self.findings.label(&first);
                    diagnostic = diagnostic.note(format!("first at {label}"));
                }
                self.push(diagnostic, &part);
            }
        }
    }

    fn surface_law(&mut self, law: &SurfaceLaw, part: &str, kinds: &BTreeSet<&str>) {
        if law.first.is_some() != law.second.is_some() {
            let message = "a law needs two kinds of surface, or none for all others";
            self.error("bad-surface", message.to_string(), part);
        }
        let ends = [("first", &law.first), ("second", &law.second)];
        for (end, kind) in ends.into_iter().filter_map(|(end, kind)| Some((end, kind.as_ref()?))) {
            if !kinds.contains(kind.as_str()) {
                let message = format!("no shape has a surface of the kind `{kind}`");
                let help = self.findings.suggestion(kind, kinds.iter().copied());
                let help = help.unwrap_or_else(|| {
                    format!(
                        "<surface><headland:surface_type>{kind}</headland:surface_type> says so"
                    )
                });
                let diagnostic = Diagnostic::warning("unknown-surface", message).help(help);
                self.push(diagnostic, &format!("{part}#{end}"));
            }
        }
        for (word, value) in law.numbers() {
            let Some(value) = value else { continue };
            let (is_good, wanted) = match word {
                "stiffness" => (value > 0.0 && value.is_finite(), "it must be more than zero"),
                "separation" => ((0.0..=1.0).contains(&value), "it is a share, 0 to 1"),
                _ => (value >= 0.0 && value.is_finite(), "it must be at least zero"),
            };
            if !is_good {
                let message = format!("the {word} of {} cannot be {value}", named(law));
                let diagnostic = Diagnostic::error("bad-surface", message).note(wanted);
                self.push(diagnostic, &format!("{part}#{word}"));
            }
        }
    }
}

/// What is wrong with a set of contacts that has fewer than two links.
pub(crate) fn lonely_set(set: &[String]) -> Diagnostic {
    let only = set.first().map_or("no link".to_string(), |link| format!("only `{link}`"));
    let message = format!("a set of contacts with {only} in it excludes nothing");
    Diagnostic::error("empty-set", message)
        .help("links of one set never touch each other: name at least two")
}

/// A law as people speak of it.
fn named(law: &SurfaceLaw) -> String {
    match (&law.first, &law.second) {
        (Some(first), Some(second)) => format!("`{first}` on `{second}`"),
        _ => "the default surface".to_string(),
    }
}

/// Whether XML can have an element of that name, without a prefix.
fn is_xml_name(name: &str) -> bool {
    let is_first = |c: char| c.is_alphabetic() || c == '_';
    let is_other = |c: char| is_first(c) || c.is_alphanumeric() || "-.·".contains(c);
    name.starts_with(is_first) && name.chars().all(is_other)
}
