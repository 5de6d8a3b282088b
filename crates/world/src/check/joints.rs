//! Joints: their ends, the tree they form, axes, limits, mimics; motors and exclusions.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::Diagnostic;

use super::{AXIS_LENGTH_SLACK, Checker};
use crate::{
    Actuator, ActuatorKind, Axis, JointKind, Mimic, PlacedJoint, PlacedLink, World, join_scope,
};

/// A joint between bodies whose masses differ by more than this shakes in most engines.
const EXTREME_MASS_RATIO: f64 = 1e4;

impl Checker<'_> {
    pub(super) fn joints(
        &mut self,
        world: &World,
        links: &[PlacedLink<'_>],
        joints: &[PlacedJoint<'_>],
    ) {
        let mut carriers: BTreeMap<usize, Vec<usize>> = BTreeMap::new(); // child to parents
        let mut n_carriers: BTreeMap<usize, usize> = BTreeMap::new(); // the world counts too
        for placed in joints {
            let child = self.end(placed, "child", Some(&placed.joint.child));
            let parent = self.end(placed, "parent", placed.joint.parent.as_ref());
            if let Some(child) = child {
                if parent == Some(child) {
                    let message = format!("the joint `{}` connects a link to itself", placed.name);
                    self.error("self-joint", message, &format!("joint {}", placed.name));
                } else {
                    carriers.entry(child).or_default().extend(parent);
                    let n = n_carriers.entry(child).or_default();
                    *n += 1;
                    if *n == 2 {
                        self.second_parent(placed, &links[child].name);
                    }
                }
            }
            self.mass_ratio(placed, child.zip(parent), links);
            self.thread(placed);
            for (axis, name) in placed.joint.kind.axes().into_iter().zip(["axis", "axis2"]) {
                self.axis(&placed.name, axis, name);
                if let Some(mimic) = &axis.mimic {
                    self.mimic(placed, mimic, joints);
                }
            }
        }
        self.cycles(&carriers, links);
        self.mimic_cycles(joints);
        world.visit_models(&mut |at| {
            for actuator in &at.model.actuators {
                let own = format!("actuator {}", join_scope(at.scope, &actuator.name));
                let is_noted = self.place(&own).is_some();
                let part = if is_noted { own } else { format!("model {}", at.scope) };
                let joint_part = format!("{part}#joint");
                self.known_joint(at.scope, &actuator.joint, &actuator.name, &joint_part);
                self.actuator(at.scope, actuator, joints, &part);
            }
            for (first, second) in &at.model.contact_excludes {
                self.known_link(at.scope, first);
                self.known_link(at.scope, second);
            }
        });
        self.contact_pairs(world, links, joints);
    }

    /// The position of the link at one end; `None` for the world and for what is not there.
    fn end(
        &mut self,
        placed: &PlacedJoint<'_>,
        which: &str,
        name: Option<&String>,
    ) -> Option<usize> {
        let name = name?;
        let found = self.link_index.get(join_scope(&placed.scope, name).as_str()).copied();
        if found.is_none() {
            let message = format!("the {which} of `{}`, `{name}`, is not a link", placed.name);
            let help = self.suggest(&self.link_index, &placed.scope, name);
            let diagnostic = Diagnostic::error("unknown-link", message).help_maybe(help);
            self.push(diagnostic, &format!("joint {}#{which}", placed.name));
        }
        found
    }

    fn second_parent(&mut self, placed: &PlacedJoint<'_>, child: &str) {
        let message = format!("`{child}` is the child of two joints, which closes a loop");
        let diagnostic = Diagnostic::warning("kinematic-loop", message)
            .note("engines that move trees of joints hold the loop by a constraint, or refuse it");
        self.push(diagnostic, &format!("joint {}#child", placed.name));
    }

    /// A link that carries itself, through whatever chain of joints.
    fn cycles(&mut self, carriers: &BTreeMap<usize, Vec<usize>>, links: &[PlacedLink<'_>]) {
        let mut finished = BTreeSet::new();
        let mut reported = BTreeSet::new();
        for start in carriers.keys() {
            let mut path: Vec<(usize, usize)> = Vec::new(); // link, how many parents were seen
            let mut on_path = BTreeSet::new();
            let mut enter = (!finished.contains(start)).then_some(*start);
            loop {
                if let Some(link) = enter.take() {
                    path.push((link, 0));
                    on_path.insert(link);
                }
                let Some((link, seen)) = path.last_mut() else { break };
                let parent = carriers.get(link).and_then(|parents| parents.get(*seen)).copied();
                *seen += 1;
                match parent {
                    Some(parent) if on_path.contains(&parent) => {
                        if reported.insert(parent) {
                            self.report_cycle(&path, parent, links);
                        }
                    }
                    Some(parent) if !finished.contains(&parent) => enter = Some(parent),
                    Some(_) => {}
                    None => {
                        let link = *link;
                        finished.insert(link);
                        on_path.remove(&link);
                        path.pop();
                    }
                }
            }
        }
    }

    fn report_cycle(&mut self, path: &[(usize, usize)], from: usize, links: &[PlacedLink<'_>]) {
        let start = path.iter().position(|(link, _)| *link == from).unwrap_or(0);
        let mut chain: Vec<&str> =
            path[start..].iter().take(8).map(|(link, _)| links[*link].name.as_str()).collect();
        chain.push(if path.len() - start > 8 { "…" } else { &links[from].name });
        let name = &links[from].name;
        let diagnostic = Diagnostic::error("joint-cycle", format!("`{name}` is carried by itself"))
            .note(format!("from child to parent: {}", chain.join(" → ")))
            .help("turn one of these joints round: swap its parent and its child");
        self.push(diagnostic, &format!("link {name}"));
    }

    fn mass_ratio(
        &mut self,
        placed: &PlacedJoint<'_>,
        ends: Option<(usize, usize)>,
        links: &[PlacedLink<'_>],
    ) {
        let Some((child, parent)) = ends else { return };
        if matches!(placed.joint.kind, JointKind::Fixed) {
            return; // welded exactly: one body
        }
        let (child, parent) = (&links[child], &links[parent]);
        let (a, b) = (child.link.inertial.mass, parent.link.inertial.mass);
        let ratio = a.max(b) / a.min(b);
        if a > 0.0 && b > 0.0 && ratio > EXTREME_MASS_RATIO && !child.is_static {
            let message = format!("the joint `{}` holds {a} kg to {b} kg", placed.name);
            let diagnostic = Diagnostic::remark("mass-ratio", message)
                .note(format!("a ratio above {EXTREME_MASS_RATIO:e} shakes in most engines"));
            self.push(diagnostic, &format!("joint {}", placed.name));
        }
    }

    fn thread(&mut self, placed: &PlacedJoint<'_>) {
        let JointKind::Screw { metres_per_radian, .. } = placed.joint.kind else { return };
        if metres_per_radian == 0.0 || !metres_per_radian.is_finite() {
            let message = format!("the screw `{}` never moves along its axis", placed.name);
            let diagnostic = Diagnostic::error("bad-thread", message)
                .help("give it a thread pitch, or make it `revolute`");
            self.push(diagnostic, &format!("joint {}", placed.name));
        }
    }

    pub(super) fn axis(&mut self, joint: &str, axis: &Axis, name: &str) {
        let part = format!("joint {joint}#{name}");
        let length = axis.direction.length();
        if !length.is_finite() || length < 1e-12 {
            self.error("zero-axis", format!("the axis of `{joint}` has no direction"), &part);
        } else if (length - 1.0).abs() > AXIS_LENGTH_SLACK {
            let unit = axis.direction / length;
            let message = format!("the axis of `{joint}` has length {length:.6}, not 1");
            let help = format!("the same direction: {:.9} {:.9} {:.9}", unit.x, unit.y, unit.z);
            self.push(Diagnostic::error("non-unit-axis", message).help(help), &part);
        }
        // Places are sorted for the first question, so only a fault asks.
        let limit_part = |checker: &Checker<'_>| {
            let limit = format!("{part} limit");
            if checker.place(&limit).is_some() { limit } else { part.clone() }
        };
        if axis.lower.is_nan() || axis.upper.is_nan() || axis.lower > axis.upper {
            let message =
                format!("the lower limit of `{joint}`, {}, is above {}", axis.lower, axis.upper);
            let limit_part = limit_part(self);
            self.error("bad-limits", message, &limit_part);
        } else if !(axis.lower..=axis.upper).contains(&axis.initial_position) {
            let message = format!(
                "`{joint}` starts at {}, outside its limits {} to {}",
                axis.initial_position, axis.lower, axis.upper
            );
            let limit_part = limit_part(self);
            self.warning("outside-limits", message, &limit_part);
        }
        let not_negative = [
            ("damping", axis.damping),
            ("friction", axis.friction),
            ("armature", axis.armature),
            ("spring stiffness", axis.spring_stiffness),
            ("effort limit", axis.effort_max),
            ("velocity limit", axis.velocity_max),
        ];
        for (what, value) in not_negative {
            if value.is_nan() || value < 0.0 {
                let message = format!("the {what} of `{joint}` cannot be {value}");
                self.error("negative-value", message, &part);
            }
        }
    }

    fn mimic(&mut self, placed: &PlacedJoint<'_>, mimic: &Mimic, joints: &[PlacedJoint<'_>]) {
        let part = format!("joint {}", placed.name);
        let leader = join_scope(&placed.scope, &mimic.leader);
        if leader == placed.name {
            let message = format!("the joint `{}` mimics itself", placed.name);
            return self.error("bad-mimic", message, &part);
        }
        let Some(found) = self.joint_index.get(leader.as_str()).copied() else {
            self.known_joint(&placed.scope, &mimic.leader, &placed.name, &part);
            return;
        };
        if joints[found].joint.kind.axes().len() <= mimic.leader_axis {
            let message = format!(
                "`{}` mimics axis {} of `{}`, which has none",
                placed.name,
                mimic.leader_axis + 1,
                mimic.leader
            );
            self.error("bad-mimic", message, &part);
        }
    }

    /// Joints that follow each other in a ring: nobody leads.
    fn mimic_cycles(&mut self, joints: &[PlacedJoint<'_>]) {
        // From each axis that follows to the one it follows.
        let mut leaders: BTreeMap<(usize, usize), (usize, usize)> = BTreeMap::new();
        for (i, placed) in joints.iter().enumerate() {
            for (k, axis) in placed.joint.kind.axes().into_iter().enumerate() {
                let Some(mimic) = &axis.mimic else { continue };
                let leader = join_scope(&placed.scope, &mimic.leader);
                match self.joint_index.get(leader.as_str()) {
                    Some(leader) if *leader != i => {
                        leaders.insert((i, k), (*leader, mimic.leader_axis));
                    }
                    _ => {} // told already
                }
            }
        }
        let mut finished = BTreeSet::new();
        for start in leaders.keys() {
            let (mut way, mut on_way, mut at) = (Vec::new(), BTreeSet::new(), *start);
            while !finished.contains(&at) && on_way.insert(at) {
                way.push(at);
                match leaders.get(&at) {
                    Some(leader) => at = *leader,
                    None => break,
                }
            }
            if leaders.contains_key(&at) && !finished.contains(&at) {
                let from = way.iter().position(|axis| *axis == at).unwrap_or(0);
                let name = |axis: &(usize, usize)| format!("`{}`", joints[axis.0].name);
                let mut chain: Vec<String> = way[from..].iter().take(8).map(name).collect();
                chain.push(if way.len() - from > 8 { "…".to_string() } else { name(&at) });
                let message = format!("{} follows itself, through others", name(&at));
                let diagnostic = Diagnostic::error("bad-mimic", message)
                    .note(format!("each follows the next: {}", chain.join(" → ")))
                    .help("let one of them follow nobody");
                self.push(diagnostic, &format!("joint {}", joints[at.0].name));
            }
            finished.extend(way);
        }
    }

    fn actuator(
        &mut self,
        scope: &str,
        actuator: &Actuator,
        joints: &[PlacedJoint<'_>],
        part: &str,
    ) {
        let name = &actuator.name;
        let driven = self.joint_index.get(join_scope(scope, &actuator.joint).as_str()).copied();
        if let Some(joint) = driven.map(|i| joints[i].joint)
            && joint.kind.axes().is_empty()
        {
            let kind = joint.kind.word();
            let message =
                format!("`{name}` drives the {kind} joint `{}`, which has no axis", joint.name);
            self.error("bad-actuator", message, &format!("{part}#joint"));
        }
        let gains = match actuator.kind {
            ActuatorKind::Motor => vec![],
            ActuatorKind::Position { kp, kv } => vec![("kp", kp), ("kv", kv)],
            ActuatorKind::Velocity { kv } => vec![("kv", kv)],
        };
        for (word, gain) in gains {
            if !gain.is_finite() || gain < 0.0 {
                let message = format!("the {word} of `{name}` cannot be {gain}");
                self.error("bad-actuator", message, &format!("{part}#{word}"));
            }
        }
        if !actuator.gear.is_finite() || actuator.gear == 0.0 {
            let message = format!("the gear of `{name}` cannot be {}", actuator.gear);
            self.error("bad-actuator", message, &format!("{part}#gear"));
        }
        self.motor_limits(actuator, part);
        let ranges = [("command", actuator.command_range), ("effort", actuator.effort_range)];
        for (word, range) in ranges {
            if let Some((low, high)) = range
                && (low.is_nan() || high.is_nan() || low > high)
            {
                let message = format!("the {word} range of `{name}` cannot be {low} to {high}");
                self.error("bad-actuator", message, &format!("{part}#{word}_range"));
            }
        }
    }

    fn known_joint(&mut self, scope: &str, name: &str, who: &str, part: &str) {
        let whole = join_scope(scope, name);
        // One that is written and left out has defects of its own, which are told.
        let is_written = |checker: &Checker<'_>| checker.place(&format!("joint {whole}")).is_some();
        if self.joint_index.contains_key(whole.as_str()) || is_written(self) {
            return;
        }
        let help = self.suggest(&self.joint_index, scope, name);
        let message = format!("`{who}` follows or drives the joint `{name}`, which is not there");
        let diagnostic = Diagnostic::error("unknown-joint", message).help_maybe(help);
        self.push(diagnostic, part);
    }

    fn known_link(&mut self, scope: &str, name: &str) {
        if self.link_index.contains_key(join_scope(scope, name).as_str()) {
            return;
        }
        let help = self.suggest(&self.link_index, scope, name);
        let message = format!("contacts of `{name}` are excluded, which is not a link");
        let diagnostic = Diagnostic::error("unknown-link", message).help_maybe(help);
        let part = format!("contact_exclude {}", join_scope(scope, name));
        let is_noted = self.places.is_noted(&part);
        self.push(diagnostic, &if is_noted { part } else { format!("model {scope}") });
    }
}
