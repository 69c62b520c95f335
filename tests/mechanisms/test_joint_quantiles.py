"""Several quantiles in one draw: the exact law by enumeration of all outputs, and the code draws from it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake, fits, tally
from theorems.checker import Floats, Vector, profile_excess, worst_log_ratio

from discreet.errors import Invalid
from discreet.mechanisms import joint_quantiles
from discreet.mechanisms.joint_quantiles import JointQuantiles, windows
from discreet.mechanisms.quantile import Quantiles

TIGHT = 1 + 1e-9
QS = [("1/2",), ("1/4", "3/4"), ("1/4", "1/2", "3/4"), ("1/10", "1/5")]


def law(records: Vector, shares: tuple[Fraction, ...], rate: Fraction, size: int) -> dict[tuple[int, ...], float]:
    """The exponential mechanism over all ascending outputs on a line of `size` places; records at p are counted from p on."""
    targets = [share * len(records) for share in shares]
    weights = {}
    for out in itertools.combinations_with_replacement(range(size), len(shares) - 1):
        ranks = [sum(x <= z for x in records) for z in out]
        bins = [b - a for a, b in zip([0, *ranks], [*ranks, len(records)], strict=True)]
        weights[out] = math.exp(-float(rate * sum(abs(n - t) for n, t in zip(bins, targets, strict=True))))
    total = math.fsum(weights.values())
    return {out: weight / total for out, weight in weights.items()}


def outputs(records: Vector, mechanism: JointQuantiles, size: int, faster: int = 1) -> Floats:
    return np.array(list(law(records, mechanism.shares, mechanism.rate * faster, size).values()))


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("qs", QS, ids=str)
def test_no_output_tells_more_than_epsilon(qs: tuple[str, ...], adjacency: Any) -> None:
    """All small multisets of records on five places and all their neighbours; places inside grid points are such places."""
    mechanism = JointQuantiles(epsilon=1, qs=qs, lower=0, upper=4, step=1, adjacency=adjacency)
    pairs: list[tuple[Vector, Vector]] = []
    for n in range(5):
        for records in itertools.combinations_with_replacement(range(1, 5), n):
            for one in range(1, 5):
                if adjacency == "add/remove":
                    pairs.append((records, tuple(sorted((*records, one)))))
                elif n:
                    pairs += [(records, tuple(sorted((*records[:i], one, *records[i + 1 :])))) for i in range(n)]
    worst = worst_log_ratio(lambda records: outputs(records, mechanism, 5), pairs)
    assert 0.3 < worst <= TIGHT
    assert profile_excess(lambda records: outputs(records, mechanism, 5), pairs, mechanism.loss, [0.0, 0.1, 0.3]) <= TIGHT
    assert worst_log_ratio(lambda records: outputs(records, mechanism, 5, faster=4), pairs) > 1.2


@pytest.mark.parametrize("qs", QS, ids=str)
@pytest.mark.parametrize("records", [(), (3,), (1, 1, 2, 5, 5, 5, 7)], ids=str)
def test_the_code_draws_from_the_law(records: tuple[int, ...], qs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """With one place for each grid point, nothing is random but the draw."""
    monkeypatch.setattr(joint_quantiles, "_FINE", 1)
    mechanism = JointQuantiles(epsilon=3, qs=qs, lower=0, upper=7, step=1)
    seen = tally(lambda bits: tuple(int(z) for z in mechanism.sample(list(records), bits)), 2500, (records, qs))
    assert fits(seen, law(records, mechanism.shares, mechanism.rate, 8))
    if len(records) > 1:
        assert not fits(seen, law(records, mechanism.shares, mechanism.rate * 2, 8))


@pytest.mark.parametrize("slope", [0.0, 0.3, -0.7])
@pytest.mark.parametrize(("low", "high", "origin"), [(1, 1, 0), (1, 5, 3), (3, 40, 10), (2, 100, 2), (5, 4, 0), (60, 70, 0), (7, 13, 7)])
def test_windows_are_sums(slope: float, low: int, high: int, origin: int) -> None:
    logs = np.log(np.random.default_rng(3).random(50))
    logs[[4, 17]] = -math.inf
    found = windows(logs, low, high, slope, origin)
    for i in range(50):
        terms = [math.exp(logs[i - d] + slope * (d - origin)) for d in range(low, high + 1) if i >= d]
        total = math.fsum(terms)
        assert (found[i] == -math.inf) if not total else abs(found[i] - math.log(total)) < 1e-9


def test_the_acceptance_is_never_far_from_one_over_e() -> None:
    """The exactness needs f ≤ e·Z·g: the floats are close, so the ratio is near 1/e for every way that is drawn."""
    bits = Shake(1)
    for records, epsilon in ((np.arange(2000), "1"), (np.repeat([3, 5], 500), "1/10"), (np.arange(50), "500")):
        mechanism = JointQuantiles(epsilon=epsilon, qs=["1/4", "1/2", "9/10"], lower=0, upper=2000)
        edges = np.concatenate([[0], np.sort(records), [2001]]).astype(np.int64)
        draw = joint_quantiles._Draw(np.diff(edges), mechanism.shares, mechanism.rate)
        for _ in range(50):
            ways, chance = draw._propose(bits)
            weight, exponent = draw._exactly(ways)
            ratio = -float(exponent) - float(draw.log_total) + math.log(weight / chance)
            assert -1.1 < ratio < -0.9


def test_ties_and_a_large_table() -> None:
    mechanism = JointQuantiles(epsilon=1, qs=["1/4", "1/2", "3/4"], lower=0, upper=100, step=1)
    assert mechanism.sample([50] * 20_000, Shake(2)) == [50.0, 50.0, 50.0]
    found = mechanism.sample(list(range(101)) * 200, Shake(3))
    assert np.abs(np.array(found) - [25, 50, 75]).max() <= 1
    assert mechanism.sample([math.nan, math.inf, -math.inf], Shake(4)) == sorted(mechanism.sample([0, 100, 0], Shake(4)))
    assert mechanism.error(0.95) < Quantiles(epsilon=1, qs=["1/4", "1/2", "3/4"], lower=0, upper=100, step=1).error(0.95)


def test_parameters() -> None:
    with pytest.raises(Invalid, match="at most 12"):
        JointQuantiles(epsilon=1, qs=[f"{i}/20" for i in range(1, 15)], lower=0, upper=1)
    with pytest.raises(Invalid, match="2\\^20"):
        JointQuantiles(epsilon=2**21, qs=["1/2"], lower=0, upper=1)
    with pytest.raises(Invalid, match="ascending"):
        JointQuantiles(epsilon=1, qs=["1/2", "1/4"], lower=0, upper=1)
