//! The model and the run loop by themselves, on an engine that moves nothing.

use std::f64::consts::FRAC_PI_2;
use std::ops::ControlFlow;
use std::sync::Arc;

use headland_base::maths::quat_from_axis_angle;
use headland_base::{Diagnostic, SimDuration, SimTime, Transform, Vec3};
use headland_sim::{
    Cast, Command, Commands, Condition, Controller, Ending, Engine, EngineOptions, Fault, Gains,
    Inputs, Mode, Model, Motion, Observer, Setup, State, TouchFilter, checked, coarse_step, run,
};
use headland_world::{
    Axis, Collision, Geometry, Inertial, Joint, JointKind, Link, Mimic, Model as Robot, Surface,
    Touches, Twist, World,
};

fn link(name: &str, x: f64) -> Link {
    Link {
        name: name.into(),
        model_from_link: Transform::from_translation(Vec3::new(x, 0.0, 0.0)),
        inertial: Inertial { mass: 2.0, ..Inertial::default() },
        gravity: true,
        ..Link::default()
    }
}

fn joint(name: &str, parent: Option<&str>, child: &str, kind: JointKind) -> Joint {
    let child_from_joint = Transform::IDENTITY;
    Joint {
        name: name.into(),
        parent: parent.map(Into::into),
        child: child.into(),
        child_from_joint,
        kind,
        opaque: vec![],
    }
}

fn compile(links: Vec<Link>, joints: Vec<Joint>) -> Result<Model, Vec<Diagnostic>> {
    let robot = Robot { name: "robot".into(), links, joints, ..Robot::default() };
    Model::compile(&Arc::new(World { models: vec![robot], ..World::default() }))
}

fn hinge(axis: Axis) -> JointKind {
    JointKind::Continuous(axis)
}

