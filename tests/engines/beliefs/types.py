"""Every type that an engine may store, with values at its ends, as the engine's own SQL writes them."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from discreet.tables.kind import Kind


@frozen
class Type:
    """A stored type, what it must be seen as, and values as texts that the engine casts; `setup` is run before."""

    name: str
    kind: Kind | None
    values: Sequence[str]
    setup: str = ""

    @property
    def bare(self) -> str:
        """The type without a collation, as one casts to it."""
        return self.name.split(" COLLATE")[0]


_WORDS = ["", " ", "er", "ER", "Er", "it's", "a\\b", "%_", "é", "e\u0301", "漢字", "\U0001f600", "\n", "\x01", "NaN", "x" * 3000]
_NUMBERS = ["0", "-0", "1", "-1", "0.1", "1e-300", "5e-324", "1e300", "NaN", "Infinity", "-Infinity", "1.7976931348623157e308"]
_SINGLES = ["0", "-0", "0.1", "1e-45", "3.4028235e38", "NaN", "Infinity", "-Infinity"]
_DAYS = ["0001-01-01", "9999-12-31", "1582-10-10", "1969-12-31", "2024-02-29"]
_TIMES = ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999", "2024-03-10 02:30:00", "2024-11-03 01:30:00.5"]
_ZONED = [f"{time}+00" for time in _TIMES] + ["2024-03-10 02:30:00-05", "1883-11-18 12:03:58+00", "2024-07-01 12:00:00+05:45"]
_WIDE = [
    "0",
    "-1.5",
    "9999999999999999999999999999.9999999999",
    "-9999999999999999999999999999.9999999999",
    "0.0000000001",
    "123456789012345678.9",
]


def _whole(bits: int, signed: bool = True) -> list[str]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return [str(value) for value in (low, low + 1, 0, 1, high - 1, high)]


DUCKDB = [
    Type("BOOLEAN", Kind.BOOLEAN, ["true", "false"]),
    *(
        Type(name, Kind.INTEGER, _whole(bits))
        for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64), ("HUGEINT", 128))
    ),
    *(Type(f"U{name}", Kind.INTEGER, _whole(bits, signed=False)) for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32))),
    *(Type(f"U{name}", Kind.INTEGER, _whole(bits, signed=False)) for name, bits in (("BIGINT", 64), ("HUGEINT", 128))),
    Type("DOUBLE", Kind.REAL, _NUMBERS),
    Type("FLOAT", Kind.REAL, _SINGLES),
    Type("DECIMAL(4,1)", Kind.REAL, ["999.9", "-999.9", "0.1"]),
    Type("DECIMAL(18,3)", Kind.REAL, ["999999999999999.999", "-0.001"]),
    Type("DECIMAL(38,10)", Kind.REAL, _WIDE),
    Type("VARCHAR", Kind.TEXT, _WORDS),
    Type("VARCHAR COLLATE NOCASE", Kind.TEXT, _WORDS),
    Type("mood", Kind.TEXT, ["sad", "ok", ""], "CREATE TYPE mood AS ENUM ('sad', 'ok', '')"),
    Type("UUID", Kind.TEXT, ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    Type("DATE", Kind.DATE, [*_DAYS, "infinity", "-infinity", "5877642-06-25 (BC)", "5881580-07-10", "0001-12-31 (BC)"]),
    Type("TIMESTAMP", Kind.TIMESTAMP, [*_TIMES, "infinity", "-infinity", "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806"]),
    Type("TIMESTAMP_S", Kind.TIMESTAMP, [*_TIMES, "infinity", "-infinity", "294247-01-10 04:00:54"]),
    Type("TIMESTAMP_MS", Kind.TIMESTAMP, [*_TIMES, "infinity", "-infinity"]),
    Type(
        "TIMESTAMP_NS",
        Kind.TIMESTAMP,
        ["1677-09-22 00:00:00", "2262-04-11 23:47:16.854775806", "2024-02-29 12:30:00.123456789", "infinity"],
    ),
    Type("TIMESTAMPTZ", Kind.TIMESTAMP, [*_ZONED, "infinity", "-infinity", "290309-12-22 (BC) 00:00:00+00"]),
    Type("BLOB", None, ["\\xAA"]),
    Type("TIME", None, ["12:30:00"]),
    Type("INTERVAL", None, ["1 day"]),
    Type("INTEGER[]", None, ["[1, 2]"]),
    Type("STRUCT(a INTEGER)", None, ["{'a': 1}"]),
    Type("BIT", None, ["101"]),
]

POSTGRES = [
    Type("boolean", Kind.BOOLEAN, ["true", "false"]),
    *(Type(name, Kind.INTEGER, _whole(bits)) for name, bits in (("smallint", 16), ("integer", 32), ("bigint", 64))),
    Type("double precision", Kind.REAL, _NUMBERS),
    Type("real", Kind.REAL, _SINGLES),
    Type("numeric", Kind.REAL, [*_WIDE, "NaN", "Infinity", "-Infinity", f"1{'0' * 400}", f"-1{'0' * 131_071}", f"0.{'0' * 16_000}1"]),
    Type("numeric(38,10)", Kind.REAL, _WIDE),
    Type("text", Kind.TEXT, _WORDS),
    Type("varchar(4000)", Kind.TEXT, _WORDS),
    Type("character(5)", Kind.TEXT, ["", "er", "ER", "er   ", "漢字", "\U0001f600"]),
    Type(
        'text COLLATE "ignoring"',
        Kind.TEXT,
        _WORDS,
        "CREATE COLLATION ignoring (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    ),
    Type("mood", Kind.TEXT, ["sad", "ok", ""], "CREATE TYPE mood AS ENUM ('sad', 'ok', '')"),
    Type("uuid", Kind.TEXT, ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    Type("date", Kind.DATE, [*_DAYS, "infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "0001-12-31 BC"]),
    Type("timestamp", Kind.TIMESTAMP, [*_TIMES, "infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999"]),
    Type("timestamptz", Kind.TIMESTAMP, [*_ZONED, "infinity", "-infinity", "4713-01-02 00:00:00+00 BC", "294276-12-31 00:00:00+00"]),
    Type("timestamp(0)", Kind.TIMESTAMP, _TIMES[2:]),
    Type("bytea", None, ["\\xaa"]),
    Type("time", None, ["12:30:00"]),
    Type("interval", None, ["1 day"]),
    Type("integer[]", None, ["{1,2}"]),
    Type("point", None, ["(1,2)"]),
]

SPARK = [
    Type("BOOLEAN", Kind.BOOLEAN, ["true", "false"]),
    *(Type(name, Kind.INTEGER, _whole(bits)) for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INT", 32), ("BIGINT", 64))),
    Type("DOUBLE", Kind.REAL, _NUMBERS),
    Type("FLOAT", Kind.REAL, _SINGLES),
    Type("DECIMAL(4,1)", Kind.REAL, ["999.9", "-999.9", "0.1"]),
    Type("DECIMAL(38,0)", Kind.REAL, ["99999999999999999999999999999999999999", "-1", "9007199254740993"]),
    Type("DECIMAL(38,10)", Kind.REAL, _WIDE),
    Type("STRING", Kind.TEXT, _WORDS),
    Type("STRING COLLATE UTF8_LCASE", Kind.TEXT, _WORDS),
    Type("STRING COLLATE UNICODE_CI", Kind.TEXT, _WORDS),
    Type("DATE", Kind.DATE, [*_DAYS, "-4712-01-01", "+10000-01-01"]),
    Type("TIMESTAMP_NTZ", Kind.TIMESTAMP, [*_TIMES, "-4712-01-01 00:00:00", "+10000-01-01 00:00:00"]),
    Type("TIMESTAMP", Kind.TIMESTAMP, [*_ZONED, "-4712-01-01 00:00:00+00:00", "+10000-01-01 00:00:00+00:00"]),
    Type("BINARY", None, ["x"]),
]
