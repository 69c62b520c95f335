"""Grouping sets in a batch: measured with the other questions, so that totals agree exactly, at the price of the batch."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from session.batch.patients import DATA, opened

import discreet
from discreet.errors import Invalid
from discreet.loss import calibrate
from discreet.session.batch.release import BatchRelease

ALL = "SELECT COUNT(*) AS n FROM t"
SEX = "SELECT sex, COUNT(*) AS n, SUM(cost) AS s FROM t GROUP BY sex"
DEPT = "SELECT dept, COUNT(*) AS n FROM t GROUP BY dept"
CUBE = "SELECT sex, dept, COUNT(*) AS n, SUM(cost) AS s, GROUPING(dept) AS g FROM t GROUP BY CUBE (sex, dept)"


@pytest.fixture
def db() -> Any:
    return opened()


def asked(db: Any, cube: str = CUBE) -> dict[str, Any]:
    return {"all": ALL, "dept": DEPT, "sex": SEX, "cube": db.sql(cube, other=True)}


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-6"), (1, 0), (100, "1e-6")])
def test_totals_agree_exactly_with_those_of_other_questions(db: Any, epsilon: Any, delta: Any) -> None:
    request = db.batch(asked(db))
    assert [one.names for one in request.plan(epsilon, delta).steps.components] == [("all", "dept", "sex", "cube")]
    found = request.release(epsilon, delta)
    cube = {(row["sex"], row["dept"]): row for row in found["cube"].rows}
    assert cube[None, None]["n"] == found["all"].rows[0]["n"]
    for row in found["dept"].rows:
        assert cube[None, row["dept"]]["n"] == row["n"]
    for row in found["sex"].rows:
        assert (cube[row["sex"], None]["n"], cube[row["sex"], None]["s"]) == (row["n"], row["s"])
        assert sum(one["n"] for (sex, dept), one in cube.items() if sex == row["sex"] and dept) == row["n"]
    assert db.spent.epsilon == epsilon


def test_its_rows_are_those_of_the_question_asked_by_itself(db: Any) -> None:
    """Also their order, whatever the order of the keys that were merged before."""
    for cube in (CUBE, CUBE + " HAVING COUNT(*) > 100", CUBE + " ORDER BY sex, dept LIMIT 5", CUBE.replace("CUBE", "ROLLUP")):
        together, alone = db.batch(asked(db, cube), 100, "1e-6")["cube"], db.sql(cube, other=True).release(100)
        assert [(row["sex"], row["dept"], row["g"]) for row in together.rows] == [(row["sex"], row["dept"], row["g"]) for row in alone.rows]
        assert all(abs(one["n"] - two["n"]) < 10 for one, two in zip(together.rows, alone.rows, strict=True))
        assert [column.summed for column in together.columns] == [column.summed for column in alone.columns]


def test_tidy_values_add_up(db: Any) -> None:
    found = db.batch(asked(db), 0.2)
    rows = found["cube"].tidy
    assert min(row["n"] for row in rows) >= 0
    assert {type(row["n"]) for row in rows} == {int}
    for name in ("n", "s"):
        total = rows[-1][name]
        assert sum(row[name] for row in rows if row["sex"] is not None and row["dept"] is not None) == total
        assert sum(row[name] for row in rows if row["sex"] is None and row["dept"] is not None) == total
    assert found.tidy == {"cube": rows}


def test_intervals_hold_the_truth(db: Any) -> None:
    exact = {(sex, dept): 0 for sex in ("f", "m", None) for dept in ("a", "b", "c", "(other)", None)}
    for sex, dept in zip(DATA["sex"].to_pylist(), DATA["dept"].to_pylist(), strict=True):
        listed = "(other)" if dept == "unlisted" else dept
        for place in ((sex, listed), (sex, None), (None, listed), (None, None)):
            exact[place] += 1
    inside = 0
    for step in range(20):
        found = db.batch(asked(db), f"{1 + step / 1000}", ("1e-6", 0)[step % 2])["cube"]
        for row, ends in zip(found.rows, found.intervals, strict=True):
            low, high = ends["n"]
            inside += row["sex"] != "(other)" and low <= exact[row["sex"], row["dept"]] <= high
    assert inside >= 0.85 * 300  # of 300 at 95 %, some of them dependent


def test_the_forecast_is_that_of_the_answer(db: Any) -> None:
    request = db.batch(asked(db))
    plan = request.plan(1, "1e-6")
    found, forecast = request.release(1, "1e-6"), plan.error()
    assert list(forecast["cube"].sets) == ["sex, dept", "sex", "dept", ""]
    assert forecast["cube"]["n"] == max(one["n"] for one in forecast["cube"].sets.values())
    assert forecast["cube"].sets[""]["n"] == forecast["all"]["n"]
    ends = found["cube"].intervals[-1]["n"]
    assert (ends[1] - ends[0]) / 2 == pytest.approx(forecast["cube"].sets[""]["n"], rel=0.02)
    assert "by sex, dept:" in plan.explain()


def test_the_noise_of_all_tables_together_costs_the_price(db: Any) -> None:
    """The mechanisms themselves, not what the plan says of them."""
    others = {f"q{limit}": f"{ALL} WHERE cost < {limit}" for limit in range(10, 90, 4)}
    for goal in (None, "worst", {"": 10}):
        questions = {"all": ALL, "cube": db.sql(CUBE, other=True, minimise=goal), **others}
        plan = db.batch(questions).plan(1, "1e-6").steps
        assert [one.names for one in plan.components][:2] == [("all", "cube"), ("q10",)]
        budget = plan.components[0].steps.budget
        assert budget.noise == "gaussian"
        noises = [one.mechanism.loss for part in plan.components for each in (part.steps, *part.steps.parts) for one in each.totals]
        whole = 1 / calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1)) ** 2
        assert 0.99 * whole < sum(loss.mu_squared for loss in noises) <= whole
        laplace = db.batch(questions).plan(1, 0).steps
        spent = sum(one.mechanism.epsilon for part in laplace.components for one in part.steps.totals)
        assert Fraction(99, 100) < spent <= 1


def test_what_a_cube_minimises_counts_in_the_batch(db: Any) -> None:
    def error(goal: Any) -> Any:
        return db.batch({"all": ALL, "cube": db.sql(CUBE, other=True, minimise=goal)}).plan(1, "1e-6").error()["cube"].sets

    assert error({"dept": 100})["dept"]["n"] < 0.9 * error(None)["dept"]["n"]
    assert max(one["s"] for one in error("worst").values()) < 0.8 * max(one["s"] for one in error(None).values())


def test_targets_hold_for_every_set(db: Any) -> None:
    request = db.batch({"all": ALL, "cube": db.sql("SELECT sex, dept, COUNT(*) AS n FROM t GROUP BY CUBE (sex, dept)", other=True)})
    plan = request.plan(error={"all": 20, "cube": 40}, delta="1e-6")
    assert plan.error()["all"]["n"] <= 20
    assert all(one["n"] <= 40 for one in plan.error()["cube"].sets.values())


def test_it_is_saved_verified_and_free_the_second_time(db: Any, tmp_path: Path) -> None:
    found = db.batch(asked(db), 1, "1e-6")
    assert db.batch(asked(db), 1, "1e-6").repeated
    found["cube"].verify(db.ledger)
    found.publish(tmp_path / "new", tidy=True)
    saved = BatchRelease.open(tmp_path / "new" / "release.json")
    saved.verify(db.ledger)
    assert saved["cube"].rows == found["cube"].rows
    assert saved.tidy == found.tidy
    assert "n_tidy" in (tmp_path / "new" / "4" / "answers.csv").read_text()


def test_targets_out_of_reach_are_named_alone(db: Any) -> None:
    with pytest.raises(Invalid, match=r"^no ε reaches the targets of dept: .*\(dept: n is ± [0-9.e-]+ at ε = 100\)$"):
        db.batch({"all": ALL, "dept": DEPT, "cheap": f"{ALL} WHERE cost < 50"}).plan(error={"all": 0.5, "dept": 1e-9, "cheap": 0.5})
    with pytest.raises(Invalid, match=r"'dpet', which is no question of the batch; did you mean dept\? there are all, dept"):
        db.batch({"all": ALL, "dept": DEPT}).plan(error={"all": 5, "dpet": 5})


def test_a_target_below_the_error_of_the_profile_says_so() -> None:
    db = discreet.connect({"t": DATA}, unit="id", one_row_per_unit=True, epsilon=1000, delta=1e-3, ledger=":memory:")
    db.profile("t", epsilon=1)
    with pytest.raises(Invalid, match=r"targets of mean: .*of which ± [0-9.]+ come from the profile of t"):
        db.batch({"all": ALL, "mean": "SELECT AVG(cost) AS m FROM t"}).plan(error={"all": 5, "mean": 1e-4}, size=6000)


def test_a_cube_over_keys_that_a_profile_found_is_measured_with_the_others() -> None:
    """Its totals count every row, as those of the other questions do: one publication does not contradict itself."""
    with opened(keys=None) as db:
        db.profile("t", epsilon=50)
        request = db.batch({"all": ALL, "dept": DEPT, "cube": CUBE})
        assert [one.names for one in request.plan(1).steps.components] == [("all", "dept", "cube")]
        found = request.release(1)
        cube = {(row["sex"], row["dept"]): row["n"] for row in found["cube"].rows}
        assert cube[None, None] == found["all"].rows[0]["n"]
        assert all(cube[None, row["dept"]] == row["n"] for row in found["dept"].rows)
        assert "(other)" in {dept for _, dept in cube}
        assert any("rows marked (other)" in note for note in found["cube"].receipt.notes)


def test_windows_have_no_target(db: Any) -> None:
    running = "SELECT dept, SUM(COUNT(*)) OVER (ORDER BY dept) AS n FROM t GROUP BY dept"
    with pytest.raises(Invalid, match="the errors of windows are not known before paying"):
        db.batch({"all": ALL, "running": running}).plan(error={"all": 5, "running": 5})


def test_a_hierarchy_stays_a_hierarchy() -> None:
    """In a batch its cells were all combinations of regions and cities."""
    cities = pa.table({"city": ["A", "B", "C"], "region": ["n", "n", "s"]})
    people = pa.table({"id": range(300), "city": ["A", "B", "C"] * 100})
    with discreet.connect(
        {"t": people, "cities": cities}, unit="id", public=["cities"], one_row_per_unit=True, epsilon=100, delta=1e-6, ledger=":memory:"
    ) as db:
        joined = "SELECT c.region, c.city, COUNT(*) AS n FROM t JOIN cities c ON t.city = c.city GROUP BY ROLLUP (c.region, c.city)"
        request = db.batch({"tree": db.sql(joined, other=True), "all": "SELECT COUNT(*) AS n FROM t JOIN cities c ON t.city = c.city"})
        assert "measured by itself: tree (its keys form a hierarchy)" in str(request.plan(1).explain())
        alone = db.sql(joined, other=True).release(1)
        assert [(row["region"], row["city"]) for row in request.release(1)["tree"]] == [(row["region"], row["city"]) for row in alone]


def test_a_value_that_is_spelled_as_all_others_has_one_row() -> None:
    with opened(keys={"dept": ["a", "(other)"], "sex": ["f", "m"]}) as db:
        found = db.batch({"all": ALL, "cube": db.sql(CUBE, other=True)}, 10)
        rows = [(row["sex"], row["dept"]) for row in found["cube"]]
        assert len(set(rows)) == len(rows)
