//! `include`: another file's model or light, found, read and put here.
//!
//! Bounded, because a few small files can include each other without end: the chain of
//! files, their number and the text they sum up to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source};
use roxmltree::Node;

use super::frames::{Named, Pose};
use super::model::{Contents, ModelDraft};
use super::reader::{Reader, Text};
use super::schema;
use super::world::{NEWEST, OLDEST};
use crate::read::{self, Format};
use crate::world::join_scope;
use crate::xml::{self, Xml};
use crate::{Light, Opaque};

/// The longest chain of files that include each other; real ones stay below 5.
const MOST_CHAINED: usize = 20;
/// The most includes in one world.
const MOST_INCLUDES: usize = 20_000;
/// The most text all includes of one world may sum up to. Of small links, the densest text
/// there is, a world takes some 23 times as much memory: at 256 MiB six gigabytes.
const MOST_BYTES: usize = 64 << 20;

/// What an `include` says instead of the file it names.
struct Asked {
    name: Option<String>,
    /// Poured into the scope, without a model around it.
    merge: bool,
    pose: Option<Pose>,
    placement: Option<Named>,
    is_static: Option<bool>,
    opaque: Vec<Opaque>,
}

impl Asked {
    /// Where it says something, that holds, and not what the model's own file says.
    fn override_in(self, draft: &mut ModelDraft) {
        draft.pose = self.pose.unwrap_or(std::mem::take(&mut draft.pose));
        draft.placement = self.placement.or(draft.placement.take());
        draft.model.is_static = self.is_static.unwrap_or(draft.model.is_static);
        draft.model.opaque.extend(self.opaque);
    }
}

/// What an included file gives.
enum Included {
    Model(Box<ModelDraft>),
    Light(Box<(Light, Pose)>),
    Opaque(Opaque),
}

impl Reader<'_, '_> {
    /// An `include` element; what it gives is added to `contents`.
    pub fn include(&mut self, node: Node<'_, '_>, scope: &str, contents: &mut Contents) {
        // All that it says is looked at, also where its file is not there.
        let uri = self.required_text(node, "uri");
        let asked = self.asked(node);
        let inside = if asked.merge { Inside::Merged(scope) } else { Inside::Own(scope) };
        let included = uri.and_then(|uri| {
            let found = self.find_file(&uri)?;
            let path = self.file_in(found, &uri)?;
            self.included(&path, &uri.place, asked.name.clone(), inside)
        });
        let robot = match &included {
            Some(Included::Model(draft)) => inside.of(&draft.model.name),
            _ => inside.of(asked.name.as_deref().unwrap_or_default()),
        };
        let casting = self.casting(node, &robot);
        let paints = self.paints(node);
        match included {
            None => {
                let name = asked.name.as_deref().filter(|_| !asked.merge);
                contents.lose(node, self.xml.place(node), name, asked.pose.unwrap_or_default());
            }
            Some(Included::Model(mut draft)) => {
                let merge = asked.merge;
                draft.place = self.xml.place(node);
                asked.override_in(&mut draft);
                casting.override_in(&mut draft.model);
                self.paint(&mut draft.model, &paints);
                match merge {
                    true if inside.is_world() && !draft.model.links.is_empty() => {
                        let message = "a model with links cannot be merged into the world";
                        self.xml.error("bad-merge", message, node);
                    }
                    true => contents.merge(self, node, *draft),
                    false => contents.add_model(self, node, *draft),
                }
            }
            Some(Included::Light(light)) => {
                let (mut light, own_pose) = *light;
                let pose = asked.pose.unwrap_or(own_pose);
                light.scope_from_light = pose.transform;
                if self.is_new(&light.name, "light", node, &mut contents.lights_seen) {
                    contents.lights.push((light, pose));
                }
            }
            Some(Included::Opaque(opaque)) => contents.opaque.push(opaque),
        }
    }

    /// What an `include` says besides which file it means.
    fn asked(&mut self, node: Node<'_, '_>) -> Asked {
        let merge = self.attribute(node, "merge");
        let mut text = |name: &str| self.one(node, name).and_then(|child| self.text(child));
        let (name, placement) = (text("name").map(|named| named.name), text("placement_frame"));
        let kept = node.children().filter(|child| {
            xml::is_named(*child, "plugin") || xml::is_named(*child, "model_state")
        });
        Asked {
            name,
            placement,
            merge: merge
                .and_then(|named| self.xml.boolean_in(&named.name, named.place))
                .unwrap_or(false),
            pose: self.one(node, "pose").map(|child| self.pose_of(child)),
            is_static: self.one(node, "static").and_then(|child| self.xml.boolean(child)),
            opaque: kept.map(|child| self.keep(child)).collect(),
        }
    }

