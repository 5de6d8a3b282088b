//! Triangles to look at: a mesh of the World goes in, with its tree and its smoothed normals it
//! comes out, so that all of it is done once.

use std::collections::BTreeMap;

use headland_base::Vec3;
use headland_base::maths::{cos, sqrt};

use super::bvh::{Bounds, Bvh, Ray};

/// Faces that meet at less than this are one bent surface; at more, there is an edge \[rad\].
/// 40°: a cylinder of twelve sides is round, a box is not.
const CREASE: f64 = 0.7;

/// Triangles with what is needed to draw them and to send rays at them.
#[derive(Clone, Debug)]
pub struct Mesh {
    corners: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Outwards at each corner of each triangle; unit vectors.
    normals: Vec<[[f32; 3]; 3]>,
    /// Where each corner of each triangle is on a texture; or empty.
    texture_places: Vec<[[f32; 2]; 3]>,
    is_closed: bool,
    bvh: Bvh,
}

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub distance: f64,
    pub normal: Vec3,
}

impl Mesh {
    /// From corners and triangles that run counter-clockwise seen from outside. A closed surface
    /// that is inside out is turned around, and an open one is seen from both sides.
    pub fn new(corners: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
        Mesh::textured(corners, triangles, Vec::new())
    }

    /// The same with the places of the triangles' corners on a texture.
    pub fn textured(
        corners: Vec<Vec3>,
        mut triangles: Vec<[u32; 3]>,
        mut texture_places: Vec<[[f32; 2]; 3]>,
    ) -> Mesh {
        let is_closed = is_closed(&triangles);
        if is_closed && volume(&corners, &triangles) < 0.0 {
            triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
            texture_places.iter_mut().for_each(|places| places.swap(1, 2));
        }
        let at = |i: u32| corners[i as usize];
        let boxes: Vec<Bounds> = triangles.iter().map(|t| Bounds::of(t.map(at))).collect();
        let bvh = Bvh::build(&boxes);
        let normals = smoothed(&corners, &triangles);
        Mesh { corners, triangles, normals, texture_places, is_closed, bvh }
    }

    /// Corner points \[m\].
    pub fn corners(&self) -> &[Vec3] {
        &self.corners
    }

    /// Corners of each triangle, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The normals at the corners of a triangle.
    pub fn normals(&self, triangle: usize) -> &[[f32; 3]; 3] {
        &self.normals[triangle]
    }

    /// Where the corners of a triangle are on a texture, where that is known.
    pub fn texture_places(&self, triangle: usize) -> Option<&[[f32; 2]; 3]> {
        self.texture_places.get(triangle)
    }

    /// Whether its surface has no rim: then only its outside is seen.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Its tree over the triangles.
    #[cfg(feature = "wgpu")]
    pub(crate) fn tree(&self) -> &Bvh {
        &self.bvh
    }

    /// Around all of it.
    pub fn bounds(&self) -> Bounds {
        self.bvh.bounds()
    }

    /// Where a ray meets it first.
    pub(crate) fn cast(&self, ray: &Ray) -> Option<Met> {
        let mut best: Option<Met> = None;
        let shear = Shear::along(ray.direction);
        self.bvh.walk(ray, |i, max| {
            let corners = self.triangles[i as usize].map(|c| self.corners[c as usize]);
            match cast_triangle(corners, ray, &shear, self.is_closed) {
                Some((distance, normal)) if distance < max => {
                    best = Some(Met { distance, normal });
                    distance
                }
                _ => max,
            }
        });
        best
    }
}

/// Where a ray meets a triangle, and its normal on the side of the ray.
pub(crate) fn cast_triangle(
    corners: [Vec3; 3],
    ray: &Ray,
    shear: &Shear,
    one_sided: bool,
) -> Option<(f64, Vec3)> {
    let corners = corners.map(|corner| corner - ray.origin);
    let flat = corners.map(|corner| shear.flat(corner));
    if !shear.is_around(&flat, one_sided) {
        return None;
    }
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let steepness = ray.direction.dot(normal);
    if steepness == 0.0 {
        return None;
    }
    let distance = a.dot(normal) / steepness;
    if !(distance >= ray.min && distance <= ray.max) {
        return None;
    }
    let normal = normal / sqrt(normal.dot(normal));
    Some((distance, if steepness < 0.0 { normal } else { -normal }))
}

/// The plane across a ray, for asking whether the ray passes inside of a flat outline.
///
/// Every corner is moved along the ray onto that plane by itself, whichever outlines it belongs
/// to, and then the sign of a difference of two products is asked, which rounding never turns
/// around (Woop, Benthin and Wald 2013). So what outlines share, edges and corners, the ray
/// passes on the same side of for all of them: none slips through.
pub(crate) struct Shear {
    axes: [usize; 3],
    slope: [f64; 2],
}

