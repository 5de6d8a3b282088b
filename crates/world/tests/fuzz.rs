//! Bad input gets findings: never a panic, a hang or unbounded memory. Seeded and
//! bounded, so that every run tries the same.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use headland_base::{Diagnostic, Severity, Source};
use headland_world::resource::Resources;
use headland_world::{ReadOptions, read, read_text, sdf};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A bit of everything the reader knows.
const SEED: &str = r#"<?xml version="1.0"?>
<sdf version="1.9" xmlns:headland="urn:headland:sdf">
<world name="w">
<gravity>0 0 -9.8</gravity><physics name="p" type="ode"><max_step_size>0.001</max_step_size><headland:native><law>soft</law><integrator tolerance="1e-9">adaptive</integrator><surface first="a" second="b"><stiffness>1</stiffness></surface></headland:native></physics>
<include><uri>part.sdf</uri><name>part</name><pose relative_to="m">1 0 0 0 0 0</pose></include>
<frame name="mark" attached_to="m"><pose>1 2 3 0.1 0.2 0.3</pose></frame>
<light name="sun" type="directional"><diffuse>1 1 1 1</diffuse><direction>0 0 -1</direction></light>
<headland:region name="goal"><pose>1 0 0 0 0 0</pose><geometry><box><size>1 1 1</size></box></geometry></headland:region>
<plugin name="p" filename="f"><a>1</a></plugin>
<model name="m" canonical_link="b" placement_frame="f"><pose degrees="true">0 0 1 0 0 90</pose>
<headland:detail>articulated</headland:detail>
<link name="b"><inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>
<collision name="c"><geometry><polyline><point>0 0</point><point>1 0</point><point>0 1</point><height>1</height></polyline></geometry>
<surface><friction><ode><mu>0.5</mu></ode></friction><bounce><restitution_coefficient>0.5</restitution_coefficient></bounce></surface></collision>
<collision name="mesh"><geometry><mesh><uri>inline://x</uri><headland:vertices>0 0 0 1 0 0 0 1 0</headland:vertices><headland:triangles>0 1 2</headland:triangles></mesh></geometry></collision>
<collision name="hills"><geometry><heightmap><uri>inline://h</uri><headland:heights columns="2" rows="2">0 0 0 1</headland:heights></heightmap></geometry></collision>
<visual name="v"><geometry><capsule><radius>0.1</radius><length>1</length></capsule></geometry><material><ambient>1 0 0 1</ambient></material></visual>
<headland:twist>1 0 0 0 0 0</headland:twist></link>
<link name="t"><pose relative_to="f">0 0 0 0 0 0</pose><sensor name="s" type="imu"/></link>
<frame name="f" attached_to="b"><pose rotation_format="quat_xyzw">0 0 1 0 0 0 1</pose></frame>
<joint name="j" type="universal"><parent>b</parent><child>t</child>
<axis><xyz expressed_in="f">1 0 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis>
<axis2><xyz>0 1 0</xyz><dynamics><damping>0.1</damping></dynamics></axis2></joint>
<model name="inner"><link name="x"/></model>
<headland:actuator name="a" joint="j" type="position" kp="1" kv="2"/>
<headland:foot link="b"><pose relative_to="f">0 0 0 0 0 0</pose><size>1 1</size></headland:foot>
<joint name="roll" type="continuous"><parent>b</parent><child>inner::x</child><axis><xyz>0 1 0</xyz></axis></joint>
<headland:wheel joint="roll" radius="0.1"/><headland:touches>b inner::x</headland:touches>
<headland:contact_set name="s">b t</headland:contact_set>
<headland:controller type="player" rate="125"><role>striker</role></headland:controller>
<headland:contact_exclude first="b" second="inner::x"/>
<headland:contact_pair first="t" second="inner::x"/></model>
</world></sdf>"#;

const PART: &str = "<sdf version='1.6'><model name='q'><link name='l'/>\
                    <frame name='g'><pose frame='l'>0 0 0 0 0 0</pose></frame></model></sdf>";

