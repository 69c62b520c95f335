"""Grouping sets, answered: totals are exactly the sums of their parts, and intervals hold the truth as often as they say."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.plan.steps import Steps
from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.results import PlanResults
from discreet.run.tables import arrangement_of, set_plans, with_estimates
from discreet.run.totals import ReleasedTotals
from discreet.session.connect import connect
from discreet.session.session import Session

ROWS = 4000
RNG = np.random.default_rng(5)
DATA = {
    "id": np.arange(ROWS),
    "a": RNG.choice(["p", "q", "r", "s"], ROWS, p=[0.6, 0.3, 0.09, 0.01]),
    "b": RNG.integers(0, 3, ROWS),
    "c": RNG.choice(["x", "y"], ROWS),
    "cost": RNG.integers(-20, 80, ROWS),
}
KEYS: dict[str, Sequence[Any]] = {"a": ["p", "q", "r", "s"], "b": [0, 1, 2], "c": ["x", "y"]}
CUBE = "SELECT a, b, c, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM t GROUP BY CUBE (a, b, c)"


@pytest.fixture(scope="module")
def db() -> Session:
    table = pa.table(DATA)
    return connect({"t": table}, unit="id", epsilon=10**6, delta=1e-3, bounds={"cost": (-20, 80)}, keys=KEYS, contributions={"rows": 1},
                   ledger=":memory:")  # fmt: skip


def drawn(db: Session, text: str = CUBE, epsilon: Any = 1, delta: Any = "1e-6") -> tuple[Steps, list[dict[str, Any]]]:
    plan = db.sql(text).plan(epsilon, delta)
    columns = outcome(execute(plan.steps, db._engine), 0.95)
    return plan.steps, [dict(zip([c.name for c in columns], row, strict=True)) for row in zip(*(c.values for c in columns), strict=True)]


def parts(rows: list[dict[str, Any]], whole: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The rows that are `whole` divided by one more key."""
    others = [name for name in KEYS if name != key]
    return [row for row in rows if row[key] is not None and all(row[name] == whole[name] for name in others)]


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (1, "1e-6"), ("0.01", "1e-6"), (20, "1e-6"), ("1/3", "1e-9")])
def test_every_total_is_exactly_the_sum_of_its_parts(db: Session, epsilon: Any, delta: Any) -> None:
    _, rows = drawn(db, epsilon=epsilon, delta=delta)
    assert len(rows) == 5 * 4 * 3
    checked = 0
    for whole in rows:
        for key in KEYS:
            if whole[key] is None:
                below = parts(rows, whole, key)
                assert len(below) == len(KEYS[key])
                assert whole["n"] == math.fsum(row["n"] for row in below)
                assert whole["s"] == math.fsum(row["s"] for row in below)
                checked += 1
    assert checked == 3 * 4 + 5 * 2 * 1 + 4 * 2 + 12 + 5


def test_with_a_delta_several_tables_are_measured(db: Session) -> None:
    plan, _ = drawn(db, epsilon="0.1", delta="1e-3")
    assert plan.budget.noise == "gaussian"
    assert len({one.table for one in plan.totals}) > 4


def truth(places: tuple[int, ...]) -> dict[tuple[Any, ...], int]:
    names = [list(KEYS)[place] for place in places]
    found: dict[tuple[Any, ...], int] = {}
    for row in zip(*(DATA[name].tolist() for name in names), strict=True) if names else [()] * ROWS:
        found[row] = found.get(row, 0) + 1
    return found


@pytest.mark.parametrize(("epsilon", "delta", "noise"), [(1, 0, "laplace"), ("0.1", "1e-3", "gaussian")])
def test_intervals_hold_the_truth_in_every_set(db: Session, epsilon: Any, delta: Any, noise: str) -> None:
    plan = db.sql(CUBE).plan(epsilon, delta).steps
    assert plan.budget.noise == noise
    runs, inside = 60, np.zeros(len(plan.question.sets))
    exact = [truth(places) for places in plan.question.sets]
    for _ in range(runs):
        (count,) = (column for column in outcome(execute(plan, db._engine), 0.95) if column.name == "n")
        assert isinstance(count.widths, list)
        at = 0
        for place, part in enumerate(plan.parts):
            for group in part.groups or ():
                inside[place] += abs(count.values[at] - exact[place].get(group, 0)) <= count.widths[at]
                at += 1
    shares = inside / runs / np.array([len(part.groups or ()) for part in plan.parts])
    assert (shares >= 0.76).all(), shares  # even of 60 independent draws of 95 %, fewer are inside with a probability below 1e-6
    assert shares.mean() == pytest.approx(0.95, abs=0.04)


