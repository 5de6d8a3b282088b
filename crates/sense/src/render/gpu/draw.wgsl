// One thread a pixel: a ray through each of its samples, the nearest surface, its colour.
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
// Transparent things, and marks, one behind the other that are seen; more let nothing through that
// an eye could tell.
const LAYERS: i32 = 16;

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

// The plane across a ray, for asking whether the ray passes inside of a flat outline without
// leaving a gap between two that share an edge: `mesh.rs` says how.
struct Shear { longest: u32, is_back: bool, slope: vec2<f32> }

// Axes in an order in which the longest of the ray's is the last.
fn sheared(v: vec3<f32>, longest: u32, is_back: bool) -> vec3<f32> {
    var turned = v;
    if (longest == 0u) { turned = v.yzx; }
    if (longest == 1u) { turned = v.zxy; }
    if (is_back) { return turned.yxz; }
    return turned;
}

fn shear_along(direction: vec3<f32>) -> Shear {
    let size = abs(direction);
    var longest = 2u;
    if (size.x > size.y && size.x > size.z) {
        longest = 0u;
    } else if (size.y > size.z) {
        longest = 1u;
    }
    let is_back = sheared(direction, longest, false).z < 0.0;
    let d = sheared(direction, longest, is_back);
    return Shear(longest, is_back, d.xy / d.z);
}

// A point, given from the ray's origin, on the plane.
fn flat(shear: Shear, point: vec3<f32>) -> vec2<f32> {
    let p = sheared(point, shear.longest, shear.is_back);
    return p.xy - shear.slope * p.z;
}

// On which side of an edge the ray passes.
fn side(a: vec2<f32>, b: vec2<f32>) -> f32 { return b.x * a.y - b.y * a.x; }

// The distance at which a ray, in the item's frame, meets a surface from outside; FAR for never.
fn meet_surface(at: u32, ray: Ray, normal: ptr<function, vec3<f32>>) -> f32 {
    let o = ray.origin;
    let d = ray.direction;
    let kind = form[at];
    var t = FAR;
    if (kind == 0u) {
        let face = f3(at + 1u);
        let two_sided = form[at + 16u] != 0u;
        let steep = dot(d, face);
        if (steep == 0.0 || (!two_sided && steep > 0.0)) { return FAR; }
        let shear = shear_along(d);
        var is_front = true;
        var is_back = true;
        var last = flat(shear, f3(at + 4u) - o);
        for (var i = 1u; i <= 4u; i++) {
            let next = flat(shear, f3(at + 4u + 3u * (i % 4u)) - o);
            let s = side(last, next);
            is_front = is_front && s >= 0.0;
            is_back = is_back && s <= 0.0;
            last = next;
        }
        if (!(is_front || (is_back && two_sided))) { return FAR; }
        t = dot(f3(at + 4u) - o, face) / steep;
        *normal = face;
    } else if (kind == 1u) {
        let face = f3(at + 1u);
        t = -dot(o, face) / dot(d, face);
        *normal = face;
    } else if (kind == 2u) {
        let z = f(at + 1u);
        let radius = f(at + 2u);
        let is_up = form[at + 3u] != 0u;
        if (is_up != (o.z > z) || (d.z < 0.0) != is_up) { return FAR; }
        t = (z - o.z) / d.z;
        let p = o.xy + d.xy * t;
        if (dot(p, p) > radius * radius) { return FAR; }
        *normal = vec3<f32>(0.0, 0.0, select(-1.0, 1.0, is_up));
    } else {
        let q = f3(at + 1u);
        let centre = f3(at + 4u);
        // The nearest point of the ray first: without it, a small ball far away is lost.
        let shift = -dot(o - centre, d) / dot(d, d);
        let near = o + d * shift - centre;
        let a = dot(d * q, d);
        let b = dot(d * q, near);
        let c = dot(near * q, near) - f(at + 7u);
        let square = b * b - a * c;
        if (square < 0.0) { return FAR; }
        // The root at which the ray goes from outside to inside, by whichever formula takes no
        // difference of two that are nearly the same.
        let root = sqrt(square);
        t = shift + select(c / (root - b), (-b - root) / a, b > 0.0);
        let p = o + d * t;
        if (!(p.z >= f(at + 8u) && p.z <= f(at + 9u))) { return FAR; }
        let out = (p - centre) * q;
        let size = length(out);
        *normal = select(vec3<f32>(0.0, 0.0, 1.0), out / size, size > 0.0);
    }
    if (!(t >= ray.least && t <= ray.most)) { return FAR; }
    return t;
}

