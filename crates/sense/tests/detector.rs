//! The logical camera and the detector: what they report of objects that stand where a test put
//! them, and how often.

#![allow(clippy::unwrap_used)]

#[path = "common/bench.rs"]
mod bench;

use bench::Bench;
use headland_base::Vec3;
use headland_base::maths::sqrt;
use headland_record::messages::{Detection3D, Detection3DArray};

const EYE: &str = "<near>0.2</near><far>3</far><horizontal_fov>1.2</horizontal_fov>";

fn gear(i: usize, x: f64, y: f64) -> String {
    format!(
        "<model name='gear_{i}'><pose>{x} {y} 0 0 0 0.3</pose><link name='link'><inertial>\
         <mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>\
         <collision name='c'><geometry><box><size>0.1 0.2 0.3</size></box></geometry></collision>\
         </link></model>"
    )
}

/// A camera at the origin that looks along x.
fn camera(sensor: &str) -> String {
    format!("<model name='post'><static>true</static><link name='link'>{sensor}</link></model>")
}

fn logical() -> String {
    camera(&format!(
        "<sensor name='camera' type='logical_camera'><logical_camera>{EYE}</logical_camera>\
         </sensor>"
    ))
}

fn detector(inside: &str) -> String {
    camera(&format!(
        "<sensor name='vision' type='headland:detector'><headland:detector>{EYE}{inside}\
         </headland:detector></sensor>"
    ))
}

fn place(detection: &Detection3D) -> Vec3 {
    (&detection.results[0].pose.pose.position).into()
}

#[test]
fn a_logical_camera_reports_what_is_in_sight_where_it_is() {
    let things = gear(1, 2.0, 0.5) + &gear(2, 1.0, 0.0) + &gear(7, 5.0, 0.0) + &gear(8, 1.0, 2.0);
    let ground = "<model name='ground'><static>true</static><link name='link'><collision name='c'>\
        <pose>0 0 -1 0 0 0</pose><geometry><plane><normal>0 0 1</normal><size>100 100</size>\
        </plane></geometry></collision></link></model>";
    let mut bench = Bench::new(&(things + ground + &logical()));
    assert!(bench.findings.is_empty(), "{:?}", bench.findings);
    let array: Detection3DArray = bench.ask(0);
    let ids: Vec<&str> = array.detections.iter().map(|d| d.id.as_str()).collect();
    // The ground is drawn 100 m wide, and reaches into every sight.
    assert_eq!(ids, ["gear_1", "gear_2", "ground"]);
    assert_eq!(array.header.frame_id, "post/link/camera");
    let first = &array.detections[0];
    assert_eq!(first.results[0].hypothesis.class_id, "gear");
    assert!((place(first) - Vec3::new(2.0, 0.5, 0.0)).length() < 1e-12);
    let size: Vec3 = (&first.bbox.size).into();
    assert!((size - Vec3::new(0.1, 0.2, 0.3)).length() < 1e-12);
    assert_eq!(first.results[0].hypothesis.score, 1.0);
}

/// Without noise a detector is a logical camera that can be told whom to look for, and from which
/// things can hide.
#[test]
fn a_detector_without_noise_sees_what_is_not_hidden() {
    let wall = "<model name='wall'><static>true</static><pose>1 0.5 0 0 0 0</pose><link name='l'>\
        <collision name='c'><geometry><box><size>0.1 0.6 2</size></box></geometry></collision>\
        </link></model>";
    let things = gear(1, 2.0, 0.5) + &gear(2, 2.0, -0.5) + wall;
    let ids = |inside: &str| -> Vec<String> {
        let mut bench = Bench::new(&(things.clone() + &detector(inside)));
        assert!(bench.findings.is_empty(), "{:?}", bench.findings);
        bench.ask::<Detection3DArray>(0).detections.into_iter().map(|d| d.id).collect()
    };
    assert_eq!(ids(""), ["gear_1", "gear_2", "wall"]);
    assert_eq!(ids("<objects>gear_*</objects>"), ["gear_1", "gear_2"]);
    let visible = "<objects>gear_*</objects><least_visible>0.5</least_visible>";
    assert_eq!(ids(visible), ["gear_2"]);
    let bench = Bench::new(&(gear(1, 1.0, 0.0) + &detector("<objects>geer_*</objects>")));
    assert!(bench.findings[0].message.ends_with("no object fits `geer_*`"));
}

