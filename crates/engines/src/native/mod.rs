//! `native`: headland's own engine. Every robot at the detail it was given, in one world.
//!
//! ```text
//! Model ─ start ─► packs of robots (sim::motion), scene and detector (sim::contact)
//! step:  contacts ─► pushes (soft laws) ─► accelerate ─► rows ─► kicks (hard law) ─► finish
//! ```
//!
//! Joints are coordinates here, not constraints, so nothing pulls apart; contacts and what else
//! must be held are rows that `sim::constraint` solves. Robots of one model and detail are
//! packed into lanes, and islands of robots that touch are solved apart from each other: both
//! change the time a step takes and not one bit of it.

mod attainable;
mod choosing;
mod contacts;
mod crew;
mod handing;
mod implausible;
mod islands;
mod joint_rows;
mod lagging;
mod limited;
mod packing;
mod patches;
mod realised;
mod rows;
mod rub;
mod solving;
mod squeezing;
mod stages;
mod strength;
mod sums;
mod wandering;

use std::time::Duration;

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, Severity, SimDuration};
use headland_sim::contact::{Detector, Scene};
use headland_sim::motion::{Drive, Pack, take_faster};
use headland_sim::tree::{Forest, V3, V6};
use headland_sim::{
    Engine, EngineEntry, EngineOptions, Fault, Found, Housing, Inputs, Model, Motion, State,
};
use headland_world::{ContactLaw, Integrator};

use contacts::{Contacts, Friction, Reach, Turn};
use crew::Crew;
use implausible::Watch;
use lagging::Look;
use limited::Limited;
use packing::Packing;
use rows::{Hand, Rows};
use stages::{Inner, Parts};

/// How help pages list it.
pub const ENTRY: EngineEntry = EngineEntry {
    name: "native",
    summary: "embedded; a detail for every robot, exact joints, contacts by three laws",
    housing: Housing::Embedded,
    source: "",
    preparation: Duration::ZERO,
    find: |_| {
        let version = env!("CARGO_PKG_VERSION").to_string();
        Ok(Found { version, place: "part of headland".to_string() })
    },
    limits: &[
        "friction is the same in every direction: the mean of mu and mu2, 10 at most; the soft laws take \
         it, and restitution, from <surface> of headland:native",
        "contact stiffness and damping (kp, kd, soft_cfm, soft_erp) are those of its own laws",
        "a moving mesh touches as a convex hull of at most 1,030 points",
        "slip, torsional friction, friction directions and bounce thresholds are left out",
        "a loop is cut at a joint and held by impulses; a screw cannot close one",
        "robots at the details kinematic, vehicle and com move their joints without forces",
    ],
    install: "nothing to install: it is part of headland",
    make: |_| Box::new(Native::default()),
};

/// Headland's own engine.
#[derive(Default)]
pub struct Native {
    built: Option<Built>,
}

struct Built {
    crew: Crew,
    packing: Packing,
    packs: Vec<Box<dyn Pack>>,
    scene: Scene,
    detector: Detector,
    contacts: Contacts,
    rows: Rows,
    watch: Watch,
    law: ContactLaw,
    integrator: Integrator,
    /// Since the start, this one included: the same for all, whoever else there is.
    n_steps: u64,
    /// Rigids that move at their own velocity, whatever pushes them.
    led: Vec<usize>,
    /// Of what moves, how far from its origin its shapes reach \[m\].
    reaches: Vec<(usize, f64)>,
    inner: Inner,
    parts: Parts,
    limited: Limited,
}

impl Native {
    /// How many inner steps the adaptive integrator has tried since the start, those included
    /// that turned out too long.
    pub fn n_inner_steps(&self) -> u64 {
        self.built.as_ref().map_or(0, |built| built.inner.n_tried)
    }

    /// How many sweeps over contacts there were since the start, because no guess at what they do
    /// was right.
    pub fn n_sweeps(&self) -> u64 {
        self.built.as_ref().map_or(0, |built| built.rows.n_sweeps())
    }
}

