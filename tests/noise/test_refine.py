"""The trust in the machine's logarithm is checked, and a bad one is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scripted import Seeded

from discreet import exact
from discreet.errors import Error
from discreet.noise import refine
from discreet.noise.bits import SystemBits
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace, RoundedLaplace
from discreet.noise.law import Law


def test_an_inaccurate_logarithm_is_refused() -> None:
    with pytest.raises(Error, match="not accurate enough"):
        refine.check_log(lambda x: np.log(x) * (1 + 2.0**-49))
    refine.check_log()


def test_logarithms_stay_within_the_bound_of_the_derivation() -> None:
    """20,000 fixed words: the computed log of a uniform is within 2⁻⁴²·⁷ of every log in its cell."""
    words = Seeded(1).words(20_000)
    logs = np.empty(len(words))
    refine.log_uniform(words, logs)
    with exact.precision(128):
        for word, y in zip(words.tolist(), logs.tolist(), strict=True):
            if y >= refine.FAR:
                off = abs(exact.cell(word >> 1, 63).log() - exact.ball(Fraction(y)))
                assert exact.upper(off) < Fraction(2) ** -42 * Fraction(10, 16)


def test_floors_marks_all_doubt() -> None:
    values = np.array([0.5, 1.0, 1.999999, -0.000001, 3.25, np.inf, np.nan, -2.5])
    out, scratch = np.empty(8, np.int64), np.empty(8)
    assert refine.floors(values, 1e-3, scratch, out).tolist() == [1, 2, 3, 5, 6]
    assert out[[0, 4, 7]].tolist() == [0, 3, -3]


def test_resolve_asks_until_it_knows() -> None:
    asked = []

    def decide(u: object) -> int | None:
        asked.append(u)
        return 7 if len(asked) == 3 else None

    assert refine.resolve(decide, [(5, 63)], SystemBits()) == 7
    assert len(asked) == 3


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(1)), RoundedLaplace(Fraction(2**17)), RoundedGaussian(Fraction(100))], ids=str)
def test_refinements_are_a_few_in_a_million(law: Law, monkeypatch: pytest.MonkeyPatch) -> None:
    """4 million fixed samples: how often the float path leaves the decision to balls."""
    calls, resolve = [], refine.resolve
    monkeypatch.setattr(refine, "resolve", lambda *given: calls.append(1) or resolve(*given))
    law.sample(4_000_000, Seeded(5))
    assert 0 < len(calls) < 40
