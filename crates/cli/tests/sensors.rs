//! Sensors in real runs, against closed forms: worlds are written, run by the program, and what
//! was recorded is compared with what physics says.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use headland_base::maths::{
    PI, Quat, TAU, Vec3, cos, quat_from_rotation_vector, rotation_vector_from_quat, sin, sqrt,
};
use headland_record::messages::{
    Altimeter, Bool, Contacts, FluidPressure, FootPressure, Imu, JointState, MagneticField,
    Message, NavSatFix, Odometry, PoseStamped, Time, TwistStamped, WrenchStamped, decode,
};
use headland_record::{Item, Reader};
use tempfile::TempDir;

/// A world around some models.
fn world(gravity: f64, inside: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<sdf version='1.11' xmlns:headland='urn:headland:sdf'>\n\
         <world name='w'><gravity>0 0 -{gravity}</gravity>\n\
         <physics name='1ms' type='ode'><max_step_size>0.001</max_step_size></physics>\n\
         {inside}\n</world></sdf>\n"
    )
}

/// A box that moves, of 2 kg, with sensors.
fn pod(pose: &str, twist: &str, sensors: &str) -> String {
    format!(
        "<model name='pod'><pose>{pose}</pose><link name='hull'>\
         <inertial><mass>2</mass><inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia>\
         </inertial><collision name='box'><geometry><box><size>0.4 0.3 0.2</size></box></geometry>\
         </collision><headland:twist>{twist}</headland:twist>\n{sensors}</link></model>"
    )
}

const GROUND: &str = "<model name='ground'><static>true</static><link name='link'>\
    <collision name='plane'><geometry><plane><normal>0 0 1</normal><size>20 20</size></plane>\
    </geometry></collision></link></model>";

/// A world that was run.
struct Ran {
    _dir: TempDir,
    file: PathBuf,
    said: String,
}

fn run(text: &str, args: &[&str]) -> Ran {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("w.sdf"), text).expect("written");
    let all: Vec<&str> = ["run", "w.sdf", "-o", "w.mcap"].iter().chain(args).copied().collect();
    let output = common::expect(dir.path(), &all, 0);
    let file = dir.path().join("w.mcap");
    Ran { _dir: dir, file, said: common::text(&output.stderr) }
}

/// What a run that is refused says.
fn refused(text: &str, args: &[&str]) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("w.sdf"), text).expect("written");
    let all: Vec<&str> = ["run", "w.sdf", "-o", "w.mcap"].iter().chain(args).copied().collect();
    common::text(&common::expect(dir.path(), &all, 2).stderr)
}

/// Log time \[ns\] and payload of every message of a topic.
fn payloads(file: &Path, topic: &str) -> Vec<(i64, Vec<u8>)> {
    let mut reader = Reader::open(file).expect("a recording");
    let mut out = Vec::new();
    while let Some(item) = reader.next() {
        if let Item::Message(message) = item
            && message.channel.topic == topic
        {
            out.push((message.log_time.nanos(), message.payload.to_vec()));
        }
    }
    out
}

impl Ran {
    fn of<M: Message>(&self, topic: &str) -> Vec<M> {
        let all = payloads(&self.file, topic);
        assert!(!all.is_empty(), "nothing on {topic}");
        all.iter().map(|(_, payload)| decode(payload).expect("its type")).collect()
    }
}

fn nanos(stamp: &Time) -> i64 {
    stamp.sim().nanos()
}

const BOTH: [&str; 2] = ["rapier", "native"];
const H: f64 = 0.001;