// Whether a ray meets a box before `most`.
fn meets_box(low: vec3<f32>, high: vec3<f32>, ray: Ray, inverse: vec3<f32>, most: f32) -> bool {
    let a = (low - ray.origin) * inverse;
    let b = (high - ray.origin) * inverse;
    let near = min(a, b);
    let far = max(a, b);
    let enter = max(max(near.x, near.y), max(near.z, ray.least));
    let leave = min(min(far.x, far.y), min(far.z, most));
    return enter <= leave * 1.00001;
}

// A direction without zeros, so that boxes are asked with numbers.
fn inverse_of(d: vec3<f32>) -> vec3<f32> {
    let tiny = vec3<f32>(1e-20);
    return 1.0 / select(d, tiny, abs(d) < tiny);
}

// The nearest triangle of a mesh; its place in `form`.
fn meet_mesh(item: u32, ray: Ray, part: ptr<function, u32>, normal: ptr<function, vec3<f32>>) -> f32 {
    let nodes = now[item + 14u];
    let triangles = now[item + 15u];
    let closed = (now[item + 24u] & CLOSED) != 0u;
    let inverse = inverse_of(ray.direction);
    let shear = shear_along(ray.direction);
    var best = FAR;
    var most = ray.most;
    var stack: array<u32, 64>;
    var n_open = 1;
    stack[0] = 0u;
    while (n_open > 0) {
        n_open--;
        let node = nodes + stack[n_open] * NODE;
        if (!meets_box(f3(node), f3(node + 4u), ray, inverse, most)) { continue; }
        let first = form[node + 3u];
        let count = form[node + 7u];
        if (count == 0u) {
            if (n_open < 62) {
                stack[n_open] = first;
                stack[n_open + 1] = first + 1u;
                n_open += 2;
            }
            continue;
        }
        for (var i = first; i < first + count; i++) {
            let at = triangles + i * TRIANGLE;
            let a = f3(at) - ray.origin;
            let b = f3(at + 3u) - ray.origin;
            let c = f3(at + 6u) - ray.origin;
            let flat_a = flat(shear, a);
            let flat_b = flat(shear, b);
            let flat_c = flat(shear, c);
            let sides = vec3<f32>(side(flat_a, flat_b), side(flat_b, flat_c), side(flat_c, flat_a));
            let is_front = all(sides >= vec3<f32>(0.0));
            let is_back = all(sides <= vec3<f32>(0.0));
            if (!(is_front || (is_back && !closed))) { continue; }
            let face = cross(b - a, c - a);
            let steep = dot(ray.direction, face);
            if (steep == 0.0) { continue; }
            let t = dot(a, face) / steep;
            if (!(t >= ray.least && t < most)) { continue; }
            best = t;
            most = t;
            *part = at;
            *normal = normalize(face);
        }
    }
    return best;
}

fn meet_item(i: u32, ray: Ray, hit: ptr<function, Hit>) {
    let item = frame.items + i * ITEM;
    if ((now[item + 24u] & PLACED) == 0u) { return; }
    var local = ray;
    local.origin = to_item(item, ray.origin) + n3(item + 9u);
    local.direction = to_item(item, ray.direction);
    local.most = min(ray.most, (*hit).distance);
    var part = NONE;
    var normal = vec3<f32>(0.0);
    if (now[item + 14u] != NONE) {
        let t = meet_mesh(item, local, &part, &normal);
        if (t < local.most) {
            *hit = Hit(t, i, part, normal);
            local.most = t;
        }
    }
    let first = now[item + 13u];
    for (var k = 0u; k < now[item + 12u]; k++) {
        let t = meet_surface(first + k * SURFACE, local, &normal);
        if (t < local.most) {
            *hit = Hit(t, i, first + k * SURFACE, normal);
            local.most = t;
        }
    }
}

