"""PostgreSQL's types, as numbers, texts and bytes: how released values are sent, and how parameters are read."""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, final

from attrs import frozen

from discreet.server.postgres_wire.sqlstates import BAD_VALUE, NOT_SUPPORTED, TOO_LARGE, Failure
from discreet.tables.kind import Kind

BOOL, CHAR, NAME, INT8, INT2, INT4, TEXT, OID = 16, 18, 19, 20, 21, 23, 25, 26
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC = 700, 701, 705, 1042, 1043, 1082, 1114, 1184, 1700
TEXTS = 1009  # a list of texts
_LISTS = (TEXTS, 1002, 1003, 1015)  # of text, "char", name and varchar
_EPOCH = datetime.datetime(2000, 1, 1)  # from which PostgreSQL counts
_FIRST_DAY = _EPOCH.date().toordinal()


@final
@frozen
class Type:
    """A type: its number, its name, its size in bytes (-1 if that varies), and how its values are written."""

    oid: int
    name: str
    size: int
    text: Callable[[Any], str]
    binary: Callable[[Any], bytes]


def _whole(code: str, low: int, high: int) -> Callable[[Any], bytes]:
    def binary(value: Any) -> bytes:
        return struct.pack(code, _in_range(value, low, high))

    return binary


def _in_range(value: Any, low: int, high: int) -> int:
    found = int(value)
    if found != value or not low <= found <= high:
        raise Failure(TOO_LARGE, "a number of the answer does not fit its type", "write CAST(… AS DOUBLE PRECISION) around it")
    return found


def _int8_text(value: Any) -> str:
    return str(_in_range(value, -(2**63), 2**63 - 1))


def _float_text(value: Any) -> str:
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _float_binary(value: Any) -> bytes:
    return struct.pack("!d", float(value))


