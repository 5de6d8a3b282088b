// What colour a surface is: its texture, the light on it, and what shades it.

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
    if (kind == FACE) {
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
    if (kind == DISC) {
        let radius = f(part + 2u);
        return vec3<f32>(0.5 + p.x / (2.0 * radius), 0.5 - p.y / (2.0 * radius), 0.5 / radius);
    }
    if (kind == QUADRIC) {
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
    let is_round = !is_mesh && form[hit.part] == QUADRIC;
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

