"""Write relations and expressions as SQL; of an analyst's text only quoted literals pass through.

Reading a table enforces the fields of its columns: numbers are clamped to their bounds, NaN is NULL, and NULL in a column declared without
it becomes the lower bound.
"""

from __future__ import annotations

import datetime
import hashlib
from fractions import Fraction
from typing import assert_never

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.query.relation.expr import Call, Column, Expr, Literal, Schema, call_field, field_of
from discreet.query.relation.field import AS_THEY_ARE, FIRST, FURTHEST, LAST, Field
from discreet.query.relation.functions import FUNCTIONS
from discreet.query.relation.node import Join, Match, PerUnit, Relation, Scan, Select, Stack, Where, Within, within_field
from discreet.query.relation.number import clamped
from discreet.tables import column as columns
from discreet.tables.kind import Kind
from discreet.tables.table import Table

_LONGEST_NAME = 60  # characters
LONGEST = 100_000  # characters of one expression; nested functions repeat their arguments
UNIT = "__unit"  # the column that names the unit; neither analysts' names nor those of stored columns begin with two underscores here


def column_name(name: str, dialect: Dialect) -> str:
    """A column's name inside our SQL: itself if it is plain lower-case ASCII and not like a name of ours, else hexadecimal.

    Engines treat names that differ only in case as one; here they are two columns with different fields. Names of ours begin with two
    underscores: a stored column of such a name would be taken for what we compute, as the unit.
    """
    plain = name.isascii() and name == name.lower() and name.replace("_", "").replace(".", "").isalnum()
    spelled = name if plain and not name.startswith("__") else "~" + name.encode().hex()
    # PostgreSQL truncates names after 63 bytes, which could merge two columns
    return dialect.identifier(spelled if len(spelled) <= _LONGEST_NAME else "~#" + hashlib.sha256(name.encode()).hexdigest()[:48])


def write_expr(expr: Expr, schema: Schema, dialect: Dialect) -> str:
    """An expression over columns of these names."""
    return _with_field(expr, schema, dialect)[0] if isinstance(expr, Call) else _leaf(expr, dialect)


def _leaf(expr: Column | Literal, dialect: Dialect) -> str:
    return column_name(expr.name, dialect) if isinstance(expr, Column) else dialect.literal(expr.value)


def _with_field(expr: Expr, schema: Schema, dialect: Dialect) -> tuple[str, Field]:
    """An expression and its field, in one pass: inferring the fields again at each level would take quadratic time."""
    if not isinstance(expr, Call):
        return _leaf(expr, dialect), field_of(expr, schema)
    parts = [_with_field(argument, schema, dialect) for argument in expr.arguments]
    fields = tuple(field for _, field in parts)
    field = call_field(expr.function, fields)
    text = FUNCTIONS[expr.function].write(dialect, [text for text, _ in parts], fields, field)
    if len(text) > LONGEST:
        raise Refused("this expression is too long: compute its parts in a subquery, under names of their own")
    return text, field


def write_relation(relation: Relation, dialect: Dialect) -> str:
    """A SELECT with the relation's columns, and the unit's name where rows carry it."""
    match relation:
        case Scan(table, links):
            return _scan(relation, table, links, dialect)
        case Where(below, condition):
            return f"SELECT * FROM {_inner(below, dialect)} WHERE {write_expr(condition, below.schema, dialect)}"
        case Match():
            return _match(relation, dialect)
        case Select(below, named):
            return f"SELECT {', '.join(_named(named, below, dialect))} FROM {_inner(below, dialect)}"
        case Join():
            return _join(relation, dialect)
        case Stack(inputs):
            names = [*([UNIT] if relation.has_id else []), *(column_name(name, dialect) for name in relation.schema)]
            return " UNION ALL ".join(f"SELECT {', '.join(names)} FROM {_inner(below, dialect)}" for below in inputs)
        case PerUnit():
            return _per_unit(relation, dialect)
        case _:
            assert_never(relation)


def _match(match: Match, dialect: Dialect) -> str:
    """The public side shows its compared columns alone, under names that no column of the other side has."""
    schema, other = match.input.schema, match.public.schema
    sides = []
    for place, (expr, column) in enumerate(match.pairs):
        text, mate = write_expr(expr, schema, dialect), f"m.__m{place}"
        kinds = {field_of(expr, schema).kind, other[column].kind}
        real = dialect.type_name(Kind.REAL)
        sides.append((text, mate) if len(kinds) == 1 else (f"CAST({text} AS {real})", f"CAST({mate} AS {real})"))
    shown = ", ".join(f"{column_name(column, dialect)} AS __m{place}" for place, (_, column) in enumerate(match.pairs))
    public = f"(SELECT {shown} FROM {_inner(match.public, dialect, 'p')}) AS m"
    word = "NOT " if match.negated else ""
    if match.how == "in":
        condition = f"{sides[0][0]} {word}IN (SELECT {sides[0][1]} FROM {public})"
    else:
        condition = f"{word}EXISTS (SELECT 1 FROM {public} WHERE {' AND '.join(f'{a} = {b}' for a, b in sides)})"
    return f"SELECT * FROM {_inner(match.input, dialect)} WHERE {condition}"


