"""The price of a plan: the composed loss of its discoveries, totals and choices, whatever is discovered."""

from __future__ import annotations

from fractions import Fraction

from discreet.loss import calibrate, leaves
from discreet.loss.loss import Loss, compose
from discreet.loss.promise import Promised
from discreet.plan.steps import Steps


def plan_loss(plan: Steps) -> Loss:
    """What the plan costs, whatever is discovered."""
    budget, parts = plan.budget, [one.loss for one in plan.discoveries]
    if budget.epsilon:
        if budget.noise == "gaussian":
            # every total's (Δ/σ)² is at most its share of 1/σ₁², so together they are the one Gaussian that σ₁ was calibrated for
            sigma = calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1))
            parts.append(Promised(leaves.GaussianLoss(1 / sigma**2), budget.epsilon, budget.delta))
        elif plan.resolved:
            parts += [total.mechanism.loss for one in (plan, *plan.parts) for total in one.totals]
        else:
            parts.append(leaves.Pure(budget.epsilon))
    if plan.resolved:
        parts += [choice.mechanism.loss for one in (plan, *plan.parts) for choice in one.choices]
    else:
        times = max(len(plan.question.sets), 1)
        parts += [plan.question.selected[name].loss(epsilon / times) for name, epsilon in budget.choices for _ in range(times)]
    return compose(parts)
