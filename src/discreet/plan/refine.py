"""Plan more noise draws of the totals of a question that was answered: with its groups, bounds and limits, which are public now."""

from __future__ import annotations

from fractions import Fraction

from attrs import evolve

from discreet.errors import Refused
from discreet.loss.loss import NOTHING
from discreet.plan.compile import check_epsilon
from discreet.plan.price import plan_loss
from discreet.plan.resolve import resolve
from discreet.plan.steps import Steps


def refining_plan(first: Steps, epsilon: Fraction, delta: Fraction) -> Steps:
    """The plan that measures the totals of a resolved plan again, at this price; nothing is discovered, so all of ε goes to the totals.

    The noise is of the first plan's kind, so that the law of the combined noise is known; without Gaussian noise, no δ is used.
    """
    assert not first.question.selected, "choices cannot be averaged"
    check_epsilon(epsilon)
    gaussian = first.budget.noise == "gaussian"
    if gaussian and not delta:
        raise Refused(
            "the first answer has Gaussian noise, and more of it needs a delta above 0: give delta=1e-8, or ask anew with delta=0"
        )
    budget = evolve(first.budget, epsilon=epsilon, delta=delta if gaussian else Fraction(0))
    plan = evolve(
        first, epsilon=epsilon, delta=budget.delta, budget=budget, discoveries=(), public_groups=first.groups, loss=NOTHING, totals=()
    )
    resolved = resolve(plan, first.discovered)
    return evolve(resolved, loss=plan_loss(resolved))
