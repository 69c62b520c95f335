"""The textbook's queries, worked with numbers."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import fits, tally
from theorems import laws

from discreet.errors import Invalid
from discreet.mechanisms import queries
from discreet.private import Private, reveal


def test_counting() -> None:
    mechanism, answer = queries.counting(Private([34, 51, 29, 62, 45]), lambda age: age > 40, epsilon="1/2")
    assert reveal(answer) == 3
    assert (mechanism.sensitivity, mechanism.loss.epsilon) == (1, Fraction(1, 2))


def test_the_grades_of_a_class() -> None:
    """Sensitivity 1 when a student comes or goes, 2 when a grade is changed; unknown grades are left out, absent ones shown."""
    for adjacency, moved in (("add/remove", 1), ("replace-one", 2)):
        mechanism, counts = queries.histogram("ABBCAABDX", cells="ABCDF", epsilon=1, adjacency=adjacency)  # type: ignore[arg-type]
        assert reveal(counts) == [3, 3, 1, 1, 0]
        assert mechanism.mechanism.sensitivity == moved  # type: ignore[attr-defined]
        released = mechanism.release(counts)
        assert list(released) == list("ABCDF")
        assert all(type(v) is int for v in released.values())


def test_the_most_common_condition_and_ties_between_fruit() -> None:
    """Equal counts are a fair race; a condition 5 ahead at ε = 1 wins by permute-and-flip's chance."""
    fruit, counts = queries.most_popular(["fig", "plum"] * 20, cells=["fig", "plum", "kiwi"], epsilon=1)
    seen = tally(lambda bits: fruit.sample(reveal(counts), bits), 6_000, "fruit")
    fair = laws.noisy_max([20, 20, 0], 1, "exponential")
    assert fair[0] == pytest.approx(fair[1])
    assert fits(seen, dict(zip(["fig", "plum", "kiwi"], fair, strict=True)))
    for adjacency, rate in (("add/remove", 1), ("replace-one", 0.5)):
        condition, totals = queries.most_popular(["flu"] * 9 + ["cold"] * 4, cells=["flu", "cold"], epsilon=1, adjacency=adjacency)  # type: ignore[arg-type]
        seen = tally(lambda bits, c=condition, t=totals: c.sample(reveal(t), bits), 6_000, adjacency)
        assert fits(seen, {"flu": 1 - math.exp(-5 * rate) / 2, "cold": math.exp(-5 * rate) / 2})


def test_a_mean_salary() -> None:
    """50 salaries in [0, 200 000]: one person moves the mean by 4 000, so ε = 1 costs about 12 000 at 95 %."""
    mechanism, answer = queries.averaging([60_000] * 25 + [90_000] * 24 + [10**9], lambda x: x, size=50, lower=0, upper=200_000, epsilon=1)
    assert mechanism.sensitivity == 4_000
    assert mechanism.error(0.95) == pytest.approx(4_000 * math.log(20), rel=1e-4)
    assert reveal(answer) == pytest.approx((60_000 * 25 + 90_000 * 24 + 200_000) / 50, abs=1)


def test_a_mean_in_minus_one_to_one() -> None:
    mechanism, answer = queries.averaging([0.5, -1, 1, math.nan, -7], lambda x: x, size=5, lower=-1, upper=1, epsilon=1)
    assert mechanism.sensitivity == Fraction(2, 5)
    assert reveal(answer) == pytest.approx((0.5 - 1 + 1 - 1 - 1) / 5, abs=1e-9)


def test_a_mean_moves_by_its_sensitivity_at_most() -> None:
    """All tables of three among extreme values; neighbours replace one. In exact rationals, up to the float at the end."""
    values = [-math.inf, -1, 0.1, 1 / 3, 1, 1e308, math.nan]
    means = {}
    for rows in itertools.product(values, repeat=3):
        mechanism, answer = queries.averaging(rows, lambda x: x, size=3, lower=-1, upper=1, epsilon=1)
        means[rows] = Fraction(reveal(answer))
    for rows, mean in means.items():
        for other in values:
            assert abs(means[(*rows[:2], other)] - mean) <= mechanism.sensitivity + Fraction(1, 2**52)


def test_a_mean_of_large_values_moves_by_its_sensitivity_at_most() -> None:
    """Four values in [2⁵⁴, 2⁵⁴ + 4]: the exact mean moves by 1, where its float would move by 4."""
    lower = 2**54
    means = []
    for k in range(5):
        mechanism, answer = queries.averaging(
            [lower + 4] * k + [lower] * (4 - k), lambda x: x, size=4, lower=lower, upper=lower + 4, epsilon="1e-4"
        )
        means.append(reveal(answer))
    assert mechanism.sensitivity == 1
    assert {b - a for a, b in itertools.pairwise(means)} == {1}


@pytest.mark.parametrize("record", ["secret", 10**400], ids=["text", "huge"])
def test_averaging_is_total(record: Any) -> None:
    queries.averaging(Private([record]), lambda x: x, size=1, epsilon=1)


def test_histograms_are_total() -> None:
    queries.histogram(Private([([1],), "a"]), ["a"], epsilon=1)


def test_records_of_odd_kinds_are_left_out() -> None:
    _, counts = queries.histogram(Private([["a"], {"a"}, None, math.nan, "a", 1.0]), ["a", 1], epsilon=1)
    assert reveal(counts) == [1, 1]


@pytest.mark.parametrize("cells", [[], ["a", "a"]])
def test_wrong_cells(cells: list[str]) -> None:
    for query in (queries.histogram, queries.most_popular):
        with pytest.raises(Invalid):
            query([], cells, epsilon=1)


def test_numbers_of_every_kind_are_averaged() -> None:
    for kind in (np.int64, np.int8, np.float32, np.float64, Decimal, Fraction, int):
        _, answer = queries.averaging([kind(x) for x in (0, 1, 1, 1)], lambda x: x, size=4, epsilon=1)
        assert reveal(answer) == Fraction(3, 4)
    with pytest.raises(Invalid, match="number of records"):
        queries.averaging([1, 1], lambda x: x, size=4, epsilon=1)


def test_a_record_on_which_the_question_fails_is_not_counted() -> None:
    _, answer = queries.counting(Private([50, None, "x", 60, 3]), lambda age: age > 40, epsilon=1)
    assert reveal(answer) == 2
    _, mean = queries.averaging(Private([0, 1, 2, 4]), lambda x: 1 / x, size=4, epsilon=1)
    assert reveal(mean) == Fraction(7, 16)