    /// The file itself, or the one a model's folder means.
    fn file_in(&mut self, found: PathBuf, uri: &Named) -> Option<PathBuf> {
        if !found.is_dir() {
            return Some(found);
        }
        newest_in_folder(&found)
            .map_err(|diagnostic| {
                let place = diagnostic.place.clone().unwrap_or(uri.place.clone());
                self.xml.findings.push(diagnostic.at(place));
            })
            .ok()
    }

    /// Reads the file that was found. What was told of it already, when it was included
    /// before, is not told again.
    fn included(
        &mut self,
        path: &Path,
        place: &Place,
        name: Option<String>,
        scope: Inside<'_>,
    ) -> Option<Included> {
        let key = path.canonicalize().unwrap_or(path.to_path_buf());
        if let Err(diagnostic) = self.may_include(&key, place) {
            self.xml.findings.push(diagnostic);
            return None;
        }
        let known = self.shared.texts.get(&key).cloned();
        let n_counted_before = known.as_ref().map_or(0, |known| known.n_only_counted);
        let source = match known {
            Some(known) => known.source,
            None => match read::source_of(path) {
                Ok(source) => source,
                Err(diagnostic) => {
                    self.xml.findings.push(diagnostic.at(place.clone()));
                    return None;
                }
            },
        };
        self.shared.n_includes += 1;
        self.shared.n_included_bytes += source.text.len();
        self.shared.chain.push(key.clone());
        let mut own = Findings::new();
        let mut reader = Reader {
            xml: Xml { source: Arc::clone(&source), lenient: self.xml.lenient, findings: &mut own },
            shared: &mut *self.shared,
            version: NEWEST,
            dir: path.parent().unwrap_or(Path::new("")).to_path_buf(),
            kept: Default::default(),
            nesting: self.nesting,
        };
        let included = reader.included_file(&source, place, name, scope);
        reader.note_what_was_kept();
        self.shared.chain.pop();
        let n_only_counted = own.n_only_counted().max(n_counted_before);
        own.discount(n_counted_before);
        own.retain(|diagnostic| self.is_news(diagnostic, &source.path));
        self.xml.findings.append(own);
        self.shared.texts.insert(key, Text { source, n_only_counted });
        included
    }

    /// Whether nobody was told yet what an included file has. What comes from files that it
    /// includes itself was asked about when those were read.
    fn is_news(&mut self, diagnostic: &Diagnostic, path: &str) -> bool {
        let place = diagnostic.place.as_ref();
        let of_this_file = place.is_none_or(|place| place.source.path == path);
        let start = place.map(|place| place.span.start);
        let told = (diagnostic.code, diagnostic.severity, path.to_string(), start);
        !of_this_file || self.shared.told.insert(told)
    }

    fn may_include(&self, key: &PathBuf, place: &Place) -> Result<(), Diagnostic> {
        let chain = &self.shared.chain;
        if let Some(from) = chain.iter().position(|open| open == key) {
            let mut diagnostic =
                Diagnostic::error("include-cycle", "this file includes itself").at(place.clone());
            for path in chain[from..].iter().chain(std::iter::once(key)) {
                diagnostic = diagnostic.note(format!("through {}", self.shown(path)));
            }
            return Err(diagnostic);
        }
        if chain.len() >= MOST_CHAINED {
            let message = format!("includes are chained more than {MOST_CHAINED} deep");
            return Err(Diagnostic::error("include-too-deep", message).at(place.clone()));
        }
        if self.shared.n_includes >= MOST_INCLUDES || self.shared.n_included_bytes >= MOST_BYTES {
            let message = format!(
                "more than {MOST_INCLUDES} includes, or {} MiB of included text",
                MOST_BYTES >> 20
            );
            return Err(Diagnostic::error("too-many-includes", message).at(place.clone()));
        }
        Ok(())
    }