def _inner(relation: Relation, dialect: Dialect, alias: str = "t") -> str:
    return f"({write_relation(relation, dialect)}) AS {alias}"


def _named(named: tuple[tuple[str, Expr], ...], below: Relation, dialect: Dialect) -> list[str]:
    unit = [UNIT] if below.has_id else []
    return unit + [f"{write_expr(expr, below.schema, dialect)} AS {column_name(name, dialect)}" for name, expr in named] or [
        "1 AS __nothing"
    ]


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _scan(scan: Scan, table: Table, links: tuple[tuple[object, Table], ...], dialect: Dialect) -> str:
    read = [f"{read_column(column, _stored(column, dialect), dialect)} AS {column_name(column.name, dialect)}" for column in table.columns]
    if not scan.has_id:
        return f"SELECT {', '.join(read)} FROM {dialect.identifier(table.name)} AS t"
    chain, joins = "t", ""
    for depth, (link, target) in enumerate(scan.links, 1):
        joins += (
            f" JOIN {dialect.identifier(target.name)} AS l{depth} "
            f"ON {chain}.{dialect.identifier(link.column)} = l{depth}.{dialect.identifier(link.key)}"
        )
        chain = f"l{depth}"
    holder = scan.links[-1][1] if scan.links else table
    unit = f"{chain}.{dialect.identifier(holder.unit_column or '')}"
    return f"SELECT {unit} AS {UNIT}, {', '.join(read)} FROM {dialect.identifier(table.name)} AS t{joins} WHERE {unit} IS NOT NULL"


def _stored(column: columns.ColumnMetadata, dialect: Dialect) -> str:
    """The stored value of a column, parsed where its kind was found in texts."""
    if column.parsed_from is None:
        return f"t.{dialect.identifier(column.name)}"
    return dialect.parsed(f"t.{dialect.identifier(column.parsed_from)}", column.kind)


def read_column(column: columns.ColumnMetadata, text: str, dialect: Dialect) -> str:
    """A column with its field enforced: within its bounds, without NaN, and without NULL where that is declared."""
    bounds = column.bounds
    if column.unique and column.kind in AS_THEY_ARE:
        return text  # unchanged: clamping would make values equal (see Field.of)
    if column.kind is Kind.DATE:
        ends = (FIRST, LAST) if bounds is None else (datetime.date.fromordinal(int(end)) for end in bounds)
        return _clamp(text, *(dialect.literal(end) for end in ends))
    if column.kind is Kind.TIMESTAMP:
        return _clamp(text, *(dialect.literal(end) for end in (datetime.datetime.min, datetime.datetime.max)))
    if not column.kind.numeric:
        return text
    if column.kind is Kind.REAL:
        low, high = (dialect.real(end) for end in bounds or (-FURTHEST, FURTHEST))
        beyond = f"WHEN {text} <= {low} THEN {low} WHEN {dialect.is_number(text)} THEN {high}"
        inside = f"CASE WHEN {text} > {low} AND {text} < {high} THEN {text} {beyond} END"
    elif bounds is not None:
        low, high = (dialect.literal(int(end)) for end in _whole(bounds))
        inside = _clamp(text, low, high)
    else:
        inside, low = text, "0"
    return inside if column.nullable else f"COALESCE({inside}, {low if bounds else '0'})"


