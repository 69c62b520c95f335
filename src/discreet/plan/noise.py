"""Choose the noise and the split of the budget with the least expected error."""

from __future__ import annotations

from fractions import Fraction

from discreet.loss import calibrate
from discreet.plan.arrangement import Arrangement, weights_by_variance
from discreet.plan.bounding import Bounding
from discreet.plan.budget import needed, split, totals_of
from discreet.plan.discover import open_limits
from discreet.plan.discovery import Discovered
from discreet.plan.profiled_range import known_range
from discreet.plan.resolve import bound
from discreet.plan.steps import Budget, Noise
from discreet.query.question import Question
from discreet.query.totals import Total
from discreet.tables.table import Contributions

_USUAL = {"rows": 1, "groups": 3, "per_group": 1}  # assumed for open limits when candidates are compared


def choose_noise(
    question: Question, limits: Contributions, epsilon: Fraction, delta: Fraction, taken: Fraction, arrangement: Arrangement | None = None
) -> Budget:
    """The best budget for ε and the δ that discoveries leave; Laplace noise is always possible, Gaussian noise with a δ."""
    ways = [
        _way(question, limits, epsilon, noise_delta, noise, centred, arrangement)
        for noise, noise_delta in _noises(question, delta, taken)
        for centred in _centrings(question)
    ]
    return min(ways, key=lambda way: way[1])[0]


def _noises(question: Question, delta: Fraction, taken: Fraction) -> list[tuple[Noise, Fraction]]:
    noises: list[tuple[Noise, Fraction]] = [("laplace", Fraction(0))]
    if delta > 0 and question.additive:
        noises.append(("gaussian", delta - taken))
    return noises


def _centrings(question: Question) -> list[bool]:
    """Whether sums are centred at the middle of their bounds; both are tried where bounds are known.

    On a sample, numbers of both signs are centred, for the error of their sum follows from a count that is then released with it.
    """
    ranges = [known_range(question.relation, one.centring) for one in question.additive.values() if one.centring is not None]
    if question.sample is not None and any(interval is not None and interval.low < 0 < interval.high for interval in ranges):
        return [True]
    return [False, True] if ranges and all(interval is not None and interval.known for interval in ranges) else [False]


def _way(
    question: Question,
    limits: Contributions,
    epsilon: Fraction,
    delta: Fraction,
    noise: Noise,
    centred: bool,
    arrangement: Arrangement | None,
) -> tuple[Budget, float]:
    """One candidate budget, and its score: the sum of squared errors, each relative to the sensitivity."""
    guess = Discovered(limits={what: _USUAL[what] for what in open_limits(question, limits)})
    bounding = bound(question, limits, guess, noise)
    of = totals_of(question, {}, centred, bounding)
    weights = weights_by_variance(needed(question, of), arrangement, question, noise == "gaussian", bounding, of)
    choices = dict.fromkeys(question.selected, 1.0)
    if arrangement is not None:  # each is made once for each set
        cells = sum(arrangement.layout.cells(arrangement.table(places)) for places in question.sets)
        choices = dict.fromkeys(choices, float(cells * len(question.sets) ** 2))
    shares = split({**choices, **weights}, 1 / 3)
    for_totals = sum((shares[total] for total in weights), Fraction(0)) * epsilon
    budget = Budget(noise, for_totals, delta, tuple((name, shares[name] * epsilon) for name in question.selected), centred)
    return budget, _score(weights, bounding, budget) if weights else 0.0


def _score(weights: dict[Total, float], bounding: Bounding, budget: Budget) -> float:
    sensitivity = bounding.sensitivity
    if budget.noise == "laplace":
        inside = split(weights, 1 / 3)
        spread = 2 * (sensitivity.l1 / bounding.one / float(budget.epsilon)) ** 2
        return sum(k * spread / float(inside[total]) ** 2 for total, k in weights.items())
    inside = split(weights, 1 / 2)
    sigma = float(calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1)))
    return sum(k * (float(sensitivity.l2) / bounding.one * sigma) ** 2 / float(inside[total]) for total, k in weights.items())
