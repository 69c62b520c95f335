"""Intervals hold as often as they say, and the error that is shown before paying is the error that comes.

The private totals of each question are recorded once, every mechanism is drawn many times on them with fixed coins, and the library's own
functions make answers and intervals of that. The exact answer of the bounded question is computed beside it, in floats, from the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from attrs import frozen
from gauntlet.replay import Call, run
from scripted import Seeded

import discreet
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Quantile
from discreet.plan import compile as compiling
from discreet.plan.execute import Answers, statements
from discreet.plan.outcome import outcome
from discreet.plan.plan import Plan
from discreet.session import Session

DRAWS, CHOICES, EPSILON, DELTA = 20_000, 4_000, 1, "0.00001"
ROOM = 0.008  # more than five standard deviations of a share of 20,000
DEPTS = ["er", "icu", "lab"]
BOUNDINGS: dict[str, dict[str, Any]] = {
    "single": {"one_row_per_unit": True},
    "rows": {"contributions": {"rows": 3}},
    "groups": {"contributions": {"groups": 2, "per_group": 2}},
}
Column = np.ndarray[Any, Any]


@frozen(eq=False)
class Rows:
    """The rows of the group that is looked at, with the weight that the bounding gives to each."""

    weight: Column
    x: Column  # NaN where it is missing
    y: Column
    units: float  # how many units, each weighted as units are

    @property
    def there(self) -> Column:
        return self.weight * ~np.isnan(self.x)

    @property
    def mean(self) -> float:
        return float((self.there * np.nan_to_num(self.x)).sum() / self.there.sum())

    @property
    def variance(self) -> float:
        """As the bounded question has it: the weights' sum stands for the number of rows."""
        n = self.there.sum()
        squares = (self.there * (np.nan_to_num(self.x) - self.mean) ** 2).sum()
        return float(squares / (n - 1))


EXACT: dict[str, tuple[str, Callable[[Rows], float] | None]] = {
    "count": ("COUNT(*)", lambda rows: float(rows.weight.sum())),
    "count_of": ("COUNT(x)", lambda rows: float(rows.there.sum())),
    "count_units": ("COUNT(DISTINCT id)", lambda rows: rows.units),
    "count_distinct": ("COUNT(DISTINCT code)", None),  # which values count is decided by a keyed order
    "sum": ("SUM(x)", lambda rows: float((rows.there * np.nan_to_num(rows.x)).sum())),
    "sum around 0": ("SUM(y)", lambda rows: float((rows.weight * rows.y).sum())),
    "mean": ("AVG(x)", lambda rows: rows.mean),
    "variance": ("VARIANCE(x)", lambda rows: rows.variance),
    "stddev": ("STDDEV(x)", lambda rows: math.sqrt(rows.variance)),
    "ratio": ("SUM(x) / COUNT(*)", lambda rows: float((rows.there * np.nan_to_num(rows.x)).sum() / rows.weight.sum())),
}


@lru_cache
def table(bounding: str) -> pa.Table:
    rng = np.random.default_rng(11)
    visits = np.ones(9000, int) if bounding == "single" else rng.integers(1, 7, 3000)
    n = int(visits.sum())
    x = np.round(np.clip(rng.normal(64, 15, n), 0, 100), 3)
    return pa.table(
        {
            "id": np.repeat(np.arange(len(visits)), visits),
            "dept": [DEPTS[i] for i in rng.integers(0, 3, n)],
            "x": pa.array(x, mask=rng.random(n) < 0.05),
            "y": np.round(np.clip(rng.normal(4, 20, n), -50, 50), 3),
            "code": rng.integers(0, 900, n),
        }
    )


def session(bounding: str) -> Session:
    declared: dict[str, Any] = {"bounds": {"x": (0, 100), "y": (-50, 50)}, "keys": {"dept": DEPTS}}
    return discreet.connect(
        {"t": table(bounding)}, unit="id", epsilon=100, delta=0.01, ledger=":memory:", **declared, **BOUNDINGS[bounding]
    )


