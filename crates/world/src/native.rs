//! What a world says to our own engine, `native`: how closely each robot is moved, by which
//! law things touch, what a robot stands and rolls on, who steers it.
//!
//! Other engines move everything as deep as they can and have their own laws of contact, so
//! most of this is nothing to them; who touches whom ([`Touches`], contact sets) and what a
//! motor can do ([`TorqueSpeed`]) means the same to all.

use headland_base::{Diagnostic, Transform, names};

use crate::world::{Model, World, join_scope};

/// How one robot moves inside the native engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Its stance foot stands, the rest follows the joints; it cannot fall.
    Kinematic,
    /// Rolls on its wheels.
    Vehicle,
    /// One body: centre of mass and inertia stay as they are in the first pose.
    ComFixed,
    /// One body whose centre of mass and inertia are computed anew in every step.
    Com,
    /// Full multibody dynamics.
    Articulated,
}

impl Detail {
    /// Every level, from cheap to deep, with the word files use.
    pub const ALL: &[(&str, Detail)] = &[
        ("kinematic", Detail::Kinematic),
        ("vehicle", Detail::Vehicle),
        ("com-fixed", Detail::ComFixed),
        ("com", Detail::Com),
        ("articulated", Detail::Articulated),
    ];

    /// The word files use.
    pub fn word(self) -> &'static str {
        word_of(Detail::ALL, self)
    }
}

/// A foot: the flat of it is what a robot stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct Foot {
    /// The link, relative to the model.
    pub link: String,
    /// Where the sole is in the link's frame: x forward, z up, in the sole's middle. `None`
    /// leaves it to the link's collision shapes.
    pub link_from_sole: Option<Transform>,
    /// Length along x and width along y \[m\]; `None` leaves it to the link's collision shapes.
    pub size: Option<[f64; 2]>,
}

/// A wheel: it rolls about the axis of its joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Wheel {
    /// The joint it turns on, relative to the model.
    pub joint: String,
    /// From the axis to the ground \[m\].
    pub radius: f64,
    /// The joint that turns the wheel about the upright, relative to the model.
    pub steers_by: Option<String>,
}

/// Which bodies of a robot take part in contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Touches {
    /// All that have shapes.
    #[default]
    All,
    /// None: it goes through everything.
    None,
    /// The links of its feet.
    Feet,
    /// These links, relative to the model.
    Links(Vec<String>),
}

impl Touches {
    /// Every choice that has a word of its own, with the word files use.
    pub const WORDS: &[(&str, Touches)] =
        &[("all", Touches::All), ("none", Touches::None), ("feet", Touches::Feet)];
}

/// What a world asks of the native engine; nothing where it says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeSettings {
    /// How things push each other.
    pub law: Option<ContactLaw>,
    /// How motion goes from one step to the next.
    pub integrator: Option<Integrator>,
    /// Numbers of the law, per pair of kinds of surface.
    pub surface_laws: Vec<SurfaceLaw>,
}

/// How things that touch push each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactLaw {
    /// A spring that gives back less than it took; friction grows with the speed.
    Soft,
    /// The same, with friction capped by Coulomb's cone.
    SoftCoulomb,
    /// Impulses that keep bodies apart, inside a true friction cone; what sticks does not creep.
    Hard,
}

impl ContactLaw {
    /// Every law with the word files use.
    pub const ALL: &[(&str, ContactLaw)] = &[
        ("soft", ContactLaw::Soft),
        ("soft-coulomb", ContactLaw::SoftCoulomb),
        ("hard", ContactLaw::Hard),
    ];

    /// The word files use.
    pub fn word(self) -> &'static str {
        word_of(ContactLaw::ALL, self)
    }
}

/// How motion goes from one step to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Integrator {
    /// Semi-implicit Euler: velocities first, then positions by them.
    SemiImplicit,
    /// Runge and Kutta's of fourth order.
    Rk4,
    /// As many steps inside one as the error asks for.
    Adaptive {
        /// The error a step may make; `None` leaves it to the engine.
        tolerance: Option<f64>,
    },
}

impl Integrator {
    /// Every integrator with the word files use; the adaptive one without a tolerance.
    pub const ALL: &[(&str, Integrator)] = &[
        ("semi-implicit", Integrator::SemiImplicit),
        ("rk4", Integrator::Rk4),
        ("adaptive", Integrator::Adaptive { tolerance: None }),
    ];

    /// The loosest tolerance: from there on any step is good enough, and nothing adapts.
    pub const LOOSEST: f64 = 0.1;

    /// Whether an error could be held within this.
    pub fn is_tolerance(tolerance: f64) -> bool {
        tolerance > 0.0 && tolerance <= Integrator::LOOSEST
    }

    /// The word files use; the tolerance stands beside it.
    pub fn word(self) -> &'static str {
        match self {
            Integrator::SemiImplicit => "semi-implicit",
            Integrator::Rk4 => "rk4",
            Integrator::Adaptive { .. } => "adaptive",
        }
    }

    /// The tolerance, where one is given.
    pub fn tolerance(self) -> Option<f64> {
        match self {
            Integrator::Adaptive { tolerance } => tolerance,
            Integrator::SemiImplicit | Integrator::Rk4 => None,
        }
    }
}

