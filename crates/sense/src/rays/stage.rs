//! The scene that all sensors of a run look at: made when the first of them looks, and moved
//! once per moment, however many look.

use std::cell::RefCell;
use std::rc::Rc;

use headland_base::{SimTime, Transform};
use headland_sim::Look;

use crate::scene::{Scene, Show};

/// What the sensors of one run share.
#[derive(Clone, Debug, Default)]
pub struct Stage(Rc<RefCell<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    placed: Vec<Placed>,
    poses: Vec<Transform>,
}

#[derive(Debug)]
struct Placed {
    show: Show,
    scene: Scene,
    at: Option<SimTime>,
}

impl Stage {
    /// Shows the scene of a moment.
    pub fn see<T>(&self, show: Show, look: &Look<'_>, see: impl FnOnce(&Scene) -> T) -> T {
        let mut shared = self.0.borrow_mut();
        let Shared { placed, poses } = &mut *shared;
        let known = placed.iter().position(|placed| placed.show == show);
        let i = known.unwrap_or_else(|| {
            placed.push(Placed { show, scene: Scene::of(&look.model.world, show), at: None });
            placed.len() - 1
        });
        let Placed { scene, at, .. } = &mut placed[i];
        if *at != Some(look.state.time) {
            *at = Some(look.state.time);
            poses.clear();
            poses.extend(look.model.bodies.iter().map(|body| {
                look.state.rigids[body.rigid_idx].world_from_rigid * body.rigid_from_body
            }));
            scene.place(poses);
        }
        see(scene)
    }
}
