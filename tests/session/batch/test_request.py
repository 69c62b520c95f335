"""Several questions together: what is measured once, how the price is split, and answers that agree."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from session.batch.patients import DATA, ROWS, opened

import discreet
from discreet.errors import Invalid, LedgerError, Refused
from discreet.loss import calibrate
from discreet.session.batch.release import BatchRelease

TEN = {
    "all": "SELECT COUNT(*) AS n FROM t",
    "dept": "SELECT dept, COUNT(*) AS n FROM t GROUP BY dept",
    "sex": "SELECT sex, COUNT(*) AS n, AVG(cost) AS m FROM t GROUP BY sex",
    "both": "SELECT sex, dept, COUNT(*) AS n FROM t GROUP BY sex, dept ORDER BY n DESC",
    "sums": "SELECT dept, SUM(cost) AS s FROM t GROUP BY dept HAVING SUM(cost) > 1000",
    "cheap": "SELECT COUNT(*) AS n FROM t WHERE cost < 50",
    "cheap by sex": "SELECT sex, COUNT(*) AS n FROM t WHERE cost < 50 GROUP BY sex",
    "median": "SELECT MEDIAN(cost) AS m FROM t",
    "people": "SELECT COUNT(DISTINCT id) AS n FROM t",
    "running": "SELECT dept, SUM(COUNT(*)) OVER (ORDER BY dept) AS n FROM t GROUP BY dept",
}


@pytest.fixture
def db() -> Any:
    return opened()


def test_counts_and_sums_over_the_same_rows_are_measured_together(db: Any) -> None:
    plan = db.batch(TEN).plan(1, "1e-6")
    together = [set(one.names) for one in plan.steps.components]
    assert {"all", "dept", "sex", "both", "sums"} in [names - {"people"} for names in together]
    assert {"cheap", "cheap by sex"} in together
    assert {"median"} in together
    assert {"running"} in together


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-6"), (1, 0), (20, "1e-6")])
def test_the_answers_agree(db: Any, epsilon: Any, delta: Any) -> None:
    found = db.batch(TEN, epsilon, delta)
    both = {(row["sex"], row["dept"]): row["n"] for row in found["both"].rows}
    assert sorted(both) == [(sex, dept) for sex in "fm" for dept in "abc"]
    for row in found["dept"].rows:  # rows of unlisted sexes count in it: there are none, up to noise
        assert row["n"] == pytest.approx(math.fsum(both[sex, row["dept"]] for sex in "fm"), abs=200)
    assert found["all"].rows[0]["n"] == pytest.approx(math.fsum(row["n"] for row in found["sex"].rows), abs=200)
    assert db.spent.epsilon == epsilon
    assert len([one for one in db.history() if one["epsilon"]]) == 1


def test_rows_that_one_question_leaves_out_count_in_another(db: Any) -> None:
    found = db.batch({"all": TEN["all"], "dept": TEN["dept"]}, 50, "1e-6")
    exact = DATA["dept"].to_pylist()
    assert abs(found["all"].rows[0]["n"] - ROWS) < 10
    listed = sum(row["n"] for row in found["dept"].rows)
    assert abs(listed - sum(one != "unlisted" for one in exact)) < 10


def test_it_costs_less_than_asking_one_by_one(db: Any) -> None:
    """Forty counts at a fortieth of ε each have about forty times the noise of one, together about √40 times."""
    questions = [f"SELECT COUNT(*) AS n FROM t WHERE cost < {limit}" for limit in range(10, 90, 2)]
    together = db.batch(questions).plan(1, "1e-6").error()
    alone = [db.sql(text).plan("1/40", "1/40000000").error()["n"] for text in questions[:2]]
    assert max(one["n"] for one in together.values()) < 0.6 * min(alone)


def test_what_it_costs_is_the_price(db: Any) -> None:
    for epsilon, delta in ((1, "1e-6"), ("0.1", "1e-8"), (1, 0)):
        plan = db.batch(TEN).plan(epsilon, delta)
        assert plan.loss.epsilon_at(float(plan.delta)) <= float(plan.epsilon) * (1 + 1e-9)
        assert plan.delta <= discreet.exact.rational(delta)
        budgets = [one.steps.budget for one in plan.steps.components if one.steps.budget.epsilon]
        if len({budget.epsilon for budget in budgets}) == 1 and budgets[0].noise == "gaussian":
            assert sum(budget.share for budget in budgets) <= 1


def test_the_noise_of_all_questions_together_costs_the_price(db: Any) -> None:
    """The mechanisms themselves, not what the plan says of them."""
    questions = [f"SELECT COUNT(*) AS n, SUM(cost) AS s FROM t WHERE cost < {limit}" for limit in range(10, 90, 2)]
    for asked in ({f"q{i}": text for i, text in enumerate(questions)}, {**TEN, **{f"q{i}": text for i, text in enumerate(questions)}}):
        plan = db.batch(asked).plan(1, "1e-6").steps
        budget = next(one.steps.budget for one in plan.components if one.steps.budget.epsilon)
        assert (budget.noise, budget.share < 1) == ("gaussian", True)
        noises = [one.mechanism.loss for part in plan.components for each in (part.steps, *part.steps.parts) for one in each.totals]
        spent = sum(loss.mu_squared for loss in noises)
        whole = 1 / calibrate.gaussian_scale(budget.epsilon, budget.delta, Fraction(1)) ** 2
        assert 0.99 * whole < spent <= whole


def test_targets_split_the_price(db: Any) -> None:
    request = db.batch({"dept": TEN["dept"], "cheap": TEN["cheap"]})
    even = request.plan(1, "1e-6").error()
    split = request.plan(1, "1e-6", error={"dept": 100, "cheap": 5}).error()
    assert split["cheap"]["n"] < 0.8 * even["cheap"]["n"]
    assert split["dept"]["n"] > even["dept"]["n"]


def test_the_least_price_for_targets(db: Any) -> None:
    targets = {"dept": 60, "sex": {"n": 60, "m": 10}, "cheap": 20}
    request = db.batch({name: TEN[name] for name in targets})
    plan = request.plan(delta="1e-6", error=targets, size=1000)
    found = plan.error(size=1000)
    assert found["dept"]["n"] <= 60
    assert found["sex"]["n"] <= 60
    assert found["sex"].worst["m"] <= 10
    assert found["cheap"]["n"] <= 20
    less = request.plan(plan.epsilon / 2, "1e-6", error=targets, size=1000).error(size=1000)
    assert less["dept"]["n"] > 60 or less["cheap"]["n"] > 20 or less["sex"]["n"] > 60 or less["sex"].worst["m"] > 10


def test_intervals_hold_the_truth(db: Any) -> None:
    exact = {sex: sum(one == sex for one in DATA["sex"].to_pylist()) for sex in "fm"}
    inside = 0
    for step in range(60):
        found = db.batch({"sex": TEN["sex"], "dept": TEN["dept"], "cheap": TEN["cheap"]}, f"{1 + step / 1000}", "1e-6")["sex"]
        for row, ends in zip(found.rows, found.intervals, strict=True):
            low, high = ends["n"]
            inside += low <= exact[row["sex"]] <= high
    assert inside >= 95  # of 120 at 95 %; fewer have a probability below 1e-6


def test_one_question_is_a_batch_too(db: Any) -> None:
    found = db.batch([TEN["dept"]], 1, "1e-6")
    assert found.names == ("q1",)
    assert [row["dept"] for row in found["q1"].rows] == ["a", "b", "c"]
    assert "q1" in repr(found)


@pytest.mark.parametrize("asked", ["SELECT COUNT(*) FROM t", [], {}, [1], {"": "SELECT COUNT(*) FROM t"}, ["SELECT COUNT(*) FROM t"] * 101])
def test_bad_input(db: Any, asked: Any) -> None:
    with pytest.raises(Invalid):
        db.batch(asked)
    assert db.spent.epsilon == 0


def test_what_cannot_be_asked_together(db: Any) -> None:
    open_bounds = discreet.connect({"t": DATA}, unit="id", epsilon=10, delta=1e-6, contributions={"rows": 1}, ledger=":memory:")
    with pytest.raises(Refused, match="a batch does not discover bounds"):
        open_bounds.batch(["SELECT AVG(cost) AS m FROM t"]).plan(1)
    with pytest.raises(Invalid) as asked:
        db.batch(TEN).plan(error={"all": 5})
    assert "give a target for each question, as in error={" in str(asked.value)
    assert all(f"{name!r}: 50" in str(asked.value) for name in TEN)
    with pytest.raises(Invalid, match="no ε reaches the targets of q2: "):
        db.batch(["SELECT COUNT(*) AS n FROM t", "SELECT COUNT(*) AS n FROM t WHERE cost > 5"]).plan(error={"q1": 100, "q2": 1e-9})
    with pytest.raises(Invalid, match="the price is missing"):
        db.batch(TEN).plan()
    with pytest.raises(Invalid, match="states a price of its own"):
        db.batch(["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) AS n FROM t"])


def test_a_refusal_names_the_question(db: Any) -> None:
    with pytest.raises(Refused, match=r"^second: nowhere .*: there is no such table"):
        db.batch({"first": "SELECT COUNT(*) AS n FROM t", "second": "SELECT COUNT(*) AS n FROM nowhere"})


def test_the_lines_below_explain_marks_and_say_which_question_they_are_about(db: Any) -> None:
    nobody = "SELECT dept, sex, COUNT(*) AS n FROM t WHERE cost < 0 GROUP BY dept, sex"  # six empty groups
    told = db.batch({"nobody": nobody, "sum": "SELECT SUM(cost) AS s FROM t"}, epsilon=0.1)
    lines = told.small_print
    assert "~ the interval contains 0: the answer may be noise alone" in lines
    assert any(line.startswith("nobody: ± is a 95 % interval") and "clipping cost" not in line for line in lines)
    assert any(line.startswith("sum: ± is a 95 % interval") and "clipping cost" in line for line in lines)
    alike = db.batch(["SELECT COUNT(*) AS n FROM t", "SELECT dept, COUNT(*) AS n FROM t GROUP BY dept"], epsilon=0.1)
    assert [line.split(" interval")[0] for line in alike.accuracy_notes] == ["± is a 95 %"]


def test_a_listed_value_that_is_spelt_like_all_others_is_shown() -> None:
    db = discreet.connect(
        {"t": DATA},
        unit="id",
        epsilon=1000,
        keys={"dept": ["a", "(other)"], "sex": ["f", "m"]},
        contributions={"rows": 1},
        ledger=":memory:",
    )
    found = db.batch({"dept": TEN["dept"], "sex": "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex"}, 100)
    shown = {row["dept"]: row["n"] for row in found["dept"].rows}
    assert list(shown) == ["a", "(other)"]
    assert abs(shown["(other)"]) < 5  # no row has it; the unlisted ones are not shown


def test_questions_without_keys_are_measured_together(db: Any) -> None:
    found = db.batch([TEN["all"], "SELECT SUM(cost) AS s FROM t"], 100)
    assert found["q1"].rows[0]["n"] == pytest.approx(ROWS, abs=5)


def test_a_question_with_grouping_sets_of_its_own(db: Any) -> None:
    asked = {"cube": "SELECT dept, sex, COUNT(*) AS n FROM t GROUP BY CUBE (dept, sex)", "dept": TEN["dept"]}
    found = db.batch(asked, 100, "1e-6")
    assert len(found["cube"].rows) == 12
    assert db.batch(asked, 100, "1e-6").repeated
    assert repr(db.batch(asked, 100, "1e-6")["cube"]).splitlines()[:12] == repr(found["cube"]).splitlines()[:12]


def test_targets_that_are_far_apart(db: Any) -> None:
    plan = db.batch([TEN["dept"], "SELECT sex, COUNT(*) AS n, SUM(cost) AS s FROM t GROUP BY sex"]).plan(
        2, "1e-6", error={"q1": 1e-6, "q2": 1e6}
    )
    assert set(plan.error()) == {"q1", "q2"}


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_question_with_grouping_sets(db: Any, delta: Any) -> None:
    """Beside others and by itself: it is measured as if asked alone, and its totals are the sums of their parts."""
    cube = "SELECT dept, sex, COUNT(*) AS n, MEDIAN(cost) AS m FROM t GROUP BY CUBE (dept, sex)"
    for asked in ({"cube": cube}, {"all": TEN["all"], "cube": cube, "dept": TEN["dept"]}):
        request = db.batch(asked)
        plan = request.plan(10, delta)
        assert plan.steps.loss.epsilon_at(plan.steps.delta) <= 10
        rows = request.release(10, delta)["cube"].rows
        assert sum(row["n"] for row in rows if row["dept"] and row["sex"]) == rows[-1]["n"] == pytest.approx(0.9 * ROWS, abs=300)


def test_targets_far_apart(db: Any) -> None:
    """Prices below the smallest one of a question are not tried, neither for the batch nor for one question's part of it."""
    asked = {"median": TEN["median"], "cheap": TEN["cheap"], "people": TEN["people"]}
    for targets in ({"median": 2000, "cheap": 20, "people": 6000}, dict.fromkeys(asked, 10**8)):
        plan = db.batch(asked).plan(error=targets, size=1000)
        for name, wanted in targets.items():
            assert all(error <= wanted for error in plan.error(size=1000)[name].values())


