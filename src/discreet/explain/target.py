"""The least ε for a target error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet import exact
from discreet.errors import Invalid
from discreet.explain.forecast import Forecast
from discreet.query.question import Question
from discreet.query.relation.expr import columns_of

_FURTHEST = Fraction(10**300)


def target_errors(error: Any, question: Question) -> dict[str, float]:
    """Read {"mean_cost": 5}: the target error of each output."""
    statistics = {name for name, _ in question.statistics}
    outputs = [name for name, expr in question.outputs if columns_of(expr) & statistics]
    if not outputs:
        raise Invalid("the errors of windows are not known before paying, so they have no target: give epsilon=… instead")
    if not isinstance(error, Mapping) or not error or set(error) - set(outputs):
        raise Invalid(f"give the target error of some statistics, as in {{{outputs[0]!r}: 5}}; there are {', '.join(outputs)}")
    return {name: exact.float_down(min(exact.positive(width, f"the error of {name}"), _FURTHEST)) for name, width in error.items()}


def least_epsilon(forecast_at: Callable[[Fraction], Forecast], targets: Mapping[str, float], surely: bool) -> Fraction:
    """The least ε of three significant digits at which every output is within its target; `surely`, for every true value."""

    def beyond(forecast: Forecast) -> dict[str, float]:
        """The outputs that miss their targets, with their errors."""
        found = {name: width_of((forecast.worst if surely else forecast)[name], name) for name in targets}
        return {name: width for name, width in found.items() if width > targets[name]}

    def enough(epsilon: Fraction) -> bool:
        return not beyond(forecast_at(epsilon))

    steps = [Fraction(digits) * Fraction(10) ** exponent for exponent in range(-7, 2) for digits in range(100, 1000)]
    low, high = 0, len(steps) - 1
    best = forecast_at(steps[high])
    for name, width in beyond(best).items():
        if name in best.floors and best.floors[name].dominates(width):
            raise Invalid(best.floors[name].advice(name, targets[name]))
    if beyond(best):
        fewer = ", or read more of the units than sample= does" if best.sampled else ""
        raise Invalid(f"no ε reaches this target: ask for a larger error, or declare tighter bounds and contributions{fewer}")
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(steps[middle]) else (middle + 1, high)
    return steps[low]


def width_of(forecast: Any, name: str) -> float:
    """A half-width, where it is one number."""
    if isinstance(forecast, dict):
        raise Invalid(f"the error of {name} depends on the group size: give size=1000, for the size of the groups you care about")
    if forecast is None:
        raise Invalid(
            f"the error of {name} cannot be known before paying: declare its bounds, or assume them, as in assume={{'cost': (0, 500)}}"
        )
    return float(forecast)
