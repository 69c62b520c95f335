"""Synthetic tables on public data: error of the model and of its rows, seconds and memory, beside what others reach. Prints Markdown.

The data are not part of this repository; give their folder:  python benchmarks/synthetic.py --data PATH --runs 5 --only nltcs titanic
Every run is a process of its own, so that its peak of memory is its own. Errors are mean ℓ₁ over the workload's marginals, divided by n.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import mean, stdev
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src")]  # the sources beside this folder, installed or not

import numpy as np  # noqa: E402
from attrs import frozen  # noqa: E402

from discreet.algorithms.marginals.aim import AIM  # noqa: E402
from discreet.algorithms.marginals.counts import CodedTable  # noqa: E402
from discreet.algorithms.marginals.domain import Domain  # noqa: E402
from discreet.algorithms.marginals.methods import dense_forecast  # noqa: E402
from discreet.algorithms.marginals.mst import MST  # noqa: E402
from discreet.algorithms.marginals.residuals import Residuals  # noqa: E402
from discreet.algorithms.marginals.result import Result  # noqa: E402
from discreet.algorithms.marginals.rows import make_rows  # noqa: E402
from discreet.algorithms.marginals.spending import MeasurementBudget  # noqa: E402
from discreet.algorithms.marginals.workload import Workload  # noqa: E402
from discreet.loss.convert import gaussian_budget  # noqa: E402

# ρ of the reference at (ε, 1e-9), found by minimising over orders.
RHO = {"0.1": "0.000177", "1": "0.014973", "10": "1.0908"}
DEMOGRAPHIC = ("AGEP", "SEX", "MSP", "HISP", "RAC1P", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
METHODS = ("residuals", "mst", "aim")


@frozen
class Case:
    """A table with its workload, and what others reach there: (method, ε) → what is published or measured."""

    name: str
    k: int
    delta: str
    epsilons: tuple[str, ...]
    others: dict[tuple[str, str], str]


# Authors' scripts with mbi 1.1.0, measured at the same ρ; NIST's from the reports of SDNist (SmartNoise).
CASES = {
    case.name: case
    for case in (
        Case("nltcs", 3, "1e-9", ("0.1", "1", "10"), {
            ("aim", "0.1"): "AIM 0.0668", ("aim", "1"): "AIM 0.0118 ± 0.0001, 77 s", ("aim", "10"): "AIM 0.00263",
            ("residuals", "0.1"): "RP raw 0.091", ("residuals", "1"): "RP raw 0.0117", ("residuals", "10"): "RP raw 0.0014",
        }),
        Case("titanic", 3, "1e-9", ("0.1", "1", "10"), {("aim", "1"): "AIM 0.681 ± 0.028, 11 s"}),
        Case("adult", 3, "1e-9", ("0.1", "1", "10"), {
            ("aim", "1"): "AIM 0.1227 ± 0.0014, 132 s", ("mst", "1"): "MST 0.177 ± 0.003, 101 s",
        }),
        Case("nist", 2, "1e-5", ("1",), {("aim", "1"): "AIM score 976", ("mst", "1"): "MST score 958"}),
    )
}  # fmt: skip


def main() -> int:
    """Run, and print one table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with nltcs.csv, nltcs-domain.json, national2019.csv, …")
    parser.add_argument("--runs", type=int, default=5, help="runs for each line (default 5)")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--epsilons", nargs="+", choices=RHO, default=list(RHO))
    parser.add_argument("--notions", nargs="+", choices=("zcdp", "gdp"), default=["zcdp", "gdp"])
    parser.add_argument("--worker", nargs=4, metavar=("CASE", "METHOD", "NOTION", "EPSILON"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(once(arguments.data, *arguments.worker)))
        return 0
    for name in arguments.only:
        case = CASES[name]
        print(f"\n{name}: all {case.k}-way marginals, δ = {case.delta}, {arguments.runs} runs, load {os.getloadavg()[0]:.1f}\n")
        print("| ε | method | budget | model ℓ₁ | rows ℓ₁ | score | seconds | rows s | peak MB | others |")
        print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for epsilon in (e for e in case.epsilons if e in arguments.epsilons):
            for method, notion in wanted(arguments.data, case, arguments.methods, arguments.notions):
                runs = [alone(arguments.data, name, method, notion, epsilon) for _ in range(arguments.runs)]
                print(line(case, epsilon, method, notion, runs), flush=True)
    return 0


def wanted(data: Path, case: Case, methods: Sequence[str], notions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Methods and notions that can be tried."""
    domain, _ = read(data, case.name)
    for method in methods:
        for notion in notions:
            if method != "residuals" or not dense_forecast(Workload.all_of(domain, case.k)).refusal:
                yield method, notion


def line(case: Case, epsilon: str, method: str, notion: str, runs: Sequence[dict[str, float]]) -> str:
    """One row of the table."""
    rows = mean(run["rows"] for run in runs)
    score = f"{(2 - rows) * 500:.1f}" if case.name == "nist" else "–"
    amount = f"{'ρ' if notion == 'zcdp' else 'μ²'} = {float(amount_of(case, notion, epsilon)):.4g}"
    model, table = (spread([run[key] for run in runs]) for key in ("model", "rows"))
    seconds, making, peak = (mean(run[key] for run in runs) for key in ("seconds", "making", "peak"))
    other = case.others.get((method, epsilon), "–")
    return f"| {epsilon} | {method} | {amount} | {model} | {table} | {score} | {seconds:.1f} | {making:.1f} | {peak:.0f} | {other} |"


def spread(values: Sequence[float]) -> str:
    """Mean and its standard error."""
    return f"{mean(values):.4g}" + (f" ± {stdev(values) / len(values) ** 0.5:.2g}" if len(values) > 1 else "")


def amount_of(case: Case, notion: str, epsilon: str) -> Fraction:
    """What may be spent: the reference's ρ (for NIST that of zCDP at ε and δ), or the μ² whose Gaussian profile gives ε and δ."""
    if notion == "gdp":
        return gaussian_budget(Fraction(epsilon), Fraction(case.delta))
    if case.delta == "1e-9":
        return Fraction(RHO[epsilon])
    from discreet.loss.convert import zcdp_budget

    return zcdp_budget(Fraction(epsilon), Fraction(case.delta))


def alone(data: Path, *worker: str) -> dict[str, float]:
    """One run in a process of its own."""
    command = [sys.executable, str(Path(__file__).absolute()), "--data", str(data), "--worker", *worker]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    return found


def once(data: Path, name: str, method: str, notion: str, epsilon: str, **options: Any) -> dict[str, float]:
    """Run a method, and compare."""
    case = CASES[name]
    domain, columns = read(data, name)
    workload = Workload.all_of(domain, case.k)
    amount = amount_of(case, notion, epsilon)
    budget = MeasurementBudget.zcdp(amount) if notion == "zcdp" else MeasurementBudget.gdp(amount)
    begin = time.perf_counter()
    result = run(method, budget, workload, CodedTable(domain, columns), **options)
    made = time.perf_counter()
    rows = make_rows(result.model, round(result.model.total), workload)
    done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux
    codes = [columns[name] for name in domain.names]
    errors = [(off(domain, clique, codes, result.model.marginal(clique).ravel()), off(domain, clique, codes, rows))
              for clique in workload.cliques]  # fmt: skip
    by_model, by_rows = (mean(pair[i] for pair in errors) for i in (0, 1))
    return {"model": by_model, "rows": by_rows, "seconds": made - begin, "making": done - made, "peak": peak}


def run(method: str, budget: MeasurementBudget, workload: Workload, table: CodedTable, **options: Any) -> Result:
    """One of the methods."""
    known = {"residuals": Residuals, "mst": MST, "aim": AIM}
    result: Result = known[method](budget=budget, workload=workload, **options).run(table)
    return result


def off(domain: Domain, clique: tuple[int, ...], codes: Sequence[Any], other: Any) -> float:
    """The ℓ₁ distance of a marginal from a model's or from other rows', divided by n."""
    truth = counted(domain, clique, codes)
    there = counted(domain, clique, other) if isinstance(other, list) else other
    return float(np.abs(truth - there).sum() / len(codes[0]))


def counted(domain: Domain, clique: tuple[int, ...], codes: Sequence[Any]) -> Any:
    """The marginal of a table."""
    place = np.ravel_multi_index(tuple(codes[i] for i in clique), domain.shape(clique))
    return np.bincount(place, minlength=domain.cells(clique))


def read(data: Path, name: str) -> tuple[Domain, dict[str, Any]]:
    """A table as codes; the domain is public, from the file that describes it."""
    if name == "nist":
        return read_nist(data)
    with (data / f"{name}.csv").open() as file:
        header = next(csv.reader(file))
    codes = np.loadtxt(data / f"{name}.csv", delimiter=",", skiprows=1, dtype=np.int64)
    sizes = json.loads((data / f"{name}-domain.json").read_text())
    return Domain.of({column: sizes[column] for column in header}), dict(zip(header, codes.T, strict=True))


def read_nist(data: Path) -> tuple[Domain, dict[str, Any]]:
    """NIST's demographic features, coded by the schema: listed values, or every whole number of a range."""
    schema = json.loads((data / "national2019.json").read_text())["schema"]
    values = {
        name: list(map(str, about["values"] if "values" in about else range(about["min"], about["max"] + 1)))
        for name, about in ((name, schema[name]) for name in DEMOGRAPHIC)
    }
    for name, listed in values.items():
        if schema[name].get("has_null") and str(schema[name]["null_value"]) not in listed:
            listed.append(str(schema[name]["null_value"]))
    with (data / "national2019.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = {name: np.array([values[name].index(row[name]) for row in rows], np.int64) for name in DEMOGRAPHIC}
    return Domain.of({name: len(listed) for name, listed in values.items()}), columns


if __name__ == "__main__":
    raise SystemExit(main())