/// What an accelerometer off the centre of a tumbling box feels adds up, gravity added, to the
/// velocity of its own point, to rounding; what a gyroscope reads adds up to the orientation, to
/// the error of steps.
#[test]
fn an_imu_integrates_back_to_the_trajectory() {
    let lever = Vec3::new(0.15, -0.1, 0.05);
    let sensor = "<sensor name='imu' type='imu'><pose>0.15 -0.1 0.05 0.3 -0.2 0.7</pose></sensor>";
    let text = world(9.8, &pod("0 0 50 0 0 0", "1 -2 3 4 1 -2", sensor));
    for engine in BOTH {
        let ran = run(&text, &["--engine", engine, "-d", "1"]);
        let imu = ran.of::<Imu>("/pod/imu");
        let poses = ran.of::<PoseStamped>("/pod/pose");
        let twists = ran.of::<TwistStamped>("/pod/twist");
        assert_eq!((imu.len(), poses.len()), (1000, 1001), "{engine}: from the first step on");
        let turn = |i: usize| Quat::from(&poses[i].pose.orientation);
        let point = |i: usize| Vec3::from(&poses[i].pose.position) + turn(i) * lever;
        let velocity = |i: usize| {
            let twist = &twists[i].twist;
            Vec3::from(&twist.linear) + Vec3::from(&twist.angular).cross(turn(i) * lever)
        };
        let hull_from_sensor = headland_base::maths::quat_from_rpy(0.3, -0.2, 0.7);
        let (mut v, mut p) = (velocity(0), point(0));
        let mut q = turn(0) * hull_from_sensor;
        let (mut worst_v, mut worst_p, mut worst_q) = (0f64, 0f64, 0f64);
        for (i, reading) in imu.iter().enumerate() {
            let now = turn(i + 1) * hull_from_sensor;
            // The pose told, from that which it started with.
            let told = turn(0) * hull_from_sensor * Quat::from(&reading.orientation);
            assert!(rotation_vector_from_quat(now.conjugate() * told).length() < 1e-12);
            let before = v;
            v += (now * Vec3::from(&reading.linear_acceleration) - Vec3::Z * 9.8) * H;
            p += (before + v) * (0.5 * H);
            worst_v = worst_v.max(v.distance(velocity(i + 1)));
            worst_p = worst_p.max(p.distance(point(i + 1)));
            q *= quat_from_rotation_vector(Vec3::from(&reading.angular_velocity) * H);
            worst_q = worst_q.max(rotation_vector_from_quat(now.conjugate() * q).length());
        }
        println!(
            "{engine}: velocity {worst_v:.1e} m/s, position {worst_p:.1e} m, turn {worst_q:.1e} rad"
        );
        assert!(worst_v < 1e-12, "{engine}: velocities differ by {worst_v}");
        // First order in the step, as engines move: g·h·T/2 = 4.9 mm where a step goes by the
        // velocity at its end.
        assert!(worst_p < 6e-3, "{engine}: positions differ by {worst_p}");
        assert!(worst_q < 5e-3, "{engine}: orientations differ by {worst_q}");
    }
}

/// At rest it reads g upwards, along its own axes, however it is mounted; in free fall nothing.
#[test]
fn an_imu_at_rest_reads_gravity_upwards() {
    let sensor = "<sensor name='imu' type='imu'><pose>0 0 0.3 0.4 0.3 1</pose></sensor>";
    let turn = headland_base::maths::quat_from_rpy(0.4, 0.3, 1.0);
    let wanted = turn.conjugate() * Vec3::new(0.0, 0.0, 9.8);
    let still =
        format!("<model name='pod'><static>true</static><link name='hull'>{sensor}</link></model>");
    let ran = run(&world(9.8, &still), &["-d", "0.1"]);
    for reading in ran.of::<Imu>("/pod/imu") {
        assert!((Vec3::from(&reading.linear_acceleration) - wanted).length() < 1e-12);
        assert_eq!(Vec3::from(&reading.angular_velocity), Vec3::ZERO);
    }
    let lying = world(9.8, &format!("{GROUND}{}", pod("0 0 0.1 0 0 0", "0 0 0 0 0 0", sensor)));
    let falling = world(9.8, &pod("0 0 9 0 0 0", "0 0 0 0 0 0", sensor));
    for engine in BOTH {
        let ran = run(&lying, &["--engine", engine, "-d", "1"]);
        for reading in ran.of::<Imu>("/pod/imu").iter().skip(500) {
            let off = (Vec3::from(&reading.linear_acceleration) - wanted).length();
            assert!(off < 1e-9, "{engine}: {off}");
        }
        let ran = run(&falling, &["--engine", engine, "-d", "0.2"]);
        for reading in ran.of::<Imu>("/pod/imu") {
            assert!(Vec3::from(&reading.linear_acceleration).length() < 1e-9, "{engine}");
        }
    }
}

