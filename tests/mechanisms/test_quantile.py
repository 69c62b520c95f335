"""Quantiles: grids, stated error in ranks, ties and values of every kind."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake
from theorems import laws

from discreet.errors import Invalid
from discreet.mechanisms.quantile import Quantile, Quantiles
from discreet.mechanisms.value_grid import Places
from discreet.private import Private


@pytest.mark.parametrize("q", ["1/2", "1/4"])
def test_the_error_holds_for_all_small_tables(q: str) -> None:
    """P[u(answer) < max u − error] ≤ β, exactly, for all multisets of three on six points."""
    mechanism = Quantile(epsilon=2, q=q, lower=0, upper=5, step=1)
    for confidence in ("0.5", "0.95"):
        t = mechanism.error(confidence)
        for points in itertools.combinations_with_replacement(range(6), 3):
            scores = laws.quantile_scores(points * 4, mechanism.q, 0, 6)
            chances = laws.softmax(scores, mechanism.rate)
            assert (
                sum(p for p, u in zip(chances, scores, strict=True) if float(u) < float(max(scores)) - t) <= 1 - float(confidence) + 1e-12
            )


def test_many_quantiles_are_within_their_error() -> None:
    """200 releases with fixed coins on distinct values: all ranks within the stated error far more often than promised."""
    mechanism = Quantiles(epsilon=2, qs=["1/4", "1/2", "3/4"], lower=0, upper=1023, step=1)
    values = np.arange(0, 1023, 2)
    t = mechanism.error("0.9")
    bad = 0
    for seed in range(200):
        out = mechanism.sample(values, Shake(seed))
        assert out == sorted(out)
        ranks = [float((values < z).sum() - q * len(values)) for z, q in zip(out, map(float, mechanism.qs), strict=True)]
        bad += max(map(abs, ranks)) > t + 1
    assert bad <= 20


def test_replacement_has_twice_the_range_at_the_median() -> None:
    """R = 1 under add/remove, 2 under replacement; away from the median 2·max(q, 1 − q)."""
    assert Quantile(epsilon=1, lower=0, upper=1).rate == 1
    assert Quantile(epsilon=1, lower=0, upper=1, adjacency="replace-one").rate == Fraction(1, 2)
    assert Quantile(epsilon=1, q="9/10", lower=0, upper=1).rate == Fraction(5, 9)


def test_answers_are_grid_points_and_never_values() -> None:
    mechanism = Quantile(epsilon=1, lower=0, upper=1, step="1/4")
    told = {mechanism.sample([0.3, 0.31, 0.9], Shake(i)) for i in range(300)}
    assert told == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_a_value_of_many_records_is_chosen_though_its_ranks_are_uneven() -> None:
    """Six of ten records are 0 and four are 5: the median is 0, and no number between them."""
    mechanism = Quantile(epsilon=5, lower=0, upper=10, step=1)
    assert {mechanism.sample([0] * 60 + [5] * 40, Shake(i)) for i in range(200)} == {0.0}


def test_scores_of_any_size_do_not_overflow() -> None:
    mechanism = Quantile(epsilon=1, q="0.999999", lower=0, upper=9, step=1, offset=10**30)
    assert mechanism.sample([1, 2, 3], Shake(1)) == 9
    full = Places(np.arange(10), np.full(10, 2**62))
    assert mechanism.sample(full, Shake(2)) == 9


@pytest.mark.parametrize("offset", [True, 1.5, "1"])
def test_an_offset_is_a_whole_number(offset: Any) -> None:
    with pytest.raises(Invalid, match="whole number of ranks"):
        Quantile(epsilon=1, lower=0, upper=1, offset=offset)


def test_heavy_ties_and_one_value() -> None:
    mechanism = Quantile(epsilon=5, lower=0, upper=100, step=1)
    assert mechanism.release([42] * 1000) == 42
    assert Quantiles(epsilon=9, qs=["1/4", "1/2", "3/4"], lower=0, upper=100, step=1).release([42] * 1000)[1] == 42


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, -math.inf], [10**400], [None, 3], [1e308], [True]], ids=str)
def test_private_values_are_total(values: list[Any]) -> None:
    assert 0 <= Quantile(epsilon=1, lower=0, upper=10).release(Private(values)) <= 10
    out = Quantiles(epsilon=1, qs=["1/4", "1/2", "3/4", "4/5"], lower=0, upper=3, step=1).release(Private(values))
    assert len(out) == 4
    assert out == sorted(out)


@pytest.mark.parametrize(
    "wrong",
    [
        {"q": 0},
        {"q": 1},
        {"q": "nan"},
        {"q": "1/3000000"},
        {"lower": 1, "upper": 1},
        {"step": 0},
        {"adjacency": "both"},
        {"upper": math.inf},
    ],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Quantile(**({"epsilon": 1, "lower": 0, "upper": 1} | wrong))


@pytest.mark.parametrize("qs", [[], [0.5, 0.5], [0.7, 0.2], [0], ["x"]])
def test_wrong_quantiles(qs: Any) -> None:
    with pytest.raises(Invalid):
        Quantiles(epsilon=1, qs=qs, lower=0, upper=1)


@pytest.mark.parametrize("wide", [{"upper": 1e30, "step": 1}, {"upper": 10**400}])
def test_a_grid_too_wide_is_refused_when_made(wide: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Quantile(**({"epsilon": 1, "lower": 0} | wide))


def test_the_widest_bounds_raise_no_warning() -> None:
    Quantile(epsilon=1, lower=-1e300, upper=1e300).release(Private([1e308]))
    with pytest.raises(Invalid, match="within"):
        Quantile(epsilon=1, lower=-1e308, upper=1e308)
