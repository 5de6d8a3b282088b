//! libmujoco, called by functions only: no field of any of its structures is touched, so that
//! one headland works with every version from 2.2.2 to 4.0.
//!
//! A file goes in, safe functions on a [`Sim`] (a model of MuJoCo's and its data) come out.
//! Which bit of a state means what differs between versions and is found by trying.
//! Deliberately absent: what is simulated.

#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

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

// Function pointers and constants; MuJoCo's functions may be called from any thread, on
// models and data that belong to it.
unsafe impl Send for Library {}
unsafe impl Sync for Library {}

thread_local! {
    /// What MuJoCo warned of since it was last asked.
    static WARNED: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Forces of the actuators during a step, by actuator.
    static FORCES: Cell<(*const f64, usize)> = const { Cell::new((std::ptr::null(), 0)) };
}

/// An error of MuJoCo's is the end of the process, by its own design: its data is then in no
/// state to go on with. Its words come first.
extern "C" fn on_error(message: *const c_char) {
    eprintln!("error[engine]: mujoco: {}", words(message));
    std::process::exit(crate::EXIT_FATAL);
}

extern "C" fn on_warning(message: *const c_char) {
    let said = || words(message).chars().take(500).collect();
    WARNED.with(|warned| _ = warned.borrow_mut().get_or_insert_with(said));
}

extern "C" fn force_of(_: *const c_void, _: *const c_void, actuator: c_int) -> f64 {
    let (forces, n) = FORCES.get();
    let i = usize::try_from(actuator).unwrap_or(usize::MAX);
    // The pointer is that of a slice which `Sim::step2` borrows for as long as it is set.
    if i < n { unsafe { *forces.add(i) } } else { 0.0 }
}

fn words(message: *const c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // MuJoCo hands over a string of its own that ends with a zero.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Library {
    /// The one that is found, loaded once per process.
    pub(super) fn get() -> Result<&'static Library, String> {
        static LOADED: OnceLock<Mutex<BTreeMap<PathBuf, Result<&'static Library, String>>>> =
            OnceLock::new();
        let place = super::find::find()?;
        let loaded = LOADED.get_or_init(Mutex::default);
        let mut loaded =
            loaded.lock().map_err(|_| "a thread broke while loading it".to_string())?;
        let load = |place: &Path| Ok(&*Box::leak(Box::new(Library::load(place)?)));
        loaded.entry(place.clone()).or_insert_with(|| load(&place)).clone()
    }

    fn load(place: &Path) -> Result<Library, String> {
        let at = place.display();
        // Loading runs the library's own initialisers; it is the file the user has installed.
        let library = unsafe { libloading::Library::new(place) }.map_err(|error| {
            // The loader's own words, such as a library it needs, are behind the error.
            let why = std::error::Error::source(&error).map(ToString::to_string);
            format!("`{at}` cannot be loaded: {}", why.unwrap_or_else(|| error.to_string()))
        })?;
        let symbols = Symbols { library: &library, place };
        let version_string: unsafe extern "C" fn() -> *const c_char =
            symbols.function("mj_versionString")?;
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
            match unsafe { size(first.model, bit) } {
                2 => ctrl = Some(bit),
                8 => qpos = Some(bit),
                18 => xfrc = Some(bit),
                7 => {
                    let mut sim = probe()?;
                    let mut values = [0.0; 7];
                    values[0] = 1.0;
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
        let found = unsafe { self.library.get::<T>(name.as_bytes()) };
        found.map(|symbol| *symbol).map_err(|_| self.missing(name))
    }

    /// Sets one of MuJoCo's global pointers to functions.
    fn set(&self, name: &str, handler: *const c_void) -> Result<(), String> {
        let found = unsafe { self.library.get::<*mut *const c_void>(name.as_bytes()) };
        let pointer = *found.map_err(|_| self.missing(name))?;
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

/// A model of MuJoCo's and the data that moves.
pub(super) struct Sim<'a> {
    library: &'a Library,
    model: Ptr,
    data: Ptr,
    /// The same model with its sensors switched on, where `model` has them switched off; null
    /// where `model` reads them itself.
    sensing: Ptr,
}

/// How much there is of everything in a model of MuJoCo's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) n_positions: usize,
    pub(super) n_velocities: usize,
    pub(super) n_controls: usize,
    /// The world is one of them.
    pub(super) n_bodies: usize,
}

/// MuJoCo's word for a frame that is where the inertia of its body is.
const SAME_AS_INERTIA: u8 = 2;

/// A body, by MuJoCo's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyId(pub(super) c_int);

/// A sensor, by MuJoCo's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SensorId(c_int);

impl Drop for Sim<'_> {
    fn drop(&mut self) {
        // Made by this library, and dropped once.
        unsafe {
            (self.library.functions.delete_data)(self.data);
            (self.library.functions.delete_model)(self.model);
            if !self.sensing.is_null() {
                (self.library.functions.delete_model)(self.sensing);
            }
        }
    }
}

