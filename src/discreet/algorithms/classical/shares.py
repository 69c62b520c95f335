"""Shares of a budget, pure or concentrated, and the mechanisms each can pay for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import final

from attrs import frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.convert import zcdp_budget
from discreet.loss.loss import Loss
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams.sparse_vector import SparseVector

_SHORT = 48  # bits of an ε computed from a ρ


@final
@frozen
class BudgetShare:
    """A part of a budget: pure ε, or ρ of zCDP; each mechanism made from it costs at most that, by its own loss.

    Theorem (Dwork et al. 2006; Bun & Steinke 2016; Cesar & Rogers 2021).
        ε adds up, and so does ρ. From ρ, selection gets ε = √(8ρ) as it has bounded range, a threshold test ε = √(2ρ), and counts Gaussian
        noise; from ε, all get ε. Roots are rounded down.

    Theorem (Canonne, Kamath & Steinke 2020).
        ρ-zCDP with ε(ρ, δ) ≤ ε is (ε, δ)-DP, and so is ε pure. Which of the two a budget becomes depends on k, the number of equal parts it
        is meant for: pure as long as k ≤ ε²/8ρ, where both its counts and its selections have less noise than those of ρ.

    >>> BudgetShare.of(epsilon=1).part(4).count(sensitivity=1)
    Laplace(epsilon=1/4, sensitivity=1, whole=True)
    """

    epsilon: Fraction | None
    rho: Fraction | None

    @classmethod
    def of(cls, epsilon: Number | None = None, rho: Number | None = None, delta: Number | None = None, *, parts: int = 1) -> BudgetShare:
        """Read a budget: epsilon, or epsilon and delta, or rho; `parts` is about the number of equal parts it will be spent in."""
        if epsilon is None and rho is not None and delta is None:
            return cls(None, exact.positive(rho, "rho"))
        if epsilon is None or rho is not None:
            raise Invalid("give epsilon= for pure privacy, epsilon= and delta= for approximate privacy, or rho= alone for zCDP")
        pure = exact.positive(epsilon, "epsilon")
        mass = Fraction(0) if delta is None else parameter.any_delta(delta)
        concentrated = zcdp_budget(pure, mass)
        return cls(pure, None) if 8 * parts * concentrated <= pure**2 else cls(None, concentrated)

    def part(self, parts: int, of: int = 1) -> BudgetShare:
        """`of` of `parts` equal parts."""
        cut = Fraction(of, parts)
        return BudgetShare(None if self.epsilon is None else self.epsilon * cut, None if self.rho is None else self.rho * cut)

    def count(self, sensitivity: Number) -> Laplace | Gaussian:
        """Whole-number noise for whole-number answers of this sensitivity, in ℓ₁ for ε and in ℓ₂ for ρ."""
        if self.epsilon is not None:
            return Laplace(epsilon=self.epsilon, sensitivity=sensitivity, whole=True)
        return Gaussian(rho=self.rho, sensitivity=sensitivity, whole=True)

    def choice(self, sensitivity: Number) -> Exponential:
        """A selection among whole-number scores."""
        return Exponential(epsilon=self._selecting(8, leaves.BoundedRange), sensitivity=sensitivity)

    def test(self, threshold: Number, sensitivity: Number) -> SparseVector:
        """A stream of threshold questions up to one hit."""
        return SparseVector(epsilon=self._selecting(2, leaves.Pure), threshold=threshold, sensitivity=sensitivity)

    def _selecting(self, factor: int, leaf: Callable[[Fraction], Loss]) -> Fraction:
        if self.epsilon is not None:
            return self.epsilon
        rho = self.rho or Fraction(0)
        root = exact.rational_down(lambda: exact.ball(factor * rho).sqrt())
        grid = Fraction(2) ** (root.numerator.bit_length() - root.denominator.bit_length() - _SHORT)
        epsilon = root // grid * grid
        while not leaf(epsilon).rho <= rho:  # type: ignore[operator]
            epsilon -= grid
        return epsilon
