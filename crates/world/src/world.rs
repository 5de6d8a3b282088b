//! The World: what is there before time starts.
//!
//! Every pose is already resolved: a model's in the frame that holds it, a link's in its
//! model's, a joint's in its child link's. A reader has done the looking up of frames,
//! includes and defaults, so whoever uses a World does arithmetic only, and a World that
//! is written as SDF and read again is the same World.

use std::sync::Arc;

use headland_base::{SimDuration, Transform, Vec3};

use crate::geometry::Geometry;
use crate::inertia::Inertial;
use crate::joint::Joint;
use crate::native::{ControllerWish, Detail, Foot, NativeSettings, TorqueSpeed, Touches, Wheel};

/// What is there: models, lights, regions, gravity. Frozen once read.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// The world's name; `default` where the file gives none.
    pub name: String,
    /// Acceleration of a free body \[m/s²\].
    pub gravity: Vec3,
    /// What the file asks of the engine.
    pub physics: Physics,
    /// Robots and things, in file order.
    pub models: Vec<Model>,
    /// Joints that connect top-level models; link names are scoped (`robot::wrist`).
    pub joints: Vec<Joint>,
    /// Named frames of the world itself.
    pub frames: Vec<Frame>,
    /// Lights, for cameras.
    pub lights: Vec<Light>,
    /// Named places, for tests and missions (`headland:region`).
    pub regions: Vec<Region>,
    /// Sets of links that never touch each other, by whole names (`headland:contact_set`).
    pub contact_sets: Vec<Vec<String>>,
    /// What we keep but do not interpret.
    pub opaque: Vec<Opaque>,
}

impl Default for World {
    fn default() -> World {
        World {
            name: "default".to_string(),
            gravity: Vec3::new(0.0, 0.0, -9.8), // SDF's default, not 9.81
            physics: Physics::default(),
            models: Vec::new(),
            joints: Vec::new(),
            frames: Vec::new(),
            lights: Vec::new(),
            regions: Vec::new(),
            contact_sets: Vec::new(),
            opaque: Vec::new(),
        }
    }
}

/// What a world file asks of the engine. A run may override the step.
#[derive(Clone, Debug, PartialEq)]
pub struct Physics {
    /// The integration step asked for.
    pub step: SimDuration,
    /// Real-time factor asked for; recorded, since a run goes as fast as it can.
    pub real_time_factor: f64,
    /// The engine the file names (`ode`, `dart`, …), if any; a wish, not an order.
    pub engine: Option<String>,
    /// Contact points between two shapes, at most.
    pub max_contacts: Option<u32>,
    /// What the file asks of ODE, for engines that know what is meant.
    pub ode: OdeSettings,
    /// What the file asks of our own engine.
    pub native: NativeSettings,
}

/// SDF's `<ode>` in `<physics>`; nothing where the file says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OdeSettings {
    /// Which of its two ways to step.
    pub solver: Option<OdeSolver>,
    /// Passes of the quick one over its constraints.
    pub n_iterations: Option<u32>,
    /// How far the quick one goes beyond each correction.
    pub over_relaxation: Option<f64>,
    /// Constraint force mixing.
    pub cfm: Option<f64>,
    /// Share of a position error that is corrected per step.
    pub erp: Option<f64>,
    /// Fastest correction of penetration \[m/s\].
    pub max_correction_speed: Option<f64>,
    /// Penetration that is left alone \[m\].
    pub surface_layer: Option<f64>,
}

/// ODE's two ways to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OdeSolver {
    /// Passes over the constraints, one after another.
    Quick,
    /// All constraints at once, exactly.
    World,
}

impl OdeSolver {
    /// Every solver with its word.
    pub const ALL: &[(&str, OdeSolver)] =
        &[("quick", OdeSolver::Quick), ("world", OdeSolver::World)];

    /// The word files use.
    pub fn word(self) -> &'static str {
        match self {
            OdeSolver::Quick => "quick",
            OdeSolver::World => "world",
        }
    }
}

impl Default for Physics {
    fn default() -> Physics {
        Physics {
            step: SimDuration::from_nanos(1_000_000),
            real_time_factor: 1.0,
            engine: None,
            max_contacts: None,
            ode: OdeSettings::default(),
            native: NativeSettings::default(),
        }
    }
}

