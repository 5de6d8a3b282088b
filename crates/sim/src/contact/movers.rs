//! Who moves the bodies, for contacts to be looked for where something comes of them. Who may
//! touch whom is said by the world ([`TouchFilter`](crate::TouchFilter)).

use std::collections::BTreeSet;

/// Which bodies are not moved each by the forces on it. Bodies are given by their indices in the
/// model.
#[derive(Clone, Debug, Default)]
pub struct Movers {
    led: BTreeSet<usize>,
    whole: BTreeSet<usize>,
}

impl Movers {
    /// Forces move every body that can move.
    pub fn forces() -> Movers {
        Movers::default()
    }

    /// These bodies go where they are told and no force moves them. Their contacts with what a
    /// force moves are looked for, and those that can keep them out of a wall or each other; not
    /// those within one robot, nor those with level ground.
    pub fn with_led(mut self, bodies: impl IntoIterator<Item = usize>) -> Movers {
        self.led.extend(bodies);
        self
    }

    /// These bodies belong to robots that forces move as one body each, whatever their joints
    /// do: contacts within one robot cancel out and are not looked for.
    pub fn with_whole(mut self, bodies: impl IntoIterator<Item = usize>) -> Movers {
        self.whole.extend(bodies);
        self
    }

    /// Whether a body's robot is moved as one.
    pub fn is_whole(&self, body: usize) -> bool {
        self.whole.contains(&body)
    }

    /// Whether a body goes where it is told.
    pub fn is_led(&self, body: usize) -> bool {
        self.led.contains(&body)
    }
}
