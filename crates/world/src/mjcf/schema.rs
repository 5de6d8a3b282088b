//! The names MJCF has: what may stand where, as MuJoCo 3 lists it, and a few names of
//! MuJoCo 2 that it still reads.
//!
//! A constant per element, named by where it stands; elements that are alike in two places
//! share one.

use crate::xml::Element;

const fn element(
    name: &'static str,
    attributes: &'static [&'static str],
    children: &'static [&'static Element],
) -> Element {
    Element { name, attributes, children, opaque: false }
}

/// The root, and through it everything.
pub static MUJOCO: Element = element("mujoco", &["model"], &[&COMPILER, &OPTION, &SIZE,
    &STATISTIC, &VISUAL, &DEFAULT, &EXTENSION, &ASSET, &WORLDBODY, &DEFORMABLE, &CONTACT,
    &TENDON, &EQUALITY, &ACTUATOR, &SENSOR, &CUSTOM, &KEYFRAME]);
static COMPILER_LENGTHRANGE: Element = element("lengthrange", &["accel", "interval", "inttotal",
    "maxforce", "mode", "timeconst", "timestep", "tolrange", "useexisting", "uselimit"], &[]);
static COMPILER: Element = element("compiler", &["alignfree", "angle", "assetdir", "autolimits",
    "balanceinertia", "boundinertia", "boundmass", "conflict", "convexhull", "coordinate",
    "discardvisual", "eulerseq", "exactmeshinertia", "fitaabb", "fusestatic", "inertiadensity",
    "inertiafromgeom", "inertiagrouprange", "meshdir", "passthrough", "savecanonical",
    "savecompiled", "saveinertial", "settotalmass", "strippath", "texturedir", "usethread"],
    &[&COMPILER_LENGTHRANGE]);
static OPTION_FLAG: Element = element("flag", &["actuation", "autoreset", "clampctrl",
    "constraint", "contact", "damper", "diagexact", "energy", "equality", "eulerdamp",
    "filterparent", "frictionloss", "fwdinv", "gravity", "invdiscrete", "ipc", "island",
    "limit", "midphase", "mujoco", "multiccd", "nativeccd", "override", "passive", "refsafe",
    "sensor", "sleep", "spring", "warmstart"], &[]);
static OPTION: Element = element("option", &["actuatorgroupdisable", "apirate",
    "ccd_iterations", "ccd_tolerance", "collision", "cone", "density", "gravity", "impratio",
    "integrator", "iterations", "jacobian", "ls_iterations", "ls_tolerance", "magnetic",
    "mpr_iterations", "mpr_tolerance", "noslip_iterations", "noslip_tolerance", "o_friction",
    "o_margin", "o_solimp", "o_solref", "sdf_initpoints", "sdf_iterations", "sleep_tolerance",
    "solver", "timestep", "tolerance", "viscosity", "wind"], &[&OPTION_FLAG]);
static SIZE: Element = element("size", &["memory", "nconmax", "njmax", "nkey", "nnames",
    "nstack", "nuser", "nuser_actuator", "nuser_body", "nuser_cam", "nuser_geom", "nuser_jnt",
    "nuser_sensor", "nuser_site", "nuser_tendon", "nuserdata"], &[]);
static STATISTIC: Element = element("statistic", &["center", "extent", "meaninertia",
    "meanmass", "meansize"], &[]);
static VISUAL_GLOBAL: Element = element("global", &["azimuth", "bvactive", "cameraid",
    "elevation", "ellipsoidinertia", "fovy", "glow", "ipd", "linewidth", "offheight",
    "offwidth", "orthographic", "realtime"], &[]);
static VISUAL_QUALITY: Element = element("quality", &["numquads", "numslices", "numstacks",
    "offsamples", "shadowsize"], &[]);
static VISUAL_HEADLIGHT: Element = element("headlight", &["active", "ambient", "diffuse",
    "specular"], &[]);
static VISUAL_MAP: Element = element("map", &["actuatortendon", "alpha", "fogend", "fogstart",
    "force", "haze", "shadowclip", "shadowscale", "stiffness", "stiffnessrot", "torque", "zfar",
    "znear"], &[]);
static VISUAL_SCALE: Element = element("scale", &["actuatorlength", "actuatorwidth", "camera",
    "com", "connect", "constraint", "contactheight", "contactwidth", "forcewidth",
    "framelength", "framewidth", "frustum", "jointlength", "jointwidth", "light", "selectpoint",
    "slidercrank"], &[]);
static VISUAL_RGBA: Element = element("rgba", &["actuator", "actuatornegative",
    "actuatorpositive", "bv", "bvactive", "camera", "com", "connect", "constraint",
    "contactforce", "contactfriction", "contactgap", "contactpoint", "contacttorque",
    "crankbroken", "fog", "force", "frustum", "haze", "inertia", "joint", "light",
    "rangefinder", "selectpoint", "slidercrank"], &[]);
static VISUAL: Element = element("visual", &[], &[&VISUAL_GLOBAL, &VISUAL_QUALITY,
    &VISUAL_HEADLIGHT, &VISUAL_MAP, &VISUAL_SCALE, &VISUAL_RGBA]);
static DEFAULT_MESH: Element = element("mesh", &["inertia", "maxhullvert", "scale"], &[]);
static DEFAULT_TEXTURE: Element = element("texture", &["builtin", "colorspace", "embed",
    "gridlayout", "gridsize", "height", "hflip", "mark", "markrgb", "nchannel", "random",
    "rgb1", "rgb2", "type", "vflip", "width"], &[]);
