//! What overlaps is pushed apart, and no joint goes further for it than it may.
//!
//! Only the overlap is asked for. A joint that hardly changes it would have to go very far, or
//! anywhere by what rounding says.

mod common;

use common::{By, GROUND, Play, sdf_world};
use headland_base::maths;
use headland_sim::{Mode, Model, State};
use headland_world::{ContactLaw, Integrator};

/// Where the joints of a world are after so many seconds, and the furthest any of them went in a
/// millisecond.
fn moved(models: &str, integrator: Integrator, secs: f64) -> (Vec<f64>, f64) {
    let world = common::by(sdf_world(models), integrator, ContactLaw::Hard);
    let (mut last, mut furthest): (Vec<f64>, f64) = (Vec::new(), 0.0);
    let ran = Play::native(secs).watch(&world, |_: &Model, state: &State| {
        let now: Vec<f64> = state.dofs.iter().map(|axis| axis.position).collect();
        let steps = last.iter().zip(&now).map(|(a, b)| (a - b).abs());
        furthest = steps.fold(furthest, f64::max);
        last = now;
    });
    assert!(ran.events.iter().all(|(_, _, kind)| kind != "non-finite"), "{:?}", ran.events);
    (last, furthest)
}

fn link(name: &str, pose: &str, geometry: &str) -> String {
    format!(
        r#"<link name="{name}"><pose>{pose}</pose><inertial auto="true"><density>1000</density>
        </inertial><collision name="form"><geometry>{geometry}</geometry></collision></link>"#
    )
}

/// A cart whose rails hold it in a bench, deeper or less: nothing it can do brings it out, so it
/// stays where it is.
#[test]
fn a_cart_on_rails_stays_though_it_is_sunk() {
    for sunk in [1e-6, 1.1e-5, 1e-3, 2e-2] {
        let cart = link("cart", &format!("0 0 {} 0 0 0", 0.05 - sunk), CART);
        let models = format!(
            r#"{GROUND}<model name="cart">{cart}<joint name="rail" type="prismatic">
            <parent>world</parent><child>cart</child><axis><xyz>1 0 0</xyz><limit><lower>-0.5</lower>
            <upper>0.5</upper></limit></axis></joint></model>"#
        );
        for integrator in [Integrator::SemiImplicit, Integrator::Rk4] {
            let (at, _) = moved(&models, integrator, 0.3);
            assert!(at[0].abs() < 1e-9, "{sunk} m deep, {integrator:?}: at {at:?}");
        }
    }
}

const CART: &str = "<box><size>0.3 0.2 0.1</size></box>";

/// A leg whose foot is in the ground and that is all but straight: it has to bend far to come out,
/// and takes its time.
#[test]
fn a_leg_that_is_nearly_straight_bends_slowly() {
    for aside in [0.0, 1e-9, 1e-4, 1e-2] {
        let thigh = link("thigh", "0 0 0.75 0 0 0", "<box><size>0.05 0.05 0.3</size></box>");
        let foot = format!("{aside} 0 0.049 0 0 0");
        let foot = link("foot", &foot, "<sphere><radius>0.05</radius></sphere>");
        let hinge = |name: &str, height: f64, parent: &str, child: &str| {
            format!(
                r#"<joint name="{name}" type="revolute"><pose relative_to="__model__">
                0 0 {height} 0 0 0</pose><parent>{parent}</parent><child>{child}</child><axis>
                <xyz>0 1 0</xyz><limit><lower>-2</lower><upper>2</upper></limit></axis></joint>"#
            )
        };
        let models = format!(
            r#"{GROUND}<model name="leg">{thigh}{foot}{}{}</model>"#,
            hinge("hip", 0.9, "world", "thigh"),
            hinge("knee", 0.6, "thigh", "foot")
        );
        let (at, furthest) = moved(&models, Integrator::SemiImplicit, 0.3);
        eprintln!("{aside} m aside: at {at:?}, {furthest} rad in a step");
        assert!(furthest < 0.02, "{aside} m aside: {furthest} rad in a step");
        assert!(at.iter().all(|angle| angle.abs() < 0.5), "{aside} m aside: at {at:?}");
        // Straight to the last bit it does not know which way to bend.
        let (hip, knee) = (at[0], at[1]);
        let foot = 0.9
            - 0.3 * maths::cos(hip)
            - 0.551 * maths::cos(hip + knee)
            - aside * maths::sin(hip + knee);
        assert!(aside == 0.0 || foot > 0.05 - 2e-5, "{aside} m aside: foot {foot} m high");
    }
}

