"""A holdout for choosing models: a scorer that may be called as often as one likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from discreet.adaptive.thresholdout import Conversation, Thresholdout, Told, attempt, quietly
from discreet.adaptive.transfer import population_error
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.private import Private

Metric = Callable[[Any, Any], float]  # of a prediction and a label, in [0, 1]


def _agrees(prediction: Any, label: Any) -> bool:
    return bool(prediction == label)


@final
class ReusableHoldout:
    """Score models on a holdout through `Thresholdout`, so that choosing among many does not wear it out.

    A score is the training data's while the two agree within about `threshold`, else the holdout's with noise; at most `hits` times. Only
    `estimator.predict` is needed. `spend` is called with the loss before anything is scored, for example a ledger's.

    Assumes. `predict` treats each row by itself, as predictors do; with `row_by_row=True` it is given one row at a time, and cannot do
    otherwise. An estimator that fails on a row scores 0 there.

    >>> class Always:
    ...     def predict(self, X): return [1] * len(X)
    >>> holdout = ReusableHoldout([[0]] * 100, [1] * 50 + [0] * 50, [[0]] * 1000, [1, 0] * 500, threshold=0.2, sigma=0.01, hits=2)
    >>> score = holdout.scorer()
    >>> score(Always())
    0.5
    >>> holdout
    ReusableHoldout(1,000 records; 2 of 2 hits left; 1 models scored; ε = 0.6)
    """

    def __init__(
        self,
        X_train: Any,
        y_train: Any,
        X_holdout: Any,
        y_holdout: Any,
        *,
        threshold: Number = 0.04,
        sigma: Number | None = None,
        epsilon: Number | None = None,
        hits: int = 1,
        row_by_row: bool = False,
        spend: Callable[[Loss], Any] | None = None,
    ) -> None:
        if len(X_train) != len(y_train) or len(X_holdout) != len(y_holdout) or not len(X_train):
            raise Invalid("give as many labels as there are rows, for the training data and for the holdout")
        self.rule = Thresholdout(size=len(X_holdout), threshold=threshold, sigma=sigma, epsilon=epsilon, hits=hits)
        if spend is not None:
            spend(self.rule.loss)
        self._train, self._holdout = (X_train, y_train), Private((X_holdout, y_holdout))
        self._row_by_row = row_by_row
        self._conversation: Conversation = self.rule.open(range(len(X_train)), Private(range(len(X_holdout))))

    @property
    def loss(self) -> Loss:
        """What all scores together cost one record of the holdout."""
        return self.rule.loss

    @property
    def left(self) -> int:
        """How often the holdout may still tell its own score."""
        return self._conversation.left

    def score(self, estimator: Any, metric: str | Metric = "accuracy") -> Told:
        """The score of a fitted model, and where it is from."""
        told = _metric(metric)
        train = _values(estimator, *self._train, told, self._row_by_row)
        return self._conversation.values(train, self._holdout.map(lambda pair: _values(estimator, *pair, told, self._row_by_row)))

    def scorer(self, metric: str | Metric = "accuracy") -> Callable[..., float]:
        """A scorer as scikit-learn calls it: `scorer(estimator, X, y)`. It looks at the holdout, whatever X and y are.

        `metric` is "accuracy", or a function of one prediction and its label with values in [0, 1], larger for better.
        """
        told = _metric(metric)

        def score(estimator: Any, X: Any = None, y: Any = None) -> float:
            return self.score(estimator, told).value

        return score

    def error(self, confidence: Number = 0.95, models: int = 1) -> float:
        """How far a score of so many may be from the score in the population."""
        return population_error(self.rule, self.rule.size, models, confidence)

    def __repr__(self) -> str:
        said = self._conversation
        return (
            f"ReusableHoldout({self.rule.size:,} records; {said.left} of {self.rule.hits} hits left; {said.asked:,} models scored; "
            f"ε = {float(self.rule.epsilon):.3g})"
        )


def _metric(metric: str | Metric) -> Metric:
    if metric == "accuracy":
        return _agrees
    if not callable(metric):
        raise Invalid('metric must be "accuracy", or a function of a prediction and a label with values in [0, 1]')
    return metric


def _values(estimator: Any, X: Any, y: Any, metric: Metric, row_by_row: bool) -> list[Any]:
    """The value of each row; nothing of what fails is told, not even that it failed."""
    labels = _listed(y)

    def one(place: int, label: Any) -> Any:
        return attempt(lambda: metric(estimator.predict(_row(X, place))[0], label))

    with quietly():
        predicted = None if row_by_row else attempt(lambda: list(estimator.predict(X)))
        if predicted is not None and len(predicted) == len(labels):
            return [attempt(metric, told, label) for told, label in zip(predicted, labels, strict=True)]
        return [one(place, label) for place, label in enumerate(labels)]


def _listed(y: Any) -> list[Any]:
    return np.asarray(y).tolist() if hasattr(y, "__array__") else list(y)


def _row(X: Any, i: int) -> Any:
    """One row, as a table of one row where slices make that."""
    return X.iloc[i : i + 1] if hasattr(X, "iloc") else X[i : i + 1]
