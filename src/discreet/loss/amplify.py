"""Losses of mechanisms that see a random sample of the units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number, ball
from discreet.loss import convert, pld
from discreet.loss.certify import rational_above
from discreet.loss.law import Laws, pure_law
from discreet.loss.loss import NOTHING, Adjacency, Group, Loss
from discreet.loss.sampled_law import SampledLaw, Side

Sampling: TypeAlias = Literal["poisson", "without replacement"]

_FINE, _LESS = 192, 1 - Fraction(1, 2**40)  # bits of an ε before sampling; what is taken off if it was rounded to slightly too much
_NEARLY_ALL = 1 - Fraction(1, 2**30)  # a rate at which there is nothing to gain


def _rate(value: Number) -> Fraction:
    if not 0 < (rate := exact.rational(value, "rate")) < 1:
        raise Invalid("rate must lie strictly between 0 and 1: at rate 1 nothing is amplified, and the loss is that of the mechanism")
    return rate


def amplified(epsilon: Fraction | None, rate: Fraction) -> Fraction | None:
    """ln(1 + q(e^ε − 1)), rounded up; None is ∞.

    Theorem (Li, Qardaji & Su 2012; Balle, Barthe & Gaboardi 2018).
        An (ε, δ)-DP mechanism on a sample at rate q is (ln(1 + q(e^ε − 1)), q·δ)-DP.

    >>> float(amplified(Fraction(1), Fraction(1, 100)))
    0.0170...
    """
    if not epsilon or epsilon > convert.HUGE:
        return epsilon
    return min(epsilon, rational_above(lambda: (ball(rate) * ball(epsilon).expm1()).log1p()))


def before_sampling(epsilon: Fraction, rate: Fraction) -> Fraction:
    """The ε₀ of a mechanism that is ε-DP on a sample at this rate: ln(1 + (e^ε − 1)/q), rounded down so that `amplified` is at most ε.

    >>> float(before_sampling(Fraction(1, 10), Fraction(1, 100)))
    2.4438...
    """
    found = exact.grid_down(exact.rational_down(lambda: (ball(epsilon).expm1() / ball(rate)).log1p(), _FINE))
    if found > convert.HUGE:  # beyond it `amplified` gains nothing
        return epsilon
    while (again := amplified(found, rate)) is not None and again > epsilon:
        found = exact.grid_down(found * _LESS)
    return max(found, epsilon)


class _Sampled(Loss, ABC):
    """A part's loss on a sample: ε, δ and laws are amplified; ρ and μ² are not, unless the amplified ε gives less.

    Proof that ρ, μ² and laws of the part hold as they are, with δ reduced to q·δ. Couple the samples of two neighbours: they agree, or with
        probability q they are neighbours themselves, and then the part reveals with probability δ. What is left is a mixture of pairs each
        of which is equal or has the part's remaining loss, with the same weights on both sides. Rényi divergences are jointly
        quasi-convex; and whoever sees which pair was drawn sees no less, whose trade-off curve is a mean of curves above that of the part.
    """

    part: Loss
    rate: Fraction

    @property
    @abstractmethod
    def _side(self) -> Side: ...

    @property
    def delta(self) -> Fraction:
        return self.rate * self.part.delta

    @property
    def epsilon(self) -> Fraction | None:
        return amplified(self.part.epsilon, self.rate)

    @property
    def basic(self) -> tuple[Fraction | None, Fraction]:
        epsilon, delta = self.part.basic
        return amplified(epsilon, self.rate), self.rate * delta

    @property
    def rho(self) -> Fraction | None:
        bounds = self.part.rho, None if self.epsilon is None else convert.pure_to_zcdp(self.epsilon)
        return min((bound for bound in bounds if bound is not None), default=None)

    @property
    def mu_squared(self) -> Fraction | None:
        bounds = self.part.mu_squared, None if self.epsilon is None else convert.pure_to_gdp(self.epsilon)
        return min((bound for bound in bounds if bound is not None), default=None)

    @property
    def laws(self) -> Laws | None:
        found = None if self.part.laws is None else pld.merged(self.part.laws)
        if found is not None and len(found) == found[0][1] == 1 and found[0][0].reverse == found[0][0] and self.rate < _NEARLY_ALL:
            return ((SampledLaw(found[0][0], self.rate, self._side), 1),)
        return found if self.epsilon is None else ((pure_law(self.epsilon), 1),)

    @property
    def closed(self) -> bool:
        return self.epsilon is not None or self.part.closed

    def group(self, k: int) -> Loss:
        """By group privacy from ε; without it, that of all units."""
        k = exact.whole(k, "k", least=0)
        return self if k == 1 else NOTHING if not k else self.part.group(k) if self.epsilon is None else Group(k, self)

    def below(self, other: Loss) -> bool:
        return isinstance(other, _Sampled) and type(self) is type(other) and self.rate <= other.rate and self.part.below(other.part)


@final
@frozen
class PoissonSubsampled(_Sampled):
    """The loss where each unit is in the sample with probability `rate`, independently, for neighbours by adding or removing a unit.

    Assumes. `part` is the mechanism's loss under add/remove. Nothing about the sample is released, nor its size.

    Theorem (Balle, Barthe & Gaboardi 2018, theorem 8; Zhu, Dong & Wang 2022, theorem 11).
        If the pair (P, Q) dominates the mechanism and (Q, P) has the same law, then ((1 − q)Q + qP, Q) dominates where the unit is removed,
        (Q, (1 − q)Q + qP) where it is added. Each composes with its like; the ε of a composition is the larger of the two.
        zCDP and GDP have no such theorem: the ρ and μ² of a sampled Gaussian are those of the Gaussian.

    >>> from discreet.loss.leaves import GaussianLoss
    >>> steps = 1000 * PoissonSubsampled(GaussianLoss(1), "1/100")
    >>> round(steps.epsilon_at(1e-5), 2), round((1000 * GaussianLoss(1)).epsilon_at(1e-5), 1)
    (1.83, 633.9)
    """

    part: Loss
    rate: Fraction = field(converter=_rate, repr=str)
    _side = property(lambda self: "removed")


@final
@frozen
class Subsampled(_Sampled):
    """The loss on a sample of `rate` of the units, for neighbours by replacing one unit.

    The sample has a fixed number of the units, drawn without replacement, or each unit with probability `rate` (Poisson).

    Assumes. `part` is the mechanism's loss under replace-one; for a Poisson sample it must hold for adding or removing a unit too, as it
        does where it is twice the loss under add/remove.

    Theorem (Balle, Barthe & Gaboardi 2018, theorems 8 to 10).
        If the mechanism is (ε, δ(ε))-DP for every ε ≥ 0, it is (ln(1 + q(e^ε − 1)), q·δ(ε))-DP on the sample.

    Proof. Let μ₁ and μ₁′ be the output given that the unit, or what replaces it, is in the sample, and μ₀ given that it is not. For
        α = 1 + q(β − 1): H_α((1 − q)μ₀ + qμ₁ ‖ (1 − q)μ₀ + qμ₁′) = q·H_β(μ₁ ‖ (1 − t)μ₀ + tμ₁′) with t = α/β (advanced joint convexity),
        at most q times the larger of H_β(μ₁‖μ₀) and H_β(μ₁‖μ₁′). Samples that have the unit differ from those that have its replacement
        in one unit; and, at a fixed size, from those that have neither, paired by what stands in its place, in one unit too.

    >>> from discreet.loss.leaves import Pure
    >>> round(Subsampled(Pure(1), "1/10").epsilon_at(0), 4)  # ln(1 + (e − 1)/10)
    0.1586
    """

    part: Loss
    rate: Fraction = field(converter=_rate, repr=str)
    _side = property(lambda self: "replaced")


def subsampled(loss: Loss, rate: Number, *, sampling: Sampling, adjacency: Adjacency) -> Loss:
    """The loss of a mechanism on a random sample of the units, which stays secret; `rate` is the share of units in the sample.

    Theorem (Balle, Barthe & Gaboardi 2018).
        See `PoissonSubsampled` and `Subsampled`. A sample of fixed size needs a fixed number of units: there is none under add/remove.

    >>> from discreet.loss.leaves import LaplaceLoss
    >>> subsampled(LaplaceLoss(1), "1/10", sampling="poisson", adjacency="add/remove")
    PoissonSubsampled(part=LaplaceLoss(epsilon=1), rate=1/10)
    """
    share = exact.non_negative(rate, "rate")
    if sampling not in ("poisson", "without replacement") or adjacency not in ("add/remove", "replace-one"):
        raise Invalid('sampling must be "poisson" or "without replacement", and adjacency "add/remove" or "replace-one"')
    if share > 1:
        raise Invalid("rate must not be above 1: it is the share of units in the sample")
    if sampling == "without replacement" and adjacency == "add/remove":
        raise Invalid(
            "a sample of fixed size is a share of a number of units that is fixed and public: "
            'give adjacency="replace-one" and the loss under replace-one, or take a Poisson sample'
        )
    if share in (0, 1):
        return loss if share else NOTHING
    return PoissonSubsampled(loss, share) if adjacency == "add/remove" else Subsampled(loss, share)
