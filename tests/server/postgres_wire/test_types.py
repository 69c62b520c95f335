"""Values as texts and bytes, compared with what psycopg reads and writes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format

from discreet.server.postgres_wire import types
from discreet.server.postgres_wire.sqlstates import Failure
from discreet.server.postgres_wire.types import TYPES, read_value, type_of, written
from discreet.tables.kind import Kind

VALUES: list[tuple[int, Any]] = [
    (types.BOOL, True),
    (types.BOOL, False),
    (types.INT8, 2**63 - 1),
    (types.INT8, -(2**63)),
    (types.INT4, -7),
    (types.INT2, 300),
    (types.OID, 16384),
    (types.FLOAT8, 0.1),
    (types.FLOAT8, -1.5e300),
    (types.FLOAT8, 12.0),
    (types.NUMERIC, Decimal("12345678.90")),
    (types.NUMERIC, Decimal("-0.0001")),
    (types.NUMERIC, Decimal("0")),
    (types.NUMERIC, Decimal("10000")),
    (types.NUMERIC, Decimal("1e20")),
    (types.TEXT, "Zoë, 'x' \\ \n"),
    (types.TEXT, ""),
    (types.DATE, datetime.date(1999, 12, 31)),
    (types.DATE, datetime.date(1, 1, 1)),
    (types.TIMESTAMP, datetime.datetime(2026, 2, 28, 23, 59, 59, 999999)),
    (types.TIMESTAMP, datetime.datetime(1900, 1, 1)),
]


@pytest.mark.parametrize("form", [0, 1], ids=["text", "binary"])
@pytest.mark.parametrize(("oid", "value"), VALUES)
def test_psycopg_reads_what_is_written(oid: int, value: Any, form: int) -> None:
    data = written(value, TYPES[oid], form)
    assert data is not None
    loader = Transformer().get_loader(oid, Format(form))
    assert loader.load(data) == value


@pytest.mark.parametrize("form", [0, 1], ids=["text", "binary"])
@pytest.mark.parametrize("value", [value for _, value in VALUES])
def test_what_psycopg_writes_is_read(value: Any, form: int) -> None:
    dumper = Transformer().get_dumper(value, PyFormat.BINARY if form else PyFormat.TEXT)
    data = dumper.dump(value)
    assert data is not None
    found = read_value(bytes(data), dumper.oid, form)
    assert (float(found) if isinstance(value, float) else found) == value


def test_lists_of_texts() -> None:
    value = ["a", None, 'b"c\\', ""]
    for form in (0, 1):
        data = written(value, TYPES[types.TEXTS], form)
        assert data is not None
        assert Transformer().get_loader(types.TEXTS, Format(form)).load(data) == value
    assert read_value(written(value, TYPES[types.TEXTS], 1), types.TEXTS, 1) == value
    assert read_value(written([], TYPES[types.TEXTS], 1), types.TEXTS, 1) == []


def test_null_and_special_numbers() -> None:
    assert written(None, TYPES[types.INT8], 0) is None
    assert read_value(None, types.INT8, 1) is None
    assert [written(float(x), TYPES[types.FLOAT8], 0) for x in ("inf", "-inf", "nan")] == [b"Infinity", b"-Infinity", b"NaN"]
    assert written(3, TYPES[types.FLOAT8], 0) == b"3"


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 0.5])
def test_numbers_that_do_not_fit_are_refused(value: Any, form: int) -> None:
    with pytest.raises(Failure) as error:
        written(value, TYPES[types.INT8], form)
    assert error.value.state == "22003"


@pytest.mark.parametrize(
    ("data", "oid", "form"),
    [
        (b"x", types.INT4, 0),
        (b"12", types.INT4, 1),
        (b"NaN", types.NUMERIC, 0),
        (b"1e100000", types.NUMERIC, 0),
        (b"2026-13-01", types.DATE, 0),
        (b"\x7f\xff\xff\xff", types.DATE, 1),
        (b"\x7f" + b"\xff" * 7, types.TIMESTAMP, 1),
        (b"\xff", types.TEXT, 0),
        (b"maybe", types.BOOL, 0),
        (b"\2", types.BOOL, 1),
        (b"\0\1\x7f\xff\0\0\0\0\0\1", types.NUMERIC, 1),
        (b"\0\1", types.NUMERIC, 1),
        (b"\0" * 3, types.TEXTS, 1),
        (b"\x7f\xf8" + b"\0" * 6, types.FLOAT8, 1),
        (b"{}", 3904, 0),
    ],
)
def test_what_is_not_of_its_type(data: bytes, oid: int, form: int) -> None:
    with pytest.raises(Failure) as error:
        read_value(data, oid, form)
    assert error.value.state in ("22P02", "0A000")


def test_a_number_stays_as_it_was_written() -> None:
    assert str(read_value(b"10", types.FLOAT8, 0)) == "10"  # not 10.0, which would be another question


def test_kinds_have_types_that_clients_know() -> None:
    assert [type_of(kind).name for kind in Kind] == ["bool", "int8", "float8", "text", "date", "timestamp"]
    for one in TYPES.values():
        known = psycopg.postgres.types.get(one.oid)
        assert known is not None
        assert known.name in (one.name, one.name.removeprefix("_"))
