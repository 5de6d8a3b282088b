//! Where the bytes of a recording go: a file, standard output, or memory.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A place for bytes that can drop a half-written tail.
///
/// After a failed write the recording is cut back to its last whole chunk, so that what
/// was recorded before the disk filled up stays readable.
pub trait Sink: Write + Send + 'static {
    /// Cuts off everything past the first `n_bytes`.
    fn truncate(&mut self, n_bytes: u64) -> io::Result<()>;
}

impl Sink for File {
    fn truncate(&mut self, n_bytes: u64) -> io::Result<()> {
        self.set_len(n_bytes)?;
        self.seek(SeekFrom::Start(n_bytes)).map(|_| ())
    }
}

/// For a pipe: what went into it cannot be taken back, but a reader that is cut off in the
/// middle of a chunk keeps everything before it.
impl Sink for io::Stdout {
    fn truncate(&mut self, _: u64) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "standard output cannot be cut"))
    }
}

/// Bytes in memory, readable while and after they are written: a clone is a second handle
/// to the same bytes.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    /// No bytes yet.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// A copy of all that was written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.with(|bytes| bytes.clone())
    }

    fn with<T>(&self, f: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        // A Vec of bytes is whole even if another holder panicked.
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|all| all.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Memory {
    fn truncate(&mut self, n_bytes: u64) -> io::Result<()> {
        self.with(|all| all.truncate(usize::try_from(n_bytes).unwrap_or(usize::MAX)));
        Ok(())
    }
}
