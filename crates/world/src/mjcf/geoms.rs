//! Geoms: shapes that touch and are seen, and the mass they give their body.

use std::path::Path;
use std::sync::Arc;

use headland_base::maths::{Vec2, sqrt};
use headland_base::{Diagnostic, Mat3, Quat, Severity, Transform, Vec3};
use mjcf_rs::assets::MeshInertia;
use mjcf_rs::body as mj;
use mjcf_rs::compiler::InertiaFromGeom;
use roxmltree::Node;

use super::Reader;
use super::bodies::{GeomNode, transform};
use super::left_out::inherited;
use crate::geometry::{Geometry, HeightGrid, TriMesh};
use crate::heightmap;
use crate::inertia::{self, InertiaOrigin, Inertial, Moments, outer};
use crate::sdf::inline::uri as inline_uri;
use crate::world::{Collision, Link, Material, Surface, Visual};
use crate::xml;

/// How large a plane without a size is drawn \[m\].
const ENDLESS: f64 = 100.0;

/// What MuJoCo gives a geom that says nothing \[kg/m³\].
const DENSITY: f64 = 1000.0;

/// Groups above this one are not shown unless asked for; by custom they are what touches.
const LAST_GROUP_SHOWN: i32 = 2;

impl Reader<'_> {
    /// Adds a body's geoms to its link: those with a contact bit touch, those in a group
    /// that is shown are seen.
    pub(super) fn shapes(
        &mut self,
        link: &mut Link,
        geoms: &[mj::Geom],
        nodes: &[GeomNode<'_, '_>],
    ) {
        for (k, (geom, at)) in geoms.iter().zip(nodes).enumerate() {
            let touches = geom.contype != 0 || geom.conaffinity != 0;
            let is_seen = geom.group <= LAST_GROUP_SHOWN;
            if !touches && !is_seen {
                continue;
            }
            let Some((link_from_shape, geometry)) = self.shape(geom, at, touches) else { continue };
            let name = geom.name.clone().unwrap_or_else(|| match k {
                0 => format!("{}_geom", link.name),
                _ => format!("{}_geom_{k}", link.name),
            });
            if is_seen {
                link.visuals.push(Visual {
                    name: name.clone(),
                    link_from_shape,
                    geometry: geometry.clone(),
                    material: self.material(geom),
                    transparency: 0.0,
                    cast_shadows: true,
                });
            }
            if touches {
                let surface = self.surface(geom, at.node);
                link.collisions.push(Collision { name, link_from_shape, geometry, surface });
            }
        }
        crate::massless::number_repeats(link.collisions.iter_mut().map(|c| &mut c.name));
        crate::massless::number_repeats(link.visuals.iter_mut().map(|v| &mut v.name));
    }

    fn surface(&mut self, geom: &mj::Geom, node: Node<'_, '_>) -> Surface {
        let may_touch = !self.flags.is_off("contact");
        let (contype, conaffinity) =
            if may_touch { (geom.contype, geom.conaffinity) } else { (0, 0) };
        // Of a pair the larger dimension counts: what only pushes its own kind rubs on a floor that
        // rubs. A surface has one friction, and the floor matters more than the robot itself.
        let only_pushes = geom.condim == 1 && !self.meets_friction(geom);
        if geom.condim == 1 && !only_pushes {
            let (count, first) = &mut self.notes.rubbing;
            *count += 1;
            first.get_or_insert_with(|| self.xml.place(node));
        }
        Surface {
            mu: Some(if only_pushes { 0.0 } else { geom.friction[0] }),
            // Said even where it is MuJoCo's default of 1: ours is every bit of SDF's 16.
            collide_bitmask: Some(conaffinity),
            category_bitmask: (contype != conaffinity).then_some(contype),
            ..Surface::default()
        }
    }

    /// Whether it may touch a geom whose contacts have more than one dimension.
    fn meets_friction(&self, geom: &mj::Geom) -> bool {
        let meets = |(contype, conaffinity): &(u32, u32)| {
            geom.contype & conaffinity != 0 || contype & geom.conaffinity != 0
        };
        self.rubbing_masks.iter().any(meets)
    }

    fn material(&self, geom: &mj::Geom) -> Material {
        let named = geom.material.as_deref().and_then(|name| self.model.assets.material(name));
        let rgba = geom.rgba.or(named.and_then(|material| material.rgba));
        let texture = named
            .and_then(|material| material.texture.as_deref())
            .and_then(|name| self.model.assets.texture(name))
            .and_then(|texture| texture.file.clone());
        Material { ambient: rgba, diffuse: rgba, texture, ..Material::default() }
    }

    /// A geom's shape and where it is in its body; `None`, with a finding, where it has none.
    fn shape(
        &mut self,
        geom: &mj::Geom,
        at: &GeomNode<'_, '_>,
        touches: bool,
    ) -> Option<(Transform, Geometry)> {
        let mut size = Vec3::from_array(geom.size);
        let mut pose = transform(&geom.pose);
        if let Some(ends) = geom.fromto
            && matches!(
                geom.type_,
                mj::GeomType::Capsule
                    | mj::GeomType::Cylinder
                    | mj::GeomType::Box
                    | mj::GeomType::Ellipsoid
            )
        {
            let body_from_frame = if at.in_frame { pose } else { Transform::IDENTITY };
            let (along, half_length) = between(ends);
            pose = body_from_frame * along;
            match geom.type_ {
                mj::GeomType::Capsule | mj::GeomType::Cylinder => size.y = half_length,
                _ => (size.y, size.z) = (size.x, half_length),
            }
        }
        let node = at.node;
        let positive = |used: &[f64]| used.iter().all(|x| *x > 0.0);
        let (geometry, used): (Geometry, Vec<f64>) = match geom.type_ {
            mj::GeomType::Plane => {
                let drawn = |half: f64| if half > 0.0 { 2.0 * half } else { ENDLESS };
                let size = Vec2::new(drawn(size.x), drawn(size.y));
                (Geometry::Plane { normal: Vec3::Z, size }, Vec::new())
            }
            _ if geom.type_ != mj::GeomType::Mesh && geom.mesh.is_some() => {
                let message = "a geom fitted to a mesh is not read";
                let help =
                    "give its `size` and `pos`, or let the mesh itself touch: `type=\"mesh\"`";
                let diagnostic = Diagnostic::error("unsupported-geom", message).help(help);
                self.problem(diagnostic, node, touches);
                return None;
            }
            mj::GeomType::Sphere => (Geometry::Sphere { radius: size.x }, vec![size.x]),
            mj::GeomType::Capsule => {
                (Geometry::Capsule { radius: size.x, length: 2.0 * size.y }, vec![size.x, size.y])
            }
            mj::GeomType::Cylinder => {
                (Geometry::Cylinder { radius: size.x, length: 2.0 * size.y }, vec![size.x, size.y])
            }
            mj::GeomType::Ellipsoid => {
                (Geometry::Ellipsoid { radii: size }, size.to_array().to_vec())
            }
            mj::GeomType::Box => (Geometry::Box { size: size * 2.0 }, size.to_array().to_vec()),
            mj::GeomType::Mesh => {
                let (geom_from_file, geometry) = self.mesh(geom, node, touches)?;
                pose = pose * geom_from_file;
                (geometry, Vec::new())
            }
            mj::GeomType::Hfield => (self.hfield(geom, node, touches)?, Vec::new()),
            mj::GeomType::Sdf => {
                let message = "a geom given by a distance function is not read";
                let help = "give it a mesh: `type=\"mesh\"`";
                let diagnostic = Diagnostic::error("unsupported-geom", message).help(help);
                self.problem(diagnostic, node, touches);
                return None;
            }
        };
        if !positive(&used) {
            let kind = geometry.kind();
            let found = inherited(node, "size").map_or(0, |text| text.split_whitespace().count());
            let wanted = if geom.fromto.is_some() { 1 } else { used.len() };
            let diagnostic = if found < wanted {
                let plural = if wanted == 1 { "size" } else { "sizes" };
                let message = format!("a {kind} takes {wanted} {plural}, found {found}");
                Diagnostic::error("wrong-count", message)
            } else {
                let message = format!("the sizes of this {kind} must be positive");
                Diagnostic::error("not-positive", message)
            };
            self.problem(diagnostic, node, true);
            return None;
        }
        Some((pose, geometry))
    }

    /// An error where the shape touches, a warning where it is only seen.
    fn problem(&mut self, mut diagnostic: Diagnostic, node: Node<'_, '_>, touches: bool) {
        if !touches {
            diagnostic.severity = Severity::Warning;
        }
        if self.told.insert((diagnostic.code, node.range().start)) {
            let place = self.xml.place(node);
            self.xml.findings.push(diagnostic.at(place));
        }
    }

    /// A mesh, and where the file's own frame is in the geom's: `refpos` and `refquat` say
    /// which point and direction of the file is the geom's origin.
    fn mesh(
        &mut self,
        geom: &mj::Geom,
        node: Node<'_, '_>,
        touches: bool,
    ) -> Option<(Transform, Geometry)> {
        let model = self.model;
        let name = geom.mesh.as_deref().unwrap_or_default();
        let Some(asset) = model.assets.mesh(name) else {
            let known = model.assets.meshes.iter().filter_map(|mesh| mesh.name.as_deref());
            let diagnostic =
                Diagnostic::error("no-such-mesh", format!("there is no mesh `{name}`"))
                    .help_maybe(self.xml.findings.suggestion(name, known));
            self.problem(diagnostic, node, true);
            return None;
        };
        self.used_meshes.insert(name.to_string());
        let scale = Vec3::from_array(asset.scale);
        let mut geom_from_file = transform(&asset.refpose).inverse();
        let is_turned = geom_from_file.rotation != Quat::IDENTITY;
        let loaded = if is_turned && scale != Vec3::splat(scale.x) {
            let message = "a mesh turned by `refquat` and stretched by axis is not read";
            Err(Diagnostic::error("unsupported-mesh", message))
        } else {
            match model.resolve_mesh_file(asset, self.base_dir) {
                Some(path) if !path.exists() => Err(missing(&path)),
                Some(path) => self.meshes.load(&path, None, scale),
                None => inline(asset, scale).map(|mesh| (mesh, None)),
            }
        };
        geom_from_file.translation *= scale;
        match loaded {
            Ok((mesh, warning)) => {
                if let Some(warning) = warning {
                    self.problem(warning, node, false);
                }
                // Named as seen from the model's own folder, where it is looked for again.
                let path = model.resolve_mesh_file(asset, Path::new(""));
                let uri = path.map_or_else(|| inline_uri(name), |path| path.display().to_string());
                let geometry = Geometry::Mesh { uri, scale, submesh: None, mesh, convex: true };
                Some((geom_from_file, geometry))
            }
            Err(diagnostic) => {
                self.problem(diagnostic, node, touches);
                None
            }
        }
    }

    /// Files of meshes that no geom uses: the model is the same without them, yet MuJoCo
    /// refuses it.
    pub(super) fn unused_meshes(&mut self, root: Node<'_, '_>) {
        let model = self.model;
        let nodes: Vec<Node<'_, '_>> = xml::children(root, "asset")
            .flat_map(|section| section.children().filter(|n| xml::is_named(*n, "mesh")))
            .collect();
        if nodes.len() != model.assets.meshes.len() {
            return; // a mesh that cannot be matched has no place to point at
        }
        for (asset, node) in model.assets.meshes.iter().zip(nodes) {
            // A mesh without a name has that of its file.
            let stem = || Some(Path::new(asset.file.as_ref()?).file_stem()?.to_str()?.to_string());
            let name = asset.name.clone().or_else(stem);
            let is_used = name.is_some_and(|name| self.used_meshes.contains(&name));
            let path = model.resolve_mesh_file(asset, self.base_dir);
            if let Some(path) = path.filter(|path| !is_used && !path.exists()) {
                let mut diagnostic = missing(&path).note("no geom uses this mesh");
                diagnostic.severity = Severity::Warning;
                let place = self.xml.attribute_place(node, "file");
                self.xml.findings.push(diagnostic.at(place));
            }
        }
    }

    fn hfield(&mut self, geom: &mj::Geom, node: Node<'_, '_>, touches: bool) -> Option<Geometry> {
        let model = self.model;
        let name = geom.hfield.as_deref().unwrap_or_default();
        let Some(asset) = model.assets.hfield(name) else {
            let message = format!("there is no hfield `{name}`");
            self.problem(Diagnostic::error("no-such-hfield", message), node, true);
            return None;
        };
        let [half_x, half_y, height, _] = asset.size;
        let size = Vec3::new(2.0 * half_x, 2.0 * half_y, height);
        let compiler = &model.compiler;
        let hfield_dir = compiler.mesh_dir.as_ref().or(compiler.asset_dir.as_ref());
        let hfield_dir = Path::new(hfield_dir.map_or("", String::as_str));
        let loaded = match &asset.file {
            Some(file) => {
                let path = self.base_dir.join(hfield_dir).join(file);
                if path.exists() { heightmap::load(&path, size) } else { Err(missing(&path)) }
            }
            None => flat_or_given(asset),
        };
        match loaded.map(|grid| (stretched(&grid, height), grid)) {
            Ok((heights, as_loaded)) => Some(Geometry::Heightmap {
                // A file that was stretched says something else.
                uri: match &asset.file {
                    Some(file) if heights == as_loaded => {
                        hfield_dir.join(file).display().to_string()
                    }
                    _ => inline_uri(name),
                },
                size,
                position: Vec3::ZERO,
                heights: Arc::new(heights),
            }),
            Err(diagnostic) => {
                self.problem(diagnostic, node, touches);
                None
            }
        }
    }

    /// A body's mass and inertia: as given, or from its geoms.
    pub(super) fn inertial(
        &mut self,
        id: usize,
        nodes: &[GeomNode<'_, '_>],
        node: Node<'_, '_>,
        is_static: bool,
    ) -> Inertial {
        let body = &self.model.bodies[id].body;
        let given = match &body.inertial {
            Some(given) if self.model.compiler.inertia_from_geom != InertiaFromGeom::True => {
                given_inertia(given)
            }
            _ if self.model.compiler.inertia_from_geom == InertiaFromGeom::False => massless(),
            _ if is_static => Inertial::default(),
            _ => self.inertia_of_geoms(&body.geoms, nodes, node),
        };
        // Of what moves, the check of the finished world tells it.
        if is_static && given.mass < 0.0 {
            let place = xml::child(node, "inertial")
                .map_or_else(|| self.xml.place(node), |n| self.xml.attribute_place(n, "mass"));
            let message = format!("a mass cannot be {}", given.mass);
            self.xml.findings.push(Diagnostic::error("bad-mass", message).at(place));
        }
        let compiler = &self.model.compiler;
        bounded(given, compiler.bound_mass, compiler.bound_inertia, compiler.balance_inertia)
    }

    fn inertia_of_geoms(
        &mut self,
        geoms: &[mj::Geom],
        nodes: &[GeomNode<'_, '_>],
        body: Node<'_, '_>,
    ) -> Inertial {
        let (mut whole, mut volume) = (Moments::default(), 0.0);
        let mut is_guess = false; // a geom is missing, so the sum proves nothing
        for (geom, at) in geoms.iter().zip(nodes) {
            let density = geom.density.unwrap_or(DENSITY);
            let is_weightless = geom.mass == Some(0.0) || (geom.mass.is_none() && density == 0.0);
            let has_no_inside = matches!(geom.type_, mj::GeomType::Plane | mj::GeomType::Hfield);
            if is_weightless || has_no_inside {
                continue;
            }
            let weight = geom.mass.map_or(("density", density), |mass| ("mass", mass));
            if !(weight.1 > 0.0 && weight.1.is_finite()) {
                let message = format!("the {} of a geom cannot be {}", weight.0, weight.1);
                self.problem(Diagnostic::error("bad-mass", message), at.node, true);
                is_guess = true;
                continue;
            }
            let Some((pose, geometry)) = self.shape(geom, at, true) else {
                is_guess = true;
                continue;
            };
            let moments = match &geometry {
                Geometry::Mesh { mesh, .. } => self.mesh_moments(geom, mesh),
                other => Moments::of(other),
            };
            match moments {
                Ok(moments) => {
                    let density = geom.mass.map_or(density, |mass| mass / moments.volume);
                    volume += moments.volume;
                    whole.add(&moments.moved(&pose).times(density));
                }
                Err(why) => {
                    let kind = geometry.kind();
                    let diagnostic = Diagnostic::error(
                        "no-volume",
                        format!("no mass can be derived from this {kind}"),
                    )
                    .note(why)
                    .help("give the body an <inertial>");
                    self.problem(diagnostic, at.node, true);
                    is_guess = true;
                }
            }
        }
        if is_guess {
            return Inertial::stand_in();
        }
        if whole.volume <= 0.0 {
            return massless();
        }
        let (mass, centre, inertia) = whole.at_density(1.0);
        if !(mass.is_finite() && centre.is_finite() && inertia.is_finite()) {
            self.xml.error("no-volume", "its geoms are too large to give a mass", body);
            return massless();
        }
        Inertial {
            mass,
            link_from_inertial: Transform::from_translation(centre),
            inertia,
            origin: InertiaOrigin::Derived { density: mass / volume },
        }
    }
}

