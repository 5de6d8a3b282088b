//! Outlines drawn out along z, cut into convex prisms.

use headland_base::Vec3;
use headland_base::maths::Vec2;
use headland_world::geometry::outline_groups;

/// Outlines drawn out are cut into triangles, holes left out, and each becomes a convex prism:
/// its corners. `None` where nothing is left.
pub fn prism_corners(outlines: &[Vec<Vec2>], height: f64) -> Option<Vec<Vec<Vec3>>> {
    let mut out = Vec::new();
    for (outer, holes) in outline_groups(outlines) {
        let mut points: Vec<[f64; 2]> = outlines[outer].iter().map(|p| [p.x, p.y]).collect();
        let mut hole_starts = Vec::new();
        for hole in holes {
            hole_starts.push(u32::try_from(points.len()).ok()?);
            points.extend(outlines[hole].iter().map(|p| [p.x, p.y]));
        }
        let mut corners: Vec<u32> = Vec::new();
        earcut::Earcut::new().earcut(points.iter().copied(), &hole_starts, &mut corners);
        out.extend(corners.chunks_exact(3).map(|triangle| {
            let flat = triangle.iter().map(|&i| points[i as usize]);
            let ends = |[x, y]: [f64; 2]| [Vec3::new(x, y, 0.0), Vec3::new(x, y, height)];
            flat.flat_map(ends).collect()
        }));
    }
    (!out.is_empty()).then_some(out)
}
