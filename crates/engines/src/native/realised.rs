//! What a world asks of its surfaces and gets in another way, or not at all: told before a run.
//!
//! | asked | `hard` | `soft`, `soft-coulomb` |
//! |---|---|---|
//! | `mu`, `mu2` | the mean of both, in every direction | left out: those of `<surface>` |
//! | restitution | as asked | left out: the separation of `<surface>` |
//! | `<surface>` of `headland:native` | is not for it | as asked |
//! | slip, torsional friction, friction direction, bounce threshold, contact stiffness | left out | left out |

use headland_base::Diagnostic;
use headland_sim::Model;
use headland_world::{ContactLaw, Surface};

/// Everything that is realised differently from what was asked, each once.
pub(super) fn remarks(model: &Model) -> Vec<Diagnostic> {
    let native = &model.world.physics.native;
    let law = native.law.unwrap_or(ContactLaw::Hard);
    let mut words = match law {
        ContactLaw::Hard => by_direction(model),
        ContactLaw::Soft | ContactLaw::SoftCoulomb => left_to_rows(model, law),
    };
    if law == ContactLaw::Hard && !native.surface_laws.is_empty() {
        words.push(
            "<surface> of headland:native is for the soft laws: `hard` takes friction and restitution \
             of the collisions"
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
    let told = first.map(|(_, surface)| {
        let (mu, mu2) = (surface.mu(), surface.mu2());
        let who = links(model, differs);
        format!("{who}: friction {mu} and {mu2} by direction becomes the mean in every direction")
    });
    told.into_iter().collect()
}

/// What the soft laws take from rows of their own.
fn left_to_rows(model: &Model, law: ContactLaw) -> Vec<String> {
    let asked: [(&str, &str, fn(&Surface) -> bool); 2] = [
        ("friction", "<mu>", |surface| surface.mu.is_some() || surface.mu2.is_some()),
        ("restitution", "<separation>", |surface| surface.restitution() > 0.0),
    ];
    let mut out = Vec::new();
    for (what, element, is_asked) in asked {
        // The law as the document has it knows no friction coefficient at all.
        let element =
            if (law, what) == (ContactLaw::Soft, "friction") { "<sliding>" } else { element };
        if surfaces(model).any(|(_, surface)| is_asked(surface)) {
            let who = links(model, is_asked);
            let law = law.word();
            out.push(format!(
                "{who}: {what} left out, law `{law}` has {element} of <surface> in headland:native"
            ));
        }
    }
    out
}

/// What no law has a word for.
fn left_out(model: &Model) -> Vec<String> {
    let asked: [(&str, fn(&Surface) -> bool); 5] = [
        ("friction direction", |surface| surface.friction_direction.is_some()),
        ("slip", |surface| surface.slip.is_some_and(|slip| slip != (0.0, 0.0))),
        ("torsional friction", |surface| surface.torsional.is_some()),
        ("bounce threshold", |surface| surface.bounce_threshold.is_some_and(|speed| speed > 0.0)),
        ("contact stiffness", |surface| surface.stiffness.is_some() || surface.damping.is_some()),
    ];
    let is_any = |surface: &Surface| asked.iter().any(|(_, is_asked)| is_asked(surface));
    let is_seen = |is_asked: fn(&Surface) -> bool| surfaces(model).any(|(_, at)| is_asked(at));
    let seen: Vec<&str> =
        asked.iter().filter(|(_, is_asked)| is_seen(*is_asked)).map(|(word, _)| *word).collect();
    if seen.is_empty() {
        return Vec::new();
    }
    vec![format!("{}: {} left out", links(model, is_any), seen.join(", "))]
}

fn surfaces(model: &Model) -> impl Iterator<Item = (&str, &Surface)> {
    model
        .bodies
        .iter()
        .flat_map(|body| body.shapes.iter().map(|shape| (body.name.as_str(), &shape.surface)))
}

/// The first link with such a surface by name, and how many more.
fn links(model: &Model, is_asked: impl Fn(&Surface) -> bool) -> String {
    let mut names: Vec<&str> =
        surfaces(model).filter(|(_, surface)| is_asked(surface)).map(|(name, _)| name).collect();
    names.dedup();
    match names[..] {
        [only] => format!("link `{only}`"),
        [first, ..] => format!("link `{first}` and {} more", names.len() - 1),
        [] => unreachable!("somebody asked"),
    }
}