static DEFAULT_MATERIAL_LAYER: Element = element("layer", &["role", "texture"], &[]);
static DEFAULT_MATERIAL: Element = element("material", &["emission", "metallic", "reflectance",
    "rgba", "roughness", "shininess", "specular", "texrepeat", "texture", "texuniform"],
    &[&DEFAULT_MATERIAL_LAYER]);
static DEFAULT_JOINT: Element = element("joint", &["actuatorfrclimited", "actuatorfrcrange",
    "actuatorgravcomp", "armature", "axis", "damping", "frictionloss", "group", "limited",
    "margin", "pos", "range", "ref", "solimpfriction", "solimplimit", "solreffriction",
    "solreflimit", "springdamper", "springref", "stiffness", "type", "user"], &[]);
static DEFAULT_GEOM: Element = element("geom", &["adhesion", "axisangle", "conaffinity",
    "condim", "contype", "density", "euler", "fitscale", "fluidcoef", "fluidshape", "friction",
    "fromto", "gap", "group", "hfield", "margin", "mass", "material", "mesh", "pos", "priority",
    "quat", "rgba", "shellinertia", "size", "solimp", "solmix", "solref", "surfacevel", "type",
    "user", "xyaxes", "zaxis"], &[]);
static DEFAULT_SITE: Element = element("site", &["axisangle", "euler", "fromto", "group",
    "material", "mesh", "pos", "quat", "rgba", "size", "type", "user", "xyaxes", "zaxis"], &[]);
static DEFAULT_CAMERA: Element = element("camera", &["axisangle", "euler", "focal",
    "focalpixel", "fovy", "ipd", "mode", "output", "pos", "principal", "principalpixel",
    "projection", "quat", "resolution", "sensorsize", "user", "xyaxes", "zaxis"], &[]);
static DEFAULT_LIGHT: Element = element("light", &["active", "ambient", "attenuation",
    "bulbradius", "castshadow", "cutoff", "diffuse", "dir", "directional", "exponent",
    "intensity", "mode", "pos", "range", "softness", "specular", "type"], &[]);
static DEFAULT_PAIR: Element = element("pair", &["adhesion", "condim", "friction", "gap",
    "margin", "solimp", "solref", "solreffriction"], &[]);
static DEFAULT_EQUALITY: Element = element("equality", &["active", "solimp", "solref"], &[]);
static DEFAULT_TENDON: Element = element("tendon", &["damping", "frictionloss", "group",
    "limited", "margin", "material", "range", "rgba", "solimpfriction", "solimplimit",
    "solreffriction", "solreflimit", "springlength", "stiffness", "user", "width"], &[]);
static DEFAULT_GENERAL: Element = element("general", &["actdim", "actearly", "actlimited",
    "actrange", "armature", "biasprm", "biastype", "cranklength", "ctrllimited", "ctrlrange",
    "damping", "delay", "dynprm", "dyntype", "ffrange", "forcelimited", "forcerange", "gainprm",
    "gaintype", "gear", "group", "inheritrange", "input", "interp", "nsample", "user",
    "velrange"], &[]);
static DEFAULT_MOTOR: Element = element("motor", &["armature", "cranklength", "ctrllimited",
    "ctrlrange", "damping", "delay", "forcelimited", "forcerange", "gear", "group", "interp",
    "nsample", "user"], &[]);
static DEFAULT_POSITION: Element = element("position", &["armature", "cranklength",
    "ctrllimited", "ctrlrange", "damping", "dampratio", "delay", "forcelimited", "forcerange",
    "gear", "group", "inheritrange", "interp", "kp", "kv", "nsample", "timeconst", "user"],
    &[]);
static DEFAULT_VELOCITY: Element = element("velocity", &["armature", "cranklength",
    "ctrllimited", "ctrlrange", "damping", "delay", "forcelimited", "forcerange", "gear",
    "group", "interp", "kv", "nsample", "user"], &[]);
static DEFAULT_INTVELOCITY: Element = element("intvelocity", &["actlimited", "actrange",
    "armature", "cranklength", "ctrllimited", "ctrlrange", "damping", "dampratio", "delay",
    "forcelimited", "forcerange", "gear", "group", "inheritrange", "interp", "kp", "kv",
    "nsample", "user"], &[]);
static DEFAULT_ORIENTATION: Element = element("orientation", &["ctrlrange", "dampratio",
    "delay", "forcelimited", "forcerange", "group", "input", "interp", "kp", "kv", "nsample",
    "user"], &[]);
static DEFAULT_PID: Element = element("pid", &["armature", "cranklength", "ctrllimited",
    "ctrlrange", "damping", "dampratio", "delay", "ffrange", "forcelimited", "forcerange",
    "gear", "group", "imax", "inheritrange", "input", "interp", "ki", "kp", "kv", "nsample",
    "posrange", "slewmax", "user", "velrange"], &[]);
static DEFAULT_DAMPER: Element = element("damper", &["armature", "cranklength", "ctrlrange",
    "damping", "delay", "forcelimited", "forcerange", "gear", "group", "interp", "kv",
    "nsample", "user"], &[]);
