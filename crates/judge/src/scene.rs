//! A recording as a test sees it: snapshots, and a column of numbers per quantity.
//!
//! ```text
//! tracks, each with its own times ─► the union of those times = the snapshots
//!                                 └► one column per quantity asked for, held between samples
//! ```
//!
//! Columns are made when somebody asks and kept, so re-judging after an edit reads plain
//! arrays. Velocities that nobody recorded are differences of poses, accelerations are
//! differences of velocities; both look back, as one who watches would, so they are not
//! known at the first sample.
//!
//! Deliberately absent: the machine. This is what it looks at.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use headland_base::maths::{Vec3, rotation_vector_from_quat};
use headland_base::{SimTime, Transform};
use headland_record::Recording;
use headland_record::align::{Method, resample, union_of_times};
use headland_record::track::{Data, Motion, Remark, Track};

use crate::cut::INTERRUPTED;
use crate::region::Region;
use crate::vocabulary::{JointPart, Quantity, Six, Vocabulary};

/// One number per snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// As many as there are snapshots; 1 and 0 for yes and no.
    pub values: Vec<f64>,
    /// The first snapshot at which it is known; before it a block reads `nil`.
    pub first_known: usize,
    /// Whether every known value is finite.
    pub is_finite: bool,
    /// Whether every known value is a whole number: a count or a mode, no measurement.
    pub is_whole: bool,
}

impl Column {
    /// Values of which the leading `first_known` are not known yet.
    pub fn new(values: Vec<f64>, first_known: usize) -> Column {
        let known = &values[first_known.min(values.len())..];
        let is_finite = known.iter().all(|v| v.is_finite());
        let is_whole = known.iter().all(|v| v.fract() == 0.0);
        Column { values, first_known, is_finite, is_whole }
    }

    fn unknown(n: usize) -> Column {
        Column { values: vec![f64::NAN; n], first_known: n, is_finite: true, is_whole: true }
    }

    /// Whether it can be read without a second look.
    pub fn is_clean(&self) -> bool {
        self.first_known == 0 && self.is_finite
    }
}

/// A recording ready to be judged.
#[derive(Debug)]
pub struct Scene {
    recording: Arc<Recording>,
    vocabulary: Vocabulary,
    times: Vec<SimTime>,
    columns: Mutex<BTreeMap<Quantity, Arc<Column>>>,
    /// For a stretch: the scene it is of, and the first of its snapshots.
    whole: Option<(Arc<Scene>, usize)>,
}

impl Scene {
    /// Snapshots at every moment anything was sampled.
    pub fn new(recording: Recording) -> Scene {
        let vocabulary = vocabulary_of(&recording);
        let sampled = recording.tracks().values().filter(|track| track.remarks().is_none());
        let mut times: Vec<&[SimTime]> = sampled.map(Track::times).collect();
        if times.is_empty() {
            times = recording.tracks().values().map(Track::times).collect();
        }
        // Tracks of one run share their times; sorting them all again would cost more than
        // everything else here.
        let longest = times.iter().copied().max_by_key(|t| t.len()).unwrap_or_default();
        let is_within = |t: &&[SimTime]| *t == longest || t.is_empty() || is_subset(t, longest);
        let times = if longest.is_sorted_by(|a, b| a < b) && times.iter().all(is_within) {
            longest.to_vec()
        } else {
            union_of_times(&times)
        };
        let recording = Arc::new(recording);
        Scene { recording, vocabulary, times, columns: Mutex::default(), whole: None }
    }

    /// Only these snapshots, as if there were no others; what was sampled before still holds.
    pub fn stretch(self: &Arc<Scene>, range: Range<usize>) -> Scene {
        Scene {
            recording: Arc::clone(&self.recording),
            vocabulary: self.vocabulary.clone(),
            times: self.times[range.clone()].to_vec(),
            columns: Mutex::default(),
            whole: Some((Arc::clone(self), range.start)),
        }
    }

    /// The first moment at which a simulation broke its own rules, and how: a body went
    /// non-finite, or the engine gave up. What follows is no evidence.
    pub fn breach(&self) -> Option<(SimTime, String)> {
        let track = self.recording.track("/events")?;
        let said = track.times().iter().zip(track.remarks()?);
        let mut breaches =
            said.filter(|(_, remark)| matches!(remark.kind.as_str(), "non-finite" | "fault"));
        breaches.next().map(|(time, remark)| (*time, format!("{}: {}", remark.source, remark.text)))
    }

