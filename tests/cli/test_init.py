"""`discreet init`: drafts from schemas."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from session.project import copied

from discreet.session.project import find_project, open_project, read_project


def test_init_drafts_what_can_be_opened_at_once(run: Any, data: Path) -> None:
    ran = run("init", data)
    assert ran.code == 0
    text = (data.parent / "discreet.toml").read_text()
    assert 'source = "visits.parquet"' in text
    assert 'unit = "patient_id"' in text
    with open_project(data.parent) as db:
        assert db.remaining.epsilon == 1


@pytest.mark.parametrize("file", ["visits.parquet", "my visits.csv"])
def test_the_line_to_try_works(run: Any, tmp_path: Path, file: str) -> None:
    copied("SELECT i AS patient_id, i AS cost", tmp_path / file)
    line = run("init", tmp_path / file).out.splitlines()[-1]
    program, *words = shlex.split(line)
    assert program == "discreet"
    assert run(*words).code == 0


def test_init_never_overwrites(run: Any, project: Path, data: Path) -> None:
    before = project.read_text()
    ran = run("init", data)
    assert (ran.code, project.read_text()) == (2, before)
    assert "exists already" in ran.err
    assert run("init", data, "--output", data.parent / "other.toml").code == 0
    assert find_project(data.parent / "other.toml") == data.parent / "other.toml"


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
