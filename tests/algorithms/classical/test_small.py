"""Small databases: their enumeration, how many rows are enough, and what BLR promises."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scripted import Seeded

from discreet.algorithms.classical.bands import BLRThresholds
from discreet.algorithms.classical.linear import Queries, small_databases
from discreet.algorithms.classical.small import (
    Multisets,
    SmallDatabase,
    blr_accuracy,
    blr_textbook,
    good_size,
    good_size_vc,
    log_small_databases,
)
from discreet.errors import Invalid


@pytest.mark.parametrize(("domain", "rows"), [(1, 1), (1, 5), (2, 7), (3, 4), (5, 3), (7, 1), (2, 100), (20, 3)])
def test_each_multiset_comes_once(domain: int, rows: int) -> None:
    every = Multisets(domain, rows)
    for block in (1, 7, 10**4):
        if every.size // block > 2000:
            continue
        told = np.concatenate(list(every.blocks(block)))
        assert all(len(part) <= block for part in every.blocks(block))
        assert set(map(tuple, told.tolist())) == set(itertools.combinations_with_replacement(range(domain), rows))
        assert len(told) == every.size == small_databases(domain, rows)


def test_numbers_near_the_edge() -> None:
    """C(N+m−1, m) just below 2⁶²: the first and the last multiset are in their places."""
    every = Multisets(100, 14)
    assert 2**55 < every.size < 2**62
    assert every.at([0, every.size - 1]).tolist() == [[0] * 14, [99] * 14]
    with pytest.raises(Invalid, match="too many"):
        Multisets(1000, 100)


def test_a_small_database_answers_for_all_records() -> None:
    small = SmallDatabase(histogram=[2, 1, 1], records=40)
    assert small.answers(Queries([[0, 1, 4]], top=4)).tolist() == [12.5]
    with pytest.raises(ValueError, match="read-only"):
        small.histogram[0] = 3


def subsets(domain: int) -> Queries:
    return Queries([list(bits) for bits in itertools.product((0, 1), repeat=domain) if 0 < sum(bits) < domain])


def best_error(queries: Queries, histogram: tuple[int, ...], rows: int) -> Fraction:
    """The least largest error, as a share, over all small databases."""
    n = sum(histogram)
    truth = queries.answers(histogram)
    errors = []
    for y in itertools.combinations_with_replacement(range(queries.domain), rows):
        answers = queries.answers(np.bincount(y, minlength=queries.domain))
        errors.append(max(abs(Fraction(int(a), rows) - Fraction(int(b), n)) for a, b in zip(answers, truth, strict=True)))
    return min(errors)


@pytest.mark.parametrize("accuracy", ["0.35", "0.5", "0.8"])
def test_a_good_small_database_exists(accuracy: str) -> None:
    """All data sets of up to 5 records over 3 values, all 6 queries."""
    queries = subsets(3)
    rows = good_size(queries.size, accuracy)
    assert rows == math.ceil(math.log(12) / (2 * float(accuracy) ** 2))
    for histogram in itertools.product(range(6), repeat=3):
        if 0 < sum(histogram) <= 5:
            assert best_error(queries, histogram, rows) <= Fraction(accuracy)


def test_the_first_term_is_about_random_rows() -> None:
    """Rows drawn from the data miss α seldom, as Hoeffding and the union say, and at half the size more often."""
    generator = np.random.default_rng(5)
    queries = Queries(generator.integers(0, 2, (500, 200)))
    data = generator.integers(0, 200, 10**5)
    truth = queries.means(np.bincount(data, minlength=200))
    missed = Counter[int]()
    for factor in (1, 4):
        rows = good_size(queries.size, 0.1) // factor
        for _ in range(200):
            some = np.bincount(generator.choice(data, rows), minlength=200)
            missed[factor] += bool(abs(queries.means(some) - truth).max() > 0.1)
    assert missed[1] < 100 < missed[4]


def test_thresholds_need_fewer() -> None:
    """Quantiles: 1/(2α) rows, exhaustively; VC's general bound is far above, and grows with the dimension."""
    for histogram in itertools.product(range(4), repeat=3):
        if sum(histogram):
            for rows in (1, 2, 3):
                assert best_error(Queries.thresholds(3), histogram, rows) <= Fraction(1, 2 * rows)
    sizes = [good_size_vc(d, 0.1) for d in (1, 2, 5, 50)]
    assert sizes == sorted(sizes)
    for d, m in zip((1, 2, 5, 50), sizes, strict=True):
        assert math.log(4) + d * math.log(2 * math.e * m / d) < m * 0.01 / 8
        assert math.log(4) + d * math.log(2 * math.e * (m - 2) / d) > (m - 2) * 0.01 / 8 - 1e-4


