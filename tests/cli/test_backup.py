"""`discreet backup` and `discreet restore`; copying itself is tested in tests/server."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_there_and_back(run: Any, asked: Path, tmp_path: Path) -> None:
    project = asked.parent
    made = run("backup", tmp_path / "backup", project / "discreet.toml")
    assert made.code == 0, made.err
    assert "verified" in made.out
    (project / "discreet.ledger").unlink()
    back = run("restore", tmp_path / "backup", project / "discreet.toml")
    assert back.code == 0, back.err
    assert "without a witness nobody can tell" in back.out
    assert run("verify", project / "discreet.ledger").code == 0


def test_what_is_older_is_refused(run: Any, asked: Path, tmp_path: Path) -> None:
    project = asked.parent
    assert run("backup", tmp_path / "backup", project).code == 0
    assert run("ask", project, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.05").code == 0
    refused = run("restore", tmp_path / "backup", project)
    assert refused.code == 5
    assert "--older" in refused.err
    assert run("restore", tmp_path / "backup", project, "--older").code == 0
