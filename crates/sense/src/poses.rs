//! Where the links of a World are: from a state in a run, or from a recording.

use headland_base::maths::quat_from_rotation_vector;
use headland_base::{SimTime, Transform};
use headland_record::Recording;
use headland_record::align::{Method, value_at};
use headland_sim::recorder::object_topics;
use headland_sim::{Model, State};
use headland_world::Twist;

/// One pose per link, in the order of `World::links`, of a state.
pub fn of_state(model: &Model, state: &State) -> Vec<Transform> {
    let one = |body: &headland_sim::Body| {
        state.rigids[body.rigid_idx].world_from_rigid * body.rigid_from_body
    };
    model.bodies.iter().map(one).collect()
}

/// A pose some time later, before it where negative, as it moves on at a twist.
pub(crate) fn moved_on(pose: Transform, twist: Twist, secs: f64) -> Transform {
    if secs == 0.0 {
        return pose;
    }
    let turn = quat_from_rotation_vector(twist.angular * secs);
    let rotation = (turn * pose.rotation).normalize();
    Transform::new(rotation, pose.translation + twist.linear * secs)
}

/// Where the links of a model are in a recording of it.
pub struct Recorded<'a> {
    recording: &'a Recording,
    /// For each link the object whose recorded pose tells it, and the link in that frame.
    sources: Vec<(Option<String>, Transform)>,
    initial: Vec<Transform>,
}

impl<'a> Recorded<'a> {
    /// Finds for every link the object that tells its pose: itself, or another on the same rigid.
    /// Links that none tells stay where the World put them.
    pub fn new(model: &Model, recording: &'a Recording) -> Recorded<'a> {
        let topics = object_topics(model);
        let objects: Vec<&str> = topics.iter().map(|topic| topic.trim_start_matches('/')).collect();
        let known: Vec<bool> =
            objects.iter().map(|object| recording.poses(object).is_some()).collect();
        let source = |body: &headland_sim::Body| {
            let on_rigid = |i: &usize| model.objects[*i].rigid_idx == body.rigid_idx && known[*i];
            let own = |i: &usize| model.objects[*i].name == body.name;
            let mut all = 0..model.objects.len();
            let object = all.clone().filter(on_rigid).find(own).or_else(|| all.find(on_rigid));
            match object {
                Some(i) => {
                    let object_from_rigid = model.objects[i].rigid_from_object.inverse();
                    let object_from_body = object_from_rigid * body.rigid_from_body;
                    let is_own = model.objects[i].name == body.name;
                    let object_from_body =
                        if is_own { Transform::IDENTITY } else { object_from_body };
                    (Some(objects[i].to_string()), object_from_body)
                }
                None => (None, Transform::IDENTITY),
            }
        };
        let sources = model.bodies.iter().map(source).collect();
        let initial = of_state(model, &State::initial(model));
        Recorded { recording, sources, initial }
    }

    /// How many links the recording tells the poses of.
    pub fn n_told(&self) -> usize {
        self.sources.iter().filter(|(object, _)| object.is_some()).count()
    }

    /// One pose per link at a moment; between two samples the way between them, before the
    /// first sample the first, after the last the last.
    pub fn at(&self, time: SimTime) -> Vec<Transform> {
        let one =
            |((object, object_from_body), initial): (&(Option<String>, Transform), &Transform)| {
                let poses = object.as_ref().and_then(|object| self.recording.poses(object));
                let told = poses.and_then(|(times, poses)| {
                    let time = time.clamp(*times.first()?, *times.last()?);
                    value_at(times, poses, time, Method::Interpolate)
                });
                told.map_or(*initial, |pose| pose * *object_from_body)
            };
        self.sources.iter().zip(&self.initial).map(one).collect()
    }
}
