//! What poses and axes mean, against values worked out by hand.

use std::path::Path;

use headland_base::maths::{FRAC_PI_2, angle_between, quat_from_axis_angle};
use headland_base::{Quat, Source, Transform, Vec3};
use headland_world::{JointKind, Read, ReadOptions, World, read_text};

const INERTIAL: &str = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz>\
                        </inertia></inertial>";

fn read(version: &str, body: &str) -> World {
    let body = body.replace("INERTIAL", INERTIAL);
    let text = format!(
        "<sdf version=\"{version}\" xmlns:headland=\"urn:headland:sdf\"><world name=\"w\">{body}\
         </world></sdf>"
    );
    match read_text(Source::new("t.sdf", text), Path::new(""), &ReadOptions::default()) {
        Ok(Read { world, .. }) => world,
        Err(findings) => {
            panic!("{}", findings.iter().map(|d| d.render(false)).collect::<String>())
        }
    }
}

fn close(transform: Transform, translation: [f64; 3], rotation: Quat) -> bool {
    transform.translation.distance(Vec3::from_array(translation)) < 1e-9
        && angle_between(transform.rotation, rotation) < 1e-9
}

fn yaw(angle: f64) -> Quat {
    quat_from_axis_angle(Vec3::Z, angle)
}

#[test]
fn a_pose_is_in_the_frame_it_names() {
    // The frame is at (1,0,0), turned a quarter left; one step ahead of it is (1,1,0).
    let world = read(
        "1.9",
        r#"<model name="m"><pose>0 0 5 0 0 0</pose>
        <frame name="f"><pose degrees="true">1 0 0 0 0 90</pose></frame>
        <link name="a"><pose relative_to="f">1 0 0 0 0 0</pose>INERTIAL</link>
        <link name="b"><pose relative_to="a">1 0 0 0 0 0</pose>INERTIAL
          <collision name="c"><pose relative_to="__model__">0 0 0 0 0 0</pose>
            <geometry><sphere><radius>1</radius></sphere></geometry></collision></link>
        </model>"#,
    );
    let model = &world.models[0];
    assert!(close(model.links[0].model_from_link, [1.0, 1.0, 0.0], yaw(FRAC_PI_2)));
    assert!(close(model.links[1].model_from_link, [1.0, 2.0, 0.0], yaw(FRAC_PI_2)));
    // The model's origin seen from b: two steps back and one to the left.
    let collision = &model.links[1].collisions[0];
    assert!(close(collision.link_from_shape, [-2.0, 1.0, 0.0], yaw(-FRAC_PI_2)));
    let placed = &world.links()[1];
    assert!(close(placed.world_from_link, [1.0, 2.0, 5.0], yaw(FRAC_PI_2)));
}

#[test]
fn a_frame_is_by_default_where_it_is_attached() {
    let world = read(
        "1.9",
        r#"<model name="m">
        <link name="a"><pose>0 0 1 0 0 0</pose>INERTIAL</link>
        <frame name="on_a" attached_to="a"><pose>0 0 1 0 0 0</pose></frame>
        <frame name="of_model" attached_to="a"><pose relative_to="__model__">0 0 1 0 0 0</pose></frame>
        <model name="inner"><pose relative_to="on_a">1 0 0 0 0 0</pose>
          <link name="b"><pose>0 0 1 0 0 0</pose>INERTIAL</link></model>
        <frame name="deep"><pose relative_to="inner::b">0 1 0 0 0 0</pose></frame>
        </model>"#,
    );
    let model = &world.models[0];
    assert!(close(model.frames[0].scope_from_frame, [0.0, 0.0, 2.0], Quat::IDENTITY));
    assert!(close(model.frames[1].scope_from_frame, [0.0, 0.0, 1.0], Quat::IDENTITY));
    assert!(close(model.models[0].parent_from_model, [1.0, 0.0, 2.0], Quat::IDENTITY));
    assert!(close(model.frames[2].scope_from_frame, [1.0, 1.0, 3.0], Quat::IDENTITY));
}

#[test]
fn a_placement_frame_is_what_the_pose_places() {
    let world = read(
        "1.8",
        r#"<model name="m" placement_frame="tip"><pose>10 0 0 0 0 1.5707963267948966</pose>
        <link name="a">INERTIAL</link>
        <frame name="tip"><pose>1 0 0 0 0 0</pose></frame></model>"#,
    );
    // Turned a quarter left, the tip at (1,0,0) stands a metre in y ahead of the origin.
    assert!(close(world.models[0].parent_from_model, [10.0, -1.0, 0.0], yaw(FRAC_PI_2)));
}

