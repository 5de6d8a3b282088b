//! Writing a recording while a simulation goes on.
//!
//! ```text
//! simulating thread              background thread
//! pose, twist, … ─► Batch ══════► Chunker ─► Sink
//!                   (bounded queue)
//! ```
//!
//! A message is encoded on the spot (a hundred bytes are copied faster than described) and
//! handed over by the batch, so the simulating thread neither compresses nor waits for the
//! disk. Without a background thread the same batches go through the same chunker in place,
//! which is why both give the same bytes.
//!
//! An error of the disk surfaces at the next call after it is known, and again in
//! [`Writer::finish`]; a call that comes earlier succeeds although its message is lost.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::Path;

use headland_base::maths::Vec3;
use headland_base::{Diagnostic, SimDuration, SimTime, Transform};
use serde::Serialize;

use crate::back::Back;
use crate::cdr::{self, Encoder};
use crate::chunker::{Batch, Chunker, Entry, Job};
use crate::container::{MESSAGE_HEAD_BYTES, message_head};
use crate::messages::{self, Header, Kind, Message};
use crate::reader::{Attachment, RawMessage};
use crate::sink::Sink;

/// How chunks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Lighter on the processor.
    Lz4,
    /// Smaller files.
    Zstd,
}

/// How a recording is written.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Who writes, with version: the `library` of the MCAP header.
    pub library: String,
    /// How chunks are compressed.
    pub compression: Compression,
    /// A chunk is closed when it holds this many bytes before compression.
    pub chunk_bytes: usize,
    /// A chunk is closed when it spans this much simulated time.
    pub chunk_span: SimDuration,
    /// Whether a background thread compresses and writes. The bytes are the same.
    pub threaded: bool,
}

impl WriteOptions {
    /// The usual: chunks of a mebibyte or a simulated second, in the background.
    pub fn new(library: impl Into<String>) -> WriteOptions {
        WriteOptions {
            library: library.into(),
            compression: Compression::Zstd,
            chunk_bytes: 1 << 20,
            chunk_span: SimDuration::from_nanos(1_000_000_000),
            threaded: true,
        }
    }

    /// The same with or without the background thread.
    pub fn threaded(mut self, threaded: bool) -> WriteOptions {
        self.threaded = threaded;
        self
    }

    /// The same with another compression.
    pub fn compression(mut self, compression: Compression) -> WriteOptions {
        self.compression = compression;
        self
    }

    /// The same with another size of chunks.
    pub fn chunk_bytes(mut self, chunk_bytes: usize) -> WriteOptions {
        self.chunk_bytes = chunk_bytes;
        self
    }
}

/// What [`Writer::finish`] wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Length of the file.
    pub n_bytes: u64,
    /// Messages in it.
    pub n_messages: u64,
    /// Chunks with messages.
    pub n_chunks: u64,
}

/// A contact as a simulator has it; see [`messages::Contact`] for the fields.
#[derive(Clone, Copy, Debug)]
pub struct ContactRef<'a> {
    /// The first body.
    pub body_a: &'a str,
    /// The second body.
    pub body_b: &'a str,
    /// Where, in the world \[m\].
    pub position: Vec3,
    /// From `body_a` towards `body_b`.
    pub normal: Vec3,
    /// How deep they overlap \[m\].
    pub depth: f64,
    /// Along the normal \[N\].
    pub normal_force: f64,
    /// What `body_a` does to `body_b` \[N\].
    pub force: Vec3,
}

impl<'a> From<&'a messages::Contact> for ContactRef<'a> {
    fn from(contact: &'a messages::Contact) -> ContactRef<'a> {
        let vector = |v: &messages::Vector3| Vec3::new(v.x, v.y, v.z);
        ContactRef {
            body_a: &contact.body_a,
            body_b: &contact.body_b,
            position: vector(&contact.position),
            normal: vector(&contact.normal),
            depth: contact.depth,
            normal_force: contact.normal_force,
            force: vector(&contact.force),
        }
    }
}

/// A channel of one writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelId(u16);

