//! Frames: who is placed relative to whom, worked out.
//!
//! ```text
//! nodes of one scope (links, models, frames, joints) ─ resolve ─► where each is in the scope
//!                                                             └─► Scope: names → place, link
//! ```
//!
//! A scope is a model or the world. Names inside a model never look outwards, so inner
//! scopes are finished before outer ones and a chain of references stays in one scope;
//! it is followed without recursion, because a file may chain ten thousand frames.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use headland_base::{Diagnostic, Findings, Place, Transform};

use super::siblings::FEW;
use crate::world::join_scope;
use crate::xml::Xml;

/// A name that was written somewhere.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub name: String,
    pub place: Place,
}

/// A pose as written.
#[derive(Clone, Debug, Default)]
pub(super) struct Pose {
    pub transform: Transform,
    pub relative_to: Option<Named>,
}

impl Pose {
    /// A pose in the frame its element has by default.
    pub fn plain(transform: Transform) -> Pose {
        Pose { transform, relative_to: None }
    }
}

/// What an element moves with.
#[derive(Clone, Debug)]
pub(super) enum MovesWith {
    /// It is a link.
    Itself,
    /// It is a model: with its own canonical link.
    Inner,
    /// With the scope: the model's canonical link, or the world.
    Scope,
    /// With a frame the file names (`attached_to`).
    Named(Named),
    /// As this frame does; whether it exists is reported by whoever asked (joints).
    Like(String),
}

/// One thing that has a place in a scope.
#[derive(Debug)]
pub(super) struct Node {
    pub name: String,
    pub place: Place,
    pub pose: Pose,
    /// The frame the pose is in when it names none; `None` is the scope's own.
    pub default_base: Option<String>,
    pub moves_with: MovesWith,
    /// A model's own scope.
    pub inner: Option<Scope>,
    /// A model's frame that the pose places, instead of the model's own.
    pub placement: Option<Named>,
}

/// What an include that could not be read would have brought into a scope. A name that may
/// be there is not reported as missing: the include is.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost {
    /// Models, by the name their include gives them.
    pub names: BTreeSet<String>,
    /// Some under names that only the file knows.
    pub has_nameless: bool,
}

impl Lost {
    fn may_hold(&self, word: &str) -> bool {
        self.has_nameless || self.names.contains(word)
    }
}

/// The finished frames of a model or of the world.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    is_world: bool,
    lost: Lost,
    frames: Vec<Known>,
    by_name: ByName,
    /// The link the scope itself moves with.
    pub canonical: Option<String>,
}

#[derive(Clone, Debug)]
struct Known {
    name: String,
    scope_from_frame: Transform,
    carrier: Carrier,
    inner: Option<Scope>,
}

/// What a frame moves with; a name is made of it when somebody asks.
#[derive(Clone, Debug)]
enum Carrier {
    /// With the scope.
    Scope,
    /// With this link, or the canonical link of this model: a position among the frames.
    Frame(usize),
    /// With the link of this name; `None` is the world.
    Link(Option<String>),
}

/// Positions by name. Few are looked through; many are sorted when somebody asks, which in
/// a world of ten thousand boxes nobody does.
#[derive(Clone, Debug, Default)]
struct ByName(OnceCell<Vec<usize>>);

impl ByName {
    /// The first of that name.
    fn find<T>(&self, all: &[T], name_of: impl Fn(&T) -> &str, name: &str) -> Option<usize> {
        if all.len() <= FEW {
            return all.iter().position(|one| name_of(one) == name);
        }
        let order = self.0.get_or_init(|| {
            let mut order: Vec<usize> = (0..all.len()).collect();
            order.sort_by_key(|i| name_of(&all[*i])); // stable: the first stays the first
            order
        });
        let found = *order.get(order.partition_point(|i| name_of(&all[*i]) < name))?;
        (name_of(&all[found]) == name).then_some(found)
    }
}

/// Where a frame is, and what carries it.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub scope_from_frame: Transform,
    /// The link it moves with, by its name from this scope; `None` is the world.
    pub link: Option<String>,
}

/// A name that is not there, and what is in the scope it would have to be in.
///
/// Borrowed, because most are never reported: every joint to the world asks its model for a
/// frame `world` first.
#[derive(Debug)]
pub(super) struct Missing<'s> {
    word: String,
    known: Names<'s>,
    /// It may be in a file that could not be read, which is reported instead.
    pub is_excused: bool,
}

