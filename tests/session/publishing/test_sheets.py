"""A release as a workbook: a sheet for each grouping set, and one that says what the numbers mean."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from session.publishing.reading import sheets
from session.tables import CUBE, session

import discreet
from discreet.session.publishing import sheets as module


def test_one_sheet_for_each_set(tmp_path: Path) -> None:
    with session() as db:
        found = db.ask(CUBE, epsilon=0.2)
    found.to_xlsx(tmp_path / "cube.xlsx", tidy=True)
    read = sheets((tmp_path / "cube.xlsx").read_bytes())
    assert list(read) == ["dept × sex", "dept", "sex", "Total", "About"]
    columns = found.to_columns(tidy=True)
    assert read["dept"][0] == [name for name in columns if name != "sex"]
    assert read["dept × sex"][4][:4] == ["ward", "f", columns["n"][3], columns["n_low"][3]]
    assert read["dept"][4][0] == "=1+1"
    assert read["Total"][1][:4] == [columns[name][-1] for name in ("n", "n_low", "n_high", "n_tidy")]
    about = dict(read["About"])
    assert about["tables"] == "people"
    assert about["content"] == "Number of rows, sum of cost and mean of cost by dept and sex"
    assert " ".join(about["asked"].split()) == " ".join(CUBE.split())
    assert about["protects"] == "each person, under add/remove"
    assert about["price"] == "ε = 0.2, δ = 0"
    assert about["confidence"] == "95 %"
    assert "Laplace" in about["method"]
    assert about["receipt"] == found.receipt.to_json()["hash"]
    notes = [value for item, value in read["About"] if item in ("note", "columns")]
    assert any("clipping cost to 0 … 100" in note for note in notes)
    assert any("NAME_tidy" in note for note in notes)


def test_dates_stay_dates_beside_others(tmp_path: Path) -> None:
    days = pa.table({"id": range(900), "day": [datetime.date(2026, 1, 1 + i % 2) for i in range(900)]})
    with discreet.connect({"t": days}, unit="id", one_row_per_unit=True, epsilon=1000, delta=1e-6, ledger=":memory:") as db:
        found = db.ask("SELECT day, COUNT(*) AS n FROM t GROUP BY ROLLUP(day)", epsilon=50)
    found.to_xlsx(tmp_path / "days.xlsx")
    assert [row[0] for row in sheets((tmp_path / "days.xlsx").read_bytes())["day"]] == ["day", 46023.0, 46024.0, "(other)"]
    assert about_of(found, tmp_path)["price"] == "ε = 50, δ = 1.6e-08"


def test_bounds_that_were_found_are_told_in_words(tmp_path: Path) -> None:
    costs = pa.table({"id": range(3000), "cost": [i % 100 for i in range(3000)]})
    with discreet.connect({"t": costs}, unit="id", one_row_per_unit=True, epsilon=1000, delta=1e-6, ledger=":memory:") as db:
        found = db.ask("SELECT SUM(cost) AS s FROM t", epsilon=50)
    assert about_of(found, tmp_path)["bounds found"] == "cost: from 0 to 128"


def about_of(found: discreet.Release, folder: Path) -> dict[str, str]:
    found.to_xlsx(folder / "about.xlsx")
    return dict(sheets((folder / "about.xlsx").read_bytes())["About"])


def test_one_sheet_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SHEETS", 3)
    with session() as db:
        db.ask(CUBE, epsilon=0.2).to_xlsx(tmp_path / "cube.xlsx", intervals=False)
        db.ask("SELECT COUNT(*) AS n FROM people", epsilon=0.2).to_xlsx(tmp_path / "one.xlsx")
    read = sheets((tmp_path / "cube.xlsx").read_bytes())
    assert list(read) == ["Answers", "About"]
    assert read["Answers"][0] == ["dept", "sex", "n", "s", "m"]
    assert read["Answers"][-1][:2] == ["Total", "Total"]
    assert sheets((tmp_path / "one.xlsx").read_bytes())["Answers"][0] == ["n", "n_low", "n_high"]
