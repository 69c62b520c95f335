"""Domains from a profile: bins hold about equally many rows, categories have their values, and nothing declared is overridden."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd

import discreet
from discreet.session.synthesize.domains import Domains
from discreet.session.synthesize.profiled import bin_edges, discovered_domains, profiled_domains
from discreet.tables.histogram import Histogram
from discreet.tables.kind import Kind
from discreet.tables.profile import ColumnProfile, TableProfile


def histogram(counts: list[float], sd: float = 1.0) -> Histogram:
    return Histogram(tuple(Fraction(i) for i in range(len(counts) + 1)), tuple(counts), 0.0, 0.0, 0.0, sd, sd)


def test_bins_hold_about_equally_many_rows() -> None:
    counts = [100.0] * 10 + [10.0] * 20
    kept = bin_edges(histogram(counts), 6)
    held = [sum(counts[a:b]) for a, b in pairwise(kept)]
    assert (kept[0], kept[-1]) == (0, 30)
    assert len(held) <= 6
    assert min(held) >= 100


def test_no_bin_is_mostly_noise() -> None:
    assert bin_edges(histogram([5.0] * 20, sd=100.0), 32) == [0, 20]


def whole_numbers(counts: list[float], sd: float = 1.0, first: int = 0) -> Histogram:
    edges = tuple(Fraction(first + i) for i in range(len(counts) + 1))
    return Histogram(edges, tuple(counts), 0.0, 0.0, 0.0, sd, sd, True)


def test_a_number_that_stands_out_is_a_bin_by_itself_and_the_others_are_not_lost() -> None:
    """Weeks of work: nearly all at the end, the rest spread thinly below; these came out as missing."""
    kept = bin_edges(whole_numbers([20.0] * 40 + [500.0, 20.0, 900.0], sd=20.0), 32)
    assert (kept[0], kept[-1]) == (0, 43)
    assert kept[-4:] == [40, 41, 42, 43]
    assert 3 <= len(kept) <= 12


def test_whole_numbers_that_are_clear_are_all_by_themselves() -> None:
    assert bin_edges(whole_numbers([100.0] * 50), 32) == list(range(51))
    assert len(bin_edges(whole_numbers([100.0] * 64), 16)) <= 17  # unless they are too many


def test_bins_end_where_values_were_found() -> None:
    """Ages from 16 on, on a grid from −32 to 127: what noise shows beyond is no range of ages."""
    noise = [3.0, -8.0, 5.0, -2.0, 7.0, -4.0]
    for found in (whole_numbers([*noise, *[200.0] * 10, *noise], sd=5.0), histogram([*noise, *[200.0] * 10, *noise], sd=5.0)):
        kept = bin_edges(found, 32)
        assert (kept[0], kept[-1]) == (6, 16)


def test_one_number_alone_is_a_domain_and_one_wide_bin_is_none() -> None:
    columns = (
        ColumnProfile("one", Kind.INTEGER, whole_numbers([0.0, 1000.0, 0.0], first=6)),
        ColumnProfile("wide", Kind.REAL, histogram([30.0] * 4, sd=20.0)),
    )
    found = discovered_domains(TableProfile("t", columns, 1000.0, 1000.0, 1.0, None, (), ""), ["one", "wide"], 32)
    assert found.edges == {"one": (7, 7)}


def test_how_many_rows_may_lie_beyond_is_known() -> None:
    counts = [5.0, 100.0, 100.0, 100.0, -5.0, 15.0]
    column = ColumnProfile("x", Kind.REAL, Histogram(tuple(map(Fraction, range(7))), tuple(counts), 10.0, 0.0, 0.0, 10.0, 10.0))
    found = discovered_domains(TableProfile("t", (column,), 325.0, 325.0, 1.0, None, (), ""), ["x"], 32)
    assert found.edges["x"][0] == 1
    assert found.edges["x"][-1] == 4
    assert abs(found.beyond["x"] - (25 + 1.645 * 20) / 325) < 1e-9
    given = Domains(edges={"x": (Fraction(0), Fraction(9))})
    assert (found | given).beyond == {}  # a person's own edges clip as the person says
    assert (given | found).beyond == found.beyond


def test_a_profile_gives_the_domains_of_a_synthetic_table() -> None:
    rng = np.random.default_rng(3)
    n = 4000
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(10, 1, n),
            "sex": rng.choice(["f", "m"], n),
            "rooms": rng.integers(1, 6, n),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        db = discreet.connect(table, unit=discreet.each_row(), epsilon=100, delta=1e-3, bounds={"age": (0, 120)})
    with db:
        db.profile(epsilon=20)
        known = profiled_domains(db._pipeline.catalog.tables[0], 16)
        assert set(known.values["sex"]) == {"f", "m"}
        assert known.edges["rooms"] == (1, 2, 3, 4, 5, 5)  # each number by itself, and none is missing for being rare
        assert "age" not in known.edges  # declared bounds stay
        edges = [float(edge) for edge in known.edges["income"]]  # type: ignore[arg-type]
        held = np.histogram(table["income"], edges)[0]
        assert 8 <= len(held) <= 16
        assert held.max() < n / 4
        plan = db.synthesize("data").plan(epsilon=1)
        assert plan.discovery is None  # nothing is paid for twice
        made = db.synthesize("data", epsilon=5)
        assert abs(made.to_pandas()["income"].median() / table["income"].median() - 1) < 0.5
