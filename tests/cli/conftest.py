"""A data file, a project, and the command run in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from session.clinic import visits
from session.project import POLICY

from discreet.cli.app import main


class Ran(NamedTuple):
    """How a command ended, and what it said where."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("COLUMNS", "160")

    def command(*words: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["discreet", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0, *capsys.readouterr())

    return command


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    visits().write_parquet(path)
    return path


@pytest.fixture
def project(data: Path) -> Path:
    path = data.parent / "discreet.toml"
    path.write_text(POLICY)
    return path


@pytest.fixture
def asked(run: Run, project: Path) -> Path:
    """A project of which one question was asked; its answer is in a.json."""
    sql = "SELECT dept, COUNT(*) AS visits FROM visits GROUP BY dept"
    assert run("ask", project, sql, "--epsilon", "0.5", "--save", project.parent / "a.json").code == 0
    return project
