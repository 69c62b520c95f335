"""What was asked: a relation, the groups, the statistics, and what is done with them afterwards."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import field, frozen

from discreet.errors import Refused
from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.field import Field
from discreet.query.relation.node import Named, Relation, check_private, size
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions

MOST_RELATIONS = 100
# function → whether it takes an expression, and whether that must be a number
FUNCTIONS = {
    "count": (False, False),
    "count_of": (True, False),
    "count_units": (False, False),
    "count_distinct": (True, False),
    "sum": (True, True),
    "mean": (True, True),
    "variance": (True, True),
    "stddev": (True, True),
    "quantile": (True, True),
    "mode": (True, False),
}


@final
@frozen
class Measure:
    """One statistic of each group: its function, of which expression, and for a quantile which one.

    variance and stddev are of the sample (divided by n − 1) unless `population`.
    """

    function: str
    expr: Expr | None = None
    q: Fraction | None = None
    population: bool = False

    def __attrs_post_init__(self) -> None:
        if self.function not in FUNCTIONS or FUNCTIONS[self.function][0] != (self.expr is not None):
            raise Refused(f"there is no statistic {self.function} of that form")
        if (self.function == "quantile") != (self.q is not None):
            raise Refused("a quantile needs a share between 0 and 1")
        if self.q is not None and (not 0 < self.q < 1 or self.q.denominator > 10**6):
            raise Refused("a quantile's share lies between 0 and 1, with at most six decimals")


@final
@frozen
class Question:
    """What was asked, as frozen nodes; how it was spelled is forgotten, so that equal questions are equal values.

    `outputs`, `having`, `order` and `limit` work on released values alone: expressions over the names of keys and measures.
    """

    relation: Relation
    keys: Named
    measures: tuple[tuple[str, Measure], ...]
    outputs: Named
    having: Expr | None = None
    order: tuple[tuple[Expr, bool], ...] = ()  # expression, and whether descending
    limit: int | None = None
    contributions: Contributions = Contributions()
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    other: bool = False  # one more group for all that is not shown
    notes: tuple[str, ...] = field(default=(), eq=False)  # what the reader wants said, e.g. that MAX is a quantile

    def __attrs_post_init__(self) -> None:
        check_private(self.relation)
        if size(self.relation) > MOST_RELATIONS:
            raise Refused(f"this reads, joins and stacks more than {MOST_RELATIONS} relations, counted with repeats: ask for less at once")
        if not self.measures:
            raise Refused("ask for a statistic, such as COUNT(*), SUM(x) or AVG(x): single rows are never shown")
        for _, expr in self.keys:
            self._check_key(field_of(expr, self.relation.schema))
        for _, measure in self.measures:
            self._check_measure(measure)

    def _check_key(self, key: Field) -> None:
        if key.unit:
            raise Refused("groups of single units are never shown: group by the unit in a subquery and aggregate again")
        if key.kind is None:
            raise Refused("NULL makes no groups: group by a column")
        if key.kind is Kind.REAL:
            raise Refused("real numbers make no groups: use WIDTH_BUCKET(x, low, high, buckets) or FLOOR(x)")

    def _check_measure(self, measure: Measure) -> None:
        if measure.expr is None:
            return
        below = field_of(measure.expr, self.relation.schema)
        if below.unit:
            raise Refused("the column that names the protected unit may only be counted, as in COUNT(DISTINCT unit)")
        if FUNCTIONS[measure.function][1] and (below.kind is None or not below.kind.numeric):
            raise Refused(f"{measure.function.upper()} needs a number, not {below.kind.value if below.kind else 'NULL'}")
        if measure.function in ("mode", "count_distinct") and below.kind in (Kind.REAL, None):
            raise Refused(f"{measure.function.upper()} needs values that repeat: text, whole numbers, dates or true/false")
