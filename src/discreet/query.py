"""Ask in Python: a chain of steps that builds the same question as SQL does.

Strings are SQL expressions, read by the same reader and refused by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, final

from attrs import evolve, frozen

from discreet import exact
from discreet.errors import Invalid, Refused
from discreet.plan.question import Question
from discreet.relation.node import Relation, Scan
from discreet.tables.catalog import Catalog

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")
Named = tuple[str | None, str]


def _pieces() -> ModuleType:
    """The SQL reader, loaded when the first expression is read."""
    from discreet.sql import pieces

    return pieces


@final
@frozen
class Ask(Generic[T]):
    """A question in the making. Every step gives a new one; `question` is what it amounts to, and `done` what its owner makes of that.

    >>> from discreet.tables.column import Column
    >>> from discreet.tables.kind import Kind
    >>> from discreet.tables.table import Table
    >>> from discreet.tables.unit import Person
    >>> visits = Table("visits", (Column.of("id", Kind.INTEGER), Column.of("cost", Kind.REAL, bounds=(0, 500))), Person("id"))
    >>> asked = table(Catalog((visits,)), "visits").where("cost > 10").count().mean("cost", name="mean_cost")
    >>> [name for name, _ in asked.question.measures]
    ['count', 'mean_cost']
    """

    relation: Relation
    build: Callable[[Question], T]
    dialect: str = "duckdb"
    keys: tuple[Named, ...] = ()
    statistics: tuple[Any, ...] = ()  # sql.pieces.Statistic
    filters: tuple[str, ...] = ()
    ordered: tuple[tuple[str, bool], ...] = ()
    most: int | None = None

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def where(self, condition: str) -> Ask[T]:
        """Keep the rows for which a condition is true."""
        return self._rows(_pieces().where(self.relation, _text(condition), self.dialect))

    def with_columns(self, **columns: str) -> Ask[T]:
        """Compute further columns."""
        return self._rows(_pieces().with_columns(self.relation, _named((), columns), self.dialect))

    def join(
        self, other: Ask[Any], on: str | tuple[str, str] | list[str | tuple[str, str]], how: Literal["inner", "left"] = "inner"
    ) -> Ask[T]:
        """Join another table on equal columns; two private ones on the column that names the unit.

        A column of the other table whose name is taken here is called name_2.
        """
        if not isinstance(other, Ask) or other.keys or other.statistics:
            raise Invalid("join takes another table, before it is grouped or counted")
        if how not in ("inner", "left"):
            raise Invalid('how must be "inner" or "left"')
        pairs = [on] if isinstance(on, str | tuple) else list(on)
        return self._rows(_pieces().join(self.relation, other.relation, [(p, p) if isinstance(p, str) else p for p in pairs], how))

    def stack(self, other: Ask[Any]) -> Ask[T]:
        """Put the rows of another table with the same columns below (UNION ALL)."""
        if not isinstance(other, Ask) or other.keys or other.statistics:
            raise Invalid("stack takes another table, before it is grouped or counted")
        return self._rows(_pieces().stack(self.relation, other.relation))

    def per_unit(self, *keys: str, **aggregates: str) -> Ask[T]:
        """Aggregate each unit's own rows, by keys if there are any: COUNT, COUNT(DISTINCT x), SUM, AVG, MIN and MAX."""
        return self._rows(_pieces().per_unit(self.relation, _named(keys, {}), _named((), aggregates), self.dialect))

    def _rows(self, relation: Relation) -> Ask[T]:
        if self.keys or self.statistics:
            raise Refused(
                "where, with_columns, join, stack and per_unit come before group_by and the statistics; to filter answers use having"
            )
        return evolve(self, relation=relation)

    # ── groups and statistics ────────────────────────────────────────────────────────────────────────────────────────

    def group_by(self, *keys: str, **named: str) -> Ask[T]:
        """Ask of each group; keys are columns, or expressions with a name."""
        return evolve(self, keys=(*self.keys, *_named(keys, named)))

    def count(self, expression: str | None = None, *, name: str | None = None) -> Ask[T]:
        """How many rows there are, or how many in which an expression is not NULL."""
        return self._ask("count" if expression is None else "count_of", expression, name or ("count" if expression is None else None))

    def count_units(self, *, name: str | None = None) -> Ask[T]:
        """How many protected units there are."""
        return self._ask("count_units", None, name)

    def count_distinct(self, expression: str, *, name: str | None = None) -> Ask[T]:
        """How many different values there are."""
        return self._ask("count_distinct", expression, name)

    def sum(self, expression: str, *, name: str | None = None, bounds: Any = None) -> Ask[T]:
        """The sum; with bounds, of values clipped to them."""
        return self._ask("sum", expression, name, bounds=bounds)

    def mean(self, expression: str, *, name: str | None = None, bounds: Any = None) -> Ask[T]:
        """The mean."""
        return self._ask("mean", expression, name, bounds=bounds)

    def var(self, expression: str, *, name: str | None = None, bounds: Any = None) -> Ask[T]:
        """The variance of the sample."""
        return self._ask("variance", expression, name, bounds=bounds)

    def std(self, expression: str, *, name: str | None = None, bounds: Any = None) -> Ask[T]:
        """The standard deviation of the sample."""
        return self._ask("stddev", expression, name, bounds=bounds)

    def median(self, expression: str, *, name: str | None = None, bounds: Any = None) -> Ask[T]:
        """The median."""
        return self._ask("median", expression, name, bounds=bounds)

    def quantile(self, expression: str, q: Any, *, name: str | None = None, bounds: Any = None) -> Ask[T]:
        """The value below which this share of the rows lies."""
        return self._ask("quantile", expression, name, bounds=bounds, q=exact.rational(q, "q"))

    def min(self, expression: str, *, name: str | None = None, bounds: Any = None) -> Ask[T]:
        """The 0.01 quantile: the least value belongs to one person."""
        return self._ask("min", expression, name, bounds=bounds)

    def max(self, expression: str, *, name: str | None = None, bounds: Any = None) -> Ask[T]:
        """The 0.99 quantile: the largest value belongs to one person."""
        return self._ask("max", expression, name, bounds=bounds)

    def mode(self, expression: str, *, name: str | None = None) -> Ask[T]:
        """The most frequent value."""
        return self._ask("mode", expression, name)

    def agg(self, *expressions: str, **named: str) -> Ask[T]:
        """Anything computed from aggregates, as in agg(ratio="SUM(a) / SUM(b)")."""
        asked = self
        for name, text in _named(expressions, named):
            asked = asked._ask("agg", text, name)
        return asked

    def _ask(self, function: str, expression: str | None, name: str | None, **more: Any) -> Ask[T]:
        text = None if expression is None else _text(expression)
        return evolve(self, statistics=(*self.statistics, _pieces().Statistic(function, text, name, **more)))

    # ── afterwards ───────────────────────────────────────────────────────────────────────────────────────────────────

    def having(self, condition: str) -> Ask[T]:
        """Show the groups whose answers meet a condition."""
        return evolve(self, filters=(*self.filters, _text(condition)))

    def order_by(self, *expressions: str, descending: bool = False) -> Ask[T]:
        """Sort by answers, keys or expressions of them."""
        return evolve(self, ordered=(*self.ordered, *((_text(text), descending) for text in expressions)))

    def limit(self, most: int) -> Ask[T]:
        """Show so many groups at most."""
        return evolve(self, most=exact.whole(most, "limit"))

    @property
    def question(self) -> Question:
        """What is asked."""
        found: Question = _pieces().question(self.relation, self.keys, self.statistics, self.filters, self.ordered, self.most, self.dialect)
        return found

    def done(self) -> T:
        """What the owner of this chain makes of the question; on a session, a Query."""
        return self.build(self.question)

    # ── on a session ─────────────────────────────────────────────────────────────────────────────────────────────────

    def plan(self, *price: Any, **more: Any) -> Any:
        """What would happen at this price, as `Query.plan`; reads and spends nothing."""
        return self._query.plan(*price, **more)

    def release(self, *price: Any, **more: Any) -> Any:
        """Pay, and let the answers out, as `Query.release`."""
        return self._query.release(*price, **more)

    def dry_run(self, *price: Any, **more: Any) -> Any:
        """Walk the whole road on made-up data, as `Query.dry_run`; free."""
        return self._query.dry_run(*price, **more)

    @property
    def _query(self) -> Any:
        found: Any = self.done()
        if isinstance(found, Question):
            raise Invalid("this question hangs on no session: begin with db.table(...)")
        return found


def table(catalog: Catalog, name: str, build: Callable[[Question], T] | None = None, dialect: str = "duckdb") -> Ask[T]:
    """Begin with a declared table; `build` is applied to the question in the end."""
    found = catalog.table(name)
    if found is None:
        raise Refused(f"there is no table {name}; there are {', '.join(sorted(other.name for other in catalog.tables))}")
    return Ask(Scan(found, catalog.steps_to_unit(found)), build or _as_it_is, dialect)


def _as_it_is(question: Question) -> Any:
    return question


def _text(expression: Any) -> str:
    if not isinstance(expression, str):
        raise Invalid("expressions are written as text, such as 'cost > 10'")
    return expression


def _named(plain: tuple[str, ...], named: dict[str, str]) -> tuple[Named, ...]:
    return (*((None, _text(text)) for text in plain), *((name, _text(text)) for name, text in named.items()))
