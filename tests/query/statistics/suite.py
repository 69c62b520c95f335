"""What every statistic must do; whoever registers one is held to all of it.

The arguments are chosen by kind, so a new statistic needs nothing here. DuckDB's own aggregate of the same name is the reference.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import attrs
import duckdb
import numpy as np
import pyarrow as pa
from gauntlet.replay import differences, excesses, run, standing_clock
from scripted import Seeded

import discreet
from discreet.private import reveal
from discreet.query.statistics import registry
from discreet.query.statistics.registry import Entry, places
from discreet.query.statistics.spelling import Spelling
from discreet.query.statistics.statistic import Additive, Argument, Selected, Statistic
from discreet.run.execute import total_statements
from discreet.run.keys import Positions
from discreet.run.outcome import outcome
from discreet.run.results import PlanResults
from discreet.run.source import Source

N = 3000
WRITTEN = {
    Argument.NUMBER: ["x", "y"],
    Argument.REPEATING: ["k"],
    Argument.ANY: ["y"],
    Argument.CONDITION: ["x > 20"],
    Argument.SHARE: ["0.25"],
}
WHERE = "g = 'b'"
POLICY: dict[str, Any] = {
    "unit": "id",
    "one_row_per_unit": True,
    "bounds": {"x": (-50, 150), "y": (0, 40)},
    "keys": {"g": ["a", "b"], "k": ["p", "q", "r"]},
}


def rows(n: int = N, seed: int = 3) -> dict[str, list[Any]]:
    """Skewed and related numbers, with NULLs in one of them."""
    coin = np.random.default_rng(seed)
    x = np.clip(coin.gamma(2.0, 15.0, n), -50, 150)
    y = np.clip(5 + x / 6 + coin.normal(0, 4, n), 0, 40)
    return {
        "id": list(range(n)),
        "g": ["a", "b"] * (n // 2),
        "k": coin.choice(["p", "p", "p", "q", "r"], n).tolist(),
        "x": x.tolist(),
        "y": [None if i % 7 == 0 else value for i, value in enumerate(y.tolist())],
    }


def session(table: dict[str, list[Any]], **more: Any) -> discreet.Session:
    with standing_clock():
        return discreet.connect({"t": pa.table(table)}, ledger=":memory:", **({"epsilon": 10**12, "delta": 0.01} | POLICY | more))


def calls(entry: Entry) -> list[str]:
    """The statistic under each of its SQL names, of columns of the right kinds."""
    found = []
    for spelling in entry.spellings:
        kinds = places(entry, spelling)
        used: dict[Argument, int] = {}
        arguments = []
        for kind in kinds:
            choices = WRITTEN[kind]
            arguments.append(choices[used.get(kind, 0) % len(choices)])
            used[kind] = used.get(kind, 0) + 1
        found.append(f"{spelling}({', '.join(arguments)})")
        if entry.optional:
            found.append(f"{spelling}({', '.join(arguments[: len(arguments) - entry.optional]) or '*'})")
    return found


# ── it is complete ───────────────────────────────────────────────────────────────────────────────────────────────────


def check_complete(entry: Entry) -> None:
    """Every name, argument and drawing is there; the class is a final value with a docstring, and its Python names work."""
    assert entry.__doc__
    assert entry.spellings
    assert entry.methods
    assert all(name == name.upper() for name in entry.spellings)
    assert all(spelling in entry.spellings for spelling in entry.methods.values())
    assert not inspect.isabstract(entry), f"{entry.__name__} lacks {', '.join(sorted(entry.__abstractmethods__))}"
    if not issubclass(entry, Spelling):
        assert attrs.has(entry)
        assert entry.drawn in ("bar", "point", "label")
        assert issubclass(entry, Additive | Selected)
        assert len(entry.arguments) <= len(attrs.fields(entry))
    for name, spelling in entry.methods.items():
        method = getattr(session(rows(20)).table("t"), name)
        given = {
            parameter: WRITTEN[kind][0]
            for parameter, kind in zip(inspect.signature(method).parameters, places(entry, spelling), strict=False)
        }
        (asked,) = method(**given).question.statistics
        assert isinstance(asked[1], Statistic)
        assert method.__doc__


# ── it is right ──────────────────────────────────────────────────────────────────────────────────────────────────────


SAME = {  # names that DuckDB does not have, or answers approximately, and those it has
    "COUNT_UNITS(*)": "COUNT(DISTINCT id)",
    "COUNT_UNITS()": "COUNT(DISTINCT id)",
    "APPROX_COUNT_DISTINCT(k)": "COUNT(DISTINCT k)",
    "APPROX_DISTINCT(k)": "COUNT(DISTINCT k)",
    "MIN(x)": "QUANTILE_CONT(x, 0.01)",
    "MAX(x)": "QUANTILE_CONT(x, 0.99)",
    "VAR(x)": "VAR_SAMP(x)",
    "VARIANCE_SAMP(x)": "VAR_SAMP(x)",
    "VARIANCE_POP(x)": "VAR_POP(x)",
    "VARP(x)": "VAR_POP(x)",
    "STDEV(x)": "STDDEV_SAMP(x)",
    "STDEVP(x)": "STDDEV_POP(x)",
    "SKEW(x)": "SKEWNESS(x)",
} | {f"{name}(x, 0.25)": "QUANTILE_CONT(x, 0.25)" for name in ("APPROX_QUANTILE", "PERCENTILE_CONT", "PERCENTILE_DISC", "QUANTILE")}


def reference(text: str, where: str | None = None) -> Any:
    """What DuckDB itself answers."""
    people = pa.table(rows())
    filtered = SAME.get(text, text) + ("" if where is None else f" FILTER (WHERE {where})")
    with duckdb.connect() as connection:
        connection.register("people", people)
        return connection.sql(f"SELECT {filtered} FROM people").fetchall()[0][0]


def check_exact(entry: Entry, expected: Callable[[str, str | None], Any] = reference) -> None:
    """With next to no noise, the answer is that of the engine's own aggregate; with FILTER too."""
    tolerance = 0.1 if issubclass(entry, Selected) else 0.02  # a selected value is one of the ranks beside, in the tails far apart
    db = session(rows())
    for text in calls(entry):
        asked = text.replace("COUNT_UNITS(*)", "COUNT_UNITS()")
        for where in (None, WHERE):
            written = asked if where is None else f"{asked} FILTER (WHERE {where})"
            told = db.sql(f"SELECT {written} AS s FROM t").release(epsilon=10**9, delta=0).rows[0]["s"]
            truth = expected(text, where)
            if isinstance(truth, str):
                assert told == truth, text
            else:
                assert math.isclose(told, truth, rel_tol=tolerance, abs_tol=tolerance), (written, told, truth)


