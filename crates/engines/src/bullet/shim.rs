//! The door to the shim: the one place here that calls another language.
//!
//! Numbers go in and come out as slices; that they are long enough, that indices are of this
//! world and that pointers outlive their use is held by [`World`], so nobody else writes
//! `unsafe`.

#![allow(unsafe_code, reason = "the shim is C++; every call is in this file")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use headland_base::{Diagnostic, Transform, Vec3};
use headland_sim::Fault;
use libloading::Library;

use super::compile::{self, SOURCE};
use super::workshop::Workshop;

/// What of the C++ side's structs is here must stay as it is there.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub(super) gravity: [f64; 3],
    pub(super) restitution_threshold: f64,
    pub(super) margin: f64,
    pub(super) n_iterations: c_int,
    pub(super) solver_mode: c_int,
    pub(super) multipoint: c_int,
    pub(super) is_raw: c_int,
    pair: Option<PairFn>,
    pair_context: *const c_void,
}

impl Settings {
    /// Bullet's own, everywhere.
    pub(super) fn raw(gravity: Vec3) -> Settings {
        Settings {
            gravity: gravity.to_array(),
            restitution_threshold: -1.0,
            margin: -1.0,
            n_iterations: 0,
            solver_mode: 0,
            multipoint: 0,
            is_raw: 1,
            pair: None,
            pair_context: std::ptr::null(),
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct BodyDef {
    pub(super) pose: [f64; 7],
    pub(super) twist: [f64; 6],
    pub(super) inertia: [f64; 3],
    pub(super) gravity: [f64; 3],
    pub(super) mass: f64,
    pub(super) damping: [f64; 2],
    pub(super) friction: f64,
    pub(super) restitution: f64,
    pub(super) motion: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct AxisDef {
    pub(super) direction: [f64; 3],
    pub(super) point: [f64; 3],
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) friction: f64,
    pub(super) parent: c_int,
    pub(super) child: c_int,
    pub(super) slides: c_int,
    pub(super) in_child: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ContactPoint {
    pub(super) position: [f64; 3],
    /// From the second shape's body to the first's.
    pub(super) normal: [f64; 3],
    /// On the first.
    pub(super) force: [f64; 3],
    pub(super) depth: f64,
    pub(super) shape_a: c_int,
    pub(super) shape_b: c_int,
}

/// Forms by the numbers the shim knows them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Box = 0,
    Sphere = 1,
    Cylinder = 2,
    Capsule = 3,
    Cone = 4,
    Ellipsoid = 5,
    Plane = 6,
}

/// Joints by the numbers the shim knows them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Hinge = 0,
    Slider = 1,
    Ball = 2,
    Universal = 3,
    Piston = 4,
}

/// What is asked of every pair of shapes: whether they may touch, and with what friction and
/// restitution.
pub(super) trait Pairs {
    fn between(&self, shape_a: usize, shape_b: usize) -> Option<(f64, f64)>;
}

type PairFn = extern "C" fn(*const c_void, c_int, c_int, *mut f64, *mut f64) -> c_int;

/// A world of Bullet's, as the shim hands it out.
#[repr(C)]
struct RawWorld {
    _hidden: [u8; 0],
}

/// The shim's functions. Loaded once, never unloaded: Bullet keeps a pointer into it.
pub(super) struct Shim {
    version: unsafe extern "C" fn() -> c_int,
    error: unsafe extern "C" fn(*const RawWorld) -> *const c_char,
    world_new: unsafe extern "C" fn(*const Settings) -> *mut RawWorld,
    world_delete: unsafe extern "C" fn(*mut RawWorld),
    primitive: unsafe extern "C" fn(*mut RawWorld, c_int, c_int, *const f64, *const f64) -> c_int,
    hull: unsafe extern "C" fn(*mut RawWorld, c_int, *const f64, c_int, *const f64) -> c_int,
    mesh: unsafe extern "C" fn(
        *mut RawWorld,
        c_int,
        *const f64,
        *const u32,
        c_int,
        *const f64,
    ) -> c_int,
    heights: unsafe extern "C" fn(
        *mut RawWorld,
        c_int,
        *const f64,
        c_int,
        c_int,
        *const f64,
        *const f64,
    ) -> c_int,
    body: unsafe extern "C" fn(*mut RawWorld, *const BodyDef) -> c_int,
    joint:
        unsafe extern "C" fn(*mut RawWorld, c_int, c_int, c_int, *const f64, *const f64) -> c_int,
    axis: unsafe extern "C" fn(*mut RawWorld, *const AxisDef) -> c_int,
    remove: unsafe extern "C" fn(*mut RawWorld, c_int) -> c_int,
    step: unsafe extern "C" fn(*mut RawWorld, f64, *const f64, *const f64, *mut f64) -> c_int,
    contacts: unsafe extern "C" fn(*const RawWorld, *mut *const ContactPoint) -> c_int,
    _library: Library,
}

impl Shim {
    /// Compiles it where needed and loads it.
    pub(super) fn get(workshop: &Workshop) -> Result<&'static Shim, Diagnostic> {
        static LOADED: Mutex<BTreeMap<PathBuf, &'static Shim>> = Mutex::new(BTreeMap::new());
        let path = compile::shim_file(workshop, SOURCE)?;
        let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(shim) = loaded.get(&path) {
            return Ok(shim);
        }
        let shim: &'static Shim = Box::leak(Box::new(Shim::load(&path)?));
        let is = u32::try_from(shim.version()).unwrap_or_default();
        if is != workshop.version {
            let message = format!(
                "the shim of Bullet says version {is}, but {} says {}",
                workshop.include.display(),
                workshop.version
            );
            return Err(Diagnostic::error("engine-shim", message));
        }
        loaded.insert(path, shim);
        Ok(shim)
    }

    fn load(path: &Path) -> Result<Shim, Diagnostic> {
        let failed = |error: libloading::Error| {
            let message = format!("the shim of Bullet cannot be loaded: {error}");
            Diagnostic::error("engine-shim", message)
                .note(format!("it is {}", path.display()))
                .help("remove that file, and it is compiled again")
        };
        // SAFETY: the file was compiled from our own source and its hash was checked; neither
        // it nor Bullet runs anything when loaded but constructors of C++ globals.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the type is that of the function of this name in shim.cpp.
                *unsafe { library.get($name) }.map_err(failed)?
            };
        }
        Ok(Shim {
            version: symbol!(b"hb_version\0"),
            error: symbol!(b"hb_error\0"),
            world_new: symbol!(b"hb_world_new\0"),
            world_delete: symbol!(b"hb_world_delete\0"),
            primitive: symbol!(b"hb_primitive\0"),
            hull: symbol!(b"hb_hull\0"),
            mesh: symbol!(b"hb_mesh\0"),
            heights: symbol!(b"hb_heights\0"),
            body: symbol!(b"hb_body\0"),
            joint: symbol!(b"hb_joint\0"),
            axis: symbol!(b"hb_axis\0"),
            remove: symbol!(b"hb_remove\0"),
            step: symbol!(b"hb_step\0"),
            contacts: symbol!(b"hb_contacts\0"),
            _library: library,
        })
    }

    fn version(&self) -> c_int {
        // SAFETY: takes nothing, returns a number.
        unsafe { (self.version)() }
    }
}