static DEFAULT_CYLINDER: Element = element("cylinder", &["area", "armature", "bias",
    "cranklength", "ctrllimited", "ctrlrange", "damping", "delay", "diameter", "forcelimited",
    "forcerange", "gear", "group", "interp", "nsample", "timeconst", "user"], &[]);
static DEFAULT_MUSCLE: Element = element("muscle", &["armature", "cranklength", "ctrllimited",
    "ctrlrange", "damping", "delay", "force", "forcelimited", "forcerange", "fpmax", "fvmax",
    "gear", "group", "interp", "lmax", "lmin", "nsample", "range", "scale", "timeconst", "user",
    "vmax"], &[]);
static DEFAULT_ADHESION: Element = element("adhesion", &["ctrlrange", "delay", "forcelimited",
    "forcerange", "gain", "group", "interp", "nsample", "user"], &[]);
static DEFAULT_DCMOTOR: Element = element("dcmotor", &["armature", "cogging", "controller",
    "cranklength", "ctrllimited", "ctrlrange", "damping", "delay", "gear", "group",
    "inductance", "input", "interp", "lugre", "motorconst", "nominal", "nsample", "resistance",
    "saturation", "thermal", "user"], &[]);
static DEFAULT: Element = element("default", &["class"], &[&DEFAULT_MESH, &DEFAULT_TEXTURE,
    &DEFAULT_MATERIAL, &DEFAULT_JOINT, &DEFAULT_GEOM, &DEFAULT_SITE, &DEFAULT_CAMERA,
    &DEFAULT_LIGHT, &DEFAULT_PAIR, &DEFAULT_EQUALITY, &DEFAULT_TENDON, &DEFAULT_GENERAL,
    &DEFAULT_MOTOR, &DEFAULT_POSITION, &DEFAULT_VELOCITY, &DEFAULT_INTVELOCITY,
    &DEFAULT_ORIENTATION, &DEFAULT_PID, &DEFAULT_DAMPER, &DEFAULT_CYLINDER, &DEFAULT_MUSCLE,
    &DEFAULT_ADHESION, &DEFAULT_DCMOTOR, &DEFAULT]);
static EXTENSION_PLUGIN_INSTANCE_CONFIG: Element = element("config", &["key", "value"], &[]);
static EXTENSION_PLUGIN_INSTANCE: Element = element("instance", &["name"],
    &[&EXTENSION_PLUGIN_INSTANCE_CONFIG]);
static EXTENSION_PLUGIN: Element = element("plugin", &["plugin"],
    &[&EXTENSION_PLUGIN_INSTANCE]);
static EXTENSION: Element = element("extension", &[], &[&EXTENSION_PLUGIN]);
static ASSET_MESH_PLUGIN: Element = element("plugin", &["instance", "plugin"],
    &[&EXTENSION_PLUGIN_INSTANCE_CONFIG]);
static ASSET_MESH: Element = element("mesh", &["builtin", "class", "content_type", "face",
    "file", "inertia", "material", "maxhullvert", "name", "normal", "params", "refpos",
    "refquat", "scale", "smoothnormal", "texcoord", "vertex"], &[&ASSET_MESH_PLUGIN]);
static ASSET_HFIELD: Element = element("hfield", &["content_type", "elevation", "file", "name",
    "ncol", "nrow", "size"], &[]);
static ASSET_SKIN_BONE: Element = element("bone", &["bindpos", "bindquat", "body", "vertid",
    "vertweight"], &[]);
static ASSET_SKIN: Element = element("skin", &["face", "file", "group", "inflate", "material",
    "name", "rgba", "texcoord", "vertex"], &[&ASSET_SKIN_BONE]);
static ASSET_TEXTURE: Element = element("texture", &["builtin", "class", "colorspace",
    "content_type", "embed", "file", "fileback", "filedown", "filefront", "fileleft",
    "fileright", "fileup", "gridlayout", "gridsize", "height", "hflip", "mark", "markrgb",
    "name", "nchannel", "random", "rgb1", "rgb2", "type", "vflip", "width"], &[]);
static ASSET_MATERIAL: Element = element("material", &["class", "emission", "metallic", "name",
    "reflectance", "rgba", "roughness", "shininess", "specular", "texrepeat", "texture",
    "texuniform"], &[&DEFAULT_MATERIAL_LAYER]);
static ASSET_MODEL: Element = element("model", &["content_type", "file", "name"], &[]);
static ASSET: Element = element("asset", &[], &[&ASSET_MESH, &ASSET_HFIELD, &ASSET_SKIN,
    &ASSET_TEXTURE, &ASSET_MATERIAL, &ASSET_MODEL]);
static BODY_INERTIAL: Element = element("inertial", &["axisangle", "diaginertia", "euler",
    "fullinertia", "mass", "pos", "quat", "xyaxes", "zaxis"], &[]);
static BODY_JOINT: Element = element("joint", &["actuatorfrclimited", "actuatorfrcrange",
    "actuatorgravcomp", "armature", "axis", "class", "damping", "frictionloss", "group",
    "limited", "margin", "name", "pos", "range", "ref", "solimpfriction", "solimplimit",
    "solreffriction", "solreflimit", "springdamper", "springref", "stiffness", "type", "user"],
    &[]);
