"""The tree mechanism: fresh noise for each node; its error, exactly and by simulation."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.streams.nodes import nodes
from scripted import Scripted, Seeded

from discreet.errors import Invalid
from discreet.mechanisms.streams.tree import Tree, TreeRun, published_error
from discreet.mechanisms.streams.tree_nodes import best_arity, l1_sensitivity
from discreet.noise.laplace import DiscreteLaplace
from discreet.private import Private


@pytest.mark.parametrize("arity", [2, 3, 5, 100])
def test_a_run_measures_the_nodes(arity: int) -> None:
    values = [3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, -2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7]
    run = Tree(epsilon=10**6, horizon=30, arity=arity).open()
    totals = run.add_many(Private(values))  # noise of scale 5·10⁻⁶ is 0
    assert run.measured == (nodes(30, arity) @ np.array(values)).tolist()
    assert totals == list(itertools.accumulate(values))


def noised_nodes(run: type[TreeRun], horizon: int) -> set[int]:
    """The steps whose own coin changes their own measurement and no other."""
    mechanism, quiet, loud = Tree(epsilon=1, horizon=horizon), 2**64 - 2, 2**30
    still = run(mechanism, (), Scripted([quiet] * horizon))
    still.add_many(Private([0] * horizon))
    found = set()
    for at in range(horizon):
        moved = run(mechanism, (), Scripted([loud if i == at else quiet for i in range(horizon)]))
        moved.add_many(Private([0] * horizon))
        if [i for i in range(horizon) if moved.measured[i] != still.measured[i]] == [at]:
            found.add(at)
    return found


def test_every_node_has_fresh_noise() -> None:
    assert noised_nodes(TreeRun, 16) == set(range(16))


def test_a_level_without_noise_is_seen() -> None:
    class Bare(TreeRun):  # type: ignore[misc]
        def _advance(self, values: list[int], measured: list[int] | None) -> Any:
            drawn = self._law.sample(len(values), self._bits).tolist()
            exactly = [int(row @ np.array(values)) for row in nodes(len(values))]
            told = [one + (more if i % 2 else 0) for i, (one, more) in enumerate(zip(exactly, drawn, strict=True))]
            return super()._advance(values, told)

    assert noised_nodes(Bare, 16) == {i for i in range(16) if i % 2}


@pytest.mark.parametrize(("horizon", "k"), [(1, 1), (7, 2), (8, 3), (100, 5), (365, 40)])
def test_the_loss_is_what_the_nodes_cost(horizon: int, k: int) -> None:
    pure = Tree(epsilon="1/3", horizon=horizon, sensitivity=4, contributions=k)
    assert pure.loss.epsilon == Fraction(1, 3)
    assert pure.scale == 3 * 4 * l1_sensitivity(horizon, k)
    assert pure.loss_at(3).epsilon == 1
    smooth = Tree(rho="1/8", horizon=horizon, sensitivity=3, contributions=k)
    assert smooth.loss.rho is not None
    assert Fraction(1, 8) * (1 - Fraction(1, 2**30)) < smooth.loss.rho <= Fraction(1, 8)
    assert smooth.loss_at(2).rho == 4 * smooth.loss.rho
    mixed = Tree(epsilon=1, delta="1e-6", horizon=horizon, contributions=k)
    assert 0.999 < mixed.loss.epsilon_at(1e-6) <= 1


def test_the_best_arity_halves_the_error_of_laplace_noise() -> None:
    assert best_arity(365, 1) == 20
    for horizon, k in ((365, 1), (365, 5), (2**20, 1)):
        binary, best = (Tree(epsilon=1, horizon=horizon, contributions=k, arity=arity) for arity in (2, None))
        assert best.error(size=horizon) < 0.6 * binary.error(size=horizon)
        assert best.loss.epsilon == binary.loss.epsilon == 1
    assert Tree(rho=1, horizon=2**20, arity=None).error() < 0.9 * Tree(rho=1, horizon=2**20).error()


def test_one_noise_reaches_as_far_as_the_law_says() -> None:
    mechanism = Tree(epsilon="1/2", horizon=1)
    assert mechanism.error(0.95) == DiscreteLaplace(Fraction(2)).quantile(Fraction(95, 100))


@pytest.mark.parametrize("kind", [{"epsilon": 1}, {"rho": "1/2"}, {"epsilon": 1, "arity": 4}])
def test_the_error_holds_and_is_not_far_off(kind: dict[str, Any]) -> None:
    """3000 runs at fixed coins; a true miss of 10 % would be seen as more than 13.3 % once in 10⁹ choices of coins."""
    mechanism, bits = Tree(horizon=63, **kind), Seeded(5)
    errors = np.array([mechanism.sample([0] * 63, bits) for _ in range(3000)], float)
    assert (abs(errors).max(axis=1) > mechanism.error(0.9, size=63)).mean() < 0.133
    assert (abs(errors).max(axis=1) > mechanism.error(0.9, size=63) / 2).mean() > 0.133
    assert (abs(errors[:, -1]) > mechanism.error(0.9)).mean() == pytest.approx(0.1, abs=0.034)
    week = errors[:, 7:] - errors[:, :-7]
    assert (abs(week).max(axis=1) > mechanism.error(0.9, size=56, window=7)).mean() < 0.133


def test_the_published_bound_is_above() -> None:
    for horizon in (16, 365, 2**20):
        for beta in (0.05, 0.001):
            mechanism = Tree(epsilon="1/2", horizon=horizon)
            assert mechanism.error(1 - beta) < published_error(horizon, 0.5, beta)
            assert mechanism.error(1 - beta, size=horizon) < published_error(horizon, 0.5, beta / horizon)


def test_memory_is_logarithmic() -> None:
    run = Tree(rho=1, horizon=2000).open()
    kept = []
    for _ in range(2000):
        run.add(Private(1))
        kept.append(run.numbers_kept)
    assert max(kept) <= 2 * (math.floor(math.log2(2000)) + 2) + 1


def test_it_halts_at_its_horizon() -> None:
    run = Tree(epsilon=1, horizon=3).open()
    run.add_many([1, 2])
    with pytest.raises(Invalid, match="horizon of 3 steps"):
        run.add_many(Private([1, 2]))
    run.add(1)
    assert run.halted
    with pytest.raises(Invalid, match="open a new run"):
        run.add(1)
    with pytest.raises(Invalid, match="horizon"):
        Tree(epsilon=1, horizon=3).release([1, 2, 3, 4])


def test_windows() -> None:
    run = Tree(epsilon=10**6, horizon=20).open(windows=(3, 7))
    for i in range(20):
        run.add(i)
        assert run.window(3) == sum(range(max(0, i - 2), i + 1))
        assert run.window(7) == sum(range(max(0, i - 6), i + 1))
    with pytest.raises(Invalid, match="windows="):
        run.window(5)
    with pytest.raises(Invalid, match="a window"):
        Tree(epsilon=1, horizon=20).open(windows=(0,))


@pytest.mark.parametrize("kind", [{"epsilon": 1}, {"rho": 1}, {"rho": "1e-12"}])
def test_a_run_is_taken_up_where_it_was_left(kind: dict[str, Any]) -> None:
    mechanism, values = Tree(horizon=50, **kind), list(range(50))
    first = TreeRun(mechanism, (7,), Seeded(1))
    told = first.add_many(values[:23])
    again = TreeRun(mechanism, (7,), Seeded(2))
    assert again.follow(Private(values[:23]), first.measured) == told
    assert again.window(7) == first.window(7)
    first._bits = again._bits = Seeded(3)
    left = first.add_many(values[23:])
    again._bits = Seeded(3)
    assert again.add_many(values[23:]) == left
    with pytest.raises(Invalid, match="one measurement"):
        mechanism.open().follow([1, 2], [1])


def test_wide_gaussian_noise_stays_on_the_whole_numbers() -> None:
    """Coarser grids than 1 would not hold the sums, whose rounding would then not be that of the noise alone."""
    assert Tree(rho="1e-14", horizon=4)._grid == 1
    assert Tree(rho=1, horizon=4)._grid < 1


@pytest.mark.parametrize(
    "odd",
    ["x", b"x", object(), {}, {1, 2}, 1j, math.nan, None, np.str_("7"), np.datetime64("NaT")],
    ids=lambda odd: "object" if type(odd) is object else str(odd),  # not its address: processes that share tests name them alike
)
def test_one_private_number_is_read_as_several_are(odd: Any) -> None:
    """Without noise to speak of: what is no number counts as 0, one by one and all at once."""
    one, many = (Tree(epsilon=10**6, horizon=2).open() for _ in range(2))
    assert one.add(Private(odd)) == many.add_many(Private([odd]))[0] == 0
    assert one.add(Private(np.array(7))) == 7


@pytest.mark.parametrize("kind", [{"epsilon": 1}, {"rho": 1}])
def test_the_noise_is_as_wide_as_is_said(kind: dict[str, Any]) -> None:
    mechanism = Tree(horizon=20, **kind)
    assert mechanism.open()._law.scale == mechanism.scale / (1 if mechanism.whole else mechanism._grid)


def test_the_widest_trees_say_their_error_soon() -> None:
    """Sums of up to 441 noises in 32 kinds; one table serves all of them (a table for each would take minutes)."""
    began = time.process_time()
    for horizon in (2**40, 10**5):
        widest = Tree(epsilon=1, horizon=horizon, arity=64)
        assert widest.error(after=horizon - 1) <= widest.error() <= widest.error(size=horizon)
    assert time.process_time() - began < 20


def test_kinds_of_totals() -> None:
    assert all(type(total) is int for total in Tree(epsilon=1, horizon=5).release([1, 2]))
    assert all(type(total) is float for total in Tree(rho=1, horizon=5).release(Private([1, 2])))
    assert type(Tree(epsilon=1, horizon=5).open().add(np.int64(3))) is int
    assert Tree(epsilon=1, horizon=5).open().add_many([]) == []


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, None, "x", 10**400, 1.5, 2**80])
def test_private_values_are_total(odd: Any) -> None:
    for kind in ({"epsilon": 1}, {"rho": 1}):
        run = Tree(horizon=4, **kind).open()
        assert math.isfinite(run.add(Private(odd)))
        assert len(run.add_many(Private([odd, 2, odd]))) == 3


@pytest.mark.parametrize("wrong", [1.5, math.nan, "1", None, [1, 2]])
def test_plain_values_are_checked(wrong: Any) -> None:
    run = Tree(epsilon=1, horizon=4).open()
    with pytest.raises(Invalid):
        run.add(wrong)
    with pytest.raises(Invalid):
        run.add_many([1, wrong])
    assert run.steps == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"epsilon": 0},
        {"epsilon": 1, "rho": 1},
        {"delta": "1e-6"},
        {"epsilon": 1, "horizon": 0},
        {"epsilon": 1, "horizon": 2**41},
        {"epsilon": 1, "contributions": 0},
        {"epsilon": 1, "arity": 1},
        {"epsilon": 1, "sensitivity": "1/2"},
        {"rho": 1, "sensitivity": "1/100"},
        {"epsilon": 1, "horizon": 10**4, "arity": 10**4},
        {"rho": 0},
    ],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Tree(**({"horizon": 10} | wrong))
