"""`discreet explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"


def test_explain_spends_nothing(run: Any, project: Path, tmp_path: Path) -> None:
    ran = run("explain", project, SQL, "--epsilon", "0.5")
    assert ran.code == 0
    assert ran.out.startswith("Who is protected\n")
    assert json.loads(run("explain", project, SQL, "--epsilon", "0.5", "--json").out)["scans"] == 2
    assert run("explain", project, SQL, "--epsilon", "0.5", "--html", tmp_path / "a.html").out == ""
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert json.loads(run("budget", project, "--json").out)["spent"]["epsilon"] == "0"
