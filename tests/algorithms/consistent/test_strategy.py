"""What is measured has the least variance: the closed form for CUBE, chains, and what no small change improves."""

from __future__ import annotations

from itertools import combinations
from math import prod, sqrt

import numpy as np
import pytest

from discreet.algorithms.consistent.layout import Layout, Table
from discreet.algorithms.consistent.strategy import spread, strategy, total_error, total_variance, worst_error


def cube(keys: int) -> tuple[Table, ...]:
    return tuple(Table(0, flat) for length in range(keys, -1, -1) for flat in combinations(range(keys), length))


@pytest.mark.parametrize("sizes", [(16, 5, 2), (2, 2), (7,), (3, 4, 5, 2), (100, 50)])
def test_a_cube_has_the_least_variance_that_any_measurement_has(sizes: tuple[int, ...]) -> None:
    layout, asked = Layout((), sizes), cube(len(sizes))
    shares = strategy(layout, asked, gaussian=True)
    assert sum(shares.values()) == pytest.approx(1)
    assert total_variance(layout, shares, asked, True) == pytest.approx(prod((n - 1 + sqrt(n + 1)) ** 2 / n for n in sizes), rel=2e-3)


def test_the_example_of_the_documentation() -> None:
    """16 × 5 × 2: 3.45 times less than asking separately with equal shares, 2.15 times less than with the best ones."""
    layout, asked = Layout((), (16, 5, 2)), cube(3)
    together = total_variance(layout, strategy(layout, asked, gaussian=True), asked, True)
    sizes = [layout.cells(table) for table in asked]
    assert len(sizes) * sum(sizes) / together == pytest.approx(3.45, abs=0.01)
    assert sum(map(sqrt, sizes)) ** 2 / together == pytest.approx(2.15, abs=0.01)


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0, 1.0), (1.0, 0.5, 4.0, 200.0)])
def test_a_chain_has_the_least_variance(weights: tuple[float, ...]) -> None:
    """For nested tables each residual has a variance of its own, so the least is (Σ √(dimension · Σ of what it enters))²."""
    layout, asked = Layout((), (6, 5, 4)), (Table(0, (0, 1, 2)), Table(0, (0, 1)), Table(0, (0,)), Table(0, ()))
    total, before, least = 120, 0, 0.0
    for table in reversed(asked):
        dimension = layout.cells(table) - before
        enters = sum(weight * total / layout.cells(other) for other, weight in zip(asked, weights, strict=True) if table.within(other))
        least += dimension * sqrt(enters / total)
        before = layout.cells(table)
    shares = strategy(layout, asked, total_error(weights))
    assert total_variance(layout, shares, asked, True, weights=weights) == pytest.approx(least**2, rel=2e-3)


TREE = Layout(((0,) * 5, tuple(i // 3 for i in range(15)), tuple(i // 7 for i in range(105))), (2,))
ASKED = [
    (Layout((), (4, 3, 5)), (Table(0, (0, 1)), Table(0, (1, 2)), Table(0, (0, 2)))),
    (Layout((), (8, 8)), (Table(0, (0,)), Table(0, (1,)))),
    (TREE, (Table(3, (0,)), Table(3, ()), Table(2, (0,)), Table(1, ()), Table(0, ()))),
]


@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize(("layout", "asked"), ASKED)
def test_no_small_change_improves_it(layout: Layout, asked: tuple[Table, ...], gaussian: bool) -> None:
    shares = strategy(layout, asked, gaussian=gaussian)
    least = total_variance(layout, shares, asked, gaussian)
    rng = np.random.default_rng(0)
    for _ in range(20):
        moved = {table: share * float(np.exp(rng.normal(scale=0.1))) for table, share in shares.items()}
        moved = {table: share / sum(moved.values()) for table, share in moved.items()}
        assert total_variance(layout, moved, asked, gaussian) > least * (1 - 2e-3)


def test_the_worst_is_as_small_as_it_can_be() -> None:
    layout, asked = Layout((), (16, 5, 2)), cube(3)
    found = spread(layout, strategy(layout, asked, gaussian=True, errors=worst_error(layout, asked)), asked, True)
    usual = spread(layout, strategy(layout, asked, gaussian=True), asked, True)
    assert max(one[0] for one in found.values()) < 0.3 * max(one[0] for one in usual.values())
    assert max(one[0] for one in found.values()) < 1.01 * min(one[0] for one in found.values())


def test_a_weight_makes_a_table_more_accurate() -> None:
    layout, asked = Layout((), (16, 5, 2)), cube(3)
    heavy = spread(layout, strategy(layout, asked, gaussian=True, errors=total_error((1, 1, 1, 1, 1, 1, 1, 500))), asked, True)
    usual = spread(layout, strategy(layout, asked, gaussian=True), asked, True)
    assert heavy[asked[-1]][0] < 0.5 * usual[asked[-1]][0]


def test_a_finest_table_that_costs_less_is_measured_more() -> None:
    layout, asked = Layout((), (16, 5)), cube(2)
    usual, cheap = (strategy(layout, asked, gaussian=True, finest_cost=cost) for cost in (1.0, 0.1))
    assert cheap[layout.finest] > usual[layout.finest]


def test_a_table_with_a_tiny_weight_is_determined() -> None:
    layout, asked = Layout((), (3, 4)), (Table(0, (0,)), Table(0, (1,)))
    shares = strategy(layout, asked, ((1 / 3, 0.0), (0.0, 1e-14 / 4)), True)
    assert all(any(table.within(one) for one in shares) for table in asked)
    assert sum(shares.values()) == pytest.approx(1)


WEIGHTS = (5.0, 0.1, 3.0, 1.0, 1.0, 20.0, 1.0, 40.0)


@pytest.mark.parametrize("gaussian", [True, False])
def test_no_other_goal_has_less_of_what_is_minimised(gaussian: bool) -> None:
    """The shares for each goal are at least as good at it as those for the others."""
    layout, asked = Layout((), (16, 5, 2)), cube(3)
    goals = {"total": (), "weighted": total_error(WEIGHTS), "worst": worst_error(layout, asked)}
    found = {name: strategy(layout, asked, errors, gaussian) for name, errors in goals.items()}
    assert all(sum(shares.values()) == pytest.approx(1) for shares in found.values())
    for name, shares in found.items():
        assert total_variance(layout, found["weighted"], asked, gaussian, weights=WEIGHTS) <= 1.002 * total_variance(
            layout, shares, asked, gaussian, weights=WEIGHTS
        ), name
        largest = {one: max(float(each[0]) for each in spread(layout, found[one], asked, gaussian).values()) for one in (name, "worst")}
        assert largest["worst"] <= 1.01 * largest[name]


def test_the_worst_with_laplace_noise() -> None:
    """Where the variance is no convex function, the finest table and the total are better than equal shares of all tables."""
    layout, asked = Layout((), (3, 4)), cube(2)
    found = spread(layout, strategy(layout, asked, worst_error(layout, asked), gaussian=False), asked, False)
    assert max(one[0] for one in found.values()) == pytest.approx(6.75, rel=1e-3)
