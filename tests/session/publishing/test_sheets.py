"""A release as a workbook: a sheet for each grouping set, and one that says what the numbers mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from session.publishing.reading import sheets
from session.tables import CUBE, session

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
    assert about["protects"] == "each person, under add/remove"
    assert about["price"] == "ε = 0.2, δ = 0"
    assert about["confidence"] == "95 %"
    assert "Laplace" in about["method"]
    assert about["receipt"] == found.receipt.to_json()["hash"]
    notes = [value for item, value in read["About"] if item in ("note", "columns")]
    assert any("clipping cost to 0 … 100" in note for note in notes)
    assert any("NAME_tidy" in note for note in notes)


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
