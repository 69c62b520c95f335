"""The inverse sensitivity mechanism: the fewer records must change to make a value the answer, the likelier it is."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.exponential import exponential_error
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.noise import choice
from discreet.noise.bits import Bits
from discreet.noise.refine import Integers
from discreet.noise.uniform import uniform

_MOST_CHANGES = 2**22
_NEVER = 45  # all values beyond `changes` together have probability at most e^(−45)


@final
@frozen(kw_only=True)
class InverseSensitivity(Mechanism[float]):
    """Choose a value with a probability that falls by e^(−ε/2) for each record that must change to make it the statistic.

    Theorem (Asi & Duchi 2020).
        len(z) = the least k such that k changes can bring the statistic to z changes by at most 1 between neighbours, and so does its
        minimum with a constant. The exponential mechanism with the score −len is ε-DP, with log-ratios of range at most ε. It is
        instance-optimal, up to constants, in the sense of that paper. `Quantile` is the related mechanism that scores by ranks.

    Accuracy.
        `error` is in records: with this confidence that many changes can bring the statistic to the answer; for the median, the answer is
        exact for data in which at most that many records were changed.

    >>> middle = InverseSensitivity(epsilon=1, statistic=Robust.trimmed_mean(0.1, lower=0, upper=1000))
    >>> 495 < middle.release(list(range(1001)) * 5) < 505
    True
    >>> middle.error(0.95)
    44.0
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    statistic: Robust

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.statistic, Robust):
            raise Invalid("statistic must be a Robust, such as Robust.median(lower=0, upper=100)")
        if self.changes > _MOST_CHANGES:
            raise Invalid("epsilon is too small for this statistic: give a larger one")

    @property
    def loss(self) -> Loss:
        return leaves.BoundedRange(self.epsilon)

    @property
    def _candidates(self) -> int:
        return self.statistic.most - self.statistic.least + 1

    @property
    def changes(self) -> int:
        """Values that need more than this many changes have equal scores."""
        return math.ceil(2 * (math.log(self._candidates) + _NEVER) / float(self.epsilon))

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return float(math.ceil(exponential_error(self.epsilon / 2, exact.confidence_level(confidence), self._candidates)))

    def check(self, answer: Any) -> None:
        self.statistic.check(answer)

    def shells(self, answer: Any) -> tuple[Integers, Integers, Integers]:
        """All values in pieces of equal score: the scores, the start of each piece, and its number of values."""
        found = self.statistic.local(answer, self.changes)
        low, high = found.low[: self.changes], found.high[: self.changes]
        # the value itself; then the values below and above it that one more change adds; last the values beyond all changes
        ends = np.append(low[1:], self.statistic.least), np.append(high[1:], self.statistic.most)
        changed = np.arange(1, self.changes + 1)
        scores = -np.concatenate([[0], changed, changed])
        return scores, np.concatenate([[found.value], ends[0], high + 1]), np.concatenate([[1], low - ends[0], ends[1] - high])

    def sample(self, answer: Any, bits: Bits) -> float:
        scores, starts, sizes = self.shells(answer)
        shell = choice.best(scores, self.epsilon / 2, "gumbel", bits, weights=sizes)[0]
        return self.statistic.to_value(int(starts[shell]) + uniform(int(sizes[shell]), bits))
