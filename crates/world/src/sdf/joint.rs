//! `joint`: kind, axes, limits; and its place once the frames are known.

use headland_base::maths::TAU;
use headland_base::{Diagnostic, Place, Transform, Vec3, names};
use roxmltree::Node;

use super::frames::{Named, Pose, Scope};
use super::reader::Reader;
use crate::assets::unit_vector;
use crate::check::check_axes;
use crate::xml::{self, HEADLAND_NAMESPACE, Xml};
use crate::{Axis, Joint, JointKind, Mimic, Opaque, Places};

/// A joint whose place is still to be worked out.
pub(super) struct JointDraft {
    pub name: String,
    pub place: Place,
    pub pose: Pose,
    /// The ends, where the file says them.
    pub child: Option<Named>,
    pub parent: Option<Named>,
    pub kind: JointKind,
    /// The frames the axes are written in, where not in the joint's own.
    pub expressed_in: [Option<Named>; 2],
    pub opaque: Vec<Opaque>,
    /// Its whole name.
    pub whole: String,
}

const KINDS: &[&str] =
    &["fixed", "revolute", "continuous", "prismatic", "ball", "universal", "screw"];

/// What an axis says of how it turns, which a ball joint has no place for.
const BALL_WORDS: &[(&str, &[&str])] = &[
    ("dynamics", &["damping", "friction", "spring_stiffness", "headland:armature"]),
    ("limit", &["lower", "upper"]),
];

/// Files say "no limit" with a large number; SDF's own default was this.
const AS_GOOD_AS_INFINITE: f64 = 1e16;

impl Reader<'_, '_> {
    /// A `joint`; `whole` is its whole name.
    pub fn joint(&mut self, node: Node<'_, '_>, name: String, whole: &str) -> JointDraft {
        let place = self.xml.place(node);
        self.shared.places.insert(format_args!("joint {whole}"), place.clone());
        let (parent, child) =
            (self.required_text(node, "parent"), self.required_text(node, "child"));
        for (detail, end) in [("parent", &parent), ("child", &child)] {
            if let Some(named) = end {
                self.shared
                    .places
                    .insert(format_args!("joint {whole}#{detail}"), named.place.clone());
            }
        }
        let pose = self.pose(node);
        let (kind, expressed_in) = self.kind(node, whole);
        let mut opaque = Vec::new();
        for child in node.children() {
            if xml::is_named(child, "sensor") {
                self.sensor_place(child, "joint", whole, opaque.len());
                opaque.push(self.keep(child));
            } else if xml::is_named(child, "headland:foreign") {
                opaque.extend(self.foreign(child));
            }
        }
        let whole = whole.to_string();
        JointDraft { name, place, pose, child, parent, kind, expressed_in, opaque, whole }
    }

    fn kind(&mut self, node: Node<'_, '_>, whole: &str) -> (JointKind, [Option<Named>; 2]) {
        let Some(word) = self.required_attribute(node, "type") else {
            return self.some_kind(node, whole);
        };
        let one = |(axis, frame), make: fn(Axis) -> JointKind| (make(axis), [frame, None]);
        match word.name.as_str() {
            "fixed" => (JointKind::Fixed, [None, None]),
            "ball" => {
                self.tell_ball(node);
                (JointKind::Ball, [None, None])
            }
            "revolute" => one(self.axis(node, "axis", whole), JointKind::Revolute),
            "prismatic" => one(self.axis(node, "axis", whole), JointKind::Prismatic),
            "continuous" => {
                let (mut axis, frame) = self.axis(node, "axis", whole);
                (axis.lower, axis.upper) = (f64::NEG_INFINITY, f64::INFINITY);
                one((axis, frame), JointKind::Continuous)
            }
            "universal" => {
                let (first, second) =
                    (self.axis(node, "axis", whole), self.axis(node, "axis2", whole));
                let ((first, first_frame), (second, second_frame)) = (first, second);
                (JointKind::Universal(first, second), [first_frame, second_frame])
            }
            "screw" => {
                let (axis, frame) = self.axis(node, "axis", whole);
                let metres_per_radian = self.metres_per_radian(node);
                (JointKind::Screw { axis, metres_per_radian }, [frame, None])
            }
            other => {
                self.no_such_kind(other, &word.place);
                self.some_kind(node, whole)
            }
        }
    }