def test_an_answer_of_a_batch_is_not_refined(db: Any) -> None:
    """It says that the question has to be asked by itself, and does not promise that this is free."""
    found = db.batch({"all": TEN["all"]}, 1)["all"]
    for more in (lambda: found.refine(1), lambda: found.at_confidence(0.9)):
        with pytest.raises(Refused, match="one of a batch: ask its question by itself"):
            more()


def test_an_answer_of_a_batch_is_saved_and_verified_with_the_whole(db: Any, tmp_path: Path) -> None:
    found = db.batch(TEN, 1, "1e-6")
    found["dept"].verify(db.ledger)
    found["dept"].publish(tmp_path)
    saved = BatchRelease.open(tmp_path / "release.json")
    saved.verify(db.ledger)
    assert saved["dept"].rows == found["dept"].rows
    forged = evolve(found["dept"], columns=found["all"].columns[:1] + found["dept"].columns[1:])
    with pytest.raises(LedgerError):
        forged.verify(db.ledger)


def test_a_batch_is_published_in_a_folder_for_each_question(db: Any, tmp_path: Path) -> None:
    cube = "SELECT dept, sex, COUNT(*) AS n FROM t GROUP BY CUBE (dept, sex)"
    found = db.batch({"../<b>x</b>": TEN["dept"], "cube": cube}, 1, "1e-6")
    files = found.publish(tmp_path / "new", tidy=True)
    assert all(path.is_file() and path.is_relative_to(tmp_path / "new") for path in files)
    assert sorted(path for path in (tmp_path / "new").rglob("*") if path.is_file()) == sorted(files)
    page = (tmp_path / "new" / "index.html").read_text()
    assert "<b>x" not in page
    assert 'href="2/index.html">cube<' in page
    assert "n_tidy" not in (tmp_path / "new" / "1" / "answers.csv").read_text()
    assert "n_tidy" in (tmp_path / "new" / "2" / "answers.csv").read_text()
    BatchRelease.open(tmp_path / "new" / "release.json").verify(db.ledger)


