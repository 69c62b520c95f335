"""χ² of 10⁷ draws for every sampler, with fresh system coins; each p-value must exceed 10⁻⁷ (slow suite)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.noise.bernoulli import Bernoulli
from discreet.noise.bits import SystemBits
from discreet.noise.digits import DigitLaplace
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace, Geometric, RoundedLaplace
from discreet.noise.law import Law
from discreet.noise.table import Finite

DRAWS = 10**7
LONG = Fraction(2**200 + 12345, 3**120)  # a scale with terms of 200 bits

LAWS: list[tuple[str, Law, object]] = [
    (f"{kind.__name__} {float(scale):g}", kind(scale), kind(scale))
    for kind in (Geometric, DiscreteLaplace, RoundedLaplace, RoundedGaussian, DiscreteGaussian)
    for scale in (Fraction(1, 3), Fraction(1), Fraction(37, 10), Fraction(50), Fraction(1000, 3), LONG)
]
LAWS += [(f"DigitLaplace {float(s):g}", DiscreteLaplace(s), DigitLaplace(s)) for s in (Fraction(1, 3), Fraction(37, 10), Fraction(50))]
LAWS += [("Finite", Finite(-2, [1, 2, 3, 0, 4]), Finite(-2, [1, 2, 3, 0, 4]))]


def p_value(law: Law, found: np.ndarray) -> float:
    n = len(found)
    low, high = int(found.min()), int(found.max())
    width = max(1, (high - low) // 400)
    edges = np.arange(low, high + width + 1, width)
    observed = np.histogram(found, bins=edges)[0].astype(float)
    expected = np.array([n * sum(law.pmf(k)[1] for k in range(a, a + width)) for a in edges[:-1].tolist()])
    sure = expected >= 20
    observed = np.append(observed[sure], n - observed[sure].sum())
    expected = np.append(expected[sure], max(n - expected[sure].sum(), 1e-9))
    if expected[-1] < 20:
        observed[-2], expected[-2] = observed[-2] + observed[-1], expected[-2] + expected[-1]
        observed, expected = observed[:-1], expected[:-1]
    if len(observed) < 2:
        return 1.0 if (found == found[0]).all() else 0.0
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), len(observed) - 1))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "law", "sampler"), LAWS, ids=[name for name, _, _ in LAWS])
def test_ten_million_draws(name: str, law: Law, sampler: Law) -> None:
    bits = SystemBits()
    draws = DRAWS if not isinstance(sampler, DigitLaplace) else DRAWS // 5
    assert p_value(law, sampler.sample(draws, bits)) > 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("coin", [Bernoulli(Fraction(1, 3)), Bernoulli.exp(2), Bernoulli.exp("1/100")], ids=str)
def test_ten_million_tosses(coin: Bernoulli) -> None:
    p = coin.chance_bounds()[0]
    heads = int(coin.sample(DRAWS, SystemBits()).sum())
    assert abs(heads - DRAWS * p) < 6 * (DRAWS * p * (1 - p)) ** 0.5


@pytest.mark.slow
def test_a_small_bias_is_seen() -> None:
    """The negative control: a scale that is off by 1 % fails."""
    found = DiscreteLaplace(Fraction(3700, 1000)).sample(DRAWS, SystemBits())
    assert p_value(DiscreteLaplace(Fraction(3737, 1000)), found) < 1e-7
