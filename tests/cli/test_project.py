"""Projects: discreet.toml and `discreet init`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest

from discreet.errors import Invalid, PolicyError
from discreet.project import find_project, init, open_project, read_project


def test_init_drafts_what_can_be_opened_at_once(run: Any, data: Path) -> None:
    ran = run("init", data)
    assert ran.code == 0
    text = (data.parent / "discreet.toml").read_text()
    assert 'source = "visits.parquet"' in text
    assert 'unit = "patient_id"' in text
    with open_project(data.parent) as db:
        assert db.remaining.epsilon == 1


def test_init_never_overwrites(run: Any, project: Path, data: Path) -> None:
    before = project.read_text()
    ran = run("init", data)
    assert (ran.code, project.read_text()) == (2, before)
    assert "there already" in ran.err
    assert run("init", data, "--output", data.parent / "other.toml").code == 0
    assert find_project(data.parent / "other.toml") == data.parent / "other.toml"


def test_init_looks_at_no_value(data: Path, tmp_path: Path) -> None:
    frame = polars.read_parquet(data)
    drafts = []
    for number, rows in enumerate((frame, frame.head(0), frame.reverse().head(10))):
        folder = tmp_path / str(number)
        folder.mkdir()
        rows.write_parquet(folder / "visits.parquet")
        drafts.append(init([folder / "visits.parquet"]).read_text())
    assert len(set(drafts)) == 1


def test_init_slips(data: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="name the files"):
        init([])
    with pytest.raises(Invalid, match="same name"):
        init([data, data])
    with pytest.raises(Invalid, match="cannot be written"):
        init([data], tmp_path / "no" / "such" / "folder.toml")


def test_files_elsewhere_are_named_in_full(data: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    place = init([data], tmp_path / "sub")
    assert f'source = "{data}"' in place.read_text()
    open_project(place).close()


def test_what_is_wrong_is_listed_with_its_path(project: Path) -> None:
    project.write_text("[budget]\nepsilon = -1\n[tables.visits]\nunit = 'x'\n")
    with pytest.raises(PolicyError, match=r"budget\.epsilon"):
        open_project(project)
    project.write_text("[budget]\nepsilon = 1\n[tables.visits]\nunit = 'patient_id'\n")
    with pytest.raises(PolicyError, match=r"tables\.visits\.source: is missing"):
        open_project(project)
    with pytest.raises(PolicyError, match="discreet init"):
        read_project(project.parent / "nowhere")
    project.write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="UTF-8"):
        open_project(project)


def test_ledger_and_witness_lie_where_the_policy_says(project: Path) -> None:
    (project.parent / "books").mkdir()
    project.write_text('ledger = { path = "books/a.ledger", witness = "books/a.witness" }\n' + project.read_text())
    with open_project(project) as db:
        db.sql("SELECT COUNT(*) AS n FROM visits").release(1)
    assert (project.parent / "books" / "a.ledger").exists()
    assert (project.parent / "books" / "a.witness").read_text()
    assert not (project.parent / "discreet.ledger").exists()
