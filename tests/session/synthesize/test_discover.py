"""Discovery that finds nothing: columns are left out and said so, by what was released; nothing is made up."""

from __future__ import annotations

import datetime
import threading
import time
from pathlib import Path

import polars
import pytest
from session.synthesize import clinic

import discreet
from discreet.errors import Refused
from discreet.query.relation.field import Field
from discreet.session.synthesize.discover import Columns, Undeclared
from discreet.session.synthesize.domains import Domains
from discreet.tables.kind import Kind

SCHEMA = {name: Field(Kind.TEXT) for name in "abc"}


def test_columns_of_which_nothing_was_found_are_left_out() -> None:
    columns = Columns(("a", "b", "c"), SCHEMA)
    left = columns.found(Undeclared(("a",), ("b",)), Domains(values={"a": ("x",)}))
    assert left.names == ("a", "c")
    assert left.left_out == (("b", "discovery found no values or bounds at this price: declare its keys or bounds"),)
    with pytest.raises(Refused, match="not enough data to find values or bounds of any column"):
        Columns(("a", "b"), SCHEMA).found(Undeclared(("a",), ("b",)), Domains())


def rare(n: int = 400) -> polars.DataFrame:
    """Every name occurs once, so that no rule may release it."""
    return polars.DataFrame({"patient": range(n), "name": [f"n{i}" for i in range(n)], "urgent": [i % 2 == 0 for i in range(n)]})


def test_a_table_is_made_of_what_was_found() -> None:
    with clinic.session(rare(), keys=None, bounds={}, contributions=None, one_row_per_unit=True) as db:
        made = db.synthesize("visits", 2, 1e-6)
        assert made.columns == ("urgent",)
        assert "name is left out: discovery found no values or bounds at this price" in repr(made)
        assert db.spent.epsilon == 2
        with pytest.raises(Refused, match=r"the workload asks for columns that are left out.*Only what was not declared was paid for"):
            db.synthesize("visits", 3, 1e-6, workload=[("name", "urgent")])


def test_nothing_found_at_all_is_refused_and_only_discovery_is_paid_for() -> None:
    with clinic.session(rare(), keys=None, bounds={}, contributions=None, one_row_per_unit=True) as db:
        with pytest.raises(Refused, match="not enough data"):
            db.synthesize("visits", 3, 1e-6, columns=["name"])
        assert db.spent.epsilon <= 1


def test_the_same_table_asked_for_twice_at_once_is_one_purchase() -> None:
    """The second asks while the first discovers; the budget suffices for one of them."""
    begun, made = threading.Event(), []

    def slowly(what: str, share: float) -> None:
        begun.set()
        time.sleep(0.1)

    with clinic.session(rare(), epsilon=2, keys=None, bounds={}, contributions=None, one_row_per_unit=True) as db:
        first = threading.Thread(target=lambda: made.append(db.synthesize("visits", 2, 1e-6, progress=slowly)))
        first.start()
        begun.wait(30)
        again = db.synthesize("visits", 2, 1e-6)
        first.join(60)
        assert [one.to_text() for one in made] == [again.to_text()]
        assert len(db.history()) == 2  # a discovery and a table


# ── a file whose types nobody declared ───────────────────────────────────────────────────────────────────────────────────


def raw_file(folder: Path, n: int = 3000) -> Path:
    """Numbers, days, moments and texts, as a file has them."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i % 700) for i in range(n)]
    table = {
        "wage": ["" if i % 3 == 0 else f"{8 + (i * 7919) % 400 / 10:.2f}" for i in range(n)],
        "age": [20 + (i * 31) % 40 for i in range(n)],
        "day": days,
        "moment": [f"{day} 12:30:00" for day in days],
        "sex": [("f", "m")[i * 7919 % 13 % 2] for i in range(n)],
    }
    polars.DataFrame(table).write_csv(folder / "slid.csv")
    return folder / "slid.csv"


def test_types_that_nobody_declared_are_found_within_the_price(tmp_path: Path) -> None:
    """All columns were taken for texts, and nearly all wages came out as missing."""
    with discreet.connect(str(raw_file(tmp_path)), unit=discreet.each_row(), epsilon=9, delta=1e-6, ledger=":memory:") as db:
        plan = db.synthesize("slid").plan(3)
        assert "types that nobody declared are found with it: wage, age, day, moment, sex" in plan.explain()
        made = db.synthesize("slid", 3)
        kinds = {coding.name: coding.kind for coding in made.codings}
        assert kinds == {"wage": Kind.REAL, "age": Kind.INTEGER, "day": Kind.DATE, "sex": Kind.TEXT}
        assert "moment is left out: timestamps need bins" in repr(made)
        rows = made.to_polars()
        assert abs(rows["wage"].null_count() / len(rows) - 1 / 3) < 0.1
        assert abs(rows["wage"].mean() - 28) < 3
        assert rows["age"].is_between(20, 59).all()
        assert db.spent.epsilon == 3
        assert db.synthesize("slid", 3).repeated
        assert db.spent.epsilon == 3
        assert discreet.Synthetic.from_text(made.to_text()).data == made.data


def test_types_are_those_of_a_profile_that_was_bought(tmp_path: Path) -> None:
    with discreet.connect(str(raw_file(tmp_path)), unit=discreet.each_row(), epsilon=9, delta=1e-6, ledger=":memory:") as db:
        db.profile(epsilon=3)
        bought = db.synthesize("slid").plan(3)
        assert bought.discovery is None
        kinds = {coding.name: coding.kind for coding in bought.decided.codings}
        assert kinds == {"wage": Kind.REAL, "age": Kind.INTEGER, "day": Kind.DATE, "sex": Kind.TEXT}
