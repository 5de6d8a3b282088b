//! A run judged as it goes on.
//!
//! ```text
//! run ─ Observer ─► Judge ─┬─► the recorder
//!                          └─► Now (model, state) ─► one test each
//! ```
//!
//! A snapshot is judged when the next one begins, because commands that belong to it come
//! after its state. What a test sees is what it will see in the recording: names are taken
//! from a recording of the first moment, and numbers are the recorded ones to the last bit.
//!
//! Deliberately absent: what sensors say, whose stamps may lie before now, the verdicts
//! themselves, and the end of a run that may end at any time; a test that reads those is refused
//! before the run (`unseen`) and judged on the recording. That a sensor looked is a moment all
//! the same, because the recording will have one there.
//! A channel of commands that a table gives only after the run was broken off is `nil` here
//! and unknown in the recording.

mod targets;
mod unseen;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use headland_base::maths::unit_quat;
use headland_base::{Diagnostic, SimTime, Transform};
use headland_judge::code::Code;
use headland_judge::cut::{INTERRUPTED, end_sites};
use headland_judge::scene::thing_of;
use headland_judge::vocabulary::{JointPart, Quantity, Six};
use headland_judge::{Judgement, Live, LiveSource, Scene, Verdict, Vocabulary, cut_short};
use headland_record::messages::Kind;
use headland_record::track::Remark;
use headland_record::{ChannelId, LoadOptions, Memory, Reader, WriteOptions, Writer, load};
use headland_report::action_errors;
use headland_sim::recorder::object_topics;
use headland_sim::{
    Commands, Contact, Ending, Letter, Model, Motion, Observer, Recorder, RunEnd, Sensor, State,
};
use headland_world::Twist;

use crate::beat::{Stage, reached};
use crate::context::BUILD;
use crate::job::Job;
use crate::test_file::TestFile;

use targets::Targets;

/// Where verdicts are recorded.
const VERDICTS: &str = "/verdicts";
/// What happens once in a run, as recordings call it.
const EVENTS: &str = "events";

/// What a test can see of a run, and what that is in the model.
#[derive(Debug)]
pub struct Names {
    vocabulary: Vocabulary,
    /// The model's object behind each of the vocabulary's.
    object_idxs: Vec<usize>,
    /// The axis behind each joint.
    dof_idxs: Vec<usize>,
    /// Objects that a body belongs to, by the body.
    objects_of_body: Vec<Vec<u32>>,
}

impl Names {
    /// Records the first moment and looks at that. `describe` writes the facts of the run.
    pub fn of(
        job: &Job<'_>,
        describe: impl FnOnce(&mut Writer) -> Result<(), Diagnostic>,
    ) -> Result<Names, Diagnostic> {
        let model = job.model;
        let file = Memory::new();
        let mut writer = Writer::new(file.clone(), "names", &WriteOptions::new(BUILD))?;
        describe(&mut writer)?;
        let mut recorder = Recorder::start(&mut writer, model, &[])?;
        let mut state = State::initial(model);
        // Every joint says which axis it is.
        for (i, dof) in state.dofs.iter_mut().enumerate() {
            dof.position = i as f64;
        }
        recorder.sample(model, &state)?;
        recorder.event(SimTime::ZERO, "", "", "")?;
        if let Some(commands) = targets::all_at_once(job) {
            recorder.commands(SimTime::ZERO, &commands)?;
        }
        writer.finish()?;
        let bytes = file.bytes();
        let (recording, _) = load(Reader::new(&bytes[..], "names"), &LoadOptions::default());
        let joints = recording.joints();
        let dof_idx = |position: &[f64]| position.first().map(|i| *i as usize);
        let dof_idxs = joints.iter().filter_map(|(_, _, columns)| dof_idx(&columns.position));
        let dof_idxs: Vec<usize> = dof_idxs.collect();
        let vocabulary = Scene::new(recording).vocabulary().clone();
        assert_eq!(dof_idxs.len(), vocabulary.joints.len(), "an axis for every joint");

        let topics = object_topics(model);
        let topic_of = |name: &String| {
            let found = topics.iter().position(|topic| topic.trim_start_matches('/') == name);
            found.expect("objects are named by their topics")
        };
        let belongs = |body: &str, object: &str| {
            let rest = body.strip_prefix(object);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let objects_of = |body: &str| {
            let objects = (0u32..).zip(&vocabulary.objects);
            let own = objects.filter(|(_, object)| belongs(body, object)).map(|(i, _)| i);
            own.collect::<Vec<u32>>()
        };
        Ok(Names {
            object_idxs: vocabulary.objects.iter().map(topic_of).collect(),
            dof_idxs,
            objects_of_body: model.bodies.iter().map(|b| objects_of(&thing_of(&b.name))).collect(),
            vocabulary,
        })
    }
}

/// Tests compiled for a run.
#[derive(Debug, Default)]
pub struct LiveCode {
    names: Option<Arc<Names>>,
    /// Name and code.
    tests: Vec<(String, Code)>,
}

impl LiveCode {
    /// Compiles; with everything that is wrong with the tests, and all they read that is not
    /// known before the run has ended. `sensors` are the topics of those that take part,
    /// `end` is when the run will end or why that is not known.
    pub fn compile(
        tests: &[TestFile],
        names: Names,
        sensors: &[&str],
        end: Result<SimTime, &str>,
    ) -> (LiveCode, Vec<Diagnostic>) {
        let mut all = Vec::new();
        let compiled = tests.iter().map(|test| {
            let (code, findings) = test.compile(&names.vocabulary);
            all.extend(findings);
            all.extend(unseen::reads(&code, &names.vocabulary, sensors));
            if let Err(why) = end {
                all.extend(unseen::ends(&code, why));
            }
            (test.name.clone(), code)
        });
        let tests = compiled.collect();
        (LiveCode { names: Some(Arc::new(names)), tests }, all)
    }