// Which items a ray is asked about.
const OPAQUE_ENOUGH: u32 = 0u;
const SHOWN: u32 = 1u;
const MARKS: u32 = 2u;
const SUN_SHADOW: u32 = 3u;
const LAMP_SHADOW: u32 = 4u;

fn counts(i: u32, wanted: u32, besides: u32) -> bool {
    let item = frame.items + i * ITEM;
    let flags = now[item + 24u];
    let opacity = n(item + 23u);
    switch wanted {
        case 0u: { return opacity >= 0.5 && (flags & MARK) == 0u; }
        case 1u: { return opacity > 0.0 && (flags & MARK) == 0u && i != besides; }
        case 2u: { return opacity > 0.0 && (flags & MARK) != 0u && i != besides; }
        case 3u: { return (flags & SUN_CASTS) != 0u; }
        default: { return (flags & CASTS) != 0u && (flags & MARK) == 0u && now[item + 26u] != besides; }
    }
}

fn first_met(ray: Ray, wanted: u32, besides: u32) -> Hit {
    var hit = Hit(FAR, NONE, NONE, vec3<f32>(0.0));
    for (var k = 0u; k < frame.n_endless; k++) {
        let i = now[frame.endless + k];
        if (counts(i, wanted, besides)) { meet_item(i, ray, &hit); }
    }
    if (frame.n_nodes == 0u) { return hit; }
    let inverse = inverse_of(ray.direction);
    let is_any = wanted >= SUN_SHADOW;
    var stack: array<u32, 64>;
    var n_open = 1;
    stack[0] = 0u;
    while (n_open > 0) {
        if (is_any && hit.item != NONE) { break; }
        n_open--;
        let node = frame.nodes + stack[n_open] * NODE;
        let most = min(ray.most, hit.distance);
        if (!meets_box(n3(node), n3(node + 4u), ray, inverse, most)) { continue; }
        let first = now[node + 3u];
        let count = now[node + 7u];
        if (count == 0u) {
            if (n_open < 62) {
                stack[n_open] = first;
                stack[n_open + 1] = first + 1u;
                n_open += 2;
            }
            continue;
        }
        for (var k = first; k < first + count; k++) {
            let i = now[frame.order + k];
            if (counts(i, wanted, besides)) { meet_item(i, ray, &hit); }
        }
    }
    return hit;
}

// A texture: its number of levels, and of each its width, height and first pixel.
fn texel(texture: u32, level: u32, x: u32, y: u32) -> vec3<f32> {
    let about = texture + 1u + 3u * level;
    let pixel = form[form[about + 2u] + y * form[about] + x];
    return vec3<f32>(f32(pixel & 255u), f32((pixel >> 8u) & 255u), f32((pixel >> 16u) & 255u));
}

fn between(texture: u32, level: u32, at: vec2<f32>) -> vec3<f32> {
    let about = texture + 1u + 3u * level;
    let size = vec2<f32>(f32(form[about]), f32(form[about + 1u]));
    let p = fract(at) * size - 0.5;
    let low = floor(p);
    let share = p - low;
    let most = vec2<i32>(size) - 1;
    let wrapped = select(vec2<i32>(low), most, low < vec2<f32>(0.0));
    let a = vec2<u32>(min(wrapped, most));
    let b = vec2<u32>((vec2<i32>(a) + 1) % (most + 1));
    let above = mix(texel(texture, level, a.x, a.y), texel(texture, level, b.x, a.y), share.x);
    let beneath = mix(texel(texture, level, a.x, b.y), texel(texture, level, b.x, b.y), share.x);
    return mix(above, beneath, share.y) / 255.0;
}

