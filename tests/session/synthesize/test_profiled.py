"""Domains from a profile: bins hold about equally many rows, categories have their values, and nothing declared is overridden."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd

import discreet
from discreet.session.synthesize.profiled import bin_edges, profiled_domains
from discreet.tables.histogram import Histogram


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
        assert known.values["rooms"] == (1, 2, 3, 4, 5)
        assert "age" not in known.edges  # declared bounds stay
        edges = [float(edge) for edge in known.edges["income"]]  # type: ignore[arg-type]
        held = np.histogram(table["income"], edges)[0]
        assert 8 <= len(held) <= 16
        assert held.max() < n / 4
        plan = db.synthesize("data").plan(epsilon=1)
        assert plan.discovery is None  # nothing is paid for twice
        made = db.synthesize("data", epsilon=5)
        assert abs(made.to_pandas()["income"].median() / table["income"].median() - 1) < 0.5
