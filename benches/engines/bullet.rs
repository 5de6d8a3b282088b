//! Bullet by hand: `bullet.cpp` beside this file, compiled as the engine's shim is, and stepped.

#![allow(unsafe_code, reason = "a C++ library")]

use std::ffi::{c_int, c_void};
use std::process::Command;
use std::sync::OnceLock;

use libloading::Library;

use super::Bare;

/// A world of Bullet's. It is not given back: a bench ends soon.
pub struct Bullet {
    stack: *mut c_void,
    step: unsafe extern "C" fn(*mut c_void),
    top: unsafe extern "C" fn(*mut c_void) -> f64,
}

impl Bullet {
    /// The stack of `headland_bench::stack_world`, as the engine `bullet` sets it up. `place`
    /// begins with the folder of Bullet's headers.
    pub fn new(place: &str, n_boxes: usize) -> Bullet {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        let library = LIBRARY.get_or_init(|| compile(place));
        // SAFETY: the types are those of the functions in bullet.cpp; the library stays for ever.
        unsafe {
            let new: unsafe extern "C" fn(c_int) -> *mut c_void =
                *library.get(b"bare_new").expect("a function of bullet.cpp");
            Bullet {
                stack: new(c_int::try_from(n_boxes).expect("few")),
                step: *library.get(b"bare_step").expect("a function of bullet.cpp"),
                top: *library.get(b"bare_top").expect("a function of bullet.cpp"),
            }
        }
    }
}

fn compile(place: &str) -> Library {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("bare.so");
    let include = place.split(',').next().unwrap_or_default();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_string());
    let done = Command::new(compiler)
        .args(["-std=c++14", "-O2", "-shared", "-fPIC", "-ffp-contract=off"])
        .arg("-DBT_USE_DOUBLE_PRECISION")
        .arg(format!("-I{include}"))
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/engines/bullet.cpp"))
        .arg("-o")
        .arg(&output)
        .args(["-lBulletDynamics-float64", "-lBulletCollision-float64", "-lLinearMath-float64"])
        .output()
        .expect("a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // SAFETY: it was just made from our own source.
    unsafe { Library::new(&output) }.expect("opens")
}

impl Bare for Bullet {
    fn step(&mut self) {
        // SAFETY: a stack that lives.
        unsafe { (self.step)(self.stack) };
    }

    fn top_height(&mut self) -> f64 {
        // SAFETY: as above.
        unsafe { (self.top)(self.stack) }
    }
}
