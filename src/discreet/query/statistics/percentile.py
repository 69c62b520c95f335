"""MEDIAN and QUANTILE, and MIN and MAX as outer quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import evolve, field, frozen

from discreet.errors import Refused
from discreet.loss import leaves
from discreet.loss.loss import Loss, compose
from discreet.mechanisms.quantile_interval import FOR_GUARD, FOR_VALUE, QuantileInterval
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.mechanisms.value_grid import Places, RelativeGrid, ValueGrid
from discreet.query.grid import Grid
from discreet.query.relation.expr import Expr
from discreet.query.relation.field import Field, Interval
from discreet.query.statistics.statistic import Argument, Arrange, Selected, Spelled, UnitWeight
from discreet.tables.kind import Kind, Value

OUTERMOST = Fraction(1, 100)  # MIN and MAX are answered as this quantile, and as one minus it
_POINTS = 16  # the grid has up to 2^_POINTS points
_FINEST = 10**6
STEPS = 2**10  # grid points for each doubling, where there are no bounds
_SMALLEST, LARGEST = Fraction(1, 2**20), Fraction(2**60)  # beyond these sizes numbers are treated as near 0, or as the largest


@final
@frozen
class Percentile(Selected[QuantileInterval]):
    """The value below which a share of the rows lies, with an interval, selected on a grid between the bounds or for all numbers."""

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
    size_weight = 2e-4  # 5 % of ε for the count: its noise is then about the error of the guards

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
        return compose(leaves.BoundedRange(epsilon * share) for share in (FOR_VALUE, FOR_GUARD, FOR_GUARD))

    def mechanism(
        self, epsilon: Fraction, unit: UnitWeight, field: Field, interval: Interval | None, adjacency: Adjacency
    ) -> QuantileInterval:
        assert interval is not None
        # replacing a unit removes its weight in some groups and adds weight in others: up to twice its weight changes
        moved = unit.most * (2 if is_replacement(adjacency) else 1)
        return QuantileInterval(
            epsilon=epsilon,
            q=self.q,
            grid=quantile_grid(interval, field.kind) if interval.known else unbounded_grid(interval, field.kind),
            confidence=unit.confidence,
            weight=moved,
            one=unit.one,
        )

    def grid(self, mechanism: QuantileInterval) -> Grid | RelativeGrid:
        match mechanism.grid:
            case ValueGrid(lower=lower, step=step, points=points):
                return Grid(lower, step, points)
            case RelativeGrid() as relative:
                return relative
        raise AssertionError  # there are no other grids

    def arranged(self, mechanism: QuantileInterval, candidates: Sequence[Any]) -> Arrange:
        first = mechanism.grid.first if isinstance(mechanism.grid, RelativeGrid) else 0
        return lambda counted: Places(counted.values.astype(np.int64) - first, counted.weights.astype(np.int64))

    def selected(self, released: Any, field: Field, candidates: tuple[Value, ...]) -> Value | float:
        return int(released.value) if field.kind is Kind.INTEGER else float(released.value)

    def ends(self, released: Any, field: Field) -> tuple[float, float]:
        return (int(released.low), int(released.high)) if field.kind is Kind.INTEGER else (released.low, released.high)

    def error(self, mechanism: QuantileInterval, level: float, candidates: tuple[Value, ...]) -> float:
        return mechanism.error(level)

    def describe_choice(self, spelled: Spelled, mechanism: QuantileInterval, candidates: tuple[Value, ...]) -> str:
        share = float(mechanism.reach / mechanism.one)
        guards = f"with guards {share:,.4g} ranks below and above it for its {float(mechanism.confidence) * 100:.4g} % interval"
        if isinstance(mechanism.grid, ValueGrid):
            low, high, step = (f"{float(end):,.12g}" for end in (mechanism.grid.lower, mechanism.grid.upper, mechanism.grid.step))
            return f"{self.describe(spelled)}, between {low} and {high} in steps of {step}, {guards}"
        return f"{self.describe(spelled)}, without bounds, on a grid of {STEPS:,} steps for each doubling, {guards}"


def quantile_grid(interval: Interval, kind: Kind | None) -> ValueGrid:
    """A grid within bounds: of step 1 for whole numbers where that is not too many, else of a power of two."""
    width, whole = interval.high - interval.low, kind is Kind.INTEGER
    if whole and width < 2**20:
        low = -(-interval.low.numerator // interval.low.denominator)
        return ValueGrid.of(low, max(interval.high, Fraction(low + 1)), 1, whole=True)
    step = Fraction(2) ** (width.numerator.bit_length() - width.denominator.bit_length() - _POINTS + 1)
    return ValueGrid.of(interval.low, interval.high, step, whole)


def unbounded_grid(interval: Interval, kind: Kind | None) -> RelativeGrid:
    """A grid for the whole range of a type, from an end that is known, if there is one."""
    whole = kind is Kind.INTEGER
    finest = Fraction(1) if whole else _SMALLEST / (2 * STEPS)
    grid = RelativeGrid(finest, STEPS, 0, 0, whole)
    last = grid.position(LARGEST) - 1
    first = max(grid.position(interval.low), -last) if interval.low_known else -last
    last = min(grid.position(interval.high), last) if interval.high_known else last
    return evolve(grid, first=min(first, last), last=last)
