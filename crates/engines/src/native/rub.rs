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

/// The rows of two links: scratch.
#[derive(Default)]
struct Rubbing {
    /// Columns of `L`, as forces about the first point: moment, then force.
    columns: Vec<[f64; 6]>,
    /// The direction in which each of them was the largest, and from which on it stands alone.
    pivots: Vec<usize>,
}

/// What is left of a direction below this share of what it was, is nothing but rounding.
const NOTHING: f64 = 1e-12;

impl Rubbing {
    /// `C = L·Lᵀ` by Cholesky, what is left most of coming first.
    fn of(mut left: [[f64; 6]; 6]) -> Rubbing {
        let whole: [f64; 6] = std::array::from_fn(|i| left[i][i]);
        let mut out = Rubbing::default();
        for _ in 0..6 {
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
            out.columns.push(column);
            out.pivots.push(largest);
        }
        out
    }

    /// The shares of the columns that a direction is made of.
    fn shares_of(&self, direction: [f64; 6]) -> [f64; 6] {
        let (mut left, mut shares) = (direction, [0.0; 6]);
        for (k, (column, pivot)) in self.columns.iter().zip(&self.pivots).enumerate() {
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

/// How much a group of points rubs, about `from`.
fn friction_of(touches: &[Touch], from: Vec3) -> [[f64; 6]; 6] {
    let mut sum = [[0.0; 6]; 6];
    for touch in touches {
        let [sliding, spinning] = touch.rub;
        for along in tangents_of(touch.point.normal) {
            let j = direction(touch.point.position - from, along);
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
        let mut first = 0;
        for touches in contacts.touches.chunk_by(|a, b| a.rigids == b.rigids) {
            let moves =
                |seat: &Option<Seat>| seat.is_some_and(|(pack, ..)| packs[pack].gives_way());
            let rubs = touches.iter().any(|touch| touch.rub != [0.0; 2]);
            if rubs && touches[0].seats.iter().any(moves) {
                self.rub_links(dt, packs, state, (first, touches));
            }
            first += touches.len();
        }
    }

    fn rub_links(
        &mut self,
        dt: f64,
        packs: &[Box<dyn Pack>],
        state: &State,
        (first, touches): (usize, &[Touch]),
    ) {
        let lead = &touches[0];
        let from = lead.point.position;
        let rubbing = Rubbing::of(friction_of(touches, from));
        let (spin, slip) = (free_spin(packs, state, lead), free_velocity(packs, state, lead));
        let free = [spin.x, spin.y, spin.z, slip.x, slip.y, slip.z];
        let first_part = self.held.parts.len();
        let n_rows = rubbing.columns.len();
        for touch in touches {
            let tangents = tangents_of(touch.point.normal);
            let shares = tangents
                .map(|along| rubbing.shares_of(direction(touch.point.position - from, along)));
            // An impulse along a row is −h times its speed, a force at a point −c times its own.
            let part = |k: usize| tangents[0] * shares[0][k] + tangents[1] * shares[1][k];
            self.held.parts.extend((0..n_rows).map(|k| part(k) * (touch.rub[0] / dt)));
        }
        for (k, column) in rubbing.columns.iter().enumerate() {
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
            let (touches, parts) = ((first, touches.len()), (first_part + k, n_rows));
            self.held.owners.push(Owner::Rub { touches, parts, sides, give: 1.0 / dt });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns make up the matrix again, and a direction its shares; of one point, which leaves a
    /// direction out, and of two on a line.
    #[test]
    fn columns_and_shares_make_up_what_they_are_of() {
        let points =
            [Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.1, 0.3, -0.2), Vec3::new(0.4, 0.1, 0.0)];
        for (n, spinning, wanted) in
            [(1, 0.0, 2), (1, 0.05, 5), (2, 0.0, 4), (3, 0.0, 6), (3, 0.02, 6)]
        {
            let mut sum = [[0.0; 6]; 6];
            let mut all = Vec::new();
            for (i, point) in points.iter().take(n).enumerate() {
                for along in tangents_of([Vec3::Z, Vec3::X, Vec3::new(0.6, 0.0, 0.8)][i]) {
                    let j = direction(*point, along);
                    for (row, a) in sum.iter_mut().zip(j) {
                        row.iter_mut().zip(j).for_each(|(entry, b)| *entry += 3.0 * a * b);
                    }
                    all.push(j);
                }
                (0..3).for_each(|i| sum[i][i] += spinning);
            }
            let rubbing = Rubbing::of(sum);
            assert_eq!(rubbing.columns.len(), wanted, "{n} points, {spinning}");
            for i in 0..6 {
                for j in 0..6 {
                    let made: f64 =
                        rubbing.columns.iter().map(|column| column[i] * column[j]).sum();
                    assert!((made - sum[i][j]).abs() < 1e-13, "{made} {}", sum[i][j]);
                }
            }
            for j in all {
                let shares = rubbing.shares_of(j);
                for i in 0..6 {
                    let made: f64 =
                        rubbing.columns.iter().zip(shares).map(|(column, s)| column[i] * s).sum();
                    assert!((made - j[i]).abs() < 1e-12, "{made} {}", j[i]);
                }
            }
        }
    }
}
