//! Small recordings for tests.

use headland_base::maths::{Quat, Vec3};
use headland_base::{SimTime, Transform};
use headland_record::Recording;
use headland_record::track::{Data, Motion, Track};

/// A table with a time column in milliseconds. `z`, `vz` and `wy` belong to an object called
/// `ball`; any other column is a channel of its own.
pub fn recording(table: &str) -> Recording {
    let mut lines = table.lines().filter(|line| !line.trim().is_empty());
    let head: Vec<&str> = lines.next().expect("a header").split_whitespace().collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split_whitespace().map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    let millis = |row: &Vec<f64>| SimTime::from_nanos((row[0] * 1e6).round() as i64);
    let times: Vec<SimTime> = rows.iter().map(millis).collect();
    let column = |name: &str| -> Option<Vec<f64>> {
        let i = head.iter().position(|h| *h == name)?;
        Some(rows.iter().map(|row| row[i]).collect())
    };
    let mut out = Recording::new();
    let mut add = |topic: &str, data: Data| {
        out.insert(topic, Track::new("", "", times.clone(), data).expect("a sound table"));
    };
    if let Some(z) = column("z") {
        let pose = |z: &f64| Transform::new(Quat::IDENTITY, Vec3::new(0.0, 0.0, *z));
        add("/ball/pose", Data::Poses(z.iter().map(pose).collect()));
    }
    if column("vz").is_some() || column("wy").is_some() {
        let zeros = vec![0.0; rows.len()];
        let vz = column("vz").unwrap_or_else(|| zeros.clone());
        let wy = column("wy").unwrap_or(zeros);
        let motion = |(vz, wy): (&f64, &f64)| Motion {
            linear: Vec3::new(0.0, 0.0, *vz),
            angular: Vec3::new(0.0, *wy, 0.0),
        };
        add("/ball/twist", Data::Motions(vz.iter().zip(&wy).map(motion).collect()));
    }
    for name in &head[1..] {
        if !["z", "vz", "wy"].contains(name) {
            let values = column(name).expect("of the header");
            let columns = [("data".to_string(), values)].into();
            add(&format!("/{name}"), Data::Scalars(columns));
        }
    }
    out
}
