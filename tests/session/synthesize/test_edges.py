"""Bins between given edges: what engines compute is what decoding undoes, for numbers, dates and timestamps."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import polars
import pytest
from session.synthesize import clinic

import discreet
from discreet.errors import Invalid, Refused
from discreet.query.canonical import plain
from discreet.session.synthesize.edges import Cut, cut
from discreet.session.synthesize.recording import coding_from
from discreet.tables.kind import Kind

DAY = datetime.date(2024, 1, 1)
NOON = datetime.datetime(2024, 1, 1, 12)
ALL = [
    cut("age", Kind.INTEGER, [0, 1, 18, 65, 120], True),
    cut("age", Kind.INTEGER, [0, 1, 2, 18, 18], True, found=True),
    cut("cost", Kind.REAL, [0, 0.5, 1 / 3 + 1, 1e6], False),
    cut("day", Kind.DATE, [DAY, "2024-02-01", "2024-12-31"], True),
    cut("at", Kind.TIMESTAMP, [NOON, "2024-01-02 00:00:00", "2024-06-01 00:00:00"], False),
]


@pytest.mark.parametrize("coding", ALL, ids=lambda coding: coding.name)
def test_codes_and_values(coding: Cut) -> None:
    codes = np.repeat(np.arange(coding.size), 40)
    for code, value in zip(codes.tolist(), coding.decode(codes), strict=True):
        assert coding.codes(value) == [code]
    assert len({coding.label(code) for code in range(coding.size)}) == coding.size
    assert coding_from(plain(coding)) == coding


def test_every_whole_number_of_a_bin_is_made() -> None:
    assert set(ALL[0].decode(np.full(2000, 1))) == set(range(1, 18))
    assert set(ALL[0].decode(np.full(2000, 3))) == set(range(65, 121))  # the last one includes its end
    assert ALL[0].middles == [0, 9, 41, 92.5]


def test_ranges_are_whole_bins() -> None:
    assert ALL[0].codes((0, 30)) == [0, 1, 2]
    assert ALL[0].codes([1, 17, 70]) == [1, 3]
    assert ALL[0].codes(-5) == [0]
    assert ALL[0].codes(500) == [3]
    for wanted, says in (((30, 0), "lower end first"), ("old", "ask age for"), ((1, 2, 3), "ask age for")):
        with pytest.raises(Invalid, match=says):
            ALL[0].codes(wanted)


@pytest.mark.parametrize(
    ("kind", "edges", "says"),
    [
        (Kind.INTEGER, [0], "2 to 1,001 values"),
        (Kind.INTEGER, "012", "2 to 1,001 values"),
        (Kind.INTEGER, [0, 1, 1], "different and in ascending order"),
        (Kind.INTEGER, [2, 1], "different and in ascending order"),
        (Kind.INTEGER, [0, 1.5, 3], "must be an integer"),
        (Kind.REAL, [0, Fraction(1, 10**400), 1], "same as floating-point"),
        (Kind.TEXT, ["a", "b"], "declare keys"),
    ],
    ids=str,
)
def test_wrong_edges(kind: Kind, edges: Any, says: str) -> None:
    with pytest.raises(Invalid, match=says):
        cut("x", kind, edges, True)


def people(n: int = 6000) -> polars.DataFrame:
    coins = np.random.default_rng(7)
    start = datetime.datetime(2024, 1, 1)
    return polars.DataFrame(
        {
            "patient": range(n),
            "income": np.exp(coins.normal(10, 1, n)),
            "at": [start + datetime.timedelta(hours=int(h)) for h in coins.integers(0, 24 * 60, n)],
        }
    )


def session(**said: Any) -> discreet.Session:
    return clinic.session(people(), keys=None, bounds={}, contributions=None, one_row_per_unit=True, **said)


def test_given_edges_are_used_and_nothing_is_discovered() -> None:
    income = people()["income"]
    edges = {"income": [0, 5_000, 10_000, 20_000, 40_000, 80_000, 1e6], "at": ["2024-01-01 00:00", "2024-02-01 00:00", "2024-03-01 00:00"]}
    with session(not_null=["at", "income"]) as db:
        request = db.synthesize("visits", edges=edges)
        assert request.plan(2).discovery is None
        assert request.plan(2).priced.question != db.synthesize("visits", edges=edges | {"income": [0, 5_000, 1e6]}).plan(2).priced.question
        made = request.release(5)
        assert [coding.size for coding in made.codings] == [6, 2]
        told = made.answer({"income": (5_000, 9_999)})
        assert abs(told.value - income.is_between(5_000, 10_000, closed="left").sum()) < 7 * told.error
        mean = made.answer(mean="income")
        assert abs(mean.value - income.mean()) < 3 * mean.error
        frame = made.to_polars()
        assert str(frame["at"].dtype).startswith("Datetime")
        assert frame["at"].min().month == 1
        assert abs((frame["at"].dt.month() == 1).mean() - (people()["at"].dt.month() == 1).mean()) < 0.1
        assert discreet.Synthetic.from_text(made.to_text()).data == made.data


def test_timestamps_without_edges_are_left_out_and_say_what_to_do() -> None:
    with session() as db:
        assert "at is left out: timestamps need bins: give edges=" in db.synthesize("visits").plan(1, 1e-6).explain()
        with pytest.raises(Refused, match="give edges="):
            db.synthesize("visits", columns=["at"])
        for edges, says in (({"salary": [0, 1]}, "no column here"), ([0, 1], "must be a dict")):
            with pytest.raises(Invalid, match=says):
                db.synthesize("visits", edges=edges)
