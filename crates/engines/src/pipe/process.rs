//! A child process that answers a line with a line, and what becomes of one that does not.
//!
//! ```text
//! line ─ exchange ─► the child's stdin      its stdout ─► the reply, at most MAX_LINE long
//!                                           its stderr ─► a bounded tail, for messages
//! ```
//!
//! One thread serves all three pipes with `poll`, so a child that will not read, will not
//! write, writes without end or drips is ended when its time is over. The child leads a
//! process group of its own, and what is left of the group is killed with it.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, set_parent_process_death_signal, waitid,
};

use super::reply::Wrong;

/// A line longer than this is no reply \[bytes\]: room for a hundred thousand rigids.
const MAX_LINE: usize = 64 << 20;

/// What is kept of stderr \[bytes\].
const MAX_TAIL: usize = 4096;

/// How long a child may take to go by itself once it was told to.
const FAREWELL: Duration = Duration::from_millis(500);

/// A running child.
pub(super) struct Process {
    child: Child,
    /// Gone once it was told to go.
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    /// What came on stdout and is no whole line yet, or was not asked for.
    pending: Vec<u8>,
    /// How much of `pending` is known to hold no end of line.
    searched: usize,
    tail: Vec<u8>,
    is_reaped: bool,
    was_silent: bool,
}

