"""Thresholdout: a holdout that may be asked again and again, because it speaks up only where the training data misleads."""

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

_STEPS = 2**32  # a record's value in [0, 1] is a whole number of 1/_STEPS
_EACH = 3  # a round costs 3/(size·σ): two parts for the test, one for the value


class HoldoutAnswer(NamedTuple):
    """An estimate of a mean, and whether it is that of the training data or a noisy one of the holdout."""

    value: float
    source: Literal["train", "holdout"]


@final
@frozen(kw_only=True, init=False)
class Thresholdout:
    """Answer questions about means with the training data's answer, unless the holdout's differs by more than about `threshold`.

    A question is a function with values in [0, 1]; its answer is its mean over the records. Where the two sets agree, the answer is the
    training data's and nothing of the holdout is told. Where they do not, the holdout's mean is told with noise of scale `sigma`, and one
    of `hits` is used up. `size` is how many records the holdout has, which is public. Give `sigma`, or the whole `epsilon`.

    Theorem (Dwork, Feldman, Hardt, Pitassi, Reingold & Roth 2015).
        Replacing one record of the holdout moves its mean, and so |train − holdout|, by at most 1/size. Each hit ends a run of the sparse
        vector technique with one hit, of ε = 2/(size·σ), and draws Laplace noise of scale σ, of ε = 1/(size·σ). So the whole conversation
        is ε-DP in the holdout for ε = 3·hits/(size·σ), however many questions are asked, and `loss` has its parts, which compose better.

    Accuracy.
        With probability `confidence` no answer, of however many, is further than `error` from the holdout's mean. An answer of the training
        data is told only if |train − holdout| < T + c + ρ, where ρ is the threshold's exponential noise and c its recentring; and there are
        at most `hits` many ρ and as many Laplace draws. (False hits waste `hits`: a difference far below T is one with chance
        e^(−(T − difference)/b), b about 1.6σ.) How far it is from the population: `transfer.population_error`.

    Assumes. A question looks at one record at a time and keeps nothing of it.

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
            raise Invalid("give sigma (the scale of the noise) or epsilon (what all hits cost together)")
        scale = parameter.scale(sigma) if sigma is not None else Fraction(_EACH * limit, count) / parameter.some_epsilon(epsilon or 0)
        self.__attrs_init__(size=count, threshold=exact.positive(threshold, "threshold"), sigma=scale, hits=limit)

    @property
    def test(self) -> SparseVector:
        """One round's test."""
        return SparseVector(epsilon=(_EACH - 1) / (self.size * self.sigma), threshold=self.threshold, sensitivity=Fraction(1, self.size))

    @property
    def fresh(self) -> Laplace:
        """The noise of a value that is told."""
        return Laplace(epsilon=1 / (self.size * self.sigma), sensitivity=Fraction(1, self.size), whole=False)

    @property
    def loss(self) -> Loss:
        """What the whole conversation costs one record of the holdout, where records are replaced; it is due when it opens."""
        return self.hits * (self.test.loss + self.fresh.loss)

    @property
    def epsilon(self) -> Fraction:
        """The pure ε of the same."""
        return _EACH * self.hits / (self.size * self.sigma)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """How far an answer may be from the holdout's mean; `size`, the number of questions, does not matter."""
        beta = exact.miss(exact.confidence_level(confidence))
        exact.whole(size, "size")
        threshold, question = map(float, self.test.scales)

        def reach(share: float) -> float:
            silent = float(self.threshold) + question - threshold + threshold * math.log(self.hits / (share * beta))
            told = float(self.sigma) * math.log(self.hits / ((1 - share) * beta)) + float(lattice.step(self.sigma)) / 2
            return max(silent, told) + 1 / _STEPS

        return min(reach(i / 100) for i in range(1, 100))

    def transcripts(self, questions: int) -> float:
        """The logarithm of how many different conversations there can be: which questions were hits, and what was told then."""
        values = round(1 / lattice.step(self.sigma)) + 3
        most = min(self.hits, exact.whole(questions, "questions"))
        return math.log(sum(math.comb(questions, j) * values**j for j in range(most + 1)))

    def open(self, train: Iterable[Any], holdout: Private[Any] | Sequence[Any]) -> ThresholdoutRun:
        """Begin; the whole loss is spent now."""
        if not isinstance(holdout, Private):
            if len(holdout) != self.size:
                raise Invalid("size must be the number of records in the holdout")
            holdout = Private(holdout)
        records = list(train)
        if not records:
            raise Invalid("there are no training records")
        return ThresholdoutRun(self, records, holdout)


