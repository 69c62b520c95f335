"""Functions of dates and timestamps: parts, truncation, differences and intervals."""

from __future__ import annotations

from sqlglot import exp

from discreet.errors import Refused
from discreet.query.relation.calendar import PARTS, STARTS, TIME_STARTS
from discreet.query.sql.durations import Duration, duration, unit_name, unwrapped
from discreet.query.sql.literals import agreed
from discreet.query.sql.reader import Case, Reader
from discreet.query.sql.refuse import located, only, piece, refused
from discreet.query.sql.typed import Typed, literal
from discreet.tables.kind import Kind

# the names of parts in dialects; weekday counts from Monday = 1
_PARTS = {
    **{name: name for name in PARTS if name not in ("weekday", "day_of_year")},
    "isodow": "weekday",
    "dayofmonth": "day",
    "dayofweekiso": "weekday",
    "dayofweek_iso": "weekday",
    "doy": "day_of_year",
    "dayofyear": "day_of_year",
    "isoweek": "week",
    "iso_week": "week",
    "weekofyear": "week",
    "yearofweek": "isoyear",
    "yearofweekiso": "isoyear",
}
_SUNDAYS = {"duckdb": 0, "postgres": 0, "redshift": 0, "snowflake": 0, "spark": 1, "databricks": 1, "bigquery": 1}  # the number of Sunday
_OTHER_WEEKS = ("bigquery", "tsql")  # a week begins on Sunday, or on 1 January
_WITH_FRACTION = ("postgres", "redshift", "spark", "databricks")  # EXTRACT(SECOND …) has decimals
_ELAPSED = ("spark", "databricks", "trino")  # DATEDIFF with a unit counts whole units that have passed
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


def uncast(node: exp.Expr | None) -> exp.Expr | None:
    """Some dialects wrap a date in a cast that the user did not write."""
    while node is not None and type(node) in (exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.TimeStrToTime):
        only(node, "this", "default_date")
        node = node.this
    return node


# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _part(node: exp.Expr, name: str, of: exp.Expr | None, reader: Reader) -> Typed:
    inside = None if of is None else unwrapped(of)
    if isinstance(inside, exp.Anonymous) and str(inside.this).upper() == "AGE":
        return _age(node, name, inside, reader)
    word = name.lower()
    if word in ("dow", "dayofweek", "day_of_week") and reader.dialect in (*_SUNDAYS, "trino"):
        weekday = reader.call(node, "weekday", reader.read(uncast(of)))
        if reader.dialect == "trino":
            return weekday
        sunday = reader.call(node, "modulo", weekday, literal(7))
        return reader.call(node, "add", sunday, literal(1)) if _SUNDAYS[reader.dialect] else sunday
    known = _PARTS.get(word)
    if known is None or (word == "week" and reader.dialect in _OTHER_WEEKS):
        listed = ", ".join(sorted({part.upper() for part in _PARTS.values()} - {"WEEKDAY", "DAY_OF_YEAR"} | {"ISODOW", "DOY"}))
        raise refused(node, f"{name.upper()[:20]} is not defined the same on all engines", f"use {listed}")
    if known == "second" and isinstance(node, exp.Extract) and reader.dialect in _WITH_FRACTION:
        raise refused(node, "seconds are whole here", f"write SECOND({piece(of) if of is not None else 'x'})")
    return reader.call(node, known, reader.read(uncast(of)))


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
    weeks = isinstance(unit, exp.WeekStart) or (name == "week" and reader.dialect in _OTHER_WEEKS)
    if weeks or name not in (*STARTS, *TIME_STARTS):
        raise refused(
            node,
            "times are truncated to the minute, hour, day, week (from Monday), month, quarter or year",
            "write DATE_TRUNC('month', day)",
        )
    return reader.call(node, f"start_of_{name}", reader.read(uncast(node.this)))


def _to_date(node: exp.Expr, reader: Reader) -> Typed:
    only(node, "this", "safe")
    return reader.call(node, "to_date", reader.read(node.this))


# ── differences ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _moments(node: exp.Expr, parts: list[exp.Expr], reader: Reader) -> list[Typed]:
    """Two dates or timestamps; text beside one is read as one."""
    read = [reader.read(part) for part in parts]
    try:
        return agreed(read)
    except Refused as error:
        raise located(node, error) from None


def _counted(node: exp.Expr, unit: str, first: Typed, last: Typed, reader: Reader) -> Typed:
    """How many beginnings of a unit lie between two moments."""
    function = "year" if unit == "year" else f"{unit}_number"
    return reader.call(node, "subtract", *(reader.call(node, function, moment) for moment in (last, first)))


_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "microsecond")


