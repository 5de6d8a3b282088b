//! The scene that all sensors of a run look at: made when the first of them looks, and moved
//! once per moment, however many look.

use std::cell::RefCell;
use std::rc::Rc;

use headland_base::SimTime;
use headland_sim::Look;

use super::{Scene, Show};
use crate::poses;

/// What the sensors of one run share.
#[derive(Clone, Debug, Default)]
pub struct SharedScene(Rc<RefCell<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    placed: Vec<Placed>,
}

#[derive(Debug)]
struct Placed {
    show: Show,
    scene: Scene,
    at: Option<SimTime>,
}

impl SharedScene {
    /// Shows the scene of a moment.
    pub fn see<T>(&self, show: Show, look: &Look<'_>, see: impl FnOnce(&Scene) -> T) -> T {
        let mut shared = self.0.borrow_mut();
        see(&shared.placed(show, look).scene)
    }

    /// Lends the scene of a moment to somebody who may move it, as a shutter does that is open
    /// for a while.
    pub fn lend<T>(&self, show: Show, look: &Look<'_>, see: impl FnOnce(&mut Scene) -> T) -> T {
        let mut shared = self.0.borrow_mut();
        let placed = shared.placed(show, look);
        let before = placed.scene.n_moves();
        let seen = see(&mut placed.scene);
        if placed.scene.n_moves() != before {
            placed.at = None;
        }
        seen
    }
}

impl Shared {
    /// The scene, where everything is now.
    fn placed(&mut self, show: Show, look: &Look<'_>) -> &mut Placed {
        let placed = &mut self.placed;
        let known = placed.iter().position(|placed| placed.show == show);
        let i = known.unwrap_or_else(|| {
            placed.push(Placed { show, scene: Scene::of(&look.model.world, show), at: None });
            placed.len() - 1
        });
        let placed = &mut placed[i];
        if placed.at != Some(look.state.time) {
            placed.at = Some(look.state.time);
            placed.scene.place(&poses::of_state(look.model, look.state));
        }
        placed
    }
}
