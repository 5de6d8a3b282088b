//! Squeezes of the hard law: what was once pressed leaves no trace.

use headland_base::{Seed, Vec3};
use headland_sim::contact::hard::{Contact, Problem, Scratch, Tuning, ease, solve};
use rand_chacha::rand_core::Rng;

/// A point of 1 kg that touches walls, each given by its normal.
struct Nook {
    directions: Vec<Vec3>,
    delassus: Vec<f64>,
    contacts: Vec<Contact>,
}

impl Nook {
    fn of(normals: &[Vec3], mu: f64) -> Nook {
        let axes = |normal: &Vec3| {
            let (first, second) = normal.any_orthonormal_pair();
            [*normal, first, second]
        };
        let directions: Vec<Vec3> = normals.iter().flat_map(axes).collect();
        let rows = directions.iter().flat_map(|a| directions.iter().map(|b| a.dot(*b)));
        let contact =
            Contact { mu, mu2: mu, restitution: 0.0, target: 0.0, group: 0, is_touching: true };
        Nook { delassus: rows.collect(), contacts: vec![contact; normals.len()], directions }
    }

    /// How it moves after a push, with walls that pressed as hard as this before, and how hard they
    /// press now; with squeezes taken out, or as it was solved.
    fn after(&self, push: Vec3, squeeze: f64, is_eased: bool) -> (Vec3, Vec<f64>) {
        let free: Vec<f64> = self.directions.iter().map(|way| way.dot(push)).collect();
        let Nook { delassus, contacts, .. } = self;
        let problem = Problem { delassus, free: &free, contacts, rows: &[] };
        let mut impulses = vec![0.0; free.len()];
        (0..contacts.len()).for_each(|i| impulses[3 * i] = squeeze);
        let (tuning, mut scratch) = (Tuning::default(), Scratch::new());
        let solved = solve(&problem, &mut impulses, &tuning, &mut scratch);
        assert!(solved.residual <= tuning.tolerance, "{solved:?}");
        if is_eased {
            let eased = ease(&problem, &[], &mut impulses, solved, true, &tuning, &mut scratch);
            assert!(eased.residual <= tuning.tolerance, "{eased:?}");
        }
        let both = self.directions.iter().zip(&impulses);
        let velocity = both.map(|(way, impulse)| *way * *impulse).sum::<Vec3>() + push;
        (velocity, impulses.iter().step_by(3).copied().collect())
    }
}

/// Between two walls: without a push across it falls, whatever they did before; with one it is held
/// by the wall that is pushed at, and by no other.
#[test]
fn walls_push_only_what_is_pushed_at_them() {
    let (nook, mu) = (Nook::of(&[Vec3::Y, -Vec3::Y], 0.5), 0.5);
    for squeeze in [0.0, 1e-6, 0.1, 10.0, 1e4] {
        for (across, wanted) in [(0.0, 1.0), (0.6, 1.0 - mu * 0.6), (-5.0, 0.0)] {
            let push = Vec3::new(0.0, across, -1.0);
            let (velocity, presses) = nook.after(push, squeeze, true);
            let what = format!("squeezed by {squeeze}, pushed by {across}");
            assert!((velocity + Vec3::Z * wanted).length() < 1e-9, "{what}: {velocity}");
            let pressed = [(-across).max(0.0), across.max(0.0)];
            let off = presses.iter().zip(pressed).map(|(got, wanted)| (got - wanted).abs());
            assert!(off.fold(0.0, f64::max) < 1e-9, "{what}: {presses:?}");
        }
    }
}

/// What cannot move along the walls, like a piston, is let go by them all the same.
#[test]
fn what_only_moves_across_is_let_go() {
    let mut nook = Nook::of(&[Vec3::Y, -Vec3::Y], 0.5);
    let n = nook.directions.len();
    for (i, w) in nook.delassus.iter_mut().enumerate() {
        let is_normal = |row: usize| row.is_multiple_of(3);
        if !is_normal(i / n) || !is_normal(i % n) {
            *w = 0.0;
        }
    }
    let (_, presses) = nook.after(Vec3::Y * 0.2, 3.0, true);
    let off = presses.iter().zip([0.0, 0.2]).map(|(got, wanted)| (got - wanted).abs());
    assert!(off.fold(0.0, f64::max) < 1e-9, "{presses:?}");
}

