"""Sample and aggregate: one record changes one block, whatever the estimator does; and each aggregate's law for such blocks."""

from __future__ import annotations

import logging
import math
import sys
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scripted import Scripted, Seeded

from discreet.errors import Invalid
from discreet.loss.notions import Approx
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.robust.sample_and_aggregate import SampleAndAggregate
from discreet.private import Private

ENDS: dict[str, Any] = {"lower": 0, "upper": 10}


def seen_by(mechanism: SampleAndAggregate, records: Any, coins: int) -> list[Any]:
    """What each block was given, in order."""
    seen: list[Any] = []
    spy = SampleAndAggregate(epsilon=1, estimator=lambda rows: seen.append(list(rows)) or 1.0, blocks=mechanism.blocks, **ENDS)
    spy.sample(records, Seeded(coins))
    return seen


@pytest.mark.parametrize("kind", [list, np.array])
def test_a_record_is_in_one_block_and_changes_one_block(kind: Any) -> None:
    mechanism = SampleAndAggregate(epsilon=1, estimator=len, blocks=7, **ENDS)
    records = list(range(50))
    before = seen_by(mechanism, kind(records), 3)
    assert sorted(r for block in before for r in block) == records
    after = seen_by(mechanism, kind([*records[:20], 1000, *records[21:]]), 3)  # the same coins: a replaced record
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
    more = seen_by(mechanism, kind([*records, 1000]), 3)  # one record more: the coins of the others are the same
    assert sum(a != b for a, b in zip(before, more, strict=True)) == 1


def mean_law_excess(blocks_per_unit: int, honest: bool = True) -> float:
    """ln of the largest ratio of densities between answers of which `moved` blocks went from one end to the other, over ε."""
    mechanism = SampleAndAggregate(
        epsilon=1, estimator=len, blocks=8, aggregate="mean", blocks_per_unit=blocks_per_unit if honest else 1, **ENDS
    )
    noise: Any = mechanism.aggregator
    return float(Fraction(10 * blocks_per_unit, 8) / noise.scale)


def test_means_are_private_for_as_many_blocks_as_move() -> None:
    assert mean_law_excess(1) == 1
    assert mean_law_excess(2) == 1
    assert mean_law_excess(2, honest=False) == 2  # counting one block where two move is caught


def test_aggregates_are_those_that_were_proved() -> None:
    median = SampleAndAggregate(epsilon=1, estimator=len, blocks=9, **ENDS)
    assert median.aggregator == Quantile(epsilon=1, lower=0, upper=10, adjacency="replace-one")
    assert median.loss == median.aggregator.loss
    twice = SampleAndAggregate(epsilon=1, estimator=len, blocks=9, blocks_per_unit=2, **ENDS)
    assert twice.aggregator == Quantile(epsilon="1/2", lower=0, upper=10, adjacency="replace-one")
    assert twice.loss.epsilon_at(0) == 1
    stable = SampleAndAggregate(epsilon=1, delta="1e-6", estimator=len, blocks=9, aggregate="stable", blocks_per_unit=2)
    part: Any = stable.aggregator
    assert stable.loss == Approx(1, "1e-6")
    assert part.loss.group(2).delta_at(1) == pytest.approx(1e-6, rel=1e-12)  # group privacy brings the parts back to the whole
    assert part.delta * Fraction(1 + math.exp(0.5)) == pytest.approx(1e-6)


def test_every_kind_of_estimate_is_one_number() -> None:
    mechanism = SampleAndAggregate(epsilon=10**6, estimator=len, blocks=5, aggregate="mean", **ENDS)
    strange = [None, "x", float("nan"), np.array([4.0]), 1e400]
    assert mechanism.combine(strange, Seeded(1)) == pytest.approx((0 + 0 + 0 + 4 + 10) / 5, abs=0.001)
    assert mechanism.combine([np.array([1, 2]), [3], {}, True, -5], Seeded(1)) == pytest.approx(1 / 5, abs=0.001)


def test_failing_estimators_fail_in_silence() -> None:
    def often(rows: Any) -> float:
        raise RuntimeError(f"secret {rows}")

    mechanism = SampleAndAggregate(epsilon=1, estimator=often, blocks=5, **ENDS)
    assert 0 <= mechanism.release(Private([1, 2, 3])) <= 10
    assert SampleAndAggregate(epsilon=1, delta="1e-6", estimator=often, blocks=5, aggregate="stable").release([1, 2]) is None


