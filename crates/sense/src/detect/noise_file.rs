//! Files of noise, which detectors name: what `headland fit-noise` wrote.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use headland_world::resource::Resources;

use crate::declare::element::Element;
use crate::noise::Perception;

/// The largest file of noise \[bytes\].
const MOST_BYTES: u64 = 1 << 20;

/// The noise of a file, which is looked for as meshes are: from the folder of the file that names
/// it, and in the folders of a search path.
pub(super) fn of_file(element: Element<'_>, resources: &Resources) -> Option<Perception> {
    let faults = match noise_text(element, resources) {
        Ok((path, text)) => match Perception::of_text(&text) {
            Ok(perception) => return Some(perception),
            Err(faults) => faults
                .into_iter()
                .map(|why| (format!("`{}`: {why}", path.display()), None))
                .collect(),
        },
        Err(fault) => vec![fault],
    };
    for (fault, help) in faults {
        let help = help.unwrap_or_else(|| "`headland fit-noise` writes such a file".to_string());
        element.fault(format!("cannot use {fault}"), Some(help));
    }
    None
}

/// The file that a `<file>` names, and its text; or why there is none, and what to do.
pub(crate) fn noise_text(
    element: Element<'_>,
    resources: &Resources,
) -> Result<(PathBuf, String), (String, Option<String>)> {
    let place = element.place();
    let folder = place.as_ref().and_then(|place| Path::new(&place.source.path).parent());
    let path =
        resources.resolve(element.text(), folder.unwrap_or(Path::new(""))).map_err(|why| {
            let what = if why.code == "missing-file" { "it is not there" } else { &why.message };
            (format!("`{}`: {what}", element.text()), why.help)
        })?;
    // Before it is opened: a pipe would be waited for.
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        return Err((format!("`{}`: it is not a regular file", path.display()), None));
    }
    let mut text = String::new();
    let read =
        File::open(&path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    let fault = match read {
        Err(error) => error.to_string(),
        Ok(n) if n as u64 > MOST_BYTES => format!("it is larger than {MOST_BYTES} bytes"),
        Ok(_) => return Ok((path, text)),
    };
    Err((format!("`{}`: {fault}", path.display()), None))
}
