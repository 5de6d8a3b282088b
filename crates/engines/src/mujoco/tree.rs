//! MuJoCo moves trees. Which joint hangs a rigid on another, and which ones close loops.
//!
//! The rigids and joints of a model go in; a forest comes out whose roots stand still, are
//! moved as told, or float. A joint may hang its parent on its child: where the child stands
//! still, or hangs elsewhere already.

use headland_sim::{Joint, Model, Motion};
use headland_world::JointKind;

/// The forest.
pub(super) struct Forest {
    /// Of each rigid, what it hangs on.
    pub(super) hangers: Vec<Hanger>,
    /// Of each rigid, the rigids that hang on it, in order.
    pub(super) hung: Vec<Vec<usize>>,
    /// Rigids that hang on nothing, or on the world, in order.
    pub(super) roots: Vec<usize>,
    /// Joints that close a loop.
    pub(super) closing: Vec<usize>,
}

/// What a rigid hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hanger {
    /// It stands still.
    Still,
    /// It floats.
    Floats,
    /// A joint.
    Joint {
        joint_idx: usize,
        /// The other rigid of the joint; the world where there is none.
        on: Option<usize>,
        /// The joint's parent hangs on its child.
        is_reversed: bool,
    },
}

/// Whether a joint can be kept as a constraint between two points or two pairs of points.
pub(super) fn can_close(model: &Model, joint_idx: usize) -> bool {
    let joint = &model.joints[joint_idx];
    let is_hinge = matches!(joint.kind, JointKind::Revolute(_) | JointKind::Continuous(_));
    let plain = joint.kind.axes().iter().all(|axis| {
        axis.lower == f64::NEG_INFINITY
            && axis.upper == f64::INFINITY
            && axis.friction == 0.0
            && axis.armature == 0.0
    });
    let n_axes = joint.kind.axes().len();
    let is_own = |dof_idx: usize| (joint.first_dof..joint.first_dof + n_axes).contains(&dof_idx);
    let tied = model
        .dofs
        .iter()
        .enumerate()
        .any(|(i, dof)| dof.mimic.is_some_and(|mimic| is_own(i) || is_own(mimic.leader_dof)));
    matches!(joint.kind, JointKind::Ball) || (is_hinge && plain && !tied)
}

impl Forest {
    pub(super) fn of(model: &Model) -> Forest {
        let n = model.rigids.len();
        let ground = n; // one node more: all that forces do not move
        let mut sets: Vec<usize> = (0..=n).collect();
        for (i, rigid) in model.rigids.iter().enumerate() {
            if rigid.motion != Motion::Dynamic {
                sets[i] = ground;
            }
        }
        let sides = |joint: &Joint| (joint.parent_rigid.unwrap_or(ground), joint.child_rigid);
        let (mut kept, mut closing) = (Vec::new(), Vec::new());
        // Those that can close a loop come last, so that they are the ones that do.
        let mut order: Vec<usize> = (0..model.joints.len()).collect();
        order.sort_by_key(|i| can_close(model, *i));
        for i in order {
            let (a, b) = sides(&model.joints[i]);
            let (a, b) = (root_of(&mut sets, a), root_of(&mut sets, b));
            if a == b {
                closing.push(i);
            } else {
                // The ground stays the root of its set.
                let (low, high) = (a.min(b), a.max(b));
                sets[low] = high;
                kept.push(i);
            }
        }
        kept.sort_unstable();
        closing.sort_unstable();
        Forest::hang(model, &kept, closing)
    }

    fn hang(model: &Model, kept: &[usize], closing: Vec<usize>) -> Forest {
        let n = model.rigids.len();
        let mut out = Forest {
            hangers: vec![Hanger::Floats; n],
            hung: vec![Vec::new(); n],
            roots: Vec::new(),
            closing,
        };
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut is_child = vec![false; n];
        for &i in kept {
            let joint = &model.joints[i];
            joint.parent_rigid.into_iter().for_each(|parent| at[parent].push(i));
            at[joint.child_rigid].push(i);
            is_child[joint.child_rigid] = true;
        }
        let mut is_placed = vec![false; n];
        // What stands still or moves as told, then what hangs on the world, then what floats:
        // the first of them that is nobody's child, or else the first.
        for (i, rigid) in model.rigids.iter().enumerate() {
            if rigid.motion != Motion::Dynamic {
                if rigid.motion == Motion::Static {
                    out.hangers[i] = Hanger::Still;
                }
                out.grow(model, i, &at, &mut is_placed);
            }
        }
        for &joint_idx in kept {
            let joint = &model.joints[joint_idx];
            if joint.parent_rigid.is_none() && !is_placed[joint.child_rigid] {
                out.hangers[joint.child_rigid] =
                    Hanger::Joint { joint_idx, on: None, is_reversed: false };
                out.grow(model, joint.child_rigid, &at, &mut is_placed);
            }
        }
        for i in (0..n).filter(|i| !is_child[*i]).chain(0..n) {
            if !is_placed[i] {
                out.grow(model, i, &at, &mut is_placed);
            }
        }
        out.roots.sort_unstable();
        out
    }

    /// Hangs everything that is connected with a root below it.
    fn grow(&mut self, model: &Model, root: usize, at: &[Vec<usize>], is_placed: &mut [bool]) {
        self.roots.push(root);
        is_placed[root] = true;
        let mut open = vec![root];
        while let Some(on) = open.pop() {
            for &joint_idx in &at[on] {
                let joint = &model.joints[joint_idx];
                let is_reversed = joint.child_rigid == on;
                let other = if is_reversed { joint.parent_rigid } else { Some(joint.child_rigid) };
                if let Some(other) = other.filter(|i| !is_placed[*i]) {
                    is_placed[other] = true;
                    self.hangers[other] = Hanger::Joint { joint_idx, on: Some(on), is_reversed };
                    self.hung[on].push(other);
                    open.push(other);
                }
            }
        }
    }
}

fn root_of(sets: &mut [usize], mut i: usize) -> usize {
    while sets[i] != i {
        sets[i] = sets[sets[i]];
        i = sets[i];
    }
    i
}
