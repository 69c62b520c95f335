"""MEDIAN and QUANTILE, and MIN and MAX as outer quantiles."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import field, frozen

from discreet.errors import Refused
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.query.relation.expr import Expr
from discreet.query.relation.field import Field, Interval
from discreet.query.statistics.statistic import Argument, Selected, Spelled
from discreet.tables.kind import Kind, Value

OUTERMOST = Fraction(1, 100)  # MIN and MAX are answered as this quantile, and as one minus it
_POINTS = 16  # the grid has up to 2^_POINTS points
_FINEST = 10**6


@final
@frozen
class Percentile(Selected):
    """The value below which a share of the rows lies, selected on a grid between the bounds."""

    expr: Expr
    q: Fraction = field()

    spellings = {
        "QUANTILE": {},
        "APPROX_QUANTILE": {},
        "PERCENTILE_CONT": {},
        "PERCENTILE_DISC": {},
        "MEDIAN": {"q": Fraction(1, 2)},
        "MIN": {"q": OUTERMOST},
        "MAX": {"q": 1 - OUTERMOST},
    }
    methods = {"quantile": "QUANTILE", "median": "MEDIAN", "min": "MIN", "max": "MAX"}
    arguments = (Argument.NUMBER, Argument.SHARE)
    drawn = "point"
    per_unit = {"MIN": "min", "MAX": "max"}
    votes = False

    def __attrs_post_init__(self) -> None:
        if not 0 < self.q < 1 or self.q.denominator > _FINEST:
            raise Refused("a quantile's share must lie between 0 and 1, with at most six decimals: use 0.9")

    def called(self, spelling: str) -> str:
        return self.per_unit.get(spelling, "median" if self.q == Fraction(1, 2) else "quantile")

    def describe(self, spelled: Spelled) -> str:
        return f"the {float(self.q * 100):g} % quantile of {spelled(self.expr)}"

    def reading_note(self, spelling: str) -> str | None:
        if spelling not in self.per_unit:
            return None
        return f"{spelling} is answered as the {float(self.q):g} quantile: the extreme value belongs to one person"

    def loss(self, epsilon: Fraction) -> Loss:
        return leaves.BoundedRange(epsilon)

    def mechanism(self, epsilon: Fraction, weight: int, field: Field, interval: Interval | None, adjacency: Adjacency) -> Quantile:
        assert interval is not None
        low, high, step = quantile_grid(interval, field.kind)
        # replacing a unit removes its weight in some groups and adds weight in others: up to twice its weight changes
        moved = weight * (2 if is_replacement(adjacency) else 1)
        return Quantile(epsilon=epsilon, q=self.q, lower=low, upper=high, step=step, weight=moved)

    def describe_choice(self, spelled: Spelled, mechanism: Quantile | NoisyMax, candidates: tuple[Value, ...]) -> str:
        assert isinstance(mechanism, Quantile)
        low, high, step = (f"{float(end):,.12g}" for end in (mechanism.grid.lower, mechanism.grid.upper, mechanism.grid.step))
        return f"{self.describe(spelled)}, between {low} and {high} in steps of {step}"


def quantile_grid(interval: Interval, kind: Kind | None) -> tuple[Fraction, Fraction, Fraction]:
    """The ends and the step: 1 for whole numbers where that is not too many, else a power of two."""
    width = interval.high - interval.low
    if kind is Kind.INTEGER and width < 2**20:
        low = -(-interval.low.numerator // interval.low.denominator)
        return Fraction(low), max(interval.high, Fraction(low + 1)), Fraction(1)
    step = Fraction(2) ** (width.numerator.bit_length() - width.denominator.bit_length() - _POINTS + 1)
    return interval.low, interval.high, step
