//! Which elements and attributes SDF has, versions 1.4 to 1.12 taken together, and our own.
//!
//! The table answers one question, whether a name exists, so that a misspelt one is
//! found. What a name means in which version is the readers' business. Sensors, plugins,
//! actors, the scene and the like are opaque: kept as written, not looked into.

use crate::xml::Element;

macro_rules! element {
    ($id:ident, $name:literal, [$($attribute:literal),*], [$($child:expr),* $(,)?]) => {
        static $id: Element = Element {
            name: $name,
            attributes: &[$($attribute),*],
            children: &[$(&$child),*],
            opaque: false,
        };
    };
}

/// An element that holds a value and nothing else.
const fn leaf(name: &'static str) -> Element {
    Element { name, attributes: &[], children: &[], opaque: false }
}

/// An element whose inside is not looked into.
const fn opaque(name: &'static str) -> Element {
    Element { name, attributes: &[], children: &[], opaque: true }
}

/// The whole of an SDF file.
pub(super) static SDF: Element = Element {
    name: "sdf",
    attributes: &["version"],
    // `include` is in no version of SDF here, but its own parser takes it and files use it.
    children: &[&WORLD, &MODEL, &LIGHT, &INCLUDE, &opaque("actor")],
    opaque: false,
};

element!(
    WORLD,
    "world",
    ["name"],
    [
        INCLUDE,
        PHYSICS,
        LIGHT,
        MODEL,
        JOINT,
        FRAME,
        leaf("gravity"),
        opaque("actor"),
        opaque("plugin"),
        opaque("gui"),
        opaque("scene"),
        opaque("audio"),
        opaque("road"),
        opaque("state"),
        opaque("population"),
        opaque("wind"),
        opaque("magnetic_field"),
        opaque("atmosphere"),
        opaque("spherical_coordinates"),
        opaque("particle_emitter"),
        REGION,
        CONTACT_SET,
        FOREIGN,
    ]
);

element!(
    INCLUDE,
    "include",
    ["merge"],
    [
        leaf("uri"),
        leaf("name"),
        leaf("static"),
        POSE,
        leaf("placement_frame"),
        leaf("namespace"),
        opaque("plugin"),
        opaque("model_state"),
        // Gazebo Classic's, for recorded states.
        opaque("static_state"),
        leaf("headland:detail"),
        leaf("headland:touches"),
        // Its parameters have names of their own; the reader looks at them.
        opaque("headland:controller"),
        PAINT,
    ]
);

element!(
    MODEL,
    "model",
    ["name", "canonical_link", "placement_frame", "namespace"],
    [
        leaf("static"),
        leaf("self_collide"),
        leaf("allow_auto_disable"),
        leaf("enable_wind"),
        POSE,
        LINK,
        JOINT,
        FRAME,
        MODEL,
        INCLUDE,
        opaque("plugin"),
        opaque("gripper"),
        opaque("model_state"),
        leaf("headland:detail"),
        ACTUATOR,
        CONTACT_EXCLUDE,
        CONTACT_PAIR,
        CONTACT_SET,
        FOOT,
        WHEEL,
        leaf("headland:touches"),
        opaque("headland:controller"),
        FOREIGN,
    ]
);

element!(
    LINK,
    "link",
    ["name"],
    [
        POSE,
        leaf("gravity"),
        leaf("self_collide"),
        leaf("kinematic"),
        leaf("must_be_base_link"),
        leaf("enable_wind"),
        VELOCITY_DECAY,
        INERTIAL,
        COLLISION,
        VISUAL,
        LIGHT,
        opaque("sensor"),
        opaque("plugin"),
        opaque("projector"),
        opaque("audio_sink"),
        opaque("audio_source"),
        opaque("battery"),
        opaque("particle_emitter"),
        opaque("frame"), // 1.5 and 1.6 allowed frames nearly everywhere; nothing could use them
        leaf("headland:twist"),
        FOREIGN,
    ]
);