/// Pieces to cut at: tags, names, numbers, everything between.
fn tokens() -> Vec<&'static str> {
    let is_edge = |c: char| "<>=\"/: \n".contains(c);
    let mut out = Vec::new();
    let mut rest = SEED;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(is_edge).filter(|at| *at > 0).unwrap_or(c.len_utf8());
        out.push(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

const GARBAGE: &[&str] = &[
    "nan",
    "inf",
    "-inf",
    "1e309",
    "-1e308",
    "1e308",
    "1e-320",
    "0",
    "-1",
    "99999999999999999999",
    "",
    " ",
    "é",
    "\u{0}",
    "\u{feff}",
    "<",
    ">",
    "</",
    "&",
    "&amp;",
    "&#0;",
    "]]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "<?x?>",
    "__model__",
    "world",
    "::",
    "m::m::m",
    "b::",
    "model",
    "link",
    "joint",
    "frame",
    "include",
    "pose",
    "merge=\"true\"",
    "relative_to=\"m\"",
    "relative_to=\"f\"",
    "<model name='m'>",
    "<link name='b'/>",
    "</model>",
    "<pose>",
    "true",
    "1.12",
    "1.4",
    "2",
];

fn read_text_in(folder: &Path, text: String) -> Result<(), Vec<Diagnostic>> {
    let options = ReadOptions {
        resources: Resources::new(vec![folder.to_path_buf()]),
        ..ReadOptions::default()
    };
    let source = Source::new("fuzz.sdf", text);
    let read = read_text(source, folder, &options)?;
    // Whatever is accepted can be written and read again.
    let again = Source::new("again.sdf", sdf::write(&read.world));
    match read_text(again, folder, &options) {
        Ok(again) => assert_eq!(again.world, read.world),
        Err(findings) => panic!("written, but refused: {}", findings[0].render(false)),
    }
    Ok(())
}

/// How many random cases a test tries: `PROPTEST_CASES` where it is set.
fn n_random(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn mutations_of_a_sound_world_give_findings_or_a_world() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("part.sdf"), PART).unwrap();
    assert_eq!(read_text_in(folder.path(), SEED.to_string()), Ok(()), "the seed itself is sound");
    let tokens = tokens();
    let n = tokens.len();
    let change = (0..n, 0..4usize, 0..GARBAGE.len(), 0..n);
    let changes = prop::collection::vec(change, 1..6);
    let config = Config { cases: n_random(3_000), failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let (n_read, n_refused) = (Cell::new(0), Cell::new(0));
    TestRunner::new_with_rng(config, rng)
        .run(&changes, |changes| {
            let mut words: Vec<&str> = tokens.clone();
            for (at, what, garbage, other) in changes {
                match what {
                    0 => words[at] = "",
                    1 => words[at] = GARBAGE[garbage],
                    2 => words[at] = tokens[other],
                    _ => words.insert(at, tokens[other]),
                }
            }
            match read_text_in(folder.path(), words.concat()) {
                Ok(()) => n_read.set(n_read.get() + 1),
                Err(findings) => {
                    n_refused.set(n_refused.get() + 1);
                    assert!(findings.iter().any(|d| d.severity == Severity::Error));
                    findings.iter().for_each(|d| assert!(!d.render(true).is_empty()));
                }
            }
            Ok(())
        })
        .unwrap();
    let (n_read, n_refused) = (n_read.get(), n_refused.get());
    // Of 3,000 some 100 are read; whoever asks for fewer may see none.
    let is_whole = n_read + n_refused >= 3_000;
    assert!(!is_whole || n_read > 50 && n_refused > 500, "{n_read} read, {n_refused} refused");
}

fn codes(text: String) -> Vec<&'static str> {
    let read = read_text(Source::new("t.sdf", text), Path::new(""), &ReadOptions::default());
    read.map(|read| read.findings)
        .unwrap_or_else(|findings| findings)
        .iter()
        .map(|d| d.code)
        .collect()
}

#[test]
fn deep_nesting_is_bounded() {
    let nested = |n: usize| {
        let open: String = (0..n).map(|i| format!("<model name='m{i}'>")).collect();
        format!("<sdf version='1.9'>{open}{}</sdf>", "</model>".repeat(n))
    };
    assert_eq!(codes(nested(100_000))[0], "too-deep");
    assert_eq!(codes(nested(150))[0], "too-deep");
    assert!(!codes(nested(30)).contains(&"too-deep"));
    assert_eq!(codes("<sdf version='1.9'>".repeat(1_000_000))[0], "too-deep");
}

#[test]
fn a_million_defects_are_counted() {
    let text =
        format!("<sdf version='1.9'><model name='m'>{}</model></sdf>", "<lonk/>".repeat(100_000));
    let found = codes(text);
    assert_eq!(found.len(), headland_base::Findings::MOST + 1);
    assert_eq!(found.last(), Some(&"more-findings"));
}

/// Twelve files that each include the next one ten times: a hundred thousand million models,
/// if nobody counts. Nobody reads that much of it, and what is said stays short.
#[test]
fn an_include_bomb_is_defused() {
    let n_files = 12;
    let sdf = |i: usize, inside: String| {
        let inside = if i + 1 < n_files { inside } else { "<link name='l'/>".to_string() };
        format!("<sdf version='1.9'><model name='m'>{inside}</model></sdf>")
    };
    let mjcf = |i: usize, inside: String| {
        let inside = if i + 1 < n_files { inside } else { "<worldbody/>".to_string() };
        format!("<mujoco>{inside}</mujoco>")
    };
    let sdf_include =
        |k: usize, next: &str| format!("<include><name>i{k}</name><uri>{next}</uri></include>");
    let mjcf_include = |_: usize, next: &str| format!("<include file='{next}'/>");
    type Include<'a> = &'a dyn Fn(usize, &str) -> String;
    type Around<'a> = &'a dyn Fn(usize, String) -> String;
    let formats: [(Include<'_>, Around<'_>); 2] = [(&sdf_include, &sdf), (&mjcf_include, &mjcf)];
    for (include, around) in formats {
        let folder = tempfile::tempdir().unwrap();
        for i in 0..n_files {
            let next = format!("f{}.xml", i + 1);
            let includes: String = (0..10).map(|k| include(k, &next)).collect();
            fs::write(folder.path().join(format!("f{i}.xml")), around(i, includes)).unwrap();
        }
        let findings = read(&folder.path().join("f0.xml"), &ReadOptions::default()).unwrap_err();
        assert!(findings.iter().any(|d| d.code == "too-many-includes"), "{findings:?}");
        assert!(findings.len() <= 10 * n_files, "{} findings", findings.len());
    }
}