    /// When a run was broken off before its time, where that is recorded.
    pub fn interruption(&self) -> Option<SimTime> {
        let track = self.recording.track("/events")?;
        let mut said = track.times().iter().zip(track.remarks()?);
        let (time, _) =
            said.find(|(_, remark)| remark.source == "run" && remark.kind == INTERRUPTED)?;
        // Of a stretch that ends before it, everything is there.
        let is_inside = self.times.last().is_some_and(|last| last >= time);
        is_inside.then_some(*time)
    }

    /// The names a test can use.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// When the snapshots were taken.
    pub fn times(&self) -> &[SimTime] {
        &self.times
    }

    /// The recording behind it.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The numbers of a quantity. Formulas are the program's affair and not known here.
    pub fn column(&self, quantity: Quantity) -> Arc<Column> {
        // A panic while the lock was held left at worst a missing column, which is made again.
        let lock = || self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = lock().get(&quantity) {
            return Arc::clone(column);
        }
        let column = Arc::new(self.make(quantity));
        lock().insert(quantity, Arc::clone(&column));
        column
    }

    /// The last thing said on a track of texts at or before a moment, and when.
    pub fn said(&self, report: u32, now: SimTime) -> Option<(SimTime, &Remark)> {
        let track = self.recording.track_called(&self.vocabulary.reports[report as usize])?;
        let last = track.times().partition_point(|t| *t <= now).checked_sub(1)?;
        Some((track.times()[last], &track.remarks()?[last]))
    }

    fn make(&self, quantity: Quantity) -> Column {
        let n = self.times.len();
        if let Some((whole, start)) = &self.whole {
            let column = whole.column(quantity);
            let values = column.values[*start..start + n].to_vec();
            return Column::new(values, column.first_known.saturating_sub(*start).min(n));
        }
        let made = match quantity {
            Quantity::Time => Some(Column::new(self.times.iter().map(|t| t.secs()).collect(), 0)),
            Quantity::Object(i, six, component) => self.six(i, six, usize::from(component)),
            Quantity::Quaternion(i, part) => self.poses(i).map(|(times, poses)| {
                let part = usize::from(part);
                self.on_snapshots(times, poses.iter().map(|p| p.rotation.to_array()[part]))
            }),
            Quantity::Joint(i, part) => {
                let part = match part {
                    JointPart::Position => "position",
                    JointPart::Velocity => "velocity",
                    JointPart::Effort => "effort",
                };
                let key = format!("{}/{part}", self.vocabulary.joints[i as usize]);
                self.recorded(&key)
            }
            Quantity::Channel(i) => self.recorded(&self.vocabulary.channels[i as usize].0),
            Quantity::Touches(a, b) => self.contacts(|pair| f64::from(u8::from(pair.is(a, b)))),
            Quantity::ContactCount(i) => self.contacts(|pair| f64::from(u8::from(pair.has(i)))),
            Quantity::ContactForce(i) => {
                self.contacts(|pair| if pair.has(i) { pair.normal_force } else { 0.0 })
            }
            Quantity::Inside(i, region) => self.poses(i).map(|(times, poses)| {
                let region = &self.vocabulary.regions[region as usize].1;
                let is_in = |p: &Transform| f64::from(u8::from(region.contains(p.translation)));
                self.on_snapshots(times, poses.iter().map(is_in))
            }),
            Quantity::Distance(a, b) => Some(self.distance(a, b)),
            Quantity::Formula(_) => None,
        };
        let mut made = made.unwrap_or_else(|| Column::unknown(n));
        if matches!(quantity, Quantity::Touches(..)) {
            made.values.iter_mut().for_each(|v| *v = v.min(1.0)); // many points, one touch
        }
        made
    }

    fn poses(&self, object: u32) -> Option<(&[SimTime], &[Transform])> {
        self.recording.poses(&self.vocabulary.objects[object as usize])
    }

