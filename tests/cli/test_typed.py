"""Values as they are typed in options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SQL = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.parametrize(
    "words", [["--bounds", "cost"], ["--bounds", "cost=1:2:3"], ["--contributions", "rows=x"], ["--contributions", "3"]]
)
def test_slips_in_options_are_explained(run: Any, data: Path, words: list[str]) -> None:
    ran = run("ask", data, SQL, "--epsilon", "0.1", "--budget", "1", "--unit", "patient_id", *words)
    assert ran.code == 2
    assert "write" in ran.err
