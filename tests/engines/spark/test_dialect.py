"""The primitives in Spark do not fail on any value, with and without ANSI mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from discreet.engines.spark import connection
from discreet.engines.spark.engine import Spark
from discreet.tables.kind import Kind


@pytest.fixture(params=["false", "true"], ids=["ansi off", "ansi on"])
def extremes(request: pytest.FixtureRequest, spark: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spark]:
    """Values that hurt, with and without errors for overflow."""
    monkeypatch.setitem(connection.SETTINGS, "spark.sql.ansi.enabled", request.param)
    reals = [
        "0D",
        "-0D",
        "1e300D",
        "-1e300D",
        "5e-324D",
        "double('inf')",
        "double('-inf')",
        "double('NaN')",
        "NULL",
        "4.6e18D",
        "9.3e18D",
        "0.5D",
    ]
    wholes = [0, 1, -1, 2**63 - 1, -(2**63), 2**31, -(2**31), 2**53 + 1]
    rows = [f"({x}, CAST({n} AS BIGINT))" for x in reals for n in wholes]
    with Spark.open({"t": spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS v(x, n)")}) as engine:
        yield engine


def test_primitives_do_not_fail(extremes: Spark) -> None:
    d = extremes.dialect
    assert d.name == "spark"
    each = [
        d.floor("x"),
        d.ceil("x"),
        d.floor_real("x"),
        d.times("x", "1e-300D"),
        d.over("x", "3D"),
        d.exp("LEAST(x, 200D)"),
        d.floor("x * 1e10D"),
    ]
    each += [f"CASE WHEN {d.is_number('x')} THEN 1 ELSE 0 END", d.hash_order([("n", Kind.INTEGER), ("x", Kind.REAL)], "salt")]
    sums = [d.shifted(d.total("n", 2**63), bits) for bits in (0, 7, 40)]
    found = extremes.read_public(f"SELECT {', '.join(f'{text} AS v{i}' for i, text in enumerate(each))} FROM t")
    assert all(len(values) == 96 for values in found.values())
    totals = extremes.read_public(f"SELECT {', '.join(f'{text} AS v{i}' for i, text in enumerate(sums))} FROM t")
    total = 12 * (2**31 - 2**31 + 2**53 + 1 - 1)
    assert [int(values[0]) for values in totals.values()] == [total, total >> 7, total >> 40]


def test_what_stands_behind_a_guard_is_not_computed_before_it(extremes: Spark) -> None:
    """Spark computes common parts of expressions once, and some of them early."""
    risky = "CAST(x * 1000 AS BIGINT)"
    guarded = f"CASE WHEN x > -9e15D AND x < 9e15D THEN {risky} ELSE 0 END"
    assert (
        len(extremes.read_public(f"SELECT {guarded} AS a, {guarded} + 1 AS b, CASE WHEN n = 0 THEN 0 ELSE 100 div n END AS c FROM t")["a"])
        == 96
    )
    both = f"x > -9e15D AND x < 9e15D AND {risky} > 5"
    assert extremes.read_public(f"SELECT COUNT(*) AS c FROM t WHERE ({both}) OR (n > 5 AND {both})")["c"].tolist() == [8]
    twice = f"SELECT ({both}) AS a, (n > 5 AND ({both})) AS b, CASE WHEN {both} THEN {risky} END AS c FROM t"
    assert len(extremes.read_public(twice)["a"]) == 96
