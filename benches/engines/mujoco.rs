//! MuJoCo by hand: the text the engine `mujoco` writes, loaded and stepped by `mj_step`.

#![allow(unsafe_code, reason = "a C library")]

use std::ffi::{CString, c_char, c_int, c_void};

use headland_sim::{EngineOptions, Model};
use libloading::Library;

use super::Bare;

type Ptr = *mut c_void;
type Locate = unsafe extern "C" fn(Ptr, *mut f64, *mut f64, *const f64, *const f64, c_int, u8);

/// A model of MuJoCo's and its data. They are not given back: a bench ends soon.
pub struct MuJoCo {
    model: Ptr,
    data: Ptr,
    top: c_int,
    step: unsafe extern "C" fn(Ptr, Ptr),
    step1: unsafe extern "C" fn(Ptr, Ptr),
    locate: Locate,
}

impl MuJoCo {
    /// With the sensors the engine adds to read contacts, or without.
    pub fn new(place: &str, model: &Model, options: &EngineOptions, has_sensors: bool) -> MuJoCo {
        let mut text = headland_engines::mujoco::mjcf_of(model, options).expect("it is there");
        if !has_sensors
            && let (Some(start), Some(end)) = (text.find("  <sensor>"), text.find("</sensor>"))
        {
            text.replace_range(start..end + "</sensor>\n".len(), "");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("stack.xml");
        std::fs::write(&file, text).expect("a file");
        let file = CString::new(file.to_string_lossy().as_bytes()).expect("no zeros");
        let top = model.bodies.last().expect("boxes");
        let top = CString::new(top.name.as_str()).expect("no zeros");
        // SAFETY: the signatures are those of `mujoco.h`; the library stays for ever.
        unsafe {
            let library: &Library = Box::leak(Box::new(Library::new(place).expect("opens")));
            let load: unsafe extern "C" fn(*const c_char, Ptr, *mut c_char, c_int) -> Ptr =
                get(library, "mj_loadXML");
            let make_data: unsafe extern "C" fn(Ptr) -> Ptr = get(library, "mj_makeData");
            let reset: unsafe extern "C" fn(Ptr, Ptr, c_int) = get(library, "mj_resetDataKeyframe");
            let body_type: unsafe extern "C" fn(*const c_char) -> c_int =
                get(library, "mju_str2Type");
            let find: unsafe extern "C" fn(Ptr, c_int, *const c_char) -> c_int =
                get(library, "mj_name2id");
            let mut error = [0; 1000];
            let model = load(file.as_ptr(), std::ptr::null_mut(), error.as_mut_ptr(), 1000);
            assert!(!model.is_null(), "MuJoCo took the same text from the engine");
            let data = make_data(model);
            reset(model, data, 0);
            let top = find(model, body_type(c"body".as_ptr()), top.as_ptr());
            MuJoCo {
                model,
                data,
                top,
                step: get(library, "mj_step"),
                step1: get(library, "mj_step1"),
                locate: get(library, "mj_local2Global"),
            }
        }
    }
}

unsafe fn get<T: Copy>(library: &Library, name: &str) -> T {
    // SAFETY: the caller says what the function takes.
    *unsafe { library.get(name.as_bytes()) }.expect("a function of MuJoCo's")
}

impl Bare for MuJoCo {
    fn step(&mut self) {
        // SAFETY: a model and its data.
        unsafe { (self.step)(self.model, self.data) };
    }

    fn top_height(&mut self) -> f64 {
        let (mut place, mut turn) = ([0.0; 3], [0.0; 9]);
        // SAFETY: as above; poses are those of the last positions after the half step.
        unsafe {
            (self.step1)(self.model, self.data);
            (self.locate)(
                self.data,
                place.as_mut_ptr(),
                turn.as_mut_ptr(),
                [0.0; 3].as_ptr(),
                [1.0, 0.0, 0.0, 0.0].as_ptr(),
                self.top,
                0,
            );
        }
        place[2]
    }
}
