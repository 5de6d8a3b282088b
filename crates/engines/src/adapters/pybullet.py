# PyBullet: Bullet's multibodies (Featherstone), contacts by sequential impulses.
#
#   asked                          realised
#   -----------------------------  -----------------------------------------------------------
#   friction, restitution of a     Bullet multiplies the two values of a pair, so each shape
#   pair: the lesser of the two    gets a factor (`factors`); where one factor each cannot do
#                                  it, the pair is told with both numbers
#   friction by direction          the mean of mu and mu2
#   restitution                    Bullet's own, without its threshold of 0.2 m/s; where
#                                  anything bounces, contacts are found 0.1 mm ahead instead of
#                                  20 mm, within which Bullet brakes instead of bouncing. At
#                                  1 ms a ball with 0.7 then keeps 0.73 to 0.76 of its speed
#   no damping                     Bullet's 0.04 on everything is set to 0; velocity_decay d is
#                                  a force -d*m*v and a torque -d*I*w at the start of the step
#   gravity off                    a force -m*g at the centre of mass
#   axis: effort                   a torque or force of the joint
#   axis: damping, spring          -d*v and -k*(q - q0) at the start of the step, on the joint
#   axis: friction                 a motor to speed 0 with that force
#   axis: limits                   Bullet's joint limits
#   axis: armature                 turning: added to the child's inertia; sliding: left out
#   mimic                          cannot: JOINT_GEAR was tried and does not hold
#   universal joint                two hinges with a massless link between
#   screw joint                    cannot
#   joints that close a loop       ball: a point; hinge: two points on the axis; others cannot
#   kinematic                      a body of mass 1e9 kg whose velocity is set every step
#   cone, ellipsoid                convex hulls of 33 and 162 points; Bullet's hulls stand off
#                                  by 1 mm
#   mesh                           static: its triangles; moving or convex: its hull
#   speed limits of its own        Bullet's 100 rad/s on joints is lifted
#   raw                            friction and restitution only where the world says them, by
#                                  product; damping 0.04, the default joint motors, 100 rad/s,
#                                  thresholds: all Bullet's own
import importlib.metadata

needs("pybullet", "pybullet")
import pybullet as bullet

AHEAD = 1e-4  # [m]
HEAVY = 1e9  # [kg]


def xyzw(q):
    return [q[1], q[2], q[3], q[0]]


def pose_of(position, turn):
    return [*position, turn[3], turn[0], turn[1], turn[2]]


def signed(mask):
    """A mask of 32 bits as the whole number that C takes for it."""
    return mask - (1 << 32) if mask >> 31 else mask


