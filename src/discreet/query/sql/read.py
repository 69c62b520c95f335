"""Read SQL text into a question of our own nodes; the text itself is never executed.

Every node class of the parser has an explicit case or is refused, and so is a node with arguments that its case does not read. So a defect
of the parser can only cause a refusal, not a leak.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from attrs import evolve
from sqlglot import exp

from discreet.errors import Invalid, Refused
from discreet.query.parameters import Values
from discreet.query.question import Question
from discreet.query.relation.expr import Column
from discreet.query.relation.field import Field
from discreet.query.sql.aggregates import Aggregate
from discreet.query.sql.grouped import Grouped, row_reader
from discreet.query.sql.grouping import is_grouped, items_of, listed_groups, read_grouped
from discreet.query.sql.kinds import check_arguments
from discreet.query.sql.literals import number
from discreet.query.sql.matches import kept_rows
from discreet.query.sql.naming import unique
from discreet.query.sql.numbers import clipped
from discreet.query.sql.privacy import BoundedStatistic, Options, check_public, per_group, read_bounds_pair, read_privacy_clause
from discreet.query.sql.reader import Reader
from discreet.query.sql.refuse import closed, located, only, refused
from discreet.query.sql.scope import Context, Scope
from discreet.query.sql.select import arguments_of, named_after, read_query, with_names
from discreet.query.sql.sources import read_from
from discreet.query.sql.tokens import parse
from discreet.query.sql.typed import Typed, literal, of_answers
from discreet.query.sql.units import names_unit
from discreet.query.statistics.count import Count
from discreet.query.statistics.registry import by_spelling, places
from discreet.query.statistics.spelling import Spelling
from discreet.query.statistics.statistic import Argument
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Kind
from discreet.tables.table import Table

MOST_ROWS = 10**9


def read(text: str, catalog: Catalog, dialect: str = "duckdb", parameters: Values | None = None) -> Question:
    """Read a question in SQL; parameters are literals in it.

    >>> from discreet.tables.column import ColumnMetadata
    >>> from discreet.tables.table import Table
    >>> from discreet.tables.unit import Person
    >>> visits = Table("visits", (ColumnMetadata.of("id", Kind.INTEGER), ColumnMetadata.of("dept", Kind.TEXT)), Person("id"))
    >>> read("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept", Catalog((visits,))).statistics
    (('n', Count(value_of=None)),)
    """
    return closed(lambda: _read(text, catalog, dialect, parameters), _tables_named(text, catalog, dialect, parameters))


def _tables_named(text: str, catalog: Catalog, dialect: str, parameters: Values | None) -> Iterator[Table]:
    """The tables that a text names; it is parsed for them when they are asked for."""
    names = {node.name.lower() for node in parse(text, dialect, parameters).tree.find_all(exp.Table)}
    yield from (table for table in catalog.tables if table.name.lower() in names)


def _read(text: str, catalog: Catalog, dialect: str, parameters: Values | None) -> Question:
    statement = parse(text, dialect, parameters)
    tree = statement.tree
    if dialect == "postgres":
        _without_public(tree)
    while isinstance(tree, exp.Subquery):
        only(tree, "this")
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise refused(
            tree,
            "a question is one SELECT",
            "put UNION ALL inside a subquery and aggregate over it, as in SELECT COUNT(*) FROM (… UNION ALL …)",
        )
    context = with_names(tree, Context(catalog, dialect, read_query))
    if tree.args.get("distinct") is not None:
        listed_groups(tree)
    only(tree, "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_")
    rows, conditions = read_from(tree, context)
    rows = kept_rows(rows, conditions, context)
    if not is_grouped(tree):
        for item in items_of(tree):
            if not isinstance(item.node, exp.Star | exp.Column):
                row_reader(rows, dialect).read(item.node)  # an unsupported expression is reported first
        raise refused(tree, "single rows are never shown", "ask for a statistic, as in SELECT COUNT(*), AVG(x) FROM …")
    return question(tree, rows, read_privacy_clause(statement.options, rows), dialect)


def _without_public(tree: exp.Expr) -> None:
    """Leave out `public.`, the schema in which PostgreSQL's clients expect all tables."""
    for node in tree.find_all(exp.Table, exp.Column):
        if node.text("db") == "public" and not node.text("catalog"):
            node.set("db", None)