@lru_cache
def rows(bounding: str, gaussian: bool) -> Rows:
    """The first group's rows, weighted without SQL: the lemmas of plan/bound.py in floats."""
    columns = {name: np.asarray(column.to_pylist()) for name, column in zip(table(bounding).column_names, table(bounding).columns, strict=True)}
    unit, dept = columns["id"], columns["dept"]
    x = np.array([math.nan if value is None else value for value in columns["x"].tolist()])
    all_rows = np.bincount(unit)[unit]
    pairs, which, in_group = np.unique(np.stack([unit, np.searchsorted(DEPTS, dept)]), axis=1, return_inverse=True, return_counts=True)
    c, m = in_group[which.reshape(-1)], np.bincount(pairs[0])[unit]
    root: Callable[[Column], Column] = np.sqrt if gaussian else lambda share: share
    match bounding:
        case "single":
            weight, of_unit = np.ones(len(unit)), np.ones(len(unit))
        case "rows":
            weight, of_unit = np.minimum(1, 3 / all_rows), np.minimum(1, 3 / m)
        case _:
            of_unit = root(np.minimum(1, 2 / m))
            weight = np.minimum(1, 2 / c) * of_unit
    here = dept == DEPTS[0]
    return Rows(weight[here], x[here], columns["y"][here], float((of_unit / c)[here].sum()))


def planned(db: Session, text: str, noise: str, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """The plan with this noise, whether or not it is the better one."""
    monkeypatch.setattr(compiling, "_noises", lambda question, finds, delta: [(noise, delta)])
    return db.sql(text).plan(EPSILON, 0 if noise == "laplace" else DELTA)


def recorded(db: Session, text: str, noise: str) -> list[Call]:
    trace = run(db, lambda there: there.sql(text).release(EPSILON, 0 if noise == "laplace" else DELTA))
    assert trace.error is None
    return trace.calls


def drawn(plan: Plan, calls: list[Call], draws: int) -> tuple[Answers, Answers]:
    """Many noisy copies of the first group, and the group itself."""
    steps = plan.steps
    order = [total for stats, _ in statements(steps) for total in stats]
    noisy, bare = {}, {}
    for number, (total, call) in enumerate(zip(order, calls, strict=True)):
        assert call.mechanism == total.mechanism
        bare[total.stat] = np.asarray(call.private[:1])
        noisy[total.stat] = np.asarray(total.mechanism.sealed().sample(np.repeat(call.private[:1], draws), Seeded(100 + number)))
    keys = ((DEPTS[0],),)
    return Answers(steps, keys * draws, noisy, {}), Answers(steps, keys, bare, {})


def promised(plan: Plan) -> float:
    """How often the interval holds: the confidence, or more where one whole noise is all there is."""
    if len(plan.steps.totals) > 1:
        return 0.95
    mechanism = plan.steps.totals[0].mechanism
    width = mechanism.error(0.95)
    if not isinstance(mechanism, Laplace):
        return math.erf((width + 0.5) / float(mechanism.scale) / math.sqrt(2))
    q = math.exp(-1 / float(mechanism.scale))
    return 1 - 2 * q ** (width + 1) / (1 + q)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize("aggregate", EXACT)
def test_additive(aggregate: str, bounding: str, noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, exactly = EXACT[aggregate]
    beside = ", AVG(x) AS c" if aggregate in ("mean", "variance", "stddev") else ""  # so that one can say where the mean will lie
    text = f"SELECT dept, {asked} AS m{beside} FROM t GROUP BY dept"
    db, truth = session(bounding), rows(bounding, noise == "gaussian")
    plan = planned(db, text, noise, monkeypatch)
    many, bare = drawn(plan, recorded(db, text, noise), DRAWS)
    shown, counted = (outcome(answers, 0.95)[1] for answers in (many, bare))
    widths = np.array(shown.widths if isinstance(shown.widths, list) else [shown.widths] * DRAWS)
    counts = (counted.values if counted.raw is None else counted.raw)[0]
    exact = counts if exactly is None else exactly(truth)
    # a whole count of units (or rows) may be shown rounded; grids and weights round by far less than the noise moves
    assert abs(counts - exact) <= 0.02 * widths.mean() + 1e-9 * abs(exact)
    assert shown.low is not None
    assert shown.high is not None
    held = np.mean((np.array(shown.low) <= exact + 1e-9) & (exact - 1e-9 <= np.array(shown.high)))
    at = {"mean": truth.mean, "variance": truth.variance, "stddev": math.sqrt(truth.variance)}
    said = {"m": at[aggregate], "c": truth.mean} if aggregate in at else {}
    forecast = plan.error(size=round(truth.there.sum()), at=said)["m"]
    assert isinstance(forecast, float)
    print(f"\n{aggregate:14} {bounding:7} {noise:9} covers {held:7.2%} of {promised(plan):.2%}, ±{widths.mean():10.4f}, forecast ±{forecast:10.4f} ({forecast / widths.mean() - 1:+.2%})", end="")
    assert abs(held - promised(plan)) <= ROOM
    assert abs(forecast / widths.mean() - 1) <= 0.05
