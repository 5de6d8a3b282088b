"""What every adapter of headland's has in common: the pipe, and a little arithmetic.

This text stands before each adapter (`dart.py`, `drake.py`, `pybullet.py`). The protocol is
described in docs/src/engine-protocol.md. Poses are [x, y, z, qw, qx, qy, qz], vectors lists.
"""
import importlib
import json
import math
import os
import sys

# The pipe is ours alone: libraries print into stdout, and get stderr for it.
_PIPE = os.fdopen(os.dup(1), "wb", buffering=0)
os.dup2(2, 1)


def needs(package, module):
    """Ends with the package that is missing where a module is not there."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).split(".")[0]
        if missing == module:
            sys.exit(f"its Python has no package `{package}`")
        sys.exit(f"its Python has `{package}`, but not the package `{missing}` that this needs: pip install {missing}")


def _say(message):
    try:
        text = json.dumps(message, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(message), separators=(",", ":"))
    _PIPE.write(text.encode() + b"\n")


def _finite(value):
    """The same with None for what is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


def serve(name, version, make_world):
    """Answers line by line. A world has `realised`, `cannot` and `step(efforts, wrenches)`, and
    what it has to say during a step in `remarks`."""
    _say({"headland_engine": 1, "name": name, "version": version})
    world = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["do"] == "start":
            world = make_world(message)
            once = list(dict.fromkeys(world.realised))
            _say({"realised": once, "cannot": world.cannot})
        elif message["do"] == "step":
            rigids, contacts = world.step(message["efforts"], message["wrenches"])
            answer = {"rigids": rigids, "contacts": contacts}
            if getattr(world, "remarks", None):
                answer["remarks"], world.remarks = world.remarks, []
            _say(answer)
        else:
            break


# --- vectors, turns, poses -------------------------------------------------------------

def add(a, b):
    return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]


def sub(a, b):
    return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]


def scaled(a, s):
    return [a[0] * s, a[1] * s, a[2] * s]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def qmul(a, b):
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw]


def turned(q, v):
    """A vector turned by a quaternion."""
    u = q[1:4]
    t = scaled(cross(u, v), 2.0)
    return add(add(v, scaled(t, q[0])), cross(u, t))


def inverse(pose):
    q = [pose[3], -pose[4], -pose[5], -pose[6]]
    return scaled(turned(q, pose[0:3]), -1.0) + q


def compose(a, b):
    """`a_from_c` of `a_from_b` and `b_from_c`."""
    return add(a[0:3], turned(a[3:7], b[0:3])) + qmul(a[3:7], b[3:7])


def matrix(q):
    """The rows of a turn's matrix."""
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def quaternion(m):
    """The turn of a matrix of rows, by its largest part, so that nothing cancels."""
    t = [m[0][0] + m[1][1] + m[2][2], m[0][0], m[1][1], m[2][2]]
    i = t.index(max(t))
    if i == 0:
        q = [1 + t[0], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
    else:
        i -= 1
        j, k = (i + 1) % 3, (i + 2) % 3
        q = [m[k][j] - m[j][k], 0.0, 0.0, 0.0]
        q[1 + i] = 1 + m[i][i] - m[j][j] - m[k][k]
        q[1 + j] = m[j][i] + m[i][j]
        q[1 + k] = m[k][i] + m[i][k]
    n = math.sqrt(sum(x * x for x in q))
    return [x / n for x in q]


def turn_z_to(direction):
    """A turn that takes z to a unit vector."""
    if direction[2] < -1.0 + 1e-12:
        return [0.0, 1.0, 0.0, 0.0]
    q = [1.0 + direction[2], -direction[1], direction[0], 0.0]
    n = math.sqrt(sum(x * x for x in q))
    return [x / n for x in q]


def times(m, v):
    return [dot(m[0], v), dot(m[1], v), dot(m[2], v)]


def principal(inertia):
    """Principal moments and the turn from their frame, by Jacobi's rotations."""
    a = [row[:] for row in inertia]
    r = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    for _ in range(30):
        p, q = max(((0, 1), (0, 2), (1, 2)), key=lambda ij: abs(a[ij[0]][ij[1]]))
        if abs(a[p][q]) <= 1e-15 * (abs(a[0][0]) + abs(a[1][1]) + abs(a[2][2])):
            break
        angle = 0.5 * math.atan2(2.0 * a[p][q], a[q][q] - a[p][p])
        c, s = math.cos(angle), math.sin(angle)
        for k in range(3):
            a[k][p], a[k][q] = c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]
        for k in range(3):
            a[p][k], a[q][k] = c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]
        for k in range(3):
            r[k][p], r[k][q] = c * r[k][p] - s * r[k][q], s * r[k][p] + c * r[k][q]
    return [a[0][0], a[1][1], a[2][2]], quaternion(r)


