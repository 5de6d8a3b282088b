//! A place to look from: boxes around what matters go in, a view that holds them comes out.

use headland_base::Vec3;
use headland_base::maths::{PI, sqrt};

use crate::camera::{Pinhole, View};
use crate::scene::{Bounds, Scene};

/// From the target to the eye where nobody says: x to the right, from above.
const FROM: Vec3 = Vec3::new(0.4, -1.0, 0.55);

/// The angle between the left and the right border where nobody says \[rad\].
pub const FOV: f64 = 50.0 * PI / 180.0;

/// How much larger the picture is than what it holds.
const MARGIN: f64 = 1.12;

/// Boxes around what moves in a scene where it is now, and around still things beside it that
/// are not much larger; around everything where nothing moves. Grounds do not count.
pub fn interesting(scene: &Scene) -> Bounds {
    let is_ground = |i: usize| scene.items()[i].solid.is_sheet();
    let seen = |i: &usize| {
        let look = &scene.items()[*i].look;
        !look.is_mark && look.opacity > 0.0 && !scene.item_bounds(*i).is_empty()
    };
    let items: Vec<usize> = (0..scene.items().len()).filter(seen).collect();
    let around = |wanted: &dyn Fn(usize) -> bool| {
        let boxes = items.iter().filter(|i| wanted(**i)).map(|i| scene.item_bounds(*i));
        boxes.fold(Bounds::EMPTY, Bounds::union)
    };
    let moves = |i: usize| !scene.is_static(scene.items()[i].link_idx) && !is_ground(i);
    let moving = around(&moves);
    if moving.is_empty() {
        let things = around(&|i| !is_ground(i));
        return if things.is_empty() { around(&|_| true) } else { things };
    }
    let size = (moving.high - moving.low).max_element();
    let reach = Vec3::splat(size * 0.4);
    let near = Bounds { low: moving.low - reach, high: moving.high + reach };
    let is_beside = |i: usize| {
        let bounds = scene.item_bounds(i);
        let touches = bounds.low.cmple(near.high).all() && bounds.high.cmpge(near.low).all();
        touches && !is_ground(i) && (bounds.high - bounds.low).max_element() <= 1.5 * size
    };
    moving.union(around(&is_beside))
}

/// A view of a box. Where an eye or a point to look at is given, it is kept; the eye is otherwise
/// put where the whole box is in the picture.
pub fn framing(pinhole: Pinhole, bounds: Bounds, eye: Option<Vec3>, at: Option<Vec3>) -> View {
    let bounds = match bounds.is_empty() {
        true => Bounds { low: Vec3::splat(-1.0), high: Vec3::splat(1.0) },
        false => bounds,
    };
    let centre = at.unwrap_or(bounds.centre());
    let eye = eye.unwrap_or_else(|| {
        let from = FROM / sqrt(FROM.dot(FROM));
        let turned = View::look_at(pinhole, centre + from, centre);
        let optical_from_world = turned.world_from_optical.rotation.conjugate();
        let corners = headland_world::geometry::corners_in(
            headland_base::Transform::IDENTITY,
            (bounds.low, bounds.high),
        );
        let middle = |n: usize| (n as f64 * 0.5).max(0.5);
        let slope_x = middle(pinhole.width) / pinhole.focal.x / MARGIN;
        let slope_y = middle(pinhole.height) / pinhole.focal.y / MARGIN;
        let distance = corners.iter().map(|corner| {
            let p = optical_from_world * (*corner - centre);
            (p.x.abs() / slope_x - p.z).max(p.y.abs() / slope_y - p.z)
        });
        let size = (bounds.high - bounds.low).max_element();
        centre + from * distance.fold(size.max(1e-3), f64::max)
    });
    let mut view = View::look_at(pinhole, eye, centre);
    let distance = (centre - eye).length().max(1e-3);
    (view.near, view.far) = (distance * 1e-3, distance * 1e3);
    view
}
