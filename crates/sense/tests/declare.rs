//! Sensors as worlds of others declare them.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use headland_base::{Diagnostic, Severity, SimDuration};
use headland_sense::declare::{Declaration, declare};
use headland_sim::Model;
use headland_world::{ReadOptions, read};

fn declared(name: &str, text: &str) -> (Vec<Declaration>, Vec<Diagnostic>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    let read = read(&path, &ReadOptions::default()).unwrap();
    let model = Model::compile_read(&Arc::new(read.world), &read.places).unwrap();
    declare(&model, &read.places)
}

fn sdf(inside: &str) -> String {
    format!(
        "<sdf version='1.9'><world name='w'><model name='m'><static>true</static>\
         <link name='l'>{inside}</link></model></world></sdf>"
    )
}

/// URDF has no sensors that a simulator knows; its files put SDF's into `<gazebo>`.
#[test]
fn sensors_of_urdf_are_those_in_gazebo_blocks() {
    let inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' \
        iyz='0'/></inertial>";
    let text = format!(
        "<robot name='r'><link name='base'>{inertial}</link><link name='tip'>{inertial}</link>\
         <joint name='j' type='continuous'><parent link='base'/><child link='tip'/>\
         <axis xyz='0 0 1'/></joint>\
         <gazebo reference='tip'><sensor name='imu' type='imu'><update_rate>200</update_rate>\
         <plugin name='p' filename='f'><ros/></plugin></sensor>\
         <sensor name='gps' type='magnetometer'/></gazebo>\
         <gazebo reference='j'><sensor name='load' type='force_torque'/></gazebo></robot>"
    );
    let (sensors, findings) = declared("r.urdf", &text);
    let all: Vec<(&str, &str, &str)> =
        sensors.iter().map(|s| (s.name.as_str(), s.kind, s.topic.as_str())).collect();
    let wanted = [
        ("r::tip::imu", "imu", "/r/imu"),
        ("r::tip::gps", "magnetometer", "/r/gps"),
        ("r::j::load", "force_torque", "/r/load"),
    ];
    assert_eq!(all, wanted, "{findings:?}");
    assert_eq!(sensors[0].timing.period, SimDuration::from_nanos(5_000_000));
    assert!(sensors.iter().all(|sensor| sensor.findings.is_empty()));
}

/// Prefixes that nobody declared are somebody else's, and do not hide the rest.
#[test]
fn what_others_add_to_sensors_is_passed_over() {
    let text = sdf(
        "<sensor name='a' type='imu'><always_on>1</always_on><gz:x/><visualize>true</visualize>\
         <topic>some/where-else</topic><ignition_frame_id>base</ignition_frame_id></sensor>",
    );
    let (sensors, findings) = declared("w.sdf", &text);
    assert!(findings.is_empty() && sensors[0].findings.is_empty(), "{:?}", sensors[0].findings);
    assert_eq!(sensors[0].topic, "/some/where_else");
    assert_eq!(sensors[0].outputs()[0].message_type, "sensor_msgs/msg/Imu");
}

#[test]
fn every_defect_is_told_and_odd_elements_are_warned_of() {
    let text = sdf(
        "<sensor name='a' type='imu'><headland:latency>-1</headland:latency><updaterate>3</updaterate>\
         <imu><noize/></imu></sensor>\
         <sensor name='b' type='force_torque'/><sensor name='c' type='camera'/>\
         <sensor name='d' type='camera'/><sensor name='e' type='wireless_receiver'/>\
         <sensor name='f' type='headland:encoder'/><sensor name='g' type='headland:foot_pressure'/>",
    )
    .replace("<sdf ", "<sdf xmlns:headland='urn:headland:sdf' ");
    let (sensors, findings) = declared("w.sdf", &text);
    let of = |diagnostics: &[Diagnostic]| -> Vec<String> {
        let line = |d: &Diagnostic| format!("{} {}: {}", d.severity.word(), d.code, d.message);
        diagnostics.iter().map(line).collect()
    };
    assert_eq!(
        of(&sensors[0].findings),
        [
            "error bad-sensor: sensor `m::l::a`: <headland:latency> is -1, and must be zero or more",
            "warning unknown-element: sensor `m::l::a`: <updaterate> in <sensor> means nothing here",
            "warning unknown-element: sensor `m::l::a`: <noize> in <imu> means nothing here",
        ]
    );
    let near = sensors[0].findings[1].help.as_deref();
    assert_eq!(near, Some("did you mean `update_rate`?"));
    assert_eq!(
        of(&findings),
        [
            "error bad-sensor: sensor `m::l::b`: a sensor of type `force_torque` stands in a joint, \
             and this is a link",
            "warning unknown-sensor-type: sensor `m::l::e`: no sensor is of type \
             `wireless_receiver`; it is left out",
        ]
    );
    let errors = |i: usize| {
        let errors = sensors[i].findings.iter().filter(|d| d.severity == Severity::Error);
        errors.map(|d| d.message.clone()).collect::<Vec<_>>().join("\n")
    };
    for (i, name) in [(1, "c"), (2, "d")] {
        assert_eq!(errors(i), format!("sensor `m::l::{name}`: there is no <camera> in it"));
    }
    assert!(errors(3).contains("`m` has no joint that moves"), "{}", errors(3));
    assert!(errors(4).contains("size of the sole"), "{}", errors(4));
}
