//! A user's own MJCF file, made ready for MuJoCo to load as it is.
//!
//! A path and a few words of ours go in; out comes a file that says the same with those words
//! at its end, where MuJoCo lets them overrule what came before. It stands in a folder of its
//! own that looks like the user's: everything beside the file, and beside each folder above
//! it, is there by a symbolic link, so that includes and assets are found by the same names,
//! `../` among them. Nothing is written into the user's folders.

use std::path::{Component, Path, PathBuf};

/// So many entries of one folder are linked; more than this is no folder of a robot.
const MOST_ENTRIES: usize = 20_000;

/// The file, for as long as this lives.
pub(super) struct Passed {
    folder: tempfile::TempDir,
    /// What MuJoCo loads.
    pub(super) file: PathBuf,
}

/// Puts `added` at the end of a file.
pub(super) fn pass(path: &Path, added: &str) -> Result<Passed, String> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|why| format!("cannot read {shown}: {why}"))?;
    // A file that is a link finds its assets beside the link; folders are where they are.
    let beside = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let home = std::fs::canonicalize(beside)
        .map_err(|why| format!("cannot find the folder of {shown}: {why}"))?;
    let name = path.file_name().ok_or_else(|| format!("{shown} is no file"))?;
    let cannot = |why: std::io::Error| format!("cannot make a folder for {shown}: {why}");
    let folder = tempfile::Builder::new().prefix("headland-mujoco-").tempdir().map_err(cannot)?;

    let (mut theirs, mut ours) = (PathBuf::new(), folder.path().to_path_buf());
    let parts: Vec<Component<'_>> = home.components().collect();
    for (i, part) in parts.iter().enumerate() {
        theirs.push(part);
        if let Component::Normal(part) = part {
            ours.push(part);
            std::fs::create_dir(&ours).map_err(cannot)?;
        }
        let own = parts.get(i + 1).map_or(name, |next| next.as_os_str());
        let linked = link_all_but(&theirs, own, &ours);
        if i + 1 == parts.len() {
            linked.map_err(cannot)?;
        }
        // A folder further up that cannot be listed is one without neighbours.
    }
    let file = ours.join(name);
    std::fs::write(&file, with_added(&text, added)).map_err(cannot)?;
    Ok(Passed { folder, file })
}

impl Passed {
    /// What stands before the user's own paths here.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Links every entry of a folder but one into another.
fn link_all_but(folder: &Path, own: &std::ffi::OsStr, into: &Path) -> std::io::Result<()> {
    for (i, entry) in std::fs::read_dir(folder)?.enumerate() {
        let name = entry?.file_name();
        if i >= MOST_ENTRIES {
            let message = format!("more than {MOST_ENTRIES} files are beside it");
            return Err(std::io::Error::other(message));
        }
        if name != own {
            link(&folder.join(&name), &into.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(original: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("it takes symbolic links, which are not to be had here"))
}

/// The text with something before its last closing tag, whatever comments say.
fn with_added(text: &str, added: &str) -> String {
    let (mut at, mut last) = (0, None);
    while let Some(found) = text[at..].find('<').map(|i| at + i) {
        let rest = &text[found..];
        let after = |end: &str| rest.find(end).map_or(text.len(), |i| found + i + end.len());
        at = if rest.starts_with("<!--") {
            after("-->")
        } else if rest.starts_with("<![CDATA[") {
            after("]]>")
        } else {
            if rest.starts_with("</") {
                last = Some(found);
            }
            found + 1
        };
    }
    // Without one the model is empty, and there is nothing to add to.
    let (head, tail) = text.split_at(last.unwrap_or(text.len()));
    let added = if last.is_some() { added } else { "" };
    format!("{head}{added}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_last() {
        let text = "<mujoco><option timestep=\"1\"/></mujoco>\n<!-- </mujoco> -->\n";
        let with = with_added(text, "<option/>");
        assert!(with.starts_with("<mujoco><option timestep=\"1\"/><option/></mujoco>"), "{with}");
        assert_eq!(with_added("<mujoco/>", "<option/>"), "<mujoco/>");
        assert_eq!(with_added("<a><!-- </b></a>", "x"), "<a><!-- </b></a>");
    }

    /// What is beside the file and above it is found by the same names; nothing is written
    /// into the user's folders.
    #[cfg(unix)]
    #[test]
    fn neighbours_are_found() {
        let theirs = tempfile::tempdir().unwrap();
        let robot = theirs.path().join("robots/one");
        std::fs::create_dir_all(robot.join("meshes")).unwrap();
        std::fs::write(robot.join("meshes/a.stl"), "a").unwrap();
        std::fs::write(theirs.path().join("common.xml"), "c").unwrap();
        std::fs::write(robot.join("robot.xml"), "<mujoco></mujoco>").unwrap();
        let passed = pass(&robot.join("robot.xml"), "<option/>").unwrap();
        let home = passed.file.parent().unwrap().to_path_buf();
        let read = |path: &str| std::fs::read_to_string(home.join(path)).unwrap();
        assert_eq!(read("robot.xml"), "<mujoco><option/></mujoco>");
        assert_eq!((read("meshes/a.stl"), read("../../common.xml")), ("a".into(), "c".into()));
        drop(passed);
        assert!(!home.exists() && robot.join("meshes/a.stl").exists());
        let untouched = std::fs::read_to_string(robot.join("robot.xml")).unwrap();
        assert_eq!(untouched, "<mujoco></mujoco>");
        assert_eq!(std::fs::read_dir(&robot).unwrap().count(), 2);
    }
}
