"""What a reviewer broke, and does not any more."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars
import pytest
from session.synthesize import clinic

import discreet
from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.counts import CodedTable, distance
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Error, Invalid, Refused
from discreet.private import reveal
from discreet.session.synthesize.codes import binned
from discreet.session.synthesize.counted import EngineCounts
from discreet.tables.kind import Kind

FAR = [-1e300, -1e9, -0.5, 8.0, 1e9, float("inf"), float("-inf")]


def test_values_beyond_found_bounds_are_counted_once() -> None:
    """A code of −1 would stand for a column that is not of the marginal: one row would be counted in many."""
    names = ["a", "b", "c", "d"]
    few = {"patient": list(range(50)), **{name: [float(i % 8) for i in range(50)] for name in names}}
    one = {"patient": [99], **{name: [FAR[i]] for i, name in enumerate(names)}}
    domain = Domain.of(dict.fromkeys(names, 5))
    cliques = [(), (0,), (1,), (0, 1), (1, 2), (0, 1, 2), (1, 2, 3)]
    found = []
    for data in (few, {name: few[name] + one[name] for name in few}):
        with clinic.session(polars.DataFrame(data), bounds={}, keys=None, contributions={"rows": 1}) as db:
            table = db.table("visits")
            codings = [binned(name, Kind.REAL, Fraction(0), Fraction(8), 4, True) for name in names]
            coded = table.with_columns(**{f"q{i}": coding.sql for i, coding in enumerate(codings)})
            counts = EngineCounts(db._engine, coded.relation, [f"q{i}" for i in range(4)], domain, 1, "add/remove")
            found.append(reveal(counts.marginals(cliques)))
    for clique in cliques:
        assert np.abs(found[0][clique] - found[1][clique]).sum() == counts.l1_sensitivity


def test_codes_below_nothing_are_counted_once() -> None:
    """Whatever an expression gives, a row is in one cell of each marginal."""
    with clinic.session() as db:
        coded = db.table("visits").with_columns(p="COALESCE(age, 0) - 60", q="1")
        counts = EngineCounts(db._engine, coded.relation, ["p", "q"], Domain.of({"p": 3, "q": 3}), 1, "add/remove")
        found = reveal(counts.marginals([(), (0,), (1,), (0, 1)]))
        assert len({int(cells.sum()) for cells in found.values()}) == 1


def test_large_weights_and_counts_do_not_overflow() -> None:
    domain = Domain.of({"a": 2, "b": 2})
    with pytest.raises(Invalid, match="weights"):
        Workload(domain, {(0, 1): 2**51})
    heavy = Workload(domain, {(0, 1): 10**7})
    table = CodedTable(domain, {"a": [0, 1] * 5000, "b": [0, 1] * 5000})
    table.one, table.l1_sensitivity, table.one_sided_sensitivity = 2**40, 2**40, 2**40  # as if each record were very fine
    AIM(budget=MeasurementBudget.zcdp(1), workload=heavy).run(table)
    assert distance(np.array([2**61, -(2**61)]), np.array([-(2**61), 2**61])) == 2**62
    assert distance(np.array([2**40 + 1, 5]), np.array([1, 7])) == 2**40 + 2


def test_a_table_of_another_session_is_refused() -> None:
    with clinic.session() as real, clinic.session(one_row_per_unit=True, contributions=None) as other:
        for order in (
            lambda: real.synthesize(other.table("visits"), 1),
            lambda: real.interactive(["dept"], 1, 100, table=other.table("visits")),
            lambda: real.table("visits").stack(other.table("visits")).count().release(1),
        ):
            with pytest.raises(Invalid, match="another session"):
                order()
        assert real.spent.epsilon == 0


def test_a_closed_session_takes_no_money(tmp_path: Any) -> None:
    path = tmp_path / "visits.parquet"
    clinic.visits().write_parquet(path)
    said: dict[str, Any] = {"unit": "patient", "epsilon": 50, "delta": 1e-3, "bounds": clinic.BOUNDS, "keys": clinic.KEYS}
    db = discreet.connect(path, contributions={"rows": 4}, **said)
    talk = db.interactive(["dept"], 5, 500)
    db.close()
    with pytest.raises(Error):
        db.synthesize("visits", 1)
    with pytest.raises(Error):
        talk.ask({"dept": "er"})
    with discreet.connect(path, contributions={"rows": 4}, **said) as again:
        assert again.spent.epsilon == 0


@pytest.mark.parametrize(
    "order",
    [
        {"method": "foo"},
        {"workload": [("nothing",)]},
        {"workload": []},
        {"workload": 0},
        {"workload": [1]},
        {"columns": 5},
        {"bins": 10**6},
    ],
)
def test_slips_are_found_before_anything_is_looked_for(order: dict[str, Any]) -> None:
    with clinic.session(keys=None, bounds={}) as db:
        with pytest.raises(Error):
            db.synthesize("visits", 10, **({"columns": ["dept", "age"]} | order))
        assert db.spent.epsilon == 0


def test_categories_that_cannot_be_written_go_into_the_rest() -> None:
    odd = ["x\x00y", "z" * 20_000, "plain"]
    data = polars.DataFrame(
        {"patient": range(3000), "dept": [odd[i % 3] for i in range(3000)], "value": [odd[i % 3][:1] for i in range(3000)]}
    )
    with clinic.session(data, keys=None, bounds={}, contributions={"rows": 1}) as db:
        made = db.synthesize("visits", 20, 1e-4)
        assert set(made.to_polars()["dept"].drop_nulls()) == {"plain"}
        assert set(made.to_polars()["value"].drop_nulls()) == {"x", "z", "p"}


def test_standard_errors_of_few_records_are_honest() -> None:
    data = polars.DataFrame({"patient": range(60), "urgent": [i % 2 == 0 for i in range(60)]})
    with clinic.session(data, keys=None, bounds={}, contributions=None, one_row_per_unit=True, epsilon=100) as db:
        told = [db.synthesize("visits", Fraction(5, 100) + Fraction(i, 10**6), 1e-6).answer() for i in range(20)]
    assert all(one.error > 50 for one in told)  # σ of a count at ε = 0.05 is far above 60


def test_means_say_how_wide_bins_are() -> None:
    data = polars.DataFrame({"patient": range(5000), "cost": [1.0] * 5000})
    with clinic.session(data, keys=None, bounds={"cost": (0, 1000)}, contributions=None, one_row_per_unit=True) as db:
        made = db.synthesize("visits", 10).answer(mean="cost")
        assert abs(made.value - 1) < 3 * made.error
        talk = db.interactive(["cost"], 10, 100).ask(mean="cost")
        assert abs(talk.value - 1) < talk.error


def test_conditions_mean_what_they_say() -> None:
    age = binned("age", Kind.INTEGER, Fraction(0), Fraction(99), 20, False)
    assert age.codes([10, 90]) == [2, 18]
    assert age.codes((10, 90)) == list(range(2, 19))
    assert age.codes(np.int64(12)) == [2]
    for wrong in ((500, 600), float("nan"), float("inf"), (1, 2, 3), True):
        with pytest.raises(Invalid):
            age.codes(wrong)
    with pytest.raises(Invalid, match=r"beyond 2\^53"):
        binned("id", Kind.INTEGER, Fraction(2**60), Fraction(2**60 + 9), 32, False)
    with clinic.session() as db:
        made = db.synthesize("visits", 10, columns=["day", "dept"])
        quarter = made.answer({"day": (clinic.visits()["day"].min(), clinic.visits()["day"].min().replace(month=3, day=31))})
        assert 0.15 * made.total < quarter.value < 0.35 * made.total
        for wrong in (["dept"], 3):
            with pytest.raises(Invalid):
                made.answer(wrong)  # type: ignore[arg-type]
        assert {"count", "error", "dept"} == set(made.marginal("dept")[0])


def test_no_delta_is_refused_at_once() -> None:
    with clinic.session(delta=0) as db:
        with pytest.raises(Refused, match="needs a delta"):
            db.interactive(["dept"], 1, 100)
        with pytest.raises(Invalid, match="accuracy must be"):
            db.interactive(["dept"], 1, -1, delta=1e-6)
