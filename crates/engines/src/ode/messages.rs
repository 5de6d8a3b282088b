//! What ODE says while it works. It has three handlers, C functions with a format and its
//! arguments: messages are kept and told, errors and failed assertions end the process, because
//! ODE does not go on after them and nothing may unwind through it.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::EXIT_FATAL;

/// `dMessageFunction`. A `va_list` is the address of something on every platform we know: of
/// a record that C passes by address (x86-64, AArch64 Linux), or it is an address itself.
pub(super) type Handler = unsafe extern "C" fn(c_int, *const c_char, *mut c_void);

/// How often each message came since somebody asked, by its format, and how it read first.
static HEARD: Mutex<BTreeMap<String, (u64, String)>> = Mutex::new(BTreeMap::new());

#[cfg(unix)]
unsafe extern "C" {
    /// Of the C library every Rust program on a Unix is linked with.
    fn vsnprintf(out: *mut c_char, n: usize, format: *const c_char, args: *mut c_void) -> c_int;
}

/// A message: kept until [`Counts::take`].
pub(super) unsafe extern "C" fn heard(_: c_int, format: *const c_char, args: *mut c_void) {
    // SAFETY: ODE hands over a string and the arguments it names.
    let (format, text) = unsafe { words(format, args) };
    lock().entry(format).or_insert((0, text)).0 += 1;
}

/// An error: told on stderr, and the process ends.
pub(super) unsafe extern "C" fn fatal(number: c_int, format: *const c_char, args: *mut c_void) {
    // SAFETY: as above.
    let (_, text) = unsafe { words(format, args) };
    eprintln!("ODE broke and does not return: {text} (error {number})");
    std::process::exit(EXIT_FATAL);
}

/// The format, and the text it makes of its arguments.
unsafe fn words(format: *const c_char, args: *mut c_void) -> (String, String) {
    if format.is_null() {
        return ("(nothing)".to_string(), "(nothing)".to_string());
    }
    // SAFETY: ODE's formats are constant strings.
    let said = unsafe { CStr::from_ptr(format) }.to_string_lossy().trim().to_string();
    #[cfg(unix)]
    let text = {
        let mut buffer = [0u8; 512];
        // SAFETY: the buffer is as long as it says; the arguments are those of the format.
        unsafe { vsnprintf(buffer.as_mut_ptr().cast(), buffer.len(), format, args) };
        let text = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
        text.to_string_lossy().trim().to_string()
    };
    #[cfg(not(unix))]
    let text = {
        let _ = args;
        said.clone()
    };
    (said, text)
}

fn lock() -> MutexGuard<'static, BTreeMap<String, (u64, String)>> {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What one engine has heard so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    by_format: BTreeMap<String, u64>,
}

impl Counts {
    /// Forgets what was said to nobody.
    pub(super) fn clear() {
        lock().clear();
    }

    /// What there is to tell after a step: each message when it first comes, and how often it
    /// came whenever that has another digit.
    pub(super) fn take(&mut self) -> Vec<String> {
        let mut heard = lock();
        if heard.is_empty() {
            return Vec::new();
        }
        let mut out = Vec::new();
        for (format, (n, text)) in std::mem::take(&mut *heard) {
            let total = self.by_format.entry(format).or_default();
            let before = *total;
            *total += n;
            if before == 0 {
                out.push(format!("ODE says: {text}"));
            } else if total.ilog10() > before.ilog10() {
                out.push(format!("ODE says, {total} times by now: {text}"));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ode::ffi::{self, Turn};
    use libloading::{Library, Symbol};

    /// `dError` and `dMessage`: a number, a format, and what it names.
    type Say = unsafe extern "C" fn(c_int, *const c_char, ...);

    /// Has ODE itself say something.
    fn have_said(name: &str, number: c_int) {
        let api = ffi::api().expect("it is there");
        let _turn = Turn::of(api).expect("a turn");
        // SAFETY: the library is open already; the arguments are those of the format.
        unsafe {
            let library = Library::new(&api.place).expect("opens again");
            let say: Symbol<'_, Say> = library.get(name.as_bytes()).expect("a function");
            say(number, c"%s of %d: %.2f\n".as_ptr(), c"part".as_ptr(), 3 as c_int, 2.5f64);
        }
    }

    #[test]
    fn a_message_is_formatted_and_told_by_its_digits() {
        if ffi::api().is_err() {
            return; // `tests/ode.rs` says so
        }
        let mut counts = Counts::default();
        Counts::clear();
        let mut told = Vec::new();
        for _ in 0..120 {
            have_said("dMessage", 1);
            told.extend(counts.take());
        }
        let mine: Vec<&String> = told.iter().filter(|text| text.contains("part of 3")).collect();
        assert_eq!(mine[0], "ODE says: part of 3: 2.50");
        assert_eq!(mine[1], "ODE says, 10 times by now: part of 3: 2.50");
        assert_eq!(mine[2], "ODE says, 100 times by now: part of 3: 2.50");
        assert_eq!(mine.len(), 3);
    }

    /// ODE's errors end the process that hears them: a child of this test.
    #[test]
    fn an_error_ends_the_process_with_its_words() {
        const CHILD: &str = "HEADLAND_TEST_ODE_BREAKS";
        if ffi::api().is_err() {
            return;
        }
        if std::env::var_os(CHILD).is_some() {
            have_said("dError", 7);
            unreachable!("ODE does not return from an error");
        }
        let name = "ode::messages::tests::an_error_ends_the_process_with_its_words";
        let output = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(EXIT_FATAL), "{said}");
        assert!(
            said.contains("ODE broke and does not return: part of 3: 2.50 (error 7)"),
            "{said}"
        );
    }
}
