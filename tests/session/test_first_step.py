"""Questions over undeclared numbers: the discovery is charged first, and the question stops there if nothing is found."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import LedgerError, NotEnoughData, Refused
from discreet.session.first_step import FirstStep, parts_of

N = 344  # as many as there are penguins: their mean mass was once answered as 0.978 (0.949 … 1.000)


def masses(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"mass": rng.normal(4200, 800, n).round(), "species": rng.choice(["a", "b"], n)})


def session(table: pd.DataFrame, **declared: Any) -> discreet.Session:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return discreet.connect(table, unit=discreet.each_row(), epsilon=1000, delta=1e-3, ledger=":memory:", **declared)


MEAN = "SELECT AVG(mass) AS m FROM data"


def test_the_mean_of_a_small_raw_table_is_near_the_truth_or_refused() -> None:
    """The range holds all values, so the interval for the noise is one for the mean; noise at ε = 20 is far below the tolerance."""
    table = masses()
    with session(table) as db:
        told = db.sql(MEAN).release(epsilon=20)
        assert abs(told.rows[0]["m"] - table["mass"].mean()) < 100
        assert told.receipt.discovered["bounds"] == {"mass": {"low": "0", "high": "8192"}}
        assert "excludes bias from clipping mass to 0 … 8,192" in repr(told)


def test_discovery_and_answer_are_two_payments_of_one_price() -> None:
    with session(masses()) as db:
        told = db.sql(MEAN).release(epsilon=20)
        assert len(told.receipt.payments) == 2
        assert db.spent.epsilon == 20
        told.verify(db._ledger)
        again = db.sql(MEAN).release(epsilon=20)
        assert again.repeated
        assert db.spent.epsilon == 20


def test_a_question_that_finds_nothing_stops_and_charges_its_discovery_alone() -> None:
    with session(masses()) as db:
        query = db.sql(MEAN)
        first = parts_of(query.plan(epsilon=0.02).steps)[0]
        messages = []
        for _ in range(2):  # the second time for nothing
            with pytest.raises(NotEnoughData, match="not enough data to discover the range of mass") as stopped:
                query.release(epsilon=0.02)
            messages.append(str(stopped.value))
            assert db.spent.epsilon == first.epsilon == Fraction(4, 1000)
        assert messages[0] == messages[1]
        assert 'Declare bounds={"mass": (low, high)}' in messages[0]
        assert db.sql("SELECT COUNT(*) AS n FROM data").release(epsilon=0.1)  # the rest was not reserved for ever


def test_a_question_of_which_one_column_is_not_found_says_how_to_ask_for_the_rest() -> None:
    """Everybody has a mass, and five have wings."""
    table = masses(3000).assign(wing=[200.0 if i < 5 else None for i in range(3000)])
    with session(table, keys={"species": ["a", "b"]}) as db:
        asked = "select species, avg(mass) as m, avg(wing) as w, count(*) as n from data group by species order by n"
        with pytest.raises(NotEnoughData, match="discover the range of wing") as stopped:
            db.sql(asked).release(epsilon=1)
        rest = str(stopped.value).partition("Or ask for the rest alone: ")[2]
        assert rest == "SELECT species, AVG(mass) AS m, COUNT(*) AS n FROM data GROUP BY species ORDER BY n"
        assert set(db.sql(rest).release(epsilon=1).rows[0]) == {"species", "m", "n"}
        with pytest.raises(NotEnoughData, match=r"Or leave out w$"):  # built in Python: there is no text to copy
            db.table("data").mean("mass", name="m").mean("wing", name="w").release(epsilon=1)
        with pytest.raises(NotEnoughData, match=r"or give a larger epsilon$"):
            db.sql("SELECT AVG(wing) AS w FROM data").release(epsilon="0.1")


def test_nothing_is_begun_that_the_budget_does_not_admit() -> None:
    with session(masses()) as db, pytest.raises(discreet.BudgetExceeded):
        db.sql(MEAN).release(epsilon=1001)
    assert db.spent.epsilon == 0


def test_a_public_size_that_is_hopeless_is_refused_before_paying() -> None:
    table = masses().assign(id=range(N))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        db = discreet.connect(
            table, unit="id", epsilon=10, adjacency="replace-one", size=N, one_row_per_unit=True, not_null=["mass"], ledger=":memory:"
        )
    with db, pytest.raises(Refused, match="344 rows are too few to discover the range of mass"):
        db.sql(MEAN).release(epsilon=0.05)
    assert db.spent.epsilon == 0


def test_what_was_discovered_is_read_back_or_distrusted() -> None:
    with session(masses(3000)) as db:
        steps = db.sql("SELECT species, SUM(mass) AS s FROM data GROUP BY species").plan(epsilon=10, delta=1e-6).steps
        told = db.sql("SELECT species, SUM(mass) AS s FROM data GROUP BY species").release(epsilon=10, delta=1e-6)
        assert [row["species"] for row in told.rows] == ["a", "b"]
        text = next(entry.body["release"]["release"] for entry in db._ledger.entries() if entry.kind == "release")
        found = FirstStep.from_text(text, steps)
        assert found.discovered.groups == (("a",), ("b",))
        assert found.to_text() == text
    for broken in ("", "{}", text.replace('"not_found":[]', '"not_found":7'), text.replace('"bounds":[[1', '"bounds":[[9')):
        with pytest.raises(LedgerError, match="cannot be read"):
            FirstStep.from_text(broken, steps)


def test_a_dry_run_needs_no_range() -> None:
    with session(masses()) as db:
        assert db.sql(MEAN).dry_run().receipt.dry_run
        assert db.spent.epsilon == 0