    /// A path as people know it: from the outermost file's folder where it is below it.
    fn shown(&self, path: &Path) -> String {
        let root = self.shared.root_dir.canonicalize().unwrap_or_default();
        path.strip_prefix(root).unwrap_or(path).display().to_string()
    }

    fn included_file(
        &mut self,
        source: &Arc<Source>,
        place: &Place,
        name: Option<String>,
        scope: Inside<'_>,
    ) -> Option<Included> {
        // Mending may have something to say, and so may the reader: one list at a time.
        let mut notes = Findings::new();
        let read = xml::with_document(source, &mut notes, |document, notes| {
            self.xml.findings.append(std::mem::take(notes));
            let root = document.root_element();
            match Format::of(root) {
                Some(Format::Sdf) => {
                    self.version = self.version_of(root);
                    self.xml.check_names(root, &schema::SDF);
                    self.included_sdf(root, name, scope)
                }
                Some(format) => {
                    let source = read::as_parsed(source, document);
                    self.included_foreign(format, &source, name, scope)
                }
                None => {
                    let diagnostic = read::unknown_format(source, root);
                    let from = format!("included at {}", self.xml.findings.label(place));
                    self.xml.findings.push(diagnostic.note(from));
                    None
                }
            }
        });
        read.unwrap_or_else(|diagnostic| {
            self.xml.findings.append(notes);
            self.xml.findings.push(diagnostic);
            None
        })
    }

    fn included_sdf(
        &mut self,
        root: Node<'_, '_>,
        name: Option<String>,
        scope: Inside<'_>,
    ) -> Option<Included> {
        let mut parts = root.children().filter(|child| {
            ["model", "light", "include", "actor"].iter().any(|name| xml::is_named(*child, name))
        });
        let Some(part) = parts.next() else {
            let message = "there is no model or light in this file to include";
            self.xml.error("nothing-to-include", message, root);
            return None;
        };
        if let Some(second) = parts.next() {
            let place = self.xml.place(second);
            let message = "only the first model of an included file is taken";
            self.xml.findings.push(Diagnostic::warning("outside-include", message).at(place));
        }
        if xml::is_named(part, "include") {
            return self.passed_on(part, name, scope);
        }
        if xml::is_named(part, "actor") {
            return Some(Included::Opaque(self.keep(part)));
        }
        let name = match name {
            Some(name) => name,
            None => self.required_attribute(part, "name")?.name,
        };
        if xml::is_named(part, "light") {
            return self.light(part, name).map(|light| Included::Light(Box::new(light)));
        }
        let whole = scope.of(&name);
        if let Inside::Own(_) = scope {
            let place = self.xml.place(part);
            self.shared.places.insert(format_args!("model {whole}"), place);
        }
        Some(Included::Model(Box::new(self.model(part, name, &whole))))
    }

    /// A file that only includes another one: what that one gives, under this one's name.
    fn passed_on(
        &mut self,
        node: Node<'_, '_>,
        name: Option<String>,
        scope: Inside<'_>,
    ) -> Option<Included> {
        let (Inside::Own(outer) | Inside::Merged(outer)) = scope;
        if self
            .attribute(node, "merge")
            .is_some_and(|merge| matches!(merge.name.as_str(), "true" | "1"))
        {
            let message = "there is no model around this to merge into";
            self.xml.error("bad-merge", message, node);
            return None;
        }
        let mut contents = Contents::default();
        self.include(node, outer, &mut contents);
        if let Some(mut draft) = contents.take_model() {
            draft.model.name = name.unwrap_or(draft.model.name);
            return Some(Included::Model(Box::new(draft)));
        }
        if let Some((mut light, pose)) = contents.lights.pop() {
            light.name = name.unwrap_or(light.name);
            return Some(Included::Light(Box::new((light, pose))));
        }
        contents.opaque.pop().map(Included::Opaque)
    }

