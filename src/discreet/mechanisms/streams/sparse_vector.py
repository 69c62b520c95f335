"""The sparse vector technique: only queries whose answer is above a threshold spend budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Ball, Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.streams.stateful import StatefulRun
from discreet.noise import lattice
from discreet.noise.bits import Bits, SystemBits
from discreet.private import Private, reveal

Extra = Literal["none", "gap", "value"]
_EDGE = Fraction(10**250)  # private answers are clamped to ± this


def _extra(value: Extra) -> Extra:
    if value not in ("none", "gap", "value"):
        raise Invalid("extra must be none, gap or value")
    return value


class ThresholdAnswer(NamedTuple):
    """The answer to one query: whether it is above the threshold, and the extra value requested (None below)."""

    above: bool
    extra: float | None = None


@final
@frozen(kw_only=True)
class SparseVector(Mechanism[list[ThresholdAnswer]]):
    """Release for each answer in a stream whether it is above a threshold, and stop after `hits` that are.

    Answers below it have no further loss, however many there are. With `extra="gap"` each hit also releases the difference of the noisy
    answer and the noisy threshold, at no further loss; with `extra="value"` the answer with fresh Laplace noise, from a third of ε.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; Lyu, Su & Li 2017; one-sided noise: Liu et al. 2024).
        Let each answer change by at most Δ, and F = 2·hits (F = hits if all change in the same direction). Draw ρ ~ Exp(Δ/ε₁) once and
        ν ~ Exp(FΔ/ε₂) for each query, and release whether q + ν ≥ T + ρ. This is (ε₁ + ε₂)-DP for any number of queries.

    Proof.
        Shift ρ by Δ. A query that was below stays below, for its answer rose by at most Δ; one above stays above if its ν is raised by at
        most 2Δ (if all answers change in the same direction, by Δ: if they rise, ν need only offset the shift of ρ, and if they fall, ρ is
        not shifted and ν offsets the fall). The density of ρ falls at most by the factor
        e^(−ε₁), each P[ν ≥ ·] and each density of ν at most by e^(−ε₂/hits). All shifts go to the right, into the support of one-sided
        noise. The gap is a function of ν's value at a hit, so the same argument covers its density.

    Accuracy.
        The noise is centred by its mean. With probability `confidence`, in a stream of `size` queries every hit has q ≥ T − t and every
        miss q ≤ T + t, for t = `error`: ν ≤ (FΔ/ε₂) ln(size/β₁) for all, and ρ ≤ (Δ/ε₁) ln(1/β₂), with the best β₁ + β₂ = β.

    >>> svt = SparseVector(epsilon=100, threshold=1000)
    >>> [o.above for o in svt.release([3, 10, 2000, 5000])]    # stops at the first hit
    [False, False, True]
    """

    epsilon: Fraction = field(converter=parameter.some_epsilon, repr=str)
    threshold: Fraction = field(converter=parameter.threshold, repr=str)
    sensitivity: Fraction = field(default=Fraction(1), converter=parameter.sensitivity, repr=str)
    hits: int = field(default=1, converter=parameter.hits, repr=str)
    monotone: bool = field(default=False, converter=parameter.monotone)
    extra: Extra = field(default="none", converter=_extra)

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """The scales Δ/ε₁ of the threshold's and FΔ/ε₂ of the answers' noise; ε₁ : ε₂ = 1 : F^⅔ has the least variance."""
        factor = self.hits if self.monotone else 2 * self.hits
        share = Fraction(1) / (1 + exact.rational(round(factor ** (2 / 3), 6)))
        test = self.epsilon - (self.value_epsilon or 0)
        return self.sensitivity / (test * share), factor * self.sensitivity / (test * (1 - share))

    @property
    def value_epsilon(self) -> Fraction | None:
        """The ε of all fresh answers together."""
        return self.epsilon / 3 if self.extra == "value" else None

    @property
    def loss(self) -> Loss:
        return leaves.Pure(self.epsilon)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        beta, count = exact.miss(exact.confidence_level(confidence)), exact.whole(size, "size")
        threshold, question = map(float, self.scales)
        centre = question - threshold

        def allowed(share: float) -> float:
            hit = question * (math.log(count / share) - math.log(beta)) - centre
            return max(hit, -threshold * (math.log(1 - share) + math.log(beta)) + centre)

        return min(allowed(i / 200) for i in range(1, 200))

    def open(self) -> SparseVectorRun:
        """Begin a stream of queries; the whole loss is spent now."""
        return SparseVectorRun(self, SystemBits())

    def check(self, answer: Any) -> None:
        if isinstance(answer, Sequence | np.ndarray) and len(answer):  # others are checked as they come
            answers.check_numbers(answer, "the answers")

    def sample(self, answer: Iterable[Any], bits: Bits) -> list[ThresholdAnswer]:
        if not isinstance(answer, Iterable):
            raise Invalid("give the answers as a list, or open() a stream and ask() one answer at a time")
        run, outcomes = SparseVectorRun(self, bits), []
        for value in answer:
            outcomes.append(run.ask(Private(value)))
            if run.halted:
                break
        return outcomes


@final
class SparseVectorRun(StatefulRun):
    """A stateful run of threshold queries."""

    def __init__(self, mechanism: SparseVector, bits: Bits) -> None:
        super().__init__()
        self.mechanism = mechanism
        self.left = mechanism.hits
        self._bits = bits
        self._threshold_noise = (bits.word() >> 1, 63)  # the first bits of the uniform behind ρ; more are added when needed

    @property
    def halted(self) -> bool:
        """Whether all hits are used up."""
        return self.left == 0

    def ask(self, answer: Private[Any] | Any) -> ThresholdAnswer:
        """Release whether an answer is above the threshold."""
        if not isinstance(answer, Private):
            answers.check_numbers(answer)
        self.check_process()
        with self._lock:
            return self._ask(answer)

    def _ask(self, answer: Private[Any] | Any) -> ThresholdAnswer:
        if self.halted:
            raise Invalid("this stream has used all its hits: open a new stream")
        value = min(max(answers.number(reveal(answer)), -_EDGE), _EDGE)
        threshold, question = self.mechanism.scales
        lead = value - self.mechanism.threshold - (question - threshold)  # noise centred by its mean
        noise = (self._bits.word() >> 1, 63)
        grid = lattice.step(question) if self.mechanism.extra == "gap" else Fraction(0)

        def gap(u: Ball, w: Ball) -> Ball:
            return exact.ball(lead) - exact.ball(question) * u.log() + exact.ball(threshold) * w.log()

        def decide(u: Ball, w: Ball) -> int | None:  # −1 below, otherwise the gap in steps of the grid
            size = gap(u, w)
            if size < 0:
                return -1
            if size > 0:
                return exact.floor(size / exact.ball(grid)) if grid else 0
            return None

        steps = self._resolve(decide, noise)
        if steps < 0:
            return ThresholdAnswer(False)
        self.left -= 1
        if self.mechanism.value_epsilon is not None:
            each = self.mechanism.value_epsilon / self.mechanism.hits
            fresh = Laplace(epsilon=each, sensitivity=self.mechanism.sensitivity, whole=False)
            return ThresholdAnswer(True, float(fresh.sample(value, self._bits)))
        return ThresholdAnswer(True, float(steps * grid) if grid else None)

    def _resolve(self, decide: Callable[[Ball, Ball], int | None], noise: tuple[int, int]) -> int:
        """Decide with balls; the bits of the threshold's uniform are kept, for it is the same in every query."""
        while True:
            (u, n), (w, m) = noise, self._threshold_noise
            if u and w:
                with exact.precision(max(n, m) + 64):
                    answer = decide(exact.cell(u, n), exact.cell(w, m))
                if answer is not None:
                    return answer
            noise = (u << 64 | self._bits.word(), n + 64)
            self._threshold_noise = (w << 64 | self._bits.word(), m + 64)
