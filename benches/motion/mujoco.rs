//! MuJoCo by hand: a text loaded and stepped by `mj_step`.

#![allow(unsafe_code, reason = "a C library")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;

type Ptr = *mut c_void;

/// A model of MuJoCo's and its data. They are not given back: a bench ends soon.
pub struct MuJoCo {
    model: Ptr,
    data: Ptr,
    step: unsafe extern "C" fn(Ptr, Ptr),
    reset: unsafe extern "C" fn(Ptr, Ptr),
}

impl MuJoCo {
    /// Of an MJCF file.
    pub fn new(place: &str, file: &Path) -> MuJoCo {
        let file = CString::new(file.to_string_lossy().as_bytes()).expect("no zeros");
        // SAFETY: the signatures are those of `mujoco.h`; the library stays for ever.
        unsafe {
            let library: &Library = Box::leak(Box::new(Library::new(place).expect("opens")));
            let load: unsafe extern "C" fn(*const c_char, Ptr, *mut c_char, c_int) -> Ptr =
                get(library, "mj_loadXML");
            let make_data: unsafe extern "C" fn(Ptr) -> Ptr = get(library, "mj_makeData");
            let mut error = [0; 1000];
            let model = load(file.as_ptr(), std::ptr::null_mut(), error.as_mut_ptr(), 1000);
            assert!(!model.is_null(), "MuJoCo reads its own format");
            let data = make_data(model);
            let (step, reset) = (get(library, "mj_step"), get(library, "mj_resetData"));
            MuJoCo { model, data, step, reset }
        }
    }

    /// Back to the beginning.
    pub fn reset(&mut self) {
        // SAFETY: a model and its data.
        unsafe { (self.reset)(self.model, self.data) };
    }

    /// One step.
    pub fn step(&mut self) {
        // SAFETY: a model and its data.
        unsafe { (self.step)(self.model, self.data) };
    }
}

unsafe fn get<T: Copy>(library: &Library, name: &str) -> T {
    // SAFETY: the caller says what the function takes.
    *unsafe { library.get(name.as_bytes()) }.expect("a function of MuJoCo's")
}