    /// A robot in another format: its one model.
    fn included_foreign(
        &mut self,
        format: Format,
        source: &Arc<Source>,
        name: Option<String>,
        scope: Inside<'_>,
    ) -> Option<Included> {
        let options = self.shared.options;
        let (world, places) = read::foreign(format, source, &self.dir, options, self.xml.findings)?;
        let place = Place::new(source, 0..0);
        let mut models = world.models.into_iter();
        let (Some(mut model), None) = (models.next(), models.next()) else {
            let message = "only a file with exactly one model can be included";
            self.xml.findings.push(Diagnostic::error("nothing-to-include", message).at(place));
            return None;
        };
        let own_name = model.name.clone();
        model.name = name.unwrap_or(model.name);
        let whole = scope.of(&model.name);
        if let Inside::Own(_) = scope {
            self.shared.places.insert(format_args!("model {whole}"), place.clone());
        }
        self.shared.places.adopt(&places, &own_name, &whole);
        Some(Included::Model(Box::new(ModelDraft::of(model, &mut self.xml, &place))))
    }
}

/// The scope an included model is read for.
#[derive(Clone, Copy)]
enum Inside<'s> {
    /// As a model of its own in this scope.
    Own(&'s str),
    /// Poured into this scope.
    Merged(&'s str),
}

impl Inside<'_> {
    fn of(&self, name: &str) -> String {
        match self {
            Inside::Own(scope) => join_scope(scope, name),
            Inside::Merged(scope) => scope.to_string(),
        }
    }

    fn is_world(&self) -> bool {
        matches!(self, Inside::Own("") | Inside::Merged(""))
    }
}

/// The newest SDF that a model's folder offers in its `model.config`.
fn newest_in_folder(folder: &Path) -> Result<PathBuf, Diagnostic> {
    let config = folder.join("model.config");
    if !config.exists() {
        let plain = folder.join("model.sdf");
        return plain.exists().then_some(plain).ok_or_else(|| {
            Diagnostic::error("missing-file", format!("no `model.config` in {}", folder.display()))
                .help("name the file itself, or add a `model.config` that names it")
        });
    }
    let source = read::source_of(&config)?;
    let document = xml::parse(&source)?;
    let root = document.root_element();
    let offers = xml::children(root, "sdf").filter_map(|node| {
        let version = node.attribute("version").unwrap_or("1.4").trim();
        let minor: u32 = version.strip_prefix("1.")?.parse().ok()?;
        let file = xml::text_of(node).trim().to_string();
        ((OLDEST..=NEWEST).contains(&minor) && !file.is_empty()).then_some((minor, file))
    });
    // The first of equals, as they stand in the file.
    let newest = offers.fold(None, |best: Option<(u32, String)>, offer| match best {
        Some(best) if best.0 >= offer.0 => Some(best),
        _ => Some(offer),
    });
    newest.map(|(_, file)| folder.join(file)).ok_or_else(|| {
        let start = root.range().start;
        Diagnostic::error("missing-element", "no `sdf` of a version that is read")
            .at(Place::new(&source, start..start + 1))
            .note(format!("versions 1.{OLDEST} to 1.{NEWEST} are read"))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::{read_file, reader::Shared};
    use super::*;
    use crate::ReadOptions;

    /// Files that each include the next ten times: a million million models. What is read is
    /// counted, whatever the machine: no more files than the bound, no file's text twice in
    /// memory, and each file says once that there are too many.
    #[test]
    fn files_that_fan_out_are_read_up_to_the_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let n_files = 12;
        for i in 0..n_files {
            let includes: String = (0..10)
                .map(|k| format!("<include><name>i{k}</name><uri>f{}.sdf</uri></include>", i + 1))
                .collect();
            let inside = if i + 1 < n_files { includes } else { "<link name='l'/>".to_string() };
            let text = format!("<sdf version='1.9'><model name='m'>{inside}</model></sdf>");
            fs::write(folder.path().join(format!("f{i}.sdf")), text).expect("a file");
        }
        let path = folder.path().join("f0.sdf");
        let source = read::source_of(&path).expect("a file");
        let document = xml::parse(&source).expect("XML");
        let options = ReadOptions::default();
        let mut shared = Shared::new(&options, folder.path().to_path_buf(), path);
        let mut findings = Findings::new();
        read_file(&source, document.root_element(), &mut shared, &mut findings);
        assert_eq!(shared.n_includes, MOST_INCLUDES);
        assert!(shared.n_included_bytes < MOST_BYTES);
        assert_eq!(shared.texts.len(), n_files - 1);
        let told = findings.into_vec();
        assert!(told.iter().all(|d| d.code == "too-many-includes"), "{told:?}");
        assert!((1..=10 * n_files).contains(&told.len()), "{}", told.len());
    }
}
