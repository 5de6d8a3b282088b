//! Detection: where everything is goes in, the points where it touches come out.
//!
//! ```text
//! poses ─► boxes around robots ─┬─► planes ───────────────────────┐
//!                               ├─► pairs within a robot          ├─► pairs of shapes, in
//!                               └─► robots, swept along an axis; ─┘   order ─► points
//!                                   rigids and shapes within them
//! ```
//!
//! A box around a robot needs only where its rigids are, not how they are turned. Who comes near
//! something is looked at more closely: balls around its rigids, and a box around those.
//!
//! The detector is scratch: it keeps memory, the order of the last sweep and which links of a
//! robot are far apart, which only makes the next call quicker. Asked the same, a fresh one gives the same bytes.

use headland_base::{Transform, Vec3};

use super::apart::Apart;
use super::convex::Search;
use super::form::longest;
use super::manifold::Side;
use super::pair;
use super::round::gap_of_segments;
use super::scene::{Cluster, Group, Mover, Scene, SceneShape};
use super::touching::Touch;
use super::{ContactPoint, Form};
use crate::state::RigidState;

/// Something that is somewhere: a rigid, for who looks for contacts.
pub trait Posed {
    /// Where, in the world.
    fn pose(&self) -> &Transform;
}

impl Posed for Transform {
    fn pose(&self) -> &Transform {
        self
    }
}

impl Posed for RigidState {
    fn pose(&self) -> &Transform {
        &self.world_from_rigid
    }
}

/// Finds contacts, step after step, without asking for memory once it has seen the most.
pub struct Detector {
    /// Centres of the balls around the scene's clusters, in the world; of groups that were
    /// looked at closely in this call.
    balls: Vec<Vec3>,
    /// Lowest and highest corner of each group: roughly, or closely where that is known.
    bounds: Vec<(Vec3, Vec3)>,
    /// Groups that were looked at closely in this call.
    is_close: Vec<bool>,
    /// Groups by their lowest coordinate along the axis of the last sweep.
    order: Vec<u32>,
    /// Their bounds in that order, which lie together in memory as the sweep reads them.
    swept: Vec<(Vec3, Vec3)>,
    apart: Apart,
    placed: PlacedShapes,
    /// Pairs to look at: ranks of the two parts, then where they are in the scene.
    pairs: Vec<(u32, u32, Place, Place)>,
    /// Pairs within robots that were not known to be apart.
    n_inner_asked: usize,
    search: Search,
    touches: Vec<Touch>,
    points: Vec<ContactPoint>,
}