#[test]
fn a_joint_is_by_default_where_its_child_is() {
    let world = read(
        "1.9",
        r#"<model name="m">
        <link name="base">INERTIAL</link>
        <link name="arm"><pose>1 0 0 0 0 1.5707963267948966</pose>INERTIAL</link>
        <frame name="grip" attached_to="arm"><pose>1 0 0 0 0 0</pose></frame>
        <joint name="plain" type="revolute"><pose>0 0 1 0 0 0</pose>
          <parent>base</parent><child>arm</child><axis><xyz>1 0 0</xyz></axis></joint>
        <joint name="through_frame" type="fixed"><pose>0 1 0 0 0 0</pose>
          <parent>world</parent><child>grip</child></joint>
        <joint name="elsewhere" type="prismatic"><pose relative_to="base">0 0 0 0 0 0</pose>
          <parent>base</parent><child>arm</child>
          <axis><xyz expressed_in="arm">1 0 0</xyz></axis></joint>
        </model>"#,
    );
    let joints = &world.models[0].joints;
    assert!(close(joints[0].child_from_joint, [0.0, 0.0, 1.0], Quat::IDENTITY));
    assert_eq!(joints[1].child, "arm");
    assert_eq!(joints[1].parent, None);
    assert!(close(joints[1].child_from_joint, [1.0, 1.0, 0.0], Quat::IDENTITY));
    // The base seen from the arm: (1,0,0) back along the arm's own -y… and turned right.
    assert!(close(joints[2].child_from_joint, [0.0, 1.0, 0.0], yaw(-FRAC_PI_2)));
    let JointKind::Prismatic(axis) = &joints[2].kind else { panic!("prismatic") };
    assert!(axis.direction.distance(Vec3::Y) < 1e-9, "the arm's x is the base's y");
}

/// Up to 1.4 an axis was in the model's frame; 1.5 and 1.6 had a word for that; since 1.7
/// it is `expressed_in`. The same joint, four ways.
#[test]
fn an_axis_is_in_the_frame_its_version_says() {
    let axis_in = |version: &str, axis: &str| {
        let world = read(
            version,
            &format!(
                r#"<model name="m"><link name="a"><pose>0 0 0 0 0 1.5707963267948966</pose>INERTIAL</link>
                <joint name="j" type="revolute"><parent>world</parent><child>a</child>
                <axis>{axis}</axis></joint></model>"#
            ),
        );
        world.models[0].joints[0].kind.axes()[0].direction
    };
    let x = "<xyz>1 0 0</xyz>";
    let with_word = format!("{x}<use_parent_model_frame>true</use_parent_model_frame>");
    let model_x_seen_from_joint = Vec3::NEG_Y;
    assert!(axis_in("1.4", x).distance(model_x_seen_from_joint) < 1e-9);
    assert!(axis_in("1.5", x).distance(Vec3::X) < 1e-9);
    assert!(axis_in("1.6", &with_word).distance(model_x_seen_from_joint) < 1e-9);
    assert!(axis_in("1.7", x).distance(Vec3::X) < 1e-9);
    let expressed = "<xyz expressed_in='__model__'>1 0 0</xyz>";
    assert!(axis_in("1.9", expressed).distance(model_x_seen_from_joint) < 1e-9);
}

#[test]
fn joints_between_models_and_nested_names_are_found() {
    let world = read(
        "1.10",
        r#"<model name="a"><link name="l">INERTIAL</link></model>
        <model name="b"><model name="c"><pose>0 0 1 0 0 0</pose><link name="l">INERTIAL</link></model></model>
        <frame name="f" attached_to="b::c::l"><pose>0 0 1 0 0 0</pose></frame>
        <joint name="j" type="fixed"><parent>a::l</parent><child>b::c</child></joint>
        <headland:region name="r"><pose relative_to="b::c">0 0 1 0 0 0</pose>
          <geometry><sphere><radius>1</radius></sphere></geometry></headland:region>"#,
    );
    assert_eq!(world.joints[0].parent.as_deref(), Some("a::l"));
    assert_eq!(world.joints[0].child, "b::c::l", "a model stands for its canonical link");
    assert!(close(world.frames[0].scope_from_frame, [0.0, 0.0, 2.0], Quat::IDENTITY));
    assert!(close(world.regions[0].world_from_region, [0.0, 0.0, 2.0], Quat::IDENTITY));
}

