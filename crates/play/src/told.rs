//! What a controller is told by its world, read with all that is wrong with it.

use headland_base::maths::Vec2;
use headland_base::{Diagnostic, Findings, names};
use headland_sim::Model;
use headland_world::{ControllerWish, Places};

use crate::gait::Spot;

/// A region on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Its middle.
    pub middle: Spot,
    /// Half of its length along its x and of its width along its y \[m\].
    pub half_size: Vec2,
}

impl Area {
    /// The nearest point that is this far inside its edges; the middle where it is not so large.
    pub fn nearest(&self, point: Vec2, inside: f64) -> Vec2 {
        let seen = self.middle.see(point);
        let most = (self.half_size - Vec2::splat(inside)).max(Vec2::ZERO);
        self.middle.point(seen.clamp(-most, most))
    }
}

/// The parameters of one controller. Whoever reads one names it; what nobody read is a slip.
pub struct Told<'a> {
    /// What moves.
    pub model: &'a Model,
    /// The robot's whole name.
    pub robot: &'a str,
    wish: &'a ControllerWish,
    places: &'a Places,
    asked: Vec<&'static str>,
    findings: Findings,
}

impl<'a> Told<'a> {
    /// Of a robot's controller.
    pub fn new(
        model: &'a Model,
        robot: &'a str,
        wish: &'a ControllerWish,
        places: &'a Places,
    ) -> Told<'a> {
        Told { model, robot, wish, places, asked: Vec::new(), findings: Findings::new() }
    }

    /// How often it is to run \[Hz\], where the world says so.
    pub fn rate_hz(&self) -> Option<f64> {
        self.wish.rate_hz
    }

    /// A parameter as it is written.
    pub fn text(&mut self, name: &'static str) -> Option<&'a str> {
        self.asked.push(name);
        let found = self.wish.parameters.iter().find(|(own, _)| own == name);
        found.map(|(_, text)| text.as_str())
    }

    /// A parameter of so many numbers.
    pub fn numbers<const N: usize>(&mut self, name: &'static str) -> Option<[f64; N]> {
        let text = self.text(name)?;
        let words = text.split_whitespace().map(|word| word.parse::<f64>().ok());
        let numbers: Option<Vec<f64>> = words.map(|n| n.filter(|n| n.is_finite())).collect();
        let numbers = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        if numbers.is_none() {
            let what = if N == 1 { "a number".to_string() } else { format!("{N} numbers") };
            self.wrong("bad-parameter", name, format!("`{name}` is {what}, not `{text}`"), None);
        }
        numbers
    }

    /// A region by its name, which must be given.
    pub fn region(&mut self, name: &'static str) -> Option<Area> {
        let Some(text) = self.text(name) else {
            let message = format!("`{}` needs to know its `{name}`: a region", self.robot);
            let help = format!("give the controller <{name}>REGION</{name}>");
            self.wrong("missing-parameter", name, message, Some(help));
            return None;
        };
        self.area(name, text)
    }

    /// A region by its name, where one is given.
    pub fn region_if_any(&mut self, name: &'static str) -> Option<Area> {
        let text = self.text(name)?;
        self.area(name, text)
    }

    /// Regions by their names, of which there must be one.
    pub fn regions(&mut self, name: &'static str) -> Vec<Area> {
        let words = self.text(name).unwrap_or_default().split_whitespace();
        let names: Vec<&str> = words.collect();
        if names.is_empty() {
            let message = format!("`{}` needs to know its `{name}`: regions", self.robot);
            let help = format!("give the controller <{name}>REGION REGION …</{name}>");
            self.wrong("missing-parameter", name, message, Some(help));
        }
        names.into_iter().filter_map(|region| self.area(name, region)).collect()
    }

    fn area(&mut self, parameter: &'static str, region: &str) -> Option<Area> {
        let regions = &self.model.world.regions;
        let Some(found) = regions.iter().find(|own| own.name == region) else {
            let near = names::suggestion(region, regions.iter().map(|own| own.name.as_str()));
            let message = format!("no region `{region}`");
            self.wrong("unknown-region", parameter, message, near);
            return None;
        };
        let pose = found.world_from_region;
        let half_size = found.geometry.bounds().map_or(Vec2::ZERO, |(low, high)| {
            Vec2::new(0.5 * (high.x - low.x), 0.5 * (high.y - low.y))
        });
        let at = Vec2::new(pose.translation.x, pose.translation.y);
        Some(Area { middle: Spot { at, yaw: pose.rpy().z }, half_size })
    }

    /// Notes what is wrong with a parameter, at its place.
    pub fn wrong(&mut self, code: &'static str, name: &str, message: String, help: Option<String>) {
        let part = format!("controller {}::{}#{name}", self.robot, self.wish.kind);
        let mut diagnostic = Diagnostic::error(code, message).help_maybe(help);
        if let Some(place) = self.places.find(&part) {
            diagnostic = diagnostic.at(place);
        }
        self.findings.push(diagnostic);
    }

    /// Takes over what else was found.
    pub fn found(&mut self, diagnostics: Vec<Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.findings.push(diagnostic));
    }

    /// All that is wrong, with the parameters nobody asked for.
    pub fn finish(mut self) -> Result<(), Vec<Diagnostic>> {
        let wish = self.wish;
        let unknown: Vec<&str> = wish
            .parameters
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| !self.asked.contains(name))
            .collect();
        for name in unknown {
            let near = names::suggestion(name, self.asked.iter().copied());
            let known = self.asked.join("`, `");
            let help = near.unwrap_or(format!("this one takes `{known}`"));
            let message = format!("`{}` takes no parameter `{name}`", wish.kind);
            self.wrong("unknown-parameter", name, message, Some(help));
        }
        match self.findings.has_errors() {
            true => Err(self.findings.into_vec()),
            false => Ok(()),
        }
    }
}
