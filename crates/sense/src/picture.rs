//! Pictures of a world, or of what happened in it: a model, maybe a recording, and moments go in;
//! images come out.

use headland_base::{Diagnostic, Seed, SimDuration, SimTime, Transform, Vec3};
use headland_record::Recording;
use headland_sim::{Model, Motion, State};

use crate::camera::{Camera, Film, Pinhole, View};
use crate::image::Image;
use crate::lens::Table;
use crate::overlay::{self, Kind, Mark, Sights, Touch};
use crate::poses::{self, Recorded};
use crate::render::{Renderer, Wants};
use crate::scene::{Bounds, Scene, Show};
use crate::view::{framing, interesting};

/// Points of a path, at most; more are not seen as more.
const MOST_PATH_POINTS: usize = 240;
/// Moments at which is looked how far things go, at most.
const MOST_LOOKS: usize = 60;

/// Where the picture is taken from.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// A camera of the world, through its lens, with all that is wrong with its pictures; or
    /// several, at least one, side by side.
    Cameras(Vec<Camera>),
    /// Wherever everything that moves is in the picture, and its way if that is drawn; an eye, or a
    /// point to look at, is kept.
    Outside {
        /// How large the picture is and how wide it sees.
        pinhole: Pinhole,
        /// Where to look from.
        eye: Option<Vec3>,
        /// Where to look.
        at: Option<Vec3>,
    },
}

/// How pictures are taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    /// From where.
    pub from: From,
    /// What is drawn over them.
    pub draw: Vec<Kind>,
    /// Whether the moment is written into the corner.
    pub caption: bool,
}

/// A world to take pictures of, and what happened in it.
pub struct Stage<'a> {
    model: &'a Model,
    recording: Option<(&'a Recording, Recorded<'a>)>,
    /// Compiled for the first picture: what a camera sees, or all that is there.
    scene: Option<(Show, Scene)>,
    sights: Sights,
}

