"""Files that are written: checked before paying."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"


@pytest.mark.parametrize("words", [["--save", "no/a.json"], ["--plot", "no/a.png"], ["--plot", "a.exe"], ["--save", "."]])
def test_a_file_that_cannot_be_written_is_seen_before_paying(run: Any, project: Path, words: list[str]) -> None:
    ran = run("ask", project, SQL, "--epsilon", "0.5", words[0], project.parent / words[1])
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"invalid: {words[0]}: ")
    assert not (project.parent / "discreet.ledger").exists()


def test_the_answer_is_printed_before_a_file_fails(run: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.cli.destination.require_writable", lambda *_: None)  # the folder is lost in between
    ran = run("ask", project, SQL, "--epsilon", "0.5", "--save", project.parent / "no" / "a.json")
    assert ran.code == 2
    assert "cost ε = 0.5" in ran.out
    assert "cannot be written" in ran.err


def test_a_page_in_a_missing_folder(run: Any, project: Path) -> None:
    ran = run("explain", project, SQL, "--epsilon", "0.5", "--html", project.parent / "no" / "a.html")
    assert ran.code == 2
    assert "there is no folder" in ran.err
