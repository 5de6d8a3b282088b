"""Steps an MJCF file with MuJoCo's own package, for a comparison to the last digits.

usage: mujoco_steps.py MODEL.xml STEPS [JOINT EFFORT]...

Every joint named gets its effort as an applied force. Prints, for every body, where it is
after the steps: name, position, then the rows of its rotation.
"""
import sys

import mujoco

model = mujoco.MjModel.from_xml_path(sys.argv[1])
data = mujoco.MjData(model)
mujoco.mj_resetDataKeyframe(model, data, 0)
for joint, effort in zip(sys.argv[3::2], sys.argv[4::2]):
    data.qfrc_applied[model.joint(joint).dofadr[0]] = float(effort)
for _ in range(int(sys.argv[2])):
    mujoco.mj_step(model, data)
mujoco.mj_kinematics(model, data)
for i in range(1, model.nbody):
    numbers = [*data.xpos[i], *data.xmat[i]]
    print(model.body(i).name, *(repr(float(x)) for x in numbers), sep="\t")