/// The numbers of contact between two kinds of surface (`headland:surface_type`); where one
/// is `None` the default row, or else the engine, has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceLaw {
    /// One kind; `None`, with `second`, is the default row.
    pub first: Option<String>,
    /// The other kind, or the same.
    pub second: Option<String>,
    /// Force per depth while bodies close in \[N/m\].
    pub stiffness: Option<f64>,
    /// Share of that force while they separate, 0 to 1; what bounces keeps its root of the
    /// speed.
    pub separation: Option<f64>,
    /// Friction per normal force and sliding speed \[s/m\].
    pub sliding: Option<f64>,
    /// Friction torque per normal force and spinning speed \[m·s\].
    pub spinning: Option<f64>,
    /// Coulomb's coefficient, for laws that have a cone.
    pub mu: Option<f64>,
}

impl SurfaceLaw {
    /// The numbers with the words files use, in their order.
    pub fn numbers(&self) -> [(&'static str, Option<f64>); 5] {
        [
            ("stiffness", self.stiffness),
            ("separation", self.separation),
            ("sliding", self.sliding),
            ("spinning", self.spinning),
            ("mu", self.mu),
        ]
    }
}

/// What a motor can give at which speed, seen from its own side of the gear: from
/// `stall_effort` at rest its effort in the direction of motion falls linearly to nothing at
/// `no_load_speed`. Against the motion it gives all of `stall_effort`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorqueSpeed {
    /// At rest \[N·m or N\].
    pub stall_effort: f64,
    /// Where nothing is left \[rad/s or m/s\].
    pub no_load_speed: f64,
}

/// A controller that a model wants to be moved by. Whoever has controllers looks it up.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerWish {
    /// Which one: `player`.
    pub kind: String,
    /// How often it runs \[Hz\]; `None` leaves it to the controller.
    pub rate_hz: Option<f64>,
    /// What else it is told, as name and text, in file order.
    pub parameters: Vec<(String, String)>,
}

impl World {
    /// The model of a whole name (`robot::arm`), to be changed.
    pub fn model_mut(&mut self, whole: &str) -> Option<&mut Model> {
        find_model(&mut self.models, "", whole)
    }

    /// Moves a model at this detail, whatever its file says; `all` is every model with joints
    /// that is not static: the robots. Names the nearest model where there is none of the name.
    pub fn set_detail(&mut self, whole: &str, detail: Detail) -> Result<(), Diagnostic> {
        if whole == ALL_ROBOTS {
            return self.set_every_detail(detail);
        }
        if let Some(model) = self.model_mut(whole) {
            if model.is_static {
                let message = format!("`{whole}` is static: at no detail does it move");
                return Err(Diagnostic::error("static-model", message)
                    .help("take <static> out of the model, or name another"));
            }
            model.detail = Some(detail);
            return Ok(());
        }
        let mut known = Vec::new();
        self.visit_models(&mut |at| known.push(at.scope.to_string()));
        let known = known.iter().map(String::as_str).chain([ALL_ROBOTS]);
        Err(Diagnostic::error("unknown-model", format!("there is no model `{whole}`"))
            .help_maybe(names::suggestion(whole, known)))
    }

    fn set_every_detail(&mut self, detail: Detail) -> Result<(), Diagnostic> {
        let robots = self.models.iter_mut().filter(|model| !model.is_static && has_joints(model));
        let n_robots = robots.map(|robot| robot.detail = Some(detail)).count();
        if n_robots == 0 {
            return Err(Diagnostic::error("unknown-model", "no model here has joints")
                .note(format!("`{ALL_ROBOTS}` means every model with joints that is not static"))
                .help("name the model"));
        }
        Ok(())
    }

    /// Whether each link of [`World::links`] takes part in contacts, as the models around it
    /// say.
    pub fn touching_links(&self) -> Vec<bool> {
        let mut out = Vec::new();
        for model in &self.models {
            touching(model, &|_| true, &mut out);
        }
        out
    }
}

/// The name that means every robot to [`World::set_detail`].
pub const ALL_ROBOTS: &str = "all";

fn has_joints(model: &Model) -> bool {
    !model.joints.is_empty() || model.models.iter().any(has_joints)
}

fn find_model<'m>(models: &'m mut [Model], scope: &str, whole: &str) -> Option<&'m mut Model> {
    for model in models {
        let name = join_scope(scope, &model.name);
        if name == whole {
            return Some(model);
        }
        if whole.strip_prefix(&name).is_some_and(|rest| rest.starts_with("::"))
            && let Some(found) = find_model(&mut model.models, &name, whole)
        {
            return Some(found);
        }
    }
    None
}

