"""`--server URL`: the same commands on a data set of a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from session.clinic import visits
from session.project import POLICY
from session.served import remote_session

from discreet.cli.remote import address_of
from discreet.errors import Invalid

SQL = "SELECT dept, COUNT(*) AS visits FROM visits GROUP BY dept"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server, whose token is in the environment."""
    with remote_session({"visits": visits()}, POLICY, {"ann": (2, "1e-7")}) as db:
        monkeypatch.setenv("DISCREET_TOKEN", db._connection._token)
        yield db._connection.address


def test_ask_explain_and_budget(run: Any, server: str, tmp_path: Path) -> None:
    told = run("explain", "data", SQL, "--epsilon", "0.5", "--server", server)
    assert (told.code, told.err) == (0, "")
    assert "Who is protected" in told.out
    asked = run("ask", "data", SQL, "--epsilon", "0.5", "--server", server, "--save", tmp_path / "a.json")
    assert (asked.code, asked.err) == (0, "")
    assert "cost ε = 0.5" in asked.out
    assert asked.out.splitlines()[-1].startswith("remaining: ε = 1.5")
    assert json.loads((tmp_path / "a.json").read_text())["receipt"]["epsilon"] == "1/2"
    shown = run("budget", "data", "--server", server)
    assert "charged    ε = 0.5, δ = 0" in shown.out
    assert SQL in shown.out
    exactly = json.loads(run("budget", "data", "--server", server, "--json").out)
    assert [(row["epsilon"], row["asked"]) for row in exactly["history"]] == [("1/2", SQL)]
    assert exactly["remaining"]["epsilon"] == "1.5"


def test_profile_synthesize_and_error(run: Any, server: str, tmp_path: Path) -> None:
    assert "about" in run("profile", f"{server}/data", "--epsilon", "0.5").out
    made = run("synthesize", f"{server}/data", "visits", "--epsilon", "0.5", "--columns", "dept", "--output", tmp_path / "rows.csv")
    assert (made.code, (tmp_path / "rows.csv").read_text().splitlines()[0]) == (0, "dept")
    least = run("ask", "data", SQL, "--error", "visits=60", "--server", server, "--json")
    assert json.loads(least.out)["receipt"]["kind"] == "question"
    assert run("ask", "data", SQL, "--server", server).code == 2
    assert run("ask", "data", SQL, "--epsilon", "100", "--server", server).code == 4
    assert run("ask", "data", "SELECT * FROM visits", "--epsilon", "1", "--server", server).code == 3


def test_a_server_from_the_environment(run: Any, server: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_SERVER", server)
    assert run("ask", "data", SQL, "--epsilon", "0.1").code == 0
    assert "ε = 2, δ = 1e-06" in run("budget", project).out  # what is on this machine is still that


def test_declarations_and_names_that_do_not_fit(run: Any, server: str) -> None:
    for more in (("--unit", "id"), ("--budget", "1"), ("--analyst", "ann")):
        ran = run("ask", "data", SQL, "--epsilon", "1", "--server", server, *more)
        assert ran.code == 2
        assert more[0] in ran.err
    assert "no such data set" in run("ask", "nope", SQL, "--epsilon", "1", "--server", server).err
    assert "is the name of a data set there" in run("ask", "data.parquet", SQL, "--epsilon", "1", "--server", server).err


def test_a_missing_token_is_told(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    ran = run("ask", "https://host/data", SQL, "--epsilon", "1")
    assert ran.code == 2
    assert "DISCREET_TOKEN" in ran.err


def test_where_data_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.delenv("DISCREET_SERVER", raising=False)
    assert address_of("visits", None) is None
    assert address_of("visits", "https://host/") == "https://host/visits"
    assert address_of("https://host/visits", None) == "https://host/visits"
    with pytest.raises(Invalid, match="leave out --server"):
        address_of("https://host/visits", "https://host")
    monkeypatch.setenv("DISCREET_SERVER", "https://host")
    assert address_of("visits", None) == "https://host/visits"
    assert address_of("here", None) is None
    assert address_of("visits.csv", None) is None
