"""Local randomizers: each report names a set of choices, the true one more often than any other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from fractions import Fraction
from math import comb
from typing import Literal, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.exact import Ball, ball
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.noise.bernoulli import below, threshold
from discreet.noise.bits import Bits
from discreet.noise.refine import Integers
from discreet.noise.uniform import uniforms

Name = Literal["randomized response", "subset", "unary"]
Reports = NDArray[np.bool_]  # one row per person: which choices the report names

_CELLS = 1 << 20  # coins drawn at a time


class LocalRandomizer(ABC):
    """A distribution of reports for each of k choices; a report is a set of choices."""

    epsilon: Fraction
    k: int

    @property
    @abstractmethod
    def name(self) -> Name:
        """The method's name."""

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """The loss of one report for its sender; any two choices are neighbours."""

    @abstractmethod
    def probabilities(self) -> tuple[Ball, Ball]:
        """The probabilities that a report names the true choice, and that it names a given other choice."""

    @abstractmethod
    def mass(self, true: int, report: Collection[int]) -> Ball:
        """The probability of a report, given as a set of choices."""

    @abstractmethod
    def draw(self, true: Integers, bits: Bits) -> Reports:
        """Randomise each person's choice."""

    @property
    @abstractmethod
    def named(self) -> int | None:
        """The number of choices each report names, if it is fixed."""


