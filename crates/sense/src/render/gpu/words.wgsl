// What the others share: what comes in, and the names of its parts. The program is these files one
// behind the other: words, meet, colour, draw.
//
// Everything is along the world's axes from the eye. `form` is what stays from frame to frame,
// surfaces, triangles and textures; `now` is where things are; both are words, of which some are
// floats. `pack.rs` writes them.

struct Frame {
    // Of the image, and which of its rows are drawn.
    width: u32, height: u32, first_row: u32, end_row: u32,
    is_bent: u32, wants_colour: u32, n_nodes: u32, n_lamps: u32,
    // Where in `now`: items, nodes of the tree, its order, lamps.
    items: u32, nodes: u32, order: u32, lamps: u32,
    // Where in `now` the items without end are, and how many.
    endless: u32, n_endless: u32, has_shadows: u32, has_sun: u32,
    // Direction of pixel (0, 0) and along u and v; the fourth of the first two: near, far.
    d: vec4<f32>, du: vec4<f32>, dv: vec4<f32>,
    to_sun: vec4<f32>, sun: vec4<f32>,
    above: vec4<f32>, below: vec4<f32>,
    sky_top: vec4<f32>, sky_rim: vec4<f32>, sky_ground: vec4<f32>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> form: array<u32>;
@group(0) @binding(2) var<storage, read> now: array<u32>;
@group(0) @binding(3) var<storage, read> places: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> image: array<u32>;

const NONE: u32 = 0xffffffffu;
const FAR: f32 = 1e30;
const PI: f32 = 3.14159265358979;
const ITEM: u32 = 32u;
const SURFACE: u32 = 18u;
const NODE: u32 = 8u;
const TRIANGLE: u32 = 24u;
const LAMP: u32 = 20u;
const CASTS: u32 = 1u;
const MARK: u32 = 2u;
const CLOSED: u32 = 4u;
const SUN_CASTS: u32 = 8u;
const PLACED: u32 = 16u;
// How much of a mark is seen through what hides it.
const HIDDEN_MARK: f32 = 0.35;
// Transparent things, and marks, one behind the other that are seen; of those behind the last only
// what is opaque.
const LAYERS: u32 = 16u;
// Kinds of surfaces.
const FACE: u32 = 0u;
const ENDLESS: u32 = 1u;
const DISC: u32 = 2u;
const QUADRIC: u32 = 3u;

fn f(i: u32) -> f32 { return bitcast<f32>(form[i]); }
fn f3(i: u32) -> vec3<f32> { return vec3<f32>(f(i), f(i + 1u), f(i + 2u)); }
fn n(i: u32) -> f32 { return bitcast<f32>(now[i]); }
fn n3(i: u32) -> vec3<f32> { return vec3<f32>(n(i), n(i + 1u), n(i + 2u)); }

struct Ray { origin: vec3<f32>, direction: vec3<f32>, least: f32, most: f32 }

struct Hit {
    distance: f32,
    item: u32,
    // Which surface or triangle, as a place in `form`.
    part: u32,
    // Of the surface, in the item's frame, outwards.
    normal: vec3<f32>,
}

fn to_item(item: u32, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(n3(item), v), dot(n3(item + 3u), v), dot(n3(item + 6u), v));
}
fn from_item(item: u32, v: vec3<f32>) -> vec3<f32> {
    return n3(item) * v.x + n3(item + 3u) * v.y + n3(item + 6u) * v.z;
}

