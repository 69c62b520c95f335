"""From the sample to the population: how far the answers to adaptively chosen questions may be from the truth.

A question is a function with values in [0, 1]. Its answer on a sample of n independent records is their mean; its truth is the population's
mean. If questions are chosen after looking at the records, the usual bounds fail; if every access to the records was private, the bounds
below hold. Losses are for neighbours that differ by replacing one record. Each function returns a half-width that holds for all questions
together with probability `confidence`.
"""

from __future__ import annotations

import math
from typing import Protocol

from discreet import exact
from discreet.exact import Number
from discreet.loss.loss import Loss

_SHARES = [i / 50 for i in range(1, 50)]
_SMALLEST = [10.0**-e for e in range(1, 13)]


class StatisticalQueryMechanism(Protocol):
    """A mechanism that answers questions about means: its loss, and how far its answers may be from the sample's means."""

    @property
    def loss(self) -> Loss: ...
    def error(self, confidence: Number = ..., size: int = ...) -> float: ...


def _read(n: int, confidence: Number, questions: int) -> tuple[int, float, int]:
    return exact.whole(n, "n"), exact.miss(exact.confidence_level(confidence)), exact.whole(questions, "questions")


def hoeffding(n: int, confidence: Number = 0.95, questions: int = 1) -> float:
    """The half-width for questions fixed before the records were seen and answered exactly.

    Theorem (Hoeffding 1963). P[|mean − truth| ≥ α] ≤ 2e^(−2nα²); for k questions the union bound has a factor k.

    >>> round(hoeffding(10_000), 4), round(hoeffding(10_000, questions=10_000), 4)
    (0.0136, 0.0254)
    """
    size, beta, count = _read(n, confidence, questions)
    return math.sqrt((math.log(2 * count) - math.log(beta)) / (2 * size))


def description(n: int, transcripts: float, confidence: Number = 0.95, questions: int = 1) -> float:
    """The half-width for adaptive questions with a short transcript; `transcripts` is the logarithm of how many there can be.

    Theorem (Dwork, Feldman, Hardt, Pitassi, Reingold & Roth 2015b). Fix the coins. Then the transcript determines the questions, so there
    are at most k·e^transcripts of them, fixed in advance: Hoeffding and the union bound hold for all.

    >>> round(description(10_000, transcripts=100 * math.log(2)), 3)      # a hundred yes-or-no answers
    0.06
    """
    size, beta, count = _read(n, confidence, questions)
    return math.sqrt((transcripts + math.log(2 * count) - math.log(beta)) / (2 * size))


def pure(n: int, epsilon: Number, confidence: Number = 0.95, questions: int = 1) -> float:
    """The half-width for questions chosen by ε-DP access to the records: the distance of their sample means from the truth.

    Theorem (Dwork, Feldman, Hardt, Pitassi, Reingold & Roth 2015b, max-information; the constants by the proof below).
        With v = nε²/4, for every κ > v, P[some |mean − truth| ≥ α] ≤ 2k·e^(κ − 2nα²) + e^(κ − κ²/(2v)).

    Proof. Let y be the transcript, and f(S) = ln P[y | S]/P[y]. Replacing a record changes f by at most ε, so f is sub-Gaussian with
        variance v around its mean (McDiarmid), and the mean is at most 0 (Jensen, as E e^f = 1). Records and y together have e^f times the
        probability of records and y drawn independently. So P[f > κ] ≤ E[e^f·e^(λ(f − κ))] ≤ e^((1 + λ)²v/2 − λκ), which at 1 + λ = κ/v is
        the second term; where f ≤ κ any event is at most e^κ times as likely as if the questions did not depend on the records: the first
        term.

    >>> round(pure(10_000, 0.1), 3), pure(10_000, 0) == hoeffding(10_000)
    (0.054, True)
    """
    size, beta, count = _read(n, confidence, questions)
    loss = exact.non_negative(epsilon, "epsilon")
    if not loss:
        return hoeffding(n, confidence, questions)
    v = size * exact.float_up(loss) ** 2 / 4

    def width(share: float) -> float:
        kappa = v + math.sqrt(v * v - 2 * v * math.log(share * beta))
        return math.sqrt((kappa + math.log(2 * count) - math.log((1 - share) * beta)) / (2 * size))

    return min(map(width, _SHARES))


def approximate(loss: Loss, mechanism: StatisticalQueryMechanism, confidence: Number = 0.95, questions: int = 1) -> float:
    """The half-width for answers of an (ε, δ)-DP mechanism that are near the sample's means; it does not depend on n.

    Theorem (Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi & Shenfeld 2020).
        If M is (ε, δ)-DP and all its answers are within α of the sample's means except with probability β, then for all c, d > 0 they are
        within α + e^ε − 1 + c + 2d of the truth except with probability β/c + δ/d.

    Proof. Given the transcript y, the records have a posterior distribution; let m be a question's mean under it. If |answer − m| > α + c,
        then with posterior probability above c the answer is further than α from the records' mean; so the probability of such y is below
        β/c (Markov). And (x, y) with x one of the records is (ε, δ)-close to (x, y) with x from the population. Apply this to the questions
        at those y where m exceeds the truth by e^ε − 1 + 2d, whose probability is p: p·(e^ε − 1 + 2d) < p·(e^ε − 1) + δ, so p < δ/(2d). The
        other side is the same.
    """
    _, beta, count = _read(1, confidence, questions)
    best = math.inf
    if loss.epsilon is not None and not loss.delta:  # δ = 0: d is not needed
        growth = math.expm1(exact.float_up(loss.epsilon)) if loss.epsilon < 700 else math.inf
        best = min(mechanism.error(1 - exact.rational(beta * c), count) + growth + c for c in _SMALLEST)
    for share in (0.1, 0.5, 0.9):
        for d in _SMALLEST[1:8]:
            growth = _growth(loss, (1 - share) * beta * d)
            if growth + 2 * d < best:
                best = min(best, *(mechanism.error(1 - exact.rational(share * beta * c), count) + growth + c + 2 * d for c in _SMALLEST))
    return best


def _growth(loss: Loss, delta: float) -> float:
    epsilon = loss.epsilon_at(delta)
    return math.expm1(epsilon) if epsilon < 700 else math.inf


def population_error(mechanism: StatisticalQueryMechanism, n: int, questions: int = 1, confidence: Number = 0.95) -> float:
    """The largest distance of any answer from the truth in the population: the smallest bound that the theorems here give.

    `mechanism` has a `loss`, under replacement of records, and an `error(confidence, size)`, the distance of `size` answers from the
    sample's means. Questions may be chosen adaptively, each after all earlier answers.

    >>> from discreet.algorithms.adaptive.thresholdout import Thresholdout
    >>> rule = Thresholdout(size=10_000, threshold=0.1, sigma=0.01, hits=2)
    >>> round(population_error(rule, 10_000, questions=10_000), 2)
    0.2
    """
    _, beta, count = _read(n, confidence, questions)
    widths = [1.0, approximate(mechanism.loss, mechanism, confidence, questions)]
    for share in (0.01, 0.1, 0.3, 0.5, 0.7, 0.9):
        near = mechanism.error(1 - exact.rational(share * beta), count)
        level = 1 - exact.rational((1 - share) * beta)
        if mechanism.loss.epsilon is not None and not mechanism.loss.delta:
            widths.append(near + pure(n, mechanism.loss.epsilon, level, questions))
        transcripts = getattr(mechanism, "transcripts", None)
        if transcripts is not None:
            widths.append(near + description(n, transcripts(questions), level, questions))
    return min(widths) * (1 + 1e-9)
