"""The total of a threshold question: what one unit can move, and what is no total."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from session.watch.visits import BALANCE, COST, ER, PEOPLE, Row, session

from discreet.errors import Invalid, Refused
from discreet.mechanisms.streams import sparse_vector
from discreet.private import reveal
from discreet.session.session import Session
from discreet.session.watch.total import Measured


def test_values_are_added_as_fractions() -> None:
    """As floats, 2·(2⁶¹ + 2⁹) − 2⁶² would be right too; with a threshold that no float holds only fractions are."""
    with session() as db:
        asked = Measured.of(db.watch(1, 0)._compiled(ER))
        noise = sparse_vector.Laplace(epsilon=1, whole=False)
        threshold = -(2**62) + 1
        value, error = asked.told(float(2**61 + 2**9), Fraction(threshold), noise)
        assert value == 2**10 + 1 != float(threshold) + 2.0 * (2**61 + 2**9)
        assert error > 2 * noise.error() + 500  # what a float near 2⁶¹ cannot tell apart: 2⁸ both ways, and twice that for Δ = 2


# ── what one unit can move ───────────────────────────────────────────────────────────────────────────────────────────

UNITS: list[list[tuple[str, float]]] = [
    [],
    [("er", 100.0)],
    [("er", 0.0), ("ward", 100.0)],
    [("er", 100.0)] * 5,
    [("ward", float("nan"))] * 2,
    [("er", -7.0), ("er", 1e9), ("ward", 33.3)],
]
QUESTIONS = (ER, COST, BALANCE, PEOPLE, "SELECT COUNT(cost) FROM visits", "SELECT SUM(CASE WHEN dept = 'er' THEN cost END) FROM visits")


def placed(db: Session, sql: str, **said: Any) -> Fraction:
    """The exact number that the sparse vector technique gets to see."""
    asked = Measured.of(db.watch(1, 7, **said)._compiled(sql))
    return reveal(asked.read(db._engine).map(lambda total: asked.normalised(total, Fraction(7))))


def raw(db: Session, sql: str) -> Fraction:
    """A broken variant: the answer in its own units, not divided by what one unit moves."""
    asked = Measured.of(db.watch(1, 7)._compiled(sql))
    return reveal(asked.read(db._engine).map(lambda total: total * asked.unit - 7))


def tables(sql: str, measure: Any, adjacency: str) -> list[Fraction]:
    """The answer for each of the records that one unit may have, the others as they are."""
    others: list[Row] = [(1, "er", 50.0), (2, "ward", 20.0), (2, "er", 70.0)]
    found = []
    for rows in UNITS:
        with session(others + [(9, dept, cost) for dept, cost in rows], adjacency=adjacency) as db:
            found.append(measure(db, sql))
    return found


@pytest.mark.parametrize("sql", QUESTIONS)
def test_one_unit_moves_a_normalised_answer_by_one_at_most(sql: str) -> None:
    without, *others = tables(sql, placed, "add/remove")
    assert 0 < max(abs(one - without) for one in others) <= 1
    replaced = tables(sql, placed, "replace-one")
    assert max(abs(a - b) for a, b in itertools.combinations(replaced, 2)) <= 1


def test_the_bound_is_met_and_not_normalising_is_seen() -> None:
    for sql in (ER, COST, PEOPLE):
        without, *others = tables(sql, placed, "add/remove")
        assert max(abs(one - without) for one in others) > Fraction(99, 100)
        replaced = tables(sql, placed, "replace-one")  # no total here is ever negative: the same bound will do
        assert max(abs(a - b) for a, b in itertools.combinations(replaced, 2)) > Fraction(99, 100)
    signed = tables(BALANCE, placed, "replace-one")
    assert max(abs(a - b) for a, b in itertools.combinations(signed, 2)) <= 1
    without, *others = tables(COST, raw, "add/remove")
    assert max(abs(one - without) for one in others) > 1


def test_the_sign_of_a_normalised_answer_is_the_answer() -> None:
    with session([(i, "er", 10.0) for i in range(8)]) as db:
        for sql, exact in ((ER, 8), (COST, 80)):
            asked = Measured.of(db.watch(1, 0)._compiled(sql))
            for threshold in (exact - 1, exact, exact + 1):
                number = asked.read(db._engine).map(lambda total, t=threshold, a=asked: a.normalised(total, Fraction(t)))
                assert (reveal(number) >= 0) == (exact >= threshold)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT dept, COUNT(*) FROM visits GROUP BY dept",
        "SELECT AVG(cost) FROM visits",
        "SELECT COUNT(*), SUM(cost) FROM visits",
        "SELECT COUNT(*) + 1 FROM visits",
        "SELECT MEDIAN(cost) FROM visits",
        "SELECT COUNT(DISTINCT dept) FROM visits",
        "SELECT COUNT(*) FROM visits HAVING COUNT(*) > 10",
    ],
)
def test_what_is_no_total_is_refused_with_what_would_work(sql: str) -> None:
    with session() as db, pytest.raises(Refused, match="such as"):
        db.watch(1, 10).ask(sql)


def test_nothing_is_found_on_the_way() -> None:
    with session(bounds=None) as db, pytest.raises(Refused, match=r'bounds={"cost"'):
        db.watch(1, 10).ask(COST)
    with session(contributions=None) as db:
        with pytest.raises(Refused, match="contributions"):
            db.watch(1, 10).ask(ER)
        assert db.watch(100, 10).ask(PEOPLE).above  # each unit counts once whatever its rows
    with session([(i, "er", 1.0) for i in range(50)], contributions=None, one_row_per_unit=True) as db:
        assert db.watch(100, 10).ask(ER).above


def test_monotone_totals_only_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    for sql in (ER, COST, PEOPLE):
        without, *others = tables(sql, lambda db, text: placed(db, text, monotone=True), "add/remove")
        assert all(one >= without for one in others)
    with session() as db:
        assert db.watch(1, 0, monotone=True).error() < db.watch(1, 0).error()
        with pytest.raises(Refused, match="may lower"):
            db.watch(1, 0, monotone=True).ask(BALANCE)
    with session(adjacency="replace-one") as db, pytest.raises(Invalid, match="leave monotone out"):
        db.watch(1, 0, monotone=True)
