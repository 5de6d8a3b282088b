//! Logs that still grow: rows as they come.
//!
//! ```text
//! file that grows ─┐                ┌─ table ──────────────────────┐
//! standard input ──┴─► bytes ───────┤                              ├─► bounded queue ─► rows
//!                  (wait, idle, end)└─ MCAP ─ messages of a moment ┘
//! ```
//!
//! A thread reads, from standard input or from the end of a file that others write to, and hands
//! rows over through a bounded queue. Where whoever asks cannot follow, rows of standard input
//! that find the queue full are lost and counted, so that nobody upstream is held up; a file
//! waits. It ends where the log does, when nothing has come for too long, or when somebody wants
//! it to: a thread that still hangs on a pipe is waited for by nobody.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use headland_base::{Diagnostic, Findings, SimDuration, SimTime};
use headland_judge::compare::Heading;
use headland_record::csv::{NumberChoice, NumberColumn, TIME_NAMES, moment_of, read_numbers};
use headland_record::{LoadOptions, Reader, Stamp, Unit, follow};

use crate::context::is_stdout;
use crate::figures::Loss;

/// Rows of a pipe that wait at most: a minute at a kilohertz.
const MOST_WAITING: usize = 60_000;
/// Numbers of messages that wait for the rest of their moment at most: 64 MB.
const MOST_NUMBERS: usize = 8_000_000;
/// Rows of a file that wait at most: the rest waits in the file.
const FILE_WAITING: usize = 1000;
/// How long one looks for more before the figures are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes that are taken from a pipe at once, and how many times that many may wait.
const PIPE_BYTES: usize = 1 << 16;
const MOST_PIECES: usize = 64;
/// How long one waits for the last words of a reader that was told to end.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How far apart in time the messages of one moment may be written.
const MOMENT: SimDuration = SimDuration::from_nanos(250_000_000);

enum Said {
    Header(Vec<Heading>),
    Row(SimTime, Vec<f64>),
    End(Findings),
}

/// The next thing that comes.
pub enum Next {
    /// A row: its time and a number per column, not a number where there is none.
    Row(SimTime, Vec<f64>),
    /// Nothing yet.
    Nothing,
    /// No more.
    End,
}

/// What did not become a row.
#[derive(Debug, Default)]
struct Lost {
    /// Rows that found the queue full.
    n_full: AtomicU64,
    /// Messages of a moment that had passed.
    n_late: AtomicU64,
    /// Numbers of keys that came up after the first moment.
    n_new_keys: AtomicU64,
    /// Numbers of a key at a moment that had one of it.
    n_duplicate: AtomicU64,
    /// Rows whose time cannot be told.
    n_timeless: AtomicU64,
    /// Rows that had no end yet.
    n_torn: AtomicU64,
}

/// Rows of a log as they come.
pub struct Rows {
    said: Receiver<Said>,
    lost: Arc<Lost>,
    stop: Arc<AtomicBool>,
    findings: Findings,
}

impl Rows {
    /// Opens a table or an MCAP that grows, or a table on standard input; it ends when `stop` is
    /// set, or when nothing has come for as long as `idle_most`.
    pub fn open(
        path: &Path,
        stamp: Stamp,
        idle_most: Option<SimDuration>,
        stop: Arc<AtomicBool>,
    ) -> Result<Rows, Vec<Diagnostic>> {
        let name =
            if is_stdout(path) { "standard input".into() } else { path.display().to_string() };
        let is_stdin = is_stdout(path);
        let source = match is_stdin {
            true => Source::Pipe(pieces_of_stdin(), Cursor::default()),
            false => Source::File(Followed::open(path, &name).map_err(|fault| vec![fault])?),
        };
        let idle_most = idle_most.map(|most| Duration::from_nanos(most.nanos().unsigned_abs()));
        let ends = Arc::clone(&stop);
        let input = BufReader::new(Growing {
            source,
            idle_most,
            stop: ends,
            is_over: false,
            is_cut: false,
            broken: Arc::default(),
        });
        let (to, said) = sync_channel(if is_stdin { MOST_WAITING } else { FILE_WAITING });
        let lost = Arc::new(Lost::default());
        let queue = Queue { to, may_lose: is_stdin, lost: Arc::clone(&lost) };
        let broken = Arc::clone(&input.get_ref().broken);
        std::thread::spawn(move || read(input, &name, stamp, &queue, &broken));
        Ok(Rows { said, lost, stop, findings: Findings::new() })
    }

