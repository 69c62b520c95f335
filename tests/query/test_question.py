"""Questions: what may be a key, what may be an argument."""

from __future__ import annotations

import pytest
from query.sql.clinic import CATALOG

from discreet.errors import Refused
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Expr, Literal
from discreet.query.sql.read import read
from discreet.query.statistics.count import Count
from discreet.query.statistics.statistic import Statistic
from discreet.query.statistics.sum import Sum

VISITS = read("SELECT COUNT(*) FROM visits", CATALOG).relation


@pytest.mark.parametrize(
    ("key", "statistic", "word"),
    [
        (Column("person_id"), Count(), "single units"),
        (Literal(None), Count(), "NULL cannot be a group key"),
        (Column("cost"), Count(), "real numbers cannot be group keys"),
        (Column("dept"), Sum(Column("dept")), "needs a number"),
        (Column("dept"), Sum(Column("person_id")), "COUNT\\(DISTINCT unit\\)"),
    ],
)
def test_refused(key: Expr, statistic: Statistic, word: str) -> None:
    with pytest.raises(Refused, match=word):
        Question(VISITS, (("k", key),), (("s", statistic),), ())


def test_kinds_of_statistics_and_their_numbers() -> None:
    question = read("SELECT COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a, MEDIAN(open) AS m FROM visits", CATALOG)
    assert (list(question.additive), list(question.selected)) == (["n", "s", "a"], ["m"])
    assert question.numbers == {Column("cost"): "s", Column("open"): "m"}
