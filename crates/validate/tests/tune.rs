//! Tuning as a whole: bodies stay bodies, what is not seen is told, what is held out is not
//! fitted, and a search that was put away ends at the same bits.
#![allow(clippy::unwrap_used)]

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use common::{engine, ms, shipped, signal};
use headland_base::maths::{cos, exp, sin, sqrt};
use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_sim::{Engine, EngineOptions, Fault, Inputs, Model, State};
use headland_validate::fit::crew::with_crew;
use headland_validate::tune::{Course, Method, Plan, Saved, Tuned, Tuning, Wanted, search, tuned};
use headland_validate::{Experiment, Replay, ReplayOptions};
use headland_world::parameter::{self, Settings, Subject, pseudo};

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
    let (engine, options) = ("native".to_string(), ReplayOptions::new(ms(2.0)));
    Plan { engine, options, train_share: 1.0, fits_start: true }
}

fn solved(tuning: &Tuning<'_>, method: Method, n_threads: usize) -> (Saved, Tuned) {
    with_crew(tuning, n_threads, |crew| {
        let mut saved = Saved::new(method, tuning, 3);
        let linear = search(&mut saved, tuning, crew, 3_000, &mut |_| ControlFlow::Continue(()));
        let found = tuned(tuning, &saved.search, linear, crew, 0.95).unwrap();
        (saved, found)
    })
}

const DAMPING: &str = "joint/hinge/dynamics/damping";

/// Closed form: the damping that made the decay is found, on what was fitted and on what was not.
#[test]
fn a_decay_has_the_damping_it_was_made_with() {
    let make = || engine("native");
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let tuning_data = swings(0.02, 0.3, 6.0);
    let courses = vec![
        course("train", tuning_data.clone(), false),
        course("hold", swings(0.03, 0.3, 4.0), true),
    ];
    let plan = Plan { train_share: 0.5, ..plan() };
    let tuning = Tuning::new(pendulum(), wanted, courses, plan, &make).unwrap();
    let (saved, found) = solved(&tuning, Method::Lm, 1);
    assert!((found.numbers[0].value - 0.3).abs() < 2e-3, "{:?}", found.numbers);
    assert!(found.rms.1 < 0.02 * found.rms.0.unwrap(), "{:?}", found.rms);
    let [train, hold] = &found.errors[..] else { panic!("{:?}", found.errors) };
    assert_eq!((train.n_samples, hold.n_samples), ((150, 150), (0, 200)));
    // What is held out has no part in the scale either.
    let fitted = &tuning_data.signals[0].series.values[..150];
    let mean = fitted.iter().sum::<f64>() / 150.0;
    let spread = sqrt(fitted.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 150.0);
    assert!((train.scale / spread - 1.0).abs() < 1e-12 && hold.scale == train.scale);
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
                search(&mut parts, &tuning, crew, most, &mut |saved| match saved
                    .search
                    .n_evaluations()
                    > before + 3
                {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                });
            });
            parts = Saved::from_json(&parts.to_json(), method, &tuning, 3).unwrap();
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
    let code = |text: &str| Saved::from_json(text, Method::Lm, &other, 3).unwrap_err().code;
    assert_eq!(code(&saved), "other-search");
    assert_eq!(code("{}"), "bad-resume");
    // So is one of another method, engine or seed, in words.
    let of_cma = Saved::new(Method::Cma, &tuning, 3).to_json();
    let rapier = Plan { engine: "rapier".to_string(), ..plan() };
    let rapier = Tuning::new(pendulum(), wanted(), courses(), rapier, &make).unwrap();
    for (refused, words) in [
        (Saved::from_json(&of_cma, Method::Lm, &tuning, 3), "--method cma, not lm"),
        (Saved::from_json(&of_cma, Method::Cma, &tuning, 4), "--seed 3, not 4"),
        (Saved::from_json(&of_cma, Method::Cma, &rapier, 3), "native"),
    ] {
        let fault = refused.unwrap_err();
        assert!(fault.code == "other-search" && fault.message.contains(words), "{fault:?}");
    }
    // So is one that somebody has broken.
    for method in [Method::Lm, Method::Cma] {
        let whole = Saved::new(method, &other, 3).to_json();
        let whole: serde_json::Value = serde_json::from_str(&whole).unwrap();
        let parts = whole["search"].as_object().unwrap();
        let lists: Vec<&String> = parts
            .iter()
            .filter(|(key, it)| it.is_array() && !["recent", "history"].contains(&key.as_str()))
            .map(|(k, _)| k)
            .collect();
        assert!(lists.len() > 1, "{lists:?}");
        for list in lists {
            let mut broken = whole.clone();
            broken["search"][list] = serde_json::json!([]);
            let fault = Saved::from_json(&broken.to_string(), method, &other, 3).unwrap_err();
            assert_eq!(fault.code, "other-search", "{list}");
        }
    }
}

