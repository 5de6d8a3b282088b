//! Worlds made by chance, the same ones every time.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "each test file uses what it needs")]

use std::sync::Arc;

use headland_base::maths::{TAU, Vec2};
use headland_base::{Quat, Transform, Vec3};
use headland_sense::scene::{Scene, Show};
use headland_world::{Geometry, HeightGrid, Link, Material, Model, TriMesh, Visual, World};

/// Numbers by chance (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.within(-size, size), self.within(-size, size), self.within(-size, size))
    }
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector(1.0);
            if v.length() > 0.1 && v.length() < 1.0 {
                return v.normalize();
            }
        }
    }
    pub fn turn(&mut self) -> Quat {
        let axis = self.direction();
        headland_base::maths::quat_from_axis_angle(axis, self.within(0.0, TAU))
    }
    pub fn pose(&mut self, size: f64) -> Transform {
        Transform::new(self.turn(), self.vector(size))
    }
}

/// A ball of triangles: closed, `n` rings of `2n` sides.
pub fn ball_mesh(radius: f64, n: usize) -> TriMesh {
    use headland_base::maths::{PI, cos, sin};
    let m = 2 * n;
    let mut corners = vec![Vec3::new(0.0, 0.0, radius), Vec3::new(0.0, 0.0, -radius)];
    for i in 1..n {
        let polar = PI * i as f64 / n as f64;
        for j in 0..m {
            let around = TAU * j as f64 / m as f64;
            let (x, y) = (sin(polar) * cos(around), sin(polar) * sin(around));
            corners.push(Vec3::new(x, y, cos(polar)) * radius);
        }
    }
    let at = |i: usize, j: usize| (2 + (i - 1) * m + j % m) as u32;
    let mut triangles = Vec::new();
    for j in 0..m {
        triangles.push([0, at(1, j), at(1, j + 1)]);
        triangles.push([1, at(n - 1, j + 1), at(n - 1, j)]);
        for i in 1..n - 1 {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    TriMesh::new(corners, triangles).unwrap()
}

pub fn mesh(mesh: TriMesh) -> Geometry {
    Geometry::Mesh {
        uri: "inline://mesh".to_string(),
        scale: Vec3::ONE,
        submesh: None,
        mesh: Arc::new(mesh),
        convex: false,
    }
}

/// One of every form.
pub fn form(kind: usize, dice: &mut Dice) -> Geometry {
    let (a, b) = (dice.within(0.1, 0.6), dice.within(0.1, 0.6));
    match kind % 10 {
        0 => Geometry::Box { size: Vec3::new(a, b, dice.within(0.1, 0.9)) },
        1 => Geometry::Sphere { radius: a },
        2 => Geometry::Cylinder { radius: a * 0.5, length: b },
        3 => Geometry::Capsule { radius: a * 0.5, length: b },
        4 => Geometry::Ellipsoid { radii: Vec3::new(a, b, dice.within(0.05, 0.5)) },
        5 => Geometry::Cone { radius: a * 0.7, length: b },
        6 => Geometry::Plane { normal: dice.direction(), size: Vec2::new(a * 3.0, b * 3.0) },
        7 => mesh(ball_mesh(a * 0.7, 7)),
        8 => {
            let n = 9;
            let heights = (0..n * n).map(|_| dice.within(0.0, 0.3)).collect();
            Geometry::Heightmap {
                uri: "inline://hills".to_string(),
                size: Vec3::new(1.5, 1.0, 0.3),
                position: Vec3::ZERO,
                heights: Arc::new(HeightGrid::new(n, n, heights).unwrap()),
            }
        }
        _ => {
            let ring = |r: f64| {
                [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]
                    .map(|(x, y)| Vec2::new(x * r, y * r))
                    .to_vec()
            };
            Geometry::Polyline { outlines: vec![ring(a), ring(a * 0.5)], height: b }
        }
    }
}

pub fn visual(name: &str, link_from_shape: Transform, geometry: Geometry) -> Visual {
    Visual {
        name: name.to_string(),
        link_from_shape,
        geometry,
        material: Material::default(),
        transparency: 0.0,
        cast_shadows: true,
    }
}

/// A world of `n` things by chance around the origin, each a link of its own.
pub fn world(dice: &mut Dice, n: usize, size: f64) -> World {
    let one = |i: usize, dice: &mut Dice| {
        let geometry = form(i, dice);
        let shape = visual("shape", dice.pose(0.1), geometry);
        let link = Link { name: "link".to_string(), visuals: vec![shape], ..Link::default() };
        Model {
            name: format!("thing_{i}"),
            parent_from_model: dice.pose(size),
            links: vec![link],
            ..Model::default()
        }
    };
    let models = (0..n).map(|i| one(i, dice)).collect();
    World { models, ..World::default() }
}

pub fn scene(world: &World) -> Scene {
    Scene::of(world, Show::Visuals)
}
