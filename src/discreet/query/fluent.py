"""Build a question in Python: a chain of steps, equivalent to SQL.

Strings are SQL expressions, parsed by the same reader and refused by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from inspect import Parameter, Signature
from typing import Any, Generic, Literal, TypeVar, final

from attrs import evolve, field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.hints import check_arguments, suggest_and_list
from discreet.query.chained import Named, bounds_pair, joined_columns, named_texts, share_of, text_of, typed_step
from discreet.query.question import Question
from discreet.query.relation.node import Relation, Scan
from discreet.query.statistics import registry
from discreet.query.statistics.spelling import Spelling
from discreet.query.statistics.statistic import Argument
from discreet.tables.catalog import Catalog
from discreet.tables.table import Contributions

T = TypeVar("T")
NOT_COPIED = (
    "a query is attached to its session and cannot be copied or pickled: send its SQL text, and call db.sql(...) on a session there"
)
_LONGEST = 300  # characters of a chain in its repr


def _pieces() -> Any:
    """The SQL reader, loaded when the first expression is read."""
    from discreet.query.sql import pieces

    return pieces


@final
@frozen
class QueryBuilder(Generic[T]):
    """Build a question step by step. Each step returns a new builder; `question` is the result, and `done` passes it to `build`.

    >>> from discreet.tables.column import ColumnMetadata
    >>> from discreet.tables.kind import Kind
    >>> from discreet.tables.table import Table
    >>> from discreet.tables.unit import Person
    >>> columns = ColumnMetadata.of("id", Kind.INTEGER), ColumnMetadata.of("cost", Kind.REAL, bounds=(0, 500))
    >>> visits = Table("visits", columns, Person("id"))
    >>> asked = table(Catalog((visits,)), "visits").where("cost > 10").count().mean("cost", name="mean_cost")
    >>> [name for name, _ in asked.question.statistics]
    ['count', 'mean_cost']
    >>> asked
    visits.where('cost > 10').count().mean('cost', name='mean_cost')
    """

    relation: Relation
    build: Callable[[Question], T]
    dialect: str = "duckdb"
    keys: tuple[Named, ...] = ()
    sets: tuple[str, int] | None = None  # "rollup" or "cube", and the number of keys before it
    statistics: tuple[Any, ...] = ()  # sql.pieces.Called
    filters: tuple[str, ...] = ()
    ordered: tuple[tuple[str, bool], ...] = ()
    most: int | None = None
    contributions: Contributions = Contributions()
    other: bool = False
    sample: Fraction | None = None
    minimised: Any = None
    estimator: Callable[..., Any] | None = field(default=None, eq=False, repr=False)
    said: tuple[str, ...] = field(default=(), eq=False)  # the chain as it was typed

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def where(self, condition: str) -> QueryBuilder[T]:
        """Keep the rows for which a condition is true."""
        return self._rows(_pieces().where(self.relation, text_of(condition), self.dialect))._with(typed_step("where", condition))

    def with_columns(self, **columns: str) -> QueryBuilder[T]:
        """Compute further columns."""
        return self._rows(_pieces().with_columns(self.relation, named_texts((), columns), self.dialect))._with(
            typed_step("with_columns", **columns)
        )

    def join(
        self, other: QueryBuilder[Any], on: str | tuple[str, str] | list[str | tuple[str, str]], how: Literal["inner", "left"] = "inner"
    ) -> QueryBuilder[T]:
        """Join another table on equal columns; two private ones on the column that names the unit.

        A column of the other table whose name already exists is called name_2.
        """
        if not isinstance(other, QueryBuilder) or other.keys or other.statistics:
            raise Invalid("join takes a table before group_by and statistics, as in visits.join(db.table('people'), on='id')")
        if how not in ("inner", "left"):
            raise Invalid('how must be "inner" or "left"')
        joined = self._rows(_pieces().join(self.relation, other.relation, joined_columns(on), how))
        return joined._with(typed_step("join", other, on=on, **({} if how == "inner" else {"how": how})))

    def stack(self, other: QueryBuilder[Any]) -> QueryBuilder[T]:
        """Append the rows of another table with the same columns (UNION ALL)."""
        if not isinstance(other, QueryBuilder) or other.keys or other.statistics:
            raise Invalid("stack takes a table before group_by and statistics, as in a.stack(db.table('b'))")
        return self._rows(_pieces().stack(self.relation, other.relation))._with(typed_step("stack", other))

    def per_unit(self, *keys: str | Iterable[str], **aggregates: str) -> QueryBuilder[T]:
        """Aggregate each unit's own rows, by keys if there are any: COUNT, COUNT(DISTINCT x), SUM, AVG, MIN and MAX."""
        relation = _pieces().per_unit(self.relation, named_texts(keys, {}), named_texts((), aggregates), self.dialect)
        return self._rows(relation)._with(typed_step("per_unit", *keys, **aggregates))

    def _rows(self, relation: Relation) -> QueryBuilder[T]:
        if self.keys or self.statistics:
            raise Refused(
                "where, with_columns, join, stack and per_unit come before group_by and the statistics; to filter answers use having"
            )
        return evolve(self, relation=relation)

    # ── groups and statistics ────────────────────────────────────────────────────────────────────────────────────────

    def group_by(self, *keys: str | Iterable[str], **named: str) -> QueryBuilder[T]:
        """Group by keys: columns, or expressions with a name."""
        return self._with(typed_step("group_by", *keys, **named), keys=(*self.keys, *named_texts(keys, named)))

    def rollup(self, *keys: str | Iterable[str], **named: str) -> QueryBuilder[T]:
        """Group by these keys, by all but the last of them, and so on, up to the total of all; the answers add up."""
        return self._sets("rollup", keys, named)

    def cube(self, *keys: str | Iterable[str], **named: str) -> QueryBuilder[T]:
        """Group by these keys and by every choice among them; the answers add up."""
        return self._sets("cube", keys, named)

    def _sets(self, kind: str, keys: tuple[str | Iterable[str], ...], named: dict[str, str]) -> QueryBuilder[T]:
        if self.sets is not None:
            raise Invalid("a query has one rollup or cube: write several in SQL, as in GROUP BY ROLLUP (a, b), CUBE (c)")
        return self._with(typed_step(kind, *keys, **named), keys=(*self.keys, *named_texts(keys, named)), sets=(kind, len(self.keys)))

    def __getattr__(self, name: str) -> Callable[..., QueryBuilder[T]]:
        """The statistics, by the names that their classes give them in Python: count, sum, mean, median, corr, …"""
        found = registry.by_method(name)
        if found is None:
            if name.startswith("_"):  # looked up by Python itself, as in copying
                raise AttributeError(name)
            raise AttributeError(f"a query has no {name[:40]!r}; {suggest_and_list(name, registry.methods())}")
        return _method(self, name, *found)

    def __dir__(self) -> list[str]:
        return [*dir(type(self)), *registry.methods()]

    def agg(self, *expressions: str | Iterable[str], **named: str) -> QueryBuilder[T]:
        """Add expressions over aggregates, as in agg(ratio="SUM(a) / SUM(b)")."""
        asked = self
        for name, text in named_texts(expressions, named):
            step = typed_step("agg", text) if name is None else typed_step("agg", **{name: text})
            asked = asked._ask(_pieces().Called(None, (text,), name=name), step)
        return asked

    def _ask(self, called: Any, step: str) -> QueryBuilder[T]:
        if called.name is not None and (not isinstance(called.name, str) or not called.name):
            raise Invalid("name must be text, as in name='mean_cost'")
        return self._with(step, statistics=(*self.statistics, called))

    # ── post-processing ──────────────────────────────────────────────────────────────────────────────────────────────

    def having(self, condition: str) -> QueryBuilder[T]:
        """Keep the groups whose released values meet a condition."""
        return self._with(typed_step("having", condition), filters=(*self.filters, text_of(condition)))

    def order_by(self, *expressions: str | Iterable[str], descending: bool = False) -> QueryBuilder[T]:
        """Sort by statistics, keys or expressions of them; NULL comes last."""
        if not isinstance(descending, bool):
            raise Invalid("descending must be True or False")
        ordered = (*self.ordered, *((text, descending) for _, text in named_texts(expressions, {})))
        return self._with(typed_step("order_by", *expressions, **({"descending": True} if descending else {})), ordered=ordered)

    def limit(self, most: int) -> QueryBuilder[T]:
        """Keep at most this many groups."""
        return self._with(typed_step("limit", most), most=exact.whole(most, "limit"))

    def with_contributions(self, *, rows: int | None = None, groups: int | None = None, per_group: int | None = None) -> QueryBuilder[T]:
        """Bound the contribution of one unit: `rows` in all, or `per_group` rows in each of `groups` groups."""
        given = {name: value for name, value in (("rows", rows), ("groups", groups), ("per_group", per_group)) if value is not None}
        return self._with(typed_step("with_contributions", **given), contributions=Contributions.of(given))

    def with_other(self) -> QueryBuilder[T]:
        """Add one group for all rows whose group is not shown."""
        return self._with(typed_step("with_other"), other=True)

    def with_sample(self, share: Number) -> QueryBuilder[T]:
        """Read a fresh secret sample of the units, as `sample` of `Session.sql`."""
        if not self.statistics:
            raise Invalid("with_sample comes after the statistics, as in db.table('visits').count().with_sample(0.01)")
        return self._with(typed_step("with_sample", share), sample=parameter.sample_rate(share))

    def minimise(self, goal: Any) -> QueryBuilder[T]:
        """Choose the noise of rollup or cube for the "total" variance, the "worst" one, or weights of sets, as in `Session.sql`."""
        return self._with(typed_step("minimise", goal), minimised=goal)

    def _with(self, step: str, **changes: Any) -> QueryBuilder[T]:
        return evolve(self, said=(*self.said, step), **changes)

    @property
    def question(self) -> Question:
        """The question that the steps build."""
        if self.other and not self.keys:
            raise Invalid("with_other needs groups: add group_by(...), or leave with_other out")
        asked = (self.keys, self.sets, self.statistics, self.filters, self.ordered, self.most, self.contributions)
        found: Question = _pieces().question(self.relation, *asked, self.dialect)
        found = found if self.minimised is None else found.minimising(self.minimised)
        return evolve(found, other=self.other, sample=self.sample, said=".".join(self.said))

    def done(self) -> T:
        """The question passed to `build`; on a session, a Query."""
        return self.build(self.question)

    # ── on a session ─────────────────────────────────────────────────────────────────────────────────────────────────

    def plan(self, *price: Any, **more: Any) -> Any:
        """Plan the query at this price, as `Query.plan`; reads and spends nothing."""
        return self._query.plan(*price, **more)

    def release(self, *price: Any, **more: Any) -> Any:
        """Pay and release the answers, as `Query.release`."""
        return self._query.release(*price, **more)

    def dry_run(self, *price: Any, **more: Any) -> Any:
        """Run end to end on mock data, as `Query.dry_run`; free."""
        return self._query.dry_run(*price, **more)

    def price(self, *error: Any, **more: Any) -> Any:
        """The least ε at which every output meets its target error, as `Query.price`; free."""
        return self._query.price(*error, **more)

    def bias(self, *price: Any, **more: Any) -> Any:
        """Pay to learn how many units bounding and clipping affect, as `Query.bias`."""
        return self._query.bias(*price, **more)

    def estimate(self, what: Callable[[Any], Any] | str, of: str | None = None, **options: Any) -> Any:
        """Pay for an estimate of any function of people's rows, or of a robust statistic of one value for each, as `Session.estimate`."""
        if self.estimator is None:
            raise Invalid("this query is not attached to a session: begin with db.table(...)")
        return self.estimator(self, what, of, **options)

    def __repr__(self) -> str:
        text = ".".join(self.said) or "QueryBuilder"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

    @property
    def _query(self) -> Any:
        found: Any = self.done()
        if isinstance(found, Question):
            raise Invalid("this query is not attached to a session: begin with db.table(...)")
        return found


