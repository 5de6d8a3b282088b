//! A first state that somebody gives: a table of one row, or SDF's `<state>`.
//!
//! Both become keys and numbers, as the measurement has them, so that one list of names serves
//! all. In SDF poses are those of the world, as Gazebo writes them; `<velocity>` is linear, then
//! angular.

use headland_base::maths::PI;
use headland_base::{Diagnostic, SimTime};
use headland_record::Recording;
use headland_sim::Model;
use headland_world::World;
use roxmltree::{Document, Node};

use crate::replay::wrong_unit;
use crate::source::Names;

/// Keys and numbers.
pub type Given = Vec<(String, f64)>;

/// The one row of a table.
pub fn of_table(table: &Recording, name: &str, model: &Model) -> Result<Given, Vec<Diagnostic>> {
    let names = Names::of(model);
    let mut given = Given::new();
    let mut moments: Vec<SimTime> = Vec::new();
    for key in table.keys() {
        let Some(column) = table.column(&key) else { continue };
        // A key that the model does not have is refused where the state is used.
        let known = names.find(&key).map_or("", |source| source.unit(model));
        if let Some(fault) = wrong_unit(&key, column.unit, known) {
            return Err(vec![fault.note(format!("`{name}` says so"))]);
        }
        let there = column.times.iter().zip(column.values.iter()).filter(|(_, v)| v.is_finite());
        for (time, value) in there {
            moments.push(*time);
            given.push((key.clone(), *value));
        }
    }
    moments.sort_unstable();
    moments.dedup();
    match (given.is_empty(), moments.len()) {
        (true, _) => Err(vec![no_state(name)]),
        (false, 1) => Ok(given),
        (false, n) => {
            let message = format!("`{name}` has {n} moments, and a state is one");
            let help = "keep the row that the measurement starts with";
            Err(vec![Diagnostic::error("state-has-rows", message).help(help)])
        }
    }
}

fn no_state(name: &str) -> Diagnostic {
    Diagnostic::error("no-state", format!("`{name}` says nothing about a state")).help(
        "give a table of one row, `time,elbow/position,elbow/velocity`, or SDF with a <state>",
    )
}

/// The `<state>` of an SDF text.
pub fn of_sdf(text: &str, name: &str) -> Result<Given, Vec<Diagnostic>> {
    let bad = |fault: String| vec![Diagnostic::error("bad-state", format!("`{name}`: {fault}"))];
    let document = Document::parse(text).map_err(|fault| bad(fault.to_string()))?;
    let is_state = |node: &Node<'_, '_>| node.is_element() && node.tag_name().name() == "state";
    let state = document.descendants().find(is_state).ok_or_else(|| vec![no_state(name)])?;
    let mut given = Given::new();
    models(state, "", &mut given).map_err(bad)?;
    if given.is_empty() { Err(vec![no_state(name)]) } else { Ok(given) }
}

/// The `<state>` a world itself has; nothing where it has none.
pub fn of_world(world: &World) -> Result<Given, Vec<Diagnostic>> {
    let state = world.opaque.iter().find(|kept| kept.kind == "state");
    let Some(state) = state else { return Ok(Given::new()) };
    match of_sdf(&state.xml, "the world's <state>") {
        // One of clocks alone is Gazebo's, and says nothing here.
        Err(faults) if faults.iter().all(|fault| fault.code == "no-state") => Ok(Given::new()),
        told => told,
    }
}

/// Every model of a state, and those within. Parsers bound the nesting.
fn models(holder: Node<'_, '_>, scope: &str, given: &mut Given) -> Result<(), String> {
    for model in children(holder, "model") {
        let name = scoped(scope, named(model)?);
        pose(model, &name, given)?;
        for link in children(model, "link") {
            let link_name = scoped(&name, named(link)?);
            pose(link, &link_name, given)?;
            if let Some(velocity) = children(link, "velocity").next() {
                let [vx, vy, vz, wx, wy, wz] = numbers::<6>(velocity)?;
                let parts = [
                    "linear_vel/x",
                    "linear_vel/y",
                    "linear_vel/z",
                    "angular_vel/x",
                    "angular_vel/y",
                    "angular_vel/z",
                ];
                let all = parts.into_iter().zip([vx, vy, vz, wx, wy, wz]);
                given.extend(all.map(|(part, value)| (format!("{link_name}/{part}"), value)));
            }
        }
        for joint in children(model, "joint") {
            let joint_name = scoped(&name, named(joint)?);
            let angles: Vec<Node<'_, '_>> = children(joint, "angle").collect();
            for angle in &angles {
                let [value] = numbers::<1>(*angle)?;
                let is_degrees = angle.attribute("degrees") == Some("true");
                let value = if is_degrees { value * PI / 180.0 } else { value };
                let axis: usize =
                    angle.attribute("axis").unwrap_or("0").trim().parse().unwrap_or(0);
                let behind = match angles.len() {
                    1 => String::new(),
                    _ => format!("_axis{}", axis + 1),
                };
                given.push((format!("{joint_name}{behind}/position"), value));
            }
        }
        models(model, &name, given)?;
    }
    Ok(())
}

