"""A low-memory power of the running-total matrix, in exact numbers: its coefficients, and the lengths of its columns and rows.

The running total is the lower triangular Toeplitz matrix A of the coefficients of 1/(1 − x), all of them 1; its power A^α has those of
1/(1 − x)^α. These are an integral, (sin πα/π)·∫ θ^(k+α−1)·(1 − θ)^(−α) dθ over [0, 1], and with θ = 1/(1 + e^(−u)) one of
θ^(k+α)·(1 − θ)^(1−α) du over the line, analytic for |Im u| < π. The trapezoid rule with a step of 2½ errs by some e^(−2π²/2½) < 0.04 %, and
leaves a handful of rates θᵢ and weights ωᵢ > 0 (a buffered linear Toeplitz matrix: Dvijotham, McMahan, Pillutla, Steinke & Thakurta 2024).
Rounded to multiples of 2⁻⁶⁴ they *define* C. How close C is to a power decides the amount of noise, and never the privacy.

All bounds on C below are computed in balls and rounded against us.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import final

from attrs import field, frozen

from discreet import exact
from discreet.exact import Ball, ball

UNIT = 64  # rates and weights are multiples of 2^−UNIT
_STEP, _FIRST, _BEYOND = Fraction(5, 2), -4, 2  # of the trapezoid rule: its step, where it begins, how far beyond ln T it ends
_PRECISION = 384
_POLE = 160  # bits of a pole


@final
@frozen(slots=False)
class ToeplitzFactor:
    """The matrix C of cₖ = Σ ωᵢ·θᵢ^k, with `size` rows and columns. Rates rise from 0, weights are positive, c₀ = 1.

    Lemma (C⁻¹). C(x) = Σ ωᵢ/(1 − θᵢx) has a zero 1/λ for one λ between any two neighbouring rates and no other, for Σ ωᵢ/(λ − θᵢ) falls
    from ∞ to −∞ there and is positive beyond the last. So B = A·C⁻¹ has the coefficients bₙ = Σ ρⱼ·λⱼ^n, over these λⱼ and λ = 1; and all
    ρ are positive: 1/ρ = C(1) for λ = 1, and 1/ρⱼ = (1 − λⱼ)·Σ ωᵢθᵢ/(λⱼ − θᵢ)² for the others. Hence bₙ > 0, falling as n grows.

    >>> root = ToeplitzFactor.of(2**20)
    >>> len(root.rates), round(float(root.sensitivity(1)), 4), round(root.row(2**20), 4)
    (10, 2.343, 2.3406)
    """

    size: int
    rates: tuple[int, ...] = field(repr=False)  # in units of 2^−UNIT
    weights: tuple[int, ...] = field(repr=False)
    _known: dict[tuple[str, int], Fraction] = field(factory=dict, init=False, repr=False, eq=False)

    @staticmethod
    def of(size: int, power: Fraction = Fraction(1, 2)) -> ToeplitzFactor:
        """About A^power, for `size` steps."""
        return _factor(size, power)

    @staticmethod
    def best(size: int, columns: int) -> ToeplitzFactor:
        """The power, ½ or lower, with the least error for a unit that contributes to `columns` steps.

        For one step that is the square root. The more steps, the closer to noise on each step alone, whose length grows by their root.
        """
        return _best(size, min(columns, size))

    # ── columns: the sensitivity of the measurements ─────────────────────────────────────────────────────────────────

    def sensitivity(self, columns: int) -> Fraction:
        """The length of the sum of the first `columns` columns, rounded up.

        Lemma. No other sum of k columns is longer. Columns s ≤ t have the product Σ over m < size − t of cₘ·cₘ₊ₜ₋ₛ, and c ≥ 0 never rises:
        so the product falls as t grows (fewer terms), and as t − s grows (smaller ones). The i-th of any k columns is at least column i,
        and two of them are at least as far apart as their places. So every product is at most that of the first k. If the columns are
        multiplied with numbers of at most 1 in size, of any sign, the sum is no longer.

        In closed form, with uᵢ = ωᵢ/(1 − θᵢ): its entries are Σ uᵢ(1 − θᵢ^(t+1)) for t < k, then Σ uᵢ(1 − θᵢ^k)·θᵢ^(t−k+1).
        """
        k = min(columns, self.size)

        def length() -> Ball:
            rates = _balls(self.rates)
            u = [weight / (1 - rate) for weight, rate in zip(_balls(self.weights), rates, strict=True)]
            v = [one * (1 - rate**k) for one, rate in zip(u, rates, strict=True)]
            alone, found = [_powers(rate, k) for rate in rates], ball(0)
            for i, first in enumerate(rates):
                for j, second in enumerate(rates):
                    both = first * second
                    found += u[i] * u[j] * (k - alone[i] - alone[j] + _powers(both, k)) + v[i] * v[j] * _powers(both, self.size - k)
            return found.sqrt()

        return self._up("columns", k, length)

    # ── rows: the error of running totals ────────────────────────────────────────────────────────────────────────────

    def row(self, steps: int) -> float:
        """The length of B's row for the running total after `steps` steps, rounded up."""

        def length() -> Ball:
            poles = self._poles
            return _square([one for _, one in poles], [pole for pole, _ in poles], steps).sqrt()

        return exact.float_up(self._up("row", steps, length))

    def row_of_window(self, steps: int) -> float:
        """The same for the difference of the last running total and the one `steps` before; it is less at earlier steps."""
        w = min(steps, self.size)

        def length() -> Ball:
            poles = self._poles
            rates, residues = [pole for pole, _ in poles], [one for _, one in poles]
            changed = [one * (1 - pole**w) for pole, one in poles]
            return (_square(residues, rates, w) + _square(changed, rates, self.size - w)).sqrt()

        return exact.float_up(self._up("window", w, length))

    @property
    def row_sum(self) -> float:
        """The sum of the last row of B, rounded up: a bound on the error from errors of at most 1 in each measurement."""

        def total() -> Ball:
            return sum((one * _sum(pole, self.size) for pole, one in self._poles), ball(0))

        return exact.float_up(self._up("sum", 0, total))

    @cached_property
    def _cells(self) -> list[int]:
        """The λ between neighbouring rates, by bisection: each lies between n and n + 1 in units of 2^−_POLE."""
        found = []
        with exact.precision(_PRECISION):
            rates, weights = _balls(self.rates), _balls(self.weights)
            for below, above in pairwise(self.rates):
                low, high = below << _POLE - UNIT, above << _POLE - UNIT
                while high - low > 1:
                    middle = (low + high) // 2
                    at = ball(Fraction(middle, 2**_POLE))
                    is_left = sum((weight / (at - rate) for weight, rate in zip(weights, rates, strict=True)), ball(0)) > 0
                    low, high = (middle, high) if is_left else (low, middle)
                found.append(low)
        return found

    @property
    def _poles(self) -> list[tuple[Ball, Ball]]:
        """Each λ with its ρ, at the working precision."""
        rates, weights = _balls(self.rates), _balls(self.weights)
        pairs = list(zip(weights, rates, strict=True))
        found = [(ball(1), 1 / sum((weight / (1 - rate) for weight, rate in pairs), ball(0)))]
        for low in self._cells:
            pole = exact.cell(low, _POLE)
            slope = sum((weight * rate / (pole - rate) ** 2 for weight, rate in pairs), ball(0))
            found.append((pole, 1 / ((1 - pole) * slope)))
        return found

    def _up(self, what: str, of: int, value: Callable[[], Ball]) -> Fraction:
        if (what, of) not in self._known:
            self._known[what, of] = _short(exact.rational_up(value, _PRECISION))
        return self._known[what, of]


