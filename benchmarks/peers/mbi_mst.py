"""MST's published steps with mbi 1.1.0's inference, once: `mbi_mst.py FOLDER NAME RHO` prints JSON. Needs mbi==1.1.0 and numpy.

Its noise is numpy's and its exponential mechanism is in floats: for comparing error and time only. Columns are not compressed first.
"""

from __future__ import annotations

import csv
import json
import resource
import sys
import time
from itertools import combinations
from pathlib import Path

import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

from mbi import Dataset, Domain, LinearMeasurement, estimation  # noqa: E402


def main(folder: Path, name: str, rho: float) -> None:
    """Measure columns, choose a tree, measure its pairs, fit; compare on all 3-way marginals."""
    with (folder / f"{name}.csv").open() as file:
        header = next(csv.reader(file))
    codes = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1, dtype=np.int64)
    sizes = json.loads((folder / f"{name}-domain.json").read_text())
    domain = Domain(tuple(header), tuple(sizes[column] for column in header))
    data, random = Dataset(codes, domain), np.random.default_rng()
    begin = time.perf_counter()

    def measured(cliques: list[tuple[str, ...]]) -> list[LinearMeasurement]:
        deviation = float(np.sqrt(len(cliques) * 3 / (2 * rho)))
        return [
            LinearMeasurement(data.project(c).datavector() + random.normal(0, deviation, domain.size(c)), c, deviation) for c in cliques
        ]

    columns = measured([(column,) for column in header])
    model = estimation.mirror_descent(domain, columns)
    pairs = list(combinations(header, 2))
    scores = {p: float(np.abs(data.project(p).datavector() - model.project(p).datavector()).sum()) for p in pairs}
    epsilon = np.sqrt(8 * rho / 3 / (len(header) - 1))
    group, tree = {column: column for column in header}, []
    while len(tree) < len(header) - 1:
        left = [p for p in pairs if group[p[0]] != group[p[1]]]
        logits = np.array([epsilon / 2 * scores[p] for p in left])
        weights = np.exp(logits - logits.max())
        a, b = left[random.choice(len(left), p=weights / weights.sum())]
        group = {column: group[a] if one == group[b] else one for column, one in group.items()}
        tree.append((a, b))
    model = estimation.mirror_descent(domain, columns + measured(tree))
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    place = {column: i for i, column in enumerate(header)}
    errors = []
    for clique in combinations(header, 3):
        shape = tuple(sizes[c] for c in clique)
        truth = np.bincount(np.ravel_multi_index(tuple(codes[:, place[c]] for c in clique), shape), minlength=int(np.prod(shape)))
        errors.append(np.abs(truth - np.asarray(model.project(clique).datavector())).sum() / len(codes))
    print(json.dumps({"model": float(np.mean(errors)), "seconds": seconds, "peak": peak}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
