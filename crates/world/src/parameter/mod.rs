//! Numbers of a world by name: what a person sets and a search tunes.
//!
//! ```text
//! link/arm/inertial/mass            joint/elbow/dynamics/damping       physics/step
//! link/arm/inertial/com/x           joint/elbow/limit/effort           physics/gravity/z
//! link/arm/inertial/inertia/ixx     actuator/elbow_motor/kp            command/delay
//! surface/arm/mu                    model/left/link/arm/inertial/mass  gains/kp
//! ```
//!
//! A path is the kind of thing, its name and the number. `model/NAME/` before it says whose,
//! where several models have a thing of the name; the word `model/` alone may stand there too. A
//! star stands for anything, slashes included: `surface/*/mu*` is one value for every surface.
//!
//! Two kinds of numbers are no part of a World, because SDF has no place for them: how late
//! commands arrive and the gains of axes whose motors have none. They are [`Settings`], which
//! stand beside the World in a [`Subject`]; a run is told them with `--command-delay` and
//! `--gains`.
//!
//! Inertia stays that of a body: a value that breaks the triangle inequality is refused, and the
//! paths under `inertial/pseudo/` are ten numbers of which every choice is a body
//! ([`pseudo`]). `inertial/mass_scaled` and `inertial/inertia/trace` scale what is there and
//! cannot leave it either.
//!
//! Deliberately absent: who chooses values, and how.

mod field;
pub mod pseudo;

use std::collections::BTreeMap;

use headland_base::{Diagnostic, glob, names};

use crate::{Actuator, Axis, JointKind, Link, Model, Surface, World};
use field::{ACTUATOR, AXIS, Domain, Field, LINK, SETTINGS, SURFACE, WORLD};

/// What has parameters: a world and what a run is told beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// What is there.
    pub world: World,
    /// What the run is told.
    pub settings: Settings,
}

/// What a run is told beside the world and SDF has no place for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// How long after its stamp a command takes effect \[s\].
    pub command_delay: f64,
    /// Effort per position and per velocity error, of axes whose motors have no gains.
    pub gains: Option<(f64, f64)>,
}

/// One number of a [`Subject`], found.
#[derive(Clone)]
pub struct Parameter {
    path: String,
    whole_path: String,
    order: usize,
    slot: Slot,
}

