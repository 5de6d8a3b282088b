//! Inertia from shapes, and meshes of included models, against closed forms.

use std::fs;
use std::path::Path;

use headland_base::{Source, Vec3};
use headland_world::{Geometry, InertiaOrigin, Inertial, ReadOptions, read, read_text, sdf};

fn inertial_of(link: &str, options: &ReadOptions) -> Inertial {
    let text =
        format!("<sdf version='1.11'><model name='m'><link name='a'>{link}</link></model></sdf>");
    let read =
        read_text(Source::new("t.sdf", text), Path::new(""), options).expect("a sound model");
    read.world.models[0].links[0].inertial.clone()
}

const BOX: &str = "<collision name='b'><pose>0 0 1 0 0 0</pose>\
                   <geometry><box><size>1 2 3</size></box></geometry></collision>";

/// m/12·(y²+z², x²+z², x²+y²) of a box of 6 m³.
fn assert_is_box(inertial: &Inertial, mass: f64) {
    let wanted = Vec3::new(13.0, 10.0, 5.0) * (mass / 12.0);
    let i = inertial.inertia;
    let found = Vec3::new(i.x_axis.x, i.y_axis.y, i.z_axis.z);
    assert!((inertial.mass - mass).abs() < 1e-9 * mass);
    assert!(found.distance(wanted) < 1e-9 * mass, "{found} for {wanted}");
    assert!(inertial.link_from_inertial.translation.distance(Vec3::Z) < 1e-12);
}

#[test]
fn auto_inertia_is_that_of_the_shapes() {
    let auto = |inside: &str, shapes: &str| {
        let link = format!("<inertial auto='true'>{inside}</inertial>{shapes}");
        inertial_of(&link, &ReadOptions::default())
    };
    let water = auto("", BOX);
    assert_is_box(&water, 6_000.0);
    assert_eq!(water.origin, InertiaOrigin::Derived { density: 1000.0 });
    assert_is_box(&auto("<density>10</density>", BOX), 60.0);
    assert_is_box(&auto("<mass>2</mass>", BOX), 2.0);
    let dense = BOX.replace("</collision>", "<density>100</density></collision>");
    assert_is_box(&auto("<density>10</density>", &dense), 600.0);
    // Two cubes of 1 m³, 3 and 1 kg, two metres apart: the centre is half a metre from the
    // heavy one, and about z the two point masses add 3·0.5² + 1·1.5² = 3.
    let cube = |name: &str, x: f64, density: f64| {
        format!(
            "<collision name='{name}'><pose>{x} 0 0 0 0 0</pose><density>{density}</density>\
             <geometry><box><size>1 1 1</size></box></geometry></collision>"
        )
    };
    let both = auto("", &format!("{}{}", cube("h", 0.0, 3.0), cube("l", 2.0, 1.0)));
    assert!((both.mass - 4.0).abs() < 1e-12);
    assert!((both.link_from_inertial.translation.x - 0.5).abs() < 1e-12);
    assert!((both.inertia.z_axis.z - (4.0 / 6.0 + 3.0)).abs() < 1e-12);
}

#[test]
fn inertia_is_derived_only_where_asked_and_not_given() {
    let asked = ReadOptions { derive_inertia: Some(10.0), ..ReadOptions::default() };
    let derived = inertial_of(BOX, &asked);
    assert_is_box(&derived, 60.0);
    assert_eq!(derived.origin, InertiaOrigin::Derived { density: 10.0 });
    assert_eq!(inertial_of(BOX, &ReadOptions::default()).origin, InertiaOrigin::Default);
    let given = "<inertial><mass>7</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>";
    let given = inertial_of(&format!("{given}{BOX}"), &asked);
    assert_eq!((given.mass, given.origin), (7.0, InertiaOrigin::Given));
}

const TETRAHEDRON: &str = "solid t
facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet
facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet
facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet
facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet
endsolid t\n";

/// A model names its mesh from its own folder; the world that includes it stands
/// elsewhere, and what is written there must still find the mesh.
#[test]
fn meshes_of_included_models_are_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("parts/rock/meshes")).unwrap();
    fs::write(path("parts/rock/meshes/rock.stl"), TETRAHEDRON).unwrap();
    let rock = "<sdf version='1.9'><model name='rock'><static>true</static><link name='l'>\
                <collision name='c'><geometry><mesh><uri>meshes/rock.stl</uri><scale>2 2 2</scale></mesh>\
                </geometry></collision></link></model></sdf>";
    fs::write(path("parts/rock/model.sdf"), rock).unwrap();
    let world = "<sdf version='1.9'><world name='w'>\
                 <include><uri>parts/rock</uri><name>a</name></include>\
                 <include><uri>parts/rock/model.sdf</uri><name>b</name></include></world></sdf>";
    fs::write(path("world.sdf"), world).unwrap();
    let first = read(&path("world.sdf"), &ReadOptions::default()).unwrap().world;
    let meshes: Vec<_> = first.links().iter().map(|l| &l.link.collisions[0].geometry).collect();
    for geometry in meshes {
        let Geometry::Mesh { uri, mesh, .. } = geometry else { panic!("a mesh") };
        assert_eq!(uri, "parts/rock/meshes/rock.stl");
        assert_eq!(mesh.triangles().len(), 4);
        assert_eq!(geometry.bounds(), Some((Vec3::ZERO, Vec3::splat(2.0))));
    }
    fs::write(path("written.sdf"), sdf::write(&first)).unwrap();
    assert_eq!(read(&path("written.sdf"), &ReadOptions::default()).unwrap().world, first);
}