fn texture_colour(texture: u32, at: vec2<f32>, share: f32) -> vec3<f32> {
    let n_levels = form[texture];
    let larger = f32(max(form[texture + 1u], form[texture + 2u]));
    let n_texels = share * larger;
    if (!(n_texels > 1.0)) { return between(texture, 0u, at); }
    let bits = bitcast<u32>(n_texels);
    let level = (bits >> 23u) - 127u;
    if (level >= n_levels - 1u) { return between(texture, n_levels - 1u, at); }
    let rest = f32(bits & 0x7fffffu) / 8388608.0;
    return mix(between(texture, level, at), between(texture, level + 1u, at), rest);
}

// Where on its texture a point of an item is, and how much of it a metre is.
fn spot(item: u32, part: u32, p: vec3<f32>) -> vec3<f32> {
    if (now[item + 14u] != NONE) {
        if (form[part + 18u] == NONE) { return vec3<f32>(p.x, -p.y, 1.0); }
        let a = f3(part);
        let b = f3(part + 3u);
        let c = f3(part + 6u);
        let shares = shares_of(a, b, c, p);
        let ta = vec2<f32>(f(part + 18u), f(part + 19u));
        let tb = vec2<f32>(f(part + 20u), f(part + 21u));
        let tc = vec2<f32>(f(part + 22u), f(part + 23u));
        let per = max(length(tb - ta) / max(length(b - a), 1e-9), length(tc - tb) / max(length(c - b), 1e-9));
        return vec3<f32>(ta * shares.x + tb * shares.y + tc * shares.z, per);
    }
    let kind = form[part];
    if (kind == 0u) {
        let normal = f3(part + 1u);
        var up = select(vec3<f32>(0.0, 0.0, 1.0), vec3<f32>(0.0, 1.0, 0.0), abs(normal.z) > 0.999);
        let right = normalize(cross(up, normal));
        up = cross(normal, right);
        let middle = (f3(part + 4u) + f3(part + 10u)) * 0.5;
        var wide = 1e-9;
        var high = 1e-9;
        for (var i = 0u; i < 4u; i++) {
            let corner = f3(part + 4u + 3u * i) - middle;
            wide = max(wide, 2.0 * dot(corner, right));
            high = max(high, 2.0 * dot(corner, up));
        }
        let d = p - middle;
        return vec3<f32>(0.5 + dot(d, right) / wide, 0.5 - dot(d, up) / high, 1.0 / max(wide, high));
    }
    if (kind == 2u) {
        let radius = f(part + 2u);
        return vec3<f32>(0.5 + p.x / (2.0 * radius), 0.5 - p.y / (2.0 * radius), 0.5 / radius);
    }
    if (kind == 3u) {
        let q = f3(part + 1u);
        let centre = f3(part + 4u);
        let away = p - centre;
        let around = atan2(away.y, away.x) / (2.0 * PI) + 0.5;
        let radius = 1.0 / sqrt(max(q.x, 1e-12));
        let low = f(part + 8u);
        let high = f(part + 9u);
        var down = 0.5 - asin(clamp(away.z * sqrt(max(q.z, 0.0)), -1.0, 1.0)) / PI;
        if (low > -FAR) { down = (high - p.z) / (high - low); }
        return vec3<f32>(around, down, 1.0 / (2.0 * PI * radius));
    }
    return vec3<f32>(p.x, -p.y, 1.0);
}

fn shares_of(a: vec3<f32>, b: vec3<f32>, c: vec3<f32>, p: vec3<f32>) -> vec3<f32> {
    let face = cross(b - a, c - a);
    let all = vec3<f32>(
        max(dot(cross(b - p, c - p), face), 0.0),
        max(dot(cross(c - p, a - p), face), 0.0),
        max(dot(cross(a - p, b - p), face), 0.0),
    );
    return all / max(all.x + all.y + all.z, 1e-30);
}

fn gleam(direction: vec3<f32>, to_light: vec3<f32>, normal: vec3<f32>) -> f32 {
    let between_both = normalize(normalize(-direction) + to_light);
    var g = max(dot(between_both, normal), 0.0);
    for (var i = 0; i < 5; i++) { g *= g; }
    return g;
}

fn is_shaded(point: vec3<f32>, normal: vec3<f32>, to: vec3<f32>, most: f32, wanted: u32, besides: u32) -> bool {
    // By what rounding may have moved it, so that it does not shade itself.
    let lift = 1e-4 + 1e-5 * length(point);
    let ray = Ray(point + normal * lift, to, 0.0, most);
    return first_met(ray, wanted, besides).item != NONE;
}