def test_errors_are_told_before_limits_are_discovered() -> None:
    many = pa.table({name: DATA[name] if name != "id" else np.arange(ROWS) % 2000 for name in DATA.column_names})
    db = discreet.connect(
        {"t": many}, unit="id", epsilon=1000, bounds={"cost": (0, 100)}, keys={"dept": ["a", "b", "c"]}, ledger=":memory:"
    )  # fmt: skip
    asked = {"all": TEN["all"], "dept": TEN["dept"], "sums": "SELECT dept, SUM(cost) AS s FROM t GROUP BY dept"}
    plan = db.batch(asked).plan(1)
    assert {name: list(found) for name, found in plan.error().items()} == {"all": ["n"], "dept": ["n"], "sums": ["s"]}
    assert "assuming a discovered limit of rows = 10" in plan.explain()
    cheap = db.batch(asked).plan(error={"all": 100, "dept": 100, "sums": 10_000})
    assert cheap.error()["dept"]["n"] <= 100


def test_questions_with_the_same_keys_have_the_error_of_one(db: Any) -> None:
    one = db.batch([TEN["dept"]]).plan(1, "1e-6").error()["q1"]["n"]
    two = db.batch([TEN["dept"], TEN["dept"].replace("AS n", "AS k")]).plan(1, "1e-6").error()
    assert two["q1"]["n"] == pytest.approx(one, rel=1e-3)
    assert two["q2"]["k"] == pytest.approx(one, rel=1e-3)


