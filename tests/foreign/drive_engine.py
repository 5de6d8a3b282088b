"""Drives DART, Drake or PyBullet by hand through its own API, and prints where it ends.

    drive_engine.py dart|drake|pybullet ball|slope|pendulum N_STEPS GROUND_POSE BODY_POSE

Poses are JSON lists [x, y, z, qw, qx, qy, qz]. Nothing of headland's adapters is used: this is
what they are compared with. Prints the thirteen numbers of the body's state.
"""
import json
import math
import os
import sys

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # libraries print too

engine, scenario, n_steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
ground, body = json.loads(sys.argv[4]), json.loads(sys.argv[5])
DT, G = 1e-3, [0.0, 0.0, -9.81]
MASS = {"ball": 1.5, "slope": 2.0, "pendulum": 2.0}[scenario]
SIZE = [0.6, 0.4, 0.2]
MOMENTS = {"ball": [0.15] * 3,
           "slope": [(0.4 * 0.4 + 0.2 * 0.2) * 2.0 / 12.0, (0.6 * 0.6 + 0.2 * 0.2) * 2.0 / 12.0,
                     (0.6 * 0.6 + 0.4 * 0.4) * 2.0 / 12.0],
           "pendulum": [0.02] * 3}[scenario]
MU = 0.2 if scenario == "slope" else 1.0
E = 0.7 if scenario == "ball" else 0.0
ANGLE = 0.1


def rotation(q):
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def with_dart():
    import dartpy as dart
    import numpy as np

    def isometry(pose):
        m = np.eye(4)
        m[:3, :3] = rotation(pose[3:])
        m[:3, 3] = pose[:3]
        return dart.math.Isometry3(m)

    world = dart.simulation.World("by hand")
    world.setTimeStep(DT)
    world.setGravity(G)
    options = world.getDeactivationOptions()
    options.mEnabled = False
    world.setDeactivationOptions(options)
    world.getConstraintSolver().setCollisionDetector(dart.collision.OdeCollisionDetector())

    def touch(node, shape, restitution):
        made = node.createShapeNode(shape)
        made.createCollisionAspect()
        made.createDynamicsAspect()
        made.getDynamicsAspect().setFrictionCoeff(MU)
        made.getDynamicsAspect().setRestitutionCoeff(restitution)

    skeleton = dart.dynamics.Skeleton("thing")
    if scenario == "pendulum":
        joint, node = skeleton.createRevoluteJointAndBodyNodePair()
        joint.setAxis([0, 1, 0])
        joint.setTransformFromChildBodyNode(isometry([0, 0, 1, 1, 0, 0, 0]))
        joint.setPosition(0, ANGLE)
    else:
        joint, node = skeleton.createFreeJointAndBodyNodePair()
        joint.setTransform(isometry(body))
        shape = dart.dynamics.SphereShape(0.5) if scenario == "ball" else dart.dynamics.BoxShape(SIZE)
        touch(node, shape, math.sqrt(E))
        floor = dart.dynamics.Skeleton("floor")
        weld, plate = floor.createWeldJointAndBodyNodePair()
        weld.setTransformFromParentBodyNode(isometry(ground))
        touch(plate, dart.dynamics.PlaneShape([0, 0, 1], 0.0), E / math.sqrt(E) if E else 0.0)
        floor.setMobile(False)
        world.addSkeleton(floor)
    node.setInertia(dart.dynamics.Inertia(MASS, [0, 0, 0], np.diag(MOMENTS)))
    world.addSkeleton(skeleton)
    for _ in range(n_steps):
        world.step()
    m = node.getWorldTransform()
    turn = m.quaternion() if hasattr(m, "quaternion") else None
    q = [turn.w(), turn.x(), turn.y(), turn.z()]
    return [*m.translation(), *q, *node.getLinearVelocity(), *node.getAngularVelocity()]


