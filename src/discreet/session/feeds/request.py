"""An order for a daily feed: what is counted, by which days, and how much of one unit; read and priced before anything is paid or read."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias, assert_never, final, get_args

from attrs import field, frozen

from discreet import exact
from discreet.engines.dialect import Dialect
from discreet.errors import Invalid, Refused
from discreet.loss.loss import Loss
from discreet.loss.promise import Promised
from discreet.mechanisms.sensitivity import is_replacement
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.mechanisms.streams.tree import Tree
from discreet.query.canonical import fingerprint, plain
from discreet.query.fluent import Ask
from discreet.query.grid import WEIGHTED_BITS, grid
from discreet.query.relation.expr import Column
from discreet.query.relation.node import Join, PerUnit, Relation, Scan, Select, Stack, Where, check_private, tables_in
from discreet.query.relation.write import UNIT
from discreet.query.totals import Factor, Total
from discreet.run.source import Source
from discreet.run.statement import Statement
from discreet.run.values import write_value
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Kind
from discreet.tables.table import MOST_CONTRIBUTED

FORMAT = 1
CONFIDENCE = Fraction(95, 100)
Every: TypeAlias = Literal["day", "week", "month"]
MOST_DAYS = 100_000


@final
@frozen(slots=False)
class Calendar:
    """So many days, weeks (from Monday) or months from a first day on.

    >>> Calendar(datetime.date(2026, 1, 1), 3, "month").first_days[-1]
    datetime.date(2026, 3, 1)
    """

    start: datetime.date
    count: int
    every: Every

    @classmethod
    def of(cls, start: Any, count: int, every: Any) -> Calendar:
        """Read it as people give it."""
        if every not in get_args(Every):
            raise Invalid('every must be "day", "week" or "month"')
        first = _date(start, "start")
        if (every == "week" and first.weekday()) or (every == "month" and first.day > 1):
            raise Invalid("start must be a Monday for weeks, and the first of a month for months")
        if exact.whole(count, "days") > MOST_DAYS:
            raise Invalid(f"days must not be more than {MOST_DAYS:,}")
        made = cls(first, count, every)
        try:
            assert made.last
        except OverflowError:
            raise Invalid("so many days go beyond the calendar: begin earlier, or take fewer") from None
        return made

    def _at(self, step: int) -> datetime.date:
        if self.every != "month":
            return self.start + datetime.timedelta(days=step * (7 if self.every == "week" else 1))
        months = self.start.year * 12 + self.start.month - 1 + step
        if months >= 12 * 10_000:
            raise OverflowError
        return datetime.date(months // 12, months % 12 + 1, 1)

    @cached_property
    def first_days(self) -> tuple[datetime.date, ...]:
        """The first day of each step."""
        return tuple(map(self._at, range(self.count)))

    @property
    def last(self) -> datetime.date:
        """The last day of all."""
        return self._at(self.count) - datetime.timedelta(days=1)

    def complete(self, until: Any) -> int:
        """How many steps are over at the end of a day."""
        day = _date(until, "until")
        if day > self.last:
            raise Invalid(f"this feed ends on {self.last}: open another one for later days")
        over = sum(self._at(step + 1) <= day + datetime.timedelta(days=1) for step in range(self.count))
        if not over:
            raise Invalid(f"no {self.every} of this feed is over then: it begins on {self.start}")
        return over


def _date(value: Any, name: str) -> datetime.date:
    found = Kind.DATE.read(value, name)
    assert isinstance(found, datetime.date)
    return found


@final
@frozen(slots=False, eq=False)
class Order:
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
    epsilon: Fraction
    asked_delta: Fraction
    label: str
    catalog: Catalog = field(repr=False)

    @classmethod
    def of(
        cls, table: Ask[Any], catalog: Catalog, price: tuple[Fraction, Fraction], day: str, calendar: Calendar, value: str | None,
        where: str | None, per_day: int, active_days: int, label: str,
    ) -> Order:  # fmt: skip
        """Read an order as people give it."""
        if not isinstance(table, Ask) or table.keys or table.statistics:
            raise Invalid("daily takes a table's name, or db.table(...) before it is grouped or counted")
        check_private(table.relation)
        if not all(scanned in catalog.tables for scanned in tables_in(table.relation)):
            raise Invalid("this table is of another session: begin with db.table(...) of the session that is asked")
        if not isinstance(label, str):
            raise Invalid("name must be text")
        rows = table if where is None else table.where(where)
        check_causal(rows.relation)
        day_name, value_name = _free_names(rows.relation)
        rows = rows.with_columns(**{day_name: _spelled(day, rows.relation)})
        if rows.relation.schema[day_name].kind not in (Kind.DATE, Kind.TIMESTAMP):
            raise Refused("day must be a column of dates or timestamps: declare its type; text is not read as dates")
        rows = rows.with_columns(**{day_name: f"DATE_TRUNC('{calendar.every}', {day_name})"})
        stat, signed = Total("rows"), False
        if value is not None:
            rows = rows.with_columns(**{value_name: _spelled(value, rows.relation)})
            stat, signed = _summed(rows.relation, value_name)
        limits = [exact.whole(n, name) for n, name in ((per_day, "per_day"), (active_days, "active_days"))]
        if max(limits) > MOST_CONTRIBUTED:
            raise Invalid(f"per_day and active_days are at most {MOST_CONTRIBUTED}: a unit that counts more often drowns in its own noise")
        if rows.relation.one_row or not rows.relation.has_id:
            limits = [1, 1]  # it has one row, on one day
        return cls(
            table.said[0], rows.relation, day_name, None if value is None else value_name, stat, signed, calendar,
            limits[0], min(limits[1], calendar.count), *price, label, catalog,
        )  # fmt: skip

    @property
    def counted(self) -> str:
        """Which days of a unit count, in words."""
        what = "any rows" if self.value is None else "a value that is not missing"
        return f"its first {self.active_days} {self.calendar.every}s with {what}"

    # ── price ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def moved(self) -> int:
        """How far one unit moves one day's number."""
        return self.per_day * self.stat.most

    @cached_property
    def mechanism(self) -> Tree | Toeplitz:
        """Of the tree with Laplace noise and, if there is a δ, the square root with Gaussian noise: the one that errs less."""
        replaced, k, horizon = is_replacement(self.catalog.adjacency), self.active_days, self.calendar.count
        far = self.moved * (2 if replaced else 1)
        tree = Tree(epsilon=self.epsilon, horizon=horizon, sensitivity=far, contributions=k, arity=None)
        if not self.asked_delta:
            return tree
        one = replaced and not self.signed  # then the two units' parts have no negative entry: less than twice one of them
        root = Toeplitz(
            epsilon=self.epsilon, delta=self.asked_delta, horizon=horizon, sensitivity=self.moved if one else far, contributions=k,
            exchanged=one,
        )  # fmt: skip
        return tree if tree.error(size=horizon) <= root.error(size=horizon) else root

    @property
    def delta(self) -> Fraction:
        """The δ that is paid: none for the tree."""
        return self.asked_delta if isinstance(self.mechanism, Toeplitz) else Fraction(0)

    @property
    def loss(self) -> Loss:
        """What all days together cost one unit."""
        cost = self.mechanism.loss
        return Promised(cost, self.epsilon, self.delta) if self.delta else cost

    # ── name ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def asked(self) -> Any:
        """All that decides what is released, as plain values; also how it is measured, for what was measured is taken up again."""
        mechanism = self.mechanism
        how = [mechanism.factor.rates, mechanism.factor.weights, mechanism.grid] if isinstance(mechanism, Toeplitz) else [mechanism.arity]
        what = (self.relation, self.day, self.value, self.calendar, self.per_day, self.active_days, self.label)
        return {"is": "Daily", "format": FORMAT, "of": plain(what), "scale": str(mechanism.scale), "how": plain(how)}

    @cached_property
    def question(self) -> str:
        """The feed's name: the same for the same order under the same policy and version of the data."""
        numbers = [plain(self.epsilon), plain(self.delta), self.catalog.digest, self.catalog.version, plain(CONFIDENCE)]
        return fingerprint([self.asked, *numbers])

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
        case Where(below) | Select(below):
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
        raise Refused("value must be a number, such as cost")
    if not of.range.known:
        raise Refused("a sum needs bounds of its value: declare them, or clip it here, as in value='CLAMP(cost, 0, 500)'")
    return Total("product", factors=(Factor(Column(name), grid(of, of.range, WEIGHTED_BITS, centred=False)),)), of.range.low < 0


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
