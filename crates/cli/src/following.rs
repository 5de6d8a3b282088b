//! Tables that still grow: rows as they come, and figures while they do.
//!
//! A thread reads, from standard input or from the end of a file that others write to, and hands
//! rows over through a bounded queue. Where the model cannot follow, rows of standard input that
//! find the queue full are lost and counted, so that nobody upstream is held up; a file waits.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use headland_base::{Diagnostic, Findings, SimDuration, SimTime};
use headland_judge::compare::Running;
use headland_record::csv::{NumberChoice, NumberColumn, read_numbers};
use headland_report::{Align, count};
use headland_validate::Live;
use serde_json::json;

use crate::context::{Context, is_stdout, to_stderr};
use crate::progress::Progress;

/// Rows that wait at most: a minute at a kilohertz.
const MOST_WAITING: usize = 60_000;
/// How long one looks for more before the figures are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How often figures are shown \[s\].
const SHOW_SECS: f64 = 1.0;
/// Names a column of times has.
const TIME_NAMES: [&str; 5] = ["time", "t", "timestamp", "__time", "stamp"];

enum Said {
    Header(Vec<String>),
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

/// Rows of a table as they come.
pub struct Rows {
    said: Receiver<Said>,
    n_lost: Arc<AtomicU64>,
    findings: Findings,
}

impl Rows {
    /// Opens a table that grows, or standard input; it ends when `stop` is set, or when nothing
    /// has come for as long as `idle_most`.
    pub fn open(
        path: &Path,
        idle_most: Option<SimDuration>,
        stop: Arc<AtomicBool>,
    ) -> Result<Rows, Vec<Diagnostic>> {
        let name =
            if is_stdout(path) { "standard input".into() } else { path.display().to_string() };
        let is_stdin = is_stdout(path);
        let idle_most = idle_most.map(|most| Duration::from_nanos(most.nanos().unsigned_abs()));
        let input: Box<dyn BufRead + Send> = match is_stdin {
            true => Box::new(BufReader::new(std::io::stdin())),
            false => {
                let file = File::open(path).map_err(|fault| {
                    let message = format!("cannot open `{name}`: {fault}");
                    vec![Diagnostic::error("missing-file", message)]
                })?;
                Box::new(BufReader::new(Growing { file, idle_most, stop }))
            }
        };
        let (sender, said) = sync_channel(MOST_WAITING);
        let n_lost = Arc::new(AtomicU64::new(0));
        let lost = Arc::clone(&n_lost);
        std::thread::spawn(move || read(input, &name, is_stdin, &sender, &lost));
        Ok(Rows { said, n_lost, findings: Findings::new() })
    }

    /// The keys of its columns but the time; waits for them.
    pub fn header(&mut self) -> Result<Vec<String>, Vec<Diagnostic>> {
        match self.said.recv() {
            Ok(Said::Header(keys)) => Ok(keys),
            Ok(Said::End(findings)) => Err(findings.into_vec()),
            _ => Err(vec![Diagnostic::error("empty-table", "the table has no header")]),
        }
    }

    /// The next row, or none within a moment.
    pub fn next(&mut self) -> Next {
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

    /// Rows that found the queue full.
    pub fn n_lost(&self) -> u64 {
        self.n_lost.load(Ordering::Relaxed)
    }

    /// What was wrong with rows.
    pub fn findings(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }
}

/// Reads to the end, and hands on.
fn read(
    input: Box<dyn BufRead + Send>,
    name: &str,
    may_lose: bool,
    to: &SyncSender<Said>,
    n_lost: &AtomicU64,
) {
    let choose = |columns: &[NumberColumn]| {
        let is_time =
            |column: &NumberColumn| TIME_NAMES.contains(&column.name.to_lowercase().as_str());
        let time = columns.iter().position(is_time).ok_or_else(|| {
            let message = format!("`{name}` has no column of times");
            Diagnostic::error("no-time-column", message).help("name the first column `time`")
        })?;
        let others = (0..columns.len()).filter(|column| *column != time);
        let numbers: Vec<usize> = std::iter::once(time).chain(others).collect();
        let keys = numbers[1..].iter().map(|column| columns[*column].name.clone()).collect();
        _ = to.send(Said::Header(keys));
        Ok(NumberChoice { numbers, word: None })
    };
    let (_, findings) = read_numbers(input, name, choose, |row| {
        let Some(time) = SimTime::from_secs(row.numbers[0]) else { return };
        let said = Said::Row(time, row.numbers[1..].to_vec());
        match may_lose {
            true => {
                if to.try_send(said).is_err() {
                    n_lost.fetch_add(1, Ordering::Relaxed);
                }
            }
            // Nobody listens any more where the command has ended.
            false => _ = to.send(said),
        }
    });
    _ = to.send(Said::End(findings));
}

/// A file that others write to: its end is only the end of what is there so far.
struct Growing {
    file: File,
    idle_most: Option<Duration>,
    stop: Arc<AtomicBool>,
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut idle = Duration::ZERO;
        loop {
            let n = self.file.read(buffer)?;
            let is_over = self.idle_most.is_some_and(|most| idle >= most);
            if n > 0 || is_over || self.stop.load(Ordering::Relaxed) {
                return Ok(n);
            }
            std::thread::sleep(LOOK);
            idle += LOOK;
        }
    }
}

/// Shows figures now and then: a line that is written over on a terminal, else one a second.
pub struct Figures<'c> {
    context: &'c Context,
    clock: Progress,
    shown_at: f64,
    is_terminal: bool,
}

