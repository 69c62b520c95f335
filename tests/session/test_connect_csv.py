"""CSV files through connect and a project: types and delimiters are declared, and asked for where they are missing."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from discreet.errors import Refused, WrongType
from discreet.session.connect import connect
from discreet.session.project import init, open_project

ROWS = "id;fare;day\n" + "".join(f"{i};{i % 10}.5;2024-01-{1 + i % 28:02d}\n" for i in range(280))
ASKED = "SELECT SUM(fare) AS s FROM trips WHERE day < DATE '2024-01-15'"
TYPES = {"id": "integer", "fare": "real", "day": "date"}


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    (tmp_path / "trips.csv").write_text(ROWS)
    return tmp_path / "trips.csv"


def test_types_are_declared_and_never_guessed(trips: Path) -> None:
    declared: dict[str, Any] = {"unit": "id", "epsilon": 500, "delimiter": ";", "contributions": {"rows": 1}, "bounds": {"fare": (0, 10)}}
    with connect(trips, columns=TYPES, **declared) as db:
        assert db.ask(ASKED, epsilon=100).rows[0]["s"] == pytest.approx(sum(i % 10 + 0.5 for i in range(280) if i % 28 < 14), abs=20)
    for questions in (
        "SELECT AVG(fare) FROM trips",
        "SELECT COUNT(*) FROM trips WHERE day < DATE '2024-01-15'",
        "SELECT YEAR(day), COUNT(*) FROM trips GROUP BY 1",
    ):
        with connect(trips, unit="id", epsilon=500, delimiter=";", ledger=":memory:") as db, pytest.raises(WrongType) as caught:
            db.sql(questions)
        assert 'columns={"id": "text", "fare": "text", "day": "text"}' in str(caught.value)
    with connect(trips, unit="id", epsilon=500, delimiter=";", ledger=":memory:", columns={"day": "text"}) as db:
        with pytest.raises(Refused, match="id and fare of trips have no declared types"):
            db.table("trips").mean("fare").plan(epsilon=1)
        with pytest.raises(Refused, match="id and fare of trips have no declared types"):
            db.table("trips").where("fare > 3")


def test_only_types_of_the_tables_in_a_question_are_asked_for(trips: Path) -> None:
    other = trips.with_name("another.csv")
    other.write_text("id;size\n1;2\n")
    with connect({"trips": trips, "another": other}, unit="id", epsilon=500, delimiter=";", ledger=":memory:") as db:
        for asked in ("SELECT AVG(fare) FROM Trips", "WITH t AS (SELECT id, fare FROM trips) SELECT AVG(fare) FROM t"):
            with pytest.raises(WrongType, match="of trips have no declared types") as caught:
                db.sql(asked)
            assert "another" not in str(caught.value)


def test_a_project_is_drafted_with_its_delimiter(trips: Path) -> None:
    place = init([trips], delimiter=";")
    text = place.read_text()
    assert 'delimiter = ";"' in text
    place.write_text(text.replace('unit = "each row"', 'unit = "id"'))
    with open_project(place) as db:
        assert db.sql("SELECT COUNT(*) FROM trips").plan(epsilon=0.1).epsilon > 0


def test_objects_of_pandas_are_dates_where_that_is_declared() -> None:
    days = [datetime.date(2024, 1, 1 + i % 28) for i in range(280)]
    frame = pd.DataFrame({"id": range(280), "day": pd.Series(days, dtype=object)})
    asked = "SELECT COUNT(*) AS n FROM data WHERE day < DATE '2024-01-15'"
    with connect(frame, unit="id", epsilon=500, ledger=":memory:", columns={"day": "date"}, contributions={"rows": 1}) as db:
        assert db.ask(asked, epsilon=100).rows[0]["n"] == pytest.approx(140, abs=5)
    with (
        connect(frame, unit="id", epsilon=500, ledger=":memory:") as db,
        pytest.raises(WrongType, match="day of data has no declared type"),
    ):
        db.sql(asked)