/// Counts its steps, asks for the end after some, and breaks at shorter ones than it takes.
struct Counting {
    engine: Box<dyn Engine>,
    n_steps: Arc<AtomicUsize>,
    most: usize,
    stop: Arc<AtomicBool>,
    shortest: SimDuration,
}

impl Engine for Counting {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        self.engine.check(model, options)
    }

    fn start(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        self.engine.start(model, state, options)
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        if dt < self.shortest {
            return Err(Fault("no such short steps".to_string()));
        }
        if self.n_steps.fetch_add(1, Ordering::Relaxed) + 1 == self.most {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.engine.step(model, inputs, dt, state)
    }

    fn knows_joints(&self) -> bool {
        self.engine.knows_joints()
    }

    fn shortens_steps(&self) -> bool {
        self.engine.shortens_steps()
    }
}

/// What is held out takes no step in a search, be it a recording or the end of one.
#[test]
fn what_is_held_out_is_not_simulated_in_a_search() {
    let (n_steps, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let make = || -> Box<dyn Engine> {
        let (n_steps, stop) = (Arc::clone(&n_steps), Arc::clone(&stop));
        let (engine, shortest) = (engine("native"), SimDuration::ZERO);
        Box::new(Counting { engine, n_steps, most: usize::MAX, stop, shortest })
    };
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let courses = vec![
        course("train", swings(0.02, 0.3, 4.0), false),
        course("hold", swings(0.03, 0.3, 4.0), true),
    ];
    let plan = Plan { train_share: 0.25, ..plan() };
    let tuning = Tuning::new(pendulum(), wanted, courses, plan, &make).unwrap();
    n_steps.store(0, Ordering::Relaxed);
    let n_evaluations = with_crew(&tuning, 1, |crew| {
        let mut saved = Saved::new(Method::Lm, &tuning, 3);
        search(&mut saved, &tuning, crew, 3_000, &mut |_| ControlFlow::Continue(()));
        saved.search.n_evaluations()
    });
    // The last sample of the quarter is at 0.98 s, steps are 2 ms; the first point, the model as
    // it is, was simulated when the problem was made.
    assert_eq!(n_steps.load(Ordering::Relaxed), 490 * (n_evaluations - 1));
}

/// Whoever breaks a search off within a simulation gets the best numbers so far, without
/// intervals, and the search goes on to the same bits.
#[test]
fn a_search_that_was_broken_off_goes_on_to_the_same_bits() {
    let (n_steps, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let most = 2_300; // nine evaluations of 250 steps, and a few steps of the tenth
    let make = || -> Box<dyn Engine> {
        let (n_steps, stop) = (Arc::clone(&n_steps), Arc::clone(&stop));
        let (engine, shortest) = (engine("native"), SimDuration::ZERO);
        Box::new(Counting { engine, n_steps, most, stop, shortest })
    };
    for method in [Method::Lm, Method::Cma] {
        let wanted = || vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
        let courses = || vec![course("a", swings(0.02, 0.3, 0.52), false)];
        let tuning = Tuning::new(pendulum(), wanted(), courses(), plan(), &make).unwrap();
        let (whole, _) = solved(&tuning, method, 1);
        stop.store(false, Ordering::Relaxed);
        let heeded = Arc::clone(&stop);
        let tuning =
            Tuning::heeding(heeded, pendulum(), wanted(), courses(), plan(), &make).unwrap();
        n_steps.store(0, Ordering::Relaxed);
        let mut saved = Saved::new(method, &tuning, 3);
        let found = with_crew(&tuning, 1, |crew| {
            let linear =
                search(&mut saved, &tuning, crew, 3_000, &mut |_| ControlFlow::Continue(()));
            tuned(&tuning, &saved.search, linear, crew, 0.95).unwrap()
        });
        assert_eq!(n_steps.load(Ordering::Relaxed), most, "it goes no further");
        assert_eq!((found.ended, found.worth), (None, None));
        assert!(found.numbers.iter().all(|number| number.half_width.is_none()));
        let (best, cost) = saved.search.best();
        assert_eq!(found.numbers[0].value, best[0]);
        assert!(cost.is_some(), "something was simulated");
        assert_eq!(saved.search.history().last().map(|last| last.1), cost);
        stop.store(false, Ordering::Relaxed);
        let mut saved = Saved::from_json(&saved.to_json(), method, &tuning, 3).unwrap();
        with_crew(&tuning, 1, |crew| {
            search(&mut saved, &tuning, crew, 3_000, &mut |_| ControlFlow::Continue(()));
        });
        assert_eq!(saved, whole, "{method:?}");
    }
}

/// A path that names several numbers: untuned, each is its own, and all are told.
#[test]
fn several_numbers_of_one_path_are_what_they_are_before() {
    let make = || engine("native");
    let mut subject =
        Subject { world: shipped("double_pendulum.sdf"), settings: Settings::default() };
    let dampings =
        [("joint/shoulder/dynamics/damping", 0.1), ("joint/elbow/dynamics/damping", 0.3)];
    for (path, value) in dampings {
        parameter::find(&subject.world, path).unwrap()[0].set(&mut subject, value).unwrap();
    }
    let times: Vec<SimTime> =
        (0..100).map(|i| SimTime::from_secs(f64::from(i) / 50.0).unwrap()).collect();
    let blank = ["elbow/position", "shoulder/position"].map(|key| signal(key, &times, |_| 0.0));
    let known = ["elbow", "shoulder"]
        .iter()
        .flat_map(|joint| {
            [("position", 0.4), ("velocity", 0.0)].map(|(w, v)| (format!("{joint}/{w}"), v))
        })
        .collect();
    let mut data = Experiment { signals: blank.to_vec(), known, ..Experiment::default() };
    let model = Model::compile(&Arc::new(subject.world.clone())).unwrap();
    let mut replay =
        Replay::new(model, make(), Arc::new(data.clone()), ReplayOptions::new(ms(2.0))).unwrap();
    for (signal, values) in data.signals.iter_mut().zip(&replay.run().unwrap().values) {
        signal.series.values.clone_from(values);
    }
    let wanted = vec![Wanted::new(&subject, "joint/*/dynamics/damping", 0.0, 1.0).unwrap()];
    let courses = vec![course("a", data, false)];
    let tuning = Tuning::new(subject, wanted, courses, plan(), &make).unwrap();
    assert_eq!(tuning.start(), [0.2]);
    let (_, found) = solved(&tuning, Method::Lm, 1);
    assert_eq!(found.numbers[0].before, [0.1, 0.3]);
    assert_eq!(found.rms.0, Some(0.0), "untuned it is the model that was measured");
    assert!(found.rms.1 > 1e-3, "one damping for both is not");
}

/// A window ends where the state is put back, not at whole multiples of its length.
#[test]
fn residuals_belong_to_the_window_they_were_simulated_in() {
    let make = || engine("native");
    let mut data = swings(0.02, 0.3, 0.22);
    for (i, time) in data.signals[0].series.times.iter_mut().enumerate() {
        *time = SimTime::from_secs(0.07 * i as f64).unwrap();
    }
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let options = ReplayOptions { window: Some(ms(100.0)), ..ReplayOptions::new(ms(2.0)) };
    let plan = Plan { options, ..plan() };
    let tuning = Tuning::new(pendulum(), wanted, vec![course("a", data, false)], plan, &make);
    let series: Vec<usize> = tuning.unwrap().moments().iter().map(|m| m.series).collect();
    // Put back at 0.14, 0.28 s and so on, after the sample there.
    assert_eq!(series, [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
}

/// Halving the step of a first-order integrator tells how far its values are from those of ever
/// shorter steps, and intervals are wider by it. That samples make steps shorter than asked for
/// changes nothing of it.
#[test]
fn intervals_heed_how_far_steps_move_a_number() {
    let make = || engine("native");
    let wanted = || vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let found = |step: f64| {
        let courses = vec![course("a", swings(0.02, 0.3, 4.0), false)];
        let plan = Plan { options: ReplayOptions::new(ms(step)), ..plan() };
        let tuning = Tuning::new(pendulum(), wanted(), courses, plan, &make).unwrap();
        let (_, found) = solved(&tuning, Method::Lm, 1);
        let by_noise = found.worth.unwrap().parameters[0].half_width.unwrap();
        (found.numbers[0].clone(), by_noise)
    };
    let (fine, _) = found(0.25);
    // Samples are 20 ms apart.
    for step in [10.0, 70.0] {
        let (coarse, by_noise) = found(step);
        let (gone, shift) = (fine.value - coarse.value, coarse.step_shift.unwrap());
        assert!((shift / gone - 1.0).abs() < 0.2, "{step} ms: {shift} told, {gone} gone");
        let (half, off) = (coarse.half_width.unwrap(), (coarse.value - 0.3).abs());
        assert!(off <= half, "{step} ms: {off} off, {half} told");
        assert_eq!(half, by_noise + shift.abs());
    }
}

/// Where shorter steps cannot be simulated, nobody says how far they would move a number: that is
/// told.
#[test]
fn half_steps_that_break_are_told() {
    let make = || -> Box<dyn Engine> {
        let (n_steps, stop) = (Arc::default(), Arc::default());
        let (engine, shortest) = (engine("native"), ms(2.0));
        Box::new(Counting { engine, n_steps, most: usize::MAX, stop, shortest })
    };
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let courses = vec![course("a", swings(0.02, 0.3, 2.0), false)];
    let tuning = Tuning::new(pendulum(), wanted, courses, plan(), &make).unwrap();
    let (_, found) = solved(&tuning, Method::Lm, 1);
    assert_eq!(found.numbers[0].step_shift, None);
    let told = found.warnings.iter().find(|warning| warning.code == "step-error").unwrap();
    assert!(told.message.contains("steps of 0.001 s broke"), "{told:?}");
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
    for number in &found.numbers[..3] {
        assert_eq!((number.is_start, number.half_width), (false, None), "{number:?}");
    }
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

/// An engine that cannot have the model any more, as where memory has run out.
struct Spent;

impl Engine for Spent {
    fn check(&self, _: &Model, _: &EngineOptions) -> Vec<Diagnostic> {
        vec![Diagnostic::error("spent", "there is no memory left")]
    }

    fn start(&mut self, _: &Model, _: &State, _: &EngineOptions) -> Result<(), Fault> {
        Err(Fault("spent".to_string()))
    }

    fn step(&mut self, _: &Model, _: &Inputs, _: SimDuration, _: &mut State) -> Result<(), Fault> {
        Err(Fault("spent".to_string()))
    }
}

/// The answer is the same, and why a thread had no part in it is told.
#[test]
fn why_a_thread_has_nothing_to_simulate_with_is_told() {
    let wanted = || vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let courses = || vec![course("swing", swings(0.05, 0.2, 4.0), false)];
    let all = || engine("native");
    let tuning = Tuning::new(pendulum(), wanted(), courses(), plan(), &all).unwrap();
    let (_, whole) = solved(&tuning, Method::Lm, 3);
    assert_eq!(tuning.lacking(), None);
    // One for the checks, one for the first of three threads.
    let n_left = AtomicUsize::new(2);
    let few = || -> Box<dyn Engine> {
        match n_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)) {
            Ok(_) => engine("native"),
            Err(_) => Box::new(Spent),
        }
    };
    let tuning = Tuning::new(pendulum(), wanted(), courses(), plan(), &few).unwrap();
    let (_, found) = solved(&tuning, Method::Lm, 3);
    assert_eq!(found.numbers[0].value, whole.numbers[0].value);
    let told = tuning.lacking().unwrap();
    assert_eq!(told.code, "threads-lacking");
    assert!(told.message.contains("there is no memory left"), "{}", told.message);
}

/// Noise about which the model says less than its mean does: whatever damping it leads to, nobody
/// is told to trust it.
#[test]
fn what_says_no_more_than_the_mean_is_not_trusted() {
    let make = || engine("native");
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    // The fractions of multiples of the golden ratio, shaken: no two neighbours are alike.
    let noise = |t: f64| {
        let i = (t * 50.0).round();
        (i * i * 0.618_033_988_749_894_9).rem_euclid(1.0) * 2.0 - 1.0
    };
    let mut experiment = swings(0.02, 0.3, 6.0);
    let times = experiment.signals[0].series.times.clone();
    experiment.signals = vec![signal("hinge/position", &times, noise)];
    let tuning =
        Tuning::new(pendulum(), wanted, vec![course("noise", experiment, false)], plan(), &make)
            .unwrap();
    let (_, found) = solved(&tuning, Method::Lm, 1);
    let codes: Vec<&str> = found.warnings.iter().map(|warning| warning.code).collect();
    assert!(found.rms.1 >= 1.0 && codes.contains(&"no-better-than-mean"), "{codes:?}");
    assert!(!found.is_trusted());
}

/// Who turns round and round starts within half a turn of where the first row says: angles are
/// compared within a turn, so a turn further off looks the same and moves another way.
#[test]
fn starts_stay_within_their_turn() {
    let make = || engine("native");
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let mut experiment = swings(0.02, 0.3, 4.0);
    let times = experiment.signals[0].series.times.clone();
    experiment.signals = vec![signal("hinge/position", &times, |t| 0.5 + 12.0 * t)];
    let tuning =
        Tuning::new(pendulum(), wanted, vec![course("spin", experiment, false)], plan(), &make)
            .unwrap();
    let (_, found) = solved(&tuning, Method::Lm, 1);
    let is_angle = |name: &str| name.starts_with("start/") && name.ends_with("/position");
    let start = found.numbers.iter().find(|number| is_angle(&number.name)).unwrap();
    assert!(start.lower > 0.5 - 3.2 && start.upper < 0.5 + 3.2, "{start:?}");
}

/// How fast the pendulum went, and not where it was: let go at 0.3 rad, where the model has 0.5.
fn speeds() -> Experiment {
    let times: Vec<SimTime> =
        (0..200).map(|i| SimTime::from_secs(f64::from(i) / 50.0).unwrap()).collect();
    let known = vec![("hinge/position".to_string(), 0.3), ("hinge/velocity".to_string(), 0.0)];
    let signals = vec![signal("hinge/velocity", &times, |_| 0.0)];
    let mut data = Experiment { signals, known, ..Experiment::default() };
    let mut planted = pendulum();
    parameter::find(&planted.world, DAMPING).unwrap()[0].set(&mut planted, 0.2).unwrap();
    let model = Model::compile(&Arc::new(planted.world)).unwrap();
    let options = ReplayOptions::new(ms(2.0));
    let mut replay = Replay::new(model, engine("native"), Arc::new(data.clone()), options).unwrap();
    data.signals[0].series.values.clone_from(&replay.run().unwrap().values[0]);
    Experiment { known: Vec::new(), ..data }
}

/// Speeds alone do not say where a joint starts: it is looked for, where it matters.
#[test]
fn a_start_that_was_not_measured_is_looked_for() {
    let make = || engine("native");
    let wanted = || vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let found = |plan: Plan| {
        let courses = vec![course("speeds", speeds(), false)];
        let tuning = Tuning::new(pendulum(), wanted(), courses, plan, &make).unwrap();
        solved(&tuning, Method::Lm, 1).1
    };
    let sought = found(plan());
    assert!((sought.numbers[0].value - 0.2).abs() < 1e-4, "{:?}", sought.numbers);
    let is_it = |name: &str| name.starts_with("start/1/") && name.ends_with("hinge/position");
    let start = sought.numbers.iter().find(|number| is_it(&number.name)).unwrap();
    assert!((start.value - 0.3).abs() < 1e-4 && start.is_start, "{start:?}");
    assert!(sought.is_trusted(), "{:?}", sought.warnings);
    // Where no start is looked for, the model's own is taken and the answer is not trusted.
    let assumed = found(Plan { fits_start: false, ..plan() });
    assert!(assumed.warnings.iter().any(|warning| warning.code == "start-assumed"));
    assert!(!assumed.is_trusted() && (assumed.numbers[0].value - 0.2).abs() > 0.01);
}

/// Of what is held out no start is looked for: that the model's own is taken is told, and does not
/// make the answer worse.
#[test]
fn a_start_that_was_not_measured_of_what_is_held_out_is_told() {
    let make = || engine("native");
    let wanted = vec![Wanted::new(&pendulum(), DAMPING, 0.0, 1.0).unwrap()];
    let courses = vec![course("fitted", speeds(), false), course("held", speeds(), true)];
    let tuning = Tuning::new(pendulum(), wanted, courses, plan(), &make).unwrap();
    let told: Vec<_> = tuning.notes().iter().filter(|n| n.code == "start-assumed").collect();
    let words = "where `pendulum::hinge` starts in `held` was neither measured nor given: the \
                 model's own 0.5 rad is taken for it, and the errors there are as wrong as that";
    assert_eq!(told.iter().map(|note| &*note.message).collect::<Vec<_>>(), [words]);
    let found = solved(&tuning, Method::Lm, 1).1;
    assert!(found.is_trusted(), "{:?}", found.warnings);
}

/// On a level rail nothing depends on where it starts: that is not looked for, and no fault.
#[test]
fn a_start_that_changes_nothing_is_not_looked_for() {
    let make = || engine("native");
    let rail = Subject { world: common::world_of(common::RAIL), settings: Settings::default() };
    let times: Vec<SimTime> =
        (0..100).map(|i| SimTime::from_secs(f64::from(i) / 50.0).unwrap()).collect();
    let slower = signal("rail/velocity", &times, |t| exp(-0.5 * t));
    let experiment = Experiment { signals: vec![slower], ..Experiment::default() };
    let wanted = vec![Wanted::new(&rail, "joint/rail/dynamics/damping", 0.0, 5.0).unwrap()];
    for fits_start in [true, false] {
        let held = course("held", experiment.clone(), true);
        let courses = vec![course("speeds", experiment.clone(), false), held];
        let plan = Plan { fits_start, ..plan() };
        let tuning = Tuning::new(rail.clone(), wanted.clone(), courses, plan, &make).unwrap();
        assert!(!tuning.names().iter().any(|name| name.ends_with("/position")));
        assert!(!tuning.notes().iter().any(|note| note.code == "start-assumed"));
        let (_, found) = solved(&tuning, Method::Lm, 1);
        assert!((found.numbers[0].value - 1.0).abs() < 0.01, "{:?}", found.numbers);
        assert!(!found.warnings.iter().any(|warning| warning.code == "start-assumed"));
    }
}

/// With a spring that is sought it does depend on it, though the model has none yet. The slide was
/// let go at 0.4 m, the spring is 2 N/m and its mass 2 kg.
#[test]
fn a_start_that_matters_to_what_is_sought_is_looked_for() {
    let make = || engine("native");
    let rail = Subject { world: common::world_of(common::RAIL), settings: Settings::default() };
    let times: Vec<SimTime> =
        (0..200).map(|i| SimTime::from_secs(f64::from(i) / 50.0).unwrap()).collect();
    let swinging = signal("rail/velocity", &times, |t| -0.4 * sin(t));
    let experiment = Experiment { signals: vec![swinging], ..Experiment::default() };
    let spring = "joint/rail/dynamics/spring_stiffness";
    let wanted = vec![Wanted::new(&rail, spring, 0.0, 10.0).unwrap()];
    let courses = vec![course("speeds", experiment, false)];
    let tuning = Tuning::new(rail, wanted, courses, plan(), &make).unwrap();
    assert!(tuning.names().iter().any(|name| name.ends_with("rail/position")));
}
