//! What a detail needs of a robot: asked before the run, all that is missing at once.

use headland_base::maths::Vec3;
use headland_base::{Diagnostic, names};
use headland_world::{Detail, JointKind, join_scope};

use crate::model::{Joint, Model};
use crate::state::State;
use crate::tree::{Bodies, Factor, Inertia, NodeKind, Tree, factor, place, whole_body};

use super::Robot;
use super::ends::{at_nothing, read_state};
use super::soles::{declared_feet, level_ground, sole_in_body};
use super::vehicle::{column_of, declared_wheels};

/// Everything that a robot lacks to be moved at a detail from where a state has it; nothing where it
/// can be.
pub fn needs(model: &Model, state: &State, tree: &Tree, detail: Detail) -> Vec<Diagnostic> {
    let robot = Robot::of(0, tree);
    let asked = Asked { model, state, tree, robot: &robot, word: detail.word() };
    let mut out = asked.loops(detail);
    match detail {
        Detail::Kinematic => {
            out.extend(asked.free_base().into_iter().chain(asked.feet()));
        }
        Detail::Vehicle => out.extend(asked.free_base().into_iter().chain(asked.wheels())),
        Detail::Com | Detail::ComFixed => {
            out.extend(asked.free_base().into_iter().chain(asked.whole()));
        }
        Detail::Articulated => out.extend(asked.masses()),
    }
    out
}

/// Who walks by soles alone sees level planes and nothing else: told once for all walkers of a
/// world that has none.
pub fn needs_ground(model: &Model, walkers: &[&str]) -> Option<Diagnostic> {
    if walkers.is_empty() || level_ground(model).is_some() {
        return None;
    }
    let named: Vec<String> = walkers.iter().map(|name| format!("`{name}`")).collect();
    let (named, walk) = (named.join(", "), if walkers.len() == 1 { "walks" } else { "walk" });
    let message =
        format!("no static plane is level, so {named}, moved as `kinematic`, {walk} at height 0");
    Some(
        Diagnostic::warning("no-level-ground", message)
            .help("add a ground plane, or move it as `com` on slopes and heightmaps"),
    )
}

struct Asked<'a> {
    model: &'a Model,
    state: &'a State,
    tree: &'a Tree,
    robot: &'a Robot,
    word: &'static str,
}

