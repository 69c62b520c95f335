"""A plan on an engine: totals near the truth at a large ε, one statement for each step."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
from attrs import evolve
from plan.questions import catalog, steps

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.engine import DuckDB
from discreet.plan.key_values import OTHER
from discreet.run.execute import choice_statement, execute, total_statements

HIGH = Fraction(1000)


def engine() -> DuckDB:
    ids = list(range(300))
    return DuckDB.open(
        {"t": pa.table({"id": ids, "dept": ["abz"[i % 3] for i in ids], "x": [float(i % 100) for i in ids], "age": [40] * 300})}
    )


def test_totals_and_choices_are_near_the_truth() -> None:
    plan = steps("SELECT dept, COUNT(*) AS n, MEDIAN(x) AS m, MODE(age) AS o FROM t GROUP BY dept", catalog({"rows": 1}), HIGH)
    with engine() as data:
        found = execute(plan, data)
    (noisy,) = (one for one in plan.totals if one.total.form == "rows")
    counts = found.totals[noisy.total] * float(noisy.unit)
    assert tuple(found.groups) == (("a",), ("b",), ("c",))
    assert [round(count) for count in counts] == [100, 100, 0]
    assert abs(found.choices["m"][0] - 49.5) < 5
    assert found.choices["o"][0] == 40


def test_all_other_rows_are_one_more_group() -> None:
    plan = steps("SELECT dept, COUNT(*) AS n FROM t GROUP BY dept", catalog({"rows": 1}), HIGH)
    plan = evolve(plan, question=evolve(plan.question, other=True))
    with engine() as data:
        found = execute(plan, data)
    (noisy,) = plan.totals
    assert found.groups[-1] == (OTHER,)
    assert round(float(found.totals[noisy.total][-1] * noisy.unit)) == 100


def test_one_statement_counts_all_plain_totals() -> None:
    plan = steps("SELECT COUNT(*), SUM(x), COUNT(DISTINCT id), COUNT(DISTINCT age), MEDIAN(x) AS m FROM t", catalog({"rows": 2}))
    found = total_statements(plan, DUCKDB)
    assert sorted(len(totals) for totals, _ in found)[:2] == [1, 1]
    assert sum(len(totals) for totals, _ in found) == len(plan.totals)
    assert "AS w" in choice_statement(plan.choices[0], plan, DUCKDB).text
