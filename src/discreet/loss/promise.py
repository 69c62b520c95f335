"""A composition together with the (ε, δ) it was calibrated to, and the steps of an interactive run that has an (ε, δ) as a whole."""

from __future__ import annotations

from abc import ABC
from fractions import Fraction
from typing import final

from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.loss.law import Floats, Laws
from discreet.loss.loss import Loss
from discreet.loss.notions import Approx

GROUPS = (2, 5, 10)  # group sizes whose loss is reported with every answer


def group_price(loss: Loss, epsilon: Fraction, delta: Fraction, k: int) -> tuple[float, Fraction]:
    """The (ε, δ) of an (ε, δ)-DP answer for a group of k units: the best ε, at most kε, at the δ of group privacy.

    Where that δ would be 1 or more, the best ε at the answer's own δ; infinite if there is none.

    >>> epsilon, delta = group_price(Approx("1/2", "1e-6"), Fraction(1, 2), Fraction("1e-6"), 2)
    >>> epsilon, round(float(delta) * 1e6, 2)
    (1.0, 2.65)
    """
    mass = Fraction(0)
    if delta:
        mass = delta * exact.rational_up(lambda: (exact.ball(k * epsilon).exp() - 1) / (exact.ball(epsilon).exp() - 1))
    together = loss.group(k)
    if mass >= 1:
        return together.epsilon_at(delta), delta
    return min(together.epsilon_at(mass), exact.float_up(k * epsilon)), mass


class _OfParts(Loss, ABC):
    """The loss of its parts, but for what basic composition or a budget charges for them."""

    parts: Loss
    delta = property(lambda self: self.parts.delta)
    epsilon = property(lambda self: self.parts.epsilon)
    rho = property(lambda self: self.parts.rho)
    mu_squared = property(lambda self: self.parts.mu_squared)

    @property
    def laws(self) -> Laws | None:
        return self.parts.laws

    @property
    def closed(self) -> bool:
        return self.parts.closed

    def renyi(self, orders: Floats) -> Floats:
        return self.parts.renyi(orders)

    def group(self, k: int) -> Loss:
        return self.parts.group(k)


@final
@frozen
class Promised(_OfParts):
    """The loss of parts whose composition is (ε, δ)-DP as a whole; under every other notion it is that of the parts.

    Theorem (closure; Dwork et al. 2006).
        If the parts together are (ε, δ)-DP then basic composition may add (ε, δ) for them. The constructor checks that they are.

    >>> from discreet.loss.leaves import GaussianLoss
    >>> Promised(GaussianLoss("1/20"), 1, "1/10000").basic
    (Fraction(1, 1), Fraction(1, 10000))
    >>> Promised(GaussianLoss(1), 1, "1/10000")
    Traceback (most recent call last):
    discreet.errors.Invalid: the parts are not (1, 1/10000)-DP: give a larger epsilon or delta
    """

    parts: Loss
    promised_epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)
    promised_delta: Fraction = field(converter=parameter.any_delta, repr=str)

    def __attrs_post_init__(self) -> None:
        if not self.parts.within(Approx(self.promised_epsilon, self.promised_delta)):
            raise Invalid(f"the parts are not ({self.promised_epsilon}, {self.promised_delta})-DP: give a larger epsilon or delta")

    @property
    def basic(self) -> tuple[Fraction | None, Fraction]:
        return self.promised_epsilon, self.promised_delta


@final
@frozen
class InteractiveStep(_OfParts):
    """One step of an interactive run that is (ε, δ)-DP as a whole, with what a budget adds for it: all steps together add no more.

    Theorem (concurrent composition; Lyu 2022; Vadhan & Zhang 2023; Haney et al. 2023).
        Let a run be (E, D)-DP as a whole, its steps be (εᵢ, δᵢ)-DP with Σδᵢ ≤ d, and let other questions be asked between them. Then basic
        composition may add δ = D + d with the first step, and for each step ε = εᵢ until they add up to E, and nothing beyond.

    Proof.
        A run that is (E, D)-DP is a post-processing of randomised response that reveals with probability D and else has ratio e^E, drawn
        when the run opens; a step is one of δᵢ and εᵢ. Let A be the transcripts on which the steps add up to E or less. On A use the
        steps, elsewhere the whole: unless something reveals, the ratio on each transcript is at most e^Σ, where Σ is what was charged.
        Something reveals on A with probability at most d + Σδ of the others there, and elsewhere D + Σδ of the others there, together
        D + d + Σδ. With several runs, split by the set of runs that reached their E; each run has the same two terms.

    >>> from discreet.loss.leaves import GaussianLoss
    >>> step = InteractiveStep(Promised(GaussianLoss("1/20"), 1, "1/10000"), "1/2", 0)
    >>> step.charged, step.basic  # in a budget with the rest of its run, and by itself
    ((Fraction(1, 2), Fraction(0, 1)), (Fraction(1, 1), Fraction(1, 10000)))
    """

    parts: Loss
    added_epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)
    added_delta: Fraction = field(converter=parameter.any_delta, repr=str)

    @property
    def charged(self) -> tuple[Fraction | None, Fraction]:
        return self.added_epsilon, self.added_delta

    @property
    def basic(self) -> tuple[Fraction | None, Fraction]:
        return self.parts.basic