impl Asked<'_> {
    fn name(&self) -> &str {
        &self.tree.robot
    }

    fn missing(&self, code: &'static str, what: &str) -> Diagnostic {
        let (name, word) = (self.name(), self.word);
        Diagnostic::error(code, format!("`{name}` cannot be moved as `{word}`: {what}"))
    }

    /// Loops are cut and held by forces, where there are forces, and where the cut joint is one
    /// that can be held so.
    fn loops(&self, detail: Detail) -> Vec<Diagnostic> {
        let joints = self.tree.loops.iter().map(|i| &self.model.joints[*i]);
        let is_held = |joint: &&Joint| {
            detail == Detail::Articulated && !matches!(joint.kind, JointKind::Screw { .. })
        };
        let told = joints.filter(|joint| !is_held(joint)).map(|joint| {
            let (name, kind) = (&joint.name, joint.kind.word());
            // A loop is cut at the last of its joints at the link where it is entered.
            let help = match detail {
                Detail::Articulated => "name it before the other joints of its loop",
                _ => "leave the joint out, move it as `articulated`",
            };
            self.missing("kinematic-loop", &format!("{kind} joint `{name}` closes a loop"))
                .help(format!("{help}, or use another engine"))
        });
        told.collect()
    }

    fn free_base(&self) -> Option<Diagnostic> {
        (!self.tree.is_free()).then(|| {
            self.missing("fixed-base", "its base is held by a joint, and has to be free")
                .help("take the joint away, or move it as `articulated`")
        })
    }

    fn feet(&self) -> Vec<Diagnostic> {
        let feet = declared_feet(self.model, self.robot);
        let mut out = Vec::new();
        if feet.iter().all(|foot| foot.body_idx.is_none()) {
            let missing = self.missing("no-feet", "it has no feet");
            out.push(missing.help(
                "say which links are its feet: <headland:foot link=\"…\"/> in its <model>; around \
                 a file of another format, <model><include merge=\"true\">…</include>…</model>",
            ));
        }
        for foot in &feet {
            let name = &foot.name;
            let Some(body_idx) = foot.body_idx else {
                let here = self.links();
                let near = names::suggestion(name, here.iter().map(String::as_str));
                let missing = format!("the foot `{name}` is none of the links that move with it");
                out.push(self.missing("unknown-link", &missing).help_maybe(near));
                continue;
            };
            if sole_in_body(self.model, body_idx, foot.foot).is_none() {
                let missing = format!("the foot `{name}` has no shape that says where its sole is");
                let help = "give the foot a <pose>, or its link a collision";
                out.push(self.missing("no-sole", &missing).help(help));
            }
        }
        out
    }

    fn links(&self) -> Vec<String> {
        let bodies = super::soles::bodies_of(self.model, self.robot);
        bodies.map(|i| self.model.bodies[i].name.clone()).collect()
    }

    fn wheels(&self) -> Vec<Diagnostic> {
        let wheels = declared_wheels(self.model, self.robot);
        let mut out = Vec::new();
        if wheels.is_empty() {
            let help = "say what it rolls on: <headland:wheel joint=\"…\" radius=\"…\"/>";
            out.push(self.missing("no-wheels", "it has no wheels").help(help));
        }
        let bodies = self.placed();
        for declared in &wheels {
            let wheel = declared.wheel;
            let column = self.turning(&declared.scope, &wheel.joint, "turns a wheel", &mut out);
            if !(wheel.radius > 0.0 && wheel.radius.is_finite()) {
                let radius = wheel.radius;
                let missing =
                    format!("the wheel on `{}` cannot have a radius of {radius}", wheel.joint);
                out.push(self.missing("bad-wheel", &missing));
            }
            if let Some(column) = column {
                let axle: Vec3 = bodies.axes[column].turn.get(0);
                if axle.z.abs() > 1.0 - 1e-6 {
                    let missing = format!("the wheel on `{}` lies flat", wheel.joint);
                    let help = "turn the joint's axis, so that the wheel can roll";
                    out.push(self.missing("bad-wheel", &missing).help(help));
                }
            }
            let Some(steers_by) = &wheel.steers_by else { continue };
            let steering = self.turning(&declared.scope, steers_by, "steers a wheel", &mut out);
            if let (Some(column), Some(steering)) = (column, steering)
                && !self.carries(steering, column)
            {
                let missing = format!(
                    "`{steers_by}` steers the wheel on `{}` without carrying it",
                    wheel.joint
                );
                out.push(self.missing("bad-wheel", &missing));
            }
        }
        out
    }

    /// The column of a joint that has to be there and to turn.
    fn turning(
        &self,
        scope: &str,
        joint: &str,
        what: &str,
        out: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let column = column_of(self.model, self.robot, &join_scope(scope, joint));
        let Some(column) = column else {
            let names = self.robot.dofs.iter().flatten();
            let names = names.map(|(dof, _)| self.model.dofs[*dof].name.as_str());
            let near = names::suggestion(&join_scope(scope, joint), names);
            let missing = format!("`{joint}` {what}, and is no joint that moves with it");
            out.push(self.missing("unknown-joint", &missing).help_maybe(near));
            return None;
        };
        let (dof, _) = self.robot.dofs[column]?;
        let kind = &self.model.joints[self.model.dofs[dof].joint_idx].kind;
        let turns = self.tree.nodes[self.tree.column_nodes[column]].kind == NodeKind::Turn;
        if !turns || kind.axes().len() != 1 {
            let missing = format!("`{joint}` {what}, and is `{}`", kind.word());
            let help = "make it `continuous` or `revolute`";
            out.push(self.missing("bad-wheel", &missing).help(help));
            return None;
        }
        Some(column)
    }

    /// Whether a column moves everything that another does.
    fn carries(&self, carrier: usize, column: usize) -> bool {
        let mut above = self.tree.column_parents[column];
        while let Some(k) = above {
            if k == carrier {
                return true;
            }
            above = self.tree.column_parents[k];
        }
        false
    }

    /// Links where the state has them, with the base at the anchor's origin: masses and
    /// axes against each other do not depend on where that is.
    fn placed(&self) -> Bodies<f64> {
        let (positions, _) = read_state(self.model, self.tree, self.robot, self.state);
        let mut bodies = Bodies::new(self.tree);
        place(self.tree, &at_nothing(), &positions, &mut bodies);
        bodies
    }

    /// Mass and inertia of the robot as a whole.
    fn whole(&self) -> Option<Diagnostic> {
        let whole = whole_body(&self.placed());
        if !(whole.mass > 0.0 && whole.mass.is_finite()) {
            let help = "give its links an <inertial>, or derive one with --derive-inertia DENSITY";
            return Some(self.missing("no-mass", "none of its links has a mass").help(help));
        }
        let m = whole.inertia.get(0);
        let minors =
            [m.x_axis.x, m.x_axis.x * m.y_axis.y - m.x_axis.y * m.x_axis.y, m.determinant()];
        (!minors.iter().all(|minor| *minor > 0.0 && minor.is_finite())).then(|| {
            self.missing("no-inertia", "as a whole it has no inertia about some axis")
                .help("give its links an <inertial> with an inertia")
        })
    }

    /// Links without mass where nothing behind them has any, and joints that turn or move
    /// nothing.
    fn masses(&self) -> Vec<Diagnostic> {
        let bodies = self.placed();
        let beyond = composite(self.tree, &bodies);
        let mut out = Vec::new();
        for (i, node) in self.tree.nodes.iter().enumerate() {
            for k in node.columns() {
                let axis = bodies.axes[k];
                let inertia = axis.dot(beyond[i].momentum(axis)) + node.armature;
                if !(inertia >= LEAST && inertia.is_finite()) {
                    out.push(self.nothing_moves(i, &beyond[i], inertia));
                    break;
                }
            }
        }
        if out.is_empty() && self.tree.loops.is_empty() {
            out.extend(self.singular(&bodies));
        }
        out
    }

    /// What is behind a joint, or a free link, has no mass or no inertia, or next to none.
    fn nothing_moves(&self, node_idx: usize, beyond: &Inertia<f64>, inertia: f64) -> Diagnostic {
        let node = &self.tree.nodes[node_idx];
        let link = self.link_name(node_idx);
        let joint =
            node.dof.map(|(dof, _)| &self.model.joints[self.model.dofs[dof].joint_idx].name);
        let what = match joint {
            Some(joint) => format!("what joint `{joint}` moves, from link `{link}` on,"),
            None => format!("what moves with link `{link}`"),
        };
        let (code, lacks) =
            if beyond.mass > 0.0 { ("no-inertia", "inertia") } else { ("no-mass", "mass") };
        let help = "give it an <inertial>, or derive one with --derive-inertia DENSITY";
        if 0.0 < inertia && inertia < LEAST {
            let little = format!("{what} has an inertia of {inertia:e}, less than {LEAST:e}");
            return self.missing(code, &little).help(help);
        }
        self.missing(code, &format!("{what} has no {lacks}")).help(help)
    }

    /// Joints that cancel each other: each moves mass, but together one of them moves none.
    fn singular(&self, bodies: &Bodies<f64>) -> Option<Diagnostic> {
        let rotors: Vec<f64> = (0..self.tree.n_dofs)
            .map(|k| self.tree.nodes[self.tree.column_nodes[k]].armature)
            .collect();
        let mut factored = Factor::new(self.tree);
        factor(self.tree, bodies, &rotors, &mut factored);
        let is_bad = |give: f64| !(give > 0.0 && give < 1.0 / LEAST);
        // Elimination runs from the tips, so the last bad one is the cause of those before it.
        let k = factored.give.iter().rposition(|give| is_bad(*give))?;
        let node = self.tree.column_nodes[k];
        let link = self.link_name(node);
        let what = format!("the joints around link `{link}` move the same mass the same way");
        Some(self.missing("no-inertia", &what).help("give the link between them an <inertial>"))
    }

    /// The link of a node, or of the next one behind it that is a link.
    fn link_name(&self, node_idx: usize) -> &str {
        let rigid = self.tree.nodes[node_idx..].iter().find_map(|node| node.rigid_idx);
        let rigid = rigid.expect("a chain of axes ends in a rigid");
        &self.model.bodies[self.model.rigids[rigid].body_idxs[0]].name
    }
}

/// Less than any part has \[kg·m² or kg\].
const LEAST: f64 = 1e-15;

/// Every node with all that hangs on it, as if its joints were stiff.
fn composite(tree: &Tree, bodies: &Bodies<f64>) -> Vec<Inertia<f64>> {
    let mut out = bodies.inertias.clone();
    for (i, node) in tree.nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            let own = out[i];
            out[parent] += own;
        }
    }
    out
}
