"""`%load_ext discreet` and `%%dp`, in IPython's own shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from session.clinic import clinic, visits
from session.project import POLICY
from session.served import remote_session

from discreet.errors import Invalid, Refused
from discreet.notebook import read_line
from discreet.session.plan import Plan
from discreet.session.release import Release

SQL = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept\n"


@pytest.fixture
def shell(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "discreet")
    yield shell
    shell.run_line_magic("unload_ext", "discreet")
    shell.history_manager.end_session()
    shell.history_manager.save_thread and shell.history_manager.save_thread.stop()
    InteractiveShell.clear_instance()


def test_a_cell_is_asked_and_shown(shell: InteractiveShell) -> None:
    with clinic() as db:
        shell.user_ns |= {"db": db, "other": clinic}
        found = shell.run_cell(f"%%dp epsilon=0.5\n{SQL}").result
        assert isinstance(found, Release)
        assert (found.epsilon, db.spent.epsilon) == (0.5, 0.5)
        shell.user_ns["ward"] = db
        plan = shell.run_cell(f"%%dp ward plan epsilon=0.5 into=planned\n{SQL}").result
        assert isinstance(plan, Plan)
        assert shell.user_ns["planned"] is plan
        assert shell.run_cell(f"%%dp error={{'n':40}}\n{SQL}").result.epsilon == db.sql(SQL).price({"n": 40})
        assert shell.run_cell(f"%%dp plan error={{'n':40}}\n{SQL}").result.epsilon == db.sql(SQL).price({"n": 40})


def test_a_remote_session_too(shell: InteractiveShell) -> None:
    with remote_session({"visits": visits()}, POLICY) as db:
        shell.user_ns["db"] = db
        assert isinstance(shell.run_cell(f"%%dp epsilon=0.5\n{SQL}").result, Release)


def test_what_is_wrong_is_told(shell: InteractiveShell) -> None:
    shell.user_ns["db"] = 3
    ran = shell.run_cell(f"%%dp epsilon=0.5\n{SQL}")
    assert isinstance(ran.error_in_exec, Invalid)
    assert "db is no session" in str(ran.error_in_exec)


def test_an_error_is_shown_without_a_traceback_of_ours(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    with clinic() as db:
        shell.user_ns["db"] = db
        ran = shell.run_cell("%%dp epsilon=0.5\nSELECT * FROM visits")
        assert isinstance(ran.error_in_exec, Refused)
    shown = capsys.readouterr().out
    assert "Refused: SELECT * FROM visits (line 1, column 8): single rows are never shown" in shown
    assert "Traceback" not in shown


def test_a_comment_states_the_price(shell: InteractiveShell) -> None:
    with clinic() as db:
        shell.user_ns["db"] = db
        assert shell.run_cell(f"%%dp\n/* epsilon=0.25 */ {SQL}").result.epsilon == 0.25
        twice = shell.run_cell(f"%%dp epsilon=0.5\n{SQL} -- epsilon=0.25")
        assert "keep one" in str(twice.error_in_exec)
        assert db.spent.epsilon == 0.25


@pytest.mark.parametrize("line", ["epsilon=", "epsilom=1", "a b", "error={", "into=3", "db;", "size=x y"])
def test_lines_that_cannot_be_read(line: str) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        read_line(line)


def test_a_variable_may_have_any_name() -> None:
    assert read_line("epsilon epsilon=1") == ("epsilon", {"epsilon": "1"}, False, None)
