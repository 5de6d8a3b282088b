//! Who touches whom in the native engine, as a world file says it: pairs, sets, selected links.

mod common;

use common::{GROUND, Play, place_of, sdf_world};

/// A ball of 10 cm.
fn ball(name: &str, z: f64) -> String {
    format!(
        r#"<link name="{name}"><pose>0 0 {z} 0 0 0</pose><inertial><mass>1</mass>
        <inertia><ixx>0.004</ixx><iyy>0.004</iyy><izz>0.004</izz></inertia></inertial>
        <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
        </link>"#
    )
}

/// How high the upper and the lower of two balls on the ground are after half a second, where the
/// model and the world say this besides.
fn heights(in_model: &str, in_world: &str) -> (f64, f64) {
    let (low, high) = (ball("low", 0.1), ball("high", 0.3));
    let world = sdf_world(&format!(
        r#"{GROUND}<model name="pile"><self_collide>true</self_collide>{low}{high}{in_model}</model>
        {in_world}"#
    ));
    let ran = Play::native(0.5).watch(&world, |_, _| {});
    let [high, low] =
        ["pile::high", "pile::low"].map(|name| place_of(&ran.model, &ran.end.state, name).z);
    (high, low)
}

#[test]
fn pairs_sets_and_links_are_switched_off() {
    let stands = (0.3, 0.1);
    let is_near = |(a, b): (f64, f64), (c, d): (f64, f64)| (a - c).abs() + (b - d).abs() < 1e-3;
    let told = heights("", "");
    assert!(is_near(told, stands), "{told:?}");
    let through = (0.1, 0.1);
    for (in_model, in_world) in [
        (r#"<headland:contact_exclude first="high" second="low"/>"#, ""),
        ("<headland:contact_set>low high</headland:contact_set>", ""),
        ("", "<headland:contact_set>pile::low pile::high</headland:contact_set>"),
    ] {
        let told = heights(in_model, in_world);
        assert!(is_near(told, through), "{in_model}{in_world}: {told:?}");
    }
    // What takes no part falls through the ground, too: 0.5·g·t² deep.
    let fallen = 0.5 * common::GRAVITY * 0.25;
    let told = heights("<headland:touches>low</headland:touches>", "");
    assert!((told.0 - (0.3 - fallen)).abs() < 5e-3 && (told.1 - 0.1).abs() < 1e-3, "{told:?}");
    let told = heights("<headland:touches>none</headland:touches>", "");
    assert!((told.1 - (0.1 - fallen)).abs() < 5e-3, "{told:?}");
    // Not even where a pair is switched on.
    let pair = r#"<headland:contact_pair first="low" second="high"/>"#;
    let told = heights(&format!("<headland:touches>low</headland:touches>{pair}"), "");
    assert!((told.0 - (0.3 - fallen)).abs() < 5e-3, "{told:?}");
}
