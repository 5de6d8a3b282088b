//! Contact points with who they are between, and the soft laws.

use headland_base::Vec3;
use headland_sim::contact::ContactPoint;
use headland_sim::contact::soft::{
    LawTable, PointForce, PointMotion, SurfaceLaw, SurfaceLaws, soft, soft_coulomb,
};
use headland_sim::joint::velocity_at as velocity_of_frame;
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::{V3, V6};
use headland_sim::{Contact, Model, State, SurfacePair};
use headland_world::{ContactLaw, NativeSettings};

use super::lagging::{Lag, Look, Response, responses};
use super::packing::{Packing, Seat};
use super::sums::Sums;
use super::wandering::Wandering;

/// The contacts of a step: scratch but for the warm start and what friction lags behind.
pub(super) struct Contacts {
    /// In the detector's order.
    pub touches: Vec<Touch>,
    /// Those of the step before.
    before: Vec<Touch>,
    pub laws: LawTable,
    /// How much a point of each rigid may answer.
    responses: Vec<Response>,
    /// What they did in stages and parts of the step.
    pub sums: Sums,
    /// Whom to shove, by the deepest contact of every two.
    shoves: Vec<Shove>,
    /// How points go along with what they hold.
    pub wandering: Wandering,
}

/// Two shapes and a feature of theirs.
pub(super) type PointKey = ((usize, usize, usize, usize), u32);

/// Whom forces are put on, and what for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// On all, for the step.
    Step,
    /// On all, to begin a step of several stages: who has none takes these for all of it.
    Begin,
    /// On who has stages, in one that counts by this share of the step.
    Stage(f64),
    /// On nobody, to tell them.
    Look,
}

impl Turn {
    pub fn takes(self, pack: &dyn Pack) -> bool {
        match self {
            Turn::Step | Turn::Begin => true,
            Turn::Stage(_) => pack.has_stages(),
            Turn::Look => false,
        }
    }
}

/// How the friction of the soft laws acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Friction {
    /// As a force, within Coulomb's limit, which lags behind where a step is too long for it, see
    /// [`super::lagging`]; without a look it lags as far as it did.
    Capped { look: Option<Look> },
    /// By rows that are solved with the step.
    ByRows,
}

/// How far apart things may be and be looked at: what closes a gap within a step is stopped
/// where it touches and not inside.
pub(super) struct Reach {
    /// Whether gaps are looked at.
    pub is_wanted: bool,
    dt: f64,
    /// What gravity adds to a speed in a step \[m/s\].
    gain: f64,
}

/// Gaps up to this are looked at in any case \[m\].
const MARGIN: f64 = 1e-3;

/// Gaps beyond this are not looked at \[m\]: what is that fast has left its way, and would be
/// taken to hit whatever lies on one side of it.
const FURTHEST: f64 = 10.0;

impl Reach {
    /// Of a step. The soft laws know nothing before things touch.
    pub fn of(drive: &Drive<'_>, law: ContactLaw) -> Reach {
        let gain = drive.dt * drive.model.world.gravity.length();
        Reach { is_wanted: law == ContactLaw::Hard, dt: drive.dt, gain }
    }

    /// Of two that move against each other at this speed, with as much again for what the step
    /// may change \[m\].
    pub fn at_speed(&self, speed: f64) -> f64 {
        if !self.is_wanted {
            return 0.0;
        }
        (self.dt * (2.0 * speed + self.gain)).clamp(MARGIN, FURTHEST)
    }
}

/// One contact point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub point: ContactPoint,
    /// The rigids of both sides.
    pub rigids: [usize; 2],
    /// Who moves them; none for what no force moves.
    pub seats: [Option<Seat>; 2],
    pub surfaces: SurfacePair,
    /// It was there in the last step.
    pub is_known: bool,
    /// What a does to b \[N\].
    pub force: Vec3,
    /// Impulses along normal and tangents: where the next step begins to look.
    pub impulse: [f64; 3],
    /// How long a side that moves as it is told has been too weak for the other, without a break
    /// \[s\].
    pub overcome_for: f64,
    /// Friction that is left to rows: force per sliding \[N·s/m\] and torque per spinning
    /// speed \[N·m·s\].
    pub rub: [f64; 2],
    pub lag: Lag,
    /// Its place in the list of the last step, if it was close there.
    pub before: Option<u32>,
    /// How it wanders, by its place in their list; none where nobody asked.
    pub wander: Option<u32>,
}

impl Touch {
    /// Whether it holds now, and neither comes nor goes.
    pub fn is_near(&self) -> bool {
        self.point.depth.abs() < NEAR
    }