def test_the_least_price_is_near_the_least_that_reaches_the_targets(db: Any) -> None:
    targets = {"all": 40, "dept": 40}
    request = db.batch({name: TEN[name] for name in targets})
    plan = request.plan(error=targets)
    dearer = request.plan(plan.epsilon * Fraction(97, 100), error=targets)
    assert max(dearer.error()[name]["n"] for name in targets) > 40


def test_limits_by_groups_are_about_each_question_alone(db: Any) -> None:
    limits = {"groups": 2, "per_group": 3}
    many = pa.table({name: DATA[name] if name != "id" else np.arange(ROWS) % 2000 for name in DATA.column_names})
    db = discreet.connect(
        {"t": many}, unit="id", epsilon=1000, keys={"dept": ["a", "b", "c"]}, contributions=limits, ledger=":memory:"
    )  # fmt: skip
    assert len(db.batch([TEN["all"], TEN["dept"]]).plan(1).steps.components) == 2


def test_each_answer_has_its_own_notes_and_the_receipt_of_the_whole(db: Any) -> None:
    found = db.batch({"all": TEN["all"], "dept": TEN["dept"], "top": "SELECT MAX(cost) AS m FROM t"}, 1, "1e-6")
    assert any("quantile" in note for note in found["top"].receipt.notes)
    assert not any("quantile" in note for note in found["dept"].receipt.notes)
    assert any(note.startswith("top: ") for note in found.receipt.notes)
    assert found["dept"].metadata()["receipt"] == found.receipt.to_json()
