//! Viscous friction of the soft law, as of the end of the step: at most six rows for two links,
//! however many points they touch at.
//!
//! At a point the friction is `λ = −h·c·J·u`, along two tangents and about three axes, with `u`
//! how one link moves against the other. All points of two links together are `−h·C·u` with
//! `C = Σ Jᵀ·c·J`, six by six. Written as `C = L·Lᵀ`, each column of `L` is a row that holds still
//! and gives in by `1/h`, and the sum of the rows is the friction to the last digit. As a force it
//! would throw a light foot about as soon as `h·c` is more than twice what the foot weighs; as
//! rows of every point it was most of the time a robot took that lay on soft ground.

use headland_base::Vec3;
use headland_base::maths::sqrt;
use headland_sim::State;
use headland_sim::contact::hard::Row;
use headland_sim::motion::Pack;
use headland_sim::tree::{V3, V6};

use super::contacts::{Contacts, Touch};
use super::packing::Seat;
use super::rows::{Owner, Rows, free_spin, free_velocity, tangents_of};

/// The rows of two links.
#[derive(Default)]
struct Rubbing {
    /// Columns of `L`, as forces about the first point: moment, then force.
    columns: [[f64; 6]; 6],
    /// The direction in which each of them was the largest.
    pivots: [usize; 6],
    /// How many there are.
    n: usize,
}

/// What is left of a direction below this share of what it was, is nothing but rounding.
const NOTHING: f64 = 1e-12;

impl Rubbing {
    /// `C = L·Lᵀ` by Cholesky, what is left most of coming first.
    fn of(mut left: [[f64; 6]; 6]) -> Rubbing {
        let whole: [f64; 6] = std::array::from_fn(|i| left[i][i]);
        let mut out = Rubbing::default();
        while out.n < 6 {
            let share = |i: usize| if whole[i] > 0.0 { left[i][i] / whole[i] } else { 0.0 };
            let largest = (1..6).fold(0, |best, i| if share(i) > share(best) { i } else { best });
            if share(largest).is_nan() || share(largest) <= NOTHING {
                break;
            }
            let root = sqrt(left[largest][largest]);
            let column: [f64; 6] = std::array::from_fn(|i| left[i][largest] / root);
            for i in 0..6 {
                (0..6).for_each(|j| left[i][j] -= column[i] * column[j]);
            }
            (out.columns[out.n], out.pivots[out.n]) = (column, largest);
            out.n += 1;
        }
        out
    }

    fn columns(&self) -> &[[f64; 6]] {
        &self.columns[..self.n]
    }

    /// The shares of the columns that a direction is made of.
    fn shares_of(&self, direction: [f64; 6]) -> [f64; 6] {
        let (mut left, mut shares) = (direction, [0.0; 6]);
        for (k, (column, pivot)) in self.columns().iter().zip(&self.pivots).enumerate() {
            shares[k] = left[*pivot] / column[*pivot];
            (0..6).for_each(|i| left[i] -= shares[k] * column[i]);
        }
        shares
    }
}

/// A motion along `along` at a point `arm` from where moments are counted.
fn direction(arm: Vec3, along: Vec3) -> [f64; 6] {
    let turn = arm.cross(along);
    [turn.x, turn.y, turn.z, along.x, along.y, along.z]
}

/// Where two links rub, from the first of their points, across what, and how much.
struct Spot {
    arm: Vec3,
    normal: Vec3,
    rub: [f64; 2],
}

/// How much all of them rub.
fn friction_of(spots: impl Iterator<Item = Spot>) -> [[f64; 6]; 6] {
    let mut sum = [[0.0; 6]; 6];
    for Spot { arm, normal, rub: [sliding, spinning] } in spots {
        for along in tangents_of(normal) {
            let j = direction(arm, along);
            for (row, a) in sum.iter_mut().zip(j) {
                row.iter_mut().zip(j).for_each(|(entry, b)| *entry += sliding * a * b);
            }
        }
        (0..3).for_each(|i| sum[i][i] += spinning);
    }
    sum
}

impl Rows {
    /// Rows for the friction that was left to them.
    pub fn rub(&mut self, dt: f64, packs: &[Box<dyn Pack>], state: &State, contacts: &Contacts) {
        let touches = &contacts.touches;
        let moves = |seat: &Option<Seat>| seat.is_some_and(|(pack, ..)| packs[pack].gives_way());
        let rubs = |i: &usize| touches[*i].rub != [0.0; 2] && touches[*i].seats.iter().any(moves);
        let mut order = std::mem::take(&mut self.held.rubbing);
        order.extend((0..touches.len()).filter(rubs));
        // Links of several shapes touch here, then others, then here again.
        order.sort_unstable_by_key(|i| (touches[*i].rigids, *i));
        let mut first = 0;
        for group in order.chunk_by(|a, b| touches[*a].rigids == touches[*b].rigids) {
            self.rub_links(dt, packs, state, (first, group, touches));
            first += group.len();
        }
        self.held.rubbing = order;
    }