def with_drake():
    from pydrake.all import (AddContactMaterial, AddMultibodyPlantSceneGraph, Box, ContactModel, CoulombFriction,
                             DiagramBuilder, DiscreteContactApproximation, FixedOffsetFrame, HalfSpace,
                             ProximityProperties, RevoluteJoint, RigidTransform, RotationalInertia,
                             RotationMatrix, Simulator, SpatialInertia, Sphere)
    import numpy as np

    def transform(pose):
        return RigidTransform(RotationMatrix(np.array(rotation(pose[3:]))), pose[:3])

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=DT)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kTamsi)
    plant.set_contact_model(ContactModel.kPoint)
    plant.mutable_gravity_field().set_gravity_vector(G)
    thing = plant.AddRigidBody("thing", SpatialInertia.MakeFromCentralInertia(
        MASS, [0, 0, 0], RotationalInertia(*MOMENTS)))

    def touch():
        properties = ProximityProperties()
        AddContactMaterial(dissipation=1.5 * (1.0 - E), friction=CoulombFriction(MU, MU), properties=properties)
        return properties

    if scenario == "pendulum":
        at = plant.AddFrame(FixedOffsetFrame("at", thing.body_frame(), RigidTransform([0.0, 0.0, 1.0])))
        joint = plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), at, [0, 1, 0]))
    else:
        shape = Sphere(0.5) if scenario == "ball" else Box(*SIZE)
        plant.RegisterCollisionGeometry(thing, RigidTransform(), shape, "thing", touch())
        plant.RegisterCollisionGeometry(plant.world_body(), transform(ground), HalfSpace(), "floor", touch())
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    if scenario == "pendulum":
        joint.set_angle(context, ANGLE)
    else:
        plant.SetFreeBodyPose(context, thing, transform(body))
    # A little beyond the last update: the state at a time is that before the update there.
    simulator.Initialize()
    simulator.AdvanceTo((n_steps - 0.5) * DT)
    pose = plant.EvalBodyPoseInWorld(context, thing)
    velocity = plant.EvalBodySpatialVelocityInWorld(context, thing)
    return [*pose.translation(), *pose.rotation().ToQuaternion().wxyz(), *velocity.translational(),
            *velocity.rotational()]


def with_pybullet():
    import pybullet as p

    def xyzw(q):
        return [q[1], q[2], q[3], q[0]]

    p.connect(p.DIRECT)
    p.setTimeStep(DT)
    p.setGravity(*G)
    p.setPhysicsEngineParameter(deterministicOverlappingPairs=1)
    if E:
        p.setPhysicsEngineParameter(restitutionVelocityThreshold=0.0, contactBreakingThreshold=1e-4)
    if scenario == "pendulum":
        thing = p.createMultiBody(
            baseMass=0, linkMasses=[MASS], linkCollisionShapeIndices=[-1], linkVisualShapeIndices=[-1],
            linkPositions=[[0, 0, 0]], linkOrientations=[[0, 0, 0, 1]], linkInertialFramePositions=[[0, 0, -1]],
            linkInertialFrameOrientations=[[0, 0, 0, 1]], linkParentIndices=[0],
            linkJointTypes=[p.JOINT_REVOLUTE], linkJointAxis=[[0, 1, 0]])
        p.changeDynamics(thing, 0, localInertiaDiagonal=MOMENTS, linearDamping=0, angularDamping=0, jointDamping=0)
        p.changeDynamics(thing, -1, linearDamping=0, angularDamping=0)
        p.setJointMotorControl2(thing, 0, p.VELOCITY_CONTROL, force=0)
        p.resetJointState(thing, 0, ANGLE, 0.0)
    else:
        plane = p.createCollisionShape(p.GEOM_PLANE, planeNormal=[0, 0, 1])
        floor = p.createMultiBody(0, plane, basePosition=ground[:3], baseOrientation=xyzw(ground[3:]))
        shape = (p.createCollisionShape(p.GEOM_SPHERE, radius=0.5) if scenario == "ball"
                 else p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5 * s for s in SIZE]))
        thing = p.createMultiBody(MASS, shape, basePosition=body[:3], baseOrientation=xyzw(body[3:]))
        p.changeDynamics(thing, -1, localInertiaDiagonal=MOMENTS, linearDamping=0, angularDamping=0,
                         lateralFriction=math.sqrt(MU), restitution=math.sqrt(E), rollingFriction=0,
                         spinningFriction=0)
        p.changeDynamics(floor, -1, lateralFriction=MU / math.sqrt(MU), restitution=E / math.sqrt(E) if E else 0.0,
                         rollingFriction=0, spinningFriction=0)
    for _ in range(n_steps):
        p.stepSimulation()
    if scenario == "pendulum":
        seen = p.getLinkState(thing, 0, 1, 1)
        position, turn, linear, spin = seen[0], seen[1], seen[6], seen[7]
    else:
        position, turn = p.getBasePositionAndOrientation(thing)
        linear, spin = p.getBaseVelocity(thing)
    return [*position, turn[3], turn[0], turn[1], turn[2], *linear, *spin]


state = {"dart": with_dart, "drake": with_drake, "pybullet": with_pybullet}[engine]()
print(json.dumps([float(x) for x in state]), file=out, flush=True)
