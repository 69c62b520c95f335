"""Subqueries: plain rows, UNION ALL, and aggregation within a unit."""

from __future__ import annotations

from fractions import Fraction

from attrs import evolve
from sqlglot import exp

from discreet.errors import Refused
from discreet.query.relation.expr import Column, Expr
from discreet.query.relation.field import Field
from discreet.query.relation.node import PerUnit, Select, Stack, Within, within_field
from discreet.query.sql.aggregates import Aggregate
from discreet.query.sql.grouped import Item, row_reader
from discreet.query.sql.grouping import is_grouped, items_of, read_grouped
from discreet.query.sql.kinds import check_arguments
from discreet.query.sql.matches import kept_rows
from discreet.query.sql.reader import Reader
from discreet.query.sql.refuse import located, only, refused
from discreet.query.sql.scope import Body, Context, Scope, combined, kept, matching, new_name, renamed
from discreet.query.sql.sources import read_from, with_columns
from discreet.query.sql.typed import Typed, literal, of_rows
from discreet.query.sql.units import names_unit

_WORDS = {"mean": "avg", "count_of": "count"}  # words in default column names


def read_query(node: exp.Expr, context: Context) -> Body:
    """A subquery as a relation."""
    match node:
        case exp.Subquery():
            only(node, "this", "with_")
            return read_query(node.this, with_names(node, context))
        case exp.Union():
            return _stacked(node, with_names(node, context))
        case exp.Select():
            return _select(node, with_names(node, context))
    raise refused(node, "a subquery is a SELECT or UNION ALL", "write SELECT … FROM table")


def with_names(node: exp.Expr, context: Context) -> Context:
    """The context with the names of WITH; each is read, even if unused."""
    clause = node.args.get("with_")
    if clause is None:
        return context
    only(clause, "expressions")
    own: set[str] = set()
    for part in clause.expressions:
        only(part, "this", "alias", "materialized")
        alias = part.args["alias"]
        only(alias, "this", "columns")
        name = new_name(alias.this)
        if name.lower() in own:
            raise refused(part, "WITH defines this name twice", "use different names")
        own.add(name.lower())
        body = with_columns(part, read_query(part.this, context), alias.args.get("columns") or [])
        context = evolve(context, names=(*(pair for pair in context.names if pair[0].lower() != name.lower()), (name, body)))
    return context


def _stacked(node: exp.Union, context: Context) -> Body:
    only(node, "this", "expression", "distinct", "with_")
    if node.args.get("distinct") is not False:
        raise refused(node, "UNION removes duplicate rows across units", "use UNION ALL")
    parts, open_ = [], [node.expression, node.this]
    while open_:
        part = open_.pop()
        if type(part) is exp.Union and part.args.get("distinct") is False and not part.args.get("with_"):
            only(part, "this", "expression", "distinct")
            open_ += [part.expression, part.this]
        else:
            parts.append(read_query(part, context))
    names = list(parts[0].relation.schema)
    if any(len(part.relation.schema) != len(names) for part in parts):
        raise refused(node, "UNION ALL needs the same number of columns on both sides", "select the same columns")
    parts = [renamed(part, names) for part in parts]
    try:
        return combined(Stack(tuple(part.relation for part in parts)), *parts)
    except Refused as error:
        raise located(node, error) from None


def _select(select: exp.Select, context: Context) -> Body:
    for name, why in (("order", "ORDER BY"), ("limit", "LIMIT"), ("offset", "OFFSET")):
        if select.args.get(name) is not None:
            raise refused(select, f"{why} in a subquery would select among rows of many units", "order and limit the outermost SELECT")
    if select.args.get("distinct") is not None:
        raise refused(select, "DISTINCT compares rows of many units", "use GROUP BY with the unit and these columns, or COUNT(DISTINCT x)")
    only(select, "expressions", "from_", "joins", "where", "group", "having", "with_")
    rows, conditions = read_from(select, context)
    rows = kept_rows(rows, conditions, context)
    return within_units(select, rows, context.dialect) if is_grouped(select) else _rows(select, rows, context)


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rows(select: exp.Select, rows: Scope, context: Context) -> Body:
    reader = row_reader(rows, context.dialect)
    columns: list[tuple[str, Expr]] = []
    for at, item in enumerate(items_of(select), 1):
        if isinstance(item.node, exp.Star) or (isinstance(item.node, exp.Column) and isinstance(item.node.this, exp.Star)):
            columns += _star(item, rows)
            continue
        read = reader.read(item.node)
        columns.append((item.alias or (_shown(rows, read) if isinstance(read.expr, Column) else f"column_{at}"), read.expr))
    if len({name for name, _ in columns}) < len(columns):
        raise refused(select, "two columns of this subquery have the same name", "rename one with AS, or list the columns you need")
    if [(name, Column(name)) for name in rows.relation.schema] == columns:
        return rows.body
    return rows.body.grown(Select(rows.relation, tuple(columns)))


