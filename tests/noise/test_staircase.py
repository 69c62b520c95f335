"""The staircase law: exact sums, the discrete Laplace law at width 1, and what is drawn."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from mechanisms.shake import Shake, fits

from discreet import exact
from discreet.errors import Invalid
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.staircase import Staircase

LAWS = [Staircase(e, w, r) for e in ("1/2", "3") for w, r in ((1, 1), (2, 1), (5, 1), (5, 3), (5, 5))]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_masses_sum_to_the_tails_and_to_one(law: Staircase) -> None:
    with exact.precision(128):
        for k in (0, 1, 2, 4, 5, 6, 11):
            inside = sum((law.mass(j) for j in range(-k + 1, k)), exact.ball(0))
            assert abs(inside + law.beyond(k) - 1) < 1e-30
            assert abs(law.mass(k) - law.mass(-k)) < 1e-30


def test_every_width_falls_by_one_step_and_a_width_of_one_is_discrete_laplace() -> None:
    law, plain = Staircase(2, 5, 2), Staircase("1/3", 1, 1)
    with exact.precision(128):
        step = (exact.ball(-2)).exp()
        assert [law._level(k) for k in range(13)] == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
        assert all(abs(law.mass(k + 5) / law.mass(k) - step) < 1e-30 for k in range(20))
        for k in (0, 1, 7):
            assert abs(plain.mass(k) - DiscreteLaplace(3).mass(k)) < 1e-30
            assert abs(plain.beyond(k) - DiscreteLaplace(3).beyond(k)) < 1e-30


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_sampler_draws_from_the_law(law: Staircase) -> None:
    seen = Counter(law.sample(20_000, Shake(str(law))).tolist())
    assert fits(seen, {k: law.pmf(k)[0] for k in range(-300, 301)})
    other = Staircase(law.epsilon * Fraction(5, 4), law.width, law.tread)
    assert not fits(seen, {k: other.pmf(k)[0] for k in range(-300, 301)})


def test_the_best_tread_is_the_best() -> None:
    for epsilon in ("1/10", "1", "4", "9", "40"):
        for width in (1, 2, 3, 10, 47):
            sizes = [Staircase(epsilon, width, r).mean_size() for r in range(1, width + 1)]
            assert Staircase.best(Fraction(epsilon), width).mean_size() <= min(sizes) * (1 + 1e-12)
    law = Staircase(3, 7, 2)
    assert law.mean_size() == pytest.approx(sum(abs(k) * law.pmf(k)[0] for k in range(-200, 201)), rel=1e-12)


def test_wide_noise_fits_and_wider_noise_is_refused() -> None:
    law = Staircase.best(Fraction(1, 2), 2**50)
    assert np.abs(law.sample(1000, Shake(1))).max() > 2**50
    with pytest.raises(Invalid, match="64-bit"):
        Staircase("1e-9", 2**40, 1)
    with pytest.raises(Invalid, match="tread"):
        Staircase(1, 3, 4)
