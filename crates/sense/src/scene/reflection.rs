//! What a laser gets back of a surface: colours of a World go in, shares come out.
//!
//! Worlds say nothing of infrared. How bright a surface is to the eye stands for it, and
//! `<laser_retro>` where a file has it.

use headland_base::maths::pow;
use headland_world::{Collision, Link, Visual};

/// How a surface sends light back to where it came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reflection {
    /// The share that is scattered evenly, 0 to 1.
    pub diffuse: f64,
    /// The share that is mirrored, 0 to 1: it comes back where the surface is met head on.
    pub mirrored: f64,
    /// What is reported as intensity, whatever comes back, where a file says so.
    pub retro: Option<f64>,
}

/// How sharp a mirrored share is: 5° off it has halved.
const SHARPNESS: f64 = 180.0;

impl Reflection {
    /// Where a file says nothing: a light grey.
    pub const PLAIN: Reflection = Reflection { diffuse: 0.7, mirrored: 0.0, retro: None };

    pub(super) fn of_visual(visual: &Visual) -> Reflection {
        let material = &visual.material;
        let luminance = |[r, g, b, _]: [f64; 4]| 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let base = material.diffuse.or(material.ambient);
        let diffuse = base.map_or(Reflection::PLAIN.diffuse, luminance).clamp(0.0, 1.0);
        let mirrored = material.specular.map_or(0.0, luminance).clamp(0.0, 1.0 - diffuse);
        Reflection { diffuse, mirrored, retro: material.laser_retro }
    }

    /// A collision has no colour: that of the first visual of its link.
    pub(super) fn of_collision(collision: &Collision, link: &Link) -> Reflection {
        let seen = link.visuals.first().map_or(Reflection::PLAIN, Reflection::of_visual);
        Reflection { retro: collision.surface.laser_retro.or(seen.retro), ..seen }
    }

    /// The share that comes back, where a beam meets the surface at an angle to its normal that
    /// has this cosine: Lambert's law for what is scattered, a narrow lobe for what is mirrored.
    #[inline]
    pub fn strength(&self, cosine: f64) -> f64 {
        let cosine = cosine.clamp(0.0, 1.0);
        let lobe = if self.mirrored > 0.0 { pow(cosine, SHARPNESS) } else { 0.0 };
        self.diffuse * cosine + self.mirrored * lobe
    }

    /// What is reported as intensity of that share \[%\].
    #[inline]
    pub fn intensity(&self, strength: f64) -> f64 {
        self.retro.unwrap_or(100.0 * strength)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::{PI, cos};

    #[test]
    fn what_comes_back_falls_with_the_angle() {
        let matt = Reflection { diffuse: 0.5, mirrored: 0.0, retro: None };
        assert_eq!((matt.strength(1.0), matt.strength(0.5), matt.strength(0.0)), (0.5, 0.25, 0.0));
        let shiny = Reflection { diffuse: 0.1, mirrored: 0.8, retro: None };
        assert!((shiny.strength(1.0) - 0.9).abs() < 1e-15);
        let off = shiny.strength(cos(5.0 * PI / 180.0)) - 0.1 * cos(5.0 * PI / 180.0);
        assert!((off / 0.8 - 0.5).abs() < 0.01, "{off}");
        assert!(shiny.strength(cos(0.5)) < 0.09, "a mirror that is turned away is dark");
        assert_eq!(Reflection { retro: Some(180.0), ..matt }.intensity(0.01), 180.0);
        assert_eq!(matt.intensity(0.25), 25.0);
    }
}