/// In nooks of many walls, too, what comes out does not depend on what pressed before: the same
/// motion from a hundredfold squeeze as from none. Some of them would be held by a squeeze alone.
#[test]
fn what_pressed_before_is_forgotten() {
    let (mut n_held_by_squeeze, mut n_free) = (0, 0);
    for seed in 0..200 {
        let mut dice = Seed::new(seed).rng();
        let mut number = || f64::from(dice.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0;
        let mut way = || Vec3::new(number(), number(), number()).normalize();
        let mut normals: Vec<Vec3> = (0..2 + seed as usize % 4).map(|_| way()).collect();
        // So that there is something to squeeze.
        normals.push(-normals[0]);
        let (nook, push) = (Nook::of(&normals, 0.4), way());
        let (fresh, _) = nook.after(push, 0.0, true);
        let (eased, presses) = nook.after(push, 100.0, true);
        assert!((fresh - eased).length() < 1e-7, "{seed}: {fresh}, {eased}");
        assert!(presses.iter().all(|press| *press < 20.0), "{seed}: {presses:?}");
        let (squeezed, _) = nook.after(push, 100.0, false);
        n_held_by_squeeze += usize::from((squeezed - fresh).length() > 1e-3);
        n_free += usize::from(fresh.length() > 1e-3);
    }
    eprintln!("{n_free} move, {n_held_by_squeeze} would be held by a squeeze");
    assert!(n_free > 50 && n_held_by_squeeze > 50, "{n_free}, {n_held_by_squeeze}");
}

/// What slides on two grounds after a crowd was solved: velocities are those of the problem at hand,
/// though who acts on whom is kept of a crowd, and its answer was right at once.
#[test]
fn who_acted_on_whom_in_another_problem_does_not_matter() {
    let (tuning, mut scratch) = (Tuning::default(), Scratch::new());
    // Each point of the crowd lies on a ground of its own.
    let n = 3 * 30;
    let apart = |i: usize| f64::from(u8::from(i / n == i % n));
    let delassus: Vec<f64> = (0..n * n).map(apart).collect();
    let free: Vec<f64> = (0..n).map(|row| [-1.0, 0.2, 0.1][row % 3]).collect();
    let Nook { contacts, .. } = Nook::of(&[Vec3::Z; 30], 0.5);
    let crowd = Problem { delassus: &delassus, free: &free, contacts: &contacts, rows: &[] };
    let mut impulses = vec![0.0; n];
    solve(&crowd, &mut impulses, &tuning, &mut scratch);
    let nook = Nook::of(&[Vec3::Z; 2], 0.5);
    let free: Vec<f64> =
        nook.directions.iter().map(|way| way.dot(Vec3::new(2.0, 0.0, -1.0))).collect();
    let Nook { delassus, contacts, .. } = &nook;
    let problem = Problem { delassus, free: &free, contacts, rows: &[] };
    let mut impulses = vec![0.0; free.len()];
    let solved = solve(&problem, &mut impulses, &tuning, &mut Scratch::new());
    assert!(solved.residual <= tuning.tolerance, "{solved:?}");
    // As one that was there before comes in.
    let solved = solve(&problem, &mut impulses, &tuning, &mut scratch);
    ease(&problem, &[], &mut impulses, solved, false, &tuning, &mut scratch);
    let own = |row: usize| {
        let n = free.len();
        let sum: f64 = (0..n).map(|i| delassus[row * n + i] * impulses[i]).sum();
        sum + free[row]
    };
    let off = scratch.velocities().iter().enumerate().map(|(row, v)| (v - own(row)).abs());
    assert!(off.fold(0.0, f64::max) < 1e-12, "{:?}", scratch.velocities());
}