element!(POSE, "pose", ["relative_to", "frame", "rotation_format", "degrees"], []);
element!(FRAME, "frame", ["name", "attached_to"], [POSE]);
element!(VELOCITY_DECAY, "velocity_decay", [], [leaf("linear"), leaf("angular")]);
element!(
    INERTIAL,
    "inertial",
    ["auto", "headland:derived", "headland:default"],
    [
        leaf("mass"),
        POSE,
        INERTIA,
        leaf("density"),
        opaque("fluid_added_mass"),
        opaque("auto_inertia_params"),
        opaque("frame"),
    ]
);
element!(
    INERTIA,
    "inertia",
    [],
    [leaf("ixx"), leaf("ixy"), leaf("ixz"), leaf("iyy"), leaf("iyz"), leaf("izz")]
);

element!(
    COLLISION,
    "collision",
    ["name"],
    [
        POSE,
        GEOMETRY,
        SURFACE,
        leaf("laser_retro"),
        leaf("max_contacts"),
        leaf("density"),
        opaque("auto_inertia_params"),
        opaque("frame"),
    ]
);
element!(
    VISUAL,
    "visual",
    ["name"],
    [
        POSE,
        GEOMETRY,
        MATERIAL,
        leaf("cast_shadows"),
        leaf("transparency"),
        leaf("laser_retro"),
        leaf("visibility_flags"),
        opaque("plugin"),
        opaque("meta"),
        opaque("frame"),
    ]
);
element!(
    MATERIAL,
    "material",
    [],
    [
        leaf("ambient"),
        leaf("diffuse"),
        leaf("specular"),
        leaf("emissive"),
        leaf("lighting"),
        leaf("shininess"),
        leaf("render_order"),
        leaf("double_sided"),
        opaque("script"),
        opaque("shader"),
        opaque("pbr"),
        FOREIGN,
    ]
);
element!(
    LIGHT,
    "light",
    ["name", "type"],
    [
        POSE,
        leaf("cast_shadows"),
        leaf("diffuse"),
        leaf("specular"),
        leaf("direction"),
        leaf("intensity"),
        leaf("light_on"),
        leaf("visualize"),
        ATTENUATION,
        SPOT,
        opaque("plugin"),
        opaque("frame"),
    ]
);
element!(
    ATTENUATION,
    "attenuation",
    [],
    [leaf("range"), leaf("constant"), leaf("linear"), leaf("quadratic")]
);
element!(SPOT, "spot", [], [leaf("inner_angle"), leaf("outer_angle"), leaf("falloff")]);

element!(
    GEOMETRY,
    "geometry",
    [],
    [
        leaf("empty"),
        BOX,
        SPHERE,
        CYLINDER,
        CAPSULE,
        ELLIPSOID,
        CONE,
        PLANE,
        MESH,
        HEIGHTMAP,
        POLYLINE,
        opaque("image"),
    ]
);
element!(BOX, "box", [], [leaf("size")]);
element!(SPHERE, "sphere", [], [leaf("radius")]);
element!(CYLINDER, "cylinder", [], [leaf("radius"), leaf("length")]);
element!(CAPSULE, "capsule", [], [leaf("radius"), leaf("length")]);
element!(ELLIPSOID, "ellipsoid", [], [leaf("radii")]);
element!(CONE, "cone", [], [leaf("radius"), leaf("length")]);
element!(PLANE, "plane", [], [leaf("normal"), leaf("size")]);
element!(
    MESH,
    "mesh",
    ["optimization"],
    [
        leaf("uri"),
        leaf("scale"),
        SUBMESH,
        CONVEX_DECOMPOSITION,
        leaf("headland:vertices"),
        leaf("headland:triangles"),
    ]
);
element!(SUBMESH, "submesh", [], [leaf("name"), leaf("center")]);
element!(
    CONVEX_DECOMPOSITION,
    "convex_decomposition",
    [],
    [leaf("max_convex_hulls"), leaf("voxel_resolution")]
);
element!(
    HEIGHTMAP,
    "heightmap",
    [],
    [
        leaf("uri"),
        leaf("size"),
        leaf("pos"),
        leaf("use_terrain_paging"),
        leaf("sampling"),
        opaque("texture"),
        opaque("blend"),
        HEIGHTS,
    ]
);
element!(HEIGHTS, "headland:heights", ["columns", "rows"], []);
element!(POLYLINE, "polyline", [], [leaf("point"), leaf("height")]);

