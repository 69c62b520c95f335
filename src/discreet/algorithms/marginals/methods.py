"""The synthesis methods by name, the choice among them, and the model that follows from the measurements."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal, TypeAlias

from discreet.algorithms.marginals import aim, mst
from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.dependence import column_noise
from discreet.algorithms.marginals.device import MOST_CELLS, FitForecast, forecast
from discreet.algorithms.marginals.domain import Domain
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


def choose(workload: Workload, asked: str = "auto", device: str = "auto") -> Name:
    """The method that was requested, if it suits the workload; "auto": residuals if the whole domain fits the device, otherwise AIM.

    The rule uses nothing private: sizes, and the device. It was checked on public tables: residuals win wherever they fit
    (benchmarks/synthetic.py).
    """
    domain, order = workload.domain, max(map(len, workload.cliques))
    if asked == "auto":
        return "residuals" if order <= MOST_COLUMNS and not dense_forecast(workload, device).refusal else "aim"
    if asked not in NAMES:
        raise Invalid(f"method must be one of auto, {', '.join(NAMES)}")
    if asked == "residuals" and order > MOST_COLUMNS:
        raise Invalid(f"method='residuals' measures marginals of up to {MOST_COLUMNS} columns: use method='aim' for larger ones")
    pairs = (sum(domain.sizes) ** 2 - sum(size**2 for size in domain.sizes)) // 2
    if asked == "mst" and pairs > PAIRS:
        raise Invalid(
            f"method='mst' counts all pairs of columns, up to {PAIRS:,} cells, and these have {pairs:,}: use fewer bins or columns"
        )
    if asked == "residuals" and (why := dense_forecast(workload, device).refusal):
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


def method_of(name: Name, budget: MeasurementBudget, workload: Workload, device: str = "auto") -> Method:
    """A method with its budget."""
    match name:
        case "residuals":
            return Residuals(budget=budget, workload=workload, device=device)
        case "aim":
            return AIM(budget=budget, workload=workload)
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


def reason(workload: Workload, device: str = "auto") -> str:
    """Why "auto" takes the method that it takes."""
    if max(map(len, workload.cliques)) > MOST_COLUMNS:
        return f"marginals of more than {MOST_COLUMNS} columns are asked for"
    many, why = workload.domain.size, dense_forecast(workload, device).refusal
    if why:
        return f"{many:.2g} combinations of values do not fit one array: that needs {why}"
    return f"all {many:,} combinations of values fit one array"