def _shown(rows: Scope, read: Typed) -> str:
    assert isinstance(read.expr, Column)
    inner = read.expr.name
    return next(name for source in rows.sources for name, other in source.columns if other == inner)


def _star(item: Item, rows: Scope) -> list[tuple[str, Expr]]:
    """* or t.*, without the columns of EXCLUDE."""
    node = item.node
    table = node.args.get("table") if isinstance(node, exp.Column) else None
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(node, exp.Column):
        only(node, "this", "table")
    only(star, "except_")
    shown = rows.star(table)
    for left_out in star.args.get("except_") or []:
        if isinstance(left_out, exp.Column):
            only(left_out, "this")
        name = left_out.this if isinstance(left_out, exp.Column) else left_out
        found = matching(name, ((known, known) for known, _ in shown)) if isinstance(name, exp.Identifier) else []
        if not found:
            raise refused(left_out, "there is no such column to exclude", f"there are {', '.join(known for known, _ in shown)}")
        shown = [pair for pair in shown if pair[0] not in found]
    return [(name, Column(inner)) for name, inner in shown]


# ── within a unit ────────────────────────────────────────────────────────────────────────────────────────────────────


def within_units(select: exp.Select, rows: Scope, dialect: str, unseen: bool = False) -> Body:
    """Aggregate each unit's own rows; `unseen` groups by the unit although no column shows it."""
    if not rows.relation.private:
        raise refused(select, "public tables are not aggregated here", "prepare the aggregate as a public table of its own")
    grouped = read_grouped(select, rows, lambda aggregate, reader: _within(aggregate, reader, rows), of_rows, dialect)
    units = [name for name, key in grouped.keys if isinstance(key.expr, Column) and names_unit(rows.relation, key.expr.name)]
    if not units and not unseen:
        raise refused(
            select,
            "this subquery aggregates rows of many units, and its result would be private",
            "add the column that names the unit to its GROUP BY, or release it as a separate question",
        )
    keys = tuple((name, key.expr) for name, key in grouped.keys if name not in units)
    if any(key.field.unit for name, key in grouped.keys if name not in units):
        raise refused(select, "this column may be NULL where the unit is not", "group by the unit of the table on the left")
    seen = _seen(units, grouped.outputs)
    body = rows.body.grown(PerUnit(rows.relation, seen, keys, grouped.asked))
    if grouped.having is not None:
        body = kept(body, grouped.having.expr)
    columns = tuple((name, output.expr) for name, output in grouped.outputs)
    return body if tuple((name, Column(name)) for name in body.relation.schema) == columns else body.grown(Select(body.relation, columns))


def _seen(units: list[str], outputs: tuple[tuple[str, Typed], ...]) -> tuple[str, ...]:
    used = {output.expr.name for _, output in outputs if isinstance(output.expr, Column)}
    return tuple(name for name in units if name in used)


def _within(aggregate: Aggregate, reader: Reader, rows: Scope) -> tuple[Within, Field, str]:
    function = aggregate.entry.per_unit.get(aggregate.spelling)
    if function is None or aggregate.per_group or aggregate.per_row:
        raise refused(aggregate.node, "this aggregate is not supported within a unit", "use COUNT, COUNT(DISTINCT x), SUM, AVG, MIN or MAX")
    arguments = arguments_of(aggregate, reader)
    expr = arguments[0] if arguments and isinstance(arguments[0], Typed) else None
    if function in ("sum", "mean") and not (expr is not None and expr.field.unit):
        check_arguments(aggregate, arguments)
    if function == "count" and expr is not None and not (isinstance(expr.expr, Column) and names_unit(rows.relation, expr.expr.name)):
        function = "count_of"
    elif function == "count":
        expr = None  # the unit is never NULL
    found = Within(function, None if expr is None else expr.expr)
    try:
        return found, within_field(found, rows.relation.schema), named_after(_WORDS.get(function, function), arguments)
    except Refused as error:
        raise located(aggregate.node, error) from None


def arguments_of(aggregate: Aggregate, reader: Reader) -> tuple[Typed | Fraction, ...]:
    """The arguments of an aggregate, with FILTER as CASE: rows that do not meet it become NULL."""
    read = tuple(argument if isinstance(argument, Fraction) else reader.read(argument) for argument in aggregate.arguments)
    if aggregate.when is None:
        return read
    when = reader.read(aggregate.when)

    def kept(value: Typed) -> Typed:
        return reader.call(aggregate.node, "case", when, value, literal(None))

    return tuple(value if isinstance(value, Fraction) else kept(value) for value in read or (literal(1),))


def named_after(word: str, arguments: tuple[Typed | Fraction, ...]) -> str:
    """The default name of an aggregate: its word, and its columns."""
    columns = [value.expr.name for value in arguments if isinstance(value, Typed) and isinstance(value.expr, Column)]
    return "_".join([word, *columns])
