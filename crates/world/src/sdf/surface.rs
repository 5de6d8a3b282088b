//! `surface`: what a shape is like to touch.

use headland_base::{Diagnostic, Vec3};
use roxmltree::Node;

use super::reader::Reader;
use crate::Surface;
use crate::assets::unit_vector;
use crate::xml;

impl Reader<'_, '_> {
    /// The `surface` of a collision. ODE's words come first, because nearly every file
    /// uses them; Bullet's are taken where ODE's are silent.
    pub fn surface(&mut self, collision: Node<'_, '_>) -> Surface {
        let Some(node) = self.one(collision, "surface") else { return Surface::default() };
        let mut surface = Surface::default();
        if let Some(friction) = self.one(node, "friction") {
            self.friction(friction, &mut surface);
        }
        if let Some(bounce) = self.one(node, "bounce") {
            surface.restitution = self.number_in(bounce, "restitution_coefficient");
            surface.bounce_threshold = self.number_in(bounce, "threshold");
        }
        if let Some(contact) = self.one(node, "contact") {
            self.contact(contact, &mut surface);
        }
        if let Some(soft) = self.one(node, "soft_contact") {
            let place = self.xml.place(soft);
            self.kept.count("soft_contact", || place);
        }
        surface.surface_type = self
            .one(node, "headland:surface_type")
            .and_then(|node| self.text(node))
            .map(|named| named.name);
        surface
    }

    fn friction(&mut self, node: Node<'_, '_>, surface: &mut Surface) {
        if let Some(ode) = self.one(node, "ode") {
            surface.mu = self.number_in(ode, "mu");
            surface.mu2 = self.number_in(ode, "mu2");
            surface.friction_direction = self.direction(ode);
            let (slip1, slip2) = (self.number_in(ode, "slip1"), self.number_in(ode, "slip2"));
            if slip1.is_some() || slip2.is_some() {
                surface.slip = Some((slip1.unwrap_or(0.0), slip2.unwrap_or(0.0)));
            }
        }
        if let Some(bullet) = self.one(node, "bullet") {
            let (mu, mu2) =
                (self.number_in(bullet, "friction"), self.number_in(bullet, "friction2"));
            let direction = self.direction(bullet);
            surface.mu = surface.mu.or(mu);
            surface.mu2 = surface.mu2.or(mu2);
            surface.friction_direction = surface.friction_direction.or(direction);
            surface.rolling = self.number_in(bullet, "rolling_friction").filter(|mu| *mu != 0.0);
            if let Some(node) =
                self.one(bullet, "rolling_friction").filter(|_| surface.rolling.is_some())
            {
                let place = self.xml.place(node);
                self.kept.count("rolling_friction", || place);
            }
        }
        if let Some(torsional) = self.one(node, "torsional") {
            let coefficient = self.number_in(torsional, "coefficient");
            let patch_radius = self.number_in(torsional, "patch_radius");
            surface.torsional = Some((coefficient.unwrap_or(1.0), patch_radius.unwrap_or(0.0)));
        }
    }

    /// `fdir1`; all zeros is how files say "none".
    fn direction(&mut self, node: Node<'_, '_>) -> Option<Vec3> {
        let child = self.one(node, "fdir1")?;
        unit_vector(self.xml.vec3(child)?)
    }

    fn contact(&mut self, node: Node<'_, '_>, surface: &mut Surface) {
        surface.collide_bitmask = self.bitmask_in(node, "collide_bitmask");
        surface.category_bitmask = self.bitmask_in(node, "category_bitmask");
        if let Some(ode) = self.one(node, "ode") {
            surface.soft_cfm = self.number_in(ode, "soft_cfm");
            surface.soft_erp = self.number_in(ode, "soft_erp");
            surface.stiffness = self.number_in(ode, "kp");
            surface.damping = self.number_in(ode, "kd");
            // Files say "no limit" with a negative one.
            let speed = self.number_in(ode, "max_vel");
            surface.max_correction_speed = speed.filter(|speed| *speed >= 0.0);
            surface.min_depth = self.number_in(ode, "min_depth");
        }
        if let Some(bullet) = self.one(node, "bullet") {
            let mut fill = |ours: &mut Option<f64>, name| {
                let theirs = self.number_in(bullet, name);
                *ours = ours.or(theirs);
            };
            fill(&mut surface.soft_cfm, "soft_cfm");
            fill(&mut surface.soft_erp, "soft_erp");
            fill(&mut surface.stiffness, "kp");
            fill(&mut surface.damping, "kd");
        }
        if self.flag(node, "collide_without_contact", false) {
            let place = xml::child(node, "collide_without_contact").map(|n| self.xml.place(n));
            self.xml.findings.push(
                Diagnostic::warning(
                    "not-interpreted",
                    "`collide_without_contact` is not interpreted: the shape pushes",
                )
                .at_maybe(place)
                .help("to let it pass through, give it a `collide_bitmask` of 0"),
            );
        }
    }

    /// A mask of bits, in decimal or as `0x…`.
    fn bitmask_in(&mut self, node: Node<'_, '_>, name: &str) -> Option<u32> {
        let child = self.one(node, name)?;
        let named = self.text(child)?;
        let parsed = match named.name.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => named.name.parse(),
        };
        parsed
            .map_err(|_| {
                let shown: String = named.name.chars().take(40).collect();
                let message = format!("`{shown}` is not a mask of 32 bits");
                self.xml.findings.push(Diagnostic::error("not-a-number", message).at(named.place));
            })
            .ok()
    }
}
