//! A model of ours as MJCF that every MuJoCo from 2.2.2 on reads.
//!
//! A model and a state go in; the text and where everything is in MuJoCo's numbering come
//! out. Every link is a body of the same name; the first of a rigid has its joint and its
//! mass, the others are fixed to it. Joint positions are ours, zero included. The text says
//! it all: MuJoCo alone, given it, makes the same steps, as long as nobody pushes. Joints are
//! written in `axes.rs`, and who touches whom in `touching.rs`.

use std::collections::BTreeSet;
use std::fmt::Write;

use headland_base::{Transform, Vec3};
use headland_sim::{EngineOptions, Model, Motion, Rigid, State};
use headland_world::Surface;

use super::library::Library;
use super::realise::{self, KINEMATIC_WEIGHT};
use super::shapes::{self, Assets};
use super::tree::{Forest, Hanger};

mod axes;
mod touching;

use touching::Ranks;

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
                // MuJoCo reads masks as numbers with a sign.
                let (contype, conaffinity) = match &self.pairs {
                    Pairs::Listed => (0, 0),
                    Pairs::Found => (
                        shape.surface.category_bitmask().cast_signed(),
                        shape.surface.collide_bitmask().cast_signed(),
                    ),
                };
                let _ = writeln!(
                    self.text,
                    "{indent}<geom name=\"g{}\" {} {} contype=\"{contype}\" \
                     conaffinity=\"{conaffinity}\"{feel}/>",
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

/// Which versions know weightless bodies.
pub(super) fn has_gravcomp(library: &Library) -> bool {
    library.is_at_least(3, 0, 0)
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
