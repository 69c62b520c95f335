"""Requests as they come over the wire: what they are read as, and what is none."""

from __future__ import annotations

import pytest
from server.clinic import asked

from discreet.errors import Invalid
from discreet.server.asked import Asked, as_received


def test_bodies_are_read() -> None:
    found = Asked.read(asked())
    assert found.verb == "release"
    assert found.title.startswith("SELECT dept")
    titles = [
        Asked.read({"request": [[kind, ["visits"], more]]}).title
        for kind, more in (("profile", {}), ("synthesize", {"columns": ["a", "b"]}))
    ]
    assert titles == ["profile of visits", "synthetic table of visits: a, b"]
    for wrong in ({"verb": "close"}, {"price": [1]}, {"price": {"$date": "2020-01-01"}}, {"request": []}, {"request": "SELECT"}):
        with pytest.raises(Invalid):
            Asked.read(asked() | wrong)


def test_titles_are_for_people() -> None:
    made = {"request": [["synthesize", ["visits"], {"columns": ["dept", "cost"]}]], "price": {"epsilon": 1}}
    assert Asked.read(made).title == "synthetic table of visits: dept, cost"
    assert Asked.read({"request": [["profile", ["visits"], {}]]}).title == "profile of visits"


def test_a_shared_refinement_is_received_with_what_it_refines() -> None:
    said = asked() | {"verb": "refine", "refine": {"epsilon": 0.1}}
    assert as_received(said, {}) == asked() | {"verb": "receive", "refine": [{"epsilon": 0.1}]}
    assert as_received(asked() | {"refine": None}, {})["refine"] == []
    assert as_received(asked(), {})["verb"] == "release"
