//! Numbers of a world written into the text it was read from: everything else stays as somebody
//! wrote it, comments above all.
//!
//! ```text
//! text ─ read ─► World ┐
//!                      ├─ numbers that differ ─ one by one into the text ─ read ─► the same World?
//! World, tuned ────────┘
//! ```
//!
//! What comes out is read again, and is given only where it is the world that was meant: numbers
//! that stand in an included file, or for which this has no place, are left to `write`.

use std::path::Path;

use headland_base::Source;
use roxmltree::{Document, Node};

use crate::parameter::{self, Parameter, Settings, Subject};
use crate::{ReadOptions, World, read_text};

/// The text with the numbers of `after`, or nothing where it is no SDF or that cannot be done by
/// numbers alone. It was read from one folder and will be from the other: what it includes may be
/// in one of them only.
pub fn edit(
    source: &str,
    [read_in, written_in]: [&Path; 2],
    options: &ReadOptions,
    after: &World,
) -> Option<String> {
    let is_sdf = Document::parse(source).is_ok_and(|xml| xml.root_element().has_tag_name("sdf"));
    let world_of = |text: &str, base_dir: &Path| {
        let read = read_text(Source::new("edited", text), base_dir, options).ok()?;
        Some(Subject { world: read.world, settings: Settings::default() })
    };
    let before = world_of(source, read_in).filter(|_| is_sdf)?;
    let after = Subject { world: after.clone(), settings: Settings::default() };
    let mut text = source.to_string();
    for number in parameter::list(&before.world) {
        let (old, new) = (number.get(&before), number.get(&after));
        if let (Some(place), Some(new)) = (place(&number), new.filter(|_| old != new)) {
            text = with_number(&text, &place, new)?;
        }
    }
    (world_of(&text, written_in)?.world == after.world).then_some(text)
}

/// Where a number stands.
#[derive(Debug, PartialEq)]
struct Place {
    /// Elements from the world, or from what holds the model: tags, with names where they have
    /// some.
    route: Vec<(String, Option<String>)>,
    /// Which word of the text it is; nothing where it is all of it.
    word: Option<usize>,
}

/// The place of a number that SDF has a word for; nothing for one that follows from others.
fn place(number: &Parameter) -> Option<Place> {
    let parts: Vec<&str> = number.whole_path().split('/').collect();
    let tags = |tags: &str| -> Vec<(String, Option<String>)> {
        tags.split('/').map(|tag| (tag.to_string(), None)).collect()
    };
    let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| *axis == name);
    let at = |route| Some(Place { route, word: None });
    let named = |tag: &str, name: &str| (tag.to_string(), Some(name.to_string()));
    let (model, rest) = match parts[..] {
        ["physics", "step"] => return at(tags("physics/max_step_size")),
        ["physics", "gravity", component] => {
            return Some(Place { route: tags("gravity"), word: Some(axis(component)?) });
        }
        ["model", model, ref rest @ ..] => (named("model", model), rest),
        _ => return None,
    };
    let inside = |first: (String, Option<String>), more: Vec<(String, Option<String>)>| {
        [model.clone(), first].into_iter().chain(more).collect::<Vec<_>>()
    };
    match *rest {
        ["link", link, "inertial", "mass"] => {
            at(inside(named("link", link), tags("inertial/mass")))
        }
        ["link", link, "inertial", "com", component] => {
            let route = inside(named("link", link), tags("inertial/pose"));
            Some(Place { route, word: Some(axis(component)?) })
        }
        ["link", link, "inertial", "inertia", one] if one != "trace" => {
            at(inside(named("link", link), tags(&format!("inertial/inertia/{one}"))))
        }
        ["joint", joint, group @ ("dynamics" | "limit"), one] if one != "armature" => {
            at(inside(named("joint", joint), tags(&format!("axis/{group}/{one}"))))
        }
        ["surface", link, shape, one] => {
            let tag = match one {
                "mu" | "mu2" => format!("surface/friction/ode/{one}"),
                "restitution" => "surface/bounce/restitution_coefficient".to_string(),
                _ => return None,
            };
            let mut route = inside(named("link", link), vec![named("collision", shape)]);
            route.extend(tags(&tag));
            at(route)
        }
        _ => None,
    }
}

