//! libmujoco, called by functions only: no field of any of its structures is touched, so that
//! one headland works with every version from 2.2.2 to 4.0.
//!
//! A file goes in, safe functions on a [`Sim`] (a model of MuJoCo's and its data) come out.
//! Which bit of a state means what differs between versions and is found by trying.
//! Deliberately absent: what is simulated.

#![allow(unsafe_code, reason = "a C library")]

mod sim;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use headland_sim::Unusable;

pub(super) use sim::{Applied, BodyId, Counts, SensorId, Sim};

/// The oldest version whose functions do what is needed here.
const OLDEST: [u32; 3] = [2, 2, 2];

type Ptr = *mut c_void;

/// Functions every version has.
struct Functions {
    load_xml: unsafe extern "C" fn(*const c_char, Ptr, *mut c_char, c_int) -> Ptr,
    delete_model: unsafe extern "C" fn(Ptr),
    make_data: unsafe extern "C" fn(Ptr) -> Ptr,
    delete_data: unsafe extern "C" fn(Ptr),
    reset: unsafe extern "C" fn(Ptr, Ptr),
    reset_to_key: unsafe extern "C" fn(Ptr, Ptr, c_int),
    step: unsafe extern "C" fn(Ptr, Ptr),
    step1: unsafe extern "C" fn(Ptr, Ptr),
    step2: unsafe extern "C" fn(Ptr, Ptr),
    forward: unsafe extern "C" fn(Ptr, Ptr),
    kinematics: unsafe extern "C" fn(Ptr, Ptr),
    com_pos: unsafe extern "C" fn(Ptr, Ptr),
    com_vel: unsafe extern "C" fn(Ptr, Ptr),
    id2name: unsafe extern "C" fn(Ptr, c_int, c_int) -> *const c_char,
    name2id: unsafe extern "C" fn(Ptr, c_int, *const c_char) -> c_int,
    str2type: unsafe extern "C" fn(*const c_char) -> c_int,
    local_to_global:
        unsafe extern "C" fn(Ptr, *mut f64, *mut f64, *const f64, *const f64, c_int, u8),
    object_velocity: unsafe extern "C" fn(Ptr, Ptr, c_int, c_int, *mut f64, c_int),
    apply_force:
        unsafe extern "C" fn(Ptr, Ptr, *const f64, *const f64, *const f64, c_int, *mut f64),
    contact_force: unsafe extern "C" fn(Ptr, Ptr, c_int, *mut f64),
    print_data: unsafe extern "C" fn(Ptr, Ptr, *const c_char, *const c_char),
    print_model: unsafe extern "C" fn(Ptr, *const c_char),
}

type SetState = unsafe extern "C" fn(Ptr, Ptr, *const f64, c_int);
type GetState = unsafe extern "C" fn(Ptr, Ptr, *mut f64, c_int);
type StateSize = unsafe extern "C" fn(Ptr, c_int) -> c_int;
type ReadSensor = unsafe extern "C" fn(Ptr, Ptr, c_int, f64, *mut f64, c_int) -> *const f64;

/// Which bits of a state mean what.
#[derive(Clone, Copy)]
struct Bits {
    qpos: c_int,
    qvel: c_int,
    ctrl: c_int,
    qfrc: c_int,
    xfrc: c_int,
}

/// How inputs reach MuJoCo.
#[derive(Clone, Copy)]
enum InputWay {
    /// `mj_setState`, from 2.3.7 on, with the bits of controls and applied forces.
    State { set: SetState, get: GetState, size: StateSize, bits: Bits },
    /// Actuators that ask a callback for their force.
    Bias,
}

/// A loaded libmujoco. It is never let go.
pub(super) struct Library {
    place: PathBuf,
    version: String,
    numbers: [u32; 3],
    functions: Functions,
    input_way: InputWay,
    read_sensor: Option<ReadSensor>,
    /// Reads the sensors that tell of forces.
    sense: Option<unsafe extern "C" fn(Ptr, Ptr)>,
    body_type: c_int,
    frame_type: c_int,
    sensor_type: c_int,
    geom_type: c_int,
    actuator_type: c_int,
}

thread_local! {
    /// What MuJoCo warned of since it was last asked.
    static WARNED: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Forces of the actuators during a step, by actuator.
    static FORCES: Cell<(*const f64, usize)> = const { Cell::new((std::ptr::null(), 0)) };
}

/// An error of MuJoCo's is the end of the process, by its own design: its data is then in no
/// state to go on with. Its words come first.
extern "C" fn on_error(message: *const c_char) {
    eprintln!("mujoco: {}", words(message));
    std::process::exit(crate::EXIT_FATAL);
}

extern "C" fn on_warning(message: *const c_char) {
    let said = || words(message).chars().take(500).collect();
    WARNED.with(|warned| _ = warned.borrow_mut().get_or_insert_with(said));
}

/// What MuJoCo warned of on this thread since this was last asked.
pub(super) fn take_warning() -> Option<String> {
    WARNED.with(|warned| warned.borrow_mut().take())
}

