"""Compares two tables as somebody would with pandas, NumPy and SciPy.

usage: compare_tables.py A.csv B.csv ROUNDS

Prints the least seconds of some rounds to read both, to pair and compare them, and the sum of
all RMSE. Lags are found through the FFT, with what overlaps normalised by running sums.
"""

import sys
import time

import numpy as np
import pandas as pd
from scipy import signal

SHIFTS = 200


def lag(a, b):
    n = len(a)
    a, b = a - a.mean(), b - b.mean()
    cross = signal.correlate(b, a, method="fft")[n - 1 - SHIFTS : n + SHIFTS]
    sums = [np.concatenate(([0.0], np.cumsum(x))) for x in (a, b, a * a, b * b)]
    best, found = 0, -2.0
    for i, shift in enumerate(range(-SHIFTS, SHIFTS + 1)):
        start_a, start_b, m = max(-shift, 0), max(shift, 0), n - abs(shift)
        sum_a, sum_b, square_a, square_b = (
            total[start + m] - total[start]
            for total, start in zip(sums, (start_a, start_b, start_a, start_b))
        )
        both = (square_a - sum_a**2 / m) * (square_b - sum_b**2 / m)
        value = (cross[i] - sum_a * sum_b / m) / np.sqrt(both)
        if value > found:
            best, found = shift, value
    return best


def compare(a, b):
    step = np.median(np.diff(b["time"]))
    both = pd.merge_asof(a, b, on="time", direction="nearest", tolerance=step / 2, suffixes=("", "_b"))
    total = 0.0
    for key in a.columns[1:]:
        x, y = both[key].to_numpy(), both[key + "_b"].to_numpy()
        e = y - x
        size = np.abs(e)
        about = np.sum((x - x.mean()) ** 2)
        rmse = np.sqrt(np.mean(e**2))
        answer = [
            len(e), e.mean(), size.mean(), rmse, e.std(), e.min(), e.max(), size.max(),
            both["time"][np.argmax(size)], np.median(size), np.percentile(size, 95),
            rmse / np.ptp(x), rmse / x.std(), 1 - np.sum(e**2) / about, np.corrcoef(x, y)[0, 1],
            100 * (1 - np.sqrt(np.sum(e**2) / about)), lag(x, y),
        ]  # fmt: skip
        shift = answer[-1]
        late, early = (x[: len(x) - shift], y[shift:]) if shift >= 0 else (x[-shift:], y[:shift])
        answer.append(np.sqrt(np.mean((early - late) ** 2)))
        total += rmse
    return total


def main():
    best_read = best_compare = float("inf")
    for _ in range(int(sys.argv[3])):
        start = time.perf_counter()
        a, b = (pd.read_csv(name) for name in sys.argv[1:3])
        read = time.perf_counter()
        total = compare(a, b)
        best_compare = min(best_compare, time.perf_counter() - read)
        best_read = min(best_read, read - start)
    print(best_read, best_compare, repr(float(total)))


main()