/// The text with one number in its place; elements that are not there are put at the end of the
/// one they belong to.
fn with_number(text: &str, place: &Place, number: f64) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let mut node = document.root_element();
    if let Some(world) = node.children().find(|child| child.has_tag_name("world")) {
        node = world;
    }
    for (i, (tag, name)) in place.route.iter().enumerate() {
        let is_it = |child: &Node<'_, '_>| {
            child.has_tag_name(tag.as_str())
                && name.as_deref().is_none_or(|name| child.attribute("name") == Some(name))
        };
        let mut found = node.children().filter(is_it);
        match (found.next(), found.next()) {
            (Some(child), None) => node = child,
            // Of what has a name there is no other.
            (None, _) if name.is_none() && place.word.is_none() => {
                return inserted(text, node, &place.route[i..], number);
            }
            _ => return None,
        }
    }
    let written = node.children().find(|child| child.is_text())?.range();
    if node.children().count() != 1 {
        return None;
    }
    let old = &text[written.clone()];
    let new = match place.word {
        None => format!("{number}"),
        Some(word) => {
            let mut words: Vec<String> = old.split_whitespace().map(str::to_string).collect();
            *words.get_mut(word)? = format!("{number}");
            words.join(" ")
        }
    };
    Some(format!("{}{new}{}", &text[..written.start], &text[written.end..]))
}

