"""The Laplace mechanism: stated error against the exact law, and answers of every kind."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from mechanisms.shake import Shake
from theorems import laws

from discreet.mechanisms import textbook
from discreet.mechanisms.laplace import Laplace
from discreet.private import Private


def outside(mechanism: Laplace, k: float, size: int) -> float:
    """P[the largest of `size` whole errors exceeds k]."""
    law = laws.discrete_laplace(1 / float(mechanism.scale), 400)
    inside = math.fsum(p for z, p in law.items() if abs(z) <= k)
    return 1 - inside**size


@pytest.mark.parametrize("epsilon", ["1/4", "1", "5"])
@pytest.mark.parametrize("size", [1, 10])
def test_the_whole_error_is_the_least_that_holds(epsilon: str, size: int) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity=2)
    for confidence in (0.5, 0.9, 0.95, 0.999):
        k = mechanism.error(confidence, size)
        assert outside(mechanism, k, size) <= 1 - confidence + 1e-12
        assert k == 0 or outside(mechanism, k - 1, size) > 1 - confidence


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_the_real_error_is_the_quantile_and_half_a_step(size: int) -> None:
    mechanism = Laplace(epsilon=2, sensitivity="1/3")
    for confidence in (0.5, 0.95, 0.999):
        t = mechanism.error(confidence, size)
        assert (1 - math.exp(-t / float(mechanism.scale))) ** size == pytest.approx(confidence, abs=1e-4)
        assert (1 - math.exp(-t / float(mechanism.scale))) ** size >= confidence


def test_known_numbers() -> None:
    """K = 10, β = 0.05: the union bound says 5.298, the truth is 5.275."""
    assert textbook.laplace_sup(10, 0.05, 1) == pytest.approx(5.298, abs=5e-4)
    assert Laplace(epsilon=1, whole=False).error(0.95, 10) == pytest.approx(5.275, abs=5e-4)
    assert Laplace(epsilon=1, whole=False).error(0.95) == pytest.approx(math.log(20), abs=1e-4)


@pytest.mark.parametrize("size", [1, 7, 300])
def test_the_textbook_is_never_tighter(size: int) -> None:
    for beta in (0.5, 0.05, 1e-6):
        step = 2.0**-16
        assert textbook.laplace_sup(size, beta, 1) >= Laplace(epsilon=1, whole=False).error(1 - Fraction(beta), size) - step
    assert textbook.laplace_tail(3, 1) == pytest.approx(math.exp(-3))
    assert textbook.laplace_componentwise_scale(4, 0.5) == float(Laplace(epsilon=0.5, sensitivity=4).scale)
    assert textbook.lipschitz_epsilon(3, 0.5) == float(Laplace.of_scale(2, sensitivity=3).epsilon)


def test_real_answers_of_whole_sensitivity() -> None:
    """At 0.96 the whole error is 3 and the real one 3.22: without being told which, the larger."""
    either, whole, real = (Laplace(epsilon=1, whole=kind) for kind in (None, True, False))
    assert whole.error(0.96) == 3
    assert either.error(0.96) == real.error(0.96) == pytest.approx(math.log(25), abs=1e-4)
    assert either.error(0.95) == whole.error(0.95) == 3


def test_kinds_of_answers() -> None:
    mechanism = Laplace(epsilon=1)
    assert type(mechanism.release(3)) is int
    assert type(mechanism.release(3.0)) is float
    assert type(mechanism.release(True)) is int
    assert mechanism.release([1, 2]).dtype == np.int64  # type: ignore[union-attr]
    assert mechanism.release([1, 2.5]).dtype == np.float64  # type: ignore[union-attr]
    assert type(Laplace(epsilon=1, sensitivity="1/2").release(3)) is float
    assert abs(mechanism.release(10**400) - 10**400) < 10**4  # single whole numbers have no edge


@pytest.mark.parametrize("answer", [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 10**400, -(2**63), None])
def test_private_answers_are_total(answer: float) -> None:
    out = Laplace(epsilon=1, sensitivity="1/2").release(Private(answer))
    assert math.isfinite(out)


def test_a_missing_value_is_zero_and_infinity_the_edge() -> None:
    mechanism = Laplace(epsilon=1, sensitivity="1/2")
    nan, zero = (mechanism.sample(x, Shake(1)) for x in (math.nan, 0.0))
    far, edge, inf = (mechanism.sample(x, Shake(1)) for x in (1e300, 2.0**883, math.inf))  # 2⁹⁰⁰ steps of 2⁻¹⁷
    assert nan == zero
    assert far == inf == edge


def test_the_release_moves_with_the_answer() -> None:
    """With the same coins a whole answer one larger gives an output one larger: the noise does not see the answer."""
    for seed in range(50):
        mechanism = Laplace(epsilon="1/7")
        assert mechanism.sample(11, Shake(seed)) == mechanism.sample(10, Shake(seed)) + 1
        assert (mechanism.sample([11, -3], Shake(seed)) == mechanism.sample([10, -4], Shake(seed)) + 1).all()  # type: ignore[operator,union-attr]
