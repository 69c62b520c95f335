"""MODE: the most frequent value, by units."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.query.relation.expr import Expr, Schema, field_of
from discreet.query.relation.field import Field, Interval
from discreet.query.statistics.statistic import Argument, Selected, Spelled
from discreet.tables.kind import Value


@final
@frozen
class Mode(Selected):
    """The value with the most votes, where each unit votes once for each of its distinct values."""

    expr: Expr

    spellings = {"MODE": {}}
    methods = {"mode": "MODE"}
    arguments = (Argument.REPEATING,)
    drawn = "label"
    votes = True

    def answer(self, schema: Schema) -> Field:
        return Field(field_of(self.expr, schema).kind, nullable=True)

    def describe(self, spelled: Spelled) -> str:
        return f"the most popular value of {spelled(self.expr)}"

    @property
    def candidates(self) -> Expr:
        return self.expr

    def counts_units(self, schema: Schema) -> bool:
        return field_of(self.expr, schema).public_keys is not None

    def loss(self, epsilon: Fraction) -> Loss:
        return leaves.Pure(epsilon)

    def mechanism(self, epsilon: Fraction, weight: int, field: Field, interval: Interval | None, adjacency: Adjacency) -> NoisyMax:
        return NoisyMax(epsilon=epsilon, sensitivity=weight, monotone=not is_replacement(adjacency))

    def describe_choice(self, spelled: Spelled, mechanism: Quantile | NoisyMax, candidates: tuple[Value, ...]) -> str:
        return f"the most popular of {len(candidates)} values of {spelled(self.expr)}"