/// The second include of a file may break a bound that the first did not: it says so,
/// and says nothing twice.
#[test]
fn bounds_are_heard_in_a_file_that_is_included_again() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let nested = |n: usize, inside: &str| {
        let open: String = (0..n).map(|i| format!("<model name='m{i}'>")).collect();
        format!("<sdf version='1.9'>{open}{inside}{}</sdf>", "</model>".repeat(n))
    };
    write("part.sdf", &nested(20, "<link name='l'/><gizmo/>"));
    let include = "<include><uri>part.sdf</uri><name>again</name></include>";
    let first = "<include><uri>part.sdf</uri><name>first</name></include>";
    let world = nested(30, include)
        .replace("<sdf version='1.9'>", &format!("<sdf version='1.9'><world name='w'>{first}"))
        .replace("</sdf>", "</world></sdf>");
    write("world.sdf", &world);
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let findings = match read(&folder.path().join("world.sdf"), &options) {
        Ok(read) => panic!("read, without {:?}", read.findings),
        Err(findings) => findings,
    };
    let count = |code| findings.iter().filter(|d| d.code == code).count();
    assert_eq!((count("too-deep"), count("unknown-element")), (1, 1), "{findings:?}");
}

#[test]
fn endless_outlines_are_refused() {
    let outline = |n: usize| {
        format!(
            "<polyline>{}<height>1</height></polyline>",
            "<point>0 0</point><point>1 0</point><point>0 1</point>".repeat(n)
        )
    };
    let shape = |outlines: String| {
        codes(format!(
            "<sdf version='1.9'><model name='m'><static>true</static><link name='l'>\
            <collision name='c'><geometry>{outlines}</geometry></collision></link></model></sdf>"
        ))
    };
    assert_eq!(shape(outline(1).repeat(1_000)), [] as [&str; 0]);
    assert_eq!(shape(outline(1).repeat(1_001)), ["too-many-points"]);
    assert_eq!(shape(outline(33_334)), ["too-many-points"]);
}

/// Counting lines for findings that nobody keeps would be quadratic.
#[test]
fn ten_thousand_joints_named_like_their_links_are_only_counted() {
    let parts: String = (0..10_000)
        .map(|i| format!("<link name='n{i}'/>\n<joint name='n{i}' type='fixed'><parent>world</parent><child>n{i}</child></joint>\n"))
        .collect();
    let found = codes(format!("<sdf version='1.6'><model name='m'>{parts}</model></sdf>"));
    assert!(found.iter().filter(|code| **code == "shared-name").count() >= 100, "{found:?}");
    assert!(found.contains(&"more-findings"));
}

#[test]
fn files_that_cannot_be_read_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("latin1.sdf"), b"<sdf version='1.9'>\xe9</sdf>").unwrap();
    fs::write(path("empty.sdf"), b"").unwrap();
    let code = |path: &Path| read(path, &ReadOptions::default()).unwrap_err()[0].code;
    assert_eq!(code(&path("latin1.sdf")), "not-utf8");
    assert_eq!(code(&path("empty.sdf")), "not-xml");
    assert_eq!(code(&path("gone.sdf")), "missing-file");
    assert_eq!(code(folder.path()), "not-a-file");
    assert_eq!(code(Path::new("/dev/zero")), "not-a-file");
    let huge = fs::File::create(path("huge.sdf")).unwrap();
    huge.set_len(1 << 30).unwrap(); // sparse: takes no room
    assert_eq!(code(&path("huge.sdf")), "too-large");
}

/// 250 defects are 200 told and 50 counted, wherever they are: in the file, in one it
/// includes, once or twice, of either format.
#[test]
fn what_is_too_much_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let gizmos = "<gizmo/>".repeat(250);
    write("part.sdf", &format!("<sdf version='1.9'><model name='m'>{gizmos}</model></sdf>"));
    let include = |name: &str| format!("<include><name>{name}</name><uri>part.sdf</uri></include>");
    let world = |inside: &str| format!("<sdf version='1.9'><world name='w'>{inside}</world></sdf>");
    write("once.sdf", &world(&include("a")));
    write("twice.sdf", &world(&(include("a") + &include("b"))));
    write("part.xml", &format!("<mujocoinclude>{gizmos}</mujocoinclude>"));
    write("model.xml", "<mujoco><include file='part.xml'/></mujoco>");
    for name in ["once.sdf", "twice.sdf", "model.xml"] {
        let findings = read(&folder.path().join(name), &ReadOptions::default()).unwrap_err();
        let (last, kept) = findings.split_last().unwrap();
        assert!(kept.iter().all(|d| d.code == "unknown-element"), "{name}");
        assert_eq!((kept.len(), last.message.as_str()), (200, "and 50 more like these"), "{name}");
    }
}
