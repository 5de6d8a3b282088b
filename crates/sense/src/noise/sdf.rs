//! Noise in SDF: what a file says of an instrument's faults, read and written.
//!
//! ```xml
//! <noise type="gaussian">
//!   <mean>0</mean> <stddev>0.01</stddev>
//!   <bias_mean>0</bias_mean> <bias_stddev>0.002</bias_stddev>
//!   <dynamic_bias_stddev>1e-4</dynamic_bias_stddev>
//!   <dynamic_bias_correlation_time>300</dynamic_bias_correlation_time>
//!   <precision>0.001</precision>
//!   <headland:outliers><rate>0.01</rate><spread>0.5</spread></headland:outliers>
//!   <headland:dropout><rate>0.02</rate><burst>3</burst></headland:dropout>
//! </noise>
//! ```
//!
//! The type may also be an element, as lidars of older files have it. Where Gazebo differs:
//! it turns the sign of a drawn bias around in half of the runs, here a bias has the mean that
//! is declared; it lets a drawn bias fade with the wandering one, here only the latter fades;
//! without a correlation time it has no wandering bias, here it never fades.

use std::fmt::Write as _;

use headland_base::names;

use super::mixture::{Cluster, Mixture};
use super::{Dropout, Noise, Outliers};
use crate::declare::element::Element;

const TYPES: [&str; 3] = ["none", "gaussian", "gaussian_quantized"];

const KNOWN: &[&str] = &[
    "type",
    "mean",
    "stddev",
    "bias_mean",
    "bias_stddev",
    "dynamic_bias_stddev",
    "dynamic_bias_correlation_time",
    "precision",
    "headland:outliers",
    "headland:dropout",
];

/// A number that is not negative.
fn size(element: Element<'_>, name: &str, default: f64) -> f64 {
    element.number_that(name, default, "zero or more", |value| value >= 0.0)
}

/// The noise of a `<noise>` element. What is wrong is left out and said.
pub fn noise(element: Element<'_>) -> Noise {
    let word = element.attribute("type").or_else(|| element.text_in("type")).unwrap_or("none");
    if !TYPES.contains(&word) {
        element.fault(format!("no noise is called `{word:.40}`"), names::suggestion(word, TYPES));
        return Noise::default();
    }
    element.nothing_but(KNOWN);
    if word == "none" {
        let is_said = element.attribute("type").is_some() || element.child("type").is_some();
        if !is_said && element.elements().next().is_some() {
            let help = "say <noise type=\"gaussian\">".to_string();
            element.warn("its numbers are not heeded: noise without a type is none", Some(help));
        }
        return Noise::default();
    }
    let walk_time_secs = size(element, "dynamic_bias_correlation_time", 0.0);
    Noise {
        mean: element.number("mean", 0.0),
        stddev: size(element, "stddev", 0.0),
        bias_mean: element.number("bias_mean", 0.0),
        bias_stddev: size(element, "bias_stddev", 0.0),
        walk_density: size(element, "dynamic_bias_stddev", 0.0),
        walk_time_secs: Some(walk_time_secs).filter(|secs| *secs > 0.0),
        precision: size(element, "precision", 0.0),
        outliers: element.child("headland:outliers").map_or_else(Outliers::default, outliers),
        dropout: element.dropout(),
    }
}

fn outliers(element: Element<'_>) -> Outliers {
    element.nothing_but(&["rate", "spread"]);
    let is_share = |rate: f64| (0.0..=1.0).contains(&rate);
    let rate = element.number_that("rate", 0.0, "a share from 0 to 1", is_share);
    Outliers { rate, spread: size(element, "spread", 0.0) }
}

/// The dropout of a `<headland:dropout>` element.
pub fn dropout(element: Element<'_>) -> Dropout {
    element.nothing_but(&["rate", "burst"]);
    let rate = size(element, "rate", 0.0);
    let burst = element.child("burst").map(|_| size(element, "burst", 1.0));
    let dropout = Dropout { rate, burst };
    match dropout.fault() {
        Some(what) => {
            element.error(what);
            Dropout::default()
        }
        None => dropout,
    }
}

/// A mixture and the names of its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedMixture {
    /// One name per dimension: `x`, `y`, `yaw`.
    pub axes: Vec<String>,
    /// The mixture; in metres and radians.
    pub mixture: Mixture,
}

