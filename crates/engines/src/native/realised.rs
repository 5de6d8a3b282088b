//! What a world asks for and gets in another way, or not at all: told before a run.
//!
//! Of its surfaces:
//!
//! | asked | `hard` | `soft`, `soft-coulomb` |
//! |---|---|---|
//! | `mu`, `mu2` | the mean of both, in every direction, 10 at most | left out: those of `<surface>` |
//! | restitution | as asked | left out: the separation of `<surface>` |
//! | `<surface>` of `headland:native` | is not for it | as asked |
//! | slip, torsional friction, friction direction, bounce threshold, contact stiffness | left out | left out |
//!
//! Of how it begins: velocities that joints do not allow, or that a detail does not have.

use headland_base::Diagnostic;
use headland_sim::tree::Forest;
use headland_sim::{Model, State, asked_of_contacts};
use headland_world::{ContactLaw, Surface, Twist};

use super::packing::Packing;
use super::rows::MU_MAX;

/// Everything that is realised differently from what was asked, each once.
pub(super) fn remarks(model: &Model) -> Vec<Diagnostic> {
    let native = &model.world.physics.native;
    let law = native.law.unwrap_or(ContactLaw::Hard);
    let mut words = match law {
        ContactLaw::Hard => [by_direction(model), beyond_measure(model)].concat(),
        ContactLaw::Soft | ContactLaw::SoftCoulomb => left_to_rows(model, law),
    };
    // Whoever names the law beside them knows what they are for.
    if native.law.is_none() && !native.surface_laws.is_empty() {
        words.push(
            "<surface> of headland:native is for the soft laws: `hard`, the law where none is named, \
             takes friction and restitution of the collisions"
                .to_string(),
        );
    }
    words.extend(left_out(model));
    words.into_iter().map(|text| Diagnostic::remark("realised", text)).collect()
}

/// Friction that differs by direction, where directions make no difference.
fn by_direction(model: &Model) -> Vec<String> {
    let differs = |surface: &Surface| surface.mu() != surface.mu2();
    let first = surfaces(model).find(|(_, surface)| differs(surface));
    let told = first.map(|(name, surface)| {
        let (mu, mu2) = (surface.mu(), surface.mu2());
        let (mean, others) = (0.5 * (mu + mu2), others(model, differs));
        format!(
            "link `{name}`: friction {mu} and {mu2} by direction becomes {mean} in every \
             direction{others}"
        )
    });
    told.into_iter().collect()
}

/// Friction that is more than anything has.
fn beyond_measure(model: &Model) -> Vec<String> {
    let is_beyond = |surface: &Surface| 0.5 * (surface.mu() + surface.mu2()) > MU_MAX;
    if !surfaces(model).any(|(_, surface)| is_beyond(surface)) {
        return Vec::new();
    }
    vec![format!("{}: friction above {MU_MAX} acts as {MU_MAX}", links(model, is_beyond))]
}

/// What the soft laws take from rows of their own.
fn left_to_rows(model: &Model, law: ContactLaw) -> Vec<String> {
    let asks_friction = |surface: &Surface| surface.mu.is_some() || surface.mu2.is_some();
    let asks_restitution = |surface: &Surface| surface.restitution() > 0.0;
    // The law as the document has it knows no friction coefficient at all.
    let friction = if law == ContactLaw::Soft { "<sliding>" } else { "<mu>" };
    let left_out = |who: String, what: &str, element: &str| {
        let law = law.word();
        format!("{who}: {what} left out, law `{law}` has {element} of <surface> in headland:native")
    };
    let mut out = Vec::new();
    if surfaces(model).any(|(_, surface)| asks_friction(surface)) {
        out.push(left_out(links(model, asks_friction), "friction", friction));
    }
    if surfaces(model).any(|(_, surface)| asks_restitution(surface)) {
        out.push(left_out(links(model, asks_restitution), "restitution", "<separation>"));
    }
    out
}

