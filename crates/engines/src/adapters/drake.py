# Drake: MultibodyPlant in discrete time, compliant contacts.
#
#   asked                          realised
#   -----------------------------  -----------------------------------------------------------
#   friction of a pair: the lesser Drake combines by 2*a*b/(a+b), so what stands still gets the
#                                  value that gives the lesser against what moves. Where moving
#                                  surfaces differ, pairs of them are told with both numbers
#   friction by direction          the mean of mu and mu2
#   restitution e                  Drake has none. Its contacts dissipate by Hunt and Crossley,
#                                  F = k*x*(1 + d*v); d = 1.5*(1-e)/(1 m/s) keeps a share e of a
#                                  speed of 1 m/s to first order. Steps take away more: of 0.49
#                                  of the height a ball reaches 0.05 to 0.2. With SAP: no
#                                  relaxation where e > 0, else 0.1 s
#   a contact model that slides    point contact with TAMSI, or with SAP where mimics or loops
#                                  need its constraints; with Drake's default, lagged, a box
#                                  that should slide 6.8 m slides 3.6. From a step on that TAMSI
#                                  cannot solve, as in a stack that rocks, SAP, with a remark in
#                                  the recording; with SAP alone a cylinder that slides tumbles
#   velocity_decay d               a force -d*m*v and a torque -d*I*w at the start of the step
#   gravity off                    a model instance without gravity
#   axis: effort                   a generalised force
#   axis: damping                  Drake's own, implicit
#   axis: spring                   a generalised force -k*(q - q0) at the start of the step
#   axis: dry friction             a generalised force of at most that size, which would stop
#                                  the axis within the step
#   axis: limits                   Drake's own, compliant; hinges and slides only
#   axis: armature                 the rotor inertia of an actuator; hinges and slides only
#   mimic                          a coupler constraint
#   ball joint                     BallRpyJoint, which is singular when pitched by 90 degrees
#   universal joint                axes at right angles only
#   joints that close a loop       ball: a ball constraint; hinge: two of them on the axis; not
#                                  with the world itself
#   kinematic                      a mass of 1e9 kg without gravity, put back every step
#   mesh, prism                    convex hulls; concave ground is its hull too, and told
#   cone                           a convex hull of 33 points
#   raw                            Drake's default approximation and contact parameters;
#                                  friction where the world says it, else Drake's
import importlib.metadata
import tempfile

needs("drake", "pydrake")
import numpy as np
from pydrake.geometry import (AddContactMaterial, Box, Capsule, CollisionFilterDeclaration, Convex, Cylinder,
                              Ellipsoid, GeometrySet, HalfSpace, ProximityProperties, Sphere)
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.math import SpatialForce, SpatialVelocity
from pydrake.multibody.plant import (AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction,
                                     DiscreteContactApproximation, ExternallyAppliedSpatialForce)
from pydrake.multibody.tree import (BallRpyJoint, FixedOffsetFrame, PrismaticJoint, RevoluteJoint,
                                    RotationalInertia, ScrewJoint, SpatialInertia, UniversalJoint)
from pydrake.systems.framework import DiagramBuilder


HEAVY = 1e9  # [kg]
ROUGH = 1e9  # friction of a ground against which only the other surface counts


def transform(pose):
    return RigidTransform(RotationMatrix(np.array(matrix(pose[3:7]))), pose[0:3])


