"""The notes' own tables, each person a set of items: the most popular one by SQL is as right as noisy max with a sensitivity of 1.

The notes give no numbers, so gap and ε are chosen: at ε = 1 the winner leads by 14 people, and noisy max over five items with Δ = 1 errs
with a chance below (5 − 1)·e^(−14)/2 = 1.7·10⁻⁶ each time. Two errors or more among 300 then have a chance below 1.3·10⁻⁷.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.mechanisms.noisy_max import NoisyMax

FRUITS = {"apple": 150, "banana": 136, "cherry": 130, "fig": 130, "pear": 100}
CONDITIONS = {"flu": 260, "asthma": 246, "migraine": 240, "diabetes": 200, "eczema": 190}
RUNS = 300
WHOLE = Fraction(113, 100)  # a ninth of it counts people, which tells whether there are enough


def long(counts: dict[str, int], people: int, **more: int) -> pa.Table:
    """One row for each person and item, so many people for each item; and some rows twice or more."""
    rng = random.Random(7)
    rows = [(person, item) for item, count in counts.items() for person in rng.sample(range(people), count)]
    rows += [(person, item) for item, times in more.items() for person in range(20) for _ in range(times) if (person, item) in rows]
    rng.shuffle(rows)
    return pa.table({"person": [person for person, _ in rows], "item": [item for _, item in rows], "ward": [p % 2 for p, _ in rows]})


def right(db: Any, text: str, wanted: list[dict[str, Any]], **more: Any) -> int:
    """How often the answer is right, each time asked at another ε, of which the choice has 1 or a little more and a count the rest."""
    return sum(db.sql(text).release(epsilon=WHOLE + Fraction(i, 10**6), **more).rows == wanted for i in range(RUNS))


@pytest.mark.parametrize(
    "contributions", [None, *(pytest.param(one, marks=pytest.mark.slow) for one in ({"rows": 40}, {"groups": 1, "per_group": 40}))], ids=str
)
@pytest.mark.parametrize(
    ("table", "winner", "items"),
    [
        (long(FRUITS, 200, banana=40), "apple", FRUITS),
        pytest.param(long(CONDITIONS, 280, asthma=12, eczema=30), "flu", CONDITIONS, marks=pytest.mark.slow),
    ],
    ids=["fruits", "conditions"],
)
def test_the_winner_is_right_as_often_as_with_noisy_max(
    table: pa.Table, winner: str, items: dict[str, int], contributions: dict[str, int] | None
) -> None:
    db = discreet.connect(
        {"has": table}, unit="person", epsilon=10**6, keys={"item": list(items)}, contributions=contributions, ledger=":memory:"
    )
    asked = "SELECT MODE(item) AS item FROM has"
    plan = db.sql(asked).plan(epsilon=WHOLE)
    ((_, choice),) = plan.steps.budget.choices
    assert 1 <= choice < Fraction(101, 100)
    assert plan.error(0.95)["item"] == NoisyMax(epsilon=choice, monotone=True).error(0.95, size=5)
    assert right(db, asked, [{"item": winner}]) >= 299


def test_it_is_so_in_every_group() -> None:
    """Nobody is in two wards, so with a limit of one group each person has a whole vote for each of their items."""
    table = long({name: 3 * count for name, count in FRUITS.items()}, 600, banana=40)
    keys = {"item": list(FRUITS), "ward": [0, 1]}
    db = discreet.connect({"has": table}, unit="person", epsilon=10**6, keys=keys, contributions={"groups": 1}, ledger=":memory:")
    wanted = [{"ward": ward, "item": "apple"} for ward in (0, 1)]
    lead = [_lead(table, ward) for ward in (0, 1)]
    assert min(lead) >= 14
    assert right(db, "SELECT ward, MODE(item) AS item FROM has GROUP BY ward", wanted) >= 299


def _lead(table: pa.Table, ward: int) -> int:
    pairs = {(row["person"], row["item"]) for row in table.to_pylist() if row["ward"] == ward}
    counts = {item: sum(item == other for _, other in pairs) for item in FRUITS}
    return counts["apple"] - max(count for item, count in counts.items() if item != "apple")


def test_candidates_that_are_found_have_a_limit_of_their_own() -> None:
    """How many values a person may show; their votes among what was found are whole all the same."""
    table = long({name: 4 * count for name, count in FRUITS.items()}, 800)
    db = discreet.connect({"has": table}, unit="person", epsilon=10**6, delta=0.01, contributions={"rows": 5}, ledger=":memory:")
    plan = db.sql("SELECT MODE(item) AS item FROM has").plan(epsilon=1, delta=1e-6)
    assert "partition selection over units, each in at most 5" in str(plan.explain())
    assert "units are counted, not rows" in str(plan.explain())
    found = [db.sql("SELECT MODE(item) AS item FROM has").release(epsilon=4 + Fraction(i, 10**6), delta=1e-6) for i in range(20)]
    assert all(release.rows == [{"item": "apple"}] for release in found)  # a lead of 56 at ε = 3: an error has a chance below e^(−150)


def test_no_limit_is_looked_for_where_people_are_counted() -> None:
    db = discreet.connect({"has": long(FRUITS, 200)}, unit="person", epsilon=10, keys={"item": list(FRUITS)}, ledger=":memory:")
    assert db.sql("SELECT MODE(item) AS item FROM has").plan(epsilon=1).steps.discoveries == ()
    (find,) = db.sql("SELECT item, COUNT(DISTINCT person) AS n, MODE(item) AS m FROM has GROUP BY item").plan(epsilon=1).steps.discoveries
    assert find.what == "groups"  # not how many rows: these do not count


def test_where_one_person_is_replaced_by_another_the_range_is_doubled() -> None:
    db = discreet.connect(
        {"has": long(FRUITS, 200)}, unit="person", epsilon=10, keys={"item": list(FRUITS)}, adjacency="replace-one", ledger=":memory:"
    )
    found = db.sql("SELECT MODE(item) AS item FROM has").plan(epsilon=1)
    ((_, choice),) = found.steps.budget.choices
    assert found.steps.choices[0].mechanism == NoisyMax(epsilon=choice, sensitivity=1, monotone=False)
