"""Before the first question: a folder's draft, a budget to look at, analysts to grant, and a unit that was misspelt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet
from discreet.errors import PolicyError
from discreet.session.project import read_project


def copied(select: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    duckdb.connect().execute(f"COPY ({select} FROM range(9) AS t(i)) TO '{place}'")


def test_a_budget_before_the_first_question(run: Any, project: Path) -> None:
    ran = run("budget", project)
    assert ran.code == 0
    assert "charged    ε = 0, δ = 0" in ran.out
    assert json.loads(run("budget", project.parent, "--json").out)["history"] == []


def test_a_grant_before_the_first_question(run: Any, project: Path) -> None:
    assert "ana may spend ε = 0.5" in run("grant", project, "ana", "--epsilon", "0.5").out
    assert run("ask", project, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1", "--analyst", "ana").code == 0


def test_a_file_of_which_nothing_was_said(run: Any, data: Path) -> None:
    for words in (("budget", data), ("grant", data, "ana", "--epsilon", "1")):
        ran = run(*words)
        assert ran.code == 2
        assert "ask a first question with --unit and --budget" in ran.err
    assert not Path(f"{data}.ledger").exists()


def test_a_ledger_in_memory_is_nobody_elses(run: Any, project: Path) -> None:
    project.write_text(project.read_text() + '\n[ledger]\npath = ":memory:"\n')
    ran = run("budget", project)
    assert ran.code == 2
    assert "under [ledger]" in ran.err


def test_a_folder_of_tables(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied("SELECT i AS patient, i AS cost", tmp_path / "clinic" / "visits.parquet")
    copied("SELECT i AS patient, 'x' AS name", tmp_path / "clinic" / "people.csv")
    copied("SELECT i AS patient, 1 AS pills", tmp_path / "clinic" / "drugs" / "1.parquet")
    (tmp_path / "clinic" / "notes.txt").write_text("x")
    assert run("init", tmp_path / "clinic").code == 0
    place, policy = read_project(tmp_path / "clinic")
    assert place == tmp_path / "clinic" / "discreet.toml"
    assert {(table.name, table.source) for table in policy.tables} == {
        ("visits", "visits.parquet"),
        ("people", "people.csv"),
        ("drugs", "drugs"),
    }
    place.unlink()
    monkeypatch.chdir(tmp_path / "clinic")
    assert run("init", ".").code == 0
    assert len(read_project(place)[1].tables) == 3


def test_a_folder_of_parts_is_one_table(run: Any, tmp_path: Path) -> None:
    for part in range(3):
        copied("SELECT i AS patient, i AS cost", tmp_path / "visits" / f"{part}.parquet")
    assert run("init", tmp_path / "visits").code == 0
    place, policy = read_project(tmp_path)
    assert place == tmp_path / "discreet.toml"
    assert [(table.name, table.source) for table in policy.tables] == [("visits", "visits")]


def test_a_folder_without_data(run: Any, tmp_path: Path) -> None:
    ran = run("init", tmp_path)
    assert ran.code == 2
    assert "there is no Parquet or CSV file in the folder" in ran.err


def test_a_misspelt_unit_is_not_answered_with_public(tmp_path: Path) -> None:
    copied("SELECT i AS patient_id, i AS cost", tmp_path / "visits.parquet")
    for unit, advice in (("patient", "did you mean patient_id?"), ("x", "there are cost, patient_id")):
        with pytest.raises(PolicyError, match=f"there is no column {unit} in the data") as caught:
            discreet.connect(tmp_path / "visits.parquet", unit=unit, epsilon=1)
        assert advice in str(caught.value)
        assert "public" not in str(caught.value)
    assert not (tmp_path / "visits.parquet.ledger").exists()


def test_a_table_beside_the_persons_may_be_public(tmp_path: Path) -> None:
    copied("SELECT i AS id, i AS cost", tmp_path / "visits.parquet")
    copied("SELECT i AS site", tmp_path / "sites.parquet")
    tables = {name: str(tmp_path / f"{name}.parquet") for name in ("visits", "sites")}
    with pytest.raises(PolicyError, match=r'tables\.sites\.unit: there is no column id.*public=\["sites"\]'):
        discreet.connect(tables, unit="id", epsilon=1, ledger=":memory:")