def question(tree: exp.Select, rows: Scope, options: Options, dialect: str) -> Question:
    """Read SELECT, GROUP BY, HAVING, ORDER BY and LIMIT over these rows."""
    notes: list[str] = []

    def ask(aggregate: Aggregate, reader: Reader) -> tuple[BoundedStatistic, Field, str]:
        return _asked(aggregate, reader, rows, notes)

    grouped: Grouped[BoundedStatistic] = read_grouped(tree, rows, ask, of_answers, dialect)
    if grouped.having is not None and grouped.having.field.kind not in (Kind.BOOLEAN, None):
        raise refused(tree.args["having"], "HAVING needs a condition", "write a comparison, as in HAVING COUNT(*) > 10")
    keys = tuple((name, key.expr) for name, key in grouped.keys)
    body, statistics = rows.body, tuple((name, bounded.statistic) for name, bounded in grouped.asked)
    if keys and not statistics:
        statistics = ((unique("count", {*(name for name, _ in (*keys, *grouped.outputs))}), Count()),)  # it decides, and is not shown
    contributions = options.contributions
    if any(bounded.bounds is not None for _, bounded in grouped.asked):
        for _, key in grouped.keys:
            if key.field.unit:
                raise refused(tree, "groups of single units are never shown", "group by another column")
        body, keys, statistics = per_group(body, keys, grouped.asked)
        contributions = contributions if contributions.rows else evolve(contributions, per_group=1)
    check_public(options.public_groups, body.relation, keys)
    limit = _limit(tree.args.get("limit"))
    try:
        found = Question(
            body.relation,
            keys,
            statistics,
            tuple((name, output.expr) for name, output in grouped.outputs),
            None if grouped.having is None else grouped.having.expr,
            tuple((value.expr, descending) for value, descending in grouped.order),
            limit,
            contributions,
            options.epsilon,
            options.delta,
            windows=grouped.windows,
            sets=grouped.sets,
            sample=options.sample,
            notes=tuple(dict.fromkeys(notes)),
        )
        return found if options.minimise is None else found.minimising(options.minimise)
    except Invalid as error:
        raise Refused(str(error)) from None
    except Refused as error:
        raise located(tree, error) from None


def _limit(node: exp.Expr | None) -> int | None:
    if node is None:
        return None
    if isinstance(node, exp.Fetch):
        only(node, "direction", "count", "limit_options")
        if node.args.get("limit_options") is not None:
            only(node.args["limit_options"], "rows")
        value = node.args.get("count")
    else:
        only(node, "expression")
        value = node.args.get("expression")
    while isinstance(value, exp.Paren):
        value = value.this
    found = number(value) if isinstance(value, exp.Literal) and not value.is_string else None
    if not isinstance(found, int) or not 1 <= found <= MOST_ROWS:
        raise refused(node, "LIMIT takes a literal whole number", "write LIMIT 10")
    return found


# ── statistics ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _asked(aggregate: Aggregate, reader: Reader, rows: Scope, notes: list[str]) -> tuple[BoundedStatistic, Field, str]:
    """A statistic of each group, the field of its value, and its default name."""
    aggregate, named = _of_unit(aggregate, reader, rows)
    arguments = arguments_of(aggregate, reader)
    if any(isinstance(value, Typed) and value.field.unit for value in arguments):
        raise refused(aggregate.node, "the column that names the protected unit may only be counted", "write COUNT(DISTINCT unit)")
    check_arguments(aggregate, arguments)
    row_bounds = read_bounds_pair(aggregate.per_row)
    if row_bounds is not None:
        arguments = _clipped(aggregate, arguments, reader, literal(row_bounds[0]), literal(row_bounds[1]))
    try:
        exprs = tuple(value.expr if isinstance(value, Typed) else value for value in arguments)
        statistic = aggregate.entry.read(aggregate.spelling, exprs, rows.relation.schema)
    except Refused as error:
        raise located(aggregate.node, error) from None
    if aggregate.per_group is not None and statistic.own_aggregate is None:
        raise refused(aggregate.node, "only COUNT, SUM and AVG take bounds per group", "use contribution_bounds_per_row")
    if note := statistic.reading_note(aggregate.spelling):
        notes.append(note)
    bounded = BoundedStatistic(statistic, read_bounds_pair(aggregate.per_group))
    columns = () if issubclass(aggregate.entry, Spelling) else named or arguments
    return bounded, statistic.answer(rows.relation.schema), named_after(statistic.called(aggregate.spelling), columns)


def _of_unit(aggregate: Aggregate, reader: Reader, rows: Scope) -> tuple[Aggregate, tuple[Typed, ...]]:
    """An aggregate of the column that names the unit is another one, without arguments: COUNT(DISTINCT unit) counts units."""
    if aggregate.entry.of_unit is None or len(aggregate.arguments) != 1 or not isinstance(aggregate.arguments[0], exp.Column):
        return aggregate, ()
    value = reader.read(aggregate.arguments[0])
    if not isinstance(value.expr, Column) or not names_unit(rows.relation, value.expr.name):
        return aggregate, ()
    meant = by_spelling(aggregate.entry.of_unit)
    assert meant is not None
    same = meant is aggregate.entry
    return evolve(aggregate, entry=meant, spelling=aggregate.entry.of_unit, arguments=()), (value,) if same else ()


def _clipped(
    aggregate: Aggregate, arguments: tuple[Typed | Fraction, ...], reader: Reader, low: Typed, high: Typed
) -> tuple[Typed | Fraction, ...]:
    """Numbers clipped to the bounds for each row."""
    kinds = places(aggregate.entry, aggregate.spelling)
    if Argument.NUMBER not in kinds:
        raise refused(aggregate.node, "this aggregate takes no bounds per row", "use contribution_bounds_per_group")
    return tuple(
        clipped(reader, aggregate.node, value, low, high) if kind is Argument.NUMBER and isinstance(value, Typed) else value
        for value, kind in zip(arguments, kinds, strict=False)
    )
