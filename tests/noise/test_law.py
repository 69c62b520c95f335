"""Probabilities, tails and quantiles of every integer law fit together."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet import exact
from discreet.noise.laplace import DiscreteLaplace, Geometric, RoundedLaplace

LAWS = {"geometric": Geometric, "discrete": DiscreteLaplace, "rounded": RoundedLaplace}


@pytest.mark.parametrize("name", LAWS)
def test_pmf_tail_and_quantile_belong_together(name: str) -> None:
    law = LAWS[name](Fraction(5, 2))
    with exact.precision(128):
        for k in range(1, 20):
            step = law.beyond(k) - law.beyond(k + 1)
            assert step.overlaps(law.mass(k) if name == "geometric" else 2 * law.mass(k))
    for level in (Fraction(1, 2), Fraction(95, 100), 1 - Fraction(1, 10**9)):
        for size in (1, 10):
            k = law.quantile(level, size)
            assert (1 - law.tail(k + 1)[1]) ** size >= float(level) * (1 - 1e-12)
            assert k == 0 or (1 - law.tail(k)[0]) ** size < float(level)
