//! A model of MuJoCo's and its data, behind safe functions.
//!
//! Deliberately absent: how the library is found and what its functions are; that is next door.

use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};

use super::{FORCES, InputWay, Library, Ptr, c_string, take_warning, words};

/// A model of MuJoCo's and the data that moves.
pub(in crate::mujoco) struct Sim<'a> {
    library: &'a Library,
    pub(super) model: Ptr,
    pub(super) data: Ptr,
    /// The same model with its sensors switched on, where `model` has them switched off; null
    /// where `model` reads them itself.
    sensing: Ptr,
    /// How long its parts of a state are, where there is a function that tells.
    counts: Option<Counts>,
}

/// How much there is of everything in a model of MuJoCo's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::mujoco) struct Counts {
    pub(in crate::mujoco) n_positions: usize,
    pub(in crate::mujoco) n_velocities: usize,
    pub(in crate::mujoco) n_controls: usize,
    /// The world is one of them.
    pub(in crate::mujoco) n_bodies: usize,
}

/// How long the parts of a model's state are, where there is a function that tells.
fn counts_of(library: &Library, model: Ptr) -> Option<Counts> {
    let InputWay::State { size, bits, .. } = library.input_way else { return None };
    // SAFETY: a model that lives, bits that there are.
    let n = |bit| usize::try_from(unsafe { size(model, bit) }).unwrap_or(0);
    Some(Counts {
        n_positions: n(bits.qpos),
        n_velocities: n(bits.qvel),
        n_controls: n(bits.ctrl),
        n_bodies: n(bits.xfrc) / 6,
    })
}

/// MuJoCo's word for a frame that is where the inertia of its body is.
const SAME_AS_INERTIA: u8 = 2;

/// A body, by MuJoCo's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mujoco) struct BodyId(c_int);

impl BodyId {
    /// What never moves.
    pub(in crate::mujoco) const WORLD: BodyId = BodyId(0);

    /// Where it is among all bodies.
    pub(in crate::mujoco) fn number(self) -> usize {
        usize::try_from(self.0).expect("bodies are counted from zero")
    }
}

/// A sensor, by MuJoCo's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mujoco) struct SensorId(c_int);

