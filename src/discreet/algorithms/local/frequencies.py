"""Frequency estimation in the local model: how often each choice occurs, from reports that each person randomised."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.algorithms.local.randomizers import LocalRandomizer, Reports, best_randomizer, worst_variance
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss.loss import Loss
from discreet.mechanisms.mechanism import Mechanism
from discreet.noise.bits import Bits
from discreet.noise.refine import Floats, Integers

METHODS = ("auto", "randomized response", "subset", "unary")
_STEEPEST = 1000
_MOST = 2**20  # choices, which is the length of a report's row


@final
@frozen(eq=False)
class Frequencies:
    """Estimates from the reports: an unbiased share for each choice, which may lie outside [0, 1], and its standard error."""

    choices: tuple[Hashable, ...] = field(repr=False)
    estimates: Floats = field(repr=False)
    deviations: Floats = field(repr=False)
    people: int  # valid reports
    dropped: int = 0  # reports that no device produces, which were left out

    @property
    def shares(self) -> dict[Hashable, float]:
        """The unbiased shares."""
        return dict(zip(self.choices, self.estimates.tolist(), strict=True))

    @property
    def standard_errors(self) -> dict[Hashable, float]:
        """The standard error of each share, from the exact variance at the estimated share."""
        return dict(zip(self.choices, self.deviations.tolist(), strict=True))

    @property
    def on_simplex(self) -> dict[Hashable, float]:
        """The nearest shares (in ℓ₂) that are non-negative and sum to 1: more accurate, and no longer unbiased."""
        return dict(zip(self.choices, nearest_shares(self.estimates).tolist(), strict=True))


@final
@frozen(kw_only=True, init=False)
class LocalFrequencies(Mechanism[Reports]):
    """Collect randomised choices: `report` runs on each person's device, `estimate` on the collector's server.

    Methods: randomized response (report one choice), subset (report several, the true one likely among them), unary (one coin per choice);
    auto takes the method with the least total variance of all shares, which does not depend on the true shares. `choices` is a list of
    values, or their number. In `Private` values, anything that is not a choice is read as the first choice.

    Theorem (Warner 1965; Kairouz, Bonawitz & Ramage 2016; Wang et al. 2016, 2017; Ye & Barg 2018).
        For any two values a person may have, no report is more than e^ε times likelier from one than from the other: nobody who sees a
        report, including the collector, learns more. The loss is incurred once for each report that a person sends.

    Accuracy.
        Let a report name the true choice with probability p and any other given choice with probability q. (share of reports that name it −
        q)/(p − q) is unbiased, with variance (f·p(1 − p) + (1 − f)·q(1 − q))/(n(p − q)²) for a true share f of n people: `variance`. With
        probability `confidence`, one share's error is at most `error(confidence, size=n)`, by Hoeffding's or Bernstein's inequality.

    >>> survey = LocalFrequencies(epsilon=1, choices=["bus", "car", "bike", "walk"])
    >>> survey.method, round(survey.error(0.95, size=10_000), 3)
    ('randomized response', 0.045)
    >>> reports = [survey.report("bike") for _ in range(2000)]           # on 2000 devices
    >>> abs(survey.estimate(reports).shares["bike"] - 1) < survey.error(1 - 1e-6, size=2000)
    True
    """

    epsilon: Fraction = field(repr=str)
    choices: tuple[Hashable, ...]
    randomizer: LocalRandomizer = field(repr=False)

    def __init__(self, *, epsilon: Number, choices: int | Iterable[Hashable], method: str = "auto") -> None:
        price, names = parameter.some_epsilon(epsilon), _choices(choices)
        if price > _STEEPEST:
            raise Invalid(f"epsilon must be at most {_STEEPEST}, because larger values report the true choice: use a smaller epsilon")
        if method not in METHODS:
            raise Invalid(f"method must be one of {', '.join(METHODS)}; the default is auto")
        self.__attrs_init__(epsilon=price, choices=names, randomizer=best_randomizer(price, len(names), method))

    @property
    def method(self) -> str:
        """The randomisation method."""
        return self.randomizer.name

    @property
    def loss(self) -> Loss:
        return self.randomizer.loss

    # ── on each person's device ──────────────────────────────────────────────────────────────────────────────────────

    def report(self, value: Hashable) -> tuple[Hashable, ...]:
        """Randomise one person's choice with fresh coins; returns the choices that the report names."""
        row = self.release([value])[0]
        return tuple(self.choices[i] for i in np.flatnonzero(row).tolist())

    def reports(self, values: Sequence[Hashable]) -> Reports:
        """Randomise many people's choices: one row per person, one column per choice. For simulations, or on a trusted device."""
        return self.release(values)

    def check(self, answer: Any) -> None:
        known = self._places
        if not _is_list(answer) or not all(_is_hashable(value) and value in known for value in answer):
            raise Invalid("values must be a list with one declared choice per person: leave out or recode the others")

    def sample(self, answer: Any, bits: Bits) -> Reports:
        if not _is_list(answer):
            raise Invalid("values must be a list with one choice per person")
        known = self._places
        true = np.array([known.get(value, 0) if _is_hashable(value) else 0 for value in answer], np.int64)
        return self.randomizer.draw(true, bits)

    @property
    def _places(self) -> dict[Hashable, int]:
        return {choice: place for place, choice in enumerate(self.choices)}

    # ── on the collector's server ────────────────────────────────────────────────────────────────────────────────────

    def estimate(self, reports: Reports | Iterable[Iterable[Hashable]]) -> Frequencies:
        """Unbiased shares of the choices, from a list of reports or an array of them.

        Reports come from untrusted devices: a report that `report` cannot produce is left out, and `dropped` counts those.
        """
        counts, people, dropped = self._counted(reports)
        p, q = self._probabilities
        shares = (counts / people - q) / (p - q)
        deviations = np.sqrt([self.variance(Fraction(min(max(share, 0.0), 1.0)), people) for share in shares.tolist()])
        return Frequencies(self.choices, shares, np.asarray(deviations, np.float64), people, dropped)

    def variance(self, share: Number, n: int) -> float:
        """The exact variance of an estimated share, among n people with this true share; rounded up."""
        f, people = exact.rational(share, "share"), exact.whole(n, "n")
        if not 0 <= f <= 1:
            raise Invalid("share must lie between 0 and 1")
        with exact.precision(128):
            p, q = self.randomizer.probabilities()
            variance = exact.ball(f) * p * (1 - p) + exact.ball(1 - f) * q * (1 - q)
            return exact.float_up(exact.upper(variance / (people * (p - q) ** 2)))

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """The largest error of one share for `size` people, with this confidence."""
        beta, n = exact.miss(exact.confidence_level(confidence)), exact.whole(size, "size")
        p, q = self._probabilities
        log, variance = math.log(2) - math.log(beta), worst_variance(self.randomizer) * (p - q) ** 2
        hoeffding = math.sqrt(log / (2 * n))
        bernstein = (log / 3 + math.sqrt(log**2 / 9 + 2 * n * variance * log)) / n
        return min(hoeffding, bernstein) / (p - q)

    @property
    def _probabilities(self) -> tuple[float, float]:
        return tuple(exact.bounds(lambda i=i: self.randomizer.probabilities()[i])[0] for i in (0, 1))  # type: ignore[misc,return-value]

    def _counted(self, reports: Any) -> tuple[Integers, int, int]:
        """The number of reports that name each choice, of valid reports, and of dropped reports. Reports are public."""
        k, named = len(self.choices), self.randomizer.named
        if isinstance(reports, np.ndarray) and reports.ndim != 1:
            if reports.dtype != np.bool_ or reports.ndim != 2 or reports.shape[1] != k or np.ma.isMaskedArray(reports):
                raise Invalid(
                    "an array of reports must hold booleans, one row per person and one column per choice: use the output of reports()"
                )
            good = reports if named is None else reports[reports.sum(axis=1) == named]
            counts, people, dropped = good.sum(axis=0).astype(np.int64), len(good), len(reports) - len(good)
        else:
            if isinstance(reports, str | bytes) or not isinstance(reports, Iterable):
                raise Invalid("give a list of reports from report(), or an array of them from reports()")
            counts, people, dropped, rows = np.zeros(k, np.int64), 0, 0, True
            known = {choice: (place, type(choice)) for choice, place in self._places.items()}
            for report in reports:
                places = _places_named(report, known)
                if places is None or (named is not None and len(places) != named):
                    dropped += 1
                else:
                    counts[places] += 1
                    people += 1
                rows = rows and _is_row(report, k)
            if rows and dropped:  # they would be misread as the choices 0 and 1
                raise Invalid("rows of 0s and 1s are ambiguous: convert them to booleans with numpy.array(rows, bool)")
        if not people:
            raise Invalid("no report is valid for these choices, ε and method: use the same LocalFrequencies for report() and estimate()")
        return counts, people, dropped


