"""A question: a relation, its groups, its statistics, and their post-processing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import evolve, field, frozen

from discreet.errors import Refused
from discreet.query.minimise import Minimise, read_minimise
from discreet.query.relation.expr import Expr, Schema, field_of
from discreet.query.relation.field import Field
from discreet.query.relation.node import Named, Relation, check_private, size
from discreet.query.statistics.statistic import Additive, Argument, Selected, Statistic
from discreet.query.windows import Window
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions

MOST_RELATIONS, MOST_SETS = 100, 128
Sets: TypeAlias = tuple[tuple[int, ...], ...]  # the places of each grouping set's keys


def grouping_column(key: str) -> str:
    """The name of the column that is 1 in the rows of grouping sets without a key, and else 0."""
    return f"__grouping({key})"  # analysts' names never begin with two underscores


@final
@frozen
class Question:
    """A question as frozen nodes, independent of its spelling, so that equal questions are equal values.

    `outputs`, `having`, `order` and `limit` work on released values alone: expressions over the names of keys and statistics.
    """

    relation: Relation
    keys: Named
    statistics: tuple[tuple[str, Statistic], ...]
    outputs: Named
    having: Expr | None = None
    order: tuple[tuple[Expr, bool], ...] = ()  # expression, and whether descending
    limit: int | None = None
    contributions: Contributions = Contributions()
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    windows: tuple[tuple[str, Window], ...] = field(default=(), metadata={"omitted if empty": True})  # columns over several released rows
    sets: Sets = field(default=(), metadata={"omitted if empty": True})  # of GROUP BY ROLLUP, CUBE or GROUPING SETS; () is all keys
    statistics_by_set: tuple[tuple[str, ...], ...] = field(default=(), metadata={"omitted if empty": True})  # () is all of them
    sample: Fraction | None = field(default=None, metadata={"omitted if empty": True})  # the share of units that is read; None is all
    minimise: Minimise | None = field(default=None, metadata={"omitted if empty": True})  # with grouping sets; None is the total variance
    other: bool = False  # one more group for all rows whose group is not shown
    said: str = field(default="", eq=False)  # the chain of calls, where it was built in Python
    notes: tuple[str, ...] = field(default=(), eq=False)  # remarks of the SQL reader, e.g. that MAX is a quantile

    def __attrs_post_init__(self) -> None:
        check_private(self.relation)
        if size(self.relation) > MOST_RELATIONS:
            raise Refused(
                f"this question has more than {MOST_RELATIONS} relations, repeated ones included: split it into several questions"
            )
        if not self.statistics:
            raise Refused("ask for a statistic, such as COUNT(*), SUM(x) or AVG(x): single rows are never shown")
        if self.sets and self.windows:
            raise Refused("windows over grouping sets are not supported: ask for the window with an ordinary GROUP BY")
        for _, expr in self.keys:
            self._check_key(field_of(expr, self.relation.schema))
        for _, statistic in self.statistics:
            self._check_statistic(statistic)

    def _check_key(self, key: Field) -> None:
        if key.unit:
            raise Refused("groups of single units are never shown: group by the unit in a subquery and aggregate again")
        if key.kind is None:
            raise Refused("NULL cannot be a group key: group by a column")
        if key.kind is Kind.REAL:
            raise Refused("real numbers cannot be group keys: use WIDTH_BUCKET(x, low, high, buckets) or FLOOR(x)")

    def _check_statistic(self, statistic: Statistic) -> None:
        for expr, argument in zip(statistic.exprs, statistic.arguments, strict=False):
            below = field_of(expr, self.relation.schema)
            if below.unit:
                raise Refused("the column that names the protected unit may only be counted, as in COUNT(DISTINCT unit)")
            word = next(iter(statistic.spellings))
            if argument is Argument.NUMBER and (below.kind is None or not below.kind.numeric):
                raise Refused(f"{word} needs {argument.value}, not {below.kind.value if below.kind else 'NULL'}")
            if argument is Argument.REPEATING and below.kind in (Kind.REAL, None):
                raise Refused(f"{word} needs {argument.value}")

    def minimising(self, said: Any) -> Question:
        """The question whose noise is chosen for another goal: "total", "worst", or weights of its grouping sets."""
        return evolve(self, minimise=read_minimise(said, [name for name, _ in self.keys], self.sets))

    @property
    def schema(self) -> Schema:
        """The columns of its rows."""
        return self.relation.schema

    @property
    def additive(self) -> dict[str, Additive]:
        """The statistics that are computed from noisy totals."""
        return {name: statistic for name, statistic in self.statistics if isinstance(statistic, Additive)}

    @property
    def selected(self) -> dict[str, Selected[Any]]:
        """The statistics that a mechanism selects."""
        return {name: statistic for name, statistic in self.statistics if isinstance(statistic, Selected)}

    @property
    def numbers(self) -> dict[Expr, str]:
        """Each number whose bounds matter, and the name of the first statistic that it is an argument of."""
        found: dict[Expr, str] = {}
        for name, statistic in self.statistics:
            for expr in statistic.numbers:
                found.setdefault(expr, name)
        return found
