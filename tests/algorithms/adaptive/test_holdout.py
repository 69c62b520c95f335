"""The reusable holdout: scoring models, and the experiment in which a naive one deceives."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.algorithms.adaptive.holdout import ReusableHoldout
from discreet.algorithms.adaptive.thresholdout import HoldoutAnswer, Thresholdout, ThresholdoutRun
from discreet.algorithms.adaptive.transfer import population_error
from discreet.errors import BudgetExceeded, Invalid
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.private import reveal


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

    assert holdout().score(Rule(picky)).value == 0.5
    one = Rule(lambda row: int(row[0]), batch=False)
    assert holdout().score(one).value == 1.0
    assert holdout().score(object()).value == 0.0  # nothing to predict with
    for end in (SystemExit, GeneratorExit):

        class Ends:
            def predict(self, X: Any, end: Any = end) -> Any:
                raise end

        for batched in (False, True):
            assert holdout(batched=batched).score(Ends()).value == 0.0


def test_one_row_at_a_time() -> None:
    class Leaky:
        """Looks at all rows at once: its value for one row depends on the others."""

        def predict(self, X: Any) -> Any:
            return np.full(len(X), int(np.mean(X) > 0.5))

    alone = holdout().score(Leaky())
    assert alone.source == "holdout"
    assert alone.value == pytest.approx(1, abs=0.05)  # each row by itself: its own value
    assert holdout(batched=True).score(Leaky()).value == 0.5


def test_a_predictor_that_wants_more_than_one_row_is_told_from_the_training_data() -> None:
    class Many:
        def predict(self, X: Any) -> Any:
            if len(X) < 2:
                raise ValueError("give me more")
            return X[:, 0]

    with pytest.raises(Invalid, match="one row"):
        holdout().score(Many())
    assert holdout(batched=True).score(Many()).value == 1.0
    with pytest.raises(Invalid, match="batched"):
        holdout(batched=1)


# ── a row by itself ──────────────────────────────────────────────────────────────────────────────────────────────────


def scores(monkeypatch: pytest.MonkeyPatch, X: Any, y: Any, estimator: Any, **said: Any) -> list[float]:
    """The value of each record of the holdout, as it goes into the mean."""
    heard: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(ThresholdoutRun, "values", lambda self, train, found: heard.extend(reveal(found)) or HoldoutAnswer(0.0, "train"))
        ReusableHoldout(X_TRAIN, Y_TRAIN, X, y, sigma=1, **said).score(estimator, lambda prediction, label: prediction == label)
    return [float(value or 0) for value in heard]


class Linear:
    """The sign of a product, as scikit-learn's; it refuses what is no number."""

    def __init__(self, weights: Any, offset: float) -> None:
        self.weights, self.offset = weights, offset

    def predict(self, X: Any) -> Any:
        if np.isnan(X).any():
            raise ValueError("Input X contains NaN.")
        return ((X * self.weights).sum(axis=1) > self.offset).astype(int)


def between(orders: int = 2) -> tuple[Any, Linear]:
    """A row, and a linear rule that says 0 or 1 of it depending on the order in which the products are summed."""
    coin = np.random.default_rng(2)
    while True:
        row, weights = coin.normal(size=37), coin.normal(size=37)
        sums = {float((form(np.tile(row, (count, 1))) * weights).sum(axis=1)[0]) for form, count in ((np.asfortranarray, 9), (np.array, 1))}
        if len(sums) == orders:
            return row, Linear(weights, min(sums))


def test_one_record_moves_one_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap in one record makes the call for all fail: the others' scores stay, also where they hang on the last bit."""
    row, rule = between()
    X, y = np.asfortranarray(np.tile(row, (50, 1))), np.ones(50, int)
    other = X.copy(order="F")
    other[7, 0] = np.nan
    one, two = scores(monkeypatch, X, y, rule), scores(monkeypatch, other, y, rule)
    assert [i for i in range(50) if one[i] != two[i]] in ([], [7])
    # broken: all at once, and one by one if that fails
    together = scores(monkeypatch, X, y, rule, batched=True)
    assert sum(a != b for a, b in zip(together, two, strict=True)) > 40
    assert scores(monkeypatch, other, y, rule, batched=True) == [0.0] * 50  # a failing call does not change the road


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
    with pytest.raises(Invalid, match="one label per row"):
        ReusableHoldout([[1]], [1, 2], [[1]], [1], sigma=1)


def test_with_scikit_learn() -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    linear = pytest.importorskip("sklearn.linear_model")
    everything = [(np.arange(200), np.arange(200))]
    search = selection.GridSearchCV(linear.LogisticRegression(), {"C": [0.1, 1, 10]}, scoring=holdout().scorer(), cv=everything)
    assert search.fit(X_TRAIN, Y_TRAIN).best_score_ > 0.9


# ── Freedman's experiment, small ─────────────────────────────────────────────────────────────────────────────────────


def experiment() -> Any:
    where = Path(__file__).parents[3] / "benchmarks" / "holdout.py"
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
