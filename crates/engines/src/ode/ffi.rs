//! ODE's library as it is: found, opened, checked, its functions by name.
//!
//! Only C functions and the four structs of `contact.h`, `mass.h` and `common.h` that cross
//! the border are used; they have not changed since ODE 0.13, and their layout is tried out on
//! two balls before anything else is believed.
//!
//! ODE has globals: a table of colliders, the seed of the quick solver, message handlers. So
//! whoever calls it holds the one [`Turn`].

use std::cell::RefCell;
use std::ffi::{CStr, OsString, c_char, c_int, c_uint, c_ulong, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use headland_sim::Unusable;
use libloading::Library;

use super::messages;

/// Anything ODE made: a world, a body, a shape, a joint. Null is none.
pub(super) type Handle = *mut c_void;
/// What ODE asks of every two shapes whose boxes overlap.
pub(super) type NearCallback = unsafe extern "C" fn(*mut c_void, Handle, Handle);

/// `dSurfaceParameters`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surface {
    pub mode: c_int,
    pub mu: f64,
    pub mu2: f64,
    pub rho: f64,
    pub rho2: f64,
    pub rho_normal: f64,
    pub bounce: f64,
    pub bounce_speed: f64,
    pub soft_erp: f64,
    pub soft_cfm: f64,
    pub motion1: f64,
    pub motion2: f64,
    pub motion_normal: f64,
    pub slip1: f64,
    pub slip2: f64,
}

/// `dContactGeom`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactGeom {
    pub position: [f64; 4],
    /// Into the first shape.
    pub normal: [f64; 4],
    pub depth: f64,
    pub first: Handle,
    pub second: Handle,
    pub sides: [c_int; 2],
}

/// `dContact`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub surface: Surface,
    pub geom: ContactGeom,
    pub friction_direction: [f64; 4],
}

impl Contact {
    pub(super) const EMPTY: Contact = Contact {
        surface: Surface {
            mode: 0,
            mu: 0.0,
            mu2: 0.0,
            rho: 0.0,
            rho2: 0.0,
            rho_normal: 0.0,
            bounce: 0.0,
            bounce_speed: 0.0,
            soft_erp: 0.0,
            soft_cfm: 0.0,
            motion1: 0.0,
            motion2: 0.0,
            motion_normal: 0.0,
            slip1: 0.0,
            slip2: 0.0,
        },
        geom: ContactGeom {
            position: [0.0; 4],
            normal: [0.0; 4],
            depth: 0.0,
            first: std::ptr::null_mut(),
            second: std::ptr::null_mut(),
            sides: [0; 2],
        },
        friction_direction: [0.0; 4],
    };
}

/// `dJointFeedback`: what a joint did in the last step.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feedback {
    pub force1: [f64; 4],
    pub torque1: [f64; 4],
    pub force2: [f64; 4],
    pub torque2: [f64; 4],
}

/// `dMass`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mass {
    pub mass: f64,
    pub centre: [f64; 4],
    /// Three rows of four.
    pub inertia: [f64; 12],
}

/// Flags of `dSurfaceParameters::mode`.
pub(super) mod mode {
    pub const MU2: i32 = 0x001;
    pub const FRICTION_DIRECTION: i32 = 0x002;
    pub const BOUNCE: i32 = 0x004;
    pub const SOFT_ERP: i32 = 0x008;
    pub const SOFT_CFM: i32 = 0x010;
    pub const SLIP1: i32 = 0x100;
    pub const SLIP2: i32 = 0x200;
    pub const ROLLING: i32 = 0x400;
    /// Friction is a coefficient, not a force, in all three directions.
    pub const COEFFICIENTS: i32 = 0x7000;
}

/// Parameters of a joint's axis.
pub(super) mod param {
    pub const LOWER: i32 = 0;
    pub const UPPER: i32 = 1;
    pub const SPEED: i32 = 2;
    pub const FORCE_MAX: i32 = 5;
    pub const CFM: i32 = 8;
    pub const STOP_ERP: i32 = 9;
    /// Added to the number for the second axis.
    pub const SECOND: i32 = 0x100;
}

macro_rules! functions {
    ($($name:ident: fn($($arg:ty),* $(,)?) $(-> $ret:ty)?;)*) => {
        /// The functions of the library, under its own names.
        #[allow(non_snake_case, reason = "ODE's own names")]
        pub(super) struct Api {
            /// Where it was found.
            pub place: PathBuf,
            /// Its number among the libraries this process opened.
            serial: u32,
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            /// Keeps the functions above where they are.
            _library: Library,
        }

        impl Api {
            /// Opens a library and looks every function up.
            fn open(path: &Path) -> Result<Api, String> {
                static OPENED: AtomicU32 = AtomicU32::new(0);
                // SAFETY: opening a library runs its initialisers; those of ODE do nothing.
                let library = unsafe { Library::new(path) }.map_err(|error| why_not(&error))?;
                Ok(Api {
                    // SAFETY: the signatures are those of ODE's headers.
                    $($name: *unsafe {
                        library.get(concat!(stringify!($name), "\0").as_bytes())
                    }.map_err(|_| missing_symbol(path, stringify!($name)))?,)*
                    place: path.to_path_buf(),
                    serial: OPENED.fetch_add(1, Ordering::Relaxed),
                    _library: library,
                })
            }
        }
    };
}