    /// The keys of its columns but the time; waits for them.
    pub fn header(&mut self) -> Result<Vec<Heading>, Vec<Diagnostic>> {
        let nothing = || {
            let message = "nothing that can be compared has come";
            vec![Diagnostic::error("empty-table", message).help("is anybody writing to it?")]
        };
        loop {
            match self.said.recv_timeout(LOOK) {
                Ok(Said::Header(keys)) => return Ok(keys),
                Ok(Said::End(findings)) if findings.is_empty() => return Err(nothing()),
                Ok(Said::End(findings)) => return Err(findings.into_vec()),
                // The reader hears of it too, and may have something to say.
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Said::Row(..)) | Err(RecvTimeoutError::Disconnected) => return Err(nothing()),
            }
        }
    }

    /// The next row, or none within a moment. Where somebody wants it to end, what still waits
    /// is no more looked at.
    pub fn next(&mut self) -> Next {
        if self.stop.load(Ordering::Relaxed) {
            let last = std::iter::from_fn(|| self.said.recv_timeout(LAST_WORDS).ok());
            for said in last {
                if let Said::End(findings) = said {
                    self.findings.append(findings);
                    break;
                }
            }
            return Next::End;
        }
        match self.said.recv_timeout(LOOK) {
            Ok(Said::Row(time, numbers)) => Next::Row(time, numbers),
            Ok(Said::Header(_)) | Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Ok(Said::End(findings)) => {
                self.findings.append(findings);
                Next::End
            }
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }

    /// How many things did not become rows, and why.
    pub fn losses(&self) -> Vec<Loss> {
        let Lost { n_full, n_late, n_new_keys, n_duplicate, n_timeless, n_torn } = &*self.lost;
        let all = [
            ("lost", n_full, "row", "lost: they came faster than could be followed"),
            ("late", n_late, "message", "left out: more than 0.25 s behind the others"),
            ("new_keys", n_new_keys, "number", "left out: of keys that were not there at first"),
            ("duplicate", n_duplicate, "number", "left out: a second one at its time"),
            ("timeless", n_timeless, "row", "left out: without a time that can be told"),
            ("torn", n_torn, "row", "left out: not finished"),
        ];
        let loss = |(name, n, what, why): (_, &AtomicU64, _, _)| Loss {
            name,
            n: n.load(Ordering::Relaxed),
            what,
            why,
        };
        all.map(loss).into()
    }

    /// Whether rows came faster than they could be followed.
    pub fn has_lost(&self) -> bool {
        self.lost.n_full.load(Ordering::Relaxed) > 0
    }

    /// What was wrong with rows.
    pub fn findings(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }
}

/// Where a reading thread puts rows.
struct Queue {
    to: SyncSender<Said>,
    may_lose: bool,
    lost: Arc<Lost>,
}

impl Queue {
    /// False where nobody listens any more: the command has ended.
    fn row(&self, time: SimTime, numbers: Vec<f64>) -> bool {
        let said = Said::Row(time, numbers);
        if !self.may_lose {
            return self.to.send(said).is_ok();
        }
        if self.to.try_send(said).is_err() {
            self.lost.n_full.fetch_add(1, Ordering::Relaxed);
        }
        true
    }
}

/// A file that others write to, and what was read of it.
struct Followed {
    file: File,
    path: PathBuf,
    name: String,
    /// Bytes that were read.
    n_read: u64,
    /// The last of them: where they are no more, somebody wrote the file anew.
    last: Vec<u8>,
}

/// So many bytes are looked at again.
const LAST_BYTES: usize = 64;

