"""What bounding takes away from the rows of a whole table, as a profile estimates it: statistics are corrected by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from attrs import field, frozen

from discreet.query.relation.expr import Expr
from discreet.query.totals import Floats
from discreet.tables.histogram import Clipping


@final
@frozen
class Removed:
    """What clipping takes from the sums of expressions, and how many rows down-weighting takes from the table.

    `most_rows` bounds the number of these rows with confidence 0.95.
    """

    clipped: Mapping[Expr, Clipping] = field(factory=dict)
    rows: float = 0.0
    rows_sd: float = 0.0

    @property
    def most_rows(self) -> float:
        """A bound on the rows that are lost, with confidence 0.95."""
        return self.rows + 1.645 * self.rows_sd


@final
@frozen(eq=False)
class Correction:
    """What is added to a statistic in every group, the standard deviation of that, and by how much it may be off besides."""

    shift: Floats
    sd: Floats
    allowance: Floats
