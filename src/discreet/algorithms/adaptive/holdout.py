"""A holdout for choosing models: a scorer that may be called as often as one likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from discreet.algorithms.adaptive.rows import IsolatedRows, entries
from discreet.algorithms.adaptive.thresholdout import HoldoutAnswer, Thresholdout, ThresholdoutRun, value_or_none, without_warnings
from discreet.algorithms.adaptive.transfer import population_error
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.private import Private

Metric = Callable[[Any, Any], float]  # of a prediction and a label, in [0, 1]
_FEW = 20  # training rows that are tried one by one before the holdout's are


def _agrees(prediction: Any, label: Any) -> bool:
    return bool(prediction == label)


@final
class ReusableHoldout:
    """Score models on a holdout through `Thresholdout`, so that choosing among many does not wear it out.

    A score is the training data's while the two agree within about `threshold`, else the holdout's with noise; at most `hits` times. Only
    `estimator.predict` is needed. `spend` is called with the loss before anything is scored, for example a ledger's.

    `predict` is given the holdout's rows one at a time, each in a form of its own (`rows.IsolatedRows`): even a predictor that treats rows alike
    sums in another order when there are more of them, and a score that hangs on the last bit would then hang on all records. A row on
    which it fails scores 0. That is slow: as many calls as there are records.

    Assumes. `predict` keeps nothing from one call to the next. With `batched=True`, which gives it all rows at once, you vouch for more: no
    row, whatever is in it, makes the call fail or changes by even a bit what is predicted for another. Products of matrices do not
    promise that; trees and tables do. If the call fails all the same, all records score 0.

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
        batched: bool = False,
        spend: Callable[[Loss], Any] | None = None,
    ) -> None:
        if len(X_train) != len(y_train) or len(X_holdout) != len(y_holdout) or not len(X_train):
            raise Invalid("give as many labels as there are rows, for the training data and for the holdout")
        if batched is not True and batched is not False:
            raise Invalid("batched must be True (you vouch for predict: see Assumes) or False")
        self.rule = Thresholdout(size=len(X_holdout), threshold=threshold, sigma=sigma, epsilon=epsilon, hits=hits)
        if spend is not None:
            spend(self.rule.loss)
        self._train, self._batched = (X_train, entries(y_train, y_train)), batched
        with without_warnings():
            rows, labels = X_holdout if batched else IsolatedRows.of(X_holdout, X_train), entries(y_holdout, y_train)
        self._holdout = Private((rows, labels))
        self._conversation: ThresholdoutRun = self.rule.open(range(len(X_train)), Private(range(len(X_holdout))))

    @property
    def loss(self) -> Loss:
        """What all scores together cost one record of the holdout."""
        return self.rule.loss

    @property
    def left(self) -> int:
        """How often the holdout may still tell its own score."""
        return self._conversation.left

    def score(self, estimator: Any, metric: str | Metric = "accuracy") -> HoldoutAnswer:
        """The score of a fitted model, and where it is from."""
        told, way = _metric(metric), _all_at_once if self._batched else _one_by_one
        train = self._trained(estimator, told)
        return self._conversation.values(train, self._holdout.map(lambda pair: way(estimator, *pair, told)))

    def _trained(self, estimator: Any, metric: Metric) -> list[Any]:
        """The training data is public: all at once where that works, and a predictor that wants more than one row is told so."""
        X, labels = self._train
        together, rows = _all_at_once(estimator, X, labels, metric), IsolatedRows.of(X, X)
        if all(value is None for value in together):
            return _one_by_one(estimator, rows, labels, metric)
        few = [place for place, value in enumerate(together) if value is not None][:_FEW]
        alone = _one_by_one(estimator, [rows[place] for place in few], [labels[place] for place in few], metric)
        if not self._batched and all(value is None for value in alone):
            raise Invalid("predict works on the training data, but not on one row of it: let it, or vouch for it with batched=True")
        return together

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


def _one_by_one(estimator: Any, rows: IsolatedRows | list[Any], labels: list[Any], metric: Metric) -> list[Any]:
    """The value of each row; nothing of what fails is told, not even that it failed."""
    with without_warnings():
        return [value_or_none(lambda i: metric(estimator.predict(rows[i])[0], labels[i]), place) for place in range(len(labels))]


def _all_at_once(estimator: Any, X: Any, labels: list[Any], metric: Metric) -> list[Any]:
    """The same in one call. Where it fails all fail: to go on one by one would be another road for all because of one."""
    with without_warnings():
        predicted = value_or_none(lambda: list(estimator.predict(X)))
        if predicted is None or len(predicted) != len(labels):
            return [None] * len(labels)
        return [value_or_none(metric, told, label) for told, label in zip(predicted, labels, strict=True)]
