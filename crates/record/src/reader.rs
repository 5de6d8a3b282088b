//! Reading a recording from its first byte to its last whole one.
//!
//! ```text
//! any Read ─► records ─┬─ chunk ─► decompressed, checked ─► messages
//!                      └─ schema, channel, attachment, metadata
//! ```
//!
//! A file may be cut anywhere or damaged anywhere; the reader gives back what is whole and
//! says what is not. It needs memory for one record and one decompressed chunk, never more
//! than twice [`RECORD_BYTES_MAX`], whatever the lengths in the file claim.
//!
//! The nine bytes of framing are read here and not by `mcap`'s own reader, because that one
//! keeps an unfinished chunk to itself, and its whole messages are wanted; what is in the
//! records is parsed by `mcap`.
//!
//! Deliberately absent: the index at the end of the file. A reader that trusts it can seek,
//! but a recording that was cut off has none.

mod frame;
mod item;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, SimTime};
use mcap::records::{Record, op};

use frame::{ChunkHead, frame, lengths_fit};

pub use item::{Attachment, Channel, Item, RawMessage, Schema, Truncation};

/// No record and no decompressed chunk may be larger.
pub const RECORD_BYTES_MAX: u64 = 256 << 20;

/// All schemas and channels together; a thousand types are some megabytes.
const DEFINITION_BYTES_MAX: usize = 64 << 20;

/// Reads a recording.
pub struct Reader<R> {
    input: R,
    name: String,
    /// Bytes taken from the input.
    offset: u64,
    state: State,
    record: Vec<u8>,
    chunk: Vec<u8>,
    chunk_at: usize,
    chunk_trust: Trust,
    /// Where in the file the chunk or record at hand starts.
    record_offset: u64,
    data_crc: Option<crc32fast::Hasher>,
    schemas: BTreeMap<u16, Arc<Schema>>,
    channels: Vec<Option<Arc<Channel>>>,
    /// Bytes of schemas and channels so far.
    n_definition_bytes: usize,
    /// Channels whose messages were reported as homeless already.
    unknown_channels: BTreeSet<u16>,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    /// Whether each payload is compressed for itself, as some bags have it.
    has_zstd_payloads: bool,
    /// The decompressed payload at hand, where payloads are compressed.
    payload: Vec<u8>,
    /// Whether somebody may still write to it, so that its end is where it says.
    is_growing: bool,
    truncation: Option<Truncation>,
    findings: Findings,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Magic,
    Records,
    EndMagic,
    Done,
}

/// What may be taken from the chunk at hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Its checksum is right, or it has none.
    All,
    /// Its checksum is wrong: channels only, without which every later message is homeless.
    Definitions,
    /// Its end is missing: whole messages up to there.
    Beginning,
}

/// Which buffer a record body lies in.
#[derive(Clone, Copy)]
enum Buffer {
    Record,
    Chunk,
}

/// What one step found. Owns no borrow, so that the loop may go on after it.
enum Step {
    Nothing,
    End,
    Own(Item<'static>),
    Message { channel: u16, sequence: u32, times: [SimTime; 2], buffer: Buffer, body: Range<usize> },
}

impl Reader<BufReader<File>> {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader<BufReader<File>>, Diagnostic> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|fault| {
            Diagnostic::error("cannot-open", format!("cannot open `{}`: {fault}", path.display()))
        })?;
        Ok(Reader::new(BufReader::with_capacity(1 << 16, file), &path.display().to_string()))
    }
}

impl<R: Read> Reader<R> {
    /// Reads from anything; `name` is what diagnostics call it.
    pub fn new(input: R, name: &str) -> Reader<R> {
        Reader {
            input,
            name: name.to_string(),
            offset: 0,
            state: State::Magic,
            record: Vec::new(),
            chunk: Vec::new(),
            chunk_at: 0,
            chunk_trust: Trust::All,
            record_offset: 0,
            data_crc: Some(crc32fast::Hasher::new()),
            schemas: BTreeMap::new(),
            channels: Vec::new(),
            n_definition_bytes: 0,
            unknown_channels: BTreeSet::new(),
            zstd: None,
            has_zstd_payloads: false,
            payload: Vec::new(),
            is_growing: false,
            truncation: None,
            findings: Findings::new(),
        }
    }