    /// One watcher per test, or everything that cannot be judged as the run goes on.
    pub fn watchers<'a>(
        &'a self,
        job: &Job<'a>,
        is_red: &'a Cell<bool>,
    ) -> Result<Watchers<'a>, Vec<Diagnostic>> {
        let (mut tests, mut refused) = (Vec::new(), Vec::new());
        let planned_end = job.planned_end().ok();
        for (name, code) in &self.tests {
            let names = Arc::clone(self.names.as_ref().expect("compiled for these names"));
            match Live::new(code, Now::new(job.model, names), planned_end) {
                Ok(live) => tests.push(Watcher { name, code, live, was_red: false }),
                Err(diagnostic) => refused.push(diagnostic),
            }
        }
        if refused.is_empty() { Ok(Watchers { tests, is_red, planned_end }) } else { Err(refused) }
    }
}

/// The tests that watch a run.
pub struct Watchers<'a> {
    tests: Vec<Watcher<'a>>,
    is_red: &'a Cell<bool>,
    /// What `stopTime` is until the run has ended, where that is known.
    planned_end: Option<SimTime>,
}

struct Watcher<'a> {
    name: &'a str,
    code: &'a Code,
    live: Live<'a, Now<'a>>,
    was_red: bool,
}

/// What a test says about a run that it watched.
#[derive(Debug)]
pub struct LiveVerdict {
    /// The test.
    pub test: String,
    /// What it says.
    pub judgement: Judgement,
    /// Blocks that had to be abandoned.
    pub errors: Vec<Diagnostic>,
}

impl LiveVerdict {
    /// For programs.
    pub fn to_json(&self) -> serde_json::Value {
        let Judgement { verdict, reason, time, n_errors, .. } = &self.judgement;
        serde_json::json!({
            "test": self.test, "verdict": verdict.word(), "reason": reason,
            "time_secs": time.secs(), "action_errors": n_errors,
        })
    }
}

impl fmt::Display for LiveVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judgement { verdict, reason, time, .. } = &self.judgement;
        write!(f, "{}: {} at {time}: {reason}", self.test, verdict.word())
    }
}

/// An observer that records, and shows everything to the tests that watch.
pub struct Judge<'a, 'w> {
    recorder: Recorder<'w>,
    watchers: Watchers<'a>,
    verdicts: Option<ChannelId>,
    /// A snapshot that is not judged yet.
    pending: Option<SimTime>,
    /// Whether messages have a stamp, by output; where they have none, they are recorded as of
    /// their arrival.
    is_stamped: Vec<bool>,
    /// The pending snapshot is one only if a message arrives, then.
    counts_on: Option<SimTime>,
    /// The last arrival that a judged snapshot counted on.
    counted_on: Option<SimTime>,
}