#[test]
fn screws_limits_and_old_words() {
    let kind = |version: &str, kind: &str, inside: &str| {
        let world = read(
            version,
            &format!(
                r#"<model name="m"><link name="a">INERTIAL</link>
                <joint name="j" type="{kind}"><parent>world</parent><child>a</child>{inside}</joint></model>"#
            ),
        );
        world.models[0].joints[0].kind.clone()
    };
    let z = "<axis><xyz>0 0 1</xyz></axis>";
    let advance = |version: &str, pitch: &str| match kind(version, "screw", &format!("{z}{pitch}"))
    {
        JointKind::Screw { metres_per_radian, .. } => metres_per_radian,
        _ => panic!("screw"),
    };
    // Ten millimetres per turn, right-handed, in both of SDF's words.
    let per_radian = 0.01 / std::f64::consts::TAU;
    let new = advance("1.10", "<screw_thread_pitch>0.01</screw_thread_pitch>");
    let old = advance("1.6", "<thread_pitch>-628.3185307179587</thread_pitch>");
    assert!((new - per_radian).abs() < 1e-15 && (old - per_radian).abs() < 1e-15);

    let limited = "<axis><xyz>0 0 1</xyz><limit><lower>-1e16</lower><upper>0.5</upper>\
                   <effort>-1</effort><velocity>2</velocity></limit></axis>";
    let JointKind::Revolute(axis) = kind("1.4", "revolute", limited) else { panic!("revolute") };
    assert_eq!((axis.lower, axis.upper), (f64::NEG_INFINITY, 0.5));
    assert_eq!((axis.effort_max, axis.velocity_max), (f64::INFINITY, 2.0));
    let JointKind::Continuous(axis) = kind("1.9", "continuous", limited) else { panic!("cont.") };
    assert_eq!((axis.lower, axis.upper), (f64::NEG_INFINITY, f64::INFINITY));
}

#[test]
fn gravity_stands_where_the_version_puts_it() {
    let old = "<physics type='ode'><gravity>0 0 -1</gravity><max_step_size>0.004</max_step_size></physics>";
    let world = read("1.5", old);
    assert_eq!(world.gravity, Vec3::new(0.0, 0.0, -1.0));
    assert_eq!(world.physics.step.nanos(), 4_000_000);
    assert_eq!(world.physics.engine.as_deref(), Some("ode"));
    assert_eq!(read("1.6", "<gravity>0 0 -2</gravity>").gravity.z, -2.0);
    assert_eq!(read("1.9", "").gravity.z, -9.8);
    let two = "<physics name='a' type='ode'><max_step_size>0.1</max_step_size></physics>\
               <physics name='b' default='true' type='ignored'><max_step_size>0.2</max_step_size></physics>";
    let world = read("1.9", two);
    assert_eq!((world.physics.step.nanos(), world.physics.engine), (200_000_000, None));
}

/// A file that only includes a light gives the light, under the name that was asked for.
#[test]
fn a_light_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), format!("<sdf version='1.9'>{text}</sdf>"))
    };
    write("light.sdf", "<light name='sun' type='point'><pose>1 2 3 0 0 0</pose></light>").unwrap();
    write("pass.sdf", "<include><uri>light.sdf</uri></include>").unwrap();
    let text = "<sdf version='1.9'><world name='w'>\
                <include><uri>pass.sdf</uri><name>lamp</name></include></world></sdf>";
    let read = read_text(Source::new("t.sdf", text), folder.path(), &ReadOptions::default());
    let world = read.unwrap().world;
    assert_eq!(world.lights.len(), 1);
    assert_eq!(world.lights[0].name, "lamp");
    assert!(close(world.lights[0].scope_from_light, [1.0, 2.0, 3.0], Quat::IDENTITY));
}

/// Each frame one metre above the one before: none of them may cost a level of the stack.
#[test]
fn a_long_chain_of_frames_adds_up() {
    let n = 20_000;
    let frames: String = (0..n)
        .map(|i| {
            let base = if i == 0 { "__model__".to_string() } else { format!("f{}", i - 1) };
            format!("<frame name='f{i}'><pose relative_to='{base}'>0 0 1 0 0 0</pose></frame>")
        })
        .collect();
    let world = read(
        "1.9",
        &format!("<model name='m'><static>true</static><link name='l'/>{frames}</model>"),
    );
    assert_eq!(world.models[0].frames[n - 1].scope_from_frame.translation.z, n as f64);
}
