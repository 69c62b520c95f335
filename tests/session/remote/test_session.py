"""A remote session: what it tells, whose budget it spends, and what it never says."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import pytest
from session.clinic import clinic

import discreet
from discreet.errors import Invalid, LedgerError, Refused
from discreet.ledger.standing import Amount
from discreet.session.session import Session

SQL = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept"


def test_it_has_the_methods_of_a_session(shared: Any) -> None:
    public = {name for name in dir(Session) if not name.startswith("_")} - {
        "open",
        "ledger",
        "catalog",
        "for_account",
        "stored",
        "tell_owner",
    }
    assert [name for name in public if not hasattr(type(shared), name)] == []


def test_it_looks_like_a_session_and_hides_its_token(shared: Any) -> None:
    token = shared._connection._token
    assert repr(shared).startswith(
        f"RemoteSession({shared._connection.address}/data: visits (private); protects each patient_id; remaining"
    )
    assert "visits: patient_id, dept" in shared._repr_html_()
    for shown in (repr(shared), shared._repr_html_(), repr(vars(shared)), repr(shared.sql(SQL)), repr(shared.about)):
        assert token not in shown
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        for one in (shared, shared.sql(SQL), shared.table("visits")):
            with pytest.raises(Invalid, match="cannot be copied or pickled"):
                act(one)


def test_a_bad_token_or_name_is_told_when_connecting(shared: Any) -> None:
    address = shared._connection.address
    with pytest.raises(Invalid, match="missing, mistyped, expired or revoked"):
        discreet.connect(f"{address}/data", token="nonsense")
    with pytest.raises(Invalid, match="no such data set"):
        discreet.connect(f"{address}/other", token=shared._connection._token)


def test_the_budget_is_the_account_s_own(db: Any) -> None:
    assert (db.spent, db.remaining.epsilon) == (Amount(Fraction(0), Fraction(0)), 2)
    db.ask(SQL, epsilon="1/4")
    assert db.spent == Amount(Fraction(1, 4), Fraction(0))
    assert db.remaining.epsilon == Fraction(7, 4)
    assert "largest single further question" in str(db.remaining)
    [paid] = db.history()
    assert (paid["asked"], paid["analyst"], paid["answered"]) == (SQL, "ann", True)


def test_nothing_tells_what_others_asked(db: Any) -> None:
    token = db._server.tokens.add("owner", "tests", "ask", 1, None, "owner")[1]
    owner = discreet.connect(f"{db._connection.address}/data", token=token)
    owner.ask(SQL, epsilon=0.5)
    assert (db.history(), db.spent.epsilon) == ([], 0)
    assert [one["asked"] for one in owner.history()] == [SQL]


def test_a_release_is_verified_by_the_server(shared: Any) -> None:
    release = shared.ask(SQL, epsilon=0.5)
    shared.verify(release)
    with clinic() as elsewhere:
        other = elsewhere.ask(SQL, epsilon=0.5)
    with pytest.raises(LedgerError, match="the ledger"):
        shared.verify(other)


def test_what_a_server_cannot_do_says_so(shared: Any) -> None:
    with pytest.raises(Refused, match="would run on the server and see private rows"):
        shared.estimate("visits", len, epsilon=1)
    with pytest.raises(Refused, match=r"no table visit; did you mean visits\?"):
        shared.table("visit")
    with pytest.raises(Invalid, match="must be text"):
        shared.table(3)
    with pytest.raises(Invalid, match="a delta without an epsilon"):
        shared.synthesize("visits", delta=1e-9)


def test_a_profile_is_used_by_later_questions(db: Any) -> None:
    found = db.profile("visits", epsilon=1)
    assert found["year"].name == "year"
    plan = db.sql("SELECT year, COUNT(*) AS n FROM visits GROUP BY year").plan(0.5)
    assert plan.delta == 0  # its groups are known from the profile