impl Engine for Native {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        let mut out = model.massless();
        out.extend(Scene::check(model));
        out.extend(packing::check(model));
        out.extend(implausible::check(model, options.step.secs()));
        out.extend(realised::remarks(model));
        if !out.iter().any(|found| found.severity == Severity::Error) {
            out.extend(realised::first_velocities(model));
        }
        out
    }

    fn start(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        let packing = Packing::of(model);
        let packs = packing.packs(model, state);
        let scene = Scene::of(model, &packing.movers(model, &packs));
        self.built = Some(Built::at(model, state, options, (packing, packs, scene)));
        Ok(())
    }

    fn restart(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        // The shapes of a model and who stands where in which pack do not change.
        let Built { packing, scene, .. } = self.built.take().expect("started");
        let packs = packing.packs(model, state);
        self.built = Some(Built::at(model, state, options, (packing, packs, scene)));
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        let built = self.built.as_mut().expect("started");
        let drive = Drive { model, inputs, dt: dt.secs() };
        built.n_steps += 1;
        match built.integrator {
            Integrator::SemiImplicit => built.step(&drive, state),
            Integrator::Rk4 => built.step_by_stages(&drive, state, None),
            Integrator::Adaptive { tolerance } => {
                built.step_in_parts(&drive, state, tolerance.unwrap_or(TOLERANCE));
            }
        }
        Ok(())
    }

    fn knows_joints(&self) -> bool {
        true
    }

    fn shortens_steps(&self) -> bool {
        true
    }

    /// `hard` looks at gaps and stops what closes them where it touches; springs push when it has.
    fn may_sink(&self, model: &Model) -> Vec<bool> {
        let is_soft = model.world.physics.native.law.is_some_and(|law| law != ContactLaw::Hard);
        let mut out = vec![false; model.rigids.len()];
        for tree in Forest::of(model).trees.iter().filter(|_| is_soft) {
            let may_sink = packing::is_moved_by_forces(model, tree);
            tree.nodes.iter().filter_map(|node| node.rigid_idx).for_each(|i| out[i] = may_sink);
        }
        out
    }

    fn take_remarks(&mut self) -> Vec<String> {
        self.built.as_mut().map_or(Vec::new(), |built| built.watch.take_remarks())
    }
}

/// The error an inner step of the adaptive integrator may make, where nobody says.
const TOLERANCE: f64 = 1e-9;

impl Built {
    fn at(
        model: &Model,
        state: &State,
        options: &EngineOptions,
        (packing, mut packs, scene): (Packing, Vec<Box<dyn Pack>>, Scene),
    ) -> Built {
        packs.iter_mut().for_each(|pack| pack.place(state));
        let native = &model.world.physics.native;
        let n_robots = packs.iter().map(|pack| pack.robots().len()).sum();
        let crew = Crew::of(n_robots, options.n_threads);
        let law = native.law.unwrap_or(ContactLaw::Hard);
        let integrator = native.integrator.unwrap_or(Integrator::SemiImplicit);
        let contacts = Contacts::of(model, scene.reaches());
        Built {
            detector: Detector::new(&scene),
            watch: Watch::of(model, law, integrator, &contacts.laws),
            contacts,
            rows: Rows::of(model, &packs, crew.n_threads()),
            crew,
            law,
            integrator,
            n_steps: 0,
            led: (0..model.rigids.len())
                .filter(|rigid| model.rigids[*rigid].motion == Motion::Kinematic)
                .collect(),
            reaches: scene
                .reaches()
                .filter(|(rigid, _)| model.rigids[*rigid].motion != Motion::Static)
                .collect(),
            inner: Inner::of(options.step.secs()),
            parts: Parts::default(),
            limited: Limited::default(),
            packing,
            packs,
            scene,
        }
    }

    /// Semi-implicit: velocities of the end of the step, then positions by them.
    fn step(&mut self, drive: &Drive<'_>, state: &mut State) {
        let mut limited = std::mem::take(&mut self.limited);
        let drive =
            &Drive { inputs: limited.of(drive, state, |dof| self.rows.gives_way(dof)), ..*drive };
        self.find_contacts(drive, state);
        let look = Look { step: drive.dt, share: 1.0, at_stages: None };
        self.push(drive, state, Some(look), Turn::Step);
        self.crew.each(&mut self.packs, |pack| pack.accelerate(drive));
        self.hold(drive, state, Hand::Kick);
        self.carry_on(drive, state);
        self.limited = limited;
    }

    /// Where things touch, in the poses the state has.
    fn find_contacts(&mut self, drive: &Drive<'_>, state: &State) {
        let reach = Reach::of(drive, self.law);
        let margin = if reach.is_wanted { reach.at_speed(self.fastest_two(state)) } else { 0.0 };
        let points = self.detector.detect(&self.scene, &state.rigids, margin);
        self.contacts.take(drive.model, &self.packing, state, points, &reach);
        if self.law == ContactLaw::Hard {
            self.contacts.flatten(|(pack, ..)| self.packs[pack].gives_way());
        }
    }