functions! {
    dAllocateODEDataForThread: fn(c_uint) -> c_int;
    dBodyAddForce: fn(Handle, f64, f64, f64);
    dBodyAddTorque: fn(Handle, f64, f64, f64);
    dBodyCreate: fn(Handle) -> Handle;
    dBodyGetAngularVel: fn(Handle) -> *const f64;
    dBodyGetLinearVel: fn(Handle) -> *const f64;
    dBodyGetPosition: fn(Handle) -> *const f64;
    dBodyGetQuaternion: fn(Handle) -> *const f64;
    dBodySetAngularDamping: fn(Handle, f64);
    dBodySetAngularDampingThreshold: fn(Handle, f64);
    dBodySetAngularVel: fn(Handle, f64, f64, f64);
    dBodySetFiniteRotationMode: fn(Handle, c_int);
    dBodySetGravityMode: fn(Handle, c_int);
    dBodySetKinematic: fn(Handle);
    dBodySetLinearDamping: fn(Handle, f64);
    dBodySetLinearDampingThreshold: fn(Handle, f64);
    dBodySetLinearVel: fn(Handle, f64, f64, f64);
    dBodySetMass: fn(Handle, *const Mass);
    dBodySetPosition: fn(Handle, f64, f64, f64);
    dBodySetQuaternion: fn(Handle, *const f64);
    dCollide: fn(Handle, Handle, c_int, *mut ContactGeom, c_int) -> c_int;
    dCreateBox: fn(Handle, f64, f64, f64) -> Handle;
    dCreateCapsule: fn(Handle, f64, f64) -> Handle;
    dCreateCylinder: fn(Handle, f64, f64) -> Handle;
    dCreatePlane: fn(Handle, f64, f64, f64, f64) -> Handle;
    dCreateSphere: fn(Handle, f64) -> Handle;
    dCreateTriMesh: fn(Handle, Handle, Handle, Handle, Handle) -> Handle;
    dGeomDestroy: fn(Handle);
    dGeomGetData: fn(Handle) -> *mut c_void;
    dGeomGetRotation: fn(Handle) -> *const f64;
    dGeomSetBody: fn(Handle, Handle);
    dGeomSetCategoryBits: fn(Handle, c_ulong);
    dGeomSetCollideBits: fn(Handle, c_ulong);
    dGeomSetData: fn(Handle, *mut c_void);
    dGeomSetOffsetPosition: fn(Handle, f64, f64, f64);
    dGeomSetOffsetQuaternion: fn(Handle, *const f64);
    dGeomSetPosition: fn(Handle, f64, f64, f64);
    dGeomSetQuaternion: fn(Handle, *const f64);
    dGeomTriMeshDataBuildDouble: fn(Handle, *const c_void, c_int, c_int, *const c_void, c_int, c_int);
    dGeomTriMeshDataCreate: fn() -> Handle;
    dGeomTriMeshDataDestroy: fn(Handle);
    dGetConfiguration: fn() -> *const c_char;
    dInitODE2: fn(c_uint) -> c_int;
    dJointAttach: fn(Handle, Handle, Handle);
    dJointCreateAMotor: fn(Handle, Handle) -> Handle;
    dJointCreateBall: fn(Handle, Handle) -> Handle;
    dJointCreateContact: fn(Handle, Handle, *const Contact) -> Handle;
    dJointCreateHinge: fn(Handle, Handle) -> Handle;
    dJointCreateLMotor: fn(Handle, Handle) -> Handle;
    dJointCreatePiston: fn(Handle, Handle) -> Handle;
    dJointCreateSlider: fn(Handle, Handle) -> Handle;
    dJointCreateUniversal: fn(Handle, Handle) -> Handle;
    dJointGroupCreate: fn(c_int) -> Handle;
    dJointGroupDestroy: fn(Handle);
    dJointGroupEmpty: fn(Handle);
    dJointSetAMotorAngle: fn(Handle, c_int, f64);
    dJointSetAMotorAxis: fn(Handle, c_int, c_int, f64, f64, f64);
    dJointSetAMotorNumAxes: fn(Handle, c_int);
    dJointSetAMotorParam: fn(Handle, c_int, f64);
    dJointSetBallAnchor: fn(Handle, f64, f64, f64);
    dJointSetFeedback: fn(Handle, *mut Feedback);
    dJointSetHingeAnchor: fn(Handle, f64, f64, f64);
    dJointSetHingeAxis: fn(Handle, f64, f64, f64);
    dJointSetHingeParam: fn(Handle, c_int, f64);
    dJointSetLMotorAxis: fn(Handle, c_int, c_int, f64, f64, f64);
    dJointSetLMotorNumAxes: fn(Handle, c_int);
    dJointSetLMotorParam: fn(Handle, c_int, f64);
    dJointSetPistonAnchor: fn(Handle, f64, f64, f64);
    dJointSetPistonAxis: fn(Handle, f64, f64, f64);
    dJointSetSliderAxis: fn(Handle, f64, f64, f64);
    dJointSetSliderParam: fn(Handle, c_int, f64);
    dJointSetUniversalAnchor: fn(Handle, f64, f64, f64);
    dJointSetUniversalAxis1: fn(Handle, f64, f64, f64);
    dJointSetUniversalAxis2: fn(Handle, f64, f64, f64);
    dRandGetSeed: fn() -> c_ulong;
    dRandSetSeed: fn(c_ulong);
    dSetDebugHandler: fn(messages::Handler);
    dSetErrorHandler: fn(messages::Handler);
    dSetMessageHandler: fn(messages::Handler);
    dSpaceCollide: fn(Handle, *mut c_void, NearCallback);
    dSpaceDestroy: fn(Handle);
    dSweepAndPruneSpaceCreate: fn(Handle, c_int) -> Handle;
    dWorldCreate: fn() -> Handle;
    dWorldDestroy: fn(Handle);
    dWorldQuickStep: fn(Handle, f64) -> c_int;
    dWorldSetAutoDisableFlag: fn(Handle, c_int);
    dWorldSetCFM: fn(Handle, f64);
    dWorldSetContactMaxCorrectingVel: fn(Handle, f64);
    dWorldSetContactSurfaceLayer: fn(Handle, f64);
    dWorldSetERP: fn(Handle, f64);
    dWorldSetGravity: fn(Handle, f64, f64, f64);
    dWorldSetQuickStepNumIterations: fn(Handle, c_int);
    dWorldSetQuickStepW: fn(Handle, f64);
    dWorldStep: fn(Handle, f64) -> c_int;
}