def sphere_points():
    """162 points on the unit sphere: an icosahedron whose edges are halved twice."""
    g = (1.0 + math.sqrt(5.0)) / 2.0
    points = []
    for a in (-1.0, 1.0):
        for b in (-g, g):
            points += [[0.0, a, b], [a, b, 0.0], [b, 0.0, a]]
    edge = 2.0
    for _ in range(2):
        n = len(points)
        points += [scaled(add(points[i], points[j]), 0.5) for i in range(n) for j in range(i + 1, n)
                   if math.dist(points[i], points[j]) < edge * 1.3]
        edge *= 0.5
    return [scaled(p, 1.0 / math.sqrt(dot(p, p))) for p in points]


def cone_points(radius, length, n_rim=32):
    """The tip of a cone and its rim."""
    rim = [2.0 * math.pi * i / n_rim for i in range(n_rim)]
    return [[0.0, 0.0, 0.5 * length]] + [
        [radius * math.cos(a), radius * math.sin(a), -0.5 * length] for a in rim]


# --- what is asked, and how it is told ---------------------------------------------------

def carried(scene):
    """Which joint carries each rigid, and which joints close loops.

    Gives (order, carrier, loops): dynamic rigids with what carries them first, the joint that
    carries each or None, and the joints that are left. What hangs from a static rigid hangs
    from the world. A joint whose child does not move, or is carried already, carries its
    parent the other way round where it can.
    """
    rigids = scene["rigids"]
    carrier, loops = [None] * len(rigids), []

    def hangs_from(i, j):
        while i is not None:
            if i == j:
                return True
            i = carrier[i]["parent"] if carrier[i] else None
        return False

    def can_carry(joint):
        parent, child = joint["parent"], joint["child"]
        return (rigids[child]["motion"] == "dynamic" and carrier[child] is None
                and not hangs_from(parent, child))

    def is_grounded(joint):
        return joint["parent"] is None or rigids[joint["parent"]]["motion"] == "static"

    # What hangs from the world first, so that loops close between things that move.
    for joint in sorted(scene["joints"], key=lambda joint: not is_grounded(joint)):
        joint = dict(joint)
        if not can_carry(joint) and joint["parent"] is not None and joint["kind"] != "universal":
            other = reversed_joint(joint)
            joint = other if can_carry(other) else joint
        if can_carry(joint):
            carrier[joint["child"]] = joint
            parent = joint["parent"]
            if parent is not None and rigids[parent]["motion"] == "static":
                joint["parent"] = None
                joint["parent_from_joint"] = compose(rigids[parent]["pose"], joint["parent_from_joint"])
        else:
            loops.append(joint)
    order, is_in = [], [False] * len(rigids)

    def put(i):
        if not is_in[i]:
            is_in[i] = True
            if carrier[i] and carrier[i]["parent"] is not None:
                put(carrier[i]["parent"])
            order.append(i)

    for i, rigid in enumerate(rigids):
        if rigid["motion"] == "dynamic":
            put(i)
    return [i for i in order if rigids[i]["motion"] == "dynamic"], carrier, loops


def reversed_joint(joint):
    """The same joint seen from its child: the axis the other way, positions as they were."""
    out = dict(joint, parent=joint["child"], child=joint["parent"],
               parent_from_joint=joint["child_from_joint"],
               child_from_joint=joint["parent_from_joint"])
    out["axes"] = [dict(axis, direction=scaled(axis["direction"], -1.0)) for axis in joint["axes"]]
    return out


def centre_of(rigid, pose):
    return add(pose[0:3], turned(pose[3:7], rigid["centre"]))


