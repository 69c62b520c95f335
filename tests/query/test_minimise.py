"""What is minimised is read from words and from weights of grouping sets, and is part of the question."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from query.sql.clinic import CATALOG

from discreet.errors import Invalid, Refused
from discreet.query.canonical import plain, question_digest
from discreet.query.minimise import Minimise, read_minimise
from discreet.query.sql.read import read

KEYS, SETS = ["sex", "race"], ((0, 1), (0,), (1,), ())
CUBE = "SELECT{} dept, urgent, COUNT(*) AS n FROM visits GROUP BY CUBE (dept, urgent)"


def test_words_and_weights() -> None:
    assert read_minimise("worst", KEYS, SETS) == Minimise("worst")
    found = read_minimise({"": 10, "Race,SEX": "0.5"}, KEYS, SETS)
    assert found == Minimise("total", (Fraction(1, 2), Fraction(1), Fraction(1), Fraction(10)))


@pytest.mark.parametrize("said", ["total", {}, {"": 1}, {"": 2, "sex": 2, "race": 2, "sex, race": 2}])
def test_equal_weights_are_the_usual_goal(said: Any) -> None:
    assert read_minimise(said, KEYS, SETS) is None


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("best", 'minimise is "total" or "worst"'),
        (3, 'minimise is "total" or "worst"'),
        ({"sez": 1}, r"there is no grouping set 'sez'; did you mean 'sex'\? there are 'sex, race', 'sex', 'race', ''"),
        ({7: 1}, "there is no grouping set '7'"),
        ({"sex": 0}, "the weight of 'sex' in minimise must be positive"),
        ({"sex": -1}, "must be positive"),
        ({"sex": float("nan")}, "must be a finite number"),
        ({"sex": float("inf")}, "must be a finite number"),
        ({"sex": True}, "must be a number"),
        ({"sex": "1e10"}, "between 1e-9 and 1e9"),
        ({"sex, race": 1, "race, sex": 2}, "'sex, race' is named twice"),
    ],
)
def test_what_is_refused(said: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        read_minimise(said, KEYS, SETS)


def test_it_needs_grouping_sets() -> None:
    with pytest.raises(Invalid, match="minimise needs grouping sets"):
        read_minimise("worst", KEYS, ())


def test_the_usual_goal_keeps_the_form_that_ledgers_have() -> None:
    question = read(CUBE.format(""), CATALOG)
    assert "minimise" not in plain(question)
    assert question_digest(question) == question_digest(question.minimising("total"))
    others = [question.minimising(said) for said in ("worst", {"": 2}, {"": 3}, {"dept": 2})]
    assert len({question_digest(one) for one in (question, *others)}) == 5


def test_the_option_in_sql() -> None:
    clause = " WITH DIFFERENTIAL_PRIVACY OPTIONS (minimise = {})"
    question = read(CUBE.format(""), CATALOG)
    assert read(CUBE.format(clause.format("'worst'")), CATALOG) == question.minimising("worst")
    assert read(CUBE.format(clause.format("'total'")), CATALOG) == question
    with pytest.raises(Refused, match="the option minimise is 'total' or 'worst'"):
        read(CUBE.format(clause.format("'best'")), CATALOG)
    with pytest.raises(Refused, match="minimise needs grouping sets"):
        read(f"SELECT{clause.format(chr(39) + 'worst' + chr(39))} COUNT(*) AS n FROM visits", CATALOG)