/// A robot or a thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Unique among its siblings.
    pub name: String,
    /// Where the model's frame is in the frame that holds it (world or outer model).
    pub parent_from_model: Transform,
    /// Never moves; also when an outer model is static.
    pub is_static: bool,
    /// Links of the same model collide with each other.
    pub self_collide: bool,
    /// The link that gives the model its pose; the first one where the file names none.
    pub canonical_link: Option<String>,
    /// How it moves inside the native engine (`headland:detail`).
    pub detail: Option<Detail>,
    /// Its rigid bodies.
    pub links: Vec<Link>,
    /// Its joints; link names are relative to this model (`arm::wrist` for a nested one).
    pub joints: Vec<Joint>,
    /// Its named frames, in the model's frame.
    pub frames: Vec<Frame>,
    /// Models inside this one.
    pub models: Vec<Model>,
    /// Motors that take commands (from MJCF, or `headland:actuator`).
    pub actuators: Vec<Actuator>,
    /// Pairs of links that never collide, by names relative to this model.
    pub contact_excludes: Vec<(String, String)>,
    /// Pairs of links that collide although a joint makes them neighbours or the model does not
    /// collide with itself, by names relative to this model (`headland:contact_pair`).
    pub contact_pairs: Vec<(String, String)>,
    /// Sets of links that never touch each other, by names relative to this model
    /// (`headland:contact_set`).
    pub contact_sets: Vec<Vec<String>>,
    /// Which of its bodies take part in contacts (`headland:touches`).
    pub touches: Touches,
    /// What it stands on (`headland:foot`).
    pub feet: Vec<Foot>,
    /// What it rolls on (`headland:wheel`).
    pub wheels: Vec<Wheel>,
    /// Who is to move it (`headland:controller`).
    pub controllers: Vec<ControllerWish>,
    /// Sensors, plugins and the like: kept, not interpreted.
    pub opaque: Vec<Opaque>,
}

/// One rigid body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// Unique in its model.
    pub name: String,
    /// Where the link is in its model's frame before time starts.
    pub model_from_link: Transform,
    /// Mass, centre and inertia, and how we know them.
    pub inertial: Inertial,
    /// Shapes that touch.
    pub collisions: Vec<Collision>,
    /// Shapes that are seen.
    pub visuals: Vec<Visual>,
    /// Gravity pulls on it.
    pub gravity: bool,
    /// Moves as told and is not pushed.
    pub kinematic: bool,
    /// Velocity before time starts, in the world's frame (`headland:twist`).
    pub initial_twist: Twist,
    /// Lights that move with the link.
    pub lights: Vec<Light>,
    /// Damping of free motion \[1/s\], linear and angular (SDF `velocity_decay`).
    pub velocity_decay: (f64, f64),
    /// Sensors and the like: kept, not interpreted.
    pub opaque: Vec<Opaque>,
}

/// Velocity of a link's origin and its angular velocity, both in the world's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// \[m/s\]
    pub linear: Vec3,
    /// \[rad/s\]
    pub angular: Vec3,
}

/// A shape that touches.
#[derive(Clone, Debug, PartialEq)]
pub struct Collision {
    /// Unique in its link.
    pub name: String,
    /// Where the shape is in its link's frame.
    pub link_from_shape: Transform,
    /// Its form.
    pub geometry: Geometry,
    /// What it is like to touch.
    pub surface: Surface,
}

