//! The objects that can be reported: outermost models, where they are and how large.

use headland_base::{Transform, Vec3};
use headland_record::messages::{
    BoundingBox3D, Detection3D, Header, ObjectHypothesis, ObjectHypothesisWithPose,
    PoseWithCovariance,
};
use headland_sim::Model;
use headland_world::geometry::corners_in;

use crate::scene::{Bounds, Scene};

/// One object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its name: `gear_3`.
    pub name: String,
    /// What it is taken for: the name without a number behind it, `gear`.
    pub class: String,
    /// Which model of the scene.
    pub model_idx: usize,
    /// The link that tells its pose, and its frame in that link.
    link_idx: usize,
    link_from_model: Transform,
    /// Around it in its own frame before time starts.
    bounds: Bounds,
    /// Its items in the scene.
    items: Vec<usize>,
}

/// Every object of a scene that has a size, but the model that carries a body.
pub fn objects(model: &Model, scene: &Scene, own_body: usize) -> Vec<Object> {
    let links = model.world.links();
    let own = links[own_body].robot;
    let of = |(model_idx, name): (usize, &String)| {
        let link_idx = links.iter().position(|link| link.robot == name)?;
        let link_from_model = links[link_idx].robot_from_link.inverse();
        let world_from_model = links[link_idx].world_from_link * link_from_model;
        let items: Vec<usize> =
            (0..scene.items().len()).filter(|i| scene.items()[*i].model_idx == model_idx).collect();
        let mut bounds = Bounds::EMPTY;
        for i in &items {
            let item = &scene.items()[*i];
            let Some(around) = item.solid.bounds else { continue };
            let world_from_item = links[item.link_idx].world_from_link * item.link_from_item;
            let model_from_item = world_from_model.inverse() * world_from_item;
            let corners = corners_in(model_from_item, (around.low, around.high));
            bounds = bounds.union(Bounds::of(corners));
        }
        let is_any = !bounds.is_empty() && name != own;
        is_any.then(|| Object {
            class: class_of(name).to_string(),
            name: name.clone(),
            model_idx,
            link_idx,
            link_from_model,
            bounds,
            items,
        })
    };
    scene.models().iter().enumerate().filter_map(of).collect()
}

/// `gear_3` → `gear`; alike objects differ by a number.
fn class_of(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = stem.strip_suffix(['_', '-', ' ']).unwrap_or(stem);
    if stem.is_empty() { name } else { stem }
}

impl Object {
    /// Where it is now.
    pub fn world_from_model(&self, scene: &Scene) -> Transform {
        scene.world_from_link()[self.link_idx] * self.link_from_model
    }

    /// Boxes around its shapes now, along the world's axes.
    pub fn boxes_now(&self, scene: &Scene) -> impl Iterator<Item = Bounds> {
        self.items.iter().map(|i| scene.item_bounds(*i))
    }

    /// Points of it to look at: its middle, and corners of a box around it, drawn in.
    pub fn sights(&self, scene: &Scene) -> Vec<Vec3> {
        let (middle, half) = (self.bounds.centre(), (self.bounds.high - self.bounds.low) * 0.3);
        let pose = self.world_from_model(scene);
        let corners = corners_in(pose, (middle - half, middle + half));
        std::iter::once(pose.point(middle)).chain(corners).collect()
    }

    /// What is reported of it, at a pose in the frame of the sensor.
    pub fn detection(
        &self,
        header: &Header,
        sensor_from_model: Transform,
        covariance: [[f64; 6]; 6],
        score: f64,
        name: &str,
    ) -> Detection3D {
        let hypothesis = ObjectHypothesis { class_id: self.class.clone(), score };
        let pose = PoseWithCovariance { pose: (&sensor_from_model).into(), covariance };
        let centre = sensor_from_model * Transform::from_translation(self.bounds.centre());
        Detection3D {
            header: header.clone(),
            results: vec![ObjectHypothesisWithPose { hypothesis, pose }],
            bbox: BoundingBox3D {
                center: (&centre).into(),
                size: (self.bounds.high - self.bounds.low).into(),
            },
            id: name.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_objects_differ_by_a_number() {
        let wanted = [
            ("gear_3", "gear"),
            ("gear", "gear"),
            ("gear12", "gear"),
            ("part-a-7", "part-a"),
            ("42", "42"),
        ];
        for (name, class) in wanted {
            assert_eq!(class_of(name), class);
        }
    }
}
