"""What Pinocchio makes of random robots: one JSON object per line in, one per line out.

In: links (mass, centre, inertia), joints in order (kind, axes, placements, armature), the
state, accelerations and efforts. Out: poses of the links, centre of mass, mass matrix, the
efforts of the accelerations, the accelerations of the efforts, momentum about the centre and
inertia of the whole about it.
"""

import json
import sys

import numpy as np
import pinocchio as pin


def placement(p):
    return pin.SE3(pin.Quaternion(*[p[6], p[3], p[4], p[5]]).matrix(), np.array(p[:3]))


def joint_model(kind, axes, pitch):
    axes = [np.array(a) for a in axes]
    if kind == "free":
        return pin.JointModelFreeFlyer()
    if kind == "ball":
        return pin.JointModelSpherical()
    if kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(axes[0])
    if kind == "screw":
        return pin.JointModelHelicalUnaligned(axes[0], pitch)
    if kind == "universal":
        return pin.JointModelUniversal(axes[0], axes[1])
    return pin.JointModelRevoluteUnaligned(axes[0])


for line in sys.stdin:
    case = json.loads(line)
    model = pin.Model()
    model.gravity.linear = np.array(case["gravity"])
    joint_of, q, names = {None: 0}, [], []
    for i, joint in enumerate(case["joints"]):
        parent = joint_of[joint["parent"]]
        before = pin.SE3.Identity()
        if joint["parent"] is not None:
            before = placement(case["links"][joint["parent"]]["in_joint"])
        made = model.addJoint(
            parent,
            joint_model(joint["kind"], joint["axes"], joint["pitch"]),
            before * placement(joint["parent_from_joint"]),
            f"j{i}",
        )
        link = case["links"][joint["child"]]
        inside = placement(joint["child_from_joint"]).inverse()
        link["in_joint"] = list(inside.translation) + list(pin.Quaternion(inside.rotation).coeffs())
        inertia = pin.Inertia(link["mass"], np.array(link["centre"]), np.array(link["inertia"]).reshape(3, 3))
        model.appendBodyToJoint(made, inertia, inside)
        model.addFrame(pin.Frame(f"l{joint['child']}", made, inside, pin.FrameType.BODY))
        joint_of[joint["child"]] = made
        q += joint["q"]
        names.append(f"l{joint['child']}")
    armature = np.zeros(model.nv)
    k = 0
    for joint in case["joints"]:
        for value in joint["armature"]:
            armature[k] = value
            k += 1
    model.armature = armature
    data = model.createData()
    q, v = np.array(q), np.array(case["v"])
    a, tau = np.array(case["a"]), np.array(case["tau"])
    efforts = pin.rnea(model, data, q, v, a).copy()
    accelerations = pin.aba(model, data, q, v, tau).copy()
    matrix = pin.crba(model, data, q).copy()
    matrix = np.triu(matrix) + np.triu(matrix, 1).T
    pin.framesForwardKinematics(model, data, q)
    centre = pin.centerOfMass(model, data, q).copy()
    momentum = pin.computeCentroidalMomentum(model, data, q, v)
    pin.ccrba(model, data, q, v)
    poses = [data.oMf[model.getFrameId(name)].homogeneous.ravel().tolist() for name in names]
    print(
        json.dumps(
            {
                "poses": poses,
                "centre": centre.tolist(),
                "momentum": momentum.linear.tolist() + momentum.angular.tolist(),
                "inertia": data.Ig.inertia.ravel().tolist(),
                "matrix": matrix.ravel().tolist(),
                "efforts": efforts.tolist(),
                "accelerations": accelerations.tolist(),
            }
        )
    )
