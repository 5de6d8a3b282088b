//! Lidars, range finders and light barriers against closed forms, and their noise against what
//! is declared.

#![allow(clippy::unwrap_used)]

#[path = "common/bench.rs"]
mod bench;

use bench::Bench;
use headland_base::maths::{cos, quat_from_rpy, sin, sqrt, tan};
use headland_base::{SimTime, Transform, Vec3};
use headland_record::messages::{Bool, LaserScan, PointCloud2, Range, decode};
use headland_sense::scene::{Ray, Scene, Show};
use headland_world::Twist;

/// A body that carries a sensor and has no shape.
fn carrier(pose: &str, sensor: &str) -> String {
    format!(
        "<model name='robot'><pose>{pose}</pose><link name='base'><inertial><mass>1</mass>\
         <inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>{sensor}</link></model>"
    )
}

fn fixed(name: &str, pose: &str, geometry: &str) -> String {
    shaped(name, pose, geometry, "", "")
}

fn shaped(name: &str, pose: &str, geometry: &str, collision: &str, visual: &str) -> String {
    format!(
        "<model name='{name}'><static>true</static><pose>{pose}</pose><link name='link'>\
         <collision name='c'><geometry>{geometry}</geometry>{collision}</collision>\
         <visual name='v'><geometry>{geometry}</geometry>{visual}</visual></link></model>"
    )
}

fn box_(x: f64, y: f64, z: f64) -> String {
    format!("<box><size>{x} {y} {z}</size></box>")
}

/// A room from −3 to 5 m along x, −2 to 4 m along y, of walls 0.2 m thick.
fn room() -> String {
    fixed("east", "5.1 1 0 0 0 0", &box_(0.2, 20.0, 6.0))
        + &fixed("west", "-3.1 1 0 0 0 0", &box_(0.2, 20.0, 6.0))
        + &fixed("north", "1 4.1 0 0 0 0", &box_(20.0, 0.2, 6.0))
        + &fixed("south", "1 -2.1 0 0 0 0", &box_(20.0, 0.2, 6.0))
}

fn lidar(kind: &str, n: usize, half: f64, more: &str) -> String {
    format!(
        "<sensor name='lidar' type='{kind}'><update_rate>10</update_rate><lidar><scan><horizontal>\
         <samples>{n}</samples><min_angle>-{half}</min_angle><max_angle>{half}</max_angle>\
         </horizontal></scan><range><min>0.05</min><max>30</max></range>{more}</lidar></sensor>"
    )
}

/// How far the walls of the room are along a direction.
fn to_wall(from: (f64, f64), angle: f64) -> f64 {
    let (c, s) = (cos(angle), sin(angle));
    let x = if c > 0.0 { (5.0 - from.0) / c } else { (-3.0 - from.0) / c };
    let y = if s > 0.0 { (4.0 - from.1) / s } else { (-2.0 - from.1) / s };
    x.min(y)
}

/// Whatever is nearer of a thing, its visual or its collision, is met by what sees everything.
#[test]
fn everything_is_whatever_is_nearer() {
    for (seen, touched) in [(1.0, 2.0), (2.0, 1.0)] {
        let thing = format!(
            "<model name='a'><static>true</static><pose>3 0 0 0 0 0</pose><link name='l'>\
             <visual name='v'><geometry>{}</geometry></visual>\
             <collision name='c'><geometry>{}</geometry></collision></link></model>",
            box_(seen, 4.0, 4.0),
            box_(touched, 4.0, 4.0)
        );
        let range = |sees: &str| {
            let more = format!("<headland:sees>{sees}</headland:sees>");
            let world = thing.clone() + &carrier("0 0 0 0 0 0", &lidar("lidar", 1, 0.0, &more));
            f64::from(Bench::new(&world).ask::<LaserScan>(0).ranges[0])
        };
        assert!((range("visuals") - (3.0 - 0.5 * seen)).abs() < 1e-6);
        assert!((range("collisions") - (3.0 - 0.5 * touched)).abs() < 1e-6);
        assert!((range("everything") - 2.0).abs() < 1e-6);
    }
}