def test_means_are_those_of_consistent_totals(db: Session) -> None:
    _, rows = drawn(db, CUBE.replace("AVG(cost) AS m", "SUM(cost) / COUNT(*) AS m"), epsilon=5)
    for row in rows:
        if row["m"] is not None and row["n"] > 50:
            assert row["m"] == pytest.approx(row["s"] / row["n"])


def test_having_order_and_limit_work_on_all_rows(db: Session) -> None:
    text = "SELECT a, b, GROUPING(a, b) AS g, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b) HAVING COUNT(*) > 300 ORDER BY n DESC LIMIT 3"
    _, rows = drawn(db, text, epsilon=10)
    assert [row["g"] for row in rows] == [3, 1, 1]
    assert [row["a"] for row in rows] == [None, "p", "q"]


def test_choices_and_people_are_answered_for_each_set(db: Session) -> None:
    text = "SELECT a, MEDIAN(cost) AS m, COUNT(DISTINCT b) AS d, COUNT(DISTINCT id) AS p, COUNT(*) AS n FROM t GROUP BY ROLLUP (a)"
    _, rows = drawn(db, text, epsilon=50)
    assert [row["a"] for row in rows] == ["p", "q", "r", "s", None]
    assert abs(rows[-1]["m"] - float(np.median(DATA["cost"]))) < 3
    assert abs(rows[-1]["p"] - ROWS) < 20
    assert all(abs(row["d"] - 3) < 4 for row in rows)


def test_totals_are_read_back_and_combined(db: Session) -> None:
    for text in (CUBE, "SELECT a, COUNT(*) AS n, COUNT(DISTINCT b) AS d FROM t GROUP BY ROLLUP (a)"):
        plan = db.sql(text).plan(1, "1e-6").steps
        answers = execute(plan, db._engine)
        said = json.loads(json.dumps(ReleasedTotals.of(answers, plan).to_json()))
        again = ReleasedTotals.from_json(said).results(plan)
        for level in (0.5, 0.95):
            assert [(c.values, c.widths) for c in outcome(again, level)] == [(c.values, c.widths) for c in outcome(answers, level)]
        said["cells"][0] = said["cells"][0][:-1]
        with pytest.raises(ValueError, match="not those of the groups"):
            ReleasedTotals.from_json(said).results(plan)