#[derive(Debug)]
enum Names<'s> {
    /// Of a scope that is finished.
    Scope(&'s [Known]),
    /// Of one that is being worked out.
    Graph(&'s [Node]),
}

impl Missing<'_> {
    /// The nearest name that is there.
    pub fn suggestion(&self, findings: &Findings) -> Option<String> {
        let is_given = |name: &&str| !name.starts_with(super::reader::UNNAMED);
        match self.known {
            Names::Scope(frames) => findings.suggestion(
                &self.word,
                frames.iter().map(|known| known.name.as_str()).filter(is_given),
            ),
            Names::Graph(nodes) => findings.suggestion(
                &self.word,
                nodes.iter().map(|node| node.name.as_str()).filter(is_given),
            ),
        }
    }

    /// Says so.
    pub fn report(&self, whole: &str, place: &Place, findings: &mut Findings) {
        if self.is_excused {
            return;
        }
        let shown: String = whole.chars().take(80).collect();
        let diagnostic = Diagnostic::error("unknown-frame", format!("no frame named `{shown}`"))
            .at(place.clone())
            .help_maybe(self.suggestion(findings));
        findings.push(match self.word.as_str() {
            "world" => diagnostic.note("a frame inside a model cannot refer to the world"),
            _ => diagnostic,
        });
    }
}

impl Scope {
    /// The frame `name`, `__model__`, or `inner::frame`.
    pub fn find(&self, name: &str) -> Result<Found, Missing<'_>> {
        if self.is_own_name(name) {
            return Ok(Found {
                scope_from_frame: Transform::IDENTITY,
                link: self.canonical.clone(),
            });
        }
        if let Some(known) = self.known(name) {
            return Ok(Found {
                scope_from_frame: known.scope_from_frame,
                link: self.link(&known.carrier),
            });
        }
        let (first, rest) = name.split_once("::").ok_or_else(|| self.missing(name))?;
        let known = self.known(first).ok_or_else(|| self.missing(first))?;
        let inner = known.inner.as_ref().ok_or_else(|| self.missing(name))?;
        let found = inner.find(rest)?;
        Ok(Found {
            scope_from_frame: known.scope_from_frame * found.scope_from_frame,
            link: found.link.map(|link| join_scope(first, &link)),
        })
    }

    fn known(&self, name: &str) -> Option<&Known> {
        self.by_name.find(&self.frames, |known| &known.name, name).map(|i| &self.frames[i])
    }

    /// The link a carrier means, by its name from this scope.
    fn link(&self, carrier: &Carrier) -> Option<String> {
        match carrier {
            Carrier::Scope => self.canonical.clone(),
            Carrier::Frame(i) => self.frames[*i].own_link(),
            Carrier::Link(link) => link.clone(),
        }
    }

    /// The scope of a model inside this one, leaving an empty one behind.
    pub fn take_inner(&mut self, name: &str) -> Scope {
        let found = self.by_name.find(&self.frames, |known| &known.name, name);
        found.and_then(|i| self.frames[i].inner.take()).unwrap_or_default()
    }

    /// Whether a name is not here because an include that would have brought it is lost.
    pub fn is_excused(&self, name: &str) -> bool {
        self.find(name).is_err_and(|missing| missing.is_excused)
    }

    fn is_own_name(&self, name: &str) -> bool {
        name == if self.is_world { "world" } else { "__model__" }
    }

    fn missing(&self, word: &str) -> Missing<'_> {
        let first = word.split_once("::").map_or(word, |(first, _)| first);
        Missing {
            word: word.to_string(),
            known: Names::Scope(&self.frames),
            is_excused: self.lost.may_hold(first),
        }
    }
}

impl Known {
    /// Of a model its canonical link, otherwise the link itself.
    fn own_link(&self) -> Option<String> {
        match &self.inner {
            Some(inner) => inner.canonical.as_ref().map(|link| join_scope(&self.name, link)),
            None => Some(self.name.clone()),
        }
    }
}

/// What a reference leans on in its own scope.
enum Target {
    Scope,
    /// A node, or the frame this far inside it.
    Node(usize, Option<String>),
    /// Nothing; it has been reported.
    Nowhere,
}

