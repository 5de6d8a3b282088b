//! Closed forms in three places, compared: their constants with the worlds, their list with the
//! book.

use std::path::Path;
use std::sync::Arc;

use headland_base::{Mat3, Vec3};
use headland_judge::CLOSED_FORMS;
use headland_judge::closed_form::{
    Part, ball, cradle, cylinders, double_pendulum, four_bar, free_box, gripper, pendulum, rolling,
    slider, stack,
};
use headland_sim::{Model, State, SurfacePair};
use headland_world::{Geometry, ReadOptions};

/// The workspace's root.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn model(world: &str) -> Model {
    let path = format!("{ROOT}/worlds/{world}.sdf");
    let read = headland_world::read(Path::new(&path), &ReadOptions::default()).expect("sound");
    assert_eq!(read.world.name, world);
    Model::compile(&Arc::new(read.world)).expect("it moves")
}

fn object<'a>(model: &'a Model, name: &str) -> &'a headland_sim::Object {
    let name = name.replace('/', "::");
    &model.objects[model.object(&name).unwrap_or_else(|| panic!("no object {name}"))]
}

#[track_caller]
fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{found} and not {wanted}");
}

/// Mass, centre and inertia of a part, in the frame recordings show.
#[track_caller]
fn same_part(model: &Model, part: &Part) {
    let object = object(model, part.object);
    let rigid = &model.rigids[object.rigid_idx];
    let to_object = object.rigid_from_object.inverse();
    near(rigid.mass, part.mass);
    near(to_object.point(rigid.centre).distance(part.centre), 0.0);
    let turn = Mat3::from_quat(to_object.rotation);
    let apart = turn * rigid.inertia * turn.transpose() - part.inertia;
    let apart = apart.to_cols_array().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(apart < 1e-9, "{}: {:?}", part.object, rigid.inertia);
}

/// Where an object is and how it moves at the start.
fn start(model: &Model, name: &str) -> (headland_base::Transform, headland_world::Twist) {
    let (state, idx) = (State::initial(model), model.object(&name.replace('/', "::")));
    let idx = idx.expect("an object");
    (state.object_pose(model, idx), state.object_twist(model, idx))
}

/// What holds between an object and another.
fn between(model: &Model, one: &str, other: &str) -> SurfacePair {
    let surface = |name: &str| {
        let rigid = object(model, name).rigid_idx;
        let body = model.bodies.iter().find(|body| body.rigid_idx == rigid).expect("a body");
        body.shapes[0].surface.clone()
    };
    SurfacePair::of(&surface(one), &surface(other))
}

fn geometry<'a>(model: &'a Model, name: &str) -> &'a Geometry {
    let rigid = object(model, name).rigid_idx;
    let body = model.bodies.iter().find(|body| body.rigid_idx == rigid).expect("a body");
    &body.shapes[0].geometry
}

fn radius(model: &Model, name: &str) -> f64 {
    let Geometry::Sphere { radius } = geometry(model, name) else { panic!("{name} is a ball") };
    *radius
}

fn initial(model: &Model, dof: &str) -> f64 {
    model.dofs[model.find_dof(dof).expect("a joint")].axis.initial_position
}

#[test]
fn ball_cylinders_and_stack() {
    let world = model("ball");
    near(radius(&world, "ball"), ball::RADIUS);
    near(start(&world, "ball").0.translation.z - ball::RADIUS, ball::DROP);
    near(between(&world, "ball", "ground").restitution, ball::RESTITUTION);

    let world = model("cylinders");
    near(start(&world, "ground").0.rpy().y, cylinders::SLOPE);
    near(start(&world, "slide").0.rpy().y, cylinders::SLOPE);
    near(between(&world, "slide", "ground").mu, cylinders::SLIDE_FRICTION);
    near(between(&world, "stick", "ground").mu, 1.0);

    let world = model("stack");
    assert_eq!(world.objects.len(), stack::N_BOXES + 1);
    for i in 0..stack::N_BOXES {
        let z = (i as f64 + 0.5) * stack::EDGE;
        near(start(&world, &format!("box_{i}")).0.translation.distance(Vec3::Z * z), 0.0);
        let Geometry::Box { size } = geometry(&world, &format!("box_{i}")) else { panic!("a box") };
        near(size.distance(Vec3::splat(stack::EDGE)), 0.0);
    }
}