extern "C" fn force_of(_: *const c_void, _: *const c_void, actuator: c_int) -> f64 {
    let (forces, n) = FORCES.get();
    let i = usize::try_from(actuator).unwrap_or(usize::MAX);
    // SAFETY: the pointer is that of a slice of `n` which `Sim::step2` borrows for as long as it
    // is set, on this thread.
    if i < n { unsafe { *forces.add(i) } } else { 0.0 }
}

fn words(message: *const c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: MuJoCo hands over a string of its own that ends with a zero.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Library {
    /// The one that is found, loaded once per process.
    pub(super) fn get() -> Result<&'static Library, Unusable> {
        static LOADED: OnceLock<Mutex<BTreeMap<PathBuf, Result<&'static Library, String>>>> =
            OnceLock::new();
        let place = super::find::find()?;
        let loaded = LOADED.get_or_init(Mutex::default);
        let mut loaded =
            loaded.lock().map_err(|_| "a thread broke while loading it".to_string())?;
        let load = |place: &Path| Ok(&*Box::leak(Box::new(Library::load(place)?)));
        Ok(loaded.entry(place.clone()).or_insert_with(|| load(&place)).clone()?)
    }

    fn load(place: &Path) -> Result<Library, String> {
        let at = place.display();
        // SAFETY: loading runs the library's own initialisers; it is the file the user has
        // installed.
        let library = unsafe { libloading::Library::new(place) }.map_err(|error| {
            // The loader's own words, such as a library it needs, are behind the error.
            let why = std::error::Error::source(&error).map(ToString::to_string);
            format!("`{at}` cannot be loaded: {}", why.unwrap_or_else(|| error.to_string()))
        })?;
        let symbols = Symbols { library: &library, place };
        let version_string: unsafe extern "C" fn() -> *const c_char =
            symbols.function("mj_versionString")?;
        // SAFETY: takes nothing, and returns a constant string.
        let version = words(unsafe { version_string() });
        let numbers = numbers_of(&version);
        if numbers < OLDEST {
            return Err(format!("`{at}` is MuJoCo {version}; 2.2.2 or newer is needed"));
        }
        let functions = Functions::of(&symbols)?;
        symbols.set("mju_user_error", on_error as *const c_void)?;
        symbols.set("mju_user_warning", on_warning as *const c_void)?;
        let mut out = Library {
            place: place.to_path_buf(),
            version,
            numbers,
            functions,
            input_way: InputWay::Bias,
            read_sensor: symbols.function("mj_readSensor").ok(),
            sense: symbols.function("mj_sensorAcc").ok(),
            body_type: 0,
            frame_type: 0,
            sensor_type: 0,
            geom_type: 0,
            actuator_type: 0,
        };
        out.body_type = out.type_of("body")?;
        out.frame_type = out.type_of("xbody")?;
        out.sensor_type = out.type_of("sensor")?;
        out.geom_type = out.type_of("geom")?;
        out.actuator_type = out.type_of("actuator")?;
        let set: Result<SetState, _> = symbols.function("mj_setState");
        let size: Result<StateSize, _> = symbols.function("mj_stateSize");
        let get: Result<GetState, _> = symbols.function("mj_getState");
        match (set, get, size) {
            (Ok(set), Ok(get), Ok(size)) => {
                let bits = out.find_bits(set, size)?;
                out.input_way = InputWay::State { set, get, size, bits };
            }
            _ => symbols.set("mjcb_act_bias", force_of as *const c_void)?,
        }
        std::mem::forget(library);
        Ok(out)
    }

    /// Its version, as it says it.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The file.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Whether it is that version or a newer one.
    pub(super) fn is_at_least(&self, major: u32, minor: u32, patch: u32) -> bool {
        self.numbers >= [major, minor, patch]
    }

    /// Whether forces are asked of a callback by actuators, because there is no other way.
    pub(super) fn needs_force_actuators(&self) -> bool {
        matches!(self.input_way, InputWay::Bias)
    }

    /// Whether values of sensors can be had.
    pub(super) fn reads_sensors(&self) -> bool {
        self.read_sensor.is_some()
    }

    fn type_of(&self, name: &str) -> Result<c_int, String> {
        let name_c = c_string(name);
        // SAFETY: a string that ends with a zero and outlives the call.
        let found = unsafe { (self.functions.str2type)(name_c.as_ptr()) };
        (found > 0)
            .then_some(found)
            .ok_or_else(|| format!("`{}` does not know what a `{name}` is", self.place.display()))
    }

    /// Which bits of a state are controls and applied forces: they moved between versions.
    ///
    /// Sizes tell most of them apart in a model with 8 positions, 7 velocities, 2 controls and
    /// 3 bodies; of the three that have a number per velocity, applied forces are the one with
    /// which a mass of 2 kg reaches 0.25 m/s in half a second at 1 N.
    fn find_bits(&self, set: SetState, size: StateSize) -> Result<Bits, String> {
        const PROBE: &str = r#"<mujoco>
  <option timestep="0.5" gravity="0 0 0"/>
  <worldbody>
    <body name="cart">
      <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
      <joint name="slide" type="slide" axis="1 0 0"/>
    </body>
    <body name="free" pos="0 5 0">
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <freejoint/>
    </body>
  </worldbody>
  <actuator><motor joint="slide"/><motor joint="slide"/></actuator>
</mujoco>
"#;
        let probe = || Sim::from_text(self, PROBE, &[]);
        let first = probe()?;
        let (mut qpos, mut qvel, mut ctrl, mut qfrc, mut xfrc) = (None, None, None, None, None);
        for bit in (0..16).map(|k| 1 << k) {
            // SAFETY: a model that lives, and a bit no higher than the last one there is: applied
            // forces of bodies come last, and nothing is asked after they are found.
            match unsafe { size(first.model, bit) } {
                2 => ctrl = Some(bit),
                8 => qpos = Some(bit),
                18 => xfrc = Some(bit),
                7 => {
                    let mut sim = probe()?;
                    let mut values = [0.0; 7];
                    values[0] = 1.0;
                    // SAFETY: seven numbers are what this bit of this model has.
                    unsafe { set(sim.model, sim.data, values.as_ptr(), bit) };
                    sim.step();
                    sim.forward();
                    let cart = sim.body("cart").ok_or("the probe has no cart")?;
                    match sim.velocity(cart)[3] {
                        0.25 => qfrc = Some(bit),
                        1.0 => qvel = Some(bit),
                        _ => {}
                    }
                }
                _ => {}
            }
            // Asking for bits beyond the last is an error of MuJoCo's, and these come last.
            let found = (qpos, qvel, ctrl, qfrc, xfrc);
            if let (Some(qpos), Some(qvel), Some(ctrl), Some(qfrc), Some(xfrc)) = found {
                return Ok(Bits { qpos, qvel, ctrl, qfrc, xfrc });
            }
        }
        Err(format!("`{}`: mj_setState has no applied forces", self.place.display()))
    }
}