const NOISY: &str = "<frame>world</frame><headland:mixture axes='y yaw'><cluster weight='3'>\
    <mean>0.01 0</mean><stddev>0.001 0.02</stddev></cluster><cluster weight='1'>\
    <mean>-0.03 0.1</mean><stddev>0.002 0.02</stddev></cluster></headland:mixture>\
    <headland:dropout><rate>0.2</rate><burst>4</burst></headland:dropout>\
    <score><mean>0.9</mean><stddev>0.02</stddev></score>";

/// Clusters, losses and scores are as declared, to 3.29 standard errors (99.9 %).
#[test]
fn errors_come_in_the_declared_clusters() {
    let world = gear(1, 2.0, 0.0) + &detector(NOISY);
    let arrays: Vec<Detection3DArray> = Bench::seeded(&world, 3).often(0, 6000);
    let seen: Vec<&Detection3D> = arrays.iter().flat_map(|array| &array.detections).collect();
    let share = seen.len() as f64 / arrays.len() as f64;
    // Losses of a chain that runs four long count for a seventh.
    assert!((share - 0.8).abs() < 3.29 * sqrt(0.16 / 6000.0 * 7.0), "{share}");
    let (near, far): (Vec<&&Detection3D>, _) =
        seen.iter().partition(|detection| place(detection).y > -0.01);
    let n = seen.len() as f64;
    assert!((near.len() as f64 / n - 0.75).abs() < 3.29 * sqrt(0.1875 / n), "{}", near.len());
    for (cluster, mean, stddev) in [(&near, 0.01, 0.001), (&far, -0.03, 0.002)] {
        let n = cluster.len() as f64;
        let m = cluster.iter().map(|d| place(d).y).sum::<f64>() / n;
        let s = sqrt(cluster.iter().map(|d| (place(d).y - m) * (place(d).y - m)).sum::<f64>() / n);
        assert!((m - mean).abs() < 3.29 * stddev / sqrt(n), "{m} {mean}");
        assert!((s / stddev - 1.0).abs() < 3.29 / sqrt(2.0 * n), "{s} {stddev}");
        assert!(cluster.iter().all(|d| (place(d).x - 2.0).abs() < 1e-12));
    }
    let score = seen.iter().map(|d| d.results[0].hypothesis.score).sum::<f64>() / n;
    assert!((score - 0.9).abs() < 3.29 * 0.02 / sqrt(n), "{score}");
    // The covariance that is told is that of what is seen.
    let told = seen[0].results[0].pose.covariance;
    let mean = seen.iter().map(|d| place(d).y).sum::<f64>() / n;
    let variance = seen.iter().map(|d| (place(d).y - mean) * (place(d).y - mean)).sum::<f64>() / n;
    assert!((told[1][1] / variance - 1.0).abs() < 0.05, "{} {variance}", told[1][1]);
    assert!(told[5][5] > 0.02 * 0.02 && told[0][0].abs() < 1e-18);
}

/// Alike objects are mixed up as often as declared, and only alike ones.
#[test]
fn alike_objects_are_mixed_up() {
    let crate_ = gear(1, 1.0, 0.2).replace("gear_1", "crate");
    let world =
        gear(1, 2.0, 0.5) + &gear(2, 2.0, -0.5) + &crate_ + &detector("<swap_rate>0.1</swap_rate>");
    let arrays: Vec<Detection3DArray> = Bench::new(&world).often(0, 4000);
    let mut n_mixed = 0;
    for array in &arrays {
        let by_id = |id: &str| place(array.detections.iter().find(|d| d.id == id).unwrap());
        assert!((by_id("crate") - Vec3::new(1.0, 0.2, 0.0)).length() < 1e-12);
        n_mixed += usize::from(by_id("gear_1").y < 0.0);
        assert!((by_id("gear_1").y + by_id("gear_2").y).abs() < 1e-12, "each once");
    }
    let (wanted, n) = (0.1, arrays.len() as f64);
    let share = n_mixed as f64 / n;
    assert!((share - wanted).abs() < 3.29 * sqrt(wanted * (1.0 - wanted) / n), "{share}");
}

