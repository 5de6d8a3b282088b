//! What is said to our own engine, written so that it reads back.

use super::{Out, number, numbers};
use crate::{ControllerWish, Foot, Model, NativeSettings, SurfaceLaw, Touches, Wheel};

impl Out {
    /// What stands in a model.
    pub(super) fn native_model(&mut self, model: &Model) {
        self.contact_sets(&model.contact_sets);
        self.touches(&model.touches);
        for foot in &model.feet {
            self.foot(foot);
        }
        for wheel in &model.wheels {
            self.wheel(wheel);
        }
        for controller in &model.controllers {
            self.controller(controller);
        }
    }

    pub(super) fn contact_sets(&mut self, sets: &[Vec<String>]) {
        for set in sets {
            self.leaf("headland:contact_set", &set.join(" "));
        }
    }

    fn touches(&mut self, touches: &Touches) {
        if *touches == Touches::All {
            return;
        }
        let word = Touches::WORDS.iter().find(|(_, known)| known == touches).map(|(word, _)| *word);
        match (word, touches) {
            (None, Touches::Links(links)) => self.leaf("headland:touches", &links.join(" ")),
            (word, _) => self.leaf("headland:touches", word.unwrap_or_default()),
        }
    }

    fn foot(&mut self, foot: &Foot) {
        let link = [("link", foot.link.as_str())];
        if foot.link_from_sole.is_none() && foot.size.is_none() {
            return self.empty("headland:foot", &link);
        }
        self.open("headland:foot", &link);
        if let Some(link_from_sole) = &foot.link_from_sole {
            self.whole_pose(link_from_sole, None);
        }
        if let Some(size) = foot.size {
            self.leaf("size", &numbers(&size));
        }
        self.close("headland:foot");
    }

    fn wheel(&mut self, wheel: &Wheel) {
        let radius = number(wheel.radius);
        let mut attributes = vec![("joint", wheel.joint.as_str()), ("radius", &radius)];
        attributes.extend(wheel.steers_by.as_deref().map(|joint| ("steers_by", joint)));
        self.empty("headland:wheel", &attributes);
    }

    fn controller(&mut self, wish: &ControllerWish) {
        let rate = wish.rate_hz.map(number);
        let mut attributes = vec![("type", wish.kind.as_str())];
        attributes.extend(rate.as_deref().map(|rate| ("rate", rate)));
        if wish.parameters.is_empty() {
            return self.empty("headland:controller", &attributes);
        }
        self.open("headland:controller", &attributes);
        for (name, text) in &wish.parameters {
            self.leaf(name, text);
        }
        self.close("headland:controller");
    }

    pub(super) fn native_settings(&mut self, native: &NativeSettings) {
        if *native == NativeSettings::default() {
            return;
        }
        self.open("headland:native", &[]);
        if let Some(law) = native.law {
            self.leaf("law", law.word());
        }
        if let Some(integrator) = native.integrator {
            let tolerance = integrator.tolerance().map(number);
            let attributes: Vec<_> =
                tolerance.iter().map(|it| ("tolerance", it.as_str())).collect();
            self.leaf_with("integrator", &attributes, integrator.word());
        }
        for law in &native.surface_laws {
            self.surface_law(law);
        }
        self.close("headland:native");
    }

    fn surface_law(&mut self, law: &SurfaceLaw) {
        let kinds = [("first", &law.first), ("second", &law.second)];
        let kinds = kinds.into_iter().filter_map(|(name, kind)| Some((name, kind.as_deref()?)));
        self.open("surface", &kinds.collect::<Vec<_>>());
        for (name, value) in law.numbers() {
            self.maybe(name, value);
        }
        self.close("surface");
    }
}
