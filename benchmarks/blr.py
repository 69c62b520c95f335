"""BLR for thresholds by band counting: seconds for one exact draw over 10³ values, from 10⁴ records to 100 rows.

python benchmarks/blr.py
"""

from __future__ import annotations

import time

import numpy as np
from report import duration

from discreet.algorithms.classical.bands import BLRThresholds

DOMAIN, RECORDS, ROWS, DRAWS = 1000, 10_000, 100, 3


def main() -> None:
    """Print the best and the longest of a few draws at each ε."""
    values = np.random.default_rng(1).normal(DOMAIN / 2, DOMAIN / 8, RECORDS).clip(0, DOMAIN - 1).astype(int)
    histogram = np.bincount(values, minlength=DOMAIN)
    print(f"|D| = {DOMAIN:,}, n = {RECORDS:,}, d = {ROWS}; {DRAWS} draws; goal: below 60 s")
    for epsilon in ("10", "1", "0.1", "0.01"):
        mechanism = BLRThresholds(epsilon=epsilon, domain=DOMAIN, rows=ROWS, adjacency="replace-one")
        taken = []
        for _ in range(DRAWS):
            began = time.perf_counter()
            mechanism.release(histogram)
            taken.append(time.perf_counter() - began)
        print(f"ε = {epsilon:>4}: {duration(min(taken))} to {duration(max(taken))}")


if __name__ == "__main__":
    main()
