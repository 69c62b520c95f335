"""What a file says of a synthetic table is read back as it was written, or refused."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.workload import Workload
from discreet.query.canonical import plain
from discreet.session.synthesize.codes import Binned, Listed
from discreet.session.synthesize.recording import check_measured, coding_from, measurement_from_json, measurement_to_json
from discreet.tables.kind import Kind

CODINGS = [
    Listed("town", Kind.TEXT, ("a", "b"), True),
    Listed("ward", Kind.INTEGER, (1, 2, None), False),
    Listed("day", Kind.DATE, (datetime.date(2026, 1, 1),), False, "month"),
    Binned("age", Kind.INTEGER, Fraction(0), Fraction(100), 4, False),
    Binned("cost", Kind.REAL, Fraction(-1, 3), Fraction(100), 4, True),
]
WORKLOAD = Workload(Domain(("a", "b"), (3, 2)), {(0, 1): 1})
TOTAL = NoisyMeasurement((), np.array([50.0]), 1.0)
PAIR = NoisyMeasurement((0, 1), np.arange(6.0), 1.0)


@pytest.mark.parametrize("coding", CODINGS)
def test_codes_are_read_back(coding: Any) -> None:
    assert coding_from(plain(coding)) == coding


@pytest.mark.parametrize(
    ("of", "changed"),
    [
        (0, {"values": [1, 2]}),
        (0, {"values": ["a", "a"]}),
        (0, {"values": [["a"]]}),
        (0, {"values": [], "rest": False}),
        (0, {"rest": 1}),
        (0, {"grain": "hour"}),
        (0, {"name": 3}),
        (0, {"kind": "shape"}),
        (0, {"is": "Other"}),
        (3, {"bins": 0}),
        (3, {"bins": 10**12}),
        (3, {"low": {"value": "100"}}),
        (3, {"low": {"value": "-1" + "0" * 400}}),
        (3, {"kind": "text"}),
        (3, {"missing": None}),
    ],
)
def test_codes_that_make_no_sense(of: int, changed: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError)):
        coding_from(plain(CODINGS[of]) | changed)


def test_measurements_are_read_back() -> None:
    found = measurement_from_json(measurement_to_json(PAIR))
    assert (found.clique, found.values.tolist(), found.deviation) == (PAIR.clique, PAIR.values.tolist(), PAIR.deviation)
    check_measured("aim", WORKLOAD, (PAIR,))
    check_measured("residuals", WORKLOAD, (TOTAL, evolve(PAIR, values=np.arange(2.0))))


@pytest.mark.parametrize(
    ("method", "measured"),
    [
        ("magic", (PAIR,)),
        ("aim", ()),
        ("residuals", (PAIR,)),  # without the number of records
        ("residuals", (TOTAL, PAIR)),  # a marginal, and no residual
        ("aim", (evolve(PAIR, values=np.arange(5.0)),)),
        ("aim", (evolve(PAIR, values=np.full(6, np.nan)),)),
        ("aim", (evolve(PAIR, values=np.full(6, 1e300)),)),
        ("aim", (evolve(PAIR, deviation=0.0),)),
        ("aim", (evolve(PAIR, deviation=-1.0),)),
        ("aim", (evolve(PAIR, clique=(1, 0)),)),
        ("aim", (evolve(PAIR, clique=(0, 7)),)),
        ("aim", (evolve(PAIR, clique=(True, 0)),)),
    ],
)
def test_measurements_that_no_model_fits(method: str, measured: Any) -> None:
    with pytest.raises((ValueError, IndexError)):
        check_measured(method, WORKLOAD, measured)