impl Followed {
    fn open(path: &Path, name: &str) -> Result<Followed, Diagnostic> {
        let file = open_file(path, name)?;
        Ok(Followed {
            file,
            path: path.to_path_buf(),
            name: name.to_string(),
            n_read: 0,
            last: Vec::new(),
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.n_read += n as u64;
        self.last.extend_from_slice(&buffer[n.saturating_sub(LAST_BYTES)..n]);
        self.last.drain(..self.last.len().saturating_sub(LAST_BYTES));
        Ok(n)
    }

    /// What happened to the bytes that were read, where something did: what stands behind them may
    /// be anything.
    fn overwritten(&mut self) -> Option<Diagnostic> {
        let n_read = self.n_read;
        let size = self.file.metadata().map_or(n_read, |known| known.len());
        if size < n_read {
            return Some(self.broken("was cut", &format!("it has {size} bytes now")));
        }
        (!self.is_there()).then(|| self.broken("was written anew", "other bytes stand there now"))
    }

    /// What happened to its name, where something did: no more rows will come, but those that did
    /// are still there to be read.
    fn abandoned(&self) -> Option<Diagnostic> {
        match std::fs::metadata(&self.path) {
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => {
                Some(self.broken("was removed", "its name is gone"))
            }
            Ok(now) if !self.is_same(&now) => {
                Some(self.broken("was replaced", "another file has its name"))
            }
            _ => None,
        }
    }

    fn broken(&self, what: &str, how: &str) -> Diagnostic {
        let (name, n_read) = (&self.name, self.n_read);
        let message = format!(
            "`{name}` {what} while it was followed, after {n_read} bytes of it: {how}; what came \
             until then was compared, and nothing after it"
        );
        Diagnostic::error("log-broken", message)
            .help("start again; whoever writes it has to append to it")
    }

    #[cfg(unix)]
    fn is_same(&self, now: &std::fs::Metadata) -> bool {
        use std::os::unix::fs::MetadataExt;
        self.file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (now.dev(), now.ino()))
    }

    #[cfg(not(unix))]
    fn is_same(&self, _: &std::fs::Metadata) -> bool {
        true
    }

    /// Whether the last bytes that were read still stand where they stood.
    fn is_there(&mut self) -> bool {
        let mut now = vec![0; self.last.len()];
        let from = self.n_read - self.last.len() as u64;
        let back = SeekFrom::Start(self.n_read);
        let read =
            self.file.seek(SeekFrom::Start(from)).and_then(|_| self.file.read_exact(&mut now));
        _ = self.file.seek(back);
        read.is_err() || now == self.last
    }
}

/// A file that may grow. What is none would keep everybody waiting.
fn open_file(path: &Path, name: &str) -> Result<File, Diagnostic> {
    let fault = |fault: std::io::Error| {
        Diagnostic::error("missing-file", format!("cannot open `{name}`: {fault}"))
    };
    if !std::fs::metadata(path).map_err(fault)?.is_file() {
        let message = format!("`{name}` is no file that could grow");
        return Err(Diagnostic::error("not-a-file", message).help("a pipe comes in by `-`"));
    }
    File::open(path).map_err(fault)
}

/// Reads to the end, and hands on.
fn read(
    mut input: BufReader<Growing>,
    name: &str,
    stamp: Stamp,
    queue: &Queue,
    broken: &Mutex<Option<Diagnostic>>,
) {
    // The first byte of an MCAP is no letter.
    let is_mcap = input.fill_buf().is_ok_and(|bytes| bytes.first() == Some(&0x89));
    let mut findings = match is_mcap {
        true => read_messages(input, name, stamp, queue),
        false => read_table(input, name, queue),
    };
    // What is half there because somebody took the rest away is told of as that.
    findings.extend(broken.lock().unwrap_or_else(PoisonError::into_inner).take());
    _ = queue.to.send(Said::End(findings));
}

fn read_table(input: BufReader<Growing>, name: &str, queue: &Queue) -> Findings {
    let is_bare = Cell::new(true);
    let choose = |columns: &[NumberColumn]| {
        let is_time =
            |column: &NumberColumn| TIME_NAMES.contains(&column.name.to_lowercase().as_str());
        let time = columns.iter().position(is_time).ok_or_else(|| {
            let message = format!("`{name}` has no column of times");
            Diagnostic::error("no-time-column", message).help("name the first column `time`")
        })?;
        columns[time].no_time(name).map_or(Ok(()), Err)?;
        let others = (0..columns.len()).filter(|column| *column != time);
        let numbers: Vec<usize> = [time].into_iter().chain(others).collect();
        let heading = |column: &usize| Heading {
            key: columns[*column].name.clone(),
            unit: columns[*column].si_unit,
        };
        _ = queue.to.send(Said::Header(numbers[1..].iter().map(heading).collect()));
        is_bare.set(columns[time].unit.is_none());
        Ok(NumberChoice { numbers, word: Some(time), may_have_words: true })
    };
    let input = BufReader::new(WholeLines::new(input, &queue.lost));
    let (_, findings) = read_numbers(input, name, choose, |row| {
        let time = match is_bare.get() {
            true => moment_of(row.word),
            false => SimTime::from_secs(row.numbers[0]),
        };
        match time {
            Some(time) => _ = queue.row(time, row.numbers[1..].to_vec()),
            None => _ = queue.lost.n_timeless.fetch_add(1, Ordering::Relaxed),
        }
    });
    findings
}

/// Lines that have an end: what stands behind the last one may be half a number.
struct WholeLines<'a> {
    input: BufReader<Growing>,
    lost: &'a Lost,
    ready: Cursor<Vec<u8>>,
    held: Vec<u8>,
}

