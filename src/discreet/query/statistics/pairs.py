"""Central moments of two numbers from noisy totals: what covariance, correlation and regression have in common."""

from __future__ import annotations

from abc import ABC
from typing import Any, Self, final

import numpy as np
from attrs import frozen

from discreet.query.relation.expr import Expr, Literal, Schema, call, field_of
from discreet.query.statistics.moments import spread
from discreet.query.statistics.statistic import OFF_CENTRE, Additive, Argument
from discreet.query.totals import Cells, Floats, Total, Totals


@frozen
class Pairwise(Additive, ABC):
    """A statistic of two numbers, the dependent variable y first, as SQL has it; pairs with a NULL are left out."""

    y: Expr
    x: Expr

    arguments = (Argument.NUMBER, Argument.NUMBER)
    drawn = "point"
    curved = True

    @classmethod
    def read(cls, spelling: str, arguments: tuple[Any, ...], schema: Schema) -> Self:
        return cls(*complete(arguments[0], arguments[1], schema), **cls.spellings[spelling])

    def size(self, of: Totals) -> Total:
        return of.count(self.x)


def complete(y: Expr, x: Expr, schema: Schema) -> tuple[Expr, Expr]:
    """Both numbers, each NULL where the other is: only complete pairs are used."""

    def where_present(value: Expr, other: Expr) -> Expr:
        return call("case", call("is_null", other), Literal(None), value) if field_of(other, schema).nullable else value

    return (y, x) if y == x else (where_present(y, x), where_present(x, y))


def totals(of: Totals, y: Expr, x: Expr, squares: tuple[Expr, ...] = ()) -> dict[Total, float]:
    """The totals of products, of both numbers and, where they are needed, of their squares."""
    found = {of.product((y, 1), (x, 1), order=2): 1.0, of.count(x): OFF_CENTRE**2}
    found |= dict.fromkeys((of.product((y, 1), order=2), of.product((x, 1), order=2)), OFF_CENTRE)
    return found | {of.product((expr, 2), order=2): 0.5 for expr in squares}


@final
@frozen(eq=False)
class PairMoments:
    """The count, both means (from the middles of their bounds), and the central moments of a population of pairs."""

    n: Floats
    mean_y: Floats
    mean_x: Floats
    covariance: Floats

    @classmethod
    def of(cls, of: Totals, cells: Cells, y: Expr, x: Expr) -> PairMoments:
        """From noisy totals; the count is at least 2."""
        n = np.maximum(cells[of.count(x)], 2.0)
        mean_y, mean_x = (cells[of.product((expr, 1), order=2)] / n for expr in (y, x))
        return cls(n, mean_y, mean_x, np.asarray(cells[of.product((y, 1), (x, 1), order=2)] / n - mean_y * mean_x))

    def variance(self, of: Totals, cells: Cells, expr: Expr, mean: Floats) -> Floats:
        """The variance of one of the numbers, to divide by."""
        found = cells[of.product((expr, 2), order=2)] / self.n - mean**2
        return spread(np.asarray(found), of.step(expr, 2))
