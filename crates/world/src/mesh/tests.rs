//! One tetrahedron in every format, and files that mean harm.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::fmt::Write as _;

const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn stl_ascii() -> Vec<u8> {
    let mut text = String::from("solid t\n");
    for face in FACES {
        text += " facet normal 0 0 0\n  outer loop\n";
        for i in face {
            let [x, y, z] = CORNERS[i];
            writeln!(text, "   vertex {x:e} {y} {z}").unwrap();
        }
        text += "  endloop\n endfacet\n";
    }
    (text + "endsolid t\n").into_bytes()
}

fn stl_binary() -> Vec<u8> {
    let mut out = vec![b' '; 80];
    out.extend((FACES.len() as u32).to_le_bytes());
    for face in FACES {
        out.extend([0; 12]);
        out.extend(face.iter().flat_map(|i| CORNERS[*i]).flat_map(f32::to_le_bytes));
        out.extend([0; 2]);
    }
    out
}

fn obj() -> Vec<u8> {
    let mut text = String::from("mtllib none.mtl\no whole\n");
    for [x, y, z] in CORNERS {
        writeln!(text, "v {x} {y} {z}").unwrap();
    }
    for [a, b, c] in FACES {
        writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1).unwrap();
    }
    text.into_bytes()
}

/// The tetrahedron a tenth of its size in decimetres, moved away and back by two nodes,
/// and once more under another name. The scene and a node share an id, as exporters do it.
fn dae() -> Vec<u8> {
    let numbers: Vec<String> = CORNERS.iter().flatten().map(f32::to_string).collect();
    let indices: Vec<String> = FACES.iter().flatten().map(usize::to_string).collect();
    format!(
        r##"<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
        <asset><unit name="decimeter" meter="0.1"/><up_axis>Y_UP</up_axis></asset>
        <library_geometries><geometry id="g"><mesh>
          <source id="p"><float_array id="a" count="12">{}</float_array>
            <technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>
          <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
          <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>{}</p></triangles>
        </mesh></geometry></library_geometries>
        <library_nodes><node id="shared"><instance_geometry url="#g"/></node></library_nodes>
        <library_visual_scenes><visual_scene id="s">
          <node id="s" name="outer"><translate>0 0 -0.05</translate><rotate>0 0 1 90</rotate>
            <node name="whole"><rotate>0 0 1 -90</rotate>
              <matrix>10 0 0 0  0 10 0 0  0 0 10 0.05  0 0 0 1</matrix>
              <instance_geometry url="#g"/></node></node>
          <node name="far"><translate>100 0 0</translate><instance_node url="#shared"/></node>
        </visual_scene></library_visual_scenes>
        <scene><instance_visual_scene url="#s"/></scene></COLLADA>"##,
        numbers.join(" "),
        indices.join(" ")
    )
    .into_bytes()
}

fn gltf_buffer() -> Vec<u8> {
    let points = CORNERS.iter().flatten().flat_map(|x| x.to_le_bytes());
    points.chain(FACES.iter().flatten().flat_map(|i| (*i as u16).to_le_bytes())).collect()
}

fn gltf_json(buffer: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"name":"whole","mesh":0,"translation":[0,0,1],"children":[1]}},
                 {{"name":"far","mesh":0,"scale":[-1,1,1],"translation":[10,0,-1]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"_color":0}},"indices":1}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3",
                       "min":[0,0,0],"max":[1,2,3]}},
                     {{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":48}},
                       {{"buffer":0,"byteOffset":48,"byteLength":24}}],
        "buffers":[{{"byteLength":72{buffer}}}]}}"#
    )
}

