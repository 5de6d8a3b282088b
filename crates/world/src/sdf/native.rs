//! What a file says to our own engine: feet, wheels, who touches, controllers, laws.
//!
//! Read here, judged in [`check`](crate::check): what a number may be is asked of every world,
//! also of one made in code. Where each was written is noted for it.

use headland_base::{Diagnostic, names};
use roxmltree::Node;

use super::frames::{Named, Pose, Scope};
use super::reader::Reader;
use super::siblings::Siblings;
use crate::world::join_scope;
use crate::xml;
use crate::{
    ContactLaw, ControllerWish, Detail, Foot, Integrator, Model, NativeSettings, SurfaceLaw,
    Touches, Wheel,
};

/// What may be said of a controller besides its parameters.
const CONTROLLER_ATTRIBUTES: [&str; 2] = ["type", "rate"];

/// What an `include` says of a robot instead of the robot's own file.
#[derive(Default)]
pub(super) struct Casting {
    detail: Option<Detail>,
    touches: Option<Touches>,
    controllers: Vec<ControllerWish>,
}

impl Casting {
    /// Where it says something, that holds.
    pub fn override_in(self, model: &mut Model) {
        model.detail = self.detail.or(model.detail);
        if let Some(touches) = self.touches {
            model.touches = touches;
        }
        if !self.controllers.is_empty() {
            model.controllers = self.controllers;
        }
    }
}

impl Reader<'_, '_> {
    /// What an `include` says of the robot it brings; `whole` is the robot's whole name.
    pub fn casting(&mut self, node: Node<'_, '_>, whole: &str) -> Casting {
        let controllers: Vec<_> = xml::children(node, "headland:controller").collect();
        Casting {
            detail: self.detail(node),
            touches: self.touches(node, whole),
            controllers: controllers
                .into_iter()
                .filter_map(|child| self.controller(child, whole))
                .collect(),
        }
    }

    /// The `headland:detail` of an element.
    pub fn detail(&mut self, node: Node<'_, '_>) -> Option<Detail> {
        let child = self.one(node, "headland:detail")?;
        self.word(child, Detail::ALL, "detail")
    }