def _places_named(report: Any, known: dict[Hashable, tuple[int, type]]) -> list[int] | None:
    """The indices of the choices a report names, or None if no device with these choices produces it. Nothing here raises."""
    try:
        if not _is_list(report) or len(report) > len(known):
            return None
        found = [
            known[choice][0] for choice in report if isinstance(choice, bool | np.bool_) == issubclass(known[choice][1], bool | np.bool_)
        ]
        return found if len(set(found)) == len(report) else None
    except Exception:  # not hashable, not declared, or unreadable
        return None


def _is_row(report: Any, k: int) -> bool:
    """Whether a report is written as 0s and 1s, one for each choice."""
    try:
        return _is_list(report) and len(report) == k and all(isinstance(x, int | np.integer | np.bool_) and x in (0, 1) for x in report)
    except Exception:
        return False


def nearest_shares(values: NDArray[Any]) -> Floats:
    """Project onto the simplex: subtract the one number that makes the positive parts sum to 1.

    >>> nearest_shares(np.array([0.9, 0.4, -0.3])).round(2).tolist()
    [0.75, 0.25, 0.0]
    """
    high = np.sort(values)[::-1]
    excess = (np.cumsum(high) - 1) / np.arange(1, len(high) + 1)
    return np.asarray(np.maximum(values - excess[np.flatnonzero(high > excess)[-1]], 0.0), np.float64)


def _choices(value: int | Iterable[Hashable]) -> tuple[Hashable, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        names: tuple[Hashable, ...] = tuple(range(min(parameter.choices(value), _MOST + 1)))
    else:
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            raise Invalid("choices must be a list of values, or their number, such as choices=4")
        names = tuple(value)
    if not all(_is_hashable(name) for name in names) or len(set(names)) != len(names) or not 2 <= len(names) <= _MOST:
        raise Invalid("choices must be between 2 and 2^20 different hashable values: remove repeated ones")
    return names


def _is_list(value: Any) -> bool:
    return (isinstance(value, Sequence | np.ndarray | set | frozenset) and not isinstance(value, str | bytes)) or hasattr(value, "to_numpy")


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
