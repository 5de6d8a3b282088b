//! Frames that a pose of a sensor may be written in: those of the model around it.
//!
//! They are taken where the model puts them before its joints move, as SDF does.

use headland_base::Transform;
use headland_world::Model;

/// `model_from_frame` of a link, frame, joint or model by its name in the model:
/// `wrist`, `arm::tool`, `__model__`.
pub fn model_from(model: &Model, name: &str) -> Option<Transform> {
    if name == "__model__" {
        return Some(Transform::IDENTITY);
    }
    if let Some((inner, rest)) = name.split_once("::") {
        let inner = model.models.iter().find(|candidate| candidate.name == inner)?;
        return Some(inner.parent_from_model * model_from(inner, rest)?);
    }
    let link = model.links.iter().find(|link| link.name == name);
    let frame = model.frames.iter().find(|frame| frame.name == name);
    let inner = model.models.iter().find(|inner| inner.name == name);
    let joint = || {
        let joint = model.joints.iter().find(|joint| joint.name == name)?;
        Some(model_from(model, &joint.child)? * joint.child_from_joint)
    };
    link.map(|link| link.model_from_link)
        .or_else(|| frame.map(|frame| frame.scope_from_frame))
        .or_else(|| inner.map(|inner| inner.parent_from_model))
        .or_else(joint)
}

/// The names that [`model_from`] knows without going into inner models.
pub fn names(model: &Model) -> Vec<&str> {
    let links = model.links.iter().map(|link| link.name.as_str());
    let frames = model.frames.iter().map(|frame| frame.name.as_str());
    let joints = model.joints.iter().map(|joint| joint.name.as_str());
    let inner = model.models.iter().map(|inner| inner.name.as_str());
    links.chain(frames).chain(joints).chain(inner).chain(["__model__"]).collect()
}