    /// A ball joint turns freely here: what its axes say of dynamics and limits is told.
    fn tell_ball(&mut self, node: Node<'_, '_>) {
        let mut found: Vec<(&str, Place)> = Vec::new();
        for axis in ["axis", "axis2"].into_iter().filter_map(|name| xml::child(node, name)) {
            for (part, names) in BALL_WORDS {
                let Some(part) = xml::child(axis, part) else { continue };
                for name in *names {
                    let Some(child) = xml::child(part, name) else { continue };
                    let Some(value) = self.xml.number_or_infinite(child) else { continue };
                    let says_nothing = match part.tag_name().name() {
                        "limit" => value.abs() >= AS_GOOD_AS_INFINITE,
                        _ => value == 0.0,
                    };
                    if !says_nothing && !found.iter().any(|(known, _)| known == name) {
                        found.push((name, self.xml.place(child)));
                    }
                }
            }
        }
        let words: Vec<String> = found.iter().map(|(name, _)| format!("`{name}`")).collect();
        let is = if words.len() == 1 { "is" } else { "are" };
        let Some((_, place)) = found.into_iter().next() else { return };
        let message =
            format!("{} of a ball joint {is} not interpreted: it turns freely", words.join(", "));
        self.xml.findings.push(Diagnostic::warning("not-interpreted", message).at(place));
    }

    /// A kind with as many axes as are there, where the file names none that is known, which
    /// is reported: so that the axes get their look.
    fn some_kind(&mut self, node: Node<'_, '_>, whole: &str) -> (JointKind, [Option<Named>; 2]) {
        let mut axis = |name| xml::child(node, name).map(|_| self.axis(node, name, whole));
        match (axis("axis"), axis("axis2")) {
            (Some((first, first_frame)), Some((second, second_frame))) => {
                (JointKind::Universal(first, second), [first_frame, second_frame])
            }
            (Some((axis, frame)), None) | (None, Some((axis, frame))) => {
                (JointKind::Revolute(axis), [frame, None])
            }
            (None, None) => (JointKind::Fixed, [None, None]),
        }
    }

    fn no_such_kind(&mut self, word: &str, place: &Place) {
        let diagnostic = match word {
            "revolute2" => {
                Diagnostic::error("unsupported-joint", "`revolute2` joints are not read").help(
                    "use two `revolute` joints with a small link between them, or `universal`",
                )
            }
            "gearbox" => Diagnostic::error("unsupported-joint", "`gearbox` joints are not read")
                .help("use a `mimic` on the follower's axis (SDF 1.11)"),
            _ => Diagnostic::error("unknown-word", format!("no kind of joint `{word}`"))
                .help_maybe(names::suggestion(word, KINDS.iter().copied())),
        };
        self.xml.findings.push(diagnostic.at(place.clone()));
    }

    /// Advance per radian, from either of SDF's two words for it. `screw_thread_pitch` is
    /// metres per turn, right-handed; the older `thread_pitch` is radians per metre,
    /// left-handed, as Gazebo Classic took it.
    fn metres_per_radian(&mut self, node: Node<'_, '_>) -> f64 {
        if let Some(child) = self.one(node, "screw_thread_pitch") {
            let metres_per_turn = self.xml.number(child).unwrap_or(1.0);
            let exact = child
                .attribute((HEADLAND_NAMESPACE, "metres_per_radian"))
                .and_then(|text| text.trim().parse::<f64>().ok())
                .filter(|exact| {
                    (exact * TAU - metres_per_turn).abs() <= 1e-14 * metres_per_turn.abs()
                });
            return exact.unwrap_or(metres_per_turn / TAU);
        }
        match self.one(node, "thread_pitch") {
            Some(child) => match self.xml.number(child) {
                Some(0.0) => {
                    let message = "a `thread_pitch` of 0 rad/m never moves along its axis";
                    self.xml.error("not-positive", message, child);
                    1.0 / TAU
                }
                Some(left_handed_radians_per_metre) => -1.0 / left_handed_radians_per_metre,
                None => 1.0 / TAU,
            },
            None => 1.0 / TAU,
        }
    }