impl Reader<'_> {
    /// Where the mass of a mesh is, as its asset's `inertia` says: `legacy`, MuJoCo's
    /// default, `exact`, or `shell`.
    fn mesh_moments(&self, geom: &mj::Geom, mesh: &TriMesh) -> Result<Moments, String> {
        let asset = geom.mesh.as_deref().and_then(|name| self.model.assets.mesh(name));
        match asset.map(|asset| asset.inertia) {
            Some(MeshInertia::Exact) => Moments::of_mesh(mesh),
            Some(MeshInertia::Shell) => shell_moments(mesh),
            // `mjcf-rs` takes a mesh that says nothing for one that says `convex`.
            Some(MeshInertia::Convex) if self.says_convex => {
                Err("the mass of its convex hull is not computed".into())
            }
            _ => legacy_moments(mesh),
        }
    }
}

/// Pyramids from the middle of the surface to each triangle, every one counted as
/// positive: too much for a hollow shape, but it needs no closed surface.
fn legacy_moments(mesh: &TriMesh) -> Result<Moments, String> {
    let corners: Vec<[Vec3; 3]> =
        mesh.triangles().iter().map(|t| t.map(|i| mesh.vertices()[i as usize])).collect();
    let area_of = |[a, b, c]: &[Vec3; 3]| {
        let normal = (*b - *a).cross(*c - *a);
        sqrt(normal.dot(normal)) * 0.5
    };
    let pyramid =
        |[a, b, c]: &[Vec3; 3], tip: Vec3| ((*a - tip).dot((*b - tip).cross(*c - tip)) / 6.0).abs();
    let (mut area, mut middle) = (0.0, Vec3::ZERO);
    for triangle in &corners {
        area += area_of(triangle);
        middle += (triangle[0] + triangle[1] + triangle[2]) * (area_of(triangle) / 3.0);
    }
    let middle = middle / area;
    let (mut volume, mut first) = (0.0, Vec3::ZERO);
    for triangle in &corners {
        let part = pyramid(triangle, middle);
        volume += part;
        first += (triangle[0] + triangle[1] + triangle[2] + middle) * (part / 4.0);
    }
    if !(volume > 0.0 && volume.is_finite()) {
        return Err(format!("its volume is {volume} m³"));
    }
    // Mass and second moments are then taken from the centre of mass found so.
    let centre = first / volume;
    let (mut volume, mut about_centre) = (0.0, Mat3::ZERO);
    for triangle in &corners {
        let part = pyramid(triangle, centre);
        volume += part;
        let [a, b, c] = triangle.map(|p| p - centre);
        let sum = a + b + c;
        let products = [a, b, c, sum].iter().fold(Mat3::ZERO, |m, p| m + outer(*p, *p));
        about_centre += products * (part / 20.0);
    }
    let first = centre * volume;
    Ok(Moments { volume, first, second: about_centre + outer(centre, centre) * volume })
}

