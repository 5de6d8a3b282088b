//! Engines with a Python package, each a file of Python beside this one.
//!
//! Each file is read from its top, where a table says what is asked and what is realised.
//! `common.py`, the pipe and a little arithmetic, is put before each of them.

use headland_sim::{EngineEntry, Housing};

use crate::pipe;

macro_rules! adapter {
    ($file:literal) => {
        concat!(include_str!("common.py"), include_str!($file))
    };
}

/// DART, through `dartpy`.
pub const DART: EngineEntry = EngineEntry {
    name: "dart",
    summary: "DART by its Python package; articulated bodies, contacts as a boxed LCP",
    housing: Housing::Program,
    source: adapter!("dart.py"),
    find: pipe::find,
    limits: &[],
    install: "pip install dartpy",
    make: pipe::make,
};

/// Drake, through `pydrake`.
pub const DRAKE: EngineEntry = EngineEntry {
    name: "drake",
    summary: "Drake's MultibodyPlant by its Python package; compliant contacts, convex solver",
    housing: Housing::Program,
    source: adapter!("drake.py"),
    find: pipe::find,
    limits: &[],
    install: "pip install drake",
    make: pipe::make,
};

/// Bullet's multibodies, through `pybullet`.
pub const PYBULLET: EngineEntry = EngineEntry {
    name: "pybullet",
    summary: "Bullet's multibodies by their Python package; sequential impulses",
    housing: Housing::Program,
    source: adapter!("pybullet.py"),
    find: pipe::find,
    limits: &[],
    install: "pip install pybullet, with Python 3.11 or older",
    make: pipe::make,
};
