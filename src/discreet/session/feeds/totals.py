"""What a feed counts: rows or a sum for each day, of which each unit contributes a bounded part; as a theorem and as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never, final

from attrs import field, frozen

from discreet import exact
from discreet.engines.dialect import Dialect
from discreet.errors import Invalid, Refused
from discreet.query.canonical import plain
from discreet.query.fluent import QueryBuilder
from discreet.query.grid import SUMMED, grid
from discreet.query.relation.expr import Column
from discreet.query.relation.node import Join, Match, PerUnit, Relation, Scan, Select, Stack, Where, check_private
from discreet.query.relation.write import UNIT
from discreet.query.totals import Factor, Total
from discreet.run.source import Source
from discreet.run.statement import Statement
from discreet.run.values import write_value
from discreet.session.feeds.calendar import Calendar
from discreet.session.pipeline import Pipeline
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Kind
from discreet.tables.table import MOST_CONTRIBUTED


@final
@frozen(slots=False, eq=False)
class DailyTotals:
    """A count of rows, or a sum, for each day; only the first `active_days` days of a unit count, each with `per_day` rows at most.

    For a sum, rows without a value are as if they were not there, and their days are not among the first.

    Theorem.
        Between neighbours that differ by one unit the days' numbers differ in at most `active_days` places, each by at most `moved`; if one
        unit replaces another, what is measured differs in length by at most twice that, and by √2 times it if nothing is negative.

    Proof.
        Each row that is asked about is made of one stored private row and of public tables (`check_causal`), so a unit's rows of a day are
        made of its stored rows, and stored rows that come later and carry later days add none to it and take none away. What the unit adds
        to a day is the clamped sum of its rows of that day, if at most `active_days` of its days up to then have any: a function of its
        rows up to that day. So days that come later change nothing before them, and units do not change each other. A replacement takes
        away one such vector and adds another; measurements C·v and C·v′ of non-negative vectors have no negative entries (C has none), so
        ‖Cv − Cv′‖² ≤ ‖Cv‖² + ‖Cv′‖². The same holds for the nodes of a tree; in ℓ₁ both add up.

    Assumes.
        Stored rows only come, with days that were not released yet; none of a released day comes, changes or goes. Public tables that are
        joined stay as they are. Where the unit is found through other tables (links), so do their rows for the rows that were counted: a
        link that comes late, or leads to somebody else, gives past rows to another unit.
    """

    table: str
    relation: Relation = field(repr=False)
    day: str  # the columns with the first day of each row's step, and its value
    value: str | None
    stat: Total = field(repr=False)
    signed: bool
    calendar: Calendar
    per_day: int
    active_days: int
    label: str
    catalog: Catalog = field(repr=False)

    @classmethod
    def of(
        cls, table: QueryBuilder[Any], pipeline: Pipeline, day: str, calendar: Calendar, value: str | None, where: str | None, per_day: int,
        active_days: int, label: str,
    ) -> DailyTotals:  # fmt: skip
        """Read it as people give it."""
        if not isinstance(table, QueryBuilder) or table.keys or table.statistics:
            raise Invalid("daily takes a table's name, or db.table(...) before it is grouped or counted")
        check_private(table.relation)
        pipeline.require_own(table.relation)
        if not isinstance(label, str):
            raise Invalid("name must be text, as in name='visits per day'")
        rows = table if where is None else table.where(where)
        check_causal(rows.relation)
        day_name, value_name = _free_names(rows.relation)
        rows = rows.with_columns(**{day_name: _spelled(day, rows.relation)})
        if rows.relation.schema[day_name].kind not in (Kind.DATE, Kind.TIMESTAMP):
            raise Refused("day must be a column of dates or timestamps, and text is not cast: declare its type")
        rows = rows.with_columns(**{day_name: f"DATE_TRUNC('{calendar.every}', {day_name})"})
        stat, signed = Total("rows"), False
        if value is not None:
            rows = rows.with_columns(**{value_name: _spelled(value, rows.relation)})
            stat, signed = _summed(rows.relation, value_name)
        limits = [exact.whole(n, name) for n, name in ((per_day, "per_day"), (active_days, "active_days"))]
        if max(limits) > MOST_CONTRIBUTED:
            raise Invalid(f"per_day and active_days must be at most {MOST_CONTRIBUTED}: give smaller ones, for noise grows with them")
        if rows.relation.one_row or not rows.relation.has_id:
            limits = [1, 1]  # it has one row, on one day
        return cls(
            table.said[0], rows.relation, day_name, None if value is None else value_name, stat, signed, calendar,
            limits[0], min(limits[1], calendar.count), label, pipeline.catalog,
        )  # fmt: skip

    @property
    def counted(self) -> str:
        """Which days of a unit count, in words."""
        what = "any rows" if self.value is None else "a value that is not missing"
        return f"its first {self.active_days} {self.calendar.every}s with {what}"

    @property
    def moved(self) -> int:
        """How far one unit moves one day's number."""
        return self.per_day * self.stat.most

    @property
    def asked(self) -> dict[str, Any]:
        """All that decides what is counted, as plain values."""
        return {
            "is": "Daily",
            "table": self.table,
            "relation": plain(self.relation),
            "day": self.day,
            "value": self.value,
            "start": self.calendar.start.isoformat(),
            "steps": self.calendar.count,
            "every": self.calendar.every,
            "unit": str(self.stat.step),
            "per_day": self.per_day,
            "active_days": self.active_days,
            "name": self.label,
        }

    # ── SQL ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def statement(self, steps: int, dialect: Dialect) -> Statement:
        """Each day's number, for the first so many steps; what comes later is not read."""
        source = Source(self.relation, (("day", Column(self.day)),), None, dialect)
        ends = (dialect.literal(self.calendar.first_days[0]), dialect.literal(self.calendar.first_days[steps - 1]))
        within = f"k0 BETWEEN {ends[0]} AND {ends[1]}"
        if self.value is None:
            rows = source.rows([], [("v", "1")], within)
        else:
            summed = write_value(self.stat, {Column(self.value): "__e0"}, self.relation.schema, dialect)
            rows = source.rows([("__e0", Column(self.value))], [("v", summed)], f"{within} AND __e0 IS NOT NULL")
        least = -self.moved if self.signed else 0
        if self.relation.has_id:
            clamped = f"LEAST(GREATEST({dialect.whole('SUM(v)')}, {least}), {self.moved})"
            days = f"SELECT {UNIT}, k0, {clamped} AS v FROM ({rows}) AS r GROUP BY {UNIT}, k0"
            ranked = f"SELECT k0, v, ROW_NUMBER() OVER (PARTITION BY {UNIT} ORDER BY k0) AS n FROM ({days}) AS d"
            counted, shuffles = f"SELECT k0, v FROM ({ranked}) AS q WHERE n <= {self.active_days}", 3
        else:
            counted, shuffles = f"SELECT k0, LEAST(GREATEST(v, {least}), {self.moved}) AS v FROM ({rows}) AS r", 1
        total = dialect.shifted(dialect.total("v", self.moved), 0)
        return Statement.of(source, f"SELECT {dialect.shown('k0')} AS k0, {total} AS s0 FROM ({counted}) AS c GROUP BY k0", shuffles)