/// What a shape is like to touch. `None` means the file did not say; the method of the
/// same name gives SDF's default, and an engine can tell the difference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// What a laser gets back of it, in the units of the one who measured; SDF writes it beside
    /// the surface.
    pub laser_retro: Option<f64>,
    /// Coulomb friction along the first direction.
    pub mu: Option<f64>,
    /// Coulomb friction along the second direction.
    pub mu2: Option<f64>,
    /// First friction direction in the shape's frame, for friction that differs by direction.
    pub friction_direction: Option<Vec3>,
    /// Force-dependent slip along the two directions \[m/s/N\].
    pub slip: Option<(f64, f64)>,
    /// Torsional friction coefficient and patch radius \[m\].
    pub torsional: Option<(f64, f64)>,
    /// Rolling friction coefficient: kept for whoever reads the file, no engine is given it.
    pub rolling: Option<f64>,
    /// Coefficient of restitution.
    pub restitution: Option<f64>,
    /// Speed below which nothing bounces \[m/s\].
    pub bounce_threshold: Option<f64>,
    /// Contact stiffness \[N/m\].
    pub stiffness: Option<f64>,
    /// Contact damping \[N·s/m\].
    pub damping: Option<f64>,
    /// Constraint force mixing.
    pub soft_cfm: Option<f64>,
    /// Error reduction per step.
    pub soft_erp: Option<f64>,
    /// Fastest correction of penetration \[m/s\].
    pub max_correction_speed: Option<f64>,
    /// Penetration that is left alone \[m\].
    pub min_depth: Option<f64>,
    /// Which categories of shapes it collides with, a bit each.
    pub collide_bitmask: Option<u32>,
    /// Which categories it is of itself; those it collides with where nothing is said.
    pub category_bitmask: Option<u32>,
    /// The kind of surface (`headland:surface_type`), for laws given per pair of kinds.
    pub surface_type: Option<String>,
}

impl Surface {
    /// Coulomb friction along the first direction; SDF's default is 1.
    pub fn mu(&self) -> f64 {
        self.mu.unwrap_or(1.0)
    }
    /// Coulomb friction along the second direction; as the first where only that is said.
    pub fn mu2(&self) -> f64 {
        self.mu2.or(self.mu).unwrap_or(1.0)
    }
    /// Coefficient of restitution; SDF's default is 0.
    pub fn restitution(&self) -> f64 {
        self.restitution.unwrap_or(0.0)
    }
    /// Which categories it collides with; SDF's default is all.
    pub fn collide_bitmask(&self) -> u32 {
        self.collide_bitmask.unwrap_or(0xffff)
    }
    /// Which categories it is of; SDF's default is those it collides with.
    pub fn category_bitmask(&self) -> u32 {
        self.category_bitmask.unwrap_or(self.collide_bitmask())
    }
    /// Whether the masks let two shapes touch: it is enough that one collides with a category of
    /// the other. The rule of SDF, and of MuJoCo with `contype` for category and `conaffinity`.
    pub fn masks_meet(&self, other: &Surface) -> bool {
        self.category_bitmask() & other.collide_bitmask() != 0
            || other.category_bitmask() & self.collide_bitmask() != 0
    }
}

/// A shape that is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Visual {
    /// Unique in its link.
    pub name: String,
    /// Where the shape is in its link's frame.
    pub link_from_shape: Transform,
    /// Its form.
    pub geometry: Geometry,
    /// Its colours.
    pub material: Material,
    /// 0 opaque, 1 invisible.
    pub transparency: f64,
    /// Throws a shadow.
    pub cast_shadows: bool,
}

/// Colours, each red, green, blue, alpha in 0 to 1; `None` where the file does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// Under ambient light.
    pub ambient: Option<[f64; 4]>,
    /// Under direct light.
    pub diffuse: Option<[f64; 4]>,
    /// Of highlights.
    pub specular: Option<[f64; 4]>,
    /// Given off.
    pub emissive: Option<[f64; 4]>,
    /// What a laser gets back of it, in the units of the one who measured; SDF writes it beside
    /// the material.
    pub laser_retro: Option<f64>,
    /// A texture image, as the file names it.
    pub texture: Option<String>,
    /// The file that is meant, where it was found.
    pub texture_file: Option<Arc<TextureFile>>,
    /// Material scripts, PBR maps and the like: kept, not interpreted.
    pub opaque: Vec<Opaque>,
}

/// A picture that a material names, as it is on disk: whoever draws decodes it.
#[derive(Clone, PartialEq, Eq)]
pub struct TextureFile {
    /// Where it was found.
    pub path: String,
    /// All of it.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for TextureFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} bytes)", self.path, self.bytes.len())
    }
}

/// A named frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Unique in its scope.
    pub name: String,
    /// Where it is in the frame of the model (or world) that declares it.
    pub scope_from_frame: Transform,
    /// The link, joint, model or frame it moves with, as the file names it.
    pub attached_to: Option<String>,
}

