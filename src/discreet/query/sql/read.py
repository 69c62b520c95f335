"""From SQL text to a question in nodes of our own; the text goes no further.

Every class of piece the parser knows has an explicit case or is refused, and a piece that says more than its case reads is refused too.
So a quirk of the parser can only refuse, not leak.
"""

from __future__ import annotations

from fractions import Fraction

from attrs import evolve
from sqlglot import exp

from discreet.errors import Refused
from discreet.query.question import Measure, Question
from discreet.query.relation.expr import Column
from discreet.query.relation.field import Field
from discreet.query.sql.aggregates import Aggregate
from discreet.query.sql.grouping import Grouped, is_grouped, items_of, read_grouped, row_reader
from discreet.query.sql.kinds import check_statistic
from discreet.query.sql.literals import number
from discreet.query.sql.numbers import clipped
from discreet.query.sql.privacy import Bounded, Options, check_public, per_group, read_bounds, read_options
from discreet.query.sql.reader import Reader
from discreet.query.sql.refuse import closed, located, only, refused
from discreet.query.sql.scope import Context, Rows
from discreet.query.sql.select import argument_of, name_of, read_query, with_names
from discreet.query.sql.sources import filtered, read_from
from discreet.query.sql.tokens import parse
from discreet.query.sql.typed import literal, of_answers
from discreet.query.sql.units import names_unit
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Kind

OUTERMOST = Fraction(1, 100)  # MIN and MAX are answered as the quantiles 0.01 and 0.99
MOST_ROWS = 10**9
_OF_ROWS = ("sum", "mean", "variance", "stddev", "quantile")  # have bounds for each row
_OF_GROUPS = ("count", "count_of", "sum", "mean")  # have bounds for each unit's share of a group


def read(text: str, catalog: Catalog, dialect: str = "duckdb") -> Question:
    """Read a question in SQL.

    >>> from discreet.tables.column import ColumnMetadata
    >>> from discreet.tables.table import Table
    >>> from discreet.tables.unit import Person
    >>> visits = Table("visits", (ColumnMetadata.of("id", Kind.INTEGER), ColumnMetadata.of("dept", Kind.TEXT)), Person("id"))
    >>> read("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept", Catalog((visits,))).measures
    (('n', Measure(function='count', expr=None, q=None, population=False)),)
    """
    return closed(lambda: _read(text, catalog, dialect))


def _read(text: str, catalog: Catalog, dialect: str) -> Question:
    statement = parse(text, dialect)
    tree = statement.tree
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
        raise refused(
            tree,
            "DISTINCT shows what rows hold",
            "count the groups, as in SELECT dept, COUNT(*) FROM visits GROUP BY dept, without DISTINCT",
        )
    only(tree, "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_")
    rows, conditions = read_from(tree, context)
    rows = filtered(rows, conditions, dialect)
    if not is_grouped(tree):
        for item in items_of(tree):
            if not isinstance(item.node, exp.Star | exp.Column):
                row_reader(rows, dialect).read(item.node)  # where a piece has no meaning at all, that is said first
        raise refused(tree, "single rows are never shown", "ask for a statistic, as in SELECT COUNT(*), AVG(x) FROM …")
    return question(tree, rows, read_options(statement.options, rows), dialect)


def question(tree: exp.Select, rows: Rows, options: Options, dialect: str) -> Question:
    """What SELECT, GROUP BY, HAVING, ORDER BY and LIMIT ask of these rows."""
    notes: list[str] = []

    def ask(aggregate: Aggregate, reader: Reader) -> tuple[Bounded, Field, str]:
        return _asked(aggregate, reader, rows, notes)

    grouped: Grouped[Bounded] = read_grouped(tree, rows, ask, of_answers, dialect)
    if grouped.having is not None and grouped.having.field.kind not in (Kind.BOOLEAN, None):
        raise refused(tree.args["having"], "HAVING needs a condition", "write a comparison, as in HAVING COUNT(*) > 10")
    keys = tuple((name, key.expr) for name, key in grouped.keys)
    body, measures = rows.body, tuple((name, bounded.measure) for name, bounded in grouped.asked)
    contributions = options.contributions
    if any(bounded.bounds is not None for _, bounded in grouped.asked):
        for _, key in grouped.keys:
            if key.field.unit:
                raise refused(tree, "groups of single units are never shown", "group by something else")
        body, keys, measures = per_group(body, keys, grouped.asked)
        contributions = contributions if contributions.rows else evolve(contributions, per_group=1)
    check_public(options.public_groups, body.relation, keys)
    limit = _limit(tree.args.get("limit"))
    try:
        return Question(
            body.relation,
            keys,
            measures,
            tuple((name, output.expr) for name, output in grouped.outputs),
            None if grouped.having is None else grouped.having.expr,
            tuple((value.expr, descending) for value, descending in grouped.order),
            limit,
            contributions,
            options.epsilon,
            options.delta,
            notes=tuple(dict.fromkeys(notes)),
        )
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


def _asked(aggregate: Aggregate, reader: Reader, rows: Rows, notes: list[str]) -> tuple[Bounded, Field, str]:
    """A statistic of each group, what is believed of its answer, and a name for it."""
    function, value = argument_of(aggregate, reader)
    word, q = name_of(function, value, aggregate.q, aggregate.population), aggregate.q
    if value is not None and isinstance(value.expr, Column) and names_unit(rows.relation, value.expr.name):
        if function == "count_distinct":
            function, value, word = "count_units", None, "count_units"
        elif function == "count_of":
            function, value = "count", None  # the unit is never missing
    if value is not None and value.field.unit:
        raise refused(
            aggregate.node, "the column that names the protected unit may only be counted", "write COUNT(DISTINCT unit) without more"
        )
    check_statistic(aggregate, value)
    if function in ("min", "max"):
        q = OUTERMOST if function == "min" else 1 - OUTERMOST
        notes.append(f"{function.upper()} is answered as the {float(q):g} quantile: the outermost value belongs to one person")
        function = "quantile"
    row_bounds = read_bounds(aggregate.per_row)
    if row_bounds is not None:
        if value is None or function not in _OF_ROWS:
            raise refused(aggregate.node, "this has no bounds for each row", "use contribution_bounds_per_group")
        value = clipped(reader, aggregate.node, value, literal(row_bounds[0]), literal(row_bounds[1]))
    if aggregate.per_group is not None and function not in _OF_GROUPS:
        raise refused(aggregate.node, "only COUNT, SUM and AVG have bounds for each group", "use contribution_bounds_per_row")
    try:
        measure = Measure(function, None if value is None else value.expr, q, aggregate.population)
    except Refused as error:
        raise located(aggregate.node, error) from None
    return Bounded(measure, read_bounds(aggregate.per_group)), _answer(measure, None if value is None else value.field), word


def _answer(measure: Measure, of: Field | None) -> Field:
    """What kind an answer has."""
    match measure.function:
        case "count" | "count_of" | "count_units" | "count_distinct":
            return Field(Kind.INTEGER)
        case "mode" if of is not None:
            return Field(of.kind, nullable=True)
        case "sum" if of is not None and of.kind is Kind.INTEGER:
            return Field(Kind.INTEGER, nullable=True)
        case _:
            return Field(Kind.REAL, nullable=True)