def check_causal(relation: Relation) -> None:
    """Refuse rows that later rows of the same unit can change or take away: then a released day would not stay as it was counted.

    The largest date of a unit moves with each new row, and a LEFT JOIN with refunds loses a visit when it is paid back: the unit would
    count in one batch of days after the other, for one payment.
    """
    match relation:
        case Scan():
            return
        case Where(below) | Match(below) | Select(below):
            check_causal(below)
        case Join(left, right):
            if left.private and right.private:
                raise Refused(_ANOTHER.format("joins of two private tables are"))
            check_causal(left)
            check_causal(right)
        case Stack(inputs):
            for one in inputs:
                check_causal(one)
        case PerUnit():
            raise Refused(_ANOTHER.format("per_unit() is"))
        case _:
            assert_never(relation)


_ANOTHER = (
    "{} not for daily feeds: later rows would change days that were released. Ask the table that holds the dates, with value=, per_day= "
    "and active_days=; public tables may be joined. Or store what is to be counted, once for each day, in a table of its own"
)


def _summed(relation: Relation, name: str) -> tuple[Total, bool]:
    of = relation.schema[name]
    if of.unit or of.kind is None or not of.kind.numeric or of.range is None:
        raise Refused("value must be numeric: give a numeric column, as in value='cost'")
    if not of.range.known:
        raise Refused("a sum needs bounds for its value: declare them, or clip the value, as in value='CLAMP(cost, 0, 500)'")
    return Total("product", factors=(Factor(Column(name), grid(of, of.range, SUMMED.alone, centred=False)),)), of.range.low < 0


def _spelled(expression: str, relation: Relation) -> str:
    """An expression; a column by its name, whatever that is."""
    named = isinstance(expression, str) and expression in relation.schema
    return '"' + expression.replace('"', '""') + '"' if named else expression


def _free_names(relation: Relation) -> Sequence[str]:
    """Names for the day and the value that no column has."""
    prefix = "feed"
    while any(name.lower().startswith(prefix) for name in relation.schema):
        prefix += "_x"
    return f"{prefix}_day", f"{prefix}_value"
