//! The logical camera: every object of which the box around a shape reaches into its sight, where
//! it really is. Nothing hides anything from it.

use headland_base::Seed;
use headland_record::messages::{Detection3DArray, Kind as Message, encode};
use headland_sim::{Look, Model};

use super::frustum::Frustum;
use super::objects::{Object, objects};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Sight};
use crate::scene::{Scene, SharedScene, Show};

/// `<sensor type="logical_camera">`.
pub const KIND: Kind =
    Kind { words: &["logical_camera"], on: On::Link, elements: &["logical_camera"], read };

struct LogicalCamera {
    mount: Mount,
    scene: SharedScene,
    frustum: Frustum,
    objects: Option<Vec<Object>>,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let Some(camera) = element.child("logical_camera") else {
        element.error("there is no <logical_camera> in it");
        return None;
    };
    camera.only(&["near", "far", "horizontal_fov", "aspect_ratio"]);
    let (mount, scene) = (site.mount.clone(), site.scene.clone());
    Some(Box::new(LogicalCamera { mount, scene, frustum: Frustum::read(camera)?, objects: None }))
}

impl Measure for LogicalCamera {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Detection3DArray)]
    }

    fn start(&mut self, _model: &Model, _seed: &Seed) {}

    fn sight(&self) -> Option<Sight<'_>> {
        Some(Sight::Pyramid { mount: &self.mount, corners: self.frustum.corners() })
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let sensor_from_world = self.mount.world_from_sensor(&look.state.rigids).inverse();
        let header = self.mount.header(look);
        let shared = self.scene.clone();
        let see = |scene: &Scene| {
            let known =
                self.objects.get_or_insert_with(|| objects(look.model, scene, self.mount.body_idx));
            let in_sight = known.iter().filter(|object| {
                self.frustum.meets_any(sensor_from_world, object.boxes_now(scene))
            });
            let report = |object: &Object| {
                let pose = sensor_from_world * object.world_from_model(scene);
                object.detection(&header, pose, Default::default(), 1.0, &object.name)
            };
            in_sight.map(report).collect()
        };
        let detections = shared.see(Show::Everything, look, see);
        say(0, encode(&Detection3DArray { header: self.mount.header(look), detections }));
    }
}
