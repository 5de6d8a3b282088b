//! The tree's algorithms against each other: two roads to one number.

mod common;

use common::{Dice, difference, random_numbers, random_positions, random_world, tree_of};
use headland_base::maths::Vec3;
use headland_base::{Quat, Transform};
use headland_sim::joint::joint_motion;
use headland_sim::tree::{
    Bodies, Factor, Half, Lane, Lanes, Motions, Tree, Turn, V3, V6, bias_forces, factor,
    inverse_dynamics, mass_matrix, move_bodies, place, point_jacobian, solve, whole_body,
};
use headland_sim::{Model, State};

const AT_WORLD: (Turn<f64>, V3<f64>) = (Turn { v: V3::<f64>::ZERO, w: 1.0 }, V3::<f64>::ZERO);

struct Case {
    model: Model,
    tree: Tree,
    positions: Vec<f64>,
    velocities: Vec<f64>,
    efforts: Vec<f64>,
    bodies: Bodies<f64>,
}

fn cases(n: u64) -> impl Iterator<Item = Case> {
    (0..n).map(|number| {
        let mut dice = Dice::new(number);
        let world = random_world(&mut dice, number.is_multiple_of(2));
        let (model, tree) = tree_of(&world);
        let positions = random_positions(&mut dice, &tree);
        let velocities = random_numbers(&mut dice, tree.n_dofs, 3.0);
        let efforts = random_numbers(&mut dice, tree.n_dofs, 20.0);
        let mut bodies = Bodies::new(&tree);
        place(&tree, &AT_WORLD, &positions, &mut bodies);
        Case { model, tree, positions, velocities, efforts, bodies }
    })
}

/// Accelerations under efforts, with rotors.
fn forward<L: Lane>(
    model: &Model,
    tree: &Tree,
    bodies: &Bodies<L>,
    velocities: &[L],
    efforts: &[L],
) -> Vec<L> {
    let (mut motions, mut forces) = (Motions::new(tree), vec![V6::ZERO; tree.nodes.len()]);
    move_bodies(tree, bodies, V6::ZERO, velocities, &mut motions);
    bias_forces(tree, bodies, &motions, V3::of(model.world.gravity), &mut forces);
    let rotors: Vec<L> = tree.column_nodes.iter().map(|i| L::of(tree.nodes[*i].armature)).collect();
    let mut parts = Factor::new(tree);
    factor(tree, bodies, &rotors, &mut parts);
    let mut accelerations = vec![L::ZERO; tree.n_dofs];
    solve(tree, bodies, &parts, efforts, &mut forces, &mut accelerations);
    accelerations
}

fn inverse(case: &Case, accelerations: &[f64]) -> Vec<f64> {
    let (tree, mut motions) = (&case.tree, Motions::new(&case.tree));
    let (mut forces, mut efforts) = (vec![V6::ZERO; tree.nodes.len()], vec![0.0; tree.n_dofs]);
    move_bodies(tree, &case.bodies, V6::ZERO, &case.velocities, &mut motions);
    let gravity = V3::of(case.model.world.gravity);
    inverse_dynamics(
        tree,
        &case.bodies,
        gravity,
        accelerations,
        None,
        &mut motions,
        &mut forces,
        &mut efforts,
    );
    efforts
}

#[test]
fn inverse_dynamics_of_forward_dynamics_is_the_identity() {
    let mut worst = 0.0_f64;
    for (i, case) in cases(1000).enumerate() {
        let accelerations =
            forward(&case.model, &case.tree, &case.bodies, &case.velocities, &case.efforts);
        let back = inverse(&case, &accelerations);
        let error = difference(&back, &case.efforts);
        assert!(error < 1e-10, "robot {i}: {error}");
        worst = worst.max(error);
    }
    eprintln!("of 1000 robots the worst is off by {worst:e}");
}

#[test]
fn the_mass_matrix_is_what_inverse_dynamics_says_of_unit_accelerations() {
    for (i, case) in cases(100).enumerate() {
        let n = case.tree.n_dofs;
        let mut matrix = vec![0.0; n * n];
        mass_matrix(&case.tree, &case.bodies, &mut Vec::new(), &mut matrix);
        let still = inverse(&case, &vec![0.0; n]);
        for k in 0..n {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            let column: Vec<f64> =
                inverse(&case, &unit).iter().zip(&still).map(|(a, b)| a - b).collect();
            let error = difference(&column, &matrix[k * n..(k + 1) * n]);
            assert!(error < 1e-9, "robot {i}, column {k}: {error}");
        }
    }
}

