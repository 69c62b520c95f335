"""The ways to synthesise, by name; which one fits a domain; and a model from what was measured, always the same."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt
from typing import Literal, TypeAlias

from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.dense import MOST_CELLS
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import Model, fit_tree
from discreet.algorithms.marginals.mst import MST
from discreet.algorithms.marginals.residuals import Residuals, fit_residuals
from discreet.algorithms.marginals.result import FINAL_STEPS
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Invalid

Name: TypeAlias = Literal["residuals", "aim", "mst"]
Method: TypeAlias = Residuals | AIM | MST
NAMES: tuple[Name, ...] = ("residuals", "aim", "mst")
MOST_COLUMNS = 3  # of a marginal whose residuals are measured
PAIRS = 10**8
INDEPENDENT = 0.35  # the share of records by which independent columns usually miss marginals of three columns (0.35–0.5 on public tables)


def choose(workload: Workload, asked: str = "auto") -> Name:
    """The method that is asked for, if it fits; "auto": residuals where the whole domain fits one array, else AIM.

    The rule looks at nothing private, and was checked on public tables: residuals win wherever they fit (benchmarks/synthetic.py).
    """
    domain, order = workload.domain, max(map(len, workload.cliques))
    if asked == "auto":
        return "residuals" if domain.size <= MOST_CELLS and order <= MOST_COLUMNS else "aim"
    if asked not in NAMES:
        raise Invalid(f"method must be auto, {', '.join(NAMES)}")
    if asked == "residuals" and order > MOST_COLUMNS:
        raise Invalid(f"residuals are measured of marginals of up to {MOST_COLUMNS} columns: use method='aim' for larger ones")
    pairs = (sum(domain.sizes) ** 2 - sum(size**2 for size in domain.sizes)) // 2
    if asked == "mst" and pairs > PAIRS:
        raise Invalid(
            f"all pairs of these columns have {pairs:,} cells, and mst looks at them all, up to {PAIRS:,}: use fewer bins or columns"
        )
    if asked == "residuals" and domain.size > MOST_CELLS:
        raise Invalid(
            f"these columns have {domain.size:.2g} combinations, and residuals hold them all, up to {MOST_CELLS:,}: "
            "use method='aim' or 'mst', or fewer columns or bins"
        )
    return asked


def method_of(name: Name, budget: MeasurementBudget, workload: Workload) -> Method:
    """A method with its budget."""
    match name:
        case "residuals":
            return Residuals(budget=budget, workload=workload)
        case "aim":
            return AIM(budget=budget, workload=workload)
        case "mst":
            return MST(budget=budget, workload=workload)


def model_of(name: Name, domain: Domain, measured: Sequence[NoisyMeasurement]) -> Model:
    """The model of a method from all that it measured: a function of it and nothing else."""
    return fit_residuals(domain, measured) if name == "residuals" else fit_tree(domain, measured, steps=FINAL_STEPS)


def records_needed(name: Name, budget: MeasurementBudget, workload: Workload, counted: float) -> float:
    """About how many records there must be for this to beat independent columns, where a unit counts so many records.

    Residuals: where the expected error is as large as that of independent columns. Others: where the noise of a workload's pair is, if
    each column's tree pair got an equal part.
    """
    if name == "residuals":
        errors = Residuals(budget=budget, workload=workload).expected_errors(counted)
        return sum(errors.values()) / len(errors) / INDEPENDENT
    domain = workload.domain
    amount = float(budget.amount) * (2 if budget.notion == "zcdp" else 1) / 3
    noise = counted * sqrt(max(len(domain.names) - 1, 1) / amount)
    cells = sorted(a * b for place, a in enumerate(domain.sizes) for b in domain.sizes[place + 1 :]) or [domain.size]
    return sqrt(2 / pi) * noise * cells[len(cells) // 4] / INDEPENDENT