element!(
    SURFACE,
    "surface",
    [],
    [BOUNCE, FRICTION, CONTACT, opaque("soft_contact"), leaf("headland:surface_type")]
);
element!(BOUNCE, "bounce", [], [leaf("restitution_coefficient"), leaf("threshold")]);
element!(FRICTION, "friction", [], [FRICTION_ODE, FRICTION_BULLET, TORSIONAL]);
element!(
    FRICTION_ODE,
    "ode",
    [],
    [leaf("mu"), leaf("mu2"), leaf("fdir1"), leaf("slip1"), leaf("slip2")]
);
element!(
    FRICTION_BULLET,
    "bullet",
    [],
    [leaf("friction"), leaf("friction2"), leaf("fdir1"), leaf("rolling_friction")]
);
element!(
    TORSIONAL,
    "torsional",
    [],
    [
        leaf("coefficient"),
        leaf("use_patch_radius"),
        leaf("patch_radius"),
        leaf("surface_radius"),
        TORSIONAL_ODE,
    ]
);
element!(TORSIONAL_ODE, "ode", [], [leaf("slip")]);
element!(
    CONTACT,
    "contact",
    [],
    [
        leaf("collide_without_contact"),
        leaf("collide_without_contact_bitmask"),
        leaf("collide_bitmask"),
        leaf("category_bitmask"),
        leaf("poissons_ratio"),
        leaf("elastic_modulus"),
        CONTACT_ODE,
        CONTACT_BULLET,
    ]
);
element!(
    CONTACT_ODE,
    "ode",
    [],
    [
        leaf("soft_cfm"),
        leaf("soft_erp"),
        leaf("kp"),
        leaf("kd"),
        leaf("max_vel"),
        leaf("min_depth"),
    ]
);
element!(
    CONTACT_BULLET,
    "bullet",
    [],
    [
        leaf("soft_cfm"),
        leaf("soft_erp"),
        leaf("kp"),
        leaf("kd"),
        leaf("split_impulse"),
        leaf("split_impulse_penetration_threshold"),
    ]
);

element!(
    JOINT,
    "joint",
    ["name", "type"],
    [
        POSE,
        leaf("parent"),
        leaf("child"),
        AXIS,
        AXIS2,
        leaf("thread_pitch"),
        SCREW_THREAD_PITCH,
        leaf("gearbox_ratio"),
        leaf("gearbox_reference_body"),
        JOINT_PHYSICS,
        opaque("sensor"),
        opaque("frame"),
        FOREIGN,
    ]
);
element!(SCREW_THREAD_PITCH, "screw_thread_pitch", ["headland:metres_per_radian"], []);
element!(
    AXIS,
    "axis",
    [],
    [
        XYZ,
        DYNAMICS,
        LIMIT,
        MIMIC,
        leaf("use_parent_model_frame"),
        leaf("initial_position"),
        leaf("headland:initial_position"),
    ]
);
element!(
    AXIS2,
    "axis2",
    [],
    [
        XYZ,
        DYNAMICS,
        LIMIT,
        MIMIC,
        leaf("use_parent_model_frame"),
        leaf("initial_position"),
        leaf("headland:initial_position"),
    ]
);
element!(XYZ, "xyz", ["expressed_in"], []);
element!(
    DYNAMICS,
    "dynamics",
    [],
    [
        leaf("damping"),
        leaf("friction"),
        leaf("spring_reference"),
        leaf("spring_stiffness"),
        leaf("headland:armature"),
    ]
);
element!(
    LIMIT,
    "limit",
    [],
    [
        leaf("lower"),
        leaf("upper"),
        leaf("effort"),
        leaf("velocity"),
        leaf("stiffness"),
        leaf("dissipation"),
    ]
);
element!(
    MIMIC,
    "mimic",
    ["joint", "axis"],
    [leaf("multiplier"), leaf("offset"), leaf("reference")]
);
element!(JOINT_PHYSICS, "physics", [], [JOINT_SIMBODY, JOINT_ODE, leaf("provide_feedback")]);
element!(JOINT_SIMBODY, "simbody", [], [leaf("must_be_loop_joint")]);
element!(
    JOINT_ODE,
    "ode",
    [],
    [
        leaf("provide_feedback"),
        leaf("cfm_damping"),
        leaf("implicit_spring_damper"),
        leaf("fudge_factor"),
        leaf("cfm"),
        leaf("erp"),
        leaf("bounce"),
        leaf("max_force"),
        leaf("velocity"),
        JOINT_ODE_LIMIT,
        JOINT_ODE_SUSPENSION,
    ]
);
element!(JOINT_ODE_LIMIT, "limit", [], [leaf("cfm"), leaf("erp")]);
element!(JOINT_ODE_SUSPENSION, "suspension", [], [leaf("cfm"), leaf("erp")]);