/// The label is the density that was used: the shape's own where it says one, the mean of
/// several.
#[test]
fn a_derived_inertia_is_labelled_with_its_density() {
    let own = BOX.replace("<geometry>", "<density>5</density><geometry>");
    let asked = ReadOptions { derive_inertia: Some(1000.0), ..ReadOptions::default() };
    let cases = [
        (format!("<inertial auto='true'/>{own}"), 5.0, 30.0),
        (format!("<inertial auto='true'><density>7</density></inertial>{own}"), 5.0, 30.0),
        (format!("<inertial auto='true'><density>7</density></inertial>{BOX}"), 7.0, 42.0),
        (format!("{own}{}", BOX.replace("'b'", "'c'")), 502.5, 6030.0),
        (own.clone(), 5.0, 30.0),
    ];
    for (link, density, mass) in cases {
        let inertial = inertial_of(&link, &asked);
        let InertiaOrigin::Derived { density: label } = inertial.origin else {
            panic!("derived: {link}");
        };
        assert!((label - density).abs() < 1e-9, "{label} of {link}");
        assert!((inertial.mass - mass).abs() < 1e-9, "{} of {link}", inertial.mass);
    }
}

/// The same two cubes, once where the link's own frame puts them and once through a frame of
/// the model and through the other link: 3 kg at the origin and 1 kg two metres along x.
#[test]
fn shapes_are_in_their_places_before_they_are_weighed() {
    let cube = |name: &str, pose: &str, density: f64| {
        format!(
            "<collision name='{name}'>{pose}<density>{density}</density>\
             <geometry><box><size>1 1 1</size></box></geometry></collision>"
        )
    };
    let plain = [
        cube("heavy", "<pose>0 0 0 0 0 0</pose>", 3.0),
        cube("light", "<pose>2 0 0 0 0 0</pose>", 1.0),
    ];
    // The link stands at (5, 0, 1) and is turned a quarter about z: its x is the model's y.
    let framed = [
        cube("heavy", "<pose relative_to='aside'>5 0 0 0 0 0</pose>", 3.0),
        cube("light", "<pose relative_to='other'>5 3 1 0 0 0</pose>", 1.0),
    ];
    let asked = ReadOptions { derive_inertia: Some(1000.0), ..ReadOptions::default() };
    for (inertial, options) in [("<inertial auto='true'/>", &ReadOptions::default()), ("", &asked)]
    {
        let found = [&plain, &framed].map(|cubes| {
            let text = format!(
                "<sdf version='1.11'><model name='m'>\
                 <frame name='aside'><pose relative_to='__model__'>0 0 1 0 0 0</pose></frame>\
                 <link name='a'><pose>5 0 1 0 0 1.5707963267948966</pose>{inertial}{}</link>\
                 <link name='other'><pose>0 -1 0 0 0 0</pose><inertial><mass>1</mass><inertia>\
                 <ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>\
                 </model></sdf>",
                cubes.concat()
            );
            let source = Source::new("t.sdf", text);
            let read = read_text(source, Path::new(""), options).expect("a sound model");
            read.world.models[0].links[0].inertial.clone()
        });
        for inertial in found {
            let (centre, i) = (inertial.link_from_inertial.translation, inertial.inertia);
            assert!((inertial.mass - 4.0).abs() < 1e-12, "{}", inertial.mass);
            assert!(centre.distance(Vec3::new(0.5, 0.0, 0.0)) < 1e-12, "{centre}");
            // Each cube m/6; across x the two point masses add 3·0.5² + 1·1.5² = 3.
            let diagonal = Vec3::new(i.x_axis.x, i.y_axis.y, i.z_axis.z);
            let wanted = Vec3::new(0.0, 3.0, 3.0) + Vec3::splat(4.0 / 6.0);
            assert!(diagonal.distance(wanted) < 1e-12, "{diagonal}");
            assert_eq!(inertial.origin, InertiaOrigin::Derived { density: 2.0 });
        }
    }
}
