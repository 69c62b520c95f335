"""Groups with too few rows: no value, no raw value, no interval; counts and sums stay."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from plan.questions import catalog, steps

import discreet
from discreet.run.few import least_count, too_few
from discreet.run.outcome import outcome
from discreet.run.results import PlanResults
from discreet.session.release import Release

STATISTICS = "AVG(x) AS a, VAR_SAMP(x) AS v, STDDEV(x) AS s, SKEWNESS(x) AS w, KURTOSIS(x) AS k, CORR(x, y) AS c"


def test_the_cut_is_two_standard_deviations_of_the_noise_and_one_row_at_least() -> None:
    plan = steps("SELECT dept, AVG(x) AS m FROM t GROUP BY dept", catalog({"rows": 1}))
    count = next(one for one in plan.totals if not one.total.factors)
    cut = least_count(count)
    assert cut == pytest.approx(2 * count.scale * (1 if count.is_gaussian else np.sqrt(2)))
    cells = {one.total: np.array([cut - 0.01, cut, -5.0]) for one in plan.totals}
    assert too_few(plan, cells)["m"].tolist() == [True, False, True]


def test_no_count_is_needed_for_counts_and_sums() -> None:
    plan = steps("SELECT dept, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY dept", catalog({"rows": 1}))
    assert too_few(plan, {one.total: np.zeros(3) for one in plan.totals}) == {}


def test_what_is_computed_from_a_hidden_value_is_hidden() -> None:
    plan = steps("SELECT dept, 2 * AVG(x) AS m, COUNT(*) AS n FROM t GROUP BY dept HAVING AVG(x) IS NULL", catalog({"rows": 1}))
    cells = {one.total: np.array([0.0, 10_000.0, 0.0]) / float(one.unit) for one in plan.totals}
    dept, mean, count = outcome(PlanResults(plan, plan.groups or (), cells, {}), 0.95)
    assert dept.values == ["a", "c"]
    assert (mean.values, mean.low, mean.few) == ([None, None], [None, None], [True, True])
    assert mean.raw in (None, [None, None])
    assert count.few is None


def session() -> discreet.Session:
    """A large group, and one that is empty."""
    coin, n = np.random.default_rng(2), 4000
    x = coin.normal(50, 10, n)
    rows = {"id": range(n), "g": ["full"] * n, "x": x, "y": x + coin.normal(0, 5, n), "k": ["p"] * n}
    keys = {"g": ["full", "empty"], "k": ["p", "q"]}
    bounds = {"x": (0, 100), "y": (0, 120)}
    return discreet.connect(
        {"t": pa.table(rows)}, ledger=":memory:", unit="id", epsilon=10**9, one_row_per_unit=True, keys=keys, bounds=bounds
    )


def test_an_empty_group_has_no_numbers_and_says_why() -> None:
    """An empty group is shown with a probability of 0.03; of 20 releases with 0.03 each, 12 or more are, with one below 10⁻¹²."""
    db = session()
    hidden = 0
    for i in range(20):
        asked = f"SELECT g, COUNT(*) AS n, SUM(x) AS t, {STATISTICS}, MEDIAN(x) AS m, MODE(k) AS o FROM t GROUP BY g"
        told = db.sql(asked).release(epsilon=30 + i)
        full, empty = told.rows
        assert None not in full.values()
        assert None not in (empty["n"], empty["t"])
        gone = [name for name in "avswkcmo" if empty[name] is None]
        hidden += len(gone) == 8
        for name in gone:
            assert told.raw[1][name] is None
            assert told.intervals[1].get(name, (None, None)) == (None, None)
        if gone:
            assert "too few: the noisy number of rows" in str(told)
            assert str(told).count("too few") >= len(gone)
            again = Release.from_text(told.to_text())
            assert (again.rows, again.intervals, str(again)) == (told.rows, told.intervals, str(told))
    assert hidden >= 8


def test_a_count_is_bought_with_a_median() -> None:
    plan = session().sql("SELECT MEDIAN(x) AS m FROM t").plan(1, 0)
    (count,) = plan.steps.totals
    assert count.total.form in ("rows", "present")
    assert 0.03 < float(plan.steps.budget.epsilon) < 0.1
    assert plan.loss.epsilon_at(0) <= 1


def test_both_counts_must_be_clear_where_a_column_may_be_null() -> None:
    """Of many empty groups, one count alone is often clear by chance."""
    plan = steps("SELECT dept, AVG(x) AS m, COUNT(*) AS n FROM t GROUP BY dept", catalog({"rows": 1}))
    counts = [one for one in plan.totals if not one.total.factors]
    assert len(counts) == 2
    for low in counts:
        cells = {one.total: np.array([-1.0 if one is low else 10_000.0, 10_000.0]) for one in plan.totals}
        assert too_few(plan, cells)["m"].tolist() == [True, False]


def test_a_quantile_whose_interval_is_everything_is_not_shown() -> None:
    rows = {"id": range(6), "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    with discreet.connect({"t": pa.table(rows)}, unit="id", epsilon=100, one_row_per_unit=True, ledger=":memory:") as db:
        told = db.sql("SELECT MEDIAN(x) AS m FROM t").release(epsilon="0.5")
    assert told.rows == [{"m": None}]
    assert "too few" in str(told)
