"""Climbs on from a fitted mixture with scikit-learn's GaussianMixture.

usage: gaussian_mixture.py POINTS.csv MIXTURE.json

Prints the mean log-likelihood of the given mixture, of where EM goes from it, and of the best of
ten starts of its own with as many clusters.
"""

import json
import sys
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture

points = np.loadtxt(sys.argv[1], delimiter=",", ndmin=2)
given = json.load(open(sys.argv[2]))
k, n = len(given), points.shape[1]
weights = np.array([c["weight"] for c in given])
means = np.array([c["mean"] for c in given])
covariances = np.array([c["covariance"] for c in given]).reshape(k, n, n)
precisions = np.linalg.inv(covariances)

warnings.filterwarnings("ignore")
start = GaussianMixture(
    k, reg_covar=0, tol=1e-14, max_iter=1, weights_init=weights, means_init=means,
    precisions_init=precisions,
)
start.weights_, start.means_, start.covariances_ = weights, means, covariances
start.precisions_cholesky_ = np.array([np.linalg.cholesky(p) for p in precisions])
print("given", repr(float(start.score(points))))
onward = GaussianMixture(
    k, reg_covar=0, tol=1e-12, max_iter=5000, weights_init=weights, means_init=means,
    precisions_init=precisions,
).fit(points)
print("onward", repr(float(onward.score(points))))
own = GaussianMixture(k, n_init=10, tol=1e-9, max_iter=2000, reg_covar=1e-9, random_state=0)
print("own", repr(float(own.fit(points).score(points))))
