"""A group NULL is told from a total in files and data frames."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.session.session import Session

CUBE = "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY CUBE(sex, city)"


@pytest.fixture(scope="module")
def db() -> Iterator[Session]:
    people = polars.DataFrame(
        {
            "id": range(600),
            "sex": [["f", "m", None][i % 3] for i in range(600)],
            "city": [["York", "Bath"][i % 2] for i in range(600)],
            "day": [datetime.date(2026, 1, 1 + i % 2) for i in range(600)],
            "new": [i % 2 == 0 for i in range(600)],
        }
    )
    keys = {"people.sex": ["f", "m", None], "people.city": ["York", "Bath"], "people.day": ["2026-01-01", "2026-01-02"]}
    with discreet.connect({"people": people}, unit="id", one_row_per_unit=True, keys=keys, epsilon=1000, ledger=":memory:") as db:
        yield db


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_total_is_told_from_the_group_null(db: Session) -> None:
    found = db.ask(CUBE, epsilon=50)
    rows = rows_of(found.to_csv() or "")
    assert list(rows[0]) == ["sex", "sex_total", "city", "n", "n_low", "n_high"]  # no city is NULL
    york = {row["sex_total"]: float(row["n"]) for row in rows if row["city"] == "York" and row["sex"] == ""}
    assert york["false"] == pytest.approx(100, abs=2)
    assert york["true"] == pytest.approx(300, abs=2)
    assert len({tuple(row[name] for name in ("sex", "sex_total", "city")) for row in rows}) == len(rows)


def test_data_frames_and_parquet_have_it(db: Session, tmp_path: Path) -> None:
    found = db.ask(CUBE, epsilon=50)
    found.to_parquet(tmp_path / "a.parquet")
    stored = pq.read_table(tmp_path / "a.parquet")
    for marks in (found.to_pandas()["sex_total"].tolist(), found.to_polars()["sex_total"].to_list(), stored["sex_total"].to_pylist()):
        assert sum(marks) == 3
        assert marks[-1] is True
    assert json.loads(stored.schema.field("sex_total").metadata[b"discreet"]) == {"role": "total", "of": "sex"}
    assert "sex_total" not in found.to_columns()  # which has what was selected


@pytest.mark.parametrize(
    "text",
    [
        CUBE.replace("COUNT(*) AS n", "COUNT(*) AS n, GROUPING(sex) AS g"),
        CUBE.replace("COUNT(*) AS n", "COUNT(*) AS n, GROUPING(sex, city) AS g"),
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex",
        "SELECT city, COUNT(*) AS n FROM people GROUP BY ROLLUP(city)",
    ],
)
def test_nothing_is_added_where_nothing_is_missing(db: Session, text: str) -> None:
    assert "_total" not in (db.ask(text, epsilon=50).to_csv() or "")


def test_a_name_that_is_taken(db: Session) -> None:
    rows = rows_of(db.ask(CUBE.replace("AS n", "AS sex_total"), epsilon=50).to_csv() or "")
    assert list(rows[0])[:2] == ["sex", "sex_total_"]


def test_the_columns_of_a_csv_file_have_types(db: Session, tmp_path: Path) -> None:
    text = "SELECT sex, day, new, COUNT(*) AS n, COUNT(*) / 2 AS half FROM people GROUP BY CUBE(sex, day, new)"
    db.ask(text, epsilon=50).to_csv(tmp_path / "a.csv")
    described = json.loads((tmp_path / "a.csv-metadata.json").read_text())["tableSchema"]["columns"]
    types = {one["name"]: one["datatype"] for one in described}
    assert [types[name] for name in ("sex", "sex_total", "day", "new", "half", "n_low")] == [
        "string", "boolean", "date", "boolean", "number", "number",
    ]  # fmt: skip
    marks: Any = next(one["discreet"] for one in described if one["name"] == "sex_total")
    assert marks == {"role": "total", "of": "sex"}
    rows = rows_of((tmp_path / "a.csv").read_text())
    assert {row["new"] for row in rows} == {"", "true", "false"}
    db.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", epsilon=50).to_csv(tmp_path / "b.csv")
    described = json.loads((tmp_path / "b.csv-metadata.json").read_text())["tableSchema"]["columns"]
    assert [one["datatype"] for one in described] == ["string", "integer", "number", "number"]
