// One thread a pixel: a ray through each of its samples, the nearest surface, its colour.

fn sky(direction: vec3<f32>) -> vec3<f32> {
    let height = normalize(direction).z;
    if (height >= 0.0) { return mix(frame.sky_rim.xyz, frame.sky_top.xyz, height * (2.0 - height)); }
    return mix(frame.sky_rim.xyz, frame.sky_ground.xyz, min(-8.0 * height, 1.0));
}

// What a ray sees: through what is transparent, the front of each item only, and marks over it.
fn seen(direction: vec3<f32>, footprint: f32) -> vec3<f32> {
    let ray = Ray(vec3<f32>(0.0), direction, frame.d.w, frame.du.w);
    var out = vec3<f32>(0.0);
    var left = 1.0;
    var depth = FAR;
    n_passed = 0u;
    for (var layer = 0u; layer <= LAYERS; layer++) {
        let hit = first_met(ray, select(SHOWN, WHOLE, layer == LAYERS), NONE);
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
        passed[n_passed] = hit.item;
        n_passed++;
    }
    // Marks over it, the nearest first.
    var over = vec3<f32>(0.0);
    left = 1.0;
    n_passed = 0u;
    for (var layer = 0u; layer < LAYERS; layer++) {
        let mark = first_met(ray, MARKS, NONE);
        if (mark.item == NONE) { break; }
        let share = min(n(frame.items + mark.item * ITEM + 23u), 1.0)
            * select(1.0, HIDDEN_MARK, mark.distance > depth);
        over += left * share * min(colour_of(mark, direction, footprint), vec3<f32>(1.0));
        left *= 1.0 - share;
        if (share >= 1.0) { break; }
        passed[n_passed] = mark.item;
        n_passed++;
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