    fn six(&self, object: u32, six: Six, component: usize) -> Option<Column> {
        if six == Six::Pose {
            let (times, poses) = self.poses(object)?;
            return Some(match component {
                0..3 => self.on_snapshots(times, poses.iter().map(|p| p.translation[component])),
                _ => self.on_snapshots(times, poses.iter().map(|p| p.rpy()[component - 3])),
            });
        }
        let (times, motions, n_unknown) = self.motions(object)?;
        if six == Six::Velocity {
            let velocities = motions.iter().map(|m| of_motion(m, component));
            return Some(self.known_from(times, n_unknown, velocities));
        }
        let rates =
            differences(times, &motions, |a, b| of_motion(b, component) - of_motion(a, component));
        let n_unknown = if times.len() > 1 { n_unknown + 1 } else { 0 };
        Some(self.known_from(times, n_unknown, rates.into_iter()))
    }

    /// Recorded velocities, or differences of poses where there are none; and how many of
    /// the first are not known.
    fn motions(&self, object: u32) -> Option<Motions<'_>> {
        let recorded = self.recording.motions(&self.vocabulary.objects[object as usize]);
        if let Some((times, motions)) = recorded {
            return Some((times, motions.into(), 0));
        }
        let (times, poses) = self.poses(object)?;
        let component = |of: fn(&Transform, &Transform) -> Vec3, axis: usize| {
            differences(times, poses, |a, b| of(a, b)[axis])
        };
        let moved = |a: &Transform, b: &Transform| b.translation - a.translation;
        let turned = |a: &Transform, b: &Transform| {
            rotation_vector_from_quat(b.rotation * a.rotation.inverse())
        };
        let [x, y, z] = [0, 1, 2].map(|axis| component(moved, axis));
        let [rx, ry, rz] = [0, 1, 2].map(|axis| component(turned, axis));
        let motion = |i: usize| Motion {
            linear: Vec3::new(x[i], y[i], z[i]),
            angular: Vec3::new(rx[i], ry[i], rz[i]),
        };
        let n_unknown = usize::from(poses.len() > 1);
        Some((times, (0..poses.len()).map(motion).collect(), n_unknown))
    }

    fn recorded(&self, key: &str) -> Option<Column> {
        let column = self.recording.column(key)?;
        Some(self.on_snapshots(column.times, column.values.iter().copied()))
    }

    fn distance(&self, a: u32, b: u32) -> Column {
        let part = |object, axis| self.column(Quantity::Object(object, Six::Pose, axis));
        let (from, to) = ([0, 1, 2].map(|k| part(a, k)), [0, 1, 2].map(|k| part(b, k)));
        let point = |columns: &[Arc<Column>; 3], i: usize| {
            Vec3::new(columns[0].values[i], columns[1].values[i], columns[2].values[i])
        };
        let values = (0..self.times.len()).map(|i| point(&from, i).distance(point(&to, i)));
        Column::new(values.collect(), from[0].first_known.max(to[0].first_known))
    }

    fn contacts(&self, weight: impl Fn(&Pair<'_>) -> f64) -> Option<Column> {
        // Sensors of touch have tracks of contacts too, of what they feel alone.
        let is_contacts = |track: &&Track| track.contacts().is_some();
        let whole = self.recording.track("/contacts").filter(is_contacts);
        let track = whole.or_else(|| self.recording.tracks().values().find(is_contacts))?;
        let sums = track.contacts()?.iter().map(|now| {
            let pairs = now.iter().map(|contact| Pair {
                a: thing_of(&contact.body_a),
                b: thing_of(&contact.body_b),
                normal_force: contact.normal_force,
                objects: &self.vocabulary.objects,
            });
            // A fold and not a sum: the sum of nothing is −0.
            pairs.fold(0.0, |sum, pair| sum + weight(&pair))
        });
        Some(self.on_snapshots(track.times(), sums))
    }

    /// Samples brought onto the snapshots: each holds until the next.
    fn on_snapshots(
        &self,
        times: &[SimTime],
        values: impl ExactSizeIterator<Item = f64>,
    ) -> Column {
        let values: Vec<f64> = values.collect();
        if times == self.times {
            return Column::new(values, 0);
        }
        let held = resample(times, &values, &self.times, Method::Hold);
        let first_known = held.iter().position(Option::is_some).unwrap_or(held.len());
        Column::new(held.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect(), first_known)
    }

    /// The same for samples of which the first few are not known.
    fn known_from(
        &self,
        times: &[SimTime],
        n_unknown: usize,
        values: impl ExactSizeIterator<Item = f64>,
    ) -> Column {
        let column = self.on_snapshots(times, values);
        if n_unknown == 0 {
            return column;
        }
        let first_known = match times.get(n_unknown) {
            Some(first) => self.times.partition_point(|t| t < first),
            None => self.times.len(),
        };
        Column::new(column.values, first_known)
    }
}