impl<'a, 'w> Judge<'a, 'w> {
    /// Without tests it only records.
    pub fn start(
        mut recorder: Recorder<'w>,
        watchers: Watchers<'a>,
        sensors: &[Box<dyn Sensor>],
    ) -> Result<Judge<'a, 'w>, Diagnostic> {
        let is_watched = !watchers.tests.is_empty();
        let channel = is_watched.then(|| recorder.writer().channel(VERDICTS, Kind::Event));
        let outputs = sensors.iter().flat_map(|sensor| sensor.outputs());
        let is_stamped = |name| Kind::from_name(name).is_some_and(Kind::has_header);
        Ok(Judge {
            recorder,
            watchers,
            verdicts: channel.transpose()?,
            pending: None,
            is_stamped: outputs.map(|output| is_stamped(output.message_type)).collect(),
            counts_on: None,
            counted_on: None,
        })
    }

    /// A moment of the recording at which nothing changes but the time.
    fn moment(&mut self, time: SimTime) -> Result<(), Diagnostic> {
        if self.pending.is_some_and(|pending| pending != time) {
            self.flush(false)?;
        }
        for watcher in &mut self.watchers.tests {
            watcher.live.source().time = time;
        }
        self.pending = Some(time);
        Ok(())
    }

    /// Judges the snapshot that is complete now; `is_last` where none will follow.
    fn flush(&mut self, is_last: bool) -> Result<(), Diagnostic> {
        let counts_on = self.counts_on.take();
        let (Some(time), Some(channel)) = (self.pending.take(), self.verdicts) else {
            return Ok(());
        };
        self.counted_on = self.counted_on.max(counts_on);
        for watcher in &mut self.watchers.tests {
            match is_last {
                true => watcher.live.tick_last(time),
                false => watcher.live.tick(time),
            };
            if !watcher.was_red
                && let Some(why) = watcher.live.red()
            {
                watcher.was_red = true;
                self.watchers.is_red.set(true);
                let word = Verdict::Red.word();
                self.recorder.writer().event(channel, time, watcher.name, word, &why)?;
            }
        }
        Ok(())
    }

    /// The run has ended, in words where it has not failed: every test concludes. A run that
    /// somebody broke off, and not a test that is red, says so in its recording.
    pub fn finish(
        mut self,
        end: Option<&RunEnd>,
        is_stopped_by_red: bool,
    ) -> Result<Vec<LiveVerdict>, Diagnostic> {
        self.flush(true)?;
        let Some(end) = end else { return Ok(Vec::new()) };
        let is_cut = end.ending == Ending::Interrupted && !is_stopped_by_red;
        if is_cut {
            let text = "somebody ended the run before its time";
            self.recorder.event(end.state.time, "run", INTERRUPTED, text)?;
        }
        let mut out = Vec::new();
        for watcher in self.watchers.tests {
            let mut judgement = watcher.live.finish();
            if let Some((time, why)) = breach(end) {
                judgement.doubt(time, &why);
            }
            if is_cut {
                cut_short(watcher.code, &mut judgement, end.state.time);
            }
            let mispredicted = match is_cut {
                true => None,
                false => mispredicted(watcher.code, self.watchers.planned_end, end),
            };
            let lost = self.counted_on.filter(|arrival| *arrival > end.state.time);
            let unheard = lost.map(|arrival| {
                format!(
                    "a sensor was to be heard at {arrival}, after the run ended; judge the \
                     recording instead"
                )
            });
            if let Some(why) = mispredicted.or(unheard) {
                judgement.withdraw(end.state.time, &why);
            }
            let is_news = !watcher.was_red || judgement.verdict != Verdict::Red;
            if let (Some(channel), true) = (self.verdicts, is_news) {
                let (word, now) = (judgement.verdict.word(), end.state.time);
                let writer = self.recorder.writer();
                writer.event(channel, now, watcher.name, word, &judgement.reason)?;
            }
            let errors = action_errors(watcher.code, &judgement.errors, "this run");
            out.push(LiveVerdict { test: watcher.name.to_string(), judgement, errors });
        }
        Ok(out)
    }
}

/// Why a verdict is not that of the recording: the test reckoned with the planned end, and the
/// run ended before.
fn mispredicted(code: &Code, planned_end: Option<SimTime>, end: &RunEnd) -> Option<String> {
    let planned = planned_end.filter(|planned| end.state.time < *planned)?;
    let site = *end_sites(code).first()?;
    let text = code.text(site);
    Some(format!("`{text}` reckoned with an end at {planned}; judge the recording instead"))
}

