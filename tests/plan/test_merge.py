"""Which questions of a batch are measured together, and why the others are not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.plan.merge import merged_questions, places_of, why_alone
from discreet.session.session import Session

ROWS = 3000
RNG = np.random.default_rng(4)
DATA = pa.table(
    {
        "id": np.arange(ROWS),
        "dept": RNG.choice(["a", "b"], ROWS),
        "sex": RNG.choice(["f", "m"], ROWS),
        "free": RNG.choice(["x", "y"], ROWS),
        "cost": RNG.integers(0, 100, ROWS),
    }
)
ALL = "SELECT COUNT(*) AS n FROM t"
CUBE = "SELECT dept, sex, COUNT(*) AS n, SUM(cost) AS s FROM t GROUP BY CUBE (dept, sex)"


@pytest.fixture(scope="module")
def db() -> Session:
    return discreet.connect(
        {"t": DATA}, unit="id", one_row_per_unit=True, epsilon=100, delta=1e-4, bounds={"cost": (0, 100)},
        keys={"dept": ["a", "b"], "sex": ["f", "m"]}, ledger=":memory:",
    )  # fmt: skip


def test_every_set_of_a_cube_becomes_one_of_the_union(db: Session) -> None:
    asked = {"all": db.sql(ALL).question, "cube": db.sql(CUBE, other=True).question}
    ((names, union),) = merged_questions(asked, db._pipeline.public_values).items()
    assert names == ("all", "cube")
    assert union.sets == ((), (0, 1), (0,), (1,), ())
    assert union.statistics_by_set == (("s0",), ("s0", "s1"), ("s0", "s1"), ("s0", "s1"), ("s0", "s1"))
    assert places_of(list(asked.values())) == [range(1), range(1, 5)]


@pytest.mark.parametrize(
    ("text", "other", "reason"),
    [
        (CUBE, False, "its totals leave out values that are not listed; with other=True"),
        ("SELECT MEDIAN(cost) AS m FROM t", False, "m is chosen by a mechanism of its own"),
        ("SELECT dept, SUM(COUNT(*)) OVER (ORDER BY dept) AS n FROM t GROUP BY dept", False, "it has windows"),
        ("SELECT dept, sex, COUNT(*) AS n FROM t GROUP BY dept, sex", True, "no cell of the others' tables"),
        ("SELECT COUNT(DISTINCT dept) AS d FROM t", False, "d does not add up"),
        ("SELECT free, COUNT(*) AS n FROM t GROUP BY free", False, "its groups are not public"),
        ("SELECT free, sex, COUNT(*) AS n FROM t GROUP BY CUBE (free, sex)", True, "its groups are not public"),
        ("SELECT COUNT(*) AS n FROM t WHERE cost > 5", False, "no other is about the same rows"),
    ],
)
def test_why_a_question_is_measured_by_itself(db: Session, text: str, other: bool, reason: str) -> None:
    asked = {"all": db.sql(ALL).question, "dept": db.sql("SELECT dept, COUNT(*) AS n FROM t GROUP BY dept").question}
    asked["this"] = db.sql(text, other=other).question
    assert list(merged_questions(asked, db._pipeline.public_values)) == [("all", "dept"), ("this",)]
    assert reason in why_alone("this", asked, db._pipeline.public_values)
    said = db.batch({"all": ALL, "this": db.sql(text, other=other)}).plan(1).explain()
    assert "measured by itself: this (" in said
    assert reason in said


def test_the_group_of_others_of_one_key_is_a_cell(db: Session) -> None:
    dept = db.sql("SELECT dept, COUNT(*) AS n FROM t GROUP BY dept", other=True)
    found = db.batch({"all": ALL, "dept": dept}, 1)
    assert [row["dept"] for row in found["dept"].rows] == ["a", "b", "(other)"]
    assert sum(row["n"] for row in found["dept"].rows) == found["all"].rows[0]["n"]


def test_after_a_profile_sums_by_group_join_the_counts() -> None:
    """Their bounds are the profile's. Without groups, the profile corrects what clipping takes away, so such a sum stays by itself."""
    db = discreet.connect({"t": DATA}, unit="id", one_row_per_unit=True, epsilon=100, delta=1e-4, ledger=":memory:")
    db.profile("t", epsilon=2)
    asked = {"all": ALL, "sums": "SELECT sex, COUNT(*) AS n, SUM(cost) AS s FROM t GROUP BY sex", "mean": "SELECT AVG(cost) AS m FROM t"}
    request = db.batch(asked)
    plan = request.plan(4)
    assert [one.names for one in plan.steps.components] == [("all", "sums"), ("mean",)]
    assert "mean (the profile corrects what clipping takes away)" in plan.explain()
    found = request.release(4)
    for row, ends in zip(found["sums"].rows, found["sums"].intervals, strict=True):
        exact = [cost for sex, cost in zip(DATA["sex"].to_pylist(), DATA["cost"].to_pylist(), strict=True) if sex == row["sex"]]
        wide = (ends["s"][1] - ends["s"][0]) * 1.5
        assert abs(row["s"] - sum(exact)) < wide
        assert abs(row["n"] - len(exact)) < 60
