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

use std::collections::BTreeMap;

use headland_base::{Diagnostic, Findings, Place, Transform};

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

/// The finished frames of a model or of the world.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    is_world: bool,
    frames: BTreeMap<String, Known>,
    /// The link the scope itself moves with.
    pub canonical: Option<String>,
}

#[derive(Clone, Debug)]
struct Known {
    found: Found,
    inner: Option<Scope>,
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
}

#[derive(Debug)]
enum Names<'s> {
    /// Of a scope that is finished.
    Scope(&'s BTreeMap<String, Known>),
    /// Of one that is being worked out.
    Graph(&'s BTreeMap<&'s str, usize>),
}

impl Missing<'_> {
    /// The nearest name that is there.
    pub fn suggestion(&self, findings: &Findings) -> Option<String> {
        match self.known {
            Names::Scope(frames) => {
                findings.suggestion(&self.word, frames.keys().map(String::as_str))
            }
            Names::Graph(index) => findings.suggestion(&self.word, index.keys().copied()),
        }
    }

    /// Says so.
    pub fn report(&self, whole: &str, place: &Place, findings: &mut Findings) {
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
        if let Some(known) = self.frames.get(name) {
            return Ok(known.found.clone());
        }
        let (first, rest) = name.split_once("::").ok_or_else(|| self.missing(name))?;
        let known = self.frames.get(first).ok_or_else(|| self.missing(first))?;
        let inner = known.inner.as_ref().ok_or_else(|| self.missing(name))?;
        let found = inner.find(rest)?;
        Ok(Found {
            scope_from_frame: known.found.scope_from_frame * found.scope_from_frame,
            link: found.link.map(|link| join_scope(first, &link)),
        })
    }

    /// The scope of a model inside this one, leaving an empty one behind.
    pub fn take_inner(&mut self, name: &str) -> Scope {
        let known = self.frames.get_mut(name);
        known.and_then(|known| known.inner.take()).unwrap_or_default()
    }

    fn is_own_name(&self, name: &str) -> bool {
        name == if self.is_world { "world" } else { "__model__" }
    }

    fn missing(&self, word: &str) -> Missing<'_> {
        Missing { word: word.to_string(), known: Names::Scope(&self.frames) }
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
    canonical: Option<Named>,
    nodes: Vec<Node>,
) -> (Vec<Transform>, Scope) {
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, node) in nodes.iter().enumerate() {
        index.entry(&node.name).or_insert(i);
    }
    let graph = Graph { is_world, nodes: &nodes, index };
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
    let links = along_chains(
        &carriers,
        |i, base: Option<&Option<String>>| match (&nodes[i].moves_with, &carriers[i]) {
            (MovesWith::Itself, _) => Some(nodes[i].name.clone()),
            (MovesWith::Inner, _) => {
                let inner = nodes[i].inner.as_ref().and_then(|scope| scope.canonical.as_ref());
                inner.map(|link| join_scope(&nodes[i].name, link))
            }
            (_, Target::Node(j, Some(_))) => {
                let link = graph.inside(&carriers[i]).link;
                link.map(|link| join_scope(&nodes[*j].name, &link))
            }
            (_, Target::Node(_, None)) => base.cloned().flatten(),
            (_, Target::Scope | Target::Nowhere) => canonical.clone(),
        },
        |cycle| graph.report_cycle(xml, cycle, "attached_to", &mut in_a_cycle),
    );

    let mut frames = BTreeMap::new();
    for ((node, transform), link) in nodes.into_iter().zip(&transforms).zip(links) {
        let found = Found { scope_from_frame: *transform, link };
        frames.entry(node.name).or_insert(Known { found, inner: node.inner });
    }
    (transforms, Scope { is_world, frames, canonical })
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
    nodes: &'n [Node],
    index: BTreeMap<&'n str, usize>,
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
        if let Some(i) = self.index.get(name) {
            return Target::Node(*i, None);
        }
        let (first, rest) = name.split_once("::").unwrap_or((name, ""));
        let missing = match self.index.get(first).map(|i| (*i, &self.nodes[*i].inner)) {
            Some((i, Some(inner))) => match inner.find(rest) {
                Ok(_) => return Target::Node(i, Some(rest.to_string())),
                Err(missing) => missing,
            },
            _ => Missing { word: first.to_string(), known: Names::Graph(&self.index) },
        };
        if let Some(place) = place {
            missing.report(name, place, xml.findings);
        }
        Target::Nowhere
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