element!(
    PHYSICS,
    "physics",
    ["name", "type", "default"],
    [
        leaf("max_step_size"),
        leaf("real_time_factor"),
        leaf("real_time_update_rate"),
        leaf("max_contacts"),
        leaf("gravity"),
        leaf("magnetic_field"),
        SOLVER_ODE,
        SOLVER_BULLET,
        SOLVER_SIMBODY,
        SOLVER_DART,
        NATIVE,
    ]
);
element!(SOLVER_ODE, "ode", [], [ODE_SOLVER, ODE_CONSTRAINTS]);
element!(
    ODE_SOLVER,
    "solver",
    [],
    [
        leaf("type"),
        leaf("min_step_size"),
        leaf("iters"),
        leaf("precon_iters"),
        leaf("sor"),
        leaf("use_dynamic_moi_rescaling"),
        leaf("island_threads"),
        leaf("thread_position_correction"),
        leaf("friction_model"),
    ]
);
element!(
    ODE_CONSTRAINTS,
    "constraints",
    [],
    [leaf("cfm"), leaf("erp"), leaf("contact_max_correcting_vel"), leaf("contact_surface_layer"),]
);
element!(SOLVER_BULLET, "bullet", [], [BULLET_SOLVER, BULLET_CONSTRAINTS]);
element!(
    BULLET_SOLVER,
    "solver",
    [],
    [leaf("type"), leaf("min_step_size"), leaf("iters"), leaf("sor")]
);
element!(
    BULLET_CONSTRAINTS,
    "constraints",
    [],
    [
        leaf("cfm"),
        leaf("erp"),
        leaf("contact_surface_layer"),
        leaf("split_impulse"),
        leaf("split_impulse_penetration_threshold"),
    ]
);
element!(
    SOLVER_SIMBODY,
    "simbody",
    [],
    [leaf("min_step_size"), leaf("accuracy"), leaf("max_transient_velocity"), SIMBODY_CONTACT]
);
element!(
    SIMBODY_CONTACT,
    "contact",
    [],
    [
        leaf("stiffness"),
        leaf("dissipation"),
        leaf("plastic_coef_restitution"),
        leaf("plastic_impact_velocity"),
        leaf("static_friction"),
        leaf("dynamic_friction"),
        leaf("viscous_friction"),
        leaf("override_impact_capture_velocity"),
        leaf("override_stiction_transition_velocity"),
    ]
);
element!(SOLVER_DART, "dart", [], [DART_SOLVER, leaf("collision_detector")]);
element!(DART_SOLVER, "solver", [], [leaf("solver_type")]);

element!(REGION, "headland:region", ["name"], [POSE, GEOMETRY]);
element!(
    ACTUATOR,
    "headland:actuator",
    [
        "name",
        "joint",
        "type",
        "gear",
        "kp",
        "kv",
        "command_range",
        "effort_range",
        "stall_effort",
        "no_load_speed",
        "rate"
    ],
    []
);
element!(CONTACT_EXCLUDE, "headland:contact_exclude", ["first", "second"], []);
element!(CONTACT_PAIR, "headland:contact_pair", ["first", "second"], []);
element!(CONTACT_SET, "headland:contact_set", ["name"], []);
element!(FOOT, "headland:foot", ["link"], [POSE, leaf("size")]);
element!(WHEEL, "headland:wheel", ["joint", "radius", "steers_by"], []);
element!(NATIVE, "headland:native", [], [leaf("law"), INTEGRATOR, SURFACE_LAW]);
element!(INTEGRATOR, "integrator", ["tolerance"], []);
element!(
    SURFACE_LAW,
    "surface",
    ["first", "second"],
    [leaf("stiffness"), leaf("separation"), leaf("sliding"), leaf("spinning"), leaf("mu")]
);
element!(PAINT, "headland:paint", ["visual"], []);
element!(FOREIGN, "headland:foreign", ["format", "kind", "name"], []);