    /// Of its rigids those that somebody moves.
    pub fn moved(&self) -> [Option<usize>; 2] {
        [0, 1].map(|side| self.seats[side].map(|_| self.rigids[side]))
    }
}

impl Contacts {
    pub fn of(model: &Model, reaches: impl Iterator<Item = (usize, f64)>) -> Contacts {
        Contacts {
            touches: Vec::new(),
            before: Vec::new(),
            laws: law_table(model),
            responses: responses(model, reaches),
            sums: Sums::default(),
            shoves: Vec::new(),
            wandering: Wandering::default(),
        }
    }

    /// The law between the surfaces that touch.
    pub fn law(&self, touch: &Touch) -> &SurfaceLaw {
        let ContactPoint { body_a, body_b, shape_a, shape_b, .. } = touch.point;
        self.laws.law((body_a, shape_a), (body_b, shape_b))
    }

    /// Takes what the detector found, as far as these two can reach each other. A point that
    /// was there in the last step keeps its impulse.
    pub fn take(
        &mut self,
        model: &Model,
        packing: &Packing,
        state: &State,
        points: &[ContactPoint],
        reach: &Reach,
    ) {
        std::mem::swap(&mut self.touches, &mut self.before);
        self.touches.clear();
        let mut old = self.before.iter().enumerate().peekable();
        for point in points {
            // Both lists are in the same order, so one walk along the old one finds all.
            while old.peek().is_some_and(|(_, touch)| pair(&touch.point) < pair(point)) {
                old.next();
            }
            let known = old.peek().filter(|(_, touch)| pair(&touch.point) == pair(point));
            let (rigids, seats, surfaces) = match known {
                Some((_, touch)) => (touch.rigids, touch.seats, touch.surfaces),
                None => {
                    let (a, b) = (&model.bodies[point.body_a], &model.bodies[point.body_b]);
                    let surfaces = SurfacePair::of(
                        &a.shapes[point.shape_a].surface,
                        &b.shapes[point.shape_b].surface,
                    );
                    let rigids = [a.rigid_idx, b.rigid_idx];
                    (rigids, rigids.map(|rigid| packing.seats[rigid]), surfaces)
                }
            };
            // The detector looked as far as the fastest of all may come; what these two do must
            // not depend on it.
            if point.depth < 0.0 {
                let [u, v] = rigids.map(|rigid| velocity_at(state, rigid, point.position));
                if -point.depth > reach.at_speed((v - u).length()) {
                    continue;
                }
            }
            let mut same = old.clone().take_while(|(_, touch)| pair(&touch.point) == pair(point));
            let kept = same.find(|(_, touch)| touch.point.feature == point.feature);
            self.touches.push(Touch {
                point: *point,
                rigids,
                seats,
                surfaces,
                is_known: kept.is_some(),
                force: Vec3::ZERO,
                impulse: kept.map_or([0.0; 3], |(_, touch)| touch.impulse),
                overcome_for: kept.map_or(0.0, |(_, touch)| touch.overcome_for),
                rub: [0.0; 2],
                lag: kept.map_or(Lag::NONE, |(_, touch)| touch.lag),
                before: kept.filter(|(_, touch)| touch.is_near()).map(|(place, _)| place as u32),
                wander: None,
            });
        }
    }

    /// Brings the points of two flat sides into one plane, that of the deepest.
    ///
    /// A foot that comes down is turned about where it stands already. Its other corners, a hair
    /// above the ground, then move across it by the height of that hair, while friction at each
    /// of them asks for rest: no motion does both, and the corners would press against each other
    /// for nothing. Along the normal nothing changes.
    ///
    /// That plane is half way between the sides. Where only one of them moves, what closes a gap will
    /// be held where its own surface is: half way, a ball of 20 mm that comes at 10 m/s spun up to a
    /// quarter too fast in steps of 1 ms. Where both do, an impulse must have one place for both, or
    /// turning would come of nothing.
    pub fn flatten(&mut self, gives_way: impl Fn(Seat) -> bool) {
        for of_two in self.touches.chunk_by_mut(|a, b| a.rigids == b.rigids) {
            let deeper = |a: &Touch, b: &Touch| a.point.depth < b.point.depth;
            let deepest = of_two.iter().reduce(|a, b| if deeper(a, b) { b } else { a });
            let Some(ContactPoint { normal, position, depth, .. }) =
                deepest.map(|touch| touch.point)
            else {
                continue;
            };
            let level = position.dot(normal);
            // Of a gap: from half way to the surface of who moves.
            let share = match of_two[0].seats.map(|seat| seat.is_some_and(&gives_way)) {
                [true, false] => -0.5,
                [false, true] => 0.5,
                _ => 0.0,
            };
            for touch in of_two.iter_mut() {
                let point = &mut touch.point;
                let off = level - point.position.dot(normal);
                // Points are half way between the two sides. Those of another step of a stair are
                // further off than their depths tell.
                let is_of_same_side = off.abs() <= 0.5 * (depth - point.depth).abs() + SAME_LEVEL;
                let is_parallel =
                    (point.normal - normal).length_squared() < SAME_NORMAL * SAME_NORMAL;
                let gap = |depth: f64| (-depth).max(0.0);
                point.position += if is_parallel && is_of_same_side {
                    normal * (off + share * gap(depth))
                } else {
                    point.normal * (share * gap(point.depth))
                };
            }
        }
    }

