"""What to say where the kinds of values do not fit: which is what, and what would work."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from discreet import exact
from discreet.errors import Invalid, Refused, WrongType
from discreet.query.relation.expr import Column, Literal
from discreet.query.sql.aggregates import Aggregate
from discreet.query.sql.refuse import piece, place
from discreet.query.sql.typed import Typed
from discreet.query.statistics.registry import places
from discreet.query.statistics.statistic import Argument
from discreet.tables.kind import Kind

_WORDS = {
    Kind.BOOLEAN: "true or false",
    Kind.INTEGER: "a whole number",
    Kind.REAL: "a real number",
    Kind.TEXT: "text",
    Kind.DATE: "a date",
    Kind.TIMESTAMP: "a timestamp",
    None: "NULL",
}
_EXAMPLES = {
    Kind.BOOLEAN: "TRUE or FALSE",
    Kind.INTEGER: "numbers, as in 10",
    Kind.REAL: "numbers, as in 10",
    Kind.TEXT: "text in single quotes, as in 'a'",
    Kind.DATE: "dates, as in '2026-01-31'",
    Kind.TIMESTAMP: "timestamps, as in '2026-01-31 08:30:00'",
}
_SETS = (exp.In, exp.Between, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Nullif)
_SIGNS: dict[type[exp.Expr], str] = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}


def _said(node: exp.Expr, why: str) -> Refused:
    refusal = WrongType if f" is {_WORDS[Kind.TEXT]}" in why else Refused  # only a text may be a column without a declared type
    return refusal(f"{piece(node)}{place(node)}: {why}")


def _declared(node: exp.Expr | None, kind: str) -> str:
    name = node.name if isinstance(node, exp.Column) else "column"
    return f'declare its type, for CSV columns={{"{name[:40]}": "{kind}"}}'


# ── aggregates ───────────────────────────────────────────────────────────────────────────────────────────────────────


def check_arguments(aggregate: Aggregate, arguments: Sequence[Typed | Fraction]) -> None:
    """Refuse a statistic of values of the wrong kind, by the name that was written."""
    for argument, value, written in zip(places(aggregate.entry, aggregate.spelling), arguments, aggregate.arguments, strict=False):
        if isinstance(value, Typed) and isinstance(written, exp.Expr):
            _check_argument(aggregate, argument, value, written)


def _check_argument(aggregate: Aggregate, argument: Argument, value: Typed, written: exp.Expr) -> None:
    kind, what = value.field.kind, piece(written)
    if argument is Argument.NUMBER and (kind is None or not kind.numeric):
        raise _said(aggregate.node, _no_number(aggregate, value, written))
    if argument is Argument.REPEATING and kind in (Kind.REAL, None):
        raise _said(
            aggregate.node,
            f"{what} is {_WORDS[kind]}, and values must repeat: use WIDTH_BUCKET({what}, low, high, buckets), "
            f"or FLOOR({what}) where it has bounds",
        )
    if argument is Argument.CONDITION and kind not in (Kind.BOOLEAN, None):
        raise _said(aggregate.node, f"{what} is {_WORDS[kind]}, and a condition is needed: write a comparison, as in cost > 10")


def _no_number(aggregate: Aggregate, value: Typed, written: exp.Expr) -> str:
    what = piece(written)
    name = piece(aggregate.node).partition("(")[0]
    match value.field.kind:
        case Kind.DATE | Kind.TIMESTAMP as kind:
            return (
                f"{what} is {_WORDS[kind]}, and this statistic takes numbers; count by month or year instead, as in "
                f"SELECT DATE_TRUNC('month', {what}), COUNT(*) … GROUP BY 1, or use EXTRACT(YEAR FROM {what})"
            )
        case Kind.BOOLEAN:
            return f"{what} is true or false; write {name}(CASE WHEN {what} THEN 1 ELSE 0 END)"
        case Kind.TEXT if isinstance(value.expr, Column):
            return f"{what} is text; {_declared(written, 'real')}"
        case None:
            return f"NULL is not a number; use a column, as in {name}(cost)"
        case kind:
            return f"{what} is {_WORDS[kind]}; use a number, as in {name}(cost)"


# ── comparisons ──────────────────────────────────────────────────────────────────────────────────────────────────────


def check_alike(node: exp.Expr, sides: Sequence[tuple[exp.Expr, Typed]]) -> None:
    """Refuse values of different kinds side by side."""
    known = [(part, value) for part, value in sides if value.field.kind is not None]
    for part, value in known[1:]:
        first, before = known[0]
        a, b = before.field.kind, value.field.kind
        if a is b or (a is not None and b is not None and a.numeric and b.numeric):
            continue
        told = f"{piece(first)} is {_WORDS[a]} and {piece(part)} is {_WORDS[b]}; nothing is cast silently"
        raise _said(node, f"{told}; {_instead(node, first, before, part, value)}")


def check_joined(join: exp.Expr, left: tuple[str, Kind | None], right: tuple[str, Kind | None]) -> None:
    """Refuse a join on columns of different kinds."""
    (a, kind), (b, other) = left, right
    if kind is None or other is None or kind is other or (kind.numeric and other.numeric):
        return
    told = f"{a} is {_WORDS[kind]} and {b} is {_WORDS[other]}; nothing is cast silently"
    raise _said(join, f'{told}; declare both with one type, for CSV columns={{"{b[:40]}": "{kind.value}"}}')


def _instead(node: exp.Expr, first: exp.Expr, a: Typed, second: exp.Expr, b: Typed) -> str:
    """A comparison that works."""
    sign = type(node)
    if isinstance(a.expr, Literal) and not isinstance(b.expr, Literal):
        first, a, second, b = second, b, first, a
        sign = _TURNED.get(sign, sign)
    what, kinds = piece(first), (a.field.kind, b.field.kind)
    value = b.expr.value if isinstance(b.expr, Literal) else None
    word = _SIGNS.get(sign)
    match kinds:
        case (Kind.TEXT, Kind.INTEGER | Kind.REAL) if word and value is not None:
            return f"write {what} {word} '{piece(second)}', or {_declared(first, 'real')}"
        case (Kind.BOOLEAN, Kind.INTEGER) if word == "=" and value in (0, 1):
            return f"write {what}" if value else f"write NOT {what}"
        case (Kind.INTEGER | Kind.REAL, Kind.TEXT) if word:
            return f"write {what} {word} {_number(b.text)}"
        case (Kind.DATE | Kind.TIMESTAMP, Kind.INTEGER | Kind.REAL):
            return f"write {what} >= '2026-01-31', or EXTRACT(YEAR FROM {what}) = 2026"
        case (Kind.TIMESTAMP, Kind.DATE):
            return f"write CAST({what} AS DATE) beside the date"
        case (Kind.DATE, Kind.TIMESTAMP):
            return f"write CAST({piece(second)} AS DATE) beside the date"
        case (Kind.TEXT, Kind.DATE | Kind.TIMESTAMP as kind):
            return _declared(first, kind.value)
        case (Kind.DATE | Kind.TIMESTAMP as kind, Kind.TEXT):
            return _declared(second, kind.value)
    if isinstance(node, _SETS) and a.field.kind is not None:
        return f"compare {what} with {_EXAMPLES[a.field.kind]}"
    return "write values of one kind, with CAST for numbers and times"


def _number(text: str | None) -> str:
    """The number that a text spells, or one as an example."""
    try:
        return "10" if text is None or exact.rational(text) != Fraction(text) else text.strip()
    except (Invalid, ValueError, ZeroDivisionError):
        return "10"