def test_a_refinement_adds_up_and_is_more_accurate(db: Session) -> None:
    first = db.sql(CUBE).release(epsilon="0.1", delta="1e-4")
    refined = first.refine(epsilon="0.1", delta="1e-4")
    rows = refined.rows
    whole = rows[-1]
    assert whole["n"] == math.fsum(row["n"] for row in parts(rows, whole, "a"))
    before, after = (release.columns[3].widths for release in (first, refined))
    assert isinstance(before, list)
    assert isinstance(after, list)
    assert all(b == pytest.approx(a / math.sqrt(2), rel=0.02) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("declared", [{"one_row_per_unit": True}, {"contributions": {"rows": 1}}])
def test_statistics_that_do_not_add_up_are_over_the_same_rows(declared: Any) -> None:
    """Rows whose key is not listed are in no total: they change neither its count nor its median and its number of people."""
    listed = np.arange(ROWS) % 4 == 0
    table = pa.table({"id": np.arange(ROWS), "a": np.where(listed, "p", "unlisted"), "c": DATA["c"], "cost": np.where(listed, 10, 70)})
    said = {"bounds": {"cost": (-20, 80)}, "keys": {"a": ["p"], "c": ["x", "y"]}, "ledger": ":memory:"} | declared
    with connect({"t": table}, unit="id", epsilon=10**6, delta=1e-3, **said) as opened:
        text = "SELECT a, c, COUNT(*) AS n, MEDIAN(cost) AS m, COUNT(DISTINCT id) AS people FROM t GROUP BY CUBE (a, c)"
        _, rows = drawn(opened, text, 1000)
    assert len(rows) == 6
    for row in rows:
        assert row["m"] == pytest.approx(10, abs=0.5)
        assert row["people"] == pytest.approx(row["n"], abs=5)


@pytest.mark.parametrize("rows", [2**10, 2**23, 2**30])
def test_sums_of_very_many_rows_add_up_exactly(rows: int) -> None:
    """A sum is taken from the middle of its bounds, and the middle times the count is added in floats."""
    table = pa.table({**DATA, "cost": DATA["cost"].astype(float)})
    db = connect({"t": table}, unit="id", epsilon=10, delta=1e-3, bounds={"cost": (-20.3, 81.77)}, keys=KEYS, contributions={"rows": 1},
                 ledger=":memory:")  # fmt: skip
    plan = db.sql(CUBE).plan(1, "1e-6").steps
    layout, noisy = arrangement_of(plan).layout, {}
    for one in plan.totals:
        assert one.table is not None
        most = int(rows / layout.cells(one.table) * math.prod(factor.grid.half for factor in one.total.factors) / one.unit)
        noisy[one.total, one.table] = np.random.default_rng(1).integers(most // 2, most, layout.shape(one.table))
    columns = outcome(with_estimates(plan, noisy, [PlanResults(part, part.groups or (), {}, {}) for part in plan.parts]), 0.95)
    found = [dict(zip([c.name for c in columns], row, strict=True)) for row in zip(*(c.values for c in columns), strict=True)]
    for whole in found:
        for key in KEYS:
            if whole[key] is None:
                assert math.fsum(row["s"] for row in parts(found, whole, key)) == whole["s"]


def test_the_interval_of_each_node_follows_its_own_noise() -> None:
    """A region with one city has the error of one Laplace draw, whatever the other regions have."""
    cities = {"city": [f"c{i}" for i in range(51)], "region": ["north"] * 50 + ["south"]}
    visits = pa.table({"id": np.arange(510), "home": [f"c{i % 51}" for i in range(510)]})
    data = {"visits": visits, "cities": pa.table(cities)}
    db = connect(data, unit="id", epsilon=10, public=["cities"], ledger=":memory:", contributions={"rows": 1})
    text = "SELECT region, city, COUNT(*) AS n FROM visits JOIN cities ON home = city GROUP BY ROLLUP (region, city)"
    plan = db.sql(text).plan(1, 0).steps
    regions = next(one for one in set_plans(plan, 0.999) if len(one.question.keys) == 1)
    (total,) = regions.totals
    north, south = total.scale / total.deviation  # type: ignore[operator, attr-defined]
    assert south > 1.05 * north


def test_an_output_may_be_named_like_a_grouping_column(db: Session) -> None:
    _, rows = drawn(db, 'SELECT a, COUNT(*) AS "grouping(a)", GROUPING(a) AS g FROM t GROUP BY ROLLUP (a)', 100)
    assert [row["g"] for row in rows] == [0, 0, 0, 0, 1]
    assert rows[-1]["grouping(a)"] == pytest.approx(ROWS, abs=5)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", 1])
def test_every_value_is_within_its_interval(db: Session, epsilon: Any) -> None:
    """Cells that add up may be negative; their intervals are then not cut at 0, and reach what is possible."""
    columns = outcome(execute(db.sql(CUBE).plan(epsilon, 0).steps, db._engine), 0.95)
    (n,) = [column for column in columns if column.name == "n"]
    assert n.low is not None
    assert n.high is not None
    for value, low, high in zip(n.values, n.low, n.high, strict=True):
        assert low <= value <= high
        assert high >= 0
        assert (low >= 0) == (value >= 0)
        if value < 0 < high:
            assert low + high == pytest.approx(2 * value)
