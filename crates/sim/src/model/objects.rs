//! Objects: what recordings show under a name of its own; and pairs that never touch, or do so
//! although they would not.

use headland_base::{Findings, Transform, Vec3};
use headland_world::{World, join_scope};

use super::{Body, Links, Object};

pub(super) fn list_objects(world: &World, links: &Links<'_>, bodies: &[Body]) -> Vec<Object> {
    let mut out = Vec::new();
    world.visit_models(&mut |at| {
        let names: Vec<String> =
            at.model.links.iter().map(|link| join_scope(at.scope, &link.name)).collect();
        let canonical = at.model.canonical_link.as_ref().map(|name| join_scope(at.scope, name));
        let Some(canonical) = canonical.or_else(|| names.first().cloned()) else { return };
        let Some(&carrier) = links.by_name.get(&canonical) else { return };
        let world_from_carrier = links.placed[carrier].world_from_link;
        let body = &bodies[carrier];
        let carrier_from_model = world_from_carrier.inverse() * at.world_from_model;
        let only_link = if names.len() == 1 { Some(carrier) } else { None };
        let bounds = only_link.and_then(|i| bounds_in(&bodies[i], carrier_from_model.inverse()));
        out.push(Object {
            name: at.scope.to_string(),
            rigid_idx: body.rigid_idx,
            rigid_from_object: body.rigid_from_body * carrier_from_model,
            bounds,
        });
        if names.len() > 1 {
            out.extend(names.iter().map(|name| {
                let body = &bodies[links.by_name[name]];
                Object {
                    name: name.clone(),
                    rigid_idx: body.rigid_idx,
                    rigid_from_object: body.rigid_from_body,
                    bounds: bounds_in(body, Transform::IDENTITY),
                }
            }));
        }
    });
    out
}

fn bounds_in(body: &Body, object_from_body: Transform) -> Option<(Vec3, Vec3)> {
    let corners = body.shapes.iter().filter_map(|shape| {
        let bounds = shape.geometry.bounds()?;
        Some(headland_world::geometry::corners_in(object_from_body * shape.body_from_shape, bounds))
    });
    corners.flatten().fold(None, |bounds, p| match bounds {
        None => Some((p, p)),
        Some((low, high)) => Some((low.min(p), high.max(p))),
    })
}

/// Pairs the world excludes one by one, and all pairs of its sets.
pub(super) fn list_excludes(
    world: &World,
    links: &Links<'_>,
    findings: &mut Findings,
) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut exclude = |scope: &str, names: &[&str], what: &str| {
        let found: Vec<usize> =
            names.iter().filter_map(|name| links.find(scope, name, what, findings)).collect();
        for (n, a) in found.iter().enumerate() {
            out.extend(found[n + 1..].iter().filter(|b| *b != a).map(|b| (*a.min(b), *a.max(b))));
        }
    };
    world.visit_models(&mut |at| {
        for (a, b) in &at.model.contact_excludes {
            exclude(at.scope, &[a, b], &format!("contact exclude in `{}`", at.scope));
        }
        for set in &at.model.contact_sets {
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            exclude(at.scope, &set, &format!("contact set in `{}`", at.scope));
        }
    });
    for set in &world.contact_sets {
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        exclude("", &set, "contact set in the world");
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Pairs the world switches on.
pub(super) fn list_pairs(
    world: &World,
    links: &Links<'_>,
    findings: &mut Findings,
) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    world.visit_models(&mut |at| {
        for (a, b) in &at.model.contact_pairs {
            let what = format!("contact pair in `{}`", at.scope);
            let [a, b] = [a, b].map(|name| links.find(at.scope, name, &what, findings));
            out.extend(a.zip(b).map(|(a, b)| (a.min(b), a.max(b))));
        }
    });
    out.sort_unstable();
    out.dedup();
    out
}
