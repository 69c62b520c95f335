"""Released totals: read back as they were, and combined by their variances."""

from __future__ import annotations

import datetime
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.run.execute import execute
from discreet.run.outcome import outcome
from discreet.run.results import PlanResults
from discreet.run.totals import ReleasedTotals, combine
from discreet.session.connect import connect
from discreet.session.session import Session

ROWS = 3000
DAYS = [datetime.date(2024, 1, 1 + i % 3) for i in range(ROWS)]


@pytest.fixture(scope="module")
def db() -> Session:
    table = pa.table({"id": range(ROWS), "day": DAYS, "x": [float(i % 100) for i in range(ROWS)], "y": [i % 7 for i in range(ROWS)]})
    return connect({"t": table}, unit="id", epsilon=10**6, delta=1e-6, ledger=":memory:")


def drawn(db: Session, text: str, epsilon: object = 1, delta: object = None) -> tuple[Any, PlanResults]:
    plan = db.sql(text).plan(epsilon, delta)  # type: ignore[arg-type]
    return plan.steps, execute(plan.steps, db._engine)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT day, COUNT(*) AS n, AVG(x) AS m, CORR(x, y) AS c FROM t GROUP BY day HAVING n > 0 ORDER BY m LIMIT 2",
        "SELECT COUNT(*) AS n, SUM(x) AS s, STDDEV(x) AS d FROM t",
        "SELECT COUNT(DISTINCT y) AS n FROM t",
    ],
)
def test_totals_are_read_back_with_all_that_was_discovered(db: Session, text: str) -> None:
    asked, answers = drawn(db, text)
    said = json.loads(json.dumps(ReleasedTotals.of(answers, asked).to_json()))
    again = ReleasedTotals.from_json(said).results(asked)
    assert again.plan == answers.plan
    assert again.groups == answers.groups
    for level in (0.5, 0.95, 0.99):
        shown, before = outcome(again, level), outcome(answers, level)
        assert [(c.name, c.values, c.raw, c.widths) for c in shown] == [(c.name, c.values, c.raw, c.widths) for c in before]


def test_totals_of_other_groups_are_not_read(db: Session) -> None:
    asked, answers = drawn(db, "SELECT day, COUNT(*) AS n FROM t GROUP BY day")
    said = ReleasedTotals.of(answers, asked).to_json()
    said["groups"] = said["groups"][:1]
    with pytest.raises(ValueError, match="not those of the groups"):
        ReleasedTotals.from_json(said).results(asked)


@pytest.mark.parametrize("delta", [0, "1e-8"])
def test_draws_are_weighted_by_their_inverse_variance(db: Session, delta: object) -> None:
    text = "SELECT " + ", ".join(f"COUNT_IF(x = {i}) AS n{i}" for i in range(90)) + " FROM t"  # with a δ, Gaussian noise is the better one
    (_, first), (_, second), (_, third) = (drawn(db, text, epsilon, delta) for epsilon in (1, 3, "1/2"))
    assert first.plan.totals[0].is_gaussian == (delta != 0)
    both = combine(first, second)
    all_three = combine(both, third)
    for place, noisy in enumerate(all_three.plan.totals):
        total = noisy.total
        draws = [(one.totals[total], one.plan.totals[place].scale) for one in (first, second, third)]
        weights = np.array([1 / scale**2 for _, scale in draws])
        mean = sum(weight * cells for weight, (cells, _) in zip(weights, draws, strict=True)) / weights.sum()
        assert all_three.totals[total] == pytest.approx(mean)
        assert noisy.scale == pytest.approx(1 / math.sqrt(weights.sum()))
        assert len(noisy.scales) == 3


def test_intervals_of_combined_counts_are_narrower(db: Session) -> None:
    _, first = drawn(db, "SELECT COUNT(*) AS n FROM t", 1, 0)
    _, second = drawn(db, "SELECT COUNT(*) AS n FROM t", 1, 0)
    combined = outcome(combine(first, second), 0.95)[0]
    scale = first.plan.totals[0].scale
    assert isinstance(combined.widths, float)
    # the quantile of |(Z₁ + Z₂)/2| for Laplace noise of scale b: P[> t] = (1 + t/b)·e^(−2t/b)
    t = combined.widths / scale
    assert (1 + t) * math.exp(-2 * t) == pytest.approx(0.05, rel=0.02)


def test_bounds_are_exact(db: Session) -> None:
    asked, answers = drawn(db, "SELECT SUM(x) AS s FROM t")
    found = ReleasedTotals.of(answers, asked)
    assert found.bounds == tuple(answers.plan.discovered.bounds.values())
    assert all(isinstance(bound, Fraction) for bound in found.bounds)
