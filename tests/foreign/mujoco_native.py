"""Steps somebody's own MJCF file with MuJoCo's own package, for a comparison to the last digits.

usage: mujoco_native.py MODEL.xml STEP_SECS STEPS [ACTUATOR CONTROL]...

The file is loaded as it is, only the step is set. Every actuator named, or numbered, gets its
control. Prints what touched in the last step: `contact`, the numbers of the two bodies and the
force that the first does to the second; then every body: number, name, position, the rows of
its rotation, how it turns and how its origin moves.
"""
import sys

import mujoco
import numpy

model = mujoco.MjModel.from_xml_path(sys.argv[1])
model.opt.timestep = float(sys.argv[2])
data = mujoco.MjData(model)
for actuator, control in zip(sys.argv[4::2], sys.argv[5::2]):
    idx = int(actuator) if actuator.isdigit() else model.actuator(actuator).id
    data.ctrl[idx] = float(control)
for _ in range(int(sys.argv[3])):
    mujoco.mj_step(model, data)
for i in range(data.ncon):
    contact, force = data.contact[i], numpy.zeros(6)
    mujoco.mj_contactForce(model, data, i, force)
    in_world = contact.frame.reshape(3, 3).T @ force[:3]
    bodies = [int(model.geom_bodyid[geom]) for geom in contact.geom]
    print("contact", *bodies, *(repr(float(x)) for x in in_world), sep="\t")
mujoco.mj_kinematics(model, data)
mujoco.mj_comPos(model, data)
mujoco.mj_comVel(model, data)
for i in range(1, model.nbody):
    velocity = numpy.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, i, velocity, 0)
    numbers = [*data.xpos[i], *data.xmat[i], *velocity]
    print(i, model.body(i).name, *(repr(float(x)) for x in numbers), sep="\t")