/// A ball of 8 cm, 1.9 m away, is heard wherever it is in a cone of 14° on either side.
#[test]
fn a_sonar_hears_a_small_ball_anywhere_in_its_cone() {
    let sonar = "<sensor name='sonar' type='sonar'><sonar><min>0.02</min><max>2</max>\
        <radius>0.5</radius></sonar></sensor>";
    for i in 0..40 {
        // A spiral through the cone, at the golden angle.
        let (aside, turn) = (0.24 * sqrt(f64::from(i) / 40.0), 2.399_963 * f64::from(i));
        let at = Vec3::new(cos(aside), sin(aside) * cos(turn), sin(aside) * sin(turn)) * 1.9;
        let pose = format!("{} {} {} 0 0 0", at.x, at.y, at.z);
        let ball = fixed("ball", &pose, "<sphere><radius>0.04</radius></sphere>");
        let range: Range = Bench::new(&(ball + &carrier("0 0 0 0 0 0", sonar))).ask(0);
        assert!((1.859..1.9).contains(&range.range), "{i}: {}", range.range);
    }
}

#[test]
fn in_a_room_of_walls_ranges_are_closed_forms() {
    let world = room() + &carrier("0.5 0.25 0.1 0 0 0.3", &lidar("lidar", 271, 2.35, ""));
    let mut bench = Bench::new(&world);
    assert!(bench.findings.is_empty(), "{:?}", bench.findings);
    let scan: LaserScan = bench.ask(0);
    assert_eq!((scan.ranges.len(), scan.intensities.len()), (271, 271));
    assert_eq!(scan.header.frame_id, "robot/base/lidar");
    assert!((f64::from(scan.angle_increment) - 4.7 / 270.0).abs() < 1e-7);
    assert!((f64::from(scan.scan_time) - 0.1).abs() < 1e-7);
    for (i, range) in scan.ranges.iter().enumerate() {
        let angle = 0.3 - 2.35 + 4.7 / 270.0 * i as f64;
        let wanted = to_wall((0.5, 0.25), angle);
        // To a part in 2²⁴, which is what the message can say.
        assert!((f64::from(*range) / wanted - 1.0).abs() < 6e-8, "beam {i}: {range} {wanted}");
    }
}

#[test]
fn against_a_ball_and_a_tube_ranges_are_closed_forms() {
    let ball = "<sphere><radius>0.5</radius></sphere>";
    let tube = "<cylinder><radius>0.4</radius><length>3</length></cylinder>";
    for (shape, radius, height) in [(ball, 0.5, 0.2), (tube, 0.4, 0.0)] {
        let world = fixed("thing", "2 0.3 0.2 0 0 0", shape)
            + &carrier("0 0 0 0 0 0", &lidar("lidar", 181, 0.6, ""));
        let scan: LaserScan = Bench::new(&world).ask(0);
        let mut n_hits = 0;
        for (i, range) in scan.ranges.iter().enumerate() {
            let angle = -0.6 + 1.2 / 180.0 * i as f64;
            let (c, s) = (cos(angle), sin(angle));
            // The circle that the plane of the beams cuts out of it.
            let cut = sqrt(radius * radius - height * height);
            let (along, aside) = (2.0 * c + 0.3 * s, 0.3 * c - 2.0 * s);
            if aside.abs() < cut {
                let wanted = along - sqrt(cut * cut - aside * aside);
                n_hits += 1;
                assert!((f64::from(*range) / wanted - 1.0).abs() < 6e-8, "{i}: {range} {wanted}");
            } else {
                assert_eq!(*range, f32::INFINITY, "beam {i}");
            }
        }
        assert!(n_hits > 50);
    }
}