impl Process {
    /// Starts a program with its three streams as pipes.
    pub(super) fn start(mut command: Command) -> Result<Process, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        die_with_us(&mut command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("`{program}` does not start: {error}"))?;
        let stdin = child.stdin.take().expect("piped above");
        let stdout = child.stdout.take().expect("piped above");
        let stderr = child.stderr.take().expect("piped above");
        let unblocked = unblock(&stdin).and_then(|()| unblock(&stdout)).and(unblock(&stderr));
        let process = Process {
            child,
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            pending: Vec::new(),
            searched: 0,
            tail: Vec::new(),
            is_reaped: false,
            was_silent: false,
        };
        // After `process` is whole, so that a failure here ends the child too.
        unblocked.map_err(|error| format!("the pipes of `{program}`: {error}"))?;
        Ok(process)
    }

    /// Sends `line` (with its end) and waits for a line, which `read` gets without its end.
    /// The error says what was seen instead, and the child is gone then.
    pub(super) fn exchange<T>(
        &mut self,
        line: &[u8],
        patience: Duration,
        read: impl FnOnce(&[u8]) -> Result<T, Wrong>,
    ) -> Result<T, String> {
        // Taken for the answer to this line, it would be a step behind from now on.
        if self.has_line() && !line.is_empty() {
            let seen = format!("it said {} before it was asked", excerpt(&self.pending));
            return Err(self.give_up(&seen));
        }
        let end = match self.wait_for_line(line, patience) {
            Ok(end) => end,
            Err(seen) => return Err(self.give_up(&seen)),
        };
        let reply = read(&self.pending[..end]);
        let out = match reply {
            Ok(out) => out,
            Err(Wrong::Told(words)) => return Err(self.give_up(&words)),
            Err(Wrong::Seen(what)) => {
                let seen = format!("{what}; it said {}", excerpt(&self.pending[..end]));
                return Err(self.give_up(&seen));
            }
        };
        self.pending.drain(..=end);
        self.searched = 0;
        Ok(out)
    }

    fn has_line(&self) -> bool {
        self.pending.contains(&b'\n')
    }

    /// Where the next line ends in `pending`, once all of `line` is sent.
    fn wait_for_line(&mut self, line: &[u8], patience: Duration) -> Result<usize, String> {
        #[expect(clippy::disallowed_methods, reason = "a time limit; it reaches no recording")]
        let now = Instant::now;
        let end =
            now().checked_add(patience).unwrap_or_else(|| now() + Duration::from_secs(1 << 30));
        let (mut to_send, mut is_last_look) = (line, false);
        loop {
            // Most children read first and answer then, so nothing waits in the usual case.
            if !to_send.is_empty() {
                let stdin = self.stdin.as_mut().expect("open until the end");
                match stdin.write(to_send) {
                    Ok(n) => to_send = &to_send[n..],
                    Err(error) if is_not_now(&error) => {}
                    Err(_) => return Err(self.ended("stopped reading")),
                }
            }
            if to_send.is_empty()
                && let Some(i) = self.pending[self.searched..].iter().position(|b| *b == b'\n')
            {
                return Ok(self.searched + i);
            }
            if to_send.is_empty() {
                self.searched = self.pending.len();
            }
            if self.pending.len() > MAX_LINE {
                let mebibytes = MAX_LINE >> 20;
                let start = excerpt(&self.pending);
                return Err(format!(
                    "it wrote more than {mebibytes} MiB without an end of line, beginning with {start}"
                ));
            }
            let left = end.saturating_duration_since(now());
            if left.is_zero() && std::mem::replace(&mut is_last_look, true) {
                self.was_silent = true;
                return Err(self.silence(!to_send.is_empty(), patience));
            }
            // Where we were stopped meanwhile, the answer may be there: nobody is given up
            // without a last look.
            self.wait(!to_send.is_empty(), left)?;
        }
    }

    /// What to say when the time is over.
    fn silence(&self, is_sending: bool, patience: Duration) -> String {
        let secs = patience.as_secs_f64();
        if let Some(how) = self.wait_for_end(Duration::from_millis(2)) {
            return format!("it ended with {how}, and what it started holds its pipe open");
        }
        let what = match (is_sending, self.pending.is_empty()) {
            (true, _) => "did not read what it was told".to_string(),
            (false, true) => "did not answer".to_string(),
            (false, false) => {
                format!("did not end its line, which begins with {},", excerpt(&self.pending))
            }
        };
        format!("it {what} within {secs} s")
    }

    /// Whether it was given up because it did not answer.
    pub(super) fn was_silent(&self) -> bool {
        self.was_silent
    }

    /// Waits until a pipe has something, or `left` is over, and takes what there is.
    fn wait(&mut self, is_sending: bool, left: Duration) -> Result<(), String> {
        let limit = Timespec::try_from(left).ok();
        let (mut can_read, mut can_hear) = (false, false);
        {
            let mut fds = vec![PollFd::new(&self.stdout, PollFlags::IN)];
            if let Some(stderr) = &self.stderr {
                fds.push(PollFd::new(stderr, PollFlags::IN));
            }
            if is_sending && let Some(stdin) = &self.stdin {
                fds.push(PollFd::new(stdin, PollFlags::OUT));
            }
            match poll(&mut fds, limit.as_ref()) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => return Ok(()),
                Err(error) => return Err(format!("waiting for it failed: {error}")),
            }
            can_read |= !fds[0].revents().is_empty();
            can_hear |= self.stderr.is_some() && !fds[1].revents().is_empty();
        }
        if can_hear {
            self.hear();
        }
        if can_read {
            let mut chunk = [0; 64 << 10];
            match self.stdout.read(&mut chunk) {
                Ok(0) => return Err(self.ended("closed its end of the pipe")),
                Ok(n) => self.pending.extend_from_slice(&chunk[..n]),
                Err(error) if is_not_now(&error) => {}
                Err(error) => return Err(format!("reading from it failed: {error}")),
            }
        }
        Ok(())
    }

    /// Takes what stderr has now and keeps the end of it.
    fn hear(&mut self) {
        let mut chunk = [0; 4096];
        let Some(stderr) = &mut self.stderr else { return };
        match stderr.read(&mut chunk) {
            Ok(0) => self.stderr = None,
            Ok(n) => {
                self.tail.extend_from_slice(&chunk[..n]);
                let surplus = self.tail.len().saturating_sub(MAX_TAIL);
                self.tail.drain(..surplus);
            }
            Err(error) if is_not_now(&error) => {}
            Err(_) => self.stderr = None,
        }
    }

    /// What to say of a child that stopped doing its part: how it ended, if it did.
    fn ended(&mut self, did: &str) -> String {
        match self.wait_for_end(FAREWELL) {
            Some(how) => format!("it ended with {how}"),
            None => format!("it {did}"),
        }
    }

    /// Ends the child; what was seen, with the last words of its stderr.
    fn give_up(&mut self, seen: &str) -> String {
        self.kill();
        for _ in 0..64 {
            self.hear(); // whatever is still in the pipe, and no more than that
        }
        let words = self.last_words();
        if words.is_empty() { seen.to_string() } else { format!("{seen}\nit wrote: {words}") }
    }

    /// The end of what it wrote to stderr.
    pub(super) fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.tail);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }

    /// How it ended, if it does within a while. It is not reaped, so its number stays its own.
    fn wait_for_end(&self, patience: Duration) -> Option<String> {
        let pid = self.pid()?;
        let nap = Duration::from_millis(2);
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        for _ in 0..patience.as_millis().div_ceil(nap.as_millis()) {
            if let Ok(Some(status)) = waitid(WaitId::Pid(pid), look) {
                return Some(match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => format!("exit code {code}"),
                    (None, Some(signal)) => format!("signal {signal}"),
                    (None, None) => "no word why".to_string(),
                });
            }
            std::thread::sleep(nap);
        }
        None
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }

    /// Kills the child with all it started, and reaps it.
    fn kill(&mut self) {
        if std::mem::replace(&mut self.is_reaped, true) {
            return;
        }
        // The child is in its group until it is reaped, so nobody else's group is hit.
        if let Some(pid) = self.pid() {
            _ = kill_process_group(pid, Signal::KILL);
        }
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Drop for Process {
    /// Says goodbye, waits a little, and leaves nothing running.
    fn drop(&mut self) {
        if let Some(mut stdin) = self.stdin.take() {
            _ = stdin.write_all(b"{\"do\":\"bye\"}\n");
        }
        if !self.is_reaped {
            self.wait_for_silence();
        }
        self.kill();
    }
}

impl Process {
    /// Waits until the child closed its stdout, which it does by ending, at most [`FAREWELL`].
    fn wait_for_silence(&mut self) {
        #[expect(clippy::disallowed_methods, reason = "a time limit; it reaches no recording")]
        let now = Instant::now;
        let end = now() + FAREWELL;
        loop {
            let mut fds = [PollFd::new(&self.stdout, PollFlags::IN)];
            let limit = Timespec::try_from(end.saturating_duration_since(now())).ok();
            if !matches!(poll(&mut fds, limit.as_ref()), Ok(n) if n > 0) {
                return;
            }
            let mut chunk = [0; 4096];
            if matches!(self.stdout.read(&mut chunk), Ok(0) | Err(_)) {
                return;
            }
        }
    }
}

/// Where headland is killed and can end nobody any more, the system ends the child.
#[expect(unsafe_code, reason = "nothing else runs between fork and exec")]
pub(crate) fn die_with_us(command: &mut Command) {
    #[cfg(target_os = "linux")]
    // SAFETY: one system call, which touches no memory.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

fn unblock(pipe: &impl AsFd) -> rustix::io::Result<()> {
    fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)
}

fn is_not_now(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// The start of a line, for a message.
fn excerpt(line: &[u8]) -> String {
    const N_SHOWN: usize = 160;
    let text = String::from_utf8_lossy(&line[..line.len().min(N_SHOWN)]);
    let more = if line.len() > N_SHOWN { "…" } else { "" };
    // As it is: whoever shows it escapes what has to be, and twice is once too often.
    let plain: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("`{}{more}`", plain.trim_end_matches('\u{fffd}'))
}
