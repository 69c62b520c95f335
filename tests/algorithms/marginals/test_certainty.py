"""What was measured of a weighted sum of cells without a model, and its standard error; none where a part was not measured."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from discreet.algorithms.marginals.certainty import measured_marginal, standard_error
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.residual import BITS, Residual

DOMAIN = Domain.of({"a": 2, "b": 3})
WEIGHTS = np.array([[1.0, 0.0, 2.0], [0.0, 0.5, 1.0]])
TRUTH = np.array([[500, 20, 3], [70, 900, 40]])
PARTS = [(), (0,), (1,), (0, 1)]
CLIQUES = [(0,), (1,), (0, 1)]


def measured(clique: tuple[int, ...], deviation: float) -> NoisyMeasurement:
    return NoisyMeasurement(clique, np.zeros(DOMAIN.cells(clique)), deviation)


def test_a_measured_marginal_has_the_error_of_its_noise() -> None:
    """Noise s in each cell gives a sum of weights w the standard error s‖w‖; twice measured, the precision doubles."""
    norm = float(np.sqrt((WEIGHTS**2).sum()))
    once = standard_error(DOMAIN, [measured((0, 1), 4.0)], False, (0, 1), WEIGHTS)
    assert once == pytest.approx(4 * norm, rel=2e-3)
    twice = standard_error(DOMAIN, [measured((0, 1), 4.0), measured((0, 1), 4.0)], False, (0, 1), WEIGHTS)
    assert twice == pytest.approx(4 * norm / np.sqrt(2), rel=2e-3)


def test_a_larger_marginal_adds_to_the_precision_of_a_smaller() -> None:
    """The pair's sums over b tell of a with variance 3s²: precisions 1/s² and 1/3s² add up."""
    column = np.array([1.0, 0.0])
    both = standard_error(DOMAIN, [measured((0,), 2.0), measured((0, 1), 2.0)], False, (0,), column)
    assert both == pytest.approx((1 / 4 + 1 / 12) ** -0.5, rel=2e-3)


def test_measured_residuals_have_the_error_of_their_noise() -> None:
    """All residuals with the noise they would have inside a marginal of noise s: the same error as that marginal."""
    noise = [NoisyMeasurement(p, np.zeros(Residual(DOMAIN, p, BITS).size), 4.0 * np.sqrt(DOMAIN.cells({0, 1} - set(p)))) for p in PARTS]
    found = standard_error(DOMAIN, noise, True, (0, 1), WEIGHTS)
    assert found == pytest.approx(4 * float(np.sqrt((WEIGHTS**2).sum())), rel=2e-3)


def test_what_was_not_measured_has_no_standard_error() -> None:
    columns = [measured((0,), 1.0), measured((1,), 1.0)]
    assert standard_error(DOMAIN, columns, False, (0, 1), WEIGHTS) is None
    assert standard_error(DOMAIN, [*columns, measured((0, 1), 1.0)], False, (0, 1), WEIGHTS) is not None
    assert standard_error(DOMAIN, columns, False, (0, 1), np.ones((2, 3))) is not None  # the total needs no pair


def of_marginals(random: np.random.Generator) -> tuple[list[NoisyMeasurement], bool]:
    """The columns, and the pair twice, each with noise of its own."""
    deviations = [((0,), 5.0), ((1,), 9.0), ((0, 1), 7.0), ((0, 1), 12.0)]
    sums = {(0,): TRUTH.sum(axis=1), (1,): TRUTH.sum(axis=0), (0, 1): TRUTH.ravel()}
    return [NoisyMeasurement(c, sums[c] + random.normal(0, s, sums[c].size), s) for c, s in deviations], False


def of_residuals(random: np.random.Generator) -> tuple[list[NoisyMeasurement], bool]:
    found = []
    for part, s in zip(PARTS, (4.0, 6.0, 8.0, 10.0), strict=True):
        residual = Residual(DOMAIN, part, BITS)
        counts = TRUTH.sum(axis=tuple(i for i in (0, 1) if i not in part)).ravel()
        found.append(NoisyMeasurement(part, residual.of(counts) / residual.unit + random.normal(0, s, residual.size), s))
    return found, True


@pytest.mark.parametrize("made", [of_marginals, of_residuals])
def test_the_estimate_is_unbiased_and_has_this_error(made: Callable[..., tuple[list[NoisyMeasurement], bool]]) -> None:
    """4,000 runs: mean and spread of a weighted sum. A forgotten weight, or a standard error 10 % too small, fails."""
    random, runs = np.random.default_rng(7), 4000
    off = []
    for _ in range(runs):
        noisy, residuals = made(random)
        off.append(float((WEIGHTS * (measured_marginal(DOMAIN, noisy, residuals, (0, 1)) - TRUTH)).sum()))
    said = standard_error(DOMAIN, noisy, residuals, (0, 1), WEIGHTS)
    assert said is not None
    assert abs(np.mean(off)) < 5 * said / np.sqrt(runs) + 0.01 * said + 1  # contrasts are rounded to a thousandth
    assert np.std(off) == pytest.approx(said, rel=0.06)