def _difference(node: exp.Expr, reader: Reader) -> Typed:
    """DATE_DIFF('day', a, b): the days, weeks, … that begin after a, up to b."""
    only(node, "this", "expression", "unit", "date_part_boundary", "big_int")
    if isinstance(node.this, exp.Literal) or node.this is None:  # the parser takes the unit to be last in this dialect
        raise refused(
            node, f"DATEDIFF is not part of {reader.dialect}", "write b - a for days, or EXTRACT(YEAR FROM b) - EXTRACT(YEAR FROM a)"
        )
    unit = node.args.get("unit")
    name = "day" if unit is None else unit_name(unit.name)
    if name not in _UNITS or (name == "week" and reader.dialect in _OTHER_WEEKS):
        raise refused(node, f"differences are counted in {', '.join(_UNITS)}, weeks from Monday", "write DATE_DIFF('day', a, b)")
    last, first = _moments(node, [part for part in (uncast(node.this), uncast(node.expression)) if part is not None], reader)
    if reader.dialect in _ELAPSED and name != "day":
        raise refused(node, f"{reader.dialect} counts whole units that have passed", "write DATEDIFF(b, a) for days, or YEAR(b) - YEAR(a)")
    if name == "week" and reader.dialect == "duckdb":  # which counts whole weeks, but the beginnings of all else
        if {first.field.kind, last.field.kind} != {Kind.DATE}:
            raise refused(node, "weeks are counted between dates", "write DATE_DIFF('week', CAST(a AS DATE), CAST(b AS DATE))")
        return _passed(node, name, first, last, reader)
    return _counted(node, name, first, last, reader)


def _elapsed(node: exp.TimestampDiff, reader: Reader) -> Typed:
    """Whole years, weeks or days that have passed between two dates."""
    only(node, "this", "expression", "unit")
    last, first = _moments(node, [part for part in (uncast(node.this), uncast(node.expression)) if part is not None], reader)
    name = unit_name(node.args["unit"].name) if node.args.get("unit") is not None else ""
    if name not in ("year", "week", "day") or {first.field.kind, last.field.kind} != {Kind.DATE}:
        raise refused(
            node, "whole units that have passed are counted between dates, in DAY, WEEK or YEAR", "write TIMESTAMPDIFF(YEAR, a, b)"
        )
    return _passed(node, name, first, last, reader)


def _passed(node: exp.Expr, unit: str, first: Typed, last: Typed, reader: Reader) -> Typed:
    if unit == "day":
        return _counted(node, "day", first, last, reader)
    # as decimal digits 20250228 − 20000229 = 249999: the 25th birthday is still to come
    apart = _counted(node, "calendar" if unit == "year" else "day", first, last, reader)
    return reader.call(node, "truncate", reader.call(node, "divide", apart, literal(10_000 if unit == "year" else 7)))


def _age(node: exp.Expr, name: str, age: exp.Anonymous, reader: Reader) -> Typed:
    """EXTRACT(YEAR FROM AGE(b, a)): whole years."""
    only(age, "this", "expressions")
    if len(age.expressions) != 2:
        raise refused(node, "AGE of one date reads a clock", "write EXTRACT(YEAR FROM AGE(DATE '2026-01-01', born))")
    last, first = _moments(node, age.expressions, reader)
    if name.lower() not in ("year", "years") or {first.field.kind, last.field.kind} != {Kind.DATE}:
        raise refused(node, "of an age only whole years between dates are exact", "write EXTRACT(YEAR FROM AGE(b, a)), or b - a for days")
    return _passed(node, "year", first, last, reader)


def _lone_age(node: exp.Anonymous, reader: Reader) -> Typed:
    raise refused(node, "an age in years, months and days is not one number", f"write EXTRACT(YEAR FROM {piece(node)}), or b - a for days")


def duration_between(node: exp.Expr, length: Duration, reader: Reader) -> tuple[Typed, Typed] | None:
    """A difference b − a and a duration as whole numbers of one unit, so that they can be compared; None for other nodes."""
    difference = unwrapped(node)
    if type(difference) is not exp.Sub:
        return None
    only(difference, "this", "expression")
    last, first = _moments(difference, [difference.this, difference.expression], reader)
    kinds = {first.field.kind, last.field.kind}
    if not kinds <= set(_MOMENTS):
        return None
    if length.months or len(kinds) > 1 or (kinds == {Kind.DATE} and length.days is None):
        raise refused(
            difference, "months differ in length, and dates have no hours", "compare b with a + INTERVAL 3 MONTH, or b - a with days"
        )
    if kinds == {Kind.DATE}:
        return _counted(node, "day", first, last, reader), literal(length.days)
    return _counted(node, "microsecond", first, last, reader), literal(length.microseconds)


# ── later and earlier ────────────────────────────────────────────────────────────────────────────────────────────────


def later(node: exp.Expr, moment: Typed, by: Duration, reader: Reader) -> Typed:
    """A date or timestamp after a duration."""
    if moment.field.kind not in _MOMENTS:
        raise refused(node, "an interval is added to a date or a timestamp", "write day + INTERVAL 90 DAY, with a date column")
    if by.months:
        return reader.call(node, "add_months", moment, literal(by.months))
    if moment.field.kind is Kind.DATE:
        if by.days is None:
            raise refused(node, "a date has no hours", "add whole days, as in day + INTERVAL 1 DAY, or use a timestamp column")
        return reader.call(node, "add_days", moment, literal(by.days))
    return reader.call(node, "add_microseconds", moment, literal(by.microseconds))