/// Nothing moves, so everything else that happens is the loop's. It says this before a run.
struct Still(Option<&'static str>);

impl Engine for Still {
    fn check(&self, _: &Model, _: &EngineOptions) -> Vec<Diagnostic> {
        self.0.into_iter().map(|code| Diagnostic::warning(code, "")).collect()
    }
    fn start(&mut self, _: &Model, _: &State, _: &EngineOptions) -> Result<(), Fault> {
        Ok(())
    }
    fn step(
        &mut self,
        _: &Model,
        inputs: &Inputs,
        _: SimDuration,
        _: &mut State,
    ) -> Result<(), Fault> {
        if inputs.efforts.contains(&666.0) { Err(Fault("burnt out".into())) } else { Ok(()) }
    }
}

/// A box that falls.
fn falling_box(size: Vec3) -> Model {
    let mut link = link("a", 0.0);
    // Upright, so that what is flat has a thickness of rounding.
    let upright = Transform::from_rotation(quat_from_axis_angle(Vec3::X, FRAC_PI_2));
    link.collisions = vec![Collision {
        name: "shape".into(),
        link_from_shape: upright,
        geometry: Geometry::Box { size },
        surface: Surface::default(),
    }];
    compile(vec![link], vec![]).expect("compiles")
}

/// A step is too coarse for what falls further than its size in it, and says one that will
/// do. For a sheet none would, so none is said.
#[test]
fn a_coarse_step_is_warned_of_but_not_for_a_sheet() {
    let step = SimDuration::from_nanos(100_000_000);
    let warned = |size: Vec3| coarse_step(&Still(None), &falling_box(size), step);
    let warning = warned(Vec3::splat(0.02)).expect("it falls 98 mm");
    assert_eq!(warning.code, "coarse-step");
    assert!(warning.help.is_some_and(|help| help.contains("--step 0.00")));
    assert_eq!(warned(Vec3::splat(0.2)), None);
    assert_eq!(warned(Vec3::new(1.0, 1.0, 0.0)), None);
}

/// An engine that says itself which step suits is not contradicted by another.
#[test]
fn one_step_that_suits_is_enough() {
    let options = EngineOptions::new(SimDuration::from_nanos(100_000_000));
    let codes = |says| -> Vec<&str> {
        let found = checked(&Still(says), &falling_box(Vec3::splat(0.02)), &options);
        found.iter().map(|found| found.code).collect()
    };
    assert_eq!(codes(None), ["coarse-step"]);
    assert_eq!(codes(Some("realised")), ["realised", "coarse-step"]);
    assert_eq!(codes(Some("step-too-long")), ["step-too-long"]);
}

#[test]
fn a_weld_adds_masses_about_their_common_centre() {
    let mut heavy = link("b", 3.0);
    heavy.inertial.mass = 4.0;
    let model =
        compile(vec![link("a", 0.0), heavy], vec![joint("weld", Some("a"), "b", JointKind::Fixed)])
            .unwrap();
    let rigid = &model.rigids[0];
    assert_eq!((model.rigids.len(), rigid.mass, rigid.centre), (1, 6.0, Vec3::new(2.0, 0.0, 0.0)));
    // Two unit inertias, and two masses at 2 m and 1 m from the centre.
    let wanted = 2.0 + 2.0 * 4.0 + 4.0 * 1.0;
    assert!(
        (rigid.inertia.col(1).y - wanted).abs() < 1e-12
            && (rigid.inertia.col(0).x - 2.0).abs() < 1e-12
    );
}

#[test]
fn welded_links_must_agree_on_how_they_move() {
    let weld = || vec![joint("weld", Some("a"), "b", JointKind::Fixed)];
    let mut floating = link("b", 1.0);
    floating.gravity = false;
    let refused = compile(vec![link("a", 0.0), floating], weld()).unwrap_err();
    assert_eq!(refused[0].code, "weld-disagrees");

    let mut told = link("b", 1.0);
    told.kinematic = true;
    told.initial_twist = Twist { linear: Vec3::X, angular: Vec3::Z };
    let model = compile(vec![link("a", 0.0), told], weld()).unwrap();
    assert_eq!(model.rigids[0].motion, Motion::Kinematic);
    // b is 1 m along x, so a moves by ω × (−x) more.
    assert_eq!(model.rigids[0].twist.linear, Vec3::new(1.0, -1.0, 0.0));

    let (mut one, mut other) = (link("a", 0.0), link("b", 1.0));
    one.initial_twist.linear = Vec3::X;
    other.initial_twist.linear = Vec3::Y;
    assert_eq!(compile(vec![one, other], weld()).unwrap_err()[0].code, "weld-disagrees");
}

#[test]
fn followers_start_where_their_leaders_put_them() {
    let follow = |leader: &str| {
        let mimic = Mimic {
            leader: leader.into(),
            leader_axis: 0,
            multiplier: 2.0,
            offset: 0.5,
            reference: 0.0,
        };
        Axis { mimic: Some(mimic), ..Axis::along(Vec3::Z) }
    };
    let first = Axis { initial_position: 0.25, ..Axis::along(Vec3::Z) };
    // Declared before its leader, and following a follower.
    let joints = vec![
        joint("third", None, "c", hinge(follow("second"))),
        joint("second", None, "b", hinge(follow("first"))),
        joint("first", None, "a", hinge(first)),
    ];
    let model = compile(vec![link("a", 0.0), link("b", 1.0), link("c", 2.0)], joints).unwrap();
    let state = State::initial(&model);
    let positions: Vec<f64> = state.dofs.iter().map(|dof| dof.position).collect();
    for (position, wanted) in positions.iter().zip([2.5, 1.0, 0.25]) {
        assert!((position - wanted).abs() < 1e-12, "{positions:?}");
    }
}

#[test]
fn a_joint_goes_by_any_name_only_one_has() {
    let joints = vec![joint("elbow", None, "a", hinge(Axis::along(Vec3::Z)))];
    let model = compile(vec![link("a", 0.0), link("b", 1.0)], joints).unwrap();
    for name in ["elbow", "robot::elbow"] {
        assert_eq!(model.find_dof(name), Some(0));
    }
    for text in [
        "elbow/position > -1",
        "robot::elbow/effort<=0",
        "robot/a/pose/x >= 0",
        "robot::a/pose/x<1",
    ] {
        let condition =
            Condition::parse(text, &model).unwrap_or_else(|d| panic!("{text}: {}", d.message));
        assert!(condition.holds(&model, &State::initial(&model)), "{text}");
    }
    for text in ["elbow/pos > 0", "nobody/pose/x > 0", "elbow > 0", "> 0", "elbow/position > x"] {
        assert!(Condition::parse(text, &model).is_err(), "{text}");
    }
    // What goes by the name of the thing around it is further off than a slip of the hand.
    for text in ["robot::a::grasping_tool/pose/x > 0", "robot/a/grasping_tool/pose/x > 0"] {
        let help = Condition::parse(text, &model).expect_err(text).help;
        assert_eq!(help.as_deref(), Some("did you mean `robot::a/pose/x`?"), "{text}");
    }
}

/// Gives, holds, and lets go.
struct Script(Vec<(i64, Option<f64>)>);

impl Controller for Script {
    fn name(&self) -> &str {
        "script"
    }
    fn period(&self) -> SimDuration {
        SimDuration::from_nanos(1_000_000)
    }
    fn update(&mut self, _: &Model, state: &State, commands: &mut Commands) {
        for (_, target) in
            self.0.iter().filter(|(millis, _)| millis * 1_000_000 == state.time.nanos())
        {
            match target {
                Some(target) => commands.set(0, Command { mode: Mode::Effort, target: *target }),
                None => commands.release(0),
            }
        }
    }
}

#[derive(Default)]
struct Seen {
    efforts: Vec<f64>,
    events: Vec<(i64, String)>,
    held: Vec<(i64, bool)>,
}

impl Observer for Seen {
    fn sample(&mut self, _: &Model, state: &State) -> Result<(), Diagnostic> {
        self.efforts.push(state.dofs[0].effort);
        Ok(())
    }
    fn commands(&mut self, now: SimTime, commands: &Commands) -> Result<(), Diagnostic> {
        self.held.push((now.nanos() / 1_000_000, commands.held(0).is_some()));
        Ok(())
    }
    fn event(&mut self, now: SimTime, source: &str, _: &str, _: &str) -> Result<(), Diagnostic> {
        self.events.push((now.nanos() / 1_000_000, source.to_string()));
        Ok(())
    }
}

fn go(script: Vec<(i64, Option<f64>)>, change: impl FnOnce(&mut Setup)) -> (Seen, Ending) {
    let axis = Axis { effort_max: 5.0, ..Axis::along(Vec3::Z) };
    let model =
        compile(vec![link("a", 0.0)], vec![joint("j", None, "a", hinge(axis))]).expect("compiles");
    let mut setup = Setup::new(&model, SimDuration::from_nanos(10_000_000));
    change(&mut setup);
    let mut cast = Cast { controllers: vec![Box::new(Script(script))], ..Cast::default() };
    let mut seen = Seen::default();
    let tick = &mut |_| ControlFlow::Continue(());
    let end = run(&model, &setup, &mut Still(None), &mut cast, &mut seen, tick).expect("runs");
    (seen, end.ending)
}

#[test]
fn a_command_holds_until_it_is_replaced_or_released_and_limits_clamp_it() {
    let (seen, ending) =
        go(vec![(2, Some(3.0)), (4, Some(-90.0)), (7, None), (8, Some(f64::NAN))], |_| {});
    assert_eq!(ending, Ending::Duration);
    assert_eq!(seen.efforts, [0.0, 0.0, 0.0, 3.0, 3.0, -5.0, -5.0, -5.0, 0.0, 0.0, 0.0]);
    assert_eq!(seen.held, [(2, true), (4, true), (7, false), (8, true)]);
}

#[test]
fn the_watchdog_lets_go_once_and_wakes_with_the_next_command() {
    let (seen, _) = go(vec![(1, Some(1.0)), (7, Some(2.0))], |setup| {
        setup.watchdog = Some(SimDuration::from_nanos(3_000_000));
    });
    assert_eq!(seen.efforts, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 2.0, 2.0, 2.0]);
    assert_eq!(seen.events, [(5, "watchdog".to_string())]);
}

