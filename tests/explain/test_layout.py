"""Laying out changes blanks only, and nothing between quotes."""

from __future__ import annotations

import pytest
from session.clinic import clinic

from discreet.explain.layout import laid_out

STATISTICS = ("COUNT(*)", "AVG(cost)", "MEDIAN(cost)", "MODE(dept)", "COUNT(DISTINCT patient_id)", "COUNT(DISTINCT dept)")


@pytest.mark.parametrize(
    "declared", [{}, {"contributions": None, "keys": None, "bounds": None}, {"contributions": {"groups": 2, "per_group": 2}}]
)
def test_every_statement_keeps_its_words(declared: dict[str, object]) -> None:
    with clinic(**declared) as db:
        for statistic in STATISTICS:
            told = db.sql(f"SELECT year, {statistic} AS x FROM visits WHERE dept <> '  FROM ( x' GROUP BY year").plan(1).explain().to_json()
            for sql in (statement["sql"] for statement in told["statements"]):
                shown = laid_out(sql)
                assert "".join(shown.split()) == "".join(sql.split())
                assert "'  FROM ( x'" in shown
                assert len(shown.splitlines()) > 3


@pytest.mark.parametrize("text", ["", ")", "((", "SELECT ')' FROM t", "SELECT 'a''(' FROM t", 'SELECT "FROM (" FROM t', "Σ 'open"])
def test_any_text_survives(text: str) -> None:
    assert "".join(laid_out(text).split()) == "".join(text.split())
