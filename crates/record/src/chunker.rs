//! Messages in order go in, the bytes of an MCAP file come out, chunk by whole chunk.
//!
//! ```text
//! Job ─► mcap::Writer ─► pending bytes ─┬─ chunk closed ─► Sink
//!        (memory only, cannot fail)     └─ write failed ─► Sink cut to its last whole chunk
//! ```
//!
//! The encoder writes to memory and only whole chunks reach the sink, so neither a kill
//! nor a full disk leaves a chunk whose header was not filled in yet. Where a chunk ends
//! depends on bytes and simulated time alone: the same messages give the same file.

use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};

use headland_base::{Diagnostic, SimDuration, SimTime};
use mcap::records::MessageHeader;

use crate::sink::{Memory, Sink};
use crate::writer::{Compression, WriteOptions, Written};

/// One message in a batch: where its payload lies in the batch's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub channel: u16,
    pub time: SimTime,
    pub end: usize,
}

/// Messages on their way from the simulating thread to the file.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub entries: Vec<Entry>,
    pub bytes: Vec<u8>,
}

impl Batch {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
    }
}

/// One thing to put into the file.
#[derive(Debug)]
pub(crate) enum Job {
    Channel { topic: String, schema: String, definition: String },
    Batch(Batch),
    Attachment { name: String, media_type: String, bytes: Vec<u8> },
    Metadata { name: String, entries: BTreeMap<String, String> },
    Flush,
}

/// The encoder's side of the pending bytes: counts what was ever written, because the
/// encoder asks for its position to fill the indexes.
struct Pending {
    memory: Memory,
    position: u64,
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.memory.write(bytes)?;
        self.position += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Pending {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Current(0) => Ok(self.position),
            _ => Err(io::Error::other("whole chunks are appended, never patched")),
        }
    }
}

pub(crate) struct Chunker {
    mcap: mcap::Writer<Pending>,
    memory: Memory,
    sink: Box<dyn Sink>,
    path: String,
    chunk_bytes_max: u64,
    chunk_span: SimDuration,
    /// Uncompressed bytes of messages in the open chunk.
    chunk_bytes: u64,
    /// Time of the first message in the open chunk.
    chunk_start: Option<SimTime>,
    /// Next sequence number per channel; index 0 is never used.
    sequences: Vec<u32>,
    written: Written,
    last_time: Option<SimTime>,
    failure: Option<Diagnostic>,
}

/// Opcode, length and header of a message record, before its payload.
const MESSAGE_OVERHEAD_BYTES: u64 = 9 + 22;

impl Chunker {
    pub fn new(
        sink: Box<dyn Sink>,
        path: String,
        options: &WriteOptions,
    ) -> Result<Chunker, Diagnostic> {
        let memory = Memory::new();
        let mcap = mcap::WriteOptions::new()
            .profile("ros2")
            .library(&options.library)
            .compression(match options.compression {
                Compression::None => None,
                Compression::Lz4 => Some(mcap::Compression::Lz4),
                Compression::Zstd => Some(mcap::Compression::Zstd),
            })
            // Speed first: level 1 took a third of the time of level 3 on poses, for 3 %
            // more bytes.
            .compression_level(1)
            // More threads would cut the data elsewhere on another machine.
            .compression_threads(0)
            .chunk_size(None)
            .disable_seeking(true)
            .create(Pending { memory: memory.clone(), position: 0 })
            .expect("memory takes every byte");
        let mut chunker = Chunker {
            mcap,
            memory,
            sink,
            path,
            chunk_bytes_max: options.chunk_bytes.max(1) as u64,
            chunk_span: options.chunk_span,
            chunk_bytes: 0,
            chunk_start: None,
            sequences: vec![0],
            written: Written::default(),
            last_time: None,
            failure: None,
        };
        chunker.send_pending();
        chunker.failure.clone().map_or(Ok(chunker), Err)
    }

    /// The first thing that went wrong; everything after it is dropped.
    pub fn failure(&self) -> Option<&Diagnostic> {
        self.failure.as_ref()
    }

    pub fn run(&mut self, job: &Job) {
        if self.failure.is_some() {
            return;
        }
        let done = match job {
            Job::Channel { topic, schema, definition } => self.channel(topic, schema, definition),
            Job::Batch(batch) => self.batch(batch),
            Job::Attachment { name, media_type, bytes } => self.attach(name, media_type, bytes),
            Job::Metadata { name, entries } => {
                let record =
                    mcap::records::Metadata { name: name.clone(), metadata: entries.clone() };
                self.mcap.write_metadata(&record).map(|()| self.closed())
            }
            Job::Flush => self.close_chunk(),
        };
        if let Err(fault) = done {
            self.fail(fault.to_string());
        }
    }