/// A line this long is handed on as it is, to be refused.
const LONGEST_LINE: usize = 1 << 24;

impl WholeLines<'_> {
    fn new(input: BufReader<Growing>, lost: &Lost) -> WholeLines<'_> {
        WholeLines { input, lost, ready: Cursor::default(), held: Vec::new() }
    }
}

impl Read for WholeLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let n = self.ready.read(buffer)?;
            if n > 0 {
                return Ok(n);
            }
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                // A pipe that was closed has said all; what merely fell silent has not.
                let rest = std::mem::take(&mut self.held);
                if rest.is_empty() || self.input.get_ref().is_cut {
                    self.lost.n_torn.fetch_add(u64::from(!rest.is_empty()), Ordering::Relaxed);
                    return Ok(0);
                }
                self.ready = Cursor::new(rest);
                continue;
            }
            let n_bytes = bytes.len();
            self.held.extend_from_slice(bytes);
            self.input.consume(n_bytes);
            let end = self.held.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
            let is_long = self.held.len() > LONGEST_LINE;
            if let Some(end) = end.or(is_long.then_some(self.held.len())) {
                let rest = self.held.split_off(end);
                self.ready = Cursor::new(std::mem::replace(&mut self.held, rest));
            }
        }
    }
}

/// Messages of one moment stand one after the other, and those of sensors may come later than
/// what they saw: a row is whole once a message is a quarter of a second ahead of it. The keys
/// are those that came until the first row was.
fn read_messages(input: BufReader<Growing>, name: &str, stamp: Stamp, queue: &Queue) -> Findings {
    let options = LoadOptions { stamp, ..LoadOptions::default() };
    let mut moments = Moments {
        waiting: BTreeMap::new(),
        n_numbers: 0,
        newest: None,
        passed: None,
        n_keys: None,
    };
    let mut keys = Vec::new();
    let findings = follow(Reader::new(input, name).growing(), &options, &mut |said| {
        moments.take(said.time, said.numbers, &queue.lost);
        // Once rows have begun no key comes to them, and none changes its name.
        if keys.len() < said.keys.len() && moments.n_keys.is_none() {
            keys = said.keys.names();
        }
        moments.give(&keys, queue, |newest, time| newest - time > MOMENT)
    });
    moments.give(&keys, queue, |_, _| true);
    findings
}

/// Rows that may not be whole yet.
struct Moments {
    waiting: BTreeMap<SimTime, Vec<f64>>,
    /// Of all that wait.
    n_numbers: usize,
    newest: Option<SimTime>,
    /// The last that was handed on.
    passed: Option<SimTime>,
    /// Keys of every row, once the first was handed on.
    n_keys: Option<usize>,
}