/// Where a number is. Models by their indices from the outermost in; joints of the world itself
/// have none.
#[derive(Clone)]
enum Slot {
    World(&'static Field<World>),
    Settings(&'static Field<Settings>),
    Link(Vec<usize>, usize, &'static Field<Link>),
    Surface(Vec<usize>, usize, usize, &'static Field<Surface>),
    Axis(Vec<usize>, usize, usize, &'static Field<Axis>),
    Actuator(Vec<usize>, usize, &'static Field<Actuator>),
}

impl std::fmt::Debug for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Parameter({})", self.path)
    }
}

impl PartialEq for Parameter {
    fn eq(&self, other: &Parameter) -> bool {
        self.whole_path == other.whole_path
    }
}

/// Every number that has a name, in the world's order.
pub fn list(world: &World) -> Vec<Parameter> {
    let mut lister = Lister::default();
    WORLD.iter().for_each(|field| lister.add("", field.name, "", Slot::World(field)));
    SETTINGS.iter().for_each(|field| lister.add("", field.name, "", Slot::Settings(field)));
    for (i, model) in world.models.iter().enumerate() {
        lister.model(model, "", &[i], model.is_static);
    }
    lister.joints("", &[], world.joints.iter().map(|joint| (&joint.name, &joint.kind)));
    lister.finish()
}

/// The numbers a path names: one, or all that fit where it has a star. Never none.
pub fn find(world: &World, path: &str) -> Result<Vec<Parameter>, Diagnostic> {
    find_in(&list(world), path)
}

/// [`find`] in a list that is there already.
pub fn find_in(all: &[Parameter], path: &str) -> Result<Vec<Parameter>, Diagnostic> {
    let pattern = if let Some(number) = path.strip_prefix("surface/").filter(|x| !x.contains('/')) {
        format!("surface/*/{number}")
    } else {
        path.to_string()
    };
    let found: Vec<Parameter> =
        all.iter().filter(|parameter| parameter.fits(&pattern)).cloned().collect();
    if found.is_empty() {
        return Err(unknown(all, path));
    }
    if found.len() > 1 && !pattern.contains('*') {
        let message = format!("`{path}` could be any of {}", found.len());
        let listed: Vec<_> = found.iter().take(4).map(|p| format!("`{}`", p.whole_path)).collect();
        return Err(Diagnostic::error("ambiguous-parameter", message)
            .note(listed.join(", "))
            .help("write the model's name too, or a star for all of them"));
    }
    Ok(found)
}

fn unknown(all: &[Parameter], path: &str) -> Diagnostic {
    // The nearest of any spelling, shown in the one that was meant.
    let spellings: Vec<String> = all.iter().flat_map(Parameter::spellings).collect();
    let near = names::nearest(path, spellings.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean `{near}`?"));
    let same_end = path.rsplit('/').next().unwrap_or(path);
    let alike: Vec<String> = all
        .iter()
        .filter(|p| p.path.rsplit('/').next() == Some(same_end))
        .take(4)
        .map(|p| format!("`{}`", p.path))
        .collect();
    let others = (!alike.is_empty()).then(|| format!("known here: {}", alike.join(", ")));
    let ways = "paths begin with link/, joint/, surface/, actuator/, physics/, command/ or gains/";
    Diagnostic::error("unknown-path", format!("nothing here is called `{path}`"))
        .help(near.or(others).unwrap_or_else(|| ways.to_string()))
}

impl Parameter {
    /// Its shortest name that no other number has: `link/arm/inertial/mass`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its name with its model's: `model/robot/link/arm/inertial/mass`.
    pub fn whole_path(&self) -> &str {
        &self.whole_path
    }

    /// Its place among all: values that are set together are set in this order, so that what
    /// scales others does so before they are set.
    pub fn order(&self) -> usize {
        self.order
    }

    /// What it is measured in. Of joints that slide, metres and newtons.
    pub fn unit(&self, subject: &Subject) -> &'static str {
        match &self.slot {
            Slot::World(field) => field.unit,
            Slot::Settings(field) => field.unit,
            Slot::Link(_, _, field) => field.unit,
            Slot::Surface(_, _, _, field) => field.unit,
            Slot::Actuator(_, _, field) => field.unit,
            Slot::Axis(models, joint, _, field) => {
                match joints_of(&subject.world, models).get(*joint).map(|joint| &joint.kind) {
                    Some(JointKind::Prismatic(_)) => sliding(field.unit),
                    _ => field.unit,
                }
            }
        }
    }

    /// Whether it is in the World, and so in the SDF that is written of it.
    pub fn is_of_world(&self) -> bool {
        !matches!(self.slot, Slot::Settings(_))
    }

    /// Whether it says when commands take effect.
    pub fn is_command_delay(&self) -> bool {
        matches!(self.slot, Slot::Settings(field) if field.name == "command/delay")
    }

    /// Whether it says what a shape is like to touch.
    pub fn is_of_surface(&self) -> bool {
        self.path.split('/').any(|part| part == "surface")
    }

    /// What it is; `None` where nobody said (gains that are not given, a stiffness).
    pub fn get(&self, subject: &Subject) -> Option<f64> {
        let world = &subject.world;
        match &self.slot {
            Slot::World(field) => (field.get)(world),
            Slot::Settings(field) => (field.get)(&subject.settings),
            Slot::Link(models, i, field) => (field.get)(&model_at(world, models).links[*i]),
            Slot::Surface(models, i, j, field) => {
                (field.get)(&model_at(world, models).links[*i].collisions[*j].surface)
            }
            Slot::Axis(models, i, axis, field) => {
                (field.get)(joints_of(world, models)[*i].kind.axes()[*axis])
            }
            Slot::Actuator(models, i, field) => (field.get)(&model_at(world, models).actuators[*i]),
        }
    }

    /// Whether such a number can have this value, whatever the others are.
    pub fn may_be(&self, value: f64) -> bool {
        self.domain().holds(value)
    }

    /// Makes it `value`, or says why it cannot be; then nothing has changed.
    pub fn set(&self, subject: &mut Subject, value: f64) -> Result<(), Diagnostic> {
        let domain = self.domain();
        if !domain.holds(value) {
            let message = format!("`{}` cannot be {value}", self.path);
            return Err(
                Diagnostic::error("bad-value", message).help(format!("it is {}", domain.words()))
            );
        }
        let world = &mut subject.world;
        match &self.slot {
            Slot::World(field) => (field.set)(world, value),
            Slot::Settings(field) => (field.set)(&mut subject.settings, value),
            Slot::Link(models, i, field) => {
                let link = &mut model_at_mut(world, models).links[*i];
                let before = link.inertial.clone();
                (field.set)(link, value);
                let after = &link.inertial;
                if *after != before && !pseudo::is_physical(after.mass, &after.inertia) {
                    link.inertial = before;
                    return Err(self.no_body(value));
                }
            }
            Slot::Surface(models, i, j, field) => {
                (field.set)(
                    &mut model_at_mut(world, models).links[*i].collisions[*j].surface,
                    value,
                );
            }
            Slot::Axis(models, i, axis, field) => {
                let joints = match models.is_empty() {
                    true => &mut world.joints,
                    false => &mut model_at_mut(world, models).joints,
                };
                (field.set)(joints[*i].kind.axes_mut()[*axis], value);
            }
            Slot::Actuator(models, i, field) => {
                (field.set)(&mut model_at_mut(world, models).actuators[*i], value);
            }
        }
        Ok(())
    }

    fn no_body(&self, value: f64) -> Diagnostic {
        let message = format!("no body has the inertia that `{}` = {value} gives", self.path);
        Diagnostic::error("bad-inertia", message)
            .note("the two smaller principal moments must sum up to at least the largest")
            .help(
                "`inertial/inertia/trace` and `inertial/pseudo/*` are numbers that keep a body a \
                 body",
            )
    }

    fn domain(&self) -> Domain {
        match &self.slot {
            Slot::World(field) => field.domain,
            Slot::Settings(field) => field.domain,
            Slot::Link(_, _, field) => field.domain,
            Slot::Surface(_, _, _, field) => field.domain,
            Slot::Axis(_, _, _, field) => field.domain,
            Slot::Actuator(_, _, field) => field.domain,
        }
    }

    fn fits(&self, pattern: &str) -> bool {
        self.spellings().iter().any(|spelling| glob::matches(pattern, spelling))
    }

    /// Every way to write it.
    fn spellings(&self) -> Vec<String> {
        let mut all = vec![self.whole_path.clone()];
        let Some(named) = self.whole_path.strip_prefix("model/") else { return all };
        all.push(named.to_string());
        // A model's name has no slash, a link's could.
        let Some((_, rest)) = named.split_once('/') else { return all };
        all.push(rest.to_string());
        all.push(format!("model/{rest}"));
        if self.path != *rest && !self.path.starts_with("model/") {
            all.push(self.path.clone()); // a surface without the name of its only shape
        }
        all
    }
}

fn sliding(unit: &'static str) -> &'static str {
    match unit {
        "N·m·s/rad" => "N·s/m",
        "N·m/rad" => "N/m",
        "N·m" => "N",
        "rad" => "m",
        "rad/s" => "m/s",
        "kg·m²" => "kg",
        other => other,
    }
}

fn model_at<'a>(world: &'a World, path: &[usize]) -> &'a Model {
    let mut model = &world.models[path[0]];
    for i in &path[1..] {
        model = &model.models[*i];
    }
    model
}

fn model_at_mut<'a>(world: &'a mut World, path: &[usize]) -> &'a mut Model {
    let mut model = &mut world.models[path[0]];
    for i in &path[1..] {
        model = &mut model.models[*i];
    }
    model
}

fn joints_of<'a>(world: &'a World, path: &[usize]) -> &'a [crate::Joint] {
    if path.is_empty() { &world.joints } else { &model_at(world, path).joints }
}

