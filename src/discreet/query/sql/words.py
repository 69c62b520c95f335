"""Functions of text, dates and timestamps."""

from __future__ import annotations

from sqlglot import exp

from discreet.query.relation.calendar import PARTS, STARTS
from discreet.query.sql.reader import Case, Reader, flat
from discreet.query.sql.refuse import only, refused
from discreet.query.sql.typed import Typed, literal

# the names of parts in dialects; weekday counts from Monday = 1
_PARTS = {
    **{name: name for name in PARTS if name != "weekday"},
    "isodow": "weekday",
    "dayofmonth": "day",
    "dayofweekiso": "weekday",
    "dayofweek_iso": "weekday",
}


def _text(function: str, ignored: tuple[str, ...] = ()) -> Case:
    def read(node: exp.Expr, reader: Reader) -> Typed:
        only(node, "this", *ignored)
        return reader.call(node, function, reader.read(node.this))

    return read


def _substring(node: exp.Substring, reader: Reader) -> Typed:
    only(node, "this", "start", "length")
    length = node.args.get("length")
    last = literal(10**6) if length is None else reader.read(length)
    return reader.call(node, "substring", reader.read(node.this), reader.read(node.args.get("start")), last)


def _left(node: exp.Left, reader: Reader) -> Typed:
    only(node, "this", "expression")
    return reader.call(node, "substring", reader.read(node.this), literal(1), reader.read(node.expression))


def _concat(node: exp.Concat, reader: Reader) -> Typed:
    only(node, "expressions", "safe", "coalesce")
    parts = [reader.read(part) for part in node.expressions]
    if node.args.get("coalesce"):  # in these dialects NULL is an empty text
        parts = [reader.call(node, "coalesce", part, literal("")) if part.field.nullable else part for part in parts]
    return reader.call(node, "concat", *parts) if len(parts) > 1 else parts[0]


def _pipes(node: exp.DPipe, reader: Reader) -> Typed:
    only(node, "this", "expression", "safe")
    return reader.call(node, "concat", *(reader.read(part) for part in flat(node, exp.DPipe)))


def _starts_with(node: exp.StartsWith, reader: Reader) -> Typed:
    only(node, "this", "expression")
    return reader.call(node, "starts_with", reader.read(node.this), reader.read(node.expression))


# ── dates and times ──────────────────────────────────────────────────────────────────────────────────────────────────


def _unwrapped(node: exp.Expr | None) -> exp.Expr | None:
    """Some dialects wrap the argument of YEAR in a cast to a date that the user did not write."""
    while type(node) in (exp.TsOrDsToDate, exp.TsOrDsToTimestamp) and node is not None:
        only(node, "this", "default_date")
        node = node.this
    return node


def _part(node: exp.Expr, name: str, of: exp.Expr | None, reader: Reader) -> Typed:
    known = _PARTS.get(name.lower())
    if known is None:
        listed = ", ".join(sorted({part.upper() for part in _PARTS.values()} - {"WEEKDAY"} | {"ISODOW"}))
        raise refused(node, f"{name.upper()[:20]} is not defined the same on all engines", f"use {listed}")
    return reader.call(node, known, reader.read(_unwrapped(of)))


def _named_part(name: str) -> Case:
    def read(node: exp.Expr, reader: Reader) -> Typed:
        only(node, "this")
        return _part(node, name, node.this, reader)

    return read


def _extract(node: exp.Extract, reader: Reader) -> Typed:
    only(node, "this", "expression")
    return _part(node, node.this.name, node.expression, reader)


def _date_part(node: exp.Anonymous, reader: Reader) -> Typed:
    only(node, "this", "expressions")
    if len(node.expressions) != 2 or not isinstance(node.expressions[0], exp.Literal):
        raise refused(node, "DATE_PART takes the part and a date", "write DATE_PART('month', day)")
    return _part(node, node.expressions[0].name, node.expressions[1], reader)


def _start(node: exp.DateTrunc | exp.TimestampTrunc, reader: Reader) -> Typed:
    only(node, "this", "unit", "input_type_preserved")
    unit = node.args.get("unit")
    name = "" if unit is None else unit.name.lower()
    if isinstance(unit, exp.WeekStart) or name not in STARTS or (name == "week" and reader.dialect in ("bigquery", "tsql")):
        raise refused(node, "dates are truncated to the day, week (from Monday), month, quarter or year", "write DATE_TRUNC('month', day)")
    return reader.call(node, f"start_of_{name}", reader.read(_unwrapped(node.this)))


def _to_date(node: exp.Expr, reader: Reader) -> Typed:
    only(node, "this", "safe")
    return reader.call(node, "to_date", reader.read(node.this))


CASES: dict[type[exp.Expr], Case] = {
    exp.Lower: _text("lower"),
    exp.Upper: _text("upper"),
    exp.Trim: _text("trim"),
    exp.Length: _text("length", ("binary",)),
    exp.Substring: _substring,
    exp.Left: _left,
    exp.Concat: _concat,
    exp.DPipe: _pipes,
    exp.StartsWith: _starts_with,
    exp.Extract: _extract,
    exp.Year: _named_part("year"),
    exp.Quarter: _named_part("quarter"),
    exp.Month: _named_part("month"),
    exp.Day: _named_part("day"),
    exp.DayOfMonth: _named_part("day"),
    exp.DayOfWeekIso: _named_part("isodow"),
    exp.DayOfWeek: _named_part("dayofweek"),  # refused: it begins on Sunday here and on Monday there
    exp.Hour: _named_part("hour"),
    exp.Minute: _named_part("minute"),
    exp.DateTrunc: _start,
    exp.TimestampTrunc: _start,
    exp.Date: _to_date,
    exp.TsOrDsToDate: _to_date,
}
NAMED: dict[str, Case] = {"DATE_PART": _date_part}