static BODY_FREEJOINT: Element = element("freejoint", &["align", "group", "name"], &[]);
static BODY_GEOM: Element = element("geom", &["adhesion", "axisangle", "class", "conaffinity",
    "condim", "contype", "density", "euler", "fitscale", "fluidcoef", "fluidshape", "friction",
    "fromto", "gap", "group", "hfield", "margin", "mass", "material", "mesh", "name", "pos",
    "priority", "quat", "rgba", "shellinertia", "size", "solimp", "solmix", "solref",
    "surfacevel", "type", "user", "xyaxes", "zaxis"], &[&ASSET_MESH_PLUGIN]);
static BODY_ATTACH: Element = element("attach", &["body", "frame", "model", "prefix"], &[]);
static BODY_SITE: Element = element("site", &["axisangle", "class", "euler", "fromto", "group",
    "material", "mesh", "name", "pos", "quat", "rgba", "size", "type", "user", "xyaxes",
    "zaxis"], &[]);
static BODY_CAMERA: Element = element("camera", &["axisangle", "class", "euler", "focal",
    "focalpixel", "fovy", "ipd", "mode", "name", "output", "pos", "principal", "principalpixel",
    "projection", "quat", "resolution", "sensorsize", "target", "user", "xyaxes", "zaxis"],
    &[]);
static BODY_LIGHT: Element = element("light", &["active", "ambient", "attenuation",
    "bulbradius", "castshadow", "class", "cutoff", "diffuse", "dir", "directional", "exponent",
    "intensity", "mode", "name", "pos", "range", "softness", "specular", "target", "texture",
    "type"], &[]);
static BODY_COMPOSITE_JOINT: Element = element("joint", &["armature", "axis", "damping",
    "frictionloss", "group", "kind", "limited", "margin", "range", "solimpfix",
    "solimpfriction", "solimplimit", "solreffix", "solreffriction", "solreflimit", "stiffness",
    "type"], &[]);
static BODY_COMPOSITE_SKIN: Element = element("skin", &["group", "inflate", "material", "rgba",
    "subgrid", "texcoord"], &[]);
static BODY_COMPOSITE_GEOM: Element = element("geom", &["adhesion", "conaffinity", "condim",
    "contype", "density", "friction", "gap", "group", "margin", "mass", "material", "priority",
    "rgba", "size", "solimp", "solmix", "solref", "surfacevel", "type"], &[]);
static BODY_COMPOSITE_SITE: Element = element("site", &["group", "material", "mesh", "rgba",
    "size"], &[]);
static BODY_COMPOSITE: Element = element("composite", &["count", "curve", "initial", "offset",
    "prefix", "quat", "size", "type", "vertex"], &[&BODY_COMPOSITE_JOINT, &BODY_COMPOSITE_SKIN,
    &BODY_COMPOSITE_GEOM, &BODY_COMPOSITE_SITE, &ASSET_MESH_PLUGIN]);
static BODY_FLEXCOMP_EDGE: Element = element("edge", &["damping", "equality", "solimp",
    "solref", "stiffness"], &[]);
static BODY_FLEXCOMP_ELASTICITY: Element = element("elasticity", &["damping", "elastic2d",
    "poisson", "section", "sectionsize", "thickness", "young"], &[]);
static BODY_FLEXCOMP_CONTACT: Element = element("contact", &["activelayers", "conaffinity",
    "condim", "contype", "friction", "gap", "margin", "passive", "priority", "selfcollide",
    "solimp", "solmix", "solref"], &[]);
static BODY_FLEXCOMP_PIN: Element = element("pin", &["grid", "gridrange", "id", "range"], &[]);
static BODY_FLEXCOMP: Element = element("flexcomp", &["axisangle", "cellcount", "count", "dim",
    "dof", "element", "euler", "file", "flatskin", "group", "inertiabox", "mass", "material",
    "mesh", "name", "origin", "point", "pos", "quat", "radius", "rgba", "rigid", "scale",
    "spacing", "texcoord", "type", "xyaxes", "zaxis"], &[&BODY_FLEXCOMP_EDGE,
    &BODY_FLEXCOMP_ELASTICITY, &BODY_FLEXCOMP_CONTACT, &BODY_FLEXCOMP_PIN, &ASSET_MESH_PLUGIN]);
static BODY: Element = element("body", &["axisangle", "childclass", "euler", "fuse", "gravcomp",
    "mocap", "name", "pos", "quat", "simple", "sleep", "user", "xyaxes", "zaxis"],
    &[&BODY_INERTIAL, &BODY_JOINT, &BODY_FREEJOINT, &BODY_GEOM, &BODY_ATTACH, &BODY_SITE,
    &BODY_CAMERA, &BODY_LIGHT, &ASSET_MESH_PLUGIN, &BODY_COMPOSITE, &BODY_FLEXCOMP, &BODY,
    &FRAME, &REPLICATE]);
static DEFORMABLE_FLEX_EDGE: Element = element("edge", &["damping", "stiffness"], &[]);
static DEFORMABLE_FLEX: Element = element("flex", &["body", "cellcount", "dim", "dof",
    "element", "elemtexcoord", "flatskin", "group", "material", "name", "node", "nodecoord",
    "radius", "rgba", "texcoord", "vertex"], &[&BODY_FLEXCOMP_CONTACT, &DEFORMABLE_FLEX_EDGE,
    &BODY_FLEXCOMP_ELASTICITY]);
static DEFORMABLE: Element = element("deformable", &[], &[&DEFORMABLE_FLEX, &ASSET_SKIN]);
static CONTACT_PAIR: Element = element("pair", &["adhesion", "class", "condim", "friction",
    "gap", "geom1", "geom2", "margin", "name", "solimp", "solref", "solreffriction"], &[]);
