//! Detection: where everything is goes in, the points where it touches come out.
//!
//! ```text
//! poses ─► balls around shapes ─┬─► planes ──────────────────┐
//!                               └─► clusters, swept along an ├─► pairs, in order ─► points
//!                                   axis; shapes within them ┘
//! ```
//!
//! The detector is scratch: it keeps memory and the order of the last sweep, which only makes
//! the next one quicker. Asked the same, a fresh one gives the same bytes.

use headland_base::{Transform, Vec3};

use super::ContactPoint;
use super::convex::Search;
use super::form::longest;
use super::manifold::Side;
use super::pair;
use super::scene::{Scene, SceneShape};
use super::touching::Touch;

/// Finds contacts, step after step, without asking for memory once it has seen the most.
pub struct Detector {
    /// Centres of the balls around the scene's shapes, in the world.
    centres: Vec<Vec3>,
    /// Lowest and highest corner of each cluster.
    bounds: Vec<(Vec3, Vec3)>,
    /// Clusters by their lowest coordinate along the axis of the last sweep.
    order: Vec<u32>,
    /// Their bounds in that order, which lie together in memory as the sweep reads them.
    swept: Vec<(Vec3, Vec3)>,
    /// Pairs to look at: ranks of the two parts, then where they are in the scene.
    pairs: Vec<(u32, u32, Place, Place)>,
    search: Search,
    touches: Vec<Touch>,
    points: Vec<ContactPoint>,
}

/// Where a part is in the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Plane(u32),
    Shape(u32),
}

impl Detector {
    /// For a scene.
    pub fn new(scene: &Scene) -> Detector {
        Detector {
            centres: vec![Vec3::ZERO; scene.shapes.len()],
            bounds: vec![(Vec3::ZERO, Vec3::ZERO); scene.clusters.len()],
            order: (0..scene.clusters.len() as u32).collect(),
            swept: Vec::new(),
            pairs: Vec::new(),
            search: Search::new(),
            touches: Vec::new(),
            points: Vec::new(),
        }
    }

    /// Every point where two parts overlap, or come within `margin` \[m\], in the order of
    /// bodies and shapes. `world_from_rigid` has one pose per rigid of the model; a rigid
    /// whose pose is not finite touches nothing.
    pub fn detect(
        &mut self,
        scene: &Scene,
        world_from_rigid: &[Transform],
        margin: f64,
    ) -> &[ContactPoint] {
        assert_eq!(world_from_rigid.len(), scene.n_rigids, "one pose per rigid");
        self.pairs.clear();
        self.points.clear();
        for (centre, shape) in self.centres.iter_mut().zip(&scene.shapes) {
            *centre = world_from_rigid[shape.rigid_idx].point(shape.centre_in_rigid);
        }
        self.near_planes(scene, world_from_rigid, margin);
        if scene.clusters.len() > 1 {
            self.sweep(scene, world_from_rigid, margin);
        }
        self.pairs.sort_unstable();
        self.look_closely(scene, world_from_rigid, margin);
        &self.points
    }