class World:
    def __init__(self, scene):
        self.scene, self.rigids = scene, scene["rigids"]
        self.dt, self.gravity, self.raw = scene["step_ns"] * 1e-9, scene["gravity"], scene["raw"]
        self.realised, self.cannot = [], []
        self.joint_of = {}  # dof -> (body, link, axis)
        self.seat = [None] * len(self.rigids)  # rigid -> (body, link, centre_from_rigid)
        self.body_at = {}  # (body, link) -> our body
        self.links_of = {}  # our body -> [(body, link)]
        self.carriers = []  # (body, rigid) of what is kinematic
        self.order, self.carrier, self.loops = carried(scene)
        self.values()
        self.refuse()
        self.realised += remarks(scene)
        if self.cannot:
            return
        self.open()
        for i, rigid in enumerate(self.rigids):
            if rigid["motion"] != "dynamic":
                self.add_unmoved(i, rigid)
        for root in self.order:
            if self.carrier[root] is None or self.carrier[root]["parent"] is None:
                self.add_tree(root)
        for joint in self.loops:
            self.close(joint)
        for rigid in self.rigids:
            own = [seat for body in {s["body"]: 0 for s in rigid["shapes"]} for seat in self.links_of.get(body, [])]
            for n, (body_a, link_a) in enumerate(own):
                for body_b, link_b in own[n + 1:]:
                    bullet.setCollisionFilterPair(body_a, body_b, link_a, link_b, 0)
        for a, b in scene["apart"]:
            for body_a, link_a in self.links_of.get(a, []):
                for body_b, link_b in self.links_of.get(b, []):
                    bullet.setCollisionFilterPair(body_a, body_b, link_a, link_b, 0)
        self.state = [rigid["pose"] + rigid["velocity"] for rigid in self.rigids]

    def open(self):
        if bullet.isConnected():
            bullet.disconnect()
        bullet.connect(bullet.DIRECT)
        bullet.setTimeStep(self.dt)
        bullet.setGravity(*self.gravity)
        # A filter mode of 1: it is enough that one collides with a category of the other.
        bullet.setPhysicsEngineParameter(deterministicOverlappingPairs=1, collisionFilterMode=1)
        if not self.raw and self.bounces:
            bullet.setPhysicsEngineParameter(
                restitutionVelocityThreshold=0.0, contactBreakingThreshold=AHEAD)

    # --- what is asked, in Bullet's terms ------------------------------------------------

    def values(self):
        """The factor of each shape, moving and static, for friction and restitution."""
        self.mu, self.mu_ground, wrong_mu = factors(self.scene, mean_mu)
        self.e, self.e_ground, wrong_e = factors(self.scene, lambda shape: shape["restitution"])
        self.bounces = any(s["restitution"] > 0.0 for rigid in self.rigids for s in rigid["shapes"])
        if self.raw:
            self.realised.append("raw: Bullet's own damping, joint motors, thresholds and products of surfaces; "
                                 "friction and restitution where the world says them")
            return
        for what, wrong in (("friction", wrong_mu), ("restitution", wrong_e)):
            for a, b, product in wrong:
                self.realised.append(f"{what} between surfaces of {a:g} and {b:g} is {product:.4g} "
                                     f"instead of {min(a, b):g}: Bullet multiplies")
        if self.bounces:
            self.realised.append("restitution: contacts are found 0.1 mm ahead instead of Bullet's 20 mm, "
                                 "within which it brakes instead of bouncing; at 1 ms speeds of about 1.06 e are left")

    def refuse(self):
        for joint in self.scene["joints"]:
            name, axes = joint["name"], joint["axes"]
            if joint["kind"] == "screw":
                self.cannot.append(f"joint `{name}`: Bullet's multibodies have no screw joint")
            if any(a["mimic"] for a in axes):
                self.cannot.append(f"joint `{name}`: mimic; Bullet's gears between joints of multibodies do not hold")
            if any(a["armature"] for a in axes):
                how = "left out" if joint["kind"] == "prismatic" else "added to the inertia of its child"
                self.realised.append(f"joint `{name}`: armature {how}")
            if joint["kind"] == "universal":
                self.realised.append(f"joint `{name}`: universal as two hinges with a massless link between")
        for joint in filter(None, self.carrier):
            if joint["parent"] is not None and self.rigids[joint["parent"]]["motion"] == "kinematic":
                self.cannot.append(f"joint `{joint['name']}`: nothing can hang from a kinematic link here")
        for joint in self.loops:
            if joint["kind"] not in ("ball", "revolute", "continuous"):
                self.cannot.append(f"joint `{joint['name']}`: a {joint['kind']} joint cannot close a loop")
            elif any(is_more_than_free(a) for a in joint["axes"]):
                self.cannot.append(f"joint `{joint['name']}` closes a loop: it can have no limits, springs, "
                                   "dampers or friction")
        for rigid in self.rigids:
            for shape in rigid["shapes"]:
                if rigid["motion"] == "kinematic":
                    self.realised.append(f"link `{rigid['name']}`: kinematic as a mass of 1e9 kg whose velocity is set "
                                         "every step")
                if shape["form"] == "plane" and rigid["motion"] != "static":
                    self.cannot.append(f"link `{rigid['name']}`: a plane that moves")
                if shape["form"] == "mesh" and not shape["convex"] and rigid["motion"] != "static":
                    self.realised.append(f"link `{rigid['name']}` moves: its mesh touches as its convex hull")
                if shape["form"] in ("cone", "ellipsoid", "prism", "mesh"):
                    self.realised.append(f"link `{rigid['name']}`: its {shape['form']} touches as Bullet's hulls and "
                                         "triangles do, 1 mm outside")

    def surface(self, body, link, shape, is_static):
        settings = {}
        if self.raw:
            if "mu" in shape["said"] or "mu2" in shape["said"]:
                settings["lateralFriction"] = mean_mu(shape)
            if "restitution" in shape["said"]:
                settings["restitution"] = shape["restitution"]
        else:
            mu, e = (self.mu_ground, self.e_ground) if is_static else (self.mu, self.e)
            settings = dict(lateralFriction=mu[mean_mu(shape)], restitution=e[shape["restitution"]],
                            rollingFriction=0.0, spinningFriction=0.0)
        if settings:
            bullet.changeDynamics(body, link, **settings)
        category, mask = (signed(shape[word]) for word in ("category", "mask"))
        bullet.setCollisionFilterGroupMask(body, link, category, mask)

    # --- bodies ------------------------------------------------------------------------

    def skins(self, rigid):
        """Shapes that can share a link: those of one body and one surface. Hulls, triangles and
        planes cannot be part of a compound, so each has a link of its own."""
        out = {}
        for shape in rigid["shapes"]:
            key = (shape["body"], shape["mu"], shape["mu2"], shape["restitution"], shape["category"],
                   shape["mask"])
            if shape["form"] == "prism":
                for part in shape["parts"]:
                    out[(*key, len(out))] = [dict(shape, form="mesh", convex=True, vertices=part)]
            elif shape["form"] in ("box", "sphere", "cylinder", "capsule"):
                out.setdefault(key, []).append(shape)
            else:
                out[(*key, len(out))] = [shape]
        return list(out.values())

    def shape_of(self, shapes, link_from_rigid, is_static):
        """One collision shape of Bullet's for all of these."""
        made = []
        for shape in shapes:
            settings = self.form_of(shape, is_static)
            pose = compose(link_from_rigid, shape["pose"])
            settings["collisionFramePosition"] = pose[0:3]
            if shape["form"] == "plane":
                settings["planeNormal"] = turned(pose[3:7], shape["normal"])
            else:
                settings["collisionFrameOrientation"] = xyzw(pose[3:7])
            made.append(settings)
        index = bullet.createCollisionShape(**made[0]) if len(made) == 1 else self.compound(made)
        if index < 0:
            raise ValueError(f"Bullet cannot build the {shapes[0]['form']} of "
                             f"link `{self.scene['bodies'][shapes[0]['body']]['name']}`")
        return index

    def compound(self, made):
        keys = {"shapeType": "shapeTypes", "radius": "radii", "halfExtents": "halfExtents",
                "height": "lengths", "collisionFramePosition": "collisionFramePositions",
                "collisionFrameOrientation": "collisionFrameOrientations"}
        defaults = {"radius": 0.5, "halfExtents": [1, 1, 1], "height": 1.0}
        return bullet.createCollisionShapeArray(
            **{many: [s.get(one, defaults.get(one)) for s in made] for one, many in keys.items()})

    def form_of(self, shape, is_static):
        form = shape["form"]
        if form == "box":
            one = dict(shapeType=bullet.GEOM_BOX, halfExtents=scaled(shape["size"], 0.5))
        elif form == "sphere":
            one = dict(shapeType=bullet.GEOM_SPHERE, radius=shape["radius"])
        elif form == "cylinder":
            one = dict(shapeType=bullet.GEOM_CYLINDER, radius=shape["radius"], height=shape["length"])
        elif form == "capsule":
            one = dict(shapeType=bullet.GEOM_CAPSULE, radius=shape["radius"], height=shape["length"])
        elif form == "plane":
            one = dict(shapeType=bullet.GEOM_PLANE)
        elif form == "cone":
            one = hull(cone_points(shape["radius"], shape["length"]))
        elif form == "ellipsoid":
            one = hull([[p[k] * shape["radii"][k] for k in range(3)] for p in sphere_points()])
        elif shape["convex"] or not is_static:
            one = hull(shape["vertices"])
        else:
            one = dict(shapeType=bullet.GEOM_MESH, vertices=shape["vertices"],
                       indices=[i for triangle in shape["triangles"] for i in triangle])
        return one

    def add_unmoved(self, i, rigid):
        is_static = rigid["motion"] == "static"
        for shapes in self.skins(rigid) or [[]]:
            index = self.shape_of(shapes, IDENTITY, is_static) if shapes else -1
            body = bullet.createMultiBody(
                baseMass=0.0 if is_static else HEAVY, baseCollisionShapeIndex=index,
                basePosition=rigid["pose"][0:3], baseOrientation=xyzw(rigid["pose"][3:7]))
            self.seat[i] = (body, -1, IDENTITY)
            if shapes:
                self.surface(body, -1, shapes[0], is_static)
                self.remember(body, -1, shapes[0]["body"])
            if not is_static:
                self.carriers.append((body, rigid))
                bullet.changeDynamics(body, -1, linearDamping=0.0, angularDamping=0.0,
                                      localInertiaDiagonal=[HEAVY] * 3)

    def remember(self, body, link, ours):
        self.body_at[(body, link)] = ours
        self.links_of.setdefault(ours, []).append((body, link))

    def add_tree(self, root):
        """A multibody: a free rigid and all that hangs from it, or what hangs from the world."""
        links = []  # (parent link, rigid or None, joint or None, axis number, skin or None)
        base = None if self.carrier[root] else root
        base_skins = self.skins(self.rigids[root]) if base is not None else []
        link_of = {} if base is None else {root: -1}
        for shapes in base_skins[1:]:
            links.append((-1, None, None, 0, shapes))
        for i in self.order:
            joint = self.carrier[i]
            if joint is None or (i != root and joint["parent"] not in link_of):
                continue
            if i == root and base is not None:
                continue
            parent = -1 if i == root else link_of[joint["parent"]]
            if joint["kind"] == "universal":
                links.append((parent, None, joint, 0, None))
                parent = len(links) - 1
            skins = self.skins(self.rigids[i])
            link_of[i] = len(links)
            links.append((parent, i, joint, len(joint["axes"]) - 1, skins[0] if skins else None))
            for shapes in skins[1:]:
                links.append((link_of[i], None, None, 0, shapes))
        self.make_tree(root, base, base_skins, links, link_of)

    def make_tree(self, root, base, base_skins, links, link_of):
        # Where the frame of each link is in its rigid: at the joint.
        frame = {None: IDENTITY, base: IDENTITY}
        arrays = {key: [] for key in ("linkMasses", "linkCollisionShapeIndices", "linkVisualShapeIndices",
                  "linkPositions", "linkOrientations", "linkInertialFramePositions",
                  "linkInertialFrameOrientations", "linkParentIndices", "linkJointTypes", "linkJointAxis")}
        owners = []  # the rigid each link belongs to, None for the cross of a universal joint
        moments = {}
        for parent, i, joint, axis, shapes in links:
            owner = base if parent < 0 else owners[parent]
            mass, inertial, kind, direction = 0.0, IDENTITY, bullet.JOINT_FIXED, [0, 0, 1]
            place, link_from_rigid = IDENTITY, inverse(frame.get(owner, IDENTITY))
            if joint:
                kind = {"prismatic": bullet.JOINT_PRISMATIC, "ball": bullet.JOINT_SPHERICAL}.get(
                    joint["kind"], bullet.JOINT_REVOLUTE)
                direction = joint["axes"][axis]["direction"] if joint["axes"] else [0, 0, 1]
                if joint["kind"] != "universal" or axis == 0:
                    on = joint["parent_from_joint"]
                    place = compose(inverse(frame.get(joint["parent"], IDENTITY)), on)
                owner = i
            if i is not None:
                rigid = self.rigids[i]
                frame[i] = joint["child_from_joint"]
                link_from_rigid = inverse(frame[i])
                inertia = [row[:] for row in rigid["inertia"]]
                if joint["kind"] != "prismatic":
                    for a in joint["axes"]:
                        d = turned(joint["child_from_joint"][3:7], a["direction"])
                        inertia = [[inertia[r][c] + a["armature"] * d[r] * d[c] for c in range(3)] for r in range(3)]
                moments[i], turn = principal(inertia)
                mass = rigid["mass"]
                inertial = compose(link_from_rigid, rigid["centre"] + turn)
                self.seat[i] = (None, link_of[i], inverse(rigid["centre"] + turn))
            owners.append(owner)
            index = self.shape_of(shapes, link_from_rigid, False) if shapes else -1
            for key, value in (("linkMasses", mass), ("linkCollisionShapeIndices", index),
                               ("linkVisualShapeIndices", -1), ("linkPositions", place[0:3]),
                               ("linkOrientations", xyzw(place[3:7])),
                               ("linkInertialFramePositions", inertial[0:3]),
                               ("linkInertialFrameOrientations", xyzw(inertial[3:7])),
                               ("linkParentIndices", parent + 1), ("linkJointTypes", kind),
                               ("linkJointAxis", direction)):
                arrays[key].append(value)
        flags = bullet.URDF_USE_SELF_COLLISION | bullet.URDF_USE_SELF_COLLISION_INCLUDE_PARENT
        if base is None:
            body = bullet.createMultiBody(baseMass=0.0, flags=flags, **arrays)
        else:
            rigid = self.rigids[root]
            moments[root], turn = principal(rigid["inertia"])
            index = self.shape_of(base_skins[0], IDENTITY, False) if base_skins else -1
            body = bullet.createMultiBody(
                baseMass=rigid["mass"], baseCollisionShapeIndex=index, basePosition=rigid["pose"][0:3],
                baseOrientation=xyzw(rigid["pose"][3:7]), baseInertialFramePosition=rigid["centre"],
                baseInertialFrameOrientation=xyzw(turn), flags=flags, **arrays)
            self.seat[root] = (body, -1, inverse(rigid["centre"] + turn))
            bullet.changeDynamics(body, -1, localInertiaDiagonal=moments[root])
            arm = turned(rigid["pose"][3:7], rigid["centre"])
            v, w = rigid["velocity"][0:3], rigid["velocity"][3:6]
            bullet.resetBaseVelocity(body, add(v, cross(w, arm)), w)
            if base_skins:
                self.surface(body, -1, base_skins[0][0], False)
                self.remember(body, -1, base_skins[0][0]["body"])
        if not self.raw:
            for link in range(-1, len(links)):
                bullet.changeDynamics(body, link, linearDamping=0.0, angularDamping=0.0, maxJointVelocity=1e9)
        for link, (parent, i, joint, axis, shapes) in enumerate(links):
            if i is not None:
                self.seat[i] = (body, link, self.seat[i][2])
                bullet.changeDynamics(body, link, localInertiaDiagonal=moments[i])
            if shapes:
                self.surface(body, link, shapes[0], False)
                self.remember(body, link, shapes[0]["body"])
            if joint and joint["kind"] == "ball":
                self.set_ball(body, link, joint)
            elif joint:
                self.set_axis(body, link, joint["axes"][axis])

    def set_axis(self, body, link, axis):
        self.joint_of[axis["dof"]] = (body, link, axis)
        bullet.resetJointState(body, link, axis["position"], axis["velocity"])
        if axis["lower"] is not None or axis["upper"] is not None:
            low = -1e30 if axis["lower"] is None else axis["lower"]
            high = 1e30 if axis["upper"] is None else axis["upper"]
            bullet.changeDynamics(body, link, jointLowerLimit=low, jointUpperLimit=high)
        if not self.raw:
            bullet.changeDynamics(body, link, jointDamping=0.0)
            bullet.setJointMotorControl2(
                body, link, bullet.VELOCITY_CONTROL, targetVelocity=0.0, force=axis["friction"])

    def set_ball(self, body, link, joint):
        parent = joint["parent"]
        ground = IDENTITY if parent is None else self.rigids[parent]["pose"]
        child = self.rigids[joint["child"]]
        a, b = compose(ground, joint["parent_from_joint"]), compose(child["pose"], joint["child_from_joint"])
        relative = compose(inverse(a), b)
        spin = child["velocity"][3:6]
        if parent is not None:
            spin = sub(spin, self.rigids[parent]["velocity"][3:6])
        back = inverse(b)[3:7]
        bullet.resetJointStateMultiDof(body, link, targetValue=xyzw(relative[3:7]), targetVelocity=turned(back, spin))
        if not self.raw:
            bullet.setJointMotorControlMultiDof(body, link, bullet.POSITION_CONTROL, targetPosition=[0, 0, 0, 1],
                                                positionGain=0.0, velocityGain=0.0, force=[0.0, 0.0, 0.0])

    def close(self, joint):
        """A loop: one point held together, or two on the axis of a hinge."""
        points = [[0.0, 0.0, 0.0]]
        if joint["kind"] != "ball":
            points = [scaled(joint["axes"][0]["direction"], s) for s in (-0.5, 0.5)]
        for point in points:
            on = []
            for rigid, frame in ((joint["parent"], joint["parent_from_joint"]),
                                 (joint["child"], joint["child_from_joint"])):
                at = compose(frame, point + IDENTITY[3:7])[0:3]
                if rigid is None or self.rigids[rigid]["motion"] == "static":
                    world = IDENTITY if rigid is None else self.rigids[rigid]["pose"]
                    on.append((-1, -1, compose(world, at + IDENTITY[3:7])[0:3]))
                else:
                    body, link, centre_from_rigid = self.seat[rigid]
                    on.append((body, link, compose(centre_from_rigid, at + IDENTITY[3:7])[0:3]))
            on.sort(key=lambda side: side[0] < 0)
            (body_a, link_a, at_a), (body_b, link_b, at_b) = on
            tie = bullet.createConstraint(body_a, link_a, body_b, link_b, bullet.JOINT_POINT2POINT, [0, 0, 0], at_a, at_b)
            bullet.changeConstraint(tie, maxForce=1e12)

    # --- time --------------------------------------------------------------------------

    def step(self, efforts, wrenches):
        for dof, (body, link, axis) in self.joint_of.items():
            effort = efforts[dof] if dof < len(efforts) else 0.0
            if not self.raw and (axis["damping"] or axis["spring_stiffness"]):
                q, v = bullet.getJointState(body, link)[0:2]
                effort -= axis["damping"] * v + axis["spring_stiffness"] * (q - axis["spring_reference"])
            if effort:
                bullet.setJointMotorControl2(body, link, bullet.TORQUE_CONTROL, force=effort)
        for i in self.order:
            rigid = self.rigids[i]
            if not self.raw and (rigid["linear_decay"] or rigid["angular_decay"]):
                self.push(i, *decay_of(rigid, self.state[i][0:7], self.state[i][7:13]))
            if not rigid["gravity"]:
                self.push(i, scaled(self.gravity, -rigid["mass"]), [0.0, 0.0, 0.0])
        for push in loop_pushes(self.scene, self.loops, self.state, efforts):
            self.push(*push)
        for wrench in wrenches:
            if self.rigids[wrench[0]]["motion"] == "dynamic":
                self.push(wrench[0], wrench[1:4], wrench[4:7])
        for body, rigid in self.carriers:
            # Gravity is taken back before the step adds it.
            v = sub(rigid["velocity"][0:3], scaled(self.gravity, self.dt))
            bullet.resetBaseVelocity(body, v, rigid["velocity"][3:6])
        bullet.stepSimulation()
        self.read()
        return self.state, self.contacts()

    def push(self, i, force, torque):
        body, link, _ = self.seat[i]
        at = centre_of(self.rigids[i], self.state[i][0:7])
        bullet.applyExternalForce(body, link, force, at, bullet.WORLD_FRAME)
        if any(torque):
            bullet.applyExternalTorque(body, link, torque, bullet.WORLD_FRAME)

    def read(self):
        for i, rigid in enumerate(self.rigids):
            if rigid["motion"] == "static":
                continue
            body, link, centre_from_rigid = self.seat[i]
            if link < 0:
                position, turn = bullet.getBasePositionAndOrientation(body)
                linear, spin = bullet.getBaseVelocity(body)
            else:
                seen = bullet.getLinkState(body, link, 1, 1)
                position, turn, linear, spin = seen[0], seen[1], seen[6], seen[7]
            pose = compose(pose_of(position, turn), centre_from_rigid)
            arm = sub(pose[0:3], position)
            self.state[i] = pose + add(linear, cross(spin, arm)) + list(spin)

    def contacts(self):
        out = []
        for c in bullet.getContactPoints() or ():
            a, b = self.body_at[(c[1], c[3])], self.body_at[(c[2], c[4])]
            if c[8] > 0.0 and c[9] == 0.0:
                continue  # near, not touching
            # Bullet's normal points from b to a, its forces act on a.
            on_a = add(add(scaled(c[7], c[9]), scaled(c[11], c[10])), scaled(c[13], c[12]))
            middle = scaled(add(c[5], c[6]), 0.5)
            out.append(contact(a, b, middle, scaled(c[7], -1.0), -c[8], scaled(on_a, -1.0)))
        return out


def hull(points):
    return dict(shapeType=bullet.GEOM_MESH, vertices=points)


serve("pybullet", importlib.metadata.version("pybullet"), World)