static CONTACT_EXCLUDE: Element = element("exclude", &["body1", "body2", "name"], &[]);
static CONTACT: Element = element("contact", &[], &[&CONTACT_PAIR, &CONTACT_EXCLUDE]);
static TENDON_SPATIAL_SITE: Element = element("site", &["site"], &[]);
static TENDON_SPATIAL_GEOM: Element = element("geom", &["geom", "sidesite"], &[]);
static TENDON_SPATIAL_PULLEY: Element = element("pulley", &["divisor"], &[]);
static TENDON_SPATIAL: Element = element("spatial", &["actuatorfrclimited", "actuatorfrcrange",
    "armature", "class", "damping", "frictionloss", "group", "limited", "margin", "material",
    "name", "range", "rgba", "solimpfriction", "solimplimit", "solreffriction", "solreflimit",
    "springlength", "stiffness", "user", "width"], &[&TENDON_SPATIAL_SITE, &TENDON_SPATIAL_GEOM,
    &TENDON_SPATIAL_PULLEY]);
static TENDON_FIXED_JOINT: Element = element("joint", &["coef", "joint"], &[]);
static TENDON_FIXED: Element = element("fixed", &["actuatorfrclimited", "actuatorfrcrange",
    "armature", "class", "damping", "frictionloss", "group", "limited", "margin", "name",
    "range", "solimpfriction", "solimplimit", "solreffriction", "solreflimit", "springlength",
    "stiffness", "user"], &[&TENDON_FIXED_JOINT]);
static TENDON: Element = element("tendon", &[], &[&TENDON_SPATIAL, &TENDON_FIXED]);
static EQUALITY_CONNECT: Element = element("connect", &["active", "anchor", "body1", "body2",
    "class", "name", "site1", "site2", "solimp", "solref"], &[]);
static EQUALITY_WELD: Element = element("weld", &["active", "anchor", "body1", "body2", "class",
    "name", "relpose", "site1", "site2", "solimp", "solref", "torquescale"], &[]);
static EQUALITY_JOINT: Element = element("joint", &["active", "class", "joint1", "joint2",
    "name", "polycoef", "solimp", "solref"], &[]);
static EQUALITY_TENDON: Element = element("tendon", &["active", "class", "name", "polycoef",
    "solimp", "solref", "tendon1", "tendon2"], &[]);
static EQUALITY_FLEX: Element = element("flex", &["active", "class", "flex", "name", "solimp",
    "solref"], &[]);
static EQUALITY_FLEXVERT: Element = element("flexvert", &["active", "class", "flex", "name",
    "solimp", "solref"], &[]);
static EQUALITY_FLEXSTRAIN: Element = element("flexstrain", &["active", "cell", "class", "flex",
    "name", "solimp", "solref"], &[]);
static EQUALITY: Element = element("equality", &[], &[&EQUALITY_CONNECT, &EQUALITY_WELD,
    &EQUALITY_JOINT, &EQUALITY_TENDON, &EQUALITY_FLEX, &EQUALITY_FLEXVERT,
    &EQUALITY_FLEXSTRAIN]);
static ACTUATOR_GENERAL: Element = element("general", &["actdim", "actearly", "actlimited",
    "actrange", "armature", "biasprm", "biastype", "body", "class", "cranklength", "cranksite",
    "ctrllimited", "ctrlrange", "damping", "delay", "dynprm", "dyntype", "ffrange",
    "forcelimited", "forcerange", "gainprm", "gaintype", "gear", "group", "inheritrange",
    "input", "interp", "joint", "jointinparent", "lengthrange", "name", "nsample", "refsite",
    "site", "slidersite", "tendon", "user", "velrange"], &[]);
static ACTUATOR_MOTOR: Element = element("motor", &["armature", "class", "cranklength",
    "cranksite", "ctrllimited", "ctrlrange", "damping", "delay", "forcelimited", "forcerange",
    "gear", "group", "interp", "joint", "jointinparent", "lengthrange", "name", "nsample",
    "refsite", "site", "slidersite", "tendon", "user"], &[]);
static ACTUATOR_POSITION: Element = element("position", &["armature", "class", "cranklength",
    "cranksite", "ctrllimited", "ctrlrange", "damping", "dampratio", "delay", "forcelimited",
    "forcerange", "gear", "group", "inheritrange", "interp", "joint", "jointinparent", "kp",
    "kv", "lengthrange", "name", "nsample", "refsite", "site", "slidersite", "tendon",
    "timeconst", "user"], &[]);
static ACTUATOR_VELOCITY: Element = element("velocity", &["armature", "class", "cranklength",
    "cranksite", "ctrllimited", "ctrlrange", "damping", "delay", "forcelimited", "forcerange",
    "gear", "group", "interp", "joint", "jointinparent", "kv", "lengthrange", "name", "nsample",
    "refsite", "site", "slidersite", "tendon", "user"], &[]);
static ACTUATOR_INTVELOCITY: Element = element("intvelocity", &["actlimited", "actrange",
    "armature", "class", "cranklength", "cranksite", "ctrllimited", "ctrlrange", "damping",
    "dampratio", "delay", "forcelimited", "forcerange", "gear", "group", "inheritrange",
    "interp", "joint", "jointinparent", "kp", "kv", "lengthrange", "name", "nsample", "refsite",
    "site", "slidersite", "tendon", "user"], &[]);
