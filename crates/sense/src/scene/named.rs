//! Materials by name: `<script><name>Gazebo/Red</name></script>`.
//!
//! A script is a program for one renderer, Ogre's, and is not read. But most worlds name the plain
//! colours that Gazebo brings along, and those are known here by what its handbook says of them.
//! Others are said in a note, and the surface keeps its plain colour.

use headland_world::{Material, World};

use crate::declare::element::alone;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Named {
    pub colour: [f32; 3],
    pub opacity: f32,
    /// It shines by itself.
    pub glows: bool,
}

/// Gazebo's plain colours, behind `Gazebo/`.
const COLOURS: &[(&str, [f32; 3])] = &[
    ("Grey", [0.7, 0.7, 0.7]),
    ("Gray", [0.7, 0.7, 0.7]),
    ("DarkGrey", [0.175, 0.175, 0.175]),
    ("DarkGray", [0.175, 0.175, 0.175]),
    ("White", [1.0, 1.0, 1.0]),
    ("FlatBlack", [0.1, 0.1, 0.1]),
    ("Black", [0.0, 0.0, 0.0]),
    ("Red", [1.0, 0.0, 0.0]),
    ("RedBright", [0.87, 0.26, 0.07]),
    ("Green", [0.0, 1.0, 0.0]),
    ("Blue", [0.0, 0.0, 1.0]),
    ("SkyBlue", [0.13, 0.44, 0.7]),
    ("Yellow", [1.0, 1.0, 0.0]),
    ("ZincYellow", [0.9725, 0.9529, 0.2078]),
    ("DarkYellow", [0.7, 0.7, 0.0]),
    ("Purple", [1.0, 0.0, 1.0]),
    ("Turquoise", [0.0, 1.0, 1.0]),
    ("Orange", [1.0, 0.5088, 0.0468]),
    ("Indigo", [0.33, 0.0, 0.5]),
    ("Gold", [0.8, 0.6487, 0.1208]),
];

/// What a name stands for; nothing where nobody knows it.
pub(crate) fn named(name: &str) -> Option<Named> {
    let own = name.strip_prefix("Gazebo/")?;
    let plain = |name: &str| COLOURS.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
    if let Some(colour) = plain(own) {
        return Some(Named { colour, opacity: 1.0, glows: false });
    }
    let glowing = own.strip_suffix("Glow").and_then(plain);
    let clear = own.strip_suffix("Transparent").and_then(plain);
    glowing
        .map(|colour| Named { colour, opacity: 1.0, glows: true })
        .or(clear.map(|colour| Named { colour, opacity: 0.5, glows: false }))
}

/// The name that a material's script has.
pub(crate) fn script_of(material: &Material) -> Option<String> {
    let script = material.opaque.iter().find(|kept| kept.kind == "script")?;
    alone(&script.xml, |script| script.text_in("name").map(str::to_string)).ok()?.0
}

/// What a material's script stands for, where it says no colour itself.
pub(crate) fn of_script(material: &Material) -> Option<Named> {
    let is_said = material.diffuse.is_some() || material.ambient.is_some();
    if is_said { None } else { named(&script_of(material)?) }
}

/// Names that surfaces are left plain for, each once.
pub(crate) fn unknown(world: &World) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for placed in world.links() {
        for visual in &placed.link.visuals {
            let material = &visual.material;
            let is_plain = material.diffuse.or(material.ambient).is_none();
            let Some(name) = script_of(material).filter(|_| is_plain) else { continue };
            if material.texture_file.is_none() && named(&name).is_none() && !all.contains(&name) {
                all.push(name);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gazebos_names_are_colours_and_others_are_nothing() {
        let red = named("Gazebo/Red").unwrap();
        assert_eq!(red, Named { colour: [1.0, 0.0, 0.0], opacity: 1.0, glows: false });
        assert!(named("Gazebo/GreenGlow").unwrap().glows);
        assert_eq!(named("Gazebo/BlueTransparent").unwrap().opacity, 0.5);
        for other in ["Gazebo/Bricks", "Red", "Gazebo/", "mine/Red"] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
