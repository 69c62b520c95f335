"""Losses survive being written down."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from loss.test_loss import losses

from discreet.errors import Invalid
from discreet.loss.leaves import Laplace, Pure, Revealed
from discreet.loss.loss import NOTHING, Loss, parallel
from discreet.loss.record import from_json, to_json


@settings(max_examples=80, deadline=None)
@given(losses)
def test_round_trip(loss: Loss) -> None:
    assert from_json(json.loads(json.dumps(to_json(loss)))) == loss


def test_round_trip_of_the_special_ones() -> None:
    for loss in (NOTHING, Revealed(), parallel(Pure(1), Laplace(2), Pure(1), adjacency="replace-one"), (Pure(1) | Laplace(2)).group(3)):
        assert from_json(json.loads(json.dumps(to_json(loss)))) == loss


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "free"},
        {"kind": "pure"},
        {"kind": "pure", "epsilon": "-1"},
        {"kind": "pure", "epsilon": 1.5},
        {"kind": "pure", "epsilon": "1", "extra": 1},
        {"kind": "pure", "epsilon": None},
        {"kind": "sum", "terms": [["pure", 1]]},
        {"kind": "sum", "terms": [[{"kind": "pure", "epsilon": "1"}, -3]]},
        {"kind": "sum", "terms": [[{"kind": "pure", "epsilon": "1"}, 1]]},
        {"kind": "group", "k": 0, "part": {"kind": "pure", "epsilon": "1"}},
        {"kind": "alternatives", "parts": [], "touched": 1},
        {"kind": "alternatives", "parts": [{"kind": "pure", "epsilon": "1"}], "touched": 0},
        [],
        "pure",
    ],
    ids=str,
)
def test_what_is_not_a_loss_is_invalid(record: object) -> None:
    with pytest.raises(Invalid):
        from_json(record)  # type: ignore[arg-type]