/// Outer before inner, in the order of [`World::links`]; `outer` is asked by names relative
/// to this model. Readers bound the nesting, so the recursion is shallow.
fn touching(model: &Model, outer: &dyn Fn(&str) -> bool, out: &mut Vec<bool>) {
    let feet: Vec<String> =
        if model.touches == Touches::Feet { feet_of(model, "") } else { Vec::new() };
    let takes_part = |link: &str| {
        let by_own = match &model.touches {
            Touches::All => true,
            Touches::None => false,
            Touches::Feet => feet.iter().any(|foot| foot == link),
            Touches::Links(links) => links.iter().any(|name| name == link),
        };
        by_own && outer(link)
    };
    out.extend(model.links.iter().map(|link| takes_part(&link.name)));
    for inner in &model.models {
        touching(inner, &|link| takes_part(&join_scope(&inner.name, link)), out);
    }
}

/// The links of all feet of a model and the models in it, relative to `scope`.
pub(crate) fn feet_of(model: &Model, scope: &str) -> Vec<String> {
    let own = model.feet.iter().map(|foot| join_scope(scope, &foot.link));
    let inner =
        model.models.iter().flat_map(|inner| feet_of(inner, &join_scope(scope, &inner.name)));
    own.chain(inner).collect()
}

fn word_of<T: Copy + PartialEq>(all: &[(&'static str, T)], one: T) -> &'static str {
    all.iter().find(|(_, it)| *it == one).map(|(word, _)| *word).expect("every one is listed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Link;

    fn model(name: &str, links: &[&str], touches: Touches, models: Vec<Model>) -> Model {
        let links = links.iter().map(|name| Link { name: name.to_string(), ..Link::default() });
        Model { name: name.into(), links: links.collect(), touches, models, ..Model::default() }
    }

    #[test]
    fn who_touches_is_what_all_models_around_a_link_allow() {
        let links = |names: &[&str]| Touches::Links(names.iter().map(|s| s.to_string()).collect());
        let foot = |link: &str| Foot { link: link.to_string(), link_from_sole: None, size: None };
        let mut leg = model("leg", &["shin", "sole"], Touches::All, vec![]);
        leg.feet.push(foot("sole"));
        let walker = model("walker", &["trunk", "sole"], Touches::Feet, vec![leg]);
        let hand = model("hand", &["palm", "tip"], links(&["tip"]), vec![]);
        let arm =
            model("arm", &["upper"], links(&["upper", "hand::tip", "hand::palm"]), vec![hand]);
        let ghost = model("ghost", &["sheet"], Touches::None, vec![]);
        let world = World { models: vec![walker, arm, ghost], ..World::default() };
        let names: Vec<String> = world.links().into_iter().map(|link| link.name).collect();
        let touching: Vec<&str> = names
            .iter()
            .zip(world.touching_links())
            .filter_map(|(name, touches)| touches.then_some(name.as_str()))
            .collect();
        assert_eq!(touching, ["walker::leg::sole", "arm::upper", "arm::hand::tip"]);
        assert_eq!(names.len(), world.touching_links().len());
    }

    #[test]
    fn details_are_set_by_whole_names_and_for_all_robots() {
        let joint = || crate::Joint {
            name: "j".into(),
            parent: None,
            child: "l".into(),
            child_from_joint: Transform::IDENTITY,
            kind: crate::JointKind::Ball,
            opaque: Vec::new(),
        };
        let inner = Model { joints: vec![joint()], ..model("leg", &["l"], Touches::All, vec![]) };
        let goal = Model {
            is_static: true,
            joints: vec![joint()],
            ..model("goal", &["l"], Touches::All, vec![])
        };
        let ball = model("ball", &["l"], Touches::All, vec![]);
        let robot = model("robot", &["l"], Touches::All, vec![inner]);
        let robot2 = model("robot2", &["l"], Touches::All, vec![]);
        let mut world = World { models: vec![robot, robot2, goal, ball], ..World::default() };
        world.set_detail("all", Detail::Com).unwrap();
        world.set_detail("robot::leg", Detail::Kinematic).unwrap();
        let mut details = Vec::new();
        world.visit_models(&mut |at| details.push((at.scope.to_string(), at.model.detail)));
        let wanted = [
            ("robot", Some(Detail::Com)),
            ("robot::leg", Some(Detail::Kinematic)),
            ("robot2", None),
            ("goal", None),
            ("ball", None),
        ];
        assert_eq!(details, wanted.map(|(name, detail)| (name.to_string(), detail)));
        let fault = world.set_detail("robto", Detail::Com).unwrap_err();
        assert_eq!(fault.help.as_deref(), Some("did you mean `robot`?"));
        assert_eq!(world.set_detail("goal", Detail::Com).unwrap_err().code, "static-model");
        world.models.remove(0);
        assert!(world.set_detail("all", Detail::Com).is_err(), "nobody is meant");
    }

    #[test]
    fn every_word_is_its_own() {
        assert!(Detail::ALL.iter().all(|(word, it)| it.word() == *word));
        assert!(ContactLaw::ALL.iter().all(|(word, it)| it.word() == *word));
        assert!(Integrator::ALL.iter().all(|(word, it)| it.word() == *word));
    }
}
