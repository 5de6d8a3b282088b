//! The front door: a file goes in, a World or everything that is wrong with it comes out.
//!
//! The format is told by the root element, not by the name of the file. Whatever the
//! format, the finished world goes through the same [`check`](crate::check::check).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Severity, Source, names};
use roxmltree::{Document, Node};

use crate::besides::besides;
use crate::check::check;
use crate::files::{self, Unread};
use crate::resource::{self, Resources};
use crate::{InertiaOrigin, Model, Places, World, WorldFile, inertia, mjcf, sdf, urdf, xml};

/// How to read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Unknown names are warnings instead of errors.
    pub lenient: bool,
    /// Where to look for what the file names.
    pub resources: Resources,
    /// Give links without an inertia in the file one computed from their shapes at this
    /// density \[kg/m³\].
    pub derive_inertia: Option<f64>,
}

/// A world that was read, and what is worth knowing about it.
#[derive(Clone, Debug)]
pub struct Read {
    /// What there is.
    pub world: World,
    /// Warnings and notes; errors would have refused the world.
    pub findings: Vec<Diagnostic>,
    /// Where each part was written, for whoever finds something about it later.
    pub places: Places,
}

/// The largest file that is read; a tree of it fits into memory.
const MOST_BYTES: u64 = 512 << 20;

/// Reads a world, a robot or a thing from a file: SDF, URDF or MJCF.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Read, Vec<Diagnostic>> {
    let source = source_of(path).map_err(|diagnostic| vec![diagnostic])?;
    let base_dir = path.parent().unwrap_or(Path::new(""));
    let (mut read, format) = read_source(&source, base_dir, options)?;
    read.places.set_file(WorldFile { path: path.to_path_buf(), format });
    Ok(read)
}

/// Reads from a text; files it names are looked for from `base_dir`.
pub fn read_text(
    source: Arc<Source>,
    base_dir: &Path,
    options: &ReadOptions,
) -> Result<Read, Vec<Diagnostic>> {
    read_source(&source, base_dir, options).map(|(read, _)| read)
}

fn read_source(
    source: &Arc<Source>,
    base_dir: &Path,
    options: &ReadOptions,
) -> Result<(Read, Format), Vec<Diagnostic>> {
    let mut findings = Findings::new();
    let read = xml::with_document(source, &mut findings, |document, findings| {
        let root = document.root_element();
        let format = Format::of(root);
        let made = match format {
            Some(Format::Sdf) => Some(sdf::read(source, document, base_dir, options, findings)),
            Some(format) => {
                foreign(format, &as_parsed(source, document), base_dir, options, findings)
            }
            None => {
                findings.push(unknown_format(source, root));
                None
            }
        };
        format.zip(made)
    });
    let read = read.unwrap_or_else(|diagnostic| {
        findings.push(diagnostic);
        None
    });
    let Some((format, (mut world, places))) = read else { return Err(findings.into_vec()) };
    if let Some(density) = options.derive_inertia {
        for model in &mut world.models {
            derive_inertia(model, "", density, &places, &mut findings);
        }
    }
    // What was left out for its defects would be missed again: only what is wrong besides.
    let is_partial = findings.has_errors();
    let wanted = |finding: &Diagnostic| !is_partial || finding.severity >= Severity::Warning;
    let mut findings = findings.into_vec();
    let key = |finding: &Diagnostic| Some((finding.code, finding.place.as_ref()?.span.start));
    let told: BTreeSet<_> = findings.iter().filter_map(key).collect();
    let is_news = |finding: &Diagnostic| key(finding).is_none_or(|key| !told.contains(&key));
    let of_world = check(&world, &places).into_iter().filter(wanted);
    let news = of_world.filter(|finding| !is_partial || is_news(finding));
    findings.extend(news.map(|finding| places.as_written(finding)));
    let refused = findings.iter().any(|finding| finding.severity == Severity::Error);
    if refused { Err(findings) } else { Ok((Read { world, findings, places }, format)) }
}

/// The languages a file can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Gazebo's.
    Sdf,
    /// ROS's. Also xacro, which is URDF with macros; those are said to need expanding first.
    Urdf,
    /// MuJoCo's.
    Mjcf,
}

impl Format {
    /// Told by the root element.
    pub(crate) fn of(root: Node<'_, '_>) -> Option<Format> {
        match root.tag_name().name() {
            "sdf" => Some(Format::Sdf),
            "robot" => Some(Format::Urdf),
            "mujoco" | "mujocoinclude" => Some(Format::Mjcf),
            _ => None,
        }
    }
}

/// The source whose text the document was made from, which may have been mended.
pub(crate) fn as_parsed(source: &Arc<Source>, document: &Document<'_>) -> Arc<Source> {
    if document.input_text() == source.text {
        return Arc::clone(source);
    }
    Source::new(source.path.clone(), document.input_text())
}

