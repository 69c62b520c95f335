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
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile_interval import QuantileInterval
from discreet.mechanisms.value_grid import ValueGrid
from discreet.plan import noise as choosing
from discreet.run import few
from discreet.run.execute import total_statements
from discreet.run.outcome import outcome
from discreet.run.results import PlanResults
from discreet.session.plan import Plan
from discreet.session.session import Session

DRAWS, CHOICES, EPSILON, DELTA = 20_000, 1_000, 1, "0.00001"
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
            "site": rng.integers(0, 6, n),
        }
    )


def session(bounding: str) -> Session:
    declared: dict[str, Any] = {"bounds": {"x": (0, 100), "y": (-50, 50)}, "keys": {"dept": DEPTS, "site": list(range(6))}}
    return discreet.connect(
        {"t": table(bounding)}, unit="id", epsilon=100, delta=0.01, ledger=":memory:", **declared, **BOUNDINGS[bounding]
    )


@lru_cache
def rows(bounding: str, gaussian: bool) -> Rows:
    """The first group's rows, weighted without SQL: the lemmas of plan/bounding.py in floats."""
    columns = {
        name: np.asarray(column.to_pylist()) for name, column in zip(table(bounding).column_names, table(bounding).columns, strict=True)
    }
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
    monkeypatch.setattr(choosing, "_noises", lambda question, delta, taken: [(noise, delta)])
    return db.sql(text).plan(EPSILON, 0 if noise == "laplace" else DELTA)


def recorded(db: Session, text: str, noise: str) -> list[Call]:
    trace = run(db, lambda there: there.sql(text).release(EPSILON, 0 if noise == "laplace" else DELTA))
    assert trace.error is None
    return trace.calls


def drawn(plan: Plan, calls: list[Call], draws: int) -> tuple[PlanResults, PlanResults]:
    """Many noisy copies of the first group, and the group itself."""
    steps = plan.steps
    order = [one for totals, _ in total_statements(steps, DUCKDB) for one in totals]
    noisy, bare = {}, {}
    for number, (total, call) in enumerate(zip(order, calls, strict=True)):
        assert call.mechanism == total.mechanism
        bare[total.total] = np.asarray(call.private[:1])
        noisy[total.total] = np.asarray(total.mechanism.sealed().sample(np.repeat(call.private[:1], draws), Seeded(100 + number)))
    keys = ((DEPTS[0],),)
    return PlanResults(steps, keys * draws, noisy, {}), PlanResults(steps, keys, bare, {})


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


@frozen
class Seen:
    """What came of many draws: how often intervals held, and their mean half-width beside the one that was forecast."""

    held: float
    width: float
    forecast: float

    def say(self, *what: object, of: float = 0.95) -> None:
        off = self.forecast / self.width - 1
        name = "".join(f"{part!s:15}" for part in what)
        print(f"\n{name} covers {self.held:7.2%} of {of:.2%}, ±{self.width:11.4f}, forecast ±{self.forecast:11.4f} ({off:+.2%})", end="")


def seen(plan: Plan, calls: list[Call], exact: float | None, size: int, at: dict[str, float]) -> Seen:
    """Draw the first output many times; `exact` is its answer without noise, or None for what the recorded totals say."""
    many, bare = drawn(plan, calls, DRAWS)
    keys = len(plan.steps.question.keys)
    shown, told = (outcome(answers, 0.95)[keys] for answers in (many, bare))
    widths = np.array(shown.widths if isinstance(shown.widths, list) else [shown.widths] * DRAWS, float)
    recorded_answer = (told.values if told.raw is None else told.raw)[0]
    truth = recorded_answer if exact is None else exact
    assert abs(recorded_answer - truth) <= 0.02 * widths.mean() + 1e-9 * abs(truth)  # grids and weights round far less than noise moves
    low, high = (np.array(ends, float) for ends in (shown.low, shown.high))
    forecast = plan.error(size=size, at=at)[shown.name]
    assert isinstance(forecast, float)
    return Seen(float(np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high))), float(widths.mean()), forecast)


NOISES = pytest.mark.parametrize("noise", ["laplace", "gaussian"])