@pytest.mark.parametrize("queries", [4, 100, 10**9])
@pytest.mark.parametrize("domain", [2, 100, 2**30])
@pytest.mark.parametrize("n", [10**3, 10**6, 10**10])
def test_the_closed_form_is_proved(queries: int, domain: int, n: int) -> None:
    """Wherever the textbook's closed form says something, the best m is at least as good."""
    closed = blr_textbook(queries, domain, n, 1, 0.05)
    best = blr_accuracy(queries, domain, n, 1, 0.05)
    if closed <= 1:
        assert best.share <= closed
        half = good_size(queries, str(closed / 2))  # the proof's own choice
        assert half <= 4 * math.log(queries) / closed**2
    rows = best.rows
    share = math.sqrt(math.log(2 * queries) / (2 * rows)) + 2 / n * (log_small_databases(domain, rows) + math.log(20))
    assert best.share == pytest.approx(share)


def test_the_best_number_of_rows_is_best() -> None:
    def share(m: int) -> float:
        return math.sqrt(math.log(2000) / (2 * m)) + 2 / 10**5 * (math.log(math.comb(m + 999, m)) + math.log(10))

    best = blr_accuracy(1000, 1000, 10**5, 1, 0.1)
    assert best.share == pytest.approx(min(map(share, range(1, 4000, 3))), rel=1e-6)
    assert best.share == pytest.approx(share(best.rows), rel=1e-9)


def test_the_textbook_by_hand() -> None:
    value = ((16 * math.log(8) * math.log(16) + 4 * math.log(10)) / (2 * 1000)) ** (1 / 3)
    assert blr_textbook(16, 8, 1000, 2, "0.1") == pytest.approx(value)


@pytest.mark.parametrize(("domain", "n", "runs"), [(200, 20_000, 2), pytest.param(1000, 3000, 20, marks=pytest.mark.slow)])
def test_the_promise_holds(domain: int, n: int, runs: int) -> None:
    """BLR run with the promised number of rows: no run beyond the bound that may fail 1 in 20 times."""
    promise = blr_accuracy(domain, domain, n, 1, 0.05)
    histogram = np.random.default_rng(2).multinomial(n, np.arange(1, domain + 1) / math.comb(domain + 1, 2))
    blr = BLRThresholds(epsilon=1, domain=domain, rows=promise.rows, adjacency="replace-one")
    queries = Queries.thresholds(domain)
    truth = queries.answers(histogram)
    for seed in range(runs):
        small = blr.sample(histogram, Seeded(seed))
        assert abs(small.answers(queries) - truth).max() <= n * promise.share + 1


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "x", True])
def test_wrong_numbers(wrong: int) -> None:
    with pytest.raises(Invalid):
        good_size(wrong, 0.1)
    with pytest.raises(Invalid):
        good_size_vc(wrong, 0.1)
    with pytest.raises(Invalid):
        Multisets(wrong, 1)
    with pytest.raises(Invalid):
        blr_accuracy(10, wrong, 10, 1, 0.1)


def test_wrong_accuracy() -> None:
    for wrong in (0, 1, -1, "2"):
        with pytest.raises(Invalid, match="accuracy"):
            good_size(10, wrong)
    with pytest.raises(Invalid, match="beta"):
        blr_accuracy(10, 10, 10, 1, 0)