struct ChannelInfo {
    schema: String,
    kind: Option<Kind>,
    /// Number of the next message.
    sequence: u32,
}

/// Writes one recording.
///
/// Dropping it without [`Writer::finish`] still closes the file properly, but nobody
/// hears of a failure.
pub struct Writer {
    batch: Batch,
    batch_start: SimTime,
    chunk_span: SimDuration,
    ids: BTreeMap<String, ChannelId>,
    /// By channel id; index 0 is never used.
    channels: Vec<Option<ChannelInfo>>,
    back: Option<Back>,
}

/// Batches of this size are handed over: a few milliseconds of a hundred bodies.
const BATCH_BYTES: usize = 128 << 10;
impl Writer {
    /// Starts a recording in a new file, replacing one that is there.
    pub fn create(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Writer, Diagnostic> {
        let path = path.as_ref();
        let cannot = |fault: std::io::Error| {
            Diagnostic::error(
                "recording-not-created",
                format!("cannot create the recording `{}`: {fault}", path.display()),
            )
            .help("choose a folder that exists and that you may write to")
        };
        // Emptied only once it is ours: two runs into one file would ruin both.
        let file =
            File::options().write(true).create(true).truncate(false).open(path).map_err(cannot)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let message = format!("another run is writing `{}`", path.display());
            return Err(
                Diagnostic::error("recording-in-use", message).help("write to another file")
            );
        }
        if file.metadata().is_ok_and(|meta| meta.is_file()) {
            file.set_len(0).map_err(cannot)?;
        }
        Writer::new(file, &path.display().to_string(), options)
    }

    /// Starts a recording in any sink; `name` is what diagnostics call it.
    pub fn new(sink: impl Sink, name: &str, options: &WriteOptions) -> Result<Writer, Diagnostic> {
        let chunker = Chunker::new(Box::new(sink), name.to_string(), options)?;
        let back = Back::new(chunker, options.threaded)?;
        Ok(Writer {
            batch: Batch::default(),
            batch_start: SimTime::ZERO,
            chunk_span: options.chunk_span,
            ids: BTreeMap::new(),
            channels: vec![None],
            back: Some(back),
        })
    }

    /// A channel for messages of a known kind; the same topic again gives the same channel.
    pub fn channel(&mut self, topic: &str, kind: Kind) -> Result<ChannelId, Diagnostic> {
        if let Some(id) = self.ids.get(topic) {
            return self.known_channel(*id, topic, kind.name());
        }
        self.new_channel(topic, kind.name(), kind.definition(), BTreeMap::new(), Some(kind))
    }

    /// A channel for messages we do not know, with their `ros2msg` definition and what else
    /// its writer says about it: for copying what others wrote.
    pub(crate) fn foreign_channel(
        &mut self,
        topic: &str,
        schema: &str,
        definition: &str,
        metadata: &BTreeMap<String, String>,
    ) -> Result<ChannelId, Diagnostic> {
        if let Some(id) = self.ids.get(topic) {
            return self.known_channel(*id, topic, schema);
        }
        self.new_channel(topic, schema, definition.to_string(), metadata.clone(), None)
    }

    fn known_channel(
        &self,
        id: ChannelId,
        topic: &str,
        schema: &str,
    ) -> Result<ChannelId, Diagnostic> {
        let known = &self.info(id).schema;
        if known == schema {
            return Ok(id);
        }
        Err(Diagnostic::error(
            "topic-has-two-types",
            format!("topic `{topic}` carries `{known}` already, so it cannot carry `{schema}`"),
        )
        .help("give one of the two another name"))
    }