#[derive(Default)]
struct Lister {
    /// Scope, path without it, the same shortened where it can be, place.
    found: Vec<(String, String, String, Slot)>,
}

impl Lister {
    fn add(&mut self, scope: &str, rest: &str, shorter: &str, slot: Slot) {
        self.found.push((scope.to_string(), rest.to_string(), shorter.to_string(), slot));
    }

    fn model(&mut self, model: &Model, outer: &str, path: &[usize], is_static: bool) {
        let scope = crate::join_scope(outer, &model.name);
        for (i, link) in model.links.iter().enumerate() {
            let name = &link.name;
            let moving = LINK.iter().filter(|_| !is_static);
            for field in moving {
                let slot = Slot::Link(path.to_vec(), i, field);
                self.add(&scope, &format!("link/{name}/{}", field.name), "", slot);
            }
            for (j, collision) in link.collisions.iter().enumerate() {
                for field in SURFACE {
                    let rest = format!("surface/{name}/{}/{}", collision.name, field.name);
                    let shorter = match link.collisions.len() {
                        1 => format!("surface/{name}/{}", field.name),
                        _ => String::new(),
                    };
                    let slot = Slot::Surface(path.to_vec(), i, j, field);
                    self.add(&scope, &rest, &shorter, slot);
                }
            }
        }
        self.joints(&scope, path, model.joints.iter().map(|joint| (&joint.name, &joint.kind)));
        for (i, actuator) in model.actuators.iter().enumerate() {
            for field in ACTUATOR.iter().filter(|field| (field.get)(actuator).is_some()) {
                let rest = format!("actuator/{}/{}", actuator.name, field.name);
                self.add(&scope, &rest, "", Slot::Actuator(path.to_vec(), i, field));
            }
        }
        for (i, inner) in model.models.iter().enumerate() {
            let path: Vec<usize> = path.iter().copied().chain([i]).collect();
            self.model(inner, &scope, &path, is_static || inner.is_static);
        }
    }