/// The text with elements that were not there, at the end of `node`.
fn inserted(
    text: &str,
    node: Node<'_, '_>,
    route: &[(String, Option<String>)],
    number: f64,
) -> Option<String> {
    let whole = node.range();
    if text[whole.clone()].ends_with("/>") {
        return None;
    }
    let end = whole.start + text[whole].rfind("</")?;
    let mut new = format!("{number}");
    for (tag, _) in route.iter().rev() {
        new = format!("<{tag}>{new}</{tag}>");
    }
    // On a line of its own where the end of the element stands on one.
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[line..end];
    let new = match indent.trim().is_empty() && line > 0 {
        true => {
            // Lines end as those of the text do.
            let ending = if text[..line].ends_with("\r\n") { "\r\n" } else { "\n" };
            format!("  {new}{ending}{indent}")
        }
        false => new,
    };
    Some(format!("{}{new}{}", &text[..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::find;

    const TEXT: &str = r#"<?xml version="1.0"?>
<!-- A head. -->
<sdf version="1.11">
  <world name="w">
    <gravity>0 0 -9.81</gravity> <!-- here -->
    <model name="m">
      <link name="arm">
        <inertial>
          <pose>0.1 0 0 0 0 0</pose>
          <mass>1.0</mass> <!-- weighed on a Monday -->
          <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia>
        </inertial>
        <collision name="box">
          <geometry><sphere><radius>0.1</radius></sphere></geometry>
        </collision>
      </link>
      <joint name="hinge" type="revolute">
        <parent>world</parent>
        <child>arm</child>
        <axis>
          <xyz>0 1 0</xyz> <!-- measured -->
        </axis>
      </joint>
    </model>
  </world>
</sdf>
"#;

    fn tuned(paths: &[(&str, f64)]) -> World {
        let options = ReadOptions::default();
        let world = read_text(Source::new("t.sdf", TEXT), Path::new(""), &options).unwrap().world;
        let mut subject = Subject { world, settings: Settings::default() };
        for (path, value) in paths {
            for number in find(&subject.world, path).unwrap() {
                number.set(&mut subject, *value).unwrap();
            }
        }
        subject.world
    }

    /// Numbers that are there, words of a list, and elements that are not; nothing else changes.
    #[test]
    fn numbers_are_put_into_the_text_and_comments_stay() {
        let after = tuned(&[
            ("link/arm/inertial/mass", 1.25),
            ("link/arm/inertial/com/z", -0.3),
            ("joint/hinge/dynamics/damping", 0.08),
            ("joint/hinge/dynamics/friction", 0.5),
            ("surface/arm/mu*", 0.25),
            ("physics/gravity/z", -9.8),
        ]);
        let text = edit(TEXT, [Path::new(""); 2], &ReadOptions::default(), &after).unwrap();
        for wanted in [
            "<mass>1.25</mass> <!-- weighed on a Monday -->",
            "<pose>0.1 0 -0.3 0 0 0</pose>",
            "<dynamics><damping>0.08</damping><friction>0.5</friction></dynamics>",
            "<mu>0.25</mu><mu2>0.25</mu2>",
            "<gravity>0 0 -9.8</gravity> <!-- here -->",
            "<!-- A head. -->",
            "<xyz>0 1 0</xyz> <!-- measured -->",
        ] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        assert_eq!(text.lines().count(), TEXT.lines().count() + 2, "{text}");
    }

    /// Of a text whose lines end with a carriage return, new ones do too, and no other changes.
    #[test]
    fn lines_end_as_those_of_the_text_do() {
        let after = tuned(&[
            ("link/arm/inertial/mass", 1.25),
            ("joint/hinge/dynamics/damping", 0.08),
            ("surface/arm/mu*", 0.25),
        ]);
        let (options, folders) = (ReadOptions::default(), [Path::new(""); 2]);
        let plain = edit(TEXT, folders, &options, &after).unwrap();
        let returned = edit(&TEXT.replace('\n', "\r\n"), folders, &options, &after).unwrap();
        assert_eq!(returned, plain.replace('\n', "\r\n"));
    }

    /// What is no number of its own, or stands nowhere, is left to whoever writes all of it.
    #[test]
    fn what_has_no_place_is_not_edited() {
        let options = ReadOptions::default();
        let armature = tuned(&[("joint/hinge/dynamics/armature", 0.1)]);
        assert_eq!(edit(TEXT, [Path::new(""); 2], &options, &armature), None);
        let mut other = tuned(&[]);
        other.models[0].name = "another".to_string();
        assert_eq!(edit(TEXT, [Path::new(""); 2], &options, &other), None);
        assert_eq!(edit("<robot/>", [Path::new(""); 2], &options, &other), None);
        assert_eq!(edit(TEXT, [Path::new(""); 2], &options, &tuned(&[])).as_deref(), Some(TEXT));
    }

    /// Of another format nothing is given, though no number of it changed; nor of a text whose
    /// includes are not where it will be read.
    #[test]
    fn what_is_no_sdf_or_loses_its_includes_is_left_to_be_written() {
        let options = ReadOptions::default();
        let urdf = r#"<robot name="r"><link name="a"><inertial><mass value="1"/>
            <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"#;
        let same = read_text(Source::new("r.urdf", urdf), Path::new(""), &options).unwrap().world;
        assert_eq!(edit(urdf, [Path::new(""); 2], &options, &same), None);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("part.sdf"),
            TEXT.replace("<world name=\"w\">", "")
                .replace("</world>", "")
                .replace("<gravity>0 0 -9.81</gravity>", ""),
        )
        .unwrap();
        let whole = r#"<sdf version="1.11"><world name="w"><include><uri>part.sdf</uri></include>
            </world></sdf>"#;
        let [here, away] = [folder.path(), Path::new("")];
        let same = read_text(Source::new("w.sdf", whole), here, &options).unwrap().world;
        assert_eq!(edit(whole, [here, here], &options, &same).as_deref(), Some(whole));
        assert_eq!(edit(whole, [here, away], &options, &same), None);
    }
}
