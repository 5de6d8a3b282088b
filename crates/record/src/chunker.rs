//! Messages in order go in, the bytes of a file come out, chunk by whole chunk.
//!
//! ```text
//! Job ─► Container ─► pending bytes ─┬─ chunk closed ─► Sink
//!        (memory only)               └─ write failed ─► Sink cut to its last whole chunk
//! ```
//!
//! Only whole chunks reach the sink, so neither a kill nor a full disk leaves a chunk whose
//! header was not filled in yet. Where a chunk ends depends on bytes and simulated time
//! alone: the same messages give the same file.

use std::collections::BTreeMap;
use std::io;

use headland_base::{Diagnostic, SimDuration, SimTime};

use crate::container::Container;
use crate::reader::Attachment;
use crate::sink::Sink;
use crate::writer::{WriteOptions, Written};

/// One message in a batch: where its record ends in the batch's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub channel: u16,
    pub time: SimTime,
    pub end: usize,
}

/// Messages on their way from the simulating thread to the file, as records.
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
    Channel {
        topic: String,
        schema: String,
        definition: String,
        metadata: BTreeMap<String, String>,
    },
    Batch(Batch),
    Attachment(Attachment),
    Metadata {
        name: String,
        entries: BTreeMap<String, String>,
    },
}

pub(crate) struct Chunker {
    container: Container,
    sink: Box<dyn Sink>,
    path: String,
    chunk_bytes_max: usize,
    chunk_span: SimDuration,
    /// Time of the first message in the open chunk.
    chunk_start: Option<SimTime>,
    written: Written,
    /// Latest message so far.
    last_time: Option<SimTime>,
    /// Latest message that reached the sink.
    kept_until: Option<SimTime>,
    failure: Option<Diagnostic>,
}

impl Chunker {
    pub fn new(
        sink: Box<dyn Sink>,
        path: String,
        options: &WriteOptions,
    ) -> Result<Chunker, Diagnostic> {
        let mut chunker = Chunker {
            container: Container::new(&options.library, options.compression),
            sink,
            path,
            chunk_bytes_max: options.chunk_bytes.max(1),
            chunk_span: options.chunk_span,
            chunk_start: None,
            written: Written::default(),
            last_time: None,
            kept_until: None,
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
            Job::Channel { topic, schema, definition, metadata } => {
                self.container.channel(topic, schema, definition, metadata);
                return;
            }
            Job::Batch(batch) => self.batch(batch),
            Job::Attachment(file) => self.container.attach(file).map(|()| self.closed()),
            Job::Metadata { name, entries } => {
                self.container.metadata(name, entries).map(|()| self.closed())
            }
        };
        if let Err(fault) = done {
            self.fail(&fault);
        }
    }

    fn batch(&mut self, batch: &Batch) -> io::Result<()> {
        let mut start = 0;
        for entry in &batch.entries {
            let is_long =
                self.chunk_start.is_some_and(|first| entry.time - first >= self.chunk_span);
            let is_full = self.container.n_chunk_bytes() >= self.chunk_bytes_max;
            if self.chunk_start.is_some() && (is_full || is_long) {
                self.close_chunk()?;
            }
            self.container.message(entry.channel, entry.time, &batch.bytes[start..entry.end]);
            self.chunk_start.get_or_insert(entry.time);
            self.last_time = self.last_time.max(Some(entry.time));
            self.written.n_messages += 1;
            start = entry.end;
        }
        Ok(())
    }

    fn close_chunk(&mut self) -> io::Result<()> {
        self.container.close_chunk()?;
        self.closed();
        Ok(())
    }

    /// The chunk is closed: what is pending is whole.
    fn closed(&mut self) {
        self.written.n_chunks += u64::from(self.chunk_start.is_some());
        self.chunk_start = None;
        self.send_pending();
    }

    fn send_pending(&mut self) {
        let bytes = self.container.take();
        self.send(&bytes);
    }

    /// Hands whole records to the sink; on failure the sink is cut back to the whole
    /// records before them.
    fn send(&mut self, bytes: &[u8]) {
        if self.failure.is_some() {
            return; // a smaller chunk might fit, but the one before it is missing
        }
        match self.sink.write_all(bytes).and_then(|()| self.sink.flush()) {
            // Only whole chunks come here, before the next message is taken: all so far.
            Ok(()) => {
                self.written.n_bytes += bytes.len() as u64;
                self.kept_until = self.last_time;
            }
            Err(fault) => {
                let cut = self.sink.truncate(self.written.n_bytes);
                self.fail(&fault);
                // What went into a pipe is its reader's.
                if let (Err(fault), Some(failure)) = (cut, &mut self.failure)
                    && failure.code != "output-closed"
                {
                    let note = format!("the unfinished tail could not be cut off: {fault}");
                    failure.notes.push(note);
                }
            }
        }
    }

    fn fail(&mut self, fault: &io::Error) {
        let kept = self.written.n_bytes;
        let until = match self.kept_until {
            Some(time) => format!("it can be read up to {time}"),
            None => "no message is in it".to_string(),
        };
        self.failure.get_or_insert_with(|| {
            // Whoever read it has seen enough; no space would help.
            if fault.kind() == io::ErrorKind::BrokenPipe {
                let message = format!("`{}` was closed after {kept} bytes", self.path);
                return Diagnostic::error("output-closed", message)
                    .note("its reader went away before the recording was whole");
            }
            Diagnostic::error(
                "recording-not-written",
                format!("cannot go on writing the recording `{}`: {fault}", self.path),
            )
            .note(format!("its first {kept} bytes are whole: {until}"))
            .help("free some space or choose another place, then run again")
        });
    }

    /// Closes the last chunk and writes the summary.
    pub fn finish(mut self) -> Result<Written, Diagnostic> {
        if self.failure.is_none() {
            // The last chunk and the summary are sent apart: where only the summary does
            // not fit any more, no message is lost.
            if let Err(fault) = self.close_chunk() {
                self.fail(&fault);
            }
        }
        if self.failure.is_none() {
            let empty = Container::new("", crate::writer::Compression::None);
            let summary = std::mem::replace(&mut self.container, empty).finish();
            self.send(&summary);
        }
        self.failure.map_or(Ok(self.written), Err)
    }
}