/// Along every beam the range is that of a ray through the scene, in clouds too, wherever the
/// sensor stands on its link and however it is turned.
#[test]
fn clouds_are_organised_and_their_points_are_those_of_rays() {
    let sensor = "<sensor name='cloud' type='gpu_lidar'><pose>0.1 0 0.2 0.1 -0.2 0.3</pose><lidar>\
        <scan><horizontal><samples>30</samples><min_angle>-2</min_angle><max_angle>2</max_angle>\
        </horizontal><vertical><samples>8</samples><min_angle>-0.4</min_angle>\
        <max_angle>0.3</max_angle></vertical></scan><range><min>0.1</min><max>20</max></range>\
        </lidar></sensor>";
    let world = room()
        + &fixed("ball", "2 1 0.3 0 0 0", "<sphere><radius>0.6</radius></sphere>")
        + &carrier("0.2 0.3 0.1 0.05 0.1 -0.7", sensor);
    let mut bench = Bench::new(&world);
    let cloud: PointCloud2 = bench.ask(0);
    assert_eq!((cloud.height, cloud.width, cloud.point_step), (8, 30, 20));
    assert_eq!(cloud.data.len(), 8 * 30 * 20);
    let names: Vec<(&str, u32)> =
        cloud.fields.iter().map(|field| (field.name.as_str(), field.offset)).collect();
    assert_eq!(names, [("x", 0), ("y", 4), ("z", 8), ("intensity", 12), ("ring", 16)]);
    let scene = Scene::of(&bench.model.world, Show::Visuals);
    let at = Transform::from_xyz_rpy(Vec3::new(0.2, 0.3, 0.1), Vec3::new(0.05, 0.1, -0.7))
        * Transform::from_xyz_rpy(Vec3::new(0.1, 0.0, 0.2), Vec3::new(0.1, -0.2, 0.3));
    let mut n_points = 0;
    for (i, point) in cloud.data.chunks_exact(20).enumerate() {
        let f32_at = |k: usize| f64::from(f32::from_le_bytes(point[k..k + 4].try_into().unwrap()));
        let ring = u16::from_le_bytes(point[16..18].try_into().unwrap());
        assert_eq!(usize::from(ring), i / 30);
        let v = -0.4 + 0.1 * f64::from(ring);
        let h = -2.0 + 4.0 / 29.0 * (i % 30) as f64;
        let direction = Vec3::new(cos(v) * cos(h), cos(v) * sin(h), sin(v));
        let hit = scene.cast(&Ray { max: 20.0, ..Ray::new(at.translation, at.vector(direction)) });
        let said = Vec3::new(f32_at(0), f32_at(4), f32_at(8));
        match hit {
            Some(hit) => {
                n_points += 1;
                assert!((said - direction * hit.distance).length() < 1e-6, "{i}");
            }
            None => assert!(said.is_nan() && f32_at(12) == 0.0, "{i}"),
        }
    }
    assert!(n_points > 200 && !cloud.is_dense || n_points == 240);
}

#[test]
fn one_beam_is_a_scan_of_one() {
    let world =
        room() + &carrier("0 0 0 0 0 0", &lidar("ray", 1, 0.4, "").replace("lidar>", "ray>"));
    let scan: LaserScan = Bench::new(&world).ask(0);
    assert_eq!(scan.ranges, [5.0]);
    assert_eq!((scan.angle_min, scan.angle_max, scan.angle_increment), (0.0, 0.0, 0.0));
}

/// What Gazebo's sensors meet: collisions on the CPU, visuals where they are drawn.
#[test]
fn lidars_meet_collisions_and_gpu_lidars_meet_visuals() {
    let two = "<model name='two'><static>true</static><link name='link'>\
        <collision name='c'><pose>3 0 0 0 0 0</pose><geometry><box><size>1 1 1</size></box>\
        </geometry></collision><visual name='v'><pose>4 0 0 0 0 0</pose><geometry><box>\
        <size>1 1 1</size></box></geometry></visual></link></model>";
    let sees = |word: &str| format!("<headland:sees>{word}</headland:sees>");
    for (kind, more, wanted) in [
        ("lidar", String::new(), 2.5),
        ("ray", String::new(), 2.5),
        ("gpu_lidar", String::new(), 3.5),
        ("gpu_ray", String::new(), 3.5),
        ("lidar", sees("visuals"), 3.5),
        ("gpu_lidar", sees("collisions"), 2.5),
    ] {
        let world = two.to_string() + &carrier("0 0 0 0 0 0", &lidar(kind, 1, 0.0, &more));
        let mut bench = Bench::new(&world);
        assert!(bench.findings.is_empty(), "{:?}", bench.findings);
        let scan: LaserScan = bench.ask(0);
        assert_eq!(scan.ranges, [wanted], "{kind} {more}");
    }
}

