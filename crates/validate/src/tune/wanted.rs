//! The numbers that are wanted, and between which values.

use headland_base::Diagnostic;
use headland_base::maths::{exp, log, sqrt};
use headland_base::names::suggestion;
use headland_world::parameter::{self, Parameter, Subject, pseudo};

/// A number that is wanted: everything a path names, with one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// As it was written, or the number's own path.
    pub name: String,
    /// All that get the value.
    pub parameters: Vec<Parameter>,
    /// The lowest it may be.
    pub lower: f64,
    /// The highest it may be.
    pub upper: f64,
    /// Where the search starts; what it is now, on the mean where it is several numbers, or the
    /// middle where that is outside or unknown.
    pub start: f64,
}

impl Wanted {
    /// What a path names, between bounds.
    pub fn new(
        subject: &Subject,
        path: &str,
        lower: f64,
        upper: f64,
    ) -> Result<Wanted, Diagnostic> {
        let parameters = parameter::find(&subject.world, path)?;
        if !(lower < upper && lower.is_finite() && upper.is_finite()) {
            let message = format!("`{path}` cannot be sought from {lower} to {upper}");
            let help = match lower.is_finite() && upper.is_finite() {
                true => "the lower bound comes first: PATH=0.5..2",
                false => "both ends are numbers: give the most that it could be, PATH=0..100",
            };
            return Err(Diagnostic::error("bad-bounds", message).help(help));
        }
        // A bound that the number itself cannot have is refused before the search, not in it.
        for value in [lower, upper] {
            let is_inertia = |fault: &Diagnostic| fault.code == "bad-inertia";
            for one in &parameters {
                one.set(&mut subject.clone(), value).or_else(|fault| match is_inertia(&fault) {
                    true => Ok(()), // depends on the others; the search stays out of it
                    false => Err(fault),
                })?;
            }
        }
        let now: Vec<f64> = parameters.iter().filter_map(|one| one.get(subject)).collect();
        let now = now.iter().sum::<f64>() / now.len() as f64;
        let is_within = (lower..=upper).contains(&now);
        let start = if is_within { now } else { 0.5 * (lower + upper) };
        let name = if parameters.len() == 1 { parameters[0].path() } else { path }.to_string();
        Ok(Wanted { name, parameters, lower, upper, start })
    }

    /// Whether nothing can be beyond its lower (false) or upper (true) bound: friction below zero.
    pub(super) fn ends_at(&self, is_upper: bool) -> bool {
        let (bound, way) = if is_upper { (self.upper, 1.0) } else { (self.lower, -1.0) };
        let beyond = bound + way * 1e-9 * bound.abs().max(1.0);
        self.parameters.iter().any(|parameter| !parameter.may_be(beyond))
    }

    /// All ten numbers of a link's inertia, of which every choice is a body: mass and the spread
    /// of mass within a factor, the centre of mass within as much of the link's extent.
    pub fn inertia(subject: &Subject, link: &str, factor: f64) -> Result<Vec<Wanted>, Diagnostic> {
        if !(factor > 1.0 && factor.is_finite()) {
            let message =
                format!("the inertia of `{link}` cannot be sought within a factor of {factor}");
            return Err(Diagnostic::error("bad-bounds", message).help("a factor is more than 1"));
        }
        let prefix = if link.contains('/') { link.to_string() } else { format!("link/{link}") };
        let log = 0.5 * log(factor);
        let list = parameter::list(&subject.world);
        pseudo::NAMES
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let path = format!("{prefix}/inertial/pseudo/{name}");
                let found = parameter::find_in(&list, &path).map_err(|fault| match fault.code {
                    "unknown-path" => no_link(&list, link),
                    _ => fault,
                })?;
                let now = found[0].get(subject).unwrap_or(0.0);
                let room = if i < 4 { log } else { (factor - 1.0) * extent(subject, &found[0]) };
                Ok(Wanted {
                    name: found[0].path().to_string(),
                    parameters: found,
                    lower: now - room,
                    upper: now + room,
                    start: now,
                })
            })
            .collect()
    }
}

/// What the model has that lies outside of where it is sought: the given model is then no point of
/// the search.
pub(super) fn outside(subject: &Subject, wanted: &Wanted) -> Option<Diagnostic> {
    let now = wanted.parameters.iter().filter_map(|one| one.get(subject));
    // An infinite limit is none: a finite one is sought in its place.
    let is_outside = |now: &f64| now.is_finite() && !(wanted.lower..=wanted.upper).contains(now);
    let now = now.into_iter().find(is_outside)?;
    let message = format!(
        "`{}` is {now} in the model and sought from {} to {}: what is found may be worse than \
         what is there",
        wanted.name, wanted.lower, wanted.upper
    );
    Some(
        Diagnostic::warning("outside-bounds", message)
            .help("let the bounds hold the model's own value, unless it is known to be wrong"),
    )
}

/// What to say of a link that is not there.
fn no_link(list: &[Parameter], link: &str) -> Diagnostic {
    let name = |parameter: &Parameter| {
        let stem = parameter.path().strip_suffix("/inertial/pseudo/alpha")?;
        Some(stem.strip_prefix("link/").unwrap_or(stem).to_string())
    };
    let names: Vec<String> = list.iter().filter_map(name).collect();
    let first: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
    let near = suggestion(link, names.iter().map(String::as_str));
    let help = near.unwrap_or_else(|| format!("links here: {}", first.join(", ")));
    Diagnostic::error("unknown-path", format!("no link with an inertia is called `{link:.120}`"))
        .help(help)
}

/// How far mass is from the centre of a link, from its own coordinates \[m\].
fn extent(subject: &Subject, coordinate: &Parameter) -> f64 {
    let stem = coordinate.whole_path().rsplit_once('/').map_or("", |(stem, _)| stem);
    let list = parameter::list(&subject.world);
    let length = |name: &str| {
        let found = parameter::find_in(&list, &format!("{stem}/{name}")).ok();
        let value = found.and_then(|found| found[0].get(subject)).unwrap_or(0.0);
        if name.starts_with('d') { exp(value) } else { value }
    };
    let all = ["d1", "d2", "d3", "s12", "s23", "s13"].map(length);
    sqrt(all.iter().map(|x| x * x).sum::<f64>())
}

/// Whether a number is among the ten of a whole inertia and the other sets a part of the same
/// inertia.
pub(super) fn are_of_one_body(ten: &Parameter, part: &Parameter) -> bool {
    let inertial = |parameter: &Parameter| {
        let path = parameter.whole_path();
        path.find("/inertial/").map(|at| path[..at].to_string())
    };
    let is_ten = |parameter: &Parameter| parameter.whole_path().contains("/inertial/pseudo/");
    is_ten(ten) && !is_ten(part) && inertial(ten) == inertial(part)
}

/// Whether it is a number of seconds.
pub(super) fn is_time(parameter: &Parameter) -> bool {
    parameter.is_command_delay() || parameter.path() == "physics/step"
}
