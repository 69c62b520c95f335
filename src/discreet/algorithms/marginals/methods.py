"""The synthesis methods by name, the choice among them, and the model that follows from the measurements."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal, TypeAlias

from discreet.algorithms.marginals import aim, mst
from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.dense import MOST_CELLS
from discreet.algorithms.marginals.dependence import column_noise
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.duration import SECONDS, aim_seconds, aim_within, mst_seconds, residuals_seconds
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import Model, fit_tree
from discreet.algorithms.marginals.mst import MST
from discreet.algorithms.marginals.residual_planner import WORTHWHILE, predicted_errors
from discreet.algorithms.marginals.residuals import Residuals, fit_residuals
from discreet.algorithms.marginals.result import FINAL_STEPS
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Invalid

Name: TypeAlias = Literal["residuals", "aim", "mst"]
Method: TypeAlias = Residuals | AIM | MST
NAMES: tuple[Name, ...] = ("residuals", "aim", "mst")
MOST_COLUMNS = 3  # the largest marginal whose residuals are measured
PAIRS = 10**8
_HALVINGS = 9  # of a range of 10⁴: within 2 %


def choose(workload: Workload, asked: str = "auto", seconds: float = SECONDS) -> Name:
    """The method that was requested, if it suits the workload and the time; "auto": the best one that is predicted to take no longer.

    The rule uses nothing private. It was checked on public tables: residuals win wherever they fit (benchmarks/synthetic.py), then AIM.
    """
    domain, order = workload.domain, max(map(len, workload.cliques))
    if asked == "auto":
        if domain.size <= MOST_CELLS and order <= MOST_COLUMNS and residuals_seconds(workload) <= seconds:
            return "residuals"
        quicker = predicted_seconds("aim", workload, seconds) > seconds and _pairs(domain) <= PAIRS
        return "mst" if quicker and mst_seconds(domain) < predicted_seconds("aim", workload, seconds) else "aim"
    if asked not in NAMES:
        raise Invalid(f"method must be one of auto, {', '.join(NAMES)}")
    if asked == "residuals" and order > MOST_COLUMNS:
        raise Invalid(f"method='residuals' measures marginals of up to {MOST_COLUMNS} columns: use method='aim' for larger ones")
    if asked == "mst" and (pairs := _pairs(domain)) > PAIRS:
        raise Invalid(
            f"method='mst' counts all pairs of columns, up to {PAIRS:,} cells, and these have {pairs:,}: use fewer bins or columns"
        )
    if asked == "residuals" and domain.size > MOST_CELLS:
        raise Invalid(
            f"method='residuals' holds all combinations of codes, up to {MOST_CELLS:,}, and these columns have {domain.size:.2g}: "
            "use method='aim' or 'mst', or fewer columns or bins"
        )
    if (needed := predicted_seconds(asked, workload, seconds)) > seconds and asked == "residuals":
        raise Invalid(
            f"method='residuals' takes about {needed:.0f} s here, more than seconds={seconds:g}: use method='auto', or allow more"
        )
    return asked


def predicted_seconds(name: Name, workload: Workload, seconds: float = SECONDS) -> float:
    """About how long a method computes, at most, where it may take so long; nothing private is known."""
    match name:
        case "residuals":
            return residuals_seconds(workload)
        case "aim":
            return aim_seconds(workload, aim_within(workload, seconds))
        case "mst":
            return mst_seconds(workload.domain)


def _pairs(domain: Domain) -> int:
    """The cells of all pairs of columns."""
    return (sum(domain.sizes) ** 2 - sum(size**2 for size in domain.sizes)) // 2


def method_of(name: Name, budget: MeasurementBudget, workload: Workload, seconds: float = SECONDS) -> Method:
    """A method with its budget, and with no more to do than it is predicted to do in this time."""
    match name:
        case "residuals":
            return Residuals(budget=budget, workload=workload)
        case "aim":
            extent = aim_within(workload, seconds)
            return AIM(budget=budget, workload=workload, rounds=extent.rounds, most_cells=extent.cells)
        case "mst":
            return MST(budget=budget, workload=workload)


def model_of(name: Name, domain: Domain, measured: Sequence[NoisyMeasurement]) -> Model:
    """The model of a method, as a function of its measurements only."""
    return fit_residuals(domain, measured) if name == "residuals" else fit_tree(domain, measured, steps=FINAL_STEPS)


def records_needed(name: Name, budget: MeasurementBudget, workload: Workload, counted: float) -> float:
    """The approximate number of records from which this beats independent columns, if a unit has the weight of `counted` records.

    With fewer, the methods measure single columns only. Residuals: where the predicted error after the fit is by a tenth below that of
    independent columns. Other methods: where the noise of single columns, at the whole budget, is a bearable share of the records.
    """
    noise = column_noise(workload, budget, counted)
    if name != "residuals":
        return noise / (aim.BEARABLE if name == "aim" else mst.BEARABLE)
    amount = float(budget.amount) * (2 if budget.notion == "zcdp" else 1) / counted**2
    low, high = noise / 100, noise * 100
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        fitted, alone = predicted_errors(workload, middle**2 * amount)
        low, high = (low, middle) if fitted <= WORTHWHILE * alone else (middle, high)
    return high


def reason(workload: Workload, seconds: float = SECONDS) -> str:
    """Why "auto" takes the method that it takes."""
    many, taken = workload.domain.size, choose(workload, "auto", seconds)
    if max(map(len, workload.cliques)) > MOST_COLUMNS:
        why = f"marginals of more than {MOST_COLUMNS} columns are asked for"
    elif many > MOST_CELLS:
        why = f"{many:.2g} combinations of values do not fit one array of {MOST_CELLS:,}"
    elif taken == "residuals":
        return f"all {many:,} combinations of values fit one array"
    else:
        why = f"residuals would take about {residuals_seconds(workload):.0f} s, more than the {seconds:g} s allowed"
    slow = predicted_seconds("aim", workload, seconds)
    return why if taken == "aim" else f"{why}, and aim would take about {slow:.0f} s"