/// Mass on the surface alone, by its area.
fn shell_moments(mesh: &TriMesh) -> Result<Moments, String> {
    let mut whole = Moments::default();
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|i| mesh.vertices()[i as usize]);
        let (normal, sum) = ((b - a).cross(c - a), a + b + c);
        let area = sqrt(normal.dot(normal)) * 0.5;
        let products = [a, b, c, sum].iter().fold(Mat3::ZERO, |m, p| m + outer(*p, *p));
        whole.add(&Moments {
            volume: area,
            first: sum * (area / 3.0),
            second: products * (area / 12.0),
        });
    }
    if whole.volume > 0.0 { Ok(whole) } else { Err("its surface has no area".into()) }
}

fn massless() -> Inertial {
    Inertial { mass: 0.0, inertia: Mat3::ZERO, origin: InertiaOrigin::Given, ..Inertial::default() }
}

fn given_inertia(given: &mj::Inertial) -> Inertial {
    let inertia = match given.inertia {
        mj::InertiaSpec::Diagonal(d) => Mat3::from_diagonal(Vec3::from_array(d)),
        mj::InertiaSpec::Full([xx, yy, zz, xy, xz, yz]) => {
            Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
        }
    };
    Inertial {
        mass: given.mass,
        link_from_inertial: transform(&given.pose),
        inertia,
        origin: InertiaOrigin::Given,
    }
}