impl<'c> Figures<'c> {
    /// Nothing shown yet.
    pub fn new(context: &'c Context) -> Figures<'c> {
        let is_terminal = std::io::stderr().is_terminal() && !context.json();
        Figures { context, clock: Progress::new(false, None), shown_at: 0.0, is_terminal }
    }

    /// Shows them where it is time.
    pub fn show(&mut self, live: &Live, n_lost: u64) {
        let now = self.clock.secs();
        if now - self.shown_at < SHOW_SECS || live.n_rows() == 0 {
            return;
        }
        self.shown_at = now;
        match (self.context.json(), self.is_terminal) {
            (true, _) => self.context.print(&format!("{}\n", as_json(live, n_lost))),
            (false, true) => to_stderr(&format!("\r\u{1b}[K{}", line(live, n_lost))),
            (false, false) => self.context.say(&line(live, n_lost)),
        }
    }

    /// Shows the last of them.
    pub fn finish(&self, live: &Live, n_lost: u64) {
        if self.is_terminal {
            to_stderr("\r\u{1b}[K");
        }
        self.context.print(&match self.context.json() {
            true => format!("{}\n", as_json(live, n_lost)),
            false => table(live, n_lost),
        });
    }
}

/// Keys of a line; more do not fit.
const MOST_IN_A_LINE: usize = 4;

fn line(live: &Live, n_lost: u64) -> String {
    let time = live.latest().unwrap_or(SimTime::ZERO);
    let mut out = format!("{time}: {}", count(live.n_rows(), "row"));
    for (key, running) in live.keys().iter().zip(live.figures()).take(MOST_IN_A_LINE) {
        if let Some(rmse) = running.rmse() {
            out += &format!(", {key} rmse {rmse:.4}");
        }
    }
    if n_lost > 0 {
        out += &format!(", {n_lost} lost");
    }
    out
}

fn table(live: &Live, n_lost: u64) -> String {
    let names = ["n", "bias", "mae", "rmse", "max_abs", "max_abs_at"];
    let mut head = vec![("key", Align::Left)];
    head.extend(names.map(|name| (name, Align::Right)));
    let row = |(key, running): (&String, &Running)| {
        let (most, at) = running.max_abs.unwrap_or_default();
        let numbers = [running.bias, running.mae, running.rmse().unwrap_or_default(), most];
        let cell = |value: f64| if running.n > 0 { format!("{value:.6}") } else { "-".into() };
        let mut row = vec![key.clone(), running.n.to_string()];
        row.extend(numbers.map(cell));
        row.push(if running.n > 0 { at.to_string() } else { "-".into() });
        row
    };
    let rows: Vec<Vec<String>> = live.keys().iter().zip(live.figures()).map(row).collect();
    headland_report::table(&head, &rows) + &losses(live, n_lost)
}

fn losses(live: &Live, n_lost: u64) -> String {
    let dropped = live.dropped();
    let all = [
        (n_lost, "lost: they came faster than the model could follow"),
        (dropped.n_duplicate as u64, "left out: at the time of the one before"),
        (dropped.n_backward as u64, "left out: earlier than the one before"),
    ];
    let said = all.iter().filter(|(n, _)| *n > 0);
    said.map(|(n, why)| format!("{} {why}\n", count(*n, "row"))).collect()
}

fn as_json(live: &Live, n_lost: u64) -> serde_json::Value {
    let keys = live.keys().iter().zip(live.figures()).map(|(key, running)| {
        json!({
            "key": key, "n": running.n, "bias": running.bias, "mae": running.mae,
            "rmse": running.rmse(), "max_abs": running.max_abs.map(|(most, _)| most),
            "max_abs_at": running.max_abs.map(|(_, at)| at.secs()), "last": running.last,
        })
    });
    let dropped = live.dropped();
    json!({
        "time": live.latest().map(SimTime::secs), "rows": live.n_rows(), "lost": n_lost,
        "duplicate": dropped.n_duplicate, "backward": dropped.n_backward,
        "keys": keys.collect::<Vec<_>>(),
    })
}