impl<'a> Sim<'a> {
    /// Compiles an MJCF text whose sensors are read only when [`Sim::sense`] is called.
    pub(super) fn sensing(
        library: &'a Library,
        text: &str,
        files: &[(String, Vec<u8>)],
    ) -> Result<Sim<'a>, String> {
        const OFF: &str = "  <option><flag sensor=\"disable\"/></option>\n  <sensor>";
        let whole = Sim::from_text(library, text, files)?;
        if library.sense.is_none() || !text.contains("  <sensor>") {
            return Ok(whole);
        }
        // A flag is all that differs, so the data of the one is the data of the other.
        let mut out = Sim::from_text(library, &text.replacen("  <sensor>", OFF, 1), files)?;
        out.sensing = whole.into_model();
        Ok(out)
    }

    fn into_model(self) -> Ptr {
        let this = std::mem::ManuallyDrop::new(self);
        // Its model goes on without it, its data does not.
        unsafe { (this.library.functions.delete_data)(this.data) };
        this.model
    }

    /// Compiles an MJCF text; `files` are those it names, with their bytes.
    pub(super) fn from_text(
        library: &'a Library,
        text: &str,
        files: &[(String, Vec<u8>)],
    ) -> Result<Sim<'a>, String> {
        let put = || -> std::io::Result<(tempfile::TempDir, PathBuf)> {
            let folder = tempfile::Builder::new().prefix("headland-mujoco-").tempdir()?;
            for (name, bytes) in files {
                std::fs::write(folder.path().join(name), bytes)?;
            }
            let file = folder.path().join("model.xml");
            std::fs::write(&file, text)?;
            Ok((folder, file))
        };
        let (_folder, file) = put().map_err(|why| format!("cannot write the model: {why}"))?;
        Sim::from_file(library, &file)
    }

    /// Compiles an MJCF file.
    pub(super) fn from_file(library: &'a Library, file: &Path) -> Result<Sim<'a>, String> {
        let name = c_string(&file.to_string_lossy());
        let mut error = [0 as c_char; 1000];
        take_warning();
        let model = unsafe {
            (library.functions.load_xml)(
                name.as_ptr(),
                std::ptr::null_mut(),
                error.as_mut_ptr(),
                c_int::try_from(error.len()).expect("small"),
            )
        };
        if model.is_null() {
            return Err(words(error.as_ptr()));
        }
        let data = unsafe { (library.functions.make_data)(model) };
        if data.is_null() {
            unsafe { (library.functions.delete_model)(model) };
            return Err("there is no memory for its data".to_string());
        }
        take_warning();
        Ok(Sim { library, model, data, sensing: std::ptr::null_mut() })
    }

    /// The library it lives in.
    pub(super) fn library(&self) -> &'a Library {
        self.library
    }

    /// Goes back to where it was when it was loaded.
    pub(super) fn reset(&mut self) {
        unsafe { (self.library.functions.reset)(self.model, self.data) }
    }

    /// Goes to the first keyframe.
    pub(super) fn reset_to_key(&mut self) {
        unsafe { (self.library.functions.reset_to_key)(self.model, self.data, 0) }
    }

    /// One whole step.
    pub(super) fn step(&mut self) {
        unsafe { (self.library.functions.step)(self.model, self.data) }
    }

    /// The first half of a step: everything that follows from positions and velocities.
    pub(super) fn step1(&mut self) {
        unsafe { (self.library.functions.step1)(self.model, self.data) }
    }

    /// The second half of a step: forces, accelerations and the new positions. `inputs` are
    /// used by versions that must be asked for them.
    pub(super) fn step2(&mut self, inputs: &Applied) {
        match self.library.input_way {
            InputWay::State { .. } => unsafe {
                (self.library.functions.step2)(self.model, self.data);
            },
            InputWay::Bias => {
                FORCES.set((inputs.qfrc.as_ptr(), inputs.qfrc.len()));
                unsafe { (self.library.functions.step2)(self.model, self.data) };
                FORCES.set((std::ptr::null(), 0));
            }
        }
    }

    /// Reads the sensors after the second half of a step, where that did not.
    pub(super) fn sense(&mut self) {
        if let (Some(sense), false) = (self.library.sense, self.sensing.is_null()) {
            unsafe { sense(self.sensing, self.data) };
        }
    }

    /// Everything that follows from the state, without a step.
    pub(super) fn forward(&mut self) {
        unsafe { (self.library.functions.forward)(self.model, self.data) }
    }

    /// Where bodies are and how they move, of the positions and velocities of now. A step
    /// does it again, so calling it changes nothing.
    pub(super) fn place(&mut self) {
        let functions = &self.library.functions;
        unsafe {
            (functions.kinematics)(self.model, self.data);
            (functions.com_pos)(self.model, self.data);
            (functions.com_vel)(self.model, self.data);
        }
    }

    /// How much of everything there is, where there is a function that tells.
    pub(super) fn counts(&self) -> Option<Counts> {
        let InputWay::State { size, bits, .. } = self.library.input_way else { return None };
        let n = |bit| usize::try_from(unsafe { size(self.model, bit) }).unwrap_or(0);
        Some(Counts {
            n_positions: n(bits.qpos),
            n_velocities: n(bits.qvel),
            n_controls: n(bits.ctrl),
            n_bodies: n(bits.xfrc) / 6,
        })
    }

    /// Positions and velocities, which have these lengths, where there is a function for it.
    pub(super) fn read_motion(&self, positions: &mut [f64], velocities: &mut [f64]) {
        if let InputWay::State { get, bits, .. } = self.library.input_way {
            unsafe {
                get(self.model, self.data, positions.as_mut_ptr(), bits.qpos);
                get(self.model, self.data, velocities.as_mut_ptr(), bits.qvel);
            }
        }
    }

    /// Hands over what acts during the next step. `inputs` has the lengths of this model.
    pub(super) fn apply(&mut self, inputs: &mut Applied) {
        match self.library.input_way {
            InputWay::State { set, bits, .. } => {
                let [had_brakes, had_qfrc, had_xfrc] = &mut inputs.was_set;
                let parts = [
                    (&inputs.brakes, bits.ctrl, had_brakes),
                    (&inputs.qfrc, bits.qfrc, had_qfrc),
                    (&inputs.xfrc, bits.xfrc, had_xfrc),
                ];
                for (values, bit, was_set) in parts {
                    let is_zero = values.iter().all(|x| *x == 0.0);
                    // What was set stays set, so zeros need to be told once.
                    if (*was_set || !is_zero) && !values.is_empty() {
                        unsafe { set(self.model, self.data, values.as_ptr(), bit) };
                    }
                    *was_set = !is_zero;
                }
            }
            InputWay::Bias => {
                for (body, wrench) in inputs.xfrc.chunks_exact(6).enumerate() {
                    if wrench.iter().any(|x| *x != 0.0) {
                        let centre = inputs.centres.get(body).copied().unwrap_or_default();
                        let (force, torque) = wrench.split_at(3);
                        unsafe {
                            (self.library.functions.apply_force)(
                                self.model,
                                self.data,
                                force.as_ptr(),
                                torque.as_ptr(),
                                centre.as_ptr(),
                                c_int::try_from(body).expect("MuJoCo counts bodies so"),
                                inputs.qfrc.as_mut_ptr(),
                            );
                        }
                    }
                }
            }
        }
    }

    /// Changes positions and velocities, which have these lengths, where there is a function
    /// for it.
    pub(super) fn change_motion(
        &mut self,
        positions: &mut [f64],
        velocities: &mut [f64],
        change: impl FnOnce(&mut [f64], &mut [f64]),
    ) {
        if let InputWay::State { set, get, bits, .. } = self.library.input_way {
            unsafe {
                get(self.model, self.data, positions.as_mut_ptr(), bits.qpos);
                get(self.model, self.data, velocities.as_mut_ptr(), bits.qvel);
            }
            change(positions, velocities);
            unsafe {
                set(self.model, self.data, positions.as_ptr(), bits.qpos);
                set(self.model, self.data, velocities.as_ptr(), bits.qvel);
            }
        }
    }

    /// A body by name.
    pub(super) fn body(&self, name: &str) -> Option<BodyId> {
        self.id(self.library.body_type, name).map(BodyId)
    }

    /// The name of a body; none of one without, or where there is no such body.
    pub(super) fn name_of_body(&self, body: BodyId) -> Option<String> {
        self.name_of(self.library.body_type, body.0)
    }

    /// The name of an actuator.
    pub(super) fn name_of_actuator(&self, actuator_idx: usize) -> Option<String> {
        self.name_of(self.library.actuator_type, c_int::try_from(actuator_idx).ok()?)
    }

    fn name_of(&self, kind: c_int, id: c_int) -> Option<String> {
        let found = unsafe { (self.library.functions.id2name)(self.model, kind, id) };
        if found.is_null() {
            return None;
        }
        // MuJoCo's own string, which lives as long as the model.
        Some(unsafe { CStr::from_ptr(found) }.to_string_lossy().into_owned())
            .filter(|name| !name.is_empty())
    }

    /// An actuator by name.
    pub(super) fn actuator(&self, name: &str) -> Option<usize> {
        self.id(self.library.actuator_type, name).and_then(|id| usize::try_from(id).ok())
    }

    /// A sensor by name.
    pub(super) fn sensor(&self, name: &str) -> Option<SensorId> {
        self.id(self.library.sensor_type, name).map(SensorId)
    }

    /// A geom by name.
    pub(super) fn geom(&self, name: &str) -> Option<usize> {
        self.id(self.library.geom_type, name).and_then(|id| usize::try_from(id).ok())
    }

    fn id(&self, kind: c_int, name: &str) -> Option<c_int> {
        let name = c_string(name);
        let found = unsafe { (self.library.functions.name2id)(self.model, kind, name.as_ptr()) };
        (found >= 0).then_some(found)
    }

    /// Where a body's frame is: its origin, and its axes row by row.
    pub(super) fn pose(&self, body: BodyId) -> ([f64; 3], [f64; 9]) {
        self.frame(body, 0)
    }

    /// Where a body's centre of mass is.
    pub(super) fn centre(&self, body: BodyId) -> [f64; 3] {
        self.frame(body, SAME_AS_INERTIA).0
    }

    fn frame(&self, body: BodyId, same: u8) -> ([f64; 3], [f64; 9]) {
        let (mut position, mut turn) = ([0.0; 3], [0.0; 9]);
        let (origin, upright) = ([0.0; 3], [1.0, 0.0, 0.0, 0.0]);
        unsafe {
            (self.library.functions.local_to_global)(
                self.data,
                position.as_mut_ptr(),
                turn.as_mut_ptr(),
                origin.as_ptr(),
                upright.as_ptr(),
                body.0,
                same,
            );
        }
        (position, turn)
    }

    /// How a body's frame moves, in the world's axes: turning, then its origin.
    pub(super) fn velocity(&self, body: BodyId) -> [f64; 6] {
        let mut out = [0.0; 6];
        unsafe {
            (self.library.functions.object_velocity)(
                self.model,
                self.data,
                self.library.frame_type,
                body.0,
                out.as_mut_ptr(),
                0,
            );
        }
        out
    }

    /// The first `n` values of a sensor, which must have as many.
    pub(super) fn sensor_values(&self, sensor: SensorId, n: usize) -> &[f64] {
        let Some(read) = self.library.read_sensor else { return &[] };
        let mut unused = 0.0;
        let model = if self.sensing.is_null() { self.model } else { self.sensing };
        let values = unsafe { read(model, self.data, sensor.0, 0.0, &raw mut unused, 0) };
        if values.is_null() {
            return &[];
        }
        // Without a history, which none of ours has, this points into the data of the
        // simulation, which lives and is not written to for as long as `self` is borrowed.
        unsafe { std::slice::from_raw_parts(values, n) }
    }

    /// Force and torque of a contact in its own frame, normal first.
    pub(super) fn contact_force(&self, contact_idx: usize) -> [f64; 6] {
        let mut out = [0.0; 6];
        let idx = c_int::try_from(contact_idx).unwrap_or(-1);
        unsafe {
            (self.library.functions.contact_force)(self.model, self.data, idx, out.as_mut_ptr());
        }
        out
    }

    /// Writes everything about the model into a file, as text.
    pub(super) fn print_model(&self, file: &Path) {
        let file = c_string(&file.to_string_lossy());
        unsafe { (self.library.functions.print_model)(self.model, file.as_ptr()) }
    }

    /// Writes everything about the data into a file, as text with every digit.
    pub(super) fn print_data(&self, file: &Path) {
        let (file, format) = (c_string(&file.to_string_lossy()), c"%24.17g");
        unsafe {
            (self.library.functions.print_data)(
                self.model,
                self.data,
                file.as_ptr(),
                format.as_ptr(),
            );
        }
    }
}

/// What MuJoCo warned of on this thread since this was last asked.
pub(super) fn take_warning() -> Option<String> {
    WARNED.with(|warned| warned.borrow_mut().take())
}

/// What acts on a model of MuJoCo's during a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Applied {
    /// A number per velocity \[N or N·m\].
    pub(super) qfrc: Vec<f64>,
    /// Force, then torque, at the centre of mass of each body, in the world's axes.
    pub(super) xfrc: Vec<f64>,
    /// Damping of each axis that is part of MuJoCo's own solution, or what actuators of a file
    /// are told; a number per actuator.
    pub(super) brakes: Vec<f64>,
    /// Where the centres of mass are, for versions that ask for it.
    pub(super) centres: Vec<[f64; 3]>,
    was_set: [bool; 3],
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