/// Too near is −∞ and nothing is +∞ (REP 117); what is on the sensor's own link is looked
/// through where it is too near, and met beyond.
#[test]
fn limits_are_those_of_rep_117() {
    let own = |x: f64| {
        format!(
            "<collision name='c'><pose>{x} 0 0 0 0 0</pose><geometry><box><size>0.02 1 1</size>\
             </box></geometry></collision>"
        )
    };
    let at = |wall: f64, own: &str| {
        let sensor = lidar("lidar", 1, 0.0, "").replace("<min>0.05", "<min>0.5");
        let sensor = sensor.replace("<max>30", "<max>4");
        let pose = format!("{wall} 0 0 0 0 0");
        let world = fixed("wall", &pose, &box_(0.2, 9.0, 9.0))
            + &carrier("0 0 0 0 0 0", &format!("{own}{sensor}"));
        let scan: LaserScan = Bench::new(&world).ask(0);
        scan.ranges[0]
    };
    assert_eq!(at(0.4, ""), f32::NEG_INFINITY);
    assert_eq!(at(2.1, ""), 2.0);
    assert_eq!(at(4.2, ""), f32::INFINITY);
    assert_eq!(at(2.1, &own(0.2)), 2.0, "a cover nearer than the limit");
    assert!((at(2.1, &own(1.01)) - 1.0).abs() < 1e-6, "a bumper beyond it");
    assert_eq!(at(0.4, &own(0.2)), f32::NEG_INFINITY, "a wall behind the cover");
}

#[test]
fn intensity_is_that_of_the_surface() {
    let wall = |collision: &str, visual: &str| {
        shaped("wall", "2 0 0 0 0 0.5", &box_(0.2, 9.0, 9.0), collision, visual)
    };
    let grey = "<material><diffuse>0.5 0.5 0.5 1</diffuse></material>";
    let look = |wall: &str, kind: &str| {
        let scan: LaserScan =
            Bench::new(&(wall.to_string() + &carrier("0 0 0 0 0 0", &lidar(kind, 1, 0.0, ""))))
                .ask(0);
        f64::from(scan.intensities[0])
    };
    for kind in ["lidar", "gpu_lidar"] {
        // Lambert: half of the light, by the cosine of the angle.
        assert!((look(&wall("", grey), kind) - 50.0 * cos(0.5)).abs() < 1e-4, "{kind}");
        assert!((look(&wall("", ""), kind) - 70.0 * cos(0.5)).abs() < 1e-4, "{kind}");
    }
    let retro = "<laser_retro>180</laser_retro>";
    assert_eq!(look(&wall(retro, grey), "lidar"), 180.0);
    assert_eq!(look(&wall("", &format!("{grey}{retro}")), "gpu_lidar"), 180.0);
}

/// A beam that spreads over an edge reads one of its sides, or between them where they are
/// within a pulse; a line reads one or the other.
#[test]
fn a_wide_beam_reads_the_first_strong_echo() {
    let step = |depth: f64| {
        fixed("near", "2.5 0.55 0 0 0 0", &box_(1.0, 1.0, 4.0))
            + &fixed("far", &format!("{} 0 0 0 0 0", 2.5 + depth), &box_(1.0, 9.0, 9.0))
    };
    // The edge of the near wall is 0.05 m left of the middle, the beam 0.2 m wide there.
    let wide = "<headland:divergence>0.1</headland:divergence>";
    let read = |depth: f64, more: &str| {
        let world = step(depth) + &carrier("0 0 0 0 0 0", &lidar("lidar", 1, 0.0, more));
        let scan: LaserScan = Bench::new(&world).ask(0);
        f64::from(scan.ranges[0])
    };
    assert_eq!(read(1.0, ""), 3.0);
    let near = read(1.0, wide);
    assert!((near - 2.0).abs() < 0.01, "{near}: the near side is enough");
    let mixed = read(0.08, wide);
    assert!(mixed > 2.01 && mixed < 2.08, "{mixed}: between the sides");
    // On one wall a wide beam reads what a line does, but for the length of its oblique rays.
    let whole = fixed("wall", "2.1 0 0 0 0 0", &box_(0.2, 9.0, 9.0))
        + &carrier("0 0 0 0 0 0", &lidar("lidar", 1, 0.0, wide));
    let scan: LaserScan = Bench::new(&whole).ask(0);
    let oblique = 2.0 * sqrt(1.0 + (tan(0.05) * 2.0 / 3.0) * (tan(0.05) * 2.0 / 3.0));
    let mean = (2.0 + 6.0 * oblique) / 7.0;
    assert!((f64::from(scan.ranges[0]) - mean).abs() < 1e-5, "{} {mean}", scan.ranges[0]);
}

