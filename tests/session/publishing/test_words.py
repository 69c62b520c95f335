"""Losses, bounds and prices in words: no reader of a publication has to know the names of classes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.loss.amplify import PoissonSubsampled
from discreet.loss.leaves import BoundedRange, DiscreteLaplaceLoss, GaussianLoss, GaussianThreshold, LaplaceLoss
from discreet.loss.loss import NOTHING, Loss
from discreet.loss.notions import Approx, Pure, Zcdp
from discreet.loss.promise import Promised
from discreet.session.publishing.words import bounds_in_words, method_in_words, price_in_words

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (NOTHING, "nothing was measured"),
        (LaplaceLoss(THIRD), "Laplace noise with ε = 0.3333"),
        (2 * DiscreteLaplaceLoss(4, 2), "2 times Laplace noise with ε = 0.5 each"),
        (DiscreteLaplaceLoss(4, 2) + DiscreteLaplaceLoss(8, 4), "2 times Laplace noise with ε = 0.5 each"),
        (GaussianLoss("1/4"), "Gaussian noise with μ = 0.5"),
        (GaussianThreshold("1/4", "1/1000000"), "one search with Gaussian noise and a threshold, δ = 1e-06"),
        (3 * BoundedRange(1), "3 choices by the exponential mechanism with ε = 1 each"),
        (Pure(1), "one mechanism with ε = 1"),
        (2 * Approx("5/36", "1/128000000"), "2 mechanisms with ε = 0.1389 and δ = 7.8e-09 each"),
        (Promised(LaplaceLoss(1), 2, 0), "Laplace noise with ε = 1"),
        (PoissonSubsampled(LaplaceLoss(1), Fraction(1, 10)), "on a secret random sample of 10 % of the units: Laplace noise with ε = 1"),
        (2 * Zcdp(1), "2 times Zcdp"),
    ],
)
def test_losses(loss: Loss, said: str) -> None:
    assert method_in_words(loss) == said


def test_bounds() -> None:
    assert bounds_in_words({"low": "-1000", "high": "1/2"}) == "from -1,000 to 0.5"
    assert bounds_in_words({"low": "-1"}) == "at least -1"
    for forged in (None, {}, {"low": "x"}, {"low": None}, [1], {"a": "1", "b": "2"}, {"high": "1/0"}):
        assert bounds_in_words(forged) == str(forged)


def test_prices() -> None:
    assert price_in_words({"epsilon": "1/3", "delta": "0"}) == "ε = 0.3333, δ = 0"
