"""`discreet grant`; more of it in tests/ledger/test_shares.py."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest


def test_a_grant_before_the_first_question(run: Any, project: Path) -> None:
    assert "ana may spend ε = 0.5" in run("grant", project, "ana", "--epsilon", "0.5").out
    assert run("ask", project, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1", "--analyst", "ana").code == 0


def test_a_grant_says_what_it_replaces_and_can_be_taken_back(run: Any, project: Path) -> None:
    assert "before" not in run("grant", project, "ana", "--epsilon", "0.5").out
    ask = ("ask", project, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1", "--analyst", "ana")
    assert run(*ask).code == 0
    assert "(before: ε = 0.5, δ = 0 in all; spent ε = 0.1)" in run("grant", project, "ana", "--epsilon", "0.3").out
    assert "ana can spend nothing more (before: ε = 0.3" in run("grant", project, "ana", "--revoke").out
    refused = run("ask", project, "SELECT COUNT(*) AS k FROM visits", "--epsilon", "0.01", "--analyst", "ana")
    assert "ana has no budget here" in refused.err
    assert "remaining ε = 0.1" in run("grant", project, "ana", "--epsilon", "0.2").out, "what was spent is forgotten"


def test_granting_and_revoking_at_once_is_refused(run: Any, project: Path) -> None:
    for more in ([], ["--epsilon", "1", "--revoke"]):
        assert "give --epsilon to grant a budget, or --revoke" in run("grant", project, "ana", *more).err
    assert "no budget that could be taken back" in run("grant", project, "ana", "--revoke").err


def test_an_analyst_whom_the_server_does_not_know_is_mentioned(run: Any, project: Path) -> None:
    pytest.importorskip("argon2")
    from discreet.server.settings import database_beside
    from discreet.server.store.accounts import Accounts
    from discreet.server.store.database import open_database

    assert not run("grant", project, "ana", "--epsilon", "0.5").err
    with closing(open_database(database_beside(project))) as database:
        Accounts(database).add("ana", "analyst", None)
    assert not run("grant", project, "ana", "--epsilon", "0.6").err
    assert "no analyst named anna" in run("grant", project, "anna", "--epsilon", "0.5").err