/// The compiler's `boundmass`, `boundinertia` and `balanceinertia`; they speak of principal
/// moments, so the inertia is turned to its own axes first where one of them bites.
fn bounded(given: Inertial, least_mass: f64, least_moment: f64, balance: bool) -> Inertial {
    if least_mass <= 0.0 && least_moment <= 0.0 && !balance {
        return given;
    }
    let (mut moments, axes) = inertia::principal(&given.inertia);
    moments.iter_mut().for_each(|moment| *moment = moment.max(least_moment));
    let [a, b, c] = moments;
    if balance && (a + b < c || a + c < b || b + c < a) {
        moments = [(a + b + c) / 3.0; 3];
    }
    Inertial {
        mass: given.mass.max(least_mass),
        inertia: axes * Mat3::from_diagonal(Vec3::from_array(moments)) * axes.transpose(),
        ..given
    }
}

/// The frame in the middle of two points with z along them, and half their distance.
fn between(ends: [f64; 6]) -> (Transform, f64) {
    let (from, to) = (Vec3::new(ends[0], ends[1], ends[2]), Vec3::new(ends[3], ends[4], ends[5]));
    let along = from - to;
    let length = sqrt(along.dot(along));
    let rotation = if length > 0.0 { rotation_from_z(along / length) } else { Quat::IDENTITY };
    (Transform::new(rotation, (from + to) * 0.5), length * 0.5)
}