/// Shares of missed echoes are as declared, to 3.29 standard errors (99.9 %), and what is missed
/// in one beam moves no number of another.
#[test]
fn echoes_are_missed_as_declared() {
    let noise = "<noise type='gaussian'><stddev>0.01</stddev></noise>";
    let miss = "<headland:miss><rate>0.1</rate><weak>0.5</weak></headland:miss>";
    let grey = "<material><diffuse>0.25 0.25 0.25 1</diffuse></material>";
    let wall = shaped("wall", "2.1 0 0 0 0 0", &box_(0.2, 200.0, 9.0), "", grey);
    let scans = |more: &str| -> Vec<f32> {
        let world = wall.clone() + &carrier("0 0 0 0 0 0", &lidar("lidar", 101, 0.02, more));
        let scans: Vec<LaserScan> = Bench::new(&world).often(0, 100);
        scans.into_iter().flat_map(|scan| scan.ranges).collect()
    };
    let (all, some) = (scans(noise), scans(&format!("{noise}{miss}")));
    let n = all.len() as f64;
    let share = some.iter().filter(|range| **range == f32::INFINITY).count() as f64 / n;
    // Half of the echoes are noticed for their weakness, and a tenth of those lost besides.
    let wanted = 1.0 - 0.9 * 0.5;
    assert!((share - wanted).abs() < 3.29 * sqrt(wanted * (1.0 - wanted) / n) + 1e-4, "{share}");
    for (a, b) in all.iter().zip(&some) {
        assert!(a == b || *b == f32::INFINITY);
    }
}

/// Ranges scatter by the declared deviation, are multiples of the resolution, and the bias is one
/// for all beams of a sensor.
#[test]
fn ranges_scatter_as_declared() {
    let noise = "<noise><type>gaussian</type><mean>0</mean><stddev>0.02</stddev>\
                 <bias_mean>0.1</bias_mean></noise>";
    let world = room() + &carrier("0 0 0 0 0 0", &lidar("lidar", 271, 2.35, noise));
    let scans: Vec<LaserScan> = Bench::seeded(&world, 7).often(0, 40);
    let exact: LaserScan =
        Bench::new(&(room() + &carrier("0 0 0 0 0 0", &lidar("lidar", 271, 2.35, "")))).ask(0);
    let errors: Vec<f64> = scans
        .iter()
        .flat_map(|scan| scan.ranges.iter().zip(&exact.ranges))
        .map(|(a, b)| f64::from(*a) - f64::from(*b))
        .collect();
    let n = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let stddev = sqrt(errors.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / n);
    assert!((mean - 0.1).abs() < 3.29 * 0.02 / sqrt(n), "{mean}");
    assert!((stddev / 0.02 - 1.0).abs() < 3.29 / sqrt(2.0 * n), "{stddev}");
    assert_ne!(scans[0].ranges, Bench::seeded(&world, 8).ask::<LaserScan>(0).ranges);
    let coarse = world.replace("<max>30</max>", "<max>30</max><resolution>0.25</resolution>");
    let scan: LaserScan = Bench::seeded(&coarse, 7).ask(0);
    assert!(scan.ranges.iter().all(|range| (range / 0.25).fract() == 0.0));
}

/// One more thing in the room changes the beams that meet it and no other, noise and all.
#[test]
fn a_thing_in_the_way_changes_only_the_beams_that_meet_it() {
    let noise = "<noise type='gaussian'><stddev>0.02</stddev></noise>\
                 <headland:miss><rate>0.1</rate></headland:miss>";
    let sensor = carrier("0 0 0 0 0 0", &lidar("lidar", 271, 2.35, noise));
    let ball = fixed("ball", "2 0 0 0 0 0", "<sphere><radius>0.3</radius></sphere>");
    let empty: Vec<LaserScan> = Bench::new(&(room() + &sensor)).often(0, 5);
    let with: Vec<LaserScan> = Bench::new(&(room() + &ball + &sensor)).often(0, 5);
    let mut n_same = 0;
    for (a, b) in empty.iter().zip(&with) {
        for i in 0..271 {
            let angle = -2.35 + 4.7 / 270.0 * i as f64;
            if angle.abs() > 0.16 {
                assert_eq!(a.ranges[i], b.ranges[i]);
                n_same += 1;
            } else if angle.abs() < 0.14 && b.ranges[i].is_finite() {
                assert!(b.ranges[i] < 2.2, "{}", b.ranges[i]);
            }
        }
    }
    assert!(n_same > 1000);
}

