//! ODE by hand, as its manual says: the calls of `tests/foreign/ode_by_hand.py`.

#![allow(unsafe_code, reason = "a C library")]
#![allow(non_snake_case, reason = "ODE's own names")]

use std::ffi::{c_int, c_uint, c_ulong, c_void};

use libloading::Library;

use super::Bare;

type Handle = *mut c_void;
type Near = unsafe extern "C" fn(*mut c_void, Handle, Handle);

/// `dContact`: a surface of an int and 14 reals, a place, a normal, a depth, two shapes, two
/// sides, a direction.
#[repr(C)]
#[derive(Clone, Copy)]
struct Contact {
    mode: c_int,
    mu: f64,
    mu2: f64,
    surface: [f64; 12],
    geom: [f64; 9],
    shapes: [Handle; 2],
    sides: [c_int; 2],
    direction: [f64; 4],
}

/// `dMass`.
#[repr(C)]
struct Mass {
    mass: f64,
    centre: [f64; 4],
    inertia: [f64; 12],
}

/// Contact points of a pair at most: SDF's default.
const MOST_CONTACTS: usize = 20;

/// Friction as coefficients along two directions.
const MODE: c_int = 0x7001;

macro_rules! functions {
    ($($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        struct Api { $($name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)* }

        impl Api {
            /// SAFETY: the signatures are those of ODE's headers; the library stays for ever.
            unsafe fn of(library: &'static Library) -> Api {
                Api { $($name: *unsafe { library.get(stringify!($name).as_bytes()) }
                    .expect("a function of ODE's"),)* }
            }
        }
    };
}

functions! {
    dAllocateODEDataForThread: fn(c_uint) -> c_int;
    dBodyCreate: fn(Handle) -> Handle;
    dBodyGetPosition: fn(Handle) -> *const f64;
    dBodySetFiniteRotationMode: fn(Handle, c_int);
    dBodySetMass: fn(Handle, *const Mass);
    dBodySetPosition: fn(Handle, f64, f64, f64);
    dCollide: fn(Handle, Handle, c_int, *mut f64, c_int) -> c_int;
    dCreateBox: fn(Handle, f64, f64, f64) -> Handle;
    dCreatePlane: fn(Handle, f64, f64, f64, f64) -> Handle;
    dGeomGetBody: fn(Handle) -> Handle;
    dGeomSetBody: fn(Handle, Handle);
    dInitODE2: fn(c_uint) -> c_int;
    dJointAttach: fn(Handle, Handle, Handle);
    dJointCreateContact: fn(Handle, Handle, *const Contact) -> Handle;
    dJointGroupCreate: fn(c_int) -> Handle;
    dJointGroupEmpty: fn(Handle);
    dRandGetSeed: fn() -> c_ulong;
    dRandSetSeed: fn(c_ulong);
    dSpaceCollide: fn(Handle, *mut c_void, Near);
    dSweepAndPruneSpaceCreate: fn(Handle, c_int) -> Handle;
    dWorldCreate: fn() -> Handle;
    dWorldQuickStep: fn(Handle, f64) -> c_int;
    dWorldSetCFM: fn(Handle, f64);
    dWorldSetContactMaxCorrectingVel: fn(Handle, f64);
    dWorldSetContactSurfaceLayer: fn(Handle, f64);
    dWorldSetERP: fn(Handle, f64);
    dWorldSetGravity: fn(Handle, f64, f64, f64);
    dWorldSetQuickStepNumIterations: fn(Handle, c_int);
    dWorldSetQuickStepW: fn(Handle, f64);
}

/// A world of ODE's and its top box. It is not given back: a bench ends soon.
pub struct Ode {
    api: Api,
    world: Handle,
    space: Handle,
    group: Handle,
    top: Handle,
    contacts: [Contact; MOST_CONTACTS],
    /// Of the quick solver. ODE has one for all worlds.
    seed: c_ulong,
}

impl Ode {
    /// The stack of `headland_bench::stack_world`, as the engine `ode` sets it up.
    pub fn new(place: &str, n_boxes: usize) -> Ode {
        let none = std::ptr::null_mut();
        // SAFETY: calls as the manual says, on handles made here.
        unsafe {
            let library = Box::leak(Box::new(Library::new(place).expect("opens")));
            let api = Api::of(library);
            (api.dInitODE2)(0);
            (api.dAllocateODEDataForThread)(c_uint::MAX);
            let world = (api.dWorldCreate)();
            (api.dWorldSetGravity)(world, 0.0, 0.0, -9.81);
            (api.dWorldSetERP)(world, 0.2);
            (api.dWorldSetCFM)(world, 1e-10);
            (api.dWorldSetContactMaxCorrectingVel)(world, 100.0);
            (api.dWorldSetContactSurfaceLayer)(world, 1e-4);
            (api.dWorldSetQuickStepNumIterations)(world, 50);
            (api.dWorldSetQuickStepW)(world, 1.3);
            let space = (api.dSweepAndPruneSpaceCreate)(none, 1 << 2 | 2 << 4);
            let group = (api.dJointGroupCreate)(0);
            (api.dCreatePlane)(space, 0.0, 0.0, 1.0, 0.0);
            let mut top = none;
            for i in 0..n_boxes {
                top = (api.dBodyCreate)(world);
                (api.dBodySetFiniteRotationMode)(top, 1);
                let mut mass = Mass { mass: 1.0, centre: [0.0; 4], inertia: [0.0; 12] };
                (0..3).for_each(|k| mass.inertia[5 * k] = 0.0417);
                (api.dBodySetMass)(top, &mass);
                (api.dBodySetPosition)(top, 0.0, 0.0, 0.25 + 0.5 * i as f64);
                (api.dGeomSetBody)((api.dCreateBox)(space, 0.5, 0.5, 0.5), top);
            }
            let empty = Contact {
                mode: MODE,
                mu: 1.0,
                mu2: 1.0,
                surface: [0.0; 12],
                geom: [0.0; 9],
                shapes: [none; 2],
                sides: [0; 2],
                direction: [0.0; 4],
            };
            Ode { api, world, space, group, top, contacts: [empty; MOST_CONTACTS], seed: 0 }
        }
    }
}

unsafe extern "C" fn near(data: *mut c_void, first: Handle, second: Handle) {
    // SAFETY: `step` gave its own address away and waits.
    unsafe {
        let it = &mut *data.cast::<Ode>();
        let (one, other) = ((it.api.dGeomGetBody)(first), (it.api.dGeomGetBody)(second));
        let (room, size) = (MOST_CONTACTS as c_int, size_of::<Contact>() as c_int);
        let to = it.contacts[0].geom.as_mut_ptr();
        let n = (it.api.dCollide)(first, second, room, to, size);
        for contact in it.contacts.iter().take(usize::try_from(n).unwrap_or(0)) {
            let joint = (it.api.dJointCreateContact)(it.world, it.group, contact);
            (it.api.dJointAttach)(joint, one, other);
        }
    }
}

impl Bare for Ode {
    fn step(&mut self) {
        // SAFETY: as above.
        unsafe {
            (self.api.dSpaceCollide)(self.space, std::ptr::from_mut(self).cast(), near);
            (self.api.dWorldQuickStep)(self.world, 1e-3);
            (self.api.dJointGroupEmpty)(self.group);
        }
    }

    fn top_height(&mut self) -> f64 {
        // SAFETY: ODE answers with the address of three numbers.
        unsafe { *(self.api.dBodyGetPosition)(self.top).add(2) }
    }

    fn resume(&mut self) {
        // SAFETY: plain calls.
        unsafe { (self.api.dRandSetSeed)(self.seed) };
    }

    fn pause(&mut self) {
        // SAFETY: as above.
        self.seed = unsafe { (self.api.dRandGetSeed)() };
    }
}
