"""The examples run as written; notebooks are in `test_notebooks.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(path for path in (Path(__file__).parents[2] / "examples").glob("*.py") if not path.stem.endswith("_marimo"))
SAYS = {
    "agent.py": ["→ describe", '"unconfirmed"', "charged: false", "single rows are never shown", "BudgetExceeded"],
    "error_first.py": ["costs ε = ", "dry run on mock data", "answered before, so free now"],
    "gallery.py": ["12 plots and gallery.html are in "],
    "several_tables.py": ["Who is protected", "Delft", "discreet verify"],
}


def test_every_example_is_known() -> None:
    assert {path.name for path in EXAMPLES} == set(SAYS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples(path: Path) -> None:
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert all(words in run.stdout for words in SAYS[path.name])
