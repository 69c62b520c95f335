"""The README's first example, as it is written, on a made-up table."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
