//! What robots are told that do as they are told: to hold their pose, or to walk on the spot.

use headland_base::maths::{PI, cos, sin};
use headland_sim::{Command, Inputs, Mode, Model, Order, State};

/// What all robots of a world are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing: their joints are moved by forces.
    Nothing,
    /// To stay as they are.
    Hold,
    /// To lift one foot, bring it forward, put it down, and so on; each at its own moment.
    Walk,
}

/// Orders that come round and round, worked out before anything is timed.
pub struct Orders {
    /// Those of a walk are new every [`N_STEPS_PER_ORDER`] steps.
    cycle: Vec<Vec<Order>>,
    n_given: usize,
}

/// Steps from one order to the next: firmware gives them at 100 Hz.
const N_STEPS_PER_ORDER: usize = 10;

/// Orders of two strides, which take 0.8 s.
const N_ORDERS_PER_CYCLE: usize = 80;

impl Orders {
    /// For the robots of a model, as they begin.
    pub fn of(model: &Model, state: &State, told: Told) -> Orders {
        let hold: Vec<Order> = state.dofs.iter().map(|dof| follow(dof.position)).collect();
        let cycle = match told {
            Told::Nothing => Vec::new(),
            Told::Hold => vec![hold],
            Told::Walk => (0..N_ORDERS_PER_CYCLE).map(|k| walk(model, &hold, k)).collect(),
        };
        Orders { cycle, n_given: 0 }
    }

    /// From the first one on.
    pub fn restart(&mut self) {
        self.n_given = 0;
    }

    /// Those of the next step.
    pub fn give(&mut self, inputs: &mut Inputs) {
        if self.cycle.is_empty() {
            return;
        }
        let (k, is_new) =
            (self.n_given / N_STEPS_PER_ORDER, self.n_given.is_multiple_of(N_STEPS_PER_ORDER));
        if is_new && (self.n_given == 0 || self.cycle.len() > 1) {
            inputs.orders.clone_from(&self.cycle[k % self.cycle.len()]);
        }
        self.n_given += 1;
    }
}

fn follow(target: f64) -> Order {
    Order::Follow(Command { mode: Mode::Position, target })
}

/// How far a thigh swings to either side \[rad\].
const SWING: f64 = 0.25;

/// How far a knee is bent, and how much further that of the leg that is lifted \[rad\].
const BEND: [f64; 2] = [0.3, 0.6];

/// The pose at one moment of the cycle; what is no leg holds on.
fn walk(model: &Model, hold: &[Order], k: usize) -> Vec<Order> {
    let mut out = hold.to_vec();
    let mut legs = 0;
    for (dof, order) in model.dofs.iter().zip(&mut out) {
        let name = dof.name.rsplit("::").next().unwrap_or_default();
        let Some((side, joint)) = name.split_once('_') else { continue };
        let is_leg = matches!(joint, "hip_y" | "knee" | "ankle_y");
        if !is_leg {
            continue;
        }
        // Six joints a robot, and no two robots at the same moment of their stride.
        let robot = legs / 6;
        legs += 1;
        let side = if side == "left" { 0.5 } else { 0.0 };
        let turn = 2.0 * PI * (k as f64 / N_ORDERS_PER_CYCLE as f64 + side + 0.13 * robot as f64);
        // A leg goes back while it carries and is lifted on its way forward; its sole stays level.
        // Thighs swing forward, and knees bend, at negative angles.
        let hip = -0.5 * BEND[0] - SWING * sin(turn);
        let knee = -BEND[0] - BEND[1] * cos(turn).max(0.0);
        let target = match joint {
            "hip_y" => hip,
            "knee" => knee,
            _ => knee - hip,
        };
        *order = follow(target);
    }
    out
}
