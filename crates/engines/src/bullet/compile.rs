//! The shim: its source goes in, a file that can be loaded comes out, compiled once and kept.
//!
//! Its name is a hash of the source, the compiler's version and flags, and Bullet's version,
//! so none is ever loaded that was made for something else. It is written beside its place and
//! renamed into it, so two processes may compile at once. Its last bytes are a hash of all
//! before, because loading half a file can end a process.

use std::fs::{self, File};
#[cfg(unix)]
use std::os::unix::{
    fs::{DirBuilderExt as _, MetadataExt as _},
    process::CommandExt as _,
};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use headland_base::Diagnostic;
use sha2::{Digest, Sha256};

use super::workshop::{LIBRARIES, Workshop};

/// What the shim is made from.
pub(super) const SOURCE: &str = include_str!("shim.cpp");

/// A compiler that has not finished by then is ended. It takes 2 s here.
pub(super) const LIMIT: Duration = Duration::from_secs(180);

/// How many lines of a compiler's complaint are shown.
const N_LINES_SHOWN: usize = 6;

/// Marks the end of a shim that was written to its end.
const SEAL: &[u8; 8] = b"HL SHIM1";

/// The file of the shim, compiled now if there is none or it is broken.
pub(super) fn shim_file(workshop: &Workshop, source: &str) -> Result<PathBuf, Diagnostic> {
    shim_file_within(workshop, source, LIMIT)
}

fn shim_file_within(
    workshop: &Workshop,
    source: &str,
    limit: Duration,
) -> Result<PathBuf, Diagnostic> {
    let path = workshop.cache.join(name(workshop, source));
    if workshop.is_makeshift {
        ensure_private(&workshop.cache).map_err(|error| unwritable(&workshop.cache, &error))?;
    }
    if !is_intact(&path) {
        fs::create_dir_all(&workshop.cache).map_err(|error| unwritable(&workshop.cache, &error))?;
        let bench = Bench::new(&workshop.cache)?;
        let made = compile(workshop, source, &bench, limit)?;
        seal(&made)
            .and_then(|()| fs::rename(&made, &path))
            .map_err(|error| unwritable(&path, &error))?;
    }
    Ok(path)
}

/// Where everybody may write, only a folder that is ours alone is trusted with what is loaded.
#[cfg(unix)]
fn ensure_private(folder: &Path) -> std::io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(folder)?;
    let is_ours = found.uid() == rustix::process::geteuid().as_raw();
    if found.is_dir() && is_ours && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(std::io::Error::other("it is open to others, or theirs"))
}