/// How fast the only joint of a world turns after three tenths of a second of 3 N·m.
fn turned(models: &str) -> f64 {
    let turning = By(|_, _: &Model, _: &State| vec![(0, Mode::Effort, 3.0)]);
    let mut speed = 0.0;
    let world = sdf_world(models);
    Play::native(0.3).with(turning).watch(&world, |_, state| speed = state.dofs[0].velocity);
    speed
}

/// Contacts that a hinge cannot change: on its very axis, or with a normal through it. They hold
/// nothing, and an effort turns the arm as if they were not there.
#[test]
fn a_contact_through_a_hinge_does_nothing() {
    let fixed = |geometry: &str| {
        format!(
            r#"<model name="fixed"><static>true</static><link name="link"><collision name="form">
            <geometry>{geometry}</geometry></collision></link></model>"#
        )
    };
    let (ball, capsule) = (
        "<sphere><radius>0.25</radius></sphere>",
        "<capsule><radius>0.08</radius><length>0.4</length></capsule>",
    );
    // Along x from the hinge on, with its round end about the hinge.
    let arm = |hinge: [f64; 2]| {
        let pose = format!("{} {} 0 0 1.5707963267948966 0", hinge[0] + 0.2, hinge[1]);
        format!(
            r#"<model name="arm">{}<joint name="hinge" type="revolute">
            <pose relative_to="__model__">{} {} 0 0 0 0</pose><parent>world</parent>
            <child>arm</child><axis><xyz>0 0 1</xyz></axis></joint></model>"#,
            link("arm", &pose, capsule),
            hinge[0],
            hinge[1],
        )
    };
    for (what, hinge) in [("on the axis", [0.0, 0.0]), ("through it", [0.2, 0.2])] {
        let speed = turned(&(fixed(ball) + &arm(hinge)));
        let wanted = turned(&arm(hinge));
        eprintln!("{what}: {speed} of {wanted} rad/s");
        assert!(
            wanted > 1.0 && (speed - wanted).abs() < 1e-6,
            "{what}: {speed}, not {wanted} rad/s"
        );
    }
}

/// A leg that is sunk into the ground and drawn in as far as it goes: its body is lifted out with it.
/// What pushes the foot is handed on by the joint's end, or the leg would be pushed beyond it.
#[test]
fn a_leg_at_its_end_lifts_its_body() {
    let sunk = 5e-3;
    let body =
        link("body", &format!("0 0 {} 0 0 0", 0.5 - sunk), "<box><size>0.2 0.2 0.2</size></box>");
    let foot = link(
        "foot",
        &format!("0 0 {} 0 0 0", 0.05 - sunk),
        "<sphere><radius>0.05</radius></sphere>",
    );
    let slide = |name: &str, parent: &str, child: &str, [lower, upper]: [f64; 2]| {
        format!(
            r#"<joint name="{name}" type="prismatic"><parent>{parent}</parent><child>{child}</child>
            <axis><xyz>0 0 1</xyz><limit><lower>{lower}</lower><upper>{upper}</upper></limit></axis>
            </joint>"#
        )
    };
    let models = format!(
        r#"{GROUND}<model name="legged">{body}{foot}{}{}</model>"#,
        slide("rail", "world", "body", [-1.0, 1.0]),
        slide("leg", "body", "foot", [-0.1, 0.0]),
    );
    for integrator in [Integrator::SemiImplicit, Integrator::Rk4] {
        let world = common::by(sdf_world(&models), integrator, ContactLaw::Hard);
        let (mut beyond, mut lifted) = (0.0_f64, 0.0);
        Play::native(0.2).watch(&world, |_, state| {
            beyond = beyond.max(state.dofs[1].position);
            lifted = state.dofs[0].position;
        });
        eprintln!("{integrator:?}: {beyond} m beyond its end, lifted by {lifted} m");
        assert!(beyond < 1e-5, "{integrator:?}: {beyond} m beyond its end");
        assert!((lifted - sunk).abs() < 2e-5, "{integrator:?}: lifted by {lifted} m");
    }
}
