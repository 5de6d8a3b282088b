//! Bags of other storages, read as if they were MCAP.
//!
//! ```text
//! ROS 1 bag (ros1) · SQLite bag (sqlite) ─► Stored ─ AsMcap ─► bytes of an MCAP ─► Reader
//! ```
//!
//! Whoever reads MCAP reads them too: nothing else of the house knows that there are others. A
//! chunk is held at a time.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use headland_base::{Diagnostic, SimTime};

use crate::container::{Container, message_head};
use crate::format::open;
use crate::reader::Reader;
use crate::ros1::Bag;
use crate::sqlite::Database;
use crate::writer::Compression;

/// Bytes after which a chunk is handed on.
const CHUNK_BYTES: usize = 1 << 20;

/// Messages in a storage of its own.
pub(crate) trait Stored {
    /// Puts the next things into `out`; false at the end.
    fn step(&mut self, out: &mut Container) -> io::Result<bool>;
}

/// The bytes of an MCAP with what is stored.
struct AsMcap<S> {
    stored: S,
    container: Option<Container>,
    bytes: Vec<u8>,
    at: usize,
    /// What went wrong, until all before it was handed on.
    fault: Option<io::Error>,
}

impl<S: Stored> Read for AsMcap<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.bytes.len() {
            if let Some(fault) = self.fault.take() {
                self.container = None;
                return Err(fault);
            }
            let Some(container) = &mut self.container else { return Ok(0) };
            self.at = 0;
            self.bytes.clear();
            let stepped = self.stored.step(container);
            if matches!(stepped, Ok(true)) && container.n_chunk_bytes() < CHUNK_BYTES {
                continue;
            }
            container.close_chunk()?;
            match stepped {
                Ok(true) => self.bytes = container.take(),
                Ok(false) => {
                    self.bytes = container.take();
                    let container = self.container.take().expect("looked at above");
                    self.bytes.extend(container.finish());
                }
                Err(fault) => {
                    self.bytes = container.take();
                    self.fault = Some(fault);
                }
            }
        }
        let n = into.len().min(self.bytes.len() - self.at);
        into[..n].copy_from_slice(&self.bytes[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// One message; times before zero have no place in a recording and are taken as zero.
pub(crate) fn put(out: &mut Container, channel: u16, nanos: i64, payload: &[u8]) {
    let nanos = nanos.max(0);
    let head = message_head(channel, 0, [nanos as u64; 2], payload.len());
    let mut bytes = Vec::with_capacity(head.len() + payload.len());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(payload);
    out.message(channel, SimTime::from_nanos(nanos), &bytes);
}

/// A recording in any storage.
pub(crate) type AnyReader = Reader<Box<dyn Read + Send>>;

/// Opens a file of messages by what is in it: a ROS 1 bag, a SQLite database, or an MCAP.
pub(crate) fn open_any(path: &Path) -> Result<AnyReader, Diagnostic> {
    let shown = path.display().to_string();
    let mut head = Vec::new();
    let read = open(path)?.take(16).read_to_end(&mut head);
    read.map_err(|fault| {
        Diagnostic::error("cannot-open", format!("cannot read `{shown}`: {fault}"))
    })?;
    let mut finding = None;
    let input: Box<dyn Read + Send> = if head.starts_with(b"#ROSBAG") {
        as_mcap(Bag::new(buffered(path)?))
    } else if head.starts_with(b"SQLite format 3") {
        let database = Database::open(open(path)?).map_err(|fault| {
            Diagnostic::error("bad-bag", format!("`{shown}` is no database of a bag: {fault}"))
        })?;
        finding = not_in_the_database(path);
        as_mcap(database)
    } else {
        Box::new(buffered(path)?)
    };
    Ok(Reader::new(input, &shown).saying(finding))
}

/// What a recorder that was killed wrote into the log beside a database and never moved over.
fn not_in_the_database(path: &Path) -> Option<Diagnostic> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = Path::new(&log);
    let n_bytes = log.metadata().ok()?.len();
    let message =
        format!("{n_bytes} bytes of `{}` are not in the database and not read", log.display());
    let help = format!("sqlite3 '{}' 'PRAGMA wal_checkpoint(TRUNCATE)' moves them", path.display());
    (n_bytes > 0).then(|| Diagnostic::warning("log-not-read", message).help(help))
}

fn buffered(path: &Path) -> Result<BufReader<File>, Diagnostic> {
    Ok(BufReader::with_capacity(1 << 16, open(path)?))
}

fn as_mcap(stored: impl Stored + Send + 'static) -> Box<dyn Read + Send> {
    let container = Some(Container::new("", Compression::None));
    Box::new(AsMcap { stored, container, bytes: Vec::new(), at: 0, fault: None })
}

/// The numbers that a bag of these bytes has under `n`, and how many findings; with a log
/// beside it where there is one.
#[cfg(test)]
pub(crate) fn numbers(bytes: &[u8], name: &str, log: Option<&[u8]>) -> (Vec<f64>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    if let Some(log) = log {
        std::fs::write(folder.path().join(format!("{name}-wal")), log).unwrap();
    }
    match crate::import(&path, &crate::ImportOptions::default()) {
        Ok(read) => {
            let column = read.recording.column("n");
            let found = column.map_or(Vec::new(), |column| column.values.to_vec());
            (found, read.findings.into_vec().len())
        }
        Err(faults) => (Vec::new(), faults.len()),
    }
}