/// Works out every node. The answers are parallel to `nodes`. Where two nodes share a
/// name, the earlier one answers to it.
pub(super) fn resolve(
    xml: &mut Xml<'_>,
    is_world: bool,
    lost: Lost,
    canonical: Option<Named>,
    nodes: Vec<Node>,
) -> (Vec<Transform>, Scope) {
    let graph = Graph { is_world, lost: &lost, nodes: &nodes, by_name: ByName::default() };
    let canonical = graph.canonical(xml, canonical);
    let mut in_a_cycle = vec![false; nodes.len()];

    let bases: Vec<Target> = (0..nodes.len()).map(|i| graph.base(xml, i)).collect();
    let transforms = along_chains(
        &bases,
        |i, base: Option<&Transform>| {
            let node = &nodes[i];
            let base = base.copied().unwrap_or_default() * graph.inside(&bases[i]).scope_from_frame;
            node.place_in(base * node.pose.transform)
        },
        |cycle| graph.report_cycle(xml, cycle, "relative_to", &mut in_a_cycle),
    );

    let carriers: Vec<Target> = (0..nodes.len()).map(|i| graph.carrier(xml, i)).collect();
    let carriers = along_chains(
        &carriers,
        |i, base: Option<&Carrier>| match (&nodes[i].moves_with, &carriers[i]) {
            (MovesWith::Itself | MovesWith::Inner, _) => Carrier::Frame(i),
            (_, Target::Node(j, Some(_))) => {
                let link = graph.inside(&carriers[i]).link;
                Carrier::Link(link.map(|link| join_scope(&nodes[*j].name, &link)))
            }
            (_, Target::Node(_, None)) => base.cloned().unwrap_or(Carrier::Link(None)),
            (_, Target::Scope | Target::Nowhere) => Carrier::Scope,
        },
        |cycle| graph.report_cycle(xml, cycle, "attached_to", &mut in_a_cycle),
    );

    let placed = nodes.into_iter().zip(&transforms).zip(carriers);
    let frames = placed.map(|((node, transform), carrier)| Known {
        name: node.name,
        scope_from_frame: *transform,
        carrier,
        inner: node.inner,
    });
    let frames = frames.collect();
    (transforms, Scope { is_world, lost, frames, by_name: ByName::default(), canonical })
}

impl Node {
    /// A model's pose may place one of its frames (`placement_frame`) instead of its own.
    fn place_in(&self, scope_from_placement: Transform) -> Transform {
        let placement = self.placement.as_ref().zip(self.inner.as_ref());
        match placement.and_then(|(named, scope)| scope.find(&named.name).ok()) {
            Some(found) => scope_from_placement * found.scope_from_frame.inverse(),
            None => scope_from_placement,
        }
    }
}

struct Graph<'n> {
    is_world: bool,
    lost: &'n Lost,
    nodes: &'n [Node],
    by_name: ByName,
}

