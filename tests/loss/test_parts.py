"""Units in some of many parts: what several of them cost together, against every way they can lie and against the mechanism's own law."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator

import numpy as np
import pytest
from theorems import laws

from discreet.loss.leaves import BoundedRange, LaplaceLoss
from discreet.loss.loss import Group, compose, parallel
from discreet.loss.notions import Approx, Revealed
from discreet.loss.parts import SomeParts
from discreet.loss.record import from_json, to_json
from discreet.mechanisms.partition_selection import ThresholdedCounts

Chances = dict[tuple[int | None, ...], float]


def spreads(units: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way that so many units in at most `parts` parts each can fill parts, by numbers, largest first."""

    def below(left: int, most: int) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
        for first in range(min(left, most), 0, -1):
            yield from ((first, *rest) for rest in below(left - first, first))

    return below(units * parts, units)


@pytest.mark.parametrize("epsilon", ["1/2", "2", pytest.param("6", marks=pytest.mark.slow)])
def test_three_units_in_two_of_three_groups(epsilon: str) -> None:
    """Units in {A, B}, {B, C} and {A, C}: three groups hold two of them, and group privacy is proved for each group."""
    mechanism = ThresholdedCounts(epsilon=epsilon, delta="1e-6", partitions=2)
    proved = 3 * mechanism.noise.loss_at(2)
    together = mechanism.loss_at(3)
    for step in range(12):
        at = mechanism.epsilon * step / 4
        assert together.delta_at(at) >= proved.delta_at(at) * (1 - 1e-9)


@pytest.mark.parametrize(("parts", "units"), [(2, 3), (3, 4), (2, 5), (4, 2)])
@pytest.mark.parametrize("epsilon", ["1/4", "1", "3"])
def test_every_way_the_units_lie_is_covered(parts: int, units: int, epsilon: str) -> None:
    part = Approx(epsilon, "1e-8")
    together = SomeParts(part, parts).group(units)
    assert isinstance(together, SomeParts)
    orders = np.array([1.001, 1.5, 2, 8, 64, 1e4])
    for spread in spreads(units, parts):
        whole = compose(part.group(c) for c in spread)
        assert whole.delta <= together.delta
        assert whole.epsilon is not None
        assert whole.epsilon <= together.epsilon
        assert whole.rho is not None
        assert whole.rho <= together.rho
        assert (whole.renyi(orders) <= together.renyi(orders) * (1 + 1e-12)).all()
        for at in (0, together.epsilon / 3, together.epsilon * 2 / 3):
            assert whole.delta_at(at) <= together.delta_at(at) * (1 + 1e-9)
    # and it is attained where all are in the same parts
    same = compose([part.group(units)] * parts)
    assert (same.epsilon, same.delta, same.rho) == (together.epsilon, together.delta, together.rho)


def _shown(mechanism: ThresholdedCounts, size: int) -> dict[int | None, float]:
    bound = mechanism.noise.bound
    out: dict[int | None, float] = {None: 0.0 if size else 1.0}
    for z, p in laws.truncated_geometric(float(mechanism.noise.epsilon), bound).items() if size else ():
        key = size + z if size + z > bound else None
        out[key] = out.get(key, 0.0) + p
    return out


def _joint(mechanism: ThresholdedCounts, sizes: tuple[int, ...]) -> Chances:
    out: Chances = {(): 1.0}
    for size in sizes:
        out = {(*seen, new): p * q for seen, p in out.items() for new, q in _shown(mechanism, size).items()}
    return out


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.1"), ("2", "1/100"), ("4", "1/1000")])
def test_the_law_of_the_mechanism_is_covered(epsilon: str, delta: str) -> None:
    """The exact law of what is shown, with and without three units, however they lie in their two groups each."""
    mechanism = ThresholdedCounts(epsilon=epsilon, delta=delta, partitions=2)
    together = mechanism.loss_at(3)
    largest = 0.0
    for spread, base in itertools.product([(3, 3), (3, 2, 1), (2, 2, 2)], (0, 1, 3)):
        with_them, without = (_joint(mechanism, tuple(base + c * present for c in spread)) for present in (1, 0))
        for step in range(7):
            at = mechanism.epsilon * step / 2
            claimed = together.delta_at(at)
            for p, q in ((with_them, without), (without, with_them)):
                truth = math.fsum(max(0.0, mass - math.exp(at) * q.get(seen, 0.0)) for seen, mass in p.items())
                assert truth <= claimed * (1 + 1e-9) + 1e-15
                largest = max(largest, truth / claimed)
    assert largest > 0.5


def test_one_unit_costs_what_it_did_and_records() -> None:
    part = Approx("1/4", "1e-6")
    one, plain = SomeParts(part, 4), 4 * part
    assert (one.epsilon, one.delta, one.rho, one.mu_squared) == (plain.epsilon, plain.delta, plain.rho, plain.mu_squared)
    assert one.epsilon_at("1e-5") == pytest.approx(plain.epsilon_at("1e-5"), rel=1e-9)
    for loss in (one, one.group(3), one.group(3).group(2)):
        assert from_json(json.loads(json.dumps(to_json(loss)))) == loss
    assert one.group(3).group(2) == one.group(6)
    assert SomeParts(Approx(1, "1e-3"), 4).group(10) == Revealed()
    assert SomeParts(Approx(0, "1e-3"), 4).group(10).delta_at(0) == pytest.approx(0.04, rel=1e-12)


def test_alternatives_of_one_kind_of_part() -> None:
    """Equal parts are one where group privacy follows from the loss; a range of losses is known of one mechanism only."""
    assert parallel(LaplaceLoss(1), LaplaceLoss(1)).group(3) == LaplaceLoss(3)
    assert BoundedRange(1).group(3) == BoundedRange(3)
    apart = BoundedRange(1) | BoundedRange(1)
    assert apart.epsilon_at("1e-6") == BoundedRange(1).epsilon_at("1e-6")
    assert apart | BoundedRange(1) == apart
    assert apart.group(3).epsilon == 3
    assert apart.group(3) == Group(3, apart)
    both = (BoundedRange(1) + LaplaceLoss(1)) | (BoundedRange(1) + LaplaceLoss(1))
    assert both.group(2).delta_at(1) > (BoundedRange(1) + LaplaceLoss(1)).group(2).delta_at(1)