impl Shear {
    pub fn along(direction: Vec3) -> Shear {
        let size = direction.abs();
        let z = if size.x > size.y && size.x > size.z {
            0
        } else if size.y > size.z {
            1
        } else {
            2
        };
        let (x, y) = ((z + 1) % 3, (z + 2) % 3);
        // Outlines keep the way they run.
        let (x, y) = if direction[z] < 0.0 { (y, x) } else { (x, y) };
        Shear { axes: [x, y, z], slope: [direction[x] / direction[z], direction[y] / direction[z]] }
    }

    /// A point, given from the ray's origin, on the plane.
    #[inline(always)]
    pub fn flat(&self, point: Vec3) -> [f64; 2] {
        let [x, y, z] = self.axes;
        [point[x] - self.slope[0] * point[z], point[y] - self.slope[1] * point[z]]
    }

    /// Whether the ray passes inside of an outline that runs counter-clockwise seen against the
    /// ray; or the other way, where that is allowed.
    #[inline(always)]
    pub fn is_around<const N: usize>(&self, outline: &[[f64; 2]; N], one_sided: bool) -> bool {
        let (mut is_front, mut is_back) = (true, true);
        for i in 0..N {
            let (a, b) = (outline[i], outline[(i + 1) % N]);
            let side = b[0] * a[1] - b[1] * a[0];
            is_front &= side >= 0.0;
            is_back &= side <= 0.0;
        }
        is_front || (is_back && !one_sided)
    }
}

/// Every edge is run through once each way.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let edges = triangles.iter().flat_map(|[a, b, c]| [(*a, *b), (*b, *c), (*c, *a)]);
    let mut sorted: Vec<(u32, u32, bool)> =
        edges.map(|(a, b)| (a.min(b), a.max(b), a < b)).collect();
    sorted.sort_unstable();
    let (pairs, rest) = sorted.as_chunks::<2>();
    let fits = |[a, b]: &[(u32, u32, bool); 2]| (a.0, a.1) == (b.0, b.1) && a.2 != b.2;
    // Where more than two triangles share an edge, the two ways come in runs of equals.
    let balanced = || {
        let mut sums: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        for (a, b, forth) in &sorted {
            *sums.entry((*a, *b)).or_default() += if *forth { 1 } else { -1 };
        }
        sums.values().all(|sum| *sum == 0)
    };
    rest.is_empty() && (pairs.iter().all(fits) || balanced())
}

fn volume(corners: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let at = |i: u32| corners[i as usize] - corners[triangles[0][0] as usize];
    triangles.iter().map(|[a, b, c]| at(*a).dot(at(*b).cross(at(*c)))).sum()
}

/// At each corner of each triangle, the mean of the faces around it that bend less than
/// [`CREASE`] away, each by its area.
fn smoothed(corners: &[Vec3], triangles: &[[u32; 3]]) -> Vec<[[f32; 3]; 3]> {
    let at = |i: u32| corners[i as usize];
    let areas: Vec<Vec3> =
        triangles.iter().map(|[a, b, c]| (at(*b) - at(*a)).cross(at(*c) - at(*a))).collect();
    let unit = |v: Vec3| {
        let length = sqrt(v.dot(v));
        if length > 0.0 { v / length } else { Vec3::ZERO }
    };
    let faces: Vec<Vec3> = areas.iter().map(|area| unit(*area)).collect();
    // Faces around each corner, one after the other.
    let mut starts = vec![0u32; corners.len() + 1];
    triangles.iter().flatten().for_each(|i| starts[*i as usize + 1] += 1);
    (0..corners.len()).for_each(|i| starts[i + 1] += starts[i]);
    let mut around = vec![0u32; triangles.len() * 3];
    let mut free = starts.clone();
    for (face, triangle) in triangles.iter().enumerate() {
        for i in triangle {
            around[free[*i as usize] as usize] = face as u32;
            free[*i as usize] += 1;
        }
    }
    let least = cos(CREASE);
    let smooth = |face: usize, corner: u32| {
        let (from, to) = (starts[corner as usize], starts[corner as usize + 1]);
        // A fan of thousands of faces, as on the lid of a fine cylinder, is flat: its own is it.
        if to - from > 256 {
            return faces[face];
        }
        let near = around[from as usize..to as usize].iter().map(|other| *other as usize);
        let near = near.filter(|other| faces[*other].dot(faces[face]) >= least);
        unit(near.fold(Vec3::ZERO, |sum, other| sum + areas[other]))
    };
    let one = |(face, triangle): (usize, &[u32; 3])| {
        triangle.map(|corner| smooth(face, corner).to_array().map(|x| x as f32))
    };
    triangles.iter().enumerate().map(one).collect()
}
