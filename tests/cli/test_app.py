"""The command as a whole: help, version, exit codes, and one message for each error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"


def test_version_and_help(run: Any) -> None:
    assert run("--version").out.startswith("discreet ")
    shown = run("--help").out
    assert all(word in shown for word in ("ask", "explain", "budget", "init", "verify", "demo", "Exit codes"))
    assert "--contributions" in run("ask", "--help").out


@pytest.mark.parametrize(
    ("sql", "epsilon", "code", "said"),
    [
        ("SELECT dept FROM visits", "0.1", 3, "refused: "),
        ("SELECT * FROM read_csv('/etc/passwd')", "0.1", 3, "refused: "),
        (SQL, "5", 4, "budget exceeded: the budget does not admit this"),
        (SQL, "abc", 2, "invalid: epsilon"),
        (SQL, "-1", 2, "invalid: epsilon"),
    ],
)
def test_each_error_has_its_code_and_one_message(run: Any, project: Path, sql: str, epsilon: str, code: int, said: str) -> None:
    ran = run("ask", project, sql, "--epsilon", epsilon)
    assert ran.code == code
    assert ran.out == ""
    assert ran.err.startswith(said)
    assert len(ran.err.splitlines()) == 1


def test_other_codes(run: Any, data: Path, project: Path) -> None:
    assert run("ask", "nope.parquet", SQL, "--unit", "x", "--epsilon", "1", "--budget", "1").code == 2
    (data.parent / "broken.parquet").write_bytes(b"PAR1")
    assert run("ask", data.parent / "broken.parquet", SQL, "--unit", "x", "--epsilon", "1", "--budget", "1").code == 6
    assert run("ask", data, SQL, "--epsilon", "1", "--budget", "1").code == 2
    assert "--budget 1.0" in run("ask", data, SQL, "--epsilon", "1", "--unit", "patient_id").err
    assert run("ask").code == 2
    assert run("nope").code == 2
    ran = run("ask", project, SQL)
    assert ran.code == 2
    assert "--epsilon 0.1" in ran.err
    assert "epsilon=" not in ran.err
    (project.parent / "discreet.ledger").write_bytes(b"SQLite format 3\x00" + b"x" * 500)
    assert run("ask", project, SQL, "--epsilon", "0.1").code == 5


def test_what_is_unexpected_shows_nothing_that_could_be_data(run: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("patient 4711 has the plague")

    monkeypatch.setattr("discreet.session.run.execute", broken)
    ran = run("ask", project, SQL, "--epsilon", "0.1")
    assert ran.code == 1
    assert "4711" not in ran.out + ran.err
    assert "RuntimeError" in ran.err