/// The finding for a root element that no format has.
pub(crate) fn unknown_format(source: &Arc<Source>, root: Node<'_, '_>) -> Diagnostic {
    let name = root.tag_name().name();
    let start = root.range().start + 1;
    Diagnostic::error("unknown-format", format!("`{name}` is not the root of a format known here"))
        .at(Place::new(source, start..start + name.len()))
        .note("known roots: `sdf` (SDF), `robot` (URDF, xacro), `mujoco` (MJCF)")
        .help_maybe(
            names::nearest(name, ["sdf", "robot", "mujoco"])
                .map(|near| format!("did you mean `{near}`?")),
        )
}

/// Hands a text to the reader of its format. A world is good when the findings hold no error;
/// `None` where nothing could be made of the text: then the findings are all that is wrong
/// with it, also what its reader did not get to.
pub(crate) fn foreign(
    format: Format,
    source: &Arc<Source>,
    base_dir: &Path,
    options: &ReadOptions,
    findings: &mut Findings,
) -> Option<(World, Places)> {
    match format {
        Format::Urdf => {
            with_besides(source, findings, |text, found| urdf::read(text, base_dir, options, found))
        }
        Format::Mjcf => mjcf::with_includes(source, base_dir, findings, |expanded, findings| {
            with_besides(&expanded.source, findings, |text, found| {
                mjcf::read_whole(&expanded.with_text(text), base_dir, options, found)
            })
        }),
        Format::Sdf => unreachable!("SDF is not foreign; its reader is called with the document"),
    }
}

/// Reads a text; where nothing can be made of it, what its defects hide is found too.
fn with_besides(
    source: &Arc<Source>,
    findings: &mut Findings,
    read: impl Fn(&Arc<Source>, &mut Findings) -> Option<(World, Places)>,
) -> Option<(World, Places)> {
    let mut own = Findings::new(); // a reader may look whether anything is wrong so far
    let made = read(source, &mut own);
    let besides = match &made {
        Some(_) => Vec::new(),
        // Further ones would only be counted, and some a second time.
        None if own.n_only_counted() > 0 => Vec::new(),
        None => besides(source, own.kept(), |mended| {
            let mut found = Findings::new();
            let made = read(mended, &mut found);
            if let Some((world, places)) = &made {
                found.extend(check(world, places));
            }
            (made.is_some(), found.into_vec())
        }),
    };
    findings.append(own);
    findings.extend(besides);
    made
}

/// The text of a file, or in words why there is none.
pub(crate) fn source_of(path: &Path) -> Result<Arc<Source>, Diagnostic> {
    let shown = path.display();
    let bytes = files::bytes_of(path, MOST_BYTES).map_err(|why| match why {
        Unread::Irregular(diagnostic) => diagnostic,
        Unread::Failed(error) if path.exists() => {
            Diagnostic::error("unreadable-file", format!("cannot read {shown}"))
                .note(error.to_string())
        }
        Unread::Failed(error) => {
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            Diagnostic::error("missing-file", format!("cannot open {shown}"))
                .note(error.to_string())
                .help_maybe(is_missing.then(|| resource::help_for_typed(path)).flatten())
        }
        Unread::TooLarge(n_bytes) => {
            Diagnostic::error("too-large", format!("{shown} has {} MiB", n_bytes >> 20))
                .note(format!("at most {} MiB are read", MOST_BYTES >> 20))
        }
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Diagnostic::error("not-utf8", format!("{shown} is not UTF-8 text"))
            .note(format!("byte {at} is not part of a character"))
            .help("is it a binary file, or written in another encoding?")
    })?;
    Ok(Source::new(shown.to_string(), text))
}

/// Gives every link without an inertia one from its shapes. Readers bound the nesting of
/// models, so the recursion is shallow.
fn derive_inertia(
    model: &mut Model,
    outer: &str,
    density: f64,
    places: &Places,
    findings: &mut Findings,
) {
    let scope = crate::join_scope(outer, &model.name);
    for link in &mut model.links {
        let wanted = link.inertial.origin == InertiaOrigin::Default && !model.is_static;
        if !wanted || link.collisions.is_empty() {
            continue; // the check says which links are left without
        }
        match inertia::derive(&link.collisions, density) {
            Ok(inertial) => link.inertial = inertial,
            Err(mut diagnostic) => {
                let place = places.find(&format!("link {scope}::{}", link.name));
                if diagnostic.place.is_none() {
                    diagnostic = diagnostic.at_maybe(place);
                }
                findings.push(diagnostic.note(format!("for the link `{scope}::{}`", link.name)));
            }
        }
    }
    for inner in &mut model.models {
        derive_inertia(inner, &scope, density, places, findings);
    }
}
