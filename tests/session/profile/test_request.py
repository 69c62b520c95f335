"""Requests for a profile: each gets what it pays for, and wrong ones say what to do."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from session.profile.people import frame, quiet, session

from discreet.errors import Invalid, Refused
from discreet.session.profile import request, stored


def test_two_that_buy_at_once_each_get_what_they_pay_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame().write_parquet(tmp_path / "people.parquet")
    data = tmp_path / "people.parquet"
    with session(data=data, ledger=None) as one, session(data=data, ledger=None) as two:
        asked = two.profile()
        plan = asked.plan(2)  # decided before the other buys
        bought = one.profile(epsilon=1, progress=quiet)
        plans = iter([plan])
        again = type(asked).plan
        monkeypatch.setattr(type(asked), "plan", lambda self, *price: next(plans, None) or again(self, *price))
        other = asked.release(2, progress=quiet)
        assert (bought.epsilon, other.epsilon) == (1, 2)
        assert two.spent.epsilon == 3


def test_at_most_a_hundred_are_bought(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (request, stored):
        monkeypatch.setattr(place, "MOST", 2)
    with session() as db:
        for epsilon in (1, 2):
            db.profile(epsilon=epsilon, progress=quiet)
        assert db.profile(epsilon=1, progress=quiet).repeated
        with pytest.raises(Refused, match="new version"):
            db.profile(epsilon=3, progress=quiet)


def test_tables_are_named() -> None:
    with session() as db:
        for name in ("nobody", 5):
            with pytest.raises(Invalid, match="there is no private table"):
                db.profile(name)
        assert repr(db.profile("people")) == "ProfileRequest(people)"
        with pytest.raises(Invalid):
            copy.copy(db.profile("people"))
