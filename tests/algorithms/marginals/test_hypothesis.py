"""The hypothesis: trained once every column is known, near to what is known, and fitted again when much was learnt."""

from __future__ import annotations

import numpy as np
import pytest
from algorithms.marginals.known import COLUMNS, DOMAIN, known, learn, subsets

from discreet.algorithms.marginals import hypothesis as module
from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.hypothesis import Hypothesis
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.algorithms.marginals.model import DenseModel, TreeModel
from discreet.mechanisms.gaussian import Gaussian
from discreet.private import reveal

PAIRS: list[Clique] = list(dict.fromkeys([*subsets((0, 1)), *subsets((1, 2))]))


@pytest.fixture(params=["dense", "tree"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type:
    """The whole domain in one array, or a junction tree as for a large domain."""
    if request.param == "tree":
        monkeypatch.setattr(module, "_DENSE", 1)
    return DenseModel if request.param == "dense" else TreeModel


def test_it_is_trained_when_every_column_is_known() -> None:
    knowledge = known([(), (0,)])
    assert Hypothesis(knowledge).is_trained((0,))
    assert not Hypothesis(knowledge).is_trained((0, 1))
    assert not Hypothesis(known([(0,)])).is_trained((0,))  # without the number of records


def test_estimates_are_near_what_is_known(kind: type) -> None:
    hypothesis = Hypothesis(known(PAIRS, scale=16))
    assert isinstance(hypothesis.model, kind)
    assert hypothesis.model.total == pytest.approx(600)
    for clique in ((0, 1), (1, 2), (1,)):
        exact = reveal(CodedTable(DOMAIN, COLUMNS).marginals([clique]))[clique]
        np.testing.assert_allclose(hypothesis.model.marginal(clique).ravel(), exact, atol=3)
    query = LinearQuery.where(DOMAIN, {"a": 1, "b": [0, 2]})
    exact = reveal(CodedTable(DOMAIN, COLUMNS).marginals([(0, 1)]))[0, 1]
    assert hypothesis.estimate(query) == pytest.approx(query.of_marginal(exact), abs=3)


def test_nothing_known_is_a_uniform_guess(kind: type) -> None:
    model = Hypothesis(known([])).model
    np.testing.assert_allclose(model.marginal((0, 1)), np.full((2, 3), 1 / 6), rtol=1e-6)


def test_it_is_fitted_again_when_twice_as_much_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    knowledge, fits = known([(), (0,), (1,)]), []
    hypothesis, refit = Hypothesis(knowledge), Hypothesis._refit
    monkeypatch.setattr(Hypothesis, "_refit", lambda self: fits.append(self) or refit(self))
    query = LinearQuery.where(DOMAIN, {"a": 1, "b": 0})
    for part in ((2,), (0, 1), (1, 2), (0,)):  # 4, 5, 6, 7 purchases after a fit at 3
        hypothesis.estimate(query)
        learn(knowledge, part, Gaussian(scale=64, sensitivity=1, whole=True))
    assert len(fits) == 1
    hypothesis.estimate(query)
    assert len(fits) == 2
    assert hypothesis.model is hypothesis.model
    assert len(fits) == 2
    learn(knowledge, (0,), Gaussian(scale=64, sensitivity=1, whole=True))
    assert hypothesis.model is not None
    assert len(fits) == 3  # the model itself is always fitted to all that is known
