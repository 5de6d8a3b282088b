//! Directions of length one.

use headland_base::Vec3;
use headland_base::maths::sqrt;

/// The same direction with length one, left untouched to the last bit where it already
/// has it: a world that is written and read back must be the same world. `None` where
/// there is no direction.
pub(crate) fn unit_vector(v: Vec3) -> Option<Vec3> {
    let square = v.dot(v);
    if !square.is_finite() || square < 1e-24 {
        return None;
    }
    Some(if (square - 1.0).abs() <= 1e-14 { v } else { v / sqrt(square) })
}
