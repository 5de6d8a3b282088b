//! Tuning as a whole: bodies stay bodies, what is not seen is told, what is held out is not
//! fitted, and a search that was put away ends at the same bits.
#![allow(clippy::unwrap_used)]

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use common::{engine, ms, shipped, signal};
use headland_base::SimTime;
use headland_base::maths::{cos, exp, sin, sqrt};
use headland_validate::fit::crew::with_crew;
use headland_validate::tune::{Course, Method, Plan, Saved, Tuned, Tuning, Wanted, search, tuned};
use headland_validate::{Experiment, ReplayOptions};
use headland_world::parameter::{Settings, Subject, pseudo};

fn pendulum() -> Subject {
    Subject { world: shipped("pendulum.sdf"), settings: Settings::default() }
}

/// Small swings of the pendulum with viscous damping, in closed form.
fn swings(amplitude: f64, damping: f64, secs: f64) -> Experiment {
    let times: Vec<SimTime> =
        (0..(secs * 50.0) as usize).map(|i| SimTime::from_secs(i as f64 / 50.0).unwrap()).collect();
    let inertia = 0.0104 + 1.0;
    let (decay, k) = (0.5 * damping / inertia, 9.81 / inertia);
    let omega = sqrt(k - decay * decay);
    let at = move |t: f64| {
        amplitude * exp(-decay * t) * (cos(omega * t) + decay / omega * sin(omega * t))
    };
    Experiment { signals: vec![signal("hinge/position", &times, at)], ..Experiment::default() }
}

fn course(name: &str, experiment: Experiment, is_held_out: bool) -> Course {
    Course { name: name.to_string(), experiment: Arc::new(experiment), is_held_out }
}

fn plan() -> Plan {
    Plan { options: ReplayOptions::new(ms(2.0)), train_share: 1.0, fits_start: true }
}

fn solved(tuning: &Tuning<'_>, method: Method, n_threads: usize) -> (Saved, Tuned) {
    with_crew(tuning, n_threads, |crew| {
        let mut saved = Saved::new(method, tuning, 3);
        search(&mut saved, tuning, crew, 3_000, &mut |_| ControlFlow::Continue(()));
        let found = tuned(tuning, &saved.search, crew, 0.95).unwrap();
        (saved, found)
    })
}

const DAMPING: &str = "joint/hinge/dynamics/damping";

/// Closed form: the damping that made the decay is found, on what was fitted and on what was not.
#[test]
fn a_decay_has_the_damping_it_was_made_with() {
    let make = || engine("native");
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let courses = vec![
        course("train", swings(0.02, 0.3, 6.0), false),
        course("hold", swings(0.03, 0.3, 4.0), true),
    ];
    let plan = Plan { train_share: 0.5, ..plan() };
    let tuning = Tuning::new(pendulum(), wanted, courses, plan, &make).unwrap();
    let (saved, found) = solved(&tuning, Method::Lm, 1);
    assert!((found.numbers[0].value - 0.3).abs() < 2e-3, "{:?}", found.numbers);
    assert!(found.rms.1 < 0.02 * found.rms.0.unwrap(), "{:?}", found.rms);
    let [train, hold] = &found.errors[..] else { panic!("{:?}", found.errors) };
    assert_eq!((train.n_samples, hold.n_samples), ((150, 150), (0, 200)));
    assert!(train.held_out.unwrap().1 < 0.1 * train.held_out.unwrap().0, "{train:?}");
    assert!(hold.fitted.is_none() && hold.held_out.unwrap().1 < 0.2 * hold.held_out.unwrap().0);
    // Threads change nothing, to the bit.
    let (threaded, _) = solved(&tuning, Method::Lm, 2);
    assert_eq!(saved, threaded);
}

/// Put away after every round, written and read: the same bits.
#[test]
fn a_search_that_was_put_away_ends_at_the_same_bits() {
    let make = || engine("native");
    let wanted = || vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let courses = || vec![course("a", swings(0.02, 0.3, 2.0), false)];
    let tuning = Tuning::new(pendulum(), wanted(), courses(), plan(), &make).unwrap();
    for method in [Method::Lm, Method::Cma] {
        let most = 150;
        let whole = with_crew(&tuning, 1, |crew| {
            let mut saved = Saved::new(method, &tuning, 3);
            search(&mut saved, &tuning, crew, most, &mut |_| ControlFlow::Continue(()));
            saved
        });
        let mut parts = Saved::new(method, &tuning, 3);
        let mut n_stops = 0;
        while parts.search.ended().is_none() {
            let before = parts.search.n_evaluations();
            with_crew(&tuning, 2, |crew| {
                search(
                    &mut parts,
                    &tuning,
                    crew,
                    most,
                    &mut |progress| match progress.n_evaluations > before + 3 {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    },
                );
            });
            parts = Saved::from_json(&parts.to_json(), &tuning).unwrap();
            n_stops += 1;
            assert!(n_stops < 200, "it goes on: {parts:?}");
        }
        assert_eq!(whole, parts);
        assert!(n_stops > 2, "{method:?} was put away {n_stops} times");
    }
    // Another problem's search is refused.
    let saved = Saved::new(Method::Lm, &tuning, 3).to_json();
    let other = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 2.0).unwrap()];
    let other = Tuning::new(pendulum(), other, courses(), plan(), &make).unwrap();
    assert_eq!(Saved::from_json(&saved, &other).unwrap_err().code, "other-search");
    assert_eq!(Saved::from_json("{}", &other).unwrap_err().code, "bad-resume");
    // So is one that somebody has broken.
    for method in [Method::Lm, Method::Cma] {
        let whole = Saved::new(method, &other, 3).to_json();
        let whole: serde_json::Value = serde_json::from_str(&whole).unwrap();
        let parts = whole["search"].as_object().unwrap();
        let lists: Vec<&String> = parts
            .iter()
            .filter(|(key, it)| it.is_array() && *key != "recent")
            .map(|(k, _)| k)
            .collect();
        assert!(lists.len() > 1, "{lists:?}");
        for list in lists {
            let mut broken = whole.clone();
            broken["search"][list] = serde_json::json!([]);
            let fault = Saved::from_json(&broken.to_string(), &other).unwrap_err();
            assert_eq!(fault.code, "other-search", "{list}");
        }
    }
}

