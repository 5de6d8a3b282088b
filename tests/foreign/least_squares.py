"""Least squares by SciPy: what our own search is compared with.

Reads a JSON list of problems from a file, each {name, start, lower, upper}, and prints where
scipy.optimize.least_squares ends and the textbook's intervals there.
"""

import json
import sys

import numpy as np
from scipy import stats
from scipy.optimize import least_squares


def decays(x):
    i = np.arange(40)
    t = i * 0.1
    data = 2.0 * np.exp(-0.9 * t) + np.exp(-1.3 * t) + 0.01 * (np.fmod(7.0 * i, 1.9) - 0.95)
    return x[0] * np.exp(-x[1] * t) + x[2] * np.exp(-x[3] * t) - data


def scaled(x):
    t = np.arange(30) * 0.2
    data = 3e4 * np.exp(-2e-3 / 2e-3 * t) + 5.0 * np.cos(3.0 * np.arange(30))
    return x[0] * 1e6 * np.exp(-x[1] * 1e3 * t) + x[2] * 1e-4 * t - data


FORMULAS = {
    "rosenbrock": lambda x: np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]]),
    "beale": lambda x: np.array(
        [y - x[0] * (1.0 - x[1] ** k) for y, k in ((1.5, 1), (2.25, 2), (2.625, 3))]
    ),
    "decays": decays,
    "scaled": scaled,
}

answers = []
for problem in json.load(open(sys.argv[1])):
    f = FORMULAS[problem["name"]]
    bounds = (
        [-np.inf if b is None else b for b in problem["lower"]],
        [np.inf if b is None else b for b in problem["upper"]],
    )
    found = least_squares(
        f, problem["start"], jac="3-point", bounds=bounds, x_scale="jac",
        ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=10000,
    )
    n, p = found.jac.shape
    half = None
    if n > p:
        s2 = found.fun @ found.fun / (n - p)
        # Columns of length one: parameters may differ by orders of magnitude.
        length = np.linalg.norm(found.jac, axis=0)
        unit = found.jac / length
        inverse = np.linalg.inv(unit.T @ unit) / np.outer(length, length)
        half = list(np.sqrt(np.diag(inverse) * s2) * stats.t.ppf(0.975, n - p))
    answers.append({"x": list(found.x), "cost": 2.0 * found.cost, "half": half})
quantiles = [[p, d, stats.t.ppf(p, d)] for p in (0.6, 0.9, 0.975, 0.9995) for d in (1, 2.5, 7, 40, 3000)]
print(json.dumps({"problems": answers, "quantiles": quantiles}))
