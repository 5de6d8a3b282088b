//! Parts of a robot that are known to be apart, and for how much longer.
//!
//! Links move little in a step. A pair with ten centimetres between its parts need not be looked
//! at again until both together have come that far, whichever way: of a humanoid's sixty pairs
//! two or three are left in a step. What is passed over has no point within the margin, so a
//! detector that knows nothing yet gives the same bytes.

use headland_base::{Quat, Vec3};

use super::scene::{Group, Scene};

/// How far clusters have come, and until when pairs of them are apart: scratch.
pub(super) struct Apart {
    ways: Vec<Way>,
    /// For each of [`Scene::inner`]: while the ways of both and the margin add up to less, no
    /// point of one is within the margin of the other \[m\].
    until: Vec<f64>,
}

/// How far the points of one cluster have come.
#[derive(Clone, Copy)]
struct Way {
    /// None came further since this was forgotten \[m\].
    length: f64,
    /// Where the ball around it was last, and how its rigid was turned.
    centre: Vec3,
    rotation: Quat,
}

/// More than what rounding makes of a way \[m\].
const SLACK: f64 = 1e-6;

/// Longer ways are forgotten \[m\]: next to them a slow creep would be lost in rounding.
const LONGEST: f64 = 100.0;

impl Apart {
    pub(super) fn new(scene: &Scene) -> Apart {
        let nowhere = Way { length: 0.0, centre: Vec3::ZERO, rotation: Quat::IDENTITY };
        Apart {
            ways: vec![nowhere; scene.clusters.len()],
            until: vec![f64::NEG_INFINITY; scene.inner.len()],
        }
    }

    /// Follows a cluster to where it is now.
    ///
    /// A point of it comes no further than the middle of its ball, and its radius times the
    /// chord of the turn, which is less than twice what the quaternions differ by. Sums of
    /// coordinates are longer than lengths, and need no root.
    pub(super) fn follow(&mut self, cluster: usize, centre: Vec3, rotation: Quat, radius: f64) {
        let way = &mut self.ways[cluster];
        let moved = (centre - way.centre).abs();
        let turned = [
            rotation.x - way.rotation.x,
            rotation.y - way.rotation.y,
            rotation.z - way.rotation.z,
            rotation.w - way.rotation.w,
        ];
        let turned: f64 = turned.into_iter().map(f64::abs).sum();
        let length = way.length + (moved.x + moved.y + moved.z) + 2.0 * turned * radius;
        *way = Way { length, centre, rotation };
    }

    /// Forgets the ways of a robot's clusters where one has become too long, or no number.
    pub(super) fn forget_long(&mut self, group: &Group) {
        let ways = &mut self.ways[group.first..group.end];
        if !ways.iter().all(|way| way.length <= LONGEST) {
            ways.iter_mut().for_each(|way| way.length = 0.0);
            self.until[group.inner.clone()].fill(f64::NEG_INFINITY);
        }
    }

    /// Whether no point of one cluster of an inner pair is within `margin` \[m\] of the other.
    pub(super) fn knows(&self, pair: usize, (i, j): (usize, usize), margin: f64) -> bool {
        self.come(i, j) + margin < self.until[pair]
    }

    /// Keeps that there is at least a gap \[m\] between the two of an inner pair.
    pub(super) fn keep(&mut self, pair: usize, (i, j): (usize, usize), gap: f64) {
        self.until[pair] = self.come(i, j) + (gap - SLACK);
    }

    fn come(&self, i: usize, j: usize) -> f64 {
        self.ways[i].length + self.ways[j].length
    }
}