    /// Forces by a soft law: a spring, and friction that grows with the sliding speed, or does
    /// so up to Coulomb's limit. On the packs that take them now. Friction without limit is left
    /// to rows, see [`super::rub`].
    pub fn push_softly(
        &mut self,
        packs: &mut [Box<dyn Pack>],
        state: &State,
        friction: Friction,
        turn: Turn,
    ) {
        if turn == Turn::Begin {
            self.sums.begin_to_owe();
        }
        for touch in &mut self.touches {
            let ContactPoint { body_a, body_b, shape_a, shape_b, .. } = touch.point;
            let [a, b] = touch.rigids;
            let at = touch.point.position;
            let motion = PointMotion {
                depth: touch.point.depth,
                normal: touch.point.normal,
                velocity: velocity_at(state, b, at) - velocity_at(state, a, at),
                angular_velocity: state.rigids[b].twist.angular - state.rigids[a].twist.angular,
            };
            let law = self.laws.law((body_a, shape_a), (body_b, shape_b));
            let given = match friction {
                Friction::Capped { look } => {
                    let has_stages = |seat: &Seat| packs[seat.0].has_stages();
                    let is_looked_at = |look: &Look| {
                        let is_of = |at| at == touch.seats.iter().flatten().any(has_stages);
                        look.at_stages.is_none_or(is_of)
                    };
                    if let Some(look) = look.filter(is_looked_at) {
                        let response = self.responses[a] + self.responses[b];
                        touch.lag.follow(look, response, law, &motion);
                    }
                    soft_coulomb(law, &touch.lag.seen(motion))
                }
                Friction::ByRows => {
                    let pressure = soft(law, &motion).force.dot(motion.normal);
                    touch.rub = [law.sliding * pressure, law.spinning * pressure];
                    PointForce { force: motion.normal * pressure, torque: Vec3::ZERO }
                }
            };
            let PointForce { force, torque } = given;
            touch.force = force;
            let has_stages = |seat: &Seat| packs[seat.0].has_stages();
            let is_mixed =
                matches!(&touch.seats, [Some(a), Some(b)] if has_stages(a) != has_stages(b));
            for (seat, sign) in touch.seats.iter().zip([-1.0, 1.0]) {
                let Some(seat @ (pack, robot, node)) = *seat else { continue };
                let arm = V3::of(at - packs[pack].origin(robot));
                let push = V6::force_at(arm, V3::of(force * sign), V3::of(torque * sign));
                if is_mixed && !packs[pack].has_stages() {
                    self.sums.owe(turn, seat, push);
                }
                if turn.takes(packs[pack].as_ref()) {
                    packs[pack].push(robot, node, push);
                }
            }
        }
    }

    /// Takes all points for known: they were solved once in this step.
    pub fn know_all(&mut self) {
        self.touches.iter_mut().for_each(|touch| touch.is_known = true);
    }