/// On a turntable: ω²·r towards the axis, as the mean over a step, exactly
/// `ω·r·(−sin ωh, 1 − cos ωh)/h` along its own axes.
#[test]
fn an_imu_on_a_turntable_reads_the_pull_to_the_middle() {
    let sensor = "<sensor name='imu' type='imu'><pose>0.5 0 0 0 0 0</pose></sensor>";
    let text = world(0.0, &pod("0 0 5 0 0 0", "0 0 0 0 0 3", sensor));
    let (w, r) = (3.0, 0.5);
    let wanted = Vec3::new(-sin(w * H), 1.0 - cos(w * H), 0.0) * (w * r / H);
    assert!((wanted.x + w * w * r).abs() < 1e-4);
    for engine in BOTH {
        let ran = run(&text, &["--engine", engine, "-d", "1"]);
        for reading in ran.of::<Imu>("/pod/imu") {
            let off = (Vec3::from(&reading.linear_acceleration) - wanted).length();
            assert!(off < 1e-6, "{engine}: {off}");
            assert!((Vec3::from(&reading.angular_velocity) - Vec3::Z * w).length() < 1e-9);
        }
    }
}

fn pendulum(initial: f64, inside: &str) -> String {
    let link = |name: &str, z: f64| {
        format!(
            "<link name='{name}'><pose>0 0 {z} 0 0 0</pose><inertial><mass>1.5</mass><inertia>\
             <ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>"
        )
    };
    world(
        9.81,
        &format!(
            "<model name='arm'><pose>0 0 3 0 0 0</pose>{}{}{}\
             <joint name='base' type='fixed'><parent>world</parent><child>root</child>\
             <sensor name='base_load' type='force_torque'><force_torque>\
             <measure_direction>parent_to_child</measure_direction></force_torque></sensor></joint>\
             <joint name='hinge' type='continuous'><parent>root</parent><child>upper</child>\
             <pose>0 0 1 0 0 0</pose><axis><xyz>0 1 0</xyz>\
             <headland:initial_position>{initial}</headland:initial_position></axis>{inside}</joint>\
             <joint name='weld' type='fixed'><parent>upper</parent><child>lower</child>\
             <sensor name='weld_load' type='force_torque'><force_torque><frame>parent</frame>\
             <measure_direction>parent_to_child</measure_direction></force_torque></sensor></joint>\
             </model>",
            link("root", 0.0),
            link("upper", -1.0),
            link("lower", -2.0),
        ),
    )
}

/// A load cell carries what hangs from it: at rest the weights, at the bottom of a swing m·g and
/// what bends the way of each mass, at a weld as at a hinge.
#[test]
fn loads_are_weights_at_rest_and_more_in_a_swing() {
    let hinge = "<sensor name='hinge_load' type='force_torque'/>\
        <sensor name='turned' type='force_torque'><pose>0 0 0 0 1.5707963267948966 0</pose>\
        <force_torque><frame>sensor</frame></force_torque></sensor>";
    let (m, g) = (1.5, 9.81);
    for engine in BOTH {
        let ran = run(&pendulum(0.0, hinge), &["--engine", engine, "-d", "0.3"]);
        let last = |topic: &str| ran.of::<WrenchStamped>(topic).pop().expect("some");
        for (topic, wanted) in [
            ("/arm/base_load", Vec3::Z * 3.0 * m * g),
            ("/arm/weld_load", Vec3::Z * m * g),
            ("/arm/hinge_load", Vec3::Z * -2.0 * m * g),
            ("/arm/turned", Vec3::X * 2.0 * m * g),
        ] {
            let wrench = last(topic).wrench;
            let force = Vec3::from(&wrench.force);
            assert!((force - wanted).length() < 1e-9, "{engine} {topic}: {force}");
            assert!(Vec3::from(&wrench.torque).length() < 1e-9, "{engine} {topic}");
        }
        assert_eq!(last("/arm/hinge_load").header.frame_id, "arm/upper");
        assert_eq!(last("/arm/weld_load").header.frame_id, "arm/upper");
        assert_eq!(last("/arm/turned").header.frame_id, "arm/hinge/turned");

        // From 1 rad to the lowest point: the two masses are 1 m and 2 m from the hinge.
        let ran = run(&pendulum(1.0, hinge), &["--engine", engine, "-d", "1.5"]);
        let joints = ran.of::<JointState>("/arm/joint_states");
        let lowest = (1..joints.len())
            .min_by(|a, b| joints[*a].position[0].abs().total_cmp(&joints[*b].position[0].abs()))
            .expect("some");
        let w = joints[lowest].velocity[0];
        let inertia = m * (1.0 + 4.0) + 0.02;
        let wanted_w = sqrt(2.0 * 3.0 * m * g * (1.0 - cos(1.0)) / inertia);
        assert!((w.abs() / wanted_w - 1.0).abs() < 2e-3, "{engine}: {w} {wanted_w}");
        let at =
            |topic: &str| Vec3::from(&ran.of::<WrenchStamped>(topic)[lowest - 1].wrench.force).z;
        for (topic, wanted) in [
            ("/arm/hinge_load", -2.0 * m * g - m * w * w * 3.0),
            ("/arm/weld_load", m * g + m * w * w * 2.0),
            ("/arm/base_load", 3.0 * m * g + m * w * w * 3.0),
        ] {
            let force = at(topic);
            println!("{engine} {topic}: {force:.4} N, wanted {wanted:.4} N");
            assert!((force / wanted - 1.0).abs() < 1e-5, "{engine} {topic}: {force} {wanted}");
        }
    }
}

