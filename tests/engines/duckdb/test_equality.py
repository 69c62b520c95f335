"""Columns that identify units keep the equality of their source, or are refused by their type."""

from __future__ import annotations

import duckdb
import pytest

from discreet.engines.duckdb.equality import is_bytewise, require_equality
from discreet.engines.duckdb.sources import ConnectionTable, Csv, LocalFrame
from discreet.errors import EngineError
from discreet.tables.kind import Kind


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    found = duckdb.connect(":memory:")
    found.execute(
        'CREATE TABLE t (plain VARCHAR, nocase VARCHAR COLLATE NOCASE, bytes VARCHAR COLLATE "binary", n BIGINT, d DECIMAL(9, 2))'
    )
    return found


def refused(connection: duckdb.DuckDBPyConnection, column: str, sql_type: str, declared: Kind | None = None, bytewise: bool = True) -> str:
    source = ConnectionTable(connection, "t")
    try:
        require_equality(connection, "t", source, "t", {column: sql_type}, {column: declared} if declared else {}, bytewise)
    except EngineError as error:
        return str(error)
    return ""


def test_collations(connection: duckdb.DuckDBPyConnection) -> None:
    assert refused(connection, "plain", "VARCHAR") == ""
    assert refused(connection, "bytes", "VARCHAR") == ""
    assert "its collation treats different texts as equal" in refused(connection, "nocase", "VARCHAR")
    assert "its collation" in refused(connection, "plain", "VARCHAR", bytewise=False)  # then the session decides
    assert refused(connection, "bytes", "VARCHAR", bytewise=False) == ""


def test_types(connection: duckdb.DuckDBPyConnection) -> None:
    assert refused(connection, "n", "BIGINT") == ""
    assert "decimals are read as the nearest floats" in refused(connection, "d", "DECIMAL(9,2)")
    assert refused(connection, "d", "DECIMAL(9,2)", Kind.TEXT) == ""


def test_values_that_are_truncated(connection: duckdb.DuckDBPyConnection) -> None:
    frame = LocalFrame(None, truncated=("d",))
    with pytest.raises(EngineError, match=r"t: d identifies units, and its fractions .* would be truncated: store it in microseconds"):
        require_equality(connection, "t", frame, "t", {"d": "DATE"}, {}, True)
    require_equality(connection, "t", frame, "t", {"e": "DATE"}, {}, True)


def test_texts_that_are_read_value_by_value_are_not_checked(connection: duckdb.DuckDBPyConnection) -> None:
    require_equality(connection, "t", Csv("x.csv", ",", ("d",)), "t", {"d": "DECIMAL(9,2)"}, {}, True)


@pytest.mark.parametrize(("collation", "bytewise"), [("", True), ("binary", True), ("C", True), ("nocase", False), ("noaccent", False)])
def test_the_collation_of_a_session(collation: str, bytewise: bool) -> None:
    connection = duckdb.connect(":memory:")
    connection.execute(f"SET GLOBAL default_collation='{collation}'")
    assert is_bytewise(connection) is bytewise