#[cfg(not(unix))]
fn ensure_private(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

fn name(workshop: &Workshop, source: &str) -> String {
    let mut hash = Sha256::new();
    let version = workshop.version.to_string();
    let include = workshop.include.display().to_string();
    let compiler = workshop.compiler.join(" ");
    for part in [source, &compiler, &workshop.compiler_version, &version, &include] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    flags(workshop).iter().for_each(|flag| hash.update(flag));
    let hex: String = hash.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect();
    format!("bullet-{}-{hex}.so", workshop.version_text())
}

/// `-ffp-contract=off`: a fused multiplication rounds once instead of twice, and not on every
/// machine.
fn flags(workshop: &Workshop) -> Vec<String> {
    let mut out: Vec<String> =
        ["-std=c++14", "-O2", "-shared", "-fPIC", "-ffp-contract=off", "-DBT_USE_DOUBLE_PRECISION"]
            .map(str::to_string)
            .to_vec();
    out.push(format!("-I{}", workshop.include.display()));
    out
}

/// A folder of its own to work in, gone afterwards.
struct Bench(PathBuf);

impl Bench {
    fn new(cache: &Path) -> Result<Bench, Diagnostic> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = cache.join(format!(".compiling-{}-{n}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        Ok(Bench(folder))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // What is left behind is a few kilobytes in a cache.
        _ = fs::remove_dir_all(&self.0);
    }
}

fn compile(
    workshop: &Workshop,
    source: &str,
    bench: &Bench,
    limit: Duration,
) -> Result<PathBuf, Diagnostic> {
    let (input, output, words) =
        (bench.0.join("shim.cpp"), bench.0.join("shim.so"), bench.0.join("words"));
    let unwritable = |error| unwritable(&bench.0, &error);
    fs::write(&input, source).map_err(unwritable)?;
    let said = File::create(&words).map_err(unwritable)?;
    let (program, arguments) = workshop.compiler.split_first().expect("a compiler has a name");
    let mut command = Command::new(program);
    command.args(arguments).args(flags(workshop)).arg(&input).arg("-o").arg(&output);
    command.arg(format!("-L{}", workshop.lib.display()));
    command.arg(format!("-Wl,-rpath,{}", workshop.lib.display()));
    command.args(LIBRARIES.map(|library| format!("-l{library}")));
    // The compiler's own folder for what it keeps in between is the one that is tidied up.
    command.env("TMPDIR", &bench.0).env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    // What it starts, a linker for one, is to end with it.
    #[cfg(unix)]
    command.process_group(0);
    crate::pipe::die_with_us(&mut command);
    let line = shown(&command);
    let child = command.spawn().map_err(|error| refused(&line, &format!("cannot run: {error}")))?;
    match wait(child, limit) {
        None => {
            Err(refused(&line, &format!("the compiler took more than {} s", limit.as_secs_f64())))
        }
        Some(status) if status.success() && output.exists() => Ok(output),
        Some(status) => {
            let words = fs::read(&words).unwrap_or_default();
            Err(complaint(&line, status, &String::from_utf8_lossy(&words)))
        }
    }
}

/// How it ended; nothing where it was ended after the limit.
fn wait(mut child: Child, limit: Duration) -> Option<ExitStatus> {
    let slice = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if waited >= limit {
            end(&mut child);
            return None;
        }
        std::thread::sleep(slice);
        waited += slice;
    }
}

/// Ends it with all it started. It may have ended by itself just now; either way it is no more.
fn end(child: &mut Child) {
    // It is in its group until it is reaped, so nobody else's group is hit.
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    _ = child.kill();
    _ = child.wait();
}

/// The command as a shell takes it.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn complaint(line: &str, status: ExitStatus, words: &str) -> Diagnostic {
    let of_errors = words.lines().filter(|line| line.contains("error") || line.contains("ld:"));
    let mut lines: Vec<&str> = of_errors.take(N_LINES_SHOWN).collect();
    if lines.is_empty() {
        lines = words.lines().take(N_LINES_SHOWN).collect();
    }
    let first = lines.first().map_or(String::new(), |first| format!(": {first}"));
    let mut out = refused(line, &format!("the compiler ended with {status}{first}"));
    for line in lines {
        out = out.note(line);
    }
    out
}