    fn channel(&mut self, topic: &str, schema: &str, definition: &str) -> mcap::McapResult<()> {
        let schema_id = self.mcap.add_schema(schema, "ros2msg", definition.as_bytes())?;
        let channel_id = self.mcap.add_channel(schema_id, topic, "cdr", &BTreeMap::new())?;
        assert_eq!(usize::from(channel_id), self.sequences.len(), "channels are numbered in order");
        self.sequences.push(0);
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> mcap::McapResult<()> {
        let mut start = 0;
        for entry in &batch.entries {
            self.message(entry, &batch.bytes[start..entry.end])?;
            start = entry.end;
        }
        Ok(())
    }

    fn message(&mut self, entry: &Entry, payload: &[u8]) -> mcap::McapResult<()> {
        let is_full = self.chunk_bytes >= self.chunk_bytes_max;
        let is_long = self.chunk_start.is_some_and(|start| entry.time - start >= self.chunk_span);
        if self.chunk_start.is_some() && (is_full || is_long) {
            self.close_chunk()?;
        }
        let sequence = &mut self.sequences[usize::from(entry.channel)];
        let nanos = u64::try_from(entry.time.nanos()).expect("the writer refuses negative times");
        let header = MessageHeader {
            channel_id: entry.channel,
            sequence: *sequence,
            log_time: nanos,
            publish_time: nanos,
        };
        *sequence = sequence.wrapping_add(1);
        self.chunk_start.get_or_insert(entry.time);
        self.chunk_bytes += MESSAGE_OVERHEAD_BYTES + payload.len() as u64;
        self.last_time = self.last_time.max(Some(entry.time));
        self.written.n_messages += 1;
        self.mcap.write_to_known_channel(&header, payload)
    }

    fn attach(&mut self, name: &str, media_type: &str, bytes: &[u8]) -> mcap::McapResult<()> {
        let header = mcap::records::AttachmentHeader {
            log_time: 0,
            create_time: 0,
            name: name.to_string(),
            media_type: media_type.to_string(),
        };
        self.mcap.start_attachment(bytes.len() as u64, header)?;
        self.mcap.put_attachment_bytes(bytes)?;
        self.mcap.finish_attachment()?;
        self.closed();
        Ok(())
    }

    fn close_chunk(&mut self) -> mcap::McapResult<()> {
        self.mcap.flush()?;
        self.closed();
        Ok(())
    }

    /// The encoder has closed its chunk: what is pending is whole.
    fn closed(&mut self) {
        self.written.n_chunks += u64::from(self.chunk_start.is_some());
        (self.chunk_bytes, self.chunk_start) = (0, None);
        self.send_pending();
    }

    /// Hands whole records to the sink; on failure the sink is cut back to the whole
    /// records before them.
    fn send_pending(&mut self) {
        let bytes = self.memory.take();
        if self.failure.is_some() {
            return; // a smaller chunk might fit, but the one before it is missing
        }
        match self.sink.write_all(&bytes).and_then(|()| self.sink.flush()) {
            Ok(()) => self.written.n_bytes += bytes.len() as u64,
            Err(fault) => {
                let kept = self.written.n_bytes;
                let cut = self.sink.truncate(kept);
                self.fail(fault.to_string());
                if let (Err(fault), Some(failure)) = (cut, &mut self.failure) {
                    failure
                        .notes
                        .push(format!("the unfinished tail could not be cut off: {fault}"));
                }
            }
        }
    }

    fn fail(&mut self, fault: String) {
        let last = self.last_time.map_or(String::new(), |time| format!(", simulated time {time}"));
        self.failure.get_or_insert_with(|| {
            Diagnostic::error(
                "recording-not-written",
                format!("cannot go on writing the recording `{}`: {fault}", self.path),
            )
            .note(format!(
                "its first {} bytes are whole and can be read{last}",
                self.written.n_bytes
            ))
            .help("free some space or choose another place, then run again")
        });
    }

    /// Closes the last chunk and writes the summary.
    pub fn finish(mut self) -> Result<Written, Diagnostic> {
        if self.failure.is_none() {
            // The last chunk and the summary are sent apart: where only the summary does
            // not fit any more, no message is lost.
            if let Err(fault) = self.close_chunk() {
                self.fail(fault.to_string());
            }
        }
        if self.failure.is_none() {
            match self.mcap.finish() {
                Ok(_) => self.send_pending(),
                Err(fault) => self.fail(fault.to_string()),
            }
        }
        self.failure.map_or(Ok(self.written), Err)
    }
}