impl Graph<'_> {
    /// The frame node `i`'s pose is in.
    fn base(&self, xml: &mut Xml<'_>, i: usize) -> Target {
        let node = &self.nodes[i];
        if let (Some(named), Some(inner)) = (&node.placement, &node.inner)
            && let Err(missing) = inner.find(&named.name)
        {
            missing.report(&named.name, &named.place, xml.findings);
        }
        match (&node.pose.relative_to, &node.default_base) {
            (Some(named), _) => self.target(xml, &named.name, Some(&named.place)),
            (None, Some(name)) => self.target(xml, name, None),
            (None, None) => Target::Scope,
        }
    }

    /// The frame node `i` moves with.
    fn carrier(&self, xml: &mut Xml<'_>, i: usize) -> Target {
        match &self.nodes[i].moves_with {
            MovesWith::Itself | MovesWith::Inner | MovesWith::Scope => Target::Scope,
            MovesWith::Named(named) => self.target(xml, &named.name, Some(&named.place)),
            MovesWith::Like(name) => self.target(xml, name, None),
        }
    }

    /// Looks a name up; reports at `place` when it is not there.
    fn target(&self, xml: &mut Xml<'_>, name: &str, place: Option<&Place>) -> Target {
        if name == if self.is_world { "world" } else { "__model__" } {
            return Target::Scope;
        }
        if let Some(i) = self.index(name) {
            return Target::Node(i, None);
        }
        let (first, rest) = name.split_once("::").unwrap_or((name, ""));
        let missing = match self.index(first).map(|i| (i, &self.nodes[i].inner)) {
            Some((i, Some(inner))) => match inner.find(rest) {
                Ok(_) => return Target::Node(i, Some(rest.to_string())),
                Err(missing) => missing,
            },
            _ => Missing {
                word: first.to_string(),
                known: Names::Graph(self.nodes),
                is_excused: self.lost.may_hold(first),
            },
        };
        if let Some(place) = place {
            missing.report(name, place, xml.findings);
        }
        Target::Nowhere
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.by_name.find(self.nodes, |node| &node.name, name)
    }

    /// The frame inside a target's model, or nothing extra.
    fn inside(&self, target: &Target) -> Found {
        match target {
            Target::Node(j, Some(rest)) => {
                let inner = self.nodes[*j].inner.as_ref();
                inner.and_then(|scope| scope.find(rest).ok()).unwrap_or_default()
            }
            _ => Found::default(),
        }
    }

    /// The link that carries the scope itself: the one the file names, else the first
    /// link, else that of the first model inside.
    fn canonical(&self, xml: &mut Xml<'_>, asked: Option<Named>) -> Option<String> {
        if self.is_world {
            return None;
        }
        if let Some(asked) = asked {
            let link = match self.target(xml, &asked.name, Some(&asked.place)) {
                Target::Node(i, None) if matches!(self.nodes[i].moves_with, MovesWith::Itself) => {
                    Some(asked.name.clone())
                }
                target @ Target::Node(i, Some(_)) => self
                    .inside(&target)
                    .link
                    .map(|link| join_scope(&self.nodes[i].name, &link))
                    .filter(|link| *link == asked.name),
                Target::Nowhere => return None,
                _ => None,
            };
            if link.is_none() {
                let message = format!("canonical_link `{}` is not a link", asked.name);
                xml.findings.push(Diagnostic::error("not-a-link", message).at(asked.place));
            }
            return link;
        }
        let first = self.nodes.iter().find(|node| matches!(node.moves_with, MovesWith::Itself));
        first.map(|node| node.name.clone()).or_else(|| {
            self.nodes.iter().find_map(|node| {
                let link = node.inner.as_ref()?.canonical.as_ref()?;
                Some(join_scope(&node.name, link))
            })
        })
    }

    /// Says once which frames go round in a circle.
    fn report_cycle(
        &self,
        xml: &mut Xml<'_>,
        cycle: &[usize],
        attribute: &str,
        reported: &mut [bool],
    ) {
        let known = cycle.iter().any(|i| reported[*i]);
        for i in cycle {
            reported[*i] = true;
        }
        if known {
            return;
        }
        let first = &self.nodes[cycle[0]];
        let mut chain: Vec<&str> =
            cycle.iter().take(8).map(|i| self.nodes[*i].name.as_str()).collect();
        chain.push(if cycle.len() > 8 { "…" } else { &first.name });
        let message = format!("the frame `{}` depends on itself", first.name);
        xml.findings.push(
            Diagnostic::error("frame-cycle", message)
                .at(first.place.clone())
                .note(format!("through `{attribute}`: {}", chain.join(" → ")))
                .help("give one of them a pose in the model's own frame"),
        );
    }
}

/// Values along chains: each is made from that of the node it leans on. A chain that
/// closes on itself is reported and cut.
fn along_chains<T>(
    targets: &[Target],
    mut make: impl FnMut(usize, Option<&T>) -> T,
    mut cycle: impl FnMut(&[usize]),
) -> Vec<T> {
    let mut values: Vec<Option<T>> = targets.iter().map(|_| None).collect();
    let mut position_in_chain: Vec<Option<usize>> = vec![None; targets.len()];
    let mut chain = Vec::new();
    for start in 0..targets.len() {
        let mut next = Some(start).filter(|i| values[*i].is_none());
        while let Some(i) = next {
            position_in_chain[i] = Some(chain.len());
            chain.push(i);
            next = match targets[i] {
                Target::Node(j, _) if values[j].is_none() => match position_in_chain[j] {
                    Some(from) => {
                        cycle(&chain[from..]);
                        None
                    }
                    None => Some(j),
                },
                _ => None,
            };
        }
        while let Some(i) = chain.pop() {
            let base = match targets[i] {
                Target::Node(j, _) => values[j].as_ref(),
                Target::Scope | Target::Nowhere => None,
            };
            let value = make(i, base);
            values[i] = Some(value);
        }
    }
    values.into_iter().map(|value| value.expect("every node was a start or in a chain")).collect()
}
