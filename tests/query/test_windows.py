"""Windows over released rows, against DuckDB over the same rows."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from discreet.query.relation.expr import Column, Literal
from discreet.query.windows import Window

ROWS = [
    {"k": k, "g": g, "n": n}
    for k, g, n in [
        ("a", 1, 10),
        ("b", 1, 30),
        ("c", 1, 30),
        ("d", 2, None),
        ("e", 2, 5),
        ("f", 2, 7),
        ("g", 2, 7),
        ("h", 3, 1),
    ]
]
K, G, N = Column("k"), Column("g"), Column("n")
BY_K, BY_N = ((K, False),), ((N, True),)
WINDOWS: list[tuple[str, Window]] = [
    ("SUM(n) OVER ()", Window("sum", N)),
    ("AVG(n) OVER (PARTITION BY g)", Window("avg", N, (G,))),
    ("SUM(n) OVER (ORDER BY k)", Window("sum", N, (), BY_K)),
    ("SUM(n) OVER (ORDER BY n DESC NULLS LAST)", Window("sum", N, (), BY_N)),
    ("SUM(n) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", Window("sum", N, (G,), BY_K, (-1, 0))),
    ("AVG(n) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)", Window("avg", N, (), BY_K, (-1, 1))),
    ("SUM(n) OVER (ORDER BY k ROWS BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING)", Window("sum", N, (), BY_K, (2, None))),
    ("MIN(n) OVER (PARTITION BY g)", Window("min", N, (G,))),
    ("MAX(n) OVER (ORDER BY k)", Window("max", N, (), BY_K)),
    ("COUNT(*) OVER (PARTITION BY g)", Window("count", None, (G,))),
    ("COUNT(n) OVER (PARTITION BY g)", Window("count", N, (G,))),
    ("LAG(n) OVER (ORDER BY k)", Window("lag", N, (), BY_K)),
    ("LAG(n, 2, 0) OVER (PARTITION BY g ORDER BY k)", Window("lag", N, (G,), BY_K, None, 2, Literal(0))),
    ("LEAD(n) OVER (PARTITION BY g ORDER BY k)", Window("lead", N, (G,), BY_K)),
    ("FIRST_VALUE(n) OVER (PARTITION BY g ORDER BY k)", Window("first", N, (G,), BY_K)),
    ("LAST_VALUE(n) OVER (PARTITION BY g ORDER BY k)", Window("last", N, (G,), BY_K)),
    ("ROW_NUMBER() OVER (PARTITION BY g ORDER BY k DESC)", Window("row_number", None, (G,), ((K, True),))),
    ("RANK() OVER (ORDER BY n DESC NULLS LAST)", Window("rank", None, (), BY_N)),
    ("DENSE_RANK() OVER (ORDER BY n DESC NULLS LAST)", Window("dense_rank", None, (), BY_N)),
    ("PERCENT_RANK() OVER (ORDER BY n DESC NULLS LAST)", Window("percent_rank", None, (), BY_N)),
    ("CUME_DIST() OVER (ORDER BY n DESC NULLS LAST)", Window("cume_dist", None, (), BY_N)),
    ("NTILE(3) OVER (ORDER BY k)", Window("ntile", None, (), BY_K, None, 3)),
    ("NTILE(20) OVER (ORDER BY k)", Window("ntile", None, (), BY_K, None, 20)),
]


def theirs(text: str, where: str = "TRUE") -> list[Any]:
    shown = ", ".join(f"('{row['k']}', {row['g']}, {'NULL' if row['n'] is None else row['n']})" for row in ROWS)
    found = duckdb.sql(f"SELECT k, {text} FROM (VALUES {shown}) AS t(k, g, n) WHERE {where} ORDER BY k").fetchall()
    return [value for _, value in found]


@pytest.mark.parametrize(("text", "window"), WINDOWS, ids=[text for text, _ in WINDOWS])
def test_as_in_duckdb(text: str, window: Window) -> None:
    assert window.values(ROWS, range(len(ROWS))) == pytest.approx(theirs(text), nan_ok=True)


@pytest.mark.parametrize(("text", "window"), WINDOWS, ids=[text for text, _ in WINDOWS])
def test_rows_that_having_drops_are_not_seen(text: str, window: Window) -> None:
    kept = [at for at, row in enumerate(ROWS) if row["g"] != 1]
    found = window.values(ROWS, kept)
    assert [found[at] for at in kept] == pytest.approx(theirs(text, "g <> 1"))
    assert all(found[at] is None for at in range(len(ROWS)) if at not in kept)


def test_weights_make_the_value() -> None:
    inside = [row["n"] for row in ROWS]
    for _, window in WINDOWS:
        values = window.values(ROWS, range(len(ROWS)))
        for at, frame in window.frames(ROWS, range(len(ROWS))).items():
            weights = window.weights(frame, inside) if window.argument is not None else None
            if weights and all(inside[other] is not None for other in weights):
                assert sum(weight * inside[other] for other, weight in weights.items()) == pytest.approx(values[at])