    /// One of the words that an element may say; reports any other.
    fn word<T: Copy>(
        &mut self,
        node: Node<'_, '_>,
        known: &[(&'static str, T)],
        what: &str,
    ) -> Option<T> {
        let named = self.text(node)?;
        let found = known.iter().find(|(word, _)| *word == named.name);
        if found.is_none() {
            let words = known.iter().map(|(word, _)| *word);
            self.xml.findings.push(
                Diagnostic::error("unknown-word", format!("no {what} `{}`", named.name))
                    .at(named.place)
                    .help_maybe(names::suggestion(&named.name, words)),
            );
        }
        found.map(|(_, it)| *it)
    }

    /// A `headland:foot`, and its pose as written.
    pub fn foot(
        &mut self,
        node: Node<'_, '_>,
        whole: &str,
        seen: &mut Siblings,
    ) -> Option<(Foot, Option<Pose>)> {
        let link = self.required_attribute(node, "link");
        let pose = self.one(node, "pose").map(|child| self.pose_of(child));
        let size_node = self.one(node, "size");
        let size = size_node.and_then(|child| self.xml.array(child));
        let link = link?;
        if let Some(first) = self.first_of(&link, seen) {
            let message = format!("`{}` is a foot twice", link.name);
            let diagnostic = Diagnostic::error("duplicate-foot", message).at(link.place);
            self.xml.findings.push(diagnostic.note(first));
            return None;
        }
        let part = format!("foot {}", join_scope(whole, &link.name));
        self.note_attributes(&part, node);
        if let Some(child) = size_node {
            let place = self.xml.text_place(child);
            self.shared.places.insert(format_args!("{part}#size"), place);
        }
        Some((Foot { link: link.name, link_from_sole: None, size }, pose))
    }

    /// A `headland:wheel`.
    pub fn wheel(&mut self, node: Node<'_, '_>, whole: &str, seen: &mut Siblings) -> Option<Wheel> {
        let joint = self.required_attribute(node, "joint");
        let radius = self.required_attribute(node, "radius").and(self.numbers_in(node, "radius"));
        let steers_by = self.attribute(node, "steers_by").map(|named| named.name);
        let joint = joint?;
        if let Some(first) = self.first_of(&joint, seen) {
            let message = format!("`{}` turns a wheel twice", joint.name);
            let diagnostic = Diagnostic::error("bad-wheel", message).at(joint.place);
            self.xml.findings.push(diagnostic.note(first));
            return None;
        }
        self.note_attributes(&format!("wheel {}", join_scope(whole, &joint.name)), node);
        // One without a radius is told; its joints get their look all the same.
        let [radius] = radius.unwrap_or([1.0]);
        Some(Wheel { joint: joint.name, radius, steers_by })
    }

    /// Where a name stands that is here a second time.
    fn first_of(&mut self, named: &Named, seen: &mut Siblings) -> Option<String> {
        let first = seen.find(&named.name);
        if first.is_none() {
            seen.insert(&named.name, named.place.clone());
            return None;
        }
        first.map(|place| format!("first at {}", self.xml.findings.label(place)))
    }

    /// The `headland:touches` of an element.
    pub fn touches(&mut self, node: Node<'_, '_>, whole: &str) -> Option<Touches> {
        let child = self.one(node, "headland:touches")?;
        let named = self.text(child)?;
        self.shared.places.insert(format_args!("touches {whole}"), named.place.clone());
        let known = Touches::WORDS.iter().find(|(word, _)| *word == named.name);
        if let Some((_, touches)) = known {
            return Some(touches.clone());
        }
        Some(Touches::Links(self.links_in(&named, "touches", whole)))
    }

    /// A `headland:contact_set`, by the names it holds.
    pub fn contact_set(
        &mut self,
        node: Node<'_, '_>,
        whole: &str,
        seen: &mut Siblings,
    ) -> Option<Vec<String>> {
        if let Some(name) = self.attribute(node, "name") {
            self.is_new(&name.name, "contact set", node, seen);
        }
        let named = self.text(node)?;
        let links = self.links_in(&named, "contact_set", whole);
        if links.iter().all(|link| *link == links[0]) {
            let diagnostic = crate::check::lonely_set(&links);
            self.xml.findings.push(diagnostic.at(named.place));
            return None;
        }
        Some(links)
    }

    /// The words of a text, each noted where it stands.
    fn links_in(&mut self, named: &Named, kind: &str, whole: &str) -> Vec<String> {
        let words: Vec<String> = named.name.split_whitespace().map(str::to_string).collect();
        let (mut place, written) = (named.place.clone(), &named.place.source.text);
        let (mut at, end) = (place.span.start, place.span.end);
        for word in &words {
            // An entity in the text (`&amp;`) hides where the word stands.
            let Some(found) = written.get(at..end).and_then(|rest| rest.find(word.as_str())) else {
                continue;
            };
            place.span = at + found..at + found + word.len();
            at = place.span.end;
            let part = join_scope(whole, word);
            self.shared.places.insert(format_args!("{kind} {part}"), place.clone());
        }
        words
    }

    /// A `headland:controller`. Its children are parameters and may have any name.
    pub fn controller(&mut self, node: Node<'_, '_>, whole: &str) -> Option<ControllerWish> {
        let kind = self.required_attribute(node, "type");
        let rate_hz = self.numbers_in(node, "rate").map(|[rate]| rate);
        for attribute in node.attributes().filter(|attribute| attribute.namespace().is_none()) {
            let name = attribute.name();
            if !CONTROLLER_ATTRIBUTES.contains(&name) {
                let place = self.xml.attribute_place(node, name);
                let message = format!("no attribute `{name}` on `headland:controller`");
                let help = names::nearest(name, CONTROLLER_ATTRIBUTES);
                let help = help
                    .map(|near| format!("did you mean `{near}`?"))
                    .unwrap_or_else(|| format!("a parameter stands inside: <{name}>…</{name}>"));
                self.xml.unknown("unknown-attribute", message, place, Some(help));
            }
        }
        if !xml::is_blank(node) {
            let place = self.xml.text_place(node);
            let message = "text in `headland:controller` means nothing";
            self.xml.findings.push(
                Diagnostic::warning("stray-text", message)
                    .at(place)
                    .help("a parameter has a name: <role>striker</role>"),
            );
        }
        let own = node.children().filter(|child| child.is_element() && !xml::is_prefixed(*child));
        let children: Vec<_> = own.collect();
        let part =
            kind.as_ref().map(|kind| format!("controller {}", join_scope(whole, &kind.name)));
        if let Some(part) = &part {
            self.note_attributes(part, node);
        }
        let mut parameters = Vec::new();
        for child in children {
            if let Some(parameter) = self.parameter(child) {
                if let Some(part) = &part {
                    let place = self.xml.text_place(child);
                    self.shared.places.insert(format_args!("{part}#{}", parameter.0), place);
                }
                parameters.push(parameter);
            }
        }
        Some(ControllerWish { kind: kind?.name, rate_hz, parameters })
    }

    fn parameter(&mut self, node: Node<'_, '_>) -> Option<(String, String)> {
        let name = node.tag_name().name().to_string();
        if let Some(inner) = node.children().find(Node::is_element) {
            let message = format!("the parameter `{name}` holds elements, it can only hold text");
            self.xml.error("nested-parameter", message, inner);
            return None;
        }
        if let Some(attribute) = node.attributes().next() {
            let place = self.xml.attribute_place(node, attribute.name());
            let message = format!("the parameter `{name}` has an attribute, it can only hold text");
            self.xml.findings.push(Diagnostic::error("nested-parameter", message).at(place));
        }
        Some((name, xml::text_of(node).trim().to_string()))
    }

    /// The `headland:native` of a `physics` element.
    pub fn native_settings(&mut self, physics: Node<'_, '_>) -> NativeSettings {
        let Some(node) = self.one(physics, "headland:native") else {
            return NativeSettings::default();
        };
        let law = self.one(node, "law").and_then(|child| self.word(child, ContactLaw::ALL, "law"));
        let integrator = self.one(node, "integrator").and_then(|child| self.integrator(child));
        let mut surface_laws = Vec::new();
        for child in xml::children(node, "surface") {
            if let Some(surface) = self.surface_law(child, surface_laws.len()) {
                surface_laws.push(surface);
            }
        }
        NativeSettings { law, integrator, surface_laws }
    }

    fn integrator(&mut self, node: Node<'_, '_>) -> Option<Integrator> {
        let tolerance = self.numbers_in(node, "tolerance").map(|[tolerance]| tolerance);
        self.note_attributes("integrator native", node);
        match self.word(node, Integrator::ALL, "integrator")? {
            Integrator::Adaptive { .. } => Some(Integrator::Adaptive { tolerance }),
            fixed => {
                if let Some(named) = self.attribute(node, "tolerance") {
                    let message = format!("`{}` takes the steps it is given", fixed.word());
                    self.xml.findings.push(
                        Diagnostic::error("bad-integrator", message)
                            .at(named.place)
                            .help("only `adaptive` has a tolerance"),
                    );
                }
                Some(fixed)
            }
        }
    }

    /// A row of the law; `i` is its position among the others.
    fn surface_law(&mut self, node: Node<'_, '_>, i: usize) -> Option<SurfaceLaw> {
        let kinds = ["first", "second"].map(|name| self.attribute(node, name));
        // One kind without the other is no pair.
        let is_pair = kinds.iter().all(Option::is_some) || kinds.iter().all(Option::is_none);
        if !is_pair {
            let missing = if kinds[0].is_none() { "first" } else { "second" };
            self.required_attribute(node, missing);
        }
        let part = format!("surface_law {i}");
        let place = self.xml.place(node);
        self.shared.places.insert(&part, place);
        self.note_attributes(&part, node);
        let mut number = |name: &str| {
            let child = self.one(node, name)?;
            let place = self.xml.text_place(child);
            self.shared.places.insert(format_args!("{part}#{name}"), place);
            self.xml.number(child)
        };
        let [first, second] = kinds.map(|named| named.map(|named| named.name));
        let law = SurfaceLaw {
            first,
            second,
            stiffness: number("stiffness"),
            separation: number("separation"),
            sliding: number("sliding"),
            spinning: number("spinning"),
            mu: number("mu"),
        };
        is_pair.then_some(law)
    }

    /// Notes where a part and each of its attributes was written.
    pub fn note_attributes(&mut self, part: &str, node: Node<'_, '_>) {
        let place = self.xml.place(node);
        self.shared.places.insert(part, place);
        for attribute in node.attributes() {
            let place = self.xml.attribute_place(node, attribute.name());
            self.shared.places.insert(format_args!("{part}#{}", attribute.name()), place);
        }
    }
}

/// Where a sole is in its link's frame, for a pose as written. What is not there is reported
/// by the frame's name here, and by the link's in the check.
pub(super) fn link_from_sole(
    scope: &Scope,
    link: &str,
    pose: Pose,
    in_scope: impl FnOnce(Pose) -> headland_base::Transform,
) -> headland_base::Transform {
    if pose.relative_to.as_ref().is_none_or(|named| named.name == link) {
        return pose.transform;
    }
    let scope_from_sole = in_scope(pose);
    match scope.find(link) {
        Ok(found) => super::tidy(found.scope_from_frame.inverse() * scope_from_sole),
        Err(_) => scope_from_sole,
    }
}

/// What a merged model brings into the one around it besides links, models, frames and
/// joints. Where the outer one says something itself, that holds.
pub(super) fn take_over(outer: &mut Model, mut brought: Model) {
    outer.actuators.append(&mut brought.actuators);
    outer.contact_excludes.append(&mut brought.contact_excludes);
    outer.contact_pairs.append(&mut brought.contact_pairs);
    outer.contact_sets.append(&mut brought.contact_sets);
    outer.feet.append(&mut brought.feet);
    outer.wheels.append(&mut brought.wheels);
    outer.controllers.append(&mut brought.controllers);
    outer.detail = outer.detail.or(brought.detail);
    if outer.touches == Touches::All {
        outer.touches = brought.touches;
    }
}

/// Names that an include which could not be read would have brought are not missed a second
/// time: the include is reported.
pub(super) fn forget_lost(model: &mut Model, scope: &Scope) {
    let is_there = |name: &String| !scope.is_excused(name);
    model.feet.retain(|foot| is_there(&foot.link));
    model
        .wheels
        .retain(|wheel| is_there(&wheel.joint) && wheel.steers_by.as_ref().is_none_or(is_there));
    model.actuators.retain(|actuator| is_there(&actuator.joint));
    for pairs in [&mut model.contact_excludes, &mut model.contact_pairs] {
        pairs.retain(|(a, b)| is_there(a) && is_there(b));
    }
    forget_lost_links(&mut model.contact_sets, scope);
    if let Touches::Links(links) = &mut model.touches {
        let n_before = links.len();
        links.retain(is_there);
        if links.is_empty() && n_before > 0 {
            model.touches = Touches::All;
        }
    }
}

/// The same, of sets of links. What is left of a set may be too small to mean anything.
pub(super) fn forget_lost_links(sets: &mut Vec<Vec<String>>, scope: &Scope) {
    sets.retain(|set| !set.iter().any(|link| scope.is_excused(link)));
}
