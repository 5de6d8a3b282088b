//! Small robots for the tests of the details, and a loop that steps them.

use std::sync::Arc;

use headland_base::maths::{Vec3, quat_from_rpy};
use headland_base::{Mat3, Transform};
use headland_sim::motion::{Drive, Pack, Robot};
use headland_sim::tree::{Forest, Tree};
use headland_sim::{Command, Inputs, Mode, Model, Order, State};
use headland_world::{
    Axis, Collision, Foot, Geometry, InertiaOrigin, Inertial, Joint, JointKind, Link,
    Model as WorldModel, Surface, Wheel, World,
};

/// A box of a given mass, with its own inertia.
pub fn link(name: &str, at: Vec3, size: Vec3, mass: f64) -> Link {
    let square = size * size * (mass / 12.0);
    let diagonal = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
    let shape = Collision {
        name: "box".into(),
        link_from_shape: Transform::IDENTITY,
        geometry: Geometry::Box { size },
        surface: Surface::default(),
    };
    Link {
        name: name.into(),
        model_from_link: Transform::from_translation(at),
        inertial: Inertial {
            mass,
            link_from_inertial: Transform::IDENTITY,
            inertia: Mat3::from_diagonal(diagonal),
            origin: InertiaOrigin::Given,
        },
        collisions: vec![shape],
        gravity: true,
        ..Link::default()
    }
}

pub fn joint(name: &str, parent: &str, child: &str, kind: JointKind) -> Joint {
    Joint {
        name: name.into(),
        parent: Some(parent.into()),
        child: child.into(),
        child_from_joint: Transform::IDENTITY,
        kind,
        opaque: Vec::new(),
    }
}

pub fn turns(axis: Vec3) -> JointKind {
    JointKind::Revolute(Axis::along(axis))
}

pub fn slides(axis: Vec3) -> JointKind {
    JointKind::Prismatic(Axis::along(axis))
}

/// Half the way between the feet.
pub const HALF_WIDTH: f64 = 0.05;

/// A trunk on legs that turn about the upright, slide forwards, slide upwards and tilt: steps
/// that one can reckon. Legs stand at the given places; joints are `yaw0`, `reach0`, `lift0`,
/// `tilt0` and so on.
pub fn post_walker(feet: &[Vec3]) -> WorldModel {
    let mut robot = WorldModel { name: "walker".into(), ..WorldModel::default() };
    robot.links.push(link("trunk", Vec3::Z * 0.5, Vec3::splat(0.2), 3.0));
    for (i, foot) in feet.iter().enumerate() {
        let mut carrier = "trunk".to_string();
        let kinds = [turns(Vec3::Z), slides(Vec3::X), slides(Vec3::Z), turns(Vec3::Y)];
        for (word, kind) in ["yaw", "reach", "lift", "tilt"].into_iter().zip(kinds) {
            let name = format!("{word}_link{i}");
            let size = if word == "tilt" { FOOT } else { Vec3::splat(0.02) };
            robot.links.push(link(&name, *foot + Vec3::Z * 0.01, size, 0.1));
            robot.joints.push(joint(&format!("{word}{i}"), &carrier, &name, kind));
            carrier = name;
        }
        robot.feet.push(Foot {
            link: format!("tilt_link{i}"),
            link_from_sole: Some(Transform::from_translation(Vec3::Z * -0.01)),
            size: Some([FOOT.x, FOOT.y]),
        });
    }
    robot
}

pub const FOOT: Vec3 = Vec3::new(0.1, 0.06, 0.02);

/// The two feet of a walker.
pub fn two_feet() -> [Vec3; 2] {
    [Vec3::new(0.0, HALF_WIDTH, 0.0), Vec3::new(0.0, -HALF_WIDTH, 0.0)]
}

/// A humanoid of 21 turning joints: six in each leg, three in each arm, three in the body.
pub fn humanoid() -> WorldModel {
    let mut robot = WorldModel { name: "humanoid".into(), ..WorldModel::default() };
    robot.links.push(link("trunk", Vec3::Z * 0.6, Vec3::new(0.15, 0.2, 0.3), 3.0));
    let mut chain = |side: &str, parent: &str, first: Vec3, axes: &[(Vec3, f64)]| {
        let (mut at, mut carrier) = (first, parent.to_string());
        for (i, (axis, down)) in axes.iter().enumerate() {
            at -= Vec3::Z * *down;
            let name = format!("{side}{i}");
            let size = if side.starts_with("leg") && i == 5 { FOOT } else { Vec3::splat(0.05) };
            robot.links.push(link(&name, at, size, 0.2));
            robot.joints.push(joint(&format!("{name}_joint"), &carrier, &name, turns(*axis)));
            carrier = name;
        }
    };
    let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
    let leg = [(z, 0.0), (x, 0.0), (y, 0.0), (y, 0.2), (y, 0.2), (x, 0.0)];
    chain("leg_left", "trunk", Vec3::new(0.0, 0.06, 0.45), &leg);
    chain("leg_right", "trunk", Vec3::new(0.0, -0.06, 0.45), &leg);
    let arm = [(y, 0.0), (x, 0.05), (y, 0.1)];
    chain("arm_left", "trunk", Vec3::new(0.0, 0.13, 0.7), &arm);
    chain("arm_right", "trunk", Vec3::new(0.0, -0.13, 0.7), &arm);
    chain("head", "trunk", Vec3::new(0.0, 0.0, 0.8), &[(z, 0.0), (y, 0.0), (x, 0.0)]);
    // The ankle is 5 cm above the ground; its link's shape is lower than itself.
    for side in ["leg_left5", "leg_right5"] {
        let foot = robot.links.iter_mut().find(|link| link.name == side).expect("a foot");
        foot.collisions[0].link_from_shape = Transform::from_translation(Vec3::Z * -0.04);
        robot.feet.push(Foot { link: side.into(), link_from_sole: None, size: None });
    }
    robot
}

