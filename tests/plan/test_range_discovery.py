"""A range from one noisy histogram: both ends, neither crossed, or nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.plan.range_discovery import LOWEST, PLACES, TOP, RangeDiscovery
from discreet.query.relation.expr import Column

BOTH = ("low", "high")


def discovery(epsilon: str = "1/10", ends: tuple[str, ...] = BOTH, one_row: bool = True, adjacency: str = "add/remove") -> RangeDiscovery:
    return RangeDiscovery(Column("x"), "x", ends, one_row, Fraction(epsilon), adjacency)  # type: ignore[arg-type]


def counts(**at: int) -> np.ndarray:
    """Counts at steps of the grid: `m3=5` is 5 at step −3, `p2=7` is 7 at step 2."""
    found = np.zeros(PLACES, np.int64)
    for name, count in at.items():
        found[TOP + int(name[1:]) * (-1 if name[0] == "m" else 1)] = count
    return found


@pytest.mark.parametrize(
    ("at", "low", "high"),
    [
        ({"p32": 5000}, Fraction(2) ** (31 + LOWEST), Fraction(2) ** (32 + LOWEST)),  # one cell: its ends
        ({"p32": 5000, "p33": 4000}, Fraction(0), Fraction(2) ** (33 + LOWEST)),  # a quarter of the upper end or less becomes 0
        ({"m32": 5000}, -(Fraction(2) ** (32 + LOWEST)), -(Fraction(2) ** (31 + LOWEST))),
        ({"m25": 5000, "p25": 5000}, -(Fraction(2) ** (25 + LOWEST)), Fraction(2) ** (25 + LOWEST)),
        ({"p0": 5000}, Fraction(0), Fraction(1)),
    ],
)
def test_the_ends_are_those_of_the_outermost_cells(at: dict[str, int], low: Fraction, high: Fraction) -> None:
    assert discovery().read(counts(**at), sum(at.values())) == {"low": low, "high": high}


def test_nothing_is_found_below_the_noise() -> None:
    one = discovery()
    few = int(one.clear * 0.9)
    assert one.read(counts(p30=few), few) is None
    assert one.read(counts(), 0) is None


def test_a_range_that_holds_too_few_of_all_is_not_believed() -> None:
    """Half of a table's fares were 0, and a range of 0 to 1 was once believed."""
    assert discovery().read(counts(p0=5000), 5500) is not None
    assert discovery().read(counts(p0=5000), 12_000) is None


def test_only_open_ends_are_told() -> None:
    assert discovery(ends=("high",)).read(counts(p32=5000), 5000) == {"high": Fraction(2) ** (32 + LOWEST)}


def test_one_unit_changes_the_histogram_by_one() -> None:
    assert discovery().mechanism.sensitivity == 1
    assert discovery(adjacency="replace-one").mechanism.sensitivity == 2
    several = discovery(one_row=False)
    assert several.mechanism.sensitivity == several.bounding.one
    assert float(several.mechanism.scale / several.bounding.one) == pytest.approx(float(discovery().mechanism.scale))
    assert discovery().loss.epsilon == Fraction(1, 10)
    assert discovery().counting.sensitivity == 1


def test_no_pair_of_ends_is_ever_crossed() -> None:
    """Twenty thousand histograms, of noise with and without rows in them."""
    rng, one = np.random.default_rng(8), discovery("1/2")
    scale = float(one.mechanism.scale)
    found = 0
    for trial in range(20_000):
        noisy = rng.laplace(0, scale, PLACES).round().astype(np.int64)
        if trial % 2:
            middle = rng.integers(5, PLACES - 5)
            noisy[middle : middle + 3] += rng.integers(0, 200, 3)
        ends = one.read(noisy, int(noisy.sum()))
        if ends is not None:
            found += 1
            assert ends["low"] < ends["high"]
    assert 200 < found < 12_000
