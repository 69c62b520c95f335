"""Models of a table: warm starts, extreme measurements, constant columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import TreeModel, fit_dense, fit_tree
from discreet.algorithms.marginals.nesting import axes_without
from discreet.algorithms.marginals.residual import BITS, Residual

DOMAIN = Domain.of({"a": 3, "b": 2, "c": 4})


def test_a_warm_model_gives_the_same_model() -> None:
    random = np.random.default_rng(1)
    table = random.multinomial(3000, np.full(24, 1 / 24)).reshape(3, 2, 4) + 5
    measured = []
    for clique in [(0,), (1,), (2,), (0, 1), (1, 2)]:
        noisy = table.sum(axis=axes_without(clique, (0, 1, 2))) + random.normal(0, 4, DOMAIN.shape(clique))
        measured.append(NoisyMeasurement(clique, noisy.ravel(), 4.0))
    first = fit_tree(DOMAIN, measured[:4])
    warm, cold = fit_tree(DOMAIN, measured, first, 500), fit_tree(DOMAIN, measured, None, 500)
    assert warm.total == cold.total
    for clique in combinations(range(3), 2):
        np.testing.assert_allclose(warm.marginal(clique), cold.marginal(clique), atol=1.0)  # a quarter of the noise


def sound(model: TreeModel) -> None:
    assert model.total >= 1
    for k in range(4):
        for clique in combinations(range(3), k):
            marginal = model.marginal(clique)
            assert np.isfinite(marginal).all()
            assert (marginal >= 0).all()
            assert marginal.sum() == pytest.approx(model.total, rel=1e-9)


@pytest.mark.parametrize("deviation", [1e-6, 1e-2, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("what", ["zero", "negative", "constant", "huge", "contradictory", "noise"])
def test_extreme_measurements(what: str, deviation: float) -> None:
    random = np.random.default_rng(3)
    measured = []
    for place, clique in enumerate([(0,), (1,), (2,), (0, 1), (1, 2)]):
        cells = DOMAIN.cells(clique)
        values = {
            "zero": np.zeros(cells),
            "negative": np.full(cells, -1e5),
            "constant": np.eye(1, cells)[0] * 5000,
            "huge": np.eye(1, cells)[0] * 1e12,
            "contradictory": np.roll(np.eye(1, cells)[0], place) * 10.0**place,
            "noise": random.normal(0, deviation, cells),
        }[what]
        measured.append(NoisyMeasurement(clique, values, deviation))
    with np.errstate(all="raise", under="ignore"):
        sound(fit_tree(DOMAIN, measured))


@pytest.mark.parametrize("deviation", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("level", [-1e6, 0.0, 1e6])
def test_extreme_residuals(level: float, deviation: float) -> None:
    random = np.random.default_rng(0)
    measured = [NoisyMeasurement(c, level + random.normal(0, deviation, Residual(DOMAIN, c, BITS).size), deviation) for c in [(0,), (1, 2)]]
    model = fit_dense(DOMAIN, measured, BITS, [np.full(s, 1 / s) for s in DOMAIN.sizes], 1000.0, 0.5 / deviation**2)
    assert np.isfinite(model.distribution).all()
    assert model.distribution.sum() == pytest.approx(1)


def test_constant_columns() -> None:
    domain = Domain.of({"a": 1, "b": 3, "c": 1})
    measured = [
        NoisyMeasurement((0,), np.array([101.0]), 1.0),
        NoisyMeasurement((1,), np.array([50.0, 49.0, 0.0]), 1.0),
        NoisyMeasurement((0, 2), np.array([99.0]), 1.0),
    ]
    model = fit_tree(domain, measured)
    assert model.marginal((0, 1, 2)).shape == (1, 3, 1)
    assert model.marginal((1,))[2] < 2
