"""`discreet ask`: the answer for people and for machines, and files with it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

SQL = "SELECT dept, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY dept"
SAID = ("--unit", "patient_id", "--bounds", "cost=0:500", "--keys", "dept=er,ward,lab", "--contributions", "rows=3")


def test_a_file_with_everything_said(run: Any, data: Path) -> None:
    ran = run("ask", data, SQL, "--epsilon", "0.5", "--budget", "2", "--delta", "1e-6", *SAID)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["er", "ward", "lab"]
    assert "cost ε = 0.5 (ledger entry 1)" in lines
    assert lines[-1].startswith("remaining: ε = 1.5, δ = ")
    assert (data.parent / "visits.parquet.ledger").exists()


def test_json_and_csv_are_all_of_stdout(run: Any, project: Path) -> None:
    told = json.loads(run("ask", project, SQL, "--epsilon", "0.5", "--json").out)
    assert [row["dept"] for row in told["rows"]] == ["er", "ward", "lab"]
    assert told["intervals"][0]["visits"][0] < told["rows"][0]["visits"] < told["intervals"][0]["visits"][1]
    assert (told["repeated"], told["receipt"]["epsilon"]) == (False, "1/2")
    rows = list(csv.DictReader(io.StringIO(run("ask", project, SQL, "--epsilon", "0.5", "--csv").out)))
    assert [float(row["visits"]) for row in rows] == [row["visits"] for row in told["rows"]]
    assert run("ask", project, SQL, "--epsilon", "0.5", "--csv", "--json").code == 2


def test_plot_and_receipt_files(run: Any, project: Path, tmp_path: Path) -> None:
    ran = run("ask", project, SQL, "--epsilon", "0.5", "--plot", tmp_path / "a.png", "--save", tmp_path / "a.json")
    assert ran.code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "a.json").read_text())["receipt"]
