"""Several quantiles of one column at one price: one joint draw, a tree of draws, and one draw for each.

    python benchmarks/quantiles.py [--runs 40]

Errors are in ranks: the mean over quantiles and runs of |rank of the answer − target|; the same ε for each row. `each` is what SQL does
with several percentiles: one mechanism for each, with an equal share of ε. Seconds are of one joint draw.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.joint_quantiles import JointQuantiles
from discreet.mechanisms.quantile import Quantile, Quantiles

UPPER = 1000
LEVELS = {
    "quartiles": ["1/4", "1/2", "3/4"],
    "5 and 95 %": ["1/20", "19/20"],
    "deciles": [f"{i}/10" for i in range(1, 10)],
    "5, 25, 50, 75, 95, 99 %": ["1/20", "1/4", "1/2", "3/4", "19/20", "99/100"],
}


def off(records: NDArray[np.float64], qs: list[str], found: list[float]) -> float:
    """The mean distance of the targets from the ranks of the answers."""
    targets = [float(Fraction(q)) * len(records) for q in qs]
    low, high = np.searchsorted(records, found, "left"), np.searchsorted(records, np.add(found, 1e-9), "right")
    return float(np.mean([max(a - t, t - b, 0.0) for t, a, b in zip(targets, low, high, strict=True)]))


def mean_error(run: Callable[[], list[float]], records: NDArray[np.float64], qs: list[str], runs: int) -> float:
    """The mean over runs."""
    return float(np.mean([off(records, qs, run()) for _ in range(runs)]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    runs = parser.parse_args().runs
    random = np.random.default_rng(7)  # the data only
    tables = {
        "log-normal, 10,000": np.sort(np.clip(np.exp(random.normal(4, 1, 10_000)), 0, UPPER)),
        "whole hours, 1,000": np.sort(np.clip(np.round(random.normal(40, 8, 1000)), 0, UPPER)),
    }
    heads = ("joint", "tree", "each", "tree/joint", "each/joint", "seconds")
    print(f"{'table':<20} {'quantiles':<24} {'ε':>4} " + " ".join(f"{head:>10}" for head in heads))
    for name, records in tables.items():
        for title, qs in LEVELS.items():
            for epsilon in ("1/10", "1"):
                joint = JointQuantiles(epsilon=epsilon, qs=qs, lower=0, upper=UPPER)
                tree = Quantiles(epsilon=epsilon, qs=qs, lower=0, upper=UPPER)
                share = Fraction(epsilon) / len(qs)
                each = [Quantile(epsilon=share, q=q, lower=0, upper=UPPER) for q in qs]
                began = time.perf_counter()
                joint.release(records)
                seconds = time.perf_counter() - began
                errors = [
                    mean_error(lambda joint=joint, records=records: joint.release(records), records, qs, runs),
                    mean_error(lambda tree=tree, records=records: tree.release(records), records, qs, runs),
                    mean_error(lambda each=each, records=records: [one.release(records) for one in each], records, qs, runs),
                ]
                ratios = [e / errors[0] for e in errors[1:]] if errors[0] else [float("nan")] * 2
                print(f"{name:<20} {title:<24} {epsilon:>4} " + " ".join(f"{x:>10.3f}" for x in (*errors, *ratios, seconds)))


if __name__ == "__main__":
    main()
