"""The README's first example, as it is written, on a made-up table."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet

README = Path(__file__).parents[2] / "README.md"


def test_the_first_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [person for person in range(20_000) for _ in range(1 + person % 5)]
    depts = [["cardio", "er", "ortho"][i * 7 % 3] for i in range(len(ids))]
    visits = pa.table({"patient_id": ids, "dept": depts, "cost": [float(i * 37 % 400) for i in range(len(ids))]})
    pq.write_table(visits, tmp_path / "visits.parquet")
    monkeypatch.chdir(tmp_path)
    program = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[0]
    assert len([line for line in program.splitlines() if line.strip() and not line.startswith("#")]) == 6  # with its import
    exec(compile(program, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "expected error" in printed
    assert all(dept in printed for dept in ("cardio", "er", "ortho"))
    assert "Amount(epsilon=0.5, delta=3.6e-07)" in printed


def test_more_than_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of the second block runs as it is written."""
    ids = [person for person in range(3_000) for _ in range(2)]
    visits = {
        "patient_id": ids,
        "dept": [["er", "ward"][i % 2] for i in range(len(ids))],
        "cost": [float(i * 37 % 400) for i in range(len(ids))],
        "age": [20 + i % 60 for i in range(len(ids))],
    }
    monkeypatch.chdir(tmp_path)
    bounds = {"cost": (0, 500), "age": (0, 120)}
    db = discreet.connect({"visits": pa.table(visits)}, unit="patient_id", epsilon=10, delta=1e-6, bounds=bounds, ledger=":memory:")
    program = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert len(program.splitlines()) == 6
    exec(compile(program, "README.md", "exec"), {"db": db, "discreet": discreet})
    assert (tmp_path / "synthetic.parquet").exists()
    assert db.spent.epsilon == pytest.approx(2.4)