/// A world of Bullet's.
pub(super) struct World<P: Pairs> {
    shim: &'static Shim,
    raw: *mut RawWorld,
    /// Bullet asks it throughout the world's life, so it stays where it is until the end.
    pairs: Box<P>,
    n_bodies: usize,
    n_axes: usize,
}

impl<P: Pairs> World<P> {
    pub(super) fn new(
        shim: &'static Shim,
        settings: Settings,
        pairs: P,
    ) -> Result<World<P>, Fault> {
        let pairs = Box::new(pairs);
        let context: *const P = &raw const *pairs;
        let settings =
            Settings { pair: Some(answer::<P>), pair_context: context.cast(), ..settings };
        // SAFETY: the settings are read before the call returns; `pairs` lives as long as the
        // world, which `Drop` ends first.
        let raw = unsafe { (shim.world_new)(&settings) };
        if raw.is_null() {
            return Err(Fault("Bullet could not make a world".to_string()));
        }
        Ok(World { shim, raw, pairs, n_bodies: 0, n_axes: 0 })
    }

    pub(super) fn pairs(&self) -> &P {
        &self.pairs
    }

    /// A shape for the next body, by three numbers.
    pub(super) fn primitive(
        &mut self,
        shape_idx: usize,
        form: Form,
        numbers: [f64; 3],
        at: Transform,
    ) -> Result<(), Fault> {
        let (shape_idx, pose) = (count(shape_idx)?, pose(at));
        // SAFETY: three and seven numbers are what it reads.
        let done = unsafe {
            (self.shim.primitive)(
                self.raw,
                shape_idx,
                form as c_int,
                numbers.as_ptr(),
                pose.as_ptr(),
            )
        };
        self.done(done).map(drop)
    }

