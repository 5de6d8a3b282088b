//! Contacts in the house's one form.

use headland_base::Vec3;
use headland_sim::Contact;
use rapier3d_f64::prelude as rp;

/// Reads what touched in the last step, sorted by bodies.
///
/// Normal forces are means over the step. Friction, which rapier solves once for up to
/// four points and reports for its last substep only, is shared out among the points of a
/// manifold by their normal forces.
pub(super) fn read(physics: &rp::PhysicsWorld, substep: f64, dt: f64, out: &mut Vec<Contact>) {
    out.clear();
    // Sorted before the points are read: there are fewer pairs, and a pair is two numbers. Those
    // of the same bodies keep rapier's order, which is the same in every run.
    let mut pairs: Vec<(usize, usize, &rp::ContactPair)> = Vec::new();
    for pair in physics.contact_pairs().filter(|pair| !pair.solver_manifolds().is_empty()) {
        if let (Some(first), Some(second)) =
            (physics.colliders.get(pair.collider1), physics.colliders.get(pair.collider2))
        {
            pairs.push((first.user_data as usize, second.user_data as usize, pair));
        }
    }
    pairs.sort_by_key(|(a, b, _)| (*a.min(b), *a.max(b)));
    for (a, b, pair) in pairs {
        let (first, second) =
            (&physics.colliders[pair.collider1], &physics.colliders[pair.collider2]);
        for manifold in pair.solver_manifolds() {
            let normal = manifold.data.normal; // from the first collider to the second
            let total: f64 = manifold.contacts().iter().map(|point| point.data.impulse).sum();
            for point in manifold.contacts() {
                if point.dist > 0.0 && point.data.impulse == 0.0 {
                    continue; // near, not touching
                }
                let on_first = in_world(first, manifold.subshape_pos1(), point.local_p1);
                let on_second = in_world(second, manifold.subshape_pos2(), point.local_p2);
                // Rapier's impulses act on the first collider, normal ones against the normal.
                let share = if total > 0.0 { point.data.impulse / total } else { 0.0 };
                let friction = point.data.warmstart_tangent_world * (share / substep);
                let force = normal * (point.data.impulse / dt) - friction;
                let contact = Contact {
                    body_a: a.min(b),
                    body_b: a.max(b),
                    position: (on_first + on_second) * 0.5,
                    normal: if a <= b { normal } else { -normal },
                    depth: -point.dist,
                    force: if a <= b { force } else { -force },
                };
                out.push(contact);
            }
        }
    }
}

fn in_world(collider: &rp::Collider, subshape: Option<&rp::Pose>, local: Vec3) -> Vec3 {
    let in_collider = subshape.map_or(local, |pose| pose.transform_point(local));
    collider.position().transform_point(in_collider)
}
