//! Values of options that several commands take: words go in, what they mean or what is wrong comes
//! out.

use headland_base::{SimDuration, SimTime, names};
use headland_record::parse_seconds;
use headland_world::{ContactLaw, Detail, Integrator};

pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        Ok(_) => Err("must be a finite number above zero".to_string()),
        Err(_) => Err(format!("`{text}` is not a number")),
    }
}

/// A moment, to the nanosecond.
pub(super) fn moment(text: &str) -> Result<SimTime, String> {
    parse_seconds(text).ok_or_else(|| format!("`{text}` is not a moment in seconds"))
}

pub(super) fn duration(text: &str) -> Result<SimDuration, String> {
    moment(text).map(|moment| moment - SimTime::ZERO)
}

pub(super) fn above_zero(text: &str) -> Result<SimDuration, String> {
    let found = duration(text).map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if found > SimDuration::ZERO { Ok(found) } else { Err("must be above zero".to_string()) }
}

pub(super) fn not_negative(text: &str) -> Result<SimDuration, String> {
    let found = duration(text).map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if found < SimDuration::ZERO { Err("must not be below zero".to_string()) } else { Ok(found) }
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a number between 0 and 1".to_string()),
    }
}

pub(super) fn gains(text: &str) -> Result<(f64, f64), String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([kp, kd]) if *kp >= 0.0 && *kd >= 0.0 && kp.is_finite() && kd.is_finite() => {
            Ok((*kp, *kd))
        }
        _ => Err("write two numbers, not below zero, with a comma between: 100,10".to_string()),
    }
}

/// `link/arm/inertial/mass=1.2`.
pub(super) fn setting(text: &str) -> Result<(String, f64), String> {
    named_number(text, "say PATH=VALUE: link/arm/inertial/mass=1.2")
}

pub(super) fn named_number(text: &str, help: &str) -> Result<(String, f64), String> {
    let (path, value) = text.rsplit_once('=').ok_or(help)?;
    match value.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && !path.trim().is_empty() => {
            Ok((path.trim().to_string(), value))
        }
        _ => Err(help.to_string()),
    }
}

/// `striker=com`, or `all=com`.
pub(super) fn detail(text: &str) -> Result<(String, Detail), String> {
    let (name, level) = text.rsplit_once('=').ok_or("write it as NAME=LEVEL: striker=com")?;
    Ok((name.to_string(), one_of(level, Detail::ALL)?))
}

pub(super) fn law(text: &str) -> Result<ContactLaw, String> {
    one_of(text, ContactLaw::ALL)
}

/// `rk4`, or `adaptive:1e-9`.
pub(super) fn integrator(text: &str) -> Result<Integrator, String> {
    let Some((name, tolerance)) = text.split_once(':') else {
        return one_of(text, Integrator::ALL);
    };
    match one_of(name, Integrator::ALL)? {
        Integrator::Adaptive { .. } => {
            let tolerance = positive(tolerance)?;
            if !Integrator::is_tolerance(tolerance) {
                return Err(format!("a tolerance is {} at most", Integrator::LOOSEST));
            }
            Ok(Integrator::Adaptive { tolerance: Some(tolerance) })
        }
        fixed => Err(format!(
            "`{}` takes the steps it is given; only `adaptive` has a tolerance",
            fixed.word()
        )),
    }
}

/// What [`integrator`] understands as the same.
pub fn integrator_in_words(integrator: Integrator) -> String {
    match integrator.tolerance() {
        Some(tolerance) => format!("{}:{tolerance:?}", integrator.word()),
        None => integrator.word().to_string(),
    }
}

/// One of a list of words, or the nearest to what was meant.
pub(super) fn one_of<T: Copy>(word: &str, all: &[(&'static str, T)]) -> Result<T, String> {
    let found = all.iter().find(|(known, _)| *known == word).map(|(_, one)| *one);
    found.ok_or_else(|| {
        let near = names::nearest(word, all.iter().map(|(known, _)| *known));
        let known: Vec<_> = all.iter().map(|(known, _)| format!("`{known}`")).collect();
        match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", known.join(", ")),
        }
    })
}