    /// The hull of points, for the next body.
    pub(super) fn hull(
        &mut self,
        shape_idx: usize,
        points: &[Vec3],
        at: Transform,
    ) -> Result<(), Fault> {
        let (shape_idx, n, flat, pose) =
            (count(shape_idx)?, count(points.len())?, flat(points), pose(at));
        // SAFETY: three numbers per point, seven of the pose.
        let done =
            unsafe { (self.shim.hull)(self.raw, shape_idx, flat.as_ptr(), n, pose.as_ptr()) };
        self.done(done).map(drop)
    }

    /// Triangles, for the next body, which must stand still. Every corner is an index of
    /// `vertices`.
    pub(super) fn mesh(
        &mut self,
        shape_idx: usize,
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        at: Transform,
    ) -> Result<(), Fault> {
        assert!(triangles.iter().flatten().all(|&i| (i as usize) < vertices.len()));
        let (shape_idx, n) = (count(shape_idx)?, count(triangles.len())?);
        let (corners, flat, pose) = (triangles.as_flattened(), flat(vertices), pose(at));
        // SAFETY: three corners per triangle, each within the vertices, three numbers per
        // vertex, seven of the pose.
        let done = unsafe {
            (self.shim.mesh)(self.raw, shape_idx, flat.as_ptr(), corners.as_ptr(), n, pose.as_ptr())
        };
        self.done(done).map(drop)
    }

    /// A field of heights, row by row, for the next body, which must stand still.
    pub(super) fn heights(
        &mut self,
        shape_idx: usize,
        heights: &[f64],
        n_columns: usize,
        n_rows: usize,
        size: [f64; 2],
        at: Transform,
    ) -> Result<(), Fault> {
        assert_eq!(heights.len(), n_columns * n_rows, "a grid is full");
        let (shape_idx, columns, rows, pose) =
            (count(shape_idx)?, count(n_columns)?, count(n_rows)?, pose(at));
        // SAFETY: as many heights as rows times columns, two and seven numbers.
        let done = unsafe {
            (self.shim.heights)(
                self.raw,
                shape_idx,
                heights.as_ptr(),
                columns,
                rows,
                size.as_ptr(),
                pose.as_ptr(),
            )
        };
        self.done(done).map(drop)
    }

    /// A body of the shapes that wait for one; its index.
    pub(super) fn body(&mut self, def: &BodyDef) -> Result<usize, Fault> {
        // SAFETY: the definition is read before the call returns.
        let done = unsafe { (self.shim.body)(self.raw, def) };
        self.done(done)?;
        self.n_bodies += 1;
        Ok(self.n_bodies - 1)
    }

    /// A joint between two bodies, or the world, with its frame in each.
    pub(super) fn joint(
        &mut self,
        link: Link,
        parent: Option<usize>,
        child: Option<usize>,
        frames: (Transform, Transform),
    ) -> Result<(), Fault> {
        let (parent, child) = (self.side(parent)?, self.side(child)?);
        let (in_parent, in_child) = (pose(frames.0), pose(frames.1));
        // SAFETY: both sides are bodies of this world or below zero; seven numbers each.
        let done = unsafe {
            (self.shim.joint)(
                self.raw,
                link as c_int,
                parent,
                child,
                in_parent.as_ptr(),
                in_child.as_ptr(),
            )
        };
        self.done(done).map(drop)
    }

