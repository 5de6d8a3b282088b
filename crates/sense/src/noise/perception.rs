//! How a detector errs: where it puts objects, which it misses, how sure it says it is. Read from
//! a sensor, or from a file that `headland fit-noise` wrote.
//!
//! ```xml
//! <headland:perception xmlns:headland="urn:headland:sdf">
//!   <headland:mixture axes="x y">…</headland:mixture>
//!   <headland:dropout><rate>0.02</rate><burst>3</burst></headland:dropout>
//!   <score><mean>0.93</mean><stddev>0.02</stddev></score>
//! </headland:perception>
//! ```

use std::fmt::Write as _;

use roxmltree::{Document, Node};

use super::sdf::{self, Defect, NamedMixture, child, defect, number, only};
use super::{Dice, Dropout};

/// The axes of a pose that noise may be of: metres and radians.
pub const AXES: [&str; 6] = ["x", "y", "z", "roll", "pitch", "yaw"];

/// How a detector errs. The default never does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Perception {
    /// Where it puts objects, about where they are.
    pub mixture: Option<NamedMixture>,
    /// Objects that it does not see, each for itself.
    pub dropout: Dropout,
    /// How sure it says it is.
    pub score: Option<Score>,
}

/// How sure a detector says it is, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// On average.
    pub mean: f64,
    /// Its standard deviation.
    pub stddev: f64,
}

impl Score {
    /// The next one.
    pub fn draw(&self, dice: &mut Dice) -> f64 {
        (self.mean + self.stddev * dice.normal()).clamp(0.0, 1.0)
    }
}

/// The elements of a [`Perception`].
pub const ELEMENTS: [&str; 3] = ["mixture", "dropout", "score"];

impl Perception {
    /// What an element says; every defect is noted.
    pub fn read(node: Node<'_, '_>, defects: &mut Vec<Defect>) -> Perception {
        let mixture = child(node, "mixture").and_then(|node| sdf::mixture(node, &AXES, defects));
        let dropout = child(node, "dropout").map(|node| sdf::dropout(node, defects));
        let score = child(node, "score").and_then(|node| score(node, defects));
        Perception { mixture, dropout: dropout.unwrap_or_default(), score }
    }

    /// What a file says, or every reason why not.
    pub fn of_text(text: &str) -> Result<Perception, Vec<String>> {
        let document = Document::parse(text).map_err(|error| vec![error.to_string()])?;
        let root = document.root_element();
        if root.tag_name().name() != "perception" {
            let name = root.tag_name().name();
            return Err(vec![format!("<{name}> is no <headland:perception>")]);
        }
        let mut defects = Vec::new();
        only(root, ELEMENTS, &mut defects);
        let perception = Perception::read(root, &mut defects);
        let in_words = |defect: &Defect| {
            let place = document.text_pos_at(defect.span.start);
            format!("{}:{}: {}", place.row, place.col, defect.what)
        };
        match defects.is_empty() {
            true => Ok(perception),
            false => Err(defects.iter().map(in_words).collect()),
        }
    }

    /// As a file that [`of_text`](Self::of_text) reads.
    pub fn to_text(&self) -> String {
        let mut out = "<headland:perception xmlns:headland=\"urn:headland:sdf\">\n".to_string();
        if let Some(mixture) = &self.mixture {
            out += &sdf::write_mixture(mixture, 2);
        }
        let Dropout { rate, burst } = self.dropout;
        if rate > 0.0 {
            let burst = burst.map_or(String::new(), |burst| format!("<burst>{burst}</burst>"));
            let rate = format!("<rate>{rate}</rate>");
            _ = writeln!(out, "  <headland:dropout>{rate}{burst}</headland:dropout>");
        }
        if let Some(Score { mean, stddev }) = self.score {
            let (mean, stddev) =
                (format!("<mean>{mean}</mean>"), format!("<stddev>{stddev}</stddev>"));
            _ = writeln!(out, "  <score>{mean}{stddev}</score>");
        }
        out + "</headland:perception>\n"
    }
}

fn score(node: Node<'_, '_>, defects: &mut Vec<Defect>) -> Option<Score> {
    only(node, ["mean", "stddev"], defects);
    let mean = number(node, "mean", false, defects).unwrap_or(1.0);
    let stddev = number(node, "stddev", false, defects).unwrap_or(0.0);
    if mean > 1.0 {
        defects.push(defect(node, format!("a mean score of {mean} is more than 1"), None));
        return None;
    }
    Some(Score { mean, stddev })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Cluster, Mixture};
    use headland_base::Seed;

    #[test]
    fn files_come_back() {
        let clusters = vec![Cluster {
            weight: 1.0,
            mean: vec![1e-4, 0.0],
            covariance: vec![1e-7, 2e-8, 2e-8, 3e-7],
        }];
        let axes = vec!["x".to_string(), "yaw".to_string()];
        let mixture = Some(NamedMixture { axes, mixture: Mixture::new(clusters).unwrap() });
        let dropout = Dropout { rate: 0.176, burst: Some(2.5) };
        let whole = Perception { mixture, dropout, score: Some(Score { mean: 0.9, stddev: 0.05 }) };
        for perception in [whole, Perception::default()] {
            assert_eq!(Perception::of_text(&perception.to_text()), Ok(perception));
        }
    }

    #[test]
    fn every_defect_of_a_file_is_said_with_its_place() {
        let faults = Perception::of_text(
            "<perception>\n <scores/>\n <dropout><rate>2</rate></dropout>\n \
             <score><mean>7</mean></score>\n</perception>",
        )
        .unwrap_err();
        assert_eq!(
            faults,
            [
                "2:2: <perception> has no element <scores>",
                "3:2: a dropout rate of 2 is no share from 0 to 1",
                "4:2: a mean score of 7 is more than 1",
            ]
        );
        assert_eq!(Perception::of_text("<sdf/>").unwrap_err().len(), 1);
        assert_eq!(Perception::of_text("").unwrap_err().len(), 1);
    }

    #[test]
    fn scores_stay_scores() {
        let (score, mut dice) = (Score { mean: 0.95, stddev: 0.2 }, Dice::new(&Seed::new(1)));
        let drawn: Vec<f64> = (0..1000).map(|_| score.draw(&mut dice)).collect();
        assert!(drawn.iter().all(|x| (0.0..=1.0).contains(x)) && drawn.contains(&1.0));
    }
}
