//! Text files line by line, with a limit on how long a line may be.
//!
//! One line is held at a time. Where a file is no text, or has no line ends, that ends with a
//! finding and not with the memory.

use std::io::{BufRead, Read};

use headland_base::{Diagnostic, Findings};

/// A table of ten thousand columns has lines of some hundred kilobytes.
const LINE_BYTES_MAX: u64 = 8 << 20;

/// So many faults of one kind are named with their lines; of the others nobody learns more.
pub(crate) const FEW: usize = 5;

/// One line without its end.
pub(crate) struct Line<'a> {
    /// From 1.
    pub number: usize,
    pub text: &'a str,
    /// A line end follows; the last line of a file that was cut has none.
    pub has_end: bool,
}

pub(crate) struct Lines<R> {
    input: R,
    name: String,
    number: usize,
    /// The line at hand, where it had to be mended.
    text: String,
    bytes: Vec<u8>,
    is_done: bool,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R, name: &str) -> Lines<R> {
        Lines {
            input,
            name: name.to_string(),
            number: 0,
            text: String::new(),
            bytes: Vec::new(),
            is_done: false,
        }
    }

    /// The next line. One that is too long or cannot be read ends the file with a finding;
    /// letters that are no UTF-8 are marked.
    pub fn next(&mut self, findings: &mut Findings) -> Option<Line<'_>> {
        if self.is_done {
            return None;
        }
        self.number += 1;
        self.bytes.clear();
        let got = (&mut self.input).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.bytes);
        let fault = match got {
            Ok(0) => {
                self.is_done = true;
                return None;
            }
            Ok(n) if n as u64 == LINE_BYTES_MAX && self.bytes.last() != Some(&b'\n') => {
                format!("it is longer than {LINE_BYTES_MAX} bytes")
            }
            Ok(_) => {
                let text = match std::str::from_utf8(&self.bytes) {
                    Ok(text) => text,
                    Err(_) => {
                        self.text = String::from_utf8_lossy(&self.bytes).into_owned();
                        &self.text
                    }
                };
                // A byte order mark is no part of the first name.
                let text = text.trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}');
                let has_end = matches!(self.bytes.last(), Some(b'\n' | b'\r'));
                return Some(Line { number: self.number, text, has_end });
            }
            Err(fault) => fault.to_string(),
        };
        self.is_done = true;
        let message = format!("cannot read line {} of `{}`: {fault}", self.number, self.name);
        findings.push(Diagnostic::error("read-failed", message));
        None
    }
}
