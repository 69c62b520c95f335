"""Tidy values of releases: totals agree exactly, beside unbiased values whose intervals are as before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from session.served import remote_session
from session.tables import CITIES, CUBE, DEPARTMENTS, ROLLUP, people, session

from discreet.errors import Invalid
from discreet.run import outcome as outcomes
from discreet.session import run
from discreet.session.release import Release
from discreet.session.session import Session


@pytest.fixture(scope="module")
def db() -> Iterator[Session]:
    with session() as opened:
        yield opened


def agree(rows: list[dict[str, Any]], keys: list[str], value: str) -> None:
    """Every total is exactly the sum of its parts, in every set that has one key more."""
    sets: dict[tuple[str, ...], dict[tuple[Any, ...], Any]] = {}
    for row in rows:
        names = tuple(key for key in keys if row[key] is not None)
        sets.setdefault(names, {})[tuple(row[key] for key in names)] = row[value]
    assert len(sets) > 1
    for names, cells in sets.items():
        finer = [other for other in sets if set(names) < set(other)]
        for other in finer:
            for at, total in cells.items():
                inside = [
                    one for group, one in sets[other].items() if all(group[other.index(k)] == v for k, v in zip(names, at, strict=True))
                ]
                assert sum(inside) == total


@pytest.mark.parametrize(
    ("sql", "keys", "columns"),
    [(CUBE, ["dept", "sex"], ["n", "s"]), (ROLLUP, ["dept", "sex"], ["n", "w"]), (CITIES, ["region", "city", "sex"], ["n"])],
)
def test_totals_agree(db: Session, sql: str, keys: list[str], columns: list[str]) -> None:
    found = db.ask(sql, epsilon=0.2)
    for column in columns:
        agree(found.rows, keys, column)
        agree(found.tidy, keys, column)
        assert all(row[column] >= 0 for row in found.tidy)
    assert any(row["n"] < 0 or row["n"] != int(row["n"]) for row in found.rows), "the table is not sparse enough for a test"
    assert all(type(row["n"]) is int for row in found.tidy)


def test_sums(db: Session) -> None:
    """Sums of whole numbers are whole, sums of real numbers are not; means are as in the rows."""
    found, real = db.ask(CUBE, epsilon=0.2), db.ask(ROLLUP, epsilon=0.2)
    assert all(type(row["s"]) is int for row in found.tidy)
    assert [row["m"] for row in found.tidy] == [row["m"] for row in found.rows]
    assert any(row["w"] != int(row["w"]) for row in real.tidy)


def test_unbiased_values_and_intervals_are_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(run, "outcome", lambda *asked: (seen.append(asked), outcomes.outcome(*asked))[1])
    with session() as db:
        found = db.ask(CUBE, epsilon=0.2)
    monkeypatch.setattr(outcomes, "tidy_values", lambda _: {})
    before = outcomes.outcome(*seen[0])
    assert all(column.tidy is None for column in before)
    for one, other in zip(found.columns, before, strict=True):
        assert (one.values, one.raw, one.low, one.high) == (other.values, other.raw, other.low, other.high)


def test_less_squared_error_on_a_sparse_table(db: Session) -> None:
    """The exact answer is known here: far more accurate at a small ε."""
    exact = {(d, s): people().filter((people()["dept"] == d) & (people()["sex"] == s)).height for d in DEPARTMENTS for s in "fmx"}
    found = db.ask("SELECT dept, sex, COUNT(*) AS n FROM people GROUP BY CUBE(dept, sex)", epsilon=0.05)

    def error(rows: list[dict[str, Any]]) -> float:
        inside = [(lambda d, s, row=row: row["dept"] in (d, None) and row["sex"] in (s, None), row["n"]) for row in rows]
        return sum((n - sum(count for (d, s), count in exact.items() if holds(d, s))) ** 2 for holds, n in inside)

    assert error(found.tidy) < 0.9 * error(found.rows)


def test_only_rows_that_are_shown(db: Session) -> None:
    found = db.ask(
        "SELECT dept, sex, COUNT(*) AS n FROM people GROUP BY CUBE(dept, sex) HAVING n > 20 ORDER BY n DESC LIMIT 3", epsilon=0.2
    )
    assert len(found.tidy) == len(found) <= 3
    assert [row["dept"] for row in found.tidy] == [row["dept"] for row in found.rows]
    assert found.columns[0].summed == [row["dept"] is None for row in found.rows]


def test_it_is_kept(db: Session, tmp_path: Path) -> None:
    found, again = db.ask(CUBE, epsilon=0.2), db.ask(CUBE, epsilon=0.2)
    assert again.repeated
    assert again.tidy == found.tidy
    found.save(tmp_path / "cube.json")
    opened = Release.open(tmp_path / "cube.json")
    assert (opened.tidy, opened.rows, repr(opened.series[0].values)) == (found.tidy, found.rows, repr(found.series[0].values))
    opened.verify(db.ledger)


def test_a_changed_file_is_refused(db: Session) -> None:
    found = db.ask(CUBE, epsilon=0.2)
    for part, value in (("tidy", [-1] * 24), ("tidy", ["1"] * 24), ("tidy", [1]), ("summed", [1] * 24)):
        answers = found.answers()
        answers["columns"][2][part] = value
        with pytest.raises(ValueError, match="shape"):
            Release.from_answers(answers, found.receipt, repeated=False)


def test_a_remote_session_has_them() -> None:
    policy = """budget = { epsilon = 20, delta = 1e-6 }