/// A weight on an arm that is fixed to a wall: the moment at the wall is m·g·l.
#[test]
fn a_bracket_carries_the_moment_of_its_weight() {
    let text = world(
        10.0,
        "<model name='bracket'><link name='a'><inertial><mass>1</mass></inertial></link>\
         <link name='b'><pose>2 0 0 0 0 0</pose><inertial><mass>3</mass></inertial></link>\
         <joint name='wall' type='fixed'><parent>world</parent><child>a</child>\
         <sensor name='load' type='force_torque'><force_torque>\
         <measure_direction>parent_to_child</measure_direction></force_torque></sensor></joint>\
         <joint name='weld' type='fixed'><parent>a</parent><child>b</child></joint></model>",
    );
    let ran = run(&text, &["-d", "0.05"]);
    for load in ran.of::<WrenchStamped>("/bracket/load") {
        assert!((Vec3::from(&load.wrench.force) - Vec3::Z * 40.0).length() < 1e-12);
        // Weight pulls the end down, about +y; the wall holds against it.
        assert!((Vec3::from(&load.wrench.torque) - Vec3::Y * -60.0).length() < 1e-12);
    }
}

#[test]
fn loads_that_are_shared_are_refused_in_words() {
    let text =
        fs::read_to_string(format!("{}/worlds/four_bar.sdf", common::ROOT)).expect("shipped");
    let sensor = "<sensor name='load' type='force_torque'/></joint>";
    let said = refused(&text.replacen("</joint>", sensor, 1), &["-d", "0.1"]);
    assert!(said.contains("bad-sensor") && said.contains("another way"), "{said}");
    assert!(said.contains("w.sdf:"), "with its place: {said}");
}

/// A box on the ground presses with its weight, under its centre of mass, and its corner cells
/// carry both.
#[test]
fn feet_press_with_their_weight() {
    let sensors = "<sensor name='foot' type='headland:foot_pressure'><pose>0 0 -0.1 0 0 0</pose>\
        <headland:foot_pressure><size>0.4 0.3</size></headland:foot_pressure></sensor>\
        <sensor name='touch' type='contact'><contact><collision>box</collision></contact></sensor>\
        <sensor name='bumper' type='headland:bumper'/>\
        <sensor name='hard' type='headland:bumper'>\
        <headland:bumper><threshold>30</threshold></headland:bumper></sensor>";
    let pod = pod("0 0 0.1 0 0 0.5", "0 0 0 0 0 0", sensors)
        .replace("<inertial>", "<inertial><pose>0.05 -0.03 0 0 0 0</pose>");
    let text = world(9.8, &format!("{GROUND}{pod}"));
    for engine in BOTH {
        let ran = run(&text, &["--engine", engine, "-d", "2", "--record-rate", "10"]);
        let foot = ran.of::<FootPressure>("/pod/foot");
        assert_eq!(foot.len(), 2001, "{engine}: contacts are there between samples too");
        for reading in foot.iter().skip(1000) {
            let at = &reading.centre_of_pressure;
            assert!((reading.normal_force - 19.6).abs() < 1e-6, "{engine}: {reading:?}");
            assert!((at.x - 0.05).abs() < 1e-6 && (at.y + 0.03).abs() < 1e-6, "{engine}: {at:?}");
            let sum: f64 = reading.cells.iter().sum();
            assert!((sum - reading.normal_force).abs() < 1e-9);
            // Front right carries the most.
            assert!(reading.cells.iter().all(|cell| *cell <= reading.cells[1]), "{reading:?}");
        }
        let touch = ran.of::<Contacts>("/pod/touch").pop().expect("some");
        let force: f64 = touch.contacts.iter().map(|contact| contact.normal_force).sum();
        assert!((force - 19.6).abs() < 1e-6, "{engine}: {force}");
        assert!(ran.of::<Bool>("/pod/bumper").pop().expect("some").data, "{engine}");
        assert!(!ran.of::<Bool>("/pod/hard").pop().expect("some").data, "{engine}");
    }
}

