"""How many contacts MuJoCo has in a world on average: file, then pairs of first and last step."""

import sys

import mujoco

model = mujoco.MjModel.from_xml_path(sys.argv[1])
data = mujoco.MjData(model)
windows = [tuple(int(n) for n in window.split("-")) for window in sys.argv[2:]]
counts = []
for _ in range(max(last for _, last in windows)):
    mujoco.mj_step(model, data)
    counts.append(data.ncon)
for first, last in windows:
    print(sum(counts[first:last]) / (last - first))