    /// An axis. One without a direction, which is reported, is along z, so that the rest of
    /// the joint gets its look.
    fn axis(&mut self, joint: Node<'_, '_>, name: &str, whole: &str) -> (Axis, Option<Named>) {
        let Some(node) = self.required(joint, name) else { return (Axis::along(Vec3::Z), None) };
        let (direction, frame) = match self.one(node, "xyz") {
            Some(xyz) => {
                self.shared
                    .places
                    .insert(format!("joint {whole}#{name}"), self.xml.text_place(xyz));
                (self.axis_direction(xyz), self.attribute(xyz, "expressed_in"))
            }
            None => (Some(Vec3::Z), None),
        };
        let frame = self.old_axis_frame(node).or(frame);
        let mut axis = Axis::along(direction.unwrap_or(Vec3::Z));
        if let Some(dynamics) = self.one(node, "dynamics") {
            axis.damping = self.number_in(dynamics, "damping").unwrap_or(0.0);
            axis.friction = self.number_in(dynamics, "friction").unwrap_or(0.0);
            axis.spring_reference = self.number_in(dynamics, "spring_reference").unwrap_or(0.0);
            axis.spring_stiffness = self.number_in(dynamics, "spring_stiffness").unwrap_or(0.0);
            axis.armature = self.number_in(dynamics, "headland:armature").unwrap_or(0.0);
        }
        if let Some(limit) = self.one(node, "limit") {
            let place = self.xml.place(limit);
            self.shared.places.insert(format_args!("joint {whole}#{name} limit"), place);
            axis.lower = self.limit_in(limit, "lower").unwrap_or(f64::NEG_INFINITY);
            axis.upper = self.limit_in(limit, "upper").unwrap_or(f64::INFINITY);
            axis.effort_max = self.most_in(limit, "effort");
            axis.velocity_max = self.most_in(limit, "velocity");
        }
        axis.mimic = self.mimic(node);
        let said = self
            .one(node, "headland:initial_position")
            .or_else(|| self.one(node, "initial_position"));
        axis.initial_position = match said {
            None => 0.0,
            // A number that is none is reported; it is not also outside the limits.
            Some(said) => self.xml.number(said).unwrap_or(0f64.max(axis.lower).min(axis.upper)),
        };
        (axis, frame)
    }

    /// A direction of length one, or the finding that it is not.
    fn axis_direction(&mut self, xyz: Node<'_, '_>) -> Option<Vec3> {
        let vector = self.xml.vec3(xyz)?;
        let place = self.xml.text_place(xyz);
        let Some(unit) = unit_vector(vector) else {
            self.xml.findings.push(
                Diagnostic::error("zero-axis", "the axis has no direction")
                    .at(place)
                    .help("an axis along z is written 0 0 1"),
            );
            return None;
        };
        let length = vector.length();
        if (length - 1.0).abs() > crate::check::AXIS_LENGTH_SLACK {
            let message = format!("the axis has length {length:.6}, not 1");
            let make = if self.xml.lenient { Diagnostic::warning } else { Diagnostic::error };
            let help = format!("the same direction: {:.9} {:.9} {:.9}", unit.x, unit.y, unit.z);
            self.xml.findings.push(make("non-unit-axis", message).at(place).help(help));
        }
        Some(unit)
    }

    /// Up to 1.4 axes were in the model's frame; 1.5 and 1.6 had a word for it.
    fn old_axis_frame(&mut self, axis: Node<'_, '_>) -> Option<Named> {
        let place = self.xml.place(axis);
        let model = Named { name: "__model__".to_string(), place };
        let asked = self.one(axis, "use_parent_model_frame");
        if self.version <= 4 {
            return Some(model);
        }
        let asked = asked?;
        if self.version >= 7 {
            let place = self.xml.place(asked);
            let message = "no element `use_parent_model_frame` in `axis`".to_string();
            let help = Some("since SDF 1.7 it is `<xyz expressed_in=\"__model__\">`".to_string());
            self.xml.unknown("unknown-element", message, place, help);
            return None;
        }
        self.xml.boolean(asked)?.then_some(model)
    }

    fn limit_in(&mut self, node: Node<'_, '_>, name: &str) -> Option<f64> {
        let child = self.one(node, name)?;
        self.xml
            .number_or_infinite(child)
            .map(|x| if x.abs() >= AS_GOOD_AS_INFINITE { f64::INFINITY.copysign(x) } else { x })
    }

    /// A largest effort or speed; SDF says "no limit" with any negative number.
    fn most_in(&mut self, node: Node<'_, '_>, name: &str) -> f64 {
        self.limit_in(node, name).filter(|most| *most >= 0.0).unwrap_or(f64::INFINITY)
    }