/// Where a pod is on the Earth: the radii of curvature there tell what a step north or east is.
#[test]
fn satellites_say_where_on_the_earth() {
    let earth = "<spherical_coordinates><latitude_deg>43.5</latitude_deg>\
        <longitude_deg>1.5</longitude_deg><elevation>120</elevation></spherical_coordinates>";
    let text = world(
        0.0,
        &format!(
            "{earth}{}",
            pod(
                "0 0 2 0 0 0",
                "30 40 1 0 0 0",
                "<sensor name='gps' type='navsat'><update_rate>1</update_rate></sensor>"
            )
        ),
    );
    let ran = run(&text, &["-d", "2"]);
    let (a, f) = (6_378_137.0, 1.0 / 298.257_223_563);
    let (e2, s) = (f * (2.0 - f), sin(43.5 * PI / 180.0));
    let n = a / sqrt(1.0 - e2 * s * s);
    let m = n * (1.0 - e2) / (1.0 - e2 * s * s);
    for (i, fix) in ran.of::<NavSatFix>("/pod/gps").iter().enumerate() {
        let t = i as f64;
        let north = (fix.latitude - 43.5) * PI / 180.0 * (m + 122.0);
        let east = (fix.longitude - 1.5) * PI / 180.0 * (n + 122.0) * cos(43.5 * PI / 180.0);
        assert!(
            (north - 40.0 * t).abs() < 2e-3 && (east - 30.0 * t).abs() < 2e-3,
            "{north} {east}"
        );
        // A plane leaves the ellipsoid with the square of the way.
        let rises = (40.0 * t) * (40.0 * t) / (2.0 * m) + (30.0 * t) * (30.0 * t) / (2.0 * n);
        assert!((fix.altitude - 122.0 - t - rises).abs() < 1e-6, "{fix:?}");
    }
    let velocity = ran.of::<TwistStamped>("/pod/gps/velocity");
    assert!((Vec3::from(&velocity[1].twist.linear) - Vec3::new(30.0, 40.0, 1.0)).length() < 1e-9);
    let without = refused(&text.replace(earth, ""), &["-d", "1"]);
    assert!(without.contains("spherical_coordinates"), "{without}");
}

/// Heights, pressures, fields and odometry of a pod that rises and turns.
#[test]
fn the_air_the_field_and_the_way_are_told() {
    let kinds = ["altimeter", "air_pressure", "magnetometer", "headland:odometry"];
    let sensors: String = kinds
        .iter()
        .map(|kind| format!("<sensor name='{}' type='{kind}'/>", kind.replace("headland:", "")))
        .collect();
    let field = "<magnetic_field>2e-5 0 -4e-5</magnetic_field>";
    let text = world(0.0, &format!("{field}{}", pod("1 2 100 0 0 0", "0 0 50 0 0 1", &sensors)));
    let ran = run(&text, &["-d", "1"]);
    let height = ran.of::<Altimeter>("/pod/altimeter").pop().expect("some");
    assert!((height.vertical_position - 50.0).abs() < 1e-6, "{height:?}");
    assert_eq!((height.vertical_velocity, height.vertical_reference), (50.0, 100.0));
    let pressure = ran.of::<FluidPressure>("/pod/air_pressure");
    let fall = pressure[0].fluid_pressure - pressure[1000].fluid_pressure;
    assert!((fall - 1.21 * 9.81 * 50.0).abs() < 10.0, "ρ·g·h: {fall} Pa");
    let magnet = ran.of::<MagneticField>("/pod/magnetometer").pop().expect("some");
    let wanted = Vec3::new(2e-5 * cos(1.0), -2e-5 * sin(1.0), -4e-5);
    assert!((Vec3::from(&magnet.magnetic_field) - wanted).length() < 1e-9, "{magnet:?}");
    let way = ran.of::<Odometry>("/pod/odometry").pop().expect("some");
    let position = Vec3::from(&way.pose.pose.position);
    assert!((position - Vec3::Z * 50.0).length() < 1e-6, "{position}");
    assert_eq!(way.header.frame_id, "pod/odom");
    assert_eq!(way.child_frame_id, "pod/hull/odometry");
    assert!((Vec3::from(&way.twist.twist.angular) - Vec3::Z).length() < 1e-6);
}