/// The shortest rotation that takes z to a unit vector.
fn rotation_from_z(to: Vec3) -> Quat {
    if to.z < -1.0 + 1e-12 {
        return Quat::from_xyzw(1.0, 0.0, 0.0, 0.0); // half a turn about x
    }
    let w = 1.0 + to.z;
    let q = Quat::from_xyzw(-to.y, to.x, 0.0, w);
    q * (1.0 / sqrt(q.dot(q)))
}

fn missing(path: &Path) -> Diagnostic {
    Diagnostic::error("missing-file", format!("cannot find `{}`", path.display()))
        .help("`meshdir` and `assetdir` of `compiler`, from the folder of the model's own file, say where files are looked for")
}

/// A mesh whose points and faces stand in the file itself.
fn inline(asset: &mjcf_rs::assets::Mesh, scale: Vec3) -> Result<Arc<TriMesh>, Diagnostic> {
    let (Some(points), Some(faces)) = (&asset.inline_vertices, &asset.inline_faces) else {
        let message = "a mesh of points without faces is not read";
        return Err(
            Diagnostic::error("unsupported-mesh", message).help("give it a `file` or `face`")
        );
    };
    let points = points.chunks_exact(3).map(|p| Vec3::new(p[0], p[1], p[2]) * scale);
    rebuilt(points.collect(), faces.chunks_exact(3).map(|f| [f[0], f[1], f[2]]).collect())
}

