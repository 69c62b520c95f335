"""Random expressions of the right kinds: every function of the closed list at the top in turn, and any below it."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.postgres.dialect import POSTGRES
from discreet.engines.spark.dialect import SPARK
from discreet.errors import Refused
from discreet.query.relation.expr import Call, Column, Expr, Literal, Schema, call, field_of
from discreet.query.relation.field import Field
from discreet.query.relation.functions import FUNCTIONS
from discreet.query.relation.write import write_expr
from discreet.tables.kind import Kind, Value

LONGEST = 3_000  # characters of SQL on any engine; they take seconds to plan what is longer
NUMBER = (Kind.INTEGER, Kind.REAL)
MOMENT = (Kind.DATE, Kind.TIMESTAMP)
ANY = tuple(Kind)
LITERALS: dict[Kind, list[Value]] = {
    Kind.BOOLEAN: [True, False],
    Kind.INTEGER: [0, 1, 2, 3, -4, 10, 1000, 2**31, 2**53 + 1, 2**62, -(2**63) + 1],
    Kind.REAL: [Fraction(0), Fraction(1, 2), Fraction(-7, 3), Fraction(1, 10), Fraction(10**20), Fraction(1, 10**30), Fraction(5, 2)],
    Kind.TEXT: ["", "er", "ER", "a%", "it's", "\\", "漢字", "\U0001f600", "a\\b", "x\ny", " "],
    Kind.DATE: [datetime.date(2024, 2, 29), datetime.date.min, datetime.date.max, datetime.date(1969, 12, 31)],
    Kind.TIMESTAMP: [
        datetime.datetime(2024, 2, 29, 12, 30),
        datetime.datetime.min,
        datetime.datetime.max,
        datetime.datetime(1, 1, 1, 0, 0, 0, 1),
    ],
}
PATTERNS = [
    "er%",
    "%",
    "_",
    "%a%",
    "a_b",
    "a\\%b",
    "\\",
    "%'%",
    "",
    "é_",
    "%漢%",
    "\U0001f600%",
    "%\n%",
    "a\\_b",
    "e%r%x%",
    "E%",
    "__",
    "%\\%",
]
FORMATS = ["%Y-%m", "%Y", "%m", "%d.%m.%Y", "%G-W%V", "%A", "%b %Y", "%H:%M", "%j", "%a %u %%", "%B"]
_DATE_PARTS = "year isoyear quarter month week day day_of_year weekday"
_TIME_PARTS = "hour minute second"
PREFIXES = ["e", "", "er", "\U0001f600", "a%", "\\", "é", "'", "漢字", "\t"]


class Maker:
    """Makes expressions over the columns of a schema, by seeded choice."""

    def __init__(self, schema: Schema, seed: int) -> None:
        self.schema, self.coin = schema, random.Random(seed)
        self._columns = {kind: [name for name, field in schema.items() if field.kind is kind and name != "rid"] for kind in Kind}

    def some(self, kinds: Sequence[Kind], depth: int) -> Expr:
        """An expression of one of these kinds, sometimes a bare NULL."""
        coin = self.coin
        for _ in range(60):
            if depth == 0 or coin.random() < 0.12:
                return self.leaf(kinds)
            made = self.of(coin.choice(_GIVES[coin.choice(kinds)]), depth)
            if made is not None and self.believed(made).kind in kinds:
                return made
        return self.leaf(kinds)

    def leaf(self, kinds: Sequence[Kind]) -> Expr:
        kind = self.coin.choice(kinds)
        if self.coin.random() < 0.75 and self._columns[kind]:
            return Column(self.coin.choice(self._columns[kind]))
        return Literal(None if self.coin.random() < 0.05 else self.coin.choice(LITERALS[kind]))

    def believed(self, expr: Expr) -> Field:
        return field_of(expr, self.schema)

    def of(self, name: str, depth: int) -> Expr | None:
        """A call of this function that the rules admit, or None if they refuse it."""
        try:
            made = Call(name, tuple(SHAPES[name](self, depth - 1)))
            self.believed(made)
        except Refused:
            return None
        return made

    def certainly(self, name: str, depth: int) -> Expr:
        """A call of this function, of which the kind is known and the text not too long."""
        for _ in range(2000):
            made = self.of(name, depth)
            if made is not None and self.believed(made).kind is not None and self._fits(made):
                return made
        raise AssertionError(f"{name} is refused whatever it is given")

    def _fits(self, made: Expr) -> bool:
        try:
            return all(len(write_expr(made, self.schema, dialect)) <= LONGEST for dialect in (DUCKDB, POSTGRES, SPARK))
        except Refused:
            return False

    # ── numbers kept where a function can take them ──────────────────────────────────────────────────────────────────

    def number(self, depth: int) -> Expr:
        return self.some(NUMBER, depth)

    def within(self, depth: int, low: Value | None, high: Value | None) -> Expr:
        """A number, clipped if it must be."""
        made = self.number(depth)
        found = self.believed(made).range
        if found is not None and low is not None and found.low < Fraction(low):  # type: ignore[arg-type]
            made = call("greatest", made, Literal(low))
        if found is not None and high is not None and found.high > Fraction(high):  # type: ignore[arg-type]
            made = call("least", made, Literal(high))
        return made

    def divisor(self, depth: int) -> Expr:
        low = self.coin.choice([1, 3, Fraction(1, 2), Fraction(1, 10**30)])
        if self.coin.random() < 0.3:
            return call("negate", self.within(depth, low, None))
        return self.within(depth, low, None)

    def literal(self, choices: Sequence[Value]) -> Literal:
        return Literal(self.coin.choice(choices))

    def several(self, kinds: Sequence[Kind], depth: int, least: int = 2) -> list[Expr]:
        return [self.some(kinds, depth) for _ in range(least + self.coin.randrange(3))]

    def alike(self, depth: int, count: int) -> list[Expr]:
        """Arguments of one kind, or whole and real numbers together."""
        kinds = self.coin.choice([NUMBER, NUMBER, (Kind.INTEGER,), (Kind.TEXT,), (Kind.DATE,), (Kind.TIMESTAMP,), (Kind.BOOLEAN,)])
        return [self.some(kinds, depth) for _ in range(count)]


Shape = Callable[[Maker, int], Sequence[Expr]]


def _two_numbers(maker: Maker, depth: int) -> Sequence[Expr]:
    return maker.number(depth), maker.number(depth)


def _clipped(low: Value | None, high: Value | None) -> Shape:
    return lambda maker, depth: [maker.within(depth, low, high)]


def _whole(maker: Maker, depth: int) -> Sequence[Expr]:
    far = maker.coin.choice([2**53, 2**52, 2**31, 100])
    return [maker.within(depth, -far, far)]


def _rounded(maker: Maker, depth: int) -> Sequence[Expr]:
    if maker.coin.random() < 0.4:
        return _whole(maker, depth)
    far = maker.coin.choice([10**30, 2**53, 100])
    return [maker.within(depth, Fraction(-far), Fraction(far)), maker.literal([0, 1, 2, 5, 10, 15])]


def _bucket(maker: Maker, depth: int) -> Sequence[Expr]:
    low, high = maker.coin.choice(
        [(0, 50), (-5, 5), (0, 2**40), (Fraction(1, 10), Fraction(11, 10)), (-(2**60), 2**60), (0, Fraction(1, 10**6))]
    )
    return [maker.number(depth), Literal(low), Literal(high), maker.literal([1, 2, 7, 10**6])]


def _case(maker: Maker, depth: int) -> Sequence[Expr]:
    branches = 1 + maker.coin.randrange(2)
    values = maker.alike(depth, branches + 1)
    made: list[Expr] = []
    for value in values[:-1]:
        made += [maker.some((Kind.BOOLEAN,), depth), value]
    return [*made, values[-1]]


def _member(maker: Maker, depth: int) -> Sequence[Expr]:
    first, *rest = maker.alike(depth, 1 + maker.coin.randrange(1, 4))
    kind = maker.believed(first).kind or Kind.TEXT
    return [first, *rest, maker.literal(LITERALS[kind])]


def _one(*kinds: Kind) -> Shape:
    return lambda maker, depth: [maker.some(kinds, depth)]


def _texts(count: int) -> Shape:
    return lambda maker, depth: maker.several((Kind.TEXT,), depth, count)


def _pattern(choices: Sequence[str]) -> Shape:
    return lambda maker, depth: [maker.some((Kind.TEXT,), depth), maker.literal(choices)]


def _few_days(maker: Maker, depth: int) -> Expr:
    made = maker.some((Kind.INTEGER,), depth)
    return call("least", call("greatest", made, Literal(-(10**6))), Literal(10**6))


SHAPES: dict[str, Shape] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide_or_null"), _two_numbers),
    "divide": lambda maker, depth: [maker.number(depth), maker.divisor(depth)],
    "modulo": lambda maker, depth: [maker.some((Kind.INTEGER,), depth), maker.literal([1, 2, 3, 10, 2**31, 2**63 - 1])],
    **dict.fromkeys(("negate", "abs", "to_real"), _one(*NUMBER)),
    **dict.fromkeys(("floor", "ceil", "truncate"), _whole),
    "round": _rounded,
    "sqrt": _clipped(0, None),
    "ln": lambda maker, depth: [maker.within(depth, maker.coin.choice([1, Fraction(1, 10**30)]), None)],
    "exp": lambda maker, depth: [maker.within(depth, None, maker.coin.choice([200, 50, 0, -300]))],
    **dict.fromkeys(("least", "greatest"), lambda maker, depth: maker.several(NUMBER, depth)),
    "width_bucket": _bucket,
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), lambda maker, depth: maker.alike(depth, 2)),
    **dict.fromkeys(("and", "or"), lambda maker, depth: maker.several((Kind.BOOLEAN,), depth)),
    "not": _one(Kind.BOOLEAN),
    "is_null": _one(*ANY),
    "in": _member,
    "case": _case,
    "coalesce": lambda maker, depth: maker.alike(depth, 1 + maker.coin.randrange(3)),
    "like": _pattern(PATTERNS),
    "starts_with": _pattern(PREFIXES),
    **dict.fromkeys(("lower", "upper", "trim", "length"), _one(Kind.TEXT)),
    "substring": lambda maker, depth: [
        maker.some((Kind.TEXT,), depth),
        maker.literal([1, 2, 5, 10**6]),
        maker.literal([1, 3, 1000, 10**6]),
    ],
    "concat": _texts(2),
    **dict.fromkeys(_DATE_PARTS.split(), _one(*MOMENT)),
    **dict.fromkeys(_TIME_PARTS.split(), _one(Kind.TIMESTAMP)),
    **{f"start_of_{name}": _one(*MOMENT) for name in ("day", "week", "month", "quarter", "year")},
    **{f"start_of_{name}": _one(Kind.TIMESTAMP) for name in ("hour", "minute")},
    **{f"{name}_number": _one(*MOMENT) for name in ("day", "week", "month", "quarter", "calendar")},
    **{f"{name}_number": _one(Kind.TIMESTAMP) for name in ("hour", "minute", "second", "microsecond")},
    **dict.fromkeys(("to_date", "to_timestamp"), _one(*MOMENT)),
    "add_days": lambda maker, depth: [maker.some((Kind.DATE,), depth), _few_days(maker, depth)],
    "add_months": lambda maker, depth: [maker.some(MOMENT, depth), maker.literal([0, 1, -1, 12, -13, 32_000, -32_000])],
    "add_microseconds": lambda maker, depth: [
        maker.some((Kind.TIMESTAMP,), depth),
        maker.literal([0, 1, -1, 86_400_000_000, -3_600_000_001, 10**6 * 86_400_000_000, -(10**6) * 86_400_000_000]),
    ],
    "date_text": lambda maker, depth: [maker.some(MOMENT, depth), maker.literal(FORMATS)],
}

_CHOICES = "case coalesce"
_PARTS = f"{_DATE_PARTS} {_TIME_PARTS} day_number week_number month_number quarter_number calendar_number second_number microsecond_number"
_GIVES: dict[Kind, list[str]] = {
    kind: f"{names} {_CHOICES}".split()
    for kind, names in {
        Kind.INTEGER: "add subtract multiply modulo negate abs floor ceil truncate round least greatest width_bucket length " + _PARTS,
        Kind.REAL: "add subtract multiply divide divide_or_null negate abs round to_real sqrt ln exp least greatest",
        Kind.BOOLEAN: "equal not_equal less less_equal greater greater_equal and or not is_null in like starts_with",
        Kind.TEXT: "lower upper trim substring concat date_text",
        Kind.DATE: "to_date add_days add_months start_of_day start_of_week start_of_month start_of_quarter start_of_year",
        Kind.TIMESTAMP: "to_timestamp add_months add_microseconds start_of_hour start_of_minute",
    }.items()
}


def expressions(schema: Schema, seed: int, count: int) -> list[Expr]:
    """So many expressions of depth 1 to 4, each function of the list at the top as often as any other."""
    maker = Maker(schema, seed)
    names = sorted(FUNCTIONS)
    return [maker.certainly(names[(seed * count + place) % len(names)], 1 + (seed + place) % 4) for place in range(count)]


def calls(expr: Expr) -> Iterator[Call]:
    """All calls in an expression, the outermost first."""
    if isinstance(expr, Call):
        yield expr
        for argument in expr.arguments:
            yield from calls(argument)


def spelled(expr: Expr) -> str:
    """An expression as people read it."""
    match expr:
        case Column(name):
            return name
        case Literal(value):
            return repr(value) if not isinstance(value, Fraction) else f"{float(value):g}"
        case Call(function, arguments):
            return f"{function}({', '.join(map(spelled, arguments))})"
