//! A tree of boxes: which of many things can a ray meet?
//!
//! Built once, over the triangles of a mesh or the shapes of a scene. When things move the boxes
//! are refitted from the leaves up and the tree stays as it is: that is a pass over an array, a
//! hundredth of the cost of building, and the same things stay near each other in a robot.

use headland_base::Vec3;

/// A box along the axes. Empty where `low` is above `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lowest corner \[m\].
    pub low: Vec3,
    /// The highest corner \[m\].
    pub high: Vec3,
}

impl Bounds {
    /// Holds nothing.
    pub const EMPTY: Bounds =
        Bounds { low: Vec3::splat(f64::INFINITY), high: Vec3::splat(f64::NEG_INFINITY) };

    /// The smallest that holds the points.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Bounds {
        points.into_iter().fold(Bounds::EMPTY, |bounds, p| Bounds {
            low: bounds.low.min(p),
            high: bounds.high.max(p),
        })
    }

    /// The smallest that holds both.
    pub fn union(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        !(self.low.cmple(self.high).all())
    }

    /// Its middle.
    pub fn centre(&self) -> Vec3 {
        (self.low + self.high) * 0.5
    }

    fn half_area(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let d = self.high - self.low;
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}

/// What is the same for every box that a ray is asked about.
#[derive(Clone, Copy)]
struct Slabs {
    origin: Vec3,
    inverse: Vec3,
    /// Along which axes the ray goes down: it enters a box at its high side there.
    is_down: [bool; 3],
    min: f64,
}

impl Slabs {
    fn new(ray: &Ray) -> Slabs {
        let inverse = Vec3::ONE / ray.direction;
        let is_down = inverse.to_array().map(|x| x < 0.0);
        Slabs { origin: ray.origin, inverse, is_down, min: ray.min }
    }

    /// How far along the ray a box begins, where the ray meets it up to `max`. Errs by letting a
    /// ray in, never by keeping one out.
    #[inline(always)]
    fn entry(&self, bounds: &Bounds, max: f64) -> Option<f64> {
        let Bounds { low, high } = *bounds;
        let pick = |axis: usize, a: f64, b: f64| if self.is_down[axis] { (b, a) } else { (a, b) };
        let (x, y, z) = (pick(0, low.x, high.x), pick(1, low.y, high.y), pick(2, low.z, high.z));
        let (near, far) = (Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1));
        let (a, b) = ((near - self.origin) * self.inverse, (far - self.origin) * self.inverse);
        // Zero times infinity, of a ray along a face, is no number; these pass over it. They are
        // one instruction each, where `f64::max` is three.
        let later = |t: f64, enter: f64| if t > enter { t } else { enter };
        let sooner = |t: f64, leave: f64| if t < leave { t } else { leave };
        let enter = later(a.z, later(a.y, later(a.x, self.min)));
        let leave = sooner(b.z, sooner(b.y, sooner(b.x, max)));
        (enter <= leave * (1.0 + 4e-15)).then_some(enter)
    }
}

/// A part of a ray: from `min` to `max` times `direction` beyond `origin`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it starts \[m\].
    pub origin: Vec3,
    /// Where it goes; distances are in lengths of this.
    pub direction: Vec3,
    /// Nothing nearer counts.
    pub min: f64,
    /// Nothing further counts.
    pub max: f64,
}

impl Ray {
    /// From a point along a direction without end.
    pub fn new(origin: Vec3, direction: Vec3) -> Ray {
        Ray { origin, direction, min: 0.0, max: f64::INFINITY }
    }
}

