"""Readers of parameters: one function for each parameter name, so that errors name it and type checkers know the accepted types."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import Invalid
from discreet.exact import Number, grid_down, non_negative, positive, probability, rational, whole

_RAREST, _FINEST = Fraction(1, 10**6), 10**9  # shares of units that can be sampled
_EXTREME = 250  # powers of two: a product or quotient of two such parameters is well within the range of floats


def _moderate(value: Number, name: str) -> Fraction:
    """A positive number well within the range of floats."""
    read = positive(value, name)
    if abs(read.numerator.bit_length() - read.denominator.bit_length()) > _EXTREME:
        raise Invalid(f"{name} is out of range: choose another unit for the answers, so that it lies between 2^-250 and 2^250")
    return read


def some_epsilon(value: Number) -> Fraction:
    """ε > 0."""
    return _moderate(value, "epsilon")


def price_epsilon(value: Number) -> Fraction:
    """ε > 0 as a session charges it: a multiple of 10⁻⁴⁰, rounded down, so that three charges of 1/3 fit a budget of 1."""
    return _price(some_epsilon(value), "epsilon")


def price_delta(value: Number) -> Fraction:
    """δ ≥ 0 as a session charges it: a multiple of 10⁻⁴⁰, rounded down."""
    return _price(any_delta(value), "delta")


def _price(value: Fraction, name: str) -> Fraction:
    kept = grid_down(value)
    if value and not kept:
        raise Invalid(f"{name} is charged in multiples of 1e-40: set it to at least 1e-40")
    return kept


def any_epsilon(value: Number) -> Fraction:
    """ε ≥ 0."""
    return non_negative(value, "epsilon")


def some_delta(value: Number) -> Fraction:
    """0 < δ < 1."""
    if not 0 < (delta := rational(value, "delta")) < 1:
        raise Invalid("delta must lie strictly between 0 and 1 here, for example 1e-6")
    return delta


def any_delta(value: Number) -> Fraction:
    """0 ≤ δ < 1."""
    return probability(value, "delta")


def rho(value: Number) -> Fraction:
    """ρ ≥ 0."""
    return non_negative(value, "rho")


def mu(value: Number) -> Fraction:
    """μ ≥ 0."""
    return non_negative(value, "mu")


def ratio_squared(value: Number) -> Fraction:
    """Δ²/σ² ≥ 0."""
    return non_negative(value, "ratio_squared")


def sensitivity(value: Number) -> Fraction:
    """Δ > 0."""
    return _moderate(value, "sensitivity")


def whole_sensitivity(value: int) -> int:
    """Δ = 1, 2, …"""
    return whole(value, "sensitivity")


def scale(value: Number) -> Fraction:
    """The scale of the noise, above 0: without noise the loss is infinite."""
    return _moderate(value, "scale")


def share(value: Number) -> Fraction:
    """A fraction of the budget, strictly between 0 and 1."""
    if not 0 < (part := rational(value, "share")) < 1:
        raise Invalid("share must lie strictly between 0 and 1, for example 0.5")
    return part


def step(value: Number) -> Fraction:
    """The step of a grid."""
    return _moderate(value, "step")


def lower(value: Number) -> Fraction:
    """A lower bound."""
    return rational(value, "lower")


def upper(value: Number) -> Fraction:
    """An upper bound."""
    return rational(value, "upper")


def threshold(value: Number) -> Fraction:
    """A threshold."""
    return rational(value, "threshold")


def shift(value: int) -> int:
    """The sensitivity of integers: 0, 1, 2, …"""
    return whole(value, "shift", least=0)


def k(value: int) -> int:
    """The number of candidates to select."""
    return whole(value, "k")


def hits(value: int) -> int:
    """The number of answers above the threshold after which a stream stops."""
    return whole(value, "hits")


def partitions(value: int) -> int:
    """The largest number of groups that one unit contributes to."""
    return whole(value, "partitions")


def unit(value: int) -> int:
    """The denominator of fixed-point weights."""
    return whole(value, "unit")


def choices(value: int) -> int:
    """The number of choices, at least two."""
    if (read := whole(value, "choices", least=2)) > 2**62:
        raise Invalid("choices must not be more than 2^62")
    return read


def whole_or_not(value: bool | None) -> bool | None:
    """Whether answers are integers; None decides by the type of a plain answer."""
    if value is not None and value is not True and value is not False:
        raise Invalid("whole must be True or False, or be left out")
    return value


def monotone(value: bool) -> bool:
    """Whether all scores change in the same direction; only True and False are accepted, for a wrong True halves the noise."""
    if value is not True and value is not False:
        raise Invalid("monotone must be True or False")
    return value


def sample_rate(value: Number) -> Fraction:
    """The share of units that a question reads."""
    wrong = "sample must lie between 0.000001 and 1, as in sample=0.01 for 1 % of the units; leave it out to read all of them"
    try:
        rate = rational(value, "sample")
    except Invalid:
        raise Invalid(wrong) from None
    if not _RAREST <= rate < 1:
        raise Invalid(wrong)
    if rate.denominator > _FINEST:
        raise Invalid("sample must have at most nine decimals, as in sample=0.01")
    return rate