    fn new_channel(
        &mut self,
        topic: &str,
        schema: &str,
        definition: String,
        metadata: BTreeMap<String, String>,
        kind: Option<Kind>,
    ) -> Result<ChannelId, Diagnostic> {
        // The last id stays free: mcap counts one past it.
        let id = u16::try_from(self.channels.len()).ok().filter(|id| *id < u16::MAX);
        let Some(id) = id.map(ChannelId) else {
            return Err(Diagnostic::error(
                "too-many-channels",
                format!("topic `{topic}` is one more than the 65534 a recording can have"),
            ));
        };
        let (topic, schema) = (topic.to_string(), schema.to_string());
        self.ids.insert(topic.clone(), id);
        self.channels.push(Some(ChannelInfo { schema: schema.clone(), kind, sequence: 0 }));
        self.send(Job::Channel { topic, schema, definition, metadata })?;
        Ok(id)
    }

    fn info(&self, id: ChannelId) -> &ChannelInfo {
        self.channels[usize::from(id.0)].as_ref().expect("ids are given out by this writer")
    }

    /// Where an object is: `frame_from_object` at `time`.
    pub fn pose(
        &mut self,
        channel: ChannelId,
        time: SimTime,
        frame_id: &str,
        frame_from_object: &Transform,
    ) -> Result<(), Diagnostic> {
        let (p, q) = (frame_from_object.translation, frame_from_object.rotation);
        let numbers = [p.x, p.y, p.z, q.x, q.y, q.z, q.w];
        self.stamped(channel, Kind::PoseStamped, time, frame_id, numbers)
    }

    /// How an object moves \[m/s, rad/s\], both written in the frame.
    pub fn twist(
        &mut self,
        channel: ChannelId,
        time: SimTime,
        frame_id: &str,
        linear: Vec3,
        angular: Vec3,
    ) -> Result<(), Diagnostic> {
        let numbers = [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z];
        self.stamped(channel, Kind::TwistStamped, time, frame_id, numbers)
    }

    /// A force \[N\] and a torque \[N·m\], both written in the frame.
    pub fn wrench(
        &mut self,
        channel: ChannelId,
        time: SimTime,
        frame_id: &str,
        force: Vec3,
        torque: Vec3,
    ) -> Result<(), Diagnostic> {
        let numbers = [force.x, force.y, force.z, torque.x, torque.y, torque.z];
        self.stamped(channel, Kind::WrenchStamped, time, frame_id, numbers)
    }

    /// The state of named joints. Each list of numbers is as long as `names`, or empty.
    pub fn joint_states(
        &mut self,
        channel: ChannelId,
        time: SimTime,
        names: &[String],
        positions: &[f64],
        velocities: &[f64],
        efforts: &[f64],
    ) -> Result<(), Diagnostic> {
        for numbers in [positions, velocities, efforts] {
            assert!(numbers.is_empty() || numbers.len() == names.len(), "one number per joint");
        }
        #[derive(Serialize)]
        struct Joints<'a>(Header, &'a [String], &'a [f64], &'a [f64], &'a [f64]);
        let header = Header::new(time, "");
        let joints = Joints(header, names, positions, velocities, efforts);
        self.encoded(channel, Kind::JointState, time, &joints)
    }