/// A free pendulum shows m·l/(I + m·l²) and no more: mass and inertia cannot be told apart, and a
/// surface that touches nothing cannot be seen at all.
#[test]
fn what_the_data_cannot_see_is_told() {
    let make = || engine("native");
    let subject = pendulum();
    let wanted = vec![
        Wanted::new(&subject, "link/bob/inertial/mass", 0.5, 2.0).unwrap(),
        Wanted::new(&subject, "link/bob/inertial/inertia/trace", 0.01, 0.1).unwrap(),
        Wanted::new(&subject, "surface/*/mu", 0.1, 1.0).unwrap(),
    ];
    let courses = vec![course("a", swings(0.02, 0.0, 3.0), false)];
    let tuning = Tuning::new(subject, wanted, courses, plan(), &make).unwrap();
    let (_, found) = solved(&tuning, Method::Lm, 1);
    let told: Vec<&str> = found.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let told = told.join("\n");
    assert!(told.contains("cannot see `surface/bob/mu`"), "{told}");
    assert!(told.contains("inertial/mass") && told.contains("inertia/trace"), "{told}");
    assert!(found.numbers[2].half_width.is_none() || found.numbers[0].half_width.is_none());
}

/// The ten numbers of a link within a factor: a body whatever is tried, told as mass, centre and
/// inertia.
#[test]
fn a_whole_inertia_stays_that_of_a_body() {
    let make = || engine("native");
    let subject = pendulum();
    let mut wanted = Wanted::inertia(&subject, "bob", 3.0).unwrap();
    wanted.push(Wanted::new(&subject, DAMPING, 0.0, 1.0).unwrap());
    assert_eq!(wanted.len(), 11);
    let courses = vec![course("a", swings(0.02, 0.2, 2.0), false)];
    let tuning = Tuning::new(subject, wanted, courses, plan(), &make).unwrap();
    let (_, found) = solved(&tuning, Method::Lm, 2);
    let inertial = &found.subject.world.models[0].links[0].inertial;
    assert!(pseudo::is_physical(inertial.mass, &inertial.inertia));
    assert_eq!(found.derived.len(), 10);
    assert!(found.derived[0].name.ends_with("inertial/mass"));
    assert!(!found.warnings.is_empty(), "ten numbers are not seen in one swing");
    let bounds = tuning.bounds();
    for share in [0.0, 0.25, 1.0] {
        let corner: Vec<f64> =
            bounds.lower.iter().zip(&bounds.upper).map(|(a, b)| a + share * (b - a)).collect();
        let subject = tuning.subject_at(&corner).unwrap();
        let inertial = &subject.world.models[0].links[0].inertial;
        assert!(pseudo::is_physical(inertial.mass, &inertial.inertia));
    }
}

/// The best value lies beyond the bound, which is told.
#[test]
fn a_number_at_its_bound_is_told() {
    let make = || engine("native");
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 0.2).unwrap()];
    let courses = vec![course("a", swings(0.02, 0.3, 2.0), false)];
    let tuning = Tuning::new(pendulum(), wanted, courses, plan(), &make).unwrap();
    let (_, found) = solved(&tuning, Method::Lm, 1);
    assert_eq!(found.numbers[0].value, 0.2);
    assert!(
        found.warnings.iter().any(|warning| warning.code == "at-bound"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn what_cannot_be_sought_is_refused() {
    let subject = pendulum();
    let code = |path: &str, lower: f64, upper: f64| {
        Wanted::new(&subject, path, lower, upper).map(|_| ()).map_err(|fault| fault.code)
    };
    assert_eq!(code("joint/hinge/dynamics/dampin", 0.0, 1.0), Err("unknown-path"));
    assert_eq!(code(DAMPING, 1.0, 0.0), Err("bad-bounds"));
    assert_eq!(code(DAMPING, 0.0, f64::INFINITY), Err("bad-bounds"));
    assert_eq!(code(DAMPING, -1.0, 1.0), Err("bad-value"));
    assert_eq!(Wanted::inertia(&subject, "bob", 1.0).unwrap_err().code, "bad-bounds");
    assert_eq!(Wanted::inertia(&subject, "bib", 2.0).unwrap_err().code, "unknown-path");
    let make = || engine("native");
    let one = || Wanted::new(&subject, DAMPING, 0.0, 1.0).unwrap();
    let refused = |wanted: Vec<Wanted>, secs: f64| {
        let courses = vec![course("a", swings(0.02, 0.3, secs), false)];
        let refused = Tuning::new(subject.clone(), wanted, courses, plan(), &make);
        refused.err().map(|faults| faults[0].code)
    };
    assert_eq!(refused(Vec::new(), 1.0), Some("nothing-to-tune"));
    assert_eq!(refused(vec![one(), one()], 1.0), Some("same-parameter"));
    assert_eq!(refused(vec![one()], 0.05), Some("too-few-samples"));
    assert_eq!(refused(vec![one()], 1.0), None);
}