def _add(node: exp.Add, reader: Reader) -> Typed:
    only(node, "this", "expression")
    for one, other in ((node.this, node.expression), (node.expression, node.this)):
        if (by := duration(other)) is not None:
            return later(node, reader.read(one), by, reader)
    a, b = reader.read(node.this), reader.read(node.expression)
    for moment, days in ((a, b), (b, a)):
        if moment.field.kind is Kind.DATE and days.field.kind is Kind.INTEGER:
            return reader.call(node, "add_days", moment, days)
    return reader.call(node, "add", a, b)


def _subtract(node: exp.Sub, reader: Reader) -> Typed:
    only(node, "this", "expression")
    if (by := duration(node.expression)) is not None:
        return later(node, reader.read(node.this), by.times(-1), reader)
    a, b = _moments(node, [node.this, node.expression], reader)
    kinds = (a.field.kind, b.field.kind)
    if kinds == (Kind.DATE, Kind.DATE):
        return _counted(node, "day", b, a, reader)
    if kinds == (Kind.DATE, Kind.INTEGER):
        return reader.call(node, "add_days", a, reader.call(node, "negate", b))
    if Kind.TIMESTAMP in kinds:
        last, first = piece(node.this), piece(node.expression)
        raise refused(
            node,
            "the difference of timestamps is not one number",
            f"write DATE_DIFF('hour', {first}, {last}), or compare {last} with {first} + INTERVAL 90 DAY",
        )
    return reader.call(node, "subtract", a, b)


def _date_add(sign: int) -> Case:
    """DATE_ADD(day, INTERVAL 3 MONTH), DATEADD(month, 3, day) and the like."""

    def read(node: exp.Expr, reader: Reader) -> Typed:
        only(node, "this", "expression", "unit", "return_type")
        amount, unit = node.args.get("expression"), node.args.get("unit")
        by = duration(amount)
        moment = reader.read(uncast(node.this))
        if by is None and amount is not None:
            if unit is None or unit_name(unit.name) == "day":
                days = reader.read(exp.Literal.number(amount.name) if isinstance(amount, exp.Literal) else amount)
                if moment.field.kind is Kind.DATE and days.field.kind is Kind.INTEGER:
                    return reader.call(node, "add_days", moment, days if sign > 0 else reader.call(node, "negate", days))
            by = duration(exp.Interval(this=amount, unit=exp.Var(this="DAY" if unit is None else unit.name)))
        assert by is not None
        return later(node, moment, by.times(sign), reader)

    return read


def _months_later(node: exp.AddMonths, reader: Reader) -> Typed:
    only(node, "this", "expression")
    by = duration(exp.Interval(this=node.expression, unit=exp.Var(this="MONTH")))
    assert by is not None
    return later(node, reader.read(uncast(node.this)), by, reader)


def _date_sub(node: exp.Anonymous, reader: Reader) -> Typed:
    """DuckDB's DATE_SUB('year', a, b) counts whole units that have passed; elsewhere DATE_SUB goes back."""
    only(node, "this", "expressions")
    if len(node.expressions) == 2 and (by := duration(node.expressions[1])) is not None:
        return later(node, reader.read(node.expressions[0]), by.times(-1), reader)
    if len(node.expressions) == 3 and isinstance(node.expressions[0], exp.Literal):
        unit, first, last = node.expressions
        return _elapsed(exp.TimestampDiff(this=last, expression=first, unit=exp.Var(this=unit.name)), reader)
    raise refused(node, "DATE_SUB takes a date and an interval", "write day - INTERVAL 3 MONTH")


CASES: dict[type[exp.Expr], Case] = {
    exp.Add: _add,
    exp.Sub: _subtract,
    exp.Extract: _extract,
    exp.Year: _named_part("year"),
    exp.Quarter: _named_part("quarter"),
    exp.Month: _named_part("month"),
    exp.Week: _named_part("week"),
    exp.WeekOfYear: _named_part("weekofyear"),
    exp.Day: _named_part("day"),
    exp.DayOfMonth: _named_part("day"),
    exp.DayOfYear: _named_part("doy"),
    exp.DayOfWeekIso: _named_part("isodow"),
    exp.DayOfWeek: _named_part("dayofweek"),
    exp.Hour: _named_part("hour"),
    exp.Minute: _named_part("minute"),
    exp.Second: _named_part("second"),
    exp.DateTrunc: _start,
    exp.TimestampTrunc: _start,
    exp.Date: _to_date,
    exp.TsOrDsToDate: _to_date,
    exp.DateDiff: _difference,
    exp.TsOrDsDiff: _difference,
    exp.TimestampDiff: _elapsed,
    exp.DateAdd: _date_add(1),
    exp.TsOrDsAdd: _date_add(1),
    exp.TimestampAdd: _date_add(1),
    exp.DateSub: _date_add(-1),
    exp.AddMonths: _months_later,
}
NAMED: dict[str, Case] = {
    "DATE_PART": _date_part,
    "AGE": _lone_age,
    "DATE_SUB": _date_sub,
}