impl<'a> Stage<'a> {
    /// Of a world before time starts, or of a recording of it. Says so where the recording tells
    /// nothing about the world.
    pub fn new(
        model: &'a Model,
        recording: Option<&'a Recording>,
    ) -> Result<Stage<'a>, Diagnostic> {
        let recording = recording.map(|recording| (recording, Recorded::new(model, recording)));
        if recording.as_ref().is_some_and(|(_, recorded)| recorded.n_told() == 0) {
            let message = "the recording has no poses of the things in its world";
            return Err(Diagnostic::error("no-poses", message)
                .help("`headland info` lists its topics; poses are in /OBJECT/pose"));
        }
        Ok(Stage { model, recording, scene: None, sights: Sights::default() })
    }

    /// The first and the last moment there is a picture of.
    pub fn span(&self) -> (SimTime, SimTime) {
        let of_recording = self.recording.as_ref().and_then(|(recording, _)| recording.span());
        of_recording.unwrap_or((SimTime::ZERO, SimTime::ZERO))
    }

    /// The seed of a sensor in the run that was recorded; in that of a world where nobody gives
    /// one.
    fn seed(&self, sensor_name: &str) -> Seed {
        let seed = self.recording.as_ref().and_then(|(recording, _)| recording.facts.seed());
        Seed::new(seed.unwrap_or(0)).child("sensor").child(sensor_name)
    }

    /// Takes one picture per moment and hands each on. All are taken from one place, unless the
    /// camera moves. Who draws: one for each camera, or one.
    pub fn shoot(
        &mut self,
        shot: &Shot,
        renderers: &mut [Box<dyn Renderer>],
        times: &[SimTime],
        mut take: impl FnMut(usize, Image) -> Result<(), Vec<Diagnostic>>,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut films = self.films(&shot.from)?;
        // A camera takes no picture of what has no visual.
        let show = if films.is_empty() { Show::Everything } else { Show::Visuals };
        let kept = self.scene.take().filter(|(kept, _)| *kept == show);
        let (_, mut whole) = kept.unwrap_or_else(|| (show, Scene::of(&self.model.world, show)));
        let mut around = Bounds::EMPTY;
        let looks = spread(times.len(), MOST_LOOKS).map(|i| times[i]);
        for time in looks.chain(self.moments_of_ways(&shot.draw, times)) {
            whole.place(&poses_at(self.model, &self.recording, time));
            around = around.union(interesting(&whole));
        }
        for (i, time) in times.iter().enumerate() {
            whole.place(&poses_at(self.model, &self.recording, *time));
            let view = match &shot.from {
                From::Cameras(cameras) => cameras[0].view(whole.world_from_link()),
                From::Outside { pinhole, eye, at } => framing(*pinhole, around, *eye, *at),
            };
            let size = mark_size(&view, around, &shot.from);
            let marks = self.marks(&shot.draw, *time, &whole, size);
            let mut marked = (!marks.is_empty()).then(|| whole.with_marks(marks));
            let scene = marked.as_mut().unwrap_or(&mut whole);
            let mut images = self.develop(&mut films, renderers, scene, *time);
            if films.is_empty() {
                images.push(renderers[0].render(scene, &view, Wants::COLOUR).into_image());
            }
            let mut image = match <[Image; 1]>::try_from(images) {
                Ok([only]) => only,
                Err(several) => Image::side_by_side(&several),
            };
            if shot.caption {
                image.caption(&format!("{:.2} s", time.secs()));
            }
            take(i, image)?;
        }
        self.scene = Some((show, whole));
        Ok(())
    }

    /// Where the ways of things are drawn, the moments they lead through: whoever draws them
    /// wants to see them.
    fn moments_of_ways(&self, draw: &[Kind], times: &[SimTime]) -> Vec<SimTime> {
        let last = times.last().filter(|_| draw.contains(&Kind::Trajectories));
        let moments = |last: &SimTime| evenly(self.span().0.min(*last), *last, MOST_PATH_POINTS);
        last.map(moments).unwrap_or_default()
    }

    /// Cameras ready to take pictures, or what is wrong with a lens.
    fn films(&self, from: &From) -> Result<Vec<Film>, Vec<Diagnostic>> {
        let From::Cameras(cameras) = from else { return Ok(Vec::new()) };
        let film = |camera: &Camera| {
            Table::check(&camera.pinhole, &camera.lens, camera.cutoff).map_err(|fault| {
                vec![fault.note(format!("the lens of camera `{}`", camera.name))]
            })?;
            let mut film = Film::new(camera.clone());
            film.start(&self.seed(camera.sensor_name()));
            Ok(film)
        };
        cameras.iter().map(film).collect()
    }

    /// What every camera shows of a moment.
    fn develop(
        &self,
        films: &mut [Film],
        renderers: &mut [Box<dyn Renderer>],
        scene: &mut Scene,
        time: SimTime,
    ) -> Vec<Image> {
        let mut place = |scene: &mut Scene, secs: f64| {
            let mut poses = poses_at(self.model, &self.recording, after(time, secs));
            // The link of the marks, which stay.
            poses.resize(scene.links().len(), Transform::IDENTITY);
            scene.place(&poses);
        };
        let mut images = Vec::new();
        for (film, renderer) in films.iter_mut().zip(renderers) {
            let moment = (&*self.model.world, time);
            let frame = film.take(moment, &mut **renderer, scene, &mut place);
            images.extend(film.images(frame));
        }
        images
    }

    fn marks(&mut self, kinds: &[Kind], time: SimTime, scene: &Scene, size: f64) -> Vec<Mark> {
        let mut sights = std::mem::take(&mut self.sights);
        let links = scene.world_from_link();
        let of = |kind: &Kind| match kind {
            Kind::Contacts => overlay::contacts(&self.touches(time), size),
            Kind::Forces => overlay::forces(&self.touches(time), overlay::weight(self.model), size),
            Kind::Com => overlay::centres_of_mass(self.model, links, size),
            Kind::Frames => overlay::frames(scene, size),
            Kind::Collisions => sights.collisions(self.model, links),
            Kind::Beams => sights.beams(self.model, links, size),
            Kind::Trajectories => self.paths(time, size),
        };
        let marks = kinds.iter().flat_map(of).collect();
        self.sights = sights;
        marks
    }

    /// What touched at the last moment, up to now, at which that was written down.
    fn touches(&self, time: SimTime) -> Vec<Touch> {
        let Some((recording, _)) = &self.recording else { return Vec::new() };
        let tracks = recording.tracks().values();
        let at = tracks.filter_map(|track| {
            let before = track.times().partition_point(|t| *t <= time).checked_sub(1)?;
            track.contacts()?.get(before)
        });
        let touch = |contact: &headland_record::messages::Contact| Touch {
            position: (&contact.position).into(),
            normal: (&contact.normal).into(),
            force: (&contact.force).into(),
        };
        at.flatten().map(touch).collect()
    }

    /// The way of every outermost model that moves, up to now.
    fn paths(&self, time: SimTime, size: f64) -> Vec<Mark> {
        let Some((recording, _)) = &self.recording else { return Vec::new() };
        let topics = headland_sim::recorder::object_topics(self.model);
        let objects = self.model.objects.iter().zip(topics);
        let moving = objects.filter(|(object, _)| {
            let motion = self.model.rigids[object.rigid_idx].motion;
            motion != Motion::Static && !object.name.contains("::")
        });
        let path = moving.flat_map(|(_, topic)| {
            let poses = recording.poses(topic.trim_start_matches('/'));
            let Some((times, poses)) = poses else { return Vec::new() };
            let n = times.partition_point(|t| *t <= time);
            let points: Vec<Vec3> =
                spread(n, MOST_PATH_POINTS).map(|i| poses[i].translation).collect();
            overlay::path(&points, size)
        });
        path.collect()
    }
}

/// Where everything was.
fn poses_at(
    model: &Model,
    recording: &Option<(&Recording, Recorded<'_>)>,
    time: SimTime,
) -> Vec<Transform> {
    match recording {
        Some((_, recorded)) => recorded.at(time),
        None => poses::of_state(model, &State::initial(model)),
    }
}

fn after(time: SimTime, secs: f64) -> SimTime {
    SimDuration::from_secs(secs).map_or(time, |duration| time + duration)
}

/// Up to `most` of the numbers below `n`, evenly, the first and the last with them.
fn spread(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = n.min(most);
    (0..taken).map(move |i| if taken < 2 { n - 1 } else { i * (n - 1) / (taken - 1) })
}

/// How large marks are: a share of what is in the picture, or of what lies between the eye and
/// what it looks at.
fn mark_size(view: &View, around: Bounds, from: &From) -> f64 {
    let eye = view.world_from_optical.translation;
    let size = if around.is_empty() { 1.0 } else { (around.high - around.low).max_element() };
    match from {
        From::Outside { eye: None, .. } => size,
        From::Outside { at: Some(at), .. } => (*at - eye).length() * 0.7,
        _ => ((around.centre() - eye).length() * 0.7).min(size),
    }
}

/// Moments from `first` to `last`, evenly, both with them.
pub fn evenly(first: SimTime, last: SimTime, n: usize) -> Vec<SimTime> {
    let span = i128::from((last - first).nanos());
    let at = |i: usize| match n {
        0 | 1 => first,
        _ => SimTime::from_nanos(first.nanos() + (span * i as i128 / (n as i128 - 1)) as i64),
    };
    (0..n).map(at).collect()
}
