# DART: articulated bodies by Featherstone, contacts and limits as one boxed LCP.
#
#   asked                          realised
#   -----------------------------  -----------------------------------------------------------
#   friction of a pair: the lesser DART's own rule
#   restitution of a pair: the     DART multiplies, so each shape gets a factor (`factors`);
#   lesser                         where one factor each cannot do it, the pair is told. Below
#                                  0.1 m/s nothing bounces
#   friction by direction          the mean of mu and mu2
#   shapes that touch as they are  ODE's collision detector instead of FCL, in which capsules
#                                  are spheres of 0.1 m; Bullet's for cones
#   velocity_decay d               a force -d*m*v and a torque -d*I*w at the start of the step
#   gravity off                    DART's gravity mode of the body
#   axis: effort                   a generalised force
#   axis: damping, spring, limits, DART's own; the first two are implicit in it
#   dry friction
#   axis: armature                 turning: added to the child's inertia; sliding: left out
#   mimic                          a generalised force that keeps q = m*leader + c, solved from
#                                  the mass matrix at the start of the step, 0.2 of the error
#   joints that close a loop       ball and hinge: DART's joint constraints; others cannot
#   kinematic                      a free joint that follows velocities
#   nothing sleeps                 DART's deactivation is off
#   ellipsoid                      cannot: a sphere of 1 cm in ODE's detector, 1 cm too large
#                                  in Bullet's
#   mesh, heightmap, prism         cannot: dartpy can only read them from files of its own
#   raw                            FCL, sleep, and DART's friction of 1 and restitution of 0 where the
#                                  world says nothing; both products and minima are DART's own
needs("dartpy", "dartpy")
import dartpy as dart
import numpy as np

D = dart.dynamics
TIE_CORRECTION = 0.2  # share of a tie's error that is corrected per step


def isometry(pose):
    m = np.eye(4)
    m[0:3, 0:3] = matrix(pose[3:7])
    m[0:3, 3] = pose[0:3]
    return dart.math.Isometry3(m)