@final
@frozen
class SubsetSelection(LocalRandomizer):
    """Name d choices: the true one and d − 1 others with probability d·e^ε/(d·e^ε + k − d), otherwise d others, all uniformly.

    Theorem (Wang, Huang, Wang, Nie, Xiao, Yang, Li & Qiao 2016; Ye & Barg 2018).
        Every report that names the true choice has the same probability, e^ε times that of every other report: it is ε-DP. With d near
        k/(e^ε + 1) no other randomizer has a smaller error, up to lower order. With d = 1 it is randomised response. The loss between two
        choices is ε where the report names only the first, −ε where it names only the second, else 0. The first has probability p·(k −
        d)/(k − 1) = e^ε/w for p as above and w = (k − 1)·(e^ε/(k − d) + 1/d), and the second e^(−ε) times that: `Response`.
    """

    epsilon: Fraction = field(repr=str)
    k: int
    d: int

    @property
    def name(self) -> Name:
        return "randomized response" if self.d == 1 else "subset"

    @property
    def loss(self) -> Loss:
        if self.d == 1:
            return leaves.RandomizedResponseLoss(self.epsilon, self.k)
        return leaves.Response(self.epsilon, Fraction(self.k - 1, self.k - self.d), Fraction(self.k - 1, self.d))

    @property
    def named(self) -> int:
        return self.d

    def _truth(self) -> Ball:
        return 1 / (1 + ball(Fraction(self.k - self.d, self.d)) * (-ball(self.epsilon)).exp())

    def probabilities(self) -> tuple[Ball, Ball]:
        p = self._truth()
        return p, (self.d - p) / (self.k - 1)  # a report names d choices, p of them true on average

    def mass(self, true: int, report: Collection[int]) -> Ball:
        if len(set(report)) != self.d:
            return ball(0)
        p = self._truth()
        return p / comb(self.k - 1, self.d - 1) if true in report else (1 - p) / comb(self.k - 1, self.d)

    def draw(self, true: Integers, bits: Bits) -> Reports:
        reports = np.zeros((len(true), self.k), np.bool_)
        rows = max(1, _CELLS // self.k)
        for start in range(0, len(true), rows):
            self._fill(true[start : start + rows], reports[start : start + rows], bits)
        return reports

    def _fill(self, true: Integers, reports: Reports, bits: Bits) -> None:
        everyone = np.arange(len(true))
        is_true = below(bits.words(len(true)), np.full(len(true), threshold(self._truth), np.uint64), lambda _: self._truth(), bits)
        others = (true[:, None] + np.arange(1, self.k)) % self.k
        for place in range(self.d):  # the first d steps of a Fisher–Yates shuffle
            swap = place + uniforms(self.k - 1 - place, len(true), bits)
            others[everyone, place], others[everyone, swap] = others[everyone, swap], others[everyone, place]
            reports[everyone, others[:, place]] = True
        reports[everyone[is_true], others[is_true, self.d - 1]] = False  # the true choice replaces the last one
        reports[everyone[is_true], true[is_true]] = True


@final
@frozen
class UnaryEncoding(LocalRandomizer):
    """Name the true choice with probability 1/2, and each other choice with probability 1/(e^ε + 1), independently.

    Theorem (Wang, Blocki, Li & Jha 2017, optimised unary encoding).
        Two choices differ in two of the k coins. Their ratios are at most (1/2)/(1/(e^ε + 1)) and (1 − 1/(e^ε + 1))/(1/2), with the product
        e^ε: it is ε-DP. Of all such coins these have the least variance for rare choices, 4e^ε/(n(e^ε − 1)²). The loss between two choices
        is ±ε where the report names exactly one of the two, with probabilities e^ε/w and 1/w for w = 2(e^ε + 1), else 0: `Response`.
    """

    epsilon: Fraction = field(repr=str)
    k: int

    @property
    def name(self) -> Name:
        return "unary"

    @property
    def loss(self) -> Loss:
        return leaves.Response(self.epsilon, 2, 2)

    @property
    def named(self) -> None:
        return None

    def _other(self) -> Ball:
        return 1 / (1 + ball(self.epsilon).exp())

    def probabilities(self) -> tuple[Ball, Ball]:
        return ball(Fraction(1, 2)), self._other()

    def mass(self, true: int, report: Collection[int]) -> Ball:
        wrong = len(set(report) - {true})
        q = self._other()
        return ball(Fraction(1, 2)) * q**wrong * (1 - q) ** (self.k - 1 - wrong)

    def draw(self, true: Integers, bits: Bits) -> Reports:
        reports = np.empty((len(true), self.k), np.bool_)
        rows, floor = max(1, _CELLS // self.k), threshold(self._other)
        for start in range(0, len(true), rows):
            part = true[start : start + rows]
            size = len(part) * self.k
            coins = below(bits.words(size), np.full(size, floor, np.uint64), lambda _: self._other(), bits)
            reports[start : start + rows] = coins.reshape(-1, self.k)
            reports[start + np.arange(len(part)), part] = bits.words(len(part)) < np.uint64(1 << 63)
        return reports


def worst_variance(randomizer: LocalRandomizer) -> float:
    """The largest contribution of one report to the variance of an estimated share; it is public, so floats suffice."""
    with exact.precision(128):
        p, q = randomizer.probabilities()
        return max(float(exact.upper(x * (1 - x) / (p - q) ** 2)) for x in (p, q))


def total_variance(randomizer: LocalRandomizer) -> float:
    """The contribution of one report to the summed variances of all k shares; it does not depend on the true shares."""
    with exact.precision(128):
        p, q = randomizer.probabilities()
        return float(exact.upper((p * (1 - p) + (randomizer.k - 1) * q * (1 - q)) / (p - q) ** 2))


def best_randomizer(epsilon: Fraction, k: int, method: str) -> LocalRandomizer:
    """The randomizer of this name, with the best subset size; for "auto", the one with the least total variance."""
    middle = exact.bounds(lambda: k / (1 + ball(epsilon).exp()))[0]
    sizes = sorted({min(max(int(middle) + more, 1), k - 1) for more in (0, 1)})
    subset = min((SubsetSelection(epsilon, k, d) for d in sizes), key=total_variance)
    randomizers: dict[str, LocalRandomizer] = {
        "randomized response": SubsetSelection(epsilon, k, 1),
        "subset": subset,
        "unary": UnaryEncoding(epsilon, k),
    }
    return min(randomizers.values(), key=total_variance) if method == "auto" else randomizers[method]