    /// Every contact at one moment. Encoded by hand: a stack of boxes has more contacts than
    /// everything else a step records.
    pub fn contacts<'c>(
        &mut self,
        channel: ChannelId,
        time: SimTime,
        frame_id: &str,
        contacts: impl ExactSizeIterator<Item = ContactRef<'c>>,
    ) -> Result<(), Diagnostic> {
        self.expect_kind(channel, Kind::Contacts);
        let (sec, nanosec) = check_time(time)?;
        self.begin(time)?;
        let mut out = Encoder::new(&mut self.batch.bytes);
        out.word(sec.to_le_bytes());
        out.word(nanosec.to_le_bytes());
        out.text(frame_id);
        let n_contacts =
            u32::try_from(contacts.len()).expect("a step has fewer than 2^32 contacts");
        out.word(n_contacts.to_le_bytes());
        for contact in contacts {
            out.text(contact.body_a);
            out.text(contact.body_b);
            let (p, n, f) = (contact.position, contact.normal, contact.force);
            let (depth, normal_force) = (contact.depth, contact.normal_force);
            out.doubles([p.x, p.y, p.z, n.x, n.y, n.z, depth, normal_force, f.x, f.y, f.z]);
        }
        self.end(channel, [time, time])
    }

    /// Something worth a word.
    pub fn event(
        &mut self,
        channel: ChannelId,
        time: SimTime,
        source: &str,
        kind: &str,
        text: &str,
    ) -> Result<(), Diagnostic> {
        #[derive(Serialize)]
        struct Event<'a>(Header, &'a str, &'a str, &'a str);
        let event = Event(Header::new(time, ""), source, kind, text);
        self.encoded(channel, Kind::Event, time, &event)
    }

    /// Any message of a known kind. Its header stamp is written as it is.
    pub fn message<M: Message>(
        &mut self,
        channel: ChannelId,
        time: SimTime,
        message: &M,
    ) -> Result<(), Diagnostic> {
        self.encoded(channel, M::KIND, time, message)
    }

    /// A payload that is CDR already, its four leading bytes included; `sent` some time before
    /// it is recorded.
    pub fn raw(
        &mut self,
        channel: ChannelId,
        time: SimTime,
        sent: SimTime,
        payload: &[u8],
    ) -> Result<(), Diagnostic> {
        check_time(time)?;
        check_time(sent)?;
        self.begin(time)?;
        self.batch.bytes.extend_from_slice(payload);
        self.end(channel, [time, sent])
    }

    /// A message as somebody else recorded it: its number, both its times, its payload. When
    /// it was sent may be nonsense; no reader gives a time below zero.
    pub(crate) fn copied(
        &mut self,
        channel: ChannelId,
        message: &RawMessage<'_>,
    ) -> Result<(), Diagnostic> {
        check_time(message.log_time)?;
        self.begin(message.log_time)?;
        self.batch.bytes.extend_from_slice(message.payload);
        let times = [message.log_time, message.publish_time];
        self.end_numbered(channel, message.sequence, times)
    }

    /// A file beside the messages: the world, the mission, the tests.
    pub fn attach(
        &mut self,
        name: &str,
        media_type: &str,
        bytes: Vec<u8>,
    ) -> Result<(), Diagnostic> {
        let (name, media_type) = (name.to_string(), media_type.to_string());
        let (log_time, create_time) = (SimTime::ZERO, SimTime::ZERO);
        self.copied_file(Attachment { name, media_type, log_time, create_time, bytes })
    }

    /// A file as somebody else attached it, with its times.
    pub(crate) fn copied_file(&mut self, file: Attachment) -> Result<(), Diagnostic> {
        self.send(Job::Attachment(file))
    }

    /// Named facts: engine, versions, seed, step.
    pub fn metadata(
        &mut self,
        name: &str,
        entries: BTreeMap<String, String>,
    ) -> Result<(), Diagnostic> {
        self.send(Job::Metadata { name: name.to_string(), entries })
    }

    /// Closes the recording and says what was written, or what went wrong on the way.
    pub fn finish(mut self) -> Result<Written, Diagnostic> {
        // A failure here is kept at the back and comes with its end.
        _ = self.hand_over();
        self.back.take().expect("a writer is finished once").finish()
    }

    /// A message that is a header and some doubles. The encoder goes field by field at
    /// several times the cost, and these are nearly all the messages there are; a test
    /// holds the two equal to the byte.
    fn stamped<const N: usize>(
        &mut self,
        channel: ChannelId,
        kind: Kind,
        time: SimTime,
        frame_id: &str,
        numbers: [f64; N],
    ) -> Result<(), Diagnostic> {
        self.expect_kind(channel, kind);
        let (sec, nanosec) = check_time(time)?;
        self.begin(time)?;
        let mut out = Encoder::new(&mut self.batch.bytes);
        out.word(sec.to_le_bytes());
        out.word(nanosec.to_le_bytes());
        out.text(frame_id);
        out.doubles(numbers);
        self.end(channel, [time, time])
    }

    fn encoded<T: Serialize>(
        &mut self,
        channel: ChannelId,
        kind: Kind,
        time: SimTime,
        value: &T,
    ) -> Result<(), Diagnostic> {
        self.expect_kind(channel, kind);
        check_time(time)?;
        self.begin(time)?;
        cdr::encode_into(value, &mut self.batch.bytes);
        self.end(channel, [time, time])
    }

    fn expect_kind(&self, channel: ChannelId, kind: Kind) {
        assert_eq!(self.info(channel).kind, Some(kind), "the channel was made for another type");
    }

    /// Hands the batch over where the new message would make it too old to be lost.
    fn begin(&mut self, time: SimTime) -> Result<(), Diagnostic> {
        self.check_failure()?;
        if self.batch.entries.is_empty() {
            self.batch_start = time;
        } else if time - self.batch_start >= self.chunk_span {
            self.hand_over()?;
            self.batch_start = time;
        }
        // Filled in once the length of the payload is known.
        self.batch.bytes.extend_from_slice(&[0; MESSAGE_HEAD_BYTES]);
        Ok(())
    }

    /// One of our own, which is counted: when it was recorded, and when sent.
    fn end(&mut self, channel: ChannelId, times: [SimTime; 2]) -> Result<(), Diagnostic> {
        let info = self.channels[usize::from(channel.0)].as_mut();
        let next = &mut info.expect("ids are given out by this writer").sequence;
        let sequence = *next;
        *next = next.wrapping_add(1);
        self.end_numbered(channel, sequence, times)
    }

    fn end_numbered(
        &mut self,
        channel: ChannelId,
        sequence: u32,
        times: [SimTime; 2],
    ) -> Result<(), Diagnostic> {
        let end = self.batch.bytes.len();
        let start = self.batch.entries.last().map_or(0, |entry| entry.end);
        let nanos = times.map(|time| u64::try_from(time.nanos()).expect("checked before"));
        let head = message_head(channel.0, sequence, nanos, end - start - MESSAGE_HEAD_BYTES);
        self.batch.bytes[start..start + MESSAGE_HEAD_BYTES].copy_from_slice(&head);
        self.batch.entries.push(Entry { channel: channel.0, time: times[0], end });
        if end < BATCH_BYTES { Ok(()) } else { self.hand_over() }
    }

    fn check_failure(&self) -> Result<(), Diagnostic> {
        let failure = self.back.as_ref().expect("open until finished").failure();
        failure.map_or(Ok(()), |failure| Err(failure.clone()))
    }

    fn send(&mut self, job: Job) -> Result<(), Diagnostic> {
        self.hand_over()?;
        self.pass(job).map(|_| ())
    }

    fn hand_over(&mut self) -> Result<(), Diagnostic> {
        if self.batch.entries.is_empty() {
            return self.check_failure();
        }
        let batch = std::mem::take(&mut self.batch);
        self.batch = self.pass(Job::Batch(batch))?;
        Ok(())
    }

    /// Gives a job to the back and takes an empty batch for it.
    fn pass(&mut self, job: Job) -> Result<Batch, Diagnostic> {
        let spare = self.back.as_mut().expect("open until finished").run(job);
        self.check_failure()?;
        Ok(spare.unwrap_or_else(|| Batch {
            entries: Vec::new(),
            bytes: Vec::with_capacity(BATCH_BYTES + BATCH_BYTES / 8),
        }))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.back.is_some() {
            _ = self.hand_over();
            _ = self.back.take().map(Back::finish);
        }
    }
}

/// Seconds and nanoseconds of a moment that a recording can hold: a stamp has 32 bits of
/// seconds, and a log time no sign.
fn check_time(time: SimTime) -> Result<(i32, u32), Diagnostic> {
    let nanos = time.nanos();
    match i32::try_from(nanos / 1_000_000_000) {
        Ok(sec) if nanos >= 0 => Ok((sec, (nanos % 1_000_000_000) as u32)),
        _ => Err(Diagnostic::error(
            "time-out-of-range",
            format!("{time} is not between 0 and 2147483648 s, so no ROS stamp can say it"),
        )
        .help("shift the times so that the recording starts at zero")),
    }
}