/// The mixture of a `<headland:mixture axes="x y">` element, whose axes are among those that are
/// known. `None` where it is none.
pub fn mixture(element: Element<'_>, known_axes: &[&str]) -> Option<NamedMixture> {
    element.nothing_but(&["cluster"]);
    let axes: Vec<String> = element
        .attribute("axes")
        .unwrap_or_default()
        .split_whitespace()
        // One more than there are says that they are too many.
        .take(known_axes.len() + 1)
        .map(String::from)
        .collect();
    let mut is_good = !axes.is_empty();
    if axes.is_empty() {
        element.error("a mixture says which axes it is of: axes=\"x y\"");
    }
    for (i, axis) in axes.iter().enumerate() {
        if !known_axes.contains(&axis.as_str()) {
            let help = names::suggestion(axis, known_axes.iter().copied());
            element.fault(format!("no axis is called `{axis:.40}`"), help);
            is_good = false;
        }
        if axes[..i].contains(axis) {
            element.error(format!("the axis `{axis:.40}` is named twice"));
            is_good = false;
        }
    }
    let clusters: Vec<Option<Cluster>> =
        element.children("cluster").map(|node| cluster(node, axes.len())).collect();
    let clusters: Option<Vec<Cluster>> = clusters.into_iter().collect();
    let clusters = clusters.filter(|_| is_good)?;
    match Mixture::new(clusters) {
        Ok(mixture) => Some(NamedMixture { axes, mixture }),
        Err(faults) => {
            faults.into_iter().for_each(|what| element.error(what));
            None
        }
    }
}

fn cluster(element: Element<'_>, n: usize) -> Option<Cluster> {
    element.nothing_but(&["mean", "stddev", "covariance"]);
    let weight = match element.attribute("weight").map(str::parse::<f64>) {
        None => 1.0,
        Some(Ok(weight)) if weight >= 0.0 && weight.is_finite() => weight,
        Some(_) => {
            let said = element.attribute("weight").unwrap_or_default();
            element.error(format!("`{said:.40}` is no weight"));
            return None;
        }
    };
    let mean = element.child("mean").map_or_else(|| Some(vec![0.0; n]), |it| it.numbers(n))?;
    let mut covariance = vec![0.0; n * n];
    match (element.child("stddev"), element.child("covariance")) {
        (Some(stddev), None) => {
            let stddev = stddev.numbers(n)?;
            (0..n).for_each(|i| covariance[i * n + i] = stddev[i] * stddev[i]);
        }
        (None, Some(upper)) => {
            let mut upper = upper.numbers(n * (n + 1) / 2)?.into_iter();
            for i in 0..n {
                for j in i..n {
                    let value = upper.next().unwrap_or(0.0);
                    (covariance[i * n + j], covariance[j * n + i]) = (value, value);
                }
            }
        }
        _ => {
            let what = "a cluster has either <stddev> or <covariance>";
            let help = "<covariance> is its upper triangle, row by row".to_string();
            element.fault(what, Some(help));
            return None;
        }
    }
    Some(Cluster { weight, mean, covariance })
}