fn gltf_embedded() -> Vec<u8> {
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(gltf_buffer());
    gltf_json(&format!(r#","uri":"data:application/octet-stream;base64,{data}""#)).into_bytes()
}

fn glb() -> Vec<u8> {
    let mut json = gltf_json("").into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let buffer = gltf_buffer();
    let mut out = b"glTF".to_vec();
    out.extend(2u32.to_le_bytes());
    out.extend((28 + json.len() as u32 + buffer.len() as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", &json), (b"BIN\0", &buffer)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(data);
    }
    out
}

fn every_format() -> [(&'static str, Vec<u8>); 6] {
    [
        ("t.stl", stl_ascii()),
        ("b.STL", stl_binary()),
        ("t.obj", obj()),
        ("t.dae", dae()),
        ("t.gltf", gltf_embedded()),
        ("t.glb", glb()),
    ]
}

fn load_bytes(
    name: &str,
    bytes: &[u8],
    submesh: Option<(&str, bool)>,
    scale: Vec3,
) -> Result<TriMesh, Diagnostic> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    load(&path, submesh, scale)
}

/// Six times the volume inside; positive when the triangles face outwards.
fn volume(mesh: &TriMesh) -> f64 {
    let corner = |i: u32| mesh.vertices()[i as usize];
    let six: f64 =
        mesh.triangles().iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2])))).sum();
    six / 6.0
}

fn bounds(mesh: &TriMesh) -> (Vec3, Vec3) {
    mesh.vertices()
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)))
}

#[test]
fn every_format_gives_the_same_tetrahedron() {
    for (name, bytes) in every_format() {
        let (submesh, shift) = match name {
            "t.dae" => (Some(("whole", false)), Vec3::ZERO),
            "t.gltf" | "t.glb" => (Some(("whole", false)), Vec3::Z),
            _ => (None, Vec3::ZERO),
        };
        let mesh = load_bytes(name, &bytes, submesh, Vec3::ONE).unwrap();
        assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (4, 4), "{name}");
        let (low, high) = bounds(&mesh);
        assert!((low - shift).length() < 1e-12, "{name} {low}");
        assert!((high - shift).distance(Vec3::new(1.0, 2.0, 3.0)) < 1e-12, "{name} {high}");
        assert!((volume(&mesh) - 1.0).abs() < 1e-12, "{name}");
    }
}

#[test]
fn instances_units_and_mirrors_are_unfolded() {
    let whole = load_bytes("t.dae", &dae(), None, Vec3::ONE).unwrap();
    assert_eq!(whole.triangles().len(), 8);
    assert!((bounds(&whole).1.x - 10.1).abs() < 1e-12);
    // The second node of the glTF is mirrored and stands under the first.
    let whole = load_bytes("t.gltf", &gltf_embedded(), None, Vec3::ONE).unwrap();
    assert!((bounds(&whole).1.x - 10.0).abs() < 1e-12);
    assert!((volume(&whole) - 2.0).abs() < 1e-12);
}

#[test]
fn scale_stretches_and_a_mirror_keeps_the_outside_outside() {
    for (scale, wanted) in [(Vec3::new(2.0, 3.0, 0.5), 3.0), (Vec3::new(-1.0, 1.0, 1.0), 1.0)] {
        let mesh = load_bytes("t.stl", &stl_binary(), None, scale).unwrap();
        assert!((volume(&mesh) - wanted).abs() < 1e-12);
    }
}

#[test]
fn a_centred_submesh_has_the_origin_in_its_middle() {
    let mesh = load_bytes("t.dae", &dae(), Some(("far", true)), Vec3::ONE);
    assert_eq!(mesh.unwrap_err().code, "no-submesh"); // the shared node has no such name
    let mesh = load_bytes("t.dae", &dae(), Some(("shared", true)), Vec3::ONE).unwrap();
    let (low, high) = bounds(&mesh);
    assert!((low + high).length() < 1e-12 && (high.z - 0.15).abs() < 1e-12);
    let missing = load_bytes("t.dae", &dae(), Some(("hole", false)), Vec3::ONE).unwrap_err();
    assert_eq!(missing.help.as_deref(), Some("did you mean `whole`?"));
}

