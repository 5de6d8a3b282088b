//! Reading a world of 10,000 links costs less than ten times what its XML parser alone
//! takes on the same text. `cargo test --release -p headland-world --test speed -- --nocapture`
//! prints the ratio; a debug build checks a small world and only that it is read.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use headland_base::Source;
use headland_world::{ReadOptions, read_text};

/// Chains of ten links with joints, shapes and surfaces: what a warehouse of arms is like.
fn world_of(n_links: usize) -> String {
    let mut text = String::from("<sdf version=\"1.9\">\n<world name=\"many\">\n");
    for m in 0..n_links / 10 {
        _ = writeln!(text, "<model name=\"arm_{m}\">\n  <pose>{m} 0 0.5 0 0 0.1</pose>");
        for l in 0..10 {
            _ = writeln!(
                text,
                "  <link name=\"link_{l}\">
    <pose>0 0 {l}.25 0 0.01 0</pose>
    <inertial><mass>1.5</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.05</izz></inertia></inertial>
    <collision name=\"shape\">
      <geometry><cylinder><radius>0.05</radius><length>0.25</length></cylinder></geometry>
      <surface><friction><ode><mu>0.8</mu><mu2>0.8</mu2></ode></friction></surface>
    </collision>
    <visual name=\"look\">
      <geometry><cylinder><radius>0.05</radius><length>0.25</length></cylinder></geometry>
      <material><diffuse>0.8 0.2 0.2 1</diffuse></material>
    </visual>
  </link>"
            );
            if l > 0 {
                _ = writeln!(
                    text,
                    "  <joint name=\"joint_{l}\" type=\"revolute\"><parent>link_{}</parent><child>link_{l}</child>
    <axis><xyz>0 1 0</xyz><limit><lower>-1.5</lower><upper>1.5</upper></limit></axis></joint>",
                    l - 1
                );
            }
        }
        text.push_str("</model>\n");
    }
    text.push_str("</world>\n</sdf>\n");
    text
}

/// The quickest of several tries: what the machine can do when left alone.
fn quickest(n_tries: usize, mut run: impl FnMut()) -> Duration {
    let tries = (0..n_tries).map(|_| {
        #[expect(clippy::disallowed_methods, reason = "a benchmark looks at the clock")]
        let start = Instant::now();
        run();
        start.elapsed()
    });
    tries.min().expect("at least one try")
}

#[test]
fn reading_costs_less_than_ten_times_the_xml_parser() {
    let is_release = !cfg!(debug_assertions);
    let n_links = if is_release { 10_000 } else { 500 };
    let source = Source::new("many.sdf", world_of(n_links));
    let options = ReadOptions::default();
    let read = read_text(source.clone(), Path::new(""), &options).expect("a sound world");
    assert_eq!(read.world.links().len(), n_links);
    assert_eq!(read.world.joints().len(), n_links * 9 / 10);

    let parser = quickest(7, || {
        black_box(roxmltree::Document::parse(&source.text).expect("XML"));
    });
    let ours = quickest(7, || {
        black_box(read_text(source.clone(), Path::new(""), &options).expect("a sound world"));
    });
    let ratio = ours.as_secs_f64() / parser.as_secs_f64();
    println!(
        "{n_links} links, {:.1} MB: roxmltree {:.1} ms, read {:.1} ms, ratio {ratio:.2}",
        source.text.len() as f64 / 1e6,
        parser.as_secs_f64() * 1e3,
        ours.as_secs_f64() * 1e3,
    );
    if is_release {
        assert!(ratio < 10.0, "reading takes {ratio:.1} times the XML parser");
    }
}

/// One model with everything in it, and a chain of frames: no lookup may be quadratic.
#[test]
fn one_large_model_and_a_long_chain_of_frames_are_read_quickly() {
    let n = if cfg!(debug_assertions) { 2_000 } else { 20_000 };
    let mut text = String::from("<sdf version=\"1.9\"><model name=\"m\"><static>true</static>\n");
    for i in 0..n {
        let base = if i == 0 { "__model__".to_string() } else { format!("f{}", i - 1) };
        _ = writeln!(
            text,
            "<link name=\"l{i}\"/><frame name=\"f{i}\"><pose relative_to=\"{base}\">0 0 1 0 0 0</pose></frame>"
        );
    }
    text.push_str("</model></sdf>");
    let source = Source::new("chain.sdf", text);
    let mut height = 0.0;
    let took = quickest(1, || {
        let read = read_text(source.clone(), Path::new(""), &ReadOptions::default());
        let world = read.expect("a sound world").world;
        height = world.models[0].frames[n - 1].scope_from_frame.translation.z;
    });
    assert_eq!(height, n as f64);
    println!("{n} links and as many chained frames: {:.1} ms", took.as_secs_f64() * 1e3);
    assert!(took < Duration::from_secs(5), "{took:?}");
}
