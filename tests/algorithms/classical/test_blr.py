"""BLR: its exact law against brute force, exhaustive neighbours, broken variants, accuracy."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scripted import Seeded

from discreet import exact
from discreet.algorithms.classical.blr import BLR
from discreet.algorithms.classical.linear import Queries
from discreet.errors import Error, Invalid
from discreet.private import Private

Data = tuple[int, ...]
Law = dict[Data, Any]  # chance of each small database: a Fraction or a ball


# ── the brute force ──────────────────────────────────────────────────────────────────────────────────────────────────


def histograms(domain: int, records: int) -> list[Data]:
    """All data sets of so many records."""
    return [tuple(np.bincount(v, minlength=domain).tolist()) for v in itertools.combinations_with_replacement(range(domain), records)]


def neighbours(x: Data, adjacency: str) -> Iterator[Data]:
    """All neighbours that lose a record, or in which one is replaced."""
    for i in range(len(x)):
        if x[i]:
            less = tuple(c - (i == k) for k, c in enumerate(x))
            if adjacency == "add/remove":
                yield less
            else:
                yield from (tuple(c + (j == k) for k, c in enumerate(less)) for j in range(len(x)) if j != i)


def levels(queries: Queries, x: Data, rows: int) -> dict[Data, int]:
    """⌈max_q |q(x) − n·q(y)/m|⌉ by the definition, in fractions."""
    n, out = sum(x), {}
    for y in histograms(queries.domain, rows):
        worst = Fraction(0)
        for q in queries.matrix.tolist():
            of_x, of_y = (sum(Fraction(v, queries.top) * c for v, c in zip(q, h, strict=True)) for h in (x, y))
            worst = max(worst, abs(of_x - n * of_y / rows))
        out[y] = math.ceil(worst)
    return out


def exponential(levels: dict[Data, int], t: Any) -> Law:
    """∝ t^level."""
    total = sum(t**level for level in levels.values())
    return {y: t**level / total for y, level in levels.items()}


def leak(law: Callable[[Data], Law], data: list[Data], adjacency: str) -> float:
    """The largest log-ratio of chances over all neighbours and outputs, rounded up; ∞ where one is 0 and the other not."""
    with exact.precision(256):
        laws, worst = {x: law(x) for x in data}, Fraction(0)
        for x in data:
            for z in neighbours(x, adjacency):
                if laws[x].keys() != laws[z].keys():
                    return math.inf
                for y, p in laws[x].items():
                    worst = max(worst, exact.upper(abs((p / laws[z][y]).log())))
        return exact.float_up(worst)


def all_data(domain: int, most: int, adjacency: str) -> list[Data]:
    sizes = range(most + 1) if adjacency == "add/remove" else [most]
    return [x for n in sizes for x in histograms(domain, n)]


def ball_power(rate: Fraction) -> Any:
    return (-exact.ball(rate)).exp()


# ── what the code draws from ─────────────────────────────────────────────────────────────────────────────────────────


def code_law(blr: BLR, x: Data, t: Any) -> Law:
    """The law of `choose`, step by step: a level ∝ count·t^level, then each place of it alike; or ∝ t^level over candidates."""
    found = blr.levels(x)
    total = sum(size * t**level for level, size in found.items())
    law: Law = {}
    if blr.candidates is not None:
        for y in map(tuple, blr.candidates.tolist()):
            alone = BLR(epsilon=1, queries=blr.queries, rows=blr.rows, sampler="candidates", candidates=[y])
            law[y] = law.get(y, 0) + t ** next(iter(alone.levels(x))) / total
        return law
    for level, size in found.items():
        for place in range(size):
            y = tuple(blr.find(x, level, place).tolist())
            law[y] = law.get(y, 0) + (size * t**level / total) / size
    return law


QUERIES = {
    "thresholds": Queries.thresholds(3),
    "points": Queries.points(4),
    "averages": Queries([[0, 1, 4], [3, 2, 0]], top=4),
    "marginals": Queries.marginals((2, 2), 1),
}


@pytest.mark.parametrize("name", QUERIES)
def test_the_law_is_the_definition(name: str) -> None:
    """Exactly, with a rational in place of e^(−ε/2): all data sets of up to 4 records."""
    queries = QUERIES[name]
    blr = BLR(epsilon=1, queries=queries, rows=3)
    for x in all_data(queries.domain, 4, "add/remove"):
        assert code_law(blr, x, Fraction(2, 3)) == exponential(levels(queries, x, 3), Fraction(2, 3))


CASES = [
    (Queries.thresholds(3), 6, 3), (Queries.points(3), 6, 2), (Queries.thresholds(5), 5, 2), (Queries.points(4), 5, 3),
    (Queries.marginals((2, 2), 1), 5, 4), (QUERIES["averages"], 6, 3), (Queries.intervals(3), 5, 5),
]  # fmt: skip


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_private_over_all_neighbours(case: int, adjacency: Any) -> None:
    """Certified: the choice never has a log-ratio above what it is charged, whatever the records."""
    queries, most, rows = CASES[case]
    blr = BLR(epsilon="1.5", queries=queries, rows=rows, adjacency=adjacency)
    charged = blr.steps[-1].epsilon
    found = leak(
        lambda x: exponential(levels(queries, x, rows), ball_power(blr.rate)), all_data(queries.domain, most, adjacency), adjacency
    )
    assert charged is not None
    assert float(charged) / 4 < found <= charged


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
def test_the_code_is_private_over_all_neighbours(adjacency: Any) -> None:
    """The same on what the code counts and finds, |D| = 4, up to 5 records, and with candidates."""
    queries = Queries.points(4)
    some = np.array([[2, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1], [0, 2, 0, 0]])
    for blr in (
        BLR(epsilon=1, queries=queries, rows=2, adjacency=adjacency),
        BLR(epsilon=1, queries=queries, rows=2, adjacency=adjacency, sampler="candidates", candidates=some),
    ):
        found = leak(lambda x, blr=blr: code_law(blr, x, ball_power(blr.rate)), all_data(4, 5, adjacency), adjacency)
        assert 0.2 < found <= blr.steps[-1].epsilon <= 1


def all_within(law: Callable[[Data], Law], t: Fraction) -> int:
    """Hold p ≤ p′/t² exactly for all data sets of 6 records over 5 values and all replacements; give how many pairs of chances."""
    laws, compared = {x: law(x) for x in histograms(5, 6)}, 0
    assert len(laws) == 210
    for x, chances in laws.items():
        assert sum(chances.values()) == 1
        for z in neighbours(x, "replace-one"):
            assert chances.keys() == laws[z].keys()
            assert all(p <= laws[z][y] / t**2 for y, p in chances.items())
            compared += len(chances)
    return compared


def test_five_values_six_records() -> None:
    """The largest case, on what the code counts and finds, with 1/2 for e^(−ε/2), that is ε = 2 ln 2: exact fractions."""
    queries, t = Queries.thresholds(5), Fraction(1, 2)
    every = BLR(epsilon=1, queries=queries, rows=3)
    assert all_within(lambda x: code_law(every, x, t), t) == 2520 * 35
    listed = BLR(epsilon=1, queries=queries, rows=3, sampler="candidates", candidates=histograms(5, 3)[::6])
    assert all_within(lambda x: code_law(listed, x, t), t) == 2520 * 6
    with pytest.raises(AssertionError):
        all_within(lambda x: code_law(every, x, t**2), t)


# ── broken variants ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_half_the_sensitivity_is_caught() -> None:
    queries, blr = Queries.thresholds(3), BLR(epsilon=1, queries=Queries.thresholds(3), rows=3, adjacency="replace-one")
    broken = leak(lambda x: exponential(levels(queries, x, 3), ball_power(2 * blr.rate)), histograms(3, 6), "replace-one")
    assert broken > 1


def test_rounding_the_data_first_is_caught() -> None:
    """m·q(x)/n rounded down to whole rows before it is compared: one record may move the score by n/m. But ⌊L/m⌋ is 1-Lipschitz."""
    queries, rows, n = Queries.thresholds(3), 2, 6

    def jumping(x: Data) -> Law:
        down = rows * queries.answers(x) // n
        return exponential(
            {y: int(n / rows * abs(down - queries.answers(y)).max()) for y in histograms(3, rows)}, ball_power(Fraction(1, 2))
        )

    def floored(x: Data) -> Law:
        gaps = {y: int(abs(rows * queries.answers(x) - n * queries.answers(y)).max()) // rows for y in histograms(3, rows)}
        return exponential(gaps, ball_power(Fraction(1, 2)))

    assert leak(jumping, histograms(3, n), "replace-one") > 1
    assert leak(floored, histograms(3, n), "replace-one") <= 1


def test_candidates_from_the_data_are_caught() -> None:
    queries = Queries.thresholds(3)

    def own(x: Data) -> Law:
        inside = {y: level for y, level in levels(queries, x, 2).items() if all(a or not b for a, b in zip(x, y, strict=True))}
        return exponential(inside, ball_power(Fraction(1, 2)))

    assert leak(own, histograms(3, 4), "replace-one") == math.inf


def test_a_level_not_weighed_by_its_size_is_another_law() -> None:
    """Drawing the level ∝ t^level alone: private or not, it is not BLR."""
    blr, x, t = BLR(epsilon=1, queries=Queries.thresholds(3), rows=3), (3, 1, 2), Fraction(2, 3)
    found = blr.levels(x)
    wrong = {level: t**level / sum(t**k for k in found) / size for level, size in found.items()}
    right = code_law(blr, x, t)
    assert any(wrong[level] != right[y] for y, level in levels(blr.queries, x, 3).items())


# ── drawing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def surprise(draw: Callable[[int], Data], law: Law, times: int) -> float:
    """The p-value of χ² against a law."""
    seen = Counter(draw(seed) for seed in range(times))
    assert seen.keys() <= law.keys()
    return float(stats.chisquare([seen[y] for y in law], [float(p) * times for p in law.values()]).pvalue)


@pytest.mark.parametrize("sampler", ["enumerate", "candidates"])
def test_draws_follow_the_law(sampler: Any) -> None:
    queries, x = Queries.thresholds(3), (4, 0, 3)
    given = histograms(3, 2) if sampler == "candidates" else None
    blr = BLR(epsilon=1, queries=queries, rows=2, sampler=sampler, candidates=given, adjacency="replace-one")
    law = exponential(levels(queries, x, 2), math.exp(-0.5))
    assert surprise(lambda seed: tuple(blr.sample(x, Seeded(seed)).histogram.tolist()), law, 4000) > 1e-4
    other = exponential(levels(queries, x, 2), math.exp(-0.35))
    assert surprise(lambda seed: tuple(blr.sample(x, Seeded(seed)).histogram.tolist()), other, 4000) < 1e-6


def test_blocks_are_joined() -> None:
    """More multisets than a block holds: levels and places go on from block to block."""
    queries = Queries(np.eye(6, dtype=np.int64)[np.arange(30_000) % 6])
    blr = BLR(epsilon=1, queries=queries, rows=3)  # blocks of 34
    plain = BLR(epsilon=1, queries=Queries.points(6), rows=3)
    x = [5, 0, 2, 9, 1, 1]
    assert blr.levels(x) == plain.levels(x)
    for level, size in plain.levels(x).items():
        for place in {0, size // 2, size - 1}:
            assert blr.find(x, level, place).tolist() == plain.find(x, level, place).tolist()
        with pytest.raises(Invalid, match="fewer"):
            plain.find(x, level, size)


def test_the_price_adds_up() -> None:
    queries = Queries.thresholds(4)
    for adjacency, count in (("add/remove", 2), ("replace-one", 1)):
        blr = BLR(epsilon="0.7", queries=queries, rows=2, adjacency=adjacency)  # type: ignore[arg-type]
        small = blr.sample([3, 1, 0, 2], Seeded(0))
        assert len(small.steps) == count
        assert sum(step.epsilon or 0 for step in small.steps) == blr.loss.epsilon == Fraction(7, 10)
        assert blr.loss.epsilon_at(0) == pytest.approx(0.7)
        assert small.rows == 2
        assert small.records == 6 or adjacency == "add/remove"
    assert BLR(epsilon=1, queries=queries, rows=2, size_share="0.25").steps[0].epsilon == Fraction(1, 4)


# ── accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize("x", [(40, 0, 0, 0), (10, 10, 10, 10), (1, 30, 2, 7), (0, 39, 1, 0)])
def test_the_stated_error_holds(x: Data, confidence: str) -> None:
    """By the exact law: the chance of a larger error is at most what was said; and so is that of a choice far from the best."""
    queries, rows, n = Queries.thresholds(4), 8, 40
    blr = BLR(epsilon=2, queries=queries, rows=rows, adjacency="replace-one")
    law = exponential(levels(queries, x, rows), math.exp(-1))
    truth = queries.answers(x)
    off = {y: max(abs(float(a) - n * int(b) / rows) for a, b in zip(truth, queries.answers(y), strict=True)) for y in law}
    miss = 1 - float(confidence)
    assert sum(p for y, p in law.items() if off[y] > blr.error(confidence, n)) <= miss
    beyond = blr.error(confidence, n) - n * math.sqrt(math.log(8) / (2 * rows))
    assert sum(p for y, p in law.items() if off[y] > min(off.values()) + beyond) <= miss
    listed = BLR(epsilon=2, queries=queries, rows=rows, adjacency="replace-one", sampler="candidates", candidates=histograms(4, rows))
    assert listed.error(confidence, n) == pytest.approx(beyond)


def test_error_under_add_remove_counts_the_size() -> None:
    queries = Queries.thresholds(4)
    open_n = BLR(epsilon=1, queries=queries, rows=8, adjacency="replace-one").error(0.9, 1000)
    assert BLR(epsilon=1, queries=queries, rows=8).error(0.9, 1000) > open_n + 10


# ── slips ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_wrong_settings() -> None:
    queries = Queries.thresholds(3)
    for wrong, says in (
        ({"rows": 0}, "rows"), ({"epsilon": 0}, "epsilon"), ({"sampler": "mcmc"}, "Markov"), ({"adjacency": "swap"}, "adjacency"),
        ({"candidates": [[1, 1, 0]]}, "needs candidates="), ({"sampler": "candidates"}, "needs candidates="),
        ({"size_share": 1}, "size_share"),
        ({"sampler": "candidates", "candidates": [[1, 1, 1]]}, "2 rows"), ({"sampler": "candidates", "candidates": [[1, 1]]}, "3 values"),
        ({"sampler": "candidates", "candidates": [[3, -1, 0]]}, "2 rows"), ({"sampler": "candidates", "candidates": [0.5]}, "matrix"),
        ({"rows": 10**6, "queries": Queries.points(9)}, "too many"), ({"rows": 2**21}, "2\\^20"),
    ):  # fmt: skip
        with pytest.raises(Invalid, match=says):
            BLR(**{"epsilon": 1, "queries": queries, "rows": 2, **wrong})


def test_wrong_data() -> None:
    blr = BLR(epsilon=1, queries=Queries.thresholds(3), rows=2)
    for wrong in ([1, 2], [1, 2, -1], [1.5, 2, 3], 7, [1, 2, 2**50], [1, None, 2], [[1, 2, 3]]):
        with pytest.raises(Invalid):
            blr.release(wrong)
    for hidden in ([-5, 2, 2**70], [0, 0, 0], [math.nan, 1, 2], [1.5, 2, 3]):  # nothing private is told by an error
        assert blr.release(Private(hidden)).rows == 2
    with pytest.raises(Error):
        blr.release(Private([1, 2]))  # how many values there are is public