    /// How many pairs of the last call were near enough to be looked at closely.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    fn near_planes(&mut self, scene: &Scene, world_from_rigid: &[Transform], margin: f64) {
        for (i, plane) in scene.planes.iter().enumerate() {
            let super::Form::Plane { normal } = &plane.form else { continue };
            let at = world_from_rigid[plane.rigid_idx] * plane.rigid_from_shape;
            let normal = at.vector(*normal);
            let level = at.translation.dot(normal);
            for (j, shape) in scene.shapes.iter().enumerate() {
                // Written so that a centre that is not a number is not near.
                let is_near = self.centres[j].dot(normal) - level < shape.radius + margin;
                if is_near && scene.may_touch(plane, shape) {
                    let places = (Place::Plane(i as u32), Place::Shape(j as u32));
                    self.pairs.push(in_order((plane.idx, places.0), (shape.idx, places.1)));
                }
            }
        }
    }

    /// Sweep and prune over clusters, along the axis on which they are spread most.
    fn sweep(&mut self, scene: &Scene, world_from_rigid: &[Transform], margin: f64) {
        let half_margin = 0.5 * margin;
        let (mut sum, mut squares) = (Vec3::ZERO, Vec3::ZERO);
        for (bounds, cluster) in self.bounds.iter_mut().zip(&scene.clusters) {
            let nothing = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
            *bounds = (cluster.first..cluster.end).fold(nothing, |(low, high), i| {
                let reach = Vec3::splat(scene.shapes[i].radius + half_margin);
                (low.min(self.centres[i] - reach), high.max(self.centres[i] + reach))
            });
            let middle = (bounds.0 + bounds.1) * 0.5;
            if middle.is_finite() {
                sum += middle;
                squares += middle * middle;
            }
        }
        let spread = squares - sum * sum / scene.clusters.len() as f64;
        let axis = longest(spread);
        let bounds = &self.bounds;
        // Nearly sorted from the last step: insertion takes about one pass.
        insertion_sort(&mut self.order, |&i, &j| {
            let (p, q) = (bounds[i as usize].0[axis], bounds[j as usize].0[axis]);
            p.total_cmp(&q).then(i.cmp(&j)).is_lt()
        });
        self.swept.clear();
        self.swept.extend(self.order.iter().map(|&i| self.bounds[i as usize]));
        for (at, &(low, high)) in self.swept.iter().enumerate() {
            let i = self.order[at] as usize;
            let reach = high[axis];
            for (k, &(other_low, other_high)) in self.swept[at + 1..].iter().enumerate() {
                if other_low[axis] > reach {
                    break;
                }
                if other_low.cmpgt(high).any() || low.cmpgt(other_high).any() {
                    continue;
                }
                let j = self.order[at + 1 + k] as usize;
                if scene.clusters[i].is_dynamic || scene.clusters[j].is_dynamic {
                    let pairs = &mut self.pairs;
                    cluster_pairs(scene, &self.centres, world_from_rigid, (i, j), margin, pairs);
                }
            }
        }
    }

    fn look_closely(&mut self, scene: &Scene, world_from_rigid: &[Transform], margin: f64) {
        let shape_at = |place: Place| match place {
            Place::Plane(i) => &scene.planes[i as usize],
            Place::Shape(i) => &scene.shapes[i as usize],
        };
        for &(_, _, a, b) in &self.pairs {
            let (a, b) = (shape_at(a), shape_at(b));
            let at_a = world_from_rigid[a.rigid_idx] * a.rigid_from_shape;
            let at_b = world_from_rigid[b.rigid_idx] * b.rigid_from_shape;
            if !at_a.is_finite() || !at_b.is_finite() {
                continue;
            }
            self.touches.clear();
            let (side_a, side_b) = (
                Side { form: &a.form, world_from_form: &at_a },
                Side { form: &b.form, world_from_form: &at_b },
            );
            pair::touches(&side_a, &side_b, margin, &mut self.search, &mut self.touches);
            self.points.extend(self.touches.iter().map(|touch| ContactPoint {
                body_a: a.body_idx,
                body_b: b.body_idx,
                shape_a: a.shape_idx,
                shape_b: b.shape_idx,
                position: touch.position,
                normal: touch.normal,
                depth: touch.depth,
                feature: touch.feature,
            }));
        }
    }
}

fn in_order(a: (u32, Place), b: (u32, Place)) -> (u32, u32, Place, Place) {
    if a.0 < b.0 { (a.0, b.0, a.1, b.1) } else { (b.0, a.0, b.1, a.1) }
}

/// Pairs of shapes of two clusters that come near each other.
fn cluster_pairs(
    scene: &Scene,
    centres: &[Vec3],
    world_from_rigid: &[Transform],
    (i, j): (usize, usize),
    margin: f64,
    out: &mut Vec<(u32, u32, Place, Place)>,
) {
    let (cluster_a, cluster_b) = (&scene.clusters[i], &scene.clusters[j]);
    for p in cluster_a.first..cluster_a.end {
        for q in cluster_b.first..cluster_b.end {
            let (a, b) = (&scene.shapes[p], &scene.shapes[q]);
            let reach = a.radius + b.radius + margin;
            if centres[p].distance_squared(centres[q]) < reach * reach
                && scene.may_touch(a, b)
                && reaches(a, world_from_rigid, b, centres[q], margin)
                && reaches(b, world_from_rigid, a, centres[p], margin)
            {
                let (p, q) = (Place::Shape(p as u32), Place::Shape(q as u32));
                out.push(in_order((a.idx, p), (b.idx, q)));
            }
        }
    }
}

/// Whether the ball around `other` comes near the box around `shape`.
fn reaches(
    shape: &SceneShape,
    world_from_rigid: &[Transform],
    other: &SceneShape,
    centre: Vec3,
    margin: f64,
) -> bool {
    let at = world_from_rigid[shape.rigid_idx] * shape.rigid_from_shape;
    let inside = at.rotation.conjugate() * (centre - at.translation) - shape.centre;
    let outside = (inside.abs() - shape.half).max(Vec3::ZERO);
    let reach = other.radius + margin;
    outside.length_squared() < reach * reach
}

fn insertion_sort<T: Copy>(items: &mut [T], is_before: impl Fn(&T, &T) -> bool) {
    for i in 1..items.len() {
        let item = items[i];
        let mut j = i;
        while j > 0 && is_before(&item, &items[j - 1]) {
            items[j] = items[j - 1];
            j -= 1;
        }
        items[j] = item;
    }
}
