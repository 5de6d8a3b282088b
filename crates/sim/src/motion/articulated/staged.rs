//! Full dynamics by integrators of several stages.
//!
//! ```text
//! begin ─► (what holds leans on it) ─► stages ─► settle ─► (contacts kick) ─► end
//! ```
//!
//! What holds a robot, the ground or a stop, is an impulse that is found for a whole step. Left
//! out of the stages, a robot that stands would fall in them, and what swings on it would feel its
//! weight once a step: its energy would drift. So what held if every force stayed what it is at the
//! beginning acts as a constant force in all stages, and the kicks, found from where those end,
//! stand in for it: together they are what the step needs. What rests is in balance in every
//! stage, and stays where it is to rounding in steps of any length.

use crate::motion::Drive;
use crate::motion::stages::Stages;
use crate::motion::turning::{advance, rates};
use crate::tree::{Bodies, Lane, Tree, V3, V6, factor, solve};

use super::{Articulated, Work, add_where_any, free_drift, keep_lanes};

/// Scratch of a step by stages.
pub(super) struct Staging<L> {
    pub stages: Stages<L>,
    /// Positions and velocities at the beginning of the whole step, where the motors' efforts are
    /// those they were told.
    begun: (Vec<L>, Vec<L>),
    /// Where the stages ended.
    pub ended: (Vec<L>, Vec<L>),
    /// Impulses that hold through the step, about where the origin was at its beginning.
    pub loads: Vec<V6<L>>,
    pub column_loads: Vec<L>,
    /// Which lanes have such.
    pub leans: Vec<bool>,
    /// Where the centre of each link was at the beginning, from where the origin was.
    begun_centres: Vec<V3<L>>,
    /// One where the efforts of a column are too stiff for stages: they are the step's.
    is_late: Vec<L>,
    /// What those are, and what they oppose to the acceleration; nothing for the others.
    late: Vec<(L, L)>,
    /// The positions of the end are known, but for what kicks.
    pub is_staged: bool,
}

impl<L: Lane> Staging<L> {
    pub fn new(tree: &Tree) -> Staging<L> {
        let nothing = (vec![L::ZERO; tree.n_positions], vec![L::ZERO; tree.n_dofs]);
        Staging {
            stages: Stages::new(tree.n_positions, tree.n_dofs),
            begun: nothing.clone(),
            ended: nothing,
            loads: vec![V6::ZERO; tree.nodes.len()],
            column_loads: vec![L::ZERO; tree.n_dofs],
            leans: vec![false; L::WIDTH],
            begun_centres: vec![V3::ZERO; tree.nodes.len()],
            is_late: vec![L::ZERO; tree.n_dofs],
            late: vec![(L::ZERO, L::ZERO); tree.n_dofs],
            is_staged: false,
        }
    }

    /// Adds to the effort of a column that is too stiff for stages, if it is.
    pub fn drive_late(&mut self, robot: usize, column: usize, effort: f64) {
        let late = &mut self.late[column].0;
        late.set(robot, late.get(robot) + effort * self.is_late[column].get(robot));
    }
}

impl<L: Lane> Articulated<L> {
    /// Keeps where the step begins, and finds what is late in it.
    pub(super) fn begin_stages(&mut self, dt: f64, reach: f64) {
        let staging = &mut self.work.staging;
        staging.begun.0.copy_from_slice(&self.positions);
        staging.begun.1.copy_from_slice(&self.velocities);
        for (i, centre) in staging.begun_centres.iter_mut().enumerate() {
            *centre = centre_of(&self.tree, &self.work.bodies, i);
        }
        self.find_late(dt, reach);
    }

