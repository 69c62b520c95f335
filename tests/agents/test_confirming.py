"""A confirmation is good for one account, request and price, and for a few minutes."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from discreet.agents.confirming import LASTS, Confirmations
from discreet.agents.source import Planned, Request

ASKED = Request("sql", "SELECT COUNT(*) FROM visits")


def planned(epsilon: str = "0.2", delta: str = "0") -> Planned:
    return Planned(SimpleNamespace(epsilon=Fraction(epsilon), delta=Fraction(delta)), False)


def test_it_is_bound_to_account_request_and_price() -> None:
    made = Confirmations()
    token = made.token("agent", ASKED, planned())
    assert made.fits(token, "agent", ASKED, planned())
    assert not made.fits(token, "another", ASKED, planned())
    assert not made.fits(token, "agent", Request("sql", "SELECT COUNT(*) FROM people"), planned())
    assert not made.fits(token, "agent", Request("synthesize", ASKED.about), planned())
    assert not made.fits(token, "agent", ASKED, planned("0.3"))
    assert not made.fits(token, "agent", ASKED, planned(delta="1e-9"))
    assert not Confirmations().fits(token, "agent", ASKED, planned())  # another process


@pytest.mark.parametrize("forged", ["", "-", "yes", "ffffffff", "zz-zz", "ffffffff-" + "0" * 64, "１-é", "f" * 10_000])
def test_others_are_not_good(forged: str) -> None:
    assert not Confirmations().fits(forged, "agent", ASKED, planned())


def test_it_grows_old() -> None:
    now = [1000.0]
    made = Confirmations(lambda: now[0])
    token = made.token("agent", ASKED, planned())
    now[0] += LASTS
    assert made.fits(token, "agent", ASKED, planned())
    now[0] += 1
    assert not made.fits(token, "agent", ASKED, planned())
    later = f"{int(now[0]) + 100:x}-{token.partition('-')[2]}"
    assert not made.fits(later, "agent", ASKED, planned())
