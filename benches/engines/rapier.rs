//! Rapier by hand: the same boxes and settings, and no hook that asks which pairs may touch.

use headland_base::{Mat3, Vec3};
use rapier3d_f64::prelude as rp;

use super::Bare;

/// Rapier's own world, and its top box.
pub struct Rapier {
    physics: rp::PhysicsWorld,
    top: rp::RigidBodyHandle,
}

impl Rapier {
    /// The stack of `headland_bench::stack_world`, as the engine `rapier` sets it up.
    pub fn new(n_boxes: usize) -> Rapier {
        let gravity = Vec3::new(0.0, 0.0, -9.81);
        let mut physics = rp::PhysicsWorld { gravity, ..Default::default() };
        let dt = 1e-3;
        let parameters = &mut physics.integration_parameters;
        parameters.dt = dt;
        parameters.min_ccd_dt = dt / 100.0;
        parameters.num_solver_iterations = 4;
        parameters.normalized_max_linear_velocity = f64::MAX;
        parameters.contact_softness.natural_frequency = 120.0;
        parameters.static_contact_softness.natural_frequency = 240.0;
        parameters.contact_recycling = false;
        parameters.contact_clustering = false;
        parameters.friction_in_bias_pass = true;
        let ground = physics.insert_body(rp::RigidBodyBuilder::fixed().build());
        physics.insert_collider(collider(rp::SharedShape::halfspace(Vec3::Z)), Some(ground));
        let mut top = ground;
        for i in 0..n_boxes {
            let inertia = Mat3::from_diagonal(Vec3::splat(0.0417));
            let mass = rp::MassProperties::with_inertia_matrix(Vec3::ZERO, 1.0, inertia);
            let body = rp::RigidBodyBuilder::dynamic()
                .translation(Vec3::Z * (0.25 + 0.5 * i as f64))
                .additional_mass_properties(mass)
                .allow_fast_rotation(true)
                .can_sleep(false)
                .build();
            top = physics.insert_body(body);
            physics.bodies[top].enable_gyroscopic_forces(true);
            physics.insert_collider(collider(rp::SharedShape::cuboid(0.25, 0.25, 0.25)), Some(top));
        }
        Rapier { physics, top }
    }
}

fn collider(shape: rp::SharedShape) -> rp::Collider {
    rp::ColliderBuilder::new(shape)
        .density(0.0)
        .friction(1.0)
        .friction_combine_rule(rp::CoefficientCombineRule::Min)
        .restitution(0.0)
        .restitution_combine_rule(rp::CoefficientCombineRule::Min)
        .build()
}

impl Bare for Rapier {
    fn step(&mut self) {
        self.physics.step();
    }

    fn top_height(&mut self) -> f64 {
        self.physics.bodies[self.top].translation().z
    }
}
