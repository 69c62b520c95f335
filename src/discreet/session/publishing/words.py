"""What a receipt states, in words for readers of a publication; the receipt itself has the exact terms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.ledger.price import amount, price
from discreet.loss.amplify import PoissonSubsampled, Subsampled
from discreet.loss.leaves import BoundedRange, DiscreteLaplaceLoss, GaussianLoss, GaussianThreshold, LaplaceLoss
from discreet.loss.loss import Loss, LossSum
from discreet.loss.notions import Approx, Pure
from discreet.loss.promise import Promised


def method_in_words(loss: Loss) -> str:
    """What was done to the numbers.

    >>> method_in_words(2 * Approx("5/36", "1/128000000") + LaplaceLoss(1))
    '2 mechanisms with ε = 0.1389 and δ = 7.8e-09 each; Laplace noise with ε = 1'
    """
    counts: dict[tuple[str, str, str], int] = {}
    for term, times in loss.terms if isinstance(loss, LossSum) else ((loss, 1),):
        words = _words(term)
        counts[words] = counts.get(words, 0) + times
    said = [
        f"{one}{rest}" if times == 1 else f"{times} {several}{rest}{' each' if rest else ''}"
        for (one, several, rest), times in counts.items()
    ]
    return "; ".join(said) or "nothing was measured"


def _words(loss: Loss) -> tuple[str, str, str]:
    """What was done once, what was done several times, and what each has."""
    match loss:
        case Promised(parts):
            return method_in_words(parts), f"times {method_in_words(parts)}", ""
        case PoissonSubsampled(part, rate) | Subsampled(part, rate):
            said = f"on a secret random sample of {100 * float(rate):.6g} % of the units: {method_in_words(part)}"
            return said, f"times {said}", ""
        case LaplaceLoss() | DiscreteLaplaceLoss():
            return "Laplace noise", "times Laplace noise", f" with {price(loss.epsilon)}"
        case GaussianLoss():
            return "Gaussian noise", "times Gaussian noise", f" with μ = {math.sqrt(float(loss.mu_squared)):.3g}"
        case GaussianThreshold():
            return "one search", "searches", f" with Gaussian noise and a threshold, δ = {amount(loss.delta)}"
        case BoundedRange():
            return "one choice", "choices", f" by the exponential mechanism with {price(loss.epsilon)}"
        case Pure():
            return "one mechanism", "mechanisms", f" with {price(loss.epsilon)}"
        case Approx():
            return "one mechanism", "mechanisms", f" with ε = {amount(loss.epsilon)} and δ = {amount(loss.delta)}"
    name = type(loss).__name__  # a loss of another kind, as the documentation calls it
    return name, f"times {name}", ""


def bounds_in_words(bounds: Any) -> str:
    """Bounds that were found, as a receipt has them; what is none, as in a file that somebody changed, is repeated.

    >>> bounds_in_words({"low": "0", "high": "1/3"}), bounds_in_words({"high": "256"})
    ('from 0 to 0.333333', 'at most 256')
    """
    try:
        ends = {which: f"{float(Fraction(end)):,.6g}" for which, end in bounds.items()}
        if len(ends) == 2:
            return f"from {ends['low']} to {ends['high']}"
        return f"at least {ends['low']}" if "low" in ends else f"at most {ends['high']}"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return str(bounds)


def price_in_words(told: Mapping[str, Any], between: str = ", ") -> str:
    """The price of a release, from its metadata, in few digits.

    >>> price_in_words({"epsilon": "4", "delta": "0.000000015625"})
    'ε = 4, δ = 1.6e-08'
    """
    epsilon, delta = (amount(Fraction(told[name])) for name in ("epsilon", "delta"))
    return f"ε = {epsilon}{between}δ = {delta}"
