"""BI tools look around: tables and columns are listed, nothing is charged, no row is read, and previews are refused."""

from __future__ import annotations

from typing import Any

import psycopg2
import pytest
from server.postgres_wire import start_up_scans
from server.postgres_wire.wire import Wire

SCANS = {
    "Metabase": start_up_scans.METABASE,
    "Grafana": start_up_scans.GRAFANA,
    "Superset": start_up_scans.SUPERSET,
    "DBeaver": start_up_scans.DBEAVER,
}


@pytest.fixture
def untouched(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A connection whose data set must not be read, and whose ledger must not change."""
    data = next(iter(wire.served.server.datasets))

    def read(*_: object, **__: object) -> None:
        raise AssertionError("the engine was asked")

    engine = data._owner._engine
    for name in ("batches", "run", "stream", "read_public"):
        monkeypatch.setattr(type(engine), name, read)
    with pytest.raises(AssertionError, match="the engine was asked"):
        engine.run("SELECT 1")
    length, spent = data.ledger.length, wire.spent
    connection = psycopg2.connect(wire.uri())
    connection.autocommit = True
    yield connection.cursor()
    connection.close()
    assert (data.ledger.length, wire.spent) == (length, spent)


@pytest.mark.parametrize("tool", SCANS)
def test_a_scan_lists_tables_and_columns(untouched: Any, tool: str) -> None:
    seen = ""
    for statement in SCANS[tool]:
        untouched.execute(statement)
        seen += str(untouched.fetchall()) if untouched.description else ""
    assert "visits" in seen
    if tool != "Superset":  # it reads columns through SQLAlchemy, see test_clients
        assert all(column in seen for column in ("person", "cost", "dept"))


@pytest.mark.parametrize("statement", [*start_up_scans.METABASE_REFUSED, *start_up_scans.SUPERSET_REFUSED])
@pytest.mark.parametrize("price", ["", "0.1"], ids=["no price", "a price"])
def test_previews_and_fingerprints_are_refused(untouched: Any, statement: str, price: str) -> None:
    if price:
        untouched.execute(f"SET discreet.epsilon = {price}")
    with pytest.raises(psycopg2.Error) as error:
        untouched.execute(statement)
    assert error.value.pgcode in ("0A000", "55000", "22023")
    assert "HINT" in str(error.value)


def test_an_empty_preview_has_the_columns(untouched: Any) -> None:
    untouched.execute("SELECT * FROM public.visits LIMIT 0")
    assert [(column.name, column.type_code) for column in untouched.description] == [("person", 20), ("cost", 701), ("dept", 25)]
    assert untouched.fetchall() == []