fn pose(element: Node<'_, '_>, name: &str, given: &mut Given) -> Result<(), String> {
    let Some(pose) = children(element, "pose").next() else { return Ok(()) };
    if let Some(frame) = pose.attribute("relative_to").filter(|frame| *frame != "world") {
        return Err(format!("the pose of `{name}` is relative to `{frame}`, and a state's is not"));
    }
    let mut put = |parts: &[&str], values: &[f64]| {
        let all = parts.iter().zip(values);
        given.extend(all.map(|(part, value)| (format!("{name}/pose/{part}"), *value)));
    };
    if pose.attribute("rotation_format") == Some("quat_xyzw") {
        put(&["x", "y", "z", "qx", "qy", "qz", "qw"], &numbers::<7>(pose)?);
        return Ok(());
    }
    let mut six = numbers::<6>(pose)?;
    if pose.attribute("degrees") == Some("true") {
        six[3..].iter_mut().for_each(|angle| *angle *= PI / 180.0);
    }
    put(&["x", "y", "z", "roll", "pitch", "yaw"], &six);
    Ok(())
}

fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn named<'a>(node: Node<'a, 'a>) -> Result<&'a str, String> {
    let name = node.attribute("name").filter(|name| !name.is_empty());
    name.ok_or_else(|| format!("a <{}> of the state has no name", node.tag_name().name()))
}

fn scoped(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_string() } else { format!("{scope}::{name}") }
}

fn numbers<const N: usize>(node: Node<'_, '_>) -> Result<[f64; N], String> {
    let text = node.text().unwrap_or_default();
    let all = text
        .split_whitespace()
        .map(|word| word.parse::<f64>().ok().filter(|value| value.is_finite()));
    let all: Option<Vec<f64>> = all.collect();
    let name = node.tag_name().name();
    all.and_then(|all| all.try_into().ok())
        .ok_or_else(|| format!("<{name}> `{:.60}` is not {N} numbers", text.trim()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use headland_record::csv::{TableOptions, read};

    #[test]
    fn a_state_of_sdf() {
        let text = "<sdf version='1.7'><world name='w'><state world_name='w'>\
            <sim_time>1 0</sim_time>\
            <model name='arm'><pose degrees='true'>1 2 3 0 0 90</pose>\
            <joint name='elbow'><angle axis='0'>0.25</angle></joint>\
            <link name='tip'><velocity>1 0 0 0 0 2</velocity></link>\
            <model name='hand'><joint name='u'><angle axis='0'>1</angle><angle axis='1'>2</angle>\
            </joint></model></model></state></world></sdf>";
        let given = of_sdf(text, "s.sdf").unwrap();
        let value = |key: &str| given.iter().find(|(k, _)| k == key).map(|(_, v)| *v);
        assert_eq!(value("arm/pose/y"), Some(2.0));
        assert_eq!(value("arm/pose/yaw"), Some(PI / 2.0));
        assert_eq!(value("arm::elbow/position"), Some(0.25));
        assert_eq!(value("arm::tip/angular_vel/z"), Some(2.0));
        assert_eq!(value("arm::hand::u_axis2/position"), Some(2.0));
        assert_eq!(given.len(), 6 + 1 + 6 + 2);
    }

    #[test]
    fn what_is_no_state_is_said() {
        let code = |text: &str| of_sdf(text, "s.sdf").unwrap_err()[0].code;
        assert_eq!(code("<sdf/>"), "no-state");
        assert_eq!(code("<sdf><state><model name='a'/></state></sdf>"), "no-state");
        assert_eq!(code("<sdf><sta"), "bad-state");
        assert_eq!(code("<state><model name='a'><pose>1 2 x</pose></model></state>"), "bad-state");
        assert_eq!(code("<state><model><pose>1 2 3 0 0 0</pose></model></state>"), "bad-state");
        let pose = "<pose relative_to='b'>1 2 3 0 0 0</pose>";
        assert_eq!(code(&format!("<state><model name='a'>{pose}</model></state>")), "bad-state");
    }

    #[test]
    fn a_state_is_one_row() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds/pendulum.sdf");
        let world = headland_world::read(&path, &Default::default()).expect("a world").world;
        let model = Model::compile(&Arc::new(world)).expect("compiles");
        let table = |text: &str| {
            let (recording, ..) = read(text.as_bytes(), "s.csv", &TableOptions::default());
            of_table(&recording, "s.csv", &model)
        };
        for (unit, code) in [("m", "units-differ"), ("furlong", "unknown-unit")] {
            let told = table(&format!("time,hinge/position [{unit}]\n0,1\n"));
            assert_eq!(told.unwrap_err()[0].code, code);
        }
        let given = table("time,elbow/pos [deg],ball/pose/x\n5,180,2\n").unwrap();
        assert_eq!(given, [("ball/pose/x".to_string(), 2.0), ("elbow/position".to_string(), PI)]);
        assert_eq!(table("time,a\n").unwrap_err()[0].code, "no-state");
        assert_eq!(table("time,a\n0,1\n1,2\n").unwrap_err()[0].code, "state-has-rows");
        assert_eq!(table("time,a,b\n0,1,\n0,,2\n").unwrap().len(), 2, "a row may be two lines");
    }
}