/// Counts are at most one behind, and a toggle flips with each.
#[test]
fn encoders_count() {
    let sensors = "<sensor name='encoder' type='headland:encoder'><headland:encoder>\
        <counts_per_turn>500</counts_per_turn></headland:encoder></sensor>\
        <sensor name='toggle' type='headland:encoder'><headland:encoder><form>toggle</form>\
        <counts_per_turn>500</counts_per_turn></headland:encoder></sensor>";
    let ran = run(&pendulum(1.0, sensors), &["-d", "2"]);
    let truth = ran.of::<JointState>("/arm/joint_states");
    let encoder = ran.of::<JointState>("/arm/encoder");
    let toggle = ran.of::<JointState>("/arm/toggle");
    let resolution = TAU / 500.0;
    let mut flips = 0;
    for i in 0..truth.len() {
        let behind = truth[i].position[0] - encoder[i].position[0];
        assert!((-1e-12..=resolution).contains(&behind), "{behind}");
        let count = (encoder[i].position[0] / resolution).round();
        assert_eq!(toggle[i].position[0], count.rem_euclid(2.0));
        flips += usize::from(i > 0 && toggle[i].position != toggle[i - 1].position);
        assert_eq!(encoder[i].name, ["hinge"]);
    }
    assert!(flips > 100, "it swings through many: {flips}");
    // A joint is still called by its own name, whoever measures it as well.
    let csv = ran.file.with_extension("csv");
    let paths = [ran.file.to_str().expect("plain"), csv.to_str().expect("plain")];
    common::expect(Path::new("."), &["export", paths[0], "-o", paths[1]], 0);
    let header = fs::read_to_string(&csv).expect("written");
    let header = header.lines().next().expect("a header");
    assert!(header.contains(",hinge/position,"), "{header}");
}

const NOISY: &str = "<sensor name='imu' type='imu'><update_rate>1000</update_rate><imu>\
    <angular_velocity><x><noise type='gaussian'><mean>0.5</mean><stddev>0.1</stddev></noise></x>\
    </angular_velocity></imu></sensor>";

fn still(sensors: &str) -> String {
    world(
        9.8,
        &format!(
            "<model name='pod'><static>true</static><link name='hull'>{sensors}</link></model>"
        ),
    )
}

/// Mean and variance of 10,000 readings, at a confidence of 99.9 % each.
#[test]
fn noise_has_the_declared_statistics() {
    let ran = run(&still(NOISY), &["-d", "10", "--record-rate", "1"]);
    let read: Vec<f64> =
        ran.of::<Imu>("/pod/imu").iter().map(|imu| imu.angular_velocity.x).collect();
    let n = read.len() as f64;
    assert_eq!(n, 10_000.0);
    let mean = read.iter().sum::<f64>() / n;
    assert!((mean - 0.5).abs() < 3.29 * 0.1 / sqrt(n), "{mean}");
    let chi2 = read.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 0.01;
    assert!((chi2 - n).abs() < 3.29 * sqrt(2.0 * n), "{chi2}");
    let imu = &ran.of::<Imu>("/pod/imu")[0];
    assert!((imu.angular_velocity_covariance[0] - 0.01).abs() < 1e-15);
    assert_eq!(imu.angular_velocity.y, 0.0);
}

