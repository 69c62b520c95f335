"""A whole with the pair it was calibrated to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.loss import calibrate, record
from discreet.loss.filter import Filter
from discreet.loss.leaves import GaussianLoss, Pure
from discreet.loss.notions import Approx
from discreet.loss.promise import InteractiveStep, Promised

DELTA = Fraction(1, 10**7)


def gaussian(epsilon: Fraction, delta: Fraction = DELTA) -> Promised:
    sigma = calibrate.gaussian_scale(epsilon, delta, Fraction(1))
    return Promised(GaussianLoss(1 / sigma**2), epsilon, delta)


def test_only_what_is_true_can_be_promised() -> None:
    honest = gaussian(Fraction(1))
    with pytest.raises(Invalid):
        Promised(honest.parts, Fraction(999, 1000), DELTA)
    with pytest.raises(Invalid):
        Promised(honest.parts, Fraction(1), DELTA * Fraction(99, 100))
    with pytest.raises(Invalid):
        Promised(Pure(2), 1, 0)


def test_it_costs_what_its_parts_cost_in_every_other_language() -> None:
    loss = gaussian(Fraction(1, 2))
    assert (loss.rho, loss.mu_squared, loss.delta, loss.epsilon) == (loss.parts.rho, loss.parts.mu_squared, 0, None)
    assert np.array_equal(loss.renyi(np.array([2.0, 5.0])), loss.parts.renyi(np.array([2.0, 5.0])))
    assert loss.group(3) == loss.parts.group(3)
    assert loss.laws == loss.parts.laws


def test_basic_composition_adds_the_promised_pairs() -> None:
    total = 3 * gaussian(Fraction(1, 10)) + Pure("1/5")
    assert total.basic == (Fraction(1, 2), 3 * DELTA)
    assert total.routes(3 * DELTA)["basic"] == 0.5
    assert total.routes(2 * DELTA)["basic"] == float("inf")
    assert total.within(Approx("1/2", 3 * DELTA))


def test_ten_tenths_of_any_kind_fit() -> None:
    budget = Filter(1, 32 * DELTA)
    for i in range(10):
        budget = budget.spend(gaussian(Fraction(1, 10)) if i % 2 else Pure("1/10"))
    assert not budget.admits(Pure("1/10"))


def test_it_is_recorded() -> None:
    loss = gaussian(Fraction(1, 3)) + Pure(1)
    assert record.from_json(record.to_json(loss)) == loss
    lie = record.to_json(gaussian(Fraction(1)))
    with pytest.raises(Invalid):
        record.from_json(lie | {"promised_epsilon": "1/2"})


def test_a_budget_adds_for_a_step_what_its_run_says_and_nothing_else_does() -> None:
    own = gaussian(Fraction(1, 2))
    step = InteractiveStep(own, "1/10", 0)
    assert (step.charged, step.basic, own.charged) == ((Fraction(1, 10), 0), own.basic, own.basic)
    assert step.epsilon_at(DELTA) == own.epsilon_at(DELTA), "by itself it costs what it costs"
    assert (step.rho, step.mu_squared, step.laws, step.group(2)) == (own.rho, own.mu_squared, own.laws, own.group(2))
    assert Filter(1, 32 * DELTA).spend(step).spent.basic == (Fraction(1, 10), 0)
    assert record.from_json(record.to_json(step)) == step
