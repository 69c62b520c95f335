"""What the algorithms that learn share: multiplicative weights over a finite domain, a budget in exact shares, and parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sparse_vector import SparseVector

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_SHORT = 48  # bits of an ε that stands for a ρ


# ── weights ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _centred(logs: Any) -> Floats:
    array = np.asarray(logs, np.float64)
    return np.asarray(array - array.max())


@final
@frozen(eq=False)
class Weights:
    """Hold a distribution over a domain by its log-weights, and learn it from directions.

    An update multiplies the weight of v by e^(±rate·q(v)), for a query with values in [0, 1].

    Theorem (multiplicative weights; Littlestone & Warmuth 1994; Freund & Schapire 1997; the constant by Hoeffding's lemma).
        Let Ψ = KL(x‖p), where x is any distribution. If p′ comes from p by an update of rate η in direction s = ±1, then
        Ψ(p) − Ψ(p′) ≥ ηs·(q(x) − q(p)) − η²/8. From the uniform p, where Ψ ≤ ln N, at most ln N/(ηγ − η²/8) updates can go in the right
        direction with a gap |q(x) − q(p)| ≥ γ; with η = 4γ that is ln N/(2γ²), and with the textbook's η = γ/2 below 4 ln N/γ².

    Proof.
        Ψ(p) − Ψ(p′) = ηs·q(x) − ln Σ p(v)e^(ηs·q(v)), and by Hoeffding's lemma the logarithm is at most ηs·q(p) + η²/8. Ψ ≥ 0 always.

    Accuracy.
        Floats, whose errors are far below any noise. Weights are public: nothing private depends on how they are rounded.

    >>> p = Weights.uniform(4).update([1, 1, 0, 0], +1, math.log(3))
    >>> p.distribution.round(3).tolist(), most_updates(4, gap=0.1)
    ([0.375, 0.375, 0.125, 0.125], 69)
    """

    logs: Floats = field(converter=_centred, repr=False)

    @classmethod
    def uniform(cls, domain: int) -> Weights:
        """Every value weighs the same."""
        return cls(np.zeros(exact.whole(domain, "domain")))

    @property
    def distribution(self) -> Floats:
        """The weights, normed to add up to 1."""
        weights = np.exp(self.logs)
        return np.asarray(weights / weights.sum())

    def update(self, values: Any, direction: Literal[1, -1], rate: float) -> Weights:
        """Move towards the values (+1) or away from them (−1)."""
        if direction not in (1, -1) or not rate >= 0:
            raise Invalid("direction must be 1 or -1, and rate a number that is not negative")
        return Weights(self.logs + direction * rate * np.asarray(values, np.float64))

    def mean(self, values: Any) -> float:
        """The values' average over the distribution."""
        return float(np.asarray(values, np.float64) @ self.distribution)

    def divergence(self, target: Any) -> float:
        """KL(target‖p), the potential of the theorem."""
        goal = np.asarray(target, np.float64)
        some = goal > 0
        logs = self.logs - math.log(np.exp(self.logs).sum())
        return float((goal[some] * (np.log(goal[some]) - logs[some])).sum())


def most_updates(domain: int, gap: float, rate: float | None = None) -> int:
    """How many updates with this gap there can be at most; without a rate, for the best one, 4·gap."""
    step = 4 * gap if rate is None else rate
    drop = step * gap - step**2 / 8
    if not drop > 0:
        raise Invalid("the rate must lie between 0 and 8 times the gap")
    return math.floor(math.log(exact.whole(domain, "domain")) / drop)


# ── shares of a budget ───────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen
class Share:
    """Spend a part of a budget: pure ε, or ρ of zCDP; each mechanism made of it costs at most that, by its own loss.

    Theorem (Dwork et al. 2006; Bun & Steinke 2016; Cesar & Rogers 2021).
        ε adds up, and so does ρ. Of ρ, selection gets ε = √(8ρ) as it has bounded range, a threshold test ε = √(2ρ), and counts
        Gaussian noise; of ε, all get ε. Roots are rounded down.

    >>> Share.of(epsilon=1).part(4).count(sensitivity=1)
    Laplace(epsilon=1/4, sensitivity=1, whole=True)
    """

    epsilon: Fraction | None
    rho: Fraction | None

    @classmethod
    def of(cls, epsilon: Number | None = None, rho: Number | None = None) -> Share:
        """Read a budget: give just one of the two."""
        if (epsilon is None) == (rho is None):
            raise Invalid("give epsilon for pure privacy, or rho for zCDP, and not both")
        if epsilon is not None:
            return cls(exact.positive(epsilon, "epsilon"), None)
        return cls(None, exact.positive(rho, "rho")) if rho is not None else cls(None, None)

    def part(self, parts: int, of: int = 1) -> Share:
        """`of` of so many equal parts."""
        cut = Fraction(of, parts)
        return Share(None if self.epsilon is None else self.epsilon * cut, None if self.rho is None else self.rho * cut)

    def count(self, sensitivity: Number) -> Laplace | Gaussian:
        """Whole noise for whole answers that move by this much, in ℓ₁ for ε and in ℓ₂ for ρ."""
        if self.epsilon is not None:
            return Laplace(epsilon=self.epsilon, sensitivity=sensitivity, whole=True)
        return Gaussian(rho=self.rho, sensitivity=sensitivity, whole=True)

    def choice(self, sensitivity: Number) -> Exponential:
        """A selection among whole scores."""
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


def histogram(given: Any, domain: int, top: int) -> Integers:
    """Read a histogram totally: only its length, which is public, can be wrong.

    What is missing or negative counts as 0, reals are rounded down, and no count is so large that a query over it could overflow. Each
    of these maps moves a count by no more than it moved.
    """
    counts, single = answers.wholes(given, "the histogram")
    if single or len(counts) != domain:
        raise Invalid(f"the histogram must have one whole number for each of the domain's {domain} values")
    return np.clip(counts, 0, answers.LIMIT // (domain * top))


def check_histogram(given: Any, domain: int) -> None:
    """Report a slip in a plain histogram."""
    answers.check_whole(given, "the histogram")
    histogram(given, domain, 1)
    if answers.wholes(given)[0].min() < 0:
        raise Invalid("a histogram has no negative counts")


# ── parameters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def domain(value: int) -> int:
    """How many values a record may have."""
    return exact.whole(value, "domain")


def top(value: int) -> int:
    """What a query's values are divided by."""
    return exact.whole(value, "top")


def rounds(value: int) -> int:
    """How many rounds."""
    return exact.whole(value, "rounds")


def draws(value: int) -> int:
    """How many queries are drawn in a round."""
    return exact.whole(value, "draws")


def rows(value: int) -> int:
    """How many rows a small database has."""
    return exact.whole(value, "rows")


def size(value: int) -> int:
    """How many queries."""
    return exact.whole(value, "size")


def steps(value: int) -> int:
    """How many steps at most."""
    return exact.whole(value, "steps")


def queries_expected(value: int) -> int:
    """How many queries are to be accurate."""
    return exact.whole(value, "queries_expected")


def margin(value: int) -> int:
    """How far beyond near is wholly bad."""
    return exact.whole(value, "margin")


def sensitivity(value: int) -> int:
    """By how much an answer moves."""
    return exact.whole(value, "sensitivity")


def sweeps(value: int) -> int:
    """How often past answers are replayed."""
    return exact.whole(value, "sweeps", least=0)


def near(value: int) -> int:
    """How far off is good."""
    return exact.whole(value, "near", least=0)


def records(value: int | None) -> int | None:
    """The public number of records, if it is."""
    return None if value is None else exact.whole(value, "records")


def updates(value: int | None) -> int | None:
    """How many rounds at most, if fewer than the theorem asks for."""
    return None if value is None else exact.whole(value, "updates")


def epsilon(value: Number | None) -> Fraction | None:
    """ε, for pure privacy."""
    return None if value is None else exact.positive(value, "epsilon")


def rho(value: Number | None) -> Fraction | None:
    """ρ, for zCDP."""
    return None if value is None else exact.positive(value, "rho")


def accuracy(value: Number) -> Fraction:
    """How far off answers may be, as a part of n."""
    if not 0 < (read := exact.rational(value, "accuracy")) < 1:
        raise Invalid("accuracy must lie strictly between 0 and 1")
    return read


def beta(value: Number) -> Fraction:
    """With what chance they may be further off."""
    if not 0 < (read := exact.rational(value, "beta")) < 1:
        raise Invalid("beta must lie strictly between 0 and 1")
    return read
