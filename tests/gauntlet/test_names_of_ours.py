"""Stored columns and tables whose names are like those that our SQL gives: nothing is taken for something else, before or after paying."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

import discreet
from discreet.errors import PolicyError

OURS = ["__unit", "__place", "__k0", "__e0", "__x0", "__t0", "__sampled", "__groups0"]


def connected(ids: Sequence[int], name: str, **declared: object) -> discreet.Session:
    values = pa.table({"id": list(ids), name: [i % 2 for i in range(len(ids))]})
    said: dict[str, object] = {"unit": "id", "epsilon": 10**7, "delta": 0.01, "ledger": ":memory:", "one_row_per_unit": True}
    return discreet.connect({"t": values}, **(said | {"bounds": {f"t.{name}": (0, 1)}} | declared))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OURS)
def test_a_stored_column_is_itself(name: str) -> None:
    with connected(range(400), name) as db:
        assert db.ask(f'SELECT SUM("{name}") AS s FROM t', epsilon=10**5).rows == [{"s": 200.0}]
        per_unit = f'SELECT SUM(v) AS s FROM (SELECT id, SUM("{name}") AS v FROM t GROUP BY id)'
        assert db.ask(per_unit, epsilon=10**5).rows[0]["s"] == pytest.approx(200)


def test_one_unit_does_not_make_a_question_fail() -> None:
    """The column was read as the unit's number, which its bounds say nothing about: one large number made the engine fail."""
    text = 'SELECT SUM(POWER("__unit", 2)) AS s FROM t'
    for ids in (range(400), [*range(400), 10**12]):
        with connected(ids, "__unit") as db:
            assert abs(db.ask(text, epsilon=10**5).rows[0]["s"] - 200) <= 1


@pytest.mark.parametrize("name", OURS)
def test_a_stored_column_is_a_key(name: str) -> None:
    with connected(range(400), name, bounds=None, keys={f"t.{name}": [0, 1]}) as db:
        found = db.ask(f'SELECT "{name}" AS k, COUNT(*) AS n FROM t GROUP BY ROLLUP("{name}")', epsilon=10**5)
        assert [(row["k"], row["n"]) for row in found] == [(0, 200), (1, 200), (None, 400)]


def test_a_stored_column_on_a_sample() -> None:
    with connected(range(400), "__unit") as db:
        found = db.sql('SELECT SUM("__unit") AS s FROM t', sample=0.5).release(epsilon=10**5)
        assert 100 < found.rows[0]["s"] < 300


def test_table_names_of_ours_are_refused() -> None:
    with pytest.raises(PolicyError, match="begins with two underscores: rename it"):
        discreet.connect({"__sample": pa.table({"id": [1]})}, unit="id", epsilon=1, ledger=":memory:")
