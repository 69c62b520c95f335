"""Finding a ledger, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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


def test_nothing_there(run: Any, tmp_path: Path) -> None:
    ran = run("budget", tmp_path / "none.parquet")
    assert ran.code == 2
    assert "name a data file, a discreet.toml or its folder, or a ledger" in ran.err
