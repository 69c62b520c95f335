"""The facts of a plan that reads a sample: what it reads, what is paid on the sample, and what sampling costs in accuracy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attrs import evolve

from discreet.explain.forecast import forecast
from discreet.loss import calibrate
from discreet.plan.steps import Steps

_SIZE = 1_000_000  # of the group for which errors are shown


def sample_facts(plan: Steps) -> dict[str, Any] | None:
    """The share of units that is read, the price on the sample, and the errors; None if all units are read."""
    rate = plan.question.sample
    if rate is None:
        return None
    budget = plan.budget
    noise_alone = evolve(plan, question=evolve(plan.question, sample=None))
    noise, both = forecast(noise_alone, size=_SIZE), forecast(plan, size=_SIZE)
    errors = {name: [noise[name], both[name]] for name in both}
    inside = {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}
    return {"share": str(rate), "inside": inside, "noise": _noise_ratio(plan, rate), "size": _SIZE, "errors": errors}


def _noise_ratio(plan: Steps, rate: Fraction) -> float:
    """How many times as large the noise is as that of all units at the same price."""
    budget = plan.budget
    if budget.noise == "laplace":
        return float(plan.epsilon / (budget.epsilon * rate))
    whole = calibrate.gaussian_scale(plan.epsilon, plan.delta, Fraction(1))
    return float(calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1)) / (whole * rate))


def sample_lines(told: dict[str, Any]) -> list[str]:
    """The same as text."""
    delta = Fraction(told["inside"]["delta"])
    inside = f"ε = {float(Fraction(told['inside']['epsilon'])):.4g}" + (f", δ = {float(delta):.2g}" if delta else "")
    lines = [
        f"{100 * float(Fraction(told['share'])):.6g} % of the units are read, all rows of each: a fresh sample for this answer, by a key "
        f"that nobody sees. On the sample {inside} is paid for all totals together, which sampling amplifies to the price",
        f"the noise is {told['noise']:.3g} times that of reading all units at this price, and the sampling error comes on top: a sample "
        "saves time, not budget",
    ]
    where = f"in a group of {told['size']:,} rows"
    for name, (noise, both) in told["errors"].items():
        if both is not None:
            lines.append(f"{name}: ± {noise:,.4g} for the noise, ± {both:,.4g} with the sampling error, {where}")
    return lines
