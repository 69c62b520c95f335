"""Estimates on a session: functions of people's rows, robust statistics, prices, repeats and refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from attrs import evolve
from typer.testing import CliRunner

import discreet
from discreet.cli.app import app
from discreet.errors import BudgetExceeded, Invalid, LedgerError, Refused
from discreet.ledger.ledger import open_ledger
from discreet.session.estimate.estimate import Estimate


def people(count: int = 3000) -> polars.DataFrame:
    """Two rows for each person; cost is about 3·age."""
    ids = np.repeat(np.arange(count), 2)
    age = 20 + ids % 60
    cost = 3.0 * age + np.sin(np.arange(2 * count) * 7.0) * 5
    return polars.DataFrame({"id": ids, "age": age, "cost": cost, "town": np.where(ids % 3, "north", "south")})


def session(frame: polars.DataFrame | None = None, **more: Any) -> discreet.Session:
    options: dict[str, Any] = {
        "unit": "id", "epsilon": 50, "delta": 1e-5, "ledger": ":memory:", "bounds": {"age": (0, 120), "cost": (0, 500)},
    }  # fmt: skip
    return discreet.connect({"visits": people() if frame is None else frame}, **options | more)


def slope(table: dict[str, Any]) -> float:
    return float(np.polyfit(table["age"], table["cost"], 1)[0])


def test_any_function_of_rows() -> None:
    db = session()
    found = db.table("visits").estimate(slope, epsilon=4, bounds=(-10, 10), blocks=60)
    assert found.value == pytest.approx(3, abs=0.5)
    assert found.standard_error is None
    assert float(db.spent.epsilon or 0) == pytest.approx(4)
    assert "60 blocks" in repr(found)
    assert "for 2 units together: ε = 8" in found.explain()
    assert found.epsilon == 4
    assert found.delta == 0


def test_every_aggregate_and_frame() -> None:
    db = session()
    table = db.table("visits")
    assert table.estimate(lambda t: t["cost"].mean(), epsilon=4, bounds=(0, 500), aggregate="mean", blocks=60).value == pytest.approx(
        148, abs=40
    )
    most = table.estimate(lambda t: max(set(t["town"]), key=list(t["town"]).count), epsilon=4, delta=1e-6, aggregate="stable", blocks=60)
    assert most.value == "north"
    assert most.delta == Fraction("1e-6")
    assert table.estimate(lambda t: t["cost"].median(), epsilon=4, bounds=(0, 500), frame="pandas", blocks=60).value == pytest.approx(
        148, abs=40
    )
    assert table.estimate(lambda t: t["cost"].median(), epsilon=4, bounds=(0, 500), frame="polars", blocks=60).value == pytest.approx(
        148, abs=40
    )


def test_frames_have_the_types_of_their_columns() -> None:
    frame = polars.DataFrame({"id": np.arange(900), "b": np.arange(900) % 3 == 0, "t": [None] * 900, "x": np.arange(900.0)})
    frame = frame.with_columns(polars.col("t").cast(polars.String))
    table = session(frame, bounds=None, one_row_per_unit=True).table("visits")
    share = table.estimate(lambda t: t["b"].mean() + t["t"].is_null().mean(), epsilon=8, bounds=(-1, 3), blocks=30, frame="polars")
    assert share.value == pytest.approx(4 / 3, abs=0.3)


@pytest.mark.parametrize(
    "odd", [math.nan, math.inf, Fraction(1, 3), 10**6000, np.float64(2.5), True, "text", None], ids=lambda odd: type(odd).__name__
)
def test_whatever_is_stable_can_be_kept(odd: Any) -> None:
    found = session().table("visits").estimate(lambda t: odd, epsilon=8, aggregate="stable", blocks=60)
    kept = {math.inf: None, 10**6000: None}.get(odd, odd) if odd == odd else None
    assert found.value == (float(odd) if isinstance(odd, Fraction) else kept)
    assert Estimate.from_text(found.to_text()) == found


def test_bounds_between_whole_numbers() -> None:
    """Whole numbers on a grid that begins at a half are placed as real ones are; 25 rows lie between the median and any other value."""
    frame = polars.DataFrame({"id": np.arange(3000), "n": np.arange(3000) % 51, "x": (np.arange(3000) % 51).astype(float)})
    table = session(frame, bounds=None, one_row_per_unit=True).table("visits")
    found = [table.estimate("median", name, bounds=(0.5, 60.5), step=1, epsilon=8).value for name in ("n", "x")]
    assert found == [24.5, 24.5]


def test_every_statistic_pays_for_replacements() -> None:
    for what, of in (("median", "wage"), ("mode", "job")):
        plans = [one_each(adjacency=kind).estimate("visits", what, of).plan(epsilon=1) for kind in ("add/remove", "replace-one")]
        told: list[Any] = [getattr(plan.mechanism, "mechanism", plan.mechanism) for plan in plans]  # type: ignore[union-attr]
        assert [getattr(one, "statistic", one).adjacency for one in told] == ["add/remove", "replace-one"]


def test_uncertainty_is_of_people_and_not_of_rows() -> None:
    """Each person has two equal rows: resampling rows would tell √2 too little."""
    count = 4000
    frame = polars.DataFrame({"id": np.repeat(np.arange(count), 2), "x": np.repeat(np.arange(count) % 100, 2).astype(float)})
    db = session(frame, bounds={"x": (0, 100)})
    found = db.table("visits").estimate(lambda t: t["x"].mean(), epsilon=8, bounds=(0, 100), uncertainty=True, blocks=80)
    assert found.value == pytest.approx(49.5, abs=4)
    assert 0.6 * 28.9 / math.sqrt(count) < found.standard_error < 1.6 * 28.9 / math.sqrt(count)
    assert "standard error" in repr(found)


def one_each(**more: Any) -> discreet.Session:
    ids = np.arange(4000)
    frame = polars.DataFrame({"id": ids, "wage": 1000.0 + ids % 401, "job": np.where(ids % 5, "clerk", "cook")})
    return session(frame, bounds={"wage": (0, 100_000)}, one_row_per_unit=True, **more)


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
def test_robust_statistics_by_every_method(adjacency: str) -> None:
    table = one_each(adjacency=adjacency).table("visits")
    assert table.estimate("median", "wage", epsilon=2).value == pytest.approx(1200, abs=30)
    assert table.estimate("median", "wage", method="smooth", epsilon=2).value == pytest.approx(1200, abs=100)
    assert table.estimate("median", "wage", method="test", bound=20, epsilon=2).value == pytest.approx(1200, abs=400)
    assert table.estimate("quantile", "wage", q=0.9, epsilon=2).value == pytest.approx(1360, abs=30)
    assert table.estimate("interquartile range", "wage", epsilon=2).value == pytest.approx(200, abs=40)
    assert table.estimate("trimmed mean", "wage * 2", trim=0.1, epsilon=2).value == pytest.approx(2400, abs=60)
    mode = table.estimate("mode", "job", epsilon=2)
    assert mode.value == "clerk"
    assert mode.delta == Fraction("1e-5") / 32


def test_a_mean_whose_range_nobody_declared() -> None:
    frame = polars.DataFrame({"id": np.arange(20_000), "x": 1e7 + np.arange(20_000.0) % 100, "y": [None] * 19_999 + [5.0]})
    db = session(frame, bounds=None, one_row_per_unit=True)
    found = db.table("visits").estimate("mean", "x", epsilon=4)
    assert found.value == pytest.approx(1e7 + 49.5, abs=10)
    assert 0 < found.standard_error < 1
    assert abs(db.table("visits").estimate("mean", "y", epsilon=1).value) < 1e30
    replaced = session(frame, bounds=None, one_row_per_unit=True, adjacency="replace-one")
    with pytest.raises(Refused, match="AVG"):
        replaced.table("visits").estimate("mean", "x", epsilon=1)


def test_values_of_people_are_aggregated_first() -> None:
    table = session().table("visits")
    with pytest.raises(Refused, match="per_unit"):
        table.estimate("median", "cost", epsilon=1)
    found = table.per_unit(total="SUM(cost)").estimate("median", "total", bounds=(0, 1000), epsilon=2)
    assert found.value == pytest.approx(297, abs=40)


def test_a_named_estimate_is_free_the_second_time() -> None:
    db = session()
    first = db.table("visits").estimate(slope, epsilon=1, bounds=(-10, 10), name="slope")
    spent = db.spent
    again = db.table("visits").estimate(slope, epsilon=1, bounds=(-10, 10), name="slope")
    assert (again.value, again.repeated, db.spent) == (first.value, True, spent)
    assert "answered before" in repr(again)
    db.table("visits").estimate(slope, epsilon=1, bounds=(-10, 10))  # without a name nobody can know that it is the same
    assert db.spent != spent
    statistic = one_each()
    values = [statistic.table("visits").estimate("median", "wage", epsilon=1).value for _ in range(2)]
    assert values[0] == values[1]


def test_pay_first_and_receipts(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    db = session(ledger=path, epsilon=1)
    found = db.table("visits").estimate(slope, epsilon=1, bounds=(-10, 10), name="slope")
    with pytest.raises(BudgetExceeded):
        db.table("visits").estimate(slope, epsilon=1, bounds=(-10, 10), name="other")
    assert [one["asked"] for one in db.history()] == ["estimate slope of visits"]
    terms = db._ledger.terms
    db.close()
    ledger = open_ledger(str(path), terms, None)
    found.verify(ledger)
    changed = Estimate(
        found.value, None, found.what, found.how, evolve(found.receipt, priced=evolve(found.receipt.priced, epsilon=Fraction(1, 2)))
    )
    with pytest.raises(Invalid):
        changed.verify(ledger)
    other = Estimate(found.value + 1, None, found.what, found.how, found.receipt)
    with pytest.raises(LedgerError, match="other answers"):
        other.verify(ledger)
    ledger.close()
    for one, sound in ((found, True), (other, False)):
        one.save(tmp_path / "slope.json")
        ended = CliRunner().invoke(app, ["verify", str(tmp_path / "slope.json"), "--ledger", str(path)])
        assert (ended.exit_code == 0) is sound
    assert Estimate.open(tmp_path / "slope.json") == other
    assert Estimate.from_text(found.to_text()) == found
    with pytest.raises(Invalid):
        Estimate.from_text("{}")


def test_a_dry_run_costs_nothing_and_says_everything() -> None:
    db = session()
    plan: Any = db.estimate("visits", slope, bounds=(-10, 10)).plan(epsilon=1)
    assert "60 blocks" in plan.explain()
    assert "for 10 units together: ε = 10" in plan.explain()
    assert plan.error() > 1
    assert not db.spent.epsilon


def test_functions_that_fail_or_print_nothing() -> None:
    db = session()

    def broken(table: Any) -> float:
        raise ValueError(str(table))

    found = db.table("visits").estimate(broken, epsilon=1, bounds=(0, 1))
    assert 0 <= found.value <= 1
    strange = db.table("visits").estimate(lambda t: [object()], epsilon=1, bounds=(0, 1))
    assert 0 <= strange.value <= 1
    empty = db.table("visits").where("age > 119").estimate(slope, epsilon=1, bounds=(0, 1))
    assert 0 <= empty.value <= 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda t: t.estimate(slope, epsilon=1), "lower and upper"),
        (lambda t: t.estimate(slope, "cost", epsilon=1, bounds=(0, 1)), "goes with a named statistic"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), colums=["age"]), "does not take colums="),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(1, 0)), "below"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=7), "pair"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), columns=["agee"]), "no column agee"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), columns=["id"]), "names the protected unit"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), columns="age"), "list of names"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), frame="excel"), "numpy, pandas or polars"),
        (lambda t: t.estimate(slope, epsilon=1, aggregate="stable", delta=0), "needs a delta"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), uncertainty=True, aggregate="mean"), "needs aggregate="),
        (lambda t: t.estimate(7, epsilon=1), "function"),
        (lambda t: t.estimate("average", "cost", epsilon=1), "no statistic of that name"),
        (lambda t: t.estimate("median", epsilon=1), "expression is missing"),
        (lambda t: t.estimate("quantile", "cost", epsilon=1), "q="),
        (lambda t: t.per_unit(c="SUM(cost)").estimate("median", "c", epsilon=1, method="best", bounds=(0, 1)), "inverse, smooth or test"),
        (lambda t: t.per_unit(c="SUM(cost)").estimate("median", "c", epsilon=1, method="test", bounds=(0, 1)), "bound="),
        (lambda t: t.per_unit(c="MAX(town)").estimate("median", "c", epsilon=1, bounds=(0, 1)), "number"),
        (lambda t: t.per_unit(c="SUM(cost)").estimate("mode", "c", epsilon=1), "repeat"),
        (lambda t: t.per_unit(c="MAX(town)").estimate("mode", "c", epsilon=1, method="smooth"), "takes no method"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), columns=5), "list of names"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), name=5), "name must be text"),
        (lambda t: t.estimate(slope, epsilon=1, bounds=(0, 1), blocks=10**9), "at most"),
        (lambda t: t.per_unit(c="MAX(age)").estimate("median", "c", epsilon=1, bounds=(0, 10**30)), "narrower bounds"),
        (lambda t: t.per_unit(c="MAX(age)").estimate("median", "c", epsilon=1e-9), "too small"),
        (lambda t: t.count().estimate(slope, epsilon=1, bounds=(0, 1)), "instead of group_by"),
    ],
)
def test_what_is_refused_costs_nothing(asked: Any, said: str) -> None:
    db = session()
    with pytest.raises((Invalid, Refused), match=said.replace("(", r"\(")):
        asked(db.table("visits"))
    assert not db.spent.epsilon


def test_open_bounds_are_asked_for() -> None:
    db = session(bounds={"age": (0, 120)}, contributions={"rows": 2})
    with pytest.raises(Refused, match="bounds of c are not known"):
        db.table("visits").per_unit(c="MAX(cost)").estimate("median", "c", epsilon=1)
