"""Synthetic tables on a session: one price, kept, with a receipt; and clear errors that cost nothing."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars
import pytest
from session.synthesize import clinic

import discreet
from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.loss.loss import compose

COLUMNS = ["dept", "age", "urgent"]


@pytest.fixture(scope="module")
def made() -> discreet.Synthetic:
    with clinic.session() as db:
        return db.synthesize("visits", 10, 1e-4, columns=COLUMNS, bins=8)


def test_rows_have_the_names_types_and_number(made: discreet.Synthetic) -> None:
    frame = made.to_polars()
    assert frame.columns == COLUMNS
    assert [str(kind) for kind in frame.dtypes] == ["String", "Int64", "Boolean"]
    assert len(frame) == len(made) == len(made.rows)
    assert set(frame["dept"].drop_nulls()) <= {"er", "it's", "ward"}
    assert frame["age"].drop_nulls().is_between(0, 119).all()


def test_answers_come_from_the_model_with_their_errors(made: discreet.Synthetic) -> None:
    rows = clinic.visits()
    exact = rows.filter(rows["dept"] == "er").height
    told = made.answer({"dept": "er"})
    # bounding takes away from people with more than four rows
    assert 0.5 * exact < told.value < exact + 6 * told.error
    assert told.measured
    assert abs(sum(row["count"] for row in made.marginal("dept", "urgent")) - made.model.total) < 1e-6 * made.model.total
    parts = [made.answer({"dept": name}).value for name in ("er", "it's", "ward")]
    assert sum(parts) == pytest.approx(made.model.total)
    mean = made.answer({"urgent": True}, mean="age")
    assert 40 < mean.value < 80
    assert "±" in str(mean)


def test_the_receipt_adds_up(made: discreet.Synthetic) -> None:
    claimed, spent = made.receipt.payments[-1].loss, [loss for _, loss in made.receipt.steps]
    whole = compose(spent)
    assert claimed.mu_squared * (1 - Fraction(1, 10**5)) <= whole.mu_squared <= claimed.mu_squared
    assert claimed.epsilon_at(1e-4) <= 10
    assert made.epsilon == 10


def test_it_tells_what_it_costs_several_units_together(made: discreet.Synthetic) -> None:
    told = made.explain()
    assert "for 2 units together: ε = " in told
    assert "for 10 units together: " in told


@pytest.mark.parametrize("method", ["residuals", "aim", "mst"])
def test_every_method_keeps_to_its_price_and_is_kept(method: str, tmp_path: Path) -> None:
    with clinic.session() as db:
        first = db.synthesize("visits", 2, 1e-4, columns=COLUMNS, bins=6, method=method)
        assert first.method == method
        assert (db.spent.epsilon, float(db.spent.delta)) == (2, 1e-4)
        again = db.synthesize("visits", 2, 1e-4, columns=COLUMNS, bins=6, method=method)
        assert again.repeated
        assert again.data == first.data
        assert db.spent.epsilon == 2
        claimed, spent = (first.receipt.payments[-1].loss, compose(loss for _, loss in first.receipt.steps))
        notion = "mu_squared" if claimed.mu_squared is not None else "rho"
        assert getattr(claimed, notion) * (1 - Fraction(1, 10**5)) <= getattr(spent, notion) <= getattr(claimed, notion)
    first.save(tmp_path / "made.json")
    loaded = discreet.Synthetic.open(tmp_path / "made.json")
    assert loaded.data == first.data
    first.to_parquet(tmp_path / "rows.parquet")
    first.to_csv(tmp_path / "rows.csv")
    assert polars.read_parquet(tmp_path / "rows.parquet").equals(first.to_polars())
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == len(first) + 1
    assert all(set(row) == {"marginal", "model", "rows", "noise"} for row in first.score())
    first.plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_a_changed_file_is_refused(made: discreet.Synthetic, tmp_path: Path) -> None:
    said = json.loads(made.to_text())
    said["receipt"]["epsilon"] = "1/100"
    (tmp_path / "made.json").write_text(json.dumps(said))
    with pytest.raises(Invalid, match="changed"):
        discreet.Synthetic.open(tmp_path / "made.json")
    (tmp_path / "made.json").write_text("{}")
    with pytest.raises(Invalid, match=r"not a release .synthetic table"):
        discreet.Synthetic.open(tmp_path / "made.json")


def test_what_is_not_declared_is_found_for_a_third() -> None:
    with clinic.session(keys=None, bounds={}, contributions=None) as db:
        found = db.synthesize("visits", 20, 1e-4, columns=["dept", "age"], bins=8)
        assert db.spent.epsilon == 20
        assert db.spent.delta <= Fraction(1, 10**4)
        assert "ε = 6.67 of the price" in repr(found)
        assert {"er", "it's", "ward"} <= set(found.to_polars()["dept"].drop_nulls())
        spent = db.spent
        assert db.synthesize("visits", 20, 1e-4, columns=["dept", "age"], bins=8).repeated
        assert db.spent == spent


def test_none_among_the_keys_is_a_value(tmp_path: Path) -> None:
    """It was paid for, and then could not be read back."""
    with clinic.session(keys={"dept": ["er", "ward", None]}) as db:
        made = db.synthesize("visits", 20, 1e-4, columns=["dept", "urgent"], workload=1)
    assert set(made.to_polars()["dept"]) == {"er", "ward", None}
    made.save(tmp_path / "made.json")
    assert discreet.Synthetic.open(tmp_path / "made.json").data == made.data


def test_of_what_a_table_was_made_into() -> None:
    with clinic.session() as db:
        er = db.table("visits").where("dept = 'er'").with_columns(old="age >= 60")
        made = db.synthesize(er, 5, 1e-4, columns=["old", "urgent"])
        assert made.columns == ("old", "urgent")
        assert "old is" not in repr(made)


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_with_nobody_or_one_in_them(rows: int) -> None:
    with clinic.session(clinic.visits().head(rows)) as db:
        for method in ("residuals", "aim", "mst"):
            made = db.synthesize("visits", 1, 1e-4, columns=COLUMNS, bins=4, method=method)
            assert len(made.to_polars()) >= 1


def test_constant_and_single_columns() -> None:
    data = clinic.visits().with_columns(dept=polars.lit("er"))
    with clinic.session(data) as db:
        for method in ("residuals", "aim", "mst"):
            made = db.synthesize("visits", 5, 1e-4, columns=["dept"], method=method)
            assert made.answer({"dept": "er"}).value > 0.8 * made.model.total


def test_mean_of_many_tables_is_right() -> None:
    """Not biased where nothing is bounded: 20 tables of one column, each within its standard error by about."""
    data = polars.DataFrame({"patient": range(4000), "urgent": [i % 4 == 0 for i in range(4000)]})
    with clinic.session(data, contributions=None, bounds={}, keys=None, one_row_per_unit=True, epsilon=1000) as db:
        values = [db.synthesize("visits", Fraction(200 + i, 100), 1e-4).answer({"urgent": True}) for i in range(20)]
    scores = [(told.value - 1000) / told.error for told in values]
    assert abs(np.mean(scores)) < 1.5  # 6.7 standard deviations of a mean of 20
    assert np.max(np.abs(scores)) < 7


BAD = [
    ({"table": "visit"}, Refused, "no table"),
    ({"columns": ["ward"]}, Invalid, "no column"),
    ({"columns": "dept"}, Invalid, "list of names"),
    ({"columns": ["patient"]}, Refused, "identifies the protected unit"),
    ({"method": "gan"}, Invalid, "method must be"),
    ({"workload": "all"}, Invalid, "workload must be"),
    ({"workload": []}, Invalid, "at least one marginal"),
    ({"workload": [("dept", "attic")]}, Invalid, "no column"),
    ({"bins": 1}, Invalid, "bins"),
    ({"epsilon": 0}, Invalid, "epsilon"),
    ({"delta": 0}, Refused, "needs a delta"),
    ({"size": 50, "epsilon": 0.01}, Refused, "no better than independent columns"),
    ({"method": "residuals", "bins": 500}, Invalid, "use method='aim' or 'mst'"),
    ({"epsilon": 1000}, BudgetExceeded, "budget|charged|left"),
]


@pytest.mark.parametrize(("order", "error", "words"), BAD, ids=lambda value: str(value)[:40])
def test_bad_orders_cost_nothing(order: dict[str, object], error: type[Exception], words: str) -> None:
    with clinic.session() as db:
        with pytest.raises(error, match=words):
            db.synthesize(**({"table": "visits", "epsilon": 1, "delta": 1e-4} | order))
        assert db.spent.epsilon == 0


def test_a_public_table_needs_no_synthesis() -> None:
    with clinic.session() as db, pytest.raises(Invalid, match="before it is grouped"):
        db.synthesize(db.table("visits").group_by("dept"), 1)


def test_a_condition_asks_for_the_marginal_of_its_columns() -> None:
    with clinic.session() as db:
        made = db.synthesize("visits", 5, 1e-4, columns=COLUMNS, workload=[{"age": (30, 39), "dept": "er"}, ("urgent",)], bins=8)
        assert made.workload.cliques == ((0, 1), (2,))


def test_an_order_that_does_not_fit_is_refused_before_its_first_step() -> None:
    """Discovery used to be paid for, and then the table was refused for its δ."""
    people = polars.DataFrame({"id": range(3000), "city": ["a", "b", "c"] * 1000, "smokes": [True, False] * 1500})
    with discreet.connect({"people": people}, unit="id", epsilon=2, delta=1e-6, ledger=":memory:", one_row_per_unit=True) as db:
        with pytest.raises(BudgetExceeded, match="Nothing was charged"):
            db.synthesize("people", epsilon=4, delta="9e-7")
        assert (db.spent.epsilon, db.history()) == (0, [])
        assert len(db.synthesize("people", epsilon=2, delta="9e-7").to_polars()) > 0
        assert db.spent.epsilon == 2
        with pytest.raises(BudgetExceeded):
            db.synthesize("people", epsilon=1, delta="1e-8")
        assert db.synthesize("people", epsilon=2, delta="9e-7").receipt  # again, for nothing
        assert db.spent.epsilon == 2