class World:
    def __init__(self, scene):
        self.scene, self.rigids, self.raw = scene, scene["rigids"], scene["raw"]
        self.dt, self.gravity = scene["step_ns"] * 1e-9, scene["gravity"]
        self.realised, self.cannot = [], []
        self.order, self.carrier, self.loops = carried(scene)
        self.values()
        self.refuse()
        self.realised += remarks(scene)
        if self.cannot:
            return
        self.world = dart.simulation.World("headland")
        self.world.setTimeStep(self.dt)
        self.world.setGravity(self.gravity)
        solver = self.world.getConstraintSolver()
        if not self.raw:
            sleep = self.world.getDeactivationOptions()
            sleep.mEnabled = False
            self.world.setDeactivationOptions(sleep)
            solver.setCollisionDetector(self.detector())
        self.nodes = [None] * len(self.rigids)
        self.dofs = {}  # our dof -> (joint, index)
        self.bodies = {}  # shape name -> our body
        for i, rigid in enumerate(self.rigids):
            if rigid["motion"] != "dynamic":
                self.add_rigid(i, rigid, None)
        for i in self.order:
            self.add_rigid(i, self.rigids[i], self.carrier[i])
        for skeleton in self.skeletons():
            self.world.addSkeleton(skeleton)
        for joint in self.loops:
            self.close(joint)
        self.keep_apart(solver)
        axes = [axis for joint in scene["joints"] for axis in joint["axes"]]
        self.ties = [(a["dof"], a["mimic"]) for a in axes if a["mimic"]]
        self.decaying = [i for i in self.order
                         if self.rigids[i]["linear_decay"] or self.rigids[i]["angular_decay"]]
        self.state = [rigid["pose"] + rigid["velocity"] for rigid in self.rigids]

    def skeletons(self):
        return list({node.getSkeleton().getName(): node.getSkeleton() for node in self.nodes}.values())

    # --- what is asked, in DART's terms --------------------------------------------------

    def values(self):
        self.e, self.e_ground, wrong = factors(self.scene, lambda shape: shape["restitution"])
        if self.raw:
            self.realised.append("raw: DART's own collision detector (FCL), its product of restitutions, and what rests "
                                 "falls asleep; friction and restitution where the world says them")
            return
        for a, b, product in wrong:
            self.realised.append(f"restitution between surfaces of {a:g} and {b:g} is {product:.4g} "
                                 f"instead of {min(a, b):g}: DART multiplies")

    def detector(self):
        """ODE's: with it a box slides 6.804 m of 6.802, with Bullet's 6.862, DART's own 6.819 and
        sunk in by 41 mm, FCL's 6.840. It has no cones; with those, Bullet's."""
        lacks = [s["form"] for r in self.rigids for s in r["shapes"] if s["form"] == "cone"]
        if not lacks:
            return dart.collision.OdeCollisionDetector()
        self.realised.append(f"contacts are found by Bullet's detector, not ODE's, which has no {lacks[0]}")
        return dart.collision.BulletCollisionDetector()

    def refuse(self):
        for joint in self.scene["joints"]:
            if any(axis["armature"] for axis in joint["axes"]):
                how = "left out" if joint["kind"] == "prismatic" else "added to the inertia of its child"
                self.realised.append(f"joint `{joint['name']}`: armature {how}")
        for joint in self.loops:
            if joint["kind"] not in ("ball", "revolute", "continuous"):
                self.cannot.append(f"joint `{joint['name']}`: a {joint['kind']} joint cannot close a loop")
            elif any(is_more_than_free(axis) for axis in joint["axes"]):
                self.cannot.append(f"joint `{joint['name']}` closes a loop: it can have no limits, springs, "
                                   "dampers or friction")
        for rigid in self.rigids:
            for shape in rigid["shapes"]:
                if shape["form"] == "ellipsoid":
                    self.cannot.append(f"link `{rigid['name']}`: an ellipsoid, which touches 1 cm outside in "
                                       "Bullet's detector and is a small sphere in ODE's and FCL's")
                if shape["form"] in ("mesh", "prism"):
                    self.cannot.append(f"link `{rigid['name']}`: dartpy has no way to make a {shape['form']}")
                if shape["form"] == "plane" and rigid["motion"] != "static":
                    self.cannot.append(f"link `{rigid['name']}`: a plane that moves")

    def surface(self, node, shape, is_static):
        aspect = node.getDynamicsAspect()
        if not self.raw:
            aspect.setFrictionCoeff(mean_mu(shape))
            aspect.setRestitutionCoeff((self.e_ground if is_static else self.e)[shape["restitution"]])
            return
        if "mu" in shape["said"] or "mu2" in shape["said"]:
            aspect.setFrictionCoeff(mean_mu(shape))
        if "restitution" in shape["said"]:
            aspect.setRestitutionCoeff(shape["restitution"])

    def shape_of(self, shape):
        form = shape["form"]
        if form == "box":
            return D.BoxShape(shape["size"])
        if form == "sphere":
            return D.SphereShape(shape["radius"])
        if form == "cylinder":
            return D.CylinderShape(shape["radius"], shape["length"])
        if form == "capsule":
            return D.CapsuleShape(shape["radius"], shape["length"])
        if form == "cone":
            return D.ConeShape(shape["radius"], shape["length"])
        return D.PlaneShape(shape["normal"], 0.0)

    # --- bodies and joints ----------------------------------------------------------------

    def add_rigid(self, i, rigid, joint):
        parent = None if joint is None or joint["parent"] is None else self.nodes[joint["parent"]]
        skeleton = parent.getSkeleton() if parent else D.Skeleton(f"rigid {i}")
        kind = {"static": "Weld", "kinematic": "Free"}.get(rigid["motion"])
        if kind is None:
            kind = "Free" if joint is None else {
                "revolute": "Revolute", "continuous": "Revolute", "prismatic": "Prismatic", "ball": "Ball",
                "universal": "Universal", "screw": "Screw"}[joint["kind"]]
        made, node = getattr(skeleton, f"create{kind}JointAndBodyNodePair")(*([parent] if parent else []))
        self.nodes[i] = node
        node.setName(f"rigid {i}")
        if rigid["motion"] == "static":
            made.setTransformFromParentBodyNode(isometry(rigid["pose"]))
            skeleton.setMobile(False)
        else:
            self.set_mass(node, rigid, joint)
        for n, shape in enumerate(rigid["shapes"]):
            shape_node = node.createShapeNode(self.shape_of(shape), f"{i} {n}")
            shape_node.createCollisionAspect()
            shape_node.createDynamicsAspect()
            shape_node.setRelativeTransform(isometry(shape["pose"]))
            self.surface(shape_node, shape, rigid["motion"] == "static")
            self.bodies[shape_node.getName()] = shape["body"]
        if kind == "Free":
            made.setTransform(isometry(rigid["pose"]))
            made.setLinearVelocity(rigid["velocity"][0:3])
            made.setAngularVelocity(rigid["velocity"][3:6])
            if rigid["motion"] == "kinematic":
                made.setActuatorType(D.VELOCITY)
        elif joint is not None:
            self.set_joint(made, joint)

    def set_mass(self, node, rigid, joint):
        inertia = [row[:] for row in rigid["inertia"]]
        if joint is not None and joint["kind"] != "prismatic":
            for axis in joint["axes"]:
                d = turned(joint["child_from_joint"][3:7], axis["direction"])
                inertia = [[inertia[r][c] + axis["armature"] * d[r] * d[c] for c in range(3)] for r in range(3)]
        if rigid["motion"] == "kinematic" and rigid["mass"] <= 0.0:
            return
        node.setInertia(D.Inertia(rigid["mass"], rigid["centre"], inertia))
        node.setGravityMode(rigid["gravity"])

    def set_joint(self, made, joint):
        made.setTransformFromParentBodyNode(isometry(joint["parent_from_joint"]))
        made.setTransformFromChildBodyNode(isometry(joint["child_from_joint"]))
        axes = joint["axes"]
        if joint["kind"] == "ball":
            return self.set_ball(made, joint)
        if joint["kind"] == "universal":
            made.setAxis1(axes[0]["direction"])
            made.setAxis2(axes[1]["direction"])
        else:
            made.setAxis(axes[0]["direction"])
        if joint["kind"] == "screw":
            made.setPitch(2.0 * math.pi * joint["metres_per_radian"])
        for k, axis in enumerate(axes):
            self.dofs[axis["dof"]] = (made, k)
            made.setPosition(k, axis["position"])
            made.setVelocity(k, axis["velocity"])
            made.setDampingCoefficient(k, axis["damping"])
            made.setSpringStiffness(k, axis["spring_stiffness"])
            made.setRestPosition(k, axis["spring_reference"])
            made.setCoulombFriction(k, axis["friction"])
            if axis["lower"] is not None:
                made.setPositionLowerLimit(k, axis["lower"])
            if axis["upper"] is not None:
                made.setPositionUpperLimit(k, axis["upper"])
            if axis["lower"] is not None or axis["upper"] is not None:
                made.setLimitEnforcement(True)

    def set_ball(self, made, joint):
        parent, child = joint["parent"], self.rigids[joint["child"]]
        ground = IDENTITY if parent is None else self.rigids[parent]["pose"]
        a, b = compose(ground, joint["parent_from_joint"]), compose(child["pose"], joint["child_from_joint"])
        made.setPositions(D.BallJoint.convertToPositions(np.array(matrix(compose(inverse(a), b)[3:7]))))
        spin = child["velocity"][3:6]
        if parent is not None:
            spin = sub(spin, self.rigids[parent]["velocity"][3:6])
        made.setVelocities(turned(inverse(b)[3:7], spin))

    def close(self, joint):
        parent = joint["parent"]
        ground = IDENTITY if parent is None else self.rigids[parent]["pose"]
        place = compose(ground, joint["parent_from_joint"])
        at = np.array(place[0:3])
        nodes = [self.nodes[joint["child"]]]
        if parent is not None and self.rigids[parent]["motion"] != "static":
            nodes.append(self.nodes[parent])
        if joint["kind"] == "ball":
            tie = dart.constraint.BallJointConstraint(*nodes, at)
        else:
            axis = np.array(turned(place[3:7], joint["axes"][0]["direction"]))
            tie = dart.constraint.RevoluteJointConstraint(*nodes, at, *([axis] * len(nodes)))
        self.world.getConstraintSolver().addConstraint(tie)

    def keep_apart(self, solver):
        """DART knows pairs of its bodies, which are our rigids: a pair is kept apart where no two
        of its shapes may touch."""
        apart = {tuple(pair) for pair in self.scene["apart"]}

        def may_touch(a, b):
            pair = (min(a["body"], b["body"]), max(a["body"], b["body"]))
            return pair not in apart and masks_meet(a, b)

        for skeleton in self.skeletons():
            skeleton.enableSelfCollisionCheck()
            skeleton.enableAdjacentBodyCheck()
        for i, one in enumerate(self.rigids):
            for j in range(i + 1, len(self.rigids)):
                other = self.rigids[j]
                may = [may_touch(a, b) for a in one["shapes"] for b in other["shapes"]]
                if may and not any(may):
                    solver.getCollisionOption().collisionFilter.addBodyNodePairToBlackList(self.nodes[i], self.nodes[j])
                elif not all(may):
                    self.realised.append(f"all shapes of `{one['name']}` and `{other['name']}` may touch: DART keeps "
                                         "apart whole bodies only")

    # --- time ------------------------------------------------------------------------------

    def step(self, efforts, wrenches):
        for dof, effort in enumerate(efforts):
            if effort and dof in self.dofs:
                joint, k = self.dofs[dof]
                joint.setForce(k, effort)
        for i in self.decaying:
            force, torque = decay_of(self.rigids[i], self.state[i][0:7], self.state[i][7:13])
            self.push(i, force, torque)
        for push in loop_pushes(self.scene, self.loops, self.state, efforts):
            self.push(*push)
        for wrench in wrenches:
            if self.rigids[wrench[0]]["motion"] == "dynamic":
                self.push(wrench[0], wrench[1:4], wrench[4:7])
        for i, rigid in enumerate(self.rigids):
            if rigid["motion"] == "kinematic":
                back = inverse(self.state[i][0:7])[3:7]
                v, w = rigid["velocity"][0:3], rigid["velocity"][3:6]
                self.nodes[i].getParentJoint().setCommands(turned(back, w) + turned(back, v))
        for _ in range(8 if self.ties else 0):
            for dof, mimic in self.ties:
                self.keep(dof, mimic)
        self.world.step()
        for i, node in enumerate(self.nodes):
            if self.rigids[i]["motion"] != "static":
                m = node.getWorldTransform().matrix()
                self.state[i] = (m[0:3, 3].tolist() + quaternion(m[0:3, 0:3].tolist())
                                 + node.getLinearVelocity().tolist() + node.getAngularVelocity().tolist())
        return self.state, self.contacts()

    def push(self, i, force, torque):
        node = self.nodes[i]
        node.addExtForce(force, self.rigids[i]["centre"], False, True)
        node.addExtTorque(torque, False)

    def keep(self, dof, mimic):
        """The generalised force that keeps `q - m*leader = c` at the end of the step."""
        terms = [(*self.dofs[dof], 1.0), (*self.dofs[mimic["leader"]], -mimic["multiplier"])]
        speed, error, give, rows = 0.0, -mimic["offset"], 0.0, {}
        for joint, k, factor in terms:
            skeleton = joint.getSkeleton()
            index = joint.getIndexInSkeleton(k)
            error += factor * joint.getPosition(k)
            rows.setdefault(skeleton.getName(), (skeleton, {}))[1][index] = factor
        for skeleton, row in rows.values():
            give_matrix = skeleton.getInvMassMatrix()
            acting = skeleton.getForces() + skeleton.getExternalForces() - skeleton.getCoriolisAndGravityForces()
            next_speed = skeleton.getVelocities() + self.dt * (give_matrix @ acting)
            c = np.zeros(len(next_speed))
            for index, factor in row.items():
                c[index] = factor
            speed += float(c @ next_speed)
            give += float(c @ give_matrix @ c)
        push = -(speed + TIE_CORRECTION * error / self.dt) / (give * self.dt)
        for joint, k, factor in terms:
            joint.setForce(k, joint.getForce(k) + push * factor)

    def contacts(self):
        out = []
        for c in self.world.getLastCollisionResult().getContacts():
            a = self.bodies[c.collisionObject1.getShapeFrame().getName()]
            b = self.bodies[c.collisionObject2.getShapeFrame().getName()]
            # DART's normal points from the second to the first, its force acts on the first.
            out.append(contact(a, b, c.point.tolist(), (-c.normal).tolist(), float(c.penetrationDepth),
                               (-c.force).tolist()))
        return out


serve("dart", dart.__version__, World)
