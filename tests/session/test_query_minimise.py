"""What grouping sets minimise, here and on a server: other errors, the same price, and another question."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.errors import Invalid
from discreet.plan.arrangement import as_fractions, goal_of, table_shares

SIZES = {"a": 2, "b": 5, "c": 16}
CUBE = "SELECT a, b, c, COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT x) AS d FROM t GROUP BY CUBE (a, b, c)"
GOALS: list[Any] = [None, "worst", {"": 50, "a": 10}, {"a, b, c": "0.01"}]


@pytest.fixture
def db() -> Any:
    keys = {name: list(range(size)) for name, size in SIZES.items()}
    table = pa.table(
        {"id": range(400), "x": [i % 10 for i in range(400)], **{name: [i % len(keys[name]) for i in range(400)] for name in keys}}
    )
    return discreet.connect(
        {"t": table}, unit="id", one_row_per_unit=True, epsilon=50, delta=1e-4, bounds={"x": (0, 10)}, keys=keys, ledger=":memory:"
    )


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_goal_changes_accuracy_and_never_the_price(db: Any, delta: Any) -> None:
    for goal in GOALS:
        plan = db.sql(CUBE, minimise=goal).plan(1, delta)
        assert (plan.epsilon, plan.loss.epsilon_at(float(plan.delta)) <= 1 + 1e-9) == (1, True)
        assert plan.loss.epsilon_at(float(plan.delta)) > 0.99
        steps = plan.steps
        shares = as_fractions(table_shares(steps.arrangement, steps.question, steps.budget.noise == "gaussian", steps.bounding))
        assert sum(shares.values()) == 1
        assert all(share > 0 for share in shares.values())


def test_each_goal_is_best_at_what_it_minimises(db: Any) -> None:
    text = "SELECT a, b, c, COUNT(*) AS n FROM t GROUP BY CUBE (a, b, c)"
    weights = {"": 50.0, "a": 10.0}
    sets = {goal if isinstance(goal, str) else "weights": db.sql(text, minimise=goal).plan(1, "1e-6").error().sets
            for goal in ("total", "worst", weights)}  # fmt: skip

    def cells(keys: str) -> int:
        found = 1
        for key in filter(None, keys.split(", ")):
            found *= SIZES[key]
        return found

    def weighted(found: Any) -> float:
        return sum(weights.get(keys, 1.0) * cells(keys) * one["n"] ** 2 for keys, one in found.items())

    def largest(found: Any) -> float:
        return max(one["n"] for one in found.values())

    assert weighted(sets["weights"]) < weighted(sets["total"])
    assert weighted(sets["weights"]) < weighted(sets["worst"])
    assert largest(sets["worst"]) < 0.6 * largest(sets["total"])
    assert sets["weights"][""]["n"] < 0.5 * sets["total"][""]["n"]


def test_it_is_said_before_paying(db: Any) -> None:
    said = {str(goal): " ".join(str(db.sql(CUBE, minimise=goal).plan(1).explain()).split()) for goal in GOALS}
    assert "for the least of the total variance of all cells: by" in said["None"]
    assert "for the least of the largest variance of any set's cells" in said["worst"]
    assert "asked one by one, the same largest variance would cost" in said["worst"]
    assert "with weights (by a 10, in total 50, others 1)" in said[str(GOALS[2])]


def test_totals_are_still_the_sums_of_their_parts(db: Any) -> None:
    for goal in GOALS:
        rows = db.sql(CUBE, minimise=goal).release(1).rows
        assert sum(row["n"] for row in rows if None not in (row["a"], row["b"], row["c"])) == rows[-1]["n"]


def test_another_goal_is_another_question(db: Any) -> None:
    first = db.sql(CUBE).release(1)
    assert db.sql(CUBE, minimise="total").release(1).rows == first.rows
    assert db.spent.epsilon == 1
    db.ask(CUBE, minimise="worst", epsilon=1)
    again = db.sql(CUBE, minimise="worst").release(1)
    assert again.repeated
    assert db.spent.epsilon == 2
    assert again.receipt.request["minimise"] == {"is": "Minimise", "goal": "worst"}


def test_keys_that_are_found(db: Any) -> None:
    table = pa.table({"id": range(4000), "k": [i % 3 for i in range(4000)], "l": [i % 7 for i in range(4000)]})
    raw = discreet.connect({"t": table}, unit="id", one_row_per_unit=True, epsilon=50, delta=1e-4, ledger=":memory:")
    text = "SELECT k, l, COUNT(*) AS n FROM t GROUP BY CUBE (k, l)"
    usual, worst = (raw.sql(text, minimise=goal).plan(2).error(assume={"k": 10, "l": 10}).sets for goal in ("total", "worst"))
    assert worst[""]["n"] < usual[""]["n"]
    rows = raw.sql(text, minimise="worst").release(2).rows
    assert sum(row["n"] for row in rows if None not in (row["k"], row["l"])) == rows[-1]["n"]


def test_here_and_on_a_server(opened: Callable[..., Any]) -> None:
    db, cube = opened(epsilon=1000), "SELECT dept, COUNT(*) AS n FROM visits GROUP BY ROLLUP (dept)"
    first = db.sql(cube, minimise={"": 10}).release(epsilon=1)
    asked = db.table("visits").rollup("dept").count(name="n").minimise({"": 10})
    assert repr(asked).endswith(".minimise({'': 10})")
    assert asked.release(epsilon=1).rows == first.rows
    assert db.ask(cube, minimise={"": 10, "dept": 1}, epsilon=1).rows == first.rows
    assert db.spent.epsilon == Fraction(1)
    with pytest.raises(Invalid, match="minimise needs grouping sets"):
        db.sql("SELECT COUNT(*) AS n FROM visits", minimise="worst").plan(epsilon=1)
    with pytest.raises(Invalid, match="there is no grouping set 'dep'; did you mean 'dept'"):
        db.sql(cube, minimise={"dep": 1}).plan(epsilon=1)


def test_the_goal_of_a_question_by_itself_is_its_own(db: Any) -> None:
    plan = db.batch({"cube": db.sql(CUBE, minimise="worst")}).plan(1).steps.components[0].steps
    assert len(goal_of(plan.arrangement, plan.question).errors) == 8


def test_it_is_given_once(db: Any) -> None:
    text = CUBE.replace("SELECT ", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (minimise = 'worst') ", 1)
    assert db.sql(text, minimise="worst").question.minimise == db.sql(text).question.minimise
    with pytest.raises(Invalid, match="minimise is given twice"):
        db.sql(text, minimise="total")