impl Moments {
    fn take(&mut self, time: SimTime, numbers: &[(usize, f64)], lost: &Lost) {
        if self.passed.is_some_and(|passed| time <= passed) {
            lost.n_late.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.newest = self.newest.max(Some(time));
        let row = self.waiting.entry(time).or_default();
        for (key, number) in numbers {
            if self.n_keys.is_some_and(|n_keys| *key >= n_keys) {
                lost.n_new_keys.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            if row.len() <= *key {
                self.n_numbers += *key + 1 - row.len();
                row.resize(*key + 1, f64::NAN);
            }
            // Of two at one time the first counts.
            if row[*key].is_nan() {
                row[*key] = *number;
            } else {
                lost.n_duplicate.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Hands on those that are whole, or that are too many to wait; false where nobody listens.
    fn give(
        &mut self,
        keys: &[String],
        queue: &Queue,
        is_whole: impl Fn(SimTime, SimTime) -> bool,
    ) -> bool {
        while let (Some(first), Some(newest)) = (self.waiting.first_entry(), self.newest) {
            let is_due = is_whole(newest, *first.key());
            let is_bearable = self.waiting.len() <= MOST_WAITING && self.n_numbers <= MOST_NUMBERS;
            if !is_due && is_bearable {
                break;
            }
            let Some((time, mut row)) = self.waiting.pop_first() else { break };
            self.n_numbers -= row.len();
            if self.n_keys.is_none() {
                self.n_keys = Some(keys.len());
                // Messages are in SI, and do not say so.
                let heading = |key: &String| Heading { key: key.clone(), unit: Unit::Unsaid };
                let headings = keys.iter().map(heading).collect();
                if queue.to.send(Said::Header(headings)).is_err() {
                    return false;
                }
            }
            row.resize(self.n_keys.unwrap_or_default(), f64::NAN);
            self.passed = Some(time);
            if !queue.row(time, row) {
                return false;
            }
        }
        true
    }
}

/// Where bytes come from.
enum Source {
    /// A file that others write to.
    File(Followed),
    /// Pieces of a pipe, and the one at hand.
    Pipe(Receiver<std::io::Result<Vec<u8>>>, Cursor<Vec<u8>>),
}

/// Standard input, a piece at a time, read by a thread of its own: nobody can wake it.
fn pieces_of_stdin() -> Receiver<std::io::Result<Vec<u8>>> {
    let (to, pieces) = sync_channel(MOST_PIECES);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        loop {
            let mut piece = vec![0; PIPE_BYTES];
            let said = stdin.read(&mut piece).map(|n| {
                piece.truncate(n);
                piece
            });
            let is_more = said.as_ref().is_ok_and(|piece| !piece.is_empty());
            if to.send(said).is_err() || !is_more {
                return;
            }
        }
    });
    pieces
}

/// Bytes that still come: their end is only the end of what is there so far.
struct Growing {
    source: Source,
    idle_most: Option<Duration>,
    stop: Arc<AtomicBool>,
    is_over: bool,
    /// It was over before the log was.
    is_cut: bool,
    /// What happened to it, where it cannot be followed any more.
    broken: Arc<Mutex<Option<Diagnostic>>>,
}

impl Growing {
    /// What is there, or nothing within a moment; `None` at the end of a pipe.
    fn look(&mut self, buffer: &mut [u8]) -> std::io::Result<Option<usize>> {
        match &mut self.source {
            Source::File(file) => {
                // In this order: whoever takes a log away may have written its last rows just
                // before.
                let (mut fault, is_abandoned) = (file.overwritten(), file.abandoned());
                let n = if fault.is_none() { file.read(buffer)? } else { 0 };
                fault = fault.or(is_abandoned.filter(|_| n == 0));
                if fault.is_some() {
                    *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = fault;
                    self.is_cut = true;
                    return Ok(None);
                }
                if n == 0 {
                    std::thread::sleep(LOOK);
                }
                Ok(Some(n))
            }
            Source::Pipe(pieces, piece) => {
                let n = piece.read(buffer)?;
                if n > 0 {
                    return Ok(Some(n));
                }
                match pieces.recv_timeout(LOOK) {
                    Ok(next) => *piece = Cursor::new(next?),
                    Err(RecvTimeoutError::Timeout) => return Ok(Some(0)),
                    Err(RecvTimeoutError::Disconnected) => return Ok(None),
                }
                piece.read(buffer).map(Some)
            }
        }
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut idle = Duration::ZERO;
        while !self.is_over {
            let is_silent = self.idle_most.is_some_and(|most| idle >= most);
            if is_silent || self.stop.load(Ordering::Relaxed) {
                (self.is_over, self.is_cut) = (true, true);
                break;
            }
            match self.look(buffer)? {
                Some(0) => idle += LOOK,
                Some(n) => return Ok(n),
                None => self.is_over = true,
            }
        }
        Ok(0)
    }
}
