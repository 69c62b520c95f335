"""Two statistics from outside the package, in one file: the root of the mean square, and the rarest value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import frozen

from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.query.relation.expr import Expr, Schema, field_of
from discreet.query.relation.field import Field, Interval
from discreet.query.statistics.statistic import Additive, Argument, Arrange, Selected, Spelled, UnitWeight, ValueCounts
from discreet.query.totals import Cells, Floats, Total, Totals
from discreet.tables.kind import Value


@final
@frozen
class RootMeanSquare(Additive):
    """The root of the mean of squares."""

    expr: Expr

    spellings = {"RMS": {}}  # noqa: RUF012
    methods = {"rms": "RMS"}  # noqa: RUF012
    arguments = (Argument.NUMBER,)
    drawn = "point"
    curved = True

    def describe(self, spelled: Spelled) -> str:
        return f"the root mean square of {spelled(self.expr)}"

    def needs(self, of: Totals) -> dict[Total, float]:
        return {of.product((self.expr, 2)): 1.0, of.product((self.expr, 1)): 1.0, of.count(self.expr): 0.5}

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        n, middle = np.maximum(cells[of.count(self.expr)], 1.0), of.middle(self.expr)
        square = (cells[of.product((self.expr, 2))] + 2 * middle * cells[of.product((self.expr, 1))]) / n + middle**2
        return np.sqrt(np.where(square >= 0, square, np.nan))

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, math.sqrt(2) * (abs(of.middle(self.expr)) + of.half(self.expr))


@final
@frozen
class Rarest(Selected[Exponential]):
    """The candidate with the fewest votes, where each unit votes once for each of its distinct values."""

    expr: Expr

    spellings = {"RAREST": {}}  # noqa: RUF012
    methods = {"rarest": "RAREST"}  # noqa: RUF012
    arguments = (Argument.REPEATING,)
    drawn = "label"
    votes = True
    size_weight = 1e-3

    def answer(self, schema: Schema) -> Field:
        return Field(field_of(self.expr, schema).kind, nullable=True)

    def describe(self, spelled: Spelled) -> str:
        return f"the rarest value of {spelled(self.expr)}"

    @property
    def candidates(self) -> Expr:
        return self.expr

    def counts_units(self, schema: Schema) -> bool:
        return field_of(self.expr, schema).public_keys is not None

    def loss(self, epsilon: Fraction) -> Loss:
        return leaves.BoundedRange(epsilon)

    def mechanism(self, epsilon: Fraction, unit: UnitWeight, field: Field, interval: Interval | None, adjacency: Adjacency) -> Exponential:
        return Exponential(epsilon=epsilon, sensitivity=unit.most, monotone=not is_replacement(adjacency))

    def arranged(self, mechanism: Exponential, candidates: Sequence[Any]) -> Arrange:
        def scores(counted: ValueCounts) -> list[int]:
            votes = dict(zip(counted.values.tolist(), counted.weights.tolist(), strict=True))
            return [-int(votes.get(value, 0)) for value in candidates]

        return scores

    def selected(self, released: Any, field: Field, candidates: tuple[Value, ...]) -> Value:
        return candidates[int(released)]

    def error(self, mechanism: Exponential, level: float, candidates: tuple[Value, ...]) -> float:
        return mechanism.error(level, size=max(len(candidates), 2))

    def describe_choice(self, spelled: Spelled, mechanism: Exponential, candidates: tuple[Value, ...]) -> str:
        return f"the rarest of {len(candidates)} values of {spelled(self.expr)}"