    /// The rows of two links, which rub at these points, from the given place in the order on.
    fn rub_links(
        &mut self,
        dt: f64,
        packs: &[Box<dyn Pack>],
        state: &State,
        (first, group, touches): (usize, &[usize], &[Touch]),
    ) {
        let lead = &touches[group[0]];
        let from = lead.point.position;
        let spot = |i: &usize| {
            let Touch { point, rub, .. } = &touches[*i];
            Spot { arm: point.position - from, normal: point.normal, rub: *rub }
        };
        let rubbing = Rubbing::of(friction_of(group.iter().map(spot)));
        let (spin, slip) = (free_spin(packs, state, lead), free_velocity(packs, state, lead));
        let free = [spin.x, spin.y, spin.z, slip.x, slip.y, slip.z];
        let (first_part, n_rows) = (self.held.parts.len(), rubbing.n);
        for Spot { arm, normal, rub } in group.iter().map(spot) {
            let tangents = tangents_of(normal);
            let shares = tangents.map(|along| rubbing.shares_of(direction(arm, along)));
            // An impulse along a row is −h times its speed, a force at a point −c times its own.
            let part = |k: usize| tangents[0] * shares[0][k] + tangents[1] * shares[1][k];
            self.held.parts.extend((0..n_rows).map(|k| part(k) * (rub[0] / dt)));
        }
        for (k, column) in rubbing.columns().iter().enumerate() {
            let [x, y, z, fx, fy, fz] = *column;
            let (torque, force) = (Vec3::new(x, y, z), Vec3::new(fx, fy, fz));
            let side = |side: usize, sign: f64| {
                let seat = lead.seats[side]?;
                let arm = V3::of(from - packs[seat.0].origin(seat.1));
                Some((seat, V6::force_at(arm, V3::of(force * sign), V3::of(torque * sign))))
            };
            let sides = [side(0, -1.0), side(1, 1.0)];
            let speed = column.iter().zip(free).map(|(part, free)| part * free).sum();
            self.open_links(packs, &sides, speed);
            self.held.singles.push(Row::held(0.0));
            let (points, parts) = ((first, group.len()), (first_part + k, n_rows));
            self.held.owners.push(Owner::Rub { points, parts, sides, give: 1.0 / dt });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns make up the matrix again, and a direction its shares: of one point, which leaves a
    /// direction out, of two, which leave their line out, and of three; with spin and without.
    #[test]
    fn columns_and_shares_make_up_what_they_are_of() {
        let arms = [Vec3::ZERO, Vec3::new(0.1, 0.3, -0.2), Vec3::new(0.4, 0.1, 0.0)];
        let normals = [Vec3::Z, Vec3::X, Vec3::new(0.6, 0.0, 0.8)];
        let cases = [(1, 0.0, 2), (1, 0.05, 5), (2, 0.0, 4), (3, 0.0, 6), (3, 0.02, 6)];
        for (n, spinning, wanted) in cases {
            let spots = || {
                let both = arms.into_iter().zip(normals).take(n);
                both.map(|(arm, normal)| Spot { arm, normal, rub: [3.0, spinning] })
            };
            let sum = friction_of(spots());
            let rubbing = Rubbing::of(sum);
            assert_eq!(rubbing.n, wanted, "{n} points, {spinning}");
            for i in 0..6 {
                for j in 0..6 {
                    let made: f64 = rubbing.columns().iter().map(|c| c[i] * c[j]).sum();
                    assert!((made - sum[i][j]).abs() < 1e-13, "{made} {}", sum[i][j]);
                }
            }
            for spot in spots() {
                for along in tangents_of(spot.normal) {
                    let wanted = direction(spot.arm, along);
                    let shares = rubbing.shares_of(wanted);
                    for (i, wanted) in wanted.into_iter().enumerate() {
                        let both = rubbing.columns().iter().zip(shares);
                        let made: f64 = both.map(|(column, share)| column[i] * share).sum();
                        assert!((made - wanted).abs() < 1e-12, "{made} {wanted}");
                    }
                }
            }
        }
    }
}
