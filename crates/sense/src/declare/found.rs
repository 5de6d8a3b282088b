//! Where the sensors of a World stand, as it keeps them.

use headland_base::{Diagnostic, Place, Transform, names};
use headland_world::{JointKind, Model, Opaque, Places, World, join_scope};
use roxmltree::Document;

use super::element::{Element, Piece, parsable};
use super::frame;

/// A sensor as a World keeps it.
pub struct Found<'a> {
    /// The whole name of the link or joint.
    pub owner: String,
    /// The outermost model's name.
    pub robot: String,
    /// The body that carries it, in the order of [`World::links`].
    pub body_idx: usize,
    /// Of a sensor of a joint.
    pub joint: Option<JointSite>,
    /// The innermost model around it; none of a joint of the world.
    around: Option<&'a Model>,
    /// The link or joint in that model.
    model_from_owner: Transform,
    kept: &'a Opaque,
    place: Option<Place>,
}

/// The joint that a sensor was declared on.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSite {
    /// Its whole name.
    pub name: String,
    /// The body that carries it; none is the world.
    pub parent: Option<usize>,
    /// The body it carries.
    pub child: usize,
    /// Its frame in that body.
    pub child_from_joint: Transform,
    /// It holds parent and child together.
    pub is_fixed: bool,
}

impl Found<'_> {
    /// As the World keeps it.
    pub fn xml(&self) -> &str {
        &self.kept.xml
    }

    /// Shows every `<sensor>` in it, one but for `<gazebo>` of URDF, and gives back what was
    /// found wrong. `noun` and `code` are what defects are called.
    pub fn read(
        &self,
        (noun, code): (&str, &'static str),
        mut then: impl FnMut(Element<'_>),
    ) -> Vec<Diagnostic> {
        let text = parsable(&self.kept.xml);
        let document = match Document::parse(&text) {
            Ok(document) => document,
            Err(error) => {
                let message = format!("{noun} of `{}`: {error}", self.owner);
                return vec![Diagnostic::error(code, message).at_maybe(self.place.clone())];
            }
        };
        let whose = match document.root_element().attribute("name") {
            Some(name) => format!("{noun} `{}`", join_scope(&self.owner, name)),
            None => format!("{noun} of `{}`", self.owner),
        };
        let piece = Piece::new(code, whose, self.kept, &text, &document, self.place.as_ref());
        match piece.root() {
            root if root.name() == "sensor" => then(root),
            gazebo => gazebo.children("sensor").for_each(then),
        }
        piece.into_findings()
    }

    /// The pose of the sensor in its link or joint.
    pub fn owner_from_sensor(&self, element: Element<'_>) -> Transform {
        let (pose, frame) = element.pose();
        let Some((at, frame)) = frame else { return pose };
        if self.owner.rsplit("::").next() == Some(frame) {
            return pose;
        }
        let found = self.around.and_then(|around| frame::model_from(around, frame));
        if found.is_none() {
            let known = self.around.map(frame::names).unwrap_or_default();
            let message = format!("no frame `{frame:.60}` around `{}`", self.owner);
            at.fault(message, names::suggestion(frame, known));
        }
        let owner_from_model = self.model_from_owner.inverse();
        found.map_or(pose, |model_from_frame| owner_from_model * model_from_frame * pose)
    }
}

/// Every sensor that a World keeps, those of links first.
pub fn sensors_of<'a>(world: &'a World, places: &Places) -> Vec<Found<'a>> {
    let links = world.links();
    let place_of =
        |what: &str, owner: &str, idx: usize| places.find(&format!("{what} {owner}#sensor {idx}"));
    let mut found = Vec::new();
    for (body_idx, placed) in links.iter().enumerate() {
        found.extend(sensors(&placed.link.opaque).map(|(idx, kept)| Found {
            owner: placed.name.clone(),
            robot: placed.robot.to_string(),
            body_idx,
            joint: None,
            around: Some(placed.model),
            model_from_owner: placed.link.model_from_link,
            kept,
            place: place_of("link", &placed.name, idx),
        }));
    }
    let body = |name: String| links.iter().position(|link| link.name == name);
    for placed in world.joints() {
        let joint = placed.joint;
        if sensors(&joint.opaque).next().is_none() {
            continue;
        }
        let Some(child) = body(join_scope(&placed.scope, &joint.child)) else { continue };
        let parent = joint.parent.as_ref().and_then(|name| body(join_scope(&placed.scope, name)));
        let site = JointSite {
            name: placed.name.clone(),
            parent,
            child,
            child_from_joint: joint.child_from_joint,
            is_fixed: joint.kind == JointKind::Fixed,
        };
        let around = model_called(world, &placed.scope);
        let model_from_child = around.and_then(|around| frame::model_from(around, &joint.child));
        let robot = if placed.robot.is_empty() { links[child].robot } else { placed.robot };
        found.extend(sensors(&joint.opaque).map(|(idx, kept)| Found {
            owner: placed.name.clone(),
            robot: robot.to_string(),
            body_idx: child,
            joint: Some(site.clone()),
            around,
            model_from_owner: model_from_child.unwrap_or_default() * joint.child_from_joint,
            kept,
            place: place_of("joint", &placed.name, idx),
        }));
    }
    found
}

/// The sensors among what is kept, each with its number there.
fn sensors(kept: &[Opaque]) -> impl Iterator<Item = (usize, &Opaque)> {
    let is_sensor = |kept: &Opaque| match kept.format {
        "sdf" => kept.kind == "sensor",
        "urdf" => kept.kind == "gazebo" && kept.xml.contains("<sensor"),
        _ => false,
    };
    kept.iter().enumerate().filter(move |(_, kept)| is_sensor(kept))
}

fn model_called<'a>(world: &'a World, scope: &str) -> Option<&'a Model> {
    let mut found = None;
    world.visit_models(&mut |at| {
        if at.scope == scope {
            found = Some(at.model);
        }
    });
    found
}
