//! Where Bullet and a C++ compiler are: an environment goes in, a workshop comes out, or why
//! there is none. Nothing is compiled here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use headland_sim::Unusable;

/// What of the outside matters, so that tests can bring their own.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    /// Compilers to try, each with its arguments.
    pub(super) compilers: Vec<String>,
    /// Folders that hold `include/bullet` and `lib`.
    pub(super) prefixes: Vec<PathBuf>,
    /// Where compiled shims are kept; a folder among everybody's temporary files where none
    /// is named.
    pub(super) cache: Option<PathBuf>,
}

impl Surroundings {
    pub(super) fn of_this_process() -> Surroundings {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let compilers = match var("CXX") {
            Some(given) => vec![given.to_string_lossy().into_owned()],
            None => ["c++", "g++", "clang++"].map(str::to_string).to_vec(),
        };
        let prefixes = match var("HEADLAND_BULLET") {
            Some(given) => vec![PathBuf::from(given)],
            None => ["/usr", "/usr/local", "/opt/homebrew"].map(PathBuf::from).to_vec(),
        };
        let cache = var("HEADLAND_CACHE")
            .map(PathBuf::from)
            .or_else(|| var("XDG_CACHE_HOME").map(|folder| Path::new(&folder).join("headland")))
            .or_else(|| var("HOME").map(|home| Path::new(&home).join(".cache/headland")));
        Surroundings { compilers, prefixes, cache }
    }
}

/// Everything a shim is made with.
#[derive(Clone, Debug)]
pub(super) struct Workshop {
    /// The compiler and its arguments.
    pub(super) compiler: Vec<String>,
    /// The first line it says of itself.
    pub(super) compiler_version: String,
    pub(super) include: PathBuf,
    pub(super) lib: PathBuf,
    /// Bullet's, as its header says it: 324 is 3.24.
    pub(super) version: u32,
    pub(super) cache: PathBuf,
    /// The cache lies where everybody may write.
    pub(super) is_makeshift: bool,
}

impl Workshop {
    /// Looks for Bullet first, then for a compiler: whoever lacks both hears of Bullet.
    pub(super) fn find(around: &Surroundings) -> Result<Workshop, Unusable> {
        let (include, lib, version) = find_bullet(&around.prefixes)?;
        let (compiler, compiler_version) = find_compiler(&around.compilers)?;
        let is_makeshift = around.cache.is_none();
        let cache = around.cache.clone().unwrap_or_else(makeshift_cache);
        Ok(Workshop { compiler, compiler_version, include, lib, version, cache, is_makeshift })
    }

    /// As Bullet writes it.
    pub(super) fn version_text(&self) -> String {
        version_text(self.version)
    }
}