/// When and how the simulation broke its own rules.
fn breach(end: &RunEnd) -> Option<(SimTime, String)> {
    let what = "position or velocity went non-finite or beyond measure; held at its last good pose";
    let contained = end.contained.first().map(|(name, time)| (*time, format!("{name}: {what}")));
    let fault = match &end.ending {
        Ending::Fault(fault) => Some((end.state.time, format!("engine: {}", fault.0))),
        _ => None,
    };
    contained.or(fault)
}

impl Observer for Judge<'_, '_> {
    fn sample(&mut self, model: &Model, state: &State) -> Result<(), Diagnostic> {
        if self.pending != Some(state.time) {
            self.flush(false)?;
        }
        self.counts_on = None;
        if state.time == SimTime::ZERO {
            reached(Stage::Stepping);
        }
        self.recorder.sample(model, state)?;
        for watcher in &mut self.watchers.tests {
            watcher.live.source().look(state);
        }
        self.pending = Some(state.time);
        Ok(())
    }

    fn commands(&mut self, now: SimTime, commands: &Commands) -> Result<(), Diagnostic> {
        self.moment(now)?;
        self.counts_on = None;
        self.recorder.commands(now, commands)?;
        // A command between two samples is a moment of the recording too.
        for watcher in &mut self.watchers.tests {
            watcher.live.source().targets.look(commands);
        }
        Ok(())
    }

    fn looked(&mut self, letter: &Letter) -> Result<(), Diagnostic> {
        let end = self.watchers.planned_end;
        let is_lost = end.is_some_and(|end| letter.arrival > end);
        if !self.is_stamped[letter.output_idx] || is_lost {
            return Ok(());
        }
        let is_new = self.pending != Some(letter.stamp);
        self.moment(letter.stamp)?;
        let arrival = Some(letter.arrival);
        // Of several that make it a moment, the first that arrives is enough.
        self.counts_on = if is_new { arrival } else { self.counts_on.min(arrival) };
        Ok(())
    }

    fn message(&mut self, letter: &Letter) -> Result<(), Diagnostic> {
        if !self.is_stamped[letter.output_idx] {
            self.moment(letter.arrival)?;
            self.counts_on = None;
        }
        self.recorder.message(letter)
    }

    fn event(
        &mut self,
        now: SimTime,
        source: &str,
        kind: &str,
        text: &str,
    ) -> Result<(), Diagnostic> {
        if self.pending.is_some_and(|pending| pending < now) {
            self.flush(false)?;
        }
        for watcher in &mut self.watchers.tests {
            let remark = Remark { source: source.into(), kind: kind.into(), text: text.into() };
            watcher.live.source().said = Some((now, remark));
        }
        self.recorder.event(now, source, kind, text)
    }
}

/// The state of a run as one test sees it.
pub struct Now<'m> {
    model: &'m Model,
    names: Arc<Names>,
    /// The snapshot's time; the last sample may be older.
    time: SimTime,
    state: State,
    /// The sample before, for accelerations.
    before: Option<State>,
    is_first: bool,
    said: Option<(SimTime, Remark)>,
    targets: Targets,
}

