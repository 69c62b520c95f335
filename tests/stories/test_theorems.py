"""The page of theorems is what the docstrings say."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_of_theorems_is_current() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "write_theorems.py"))["page"]()
    assert (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8") == page, "run: python docs/write_theorems.py"
    for name in ("### Laplace", "### SparseVector", "### advanced_composition", "### Filter", "### PartitionSelection"):
        assert name in page
