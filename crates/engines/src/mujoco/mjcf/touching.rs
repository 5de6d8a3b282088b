//! Who touches whom in MuJoCo's words, and what it feels like.
//!
//! MuJoCo takes the greater friction of two geoms unless one has priority, so either surfaces
//! have ranks, or every pair is listed with what holds between the two.

use std::collections::BTreeSet;
use std::fmt::Write;

use headland_sim::{Model, Motion, TouchFilter};
use headland_world::Surface;

use super::{Pairs, Writer, escaped, pair_of};
use crate::mujoco::realise::{self, Feel, SOLIMP};

impl Writer<'_> {
    /// How many pairs of shapes may touch, counted no further than it matters.
    pub(super) fn n_pairs(&self) -> usize {
        let filter = TouchFilter::of(self.model);
        let bodies = self.model.bodies.iter().enumerate();
        let shapes: Vec<(usize, &Surface)> = bodies
            .flat_map(|(i, body)| body.shapes.iter().map(move |shape| (i, &shape.surface)))
            .collect();
        let pairs = shapes
            .iter()
            .enumerate()
            .flat_map(|(n, a)| shapes[n + 1..].iter().filter(|b| self.may_touch(&filter, *a, **b)));
        pairs.take(realise::N_PAIRS_MAX + 1).count()
    }

    pub(super) fn feel_words(&self, surface: &Surface, ranks: &Ranks) -> String {
        if self.options.raw {
            let mu = surface.mu.map(|mu| mu.clamp(0.0, realise::MU_MAX));
            return mu.map_or_else(String::new, |mu| format!(" friction=\"{mu} 0.005 0.0001\""));
        }
        let feel = Feel::of(surface);
        let priority = match ranks.of_surface(surface) {
            0 => String::new(),
            rank => format!(" priority=\"{rank}\""),
        };
        format!(
            " condim=\"{}\" friction=\"{} 0 0\" solref=\"{}\" solimp=\"{SOLIMP}\"{priority}",
            feel.condim(),
            feel.mu,
            pair_of(feel.solref(self.dt()))
        )
    }

    /// Who touches whom, and what it feels like.
    pub(super) fn contact_rules(&self, ranks: &Ranks, text: &mut String) {
        let mut out = String::new();
        let filter = TouchFilter::of(self.model);
        if self.pairs == Pairs::Found {
            self.excludes(&filter, &mut out);
        }
        let is_listed = !self.options.raw && (self.pairs == Pairs::Listed || !ranks.is_enough);
        if is_listed || !self.model.contact_pairs.is_empty() {
            for (i, a) in self.geoms.iter().enumerate() {
                for (j, b) in self.geoms.iter().enumerate().skip(i + 1) {
                    let feel = Feel::between(a.surface, b.surface);
                    let is_said =
                        self.pairs == Pairs::Found && feel == ranks.winner(a.surface, b.surface);
                    let is_asked =
                        is_listed && !is_said || self.is_switched_on(a.body_idx, b.body_idx);
                    if is_asked
                        && self.may_touch(&filter, (a.body_idx, a.surface), (b.body_idx, b.surface))
                    {
                        self.pair((i, j), feel, &mut out);
                    }
                }
            }
        }
        if !out.is_empty() {
            let _ = writeln!(text, "  <contact>\n{out}  </contact>");
        }
    }

    fn excludes(&self, filter: &TouchFilter, out: &mut String) {
        let with_shapes: BTreeSet<usize> = self.geoms.iter().map(|geom| geom.body_idx).collect();
        let with_shapes: Vec<usize> = with_shapes.into_iter().collect();
        let name = |body_idx: usize| escaped(&self.model.bodies[body_idx].name);
        for (n, &i) in with_shapes.iter().enumerate() {
            for &j in &with_shapes[n + 1..] {
                if self.can_meet(i, j) && !filter.may_touch(i, j) {
                    let _ =
                        writeln!(out, "    <exclude body1=\"{}\" body2=\"{}\"/>", name(i), name(j));
                }
            }
        }
    }

    /// Whether the world switches a pair on: MuJoCo finds none between a body and the one that
    /// carries it, so it is listed.
    fn is_switched_on(&self, i: usize, j: usize) -> bool {
        self.model.contact_pairs.binary_search(&(i.min(j), i.max(j))).is_ok()
    }

    fn pair(&self, (i, j): (usize, usize), feel: Feel, out: &mut String) {
        if self.options.raw {
            let _ = writeln!(out, "    <pair geom1=\"g{i}\" geom2=\"g{j}\"/>");
            return;
        }
        let grip = if self.library.is_at_least(3, 0, 0) && feel.mu > 0.0 {
            format!(" solreffriction=\"{}\"", pair_of(Feel::solref_of_friction(self.dt())))
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "    <pair geom1=\"g{i}\" geom2=\"g{j}\" condim=\"{}\" friction=\"{} {} 0 0 0\" \
             solref=\"{}\" solimp=\"{SOLIMP}\"{grip}/>",
            feel.condim(),
            feel.mu,
            feel.mu,
            pair_of(feel.solref(self.dt()))
        );
    }

    /// Whether two shapes of two links may touch at all.
    fn may_touch(
        &self,
        filter: &TouchFilter,
        (i, a): (usize, &Surface),
        (j, b): (usize, &Surface),
    ) -> bool {
        a.masks_meet(b) && self.can_meet(i, j) && filter.may_touch(i, j)
    }

    /// Whether MuJoCo would let two links touch.
    fn can_meet(&self, i: usize, j: usize) -> bool {
        let [a, b] = [i, j].map(|k| self.model.bodies[k].rigid_idx);
        let is_still = |k: usize| self.model.rigids[k].motion == Motion::Static;
        a != b && !(is_still(a) && is_still(b))
    }
}

/// Surfaces by friction: of two, the one with the greater rank decides in MuJoCo.
pub(super) struct Ranks {
    /// From the greatest friction to the least, each once.
    feels: Vec<Feel>,
    /// For every two surfaces of the model what holds between them is what one of them has.
    is_enough: bool,
}

impl Ranks {
    pub(super) fn of(model: &Model) -> Ranks {
        let surfaces: Vec<&Surface> =
            model.bodies.iter().flat_map(|body| &body.shapes).map(|shape| &shape.surface).collect();
        let mut feels: Vec<Feel> = Vec::new();
        let mut kinds: Vec<&Surface> = Vec::new();
        for surface in surfaces {
            if !feels.contains(&Feel::of(surface)) {
                feels.push(Feel::of(surface));
            }
            if !kinds.iter().any(|kind| is_alike(kind, surface)) {
                kinds.push(surface);
            }
        }
        feels.sort_by(|a, b| b.mu.total_cmp(&a.mu).then(b.restitution.total_cmp(&a.restitution)));
        let mut out = Ranks { feels, is_enough: true };
        out.is_enough = kinds
            .iter()
            .enumerate()
            .all(|(i, a)| kinds[i..].iter().all(|b| Feel::between(a, b) == out.winner(a, b)));
        out
    }

    fn of_surface(&self, surface: &Surface) -> usize {
        let feel = Feel::of(surface);
        self.feels.iter().position(|other| *other == feel).unwrap_or(0)
    }

    fn winner(&self, a: &Surface, b: &Surface) -> Feel {
        self.feels[self.of_surface(a).max(self.of_surface(b))]
    }
}

fn is_alike(a: &Surface, b: &Surface) -> bool {
    (a.mu(), a.mu2(), a.restitution()) == (b.mu(), b.mu2(), b.restitution())
}
