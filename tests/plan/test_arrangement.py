"""What grouping sets cost: the change of every table that is measured, for random units on a real engine, against the budget."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from numpy.typing import NDArray
from query.sql.clinic import CATALOG

from discreet.algorithms.consistent.layout import Table
from discreet.errors import Refused
from discreet.loss import calibrate
from discreet.plan.arrangement import Arrangement, as_fractions, is_linear
from discreet.plan.bounding import Groups
from discreet.plan.compile import compile_plan
from discreet.plan.key_values import OTHER
from discreet.plan.resolve import resolve
from discreet.plan.steps import Steps
from discreet.private import reveal
from discreet.query.sql.read import read
from discreet.run.execute import execute, total_statements
from discreet.run.keys import Positions
from discreet.run.outcome import outcome
from discreet.session.connect import connect
from discreet.session.session import Session

CUBE = "SELECT a, b, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY CUBE (a, b)"
KEYS = {"a": ["p", "q", "r"], "b": [0, 1, 2, 3]}
Row = tuple[int, str, int, int]


def session(rows: list[Row], limits: dict[str, int], adjacency: Any = "add/remove") -> Session:
    columns: Any = list(zip(*rows, strict=True)) if rows else [[], [], [], []]
    table = pa.table(
        dict(zip(("id", "a", "b", "x"), map(pa.array, columns, [pa.int64(), pa.string(), pa.int64(), pa.int64()]), strict=True))
    )
    return connect(
        {"t": table}, unit="id", epsilon=10, delta=1e-5, bounds={"x": (-5, 9)}, keys=KEYS, contributions=limits, ledger=":memory:",
        adjacency=adjacency,
    )  # fmt: skip


def planned(db: Session, noise: str) -> Steps:
    """The plan with this noise, whichever is better."""
    plan = db.sql(CUBE).plan(1, "1e-6").steps
    budget = evolve(plan.budget, noise=noise, delta=Fraction(1, 10**6) if noise == "gaussian" else Fraction(0))
    return resolve(evolve(plan, budget=budget, bounding=None, totals=(), parts=()), plan.discovered)


def counted(plan: Steps, db: Session) -> dict[Any, NDArray[np.int64]]:
    """The finest table of each total, as the engine computes it."""
    assert plan.arrangement is not None
    positions = (
        Positions.numbered([axis.size for axis in plan.arrangement.axes]) if plan.arrangement.other else Positions.of(plan.groups or ())
    )
    found: dict[Any, NDArray[np.int64]] = {}
    for totals, statement in total_statements(plan, db._engine.dialect):
        cells = np.zeros((len(totals), positions.size), np.int64)
        for batch in db._engine.stream(statement.text, statement.given):
            batch.map(partial(positions.add, cells))
        found |= {one.total: cells[place] for place, one in enumerate(totals)}
    return found


def rows_of_one(seed: int, person: int) -> list[Row]:
    chosen = random.Random(seed)
    many = chosen.choice([1, 2, 3, 12, 40])
    values = chosen.choice([[-5], [9], [-5, 9], list(range(-5, 10))])
    return [(person, chosen.choice(KEYS["a"]), chosen.choice(KEYS["b"]), chosen.choice(values)) for _ in range(many)]  # type: ignore[arg-type]


def cost(plan: Steps, moved: dict[Any, NDArray[np.int64]], noise: str) -> float:
    """What a change of the finest tables costs: μ² for Gaussian noise, ε for Laplace noise."""
    assert plan.arrangement is not None
    found = 0.0
    for one in plan.totals:
        assert one.table is not None
        change, scale = plan.arrangement.layout.summed(moved[one.total], one.table).astype(float), float(one.mechanism.scale)
        found += float((change**2).sum()) / scale**2 if noise == "gaussian" else float(np.abs(change).sum()) / scale
    return found


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("limits", [{"rows": 3}, {"groups": 2, "per_group": 2}, {"groups": 5, "per_group": 1}])
def test_no_unit_costs_more_than_the_budget(noise: str, adjacency: str, limits: dict[str, int]) -> None:
    plan = planned(session([], limits, adjacency), noise)
    budget = float(plan.budget.epsilon)
    if noise == "gaussian":
        budget = 1 / float(calibrate.gaussian_scale(plan.budget.epsilon, plan.budget.delta, Fraction(1))) ** 2
    largest = 0.0
    for seed in range(4):
        one, other = (counted(plan, session(rows_of_one(seed + shift, 1), limits, adjacency)) for shift in (0, 100))
        moved = {total: cells - other[total] if adjacency == "replace-one" else cells for total, cells in one.items()}
        largest = max(largest, cost(plan, moved, noise))
    assert largest <= budget * (1 + 1e-9)
    assert largest > 0.1 * budget  # the bound is not far away


def test_the_root_of_the_groups_would_be_too_little() -> None:
    """Weights that bound the finest table in ℓ₂ do not bound sums over it: a unit in 12 groups costs more than the budget."""
    limits = {"groups": 2, "per_group": 1}
    rows = [(1, a, b, 9) for a in KEYS["a"] for b in KEYS["b"]]
    db = session(rows, limits)  # type: ignore[arg-type]
    plan = planned(db, "gaussian")
    budget = 1 / float(calibrate.gaussian_scale(plan.budget.epsilon, plan.budget.delta, Fraction(1))) ** 2
    assert cost(plan, counted(plan, db), "gaussian") <= budget
    assert isinstance(plan.bounding, Groups)
    wrong = evolve(plan, bounding=evolve(plan.bounding, euclidean=True))
    assert cost(plan, counted(wrong, db), "gaussian") > 1.5 * budget


def test_the_price_is_that_of_the_mechanisms() -> None:
    plan = planned(session([], {"rows": 2}), "gaussian")
    spent = sum(one.mechanism.loss.mu_squared for one in plan.totals)  # type: ignore[misc]
    assert spent <= 1 / calibrate.gaussian_scale(plan.budget.epsilon, plan.budget.delta, Fraction(1)) ** 2
    plan = planned(session([], {"rows": 2}), "laplace")
    assert sum(one.mechanism.loss.epsilon or 0 for one in plan.totals) <= plan.budget.epsilon


def test_shares_add_up_to_one() -> None:
    found = as_fractions({Table(0, (0,)): 0.3333333, Table(0, (1,)): 0.3333333, Table(0, ()): 0.3333334})
    assert sum(found.values()) == 1
    assert all(share > 0 for share in found.values())


def test_groups_are_in_the_order_of_cells() -> None:
    found = Arrangement.flat_keys((("a", "b"), (1, 2, 3)))
    assert list(found.groups((0, 1))) == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3)]
    assert list(found.groups((1,))) == [(1,), (2,), (3,)]
    assert list(found.groups(())) == [()]


def test_keys_without_values_are_refused_before_paying() -> None:
    text = "SELECT region, COUNT(*) AS n FROM visits JOIN sites ON site_id = sites.id GROUP BY ROLLUP (region)"
    with pytest.raises(Refused, match="no value of region is known"):
        compile_plan(read(text, CATALOG), CATALOG, Fraction(1), Fraction(0), lambda *_: ())  # the public table is empty


def test_people_and_distinct_values_do_not_add_up() -> None:
    db = session([], {"rows": 3})
    plan = db.sql(
        "SELECT a, COUNT(*) AS n, COUNT(DISTINCT id) AS p, COUNT(DISTINCT b) AS d, MEDIAN(x) AS m FROM t GROUP BY ROLLUP (a)"
    ).plan(1)
    assert {one.total.form for one in plan.steps.totals} <= {"rows", "present"}
    for part in plan.steps.parts:
        assert sorted(one.total.form for one in part.totals) == ["distinct", "units"]
        assert not any(is_linear(one.total) for one in part.totals)
        assert [choice.name for choice in part.choices] == ["m"]
    assert "measured for each set by itself, because they do not add up: p, d, m" in str(plan.explain())


@pytest.mark.parametrize("limits", [{"rows": 3}, {"groups": 9, "per_group": 1}])
@pytest.mark.parametrize("count", [9, 3000])
def test_values_that_are_not_listed_are_one_before_units_are_bounded(limits: dict[str, int], count: int) -> None:
    """A unit in 9 groups that are not listed is in one; bounded before, it would change that one by 9, and the finest table allows 3."""
    db = session([(1, f"x{i}", 100 + i, 9) for i in range(count)], limits)
    text = "SELECT a, b, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY GROUPING SETS ((a), (a, b))"
    plan = db.sql(text, other=True).plan(1, "1e-6").steps
    assert plan.arrangement is not None
    assert plan.arrangement.other
    assert plan.budget.noise == ("laplace" if "rows" in limits else "gaussian")
    ((_, statement),) = total_statements(plan, db._engine.dialect)
    rows: dict[str, NDArray[Any]] = reveal(db._engine.run(statement.text, statement.given))
    assert len(rows["k0"]) == 1  # so nothing is rounded more than once in a cell
    budget = float(plan.budget.epsilon)
    if plan.budget.noise == "gaussian":
        budget = 1 / float(calibrate.gaussian_scale(plan.budget.epsilon, plan.budget.delta, Fraction(1))) ** 2
    assert 0 < cost(plan, counted(plan, db), plan.budget.noise) <= budget * (1 + 1e-9)


@pytest.mark.parametrize(("statistic", "near"), [("MEDIAN(x)", 7), ("MODE(x)", 7), ("COUNT(DISTINCT id)", 400), ("COUNT(DISTINCT x)", 1)])
def test_all_others_have_statistics_that_do_not_add_up(statistic: str, near: float) -> None:
    """Rows have numbers instead of keys: all others of a whole key have no value in the engine, and a statement with one would fail."""
    rows: list[Row] = [(i, ("p", "elsewhere")[i % 2], (1, 99)[i // 2 % 2], 7) for i in range(1600)]
    found = session(rows, {"rows": 1}).sql(f"SELECT a, b, {statistic} AS m FROM t GROUP BY CUBE (a, b)", other=True).plan(1000, "1e-6")
    with session(rows, {"rows": 1}) as db:
        columns = {one.name: one.values for one in outcome(execute(found.steps, db._engine), 0.95)}
    values = dict(zip(zip(columns["a"], columns["b"], strict=True), columns["m"], strict=True))
    for group in (("p", 1), ("p", OTHER), (OTHER, 1), (OTHER, OTHER)):
        assert values[group] == pytest.approx(near, abs=0.5)
    whole = {"COUNT(DISTINCT id)": 1600}.get(statistic, near)
    assert values[None, None] == pytest.approx(whole, abs=0.5)
    assert values[OTHER, None] == pytest.approx({1600: 800}.get(whole, near), abs=0.5)
