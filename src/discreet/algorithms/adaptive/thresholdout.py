"""Thresholdout: a holdout for any number of adaptive questions, used only where the training data is misleading."""

from __future__ import annotations

import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Literal, NamedTuple, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import BudgetExceeded, Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams.sparse_vector import SparseVector, SparseVectorRun
from discreet.noise import lattice
from discreet.private import Private

_STEPS = 2**32  # values in [0, 1] are fixed-point numbers with this denominator
_EACH = 3  # a round costs ε = 3/(size·σ): two parts for the test, one for the value


class HoldoutAnswer(NamedTuple):
    """An estimate of a mean, and its source: the training data, or the holdout with noise."""

    value: float
    source: Literal["train", "holdout"]


@final
@frozen(kw_only=True, init=False)
class Thresholdout:
    """Answer questions about means from the training data, unless the holdout's mean differs by more than about `threshold`.

    A question is a function with values in [0, 1]; its answer is the mean over the records. Where the two data sets agree, the answer is
    the training data's and reveals nothing of the holdout. Where they differ, the answer is the holdout's mean with noise of scale `sigma`,
    and one of `hits` is used up. `size` is the holdout's number of records, which is public. Give `sigma` or the total `epsilon`.

    Theorem (Dwork, Feldman, Hardt, Pitassi, Reingold & Roth 2015).
        Replacing one record of the holdout changes its mean, and so |train − holdout|, by at most 1/size. Each hit ends one run of the
        sparse vector technique with one hit, of ε = 2/(size·σ), and draws Laplace noise of scale σ, of ε = 1/(size·σ). So the whole run is
        ε-DP in the holdout for ε = 3·hits/(size·σ), for any number of questions; `loss` holds the parts, which compose better.

    Accuracy.
        With probability `confidence` no answer, of any number, is further than `error` from the holdout's mean. An answer comes from the
        training data only if |train − holdout| < T + c + ρ, where ρ is the threshold's exponential noise and c its recentring; there are at
        most `hits` draws of ρ and as many Laplace draws. (False hits waste `hits`: a difference far below T is a hit with probability
        e^(−(T − difference)/b), b about 1.6σ.) For the distance from the population see `transfer.population_error`.

    Assumes. A question looks at one record at a time and keeps no state.

    >>> rule = Thresholdout(size=10_000, threshold=0.1, sigma=0.005, hits=3)
    >>> rule.epsilon, round(rule.error(0.95), 3)
    (Fraction(9, 50), 0.128)
    >>> run = rule.open([0, 1] * 500, Private([0, 1] * 5000))
    >>> run.query(lambda x: x)
    HoldoutAnswer(value=0.5, source='train')
    """

    size: int
    threshold: Fraction = field(repr=str)
    sigma: Fraction = field(repr=str)
    hits: int

    def __init__(
        self, *, size: int, threshold: Number = Fraction(1, 25), sigma: Number | None = None, epsilon: Number | None = None, hits: int = 1
    ) -> None:
        count, limit = exact.whole(size, "size"), parameter.hits(hits)
        if (sigma is None) == (epsilon is None):
            raise Invalid("give either sigma= (the noise scale) or epsilon= (the total of all hits)")
        scale = parameter.scale(sigma) if sigma is not None else Fraction(_EACH * limit, count) / parameter.some_epsilon(epsilon or 0)
        self.__attrs_init__(size=count, threshold=exact.positive(threshold, "threshold"), sigma=scale, hits=limit)

    @property
    def test(self) -> SparseVector:
        """The threshold test of one round."""
        return SparseVector(epsilon=(_EACH - 1) / (self.size * self.sigma), threshold=self.threshold, sensitivity=Fraction(1, self.size))

    @property
    def fresh(self) -> Laplace:
        """The noise of a released holdout mean."""
        return Laplace(epsilon=1 / (self.size * self.sigma), sensitivity=Fraction(1, self.size), whole=False)

    @property
    def loss(self) -> Loss:
        """The loss of the whole run for one record of the holdout, under replacement of records; it is charged when the run opens."""
        return self.hits * (self.test.loss + self.fresh.loss)

    @property
    def epsilon(self) -> Fraction:
        """The same as pure ε."""
        return _EACH * self.hits / (self.size * self.sigma)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """The largest distance of an answer from the holdout's mean; it does not depend on `size`, the number of questions."""
        beta = exact.miss(exact.confidence_level(confidence))
        exact.whole(size, "size")
        threshold, question = map(float, self.test.scales)

        def width(share: float) -> float:
            from_train = float(self.threshold) + question - threshold + threshold * math.log(self.hits / (share * beta))
            from_holdout = float(self.sigma) * math.log(self.hits / ((1 - share) * beta)) + float(lattice.step(self.sigma)) / 2
            return max(from_train, from_holdout) + 1 / _STEPS

        return min(width(i / 100) for i in range(1, 100))

    def transcripts(self, questions: int) -> float:
        """The logarithm of the number of possible transcripts: which questions were hits, and the value released at each hit."""
        values = round(1 / lattice.step(self.sigma)) + 3
        most = min(self.hits, exact.whole(questions, "questions"))
        return math.log(sum(math.comb(questions, j) * values**j for j in range(most + 1)))

    def open(self, train: Iterable[Any], holdout: Private[Any] | Sequence[Any]) -> ThresholdoutRun:
        """Start a run; the whole loss is spent now."""
        if not isinstance(holdout, Private):
            if len(holdout) != self.size:
                raise Invalid("size must equal the number of records in the holdout: pass size=len(holdout)")
            holdout = Private(holdout)
        records = list(train)
        if not records:
            raise Invalid("the training data is empty: give at least one record")
        return ThresholdoutRun(self, records, holdout)


