//! Labels: which number a thing has in the pictures of a segmentation camera.
//!
//! A thing is an outermost model of the world, numbered from 1 in its order; 0 is where nothing
//! is, and what is beyond the 65,535th shares its number. A class is what a model says of itself, `<plugin name="gz::sim::systems::Label"><label>`,
//! as in Gazebo; a model that says nothing is of class 0. In a world where none says anything,
//! classes are things.

use headland_base::Diagnostic;
use headland_world::{Model, Opaque, Places, World};

use crate::declare::element::{Element, alone};
use crate::render::NO_ITEM;
use crate::scene::Scene;

/// The label of every item of a scene.
pub struct Labels(Vec<u16>);

impl Labels {
    /// Things.
    pub fn things(scene: &Scene) -> Labels {
        Labels(
            scene
                .items()
                .iter()
                .map(|item| u16::try_from(item.model_idx + 1).unwrap_or(u16::MAX))
                .collect(),
        )
    }

    /// Classes.
    pub fn classes(world: &World, scene: &Scene) -> Labels {
        let models = world.models.iter();
        let said: Vec<(&str, Option<u16>)> =
            models.map(|model| (model.name.as_str(), label(model))).collect();
        if said.iter().all(|(_, label)| label.is_none()) {
            return Labels::things(scene);
        }
        let of_item = |item: &crate::scene::Item| {
            let name = scene.models()[item.model_idx].as_str();
            let found = said.iter().find(|(known, _)| *known == name);
            found.and_then(|(_, label)| *label).unwrap_or(0)
        };
        Labels(scene.items().iter().map(of_item).collect())
    }

    /// The label of what a pixel shows.
    pub fn of(&self, item: u32) -> u16 {
        if item == NO_ITEM { 0 } else { self.0.get(item as usize).copied().unwrap_or(0) }
    }
}

/// What a model, or the first of its links that does, says of itself.
fn label(model: &Model) -> Option<u16> {
    let links = model.links.iter().flat_map(|link| &link.opaque);
    model.opaque.iter().chain(links).find_map(of_plugin)?.ok()
}

/// The label of a plugin that gives one, or what it says that is none.
fn of_plugin(kept: &Opaque) -> Option<Result<u16, String>> {
    if !kept.is_label() {
        return None;
    }
    let said = |plugin: Element<'_>| plugin.text_in("label").unwrap_or_default().to_string();
    let said = alone(&kept.xml, said).ok()?.0;
    Some(said.parse().map_err(|_| said))
}

/// What is wrong with the labels of a world: they would be taken for another class.
pub fn bad_labels(world: &World, places: &Places) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for model in &world.models {
        let owner = |kind: &str, name: String| format!("{kind} {name}");
        let mut kept: Vec<(String, &[Opaque])> =
            vec![(owner("model", model.name.clone()), &model.opaque)];
        kept.extend(model.links.iter().map(|link| {
            (owner("link", format!("{}::{}", model.name, link.name)), link.opaque.as_slice())
        }));
        for (owner, opaque) in kept {
            for (idx, plugin) in opaque.iter().enumerate() {
                let Some(Err(said)) = of_plugin(plugin) else { continue };
                let message = match said.is_empty() {
                    true => format!("the Label plugin of `{}` has no <label>", model.name),
                    false => format!("`{said:.40}` is no label of `{}`", model.name),
                };
                let place = places.find(&format!("{owner}#plugin {idx}"));
                findings.push(
                    Diagnostic::error("bad-label", message)
                        .at_maybe(place)
                        .help("<label> is a whole number from 0 to 65535"),
                );
            }
        }
    }
    findings
}

/// A colour for a label: far from its neighbours', black for 0.
pub fn colour(label: u16) -> [u8; 3] {
    if label == 0 {
        return [0; 3];
    }
    // Bits of the number spread over the three colours, the lowest first to the highest bit, as
    // the Pascal dataset colours its classes.
    let mut rgb = [0u8; 3];
    for bit in 0..15 {
        let is_set = label >> bit & 1 == 1;
        rgb[bit % 3] |= u8::from(is_set) << (7 - bit / 3);
    }
    rgb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_labels_have_one_colour() {
        let mut all: Vec<[u8; 3]> = (0..32_768).map(colour).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 32_768);
        assert_eq!((colour(0), colour(1), colour(2)), ([0; 3], [128, 0, 0], [0, 128, 0]));
    }
}