/// A lidar that turns while it scans sees each column from where it is then: on a sensor that
/// turns and drifts, the points of a straight wall are where the closed form says.
#[test]
fn a_rolling_lidar_sees_from_where_it_is() {
    let rolling = "<headland:rolling>0.08</headland:rolling>";
    let world = room() + &carrier("0 0 0 0 0 0", &lidar("lidar", 91, 0.5, rolling));
    let mut bench = Bench::new(&world);
    let rigid = bench.body("robot::base");
    let (speed, turning) = (2.0, 1.5);
    bench.state.time = SimTime::from_nanos(1_000_000_000);
    bench.state.rigids[rigid].twist = Twist { linear: Vec3::X * speed, angular: Vec3::Z * turning };
    let at = Transform::new(quat_from_rpy(0.0, 0.0, 0.2), Vec3::new(0.5, 0.0, 0.0));
    bench.state.rigids[rigid].world_from_rigid = at;
    let scan: LaserScan = bench.ask(0);
    let increment = 0.08 / 91.0;
    assert!((f64::from(scan.time_increment) - increment).abs() < 1e-9);
    let stamp = scan.header.stamp.sim().secs();
    assert!((stamp - 1.0).abs() < 1e-12, "that of the first beam: {stamp}");
    for (i, range) in scan.ranges.iter().enumerate() {
        let later = increment * i as f64;
        let angle = 0.2 + turning * later - 0.5 + i as f64 / 90.0;
        let wanted = to_wall((0.5 + speed * later, 0.0), angle);
        assert!((f64::from(*range) / wanted - 1.0).abs() < 1e-7, "{i}: {range} {wanted}");
    }
}

#[test]
fn range_finders_say_the_nearest_of_their_beams() {
    let proximity = "<sensor name='near' type='headland:proximity'><lidar><scan><horizontal>\
        <samples>5</samples><min_angle>-0.0625</min_angle><max_angle>0.0625</max_angle>\
        </horizontal></scan><range><min>0.01</min><max>1.5</max></range></lidar></sensor>";
    let sonar = "<sensor name='sonar' type='sonar'><sonar><min>0.02</min><max>2</max>\
        <radius>0.8</radius></sonar></sensor>";
    // A pole 0.06 rad left: only the outermost beam of the fan meets it, and the cone does.
    let pole = |angle: f64| {
        let (x, y) = (cos(angle), sin(angle));
        let pole = "<cylinder><radius>0.005</radius><length>2</length></cylinder>";
        fixed("pole", &format!("{x} {y} 0 0 0 0"), pole)
    };
    let with = |things: &str| {
        Bench::new(&(things.to_string() + &carrier("0 0 0 0 0 0", &format!("{proximity}{sonar}"))))
    };
    let mut bench = with(&pole(0.0625));
    assert!(bench.findings.is_empty(), "{:?}", bench.findings);
    let range: Range = bench.ask(0);
    assert!((f64::from(range.range) - 0.995).abs() < 1e-6, "{}", range.range);
    assert!((f64::from(range.field_of_view) - 0.125).abs() < 1e-6);
    assert_eq!((range.radiation_type, range.max_range), (1, 1.5));
    assert_eq!(with(&pole(0.2)).ask::<Range>(0).range, f32::INFINITY);
    let wall = fixed("wall", "1.1 0 0 0 0 0", &box_(0.2, 9.0, 9.0));
    let range: Range = with(&wall).ask(1);
    assert_eq!((range.range, range.radiation_type), (1.0, 0));
    assert!((f64::from(range.field_of_view) - 2.0 * headland_base::maths::atan(0.4)).abs() < 1e-6);
    let all_around = sonar.replace("<min>", "<geometry>sphere</geometry><min>");
    let behind = fixed("wall", "-1.1 0 0 0 0 0", &box_(0.2, 9.0, 9.0));
    let mut bench = Bench::new(&(behind + &carrier("0 0 0 0 0 0", &all_around)));
    let range: Range = bench.ask(0);
    assert!((f64::from(range.range) - 1.0).abs() < 0.01, "{}", range.range);
}