@final
class ThresholdoutRun:
    """Questions to one holdout."""

    def __init__(self, rule: Thresholdout, train: Sequence[Any], holdout: Private[Any]) -> None:
        self.rule, self.left, self.asked = rule, rule.hits, 0
        self._train, self._holdout = train, holdout
        self._run: SparseVectorRun | None = None
        self._process, self._lock = os.getpid(), threading.Lock()

    def query(self, phi: Callable[[Any], float]) -> HoldoutAnswer:
        """The mean of a function of a record. Values are clamped to [0, 1]; what is no number, or fails, counts as 0."""
        return self.values(_each(phi, self._train), self._holdout.map(lambda rows: _each(phi, rows)))

    def values(self, train: Sequence[Any], holdout: Private[Any]) -> HoldoutAnswer:
        """The same from each record's value; the caller sees to it that a value depends on its own record alone."""
        if os.getpid() != self._process:  # both copies have the round's noise: each could have its hit
            raise Invalid("this conversation was copied into another process: open one there")
        if not isinstance(holdout, Private) or not len(train):
            raise Invalid("give each training record's value, and each holdout record's inside Private")
        usual = Fraction(_total(train, len(train)), len(train) * _STEPS)
        mean = holdout.map(lambda found: Fraction(_total(found, self.rule.size), self.rule.size * _STEPS))
        with self._lock:
            if not self.left:
                raise BudgetExceeded("this holdout was asked for its own value as often as was allowed: a fresh one is needed")
            self.asked += 1
            run = self._run or self.rule.test.open()
            self._run = None
            self.left -= 1  # if anything goes wrong from here on, noise was drawn: the round is over
            above = run.ask(mean.map(lambda found: abs(found - usual))).above
            if not above:
                self._run, self.left = run, self.left + 1
                return HoldoutAnswer(float(usual), "train")
        noisy = self.rule.fresh.release(mean)
        assert isinstance(noisy, float)
        return HoldoutAnswer(min(max(noisy, 0.0), 1.0), "holdout")

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a conversation cannot be copied: both copies would have the same noise")

    def __repr__(self) -> str:
        return f"ThresholdoutRun({self.left} of {self.rule.hits} hits left; {self.asked:,} questions asked; ε = {float(self.rule.epsilon):.3g})"


def _each(phi: Callable[[Any], float], rows: Iterable[Any]) -> list[Any]:
    with without_warnings():
        return [value_or_none(phi, row) for row in rows]


@contextmanager
def without_warnings() -> Iterator[None]:
    """Let no warning out: it would tell that there is such a record."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def value_or_none(function: Callable[..., Any], *given: Any) -> Any:
    """What a function gives, or None if it fails: an error would tell that there is such a record."""
    try:
        return function(*given)
    except KeyboardInterrupt:  # somebody wants to stop
        raise
    except BaseException:  # also what ends programs: SystemExit, a panic of a library
        return None


def _total(values: Any, most: int) -> int:
    """The sum of at most so many values in [0, 1], each put on the grid by itself, in steps of it; no list of values counts as none."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        found = value_or_none(lambda: np.rint(answers.floats(values, Fraction(0), Fraction(1))[:most] * _STEPS).astype(np.int64).sum())
        return int(found or 0)
    listed = value_or_none(lambda: list(values)[:most]) or []
    return sum(value_or_none(_steps, value) or 0 for value in listed)


def _steps(value: Any) -> int:
    read = answers.exactly(value)
    return 0 if read is None else round(float(min(max(read, Fraction(0)), Fraction(1))) * _STEPS)
