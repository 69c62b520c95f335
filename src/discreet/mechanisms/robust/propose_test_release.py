"""Propose a bound on the sensitivity, test privately that the data are far from breaking it, release with noise for that bound."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen

from discreet import parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.groups import Groups, check_groups, read_groups, selected_labels
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.noise.bits import Bits


@final
@frozen(kw_only=True)
class StabilityTest(Mechanism[bool]):
    """Test whether data are far from a bad data set; pass with the largest probability that the distance allows.

    The answer is a distance in records: an integer that changes by at most 1 between neighbours and is 0 for bad data.

    Theorem (Desfontaines, Voss, Gipson & Mandayam 2022).
        Passing at distance d with the probability πd at which `PartitionSelection` releases a group of d is (ε, δ)-DP; π₀ = 0, so bad data
        never pass, and π₁ = δ. No (ε, δ)-DP test with π₀ = 0 passes any data with larger probability. (Comparing the distance plus
        Laplace noise with ln(1/δ)/ε, as textbooks do, passes less often from d = 2 on if ε ≤ 1, and bad data sometimes pass.)

    Accuracy.
        `chance(d)` is πd, and `error(confidence)` the distance from which on data pass with at least this confidence.

    >>> test = StabilityTest(epsilon=1, delta=1e-6)
    >>> test.chance(0), test.chance(1), test.error(0.5), test.release(1000)
    (0.0, 1e-06, 14.0, True)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    delta: Fraction = field(converter=parameter.some_delta, repr=str)

    @property
    def _curve(self) -> PartitionSelection:
        return PartitionSelection(epsilon=self.epsilon, delta=self.delta)

    @property
    def loss(self) -> Loss:
        return leaves.Approx(self.epsilon, self.delta)

    def chance(self, distance: int) -> float:
        """The probability that data at this distance pass."""
        return self._curve.chance(distance)

    @property
    def longest(self) -> int:
        """The distance from which on data always pass."""
        return int(self._curve.error(1 - Fraction(1, 2**200)))

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self._curve.error(confidence)

    def check(self, answer: Any) -> None:
        answers.check_whole(answer, "the distance")

    def sample(self, answer: Any, bits: Bits) -> bool:
        found = answers.exactly(answer)  # a value that is not a number is distance 0
        distance = 0 if found is None else min(max(math.floor(found), 0), answers.LIMIT)
        return bool(self._curve.decide(np.array([distance], np.int64), bits)[0])