/// Latency moves when a message is recorded, and nothing in it; a phase moves when it is taken.
#[test]
fn latency_moves_the_arrival_and_not_the_stamp() {
    let with = |timing: &str| {
        let text = NOISY.replace("1000</update_rate>", &format!("100</update_rate>{timing}"));
        run(&still(&text), &["-d", "0.5"])
    };
    let (prompt, late) = (with(""), with("<headland:latency>0.0125</headland:latency>"));
    let [prompt, late] = [prompt, late].map(|ran| (payloads(&ran.file, "/pod/imu"), ran.said));
    assert_eq!((prompt.0.len(), late.0.len()), (50, 48));
    assert!(late.1.contains("2 messages of sensors had not arrived"), "{}", late.1);
    for ((at, payload), (later, same)) in prompt.0.iter().zip(&late.0) {
        assert_eq!(*later, at + 12_500_000);
        assert_eq!(payload, same);
    }
    let phased = with("<headland:phase>0.0033</headland:phase>");
    let stamps: Vec<i64> =
        phased.of::<Imu>("/pod/imu").iter().map(|i| nanos(&i.header.stamp)).collect();
    assert_eq!(stamps[..3], [4_000_000, 14_000_000, 24_000_000], "the first step at or after");
}

/// Another sensor, of the same link or not, changes no byte of what the others say; neither do
/// threads of the whole recording.
#[test]
fn sensors_do_not_disturb_each_other() {
    let others = "<sensor name='a' type='magnetometer'><magnetometer><x><noise type='gaussian'>\
        <stddev>1e-6</stddev></noise></x></magnetometer></sensor><sensor name='z' type='imu'/>";
    let alone = run(&still(NOISY), &["-d", "0.2"]);
    let text = still(&format!("{others}{NOISY}"));
    let among = run(&text, &["-d", "0.2", "--threads", "1"]);
    assert_eq!(payloads(&alone.file, "/pod/imu"), payloads(&among.file, "/pod/imu"));
    let threads = run(&text, &["-d", "0.2", "--threads", "2"]);
    assert!(fs::read(&among.file).expect("read") == fs::read(&threads.file).expect("read"));
    let other_seed = run(&text, &["-d", "0.2", "--seed", "1"]);
    assert_ne!(payloads(&alone.file, "/pod/imu"), payloads(&other_seed.file, "/pod/imu"));
    // Chosen, or not: the same bytes, or none.
    let chosen = run(&text, &["-d", "0.2", "--sensors", "*/imu"]);
    assert_eq!(payloads(&alone.file, "/pod/imu"), payloads(&chosen.file, "/pod/imu"));
    assert!(payloads(&chosen.file, "/pod/a").is_empty());
    let none = run(&text, &["-d", "0.2", "--sensors", "none"]);
    assert!(payloads(&none.file, "/pod/imu").is_empty());
    let said = refused(&text, &["-d", "0.2", "--sensors", "/pod/imo"]);
    assert!(said.contains("did you mean `/pod/imu`?"), "{said}");
}

#[test]
fn what_is_odd_about_sensors_is_said_before_the_run() {
    let fast = NOISY.replace("1000<", "4000<");
    let ran = run(&still(&fast), &["-d", "0.1"]);
    assert!(
        ran.said.contains("sensor-too-fast") && ran.said.contains("at 1000 Hz"),
        "{}",
        ran.said
    );
    assert_eq!(ran.of::<Imu>("/pod/imu").len(), 100);
    let unknown = format!("{NOISY}<sensor name='x' type='imuu'/>");
    let ran = run(&still(&unknown), &["-d", "0.1"]);
    assert!(ran.said.contains("unknown-sensor-type") && ran.said.contains("did you mean `imu`?"));
    // Two of one name, and one that the recording's own topics have.
    let twice = format!("{NOISY}{NOISY}<sensor name='pose' type='imu'/>");
    let ran = run(&still(&twice), &["-d", "0.1"]);
    for topic in ["/pod/imu", "/pod/imu_2", "/pod/pose_2"] {
        assert_eq!(ran.of::<Imu>(topic).len(), 100, "{topic}");
    }
    let wrong = "<sensor name='x' type='imu'>\n<update_rate>often</update_rate>\n\
        <pose relative_to='hul'>0 0 0 0 0 0</pose>\n<imu><linear_acceleration><x>\n\
        <noise type='gausian'/></x></linear_acceleration></imu></sensor>";
    let said = refused(&still(wrong), &["-d", "0.1"]);
    for part in [
        "`often`",
        "no frame `hul`",
        "did you mean `hull`?",
        "`gausian`",
        "w.sdf:6:2",
        "w.sdf:7:2",
        "w.sdf:9:2",
    ] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
}

