"""Private uncertainty: what is free and what is paid for, and that both tell how sure an estimate is."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scripted import Seeded

from discreet.errors import Invalid
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.robust.bootstrap import LittleBootstraps, largest_deviation, parametric_bootstrap
from discreet.private import Private

ENDS: dict[str, Any] = {"lower": 0, "upper": 100}


def test_a_parametric_bootstrap_covers_sampling_and_noise() -> None:
    """The mean of 400 normal people with Laplace noise: coverage of the truth over 200 worlds."""
    worlds, covered = np.random.default_rng(5), 0
    noise, size = Laplace(epsilon=1, sensitivity="1/4", whole=False), 400
    for _ in range(200):
        told = float(noise.sample(float(worlds.normal(50, 10, size).mean()), Seeded(int(worlds.integers(2**31)))))
        found = parametric_bootstrap(told, lambda at=told: float(worlds.normal(at, 10, size).mean()), noise.release, rounds=120)
        covered += found.low <= 50 <= found.high
        assert 0.3 < found.standard_error < 1.2  # √(0.5² + 2·0.25²) = 0.61
    assert covered > 170


def test_rounds_without_an_answer_are_left_out() -> None:
    told = iter([None, 1.0] * 30)
    assert parametric_bootstrap(1.0, lambda: 0, lambda _: next(told), rounds=60) == (1, 1, 0)
    with pytest.raises(Invalid, match="fewer than 20"):
        parametric_bootstrap(1.0, lambda: 0, lambda _: None)
    with pytest.raises(Invalid):
        parametric_bootstrap(1.0, lambda: 0, lambda _: 1.0, rounds=3)


def test_a_record_touches_one_block_however_often_it_is_drawn() -> None:
    blocks, seen = 6, []
    records = np.arange(90.0)
    little = LittleBootstraps(epsilon=1, estimator=lambda rows: seen.append(set(rows.tolist())) or 1.0, blocks=blocks, rounds=5, **ENDS)
    little.sample(records, Seeded(1))
    whole, resampled = seen[:blocks], seen[blocks:]
    assert sorted(x for block in whole for x in block) == records.tolist()
    for i, block in enumerate(whole):
        assert all(drawn <= block for drawn in resampled[5 * i : 5 * i + 5])


def test_a_bootstrap_over_all_records_is_caught() -> None:
    """The same look at what resamples hold: records of other blocks."""
    records, generator = np.arange(90.0), np.random.default_rng(3)
    blocks = [set(records[i::6].tolist()) for i in range(6)]
    naive = [set(generator.choice(records, 90).tolist()) for _ in range(6)]
    assert not any(drawn <= block for drawn, block in zip(naive, blocks, strict=True))
    assert np.mean([len(drawn) / 90 for drawn in naive]) > 0.5  # one record is in 63 % of all resamples


def test_losses_add_up() -> None:
    little = LittleBootstraps(epsilon=1, estimator=np.mean, blocks=20, **ENDS)
    assert little.loss.epsilon_at(0) == 1
    assert little.loss.epsilon_at(0) == pytest.approx(little.value.loss.epsilon_at(0) + little.spread.loss.epsilon_at(0))
    assert little.loss_at(3).epsilon_at(0) == 3


def test_standard_errors_are_those_of_all_records() -> None:
    generator, true = np.random.default_rng(8), 10 / math.sqrt(6000)
    people = np.clip(generator.normal(50, 10, 6000), 0, 100)
    little = LittleBootstraps(epsilon=8, estimator=np.mean, blocks=40, **ENDS)
    found = [little.sample(people, Seeded(i)) for i in range(12)]
    assert np.median([one.standard_error for one in found]) == pytest.approx(true, rel=0.3)
    assert np.median([one.value for one in found]) == pytest.approx(50, abs=1)


@pytest.mark.parametrize("rounds", range(2, 13))
def test_no_standard_error_is_cut(rounds: int) -> None:
    """All numbers at the two ends, every way: the largest deviation is the bound, and a mechanism's range holds it."""
    worst = max(float(np.std(np.array(ends, float), ddof=1)) for ends in itertools.product((0, 1), repeat=rounds))
    assert worst <= largest_deviation(rounds) <= worst * (1 + 1e-10)
    inside = np.random.default_rng(rounds).random((1000, rounds))
    assert np.std(inside, axis=1, ddof=1).max() < worst
    assert LittleBootstraps(epsilon=1, estimator=np.mean, blocks=20, rounds=rounds, **ENDS).spread.upper >= 100 * worst


def test_large_standard_errors_are_told_as_they_are() -> None:
    """Two rounds, of which one gives 0 and the other 100, in every block: 100/√2 for a block."""
    turn = itertools.count()

    def jumps(rows: Any) -> float:
        return 100.0 * (next(turn) % 2)

    little = LittleBootstraps(epsilon=200, estimator=jumps, blocks=16, rounds=2, **ENDS)
    told = little.sample(np.arange(160.0), Seeded(4)).standard_error
    assert told == pytest.approx(100 / math.sqrt(2) / math.sqrt(16), rel=0.01)


def test_private_records_never_fail() -> None:
    def fails(rows: Any) -> float:
        raise RuntimeError(str(rows))

    little = LittleBootstraps(epsilon=1, estimator=fails, blocks=4, **ENDS)
    for records in ([1, 2, 3], [], 7, [None, "x"], np.empty(0)):
        found = little.release(Private(records))
        assert 0 <= found.value <= 100
    lists = LittleBootstraps(epsilon=1, estimator=lambda rows: rows[0], blocks=4, **ENDS)
    assert 0 <= lists.release(["a", "b", float("nan"), 1e400]).standard_error <= 25


def test_far_bounds_do_not_warn() -> None:
    little = LittleBootstraps(epsilon=1, estimator=lambda rows: rows[0], blocks=4, lower=-1e299, upper=1e299)
    assert little.release(Private([1e299, -1e299] * 10)).standard_error >= 0


@pytest.mark.parametrize("bad", [{"rounds": 1}, {"blocks": 1}, {"lower": 5, "upper": 5}, {"estimator": 3}])
def test_bad_arguments(bad: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        LittleBootstraps(**{"epsilon": 1, "estimator": np.mean, "blocks": 9, **ENDS} | bad)