/// A light.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// Unique in its scope.
    pub name: String,
    /// What kind of light.
    pub kind: LightKind,
    /// Where it is in the frame of its scope (world or link).
    pub scope_from_light: Transform,
    /// Colour under direct light.
    pub diffuse: [f64; 4],
    /// Colour of highlights.
    pub specular: [f64; 4],
    /// The way it shines.
    pub direction: Vec3,
    /// Brightness.
    pub intensity: f64,
    /// How it fades: range \[m\], constant, linear, quadratic.
    pub attenuation: [f64; 4],
    /// Makes shadows.
    pub cast_shadows: bool,
    /// Of a spot: inner angle \[rad\], outer angle \[rad\], falloff.
    pub spot: Option<[f64; 3]>,
}

/// The kinds of light SDF knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightKind {
    /// Shines every way.
    Point,
    /// Shines in a cone.
    Spot,
    /// The sun.
    Directional,
}

/// A named place a test can ask about: `ball inside: goal`.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Unique in the world.
    pub name: String,
    /// Where the region's own frame is.
    pub world_from_region: Transform,
    /// A box, sphere, cylinder or extruded polyline.
    pub geometry: Geometry,
}

/// A motor that takes commands.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Unique in its model.
    pub name: String,
    /// The joint it drives, relative to the model.
    pub joint: String,
    /// What a command means to it.
    pub kind: ActuatorKind,
    /// Transmission: joint effort = `gear` × motor effort.
    pub gear: f64,
    /// Commands are clamped to this range.
    pub command_range: Option<(f64, f64)>,
    /// Efforts are clamped to this range \[N or N·m\].
    pub effort_range: Option<(f64, f64)>,
    /// What it can give at which speed; no limit where it is not said.
    pub torque_speed: Option<TorqueSpeed>,
    /// How often it computes its effort, which it holds in between \[Hz\]; all the time where
    /// it is not said.
    pub rate: Option<f64>,
}

impl Default for Actuator {
    /// A motor without a name or a joint that gives what it is told.
    fn default() -> Actuator {
        Actuator {
            name: String::new(),
            joint: String::new(),
            kind: ActuatorKind::Motor,
            gear: 1.0,
            command_range: None,
            effort_range: None,
            torque_speed: None,
            rate: None,
        }
    }
}

/// What a command means to a motor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActuatorKind {
    /// An effort.
    Motor,
    /// A position, held with stiffness `kp` and damping `kv`.
    Position {
        /// \[N·m/rad or N/m\]
        kp: f64,
        /// \[N·m·s/rad or N·s/m\]
        kv: f64,
    },
    /// A velocity, held with gain `kv`.
    Velocity {
        /// \[N·m·s/rad or N·s/m\]
        kv: f64,
    },
}

/// Something a file says that this crate keeps without understanding: a sensor, an
/// actor, a plugin. Whoever understands it parses `xml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// The language it is written in: `sdf`, `urdf` or `mjcf`.
    pub format: &'static str,
    /// The element's name: `sensor`, `plugin`, …
    pub kind: String,
    /// Its `name` attribute, where it has one.
    pub name: Option<String>,
    /// The element as written, from `<` to `>`.
    pub xml: String,
}

impl Opaque {
    /// Whether it is the plugin by which Gazebo gives things the labels that segmentation cameras
    /// show.
    pub fn is_label(&self) -> bool {
        let is_named = |name: &String| name.ends_with("systems::Label");
        self.kind == "plugin" && self.name.as_ref().is_some_and(is_named)
    }
}

/// One link of a world with everything its model says about it.
#[derive(Clone, Debug)]
pub struct PlacedLink<'a> {
    /// The whole name: `robot::arm::wrist`.
    pub name: String,
    /// The link itself.
    pub link: &'a Link,
    /// Where it is before time starts.
    pub world_from_link: Transform,
    /// The same in the outermost model's frame: equal to the bit for two robots of one model,
    /// wherever they stand.
    pub robot_from_link: Transform,
    /// Its model, or an outer one, never moves.
    pub is_static: bool,
    /// The innermost model that holds it.
    pub model: &'a Model,
    /// The outermost model's name; links of one robot share it.
    pub robot: &'a str,
}

/// One joint of a world with whole names.
#[derive(Clone, Debug)]
pub struct PlacedJoint<'a> {
    /// The whole name: `robot::arm::elbow`.
    pub name: String,
    /// What the joint's own link names are relative to: `robot::arm`, empty for the world.
    pub scope: String,
    /// The joint itself.
    pub joint: &'a Joint,
    /// The outermost model's name; empty for a joint of the world itself.
    pub robot: &'a str,
}