    /// Forces from outside and, by the soft laws, those of contacts, on the packs that take them
    /// now.
    fn push(&mut self, drive: &Drive<'_>, state: &State, look: Option<Look>, turn: Turn) {
        for wrench in &drive.inputs.wrenches {
            let Some((pack, robot, node)) = self.packing.seats[wrench.rigid_idx] else { continue };
            let pack = &mut self.packs[pack];
            if !turn.takes(pack.as_ref()) {
                continue;
            }
            let centre = state.rigids[wrench.rigid_idx]
                .world_from_rigid
                .point(drive.model.rigids[wrench.rigid_idx].centre);
            let at = V3::of(centre - pack.origin(robot));
            pack.push(robot, node, V6::force_at(at, V3::of(wrench.force), V3::of(wrench.torque)));
        }
        let friction = match self.law {
            ContactLaw::Hard => return,
            ContactLaw::Soft => Friction::ByRows,
            ContactLaw::SoftCoulomb => Friction::Capped { look },
        };
        self.contacts.push_softly(&mut self.packs, state, friction, turn);
    }

    /// Impulses of whatever must be held.
    fn hold(&mut self, drive: &Drive<'_>, state: &State, hand: Hand) {
        if hand == Hand::Kick {
            self.watch.look(drive, &self.packs, state, &self.contacts);
        }
        if self.contacts.touches.is_empty() && !self.rows.may_hold_joints(drive.inputs) {
            return;
        }
        self.rows.begin(self.n_steps);
        if self.law == ContactLaw::Hard {
            self.rows.hold_contacts(drive, &self.packs, state, &self.contacts, self.integrator);
        }
        self.rows.rub(drive.dt, &self.packs, state, &self.contacts);
        self.rows.hold_joints(drive, &self.packs, state, (hand, self.integrator));
        self.rows.hold_patches();
        self.rows.solve(&self.crew, drive, &mut self.packs, state, &mut self.contacts, hand);
        if hand == Hand::Kick {
            for (rigids, off) in self.rows.unanswered(&self.contacts) {
                self.watch.see_unanswered(drive.model, &rigids, off);
            }
            self.contacts.shove(&mut self.packs);
        }
    }

    /// Moves on, places everything anew and writes it down. Pack by pack: a pack of humanoids is
    /// 60 to 200 KB, so some hundred robots leave the caches next to a core, and whatever goes
    /// through all of them once more waits for memory. From there on a step of many robots takes
    /// longer per robot; contacts are between all of them, so it cannot be done in less than two
    /// passes.
    fn carry_on(&mut self, drive: &Drive<'_>, state: &mut State) {
        for rigid in &self.led {
            let now = &mut state.rigids[*rigid];
            let turn = now.twist.angular * drive.dt;
            let turned = headland_base::maths::quat_from_rotation_vector(turn);
            now.world_from_rigid.translation += now.twist.linear * drive.dt;
            now.world_from_rigid.rotation = (turned * now.world_from_rigid.rotation).normalize();
        }
        if self.crew.n_threads() == 1 {
            for pack in &mut self.packs {
                pack.finish(drive.dt);
                pack.place(state);
                pack.write(state);
            }
        } else {
            let now: &State = state;
            self.crew.each(&mut self.packs, |pack| {
                pack.finish(drive.dt);
                pack.place(now);
            });
            self.packs.iter().for_each(|pack| pack.write(state));
        }
        self.watch.confirm(drive, &mut self.packs, state);
        for joint_idx in self.packs.iter().flat_map(|pack| pack.robots()).flat_map(|r| &r.loops) {
            state.measure_joint(drive.model, &drive.model.joints[*joint_idx]);
        }
        if !drive.inputs.skips_contacts {
            self.contacts.write(false, state);
        }
    }

    /// The largest speed at which any two rigids may move against each other \[m/s\]: that of
    /// the fastest and of the next, with what the ends of those that turn fastest add. What is no
    /// number does not count.
    fn fastest_two(&self, state: &State) -> f64 {
        let mut fastest = [0.0; 2];
        for rigid in &self.led {
            take_faster(&mut fastest, state.rigids[*rigid].twist.linear.length_squared());
        }
        let of_packs = self.packs.iter().flat_map(|pack| pack.fastest());
        of_packs.for_each(|square| take_faster(&mut fastest, square));
        let mut ends = [0.0; 2];
        for (rigid, reach) in &self.reaches {
            let square = state.rigids[*rigid].twist.angular.length_squared() * reach * reach;
            take_faster(&mut ends, square);
        }
        fastest.iter().chain(&ends).map(|square| sqrt(*square)).sum()
    }
}
