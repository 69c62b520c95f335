"""Output columns: clipped values, raw ones beside them, intervals within limits, HAVING, ORDER BY and LIMIT."""

from __future__ import annotations

import numpy as np
from plan.questions import catalog, steps

from discreet.run.outcome import noisy_totals_of, outcome
from discreet.run.output_column import OutputColumn
from discreet.run.results import PlanResults
from discreet.run.tables import totals_behind


def results(sql: str, counts: list[float]) -> PlanResults:
    plan = steps(sql, catalog({"rows": 1}))
    cells = {one.total: np.array(counts) / float(one.unit) for one in plan.totals}
    return PlanResults(plan, plan.groups or (), cells, {})


def test_counts_are_clipped_and_keep_their_raw_values() -> None:
    dept, n = outcome(results("SELECT dept, COUNT(*) AS n FROM t GROUP BY dept", [5.0, -2.0, 7.0]), 0.95)
    assert dept.values == ["a", "b", "c"]
    assert (n.values, n.raw) == ([5.0, 0.0, 7.0], [5.0, -2.0, 7.0])
    assert n.low is not None
    assert n.high is not None
    assert min(n.low) >= 0
    assert all(low <= value <= high for low, value, high in zip(n.low, n.values, n.high, strict=True))


def test_having_order_and_limit() -> None:
    sql = "SELECT dept, COUNT(*) AS n FROM t GROUP BY dept HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 1"
    dept, n = outcome(results(sql, [5.0, -2.0, 7.0]), 0.95)
    assert (dept.values, n.values) == (["c"], [7.0])
    dept, _ = outcome(results("SELECT dept, COUNT(*) AS n FROM t GROUP BY dept ORDER BY n", [5.0, 1.0, 7.0]), 0.95)
    assert dept.values == ["b", "a", "c"]


def test_computed_columns_have_their_own_error() -> None:
    plain, twice = outcome(results("SELECT COUNT(*) AS n, 2 * COUNT(*) AS m FROM t", [500.0]), 0.95)
    assert isinstance(plain.widths, float)
    assert isinstance(twice.widths, float)
    assert abs(twice.widths / plain.widths - 2) < 1e-3
    (jumps,) = outcome(results("SELECT CASE WHEN COUNT(*) > 3 THEN 1 ELSE 0 END AS big FROM t", [500.0]), 0.95)
    assert (jumps.values, jumps.widths) == ([1], None)


def test_an_interval_never_leaves_the_limits() -> None:
    column = OutputColumn("share", [0.9, None], None, 0.3, 0.0, 1.0)
    assert column.high == [1.0, None]
    assert column.taken([1, 0]).values == [None, 0.9]


def test_the_totals_behind_a_statistic() -> None:
    plan = steps("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", catalog({"rows": 1}))
    found = noisy_totals_of([plan.question.additive["n"]], plan)
    assert [one.total.form for one in found] == ["rows"]
    assert totals_behind(plan) is plan.available_totals


def test_ends_that_a_mechanism_chose_follow_their_rows() -> None:
    column = OutputColumn("m", [5, None, 7], drawn="point", ends=[(4, 9), None, (7, 8)])
    assert (column.low, column.high) == ([4, None, 7], [9, None, 8])
    assert column.taken([2, 0]).low == [7, 4]


def test_a_sum_of_what_cannot_be_negative_is_not_shown_negative() -> None:
    sql = "SELECT dept, SUM(x) AS s FROM t GROUP BY dept"
    for bounds, limits, shown in (
        ((0, 10), (0, None), [50.0, 0.0, 0.0]),
        ((-10, 0), (None, 0), [0.0, -80.0, 0.0]),
        ((-1, 9), (None, None), None),
    ):
        plan = steps(sql, catalog({"rows": 1}, bounds=bounds))
        of = totals_behind(plan)
        statistic = plan.question.additive["s"]
        cells = {one.total: np.array([50.0, -80.0, 0.0]) / float(one.unit) if one.total.factors else np.zeros(3) for one in plan.totals}
        _, column = outcome(PlanResults(plan, plan.groups or (), cells, {}), 0.95)
        assert (column.least, column.most) == limits
        raw = column.values if column.raw is None else column.raw
        if shown is not None:
            assert column.values == shown
        assert raw == statistic.value(of, {one.total: cells[one.total] * float(one.unit) for one in plan.totals}, clipped=False).tolist()
        assert min(raw) < 0 < max(raw)