/// Links are where the joints' own motions, one after another, put them.
#[test]
fn placing_agrees_with_the_joints_one_by_one() {
    for (i, case) in cases(100).enumerate() {
        for (node_idx, node) in case.tree.nodes.iter().enumerate() {
            let Some(rigid_idx) = node.rigid_idx else { continue };
            let Some(joint) = case.model.joints.iter().find(|j| j.child_rigid == rigid_idx) else {
                continue;
            };
            let pose = |rigid: usize| -> Transform {
                let at = case.tree.nodes.iter().position(|n| n.rigid_idx == Some(rigid));
                let at = at.expect("every rigid is in the tree");
                case.bodies.world_from_node(at, 0) * case.tree.nodes[at].rigid_from_node.inverse()
            };
            let world_from_parent = joint.parent_rigid.map_or(Transform::IDENTITY, pose);
            let own: Vec<f64> = (0..joint.kind.axes().len())
                .map(|axis| {
                    let dof = joint.first_dof + axis;
                    let at = case.tree.nodes.iter().find(|n| n.dof.is_some_and(|d| d.0 == dof));
                    case.positions[at.expect("every axis is in the tree").first_position]
                })
                .collect();
            let mut motion = joint_motion(&joint.kind, &own);
            if own.is_empty() {
                let q = &case.positions[node.first_position..];
                motion.rotation = Quat::from_xyzw(q[0], q[1], q[2], q[3]);
            }
            let wanted = world_from_parent
                * joint.parent_from_joint
                * motion
                * joint.child_from_joint.inverse();
            let got = case.bodies.world_from_node(node_idx, 0) * node.rigid_from_node.inverse();
            assert!((got.translation - wanted.translation).length() < 1e-12, "robot {i}");
            let turned = got.rotation.dot(wanted.rotation).abs();
            assert!((turned - 1.0).abs() < 1e-12, "robot {i}");
        }
    }
}

/// A Jacobian is the slope of a point's place, which is what its velocity is made of.
#[test]
fn a_jacobian_times_the_velocities_is_the_points_velocity() {
    for (i, case) in cases(60).enumerate() {
        let (tree, node_idx) = (&case.tree, case.tree.nodes.len() - 1);
        let mut motions = Motions::new(tree);
        move_bodies(tree, &case.bodies, V6::ZERO, &case.velocities, &mut motions);
        let point = V3::of(Vec3::new(0.3, -0.2, 0.5));
        let mut jacobian = vec![V3::ZERO; tree.n_dofs];
        point_jacobian(tree, &case.bodies, node_idx, point, &mut jacobian);
        let mut sum = V3::<f64>::ZERO;
        for (column, velocity) in jacobian.iter().zip(&case.velocities) {
            sum += *column * *velocity;
        }
        let wanted = motions.velocities[node_idx].velocity_at(point);
        assert!((sum.get(0) - wanted.get(0)).length() < 1e-11, "robot {i}");
    }
}

/// The half solves give what a whole solve of a unit force gives.
#[test]
fn responses_by_halves_are_those_of_a_whole_solve() {
    for (i, case) in cases(60).enumerate() {
        let tree = &case.tree;
        let mut parts = Factor::new(tree);
        factor(tree, &case.bodies, &vec![0.01; tree.n_dofs], &mut parts);
        let (a, b) = (tree.nodes.len() - 1, tree.nodes.len() / 2);
        let (mut half_a, mut half_b) = (Half::default(), Half::default());
        half_a.of(tree, &case.bodies, &parts, a, 0);
        half_b.of(tree, &case.bodies, &parts, b, 0);
        let response = half_a.response(&half_b);
        for (j, unit) in (0..6).map(|j| (j, [0, 1, 2, 3, 4, 5].map(|k| f64::from(j == k)))) {
            let mut forces = vec![V6::ZERO; tree.nodes.len()];
            forces[b] = -V6 {
                turn: V3 { x: unit[0], y: unit[1], z: unit[2] },
                line: V3 { x: unit[3], y: unit[4], z: unit[5] },
            };
            let mut gained = vec![0.0; tree.n_dofs];
            solve(tree, &case.bodies, &parts, &vec![0.0; tree.n_dofs], &mut forces, &mut gained);
            let V6 { turn, line } = forces[a]; // the acceleration of the link
            let column: Vec<f64> = response.iter().map(|row| row[j as usize]).collect();
            let wanted = [turn.x, turn.y, turn.z, line.x, line.y, line.z];
            // Far from each other on the tree the response is the small rest of large numbers.
            let size = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
            let error = difference(&column, &wanted) * size;
            assert!(error < 1e-9 * size.max(1.0), "robot {i}: {column:?} against {wanted:?}");
        }
    }
}

/// The same for an effort on an axis: what it does to itself and to a link.
#[test]
fn responses_to_efforts_are_those_of_a_whole_solve() {
    for (i, case) in cases(60).enumerate() {
        let tree = &case.tree;
        let mut parts = Factor::new(tree);
        factor(tree, &case.bodies, &vec![0.01; tree.n_dofs], &mut parts);
        let (column, node) = (tree.n_dofs - 1, tree.nodes.len() / 2);
        let (mut of_column, mut of_node) = (Half::default(), Half::default());
        of_column.of_column(tree, &case.bodies, &parts, column, 0);
        of_node.of(tree, &case.bodies, &parts, node, 0);
        let mut efforts = vec![0.0; tree.n_dofs];
        efforts[column] = 1.0;
        let mut forces = vec![V6::ZERO; tree.nodes.len()];
        let mut gained = vec![0.0; tree.n_dofs];
        solve(tree, &case.bodies, &parts, &efforts, &mut forces, &mut gained);
        let own = of_column.response(&of_column)[0][0];
        assert!((own - gained[column]).abs() < 1e-10 * own.abs(), "robot {i}: {own}");
        let response = of_node.response(&of_column);
        let V6 { turn, line } = forces[node];
        let wanted = [turn.x, turn.y, turn.z, line.x, line.y, line.z];
        let size = wanted.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (row, wanted) in response.iter().zip(wanted) {
            assert!((row[0] - wanted).abs() < 1e-9 * size, "robot {i}: {row:?} for {wanted}");
        }
    }
}