/// The three numbers of `3.17.0`; words behind them do not count.
fn numbers_of(version: &str) -> [u32; 3] {
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).filter_map(|p| p.parse().ok());
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).expect("zeros were taken out")
}

struct Symbols<'a> {
    library: &'a libloading::Library,
    place: &'a Path,
}

impl Symbols<'_> {
    /// A function by name. `T` must be its type, as `mujoco.h` has it.
    fn function<T: Copy>(&self, name: &str) -> Result<T, String> {
        // SAFETY: `T` is the function's type, and the library is never let go.
        let found = unsafe { self.library.get::<T>(name.as_bytes()) };
        found.map(|symbol| *symbol).map_err(|_| self.missing(name))
    }

    /// Sets one of MuJoCo's global pointers to functions.
    fn set(&self, name: &str, handler: *const c_void) -> Result<(), String> {
        // SAFETY: the symbol is a variable that holds an address.
        let found = unsafe { self.library.get::<*mut *const c_void>(name.as_bytes()) };
        let pointer = *found.map_err(|_| self.missing(name))?;
        // SAFETY: it is a variable of the library's that is meant to be set, with a function of the
        // type it calls. Nobody steps a model before the library is loaded.
        unsafe { pointer.write(handler) };
        Ok(())
    }

    fn missing(&self, name: &str) -> String {
        format!("`{}` has no `{name}`", self.place.display())
    }
}

impl Functions {
    fn of(symbols: &Symbols<'_>) -> Result<Functions, String> {
        Ok(Functions {
            load_xml: symbols.function("mj_loadXML")?,
            delete_model: symbols.function("mj_deleteModel")?,
            make_data: symbols.function("mj_makeData")?,
            delete_data: symbols.function("mj_deleteData")?,
            reset: symbols.function("mj_resetData")?,
            reset_to_key: symbols.function("mj_resetDataKeyframe")?,
            step: symbols.function("mj_step")?,
            step1: symbols.function("mj_step1")?,
            step2: symbols.function("mj_step2")?,
            forward: symbols.function("mj_forward")?,
            kinematics: symbols.function("mj_kinematics")?,
            com_pos: symbols.function("mj_comPos")?,
            com_vel: symbols.function("mj_comVel")?,
            id2name: symbols.function("mj_id2name")?,
            name2id: symbols.function("mj_name2id")?,
            str2type: symbols.function("mju_str2Type")?,
            local_to_global: symbols.function("mj_local2Global")?,
            object_velocity: symbols.function("mj_objectVelocity")?,
            apply_force: symbols.function("mj_applyFT")?,
            contact_force: symbols.function("mj_contactForce")?,
            print_data: symbols.function("mj_printFormattedData")?,
            print_model: symbols.function("mj_printModel")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_three_numbers() {
        assert_eq!(numbers_of("2.2.2"), [2, 2, 2]);
        assert_eq!(numbers_of("3.17.0-rc"), [3, 17, 0]);
        assert!(numbers_of("3.17.0") > numbers_of("3.3.7"));
        assert_eq!(numbers_of(""), [0, 0, 0]);
    }
}
