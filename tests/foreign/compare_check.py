"""Says what others make of the same two sides: evo of paths, NumPy and SciPy of numbers.

usage: compare_check.py paths FOLDER N    N pairs of trajectories, A_i.tum and B_i.tum
       compare_check.py numbers FOLDER    a.csv and b.csv with the same times; positions are angles

Prints one JSON object: for paths a list per pair, of errors with no alignment, a rigid one and
one with scale; for numbers every statistic by key.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from evo.core import metrics, sync
from evo.tools import file_interface
from scipy import stats

NAMES = ["rmse", "mean", "median", "std", "min", "max", "sse"]


def errors(metric, pair):
    metric.process_data(pair)
    found = metric.get_all_statistics()
    return {name: found[name] for name in NAMES} | {"n": len(metric.error)}


def path(folder, i, delta):
    reference, other = (
        file_interface.read_tum_trajectory_file(str(folder / f"{side}_{i}.tum")) for side in "AB"
    )
    reference, other = sync.associate_trajectories(reference, other, max_diff=0.01)
    relations = metrics.PoseRelation
    answer = {}
    for how in ("none", "rigid", "scaled"):
        moved = other.__class__(
            positions_xyz=other.positions_xyz.copy(),
            orientations_quat_wxyz=other.orientations_quat_wxyz.copy(),
            timestamps=other.timestamps.copy(),
        )
        if how != "none":
            moved.align(reference, correct_scale=how == "scaled")
        pair = (reference, moved)
        frames = metrics.Unit.frames
        answer[how] = {
            "ape": errors(metrics.APE(relations.translation_part), pair),
            "ape_angle": errors(metrics.APE(relations.rotation_angle_deg), pair),
            "rpe": errors(metrics.RPE(relations.translation_part, delta, frames), pair),
            "rpe_angle": errors(metrics.RPE(relations.rotation_angle_deg, delta, frames), pair),
        }
    return answer


def correlation(a, b):
    return float(stats.pearsonr(a, b).statistic) if np.ptp(a) > 0 and np.ptp(b) > 0 else None


def lag(a, b, step, most):
    """The shift of the best correlation over what overlaps, positive where b is late."""
    shifts = np.arange(-most, most + 1)
    found = []
    for shift in shifts:
        x, y = (a[: len(a) - shift], b[shift:]) if shift >= 0 else (a[-shift:], b[:shift])
        found.append(np.corrcoef(x, y)[0, 1])
    best = int(np.argmax(found))
    left, middle, right = found[best - 1 : best + 2]
    beyond = 0.5 * (left - right) / (left - 2 * middle + right)
    return (shifts[best] + beyond) * step, middle


def number(time, a, b, e=None):
    e = b - a if e is None else e
    size = np.abs(e)
    is_constant = np.ptp(a) == 0
    about_mean = np.sum((a - a.mean()) ** 2)
    rmse = np.sqrt(np.mean(e**2))
    maybe = lambda value: None if is_constant else float(value())
    answer = {
        "n": len(e),
        "bias": np.mean(e),
        "mae": np.mean(size),
        "rmse": rmse,
        "std": np.std(e),
        "min": np.min(e),
        "max": np.max(e),
        "max_abs": np.max(size),
        "max_abs_at": time[np.argmax(size)],
        "min_at": time[np.argmin(e)],
        "max_at": time[np.argmax(e)],
        "median_abs": np.median(size),
        "p95_abs": np.percentile(size, 95),
        "sse": np.sum(e**2),
        "nrmse_range": maybe(lambda: rmse / np.ptp(a)),
        "nrmse_std": maybe(lambda: rmse / np.std(a)),
        "r2": maybe(lambda: 1 - np.sum(e**2) / about_mean),
        "correlation": correlation(a, b),
        "fit": maybe(lambda: 100 * (1 - np.linalg.norm(e) / np.linalg.norm(a - a.mean()))),
        "mismatch": np.mean(e != 0),
    }
    if answer["correlation"] is not None:
        step = float(np.median(np.diff(time)))
        answer["lag"], answer["lag_correlation"] = lag(a, b, step, 200)
    return {name: None if value is None else float(value) for name, value in answer.items()}


def angle(time, a, b):
    """Full turns do not count in an error, and a jump by one is no part of the reference."""
    e = (b - a) - 2 * np.pi * np.round((b - a) / (2 * np.pi))
    whole = np.unwrap(a)
    return number(time, whole, whole + e, e)


def main():
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "paths":
        n = int(sys.argv[3])
        print(json.dumps([path(folder, i, 1 + i % 3) for i in range(n)]))
        return
    a, b = (pd.read_csv(folder / f"{side}.csv", float_precision="round_trip") for side in "ab")
    time = a["time"].to_numpy()
    keys = [key for key in a.columns if key != "time"]
    one = lambda key: angle if key.endswith("/position") else number
    answer = {key: one(key)(time, a[key].to_numpy(), b[key].to_numpy()) for key in keys}
    print(json.dumps(answer))


main()
