//! A model of ours as MJCF that every MuJoCo from 2.2.2 on reads.
//!
//! A model and a state go in; the text and where everything is in MuJoCo's numbering come
//! out. Every link is a body of the same name; the first of a rigid has its joint and its
//! mass, the others are fixed to it. Joint positions are ours, zero included. The text says
//! it all: MuJoCo alone, given it, makes the same steps, as long as nobody pushes.

use std::collections::BTreeSet;
use std::fmt::Write;

use headland_base::maths::quat_from_axis_angle;
use headland_base::{Transform, Vec3};
use headland_sim::{EngineOptions, Joint, Model, Motion, Rigid, State, TouchFilter};
use headland_world::{Axis, JointKind, Surface};

use super::library::Library;
use super::realise::{self, Feel, KINEMATIC_WEIGHT, SOLIMP};
use super::shapes::{self, Assets};
use super::tree::{Forest, Hanger};

/// How far apart the two points are that keep a hinge which closes a loop \[m\].
const HINGE_SPAN: f64 = 0.1;

/// Contact points that are read of a moving link. MuJoCo clears them all in every step.
const N_TOUCHES: usize = 24;

/// Contact points that are read of a still link, per moving one.
const N_STILL_TOUCHES: usize = 8;

/// Contact points that are read of one link at most.
const N_TOUCHES_MAX: usize = 4096;

/// A model in MuJoCo's words.
pub(super) struct Written {
    /// The MJCF.
    pub(super) text: String,
    /// Files it names.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// Where each axis of the model is among MuJoCo's velocities; none for those of a joint
    /// that closes a loop.
    pub(super) velocity_of: Vec<Option<usize>>,
    /// Which actuator damps each axis, where there are such.
    pub(super) brake_of: Vec<Option<usize>>,
    /// Of each rigid that floats, where its positions and velocities begin.
    pub(super) floats_at: Vec<Option<(usize, usize)>>,
    /// How many positions MuJoCo has.
    pub(super) n_positions: usize,
    /// How many velocities MuJoCo has.
    pub(super) n_velocities: usize,
    /// How many actuators it has.
    pub(super) n_actuators: usize,
    /// Links whose contacts a sensor reads: body, sensor, how many it holds.
    pub(super) touches: Vec<(usize, String, usize)>,
    /// The link each geom belongs to.
    pub(super) body_of_geom: Vec<usize>,
    /// Joints that close a loop.
    pub(super) closing: Vec<usize>,
    /// Of each rigid, where the frame of its body is in it.
    pub(super) offsets: Vec<Vec3>,
}

struct Writer<'a> {
    model: &'a Model,
    state: &'a State,
    options: &'a EngineOptions,
    library: &'a Library,
    forest: Forest,
    pairs: Pairs,
    /// Of each rigid, where its body's frame is in it.
    offsets: Vec<Vec3>,
    text: String,
    assets: Assets,
    geoms: Vec<Geom<'a>>,
    /// One per velocity, in order.
    velocities: Vec<f64>,
    /// Each velocity as an actuator addresses it: the joint's name and the gear.
    velocity_words: Vec<String>,
    velocity_of: Vec<Option<usize>>,
    floats_at: Vec<Option<(usize, usize)>>,
    n_positions: usize,
}

/// How MuJoCo comes by the pairs of geoms that may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pairs {
    /// Each is listed.
    Listed,
    /// It finds them, but for those that are excluded.
    Found,
}

/// A geom as far as others must know of it.
struct Geom<'a> {
    body_idx: usize,
    surface: &'a Surface,
}

/// How many contacts of a link are read, among so many moving ones.
pub(super) fn n_touches(is_still: bool, n_moving: usize) -> usize {
    let n = if is_still { N_STILL_TOUCHES * n_moving } else { N_TOUCHES };
    n.clamp(N_TOUCHES, N_TOUCHES_MAX)
}

