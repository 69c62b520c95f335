"""DATA and its declarations: files, folders, projects, and budgets that are declared once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.session.connect import connect

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"
SAID = ("--unit", "patient_id", "--bounds", "cost=0:500", "--keys", "dept=er,ward,lab", "--contributions", "rows=3")


def test_the_budget_is_said_once_and_repeats_are_free(run: Any, data: Path) -> None:
    run("ask", data, SQL, "--epsilon", "0.5", "--budget", "2", "--delta", "1e-6", *SAID)
    again = run("ask", data, SQL, "--epsilon", "0.5", *SAID)
    assert again.code == 0
    assert "answered before, so free now" in again.out
    assert "remaining: ε = 1.5" in again.out
    other = run("ask", data, SQL, "--epsilon", "0.5", "--budget", "3", "--delta", "1e-6", *SAID)
    assert other.code == 2
    assert "created with epsilon = 2, not 3" in other.err


def test_a_project_needs_no_options_and_takes_none(run: Any, project: Path) -> None:
    assert run("ask", project.parent, SQL, "--epsilon", "0.5").code == 0
    assert (project.parent / "discreet.ledger").exists()
    ran = run("ask", project, SQL, "--epsilon", "0.5", "--unit", "patient_id", "--budget", "3")
    assert ran.code == 2
    assert "--unit, --budget: a discreet.toml declares this here; change it there" in ran.err


def test_each_row_and_types(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n" + "1,2.5\n" * 100)
    ran = run(
        "ask", tmp_path / "a.csv", "SELECT SUM(x) AS s FROM a", "--each-row", "--budget", "9", "--epsilon", "9",
        "--type", "x=integer", "--bounds", "x=0:1", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"][0]["s"] == pytest.approx(100, abs=10)  # ε = 9: beyond 10 once in e^90


def test_what_is_no_data_is_said(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("ask", "explain"):
        ran = run(command, "other.parquet", SQL, "--unit", "x", "--epsilon", "1")
        assert ran.code == 2
        assert "there is no file other.parquet" in ran.err
    for words in ([], ["--unit", "x"]):
        ran = run("ask", ".", SQL, "--epsilon", "1", *words)
        assert ran.code == 2
        assert "there is no discreet.toml in the folder .: write one with `discreet init" in ran.err
    (tmp_path / "a.parquet").touch()
    assert "there is no discreet.toml in the folder" in run("ask", ".", SQL, "--epsilon", "1").err


def test_a_folder_has_one_ledger_however_it_is_written(run: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = data.parent / "visits"
    folder.mkdir()
    data.rename(folder / "a.parquet")
    monkeypatch.chdir(data.parent)
    assert run("ask", "visits/", SQL, "--epsilon", "0.5", "--budget", "2", *SAID).code == 0
    assert "answered before" in run("ask", "visits", SQL, "--epsilon", "0.5", *SAID).out
    assert (data.parent / "visits.ledger").exists()
    assert "ε = 1.5" in run("budget", "visits/").out


@pytest.mark.parametrize("named", ["proj", "proj/discreet.toml", "./proj"])
def test_a_project_may_be_named_from_here(run: Any, project: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    folder = project.parent / "proj"
    folder.mkdir()
    for file in ("discreet.toml", "visits.parquet"):
        (project.parent / file).rename(folder / file)
    monkeypatch.chdir(project.parent)
    with connect(named) as db:
        assert db.remaining.epsilon == 2
    assert run("ask", named, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5").code == 0
    assert "ε = 1.5" in run("budget", named).out
    assert (folder / "discreet.ledger").exists()
