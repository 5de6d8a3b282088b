"""What MuJoCo makes of a humanoid: reads one JSON object, writes one JSON object a case.

In: {"xml": MJCF text, "cases": [{"q", "v", "a", "tau"}]}, all in MuJoCo's own coordinates.
Out: poses of bodies by name, centre of mass, momentum, mass matrix, inverse and forward
dynamics, and the model's own list of joints with the places of their coordinates.

Contacts and limits are off, springs and dampers are taken out: what is left is the tree.
"""

import json
import sys

import mujoco
import numpy as np

asked = json.load(sys.stdin)
model = mujoco.MjModel.from_xml_string(asked["xml"])
model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
model.dof_damping[:] = 0
model.jnt_stiffness[:] = 0
data = mujoco.MjData(model)

joints = []
for i in range(model.njnt):
    joints.append({"name": model.joint(i).name, "q": int(model.jnt_qposadr[i]),
                   "v": int(model.jnt_dofadr[i])})
print(json.dumps({"nv": model.nv, "nq": model.nq, "joints": joints}))

for case in asked["cases"]:
    data.qpos[:] = case["q"]
    data.qvel[:] = case["v"]
    data.qfrc_applied[:] = case["tau"]
    mujoco.mj_forward(model, data)
    accelerations = data.qacc.copy()
    matrix = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, matrix)
    mujoco.mj_subtreeVel(model, data)
    centre = data.subtree_com[0].copy()
    line = data.subtree_linvel[0] * model.body_subtreemass[0]
    spin = data.subtree_angmom[0].copy()
    poses = {}
    for i in range(1, model.nbody):
        turn = data.xmat[i].reshape(3, 3)
        poses[model.body(i).name] = np.column_stack([turn, data.xpos[i]]).ravel().tolist()
    data.qacc[:] = case["a"]
    mujoco.mj_inverse(model, data)
    print(json.dumps({
        "poses": poses, "centre": centre.tolist(), "momentum": [*line, *spin],
        "matrix": matrix.ravel().tolist(), "efforts": data.qfrc_inverse.tolist(),
        "accelerations": accelerations.tolist(),
    }))