fn rebuilt(points: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Arc<TriMesh>, Diagnostic> {
    TriMesh::new(points, triangles).map(Arc::new).map_err(|error| {
        Diagnostic::error("bad-mesh", "cannot read this mesh").note(format!("{error:?}"))
    })
}

fn flat_or_given(asset: &mjcf_rs::assets::Hfield) -> Result<HeightGrid, Diagnostic> {
    let (n_rows, n_columns) = (asset.nrow as usize, asset.ncol as usize);
    let wrong =
        || Diagnostic::error("bad-heightmap", "its rows and columns do not fit its elevations");
    let n_cells = n_rows.checked_mul(n_columns).filter(|n| *n as u64 <= heightmap::MOST_PIXELS);
    let n_cells = n_cells.ok_or_else(wrong)?;
    let heights = match &asset.elevation {
        // Written as a picture: the first row is the far one.
        Some(given) if given.len() == n_cells && n_columns > 0 => {
            given.chunks_exact(n_columns).rev().flatten().copied().collect()
        }
        Some(_) => return Err(wrong()),
        None => vec![0.0; n_cells],
    };
    HeightGrid::new(n_columns, n_rows, heights).ok_or_else(wrong)
}

/// MuJoCo stretches heights so that the lowest is 0 and the highest the given height.
fn stretched(grid: &HeightGrid, height: f64) -> HeightGrid {
    let cells =
        (0..grid.n_rows()).flat_map(|row| (0..grid.n_columns()).map(move |column| (column, row)));
    let raw: Vec<f64> = cells.map(|(column, row)| grid.height(column, row)).collect();
    let lowest = raw.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = raw.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let factor = if highest > lowest { height / (highest - lowest) } else { 0.0 };
    let heights = raw.into_iter().map(|h| (h - lowest) * factor).collect();
    HeightGrid::new(grid.n_columns(), grid.n_rows(), heights)
        .expect("as many finite heights as before")
}
