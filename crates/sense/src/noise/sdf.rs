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
use std::ops::Range;

use headland_base::names;
use roxmltree::Node;

use super::mixture::{Cluster, Mixture};
use super::{Dropout, Noise, Outliers};

/// One thing that is wrong with an element, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: Option<String>,
    /// Which bytes of the text that was parsed.
    pub span: Range<usize>,
}

const TYPES: [&str; 3] = ["none", "gaussian", "gaussian_quantized"];
const NUMBERS: [&str; 7] = [
    "mean",
    "stddev",
    "bias_mean",
    "bias_stddev",
    "dynamic_bias_stddev",
    "dynamic_bias_correlation_time",
    "precision",
];

/// The noise of a `<noise>` element. What is wrong is left out and said.
pub fn noise(node: Node<'_, '_>, defects: &mut Vec<Defect>) -> Noise {
    let word = node.attribute("type").or_else(|| child(node, "type").and_then(|n| n.text()));
    let word = word.unwrap_or("none").trim();
    if !TYPES.contains(&word) {
        let what = format!("no noise is called `{word}`");
        defects.push(defect(node, what, names::suggestion(word, TYPES)));
        return Noise::default();
    }
    let known = NUMBERS.iter().copied().chain(["type", "outliers", "dropout"]);
    only(node, known, defects);
    if word == "none" {
        return Noise::default();
    }
    let mut of = |name: &str, is_signed: bool| number(node, name, is_signed, defects);
    let mut noise = Noise {
        mean: of("mean", true).unwrap_or(0.0),
        stddev: of("stddev", false).unwrap_or(0.0),
        bias_mean: of("bias_mean", true).unwrap_or(0.0),
        bias_stddev: of("bias_stddev", false).unwrap_or(0.0),
        walk_density: of("dynamic_bias_stddev", false).unwrap_or(0.0),
        walk_time_secs: of("dynamic_bias_correlation_time", false).filter(|secs| *secs > 0.0),
        precision: of("precision", false).unwrap_or(0.0),
        ..Noise::default()
    };
    if let Some(node) = child(node, "outliers") {
        only(node, ["rate", "spread"], defects);
        let rate = number(node, "rate", false, defects).unwrap_or(0.0);
        if rate > 1.0 {
            let what = format!("a rate of {rate} outliers is no share from 0 to 1");
            defects.push(defect(node, what, None));
        }
        let spread = number(node, "spread", false, defects).unwrap_or(0.0);
        noise.outliers = Outliers { rate: rate.min(1.0), spread };
    }
    if let Some(node) = child(node, "dropout") {
        noise.dropout = dropout(node, defects);
    }
    noise
}

