"""Probabilities, tails and quantiles of every integer law fit together."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet import exact
from discreet.noise.cauchy import RoundedCauchy
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace, Geometric, RoundedLaplace
from discreet.noise.law import Law

LAWS: dict[str, Callable[[Fraction], Law]] = {
    "geometric": Geometric,
    "discrete": DiscreteLaplace,
    "rounded": RoundedLaplace,
    "rounded Gaussian": RoundedGaussian,
    "discrete Gaussian": DiscreteGaussian,
    "Cauchy": RoundedCauchy,
}


@pytest.mark.parametrize("name", LAWS)
def test_pmf_tail_and_quantile_belong_together(name: str) -> None:
    law = LAWS[name](Fraction(7, 3) if name == "Cauchy" else Fraction(5, 2))  # at 5/2 the quartiles of Cauchy noise are a tie
    with exact.precision(128):
        for k in range(1, 20):
            step = law.beyond(k) - law.beyond(k + 1)
            assert step.overlaps(law.mass(k) if name == "geometric" else 2 * law.mass(k))
    for level in (Fraction(1, 2), Fraction(95, 100), 1 - Fraction(1, 10**9)):
        for size in (1, 10):
            k = law.quantile(level, size)
            assert (1 - law.tail(k + 1)[1]) ** size >= float(level) * (1 - 1e-12)
            assert k == 0 or (1 - Fraction(law.tail(k)[0])) ** size < level
