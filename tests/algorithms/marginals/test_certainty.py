"""Standard errors of weighted sums of cells: those of the noise itself, and a mark where something was not measured."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.marginals.certainty import certainty
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.residual import BITS, Residual

DOMAIN = Domain.of({"a": 2, "b": 3})
WEIGHTS = np.array([[1.0, 0.0, 2.0], [0.0, 0.5, 1.0]])


def measured(clique: tuple[int, ...], deviation: float) -> NoisyMeasurement:
    return NoisyMeasurement(clique, np.zeros(DOMAIN.cells(clique)), deviation)


def test_a_measured_marginal_has_the_error_of_its_noise() -> None:
    """Noise s in each cell gives a sum of weights w the standard error s‖w‖; twice measured, the precision doubles."""
    norm = float(np.sqrt((WEIGHTS**2).sum()))
    once = certainty(DOMAIN, [measured((0, 1), 4.0)], False, 100.0, (0, 1), WEIGHTS)
    assert once == (pytest.approx(4 * norm, rel=2e-3), True)
    twice = certainty(DOMAIN, [measured((0, 1), 4.0), measured((0, 1), 4.0)], False, 100.0, (0, 1), WEIGHTS)
    assert twice.error == pytest.approx(once.error / np.sqrt(2))


def test_a_larger_marginal_adds_to_the_precision_of_a_smaller() -> None:
    """The pair's sums over b tell of a with variance 3s²: precisions 1/s² and 1/3s² add up."""
    column = np.array([1.0, 0.0])
    both = certainty(DOMAIN, [measured((0,), 2.0), measured((0, 1), 2.0)], False, 100.0, (0,), column)
    assert both == (pytest.approx((1 / 4 + 1 / 12) ** -0.5, rel=2e-3), True)


def test_measured_residuals_have_the_error_of_their_noise() -> None:
    """All residuals with the noise they would have inside a marginal of noise s: the same error as that marginal."""
    parts = [(), (0,), (1,), (0, 1)]
    noise = [NoisyMeasurement(p, np.zeros(Residual(DOMAIN, p, BITS).size), 4.0 * np.sqrt(DOMAIN.cells({0, 1} - set(p)))) for p in parts]
    found = certainty(DOMAIN, noise, True, 100.0, (0, 1), WEIGHTS)
    assert found == (pytest.approx(4 * float(np.sqrt((WEIGHTS**2).sum())), rel=2e-3), True)


def test_what_was_not_measured_is_marked_and_costs_more() -> None:
    columns = [measured((0,), 1.0), measured((1,), 1.0)]
    found = certainty(DOMAIN, columns, False, 1000.0, (0, 1), WEIGHTS)
    assert not found.measured
    assert found.error > 10 * certainty(DOMAIN, [*columns, measured((0, 1), 1.0)], False, 1000.0, (0, 1), WEIGHTS).error
    assert certainty(DOMAIN, columns, False, 1000.0, (0, 1), np.ones((2, 3))).measured  # the total needs no pair