    /// An axis between two bodies, or the world; its index.
    pub(super) fn axis(
        &mut self,
        parent: Option<usize>,
        child: Option<usize>,
        def: AxisDef,
    ) -> Result<usize, Fault> {
        let def = AxisDef { parent: self.side(parent)?, child: self.side(child)?, ..def };
        // SAFETY: both sides are bodies of this world or below zero; it is read before the
        // call returns.
        let done = unsafe { (self.shim.axis)(self.raw, &def) };
        self.done(done)?;
        self.n_axes += 1;
        Ok(self.n_axes - 1)
    }

    /// Takes a body out of the motion.
    pub(super) fn remove(&mut self, body_idx: usize) -> Result<(), Fault> {
        let body = self.side(Some(body_idx))?;
        // SAFETY: it is a body of this world.
        let done = unsafe { (self.shim.remove)(self.raw, body) };
        self.done(done).map(drop)
    }

    /// One step: six numbers of force and torque per body, three of aim per axis; thirteen
    /// per body come out.
    pub(super) fn step(
        &mut self,
        dt: f64,
        forces: &[f64],
        aims: &[f64],
        out: &mut [f64],
    ) -> Result<(), Fault> {
        assert_eq!(forces.len(), 6 * self.n_bodies, "six numbers per body");
        assert_eq!(aims.len(), 3 * self.n_axes, "three numbers per axis");
        assert_eq!(out.len(), 13 * self.n_bodies, "thirteen numbers per body");
        // SAFETY: as many numbers as it reads and writes, by the lines above.
        let done = unsafe {
            (self.shim.step)(self.raw, dt, forces.as_ptr(), aims.as_ptr(), out.as_mut_ptr())
        };
        self.done(done).map(drop)
    }

    /// What touched in the last step.
    pub(super) fn contacts(&self) -> &[ContactPoint] {
        let mut first = std::ptr::null();
        // SAFETY: writes one pointer, which holds until the next step.
        let n = unsafe { (self.shim.contacts)(self.raw, &mut first) };
        match usize::try_from(n) {
            Ok(n) if n > 0 => {
                // SAFETY: that many points are there, and the borrow of `self` keeps them.
                unsafe { std::slice::from_raw_parts(first, n) }
            }
            _ => &[],
        }
    }

    fn side(&self, body_idx: Option<usize>) -> Result<c_int, Fault> {
        body_idx.map_or(Ok(-1), |i| {
            assert!(i < self.n_bodies, "a body of this world");
            count(i)
        })
    }

    fn done(&self, code: c_int) -> Result<c_int, Fault> {
        if code >= 0 {
            return Ok(code);
        }
        // SAFETY: a string of the world's that ends in zero and lives until its next call.
        let words = unsafe { CStr::from_ptr((self.shim.error)(self.raw)) };
        Err(Fault(format!("Bullet: {}", words.to_string_lossy())))
    }
}

impl<P: Pairs> Drop for World<P> {
    fn drop(&mut self) {
        // SAFETY: it was made by `world_new` and is deleted once.
        unsafe { (self.shim.world_delete)(self.raw) }
    }
}

/// What Bullet asks of a pair of shapes.
extern "C" fn answer<P: Pairs>(
    context: *const c_void,
    shape_a: c_int,
    shape_b: c_int,
    friction: *mut f64,
    restitution: *mut f64,
) -> c_int {
    let (Ok(a), Ok(b)) = (usize::try_from(shape_a), usize::try_from(shape_b)) else {
        return 0;
    };
    // SAFETY: the context is the `pairs` of a world that lives, and nobody changes it.
    let pairs = unsafe { &*context.cast::<P>() };
    let Some((mu, e)) = pairs.between(a, b) else {
        return 0;
    };
    // SAFETY: the shim hands in two places of its own.
    unsafe {
        *friction = mu;
        *restitution = e;
    }
    1
}

/// The shim counts in `int`.
fn count(n: usize) -> Result<c_int, Fault> {
    c_int::try_from(n).map_err(|_| Fault(format!("{n} is more than Bullet can count")))
}

pub(super) fn pose(at: Transform) -> [f64; 7] {
    let (p, q) = (at.translation, at.rotation);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
}

fn flat(points: &[Vec3]) -> Vec<f64> {
    points.iter().flat_map(|p| p.to_array()).collect()
}