# ── it is private ────────────────────────────────────────────────────────────────────────────────────────────────────

AWKWARD: list[dict[str, Any]] = [
    {"x": 150.0, "y": 40.0},
    {"x": -50.0, "y": 0.0},
    {"x": 1e300, "y": None},
    {"x": math.nan, "y": math.inf},
]


def check_private(entry: Entry) -> None:
    """Everything but what mechanisms let out is the same on neighbours, and inputs of mechanisms differ by no more than is paid for."""
    base = rows(60)
    texts = calls(entry)
    for adjacency in ("add/remove", "replace-one"):
        for value in AWKWARD:
            person = {"id": 999, "g": "a", "k": "r"} | value
            more = {name: [*column, person[name]] for name, column in base.items()}
            less = (
                base
                if adjacency == "add/remove"
                else {name: [*column, base[name][0] if name != "id" else 999] for name, column in base.items()}
            )
            text = f"SELECT g, {', '.join(f'{one} AS s{i}' for i, one in enumerate(texts))} FROM t GROUP BY g".replace(
                "UNITS(*)", "UNITS()"
            )
            traces: list[Any] = []
            for table in (less, more):
                db = session(table, adjacency=adjacency)
                traces.append(run(db, lambda db, text=text: db.sql(text).release(epsilon=2, delta=0), traces[0].calls if traces else None))
            assert traces[0].text is not None
            assert not differences(*traces)
            assert not excesses(*traces, add_remove=adjacency == "add/remove")


# ── its error is as it says ──────────────────────────────────────────────────────────────────────────────────────────


def drawn(text: str, epsilon: float, delta: float, draws: int) -> tuple[discreet.Plan, Any, Any]:
    """The plan, the exact answer, and many noisy answers with their intervals, with fixed coins."""
    db = session(rows())
    plan = db.sql(f"SELECT {text} AS s FROM t").plan(epsilon, delta)
    steps, engine = plan.steps, db._engine
    bare, noisy = {}, {}
    for totals, statement in total_statements(steps, engine.dialect):
        positions, cells = Positions.of(Source.of(steps, engine.dialect).cells or ()), np.zeros((len(totals), 1), np.int64)
        positions.add(cells, reveal(engine.run(statement.text, statement.given)))
        for place, one in enumerate(totals):
            bare[one.total] = cells[place]
            bits = Seeded(1000 + len(bare))
            noisy[one.total] = np.asarray(one.mechanism.sealed().sample(np.repeat(cells[place], draws), bits))
    (truth,) = outcome(PlanResults(steps, ((),), bare, {}), 0.95)
    (told,) = outcome(PlanResults(steps, ((),) * draws, noisy, {}), 0.95)
    return plan, truth, told


def check_coverage(entry: Entry, draws: int = 1500) -> None:
    """95 % intervals hold the exact answer in at least 93.5 % of draws, for both kinds of noise, at large and at small ε.

    With 1,500 draws 93.5 % is 2.7 standard deviations below 95 %; the coins are fixed, so the test cannot flicker.
    """
    for text in calls(entry)[:1]:
        for epsilon, delta in ((2.0, 0.0), (0.1, 0.0), (1.0, 1e-6)):
            plan, truth, told = drawn(text, epsilon, delta, draws)
            exact = truth.raw[0] if truth.raw is not None else truth.values[0]
            held = [low is None or low <= exact <= high for low, high in zip(told.low, told.high, strict=True)]
            assert np.mean(held) >= 0.935, (text, epsilon, plan.steps.budget.noise, np.mean(held))


def check_forecast(entry: Entry) -> None:
    """The error is forecast before paying, falls with ε and with the size of the group, and is of the size that is then reported."""
    db = session(rows())
    for text in calls(entry):
        query = db.sql(f"SELECT {text} AS s FROM t".replace("UNITS(*)", "UNITS()"))
        before = db.spent
        widths = [query.plan(epsilon, 0).error(size=N)["s"] for epsilon in (1, 10)]
        assert db.spent == before
        assert all(isinstance(width, float) and math.isfinite(width) for width in widths), (text, widths)
        assert widths[1] <= widths[0]  # type: ignore[operator]
        larger = query.plan(1, 0).error(size=100 * N)["s"]
        assert isinstance(larger, float)
        assert larger <= widths[0] * 1.01  # type: ignore[operator]
        assert text.partition("(")[0] in registry._by_spelling
        assert "s: " in str(query.plan(1, 0).explain())


CHECKS: dict[str, Callable[[Entry], None]] = {
    "complete": check_complete,
    "exact": check_exact,
    "private": check_private,
    "forecast": check_forecast,
    "coverage": check_coverage,
}