fn colour_of(hit: Hit, direction: vec3<f32>, footprint: f32) -> vec3<f32> {
    let item = frame.items + hit.item * ITEM;
    let point = direction * hit.distance;
    let p = to_item(item, point) + n3(item + 9u);
    var inside = hit.normal;
    let is_mesh = now[item + 14u] != NONE;
    if (is_mesh) {
        let part = hit.part;
        let s = shares_of(f3(part), f3(part + 3u), f3(part + 6u), p);
        inside = normalize(f3(part + 9u) * s.x + f3(part + 12u) * s.y + f3(part + 15u) * s.z);
    }
    var normal = from_item(item, inside);
    // What is seen from both sides has its normal on that of the eye.
    let face = from_item(item, hit.normal);
    let is_round = !is_mesh && form[hit.part] == 3u;
    if (!is_round && dot(face, direction) > 0.0) { normal = -normal; }
    var colour = n3(item + 16u);
    if (now[item + 25u] != NONE) {
        let at = spot(item, hit.part, p);
        let slant = max(-dot(normal, normalize(direction)), 0.02);
        let metres = hit.distance * footprint * length(frame.du.xyz);
        colour *= texture_colour(now[item + 25u], at.xy, at.z * metres / sqrt(slant));
    }
    let shine = n(item + 19u);
    let facing = dot(normal, frame.to_sun.xyz);
    var sun = 0.0;
    if (facing > 0.0 && frame.has_sun != 0u) {
        sun = 1.0;
        if (frame.has_shadows != 0u && is_shaded(point, normal, frame.to_sun.xyz, FAR, SUN_SHADOW, NONE)) {
            sun = 0.0;
        }
    }
    let up = 0.5 + 0.5 * normal.z;
    let light = mix(frame.below.xyz, frame.above.xyz, up) + frame.sun.xyz * (max(facing, 0.0) * sun);
    var out = colour * light + n3(item + 20u);
    if (shine > 0.0 && sun > 0.0) {
        out += frame.sun.xyz * (gleam(direction, frame.to_sun.xyz, normal) * shine);
    }
    for (var k = 0u; k < frame.n_lamps; k++) {
        let lamp = frame.lamps + k * LAMP;
        let way = n3(lamp) - point;
        let distance = length(way);
        let to = way / max(distance, 1e-6);
        let faces = dot(normal, to);
        if (faces <= 0.0 || distance > n(lamp + 6u)) { continue; }
        let faded = n(lamp + 7u) + (n(lamp + 8u) + n(lamp + 9u) * distance) * distance;
        var strength = 1.0 / max(faded, 1e-3);
        if (now[lamp + 10u] != 0u) {
            let inner = n(lamp + 14u);
            let outer = n(lamp + 15u);
            let s = clamp((-dot(n3(lamp + 11u), to) - outer) / max(inner - outer, 1e-6), 0.0, 1.0);
            strength *= s * s * (3.0 - 2.0 * s);
        }
        if (strength <= 0.0) { continue; }
        if (now[lamp + 16u] != 0u && is_shaded(point, normal, way, 1.0, LAMP_SHADOW, now[lamp + 17u])) {
            continue;
        }
        var bright = 0.0;
        if (shine > 0.0) { bright = shine * gleam(direction, to, normal); }
        out += n3(lamp + 3u) * strength * (colour * faces + bright);
    }
    return out;
}

fn sky(direction: vec3<f32>) -> vec3<f32> {
    let height = normalize(direction).z;
    if (height >= 0.0) { return mix(frame.sky_rim.xyz, frame.sky_top.xyz, height * (2.0 - height)); }
    return mix(frame.sky_rim.xyz, frame.sky_ground.xyz, min(-8.0 * height, 1.0));
}

