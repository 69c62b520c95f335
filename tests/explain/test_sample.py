"""What a plan says about its sample before anything is paid."""

from __future__ import annotations

import pytest
from plan.questions import DELTA, catalog
from plan.test_sampling import MANY, sampled

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.explain.forecast import forecast
from discreet.explain.sample import sample_facts, sample_lines
from discreet.explain.text import explain
from discreet.plan.steps import Steps


def _told(plan: Steps) -> dict[str, object]:
    found = sample_facts(plan)
    assert found is not None
    return found


def test_the_share_and_the_price_on_the_sample_are_said() -> None:
    lines = sample_lines(_told(sampled(epsilon=1)))
    assert lines[0].startswith("10 % of the units are read, all rows of each")
    assert "On the sample ε = 2.9 is paid for all totals together" in lines[0]
    assert "a sample saves time, not budget" in lines[1]
    assert any(line.startswith("n: ± ") and line.endswith("in a group of 1,000,000 rows") for line in lines)


def test_noise_alone_and_with_the_sampling_error() -> None:
    plan = sampled("SELECT COUNT(*) AS n, AVG(x) AS m FROM t")
    errors = _told(plan)["errors"]
    assert isinstance(errors, dict)
    whole = forecast(plan, size=1_000_000)
    for name, (noise, both) in errors.items():
        assert noise < both == whole[name]


@pytest.mark.parametrize(("sql", "delta"), [("SELECT COUNT(*) AS n FROM t", 0), (f"SELECT {MANY} FROM t", DELTA)])
def test_the_noise_is_compared_with_that_of_all_units(sql: str, delta: object) -> None:
    part, whole = sampled(sql, delta=delta), sampled(sql, delta=delta, rate=None)
    assert part.budget.noise == whole.budget.noise
    assert part.totals[0].scale / whole.totals[0].scale == pytest.approx(_told(part)["noise"], rel=1e-6)


def test_a_plan_that_reads_all_units_has_no_such_section() -> None:
    plan = sampled(rate=None)
    assert sample_facts(plan) is None
    assert "\nSample\n" not in str(explain(plan, DUCKDB))
    told = str(explain(sampled(), DUCKDB))
    assert "\nSample\n" in told
    assert "95 % intervals for the noise and the sampling error" in told
    assert "PoissonSubsampled. Theorem" in told
    replaced = sampled(tables=catalog({"rows": 1}, adjacency="replace-one"))
    assert "Subsampled. Theorem" in str(explain(replaced, DUCKDB))