/// A cart with wheels at these places, each steered by a joint of its own: `steer0`, `roll0`.
pub fn cart(wheels: &[Vec3], radius: f64) -> WorldModel {
    let mut robot = WorldModel { name: "cart".into(), ..WorldModel::default() };
    robot.links.push(link("body", Vec3::new(0.1, 0.0, 0.3), Vec3::new(0.8, 0.4, 0.2), 10.0));
    for (i, wheel) in wheels.iter().enumerate() {
        let at = Vec3::new(wheel.x, wheel.y, radius);
        let fork = format!("fork{i}");
        robot.links.push(link(&fork, at, Vec3::splat(0.05), 0.2));
        robot.links.push(link(&format!("wheel{i}"), at, Vec3::splat(radius), 0.5));
        robot.joints.push(joint(&format!("steer{i}"), "body", &fork, turns(Vec3::Z)));
        let rolls = JointKind::Continuous(Axis::along(Vec3::Y));
        robot.joints.push(joint(&format!("roll{i}"), &fork, &format!("wheel{i}"), rolls));
        robot.wheels.push(Wheel {
            joint: format!("roll{i}"),
            radius,
            steers_by: Some(format!("steer{i}")),
        });
    }
    robot
}

/// Copies of a robot, each at a place and heading of its own.
pub fn world_of(robot: &WorldModel, places: &[(Vec3, f64)]) -> Arc<World> {
    let copy = |(i, (at, yaw)): (usize, &(Vec3, f64))| WorldModel {
        name: format!("{}{i}", robot.name),
        parent_from_model: Transform::new(quat_from_rpy(0.0, 0.0, *yaw), *at),
        ..robot.clone()
    };
    let models = places.iter().enumerate().map(copy).collect();
    Arc::new(World { models, gravity: Vec3::Z * -9.81, ..World::default() })
}

/// Robots of one model in one pack, stepped.
pub struct Yard<P> {
    pub model: Model,
    pub state: State,
    pub inputs: Inputs,
    pub pack: P,
    pub dt: f64,
}

impl<P: Pack> Yard<P> {
    /// Of some of a world's trees.
    pub fn new(
        world: &Arc<World>,
        which: std::ops::Range<usize>,
        dt: f64,
        make: impl FnOnce(&Model, &Tree, Vec<Robot>, &State) -> P,
    ) -> Yard<P> {
        let model = Model::compile(world).expect("a world that moves");
        let forest = Forest::of(&model);
        let state = State::initial(&model);
        let robots = which.clone().map(|i| Robot::of(i, &forest.trees[i])).collect();
        // Poses in the world differ in their last bits from place to place, and with them the
        // trees of equal robots; those of one pack share one.
        let pack = make(&model, &forest.trees[0], robots, &state);
        let orders = vec![Order::Nothing; model.dofs.len()];
        let mut yard =
            Yard { state, inputs: Inputs { orders, ..Inputs::default() }, model, pack, dt };
        yard.show();
        yard
    }

    /// A joint's speed from now on.
    pub fn drive(&mut self, joint: &str, speed: f64) {
        let dof = self.model.dof(joint).expect("a joint");
        self.inputs.orders[dof] = Order::Follow(Command { mode: Mode::Velocity, target: speed });
    }

    /// Steps until joints are where they are to be, all at once, each at a constant speed.
    pub fn go(&mut self, targets: &[(&str, f64)], n_steps: usize) {
        for (joint, target) in targets {
            let dof = self.model.dof(joint).expect("a joint");
            let way = target - self.state.dofs[dof].position;
            self.drive(joint, way / (n_steps as f64 * self.dt));
        }
        (0..n_steps).for_each(|_| self.step());
        targets.iter().for_each(|(joint, _)| self.drive(joint, 0.0));
    }

    pub fn step(&mut self) {
        let drive = Drive { model: &self.model, inputs: &self.inputs, dt: self.dt };
        self.pack.accelerate(&drive);
        self.pack.finish(self.dt);
        self.show();
    }

    /// What the state is, as the pack has it.
    pub fn show(&mut self) {
        self.pack.place(&self.state);
        self.pack.write(&mut self.state);
    }

    /// Where a body is.
    pub fn pose(&self, body: &str) -> Transform {
        let body = self.model.bodies.iter().find(|other| other.name == body).expect("a body");
        self.state.rigids[body.rigid_idx].world_from_rigid * body.rigid_from_body
    }
}