class World:
    def __init__(self, scene):
        self.scene, self.rigids, self.raw = scene, scene["rigids"], scene["raw"]
        self.dt, self.gravity, self.n_steps = scene["step_ns"] * 1e-9, scene["gravity"], 0
        self.realised, self.cannot, self.remarks = [], [], []
        self.folder = tempfile.TemporaryDirectory()
        self.order, self.carrier, self.loops = carried(scene)
        self.values()
        self.refuse()
        self.realised += remarks(scene)
        if self.cannot:
            return
        self.build(DiscreteContactApproximation.kSap if self.has_ties() else DiscreteContactApproximation.kTamsi)
        self.set_state()
        axes = [axis for joint in scene["joints"] for axis in joint["axes"] if axis["dof"] in self.dofs]
        self.sprung = [axis for axis in axes if axis["spring_stiffness"]]
        self.rough = [axis for axis in axes if axis["friction"]]
        self.decaying = [i for i in self.order
                         if self.rigids[i]["linear_decay"] or self.rigids[i]["angular_decay"]]
        self.state = [rigid["pose"] + rigid["velocity"] for rigid in self.rigids]

    def build(self, approximation):
        """Drake's picture of the scene, which keeps to one way of solving contacts."""
        self.approximation = approximation
        builder = DiagramBuilder()
        self.plant, self.graph = AddMultibodyPlantSceneGraph(builder, time_step=self.dt)
        plant = self.plant
        plant.mutable_gravity_field().set_gravity_vector(self.gravity)
        plant.SetUseSampledOutputPorts(False)
        if not self.raw:
            plant.set_discrete_contact_approximation(approximation)
            plant.set_contact_model(ContactModel.kPoint)
        self.bodies, self.joints, self.our_body, self.ids_of = {}, {}, {}, {}
        for i, rigid in enumerate(self.rigids):
            if rigid["motion"] == "static":
                self.add_shapes(plant.world_body(), rigid, rigid["pose"])
            elif rigid["motion"] == "kinematic":
                self.add_body(i, rigid)
        for i in self.order:
            self.add_body(i, self.rigids[i])
        for i in self.order:
            if self.carrier[i]:
                self.add_joint(self.carrier[i])
        self.close_loops()
        self.couple()
        self.keep_apart()
        # Neighbours on a joint are among those kept apart, unless the world lets them touch.
        plant.set_adjacent_bodies_collision_filters(False)
        plant.Finalize()
        self.diagram = builder.Build()
        self.context = self.diagram.CreateDefaultContext()
        self.inner = plant.GetMyMutableContextFromRoot(self.context)
        self.pushed = self.forced = False

    def solve_by_sap(self):
        """The same state, solved by SAP from here on. Both plants are built alike, so numbers
        of one mean the same in the other."""
        before, inner = self.plant, self.inner
        self.build(DiscreteContactApproximation.kSap)
        self.plant.SetPositions(self.inner, before.GetPositions(inner))
        self.plant.SetVelocities(self.inner, before.GetVelocities(inner))
        self.context.SetTime(self.n_steps * self.dt)
        self.remarks.append("Drake's TAMSI found no solution for this step; contacts are solved by SAP from here on")

    # --- what is asked, in Drake's terms ---------------------------------------------------

    def values(self):
        moving = {mean_mu(s) for r in self.rigids if r["motion"] != "static" for s in r["shapes"]}
        static = {mean_mu(s) for r in self.rigids if r["motion"] == "static" for s in r["shapes"]}
        self.mu, self.mu_ground = {m: m for m in moving}, {s: s for s in static}
        if len(moving) > 1 and len(static) == 1:
            (s,) = static
            self.mu_ground = {s: ROUGH}
            self.mu = {m: min(m, s) * ROUGH / (2.0 * ROUGH - min(m, s)) for m in moving}
        if len(moving) == 1:
            (m,) = moving
            for s in static:
                t = min(s, m)
                self.mu_ground[s] = t * m / (2.0 * m - t) if m > 0.0 else 0.0
        if self.raw:
            self.realised.append("raw: Drake's own contact approximation and contact parameters; friction where the "
                                 "world says it, combined by 2ab/(a+b)")
            return
        pairs = [(a, b, self.mu[a], self.mu[b]) for a in moving for b in moving if a <= b]
        pairs += [(a, b, self.mu[a], self.mu_ground[b]) for a in moving for b in static]
        for a, b, x, y in sorted({(min(a, b), max(a, b), x, y) for a, b, x, y in pairs}):
            got = 2.0 * x * y / (x + y) if x + y > 0.0 else 0.0
            if abs(got - min(a, b)) > 1e-9:
                self.realised.append(f"friction between surfaces of {a:g} and {b:g} is {got:.4g} instead of "
                                     f"{min(a, b):g}: Drake combines by 2ab/(a+b)")
        for e in sorted({s["restitution"] for r in self.rigids for s in r["shapes"] if s["restitution"] > 0.0}):
            self.realised.append(f"restitution {e:g}: Drake has none; its contacts dissipate with "
                                 f"d = 1.5*(1-e)/(1 m/s) = {dissipation(e):.4g} s/m")
        if self.has_ties():
            self.realised.append("contacts by SAP, which has the constraints that mimics and loops need, not by TAMSI")

    def has_ties(self):
        return bool(self.loops) or any(a["mimic"] for j in self.scene["joints"] for a in j["axes"])

    def properties(self, shape, is_static):
        properties = ProximityProperties()
        if self.raw:
            if "mu" in shape["said"] or "mu2" in shape["said"]:
                mu = mean_mu(shape)
                AddContactMaterial(friction=CoulombFriction(mu, mu), properties=properties)
            return properties
        mu = self.mu_ground[mean_mu(shape)] if is_static else self.mu[mean_mu(shape)]
        e = shape["restitution"]
        AddContactMaterial(dissipation=dissipation(e), friction=CoulombFriction(mu, mu), properties=properties)
        properties.AddProperty("material", "relaxation_time", relaxation(e))
        return properties

    def refuse(self):
        for joint in self.scene["joints"]:
            name, kind, axes = joint["name"], joint["kind"], joint["axes"]
            if kind in ("screw", "universal"):
                if any(a["lower"] is not None or a["upper"] is not None for a in axes):
                    self.cannot.append(f"joint `{name}`: Drake has no limits on a {kind} joint")
                if any(a["armature"] for a in axes):
                    self.cannot.append(f"joint `{name}`: Drake has no armature on a {kind} joint")
            if kind == "universal" and abs(dot(axes[0]["direction"], axes[1]["direction"])) > 1e-9:
                self.cannot.append(f"joint `{name}`: Drake's universal joint has its axes at right angles")
            if kind == "ball":
                self.realised.append(f"joint `{name}`: a ball joint by roll, pitch and yaw, singular when pitched by 90°")
            if any(a["friction"] for a in axes):
                self.realised.append(f"joint `{name}`: dry friction as an effort found at the start of each step")
        for joint in self.loops:
            if joint["kind"] not in ("ball", "revolute", "continuous"):
                self.cannot.append(f"joint `{joint['name']}`: a {joint['kind']} joint cannot close a loop")
            elif any(i is None or self.rigids[i]["motion"] == "static" for i in (joint["parent"], joint["child"])):
                self.cannot.append(f"joint `{joint['name']}` closes a loop with the world; Drake's ball constraint "
                                   "ends its process there")
            elif any(is_more_than_free(axis) for axis in joint["axes"]):
                self.cannot.append(f"joint `{joint['name']}` closes a loop: it can have no limits, springs, "
                                   "dampers or friction")
        for rigid in self.rigids:
            for shape in rigid["shapes"]:
                if shape["form"] == "mesh" and not shape["convex"]:
                    self.realised.append(f"link `{rigid['name']}`: its mesh touches as its convex hull")
                if shape["form"] == "cone":
                    self.realised.append(f"link `{rigid['name']}`: its cone touches as a convex hull")
            if rigid["motion"] == "kinematic":
                self.realised.append(f"link `{rigid['name']}`: kinematic as a mass of 1e9 kg, put back every step")

    # --- bodies, shapes, joints ------------------------------------------------------------

    def add_body(self, i, rigid):
        instance = self.plant.AddModelInstance(f"rigid {i}")
        mass, inertia = rigid["mass"], np.array(rigid["inertia"])
        if rigid["motion"] == "kinematic":
            mass, inertia = HEAVY, np.eye(3) * HEAVY
        turn = RotationalInertia(inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
        centre = rigid["centre"] if rigid["motion"] == "dynamic" else [0.0, 0.0, 0.0]
        whole = SpatialInertia.MakeFromCentralInertia(mass, centre, turn)
        self.bodies[i] = self.plant.AddRigidBody(f"rigid {i}", instance, whole)
        if not rigid["gravity"] or rigid["motion"] == "kinematic":
            self.plant.set_gravity_enabled(instance, False)
        self.add_shapes(self.bodies[i], rigid, IDENTITY)

    def add_shapes(self, body, rigid, place):
        for n, shape in enumerate(rigid["shapes"]):
            for m, (pose, made) in enumerate(self.parts(shape)):
                at = compose(place, compose(shape["pose"], pose))
                properties = self.properties(shape, rigid["motion"] == "static")
                name = f"{rigid['name']} {n} {m}"
                made_id = self.plant.RegisterCollisionGeometry(body, transform(at), made, name, properties)
                self.our_body[made_id] = shape["body"]
                key = (shape["body"], shape["category"], shape["mask"])
                self.ids_of.setdefault(key, []).append(made_id)

    def parts(self, shape):
        form = shape["form"]
        if form == "prism":
            return [(IDENTITY, self.hull(points)) for points in shape["parts"]]
        if form == "plane":
            return [([0.0, 0.0, 0.0] + turn_z_to(shape["normal"]), HalfSpace())]
        if form == "box":
            made = Box(*shape["size"])
        elif form == "sphere":
            made = Sphere(shape["radius"])
        elif form == "cylinder":
            made = Cylinder(shape["radius"], shape["length"])
        elif form == "capsule":
            made = Capsule(shape["radius"], shape["length"])
        elif form == "ellipsoid":
            made = Ellipsoid(*shape["radii"])
        elif form == "cone":
            made = self.hull(cone_points(shape["radius"], shape["length"]))
        else:
            made = self.hull(shape["vertices"])
        return [(IDENTITY, made)]

    def hull(self, points):
        """Drake takes the hull of the vertices of a file; which triangles it has is no matter."""
        path = os.path.join(self.folder.name, f"{len(os.listdir(self.folder.name))}.obj")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points)
            file.writelines(f"f {i + 1} {i + 2} {i + 3}\n" for i in range(len(points) - 2))
        return Convex(path)

    def frame(self, i, pose, name):
        body = self.plant.world_body() if i is None else self.bodies.get(i)
        if body is None:  # static: part of the world
            body, pose = self.plant.world_body(), compose(self.rigids[i]["pose"], pose)
        return self.plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), transform(pose)))

    def add_joint(self, joint):
        name, axes = joint["name"], joint["axes"]
        own = IDENTITY
        if joint["kind"] == "universal":  # Drake's axes are x and y
            x, y = axes[0]["direction"], axes[1]["direction"]
            z = cross(x, y)
            own = [0.0, 0.0, 0.0] + quaternion([[x[k], y[k], z[k]] for k in range(3)])
        a = self.frame(joint["parent"], compose(joint["parent_from_joint"], own), f"{name} parent")
        b = self.frame(joint["child"], compose(joint["child_from_joint"], own), f"{name} child")
        if joint["kind"] == "ball":
            made = BallRpyJoint(name, a, b, 0.0)
        elif joint["kind"] == "universal":
            made = UniversalJoint(name, a, b, axes[0]["damping"])
        elif joint["kind"] == "screw":
            pitch = 2.0 * math.pi * joint["metres_per_radian"]
            made = ScrewJoint(name, a, b, axes[0]["direction"], pitch, axes[0]["damping"])
        else:
            kind = PrismaticJoint if joint["kind"] == "prismatic" else RevoluteJoint
            low, high = axes[0]["lower"], axes[0]["upper"]
            low = -math.inf if low is None else low
            high = math.inf if high is None else high
            made = kind(name, a, b, axes[0]["direction"], low, high, axes[0]["damping"])
        made = self.plant.AddJoint(made)
        if len(axes) == 1 and axes[0]["armature"]:
            motor = self.plant.AddJointActuator(name, made)
            motor.set_default_rotor_inertia(axes[0]["armature"])
            motor.set_default_gear_ratio(1.0)
        self.joints[joint["child"]] = made

    def close_loops(self):
        for joint in self.loops:
            points = [[0.0, 0.0, 0.0]]
            if joint["kind"] != "ball":
                points = [scaled(joint["axes"][0]["direction"], s) for s in (-0.5, 0.5)]
            for point in points:
                sides = []
                for i, frame in ((joint["parent"], joint["parent_from_joint"]), (joint["child"], joint["child_from_joint"])):
                    sides += [self.bodies[i], compose(frame, point + IDENTITY[3:7])[0:3]]
                self.plant.AddBallConstraint(*sides)

    def couple(self):
        self.dofs = {}  # our dof -> (joint, which of its axes)
        for i in self.order:
            if self.carrier[i]:
                for k, axis in enumerate(self.carrier[i]["axes"]):
                    self.dofs[axis["dof"]] = (self.joints[i], k)
        for joint in self.scene["joints"]:
            for axis in joint["axes"]:
                mimic = axis["mimic"]
                if mimic:
                    (follower, _), (leader, _) = self.dofs[axis["dof"]], self.dofs[mimic["leader"]]
                    self.plant.AddCouplerConstraint(follower, leader, mimic["multiplier"], mimic["offset"])

    def keep_apart(self):
        manager = self.graph.collision_filter_manager()
        keys = list(self.ids_of)
        apart = {tuple(pair) for pair in self.scene["apart"]}
        for n, one in enumerate(keys):
            (a, category_a, mask_a) = one
            for other in keys[n + 1:]:
                (b, category_b, mask_b) = other
                meet = category_a & mask_b or category_b & mask_a
                if (min(a, b), max(a, b)) in apart or not meet:
                    manager.Apply(CollisionFilterDeclaration().ExcludeBetween(
                        GeometrySet(self.ids_of[one]), GeometrySet(self.ids_of[other])))

    def set_state(self):
        plant = self.plant
        for i, rigid in enumerate(self.rigids):
            joint = self.carrier[i]
            if rigid["motion"] == "static":
                continue
            if joint is None:
                self.place(i, rigid["pose"], rigid["velocity"])
            elif joint["kind"] == "ball":
                self.set_ball(joint)
            else:
                made, n = self.joints[i], len(joint["axes"])
                q, v = plant.GetPositions(self.inner), plant.GetVelocities(self.inner)
                q[made.position_start():made.position_start() + n] = [axis["position"] for axis in joint["axes"]]
                v[made.velocity_start():made.velocity_start() + n] = [axis["velocity"] for axis in joint["axes"]]
                plant.SetPositions(self.inner, q)
                plant.SetVelocities(self.inner, v)

    def place(self, i, pose, velocity):
        self.plant.SetFreeBodyPose(self.inner, self.bodies[i], transform(pose))
        self.plant.SetFreeBodySpatialVelocity(self.inner, self.bodies[i], SpatialVelocity(velocity[3:6], velocity[0:3]))

    def set_ball(self, joint):
        parent, child = joint["parent"], self.rigids[joint["child"]]
        ground = IDENTITY if parent is None else self.rigids[parent]["pose"]
        a, b = compose(ground, joint["parent_from_joint"]), compose(child["pose"], joint["child_from_joint"])
        made = self.joints[joint["child"]]
        turn = RotationMatrix(np.array(matrix(compose(inverse(a), b)[3:7])))
        made.set_angles(self.inner, turn.ToRollPitchYaw().vector())
        spin = child["velocity"][3:6]
        if parent is not None:
            spin = sub(spin, self.rigids[parent]["velocity"][3:6])
        made.set_angular_velocity(self.inner, turned(inverse(a)[3:7], spin))

    # --- time ------------------------------------------------------------------------------

    def step(self, efforts, wrenches):
        try:
            return self.solve(efforts, wrenches)
        except RuntimeError as error:
            by_tamsi = self.approximation == DiscreteContactApproximation.kTamsi and not self.raw
            if not by_tamsi or "failed to converge" not in str(error):
                raise
        self.solve_by_sap()
        return self.solve(efforts, wrenches)

    def solve(self, efforts, wrenches):
        plant = self.plant
        self.set_efforts(efforts)
        pushes = [(i, *decay_of(self.rigids[i], self.state[i][0:7], self.state[i][7:13])) for i in self.decaying]
        pushes += loop_pushes(self.scene, self.loops, self.state, efforts)
        pushes += [(w[0], w[1:4], w[4:7]) for w in wrenches if self.rigids[w[0]]["motion"] == "dynamic"]
        if pushes or self.pushed:
            self.pushed = bool(pushes)
            plant.get_applied_spatial_force_input_port().FixValue(self.inner, [self.force(*push) for push in pushes])
        for i, rigid in enumerate(self.rigids):
            if rigid["motion"] == "kinematic":
                self.place(i, self.state[i][0:7], rigid["velocity"])
        # The contacts of this step belong to the state before it; the solution is shared.
        contacts = self.contacts()
        after = self.diagram.EvalUniquePeriodicDiscreteUpdate(self.context)
        self.context.get_mutable_discrete_state().SetFrom(after)
        self.n_steps += 1
        self.context.SetTime(self.n_steps * self.dt)
        for i, body in self.bodies.items():
            pose = plant.EvalBodyPoseInWorld(self.inner, body)
            velocity = plant.EvalBodySpatialVelocityInWorld(self.inner, body)
            self.state[i] = (pose.translation().tolist() + pose.rotation().ToQuaternion().wxyz().tolist()
                             + velocity.translational().tolist() + velocity.rotational().tolist())
        return self.state, contacts

    def set_efforts(self, efforts):
        if not self.dofs or not (self.forced or self.sprung or self.rough or any(efforts)):
            return
        self.forced = any(efforts)
        plant = self.plant
        forces = np.zeros(plant.num_velocities())
        for dof, (joint, k) in self.dofs.items():
            if dof < len(efforts):
                forces[joint.velocity_start() + k] += efforts[dof]
        if self.sprung:
            positions = plant.GetPositions(self.inner)
            for axis in self.sprung:
                joint, k = self.dofs[axis["dof"]]
                q = positions[joint.position_start() + k]
                forces[joint.velocity_start() + k] -= axis["spring_stiffness"] * (q - axis["spring_reference"])
        if self.rough:
            self.add_friction(forces)
        plant.get_applied_generalized_force_input_port().FixValue(self.inner, forces)

    def add_friction(self, forces):
        """At most the friction, against what the axis would do by the end of the step."""
        plant = self.plant
        give = np.linalg.inv(plant.CalcMassMatrix(self.inner))
        bias = plant.CalcBiasTerm(self.inner) - plant.CalcGravityGeneralizedForces(self.inner)
        rows = [self.dofs[axis["dof"]][0].velocity_start() + self.dofs[axis["dof"]][1] for axis in self.rough]
        speeds, given = plant.GetVelocities(self.inner), [0.0] * len(rows)
        for _ in range(4):  # axes feel each other's friction
            for n, (row, axis) in enumerate(zip(rows, self.rough)):
                ahead = speeds[row] + self.dt * float(give[row] @ (forces - bias))
                wanted = given[n] - ahead / (give[row, row] * self.dt)
                new = max(-axis["friction"], min(axis["friction"], wanted))
                forces[row] += new - given[n]
                given[n] = new

    def force(self, i, force, torque):
        out = ExternallyAppliedSpatialForce()
        out.body_index = self.bodies[i].index()
        out.p_BoBq_B = self.rigids[i]["centre"]
        out.F_Bq_W = SpatialForce(torque, force)
        return out

    def contacts(self):
        results = self.plant.get_contact_results_output_port().Eval(self.inner)
        out = []
        for n in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(n)
            pair = info.point_pair()
            a, b = self.our_body[pair.id_A], self.our_body[pair.id_B]
            out.append(contact(a, b, info.contact_point().tolist(), (-pair.nhat_BA_W).tolist(), float(pair.depth),
                               info.contact_force().tolist()))
        return out


def dissipation(e):
    """Hunt and Crossley's d [s/m] that keeps a share e of a speed of 1 m/s, to first order."""
    return 1.5 * (1.0 - e)


def relaxation(e):
    """SAP's relaxation time [s]; 0.1 is Drake's own."""
    return 0.0 if e > 0.0 else 0.1


serve("drake", importlib.metadata.version("drake"), World)
