//! What surfaces look like: materials and pictures of a World go in, colours come out, and what is
//! wrong with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::Diagnostic;
use headland_world::{Material, World};

use super::named;
use super::texture::Texture;
use crate::declare::element::{Element, alone};

/// What a surface looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Red, green, blue under full light, 0 to 1.
    pub colour: [f32; 3],
    /// Strength of highlights, 0 to 1.
    pub shine: f32,
    /// Light of its own, added whatever shines on it.
    pub glow: [f32; 3],
    /// 1 opaque, 0 invisible.
    pub opacity: f32,
    /// Throws a shadow.
    pub casts_shadow: bool,
    /// A mark for people: drawn over everything, fainter where it is hidden; no shadow, and
    /// depths and ids do not know it.
    pub is_mark: bool,
}

impl Look {
    /// Where a file says nothing of what never moves: a light grey.
    pub const PLAIN: Look = Look {
        colour: [0.7, 0.7, 0.7],
        shine: 0.1,
        glow: [0.0; 3],
        opacity: 1.0,
        casts_shadow: true,
        is_mark: false,
    };

    /// Where a file says nothing of what moves: each model has a colour of its own, so that a
    /// stack of boxes is told apart.
    pub(super) fn told_apart(model_idx: usize) -> Look {
        const COLOURS: [[f32; 3]; 9] = [
            [0.32, 0.51, 0.74],
            [0.90, 0.57, 0.25],
            [0.38, 0.64, 0.38],
            [0.80, 0.34, 0.31],
            [0.57, 0.45, 0.71],
            [0.29, 0.64, 0.64],
            [0.64, 0.50, 0.38],
            [0.86, 0.58, 0.71],
            [0.84, 0.73, 0.33],
        ];
        Look { colour: COLOURS[model_idx % COLOURS.len()], ..Look::PLAIN }
    }

    pub(super) fn of_material(
        material: &Material,
        unsaid: Look,
        transparency: f64,
        casts_shadow: bool,
    ) -> Look {
        let rgb = |c: [f64; 4]| [c[0] as f32, c[1] as f32, c[2] as f32];
        let base = material.diffuse.or(material.ambient);
        let script = named::of_script(material);
        let unsaid = script.map_or(unsaid, |it| Look { colour: it.colour, ..unsaid });
        let alpha = base.map_or(script.map_or(1.0, |it| f64::from(it.opacity)), |c| c[3]);
        let shine = material.specular.map_or(0.0, |c| (c[0] + c[1] + c[2]) / 3.0);
        let opacity = (alpha * (1.0 - transparency)).clamp(0.0, 1.0) as f32;
        Look {
            colour: base.map_or(unsaid.colour, rgb),
            shine: shine.clamp(0.0, 1.0) as f32,
            glow: match (material.emissive, script) {
                (Some(said), _) => rgb(said),
                (None, Some(it)) if it.glows => it.colour,
                _ => [0.0; 3],
            },
            opacity,
            casts_shadow: casts_shadow && opacity > 0.5,
            is_mark: false,
        }
    }
}

/// Textures that were decoded: one file is decoded once. What cannot be decoded is not drawn;
/// [`bad_looks`] says so.
#[derive(Default)]
pub(super) struct Textures(BTreeMap<usize, Option<Arc<Texture>>>);

impl Textures {
    pub fn of(&mut self, material: &Material) -> Option<Arc<Texture>> {
        let file = material.texture_file.as_ref()?;
        let made = self.0.entry(Arc::as_ptr(file) as usize);
        made.or_insert_with(|| Texture::decode(&file.bytes).ok().map(Arc::new)).clone()
    }
}

/// What is wrong with the looks of a World: textures that are no pictures, a background that is no
/// colour, and materials that are only names which mean nothing here.
pub fn bad_looks(world: &World) -> Vec<Diagnostic> {
    // Each file is looked at once, however many surfaces wear it.
    let mut told: BTreeMap<&[u8], Option<Diagnostic>> = BTreeMap::new();
    for placed in world.links() {
        for visual in &placed.link.visuals {
            let Some(file) = &visual.material.texture_file else { continue };
            told.entry(&file.bytes).or_insert_with(|| {
                let why = Texture::picture(&file.bytes).err()?;
                let message = format!("cannot draw the texture `{}`: {why}", file.path);
                let help = "the surface has its plain colour; write the picture as PNG or JPEG";
                Some(Diagnostic::warning("bad-texture", message).help(help))
            });
        }
    }
    let scene = background(world).1.into_iter().map(|fault| {
        let message = format!("{}; the sky is drawn", fault.message);
        Diagnostic::warning("bad-background", message)
            .help("<background> is red, green and blue from 0 to 1: 0.7 0.7 0.7")
    });
    let unknown = named::unknown(world).into_iter().map(|name| {
        let message = format!("no material is called `{name}` here; its surfaces are plain");
        Diagnostic::remark("unknown-material", message)
            .help("give them <diffuse>; of Gazebo's names its plain colours are known, Gazebo/Red")
    });
    told.into_values().flatten().chain(scene).chain(unknown).collect()
}

/// The `<background>` of SDF's `<scene>`, unless it asks for a `<sky>`; and what is wrong with it.
pub(super) fn background(world: &World) -> (Option<[f32; 3]>, Vec<Diagnostic>) {
    let scene = world.opaque.iter().find(|opaque| opaque.kind == "scene");
    let read = |scene: Element<'_>| {
        let said = scene.child("background").filter(|_| scene.child("sky").is_none())?;
        // A colour has an alpha or has none.
        let n = said.text().split_whitespace().count().clamp(3, 4);
        let numbers = said.numbers(n)?;
        Some([0, 1, 2].map(|i| numbers[i].clamp(0.0, 1.0) as f32))
    };
    scene.and_then(|scene| alone(&scene.xml, read).ok()).unwrap_or_default()
}
