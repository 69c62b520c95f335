"""The SQL reader for the fluent builder: expressions as text over a relation, and questions built from them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, final

from attrs import frozen
from sqlglot import exp

from discreet import exact
from discreet.errors import Refused
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Expr, Schema
from discreet.query.relation.node import Relation, Select, Stack
from discreet.query.relation.origin import tables_in
from discreet.query.sql.grouped import expression_reader, row_reader
from discreet.query.sql.privacy import Options
from discreet.query.sql.read import question as read_question
from discreet.query.sql.reader import Reader
from discreet.query.sql.refuse import closed, only
from discreet.query.sql.scope import Body, Scope, ScopedTable, combined, found_in, new_name
from discreet.query.sql.select import within_units
from discreet.query.sql.sources import filtered, joined_on
from discreet.query.sql.tokens import parse
from discreet.query.sql.typed import column
from discreet.query.sql.units import names_unit
from discreet.tables.table import Contributions

Texts = Sequence[tuple[str | None, str]]  # a name, if one was given, and an expression


@final
@frozen
class Called:
    """One output of the fluent builder: a statistic by its SQL name, or (without one) an expression over aggregates."""

    spelling: str | None
    texts: tuple[str, ...] = ()
    shares: tuple[Fraction, ...] = ()
    name: str | None = None
    bounds: tuple[Any, Any] | None = None
    where: str | None = None


def rows_of(relation: Relation) -> Scope:
    """A relation as FROM, its columns under their own names."""
    return Scope(Body(relation), (ScopedTable("", tuple((name, name) for name in relation.schema)),))


def snippet(text: str, dialect: str) -> exp.Expr:
    """One expression, with its name if it has one."""
    tree = parse(f"SELECT {text}\n", dialect).tree
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1:
        raise Refused("exactly one expression is needed: write one such as price * quantity")
    only(tree, "expressions")
    found: exp.Expr = tree.expressions[0]
    return found


def read_expression(text: str, schema: Schema, dialect: str = "duckdb") -> Expr:
    """Read an expression over single rows with these columns."""
    return closed(lambda: _over(schema, dialect).read(snippet(text, dialect)).expr)


def _over(schema: Schema, dialect: str) -> Reader:
    sources = (ScopedTable("", tuple((name, name) for name in schema)),)
    return expression_reader(lambda node: column(inner := found_in(node, sources), schema[inner]), dialect)


def where(relation: Relation, text: str, dialect: str) -> Relation:
    """Keep the rows for which a condition is true."""
    return closed(lambda: filtered(rows_of(relation), [snippet(text, dialect)], dialect).relation, tables_in(relation))


def with_columns(relation: Relation, texts: Texts, dialect: str) -> Relation:
    """Add computed columns to all columns."""
    reader = row_reader(rows_of(relation), dialect)
    scanned = tables_in(relation)
    new = {new_name(name or ""): closed(lambda: reader.read(snippet(text, dialect)).expr, scanned) for name, text in texts}  # noqa: B023
    old = tuple((name, Column(name)) for name in relation.schema if name not in new)
    return Body(relation).grown(Select(relation, (*old, *new.items()))).relation


def join(left: Relation, right: Relation, on: Sequence[tuple[str, str]], how: Literal["inner", "left"]) -> Relation:
    """Join on equal columns."""
    node = exp.Join(this=exp.Table(this=exp.to_identifier("the other table")))
    return closed(
        lambda: joined_on(rows_of(left), rows_of(right), _pairs(left, right, on), node, how).relation, [*tables_in(left), *tables_in(right)]
    )


def _pairs(left: Relation, right: Relation, on: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(rows_of(left).find(_column(a)), rows_of(right).find(_column(b))) for a, b in on]


def stack(upper: Relation, lower: Relation) -> Relation:
    """Append the rows of one relation to another."""
    return combined(Stack((upper, lower)), Body(upper), Body(lower)).relation


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def per_unit(relation: Relation, keys: Texts, aggregates: Texts, dialect: str) -> Relation:
    """Aggregate within each unit; the column that names it stays, where there is one."""
    return closed(lambda: _per_unit(relation, keys, aggregates, dialect), tables_in(relation))


def _per_unit(relation: Relation, keys: Texts, aggregates: Texts, dialect: str) -> Relation:
    units = [name for name in relation.schema if names_unit(relation, name)][:1]
    groups = [*(_column(name) for name in units), *(_named(name, text, dialect) for name, text in keys)]
    shown = [*groups, *(_named(name, text, dialect) for name, text in aggregates)]
    tree = exp.Select(expressions=shown, group=exp.Group(expressions=[node.unalias().copy() for node in groups]))
    return within_units(tree, rows_of(relation), dialect, unseen=not units).relation


def question(
    relation: Relation,
    keys: Texts,
    sets: tuple[str, int] | None,
    statistics: Sequence[Called],
    having: Sequence[str],
    order: Sequence[tuple[str, bool]],
    limit: int | None,
    contributions: Contributions,
    dialect: str,
) -> Question:
    """Read a question over these rows, as the equivalent SELECT."""
    options = Options(contributions=contributions)
    return closed(
        lambda: read_question(_select(keys, sets, statistics, having, order, limit, dialect), rows_of(relation), options, dialect),
        tables_in(relation),
    )


def _select(
    keys: Texts,
    sets: tuple[str, int] | None,
    statistics: Sequence[Called],
    having: Sequence[str],
    order: Sequence[tuple[str, bool]],
    limit: int | None,
    dialect: str,
) -> exp.Select:
    groups = [_named(name, text, dialect) for name, text in keys]
    shown = [*groups, *(_aggregate(statistic, dialect) for statistic in statistics)]
    tree = exp.Select(expressions=shown)
    if groups:
        nodes = [node.unalias().copy() for node in groups]
        if sets is not None:
            kind, before = sets
            nodes[before:] = [{"rollup": exp.Rollup, "cube": exp.Cube}[kind](expressions=nodes[before:])]
        tree.set("group", exp.Group(expressions=nodes))
    if having:
        conditions = [exp.Paren(this=snippet(text, dialect)) for text in having]
        tree.set("having", exp.Having(this=exp.and_(*conditions, wrap=False) if len(conditions) > 1 else conditions[0]))
    if order:
        tree.set("order", exp.Order(expressions=[exp.Ordered(this=snippet(text, dialect), desc=down) for text, down in order]))
    if limit is not None:
        tree.set("limit", exp.Limit(expression=exp.Literal.number(exact.whole(limit, "limit"))))
    return tree


def _named(name: str | None, text: str, dialect: str) -> exp.Expr:
    node = snippet(text, dialect)
    return node if name is None else exp.Alias(this=node.unalias(), alias=exp.to_identifier(name, quoted=True))


def _aggregate(called: Called, dialect: str) -> exp.Expr:
    node = _function(called, dialect)
    if called.where is not None:
        node = exp.Filter(this=node, expression=exp.Where(this=snippet(called.where, dialect)))
    return node if called.name is None else exp.Alias(this=node.unalias(), alias=exp.to_identifier(called.name, quoted=True))


def _function(called: Called, dialect: str) -> exp.Expr:
    of = [snippet(text, dialect) for text in called.texts]
    if called.spelling is None:
        return of[0]
    if called.bounds is not None:
        of = [exp.Anonymous(this="CLAMP", expressions=[each, *map(_number, called.bounds)]) for each in of]
    return exp.Anonymous(this=called.spelling, expressions=[*of, *map(_number, called.shares)])


def _number(value: Any) -> exp.Expr:
    """A number as a literal of the parsed tree; a float means its shortest decimal."""
    read = exact.rational(value, "a bound")
    digits = exp.Literal.number(str(abs(read)) if read.denominator > 1 or isinstance(value, int) else f"{abs(read)}.0")
    return exp.Neg(this=digits) if read < 0 else digits
