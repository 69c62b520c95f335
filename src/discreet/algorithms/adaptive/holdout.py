"""A reusable holdout for model selection: a scorer that may be called any number of times."""

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

Metric = Callable[[Any, Any], float]  # (prediction, label) → value in [0, 1]
_FEW = 20  # training rows to try one by one before the holdout is used


def _agrees(prediction: Any, label: Any) -> bool:
    return bool(prediction == label)


@final
class ReusableHoldout:
    """Score models on a holdout through `Thresholdout`, so that selecting among many models does not overfit to it.

    A score is computed on the training data as long as training and holdout scores agree within about `threshold`. Otherwise it is the
    holdout's score with noise, at most `hits` times. An estimator needs only `predict`. `spend` is called with the loss before anything is
    scored; a ledger's spend function is an example.

    `predict` receives the holdout's rows one at a time, each in a form that depends on that row alone (`rows.IsolatedRows`). Even a
    predictor that treats rows independently may sum in a different order when there are more of them; the last bit of a score would then
    depend on all records. A row on which `predict` fails scores 0. One call per record is slow.

    Assumes. `predict` keeps no state between calls. `batched=True` passes all rows in one call, and you then assert more: no row, whatever
    its contents, makes the call fail or changes any bit of the prediction for another row. Matrix products do not guarantee this; trees and
    lookup tables do. If a batched call fails, all records score 0.

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
            raise Invalid("give one label per row, and at least one training row: X_train and y_train, X_holdout and y_holdout must match")
        if batched is not True and batched is not False:
            raise Invalid("batched must be True or False; pass True only if predict meets the conditions in help(ReusableHoldout)")
        self.rule = Thresholdout(size=len(X_holdout), threshold=threshold, sigma=sigma, epsilon=epsilon, hits=hits)
        if spend is not None:
            spend(self.rule.loss)
        self._train, self._batched = (X_train, entries(y_train, y_train)), batched
        with without_warnings():
            rows, labels = X_holdout if batched else IsolatedRows.of(X_holdout, X_train), entries(y_holdout, y_train)
        self._holdout = Private((rows, labels))
        self._run: ThresholdoutRun = self.rule.open(range(len(X_train)), Private(range(len(X_holdout))))

    @property
    def loss(self) -> Loss:
        """The loss of all scores together for one record of the holdout."""
        return self.rule.loss

    @property
    def left(self) -> int:
        """The number of hits left: how often the holdout may still release its own score."""
        return self._run.left

    def score(self, estimator: Any, metric: str | Metric = "accuracy") -> HoldoutAnswer:
        """The score of a fitted model, and whether it is from the training data or the holdout."""
        read, values = _metric(metric), _all_at_once if self._batched else _one_by_one
        train = self._trained(estimator, read)
        return self._run.values(train, self._holdout.map(lambda pair: values(estimator, *pair, read)))

    def _trained(self, estimator: Any, metric: Metric) -> list[Any]:
        """The training rows' values, in one call if possible. They are public, so a predictor that rejects single rows is reported."""
        X, labels = self._train
        together, rows = _all_at_once(estimator, X, labels, metric), IsolatedRows.of(X, X)
        if all(value is None for value in together):
            return _one_by_one(estimator, rows, labels, metric)
        few = [place for place, value in enumerate(together) if value is not None][:_FEW]
        alone = _one_by_one(estimator, [rows[place] for place in few], [labels[place] for place in few], metric)
        if not self._batched and all(value is None for value in alone):
            raise Invalid("predict works on the training data but fails on a single row: make it accept one row, or pass batched=True")
        return together

    def scorer(self, metric: str | Metric = "accuracy") -> Callable[..., float]:
        """A scikit-learn scorer, called as `scorer(estimator, X, y)`. It scores on the holdout and ignores X and y.

        `metric` is "accuracy", or a function of one prediction and its label with values in [0, 1], where larger is better.
        """
        read = _metric(metric)

        def score(estimator: Any, X: Any = None, y: Any = None) -> float:
            return self.score(estimator, read).value

        return score

    def error(self, confidence: Number = 0.95, models: int = 1) -> float:
        """The largest distance of any of `models` scores from the score in the population."""
        return population_error(self.rule, self.rule.size, models, confidence)

    def __repr__(self) -> str:
        run = self._run
        return (
            f"ReusableHoldout({self.rule.size:,} records; {run.left} of {self.rule.hits} hits left; {run.asked:,} models scored; "
            f"ε = {float(self.rule.epsilon):.3g})"
        )


def _metric(metric: str | Metric) -> Metric:
    if metric == "accuracy":
        return _agrees
    if not callable(metric):
        raise Invalid('metric must be "accuracy" or a function with values in [0, 1], such as lambda predicted, label: predicted == label')
    return metric


def _one_by_one(estimator: Any, rows: IsolatedRows | list[Any], labels: list[Any], metric: Metric) -> list[Any]:
    """The value of each row, or None where it fails; failures raise and print nothing."""
    with without_warnings():
        return [value_or_none(lambda i: metric(estimator.predict(rows[i])[0], labels[i]), place) for place in range(len(labels))]


def _all_at_once(estimator: Any, X: Any, labels: list[Any], metric: Metric) -> list[Any]:
    """The same in one call. If the call fails, all rows fail: a fallback to single rows would let one row change all the others' values."""
    with without_warnings():
        predicted = value_or_none(lambda: list(estimator.predict(X)))
        if predicted is None or len(predicted) != len(labels):
            return [None] * len(labels)
        return [value_or_none(metric, prediction, label) for prediction, label in zip(predicted, labels, strict=True)]
