"""Sensitivities by brute force: every small database and every neighbour, in exact rationals."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.mechanisms import sensitivity

ADJACENCIES: list[Any] = ["add/remove", "replace-one"]


def moves(
    values: list[Fraction], sizes: range, adjacency: str, query: Callable[[tuple[Fraction, ...]], list[Fraction]]
) -> tuple[Fraction, ...]:
    """The largest ℓ₁, squared ℓ₂ and ℓ∞ move over all databases with entries among the values."""
    worst = [Fraction(0)] * 3
    for n in sizes:
        for rows in itertools.product(values, repeat=n):
            others = [(*rows, v) for v in values] if adjacency == "add/remove" else [(*rows[:-1], v) for v in values] if n else []
            for other in others:
                d = [abs(a - b) for a, b in zip(query(rows), query(other), strict=True)]
                worst = [max(worst[0], sum(d, Fraction(0))), max(worst[1], sum((x * x for x in d), Fraction(0))), max(worst[2], *d)]
    return tuple(worst)


def holds(stated: sensitivity.Sensitivity, found: tuple[Fraction, ...]) -> bool:
    """Stated exactly, and the Euclidean norm rounded up by less than a millionth."""
    return stated.l1 == found[0] and stated.linf == found[2] and 0 <= stated.l2**2 - found[1] <= Fraction(1, 10**6)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_counting_and_histograms(adjacency: Any) -> None:
    values = [Fraction(v) for v in range(3)]
    assert holds(sensitivity.counting(adjacency), moves(values, range(4), adjacency, lambda r: [Fraction(sum(x > 0 for x in r))]))
    cells = moves(values, range(4), adjacency, lambda r: [Fraction(sum(x == v for x in r)) for v in values])
    assert holds(sensitivity.histogram(adjacency), cells)
    assert sensitivity.histogram(adjacency).l1 == (2 if adjacency == "replace-one" else 1)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("lower", "upper"), [(0, 500), (-1, 1), (-3, 1), (2, 5)])
def test_totals(lower: int, upper: int, adjacency: Any) -> None:
    values = [Fraction(lower), Fraction(lower + upper, 2), Fraction(upper)]
    found = moves(values, range(4), adjacency, lambda r: [sum(r, Fraction(0))])
    assert holds(sensitivity.total(lower, upper, adjacency), found)


@pytest.mark.parametrize(("lower", "upper"), [(0, 100), (-1, 1)])
@pytest.mark.parametrize("size", [1, 3])
def test_means(lower: int, upper: int, size: int) -> None:
    """A mean salary in [0, M] and a mean of values in [−1, 1]: (upper − lower)/n, replaced; /(n + 1), added."""
    values = [Fraction(lower), Fraction(upper)]
    for adjacency, sizes in (("replace-one", range(size, size + 1)), ("add/remove", range(size, size + 3))):
        found = moves(values, sizes, adjacency, lambda r: [sum(r, Fraction(0)) / len(r)])
        assert holds(sensitivity.mean(lower, upper, size, adjacency), found)  # type: ignore[arg-type]
    assert sensitivity.averaging(size) == sensitivity.mean(0, 1, size)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_cells(adjacency: Any) -> None:
    """A unit in at most two of four groups, at most 3 in each; replaced, it may leave two and enter two others."""
    units = [tuple(Fraction(3 * (i in chosen)) for i in range(4)) for k in range(3) for chosen in itertools.combinations(range(4), k)]
    pairs = [(u, v) for u in units for v in units] if adjacency == "replace-one" else [(u, units[0]) for u in units]
    l1 = max(sum(abs(a - b) for a, b in zip(u, v, strict=True)) for u, v in pairs)
    l2 = max(sum((a - b) ** 2 for a, b in zip(u, v, strict=True)) for u, v in pairs)
    stated = sensitivity.cells(2, 3, adjacency, signed=False)
    assert stated.l1 == l1
    assert 0 <= stated.l2**2 - l2 < Fraction(1, 10**6)
    assert stated.linf == 3


def test_signed_cells_under_replacement() -> None:
    """Two of three entries, each in −3 … 3: one may turn from −3 to 3."""
    units = [u for u in itertools.product((-3, 0, 3), repeat=3) if sum(x != 0 for x in u) <= 2]
    moves = [[a - b for a, b in zip(u, v, strict=True)] for u in units for v in units]
    stated = sensitivity.cells(2, 3, "replace-one")
    assert stated.l1 == max(sum(map(abs, m)) for m in moves)
    assert 0 <= stated.l2**2 - max(sum(x * x for x in m) for m in moves) < Fraction(1, 10**6)
    assert stated.linf == max(max(map(abs, m)) for m in moves)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: sensitivity.counting("both"),  # type: ignore[arg-type]
        lambda: sensitivity.total(1, 1),
        lambda: sensitivity.total(0, float("inf")),
        lambda: sensitivity.mean(0, 1, 0),
        lambda: sensitivity.cells(0),
        lambda: sensitivity.cells(1, -1),
        lambda: sensitivity.mean(0, "x", 1),
    ],
)
def test_wrong_parameters(wrong: Callable[[], Any]) -> None:
    with pytest.raises(Invalid):
        wrong()
