"""How often the standard errors of a synthetic table's cells cover the truth: 1.96 errors, where 95 % is said. Prints Markdown.

The data are not part of this repository; give their folder:  python benchmarks/synthetic_errors.py --data PATH --runs 20
Cells are those of up to 40 marginals of 1, 2 and 3 columns of which all was measured; large cells are those above the marginal's mean.
"noise alone" is the error that was said before: that of the noise, without how far the model is from what was measured.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from synthetic import CASES, amount_of, counted, read, run

from discreet.algorithms.marginals.certainty import measured_marginal, standard_error
from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.dense import MOST_CELLS
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload

MOST, Z = 40, 1.96


def main() -> int:
    """Run, and print a line for each table, method and number of columns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=CASES, default=["nltcs", "titanic"])
    parser.add_argument("--methods", nargs="+", choices=("residuals", "aim"), default=["residuals", "aim"])
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "1", "10"])
    arguments = parser.parse_args()
    print("| table | ε | method | columns | measured | covered | large cells | noise alone | large cells |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in arguments.only:
        domain, _ = read(arguments.data, name)
        for epsilon in arguments.epsilons:
            for method in arguments.methods:
                if method == "aim" or domain.size <= MOST_CELLS:
                    runs = [covered(arguments.data, name, method, epsilon) for _ in range(arguments.runs)]
                    for k in (1, 2, 3):
                        print(line([found[k] for found in runs], f"| {name} | {epsilon} | {method} | {k}"), flush=True)
    return 0


def line(runs: list[Any], begin: str) -> str:
    """One row of the table: means over the runs in which something was measured."""
    share = np.mean([run[0] for run in runs])
    shares = [np.mean([run[1][i] for run in runs if run[1] is not None]) if share else np.nan for i in range(4)]
    return f"{begin} | {share:.0%} | " + " | ".join(f"{one:.1%}" for one in shares) + " |"


def covered(data: Path, name: str, method: str, epsilon: str) -> dict[int, Any]:
    """For each number of columns the share of marginals that were measured, and how many of their cells are covered."""
    case, (domain, columns) = CASES[name], read(data, name)
    codes, table = [columns[column] for column in domain.names], CodedTable(domain, columns)
    made = run(method, MeasurementBudget.zcdp(amount_of(case, "zcdp", epsilon)), Workload.all_of(domain, 3), table)
    found: dict[int, Any] = {}
    for k in (1, 2, 3):
        cliques = list(combinations(domain.columns, k))
        chosen = [cliques[i] for i in np.random.default_rng(0).permutation(len(cliques))[:MOST]]
        hits: list[Any] = []
        for clique in chosen:
            unit = np.zeros(domain.shape(clique))
            unit.flat[0] = 1.0
            noise = standard_error(domain, made.measured, method == "residuals", clique, unit)
            if noise is None:
                continue
            model, truth = made.model.marginal(clique), counted(domain, clique, codes).reshape(unit.shape)
            apart = model - measured_marginal(domain, made.measured, method == "residuals", clique)
            off, large = np.abs(model - truth), model > model.mean()
            both, alone = off <= Z * np.hypot(noise, apart), off <= Z * noise
            hits.append([both.mean(), both[large].mean(), alone.mean(), alone[large].mean()])
        found[k] = (len(hits) / len(chosen), np.mean(hits, axis=0) if hits else None)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