#[test]
fn grippers() {
    for (name, mass) in gripper::BALL_MASSES {
        let world = model(name);
        near(radius(&world, "ball"), gripper::RADIUS);
        near(world.rigids[object(&world, "ball").rigid_idx].mass, mass);
        near(start(&world, "ball").0.translation.z, gripper::RADIUS);
        let links = ["hand", "left", "right"].map(|link| format!("gripper/{link}"));
        let masses = links.iter().map(|link| world.rigids[object(&world, link).rigid_idx].mass);
        near(masses.sum(), gripper::HAND_MASS);
        for finger in &links[1..] {
            near(between(&world, "ball", finger).mu, gripper::FRICTION);
            let Geometry::Box { size } = geometry(&world, finger) else { panic!("a pad") };
            near(size.x, gripper::PAD);
        }
        // The lift is the same in both tables: a = 1 m/s² with the ball.
        for press in [3, 4] {
            let table = std::fs::read_to_string(format!("{ROOT}/worlds/{name}_{press}n.csv"));
            let table = table.expect("a table");
            let rows: Vec<Vec<f64>> = table
                .lines()
                .skip(1)
                .map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect())
                .collect();
            let weight = gripper::HAND_MASS * 9.81;
            let lift = (gripper::HAND_MASS + mass) * 10.81;
            let press = f64::from(press);
            assert_eq!(rows[0], [0.0, weight, press, press]);
            near(rows[1][1], lift);
            near(rows[1][0], gripper::TIMES.0);
        }
    }
}

#[test]
fn free_boxes() {
    for name in ["free_box_simple", "free_box_complex"] {
        same_part(&model(name), &free_box::part());
    }
}

#[test]
fn pendulums_and_the_cradle() {
    let world = model("pendulum");
    same_part(&world, &pendulum::part());
    near(initial(&world, "hinge"), pendulum::START);

    let world = model("double_pendulum");
    double_pendulum::parts().iter().for_each(|part| same_part(&world, part));
    near(initial(&world, "shoulder"), double_pendulum::START.0);
    near(initial(&world, "elbow"), double_pendulum::START.1);
    let (upper, lower) = double_pendulum::START;
    let middle = double_pendulum::lower_middle(upper, upper + lower);
    near(start(&world, "double_pendulum/lower").0.translation.distance(middle), 0.0);

    let world = model("cradle");
    cradle::parts().iter().for_each(|part| same_part(&world, part));
    near(initial(&world, "hinge_1"), cradle::START);
    near(between(&world, "ball_1", "ball_2").restitution, 1.0);
}

#[test]
fn rolling_slider_and_four_bar() {
    let world = model("rolling");
    for name in ["rolls", "slides"] {
        near(radius(&world, name), rolling::RADIUS);
        let inertia = 0.4 * rolling::RADIUS * rolling::RADIUS;
        same_part(&world, &Part::new(name, 1.0, Vec3::ZERO, Vec3::splat(inertia)));
    }
    near(start(&world, "slope").0.rpy().y, rolling::SLOPE);
    near(start(&world, "slides").1.linear.distance(Vec3::X * rolling::THROW), 0.0);
    near(between(&world, "slides", "flat").mu, 0.2);

    let world = model("slider");
    near(world.rigids[0].mass, slider::MASS);
    near(world.dofs[0].axis.friction, slider::FRICTION);
    near(start(&world, "slider").1.linear.distance(Vec3::X * slider::SPEED), 0.0);

    let world = model("four_bar");
    four_bar::parts().iter().for_each(|part| same_part(&world, part));
    let [a, b, c, d] = four_bar::LENGTHS;
    let at = |joint: &str| {
        let joint = world.joints.iter().find(|j| j.name == format!("four_bar::{joint}"));
        let joint = joint.expect("a joint");
        let child = world.rigids[joint.child_rigid].world_from_rigid;
        (child * joint.child_from_joint).translation
    };
    let (crank, pin) = (at("crank_pivot"), at("crank_pin"));
    let (rocker, end) = (at("rocker_pivot"), at("rocker_pin"));
    near(crank.distance(pin), a);
    near(pin.distance(end), b);
    near(rocker.distance(end), c);
    near(crank.distance(rocker), d);
    near(crank.z, four_bar::HEIGHT);
    // Every joint closes at the start, and its two sides move alike.
    let state = State::initial(&world);
    for joint in &world.joints {
        let motion = state.relative_motion(joint);
        near(motion.parent_from_child.translation.length(), 0.0);
        near(motion.twist.linear.length(), 0.0);
    }
}

/// The page of the book has a row for each form, in its own words.
#[test]
fn the_book_lists_every_form() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/src/report-card.md")).expect("a page");
    for form in CLOSED_FORMS.iter().copied().flatten() {
        let unit = if form.unit.is_empty() { String::new() } else { format!(" {}", form.unit) };
        let formula = form.formula.replace('|', "\\|");
        let row =
            format!("| `{}` | {} | `{formula}` | {:?}{unit} |\n", form.name, form.what, form.usual);
        assert!(page.contains(&row), "missing in report-card.md:\n{row}");
    }
}