fn refused(line: &str, why: &str) -> Diagnostic {
    Diagnostic::error("engine-shim", format!("the shim of Bullet does not compile: {why}"))
        .note(format!("the command was: {line}"))
        .help("CXX names another compiler, HEADLAND_BULLET another folder with include and lib")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("the shim of Bullet cannot be kept in {}: {error}", path.display());
    Diagnostic::error("engine-shim", message).help("HEADLAND_CACHE names a folder for it")
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Appends a hash of all there is; a loader reads nothing behind what it looks for.
fn seal(path: &Path) -> std::io::Result<()> {
    let mut bytes = fs::read(path)?;
    let hash = digest(&bytes);
    bytes.extend_from_slice(SEAL);
    bytes.extend_from_slice(&hash);
    fs::write(path, bytes)
}

fn is_intact(path: &Path) -> bool {
    let Ok(bytes) = fs::read(path) else {
        return false;
    };
    let Some((rest, hash)) = bytes.split_last_chunk::<32>() else {
        return false;
    };
    rest.strip_suffix(SEAL).is_some_and(|body| digest(body) == *hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bullet::workshop::Surroundings;

    /// A workshop with a cache of its own, where Bullet and a compiler are.
    fn workshop(cache: &Path) -> Option<Workshop> {
        let mut around = Surroundings::of_this_process();
        around.cache = Some(cache.to_path_buf());
        let found = Workshop::find(&around);
        let must = std::env::var_os("HEADLAND_REQUIRE_FOREIGN").is_some();
        assert!(found.is_ok() || !must, "{found:?}");
        found.inspect_err(|unusable| eprintln!("skipped: {}", unusable.why)).ok()
    }

    #[test]
    fn a_shim_that_does_not_compile_says_the_first_errors_and_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let Some(workshop) = workshop(folder.path()) else { return };
        let said = shim_file(&workshop, "int main( { return oops; }\n").unwrap_err();
        assert_eq!(said.code, "engine-shim");
        assert!(said.notes.iter().any(|note| note.contains("-DBT_USE_DOUBLE_PRECISION")));
        assert!(said.notes.iter().any(|note| note.contains("error")), "{said:?}");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "nothing is left behind");
    }

    #[test]
    fn a_compiler_that_never_ends_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let script = format!("sleep 600 & echo $$ $! > {}; wait", pids.display());
        let workshop = Workshop {
            compiler: ["sh", "-c", &script].map(str::to_string).to_vec(),
            compiler_version: "1".into(),
            include: folder.path().into(),
            lib: folder.path().into(),
            version: 324,
            cache: folder.path().join("cache"),
            is_makeshift: false,
        };
        let said = shim_file_within(&workshop, "", Duration::from_millis(500)).unwrap_err();
        assert!(said.message.contains("took more than 0.5 s"), "{}", said.message);
        let pids = fs::read_to_string(&pids).unwrap();
        assert_eq!(pids.split_whitespace().count(), 2);
        for pid in pids.split_whitespace() {
            // Who is dead and not yet buried has an empty command line.
            let alive = || fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|it| !it.is_empty());
            let is_gone = (0..200).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                !alive()
            });
            assert!(is_gone, "{pid} is still there");
        }
    }

    /// In a folder where everybody may write, ours is ours alone, or it is not used.
    #[cfg(unix)]
    #[test]
    fn a_makeshift_cache_is_private_or_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        ensure_private(&cache).unwrap();
        ensure_private(&cache).unwrap();
        assert_eq!(fs::metadata(&cache).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(ensure_private(&cache).unwrap_err().to_string().contains("open to others"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert!(ensure_private(&link).is_err(), "a link may lead anywhere");
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let Some(workshop) = workshop(&file.join("cache")) else { return };
        let said = shim_file(&workshop, SOURCE).unwrap_err();
        assert!(said.code == "engine-shim" && said.message.contains("cannot be kept"), "{said:?}");
    }

    /// Cut short, changed in the middle, or not a library at all: it is made again, once.
    #[test]
    fn a_broken_shim_is_made_again_and_a_whole_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let Some(workshop) = workshop(folder.path()) else { return };
        let source = "extern \"C\" int answer() { return 42; }\n";
        let path = shim_file(&workshop, source).unwrap();
        let whole = fs::read(&path).unwrap();
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        for broken in [whole[..whole.len() / 2].to_vec(), changed, b"no library".to_vec()] {
            fs::write(&path, &broken).unwrap();
            assert_eq!(shim_file(&workshop, source).unwrap(), path);
            assert!(is_intact(&path));
        }
        // One that is made again is another file in the same place, without this mark.
        let age = || fs::metadata(&path).unwrap().modified().unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        assert_eq!(shim_file(&workshop, source).unwrap(), path);
        assert_eq!(age(), long_ago, "the one that is kept is taken");
        let other = shim_file(&workshop, "extern \"C\" int answer() { return 43; }\n").unwrap();
        assert_ne!(other, path, "another source has another name");
    }

    #[test]
    fn two_may_compile_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let Some(workshop) = workshop(folder.path()) else { return };
        let source = "extern \"C\" int both() { return 2; }\n";
        std::thread::scope(|scope| {
            let all: Vec<_> =
                (0..3).map(|_| scope.spawn(|| shim_file(&workshop, source).unwrap())).collect();
            let paths: Vec<PathBuf> = all.into_iter().map(|one| one.join().unwrap()).collect();
            assert!(paths.iter().all(|path| *path == paths[0] && is_intact(path)));
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
