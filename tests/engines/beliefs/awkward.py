"""Values made to hurt, by kind, and a table of them under every way of declaring a column."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import EachRow, Person

INF, NAN = math.inf, math.nan
MOST = 2**63 - 1


def _around(*places: float) -> list[float]:
    return [beside for place in places for beside in (math.nextafter(place, -INF), place, math.nextafter(place, INF))]


WHOLES = [0, 1, -1, 2, 3, 7, -9, 9, 10, 100, 2**31 - 1, 2**31, -(2**31) - 1, 2**52 + 1, 2**53 - 1, 2**53 + 1, -(2**53) - 1, 10**18]
WHOLES += [2**62, MOST - 1, MOST, -MOST, -MOST - 1]
SHORTS = [0, 1, -1, 127, 128, -129, 32767, -32768]
REALS = [NAN, INF, -INF, 0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, -1e-300, 1e300, -1e300, 1.7976931348623157e308]
REALS += [
    0.1,
    -0.1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    1e-40,
    5e-41,
    1e-30,
    3e-31,
    1e15 + 0.5,
    2.0**52 + 0.5,
    -(2.0**52) - 0.5,
    2.0**53,
    2.0**63,
    -(2.0**63),
]
REALS += [*_around(-50.0, 50.0, 1e100, -1e100, 1e50), 0.49999999999999994, 1.0, 3.0, 99.99, 200.0, 700.0, -745.2, 1.005, 1e22]
SINGLES = [NAN, INF, -INF, 0.0, -0.0, 1.401298464324817e-45, 3.4028234663852886e38, -1000.5, 0.10000000149011612, 1000.0, 16777216.0]
DECIMALS = [
    Decimal(text) for text in ("0", "0.0000000001", "-0.0000000001", "9999999999999999999999999999.9999999999", "0.5", "-2.5", "1.1", "-7")
]
TEXTS = [
    "",
    " ",
    "  x ",
    "er",
    "ER",
    "Er",
    "icu",
    "none",
    "a%b",
    "a_b",
    "%",
    "_",
    "\\",
    "a\\%b",
    "a\\b",
    "it's",
    '"',
    "''",
    "--",
    "; DROP TABLE t",
]
TEXTS += [
    "ünïcødé",
    "e\u0301",
    "é",
    "漢字",
    "\U0001f600",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\u202eabc",
    "\ufeff",
    "ß",
    "İ",
    "ǅ",
]
TEXTS += [
    "NaN",
    "infinity",
    "-inf",
    "NULL",
    "null",
    "0",
    "1e5",
    "007",
    "true",
    "2024-02-29",
    "\t",
    "\n",
    "\r\n",
    "\x01",
    "\x7f",
    "a\nb",
    "\u00a0x\u00a0",
]
TEXTS += ["x" * 10_000, "é" * 1001, "\U0001f600" * 999 + "z", "a" * 999 + "|", "%" * 50]
DAYS = [
    datetime.date(*day)
    for day in [(1, 1, 1), (1, 1, 2), (4, 2, 29), (1582, 10, 4), (1582, 10, 15), (1900, 2, 28), (1969, 12, 31), (1970, 1, 1)]
]
DAYS += [
    datetime.date(*day)
    for day in [(2000, 2, 29), (2020, 1, 1), (2020, 6, 15), (2024, 2, 29), (2024, 12, 30), (2025, 12, 31), (2026, 3, 29)]
]
DAYS += [datetime.date(*day) for day in [(2038, 1, 19), (9999, 12, 30), (9999, 12, 31)]]
MOMENTS = [datetime.datetime.min, datetime.datetime.max, datetime.datetime(1, 1, 1, 0, 0, 0, 1), datetime.datetime(1582, 10, 10, 5)]
MOMENTS += [datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime.datetime(1970, 1, 1), datetime.datetime(1883, 11, 18, 12, 3, 58)]
MOMENTS += [datetime.datetime(2024, 3, 10, 2, 30), datetime.datetime(2024, 11, 3, 1, 30), datetime.datetime(2024, 3, 31, 1, 0, 0, 100)]
MOMENTS += [
    datetime.datetime(2024, 2, 29, 12, 30),
    datetime.datetime(2024, 12, 31, 23, 59, 59, 999_000),
    datetime.datetime(2024, 1, 1, 0, 0, 0, 500_000),
]

TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "rid": (pa.int64(), []),
    "who": (pa.int64(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8]),
    "i": (pa.int64(), WHOLES),
    "n": (pa.int64(), WHOLES),
    "w": (pa.int64(), WHOLES),
    "big": (pa.int64(), WHOLES),
    "bign": (pa.int64(), WHOLES),
    "short": (pa.int16(), SHORTS),
    "ui": (pa.int64(), WHOLES),
    "ik": (pa.int64(), [1, 2, 3, 2, 1, 3, 4, -1, MOST]),
    "r": (pa.float64(), REALS),
    "p": (pa.float64(), REALS),
    "wee": (pa.float64(), REALS),
    "vast": (pa.float64(), REALS),
    "tight": (pa.float64(), [*REALS, 1e20, 1e20 + 16384, 1e20 + 65536]),
    "far": (pa.float64(), [*REALS, 1e45, 2e45]),
    "open": (pa.float64(), REALS),
    "openn": (pa.float64(), REALS),
    "f4": (pa.float32(), SINGLES),
    "dec": (pa.decimal128(38, 10), DECIMALS),
    "s": (pa.string(), TEXTS),
    "k": (pa.string(), ["er", "icu", "none", "", "other", "ER", "er ", "漢字"]),
    "kn": (pa.string(), ["er", "icu", "none", "", "\U0001f600"]),
    "b": (pa.bool_(), [True, False]),
    "d": (pa.date32(), DAYS),
    "db": (pa.date32(), DAYS),
    "dk": (pa.date32(), DAYS),
    "m": (pa.timestamp("us"), MOMENTS),
    "mz": (pa.timestamp("us", "UTC"), MOMENTS),
}

DECLARED = (
    ColumnMetadata.of("rid", Kind.INTEGER),
    ColumnMetadata.of("i", Kind.INTEGER, bounds=(-9, 9)),
    ColumnMetadata.of("n", Kind.INTEGER, bounds=(1, 9), nullable=False),
    ColumnMetadata.of("w", Kind.INTEGER, bounds=(-(2**31), 2**31)),
    ColumnMetadata.of("big", Kind.INTEGER),
    ColumnMetadata.of("bign", Kind.INTEGER, nullable=False),
    ColumnMetadata.of("short", Kind.INTEGER),
    ColumnMetadata.of("ui", Kind.INTEGER, bounds=(0, 5), nullable=False, unique=True),
    ColumnMetadata.of("ik", Kind.INTEGER, keys=[1, 2, 3]),
    ColumnMetadata.of("r", Kind.REAL, bounds=(-50, 50)),
    ColumnMetadata.of("p", Kind.REAL, bounds=(0.5, 100), nullable=False),
    ColumnMetadata.of("wee", Kind.REAL, bounds=(1e-40, 1e-30)),
    ColumnMetadata.of("vast", Kind.REAL, bounds=(-1e50, 1e50), nullable=False),
    ColumnMetadata.of("tight", Kind.REAL, bounds=(10**20, 10**20 + 10**5)),
    ColumnMetadata.of("far", Kind.REAL, bounds=(10**45, 10**45 + 1), nullable=False),
    ColumnMetadata.of("open", Kind.REAL),
    ColumnMetadata.of("openn", Kind.REAL, nullable=False),
    ColumnMetadata.of("f4", Kind.REAL, bounds=(-1000.5, 0.1)),
    ColumnMetadata.of("dec", Kind.REAL, bounds=(-2, 10**20)),
    ColumnMetadata.of("s", Kind.TEXT),
    ColumnMetadata.of("k", Kind.TEXT, keys=["er", "icu", "none", ""]),
    ColumnMetadata.of("kn", Kind.TEXT, keys=["er", "icu", None], nullable=False),
    ColumnMetadata.of("b", Kind.BOOLEAN),
    ColumnMetadata.of("d", Kind.DATE),
    ColumnMetadata.of("db", Kind.DATE, bounds=("2000-02-29", "2024-02-29"), nullable=False),
    ColumnMetadata.of("dk", Kind.DATE, keys=["2024-02-29", "1970-01-01"]),
    ColumnMetadata.of("m", Kind.TIMESTAMP),
    ColumnMetadata.of("mz", Kind.TIMESTAMP),
)
TABLE = Table("t", DECLARED, EachRow())
OWNED = Table("t", (*DECLARED, ColumnMetadata.of("who", Kind.INTEGER)), Person("who"))
KEYED = {column.name: column.keys for column in DECLARED if column.keys is not None}


def rows(count: int, seed: int = 11) -> pa.Table:
    """A table in which every value of every pool occurs, beside others by chance; a tenth of everything is missing."""
    coin = random.Random(seed)
    columns = {name: pa.array(_column(pool, count, coin), kind) for name, (kind, pool) in TYPES.items() if pool}
    return pa.table({"rid": pa.array(range(count), pa.int64()), **columns})


def _column(pool: Sequence[Any], count: int, coin: random.Random) -> list[Any]:
    every = [*pool, None]
    values = every + [None if coin.random() < 0.1 else coin.choice(pool) for _ in range(count - len(every))]
    coin.shuffle(values)
    return values[:count]


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    """The same rows in another order."""
    order = list(range(table.num_rows))
    random.Random(seed).shuffle(order)
    return table.take(pa.array(order))


def sort_of(value: Any) -> str:
    """A word for a value that does not say more than what is odd about it."""
    match value:
        case None:
            return "NULL"
        case float() if math.isnan(value):
            return "NaN"
        case float() if math.isinf(value):
            return "infinite"
        case float() if value == 0:
            return "-0.0" if math.copysign(1, value) < 0 else "0.0"
        case str() if len(value) > 40:
            return f"a text of {len(value)} characters"
    return repr(value)


def sorts(values: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(sort_of(value) for value in values))
