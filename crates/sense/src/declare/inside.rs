//! A World that needs no files of noise: what a detector's `<file>` says is put in its place.
//!
//! So it can be written into another folder, or attached to a recording, and say the same there.

use std::collections::BTreeMap;

use headland_world::resource::Resources;
use headland_world::{Model, Opaque, Places, World};
use roxmltree::{Document, Node};

use super::element::parsable;
use super::sensors_of;
use crate::detect::noise_file::noise_text;
use crate::noise::Perception;

/// The World with the noise of its detectors inside of them. A file that cannot be used stays
/// named; whoever declares the sensors is told why.
pub fn with_noise_inside(world: &World, places: &Places, resources: &Resources) -> World {
    // What a sensor is written as says what becomes of it.
    let mut changed: BTreeMap<String, String> = BTreeMap::new();
    for found in sensors_of(world, places) {
        let kept = found.xml();
        if !kept.contains("<file>") || !kept.contains("detector") {
            continue;
        }
        found.read(("sensor", "bad-sensor"), |sensor| {
            let detector = sensor.child("headland:detector");
            let Some(file) = detector.and_then(|detector| detector.child("file")) else { return };
            let Ok((_, noise)) = noise_text(file, resources) else { return };
            if Perception::of_text(&noise).is_err() {
                return;
            }
            if let Some(xml) = replaced(kept, &noise) {
                changed.insert(kept.to_string(), xml);
            }
        });
    }
    let mut world = world.clone();
    world.models.iter_mut().for_each(|model| change(model, &changed));
    world
}

fn change(model: &mut Model, changed: &BTreeMap<String, String>) {
    let of = |kept: &mut Opaque| {
        if let Some(xml) = changed.get(&kept.xml) {
            kept.xml.clone_from(xml);
        }
    };
    for link in &mut model.links {
        link.opaque.iter_mut().for_each(of);
    }
    model.models.iter_mut().for_each(|inner| change(inner, changed));
}

/// A sensor with what a file of noise says in the place of the file's name; but what the sensor
/// says itself goes first.
fn replaced(sensor: &str, noise: &str) -> Option<String> {
    let mut text = parsable(sensor);
    let (range, said) = {
        let document = Document::parse(&text).ok()?;
        let is_called = |node: Node<'_, '_>, name: &str| node.tag_name().name() == name;
        let is_meant = |node: &Node<'_, '_>| {
            is_called(*node, "file") && node.parent().is_some_and(|it| is_called(it, "detector"))
        };
        let file = document.descendants().find(is_meant)?;
        let around = file.parent()?.children().filter(|node| node.is_element());
        let said: Vec<String> = around.map(|node| node.tag_name().name().to_string()).collect();
        (file.range(), said)
    };
    let noise = parsable(noise);
    let document = Document::parse(&noise).ok()?;
    let parts = document.root_element().children().filter(|node| node.is_element());
    let new = parts.filter(|node| !said.contains(&node.tag_name().name().to_string()));
    let inside: String = new.map(|node| noise.get(node.range()).unwrap_or_default()).collect();
    text.replace_range(range, &inside);
    // The names of ours are declared, and the whole is still XML.
    Some(parsable(&text)).filter(|text| Document::parse(text).is_ok())
}
