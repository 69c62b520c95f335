"""Arithmetic, rounding and casts.

`/` is real division everywhere. Where the dialect drops the remainder of two whole numbers, dividing them is refused.
A cast to a whole number rounds (half up) or truncates as the dialect does. LEAST and GREATEST are NULL if any argument is.
"""

from __future__ import annotations

import datetime
from fractions import Fraction

from sqlglot import exp

from discreet.errors import Refused
from discreet.query.relation.expr import Literal
from discreet.query.sql.durations import unwrapped
from discreet.query.sql.literals import number, time_literal
from discreet.query.sql.reader import Case, Reader
from discreet.query.sql.refuse import is_set, located, mistyped, only, refused
from discreet.query.sql.typed import Typed, literal
from discreet.tables.kind import Kind

MOST_FACTORS = 10
FEWEST_DIGITS = 9  # ROUND(x, -9) rounds to billions
_CUTTING = {"spark", "databricks", "tsql"}  # a cast to a whole number truncates; the others round
_WHOLE_TYPES = {exp.DType.INT, exp.DType.BIGINT}
_REAL_TYPES = {exp.DType.DOUBLE, exp.DType.FLOAT}
_TIME_TYPES = {exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME, exp.DType.DATETIME2}


def _plain(function: str, *names: str, ignored: tuple[str, ...] = ()) -> Case:
    """A function whose arguments are read in this order, lists spread out."""

    def read(node: exp.Expr, reader: Reader) -> Typed:
        only(node, *names, *ignored)
        arguments: list[Typed] = []
        for name in names:
            value = node.args.get(name)
            arguments += [reader.read(part) for part in (value if isinstance(value, list) else [] if value is None else [value])]
        return reader.call(node, function, *arguments)

    return read


def _paren(node: exp.Paren, reader: Reader) -> Typed:
    only(node, "this")
    return reader.read(node.this)


def _divisor(node: exp.Expr) -> exp.Expr | None:
    """The x of NULLIF(x, 0)."""
    node = unwrapped(node)
    if type(node) is not exp.Nullif:
        return None
    only(node, "this", "expression")
    other = node.expression
    zero = isinstance(other, exp.Literal) and not other.is_string and number(other) == 0
    return node.this if zero else None


def _quotient(node: exp.Expr, reader: Reader) -> tuple[Typed, Typed, str]:
    """The parts of a division, and the function: one that is NULL where NULLIF makes the divisor so."""
    inside = _divisor(node.expression)
    return reader.read(node.this), reader.read(inside or node.expression), "divide" if inside is None else "divide_or_null"


def _divide(node: exp.Div, reader: Reader) -> Typed:
    only(node, "this", "expression", "typed", "safe")
    a, b, function = _quotient(node, reader)
    if node.args.get("typed") and a.field.kind is Kind.INTEGER and b.field.kind is Kind.INTEGER:
        raise refused(
            node,
            f"in {reader.dialect} / drops the remainder of whole numbers",
            "write 1.0 * a / b for real division, or FLOOR(1.0 * a / b)",
        )
    return reader.call(node, function, a, b)


def _whole_divide(node: exp.IntDiv, reader: Reader) -> Typed:
    only(node, "this", "expression")
    a, b, function = _quotient(node, reader)
    if a.field.kind is not Kind.INTEGER or b.field.kind is not Kind.INTEGER:
        raise refused(node, "// takes whole numbers", "write FLOOR(a / b)")
    return reader.call(node, "truncate", reader.call(node, function, a, b))


def _round(node: exp.Round, reader: Reader) -> Typed:
    """Rounding to tens or hundreds, as in ROUND(x, -2), is rounding of x / 100, times 100."""
    only(node, "this", "decimals")
    value, digits = reader.read(node.this), node.args.get("decimals")
    if digits is None:
        return reader.call(node, "round", value)
    places = reader.read(digits)
    power = places.expr.value if isinstance(places.expr, Literal) else None
    if type(power) is not int or not -FEWEST_DIGITS <= power < 0:
        return reader.call(node, "round", value, places)
    by = literal(10**-power)
    return reader.call(node, "multiply", reader.call(node, "round", reader.call(node, "divide", value, by)), by)


def _power(node: exp.Pow, reader: Reader) -> Typed:
    only(node, "this", "expression")
    value, exponent = reader.read(node.this), node.expression
    while type(exponent) is exp.Paren:
        exponent = exponent.this
    times = number(exponent) if type(exponent) is exp.Literal and not exponent.is_string else None
    if times == Fraction(1, 2):
        return reader.call(node, "sqrt", value)
    if not isinstance(times, int) or not 1 <= times <= MOST_FACTORS:
        raise refused(node, f"a power takes a literal whole exponent from 1 to {MOST_FACTORS}", "write POWER(x, 2), SQRT(x) or EXP(x)")
    product = value
    for _ in range(times - 1):
        product = reader.call(node, "multiply", product, value)
    return product


def _log(node: exp.Log, reader: Reader) -> Typed:
    raise refused(node, "LOG means base 10 in some dialects and base e in others", "use LN(x), or LN(x) / LN(10)")


