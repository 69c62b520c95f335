"""Expressions chosen by hand, each where an engine is known or feared to raise an error, round otherwise, or overflow."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.query.relation.expr import Column, Expr, Literal, call

I, N, W, BIG, BIGN, SHORT, UI = map(Column, ("i", "n", "w", "big", "bign", "short", "ui"))
R, P, WEE, VAST, TIGHT, FAR, OPEN, OPENN, F4, DEC = map(Column, ("r", "p", "wee", "vast", "tight", "far", "open", "openn", "f4", "dec"))
S, K, B, D, DB, M, MZ = map(Column, ("s", "k", "b", "d", "db", "m", "mz"))


def lit(value: Any) -> Literal:
    return Literal(value)


def clip(expr: Expr, low: Any, high: Any) -> Expr:
    return call("least", call("greatest", expr, lit(low)), lit(high))


# believed to lie in [0, 3], [0, 3·10^5]; floats make of it what they like, up to 10^29
CANCELLED = call("subtract", call("multiply", FAR, lit(3)), lit(Fraction(3 * 10**45)))
BACKWARDS = call("subtract", lit(Fraction(3 * 10**45 + 3)), call("multiply", FAR, lit(3)))
ROUGH = call("subtract", call("multiply", TIGHT, lit(3)), lit(Fraction(3 * 10**20)))
TINY = call("multiply", WEE, WEE)  # 10^-80 to 10^-60
SMALLER = call("multiply", call("multiply", TINY, TINY), call("multiply", TINY, TINY))  # down to 10^-320: below the smallest ordinary float
FARTHER = call("multiply", VAST, call("multiply", VAST, call("multiply", VAST, VAST)))  # 10^200
SIXTY = clip(OPEN, Fraction(-(2**53)), Fraction(2**53))
UNKNOWN = call("coalesce", OPEN, lit(Fraction(0)))

ROUNDING: Sequence[Expr] = [call(name, SIXTY) for name in ("floor", "ceil", "truncate", "round")]
ROUNDING = [
    *ROUNDING,
    *(call(name, R) for name in ("floor", "ceil", "truncate", "round")),
    call("round", R, lit(2)),
    call("round", R, lit(15)),
]
ROUNDING = [
    *ROUNDING,
    call("round", clip(OPEN, Fraction(-(10**30)), Fraction(10**30)), lit(15)),
    call("round", WEE, lit(0)),
    call("floor", F4),
]

CANCELLING: Sequence[Expr] = [
    call(name, argument)
    for name in ("floor", "ceil", "truncate", "round", "exp", "abs")
    for argument in (CANCELLED, BACKWARDS, ROUGH)
    if not (name == "exp" and argument is ROUGH)
]
CANCELLING = [
    *CANCELLING,
    call("sqrt", CANCELLED),
    call("sqrt", BACKWARDS),
    call("ln", call("add", CANCELLED, lit(1))),
    call("divide", N, call("add", CANCELLED, lit(1))),
    call("divide", N, call("add", BACKWARDS, lit(1))),
    call("subtract", call("exp", CANCELLED), call("exp", BACKWARDS)),
    call("multiply", call("exp", CANCELLED), call("exp", BACKWARDS)),
    call("width_bucket", CANCELLED, lit(0), lit(3), lit(7)),
    call("width_bucket", FARTHER, lit(0), lit(Fraction(1, 1000)), lit(10**6)),
    call("exp", call("least", FARTHER, lit(200))),
    call("round", CANCELLED, lit(15)),
]

UNDERFLOWING: Sequence[Expr] = [
    TINY,
    SMALLER,
    call("multiply", SMALLER, R),
    call("divide", WEE, call("greatest", FARTHER, lit(1))),
    call("divide", TINY, call("greatest", VAST, lit(1))),
    call("divide", SMALLER, call("greatest", VAST, lit(1))),
    call("divide", call("multiply", SMALLER, SMALLER), lit(3)),
    call("exp", call("negate", call("abs", OPEN))),
    call("exp", call("negate", lit(745))),
    call("exp", call("negate", lit(10**6))),
    call("sqrt", SMALLER),
    call("add", OPEN, OPENN),
    call("multiply", OPEN, OPENN),
    call("multiply", call("multiply", OPEN, OPENN), R),
    call("divide", OPEN, WEE),
    call("multiply", OPEN, lit(Fraction(1, 10**30))),
    call("subtract", OPENN, OPEN),
    call("abs", call("multiply", call("negate", OPEN), lit(0))),
]

OVERFLOWING: Sequence[Expr] = [
    *(call("divide_or_null", a, b) for a in (R, OPEN, BIG, VAST, WEE, FARTHER) for b in (R, OPEN, I, BIG, WEE, SMALLER, UI)),
    call("add", BIG, BIGN),
    call("add", call("multiply", W, W), W),
    call("multiply", W, W),
    call("multiply", BIG, BIGN),
    call("negate", BIG),
    call("negate", W),
    call("abs", BIG),
    call("abs", UI),
    call("modulo", BIG, lit(2**63 - 1)),
    call("modulo", BIG, lit(1)),
    call("modulo", call("negate", W), lit(7)),
    call("add", SHORT, SHORT),
    call("multiply", SHORT, lit(30000)),
    call("multiply", call("multiply", I, W), N),
    call("subtract", lit(-(2**63) + 1), I),
    call("to_real", BIG),
    call("least", BIG, BIGN, lit(2**62)),
    call("greatest", BIG, R, OPEN),
    call("divide", BIG, N),
    call("divide", BIG, lit(-(2**62))),
]

COMPARED: Sequence[Expr] = [
    *(call(name, BIG, OPEN) for name in ("equal", "less", "greater_equal")),
    *(call(name, BIG, lit(Fraction(2**53))) for name in ("equal", "less", "greater")),
    call("equal", OPEN, OPEN),
    call("equal", call("multiply", OPEN, lit(0)), lit(0)),
    call("in", OPEN, lit(0), lit(Fraction(1, 2)), lit(None)),
    call("in", BIG, lit(2**53 + 1), lit(2**63 - 1)),
    call("less", OPEN, OPENN),
    *(call(name, S, K) for name in ("less", "greater_equal", "equal", "not_equal")),
    *(call(name, S, lit(word)) for name in ("less", "greater") for word in ("a", "B", "é", "\U0001f600", "", "~")),
    call("in", S, lit("it's"), lit("a\\b"), lit("\n"), lit("\U0001f600"), lit("e\u0301")),
    call("equal", S, lit("er ")),
    call("equal", D, call("to_date", M)),
    call("less", M, MZ),
    call("coalesce", lit(None), I),
    call("case", B, lit(None), lit(7)),
    call("case", lit(None), R, I),
    call("is_null", lit(None)),
    call("and", lit(None), B),
    call("or", B, call("not", B), lit(None)),
]

TEXTUAL: Sequence[Expr] = [
    *(call("like", S, lit(pattern)) for pattern in ("%", "_", "", "\\", "a\\%b", "%\\", "%é", "e_", "%\n%", "'", "a%b%", "%\U0001f600_")),
    *(call("starts_with", S, lit(prefix)) for prefix in ("", "%", "\\", "\U0001f600", "e\u0301", "\n", "it'")),
    call("length", S),
    call("trim", S),
    call("length", call("trim", call("concat", lit(" \t"), S, lit("\u00a0 ")))),
    call("substring", S, lit(1), lit(1)),
    call("substring", S, lit(2), lit(10**6)),
    call("substring", S, lit(10**6), lit(10**6)),
    call("concat", S, S, S, S),
    call("concat", call("concat", S, S), call("concat", S, K)),
    call("upper", call("lower", S)),
    call("length", call("concat", S, lit("漢"))),
]

_MIN, _MAX = datetime.datetime.min, datetime.datetime.max
DATED: Sequence[Expr] = [
    *(call(name, moment) for name in ("year", "quarter", "month", "day", "weekday") for moment in (D, DB, M, MZ)),
    *(call(name, moment) for name in ("hour", "minute") for moment in (M, MZ)),
    *(call(f"start_of_{name}", moment) for name in ("day", "week", "month", "quarter", "year") for moment in (D, M, MZ)),
    *(call("to_date", moment) for moment in (D, M, MZ)),
    *(call("equal", moment, lit(end)) for moment in (M, MZ) for end in (_MIN, _MAX)),
    call("case", B, M, MZ),
    call("coalesce", D, DB),
    call("weekday", call("start_of_week", MZ)),
    *(call(name, moment) for name in ("isoyear", "week", "day_of_year") for moment in (D, DB, M, MZ)),
    *(call("second", moment) for moment in (M, MZ)),
    *(call(f"{name}_number", moment) for name in ("day", "week", "month", "quarter", "calendar") for moment in (D, DB, M)),
    *(call(f"{name}_number", moment) for name in ("hour", "minute", "second", "microsecond") for moment in (M, MZ)),
    *(call(f"start_of_{name}", moment) for name in ("hour", "minute") for moment in (M, MZ)),
    *(call("add_days", D, lit(days)) for days in (0, 1, -1, 90, 10**6, -(10**6))),
    call("add_days", DB, I),
    *(call("add_months", moment, lit(months)) for moment in (D, DB, M) for months in (1, -1, 12, 32_000, -32_000)),
    *(call("add_microseconds", M, lit(more)) for more in (1, -1, 86_400_000_000, -3_723_000_004, 10**6 * 86_400_000_000)),
    call("subtract", call("day_number", D), call("day_number", DB)),
    call("less", M, call("to_timestamp", call("add_days", D, lit(90)))),
    *(call("date_text", moment, lit(text)) for moment in (D, DB, M) for text in ("%Y-%m", "%G-W%V", "%d %B %Y", "%a", "%j")),
    *(call("date_text", moment, lit("%Y-%m-%d %H:%M:%S")) for moment in (M, MZ)),
]

PLAIN: Sequence[Expr] = [I, N, W, BIG, BIGN, SHORT, UI, R, P, WEE, VAST, TIGHT, FAR, OPEN, OPENN, F4, DEC, S, K, B, D, DB, M, MZ]
PLAIN = [*PLAIN, UNKNOWN, CANCELLED, BACKWARDS, ROUGH, FARTHER]

SHARP: dict[str, Sequence[Expr]] = {
    "as they are": PLAIN,
    "rounding": ROUNDING,
    "cancelling": CANCELLING,
    "underflowing": UNDERFLOWING,
    "overflowing": OVERFLOWING,
    "compared": COMPARED,
    "textual": TEXTUAL,
    "dated": DATED,
}