@pytest.mark.parametrize("end", [SystemExit, GeneratorExit, RecursionError, MemoryError, BaseException])
def test_no_end_of_an_estimator_is_seen(end: type[BaseException]) -> None:
    def ends(rows: Any) -> float:
        raise end(str(rows))

    assert 0 <= SampleAndAggregate(epsilon=1, estimator=ends, blocks=5, **ENDS).release([1, 2, 3]) <= 10


def test_a_person_may_stop_it() -> None:
    def stopped(rows: Any) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SampleAndAggregate(epsilon=1, estimator=stopped, blocks=5, **ENDS).release([1, 2, 3])


def test_an_estimator_has_its_own_copy() -> None:
    records = [np.array([3.0, 1.0, 2.0] * 20), [3.0, 1.0, 2.0] * 20]
    for rows in records:
        SampleAndAggregate(epsilon=1, estimator=lambda block: block.sort() or 1.0, blocks=2, **ENDS).release(rows)
        assert list(rows[:3]) == [3, 1, 2]


def test_models_of_one_spelling_are_not_one_answer() -> None:
    """Fitted models all print alike; the last block's own would be told."""

    class Model:
        def __init__(self, rows: Any) -> None:
            self.secret = rows

        def __repr__(self) -> str:
            return "Model()"

    told = SampleAndAggregate(epsilon=5, delta="1e-6", estimator=Model, blocks=60, aggregate="stable").release(list(range(600)))
    assert told is None


def test_what_an_estimator_prints_is_dropped(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    def talks(rows: Any) -> float:
        print("secret", rows)
        print("secret", rows, file=sys.stderr)
        warnings.warn("secret", stacklevel=1)
        logging.getLogger("estimator").warning("secret")
        return 1.0

    SampleAndAggregate(epsilon=1, estimator=talks, blocks=5, **ENDS).release([1, 2, 3])  # a warning would be an error in these tests
    assert capsys.readouterr() == ("", "")
    assert not caplog.records
    logging.getLogger("estimator").warning("heard again")
    assert len(caplog.records) == 1


def test_accuracy_of_a_black_box() -> None:
    """The trend of a scatter, by least squares: known to the blocks' own error."""
    x = np.arange(6000) % 300 / 30.0
    records = np.column_stack([x, 2 * x + np.sin(x * 91) * 3])
    fit = SampleAndAggregate(epsilon=1, estimator=lambda rows: np.polyfit(rows[:, 0], rows[:, 1], 1)[0], blocks=60, lower=-5, upper=5)
    bits = Seeded(2)
    found = [fit.sample(records, bits) for _ in range(60)]
    assert np.mean(np.abs(np.array(found) - 2) < 0.3) > 0.8
    mean = SampleAndAggregate(epsilon=1, estimator=np.mean, blocks=60, aggregate="mean", lower=0, upper=100)
    values = np.arange(6000) % 51
    limit = mean.error(0.9)
    missed = sum(abs(mean.sample(values, bits) - 25) > limit + 1 for _ in range(300))
    assert missed < 30 + 5 * math.sqrt(27)


def test_stable_answers_are_told() -> None:
    most = SampleAndAggregate(epsilon=2, delta="1e-6", estimator=lambda rows: max(set(rows), key=rows.count), blocks=60, aggregate="stable")
    assert most.release(["tea"] * 7200 + ["milk"] * 1800) == "tea"
    assert most.release(Private(["tea", "milk"] * 3)) is None
    arrays = SampleAndAggregate(epsilon=1, delta="1e-6", estimator=lambda rows: np.int64(rows[0]), blocks=60, aggregate="stable")
    assert arrays.release(np.full(2000, 7)) == 7


@pytest.mark.parametrize(
    "bad",
    [
        {"estimator": 3, **ENDS},
        {"aggregate": "sum", **ENDS},
        {"aggregate": "stable", "delta": "1e-6", **ENDS},
        {"aggregate": "stable"},
        {"delta": "1e-6", **ENDS},
        {},
        {"lower": 0},
        {"lower": 3, "upper": 3},
        {"blocks": 1, **ENDS},
        {"blocks_per_unit": 0, **ENDS},
        {"blocks": 10**9, **ENDS},
    ],
)
def test_bad_arguments(bad: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        SampleAndAggregate(**{"epsilon": 1, "estimator": len, "blocks": 9} | bad)


def test_records_must_be_many() -> None:
    mechanism = SampleAndAggregate(epsilon=1, estimator=len, blocks=3, **ENDS)
    for bad in (3, "text", np.array(3)):
        with pytest.raises(Invalid):
            mechanism.release(bad)
    assert 0 <= mechanism.release([[1], [1, 2]]) <= 10  # records of different lengths
    assert 0 <= mechanism.sample(3, Scripted()) <= 10  # private ones never fail
