"""What all counts have in common: one total, a whole number where rows carry no weights, never negative."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from discreet.query.relation.expr import Schema
from discreet.query.relation.field import Field
from discreet.query.statistics.statistic import Additive
from discreet.query.totals import Cells, Floats, Total, Totals
from discreet.tables.kind import Kind


class Counting(Additive, ABC):
    """A statistic that is one count."""

    drawn = "bar"

    @abstractmethod
    def counted(self, of: Totals) -> Total:
        """The total whose value it is."""

    def answer(self, schema: Schema) -> Field:
        return Field(Kind.INTEGER)

    def needs(self, of: Totals) -> dict[Total, float]:
        return {self.counted(of): 1.0}

    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        found = cells[self.counted(of)]
        return np.maximum(found, 0.0) if clipped else found

    def squares(self, of: Totals, cells: Cells, most: Cells, error: Floats) -> Floats:
        return most[self.counted(of)]  # each row adds 1

    def limits(self, of: Totals) -> tuple[float, float]:
        return 0.0, math.inf