    /// The same of a file that somebody may still write to: an input that waits for more is
    /// asked for nothing after the end that the file itself has, and one that has none is not
    /// said to be cut off.
    pub fn growing(self) -> Reader<R> {
        Reader { is_growing: true, ..self }
    }

    /// Says that every payload is compressed with zstd, which the file itself does not.
    pub(crate) fn with_zstd_payloads(self) -> Reader<R> {
        Reader { has_zstd_payloads: true, ..self }
    }

    /// The next thing in the file, or nothing at its end. Not an `Iterator`: a message
    /// borrows the reader's buffer.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Item<'_>> {
        loop {
            match self.step() {
                Step::Nothing => {}
                Step::End => return None,
                Step::Own(item) => return Some(item),
                Step::Message { channel, sequence, times, buffer, body } => {
                    if self.has_zstd_payloads && !self.decompress_payload(channel, buffer, &body) {
                        continue;
                    }
                    let channel = self.channels[usize::from(channel)].as_ref();
                    let bytes = match buffer {
                        _ if self.has_zstd_payloads => &self.payload[..],
                        Buffer::Record => &self.record[body],
                        Buffer::Chunk => &self.chunk[body],
                    };
                    return Some(Item::Message(RawMessage {
                        channel: channel.expect("checked by the step"),
                        sequence,
                        log_time: times[0],
                        publish_time: times[1],
                        payload: bytes,
                    }));
                }
            }
        }
    }

    /// Where the file was cut off, once the reader has come there.
    pub fn truncation(&self) -> Option<Truncation> {
        self.truncation
    }

    /// Bytes read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The same, with something to say that is known before the first byte.
    pub(crate) fn saying(mut self, finding: Option<Diagnostic>) -> Reader<R> {
        if let Some(finding) = finding {
            self.findings.push(finding);
        }
        self
    }

    /// What was found wrong so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// What was found wrong.
    pub fn into_findings(self) -> Findings {
        self.findings
    }

    fn step(&mut self) -> Step {
        if self.chunk_at < self.chunk.len() {
            return self.chunk_record();
        }
        match self.state {
            State::Magic => self.magic(),
            State::Records => self.file_record(),
            State::EndMagic => self.end_magic(),
            State::Done => Step::End,
        }
    }

    /// Fills `record` with up to `n_bytes`; false where the file ends before.
    fn fill(&mut self, n_bytes: u64) -> bool {
        self.record.clear();
        // Grows as bytes arrive: a lying length costs nothing.
        let got = (&mut self.input).take(n_bytes).read_to_end(&mut self.record);
        self.offset += self.record.len() as u64;
        if let Err(fault) = got {
            self.stop(
                "read-failed",
                format!("reading `{}` failed at byte {}: {fault}", self.name, self.offset),
            );
            return false;
        }
        self.record.len() as u64 == n_bytes
    }

    /// An error after which there is no going on.
    fn stop(&mut self, code: &'static str, message: String) {
        self.findings.push(Diagnostic::error(code, message));
        self.state = State::Done;
    }

    fn cut_off(&mut self, whole_bytes: u64) -> Step {
        if self.state == State::Done {
            return Step::Nothing; // the input itself failed, and that was said
        }
        self.state = State::Done;
        self.truncation = Some(Truncation { file_bytes: self.offset, whole_bytes });
        if self.is_growing && self.offset > 0 {
            return Step::Nothing;
        }
        let (name, end) = (&self.name, self.offset);
        let (message, note) = match end {
            0 => (format!("`{name}` is empty"), "it has no bytes at all".to_string()),
            _ if end == whole_bytes => (
                format!("`{name}` stops at byte {end}, where more records should follow"),
                "everything in it is whole and was read".to_string(),
            ),
            _ => (
                format!("`{name}` ends at byte {end} in the middle of a record"),
                format!("its first {whole_bytes} bytes are whole and were read"),
            ),
        };
        self.findings.push(
            Diagnostic::error("recording-cut-off", message)
                .note(note)
                .help("the run that wrote it was stopped, or the copy is incomplete"),
        );
        Step::Nothing
    }

    fn hash(&mut self) {
        if let Some(crc) = &mut self.data_crc {
            crc.update(&self.record);
        }
    }

    fn magic(&mut self) -> Step {
        let whole = self.fill(mcap::MAGIC.len() as u64);
        self.hash();
        if self.record != mcap::MAGIC[..self.record.len()] {
            self.stop("not-mcap", format!("`{}` is not an MCAP file", self.name));
            return Step::Nothing;
        }
        if !whole {
            return self.cut_off(0);
        }
        self.state = State::Records;
        Step::Nothing
    }

    fn end_magic(&mut self) -> Step {
        let start = self.offset;
        let whole = self.fill(mcap::MAGIC.len() as u64);
        if !whole && self.record == mcap::MAGIC[..self.record.len()] {
            return self.cut_off(start);
        }
        let is_right = self.record == mcap::MAGIC;
        if !is_right || (!self.is_growing && (self.fill(1) || !self.record.is_empty())) {
            self.findings.push(Diagnostic::warning(
                "bytes-after-end",
                format!("`{}` goes on after its end at byte {start}", self.name),
            ));
        }
        self.state = State::Done;
        Step::Nothing
    }

    fn file_record(&mut self) -> Step {
        self.record_offset = self.offset;
        if !self.fill(9) {
            return self.cut_off(self.record_offset);
        }
        let (opcode, length) = frame(&self.record).expect("nine bytes were read");
        if opcode == op::DATA_END {
            return self.data_end(length);
        }
        self.hash();
        if length > RECORD_BYTES_MAX {
            self.stop(
                "record-too-large",
                format!(
                    "`{}` claims a record of {length} bytes at byte {}",
                    self.name, self.record_offset
                ),
            );
            return Step::Nothing;
        }
        let whole = self.fill(length);
        self.hash();
        if !whole {
            if opcode == op::CHUNK && self.state != State::Done {
                self.partial_chunk();
            }
            return self.cut_off(self.record_offset);
        }
        match opcode {
            op::FOOTER => self.state = State::EndMagic,
            // After the data come indexes and repetitions; a damaged byte there must not
            // make a message of them.
            _ if self.data_crc.is_none() => {}
            op::CHUNK => self.whole_chunk(),
            _ => return self.parse(opcode, Buffer::Record, 0..self.record.len()),
        }
        Step::Nothing
    }

    fn data_end(&mut self, length: u64) -> Step {
        let calculated = self.data_crc.take().map(|crc| crc.finalize());
        if length > 1 << 16 || !self.fill(length) {
            return self.cut_off(self.record_offset);
        }
        let saved = self.record.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if calculated.is_some_and(|calculated| saved != 0 && calculated != saved) {
            self.findings.push(Diagnostic::error(
                "bad-data-crc",
                format!("the checksum over the data of `{}` is wrong: it was damaged", self.name),
            ));
        }
        Step::Nothing
    }

    fn whole_chunk(&mut self) {
        let head = match ChunkHead::parse(&self.record, true) {
            Ok(head) => head,
            Err(fault) => return self.bad_chunk("bad-chunk", fault),
        };
        let got = self.decompress(&head);
        match got {
            Err(fault) => return self.bad_chunk("bad-chunk", fault.to_string()),
            Ok(()) if self.chunk.len() as u64 != head.uncompressed_bytes => {
                let fault = format!(
                    "it holds {} bytes and claims {}",
                    self.chunk.len(),
                    head.uncompressed_bytes
                );
                return self.bad_chunk("bad-chunk", fault);
            }
            Ok(()) => {}
        }
        let is_right = head.crc == 0 || crc32fast::hash(&self.chunk) == head.crc;
        if is_right {
            self.chunk_trust = Trust::All;
        } else {
            self.chunk_trust = Trust::Definitions;
            let fault = "its checksum is wrong, so its messages are left out";
            self.report_chunk("bad-chunk-crc", fault.to_string());
        }
        self.chunk_at = 0;
    }

    /// The beginning of a chunk whose end is missing.
    fn partial_chunk(&mut self) {
        self.chunk.clear();
        if let Ok(head) = ChunkHead::parse(&self.record, false) {
            // An error is expected: the data ends too early. What came before it counts.
            _ = self.decompress_stream(&head);
        }
        (self.chunk_trust, self.chunk_at) = (Trust::Beginning, 0);
    }

    fn bad_chunk(&mut self, code: &'static str, fault: String) {
        (self.chunk_at, self.chunk) = (0, Vec::new());
        self.report_chunk(code, fault);
    }

    fn report_chunk(&mut self, code: &'static str, fault: String) {
        let message = format!(
            "the chunk at byte {} of `{}` is damaged: {fault}",
            self.record_offset, self.name
        );
        self.findings.push(Diagnostic::error(code, message));
    }

    fn decompress(&mut self, head: &ChunkHead) -> io::Result<()> {
        if head.compression != "zstd" {
            return self.decompress_stream(head);
        }
        // At once is several times as fast as in pieces.
        self.chunk.clear();
        self.chunk.reserve(head.uncompressed_bytes as usize);
        let zstd = match &mut self.zstd {
            Some(zstd) => zstd,
            empty => empty.insert(zstd::bulk::Decompressor::new()?),
        };
        zstd.decompress_to_buffer(&self.record[head.data.clone()], &mut self.chunk).map(|_| ())
    }

    fn decompress_stream(&mut self, head: &ChunkHead) -> io::Result<()> {
        let (data, chunk) = (&self.record[head.data.clone()], &mut self.chunk);
        chunk.clear();
        // One byte more than claimed shows that the claim is wrong.
        let most = head.uncompressed_bytes + 1;
        match head.compression.as_str() {
            "" => data.take(most).read_to_end(chunk),
            "lz4" => lz4::Decoder::new(data)?.take(most).read_to_end(chunk),
            "zstd" => zstd::stream::read::Decoder::new(data)?.take(most).read_to_end(chunk),
            other => {
                return Err(io::Error::other(format!("its compression `{other:.40}` is unknown")));
            }
        }
        .map(|_| ())
    }

    /// Fills `payload`; false, and a finding, where it is damaged.
    fn decompress_payload(&mut self, channel: u16, buffer: Buffer, body: &Range<usize>) -> bool {
        let bytes = match buffer {
            Buffer::Record => &self.record[body.clone()],
            Buffer::Chunk => &self.chunk[body.clone()],
        };
        self.payload.clear();
        let read = zstd::stream::read::Decoder::new(bytes)
            .and_then(|all| all.take(RECORD_BYTES_MAX + 1).read_to_end(&mut self.payload));
        let fault = match read {
            Ok(n_bytes) if n_bytes as u64 <= RECORD_BYTES_MAX => return true,
            Ok(_) => "it is larger than is read".to_string(),
            Err(fault) => fault.to_string(),
        };
        let channel = self.channels[usize::from(channel)].as_ref().expect("checked by the step");
        let message = format!(
            "a message on `{}` in `{}` cannot be decompressed: {fault}",
            channel.topic, self.name
        );
        self.findings.push(Diagnostic::error("bad-message", message));
        false
    }

    fn chunk_record(&mut self) -> Step {
        let rest = &self.chunk[self.chunk_at..];
        let room = rest.len().saturating_sub(9) as u64;
        let found = frame(rest).filter(|(_, length)| *length <= room);
        let Some((opcode, length)) = found else {
            // The end of an unfinished chunk is expected to be torn.
            if self.chunk_trust == Trust::All {
                let fault = format!("a record reaches past its end at {}", self.chunk_at);
                self.report_chunk("bad-chunk", fault);
            }
            self.chunk_at = self.chunk.len();
            return Step::Nothing;
        };
        let start = self.chunk_at + 9;
        let end = start + length as usize;
        self.chunk_at = end;
        if opcode == op::MESSAGE && self.chunk_trust == Trust::Definitions {
            return Step::Nothing;
        }
        self.parse(opcode, Buffer::Chunk, start..end)
    }

    fn parse(&mut self, opcode: u8, buffer: Buffer, range: Range<usize>) -> Step {
        let bytes = match buffer {
            Buffer::Record => &self.record,
            Buffer::Chunk => &self.chunk,
        };
        let body = &bytes[range.clone()];
        if opcode == op::MESSAGE {
            return self.message(buffer, range);
        }
        let is_wanted = match buffer {
            Buffer::Record => {
                matches!(
                    opcode,
                    op::HEADER | op::SCHEMA | op::CHANNEL | op::ATTACHMENT | op::METADATA
                )
            }
            Buffer::Chunk => matches!(opcode, op::SCHEMA | op::CHANNEL),
        };
        if !is_wanted {
            return Step::Nothing; // indexes, private records, and what no chunk may hold
        }
        // What is kept must not unfold from a small file without end.
        if matches!(opcode, op::SCHEMA | op::CHANNEL) {
            self.n_definition_bytes += body.len();
            if self.n_definition_bytes > DEFINITION_BYTES_MAX {
                let message = format!("`{}` defines more types than anyone has", self.name);
                self.stop("too-many-definitions", message);
                self.chunk_at = self.chunk.len();
                return Step::Nothing;
            }
        }
        if !lengths_fit(opcode, body) {
            return self.bad_record("a length in it reaches past its end");
        }
        match mcap::parse_record(opcode, body) {
            Ok(Record::Header(header)) => {
                Step::Own(Item::Header { profile: header.profile, library: header.library })
            }
            Ok(Record::Schema { header, data }) => {
                let schema = Schema {
                    id: header.id,
                    name: header.name,
                    encoding: header.encoding,
                    data: data.into_owned(),
                };
                self.schemas.entry(schema.id).or_insert_with(|| Arc::new(schema));
                Step::Nothing
            }
            Ok(Record::Channel(channel)) => self.channel(channel),
            Ok(Record::Attachment { header, data, .. }) => {
                Step::Own(Item::Attachment(Attachment {
                    name: header.name,
                    media_type: header.media_type,
                    log_time: time_of(header.log_time),
                    create_time: time_of(header.create_time),
                    bytes: data.into_owned(),
                }))
            }
            Ok(Record::Metadata(metadata)) => {
                Step::Own(Item::Metadata { name: metadata.name, entries: metadata.metadata })
            }
            Ok(_) => Step::Nothing,
            Err(fault) => self.bad_record(&fault.to_string()),
        }
    }

    fn bad_record(&mut self, fault: &str) -> Step {
        let message = format!(
            "a record in or at byte {} of `{}` is damaged: {fault}",
            self.record_offset, self.name
        );
        self.findings.push(Diagnostic::error("bad-record", message));
        Step::Nothing
    }

    fn channel(&mut self, record: mcap::records::Channel) -> Step {
        let index = usize::from(record.id);
        if self.channels.len() <= index {
            self.channels.resize(index + 1, None);
        }
        let channel = Channel {
            id: record.id,
            topic: record.topic,
            message_encoding: record.message_encoding,
            metadata: record.metadata,
            schema: self.schemas.get(&record.schema_id).cloned(),
        };
        match &self.channels[index] {
            // The summary repeats every channel.
            Some(known) if known.topic == channel.topic => Step::Nothing,
            Some(known) => {
                self.findings.push(Diagnostic::error(
                    "channel-redefined",
                    format!(
                        "channel {index} of `{}` is `{}` and later `{}`",
                        self.name, known.topic, channel.topic
                    ),
                ));
                Step::Nothing
            }
            None => {
                let channel = Arc::new(channel);
                self.channels[index] = Some(Arc::clone(&channel));
                Step::Own(Item::Channel(channel))
            }
        }
    }

    fn message(&mut self, buffer: Buffer, range: Range<usize>) -> Step {
        let bytes = match buffer {
            Buffer::Record => &self.record[range.clone()],
            Buffer::Chunk => &self.chunk[range.clone()],
        };
        let Some(head) = bytes.first_chunk::<22>() else {
            self.report_chunk("bad-record", "a message is shorter than its header".to_string());
            return Step::Nothing;
        };
        let channel = u16::from_le_bytes([head[0], head[1]]);
        let sequence = u32::from_le_bytes(head[2..6].try_into().expect("four bytes"));
        let nanos =
            [6, 14].map(|at| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes")));
        if self.channels.get(usize::from(channel)).is_none_or(Option::is_none) {
            if self.unknown_channels.insert(channel) {
                self.findings.push(Diagnostic::error(
                    "unknown-channel",
                    format!(
                        "`{}` has messages on channel {channel} but no such channel",
                        self.name
                    ),
                ));
            }
            return Step::Nothing;
        }
        let times = nanos.map(time_of);
        Step::Message { channel, sequence, times, buffer, body: range.start + 22..range.end }
    }
}

/// 292 years are enough; what is beyond is the end of time.
fn time_of(nanos: u64) -> SimTime {
    SimTime::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}
