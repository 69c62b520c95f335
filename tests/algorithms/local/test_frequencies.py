"""The local model: exact laws of all reports, their ratios, unbiased estimates with exact variance, and what breaks them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake

from discreet import exact
from discreet.algorithms.local.frequencies import LocalFrequencies, nearest_shares
from discreet.errors import Error, Invalid
from discreet.private import Private

METHODS = ("randomized response", "subset", "unary")
Report = tuple[int, ...]


def all_reports(k: int) -> list[Report]:
    return [report for size in range(k + 1) for report in itertools.combinations(range(k), size)]


@pytest.mark.parametrize("method", METHODS)
def test_one_at_a_time_and_many_at_once_are_the_same(method: str) -> None:
    survey = LocalFrequencies(epsilon=1, choices=["w", "x", "y", "z"], method=method)
    assert survey.estimate([tuple(survey.choices[: survey.randomizer.named])] * 3).people == 3
    rows = survey.reports(["x", "y"] * 50)
    listed = [tuple(survey.choices[i] for i in np.flatnonzero(row)) for row in rows]
    assert survey.estimate(rows).shares == survey.estimate(listed).shares
    report = survey.report("z")
    assert set(report) <= set(survey.choices)
    assert survey.randomizer.named in (None, len(report))


@pytest.mark.parametrize("epsilon", ["1/2", 2])
@pytest.mark.parametrize("method", METHODS)
def test_the_estimate_is_unbiased_with_just_its_variance(method: str, epsilon: Any) -> None:
    """All reports of three people with four choices, each with its exact chance."""
    survey = LocalFrequencies(epsilon=epsilon, choices=4, method=method)
    people, mean, square, whole = [0, 0, 3], np.zeros(4), np.zeros(4), 0.0
    each = [
        [(report, p) for report in all_reports(4) if (p := exact.bounds(lambda r=report, t=true: survey.randomizer.mass(t, r))[0]) > 0]  # type: ignore[misc]
        for true in people
    ]
    for drawn in itertools.product(*each):
        chance = math.prod(p for _, p in drawn)
        found = survey.estimate([report for report, _ in drawn]).estimates
        mean, square, whole = mean + chance * found, square + chance * found**2, whole + chance
    shares = np.bincount(people, minlength=4) / 3
    assert whole == pytest.approx(1)
    assert mean == pytest.approx(shares, abs=1e-12)
    assert square - mean**2 == pytest.approx([survey.variance(Fraction(int(s * 3 + 0.5), 3), 3) for s in shares], rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_many_people(method: str) -> None:
    """20 000 people, fixed coins: within the error, and standard errors as large as they should be."""
    survey = LocalFrequencies(epsilon=1, choices=20, method=method)
    values = np.minimum(np.arange(20_000) % 40, 19).tolist()
    true = np.bincount(values, minlength=20) / 20_000
    found = [survey.estimate(survey.sample(values, Shake((method, i)))) for i in range(5)]
    t = survey.error(1 - Fraction(1, 10**6), size=20_000)
    z = []
    for one in found:
        assert np.abs(one.estimates - true).max() < t
        z += ((one.estimates - true) / one.deviations).tolist()
        assert np.square(np.array(list(one.on_simplex.values())) - true).sum() <= np.square(one.estimates - true).sum() + 1e-12
    assert 0.7 < np.square(z).mean() < 1.4


def test_the_stated_error_bounds_the_exact_tail() -> None:
    """30 people who all say 0, by subsets of two of four: how many reports name it is binomial."""
    survey = LocalFrequencies(epsilon=1, choices=4, method="subset")
    p, q = (exact.bounds(lambda i=i: survey.randomizer.probabilities()[i])[0] for i in (0, 1))  # type: ignore[misc]
    for confidence in ("0.5", "0.9", "0.99"):
        t = survey.error(confidence, size=30)
        bad = sum(math.comb(30, c) * p**c * (1 - p) ** (30 - c) for c in range(31) if abs((c / 30 - q) / (p - q) - 1) > t)
        assert bad <= 1 - float(confidence)


def test_known_numbers() -> None:
    """Two choices: Warner. UnaryEncoding for rare choices: 4e^ε/(n(e^ε − 1)²)."""
    warner = LocalFrequencies(epsilon=1, choices=2)
    e = math.e
    assert warner.variance("1/3", 10) == pytest.approx(e / (e - 1) ** 2 / 10)
    assert LocalFrequencies(epsilon=1, choices=9, method="unary").variance(0, 10) == pytest.approx(4 * e / (e - 1) ** 2 / 10)


def test_losses() -> None:
    assert LocalFrequencies(epsilon=1, choices=5, method="unary").loss.epsilon_at(0) == 1
    told = LocalFrequencies(epsilon=1, choices=5, method="randomized response").loss
    assert told.epsilon_at(0) == 1
    assert told.epsilon_at("1e-3") < 1
    assert LocalFrequencies(epsilon=1, choices=5, method="subset").loss_at(3).epsilon_at(0) == 3


def test_the_simplex() -> None:
    assert nearest_shares(np.array([0.2, 0.8])).tolist() == pytest.approx([0.2, 0.8])
    assert nearest_shares(np.array([-5.0, 3.0, 3.0])).tolist() == pytest.approx([0, 0.5, 0.5])


def test_a_private_value_that_is_no_choice_counts_as_the_first() -> None:
    survey = LocalFrequencies(epsilon=100, choices=["a", "b"])
    assert survey.release(Private(["b", "zzz", None, [], float("nan")])).argmax(axis=1).tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("wrong", [["c"], [[]], "a", 5, [None]], ids=str)
def test_wrong_plain_values(wrong: Any) -> None:
    with pytest.raises(Invalid):
        LocalFrequencies(epsilon=1, choices=["a", "b"]).reports(wrong)


@pytest.mark.parametrize(
    "wrong", [[], [("a", "b")], [("c",)], [()], ["a"], [3], np.zeros((2, 2), np.bool_), np.ones((0, 2), np.bool_)], ids=str
)
def test_wrong_reports(wrong: Any) -> None:
    with pytest.raises(Invalid):
        LocalFrequencies(epsilon=1, choices=["a", "b"]).estimate(wrong)


class Bad:
    """Fails whenever it is looked at."""

    def __hash__(self) -> int:
        raise RuntimeError("secret")

    __len__ = __iter__ = __eq__ = __hash__  # type: ignore[assignment]


WILD: list[Any] = [([1],), ({},), "abc", None, 3, ("x",), (1, 1), (float("nan"),), (Bad(),), Bad(), [0] * 10**6, b"a", (True,), {0: 1}]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wild", WILD, ids=lambda wild: type(wild).__name__)
def test_one_bad_client_changes_nothing_for_the_others(method: str, wild: Any) -> None:
    survey = LocalFrequencies(epsilon=1, choices=6, method=method)
    good = [survey.report(i % 6) for i in range(40)]
    alone, together = survey.estimate(good), survey.estimate([*good[:20], wild, *good[20:], wild])
    assert (alone.people, alone.dropped) == (40, 0)
    assert (together.people, together.dropped) == (40, 2)
    assert together.shares == alone.shares
    assert together.standard_errors == alone.standard_errors


def test_rows_that_no_device_makes_are_left_out() -> None:
    survey = LocalFrequencies(epsilon=1, choices=4, method="randomized response")
    rows = survey.reports([0, 1, 2, 3] * 10)
    found = survey.estimate(np.vstack([rows, np.ones((3, 4), np.bool_)]))
    assert (found.people, found.dropped) == (40, 3)
    assert found.shares == survey.estimate(rows).shares


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("method", METHODS)
def test_rows_of_numbers_are_not_read_as_choices(k: int, method: str) -> None:
    """With choices 0, 1, … a row of 0s and 1s looks like a report that names 0 and 1."""
    survey = LocalFrequencies(epsilon=1, choices=k, method=method)
    rows = survey.reports([0] * 60)
    for wrong in (rows.astype(int), rows.astype(float), rows.astype(object), rows.astype(np.uint8).tolist(), rows.tolist(), list(rows)):
        with pytest.raises(Invalid, match=r"booleans|no report"):
            survey.estimate(wrong)
    with pytest.raises(Invalid, match="booleans"):
        survey.estimate(np.ma.masked_array(rows, rows))  # type: ignore[no-untyped-call]


def test_choices_that_are_true_and_false() -> None:
    survey = LocalFrequencies(epsilon=1, choices=[True, False])
    reports = [survey.report(True) for _ in range(30)]
    assert survey.estimate([*reports, (1,), (0,)]).dropped == 2  # no device writes them so
    assert survey.estimate([*reports, (np.True_,)]).people == 31


@pytest.mark.parametrize("wrong", [5, None, "ab", Private([("a",)])], ids=str)
def test_what_is_no_list_of_reports(wrong: Any) -> None:
    with pytest.raises(Error):
        LocalFrequencies(epsilon=1, choices=["a", "b"]).estimate(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": 2000},
        {"choices": 1},
        {"choices": ["a"]},
        {"choices": ["a", "a"]},
        {"choices": "ab"},
        {"choices": [[], 1]},
        {"choices": 2**21},
        {"choices": None},
        {"method": "best"},
    ],
    ids=str,
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        LocalFrequencies(**({"epsilon": 1, "choices": 3} | wrong))


def test_wrong_shares() -> None:
    with pytest.raises(Invalid):
        LocalFrequencies(epsilon=1, choices=3).variance(2, 10)