def _clamp(node: exp.Anonymous, reader: Reader) -> Typed:
    only(node, "this", "expressions")
    if len(node.expressions) != 3:
        raise refused(node, "CLAMP takes a number and its two bounds", "write CLAMP(x, 0, 100)")
    value, low, high = (reader.read(part) for part in node.expressions)
    ends = [end.expr.value for end in (low, high) if isinstance(end.expr, Literal) and isinstance(end.expr.value, int | Fraction)]
    if len(ends) == 2 and ends[0] > ends[1]:
        raise refused(node, "the lower bound lies above the upper", "swap them, as in CLAMP(x, 0, 100)")
    return clipped(reader, node, value, low, high)


def clipped(reader: Reader, node: exp.Expr, value: Typed, low: Typed, high: Typed) -> Typed:
    """A value clipped to its bounds."""
    return reader.call(node, "least", reader.call(node, "greatest", value, low), high)


def _negative(node: exp.Neg, reader: Reader) -> Typed:
    only(node, "this")
    value = reader.read(node.this)
    if isinstance(value.expr, Literal) and isinstance(value.expr.value, int | Fraction) and not isinstance(value.expr.value, bool):
        return literal(-value.expr.value)
    return reader.call(node, "negate", value)


def _cast(node: exp.Cast, reader: Reader) -> Typed:
    only(node, "this", "to", "_type", "safe")  # TRY_CAST is the same where no cast can fail
    value, to = reader.read(node.this), node.args["to"]
    if any(is_set(part) for name, part in to.args.items() if name not in ("this", "nested")):
        raise refused(node, "numbers are cast to DOUBLE or INTEGER, without a precision", "write ROUND(x, 2)")
    text = value.text
    if text is not None and (to.this is exp.DType.DATE or to.this in _TIME_TYPES):
        try:
            return literal(time_literal(text, Kind.DATE if to.this is exp.DType.DATE else Kind.TIMESTAMP))
        except Refused as error:
            raise located(node, error) from None
    return _converted(node, value, to.this, reader)


def _converted(node: exp.Cast, value: Typed, to: exp.DType, reader: Reader) -> Typed:
    kind = value.field.kind
    if to in _REAL_TYPES and kind in (Kind.INTEGER, Kind.REAL):
        return value if kind is Kind.REAL else reader.call(node, "to_real", value)
    if to in _WHOLE_TYPES and kind is Kind.INTEGER:
        return value
    if to in _WHOLE_TYPES and kind is Kind.REAL:
        return reader.call(node, "truncate" if reader.dialect in _CUTTING else "round", value)
    if to in _WHOLE_TYPES and kind is Kind.BOOLEAN:
        return reader.call(node, "case", value, literal(1), reader.call(node, "not", value), literal(0), literal(None))
    if to is exp.DType.DATE and kind in (Kind.DATE, Kind.TIMESTAMP):
        return value if kind is Kind.DATE else reader.call(node, "to_date", value)
    if to in _TIME_TYPES and isinstance(value.expr, Literal) and type(value.expr.value) is datetime.date:
        return literal(datetime.datetime.combine(value.expr.value, datetime.time()))
    if to in _TIME_TYPES and kind is Kind.DATE:
        return reader.call(node, "to_timestamp", value)
    if (to is exp.DType.TEXT or to is exp.DType.VARCHAR) and kind is Kind.TEXT:
        return value
    if (to is exp.DType.BOOLEAN and kind is Kind.BOOLEAN) or (to in _TIME_TYPES and kind is Kind.TIMESTAMP):
        return value
    raise mistyped(
        node,
        "only numbers are cast to numbers, booleans to whole numbers and timestamps to dates, as other casts may fail on a row and show it",
        "declare the column's type, or use ROUND, FLOOR or CASE",
    )


CASES: dict[type[exp.Expr], Case] = {
    exp.Paren: _paren,
    exp.Mul: _plain("multiply", "this", "expression"),
    exp.Mod: _plain("modulo", "this", "expression"),
    exp.Div: _divide,
    exp.SafeDivide: _plain("divide_or_null", "this", "expression"),
    exp.IntDiv: _whole_divide,
    exp.Neg: _negative,
    exp.Abs: _plain("abs", "this"),
    exp.Floor: _plain("floor", "this"),
    exp.Ceil: _plain("ceil", "this"),
    exp.Trunc: _plain("truncate", "this"),
    exp.Round: _round,
    exp.Sqrt: _plain("sqrt", "this"),
    exp.Ln: _plain("ln", "this"),
    exp.Exp: _plain("exp", "this"),
    exp.Log: _log,
    exp.Pow: _power,
    exp.Least: _plain("least", "this", "expressions", ignored=("ignore_nulls",)),
    exp.Greatest: _plain("greatest", "this", "expressions", ignored=("ignore_nulls",)),
    exp.WidthBucket: _plain("width_bucket", "this", "min_value", "max_value", "num_buckets"),
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
NAMED: dict[str, Case] = {
    "CLAMP": _clamp,
    "CLIP": _clamp,
    "WIDTH_BUCKET": _plain("width_bucket", "expressions", ignored=("this",)),
}