/// One per user, so that two do not stand in each other's way.
fn makeshift_cache() -> PathBuf {
    #[cfg(unix)]
    let name = format!("headland_cache_{}", rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    let name = "headland_cache";
    tempfile::env::temp_dir().join(name)
}

fn version_text(version: u32) -> String {
    format!("{}.{:02}", version / 100, version % 100)
}

/// The libraries a shim is linked with, the one that needs the others first.
pub(super) const LIBRARIES: [&str; 3] =
    ["BulletDynamics-float64", "BulletCollision-float64", "LinearMath-float64"];

fn find_bullet(prefixes: &[PathBuf]) -> Result<(PathBuf, PathBuf, u32), Unusable> {
    let mut tried = Vec::new();
    for prefix in prefixes {
        let include = prefix.join("include/bullet");
        let header = include.join("LinearMath/btScalar.h");
        let Ok(text) = std::fs::read_to_string(&header) else {
            tried.push(header.display().to_string());
            continue;
        };
        let version = version_in(&text)
            .ok_or_else(|| format!("{} says no BT_BULLET_VERSION", header.display()))?;
        let lib = library_folder(prefix).ok_or_else(|| {
            format!(
                "{} is Bullet {}, but {} has no lib{}: headland needs the double-precision build",
                header.display(),
                version_text(version),
                prefix.join("lib").display(),
                LIBRARIES[0]
            )
        })?;
        return Ok((include, lib, version));
    }
    let why = format!("no headers of Bullet: there is no {}", tried.join(" nor "));
    Err(Unusable::absent(why))
}

/// `#define BT_BULLET_VERSION 324`.
fn version_in(header: &str) -> Option<u32> {
    let line = header.lines().find(|line| line.contains("#define BT_BULLET_VERSION"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// `lib`, `lib64`, or one of Debian's folders by machine.
fn library_folder(prefix: &Path) -> Option<PathBuf> {
    let mut folders = vec![prefix.join("lib"), prefix.join("lib64")];
    if let Ok(entries) = std::fs::read_dir(prefix.join("lib")) {
        let mut inner: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        inner.sort();
        folders.extend(inner);
    }
    let holds = |folder: &PathBuf| {
        ["so", "dylib", "a"]
            .iter()
            .any(|ending| folder.join(format!("lib{}.{ending}", LIBRARIES[0])).exists())
    };
    folders.into_iter().find(holds)
}

fn find_compiler(compilers: &[String]) -> Result<(Vec<String>, String), Unusable> {
    let mut why = Vec::new();
    for compiler in compilers {
        let words: Vec<String> = compiler.split_whitespace().map(str::to_string).collect();
        let Some((program, arguments)) = words.split_first() else {
            continue;
        };
        let said = Command::new(program)
            .args(arguments)
            .arg("--version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        match said {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let first = text.lines().next().unwrap_or_default().to_string();
                return Ok((words, first));
            }
            Ok(output) => why.push(format!("`{compiler} --version` ends with {}", output.status)),
            Err(error) => why.push(format!("`{compiler}`: {error}")),
        }
    }
    Err(Unusable::absent(format!("no C++ compiler for its shim: {}", why.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_its_version() {
        let text = "#pragma once\n/* Bullet */\n#define BT_BULLET_VERSION 324\n\ninline";
        assert_eq!(version_in(text), Some(324));
        assert_eq!(version_text(324), "3.24");
        assert_eq!(version_text(306), "3.06");
        assert_eq!(version_in("nothing"), None);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let around = |compiler: &str| Surroundings {
            compilers: vec![compiler.to_string()],
            prefixes: vec![folder.path().to_path_buf()],
            cache: Some(folder.path().join("cache")),
        };
        let why = Workshop::find(&around("c++")).unwrap_err().why;
        assert!(why.starts_with("no headers of Bullet") && why.contains("btScalar.h"), "{why}");

        let headers = folder.path().join("include/bullet/LinearMath");
        std::fs::create_dir_all(&headers).unwrap();
        std::fs::write(headers.join("btScalar.h"), "#define BT_BULLET_VERSION 289\n").unwrap();
        let why = Workshop::find(&around("c++")).unwrap_err().why;
        assert!(why.contains("Bullet 2.89") && why.contains("double-precision"), "{why}");

        std::fs::create_dir_all(folder.path().join("lib/x")).unwrap();
        std::fs::write(folder.path().join("lib/x/libBulletDynamics-float64.so"), "").unwrap();
        let why = Workshop::find(&around("headland-no-such-compiler")).unwrap_err().why;
        assert!(
            why.starts_with("no C++ compiler") && why.contains("headland-no-such-compiler"),
            "{why}"
        );
        let why = Workshop::find(&around("false")).unwrap_err().why;
        assert!(why.contains("`false --version` ends with"), "{why}");

        // Without a home it is kept among temporary files.
        let homeless = Surroundings { cache: None, ..around("true") };
        let found = Workshop::find(&homeless).unwrap();
        assert!(
            found.is_makeshift && found.cache.starts_with(tempfile::env::temp_dir()),
            "{found:?}"
        );
    }
}