@NOISES
@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize("aggregate", EXACT)
def test_additive(aggregate: str, bounding: str, noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, exactly = EXACT[aggregate]
    text = f"SELECT dept, {asked} AS m FROM t GROUP BY dept"
    db, rows_here = session(bounding), rows(bounding, noise == "gaussian")
    plan = planned(db, text, noise, monkeypatch)
    exact = None if exactly is None else exactly(rows_here)
    at = {"m": exact} if aggregate in ("mean", "variance", "stddev") and exact is not None else {}
    at |= {"x": rows_here.mean} if "(x)" in asked and aggregate not in ("mean", "count_of") else {}
    size = rows_here.weight if aggregate == "ratio" else rows_here.there
    found = seen(plan, recorded(db, text, noise), exact, round(float(size.sum())), at)
    found.say(aggregate, bounding, noise, of=promised(plan))
    # along a curve, an interval is for both sides of what it finds the more uncertain one: it may hold somewhat more often
    assert -ROOM <= found.held - promised(plan) <= (0.015 if aggregate == "stddev" else ROOM)
    assert abs(found.forecast / found.width - 1) <= 0.05


# ── where the forecast or the interval is not what it says ───────────────────────────────────────────────────────────


def one_group(text: str, n: int, mean: float, noise: str, monkeypatch: pytest.MonkeyPatch, at: dict[str, float] | None = None) -> Seen:
    rng = np.random.default_rng(3)
    values = pa.table({"id": np.arange(n), "dept": [DEPTS[0]] * n, "x": np.clip(rng.normal(mean, 15, n), 0, 100)})
    declared: dict[str, Any] = {"bounds": {"x": (0, 100)}, "keys": {"dept": DEPTS}, "one_row_per_unit": True}
    db = discreet.connect({"t": values}, unit="id", epsilon=100, delta=0.01, ledger=":memory:", **declared)
    asked = f"SELECT dept, {text} AS m FROM t GROUP BY dept"
    monkeypatch.setattr(few, "least_count", lambda _: -math.inf)  # intervals hold whether or not a small group is shown
    plan = planned(db, asked, noise, monkeypatch)
    found = seen(plan, recorded(db, asked, noise), None, n, at or {})
    found.say(text, f"n = {n}", f"mean {mean}", noise)
    return found


@NOISES
def test_the_forecast_of_a_ratio(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = one_group("SUM(x) / COUNT(*)", 3000, 75, noise, monkeypatch)
    assert abs(found.forecast / found.width - 1) <= 0.05


@NOISES
def test_the_forecast_of_a_mean_of_which_nothing_is_said(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken to lie half-way between the middle of its bounds and an end."""
    found = one_group("AVG(x)", 3000, 75, noise, monkeypatch)
    assert abs(found.forecast / found.width - 1) <= 0.05


@NOISES
@pytest.mark.parametrize("n", [10, 30])
def test_deviations_of_small_groups(n: int, noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert one_group("STDDEV(x)", n, 64, noise, monkeypatch).held >= 0.95 - ROOM


@NOISES
@pytest.mark.parametrize("n", [3, 10, 30, 100])
@pytest.mark.parametrize("text", ["AVG(x)", "VARIANCE(x)"])
def test_small_groups(text: str, n: int, noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where noise is as large as the group, intervals may be wider than need be, but they hold."""
    assert one_group(text, n, 64, noise, monkeypatch).held >= 0.95 - ROOM


# ── choices, whose error is in ranks or votes ────────────────────────────────────────────────────────────────────────


def behind(mechanism: Mechanism[Any], private: Any, answer: Any) -> int | Fraction:
    """How far the answer's score lies below the best."""
    if isinstance(mechanism, NoisyMax):
        return int(np.max(private)) - int(private[answer])
    assert isinstance(mechanism, QuantileInterval)
    assert isinstance(mechanism.grid, ValueGrid)
    at = round((Fraction(answer.value) - mechanism.grid.lower) / mechanism.grid.step)
    points, weights = private.points, private.counts
    target = mechanism.q * int(weights.sum())
    return max(int(weights[points < at].sum()) - target, target - int(weights[points <= at].sum()), 0)


@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize("asked", ["MEDIAN(x)", "QUANTILE(x, 0.9)", "QUANTILE(y, 0.05)", "MODE(site)"])
def test_choices(asked: str, bounding: str) -> None:
    db = session(bounding)
    text = f"SELECT dept, {asked} AS m FROM t GROUP BY dept"
    plan = db.sql(text).plan(EPSILON, 0)
    (choice,) = plan.steps.choices
    first = next(call for call in recorded(db, text, "laplace") if call.mechanism == choice.mechanism)
    forecast = plan.error()["m"]
    assert isinstance(forecast, float)
    bits = Seeded(5)
    found = [behind(choice.mechanism, first.private, choice.mechanism.sample(first.private, bits)) for _ in range(CHOICES)]
    far = np.array([float(one) for one in found]) / choice.bounding.one
    held = np.mean(far <= forecast)
    print(f"\n{asked:18} {bounding:7} within ±{forecast:8.2f} {held:.2%} of the time; 95 % within ±{np.quantile(far, 0.95):.2f}", end="")
    assert held >= 0.95 - ROOM
    assert far.min() >= 0
    assert far.max() > 0  # there is noise