def decay_of(rigid, pose, velocity):
    """Force and torque at the centre of mass that make speeds fall by `decay` per second."""
    linear, angular = rigid["linear_decay"], rigid["angular_decay"]
    arm = turned(pose[3:7], rigid["centre"])
    omega = velocity[3:6]
    v = add(velocity[0:3], cross(omega, arm))
    back = [pose[3], -pose[4], -pose[5], -pose[6]]
    spin = turned(pose[3:7], times(rigid["inertia"], turned(back, omega)))
    return scaled(v, -linear * rigid["mass"]), scaled(spin, -angular)


def loop_pushes(scene, loops, state, efforts):
    """What efforts on joints that close a loop do to what moves: (rigid, force, torque)."""
    out = []
    for joint in loops:
        for axis in joint["axes"]:
            effort = efforts[axis["dof"]] if axis["dof"] < len(efforts) else 0.0
            if effort:
                parent, place = joint["parent"], joint["parent_from_joint"]
                if parent is not None:
                    place = compose(state[parent][0:7], place)
                torque = scaled(turned(place[3:7], axis["direction"]), effort)
                out.append((joint["child"], [0.0, 0.0, 0.0], torque))
                if parent is not None:
                    out.append((parent, [0.0, 0.0, 0.0], scaled(torque, -1.0)))
    return [push for push in out if scene["rigids"][push[0]]["motion"] == "dynamic"]


def contact(a, b, position, normal, depth, force):
    """A contact of bodies a and b: the normal from a to b, the force on b."""
    if a > b:
        a, b, normal, force = b, a, scaled(normal, -1.0), scaled(force, -1.0)
    return [a, b, [*position, *normal, depth, *force]]


def factors(scene, value):
    """For engines that multiply the two values of a pair: a factor for each value that occurs,
    so that every product is the lesser of the two, where one factor each can do that. Where
    it cannot, because the moving surfaces differ, what touches the ground is right and what
    touches what moves is not.

    Gives ({value: factor} of moving rigids, {value: factor} of static ones, and the pairs of
    values whose product is another than asked, as (value, value, product)).
    """
    moving = {value(s) for r in scene["rigids"] if r["motion"] != "static" for s in r["shapes"]}
    static = {value(s) for r in scene["rigids"] if r["motion"] == "static" for s in r["shapes"]}
    own = {v: math.sqrt(v) for v in moving}
    highest = max(moving, default=0.0)
    if len(moving - {0.0}) <= 1 and highest > 0.0:
        ground = {s: min(s, highest) / math.sqrt(highest) for s in static}
    elif len(static) == 1 and min(static) > 0.0:
        (s,) = static
        own, ground = {v: min(v, s) for v in moving}, {s: 1.0}
    else:
        ground = {s: math.sqrt(s) for s in static}
    pairs = [(a, b, own[a] * own[b]) for a in moving for b in moving if a <= b]
    pairs += [(a, b, own[a] * ground[b]) for a in moving for b in static]
    wrong = sorted({(min(a, b), max(a, b), p) for a, b, p in pairs if abs(p - min(a, b)) > 1e-9})
    return own, ground, wrong


def remarks(scene):
    """What none of these engines has words for, link by link."""
    out = []
    for rigid in scene["rigids"]:
        for shape in rigid["shapes"]:
            name = scene["bodies"][shape["body"]]["name"]
            if shape["mu"] != shape["mu2"]:
                out.append(f"link `{name}`: friction {shape['mu']:g} and {shape['mu2']:g} by direction "
                           f"becomes {mean_mu(shape):g} in every direction")
            left = [words for key, words in (("friction_direction", "friction direction"), ("slip", "slip"),
                    ("torsional", "torsional friction"), ("bounce_threshold", "bounce threshold"),
                    ("stiffness", "contact stiffness"), ("damping", "contact damping")) if key in shape]
            if left:
                out.append(f"link `{name}`: {', '.join(left)} left out")
    return out


def masks_meet(a, b):
    """Whether the masks of two shapes let them touch: one collides with a category of the other."""
    return bool(a["category"] & b["mask"] or b["category"] & a["mask"])


def mean_mu(shape):
    return 0.5 * (shape["mu"] + shape["mu2"])


def is_more_than_free(axis):
    """Whether an axis has anything that a joint which closes a loop cannot have."""
    return (axis["lower"] is not None or axis["upper"] is not None or axis["damping"] or axis["friction"]
            or axis["spring_stiffness"] or axis["armature"] or axis["mimic"])


IDENTITY = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


