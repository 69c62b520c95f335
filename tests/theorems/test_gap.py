"""The lead of the noisy maximum: its density over all neighbours, wrong variants, and the code draws from that law."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake, fits
from theorems.checker import Floats, Vector, box, neighbours, worst_log_ratio
from theorems.laws import NOISES, grid

from discreet.errors import Invalid
from discreet.mechanisms.noisy_max import NoisyMaxGap

TIGHT = 1 + 1e-9
LEADS = (0.0, 0.3, 1.0, 4.0)
FAR = 60.0


def densities(scores: Sequence[float], rate: float, noise: str, leads: Sequence[float]) -> Floats:
    """The density of (winner, lead) at each lead: the winner's noise is the others' largest noisy score, plus the lead."""
    density, below, _ = NOISES[noise]
    values = [rate * s for s in scores]
    out = []
    for i, v in enumerate(values):
        others = values[:i] + values[i + 1 :]
        for lead in leads:
            x, w = grid([*others, v - lead * rate, v], min(values) - FAR, max(values) + FAR, 1.0)
            each = [below(x - u) for u in others]
            largest = sum(
                (density(x - u) * np.prod([*each[:j], *each[j + 1 :], np.ones(len(x))], axis=0) for j, u in enumerate(others)),
                np.zeros(len(x)),
            )
            out.append(float((w * largest * density(x + lead * rate - v)).sum()) * rate)
    return np.array(out)


def law_of(mechanism: NoisyMaxGap, faster: float = 1.0) -> Callable[[Vector], Floats]:
    return lambda scores: densities(scores, float(mechanism.rate) * faster, mechanism.noise, LEADS)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize("size", [2, 3])
def test_winner_and_lead_tell_no_more_than_epsilon(size: int, noise: Any, monotone: bool) -> None:
    """All neighbours in a box, and the check fails at twice the rate: half the sensitivity, or scores that do not move together."""
    mechanism = NoisyMaxGap(epsilon=1, noise=noise, monotone=monotone)
    pairs = list(neighbours(box((0, 1, 6) if size == 2 else (0, 1), size), (-1, 0, 1), monotone=monotone))
    assert (0.999 if noise == "exponential" else 0.8) < worst_log_ratio(law_of(mechanism), pairs) <= TIGHT
    assert worst_log_ratio(law_of(mechanism, faster=2), pairs) > 1.6


def test_noise_for_scores_that_move_together_is_too_little_for_others() -> None:
    rate = float(NoisyMaxGap(epsilon=1, monotone=True).rate)
    assert worst_log_ratio(lambda scores: densities(scores, rate, "exponential", LEADS), [((0, 0), (1, -1))]) > 1.9


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize("scores", [(0, 0), pytest.param((0, 3, 2), marks=pytest.mark.slow)], ids=str)
def test_the_code_draws_from_the_law(scores: tuple[int, ...], noise: Any) -> None:
    mechanism = NoisyMaxGap(epsilon=2, noise=noise)
    edges = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    bits = Shake(scores)
    drawn = [mechanism.sample(list(scores), bits) for _ in range(6000)]
    seen = {(i, k): 0 for i in range(len(scores)) for k in range(len(edges))}
    for winner, lead in drawn:
        assert lead >= 0
        assert Fraction(lead) % mechanism.step == 0
        seen[winner, int(np.searchsorted(edges, lead, side="right")) - 1] += 1

    def chances(rate: float) -> dict[tuple[int, int], float]:
        nodes, weights = np.polynomial.legendre.leggauss(8)
        law = {}
        for k, (low, high) in enumerate(zip(edges, [*edges[1:], edges[-1] + 40], strict=True)):
            cuts = np.linspace(low, high, max(2, math.ceil(high - low) + 1))
            leads = np.concatenate([(a + b) / 2 + (b - a) / 2 * nodes for a, b in pairwise(cuts)])
            each = np.concatenate([(b - a) / 2 * weights for a, b in pairwise(cuts)])
            found = densities(scores, rate, noise, leads.tolist()).reshape(len(scores), -1)
            law |= {(i, k): float((found[i] * each).sum()) for i in range(len(scores))}
        return law

    assert fits(seen, chances(1.0))
    assert not fits(seen, chances(1.25))


def test_extreme_scores_and_too_few_candidates() -> None:
    mechanism = NoisyMaxGap(epsilon=1)
    winner, lead = mechanism.sample([1e308, -1e308, math.nan], Shake(0))
    assert (winner, lead) == (0, float(2**62 * mechanism.step))
    assert mechanism.sample([-(2**62), 2**62], Shake(1))[0] == 1
    with pytest.raises(Invalid, match="two scores"):
        mechanism.release([5])
    assert mechanism.error(0.95, 10) < NoisyMaxGap(epsilon=1, noise="laplace").error(0.95, 10)
    with pytest.raises(Invalid, match="noise"):
        NoisyMaxGap(epsilon=1, noise="gumbel")  # type: ignore[arg-type]