    /// Finds the columns whose efforts would swing or decay by more than `reach` in a step, and
    /// what they do through all of it: as in [`Articulated::gather_efforts`] they are those of
    /// the end of the step, so they hold at any gain, to first order. Given to every stage, they
    /// leave what rests at rest, and what hangs on them to the stages.
    fn find_late(&mut self, dt: f64, reach: f64) {
        for k in 0..self.tree.n_dofs {
            let node = &self.tree.nodes[self.tree.column_nodes[k]];
            let at = (self.positions[node.first_position], self.velocities[k]);
            let (effort, slope) = self.end_effort(k, at, dt);
            let (columns, motors) = (&self.columns, &self.work.motors);
            let staging = &mut self.work.staging;
            for lane in 0..L::WIDTH {
                let inertia = columns.least_inertia[k].get(lane);
                let swing = (columns.stiffness[k] + motors.kp[k]).get(lane) * dt * dt;
                let decay = (columns.damping[k] + motors.kd[k]).get(lane) * dt;
                let is_late = swing > reach * reach * inertia || decay > reach * inertia;
                let kept = |value: L| if is_late { value.get(lane) } else { 0.0 };
                staging.is_late[k].set(lane, kept(L::of(1.0)));
                staging.late[k].0.set(lane, kept(effort));
                staging.late[k].1.set(lane, kept(slope));
            }
        }
    }

    /// How fast positions and velocities change, into a stage.
    #[inline(always)]
    pub(super) fn derive_stage(&mut self, drive: &Drive<'_>, stage: usize) {
        self.gather_present_efforts();
        self.gather_decay(0.0);
        self.gather_loads(drive.dt);
        self.solve_motion(drive.model.world.gravity);
        let work = &mut self.work;
        let (q, v) = &mut work.staging.stages.rates[stage];
        rates(&self.tree, &self.positions, &self.velocities, q);
        v.copy_from_slice(&work.gained);
        if let Some(drift) = free_drift(&self.tree, &self.velocities) {
            v[3] += drift.x;
            v[4] += drift.y;
            v[5] += drift.z;
        }
    }

    /// Efforts as they are now; late ones as they are in all of the step.
    #[inline(always)]
    fn gather_present_efforts(&mut self) {
        let (columns, work) = (&self.columns, &mut self.work);
        let Work { staging, motors, efforts, stiffening, .. } = work;
        for (k, effort) in efforts.iter_mut().enumerate() {
            let node = &self.tree.nodes[self.tree.column_nodes[k]];
            let (late, late_slope) = staging.late[k];
            stiffening[k] = columns.armature[k] + late_slope;
            *effort = late;
            if node.dof.is_some() {
                let (q, v) = (self.positions[node.first_position], self.velocities[k]);
                let (q0, v0) = (staging.begun.0[node.first_position], staging.begun.1[k]);
                let motor = motors.efforts[k] - motors.kp[k] * (q - q0) - motors.kd[k] * (v - v0);
                let all =
                    motor - columns.damping[k] * v - columns.stiffness[k] * (q - columns.rest[k]);
                *effort += all * (L::of(1.0) - staging.is_late[k]);
            }
        }
    }

    /// What holds, as a force that stays as it was and goes along with the link it is on. One that
    /// stayed where it was would push a wheel from behind its hub, and speed up what rolls.
    #[inline(always)]
    fn gather_loads(&mut self, dt: f64) {
        let Work { staging, pushes, efforts, bodies, .. } = &mut self.work;
        for (lane, _) in staging.leans.iter().enumerate().filter(|(_, leans)| **leans) {
            for (i, (push, load)) in pushes.iter_mut().zip(&staging.loads).enumerate() {
                // From where the origin is now to where it would be had it gone along.
                let along =
                    centre_of(&self.tree, bodies, i).get(lane) - staging.begun_centres[i].get(lane);
                let load = load.get(lane) * (1.0 / dt);
                push.add_to(lane, V6::force_at(V3::of(along), load.line, load.turn));
            }
            for (effort, load) in efforts.iter_mut().zip(&staging.column_loads) {
                effort.set(lane, effort.get(lane) + load.get(lane) / dt);
            }
        }
    }

