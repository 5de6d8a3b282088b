//! Engines with a Python package, each a file of Python beside this one.
//!
//! Each file is read from its top, where a table says what is asked and what is realised.
//! `common.py`, the pipe and a little arithmetic, is put before each of them.

use std::time::Duration;

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
    preparation: Duration::ZERO,
    find: pipe::find,
    limits: &[
        "friction is the same in every direction: the mean of mu and mu2",
        "restitution is multiplied; where factors cannot give the lesser of two, it is told with numbers",
        "below 0.1 m/s nothing bounces",
        "no ellipsoids, meshes, heightmaps or polylines; cones by another collision detector",
        "the armature of a turning axis is added to its child, that of a sliding one is left out",
        "a loop can be closed by a hinge or a ball joint, without limits, springs, dampers or friction",
        "shapes are kept apart by whole rigids only",
        "slip, torsional friction, friction directions, bounce thresholds and contact stiffness are left out",
    ],
    install: "pip install dartpy",
    make: pipe::make,
};

/// Drake, through `pydrake`.
pub const DRAKE: EngineEntry = EngineEntry {
    name: "drake",
    summary: "Drake's MultibodyPlant by its Python package; compliant contacts, convex solver",
    housing: Housing::Program,
    source: adapter!("drake.py"),
    preparation: Duration::ZERO,
    find: pipe::find,
    limits: &[
        "no restitution: contacts dissipate by a formula, and bounce far too low",
        "contacts are solved by TAMSI, and by SAP from the first step on that TAMSI cannot solve",
        "a pair touches in one point at a time, so boxes rock, and creep by millimetres where they should stick",
        "friction is the same in every direction: the mean of mu and mu2",
        "friction is combined by 2ab/(a+b); where values cannot give the lesser of two, it is told with numbers",
        "meshes, heightmaps and cones touch as convex hulls",
        "limits and armature on hinges and slides only; universal joints with axes at right angles only",
        "a ball joint is singular when pitched by 90°; dry friction is an effort found once a step",
        "a loop can be closed by a hinge or a ball joint between moving links, without limits, springs, dampers or friction",
        "slip, torsional friction, friction directions, bounce thresholds and contact stiffness are left out",
    ],
    install: "pip install drake",
    make: pipe::make,
};

/// Bullet's multibodies, through `pybullet`.
pub const PYBULLET: EngineEntry = EngineEntry {
    name: "pybullet",
    summary: "Bullet's multibodies by their Python package; sequential impulses",
    housing: Housing::Program,
    source: adapter!("pybullet.py"),
    preparation: Duration::ZERO,
    find: pipe::find,
    limits: &[
        "friction and restitution are multiplied; where factors cannot give the lesser of two, it is told with numbers",
        "restitution comes out too high at small steps",
        "friction is the same in every direction: the mean of mu and mu2",
        "no screw joints, no mimics, nothing that hangs from a kinematic link",
        "springs and dampers are forces held for a step: those stiff for the step are lost",
        "hulls, cones, ellipsoids and meshes touch 1 mm outside; a moving mesh as its hull",
        "the armature of a turning axis is added to its child, that of a sliding one is left out",
        "a loop can be closed by a hinge or a ball joint, without limits, springs, dampers or friction",
        "slip, torsional friction, friction directions, bounce thresholds and contact stiffness are left out",
    ],
    install: "pip install pybullet, with Python 3.11 or older",
    make: pipe::make,
};