/// Leaves hold up to this many things.
const LEAF: usize = 4;
/// Places tried for a cut along an axis.
const BINS: usize = 16;
/// Below this depth cuts halve the number of things, so that the walk has a known depth.
const DEEP: usize = 32;
/// Deeper than any tree gets: [`DEEP`], and as many halvings as a count of 32 bits has.
const STACK: usize = 2 * (DEEP + 33);

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    /// Of a leaf: where its things begin in `order`. Else: its first child; the other is next.
    first: u32,
    /// Things in a leaf; 0 for what is none.
    n: u32,
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub struct Bvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl Bvh {
    /// Over things with these boxes, which are called by their index.
    pub fn build(boxes: &[Bounds]) -> Bvh {
        let mut bvh = Bvh { nodes: Vec::new(), order: (0..boxes.len() as u32).collect() };
        if boxes.is_empty() {
            return bvh;
        }
        bvh.nodes.push(Node { bounds: Bounds::EMPTY, first: 0, n: boxes.len() as u32 });
        let mut open = vec![(0usize, 0usize)];
        while let Some((at, depth)) = open.pop() {
            let Node { first, n, .. } = bvh.nodes[at];
            let things = &mut bvh.order[first as usize..(first + n) as usize];
            if n as usize <= LEAF {
                continue;
            }
            let cut = cut(things, boxes, depth) as u32;
            let left = bvh.nodes.len();
            bvh.nodes.push(Node { bounds: Bounds::EMPTY, first, n: cut });
            bvh.nodes.push(Node { bounds: Bounds::EMPTY, first: first + cut, n: n - cut });
            bvh.nodes[at] = Node { bounds: Bounds::EMPTY, first: left as u32, n: 0 };
            open.extend([(left, depth + 1), (left + 1, depth + 1)]);
        }
        bvh.refit(boxes);
        bvh
    }

    /// Fits the boxes of the tree to where the things are now.
    pub fn refit(&mut self, boxes: &[Bounds]) {
        assert_eq!(boxes.len(), self.order.len(), "the things the tree was built over");
        // A ray that just passes a corner may, rounded, just miss its box: boxes are larger by
        // more than rounding is, for rays from up to a million times the size of it all.
        let all = boxes.iter().copied().fold(Bounds::EMPTY, Bounds::union);
        let pad = Vec3::splat((all.high - all.low).max_element().max(0.0) * 1e-9);
        // A child stands after its parent.
        for at in (0..self.nodes.len()).rev() {
            let Node { first, n, .. } = self.nodes[at];
            let first = first as usize;
            self.nodes[at].bounds = match n {
                0 => self.nodes[first].bounds.union(self.nodes[first + 1].bounds),
                _ => {
                    let things = self.order[first..first + n as usize].iter();
                    let tight =
                        things.map(|i| boxes[*i as usize]).fold(Bounds::EMPTY, Bounds::union);
                    Bounds { low: tight.low - pad, high: tight.high + pad }
                }
            };
        }
    }

    /// Around everything.
    pub fn bounds(&self) -> Bounds {
        self.nodes.first().map_or(Bounds::EMPTY, |root| root.bounds)
    }

    /// Every node, a child after its parent: its box, what is first in it, and how many things it
    /// has, 0 where the first is its first child and the other is next.
    #[cfg(feature = "wgpu")]
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (Bounds, u32, u32)> {
        self.nodes.iter().map(|node| (node.bounds, node.first, node.n))
    }

    /// The things in the order of the leaves.
    #[cfg(feature = "wgpu")]
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Calls `meet` for the things a ray may meet, near boxes first; it says how far the ray
    /// still goes, and ends the walk by saying less than the ray's beginning.
    #[inline]
    pub fn walk(&self, ray: &Ray, mut meet: impl FnMut(u32, f64) -> f64) {
        let slabs = Slabs::new(ray);
        let mut max = ray.max;
        let mut stack = [(0u32, 0.0f64); STACK];
        let mut n_open = 0;
        let enter = |at: u32, max: f64| slabs.entry(&self.nodes[at as usize].bounds, max);
        if let Some(entry) = (!self.nodes.is_empty()).then(|| enter(0, max)).flatten() {
            stack[0] = (0, entry);
            n_open = 1;
        }
        while n_open > 0 {
            n_open -= 1;
            let (at, entry) = stack[n_open];
            if entry > max {
                continue;
            }
            let Node { first, n, .. } = self.nodes[at as usize];
            if n > 0 {
                for i in &self.order[first as usize..(first + n) as usize] {
                    max = meet(*i, max).min(max);
                }
                continue;
            }
            let mut children = [(first, enter(first, max)), (first + 1, enter(first + 1, max))];
            // The nearer one on top.
            if children[0].1 < children[1].1 || children[1].1.is_none() {
                children.swap(0, 1);
            }
            for (child, entry) in children {
                if let Some(entry) = entry {
                    stack[n_open] = (child, entry);
                    n_open += 1;
                }
            }
        }
    }
}

/// Orders things so that those before the answer go left and the others right: where the sum of
/// the areas times the numbers is least, which is what a ray can expect to pay.
fn cut(things: &mut [u32], boxes: &[Bounds], depth: usize) -> usize {
    let centre = |i: u32| {
        let box_ = &boxes[i as usize];
        if box_.is_empty() { Vec3::ZERO } else { box_.centre() }
    };
    let centres = Bounds::of(things.iter().map(|i| centre(*i)));
    let extent = centres.high - centres.low;
    let axis = (0..3).fold(0, |best, axis| if extent[axis] > extent[best] { axis } else { best });
    let half = things.len() / 2;
    if depth < DEEP && extent[axis] > 0.0 {
        let scale = BINS as f64 / extent[axis];
        let bin = |i: u32| (((centre(i)[axis] - centres.low[axis]) * scale) as usize).min(BINS - 1);
        let mut bins = [(Bounds::EMPTY, 0usize); BINS];
        for i in things.iter() {
            let (bounds, n) = &mut bins[bin(*i)];
            *bounds = bounds.union(boxes[*i as usize]);
            *n += 1;
        }
        let mut right = [0.0; BINS];
        let (mut bounds, mut n) = (Bounds::EMPTY, 0);
        for b in (1..BINS).rev() {
            bounds = bounds.union(bins[b].0);
            n += bins[b].1;
            right[b] = bounds.half_area() * n as f64;
        }
        let (mut bounds, mut n) = (Bounds::EMPTY, 0);
        let mut best = (f64::INFINITY, 0);
        for b in 1..BINS {
            bounds = bounds.union(bins[b - 1].0);
            n += bins[b - 1].1;
            let cost = bounds.half_area() * n as f64 + right[b];
            if n > 0 && n < things.len() && cost < best.0 {
                best = (cost, b);
            }
        }
        if best.1 > 0 {
            things.sort_unstable_by_key(|i| (bin(*i), *i));
            return things.partition_point(|i| bin(*i) < best.1);
        }
    }
    things.sort_unstable_by(|i, j| centre(*i)[axis].total_cmp(&centre(*j)[axis]).then(i.cmp(j)));
    half
}
