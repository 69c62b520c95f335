"""Connections: where data is, and what is told about it."""

from __future__ import annotations

from typing import Any

import pytest
from session.clinic import clinic as small_clinic

from discreet import dbapi


def test_the_module_says_what_pep_249_asks() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "qmark")
    assert issubclass(dbapi.ProgrammingError, dbapi.DatabaseError)
    assert issubclass(dbapi.DatabaseError, dbapi.Error)
    assert issubclass(dbapi.InterfaceError, dbapi.Error)
    assert all(getattr(dbapi.Connection, name) is getattr(dbapi, name) for name in ("Warning", "Error", "DataError", "InternalError"))


def test_an_open_session_stays_open() -> None:
    with small_clinic() as db:
        with dbapi.connect(db, epsilon="0.1") as connection:
            assert connection.execute("SELECT COUNT(*) AS n FROM visits").rowcount == 1
            connection.commit()
            connection.rollback()
        assert float(db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=0.1).rows[0]["n"]) > 0
        assert float(db.spent.epsilon or 0) == 0.1


def test_a_connection_is_a_block(clinic: Any) -> None:
    with clinic.connect() as connection:
        assert "visits" in repr(connection)
    assert repr(connection) == "Connection(closed)"


@pytest.mark.parametrize(
    ("data", "options", "says"),
    [
        ("", {}, "names no data set"),
        ("nowhere.toml", {}, "nowhere.toml"),
        ("https://host/visits", {"token": ""}, "needs a token"),
        ("nowhere.toml", {"epsilom": 1}, "did you mean epsilon"),
        ("nowhere.toml", {"epsilon": -1}, "epsilon"),
        ("nowhere.toml", {"intervals": "perhaps"}, "on or off"),
    ],
)
def test_what_is_wrong_is_told(data: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(dbapi.DatabaseError, match=says):
        dbapi.connect(data, **options)