    fn mimic(&mut self, axis: Node<'_, '_>) -> Option<Mimic> {
        let node = self.one(axis, "mimic")?;
        let leader = self.required_attribute(node, "joint")?.name;
        let leader_axis = match self.attribute(node, "axis") {
            None => 0,
            Some(named) => match named.name.as_str() {
                "axis" => 0,
                "axis2" => 1,
                other => {
                    let message = format!("no axis `{other}`");
                    self.xml.findings.push(
                        Diagnostic::error("unknown-word", message)
                            .at(named.place)
                            .help("known here: `axis`, `axis2`"),
                    );
                    return None;
                }
            },
        };
        Some(Mimic {
            leader,
            leader_axis,
            multiplier: self.number_in(node, "multiplier").unwrap_or(1.0),
            offset: self.number_in(node, "offset").unwrap_or(0.0),
            reference: self.number_in(node, "reference").unwrap_or(0.0),
        })
    }
}

impl JointDraft {
    /// The joint, now that every frame of its scope is known. `None` when an end of it is
    /// not there, which is reported.
    pub fn place(
        mut self,
        xml: &mut Xml<'_>,
        places: &Places,
        scope: &Scope,
        scope_from_joint: Transform,
    ) -> Option<Joint> {
        let child = self.child.as_ref().and_then(|child| end_of(xml, scope, child));
        let parent = self.parent.as_ref().and_then(|parent| end_of(xml, scope, parent));
        for (axis, frame) in self.kind.axes_mut().into_iter().zip(&self.expressed_in) {
            let Some(frame) = frame else { continue };
            match scope.find(&frame.name) {
                Ok(found) => {
                    let joint_from_frame =
                        scope_from_joint.rotation.conjugate() * found.scope_from_frame.rotation;
                    let turned = joint_from_frame * axis.direction;
                    axis.direction = unit_vector(turned).unwrap_or(axis.direction);
                }
                Err(missing) => missing.report(&frame.name, &frame.place, xml.findings),
            }
        }
        let (Some(named), Some(child)) = (self.child, child) else {
            tell_axes(xml, places, &self.whole, &self.kind);
            return None;
        };
        let Some(child) = child else {
            let message = format!("`{}` moves with the world and cannot be a child", named.name);
            xml.findings.push(
                Diagnostic::error("bad-child", message)
                    .at(named.place)
                    .help("the world can only be the parent of a joint"),
            );
            tell_axes(xml, places, &self.whole, &self.kind);
            return None;
        };
        // Written in the frame of a link that is the child itself, the pose is the answer
        // to the last bit; otherwise it is worked out.
        let in_child_link = child == named.name
            && self.pose.relative_to.as_ref().is_none_or(|named| named.name == child);
        let child_from_joint = if in_child_link {
            self.pose.transform
        } else {
            let scope_from_child = scope.find(&child).map(|found| found.scope_from_frame);
            scope_from_child.unwrap_or_default().inverse() * scope_from_joint
        };
        Some(Joint {
            name: self.name,
            // A parent that is not there is told; the rest of the joint gets its look.
            parent: parent.flatten(),
            child,
            child_from_joint: super::tidy(child_from_joint),
            kind: self.kind,
            opaque: self.opaque,
        })
    }
}

/// What is wrong with the axes of a joint that is left out. Of the others the check of the
/// finished world tells it.
fn tell_axes(xml: &mut Xml<'_>, places: &Places, whole: &str, kind: &JointKind) {
    if !xml.findings.is_full() {
        xml.findings.extend(check_axes(whole, kind, places));
    }
}

/// The link a joint's end moves with: `Some(None)` is the world, `None` is a name that is
/// not there.
fn end_of(xml: &mut Xml<'_>, scope: &Scope, end: &Named) -> Option<Option<String>> {
    match scope.find(&end.name) {
        Ok(found) => Some(found.link),
        Err(_) if end.name == "world" => Some(None),
        Err(missing) if missing.is_excused => None,
        Err(missing) => {
            let message = format!("no link or frame named `{}`", end.name);
            let help = missing.suggestion(xml.findings);
            xml.findings.push(
                Diagnostic::error("unknown-link", message).at(end.place.clone()).help_maybe(help),
            );
            None
        }
    }
}