def _numeric_binary(value: Any) -> bytes:
    """Digits to the base of 10,000, the place of the first, the sign, and how many decimals are shown."""
    number = Decimal(str(value))
    if not number.is_finite():
        return struct.pack("!hhHh", 0, 0, 0xC000, 0)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int), "it is finite"
    scale = max(0, -exponent)
    whole = int("".join(map(str, digits))) * 10 ** max(0, exponent)
    whole *= 10 ** (-scale % 4)  # whole groups of four decimals
    groups: list[int] = []
    while whole:
        whole, group = divmod(whole, 10_000)
        groups.insert(0, group)
    weight = len(groups) - 1 - -(-scale // 4)
    while groups and groups[-1] == 0:
        groups.pop()
    return struct.pack(f"!hhHh{len(groups)}h", len(groups), weight if groups else 0, 0x4000 if sign else 0, scale, *groups)


def _numeric_read(data: bytes) -> Decimal:
    count, weight, sign, _ = struct.unpack("!hhHh", data[:8])
    groups = struct.unpack(f"!{count}h", data[8:])
    if sign not in (0, 0x4000) or not -1000 <= weight <= 1000 or any(not 0 <= group < 10_000 for group in groups):
        raise ValueError
    found = Decimal(0)
    for place, group in enumerate(groups):
        found += Decimal(group).scaleb(4 * (weight - place))
    return -found if sign else found


def _date_text(value: Any) -> str:
    return str(value.isoformat()[:10])


def _date_binary(value: Any) -> bytes:
    return struct.pack("!i", value.toordinal() - _FIRST_DAY)


def _moment_text(value: Any) -> str:
    return str(value.isoformat(sep=" "))


def _moment_binary(value: Any) -> bytes:
    since = value - _EPOCH
    return struct.pack("!q", (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds)


def _texts(value: Any) -> str:
    """A list of texts, in braces."""

    def quoted(one: Any) -> str:
        said = str(one).replace("\\", "\\\\").replace('"', '\\"')
        return "NULL" if one is None else f'"{said}"'

    return "{" + ",".join(map(quoted, value)) + "}"


def _texts_binary(value: Any) -> bytes:
    parts = [None if one is None else str(one).encode() for one in value]
    head = struct.pack("!iiI", 1 if parts else 0, int(None in parts), TEXT) + (struct.pack("!ii", len(parts), 1) if parts else b"")
    return head + b"".join(struct.pack("!i", -1) if one is None else struct.pack("!i", len(one)) + one for one in parts)


def _texts_read(data: bytes) -> list[str | None]:
    dimensions, _, _ = struct.unpack("!iiI", data[:12])
    if dimensions not in (0, 1):
        raise ValueError
    found, at = list[str | None](), 20
    for _ in range(struct.unpack("!i", data[12:16])[0] if dimensions else 0):
        length = struct.unpack("!i", data[at : at + 4])[0]
        at += 4 + max(length, 0)
        found.append(None if length < 0 else data[at - length : at].decode())
    return found


def _text_binary(value: Any) -> bytes:
    return str(value).encode("utf-8", "replace")


def _truth(value: Any) -> str:
    return "t" if value else "f"


TYPES: dict[int, Type] = {
    one.oid: one
    for one in (
        Type(BOOL, "bool", 1, _truth, lambda value: b"\1" if value else b"\0"),
        Type(INT8, "int8", 8, _int8_text, _whole("!q", -(2**63), 2**63 - 1)),
        Type(INT2, "int2", 2, str, _whole("!h", -(2**15), 2**15 - 1)),
        Type(INT4, "int4", 4, str, _whole("!i", -(2**31), 2**31 - 1)),
        Type(OID, "oid", 4, str, _whole("!I", 0, 2**32 - 1)),
        Type(FLOAT8, "float8", 8, _float_text, _float_binary),
        Type(NUMERIC, "numeric", -1, str, _numeric_binary),
        Type(TEXT, "text", -1, str, _text_binary),
        Type(VARCHAR, "varchar", -1, str, _text_binary),
        Type(NAME, "name", 64, str, _text_binary),
        Type(DATE, "date", 4, _date_text, _date_binary),
        Type(TIMESTAMP, "timestamp", 8, _moment_text, _moment_binary),
        Type(TEXTS, "_text", -1, _texts, _texts_binary),
    )
}
_OF_KIND = {
    Kind.BOOLEAN: BOOL,
    Kind.INTEGER: INT8,
    Kind.REAL: FLOAT8,
    Kind.TEXT: TEXT,
    Kind.DATE: DATE,
    Kind.TIMESTAMP: TIMESTAMP,
}


def type_of(kind: Kind | None) -> Type:
    """The type of a kind of value; that of NULL is text."""
    return TYPES[TEXT if kind is None else _OF_KIND[kind]]


def written(value: Any, of: Type, form: int) -> bytes | None:
    """A value as text (form 0) or in binary (form 1); None is NULL."""
    if value is None:
        return None
    return of.binary(value) if form else of.text(value).encode("utf-8", "replace")


# ── parameters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _bool(text: str) -> bool:
    return {"t": True, "true": True, "1": True, "on": True, "yes": True, "f": False, "false": False, "0": False, "off": False, "no": False}[
        text.strip().lower()
    ]


def _moment(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text.strip())
    return found if found.tzinfo is None else found.astimezone(datetime.UTC).replace(tzinfo=None)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError
    return number


_READ_TEXT: dict[int, Callable[[str], Any]] = {
    BOOL: _bool,
    **dict.fromkeys((INT2, INT4, INT8, OID), lambda text: int(text.strip())),
    **dict.fromkeys((FLOAT4, FLOAT8, NUMERIC), lambda text: Decimal(text.strip())),  # as it was written: 10 is not 10.0
    DATE: lambda text: datetime.date.fromisoformat(text.strip()[:10]),
    TIMESTAMP: _moment,
    TIMESTAMPTZ: _moment,
    **dict.fromkeys((0, UNKNOWN, TEXT, VARCHAR, NAME, CHAR, BPCHAR, *_LISTS), str),
}
_READ_BINARY: dict[int, Callable[[bytes], Any]] = {
    BOOL: lambda data: {b"\1": True, b"\0": False}[data],
    INT2: lambda data: struct.unpack("!h", data)[0],
    INT4: lambda data: struct.unpack("!i", data)[0],
    INT8: lambda data: struct.unpack("!q", data)[0],
    OID: lambda data: struct.unpack("!I", data)[0],
    FLOAT4: lambda data: _finite(struct.unpack("!f", data)[0]),
    FLOAT8: lambda data: _finite(struct.unpack("!d", data)[0]),
    NUMERIC: _numeric_read,
    DATE: lambda data: datetime.date.fromordinal(struct.unpack("!i", data)[0] + _FIRST_DAY),
    TIMESTAMP: lambda data: _EPOCH + datetime.timedelta(microseconds=struct.unpack("!q", data)[0]),
    TIMESTAMPTZ: lambda data: _EPOCH + datetime.timedelta(microseconds=struct.unpack("!q", data)[0]),
    **dict.fromkeys((0, UNKNOWN, TEXT, VARCHAR, NAME, CHAR, BPCHAR), lambda data: data.decode()),
    **dict.fromkeys(_LISTS, _texts_read),
}


def read_value(data: bytes | None, oid: int, form: int) -> Any:
    """The value of a parameter; a Failure if it is not of its type."""
    if data is None:
        return None
    if oid not in _READ_TEXT:
        raise Failure(
            NOT_SUPPORTED, "a parameter has a type that is not supported", "give numbers, texts, dates, timestamps or true and false"
        )
    try:
        found = _READ_BINARY[oid](data) if form else _READ_TEXT[oid](data.decode())
    except (ValueError, KeyError, OverflowError, struct.error, InvalidOperation, UnicodeDecodeError):
        raise Failure(BAD_VALUE, "a parameter is not of its type", "check the values that are given for $1, $2, …") from None
    if isinstance(found, Decimal) and (not found.is_finite() or abs(found.adjusted()) > 1000):
        raise Failure(BAD_VALUE, "a parameter is no number that can be compared", "give a finite number")
    return found
