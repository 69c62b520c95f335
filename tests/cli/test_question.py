"""The price of a question: an ε, or a target error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"


def test_a_wished_error_is_bought(run: Any, project: Path) -> None:
    ran = run("ask", project, "SELECT COUNT(*) AS n FROM visits", "--error", "n=50", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    low, high = told["intervals"][0]["n"]
    assert (high - low) / 2 == pytest.approx(50, rel=0.02)
    assert run("ask", project, SQL, "--error", "visits=50", "--epsilon", "1").code == 2
    assert run("ask", project, SQL, "--error", "visits=x").code == 2
    assert "give --size 1000" in run("ask", project, SQL, "--error", "mean_cost=5").err


def test_a_sample_is_read(run: Any, project: Path) -> None:
    told = run("explain", project, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1", "--sample", "0.25")
    assert "25 % of the units are read" in told.out
    wrong = run("ask", project, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1", "--sample", "2")
    assert wrong.code == 2
    assert "sample must lie between" in wrong.err


def test_what_is_minimised(run: Any, project: Path) -> None:
    cube = "SELECT dept, COUNT(*) AS n FROM visits GROUP BY ROLLUP (dept)"
    assert "the largest variance of any set's cells" in run("explain", project, cube, "--epsilon", "1", "--minimise", "worst").out
    told = " ".join(run("explain", project, cube, "--epsilon", "1", "--minimise", "=10", "--minimise", "dept=2").out.split())
    assert "with weights (by dept 2, in total 10)" in told
    for wrong, message in (
        (["=10", "worst"], "--minimise takes total, worst"),
        (["dpt=2"], "did you mean 'dept'?"),
        (["=0"], "must be positive"),
    ):
        said = run("explain", project, cube, "--epsilon", "1", *(part for one in wrong for part in ("--minimise", one)))
        assert said.code == 2
        assert message in " ".join(said.err.split())