/// Mass, centre and momentum, summed link by link from a state that knows no tree.
#[test]
fn a_whole_body_is_the_sum_of_its_links() {
    for (i, case) in cases(60).enumerate() {
        let whole = whole_body(&case.bodies);
        let mut motions = Motions::new(&case.tree);
        move_bodies(&case.tree, &case.bodies, V6::ZERO, &case.velocities, &mut motions);
        let momentum = motions.momentum_about(&case.bodies, whole.centre);
        let state = state_of(&case, &motions);
        let (mut mass, mut moment, mut linear) = (0.0, Vec3::ZERO, Vec3::ZERO);
        let mut energy = 0.0;
        for (rigid_idx, (rigid, now)) in case.model.rigids.iter().zip(&state.rigids).enumerate() {
            let arm = now.world_from_rigid.vector(rigid.centre);
            mass += rigid.mass;
            moment += (now.world_from_rigid.translation + arm) * rigid.mass;
            linear += (now.twist.linear + now.twist.angular.cross(arm)) * rigid.mass;
            energy += state.kinetic_energy(&case.model, rigid_idx);
        }
        let centre = (whole.centre + case.bodies.origin).get(0);
        assert!((whole.mass - mass).abs() < 1e-12 * mass, "robot {i}");
        assert!((centre - moment / mass).length() < 1e-12, "robot {i}");
        assert!((momentum.line.get(0) - linear).length() < 1e-10 * mass, "robot {i}");
        // Energy by the mass matrix, less what the rotors have.
        let n = case.tree.n_dofs;
        let mut matrix = vec![0.0; n * n];
        mass_matrix(&case.tree, &case.bodies, &mut Vec::new(), &mut matrix);
        let mut twice = 0.0;
        for (row, a) in case.velocities.iter().enumerate() {
            let node = &case.tree.nodes[case.tree.column_nodes[row]];
            twice -= node.armature * a * a;
            for (column, b) in case.velocities.iter().enumerate() {
                twice += a * b * matrix[row * n + column];
            }
        }
        assert!((energy - 0.5 * twice).abs() < 1e-10 * energy, "robot {i}");
    }
}

fn state_of(case: &Case, motions: &Motions<f64>) -> State {
    let mut state = State::initial(&case.model);
    for (i, node) in case.tree.nodes.iter().enumerate() {
        let Some(rigid) = node.rigid_idx else { continue };
        let pose = case.bodies.world_from_node(i, 0) * node.rigid_from_node.inverse();
        let velocity = motions.velocities[i];
        let at = V3::of(pose.translation) - case.bodies.origin;
        state.rigids[rigid].world_from_rigid = pose;
        state.rigids[rigid].twist.angular = velocity.turn.get(0);
        state.rigids[rigid].twist.linear = velocity.velocity_at(at).get(0);
    }
    state
}

/// Whoever stands beside it, a robot comes out the same to the last bit.
#[test]
fn lanes_give_the_bits_of_each_robot_alone() {
    for number in 0..40 {
        let mut dice = Dice::new(number);
        let world = random_world(&mut dice, number.is_multiple_of(2));
        let (model, tree) = tree_of(&world);
        let mut make = |n: usize, f: &mut dyn FnMut(&mut Dice) -> Vec<f64>| -> Vec<Lanes<8>> {
            let each: Vec<Vec<f64>> = (0..8).map(|_| f(&mut dice)).collect();
            (0..n).map(|k| Lanes(std::array::from_fn(|lane| each[lane][k]))).collect()
        };
        let positions = make(tree.n_positions, &mut |dice| random_positions(dice, &tree));
        let velocities = make(tree.n_dofs, &mut |dice| random_numbers(dice, tree.n_dofs, 3.0));
        let efforts = make(tree.n_dofs, &mut |dice| random_numbers(dice, tree.n_dofs, 9.0));
        let mut bodies = Bodies::new(&tree);
        let at_world = (Turn::of(Quat::IDENTITY), V3::ZERO);
        place(&tree, &at_world, &positions, &mut bodies);
        let together = forward(&model, &tree, &bodies, &velocities, &efforts);
        for lane in 0..8 {
            let one = |all: &[Lanes<8>]| -> Vec<f64> { all.iter().map(|x| x.0[lane]).collect() };
            let mut bodies = Bodies::new(&tree);
            place(&tree, &AT_WORLD, &one(&positions), &mut bodies);
            let alone = forward(&model, &tree, &bodies, &one(&velocities), &one(&efforts));
            let bits = |all: Vec<f64>| all.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(one(&together)), bits(alone), "robot {number}, lane {lane}");
        }
    }
}