[tables.people]
source = "people.parquet"
unit = "person"
contributions = { rows = 1 }
columns.dept.keys = ["er", "ward", "lab", "=1+1", "attic"]
columns.sex.keys = ["f", "m", "x"]
columns.cost.bounds = [0, 100]
"""
    with remote_session({"people": people()}, policy) as remote:
        found = remote.ask(CUBE, epsilon=0.2)
        agree(found.tidy, ["dept", "sex"], "n")
        assert found.to_pandas(tidy=True)["n_tidy"].min() >= 0


def test_columns_beside_the_unbiased_ones(db: Session, tmp_path: Path) -> None:
    found = db.ask(CUBE, epsilon=0.2)
    names = ["dept", "sex", "n", "n_low", "n_high", "n_tidy", "s", "s_low", "s_high", "s_tidy", "m", "m_low", "m_high"]
    assert list(found.to_pandas(tidy=True)) == found.to_polars(tidy=True).columns == found.to_arrow(tidy=True).column_names == names
    assert found.to_columns(intervals=False, tidy=True)["n_tidy"] == [row["n"] for row in found.tidy]
    assert "n_tidy" not in found.to_columns()
    assert found.metadata()["columns"]["n"]["tidy"] == "n_tidy"
    assert (found.to_csv(tidy=True) or "").splitlines()[0] == ",".join(names)


def test_questions_without_them_say_so(db: Session) -> None:
    plain = db.ask("SELECT dept, COUNT(*) AS n FROM people GROUP BY dept", epsilon=0.2)
    units = db.ask("SELECT dept, COUNT(DISTINCT person) AS n FROM people GROUP BY ROLLUP(dept)", epsilon=0.2)
    for found in (plain, units):
        for act in (
            lambda found=found: found.tidy,
            lambda found=found: found.to_pandas(tidy=True),
            lambda found=found: found.to_html(tidy=True),
        ):
            with pytest.raises(Invalid, match="no tidy values"):
                act()


def test_sums_that_may_be_negative_have_none() -> None:
    with session(bounds={"people.cost": (-100, 100), "people.weight": (0, 1)}) as db:
        found = db.ask(CUBE, epsilon=0.2)
        assert [column.name for column in found.columns if column.tidy is not None] == ["n"]
        assert found.tidy[0]["s"] == found.rows[0]["s"]


def test_a_name_that_is_taken(db: Session) -> None:
    found = db.ask("SELECT dept, COUNT(*) AS n, SUM(cost) AS n_tidy FROM people GROUP BY ROLLUP(dept)", epsilon=0.2)
    with pytest.raises(Invalid, match="same name"):
        found.to_columns(tidy=True)


def test_totals_are_called_total(db: Session) -> None:
    found = db.ask(CUBE, epsilon=0.2)
    assert "Total  Total" in repr(found)
    assert "<td>Total</td><td>Total</td>" in found._repr_html_()
    assert found.to_columns()["dept"][-1] is None
    assert found.rows[-1]["dept"] is None
    assert set(found.to_pandas()["dept"].dropna()) == set(DEPARTMENTS)