/// The element of a mixture, indented by so many spaces, so that [`mixture`] reads the same one
/// to the last bit.
pub fn write_mixture(named: &NamedMixture, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let join = |numbers: &mut dyn Iterator<Item = f64>| {
        numbers.map(|x| format!("{x:e}")).collect::<Vec<_>>().join(" ")
    };
    let mut out = format!("{pad}<headland:mixture axes=\"{}\">\n", named.axes.join(" "));
    let n = named.axes.len();
    for cluster in named.mixture.clusters() {
        let mut upper = (0..n).flat_map(|i| (i..n).map(move |j| cluster.covariance[i * n + j]));
        _ = writeln!(out, "{pad}  <cluster weight=\"{:e}\">", cluster.weight);
        let mean = join(&mut cluster.mean.iter().copied());
        _ = writeln!(out, "{pad}    <mean>{mean}</mean>");
        let upper = join(&mut upper);
        _ = writeln!(out, "{pad}    <covariance>{upper}</covariance>");
        _ = writeln!(out, "{pad}  </cluster>");
    }
    _ = writeln!(out, "{pad}</headland:mixture>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::element::alone;
    use headland_base::Diagnostic;

    fn read(xml: &str) -> (Noise, Vec<Diagnostic>) {
        alone(xml, noise).unwrap()
    }

    #[test]
    fn everything_is_read() {
        let (noise, defects) = read(
            "<noise type='gaussian_quantized'><mean>-0.1</mean><stddev>0.2</stddev>\
             <bias_mean>-0.3</bias_mean><bias_stddev>0.4</bias_stddev>\
             <dynamic_bias_stddev>0.5</dynamic_bias_stddev>\
             <dynamic_bias_correlation_time>60</dynamic_bias_correlation_time>\
             <precision>0.01</precision>\
             <headland:outliers><rate>0.05</rate><spread>2</spread></headland:outliers>\
             <headland:dropout><rate>0.1</rate><burst>4</burst></headland:dropout></noise>",
        );
        assert_eq!(defects, []);
        let wanted = Noise {
            mean: -0.1,
            stddev: 0.2,
            bias_mean: -0.3,
            bias_stddev: 0.4,
            walk_density: 0.5,
            walk_time_secs: Some(60.0),
            precision: 0.01,
            outliers: Outliers { rate: 0.05, spread: 2.0 },
            dropout: Dropout { rate: 0.1, burst: Some(4.0) },
        };
        assert_eq!(noise, wanted);
    }

    #[test]
    fn the_type_may_be_an_element_and_none_is_none() {
        let (noise, defects) = read("<noise><type>gaussian</type><stddev>0.01</stddev></noise>");
        assert_eq!((noise, defects.len()), (Noise::gaussian(0.01), 0));
        let (noise, defects) = read("<noise type='none'><stddev>0.01</stddev></noise>");
        assert_eq!((noise, defects.len()), (Noise::default(), 0));
    }

    #[test]
    fn every_defect_is_said() {
        let (noise, defects) = read(
            "<noise type='gaussian'><stddev>-1</stddev><mean>much</mean><sttdev>1</sttdev>\
             <headland:outliers><rate>2</rate></headland:outliers>\
             <headland:dropout><rate>7</rate></headland:dropout></noise>",
        );
        let whats: Vec<&str> = defects.iter().map(|defect| defect.message.as_str()).collect();
        assert_eq!(
            whats,
            [
                "<noise> has no element <sttdev>",
                "`much` in <mean> is not a number",
                "<stddev> is -1, and must be zero or more",
                "<rate> is 2, and must be a share from 0 to 1",
                "a dropout rate of 7 is no share from 0 to 1",
            ]
        );
        assert_eq!(defects[0].help.as_deref(), Some("did you mean `stddev`?"));
        assert_eq!(noise.stddev, 0.0);
        let (_, defects) = read("<noise type='gausian'/>");
        assert_eq!(defects[0].help.as_deref(), Some("did you mean `gaussian`?"));
    }

    const AXES: &[&str] = &["x", "y", "z", "yaw"];

    fn read_mixture(xml: &str) -> (Option<NamedMixture>, Vec<Diagnostic>) {
        alone(xml, |element| mixture(element, AXES)).unwrap()
    }

    /// What is somebody else's is passed over, declared or not; ours without its prefix is ours
    /// only inside of ours.
    #[test]
    fn names_of_others_are_theirs() {
        let (noise, defects) = read(
            "<noise type='gaussian' xmlns:gz='urn:gz'><stddev>0.1</stddev><gz:x>1</gz:x><ros:y/>\
             <headland:dropout><headland:rate>0.1</headland:rate><burst>2</burst><gz:rate/>\
             </headland:dropout></noise>",
        );
        assert_eq!(defects, []);
        let dropout = Dropout { rate: 0.1, burst: Some(2.0) };
        assert_eq!(noise, Noise { dropout, ..Noise::gaussian(0.1) });
        let (noise, defects) =
            read("<noise type='gaussian'><dropout><rate>0.1</rate></dropout></noise>");
        assert_eq!(noise.dropout, Dropout::default());
        assert_eq!(defects[0].message, "<noise> has no element <dropout>");
        assert_eq!(defects[0].help.as_deref(), Some("did you mean `headland:dropout`?"));
    }

    #[test]
    fn mixtures_come_back_to_the_bit() {
        let clusters = vec![
            Cluster {
                weight: 0.1,
                mean: vec![1e-4, -0.3],
                covariance: vec![2e-7, 1e-8, 1e-8, 1.0 / 3.0],
            },
            Cluster { weight: 0.7, mean: vec![0.0, 0.1], covariance: vec![1e-6, 0.0, 0.0, 1e-5] },
        ];
        let axes = vec!["x".to_string(), "yaw".to_string()];
        let named = NamedMixture { axes, mixture: Mixture::new(clusters).unwrap() };
        let (back, defects) = read_mixture(&write_mixture(&named, 4));
        assert_eq!(defects, []);
        let back = back.unwrap();
        assert_eq!(back.axes, named.axes);
        for (a, b) in back.mixture.clusters().iter().zip(named.mixture.clusters()) {
            assert_eq!((&a.mean, &a.covariance), (&b.mean, &b.covariance));
            assert!((a.weight - b.weight).abs() <= 1e-16);
        }
    }

    #[test]
    fn deviations_are_a_covariance_too() {
        let (named, defects) = read_mixture(
            "<headland:mixture axes='x y z'><headland:cluster>\
             <headland:stddev>0.1 0.2 0</headland:stddev></headland:cluster></headland:mixture>",
        );
        assert_eq!(defects, []);
        let mixture = named.unwrap().mixture;
        let covariance = &mixture.clusters()[0].covariance;
        assert!((covariance[4] - 0.04).abs() < 1e-15 && covariance[8] == 0.0);
    }

    #[test]
    fn what_is_no_mixture_is_said() {
        for (xml, n_defects) in [
            ("<headland:mixture/>", 1),
            ("<headland:mixture axes='x y'/>", 1),
            ("<headland:mixture axes='x x q'><headland:cluster/></headland:mixture>", 3),
            (
                "<headland:mixture axes='x y'><headland:cluster weight='-1'/>\
                 <headland:cluster><headland:stddev>1</headland:stddev></headland:cluster>\
                 <headland:cluster><headland:covariance>1 a 1</headland:covariance>\
                 </headland:cluster></headland:mixture>",
                3,
            ),
            (
                "<headland:mixture axes='x y'><headland:cluster>\
                 <headland:covariance>1 2 1</headland:covariance></headland:cluster>\
                 </headland:mixture>",
                1,
            ),
        ] {
            let (named, defects) = read_mixture(xml);
            assert!(named.is_none(), "{xml}");
            assert_eq!(defects.len(), n_defects, "{xml}: {defects:?}");
        }
    }
}
