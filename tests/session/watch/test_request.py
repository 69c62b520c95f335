"""Requests for threshold streams."""

from __future__ import annotations

from typing import Any

import pytest
from session.watch.visits import session

from discreet.errors import Invalid


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0}, {"threshold": "many"}, {"threshold": 10**300}, {"rounds": 0}, {"values": 1}, {"values": "no"}, {"monotone": 1}],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with session() as db, pytest.raises(Invalid):
        db.watch(**({"epsilon": 1, "threshold": 1} | wrong))