/// Poses of sensors may be written in any frame of their model.
#[test]
fn sensors_stand_where_their_frames_are() {
    let text = world(
        10.0,
        "<model name='m'><static>true</static><frame name='f'><pose>1 2 3 0 0 1.5707963267948966</pose></frame>\
         <link name='a'><pose>1 0 0 0 0 0</pose>\
         <sensor name='own' type='altimeter'><pose>0 0 1 0 0 0</pose></sensor>\
         <sensor name='framed' type='altimeter'><pose relative_to='f'>0 0 1 0 0 0</pose></sensor>\
         <sensor name='model' type='altimeter'><pose relative_to='__model__'>0 0 7 0 0 0</pose></sensor>\
         </link></model>",
    );
    let ran = run(&text, &["-d", "0.01"]);
    for (name, wanted) in [("own", 1.0), ("framed", 4.0), ("model", 7.0)] {
        let height = ran.of::<Altimeter>(&format!("/m/{name}"))[0].vertical_reference;
        assert!((height - wanted).abs() < 1e-12, "{name}: {height}");
    }
}

/// A test that watches sees the same moments as one that judges the recording, though sensors
/// look in between and are heard later.
#[test]
fn live_verdicts_are_those_of_the_recording() {
    let test = "(machine m (state a) (state b) (state green)\n\
        (on [recording time > 0.333] a -> b)\n(on [recording time > 0.97] b -> green))\n(spawn m a)\n";
    for timing in ["", "<headland:latency>0.0305</headland:latency>"] {
        let text = NOISY.replace("1000</update_rate>", &format!("70</update_rate>{timing}"));
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("w.sdf"), still(&text)).expect("written");
        fs::write(dir.path().join("t.lrp"), test).expect("written");
        let args = ["run", "w.sdf", "-d", "1", "--record-rate", "10", "--test", "t.lrp", "--json"];
        let live = common::expect(dir.path(), &args, 0);
        let live: serde_json::Value = serde_json::from_slice(&live.stdout).expect("JSON");
        let live = &live["verdicts"][0];
        let args = ["test", "t.lrp", "--on", "w.mcap", "--json"];
        let judged = common::expect(dir.path(), &args, 0);
        let judged: serde_json::Value = serde_json::from_slice(&judged.stdout).expect("JSON");
        let judged = &judged["results"][0];
        assert_eq!((&live["verdict"], &judged["verdict"]), (&"green".into(), &"green".into()));
        assert_eq!(live["time_secs"], judged["time_secs"]);
        let secs = live["time_secs"].as_f64().expect("a time");
        // The look at 0.972 s is heard at once, or after the run has ended.
        assert_eq!(secs, if timing.is_empty() { 0.972 } else { 1.0 });
    }
}

/// The world that ships: every sensor says something, and what they say is what physics says.
#[test]
fn the_shipped_sensors_feel_what_is_there() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{}/worlds/sensors.sdf", common::ROOT);
    let test = format!("{}/worlds/tests/feels.lrp", common::ROOT);
    for engine in BOTH {
        let args = ["run", &world, "--engine", engine, "-d", "2", "-o", "s.mcap"];
        common::expect(dir.path(), &args, 0);
        let judged = common::expect(dir.path(), &["test", &test, "--on", "s.mcap"], 0);
        assert!(common::text(&judged.stdout).contains("green"), "{engine}");
    }
    let checked = common::expect(dir.path(), &["check", "--json", &world], 0);
    let checked: serde_json::Value = serde_json::from_slice(&checked.stdout).expect("JSON");
    let sensors = checked["sensors"].as_array().expect("a list");
    assert_eq!(sensors.len(), 13);
    for output in sensors.iter().flat_map(|sensor| sensor["outputs"].as_array().expect("some")) {
        let topic = output["topic"].as_str().expect("a name");
        assert!(!payloads(&dir.path().join("s.mcap"), topic).is_empty(), "{topic}");
    }
}

/// A pattern that fits no sensor is told, with what to do.
#[test]
fn patterns_that_fit_nothing_are_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = common::world("sensors");
    let run = |world: &str| {
        let args = ["run", world, "-d", "0.01", "--sensors", "/nothing*", "-o", "s.mcap"];
        common::text(&common::expect(dir.path(), &args, 2).stderr)
    };
    let said = run(&world);
    assert!(said.contains("no sensor fits `/nothing*`"), "{said}");
    assert!(said.contains("`headland check` lists its 13 sensors"), "{said}");
    let said = run(&common::world("ball"));
    assert!(said.contains("this world has no sensors"), "{said}");
}