    /// Moves robots that no force moves out of each other, out of what stands and out of what is
    /// too heavy for them, by their deepest contact: half way each where both do as they are told.
    pub fn shove(&mut self, packs: &mut [Box<dyn Pack>]) {
        self.shoves.clear();
        for touch in self.touches.iter().filter(|touch| touch.point.depth > 0.0) {
            let moved_by_force =
                |seat: &Option<Seat>| seat.is_some_and(|(pack, ..)| packs[pack].gives_way());
            let has_force = touch.seats.iter().any(moved_by_force);
            if has_force && touch.overcome_for < NO_BLOW {
                continue;
            }
            let robots = touch.seats.map(|seat| {
                let told = seat.filter(|(pack, ..)| !packs[*pack].gives_way());
                told.map(|(pack, robot, _)| (pack, robot))
            });
            if robots == [None; 2] {
                continue;
            }
            let ContactPoint { normal, depth, .. } = touch.point;
            let mut across = Vec3::new(normal.x, normal.y, 0.0);
            // A foot on a foot: the shortest way out is up, where no robot goes. From middle to
            // middle, then.
            if let [Some(a), Some(b)] = robots
                && across.length() < STEEP
            {
                let apart = packs[b.0].origin(b.1) - packs[a.0].origin(a.1);
                across = apart.with_z(0.0).try_normalize().unwrap_or(Vec3::X);
            }
            match self.shoves.iter_mut().find(|(known, ..)| *known == robots) {
                Some(known) if known.2 < depth => *known = (robots, across, depth),
                Some(_) => {}
                None => self.shoves.push((robots, across, depth)),
            }
        }
        for &(robots, across, depth) in &self.shoves {
            let n_shoved = robots.iter().flatten().count().max(1) as f64;
            for (robot, sign) in robots.iter().zip([-1.0, 1.0]) {
                if let Some((pack, robot)) = *robot {
                    packs[pack].shove(robot, across * (sign * depth / n_shoved));
                }
            }
        }
    }

    /// Writes the contacts of the step, or of its parts.
    pub fn write(&self, are_in_parts: bool, state: &mut State) {
        state.contacts.clear();
        let (touches, gone) = match are_in_parts {
            true => (&self.sums.in_parts, &[][..]),
            false => (&self.touches, &self.sums.gone[..]),
        };
        let shown = |touch: &&Touch| touch.point.depth >= 0.0 || touch.force != Vec3::ZERO;
        let shown = touches.iter().chain(gone).filter(shown);
        state.contacts.extend(shown.map(|touch| Contact {
            body_a: touch.point.body_a,
            body_b: touch.point.body_b,
            position: touch.point.position,
            normal: touch.point.normal,
            depth: touch.point.depth,
            force: touch.force,
        }));
    }
}

/// Gaps and depths up to this are those of what is held, not of what comes or goes \[m\].
const NEAR: f64 = 1e-4;

/// Normals that differ by less are those of one flat side.
const SAME_NORMAL: f64 = 1e-9;

/// Levels that differ by less more than depths tell are those of one flat side \[m\].
const SAME_LEVEL: f64 = 1e-9;

/// A normal with less of it along the ground pushes nobody aside.
pub(super) const STEEP: f64 = 0.1;

/// What is too strong for so long is no blow, as of a ball that is kicked \[s\].
const NO_BLOW: f64 = 5e-3;

pub(super) fn pair(point: &ContactPoint) -> (usize, usize, usize, usize) {
    (point.body_a, point.body_b, point.shape_a, point.shape_b)
}

pub(super) fn key(point: &ContactPoint) -> PointKey {
    (pair(point), point.feature)
}

/// Pack and robot of both sides, which way across the ground the second goes, and how far.
type Shove = ([Option<(usize, usize)>; 2], Vec3, f64);

/// The velocity of a point of a rigid, as the state has it.
pub(super) fn velocity_at(state: &State, rigid: usize, point: Vec3) -> Vec3 {
    let now = &state.rigids[rigid];
    velocity_of_frame(now.twist, now.world_from_rigid.translation, point)
}

/// The laws of a model's shapes.
pub(super) fn law_table(model: &Model) -> LawTable {
    LawTable::of(model, &surface_laws(&model.world.physics.native))
}

/// The stiffest spring a body may meet \[N/m\]; none of one without shapes.
pub(super) fn stiffest_of(laws: &LawTable, body: usize) -> f64 {
    laws.of_body(body).map(|law| law.stiffness).fold(0.0, f64::max)
}

/// The laws a world gives, with its default row, or ours, where it leaves a number out.
fn surface_laws(settings: &NativeSettings) -> SurfaceLaws {
    let completed = |row: &headland_world::SurfaceLaw, base: SurfaceLaw| SurfaceLaw {
        stiffness: row.stiffness.unwrap_or(base.stiffness),
        separation: row.separation.unwrap_or(base.separation),
        sliding: row.sliding.unwrap_or(base.sliding),
        spinning: row.spinning.unwrap_or(base.spinning),
        mu: row.mu.unwrap_or(base.mu),
    };
    let rows = &settings.surface_laws;
    let named = |row: &headland_world::SurfaceLaw| row.first.clone().zip(row.second.clone());
    let default = rows.iter().find(|row| named(row).is_none());
    let default =
        default.map_or(SurfaceLaw::default(), |row| completed(row, SurfaceLaw::default()));
    let mut laws = SurfaceLaws::new(default);
    for row in rows {
        if let Some((first, second)) = named(row) {
            laws = laws.with(&first, &second, completed(row, default));
        }
    }
    laws
}