def _whole(bounds: tuple[Fraction, Fraction]) -> tuple[int, int]:
    return -(-bounds[0].numerator // bounds[0].denominator), bounds[1].numerator // bounds[1].denominator


def _clamp(text: str, low: str, high: str) -> str:
    return f"CASE WHEN {text} >= {low} AND {text} <= {high} THEN {text} WHEN {text} < {low} THEN {low} WHEN {text} > {high} THEN {high} END"


# ── joins ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _join(join: Join, dialect: Dialect) -> str:
    both = join.left.has_id and join.right.has_id
    conditions = [f"l.{column_name(a, dialect)} = r.{column_name(b, dialect)}" for a, b in join.on]
    if both:
        conditions.append(f"l.{UNIT} = r.{UNIT}")
    names = [f"{'l' if join.left.has_id else 'r'}.{UNIT} AS {UNIT}"] if join.has_id else []
    names += [f"l.{column_name(name, dialect)} AS {column_name(name, dialect)}" for name in join.left.schema]
    names += [f"r.{column_name(name, dialect)} AS {column_name(name, dialect)}" for name in join.right.schema]
    word = "LEFT JOIN" if join.kind == "left" else "JOIN"
    sides = f"{_inner(join.left, dialect, 'l')} {word} {_inner(join.right, dialect, 'r')}"
    return f"SELECT {', '.join(names)} FROM {sides} ON {' AND '.join(conditions)}"


# ── within a unit ────────────────────────────────────────────────────────────────────────────────────────────────────


def _per_unit(relation: PerUnit, dialect: Dialect) -> str:
    """Three layers, so that no expression is written twice: named expressions, their aggregates, and outputs computed from these."""
    schema = relation.input.schema
    keys = [f"__k{i}" for i in range(len(relation.keys))]
    named = {expr: f"__x{i}" for i, expr in enumerate(dict.fromkeys(one.expr for _, one in relation.aggregates if one.expr is not None))}
    rows = [f"{_grouped(expr, schema, dialect)} AS {key}" for key, (_, expr) in zip(keys, relation.keys, strict=True)]
    rows += [f"{write_expr(expr, schema, dialect)} AS {name}" for expr, name in named.items()]
    inside = f"(SELECT {', '.join([UNIT, *rows])} FROM {_inner(relation.input, dialect)}) AS e"
    made = [
        _within(aggregate, "" if aggregate.expr is None else named[aggregate.expr], f"__t{i}", schema, dialect)
        for i, (_, aggregate) in enumerate(relation.aggregates)
    ]
    grouped = [UNIT, *keys]
    pieces = [f"{text} AS {name}" for parts, _ in made for name, text in parts]
    totals = f"(SELECT {', '.join([*grouped, *pieces])} FROM {inside} GROUP BY {', '.join(grouped)}) AS a"
    shown = [f"{UNIT} AS {column_name(name, dialect)}" for name in relation.units]
    shown += [f"{key} AS {column_name(name, dialect)}" for key, (name, _) in zip(keys, relation.keys, strict=True)]
    shown += [f"{text} AS {column_name(name, dialect)}" for (_, text), (name, _) in zip(made, relation.aggregates, strict=True)]
    return f"SELECT {', '.join([UNIT, *shown])} FROM {totals}"


def _grouped(expr: Expr, schema: Schema, dialect: Dialect) -> str:
    """A key; a bare literal has a type of its own."""
    text = write_expr(expr, schema, dialect)
    kind = field_of(expr, schema).kind
    return f"CAST({text} AS {dialect.type_name(kind)})" if isinstance(expr, Literal) and kind is not None else text


def _within(aggregate: Within, text: str, name: str, schema: Schema, dialect: Dialect) -> tuple[list[tuple[str, str]], str]:
    """The aggregates over a unit's rows, by name, and the output computed from them; `text` is the expression's column."""
    if aggregate.expr is None:
        return [(name, "COUNT(*)")], name
    field = field_of(aggregate.expr, schema)
    match aggregate.function:
        case "count_of":
            return [(name, f"COUNT({text})")], name
        case "count_distinct":
            return [(name, f"COUNT(DISTINCT {text})")], name
        case "min" | "max":
            return [(name, dialect.extreme(aggregate.function.upper(), text, field.kind))], name
    total, bits = exact_sum(text, field, dialect)
    pieces = [(name, total)] + ([(f"{name}n", f"COUNT({text})")] if aggregate.function == "mean" else [])
    real = f"({_as_real(name, dialect)} / {dialect.real(Fraction(2) ** bits)})"
    found = real if aggregate.function == "sum" else f"({real} / NULLIF({name}n, 0))"
    return pieces, clamped(found, within_field(aggregate, schema).range, dialect)  # values were rounded to a grid


def _as_real(total: str, dialect: Dialect) -> str:
    """A wide whole number as the nearest float: engines round it differently, so two exact parts are added, which all round alike."""
    real = dialect.type_name(Kind.REAL)
    high, low = dialect.shifted(total, 32), f"({total} % {2**32})"
    return f"(CAST({high} AS {real}) * {dialect.real(Fraction(2**32))} + CAST({low} AS {real}))"


def exact_sum(text: str, field: Field, dialect: Dialect) -> tuple[str, int]:
    """A sum in whole numbers of 2^−bits, which no order of rows changes, and the bits.

    A real number without bounds is clamped to ±2⁴⁰ and rounded to a grid of 2⁻²²: a sum of floats would depend on the order of rows, and
    so on other units.
    """
    assert field.range is not None
    whole = dialect.type_name(Kind.INTEGER)
    if field.kind is Kind.INTEGER:
        most = int(field.range.magnitude)
        return dialect.total(f"CAST({text} AS {whole})", most), 0
    size = field.range.magnitude or Fraction(1)
    bits = min(39 - (size.numerator.bit_length() - size.denominator.bit_length()), 900) if field.range.known else 22
    ends = (field.range.low, field.range.high) if field.range.known else (-(Fraction(2) ** 40), Fraction(2) ** 40)
    low, high = (dialect.real(end) for end in ends)
    inside = f"(CASE WHEN {text} > {high} THEN {high} WHEN {text} < {low} THEN {low} ELSE {text} END)"  # whatever range was inferred
    placed = dialect.floor(f"{dialect.scaled(inside, Fraction(2) ** bits)} + 0.5")
    return dialect.total(dialect.whole(placed), 2**41 if field.range.known else 2**63), bits