impl<'m> Now<'m> {
    fn new(model: &'m Model, names: Arc<Names>) -> Now<'m> {
        let state = State::initial(model);
        let targets = Targets::new(model, &names.vocabulary);
        let (time, before, is_first, said) = (state.time, None, true, None);
        Now { model, names, time, state, before, is_first, said, targets }
    }

    fn look(&mut self, state: &State) {
        self.time = state.time;
        if std::mem::replace(&mut self.is_first, false) {
            self.state.clone_from(state);
            return;
        }
        match &mut self.before {
            Some(before) => {
                std::mem::swap(before, &mut self.state);
                self.state.clone_from(state);
            }
            None => self.before = Some(std::mem::replace(&mut self.state, state.clone())),
        }
    }

    /// As a recording gives it back.
    fn pose(&self, object: u32) -> Option<Transform> {
        let pose = self.state.object_pose(self.model, self.names.object_idxs[object as usize]);
        Some(Transform::new(unit_quat(pose.rotation)?, pose.translation))
    }

    fn is_static(&self, object: u32) -> bool {
        let object = &self.model.objects[self.names.object_idxs[object as usize]];
        self.model.rigids[object.rigid_idx].motion == Motion::Static
    }

    fn six(&self, object: u32, six: Six, component: usize) -> Option<f64> {
        if six == Six::Pose {
            let pose = self.pose(object)?;
            return Some(match component {
                0..3 => pose.translation[component],
                _ => pose.rpy()[component - 3],
            });
        }
        if self.is_static(object) {
            return Some(0.0); // recorded once: never moves
        }
        let twist = |state: &State| {
            let idx = self.names.object_idxs[object as usize];
            component_of(&state.object_twist(self.model, idx), component)
        };
        if six == Six::Velocity {
            return Some(twist(&self.state));
        }
        let before = self.before.as_ref()?;
        let dt_secs = (self.state.time - before.time).secs();
        Some((twist(&self.state) - twist(before)) / dt_secs)
    }

    /// A sum over the contacts of this moment, as the judge sums those of a recording.
    fn contacts(&self, weight: impl Fn(&Contact, &[u32], &[u32]) -> f64) -> f64 {
        let objects = |body: usize| &self.names.objects_of_body[body][..];
        let contacts = self.state.contacts.iter();
        contacts.fold(0.0, |sum, c| sum + weight(c, objects(c.body_a), objects(c.body_b)))
    }

    fn channel(&self, channel: u32) -> Option<f64> {
        let key = self.names.vocabulary.channels[channel as usize].0.as_str();
        let contacts = self.state.contacts.iter();
        Some(match key {
            "contacts/count" => contacts.count() as f64,
            "contacts/depth" => contacts.map(|c| c.depth).fold(0.0, f64::max),
            "contacts/normal_force" => contacts.fold(0.0, |sum, c| sum + normal_force(c)),
            _ => return self.targets.value(channel),
        })
    }
}

fn component_of(twist: &Twist, component: usize) -> f64 {
    if component < 3 { twist.linear[component] } else { twist.angular[component - 3] }
}

/// As the recorder writes it.
fn normal_force(contact: &Contact) -> f64 {
    contact.force.dot(contact.normal).max(0.0)
}

impl LiveSource for Now<'_> {
    fn quantity(&self, quantity: Quantity) -> Option<f64> {
        let yes_no = |yes: bool| f64::from(u8::from(yes));
        match quantity {
            Quantity::Time => Some(self.time.secs()),
            Quantity::Object(i, six, component) => self.six(i, six, usize::from(component)),
            Quantity::Quaternion(i, part) => {
                Some(self.pose(i)?.rotation.to_array()[usize::from(part)])
            }
            Quantity::Joint(i, part) => {
                let dof = &self.state.dofs[self.names.dof_idxs[i as usize]];
                Some(match part {
                    JointPart::Position => dof.position,
                    JointPart::Velocity => dof.velocity,
                    JointPart::Effort => dof.effort,
                })
            }
            Quantity::Channel(i) => self.channel(i),
            Quantity::Touches(one, other) => {
                let touching = self.contacts(|_, a, b| {
                    let is = (a.contains(&one) && b.contains(&other))
                        || (a.contains(&other) && b.contains(&one));
                    yes_no(is)
                });
                Some(touching.min(1.0)) // many points, one touch
            }
            Quantity::ContactCount(i) => {
                Some(self.contacts(|_, a, b| yes_no(a.contains(&i) || b.contains(&i))))
            }
            Quantity::ContactForce(i) => Some(self.contacts(|contact, a, b| {
                if a.contains(&i) || b.contains(&i) { normal_force(contact) } else { 0.0 }
            })),
            Quantity::Inside(i, region) => {
                let region = &self.names.vocabulary.regions[region as usize].1;
                Some(yes_no(region.contains(self.pose(i)?.translation)))
            }
            Quantity::Distance(a, b) => {
                Some(self.pose(a)?.translation.distance(self.pose(b)?.translation))
            }
            Quantity::Formula(_) => None,
        }
    }

    fn said(&self, report: u32) -> Option<(SimTime, &Remark)> {
        let is_events = self.names.vocabulary.reports[report as usize] == EVENTS;
        let (time, remark) = self.said.as_ref().filter(|_| is_events)?;
        Some((*time, remark))
    }
}