/// What the system says of a library that does not open.
fn why_not(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), |words| words.to_string())
}

fn missing_symbol(path: &Path, name: &str) -> String {
    format!("`{}` has no function `{name}`: is it ODE 0.16?", path.display())
}

/// The library, looked for and opened once.
pub(super) fn api() -> Result<&'static Api, Unusable> {
    static OPENED: OnceLock<Result<Api, Unusable>> = OnceLock::new();
    OPENED.get_or_init(find).as_ref().map_err(Clone::clone)
}

/// The library of the name in `HEADLAND_ODE`, or the first of the usual ones that opens.
fn find() -> Result<Api, Unusable> {
    if let Some(named) = std::env::var_os("HEADLAND_ODE").filter(|name| !name.is_empty()) {
        return Ok(usable(Path::new(&named)).map_err(|why| format!("HEADLAND_ODE: {why}"))?);
    }
    let mut first = None;
    for path in candidates() {
        match usable(&path) {
            Ok(api) => return Ok(api),
            // Where the file is there, what is wrong with it is what there is to say.
            Err(why) if path.exists() => first = first.or(Some(why)),
            Err(_) => {}
        }
    }
    let none = || Unusable::absent("no libode.so.8 (ODE 0.16) among the system's libraries");
    Err(first.map_or_else(none, Unusable::from))
}

/// Whole paths first, so that the version can be read off the file's name.
fn candidates() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let names = entries.flatten().map(|entry| entry.file_name());
        let is_ode = |name: &OsString| {
            name.to_str().is_some_and(|n| n.starts_with("libode.") && !n.ends_with(".a"))
        };
        found.extend(names.filter(is_ode).map(|name| folder.join(name)));
    }
    // The one that is known first, and the others in a fixed order.
    found.sort_by_key(|path| (!path.to_string_lossy().contains(".so.8"), path.clone()));
    found.extend(["libode.so.8", "libode.so", "libode.dylib"].map(PathBuf::from));
    found
}

fn folders() -> Vec<PathBuf> {
    let given = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut out: Vec<PathBuf> = std::env::split_paths(&given).collect();
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    for root in ["/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/opt/homebrew/lib"] {
        out.push(Path::new(root).join(&triplet));
        out.push(PathBuf::from(root));
    }
    out
}