#[test]
fn an_engine_that_breaks_ends_the_run_with_what_it_said() {
    let (seen, ending) = go(vec![(3, Some(666.0))], |setup| setup.gains = Some(Gains::default()));
    // The limit of the axis clamps the command, so the engine never sees it.
    assert_eq!((ending, seen.events.len()), (Ending::Duration, 0));
    let axis = Axis::along(Vec3::Z);
    let model = compile(vec![link("a", 0.0)], vec![joint("j", None, "a", hinge(axis))]).unwrap();
    let setup = Setup::new(&model, SimDuration::from_nanos(10_000_000));
    let mut cast =
        Cast { controllers: vec![Box::new(Script(vec![(3, Some(666.0))]))], ..Cast::default() };
    let mut seen = Seen::default();
    let tick = &mut |_| ControlFlow::Continue(());
    let end = run(&model, &setup, &mut Still(None), &mut cast, &mut seen, tick).expect("runs");
    assert_eq!((end.ending, end.n_steps), (Ending::Fault(Fault("burnt out".into())), 3));
    assert_eq!((seen.efforts.len(), seen.events), (4, vec![(3, "engine".to_string())]));
}

/// Says in every step whether contacts are wanted; breaks in the eighth if asked to.
struct Counting {
    wanted: Vec<bool>,
    breaks: bool,
}

impl Engine for Counting {
    fn check(&self, _: &Model, _: &EngineOptions) -> Vec<Diagnostic> {
        Vec::new()
    }
    fn start(&mut self, _: &Model, _: &State, _: &EngineOptions) -> Result<(), Fault> {
        Ok(())
    }
    fn step(
        &mut self,
        _: &Model,
        inputs: &Inputs,
        _: SimDuration,
        _: &mut State,
    ) -> Result<(), Fault> {
        self.wanted.push(!inputs.skips_contacts);
        if self.breaks && self.wanted.len() == 8 { Err(Fault("worn out".into())) } else { Ok(()) }
    }
}