impl World {
    /// Every link, with its whole name and its pose in the world; outer before inner,
    /// otherwise in file order.
    pub fn links(&self) -> Vec<PlacedLink<'_>> {
        let mut out = Vec::new();
        self.visit_models(&mut |at| {
            out.extend(at.model.links.iter().map(|link| PlacedLink {
                name: format!("{}::{}", at.scope, link.name),
                link,
                robot_from_link: at.robot_from_model * link.model_from_link,
                world_from_link: at.world_from_model * link.model_from_link,
                is_static: at.is_static,
                model: at.model,
                robot: at.robot,
            }));
        });
        out
    }

    /// Every joint, with its whole name; those of the world itself last.
    pub fn joints(&self) -> Vec<PlacedJoint<'_>> {
        let mut out = Vec::new();
        self.visit_models(&mut |at| {
            out.extend(at.model.joints.iter().map(|joint| PlacedJoint {
                name: format!("{}::{}", at.scope, joint.name),
                scope: at.scope.to_string(),
                joint,
                robot: at.robot,
            }));
        });
        out.extend(self.joints.iter().map(|joint| PlacedJoint {
            name: joint.name.clone(),
            scope: String::new(),
            joint,
            robot: "",
        }));
        out
    }

    /// Calls `see` for every model, outer before inner, with its whole name and pose.
    pub fn visit_models<'a>(&'a self, see: &mut impl FnMut(ModelAt<'a, '_>)) {
        for model in &self.models {
            let frames = (model.parent_from_model, Transform::IDENTITY);
            visit(model, "", frames, false, &model.name, see);
        }
    }
}

/// Names of files a world uses, for whoever moves the world.
impl World {
    /// The same world with every name of a mesh, heightmap or texture changed by `rename`.
    pub fn with_uris(mut self, rename: &dyn Fn(&str) -> String) -> World {
        self.models.iter_mut().for_each(|model| rename_uris(model, rename));
        self
    }
}

fn rename_uris(model: &mut Model, rename: &dyn Fn(&str) -> String) {
    for link in &mut model.links {
        let textures = link.visuals.iter_mut().filter_map(|v| v.material.texture.as_mut());
        textures.for_each(|texture| *texture = rename(texture));
        let touching = link.collisions.iter_mut().map(|collision| &mut collision.geometry);
        let seen = link.visuals.iter_mut().map(|visual| &mut visual.geometry);
        for geometry in touching.chain(seen) {
            if let Geometry::Mesh { uri, .. } | Geometry::Heightmap { uri, .. } = geometry {
                *uri = rename(uri);
            }
        }
    }
    model.models.iter_mut().for_each(|inner| rename_uris(inner, rename));
}

/// A model as [`World::visit_models`] meets it.
#[derive(Clone, Copy, Debug)]
pub struct ModelAt<'a, 's> {
    /// The model.
    pub model: &'a Model,
    /// Its whole name: `robot::arm`.
    pub scope: &'s str,
    /// Where its frame is.
    pub world_from_model: Transform,
    /// Where its frame is in the outermost model's.
    pub robot_from_model: Transform,
    /// It, or a model around it, never moves.
    pub is_static: bool,
    /// The outermost model's name.
    pub robot: &'a str,
}

/// Readers bound the nesting of models, so the recursion is shallow.
fn visit<'a>(
    model: &'a Model,
    outer_scope: &str,
    (world_from_model, robot_from_model): (Transform, Transform),
    outer_is_static: bool,
    robot: &'a str,
    see: &mut impl FnMut(ModelAt<'a, '_>),
) {
    let scope = join_scope(outer_scope, &model.name);
    let is_static = outer_is_static || model.is_static;
    see(ModelAt { model, scope: &scope, world_from_model, robot_from_model, is_static, robot });
    for inner in &model.models {
        let from_inner = inner.parent_from_model;
        let frames = (world_from_model * from_inner, robot_from_model * from_inner);
        visit(inner, &scope, frames, is_static, robot, see);
    }
}

/// `outer::inner`, or just `inner` in the world's own scope.
pub fn join_scope(outer: &str, inner: &str) -> String {
    if outer.is_empty() { inner.to_string() } else { format!("{outer}::{inner}") }
}