static ACTUATOR_ORIENTATION: Element = element("orientation", &["class", "ctrlrange",
    "dampratio", "delay", "forcelimited", "forcerange", "group", "input", "interp", "joint",
    "kp", "kv", "name", "nsample", "refsite", "site", "user"], &[]);
static ACTUATOR_PID: Element = element("pid", &["armature", "class", "cranklength", "cranksite",
    "ctrllimited", "ctrlrange", "damping", "dampratio", "delay", "ffrange", "forcelimited",
    "forcerange", "gear", "group", "imax", "inheritrange", "input", "interp", "joint",
    "jointinparent", "ki", "kp", "kv", "lengthrange", "name", "nsample", "posrange", "refsite",
    "site", "slewmax", "slidersite", "tendon", "user", "velrange"], &[]);
static ACTUATOR_DAMPER: Element = element("damper", &["armature", "class", "cranklength",
    "cranksite", "ctrlrange", "damping", "delay", "forcelimited", "forcerange", "gear", "group",
    "interp", "joint", "jointinparent", "kv", "lengthrange", "name", "nsample", "refsite",
    "site", "slidersite", "tendon", "user"], &[]);
static ACTUATOR_CYLINDER: Element = element("cylinder", &["area", "armature", "bias", "class",
    "cranklength", "cranksite", "ctrllimited", "ctrlrange", "damping", "delay", "diameter",
    "forcelimited", "forcerange", "gear", "group", "interp", "joint", "jointinparent",
    "lengthrange", "name", "nsample", "refsite", "site", "slidersite", "tendon", "timeconst",
    "user"], &[]);
static ACTUATOR_MUSCLE: Element = element("muscle", &["armature", "class", "cranklength",
    "cranksite", "ctrllimited", "ctrlrange", "damping", "delay", "force", "forcelimited",
    "forcerange", "fpmax", "fvmax", "gear", "group", "interp", "joint", "jointinparent",
    "lengthrange", "lmax", "lmin", "name", "nsample", "range", "scale", "slidersite",
    "tausmooth", "tendon", "timeconst", "user", "vmax"], &[]);
static ACTUATOR_ADHESION: Element = element("adhesion", &["body", "class", "ctrlrange", "delay",
    "forcelimited", "forcerange", "gain", "group", "interp", "name", "nsample", "user"], &[]);
static ACTUATOR_DCMOTOR: Element = element("dcmotor", &["armature", "class", "cogging",
    "controller", "cranklength", "cranksite", "ctrllimited", "ctrlrange", "damping", "delay",
    "gear", "group", "inductance", "input", "interp", "joint", "jointinparent", "lengthrange",
    "lugre", "motorconst", "name", "nominal", "nsample", "refsite", "resistance", "saturation",
    "site", "slidersite", "tendon", "thermal", "user"], &[]);
static ACTUATOR_PLUGIN: Element = element("plugin", &["actdim", "actearly", "actlimited",
    "actrange", "armature", "class", "cranklength", "cranksite", "ctrllimited", "ctrlrange",
    "damping", "delay", "dynprm", "dyntype", "forcelimited", "forcerange", "gear", "group",
    "instance", "interp", "joint", "jointinparent", "lengthrange", "name", "nsample", "plugin",
    "site", "slidersite", "tendon", "user"], &[&EXTENSION_PLUGIN_INSTANCE_CONFIG]);
static ACTUATOR: Element = element("actuator", &[], &[&ACTUATOR_GENERAL, &ACTUATOR_MOTOR,
    &ACTUATOR_POSITION, &ACTUATOR_VELOCITY, &ACTUATOR_INTVELOCITY, &ACTUATOR_ORIENTATION,
    &ACTUATOR_PID, &ACTUATOR_DAMPER, &ACTUATOR_CYLINDER, &ACTUATOR_MUSCLE, &ACTUATOR_ADHESION,
    &ACTUATOR_DCMOTOR, &ACTUATOR_PLUGIN]);
static SENSOR_TOUCH: Element = element("touch", &["cutoff", "delay", "interp", "interval",
    "name", "noise", "nsample", "site", "user"], &[]);
static SENSOR_ACCELEROMETER: Element = element("accelerometer", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "site", "user"], &[]);
static SENSOR_VELOCIMETER: Element = element("velocimeter", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "site", "user"], &[]);
static SENSOR_GYRO: Element = element("gyro", &["cutoff", "delay", "interp", "interval", "name",
    "noise", "nsample", "site", "user"], &[]);
static SENSOR_FORCE: Element = element("force", &["cutoff", "delay", "interp", "interval",
    "name", "noise", "nsample", "site", "user"], &[]);
static SENSOR_TORQUE: Element = element("torque", &["cutoff", "delay", "interp", "interval",
    "name", "noise", "nsample", "site", "user"], &[]);
static SENSOR_MAGNETOMETER: Element = element("magnetometer", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "site", "user"], &[]);
static SENSOR_CAMPROJECTION: Element = element("camprojection", &["camera", "cutoff", "delay",
    "interp", "interval", "name", "noise", "nsample", "site", "user"], &[]);
static SENSOR_RANGEFINDER: Element = element("rangefinder", &["camera", "cutoff", "data",
    "delay", "interp", "interval", "name", "noise", "nsample", "site", "user"], &[]);
