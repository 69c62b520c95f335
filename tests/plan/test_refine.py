"""The plan of a refinement: nothing is discovered, the noise is of the same kind, the price is its own."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from discreet.errors import Invalid, Refused
from discreet.loss.notions import Approx, Pure
from discreet.plan.refine import refining_plan
from discreet.plan.steps import Steps
from discreet.run.execute import execute
from discreet.session.connect import connect
from discreet.session.session import Session

TEXT = "SELECT g, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY g"
WIDE = "SELECT " + ", ".join(f"COUNT_IF(x = {i}) AS n{i}" for i in range(90)) + " FROM t"


@pytest.fixture(scope="module")
def db() -> Session:
    table = pa.table(
        {"id": [i // 3 for i in range(3000)], "g": ["ab"[i % 2] for i in range(3000)], "x": [float(i % 50) for i in range(3000)]}
    )
    return connect({"t": table}, unit="id", epsilon=100, delta=1e-6, ledger=":memory:")


def first(db: Session, text: str) -> Steps:
    return execute(db.sql(text).plan(epsilon=1).steps, db._engine).plan


def test_what_was_discovered_is_declared_now(db: Session) -> None:
    before = first(db, TEXT)
    plan = refining_plan(before, Fraction(2), Fraction(0))
    assert before.discoveries
    assert not plan.discoveries
    assert plan.groups == plan.public_groups == before.groups
    assert plan.bounding == before.bounding
    assert [(one.total, one.unit, one.scaled) for one in plan.totals] == [(one.total, one.unit, one.scaled) for one in before.totals]
    assert plan.loss.within(Pure(2))
    assert not plan.loss.within(Pure("19/10"))  # all of it goes to the totals
    assert all(after.scale < one.scale / 2 for after, one in zip(plan.totals, before.totals, strict=True))


def test_gaussian_noise_stays_gaussian(db: Session) -> None:
    before = first(db, WIDE)
    assert before.totals[0].is_gaussian
    plan = refining_plan(before, Fraction(1, 2), Fraction(1, 10**8))
    assert plan.totals[0].is_gaussian
    assert (plan.epsilon, plan.delta) == (Fraction(1, 2), Fraction(1, 10**8))
    assert plan.loss.within(Approx("1/2", "1e-8"))
    with pytest.raises(Refused, match="needs a delta above 0"):
        refining_plan(before, Fraction(1, 2), Fraction(0))


def test_an_epsilon_that_is_too_small_is_refused(db: Session) -> None:
    with pytest.raises(Invalid, match="epsilon must be at least"):
        refining_plan(first(db, TEXT), Fraction(1, 10**6), Fraction(0))
