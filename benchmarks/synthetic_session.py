"""Synthetic tables through a session, as a user makes them, beside independent columns at the same domains and price. Prints Markdown.

The data are not part of this repository; give their folder:
    python benchmarks/synthetic_session.py --data PATH --only nltcs demographic raw --epsilons 0.1 1 10 --runs 5
Errors are mean ℓ₁ distances of all 1-, 2- and 3-way marginals (at most 300 each), from rows, divided by n. "independent" spends the whole
price on single columns, in equal parts, at the domains that the synthetic table has.
nltcs: 16 columns with declared keys. demographic: ten columns of 9,276 rows of NIST's national2019, declared. raw: 24 columns, nothing
declared but types; both sides are then compared at the domains that were discovered.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import mean, stdev
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src")]  # the sources beside this folder, installed or not

import numpy as np  # noqa: E402
import polars  # noqa: E402

import discreet  # noqa: E402
from discreet.algorithms.marginals.counts import CodedTable  # noqa: E402
from discreet.algorithms.marginals.domain import Domain  # noqa: E402
from discreet.algorithms.marginals.measured import measure  # noqa: E402
from discreet.algorithms.marginals.model import fit_tree  # noqa: E402
from discreet.algorithms.marginals.rows import make_rows  # noqa: E402
from discreet.algorithms.marginals.spending import MeasurementBudget, Spending  # noqa: E402
from discreet.algorithms.marginals.workload import Workload  # noqa: E402
from discreet.loss.convert import gaussian_budget  # noqa: E402

DEMOGRAPHIC = ("AGEP", "SEX", "MSP", "HISP", "RAC1P", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
CASES, ROWS, MOST = ("nltcs", "demographic", "raw"), 9276, 300
DELTA = {"nltcs": "1e-9", "demographic": "1e-9", "raw": "1e-6"}


def main() -> int:
    """Run, and print one table for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with nltcs.csv, national2019.csv and national2019.json")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "1", "10"])
    parser.add_argument("--methods", nargs="+", choices=("auto", "residuals", "aim", "mst"), default=["auto"])
    parser.add_argument("--runs", type=int, default=5, help="runs for each line (default 5)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # a ledger in memory
    for name in arguments.only:
        data, declared = read(arguments.data, name)
        print(f"\n{name}: {data.height:,} rows × {data.width - 1} columns, δ = {DELTA[name]}, {arguments.runs} runs\n")
        print("| ε | asked | made by | 1-way | independent | 2-way | independent | 3-way | independent | seconds |")
        print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for epsilon in arguments.epsilons:
            for method in arguments.methods:
                print(
                    line(epsilon, method, [once(data, declared, epsilon, DELTA[name], method) for _ in range(arguments.runs)]), flush=True
                )
    return 0


def line(epsilon: str, method: str, tried: Sequence[dict[str, Any]]) -> str:
    """One row of the table."""
    runs = [run for run in tried if run]
    if not runs:
        return f"| {epsilon} | {method} | refused: nothing was found | – | – | – | – | – | – | – |"
    made = ", ".join(sorted({run["made"] for run in runs}))
    errors = " | ".join(f"{spread([run['ours'][k] for run in runs])} | {spread([run['theirs'][k] for run in runs])}" for k in (1, 2, 3))
    return f"| {epsilon} | {method} | {made} | {errors} | {mean(run['seconds'] for run in runs):.1f} |"


def spread(values: Sequence[float]) -> str:
    """Mean and its standard error."""
    return f"{mean(values):.4g}" + (f" ± {stdev(values) / len(values) ** 0.5:.2g}" if len(values) > 1 else "")


def once(data: polars.DataFrame, declared: dict[str, Any], epsilon: str, delta: str, method: str) -> dict[str, Any]:
    """Make a table on a session, and compare its rows and those of independent columns with the real ones."""
    told: dict[str, Any] = {"unit": "person", "one_row_per_unit": True, "ledger": ":memory:", **declared}
    with discreet.connect({"t": data}, epsilon=Fraction(epsilon), delta=Fraction(delta), **told) as db:
        begin = time.perf_counter()
        try:
            made = db.synthesize("t", Fraction(epsilon), Fraction(delta), method=method)
        except discreet.errors.Refused:
            return {}
        rows = made.codes
        seconds = time.perf_counter() - begin
    real = [coded(coding, data[coding.name].to_list()) for coding in made.codings]
    alone = independent(made.domain, real, epsilon, delta)
    fell_back = " (independent columns)" if any("columns are independent" in note for note in made.receipt.notes) else ""
    errors = [{k: off(made.domain, real, other, k) for k in (1, 2, 3)} for other in (rows, alone)]
    return {"made": f"{made.method}{fell_back}, {len(made.columns)} columns", "ours": errors[0], "theirs": errors[1], "seconds": seconds}


def coded(coding: Any, values: Sequence[Any]) -> Any:
    """The codes of values, computed in Python; values that have none have the last."""
    known: dict[Any, int] = {}
    for value in set(values):
        try:
            known[value] = coding.codes(value)[0]
        except discreet.errors.Invalid:
            low = getattr(coding, "low", None)
            below = low is not None and value is not None and value < low
            known[value] = 0 if below else (coding.bins - 1 if low is not None and value is not None else coding.size - 1)
    return np.array([known[value] for value in values], np.int64)


def independent(domain: Domain, codes: Sequence[Any], epsilon: str, delta: str) -> list[Any]:
    """Rows of independent columns: all of the price, as Gaussian noise, on the single columns."""
    budget = MeasurementBudget.gdp(gaussian_budget(Fraction(epsilon), Fraction(delta)))
    table, spending = CodedTable(domain, dict(zip(domain.names, codes, strict=True))), Spending(budget)
    exact = table.marginals([(i,) for i in domain.columns])
    model = fit_tree(domain, [measure(exact, (i,), spending, budget.amount / len(domain.names), table) for i in domain.columns])
    return make_rows(model, round(model.total), Workload.all_of(domain, 1))


def off(domain: Domain, real: Sequence[Any], made: Sequence[Any], k: int) -> float:
    """The mean ℓ₁ distance of k-way marginals, divided by n; the same marginals for all."""
    cliques = list(combinations(domain.columns, k))
    chosen = cliques if len(cliques) <= MOST else [cliques[i] for i in np.random.default_rng(0).choice(len(cliques), MOST, replace=False)]
    return float(np.mean([np.abs(counted(domain, c, real) - counted(domain, c, made)).sum() for c in chosen]) / len(real[0]))


def counted(domain: Domain, clique: tuple[int, ...], codes: Sequence[Any]) -> Any:
    """The marginal of a table."""
    place = np.ravel_multi_index(tuple(codes[i] for i in clique), domain.shape(clique))
    return np.bincount(place, minlength=domain.cells(clique))


def read(data: Path, name: str) -> tuple[polars.DataFrame, dict[str, Any]]:
    """A table with a number for each person, and what is declared about it."""
    if name == "nltcs":
        table = polars.read_csv(data / "nltcs.csv")
        return table.with_row_index("person"), {"keys": {column: [0, 1] for column in table.columns}}
    schema = json.loads((data / "national2019.json").read_text())["schema"]
    table = polars.read_csv(data / "national2019.csv", null_values=["N"], infer_schema_length=None)
    table = table[np.sort(np.random.default_rng(0).choice(table.height, ROWS, replace=False))]
    if name == "raw":
        texts = [polars.col(column).cast(polars.String) for column, about in schema.items() if "values" in about]
        return table.with_columns(texts).with_row_index("person"), {}
    bounds, keys = {"AGEP": (0, 95)}, {}
    for column in DEMOGRAPHIC[1:]:
        values = [value for value in map(str, schema[column]["values"]) if value != "N"]
        keys[column] = [*map(int, values), *([None] if schema[column].get("has_null") else [])]
    return table.select(DEMOGRAPHIC).with_row_index("person"), {"bounds": bounds, "keys": keys, "not_null": ["AGEP"]}


if __name__ == "__main__":
    raise SystemExit(main())
