//! Touch: what a link feels of its contacts, in full or as a switch.
//!
//! `contact` says every contact of its link as `/contacts` has it. `headland:bumper` says whether
//! something pushes against its link with at least so much force.
//!
//! Contacts are known by link, not by shape: a sensor that names some of several collisions feels
//! all of them, which is said beforehand.

use headland_base::{Seed, names};
use headland_record::messages::{self, Bool, Contacts, Header, Kind as Message, encode};
use headland_sim::{Contact, Look, Model};

use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::Measure;

/// `<sensor type="contact">`.
pub const CONTACT: Kind =
    Kind { words: &["contact"], on: On::Link, elements: &["contact"], read: read_contact };

/// `<sensor type="headland:bumper">`.
pub const BUMPER: Kind = Kind {
    words: &["headland:bumper"],
    on: On::Link,
    elements: &["headland:bumper"],
    read: read_bumper,
};

struct Touch {
    body_idx: usize,
}

struct Bumper {
    body_idx: usize,
    /// \[N\]
    threshold: f64,
}

fn read_contact(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let body_idx = site.mount.body_idx;
    if let Some(contact) = element.child("contact") {
        contact.only(&["collision", "topic"]);
        check_collisions(contact, site);
    }
    check_shapes(element, site);
    Some(Box::new(Touch { body_idx }))
}

fn read_bumper(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let settings = element.child("headland:bumper");
    if let Some(settings) = settings {
        settings.only(&["threshold"]);
    }
    check_shapes(element, site);
    let threshold = settings
        .map_or(0.0, |it| it.number_that("threshold", 0.0, "zero or more", |value| value >= 0.0));
    Some(Box::new(Bumper { body_idx: site.mount.body_idx, threshold }))
}

/// Says which collisions the link has not, and that those it has are felt together.
fn check_collisions(contact: Element<'_>, site: &Site<'_>) {
    let links = site.model.world.links();
    let collisions = &links[site.mount.body_idx].link.collisions;
    let known: Vec<&str> = collisions.iter().map(|shape| shape.name.as_str()).collect();
    let mut named = Vec::new();
    for element in contact.children("collision") {
        let name = element.text().rsplit("::").next().unwrap_or_default();
        if known.contains(&name) {
            named.push(name);
        } else {
            let near = names::suggestion(name, known.iter().copied());
            element.fault(format!("its link has no collision `{name:.60}`"), near);
        }
    }
    if !named.is_empty() && named.len() < known.len() {
        let message = format!(
            "it names {} of {} collisions of its link, and feels all of them",
            named.len(),
            known.len()
        );
        contact.warn(message, Some("put the shapes it is to feel on a link of their own".into()));
    }
}

fn check_shapes(element: Element<'_>, site: &Site<'_>) {
    let body = &site.model.bodies[site.mount.body_idx];
    if body.shapes.is_empty() {
        element.warn(format!("`{}` has no collision shape, and feels nothing", body.name), None);
    }
}

/// The contacts of a body.
pub fn contacts_of<'a>(look: &Look<'a>, body_idx: usize) -> impl Iterator<Item = &'a Contact> {
    let contacts = look.state.contacts.iter();
    contacts.filter(move |contact| contact.body_a == body_idx || contact.body_b == body_idx)
}

impl Measure for Touch {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Contacts)]
    }

    fn needs_contacts(&self) -> bool {
        true
    }

    fn start(&mut self, _: &Model, _: &Seed) {}

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let name = |body_idx: usize| look.model.bodies[body_idx].name.clone();
        let contacts = contacts_of(look, self.body_idx).map(|contact| messages::Contact {
            body_a: name(contact.body_a),
            body_b: name(contact.body_b),
            position: contact.position.into(),
            normal: contact.normal.into(),
            depth: contact.depth,
            normal_force: contact.force.dot(contact.normal).max(0.0),
            force: contact.force.into(),
        });
        // Places and forces are those of the world.
        let header = Header::new(look.state.time, "world");
        say(0, encode(&Contacts { header, contacts: contacts.collect() }));
    }
}

impl Measure for Bumper {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Bool)]
    }

    fn needs_contacts(&self) -> bool {
        true
    }

    fn start(&mut self, _: &Model, _: &Seed) {}

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let pushes = contacts_of(look, self.body_idx);
        let force: f64 = pushes.fold(0.0, |sum, c| sum + c.force.dot(c.normal).max(0.0));
        say(0, encode(&Bool { data: force > 0.0 && force >= self.threshold }));
    }
}