#[test]
fn a_light_barrier_is_broken_by_what_stands_in_it() {
    let barrier = "<sensor name='gate' type='headland:break_beam'><ray><range><min>0</min>\
                   <max>0.35</max></range></ray></sensor>";
    let at = |y: f64| {
        let thing = fixed("thing", &format!("0.2 {y} 0 0 0 0"), &box_(0.1, 0.1, 0.1));
        let mut bench = Bench::new(&(thing + &carrier("0 0 0 0 0 0", barrier)));
        (bench.ask::<Bool>(0).data, bench.output::<Range>(0, 1).range)
    };
    let (is_broken, range) = at(0.0);
    assert!(is_broken && (range - 0.15).abs() < 1e-6);
    assert_eq!(at(0.06), (false, f32::INFINITY));
    let mut bench = Bench::new(&carrier("0 0 0 0 0 0", barrier));
    let topics: Vec<&str> =
        bench.sensors[0].outputs().iter().map(|output| output.topic.as_str()).collect();
    assert_eq!(topics, ["/robot/gate", "/robot/gate/range"]);
    assert!(!bench.ask::<Bool>(0).data);
}

#[test]
fn everything_that_is_wrong_is_said() {
    let cases = [
        ("<sensor name='a' type='lidar'/>", "there is neither a <lidar> nor a <ray> in it"),
        (
            "<sensor name='a' type='lidar'><lidar><scan><horizontal><samples>0</samples>\
             </horizontal></scan></lidar></sensor>",
            "0 samples at a resolution of 1 are no beams",
        ),
        (
            "<sensor name='a' type='lidar'><lidar><scan><horizontal><samples>5</samples>\
             <min_angle>1</min_angle><max_angle>0</max_angle></horizontal></scan></lidar></sensor>",
            "max_angle 0 is less than min_angle 1",
        ),
        (
            "<sensor name='a' type='lidar'><lidar><range><min>2</min><max>1</max></range></lidar>\
             </sensor>",
            "it measures from 2 m to 1 m, which is nothing",
        ),
        (
            "<sensor name='a' type='lidar'><lidar><scan><horizontal><samples>3000000</samples>\
             </horizontal><vertical><samples>2</samples></vertical></scan></lidar></sensor>",
            "it has 6000000 beams, and 4000000 are the most",
        ),
        (
            "<sensor name='a' type='lidar'><update_rate>20</update_rate><lidar>\
             <headland:rolling>0.1</headland:rolling></lidar></sensor>",
            "a turn takes 0.1 s, and the next begins after 0.05 s",
        ),
        (
            "<sensor name='a' type='lidar'><lidar><headland:miss><rate>3</rate></headland:miss>\
             </lidar></sensor>",
            "<rate> is 3, and must be a share from 0 to 1",
        ),
        (
            "<sensor name='a' type='lidar'><lidar><noise type='gauss'/></lidar></sensor>",
            "no noise is called `gauss`",
        ),
        ("<sensor name='a' type='sonar'/>", "there is no <sonar> in it"),
        (
            "<sensor name='a' type='logical_camera'><logical_camera><near>3</near><far>1</far>\
             </logical_camera></sensor>",
            "it sees from 3 m to 1 m, which is nothing",
        ),
        (
            "<sensor name='a' type='headland:detector'><headland:detector><file>none.xml</file>\
             </headland:detector></sensor>",
            "cannot use `none.xml`: it is not there",
        ),
    ];
    for (sensor, wanted) in cases {
        let bench = Bench::new(&carrier("0 0 0 0 0 0", sensor));
        let said: Vec<&str> = bench.findings.iter().map(|f| f.message.as_str()).collect();
        let whole = format!("sensor `robot::base::a`: {wanted}");
        assert!(said.contains(&whole.as_str()), "{sensor}\n{said:?}");
        let place = bench.findings[0].place.as_ref().expect("a place");
        assert_eq!(place.source.path, "test.sdf");
    }
}

/// The same seed says the same bytes, another seed others, and one more sensor before it changes
/// none.
#[test]
fn a_seed_says_the_same_whoever_else_looks() {
    let noise = "<noise type='gaussian'><stddev>0.02</stddev></noise>";
    let own = lidar("lidar", 271, 2.35, noise);
    let said = |sensors: &str, seed: u64| {
        let mut bench = Bench::seeded(&(room() + &carrier("0 0 0 0 0 0", sensors)), seed);
        let last = bench.sensors.len() - 1;
        bench.bytes(last, 0).unwrap()
    };
    let one = said(&own, 1);
    assert_eq!(decode::<LaserScan>(&one).unwrap().ranges.len(), 271);
    assert!(one == said(&own, 1) && one != said(&own, 2));
    let other = lidar("lidar", 33, 1.0, noise).replace("name='lidar'", "name='other'");
    assert!(one == said(&(other + &own), 1));
}
