"""AIM on tables of binary columns: its rule for dearer rounds beside the authors' (four times as much, at once). Prints Markdown.

    python benchmarks/synthetic_binary.py --public FOLDER [--only ofp vietnami] [--runs 6] [--epsilon 1]

FOLDER is what `public_tables.py` writes. Every column of a table is split in two where the upper part is nearest to 30 % of the rows;
columns of which a part has less than 3 % are left out, and at most 16 are used. Errors are mean ℓ₁ over all 3-way marginals of the model,
divided by n. Both rules take turns, at the ρ of the authors' AIM.
"""

from __future__ import annotations

import argparse
import sys
import time
from fractions import Fraction
from pathlib import Path
from statistics import mean
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE)]  # the sources beside this folder, installed or not

import numpy as np  # noqa: E402
import polars  # noqa: E402
from synthetic import RHO, off, spread  # noqa: E402

from discreet.algorithms.marginals import aim  # noqa: E402
from discreet.algorithms.marginals.counts import CodedTable  # noqa: E402
from discreet.algorithms.marginals.domain import Domain  # noqa: E402
from discreet.algorithms.marginals.spending import MeasurementBudget  # noqa: E402
from discreet.algorithms.marginals.workload import Workload  # noqa: E402

TABLES = ("ofp", "vietnami", "doctorcontacts", "baseball")
MOST, SHARE, LEAST = 16, 0.3, 0.03
RULES = {"authors'": 0, "ours": aim._FEW}  # cells of marginals for which the rule is another


def main() -> int:
    """Run both rules on every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=list(TABLES))
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--epsilon", choices=RHO, default="1")
    asked = parser.parse_args()
    print("| table | rows × columns | ε | rule | runs | error | marginals measured | CPU s |\n|---|---|---|---|---|---|---|---|")
    for name in asked.only:
        columns = binary(polars.read_csv(asked.public / "fresh" / f"{name}.csv", infer_schema_length=None))
        found: dict[str, list[tuple[float, int, float]]] = {rule: [] for rule in RULES}
        for _ in range(asked.runs):
            for rule in RULES:
                found[rule].append(once(columns, Fraction(RHO[asked.epsilon]), rule))
        size = f"{len(next(iter(columns.values()))):,} × {len(columns)}"
        for rule, runs in found.items():
            errors, measured, seconds = zip(*runs, strict=True)
            cells = [name, size, asked.epsilon, rule, asked.runs, spread(errors), f"{mean(measured):.0f}", f"{mean(seconds):.1f}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return 0


def binary(table: polars.DataFrame) -> dict[str, Any]:
    """Every column as 0 and 1."""
    found = {}
    for name in table.columns:
        text = table[name].dtype == polars.String
        codes = table[name].fill_null("").cast(polars.Categorical).to_physical() if text else table[name].fill_null(0)
        values = codes.cast(polars.Float64).to_numpy()
        cuts = np.unique(values)[1:]
        if len(cuts):
            upper = values >= min(cuts, key=lambda cut: abs((values >= cut).mean() - SHARE))
            if LEAST < upper.mean() < 1 - LEAST:
                found[name] = upper.astype(np.int64)
    return dict(list(found.items())[:MOST])


def once(columns: dict[str, Any], rho: Fraction, rule: str) -> tuple[float, int, float]:
    """The error, the number of different marginals that were measured, and the seconds."""
    domain = Domain.of(dict.fromkeys(columns, 2))
    workload, begin = Workload.all_of(domain, 3), time.process_time()
    aim._FEW = RULES[rule]
    result = aim.AIM(budget=MeasurementBudget.zcdp(rho), workload=workload).run(CodedTable(domain, columns))
    seconds, codes = time.process_time() - begin, list(columns.values())
    error = mean(off(domain, clique, codes, result.model.marginal(clique).ravel()) for clique in workload.cliques)
    return error, len({one.clique for one in result.measured if len(one.clique) > 1}), seconds


if __name__ == "__main__":
    raise SystemExit(main())
