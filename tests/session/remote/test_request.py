"""Synthetic tables, profiles and estimates on a server: planned first, then released with progress."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.errors import Invalid, Refused
from discreet.session.life_cycle import AnyPlan, AnyRequest
from discreet.session.profile.profile import Profile
from discreet.session.synthesize.synthetic import Synthetic


def test_a_synthetic_table(shared: Any) -> None:
    request = shared.synthesize("visits", columns=["dept", "cost"], bins=4, rows=50)
    assert isinstance(request, AnyRequest)
    assert repr(request).startswith("SynthesisRequest(")
    assert "release(epsilon=…) pays" in request._repr_html_()
    plan = request.plan(1)
    assert isinstance(plan, AnyPlan)
    assert set(plan.error()) == {"dept, cost"} or plan.error()
    told: list[Any] = []
    made = request.release(1, progress=lambda step, share: told.append((step, share)))
    assert isinstance(made, Synthetic)
    assert len(made.to_pandas()) == 50
    assert all(isinstance(step, str) and 0 <= share <= 1 for step, share in told)
    assert shared.synthesize("visits", 1, columns=["dept", "cost"], bins=4, rows=50).repeated


def test_rows_that_a_builder_selects(shared: Any) -> None:
    rows = shared.table("visits").where("cost > 100")
    assert isinstance(shared.synthesize(rows, 1, columns=["dept"], bins=2), Synthetic)


def test_a_profile(shared: Any) -> None:
    assert shared.profile().plan(1).epsilon == 1
    found = shared.profile("visits", epsilon=2)
    assert isinstance(found, Profile)
    assert "[tables.visits]" in found.to_toml()
    assert shared.profile("visits", epsilon=2).repeated


def test_wrong_requests_are_refused_at_once(shared: Any) -> None:
    with pytest.raises(Invalid, match="no private table"):
        shared.profile("nope")
    with pytest.raises((Invalid, Refused), match="nope"):
        shared.synthesize("visits", columns=["nope"])
    with pytest.raises(Invalid, match="does not take these arguments"):
        shared.synthesize("visits", colums=["dept"])
