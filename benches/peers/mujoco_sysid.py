"""The peer of `tune`: mujoco.sysid on the same model, data and parameters.

Prints one object: seconds of the optimisation with all of Python, seconds inside the rollouts in
C alone, seconds after which it was within a fifth of a standard error of where it ended (where ours
ends) and had its intervals, how many rollouts there were, the parameters found, and the error that
is left, of every sensor in standard deviations of what was measured. The best of some times;
importing is not counted.
"""

import json
import sys
import time

import mujoco
import numpy as np
from mujoco import sysid
from mujoco.sysid._src import trajectory

model_file, data_file = sys.argv[1], sys.argv[2]
n_threads, n_times = int(sys.argv[3]), int(sys.argv[4])
data = json.load(open(data_file))
model = mujoco.MjSpec.from_file(model_file).compile()
times = np.array(data["times"])
controls = sysid.TimeSeries(times, np.array(data["controls"]).T)
sensors = sysid.TimeSeries.from_names(times, np.array(data["sensors"]).T, model)
state = mujoco.MjData(model)
start = sysid.create_initial_state(model, state.qpos, state.qvel, state.act)

# How long is spent in C, and how often.
inside = {"secs": 0.0, "rollouts": 0}
rollout = trajectory.mj_rollout.rollout


def timed(models, *args, **kwargs):
    began = time.perf_counter()
    found = rollout(models, *args, **kwargs)
    inside["secs"] += time.perf_counter() - began
    inside["rollouts"] += found[0].shape[0]
    return found


trajectory.mj_rollout.rollout = timed


def add(params, name, now, modifier):
    params.add(sysid.Parameter(name, now, now / 3.0, now * 3.0, modifier=modifier))


def parameters(spec):
    params = sysid.ParameterDict()
    for i in range(1, 6):
        mass = spec.body(f"link{i}").mass
        modify = lambda s, p, i=i: setattr(s.body(f"link{i}"), "mass", p.value[0])
        add(params, f"mass{i}", mass, modify)
    for i in range(6):
        # MuJoCo 4 has polynomial damping: the first number is the linear one.
        damping = float(np.atleast_1d(spec.joint(f"joint{i}").damping)[0])

        def modify(s, p, i=i):
            joint = s.joint(f"joint{i}")
            if np.ndim(joint.damping):
                joint.damping[0] = p.value[0]
            else:
                joint.damping = p.value[0]

        add(params, f"damping{i}", damping, modify)
    return params


def tuned():
    inside.update(secs=0.0, rollouts=0)
    spec = mujoco.MjSpec.from_file(model_file)  # it is left as the last search found it
    params = parameters(spec)
    sequences = sysid.ModelSequences("arm", spec, "measured", start, controls, sensors)
    began = time.perf_counter()
    residuals = sysid.build_residual_fn(models_sequences=[sequences], n_threads=n_threads)
    costs = []

    def watched(x, *args, **kwargs):
        left = residuals(x, *args, **kwargs)
        if np.asarray(x).ndim == 1 or np.asarray(x).shape[1] == 1:
            flat = np.concatenate([np.ravel(part) for part in left[0]])
            costs.append((time.perf_counter() - began, float(flat @ flat), flat.size))
        return left

    found, result = sysid.optimize(params, watched, optimizer="mujoco", verbose=False)
    ended = time.perf_counter()
    left, _, _ = residuals(found.as_vector(), found)
    sysid.calculate_intervals(left, result.jac)
    after = time.perf_counter() - ended
    least = min(cost for _, cost, _ in costs)
    near = next(at for at, cost, n in costs if cost <= least * (1 + 0.04 / n))
    total = time.perf_counter() - began
    return total, dict(inside, near=near + after), [float(x) for x in found.as_vector()]


def error(values):
    """Root mean square of the errors with these parameters, each in deviations of its sensor."""
    own = mujoco.MjSpec.from_file(model_file)
    for parameter, value in zip(parameters(own).values(), values):
        parameter.value[:] = value
        parameter.modifier(own, parameter)
    moved = own.compile()
    state, measured = mujoco.MjData(moved), np.array(data["sensors"])
    told, rows = np.array(data["controls"]).T, []
    for now in told:
        state.ctrl[:] = now
        mujoco.mj_step(moved, state)  # sensors are those of before the step
        rows.append(state.sensordata.copy())
    scale = measured.std(axis=1, keepdims=True)

    def apart(late):
        moved, there = np.array(rows).T[:, late:], measured[:, : len(rows) - late]
        return float(np.sqrt(np.mean(((moved - there) / scale) ** 2)))

    return min(apart(0), apart(1))  # in its favour, whichever step a sample is counted to


total, spent, found = min((tuned() for _ in range(n_times)), key=lambda one: one[0])
print(
    json.dumps(
        {
            "total": total,
            "inside": spent["secs"],
            "near": spent["near"],
            "rollouts": spent["rollouts"],
            "found": found,
            "rms": error(found),
        }
    )
)
