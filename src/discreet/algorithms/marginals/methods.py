"""The synthesis methods by name, the choice among them, and the model that follows from the measurements."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Literal, TypeAlias

from discreet.algorithms.marginals import aim, mst
from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.dependence import column_noise
from discreet.algorithms.marginals.device import MOST_CELLS, MOST_SECONDS, FitForecast, forecast
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.duration import SECONDS, aim_seconds, aim_within, mst_seconds
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


def choose(workload: Workload, asked: str = "auto", device: str = "auto", seconds: float = SECONDS) -> Name:
    """The method that was requested, if it suits the workload; "auto": the best one that fits the device and the predicted time.

    The rule uses nothing private: sizes, and the device. It was checked on public tables: residuals win wherever they fit
    (benchmarks/synthetic.py), then AIM.
    """
    domain, order = workload.domain, max(map(len, workload.cliques))
    if asked == "auto":
        if order <= MOST_COLUMNS and not no_fit(workload, device, seconds):
            return "residuals"
        quicker = predicted_seconds("aim", workload, device, seconds) > seconds and _pairs(domain) <= PAIRS
        return "mst" if quicker and mst_seconds(domain) < predicted_seconds("aim", workload, device, seconds) else "aim"
    if asked not in NAMES:
        raise Invalid(f"method must be one of auto, {', '.join(NAMES)}")
    if asked == "residuals" and order > MOST_COLUMNS:
        raise Invalid(f"method='residuals' measures marginals of up to {MOST_COLUMNS} columns: use method='aim' for larger ones")
    if asked == "mst" and (pairs := _pairs(domain)) > PAIRS:
        raise Invalid(
            f"method='mst' counts all pairs of columns, up to {PAIRS:,} cells, and these have {pairs:,}: use fewer bins or columns"
        )
    if asked == "residuals" and (why := no_fit(workload, device, seconds)):
        raise Invalid(
            f"method='residuals' holds all {domain.size:.2g} combinations of codes, which needs {why}: use method='aim' or 'mst', or fewer "
            "columns or bins"
        )
    return asked


def dense_forecast(workload: Workload, device: str = "auto") -> FitForecast:
    """What the fit over the whole domain takes, if all of the workload is measured."""
    if workload.domain.size > MOST_CELLS:
        return FitForecast("cpu", workload.domain.size)  # its marginals may be too many to be listed
    return forecast(workload.domain, workload.closure(), device)


def no_fit(workload: Workload, device: str, seconds: float) -> str:
    """Why the whole domain is not fitted: memory, or the time that is allowed; empty if it is."""
    found, allowed = dense_forecast(workload, device), seconds if isfinite(seconds) else MOST_SECONDS
    slow = f"about {found.seconds:,.0f} s, and {allowed:g} s are allowed (seconds=)" if found.seconds > allowed else ""
    return found.too_large or slow


def predicted_seconds(name: Name, workload: Workload, device: str = "auto", seconds: float = SECONDS) -> float:
    """About how long a method computes, at most, where it may take so long; nothing private is known."""
    match name:
        case "residuals":
            return dense_forecast(workload, device).seconds
        case "aim":
            return aim_seconds(workload, aim_within(workload, seconds))
        case "mst":
            return mst_seconds(workload.domain)


def _pairs(domain: Domain) -> int:
    """The cells of all pairs of columns."""
    return (sum(domain.sizes) ** 2 - sum(size**2 for size in domain.sizes)) // 2


def method_of(name: Name, budget: MeasurementBudget, workload: Workload, device: str = "auto", seconds: float = SECONDS) -> Method:
    """A method with its budget, and with no more to do than it is predicted to do in this time."""
    match name:
        case "residuals":
            return Residuals(budget=budget, workload=workload, device=device)
        case "aim":
            extent = aim_within(workload, seconds)
            return AIM(budget=budget, workload=workload, rounds=extent.rounds, most_cells=extent.cells)
        case "mst":
            return MST(budget=budget, workload=workload)


def model_of(name: Name, domain: Domain, measured: Sequence[NoisyMeasurement], device: str = "auto") -> Model:
    """The model of a method, as a function of its measurements only, up to rounding on other devices."""
    return fit_residuals(domain, measured, device) if name == "residuals" else fit_tree(domain, measured, steps=FINAL_STEPS)


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


def reason(workload: Workload, device: str = "auto", seconds: float = SECONDS) -> str:
    """Why "auto" takes the method that it takes."""
    many, taken = workload.domain.size, choose(workload, "auto", device, seconds)
    if max(map(len, workload.cliques)) > MOST_COLUMNS:
        why = f"marginals of more than {MOST_COLUMNS} columns are asked for"
    elif taken == "residuals":
        return f"all {many:,} combinations of values fit one array"
    else:
        why = f"to fit {many:.2g} combinations of values as one array needs {no_fit(workload, device, seconds)}"
    slow = predicted_seconds("aim", workload, device, seconds)
    return why if taken == "aim" else f"{why}, and aim would take about {slow:.0f} s"
