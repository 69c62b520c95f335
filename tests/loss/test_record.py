"""Losses survive being written down."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from loss.test_loss import losses

from discreet.errors import Invalid
from discreet.loss.leaves import LaplaceLoss, Pure, Revealed
from discreet.loss.loss import NOTHING, Loss, parallel
from discreet.loss.record import from_json, to_json

# What ledgers hold. A line that has to change here makes the entries of existing ledgers unreadable.
STORED = (
    {"kind": "approx", "epsilon": "1/2", "delta": "1/1000000"},
    {"kind": "bounded-range", "epsilon": "1/3"},
    {"kind": "discrete-laplace", "scale": "10", "shift": 2},
    {"kind": "gaussian", "ratio_squared": "1/20"},
    {"kind": "gaussian-threshold", "ratio_squared": "1/30", "delta": "1/10000000"},
    {"kind": "gdp", "mu": "1/4"},
    {"kind": "laplace", "epsilon": "1/5"},
    {"kind": "poisson-subsampled", "part": {"kind": "gaussian", "ratio_squared": "1"}, "rate": "1/100"},
    {"kind": "promised", "parts": {"kind": "gaussian", "ratio_squared": "1/20"}, "promised_epsilon": "1", "promised_delta": "1/10000"},
    {"kind": "pure", "epsilon": "1/10"},
    {"kind": "randomized-response", "epsilon": "1/6", "choices": 4},
    {"kind": "response", "epsilon": "1/7", "steep": "1", "flat": "3"},
    {"kind": "shuffled", "epsilon": "1", "reports": 1000},
    {"kind": "some-parts", "part": {"kind": "approx", "epsilon": "1/2", "delta": "1/1000000"}, "parts": 2, "units": 1},
    {"kind": "subsampled", "part": {"kind": "laplace", "epsilon": "1"}, "rate": "1/10"},
    {"kind": "zcdp", "rho": "1/8"},
)


@settings(max_examples=80, deadline=None)
@given(losses)
def test_round_trip(loss: Loss) -> None:
    assert from_json(json.loads(json.dumps(to_json(loss)))) == loss


def test_round_trip_of_the_special_ones() -> None:
    for loss in (
        NOTHING,
        Revealed(),
        parallel(Pure(1), LaplaceLoss(2), Pure(1), adjacency="replace-one"),
        (Pure(1) | LaplaceLoss(2)).group(3),
    ):
        assert from_json(json.loads(json.dumps(to_json(loss)))) == loss


@pytest.mark.parametrize("record", STORED, ids=lambda record: str(record["kind"]))
def test_stored_records_stay_readable_and_are_written_the_same(record: dict[str, object]) -> None:
    assert to_json(from_json(record)) == record


def test_the_order_of_terms_in_stored_records_stays_canonical() -> None:
    """Terms are sorted, and a record in another order is refused: the order may not change with the name of a class."""
    for together in (
        {"kind": "sum", "terms": [[record, 2] for record in STORED]},
        {"kind": "alternatives", "parts": list(STORED), "touched": 2},
    ):
        assert to_json(from_json(together)) == together
    swapped = {"kind": "sum", "terms": [[record, 2] for record in reversed(STORED)]}
    with pytest.raises(Invalid, match="canonical"):
        from_json(swapped)


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
