//! Impacts: what closes fast bounces, the fastest first.
//!
//! The pair that closes fastest is answered first: at all its points at once the normal
//! velocity becomes −e times what it was (Newton's law), with friction within the cone. Pairs
//! that close equally fast are answered together, so that mirror images come out as mirror
//! images. What that does to other pairs is answered next, until nothing closes faster than the
//! threshold. So boxes land flat, and a row of balls hands the push on to its end, from both ends
//! at once if it is hit at both.
//!
//! ```text
//! fastest ─► equals ─► those that act on each other ─ all at once ─► velocities ─┐
//!    ▲                                                                           │
//!    └───────────────────────────────────────────────────────────────────────────┘
//! ```

use super::{Contact, Problem, Row, Scratch, Task, Tuning, search};

/// What hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impacts {
    /// Times that pairs were answered; equals that act on each other count once.
    pub n_answered: usize,
    /// Whether pairs were still closing when patience ended; [`solve`](super::solve) then
    /// stops them without a bounce.
    pub is_unfinished: bool,
}

/// Answers everything that touches and closes faster than `threshold` \[m/s\]. The problem's
/// free velocities are those just before; impulses go out, and with them the velocities just
/// after, in [`Scratch::velocities`]. Loops are held meanwhile.
pub fn impact(
    problem: &Problem<'_>,
    threshold: f64,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Impacts {
    problem.check(impulses);
    impulses.fill(0.0);
    let mut blow = std::mem::take(&mut scratch.blow);
    blow.velocities.clear();
    blow.velocities.extend_from_slice(problem.free);
    let n_most = N_ROUNDS * (problem.contacts.len() + 1);
    let mut out = Impacts { n_answered: 0, is_unfinished: false };
    while let Some(speed) = fastest(problem, &blow.velocities, threshold) {
        if out.n_answered >= n_most {
            out.is_unfinished = true;
            break;
        }
        let tolerance = (CLOSER * tuning.tolerance).max(ROUNDING * speed);
        blow.list_equals(problem, speed);
        while blow.list_piece(problem) {
            blow.pose(problem, threshold);
            blow.answer(problem, &Tuning { tolerance, ..*tuning }, impulses, scratch);
            out.n_answered += 1;
        }
    }
    std::mem::swap(&mut scratch.velocities, &mut blow.velocities);
    scratch.blow = blow;
    out
}

/// Rounds through all contacts before the rest is left to the solver.
const N_ROUNDS: usize = 50;

/// Share of the fastest speed by which another may be slower and still count as equal. Answers are
/// right to some 1e-11 m/s, and each hit may make what is off ten times as large.
const EQUAL: f64 = 1e-6;

/// How much nearer to its law a hit is brought than what holds: equals of the next hit are to be
/// known as such.
const CLOSER: f64 = 1e-3;

/// Share of its speed to which a hit can be answered at all.
const ROUNDING: f64 = 1e-13;

/// The speed of the pair that closes fastest.
fn fastest(problem: &Problem<'_>, velocities: &[f64], threshold: f64) -> Option<f64> {
    let closing = |(i, contact): (usize, &Contact)| {
        let hits = contact.is_touching && problem.law(i).answers();
        hits.then(|| -velocities[3 * i])
    };
    let speeds = problem.contacts.iter().enumerate().filter_map(closing);
    speeds.filter(|speed| *speed > threshold).reduce(f64::max)
}

/// What is answered at once; memory that is used again.
#[derive(Debug, Default)]
pub(super) struct Blow {
    /// Blocks that are still to be answered: points of pairs that close equally fast, and loops.
    equals: Vec<usize>,
    /// Those of them that act on each other, in order.
    piece: Vec<usize>,
    /// Their rows in the problem.
    places: Vec<usize>,
    delassus: Vec<f64>,
    free: Vec<f64>,
    contacts: Vec<Contact>,
    rows: Vec<Row>,
    impulses: Vec<f64>,
    /// Of every row of the problem, after what was answered \[m/s\].
    velocities: Vec<f64>,
}

impl Blow {
    /// All touching points of the pairs that close at this speed, and all loops.
    fn list_equals(&mut self, problem: &Problem<'_>, speed: f64) {
        self.equals.clear();
        let contacts = problem.contacts;
        let mut first = 0;
        for points in contacts.chunk_by(|a, b| a.group == b.group) {
            let blocks = first..first + points.len();
            first += points.len();
            let touching = || blocks.clone().filter(|i| contacts[*i].is_touching);
            if touching().any(|i| -self.velocities[3 * i] >= (1.0 - EQUAL) * speed) {
                self.equals.extend(touching());
            }
        }
        let is_loop = |row: &Row| row.low == f64::NEG_INFINITY && row.high == f64::INFINITY;
        let loops = problem.rows.iter().enumerate().filter(|(_, row)| is_loop(row));
        self.equals.extend(loops.map(|(i, _)| contacts.len() + i));
    }

    /// Takes from the equals the first point and all that it acts on, directly or through others;
    /// `false` where only loops are left.
    fn list_piece(&mut self, problem: &Problem<'_>) -> bool {
        let Blow { equals, piece, .. } = self;
        piece.clear();
        if equals.first().is_none_or(|block| *block >= problem.contacts.len()) {
            return false;
        }
        piece.push(equals.remove(0));
        let mut n_asked = 0;
        while let Some(&block) = piece.get(n_asked) {
            n_asked += 1;
            equals.retain(|other| {
                let acts = problem.acts(block, *other);
                piece.extend(acts.then_some(*other));
                !acts
            });
        }
        piece.sort_unstable();
        true
    }

    /// Writes the piece as a problem of its own. Its points part at e times the speed they close
    /// at (Newton). Those that part already may close, at e times the speed they part at (Moreau):
    /// to stop them would take work from nowhere. Where that is too fast they are answered next.
    fn pose(&mut self, problem: &Problem<'_>, threshold: f64) {
        let Blow { piece, places, delassus, free, contacts, rows, impulses, velocities, .. } = self;
        places.clear();
        contacts.clear();
        rows.clear();
        for &block in &*piece {
            let (first, width) = problem.span(block);
            places.extend(first..first + width);
            let Some(contact) = problem.contacts.get(block) else {
                // What the loop does by itself is the solver's business.
                rows.push(Row::held(problem.free[first]));
                continue;
            };
            let parting = velocities[first];
            let is_slow = parting < 0.0 && parting >= -threshold;
            let target = if is_slow { 0.0 } else { -contact.restitution * parting };
            contacts.push(Contact { target, ..*contact });
        }
        free.clear();
        free.extend(places.iter().map(|place| velocities[*place]));
        delassus.clear();
        for &place in &*places {
            let row = problem.row(place);
            delassus.extend(places.iter().map(|other| row[*other]));
        }
        impulses.clear();
        impulses.resize(places.len(), 0.0);
    }

    /// Solves it, with fresh impulses, each within a cone of its own.
    fn answer(
        &mut self,
        problem: &Problem<'_>,
        tuning: &Tuning,
        sums: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let Blow { places, delassus, free, contacts, rows, impulses, velocities, .. } = self;
        let own = Problem { delassus, free, contacts, rows };
        // A hit is over before anybody gives way.
        let own = Task { problem: own, strengths: &[] };
        search(&own, impulses, tuning, scratch);
        for (&place, &impulse) in places.iter().zip(&*impulses) {
            if impulse != 0.0 && impulse.is_finite() {
                sums[place] += impulse;
                let row = problem.row(place).iter();
                velocities.iter_mut().zip(row).for_each(|(velocity, w)| *velocity += w * impulse);
            }
        }
    }
}
