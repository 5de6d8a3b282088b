//! Contacts that are only so strong: the staircase between impulse and closing speed, against
//! closed forms.

use headland_sim::contact::hard::{
    Contact, Outcome, Problem, Scratch, Strength, Tuning, solve_within,
};

const MASS: f64 = 0.2;

fn contact(mu: f64, group: usize) -> Contact {
    Contact { mu, mu2: mu, restitution: 0.0, target: 0.0, group, is_touching: true }
}

fn solved(
    delassus: &[f64],
    free: &[f64],
    contacts: &[Contact],
    strengths: &[Strength],
) -> (Vec<f64>, Vec<f64>, Outcome) {
    let mut impulses = vec![0.0; free.len()];
    let mut scratch = Scratch::new();
    let problem = Problem { delassus, free, contacts, rows: &[] };
    let outcome =
        solve_within(&problem, strengths, &mut impulses, &Tuning::default(), &mut scratch);
    (impulses, scratch.velocities().to_vec(), outcome)
}

/// A point mass on one surface: 3×3, the same in every direction.
fn alone() -> Vec<f64> {
    (0..9).map(|i| if i % 4 == 0 { 1.0 / MASS } else { 0.0 }).collect()
}

/// One surface that was told to come at 0.5 m/s meets a mass that comes at some speed of its own:
/// stopped while that takes no more than its strength, then giving way, and what comes faster
/// than all it gives in is stopped down to that.
#[test]
fn every_stair_is_reached() {
    let strength = Strength { most: 0.3, give: 0.5 };
    for (closing, impulse, speed) in [
        (-1.0, 0.0, 1.0),
        (1.0, MASS * 1.0, 0.0),
        (1.4, MASS * 1.4, 0.0),
        (1.6, 0.3, -0.1),
        (1.9, 0.3, -0.4),
        (4.0, MASS * 3.5, -0.5),
    ] {
        for mu in [0.0, 0.6] {
            let (impulses, velocities, outcome) =
                solved(&alone(), &[-closing, 0.0, 0.0], &[contact(mu, 0)], &[strength]);
            assert!(outcome.residual < 1e-10, "{closing}: {outcome:?}");
            assert!((impulses[0] - impulse).abs() < 1e-10, "{closing}: {impulses:?}");
            assert!((velocities[0] - speed).abs() < 1e-10, "{closing}: {velocities:?}");
        }
    }
}

/// Giving way, it still rubs: Coulomb's friction under the impulse it holds.
#[test]
fn who_gives_way_rubs() {
    let strength = Strength { most: 0.3, give: 0.5 };
    for (slip, mu) in [(0.1, 0.6), (3.0, 0.6), (3.0, 0.1)] {
        let free = [-1.9, 0.6 * slip, -0.8 * slip];
        let (impulses, velocities, outcome) =
            solved(&alone(), &free, &[contact(mu, 0)], &[strength]);
        assert!(outcome.residual < 1e-10, "{outcome:?}");
        let wanted = (MASS * slip).min(mu * 0.3);
        assert!((impulses[0] - 0.3).abs() < 1e-10);
        assert!((impulses[1] + 0.6 * wanted).abs() < 1e-9, "{impulses:?}");
        assert!((impulses[2] - 0.8 * wanted).abs() < 1e-9, "{impulses:?}");
        let left = slip - wanted / MASS;
        assert!((velocities[1] - 0.6 * left).abs() < 1e-9, "{velocities:?}");
    }
}

/// A ball between a wall and a leg that was told to walk through it: without an end to the leg's
/// strength there is no answer; with it the ball rests, pressed from both sides by just that.
#[test]
fn a_pinched_ball_rests() {
    let w = 1.0 / MASS;
    let mut delassus = vec![0.0; 36];
    for i in 0..6 {
        delassus[7 * i] = w;
    }
    // Normals against each other; the first tangents against, the second along each other.
    for (i, j, sign) in [(0, 3, -1.0), (1, 4, -1.0), (2, 5, 1.0)] {
        delassus[6 * i + j] = sign * w;
        delassus[6 * j + i] = sign * w;
    }
    for mu in [0.0, 0.4, 1.0] {
        for drag in [0.0, 0.3] {
            let free = [-0.2, 0.0, drag, 0.0, 0.0, 0.0];
            let strengths = [Strength { most: 0.5, give: 0.4 }, Strength::ENDLESS];
            let contacts = [contact(mu, 0), contact(mu, 1)];
            let (impulses, velocities, outcome) = solved(&delassus, &free, &contacts, &strengths);
            assert!(outcome.residual < 1e-9, "μ {mu}, {drag} m/s: {outcome:?}");
            assert!((impulses[0] - 0.5).abs() < 1e-9, "{impulses:?}");
            assert!((impulses[3] - 0.5).abs() < 1e-9, "{impulses:?}");
            assert!((velocities[0] + 0.2).abs() < 1e-9 && velocities[3].abs() < 1e-9);
        }
    }
}