/// When, how, and how many of the first are not known.
type Motions<'a> = (&'a [SimTime], Cow<'a, [Motion]>, usize);

/// Both sorted; `longer` without repeats.
fn is_subset(part: &[SimTime], longer: &[SimTime]) -> bool {
    let mut rest = longer.iter().peekable();
    part.iter().all(|time| {
        while rest.peek().is_some_and(|t| *t < time) {
            rest.next();
        }
        rest.peek() == Some(&time)
    })
}

fn of_motion(motion: &Motion, component: usize) -> f64 {
    if component < 3 { motion.linear[component] } else { motion.angular[component - 3] }
}

/// Rates of change per second, looking back: NaN at the first sample. Equal times repeat the
/// rate before them.
fn differences<T>(times: &[SimTime], values: &[T], change: impl Fn(&T, &T) -> f64) -> Vec<f64> {
    let mut rates = vec![f64::NAN; values.len()];
    for i in 1..values.len() {
        let dt = (times[i] - times[i - 1]).secs();
        rates[i] = if dt > 0.0 { change(&values[i - 1], &values[i]) / dt } else { rates[i - 1] };
    }
    if let [only] = &mut rates[..] {
        *only = 0.0; // what is sampled once never moves
    }
    rates
}

/// Two bodies that touch.
struct Pair<'a> {
    a: String,
    b: String,
    normal_force: f64,
    objects: &'a [String],
}

impl Pair<'_> {
    fn belongs(&self, body: &str, object: u32) -> bool {
        let object = self.objects[object as usize].as_str();
        let rest = body.strip_prefix(object);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn has(&self, object: u32) -> bool {
        self.belongs(&self.a, object) || self.belongs(&self.b, object)
    }

    fn is(&self, one: u32, other: u32) -> bool {
        (self.belongs(&self.a, one) && self.belongs(&self.b, other))
            || (self.belongs(&self.a, other) && self.belongs(&self.b, one))
    }
}

/// `ball::link` as topics write it: `ball/link`.
pub fn thing_of(body: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '/' { c } else { '_' };
    body.replace("::", "/").chars().map(clean).collect()
}

fn vocabulary_of(recording: &Recording) -> Vocabulary {
    // Velocities alone make an object too.
    let of_motions = recording.tracks().iter().filter(|(_, track)| track.motions().is_some());
    let of_motions = of_motions.map(|(topic, _)| headland_record::object_name(topic));
    let objects: BTreeSet<&str> = recording.objects().into_iter().chain(of_motions).collect();
    let objects: Vec<String> = objects.into_iter().map(str::to_string).collect();
    let joints = recording.joints().into_iter().map(|(name, _, _)| name).collect();
    let moving = objects.iter().map(|object| recording.motions(object).is_some()).collect();
    let (mut channels, mut reports) = (Vec::new(), Vec::new());
    for (topic, track) in recording.tracks() {
        match track.data() {
            Data::Remarks(_) => reports.push(topic.trim_start_matches('/').to_string()),
            Data::Scalars(_) | Data::Contacts(_) => {
                let topic = topic.trim_start_matches('/');
                let keys = recording.keys_of(topic);
                channels.extend(keys.into_iter().map(|key| {
                    let unit = recording.column(&key).map_or("", |column| column.unit.word());
                    (key, unit)
                }));
            }
            Data::Poses(_) | Data::Motions(_) | Data::Joints(_) => {}
        }
    }
    let metadata = &recording.facts.metadata;
    let regions = metadata.get("headland.regions").into_iter().flatten();
    let regions =
        regions.filter_map(|(name, fact)| Some((name.clone(), Region::from_fact(fact)?))).collect();
    let mut facts = BTreeMap::new();
    for (record, entries) in metadata {
        if ["headland.regions", "headland.objects", "headland.sensors"].contains(&&**record) {
            continue; // seen as regions, objects and channels
        }
        for (key, value) in entries {
            let is_own = record == headland_record::FACTS;
            let name = if is_own { key.clone() } else { format!("{record}.{key}") };
            facts.insert(name, value.clone());
        }
    }
    Vocabulary { objects, joints, channels, reports, regions, facts, moving }
}