@final
@frozen(kw_only=True)
class ProposeTestRelease(Mechanism[float | None]):
    """Release with noise for a proposed bound on the local sensitivity, if the data pass a test that they are far from exceeding it.

    With a `statistic` the input is records; without one it is a pair (value, distance): the number of records that must change until the
    local sensitivity exceeds the bound, an integer that changes by at most 1 between neighbours and is 0 where it is exceeded. The release
    is None if the test does not pass.

    Theorem (Dwork & Lei 2009; with the optimal test of `StabilityTest`).
        The test is (ε₁, δ)-DP and the noise is Laplace(bound/ε₂): together (ε₁ + ε₂, δ)-DP.

    Proof. If the local sensitivity of both neighbours is within the bound, this is the composition of the test and of Laplace noise. Else
        one of them has distance 0 and never passes, and the other has distance 1 at most and passes with probability π₁ = δ at most: their
        laws are within δ of each other.

    Accuracy.
        `error` is that of the noise, given that the test passes; `chance(distance)` is the probability that it does.

    >>> middle = ProposeTestRelease(epsilon=1, delta=1e-6, bound=0.1, statistic=Robust.median(lower=0, upper=1000))
    >>> 299 < middle.release([300 + x / 1000 for x in range(10_000)]) < 311
    True
    >>> middle.release([0] * 50 + [1000] * 50) is None    # one record changes this median by 1000
    True
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    delta: Fraction = field(converter=parameter.some_delta, repr=str)
    bound: Fraction = field(converter=parameter.sensitivity, repr=str)
    statistic: Robust | None = field(default=None)
    share: Fraction = field(default=Fraction(1, 2), converter=parameter.share, repr=str)

    @property
    def test(self) -> StabilityTest:
        """The test, with its share of ε."""
        return StabilityTest(epsilon=self.epsilon * self.share, delta=self.delta)

    @property
    def noise(self) -> Laplace:
        """The noise, with the rest."""
        return Laplace(epsilon=self.epsilon * (1 - self.share), sensitivity=self.bound, whole=False)

    @property
    def loss(self) -> Loss:
        # one guarantee for the whole: for a group the two parts do not compose, as the local sensitivity may exceed the bound
        return leaves.Approx(self.epsilon, self.delta)

    def chance(self, distance: int) -> float:
        """The probability that the test passes at this distance."""
        return self.test.chance(distance)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self.noise.error(confidence, size)

    def check(self, answer: Any) -> None:
        if self.statistic is not None:
            self.statistic.check(answer)
        else:
            value, distance = _pair(answer)
            answers.check_numbers(value, "the value")
            self.test.check(distance)

    def sample(self, answer: Any, bits: Bits) -> float | None:
        value, distance = _pair(answer) if self.statistic is None else self._tested(self.statistic, answer)
        if not self.test.sample(distance, bits):
            return None
        noisy = float(self.noise.sample(answers.exactly(value) or Fraction(0), bits))
        return (
            noisy if self.statistic is None else min(max(noisy, self.statistic.to_value(0)), self.statistic.to_value(self.statistic.most))
        )

    def _tested(self, statistic: Robust, records: Any) -> tuple[Fraction, int]:
        found = statistic.local(records, self.test.longest)
        within = int(np.searchsorted(found.at_distance, int(self.bound / statistic.unit), side="right"))
        return statistic.origin + statistic.unit * found.value, within


def _pair(answer: Any) -> tuple[Any, Any]:
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise Invalid("give the answer as a pair: the value, and the distance to data whose local sensitivity exceeds the bound")
    return answer


@final
@frozen(kw_only=True)
class StableMode(Mechanism[Any]):
    """Release the most frequent label exactly, if many records would have to change to make another one the most frequent; else None.

    The input is groups and their sizes, as for `PartitionSelection`; a unit is in one group. No list of possible labels is needed.

    Theorem (Thakurta & Smith 2013, with the optimal test).
        Let g be the lead of the largest group over the second, and let g (or ⌈g/2⌉, if records are replaced) be the distance that is
        tested. Where two neighbours have different winners it is at most 1 in both: either is released with probability at most δ, so the
        laws are within δ. Everywhere else they agree on the winner, and whether it is released is (ε, δ)-DP.

    Accuracy.
        `error(confidence)` is the lead from which on the winner is released with at least this confidence.

    >>> winner = StableMode(epsilon=1, delta=1e-6)
    >>> winner.release({"flu": 900, "asthma": 250}), winner.release({"flu": 251, "asthma": 250}), winner.error()
    ('flu', None, 16.0)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    delta: Fraction = field(converter=parameter.some_delta, repr=str)
    adjacency: Adjacency = field(default="add/remove")

    def __attrs_post_init__(self) -> None:
        is_replacement(self.adjacency)

    @property
    def test(self) -> StabilityTest:
        """The test."""
        return StabilityTest(epsilon=self.epsilon, delta=self.delta)

    @property
    def loss(self) -> Loss:
        return self.test.loss

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        distance = self.test.error(confidence)
        return 2 * distance - 1 if is_replacement(self.adjacency) else distance

    def check(self, answer: Any) -> None:
        check_groups(answer)

    def sample(self, answer: Groups, bits: Bits) -> Any:
        labels, sizes = read_groups(answer)
        ordered = np.sort(np.concatenate([[0, 0], sizes]))
        lead = int(ordered[-1] - ordered[-2])
        distance = (lead + 1) // 2 if is_replacement(self.adjacency) else lead
        if not self.test.sample(distance, bits):
            return None
        return selected_labels(labels, sizes == ordered[-1])[0]