@final
class ThresholdoutRun:
    """A stream of questions to one holdout."""

    def __init__(self, rule: Thresholdout, train: Sequence[Any], holdout: Private[Any]) -> None:
        self.rule, self.left, self.asked = rule, rule.hits, 0
        self._train, self._holdout = train, holdout
        self._run: SparseVectorRun | None = None
        self._process, self._lock = os.getpid(), threading.Lock()

    def query(self, phi: Callable[[Any], float]) -> HoldoutAnswer:
        """The mean of a function of a record. Values are clamped to [0, 1]; a failure or a value that is not a number is read as 0."""
        return self.values(_each(phi, self._train), self._holdout.map(lambda rows: _each(phi, rows)))

    def values(self, train: Sequence[Any], holdout: Private[Any]) -> HoldoutAnswer:
        """The same from precomputed values; the caller ensures that each value depends on its own record only."""
        if os.getpid() != self._process:  # both copies would hold the same round's noise, and each could have a hit
            raise Invalid("a run cannot continue in another process: call open() there")
        if not isinstance(holdout, Private) or not len(train):
            raise Invalid("give one value per training record, and the holdout's values as Private(values)")
        trained = Fraction(_total(train, len(train)), len(train) * _STEPS)
        mean = holdout.map(lambda values: Fraction(_total(values, self.rule.size), self.rule.size * _STEPS))
        with self._lock:
            if not self.left:
                raise BudgetExceeded("all hits of this holdout are used up: continue with a fresh holdout")
            self.asked += 1
            run = self._run or self.rule.test.open()
            self._run = None
            self.left -= 1  # noise is drawn from here on: an interruption ends the round
            above = run.ask(mean.map(lambda exact_mean: abs(exact_mean - trained))).above
            if not above:
                self._run, self.left = run, self.left + 1
                return HoldoutAnswer(float(trained), "train")
        noisy = self.rule.fresh.release(mean)
        assert isinstance(noisy, float)
        return HoldoutAnswer(min(max(noisy, 0.0), 1.0), "holdout")

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a run cannot be copied, because both copies would hold the same noise: call open() for another run")

    def __repr__(self) -> str:
        return f"ThresholdoutRun({self.left} of {self.rule.hits} hits left; {self.asked:,} questions; ε = {float(self.rule.epsilon):.3g})"


def _each(phi: Callable[[Any], float], rows: Iterable[Any]) -> list[Any]:
    with without_warnings():
        return [value_or_none(phi, row) for row in rows]


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress warnings: one would reveal that such a record exists."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def value_or_none(function: Callable[..., Any], *arguments: Any) -> Any:
    """A function's value, or None if it fails: an error would reveal that such a record exists."""
    try:
        return function(*arguments)
    except KeyboardInterrupt:  # the user wants to stop
        raise
    except BaseException:  # including SystemExit and a library's panic
        return None


def _total(values: Any, most: int) -> int:
    """The sum of at most `most` values in [0, 1], each rounded to the grid, in grid steps; anything but a list of values sums to 0."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        found = value_or_none(lambda: np.rint(answers.floats(values, Fraction(0), Fraction(1))[:most] * _STEPS).astype(np.int64).sum())
        return int(found or 0)
    listed = value_or_none(lambda: list(values)[:most]) or []
    return sum(value_or_none(_steps, value) or 0 for value in listed)


def _steps(value: Any) -> int:
    read = answers.exactly(value)
    return 0 if read is None else round(float(min(max(read, Fraction(0)), Fraction(1))) * _STEPS)
