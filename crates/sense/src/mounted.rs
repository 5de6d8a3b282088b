//! A sensor on a body: where it is, how it moves, and how what it measures becomes what a run
//! asks of a sensor.

use headland_base::{Diagnostic, Seed, SimDuration, SimTime, Transform, Vec3};
use headland_record::messages::{Header, Kind};
use headland_sim::sensor::LastStep;
use headland_sim::{Look, Model, Output, RigidState, Sensor, Timing};
use headland_world::Twist;

use crate::noise::{Dropout, Dropper};
use crate::rays::beam::Beam;
use crate::scene::Show;

/// One kind of sensor: what it says of what it is shown.
pub trait Measure {
    /// What it says: behind the sensor's own topic, and in which message.
    fn outputs(&self) -> Vec<(String, Kind)>;

    /// Whether it looks at contacts.
    fn needs_contacts(&self) -> bool {
        false
    }

    /// Called once before the run: all chance comes from the seed.
    fn start(&mut self, model: &Model, seed: &Seed);

    /// Where it looks, for people to see; nothing where it looks nowhere.
    fn sight(&self) -> Option<Sight<'_>> {
        None
    }

    /// What whoever reads its messages should know of how they come about.
    fn about(&self) -> Option<&str> {
        None
    }

    /// What was worth a word about itself since the last call.
    fn take_findings(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// What there is to say now, by output.
    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>));
}

/// Where a sensor looks, in its own frame.
#[derive(Clone, Copy, Debug)]
pub enum Sight<'a> {
    /// Along beams.
    Beams {
        /// Where it is.
        mount: &'a Mount,
        /// Unit vectors.
        directions: &'a [Vec3],
        /// What each is like.
        beam: &'a Beam,
        /// What they meet.
        show: Show,
    },
    /// At all that is within a pyramid.
    Pyramid {
        /// Where it is.
        mount: &'a Mount,
        /// Its near corners in a circle, then its far ones.
        corners: [Vec3; 8],
    },
}

/// Something measured, as a run takes part in it.
pub struct Mounted {
    name: String,
    measure: Box<dyn Measure>,
    outputs: Vec<Output>,
    timing: Timing,
    dropout: Dropout,
    dropper: Option<Dropper>,
}

impl Mounted {
    /// Says what is measured on a topic and those below it, under a whole name. Where readings
    /// drop out, all messages of one look do.
    pub fn new(
        measure: Box<dyn Measure>,
        (name, topic): (&str, &str),
        timing: Timing,
        dropout: Dropout,
    ) -> Mounted {
        let output = |(behind, kind): (String, Kind)| Output {
            topic: format!("{topic}{behind}"),
            message_type: kind.name(),
        };
        let outputs = measure.outputs().into_iter().map(output).collect();
        Mounted { name: name.to_string(), measure, outputs, timing, dropout, dropper: None }
    }

    /// What whoever reads its messages should know of how they come about.
    pub fn about(&self) -> Option<&str> {
        self.measure.about()
    }

    /// Where it looks.
    pub fn sight(&self) -> Option<Sight<'_>> {
        self.measure.sight()
    }
}

impl Sensor for Mounted {
    fn name(&self) -> &str {
        &self.name
    }

    fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    fn timing(&self) -> Timing {
        self.timing
    }

    fn needs_contacts(&self) -> bool {
        self.measure.needs_contacts()
    }

    fn start(&mut self, model: &Model, seed: &Seed) {
        self.measure.start(model, seed);
        self.dropper = (self.dropout.rate > 0.0).then(|| self.dropout.dropper(seed));
    }

    fn take_findings(&mut self) -> Vec<Diagnostic> {
        self.measure.take_findings()
    }

    fn sample(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        // Measured all the same: losing a message shifts no noise of the next.
        let is_lost = self.dropper.as_mut().is_some_and(Dropper::loses);
        self.measure.measure(look, &mut |output, cdr| {
            if !is_lost {
                say(output, cdr);
            }
        });
    }
}

/// Where a sensor is.
#[derive(Clone, Debug, PartialEq)]
pub struct Mount {
    /// The body that carries it.
    pub body_idx: usize,
    /// The rigid that carries the body.
    pub rigid_idx: usize,
    /// Where it is in that rigid.
    pub rigid_from_sensor: Transform,
    /// What its messages call its frame: `robot/link/sensor`.
    pub frame_id: String,
}

impl Mount {
    /// On a body of a model.
    pub fn on(
        model: &Model,
        body_idx: usize,
        body_from_sensor: Transform,
        frame_id: String,
    ) -> Mount {
        let body = &model.bodies[body_idx];
        let rigid_from_sensor = body.rigid_from_body * body_from_sensor;
        Mount { body_idx, rigid_idx: body.rigid_idx, rigid_from_sensor, frame_id }
    }

    /// Where it is in the world before time starts.
    pub fn world_from_sensor_at_start(&self, model: &Model) -> Transform {
        model.rigids[self.rigid_idx].world_from_rigid * self.rigid_from_sensor
    }

    /// Where it is in the world.
    pub fn world_from_sensor(&self, rigids: &[RigidState]) -> Transform {
        rigids[self.rigid_idx].world_from_rigid * self.rigid_from_sensor
    }

    /// How its origin moves, and its angular velocity, in the world's frame.
    pub fn twist(&self, rigids: &[RigidState]) -> Twist {
        let rigid = &rigids[self.rigid_idx];
        let arm = rigid.world_from_rigid.vector(self.rigid_from_sensor.translation);
        let Twist { linear, angular } = rigid.twist;
        Twist { linear: linear + angular.cross(arm), angular }
    }

    /// The mean acceleration of its origin over the last step, in the world's frame; none before
    /// the first.
    pub fn acceleration(&self, look: &Look<'_>) -> Option<Vec3> {
        let LastStep { rigids, step } = look.last_step?;
        let change = self.twist(&look.state.rigids).linear - self.twist(rigids).linear;
        Some(change / step.secs())
    }

    /// The header of a message of now.
    pub fn header(&self, look: &Look<'_>) -> Header {
        Header::new(look.state.time, &self.frame_id)
    }
}

/// How long ago something was last asked, for noise that depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Since(Option<SimTime>);

impl Since {
    /// Seconds since the last call; none passed before the first.
    pub fn secs(&mut self, now: SimTime) -> f64 {
        let before = self.0.replace(now);
        before.map_or(SimDuration::ZERO, |before| now - before).secs()
    }
}
