//! A light barrier: whether something stands in the beam, as `std_msgs/Bool`, and where, as
//! `sensor_msgs/Range` on `/range` below it.
//!
//! The beam ends at its largest distance, where the other half of the barrier stands. What is
//! nearer than the smallest distance breaks it, too; an echo that is missed does not.

use headland_base::Seed;
use headland_record::messages::{Bool, Kind as Message, encode};
use headland_sim::{Look, Model};

use super::beam::Reading;
use super::lidar::ELEMENTS;
use super::range::{Finder, finder};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Sight};

/// A light barrier.
pub const KIND: Kind =
    Kind { words: &["headland:break_beam", "break_beam"], on: On::Link, elements: ELEMENTS, read };

struct BreakBeam(Finder);

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    Some(Box::new(BreakBeam(finder(element, site)?)))
}

impl Measure for BreakBeam {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Bool), ("/range".to_string(), Message::Range)]
    }

    fn start(&mut self, _model: &Model, seed: &Seed) {
        self.0.switch_on(seed);
    }

    fn sight(&self) -> Option<Sight<'_>> {
        self.0.sight()
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let reading = self.0.find(look);
        say(0, encode(&Bool { data: reading != Reading::Nothing }));
        say(1, encode(&self.0.message(look, reading)));
    }
}