/// The dropout of a `<headland:dropout>` element.
pub fn dropout(node: Node<'_, '_>, defects: &mut Vec<Defect>) -> Dropout {
    only(node, ["rate", "burst"], defects);
    let rate = number(node, "rate", false, defects).unwrap_or(0.0);
    let dropout = Dropout { rate, burst: number(node, "burst", false, defects) };
    match dropout.fault() {
        Some(what) => {
            defects.push(defect(node, what, None));
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
pub fn mixture(
    node: Node<'_, '_>,
    known_axes: &[&str],
    defects: &mut Vec<Defect>,
) -> Option<NamedMixture> {
    let n_before = defects.len();
    let axes: Vec<String> =
        node.attribute("axes").unwrap_or_default().split_whitespace().map(String::from).collect();
    if axes.is_empty() {
        let what = "a mixture says which axes it is of: axes=\"x y\"".to_string();
        defects.push(defect(node, what, None));
    }
    for (i, axis) in axes.iter().enumerate() {
        if !known_axes.contains(&axis.as_str()) {
            let help = names::suggestion(axis, known_axes.iter().copied());
            defects.push(defect(node, format!("no axis is called `{axis}`"), help));
        }
        if axes[..i].contains(axis) {
            defects.push(defect(node, format!("the axis `{axis}` is named twice"), None));
        }
    }
    only(node, ["cluster"], defects);
    // Before there is a matrix of as many rows as somebody wrote words: some are said above to
    // be none.
    if axes.len() > known_axes.len() {
        return None;
    }
    let clusters: Vec<Cluster> = node
        .children()
        .filter(|node| node.tag_name().name() == "cluster")
        .filter_map(|node| cluster(node, axes.len(), defects))
        .collect();
    if defects.len() > n_before {
        return None;
    }
    match Mixture::new(clusters) {
        Ok(mixture) => Some(NamedMixture { axes, mixture }),
        Err(faults) => {
            defects.extend(faults.into_iter().map(|what| defect(node, what, None)));
            None
        }
    }
}

fn cluster(node: Node<'_, '_>, n: usize, defects: &mut Vec<Defect>) -> Option<Cluster> {
    only(node, ["mean", "stddev", "covariance"], defects);
    let weight = match node.attribute("weight").map(|text| text.trim().parse::<f64>()) {
        None => 1.0,
        Some(Ok(weight)) if weight >= 0.0 && weight.is_finite() => weight,
        Some(_) => {
            let what = format!("`{}` is no weight", node.attribute("weight").unwrap_or_default());
            defects.push(defect(node, what, None));
            return None;
        }
    };
    let n_before = defects.len();
    let mean = numbers(node, "mean", n, defects).unwrap_or_else(|| vec![0.0; n]);
    let stddev = numbers(node, "stddev", n, defects);
    let upper = numbers(node, "covariance", n * (n + 1) / 2, defects);
    let mut covariance = vec![0.0; n * n];
    match (stddev, upper) {
        (Some(stddev), None) => (0..n).for_each(|i| covariance[i * n + i] = stddev[i] * stddev[i]),
        (None, Some(upper)) => {
            let mut upper = upper.into_iter();
            for i in 0..n {
                for j in i..n {
                    let value = upper.next().unwrap_or(0.0);
                    (covariance[i * n + j], covariance[j * n + i]) = (value, value);
                }
            }
        }
        _ if defects.len() > n_before => return None,
        _ => {
            let what = "a cluster has either <stddev> or <covariance>".to_string();
            let help = "<covariance> is its upper triangle, row by row".to_string();
            defects.push(defect(node, what, Some(help)));
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

pub(crate) fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.is_element() && child.tag_name().name() == name)
}

pub(crate) fn defect(node: Node<'_, '_>, what: String, help: Option<String>) -> Defect {
    Defect { what, help, span: node.range() }
}

/// Says which elements are none of those that may stand here.
pub(crate) fn only<'k>(
    node: Node<'_, '_>,
    known: impl IntoIterator<Item = &'k str> + Clone,
    defects: &mut Vec<Defect>,
) {
    for child in node.children().filter(Node::is_element) {
        let name = child.tag_name().name();
        if !known.clone().into_iter().any(|known| known == name) {
            let what = format!("<{}> has no element <{name}>", node.tag_name().name());
            defects.push(defect(child, what, names::suggestion(name, known.clone())));
        }
    }
}

/// The number in an element; says what is none.
pub(crate) fn number(
    node: Node<'_, '_>,
    name: &str,
    is_signed: bool,
    defects: &mut Vec<Defect>,
) -> Option<f64> {
    let node = child(node, name)?;
    let text = node.text().unwrap_or_default().trim();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && (is_signed || value >= 0.0) => Some(value),
        Ok(value) if value.is_finite() => {
            defects.push(defect(node, format!("<{name}> is {value}: it is not negative"), None));
            None
        }
        _ => {
            defects.push(defect(node, format!("`{text}` in <{name}> is no number"), None));
            None
        }
    }
}

/// So many numbers in an element; says what are none.
pub(crate) fn numbers(
    node: Node<'_, '_>,
    name: &str,
    n: usize,
    defects: &mut Vec<Defect>,
) -> Option<Vec<f64>> {
    let node = child(node, name)?;
    let words = node.text().unwrap_or_default().split_whitespace();
    let numbers: Vec<Option<f64>> =
        words.map(|word| word.parse().ok().filter(|x: &f64| x.is_finite())).collect();
    let all: Option<Vec<f64>> = numbers.iter().copied().collect();
    match all {
        Some(all) if all.len() == n => Some(all),
        Some(all) => {
            let what = format!("<{name}> has {} numbers and needs {n}", all.len());
            defects.push(defect(node, what, None));
            None
        }
        None => {
            defects.push(defect(node, format!("<{name}> holds words that are no numbers"), None));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::Document;

    fn read(xml: &str) -> (Noise, Vec<Defect>) {
        let xml = format!("<a xmlns:headland='urn:headland:sdf'>{xml}</a>");
        let document = Document::parse(&xml).unwrap();
        let mut defects = Vec::new();
        let node = document.root_element().first_element_child().unwrap();
        (noise(node, &mut defects), defects)
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
        let whats: Vec<&str> = defects.iter().map(|defect| defect.what.as_str()).collect();
        assert_eq!(
            whats,
            [
                "<noise> has no element <sttdev>",
                "`much` in <mean> is no number",
                "<stddev> is -1: it is not negative",
                "a rate of 2 outliers is no share from 0 to 1",
                "a dropout rate of 7 is no share from 0 to 1",
            ]
        );
        assert_eq!(defects[0].help.as_deref(), Some("did you mean `stddev`?"));
        assert_eq!(noise.stddev, 0.0);
        let (_, defects) = read("<noise type='gausian'/>");
        assert_eq!(defects[0].help.as_deref(), Some("did you mean `gaussian`?"));
    }

    const AXES: &[&str] = &["x", "y", "z", "yaw"];

    fn read_mixture(xml: &str) -> (Option<NamedMixture>, Vec<Defect>) {
        let xml = format!("<a xmlns:headland='urn:headland:sdf'>{xml}</a>");
        let document = Document::parse(&xml).unwrap();
        let mut defects = Vec::new();
        let node = document.root_element().first_element_child().unwrap();
        (mixture(node, AXES, &mut defects), defects)
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