static SENSOR_JOINTPOS: Element = element("jointpos", &["cutoff", "delay", "interp", "interval",
    "joint", "name", "noise", "nsample", "user"], &[]);
static SENSOR_JOINTVEL: Element = element("jointvel", &["cutoff", "delay", "interp", "interval",
    "joint", "name", "noise", "nsample", "user"], &[]);
static SENSOR_TENDONPOS: Element = element("tendonpos", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "tendon", "user"], &[]);
static SENSOR_TENDONVEL: Element = element("tendonvel", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "tendon", "user"], &[]);
static SENSOR_ACTUATORPOS: Element = element("actuatorpos", &["actuator", "cutoff", "delay",
    "interp", "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_ACTUATORVEL: Element = element("actuatorvel", &["actuator", "cutoff", "delay",
    "interp", "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_ACTUATORFRC: Element = element("actuatorfrc", &["actuator", "cutoff", "delay",
    "interp", "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_JOINTACTUATORFRC: Element = element("jointactuatorfrc", &["cutoff", "delay",
    "interp", "interval", "joint", "name", "noise", "nsample", "user"], &[]);
static SENSOR_TENDONACTUATORFRC: Element = element("tendonactuatorfrc", &["cutoff", "delay",
    "interp", "interval", "name", "noise", "nsample", "tendon", "user"], &[]);
static SENSOR_BALLQUAT: Element = element("ballquat", &["cutoff", "delay", "interp", "interval",
    "joint", "name", "noise", "nsample", "user"], &[]);
static SENSOR_BALLANGVEL: Element = element("ballangvel", &["cutoff", "delay", "interp",
    "interval", "joint", "name", "noise", "nsample", "user"], &[]);
static SENSOR_JOINTLIMITPOS: Element = element("jointlimitpos", &["cutoff", "delay", "interp",
    "interval", "joint", "name", "noise", "nsample", "user"], &[]);
static SENSOR_JOINTLIMITVEL: Element = element("jointlimitvel", &["cutoff", "delay", "interp",
    "interval", "joint", "name", "noise", "nsample", "user"], &[]);
static SENSOR_JOINTLIMITFRC: Element = element("jointlimitfrc", &["cutoff", "delay", "interp",
    "interval", "joint", "name", "noise", "nsample", "user"], &[]);
static SENSOR_TENDONLIMITPOS: Element = element("tendonlimitpos", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "tendon", "user"], &[]);
static SENSOR_TENDONLIMITVEL: Element = element("tendonlimitvel", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "tendon", "user"], &[]);
static SENSOR_TENDONLIMITFRC: Element = element("tendonlimitfrc", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "tendon", "user"], &[]);
static SENSOR_FRAMEPOS: Element = element("framepos", &["cutoff", "delay", "interp", "interval",
    "name", "noise", "nsample", "objname", "objtype", "refname", "reftype", "user"], &[]);
static SENSOR_FRAMEQUAT: Element = element("framequat", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "objname", "objtype", "refname", "reftype", "user"],
    &[]);
static SENSOR_FRAMEXAXIS: Element = element("framexaxis", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "objname", "objtype", "refname", "reftype", "user"],
    &[]);
static SENSOR_FRAMEYAXIS: Element = element("frameyaxis", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "objname", "objtype", "refname", "reftype", "user"],
    &[]);
static SENSOR_FRAMEZAXIS: Element = element("framezaxis", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "objname", "objtype", "refname", "reftype", "user"],
    &[]);
static SENSOR_FRAMELINVEL: Element = element("framelinvel", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "objname", "objtype", "refname", "reftype", "user"],
    &[]);
static SENSOR_FRAMEANGVEL: Element = element("frameangvel", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "objname", "objtype", "refname", "reftype", "user"],
    &[]);
static SENSOR_FRAMELINACC: Element = element("framelinacc", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "objname", "objtype", "user"], &[]);
static SENSOR_FRAMEANGACC: Element = element("frameangacc", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "objname", "objtype", "user"], &[]);
static SENSOR_SUBTREECOM: Element = element("subtreecom", &["body", "cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_SUBTREELINVEL: Element = element("subtreelinvel", &["body", "cutoff", "delay",
    "interp", "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_SUBTREEANGMOM: Element = element("subtreeangmom", &["body", "cutoff", "delay",
    "interp", "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_INSIDESITE: Element = element("insidesite", &["cutoff", "delay", "enclosed",
    "interp", "interval", "name", "noise", "nsample", "objname", "objtype", "site", "user"],
    &[]);
static SENSOR_DISTANCE: Element = element("distance", &["body1", "body2", "cutoff", "delay",
    "geom1", "geom2", "interp", "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_NORMAL: Element = element("normal", &["body1", "body2", "cutoff", "delay",
    "geom1", "geom2", "interp", "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_FROMTO: Element = element("fromto", &["body1", "body2", "cutoff", "delay",
    "geom1", "geom2", "interp", "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_CONTACT: Element = element("contact", &["body1", "body2", "cutoff", "data",
    "delay", "geom1", "geom2", "interp", "interval", "name", "noise", "nsample", "num",
    "reduce", "site", "subtree1", "subtree2", "user"], &[]);
