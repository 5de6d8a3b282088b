// What a ray meets: a surface, a triangle of a mesh, an item, the nearest of all.

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
    if (kind == FACE) {
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
    } else if (kind == ENDLESS) {
        let face = f3(at + 1u);
        t = -dot(o, face) / dot(d, face);
        *normal = face;
    } else if (kind == DISC) {
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

const WHOLE: u32 = 5u;

// Items that the ray has passed through: each is seen once, by its front. Remembered by name and not
// by distance, for two may be at the same.
var<private> passed: array<u32, LAYERS>;
var<private> n_passed: u32;

fn is_passed(i: u32) -> bool {
    for (var k = 0u; k < n_passed; k++) {
        if (passed[k] == i) { return true; }
    }
    return false;
}

fn counts(i: u32, wanted: u32, besides: u32) -> bool {
    let item = frame.items + i * ITEM;
    let flags = now[item + 24u];
    let opacity = n(item + 23u);
    let is_mark = (flags & MARK) != 0u;
    if (wanted == OPAQUE_ENOUGH) { return opacity >= 0.5 && !is_mark; }
    if (wanted == SHOWN) { return opacity > 0.0 && !is_mark && !is_passed(i); }
    if (wanted == MARKS) { return opacity > 0.0 && is_mark && !is_passed(i); }
    if (wanted == SUN_SHADOW) { return (flags & SUN_CASTS) != 0u; }
    if (wanted == WHOLE) { return opacity >= 1.0 && !is_mark; }
    return (flags & CASTS) != 0u && !is_mark && now[item + 26u] != besides;
}

fn first_met(ray: Ray, wanted: u32, besides: u32) -> Hit {
    var hit = Hit(FAR, NONE, NONE, vec3<f32>(0.0));
    for (var k = 0u; k < frame.n_endless; k++) {
        let i = now[frame.endless + k];
        if (counts(i, wanted, besides)) { meet_item(i, ray, &hit); }
    }
    if (frame.n_nodes == 0u) { return hit; }
    let inverse = inverse_of(ray.direction);
    let is_any = wanted == SUN_SHADOW || wanted == LAMP_SHADOW;
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