/// Opens a library and asks it whether it is one we can talk to.
fn usable(path: &Path) -> Result<Api, String> {
    let api = Api::open(path)?;
    let shown = path.display();
    let has = |word: &str| configuration(&api).split(' ').any(|it| it == word);
    if !has("ODE_double_precision") {
        return Err(format!("`{shown}` is built for single precision; it must be double"));
    }
    if !has("ODE_EXT_trimesh") || has("ODE_OPC_16bit_indices") {
        return Err(format!("`{shown}` is built without triangle meshes of 32-bit indices"));
    }
    // SAFETY: plain calls of an opened ODE; handlers are functions of this program.
    unsafe {
        (api.dSetErrorHandler)(messages::fatal);
        (api.dSetDebugHandler)(messages::fatal);
        (api.dSetMessageHandler)(messages::heard);
        if (api.dInitODE2)(0) == 0 {
            return Err(format!("`{shown}`: dInitODE2 failed"));
        }
    }
    let fits = Turn::of(&api).map(|_turn| layout_fits(&api));
    if let Ok(true) = fits {
        return Ok(api);
    }
    // It has been started, and threads will call it when they end: it stays where it is.
    std::mem::forget(api);
    fits.and_then(|_| Err(format!("`{shown}` has another dContactGeom than ODE 0.16")))
}

/// What ODE says of how it was built.
pub(super) fn configuration(api: &Api) -> String {
    // SAFETY: it returns a constant string.
    unsafe { CStr::from_ptr((api.dGetConfiguration)()) }.to_string_lossy().into_owned()
}

/// Releases by the names of their libraries, which count interfaces.
const RELEASES: &[(&str, &str)] = &[("libode.so.8.0.2", "0.16.2")];

/// The release, where the name of the file tells it, else that name: ODE has no function that
/// says its version.
pub(super) fn version(api: &Api) -> String {
    let path = std::fs::canonicalize(&api.place).unwrap_or_else(|_| api.place.clone());
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let release = RELEASES.iter().find(|(library, _)| *library == name);
    release.map_or(name, |(_, release)| (*release).to_string())
}

/// Two balls of radius 1, 1.5 apart: depth 0.5, a normal along x, the two of them by name.
fn layout_fits(api: &Api) -> bool {
    let mut contacts = [Contact::EMPTY; 2];
    let none = std::ptr::null_mut();
    // SAFETY: two shapes in no space, made and destroyed here; room for two contacts.
    unsafe {
        let (a, b) = ((api.dCreateSphere)(none, 1.0), (api.dCreateSphere)(none, 1.0));
        (api.dGeomSetPosition)(b, 1.5, 0.0, 0.0);
        let n = (api.dCollide)(a, b, 2, &mut contacts[0].geom, size_of::<Contact>() as c_int);
        (api.dGeomDestroy)(a);
        (api.dGeomDestroy)(b);
        let it = contacts[0].geom;
        n == 1 && it.depth == 0.5 && it.normal[0] == -1.0 && it.first == a && it.second == b
    }
}

/// The right to call ODE: one thread at a time, which has what ODE keeps per thread.
pub(super) struct Turn {
    _guard: MutexGuard<'static, ()>,
}

impl Turn {
    pub(super) fn of(api: &Api) -> Result<Turn, String> {
        static ONE: Mutex<()> = Mutex::new(());
        // Libraries, by their serial numbers, that have what they keep per thread.
        thread_local!(static READY: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) });
        let guard = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !READY.with_borrow(|ready| ready.contains(&api.serial)) {
            // SAFETY: ODE was initialised before anyone could get here.
            if unsafe { (api.dAllocateODEDataForThread)(c_uint::MAX) } == 0 {
                return Err("dAllocateODEDataForThread failed".to_string());
            }
            READY.with_borrow_mut(|ready| ready.push(api.serial));
        }
        Ok(Turn { _guard: guard })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_ode_is_refused_by_the_function_it_lacks() {
        let Some(why) = usable(Path::new("libm.so.6")).err() else { panic!("libm is no ODE") };
        assert!(why.contains("libm.so.6` has no function `d"), "{why}");
        let Some(why) = usable(Path::new("/nowhere/libode.so")).err() else { panic!("nowhere") };
        assert!(why.contains("/nowhere/libode.so"), "{why}");
    }

    /// `dContact` of ODE's header, counted by hand for doubles: 14 reals and an int padded to
    /// one; two vectors of four, a real, two pointers, two ints; a vector.
    #[test]
    fn structs_have_the_size_c_gives_them() {
        assert_eq!(size_of::<Surface>(), 15 * 8);
        assert_eq!(size_of::<ContactGeom>(), 9 * 8 + 2 * size_of::<Handle>() + 8);
        assert_eq!(size_of::<Contact>(), 15 * 8 + size_of::<ContactGeom>() + 4 * 8);
        assert_eq!(size_of::<Feedback>(), 16 * 8);
        assert_eq!(size_of::<Mass>(), 17 * 8);
    }
}