    fn joints<'a>(
        &mut self,
        scope: &str,
        path: &[usize],
        joints: impl Iterator<Item = (&'a String, &'a JointKind)>,
    ) {
        for (i, (name, kind)) in joints.enumerate() {
            let n_axes = kind.axes().len();
            for axis in 0..n_axes {
                let which = if n_axes > 1 { format!("axis{}/", axis + 1) } else { String::new() };
                let is_endless = matches!(kind, JointKind::Continuous(_));
                let has = |field: &&Field<Axis>| {
                    !(is_endless && matches!(field.name, "limit/lower" | "limit/upper"))
                };
                for field in AXIS.iter().filter(has) {
                    let rest = format!("joint/{name}/{which}{}", field.name);
                    self.add(scope, &rest, "", Slot::Axis(path.to_vec(), i, axis, field));
                }
            }
        }
    }

    fn finish(self) -> Vec<Parameter> {
        let mut n_of: BTreeMap<String, usize> = BTreeMap::new();
        for (_, rest, shorter, _) in &self.found {
            *n_of.entry(rest.clone()).or_default() += 1;
            *n_of.entry(shorter.clone()).or_default() += 1;
        }
        let is_only = |name: &String| !name.is_empty() && n_of.get(name) == Some(&1);
        let named =
            |(order, (scope, rest, shorter, slot)): (usize, (String, String, String, Slot))| {
                let whole_path =
                    if scope.is_empty() { rest.clone() } else { format!("model/{scope}/{rest}") };
                let path = [&shorter, &rest].into_iter().find(|name| is_only(name));
                let path = path.unwrap_or(&whole_path).clone();
                Parameter { path, whole_path, order, slot }
            };
        self.found.into_iter().enumerate().map(named).collect()
    }
}

#[cfg(test)]
mod tests;