// What a ray sees: through what is transparent, the front of each item only, and marks over it.
fn seen(direction: vec3<f32>, footprint: f32) -> vec3<f32> {
    var ray = Ray(vec3<f32>(0.0), direction, frame.d.w, frame.du.w);
    var out = vec3<f32>(0.0);
    var left = 1.0;
    var besides = NONE;
    var depth = FAR;
    for (var layer = 0; layer < LAYERS; layer++) {
        let hit = first_met(ray, SHOWN, besides);
        if (hit.item == NONE) {
            out += left * sky(direction);
            break;
        }
        let opacity = min(n(frame.items + hit.item * ITEM + 23u), 1.0);
        out += left * opacity * min(colour_of(hit, direction, footprint), vec3<f32>(1.0));
        left *= 1.0 - opacity;
        if (opacity >= 1.0) {
            depth = hit.distance;
            break;
        }
        besides = hit.item;
        ray.least = hit.distance;
    }
    // Marks over it, the nearest first.
    var over = vec3<f32>(0.0);
    left = 1.0;
    besides = NONE;
    ray.least = frame.d.w;
    for (var layer = 0; layer < LAYERS; layer++) {
        let mark = first_met(ray, MARKS, besides);
        if (mark.item == NONE) { break; }
        let share = min(n(frame.items + mark.item * ITEM + 23u), 1.0)
            * select(1.0, HIDDEN_MARK, mark.distance > depth);
        over += left * share * min(colour_of(mark, direction, footprint), vec3<f32>(1.0));
        left *= 1.0 - share;
        if (share >= 1.0) { break; }
        besides = mark.item;
        ray.least = mark.distance;
    }
    return over + left * min(out, vec3<f32>(1.0));
}

fn direction_at(place: vec2<f32>) -> vec3<f32> {
    return frame.d.xyz + frame.du.xyz * place.x + frame.dv.xyz * place.y;
}

@compute @workgroup_size(8, 8)
fn draw(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.y + frame.first_row;
    if (id.x >= frame.width || row >= frame.end_row) { return; }
    let pixel = row * frame.width + id.x;
    var place = vec2<f32>(f32(id.x), f32(row));
    var along = vec2<f32>(1.0, 0.0);
    var down = vec2<f32>(0.0, 1.0);
    if (frame.is_bent != 0u) {
        place = places[pixel];
        // Far outside of any picture: looks nowhere.
        if (place.x < -1e8) {
            image[pixel * 3u] = 0u;
            image[pixel * 3u + 1u] = bitcast<u32>(FAR);
            image[pixel * 3u + 2u] = NONE;
            return;
        }
        let right = places[select(pixel - 1u, pixel + 1u, id.x + 1u < frame.width)];
        if (frame.width > 1u && right.x > -1e8) {
            along = (right - place) * select(-1.0, 1.0, id.x + 1u < frame.width);
        }
        let other = select(pixel - frame.width, pixel + frame.width, row + 1u < frame.height);
        if (frame.height > 1u) {
            let under = places[other];
            if (under.x > -1e8) { down = (under - place) * select(-1.0, 1.0, row + 1u < frame.height); }
        }
    }
    let footprint = sqrt(abs(along.x * down.y - along.y * down.x));
    var sum = vec3<f32>(0.0);
    if (frame.wants_colour != 0u) {
        var offsets = array<vec2<f32>, 4>(
            vec2<f32>(-0.125, -0.375), vec2<f32>(0.375, -0.125),
            vec2<f32>(0.125, 0.375), vec2<f32>(-0.375, 0.125),
        );
        for (var s = 0u; s < 4u; s++) {
            let at = place + along * offsets[s].x + down * offsets[s].y;
            sum += min(seen(direction_at(at), footprint), vec3<f32>(1.0)) * 0.25;
        }
    }
    let bytes = vec3<u32>(sum * 255.0 + 0.5);
    let middle = Ray(vec3<f32>(0.0), direction_at(place), frame.d.w, frame.du.w);
    let hit = first_met(middle, OPAQUE_ENOUGH, NONE);
    image[pixel * 3u] = bytes.x | (bytes.y << 8u) | (bytes.z << 16u);
    image[pixel * 3u + 1u] = bitcast<u32>(hit.distance);
    image[pixel * 3u + 2u] = hit.item;
}