/// Where shapes are in the world, worked out when somebody comes near.
struct PlacedShapes {
    /// The pose of each cluster's rigid that the rest was worked out for.
    of: Vec<Transform>,
    /// Centres of the balls around shapes.
    centres: Vec<Vec3>,
    poses: Vec<Transform>,
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
            balls: vec![Vec3::ZERO; scene.clusters.len()],
            bounds: vec![(Vec3::ZERO, Vec3::ZERO); scene.groups.len()],
            is_close: vec![false; scene.groups.len()],
            order: (0..scene.groups.len() as u32).collect(),
            swept: Vec::new(),
            apart: Apart::new(scene),
            placed: PlacedShapes::new(scene),
            pairs: Vec::new(),
            n_inner_asked: 0,
            search: Search::new(),
            touches: Vec::new(),
            points: Vec::new(),
        }
    }

    /// Every point where two parts overlap, or come within `margin` \[m\], in the order of
    /// bodies and shapes. `rigids` are those of the model; one whose pose is not finite
    /// touches nothing.
    pub fn detect(&mut self, scene: &Scene, rigids: &[impl Posed], margin: f64) -> &[ContactPoint] {
        assert_eq!(rigids.len(), scene.n_rigids, "one pose per rigid");
        self.pairs.clear();
        self.points.clear();
        self.bound(scene, rigids, margin);
        self.near_planes(scene, rigids, margin);
        self.within_groups(scene, rigids, margin);
        if scene.groups.len() > 1 {
            self.sweep(scene, rigids, margin);
        }
        self.pairs.sort_unstable();
        self.look_closely(scene, rigids, margin);
        &self.points
    }

    /// How many pairs of the last call were near enough to be looked at closely.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// How many pairs of links within robots the last call asked about, because they were not
    /// known to be apart.
    pub fn n_inner_asked(&self) -> usize {
        self.n_inner_asked
    }

    /// A rough box around every group.
    fn bound(&mut self, scene: &Scene, rigids: &[impl Posed], margin: f64) {
        let half_margin = 0.5 * margin;
        self.is_close.fill(false);
        for (bounds, group) in self.bounds.iter_mut().zip(&scene.groups) {
            let mut box_around = NOTHING;
            for cluster in &scene.clusters[group.first..group.end] {
                let at = rigids[cluster.rigid_idx].pose().translation;
                let reach = Vec3::splat(cluster.reach + half_margin);
                box_around = (lesser(box_around.0, at - reach), greater(box_around.1, at + reach));
            }
            *bounds = box_around;
        }
    }

    /// The balls around a group's rigids and the box around those.
    fn look_close(&mut self, scene: &Scene, rigids: &[impl Posed], group: usize, margin: f64) {
        if std::mem::replace(&mut self.is_close[group], true) {
            return;
        }
        let half_margin = 0.5 * margin;
        let mut box_around = NOTHING;
        let Group { first, end, .. } = scene.groups[group];
        for (ball, cluster) in self.balls[first..end].iter_mut().zip(&scene.clusters[first..end]) {
            *ball = rigids[cluster.rigid_idx].pose().point(cluster.centre_in_rigid);
            let reach = Vec3::splat(cluster.radius + half_margin);
            box_around =
                (lesser(box_around.0, *ball - reach), greater(box_around.1, *ball + reach));
        }
        self.bounds[group] = box_around;
    }

    fn near_planes(&mut self, scene: &Scene, rigids: &[impl Posed], margin: f64) {
        for (i, plane) in scene.planes.iter().enumerate() {
            let Form::Plane { normal } = &plane.form else { continue };
            let at = *rigids[plane.rigid_idx].pose() * plane.rigid_from_shape;
            let normal = at.vector(*normal);
            let level = at.translation.dot(normal);
            let is_level = normal.x.abs().max(normal.y.abs()) < LEVEL;
            for (g, group) in scene.groups.iter().enumerate() {
                // What is told to stand on level ground stands there whatever touches.
                let matters = match group.mover {
                    Mover::Forces | Mover::ForcesOnWhole => true,
                    Mover::Orders => !is_level,
                    Mover::Nothing => plane.mover != Mover::Nothing,
                };
                if !matters || lowest_along(self.bounds[g], normal) - level > margin {
                    continue;
                }
                // Not by the group's balls: most links of who stands are far up, which where they
                // are says already, and turning every one of them takes as long as all the rest.
                for c in group.first..group.end {
                    let cluster = &scene.clusters[c];
                    let pose = rigids[cluster.rigid_idx].pose();
                    let height = |at: Vec3| at.dot(normal) - level;
                    // Written so that a place that is not a number is not near.
                    if height(pose.translation) < cluster.reach + margin
                        && height(pose.point(cluster.centre_in_rigid)) < cluster.radius + margin
                    {
                        self.placed.place(scene, c, rigids);
                        let near = Near { plane: (i, plane), normal, level, margin };
                        near.take(scene, cluster, &self.placed, &mut self.pairs);
                    }
                }
            }
        }
    }

    /// Links of one robot against each other.
    fn within_groups(&mut self, scene: &Scene, rigids: &[impl Posed], margin: f64) {
        for (g, group) in scene.groups.iter().enumerate() {
            if group.inner.is_empty() {
                continue;
            }
            self.look_close(scene, rigids, g, margin);
            for c in group.first..group.end {
                let cluster = &scene.clusters[c];
                let rotation = rigids[cluster.rigid_idx].pose().rotation;
                self.apart.follow(c, self.balls[c], rotation, cluster.radius);
            }
            self.apart.forget_long(group);
        }
        self.n_inner_asked = 0;
        for (pair, &(i, j)) in scene.inner.iter().enumerate() {
            let both = (i as usize, j as usize);
            if !self.apart.knows(pair, both, margin) {
                self.n_inner_asked += 1;
                let gap = match self.gap_of_balls(scene, both.0, both.1) {
                    gap if gap < margin => self.cluster_pairs(scene, rigids, both, margin),
                    gap => gap,
                };
                self.apart.keep(pair, both, gap);
            }
        }
    }

    /// Between the balls around two clusters \[m\].
    fn gap_of_balls(&self, scene: &Scene, i: usize, j: usize) -> f64 {
        let radii = scene.clusters[i].radius + scene.clusters[j].radius;
        self.balls[i].distance(self.balls[j]) - radii
    }

    /// Sweep and prune over groups, along the axis on which they are spread most.
    fn sweep(&mut self, scene: &Scene, rigids: &[impl Posed], margin: f64) {
        let (mut sum, mut squares) = (Vec3::ZERO, Vec3::ZERO);
        for bounds in &self.bounds {
            let middle = (bounds.0 + bounds.1) * 0.5;
            if middle.is_finite() {
                sum += middle;
                squares += middle * middle;
            }
        }
        let spread = squares - sum * sum / scene.groups.len() as f64;
        let axis = longest(spread);
        let bounds = &self.bounds;
        // Nearly sorted from the last step: insertion takes about one pass.
        insertion_sort(&mut self.order, |&i, &j| {
            let (p, q) = (bounds[i as usize].0[axis], bounds[j as usize].0[axis]);
            p.total_cmp(&q).then(i.cmp(&j)).is_lt()
        });
        self.swept.clear();
        self.swept.extend(self.order.iter().map(|&i| self.bounds[i as usize]));
        for at in 0..self.swept.len() {
            let (low, high) = self.swept[at];
            let i = self.order[at] as usize;
            for next in at + 1..self.swept.len() {
                let (other_low, other_high) = self.swept[next];
                if other_low[axis] > high[axis] {
                    break;
                }
                if other_low.cmpgt(high).any() || low.cmpgt(other_high).any() {
                    continue;
                }
                let j = self.order[next] as usize;
                self.group_pairs(scene, rigids, (i, j), margin);
            }
        }
    }

    /// Pairs of shapes of two groups whose boxes overlap.
    fn group_pairs(
        &mut self,
        scene: &Scene,
        rigids: &[impl Posed],
        (i, j): (usize, usize),
        margin: f64,
    ) {
        let (a, b) = (&scene.groups[i], &scene.groups[j]);
        if a.mover == Mover::Nothing && b.mover == Mover::Nothing {
            return;
        }
        self.look_close(scene, rigids, i, margin);
        self.look_close(scene, rigids, j, margin);
        let ((low, high), (other_low, other_high)) = (self.bounds[i], self.bounds[j]);
        if other_low.cmpgt(high).any() || low.cmpgt(other_high).any() {
            return;
        }
        for p in a.first..a.end {
            for q in b.first..b.end {
                if self.gap_of_balls(scene, p, q) < margin {
                    self.cluster_pairs(scene, rigids, (p, q), margin);
                }
            }
        }
    }

    /// Pairs of shapes of two clusters that come near each other. What is at least between any
    /// two of them that may touch \[m\].
    fn cluster_pairs(
        &mut self,
        scene: &Scene,
        rigids: &[impl Posed],
        (i, j): (usize, usize),
        margin: f64,
    ) -> f64 {
        self.placed.place(scene, i, rigids);
        self.placed.place(scene, j, rigids);
        let (cluster_a, cluster_b) = (&scene.clusters[i], &scene.clusters[j]);
        let mut least = f64::INFINITY;
        for p in cluster_a.first..cluster_a.end {
            for q in cluster_b.first..cluster_b.end {
                let (a, b) = (&scene.shapes[p], &scene.shapes[q]);
                if !scene.may_touch(a, b) {
                    continue;
                }
                let gap = self.placed.gap((a, p), (b, q), margin);
                if gap < margin {
                    let (p, q) = (Place::Shape(p as u32), Place::Shape(q as u32));
                    self.pairs.push(in_order((a.idx, p), (b.idx, q)));
                }
                least = least.min(gap);
            }
        }
        least
    }

    fn look_closely(&mut self, scene: &Scene, rigids: &[impl Posed], margin: f64) {
        let PlacedShapes { poses, .. } = &self.placed;
        let placed = |place: Place| match place {
            Place::Plane(i) => {
                let plane = &scene.planes[i as usize];
                (plane, *rigids[plane.rigid_idx].pose() * plane.rigid_from_shape)
            }
            Place::Shape(i) => (&scene.shapes[i as usize], poses[i as usize]),
        };
        for &(_, _, a, b) in &self.pairs {
            let ((a, at_a), (b, at_b)) = (placed(a), placed(b));
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

/// A box around nothing.
const NOTHING: (Vec3, Vec3) = (Vec3::INFINITY, Vec3::NEG_INFINITY);

/// The lesser of each coordinate. What is no number is passed over: one that is, is as good, and
/// saves what `min` does to find out.
fn lesser(a: Vec3, b: Vec3) -> Vec3 {
    let lesser = |a: f64, b: f64| if b < a { b } else { a };
    Vec3::new(lesser(a.x, b.x), lesser(a.y, b.y), lesser(a.z, b.z))
}

/// The greater of each coordinate.
fn greater(a: Vec3, b: Vec3) -> Vec3 {
    let greater = |a: f64, b: f64| if b > a { b } else { a };
    Vec3::new(greater(a.x, b.x), greater(a.y, b.y), greater(a.z, b.z))
}

/// Sine of the steepest slope that is level ground.
const LEVEL: f64 = 1e-9;

/// A plane that a cluster comes near.
struct Near<'a> {
    plane: (usize, &'a SceneShape),
    normal: Vec3,
    level: f64,
    margin: f64,
}

impl Near<'_> {
    /// Pairs of the plane with those shapes of the cluster that are near themselves.
    fn take(
        &self,
        scene: &Scene,
        cluster: &Cluster,
        placed: &PlacedShapes,
        out: &mut Vec<(u32, u32, Place, Place)>,
    ) {
        let (i, plane) = self.plane;
        for j in cluster.first..cluster.end {
            let shape = &scene.shapes[j];
            let height = placed.centres[j].dot(self.normal) - self.level;
            if height < shape.radius + self.margin && scene.may_touch(plane, shape) {
                let places = (Place::Plane(i as u32), Place::Shape(j as u32));
                out.push(in_order((plane.idx, places.0), (shape.idx, places.1)));
            }
        }
    }
}

impl PlacedShapes {
    fn new(scene: &Scene) -> PlacedShapes {
        let nowhere = Transform::from_translation(Vec3::NAN);
        PlacedShapes {
            of: vec![nowhere; scene.clusters.len()],
            centres: vec![Vec3::ZERO; scene.shapes.len()],
            poses: vec![nowhere; scene.shapes.len()],
        }
    }

    /// Places the shapes of a cluster, unless they are where they were.
    fn place(&mut self, scene: &Scene, cluster_idx: usize, rigids: &[impl Posed]) {
        let cluster = &scene.clusters[cluster_idx];
        let pose = *rigids[cluster.rigid_idx].pose();
        if is_same(&pose, &self.of[cluster_idx]) {
            return;
        }
        self.of[cluster_idx] = pose;
        for i in cluster.first..cluster.end {
            let shape = &scene.shapes[i];
            self.centres[i] = pose.point(shape.centre_in_rigid);
            self.poses[i] = pose * shape.rigid_from_shape;
        }
    }

    /// What is at least between two shapes \[m\], looked at no closer than the margin asks.
    fn gap(&self, (a, p): (&SceneShape, usize), (b, q): (&SceneShape, usize), margin: f64) -> f64 {
        let (centres, poses) =
            ((self.centres[p], self.centres[q]), (&self.poses[p], &self.poses[q]));
        let of_balls = centres.0.distance(centres.1) - (a.radius + b.radius);
        if of_balls >= margin {
            return of_balls;
        }
        if let (Some(one), Some(other)) = (a.segment(poses.0), b.segment(poses.1)) {
            return gap_of_segments(one, other);
        }
        let of_a = a.outside(poses.0, centres.1) - b.radius;
        if of_a >= margin {
            return of_a;
        }
        of_balls.max(of_a).max(b.outside(poses.1, centres.0) - a.radius)
    }
}

impl SceneShape {
    /// The segment of a ball or a capsule, as its middle, half its axis and its radius.
    fn segment(&self, at: &Transform) -> Option<(Vec3, Vec3, f64)> {
        match self.form {
            Form::Sphere { radius } => Some((at.translation, Vec3::ZERO, radius)),
            Form::Capsule { half_length, radius } => {
                Some((at.translation, at.vector(Vec3::Z * half_length), radius))
            }
            _ => None,
        }
    }

    /// How far a point is from the box around it \[m\].
    fn outside(&self, at: &Transform, point: Vec3) -> f64 {
        let inside = at.rotation.conjugate() * (point - at.translation) - self.centre;
        (inside.abs() - self.half).max(Vec3::ZERO).length()
    }
}

/// To the bit: equal numbers may still differ in the sign of a zero.
fn is_same(a: &Transform, b: &Transform) -> bool {
    let numbers = |pose: &Transform| {
        let (q, at) = (pose.rotation, pose.translation);
        [at.x, at.y, at.z, q.x, q.y, q.z, q.w]
    };
    let mut both = numbers(a).into_iter().zip(numbers(b));
    both.all(|(x, y)| x.to_bits() == y.to_bits())
}

/// How far along a direction a box begins.
fn lowest_along((low, high): (Vec3, Vec3), direction: Vec3) -> f64 {
    let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
    middle.dot(direction) - half.dot(direction.abs())
}

fn in_order(a: (u32, Place), b: (u32, Place)) -> (u32, u32, Place, Place) {
    if a.0 < b.0 { (a.0, b.0, a.1, b.1) } else { (b.0, a.0, b.1, a.1) }
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
