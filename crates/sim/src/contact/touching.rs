//! Points where two forms touch, before anybody asks whose they are.

use headland_base::Vec3;

/// One point of contact between two forms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    /// Halfway between the two surfaces, in the world \[m\].
    pub(super) position: Vec3,
    /// Unit, from the first form to the second.
    pub(super) normal: Vec3,
    /// How far they overlap along the normal \[m\]; negative is a gap.
    pub(super) depth: f64,
    /// Which corner or edge made it: the same number names the same point a step later.
    pub(super) feature: u32,
}

/// Keeps at most `n_max` of the points from `first` on: the deepest, then again and again the
/// one furthest from those kept. A gap counts against a point, until at `margin` nothing
/// speaks for it any more: of a crowd the ones that carry something stay.
pub(super) fn thin(touches: &mut Vec<Touch>, first: usize, n_max: usize, margin: f64) {
    if touches.len() <= first + n_max {
        return;
    }
    let found = &mut touches[first..];
    let mut best = 0;
    for (i, touch) in found.iter().enumerate() {
        if touch.depth > found[best].depth {
            best = i;
        }
    }
    found.swap(0, best);
    for n_kept in 1..n_max {
        let mut best = (f64::NEG_INFINITY, n_kept);
        for i in n_kept..found.len() {
            let apart = found[..n_kept]
                .iter()
                .map(|kept| kept.position.distance_squared(found[i].position))
                .fold(f64::INFINITY, f64::min);
            let gap = (-found[i].depth).max(0.0);
            let worth = if gap > 0.0 { (1.0 - gap / margin).max(0.0) } else { 1.0 };
            if apart * worth > best.0 {
                best = (apart * worth, i);
            }
        }
        found.swap(n_kept, best.1);
    }
    touches.truncate(first + n_max);
}

/// Keeps the `n_max` deepest of the points from `first` on.
pub(super) fn keep_deepest(touches: &mut Vec<Touch>, first: usize, n_max: usize) {
    if touches.len() > first + n_max {
        let order =
            |p: &Touch, q: &Touch| q.depth.total_cmp(&p.depth).then(p.feature.cmp(&q.feature));
        touches[first..].sort_unstable_by(order);
        touches.truncate(first + n_max);
    }
}

/// Drops points that lie upon an earlier one and push the same way: two triangles of one flat
/// face both report their common edge.
pub(super) fn drop_repeats(touches: &mut Vec<Touch>, first: usize, apart: f64) {
    let mut n_kept = first;
    for i in first..touches.len() {
        let touch = touches[i];
        let is_repeat = touches[first..n_kept].iter().any(|kept| {
            kept.position.distance_squared(touch.position) <= apart * apart
                && kept.normal.dot(touch.normal) > 1.0 - 1e-9
        });
        if !is_repeat {
            touches[n_kept] = touch;
            n_kept += 1;
        }
    }
    touches.truncate(n_kept);
}
