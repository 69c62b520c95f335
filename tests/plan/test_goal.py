"""Goals as weights of the variances of tables: of all cells together, of each set, of some sets, and of tables that are asked for twice."""

from __future__ import annotations

import pytest
from attrs import evolve
from query.sql.clinic import CATALOG

from discreet.algorithms.consistent.layout import Layout, Table
from discreet.plan.goal import Goal, MeanError, each_set
from discreet.query.sql.read import read

LAYOUT = Layout((), (2, 3))
FINE, ROWS, ALL = Table(0, (0, 1)), Table(0, (0,)), Table(0, ())
TABLES = {0: FINE, 1: ROWS, 2: ALL}
QUESTION = read("SELECT dept, urgent, COUNT(*) AS n FROM visits GROUP BY ROLLUP (dept, urgent)", CATALOG)


def test_the_usual_goal_is_the_mean_of_all_cells() -> None:
    asked, errors = Goal.of(QUESTION).rows(LAYOUT, TABLES)
    assert asked == (FINE, ROWS, ALL)
    assert errors == ((1 / 9, 1 / 9, 1 / 9),)


def test_weights_of_sets() -> None:
    goal = Goal.of(QUESTION.minimising({"": 10, "dept": 2}))
    assert [goal.weight(place) for place in range(3)] == [1, 2, 10]
    _, errors = goal.rows(LAYOUT, TABLES)
    assert errors[0] == pytest.approx((1 / 20, 2 / 20, 10 / 20))


def test_the_worst_set_counts() -> None:
    goal = Goal.of(QUESTION.minimising("worst"))
    assert goal.rows(LAYOUT, TABLES)[1] == ((1 / 6, 0, 0), (0, 1 / 2, 0), (0, 0, 1))
    assert [goal.weight(place) for place in range(3)] == [1, 1, 1]


def test_some_sets_alone() -> None:
    for question in (QUESTION, QUESTION.minimising("worst")):
        asked, errors = Goal.of(question).rows(LAYOUT, {1: ROWS})
        assert (asked, errors) == ((ROWS,), ((1 / 2,),))


def test_a_table_that_is_asked_for_twice_counts_once_with_its_larger_weight() -> None:
    goal = Goal((MeanError({0: 1.0, 1: 5.0}),))
    assert goal.rows(LAYOUT, {0: ROWS, 1: ROWS}) == ((ROWS,), ((1 / 2,),))
    twice = Goal(each_set(MeanError({0: 1.0, 1: 5.0})))
    assert twice.rows(LAYOUT, {0: ROWS, 1: ROWS}) == ((ROWS,), ((5 / 2,),))
    assert evolve(twice, errors=()).rows(LAYOUT, {0: ROWS}) == ((ROWS,), ())
