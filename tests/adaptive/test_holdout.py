"""The reusable holdout: scoring models, and the experiment in which a naive one deceives."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.adaptive.holdout import ReusableHoldout
from discreet.adaptive.thresholdout import Thresholdout
from discreet.adaptive.transfer import population_error
from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms


class Rule:
    """Predicts by a function of a row."""

    def __init__(self, function: Any, batch: bool = True) -> None:
        self.function, self.batch, self.calls = function, batch, 0

    def predict(self, X: Any) -> Any:
        self.calls += 1
        if not self.batch and len(X) > 1:
            raise ValueError("one row at a time")
        return np.array([self.function(row) for row in X])


X_TRAIN, Y_TRAIN = np.array([[0.0], [1.0]] * 100), np.array([0, 1] * 100)
X_HOLDOUT, Y_HOLDOUT = np.array([[0.0], [1.0]] * 500), np.array([0, 1] * 500)


def holdout(**said: Any) -> ReusableHoldout:
    return ReusableHoldout(X_TRAIN, Y_TRAIN, X_HOLDOUT, Y_HOLDOUT, **({"threshold": 0.2, "sigma": 0.001, "hits": 2} | said))


def test_a_scorer_as_model_selection_calls_it() -> None:
    """Noise of scale 0.001 around a threshold of 0.2: an error has probability below e⁻¹⁰⁰."""
    held = holdout()
    score = held.scorer()
    assert score(Rule(lambda row: int(row[0]))) == 1.0
    assert score(Rule(lambda row: 1), X_TRAIN, Y_TRAIN) == 0.5
    assert score(Rule(lambda row: 1 - int(row[0]))) == 0.0
    assert held.left == 2


def test_a_model_that_knows_the_training_data_by_heart_is_found_out() -> None:
    rows = np.arange(200.0).reshape(-1, 1)
    fresh = np.arange(200.0, 1200.0).reshape(-1, 1)
    labels = (np.arange(200) * 7919 % 13 < 6).astype(int)
    held = ReusableHoldout(rows, labels, fresh, np.arange(1000) % 2, threshold=0.2, sigma=0.001, hits=1)
    known = dict(zip(rows[:, 0].tolist(), labels.tolist(), strict=True))
    told = held.score(Rule(lambda row: known.get(row[0], 0)))
    assert told.source == "holdout"
    assert told.value == pytest.approx(0.5, abs=0.05)
    with pytest.raises(BudgetExceeded):
        held.score(Rule(lambda row: 0))


def test_metrics_of_ones_own() -> None:
    held = holdout()
    score = held.scorer(lambda prediction, label: 1 - abs(prediction - label) / 2)
    assert score(Rule(lambda row: 0.5)) == 0.75
    with pytest.raises(Invalid, match="accuracy"):
        held.scorer("roc")


def test_failures_on_a_row_are_not_told() -> None:
    def picky(row: Any) -> int:
        if row[0] == 1.0:
            raise ValueError("cannot predict 1")
        return 0

    for said in ({}, {"row_by_row": True}):
        assert holdout(**said).score(Rule(picky)).value == 0.5
    one = Rule(lambda row: int(row[0]), batch=False)
    assert holdout().score(one).value == 1.0
    assert holdout().score(object()).value == 0.0  # nothing to predict with


def test_one_row_at_a_time() -> None:
    class Leaky:
        """Looks at all rows at once: its value for one row depends on the others."""

        def predict(self, X: Any) -> Any:
            return np.full(len(X), int(np.mean(X) > 0.5))

    alone = holdout(row_by_row=True).score(Leaky())
    assert alone.value == 1.0  # each row by itself: its own value
    assert holdout().score(Leaky()).value == 0.5


def test_lists_will_do() -> None:
    held = ReusableHoldout([[0]] * 10, [0] * 10, [[0]] * 100, [0] * 100, threshold=0.3, sigma=0.001)
    assert held.score(Rule(lambda row: 0)).value == 1.0


def test_a_ledger_pays_first(tmp_path: Path) -> None:
    ledger = open_ledger(str(tmp_path / "holdout.ledger"), Terms(5, 0, "patient", "replace-one"), None)
    held = holdout(sigma=0.01, spend=lambda loss: ledger.spend(loss, question="holdout", note="model selection"))
    assert ledger.allowance(None).spent.epsilon == held.rule.epsilon == held.loss.epsilon
    asked = []

    def refuses(loss: Any) -> None:
        asked.append(loss)
        raise BudgetExceeded("no")

    with pytest.raises(BudgetExceeded):
        holdout(spend=refuses)
    assert asked


def test_wrong_shapes() -> None:
    with pytest.raises(Invalid, match="as many labels"):
        ReusableHoldout([[1]], [1, 2], [[1]], [1], sigma=1)


def test_with_scikit_learn() -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    linear = pytest.importorskip("sklearn.linear_model")
    everything = [(np.arange(200), np.arange(200))]
    search = selection.GridSearchCV(linear.LogisticRegression(), {"C": [0.1, 1, 10]}, scoring=holdout().scorer(), cv=everything)
    assert search.fit(X_TRAIN, Y_TRAIN).best_score_ > 0.9


# ── Freedman's experiment, small ─────────────────────────────────────────────────────────────────────────────────────


def experiment() -> Any:
    where = Path(__file__).parents[2] / "benchmarks" / "holdout.py"
    spec = importlib.util.spec_from_file_location("benchmark_holdout", where)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_naive_holdout_deceives_and_a_reusable_one_does_not() -> None:
    """1,000 records and 4,000 features of noise (the data is fixed, the coins are not).

    A false hit among 4,000 questions has probability about 4·10⁻⁶, and two of three hits are to spare: below 10⁻¹⁰. The vote is right on
    95 % of the training data, so that the last question is no hit with probability below e⁻³⁰; and noise of scale 0.005 exceeds 0.1 with
    probability e⁻²⁰.
    """
    rule = Thresholdout(size=1000, threshold=0.2, sigma=0.005, hits=3)
    found = experiment().experiment(np.random.default_rng(1983), 1000, 4000, rule, [None])
    (naive,), (reusable,) = found["naive"], found["reusable"]
    assert naive.holdout >= 0.6
    assert abs(naive.fresh - 0.5) < 0.08
    assert reusable.train > 0.9
    assert abs(reusable.holdout - 0.5) < 0.15 < population_error(rule, 1000, 4001)
    assert abs(reusable.fresh - 0.5) < 0.08