/// A sensor for the contacts of a body.
pub(super) fn touch_sensor(name: &str, body: &str, n: usize) -> String {
    format!(
        "<contact name=\"{}\" body1=\"{}\" num=\"{n}\" reduce=\"none\" data=\"found force dist \
         pos normal tangent\"/>",
        escaped(name),
        escaped(body)
    )
}

/// Writes a model.
pub(super) fn write(
    model: &Model,
    state: &State,
    options: &EngineOptions,
    library: &Library,
) -> Written {
    let forest = Forest::of(model);
    let writer = Writer {
        model,
        state,
        options,
        library,
        offsets: offsets(model, &forest),
        forest,
        pairs: Pairs::Found,
        text: String::new(),
        assets: Assets::default(),
        geoms: Vec::new(),
        velocities: Vec::new(),
        velocity_words: Vec::new(),
        velocity_of: vec![None; model.dofs.len()],
        floats_at: vec![None; model.rigids.len()],
        n_positions: 0,
    };
    writer.whole()
}

impl Writer<'_> {
    fn whole(mut self) -> Written {
        let mut text = String::new();
        let _ = writeln!(text, "<mujoco model=\"{}\">", escaped(&self.model.world.name));
        text.push_str(&self.settings());
        let ranks = Ranks::of(self.model);
        if !self.options.raw && realise::lists_pairs(self.library, self.n_pairs()) {
            self.pairs = Pairs::Listed;
        }
        for i in 0..self.forest.roots.len() {
            self.rigid(self.forest.roots[i], 2, &ranks);
        }
        if !self.assets.text.is_empty() {
            let _ = writeln!(text, "  <asset>\n{}  </asset>", self.assets.text);
        }
        let _ = writeln!(text, "  <worldbody>\n{}  </worldbody>", self.text);
        self.contact_rules(&ranks, &mut text);
        self.ties(&mut text);
        let (brake_of, n_actuators) = self.actuators(&mut text);
        let touches = self.sensors(&mut text);
        self.keyframe(&mut text);
        text.push_str("</mujoco>\n");
        Written {
            text,
            files: self.assets.files,
            velocity_of: self.velocity_of,
            brake_of,
            floats_at: self.floats_at,
            n_positions: self.n_positions,
            n_velocities: self.velocities.len(),
            n_actuators,
            touches,
            body_of_geom: self.geoms.iter().map(|geom| geom.body_idx).collect(),
            closing: self.forest.closing,
            offsets: self.offsets,
        }
    }

    /// How many pairs of shapes may touch, counted no further than it matters.
    fn n_pairs(&self) -> usize {
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

    fn settings(&self) -> String {
        let mut out = String::from(
            "  <compiler angle=\"radian\" autolimits=\"false\" inertiafromgeom=\"false\" \
             balanceinertia=\"false\" boundmass=\"0\" boundinertia=\"0\"/>\n",
        );
        let _ = write!(
            out,
            "  <option timestep=\"{}\" gravity=\"{}\"",
            self.options.step.secs(),
            triple(self.model.world.gravity)
        );
        if !self.options.raw {
            let _ = write!(
                out,
                " integrator=\"{}\" cone=\"elliptic\" solver=\"Newton\" iterations=\"100\" \
                 tolerance=\"1e-10\"",
                realise::integrator(self.library)
            );
        }
        out.push_str("/>\n");
        let moving = self.model.rigids.iter().filter(|rigid| rigid.motion == Motion::Dynamic);
        let (n, mass) = moving.fold((0.0, 0.0), |(n, mass), rigid| (n + 1.0, mass + rigid.mass));
        let heavy = self.model.rigids.iter().any(|rigid| rigid.motion == Motion::Kinematic);
        if heavy && n > 0.0 {
            // What moves as told would make the solver content with anything.
            let _ = writeln!(out, "  <statistic meaninertia=\"{}\"/>", mass / n);
        }
        out
    }

    /// A rigid, what hangs on it, and so on.
    fn rigid(&mut self, rigid_idx: usize, depth: usize, ranks: &Ranks) {
        let rigid = &self.model.rigids[rigid_idx];
        let hanger = self.forest.hangers[rigid_idx];
        let world_from_frame = self.world_from_frame(rigid_idx);
        let on_from_frame = match hanger {
            Hanger::Joint { on: Some(on), .. } => {
                self.world_from_frame(on).inverse() * world_from_frame
            }
            _ => world_from_frame,
        };
        let indent = "  ".repeat(depth);
        let first = &self.model.bodies[rigid.body_idxs[0]];
        let gravcomp = if rigid.motion != Motion::Static
            && (!rigid.gravity || rigid.motion == Motion::Kinematic)
            && has_gravcomp(self.library)
        {
            " gravcomp=\"1\""
        } else {
            ""
        };
        let _ = writeln!(
            self.text,
            "{indent}<body name=\"{}\" {}{gravcomp}>",
            escaped(&first.name),
            placed(on_from_frame)
        );
        if rigid.motion != Motion::Static {
            let inertial = self.inertial(rigid, rigid.centre - self.offsets[rigid_idx]);
            let _ = writeln!(self.text, "{indent}  {inertial}");
            self.hang(rigid_idx, hanger, &indent);
        }
        for &body_idx in &rigid.body_idxs {
            self.link(body_idx, depth + 1, body_idx == rigid.body_idxs[0], ranks);
        }
        for i in 0..self.forest.hung[rigid_idx].len() {
            self.rigid(self.forest.hung[rigid_idx][i], depth + 1, ranks);
        }
        let _ = writeln!(self.text, "{indent}</body>");
    }

    fn inertial(&self, rigid: &Rigid, c: Vec3) -> String {
        if rigid.motion == Motion::Kinematic {
            let all: f64 = self.model.rigids.iter().map(|rigid| rigid.mass).sum();
            let mass = KINEMATIC_WEIGHT * all.max(1.0);
            return format!(
                "<inertial pos=\"{}\" mass=\"{mass}\" diaginertia=\"{mass} {mass} {mass}\"/>",
                triple(c)
            );
        }
        let i = rigid.inertia;
        format!(
            "<inertial pos=\"{}\" mass=\"{}\" fullinertia=\"{} {} {} {} {} {}\"/>",
            triple(c),
            rigid.mass,
            i.col(0).x,
            i.col(1).y,
            i.col(2).z,
            i.col(1).x,
            i.col(2).x,
            i.col(2).y
        )
    }

    /// The joints a rigid hangs on, in MuJoCo's order: from what it hangs on outwards.
    fn hang(&mut self, rigid_idx: usize, hanger: Hanger, indent: &str) {
        let now = &self.state.rigids[rigid_idx];
        let local = now.world_from_rigid.rotation.conjugate();
        let Hanger::Joint { joint_idx, on, is_reversed } = hanger else {
            let name = format!("free {rigid_idx}");
            let _ = writeln!(self.text, "{indent}  <freejoint name=\"{name}\"/>");
            self.floats_at[rigid_idx] = Some((self.n_positions, self.velocities.len()));
            self.n_positions += 1; // a quaternion has one number more than a turn
            let omega = local * now.twist.angular;
            let arm = now.world_from_rigid.vector(self.offsets[rigid_idx]);
            let linear = now.twist.linear + now.twist.angular.cross(arm);
            for (i, speed) in linear.to_array().into_iter().enumerate() {
                self.velocity(speed, &name, i);
            }
            for (i, speed) in omega.to_array().into_iter().enumerate() {
                self.velocity(speed, &name, i + 3);
            }
            return;
        };
        let joint = &self.model.joints[joint_idx];
        let body_from_joint =
            if is_reversed { joint.parent_from_joint } else { joint.child_from_joint };
        let sign = if is_reversed { -1.0 } else { 1.0 };
        let direction = |axis: &Axis| body_from_joint.vector(axis.direction) * sign;
        let at = body_from_joint.translation;
        let first = joint.first_dof;
        match &joint.kind {
            JointKind::Fixed => unreachable!("welded when the model was compiled"),
            JointKind::Ball => {
                let name = format!("ball {joint_idx}");
                let _ = writeln!(
                    self.text,
                    "{indent}  <joint name=\"{name}\" type=\"ball\" pos=\"{}\"/>",
                    triple(at)
                );
                self.n_positions += 1;
                let carrier = on.map_or(Vec3::ZERO, |i| self.state.rigids[i].twist.angular);
                let omega = local * (now.twist.angular - carrier);
                for (i, speed) in omega.to_array().into_iter().enumerate() {
                    self.velocity(speed, &name, i);
                }
            }
            JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
                self.axis(joint, 0, "hinge", at, direction(axis), indent);
            }
            JointKind::Prismatic(axis) => {
                self.axis(joint, 0, "slide", at, direction(axis), indent);
            }
            JointKind::Screw { axis, metres_per_radian } => {
                let slid = self.state.dofs[first].position * metres_per_radian;
                let name = thread_of(joint);
                let _ = writeln!(
                    self.text,
                    "{indent}  <joint name=\"{}\" type=\"slide\" axis=\"{}\" ref=\"{slid}\"/>",
                    escaped(&name),
                    triple(direction(axis))
                );
                self.velocity(self.state.dofs[first].velocity * metres_per_radian, &name, 0);
                self.axis(joint, 0, "hinge", at, direction(axis), indent);
            }
            JointKind::Universal(a, b) => {
                // MuJoCo's axes are those of the body as it is written here, at q₁ and q₂.
                // R = P·R₁(q₁)·R₂(q₂)·C⁻¹ = R(now)·Rot(l₁, q₁ − now)·Rot(l₂, q₂ − now) holds
                // for l₂ = C·a₂ and l₁ = C·R₂(−q₂)·a₁; backwards the same from the other end.
                let [q1, q2] = [0, 1].map(|i| self.state.dofs[first + i].position);
                if is_reversed {
                    let turned = quat_from_axis_angle(a.direction, q1) * b.direction;
                    let outer = -body_from_joint.vector(turned);
                    self.axis(joint, 1, "hinge", at, outer, indent);
                    self.axis(joint, 0, "hinge", at, direction(a), indent);
                } else {
                    let turned = quat_from_axis_angle(b.direction, -q2) * a.direction;
                    let outer = body_from_joint.vector(turned);
                    self.axis(joint, 0, "hinge", at, outer, indent);
                    self.axis(joint, 1, "hinge", at, direction(b), indent);
                }
            }
        }
    }

    /// One axis as a joint of MuJoCo's.
    fn axis(
        &mut self,
        joint: &Joint,
        axis_idx: usize,
        kind: &str,
        at: Vec3,
        direction: Vec3,
        indent: &str,
    ) {
        let dof_idx = joint.first_dof + axis_idx;
        let dof = &self.model.dofs[dof_idx];
        let (axis, now) = (&dof.axis, self.state.dofs[dof_idx]);
        let _ = write!(
            self.text,
            "{indent}  <joint name=\"{}\" type=\"{kind}\" pos=\"{}\" axis=\"{}\" ref=\"{}\"",
            escaped(&dof.name),
            triple(at),
            triple(direction),
            now.position
        );
        let with_number = [
            ("damping", axis.damping),
            ("stiffness", axis.spring_stiffness),
            ("armature", axis.armature),
            ("frictionloss", axis.friction),
        ];
        for (word, number) in with_number.iter().filter(|(_, number)| *number != 0.0) {
            let _ = write!(self.text, " {word}=\"{number}\"");
        }
        if axis.spring_stiffness != 0.0 {
            let _ = write!(self.text, " springref=\"{}\"", axis.spring_reference);
        }
        let hard = (!self.options.raw).then(|| pair_of(realise::hard_solref(self.dt())));
        if axis.friction != 0.0
            && let Some(hard) = &hard
        {
            let _ = write!(self.text, " solreffriction=\"{hard}\" solimpfriction=\"{SOLIMP}\"");
        }
        if axis.lower.is_finite() || axis.upper.is_finite() {
            // MuJoCo has two ends or none.
            let (low, high) = (axis.lower.max(-FAR), axis.upper.min(FAR));
            let _ = write!(self.text, " limited=\"true\" range=\"{low} {high}\"");
            if let Some(hard) = &hard {
                let _ = write!(self.text, " solreflimit=\"{hard}\" solimplimit=\"{SOLIMP}\"");
            }
        }
        self.text.push_str("/>\n");
        self.velocity_of[dof_idx] = Some(self.velocities.len());
        self.velocity(now.velocity, &dof.name, 0);
    }

    fn velocity(&mut self, speed: f64, joint_name: &str, place: usize) {
        let gear: Vec<&str> = (0..6).map(|i| if i == place { "1" } else { "0" }).collect();
        self.n_positions += 1;
        self.velocities.push(speed);
        self.velocity_words.push(format!(
            "joint=\"{}\" gear=\"{}\"",
            escaped(joint_name),
            gear.join(" ")
        ));
    }

    /// The shapes of a link; one that is not the first of its rigid is a body of its own.
    fn link(&mut self, body_idx: usize, depth: usize, is_first: bool, ranks: &Ranks) {
        let body = &self.model.bodies[body_idx];
        let frame_from_rigid = Transform::from_translation(-self.offsets[body.rigid_idx]);
        let outer = "  ".repeat(depth);
        let indent = "  ".repeat(if is_first { depth } else { depth + 1 });
        if !is_first {
            let (name, at) = (escaped(&body.name), placed(frame_from_rigid * body.rigid_from_body));
            let _ = writeln!(self.text, "{outer}<body name=\"{name}\" {at}>");
        }
        for shape in &body.shapes {
            let is_still = self.model.rigids[body.rigid_idx].motion == Motion::Static;
            for part in shapes::parts(&shape.geometry, is_still, &mut self.assets) {
                let body_from_geom = shape.body_from_shape * part.shape_from_geom;
                let at = if is_first {
                    frame_from_rigid * body.rigid_from_body * body_from_geom
                } else {
                    body_from_geom
                };
                let feel = self.feel_words(&shape.surface, ranks);
                // Where every pair is listed, MuJoCo is not to find any by itself.
                let mask = match &self.pairs {
                    Pairs::Listed => 0,
                    Pairs::Found => shape.surface.collide_bitmask() & 0x7fff_ffff,
                };
                let _ = writeln!(
                    self.text,
                    "{indent}<geom name=\"g{}\" {} {} contype=\"{mask}\" \
                     conaffinity=\"{mask}\"{feel}/>",
                    self.geoms.len(),
                    part.words,
                    placed(at)
                );
                self.geoms.push(Geom { body_idx, surface: &shape.surface });
            }
        }
        if !is_first {
            let _ = writeln!(self.text, "{outer}</body>");
        }
    }

    fn feel_words(&self, surface: &Surface, ranks: &Ranks) -> String {
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
    fn contact_rules(&self, ranks: &Ranks, text: &mut String) {
        let mut out = String::new();
        let filter = TouchFilter::of(self.model);
        if self.pairs == Pairs::Found {
            self.excludes(&filter, &mut out);
        }
        if !self.options.raw && (self.pairs == Pairs::Listed || !ranks.is_enough) {
            for (i, a) in self.geoms.iter().enumerate() {
                for (j, b) in self.geoms.iter().enumerate().skip(i + 1) {
                    let feel = Feel::between(a.surface, b.surface);
                    let is_said =
                        self.pairs == Pairs::Found && feel == ranks.winner(a.surface, b.surface);
                    if !is_said
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

    fn pair(&self, (i, j): (usize, usize), feel: Feel, out: &mut String) {
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
        a.collide_bitmask() & b.collide_bitmask() != 0
            && self.can_meet(i, j)
            && filter.may_touch(i, j)
    }

    /// Whether MuJoCo would let two links touch.
    fn can_meet(&self, i: usize, j: usize) -> bool {
        let [a, b] = [i, j].map(|k| self.model.bodies[k].rigid_idx);
        let is_still = |k: usize| self.model.rigids[k].motion == Motion::Static;
        a != b && !(is_still(a) && is_still(b))
    }

    /// Screws, mimics and loops.
    fn ties(&self, text: &mut String) {
        let mut out = String::new();
        let feel = if self.options.raw {
            String::new()
        } else {
            format!(" solref=\"{}\" solimp=\"{SOLIMP}\"", pair_of(realise::hard_solref(self.dt())))
        };
        // MuJoCo's polynomial is of what both differ from where they are written.
        for (joint_idx, joint) in self.model.joints.iter().enumerate() {
            if let JointKind::Screw { metres_per_radian, .. } = &joint.kind
                && !self.forest.closing.contains(&joint_idx)
            {
                let _ = writeln!(
                    out,
                    "    <joint joint1=\"{}\" joint2=\"{}\" polycoef=\"0 {metres_per_radian} 0 0 \
                     0\"{feel}/>",
                    escaped(&thread_of(joint)),
                    escaped(&self.model.dofs[joint.first_dof].name)
                );
            }
        }
        for (i, dof) in self.model.dofs.iter().enumerate() {
            if let Some(mimic) = dof.mimic {
                let now = |i: usize| self.state.dofs[i].position;
                let start = mimic.multiplier * now(mimic.leader_dof) + mimic.offset - now(i);
                let _ = writeln!(
                    out,
                    "    <joint joint1=\"{}\" joint2=\"{}\" polycoef=\"{start} {} 0 0 0\"{feel}/>",
                    escaped(&dof.name),
                    escaped(&self.model.dofs[mimic.leader_dof].name),
                    mimic.multiplier
                );
            }
        }
        for &joint_idx in &self.forest.closing {
            let joint = &self.model.joints[joint_idx];
            let main = |rigid_idx: usize| {
                let rigid = &self.model.rigids[rigid_idx];
                escaped(&self.model.bodies[rigid.body_idxs[0]].name)
            };
            let on =
                joint.parent_rigid.map_or_else(String::new, |i| format!(" body2=\"{}\"", main(i)));
            let offset = self.offsets[joint.child_rigid];
            let at = Transform::from_translation(-offset) * joint.child_from_joint;
            let along = joint.kind.axes().first().map(|axis| axis.direction * HINGE_SPAN);
            for point in [Some(Vec3::ZERO), along].into_iter().flatten() {
                let _ = writeln!(
                    out,
                    "    <connect body1=\"{}\"{on} anchor=\"{}\"{feel}/>",
                    main(joint.child_rigid),
                    triple(at.point(point))
                );
            }
        }
        if !out.is_empty() {
            let _ = writeln!(text, "  <equality>\n{out}  </equality>");
        }
    }

    /// What efforts go through: which damper is whose, and how many actuators there are.
    fn actuators(&self, text: &mut String) -> (Vec<Option<usize>>, usize) {
        let mut out = String::new();
        let mut brake_of = vec![None; self.model.dofs.len()];
        let mut n_actuators = 0;
        if self.library.needs_force_actuators() {
            for words in &self.velocity_words {
                let _ = writeln!(
                    out,
                    "    <general {words} gaintype=\"fixed\" gainprm=\"0\" biastype=\"user\"/>"
                );
            }
            n_actuators = self.velocity_words.len();
        } else if !self.options.raw {
            for (i, velocity) in self.velocity_of.iter().enumerate() {
                if let Some(velocity) = velocity {
                    let words = &self.velocity_words[*velocity];
                    // Its force is −control·velocity, and MuJoCo knows the slope of that.
                    let _ = writeln!(
                        out,
                        "    <general {words} gaintype=\"affine\" gainprm=\"0 0 -1\" \
                         biastype=\"none\"/>"
                    );
                    brake_of[i] = Some(n_actuators);
                    n_actuators += 1;
                }
            }
        }
        if !out.is_empty() {
            let _ = writeln!(text, "  <actuator>\n{out}  </actuator>");
        }
        (brake_of, n_actuators)
    }

    /// A sensor per link that can touch.
    fn sensors(&self, text: &mut String) -> Vec<(usize, String, usize)> {
        if !self.library.reads_sensors() {
            return Vec::new();
        }
        let with_shapes: BTreeSet<usize> = self.geoms.iter().map(|geom| geom.body_idx).collect();
        let is_still = |body_idx: usize| {
            self.model.rigids[self.model.bodies[body_idx].rigid_idx].motion == Motion::Static
        };
        let n_moving = with_shapes.iter().filter(|i| !is_still(**i)).count();
        let mut out = String::new();
        let mut touches = Vec::new();
        for &body_idx in with_shapes.iter().filter(|_| n_moving > 0) {
            let n = n_touches(is_still(body_idx), n_moving);
            let name = format!("touch {body_idx}");
            let body = &self.model.bodies[body_idx].name;
            let _ = writeln!(out, "    {}", touch_sensor(&name, body, n));
            touches.push((body_idx, name, n));
        }
        if !out.is_empty() {
            let _ = writeln!(text, "  <sensor>\n{out}  </sensor>");
        }
        touches
    }

    /// Velocities before time starts.
    fn keyframe(&self, text: &mut String) {
        let velocities: Vec<String> = self.velocities.iter().map(f64::to_string).collect();
        let qvel = velocities.join(" ");
        let _ = writeln!(
            text,
            "  <keyframe>\n    <key name=\"start\" qvel=\"{qvel}\"/>\n  </keyframe>"
        );
    }

    fn world_from_frame(&self, rigid_idx: usize) -> Transform {
        let offset = Transform::from_translation(self.offsets[rigid_idx]);
        self.state.rigids[rigid_idx].world_from_rigid * offset
    }

    fn dt(&self) -> f64 {
        self.options.step.secs()
    }
}

/// Where the frame of each rigid's body is in the rigid. What floats has it at its centre of
/// mass: MuJoCo moves the frame, and only there a spin does not throw it off its path.
fn offsets(model: &Model, forest: &Forest) -> Vec<Vec3> {
    let rigids = model.rigids.iter().zip(&forest.hangers);
    rigids
        .map(|(rigid, hanger)| match hanger {
            Hanger::Floats if rigid.motion != Motion::Static => rigid.centre,
            _ => Vec3::ZERO,
        })
        .collect()
}

/// Beyond every limit that is meant \[rad or m\].
const FAR: f64 = 1e9;

/// Which versions know weightless bodies.
pub(super) fn has_gravcomp(library: &Library) -> bool {
    library.is_at_least(3, 0, 0)
}

/// Surfaces by friction: of two, the one with the greater rank decides in MuJoCo.
struct Ranks {
    /// From the greatest friction to the least, each once.
    feels: Vec<Feel>,
    /// For every two surfaces of the model what holds between them is what one of them has.
    is_enough: bool,
}

impl Ranks {
    fn of(model: &Model) -> Ranks {
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

/// The slide of a screw.
fn thread_of(joint: &Joint) -> String {
    format!("{} thread", joint.name)
}

fn placed(at: Transform) -> String {
    let q = at.rotation;
    format!("pos=\"{}\" quat=\"{} {} {} {}\"", triple(at.translation), q.w, q.x, q.y, q.z)
}

fn triple(v: Vec3) -> String {
    format!("{} {} {}", v.x, v.y, v.z)
}

fn pair_of((a, b): (f64, f64)) -> String {
    format!("{a} {b}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
