"""MODE: the most frequent value, by units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import frozen

from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.query.relation.expr import Expr, Schema, field_of
from discreet.query.relation.field import Field, Interval
from discreet.query.statistics.statistic import Argument, Arrange, Selected, Spelled, UnitWeight, ValueCounts
from discreet.tables.kind import Value


@final
@frozen
class Mode(Selected[NoisyMax]):
    """The value with the most votes, where each unit votes once for each of its distinct values."""

    expr: Expr

    spellings = {"MODE": {}}
    methods = {"mode": "MODE"}
    arguments = (Argument.REPEATING,)
    drawn = "label"
    votes = True
    size_weight = 2e-3

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

    def mechanism(self, epsilon: Fraction, unit: UnitWeight, field: Field, interval: Interval | None, adjacency: Adjacency) -> NoisyMax:
        return NoisyMax(epsilon=epsilon, sensitivity=unit.most, monotone=not is_replacement(adjacency))

    def arranged(self, mechanism: NoisyMax, candidates: Sequence[Any]) -> Arrange:
        place = {value: i for i, value in enumerate(candidates)}

        def scores(counted: ValueCounts) -> np.ndarray[Any, np.dtype[np.int64]]:
            votes = np.zeros(len(candidates), np.int64)
            for value, weight in zip(counted.values.tolist(), counted.weights.tolist(), strict=True):
                if value in place:
                    votes[place[value]] += weight
            return votes

        return scores

    def selected(self, released: Any, field: Field, candidates: tuple[Value, ...]) -> Value:
        return candidates[int(released)]

    def closeness(self, mechanism: NoisyMax, candidates: tuple[Value, ...], unit: UnitWeight) -> str:
        votes = math.ceil(self.error(mechanism, float(unit.confidence), candidates) / unit.one)
        return f"has at most {votes:,} votes fewer than the most popular value, with confidence {float(unit.confidence) * 100:.4g} %"

    def error(self, mechanism: NoisyMax, level: float, candidates: tuple[Value, ...]) -> float:
        return mechanism.error(level, size=max(len(candidates), 2))

    def describe_choice(self, spelled: Spelled, mechanism: NoisyMax, candidates: tuple[Value, ...]) -> str:
        return f"the most popular of {len(candidates)} values of {spelled(self.expr)}"