/// Of any number of alike objects each has another's name as often as declared, and each of the
/// others' as often; every name is there once.
#[test]
fn the_rate_of_mix_ups_is_that_of_every_object() {
    for n_gears in 1..=5usize {
        for rate in [0.1, 0.6, 1.0] {
            let gears: String =
                (0..n_gears).map(|i| gear(i, 2.0, 0.3 * (i as f64 - 2.0))).collect();
            let world = gears + &detector(&format!("<swap_rate>{rate}</swap_rate>"));
            let n = 2000.0;
            let arrays: Vec<Detection3DArray> = Bench::new(&world).often(0, n as usize);
            let mut called = vec![vec![0.0; n_gears]; n_gears];
            for array in &arrays {
                let mut names: Vec<&str> = array.detections.iter().map(|d| &*d.id).collect();
                for detection in &array.detections {
                    let is = (place(detection).y / 0.3 + 2.0).round() as usize;
                    let said = detection.id.trim_start_matches("gear_").parse::<usize>().unwrap();
                    called[is][said] += 1.0 / n;
                }
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), n_gears);
            }
            for (is, said) in called.iter().enumerate() {
                for (other, share) in said.iter().enumerate() {
                    let wanted = match (n_gears, is == other) {
                        (1, _) => 1.0,
                        (_, true) => 1.0 - rate,
                        (_, false) => rate / (n_gears as f64 - 1.0),
                    };
                    // Five standard errors: there are 165 shares.
                    let most = 5.0 * sqrt(wanted * (1.0 - wanted) / n) + 1e-9;
                    assert!((share - wanted).abs() < most, "{n_gears} {rate}: {share} {wanted}");
                }
            }
        }
    }
}

/// One more object moves no number of another.
#[test]
fn one_more_object_moves_nobody_elses_numbers() {
    let ask = |things: &str| -> Vec<Vec3> {
        let arrays: Vec<Detection3DArray> =
            Bench::new(&(things.to_string() + &detector(NOISY))).often(0, 50);
        let first = |array: &Detection3DArray| {
            array.detections.iter().find(|d| d.id == "gear_1").map(place)
        };
        arrays.iter().filter_map(first).collect()
    };
    let alone = ask(&gear(1, 2.0, 0.5));
    assert_eq!(alone, ask(&(gear(0, 2.0, -0.5) + &gear(1, 2.0, 0.5))));
    assert!(alone.len() > 25);
}

/// Objects that are not there: as many as their rate says, all in sight, and nothing else moves.
#[test]
fn false_detections_come_at_their_rate_and_move_nothing_else() {
    let noise = "<headland:mixture axes='x'><cluster weight='1'><mean>0</mean>\
        <covariance>1e-4</covariance></cluster></headland:mixture>";
    let things = gear(1, 2.0, 0.0) + &gear(2, 1.0, 0.3);
    let said = |rate: &str| {
        let inside = format!("{noise}<false_rate>{rate}</false_rate>");
        let mut bench = Bench::new(&(things.clone() + &detector(&inside)));
        assert!(bench.findings.is_empty(), "{:?}", bench.findings);
        bench.often::<Detection3DArray>(0, 2000)
    };
    let is_false = |d: &&Detection3D| d.id.contains("_false_");
    let (with, without) = (said("0.7"), said("0"));
    let (mut n, mut square, mut deep) = (0.0, 0.0, 0.0);
    for (with, without) in with.iter().zip(&without) {
        let real: Vec<&Detection3D> = with.detections.iter().filter(|d| !is_false(d)).collect();
        assert_eq!(real, without.detections.iter().collect::<Vec<_>>());
        let here = (with.detections.len() - real.len()) as f64;
        (n, square) = (n + here, square + here * here);
        for ghost in with.detections.iter().filter(is_false) {
            let p = place(ghost);
            let slope = headland_base::maths::tan(0.6);
            assert!((0.2..=3.0).contains(&p.x) && p.y.abs() <= slope * p.x, "{p}");
            assert_eq!(ghost.results[0].hypothesis.class_id, "gear");
            deep += f64::from(u8::from(p.x > 3.0 * headland_base::maths::cbrt(0.5)));
        }
    }
    // Poisson: mean and variance are the rate, 3.29 standard errors for 99.9 %.
    let (mean, variance) = (n / 2000.0, square / 2000.0 - (n / 2000.0) * (n / 2000.0));
    assert!((mean - 0.7).abs() < 3.29 * sqrt(0.7 / 2000.0), "{mean}");
    assert!((variance - 0.7).abs() < 0.1, "{variance}");
    // Half of a sight from 0.2 m to 3 m lies beyond the cube root of (0.2³ + 3³)/2.
    assert!((deep / n - 0.5).abs() < 3.29 * 0.5 / sqrt(n), "{}", deep / n);
    let names: Vec<&str> = with.iter().flat_map(|a| &a.detections).map(|d| d.id.as_str()).collect();
    assert!(names.contains(&"gear_false_1") && names.contains(&"gear_false_2"));
}
