"""The sparse vector technique: stated accuracy by exact integrals, streams, and answers of every kind."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake
from theorems import laws

from discreet.errors import Error, Invalid
from discreet.mechanisms.streams.sparse_vector import SparseVector, ThresholdAnswer
from discreet.private import Private


def wrong_chance(mechanism: SparseVector, answers: tuple[float, ...], t: float) -> float:
    """P[some hit is below T − t or some miss above T + t], exactly."""
    threshold, question = map(float, mechanism.scales)
    level = float(mechanism.threshold)
    law = laws.sparse_vector(answers, threshold, question, mechanism.hits, shift=level + question - threshold)
    return sum(
        p
        for pattern, p in law.items()
        if any((above and a < level - t) or (not above and a > level + t) for above, a in zip(pattern, answers, strict=False))
    )


@pytest.mark.parametrize("hits", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_error_holds_for_all_streams_in_a_box(hits: int, monotone: bool) -> None:
    mechanism = SparseVector(epsilon=1, threshold=10, hits=hits, monotone=monotone)
    for confidence in ("0.7", "0.95"):
        t = mechanism.error(confidence, size=3)
        places = (10 - t - 1e-6, 10.0, 10 + t + 1e-6)
        worst = max(wrong_chance(mechanism, a, t) for a in itertools.product(places, repeat=3))
        assert 0.1 * (1 - float(confidence)) < worst <= 1 - float(confidence)


def test_longer_streams_have_larger_errors() -> None:
    mechanism = SparseVector(epsilon=1, threshold=0)
    assert mechanism.error(size=1) < mechanism.error(size=10) < mechanism.error(size=10**6)


def test_it_stops_after_its_hits() -> None:
    mechanism = SparseVector(epsilon=1000, threshold=100, hits=2)
    assert mechanism.release([0, 200, 0, 300, 400]) == [
        ThresholdAnswer(False),
        ThresholdAnswer(True),
        ThresholdAnswer(False),
        ThresholdAnswer(True),
    ]
    run = mechanism.open()
    assert [run.ask(Private(a)).above for a in (0, 200, 300)] == [False, True, True]
    assert run.halted
    for answer in (1, Private(1)):
        with pytest.raises(Invalid, match="open a new stream"):
            run.ask(answer)


def test_budget_shares_add_up() -> None:
    """ε₁ + ε₂ (+ the fresh answers) is ε exactly, from the published scales."""
    for hits, monotone, extra in itertools.product((1, 3), (False, True), ("none", "gap", "value")):
        mechanism = SparseVector(epsilon="7/3", threshold=0, sensitivity=2, hits=hits, monotone=monotone, extra=extra)  # type: ignore[arg-type]
        threshold, question = mechanism.scales
        factor = hits if monotone else 2 * hits
        spent = 2 / threshold + 2 * factor / question + (mechanism.value_epsilon or 0)
        assert spent == mechanism.epsilon == mechanism.loss.epsilon == Fraction(7, 3)


def test_the_split_has_the_least_variance() -> None:
    mechanism = SparseVector(epsilon=1, threshold=0, hits=2)
    threshold, question = map(float, mechanism.scales)
    least = min(1 / e**2 + (4 / (1 - e)) ** 2 for e in np.linspace(0.01, 0.99, 9801))
    assert threshold**2 + question**2 == pytest.approx(least, rel=1e-4)


def test_gaps_and_values_are_near_the_truth() -> None:
    gap = SparseVector(epsilon=1000, threshold=100, extra="gap").release([50, 103])
    assert gap[0] == ThresholdAnswer(False, None)
    assert gap[1].extra == pytest.approx(3, abs=1)
    value = SparseVector(epsilon=1000, threshold=100, extra="value").release([50, 103])
    assert value[1].extra == pytest.approx(103, abs=1)


@pytest.mark.parametrize("answer", [math.nan, math.inf, -math.inf, 1e308, -1e308, 10**400, -(10**400), 2**63, True, None, Fraction(1, 3)])
def test_private_answers_are_total(answer: Any) -> None:
    mechanism = SparseVector(epsilon=1, threshold=0)
    outcomes = mechanism.sample([answer], Shake(0, limit=1 << 16))
    assert [type(o) for o in outcomes] == [ThresholdAnswer]
    if isinstance(answer, float | int) and abs(answer) > 10:
        assert outcomes[0].above == (answer > 0)


@pytest.mark.parametrize("extra", ["gap", "value"])
def test_private_answers_are_total_with_extras(extra: Any) -> None:
    SparseVector(epsilon=1, threshold=0, extra=extra).release(Private([10**400]))


def test_fresh_values_are_not_rounded_to_floats() -> None:
    """2⁵⁵ + 3, + 4, + 5 are 1 apart; as floats they are 2⁵⁵, 2⁵⁵ and 2⁵⁵ + 8."""
    mechanism = SparseVector(epsilon="1e-3", threshold=0, extra="value")
    told = [mechanism.sample([2**55 + move], Shake(3))[0].extra for move in (3, 4, 5)]
    assert None not in told
    assert max(abs(a - b) for a, b in itertools.pairwise(told)) <= 2  # type: ignore[operator]


def test_a_stream_may_be_an_iterator() -> None:
    assert len(SparseVector(epsilon=100, threshold=1000).release(iter([1, 2, 3]))) == 3


@pytest.mark.parametrize("wrong", [[math.nan], [math.inf], ["a"], [None]])
def test_wrong_plain_answers(wrong: Any) -> None:
    with pytest.raises(Invalid):
        SparseVector(epsilon=1, threshold=0).release(wrong)
    with pytest.raises(Invalid):
        SparseVector(epsilon=1, threshold=0).open().ask(wrong[0])


def test_a_vector_is_not_one_answer() -> None:
    with pytest.raises(Invalid):
        SparseVector(epsilon=1, threshold=0).open().ask([1, 2])


@pytest.mark.parametrize("wrong", [None, 5])
def test_wrong_streams(wrong: Any) -> None:
    with pytest.raises(Error):
        SparseVector(epsilon=1, threshold=0).release(wrong)


@pytest.mark.parametrize("wrong", [{"hits": 0}, {"hits": 1.5}, {"threshold": math.nan}, {"threshold": None}, {"hits": True}])
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        SparseVector(**({"epsilon": 1, "threshold": 0} | wrong))
