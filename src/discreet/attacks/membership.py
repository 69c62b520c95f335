"""Membership inference: decide from published means who took part in a study.

Tracing adds up, over all published means, how far each mean leans from the population towards a person. One mean reveals almost nothing;
many accurate means reveal almost everything. All inputs are public numbers and the attacker's knowledge of the candidates: nothing here is
private, and nothing is charged.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.private import Private

Floats = NDArray[np.float64]


def tracing_scores(people: Any, released: Any, population: Any) -> Floats:
    """The tracing score of each person: Σⱼ (personⱼ − populationⱼ)(releasedⱼ − populationⱼ).

    `people` has one row per person and one column per mean; `released` and `population` have one number per mean.

    Theorem (Homer et al. 2008; Dwork, Smith, Steinke, Ullman & Vadhan 2015).
        Let columns be independent bits with means p, and let the released means be exact means of n people. A non-participant's score has
        mean 0 and variance Σ pⱼ(1 − pⱼ)(releasedⱼ − pⱼ)², about Σ (pⱼ(1 − pⱼ))²/n. A participant contributes 1/n to each mean, so their
        score has mean Σ pⱼ(1 − pⱼ)/n. The gap is about √(d/n) standard deviations for d columns: it is visible once d is well above n.

    >>> tracing_scores([[1, 1, 0], [0, 0, 1]], released=[0.7, 0.6, 0.4], population=[0.5, 0.5, 0.5]).round(3).tolist()
    [0.2, -0.2]
    """
    means, shares = _means(released, population)
    return np.asarray((_people(people, len(means), "people") - shares) @ (means - shares))


@final
@frozen(eq=False)
class Membership:
    """The result for each candidate: score, p-value of "did not take part", and whether the p-value is small enough to accuse."""

    scores: Floats
    p_values: Floats
    level: float

    @property
    def accused(self) -> NDArray[np.bool_]:
        """Whether each candidate is accused of having taken part: the p-value is at most the level."""
        return np.asarray(self.p_values <= self.level)


def membership_inference(
    candidates: Any, released: Any, *, population: Any, strangers: Any = None, false_positives: Number = "0.01"
) -> Membership:
    """Decide for each candidate whether they took part in the study whose means were released, with few false accusations.

    `population` has each column's mean in the population. Give `strangers`, rows of people from the population who are known not to have
    taken part, if columns are not independent or their population means are not known exactly.

    Theorem (false accusations).
        A person who did not take part is accused with probability at most `false_positives`, whatever was released, exact or noisy: with
        `strangers`, if the candidate is exchangeable with them given the release (Vovk, Gammerman & Shafer 2005); without, if the
        candidate's columns are independent, lie in [0, 1] and have the means `population` (Hoeffding 1963).

    Proof.
        The p-value is (1 + the number of strangers who score at least as high)/(1 + the number of strangers): the rank of one among
        exchangeable scores, with ties resolved in favour of the candidate. Without strangers, let aⱼ = releasedⱼ − populationⱼ. A score of
        s > 0 or more has probability at most E[e^(λ·score)]/e^(λs) for every λ > 0. The columns are independent, and no column has a larger
        E[e^(λaⱼxⱼ)] than a bit with the same mean, as e^x is convex. The p-value is the smallest of these bounds over a list of λ.

    Accuracy.
        The share of participants who are detected depends on the release. If the release is (ε, δ)-differentially private, it is at most
        `membership_bound`, for this and every other test. From exact means of n people, nearly all participants are detected as soon as
        there are many more columns than people.

    >>> crowd = np.arange(40)[:, None] >> np.arange(6) & 1  # 40 people, 6 yes/no columns
    >>> verdict = membership_inference([[1, 1, 1, 1, 1, 1]], [0.9] * 6, population=[0.5] * 6, strangers=crowd, false_positives=0.05)
    >>> verdict.accused.tolist(), verdict.p_values.round(3).tolist()
    ([True], [0.024])
    """
    level = exact.confidence_level(false_positives, "false_positives")
    scores = tracing_scores(candidates, released, population)
    if strangers is None:
        shares = _means(released, population)[1]
        if shares.min() < 0 or shares.max() > 1 or not _within_unit(candidates):
            raise Invalid("without strangers, candidates and population must lie between 0 and 1: rescale the columns, or pass strangers=")
        p_values = _hoeffding(scores, released, population)
    else:
        p_values = _ranks(scores, np.sort(tracing_scores(strangers, released, population)))
    return Membership(scores, p_values, float(level))


def membership_bound(false_positives: Number, *, epsilon: Number, delta: Number = 0) -> float:
    """The largest share of participants that any test can detect at this false-positive rate, rounded up.

    Theorem (Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015).
        If the release is (ε, δ)-differentially private, every test that accuses a stranger with probability FPR accuses a participant with
        probability at most min(e^ε·FPR + δ, 1 − e^(−ε)(1 − δ − FPR), 1).

    Proof.
        Let S be the set of releases on which the test accuses. The first bound is the definition for S, with the participant in and out;
        the second is the definition for the complement of S: 1 − FPR ≤ e^ε(1 − TPR) + δ.

    >>> round(membership_bound("0.01", epsilon=1, delta="1e-6"), 4)  # of a hundred participants fewer than three
    0.0272
    """
    rate, mass = exact.rational(false_positives, "false_positives"), exact.probability(delta, "delta")
    if not 0 <= rate <= 1:
        raise Invalid("false_positives must be a rate between 0 and 1, such as 0.01")
    price = exact.non_negative(epsilon, "epsilon")
    detected = exact.rational_up(lambda: exact.ball(price).exp()) * rate + mass
    missed = exact.rational_down(lambda: exact.ball(-price).exp()) * (1 - mass - rate)
    return exact.float_up(min(detected, 1 - missed, Fraction(1)))


# ── p-values ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ranks(scores: Floats, sorted_strangers: Floats) -> Floats:
    at_least = len(sorted_strangers) - np.searchsorted(sorted_strangers, scores, side="left")
    return np.asarray((1 + at_least) / (1 + len(sorted_strangers)))


def _hoeffding(scores: Floats, released: Any, population: Any) -> Floats:
    """The smallest of many valid bounds: a list of λ that misses the best one is still sound."""
    means, shares = _means(released, population)
    lean = means - shares
    square = float((lean**2).sum())
    highest = float(scores.max())
    if square == 0 or highest <= 0:
        return np.ones_like(scores)  # the release equals the population, or leans away from every candidate
    log_bounds = np.zeros_like(scores)
    with np.errstate(divide="ignore"):  # ln 0 = −∞ is correct for a mean of 0 or 1
        no, yes = np.log1p(-shares), np.log(shares)
    for rate in 4 * highest / square * np.geomspace(2**-6, 2**6, 97):  # 4s/‖a‖² is the best λ for means of ½
        log_moment = float((np.logaddexp(no, yes + rate * lean) - rate * lean * shares).sum())
        log_bounds = np.minimum(log_bounds, log_moment - rate * scores)
    return np.exp(log_bounds)


# ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _numbers(given: Any, name: str, dimensions: int) -> Floats:
    if isinstance(given, Private):
        raise Invalid(f"{name} must be public, because an attacker sees released numbers only: release it first")
    try:
        read = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise Invalid(f"{name} must be numbers: code yes and no as 1 and 0") from None
    if read.ndim != dimensions or not read.size or not np.isfinite(read).all():
        shape = (
            "one finite number for each released mean" if dimensions == 1 else "one row per person, with one finite number for each mean"
        )
        raise Invalid(f"{name} must have {shape}")
    return read


def _means(released: Any, population: Any) -> tuple[Floats, Floats]:
    means, shares = _numbers(released, "released", 1), _numbers(population, "population", 1)
    if len(means) != len(shares):
        raise Invalid("population must have one mean for each released mean: give both in the same order")
    return means, shares


def _people(given: Any, columns: int, name: str) -> Floats:
    people = _numbers(given, name, 2)
    if people.shape[1] != columns:
        raise Invalid(f"{name} must have one column for each of the {columns} released means: leave out the others")
    return people


def _within_unit(candidates: Any) -> bool:
    people = np.asarray(candidates, np.float64)
    return bool(people.min() >= 0 and people.max() <= 1)