def _short(value: Fraction) -> Fraction:
    """The next multiple of 2⁻⁶⁴ above."""
    return Fraction(-(-value.numerator * 2**64 // value.denominator), 2**64)


def _balls(numbers: Sequence[int]) -> list[Ball]:
    return [ball(Fraction(number, 2**UNIT)) for number in numbers]


def _powers(rate: Ball, count: int) -> Ball:
    """rate + rate² + … + rate^count, for a rate below 1."""
    return rate * (1 - rate**count) / (1 - rate)


def _sum(rate: Ball, count: int) -> Ball:
    """1 + rate + … + rate^(count − 1)."""
    return ball(count) if rate == 1 else (1 - rate**count) / (1 - rate)


def _square(residues: Sequence[Ball], rates: Sequence[Ball], count: int) -> Ball:
    """Σ over n < count of (Σ residue·rate^n)²."""
    pairs = list(zip(residues, rates, strict=True))
    return sum((a * b * _sum(first * second, count) for a, first in pairs for b, second in pairs), ball(0))


@lru_cache(maxsize=256)
def _best(size: int, columns: int) -> ToeplitzFactor:
    found, error = None, 0.0
    for twentieths in range(10, 0, -1):  # the error falls to its least and then rises
        tried = ToeplitzFactor.of(size, Fraction(twentieths, 20))
        errs = float(tried.sensitivity(columns)) * tried.row(size)
        if found is not None and errs >= error:
            break
        found, error = tried, errs
    assert found is not None
    return found


@lru_cache(maxsize=256)
def _factor(size: int, power: Fraction) -> ToeplitzFactor:
    """The trapezoid rule from u = −4 to about ln T + 2; the last rate gets the remainder beyond it, a rate of 0 gets the rest."""
    end = Fraction(7, 10) * (size - 1).bit_length() + _BEYOND  # ln 2 < 0.7
    count = int((end - _FIRST) / _STEP) + 1
    rates, weights = [], []
    with exact.precision(_PRECISION):
        alpha = ball(power)
        for i in range(count):
            u = ball(_FIRST + i * _STEP)
            rate = 1 / (1 + (-u).exp())
            weight = ball(_STEP) * (exact.pi() * alpha).sin() / exact.pi() * (alpha * rate.log() + (1 - alpha) * (1 - rate).log()).exp()
            if i == count - 1:
                weight = weight / (1 - (-ball(_STEP) * (1 - alpha)).exp())
            rates.append(_floor(rate))
            weights.append(_floor(weight))
    rest = 2**UNIT - sum(weights)
    assert rest > 0, "the rule leaves some weight near 0"
    return ToeplitzFactor(size, (0, *rates), (rest, *weights))


def _floor(value: Ball) -> int:
    found = exact.floor(value * 2**UNIT)
    assert found is not None, "the working precision decides it"
    return found