def table(
    catalog: Catalog, name: str, build: Callable[[Question], T] | None = None, dialect: str = "duckdb",
    estimator: Callable[..., Any] | None = None,
) -> QueryBuilder[T]:  # fmt: skip
    """Begin with a declared table; `build` is applied to the finished question."""
    if not isinstance(name, str):
        raise Invalid("a table name must be text, as in 'visits'")
    found = catalog.table(name)
    if found is None:
        names = (other.name for other in catalog.tables)
        raise Refused(f"there is no table {name[:80]}; {suggest_and_list(name, names)}")
    return QueryBuilder(Scan(found, catalog.steps_to_unit(found)), build or _as_it_is, dialect, estimator=estimator, said=(found.name,))


def _method(builder: QueryBuilder[T], name: str, entry: registry.Entry, spelling: str) -> Callable[..., QueryBuilder[T]]:
    """One statistic as a method of the builder, with its own signature and docstring."""
    kinds = registry.places(entry, spelling)
    signature = _signature(entry, kinds)

    def ask(*arguments: Any, **named: Any) -> QueryBuilder[T]:
        check_arguments(name, named, signature.parameters)
        bound = signature.bind(*arguments, **named)
        given = [
            (kind, bound.arguments[place]) for place, kind in zip(signature.parameters, kinds, strict=False) if place in bound.arguments
        ]
        if given and given[-1][1] is None and entry.optional:
            given.pop()
        texts = tuple(text_of(value) for kind, value in given if kind is not Argument.SHARE)
        shares = tuple(share_of(value) for kind, value in given if kind is Argument.SHARE)
        options = {key: bound.arguments.get(key) for key in ("name", "bounds", "where")}
        bounds, where = bounds_pair(options["bounds"], texts[0] if texts else None), options["where"]
        called = _pieces().Called(spelling, texts, shares, options["name"], bounds, None if where is None else text_of(where))
        return builder._ask(called, typed_step(name, *(value for _, value in given), **options))

    ask.__name__, ask.__qualname__, ask.__doc__ = name, f"{type(builder).__name__}.{name}", f"{entry.__doc__}"
    ask.__signature__ = signature  # type: ignore[attr-defined]
    return ask


def _signature(entry: registry.Entry, kinds: tuple[Argument, ...]) -> Signature:
    """The signature of a statistic's method: its arguments, a name, bounds for numbers, and a condition on rows."""
    exprs = sum(kind is not Argument.SHARE for kind in kinds)
    fields = ["expression"] if issubclass(entry, Spelling) else entry.field_names()
    names = ["q" if kind is Argument.SHARE else "expression" if exprs == 1 else field for kind, field in zip(kinds, fields, strict=False)]
    given = [*[Parameter.empty] * (len(kinds) - entry.optional), *[None] * entry.optional]
    own = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=usual) for name, usual in zip(names, given, strict=True)]
    options = ["name", *(["bounds"] if Argument.NUMBER in kinds else []), "where"]
    return Signature([*own, *(Parameter(option, Parameter.KEYWORD_ONLY, default=None) for option in options)])


def _as_it_is(question: Question) -> Any:
    return question