impl Drop for Sim<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this library, and dropped once.
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
    pub(in crate::mujoco) fn sensing(
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
        // SAFETY: its model goes on without it, its data does not and is dropped once.
        unsafe { (this.library.functions.delete_data)(this.data) };
        this.model
    }

    /// Compiles an MJCF text; `files` are those it names, with their bytes.
    pub(in crate::mujoco) fn from_text(
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
    pub(in crate::mujoco) fn from_file(
        library: &'a Library,
        file: &Path,
    ) -> Result<Sim<'a>, String> {
        let name = c_string(&file.to_string_lossy());
        let mut error = [0 as c_char; 1000];
        take_warning();
        // SAFETY: a string that ends with a zero, and as much room for an error as is said.
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
        // SAFETY: a model that lives.
        let data = unsafe { (library.functions.make_data)(model) };
        if data.is_null() {
            // SAFETY: made above, and dropped once.
            unsafe { (library.functions.delete_model)(model) };
            return Err("there is no memory for its data".to_string());
        }
        take_warning();
        let counts = counts_of(library, model);
        Ok(Sim { library, model, data, sensing: std::ptr::null_mut(), counts })
    }

    /// The library it lives in.
    pub(in crate::mujoco) fn library(&self) -> &'a Library {
        self.library
    }

    /// Goes back to where it was when it was loaded.
    pub(in crate::mujoco) fn reset(&mut self) {
        // SAFETY: a model and its data that live.
        unsafe { (self.library.functions.reset)(self.model, self.data) }
    }

    /// Goes to the first keyframe.
    pub(in crate::mujoco) fn reset_to_key(&mut self) {
        // SAFETY: a model and its data that live.
        unsafe { (self.library.functions.reset_to_key)(self.model, self.data, 0) }
    }

    /// One whole step.
    pub(in crate::mujoco) fn step(&mut self) {
        // SAFETY: a model and its data that live.
        unsafe { (self.library.functions.step)(self.model, self.data) }
    }

    /// The first half of a step: everything that follows from positions and velocities.
    pub(in crate::mujoco) fn step1(&mut self) {
        // SAFETY: a model and its data that live.
        unsafe { (self.library.functions.step1)(self.model, self.data) }
    }

    /// The second half of a step: forces, accelerations and the new positions. `inputs` are
    /// used by versions that must be asked for them.
    pub(in crate::mujoco) fn step2(&mut self, inputs: &Applied) {
        match self.library.input_way {
            // SAFETY: a model and its data that live.
            InputWay::State { .. } => unsafe {
                (self.library.functions.step2)(self.model, self.data);
            },
            InputWay::Bias => {
                FORCES.set((inputs.qfrc.as_ptr(), inputs.qfrc.len()));
                // SAFETY: as above; `force_of` finds the forces, which are borrowed meanwhile.
                unsafe { (self.library.functions.step2)(self.model, self.data) };
                FORCES.set((std::ptr::null(), 0));
            }
        }
    }

    /// Reads the sensors after the second half of a step, where that did not.
    pub(in crate::mujoco) fn sense(&mut self) {
        if let (Some(sense), false) = (self.library.sense, self.sensing.is_null()) {
            // SAFETY: `sensing` is the model the data belongs to but for a flag, so sizes agree.
            unsafe { sense(self.sensing, self.data) };
        }
    }

    /// Everything that follows from the state, without a step.
    pub(in crate::mujoco) fn forward(&mut self) {
        // SAFETY: a model and its data that live.
        unsafe { (self.library.functions.forward)(self.model, self.data) }
    }

    /// Where bodies are and how they move, of the positions and velocities of now. A step
    /// does it again, so calling it changes nothing.
    pub(in crate::mujoco) fn place(&mut self) {
        let functions = &self.library.functions;
        // SAFETY: a model and its data that live.
        unsafe {
            (functions.kinematics)(self.model, self.data);
            (functions.com_pos)(self.model, self.data);
            (functions.com_vel)(self.model, self.data);
        }
    }

    /// How much of everything there is, where there is a function that tells.
    pub(in crate::mujoco) fn counts(&self) -> Option<Counts> {
        self.counts
    }

    /// Positions and velocities, which have these lengths, where there is a function for it.
    pub(in crate::mujoco) fn read_motion(&self, positions: &mut [f64], velocities: &mut [f64]) {
        if let InputWay::State { get, bits, .. } = self.library.input_way {
            self.assert_motion_fits(positions, velocities);
            // SAFETY: as many numbers as it writes.
            unsafe {
                get(self.model, self.data, positions.as_mut_ptr(), bits.qpos);
                get(self.model, self.data, velocities.as_mut_ptr(), bits.qvel);
            }
        }
    }

    fn assert_motion_fits(&self, positions: &[f64], velocities: &[f64]) {
        if let Some(counts) = self.counts {
            assert_eq!(positions.len(), counts.n_positions, "a number per position");
            assert_eq!(velocities.len(), counts.n_velocities, "a number per velocity");
        }
    }

    /// Hands over what acts during the next step. `inputs` has the lengths of this model.
    pub(in crate::mujoco) fn apply(&mut self, inputs: &mut Applied) {
        match self.library.input_way {
            InputWay::State { set, bits, .. } => {
                let [had_brakes, had_qfrc, had_xfrc] = &mut inputs.was_set;
                let Counts { n_controls, n_velocities, n_bodies, .. } =
                    self.counts.expect("what sets a state knows its size");
                let parts = [
                    (&inputs.brakes, bits.ctrl, n_controls, had_brakes),
                    (&inputs.qfrc, bits.qfrc, n_velocities, had_qfrc),
                    (&inputs.xfrc, bits.xfrc, 6 * n_bodies, had_xfrc),
                ];
                for (values, bit, n, was_set) in parts {
                    let is_zero = values.iter().all(|x| *x == 0.0);
                    // What was set stays set, so zeros need to be told once.
                    if (*was_set || !is_zero) && !values.is_empty() {
                        assert_eq!(values.len(), n, "as many numbers as the model has");
                        // SAFETY: as many numbers as it reads, by the line above.
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
                        // SAFETY: three numbers each; `qfrc` has one per velocity, as the model
                        // was written, and `xfrc` six per body of it.
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
    pub(in crate::mujoco) fn change_motion(
        &mut self,
        positions: &mut [f64],
        velocities: &mut [f64],
        change: impl FnOnce(&mut [f64], &mut [f64]),
    ) {
        if let InputWay::State { set, get, bits, .. } = self.library.input_way {
            self.assert_motion_fits(positions, velocities);
            // SAFETY: as many numbers as it writes.
            unsafe {
                get(self.model, self.data, positions.as_mut_ptr(), bits.qpos);
                get(self.model, self.data, velocities.as_mut_ptr(), bits.qvel);
            }
            change(positions, velocities);
            // SAFETY: the same numbers, so as many as it reads.
            unsafe {
                set(self.model, self.data, positions.as_ptr(), bits.qpos);
                set(self.model, self.data, velocities.as_ptr(), bits.qvel);
            }
        }
    }

    /// A body by name.
    pub(in crate::mujoco) fn body(&self, name: &str) -> Option<BodyId> {
        self.id(self.library.body_type, name).map(BodyId)
    }

    /// A body by its number, where there is a function that tells how many there are.
    pub(in crate::mujoco) fn body_numbered(&self, number: usize) -> Option<BodyId> {
        let is_one = number < self.counts?.n_bodies;
        c_int::try_from(number).ok().filter(|_| is_one).map(BodyId)
    }

    /// The name of a body; none of one without, or where there is no such body.
    pub(in crate::mujoco) fn name_of_body(&self, body: BodyId) -> Option<String> {
        self.name_of(self.library.body_type, body.0)
    }

    /// The name of an actuator.
    pub(in crate::mujoco) fn name_of_actuator(&self, actuator_idx: usize) -> Option<String> {
        self.name_of(self.library.actuator_type, c_int::try_from(actuator_idx).ok()?)
    }

    fn name_of(&self, kind: c_int, id: c_int) -> Option<String> {
        // SAFETY: a model that lives; what is out of range has no name.
        let found = unsafe { (self.library.functions.id2name)(self.model, kind, id) };
        if found.is_null() {
            return None;
        }
        // SAFETY: MuJoCo's own string, which lives as long as the model.
        Some(unsafe { CStr::from_ptr(found) }.to_string_lossy().into_owned())
            .filter(|name| !name.is_empty())
    }

    /// An actuator by name.
    pub(in crate::mujoco) fn actuator(&self, name: &str) -> Option<usize> {
        self.id(self.library.actuator_type, name).and_then(|id| usize::try_from(id).ok())
    }

    /// A sensor by name.
    pub(in crate::mujoco) fn sensor(&self, name: &str) -> Option<SensorId> {
        self.id(self.library.sensor_type, name).map(SensorId)
    }

    /// A geom by name.
    pub(in crate::mujoco) fn geom(&self, name: &str) -> Option<usize> {
        self.id(self.library.geom_type, name).and_then(|id| usize::try_from(id).ok())
    }

    fn id(&self, kind: c_int, name: &str) -> Option<c_int> {
        let name = c_string(name);
        // SAFETY: a model that lives, a string that ends with a zero.
        let found = unsafe { (self.library.functions.name2id)(self.model, kind, name.as_ptr()) };
        (found >= 0).then_some(found)
    }

    /// Where a body's frame is: its origin, and its axes row by row.
    pub(in crate::mujoco) fn pose(&self, body: BodyId) -> ([f64; 3], [f64; 9]) {
        self.frame(body, 0)
    }

    /// Where a body's centre of mass is.
    pub(in crate::mujoco) fn centre(&self, body: BodyId) -> [f64; 3] {
        self.frame(body, SAME_AS_INERTIA).0
    }

    fn frame(&self, body: BodyId, same: u8) -> ([f64; 3], [f64; 9]) {
        let (mut position, mut turn) = ([0.0; 3], [0.0; 9]);
        let (origin, upright) = ([0.0; 3], [1.0, 0.0, 0.0, 0.0]);
        // SAFETY: room for three and nine numbers, three and four to read, a body of the model.
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
    pub(in crate::mujoco) fn velocity(&self, body: BodyId) -> [f64; 6] {
        let mut out = [0.0; 6];
        // SAFETY: room for six numbers, a body of the model.
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
    pub(in crate::mujoco) fn sensor_values(&self, sensor: SensorId, n: usize) -> &[f64] {
        let Some(read) = self.library.read_sensor else { return &[] };
        let mut unused = 0.0;
        let model = if self.sensing.is_null() { self.model } else { self.sensing };
        // SAFETY: a sensor of the model, and room for the one number it asks for.
        let values = unsafe { read(model, self.data, sensor.0, 0.0, &raw mut unused, 0) };
        if values.is_null() {
            return &[];
        }
        // SAFETY: without a history, which none of ours has, this points into the data of the
        // simulation, which lives and is not written to for as long as `self` is borrowed; the
        // sensor was written with at least `n` values.
        unsafe { std::slice::from_raw_parts(values, n) }
    }

    /// Force and torque of a contact in its own frame, normal first.
    pub(in crate::mujoco) fn contact_force(&self, contact_idx: usize) -> [f64; 6] {
        let mut out = [0.0; 6];
        let idx = c_int::try_from(contact_idx).unwrap_or(-1);
        // SAFETY: room for six numbers; of a contact that is not there it writes zeros.
        unsafe {
            (self.library.functions.contact_force)(self.model, self.data, idx, out.as_mut_ptr());
        }
        out
    }

    /// Writes everything about the model into a file, as text.
    pub(in crate::mujoco) fn print_model(&self, file: &Path) {
        let file = c_string(&file.to_string_lossy());
        // SAFETY: a model that lives, a string that ends with a zero.
        unsafe { (self.library.functions.print_model)(self.model, file.as_ptr()) }
    }

    /// Writes everything about the data into a file, as text with every digit.
    pub(in crate::mujoco) fn print_data(&self, file: &Path) {
        let (file, format) = (c_string(&file.to_string_lossy()), c"%24.17g");
        // SAFETY: a model and its data that live, strings that end with a zero.
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

/// What acts on a model of MuJoCo's during a step.
#[derive(Clone, Debug, Default)]
pub(in crate::mujoco) struct Applied {
    /// A number per velocity \[N or N·m\].
    pub(in crate::mujoco) qfrc: Vec<f64>,
    /// Force, then torque, at the centre of mass of each body, in the world's axes.
    pub(in crate::mujoco) xfrc: Vec<f64>,
    /// Damping of each axis that is part of MuJoCo's own solution, or what actuators of a file
    /// are told; a number per actuator.
    pub(in crate::mujoco) brakes: Vec<f64>,
    /// Where the centres of mass are, for versions that ask for it.
    pub(in crate::mujoco) centres: Vec<[f64; 3]>,
    was_set: [bool; 3],
}