#[test]
fn hostile_files_are_refused_with_words() {
    let with = |from: &str, to: &str, bytes: Vec<u8>| {
        String::from_utf8(bytes).unwrap().replacen(from, to, 1).into_bytes()
    };
    let outside = gltf_json(r#","uri":"../../etc/passwd""#).into_bytes();
    let cyclic = with(r#""children":[1]"#, r#""children":[0]"#, gltf_embedded());
    let self_instance = with(
        r##"<instance_geometry url="#g"/></node></library_nodes>"##,
        r##"<instance_node url="#shared"/></node></library_nodes>"##,
        dae(),
    );
    let cases = [
        ("t.stl", b"".to_vec(), "bad-mesh"),
        ("t.stl", b"solid x\nendsolid x\n".to_vec(), "empty-mesh"),
        ("t.stl", stl_binary()[..100].to_vec(), "bad-mesh"),
        ("t.obj", b"v 0 0 0\nf 1 2 3\n".to_vec(), "bad-mesh"),
        ("t.obj", b"v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n".to_vec(), "bad-mesh"),
        ("t.obj", b"v 0 0 0\nf -2147483648 1 1\n".to_vec(), "bad-mesh"),
        ("t.dae", b"<COLLADA>".to_vec(), "not-xml"),
        ("t.dae", b"<html/>".to_vec(), "bad-mesh"),
        ("t.dae", with("<p>0 2 1", "<p>0 2 99999999999", dae()), "bad-mesh"),
        ("t.dae", with("stride=\"3\"", "stride=\"18446744073709551615\"", dae()), "bad-mesh"),
        ("t.dae", self_instance, "bad-mesh"),
        ("t.gltf", b"{}".to_vec(), "bad-mesh"),
        ("t.gltf", outside, "bad-mesh"),
        ("t.gltf", cyclic, "bad-mesh"),
        ("t.gltf", with("\"count\":4", "\"count\":4000000000", gltf_embedded()), "bad-mesh"),
        (
            "t.gltf",
            with("\"byteOffset\":48", "\"byteOffset\":18446744073709551615", gltf_embedded()),
            "bad-mesh",
        ),
        ("t.glb", glb()[..40].to_vec(), "bad-mesh"),
        ("t.fbx", b"Kaydara".to_vec(), "unknown-mesh-format"),
    ];
    for (name, bytes, code) in cases {
        let found = load_bytes(name, &bytes, None, Vec3::ONE).expect_err(name);
        assert_eq!(found.code, code, "{name}: {found:?}");
    }
    let nan = load_bytes("t.stl", &stl_binary(), None, Vec3::new(f64::NAN, 1.0, 1.0));
    assert_eq!(nan.unwrap_err().code, "bad-mesh");
    assert_eq!(load(Path::new("/no/such.stl"), None, Vec3::ONE).unwrap_err().code, "bad-mesh");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases::n_random(400),
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever happens to the bytes, the answer is a mesh or a diagnostic.
    #[test]
    fn broken_bytes_never_break_us(
        which in 0usize..6,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        truncate in any::<bool>(),
    ) {
        let (name, mut bytes) = every_format()[which].clone();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if truncate {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(mesh) = load_bytes(name, &bytes, None, Vec3::ONE) {
            prop_assert!(!mesh.triangles().is_empty());
        }
    }
}

/// The library counts by the size of the file; the count in it must agree.
#[test]
fn a_binary_stl_holds_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let load = |head: &[u8], claimed: u32, tail: &[u8], n_cut: usize| {
        let mut bytes = stl_binary();
        bytes[..head.len()].copy_from_slice(head);
        bytes[80..84].copy_from_slice(&claimed.to_le_bytes());
        bytes.truncate(bytes.len() - n_cut);
        bytes.extend(tail);
        let path = folder.path().join("a.stl");
        std::fs::write(&path, bytes).unwrap();
        let loaded = load_noting(&path, None, Vec3::ONE);
        loaded.map(|(mesh, warning)| (mesh.triangles().len(), warning.map(|w| w.code)))
    };
    for head in [&b""[..], b"solid by a program"] {
        assert_eq!(load(head, 4, b"", 0).unwrap(), (4, None));
        assert_eq!(load(head, 4, b"\r\n", 0).unwrap(), (4, None));
        assert_eq!(load(head, 3, b"", 0).unwrap(), (3, Some("bytes-after-mesh")));
        assert_eq!(load(head, 4, b"more", 0).unwrap(), (4, Some("bytes-after-mesh")));
        for refused in
            [load(head, 4, b"", 50), load(head, 4, b"", 1), load(head, 1_000_000, b"", 0)]
        {
            let refused = refused.unwrap_err();
            assert_eq!(refused.code, "bad-mesh");
            assert!(refused.notes[0].starts_with("it says that it holds"), "{refused:?}");
        }
    }
}
