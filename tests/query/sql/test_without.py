"""A question without some of its statistics: what is written reads as the rest of the same question, or is not offered."""

from __future__ import annotations

import pytest
from plan.questions import catalog

from discreet.query.relation.expr import Column
from discreet.query.sql.read import read
from discreet.query.sql.without import without


def rest(text: str, *dropped: str) -> str | None:
    return without(text, read(text, catalog()), dropped, catalog())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("SELECT AVG(x) AS a, COUNT(*) AS n FROM t", "SELECT COUNT(*) AS n FROM t"),
        ("select dept, 2 * avg(x) + 1 as a, avg(x) as a2, avg(age) as b from t where x > 1 group by 1 order by b desc limit 3", None),
        ("SELECT dept, AVG(age) AS b, AVG(x) AS a FROM t GROUP BY 1 ORDER BY 2", "SELECT dept, AVG(age) AS b FROM t GROUP BY 1 ORDER BY 2"),
        ("WITH s AS (SELECT * FROM t WHERE x > 0) SELECT AVG(x) AS a, SUM(age) AS b FROM s",
         "WITH s AS (SELECT * FROM t WHERE x > 0) SELECT SUM(age) AS b FROM s"),
    ],
)  # fmt: skip
def test_what_is_left_is_the_same_question(text: str, written: str | None) -> None:
    question = read(text, catalog())
    dropped = [name for name, statistic in question.statistics if Column("x") in statistic.exprs]
    found = rest(text, *dropped)
    if written is not None:
        assert found == written
    assert found is not None
    again = read(found, catalog())
    assert again.statistics == tuple(one for one in question.statistics if one[0] not in dropped)
    assert (again.relation, again.keys, again.order, again.limit) == (question.relation, question.keys, question.order, question.limit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT AVG(x) AS a FROM t",
        "SELECT dept, AVG(x) AS a FROM t GROUP BY dept",
        "SELECT dept, AVG(x) AS a, COUNT(*) AS n FROM t GROUP BY dept HAVING AVG(x) > 3",
        "SELECT dept, AVG(x) AS a, COUNT(*) AS n FROM t GROUP BY dept ORDER BY a",
        "SELECT dept, AVG(x) AS a, COUNT(*) AS n, AVG(age) AS b FROM t GROUP BY dept ORDER BY 4",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) AVG(x) AS a, COUNT(*) AS n FROM t",
        "SELECT dept, AVG(x) AS a, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS s FROM t GROUP BY dept",
    ],
)
def test_what_would_be_another_question_is_not_offered(text: str) -> None:
    asked = read(text or "SELECT AVG(x) AS a, COUNT(*) AS n FROM t", catalog())
    assert without(text, asked, ["a"], catalog()) is None
