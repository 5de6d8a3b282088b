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

use headland_base::Diagnostic;

use super::sdf::{self, NamedMixture};
use super::{Dice, Dropout};
use crate::declare::element::{Element, alone};

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
pub const ELEMENTS: [&str; 3] = ["headland:mixture", "headland:dropout", "score"];

impl Perception {
    /// What an element says; every defect is noted.
    pub fn read(element: Element<'_>) -> Perception {
        let mixture = element.child("headland:mixture");
        Perception {
            mixture: mixture.and_then(|mixture| sdf::mixture(mixture, &AXES)),
            dropout: element.dropout(),
            score: element.child("score").and_then(score),
        }
    }

    /// What a file says, or every reason why not.
    pub fn of_text(text: &str) -> Result<Perception, Vec<String>> {
        let (read, faults) = alone(text, |root| match root.name().as_str() {
            "headland:perception" => {
                root.nothing_but(&ELEMENTS);
                Perception::read(root)
            }
            name => {
                root.error(format!("<{name}> is no <headland:perception>"));
                Perception::default()
            }
        })
        .map_err(|error| vec![error])?;
        let in_words = |fault: &Diagnostic| {
            let place = fault.place.as_ref();
            let place = place.map(|place| place.source.line_column(place.span.start));
            place.map_or(fault.message.clone(), |(line, column)| {
                format!("{line}:{column}: {}", fault.message)
            })
        };
        match faults.is_empty() {
            true => Ok(read),
            false => Err(faults.iter().map(in_words).collect()),
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

fn score(element: Element<'_>) -> Option<Score> {
    element.nothing_but(&["mean", "stddev"]);
    let mean = element.number_that("mean", 1.0, "zero or more", |mean| mean >= 0.0);
    let stddev = element.number_that("stddev", 0.0, "zero or more", |stddev| stddev >= 0.0);
    if mean > 1.0 {
        element.error(format!("a mean score of {mean} is more than 1"));
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
            "<headland:perception xmlns:headland='urn:headland:sdf'>\n <scores/>\n \
             <dropout><rate>2</rate></dropout>\n <score><mean>7</mean></score>\n\
             </headland:perception>",
        )
        .unwrap_err();
        assert_eq!(
            faults,
            [
                "2:3: <headland:perception> has no element <scores>",
                "3:3: a dropout rate of 2 is no share from 0 to 1",
                "4:3: a mean score of 7 is more than 1",
            ]
        );
        assert_eq!(Perception::of_text("<sdf/>").unwrap_err().len(), 1);
        assert_eq!(Perception::of_text("").unwrap_err().len(), 1);
    }

    /// What is no XML is told as such, whatever letters are in it.
    #[test]
    fn what_is_no_xml_is_told() {
        for text in ["é headland:", "headland:", "<", "<!-- headland:", "é", "<é:ß headland:"] {
            let faults = Perception::of_text(text).unwrap_err();
            assert_eq!(faults.len(), 1, "{text}: {faults:?}");
        }
    }

    /// The namespace may be left out. That it is put in for the reader shifts no place, and
    /// neither a comment before the outermost element nor one that names it matters.
    #[test]
    fn places_are_those_of_the_file_whether_the_namespace_is_declared_or_not() {
        let declared = " xmlns:headland='urn:headland:sdf'";
        for before in [
            "",
            "<?xml version='1.0'?>\n",
            "<!-- a <headland:x> and xmlns:headland, see b > a -->",
            "<!-- é -->\n<?other headland: ?>\n<!-- xmlns:headland -->\n",
        ] {
            for inside in
                ["<score><mean>7</mean></score>", "<scores/>\n <score><mean>7</mean></score>"]
            {
                let with = |declared: &str| {
                    format!("{before}<headland:perception{declared}>{inside}</headland:perception>")
                };
                let faults = |text: &str| Perception::of_text(text).unwrap_err();
                // Every fault of the first line is so much further left; those behind are not.
                let row = before.matches('\n').count() + 1;
                let shorter = faults(&with(declared)).into_iter().map(|fault| {
                    let mut words = fault.splitn(3, ':');
                    let mut number = || words.next().unwrap().parse::<usize>().unwrap();
                    let (line, column) = (number(), number());
                    let shift = if line == row { declared.len() } else { 0 };
                    format!("{line}:{}:{}", column - shift, words.next().unwrap())
                });
                assert_eq!(faults(&with("")), shorter.collect::<Vec<_>>(), "{before}");
                assert_eq!(
                    Perception::of_text(&with("").replace(inside, "")),
                    Ok(Perception::default()),
                    "{before}"
                );
            }
        }
        // And that of what is no XML.
        let fault = &Perception::of_text("<headland:perception><a></b></headland:perception>");
        assert!(fault.as_ref().unwrap_err()[0].ends_with("at 1:25"), "{fault:?}");
    }

    #[test]
    fn scores_stay_scores() {
        let (score, mut dice) = (Score { mean: 0.95, stddev: 0.2 }, Dice::new(&Seed::new(1)));
        let drawn: Vec<f64> = (0..1000).map(|_| score.draw(&mut dice)).collect();
        assert!(drawn.iter().all(|x| (0.0..=1.0).contains(x)) && drawn.contains(&1.0));
    }
}
