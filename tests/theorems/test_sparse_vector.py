"""The sparse vector technique: every pattern of answers over all neighbouring streams, with the noise integrated out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake, fits, tally
from theorems import laws
from theorems.checker import Floats, OutputLaw, Vector, box, neighbours, profile_excess, worst_log_ratio

from discreet.mechanisms.streams.sparse_vector import SparseVector

TIGHT = 1 + 1e-9
STREAMS = (-40, 0, 3)  # in units of Δ/ε; −40: an answer that is almost surely below


def centre_of(mechanism: SparseVector) -> float:
    """The noise is recentred by its mean, so the threshold is shifted by the difference of the two scales."""
    threshold, question = map(float, mechanism.scales)
    return float(mechanism.threshold) + question - threshold


def law_of(mechanism: SparseVector, faster: float = 1.0, gaps: tuple[float, ...] = ()) -> OutputLaw:
    """All patterns (and gaps), from the scales that the object publishes."""
    threshold, question = (float(scale) / faster for scale in mechanism.scales)

    def law(answers: Vector) -> Floats:
        found = laws.sparse_vector(answers, threshold, question, mechanism.hits, shift=centre_of(mechanism), gaps=gaps)
        return np.array(list(found.values()))

    return law


MECHANISMS = [
    SparseVector(epsilon=e, threshold=1, sensitivity=s, hits=hits, monotone=monotone)
    for e, s in ((1, 1), ("1/2", 2))
    for hits in (1, 2)
    for monotone in (False, True)
]


def pairs_for(mechanism: SparseVector) -> list[tuple[Vector, Vector]]:
    moved = int(mechanism.sensitivity)
    unit = moved / float(mechanism.epsilon)
    return list(neighbours(box([unit * a for a in STREAMS], 3), (-moved, 0, moved), monotone=mechanism.monotone))


def test_the_integrals_are_exact() -> None:
    """Patterns have total chance 1 to 10⁻¹², and one question has its closed form."""
    for mechanism in MECHANISMS:
        for stream in box(STREAMS, 3):
            assert abs(law_of(mechanism)(stream).sum() - 1) < 1e-12
    a, b = 2.0, 5.0  # P[ν ≥ x + ρ] = e^(−x/b)·b/(a + b) for x ≥ 0
    chance = laws.sparse_vector([-3.0], a, b, 1)[(1,)]
    assert abs(chance - np.exp(-3 / b) * b / (a + b)) < 1e-14


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_no_pattern_tells_more_than_epsilon(mechanism: SparseVector, record_property: Callable[[str, object], None]) -> None:
    """Streams of three answers, all neighbours, all patterns."""
    worst = worst_log_ratio(law_of(mechanism), pairs_for(mechanism)) / float(mechanism.epsilon)
    record_property("worst over epsilon", worst)
    assert 0.9 < worst <= TIGHT


@pytest.mark.parametrize("mechanism", MECHANISMS[:4], ids=str)
def test_the_gap_is_free(mechanism: SparseVector) -> None:
    """The density of pattern and gaps together has no larger ratio, at gaps near 0 and far."""
    gaps = (0.0, 0.7, 9.0)
    worst = worst_log_ratio(law_of(mechanism, gaps=gaps), pairs_for(mechanism)[::3]) / float(mechanism.epsilon)
    assert 0.9 < worst <= TIGHT


@pytest.mark.parametrize("mechanism", MECHANISMS[:4], ids=str)
def test_half_the_noise_is_caught(mechanism: SparseVector) -> None:
    """The checker notices scales that are half of what they should be."""
    assert worst_log_ratio(law_of(mechanism, faster=2), pairs_for(mechanism)) > 1.5 * float(mechanism.epsilon)


def test_non_monotone_streams_need_the_factor_two() -> None:
    """A monotone mechanism fed with answers that move apart is caught."""
    mechanism = SparseVector(epsilon=1, threshold=1, hits=2, monotone=True)
    assert worst_log_ratio(law_of(mechanism), neighbours(box(STREAMS, 3), (-1, 0, 1))) > 1.2


@pytest.mark.parametrize("mechanism", MECHANISMS[:4], ids=str)
def test_the_loss_covers_the_whole_profile(mechanism: SparseVector) -> None:
    assert 0.2 < profile_excess(law_of(mechanism), pairs_for(mechanism), mechanism.loss, [0.0, 0.3, 0.7]) <= TIGHT


@pytest.mark.parametrize("mechanism", MECHANISMS[:4], ids=str)
def test_the_code_draws_from_the_law(mechanism: SparseVector) -> None:
    """χ² of the patterns of 5 000 runs with fixed coins."""
    answers = [0, 3, -2]

    def draw(bits: Any) -> tuple[int, ...]:
        return tuple(int(o.above) for o in mechanism.sample(answers, bits))

    seen = tally(draw, 5_000, str(mechanism))
    scales = [float(s) for s in mechanism.scales]
    assert fits(seen, laws.sparse_vector(answers, *scales, mechanism.hits, shift=centre_of(mechanism)))
    assert not fits(seen, laws.sparse_vector(answers, *(s / 2 for s in scales), mechanism.hits, shift=centre_of(mechanism)))


def test_the_gaps_are_drawn_from_their_law() -> None:
    """For one question the gap given a hit, in bins; ν − ρ has an exponential upper side beyond the largest answer."""
    mechanism = SparseVector(epsilon=1, threshold=5, extra="gap")
    threshold, question = map(float, mechanism.scales)
    lead = 2 - centre_of(mechanism)  # negative: the gap given a hit is Exp(question)
    assert lead < 0

    def draw(bits: Any) -> int:
        (outcome,) = mechanism.sample([2], bits)
        return -1 if outcome.extra is None else min(int(outcome.extra // 2), 12)

    above = float(np.exp(lead / question)) * question / (threshold + question)
    law = {-1: 1 - above} | {i: above * float(np.exp(-2 * i / question)) * (1 - float(np.exp(-2 / question))) for i in range(12)}
    law[12] = above * float(np.exp(-24 / question))
    assert fits(tally(draw, 5_000, "gap"), law)


def test_fresh_values_have_their_own_share() -> None:
    """With `extra="value"` the test runs on two thirds of ε and each of the hits' fresh answers on its part of the last third."""
    mechanism = SparseVector(epsilon=3, threshold=0, hits=2, extra="value")
    test = worst_log_ratio(law_of(mechanism), neighbours(box(STREAMS, 3), (-1, 0, 1)))
    assert 1.8 < test <= 2 * TIGHT
    noises = [mechanism.sample([10**6, 10**6], bits) for bits in (Shake(("fresh", i)) for i in range(400))]
    offsets = np.abs([o.extra - 10**6 for run in noises for o in run])
    # Laplace noise of scale hits·Δ/(ε/3) = 2: the mean absolute value is 2, and that of 800 of them within 0.5
    assert abs(offsets.mean() - 2) < 0.5