/// What no law has a word for.
fn left_out(model: &Model) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    for word in surfaces(model).flat_map(|(_, surface)| asked_of_contacts(surface)) {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    if seen.is_empty() {
        return Vec::new();
    }
    let is_any = |surface: &Surface| !asked_of_contacts(surface).is_empty();
    vec![format!("{}: {} left out", links(model, is_any), seen.join(", "))]
}

/// First velocities that are not those the world gives: found by how the robots begin, so only for
/// a model that can be moved.
pub(super) fn first_velocities(model: &Model) -> Option<Diagnostic> {
    let is_moving = |twist: &Twist| *twist != Twist::default();
    if !model.rigids.iter().any(|rigid| is_moving(&rigid.twist)) {
        return None;
    }
    let state = State::initial(model);
    let mut begun = state.clone();
    for pack in &mut Packing::of(model).packs(model, &state) {
        pack.place(&state);
        pack.write(&mut begun);
    }
    let differs = |i: &usize| {
        let (asked, is) = (state.rigids[*i].twist, begun.rigids[*i].twist);
        if !is_moving(&asked) {
            return false; // nothing was asked of it: it goes along
        }
        let off = (asked.linear - is.linear).length() + (asked.angular - is.angular).length();
        off > SAME_VELOCITY * (1.0 + asked.linear.length() + asked.angular.length())
    };
    let differing: Vec<usize> = (0..model.rigids.len()).filter(differs).collect();
    let first = *differing.first()?;
    let written = |twist: Twist| {
        let [x, y, z] = twist.linear.to_array().map(rounded);
        let [a, b, c] = twist.angular.to_array().map(rounded);
        format!("`{x} {y} {z} {a} {b} {c}`")
    };
    let name = &model.bodies[model.rigids[first].body_idxs[0]].name;
    let more = match differing.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let asked = written(state.rigids[first].twist);
    // Loops are closed in the first step, which changes it once more.
    let forest = Forest::of(model);
    let has_loops = |tree: usize| !forest.trees[tree].loops.is_empty();
    let begins = match forest.places[first] {
        Some((tree, _)) if has_loops(tree) => String::new(),
        _ => format!("; it begins with {}", written(begun.rigids[first].twist)),
    };
    let text = format!(
        "link `{name}`{more}: its first velocity {asked} is not one that its joints and its detail \
         leave free{begins}"
    );
    let help = "give every link of the robot the headland:twist that it has when the robot moves as \
                a whole, or begin with joints at rest";
    Some(Diagnostic::remark("realised", text).help(help))
}

/// Velocities that differ by less, seen against their size, are the same.
const SAME_VELOCITY: f64 = 1e-6;

/// To six digits after the point, and no minus before nothing.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6 + 0.0
}

fn surfaces(model: &Model) -> impl Iterator<Item = (&str, &Surface)> {
    model
        .bodies
        .iter()
        .flat_map(|body| body.shapes.iter().map(|shape| (body.name.as_str(), &shape.surface)))
}

/// The first link with such a surface by name, and how many more.
fn links(model: &Model, is_asked: impl Fn(&Surface) -> bool) -> String {
    match with_such(model, is_asked)[..] {
        [only] => format!("link `{only}`"),
        [first, ref others @ ..] => format!("link `{first}` and {} more", others.len()),
        [] => unreachable!("somebody asked"),
    }
}

/// How many more than the first there are, if there are any.
fn others(model: &Model, is_asked: impl Fn(&Surface) -> bool) -> String {
    match with_such(model, is_asked).len() {
        0 | 1 => String::new(),
        n => format!("; likewise {} more", n - 1),
    }
}

fn with_such(model: &Model, is_asked: impl Fn(&Surface) -> bool) -> Vec<&str> {
    let mut names: Vec<&str> =
        surfaces(model).filter(|(_, surface)| is_asked(surface)).map(|(name, _)| name).collect();
    names.dedup();
    names
}