/// Samples every 3 ms of a run in steps of 1 ms: contacts are wanted at these, at the last
/// step, and at one more where a run is broken off between them. A state without contacts is
/// never observed.
#[test]
fn contacts_are_wanted_where_somebody_looks() {
    struct Times(Vec<i64>);
    impl Observer for Times {
        fn sample(&mut self, _: &Model, state: &State) -> Result<(), Diagnostic> {
            self.0.push(state.time.nanos() / 1_000_000);
            Ok(())
        }
    }
    let model = compile(vec![link("a", 0.0)], vec![]).unwrap();
    let go = |until: Option<&str>, breaks: bool, stops_at: i64| {
        let mut setup = Setup::new(&model, SimDuration::from_nanos(11_000_000));
        setup.record_period = SimDuration::from_nanos(3_000_000);
        setup.until = until.map(|text| Condition::parse(text, &model).unwrap());
        let mut engine = Counting { wanted: Vec::new(), breaks };
        let mut times = Times(Vec::new());
        let tick = &mut |now: SimTime| match now.nanos() / 1_000_000 == stops_at {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let end = run(&model, &setup, &mut engine, &mut Cast::default(), &mut times, tick);
        let steps = engine.wanted.iter().enumerate().filter(|(_, wanted)| **wanted);
        (times.0, steps.map(|(i, _)| i + 1).collect::<Vec<_>>(), end.expect("runs").ending)
    };
    let fault = Ending::Fault(Fault("worn out".into()));
    assert_eq!(go(None, false, 0), (vec![0, 3, 6, 9, 11], vec![3, 6, 9, 11], Ending::Duration));
    assert_eq!(go(None, false, 4), (vec![0, 3, 5], vec![3, 5], Ending::Interrupted));
    assert_eq!(go(None, false, 6), (vec![0, 3, 6], vec![3, 6], Ending::Interrupted));
    assert_eq!(go(None, true, 0), (vec![0, 3, 6], vec![3, 6], fault));
    let (times, wanted, _) = go(Some("contacts/count > 0"), false, 0);
    assert_eq!((times, wanted), (vec![0, 3, 6, 9, 11], (1..=11).collect()));
}

/// Sets of links and a robot's own choice of who touches hold for every engine.
#[test]
fn sets_and_robots_say_who_touches() {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let robot = |name: &str| Robot {
        name: name.into(),
        links: vec![link("a", 0.0), link("b", 1.0), link("c", 2.0)],
        self_collide: true,
        ..Robot::default()
    };
    let touching = |world: World| {
        let model = Model::compile(&Arc::new(world)).unwrap();
        let filter = TouchFilter::of(&model);
        let n = model.bodies.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        pairs.filter(|(i, j)| filter.may_touch(*i, *j)).collect::<Vec<_>>()
    };
    let all = touching(World { models: vec![robot("r")], ..World::default() });
    assert_eq!(all, [(0, 1), (0, 2), (1, 2)]);
    let set = Robot { contact_sets: vec![names(&["a", "c"])], ..robot("r") };
    assert_eq!(touching(World { models: vec![set], ..World::default() }), [(0, 1), (1, 2)]);
    let across = touching(World {
        contact_sets: vec![names(&["r::a", "s::a", "s::b"])],
        models: vec![Robot { touches: Touches::Links(names(&["a"])), ..robot("r") }, robot("s")],
        ..World::default()
    });
    assert_eq!(across, [(0, 5), (3, 5), (4, 5)], "of r only a, and that not with s::a and s::b");
}

/// A pair that is switched on touches in spite of the joint between the two and of a robot that
/// does not collide with itself. Two links of one rigid never do.
#[test]
fn a_pair_that_is_switched_on_touches() {
    let hinge = JointKind::Continuous(Axis::along(Vec3::Y));
    let touching = |pairs: &[(&str, &str)]| {
        let robot = Robot {
            name: "r".into(),
            links: vec![link("a", 0.0), link("b", 1.0), link("c", 2.0)],
            joints: vec![
                joint("hinge", Some("a"), "b", hinge.clone()),
                joint("glue", Some("b"), "c", JointKind::Fixed),
            ],
            contact_pairs: pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect(),
            ..Robot::default()
        };
        let world = World { models: vec![robot], ..World::default() };
        let model = Model::compile(&Arc::new(world)).unwrap();
        let filter = TouchFilter::of(&model);
        let pairs = [(0, 1), (0, 2), (1, 2)];
        pairs.into_iter().filter(|(i, j)| filter.may_touch(*i, *j)).collect::<Vec<_>>()
    };
    assert_eq!(touching(&[]), []);
    assert_eq!(touching(&[("b", "a")]), [(0, 1)]);
    assert_eq!(touching(&[("a", "c"), ("b", "c")]), [(0, 2)]);
}