static SENSOR_E_POTENTIAL: Element = element("e_potential", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_E_KINETIC: Element = element("e_kinetic", &["cutoff", "delay", "interp",
    "interval", "name", "noise", "nsample", "user"], &[]);
static SENSOR_CLOCK: Element = element("clock", &["cutoff", "delay", "interp", "interval",
    "name", "noise", "nsample", "user"], &[]);
static SENSOR_TACTILE: Element = element("tactile", &["cutoff", "delay", "geom", "interp",
    "interval", "mesh", "name", "nsample", "user"], &[]);
static SENSOR_USER: Element = element("user", &["cutoff", "datatype", "dim", "name",
    "needstage", "noise", "objname", "objtype", "user"], &[]);
static SENSOR_PLUGIN: Element = element("plugin", &["cutoff", "instance", "name", "objname",
    "objtype", "plugin", "refname", "reftype", "user"], &[&EXTENSION_PLUGIN_INSTANCE_CONFIG]);
static SENSOR: Element = element("sensor", &[], &[&SENSOR_TOUCH, &SENSOR_ACCELEROMETER,
    &SENSOR_VELOCIMETER, &SENSOR_GYRO, &SENSOR_FORCE, &SENSOR_TORQUE, &SENSOR_MAGNETOMETER,
    &SENSOR_CAMPROJECTION, &SENSOR_RANGEFINDER, &SENSOR_JOINTPOS, &SENSOR_JOINTVEL,
    &SENSOR_TENDONPOS, &SENSOR_TENDONVEL, &SENSOR_ACTUATORPOS, &SENSOR_ACTUATORVEL,
    &SENSOR_ACTUATORFRC, &SENSOR_JOINTACTUATORFRC, &SENSOR_TENDONACTUATORFRC, &SENSOR_BALLQUAT,
    &SENSOR_BALLANGVEL, &SENSOR_JOINTLIMITPOS, &SENSOR_JOINTLIMITVEL, &SENSOR_JOINTLIMITFRC,
    &SENSOR_TENDONLIMITPOS, &SENSOR_TENDONLIMITVEL, &SENSOR_TENDONLIMITFRC, &SENSOR_FRAMEPOS,
    &SENSOR_FRAMEQUAT, &SENSOR_FRAMEXAXIS, &SENSOR_FRAMEYAXIS, &SENSOR_FRAMEZAXIS,
    &SENSOR_FRAMELINVEL, &SENSOR_FRAMEANGVEL, &SENSOR_FRAMELINACC, &SENSOR_FRAMEANGACC,
    &SENSOR_SUBTREECOM, &SENSOR_SUBTREELINVEL, &SENSOR_SUBTREEANGMOM, &SENSOR_INSIDESITE,
    &SENSOR_DISTANCE, &SENSOR_NORMAL, &SENSOR_FROMTO, &SENSOR_CONTACT, &SENSOR_E_POTENTIAL,
    &SENSOR_E_KINETIC, &SENSOR_CLOCK, &SENSOR_TACTILE, &SENSOR_USER, &SENSOR_PLUGIN]);
static CUSTOM_NUMERIC: Element = element("numeric", &["data", "name", "size"], &[]);
static CUSTOM_TEXT: Element = element("text", &["data", "name"], &[]);
static CUSTOM_TUPLE_ELEMENT: Element = element("element", &["objname", "objtype", "prm"], &[]);
static CUSTOM_TUPLE: Element = element("tuple", &["name"], &[&CUSTOM_TUPLE_ELEMENT]);
static CUSTOM: Element = element("custom", &[], &[&CUSTOM_NUMERIC, &CUSTOM_TEXT,
    &CUSTOM_TUPLE]);
static KEYFRAME_KEY: Element = element("key", &["act", "ctrl", "mpos", "mquat", "name", "qpos",
    "qvel", "time"], &[]);
static KEYFRAME: Element = element("keyframe", &[], &[&KEYFRAME_KEY]);
static FRAME: Element = element("frame", &["axisangle", "childclass", "euler", "name", "pos",
    "quat", "xyaxes", "zaxis"], &[&BODY_INERTIAL, &BODY_JOINT, &BODY_FREEJOINT, &BODY_GEOM,
    &BODY_ATTACH, &BODY_SITE, &BODY_CAMERA, &BODY_LIGHT, &ASSET_MESH_PLUGIN, &BODY_COMPOSITE,
    &BODY_FLEXCOMP, &BODY, &FRAME, &REPLICATE]);
static REPLICATE: Element = element("replicate", &["childclass", "count", "euler", "offset",
    "sep"], &[&BODY_INERTIAL, &BODY_JOINT, &BODY_FREEJOINT, &BODY_GEOM, &BODY_ATTACH,
    &BODY_SITE, &BODY_CAMERA, &BODY_LIGHT, &ASSET_MESH_PLUGIN, &BODY_COMPOSITE, &BODY_FLEXCOMP,
    &BODY, &FRAME, &REPLICATE]);
static WORLDBODY: Element = element("worldbody", &["axisangle", "childclass", "euler", "fuse",
    "gravcomp", "mocap", "name", "pos", "quat", "simple", "sleep", "user", "xyaxes", "zaxis"],
    &[&BODY_INERTIAL, &BODY_JOINT, &BODY_FREEJOINT, &BODY_GEOM, &BODY_ATTACH, &BODY_SITE,
    &BODY_CAMERA, &BODY_LIGHT, &ASSET_MESH_PLUGIN, &BODY_COMPOSITE, &BODY_FLEXCOMP, &BODY,
    &FRAME, &REPLICATE]);