    /// Keeps where the stages ended and goes back to where the step began: what kicks is seen
    /// from there, as without stages. It stands in for the loads, so those are taken back.
    #[inline(always)]
    pub(super) fn settle_stages(&mut self, dt: f64) {
        self.walk_late(dt);
        let work = &mut self.work;
        let staging = &mut work.staging;
        staging.ended.0.copy_from_slice(&self.positions);
        staging.ended.1.copy_from_slice(&self.velocities);
        staging.is_staged = true;
        work.next.copy_from_slice(&self.velocities);
        work.pushes.fill(V6::ZERO);
        self.positions.copy_from_slice(&staging.begun.0);
        self.velocities.copy_from_slice(&staging.begun.1);
        self.place_all();
        let work = &mut self.work;
        factor(&self.tree, &work.bodies, &work.stiffening, &mut work.factor);
        if work.staging.leans.contains(&true) {
            self.take_back_loads();
        }
    }

    #[inline(always)]
    fn take_back_loads(&mut self) {
        let Work { staging, bodies, factor, forces, gained, next, is_kicked, .. } = &mut self.work;
        // Forces are counted as what opposes the motion: loads with their sign turn it back.
        forces.copy_from_slice(&staging.loads);
        // Who leaned ends where the kicks say, be they none: its loads are gone from there on.
        is_kicked.iter_mut().zip(&staging.leans).for_each(|(kicked, leans)| *kicked |= leans);
        staging.column_loads.iter_mut().for_each(|load| *load = -*load);
        solve(&self.tree, bodies, factor, &staging.column_loads, forces, gained);
        keep_lanes(&staging.leans, gained);
        add_where_any(next, gained);
        staging.loads.fill(V6::ZERO);
        staging.column_loads.fill(L::ZERO);
        staging.leans.fill(false);
    }

    /// Late columns end where their efforts were taken: by the speed of the end.
    #[inline(always)]
    fn walk_late(&mut self, dt: f64) {
        let staging = &self.work.staging;
        for (k, late) in staging.is_late.iter().enumerate() {
            let p = self.tree.nodes[self.tree.column_nodes[k]].first_position;
            let end = staging.begun.0[p] + L::of(dt) * self.velocities[k];
            for lane in (0..L::WIDTH).filter(|lane| late.get(*lane) > 0.0) {
                self.positions[p].set(lane, end.get(lane));
            }
        }
    }

    /// Moves on to where the stages ended, with the velocities of the end already there.
    #[inline(always)]
    pub(super) fn end_stages(&mut self, dt: f64, is_kicked: bool) {
        self.positions.copy_from_slice(&self.work.staging.ended.0);
        if is_kicked {
            self.follow_kicks(dt);
            self.stop_short(dt);
            self.walk_late(dt);
        }
    }

    /// What the kicks changed besides the loads, they changed in the course of the step.
    #[inline(always)]
    fn follow_kicks(&mut self, dt: f64) {
        let Work { staging, gained, is_kicked, .. } = &mut self.work;
        for ((gained, v), staged) in gained.iter_mut().zip(&self.velocities).zip(&staging.ended.1) {
            *gained = L::of(0.5) * (*v - *staged);
        }
        let kicked = std::mem::take(is_kicked);
        self.move_some(&kicked, dt);
        self.work.is_kicked = kicked;
    }

    /// Whoever was stopped on its way to something goes all of it at the end's speed: that is
    /// what was found to bring it there and no further.
    #[inline(always)]
    fn stop_short(&mut self, dt: f64) {
        if !self.work.is_stopped.contains(&true) {
            return;
        }
        let Work { moved, staging, is_stopped, .. } = &mut self.work;
        let stopped = std::mem::take(is_stopped);
        moved.copy_from_slice(&staging.begun.0);
        advance(&self.tree, &self.velocities, L::of(dt), moved);
        self.take_moved(&stopped);
        self.work.is_stopped = stopped;
    }
}

/// Where the centre of a link is, from the common origin.
#[inline(always)]
fn centre_of<L: Lane>(tree: &Tree, bodies: &Bodies<L>, node_idx: usize) -> V3<L> {
    let placed = &bodies.nodes[node_idx];
    placed.at + placed.rotation * V3::of(tree.nodes[node_idx].centre)
}
