"""A private quantile with an interval: the value, and a guard quantile on each side of it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, final

from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss, compose
from discreet.mechanisms import answer as answers
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.quantile import Quantile, level
from discreet.mechanisms.value_grid import Places, PointGrid
from discreet.noise.bits import Bits

FOR_VALUE, FOR_GUARD = Fraction(1, 2), Fraction(1, 4)  # shares of ε


class Bracketed(NamedTuple):
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float


def _level(q: Number) -> Fraction:
    return level(q, "q")


def _weight(weight: int) -> int:
    return exact.whole(weight, "weight")


def _one(one: int) -> int:
    return exact.whole(one, "one")


@final
@frozen(kw_only=True)
class QuantileInterval(Mechanism[Bracketed]):
    """Release a quantile with an interval that contains the quantile of the data with the stated confidence.

    The input is that of `Quantile`, under add/remove adjacency, with weights of at most `weight` for each unit; a single record has weight
    `one`. The released value is moved into the interval where it lies outside.

    Theorem (Smith 2011; Dwork & Roth 2014, thm 3.16: composition).
        Three `Quantile` mechanisms on the same records, with ε/2 for the value and ε/4 for each guard. A guard's target is the rank
        q·n ∓ r; r is a public constant, so a guard costs as much as any quantile. In all it is ε-DP.

    Accuracy.
        Let r be the error bound of a guard at the confidence 1 − β/2 (plus one record). Some point has the target among its ranks, so with
        probability 1 − β/2 the ranks of the low guard's point begin less than r above q·n − r, that is below q·n − 1. Then it is at most
        the smallest q-quantile by any usual definition (they differ by less than one record), and so for the high guard: with
        probability 1 − β both ends hold, whatever the data. An end is that of all values which are rounded to the guard's point.
        `error` is the value's own, in ranks.

    >>> from discreet.mechanisms.value_grid import ValueGrid
    >>> median = QuantileInterval(epsilon=4, q=Fraction(1, 2), grid=ValueGrid.of(0, 100, 1), confidence=0.95)
    >>> found = median.release(list(range(101)) * 100)
    >>> found.low <= found.value <= found.high, found.high - found.low < 15
    (True, True)
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    q: Fraction = field(converter=_level, repr=str)
    grid: PointGrid = field()
    confidence: Fraction = field(default=Fraction(95, 100), converter=exact.confidence_level, repr=str)
    weight: int = field(default=1, converter=_weight)
    one: int = field(default=1, converter=_one)

    @grid.validator
    def _is_grid(self, _: Any, grid: Any) -> None:
        if not isinstance(grid, PointGrid):
            raise Invalid("grid must be a ValueGrid or a RelativeGrid")

    @property
    def middle(self) -> Quantile:
        """The mechanism of the value."""
        return self._part(self.epsilon * FOR_VALUE, 0)

    @property
    def reach(self) -> int:
        """How many ranks the guards' targets lie from that of the value, in units of weight."""
        guard = self._part(self._each, 0)
        return math.ceil(guard.error((1 + self.confidence) / 2)) + self.one

    @property
    def guards(self) -> tuple[Quantile, Quantile]:
        """The mechanisms of both ends."""
        return self._part(self._each, -self.reach), self._part(self._each, self.reach)

    @property
    def _each(self) -> Fraction:
        return self.epsilon * FOR_GUARD

    def _part(self, epsilon: Fraction, offset: int) -> Quantile:
        return Quantile.on(self.grid, epsilon=epsilon, q=self.q, weight=self.weight, offset=offset)

    @property
    def loss(self) -> Loss:
        return compose(part.loss for part in (self.middle, *self.guards))

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self.middle.error(confidence)

    def check(self, answer: Any) -> None:
        if not isinstance(answer, Places):
            answers.check_records(answer)

    def sample(self, answer: Any, bits: Bits) -> Bracketed:
        places = self.grid.tidy(answer) if isinstance(answer, Places) else self.grid.place(answer)
        value = self.middle.choose(places, bits)
        one, other = (guard.choose(places, bits) for guard in self.guards)
        first, last = min(one, other), max(one, other)
        shown = self.grid.value(min(max(value, first), last))
        return Bracketed(float(shown), float(self.grid.cell(first)[0]), float(self.grid.cell(last)[1]))
